/* Turns the ast into a checked tree. Statements are checked in order and independently, so that all errors of a program
 * are reported at once. An error leaves its statement by longjmp. The name that the statement would have set is marked
 * broken, and its uses report no further errors. All memory belongs to the arena. */
#include "lang/check.h"
#include "lang/static_ranges.h"
#include <string.h>

/* ---- steps */

struct le_step *le_checker_step(struct le_checker *c, enum le_step_kind kind, struct le_location location) {
    struct le_step *step = LE_PUSH(c->arena, c->now.steps);
    *step = (struct le_step){.kind = kind,
                             .location = location,
                             .offset = c->now.stmt->offset,
                             .size_bytes = c->now.stmt->size_bytes,
                             .conditional = c->now.conditional};
    return step;
}

static struct le_index **copy_indices(struct le_checker *c, const struct le_indices *indices) {
    struct le_index **copy = LE_NEW_ARRAY(c->arena, indices->count, struct le_index *);
    if (indices->count > 0)
        memcpy(copy, indices->at, (size_t)indices->count * sizeof *copy);
    return copy;
}

static bool is_index(const struct le_tree_node *node, const void *user) {
    return node->kind == LE_TREE_INDEX && node->index == user;
}

static bool bounds_use(const struct le_index *index, const struct le_index *other) {
    return le_tree_any(index->low, is_index, other) || le_tree_any(index->high, is_index, other) ||
           le_tree_any(index->by, is_index, other);
}

/* Whether all indices that its bounds use have been placed. */
static bool is_next(const struct le_checker *c, const bool *placed, const struct le_index *index) {
    for (int k = 0; k < c->free.count; k++)
        if (!placed[k] && bounds_use(index, c->free.at[k]))
            return false;
    return true;
}

_Noreturn static void fail_circle(struct le_checker *c, const bool *placed) {
    int first = 0;
    while (placed[first])
        first++;
    le_checker_fail(c, c->free.at[first]->location, NULL, "the range of index '%s' depends on itself",
                    c->free.at[first]->name);
}

/* Sorts the free indices: those whose bounds depend on other indices come last, each after the ones it depends on. The
 * indices of an each keep their order, because their bounds use only indices to the left. */
static void finish_free(struct le_checker *c, struct le_step *step) {
    int count = c->free.count;
    bool *placed = LE_NEW_ARRAY(c->arena, count, bool);
    step->free_count = 0;
    step->free = LE_NEW_ARRAY(c->arena, count, struct le_index *);
    while (step->free_count < count) {
        int next = -1;
        for (int k = 0; k < count; k++) {
            if (placed[k] || !is_next(c, placed, c->free.at[k]))
                continue;
            if (next < 0 || (step->kind != LE_STEP_EACH && c->free.at[next]->depends && !c->free.at[k]->depends))
                next = k;
        }
        if (next < 0)
            fail_circle(c, placed);
        placed[next] = true;
        step->free[step->free_count++] = c->free.at[next];
    }
}

void le_checker_finish(struct le_checker *c, struct le_step *step) {
    if (c->now.element)
        return;
    finish_free(c, step);
    step->all = copy_indices(c, &c->all);
    step->all_count = c->all.count;
    step->access_count = c->accesses.count;
    step->accesses = LE_NEW_ARRAY(c->arena, c->accesses.count, struct le_access);
    if (c->accesses.count > 0)
        memcpy(step->accesses, c->accesses.at, (size_t)c->accesses.count * sizeof *step->accesses);
}

/* ---- assignments */

static void add_where(struct le_checker *c, const struct le_stmt *stmt) {
    struct le_scope scope = le_checker_scope(c);
    for (int k = 0; k < stmt->binders.count; k++) {
        const struct le_ast_binder *binder = &stmt->binders.at[k];
        if (binder->dots)
            le_checker_fail(c, binder->location, "remove it from the `where`", "`...` cannot have a range");
        struct le_name *name = le_checker_name(c, binder->name);
        if (name->conflict)
            le_checker_leave(c);
        le_checker_require_unbound(c, name, binder->location);
        struct le_index *index = le_checker_free_index(c, name, binder->location);
        if (index->has_range)
            le_checker_fail(c, binder->location, NULL, "index '%s' has two ranges", binder->name);
        if (binder->has_range)
            le_checker_range(c, index, &binder->range, &scope);
    }
}

