/* Builds kernel trees: expressions, statements and blocks. */
#include "gen/tree/ktree.h"
#include <string.h>

const struct le_call_properties le_calls[LE_CALLS] = {
#define LE_CALL(id, name, type, statics, operands, cuda) {name, type, statics, operands, cuda},
#include "gen/tree/call.def"
#undef LE_CALL
};

struct le_kernel_tree *le_ktree_new(struct le_arena *arena) {
    struct le_kernel_tree *t = LE_NEW(arena, struct le_kernel_tree);
    t->arena = arena;
    t->root = LE_NEW(arena, struct le_block);
    return t;
}

struct le_variable *le_ktree_variable(struct le_kernel_tree *t, const char *wish, int type) {
    struct le_variable *v = LE_NEW(t->arena, struct le_variable);
    *v = (struct le_variable){.name = le_ktree_name(t, wish), .type = type, .id = t->variable_count++};
    return v;
}

/* ---- expressions */

static struct le_expression *new_expression(struct le_kernel_tree *t, enum le_expression_kind kind, int type,
                                            struct le_expression *const *x, int count) {
    struct le_expression *e = LE_NEW(t->arena, struct le_expression);
    *e = (struct le_expression){.kind = kind, .type = type, .count = count};
    if (count > 0) {
        e->x = LE_NEW_ARRAY(t->arena, count, struct le_expression *);
        memcpy(e->x, x, (size_t)count * sizeof *x);
    }
    return e;
}

struct le_expression *le_ktree_constant(struct le_kernel_tree *t, int type, uint64_t bits) {
    struct le_expression *e = new_expression(t, LE_EXPRESSION_CONSTANT, type, NULL, 0);
    e->bits = bits;
    return e;
}

struct le_expression *le_ktree_int(struct le_kernel_tree *t, int64_t value) {
    return le_ktree_constant(t, LE_KTREE_INT, (uint64_t)value);
}

struct le_expression *le_ktree_long(struct le_kernel_tree *t, int64_t value) {
    return le_ktree_constant(t, LE_KTREE_LONG, (uint64_t)value);
}

struct le_expression *le_ktree_use(struct le_kernel_tree *t, struct le_variable *variable) {
    struct le_expression *e = new_expression(t, LE_EXPRESSION_VARIABLE, variable->type, NULL, 0);
    e->variable = variable;
    return e;
}

bool le_ktree_is_constant(const struct le_expression *x, int64_t value) {
    return x->kind == LE_EXPRESSION_CONSTANT && le_ktree_is_position(x->type) && (int64_t)x->bits == value;
}

static bool compares(int code) {
    return code >= LE_OP_EQ && code <= LE_OP_GE;
}

/* The result, if it needs no operation; else NULL. */
static struct le_expression *folded(struct le_kernel_tree *t, int code, int type, struct le_expression *a,
                                    struct le_expression *b) {
    bool zero = le_ktree_is_constant(b, 0), one = le_ktree_is_constant(b, 1);
    if (code == LE_OP_ADD && le_ktree_is_constant(a, 0))
        return le_ktree_cast(t, type, b);
    if ((zero && (code == LE_OP_ADD || code == LE_OP_SUB)) || (one && (code == LE_OP_MUL || code == LE_KTREE_QUOTIENT)))
        return le_ktree_cast(t, type, a);
    if (a->kind != LE_EXPRESSION_CONSTANT || b->kind != LE_EXPRESSION_CONSTANT)
        return NULL;
    if (code == LE_OP_ADD)
        return le_ktree_constant(t, type, a->bits + b->bits);
    if (code == LE_OP_SUB)
        return le_ktree_constant(t, type, a->bits - b->bits);
    return code == LE_OP_MUL ? le_ktree_constant(t, type, a->bits * b->bits) : NULL;
}

struct le_expression *le_ktree_op(struct le_kernel_tree *t, int code, int type, struct le_expression *const *x,
                                  int count) {
    struct le_expression *e = new_expression(t, LE_EXPRESSION_OP, type, x, count);
    e->code = code;
    return e;
}

