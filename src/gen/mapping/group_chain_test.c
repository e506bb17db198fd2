/* Sums with reuse by a warp, a thread block or several for each point, and by a thread for each column, of lengths
 * around those of chunks and units: the bytes equal those of the CPU's vector machine. */
#include "gen/device_kernel_testing.h"

#define WARP_ROW    "a warp for each row"
#define BLOCK_ROW   "a block for each row"
#define BLOCKS_ROW  "some blocks for each row"
#define COLUMN      "a thread for each column"
#define CUT_COLUMNS "threads for each column, the last block joins their totals"
#define PARTS       "threads of a block for each column"
#define CUT_PARTS   "threads of some blocks for each column, the last block joins their totals"
#define SPREAD      COLUMN ", 3 values at once"
#define CUT_SPREAD  CUT_COLUMNS ", 3 values at once"

#define VECTOR "y[i] = sum(k: a[i,k] * x[k])"
#define TURNED "y[i] = sum(k: a[k,i] * x[k])"
#define APART  "y[i] = sum(k: abs(a[i,k] - x[k]))"

static void chained(const char *program, const char *arrays, const char *how, bool check) {
    struct device_test_run r;
    start_run(&r, program, arrays, check);
    assert_true(has_chains(r.kernel.ir));
    r.mapping = strcmp(how, "a thread for each element") == 0 ? "loop" : mapping_of(how, true);
    same_mapped(&r, how);
}

static void lengths(void **state) {
    (void)state;
    static const int terms[] = {1, 31, 32, 33, 70, 1000, 1023, 1024, 1025, 1056, 2048, 2049, 5000, 33000};
    static const struct {
        const char *program, *how;
    } ways[] = {{VECTOR, WARP_ROW},  {APART, BLOCK_ROW}, {VECTOR, BLOCKS_ROW},
                {TURNED, COLUMN},    {APART, COLUMN},    {APART, "a thread for each element"},
                {APART, BLOCKS_ROW}, {APART, WARP_ROW},  {VECTOR, BLOCK_ROW}};
    char arrays[64];
    const bool all = getenv("LEAT_TEST_ALL") != NULL;
    for (size_t w = 0; w < (all ? ARRAY_LEN(ways) : 6); w++)
        for (size_t k = all ? 0 : w % 3; k < ARRAY_LEN(terms); k += all ? 1 : 3) {
            bool turned = strcmp(ways[w].program, TURNED) == 0;
            snprintf(arrays, sizeof arrays, "a %d %d, x %d", turned ? terms[k] : 3, turned ? 3 : terms[k], terms[k]);
            bool is_long = strcmp(ways[w].how, WARP_ROW) == 0 && terms[k] > 1024; /* more than one unit */
            chained(ways[w].program, arrays, is_long ? BLOCK_ROW : ways[w].how, false);
        }
    chained(TURNED, "a 1025 40, x 1025", CUT_COLUMNS, false);
    chained(TURNED, "a 2048 40, x 2048", CUT_COLUMNS, false);
    chained(TURNED, "a 5000 40, x 5000", CUT_COLUMNS, false);
}

static void types(void **state) {
    (void)state;
    chained("in a: f64[n,m]\nin x: f64[m]\n" VECTOR, "a 7 1000, x 1000", WARP_ROW, false);
    chained("in a: f64[n,m]\nin x: f64[m]\n" APART, "a 7 2100, x 2100", BLOCKS_ROW, false);
    chained("in a: f16[n,m]\nin x: f16[m]\n" VECTOR, "a 7 1000, x 1000", WARP_ROW, false);
    chained("in a: i8[n,m]\nin x: bf16[m]\n" APART, "a 7 2100, x 2100", BLOCK_ROW, false);
    chained("in a: f16[m,n]\nin x: f32[m]\n" TURNED, "a 2100 70, x 2100", CUT_COLUMNS, false);
}

