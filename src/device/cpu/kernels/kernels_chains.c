/* Sums with reuse over the lanes, in the order that all devices follow (rule 3b of NUMERICS):
 *
 *     chunk: acc = -0.0; for each of LE_CHAIN_TERMS consecutive terms: acc = acc + x, or acc = a * b + acc in one
 *            multiply-add if the term is a product
 *     unit:  s = -0.0; for each of LE_CHAIN_CHUNKS consecutive chunks: s = s + chunk
 *
 * and the tree of kernels_sums.c joins the totals of units. Terms arrive in pieces of any length. A piece first
 * continues the open chunk; then as many chunks as a vector has elements are added side by side, each in an element of
 * its own: their terms are transposed on the way from memory (chunks.inc). */
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
#define LOW_F64_2        0, 2
#define HIGH_F64_2       1, 3
#define LOW_F64_4        0, 4, 2, 6
#define HIGH_F64_4       1, 5, 3, 7
#define PLACES2(name, n) name##_##n
#define PLACES(name, n)  PLACES2(name, n)

/* Vectors of 16 bytes, and of 32 if there are such. Those of 64 gain nothing: the shuffles decide, and of shuffles of
 * 32 bytes two run at a time. */
typedef float narrow_f32 __attribute__((vector_size(16)));
typedef double narrow_f64 __attribute__((vector_size(16)));
static inline narrow_f32 narrow_gathered(const void *const *at) {
    narrow_f32 v;
    memcpy(&v, at[0], sizeof v);
    return v;
}
#if LE_SIMD > 0
typedef float wide_f32 __attribute__((vector_size(32)));
typedef double wide_f64 __attribute__((vector_size(32)));
static inline wide_f32 wide_gathered(const void *const *at) {
    return (wide_f32)_mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(at[0])), _mm_loadu_ps(at[1]), 1);
}
#define WIDE_ADDED_F32(a, b, c)   ((wide_f32)_mm256_fmadd_ps((__m256)(a), (__m256)(b), (__m256)(c)))
#define WIDE_ADDED_F64(a, b, c)   ((wide_f64)_mm256_fmadd_pd((__m256d)(a), (__m256d)(b), (__m256d)(c)))
#define NARROW_ADDED_F32(a, b, c) ((narrow_f32)_mm_fmadd_ps((__m128)(a), (__m128)(b), (__m128)(c)))
#define NARROW_ADDED_F64(a, b, c) ((narrow_f64)_mm_fmadd_pd((__m128d)(a), (__m128d)(b), (__m128d)(c)))
#else
#define NARROW_ADDED_F32 ADDED_F32
#define NARROW_ADDED_F64 ADDED_F64
#endif

#define T               le_f32
#define V               narrow_f32
#define WIDTH           4
#define QUARTERS        1
#define GATHERED        narrow_gathered
#define ADDED           NARROW_ADDED_F32
#define N(name)         narrow_##name##_f32
#define SQUARE_OF_PAIRS 1
#include "device/cpu/kernels/chunks.inc"

#define T               le_f64
#define V               narrow_f64
#define WIDTH           2
#define QUARTERS        1
#define GATHERED        narrow_gathered
#define ADDED           NARROW_ADDED_F64
#define N(name)         narrow_##name##_f64
#define SQUARE_OF_PAIRS 0
#include "device/cpu/kernels/chunks.inc"

#if LE_SIMD > 0
#define T               le_f32
#define V               wide_f32
#define WIDTH           8
#define QUARTERS        2
#define GATHERED        wide_gathered
#define ADDED           WIDE_ADDED_F32
#define N(name)         wide_##name##_f32
#define SQUARE_OF_PAIRS 1
#include "device/cpu/kernels/chunks.inc"

#define T               le_f64
#define V               wide_f64
#define WIDTH           4
#define QUARTERS        2
#define GATHERED        wide_gathered
#define ADDED           WIDE_ADDED_F64
#define N(name)         wide_##name##_f64
#define SQUARE_OF_PAIRS 0
#include "device/cpu/kernels/chunks.inc"
#else
#define wide_chunks_f32 narrow_chunks_f32
#define wide_chunks_f64 narrow_chunks_f64
#endif

#define T         le_f32
#define FIELD     f32
#define WIDE      (LE_SIMD > 0 ? 8 : 4)
#define NARROW    4
#define ADDED_ONE ADDED_ONE_F32
#define F(name)   name##_f32
#include "device/cpu/kernels/chains.inc"

#define T         le_f64
#define FIELD     f64
#define WIDE      (LE_SIMD > 0 ? 4 : 2)
#define NARROW    2
#define ADDED_ONE ADDED_ONE_F64
#define F(name)   name##_f64
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
