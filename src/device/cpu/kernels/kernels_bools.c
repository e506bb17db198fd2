/* Operations of bools: bytes 0 or 1. Their sum is `or`, their product `and`. */
#include "device/cpu/kernels/kernels.h"

#define T       le_bool
#define F(name) name##_bool
#include "device/cpu/kernels/common.inc"

EACH2(and_bool, T, a &b)
EACH2(or_bool, T, a | b)
EACH3(clamp_bool, T, (a | b) & c)
EACH1(same_bool, T, a)
KERNEL(no_bool) {
    memset(reg[instr->d], 0, (size_t)n);
}
KERNEL(yes_bool) {
    memset(reg[instr->d], 1, (size_t)n);
}

// clang-format off
static le_cpu_op *const table[LE_CODES] = {
    COMMON_ROWS,
    [LE_OP_ADD] = or_bool, [LE_OP_MUL] = and_bool, [LE_OP_AND] = and_bool, [LE_OP_OR] = or_bool, [LE_OP_XOR] = unequal_bool,
    [LE_OP_NOT] = lnot_bool, [LE_OP_MIN] = and_bool, [LE_OP_MAX] = or_bool, [LE_OP_FMIN] = and_bool, [LE_OP_FMAX] = or_bool,
    [LE_OP_CLAMP] = clamp_bool, [LE_OP_ABS] = same_bool, [LE_OP_ISNAN] = no_bool, [LE_OP_ISINF] = no_bool,
    [LE_OP_ISFINITE] = yes_bool,
};
// clang-format on

le_cpu_op *LE_SET(le_bools_find)(const struct le_instr *instr) {
    return instr->type == LE_BOOL ? table[instr->code] : NULL;
}
