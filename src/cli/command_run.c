/* `leat run`: binds, runs, hands out the results. The order of the steps is the order of what can be known soonest: the
 * command line, the program, the names, then files, then the run. */
#include "cli/explain.h"
#include "cli/interrupt.h"
#include "cli/print_array.h"
#include "cli/progress.h"
#include "cli/session.h"
#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct run {
    struct le_cli_session session;
    uint64_t *times_ns; /* of each run that ended well */
    uint64_t count;
    char *results; /* --json: the list of results */
    size_t results_bytes;
};

/* ---- before any input is read */

static int want_outputs(struct run *run) {
    const struct le_cli_line *line = &run->session.line;
    for (size_t k = 0; k < line->output_count; k++) {
        bool seen = false;
        for (size_t other = 0; other < k; other++)
            seen |= strcmp(line->outputs[other].name, line->outputs[k].name) == 0;
        if (seen)
            continue;
        leat_status status = leat_call_want(run->session.call, line->outputs[k].name, NULL);
        int code = le_cli_failed(run->session.cli, status);
        if (code)
            return status == LEAT_INVALID ? LE_EXIT_PROGRAM : code; /* the program has no such name */
    }
    return LE_EXIT_OK;
}

static int check_folder(struct le_cli *cli, const char *path) {
    char *copy = strdup(path);
    if (!copy)
        return le_cli_fail(cli, LEAT_OUT_OF_MEMORY, "out of memory");
    int code = LE_EXIT_OK;
    if (access(dirname(copy), W_OK) != 0)
        code = le_cli_fail(cli, LEAT_FILE, "%s cannot be written: %s", path, strerror(errno));
    free(copy);
    return code;
}

static int check_folders(struct run *run) {
    const struct le_cli_line *line = &run->session.line;
    int code = LE_EXIT_OK;
    for (size_t k = 0; k < line->output_count && !code; k++)
        if (line->outputs[k].path && strcmp(line->outputs[k].path, "-") != 0)
            code = check_folder(run->session.cli, line->outputs[k].path);
    return code;
}

/* ---- the runs */

static int run_once(struct run *run) {
    leat_ticket ticket = {0};
    uint64_t start_ns = le_cli_clock_ns();
    leat_status status = leat_call_run(run->session.call, NULL, &ticket);
    if (!status)
        status = leat_ticket_wait(run->session.cli->ctx, ticket);
    uint64_t end_ns = le_cli_clock_ns();
    if (status)
        return le_cli_failed(run->session.cli, status);
    run->times_ns[run->count++] = end_ns - start_ns;
    return LE_EXIT_OK;
}

/* Inputs are never overwritten by a run whose results are new arrays: each run starts from the inputs as they were
 * read. */
static int run_all(struct run *run) {
    uint64_t repeat = run->session.line.repeat;
    run->times_ns = malloc(repeat * sizeof *run->times_ns);
    if (!run->times_ns)
        return le_cli_fail(run->session.cli, LEAT_OUT_OF_MEMORY, "out of memory");
    int code = LE_EXIT_OK;
    for (uint64_t k = 0; k < repeat && !code; k++) {
        le_cli_progress_set(run->session.cli, "running", k, repeat > 1 ? repeat : 0);
        code = run_once(run);
    }
    return code;
}

/* ---- results */

static int write_stdout(struct le_cli *cli, const leat_array *array) {
    void *bytes = NULL;
    size_t size_bytes = 0;
    leat_status status = leat_array_save_memory(array, &bytes, &size_bytes);
    if (status)
        return le_cli_failed(cli, status);
    bool written = fwrite(bytes, 1, size_bytes, stdout) == size_bytes && fflush(stdout) == 0;
    leat_memory_free(bytes);
    return written ? LE_EXIT_OK : le_cli_fail(cli, LEAT_FILE, "stdout cannot be written: %s", strerror(errno));
}

static int write_file(struct run *run, const struct le_cli_output *output, const leat_array *array) {
    bool keyed = le_cli_ends_with(output->path, ".npz");
    const char *key = keyed ? (output->key ? output->key : output->name) : NULL;
    le_cli_interrupt_hold();
    leat_status status = leat_array_save(array, output->path, key, run->session.line.colormap);
    le_cli_interrupt_release();
    return le_cli_failed(run->session.cli, status);
}

