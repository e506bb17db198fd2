/* Windows through which a thread walks for several elements: the bytes equal the CPU's for all shapes, alignments and
 * edges, in threads whose elements all exist and in others. */
#include "gen/device_kernel_testing.h"

#define WALKS "a thread for some rows and columns of windows"

static void planes(void **state) {
    (void)state;
    static const char text[] = "y[i,j] = sum(p in 0..3, q in 0..5: abs(x[i+p,j+q] - w[p,q]))";
    same(text, "x 40 68, w 3 5", WALKS);
    same(text, "x 37 261 by 300 1, w 3 5", WALKS);
    same(text, "x 8 9, w 3 5", WALKS);
    same_checked(text, "x 21 68, w 3 5", WALKS, true, true);
    same_checked(text, "x 21 67, w 3 5", WALKS, false, false);
    same_checked("out y: f32[30,75]\ny[i+2,j+3] = sum(p in 0..3, q in 0..5: x[i+p,j+q]) where i in 0..20, j in 0..70",
                 "x 22 76", WALKS, true, true);
    same("y[b,i,j] = max(p in 0..4, q in 0..3: x[b,i+p,j+q])", "x 3 18 42", WALKS);
    same("y[b,j,i] = max(p in 0..4, q in 0..3: x[i+p,j+q,b])", "x 18 42 5", WALKS);
}

static void lines(void **state) {
    (void)state;
    same("y[i] = sum(k in 0..40: x[i+k])", "x 1027", WALKS);
    same("in x: f64[n,m]\ny[i,j] = sum(k in 0..33: x[i+k,j])", "x 70 41", WALKS);
    same("y[i,j] = sum(k in 0..7: x[i,j-k+6]) where j in 0..90", "x 11 96", WALKS);
    same("in x: u8[n,m]\ny[i,j] = sum(k in 0..20: x[2*i+k,j]) where i in 0..15", "x 50 70", WALKS);
    same("y[i,j] = sum(k in 0..20: x[i-k+19,2*j]) where i in 0..40, j in 0..30", "x 60 64", WALKS);
    same("y[i,j] = max(k in 0..64: x[i,j] - x[i,j+k] * i) where j in 0..80", "x 10 144", WALKS);
}

static void edges(void **state) {
    (void)state;
    static const char *const modes[] = {"clamp", "wrap", "mirror", "symmetric", "fill(2)"};
    char program[128];
    for (size_t k = 0; k < ARRAY_LEN(modes); k++) {
        snprintf(program, sizeof program, "edge x %s\ny[i,j] = sum(p in 0..5, q in 0..5: x[i+p-2,j+q-3])", modes[k]);
        same_checked(program, "x 37 65", WALKS, k % 2 == 0, true);
    }
    same("edge x clamp\ny[i,j] = sum(p in 0..5, q in 0..5: x[i+p-2,j+q-2]) * x[i,j]", "x 30 64", WALKS);
    same("edge x clamp\ny[i] = min(p in 0..30: x[i+p-15])", "x 300", WALKS);
}

static void nested(void **state) {
    (void)state;
    static const char variance[] = "y[i,j] = sum(p in 0..5, q in 0..5: (x[i+p,j+q] - sum(a in 0..5, b in 0..5: "
                                   "x[i+a,j+b]) / 25)**2) / 25";
    same_checked(variance, "x 40 68", WALKS, true, true);
    same(variance, "x 40 67", WALKS);
    same("y[i,j] = max(p in 0..3, q in 0..3: x[i+p,j+q]) - min(p in 0..3, q in 0..3: x[i+p,j+q])", "x 33 70", WALKS);
    same("y[i,j] = sum(p in 0..3, q in 0..3: max(x[i+p,j+q], x[i+1,j+1] * w[j])) where j in 0..68", "x 33 70, w 70",
         WALKS);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(planes), cmocka_unit_test(lines), cmocka_unit_test(edges),
                                       cmocka_unit_test(nested)};
    return cmocka_run_group_tests(tests, NULL, close_kept);
}
