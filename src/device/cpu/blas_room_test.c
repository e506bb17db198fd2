/* Memory for OpenBLAS, with a stand-in for its buffers: under a limit on the address space, and with several concurrent
 * callers. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "device/cpu/blas_room.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MEBIBYTE = 1 << 20, BUFFER_BYTES = 128 * MEBIBYTE, BUFFERS = 8, THREADS = 6, ROUNDS = 200 };

static struct {
    void *at;
    bool used;
} buffers[BUFFERS];
static atomic_int active, most;

/* The real function never returns if there is no memory. */
static void *take_buffer(int purpose) {
    int k = 0;
    (void)purpose;
    while (buffers[k].used)
        k++;
    assert_true(k < BUFFERS);
    if (!buffers[k].at)
        buffers[k].at = mmap(NULL, BUFFER_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(buffers[k].at != MAP_FAILED);
    buffers[k].used = true;
    return buffers[k].at;
}

static void give_buffer(void *buffer) {
    for (int k = 0; k < BUFFERS; k++)
        if (buffers[k].at == buffer)
            buffers[k].used = false;
}

static void drop_buffers(void) {
    for (int k = 0; k < BUFFERS; k++) {
        if (buffers[k].at)
            munmap(buffers[k].at, BUFFER_BYTES);
        buffers[k].at = NULL;
    }
}

static int count_mapped(void) {
    int count = 0;
    for (int k = 0; k < BUFFERS; k++)
        count += buffers[k].at != NULL;
    return count;
}

/* A sanitizer's own memory counts as well, and the sanitizer aborts the process if it gets none. */
static void skip_with_sanitizers(void) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip();
#endif
}

/* Limits the address space to that much more than the process has now; 0: no limit. */
static void limit_space(size_t more_bytes) {
    struct rlimit limit;
    unsigned long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%llu", &pages), 1);
    fclose(file);
    assert_int_equal(getrlimit(RLIMIT_AS, &limit), 0);
    limit.rlim_cur = more_bytes ? (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + more_bytes : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
}

static void test_no_room(void **state) {
    (void)state;
    char why[200] = "";
    skip_with_sanitizers();
    le_blas_room_init(4, true, take_buffer, give_buffer);
    limit_space(64 * MEBIBYTE);
    bool loads = le_blas_room_to_load(why, sizeof why);
    leat_status status = le_blas_enter(2);
    limit_space(0);
    assert_false(loads);
    assert_memory_equal(why, "OpenBLAS needs ", 15);
    assert_int_equal(status, LEAT_OUT_OF_MEMORY);
    assert_int_equal(count_mapped(), 0);
    assert_true(le_blas_room_to_load(why, sizeof why));
    assert_int_equal(le_blas_enter(2), LEAT_OK);
    assert_int_equal(count_mapped(), 2);
    le_blas_leave(2);
    drop_buffers();
}

static void *call_often(void *user) {
    (void)user;
    if (le_blas_enter(1) != LEAT_OK)
        return NULL;
    for (int k = 0; k < ROUNDS; k++) {
        le_blas_begin();
        int now = atomic_fetch_add(&active, 1) + 1, before = atomic_load(&most);
        while (now > before && !atomic_compare_exchange_weak(&most, &before, now)) {
        }
        sched_yield();
        atomic_fetch_sub(&active, 1);
        le_blas_end();
    }
    le_blas_leave(1);
    return NULL;
}

static void call_in_threads(void) {
    pthread_t threads[THREADS];
    atomic_store(&most, 0);
    for (int k = 0; k < THREADS; k++)
        assert_int_equal(pthread_create(&threads[k], NULL, call_often, NULL), 0);
    for (int k = 0; k < THREADS; k++)
        assert_int_equal(pthread_join(threads[k], NULL), 0);
}

/* There are never more callers than buffers, or than the library allows. */
static void test_callers(void **state) {
    (void)state;
    le_blas_room_init(3, true, take_buffer, give_buffer);
    call_in_threads();
    assert_in_range(atomic_load(&most), 1, 3);
    assert_in_range(count_mapped(), 1, 3);
    drop_buffers();
    le_blas_room_init(1, false, NULL, NULL);
    call_in_threads();
    assert_int_equal(atomic_load(&most), 1);
}

/* With memory for one buffer, two callers take turns. */
static void test_little_room(void **state) {
    (void)state;
    skip_with_sanitizers();
    le_blas_room_init(4, true, take_buffer, give_buffer);
    limit_space(BUFFER_BYTES + 64 * MEBIBYTE);
    leat_status status = le_blas_enter(4);
    limit_space(0);
    assert_int_equal(status, LEAT_OK);
    assert_int_equal(count_mapped(), 1);
    le_blas_leave(4);
    drop_buffers();
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_room), cmocka_unit_test(test_callers),
                                       cmocka_unit_test(test_little_room)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
