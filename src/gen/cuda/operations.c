/* Operations as CUDA C, which compute the same bits as the vector machine. */
#include "gen/cuda/spelling.h"

struct op {
    struct le_arena *arena;
    int code;
    enum le_way way;
    const char *type, *a, *b, *d; /* d: the third operand */
    const char *usual;            /* the bool of LE_WAY_QUICK */
};

static const char *infix(const struct op *o, const char *sign) {
    return le_arena_format(o->arena, "%s %s %s", o->a, sign, o->b);
}
static const char *binary_call(const struct op *o, const char *name) {
    return le_arena_format(o->arena, "%s<%s>(%s, %s)", name, o->type, o->a, o->b);
}
static const char *call1(const struct op *o, const char *name) {
    return le_arena_format(o->arena, "%s(%s)", name, o->a);
}

/* Written between the operands, and as calls of the prelude's. */
static const char *const signs[LE_OPS] = {
    [LE_OP_ADD] = "+", [LE_OP_SUB] = "-", [LE_OP_MUL] = "*", [LE_OP_DIV] = "/", [LE_OP_AND] = "&",
    [LE_OP_OR] = "|",  [LE_OP_XOR] = "^", [LE_OP_EQ] = "==", [LE_OP_NE] = "!=", [LE_OP_LT] = "<",
    [LE_OP_LE] = "<=", [LE_OP_GT] = ">",  [LE_OP_GE] = ">="};
static const char *const calls[LE_OPS] = {
    [LE_OP_FLOORDIV] = "le_floordiv", [LE_OP_MOD] = "le_mod",   [LE_OP_POW] = "le_pow",
    [LE_OP_SHL] = "le_shl",           [LE_OP_SHR] = "le_shr",   [LE_OP_MIN] = "le_min",
    [LE_OP_MAX] = "le_max",           [LE_OP_FMIN] = "le_fmin", [LE_OP_FMAX] = "le_fmax"};

static bool is_comparison(int code) {
    return code == LE_OP_EQ || code == LE_OP_NE || code == LE_OP_LT || code == LE_OP_LE || code == LE_OP_GT ||
           code == LE_OP_GE;
}

static const char *logic(const struct op *o) {
    switch (o->code) {
    case LE_OP_LAND:
        return le_arena_format(o->arena, "%s != 0 && %s != 0", o->a, o->b);
    case LE_OP_LOR:
        return le_arena_format(o->arena, "%s != 0 || %s != 0", o->a, o->b);
    case LE_OP_LNOT:
        return le_arena_format(o->arena, "%s == 0", o->a);
    default:
        return NULL;
    }
}

static const char *clamped(const struct op *o) {
    return le_arena_format(o->arena, "le_min<%s>(le_max<%s>(%s, %s), %s)", o->type, o->type, o->a, o->b, o->d);
}

/* What is written alike for all numbers that pass no end; NULL: it has a text of its own. */
static const char *plain(const struct op *o) {
    if (o->code == LE_OP_CLAMP)
        return clamped(o);
    if (o->code < LE_OPS && signs[o->code])
        return infix(o, signs[o->code]);
    if (o->code < LE_OPS && calls[o->code])
        return binary_call(o, calls[o->code]);
    return logic(o);
}

static const char *of_bools(const struct op *o) {
    switch (o->code) {
    case LE_OP_ADD:
    case LE_OP_OR:
    case LE_OP_MAX:
    case LE_OP_FMAX:
        return infix(o, "|");
    case LE_OP_MUL:
    case LE_OP_AND:
    case LE_OP_MIN:
    case LE_OP_FMIN:
        return infix(o, "&");
    case LE_OP_XOR:
        return infix(o, "!=");
    case LE_OP_NOT:
        return le_arena_format(o->arena, "!%s", o->a);
    case LE_OP_CLAMP:
        return le_arena_format(o->arena, "(%s | %s) & %s", o->a, o->b, o->d);
    case LE_OP_ABS:
        return o->a;
    case LE_OP_ISNAN:
    case LE_OP_ISINF:
        return "false";
    case LE_OP_ISFINITE:
        return "true";
    default:
        return plain(o);
    }
}

