/* What ends a grid that runs on this thread at any instruction: faults of the machine, and requests of its tokens. A
 * handler on its own stack leaves the fiber for good, which ends the grid. Faults of other threads, and of pages that
 * are protected on purpose, go to the previous handler. The handlers are installed from le_sim_trap_begin to
 * le_sim_trap_end.
 *
 * A timer of the thread looks at the tokens. A canceled grid is left only where the thread executes the module's own
 * code: there it holds no lock, and changes nothing but the kernel's memory. Elsewhere (in a service, the C library, or
 * the scheduler) the timer tries again soon, and services look at must_stop before they begin. */
#include "base/memory.h"
#include "sim/grid/sim_thread_block.h"
#include <signal.h>
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

/* TIMER_SIGNAL is ignored by default, so it does no harm if it comes late. */
enum { TRAP_STACK_BYTES = 64 << 10, LANDING_BYTES = 16 << 10, TIMER_SIGNAL = SIGURG };
#define PERIOD_NS 10000000 /* from one look at the tokens to the next */
#define RETRY_NS  200000   /* of a canceled grid */
static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, TIMER_SIGNAL};
static struct sigaction before[ARRAY_LEN(signals)];

/* true: the previous handler returned, so it has probably handled the signal. */
static bool call_previous_handler(int number, siginfo_t *info, void *context) {
    const struct sigaction *old = &before[0];
    for (size_t k = 0; k < ARRAY_LEN(signals); k++)
        if (signals[k] == number)
            old = &before[k];
    if (old->sa_flags & SA_SIGINFO && old->sa_sigaction) {
        old->sa_sigaction(number, info, context);
        return true;
    }
    if (old->sa_handler != SIG_DFL && old->sa_handler != SIG_IGN) {
        old->sa_handler(number);
        return true;
    }
    return false;
}

/* Where a fiber continues after a fault, or when it is canceled: it switches to the home stack for good. */
static void land(void) {
    struct sim_run *run = le_sim_current_run();
    le_sim_fiber_switch(&run->thread->fiber, &run->home, true);
    __builtin_unreachable();
}

#if defined(__x86_64__)
static void *stack_of(const ucontext_t *context) {
    return (void *)context->uc_mcontext.gregs[REG_RSP];
}

static uintptr_t code_of(const ucontext_t *context) {
    return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
}

static void resume_at_landing(ucontext_t *context, char *top) {
    context->uc_mcontext.gregs[REG_RSP] = (greg_t)(uintptr_t)top - 8; /* as after a call */
    context->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)land;
}
#elif defined(__aarch64__)
static void *stack_of(const ucontext_t *context) {
    return (void *)context->uc_mcontext.sp;
}

static uintptr_t code_of(const ucontext_t *context) {
    return (uintptr_t)context->uc_mcontext.pc;
}

static void resume_at_landing(ucontext_t *context, char *top) {
    context->uc_mcontext.sp = (uintptr_t)top;
    context->uc_mcontext.pc = (uintptr_t)land;
}
#else
static void *stack_of(const ucontext_t *context) {
    (void)context;
    return NULL; /* unknown */
}

static uintptr_t code_of(const ucontext_t *context) {
    (void)context;
    return 0; /* unknown, so grids are canceled only in services and between rounds */
}

static void resume_at_landing(ucontext_t *context, char *top) { /* abandons the handler's stack */
    (void)context;
    (void)top;
    land();
}
#endif

static bool on_fiber(const struct sim_run *run, const ucontext_t *context) {
    const void *stack = stack_of(context);
    return run && run->thread_block && run->thread && (!stack || le_sim_stacks_has(run->thread_block->stacks, stack));
}

