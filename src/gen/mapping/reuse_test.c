/* Reductions whose terms read the same elements for many points, in tiles: the bytes equal those of the CPU's vector
 * machine, for floats too, whose sums are added in the order for sums with reuse. Most tests force settings, so that
 * small arrays have several tiles. */
#include "gen/device_kernel_testing.h"

#define SMALL "reuse across=16 rows=2 columns=2 depth=4"  /* 32 x 32 */
#define WIDE  "reuse across=64 rows=4 columns=1 depth=32" /* 16 x 64 */
#define LARGE "reuse across=16 rows=8 columns=8 depth=16" /* 128 x 128 */
#define LINE  "reuse across=256 rows=1 columns=2 depth=8" /* 1 x 512 */

#define APART "y[i,j] = sum(k: abs(x[i,k] - z[j,k]))"

static void in_tiles_checked(const char *program, const char *arrays, const char *mapping, bool check) {
    struct device_test_run r;
    int across, rows, columns;
    char how[64];
    assert_int_equal(sscanf(mapping, "reuse across=%d rows=%d columns=%d", &across, &rows, &columns), 3);
    snprintf(how, sizeof how, "a block for each %d x %d elements", 256 / across * rows, across * columns);
    start_run(&r, program, arrays, check);
    r.mapping = mapping;
    same_mapped(&r, how);
}
static void in_tiles(const char *program, const char *arrays, const char *mapping) {
    in_tiles_checked(program, arrays, mapping, false);
}
/* One more of a kind that is tested anyway. */
static void also_in_tiles(const char *program, const char *arrays, const char *mapping) {
    if (getenv("LEAT_TEST_ALL"))
        in_tiles(program, arrays, mapping);
}
/* Nothing to keep, or an order that tiles would change: another mapping computes it, though reuse is asked for. */
static void not_in_tiles(const char *program, const char *arrays) {
    struct device_test_run r;
    start_run(&r, program, arrays, false);
    r.mapping = SMALL;
    for (int k = 0; k < r.kernel.ir->stages.count; k++) {
        const struct le_stage *stage = &r.kernel.ir->stages.at[k];
        char *found = calloc(r.bytes[stage->target] + 8, 1);
        run_on_device(&r, stage, found);
        run_on_cpu(&r, stage);
        compare(&r, stage, found);
        if (is_made(r.how, "a block for each 32 x 32 elements"))
            fail_msg("%s\n%s", program, r.how);
        free(found);
    }
    finish(&r);
}

/* ---- extents */

static void extents(void **state) {
    (void)state;
    static const int lines[] = {1, 31, 32, 33, 63, 64, 65}, terms[] = {1, 3, 4, 5, 31, 32, 33, 63, 64, 65, 100};
    char arrays[64];
    for (size_t k = 0; k < ARRAY_LEN(terms); k += getenv("LEAT_TEST_ALL") ? 1 : 4) {
        int rows = lines[k % 7], columns = lines[(k * 3 + 4) % 7];
        snprintf(arrays, sizeof arrays, "x %d %d, z %d %d", rows, terms[k], columns, terms[k]);
        in_tiles(APART, arrays, SMALL);
    }
    in_tiles(APART, "x 15 40, z 64 40", WIDE);
    in_tiles(APART, "x 33 37, z 130 37", WIDE);
    in_tiles(APART, "x 257 49, z 129 49", LARGE);
    also_in_tiles(APART, "x 100 16, z 128 16", LARGE);
    in_tiles(APART, "x 3 70, z 700 70", LINE);
}

/* Sums of one unit of 1,024 terms and of several, for trees of three sizes. */
static void units(void **state) {
    (void)state;
    static const char product[] = "y[i,j] = sum(k: x[i,k] * z[j,k])";
    static const int terms[] = {1023, 1024, 1025, 1056, 2047, 2048, 2049, 3100, 7168, 8191};
    char arrays[64];
    for (size_t k = 0; k < ARRAY_LEN(terms); k += getenv("LEAT_TEST_ALL") ? 1 : 5) {
        snprintf(arrays, sizeof arrays, "x 3 %d, z 34 %d", terms[k], terms[k]);
        in_tiles(k % 2 ? product : APART, arrays, SMALL);
    }
    also_in_tiles(APART, "x 2 8192, z 3 8192", SMALL);
    in_tiles(APART, "x 2 8193, z 3 8193", SMALL);
    in_tiles(product, "x 2 19000, z 3 19000", SMALL);
    also_in_tiles(APART, "x 2 262144, z 2 262144", "reuse across=16 rows=1 columns=1 depth=16");
    also_in_tiles(APART, "x 2 300001, z 2 300001", "reuse across=16 rows=1 columns=1 depth=16");
}

