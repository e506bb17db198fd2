/* See outcome.h. */
#include "cli/outcome.h"
#include "cli/explain.h"
#include "cli/interrupt.h"
#include "cli/print_array.h"
#include "cli/progress.h"
#include "cli/target.h"
#include <errno.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>

int le_cli_outcome_start(struct le_cli_outcome *outcome, struct le_cli *cli, uint64_t repeat) {
    *outcome = (struct le_cli_outcome){.cli = cli, .times_ns = malloc(repeat * sizeof *outcome->times_ns)};
    return outcome->times_ns ? LE_EXIT_OK : le_cli_fail(cli, LEAT_OUT_OF_MEMORY, "out of memory");
}

void le_cli_outcome_free(struct le_cli_outcome *outcome) {
    free(outcome->times_ns);
    free(outcome->results);
    *outcome = (struct le_cli_outcome){0};
}

/* ---- results */

static bool has_file(const struct le_cli_output *output) {
    return output->path && strcmp(output->path, "-") != 0;
}

static int check_file(struct le_cli *cli, const struct le_cli_line *line, size_t k) {
    const char *path = line->outputs[k].path;
    if (!le_cli_target_can_be_written(path))
        return le_cli_fail_file(cli, "write", path, errno);
    int code = LE_EXIT_OK;
    for (size_t other = 0; other < k && !code; other++)
        if (has_file(&line->outputs[other]) && le_cli_target_is_same(line->outputs[other].path, path))
            code = le_cli_check_pair(cli, &line->outputs[other], &line->outputs[k]);
    return code;
}

int le_cli_check_files(struct le_cli *cli, const struct le_cli_line *line) {
    int code = LE_EXIT_OK;
    for (size_t k = 0; k < line->output_count && !code; k++)
        if (has_file(&line->outputs[k]))
            code = check_file(cli, line, k);
    return code;
}

static int write_stdout(struct le_cli *cli, const leat_array *array) {
    void *bytes = NULL;
    size_t size_bytes = 0;
    leat_status status = leat_array_save_memory(array, &bytes, &size_bytes);
    if (status)
        return le_cli_library_error(cli, status);
    bool written = fwrite(bytes, 1, size_bytes, stdout) == size_bytes && fflush(stdout) == 0;
    int code = written ? LE_EXIT_OK : le_cli_fail_file(cli, "write", "stdout", errno);
    leat_memory_free(bytes);
    if (!written) { /* drop the rest: the failure is reported once */
        __fpurge(stdout);
        clearerr(stdout);
    }
    return code;
}

static leat_save_options save_options(const struct le_cli_line *line) {
    return (leat_save_options){.colormap = line->colormap, .sync = line->sync, .proceed = le_cli_interrupt_proceed};
}

static int write_file(struct le_cli *cli, const char *path, const leat_array *array, const struct le_cli_line *line) {
    const leat_save_options options = save_options(line);
    le_cli_interrupt_hold(path);
    leat_status status = leat_array_save_as(array, path, &options);
    le_cli_interrupt_release();
    return le_cli_library_error(cli, status);
}