/* The names of the indices that are not on the left, as "i, k"; NULL if there are none. */
static const char *reduced_names(struct le_checker *c, const struct le_tree_node *left, struct le_index **first) {
    const char *names = NULL;
    *first = NULL;
    for (int k = 0; k < c->free.count; k++) {
        struct le_index *index = c->free.at[k];
        if (le_tree_any(left, is_index, index))
            continue;
        names = names ? le_arena_format(c->arena, "%s, %s", names, index->name) : index->name;
        if (!*first)
            *first = index;
    }
    return names;
}

static bool has_bare(const struct le_tree_node *node, const void *user) {
    for (int k = 0; node->kind == LE_TREE_READ && k < node->child_count; k++)
        if (is_index(node->children[k], user))
            return true;
    return false;
}

/* An index that is never bare may be intended as a value, like n in x[n*i]. */
static const char *reduce_advice(struct le_checker *c, const struct le_tree_node *value, const char *names,
                                 const struct le_index *first) {
    if (le_tree_any(value, has_bare, first) || first->has_range)
        return le_arena_format(c->arena, "write sum(%s: ...)", names);
    return le_arena_format(c->arena, "write sum(%s: ...), or declare `in %s` if it is a value", names, first->name);
}

/* A `where` may give a range to an index that nothing else in the statement uses. */
static bool is_used(const struct le_checker *c, const struct le_index *index, const struct le_tree_node *value,
                    const struct le_tree_node *otherwise) {
    bool used = le_tree_any(value, is_index, index) || le_tree_any(otherwise, is_index, index);
    for (int k = 0; k < c->all.count && !used; k++)
        used = bounds_use(c->all.at[k], index);
    return used;
}

static void check_reduced(struct le_checker *c, const struct le_stmt *stmt, const struct le_tree_node *left,
                          const struct le_tree_node *value, const struct le_tree_node *otherwise) {
    struct le_index *first;
    const char *names = reduced_names(c, left, &first);
    if (!names)
        return;
    const char *advice = reduce_advice(c, value, names, first);
    if (stmt->op == LE_ASSIGN_SET && !is_used(c, first, value, otherwise))
        le_checker_fail(c, first->location, "remove its range",
                        "the `where` gives a range for '%s', which the statement does not use", first->name);
    if (stmt->op == LE_ASSIGN_SET)
        le_checker_fail(c, first->location, advice, "index '%s' is not on the left", first->name);
    if (stmt->op == LE_ASSIGN_SUB || stmt->op == LE_ASSIGN_DIV)
        le_checker_fail(c, first->location, advice, "'%s' cannot reduce, and index '%s' is not on the left",
                        stmt->op == LE_ASSIGN_SUB ? "-=" : "/=", first->name);
}

/* A subscript of a new array that is a value: `i = 2; y[i] = x[i]`. */
static _Noreturn void fail_value(struct le_checker *c, const struct le_tree_node *subscript) {
    const struct le_name *name = le_checker_name(c, subscript->symbol->name);
    const char *advice = "rename one of them";
    if (name->value_use)
        advice = le_arena_format(c->arena, "it %s on line %d: rename one of them", name->value_use,
                                 name->value_location.line);
    le_checker_fail(c, subscript->location, advice, "'%s' is a value, not an index", name->text);
}

/* "[n,m]", to be replaced by the extents that the new array should have. */
static const char *extents_text(struct le_checker *c, const struct le_tree_node *left) {
    const char *text = "";
    if (left->child_count > LEAT_RANK_MAX) /* an error of its own */
        return "[...]";
    for (int k = 0; k < left->child_count; k++)
        text = le_arena_format(c->arena, "%s%s%c", text, k ? "," : "[", "nmklpqrs"[k]);
    return le_arena_format(c->arena, "%s]", text);
}

static void check_new_array(struct le_checker *c, const struct le_stmt *stmt, const struct le_tree_node *left) {
    for (int k = 0; k < left->child_count; k++) {
        const struct le_tree_node *subscript = left->children[k];
        bool bare = subscript->kind == LE_TREE_INDEX && !subscript->index->host;
        for (int j = 0; bare && j < k; j++)
            bare = left->children[j]->index != subscript->index;
        if (subscript->kind == LE_TREE_SCALAR)
            fail_value(c, subscript);
        if (!bare)
            le_checker_fail(c, subscript->location,
                            le_arena_format(c->arena, "declare its type and shape first, such as `out %s: f64%s`",
                                            stmt->name, extents_text(c, left)),
                            "'%s' is new, so its subscripts must be distinct bare indices", stmt->name);
    }
}

