/* Turns expressions of the ast into nodes of the tree: names become symbols and indices, and defs are inlined. The
 * recursion depth is limited to LE_DEPTH_MAX, including defs. The location of a node from an inlined def is in the def.
 */
#include "lang/check.h"
#include "lang/habits.h"
#include <limits.h>
#include <string.h>

void le_checker_start(struct le_checker *c, const struct le_stmt *stmt, const char *no_indices) {
    struct le_position *now = &c->now;
    now->stmt = stmt;
    now->no_indices = no_indices;
    now->owner = NULL;
    now->conditions = 0;
    c->number++;
    if (now->element) {
        now->no_indices = now->in_call ? "in a def's block, indices come only from its loops and reductions"
                                       : "inside an each, further indices come only from reductions";
        now->index_limit = c->all.count + LE_INDICES_MAX - c->free.count - now->around_count;
        return;
    }
    c->free.count = c->all.count = c->accesses.count = 0;
    now->around_count = now->guards = now->dots_reductions = 0;
    now->has_dots = false;
    now->statement = c->number;
    now->index_limit = LE_INDICES_MAX;
}

struct le_tree_node *le_checker_node(struct le_checker *c, enum le_tree_kind kind, struct le_location location,
                                     int child_count) {
    struct le_tree_node *node = LE_NEW(c->arena, struct le_tree_node);
    node->kind = kind;
    node->location = location;
    node->child_count = child_count;
    if (child_count > 0)
        node->children = LE_NEW_ARRAY(c->arena, child_count, struct le_tree_node *);
    return node;
}

/* ---- indices */

struct le_index *le_checker_index(struct le_checker *c, struct le_name *name, struct le_location location) {
    if (c->all.count >= c->now.index_limit)
        le_checker_fail(c, location, "split it into several statements",
                        "the statement has %d indices; the limit is %d", LE_INDICES_MAX + 1, LE_INDICES_MAX);
    struct le_index *index = LE_NEW(c->arena, struct le_index);
    index->name = name->text;
    index->id = c->tree->index_count++;
    index->location = location;
    *LE_PUSH(c->arena, &c->all) = index;
    if (!name->listed) {
        *LE_PUSH(c->arena, &c->index_names) = name->text;
        *LE_PUSH(c->arena, &c->index_locations) = location;
        name->listed = true;
    }
    return index;
}

void le_checker_require_unbound(struct le_checker *c, const struct le_name *name, struct le_location location) {
    const struct le_binding *binding = le_checker_binding(name, c->now.block);
    if (binding && binding->index)
        le_checker_fail(c, location, "choose another name", "'%s' is already the index of an enclosing each or for",
                        name->text);
}

struct le_index *le_checker_free_index(struct le_checker *c, struct le_name *name, struct le_location location) {
    if (name->free && name->free_of == c->now.statement)
        return name->free;
    if (c->now.no_indices)
        le_checker_fail(c, location,
                        le_arena_format(c->arena, "if '%s' is an input, declare it: `in %s`", name->text, name->text),
                        "index '%s' is not allowed here: %s", name->text, c->now.no_indices);
    name->free = le_checker_index(c, name, location);
    name->free_of = c->now.statement;
    *LE_PUSH(c->arena, &c->free) = name->free;
    return name->free;
}

/* Indices and symbols with lower ids are older than the range that is being resolved. */
struct id_limits {
    const struct le_checker *c;
    int index, symbol;
};

/* Whether the node varies while the statement runs: it is a private scalar, or another index of the statement that does
 * not belong to a reduction inside the range. */
static bool may_vary(const struct le_tree_node *node, const void *user) {
    const struct id_limits *older = user;
    if (node->kind == LE_TREE_SCALAR)
        return node->symbol->local && node->symbol->id < older->symbol;
    if (node->kind != LE_TREE_INDEX || node->index->host)
        return false;
    bool is_free = false;
    for (int k = 0; k < older->c->free.count; k++)
        is_free = is_free || older->c->free.at[k] == node->index;
    return is_free || node->index->id < older->index;
}

void le_checker_range(struct le_checker *c, struct le_index *index, const struct le_ast_range *range,
                      const struct le_scope *scope) {
    struct id_limits older = {c, c->tree->index_count, c->symbols.count};
    struct le_tree_node *low = le_resolve(c, range->low, scope), *high = le_resolve(c, range->high, scope);
    struct le_tree_node *by = range->by ? le_resolve(c, range->by, scope) : NULL;
    index->has_range = true;
    index->low = low;
    index->high = high;
    index->by = by;
    index->depends =
        le_tree_any(low, may_vary, &older) || le_tree_any(high, may_vary, &older) || le_tree_any(by, may_vary, &older);
}

