/* Kept indices with few values that the expensive part of the terms does not depend on: the bytes of all values equal
 * the CPU's. Also stages that are fused into their readers. */
#include "gen/device_kernel_testing.h"

#define WARP_ROW    "a warp for each row"
#define COLUMN      "a thread for each column"
#define CUT_COLUMNS "threads for each column, the last block joins their totals"

static void bodies(void **state) {
    (void)state;
    static const char pull[] = "acc[i,d] = sum(j: m[j] / (1 + sum(e: (p[j,e] - p[i,e])**2))**1.5 * (p[j,d] - p[i,d]))";
    same(pull, "p 70 3, m 70", WARP_ROW ", 3 values at once");
    also(pull, "p 70 2, m 70", WARP_ROW ", 2 values at once");
    same(pull, "p 70 4, m 70", WARP_ROW ", 4 values at once");
    same(pull, "p 70 1, m 70", WARP_ROW);
    also(pull, "p 70 5, m 70", COLUMN);
    same("in p: f64[n,k]\nin m: f64[n]\n"
         "acc[d,i] = 3 * sum(j: m[j] / (1 + sum(e: (p[j,e] - p[i,e])**2))**1.5 * (p[j,d] - p[i,d])) + p[i,d]",
         "p 70 3, m 70", WARP_ROW ", 3 values at once");
}

static void many_points(void **state) {
    (void)state;
    static const char pull[] = "y[i,d] = sum(j: sqrt(abs(a[i] - b[j])) / (1 + sqrt(b[j]*b[j])) * (c[j,d] - a[i]))";
    same_checked(pull, "a 4100, b 30, c 30 3", COLUMN ", 3 values at once", true, true);
    same(pull, "a 70, b 200, c 200 3", WARP_ROW ", 3 values at once");
    same_checked(pull, "a 300, b 1100, c 1100 3", CUT_COLUMNS ", 3 values at once", true, false);
    also(pull, "a 4100, b 30, c 30 5", COLUMN);
}

static void other_totals(void **state) {
    (void)state;
    same("y[i,d] = max(j: sqrt(abs(a[i] - b[j])) / (1 + sqrt(b[j]*b[j])) * c[j,d])", "a 70, b 90, c 90 3",
         WARP_ROW ", 3 values at once");
    also("y[i,d] = argmin(j: sqrt(abs(a[i] - b[j])) / (1 + sqrt(b[j]*b[j])) * c[j,d])", "a 70, b 90, c 90 3",
         WARP_ROW ", 3 values at once");
    same("y[i,d] = sum(j: sqrt(abs(a[i] - b[j])) / (1 + sqrt(b[j]*b[j])) * c[j,d]) / "
         "(1 + sum(j: sqrt(abs(a[i] - b[j])) / (1 + sqrt(b[j]*b[j]))))",
         "a 70, b 90, c 90 3", WARP_ROW ", 3 values at once");
}

/* What may fault, is cheap, or has nothing in common for all values. */
static void not_spread(void **state) {
    (void)state;
    also("y[i,d] = sum(j: x[i,j] * c[j,d])", "x 70 1090, c 1090 3", CUT_COLUMNS);
    same("y[i,d] = sum(j: x[i,j] / (1 + c[j,d]*c[j,d]))", "x 70 1090, c 1090 3", CUT_COLUMNS);
    same("y[i,d] = sum(j: sqrt(abs(a[i] - c[j,d])) / (1 + sqrt(c[j,d]*c[j,d])))", "a 70, c 1090 3", CUT_COLUMNS);
}

/* ---- what is made where it is read */

static bool made_there(const char *program, const char *arrays, bool run) {
    struct device_test_run r;
    start_run(&r, program, arrays, false);
    struct le_ir *ir = r.kernel.ir;
    struct le_device_facts own = facts;
    own.user = &r;
    const struct le_stage *maker = &ir->stages.at[0], *reader = &ir->stages.at[ir->stages.count - 1];
    struct le_device_kernel_job job = {.kernel = r.kernel, .facts = &own};
    job.kernel.stage = reader;
    assert_true(le_device_reads(ir, reader, maker));
    assert_false(le_device_reads(ir, maker, reader));
    struct le_node *node = le_device_make_there(&job, maker);
    struct le_stage made = *reader;
    made.node = node;
    if (node && run) {
        char *found = calloc(r.bytes[made.target] + 8, 1);
        assert_false(le_device_reads(ir, &made, maker));
        run_on_device(&r, &made, found);
        run_on_cpu(&r, maker);
        run_on_cpu(&r, reader);
        compare(&r, reader, found);
        free(found);
    }
    finish(&r);
    return node != NULL;
}

static void made_where_it_is_read(void **state) {
    (void)state;
    static const char pull[] = "acc[i,d] = sum(j: m[j] / (1 + sum(e: (x[j,e] - x[i,e])**2))**1.5 * (p[j,d] - p[i,d]))";
    assert_true(made_there(pull, "p 70 3, x 70 3, m 70", true));
    assert_true(made_there(pull, "p 70 2, x 70 8, m 70", false));
    assert_true(made_there(pull, "p 4100 3, x 4100 3, m 4100", false));
    assert_false(made_there(pull, "p 70 3, x 70 9, m 70", false));
    assert_false(made_there(pull, "p 70 5, x 70 3, m 70", false));
    assert_false(made_there(pull, "p 20 3, x 20 3, m 20", false));
    assert_false(
        made_there("acc[i,d] = sum(j: exp(sum(e: q[i,e]*k[j,e])) * v[j,d])", "q 70 64, k 70 64, v 70 64", false));
    assert_false(
        made_there("acc[i,d] = sum(j: exp(sum(e: q[i,e]*k[j,e])) * v[j,d])", "q 70 64, k 70 64, v 70 3", false));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(bodies), cmocka_unit_test(many_points),
                                       cmocka_unit_test(other_totals), cmocka_unit_test(not_spread),
                                       cmocka_unit_test(made_where_it_is_read)};
    return cmocka_run_group_tests(tests, NULL, close_kept);
}
