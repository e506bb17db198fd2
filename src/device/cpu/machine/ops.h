/* The vector machine's instructions for each instruction set: plain C, compiled once per set (ops.c), and SLEEF for
 * functions. All sets give the same bits, except that multiply-adds round twice on sets without fused ones. No state;
 * any thread.
 *
 * The register d may be the same as a, b or c, but must not partly overlap them. Exactly n elements are read and
 * written. */
#ifndef LE_CPU_OPS_H
#define LE_CPU_OPS_H
#include "spec/bytecode.h"

#if defined(__x86_64__) && !defined(LE_BASELINE_ALONE)
#define LE_SIMD_X86 1 /* there are kernels for AVX2 and AVX-512 */
#else
#define LE_SIMD_X86 0
#endif

enum le_simd { LE_SIMD_BASELINE, LE_SIMD_AVX2, LE_SIMD_AVX512, LE_SIMDS };
typedef void le_cpu_op(void *const *reg, const struct le_instr *instr, int64_t n);

const char *le_simd_name(enum le_simd simd);
enum le_simd le_simd_parse(const char *name); /* LE_SIMDS: none */
bool le_simd_is_fused(enum le_simd simd);     /* its multiply-adds round once */
enum le_simd le_simd_best(void); /* of this machine; avx2 requires AVX2 and FMA; avx512 requires F, BW, DQ and VL too */
bool le_simd_here(enum le_simd simd);
/* NULL: no such instruction for these types. */
le_cpu_op *le_cpu_op_find(enum le_simd simd, const struct le_instr *instr);

/* Accumulators. Sums and products of floats follow one tree (kernels_sums.c): T(n) = T(first h) + T(rest), where h is
 * the largest power of two below n. All others fold in order. Sizes are in bytes, aligned to 64. */
size_t le_acc_size(void);
size_t le_vec_size(int block, int levels);
size_t le_rows_size(int block);
/* Joins partial totals of a lane accumulator that was cut at multiples of a power of two. parts[0..count) are complete
 * subtree sums of 2^k terms each, the last possibly of fewer. result gets the total (ACC of type). */
void le_acc_join(enum le_simd simd, enum le_type type, enum le_reduction reduction, const void *parts, int64_t count,
                 void *result);
#endif
