/* Splits complex numbers into pairs of real ones: every complex symbol, expression and assignment of a specialised
 * program becomes two. The rooms below lang know only real numbers.
 *
 * A statement with indices is copied once for each part, with its own indices. Each copy lists the accesses of both
 * parts, so that the range rules give the same result for both. The step of the first part is held, so that the second
 * part still reads the old values. Steps that run for one element run one after the other. There the second part is
 * first computed into a local variable. */
#include "lang/complex_split.h"
#include <string.h>

__attribute__((format(printf, 4, 5))) _Noreturn void le_complex_fail(struct le_complex_splitter *c,
                                                                     struct le_location location, const char *expected,
                                                                     const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    le_errors_add(LEAT_MISMATCH, location, expected, format, arguments);
    va_end(arguments);
    longjmp(c->failure, 1);
}

/* ---- symbols */

static struct le_symbol *add_symbol(struct le_complex_splitter *c, const struct le_symbol *from, const char *name) {
    struct le_symbol *symbol = LE_NEW(c->arena, struct le_symbol);
    *symbol = *from;
    symbol->name = name;
    symbol->id = c->symbols.count;
    symbol->type = le_type_part(from->type);
    symbol->declared = le_type_part(from->declared);
    *LE_PUSH(c->arena, &c->symbols) = symbol;
    return symbol;
}

/* The fill of an edge is always split, because it may apply to a complex array. */
static bool needs_imaginary(const struct le_symbol *symbol) {
    return le_type_is_complex(symbol->type) || !symbol->name[0];
}

static void add_imaginary(struct le_complex_splitter *c, const struct le_symbol *from) {
    struct le_twin *twin = &c->twins[from->id];
    const char *name = from->name[0] ? le_arena_format(c->arena, "%s.im", from->name) : "";
    if (!needs_imaginary(from))
        return;
    twin->im = add_symbol(c, from, name);
    twin->re->imaginary = twin->im;
}

static void split_symbols(struct le_complex_splitter *c) {
    c->twins = LE_NEW_ARRAY(c->arena, c->from->symbol_count, struct le_twin);
    for (int k = 0; k < c->from->symbol_count; k++)
        c->twins[k].re = add_symbol(c, c->from->symbols[k], c->from->symbols[k]->name);
    for (int k = 0; k < c->from->symbol_count; k++)
        add_imaginary(c, c->from->symbols[k]);
}

/* Gives every copy of a def its own variables. */
static void renew_local(struct le_complex_splitter *c, const struct le_symbol *symbol,
                        const struct le_tree_node *owner) {
    struct le_twin *twin = &c->twins[symbol->id];
    bool is_first = !twin->owner, is_new = twin->owner != owner;
    twin->owner = owner;
    if (is_first || !is_new)
        return;
    twin->re = add_symbol(c, symbol, symbol->name);
    add_imaginary(c, symbol);
}

struct le_twin le_twin_of(const struct le_complex_splitter *c, const struct le_symbol *symbol) {
    return symbol ? c->twins[symbol->id] : (struct le_twin){0};
}

struct le_symbol *le_complex_local(struct le_complex_splitter *c, const char *name, enum le_type type) {
    return add_symbol(
        c, &(struct le_symbol){.assigned = true, .read = true, .in_block = true, .local = true, .type = type}, name);
}

/* ---- statements */

/* Copies the step without its contents. Outside of elements, its lists are collected until finish_step. */
static struct le_step *start_step(struct le_complex_splitter *c, const struct le_step *from) {
    if (!c->element) {
        c->owner = from;
        c->all.count = c->accesses.count = 0;
    }
    struct le_step *step = LE_NEW(c->arena, struct le_step);
    *step = *from;
    step->symbol = le_twin_of(c, from->symbol).re;
    step->array = le_twin_of(c, from->array).re;
    step->term = le_type_part(from->term);
    step->update = le_type_part(from->update);
    if (!c->element)
        step->free = le_complex_indices(c, from->free, from->free_count);
    return step;
}

static void take_lists(struct le_complex_splitter *c, struct le_step *step) {
    step->all_count = c->all.count;
    step->all = LE_NEW_ARRAY(c->arena, c->all.count, struct le_index *);
    if (c->all.count > 0)
        memcpy(step->all, c->all.at, (size_t)c->all.count * sizeof *step->all);
    step->access_count = c->accesses.count;
    step->accesses = LE_NEW_ARRAY(c->arena, c->accesses.count, struct le_access);
    if (c->accesses.count > 0)
        memcpy(step->accesses, c->accesses.at, (size_t)c->accesses.count * sizeof *step->accesses);
}

