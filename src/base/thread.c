/* The thread pool. It runs one job at a time; a counter hands out its tasks.
 *
 * A job is open from its start until the caller finds no task left. A worker joins an open job once, by incrementing
 * the users in `state`. The job's fields change only while it is closed and has no users. A worker that does not join
 * in time is not waited for. The caller whose job runs holds `turn`. `lock` is used only to sleep and to wake. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "base/thread.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "base/memory.h"
#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#define THREADS_MAX      4096
#define SPIN_NS          20000 /* time of polling before sleeping */
#define LOOKS_PER_CLOCK  16
#define CACHE_LINE_BYTES 64
#define PATIENCE_NS      20000000 /* of a caller that waits, until it looks whether its run is canceled */

/* The parts of `state`: the number of workers in the job, whether it is open, and the job's number. */
#define USERS  ((uint64_t)0xffff)
#define OPEN   ((uint64_t)0x10000)
#define NUMBER ((uint64_t)0x20000) /* one job */

struct worker {
    struct le_pool *pool;
    int number;
    pthread_t thread;
};
struct le_pool {
    int threads;
    int started; /* workers that have been started; guarded by turn */
    bool starting_failed;
    uint64_t spin_ns;
    pthread_mutex_t turn, lock;
    pthread_cond_t wake, done;
    le_task *task;
    void *job;
    atomic_bool stopping;
    atomic_int sleepers;
    _Atomic int64_t count;
    _Atomic uint64_t state;
    char padding_before[CACHE_LINE_BYTES];
    _Atomic int64_t next; /* next task */
    char padding_after[CACHE_LINE_BYTES];
    struct worker workers[]; /* threads - 1 */
};

/* The pool whose task this thread is running, and the thread's number in that pool. */
static _Thread_local struct {
    struct le_pool *pool;
    int worker;
} here;

