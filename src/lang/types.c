/* Finds the types of all nodes and symbols: NumPy's promotion from the leaves up, repeated over the program until no
 * type changes (a scalar's type is promoted from all of its assignments). Without inputs, it finds what follows from
 * the text alone. LE_NONE is an unknown type. Anything combined with it is unknown, too, and no rule applies to it.
 *
 * An error leaves its step by longjmp. Errors are not reported while types still change; a last pass reports them. */
#include "lang/check.h"
#include "lang/habits.h"
#include "lang/literal.h"

#define PASSES_MAX 64 /* more are made while all passes together visit fewer than NODES_MAX nodes */
#define NODES_MAX  100000000

struct symbol_state {          /* of a symbol */
    enum le_type strong, weak; /* promoted from the assignments so far */
    bool unknown;
    int first;                        /* first step that assigns it, from 1 */
    int read;                         /* last pass that read it */
    const struct le_tree_node *start; /* default of an input; NULL: none */
};
struct typer {
    struct le_arena *arena;
    struct le_tree *tree;
    const struct le_input *inputs;
    struct symbol_state *states;
    int pass;
    int64_t node_count; /* in all passes */
    bool changed, report;
    int step;                           /* from 1 */
    enum le_type returns, weak_returns; /* of the current call, so far; LE_NONE: none */
    bool unknown_returns;
    struct {
        struct le_fit *at;
        int count, capacity;
    } fits; /* found in this pass */
    jmp_buf failure;
};

static enum le_type find_type(struct typer *t, struct le_tree_node *node);
static void type_step(struct typer *t, struct le_step *step);

__attribute__((format(printf, 4, 5))) static _Noreturn void fail(struct typer *t, struct le_location location,
                                                                 const char *expected, const char *format, ...) {
    if (t->report) {
        va_list arguments;
        va_start(arguments, format);
        le_errors_add(t->inputs ? LEAT_MISMATCH : LEAT_PROGRAM, location, expected, format, arguments);
        va_end(arguments);
    }
    longjmp(t->failure, 1);
}

/* ---- symbols */

static struct symbol_state *state_of(struct typer *t, const struct le_symbol *symbol) {
    return &t->states[symbol->id];
}

static void set_type(struct typer *t, struct le_symbol *symbol, enum le_type type) {
    t->tree->has_complex |= le_type_is_complex(type);
    if (symbol->type != type && state_of(t, symbol)->read == t->pass)
        t->changed = true;
    symbol->type = type;
}

/* Promotes the scalar's type for an assignment of the given type. */
static void promote_scalar(struct typer *t, struct le_symbol *symbol, enum le_type type) {
    struct symbol_state *s = state_of(t, symbol);
    if (symbol->declared != LE_NONE)
        return;
    if (type == LE_NONE)
        s->unknown = true;
    else if (le_type_is_weak(type))
        s->weak = le_type_promote(s->weak, type);
    else
        s->strong = le_type_promote(s->strong, type);
    set_type(t, symbol, s->unknown ? LE_NONE : le_type_promote(s->strong, s->weak));
}

static enum le_type read_symbol(struct typer *t, const struct le_symbol *symbol) {
    state_of(t, symbol)->read = t->pass;
    return symbol->type;
}

static void start_input(struct typer *t, struct le_symbol *symbol) {
    const struct le_input *input = t->inputs ? &t->inputs[symbol->id] : NULL;
    if (symbol->is_array)
        symbol->type = input ? input->type : symbol->declared;
    else if (symbol->declared != LE_NONE)
        symbol->type = symbol->declared;
    else if (!input)
        promote_scalar(t, symbol, LE_NONE);
    else if (input->bound)
        promote_scalar(t, symbol, input->type);
    else if (!symbol->wants_default)
        promote_scalar(t, symbol, LE_WEAK_INDEX);
}

static void start_symbols(struct typer *t) {
    for (int k = 0; k < t->tree->symbol_count; k++) {
        struct le_symbol *symbol = t->tree->symbols[k];
        if (symbol->is_input)
            start_input(t, symbol);
        else
            symbol->type = symbol->declared != LE_NONE ? symbol->declared : symbol->is_array ? LE_F64 : LE_NONE;
        t->tree->has_complex |= le_type_is_complex(symbol->type);
    }
}