/* ---- types */

static void integers(void **state) {
    (void)state;
    static const char *const types[] = {"i8", "u8", "i32", "u64", "i64", "u16", "i16", "u32"};
    char program[160];
    for (size_t t = 0; t < (getenv("LEAT_TEST_ALL") ? ARRAY_LEN(types) : 2); t++) {
        snprintf(program, sizeof program, "in x: %s[n,m]\nin z: %s[m,q]\ny[i,j] = sum(k: x[i,k] * z[k,j])", types[t],
                 types[t]);
        in_tiles(program, "x 40 70, z 70 33", SMALL);
    }
    in_tiles("in x: i64[n,m]\nin z: i64[m,q]\ny[i,j] = prod(k: x[i,k] + z[k,j])", "x 40 37, z 37 33", SMALL);
}

static void floats(void **state) {
    (void)state;
    static const char *const types[] = {"f64", "f16", "bf16"};
    char program[160];
    for (size_t t = 0; t < ARRAY_LEN(types); t++) {
        snprintf(program, sizeof program, "in x: %s[n,m]\nin z: %s[q,m]\n%s", types[t], types[t], APART);
        in_tiles(program, "x 40 70, z 33 70", SMALL);
        snprintf(program, sizeof program, "in x: %s[n,m]\nin z: %s[q,m]\ny[i,j] = sum(k: (x[i,k] - z[j,k])**2)",
                 types[t], types[t]);
        (t == 1 ? in_tiles : also_in_tiles)(program, "x 33 1100, z 2 1100", SMALL);
    }
    in_tiles("in x: i8[n,m]\nin z: f32[q,m]\ny[i,j] = mean(k: x[i,k] * z[j,k])", "x 40 70, z 33 70", SMALL);
    also_in_tiles("in x: f64[n,m]\nin z: f32[q,m]\ny[i,j] = sum(k: x[i,k] * z[j,k])", "x 40 70, z 33 70", WIDE);
}

/* ---- other reductions, and several in one pass */

static void extremes(void **state) {
    (void)state;
    in_tiles("y[i,j] = min(k: x[i,k] + z[k,j])", "x 40 37, z 37 70", SMALL);
    in_tiles("y[i,j] = argmin(k: x[i,k] - z[j,k])", "x 40 37, z 70 37", SMALL);
    in_tiles("in x: i32[n,m]\nin z: i32[q,m]\ny[i,j] = argmax(k: (x[i,k] - z[j,k]) % 5)", "x 40 1100, z 33 1100",
             SMALL);
    also_in_tiles("in x: u8[n,m]\nin z: u8[q,m]\ny[i,j] = max(k: max(x[i,k], z[j,k]))", "x 40 37, z 70 37", WIDE);
    in_tiles("y[i,j] = any(k: x[i,k] > z[j,k] + 3)", "x 40 37, z 70 37", SMALL);
    also_in_tiles("y[i,j] = all(k: x[i,k] < z[j,k] + 3)", "x 40 37, z 70 37", SMALL);
    also_in_tiles("in x: f64[n,m]\nin z: f64[q,m]\ny[i,j] = argmin(k: x[i,k] * z[j,k])", "x 40 37, z 70 37", SMALL);
}

static void around(void **state) {
    (void)state;
    in_tiles("y[i,j] = sqrt(u[i] + v[j] + 100 - 2 * sum(k: x[i,k] * z[j,k]))", "x 40 37, z 70 37, u 40, v 70", SMALL);
    in_tiles("y[i,j] = a[i,j] + b[i,j]\ny[i,j] = 2 * sum(k: x[i,k] * z[k,j]) - 3 * y[i,j]",
             "x 40 37, z 37 70, a 40 70, b 40 70", SMALL);
    in_tiles("y[i,j] = sum(k: x[i,k] * z[j,k]) + sum(k: abs(x[i,k] - z[j,k]))", "x 40 1037, z 7 1037", SMALL);
}

/* ---- what a tile keeps */