struct le_expression *le_ktree_binary(struct le_kernel_tree *t, int code, struct le_expression *a,
                                      struct le_expression *b) {
    if (le_ktree_is_position(a->type) != le_ktree_is_position(b->type)) {
        a = le_ktree_is_position(a->type) ? a : le_ktree_cast(t, LE_KTREE_LONG, a);
        b = le_ktree_is_position(b->type) ? b : le_ktree_cast(t, LE_KTREE_LONG, b);
    }
    struct le_expression *x[] = {a, b};
    if (compares(code) || code == LE_OP_LAND || code == LE_OP_LOR)
        return le_ktree_op(t, code, LE_BOOL, x, 2);
    if (!le_ktree_is_position(a->type))
        return le_ktree_op(t, code, a->type, x, 2);
    int type = le_ktree_wider(a->type, b->type);
    struct le_expression *known = folded(t, code, type, a, b);
    return known ? known : le_ktree_op(t, code, type, x, 2);
}

struct le_expression *le_ktree_not(struct le_kernel_tree *t, struct le_expression *x) {
    return le_ktree_op(t, LE_OP_LNOT, LE_BOOL, &x, 1);
}

struct le_expression *le_ktree_cast(struct le_kernel_tree *t, int type, struct le_expression *x) {
    if (x->type == type)
        return x;
    if (x->kind == LE_EXPRESSION_CONSTANT && le_ktree_is_position(x->type) && le_ktree_is_position(type))
        return le_ktree_constant(t, type, x->bits);
    return new_expression(t, LE_EXPRESSION_CAST, type, &x, 1);
}

struct le_expression *le_ktree_select(struct le_kernel_tree *t, struct le_expression *condition,
                                      struct le_expression *a, struct le_expression *b) {
    struct le_expression *x[] = {condition, a, b};
    return new_expression(t, LE_EXPRESSION_SELECT,
                          le_ktree_is_position(a->type) ? le_ktree_wider(a->type, b->type) : a->type, x, 3);
}

static struct le_expression *element(struct le_kernel_tree *t, struct le_variable *array,
                                     struct le_expression *const *x, int count) {
    struct le_expression *e = new_expression(t, LE_EXPRESSION_ELEMENT, array->type, x, count);
    e->variable = array;
    return e;
}

struct le_expression *le_ktree_element(struct le_kernel_tree *t, struct le_variable *array, struct le_expression *x) {
    return element(t, array, &x, 1);
}

struct le_expression *le_ktree_element2(struct le_kernel_tree *t, struct le_variable *array, struct le_expression *x,
                                        struct le_expression *y) {
    struct le_expression *both[] = {x, y};
    return element(t, array, both, 2);
}

struct le_expression *le_ktree_address(struct le_kernel_tree *t, struct le_expression *element) {
    return new_expression(t, LE_EXPRESSION_ADDRESS, element->type, &element, 1);
}

struct le_expression *le_ktree_thread(struct le_kernel_tree *t, enum le_thread_number number) {
    struct le_expression *e = new_expression(t, LE_EXPRESSION_THREAD, LE_KTREE_UINT, NULL, 0);
    e->code = (int)number;
    return e;
}

struct le_expression *le_ktree_call(struct le_kernel_tree *t, enum le_library_call call, int type,
                                    const struct le_static *statics, struct le_expression *const *x) {
    const struct le_call_properties *p = &le_calls[call];
    struct le_expression *e = new_expression(t, LE_EXPRESSION_CALL, p->type < 0 ? type : p->type, x, p->operands);
    e->code = (int)call;
    e->static_count = p->statics;
    if (p->statics > 0) {
        e->statics = LE_NEW_ARRAY(t->arena, p->statics, struct le_static);
        memcpy(e->statics, statics, (size_t)p->statics * sizeof *statics);
    }
    return e;
}

struct le_expression *le_ktree_total(struct le_kernel_tree *t, int type, struct le_expression *const *x, int count) {
    return new_expression(t, LE_EXPRESSION_TOTAL, type, x, count);
}

struct le_expression *le_ktree_part(struct le_kernel_tree *t, int type, struct le_expression *totals, int number,
                                    struct le_expression *empty) {
    struct le_expression *x[] = {totals, empty};
    struct le_expression *e = new_expression(t, LE_EXPRESSION_PART, type, x, 2);
    e->code = number;
    return e;
}

/* ---- statements */

struct le_statement *le_ktree_add(struct le_kernel_tree *t, struct le_block *block, struct le_statement model) {
    struct le_statement *s = LE_NEW(t->arena, struct le_statement);
    *s = model;
    *LE_PUSH(t->arena, &block->list) = s;
    return s;
}

struct le_expression *le_let(struct le_kernel_tree *t, struct le_block *block, const char *wish,
                             struct le_expression *x) {
    struct le_variable *v = le_ktree_variable(t, wish, x->type);
    le_ktree_add(t, block, (struct le_statement){.kind = LE_STATEMENT_LET, .variable = v, .x = x});
    return le_ktree_use(t, v);
}

