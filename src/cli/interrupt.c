/* See interrupt.h. The two flags are the only mutable globals: a signal handler has no other way. The handler may run
 * on any thread. A signal that was ignored when the command started stays ignored. */
#include "cli/interrupt.h"
#include "cli/cli.h"
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

static _Atomic int writing, pending;

static void end(int number) {
    if (atomic_load(&writing)) {
        atomic_store(&pending, number);
        if (atomic_load(&writing))
            return;
    }
    _exit(LE_EXIT_SIGNAL + number);
}

void le_cli_interrupt_catch(void) {
    static const int SIGNALS[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t k = 0; k < sizeof SIGNALS / sizeof SIGNALS[0]; k++) {
        struct sigaction action, old;
        if (sigaction(SIGNALS[k], NULL, &old) != 0 || old.sa_handler == SIG_IGN)
            continue;
        action = (struct sigaction){.sa_flags = SA_RESTART};
        action.sa_handler = end;
        sigemptyset(&action.sa_mask);
        sigaction(SIGNALS[k], &action, NULL);
    }
}

void le_cli_interrupt_hold(void) {
    atomic_store(&writing, 1);
}

void le_cli_interrupt_release(void) {
    atomic_store(&writing, 0);
    int number = atomic_load(&pending);
    if (number)
        _exit(LE_EXIT_SIGNAL + number);
}