/* ---- names */

const struct le_ast *le_frame_argument(const struct le_frame *frame, const char *name, const struct le_frame **where) {
    for (; frame; frame = frame->outer)
        for (int k = 0; k < frame->definition->names.count; k++)
            if (frame->definition->names.at[k] == name) {
                if (where)
                    *where = frame;
                return frame->arguments[k];
            }
    return NULL;
}

static struct le_index *find_bound_index(const struct le_index_bounds *bound, const char *name) {
    for (; bound; bound = bound->outer)
        if (bound->name == name)
            return bound->index;
    return NULL;
}

static struct le_tree_node *index_node(struct le_checker *c, struct le_index *index, struct le_location location) {
    struct le_tree_node *node = le_checker_node(c, LE_TREE_INDEX, location, 0);
    node->index = index;
    return node;
}

static void mark_read(struct le_checker *c, struct le_symbol *symbol, struct le_location location) {
    if (symbol == c->now.owner)
        symbol->update_only = false; /* read before it is assigned, so it must be bound */
    else
        symbol->read = true;
    if (symbol == c->defaulting)
        le_checker_fail(c, location, "use only inputs that are declared before it",
                        "the default of '%s' uses '%s' itself", symbol->name, symbol->name);
}

/* The symbol of a name that is neither a parameter nor an index; an unknown name becomes an input. */
static struct le_symbol *find_symbol(struct le_checker *c, struct le_name *name, const struct le_scope *scope,
                                     enum le_name_use use, struct le_location location) {
    struct le_symbol *symbol = le_checker_find(name, scope->block);
    if (symbol)
        return symbol;
    if (name->ended || (c->now.in_call && name->ended_in == c->now.element))
        le_checker_fail(c, location, le_arena_format(c->arena, "write `var %s` before the block", name->text),
                        "'%s' has no value here: it exists only inside the block that set it", name->text);
    if (use == LE_USE_SCALAR && le_checker_definition(name, scope))
        le_checker_fail(c, location, le_arena_format(c->arena, "write %s(...)", name->text), "'%s' is a def: call it",
                        name->text);
    return le_checker_input(c, name, use, location);
}

static struct le_tree_node *resolve_name(struct le_checker *c, const struct le_ast *ast, const struct le_scope *scope) {
    const struct le_frame *frame;
    const struct le_ast *argument = le_frame_argument(scope->frame, ast->name, &frame);
    if (argument)
        return le_resolve(c, argument, frame->caller);
    struct le_index *bound = find_bound_index(scope->bound, ast->name);
    if (bound)
        return index_node(c, bound, ast->location);
    struct le_name *name = le_checker_name(c, ast->name);
    if (name->broken || name->conflict)
        return le_checker_node(c, LE_TREE_CONST, ast->location, 0);
    const struct le_binding *binding = le_checker_binding(name, scope->block);
    if (binding && binding->index)
        return index_node(c, binding->index, ast->location);
    if (!binding && !name->symbol && name->is_index)
        return index_node(c, le_checker_free_index(c, name, ast->location), ast->location);
    struct le_tree_node *node = le_checker_node(c, LE_TREE_SCALAR, ast->location, 0);
    node->symbol = find_symbol(c, name, scope, LE_USE_SCALAR, ast->location);
    le_checker_use_scalar(c, node->symbol, ast->location);
    mark_read(c, node->symbol, ast->location);
    return node;
}

/* The array that a name stands for, following parameters. *found is set to its name. NULL: an error has been reported.
 */
static struct le_symbol *find_array(struct le_checker *c, const char *text, const struct le_scope *scope,
                                    struct le_location location, struct le_name **found) {
    const struct le_frame *frame;
    for (const struct le_ast *argument; (argument = le_frame_argument(scope->frame, text, &frame));
         scope = frame->caller) {
        if (argument->kind != LE_AST_NAME)
            le_checker_fail(c, argument->location, "assign the expression to an array first",
                            "the argument for '%s' must be the name of an array", text);
        text = argument->name;
    }
    struct le_name *name = *found = le_checker_name(c, text);
    if (name->conflict || name->broken)
        return NULL;
    const struct le_binding *binding = le_checker_binding(name, scope->block);
    if (find_bound_index(scope->bound, text) || (binding ? binding->index != NULL : name->is_index && !name->symbol))
        le_checker_fail(c, location, NULL, "'%s' is an index, not an array", text);
    return find_symbol(c, name, scope, LE_USE_ARRAY, location);
}

