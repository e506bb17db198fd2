/* Sums with reuse over the lanes, in the order that all devices follow (rule 3b of NUMERICS):
 *
 *     chunk: acc = -0.0; for each of LE_CHAIN_TERMS consecutive terms: acc = acc + x, or acc = a * b + acc in one
 *            multiply-add if the term is a product
 *     unit:  s = -0.0; for each of LE_CHAIN_CHUNKS consecutive chunks: s = s + chunk
 *
 * and the tree of kernels_sums.c joins the totals of units. Terms arrive in pieces of any length. A piece first
 * continues the open chunk; then as many chunks as a vector has elements are added side by side, each in an element of
 * its own: their terms are transposed on the way from memory (chains.inc). */
#include "device/cpu/machine/accumulator.h"
#include "device/cpu/kernels/vectors.h"

enum { UNIT_TERMS = LE_CHAIN_TERMS * LE_CHAIN_CHUNKS };

#define SHUFFLE2(a, b, ...)   __builtin_shufflevector(a, b, __VA_ARGS__)
#define SHUFFLE(a, b, places) SHUFFLE2(a, b, places)

/* Interleaves the low and high halves of each 16 bytes of two vectors, element by element or pair by pair. */
#define LOW_F32_4        0, 4, 1, 5
#define HIGH_F32_4       2, 6, 3, 7
#define LOW_PAIRS_4      0, 1, 4, 5
#define HIGH_PAIRS_4     2, 3, 6, 7
#define LOW_F32_8        0, 8, 1, 9, 4, 12, 5, 13
#define HIGH_F32_8       2, 10, 3, 11, 6, 14, 7, 15
#define LOW_PAIRS_8      0, 1, 8, 9, 4, 5, 12, 13
#define HIGH_PAIRS_8     2, 3, 10, 11, 6, 7, 14, 15
#define LOW_F32_16       0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29
#define HIGH_F32_16      2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31
#define LOW_PAIRS_16     0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29
#define HIGH_PAIRS_16    2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31
#define LOW_F64_2        0, 2
#define HIGH_F64_2       1, 3
#define LOW_F64_4        0, 4, 2, 6
#define HIGH_F64_4       1, 5, 3, 7
#define LOW_F64_8        0, 8, 2, 10, 4, 12, 6, 14
#define HIGH_F64_8       1, 9, 3, 11, 5, 13, 7, 15
#define PLACES2(name, n) name##_##n
#define PLACES(name, n)  PLACES2(name, n)

#if LE_SIMD == 2
#define WIDTH_F32 16
#define WIDTH_F64 8
#elif LE_SIMD == 1
#define WIDTH_F32 8
#define WIDTH_F64 4
#else
#define WIDTH_F32 4
#define WIDTH_F64 2
#endif
enum { HALVES = VECTOR_BYTES / 16 };

/* A vector of 16 bytes each from HALVES places, `apart_bytes` apart. */
#if LE_SIMD == 2
static inline __m512 gathered(const char *at, int64_t apart_bytes) {
    __m512 v = _mm512_castps128_ps512(_mm_loadu_ps((const float *)at));
    v = _mm512_insertf32x4(v, _mm_loadu_ps((const float *)(at + apart_bytes)), 1);
    v = _mm512_insertf32x4(v, _mm_loadu_ps((const float *)(at + 2 * apart_bytes)), 2);
    return _mm512_insertf32x4(v, _mm_loadu_ps((const float *)(at + 3 * apart_bytes)), 3);
}
#elif LE_SIMD == 1
static inline __m256 gathered(const char *at, int64_t apart_bytes) {
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps((const float *)at)),
                                _mm_loadu_ps((const float *)(at + apart_bytes)), 1);
}
#else
static inline vector_f32 gathered(const char *at, int64_t apart_bytes) {
    vector_f32 v;
    (void)apart_bytes;
    memcpy(&v, at, sizeof v);
    return v;
}
#endif

#define T               le_f32
#define V               vector_f32
#define FIELD           f32
#define WIDTH           WIDTH_F32
#define ADDED           ADDED_F32
#define ADDED_ONE       ADDED_ONE_F32
#define F(name)         name##_f32
#define SQUARE_OF_PAIRS 1
#include "device/cpu/kernels/chains.inc"

#define T               le_f64
#define V               vector_f64
#define FIELD           f64
#define WIDTH           WIDTH_F64
#define ADDED           ADDED_F64
#define ADDED_ONE       ADDED_ONE_F64
#define F(name)         name##_f64
#define SQUARE_OF_PAIRS 0
#include "device/cpu/kernels/chains.inc"

KERNEL(init) {
    struct le_acc *acc = reg[instr->d];
    (void)n;
    acc->count = 0;
}

KERNEL(rows_init) {
    struct le_rows *rows = reg[instr->d];
    (void)n;
    rows->row = rows->taken = rows->acc.count = 0;
}

le_cpu_op *LE_SET(le_chains_find)(const struct le_instr *instr) {
    static le_cpu_op *const accs[2][3] = {{init, add_f32, end_f32}, {init, add_f64, end_f64}};
    static le_cpu_op *const rows[2][3] = {{rows_init, rows_add_f32, rows_end_f32},
                                          {rows_init, rows_add_f64, rows_end_f64}};
    if (instr->code < LE_CODE_ACC_INIT || instr->code > LE_CODE_ROWS_END ||
        (instr->type != LE_F32 && instr->type != LE_F64) ||
        (instr->imm != LE_RED_CHAIN && instr->imm != LE_RED_CHAIN_OF_PRODUCTS))
        return NULL;
    if (instr->code <= LE_CODE_ACC_END)
        return accs[instr->type == LE_F64][instr->code - LE_CODE_ACC_INIT];
    return instr->code >= LE_CODE_ROWS_INIT ? rows[instr->type == LE_F64][instr->code - LE_CODE_ROWS_INIT] : NULL;
}
