/* Shared by the kernels. Each kernels_*.c is compiled once per instruction set (LE_SIMD: 0, 1, 2) and exports one
 * function that finds its instructions. Kernels are plain loops that the compiler vectorizes. No state; any thread.
 *
 * A result may overwrite an operand in place: element on element, or narrower on wider. LANES tells the compiler that
 * there is no other dependence. If a wider result would overwrite narrower operands that are still to be read, the
 * kernel reads a copy (le_kernel_apart). */
#ifndef LE_KERNELS_H
#define LE_KERNELS_H
#include "device/cpu/machine/ops.h"
#include <string.h>

#define PASTE2(a, b) a##_##b
#define PASTE(a, b)  PASTE2(a, b)
#if LE_SIMD == 2
#define LE_SET(name) PASTE(name, avx512)
#define VECTOR_BYTES 64
#elif LE_SIMD == 1
#define LE_SET(name) PASTE(name, avx2)
#define VECTOR_BYTES 32
#else
#define LE_SET(name) PASTE(name, baseline)
#define VECTOR_BYTES 16
#endif

#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define LE_FUSED 1
#else
#define LE_FUSED 0
#endif

#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#define LANES _Pragma("clang loop vectorize(assume_safety)")
#else
#define LANES _Pragma("GCC ivdep")
#endif
#define KERNEL(name) static void name(void *const *reg, const struct le_instr *instr, int64_t n)

/* A register may hold any type at any time. */
typedef uint8_t le_bool __attribute__((may_alias));
typedef int8_t le_i8 __attribute__((may_alias));
typedef int16_t le_i16 __attribute__((may_alias));
typedef int32_t le_i32 __attribute__((may_alias));
typedef int64_t le_i64 __attribute__((may_alias));
typedef uint8_t le_u8 __attribute__((may_alias));
typedef uint16_t le_u16 __attribute__((may_alias));
typedef uint32_t le_u32 __attribute__((may_alias));
typedef uint64_t le_u64 __attribute__((may_alias));
typedef float le_f32 __attribute__((may_alias));
typedef double le_f64 __attribute__((may_alias));

/* Element k of a register that may be absent. */
static inline const void *le_kernel_optional(void *const *reg, uint16_t index) {
    return index == LE_NO_REG ? NULL : reg[index];
}

/* Returns operand, or a copy of it in room if d is the same register. */
static inline const void *le_kernel_apart(const void *operand, const void *d, size_t size_bytes, void *room) {
    return operand == d ? memcpy(room, operand, size_bytes) : operand;
}

/* The finders return NULL for other files' instructions. */
#define LE_FINDERS(X)                                                                                                  \
    X(integers)                                                                                                        \
    X(floats) X(bools) X(casts) X(moves) X(accesses) X(functions) X(random) X(sums) X(chains) X(folds) X(lanes) X(scans)
#define LE_FINDER(file)                                                                                                \
    le_cpu_op *le_##file##_find_baseline(const struct le_instr *instr);                                                \
    le_cpu_op *le_##file##_find_avx2(const struct le_instr *instr);                                                    \
    le_cpu_op *le_##file##_find_avx512(const struct le_instr *instr);
LE_FINDERS(LE_FINDER)
#undef LE_FINDER
#endif
