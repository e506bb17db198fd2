/* Reductions by teams. Each program runs on the simulated device and on the CPU's vector machine, and the bytes must be
 * equal. Each test also checks which team computes the reduction. */
#include "gen/device_kernel_testing.h"

#define ALL_BLOCKS      "all blocks, the last joins their totals"
#define ONE_BLOCK       "one block"
#define BLOCK_ROW       "a block for each row"
#define WARP_ROW        "a warp for each row"
#define KEPT_WARP       "a warp for each row, which it keeps"
#define KEPT_BLOCK      "a block for each row, which it keeps"
#define KEPT_2          "a cluster of 2 blocks for each row, which they keep"
#define KEPT_4          "a cluster of 4 blocks for each row, which they keep"
#define KEPT_8          "a cluster of 8 blocks for each row, which they keep"
#define COLUMN          "a thread for each column"
#define CUT_COLUMNS     "threads for each column, the last block joins their totals"
#define PARTS           "threads of a block for each column"
#define CUT_PARTS       "threads of some blocks for each column, the last block joins their totals"
#define STRIP_4         "columns side by side, 4 for each block, which keeps them"
#define STRIP_64        "columns side by side, 64 for each block, which keeps them"
#define STRIP_8_2       "columns side by side, 8 for each cluster of 2 blocks, which keep them"
#define STRIP_8_8       "columns side by side, 8 for each cluster of 8 blocks, which keep them"
#define STRIP_8_OF_2    "columns side by side, 2 for each thread and 8 for each block, which keeps them"
#define STRIP_16_2_OF_4 "columns side by side, 4 for each thread and 16 for each cluster of 2 blocks, which keep them"
#define STRIP_64_OF_8   "columns side by side, 8 for each thread and 64 for each block, which keeps them"

static void whole_arrays(void **state) {
    (void)state;
    same("s = sum(i: x[i])", "x 100000", ALL_BLOCKS);
    also("s = sum(i: x[i])", "x 1000", ONE_BLOCK);
    same("s = sum(i: x[i])", "x 0", "one thread");
    same("s = sum(i: x[i])", "x 131072", ALL_BLOCKS);
    also("s = sum(i,j: x[i,j])", "x 300 401", ALL_BLOCKS);
    same("s = sum(i,j: x[j,i])", "x 300 401", ALL_BLOCKS);
    also("s = sum(i,j: x[i,j] * y[j])", "x 300 404, y 404", ALL_BLOCKS);
    also("s = sum(i,j: x[i,j])", "x 300 400 by 512 1", ALL_BLOCKS);
    same("s = sqrt(sum(i: x[i]*x[i])) / prod(k: y[k])", "x 100001, y 100001", ALL_BLOCKS);
}

static void all_types(void **state) {
    (void)state;
    static const char *const types[] = {"f32", "f64", "f16", "bf16", "i8",  "i16", "i32",
                                        "i64", "u8",  "u16", "u32",  "u64", "bool"};
    static const char *const folds[] = {"sum", "prod", "min", "max", "argmin", "argmax"};
    char program[128];
    for (size_t t = 0; t < ARRAY_LEN(types); t++)
        for (size_t f = 0; f < ARRAY_LEN(folds); f++) {
            if (f != t % ARRAY_LEN(folds) && !getenv("LEAT_TEST_ALL"))
                continue;
            snprintf(program, sizeof program, "in x: %s[n]\ns = %s(i: x[i])", types[t], folds[f]);
            same(program, t % 2 ? "x 70001" : "x 65536", ALL_BLOCKS);
        }
    same("s = any(i: x[i] > 1.99)", "x 70001", ALL_BLOCKS);
    also("s = all(i: x[i] > -1.9)", "x 70001", ALL_BLOCKS);
    same("in x: f32[n]\ns = argmin(i in 5..n: x[i])", "x 70001", ALL_BLOCKS);
}

