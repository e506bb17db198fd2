/* Complex arithmetic with NumPy's formulas: division by Smith's method, powers with small integer exponents as
 * products, and the special values of C's annex G for exp and sqrt at zeros, infinities and NaN. */
#include "lang/complex_arithmetic.h"
#include <math.h>

/* ---- nodes */

struct le_tree_node *le_make_child(struct le_tree_node *node) {
    node->parents++;
    return node;
}

static struct le_tree_node *new_node(struct le_maker *m, enum le_tree_kind kind, int count) {
    struct le_tree_node *node = LE_NEW(m->arena, struct le_tree_node);
    node->kind = kind;
    node->location = m->location;
    node->type = node->operand = m->type;
    node->child_count = count;
    if (count > 0)
        node->children = LE_NEW_ARRAY(m->arena, count, struct le_tree_node *);
    return node;
}

struct le_tree_node *le_make_host_scalar(struct le_maker *m, double value) {
    struct le_tree_node *node = new_node(m, LE_TREE_CONST, 0);
    node->type = LE_WEAK_FLOAT;
    node->operand = LE_NONE;
    node->real = value;
    return node;
}

struct le_tree_node *le_make_op(struct le_maker *m, enum le_op op, struct le_tree_node *a, struct le_tree_node *b) {
    const enum le_rule rule = le_op_info(op)->rule;
    struct le_tree_node *node = new_node(m, LE_TREE_OP, b ? 2 : 1);
    node->op = (int)op;
    node->children[0] = le_make_child(a);
    if (b)
        node->children[1] = le_make_child(b);
    if (rule == LE_RULE_COMPARE || rule == LE_RULE_CLASSIFY)
        node->type = LE_BOOL;
    else if (rule == LE_RULE_BITS)
        node->type = node->operand = LE_BOOL;
    return node;
}

struct le_tree_node *le_make_select(struct le_maker *m, struct le_tree_node *condition, struct le_tree_node *then,
                                    struct le_tree_node *otherwise) {
    struct le_tree_node *node = new_node(m, LE_TREE_SELECT, 3);
    node->children[0] = le_make_child(condition);
    node->children[1] = le_make_child(then);
    node->children[2] = le_make_child(otherwise);
    return node;
}

static struct le_tree_node *make_op1(struct le_maker *m, enum le_op op, struct le_tree_node *a) {
    return le_make_op(m, op, a, NULL);
}

static struct le_tree_node *make_op2(struct le_maker *m, enum le_op op, struct le_tree_node *a,
                                     struct le_tree_node *b) {
    return le_make_op(m, op, a, b);
}

/* a op value. */
static struct le_tree_node *make_op_const(struct le_maker *m, enum le_op op, struct le_tree_node *a, double value) {
    return le_make_op(m, op, a, le_make_host_scalar(m, value));
}

static bool is_narrow(const struct le_maker *m) {
    return le_type_compute(m->type) == LE_F32;
}

static struct le_parts select_parts(struct le_maker *m, struct le_tree_node *condition, struct le_parts then,
                                    struct le_parts otherwise) {
    return (struct le_parts){le_make_select(m, condition, then.re, otherwise.re),
                             le_make_select(m, condition, then.im, otherwise.im)};
}

static struct le_parts const_parts(struct le_maker *m, double re, double im) {
    return (struct le_parts){le_make_host_scalar(m, re), le_make_host_scalar(m, im)};
}

/* ---- comparison */

struct le_tree_node *le_parts_nonzero(struct le_maker *m, struct le_parts a) {
    return make_op2(m, LE_OP_OR, make_op_const(m, LE_OP_NE, a.re, 0), make_op_const(m, LE_OP_NE, a.im, 0));
}

struct le_tree_node *le_parts_equal(struct le_maker *m, struct le_parts a, struct le_parts b) {
    return make_op2(m, LE_OP_AND, make_op2(m, LE_OP_EQ, a.re, b.re), make_op2(m, LE_OP_EQ, a.im, b.im));
}

static struct le_tree_node *is_zero(struct le_maker *m, struct le_parts a) {
    return make_op2(m, LE_OP_AND, make_op_const(m, LE_OP_EQ, a.re, 0), make_op_const(m, LE_OP_EQ, a.im, 0));
}

