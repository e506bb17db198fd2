/* Determines which names are indices, for the whole program and before any other check: names bound by reductions,
 * `where`, `each` and `for`, and names that appear bare in a subscript and are never declared or assigned. A name that
 * is also a value is an error. Parameters of a def and names that its block assigns are local to it and do not count.
 */
#include "lang/check.h"
#include <string.h>

static void visit_expression(struct le_checker *c, const struct le_ast *ast, bool in_subscript);

static void visit_all(struct le_checker *c, const struct le_asts *list, int first, bool in_subscript) {
    for (int k = first; k < list->count; k++)
        visit_expression(c, list->at[k], in_subscript);
}

/* use: how the name is used there, for the message. */
static void set_value(struct le_name *name, struct le_location location, const char *use) {
    if (!name->value_use) {
        name->value_location = location;
        name->value_use = use;
    }
}

static void set_index_location(struct le_name *name, struct le_location location) {
    if (!name->bare && !name->bound)
        name->index_location = location;
}

static void visit_name(struct le_checker *c, const struct le_ast *ast, bool in_subscript) {
    struct le_name *name = le_checker_name(c, ast->name);
    if (name->local > 0)
        return;
    name->mentioned = true;
    if (in_subscript) {
        set_index_location(name, ast->location);
        name->bare = true;
    }
}

static void visit_array(struct le_checker *c, const char *text, struct le_location location) {
    struct le_name *name = le_checker_name(c, text);
    if (name->local > 0)
        return;
    name->subscripted = name->mentioned = true;
    set_value(name, location, "is read as an array");
}

/* Binds the names; each is visible after its binder. */
static void visit_binders(struct le_checker *c, const struct le_ast_binders *binders, bool local) {
    for (int k = 0; k < binders->count; k++) {
        const struct le_ast_binder *binder = &binders->at[k];
        if (binder->has_range) {
            visit_expression(c, binder->range.low, false);
            visit_expression(c, binder->range.high, false);
            if (binder->range.by)
                visit_expression(c, binder->range.by, false);
        }
        if (binder->dots)
            continue;
        struct le_name *name = le_checker_name(c, binder->name);
        set_index_location(name, binder->location);
        name->bound = true;
        name->local += local;
    }
}

static void visit_reduction(struct le_checker *c, const struct le_ast *ast, bool in_subscript) {
    visit_binders(c, &ast->binders, true);
    visit_all(c, &ast->children, 0, in_subscript);
    for (int k = 0; k < ast->binders.count; k++)
        if (!ast->binders.at[k].dots)
            le_checker_name(c, ast->binders.at[k].name)->local--;
}

static void visit_expression(struct le_checker *c, const struct le_ast *ast, bool in_subscript) {
    switch (ast->kind) {
    case LE_AST_NUMBER:
    case LE_AST_DOTS:
        return;
    case LE_AST_NAME:
        visit_name(c, ast, in_subscript);
        return;
    case LE_AST_SUBSCRIPT:
        visit_array(c, ast->name, ast->location);
        visit_all(c, &ast->children, 0, true);
        return;
    case LE_AST_REDUCE:
        visit_reduction(c, ast, in_subscript);
        return;
    case LE_AST_CALL: {
        bool is_len =
            strcmp(ast->name, "len") == 0 && ast->children.count > 0 && ast->children.at[0]->kind == LE_AST_NAME;
        if (is_len)
            visit_array(c, ast->children.at[0]->name, ast->children.at[0]->location);
        visit_all(c, &ast->children, is_len, in_subscript);
        return;
    }
    default:
        visit_all(c, &ast->children, 0, in_subscript);
        return;
    }
}

static void declare_size(struct le_checker *c, const struct le_ast_item *item, const struct le_ast *size) {
    struct le_name *name = le_checker_name(c, size->name);
    name->declared = true;
    set_value(name, size->location, le_arena_format(c->arena, "is bound to an extent by `in %s[...]`", item->name));
}

