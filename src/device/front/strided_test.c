/* Canonical axes and the copying loops, against element-by-element copies. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "device/front/strided.h"
#include <stdlib.h>
#include <string.h>

static void test_collapse(void **state) {
    (void)state;
    int64_t to = 0, from = 0;
    struct le_axes dense = {
        .rank = 4, .size = 4, .extent = {2, 1, 3, 5}, .target = {60, 7, 20, 4}, .source = {60, 9, 20, 4}};
    le_axes_collapse(&dense, &to, &from);
    assert_int_equal(dense.rank, 1);
    assert_int_equal(dense.extent[0], 30);
    assert_int_equal(to, 0);
    struct le_axes turned = {.rank = 2, .size = 4, .extent = {3, 5}, .target = {4, 12}, .source = {20, 4}};
    le_axes_collapse(&turned, &to, &from);
    assert_int_equal(turned.rank, 2);
    assert_int_equal(turned.extent[0], 5); /* the target's stride is the larger one */
    assert_int_equal(turned.source[0], 4);
    struct le_axes down = {.rank = 1, .size = 8, .extent = {10}, .target = {-8}, .source = {-16}};
    le_axes_collapse(&down, &to, &from);
    assert_int_equal(down.target[0], 8);
    assert_int_equal(down.source[0], 16);
    assert_int_equal(to, -72);
    assert_int_equal(from, -144);
    struct le_axes none = {.rank = 3, .size = 2, .extent = {1, 1, 1}, .target = {99, 99, 99}};
    le_axes_collapse(&none, &to, &from);
    assert_int_equal(none.rank, 0);
    assert_int_equal(le_axes_count(&none), 1);
}

/* From a dense box to a permuted one with gaps, for each element size. */
static void test_copies(void **state) {
    enum { ROOM = 1 << 14 };
    static const int64_t extent[] = {5, 3, 7};
    static const size_t sizes[] = {1, 2, 4, 8};
    static char source[ROOM], target[ROOM], expected[ROOM];
    (void)state;
    for (size_t k = 0; k < ROOM; k++)
        source[k] = (char)(k * 13 + k / 256);
    for (int order = 0; order < 6; order++)
        for (size_t n = 0; n < 4; n++) {
            static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
            int64_t size = (int64_t)sizes[n], stride = 2 * size;
            struct le_axes x = {
                .rank = 3, .size = sizes[n], .extent = {5, 3, 7}, .source = {21 * size, 7 * size, size}};
            for (int k = 0; k < 3; k++) {
                x.target[orders[order][k]] = stride;
                stride *= extent[orders[order][k]] + 1;
            }
            memset(target, 0, ROOM);
            memset(expected, 0, ROOM);
            for (int64_t i = 0; i < 5; i++)
                for (int64_t j = 0; j < 3; j++)
                    for (int64_t k = 0; k < 7; k++)
                        memcpy(expected + i * x.target[0] + j * x.target[1] + k * x.target[2],
                               source + (i * 21 + j * 7 + k) * size, (size_t)size);
            le_strided_copy(&x, target, source);
            assert_memory_equal(target, expected, ROOM);
            assert_false(le_strided_is_run(&x));
        }
}

static void test_clean(void **state) {
    unsigned char at[12] = {0, 1, 2, 255, 4, 5, 0, 7, 128, 9, 0, 11};
    const struct le_axes x = {.rank = 2, .size = 1, .extent = {2, 3}, .target = {6, 2}};
    (void)state;
    le_strided_normalize_bools(&x, (char *)at);
    assert_memory_equal(at, ((unsigned char[]){0, 1, 1, 255, 1, 5, 0, 7, 1, 9, 0, 11}), 12);
}

/* Every alignment of both sides; nothing beyond the end is written. */
static void test_stream(void **state) {
    enum { ROOM = 512 };
    static char source[ROOM], target[ROOM], expected[ROOM];
    (void)state;
    for (size_t k = 0; k < ROOM; k++)
        source[k] = (char)(k * 7 + 1);
    for (size_t to = 0; to < 17; to++)
        for (size_t from = 0; from < 17; from++)
            for (size_t size_bytes = 0; size_bytes < 300; size_bytes += 1 + size_bytes / 5) {
                memset(target, 0, ROOM);
                memset(expected, 0, ROOM);
                memcpy(expected + to, source + from, size_bytes);
                le_copy_past_cache(target + to, source + from, size_bytes);
                assert_memory_equal(target, expected, ROOM);
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_collapse),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_clean),
        cmocka_unit_test(test_stream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