static void terms(void **state) {
    (void)state;
    static const char window[] = "y[i] = sum(k: x[i+k] * w[k])";
    chained(window, "x 1100, w 1000", WARP_ROW, false);
    chained(window, "x 1600, w 1500", BLOCK_ROW, false);
    chained(window, "x 1600, w 1500", COLUMN, false);
    chained("edge x clamp\ny[i] = sum(k: abs(x[i-k] - w[k])) where i in 0..30", "x 1600, w 1500", BLOCK_ROW, false);
    chained("y[i] = sum(j, k: a[i,k,j] * x[j,k])", "a 5 40 60, x 60 40", BLOCK_ROW, false);
    chained("y[i] = sum(k in 3..900 by 2: a[i,k] * x[k-1])", "a 5 900, x 900", WARP_ROW, false);
    chained("y[i] = mean(k: a[i,k] * x[k]) + sum(k: abs(a[i,k] - x[k]))", "a 5 900, x 900", WARP_ROW, false);
    chained("y[i] = sum(k: a[i,k] * x[k]) / (1 + max(k: abs(a[i,k] - x[k])))", "a 5 900, x 900", WARP_ROW, false);
    chained(VECTOR, "a 33 1000 by -1100 1, x 1000 by -1", WARP_ROW, false);
    chained(VECTOR, "a 33 1100 by 3 120, x 1100 by 2", COLUMN, false);
    chained("y[i] = sum(k in 0..i+1: a[i,k] * x[k])", "a 100 100, x 100", "a thread for each element", false);
}

/* Threads of some points each, which the terms' reads serve together; one that the quick way does not compute makes all
 * of a thread's points take the other one. */
static void neighbours(const char *program, const char *arrays, const char *mapping) {
    struct device_test_run r;
    start_run(&r, program, arrays, true);
    r.mapping = mapping;
    struct kept_device *kept = r.kept;
    bool is_cut = strstr(mapping, "chunk=1024");
    same_mapped(&r, strstr(program, "[i,d]") ? is_cut ? CUT_SPREAD : SPREAD : is_cut ? CUT_COLUMNS : COLUMN);
    assert_non_null(strstr(kept->modules[(kept->next + KEPT_MODULES - 1) % KEPT_MODULES].text, "le_several"));
}

static void several_points(void **state) {
    (void)state;
    static const char cut[] = "columns vector=4 chunk=1024 parts=1", pairs[] = "columns vector=2 chunk=1024 parts=1",
                      whole[] = "columns vector=4 chunk=1048576 parts=1",
                      kernels[] = "y[i] = sum(j: w[j] / (1 + (x[i] - p[j])**2))",
                      pulls[] = "a[i,d] = sum(j: m[j] / (0.01 + (p[j,0] - p[i,0])**2 + (p[j,1] - p[i,1])**2)**1.5 * "
                                "(p[j,d] - p[i,d]))";
    neighbours(kernels, "x 40, p 2100, w 2100", cut);
    neighbours(kernels, "x 1200, p 70, w 70", whole);
    neighbours(kernels, "x 38, p 1031, w 1031", pairs);
    neighbours("in x: f64[n]\n"
               "y[i] = sum(j: w[j] / (x[i] - p[j]))",
               "x 12, p 1100, w 1100", cut);
    neighbours("y[i] = sum(j: w[j] / (x[i] * p[j]))", "x 200, p 2000, w 2000", cut);
    neighbours("y[i] = sum(j: w[j] * sqrt(abs(x[i] - p[j]))) / sum(j: (x[i] - p[j])**2)", "x 40, p 1100, w 1100", cut);
    neighbours("y[i] = sum(j: abs(x[i] - p[j] - max(k: w[k] * abs(x[i] - p[k]))))", "x 40, p 110, w 110", whole);
    neighbours("y[i] = argmin(j: w[j] * abs(x[i] - p[j]))", "x 40, p 1100, w 1100", whole);
    neighbours(pulls, "p 1104 3, m 1104", cut);
    neighbours(pulls, "p 66 3, m 66", "columns vector=2 chunk=1048576 parts=1");
    neighbours("y[i,k] = sum(j: abs(a[i,j] - b[j,k]))", "a 3 1100, b 1100 8", cut);
}