static void on_fault(int number, siginfo_t *info, void *context) {
    struct sim_run *run = le_sim_current_run();
    if (!on_fiber(run, context) || info->si_code <= 0) { /* not on a fiber, or sent by a process */
        if (!call_previous_handler(number, info, context)) {
            signal(number, SIG_DFL);
            raise(number);
        }
        return;
    }
    bool guard = le_sim_stacks_guard(run->thread_block->stacks, info->si_addr);
    bool closed = number == SIGSEGV && info->si_code == SEGV_ACCERR && !guard;
    if (closed && run->fault_address != info->si_addr) { /* a protected page: another handler may open it */
        run->fault_address = info->si_addr;
        if (call_previous_handler(number, info, context))
            return;
    }
    run->fault_address = info->si_addr;
    run->fault_signal = number;
    run->fault_guard = guard;
    run->fault_null = !info->si_addr && info->si_code == SEGV_MAPERR; /* x86-64 gives 0 for non-canonical ones, too */
    run->status = SIM_GRID_ADDRESS;
    resume_at_landing(context, run->landing + LANDING_BYTES);
}

/* ---- canceled grids */

static void set_timer(struct sim_run *run, long period_ns) {
    const struct timespec period = {.tv_nsec = period_ns};
    timer_settime(run->timer, 0, &(struct itimerspec){.it_interval = period, .it_value = period}, NULL);
}

static void on_timer(int number, siginfo_t *info, void *context) {
    struct sim_run *run = le_sim_current_run();
    int error = errno;
    if (!run || info->si_code != SI_TIMER || info->si_value.sival_ptr != run) {
        call_previous_handler(number, info, context);
    } else if (!run->must_stop && le_cancel_tokens_requested(run->grid->tokens)) {
        run->must_stop = true;
        set_timer(run, RETRY_NS);
    }
    if (run && run->must_stop && run->status == SIM_GRID_OK && code_of(context) && on_fiber(run, context) &&
        le_sim_module_has(run->module, code_of(context))) {
        set_timer(run, 0);
        run->status = SIM_GRID_CANCELED;
        resume_at_landing(context, run->landing + LANDING_BYTES);
    }
    errno = error;
}

/* Without a timer the grid is canceled between rounds only. */
static void start_timer(struct sim_run *run) {
    struct sigevent event = {
        .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = TIMER_SIGNAL, .sigev_value.sival_ptr = run};
    event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
    run->has_timer = run->grid->tokens && timer_create(CLOCK_MONOTONIC, &event, &run->timer) == 0;
    if (run->has_timer)
        set_timer(run, PERIOD_NS);
}

/* The kernel may have been left in the middle of a computation with the x87's registers or another rounding mode. */
static void restore_float_state(const struct sim_run *run) {
#if defined(__x86_64__)
    __asm__ volatile("emms" ::: "memory");
#endif
    fesetenv(&run->float_state);
}

/* ---- begin and end */

bool le_sim_trap_begin(struct sim_run *run) {
    stack_t now;
    run->landing = le_alloc(LANDING_BYTES);
    if (!run->landing)
        return false;
    if (sigaltstack(NULL, &now) == 0 && (now.ss_flags & SS_DISABLE)) {
        stack_t own = {.ss_sp = le_alloc(TRAP_STACK_BYTES), .ss_size = TRAP_STACK_BYTES};
        if (!own.ss_sp || sigaltstack(&own, NULL) != 0) {
            le_free(own.ss_sp);
            le_free(run->landing);
            return false;
        }
        run->trap_stack = own.ss_sp;
    }
    fegetenv(&run->float_state);
    struct sigaction fault = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    struct sigaction timer = {.sa_sigaction = on_timer, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
    sigemptyset(&fault.sa_mask);
    sigemptyset(&timer.sa_mask);
    for (size_t k = 0; k < ARRAY_LEN(signals); k++)
        sigaction(signals[k], signals[k] == TIMER_SIGNAL ? &timer : &fault, &before[k]);
    start_timer(run);
    return true;
}

void le_sim_trap_end(struct sim_run *run) {
    if (run->has_timer)
        timer_delete(run->timer);
    if (run->status == SIM_GRID_CANCELED)
        restore_float_state(run);
    for (size_t k = 0; k < ARRAY_LEN(signals); k++)
        sigaction(signals[k], &before[k], NULL);
    if (run->trap_stack) {
        stack_t none = {.ss_flags = SS_DISABLE};
        sigaltstack(&none, NULL);
        le_free(run->trap_stack);
        run->trap_stack = NULL;
    }
    le_free(run->landing);
}