/* ---- floats */

/* Without a branch, as long as the numbers are usual ones; NULL: it has no such way. */
static const char *quick(const struct op *o, bool single) {
    struct le_arena *arena = o->arena;
    if (o->code == LE_OP_DIV)
        return le_arena_format(arena, "le_quotient(%s, %s, %s)", o->a, o->b, o->usual);
    if (o->code == LE_OP_SQRT && single)
        return le_arena_format(arena, "le_root(%s, %s)", o->a, o->usual);
    if (o->code == LE_OP_RSQRT && single)
        return le_arena_format(arena, "le_quotient(1.0f, le_root(%s, %s), %s)", o->a, o->usual, o->usual);
    return NULL;
}

/* A compiler's own division, or square root, is a function of a hundred instructions, which costs it more than the rest
 * of a kernel; NULL: it has no shorter way. */
static const char *short_way(const struct op *o) {
    struct le_arena *arena = o->arena;
    if (o->code == LE_OP_DIV)
        return le_arena_format(arena, "le_divided(%s, %s)", o->a, o->b);
    if (o->code == LE_OP_SQRT)
        return le_arena_format(arena, "le_rooted(%s)", o->a);
    if (o->code == LE_OP_RSQRT)
        return le_arena_format(arena, "le_divided(1.0f, le_rooted(%s))", o->a);
    return NULL;
}

static const char *of_floats(const struct op *o, bool single) {
    const char *f = single ? "f" : "", *t = single ? "float" : "double";
    struct le_arena *arena = o->arena;
    const char *own = o->way == LE_WAY_QUICK             ? quick(o, single)
                      : o->way == LE_WAY_SHORT && single ? short_way(o)
                                                         : NULL;
    if (own)
        return own;
    switch (o->code) {
    case LE_OP_FLOORDIV:
        return le_arena_format(arena, "(%s)le_float_floordiv(%s, %s)", t, o->a, o->b);
    case LE_OP_MOD:
        return le_arena_format(arena, "(%s)le_float_mod(%s, %s)", t, o->a, o->b);
    case LE_OP_POW:
    case LE_OP_ATAN2:
    case LE_OP_HYPOT:
        return le_arena_format(arena, "%s%s(%s, %s)",
                               o->code == LE_OP_POW ? "pow" : le_op_info((enum le_op)o->code)->name, f, o->a, o->b);
    case LE_OP_NEG:
        return le_arena_format(arena, "-%s", o->a);
    case LE_OP_SIGN:
        return le_arena_format(arena, "le_sign<%s>(%s)", t, o->a);
    case LE_OP_ABS:
        return le_arena_format(arena, "fabs%s(%s)", f, o->a);
    case LE_OP_RINT:
        return le_arena_format(arena, "rint%s(%s)", f, o->a);
    case LE_OP_RSQRT:
        return le_arena_format(arena, single ? "1.0f / sqrtf(%s)" : "1.0 / sqrt(%s)", o->a);
    case LE_OP_ISNAN:
        return le_arena_format(arena, "%s != %s", o->a, o->a);
    case LE_OP_ISINF:
        return le_arena_format(arena, "fabs%s(%s) == le_infinity<%s>()", f, o->a, t);
    case LE_OP_ISFINITE:
        return le_arena_format(arena, "fabs%s(%s) < le_infinity<%s>()", f, o->a, t);
    case LE_OP_FMA:
    case LE_CODE_MULADD:
        return le_arena_format(arena, "fma%s(%s, %s, %s)", f, o->a, o->b, o->d);
    case LE_CODE_MULSUB:
        return le_arena_format(arena, "fma%s(%s, %s, -%s)", f, o->a, o->b, o->d);
    case LE_CODE_NMULADD:
        return le_arena_format(arena, "fma%s(-%s, %s, %s)", f, o->a, o->b, o->d);
    default:
        break;
    }
    const char *other = plain(o);
    return other ? other : call1(o, le_arena_format(arena, "%s%s", le_op_info((enum le_op)o->code)->name, f));
}

