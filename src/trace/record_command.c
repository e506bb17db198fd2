/* See record_command.h. */
#include "trace/record_command.h"
#include "base/memory.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

enum { VARIABLES = 7, VARIABLE_BYTES = PATH_MAX + 64 };

/* ---- the command's environment: this process's variables, and those for the recorder */

struct command_environment {
    char text[VARIABLES][VARIABLE_BYTES];
    int count;
    char **all; /* ends with NULL */
};

__attribute__((format(printf, 2, 3))) static void set_variable(struct command_environment *environment,
                                                               const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(environment->text[environment->count++], VARIABLE_BYTES, format, arguments);
    va_end(arguments);
}

static bool is_replaced(const struct command_environment *environment, const char *variable) {
    if (strncmp(variable, "LEAT_TRACE_", 11) == 0)
        return strncmp(variable, "LEAT_TRACE_RECORDER=", 20) != 0;
    for (int k = 0; k < environment->count; k++) {
        size_t length = strcspn(environment->text[k], "=") + 1;
        if (strncmp(environment->text[k], variable, length) == 0)
            return true;
    }
    return false;
}

static leat_status make_environment(struct command_environment *environment, const char *recorder, const char *folder,
                                    const leat_trace_options *options) {
    size_t count = 0, kept = 0;
    if (*recorder) {
        set_variable(environment, "CUDA_INJECTION64_PATH=%s", recorder);
        set_variable(environment, "NVTX_INJECTION64_PATH=%s", recorder);
        set_variable(environment, LE_TRACE_FOLDER "=%s", folder);
        set_variable(environment, "LEAT_TRACE_LIMIT=%llu", (unsigned long long)options->limit_bytes);
        set_variable(environment, "LEAT_TRACE_SOURCE=%d", !options->no_source);
        set_variable(environment, "LEAT_TRACE_PAUSED=%d", options->paused);
        if (options->graphs_only)
            set_variable(environment, "LEAT_TRACE_GRAPHS=only");
    }
    while (environ && environ[count])
        count++;
    environment->all = le_alloc_zero(count + VARIABLES + 1, sizeof *environment->all);
    if (!environment->all)
        return le_fail_out_of_memory((count + VARIABLES + 1) * sizeof *environment->all);
    for (size_t k = 0; k < count; k++)
        if (!is_replaced(environment, environ[k]))
            environment->all[kept++] = environ[k];
    for (int k = 0; k < environment->count; k++)
        environment->all[kept++] = environment->text[k];
    return LEAT_OK;
}

/* ---- the whole */

/* Makes a folder for this trace's parts, beside it. */
static leat_status make_folder(const char *file, char folder[PATH_MAX]) {
    char here[PATH_MAX];
    bool is_absolute = file[0] == '/';
    if (!is_absolute && !getcwd(here, sizeof here))
        return le_fail(LEAT_FILE, "cannot get the working folder: %s", strerror(errno));
    int length = is_absolute ? snprintf(folder, PATH_MAX, "%s.XXXXXX", file)
                             : snprintf(folder, PATH_MAX, "%s/%s.XXXXXX", here, file);
    if (length >= PATH_MAX)
        return le_fail(LEAT_FILE, "%s: the name is too long", file);
    if (!mkdtemp(folder))
        return le_fail_file("write", file, errno);
    return LEAT_OK;
}

static leat_status record_into(const char *const *command, const char *recorder, const char *folder,
                               const leat_trace_options *options, leat_trace_outcome *outcome) {
    struct command_environment *environment = le_alloc_zero(1, sizeof *environment);
    if (!environment)
        return le_fail_out_of_memory(sizeof *environment);
    leat_status status = make_environment(environment, recorder, folder, options);
    if (!status)
        status = le_trace_run_command(command, environment->all, &outcome->exit_status);
    le_free(environment->all);
    le_free(environment);
    return status;
}

void le_trace_add_note(leat_trace_outcome *outcome, const char *format, ...) {
    size_t length = strlen(outcome->note);
    va_list arguments;
    if (length)
        length += (size_t)snprintf(outcome->note + length, sizeof outcome->note - length, "; ");
    if (length >= sizeof outcome->note)
        return;
    va_start(arguments, format);
    vsnprintf(outcome->note + length, sizeof outcome->note - length, format, arguments);
    va_end(arguments);
}

static void note_missing(const char *file, bool has_survivors, leat_trace_outcome *outcome) {
    if (!outcome->bytes)
        le_trace_add_note(
            outcome, "nothing was recorded: no process of the command was seen to use CUDA; %s was not written", file);
    else if (!outcome->processes && !outcome->note[0])
        le_trace_add_note(outcome, "nothing was recorded: no process that used CUDA could write a record");
    if (has_survivors)
        le_trace_add_note(outcome,
                          "a process of the command is still running; what it does from now on is not recorded");
}

leat_status le_trace_record_command(const char *const *command, const leat_trace_options *options,
                                    leat_trace_outcome *outcome) {
    const char *file = options->file ? options->file : "leat.trace";
    char recorder[LE_RECORDER_PATH_BYTES] = "", folder[PATH_MAX];
    *outcome = (leat_trace_outcome){0};
    if (!le_recorder_find(options->recorder, recorder)) {
        snprintf(outcome->note, sizeof outcome->note,
                 "nothing was recorded: libleat_trace.so was not found; set LEAT_TRACE_RECORDER to its path");
        return record_into(command, "", "", options, outcome);
    }
    leat_status status = make_folder(file, folder);
    if (status)
        return status;
    status = record_into(command, recorder, folder, options, outcome);
    bool has_survivors = !status && le_trace_has_survivors(folder);
    leat_status gathered = le_parts_gather(folder, file, outcome);
    if (gathered)
        return le_fail_prefix(gathered, "the records are kept in %s", folder);
    le_parts_remove(folder);
    if (!status)
        note_missing(file, has_survivors, outcome);
    return status;
}
