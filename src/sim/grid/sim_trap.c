/* Faults of the machine while a grid runs on this thread. A handler on its own stack leaves the fiber for good, which
 * ends the grid. Faults of other threads, and of pages that are protected on purpose, go to the previous handler. The
 * handlers are installed from le_sim_trap_begin to le_sim_trap_end. */
#include "base/memory.h"
#include "sim/grid/sim_thread_block.h"
#include <signal.h>
#include <string.h>
#include <ucontext.h>

enum { TRAP_STACK_BYTES = 64 << 10, LANDING_BYTES = 16 << 10 };
static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
static struct sigaction before[ARRAY_LEN(signals)];

/* true: the previous handler returned, so it has probably handled the fault. */
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

/* Where a fiber continues after a fault: it switches to the home stack for good. */
static void land(void) {
    struct sim_run *run = le_sim_current_run();
    le_sim_fiber_switch(&run->thread->fiber, &run->home, true);
    __builtin_unreachable();
}

#if defined(__x86_64__)
static void *stack_of(const ucontext_t *context) {
    return (void *)context->uc_mcontext.gregs[REG_RSP];
}

static void resume_at_landing(ucontext_t *context, char *top) {
    context->uc_mcontext.gregs[REG_RSP] = (greg_t)(uintptr_t)top - 8; /* as after a call */
    context->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)land;
}
#elif defined(__aarch64__)
static void *stack_of(const ucontext_t *context) {
    return (void *)context->uc_mcontext.sp;
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
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    sigemptyset(&action.sa_mask);
    for (size_t k = 0; k < ARRAY_LEN(signals); k++)
        sigaction(signals[k], &action, &before[k]);
    return true;
}

void le_sim_trap_end(struct sim_run *run) {
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
