/* Arithmetic, bits, shifts and comparisons of integers: one instance of integers.inc per type. */
#include "device/cpu/kernels/kernels.h"

#define T           le_i8
#define U           le_u8
#define W           uint32_t
#define BITS        8
#define SIGNED      1
#define NEGATIVE(x) ((x) < 0)
#define REAL        float
#define F(name)     name##_i8
#include "device/cpu/kernels/integers.inc"

#define T           le_i16
#define U           le_u16
#define W           uint32_t
#define BITS        16
#define SIGNED      1
#define NEGATIVE(x) ((x) < 0)
#define REAL        float
#define F(name)     name##_i16
#include "device/cpu/kernels/integers.inc"

#define T           le_i32
#define U           le_u32
#define W           uint32_t
#define BITS        32
#define SIGNED      1
#define NEGATIVE(x) ((x) < 0)
#define REAL        double
#define F(name)     name##_i32
#include "device/cpu/kernels/integers.inc"

#define T           le_i64
#define U           le_u64
#define W           uint64_t
#define BITS        64
#define SIGNED      1
#define NEGATIVE(x) ((x) < 0)
#define F(name)     name##_i64
#include "device/cpu/kernels/integers.inc"

#define T           le_u8
#define U           le_u8
#define W           uint32_t
#define BITS        8
#define SIGNED      0
#define NEGATIVE(x) 0
#define REAL        float
#define F(name)     name##_u8
#include "device/cpu/kernels/integers.inc"

#define T           le_u16
#define U           le_u16
#define W           uint32_t
#define BITS        16
#define SIGNED      0
#define NEGATIVE(x) 0
#define REAL        float
#define F(name)     name##_u16
#include "device/cpu/kernels/integers.inc"

#define T           le_u32
#define U           le_u32
#define W           uint32_t
#define BITS        32
#define SIGNED      0
#define NEGATIVE(x) 0
#define F(name)     name##_u32
#include "device/cpu/kernels/integers.inc"

#define T           le_u64
#define U           le_u64
#define W           uint64_t
#define BITS        64
#define SIGNED      0
#define NEGATIVE(x) 0
#define F(name)     name##_u64
#include "device/cpu/kernels/integers.inc"

// clang-format off
static le_cpu_op *const *const tables[LE_TYPES] = {
    [LE_I8] = table_i8, [LE_I16] = table_i16, [LE_I32] = table_i32, [LE_I64] = table_i64,
    [LE_U8] = table_u8, [LE_U16] = table_u16, [LE_U32] = table_u32, [LE_U64] = table_u64,
};
// clang-format on

le_cpu_op *LE_SET(le_integers_find)(const struct le_instr *instr) {
    return instr->type < LE_TYPES && tables[instr->type] != NULL ? tables[instr->type][instr->code] : NULL;
}
