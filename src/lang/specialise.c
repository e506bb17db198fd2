/* A checked tree for inputs of known kinds, ranks and types: a copy in which `...` is spelled out as indices, with all
 * types. The tree that is copied may be shared by threads. Errors here come from the inputs: LEAT_MISMATCH. */
#include "lang/check.h"
#include <string.h>

/* What `...` stands for in a statement, or in one reduction over it. */
struct dots {
    int need; /* axes */
    struct {
        struct le_tree_node **at;
        int count, capacity;
    } reads; /* that begin with it */
};
struct copier {
    struct le_arena *arena;
    const struct le_tree *from;
    struct le_tree *tree;
    const struct le_input *inputs;
    struct le_index **indices; /* copies, by the id of what they copy */
    struct le_step *step;      /* the copy at hand */
    struct le_indices all;
    struct le_index *around[LE_INDICES_MAX];
    int around_count;
    struct le_place place;
    jmp_buf failure;
};

static struct le_tree_node *copy(struct copier *c, const struct le_tree_node *node, struct dots *dots);

__attribute__((format(printf, 4, 5))) static _Noreturn void fail(struct copier *c, struct le_place place,
                                                                 const char *expected, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    le_errors_add(LEAT_MISMATCH, place, expected, format, arguments);
    va_end(arguments);
    longjmp(c->failure, 1);
}

/* ---- inputs */

static void fit_array(struct le_symbol *symbol, const struct le_input *input) {
    if (!input->is_array)
        le_fault_add(LEAT_MISMATCH, symbol->place, "bind an array", "'%s' is a scalar: it has no subscripts",
                     symbol->name);
    else if (symbol->any_rank ? input->rank < symbol->rank : input->rank != symbol->rank)
        le_fault_add(LEAT_MISMATCH, symbol->place, NULL, "%s has %d axes, %d subscripts given", symbol->name,
                     input->rank, symbol->rank);
    else if (symbol->declared != LE_NONE && symbol->declared != input->type)
        le_fault_add(LEAT_MISMATCH, symbol->place, NULL, "'%s' is %s, but declared %s", symbol->name,
                     le_type_name(input->type), le_type_name(symbol->declared));
    symbol->rank = input->rank;
    symbol->any_rank = false;
}

static void fit_input(struct le_symbol *symbol, const struct le_input *input) {
    if (!input->bound) {
        if (symbol->update_only)
            le_fault_add(LEAT_PROGRAM, symbol->place, "or bind it", "%s", symbol->no_value);
        else if (!symbol->optional)
            le_fault_add(LEAT_MISSING, symbol->place, "bind it, or assign it above",
                         "'%s' has no value: no input of that name is given", symbol->name);
        return;
    }
    if (symbol->any_kind) {
        symbol->any_kind = false;
        symbol->is_array = input->is_array;
        symbol->rank = input->rank;
    }
    if (symbol->is_array)
        fit_array(symbol, input);
    else if (input->is_array)
        le_fault_add(LEAT_MISMATCH, symbol->place, "write it with subscripts, or bind a number",
                     "'%s' is an array: subscript it", symbol->name);
}

static void copy_symbols(struct copier *c) {
    int count = c->from->symbol_count;
    struct le_symbol *symbols = LE_NEW_ARRAY(c->arena, count, struct le_symbol);
    c->tree->symbols = LE_NEW_ARRAY(c->arena, count, struct le_symbol *);
    for (int k = 0; k < count; k++) {
        symbols[k] = *c->from->symbols[k];
        c->tree->symbols[k] = &symbols[k];
        symbols[k].type = LE_NONE;
        if (symbols[k].is_input)
            fit_input(&symbols[k], &c->inputs[k]);
    }
}

static struct le_symbol *symbol_copy(const struct copier *c, const struct le_symbol *symbol) {
    return symbol ? c->tree->symbols[symbol->id] : NULL;
}

/* ---- indices */

static struct le_index *add_index(struct copier *c, struct le_index value, struct le_place place) {
    if (c->all.count == LE_INDICES_MAX)
        fail(c, place, "split it into several statements", "%d indices in one statement: at most %d", c->all.count + 1,
             LE_INDICES_MAX);
    struct le_index *index = LE_NEW(c->arena, struct le_index);
    *index = value;
    *LE_PUSH(c->arena, &c->all) = index;
    return index;
}

static struct le_index *copy_index(struct copier *c, const struct le_index *from, struct dots *dots) {
    struct le_index *index = add_index(c, *from, from->place);
    c->indices[from->id] = index;
    index->low = copy(c, from->low, dots);
    index->high = copy(c, from->high, dots);
    index->by = copy(c, from->by, dots);
    return index;
}

/* "...0" and on, from the left. */
static struct le_index **dots_indices(struct copier *c, int count, struct le_place place) {
    struct le_index **indices = LE_NEW_ARRAY(c->arena, count, struct le_index *);
    for (int k = 0; k < count; k++) {
        struct le_index index = {.name = le_arena_format(c->arena, "...%d", k),
                                 .id = c->tree->index_count++,
                                 .place = place,
                                 .from_dots = true};
        indices[k] = add_index(c, index, place);
    }
    return indices;
}

