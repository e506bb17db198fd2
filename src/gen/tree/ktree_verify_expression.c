/* Checks the types of expressions, and that what they use is known there. */
#include "gen/tree/ktree_text.h"
#include "gen/tree/ktree_verify.h"
#include <string.h>

static const char *name_of(const struct le_ktree_verifier *v, int type) {
    return le_ktree_type_name(v->t, type);
}

/* ---- types */

static bool is_language(int type) {
    return type >= LE_BOOL && type <= LE_F64;
}

static bool is_number(int type) {
    return is_language(type) || le_ktree_is_position(type);
}

static bool is_half(int type) {
    return is_language(type) && le_type_is_half((enum le_type)type);
}

static bool is_totals(const struct le_ktree_verifier *v, int type) {
    return le_ktree_is_totals(type) && type - LE_KTREE_TOTALS < v->t->totals.count;
}

void le_verify_type(struct le_ktree_verifier *v, int type) {
    if (is_totals(v, type) && !v->totals_known[type - LE_KTREE_TOTALS])
        le_ktree_problem(v, "the totals %s are not declared yet", name_of(v, type));
    else if (!is_totals(v, type) && !is_number(type))
        le_ktree_problem(v, "%s is not the type of a value", name_of(v, type));
}

/* ---- uses */

void le_verify_use(struct le_ktree_verifier *v, const struct le_variable *variable) {
    enum le_known known = (enum le_known)v->known[variable->id];
    if (known == LE_OUT_OF_SCOPE)
        le_ktree_problem(v, "%s is used where it is not in scope", variable->name);
    else if (known == LE_UNKNOWN)
        le_ktree_problem(v, "%s is used before it is defined", variable->name);
}

static bool is_array(const struct le_variable *variable) {
    return variable->memory != LE_KTREE_NO_ARRAY;
}

static bool gives_address(const struct le_expression *x) {
    return x->kind == LE_EXPRESSION_CALL &&
           (x->code == LE_CALL_POINTER || x->code == LE_CALL_COPY || x->code == LE_CALL_KEEP_ROW);
}

static bool is_value(const struct le_expression *x) {
    switch (x->kind) {
    case LE_EXPRESSION_VARIABLE:
        return !is_array(x->variable) && !x->variable->function && !x->variable->object;
    case LE_EXPRESSION_ELEMENT:
        return x->count == x->variable->axes;
    case LE_EXPRESSION_CALL:
        return x->type != LE_KTREE_VOID && !gives_address(x);
    default:
        return x->kind != LE_EXPRESSION_ADDRESS;
    }
}

static bool is_address(const struct le_expression *x) {
    return x->kind == LE_EXPRESSION_ADDRESS || (x->kind == LE_EXPRESSION_VARIABLE && is_array(x->variable)) ||
           gives_address(x);
}

static void any(struct le_ktree_verifier *v, const struct le_expression *x);

/* ---- operations */

/* Positions have the arithmetic of integers, but a division of their own. */
static bool has_positions(int code) {
    switch (code) {
    case LE_OP_DIV:
    case LE_OP_NOT:
    case LE_OP_ABS:
    case LE_OP_SIGN:
    case LE_OP_LNOT:
        return false;
    case LE_KTREE_QUOTIENT:
    case LE_KTREE_REMAINDER:
    case LE_OP_NEG:
    case LE_OP_MIN:
    case LE_OP_MAX:
    case LE_OP_CLAMP:
        return true;
    default:
        return le_ktree_op_binding(code) != 0;
    }
}

static bool has_type(int code, enum le_type type) {
    bool is_float = le_type_is_float(type), is_bool = type == LE_BOOL;
    if (code >= LE_OPS)
        return code < LE_CODES && !is_bool;
    switch (le_op_info((enum le_op)code)->rule) {
    case LE_RULE_TRUEDIV:
    case LE_RULE_FLOAT:
        return is_float;
    case LE_RULE_BITS:
        return !is_float;
    case LE_RULE_SHIFT:
    case LE_RULE_INTEGER:
        return !is_float && !is_bool;
    case LE_RULE_LOGIC:
        return is_bool;
    case LE_RULE_ROUND:
    case LE_RULE_SAME:
        return !is_bool;
    default:
        return true;
    }
}