/* ---- arithmetic */

struct le_parts le_parts_negative(struct le_maker *m, struct le_parts a) {
    return (struct le_parts){make_op1(m, LE_OP_NEG, a.re), make_op1(m, LE_OP_NEG, a.im)};
}

static struct le_parts multiply_parts(struct le_maker *m, struct le_parts a, struct le_parts b) {
    return (struct le_parts){
        make_op2(m, LE_OP_SUB, make_op2(m, LE_OP_MUL, a.re, b.re), make_op2(m, LE_OP_MUL, a.im, b.im)),
        make_op2(m, LE_OP_ADD, make_op2(m, LE_OP_MUL, a.re, b.im), make_op2(m, LE_OP_MUL, a.im, b.re)),
    };
}

/* Smith's method: p is b's larger part, q the other one, u and v the corresponding parts of a. */
static struct le_parts divide_parts(struct le_maker *m, struct le_parts a, struct le_parts b) {
    struct le_tree_node *re = make_op1(m, LE_OP_ABS, b.re), *im = make_op1(m, LE_OP_ABS, b.im);
    struct le_tree_node *wide = make_op2(m, LE_OP_GE, re, im);
    struct le_tree_node *p = le_make_select(m, wide, b.re, b.im), *q = le_make_select(m, wide, b.im, b.re);
    struct le_tree_node *u = le_make_select(m, wide, a.re, a.im), *v = le_make_select(m, wide, a.im, a.re);
    struct le_tree_node *ratio = make_op2(m, LE_OP_DIV, q, p);
    struct le_tree_node *bottom = make_op2(m, LE_OP_ADD, make_op2(m, LE_OP_MUL, q, ratio), p);
    struct le_tree_node *scale = make_op2(m, LE_OP_DIV, le_make_host_scalar(m, 1), bottom);
    struct le_tree_node *turned = make_op2(m, LE_OP_MUL, u, ratio);
    struct le_tree_node *top =
        le_make_select(m, wide, make_op2(m, LE_OP_SUB, v, turned), make_op2(m, LE_OP_SUB, turned, v));
    struct le_parts quotient = {
        make_op2(m, LE_OP_MUL, make_op2(m, LE_OP_ADD, make_op2(m, LE_OP_MUL, v, ratio), u), scale),
        make_op2(m, LE_OP_MUL, top, scale),
    };
    struct le_tree_node *zero =
        make_op2(m, LE_OP_AND, make_op_const(m, LE_OP_EQ, re, 0), make_op_const(m, LE_OP_EQ, im, 0));
    struct le_parts infinite = {make_op2(m, LE_OP_DIV, a.re, re), make_op2(m, LE_OP_DIV, a.im, re)};
    return select_parts(m, zero, infinite, quotient);
}

/* ---- functions */

/* e**re * (cos im, sin im). e**re is applied in two factors, so that there is no overflow unless the product overflows.
 */
struct le_parts le_parts_exp(struct le_maker *m, struct le_parts a) {
    double most = is_narrow(m) ? 88 : 709;
    struct le_tree_node *rest =
        make_op2(m, LE_OP_MAX, make_op_const(m, LE_OP_SUB, a.re, most), le_make_host_scalar(m, 0));
    struct le_tree_node *first = make_op1(m, LE_OP_EXP, make_op_const(m, LE_OP_MIN, a.re, most)),
                        *second = make_op1(m, LE_OP_EXP, rest);
    struct le_tree_node *size = make_op1(m, LE_OP_EXP, a.re);
    struct le_tree_node *re =
        make_op2(m, LE_OP_MUL, make_op2(m, LE_OP_MUL, first, make_op1(m, LE_OP_COS, a.im)), second);
    struct le_tree_node *im =
        make_op2(m, LE_OP_MUL, make_op2(m, LE_OP_MUL, first, make_op1(m, LE_OP_SIN, a.im)), second);
    struct le_tree_node *is_real = make_op_const(m, LE_OP_EQ, a.im, 0);
    struct le_tree_node *no_angle =
        make_op2(m, LE_OP_AND, make_op1(m, LE_OP_ISINF, a.re),
                 make_op2(m, LE_OP_OR, make_op1(m, LE_OP_ISINF, a.im), make_op1(m, LE_OP_ISNAN, a.im)));
    struct le_tree_node *vanishes = make_op2(m, LE_OP_AND, no_angle, make_op_const(m, LE_OP_LT, a.re, 0));
    struct le_tree_node *signed_zero = le_make_select(m, make_op1(m, LE_OP_ISNAN, a.im), le_make_host_scalar(m, 0),
                                                      make_op2(m, LE_OP_DIV, le_make_host_scalar(m, 1), a.im));
    im = le_make_select(m, vanishes, signed_zero, im);
    return (struct le_parts){
        le_make_select(m, make_op2(m, LE_OP_OR, no_angle, is_real), size, re),
        le_make_select(m, is_real, a.im, im),
    };
}

