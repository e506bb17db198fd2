/* Packs factors into panels, multiplies packed panels, and multiplies matrices by vectors. Floats keep all sums of a
 * panel in registers; integers add four terms at a time. */
#include "device/cpu/kernels/kernels.h"
#include "device/cpu/kernels/products.h"
#include "device/cpu/kernels/vectors.h"

/* ROWS: rows of a panel's sums, of two vectors each; as many as there are registers for. BLOCK_BYTES: size of the right
 * panels that the second-level cache keeps. */
#if LE_SIMD == 2
#define ROWS        14
#define BLOCK_BYTES 1048576
#elif LE_SIMD == 1
#define ROWS        6
#define BLOCK_BYTES 196608
#else
#define ROWS        4
#define BLOCK_BYTES 196608
#endif

/* ---- packing */

#define SHUFFLE2(a, b, ...)   __builtin_shufflevector(a, b, __VA_ARGS__)
#define SHUFFLE(a, b, places) SHUFFLE2(a, b, places)
#define LOW_2                 0, 2
#define HIGH_2                1, 3
#define LOW_4                 0, 4, 1, 5
#define HIGH_4                2, 6, 3, 7
#define LOW_8                 0, 8, 1, 9, 2, 10, 3, 11
#define HIGH_8                4, 12, 5, 13, 6, 14, 7, 15
#define LOW_16                0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define HIGH_16               8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#if LE_SIMD == 2
#define LOW_32  LOW_16
#define HIGH_32 HIGH_16
#define LOW_64  LOW_8
#define HIGH_64 HIGH_8
#elif LE_SIMD == 1
#define LOW_32  LOW_8
#define HIGH_32 HIGH_8
#define LOW_64  LOW_4
#define HIGH_64 HIGH_4
#else
#define LOW_32  LOW_4
#define HIGH_32 HIGH_4
#define LOW_64  LOW_2
#define HIGH_64 HIGH_2
#endif

static bool is_run(const int64_t *offsets, int64_t count) {
    int64_t apart = 0;
    for (int64_t k = 0; k < count; k++)
        apart |= offsets[k] ^ (offsets[0] + k);
    return apart == 0;
}

#define AHEAD 8 /* number of terms to prefetch ahead */

#define T       uint8_t
#define F(name) name##_8
#include "device/cpu/kernels/panels.inc"
#define T       uint16_t
#define F(name) name##_16
#include "device/cpu/kernels/panels.inc"
#define T       uint32_t
#define F(name) name##_32
#define ROW     vector_f32
#define LOW     LOW_32
#define HIGH    HIGH_32
#include "device/cpu/kernels/panels.inc"
#define T       uint64_t
#define F(name) name##_64
#define ROW     vector_f64
#define LOW     LOW_64
#define HIGH    HIGH_64
#include "device/cpu/kernels/panels.inc"

/* ---- products of integers */

/* F: the factors' type; U: an unsigned type that wraps and is not promoted to a signed one; S: the sums' type,
 * unsigned. */