/* ---- rules */

static enum le_type join_types(enum le_type a, enum le_type b) {
    return a == LE_NONE || b == LE_NONE ? LE_NONE : le_type_promote(a, b);
}

static bool is_whole(enum le_type type) {
    return type == LE_BOOL || le_type_is_int(type);
}

/* The default of an input that is not bound, if it is a literal. */
static bool default_of(struct typer *t, const struct le_symbol *symbol, struct le_literal *literal) {
    const struct le_tree_node *start = state_of(t, symbol)->start;
    return !t->inputs[symbol->id].bound && start && le_literal_of(start, literal);
}

/* If the node is an input that the caller binds to a plain integer, records that its value must fit the type. Returns
 * true if the value is already known: then *literal is set. */
static bool is_input_literal(struct typer *t, const struct le_tree_node *node, enum le_type type,
                             struct le_literal *literal) {
    int sign;
    const struct le_symbol *symbol = le_signed_scalar(node, &sign);
    if (!t->inputs || !symbol || !symbol->is_input || symbol->assigned || le_type_is_weak(type))
        return false;
    const struct le_input *input = &t->inputs[symbol->id];
    if (input->bound && !input->is_array && input->type == LE_WEAK_INT && symbol->declared == LE_NONE)
        *LE_PUSH(t->arena, &t->fits) = (struct le_fit){symbol->id, type, sign, node->location};
    bool known = default_of(t, symbol, literal);
    if (known)
        *literal = le_literal_signed(*literal, sign);
    return known;
}

/* Fails if a literal that is combined with the type is out of its range. */
static void check_fits(struct typer *t, const struct le_tree_node *node, enum le_type type) {
    struct le_literal literal;
    if (!le_type_is_int(type) || !(le_literal_of(node, &literal) || is_input_literal(t, node, type, &literal)) ||
        le_literal_fits(&literal, type))
        return;
    enum le_type larger = le_literal_fits(&literal, LE_I64) ? LE_I64 : literal.negative ? LE_F64 : LE_U64;
    const char *name = le_type_name(larger);
    fail(t, node->location,
         le_arena_format(t->arena, "cast the other operand, as in %s(x), or declare it as %s", name, name),
         "the number %s%llu is out of range for %s", literal.negative ? "-" : "", (unsigned long long)literal.size,
         le_type_name(type));
}

static void check_whole(struct typer *t, struct le_tree_node *node, const char *what) {
    enum le_type type = find_type(t, node);
    if (type != LE_NONE && !le_type_is_int(type))
        fail(t, node->location, le_whole_advice(t->arena, node), "%s must be an integer, not %s", what,
             le_type_name(type));
}

static enum le_type common_type(struct typer *t, struct le_tree_node *const *nodes, int count) {
    enum le_type type = find_type(t, nodes[0]);
    for (int k = 1; k < count; k++)
        type = join_types(type, find_type(t, nodes[k]));
    for (int k = 0; k < count; k++)
        check_fits(t, nodes[k], type);
    return type;
}

static _Noreturn void fail_operand(struct typer *t, const struct le_tree_node *node, enum le_type type) {
    const char *name = le_op_info((enum le_op)node->op)->name, *habit = le_habit_of_operator(name);
    fail(t, node->location, habit && le_type_is_float(type) ? habit : "write i64(...) around it",
         "'%s' needs integers, not %s", name, le_type_name(type));
}

/* ---- operations */

static enum le_type without_bool(enum le_type type) {
    return type == LE_BOOL ? LE_I64 : type;
}

static _Noreturn void fail_order(struct typer *t, const struct le_tree_node *node, const char *name,
                                 enum le_type type) {
    fail(t, node->location, "compare re(...), im(...) or abs(...)",
         "'%s' cannot order %s: complex numbers have no order", name, le_type_name(type));
}

static enum le_type find_compare(struct typer *t, struct le_tree_node *node) {
    enum le_type a = find_type(t, node->children[0]), b = find_type(t, node->children[1]);
    node->operand = is_whole(a) && is_whole(b) ? LE_NONE : join_types(a, b);
    if (le_type_is_complex(node->operand) && node->op != LE_OP_EQ && node->op != LE_OP_NE)
        fail_order(t, node, le_op_info((enum le_op)node->op)->name, node->operand);
    return LE_BOOL;
}