static void rows(void **state) {
    (void)state;
    same("y[i] = sum(k: x[i,k])", "x 70 100", WARP_ROW);
    same("y[i] = sum(k: x[i,k])", "x 70 128", WARP_ROW);
    also("y[i] = sum(k: x[i,k])", "x 3 1001", BLOCK_ROW);
    same("y[i] = sum(k: x[i,k])", "x 9 10000", BLOCK_ROW);
    same("y[i] = sum(k: x[i,k])", "x 3 40000", "some blocks for each row");
    also("y[i] = argmax(k: x[i,k])", "x 70 300", WARP_ROW);
    also("y[i,j] = sum(k: x[i,k,j])", "x 8 100 9", CUT_COLUMNS);
    same("y[i] = log(sum(k: exp(x[i,k] - max(m: x[i,m])))) + max(m: x[i,m])", "x 5 999", KEPT_WARP);
    also("m[i] = sum(k: x[i,k]) / 100\nv[i] = sum(k: (x[i,k] - m[i]) * (x[i,k] - m[i]))", "x 70 100", KEPT_WARP);
    also("y[i] = sum(j,k: x[i,j,k])", "x 5 30 40", BLOCK_ROW);
    same("y[i] = sum(j,k: x[i,j,k] * w[k])", "x 5 30 40, w 40", BLOCK_ROW);
    also("y[i] = sum(j,k: x[j,i,k])", "x 30 50 40", WARP_ROW);
    also("y[i,j] = x[i,j] / sum(k: x[i,k])", "x 70 100", KEPT_WARP);
    also("y[i,j] = x[i,j] / sum(k: x[i,k])", "x 2 540000", BLOCK_ROW);
    also("y[i,j] = (x[i,j] - max(k: x[i,k])) / sum(k: (x[i,k] - max(q: x[i,q])) * 0.5)", "x 2 70001", KEPT_8);
    also("y[i,j] = x[i,j] / sum(k: x[k,j])", "x 70 100", CUT_COLUMNS);
    same("y[i] = sum(k in 0..100: x[i,k+1] - x[i,k])", "x 70 101", WARP_ROW);
    also("in x: f32[n]\nedge x wrap\ny[i] = sum(k in 0..500: x[i-k]) where i in 0..n", "x 100", WARP_ROW);
    same("y[i] = sum(k in 0..i: x[k] * w[i,k])", "x 100, w 100 100", WARP_ROW);
}

/* Some lanes of a warp for each row: as many as its vectors, or all with several vectors each. */
static void short_rows(void **state) {
    (void)state;
    same("in x: i64[n,m,o]\ny[i,j] = sum(k: x[i,j,k])", "x 5 7 32", "16 lanes of a warp for each row, ...");
    also("y[i] = sum(k: x[i,k])", "x 9 4", "1 lanes of a warp for each row, ...");
    same("y[i] = sum(k: x[i,k])", "x 70 31", "32 lanes of a warp for each row, ...");
    also("y[i] = sum(k: x[i,k])", "x 70 102", "32 lanes of a warp for each row, ...");
    same("y[i] = sum(k: x[i,k])", "x 3 300", "32 lanes of a warp for each row, ...");
    same("in x: u8[n,m]\ny[i] = argmax(k: x[i,k])", "x 37 64", "4 lanes of a warp for each row, ...");
    also("in x: f64[n,m]\ny[i] = sqrt(sum(k: x[i,k]) / len(x, 1))", "x 21 6", "4 lanes of a warp for each row, ...");
    /* several passes over rows that share a warp; the last warp has fewer rows */
    same("y[i,j] = x[i,j] / sum(k: x[i,k])", "x 70 16", "4 lanes for each row");
    also("m[i] = sum(k: x[i,k]) / 10\nv[i] = sum(k: (x[i,k] - m[i]) * (x[i,k] - m[i]))", "x 13 10",
         "8 lanes for each row");
    also("in x: f64[n,m]\ny[i,j] = (x[i,j] - max(k: x[i,k])) / sum(k: x[i,k] - max(q: x[i,q]))", "x 37 7",
         "8 lanes for each row");
}

static void kept_rows(void **state) {
    (void)state;
    static const char dear[] = "e[i,j] = sqrt(abs(x[i,j] - max(k: x[i,k]))) / 3\ny[i,j] = e[i,j] / sum(k: e[i,k])";
    also(dear, "x 70 100", KEPT_WARP);
    same(dear, "x 2 40000", KEPT_2);
    same("in x: f16[n,m]\n"
         "y[i,j] = f16((x[i,j] - max(k: x[i,k])) / sum(k: abs(x[i,k])))",
         "x 5 512", KEPT_WARP);
    same("in x: f64[n,o]\nm[i] = sum(k: x[i,k]) / len(x, 1)\nv[i] = sum(k: (x[i,k] - m[i]) ** 2)\n"
         "y[i,j] = (x[i,j] - m[i]) / sqrt(v[i] / len(x, 1) + 1e-5) * g[j] + b[j]",
         "x 5 700, g 700, b 700", KEPT_BLOCK);
    also("y[i] = sum(k: (x[i,k] - sum(q: x[i,q]) / 100) ** 2)", "x 70 100", KEPT_WARP);
    also("y[i,j] = x[i,j] * w[i,j] / sum(k: x[i,k] * w[i,k])", "x 9 260, w 9 260", KEPT_WARP);
    also("y[b,i,j] = x[b,i,j] - max(k: x[b,i,k])", "x 3 5 200", KEPT_WARP);
    also("in x: f32[m,n]\nout y: f32[m,n]\ny[i,n-1-j] = x[i,j] - max(k: x[i,k])", "x 3 200", KEPT_WARP);
}

