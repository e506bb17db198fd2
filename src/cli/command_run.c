/* `leat run`: binds, runs, hands out the results. The order of the steps is the order of what can be known soonest: the
 * command line, the program, the names, then files, then the run. */
#include "cli/outcome.h"
#include "cli/progress.h"
#include "cli/session.h"
#include <stdlib.h>
#include <string.h>

struct run {
    struct le_cli_session session;
    struct le_cli_outcome outcome;
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
    run->outcome.times_ns[run->outcome.count++] = end_ns - start_ns;
    return LE_EXIT_OK;
}

/* Inputs are never overwritten by a run whose results are new arrays: each run starts from the inputs as they were
 * read. */
static int run_all(struct run *run) {
    uint64_t repeat = run->session.line.repeat;
    int code = le_cli_outcome_start(&run->outcome, run->session.cli, repeat);
    for (uint64_t k = 0; k < repeat && !code; k++) {
        le_cli_progress_set(run->session.cli, "running", k, repeat > 1 ? repeat : 0);
        code = run_once(run);
    }
    return code;
}

/* ---- results */

static int deliver(struct run *run, const struct le_cli_output *output) {
    leat_array *array = NULL;
    int code = le_cli_failed(run->session.cli, leat_call_result(run->session.call, output->name, &array));
    if (!code)
        code = le_cli_deliver(&run->outcome, output, array, &run->session.line);
    leat_array_free(array);
    return code;
}

static int deliver_defaults(struct run *run) {
    size_t count = 0;
    int code = le_cli_failed(run->session.cli, leat_call_result_count(run->session.call, &count));
    for (size_t k = 0; k < count && !code; k++) {
        const char *name = NULL;
        code = le_cli_failed(run->session.cli, leat_call_result_name(run->session.call, k, &name));
        if (code)
            break;
        char *copy = strdup(name);
        struct le_cli_output output = {.name = copy};
        code = copy ? deliver(run, &output) : le_cli_fail(run->session.cli, LEAT_OUT_OF_MEMORY, "out of memory");
        free(copy);
    }
    return code;
}

static int deliver_all(struct run *run) {
    const struct le_cli_line *line = &run->session.line;
    int code = le_cli_results_begin(&run->outcome);
    if (!code && line->output_count == 0)
        code = deliver_defaults(run);
    for (size_t k = 0; k < line->output_count && !code; k++)
        code = deliver(run, &line->outputs[k]);
    return le_cli_results_end(&run->outcome, code);
}

static int run_steps(struct run *run) {
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
    struct run run = {.session = {.cli = cli}, .outcome = {.cli = cli}};
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
        le_cli_report(&run.outcome, code);
    }
    le_cli_outcome_free(&run.outcome);
    le_cli_line_free(&run.session.line);
    return code;
}