static void pause_core(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static void run_tasks(struct le_pool *pool, le_task *task, void *job, int64_t count, int worker) {
    for (;;) {
        int64_t k = atomic_fetch_add_explicit(&pool->next, 1, memory_order_relaxed);
        if (k >= count)
            return;
        task(job, k, worker);
    }
}

/* ---- the workers */

/* Whether there is an open job with tasks left that the worker has not joined. */
static bool is_worth_joining(struct le_pool *pool, uint64_t state, uint64_t last) {
    if (!(state & OPEN) || state / NUMBER == last)
        return false;
    return atomic_load_explicit(&pool->next, memory_order_relaxed) <
           atomic_load_explicit(&pool->count, memory_order_relaxed);
}

static bool should_go_on(struct le_pool *pool, uint64_t last) {
    return is_worth_joining(pool, atomic_load(&pool->state), last) || atomic_load(&pool->stopping);
}

static bool spin_for_job(struct le_pool *pool, uint64_t last) {
    if (pool->spin_ns == 0)
        return should_go_on(pool, last);
    uint64_t start_ns = le_clock_ns();
    do {
        for (int k = 0; k < LOOKS_PER_CLOCK; k++) {
            if (should_go_on(pool, last))
                return true;
            pause_core();
        }
    } while (le_clock_ns() - start_ns < pool->spin_ns);
    return false;
}

/* No wakeup is lost: the caller publishes a job before it reads the number of sleepers, and a worker increments that
 * number before it looks for a job. So one of them sees the other. */
static void sleep_for_job(struct le_pool *pool, uint64_t last) {
    pthread_mutex_lock(&pool->lock);
    atomic_fetch_add(&pool->sleepers, 1);
    while (!should_go_on(pool, last))
        pthread_cond_wait(&pool->wake, &pool->lock);
    atomic_fetch_sub(&pool->sleepers, 1);
    pthread_mutex_unlock(&pool->lock);
}

static void leave_job(struct le_pool *pool) {
    uint64_t state = atomic_fetch_sub(&pool->state, 1) - 1;
    if (state & (OPEN | USERS))
        return;
    pthread_mutex_lock(&pool->lock);
    pthread_cond_signal(&pool->done);
    pthread_mutex_unlock(&pool->lock);
}

static void *run_worker(void *argument) {
    struct worker *worker = argument;
    struct le_pool *pool = worker->pool;
    here.pool = pool;
    here.worker = worker->number;
    fesetenv(FE_DFL_ENV);
    uint64_t last = 0;
    while (!atomic_load(&pool->stopping)) {
        uint64_t state = atomic_load(&pool->state);
        if (!is_worth_joining(pool, state, last)) {
            if (!spin_for_job(pool, last))
                sleep_for_job(pool, last);
            continue;
        }
        if (!atomic_compare_exchange_weak(&pool->state, &state, state + 1))
            continue;
        last = state / NUMBER;
        run_tasks(pool, pool->task, pool->job, atomic_load(&pool->count), worker->number);
        leave_job(pool);
    }
    return NULL;
}

/* Workers block all signals, so that the program's own threads receive them. */
static void start_workers(struct le_pool *pool) {
    if (pool->started == pool->threads - 1 || pool->starting_failed)
        return;
    sigset_t all, before;
    sigfillset(&all);
    sigdelset(
        &all,
        SIGSEGV); /* signals of a thread's own faults; if they were blocked, the process would die without a message */
    sigdelset(&all, SIGBUS);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (pool->started < pool->threads - 1) {
        struct worker *worker = &pool->workers[pool->started];
        *worker = (struct worker){.pool = pool, .number = pool->started + 1};
        pool->starting_failed = pthread_create(&worker->thread, NULL, run_worker, worker) != 0;
        if (pool->starting_failed)
            break;
        pool->started++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* ---- the callers */

/* Saves the caller's floating-point environment, which is restored after the job. Saving all of it takes longer than a
 * small job. On x86-64, MXCSR is enough while the x87 control word is the default. */
struct float_environment {
    bool whole;
    fenv_t saved;
    unsigned vector_control;
};

static void enter_default(struct float_environment *environment) {
    environment->whole = true;
#ifdef __x86_64__
    unsigned short control;
    __asm__ volatile("fnstcw %0" : "=m"(control));
    environment->whole = control != 0x37f;
    environment->vector_control = __builtin_ia32_stmxcsr();
    if (!environment->whole)
        __builtin_ia32_ldmxcsr(0x1f80);
#endif
    if (environment->whole) {
        fegetenv(&environment->saved);
        fesetenv(FE_DFL_ENV);
    }
}

static void leave_default(const struct float_environment *environment) {
    if (environment->whole)
        fesetenv(&environment->saved);
#ifdef __x86_64__
    __builtin_ia32_ldmxcsr(environment->vector_control);
#endif
}

static void wake_workers(struct le_pool *pool, int64_t wanted) {
    if (atomic_load(&pool->sleepers) == 0)
        return;
    pthread_mutex_lock(&pool->lock);
    if (wanted >= atomic_load(&pool->sleepers)) {
        pthread_cond_broadcast(&pool->wake);
    } else {
        for (; wanted > 0; wanted--)
            pthread_cond_signal(&pool->wake);
    }
    pthread_mutex_unlock(&pool->lock);
}

static bool has_no_users(struct le_pool *pool) {
    return (atomic_load(&pool->state) & USERS) == 0;
}

/* The time after a short wait, by a clock. */
static struct timespec soon(clockid_t clock) {
    struct timespec until;
    clock_gettime(clock, &until);
    until.tv_nsec += PATIENCE_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    return until;
}

/* Meanwhile the run on this thread is watched, but it does not end before its tasks do. */
static void sleep_for_users(struct le_pool *pool) {
    struct le_cancel *cancel = le_cancel_here();
    const bool is_watched = cancel && cancel->proceed;
    pthread_mutex_lock(&pool->lock);
    while (!has_no_users(pool)) {
        const struct timespec until = is_watched ? soon(CLOCK_MONOTONIC) : (struct timespec){0};
        if (!is_watched)
            pthread_cond_wait(&pool->done, &pool->lock);
        else if (pthread_cond_timedwait(&pool->done, &pool->lock, &until) != 0) {
            pthread_mutex_unlock(&pool->lock);
            le_cancel_look(cancel);
            pthread_mutex_lock(&pool->lock);
        }
    }
    pthread_mutex_unlock(&pool->lock);
}

static void wait_for_users(struct le_pool *pool) {
    uint64_t start_ns = has_no_users(pool) ? 0 : le_clock_ns();
    while (!has_no_users(pool) && le_clock_ns() - start_ns < pool->spin_ns)
        for (int k = 0; k < LOOKS_PER_CLOCK && !has_no_users(pool); k++)
            pause_core();
    if (!has_no_users(pool))
        sleep_for_users(pool);
}

/* false: the run on this thread was canceled before other callers were done. */
static bool take_turn(struct le_pool *pool) {
    struct le_cancel *cancel = le_cancel_here();
    if (pthread_mutex_trylock(&pool->turn) == 0)
        return true;
    if (!cancel) {
        pthread_mutex_lock(&pool->turn);
        return true;
    }
    while (!le_cancel_look(cancel)) {
        const struct timespec until = soon(CLOCK_REALTIME);
        if (pthread_mutex_timedlock(&pool->turn, &until) == 0)
            return true;
    }
    return false;
}

static void run_shared(struct le_pool *pool, le_task *task, void *job, int64_t count) {
    pool->task = task;
    pool->job = job;
    atomic_store(&pool->count, count);
    atomic_store(&pool->next, 0);
    atomic_fetch_add(&pool->state, NUMBER + OPEN);
    wake_workers(pool, count - 1);
    run_tasks(pool, task, job, count, 0);
    atomic_fetch_sub(&pool->state, OPEN);
    wait_for_users(pool);
}

static void run_inline(le_task *task, void *job, int64_t count, int worker) {
    for (int64_t k = 0; k < count; k++)
        task(job, k, worker);
}

leat_status le_pool_run(struct le_pool *pool, le_task *task, void *job, int64_t count) {
    if (count <= 0)
        return LEAT_OK;
    if (here.pool == pool) {
        run_inline(task, job, count, here.worker);
        return le_cancel_check();
    }
    struct le_pool *outer_pool = here.pool;
    int outer_worker = here.worker;
    struct float_environment environment;
    if (!take_turn(pool))
        return le_cancel_check();
    enter_default(&environment);
    here.pool = pool;
    here.worker = 0;
    if (count > 1)
        start_workers(pool);
    if (count > 1 && pool->started > 0) {
        run_shared(pool, task, job, count);
    } else {
        run_inline(task, job, count, 0);
    }
    here.pool = outer_pool;
    here.worker = outer_worker;
    pthread_mutex_unlock(&pool->turn);
    leave_default(&environment);
    return le_cancel_check();
}

/* ---- the pool */

/* On Linux, initializing default mutexes and conditions cannot fail, and they hold no resources. */
leat_status le_pool_new(int threads, struct le_pool **pool) {
    if (threads < 1 || threads > THREADS_MAX)
        return le_fail(LEAT_INVALID, "threads is %d: it must be from 1 to %d", threads, THREADS_MAX);
    size_t size_bytes = sizeof **pool + (size_t)(threads - 1) * sizeof(struct worker);
    pthread_condattr_t monotonic;
    struct le_pool *made = le_alloc_zero(1, size_bytes);
    if (!made)
        return le_fail_out_of_memory(size_bytes);
    made->threads = threads;
    made->spin_ns = threads <= le_cores() ? SPIN_NS : 0;
    pthread_mutex_init(&made->turn, NULL);
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->wake, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&made->done, &monotonic);
    pthread_condattr_destroy(&monotonic);
    *pool = made;
    return LEAT_OK;
}

void le_pool_free(struct le_pool *pool) {
    if (!pool)
        return;
    pthread_mutex_lock(&pool->lock);
    atomic_store(&pool->stopping, true);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
    for (int k = 0; k < pool->started; k++)
        pthread_join(pool->workers[k].thread, NULL);
    pthread_cond_destroy(&pool->done);
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->lock);
    pthread_mutex_destroy(&pool->turn);
    le_free(pool);
}

int le_pool_threads(const struct le_pool *pool) {
    return pool->threads;
}