/* The type of the result; LE_KTREE_VOID: there is no such operation. */
static int type_of_op(const struct le_expression *x) {
    int type = x->x[0]->type;
    for (int k = 0; k < x->count; k++) {
        int own = x->x[k]->type;
        if (le_ktree_is_position(type) != le_ktree_is_position(own) || !is_number(own) || is_half(own))
            return LE_KTREE_VOID;
        if (le_ktree_is_position(type))
            type = le_ktree_wider(type, own);
        else if (own != type)
            return LE_KTREE_VOID;
    }
    bool has = le_ktree_is_position(type) ? has_positions(x->code) : has_type(x->code, (enum le_type)type);
    return !has ? LE_KTREE_VOID : le_ktree_gives_bool(x->code) ? LE_BOOL : type;
}

static void verify_op(struct le_ktree_verifier *v, const struct le_expression *x) {
    const char *name = le_ktree_op_name(x->code);
    if (!name || x->count != le_ktree_op_arity(x->code)) {
        le_ktree_problem(v, "%s has %d operands", name ? name : "an operation", x->count);
        return;
    }
    for (int k = 0; k < x->count && !v->problem; k++)
        le_verify_value(v, x->x[k]);
    if (v->problem)
        return;
    int type = type_of_op(x);
    if (type == LE_KTREE_VOID)
        le_ktree_problem(v, "%s does not take %s%s%s", name, name_of(v, x->x[0]->type), x->count > 1 ? " and " : "",
                         x->count > 1 ? name_of(v, x->x[1]->type) : "");
    else if (type != x->type)
        le_ktree_problem(v, "%s gives %s, not %s", name, name_of(v, type), name_of(v, x->type));
    if (x->way != LE_WAY_QUICK)
        return;
    if (!x->variable || x->variable->type != LE_BOOL)
        le_ktree_problem(v, "the quick way of %s has no bool", name);
    else
        le_verify_use(v, x->variable);
}

static void verify_cast(struct le_ktree_verifier *v, const struct le_expression *x) {
    le_verify_value(v, x->x[0]);
    if (!v->problem && (!is_number(x->type) || !is_number(x->x[0]->type)))
        le_ktree_problem(v, "a cast from %s to %s", name_of(v, x->x[0]->type), name_of(v, x->type));
}

static void verify_select(struct le_ktree_verifier *v, const struct le_expression *x) {
    le_verify_condition(v, x->x[0]);
    le_verify_value(v, x->x[1]);
    le_verify_value(v, x->x[2]);
    if (v->problem)
        return;
    int a = x->x[1]->type, b = x->x[2]->type;
    bool positions = le_ktree_is_position(a) && le_ktree_is_position(b);
    if (positions ? x->type != le_ktree_wider(a, b) : a != b || x->type != a)
        le_ktree_problem(v, "a choice of %s and %s gives %s", name_of(v, a), name_of(v, b), name_of(v, x->type));
}

/* ---- places */

/* row: it may have fewer subscripts than the array has axes */
static void verify_subscripts(struct le_ktree_verifier *v, const struct le_expression *x, bool row) {
    const struct le_variable *array = x->variable;
    le_verify_use(v, array);
    if (!is_array(array))
        le_ktree_problem(v, "%s is not an array", array->name);
    else if (row ? x->count < 1 || x->count > array->axes : x->count != array->axes)
        le_ktree_problem(v, "%s has %d axes, not %d", array->name, array->axes, x->count);
    else if (x->type != array->type)
        le_ktree_problem(v, "an element of %s is %s, not %s", array->name, name_of(v, array->type),
                         name_of(v, x->type));
    for (int k = 0; k < x->count && !v->problem; k++) {
        le_verify_value(v, x->x[k]);
        if (!v->problem && !le_ktree_is_position(x->x[k]->type) && x->x[k]->type != LE_I64)
            le_ktree_problem(v, "a subscript of %s is %s", array->name, name_of(v, x->x[k]->type));
    }
}

static void verify_element(struct le_ktree_verifier *v, const struct le_expression *x) {
    verify_subscripts(v, x, false);
}