static struct le_step *finish_step(struct le_complex_splitter *c, struct le_step *step) {
    if (!c->element)
        take_lists(c, step);
    *LE_PUSH(c->arena, c->steps) = *step;
    return &c->steps->at[c->steps->count - 1];
}

static void copy_sizes(struct le_complex_splitter *c, const struct le_step *from, struct le_step *step) {
    step->sizes = LE_NEW_ARRAY(c->arena, from->size_count, struct le_tree_node *);
    for (int k = 0; k < from->size_count; k++)
        step->sizes[k] = le_complex_real(c, from->sizes[k]);
}

/* The parts of value as the symbol stores them. */
static struct le_parts parts_for(struct le_complex_splitter *c, struct le_twin twin, const struct le_tree_node *value) {
    return twin.im ? le_complex_both(c, value) : (struct le_parts){.re = le_complex_condition(c, value)};
}

/* Splits NEW, DEFAULT, FILL, BIND and AGREE. The value may be missing. */
static void split_setting(struct le_complex_splitter *c, const struct le_step *from) {
    struct le_twin twin = le_twin_of(c, from->symbol);
    bool is_new = from->kind == LE_STEP_NEW;
    if (is_new && from->value && !twin.im && le_type_is_complex(from->value->type) && twin.re->type != LE_BOOL)
        le_complex_fail(c, from->value->location, "write re(...)",
                        "assigning %s to '%s' (%s) needs a cast: it is complex", le_type_name(from->value->type),
                        twin.re->name, le_type_name(twin.re->type));
    struct le_parts parts = {.re = NULL};
    for (int part = 0; part < (twin.im ? 2 : 1); part++) {
        struct le_step *step = start_step(c, from);
        copy_sizes(c, from, step);
        step->symbol = part ? twin.im : twin.re;
        if (from->value &&
            (!c->element || part == 0)) /* outside of elements each step has its own lists, so it needs its own copy */
            parts = parts_for(c, twin, from->value);
        if (from->value)
            step->value = le_make_child(part ? parts.im : parts.re);
        finish_step(c, step);
    }
}

/* ---- assignments */

/* The parts of the statement's value. Both take the `else` value if a read of either is out of range. */
static struct le_parts split_value(struct le_complex_splitter *c, const struct le_step *from) {
    struct le_parts parts = le_complex_both(c, from->value);
    bool whole = le_complex_has_all_reads(from->value, false) && le_complex_has_all_reads(from->value, true);
    return from->otherwise && !whole ? le_complex_with_all_reads(c, from->value, parts) : parts;
}

/* Copies value and else for one part of a complex symbol. */
static void copy_terms(struct le_complex_splitter *c, const struct le_step *from, bool imaginary,
                       struct le_step *step) {
    struct le_parts parts = split_value(c, from);
    step->value = le_make_child(imaginary ? parts.im : parts.re);
    if (!from->otherwise)
        return;
    parts = le_complex_both(c, from->otherwise);
    step->otherwise = le_make_child(imaginary ? parts.im : parts.re);
}

static void assign_part(struct le_complex_splitter *c, const struct le_step *from, bool imaginary) {
    struct le_twin twin = le_twin_of(c, from->symbol);
    struct le_step *step = start_step(c, from);
    step->symbol = imaginary ? twin.im : twin.re;
    if (from->left)
        step->left = le_complex_left(c, from->left, step->symbol);
    copy_terms(c, from, imaginary, step);
    step->held = !imaginary;
    finish_step(c, step);
}

static void assign_real(struct le_complex_splitter *c, const struct le_step *from) {
    struct le_step *step = start_step(c, from);
    if (from->left)
        step->left = le_complex_left(c, from->left, step->symbol);
    step->value = le_make_child(le_complex_condition(c, from->value));
    if (from->otherwise)
        step->otherwise = le_make_child(le_complex_condition(c, from->otherwise));
    finish_step(c, step);
}

static struct le_symbol *new_local(struct le_complex_splitter *c, const struct le_symbol *like) {
    struct le_symbol local = {.name = "", .location = like->location, .local = true, .type = like->type};
    return add_symbol(c, &local, le_arena_format(c->arena, "%s.next", like->name));
}

