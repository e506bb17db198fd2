/* The thread pool: every task runs once, with a correct worker number, for all numbers of threads and callers and with
 * nesting. Also runs under tsan. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/cancel.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/thread.h"
#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#define TASKS   1000
#define THREADS 8

struct job {
    struct le_pool *pool;
    int runs[TASKS];            /* per task; a plain int, so that tsan detects a task that runs twice */
    atomic_int inside[THREADS]; /* tasks running in each worker */
    atomic_int wrong;
};

static void count_task(void *data, int64_t task, int worker) {
    struct job *job = data;
    if (worker < 0 || worker >= le_pool_threads(job->pool)) {
        atomic_fetch_add(&job->wrong, 1);
        return;
    }
    if (atomic_fetch_add(&job->inside[worker], 1) != 0)
        atomic_fetch_add(&job->wrong, 1);
    job->runs[task]++;
    atomic_fetch_sub(&job->inside[worker], 1);
}

static void run_and_check(struct le_pool *pool, int64_t count) {
    struct job job = {.pool = pool};
    assert_int_equal(le_pool_run(pool, count_task, &job, count), LEAT_OK);
    assert_int_equal(atomic_load(&job.wrong), 0);
    for (int64_t k = 0; k < TASKS; k++)
        assert_int_equal(job.runs[k], k < count);
}

static void runs_every_task_once(void **state) {
    (void)state;
    for (int threads = 1; threads <= THREADS; threads++) {
        struct le_pool *pool = NULL;
        assert_int_equal(le_pool_new(threads, &pool), LEAT_OK);
        assert_int_equal(le_pool_threads(pool), threads);
        static const int64_t counts[] = {0, 1, 2, 3, 7, 100, TASKS};
        for (int round = 0; round < 30; round++)
            for (size_t k = 0; k < ARRAY_LEN(counts); k++)
                run_and_check(pool, counts[k]);
        le_pool_free(pool);
    }
}

static void pause_ms(long time_ms) {
    nanosleep(&(struct timespec){.tv_nsec = time_ms * 1000000}, NULL);
}

/* Workers that have gone to sleep wake up for the next job. */
static void wakes_sleepers(void **state) {
    (void)state;
    struct le_pool *pool = NULL;
    assert_int_equal(le_pool_new(4, &pool), LEAT_OK);
    for (int round = 0; round < 20; round++) {
        run_and_check(pool, 50);
        pause_ms(round % 3);
    }
    le_pool_free(pool);
}

static void meet_task(void *data, int64_t task, int worker) {
    (void)task;
    (void)worker;
    atomic_int *arrived = data;
    atomic_fetch_add(arrived, 1);
    uint64_t start_ns = le_clock_ns();
    while (atomic_load(arrived) < 3 && le_clock_ns() - start_ns < 100000000000u)
        pause_ms(1);
}

/* Tasks that wait for each other finish, because they run at the same time. */
static void works_in_parallel(void **state) {
    (void)state;
    struct le_pool *pool = NULL;
    assert_int_equal(le_pool_new(3, &pool), LEAT_OK);
    atomic_int arrived = 0;
    uint64_t start_ns = le_clock_ns();
    assert_int_equal(le_pool_run(pool, meet_task, &arrived, 3), LEAT_OK);
    assert_true(le_clock_ns() - start_ns < 90000000000u);
    le_pool_free(pool);
}

struct nest {
    struct le_pool *pool;
    atomic_int inner, wrong;
};
struct inner {
    struct nest *nest;
    pthread_t thread;
    int worker;
};

static void inner_task(void *data, int64_t task, int worker) {
    (void)task;
    struct inner *inner = data;
    if (worker != inner->worker || !pthread_equal(pthread_self(), inner->thread))
        atomic_fetch_add(&inner->nest->wrong, 1);
    atomic_fetch_add(&inner->nest->inner, 1);
}

static void outer_task(void *data, int64_t task, int worker) {
    (void)task;
    struct nest *nest = data;
    struct inner inner = {nest, pthread_self(), worker};
    if (le_pool_run(nest->pool, inner_task, &inner, 5))
        atomic_fetch_add(&nest->wrong, 1);
}

static void nested_jobs_run_where_they_are(void **state) {
    (void)state;
    for (int threads = 1; threads <= 4; threads += 3) {
        struct nest nest = {0};
        assert_int_equal(le_pool_new(threads, &nest.pool), LEAT_OK);
        assert_int_equal(le_pool_run(nest.pool, outer_task, &nest, 40), LEAT_OK);
        assert_int_equal(le_pool_run(nest.pool, outer_task, &nest, 1), LEAT_OK);
        assert_int_equal(atomic_load(&nest.inner), 205);
        assert_int_equal(atomic_load(&nest.wrong), 0);
        le_pool_free(nest.pool);
    }
}

static void *call_often(void *data) {
    struct job *shared = data;
    for (int round = 0; round < 50; round++) {
        struct job job = {.pool = shared->pool};
        if (le_pool_run(shared->pool, count_task, &job, round % 40))
            atomic_fetch_add(&shared->wrong, 1);
        for (int k = 0; k < TASKS; k++)
            if (job.runs[k] != (k < round % 40))
                atomic_fetch_add(&shared->wrong, 1);
        atomic_fetch_add(&shared->wrong, atomic_load(&job.wrong));
    }
    return NULL;
}