#define WHOLE_ROWS    4
#define WHOLE_COLUMNS 32
#define WHOLE_PANEL(name, F, U, S)                                                                                     \
    static inline S name##_of(F a, F b) {                                                                              \
        const U x = (U)a, y = (U)b, product = x * y;                                                                   \
        const F narrow = (F)product;                                                                                   \
        return (S)narrow;                                                                                              \
    }                                                                                                                  \
    static void name(int64_t terms, const void *left, const void *right, void *sums, int64_t stride, bool add) {       \
        const F *a = left, *b = right;                                                                                 \
        int64_t k = 0;                                                                                                 \
        for (int i = 0; i < WHOLE_ROWS && !add; i++)                                                                   \
            memset((S *)sums + i * stride, 0, WHOLE_COLUMNS * sizeof(S));                                              \
        for (; k + 4 <= terms; k += 4, a += 4 * WHOLE_ROWS, b += 4 * WHOLE_COLUMNS)                                    \
            for (int i = 0; i < WHOLE_ROWS; i++) {                                                                     \
                const F x = a[i], y = a[i + WHOLE_ROWS], z = a[i + 2 * WHOLE_ROWS], w = a[i + 3 * WHOLE_ROWS];         \
                S *c = (S *)sums + i * stride;                                                                         \
                LANES for (int j = 0; j < WHOLE_COLUMNS; j++) c[j] +=                                                  \
                    name##_of(x, b[j]) + name##_of(y, b[j + WHOLE_COLUMNS]) + name##_of(z, b[j + 2 * WHOLE_COLUMNS]) + \
                    name##_of(w, b[j + 3 * WHOLE_COLUMNS]);                                                            \
            }                                                                                                          \
        for (; k < terms; k++, a += WHOLE_ROWS, b += WHOLE_COLUMNS)                                                    \
            for (int i = 0; i < WHOLE_ROWS; i++) {                                                                     \
                S *c = (S *)sums + i * stride;                                                                         \
                LANES for (int j = 0; j < WHOLE_COLUMNS; j++) c[j] += name##_of(a[i], b[j]);                           \
            }                                                                                                          \
    }
WHOLE_PANEL(panel_i8, le_i8, uint32_t, le_u64)
WHOLE_PANEL(panel_i16, le_i16, uint32_t, le_u64)
WHOLE_PANEL(panel_i32, le_i32, uint32_t, le_u64)
WHOLE_PANEL(panel_i64, le_i64, uint64_t, le_u64)
WHOLE_PANEL(panel_u8, le_u8, uint32_t, le_u64)
WHOLE_PANEL(panel_u16, le_u16, uint32_t, le_u64)
WHOLE_PANEL(panel_u32, le_u32, uint32_t, le_u64)

/* ---- products of floats */

