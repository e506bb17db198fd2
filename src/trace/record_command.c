/* See record_command.h. Signals are waited for by this thread alone, with no handlers: a terminal's Ctrl-C reaches the
 * command by itself, and what somebody sends to this process is passed on. */
#include "trace/record_command.h"
#include "base/memory.h"
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { VARIABLES = 6, VARIABLE_BYTES = PATH_MAX + 64 };

/* ---- the command's environment: ours, and what the recorder wants */

struct surroundings {
    char text[VARIABLES][VARIABLE_BYTES];
    int count;
    char **all; /* ends with NULL */
};

__attribute__((format(printf, 2, 3))) static void set(struct surroundings *surroundings, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(surroundings->text[surroundings->count++], VARIABLE_BYTES, format, arguments);
    va_end(arguments);
}

static bool is_replaced(const struct surroundings *surroundings, const char *variable) {
    if (strncmp(variable, "LEAT_TRACE_", 11) == 0)
        return strncmp(variable, "LEAT_TRACE_RECORDER=", 20) != 0;
    for (int k = 0; k < surroundings->count; k++) {
        size_t length = strcspn(surroundings->text[k], "=") + 1;
        if (strncmp(surroundings->text[k], variable, length) == 0)
            return true;
    }
    return false;
}

static leat_status make_surroundings(struct surroundings *surroundings, const char *recorder, const char *folder,
                                     const leat_trace_options *options) {
    size_t count = 0, kept = 0;
    if (*recorder) {
        set(surroundings, "CUDA_INJECTION64_PATH=%s", recorder);
        set(surroundings, "NVTX_INJECTION64_PATH=%s", recorder);
        set(surroundings, "LEAT_TRACE_FOLDER=%s", folder);
        set(surroundings, "LEAT_TRACE_LIMIT=%llu", (unsigned long long)options->limit_bytes);
        set(surroundings, "LEAT_TRACE_SOURCE=%d", !options->no_source);
        set(surroundings, "LEAT_TRACE_PAUSED=%d", options->paused);
    }
    while (environ && environ[count])
        count++;
    surroundings->all = le_alloc_zero(count + VARIABLES + 1, sizeof *surroundings->all);
    if (!surroundings->all)
        return le_fail_out_of_memory((count + VARIABLES + 1) * sizeof *surroundings->all);
    for (size_t k = 0; k < count; k++)
        if (!is_replaced(surroundings, environ[k]))
            surroundings->all[kept++] = environ[k];
    for (int k = 0; k < surroundings->count; k++)
        surroundings->all[kept++] = surroundings->text[k];
    return LEAT_OK;
}

/* ---- running it */

static void make_signals(sigset_t *signals) {
    static const int numbers[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCHLD};
    sigemptyset(signals);
    for (size_t k = 0; k < ARRAY_LEN(numbers); k++)
        sigaddset(signals, numbers[k]);
}

static leat_status start(const char *const *command, char **all, const sigset_t *mask, pid_t *child) {
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&attributes, mask);
    int error = posix_spawnp(child, command[0], NULL, &attributes, (char *const *)command, all);
    posix_spawnattr_destroy(&attributes);
    return error ? le_fail(LEAT_FILE, "%s: cannot be started: %s", command[0], strerror(error)) : LEAT_OK;
}

/* A terminal's signals come from the system, and have reached the whole group. */
static void pass_on(pid_t child, const siginfo_t *info) {
    bool from_terminal = (info->si_signo == SIGINT || info->si_signo == SIGQUIT) && info->si_code == SI_KERNEL;
    if (info->si_signo != SIGCHLD && !from_terminal)
        kill(child, info->si_signo);
}

/* Another thread may have been given the signal of the child's end: so it is looked for now and then. */
static leat_status wait_for(pid_t child, const sigset_t *signals, int *exit_status) {
    const struct timespec while_ns = {.tv_nsec = 100000000};
    int status;
    for (;;) {
        pid_t ended = waitpid(child, &status, WNOHANG);
        if (ended < 0 && errno != EINTR)
            return le_fail(LEAT_INTERNAL, "the command's end was waited for by somebody else");
        if (ended == child)
            break;
        siginfo_t info;
        if (sigtimedwait(signals, &info, &while_ns) > 0)
            pass_on(child, &info);
    }
    *exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return LEAT_OK;
}

static leat_status run(const char *const *command, char **all, int *exit_status) {
    sigset_t signals, before;
    pid_t child;
    make_signals(&signals);
    pthread_sigmask(SIG_BLOCK, &signals, &before);
    leat_status status = start(command, all, &before, &child);
    if (!status)
        status = wait_for(child, &signals, exit_status);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return status;
}

/* ---- the whole */

/* A folder of this trace's own, beside it. */
static leat_status make_folder(const char *file, char folder[PATH_MAX]) {
    char here[PATH_MAX];
    bool is_absolute = file[0] == '/';
    if (!is_absolute && !getcwd(here, sizeof here))
        return le_fail(LEAT_FILE, "the working folder: %s", strerror(errno));
    int length = is_absolute ? snprintf(folder, PATH_MAX, "%s.XXXXXX", file)
                             : snprintf(folder, PATH_MAX, "%s/%s.XXXXXX", here, file);
    if (length >= PATH_MAX)
        return le_fail(LEAT_FILE, "%s: the name is too long", file);
    if (!mkdtemp(folder))
        return le_fail(LEAT_FILE, "%s: cannot be written: %s", file, strerror(errno));
    return LEAT_OK;
}

static leat_status record_into(const char *const *command, const char *recorder, const char *folder,
                               const leat_trace_options *options, leat_trace_outcome *outcome) {
    struct surroundings *surroundings = le_alloc_zero(1, sizeof *surroundings);
    if (!surroundings)
        return le_fail_out_of_memory(sizeof *surroundings);
    leat_status status = make_surroundings(surroundings, recorder, folder, options);
    if (!status)
        status = run(command, surroundings->all, &outcome->exit_status);
    le_free(surroundings->all);
    le_free(surroundings);
    return status;
}

leat_status le_trace_record(const char *const *command, const leat_trace_options *options,
                            leat_trace_outcome *outcome) {
    const char *file = options->file ? options->file : "leat.trace";
    char recorder[LE_RECORDER_PATH_BYTES] = "", folder[PATH_MAX];
    *outcome = (leat_trace_outcome){0};
    if (!le_recorder_find(options->recorder, recorder)) {
        snprintf(outcome->note, sizeof outcome->note,
                 "nothing was recorded: libleat_trace.so was not found; LEAT_TRACE_RECORDER may say where it is");
        return record_into(command, "", "", options, outcome);
    }
    leat_status status = make_folder(file, folder);
    if (status)
        return status;
    status = record_into(command, recorder, folder, options, outcome);
    leat_status gathered = status ? LEAT_OK : le_parts_gather(folder, file, outcome);
    if (gathered)
        return le_fail_prefix(gathered, "what was recorded stays in %s", folder);
    le_parts_remove(folder);
    if (!status && !outcome->bytes)
        snprintf(outcome->note, sizeof outcome->note,
                 "nothing was recorded: no process of the command used CUDA; %s was not written", file);
    return status;
}
