/* Values: the language's conversions and operations, and checks that results are exact. */
#include "oracle.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

void *oracle_new(struct oracle *oracle, size_t size_bytes) {
    size_t at = (oracle->used_bytes + 15) & ~(size_t)15;
    if (at + size_bytes > ORACLE_BYTES) {
        fail(oracle, UNSUITABLE, "too much memory");
        return NULL;
    }
    oracle->used_bytes = at + size_bytes;
    char *memory = oracle->memory + at;
    for (size_t k = 0; k < size_bytes; k++)
        memory[k] = 0;
    return memory;
}

void fail(struct oracle *oracle, enum verdict verdict, const char *format, ...) {
    if (oracle->verdict == UNSUITABLE || (oracle->verdict != RUNS && verdict != UNSUITABLE))
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(oracle->why, sizeof oracle->why, format, arguments);
    va_end(arguments);
    oracle->verdict = verdict;
}

/* ---- conversions */

static int64_t wrap(int64_t x, int type) {
    switch (type) {
    case LEAT_I8:
        return (int8_t)x;
    case LEAT_I16:
        return (int16_t)x;
    case LEAT_I32:
        return (int32_t)x;
    case LEAT_U8:
        return (uint8_t)x;
    case LEAT_U16:
        return (uint16_t)x;
    case LEAT_U32:
        return (uint32_t)x;
    default:
        return x;
    }
}

static int64_t saturate(double x, int type) {
    int64_t whole = x >= 9.2e18 ? INT64_MAX : x <= -9.2e18 ? INT64_MIN : (int64_t)x;
    if (type == LEAT_U64)
        return whole < 0 ? 0 : whole;
    int bits = 8 * (int)leat_dtype_size_bytes((leat_dtype)strong_type(type));
    if (bits == 64)
        return whole;
    bool is_unsigned = type == LEAT_U8 || type == LEAT_U16 || type == LEAT_U32;
    int64_t least = is_unsigned ? 0 : -((int64_t)1 << (bits - 1));
    int64_t most = ((int64_t)1 << (is_unsigned ? bits : bits - 1)) - 1;
    return whole < least ? least : whole > most ? most : whole;
}

/* Small multiples of 1/8: sums and products of a few of them are exact in any order. */
union value exactly(struct oracle *oracle, double real, int type) {
    double limit = type == LEAT_F32 ? 0x1p18 : 0x1p46;
    if (!isinf(real) && (!(fabs(real) <= limit) || real * 8 != floor(real * 8)))
        fail(oracle, UNSUITABLE, "a float that may be rounded");
    return (union value){.real = real};
}

union value convert(struct oracle *oracle, union value v, int from, int to) {
    if (from == to)
        return v;
    if (from == LEAT_U64 && v.whole < 0)
        fail(oracle, UNSUITABLE, "a number past 2**63");
    if (to == LEAT_BOOL)
        return (union value){.whole = is_true(v, from)};
    if (is_real_type(to))
        return exactly(oracle, is_real_type(from) ? v.real : (double)v.whole, to);
    if (is_real_type(from))
        return (union value){.whole = saturate(v.real, to)};
    union value out = {.whole = wrap(v.whole, to)};
    if (from == WEAK_WHOLE && (out.whole != v.whole || (v.whole < 0 && to == LEAT_U64)))
        fail(oracle, UNSUITABLE, "a number that does not fit");
    return out;
}

bool is_true(union value v, int type) {
    return is_real_type(type) ? v.real != 0 : v.whole != 0;
}

union value type_end(int type, bool is_most) {
    if (is_real_type(type))
        return (union value){.real = is_most ? INFINITY : -INFINITY};
    return (union value){.whole = type == LEAT_BOOL ? is_most : saturate(is_most ? 1e19 : -1e19, type)};
}

/* ---- operations; both operands already have the type */

static int64_t floor_divide(int64_t a, int64_t b) {
    if (b == 0)
        return 0;
    if (b == -1)
        return (int64_t)(0 - (uint64_t)a);
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static int64_t floor_modulo(int64_t a, int64_t b) {
    return b == 0 || b == -1 ? 0 : a % b + (a % b != 0 && (a < 0) != (b < 0) ? b : 0);
}

static int64_t operate_whole(int op, int64_t a, int64_t b) {
    uint64_t x = (uint64_t)a, y = (uint64_t)b;
    switch (op) {
    case ADD:
        return (int64_t)(x + y);
    case SUBTRACT:
        return (int64_t)(x - y);
    case MULTIPLY:
        return (int64_t)(x * y);
    case FLOOR_DIVIDE:
        return floor_divide(a, b);
    case MODULO:
        return floor_modulo(a, b);
    case BIT_AND:
        return a & b;
    case BIT_OR:
        return a | b;
    default:
        return a ^ b;
    }
}

static double operate_real(int op, double a, double b) {
    switch (op) {
    case ADD:
        return a + b;
    case SUBTRACT:
        return a - b;
    case MULTIPLY:
        return a * b;
    case DIVIDE:
        return b == 0 ? NAN : a / b;
    case FLOOR_DIVIDE:
        return b == 0 || isinf(a) || isinf(b) ? NAN : floor(a / b);
    default:
        return b == 0 || isinf(a) || isinf(b) ? NAN : a - b * floor(a / b);
    }
}

union value operate(struct oracle *oracle, int op, union value a, union value b, int type) {
    if (is_real_type(type))
        return exactly(oracle, operate_real(op, a.real, b.real), type);
    if (type == LEAT_BOOL) {
        bool both = op == MULTIPLY || op == BIT_AND;
        return (union value){.whole = both ? a.whole & b.whole : op == BIT_XOR ? a.whole ^ b.whole : a.whole | b.whole};
    }
    union value out = {.whole = wrap(operate_whole(op, a.whole, b.whole), type)};
    if (type == LEAT_U64 && (a.whole < 0 || b.whole < 0 || out.whole < 0))
        fail(oracle, UNSUITABLE, "a number past 2**63");
    return out;
}

union value least_or_greatest(union value a, union value b, int type, bool is_least) {
    bool is_less = is_real_type(type) ? a.real < b.real : a.whole < b.whole;
    bool is_greater = is_real_type(type) ? a.real > b.real : a.whole > b.whole;
    return (is_least ? is_less : is_greater) ? a : b;
}
