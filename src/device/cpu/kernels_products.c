/* Products of packed panels. Floats keep all sums of a panel in registers; integers add four terms at a time. */
#include "device/cpu/kernels.h"
#include "device/cpu/products.h"
#if LE_SIMD > 0
#include <immintrin.h>
#endif

typedef float vector_f32 __attribute__((vector_size(VECTOR_BYTES)));
typedef double vector_f64 __attribute__((vector_size(VECTOR_BYTES)));

#if LE_SIMD == 2
#define ROWS               12
#define SPLAT_F32(x)       ((vector_f32)_mm512_set1_ps(x))
#define SPLAT_F64(x)       ((vector_f64)_mm512_set1_pd(x))
#define ADDED_F32(a, b, c) ((vector_f32)_mm512_fmadd_ps((__m512)(a), (__m512)(b), (__m512)(c)))
#define ADDED_F64(a, b, c) ((vector_f64)_mm512_fmadd_pd((__m512d)(a), (__m512d)(b), (__m512d)(c)))
#elif LE_SIMD == 1
#define ROWS               6
#define SPLAT_F32(x)       ((vector_f32)_mm256_set1_ps(x))
#define SPLAT_F64(x)       ((vector_f64)_mm256_set1_pd(x))
#define ADDED_F32(a, b, c) ((vector_f32)_mm256_fmadd_ps((__m256)(a), (__m256)(b), (__m256)(c)))
#define ADDED_F64(a, b, c) ((vector_f64)_mm256_fmadd_pd((__m256d)(a), (__m256d)(b), (__m256d)(c)))
#else
#define ROWS         4
#define SPLAT_F32(x) ((vector_f32){(x), (x), (x), (x)})
#define SPLAT_F64(x) ((vector_f64){(x), (x)})
#if LE_FUSED
static inline vector_f32 fused_f32(vector_f32 a, vector_f32 b, vector_f32 c) {
    for (int k = 0; k < 4; k++)
        c[k] = __builtin_fmaf(a[k], b[k], c[k]);
    return c;
}
static inline vector_f64 fused_f64(vector_f64 a, vector_f64 b, vector_f64 c) {
    for (int k = 0; k < 2; k++)
        c[k] = __builtin_fma(a[k], b[k], c[k]);
    return c;
}
#define ADDED_F32(a, b, c) fused_f32(a, b, c)
#define ADDED_F64(a, b, c) fused_f64(a, b, c)
#else
#define ADDED_F32(a, b, c) ((a) * (b) + (c))
#define ADDED_F64(a, b, c) ((a) * (b) + (c))
#endif
#endif

/* Two vectors of columns. */
#define FLOAT_PANEL(name, T, vector, SPLAT, ADDED)                                                                     \
    static void name(int64_t terms, const void *left, const void *right, void *sums) {                                 \
        const T *a = left, *b = right;                                                                                 \
        enum { WIDTH = VECTOR_BYTES / sizeof(T) };                                                                     \
        vector total[ROWS][2];                                                                                         \
        memcpy(total, sums, sizeof total);                                                                             \
        for (int64_t k = 0; k < terms; k++, a += ROWS, b += 2 * WIDTH) {                                               \
            vector b0, b1;                                                                                             \
            memcpy(&b0, b, sizeof b0);                                                                                 \
            memcpy(&b1, b + WIDTH, sizeof b1);                                                                         \
            _Pragma("GCC unroll 12") for (int i = 0; i < ROWS; i++) {                                                  \
                vector x = SPLAT(a[i]);                                                                                \
                total[i][0] = ADDED(x, b0, total[i][0]);                                                               \
                total[i][1] = ADDED(x, b1, total[i][1]);                                                               \
            }                                                                                                          \
        }                                                                                                              \
        memcpy(sums, total, sizeof total);                                                                             \
    }
FLOAT_PANEL(panel_f32, float, vector_f32, SPLAT_F32, ADDED_F32)
FLOAT_PANEL(panel_f64, double, vector_f64, SPLAT_F64, ADDED_F64)

/* F, U: the factors' type, and one that wraps and is not promoted to a signed one; S: the sums', unsigned. */
#define WHOLE_ROWS    4
#define WHOLE_COLUMNS 32
#define WHOLE_PANEL(name, F, U, S)                                                                                     \
    static inline S name##_of(F a, F b) {                                                                              \
        const U x = (U)a, y = (U)b, product = x * y;                                                                   \
        const F narrow = (F)product;                                                                                   \
        return (S)narrow;                                                                                              \
    }                                                                                                                  \
    static void name(int64_t terms, const void *left, const void *right, void *sums) {                                 \
        const F *a = left, *b = right;                                                                                 \
        int64_t k = 0;                                                                                                 \
        for (; k + 4 <= terms; k += 4, a += 4 * WHOLE_ROWS, b += 4 * WHOLE_COLUMNS)                                    \
            for (int i = 0; i < WHOLE_ROWS; i++) {                                                                     \
                const F x = a[i], y = a[i + WHOLE_ROWS], z = a[i + 2 * WHOLE_ROWS], w = a[i + 3 * WHOLE_ROWS];         \
                S *c = (S *)sums + i * WHOLE_COLUMNS;                                                                  \
                LANES for (int j = 0; j < WHOLE_COLUMNS; j++) c[j] +=                                                  \
                    name##_of(x, b[j]) + name##_of(y, b[j + WHOLE_COLUMNS]) + name##_of(z, b[j + 2 * WHOLE_COLUMNS]) + \
                    name##_of(w, b[j + 3 * WHOLE_COLUMNS]);                                                            \
            }                                                                                                          \
        for (; k < terms; k++, a += WHOLE_ROWS, b += WHOLE_COLUMNS)                                                    \
            for (int i = 0; i < WHOLE_ROWS; i++) {                                                                     \
                S *c = (S *)sums + i * WHOLE_COLUMNS;                                                                  \
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

bool LE_SET(le_panels_find)(enum le_type factors, enum le_type sums, struct le_products *out) {
    static const struct {
        enum le_type factors;
        le_panel_product *run;
    } whole[] = {{LE_I8, panel_i8}, {LE_I16, panel_i16}, {LE_I32, panel_i32}, {LE_I64, panel_i64},
                 {LE_U8, panel_u8}, {LE_U16, panel_u16}, {LE_U32, panel_u32}, {LE_U64, panel_i64}};
    if (factors == sums && (factors == LE_F32 || factors == LE_F64)) {
        bool single = factors == LE_F32;
        *out = (struct le_products){
            .rows = ROWS, .columns = 2 * VECTOR_BYTES / (single ? 4 : 8), .run = single ? panel_f32 : panel_f64};
        return true;
    }
    for (size_t k = 0; k < sizeof whole / sizeof *whole && (sums == LE_I64 || sums == LE_U64); k++)
        if (whole[k].factors == factors) {
            *out = (struct le_products){.rows = WHOLE_ROWS, .columns = WHOLE_COLUMNS, .run = whole[k].run};
            return true;
        }
    return false;
}
