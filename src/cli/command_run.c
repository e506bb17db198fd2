/* `leat run`: binds inputs, runs the program, and prints or writes the results. The cheapest checks come first: the
 * command line, the program, the names, then the files, then the run. */
#include "cli/interrupt.h"
#include "cli/outcome.h"
#include "cli/progress.h"
#include "cli/session.h"
#include <stdlib.h>
#include <string.h>

struct run_command {
    struct le_cli_session session;
    struct le_cli_outcome outcome;
};

/* ---- before any input is read */

static int want_outputs(struct run_command *run) {
    const struct le_cli_line *line = &run->session.line;
    for (size_t k = 0; k < line->output_count; k++) {
        bool seen = false;
        for (size_t other = 0; other < k; other++)
            seen |= strcmp(line->outputs[other].name, line->outputs[k].name) == 0;
        if (seen)
            continue;
        leat_status status = leat_call_want(run->session.call, line->outputs[k].name, NULL);
        int code = le_cli_library_error(run->session.cli, status);
        if (code)
            return status == LEAT_INVALID ? LE_EXIT_PROGRAM : code; /* the program has no result of that name */
    }
    return LE_EXIT_OK;
}

/* ---- the runs */

static int run_once(struct run_command *run) {
    uint64_t start_ns = le_cli_clock_ns();
    le_cli_interrupt_run_begin(run->session.call);
    leat_status status = leat_call_complete(run->session.call, NULL);
    le_cli_interrupt_run_end();
    if (!status && le_cli_interrupt_status())
        return le_cli_interrupt_status(); /* the signal came too late to cancel the run */
    uint64_t end_ns = le_cli_clock_ns();
    if (status)
        return le_cli_library_error(run->session.cli, status);
    run->outcome.times_ns[run->outcome.count++] = end_ns - start_ns;
    return LE_EXIT_OK;
}

/* Results are new arrays, so no run overwrites an input: each run starts from the inputs as they were read. */
static int run_all(struct run_command *run) {
    uint64_t repeat = run->session.line.repeat;
    int code = le_cli_outcome_start(&run->outcome, run->session.cli, repeat);
    for (uint64_t k = 0; k < repeat && !code; k++) {
        le_cli_progress_set(run->session.cli, "running", k, repeat > 1 ? repeat : 0);
        code = run_once(run);
    }
    return code;
}

/* ---- results */

struct results {
    struct le_cli_output *outputs; /* those of the command line, or the program's default results, printed */
    leat_array **arrays;
    size_t count;
};

static int name_defaults(struct run_command *run, struct results *results) {
    struct le_cli *cli = run->session.cli;
    int code = LE_EXIT_OK;
    for (size_t k = 0; k < results->count && !code; k++) {
        const char *name = NULL;
        code = le_cli_library_error(cli, leat_call_result_name(run->session.call, k, &name));
        results->outputs[k].name = code ? NULL : strdup(name);
        if (!code && !results->outputs[k].name)
            code = le_cli_fail(cli, LEAT_OUT_OF_MEMORY, "out of memory");
    }
    return code;
}

static int take_results(struct run_command *run, struct results *results) {
    const struct le_cli_line *line = &run->session.line;
    struct le_cli *cli = run->session.cli;
    bool defaults = line->output_count == 0;
    int code = LE_EXIT_OK;
    results->count = line->output_count;
    if (defaults)
        code = le_cli_library_error(cli, leat_call_result_count(run->session.call, &results->count));
    results->outputs = calloc(results->count + 1, sizeof *results->outputs);
    results->arrays = calloc(results->count + 1, sizeof(leat_array *));
    if (!code && (!results->outputs || !results->arrays))
        code = le_cli_fail(cli, LEAT_OUT_OF_MEMORY, "out of memory");
    if (!code && defaults)
        code = name_defaults(run, results);
    else if (!code)
        memcpy(results->outputs, line->outputs, results->count * sizeof *results->outputs);
    for (size_t k = 0; k < results->count && !code; k++)
        code = le_cli_library_error(cli,
                                    leat_call_result(run->session.call, results->outputs[k].name, &results->arrays[k]));
    return code;
}

static void free_results(const struct run_command *run, struct results *results) {
    for (size_t k = 0; results->arrays && k < results->count; k++)
        leat_array_free(results->arrays[k]);
    for (size_t k = 0; results->outputs && k < results->count && run->session.line.output_count == 0; k++)
        free(results->outputs[k].name);
    free(results->outputs);
    free(results->arrays);
}

static int deliver_all(struct run_command *run) {
    struct results results = {0};
    int code = take_results(run, &results);
    if (!code)
        code = le_cli_deliver(&run->outcome, results.outputs, results.arrays, results.count, &run->session.line);
    free_results(run, &results);
    return code;
}

static int run_steps(struct run_command *run) {
    struct le_cli_session *session = &run->session;
    int code = le_cli_session_open(session);
    if (!code)
        code = le_cli_session_compile(session);
    if (!code)
        code = want_outputs(run);
    if (!code)
        code = le_cli_check_files(run->session.cli, &run->session.line);
    if (!code)
        code = le_cli_session_bind(session);
    if (!code)
        code = run_all(run);
    if (!code)
        code = deliver_all(run);
    return code;
}

int le_command_run(struct le_cli *cli, int argc, char **argv) {
    struct run_command run = {.session = {.cli = cli}, .outcome = {.cli = cli}};
    unsigned accepts = LE_ACCEPTS_PROGRAM | LE_ACCEPTS_BINDINGS | LE_ACCEPTS_RUN | LE_ACCEPTS_MACHINE;
    int code = le_cli_line_parse(cli, accepts, argc, argv, &run.session.line);
    if (!code && run.session.line.help) {
        le_cli_help("run");
    } else {
        if (!code)
            code = run_steps(&run);
        if (cli->ctx)
            le_cli_cost_begin(cli, LEAT_COST_OTHER, "releasing memory");
        le_cli_session_free(&run.session);
        if (cli->ctx)
            le_cli_cost_end(cli, 0);
        le_cli_report(&run.outcome, code);
    }
    le_cli_outcome_free(&run.outcome);
    le_cli_line_free(&run.session.line);
    return code;
}
