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
    same(clamped, "a 3 2", SOME);
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
    same_checked("y[i,j] = x[i,j] + x[i,j+12] where j in 0..8", "x 50 20", ROWS, true, true);
    same_checked("out y: f32[64,100]\ny[i,j] = x[128*i+j] + x[128*i+j+1] + x[128*i+j+128]", "x 8292", ROWS, true, true);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(planes), cmocka_unit_test(lines), cmocka_unit_test(ends)};
    return cmocka_run_group_tests(tests, NULL, close_kept);
}