static struct le_tree_node *resolve_subscript(struct le_checker *c, const struct le_ast *ast,
                                              const struct le_scope *scope) {
    struct le_name *name;
    struct le_symbol *symbol = find_array(c, ast->name, scope, ast->location, &name);
    bool dots = ast->children.at[0]->kind == LE_AST_DOTS;
    int count = ast->children.count - dots;
    struct le_tree_node *node = le_checker_node(c, LE_TREE_READ, ast->location, count);
    if (symbol) {
        le_checker_use_array(c, symbol, count, dots, ast->location);
        mark_read(c, symbol, ast->location);
    }
    node->symbol = symbol;
    node->edge = name->edge;
    node->fill = name->fill;
    node->dots = dots;
    for (int k = 0; k < count; k++)
        node->children[k] = le_resolve(c, ast->children.at[k + dots], scope);
    if (!symbol)
        return le_checker_node(c, LE_TREE_CONST, ast->location, 0);
    if (dots && c->now.dots_reductions == 0 && symbol->rank > count) {
        c->now.has_dots = true;
        c->now.dots_location = ast->location;
    }
    le_checker_access(c, node);
    return node;
}

/* ---- reductions and calls */

struct le_access *le_checker_access(struct le_checker *c, struct le_tree_node *read) {
    struct le_access *access = LE_PUSH(c->arena, &c->accesses);
    *access = (struct le_access){.node = read,
                                 .under_condition = c->now.conditions > 0,
                                 .guarded = c->now.guards > 0,
                                 .around_count = c->now.around_count};
    read->access = c->accesses.count - 1;
    if (c->now.around_count > 0) {
        access->around = LE_NEW_ARRAY(c->arena, c->now.around_count, struct le_index *);
        memcpy(access->around, c->around, (size_t)c->now.around_count * sizeof *c->around);
    }
    return access;
}

static struct le_tree_node *resolve_reduction(struct le_checker *c, const struct le_ast *ast,
                                              const struct le_scope *scope) {
    int first = ast->binders.at[0].dots, count = ast->binders.count - first, around_count = c->now.around_count;
    if ((ast->op == LE_RED_ARGMIN || ast->op == LE_RED_ARGMAX) && (first || count != 1))
        le_checker_fail(c, ast->location, "reduce over one index at a time", "'%s' takes exactly one index", ast->name);
    struct le_tree_node *node = le_checker_node(c, LE_TREE_REDUCE, ast->location, 1);
    node->op = ast->op;
    node->dots = first;
    node->index_count = count;
    node->indices = LE_NEW_ARRAY(c->arena, count, struct le_index *);
    struct le_index_bounds bound[LE_INDICES_MAX];
    struct le_scope inner = *scope;
    for (int k = 0; k < count; k++) {
        const struct le_ast_binder *binder = &ast->binders.at[k + first];
        struct le_index *index = le_checker_index(c, le_checker_name(c, binder->name), binder->location);
        if (binder->has_range)
            le_checker_range(c, index, &binder->range, &inner);
        node->indices[k] = index;
        bound[k] = (struct le_index_bounds){binder->name, index, inner.bound};
        inner.bound = &bound[k];
    }
    for (int k = 0; k < count; k++)
        c->around[c->now.around_count++] = node->indices[k];
    c->now.dots_reductions += first;
    node->children[0] = le_resolve(c, ast->children.at[0], &inner);
    c->now.dots_reductions -= first;
    c->now.around_count = around_count;
    return node;
}

static void check_arguments(struct le_checker *c, const struct le_ast *ast, int wanted) {
    if (ast->children.count != wanted)
        le_checker_fail(c, ast->location, le_habit_of_arguments(ast->name), "'%s' takes %d argument%s, %d given",
                        ast->name, wanted, wanted == 1 ? "" : "s", ast->children.count);
}

static struct le_tree_node *resolve_children(struct le_checker *c, const struct le_ast *ast,
                                             const struct le_scope *scope, enum le_tree_kind kind) {
    struct le_tree_node *node = le_checker_node(c, kind, ast->location, ast->children.count);
    for (int k = 0; k < ast->children.count; k++)
        node->children[k] = le_resolve(c, ast->children.at[k], scope);
    return node;
}