/* The left side for a message, as "C[i,j]". */
static const char *left_text(struct le_checker *c, const struct le_stmt *stmt) {
    const char *text = stmt->name;
    for (int k = 0; k < stmt->subscripts.count; k++) {
        const struct le_ast *subscript = stmt->subscripts.at[k];
        const char *part = subscript->kind == LE_AST_NAME ? subscript->name : "...";
        if (subscript->kind == LE_AST_NUMBER && subscript->op == LE_WEAK_INT)
            part = le_arena_format(c->arena, "%llu", (unsigned long long)subscript->integer);
        text = le_arena_format(c->arena, "%s%s%s", text, k ? "," : "[", part);
    }
    return stmt->has_subscripts ? le_arena_format(c->arena, "%s]", text) : text;
}

static const char *no_value_advice(struct le_checker *c, const struct le_stmt *stmt, const struct le_tree_node *left) {
    static const char *const reductions[] = {[LE_ASSIGN_ADD] = "sum", [LE_ASSIGN_SUB] = "sum", [LE_ASSIGN_MUL] = "prod",
                                             [LE_ASSIGN_DIV] = "sum", [LE_ASSIGN_MIN] = "min", [LE_ASSIGN_MAX] = "max"};
    struct le_index *first;
    const char *names = reduced_names(c, left, &first);
    if (!names)
        return le_arena_format(c->arena, "write %s = ..., or bind it", left_text(c, stmt));
    return le_arena_format(c->arena, "write %s = %s(%s: ...), or bind it", left_text(c, stmt), reductions[stmt->op],
                           names);
}

/* The existing symbol that an assignment changes. In a def's block it must be local. */
static struct le_symbol *find_assigned(const struct le_checker *c, const struct le_name *name) {
    const struct le_binding *binding = le_checker_binding(name, c->now.block);
    if (c->now.in_call && !(binding && le_syntax_block_within(binding->block, c->now.element)))
        return NULL;
    return binding ? binding->symbol : name->symbol;
}

static void check_name(struct le_checker *c, const struct le_stmt *stmt, const struct le_name *name) {
    const struct le_binding *binding = le_checker_binding(name, c->now.block);
    if (le_frame_argument(c->now.frame, stmt->name, NULL))
        le_checker_fail(c, stmt->location, "choose another name", "'%s' is a parameter that names an array",
                        stmt->name);
    if (name->conflict || name->broken || (!c->now.in_call && !binding && name->is_index))
        le_checker_leave(c);
    if (binding && binding->index)
        le_checker_fail(c, stmt->location, "choose another name", "'%s' is an index and cannot be assigned",
                        stmt->name);
}

static _Noreturn void fail_array_in_def(struct le_checker *c, const struct le_stmt *stmt) {
    le_checker_fail(c, stmt->location, NULL, "'%s': a def's block can read arrays, but not write them", stmt->name);
}

/* The symbol that the statement assigns: an existing one, an input updated with `op=`, or a new one that has not been
 * added yet. */
static struct le_symbol *find_target(struct le_checker *c, const struct le_stmt *stmt, struct le_name *name) {
    check_name(c, stmt, name);
    struct le_symbol *symbol = find_assigned(c, name);
    if (symbol)
        return symbol;
    struct le_scope scope = le_checker_scope(c);
    if (le_checker_definition(name, &scope))
        le_checker_fail(c, stmt->location, "choose another name", "'%s' is a def", stmt->name);
    if (c->now.in_call && stmt->has_subscripts)
        fail_array_in_def(c, stmt);
    if (stmt->op != LE_ASSIGN_SET && (c->now.in_call || name->ended))
        le_checker_fail(c, stmt->location,
                        c->now.in_call ? "set it in the def first: variables of a def's block are private to it"
                                       : "declare it before the block",
                        "'%s' has no value", stmt->name);
    symbol = LE_NEW(c->arena, struct le_symbol);
    *symbol = (struct le_symbol){.name = stmt->name, .location = stmt->location, .is_array = stmt->has_subscripts};
    if (stmt->op == LE_ASSIGN_SET)
        return symbol;
    symbol->is_input = symbol->update_only = symbol->any_kind = true;
    symbol->is_array = false;
    symbol->location.span = (int)strlen(stmt->name);
    return le_checker_add_symbol(c, name, symbol);
}

static struct le_tree_node *resolve_left(struct le_checker *c, const struct le_stmt *stmt, struct le_symbol *target) {
    if (!stmt->has_subscripts)
        return NULL;
    bool dots = stmt->subscripts.at[0]->kind == LE_AST_DOTS;
    struct le_location location = stmt->location;
    location.span = stmt->left_span;
    struct le_tree_node *left = le_checker_node(c, LE_TREE_READ, location, stmt->subscripts.count - dots);
    left->symbol = target;
    left->dots = dots;
    for (int k = 0; k < left->child_count; k++)
        left->children[k] = le_resolve_top(c, stmt->subscripts.at[k + dots]);
    return left;
}

