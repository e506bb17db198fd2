/* Declarations and edge modes. */
#include "lang/check.h"
#include <string.h>

static void add_default(struct le_checker *c, struct le_symbol *symbol, const struct le_ast_item *item) {
    le_checker_start(c, c->now.stmt, LE_SCALAR_NEEDED);
    c->defaulting = symbol;
    struct le_tree_node *value = le_resolve_scalar(c, item->value);
    c->defaulting = NULL;
    struct le_step *step = le_checker_step(c, LE_STEP_DEFAULT, item->location);
    step->symbol = symbol;
    step->value = value;
    le_checker_finish(c, step);
    symbol->optional = symbol->wants_default = true;
}

/* A bare name in a declared shape is bound to the extent if it has no value yet. */
static bool binds_size(struct le_checker *c, struct le_symbol *array, int axis, const struct le_ast *size) {
    if (size->kind != LE_AST_NAME)
        return false;
    struct le_name *name = le_checker_name(c, size->name);
    if (name->symbol || name->conflict || name->broken)
        return false;
    struct le_symbol *symbol = le_checker_input(c, name, LE_USE_SCALAR, size->location);
    symbol->optional = true;
    struct le_step *step = le_checker_step(c, LE_STEP_BIND, size->location);
    step->symbol = symbol;
    step->array = array;
    step->axis = axis;
    return true;
}

static void add_agree(struct le_checker *c, struct le_symbol *array, int axis, const struct le_ast *size) {
    le_checker_start(c, c->now.stmt, LE_SCALAR_NEEDED);
    struct le_tree_node *value = le_resolve_scalar(c, size);
    struct le_step *step = le_checker_step(c, LE_STEP_AGREE, size->location);
    step->array = array;
    step->axis = axis;
    step->value = value;
    le_checker_finish(c, step);
}

static struct le_symbol *input_symbol(struct le_checker *c, const struct le_ast_item *item, struct le_name *name) {
    struct le_symbol *symbol = name->symbol;
    if (name->declared_input)
        le_checker_fail(c, item->location, NULL, "'%s' is declared twice", item->name);
    if (symbol && !symbol->is_input)
        le_checker_fail(c, item->location, NULL, "'%s' already has a value", item->name);
    if (symbol && item->value)
        le_checker_fail(c, item->location,
                        le_arena_format(c->arena, "declare the default above line %d", symbol->location.line),
                        "'%s' is used before its default is declared", item->name);
    if (item->value && item->is_array)
        le_checker_fail(c, item->location, NULL, "'%s' is an array; only scalars can have a default", item->name);
    if (!symbol)
        symbol = le_checker_input(c, name, item->value ? LE_USE_SCALAR : LE_USE_DECLARED, item->location);
    symbol->update_only = false;
    symbol->declared = item->type;
    name->declared_input = true;
    return symbol;
}

/* Binds bare names first; sizes that use them are compared later. */
static void declare_input(struct le_checker *c, const struct le_ast_item *item, bool *agrees) {
    struct le_name *name = le_checker_name(c, item->name);
    struct le_symbol *symbol = input_symbol(c, item, name);
    if (item->is_array)
        le_checker_use_array(c, symbol, item->sizes.count, false, item->location);
    for (int axis = 0; axis < item->sizes.count; axis++)
        agrees[axis] = !binds_size(c, symbol, axis, item->sizes.at[axis]);
    if (item->value) {
        le_checker_use_scalar(c, symbol, item->location);
        add_default(c, symbol, item);
    }
}

static void declare_inputs(struct le_checker *c, const struct le_stmt *stmt) {
    bool *agrees = le_arena_array(c->arena, (size_t)stmt->items.count, LEAT_RANK_MAX);
    for (int k = 0; k < stmt->items.count; k++)
        declare_input(c, &stmt->items.at[k], agrees + k * LEAT_RANK_MAX);
    for (int k = 0; k < stmt->items.count; k++) {
        const struct le_ast_item *item = &stmt->items.at[k];
        for (int axis = 0; axis < item->sizes.count; axis++)
            if (agrees[k * LEAT_RANK_MAX + axis])
                add_agree(c, le_checker_name(c, item->name)->symbol, axis, item->sizes.at[axis]);
    }
}

/* A plain `out y` marks an input, or a name that is assigned elsewhere. Returns true if that is all the declaration
 * does. */
static bool mark_out(struct le_name *name, const struct le_ast_item *item, bool in_block) {
    if (item->is_array || item->value || item->type != LE_NONE || name->binding)
        return false;
    if (name->symbol) {
        if (!name->symbol->marked_out)
            name->symbol->out_location = item->location;
        name->symbol->marked_out = true;
        return true;
    }
    if (in_block || (!name->assigned && !name->mentioned))
        return false;
    if (!name->wants_out)
        name->out_location = item->location;
    name->wants_out = true;
    return true;
}