/* Several threads of a block for each column, which take turns at the chunks of its units. */
static void parts_of(const char *program, const char *arrays, const char *mapping, const char *how) {
    struct device_test_run r;
    start_run(&r, program, arrays, true);
    r.mapping = mapping;
    same_mapped(&r, how);
}

static void threads_of_columns(void **state) {
    (void)state;
    static const char whole[] = "columns vector=1 parts=8 chunk=1048576", cut[] = "columns vector=1 parts=8 chunk=128",
                      many[] = "columns vector=1 parts=32 chunk=64", few[] = "columns vector=1 parts=2 chunk=1024",
                      wide[] = "columns vector=4 parts=4 chunk=256",
                      pulls[] = "a[i,d] = sum(j: m[j] / (0.01 + (p[j,0] - p[i,0])**2 + (p[j,1] - p[i,1])**2)**1.5 * "
                                "(p[j,d] - p[i,d]))";
    static const int terms[] = {1, 31, 32, 33, 70, 1000, 1024, 1025, 2049, 5000};
    char arrays[64];
    for (size_t k = 0; k < ARRAY_LEN(terms); k += getenv("LEAT_TEST_ALL") ? 1 : 2) {
        snprintf(arrays, sizeof arrays, "a %d 43, x %d", terms[k], terms[k]);
        parts_of(TURNED, arrays, whole, PARTS);
        parts_of(TURNED, arrays, many, terms[k] > 2048 ? CUT_PARTS : PARTS);
    }
    parts_of(TURNED, "a 3000 40, x 3000", cut, CUT_PARTS);
    parts_of(APART, "a 5 9000, x 9000", few, CUT_PARTS);
    parts_of(pulls, "p 1104 3, m 1104", many, PARTS ", 3 values at once");
    parts_of(pulls, "p 1104 3, m 1104", cut, CUT_PARTS ", 3 values at once");
    parts_of("y[i] = sum(j: w[j] / (1 + (x[i] - p[j])**2))", "x 40, p 2100, w 2100", wide, CUT_PARTS);
    parts_of("y[i] = sum(j: w[j] * sqrt(abs(x[i] - p[j]))) / sum(j: (x[i] - p[j])**2)", "x 40, p 1100, w 1100", wide,
             CUT_PARTS);
    parts_of("y[i] = mean(k: a[k,i] * x[k]) + max(k: a[k,i]) + sum(k: abs(a[k,i] - x[k]))", "a 2100 70, x 2100", many,
             CUT_PARTS);
    parts_of("y[i] = sum(k: a[k,i] * x[k]) / (1 + max(k: abs(a[k,i] - x[k])))", "a 2100 70, x 2100", whole, PARTS);
    parts_of("in a: f64[m,n]\nin x: f64[m]\n" TURNED, "a 2100 70, x 2100", cut, CUT_PARTS);
}

static void with_checks(void **state) {
    (void)state;
    chained(VECTOR, "a 5 1010, x 1010", WARP_ROW, true);
    chained(VECTOR, "a 3 9000, x 9000", BLOCK_ROW, true);
    chained(APART, "a 2 40000, x 40000", BLOCKS_ROW, true);
    chained(TURNED, "a 3000 40, x 3000", CUT_COLUMNS, true);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(lengths),
                                       cmocka_unit_test(types),
                                       cmocka_unit_test(terms),
                                       cmocka_unit_test(several_points),
                                       cmocka_unit_test(threads_of_columns),
                                       cmocka_unit_test(with_checks)};
    return cmocka_run_group_tests(tests, NULL, close_kept);
}