/* Very large or small parts are scaled by an even power of two, and the root is scaled back. */
struct scaling {
    struct le_tree_node *by, *back;
};

static struct scaling scale_for_root(struct le_maker *m, struct le_tree_node *re, struct le_tree_node *im) {
    bool narrow = is_narrow(m);
    double large = narrow ? 0x1p125 : 0x1p1021, small = narrow ? 0x1p-100 : 0x1p-1000;
    struct le_tree_node *is_large =
        make_op2(m, LE_OP_OR, make_op_const(m, LE_OP_GE, re, large), make_op_const(m, LE_OP_GE, im, large));
    struct le_tree_node *is_small =
        make_op2(m, LE_OP_AND, make_op_const(m, LE_OP_LT, re, small), make_op_const(m, LE_OP_LT, im, small));
    double up = narrow ? 0x1p60 : 0x1p100, back = narrow ? 0x1p-30 : 0x1p-50;
    struct le_tree_node *one = le_make_host_scalar(m, 1);
    return (struct scaling){
        le_make_select(m, is_large, le_make_host_scalar(m, 0.25),
                       le_make_select(m, is_small, le_make_host_scalar(m, up), one)),
        le_make_select(m, is_large, le_make_host_scalar(m, 2),
                       le_make_select(m, is_small, le_make_host_scalar(m, back), one)),
    };
}

/* Whether the sign bit is set, also for zeros; false for NaN. */
static struct le_tree_node *has_sign(struct le_maker *m, struct le_tree_node *a) {
    struct le_tree_node *turned = make_op2(m, LE_OP_DIV, le_make_host_scalar(m, 1), a);
    return make_op_const(m, LE_OP_LT, le_make_select(m, make_op_const(m, LE_OP_EQ, a, 0), turned, a), 0);
}

struct le_parts le_parts_sqrt(struct le_maker *m, struct le_parts a) {
    struct le_tree_node *re = make_op1(m, LE_OP_ABS, a.re);
    struct scaling s = scale_for_root(m, re, make_op1(m, LE_OP_ABS, a.im));
    struct le_tree_node *x = make_op2(m, LE_OP_MUL, re, s.by), *y = make_op2(m, LE_OP_MUL, a.im, s.by);
    struct le_tree_node *sum = make_op2(m, LE_OP_ADD, x, make_op2(m, LE_OP_HYPOT, x, y));
    struct le_tree_node *root = make_op1(m, LE_OP_SQRT, make_op_const(m, LE_OP_MUL, sum, 0.5));
    struct le_tree_node *other = make_op2(m, LE_OP_DIV, y, make_op2(m, LE_OP_ADD, root, root));
    struct le_tree_node *left = make_op_const(m, LE_OP_LT, a.re, 0), *infinite = make_op1(m, LE_OP_ISINF, a.im);
    struct le_tree_node *turned = le_make_select(m, has_sign(m, a.im), make_op1(m, LE_OP_NEG, root), root);
    struct le_parts out = {
        make_op2(m, LE_OP_MUL, le_make_select(m, left, make_op1(m, LE_OP_ABS, other), root), s.back),
        make_op2(m, LE_OP_MUL, le_make_select(m, left, turned, other), s.back),
    };
    struct le_tree_node *as_it_is = make_op2(m, LE_OP_OR, infinite, make_op_const(m, LE_OP_EQ, root, 0));
    return (struct le_parts){
        le_make_select(m, infinite, le_make_host_scalar(m, (double)INFINITY), out.re),
        le_make_select(m, as_it_is, a.im, out.im),
    };
}