static enum le_type find_logic(struct typer *t, struct le_tree_node *node) {
    for (int k = 0; k < node->child_count; k++)
        find_type(t, node->children[k]);
    node->operand = LE_NONE;
    return LE_BOOL;
}

/* Operands and result have the same type. */
static enum le_type find_uniform(struct typer *t, const struct le_tree_node *node, enum le_rule rule,
                                 enum le_type type) {
    switch (rule) {
    case LE_RULE_ARITH:
        return node->op == LE_OP_ADD || node->op == LE_OP_MUL ? type : without_bool(type);
    case LE_RULE_TRUEDIV:
    case LE_RULE_FLOAT:
        return le_type_to_float(type);
    case LE_RULE_BITS:
        if (type != LE_NONE && !is_whole(type))
            fail_operand(t, node, type);
        return type;
    case LE_RULE_SHIFT:
    case LE_RULE_INTEGER:
        type = rule == LE_RULE_SHIFT ? without_bool(type) : type;
        if (type != LE_NONE && !le_type_is_int(type))
            fail_operand(t, node, type);
        return type;
    case LE_RULE_ROUND:
    case LE_RULE_SAME:
        return without_bool(type);
    default:
        return type; /* CHOOSE */
    }
}

/* Fails if the operation is not defined for complex numbers. */
static void check_complex(struct typer *t, const struct le_tree_node *node, enum le_rule rule, enum le_type type) {
    static const enum le_op known[] = {LE_OP_ADD, LE_OP_SUB, LE_OP_MUL, LE_OP_DIV, LE_OP_POW,
                                       LE_OP_NEG, LE_OP_ABS, LE_OP_EXP, LE_OP_SQRT};
    const char *name = le_op_info((enum le_op)node->op)->name;
    if (!le_type_is_complex(type) || rule == LE_RULE_BITS || rule == LE_RULE_SHIFT || rule == LE_RULE_INTEGER)
        return;
    for (size_t k = 0; k < ARRAY_LEN(known); k++)
        if (node->op == (int)known[k])
            return;
    if (rule == LE_RULE_CHOOSE)
        fail_order(t, node, name, type);
    fail(t, node->location, "take re(...), im(...) or abs(...) first",
         "'%s' is not defined for complex numbers, and this is %s", name, le_type_name(type));
}

/* The shift count may have any integer type, even if the promotion with the left side's type is a float. */
static enum le_type shift_type(const struct le_tree_node *node, enum le_type type) {
    enum le_type left = node->children[0]->type;
    return le_type_is_float(type) && is_whole(left) && is_whole(node->children[1]->type) ? le_type_strong(left) : type;
}

/* Fails if any operand is a float or complex number. */
static void check_integers(struct typer *t, const struct le_tree_node *node) {
    for (int k = 0; k < node->child_count; k++)
        if (le_type_is_float(node->children[k]->type) || le_type_is_complex(node->children[k]->type))
            fail_operand(t, node, node->children[k]->type);
}

static enum le_type find_operation(struct typer *t, struct le_tree_node *node) {
    enum le_rule rule = le_op_info((enum le_op)node->op)->rule;
    if (rule == LE_RULE_COMPARE)
        return find_compare(t, node);
    if (rule == LE_RULE_LOGIC)
        return find_logic(t, node);
    bool has_sign = node->op == LE_OP_NEG || node->op == LE_OP_NOT;
    enum le_type type = has_sign ? find_type(t, node->children[0]) : common_type(t, node->children, node->child_count);
    if (rule == LE_RULE_SHIFT)
        type = shift_type(node, type);
    if (rule == LE_RULE_BITS || rule == LE_RULE_SHIFT || rule == LE_RULE_INTEGER)
        check_integers(t, node);
    check_complex(t, node, rule, type);
    if (rule == LE_RULE_CLASSIFY) {
        node->operand = type;
        return LE_BOOL;
    }
    node->operand = find_uniform(t, node, rule, type);
    return node->op == LE_OP_ABS ? le_type_part(node->operand) : node->operand;
}