static struct le_tree_node *resolve_len(struct le_checker *c, const struct le_ast *ast, const struct le_scope *scope) {
    if (ast->children.count != 2 || ast->children.at[0]->kind != LE_AST_NAME)
        le_checker_fail(c, ast->location, "write len(x, 0)", "'len' takes the name of an array and an axis");
    const struct le_ast *array = ast->children.at[0];
    struct le_name *name;
    struct le_symbol *symbol = find_array(c, array->name, scope, array->location, &name);
    struct le_tree_node *node = le_checker_node(c, LE_TREE_LEN, ast->location, 1);
    node->children[0] = le_resolve(c, ast->children.at[1], scope);
    if (!symbol)
        return le_checker_node(c, LE_TREE_CONST, ast->location, 0);
    le_checker_use_array(c, symbol, 0, true, array->location);
    node->symbol = symbol;
    return node;
}

/* Advice for an unknown function: it may be a later def, known from another language, or misspelled. */
static const char *function_hint(struct le_checker *c, const char *name) {
    if (le_checker_name(c, name)->definition)
        return "define it above the call: there is no recursion";
    const char *habit = le_habit_of_function(name);
    if (habit)
        return habit;
    struct {
        const char **at;
        int count, capacity;
    } known = {0};
    for (int op = 0; op < LE_OPS; op++)
        if (le_op_is_function((enum le_op)op))
            *LE_PUSH(c->arena, &known) = le_op_info((enum le_op)op)->name;
    for (int k = 0; k < LE_RED_FUNCTIONS; k++)
        *LE_PUSH(c->arena, &known) = le_reduction_name((enum le_reduction)k);
    for (int k = 0; k < LE_SPECIALS; k++)
        *LE_PUSH(c->arena, &known) = le_special_words((enum le_special)k)->name;
    for (int k = 0; k < c->names.count && k < 1000; k++)
        if (c->names.at[k]->definition)
            *LE_PUSH(c->arena, &known) = c->names.at[k]->text;
    const char *near = le_nearest(name, known.at, known.count);
    return near ? le_arena_format(c->arena, "did you mean `%s`?", near) : "define it above: `def NAME(a) = ...`";
}

static struct le_tree_node *resolve_special(struct le_checker *c, const struct le_ast *ast,
                                            const struct le_scope *scope, enum le_special special) {
    if (special == LE_SPECIAL_LEN)
        return resolve_len(c, ast, scope);
    bool is_rand = special == LE_SPECIAL_RAND || special == LE_SPECIAL_RANDN;
    if (is_rand && ast->children.count == 0)
        le_checker_fail(c, ast->location, le_arena_format(c->arena, "write %s(1, i)", ast->name), "'%s' needs a seed",
                        ast->name);
    if (!is_rand)
        check_arguments(c, ast, 1);
    struct le_tree_node *node = resolve_children(c, ast, scope, is_rand ? LE_TREE_RAND : LE_TREE_PART);
    node->op = is_rand ? special == LE_SPECIAL_RANDN : (int)special - LE_SPECIAL_RE + LE_PART_RE;
    return node;
}

static struct le_tree_node *resolve_call(struct le_checker *c, const struct le_ast *ast, const struct le_scope *scope) {
    size_t length = strlen(ast->name);
    const struct le_definition *definition = le_checker_definition(le_checker_name(c, ast->name), scope);
    if (definition) {
        check_arguments(c, ast, definition->stmt->names.count);
        return le_resolve_definition(c, ast, scope, definition);
    }
    enum le_op op = le_op_function(ast->name, length);
    if (op < LE_OPS) {
        check_arguments(c, ast, le_op_info(op)->arity);
        struct le_tree_node *node = resolve_children(c, ast, scope, LE_TREE_OP);
        node->op = (int)op;
        return node;
    }
    enum le_type type = le_type_parse(ast->name, length);
    if (type != LE_NONE) {
        check_arguments(c, ast, le_type_is_complex(type) && ast->children.count == 2 ? 2 : 1);
        struct le_tree_node *node = resolve_children(c, ast, scope, LE_TREE_CAST);
        node->type = type;
        return node;
    }
    enum le_special special = le_special_parse(ast->name, length);
    if (special < LE_SPECIALS)
        return resolve_special(c, ast, scope, special);
    le_checker_fail(c, ast->location, function_hint(c, ast->name), "unknown function '%s'", ast->name);
}

