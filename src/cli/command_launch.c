/* `leat launch`: compiles a file of CUDA C, launches one of its kernels, and prints or writes arrays. The cheapest
 * checks come first: the command line, the text, the device, the kernel, then the files, then the runs. */
#include "cli/explain.h"
#include "cli/launch_arguments.h"
#include "cli/outcome.h"
#include "cli/progress.h"
#include "cli/session.h"
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SOURCE_BYTES_MAX ((size_t)64 << 20)

struct launch_command {
    struct le_cli_session session;
    struct le_cli_outcome outcome;
    char *source;
    leat_module *module;
    leat_kernel *kernel;
    leat_event *start, *stop;
    struct le_cli_arguments arguments;
};

/* ---- before the device is opened */

static bool is_bound(const struct le_cli_line *line, const char *name) {
    for (size_t k = 0; k < line->binding_count; k++)
        if (strcmp(line->bindings[k].name, name) == 0)
            return true;
    return false;
}

static int check_outputs(struct le_cli *cli, const struct le_cli_line *line) {
    for (size_t k = 0; k < line->output_count; k++)
        if (!is_bound(line, line->outputs[k].name))
            return le_cli_usage(cli, "-o %s: no argument has this name", line->outputs[k].name);
    return le_cli_check_files(cli, line);
}

static int read_source(struct launch_command *launch) {
    size_t size_bytes = 0;
    const char *path = launch->session.line.path;
    int code = le_cli_read_all(launch->session.cli, path, path, SOURCE_BYTES_MAX, &launch->source, &size_bytes);
    if (!code && strlen(launch->source) != size_bytes)
        code = le_cli_fail(launch->session.cli, LEAT_PROGRAM, "%s: not a text file", path);
    return code;
}

/* ---- the device */

static int open_named(struct launch_command *launch, const char *device, bool quiet) {
    struct le_cli *cli = launch->session.cli;
    leat_options options = {.ledger_level = cli->explain ? 2 : 0, .sim_check = launch->session.line.check};
    le_cli_session_options(&launch->session, &options);
    options.device = device;
    le_cli_explain_begin(cli);
    leat_status status = leat_open(&options, &cli->ctx);
    if (quiet && (status == LEAT_DEVICE || status == LEAT_UNSUPPORTED))
        return LE_EXIT_DEVICE;
    return le_cli_library_error(cli, status);
}

static int open_simulator(struct launch_command *launch, const char *because) {
    char note[400];
    snprintf(note, sizeof note, "running on sim, the simulator: %s", because);
    le_cli_note(launch->session.cli, note);
    return open_named(launch, "sim", false);
}

/* For kernels auto is cuda, or sim if there is no CUDA device or no NVRTC. */
static int open_auto(struct launch_command *launch) {
    struct le_cli *cli = launch->session.cli;
    leat_error error;
    leat_search nvrtc;
    if (launch->session.line.check)
        return open_named(launch, "sim", false);
    int code = open_named(launch, "cuda", true);
    if (code == LE_EXIT_DEVICE) {
        leat_error_get(NULL, &error);
        return open_simulator(launch, error.message);
    }
    if (code || leat_search_get(cli->ctx, LEAT_SEARCH_NVRTC, &nvrtc) != LEAT_OK || nvrtc.found)
        return code;
    leat_close(cli->ctx);
    cli->ctx = NULL;
    return open_simulator(launch, nvrtc.reason);
}

static int open_device(struct launch_command *launch) {
    const struct le_cli_line *line = &launch->session.line;
    const char *device = line->device, *from_environment = getenv("LEAT_DEVICE");
    if ((!device || strcmp(device, "auto") == 0) && from_environment && *from_environment)
        device = from_environment;
    bool automatic = !device || strcmp(device, "auto") == 0;
    if (!automatic && line->check && strcmp(device, "sim") != 0)
        return le_cli_usage(launch->session.cli, "--check works on sim only, not on %s", device);
    if (!automatic && (strcmp(device, "cpu") == 0 || strcmp(device, "cpu:0") == 0))
        return le_cli_fail(launch->session.cli, LEAT_DEVICE, "CUDA C runs on cuda and sim, not on cpu");
    le_cli_progress_start(launch->session.cli);
    launch->session.cli->on_device = true;
    return automatic ? open_auto(launch) : open_named(launch, device, false);
}

