/* Paths of loops: paths of any length, and paths that stay unchanged when others are made from them. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "ir/path.h"

enum { LOOPS = 200 };

static void test_paths_of_any_length(void **state) {
    (void)state;
    struct le_arena arena;
    int all[LOOPS + 1];
    struct path paths[LOOPS + 1];
    le_arena_init(&arena);
    if (setjmp(arena.failure))
        fail_msg("out of memory");
    paths[0] = (struct path){0};
    for (int k = 0; k < LOOPS; k++) {
        all[k] = 3 * k;
        paths[k + 1] = le_path_enter(&arena, paths[k], &all[k], 1);
    }
    for (int k = 0; k <= LOOPS; k++) {
        assert_int_equal(paths[k].count, k);
        assert_true(le_path_begins(&paths[k], all, k));
        assert_true(le_path_begins(&paths[LOOPS], all, k));
        all[LOOPS] = 1; /* none of them */
        assert_false(le_path_begins(&paths[k], all, k + 1));
    }
    assert_false(le_path_begins(&paths[LOOPS], all + 1, LOOPS - 1));
    le_arena_finish(&arena);
}

static void test_paths_are_immutable(void **state) {
    (void)state;
    struct le_arena arena;
    le_arena_init(&arena);
    if (setjmp(arena.failure))
        fail_msg("out of memory");
    struct path outer = le_path_enter(&arena, (struct path){0}, (const int[]){1, 2}, 2);
    struct path first = le_path_enter(&arena, outer, (const int[]){3}, 1);
    struct path second = le_path_enter(&arena, outer, (const int[]){4}, 1);
    assert_int_equal(outer.count, 2);
    assert_true(first.at[2] == 3 && second.at[2] == 4);
    le_arena_finish(&arena);
}

int main(void) {
    static const struct CMUnitTest tests[] = {cmocka_unit_test(test_paths_of_any_length),
                                              cmocka_unit_test(test_paths_are_immutable)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
