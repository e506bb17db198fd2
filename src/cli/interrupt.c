/* See interrupt.h. These flags are the only mutable globals, because a signal handler can reach nothing else. The
 * handler may run on any thread. A signal that was ignored when the command started stays ignored. */
#include "cli/interrupt.h"
#include "cli/cli.h"
#include "cli/target.h"
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#define REPEAT_NS      1000000000 /* for so long the same signal is the first one's echo: timeout(1) sends each twice */
#define RUN_PATIENCE_S 2          /* for a canceled run to end */

static _Atomic int writing, pending;
static _Atomic(leat_call *) running;
static _Atomic int64_t pending_ns;

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void on_alarm(int number) {
    (void)number;
    _exit(le_cli_interrupt_status());
}

/* Records the signal if it is the first one. Whether it is. */
static bool record_first(int number) {
    int none = 0;
    int64_t never = 0;
    atomic_compare_exchange_strong(&pending_ns, &never, now_ns());
    return atomic_compare_exchange_strong(&pending, &none, number);
}

/* While a file is written, any signal is soon after the first one, so that no temporary file is left. */
static bool is_echo(int number) {
    return (atomic_load(&writing) || number == atomic_load(&pending)) &&
           now_ns() - atomic_load(&pending_ns) < REPEAT_NS;
}

static void cancel(leat_call *call) {
    signal(SIGALRM, on_alarm);
    alarm(RUN_PATIENCE_S);
    leat_call_cancel(call);
}

static void on_signal(int number) {
    leat_call *call = atomic_load(&running);
    if (call || atomic_load(&writing)) {
        bool first = record_first(number);
        if (first && call)
            cancel(call);
        if ((first || is_echo(number)) && (call || atomic_load(&writing)))
            return;
    }
    _exit(LE_EXIT_SIGNAL + number);
}

static void on_file_too_large(int number) {
    (void)number;
}

/* Handles SIGXFSZ, so that a write beyond the limit on file size fails and its file is removed; otherwise the signal
 * would kill the command. A handler is used because SIG_IGN would be inherited by the commands that `leat trace` runs.
 */
static void let_writes_fail(void) {
    struct sigaction action = {.sa_flags = SA_RESTART};
    action.sa_handler = on_file_too_large;
    sigemptyset(&action.sa_mask);
    sigaction(SIGXFSZ, &action, NULL);
}

void le_cli_interrupt_catch(void) {
    static const int SIGNALS[] = {SIGINT, SIGTERM, SIGHUP};
    let_writes_fail();
    for (size_t k = 0; k < sizeof SIGNALS / sizeof SIGNALS[0]; k++) {
        struct sigaction action, old;
        if (sigaction(SIGNALS[k], NULL, &old) != 0 || old.sa_handler == SIG_IGN)
            continue;
        action = (struct sigaction){.sa_flags = SA_RESTART};
        action.sa_handler = on_signal;
        sigemptyset(&action.sa_mask);
        sigaction(SIGNALS[k], &action, NULL);
    }
}

void le_cli_interrupt_hold(const char *path) {
    atomic_store(&writing, le_cli_target_is_regular(path));
}

void le_cli_interrupt_release(void) {
    atomic_store(&writing, 0);
    int number = atomic_load(&pending);
    if (number)
        _exit(LE_EXIT_SIGNAL + number);
}

void le_cli_interrupt_run_begin(leat_call *call) {
    atomic_store(&running, call);
}

void le_cli_interrupt_run_end(void) {
    atomic_store(&running, NULL);
    alarm(0);
}

int le_cli_interrupt_status(void) {
    int number = atomic_load(&pending);
    return number ? LE_EXIT_SIGNAL + number : 0;
}

bool le_cli_interrupt_proceed(void *user) {
    (void)user;
    return atomic_load(&pending) == 0;
}