static void leaves(void **state) {
    (void)state;
    in_tiles("y[i,j] = sum(k: w[k] * abs(x[i,k] - z[j,k]))", "x 40 37, z 70 37, w 37", SMALL);
    also_in_tiles("y[i,j] = sum(k: sqrt(abs(x[i,k])) * (z[j,k] / 3 + 1) * k)", "x 40 37, z 70 37", SMALL);
    in_tiles("y[i,j] = sum(k: (a[i,k] - z[j,k]) * (b[i,k] + z[j,k] * c[i,k]) + d[i,k])",
             "a 40 37, b 40 37, c 40 37, d 40 37, z 70 37", SMALL);
    in_tiles("y[i,j] = sum(k: x[i,k] > z[j,k] ? x[i,k] * 2 : z[j,k] / 2)", "x 40 37, z 70 37", SMALL);
    also_in_tiles("y[i,j] = sum(k: (k % 3 == 1 ? x[i,k] : 0) * z[j,k])", "x 40 37, z 70 37", SMALL);
    in_tiles("y[i,j] = sum(k in 2..30 by 3: x[i,k+3] * z[k-1,j])", "x 40 37, z 37 70", SMALL);
    in_tiles("u[i,k] = x[i,k] * 3 + 1\ny[i,j] = sum(k: u[i,k] * z[j,k])", "x 40 37, z 70 37", SMALL);
    also_in_tiles("y[i,j] = sum(k: x[k,i] * x[k,j])", "x 37 70", SMALL);
}

static void orders(void **state) {
    (void)state;
    static const char *const products[] = {"y[i,j] = sum(k: x[i,k] * z[j,k])", "y[i,j] = sum(k: x[k,i] * z[k,j])",
                                           "y[j,i] = sum(k: x[k,i] * z[j,k])", "y[j,i] = sum(k: z[j,k] * x[i,k])",
                                           "y[i,j] = sum(k: x[k,i] * z[j,k])", "y[j,i] = sum(k: x[i,k] * z[j,k])"};
    for (size_t k = 0; k < (getenv("LEAT_TEST_ALL") ? ARRAY_LEN(products) : 2); k++) {
        in_tiles(products[k], "x 37 37, z 37 37", SMALL);
        also_in_tiles(products[k], "x 37 37 by 1 50, z 37 37 by 200 2", SMALL);
    }
    in_tiles(products[0], "x 40 37 by -40 1, z 33 37 by 40 -1", SMALL);
}

static void batches(void **state) {
    (void)state;
    in_tiles("y[p,i,j] = sum(k: abs(x[p,i,k] - z[p,j,k]))", "x 5 33 30, z 5 40 30", SMALL);
    in_tiles("y[i,p,j] = sum(k: x[i,p,k] * z[k,j,p])", "x 40 3 30, z 30 33 3", SMALL);
    also_in_tiles("y[p,i,j] = sum(k: x[p,i,k] * z[k,j])", "x 5 10 30, z 30 33", SMALL);
    in_tiles("y[i,j,p,q] = sum(k: abs(x[i,p,k] - z[k,q,j]))", "x 5 7 30, z 30 6 9", SMALL);
    also_in_tiles("y[i,j] = sum(k, l: abs(x[i,k,l] - z[l,k,j]))", "x 40 6 7, z 7 6 33", SMALL);
    in_tiles("y[i,j] = sum(k, l, m: x[i,k,l,m] * z[m,l,k,j])", "x 40 6 17 11, z 11 17 6 33", SMALL);
}

/* Indices that a known number divides are split. */
static void groups(void **state) {
    (void)state;
    in_tiles("y[h,i,j] = sum(k: x[h,i,k] * z[h//3,j,k])", "x 6 33 30, z 2 40 30", SMALL);
    in_tiles("y[h,i,j] = sum(k: x[h,i,k] * z[h//(len(x,0)//len(z,0)),j,k])", "x 6 12 30, z 2 40 30", SMALL);
    in_tiles("y[h,i,j] = sum(k: abs(x[h,i,k] - z[h%2,j,k]))", "x 6 12 30, z 2 40 30", SMALL);
    also_in_tiles("y[o,i] = sum(c,p: x[o//8*3+c,i+p] * w[o,c,p])", "x 15 40, w 40 3 4", SMALL);
    in_tiles("y[o,i] = sum(c,p: x[o//99*3+c,i+p] * w[o,c,p])", "x 15 40, w 40 3 4", SMALL);
    in_tiles("y[i,o] = sum(c: x[o//8*3+c,i] * w[c,o%8]) where o in 0..40", "x 15 35, w 3 8", SMALL);
    not_in_tiles("y[o,i] = sum(c,p: x[o//7*3+c,i+p] * w[o,c,p])", "x 18 40, w 40 3 4");
}

/* ---- windows */

