/* Defs, and their inlining at calls. A parameter of an expression def is replaced by the caller's argument. A block def
 * becomes a CALL node with its own steps. The first steps assign its parameters, which are private scalars, except for
 * parameters that name arrays. An error in the def leaves the calling statement. */
#include "lang/check.h"
#include <string.h>

#define STEP_COST 8 /* nodes that an inlined step counts as */

/* ---- parameters that name arrays */

static bool names_array_in_range(struct le_checker *c, const struct le_ast_binders *binders, const char *parameter);

static bool is_name(const struct le_ast *ast, const char *name) {
    return ast->kind == LE_AST_NAME && ast->name == name;
}

/* Whether the parameter is subscripted, passed to len, or passed to a def that does so. */
static bool names_array_in(struct le_checker *c, const struct le_ast *ast, const char *parameter) {
    if (!ast)
        return false;
    if (ast->kind == LE_AST_SUBSCRIPT && ast->name == parameter)
        return true;
    const struct le_definition *called = NULL;
    if (ast->kind == LE_AST_CALL) {
        struct le_scope scope = le_checker_scope(c);
        called = le_checker_definition(le_checker_name(c, ast->name), &scope);
        if (!called && strcmp(ast->name, "len") == 0 && ast->children.count > 0 &&
            is_name(ast->children.at[0], parameter))
            return true;
    }
    for (int k = 0; k < ast->children.count; k++) {
        const struct le_ast *child = ast->children.at[k];
        if (called && k < called->stmt->names.count && called->takes_array[k] && is_name(child, parameter))
            return true;
        if (names_array_in(c, child, parameter))
            return true;
    }
    return names_array_in_range(c, &ast->binders, parameter);
}

static bool names_array_in_range(struct le_checker *c, const struct le_ast_binders *binders, const char *parameter) {
    for (int k = 0; k < binders->count; k++) {
        const struct le_ast_range *range = &binders->at[k].range;
        if (names_array_in(c, range->low, parameter) || names_array_in(c, range->high, parameter) ||
            names_array_in(c, range->by, parameter))
            return true;
    }
    return false;
}

static bool any_names_array(struct le_checker *c, const struct le_asts *list, const char *parameter) {
    for (int k = 0; k < list->count; k++)
        if (names_array_in(c, list->at[k], parameter))
            return true;
    return false;
}

static bool names_array_here(struct le_checker *c, const struct le_stmt *stmt, const char *parameter) {
    for (int k = 0; k < stmt->items.count; k++)
        if (names_array_in(c, stmt->items.at[k].value, parameter))
            return true;
    return names_array_in(c, stmt->value, parameter) || names_array_in(c, stmt->otherwise, parameter) ||
           any_names_array(c, &stmt->subscripts, parameter) || names_array_in_range(c, &stmt->binders, parameter);
}

static bool names_array(struct le_checker *c, const struct le_stmts *stmts, const char *parameter) {
    for (int k = 0; k < stmts->count; k++) {
        const struct le_stmt *stmt = stmts->at[k], *last = stmt;
        for (; stmt; stmt = le_stmt_chained(stmt)) {
            last = stmt;
            if (names_array_here(c, stmt, parameter) || names_array(c, &stmt->body, parameter))
                return true;
        }
        if (names_array(c, &last->otherwise_body, parameter))
            return true;
    }
    return false;
}

void le_check_definition(struct le_checker *c, const struct le_stmt *stmt) {
    le_checker_start(c, stmt, NULL);
    struct le_name *name = le_checker_name(c, stmt->name);
    struct le_definition *definition = LE_NEW(c->arena, struct le_definition);
    *definition = (struct le_definition){
        .stmt = stmt, .number = c->number, .older = name->definition, .block = c->now.block, .frame = c->now.frame};
    definition->takes_array = LE_NEW_ARRAY(c->arena, stmt->names.count, bool);
    for (int k = 0; k < stmt->names.count; k++)
        definition->takes_array[k] =
            names_array_in(c, stmt->value, stmt->names.at[k]) || names_array(c, &stmt->body, stmt->names.at[k]);
    le_checker_change(c, name);
    name->definition = definition;
}

/* ---- calls */

static struct le_tree_node *call_expression(struct le_checker *c, const struct le_ast *ast,
                                            const struct le_scope *scope, const struct le_definition *definition) {
    struct le_frame frame = {definition->stmt, ast->children.at, scope, definition->frame};
    struct le_scope inner = {.frame = &frame, .block = definition->block, .limit = definition->number};
    return le_resolve(c, definition->stmt->value, &inner);
}

/* Assigns the argument to the parameter. */
static void add_parameter(struct le_checker *c, const char *text, struct le_tree_node *value) {
    struct le_symbol *symbol = LE_NEW(c->arena, struct le_symbol);
    *symbol = (struct le_symbol){.name = text, .location = value->location, .assigned = true};
    le_checker_add_symbol(c, le_checker_name(c, text), symbol);
    struct le_step *step = le_checker_step(c, LE_STEP_ASSIGN, value->location);
    step->symbol = symbol;
    step->is_new = step->is_parameter = true;
    step->value = value;
}

/* Inlines the block. values: the arguments of parameters that do not name arrays; NULL for the others. */
static void inline_block(struct le_checker *c, const struct le_definition *definition, const struct le_frame *frame,
                         struct le_tree_node *const *values, struct le_steps *steps) {
    struct le_position *now = &c->now;
    now->element = le_checker_open(c, definition->block, definition->number);
    now->in_call = true;
    now->frame = frame;
    now->steps = steps;
    now->stmt = definition->stmt;
    now->owner = NULL;
    now->has_dots = now->binds_dots = false;
    now->dots_reductions = 0;
    now->loop = now->statement = -1;
    now->depth++;
    for (int k = 0; k < definition->stmt->names.count; k++)
        if (values[k])
            add_parameter(c, definition->stmt->names.at[k], values[k]);
    le_check_statements(c, definition->stmt->body);
    if (!le_stmts_end(definition->stmt->body))
        le_checker_step(c, LE_STEP_FAIL, definition->stmt->location);
    le_checker_close(c);
}

static struct le_tree_node *call_block(struct le_checker *c, const struct le_ast *ast, const struct le_scope *scope,
                                       const struct le_definition *definition) {
    int count = ast->children.count;
    struct le_ast **arguments = LE_NEW_ARRAY(c->arena, count, struct le_ast *);
    struct le_tree_node **values = LE_NEW_ARRAY(c->arena, count, struct le_tree_node *);
    for (int k = 0; k < count; k++) {
        struct le_ast *argument = ast->children.at[k];
        if (definition->takes_array[k])
            arguments[k] = argument;
        else
            values[k] = le_resolve(c, argument, scope);
    }
    struct le_frame frame = {definition->stmt, arguments, scope, definition->frame};
    struct le_tree_node *node = le_checker_node(c, LE_TREE_CALL, ast->location, 0);
    struct le_steps steps = {0};
    struct le_position position = c->now;
    int index_count = c->all.count;
    inline_block(c, definition, &frame, values, &steps);
    c->now = position;
    c->now.index_limit += c->all.count - index_count;
    le_checker_count(c, steps.count * STEP_COST, ast->location);
    node->steps = steps.at;
    node->step_count = steps.count;
    return node;
}

struct le_tree_node *le_resolve_definition(struct le_checker *c, const struct le_ast *ast, const struct le_scope *scope,
                                           const struct le_definition *definition) {
    if (definition->stmt->value)
        return call_expression(c, ast, scope, definition);
    return call_block(c, ast, scope, definition);
}
