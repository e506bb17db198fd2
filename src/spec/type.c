/* The table of element types, strong and weak, and their promotion. The rules of operations are in the checker
 * (lang/types.c). Pure functions. */
#include "spec/type.h"
#include <string.h>

enum kind { KIND_NONE, KIND_B, KIND_I, KIND_U, KIND_F, KIND_C };
struct type_row {
    const char *name, *npy;
    size_t size_bytes;
    enum kind kind;
    int bits;
    enum le_type strong, compute;
};
static const struct type_row rows[LE_TYPES_ALL] = {
    [LE_NONE] = {.name = "?", .npy = ""},
#define LE_TYPE(id, type_name, c_type, size, type_kind, precision, compute_type, code, ...)                            \
    [LE_##id] = {type_name, code, size, KIND_##type_kind, precision, LE_##id, LE_##compute_type},
#include "spec/type.def"
#undef LE_TYPE
    [LE_WEAK_INT] = {"i64", "i8", 8, KIND_I, 64, LE_I64, LE_I64},
    [LE_WEAK_INDEX] = {"i64", "i8", 8, KIND_I, 64, LE_I64, LE_I64},
    [LE_WEAK_FLOAT] = {"f64", "f8", 8, KIND_F, 53, LE_F64, LE_F64},
    [LE_WEAK_COMPLEX] = {"c128", "c16", 16, KIND_C, 53, LE_C128, LE_C128},
};

static const struct type_row *type_row_of(enum le_type type) {
    return &rows[(unsigned)type < LE_TYPES_ALL ? type : LE_NONE];
}

const char *le_type_name(enum le_type type) {
    return type_row_of(type)->name;
}

enum le_type le_type_parse(const char *name, size_t length) {
    for (enum le_type type = LE_BOOL; type < LE_TYPES; type++)
        if (strlen(rows[type].name) == length && memcmp(rows[type].name, name, length) == 0)
            return type;
    return LE_NONE;
}

size_t le_type_size(enum le_type type) {
    return type_row_of(type)->size_bytes;
}

enum le_type le_type_strong(enum le_type type) {
    return type_row_of(type)->strong;
}

enum le_type le_type_compute(enum le_type type) {
    return type_row_of(type)->compute;
}

bool le_type_is_weak(enum le_type type) {
    return type == LE_WEAK_INT || type == LE_WEAK_INDEX || type == LE_WEAK_FLOAT || type == LE_WEAK_COMPLEX;
}

bool le_type_is_int(enum le_type type) {
    return type_row_of(type)->kind == KIND_I || type_row_of(type)->kind == KIND_U;
}

bool le_type_is_unsigned(enum le_type type) {
    return type_row_of(type)->kind == KIND_U;
}

bool le_type_is_float(enum le_type type) {
    return type_row_of(type)->kind == KIND_F;
}

bool le_type_is_half(enum le_type type) {
    return type == LE_F16 || type == LE_BF16;
}

bool le_type_is_complex(enum le_type type) {
    return type_row_of(type)->kind == KIND_C;
}

enum le_type le_type_part(enum le_type type) {
    return type == LE_C64 ? LE_F32 : type == LE_C128 ? LE_F64 : type == LE_WEAK_COMPLEX ? LE_WEAK_FLOAT : type;
}

int le_type_bits(enum le_type type) {
    return type_row_of(type)->bits;
}

const char *le_type_npy(enum le_type type) {
    return type_row_of(type)->npy;
}

/* The complex type whose parts have that strong float type. */
static enum le_type complex_of(enum le_type part) {
    return part == LE_F64 ? LE_C128 : LE_C64;
}

static enum le_type promote_weak(enum le_type strong, enum le_type weak) {
    if (le_type_is_complex(strong))
        return strong;
    if (weak == LE_WEAK_COMPLEX)
        return complex_of(promote_weak(strong, LE_WEAK_FLOAT));
    if (le_type_is_float(strong))
        return strong;
    if (weak == LE_WEAK_FLOAT)
        return LE_F64;
    if (strong == LE_BOOL)
        return LE_I64;
    return weak == LE_WEAK_INDEX ? le_type_promote(LE_I64, strong) : strong;
}

static enum le_type signed_above(int bits) {
    return bits == 8 ? LE_I16 : bits == 16 ? LE_I32 : LE_I64;
}

static enum le_type promote_ints(enum le_type a, enum le_type b) {
    if (le_type_is_unsigned(a) == le_type_is_unsigned(b))
        return le_type_bits(a) > le_type_bits(b) ? a : b;
    enum le_type with_sign = le_type_is_unsigned(a) ? b : a, without = le_type_is_unsigned(a) ? a : b;
    if (le_type_bits(with_sign) > le_type_bits(without))
        return with_sign;
    return without == LE_U64 ? LE_F64 : signed_above(le_type_bits(without));
}

/* The smallest float type that a float and an integer promote to: 8-bit integers fit the 16-bit floats, 16-bit integers
 * need f32, larger ones f64. */
static enum le_type promote_float_int(enum le_type real, enum le_type whole) {
    int bits = le_type_bits(whole);
    return bits == 8 ? real : le_type_promote(real, bits == 16 ? LE_F32 : LE_F64);
}

enum le_type le_type_promote(enum le_type a, enum le_type b) {
    if (a == b || b == LE_NONE)
        return a;
    if (a == LE_NONE)
        return b;
    if (le_type_is_weak(a) && le_type_is_weak(b))
        return a > b ? a : b;
    if (le_type_is_weak(a))
        return promote_weak(b, a);
    if (le_type_is_weak(b))
        return promote_weak(a, b);
    if (a == LE_BOOL)
        return b;
    if (b == LE_BOOL)
        return a;
    if (le_type_is_complex(a) || le_type_is_complex(b))
        return complex_of(le_type_promote(le_type_part(a), le_type_part(b)));
    bool float_a = le_type_is_float(a), float_b = le_type_is_float(b);
    if (!float_a && !float_b)
        return promote_ints(a, b);
    if (!float_b)
        return promote_float_int(a, b);
    if (!float_a)
        return promote_float_int(b, a);
    if (le_type_size(a) == 2 && le_type_size(b) == 2)
        return LE_F32;
    return le_type_bits(a) > le_type_bits(b) ? a : b;
}

enum le_type le_type_to_float(enum le_type type) {
    if (type == LE_WEAK_INT || type == LE_WEAK_INDEX)
        return LE_WEAK_FLOAT;
    return type == LE_NONE || le_type_is_float(type) || le_type_is_complex(type) ? type : LE_F64;
}

enum le_type le_type_summed(enum le_type type) {
    if (type == LE_NONE || le_type_is_float(type) || le_type_is_complex(type))
        return le_type_strong(type);
    return le_type_is_unsigned(type) ? LE_U64 : LE_I64;
}

/* ---- leat.h */

static bool is_dtype(leat_dtype dtype) {
    return dtype >= LEAT_BOOL && dtype <= LEAT_C128;
}

const char *leat_dtype_name(leat_dtype dtype) {
    return is_dtype(dtype) ? le_type_name((enum le_type)dtype) : "?";
}

size_t leat_dtype_size_bytes(leat_dtype dtype) {
    return is_dtype(dtype) ? le_type_size((enum le_type)dtype) : 0;
}
