/* The instruction sets, and the lookup of an instruction's function: the first kernel file that has it. */
#include "device/cpu/machine/ops.h"
#include "device/cpu/machine/accumulator.h"
#include "device/cpu/kernels/kernels.h"
#if LE_SIMD_X86
#include <cpuid.h>
#endif

static const char *const names[LE_SIMDS] = {
    [LE_SIMD_BASELINE] = "baseline", [LE_SIMD_AVX2] = "avx2", [LE_SIMD_AVX512] = "avx512"};

const char *le_simd_name(enum le_simd simd) {
    return names[simd];
}

enum le_simd le_simd_parse(const char *name) {
    int simd = 0;
    while (simd < LE_SIMDS && strcmp(names[simd], name) != 0)
        simd++;
    return (enum le_simd)simd;
}

#if LE_SIMD_X86
static bool has_f16c(void) {
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}
static bool has_avx2(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2") &&
           __builtin_cpu_supports("popcnt") && has_f16c();
}
static bool has_avx512(void) {
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512cd");
}
#else
static bool has_avx2(void) {
    return false;
}
static bool has_avx512(void) {
    return false;
}
#endif

bool le_simd_here(enum le_simd simd) {
    return simd == LE_SIMD_BASELINE || (simd == LE_SIMD_AVX2 && has_avx2()) || (simd == LE_SIMD_AVX512 && has_avx512());
}

/* The baseline's kernels are compiled for the same machine as this file. */
bool le_simd_is_fused(enum le_simd simd) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
    return simd >= LE_SIMD_BASELINE;
#else
    return simd > LE_SIMD_BASELINE;
#endif
}

enum le_simd le_simd_best(void) {
    return has_avx512() ? LE_SIMD_AVX512 : has_avx2() ? LE_SIMD_AVX2 : LE_SIMD_BASELINE;
}

typedef le_cpu_op *finder(const struct le_instr *instr);
#define BASELINE(file) le_##file##_find_baseline,
#define AVX2(file)     le_##file##_find_avx2,
#define AVX512(file)   le_##file##_find_avx512,
static finder *const finders[][13] = {
    {LE_FINDERS(BASELINE)},
#if LE_SIMD_X86
    {LE_FINDERS(AVX2)},
    {LE_FINDERS(AVX512)},
#endif
};

le_cpu_op *le_cpu_op_find(enum le_simd simd, const struct le_instr *instr) {
    le_cpu_op *op = NULL;
    if ((size_t)simd >= sizeof finders / sizeof *finders || instr->code >= LE_CODES)
        return NULL;
    for (size_t k = 0; op == NULL && k < sizeof *finders / sizeof **finders; k++)
        op = finders[simd][k](instr);
    return op;
}

size_t le_acc_size(void) {
    return le_vec_round(sizeof(struct le_acc));
}

size_t le_vec_size(int block, int levels) {
    const size_t rows = levels > 2 ? (size_t)levels : 2;
    return le_vec_round(sizeof(struct le_vec)) + le_vec_round((size_t)block) + rows * le_vec_round((size_t)block * 8);
}

size_t le_rows_size(int block) {
    return le_vec_round(sizeof(struct le_rows)) + le_vec_round((size_t)block * 8);
}

/* The parts of a chain are whole units, which the plain tree joins. */
void le_acc_join(enum le_simd simd, enum le_type type, enum le_reduction reduction, const void *parts, int64_t count,
                 void *result) {
    struct le_acc acc;
    if (reduction == LE_RED_CHAIN || reduction == LE_RED_CHAIN_OF_PRODUCTS)
        reduction = LE_RED_SUM;
    void *reg[] = {&acc, (void *)(uintptr_t)parts, result};
    struct le_instr instr = {.code = LE_CODE_ACC_INIT, .type = (uint8_t)type, .d = 0, .a = 1, .imm = reduction};
    le_cpu_op_find(simd, &instr)(reg, &instr, 1);
    instr.code = LE_CODE_ACC_ADD;
    le_cpu_op_find(simd, &instr)(reg, &instr, count);
    instr.code = LE_CODE_ACC_END;
    instr.d = 2;
    instr.a = 0;
    le_cpu_op_find(simd, &instr)(reg, &instr, 1);
}