static void check_bounds(struct typer *t, const struct le_index *index) {
    if (!index->has_range)
        return;
    check_whole(t, index->low, "a bound");
    check_whole(t, index->high, "a bound");
    if (index->by)
        check_whole(t, index->by, "a bound");
}

static enum le_type find_reduction(struct typer *t, struct le_tree_node *node) {
    for (int k = 0; k < node->index_count; k++)
        check_bounds(t, node->indices[k]);
    enum le_type type = find_type(t, node->children[0]);
    enum le_reduction reduction = (enum le_reduction)node->op;
    if (le_type_is_complex(type) && (reduction == LE_RED_MIN || reduction == LE_RED_MAX || reduction == LE_RED_ARGMIN ||
                                     reduction == LE_RED_ARGMAX))
        fail_order(t, node, le_reduction_name(reduction), type);
    switch (reduction) {
    case LE_RED_SUM:
    case LE_RED_PROD:
        return node->operand = le_type_summed(type);
    case LE_RED_MEAN:
        return node->operand = le_type_strong(le_type_to_float(type));
    case LE_RED_ANY:
    case LE_RED_ALL:
        return node->operand = LE_BOOL;
    case LE_RED_ARGMIN:
    case LE_RED_ARGMAX:
        node->operand = le_type_strong(type);
        return LE_I64;
    default:
        return node->operand = le_type_strong(type);
    }
}

static enum le_type find_len(struct typer *t, struct le_tree_node *node) {
    const struct le_symbol *symbol = node->symbol;
    struct le_literal axis;
    check_whole(t, node->children[0], "an axis");
    if (!symbol->any_rank && le_literal_of(node->children[0], &axis)) {
        uint64_t rank = (uint64_t)symbol->rank;
        if (axis.negative ? axis.size > rank : axis.size >= rank)
            fail(t, node->location,
                 le_arena_format(t->arena, "its axes are 0 to %d, or -1 to -%d from the end", symbol->rank - 1,
                                 symbol->rank),
                 "'%s' has no axis %s%llu", symbol->name, axis.negative ? "-" : "", (unsigned long long)axis.size);
    }
    return LE_WEAK_INDEX;
}

static enum le_type find_select(struct typer *t, struct le_tree_node *node) {
    find_type(t, node->children[0]);
    return node->operand = common_type(t, node->children + 1, 2);
}

/* A call's type is promoted from all of its returns. Weak types do not widen it. */
static void promote_return(struct typer *t, enum le_type type) {
    if (type == LE_NONE)
        t->unknown_returns = true;
    else if (le_type_is_weak(type))
        t->weak_returns = le_type_promote(t->weak_returns, type);
    else
        t->returns = le_type_promote(t->returns, type);
}

static enum le_type find_call(struct typer *t, struct le_tree_node *node) {
    enum le_type returns = t->returns, weak_returns = t->weak_returns;
    bool unknown_returns = t->unknown_returns;
    t->returns = t->weak_returns = LE_NONE;
    t->unknown_returns = false;
    for (int k = 0; k < node->step_count; k++)
        type_step(t, &node->steps[k]);
    node->operand = t->unknown_returns ? LE_NONE : le_type_promote(t->returns, t->weak_returns);
    t->returns = returns;
    t->weak_returns = weak_returns;
    t->unknown_returns = unknown_returns;
    for (int k = 0; k < node->step_count; k++)
        if (node->steps[k].kind == LE_STEP_RETURN)
            check_fits(t, node->steps[k].value, node->operand);
    return node->operand;
}

static enum le_type find_cast(struct typer *t, const struct le_tree_node *node) {
    for (int k = 0; k < node->child_count; k++) {
        enum le_type type = find_type(t, node->children[k]);
        if (node->child_count == 2 && le_type_is_complex(type))
            fail(t, node->children[k]->location, "take re(...) or im(...) of it", "a part of a %s must be real, not %s",
                 le_type_name(node->type), le_type_name(type));
    }
    return node->type;
}

static enum le_type find_part(struct typer *t, const struct le_tree_node *node) {
    t->tree->has_complex = true;
    enum le_type type = find_type(t, node->children[0]);
    return node->op == LE_PART_CONJ ? without_bool(type) : le_type_part(le_type_to_float(type));
}