static int print_result(struct le_cli *cli, const char *name, const leat_array *array) {
    if (cli->json)
        return LE_EXIT_OK;
    le_cli_progress_hide(cli);
    leat_status status = le_print_array(stdout, name, array, cli->precision_digits);
    fflush(stdout);
    le_cli_progress_unhide(cli);
    return le_cli_library_error(cli, status);
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

/* An array with the same elements in memory that this process can read. */
static int to_host(struct le_cli *cli, const leat_array *array, leat_array **host) {
    leat_description description;
    leat_status status = leat_array_get(array, &description);
    if (!status)
        status = leat_array_new_empty(cli->ctx, description.dtype, description.rank, description.shape,
                                      LEAT_MEMORY_HOST, host);
    if (!status)
        status = leat_array_copy(*host, array, NULL, NULL);
    return le_cli_library_error(cli, status);
}

static int deliver_one(struct le_cli_outcome *outcome, const struct le_cli_output *output, const leat_array *array,
                       const struct le_cli_line *line) {
    struct le_cli *cli = outcome->cli;
    bool to_stdout = output->path && strcmp(output->path, "-") == 0;
    const char *what = output->path && !to_stdout ? output->path : "stdout";
    int code;
    le_cli_progress_set(cli, what, 0, 0);
    le_cli_cost_begin(cli, LEAT_COST_WRITE, what);
    if (to_stdout)
        code = write_stdout(cli, array);
    else if (output->path)
        code = write_file(cli, output->path, array, line);
    else
        code = print_result(cli, output->name, array);
    if (outcome->json.file && !code)
        describe_result(&outcome->json, output, array);
    le_cli_cost_end(cli, output->path ? array_bytes(array) : 0);
    return code;
}

/* ---- archives: all results that go into the same archive are written with the first of them */

static bool is_in_archive(const struct le_cli_output *output, const struct le_cli_output *first) {
    return output == first || (le_cli_is_archive(output) && le_cli_target_is_same(output->path, first->path));
}

static bool is_first_in_archive(const struct le_cli_output *outputs, size_t k) {
    for (size_t other = 0; other < k; other++)
        if (le_cli_is_archive(&outputs[other]) && is_in_archive(&outputs[k], &outputs[other]))
            return false;
    return true;
}

static int write_archive(struct le_cli *cli, const char *path, const leat_named_array *members, size_t count,
                         const struct le_cli_line *line) {
    const leat_save_options options = save_options(line);
    uint64_t bytes = 0;
    le_cli_progress_set(cli, path, 0, 0);
    le_cli_cost_begin(cli, LEAT_COST_WRITE, path);
    for (size_t k = 0; k < count; k++)
        bytes += array_bytes(members[k].array);
    le_cli_interrupt_hold(path);
    leat_status status = leat_archive_save(path, members, count, &options);
    le_cli_interrupt_release();
    le_cli_cost_end(cli, bytes);
    return le_cli_library_error(cli, status);
}

static int deliver_archive(struct le_cli *cli, const struct le_cli_output *outputs, leat_array *const *arrays,
                           size_t first, size_t count, const struct le_cli_line *line) {
    leat_named_array *members = malloc(count * sizeof *members);
    size_t member_count = 0;
    if (!members)
        return le_cli_fail(cli, LEAT_OUT_OF_MEMORY, "out of memory");
    for (size_t k = first; k < count; k++)
        if (is_in_archive(&outputs[k], &outputs[first]))
            members[member_count++] =
                (leat_named_array){.name = outputs[k].key ? outputs[k].key : outputs[k].name, .array = arrays[k]};
    int code = write_archive(cli, outputs[first].path, members, member_count, line);
    free(members);
    return code;
}

/* ---- all results */

/* --colormap applies to .png files of elements that are scaled: all but u8 and u16. */
static void note_colormap(struct le_cli *cli, const char *path, const leat_array *array) {
    leat_description about;
    char text[600];
    bool known = leat_array_get(array, &about) == LEAT_OK;
    if (known && le_cli_ends_with(path, ".png") && about.dtype != LEAT_U8 && about.dtype != LEAT_U16)
        return;
    snprintf(text, sizeof text, "--colormap is ignored for %.400s: %s", path,
             le_cli_ends_with(path, ".png") ? "u8 and u16 pictures are written unchanged" : "it is not a .png");
    le_cli_note(cli, text);
}

static int deliver(struct le_cli_outcome *outcome, const struct le_cli_output *outputs, leat_array *const *arrays,
                   size_t k, size_t count, const struct le_cli_line *line) {
    struct le_cli *cli = outcome->cli;
    leat_array *host = NULL;
    int code = LE_EXIT_OK;
    if (has_file(&outputs[k]) && line->colormap != LEAT_COLORMAP_GREY)
        note_colormap(cli, outputs[k].path, arrays[k]);
    if (le_cli_is_archive(&outputs[k])) {
        if (is_first_in_archive(outputs, k))
            code = deliver_archive(cli, outputs, arrays, k, count, line);
        if (outcome->json.file && !code)
            describe_result(&outcome->json, &outputs[k], arrays[k]);
        return code;
    }
    if (cli->on_device)
        code = to_host(cli, arrays[k], &host);
    if (!code)
        code = deliver_one(outcome, &outputs[k], host ? host : arrays[k], line);
    leat_array_free(host);
    return code;
}

static int open_results(struct le_cli_outcome *outcome) {
    outcome->json = (struct le_json){0};
    if (!outcome->cli->json)
        return LE_EXIT_OK;
    outcome->json.file = open_memstream(&outcome->results, &outcome->results_bytes);
    if (!outcome->json.file)
        return le_cli_fail(outcome->cli, LEAT_OUT_OF_MEMORY, "out of memory");
    le_json_open(&outcome->json, NULL, '[');
    return LE_EXIT_OK;
}

static int close_results(struct le_cli_outcome *outcome, int code) {
    if (!outcome->json.file)
        return code;
    le_json_close(&outcome->json, ']');
    bool failed = ferror(outcome->json.file) != 0;
    failed |= fclose(outcome->json.file) != 0;
    outcome->json.file = NULL;
    return failed && !code ? le_cli_fail(outcome->cli, LEAT_OUT_OF_MEMORY, "out of memory for the results as JSON")
                           : code;
}

int le_cli_deliver(struct le_cli_outcome *outcome, const struct le_cli_output *outputs, leat_array *const *arrays,
                   size_t count, const struct le_cli_line *line) {
    int code = open_results(outcome);
    for (size_t k = 0; k < count && !code; k++)
        code = deliver(outcome, outputs, arrays, k, count, line);
    return close_results(outcome, code);
}

/* ---- reports */

static int compare_times(const void *a, const void *b) {
    uint64_t first, second;
    memcpy(&first, a, sizeof first);
    memcpy(&second, b, sizeof second);
    return first < second ? -1 : first > second;
}

/* Sorts the times of all runs but the first, or of the only run. Returns their number. */
static uint64_t sort_times(const struct le_cli_outcome *outcome, uint64_t **times_ns) {
    uint64_t skipped = outcome->count > 1;
    *times_ns = outcome->times_ns + skipped;
    qsort(*times_ns, outcome->count - skipped, sizeof **times_ns, compare_times);
    return outcome->count - skipped;
}

static uint64_t median(const uint64_t *sorted, uint64_t count) {
    return count % 2
               ? sorted[count / 2]
               : sorted[count / 2 - 1] / 2 + sorted[count / 2] / 2 + (sorted[count / 2 - 1] & sorted[count / 2] & 1);
}

static void print_times(const struct le_cli_outcome *outcome) {
    uint64_t *times_ns;
    if (outcome->count < 2)
        return;
    uint64_t first_ns = outcome->times_ns[0], count = sort_times(outcome, &times_ns),
             median_ns = median(times_ns, count);
    double spread = median_ns ? 100 * (double)(times_ns[count - 1] - times_ns[0]) / (double)median_ns : 0;
    fprintf(stderr, "first run %.6g ms; %llu more: median %.6g ms, min %.6g ms, max %.6g ms, spread %.*f %%\n",
            (double)first_ns * 1e-6, (unsigned long long)count, (double)median_ns * 1e-6, (double)times_ns[0] * 1e-6,
            (double)times_ns[count - 1] * 1e-6, spread < 10, spread);
}

static void runs_json(const struct le_cli_outcome *outcome, struct le_json *json) {
    le_json_open(json, "runs", '{');
    le_json_count(json, "count", outcome->count);
    if (outcome->count) {
        uint64_t *times_ns, first_ns = outcome->times_ns[0], count = sort_times(outcome, &times_ns);
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

/* account NULL: there is none. */
static void print_json(const struct le_cli_outcome *outcome, const char *account, bool results) {
    static const char none[] = "{\"ledger\":[{\"kind\":\"unaccounted\",\"time_ns\":0}]}";
    struct le_json json = {.file = stdout};
    le_json_open(&json, NULL, '{');
    le_json_integer(&json, "schema", LE_JSON_SCHEMA);
    if (results && outcome->results)
        le_json_raw(&json, "results", outcome->results, outcome->results_bytes);
    else
        le_json_raw(&json, "results", "[]", 2);
    le_json_messages(&json, outcome->cli);
    runs_json(outcome, &json);
    le_json_members(&json, account ? account : none);
    le_json_close(&json, '}');
    fputc('\n', stdout);
}

static void add_verdict(struct le_cli *cli) {
    char *verdict = le_cli_account(cli, LEAT_ACCOUNT_VERDICT, true);
    if (verdict)
        le_cli_note_for_json(cli, verdict);
    leat_memory_free(verdict);
}

/* The account is taken first, so that nothing below is part of it. The verdict measures the machine. */
void le_cli_report(struct le_cli_outcome *outcome, int code) {
    struct le_cli *cli = outcome->cli;
    char *account = NULL;
    if (cli->json)
        account = le_cli_account(cli, LEAT_ACCOUNT_JSON, false);
    else if (cli->explain)
        account = le_cli_account(cli, LEAT_ACCOUNT_TEXT, !code);
    le_cli_progress_stop(cli);
    if (cli->json) {
        if (cli->explain && !code)
            add_verdict(cli);
        print_json(outcome, account, !code);
    } else {
        print_times(outcome);
        if (account)
            fputs(account, stderr);
    }
    leat_memory_free(account);
}
