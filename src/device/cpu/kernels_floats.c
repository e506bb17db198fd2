/* Arithmetic and comparisons of floats: one instance of floats.inc per type. Library functions are in kernels_functions.c. */
#include "device/cpu/kernels.h"
#include <math.h>

#define T le_f32
#define M(name) name##f
#define F(name) name##_f32
#include "device/cpu/floats.inc"

#define T le_f64
#define M(name) name
#define F(name) name##_f64
#include "device/cpu/floats.inc"

le_cpu_op *LE_SET(le_floats_find)(const struct le_instr *instr)
{
    return instr->type == LE_F32 ? table_f32[instr->code] : instr->type == LE_F64 ? table_f64[instr->code] : NULL;
}