/* Checks that the name can be declared here. A block may redeclare a name from outside. */
static void check_new(struct le_checker *c, const struct le_ast_item *item, const struct le_name *name) {
    const struct le_binding *binding = le_checker_binding(name, c->now.block);
    const struct le_symbol *symbol = binding ? binding->symbol : name->symbol;
    if (symbol && symbol->is_input)
        le_checker_fail(c, item->location, NULL, "'%s' is already an input", item->name);
    if (symbol && (binding ? binding->block : NULL) == c->now.block)
        le_checker_fail(c, item->location, NULL, "'%s' is declared twice", item->name);
    if (binding && binding->index)
        le_checker_fail(c, item->location, "choose another name", "'%s' is already an index", item->name);
    if (c->now.element && item->is_array)
        le_checker_fail(c, item->location, "declare the array before it",
                        "'%s' is an array: %s can declare only scalars", item->name,
                        c->now.in_call ? "a def's block" : "an each");
    if (item->sizes.count > LEAT_RANK_MAX)
        le_checker_fail(c, item->location, NULL, "'%s' has %d axes; the limit is %d", item->name, item->sizes.count,
                        LEAT_RANK_MAX);
}

static void declare_new(struct le_checker *c, const struct le_stmt *stmt, const struct le_ast_item *item) {
    struct le_name *name = le_checker_name(c, item->name);
    if (name->conflict)
        return;
    if (stmt->decl == LE_DECL_OUT && mark_out(name, item, c->now.block != NULL))
        return;
    if (stmt->decl == LE_DECL_OUT && c->now.block)
        le_checker_fail(c, item->location, "declare it before the block",
                        "'%s' is declared with `out` in a block and does not exist after it", item->name);
    check_new(c, item, name);
    le_checker_start(c, stmt, LE_SCALAR_NEEDED);
    struct le_tree_node **sizes = LE_NEW_ARRAY(c->arena, item->sizes.count, struct le_tree_node *);
    for (int axis = 0; axis < item->sizes.count; axis++)
        sizes[axis] = le_resolve_scalar(c, item->sizes.at[axis]);
    struct le_tree_node *value = item->value ? le_resolve_scalar(c, item->value) : NULL;
    check_new(c, item, name); /* the value may have made the name an input */
    struct le_symbol *symbol = LE_NEW(c->arena, struct le_symbol);
    *symbol = (struct le_symbol){.name = item->name,
                                 .location = item->location,
                                 .out_location = item->location,
                                 .is_array = item->is_array,
                                 .rank = item->sizes.count,
                                 .declared = item->type,
                                 .marked_out = stmt->decl == LE_DECL_OUT};
    le_checker_add_symbol(c, name, symbol);
    struct le_step *step = le_checker_step(c, LE_STEP_NEW, item->location);
    step->symbol = symbol;
    step->sizes = sizes;
    step->size_count = item->sizes.count;
    step->value = value;
    le_checker_finish(c, step);
}

void le_check_declaration(struct le_checker *c, const struct le_stmt *stmt) {
    le_checker_start(c, stmt, LE_SCALAR_NEEDED);
    if (stmt->decl == LE_DECL_IN) {
        if (!c->now.block) /* blocks.c has already declared the inputs of blocks */
            declare_inputs(c, stmt);
        return;
    }
    for (int k = 0; k < stmt->items.count; k++)
        declare_new(c, stmt, &stmt->items.at[k]);
}

/* The array's name, following the parameters of the def that is being inlined. */
static struct le_name *edge_name(struct le_checker *c, const char *text) {
    const struct le_frame *frame = c->now.frame;
    for (const struct le_ast *argument; (argument = le_frame_argument(frame, text, &frame));
         frame = frame->caller->frame) {
        if (argument->kind != LE_AST_NAME)
            break;
        text = argument->name;
    }
    return le_checker_name(c, text);
}

void le_check_edge(struct le_checker *c, const struct le_stmt *stmt) {
    struct le_symbol *fill = NULL;
    le_checker_start(c, stmt, LE_SCALAR_NEEDED);
    if (stmt->edge == LE_EDGE_FILL) {
        struct le_tree_node *value = le_resolve_scalar(c, stmt->value);
        fill = LE_NEW(c->arena, struct le_symbol);
        *fill = (struct le_symbol){.name = "", .location = stmt->location};
        le_checker_add_symbol(c, NULL, fill);
        struct le_step *step = le_checker_step(c, LE_STEP_FILL, stmt->location);
        step->symbol = fill;
        step->value = value;
        le_checker_finish(c, step);
    }
    for (int k = 0; k < stmt->names.count; k++) {
        struct le_name *name = edge_name(c, stmt->names.at[k]);
        if (!name->mentioned && !name->declared && !name->assigned)
            le_checker_fail(c, stmt->location, NULL, "'%s' is not an array of this program", name->text);
        le_checker_change(c, name);
        name->edge = stmt->edge;
        name->fill = fill;
    }
}
