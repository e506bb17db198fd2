/* Finds types by NumPy 2's rules, repeatedly over the whole program until none changes: a scalar's type is promoted
 * from all its assignments. A program that the language refuses is UNSUITABLE. */
#include "oracle.h"
#include <stdlib.h>

struct typer {
    struct oracle *oracle;
    bool changed;
};

static int type_expression(struct typer *t, struct expression *e);
static void type_body(struct typer *t, struct statement *st);

int strong_type(int type) {
    return type == WEAK_REAL ? LEAT_F64 : type == WEAK_WHOLE || type == WEAK_INDEX ? LEAT_I64 : type;
}

static bool is_weak(int type) {
    return type >= WEAK_WHOLE;
}

static bool is_whole(int type) {
    return type != LEAT_BOOL && !is_real_type(type);
}

static bool is_unsigned(int type) {
    return type >= LEAT_U8 && type <= LEAT_U64;
}

static int size_of_type(int type) {
    return (int)leat_dtype_size_bytes((leat_dtype)type);
}

static int promote_weak(int strong, int weak) {
    if (weak == WEAK_REAL)
        return is_real_type(strong) ? strong : LEAT_F64;
    if (strong == LEAT_BOOL)
        return LEAT_I64;
    return weak == WEAK_INDEX && is_whole(strong) ? promote(LEAT_I64, strong) : strong;
}

static int promote_whole(int a, int b) {
    if (is_unsigned(a) == is_unsigned(b))
        return size_of_type(a) > size_of_type(b) ? a : b;
    int with_sign = is_unsigned(a) ? b : a, without = is_unsigned(a) ? a : b;
    if (size_of_type(with_sign) > size_of_type(without))
        return with_sign;
    if (without == LEAT_U64)
        return LEAT_F64;
    return without == LEAT_U8 ? LEAT_I16 : without == LEAT_U16 ? LEAT_I32 : LEAT_I64;
}

int promote(int a, int b) {
    if (a == b)
        return a;
    if (is_weak(a) && is_weak(b))
        return a > b ? a : b;
    if (is_weak(a) || is_weak(b))
        return is_weak(b) ? promote_weak(a, b) : promote_weak(b, a);
    if (a == LEAT_BOOL || b == LEAT_BOOL)
        return a == LEAT_BOOL ? b : a;
    if (!is_real_type(a) && !is_real_type(b))
        return promote_whole(a, b);
    int whole = is_real_type(a) ? b : a; /* or the other float */
    if (a == LEAT_F64 || b == LEAT_F64)
        return LEAT_F64;
    return is_real_type(whole) || size_of_type(whole) <= 2 ? LEAT_F32 : LEAT_F64;
}

static void refuse(struct typer *t, const char *why) {
    fail(t->oracle, UNSUITABLE, "%s", why);
}

/* ---- literals */

static bool is_constant(const struct expression *e) {
    if (e->kind == NUMBER || (e->kind == SCALAR && e->symbol->is_number))
        return true;
    bool all = e->kind == UNARY || e->kind == BINARY || e->kind == FUNCTION || e->kind == CHOICE;
    for (int k = 0; k < e->count; k++)
        all = all && is_constant(e->x[k]);
    return all;
}

/* A number, written or bound, that does not fit the type is an error even if it is not evaluated. */
static void need_fitting(struct typer *t, struct expression *e, int type) {
    if (!is_constant(e) || is_real_type(type) || !is_whole(e->type) || type == LEAT_BOOL)
        return;
    union value v = evaluate(t->oracle, e);
    bool is_negative = v.whole < 0 && is_unsigned(strong_type(type));
    if (is_negative || convert(t->oracle, v, LEAT_I64, strong_type(type)).whole != v.whole)
        refuse(t, "a number that does not fit");
}

static int meet(struct typer *t, struct expression *const *list, int count) {
    int type = type_expression(t, list[0]);
    for (int k = 1; k < count; k++)
        type = promote(type, type_expression(t, list[k]));
    for (int k = 0; k < count; k++)
        need_fitting(t, list[k], type);
    return type;
}

static void need_whole(struct typer *t, struct expression *e) {
    if (!is_whole(type_expression(t, e)))
        refuse(t, "a subscript or bound that is not whole");
}