static enum le_type find_read(struct typer *t, const struct le_tree_node *node) {
    for (int k = 0; k < node->child_count; k++)
        check_whole(t, node->children[k], "a subscript");
    enum le_type type = read_symbol(t, node->symbol), fill = node->fill ? read_symbol(t, node->fill) : LE_NONE;
    if (le_type_is_complex(fill) && type != LE_NONE && !le_type_is_complex(type))
        fail(t, node->location, "write re(...) in the edge's fill", "the edge of '%s' (%s) cannot be filled with %s",
             node->symbol->name, le_type_name(type), le_type_name(fill));
    return type;
}

static enum le_type find_kind(struct typer *t, struct le_tree_node *node) {
    switch (node->kind) {
    case LE_TREE_INDEX:
        return LE_WEAK_INDEX;
    case LE_TREE_SCALAR:
        return read_symbol(t, node->symbol);
    case LE_TREE_READ:
        return find_read(t, node);
    case LE_TREE_LEN:
        return find_len(t, node);
    case LE_TREE_OP:
        return find_operation(t, node);
    case LE_TREE_SELECT:
        return find_select(t, node);
    case LE_TREE_CAST:
        return find_cast(t, node);
    case LE_TREE_PART:
        return find_part(t, node);
    case LE_TREE_RAND:
        for (int k = 0; k < node->child_count; k++)
            check_whole(t, node->children[k], "a seed");
        return LE_F64;
    case LE_TREE_REDUCE:
        return find_reduction(t, node);
    case LE_TREE_CALL:
        return find_call(t, node);
    default:
        return node->type; /* CONST */
    }
}

static enum le_type find_type(struct typer *t, struct le_tree_node *node) {
    t->node_count++;
    node->type = find_kind(t, node);
    t->tree->has_complex |= le_type_is_complex(node->type);
    return node->type;
}

/* ---- steps */

/* A complex number can be stored in a complex symbol and, like any number, in a bool. */
static void check_complex_stored(struct typer *t, const struct le_tree_node *node, const struct le_symbol *symbol,
                                 enum le_type type) {
    enum le_type to = symbol->type;
    if (le_type_is_complex(type) && to != LE_NONE && to != LE_BOOL && !le_type_is_complex(to))
        fail(t, node->location, "write re(...), im(...) or abs(...)",
             "assigning %s to '%s' (%s) needs a cast: it is complex", le_type_name(type), symbol->name,
             le_type_name(to));
}

static void check_stored(struct typer *t, const struct le_tree_node *node, const struct le_symbol *symbol,
                         enum le_type type) {
    check_complex_stored(t, node, symbol, type);
    if (le_type_is_int(symbol->type) && le_type_is_float(type)) {
        const char *cast = le_arena_format(t->arena, "write %s(...)", le_type_name(symbol->type));
        fail(t, node->location, cast, "assigning %s to '%s' (%s) needs a cast", le_type_name(type), symbol->name,
             le_type_name(symbol->type));
    }
}

static enum le_type update_type(struct typer *t, const struct le_step *step, enum le_type type) {
    enum le_type update = join_types(read_symbol(t, step->symbol), type);
    if (step->op == LE_ASSIGN_DIV)
        return le_type_to_float(update);
    return step->op == LE_ASSIGN_SUB ? without_bool(update) : update;
}

static void type_assignment(struct typer *t, struct le_step *step) {
    struct le_symbol *symbol = step->symbol;
    struct le_tree_node *nodes[] = {step->value, step->otherwise};
    int count = step->otherwise ? 2 : 1;
    struct symbol_state *s = state_of(t, symbol);
    if (s->first == 0)
        s->first = t->step;
    for (int k = 0; k < step->free_count; k++)
        check_bounds(t, step->free[k]);
    for (int k = 0; step->left && k < step->left->child_count; k++)
        check_whole(t, step->left->children[k], "a subscript");
    enum le_type type = common_type(t, nodes, count), update = type;
    if (symbol->is_array && s->first == t->step && !symbol->is_input && symbol->declared == LE_NONE)
        set_type(t, symbol, le_type_strong(type));
    if (step->op != LE_ASSIGN_SET)
        update = update_type(t, step, type);
    if (le_type_is_complex(update) && (step->op == LE_ASSIGN_MIN || step->op == LE_ASSIGN_MAX))
        fail_order(t, step->value, step->op == LE_ASSIGN_MIN ? "min=" : "max=", update);
    if (!symbol->is_array)
        promote_scalar(t, symbol, update);
    step->term = type;
    step->update = update;
    if (step->left)
        step->left->type = symbol->type;
    for (int k = 0; k < count; k++)
        check_fits(t, nodes[k], read_symbol(t, symbol));
    check_stored(t, step->value, symbol, update);
}