static void callers_take_turns(void **state) {
    (void)state;
    struct job shared = {0};
    assert_int_equal(le_pool_new(3, &shared.pool), LEAT_OK);
    pthread_t callers[4];
    for (int k = 0; k < 4; k++)
        assert_int_equal(pthread_create(&callers[k], NULL, call_often, &shared), 0);
    for (int k = 0; k < 4; k++)
        pthread_join(callers[k], NULL);
    assert_int_equal(atomic_load(&shared.wrong), 0);
    le_pool_free(shared.pool);
}

static void rounding_task(void *data, int64_t task, int worker) {
    (void)task;
    (void)worker;
    volatile double zero = 0, infinite = 1 / zero;
    if (fegetround() != FE_TONEAREST || infinite < 1)
        atomic_fetch_add((atomic_int *)data, 1);
}

/* The caller's rounding mode does not affect tasks. It and the exception flags are restored afterwards. */
static void tasks_round_to_nearest(void **state) {
    (void)state;
    for (int threads = 1; threads <= 2; threads++) {
        struct le_pool *pool = NULL;
        atomic_int wrong = 0;
        assert_int_equal(le_pool_new(threads, &pool), LEAT_OK);
        feclearexcept(FE_ALL_EXCEPT);
        fesetround(FE_UPWARD);
        assert_int_equal(le_pool_run(pool, rounding_task, &wrong, 100), LEAT_OK);
        int after = fegetround();
        fesetround(FE_TONEAREST);
        assert_int_equal(after, FE_UPWARD);
        assert_int_equal(fetestexcept(FE_ALL_EXCEPT), 0);
        assert_int_equal(atomic_load(&wrong), 0);
        le_pool_free(pool);
    }
}

struct turn {
    struct le_pool *pool;
    atomic_bool is_taken, is_over;
};

static void hold_turn(void *data, int64_t task, int worker) {
    (void)task;
    (void)worker;
    struct turn *turn = data;
    atomic_store(&turn->is_taken, true);
    while (!atomic_load(&turn->is_over))
        sched_yield();
}

static void *take_turn(void *data) {
    struct turn *turn = data;
    return le_pool_run(turn->pool, hold_turn, turn, 1) ? data : NULL;
}

static bool refuse(void *user) {
    ++*(int *)user;
    return false;
}

/* The caller hears of it: none of its tasks ran. */
static void canceled_runs_give_up_their_turn(void **state) {
    (void)state;
    struct turn turn = {0};
    struct job job = {0};
    int asked = 0;
    struct le_cancel cancel = {.proceed = refuse, .user = &asked}, *outer;
    pthread_t other;
    void *failed;
    assert_int_equal(le_pool_new(2, &turn.pool), LEAT_OK);
    job.pool = turn.pool;
    assert_int_equal(pthread_create(&other, NULL, take_turn, &turn), 0);
    while (!atomic_load(&turn.is_taken))
        sched_yield();
    le_cancel_enter(&cancel, &outer);
    assert_int_equal(le_pool_run(turn.pool, count_task, &job, 5), LEAT_CANCELED);
    atomic_store(&turn.is_over, true);
    pthread_join(other, &failed);
    assert_null(failed);
    assert_true(asked > 0);
    assert_int_equal(job.runs[0], 0);
    assert_int_equal(le_pool_run(turn.pool, count_task, &job, 5), LEAT_CANCELED); /* until the run ends */
    le_cancel_leave(outer);
    job = (struct job){.pool = turn.pool};
    assert_int_equal(le_pool_run(turn.pool, count_task, &job, 5), LEAT_OK);
    assert_int_equal(job.runs[4], 1);
    le_pool_free(turn.pool);
}

static void *allocate_nothing(size_t size_bytes, void *user) {
    (void)size_bytes;
    (void)user;
    return NULL;
}

static void *reallocate_nothing(void *memory, size_t size_bytes, void *user) {
    (void)memory;
    return allocate_nothing(size_bytes, user);
}

static void release_nothing(void *memory, void *user) {
    (void)memory;
    (void)user;
}

static void refuses_what_it_cannot(void **state) {
    (void)state;
    struct le_pool *pool = NULL;
    assert_int_equal(le_pool_new(0, &pool), LEAT_INVALID);
    assert_int_equal(le_pool_new(1 << 30, &pool), LEAT_INVALID);
    le_memory_set_allocator(&(struct le_allocator){allocate_nothing, reallocate_nothing, release_nothing, NULL});
    assert_int_equal(le_pool_new(2, &pool), LEAT_OUT_OF_MEMORY);
    le_memory_set_allocator(NULL);
    assert_null(pool);
    le_pool_free(NULL);
    assert_true(le_cores() >= 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_every_task_once),
        cmocka_unit_test(wakes_sleepers),
        cmocka_unit_test(works_in_parallel),
        cmocka_unit_test(nested_jobs_run_where_they_are),
        cmocka_unit_test(callers_take_turns),
        cmocka_unit_test(tasks_round_to_nearest),
        cmocka_unit_test(canceled_runs_give_up_their_turn),
        cmocka_unit_test(refuses_what_it_cannot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
