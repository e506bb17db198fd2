/* Maps at the speed of memory: the bytes equal the CPU's for all extents, strides, alignments and types. The tests also
 * check how the kernel works. */
#include "gen/device_kernel_testing.h"

#define VECTORS "a thread for vectors of elements"
#define SOME    "a thread for some elements"
#define ONE     "a thread for each element"
#define ROWS    "a thread for some rows and columns"
#define TILES   "tiles through shared memory"
#define WIDE    "tiles of vectors through shared memory"

static const int extents[] = {2, 3, 4, 5, 31, 32, 33, 255, 1023, 1024, 1025, 4096, 5001};

static void one_axis(void **state) {
    (void)state;
    char arrays[64];
    for (size_t k = 0; k < ARRAY_LEN(extents); k++) {
        snprintf(arrays, sizeof arrays, "x %d", extents[k]);
        same("y[i] = x[i]+x[i]+x[i]", arrays, VECTORS);
        same_checked("y[i] = x[i]+x[i]+x[i]", arrays, SOME, false, false);
    }
    same("y[i] = x[i] - 1", "x 1", "one thread");
    also("y[i] = x[i+1] - x[i] where i in 0..1026", "x 1027", VECTORS);
    also("y[i] = x[i+3] + z[i+3] where i in 0..1000", "x 1027, z 1027", VECTORS);
    same("out y: f32[1027]\ny[i] = x[i+1] - x[i-1] where i in 1..1026", "x 1027", VECTORS);
    same("y[i] = x[len(x,0)-1-i] + x[i]", "x 1027", VECTORS);
    same("y[i] = x[2*i] where i in 0..1013", "x 2027", VECTORS);
    also("y[i] = x[i] * i", "x 2027", VECTORS);
    same("y[i] = sqrt(abs(x[i])) / (1 + x[i] / (x[i] - 3))", "x 2027", VECTORS);
}

static void strides(void **state) {
    (void)state;
    same("y[i] = x[i] + z[i]", "x 1027 by 2, z 1027", VECTORS);
    also("y[i] = x[i] + z[i]", "x 1027 by -1, z 1027", VECTORS);
    same("y[i] = x[i] + z[i]", "x 1027 by 0, z 1027", VECTORS);
    same("y[i,j] = x[i,j] * 3", "x 37 64 by 80 1", VECTORS);
    same("y[i,j] = x[i,j] * 3", "x 37 63 by 80 1", SOME);
    also("y[i,j] = x[i,j] * 3", "x 37 64 by 81 1", VECTORS);
    also("y[i,j] = x[i,j] * 3", "x 37 64 by -64 1", VECTORS);
    same("y[i,j] = x[i,j] * 3", "x 37 64 by -64 -1", VECTORS);
    also("y[i,j] = x[j,i] * 3", "x 37 64 by 1 37", VECTORS);
}

static void several_axes(void **state) {
    (void)state;
    same("y[t,i,j] = m[i,j] * d[t,i,j]", "m 41 6, d 7 41 6", VECTORS);
    also("y[t,i,j] = m[i,j] * d[t,i,j]", "m 41 8, d 7 41 8", VECTORS);
    same("y[t,i,j] = m[i,j] * d[t,i,j]", "m 41 5, d 7 41 5", SOME);
    also("y[t,k] = m[k] * d[t,k]", "m 205, d 7 205", SOME);
    also("in m: f32[a,b]\nin d: f32[t,a,b]\ny[...,j] = m[...,j] * d[...,j]", "m 41 5, d 7 41 5", SOME);
    same("y[t,i,j] = d[t,i,j] + d[t,i,j]", "d 7 41 5", VECTORS);
    also("y[t,i,j] = d[t,i,j] * b[j]", "d 7 41 5, b 5", SOME);
    same("y[t,i,j] = d[t,i,j] * b[i]", "d 7 41 8, b 41", VECTORS);
    also("y[t,i,j] = d[t,i,j] * b[t]", "d 7 41 8, b 7", VECTORS);
    also("y[t,i,j] = d[t,i,j] * t + i", "d 7 41 8", VECTORS);
    also("y[i,j] = a[i] * b[j]", "a 3, b 1000", VECTORS);
    same("y[a,b,c,d] = x[a,b,c,d] - z[b,d]", "x 3 4 5 8, z 4 8", VECTORS);
    also("y[i,j] = x[i,j]", "x 1 1000", VECTORS);
    same("y[i,j] = x[i,j]", "x 1000 1", VECTORS);
}

