/* Sums and products of floats over the lanes, by the one tree that all devices follow. With h the largest power of two
 * below n,
 *
 *     T(n terms) = T(first h) + T(the rest)
 *
 * Terms arrive in pieces of any length. Each piece is cut into the complete subtrees of 2^b terms that the count of
 * terms so far allows. A subtree is summed by adding neighbors (sums.inc), and carried through the pending totals as in
 * a binary counter:
 *
 *     while bit b of count: total = pending[b] + total, b += 1
 *     pending[b] = total; count += 2^b (of the subtree)
 *
 * and at the end the pending totals are added from the smallest upwards: total = pending[b] + total. */
#include "device/cpu/machine/accumulator.h"
#include "device/cpu/kernels/kernels.h"

/* The even and odd elements of two vectors of this many elements. */
#define EVEN_2  0, 2
#define ODD_2   1, 3
#define EVEN_4  0, 2, 4, 6
#define ODD_4   1, 3, 5, 7
#define EVEN_8  0, 2, 4, 6, 8, 10, 12, 14
#define ODD_8   1, 3, 5, 7, 9, 11, 13, 15
#define EVEN_16 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
#define ODD_16  1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31
#if LE_SIMD == 1 /* shuffles inside 16-byte halves are cheap, so the halves are only combined in the last step */
#define NEAR_EVEN_8 0, 2, 8, 10, 4, 6, 12, 14
#define NEAR_ODD_8  1, 3, 9, 11, 5, 7, 13, 15
#define LAST_EVEN_8 0, 1, 2, 3, 8, 9, 10, 11
#define LAST_ODD_8  4, 5, 6, 7, 12, 13, 14, 15
#define NEAR_EVEN_4 0, 4, 2, 6
#define NEAR_ODD_4  1, 5, 3, 7
#define LAST_EVEN_4 0, 1, 4, 5
#define LAST_ODD_4  2, 3, 6, 7
#else
#define NEAR_EVEN_2  EVEN_2
#define NEAR_ODD_2   ODD_2
#define NEAR_EVEN_4  EVEN_4
#define NEAR_ODD_4   ODD_4
#define NEAR_EVEN_8  EVEN_8
#define NEAR_ODD_8   ODD_8
#define NEAR_EVEN_16 EVEN_16
#define NEAR_ODD_16  ODD_16
#define LAST_EVEN_2  EVEN_2
#define LAST_ODD_2   ODD_2
#define LAST_EVEN_4  EVEN_4
#define LAST_ODD_4   ODD_4
#define LAST_EVEN_8  EVEN_8
#define LAST_ODD_8   ODD_8
#define LAST_EVEN_16 EVEN_16
#define LAST_ODD_16  ODD_16
#endif
#define SHUFFLE2(a, b, ...)   __builtin_shufflevector(a, b, __VA_ARGS__)
#define SHUFFLE(a, b, places) SHUFFLE2(a, b, places)

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

#define T       le_f32
#define FIELD   f32
#define WIDTH   WIDTH_F32
#define OP      +
#define NEUTRAL 0
#define F(name) name##_sum_f32
#include "device/cpu/kernels/sums.inc"

#define T       le_f32
#define FIELD   f32
#define WIDTH   WIDTH_F32
#define OP      *
#define NEUTRAL 1
#define F(name) name##_prod_f32
#include "device/cpu/kernels/sums.inc"

#define T       le_f64
#define FIELD   f64
#define WIDTH   WIDTH_F64
#define OP      +
#define NEUTRAL 0
#define F(name) name##_sum_f64
#include "device/cpu/kernels/sums.inc"

#define T       le_f64
#define FIELD   f64
#define WIDTH   WIDTH_F64
#define OP      *
#define NEUTRAL 1
#define F(name) name##_prod_f64
#include "device/cpu/kernels/sums.inc"

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

// clang-format off
#define ROW(name)                                                                                                                \
    {                                                                                                                            \
        init, add_##name, end_##name, rows_init, rows_add_##name, rows_end_##name                                                                                             \
    }
static le_cpu_op *const tables[2][2][6] = {{ROW(sum_f32), ROW(sum_f64)}, {ROW(prod_f32), ROW(prod_f64)}};
// clang-format on

le_cpu_op *LE_SET(le_sums_find)(const struct le_instr *instr) {
    const bool acc = instr->code >= LE_CODE_ACC_INIT && instr->code <= LE_CODE_ACC_END;
    const bool rows = instr->code >= LE_CODE_ROWS_INIT && instr->code <= LE_CODE_ROWS_END;
    if (!acc && !rows)
        return NULL;
    if (instr->type != LE_F32 && instr->type != LE_F64)
        return NULL;
    if (instr->imm != LE_RED_SUM && instr->imm != LE_RED_PROD)
        return NULL;
    return tables[instr->imm == LE_RED_PROD][instr->type == LE_F64]
                 [rows ? 3 + instr->code - LE_CODE_ROWS_INIT : instr->code - LE_CODE_ACC_INIT];
}