/* ---- other expressions */

static struct le_tree_node *resolve_number(struct le_checker *c, const struct le_ast *ast) {
    struct le_tree_node *node = le_checker_node(c, LE_TREE_CONST, ast->location, 0);
    node->type = ast->imaginary ? LE_WEAK_COMPLEX : (enum le_type)ast->op;
    node->integer = (int64_t)ast->integer;
    node->is_u64 = ast->integer > INT64_MAX;
    node->real = ast->real;
    return node;
}

/* step 1: expressions resolved from now on are evaluated under a condition; step -1 ends this. */
static void add_conditions(struct le_checker *c, int step) {
    c->now.guards += step;
    c->now.conditions += step;
}

static struct le_tree_node *resolve_operator(struct le_checker *c, const struct le_ast *ast,
                                             const struct le_scope *scope) {
    struct le_tree_node *node = le_checker_node(c, LE_TREE_OP, ast->location, ast->children.count);
    bool guards = ast->op == LE_OP_LAND || ast->op == LE_OP_LOR;
    node->op = ast->op;
    node->children[0] = le_resolve(c, ast->children.at[0], scope);
    if (ast->children.count < 2)
        return node;
    add_conditions(c, guards);
    node->children[1] = le_resolve(c, ast->children.at[1], scope);
    add_conditions(c, -guards);
    return node;
}

static struct le_tree_node *resolve_select(struct le_checker *c, const struct le_ast *ast,
                                           const struct le_scope *scope) {
    struct le_tree_node *node = le_checker_node(c, LE_TREE_SELECT, ast->location, 3);
    node->children[0] = le_resolve(c, ast->children.at[0], scope);
    add_conditions(c, 1);
    node->children[1] = le_resolve(c, ast->children.at[1], scope);
    node->children[2] = le_resolve(c, ast->children.at[2], scope);
    add_conditions(c, -1);
    return node;
}

static struct le_tree_node *resolve_kind(struct le_checker *c, const struct le_ast *ast, const struct le_scope *scope) {
    switch (ast->kind) {
    case LE_AST_NUMBER:
        return resolve_number(c, ast);
    case LE_AST_NAME:
        return resolve_name(c, ast, scope);
    case LE_AST_SUBSCRIPT:
        return resolve_subscript(c, ast, scope);
    case LE_AST_CALL:
        return resolve_call(c, ast, scope);
    case LE_AST_REDUCE:
        return resolve_reduction(c, ast, scope);
    case LE_AST_SELECT:
        return resolve_select(c, ast, scope);
    case LE_AST_DOTS:
        le_checker_fail(c, ast->location, "write x[..., i]", "'...' is allowed only as the first subscript");
    default:
        return resolve_operator(c, ast, scope);
    }
}

void le_checker_count(struct le_checker *c, int count, struct le_location location) {
    c->node_count += count;
    if (c->node_count > LE_NODES_MAX)
        le_checker_fail(c, location, NULL, "the program is too large after its defs are inlined (limit: %d operations)",
                        LE_NODES_MAX);
}

struct le_tree_node *le_resolve(struct le_checker *c, const struct le_ast *ast, const struct le_scope *scope) {
    le_checker_count(c, 1, ast->location);
    if (++c->now.depth > LE_DEPTH_MAX)
        le_checker_fail(c, ast->location, "split it into several statements",
                        "the expression is nested too deeply (limit: %d levels)", LE_DEPTH_MAX);
    struct le_tree_node *node = resolve_kind(c, ast, scope);
    c->now.depth--;
    return node;
}

struct le_scope le_checker_scope(const struct le_checker *c) {
    return (struct le_scope){.frame = c->now.frame, .block = c->now.block, .limit = INT_MAX};
}

struct le_tree_node *le_resolve_top(struct le_checker *c, const struct le_ast *ast) {
    struct le_scope scope = le_checker_scope(c);
    return le_resolve(c, ast, &scope);
}

void le_checker_reject_dots(struct le_checker *c) {
    if (c->now.has_dots && !c->now.binds_dots)
        le_checker_fail(c, c->now.dots_location, "write sum(...: x[...])", "'...' is not on the left");
}

struct le_tree_node *le_resolve_scalar(struct le_checker *c, const struct le_ast *ast) {
    struct le_tree_node *node = le_resolve_top(c, ast);
    le_checker_reject_dots(c);
    return node;
}