static void transposed(void **state) {
    (void)state;
    static const int sides[][2] = {{9, 9},  {31, 33}, {32, 32}, {64, 96}, {100, 37},
                                   {33, 8}, {5, 500}, {5, 300}, {8, 33}};
    char arrays[64];
    for (size_t k = 0; k < ARRAY_LEN(sides); k++) {
        int rows = sides[k][0], columns = sides[k][1];
        snprintf(arrays, sizeof arrays, "a %d %d, b %d %d", rows, columns, columns, rows);
        same("y[i,j] = a[i,j] + b[j,i]", arrays, TILES);
    }
    also("y[i,j] = a[i,j] + b[j,i]", "a 500 5, b 5 500", SOME);
    same("y[i,j] = a[i,j] + b[j,i] * c[j,i]", "a 50 60, b 60 50, c 60 50 by 51 1", TILES);
    also("y[i,j] = a[i,j] + a[j,i]", "a 70 70", TILES);
    also("y[j,t,i] = m[j,i] * d[j,t,i]", "m 5 400 by 1 5, d 5 7 400 by 1 2000 5", TILES);
    same("y[k,i,j] = b[k,j,i] + a[i]", "b 3 50 40, a 40", TILES);
    also("in b: u8[n,m]\nin a: f64[m,n]\ny[i,j] = a[i,j] + b[j,i]", "a 50 60, b 60 50", TILES);
}

/* A short axis that lies between the elements of the inner one, and reads of a last axis: vectors of all that lies
 * between. */
static void short_axes(void **state) {
    (void)state;
    same("in x: u8[u,v,w]\ny[c,i,j] = x[i,j,c]", "x 9 64 3", ROWS);
    same_checked("in x: u8[u,v,w]\ny[c,i,j] = x[i,j,c]", "x 5 67 3", ROWS, true, true);
    also("in x: f16[u,v,w]\ny[a,c,i] = x[a,i,c]", "x 5 1000 4", ROWS);
    same("y[i,j] = a[i,j] + b[j,i]", "a 2 500, b 500 2", ROWS);
    same("in x: u8[u,v,w]\ny[i,j] = i32(x[i,j,0]) * 3 + i32(x[i,j,2])", "x 9 64 3", VECTORS);
    also("y[i,j] = x[i,j,0] - x[i,j,1]", "x 9 61 3", VECTORS);
    same_checked("y[i] = x[3*i] * x[3*i+2] where i in 0..1000", "x 3000", SOME, false, true);
    same("y[i] = x[2*i+1] - x[2*i] where i in 0..700", "x 1401", VECTORS);
}

