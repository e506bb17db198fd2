/* How contractions are arranged for a device's library: what is copied in another order, and which loops become the
 * batch's. Every arrangement is also checked to visit the same elements as the loops before. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "run/plan/contraction.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct arranged {
    struct le_contract c;
    struct le_contract_copies copies;
    bool fits;
};

static int64_t stride_in(const char *indices, const int64_t *extents, char index) {
    int64_t stride = 1;
    for (size_t k = strlen(indices); k-- > 0;) {
        if (indices[k] == index)
            return stride;
        stride *= extents[indices[k] - 'a'];
    }
    return 0;
}

static void add_axis(struct le_contract_axes *axes, const struct le_contract_axis *axis) {
    axes->at[axes->count++] = *axis;
    axes->total *= axis->count;
}

/* "ab ac cb": the indices of the target and the factors, dense and in row-major order. */
static struct le_contract contract_of(const char *text, const int64_t *extents) {
    struct le_contract c = {.array_type = LE_F32, .target_type = LE_F32, .form.product_count = 1};
    char target[9], left[9], right[9];
    sscanf(text, "%8s %8s %8s", target, left, right);
    c.batch.total = c.rows.total = c.columns.total = c.terms.total = 1;
    c.left[0].value = 1;
    c.right[0].value = 2;
    for (char index = 'a'; index < 'i'; index++) {
        const bool in_left = strchr(left, index), in_right = strchr(right, index), in_target = strchr(target, index);
        const struct le_contract_axis axis = {.count = extents[index - 'a'],
                                              .left = {stride_in(left, extents, index)},
                                              .right = {stride_in(right, extents, index)},
                                              .target = stride_in(target, extents, index)};
        if (in_left || in_right)
            add_axis(!in_target ? &c.terms : in_left && in_right ? &c.batch : in_left ? &c.rows : &c.columns, &axis);
    }
    return c;
}

/* The array's elements that the copy holds are those of dense loops, each once. */
static void check_copy(const struct le_contract_copy *copy) {
    int64_t next = 1;
    if (!copy->is_used)
        return;
    for (int k = copy->axis_count - 1; k >= 0; k--) {
        assert_int_equal(copy->axes[k].copy, next);
        next *= copy->axes[k].count;
    }
    assert_int_equal(copy->elements, next);
}

static struct arranged arrange(const char *text, int64_t extent, const char *others) {
    int64_t extents[8];
    for (int k = 0; k < 8; k++)
        extents[k] = extent;
    for (const char *at = others; *at; at += strcspn(at, " "), at += strspn(at, " "))
        extents[at[0] - 'a'] = strtoll(at + 1, NULL, 10);
    struct arranged a = {.c = contract_of(text, extents)};
    const struct le_contract before = a.c;
    a.fits = le_contract_arrange(&a.c, &a.copies);
    if (!a.fits)
        return a;
    assert_int_equal(a.c.batch.total * a.c.rows.total * a.c.columns.total,
                     before.batch.total * before.rows.total * before.columns.total);
    assert_int_equal(a.c.terms.total, before.terms.total);
    assert_int_equal(a.c.columns.at[0].target, 1);
    assert_true(a.c.left_view[0].fits && a.c.right_view[0].fits);
    check_copy(&a.copies.left[0]);
    check_copy(&a.copies.right[0]);
    check_copy(&a.copies.target);
    return a;
}

#define assert_copies(a, left_copied, right_copied, target_copied)                                                     \
    do {                                                                                                               \
        assert_true((a).fits);                                                                                         \
        assert_int_equal((a).copies.left[0].is_used, left_copied);                                                     \
        assert_int_equal((a).copies.right[0].is_used, right_copied);                                                   \
        assert_int_equal((a).copies.target.is_used, target_copied);                                                    \
    } while (0)

static void test_in_place(void **state) {
    (void)state;
    static const char *const texts[] = {"ab ac cb", "ab ca cb",   "ab ac bc",    "ba ac cb",
                                        "ba ca bc", "abc abd dc", "cab cad cdb", "abc acd adb"};
    for (size_t k = 0; k < ARRAY_LEN(texts); k++) {
        struct arranged a = arrange(texts[k], 512, "a500 b700");
        assert_copies(a, false, false, false);
    }
}

/* A loop that no matrix can have becomes the batch's, and nothing is copied. */
static void test_batch(void **state) {
    (void)state;
    struct arranged a = arrange("abc bda dc", 312, "c24");
    assert_copies(a, false, false, false);
    assert_int_equal(a.c.batch.count, 1);
    assert_int_equal(a.c.batch.at[0].count, 312);
    assert_int_equal(a.c.batch.at[0].left[0] * a.c.batch.at[0].right[0], 0);
}

static void test_copies(void **state) {
    (void)state;
    struct arranged a = arrange("abcd aebf dfce", 72, "");
    assert_copies(a, true, true, false);
    assert_int_equal(a.c.rows.total, 72 * 72);
    a = arrange("abcd ea cbed", 64, "e512");
    assert_true(a.fits);
    a = arrange("dbca ebaf fced", 40, "");
    assert_copies(a, true, true, true);
}

/* The largest dimension of the batch is the library's own loop; the others are few calls. */
static void test_calls(void **state) {
    (void)state;
    struct arranged a = arrange("acbd acbe ecd", 96, "a8 c100");
    assert_copies(a, false, false, false);
    assert_int_equal(a.c.batch.at[a.c.batch.count - 1].count, 100);
}

/* Copying takes longer than the product gains. */
static void test_too_small(void **state) {
    (void)state;
    struct arranged a = arrange("abcd dbea ec", 40, "e16 c16");
    assert_true(a.fits && !a.copies.is_plain && a.copies.seconds > le_contract_our_seconds(&a.c));
    a = arrange("abcd aebf dfce", 72, "");
    assert_true(a.fits && !a.copies.is_plain && a.copies.seconds < le_contract_our_seconds(&a.c));
    a = arrange("ab acd cdb", 4000, "a8 b8");
    assert_false(a.fits);
}

/* Windows of one array overlap, so a copy would be larger than the array: it is not made. */
static void test_windows(void **state) {
    (void)state;
    struct arranged a = {.c = contract_of("ab ac cb", (int64_t[8]){2000, 400, 400})};
    a.c.rows.at[0].left[0] = 2; /* x[2*a + 3*c] */
    a.c.terms.at[0].left[0] = 3;
    assert_false(le_contract_arrange(&a.c, &a.copies));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_in_place),  cmocka_unit_test(test_batch),
                                       cmocka_unit_test(test_copies),    cmocka_unit_test(test_calls),
                                       cmocka_unit_test(test_too_small), cmocka_unit_test(test_windows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
