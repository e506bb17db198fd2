/* Maps that read beyond the ends of their arrays. Interior threads make no checks and border threads do, and the bytes
 * equal the CPU's. If few elements are interior, all threads check. */
#include "gen/device_kernel_testing.h"

#define VECTORS "a thread for vectors of elements"
#define SOME    "a thread for some elements"
#define ROWS    "a thread for some rows and columns"

static void planes(void **state) {
    (void)state;
    static const char clamped[] = "edge a clamp\ny[i,j] = a[i,j] - a[i-1,j] * a[i+1,j+2] + a[i,j-1]";
    static const char deep[] = "y[t,i,j] = a[t,i-1,j] + a[t,i,j+1] * a[t-1,i,j] else i + j";
    same(clamped, "a 37 64", ROWS);
    same(clamped, "a 37 63", ROWS);
    same(clamped, "a 37 261 by 300 1", ROWS);
    same(clamped, "a 3 2", ROWS);
    same_checked(clamped, "a 33 260", ROWS, true, true);
    same_checked(deep, "a 5 13 64", ROWS, true, true);
}

static void lines(void **state) {
    (void)state;
    same("edge x mirror\ny[i] = x[i-3] - x[i+2]", "x 1027", VECTORS);
    same("edge x mirror\ny[i] = x[i-3] - x[i+2]", "x 5", SOME);
    same_checked("y[i] = x[i+1] - x[i-1] else x[i]", "x 4099", VECTORS, true, true);
    same("in x: u8[n]\ny[i] = x[i+1] - x[i-1] else 3", "x 4099", VECTORS);
    same("y[i,j] = a[i,j] + b[j-1,i] else 7", "a 40 36, b 36 40", VECTORS);
}

/* What no element asks for is not read where the array may have ended: rows behind the last one, and the corners of a
 * box of rows and columns. */
static void ends(void **state) {
    (void)state;
    same_checked("in g: f32[n]\ny[i,j] = (a[i-1,j] + a[i+1,j]) * g[i] else 0", "a 37 33, g 37", ROWS, true, true);
    same_checked("y[i,j] = x[20*i+j] + x[20*i+j+12] where i in 0..50, j in 0..8", "x 1000", ROWS, true, true);
    same_checked("out y: f32[64,100]\ny[i,j] = x[128*i+j] + x[128*i+j+1] + x[128*i+j+128]", "x 8292", ROWS, true, true);
}

/* Images narrower than a warp's threads, in which every thread is near an edge: each edge mode, strides, rows that no
 * vector fills, and windows that reach beyond both ends of a row. */
static void narrow(void **state) {
    (void)state;
    static const char *const modes[] = {"clamp", "mirror", "wrap", "symmetric", "fill(3)"};
    static const int sides[][3] = {{3, 7, 7}, {5, 14, 14}, {3, 28, 28}, {2, 57, 33}, {2, 9, 56}, {2, 3, 2}};
    char program[160], arrays[32];
    for (size_t k = 0; k < ARRAY_LEN(modes); k++)
        for (size_t a = k % 2; a < ARRAY_LEN(sides); a += 2) {
            int rows = sides[a][1], columns = sides[a][2];
            snprintf(arrays, sizeof arrays, "x %d %d %d", sides[a][0], rows, columns);
            snprintf(program, sizeof program, "edge x %s\ny[c,i,j] = x[c,i-1,j] * 2 - x[c,i+1,j+1] + x[c,i,j-2]",
                     modes[k]);
            same(program, arrays, ROWS);
            snprintf(program, sizeof program,
                     "in x: u8[u,v,w]\nedge x %s\ny[c,i,j] = max(p in 0..3, q in 0..3: x[c,2*i+p-1,2*j+q-1]) "
                     "where i in 0..%d, j in 0..%d",
                     modes[k], (rows + 1) / 2, (columns + 1) / 2);
            also(program, arrays, "a thread for ...");
        }
    same_checked("edge x fill(0)\ny[c,i,j] = sum(p, q: x[c,i+p-1,j+q-1] * w[c,p,q])", "x 5 14 28, w 5 3 3", ROWS, true,
                 true);
    same_checked("edge x mirror\ny[i,j] = x[i,j-1] + x[i,j+1] * g[i]", "x 19 12, g 19", VECTORS, true, true);
    same("edge x clamp\ny[i,j] = x[i,j-1] + h[i,j]", "x 19 13, h 19 13", SOME);
    same("in x: f16[u,v,w]\nedge x fill(1)\ny[c,i,j] = x[c,2*i+1,2*j-1] + x[c,2*i-1,2*j] where i in 0..15, j in 0..20",
         "x 3 30 40", ROWS);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(planes), cmocka_unit_test(lines), cmocka_unit_test(ends),
                                       cmocka_unit_test(narrow)};
    return cmocka_run_group_tests(tests, NULL, close_kept);
}