struct le_variable *le_ktree_declare(struct le_kernel_tree *t, struct le_block *block, const char *wish, int type,
                                     struct le_expression *x) {
    struct le_variable *v = le_ktree_variable(t, wish, type);
    v->changes = true;
    le_ktree_add(t, block, (struct le_statement){.kind = LE_STATEMENT_VARIABLE, .variable = v, .x = x});
    return v;
}

struct le_variable *le_ktree_array(struct le_kernel_tree *t, struct le_block *block, const char *wish, int type,
                                   enum le_ktree_memory memory, int rows, int columns) {
    struct le_variable *v = le_ktree_variable(t, wish, type);
    v->memory = memory;
    v->axes = columns > 0 ? 2 : 1;
    v->extents[0] = rows;
    v->extents[1] = columns;
    le_ktree_add(t, block, (struct le_statement){.kind = LE_STATEMENT_ARRAY, .variable = v});
    return v;
}

struct le_variable *le_ktree_pointer(struct le_kernel_tree *t, struct le_block *block, const char *wish, int type,
                                     enum le_ktree_memory memory, struct le_expression *address) {
    struct le_variable *v = le_ktree_variable(t, wish, type);
    v->memory = memory;
    v->axes = 1;
    le_ktree_add(t, block, (struct le_statement){.kind = LE_STATEMENT_LET, .variable = v, .x = address});
    return v;
}

struct le_variable *le_ktree_object(struct le_kernel_tree *t, struct le_block *block, const char *wish,
                                    enum le_ktree_memory memory, int count, struct le_expression *type) {
    struct le_variable *v = le_ktree_array(t, block, wish, LE_KTREE_VOID, memory, count, 0);
    v->object = type;
    v->axes = count > 0 || memory == LE_KTREE_DYNAMIC;
    return v;
}

void le_ktree_set(struct le_kernel_tree *t, struct le_block *block, struct le_expression *to, struct le_expression *x) {
    le_ktree_add(t, block, (struct le_statement){.kind = LE_STATEMENT_SET, .to = to, .x = x});
}

void le_ktree_copy(struct le_kernel_tree *t, struct le_block *block, int count, struct le_expression *to,
                   struct le_expression *from) {
    le_ktree_add(t, block, (struct le_statement){.kind = LE_STATEMENT_COPY, .count = count, .to = to, .x = from});
}

void le_do(struct le_kernel_tree *t, struct le_block *block, enum le_library_call call, const struct le_static *statics,
           struct le_expression *const *x) {
    struct le_expression *call_of = le_ktree_call(t, call, LE_KTREE_VOID, statics, x);
    le_ktree_add(t, block, (struct le_statement){.kind = LE_STATEMENT_CALL, .x = call_of});
}

void le_ktree_barrier(struct le_kernel_tree *t, struct le_block *block) {
    le_ktree_add(t, block, (struct le_statement){.kind = LE_STATEMENT_BARRIER});
}

int le_ktree_totals(struct le_kernel_tree *t, struct le_block *block, const struct le_totals *totals) {
    struct le_totals *made = LE_PUSH(t->arena, &t->totals);
    *made = *totals;
    made->name = le_ktree_name(t, "total");
    le_ktree_add(t, block, (struct le_statement){.kind = LE_STATEMENT_TOTALS, .code = t->totals.count - 1});
    return LE_KTREE_TOTALS + t->totals.count - 1;
}

void le_ktree_return(struct le_kernel_tree *t, struct le_block *block, struct le_expression *x) {
    le_ktree_add(t, block, (struct le_statement){.kind = LE_STATEMENT_RETURN, .x = x});
}

void le_ktree_end_if(struct le_kernel_tree *t, struct le_block *block, struct le_expression *x) {
    struct le_block *inner = le_ktree_open_if(t, block, x);
    le_ktree_return(t, inner, NULL);
    le_ktree_close(t, inner);
}

/* ---- blocks */

struct le_block *le_ktree_open(struct le_kernel_tree *t, struct le_block *parent) {
    struct le_block *block = LE_NEW(t->arena, struct le_block);
    block->parent = parent;
    return block;
}

static struct le_block *open_owned(struct le_kernel_tree *t, struct le_block *parent, struct le_statement model) {
    struct le_block *block = le_ktree_open(t, parent);
    block->owner = LE_NEW(t->arena, struct le_statement);
    *block->owner = model;
    block->owner->body = block;
    return block;
}