/* Quotients that are zeros, far too small, infinite or no number: whole rows of them, and some among others. */
static void unusual_rows(void **state) {
    (void)state;
    static const char quotients[] = "y[i,j] = x[i,j] * (i == 0 ? 0 : i == 1 ? 1e-38 : i == 2 ? 3e38 : 1)"
                                    " / (i == 3 ? 0 : max(k: x[i,k]))";
    same_checked(quotients, "x 5 1000", KEPT_WARP, true, false);
    same_checked(quotients, "x 5 3000", KEPT_BLOCK, true, false);
    same_checked(quotients, "x 5 40004", KEPT_2, true, false);
}

static const char scaled[] = "e[i,j] = x[i,j] - max(k: x[i,k])\ny[i,j] = e[i,j] / sum(k: e[i,k])";
static const char gained[] = "m[i] = sum(k: x[i,k]) / len(x, 1)\nv[i] = sum(k: (x[i,k] - m[i]) ** 2)\n"
                             "y[i,j] = (x[i,j] - m[i]) / sqrt(v[i] / len(x, 1) + 1e-5) * g[j] + b[j]";

/* One text takes rows of many lengths: warps and blocks are whole or not, read four elements or one at a time. */
static void rows_of_clusters(void **state) {
    (void)state;
    static const char norm[] = "m[i] = sum(k: x[i,k]) / len(x, 1)\nv[i] = sum(k: (x[i,k] - m[i]) ** 2)\n"
                               "y[i,j] = (x[i,j] - m[i]) / sqrt(v[i] / len(x, 1) + 1e-5)";
    static const char variance[] = "in x: f64[n,o]\nm[i] = sum(k: x[i,k]) / len(x, 1)\n"
                                   "v[i] = sum(k: (x[i,k] - m[i]) ** 2)";
    static const int lengths[] = {33000, 40004, 65532, 65536};
    char arrays[64];
    for (size_t k = 0; k < ARRAY_LEN(lengths); k += getenv("LEAT_TEST_ALL") ? 1 : 2) {
        snprintf(arrays, sizeof arrays, "x 2 %d", lengths[k]);
        same_checked(scaled, arrays, KEPT_2, true, false);
    }
    same_checked(norm, "x 3 33012", KEPT_4, false, false);
    same(scaled, "x 2 70000", KEPT_4);
    same(norm, "x 2 300000", KEPT_8);
    same(variance, "x 2 65536", KEPT_4);
    also(variance, "x 2 20001", KEPT_4);
    also("y[i,j] = x[i,j] * w[i,j] / sum(k: x[i,k] * w[i,k])", "x 2 40000, w 2 40000", KEPT_4);
    also("a[i] = argmax(k: x[i,k])\ny[i,j] = x[i,j] - x[i,a[i]]", "x 2 65536", KEPT_2);
}

/* Values that read more than the row: warps that have all lines, some, as few as are read at once, or none; elements
 * that are not usual among lines of either kind. */
static void rows_with_gains(void **state) {
    (void)state;
    static const char zeros[] = "y[i,j] = x[i,j] * (j % 1000 == i ? 1e-38 : 1) / max(k: x[i,k]) + g[j]";
    static const int lengths[] = {32772, 33796, 34180, 34560, 61444, 65408, 65536};
    char arrays[64];
    for (size_t k = 0; k < ARRAY_LEN(lengths); k += getenv("LEAT_TEST_ALL") ? 1 : 2) {
        snprintf(arrays, sizeof arrays, "x 19 %d, g %d, b %d", lengths[k], lengths[k], lengths[k]);
        same_checked(gained, arrays, KEPT_2, true, false);
    }
    same_checked(zeros, "x 3 65536, g 65536", KEPT_2, true, false);
    same_checked(zeros, "x 3 40004, g 40004", KEPT_2, true, false);
    same("in x: f64[n,o]\nin g: f64[o]\ny[i,j] = x[i,j] / sum(k: x[i,k]) - g[j]", "x 3 65536, g 65536", KEPT_4);
    also("y[i,j] = x[i,j] - max(k: x[i,k]) + w[i,j]", "x 3 65536, w 3 65536", KEPT_2);
    also("in p: i32[m]\ny[i,j] = x[i,j] - max(k: x[i,k]) + g[j] * p[j]", "x 3 40000, g 40000, p 40000", KEPT_2);
}