/* ---- expressions */

static void meets(struct typer *t, struct symbol *scalar, int type) {
    int before = scalar->type;
    int *part = is_weak(type) ? &scalar->weak : &scalar->strong;
    *part = *part ? promote(*part, type) : type;
    scalar->type = !scalar->strong ? scalar->weak
                   : !scalar->weak ? scalar->strong
                                   : promote(scalar->strong, scalar->weak);
    t->changed |= scalar->type != before;
}

static int type_binary(struct typer *t, struct expression *e) {
    if (e->op == AND || e->op == OR || e->op >= LT) {
        type_expression(t, e->x[0]);
        type_expression(t, e->x[1]);
        return LEAT_BOOL;
    }
    int type = meet(t, e->x, 2);
    bool is_logic = e->op == BIT_AND || e->op == BIT_OR || e->op == BIT_XOR;
    if (is_logic && is_real_type(type))
        refuse(t, "bits of a float");
    if (e->op == DIVIDE)
        return is_real_type(type) ? type : is_weak(type) ? WEAK_REAL : LEAT_F64;
    return type == LEAT_BOOL && !is_logic && e->op != ADD && e->op != MULTIPLY ? LEAT_I64 : type;
}

static int type_unary(struct typer *t, struct expression *e) {
    int type = type_expression(t, e->x[0]);
    if (e->op == COMPLEMENT && is_real_type(type))
        refuse(t, "bits of a float");
    return e->op == NOT ? LEAT_BOOL : e->op == NEGATE && type == LEAT_BOOL ? LEAT_I64 : type;
}

static int type_function(struct typer *t, struct expression *e) {
    int type = meet(t, e->x, e->count);
    return type == LEAT_BOOL && e->op >= ABS ? LEAT_I64 : type;
}

static void type_range(struct typer *t, const struct index *index) {
    if (!index->low)
        return;
    need_whole(t, index->low);
    need_whole(t, index->high);
}

static int type_reduction(struct typer *t, struct expression *e) {
    for (int k = 0; k < e->binder_count; k++)
        type_range(t, e->binders[k]);
    int type = type_expression(t, e->x[0]);
    if (e->op == SUM || e->op == PROD)
        return is_real_type(type) ? strong_type(type) : is_unsigned(type) ? LEAT_U64 : LEAT_I64;
    if (e->op == ANY || e->op == ALL)
        return LEAT_BOOL;
    if (e->op == ARGMIN || e->op == ARGMAX)
        return LEAT_I64;
    return e->op == MEAN && !is_real_type(type) ? LEAT_F64 : strong_type(type);
}

static int type_returns(struct statement *st, int type) {
    for (; st; st = st->next) {
        if (st->kind == RETURN)
            type = type ? promote(type, st->value->type) : st->value->type;
        type = type_returns(st->body, type);
        type = type_returns(st->other, type);
    }
    return type;
}

static void need_fitting_returns(struct typer *t, const struct statement *st, int type) {
    for (; st; st = st->next) {
        if (st->kind == RETURN)
            need_fitting(t, st->value, type);
        need_fitting_returns(t, st->body, type);
        need_fitting_returns(t, st->other, type);
    }
}

static int type_call(struct typer *t, struct expression *e) {
    for (int k = 0; k < e->count; k++)
        meets(t, e->parameters[k], type_expression(t, e->x[k]));
    type_body(t, e->body);
    int type = type_returns(e->body, 0);
    need_fitting_returns(t, e->body, type);
    return type;
}

static int type_of(struct typer *t, struct expression *e) {
    switch (e->kind) {
    case NUMBER:
        return e->is_real ? WEAK_REAL : WEAK_WHOLE;
    case INDEX:
    case LENGTH:
        return WEAK_INDEX;
    case SCALAR:
        return e->symbol->type;
    case READ:
        for (int k = 0; k < e->count; k++)
            need_whole(t, e->x[k]);
        return e->symbol->type;
    case UNARY:
        return type_unary(t, e);
    case BINARY:
        return type_binary(t, e);
    case CHOICE:
        type_expression(t, e->x[0]);
        return meet(t, e->x + 1, 2);
    case FUNCTION:
        return type_function(t, e);
    case CAST:
        type_expression(t, e->x[0]);
        return e->op;
    case REDUCTION:
        return type_reduction(t, e);
    case CALL:
        return type_call(t, e);
    }
    return 0;
}

