/* leat.h: the language's names, and values as text. */
#include "api/api_check.h"
#include "base/decimal.h"
#include "lang/habits.h"
#include "spec/op.h"
#include "spec/type.h"

_Static_assert((int)LEAT_FLOAT_TEXT_BYTES == (int)LE_DECIMAL_TEXT_BYTES, "leat.h repeats this constant");

leat_status leat_float_text(leat_dtype dtype, double value, int precision_digits, char text[LEAT_FLOAT_TEXT_BYTES]) {
    LE_CHECK_POINTER(text);
    enum le_type type = (enum le_type)dtype;
    if (!leat_dtype_size_bytes(dtype) || !le_type_is_float(type))
        return le_fail(LEAT_INVALID, "dtype is %s, which is not a float type", leat_dtype_name(dtype));
    if (precision_digits < 0 || precision_digits > 17)
        return le_fail(LEAT_INVALID, "precision_digits is %d: it must be from 0 to 17", precision_digits);
    le_decimal_text(value, le_type_bits(type), precision_digits, text);
    return LEAT_OK;
}

/* ---- names */

static const struct le_words constants[] = {
    {"pi", "pi", "ratio of a circle's circumference to its diameter"},
    {"inf", "inf", "infinity"},
    {"nan", "nan", "not a number"},
    {"true", "true", "1, as a bool"},
    {"false", "false", "0, as a bool"},
};

static const struct le_words keywords[] = {
    {"in", "in a: f32[n, m]", "declares an input; type, extents and a default are optional"},
    {"out", "out a: f64[3]", "declares a result, zero at first"},
    {"var", "var a: i32[8] = 1", "declares an array or a number that is not a result"},
    {"edge", "edge x wrap", "sets what reads outside of an array return"},
    {"def", "def f(a) = a * a", "defines a function"},
    {"each", "each i { y[i] = 2 * i }", "runs statements for every element, all at once"},
    {"for", "for t in 0..9 { s += t }",
     "repeats statements; to give an index a range, write where or sum(i in 0..9: ...)"},
    {"while", "while s < 9 { s += 2 }", "repeats statements"},
    {"if", "if c { s = 1 } else { s = 2 }", "chooses statements; for a value write c ? a : b"},
    {"else", "z[i] = x[i+1] else 0", "gives the value where a read is outside of its array; also if c { } else { }"},
    {"where", "z[i] = 2 * i where i in 0..9", "gives an index a range; for a condition write c ? a : b"},
    {"return", "def f(a) { return a * a }", "ends a function with this value"},
    {"break", "while true { break }", "leaves the innermost for or while"},
    {"by", "for t in 9..0 by -2 { s += t }", "gives the step of a range"},
};

static const struct le_words types[] = {
    [LE_BOOL] = {"bool", "bool(x)", "true or false"},
    [LE_I8] = {"i8", "i8(x)", "signed integer of 8 bits"},
    [LE_I16] = {"i16", "i16(x)", "signed integer of 16 bits"},
    [LE_I32] = {"i32", "i32(x)", "signed integer of 32 bits"},
    [LE_I64] = {"i64", "i64(x)", "signed integer of 64 bits"},
    [LE_U8] = {"u8", "u8(x)", "unsigned integer of 8 bits"},
    [LE_U16] = {"u16", "u16(x)", "unsigned integer of 16 bits"},
    [LE_U32] = {"u32", "u32(x)", "unsigned integer of 32 bits"},
    [LE_U64] = {"u64", "u64(x)", "unsigned integer of 64 bits"},
    [LE_F16] = {"f16", "f16(x)", "float of 16 bits, 11 of them of precision; computes in f32"},
    [LE_BF16] = {"bf16", "bf16(x)", "float of 16 bits, 8 of them of precision; computes in f32"},
    [LE_F32] = {"f32", "f32(x)", "float of 32 bits"},
    [LE_F64] = {"f64", "f64(x)", "float of 64 bits"},
    [LE_C64] = {"c64", "c64(re, im)", "complex number of two f32"},
    [LE_C128] = {"c128", "c128(re, im)", "complex number of two f64"},
};
_Static_assert(ARRAY_LEN(types) == LE_TYPES, "every type has a description");

/* Operation k among the functions, or among the operators. */
static const struct le_words *find_op(bool function, size_t k) {
    for (enum le_op op = 0; op < LE_OPS; op++)
        if (le_op_is_function(op) == function && k-- == 0)
            return &le_op_info(op)->words;
    return NULL;
}

/* Builtin k of a kind; NULL if there are fewer. */
static const struct le_words *find_builtin(leat_builtin_kind kind, size_t k) {
    const struct le_words *op;
    switch (kind) {
    case LEAT_BUILTIN_FUNCTION:
        op = find_op(true, k);
        for (enum le_op other = 0; !op && other < LE_OPS; other++)
            k -= le_op_is_function(other);
        return op ? op : k < LE_SPECIALS ? le_special_words((enum le_special)k) : NULL;
    case LEAT_BUILTIN_OPERATOR:
        return find_op(false, k);
    case LEAT_BUILTIN_REDUCTION:
        return k < LE_RED_FUNCTIONS ? le_reduction_words((enum le_reduction)k) : NULL;
    case LEAT_BUILTIN_CONSTANT:
        return k < ARRAY_LEN(constants) ? &constants[k] : NULL;
    case LEAT_BUILTIN_TYPE:
        return k + LE_BOOL < LE_TYPES ? &types[k + LE_BOOL] : NULL;
    case LEAT_BUILTIN_EDGE:
        return k < LE_EDGES ? le_edge_words((enum le_edge)k) : NULL;
    case LEAT_BUILTIN_KEYWORD:
        return k < ARRAY_LEN(keywords) ? &keywords[k] : NULL;
    case LEAT_BUILTIN_FOREIGN:
        return le_habit_words(k);
    default:
        return NULL;
    }
}

static leat_status check_kind(leat_builtin_kind kind) {
    if ((int)kind < 0 || kind >= LEAT_BUILTIN_KINDS)
        return le_fail(LEAT_INVALID, "kind is %d, which is not a kind of builtin", (int)kind);
    return LEAT_OK;
}

leat_status leat_builtin_count(leat_builtin_kind kind, size_t *count) {
    LE_CHECK_POINTER(count);
    leat_status status = check_kind(kind);
    if (status)
        return status;
    for (*count = 0; find_builtin(kind, *count);)
        ++*count;
    return LEAT_OK;
}

leat_status leat_builtin_get(leat_builtin_kind kind, size_t k, leat_builtin_info *info) {
    LE_CHECK_POINTER(info);
    leat_status status = check_kind(kind);
    if (status)
        return status;
    const struct le_words *words = find_builtin(kind, k);
    if (!words)
        return le_fail(LEAT_INVALID, "k is %zu, which is out of range", k);
    *info = (leat_builtin_info){.name = words->name, .usage = words->usage, .summary = words->summary};
    return LEAT_OK;
}
