/* Memory: hooks see every request, and overflow and failure return NULL. Arenas, names and texts, which survive a
 * failure of any request. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/arena.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* An allocator that counts requests and fails from request `fails_at` on, counted from 0. */
struct meter {
    int requests, live, fails_at;
};

static void *meter_allocate(size_t size_bytes, void *user) {
    struct meter *meter = user;
    if (meter->requests++ >= meter->fails_at)
        return NULL;
    char *memory = malloc(size_bytes);
    if (!memory)
        return NULL;
    memset(memory, 0x5a, size_bytes);
    meter->live++;
    return memory;
}

static void *meter_reallocate(void *memory, size_t size_bytes, void *user) {
    struct meter *meter = user;
    return meter->requests++ >= meter->fails_at ? NULL : realloc(memory, size_bytes);
}

static void meter_release(void *memory, void *user) {
    struct meter *meter = user;
    meter->live--;
    free(memory);
}

static void use(struct meter *meter, int fails_at) {
    *meter = (struct meter){.fails_at = fails_at};
    le_memory_set_allocator(&(struct le_allocator){meter_allocate, meter_reallocate, meter_release, meter});
}

static void hooks_see_every_request(void **state) {
    (void)state;
    struct meter meter;
    use(&meter, 1000);
    char *memory = le_alloc(10), *zeroed = le_alloc_zero(3, 5), *copy = le_strdup("text"), *none = le_alloc(0);
    char *grown = le_realloc(NULL, 8);
    assert_true(memory && zeroed && copy && none && grown);
    for (int k = 0; k < 15; k++)
        assert_int_equal(zeroed[k], 0);
    assert_string_equal(copy, "text");
    memory = le_realloc(memory, 100);
    assert_int_equal(meter.requests, 6);
    assert_int_equal(meter.live, 5);
    le_free(memory);
    le_free(zeroed);
    le_free(copy);
    le_free(none);
    le_free(grown);
    le_free(NULL);
    assert_int_equal(meter.live, 0);
    le_memory_set_allocator(NULL);
}

static void overflow_and_failure_give_nothing(void **state) {
    (void)state;
    struct meter meter;
    assert_null(le_alloc_zero(SIZE_MAX / 2, 3));
    use(&meter, 0);
    assert_null(le_alloc(1));
    assert_null(le_alloc_zero(1, 1));
    assert_null(le_realloc(NULL, 1));
    assert_null(le_strdup("x"));
    le_memory_set_allocator(NULL);
    int64_t product;
    assert_false(le_mul_i64(INT64_MAX, 2, &product));
    assert_true(le_add_i64(1, 2, &product) && product == 3);
}

/* ---- arenas */

struct numbers {
    int *at;
    int count, capacity;
};

/* Fills an arena with all kinds of contents; false if memory ran out. */
static bool fill_arena(struct le_arena *arena) {
    if (setjmp(arena->failure))
        return false;
    struct numbers numbers = {0};
    for (int k = 0; k < 3000; k++)
        *LE_PUSH(arena, &numbers) = k;
    for (int k = 0; k < 3000; k++)
        assert_int_equal(numbers.at[k], k);
    char *big = le_arena_alloc(arena, 3 << 20);
    for (int k = 0; k < 3 << 20; k += 4096)
        assert_int_equal(big[k], 0);
    assert_string_equal(le_arena_copy(arena, "abcdef", 3), "abc");
    assert_string_equal(le_arena_format(arena, "%s %d", "k", 7), "k 7");
    assert_int_equal(strlen(le_arena_format(arena, "%0300d", 7)), 300);
    assert_int_equal((uintptr_t)le_arena_alloc(arena, 1) % 16, 0);
    struct le_names names = {0};
    assert_int_equal(le_names_get(&names, "a", 1), -1);
    for (int k = 0; k < 500; k++) {
        char *name = le_arena_format(arena, "name%d", k);
        le_names_put(arena, &names, name, strlen(name), k);
    }
    for (int k = 0; k < 500; k++) {
        char name[16];
        assert_int_equal(le_names_get(&names, name, (size_t)snprintf(name, sizeof name, "name%d", k)), k);
    }
    assert_int_equal(le_names_get(&names, "name", 4), -1);
    le_names_put(arena, &names, "name7", 5, 70);
    assert_int_equal(le_names_get(&names, "name77", 5), 70);
    assert_int_equal(names.count, 500);
    return true;
}

static void arenas_take_any_failure(void **state) {
    (void)state;
    struct meter meter;
    bool filled = false;
    for (int fails_at = 0; !filled; fails_at++) {
        struct le_arena arena;
        use(&meter, fails_at);
        le_arena_init(&arena);
        filled = fill_arena(&arena);
        le_arena_finish(&arena);
        assert_int_equal(meter.live, 0);
        assert_true(fails_at < 100);
    }
    le_memory_set_allocator(NULL);
}

static void arenas_refuse_sizes_that_overflow(void **state) {
    (void)state;
    struct le_arena arena;
    le_arena_init(&arena);
    volatile int failures = 0;
    if (setjmp(arena.failure) == 0) {
        le_arena_array(&arena, SIZE_MAX / 4, 8);
    } else {
        failures++;
    }
    if (setjmp(arena.failure) == 0) {
        le_arena_alloc(&arena, SIZE_MAX - 3);
    } else {
        failures++;
    }
    assert_int_equal(failures, 2);
    le_arena_finish(&arena);
}

static void aligned_memory_is_the_hooks_too(void **state) {
    (void)state;
    struct meter meter;
    use(&meter, 1);
    char *memory = le_alloc_aligned(100);
    assert_non_null(memory);
    assert_int_equal((uintptr_t)memory % 64, 0);
    memset(memory, 1, 100);
    assert_int_equal(meter.live, 1);
    assert_null(le_alloc_aligned(100));
    le_free_aligned(memory);
    le_free_aligned(NULL);
    assert_int_equal(meter.live, 0);
    assert_null(le_alloc_aligned(SIZE_MAX - 8));
    le_memory_set_allocator(NULL);
}

/* Even on a system that would map it and kill the process that touches it. */
static void more_than_the_machine_has_is_refused(void **state) {
    (void)state;
    size_t machine_bytes = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    size_t more_bytes = machine_bytes + ((size_t)1 << 20);
    char *memory = le_alloc(1);
    assert_true(le_memory_is_available(machine_bytes));
    assert_false(le_memory_is_available(more_bytes));
    assert_null(le_alloc(more_bytes));
    assert_null(le_alloc_zero(1, more_bytes));
    assert_null(le_realloc(memory, more_bytes));
    le_free(memory);
}

/* ---- texts */

static void texts_keep_what_they_had(void **state) {
    (void)state;
    struct meter meter;
    use(&meter, 1);
    struct le_text text = {0};
    le_text_add(&text, "%d", 12);
    for (int k = 0; k < 100; k++)
        le_text_add_bytes(&text, "abc", 3);
    assert_true(text.failed);
    assert_int_equal(text.length % 3, 2);
    assert_int_equal(strlen(text.at), text.length);
    le_text_finish(&text);
    assert_int_equal(meter.live, 0);
    assert_null(text.at);
    le_memory_set_allocator(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hooks_see_every_request),         cmocka_unit_test(overflow_and_failure_give_nothing),
        cmocka_unit_test(arenas_take_any_failure),         cmocka_unit_test(arenas_refuse_sizes_that_overflow),
        cmocka_unit_test(aligned_memory_is_the_hooks_too), cmocka_unit_test(more_than_the_machine_has_is_refused),
        cmocka_unit_test(texts_keep_what_they_had),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