/* ---- powers */

/* Powers follow NumPy, so that infinities and zeros give the same results: integer exponents below WHOLE_MAX are
 * products. Some of these begin with a product with 1, which turns the part beside an infinity into NaN. */
#define WHOLE_MAX 100

/* The value of a literal with its signs; false if node is not a literal. */
static bool literal_value(const struct le_tree_node *node, double *value) {
    double sign = 1;
    for (; node->kind == LE_TREE_OP && node->op == LE_OP_NEG; node = node->children[0])
        sign = -sign;
    if (node->kind != LE_TREE_CONST || (node->type != LE_WEAK_INT && node->type != LE_WEAK_FLOAT))
        return false;
    *value = sign * (node->type == LE_WEAK_INT ? (double)(uint64_t)node->integer : node->real);
    return true;
}

static struct le_parts invert_parts(struct le_maker *m, struct le_parts a) {
    return divide_parts(m, const_parts(m, 1, 0), a);
}

/* Negative powers of zero are NaN as in NumPy, although 1 / 0 is infinite. */
static struct le_parts whole_power(struct le_maker *m, struct le_parts a, int exponent) {
    bool is_plain = exponent >= -1 && exponent <= 3; /* other exponents begin with a product with 1, as in NumPy */
    struct le_parts out = is_plain ? (struct le_parts){0} : const_parts(m, 1, 0), power = a;
    for (int left = exponent < 0 ? -exponent : exponent; left > 0; left /= 2) {
        if (left % 2)
            out = out.re ? multiply_parts(m, out, power) : power;
        if (left > 1)
            power = multiply_parts(m, power, power);
    }
    if (!out.re)
        return const_parts(m, 1, 0);
    return exponent < 0 ? select_parts(m, is_zero(m, a), const_parts(m, (double)NAN, (double)NAN), invert_parts(m, out))
                        : out;
}

/* The same for an exponent that is found to be a small integer at run time. */
static struct le_parts counted_power(struct le_maker *m, struct le_parts a, struct le_tree_node *exponent) {
    struct le_parts out = const_parts(m, 1, 0), square = multiply_parts(m, a, a), power = a;
    struct le_tree_node *left = make_op1(m, LE_OP_ABS, exponent);
    for (int most = WHOLE_MAX; most > 0; most /= 2) {
        struct le_tree_node *half = make_op1(m, LE_OP_FLOOR, make_op_const(m, LE_OP_MUL, left, 0.5));
        struct le_tree_node *is_odd = make_op2(m, LE_OP_NE, left, make_op2(m, LE_OP_ADD, half, half));
        out = select_parts(m, is_odd, multiply_parts(m, out, power), out);
        power = most == WHOLE_MAX ? square : most > 1 ? multiply_parts(m, power, power) : power;
        left = half;
    }
    out = select_parts(m, make_op_const(m, LE_OP_LT, exponent, 0), invert_parts(m, out), out);
    out = select_parts(m, make_op_const(m, LE_OP_EQ, exponent, 3), multiply_parts(m, a, square), out);
    out = select_parts(m, make_op_const(m, LE_OP_EQ, exponent, 2), square, out);
    return select_parts(m, make_op_const(m, LE_OP_EQ, exponent, 1), a, out);
}

/* A part of a factor of an infinite product, as in C's annex G. In a factor with an infinite part, infinite parts
 * become 1 with their sign, and finite ones 0. In the other factor, NaN becomes 0. */
static struct le_tree_node *infinite_product_part(struct le_maker *m, struct le_tree_node *x,
                                                  struct le_tree_node *has_infinity) {
    struct le_tree_node *zero = le_make_host_scalar(m, 0);
    struct le_tree_node *unit = le_make_select(m, make_op1(m, LE_OP_ISINF, x), make_op1(m, LE_OP_SIGN, x), zero);
    struct le_tree_node *number = le_make_select(m, make_op1(m, LE_OP_ISNAN, x), zero, x);
    return le_make_select(m, has_infinity, unit, number);
}

