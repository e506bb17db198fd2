/* Matrix products in tiles, compared with the CPU's vector machine: the bytes are equal for integers, which wrap, and
 * for floats whose sums are exact in any order. */
#include "gen/device_kernel_testing.h"

#define LARGE "a block for each 128 x 128 elements"
#define SMALL "a block for each 64 x 64 elements"

static void extents(void **state) {
    (void)state;
    static const int few[] = {63, 64, 65, 127, 129};
    char arrays[64];
    for (size_t k = 0; k < ARRAY_LEN(few); k++) {
        snprintf(arrays, sizeof arrays, "x %d %d, z %d %d", few[k], few[(k + 2) % 5], few[(k + 2) % 5],
                 few[(k + 1) % 5]);
        same("in x: i32[n,m]\nin z: i32[m,q]\ny[i,j] = sum(k: x[i,k] * z[k,j])", arrays, SMALL);
    }
    same("in x: i64[n,m]\nin z: i64[m,q]\ny[i,j] = sum(k: x[i,k] * z[k,j])", "x 128 16, z 16 32", SMALL);
    same("in x: i64[n,m]\nin z: i64[m,q]\ny[i,j] = sum(k: x[i,k] * z[k,j])", "x 33 17, z 17 200", SMALL);
}

/* Too small for a tile, or with nothing in it. */
static void others(void **state) {
    (void)state;
    static const char program[] = "in x: i64[n,m]\nin z: i64[m,q]\ny[i,j] = sum(k: x[i,k] * z[k,j])";
    same(program, "x 40 1, z 1 50", "a thread for each element");
    same(program, "x 40 0, z 0 50", "a thread for each element");
    same(program, "x 1 40, z 40 100", "a thread for each column");
}

static void types(void **state) {
    (void)state;
    static const char *const types[] = {"i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"};
    char program[160];
    for (size_t t = 0; t < ARRAY_LEN(types); t += getenv("LEAT_TEST_ALL") ? 1 : 3) {
        snprintf(program, sizeof program, "in x: %s[n,m]\nin z: %s[m,q]\ny[i,j] = sum(k: x[i,k] * z[k,j])", types[t],
                 types[t]);
        same(program, "x 70 30, z 30 66", SMALL);
    }
}

static void floats(void **state) {
    (void)state;
    static const char product[] = "in x: i8[n,m]\nin z: i8[m,q]\na[i,k] = %s(x[i,k])\nb[k,j] = %s(z[k,j])\n"
                                  "y[i,j] = sum(k: a[i,k] * b[k,j])";
    static const char kept[] = "in x: i8[n,m]\nin z: i8[m,q]\na[i,k] = %s(x[i,k])\nb[k,j] = %s(z[k,j])\n"
                               "y[i,j] = a[i,j] + b[i,j]\ny[i,j] = 2 * sum(k: a[i,k] * b[k,j]) - 3 * y[i,j]";
    char program[256];
    snprintf(program, sizeof program, product, "f32", "f32");
    same(program, "x 300 50, z 50 260", LARGE);
    same(program, "x 257 129, z 129 256", LARGE);
    same(program, "x 65 33, z 33 40", SMALL);
    snprintf(program, sizeof program, product, "f64", "f64");
    same(program, "x 300 50, z 50 260", SMALL);
    snprintf(program, sizeof program, kept, "f32", "f32");
    same(program, "x 100 100, z 100 100", SMALL);
}

/* With the simulator's checks: no race, nothing outside, nothing that was not written. */
static void checked(void **state) {
    (void)state;
    same_checked("in x: i32[n,m]\nin z: i32[m,q]\ny[i,j] = sum(k: x[i,k] * z[k,j])", "x 65 37, z 37 70", SMALL, true,
                 true);
    same_checked("in x: i8[n,m]\nin z: i8[m,q]\na[i,k] = f32(x[i,k])\nb[k,j] = f32(z[k,j])\n"
                 "y[i,j] = sum(k: a[i,k] * b[k,j])",
                 "x 257 17, z 17 130", LARGE, true, true);
}

static void orders(void **state) {
    (void)state;
    static const char head[] = "in x: i32[da,db]\nin z: i32[dc,dd]\n";
    static const char *const products[] = {"y[i,j] = sum(k: x[i,k] * z[j,k])", "y[i,j] = sum(k: x[k,i] * z[k,j])",
                                           "y[i,j] = sum(k: x[k,i] * z[j,k])", "y[j,i] = sum(k: z[j,k] * x[i,k])",
                                           "y[j,i] = sum(k: x[k,i] * z[j,k])", "y[j,i] = sum(k: x[i,k] * z[j,k])"};
    char program[160];
    for (size_t k = 0; k < ARRAY_LEN(products); k += getenv("LEAT_TEST_ALL") ? 1 : 2) {
        snprintf(program, sizeof program, "%s%s", head, products[k]);
        same(program, "x 70 70, z 70 70", SMALL);
        same(program, "x 70 70 by 1 90, z 70 70 by 200 2", SMALL);
    }
}

static void batches_and_windows(void **state) {
    (void)state;
    same("in x: i32[dp,dn,dm]\nin z: i32[dp,dm,dq]\ny[p,i,j] = sum(k: x[p,i,k] * z[p,k,j])", "x 5 40 30, z 5 30 70",
         SMALL);
    same("in x: i32[dp,dn,dm]\nin z: i32[dm,dq]\ny[p,i,j] = sum(k: x[p,i,k] * z[k,j])", "x 5 10 30, z 30 70", SMALL);
    same("in x: i32[dn,dp,dm]\nin z: i32[dm,dq,dp]\ny[i,p,j] = sum(k: x[i,p,k] * z[k,j,p])", "x 40 3 30, z 30 70 3",
         SMALL);
    same("in x: i32[dn,da,db]\nin z: i32[da,db,dq]\ny[i,j] = sum(k,l: x[i,k,l] * z[k,l,j])", "x 40 6 7, z 6 7 70",
         SMALL);
    same("in x: i32[dn,dm]\nin w: i32[df,da,db]\ny[f,p,q] = sum(i,j: x[p+i,q+j] * w[f,i,j])", "x 30 41, w 33 4 5",
         SMALL);
    same("in x: i32[dn,dm]\nin z: i32[dm,dq]\ny[i,j] = sum(k in 2..50: x[i,k+3] * z[k-1,j])", "x 70 70, z 70 80",
         SMALL);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(extents),
                                       cmocka_unit_test(others),
                                       cmocka_unit_test(types),
                                       cmocka_unit_test(floats),
                                       cmocka_unit_test(checked),
                                       cmocka_unit_test(orders),
                                       cmocka_unit_test(batches_and_windows)};
    return cmocka_run_group_tests(tests, NULL, close_kept);
}
