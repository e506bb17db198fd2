/* CUDA C: names of types, literals, and conversions between types. */
#include "gen/cuda/spelling.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *value, *memory;
} names[] = {
#define LE_TYPE(id, name, c_type, size, kind, precision, compute, npy, value, memory) [LE_##id] = {value, memory},
#include "spec/type.def"
#undef LE_TYPE
    [LE_KTREE_VOID] = {"void", "void"},
};

enum le_type le_cuda_language_type(int type) {
    static const enum le_type types[] = {LE_I32, LE_U32, LE_I64, LE_U64};
    return le_ktree_is_position(type) ? types[type - LE_KTREE_INT] : (enum le_type)type;
}

const char *le_cuda_type(int type) {
    return names[le_cuda_language_type(type)].value;
}

const char *le_cuda_stored(int type) {
    return names[le_cuda_language_type(type)].memory;
}

/* ---- literals */

static const char *special(enum le_type type, double x) {
    const char *t = le_cuda_type((int)type);
    return isnan(x) ? (type == LE_F32 ? "le_nan<float>()" : "le_nan<double>()")
           : x > 0  ? (t[0] == 'f' ? "le_infinity<float>()" : "le_infinity<double>()")
                    : (t[0] == 'f' ? "-le_infinity<float>()" : "-le_infinity<double>()");
}

/* The fewest digits that read back as the same number. */
static const char *real_literal(struct le_arena *arena, enum le_type type, double x) {
    char text[40];
    bool single = type == LE_F32;
    if (!isfinite(x))
        return special(type, x);
    bool same = false;
    for (int digits = 1; digits <= 17; digits++) { /* and more digits in place of an exponent, below 1e9 */
        snprintf(text, sizeof text, "%.*g", digits, x);
        same |= single ? strtof(text, NULL) == (float)x : strtod(text, NULL) == x;
        if (same && !(fabs(x) < 1e9 && strchr(text, '+')))
            break;
    }
    const char *point = strpbrk(text, ".e") ? "" : ".0";
    return le_arena_format(arena, signbit(x) ? "(%s%s%s)" : "%s%s%s", text, point, single ? "f" : "");
}

const char *le_cuda_position(struct le_arena *arena, int type, int64_t value) {
    bool wide = !le_ktree_is_narrow(type), is_signed = type == LE_KTREE_INT || type == LE_KTREE_LONG;
    if (value == INT64_MIN)
        return "(-9223372036854775807ll - 1)";
    const char *suffix = is_signed ? (wide ? "ll" : "") : wide ? "ull" : "u";
    return le_arena_format(arena, value < 0 ? "(%lld%s)" : "%lld%s", (long long)value, suffix);
}

const char *le_cuda_literal(struct le_arena *arena, enum le_type type, uint64_t bits) {
    float f;
    double d;
    int width = le_type_bits(type);
    switch (type) {
    case LE_BOOL:
        return bits & 1 ? "true" : "false";
    case LE_F32:
        memcpy(&f, &bits, sizeof f);
        return real_literal(arena, type, (double)f);
    case LE_F64:
        memcpy(&d, &bits, sizeof d);
        return real_literal(arena, type, d);
    case LE_I64:
        return le_cuda_position(arena, LE_KTREE_LONG, (int64_t)bits);
    case LE_U64:
        return le_arena_format(arena, "%lluull", (unsigned long long)bits);
    default:
        break;
    }
    bits &= ((uint64_t)1 << width) - 1;
    if (le_type_is_unsigned(type))
        return le_arena_format(arena, "%lluu", (unsigned long long)bits);
    int64_t value = (int64_t)(bits << (64 - width)) >> (64 - width);
    if (value == INT32_MIN)
        return "(-2147483647 - 1)";
    return le_arena_format(arena, value < 0 ? "(%lld)" : "%lld", (long long)value);
}

/* ---- casts */

static const char *saturated(struct le_arena *arena, const char *x, bool single, enum le_type to) {
    static const struct {
        enum le_type type;
        const char *least, *greatest, *above;
    } ends[] = {
        {LE_I8, "-128", "127", "128.0"},
        {LE_I16, "-32768", "32767", "32768.0"},
        {LE_I32, "(-2147483647 - 1)", "2147483647", "2147483648.0"},
        {LE_I64, "(-9223372036854775807ll - 1)", "9223372036854775807ll", "9223372036854775808.0"},
        {LE_U8, "0", "255", "256.0"},
        {LE_U16, "0", "65535", "65536.0"},
        {LE_U32, "0u", "4294967295u", "4294967296.0"},
        {LE_U64, "0ull", "18446744073709551615ull", "18446744073709551616.0"},
    };
    for (size_t k = 0; k < ARRAY_LEN(ends); k++)
        if (ends[k].type == to)
            return le_arena_format(arena, "le_saturate<%s, %s>(%s, %s, %s, %s%s)", le_cuda_type((int)to),
                                   single ? "float" : "double", x, ends[k].least, ends[k].greatest, ends[k].above,
                                   single ? "f" : "");
    return x;
}

/* To a 16-bit float's bits: from a 64-bit integer or f64 by way of f32 with one rounding. */
static const char *to_half(struct le_arena *arena, const char *x, enum le_type from, enum le_type to) {
    const char *name = to == LE_F16 ? "le_to_f16" : "le_to_bf16";
    if (from == LE_F32)
        return le_arena_format(arena, "%s(%s)", name, x);
    if (from == LE_I64 || from == LE_U64)
        return le_arena_format(arena, "%s(le_to_odd(le_whole<%s>(%s)))", name, le_cuda_type((int)from), x);
    return le_arena_format(arena, "%s(le_to_odd((double)%s))", name, x);
}

static const char *cast(struct le_arena *arena, const char *x, enum le_type from, enum le_type to) {
    if (from == to)
        return x;
    if (le_type_is_half(from))
        return cast(arena, le_arena_format(arena, "le_from_%s(%s)", le_type_name(from), x), LE_F32, to);
    if (le_type_is_half(to))
        return to_half(arena, x, from, to);
    if (to == LE_BOOL)
        return le_arena_format(arena, "(%s != 0)", x);
    if (le_type_is_float(from) && le_type_is_int(to))
        return saturated(arena, x, from == LE_F32, to);
    return le_arena_format(arena, "(%s)%s", le_cuda_type((int)to), x);
}

const char *le_cuda_cast(struct le_arena *arena, const char *x, int from, int to) {
    return cast(arena, x, le_cuda_language_type(from), le_cuda_language_type(to));
}

/* ---- totals */

const char *le_cuda_total_class(struct le_arena *arena, enum le_reduction reduction, enum le_type type,
                                const char *place) {
    const char *t = le_cuda_type((int)type);
    bool logic = type == LE_BOOL;
    switch (reduction) {
    case LE_RED_ARGMIN:
    case LE_RED_ARGMAX:
        return le_arena_format(arena, "le_first<%s, %s, %s>", t, place, reduction == LE_RED_ARGMAX ? "true" : "false");
    case LE_RED_MIN:
        return logic ? "le_all" : le_arena_format(arena, "le_least<%s>", t);
    case LE_RED_MAX:
        return logic ? "le_any" : le_arena_format(arena, "le_greatest<%s>", t);
    case LE_RED_PROD:
        return logic ? "le_all" : le_arena_format(arena, "le_product<%s>", t);
    case LE_RED_ALL:
        return "le_all";
    case LE_RED_ANY:
        return "le_any";
    default:
        return logic ? "le_any" : le_arena_format(arena, "le_sum<%s>", t);
    }
}