/* A device without clusters: one block keeps the row, half of its lines in registers. */
static void rows_without_clusters(void **state) {
    (void)state;
    facts.capability = 80;
    same_checked(gained, "x 19 65536, g 65536, b 65536", KEPT_BLOCK, true, false);
    same_checked(gained, "x 3 33796, g 33796, b 33796", KEPT_BLOCK, true, false);
    same_checked(scaled, "x 3 50004", KEPT_BLOCK, true, false);
    facts.capability = 90;
}

static void columns(void **state) {
    (void)state;
    same("y[j] = sum(i: x[i,j])", "x 60 300", COLUMN);
    also("y[j] = sum(i: x[i,j])", "x 61 40", COLUMN);
    same("y[j] = sum(i: x[i,j])", "x 1000 300", CUT_COLUMNS);
    also("y[j] = sum(i: x[i,j])", "x 20001 17", CUT_COLUMNS);
    same("y[j] = sum(i,k: x[i,k,j])", "x 100 30 33", CUT_COLUMNS);
    also("y[j] = sum(i,k: x[i,k,j] * w[i])", "x 100 30 33, w 100", CUT_COLUMNS);
    same("y[j] = max(i: x[i,j]) - min(i: x[i,j])", "x 1000 300", CUT_COLUMNS);
    also("y[j] = argmax(i: x[i,j])", "x 1000 300", CUT_COLUMNS);
    also("y[j] = max(i: x[i,j] - sum(k: x[k,j]) / 1000)", "x 1000 70", COLUMN);
    same("y[j] = max(i: x[i,j] - sum(k: x[k,j]) / 1000)", "x 1000 70", CUT_COLUMNS);
    same("y[i,j] = sum(k: x[i,k,j])", "x 7 100 50", CUT_COLUMNS);
    same("in x: f64[n,m]\ny[j] = prod(i: x[i,j])", "x 777 64", CUT_COLUMNS);
}

static void columns_in_parts(void **state) {
    (void)state;
    same("y[j] = sum(i: x[i,j])", "x 60 300", PARTS);
    also("y[j] = sum(i: x[i,j])", "x 20001 17", CUT_PARTS);
    same("y[j] = sum(i: x[i,j])", "x 777 33", CUT_PARTS);
    also("y[j] = sum(i: x[i,j])", "x 1 33", PARTS);
    same("y[i,j] = argmax(k: x[i,k,j])", "x 7 100 5", PARTS);
    also("y[j] = sum(i,k: x[i,k,j] * w[i])", "x 200 30 33, w 200", CUT_PARTS);
    same("y[j] = max(i: x[i,j] - sum(k: x[k,j]) / 1000)", "x 1000 70", PARTS);
    also("y[j] = sum(i: x[i,j] / max(l: x[l,j] - sum(k: x[k,j])))", "x 1000 7", CUT_PARTS);
    same("in x: f64[n,m]\ny[j] = prod(i: x[i,j] - min(k: x[k,j]))", "x 777 64", CUT_PARTS);
}

static const char column_chain[] = "y[j] = sum(i: (x[i,j] - sum(k: x[k,j]) / 64) / max(l: abs(x[l,j])))";

/* Columns of all lengths around what threads keep, in registers and in shared memory, with and without a rest. */
static void strips(void **state) {
    (void)state;
    same(column_chain, "x 100 9", STRIP_4);
    also(column_chain, "x 1 9", STRIP_4);
    same(column_chain, "x 3000 5", STRIP_4);
    also(column_chain, "x 8192 4", STRIP_4);
    same(column_chain, "x 30 100", STRIP_64);
    also(column_chain, "x 500 64", STRIP_64);
    same(column_chain, "x 500 19", STRIP_8_2);
    also(column_chain, "x 16383 8", STRIP_8_2);
    same(column_chain, "x 40000 9", STRIP_8_8);
    also(column_chain, "x 5 9", STRIP_8_8);
    same("in x: f64[n,m]\ny[j] = max(i: x[i,j] - sum(k: x[k,j]) / 64)", "x 4000 6", STRIP_8_2);
    also("in x: f16[n,m]\ny[j] = sum(i: f32(x[i,j]) - sum(k: f32(x[k,j])) / 64)", "x 3000 21", STRIP_4);
    same("in x: f16[n,m]\ny[j] = sum(i: f32(x[i,j]) - sum(k: f32(x[k,j])) / 64)", "x 3000 21", STRIP_8_2);
    same("y[j,i] = sum(k: x[i,k,j] - min(l: x[i,l,j]))", "x 3 50 7", STRIP_4);
    same("y[j] = sum(i: x[i,j] * i - sum(k: x[k,j]) / 64)", "x 700 7", STRIP_8_2);
    same("y[j] = sum(i: x[i,j] / sum(k: x[k,j] * z[k,j]) - z[i,j])", "x 300 7, z 300 7", STRIP_4);
}