/* Of enough elements for all multiprocessors, if rows can be read as vectors. */
static void transposed_wide(void **state) {
    (void)state;
    static const int sides[][2] = {{192, 192}, {64, 512}, {516, 64}, {260, 132}, {132, 260}, {196, 324}};
    char arrays[64];
    for (size_t k = 0; k < ARRAY_LEN(sides); k++) {
        int rows = sides[k][0], columns = sides[k][1];
        snprintf(arrays, sizeof arrays, "a %d %d, b %d %d", rows, columns, columns, rows);
        same("y[i,j] = a[i,j] + b[j,i]", arrays, WIDE);
        snprintf(arrays, sizeof arrays, "b %d %d", columns, rows);
        same("y[i,j] = b[j,i] * 3", arrays, WIDE);
    }
    same("y[i,j] = a[i,j] + b[j,i]", "a 128 192, b 192 128", TILES);          /* too few */
    same("y[i,j] = a[i,j] + b[j,i]", "a 60 1000, b 1000 60", TILES);          /* too low */
    same("y[i,j] = a[i,j] + b[j,i]", "a 202 260, b 260 202", TILES);          /* rows that no vectors fill */
    same("y[i,j] = a[i,j] + b[j,i]", "a 260 202, b 202 260", TILES);          /* the target's */
    also("y[i,j] = a[i,j] + b[j,i]", "a 260 200, b 200 260 by 261 1", TILES); /* rows that begin anywhere */
    also("y[i,j] = a[i,j] + b[j,i]", "a 260 200, b 200 260 by 1000 1", WIDE);
    also("y[i,j] = a[i,j] + b[j,i+1] where i in 0..260", "a 260 200, b 200 264", TILES);
    also("y[i,j] = a[i,j] + b[j,i+4] where i in 0..260", "a 260 200, b 200 264", WIDE);
    same("y[i,j] = a[i,j] + a[i,j+1] + b[j,i] where j in 0..200", "a 260 204, b 200 260", WIDE);
    same("y[i,j] = a[i] * c[j] - b[j,i] * 2", "a 260, c 200, b 200 260", WIDE);
    same("y[k,i,j] = b[k,j,i] + a[i]", "b 3 140 132, a 132", WIDE);
    same("y[i,j] = b[j,i] - c[j,i]", "b 200 260, c 200 260", WIDE);
    same("y[i,j] = a[i,j] + a[j,i]", "a 196 196", WIDE);
    also("y[i,j] = a[i,j] + b[j,i]", "a 260 200, b 200 260 by -260 1", WIDE);
    also("y[k,i,j] = b[2*k,j,i] + a[i] where k in 0..2", "b 4 200 260, a 260", WIDE);
    also("out y: f32[260,200]\ny[i,j] = b[j,i] where i in 4..260", "b 200 260", WIDE);
    also("out y: f32[260,200]\ny[i,j] = b[j,i] where i in 2..258", "b 200 260", TILES);
    also("out y: f32[260,200]\ny[i,j] = b[j,i] where j in 2..200", "b 200 260", TILES);
    same("y[i,j] = b[j,i] - c[j,i] + d[j,i]", "b 200 260, c 200 260, d 200 260", TILES); /* too large */
    same("y[i,j] = sqrt(a[i,j] / b[j,i]) / sqrt(b[j,i]) * rsqrt(a[i,j])", "a 260 200, b 200 260", TILES); /* too dear */
    same("in b: u8[n,m]\nin a: u8[m,n]\ny[i,j] = a[i,j] + b[j,i]", "a 272 192, b 192 272", WIDE);
    same("in b: f16[n,m]\nin a: f16[m,n]\ny[i,j] = a[i,j] + b[j,i]", "a 264 200, b 200 264", WIDE);
    same("in b: u8[n,m]\ny[i,j] = a[i,j] + b[j,i]", "a 260 200, b 200 260", WIDE);
    same("in a: u8[n,m]\ny[i,j] = a[i,j] + b[j,i]", "a 260 200, b 200 260", WIDE);
    same("in b: f64[n,m]\nin a: f64[m,n]\ny[i,j] = a[i,j] + b[j,i]", "a 260 200, b 200 260", TILES);
    same_checked("y[i,j] = a[i,j] + b[j,i]", "a 260 200, b 200 260", TILES, false, false);
    same_checked("y[i,j] = a[i,j] + b[j,i]", "a 196 324, b 324 196", WIDE, true, true);
}

static void stencils(void **state) {
    (void)state;
    static const char star[] = "y[i,j] = (a[i,j] + a[i-1,j] + a[i+1,j] + a[i,j-1] + a[i,j+1]) / 5 else 0";
    static const char inside[] =
        "in a: f32[n,m]\nout y: f32[len(a,0),len(a,1)]\ny[i,j] = a[i,j] - a[i-1,j] * a[i+1,j+2] + a[i,j-1] "
        "where i in 1..len(a,0)-1, j in 1..len(a,1)-2";
    same(star, "a 37 64", ROWS);
    same(star, "a 32 33", ROWS);
    same(star, "a 70 131 by 140 1", ROWS);
    same(inside, "a 37 64, y 37 64", ROWS);
    same(inside, "a 66 261, y 66 261", ROWS);
    same(inside, "a 37 260 by 300 1, y 37 260", ROWS);
    same_checked(inside, "a 37 64, y 37 64", ROWS, true, true);
    same_checked(inside, "a 37 64, y 37 64", ROWS, false, false);
    same("edge a wrap\ny[i,j] = a[i,j] - a[i-1,j] + a[i,j+1]", "a 37 64", ROWS);
}