static void type_new(struct typer *t, struct le_step *step) {
    struct le_symbol *symbol = step->symbol;
    for (int k = 0; k < step->size_count; k++)
        check_whole(t, step->sizes[k], "a size");
    enum le_type type = step->value ? find_type(t, step->value) : LE_WEAK_INT;
    if (!symbol->is_array)
        promote_scalar(t, symbol, type);
    if (!step->value || (!symbol->is_array && symbol->declared == LE_NONE))
        return;
    check_fits(t, step->value, read_symbol(t, symbol));
    check_stored(t, step->value, symbol, type);
}

static void type_default(struct typer *t, struct le_step *step) {
    enum le_type type = find_type(t, step->value);
    state_of(t, step->symbol)->start = step->value;
    if (t->inputs && t->inputs[step->symbol->id].bound)
        return;
    promote_scalar(t, step->symbol, type);
    check_fits(t, step->value, step->symbol->declared);
    check_stored(t, step->value, step->symbol, type);
}

static void type_step(struct typer *t, struct le_step *step) {
    switch (step->kind) {
    case LE_STEP_AGREE:
        if (le_type_is_complex(find_type(t, step->value)))
            fail(t, step->value->location, NULL, "a size must be an integer, not %s", le_type_name(step->value->type));
        break;
    case LE_STEP_WHILE:
    case LE_STEP_IF:
        find_type(t, step->value);
        break;
    case LE_STEP_RETURN:
        promote_return(t, find_type(t, step->value));
        break;
    case LE_STEP_FOR:
        check_bounds(t, step->index);
        break;
    case LE_STEP_EACH:
        for (int k = 0; k < step->free_count; k++)
            check_bounds(t, step->free[k]);
        break;
    case LE_STEP_BIND:
    case LE_STEP_ELSE:
    case LE_STEP_BREAK:
    case LE_STEP_FAIL:
    case LE_STEP_END:
        break;
    case LE_STEP_DEFAULT:
        type_default(t, step);
        break;
    case LE_STEP_NEW:
        type_new(t, step);
        break;
    case LE_STEP_FILL:
        promote_scalar(t, step->symbol, find_type(t, step->value));
        break;
    case LE_STEP_ASSIGN:
        type_assignment(t, step);
        break;
    }
}

static bool try_step(struct typer *t, struct le_step *step) {
    if (setjmp(t->failure))
        return false;
    type_step(t, step);
    return true;
}

static bool type_steps(struct typer *t) {
    bool right = true;
    t->pass++;
    t->changed = false;
    t->fits.count = 0;
    for (int k = 0; k < t->tree->step_count && !(t->report && le_program_errors_full()); k++) {
        t->step = k + 1;
        right = try_step(t, &t->tree->steps[k]) && right;
    }
    return right;
}

bool le_find_types(struct le_arena *arena, struct le_tree *tree, const struct le_input *inputs) {
    struct typer *t = LE_NEW(arena, struct typer);
    t->arena = arena;
    t->tree = tree;
    t->inputs = inputs;
    t->states = LE_NEW_ARRAY(arena, tree->symbol_count, struct symbol_state);
    start_symbols(t);
    bool right;
    do
        right = type_steps(t);
    while (t->changed && (t->pass < PASSES_MAX || t->node_count < NODES_MAX));
    if (t->changed) {
        le_program_error_add(LEAT_PROGRAM, (struct le_location){0},
                             "declare the types of these scalars, as in `var s: f64`",
                             "the chain of scalars whose types depend on each other is too long");
        return false;
    }
    tree->fits = t->fits.at;
    tree->fit_count = t->fits.count;
    if (right)
        return true;
    t->report = true;
    type_steps(t);
    return false;
}