/* Computes both parts before it writes either. */
static void assign_element(struct le_complex_splitter *c, const struct le_step *from) {
    struct le_twin twin = le_twin_of(c, from->symbol);
    struct le_parts parts = split_value(c, from), others = {0};
    struct le_symbol *next = new_local(c, twin.im);
    if (from->otherwise)
        others = le_complex_both(c, from->otherwise);
    struct le_step *first = start_step(c, from), *step;
    first->symbol = next;
    first->left = NULL;
    first->op = LE_ASSIGN_SET;
    first->is_new = true;
    first->value = le_make_child(parts.im);
    first->otherwise = others.im ? le_make_child(others.im) : NULL;
    first->term = first->update = next->type;
    finish_step(c, first);
    struct le_tree_node *saved = LE_NEW(c->arena, struct le_tree_node);
    *saved =
        (struct le_tree_node){.kind = LE_TREE_SCALAR, .location = from->location, .type = next->type, .symbol = next};
    for (int part = 0; part < 2; part++) {
        step = start_step(c, from);
        step->symbol = part ? twin.im : twin.re;
        if (from->left)
            step->left = le_complex_left(c, from->left, step->symbol);
        step->value = le_make_child(part ? saved : parts.re);
        step->otherwise = part || !others.re ? NULL : le_make_child(others.re);
        finish_step(c, step);
    }
}

/* ---- *= and /=, which need both parts of the old value */

static bool uses_index(const struct le_tree_node *node, const struct le_index *index) {
    if (node->kind == LE_TREE_INDEX)
        return node->index == index;
    for (int k = 0; k < node->child_count; k++)
        if (uses_index(node->children[k], index))
            return true;
    return false;
}

static bool uses_any(const struct le_step *owner, const struct le_tree_node *node, const struct le_index *but) {
    for (int k = 0; k < owner->free_count; k++)
        if (owner->free[k] != but && uses_index(node, owner->free[k]))
            return true;
    return false;
}

/* Whether the node is i, i + e or c * i + e, with no other index. */
static bool is_linear_in(const struct le_step *owner, const struct le_tree_node *node, const struct le_index *index) {
    if (uses_any(owner, node, index) || !uses_index(node, index))
        return false;
    if (node->kind == LE_TREE_INDEX)
        return true;
    if (node->kind != LE_TREE_OP || node->child_count != 2)
        return false;
    const struct le_tree_node *a = node->children[0], *b = node->children[1];
    bool product = node->op == LE_OP_MUL && (a->kind == LE_TREE_CONST || b->kind == LE_TREE_CONST);
    if (!product && node->op != LE_OP_ADD && node->op != LE_OP_SUB)
        return false;
    if (uses_index(a, index) == uses_index(b, index))
        return false;
    return is_linear_in(owner, uses_index(a, index) ? a : b, index);
}

/* Whether different points of the statement update different elements. */
static bool updates_distinct_elements(const struct le_step *from) {
    for (int k = 0; k < from->free_count; k++) {
        bool found = false;
        for (int d = 0; from->left && d < from->left->child_count; d++)
            found |= is_linear_in(from, from->left->children[d], from->free[k]);
        if (!found)
            return false;
    }
    return true;
}

static struct le_tree_node *updated_value(struct le_complex_splitter *c, const struct le_step *from,
                                          struct le_tree_node *value) {
    struct le_tree_node *old = LE_NEW(c->arena, struct le_tree_node), *node = LE_NEW(c->arena, struct le_tree_node);
    if (from->left)
        *old = *from->left;
    else
        *old = (struct le_tree_node){.kind = LE_TREE_SCALAR, .location = from->location, .symbol = from->symbol};
    old->type = from->symbol->type;
    *node = (struct le_tree_node){.kind = LE_TREE_OP,
                                  .location = from->location,
                                  .op = from->op == LE_ASSIGN_MUL ? LE_OP_MUL : LE_OP_DIV,
                                  .type = from->update,
                                  .operand = from->update,
                                  .child_count = 2};
    node->children = LE_NEW_ARRAY(c->arena, 2, struct le_tree_node *);
    node->children[0] = old;
    node->children[1] = value;
    return node;
}

/* Rewrites z *= w as z = z * w. */
static struct le_step *spell_out(struct le_complex_splitter *c, const struct le_step *from) {
    struct le_step *step = LE_NEW(c->arena, struct le_step);
    *step = *from;
    step->op = LE_ASSIGN_SET;
    step->term = from->update;
    step->value = updated_value(c, from, from->value);
    if (from->otherwise)
        step->otherwise = updated_value(c, from, from->otherwise);
    return step;
}