static void all_types(void **state) {
    (void)state;
    static const char *const types[] = {"f32", "f64", "f16", "bf16", "i8",  "i16",
                                        "i32", "i64", "u8",  "u16",  "u32", "u64"};
    char program[128];
    for (size_t t = 0; t < ARRAY_LEN(types); t++) {
        snprintf(program, sizeof program, "in x: %s[n]\ny[i] = x[i] + x[i]", types[t]);
        same(program, "x 5003", VECTORS);
        snprintf(program, sizeof program, "in x: %s[n]\ny[i] = x[i+1] * z[i] where i in 0..5002", types[t]);
        if (t % 3 == 0)
            same(program, "x 5003, z 5003", VECTORS);
        else
            also(program, "x 5003, z 5003", VECTORS);
    }
    same("in x: bool[n]\ny[i] = x[i] && x[len(x,0)-1-i]", "x 5003", VECTORS);
    also("y[i] = x[i] > 0", "x 5003", VECTORS);
    also("in x: f64[n]\nin z: u8[n]\ny[i] = x[i] + z[i]", "x 5003, z 5003", VECTORS);
    also("in x: i32[n]\ny[i] = x[i] // (x[i] % 3)", "x 5003", VECTORS);
    same("in x: i32[n]\ny[i] = z[abs(x[i]) % 100]", "x 5003, z 100", VECTORS);
}

/* Divisions and roots without a branch, and the exact ones for what is not usual: zeros, what is far too small or
 * large, negative numbers under a root. */
static void dear(void **state) {
    (void)state;
#define FAR "def f(a, b) = sqrt(a / b) / (b - sqrt(b)) + a * rsqrt(b)\n"
#define ALL "f(x[i], z[i]) + f(z[i], x[i]) - f(x[i] * x[i], 3) * f(z[i] * z[i], x[i] * x[i])"
    same(FAR "y[i] = " ALL, "x 4099, z 4099", VECTORS);
    same(FAR "y[i] = " ALL, "x 4096 by 2, z 4096", VECTORS);
    same_checked(FAR "y[i] = " ALL, "x 4099, z 4099", ONE, false, false);
    same("in x: f64[n]\n" FAR "y[i] = " ALL, "x 4099, z 4099", VECTORS);
    same(FAR "y[i] = f(x[i], 1e-36) - f(1e-37, x[i]) + f(x[i] * 1e38, 1e-3) - f(1e-3 * x[i], 1e38 * x[i])", "x 4099",
         VECTORS);
    same(FAR "y[i] = " ALL " + i", "x 300001, z 300001", VECTORS);
    also("out y: f32[1003]\n" FAR "y[i+1] = " ALL " where i in 0..1001", "x 1001, z 1001", ONE);
}

static void with_checks(void **state) {
    (void)state;
    same_checked("y[i] = x[i] + z[i//2]", "x 1027, z 514", VECTORS, true, true);
    same_checked("edge a wrap\ny[i,j] = a[i,j] - a[i-1,j] + a[i,j+1]", "a 37 63", ROWS, true, true);
    same_checked("y[i] = x[i] + z[i+1] where i in 0..1027", "x 1027, z 1028", VECTORS, true, true);
    same_checked("y[i,j] = a[i,j] + b[j,i]", "a 33 40, b 40 33", TILES, true, true);
    same_checked("y[i,j] = a[i,j] + b[j,i]", "a 5 40, b 40 5", TILES, true, true);
    same_checked("y[t,i,j] = m[i,j] * d[t,i,j]", "m 41 5, d 3 41 5", SOME, true, true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_axis),   cmocka_unit_test(strides),         cmocka_unit_test(several_axes),
        cmocka_unit_test(transposed), cmocka_unit_test(transposed_wide), cmocka_unit_test(short_axes),
        cmocka_unit_test(stencils),   cmocka_unit_test(all_types),       cmocka_unit_test(dear),
        cmocka_unit_test(with_checks)};
    return cmocka_run_group_tests(tests, NULL, close_kept);
}