struct le_block *le_ktree_open_scope(struct le_kernel_tree *t, struct le_block *parent) {
    return open_owned(t, parent, (struct le_statement){.kind = LE_STATEMENT_SCOPE});
}

struct le_block *le_ktree_open_if(struct le_kernel_tree *t, struct le_block *parent, struct le_expression *x) {
    return open_owned(t, parent, (struct le_statement){.kind = LE_STATEMENT_BRANCH, .x = x});
}

struct le_block *le_ktree_open_else(struct le_kernel_tree *t, struct le_block *parent) {
    struct le_block *block = le_ktree_open(t, parent);
    block->is_otherwise = true;
    return block;
}

struct le_block *le_ktree_open_while(struct le_kernel_tree *t, struct le_block *parent, struct le_expression *x) {
    return open_owned(t, parent, (struct le_statement){.kind = LE_STATEMENT_WHILE, .x = x});
}

struct le_block *le_ktree_open_loop(struct le_kernel_tree *t, struct le_block *parent, enum le_role role,
                                    struct le_variable *variable, struct le_expression *from,
                                    struct le_expression *below, struct le_expression *step) {
    return open_owned(t, parent,
                      (struct le_statement){.kind = LE_STATEMENT_LOOP,
                                            .role = role,
                                            .variable = variable,
                                            .x = from,
                                            .to = below,
                                            .step = step ? step : le_ktree_constant(t, variable->type, 1)});
}

/* One iteration needs no loop: each unrolled loop costs the compiler as much time as 40 operations. */
struct le_block *le_ktree_open_unrolled(struct le_kernel_tree *t, struct le_block *parent, struct le_variable *variable,
                                        int count) {
    if (count != 1)
        return le_ktree_open_loop(t, parent, LE_ROLE_UNROLLED, variable, le_ktree_int(t, 0), le_ktree_int(t, count),
                                  NULL);
    struct le_block *block = le_ktree_open_scope(t, parent);
    le_ktree_add(t, block,
                 (struct le_statement){.kind = LE_STATEMENT_LET, .variable = variable, .x = le_ktree_int(t, 0)});
    return block;
}

struct le_block *le_ktree_open_each(struct le_kernel_tree *t, struct le_block *parent, const char *wish, int count,
                                    struct le_expression **number) {
    struct le_variable *variable = le_ktree_variable(t, wish, LE_KTREE_INT);
    *number = le_ktree_use(t, variable);
    return le_ktree_open_unrolled(t, parent, variable, count);
}

struct le_block *le_ktree_open_function(struct le_kernel_tree *t, struct le_block *parent, struct le_variable *function,
                                        struct le_variable *const *parameters, int count) {
    struct le_block *block =
        open_owned(t, parent, (struct le_statement){.kind = LE_STATEMENT_FUNCTION, .variable = function});
    function->function = true;
    block->owner->parameters = LE_NEW_ARRAY(t->arena, count, struct le_variable *);
    block->owner->parameter_count = count;
    memcpy(block->owner->parameters, parameters, (size_t)count * sizeof *parameters);
    return block;
}

struct le_block *le_ktree_open_function_of(struct le_kernel_tree *t, struct le_block *parent, const char *wish,
                                           int type, const char *parameter, int parameter_type,
                                           struct le_variable **function, struct le_expression **x) {
    struct le_variable *variable = le_ktree_variable(t, parameter, parameter_type);
    *function = le_ktree_variable(t, wish, type);
    *x = le_ktree_use(t, variable);
    return le_ktree_open_function(t, parent, *function, &variable, 1);
}

void le_ktree_close_with(struct le_kernel_tree *t, struct le_block *block, struct le_expression *x) {
    le_ktree_return(t, block, x);
    le_ktree_close(t, block);
}

void le_ktree_close(struct le_kernel_tree *t, struct le_block *block) {
    struct le_block *parent = block->parent;
    if (block->owner) {
        *LE_PUSH(t->arena, &parent->list) = block->owner;
    } else if (block->is_otherwise) {
        parent->list.at[parent->list.count - 1]->otherwise = block;
    } else {
        for (int k = 0; k < block->list.count; k++)
            *LE_PUSH(t->arena, &parent->list) = block->list.at[k];
    }
}

void le_ktree_close_to(struct le_kernel_tree *t, struct le_block *inner, const struct le_block *outer) {
    for (; inner != outer; inner = inner->parent)
        le_ktree_close(t, inner);
}