static void windows(void **state) {
    (void)state;
    also_in_tiles("y[f,i] = sum(k: x[i+k] * w[f,k])", "x 105, w 33 6", SMALL);
    in_tiles("y[f,i] = sum(k: x[i+3*k] * w[f,k])", "x 105, w 33 6", SMALL);
    in_tiles("y[f,p,q] = sum(i, j: x[p+i,q+j] * w[f,i,j])", "x 20 31, w 33 4 5", SMALL);
    in_tiles("y[o,p,q] = sum(c, i, j: x[c,2*p+i,2*q+j] * w[o,c,i,j]) where p in 0..9, q in 0..14",
             "x 5 20 31, w 33 5 3 3", SMALL);
    in_tiles("y[n,o,p,q] = max(c, i, j: x[n,c,p+i,q+2*j] - w[o,c,i,j])", "x 2 3 12 21, w 33 3 3 2", SMALL);
    also_in_tiles("y[g,o,p] = sum(c, i: x[g,c,p+i] * w[g,o,c,i])", "x 3 4 50, w 3 33 4 5", SMALL);
    in_tiles("y[n,o,p] = sum(c, i: x[n,c,p+i] * w[o,c,i])", "x 3 120 50, w 33 120 9", SMALL);
}

static void edges(void **state) {
    (void)state;
    static const char *const modes[] = {"fill(0)", "clamp", "wrap", "fill(2)", "mirror"};
    char program[200];
    for (size_t k = 0; k < (getenv("LEAT_TEST_ALL") ? ARRAY_LEN(modes) : 2); k++) {
        snprintf(program, sizeof program,
                 "edge x %s\ny[o,p,q] = sum(c, i in 0..3, j in 0..3: x[c,p+i-1,q+j-1] * w[o,c,i,j]) where p in 0..8, "
                 "q in 0..9",
                 modes[k]);
        in_tiles(program, "x 3 8 9, w 33 3 3 3", SMALL);
    }
}

/* ---- with the simulator's checks: no race, nothing outside, nothing that was not written */

static void checked(void **state) {
    (void)state;
    in_tiles_checked(APART, "x 33 1037, z 7 1037", SMALL, true);
    in_tiles_checked(APART, "x 129 17, z 130 17", LARGE, true);
    in_tiles_checked("edge x fill(0)\ny[o,p] = sum(c, i in 0..3: x[c,p+i-1] * w[o,c,i]) where p in 0..40",
                     "x 3 40, w 33 3 3", SMALL, true);
}

/* ---- what is not computed in tiles, and what is without being asked for */

static void others(void **state) {
    (void)state;
    not_in_tiles("y[i] = sum(k: x[i,k] * z[k])", "x 40 37, z 37");
    not_in_tiles("y[i,j] = sum(k: x[i,j,k])", "x 5 6 7");
    not_in_tiles("y[i,j] = prod(k: x[i,k] * z[j,k])", "x 40 5, z 50 5");
    not_in_tiles(APART, "x 40 0, z 50 0");
    not_in_tiles(
        "y[i,j] = sum(k: (a[i,k] - z[j,k]) * (b[i,k] + z[j,k] * c[i,k]) + (d[i,k] - z[j,k]) * (e[i,k] + z[j,k]))",
        "a 9 7, b 9 7, c 9 7, d 9 7, e 9 7, z 10 7");
    not_in_tiles("y[p,i] = sum(k, l: x[p,k,l] * z[p,l,i,k])", "x 33 6 7, z 33 7 9 6");
    not_in_tiles("y[i,j] = sum(k: abs(x[i,k] - z[j,k])) / (1 + max(k: abs(x[i,k] - z[j,k])))", "x 40 37, z 70 37");
    not_in_tiles("in c: i64[m]\ny[i,j] = sum(k: abs(x[i,c[k] % 5] - z[j,k]))", "x 40 5, z 70 37, c 37");
}

static void chosen(void **state) {
    (void)state;
    same_checked(APART, "x 300 200, z 260 200", "a block for each ...", true, false);
    if (getenv("LEAT_TEST_ALL"))
        same_checked("y[i,j] = sum(k: x[i,k] * z[k,j])", "x 257 129, z 129 256", "a block for each ...", true, false);
    same_checked("y[i,j] = min(k: x[i,k] + z[k,j])", "x 257 129, z 129 256", "a block for each ...", true, false);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(extents),  cmocka_unit_test(units),   cmocka_unit_test(integers), cmocka_unit_test(floats),
        cmocka_unit_test(extremes), cmocka_unit_test(around),  cmocka_unit_test(leaves),   cmocka_unit_test(orders),
        cmocka_unit_test(batches),  cmocka_unit_test(windows), cmocka_unit_test(edges),    cmocka_unit_test(checked),
        cmocka_unit_test(others),   cmocka_unit_test(chosen),  cmocka_unit_test(groups)};
    return cmocka_run_group_tests(tests, NULL, close_kept);
}