/* Checks that the existing symbol's kind and rank fit the left side. */
static void check_target(struct le_checker *c, struct le_symbol *target, const struct le_tree_node *left,
                         struct le_location location) {
    if (left)
        le_checker_use_array(c, target, left->child_count, left->dots, location);
    else
        le_checker_use_scalar(c, target, location);
    if (c->now.element && !left && !target->local)
        le_checker_fail(c, location, "use another name for the element's own value",
                        "'%s' is defined outside the each and is read-only inside it", target->name);
}

static void add_target(struct le_checker *c, const struct le_stmt *stmt, struct le_symbol *target,
                       const struct le_tree_node *left) {
    if (left) {
        if (c->now.element)
            le_checker_fail(c, stmt->location,
                            le_arena_format(c->arena, "declare it before the each: `out %s: f64[...]`", stmt->name),
                            "'%s' has no shape: an each cannot make new arrays", stmt->name);
        check_new_array(c, stmt, left);
        if (left->child_count > LEAT_RANK_MAX)
            le_checker_fail(c, stmt->location, NULL, "'%s' has %d axes; the limit is %d", stmt->name, left->child_count,
                            LEAT_RANK_MAX);
        target->rank = left->child_count;
        target->any_rank = left->dots;
    }
    le_checker_add_symbol(c, le_checker_name(c, stmt->name), target);
}

static void check_assignment(struct le_checker *c, const struct le_stmt *stmt) {
    le_checker_start(c, stmt, NULL);
    struct le_name *name = le_checker_name(c, stmt->name);
    struct le_symbol *target = find_target(c, stmt, name);
    c->now.owner = target;
    struct le_tree_node *left = resolve_left(c, stmt, target);
    add_where(c, stmt);
    int first_read = c->accesses.count;
    struct le_tree_node *value = le_resolve_top(c, stmt->value);
    struct le_tree_node *otherwise = stmt->otherwise ? le_resolve_top(c, stmt->otherwise) : NULL;
    for (int k = first_read; c->now.element && otherwise && k < c->accesses.count; k++)
        c->accesses.at[k].has_else = true;
    struct le_symbol *known = find_assigned(c, name); /* the right side may have made the name an input */
    bool is_new = !known;
    if (known) {
        target = known;
        check_target(c, target, left, stmt->location);
    }
    if (left)
        left->symbol = target;
    if (!(left && left->dots))
        le_checker_reject_dots(c);
    if (left && left->dots && c->now.element && !c->now.binds_dots)
        le_checker_fail(c, left->location, "write `each ..., i { }`", "the each does not bind `...`");
    if (!c->now.element)
        check_reduced(c, stmt, left, value, otherwise);
    if (target->update_only && !target->no_value)
        target->no_value = no_value_advice(c, stmt, left);
    if (is_new)
        add_target(c, stmt, target, left);
    else if (left)
        le_checker_access(c, left)->left = true;
    target->assigned = true;
    struct le_step *step = le_checker_step(c, LE_STEP_ASSIGN, stmt->location);
    step->symbol = target;
    step->op = stmt->op;
    step->is_new = is_new;
    step->left = left;
    step->value = value;
    step->otherwise = otherwise;
    le_checker_finish(c, step);
}

/* ---- statements and the program */

static void check_statement(struct le_checker *c, const struct le_stmt *stmt) {
    switch (stmt->kind) {
    case LE_STMT_DECL:
        le_check_declaration(c, stmt);
        break;
    case LE_STMT_EDGE:
        le_check_edge(c, stmt);
        break;
    case LE_STMT_DEF:
        le_check_definition(c, stmt);
        break;
    case LE_STMT_ASSIGN:
        check_assignment(c, stmt);
        break;
    default:
        le_check_control(c, stmt);
        break;
    }
}

/* Marks the name that a failed statement would have set. */
static void break_name(struct le_checker *c, const char *text) {
    struct le_name *name = le_checker_name(c, text);
    if (name->broken || le_checker_find(name, c->now.block))
        return;
    le_checker_change(c, name);
    name->broken = true;
}

static void break_names(struct le_checker *c, const struct le_stmt *stmt) {
    c->defaulting = NULL;
    if (stmt->kind == LE_STMT_ASSIGN)
        break_name(c, stmt->name);
    for (int k = 0; k < stmt->items.count; k++)
        break_name(c, stmt->items.at[k].name);
}