static void visit_declaration(struct le_checker *c, const struct le_stmt *stmt) {
    for (int k = 0; k < stmt->items.count; k++) {
        const struct le_ast_item *item = &stmt->items.at[k];
        struct le_name *name = le_checker_name(c, item->name);
        name->declared = name->declared || name->local == 0;
        if (name->local == 0)
            set_value(name, item->location, "is declared");
        for (int d = 0; d < item->sizes.count; d++) {
            const struct le_ast *size = item->sizes.at[d];
            if (stmt->decl == LE_DECL_IN && size->kind == LE_AST_NAME)
                declare_size(c, item, size);
            else
                visit_expression(c, size, false);
        }
        if (item->value)
            visit_expression(c, item->value, false);
    }
}

static void visit_assignment(struct le_checker *c, const struct le_stmt *stmt) {
    struct le_name *name = le_checker_name(c, stmt->name);
    bool own = name->local > 0;
    name->assigned = name->assigned || !own;
    if (!own)
        set_value(name, stmt->location, "is assigned");
    name->subscripted = name->subscripted || (stmt->has_subscripts && !own);
    visit_all(c, &stmt->subscripts, 0, true);
    visit_expression(c, stmt->value, false);
    if (stmt->otherwise)
        visit_expression(c, stmt->otherwise, false);
    visit_binders(c, &stmt->binders, false);
}

/* Marks the names that a def's block assigns as local. step is 1, or -1 to undo it. */
static void mark_locals(struct le_checker *c, struct le_stmts stmts, int step) {
    for (int k = 0; k < stmts.count; k++) {
        const struct le_stmt *stmt = stmts.at[k];
        if (stmt->kind == LE_STMT_ASSIGN)
            le_checker_name(c, stmt->name)->local += step;
        for (int i = 0; i < stmt->items.count; i++)
            le_checker_name(c, stmt->items.at[i].name)->local += step;
        for (const struct le_stmt *next; (next = le_stmt_chained(stmt)); stmt = next)
            mark_locals(c, stmt->body, step);
        mark_locals(c, stmt->body, step);
        mark_locals(c, stmt->otherwise_body, step);
    }
}

static void visit_statements(struct le_checker *c, struct le_stmts stmts);

static void visit_definition(struct le_checker *c, const struct le_stmt *stmt) {
    for (int k = 0; k < stmt->names.count; k++)
        le_checker_name(c, stmt->names.at[k])->local++;
    mark_locals(c, stmt->body, 1);
    if (stmt->value)
        visit_expression(c, stmt->value, false);
    visit_statements(c, stmt->body);
    mark_locals(c, stmt->body, -1);
    for (int k = 0; k < stmt->names.count; k++)
        le_checker_name(c, stmt->names.at[k])->local--;
}

static void visit_control(struct le_checker *c, const struct le_stmt *stmt) {
    for (const struct le_stmt *next = stmt; next; next = le_stmt_chained(stmt)) {
        stmt = next;
        visit_binders(c, &stmt->binders, false);
        if (stmt->value)
            visit_expression(c, stmt->value, false);
        visit_statements(c, stmt->body);
    }
    visit_statements(c, stmt->otherwise_body);
}

static void visit_statement(struct le_checker *c, const struct le_stmt *stmt) {
    switch (stmt->kind) {
    case LE_STMT_DECL:
        visit_declaration(c, stmt);
        break;
    case LE_STMT_DEF:
        visit_definition(c, stmt);
        break;
    case LE_STMT_ASSIGN:
        visit_assignment(c, stmt);
        break;
    default: /* including EDGE and RETURN, which have at most a value */
        visit_control(c, stmt);
        break;
    }
}

static void visit_statements(struct le_checker *c, struct le_stmts stmts) {
    for (int k = 0; k < stmts.count; k++)
        visit_statement(c, stmts.at[k]);
}

void le_classify(struct le_checker *c, struct le_stmts stmts) {
    visit_statements(c, stmts);
    for (int k = 0; k < c->names.count; k++) {
        struct le_name *name = c->names.at[k];
        bool is_value = name->declared || name->assigned;
        name->is_index = name->bound || (name->bare && !is_value);
        if (!name->is_index || !(is_value || name->subscripted))
            continue;
        name->conflict = true;
        const char *advice = le_arena_format(c->arena, "it %s on line %d, and is an index here: rename one of them",
                                             name->value_use, name->value_location.line);
        le_program_error_add(LEAT_PROGRAM, name->index_location, advice, "'%s' is both a value and an index",
                             name->text);
    }
}
