/* The pool: alignment, reuse and its limits, caps, hooks, several threads. */
#include "array/array_testing.h"
#include "array/pool.h"
#include <pthread.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)

static void *take(struct le_memory_pool *pool, size_t size_bytes, bool zero, size_t *capacity_bytes) {
    void *memory = NULL;
    assert_ok(le_memory_pool_take(pool, size_bytes, zero, &memory, capacity_bytes));
    assert_int_equal((uintptr_t)memory % 64, 0);
    assert_true(*capacity_bytes >= size_bytes);
    return memory;
}

static void test_sizes(void **state) {
    static const size_t sizes[] = {0,     1,      63,          65,      4096,        65535,
                                   65536, 100001, 2 * MIB - 1, 2 * MIB, 5 * MIB + 3, 64 * MIB};
    (void)state;
    struct le_memory_pool *pool = open_pool();
    for (size_t round = 0; round < 2; round++)
        for (size_t k = 0; k < ARRAY_LEN(sizes); k++) {
            size_t capacity;
            uint8_t *memory = take(pool, sizes[k], true, &capacity);
            for (size_t at = 0; at < sizes[k]; at++)
                if (memory[at])
                    fail_msg("byte %zu of %zu is not zero", at, sizes[k]);
            memset(memory, 0xff, sizes[k]);
            le_memory_pool_give(pool, memory, capacity);
        }
    le_memory_pool_close(pool);
}

static void test_reuse(void **state) {
    (void)state;
    struct le_memory_pool *pool = open_pool();
    struct le_pool_use use;
    size_t capacity, other_capacity;
    void *first = take(pool, 9 * MIB, false, &capacity);
    le_memory_pool_give(pool, first, capacity);
    void *second = take(pool, 8 * MIB, false, &other_capacity); /* wastes an eighth */
    assert_ptr_equal(first, second);
    assert_int_equal(other_capacity, capacity);
    le_memory_pool_give(pool, second, other_capacity);
    void *third = take(pool, 7 * MIB, false, &other_capacity); /* would waste more */
    le_memory_pool_use(pool, &use);
    assert_int_equal(use.live_bytes, 7 * MIB);
    assert_int_equal(use.kept_bytes, 9 * MIB);
    assert_int_equal(use.peak_bytes, 16 * MIB);
    le_memory_pool_give(pool, third, other_capacity);
    le_memory_pool_close(pool);
}

static void test_caps(void **state) {
    (void)state;
    const struct le_pool_options options = {.memory_cap_bytes = 10 * MIB, .cache_cap_bytes = 4 * MIB};
    struct le_memory_pool *pool = NULL;
    struct le_pool_use use;
    assert_ok(le_memory_pool_new(&options, &pool));
    size_t capacity[2];
    void *memory[2] = {take(pool, 5 * MIB, false, &capacity[0]), take(pool, 3 * MIB, false, &capacity[1])},
         *none = NULL;
    size_t ignored;
    assert_int_equal(le_memory_pool_take(pool, 3 * MIB, false, &none, &ignored), LEAT_OUT_OF_MEMORY);
    assert_message("3145728 bytes does not fit");
    assert_int_equal(le_memory_pool_take(pool, SIZE_MAX - 5, false, &none, &ignored), LEAT_OUT_OF_MEMORY);
    le_memory_pool_give(pool, memory[0], capacity[0]); /* larger than the limit of kept memory */
    le_memory_pool_give(pool, memory[1], capacity[1]);
    le_memory_pool_use(pool, &use);
    assert_int_equal(use.kept_bytes, 3 * MIB);
    memory[0] = take(pool, 9 * MIB, false, &capacity[0]); /* releases kept memory to make room */
    le_memory_pool_use(pool, &use);
    assert_int_equal(use.kept_bytes, 0);
    le_memory_pool_give(pool, memory[0], capacity[0]);
    le_memory_pool_close(pool);
}

static void test_many_kept(void **state) {
    (void)state;
    struct le_memory_pool *pool = open_pool();
    static void *memory[300];
    static size_t capacity[300];
    for (size_t k = 0; k < 300; k++)
        memory[k] = take(pool, 65536 + k * 4096, false, &capacity[k]);
    for (size_t k = 0; k < 300; k++)
        le_memory_pool_give(pool, memory[k], capacity[k]);
    struct le_pool_use use;
    le_memory_pool_use(pool, &use);
    assert_int_equal(use.live_bytes, 0);
    assert_true(use.kept_bytes > 0);
    le_memory_pool_close(pool);
}

/* ---- hooks: they receive all requests, everything is released, and afterwards they are no longer used */

static size_t hook_live;
static void *hook_allocate(size_t size_bytes, void *user) {
    *(size_t *)user += 1;
    return malloc(size_bytes);
}
static void *hook_reallocate(void *memory, size_t size_bytes, void *user) {
    *(size_t *)user += memory == NULL;
    return realloc(memory, size_bytes);
}
static void hook_release(void *memory, void *user) {
    *(size_t *)user -= memory != NULL;
    free(memory);
}

static void test_hooks(void **state) {
    (void)state;
    const struct le_pool_options options = {.allocator = {hook_allocate, hook_reallocate, hook_release, &hook_live}};
    struct le_memory_pool *pool = NULL;
    assert_ok(le_memory_pool_new(&options, &pool));
    leat_array *array = new_array(pool, LEAT_F64, 1, SHAPE(1 << 20));
    assert_true(hook_live >= 4);
    le_memory_pool_close(pool);
    assert_int_equal(((double *)array->data)[1000], 0);
    le_array_free(array);
    assert_int_equal(hook_live, 0);
    void *memory = le_alloc(10);
    assert_int_equal(hook_live, 0);
    le_free(memory);
}

/* Also on a system that would map it and kill the process that touches it. */
static void test_machine(void **state) {
    (void)state;
    struct le_memory_pool *pool = open_pool();
    size_t capacity, machine_bytes = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    void *memory;
    assert_int_equal(le_memory_pool_take(pool, machine_bytes + (1 << 20), true, &memory, &capacity),
                     LEAT_OUT_OF_MEMORY);
    struct le_pool_use use;
    le_memory_pool_use(pool, &use);
    assert_int_equal(use.live_bytes, 0);
    le_memory_pool_close(pool);
}

static void *work(void *pool) {
    unsigned seed = (unsigned)(uintptr_t)&seed;
    for (int k = 0; k < 500; k++) {
        size_t capacity, size_bytes = (size_t)rand_r(&seed) % 400000;
        void *memory;
        if (le_memory_pool_take(pool, size_bytes, k % 2, &memory, &capacity) != LEAT_OK)
            return pool;
        memset(memory, k, size_bytes);
        le_memory_pool_give(pool, memory, capacity);
    }
    return NULL;
}

static void test_threads(void **state) {
    (void)state;
    struct le_memory_pool *pool = open_pool();
    pthread_t threads[4];
    for (size_t k = 0; k < 4; k++)
        assert_int_equal(pthread_create(&threads[k], NULL, work, pool), 0);
    for (size_t k = 0; k < 4; k++) {
        void *failed;
        pthread_join(threads[k], &failed);
        assert_null(failed);
    }
    struct le_pool_use use;
    le_memory_pool_use(pool, &use);
    assert_int_equal(use.live_bytes, 0);
    le_memory_pool_close(pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),     cmocka_unit_test(test_reuse), cmocka_unit_test(test_caps),
        cmocka_unit_test(test_many_kept), cmocka_unit_test(test_hooks), cmocka_unit_test(test_threads),
        cmocka_unit_test(test_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