static int print_result(struct le_cli *cli, const char *name, const leat_array *array) {
    if (cli->json)
        return LE_EXIT_OK;
    le_cli_progress_hide(cli);
    leat_status status = le_print_array(stdout, name, array);
    fflush(stdout);
    le_cli_progress_unhide(cli);
    return le_cli_failed(cli, status);
}

static uint64_t array_bytes(const leat_array *array) {
    leat_description description;
    if (leat_array_get(array, &description))
        return 0;
    uint64_t bytes = leat_dtype_size_bytes(description.dtype);
    for (int axis = 0; axis < description.rank; axis++)
        bytes *= (uint64_t)description.shape[axis];
    return bytes;
}

static void describe_result(struct le_json *json, const struct le_cli_output *output, const leat_array *array) {
    le_json_open(json, NULL, '{');
    le_json_string(json, "name", output->name);
    le_json_array(json, array, !output->path);
    if (output->path)
        le_json_string(json, "file", output->path);
    if (output->key)
        le_json_string(json, "key", output->key);
    le_json_close(json, '}');
}

static int deliver(struct run *run, const struct le_cli_output *output, struct le_json *json) {
    struct le_cli *cli = run->session.cli;
    leat_array *array = NULL;
    int code = le_cli_failed(cli, leat_call_result(run->session.call, output->name, &array));
    if (code)
        return code;
    bool to_stdout = output->path && strcmp(output->path, "-") == 0;
    const char *what = output->path && !to_stdout ? output->path : "stdout";
    le_cli_progress_set(cli, what, 0, 0);
    le_cli_cost_begin(cli, LEAT_COST_WRITE, what);
    if (to_stdout)
        code = write_stdout(cli, array);
    else if (output->path)
        code = write_file(run, output, array);
    else
        code = print_result(cli, output->name, array);
    if (json->file && !code)
        describe_result(json, output, array);
    le_cli_cost_end(cli, output->path ? array_bytes(array) : 0);
    leat_array_free(array);
    return code;
}

static int deliver_defaults(struct run *run, struct le_json *json) {
    size_t count = 0;
    int code = le_cli_failed(run->session.cli, leat_call_result_count(run->session.call, &count));
    for (size_t k = 0; k < count && !code; k++) {
        const char *name = NULL;
        code = le_cli_failed(run->session.cli, leat_call_result_name(run->session.call, k, &name));
        if (code)
            break;
        char *copy = strdup(name);
        struct le_cli_output output = {.name = copy};
        code = copy ? deliver(run, &output, json) : le_cli_fail(run->session.cli, LEAT_OUT_OF_MEMORY, "out of memory");
        free(copy);
    }
    return code;
}

static int deliver_all(struct run *run) {
    const struct le_cli_line *line = &run->session.line;
    struct le_json json = {0};
    int code = LE_EXIT_OK;
    if (run->session.cli->json) {
        json.file = open_memstream(&run->results, &run->results_bytes);
        if (!json.file)
            return le_cli_fail(run->session.cli, LEAT_OUT_OF_MEMORY, "out of memory");
        le_json_open(&json, NULL, '[');
    }
    if (line->output_count == 0)
        code = deliver_defaults(run, &json);
    for (size_t k = 0; k < line->output_count && !code; k++)
        code = deliver(run, &line->outputs[k], &json);
    if (!json.file)
        return code;
    le_json_close(&json, ']');
    bool failed = ferror(json.file) != 0;
    failed |= fclose(json.file) != 0;
    return failed && !code ? le_cli_fail(run->session.cli, LEAT_OUT_OF_MEMORY, "out of memory for the results as JSON")
                           : code;
}

/* ---- reports */

static int compare_times(const void *a, const void *b) {
    uint64_t first, second;
    memcpy(&first, a, sizeof first);
    memcpy(&second, b, sizeof second);
    return first < second ? -1 : first > second;
}

/* Sorts all but the first run, or the only one; returns how many. */
static uint64_t sort_times(const struct run *run, uint64_t **times_ns) {
    uint64_t skipped = run->count > 1;
    *times_ns = run->times_ns + skipped;
    qsort(*times_ns, run->count - skipped, sizeof **times_ns, compare_times);
    return run->count - skipped;
}