static struct le_tree_node *is_infinite(struct le_maker *m, struct le_parts a) {
    return make_op2(m, LE_OP_OR, make_op1(m, LE_OP_ISINF, a.re), make_op1(m, LE_OP_ISINF, a.im));
}

/* Multiplies as in C's annex G: with an infinite factor, the product is not NaN in both parts. */
static struct le_parts multiply_infinite(struct le_maker *m, struct le_parts a, struct le_parts b) {
    struct le_parts plain = multiply_parts(m, a, b);
    struct le_tree_node *a_has = is_infinite(m, a), *b_has = is_infinite(m, b),
                        *infinity = le_make_host_scalar(m, INFINITY);
    struct le_parts p = {infinite_product_part(m, a.re, a_has), infinite_product_part(m, a.im, a_has)};
    struct le_parts q = {infinite_product_part(m, b.re, b_has), infinite_product_part(m, b.im, b_has)};
    struct le_parts direction = multiply_parts(m, p, q);
    struct le_parts infinite = {make_op2(m, LE_OP_MUL, direction.re, infinity),
                                make_op2(m, LE_OP_MUL, direction.im, infinity)};
    struct le_tree_node *lost =
        make_op2(m, LE_OP_AND, make_op1(m, LE_OP_ISNAN, plain.re), make_op1(m, LE_OP_ISNAN, plain.im));
    return select_parts(m, make_op2(m, LE_OP_AND, lost, make_op2(m, LE_OP_OR, a_has, b_has)), infinite, plain);
}

static struct le_parts general_power(struct le_maker *m, struct le_parts a, struct le_parts b) {
    struct le_parts log = {make_op1(m, LE_OP_LOG, make_op2(m, LE_OP_HYPOT, a.re, a.im)),
                           make_op2(m, LE_OP_ATAN2, a.im, a.re)};
    struct le_parts general = le_parts_exp(m, multiply_infinite(m, b, log));
    struct le_tree_node *is_real = make_op_const(m, LE_OP_EQ, b.im, 0);
    struct le_tree_node *is_whole = make_op2(m, LE_OP_EQ, make_op1(m, LE_OP_TRUNC, b.re), b.re);
    struct le_tree_node *is_small = make_op_const(m, LE_OP_LT, make_op1(m, LE_OP_ABS, b.re), WHOLE_MAX);
    struct le_tree_node *counted = make_op2(m, LE_OP_AND, make_op2(m, LE_OP_AND, is_real, is_whole), is_small);
    struct le_parts of_zero = select_parts(m, make_op_const(m, LE_OP_GT, b.re, 0), const_parts(m, 0, 0),
                                           const_parts(m, (double)NAN, (double)NAN));
    struct le_parts out = select_parts(m, counted, counted_power(m, a, b.re), general);
    out = select_parts(m, is_zero(m, a), of_zero, out);
    return select_parts(m, is_zero(m, b), const_parts(m, 1, 0), out);
}

static struct le_parts power_parts(struct le_maker *m, struct le_parts a, struct le_parts b,
                                   const struct le_tree_node *exponent) {
    double value;
    if (!literal_value(exponent, &value))
        return general_power(m, a, b);
    if (value == 0.5)
        return le_parts_sqrt(m, a);
    bool is_whole = fabs(value) < WHOLE_MAX && value == trunc(value);
    return is_whole ? whole_power(m, a, (int)value) : general_power(m, a, b);
}

struct le_parts le_parts_op(struct le_maker *m, enum le_op op, struct le_parts a, struct le_parts b,
                            const struct le_tree_node *exponent) {
    switch (op) {
    case LE_OP_MUL:
        return multiply_parts(m, a, b);
    case LE_OP_DIV:
        return divide_parts(m, a, b);
    case LE_OP_POW:
        return power_parts(m, a, b, exponent);
    default:
        return (struct le_parts){make_op2(m, op, a.re, b.re), make_op2(m, op, a.im, b.im)};
    }
}