/* The last of the indices become the node's first subscripts, as many as it has axes for. */
static void spell_out(struct copier *c, struct le_tree_node *read, struct le_index *const *indices, int index_count,
                      int rank) {
    int count = rank - read->child_count;
    struct le_tree_node **children = LE_NEW_ARRAY(c->arena, rank, struct le_tree_node *);
    for (int k = 0; k < count; k++) {
        children[k] = LE_NEW(c->arena, struct le_tree_node);
        children[k]->kind = LE_TREE_INDEX;
        children[k]->place = read->place;
        children[k]->index = indices[index_count - count + k];
    }
    if (read->child_count > 0)
        memcpy(children + count, read->children, (size_t)read->child_count * sizeof(struct le_tree_node *));
    read->children = children;
    read->child_count = rank;
    read->dots = false;
    read->dots_count = count;
}

static void spell_out_all(struct copier *c, const struct dots *dots, struct le_index *const *indices) {
    for (int k = 0; k < dots->reads.count; k++) {
        struct le_tree_node *read = dots->reads.at[k];
        spell_out(c, read, indices, dots->need, read->symbol->rank);
    }
}

/* ---- nodes */

static void copy_access(struct copier *c, const struct le_tree_node *from, struct le_tree_node *read) {
    struct le_access *access = &c->step->accesses[from->access];
    access->node = read;
    access->around_count = c->around_count;
    access->around = LE_NEW_ARRAY(c->arena, c->around_count, struct le_index *);
    if (c->around_count > 0)
        memcpy(access->around, c->around, (size_t)c->around_count * sizeof *c->around);
}

static _Noreturn void fail_rank(struct copier *c, const struct le_tree_node *read) {
    fail(c, read->place, NULL, "%s has %d axes, %d subscripts given", read->symbol->name, read->symbol->rank,
         read->child_count);
}

static void copy_read(struct copier *c, const struct le_tree_node *from, struct le_tree_node *read, struct dots *dots) {
    read->symbol = symbol_copy(c, from->symbol);
    read->fill = symbol_copy(c, from->fill);
    int missing = read->symbol->rank - read->child_count;
    if (read->dots ? missing < 0 : missing != 0)
        fail_rank(c, read);
    copy_access(c, from, read);
    if (!read->dots)
        return;
    if (missing > dots->need)
        dots->need = missing;
    *LE_PUSH(c->arena, &dots->reads) = read;
}

/* The indices of `...` come before the reduction's others. */
static void add_dots_indices(struct copier *c, struct le_tree_node *node, const struct dots *dots) {
    struct le_index **found = dots_indices(c, dots->need, node->place);
    spell_out_all(c, dots, found);
    struct le_index **indices = LE_NEW_ARRAY(c->arena, dots->need + node->index_count, struct le_index *);
    if (dots->need > 0)
        memcpy(indices, found, (size_t)dots->need * sizeof *indices);
    if (node->index_count > 0)
        memcpy(indices + dots->need, node->indices, (size_t)node->index_count * sizeof *indices);
    node->indices = indices;
    node->index_count += dots->need;
    node->dots = false;
}

static void copy_reduction(struct copier *c, const struct le_tree_node *from, struct le_tree_node *node,
                           struct dots *outer) {
    struct dots own = {0};
    int around_count = c->around_count;
    node->indices = LE_NEW_ARRAY(c->arena, from->index_count, struct le_index *);
    for (int k = 0; k < from->index_count; k++)
        node->indices[k] = copy_index(c, from->indices[k], outer);
    for (int k = 0; k < from->index_count; k++)
        c->around[c->around_count++] = node->indices[k];
    node->children[0] = copy(c, from->children[0], from->dots ? &own : outer);
    c->around_count = around_count;
    if (from->dots)
        add_dots_indices(c, node, &own);
}

static struct le_tree_node *copy(struct copier *c, const struct le_tree_node *from, struct dots *dots) {
    if (!from)
        return NULL;
    struct le_tree_node *node = LE_NEW(c->arena, struct le_tree_node);
    *node = *from;
    if (from->child_count > 0)
        node->children = LE_NEW_ARRAY(c->arena, from->child_count, struct le_tree_node *);
    if (from->kind == LE_TREE_REDUCE) {
        copy_reduction(c, from, node, dots);
        return node;
    }
    for (int k = 0; k < from->child_count; k++)
        node->children[k] = copy(c, from->children[k], dots);
    if (from->kind == LE_TREE_READ)
        copy_read(c, from, node, dots);
    else if (from->kind == LE_TREE_INDEX)
        node->index = c->indices[from->index->id];
    else
        node->symbol = symbol_copy(c, from->symbol);
    return node;
}

/* ---- steps */

