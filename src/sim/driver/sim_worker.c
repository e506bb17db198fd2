/* sim's own thread. It runs enqueued operations when a call waits for them, in the order of le_sim_queue_pick. If no
 * call comes for a while, it runs them by itself, so that a host that polls memory sees it change. Kernels run only
 * here.
 *
 * The thread holds the lock while it works, except while an unchecked kernel runs, which may wait for something that
 * the host does. */
#include "base/clock.h"
#include "sim/driver/sim_guard.h"
#include "sim/grid/sim_fiber.h"
#include "sim/driver/sim_state.h"
#include <errno.h>
#include <signal.h>
#include <time.h>

enum { IDLE_NS = 50000000, BRIEF_NS = 20000000 };

static struct timespec after_ns(uint64_t wait_ns) {
    uint64_t then_ns = le_clock_ns() + wait_ns;
    return (struct timespec){.tv_sec = (time_t)(then_ns / 1000000000), .tv_nsec = (long)(then_ns % 1000000000)};
}

static bool goal_reached(const struct sim_state *state, const struct sim_goal *goal) {
    if (goal->slot >= 0)
        return le_sim_op_done(goal->slot, goal->number);
    for (int k = 0; k < state->stream_count; k++)
        if (!le_sim_op_done(k, goal->number))
            return false;
    return true;
}

static void goals_check(struct sim_state *state) {
    bool any = false;
    for (struct sim_goal **at = &state->goals; *at;)
        if (goal_reached(state, *at)) {
            (*at)->reached = any = true;
            *at = (*at)->next;
        } else {
            at = &(*at)->next;
        }
    if (any)
        pthread_cond_broadcast(&state->done);
}

static void run_next(struct sim_state *state) {
    struct sim_op *op = le_sim_queue_pick();
    state->running = op;
    le_sim_guard_open(op);
    if (op->kind == SIM_OP_COPY)
        le_sim_copy_run(op);
    else if (op->kind == SIM_OP_FILL)
        le_sim_fill_run(op);
    else if (op->kind == SIM_OP_KERNEL && le_cancel_tokens_requested(&op->tokens))
        le_sim_kernel_skipped(state);
    else if (op->kind == SIM_OP_KERNEL)
        le_sim_kernel_run(op);
    le_sim_guard_close(op);
    state->running = NULL;
    le_sim_queue_pop(op);
    if (state->fatal)
        le_sim_queue_drop_all();
    goals_check(state);
}

/* Waits for work. true: the host has made no call for so long that work must run unasked. */
static bool wait_for_work(struct sim_state *state) {
    if (!state->queued || state->options.only_on_wait) {
        pthread_cond_wait(&state->work, &state->lock);
        return false;
    }
    uint64_t silent_ns = le_clock_ns() - state->last_call_ns;
    if (silent_ns >= IDLE_NS)
        return true;
    struct timespec until = after_ns(IDLE_NS - silent_ns);
    pthread_cond_timedwait(&state->work, &state->lock, &until);
    return false;
}

static void *worker_main(void *user) {
    struct sim_state *state = user;
    pthread_mutex_lock(&state->lock);
    while (!state->stop)
        if (state->goals) {
            run_next(state);
        } else if (wait_for_work(state) && state->queued && !state->goals && !state->stop) {
            le_sim_guard_drop_unconfirmed();
            run_next(state);
            pthread_mutex_unlock(&state->lock); /* let calls run in between */
            pthread_mutex_lock(&state->lock);
        }
    pthread_mutex_unlock(&state->lock);
    return NULL;
}

static bool conditions_init(struct sim_state *state) {
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes))
        return false;
    bool ok = !pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) && !pthread_cond_init(&state->work, &attributes);
    if (ok && pthread_cond_init(&state->done, &attributes)) {
        pthread_cond_destroy(&state->work);
        ok = false;
    }
    pthread_condattr_destroy(&attributes);
    return ok;
}

/* The worker blocks all signals except faults and that of its timer (sim_trap.c); host threads handle the others. */
static bool thread_start(struct sim_state *state) {
    sigset_t all, before;
    sigfillset(&all);
    sigdelset(&all, SIGSEGV);
    sigdelset(&all, SIGBUS);
    sigdelset(&all, SIGFPE);
    sigdelset(&all, SIGILL);
    sigdelset(&all, SIGURG);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&state->worker, NULL, worker_main, state);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return !failed;
}

le_cu_result le_sim_worker_start(void) {
    struct sim_state *state = le_sim_state();
    if (state->worker_started)
        return LE_CU_SUCCESS;
    state->stop = false;
    if (!conditions_init(state))
        return LE_CU_ERROR_OUT_OF_MEMORY;
    if (!thread_start(state)) {
        pthread_cond_destroy(&state->work);
        pthread_cond_destroy(&state->done);
        return LE_CU_ERROR_OUT_OF_MEMORY;
    }
    state->worker_started = true;
    return LE_CU_SUCCESS;
}

/* The caller holds the lock, which is released while the thread ends. No other call is waiting. */
void le_sim_worker_stop(void) {
    struct sim_state *state = le_sim_state();
    if (!state->worker_started)
        return;
    state->stop = true;
    pthread_cond_signal(&state->work);
    pthread_mutex_unlock(&state->lock);
    pthread_join(state->worker, NULL);
    pthread_mutex_lock(&state->lock);
    pthread_cond_destroy(&state->work);
    pthread_cond_destroy(&state->done);
    state->worker_started = false;
    le_sim_stacks_free(state->stack_cache.stacks);
    state->stack_cache = (struct sim_stack_cache){0};
}

/* ---- waiting for the worker */

static void goal_remove(struct sim_state *state, struct sim_goal *goal) {
    struct sim_goal **at = &state->goals;
    while (*at != goal)
        at = &(*at)->next;
    *at = goal->next;
}

/* limit_ns 0: no limit. */
static bool wait_for_goal(struct sim_goal *goal, uint64_t limit_ns) {
    struct sim_state *state = le_sim_state();
    if (goal_reached(state, goal))
        return true;
    goal->next = state->goals;
    state->goals = goal;
    pthread_cond_signal(&state->work);
    struct timespec until = after_ns(limit_ns);
    while (!goal->reached)
        if (!limit_ns)
            pthread_cond_wait(&state->done, &state->lock);
        else if (pthread_cond_timedwait(&state->done, &state->lock, &until) == ETIMEDOUT && !goal->reached)
            break;
    if (!goal->reached)
        goal_remove(state, goal);
    return goal->reached;
}

void le_sim_force(int slot, uint64_t number) {
    wait_for_goal(&(struct sim_goal){.slot = slot, .number = number}, 0);
}

void le_sim_force_all(void) {
    wait_for_goal(&(struct sim_goal){.slot = -1, .number = le_sim_state()->op_count}, 0);
}

bool le_sim_force_briefly(int slot, uint64_t number) {
    return wait_for_goal(&(struct sim_goal){.slot = slot, .number = number}, BRIEF_NS);
}
