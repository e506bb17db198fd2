/* See process.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "base/process.h"
#include "base/environment.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void le_argv_add(struct le_arena *arena, struct le_argv *argv, const char *word) {
    *LE_PUSH(arena, argv) = word;
}

const char *le_executable_find(struct le_arena *arena, const char *name) {
    const char *path = le_environment_get("PATH");
    if (strchr(name, '/'))
        return access(name, X_OK) == 0 ? name : NULL;
    while (path && *path) {
        size_t length = strcspn(path, ":");
        const char *candidate = le_arena_format(arena, "%.*s/%s", (int)length, path, name);
        if (length && *path == '/' && access(candidate, X_OK) == 0)
            return candidate;
        path += length + (path[length] == ':');
    }
    return NULL;
}

/* The environment of a process: its messages are in English, whatever the user's language. Its temporary files go to
 * the folder, and are removed with it even if the process is killed. */
static char **make_environment(struct le_arena *arena, const char *folder) {
    char *const *variables = le_environment_all();
    int count = 0, kept = 0;
    while (variables[count])
        count++;
    char **list = LE_NEW_ARRAY(arena, count + 3, char *);
    for (int k = 0; k < count; k++)
        if (strncmp(variables[k], "LC_ALL=", 7) != 0 && strncmp(variables[k], "LANGUAGE=", 9) != 0 &&
            !(folder && strncmp(variables[k], "TMPDIR=", 7) == 0))
            list[kept++] = variables[k];
    static char english[] = "LC_ALL=C";
    list[kept++] = english;
    if (folder)
        list[kept] = le_arena_format(arena, "TMPDIR=%s", folder);
    return list;
}

static void add_signals(sigset_t *set) {
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    for (size_t k = 0; k < ARRAY_LEN(signals); k++)
        sigaddset(set, signals[k]);
}

void le_signals_hold(sigset_t *before) {
    sigset_t held;
    sigemptyset(&held);
    add_signals(&held);
    pthread_sigmask(SIG_BLOCK, &held, before);
}

void le_signals_release(const sigset_t *before) {
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

/* Starts a process in which no signals are blocked, even if this thread blocks some. Returns an errno. */
static int spawn(pid_t *process, char **words, const posix_spawn_file_actions_t *actions, char **variables) {
    posix_spawnattr_t attributes;
    sigset_t none;
    sigemptyset(&none);
    int failure = posix_spawnattr_init(&attributes);
    if (failure)
        return failure;
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    failure = posix_spawn(process, words[0], actions, &attributes, words, variables);
    posix_spawnattr_destroy(&attributes);
    return failure;
}

struct child {
    posix_spawn_file_actions_t actions;
    int output[2], errors[2], nothing;
};

static void close_at(int *fd) {
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static bool open_pipes(struct child *child, const char *folder, int input) {
    child->output[0] = child->output[1] = child->errors[0] = child->errors[1] = child->nothing = -1;
    if (pipe2(child->output, O_CLOEXEC) != 0 || pipe2(child->errors, O_CLOEXEC) != 0)
        return false;
    if (input < 0)
        input = child->nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    posix_spawn_file_actions_adddup2(&child->actions, input, 0);
    posix_spawn_file_actions_adddup2(&child->actions, child->output[1], 1);
    posix_spawn_file_actions_adddup2(&child->actions, child->errors[1], 2);
    return !folder || posix_spawn_file_actions_addchdir_np(&child->actions, folder) == 0;
}

/* Returns an errno; 0: success. */
static int read_some(int *fd, struct le_text *text) {
    char buffer[16384];
    ssize_t count = read(*fd, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR)
        return 0;
    int failure = count < 0 ? errno : 0;
    if (count <= 0)
        close_at(fd);
    else if (text)
        le_text_add_bytes(text, buffer, (size_t)count);
    return failure;
}

/* Returns the first errno; 0: all was read. */
static int read_all(struct child *child, struct le_text *output, struct le_text *errors) {
    int failure = 0;
    while (child->output[0] >= 0 || child->errors[0] >= 0) {
        struct pollfd polled[] = {{.fd = child->output[0], .events = POLLIN},
                                  {.fd = child->errors[0], .events = POLLIN}};
        if (poll(polled, 2, -1) < 0 && errno != EINTR)
            break;
        int output_failure = polled[0].revents ? read_some(&child->output[0], output) : 0;
        int errors_failure = polled[1].revents ? read_some(&child->errors[0], errors) : 0;
        if (!failure)
            failure = output_failure ? output_failure : errors_failure;
    }
    return failure;
}

int le_exit_status(int wait_status) {
    return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

leat_status le_process_run(struct le_arena *arena, const struct le_argv *argv, const char *folder, int input,
                           struct le_text *output, struct le_text *errors, int *exit_status) {
    struct child child;
    pid_t process = -1;
    int status = 0, failure = ENOMEM, unread = 0;
    char **words = LE_NEW_ARRAY(arena, argv->count + 1, char *), **variables = make_environment(arena, folder);
    for (int k = 0; k < argv->count; k++)
        words[k] = (char *)(uintptr_t)argv->at[k];
    posix_spawn_file_actions_init(&child.actions);
    if (open_pipes(&child, folder, input))
        failure = spawn(&process, words, &child.actions, variables);
    close_at(&child.output[1]);
    close_at(&child.errors[1]);
    if (failure == 0) {
        unread = read_all(&child, output, errors);
        while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
        }
        *exit_status = le_exit_status(status);
    }
    close_at(&child.output[0]);
    close_at(&child.errors[0]);
    close_at(&child.nothing);
    posix_spawn_file_actions_destroy(&child.actions);
    if (failure != 0)
        return le_fail(LEAT_UNSUPPORTED, "%s cannot be started: %s", words[0], strerror(failure));
    if (unread)
        return le_fail(LEAT_FILE, "the output of %s cannot be read: %s", words[0], strerror(unread));
    if ((output && output->failed) || (errors && errors->failed))
        return le_fail_out_of_memory(output ? output->length : 0);
    return LEAT_OK;
}