/* ---- integers: computed without a sign where they might pass an end */

/* W: the unsigned type that it is computed in. */
static const char *wrapping(const struct op *o, const char *w, const char *sign) {
    return le_arena_format(o->arena, "(%s)((%s)%s %s (%s)%s)", o->type, w, o->a, sign, w, o->b);
}

static const char *multiply_add(const struct op *o, const char *w) {
    struct le_arena *arena = o->arena;
    const char *product = le_arena_format(arena, "(%s)%s * (%s)%s", w, o->a, w, o->b);
    if (o->code == LE_CODE_MULADD)
        return le_arena_format(arena, "(%s)(%s + (%s)%s)", o->type, product, w, o->d);
    if (o->code == LE_CODE_MULSUB)
        return le_arena_format(arena, "(%s)(%s - (%s)%s)", o->type, product, w, o->d);
    return le_arena_format(arena, "(%s)((%s)%s - %s)", o->type, w, o->d, product);
}

static const char *of_one_integer(const struct op *o, const char *w, enum le_type type) {
    struct le_arena *arena = o->arena;
    switch (o->code) {
    case LE_OP_NEG:
        return le_arena_format(arena, "(%s)(0 - (%s)%s)", o->type, w, o->a);
    case LE_OP_NOT:
        return le_arena_format(arena, "(%s)~%s", o->type, o->a);
    case LE_OP_ABS:
        return le_type_is_unsigned(type)
                   ? o->a
                   : le_arena_format(arena, "%s < 0 ? (%s)(0 - (%s)%s) : %s", o->a, o->type, w, o->a, o->a);
    case LE_OP_SIGN:
        return le_arena_format(arena, "le_sign<%s>(%s)", o->type, o->a);
    case LE_OP_POPCOUNT:
        return le_arena_format(arena, "(%s)__popcll((unsigned long long)%s & %s)", o->type, o->a,
                               le_type_size(type) == 8
                                   ? "0xffffffffffffffffull"
                                   : le_arena_format(arena, "0x%xull", 0xffffffffu >> (32 - 8 * le_type_size(type))));
    case LE_OP_FLOOR:
    case LE_OP_CEIL:
    case LE_OP_TRUNC:
    case LE_OP_RINT:
        return o->a;
    case LE_OP_ISNAN:
    case LE_OP_ISINF:
        return "false";
    case LE_OP_ISFINITE:
        return "true";
    default:
        return NULL;
    }
}

static const char *of_integers(const struct op *o, enum le_type type) {
    const char *w = le_type_size(type) == 8 ? "unsigned long long" : "unsigned", *one = of_one_integer(o, w, type);
    if (one)
        return one;
    if (o->code == LE_CODE_MULADD || o->code == LE_CODE_MULSUB || o->code == LE_CODE_NMULADD)
        return multiply_add(o, w);
    bool wraps = o->code < LE_OPS && signs[o->code] && !is_comparison(o->code);
    return wraps ? wrapping(o, w, signs[o->code]) : plain(o);
}

const char *le_cuda_op(struct le_arena *arena, int code, enum le_type type, const char *const *x, enum le_way way,
                       const char *usual) {
    struct op o = {.arena = arena,
                   .code = code,
                   .type = le_cuda_type(type),
                   .a = x[0],
                   .b = x[1],
                   .d = x[2],
                   .usual = usual,
                   .way = way};
    if (type == LE_BOOL)
        return of_bools(&o);
    return le_type_is_float(type) ? of_floats(&o, type == LE_F32) : of_integers(&o, type);
}

const char *le_cuda_position_op(struct le_arena *arena, int code, const char *const *x) {
    struct op o = {.arena = arena, .code = code, .type = "int", .a = x[0], .b = x[1], .d = x[2]};
    return code == LE_OP_NEG ? le_arena_format(arena, "-%s", o.a) : plain(&o);
}