/* Replaces the value of an update of a scalar by the product of all its terms. */
static struct le_step *as_product(struct le_complex_splitter *c, const struct le_step *from) {
    struct le_step *step = LE_NEW(c->arena, struct le_step);
    struct le_tree_node *product = LE_NEW(c->arena, struct le_tree_node);
    *product = (struct le_tree_node){.kind = LE_TREE_REDUCE,
                                     .location = from->location,
                                     .op = LE_RED_PROD,
                                     .type = from->update,
                                     .operand = from->update,
                                     .indices = from->free,
                                     .index_count = from->free_count,
                                     .child_count = 1};
    product->children = LE_NEW_ARRAY(c->arena, 1, struct le_tree_node *);
    product->children[0] = from->value;
    *step = *from;
    step->free_count = 0;
    step->value = product;
    return step;
}

static bool reads_target(const struct le_step *from) {
    for (int k = 0; k < from->access_count; k++)
        if (!from->accesses[k].left && from->accesses[k].node->symbol == from->symbol)
            return true;
    return false;
}

static void assign_parts(struct le_complex_splitter *c, const struct le_step *from) {
    assign_part(c, from, false);
    assign_part(c, from, true);
}

static int split_each(struct le_complex_splitter *c, const struct le_step *from);
static void end_each(struct le_complex_splitter *c, const struct le_step *from, int each);

/* Updates element by element with an EACH, so that each point sees the updates of the points before it. */
static void scatter_elements(struct le_complex_splitter *c, const struct le_step *from) {
    struct le_step each = *from, end = {.kind = LE_STEP_END, .location = from->location};
    each.kind = LE_STEP_EACH;
    each.symbol = NULL;
    each.left = each.value = each.otherwise = NULL;
    each.is_new = false;
    each.accesses = LE_NEW_ARRAY(c->arena, from->access_count, struct le_access);
    for (int k = 0; k < from->access_count; k++) {
        each.accesses[k] = from->accesses[k];
        each.accesses[k].has_else = from->otherwise && !from->accesses[k].left;
    }
    int opened = split_each(c, &each);
    struct le_step *step = spell_out(c, from);
    step->free_count = step->all_count = step->access_count = 0;
    assign_element(c, step);
    end_each(c, &end, opened);
    c->steps->at[opened].partner = c->steps->count - 1;
    c->steps->at[c->steps->count - 1].partner = opened;
}

/* If several elements of an each update the same address, they run one after the other and see earlier updates, as the
 * language requires. */
static void split_update(struct le_complex_splitter *c, const struct le_step *from) {
    if (c->element)
        assign_element(c, spell_out(c, from));
    else if (updates_distinct_elements(from))
        assign_parts(c, spell_out(c, from));
    else if (!from->left && !from->otherwise)
        assign_parts(c, spell_out(c, as_product(c, from)));
    else if (!from->left || reads_target(from))
        le_complex_fail(c, from->location,
                        "compute each element in an assignment with `=`, or loop over the elements with `for`",
                        "'%s' of complex numbers cannot scatter or reduce %s",
                        from->op == LE_ASSIGN_MUL ? "*=" : "/=", from->otherwise ? "with an `else`" : "what it reads");
    else
        scatter_elements(c, from);
}

static void split_assignment(struct le_complex_splitter *c, const struct le_step *from) {
    if (!le_twin_of(c, from->symbol).im)
        assign_real(c, from);
    else if (from->op == LE_ASSIGN_MUL || from->op == LE_ASSIGN_DIV)
        split_update(c, from);
    else if (c->element)
        assign_element(c, from);
    else
        assign_parts(c, from);
}

/* ---- control steps and defs */

static void split_return(struct le_complex_splitter *c, const struct le_step *from) {
    struct le_step *step = start_step(c, from);
    struct le_parts parts = c->gives_two ? le_complex_both(c, from->value) : le_complex_parts(c, from->value);
    step->value = le_make_child(parts.re);
    if (c->gives_two)
        step->otherwise = le_make_child(parts.im);
    finish_step(c, step);
}

static void split_control(struct le_complex_splitter *c, const struct le_step *from) {
    struct le_step *step = start_step(c, from);
    if (from->index)
        step->index = le_complex_index(c, from->index);
    if (from->value)
        step->value = le_make_child(le_complex_condition(c, from->value));
    finish_step(c, step);
}

/* The statement's lists are complete at its END. */
static int split_each(struct le_complex_splitter *c, const struct le_step *from) {
    struct le_step *step = start_step(c, from);
    c->element = true;
    finish_step(c, step);
    return c->steps->count - 1;
}