/* The array that an address points into; NULL: unknown. */
static const struct le_variable *array_of(const struct le_expression *x) {
    if (x->kind == LE_EXPRESSION_ADDRESS)
        x = x->x[0];
    return x->kind == LE_EXPRESSION_VARIABLE || x->kind == LE_EXPRESSION_ELEMENT ? x->variable : NULL;
}

static void verify_address(struct le_ktree_verifier *v, const struct le_expression *x) {
    const struct le_expression *of = x->x[0];
    if (of->kind == LE_EXPRESSION_ELEMENT)
        verify_subscripts(v, of, true);
    else if (of->kind == LE_EXPRESSION_VARIABLE)
        le_verify_use(v, of->variable);
    else
        le_ktree_problem(v, "the address of what is not an element");
    if (of->type != x->type)
        le_ktree_problem(v, "the address of %s is one of %s", name_of(v, of->type), name_of(v, x->type));
}

/* ---- calls and totals */

static void verify_call(struct le_ktree_verifier *v, const struct le_expression *x) {
    if (x->code < 0 || x->code >= LE_CALLS) {
        le_ktree_problem(v, "there is no function with number %d", x->code);
        return;
    }
    const struct le_call_properties *p = &le_calls[x->code];
    if (x->static_count != p->statics || x->count != p->operands)
        le_ktree_problem(v, "%s takes %d statics and %d operands, not %d and %d", p->name, p->statics, p->operands,
                         x->static_count, x->count);
    if (p->type >= 0 && x->type != p->type)
        le_ktree_problem(v, "%s gives %s, not %s", p->name, name_of(v, p->type), name_of(v, x->type));
    if (p->type < 0)
        le_verify_type(v, x->type);
    for (int k = 0; k < x->static_count && !v->problem; k++)
        if (x->statics[k].is_type)
            le_verify_type(v, (int)x->statics[k].value);
    for (const char *at = strchr(p->cuda, '#'); at && !v->problem; at = strchr(at + 1, '#'))
        for (int k = 0; k < x->static_count; k++)
            if ((at[1] == '*' || at[1] - '0' == k) && !x->statics[k].is_type)
                le_ktree_problem(v, "static %d of %s is not a type", k, p->name);
    for (int k = 0; k < x->count && !v->problem; k++)
        any(v, x->x[k]);
}

static bool is_arg(enum le_reduction reduction) {
    return reduction == LE_RED_ARGMIN || reduction == LE_RED_ARGMAX;
}

static void verify_total(struct le_ktree_verifier *v, const struct le_expression *x) {
    if (!is_totals(v, x->type)) {
        le_ktree_problem(v, "a total of type %s", name_of(v, x->type));
        return;
    }
    le_verify_type(v, x->type);
    const struct le_totals *totals = &v->t->totals.at[x->type - LE_KTREE_TOTALS];
    bool args = false;
    for (int k = 0; k < totals->count; k++)
        args |= is_arg(totals->part[k].reduction);
    if (x->count != totals->count + args) {
        le_ktree_problem(v, "a total %s has %d terms, not %d", totals->name, totals->count + args, x->count);
        return;
    }
    for (int k = 0; k < totals->count && !v->problem; k++)
        le_verify_fits(v, (int)totals->part[k].type, x->x[k]);
    if (args && !v->problem)
        le_verify_fits(v, totals->narrow ? LE_KTREE_INT : LE_KTREE_LONG, x->x[totals->count]);
}

static void verify_part(struct le_ktree_verifier *v, const struct le_expression *x) {
    le_verify_value(v, x->x[0]);
    le_verify_condition(v, x->x[1]);
    if (v->problem)
        return;
    const struct le_totals *totals =
        is_totals(v, x->x[0]->type) ? &v->t->totals.at[x->x[0]->type - LE_KTREE_TOTALS] : NULL;
    if (!totals || x->code < 0 || x->code >= totals->count) {
        le_ktree_problem(v, "%s has no part %d", name_of(v, x->x[0]->type), x->code);
        return;
    }
    int type = is_arg(totals->part[x->code].reduction) ? LE_I64 : (int)totals->part[x->code].type;
    if (type != x->type)
        le_ktree_problem(v, "part %d of %s is %s, not %s", x->code, totals->name, name_of(v, type),
                         name_of(v, x->type));
}