/* ---- the kernel */

/* #include searches the file's own folder first, then those of -I. */
static int make_module(struct launch_command *launch) {
    struct le_cli_line *line = &launch->session.line;
    struct le_cli *cli = launch->session.cli;
    char *path = strdup(line->path);
    if (!path)
        return le_cli_fail(cli, LEAT_OUT_OF_MEMORY, "out of memory");
    memmove(line->include_paths + 1, line->include_paths, (line->include_path_count + 1) * sizeof(char *));
    line->include_paths[0] = dirname(path);
    const char *names[] = {line->kernel, NULL};
    leat_module_options options = {.name = line->path,
                                   .macros = (const char *const *)line->macros,
                                   .include_paths = (const char *const *)line->include_paths,
                                   .names = strchr(line->kernel, '<') ? names : NULL,
                                   .line_info = true};
    le_cli_progress_set(cli, "compiling", 0, 0);
    leat_status status = leat_module_new(cli->ctx, launch->source, &options, &launch->module);
    free(path);
    line->include_paths[0] = NULL;
    int code = le_cli_library_error(cli, status);
    return status == LEAT_UNSUPPORTED ? LE_EXIT_DEVICE : code; /* no compiler was found */
}

static void note_warnings(struct launch_command *launch) {
    const char *log = "";
    if (leat_module_log(launch->module, &log) == LEAT_OK && *log)
        le_cli_note(launch->session.cli, log);
}

static int find_kernel(struct launch_command *launch) {
    const struct le_cli_line *line = &launch->session.line;
    struct le_cli *cli = launch->session.cli;
    leat_kernel_info info;
    int code = make_module(launch);
    if (code)
        return code;
    note_warnings(launch);
    code = le_cli_library_error(cli, leat_module_kernel(launch->module, line->kernel, &launch->kernel));
    if (!code)
        code = le_cli_library_error(cli, leat_kernel_get(launch->kernel, &info));
    if (!code && line->binding_count != (size_t)info.parameter_count)
        code = le_cli_arguments_wrong_count(cli, line, launch->kernel);
    if (!code)
        le_cli_arguments_check_names(cli, line, launch->kernel);
    return code;
}

static int check_arrays(struct launch_command *launch) {
    const struct le_cli_line *line = &launch->session.line;
    for (size_t k = 0; k < line->output_count; k++)
        if (!le_cli_arguments_find(&launch->arguments, line->outputs[k].name))
            return le_cli_usage(launch->session.cli, "-o %s: this argument is a number, not an array",
                                line->outputs[k].name);
    return LE_EXIT_OK;
}

/* ---- the runs */

/* Kernels print on stdout, as CUDA's printf does. If stdout is to receive a JSON object or an .npy, their output goes
 * to stderr instead. */
static int redirect_stdout(const struct le_cli *cli, const struct le_cli_line *line) {
    bool wanted = cli->json;
    for (size_t k = 0; k < line->output_count; k++)
        wanted |= line->outputs[k].path && strcmp(line->outputs[k].path, "-") == 0;
    fflush(stdout);
    int saved = wanted ? dup(STDOUT_FILENO) : -1;
    if (saved >= 0)
        dup2(STDERR_FILENO, STDOUT_FILENO);
    return saved;
}

static void restore_stdout(int saved) {
    fflush(stdout);
    if (saved < 0)
        return;
    dup2(saved, STDOUT_FILENO);
    close(saved);
}

static leat_status enqueue_launch(struct launch_command *launch) {
    const struct le_cli_line *line = &launch->session.line;
    leat_status status = leat_event_record(launch->start, NULL);
    if (!status)
        status = leat_kernel_launch(launch->kernel, line->grid, line->block, (size_t)line->shared_bytes, NULL,
                                    launch->arguments.values, launch->arguments.count);
    if (!status)
        status = leat_event_record(launch->stop, NULL);
    return status;
}