static int type_expression(struct typer *t, struct expression *e) {
    int type = type_of(t, e);
    if (!type) /* a scalar whose assignment comes later */
        type = WEAK_WHOLE;
    return e->type = type;
}

/* ---- statements */

static void type_assignment(struct typer *t, struct statement *st) {
    struct symbol *symbol = st->symbol;
    for (int k = 0; k < st->index_count; k++)
        type_range(t, st->indices[k]);
    for (int d = 0; d < st->count; d++)
        need_whole(t, st->x[d]);
    struct expression *sides[2] = {st->value, st->otherwise};
    int type = st->type = meet(t, sides, st->otherwise ? 2 : 1);
    if (symbol->is_array && !symbol->dtype && symbol->type_giver == st && symbol->type != strong_type(type)) {
        symbol->type = strong_type(type);
        t->changed = true;
    }
    int met = st->update == SET ? type : promote(symbol->type, type);
    if (!symbol->is_array && (!symbol->dtype || symbol->is_input))
        meets(t, symbol, met);
    need_fitting(t, st->value, symbol->type);
    if (st->otherwise)
        need_fitting(t, st->otherwise, symbol->type);
    if (is_real_type(met) && !is_real_type(symbol->type))
        refuse(t, "a float into integers");
}

static void type_declaration(struct typer *t, struct statement *st) {
    struct symbol *symbol = st->symbol;
    for (int d = 0; d < st->count; d++)
        need_whole(t, st->x[d]);
    if (symbol->dtype && symbol->type != symbol->dtype) {
        symbol->type = symbol->dtype;
        t->changed = true;
    }
    if (!st->value)
        return;
    int type = type_expression(t, st->value);
    if (symbol->dtype && is_real_type(type) && !is_real_type(symbol->dtype))
        refuse(t, "a float into integers");
    if (symbol->dtype)
        need_fitting(t, st->value, symbol->dtype);
    else if (symbol->is_array)
        refuse(t, "an initial value without a type");
    else
        meets(t, symbol, type);
}

static void type_statement(struct typer *t, struct statement *st) {
    if (st->kind == ASSIGN) {
        type_assignment(t, st);
        return;
    }
    if (st->kind == DECLARE) {
        type_declaration(t, st);
        return;
    }
    for (int k = 0; k < st->index_count; k++)
        type_range(t, st->indices[k]);
    if (st->value)
        type_expression(t, st->value);
    if (st->kind == EDGE && st->value)
        need_fitting(t, st->value, st->symbol->type);
    if (st->kind == EDGE && st->value && is_real_type(st->value->type) && !is_real_type(st->symbol->type))
        refuse(t, "a float into integers");
    type_body(t, st->body);
    type_body(t, st->other);
}

static void type_body(struct typer *t, struct statement *st) {
    for (; st; st = st->next)
        type_statement(t, st);
}

/* A scalar starts with the type of its input or declaration. An array without a declared type that is never assigned is
 * f64. */
static void start_symbol(struct symbol *symbol) {
    symbol->strong = symbol->is_input && !symbol->is_number ? symbol->dtype : 0;
    symbol->weak = symbol->is_number ? WEAK_WHOLE : 0;
    symbol->type = symbol->is_number  ? WEAK_WHOLE
                   : symbol->size_of  ? WEAK_INDEX
                   : symbol->dtype    ? symbol->dtype
                   : symbol->is_array ? LEAT_F64
                                      : 0;
}

void type_program(struct oracle *oracle) {
    struct typer t = {.oracle = oracle, .changed = true};
    for (int k = 0; k < oracle->source->symbol_count; k++)
        start_symbol(oracle->source->symbols[k]);
    for (int round = 0; t.changed && oracle->verdict == RUNS; round++) {
        t.changed = false;
        type_body(&t, oracle->source->body);
        if (round == 20)
            refuse(&t, "types that do not stand still");
    }
}