/* The left side's subscripts, and what its own `...` needs of an array that is there. */
static void copy_left(struct copier *c, const struct le_step *from, struct dots *dots) {
    struct le_tree_node *left = LE_NEW(c->arena, struct le_tree_node);
    *left = *from->left;
    left->symbol = c->step->symbol;
    left->children = LE_NEW_ARRAY(c->arena, left->child_count, struct le_tree_node *);
    for (int k = 0; k < left->child_count; k++)
        left->children[k] = copy(c, from->left->children[k], dots);
    int missing = left->symbol->rank - left->child_count;
    if (left->dots && !from->is_new && missing > dots->need)
        dots->need = missing;
    c->step->left = left;
}

/* `...` of the whole statement, now that it is known how many axes it stands for. */
static void spell_out_step(struct copier *c, const struct dots *dots, bool is_new) {
    struct le_step *step = c->step;
    struct le_tree_node *left = step->left;
    bool on_left = left && left->dots;
    if (dots->need > 0 && !on_left)
        fail(c, dots->reads.at[0]->place, "write sum(...: x[...])", "... is not on the left");
    struct le_index **indices = dots_indices(c, dots->need, step->place);
    spell_out_all(c, dots, indices);
    if (left) {
        int count = left->child_count + (on_left ? dots->need : 0);
        if (is_new)
            left->symbol->rank = count;
        left->symbol->any_rank = false;
        if (left->symbol->rank != count)
            fail(c, left->place, NULL, "%s has %d axes, %d subscripts given", left->symbol->name, left->symbol->rank,
                 count);
        if (count > LEAT_RANK_MAX)
            fail(c, left->place, NULL, "'%s' has %d axes: at most %d", left->symbol->name, count, LEAT_RANK_MAX);
        spell_out(c, left, indices, dots->need, count);
        left->dots_count = 0; /* an extent of 1 does not stretch here */
    }
    struct le_index **free = LE_NEW_ARRAY(c->arena, dots->need + step->free_count, struct le_index *);
    if (dots->need > 0)
        memcpy(free, indices, (size_t)dots->need * sizeof *free);
    for (int k = 0; k < step->free_count; k++)
        free[dots->need + k] = c->indices[step->free[k]->id];
    step->free = free;
    step->free_count += dots->need;
}

static void copy_free(struct copier *c, const struct le_step *from, struct dots *dots) {
    for (int k = 0; k < from->free_count; k++)
        c->indices[from->free[k]->id] = add_index(c, *from->free[k], from->free[k]->place);
    for (int k = 0; k < from->free_count; k++) {
        struct le_index *index = c->indices[from->free[k]->id];
        index->low = copy(c, index->low, dots);
        index->high = copy(c, index->high, dots);
        index->by = copy(c, index->by, dots);
    }
}

static void copy_step(struct copier *c, const struct le_step *from) {
    struct le_step *step = c->step;
    struct dots dots = {0};
    step->symbol = symbol_copy(c, from->symbol);
    step->array = symbol_copy(c, from->array);
    step->accesses = LE_NEW_ARRAY(c->arena, from->access_count, struct le_access);
    if (from->access_count > 0)
        memcpy(step->accesses, from->accesses, (size_t)from->access_count * sizeof *step->accesses);
    copy_free(c, from, &dots);
    step->sizes = LE_NEW_ARRAY(c->arena, from->size_count, struct le_tree_node *);
    for (int k = 0; k < from->size_count; k++)
        step->sizes[k] = copy(c, from->sizes[k], &dots);
    if (from->left)
        copy_left(c, from, &dots);
    step->value = copy(c, from->value, &dots);
    step->otherwise = copy(c, from->otherwise, &dots);
    spell_out_step(c, &dots, from->is_new);
    if (from->left && !from->is_new)
        copy_access(c, from->left, step->left);
    step->all_count = c->all.count;
    step->all = LE_NEW_ARRAY(c->arena, c->all.count, struct le_index *);
    if (c->all.count > 0)
        memcpy(step->all, c->all.at, (size_t)c->all.count * sizeof *step->all);
}

static void try_step(struct copier *c, const struct le_step *from, struct le_step *to) {
    c->step = to;
    c->all.count = c->around_count = 0;
    if (setjmp(c->failure))
        return;
    *c->step = *from;
    copy_step(c, from);
}

struct le_tree *le_specialise(struct le_arena *arena, const struct le_tree *from, const struct le_input *inputs) {
    le_errors_clear();
    struct copier *c = LE_NEW(arena, struct copier);
    c->arena = arena;
    c->from = from;
    c->inputs = inputs;
    c->tree = LE_NEW(arena, struct le_tree);
    *c->tree = *from;
    c->indices = LE_NEW_ARRAY(arena, from->index_count, struct le_index *);
    copy_symbols(c);
    c->tree->steps = LE_NEW_ARRAY(arena, from->step_count, struct le_step);
    if (le_errors_count() == 0)
        for (int k = 0; k < from->step_count && !le_faults_full(); k++)
            try_step(c, &from->steps[k], &c->tree->steps[k]);
    if (le_errors_count() == 0)
        le_find_types(arena, c->tree, inputs);
    le_errors_sort();
    return le_errors_count() == 0 ? c->tree : NULL;
}