/* ---- all */

static void verify_constant(struct le_ktree_verifier *v, const struct le_expression *x) {
    if (!is_number(x->type))
        le_ktree_problem(v, "a constant of type %s", name_of(v, x->type));
}

static void verify_variable(struct le_ktree_verifier *v, const struct le_expression *x) {
    le_verify_use(v, x->variable);
    if (x->type != x->variable->type)
        le_ktree_problem(v, "%s is %s, not %s", x->variable->name, name_of(v, x->variable->type), name_of(v, x->type));
}

static void any(struct le_ktree_verifier *v, const struct le_expression *x) {
    static void (*const rules[])(struct le_ktree_verifier * v,
                                 const struct le_expression *x) = {[LE_EXPRESSION_CONSTANT] = verify_constant,
                                                                   [LE_EXPRESSION_VARIABLE] = verify_variable,
                                                                   [LE_EXPRESSION_OP] = verify_op,
                                                                   [LE_EXPRESSION_CAST] = verify_cast,
                                                                   [LE_EXPRESSION_SELECT] = verify_select,
                                                                   [LE_EXPRESSION_ELEMENT] = verify_element,
                                                                   [LE_EXPRESSION_ADDRESS] = verify_address,
                                                                   [LE_EXPRESSION_THREAD] = NULL,
                                                                   [LE_EXPRESSION_CALL] = verify_call,
                                                                   [LE_EXPRESSION_TOTAL] = verify_total,
                                                                   [LE_EXPRESSION_PART] = verify_part};
    if (!x)
        le_ktree_problem(v, "an expression is missing");
    else if (rules[x->kind])
        rules[x->kind](v, x);
}

void le_verify_value(struct le_ktree_verifier *v, const struct le_expression *x) {
    any(v, x);
    if (!v->problem && !is_value(x))
        le_ktree_problem(v, "%s is not a value", x->kind == LE_EXPRESSION_VARIABLE ? x->variable->name : "an operand");
}

void le_verify_fits(struct le_ktree_verifier *v, int type, const struct le_expression *x) {
    le_verify_value(v, x);
    if (!v->problem && x->type != type && !(le_ktree_is_position(type) && le_ktree_is_position(x->type)))
        le_ktree_problem(v, "a value of type %s, not %s", name_of(v, x->type), name_of(v, type));
}

void le_verify_condition(struct le_ktree_verifier *v, const struct le_expression *x) {
    le_verify_value(v, x);
    if (!v->problem && x->type != LE_BOOL)
        le_ktree_problem(v, "a condition of type %s", name_of(v, x->type));
}

void le_verify_address(struct le_ktree_verifier *v, const struct le_expression *x, bool written) {
    any(v, x);
    if (v->problem)
        return;
    const struct le_variable *array = array_of(x);
    if (!is_address(x))
        le_ktree_problem(v, "%s is not an address", array ? array->name : "an operand");
    else if (written && array && array->read_only)
        le_ktree_problem(v, "%s is read only", array->name);
}

void le_verify_place(struct le_ktree_verifier *v, const struct le_expression *x) {
    le_verify_value(v, x);
    if (v->problem)
        return;
    if (x->kind != LE_EXPRESSION_ELEMENT)
        le_ktree_problem(v, "what is changed is not an element");
    else if (x->variable->read_only)
        le_ktree_problem(v, "%s is read only", x->variable->name);
}

void le_verify_call(struct le_ktree_verifier *v, const struct le_expression *x) {
    any(v, x);
    if (!v->problem && (x->kind != LE_EXPRESSION_CALL || x->type != LE_KTREE_VOID))
        le_ktree_problem(v, "a statement that is not a call without a result");
}

void le_verify_object(struct le_ktree_verifier *v, const struct le_expression *x) {
    le_verify_call(v, x);
    if (!v->problem && x->count > 0)
        le_ktree_problem(v, "%s is not an object", le_calls[x->code].name);
}