static uint64_t median(const uint64_t *sorted, uint64_t count) {
    return count % 2
               ? sorted[count / 2]
               : sorted[count / 2 - 1] / 2 + sorted[count / 2] / 2 + (sorted[count / 2 - 1] & sorted[count / 2] & 1);
}

static void print_times(const struct run *run) {
    uint64_t *times_ns;
    if (run->count < 2)
        return;
    uint64_t first_ns = run->times_ns[0], count = sort_times(run, &times_ns), median_ns = median(times_ns, count);
    double spread_ns = (double)(times_ns[count - 1] - times_ns[0]);
    fprintf(stderr, "first run %.6g ms; %llu more: median %.6g ms, min %.6g ms, max %.6g ms, spread %.2g %%\n",
            (double)first_ns * 1e-6, (unsigned long long)count, (double)median_ns * 1e-6, (double)times_ns[0] * 1e-6,
            (double)times_ns[count - 1] * 1e-6, median_ns ? 100 * spread_ns / (double)median_ns : 0.0);
}

static void runs_json(const struct run *run, struct le_json *json) {
    le_json_open(json, "runs", '{');
    le_json_count(json, "count", run->count);
    if (run->count) {
        uint64_t *times_ns, first_ns = run->times_ns[0], count = sort_times(run, &times_ns);
        le_json_count(json, "first_ns", first_ns);
        le_json_count(json, "min_ns", times_ns[0]);
        le_json_count(json, "median_ns", median(times_ns, count));
    } else {
        le_json_null(json, "first_ns");
        le_json_null(json, "min_ns");
        le_json_null(json, "median_ns");
    }
    le_json_close(json, '}');
}

static void print_json(const struct run *run, const struct le_account *account, bool results) {
    struct le_json json = {.file = stdout};
    le_json_open(&json, NULL, '{');
    le_json_integer(&json, "schema", LE_JSON_SCHEMA);
    if (results && run->results)
        le_json_raw(&json, "results", run->results, run->results_bytes);
    else
        le_json_raw(&json, "results", "[]", 2);
    le_json_messages(&json, run->session.cli);
    runs_json(run, &json);
    le_account_json(account, &json);
    le_json_close(&json, '}');
    fputc('\n', stdout);
}

static void report(struct run *run, int code) {
    struct le_cli *cli = run->session.cli;
    struct le_account account = {0};
    bool taken = cli->ctx && (cli->json || cli->explain) && le_account_take(cli, &account) == LEAT_OK;
    le_cli_progress_stop(cli);
    if (cli->json) {
        if (taken && cli->explain && !code) {
            char verdict[600];
            le_account_verdict(&account, verdict, sizeof verdict);
            le_cli_remark(cli, verdict);
        }
        print_json(run, &account, !code);
    } else {
        print_times(run);
        if (taken && cli->explain)
            le_account_print(&account, stderr);
    }
    le_account_free(&account);
}

static int run_steps(struct run *run) {
    struct le_cli_session *session = &run->session;
    int code = le_cli_session_open(session);
    if (!code)
        code = le_cli_session_compile(session);
    if (!code)
        code = want_outputs(run);
    if (!code)
        code = check_folders(run);
    if (!code)
        code = le_cli_session_bind(session);
    if (!code)
        code = run_all(run);
    if (!code)
        code = deliver_all(run);
    return code;
}

int le_command_run(struct le_cli *cli, int argc, char **argv) {
    struct run run = {.session = {.cli = cli}};
    unsigned accepts = LE_ACCEPTS_PROGRAM | LE_ACCEPTS_BINDINGS | LE_ACCEPTS_RUN | LE_ACCEPTS_MACHINE;
    int code = le_cli_line_parse(cli, accepts, argc, argv, &run.session.line);
    if (!code && run.session.line.help) {
        le_cli_help("run");
    } else {
        if (!code)
            code = run_steps(&run);
        if (cli->ctx)
            le_cli_cost_begin(cli, LEAT_COST_OTHER, "giving memory back");
        le_cli_session_free(&run.session);
        if (cli->ctx)
            le_cli_cost_end(cli, 0);
        report(&run, code);
    }
    free(run.times_ns);
    free(run.results);
    le_cli_line_free(&run.session.line);
    return code;
}
