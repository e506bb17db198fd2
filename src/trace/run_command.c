/* Runs a command on the caller's terminal and waits for it; see record_command.h. (base/process.h captures output
 * instead.) This thread waits for signals without handlers. Ctrl-C in the terminal reaches the command directly;
 * signals that are sent to this process are forwarded to the command. */
#include "trace/record_command.h"
#include "base/process.h"
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- signals */

static bool has_handler(int number) {
    struct sigaction action;
    return sigaction(number, NULL, &action) == 0 && action.sa_handler != SIG_IGN && action.sa_handler != SIG_DFL;
}

/* The signals to wait for: SIGCHLD, and those that would end this process. Left out are signals for this process's own
 * errors and limits, signals that stop it or are ignored by default, and signals that the caller handles. */
static void make_signals(sigset_t *signals) {
    static const int others[] = {SIGSEGV, SIGBUS,  SIGFPE,  SIGILL,  SIGABRT, SIGTRAP, SIGSYS,  SIGXCPU,
                                 SIGXFSZ, SIGCONT, SIGTSTP, SIGTTIN, SIGTTOU, SIGURG,  SIGWINCH};
    sigfillset(signals);
    for (size_t k = 0; k < ARRAY_LEN(others); k++)
        sigdelset(signals, others[k]);
    for (int number = 1; number <= SIGRTMAX; number++)
        if (number != SIGCHLD && has_handler(number))
            sigdelset(signals, number);
}

/* Signals from the terminal come from the kernel, and have reached the whole process group already. */
static void pass_on(pid_t child, const siginfo_t *info) {
    bool from_terminal = (info->si_signo == SIGINT || info->si_signo == SIGQUIT) && info->si_code == SI_KERNEL;
    if (info->si_signo != SIGCHLD && !from_terminal)
        kill(child, info->si_signo);
}

/* If the caller ignores SIGCHLD, the command's exit status would be lost. Returns whether it was ignored. */
static bool unignore_child_signal(struct sigaction *before) {
    struct sigaction plain = {.sa_handler = SIG_DFL};
    sigaction(SIGCHLD, NULL, before);
    bool is_ignored = before->sa_handler == SIG_IGN || before->sa_flags & SA_NOCLDWAIT;
    if (is_ignored)
        sigaction(SIGCHLD, &plain, NULL);
    return is_ignored;
}

/* ---- the child */

struct command_start {
    const char *const *command;
    char **variables;
    sigset_t mask; /* the caller's signal mask */
    struct sigaction child_ended;
    int *error; /* shared with the child: errno if the command cannot be executed */
};

/* execvpe runs a script without `#!` with /bin/sh, as shells do. */
_Noreturn static void exec_command(const struct command_start *start) {
    for (int number = 1; number <= SIGRTMAX; number++)
        if (has_handler(number))
            signal(number, SIG_DFL);
    if (start->child_ended.sa_handler == SIG_IGN)
        signal(SIGCHLD, SIG_IGN);
    pthread_sigmask(SIG_SETMASK, &start->mask, NULL);
    execvpe(start->command[0], (char *const *)start->command, start->variables);
    *start->error = errno;
    for (;;)
        kill(getpid(), SIGKILL); /* no code of the caller, such as atexit functions, may run in the child */
}

/* All signals are blocked, so that no handler of the caller runs in the child. */
static pid_t start_child(const struct command_start *start) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    pid_t child = fork();
    if (child == 0)
        exec_command(start);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return child;
}

/* SIGCHLD may be delivered to another thread, so the child is also polled. */
static leat_status wait_for(pid_t child, const sigset_t *signals, int *exit_status) {
    const struct timespec while_ns = {.tv_nsec = 100000000};
    int status;
    for (;;) {
        pid_t ended = waitpid(child, &status, WNOHANG);
        if (ended < 0 && errno != EINTR)
            return le_fail(LEAT_INTERNAL,
                           "the command's exit status is unknown: another part of this process waited for it");
        if (ended == child)
            break;
        siginfo_t info;
        if (sigtimedwait(signals, &info, &while_ns) > 0)
            pass_on(child, &info);
    }
    *exit_status = le_exit_status(status);
    return LEAT_OK;
}

static leat_status fail_start(const struct command_start *start, int error) {
    return le_fail(LEAT_FILE, "%s: cannot be started: %s", start->command[0], strerror(error));
}

static leat_status run_child(const struct command_start *start, const sigset_t *signals, int *exit_status) {
    pid_t child = start_child(start);
    if (child < 0)
        return fail_start(start, errno);
    leat_status status = wait_for(child, signals, exit_status);
    return *start->error ? fail_start(start, *start->error) : status;
}

leat_status le_trace_run_command(const char *const *command, char **variables, int *exit_status) {
    struct command_start start = {.command = command, .variables = variables};
    sigset_t signals;
    start.error = mmap(NULL, sizeof *start.error, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (start.error == MAP_FAILED)
        return le_fail_out_of_memory(sizeof *start.error);
    bool was_ignored = unignore_child_signal(&start.child_ended);
    make_signals(&signals);
    pthread_sigmask(SIG_BLOCK, &signals, &start.mask);
    leat_status status = run_child(&start, &signals, exit_status);
    pthread_sigmask(SIG_SETMASK, &start.mask, NULL);
    if (was_ignored)
        sigaction(SIGCHLD, &start.child_ended, NULL);
    munmap(start.error, sizeof *start.error);
    return status;
}