void le_check_try(struct le_checker *c, const struct le_stmt *stmt,
                  void (*check)(struct le_checker *c, const struct le_stmt *stmt)) {
    const struct le_position position = c->now;
    jmp_buf failure, *outer = c->failure;
    c->failure = &failure;
    if (setjmp(failure) == 0) {
        check(c, stmt);
    } else {
        le_checker_unwind(c, position.block);
        c->now = position;
        break_names(c, stmt);
    }
    c->now = position;
    c->failure = outer;
}

static bool is_too_large(const struct le_checker *c) {
    return c->node_count > LE_NODES_MAX;
}

/* Sizes of the lists that an element's statements extend. */
struct list_sizes {
    int steps, indices, accesses;
};

static struct list_sizes list_sizes_of(const struct le_checker *c) {
    return (struct list_sizes){c->now.steps->count, c->all.count, c->accesses.count};
}

static void truncate_lists(struct le_checker *c, const struct list_sizes *reached) {
    c->now.steps->count = reached->steps;
    c->all.count = reached->indices;
    c->accesses.count = reached->accesses;
}

/* In an element's blocks, statements after one that always leaves the block are checked, then dropped. */
void le_check_statements(struct le_checker *c, struct le_stmts stmts) {
    struct le_position position = c->now;
    struct list_sizes reached = {0};
    bool ends = false;
    for (int k = 0; k < stmts.count && !le_program_errors_full() && !is_too_large(c); k++) {
        if (c->now.in_call)
            check_statement(c, stmts.at[k]);
        else
            le_check_try(c, stmts.at[k], check_statement);
        position.guards +=
            position.element && le_stmt_leaves(stmts.at[k], true); /* the statements after it may not run */
        c->now = position;
        if (!ends && position.element && le_stmt_ends(stmts.at[k])) {
            ends = true;
            reached = list_sizes_of(c);
        }
    }
    if (ends)
        truncate_lists(c, &reached);
}

/* A plain `out y` marks a name that is assigned later. It must be assigned outside of blocks. */
static void check_marked(const struct le_checker *c) {
    for (int k = 0; k < c->names.count; k++) {
        const struct le_name *name = c->names.at[k];
        if (name->wants_out && !name->symbol && name->ended)
            le_program_error_add(LEAT_PROGRAM, name->out_location,
                                 "declare it before the block: `out y = 0`, or `out y: f64[...]`",
                                 "'%s' is set only in a block and does not exist after it", name->text);
    }
}

/* Names set in blocks do not exist after them and cannot be results. */
static void check_results(const struct le_checker *c) {
    for (int k = 0; k < c->symbols.count; k++)
        if (!c->symbols.at[k]->in_block && c->symbols.at[k]->name[0])
            return;
    le_program_error_add(LEAT_PROGRAM, (struct le_location){0}, "assign a name outside of all blocks",
                         "the program has no result");
}

static void finish_tree(struct le_checker *c) {
    struct le_tree *tree = c->tree;
    tree->symbols = c->symbols.at;
    tree->symbol_count = c->symbols.count;
    tree->steps = c->steps.at;
    tree->step_count = c->steps.count;
    tree->index_names = c->index_names.at;
    tree->index_locations = c->index_locations.at;
    tree->index_name_count = c->index_names.count;
}

struct le_tree *le_check(struct le_arena *arena, const char *text, size_t size_bytes) {
    le_errors_clear();
    struct le_tree *tree = LE_NEW(arena, struct le_tree);
    tree->text = size_bytes <= LE_TEXT_MAX ? le_arena_copy(arena, text, size_bytes) : "";
    tree->text_bytes = size_bytes;
    struct le_stmts stmts = le_parse(arena, tree->text, size_bytes);
    if (le_errors_count() == 0) {
        struct le_checker *c = LE_NEW(arena, struct le_checker);
        c->arena = arena;
        c->tree = tree;
        c->now = (struct le_position){.steps = &c->steps, .loop = -1};
        le_check_structure(stmts);
        le_classify(c, stmts);
        le_check_statements(c, stmts);
        check_marked(c);
        if (le_errors_count() == 0)
            check_results(c);
        finish_tree(c);
        if (le_errors_count() == 0)
            le_find_types(arena, tree, NULL);
        if (le_errors_count() == 0)
            le_check_ranges(arena, tree);
    }
    le_errors_sort();
    return le_errors_count() == 0 ? tree : NULL;
}
