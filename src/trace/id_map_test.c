/* le_id_map with IDs in the flat array and in the hash table, against what was put; le_position_set with rows that
 * share a hash. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "trace/id_map.h"
#include "trace/index.h"
#include "trace/position_set.h"

enum { PUT = 5000 };

/* Consecutive IDs, IDs with gaps, and scattered IDs: each is found, and no other. */
static void finds_what_was_added(void **state) {
    static const uint64_t factors[] = {1, 3, 1000, ((uint64_t)1 << 33) + 1};
    (void)state;
    for (size_t which = 0; which < sizeof factors / sizeof *factors; which++) {
        struct le_id_map map = {0};
        for (int32_t k = 0; k < PUT; k++)
            assert_true(le_id_map_put(&map, (uint64_t)k * factors[which], k));
        for (int32_t k = 0; k < PUT; k++) {
            assert_int_equal(le_id_map_get(&map, (uint64_t)k * factors[which]), k);
            if (factors[which] > 1)
                assert_int_equal(le_id_map_get(&map, (uint64_t)k * factors[which] + 1), LE_NONE);
        }
        assert_int_equal(le_id_map_get(&map, PUT * factors[which]), LE_NONE);
        le_id_map_finish(&map);
    }
}

/* An ID that was put into the hash table at first, and into the flat array later. */
static void replaces(void **state) {
    enum { FAR = 3000 };
    (void)state;
    struct le_id_map map = {0};
    assert_true(le_id_map_put(&map, FAR, 7));
    for (int32_t k = 0; k < FAR; k++)
        assert_true(le_id_map_put(&map, (uint64_t)k, k));
    assert_int_equal(le_id_map_get(&map, FAR), 7);
    assert_true(le_id_map_put(&map, FAR, 8));
    assert_int_equal(le_id_map_get(&map, FAR), 8);
    assert_true(le_id_map_put(&map, 5, 9));
    assert_int_equal(le_id_map_get(&map, 5), 9);
    le_id_map_finish(&map);
}

static void finds_all_rows_of_a_hash(void **state) {
    (void)state;
    struct le_position_set set = {0};
    for (int32_t k = 0; k < PUT; k++)
        assert_true(le_position_set_add(&set, (uint32_t)k / 5 * 64, k));
    for (uint32_t hash = 0; hash < PUT / 5; hash++) {
        int64_t slot = LE_NONE;
        int32_t sum = 0, count = 0;
        for (int32_t position; (position = le_position_set_next(&set, hash * 64, &slot)) != LE_NONE; count++)
            sum += position - 5 * (int32_t)hash;
        assert_true(count == 5 && sum == 0 + 1 + 2 + 3 + 4);
    }
    int64_t slot = LE_NONE;
    assert_int_equal(le_position_set_next(&set, 1, &slot), LE_NONE);
    le_position_set_finish(&set);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_was_added),
        cmocka_unit_test(replaces),
        cmocka_unit_test(finds_all_rows_of_a_hash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