static void end_each(struct le_complex_splitter *c, const struct le_step *from, int each) {
    struct le_step *step = start_step(c, from);
    finish_step(c, step);
    c->element = false;
    take_lists(c, &c->steps->at[each]);
}

static void split_parameter(struct le_complex_splitter *c, const struct le_step *from) {
    struct le_twin twin = le_twin_of(c, from->symbol);
    struct le_parts given = parts_for(c, twin, from->value);
    for (int part = 0; part < (twin.im ? 2 : 1); part++) {
        struct le_step *step = start_step(c, from);
        step->symbol = part ? twin.im : twin.re;
        step->value = le_make_child(part ? given.im : given.re);
        finish_step(c, step);
    }
}

static void split_step(struct le_complex_splitter *c, const struct le_step *from) {
    switch (from->kind) {
    case LE_STEP_DEFAULT:
    case LE_STEP_BIND:
    case LE_STEP_AGREE:
    case LE_STEP_NEW:
    case LE_STEP_FILL:
        split_setting(c, from);
        break;
    case LE_STEP_ASSIGN:
        split_assignment(c, from);
        break;
    case LE_STEP_RETURN:
        split_return(c, from);
        break;
    default:
        split_control(c, from);
        break;
    }
}

static bool has_partner(enum le_step_kind kind) {
    return kind >= LE_STEP_EACH && kind != LE_STEP_RETURN && kind != LE_STEP_FAIL;
}

static void split_steps(struct le_complex_splitter *c, const struct le_step *from, int count) {
    int *at = LE_NEW_ARRAY(c->arena, count, int), each = -1;
    const struct le_step *begun = NULL;
    for (int k = 0; k < count; k++) {
        if (from[k].kind == LE_STEP_END && &from[from[k].partner] == begun)
            end_each(c, &from[k], each);
        else if (from[k].kind == LE_STEP_EACH)
            each = split_each(c, begun = &from[k]);
        else if (from[k].is_parameter)
            split_parameter(c, &from[k]);
        else
            split_step(c, &from[k]);
        at[k] = c->steps->count - 1; /* a control step is copied to one step */
    }
    for (int k = 0; k < count; k++)
        if (has_partner(from[k].kind))
            c->steps->at[at[k]].partner = at[from[k].partner];
}

void le_complex_call(struct le_complex_splitter *c, const struct le_tree_node *from, struct le_tree_node *node) {
    struct step_list *outer = c->steps, inner = {0};
    bool element = c->element, gives_two = c->gives_two;
    for (int k = 0; k < from->step_count; k++)
        if (from->steps[k].symbol && from->steps[k].symbol->local)
            renew_local(c, from->steps[k].symbol, node);
    c->steps = &inner;
    c->element = true;
    c->gives_two = le_type_is_complex(from->type);
    split_steps(c, from->steps, from->step_count);
    node->steps = inner.at;
    node->step_count = inner.count;
    c->steps = outer;
    c->element = element;
    c->gives_two = gives_two;
}

/* ---- the program */

static const struct le_input *split_inputs(struct le_complex_splitter *c, const struct le_input *from) {
    struct le_input *inputs = LE_NEW_ARRAY(c->arena, c->symbols.count, struct le_input);
    for (int k = 0; k < c->from->symbol_count; k++) {
        inputs[k] = from[k];
        inputs[k].type = le_type_part(from[k].type);
        if (c->twins[k].im)
            inputs[c->twins[k].im->id] = inputs[k];
    }
    return inputs;
}

static bool split_program(struct le_complex_splitter *c) {
    if (setjmp(c->failure))
        return false;
    split_symbols(c);
    split_steps(c, c->from->steps, c->from->step_count);
    return true;
}

struct le_tree *le_complex_split(struct le_arena *arena, struct le_tree *from, const struct le_input **inputs) {
    if (!from->has_complex)
        return from;
    struct le_complex_splitter *c = LE_NEW(arena, struct le_complex_splitter);
    struct step_list steps = {0};
    c->arena = arena;
    c->from = from;
    c->tree = LE_NEW(arena, struct le_tree);
    *c->tree = *from;
    c->indices = LE_NEW_ARRAY(arena, from->index_count, struct le_index *);
    c->steps = &steps;
    if (!split_program(c))
        return NULL;
    c->tree->steps = c->steps->at;
    c->tree->step_count = c->steps->count;
    c->tree->symbols = c->symbols.at;
    c->tree->symbol_count = c->symbols.count;
    *inputs = split_inputs(c, *inputs);
    return c->tree;
}