/* The first n elements of a vector; the others are 0. */
#if LE_SIMD == 2
static inline vector_f32 some_f32(const float *at, int64_t n) {
    return (vector_f32)_mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), at);
}
static inline vector_f64 some_f64(const double *at, int64_t n) {
    return (vector_f64)_mm512_maskz_loadu_pd((__mmask8)((1u << n) - 1), at);
}
#elif LE_SIMD == 1
static inline vector_f32 some_f32(const float *at, int64_t n) {
    static const int32_t mask[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
    return (vector_f32)_mm256_maskload_ps(at, _mm256_loadu_si256((const void *)(mask + 8 - n)));
}
static inline vector_f64 some_f64(const double *at, int64_t n) {
    static const int64_t mask[8] = {-1, -1, -1, -1};
    return (vector_f64)_mm256_maskload_pd(at, _mm256_loadu_si256((const void *)(mask + 4 - n)));
}
#else
static inline vector_f32 some_f32(const float *at, int64_t n) {
    vector_f32 some = {0};
    memcpy(&some, at, (size_t)n * sizeof *at);
    return some;
}
static inline vector_f64 some_f64(const double *at, int64_t n) {
    vector_f64 some = {0};
    memcpy(&some, at, (size_t)n * sizeof *at);
    return some;
}
#endif

/* The sum of all lanes: adds to each lane the lane half the width away, then a quarter, and so on. */
#define TURNED_2(v, by) SHUFFLE2(v, v, (by) % 2, (1 + (by)) % 2)
#define TURNED_4(v, by) SHUFFLE2(v, v, (by) % 4, (1 + (by)) % 4, (2 + (by)) % 4, (3 + (by)) % 4)
#define TURNED_8(v, by)                                                                                                \
    SHUFFLE2(v, v, (by) % 8, (1 + (by)) % 8, (2 + (by)) % 8, (3 + (by)) % 8, (4 + (by)) % 8, (5 + (by)) % 8,           \
             (6 + (by)) % 8, (7 + (by)) % 8)
#define TURNED_16(v, by)                                                                                               \
    SHUFFLE2(v, v, (by) % 16, (1 + (by)) % 16, (2 + (by)) % 16, (3 + (by)) % 16, (4 + (by)) % 16, (5 + (by)) % 16,     \
             (6 + (by)) % 16, (7 + (by)) % 16, (8 + (by)) % 16, (9 + (by)) % 16, (10 + (by)) % 16, (11 + (by)) % 16,   \
             (12 + (by)) % 16, (13 + (by)) % 16, (14 + (by)) % 16, (15 + (by)) % 16)
#define FOLD_2(turned) v += turned(v, 1);
#define FOLD_4(turned)                                                                                                 \
    v += turned(v, 2);                                                                                                 \
    FOLD_2(turned)
#define FOLD_8(turned)                                                                                                 \
    v += turned(v, 4);                                                                                                 \
    FOLD_4(turned)
#define FOLD_16(turned)                                                                                                \
    v += turned(v, 8);                                                                                                 \
    FOLD_8(turned)
#if LE_SIMD == 2
#define FOLD_F32 FOLD_16(TURNED_16)
#define FOLD_F64 FOLD_8(TURNED_8)
#elif LE_SIMD == 1
#define FOLD_F32 FOLD_8(TURNED_8)
#define FOLD_F64 FOLD_4(TURNED_4)
#else
#define FOLD_F32 FOLD_4(TURNED_4)
#define FOLD_F64 FOLD_2(TURNED_2)
#endif
static inline float fold_f32(vector_f32 v) {
    FOLD_F32
    return v[0];
}
static inline double fold_f64(vector_f64 v) {
    FOLD_F64
    return v[0];
}

#define DOT_VECTORS (LE_DOT_BYTES / VECTOR_BYTES)
#define DOT_ROWS    (8 / DOT_VECTORS) /* rows at once, so that additions do not wait for each other */
static inline int64_t clamp(int64_t x, int64_t most) {
    return x < 0 ? 0 : x > most ? most : x;
}

#define TERMS_AT_ONCE 8

#define T              float
#define V              vector_f32
#define F(name)        name##_f32
#define SPLAT(x)       SPLAT_F32(x)
#define ADDED(a, b, c) ADDED_F32(a, b, c)
#include "device/cpu/kernels/products.inc"
#define T              double
#define V              vector_f64
#define F(name)        name##_f64
#define SPLAT(x)       SPLAT_F64(x)
#define ADDED(a, b, c) ADDED_F64(a, b, c)
#include "device/cpu/kernels/products.inc"

/* ---- selection by type */

static le_panel_pack *pack_of(size_t size) {
    return size == 1 ? pack_8 : size == 2 ? pack_16 : size == 4 ? pack_32 : pack_64;
}

bool LE_SET(le_panels_find)(enum le_type factors, enum le_type sums, struct le_products *out) {
    static const struct {
        enum le_type factors;
        le_panel_product *run;
    } whole[] = {{LE_I8, panel_i8}, {LE_I16, panel_i16}, {LE_I32, panel_i32}, {LE_I64, panel_i64},
                 {LE_U8, panel_u8}, {LE_U16, panel_u16}, {LE_U32, panel_u32}, {LE_U64, panel_i64}};
    const int64_t size = (int64_t)le_type_size(factors);
    *out = (struct le_products){
        .rows = WHOLE_ROWS, .columns = WHOLE_COLUMNS, .pack = pack_of((size_t)size), .terms = LE_PANEL_BYTES / size};
    if (factors == sums && (factors == LE_F32 || factors == LE_F64)) {
        out->rows = ROWS;
        out->columns = (int)(2 * VECTOR_BYTES / size);
        out->run = factors == LE_F32 ? panel_f32 : panel_f64;
        out->by_rows = factors == LE_F32 ? by_rows_f32 : by_rows_f64;
        out->by_columns = factors == LE_F32 ? by_columns_f32 : by_columns_f64;
    }
    for (size_t k = 0; k < sizeof whole / sizeof *whole && !out->run && (sums == LE_I64 || sums == LE_U64); k++)
        if (whole[k].factors == factors)
            out->run = whole[k].run;
    out->block = BLOCK_BYTES / LE_PANEL_BYTES / out->columns * out->columns;
    return out->run != NULL;
}