/* Threads with several columns: lengths around what threads keep and what all of them have, and ends of strips. Values
 * along the columns come from planning: see tests/random/random_fused.c. */
static void strips_of_vectors(void **state) {
    (void)state;
    same(column_chain, "x 256 12", STRIP_8_OF_2);
    also(column_chain, "x 257 6", STRIP_8_OF_2);
    same(column_chain, "x 3000 36", STRIP_16_2_OF_4);
    also(column_chain, "x 4096 16", STRIP_16_2_OF_4);
    same("in x: f16[n,m]\ny[j] = sum(i: f32(x[i,j]) - sum(k: f32(x[k,j])) / 64)", "x 300 72", STRIP_64_OF_8);
    same("in x: f64[n,m]\ny[j] = max(i: x[i,j] - sum(k: x[k,j]) / 64)", "x 4000 6", STRIP_8_OF_2);
    same("y[j] = argmax(i: x[i,j] * max(k: x[k,j]))", "x 700 12", STRIP_8_OF_2);
    same_checked(column_chain, "x 1500 12", STRIP_8_OF_2, true, true);
}

/* Eight f64 arrays are kept: registers hold few of their lines, and shared memory the others. */
static void wide_strips(void **state) {
    static const char program[] =
        "in a: f64[n,m]\nin b: f64[n,m]\nin c: f64[n,m]\nin d: f64[n,m]\n"
        "in e: f64[n,m]\nin f: f64[n,m]\nin g: f64[n,m]\nin h: f64[n,m]\n"
        "s[i,j] = a[i,j]+b[i,j]+c[i,j]+d[i,j]+e[i,j]+f[i,j]+g[i,j]+h[i,j]\ny[j] = sum(i: abs(s[i,j] - max(k: s[k,j])))";
    (void)state;
    same_checked(program, "a 40 64, b 40 64, c 40 64, d 40 64, e 40 64, f 40 64, g 40 64, h 40 64", STRIP_4, true,
                 true);
}

static void with_checks(void **state) {
    (void)state;
    same_checked("s = sum(i: x[i])", "x 40000", ALL_BLOCKS, true, true);
    same_checked("y[i,j] = x[i,j] / sum(k: x[i,k])", "x 40 129", KEPT_WARP, true, true);
    same_checked("y[i,j] = (x[i,j] - max(k: x[i,k])) / sum(k: (x[i,k] - max(q: x[i,q])) * 0.5)", "x 5 2001", KEPT_BLOCK,
                 false, true);
    same_checked("y[i,j] = x[i,j] / sum(k: x[i,k])", "x 2 60000", KEPT_2, true, true);
    same_checked("y[i] = sum(k: x[i,k])", "x 3 40000", "some blocks for each row", true, true);
    same_checked("y[j] = sum(i: x[i,j])", "x 500 300", CUT_COLUMNS, true, true);
    same_checked("y[j] = sum(i: x[i,j] - max(k: x[k,j]))", "x 500 19", CUT_PARTS, true, true);
    same_checked("y[j] = sum(i: x[i,j] - max(k: x[k,j]))", "x 5000 9", STRIP_8_2, true, true);
    same_checked("y[j] = sum(i: x[i,j] - max(k: x[k,j]))", "x 5000 20", STRIP_16_2_OF_4, true, true);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(whole_arrays),
                                       cmocka_unit_test(all_types),
                                       cmocka_unit_test(rows),
                                       cmocka_unit_test(short_rows),
                                       cmocka_unit_test(kept_rows),
                                       cmocka_unit_test(unusual_rows),
                                       cmocka_unit_test(rows_of_clusters),
                                       cmocka_unit_test(rows_with_gains),
                                       cmocka_unit_test(rows_without_clusters),
                                       cmocka_unit_test(columns),
                                       cmocka_unit_test(columns_in_parts),
                                       cmocka_unit_test(strips),
                                       cmocka_unit_test(strips_of_vectors),
                                       cmocka_unit_test(wide_strips),
                                       cmocka_unit_test(with_checks)};
    return cmocka_run_group_tests(tests, NULL, close_kept);
}