/* Measures the device's time from the start of the launch to its end. */
static int run_once(struct launch_command *launch) {
    struct le_cli *cli = launch->session.cli;
    double milliseconds = 0;
    int code = launch->outcome.count ? le_cli_arguments_refill(cli, &launch->arguments) : LE_EXIT_OK;
    if (code)
        return code;
    leat_status status = enqueue_launch(launch);
    if (!status)
        status = leat_context_synchronize(cli->ctx);
    if (!status)
        status = leat_event_elapsed_ms(launch->start, launch->stop, &milliseconds);
    if (status)
        return le_cli_library_error(cli, status);
    launch->outcome.times_ns[launch->outcome.count++] = milliseconds > 0 ? (uint64_t)(milliseconds * 1e6) : 0;
    return LE_EXIT_OK;
}

static int run_all(struct launch_command *launch) {
    struct le_cli *cli = launch->session.cli;
    uint64_t repeat = launch->session.line.repeat;
    int code = le_cli_outcome_start(&launch->outcome, cli, repeat);
    if (!code)
        code = le_cli_library_error(cli, leat_event_new(cli->ctx, &launch->start));
    if (!code)
        code = le_cli_library_error(cli, leat_event_new(cli->ctx, &launch->stop));
    int saved = redirect_stdout(cli, &launch->session.line);
    for (uint64_t k = 0; k < repeat && !code; k++) {
        le_cli_progress_set(cli, "running", k, repeat > 1 ? repeat : 0);
        code = run_once(launch);
    }
    restore_stdout(saved);
    return code;
}

/* ---- results */

static int deliver_all(struct launch_command *launch) {
    const struct le_cli_line *line = &launch->session.line;
    leat_array **arrays = calloc(line->output_count + 1, sizeof *arrays);
    if (!arrays)
        return le_cli_fail(launch->session.cli, LEAT_OUT_OF_MEMORY, "out of memory");
    for (size_t k = 0; k < line->output_count; k++)
        arrays[k] = le_cli_arguments_find(&launch->arguments, line->outputs[k].name);
    int code = le_cli_deliver(&launch->outcome, line->outputs, arrays, line->output_count, line);
    free(arrays);
    return code;
}

/* ---- all of it */

static int launch_steps(struct launch_command *launch) {
    struct le_cli_line *line = &launch->session.line;
    struct le_cli *cli = launch->session.cli;
    int code = check_outputs(cli, line);
    if (!code)
        code = read_source(launch);
    if (!code)
        code = open_device(launch);
    if (!code)
        code = find_kernel(launch);
    if (!code)
        code = le_cli_arguments_make(cli, line, launch->kernel, line->repeat > 1, &launch->arguments);
    if (!code)
        code = check_arrays(launch);
    if (!code)
        code = run_all(launch);
    if (!code)
        code = deliver_all(launch);
    return code;
}

static void free_launch(struct launch_command *launch) {
    struct le_cli *cli = launch->session.cli;
    if (cli->ctx)
        le_cli_cost_begin(cli, LEAT_COST_OTHER, "releasing memory");
    le_cli_arguments_free(&launch->arguments);
    leat_event_free(launch->start);
    leat_event_free(launch->stop);
    leat_module_free(launch->module);
    free(launch->source);
    if (cli->ctx)
        le_cli_cost_end(cli, 0);
}

int le_command_launch(struct le_cli *cli, int argc, char **argv) {
    struct launch_command launch = {.session = {.cli = cli}, .outcome = {.cli = cli}};
    unsigned accepts = LE_ACCEPTS_KERNEL | LE_ACCEPTS_BINDINGS | LE_ACCEPTS_RUN | LE_ACCEPTS_DEVICE;
    int code = le_cli_line_parse(cli, accepts, argc, argv, &launch.session.line);
    if (!code && launch.session.line.help) {
        le_cli_help("launch");
    } else {
        if (!code)
            code = launch_steps(&launch);
        free_launch(&launch);
        le_cli_report(&launch.outcome, code);
    }
    le_cli_outcome_free(&launch.outcome);
    le_cli_line_free(&launch.session.line);
    return code;
}
