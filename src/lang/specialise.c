/* Specialises a checked tree for the kinds, ranks and types of its inputs: makes a copy in which `...` is expanded into
 * indices and every node has a type. Threads may share the original. Errors are caused by the inputs: LEAT_MISMATCH. */
#include "lang/check.h"
#include "lang/habits.h"
#include <string.h>

struct nodes {
    struct le_tree_node **at;
    int count, capacity;
};
/* The expansion of `...` in a statement, or in one reduction over it. */
struct dots {
    int need;                  /* number of axes */
    struct nodes reads, lefts; /* accesses whose subscripts begin with `...` */
};
struct copier {
    struct le_arena *arena;
    const struct le_tree *from;
    struct le_tree *tree;
    const struct le_input *inputs;
    struct le_index **indices; /* copies, by the original's id */
    int number;
    struct le_step *step;       /* the current copy */
    struct le_step *statement;  /* the statement that owns the accesses: the step, or the enclosing each */
    const struct le_step *each; /* the original of the enclosing each; NULL: none */
    struct dots dots;           /* `...` of the statement */
    struct le_indices all;
    int counted; /* number of indices that count towards the limit: without those of calls and of other statements of
                    the each */
    int in_calls;
    struct le_index *around[LE_INDICES_MAX];
    int around_count;
    jmp_buf failure;
};

static struct le_tree_node *copy_node(struct copier *c, const struct le_tree_node *node, struct dots *dots);

__attribute__((format(printf, 4, 5))) static _Noreturn void fail(struct copier *c, struct le_location location,
                                                                 const char *expected, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    le_errors_add(LEAT_MISMATCH, location, expected, format, arguments);
    va_end(arguments);
    longjmp(c->failure, 1);
}

/* ---- inputs */

static void fit_array(struct le_arena *arena, struct le_symbol *symbol, const struct le_input *input) {
    if (!input->is_array)
        le_program_error_add(LEAT_MISMATCH, symbol->location, "bind an array", "'%s' is a scalar and has no subscripts",
                             symbol->name);
    else if (symbol->any_rank ? input->rank < symbol->rank : input->rank != symbol->rank)
        le_program_error_add(LEAT_MISMATCH, symbol->location, "write one subscript per axis, or bind another array",
                             "%s", le_rank_text(arena, symbol->name, input->rank, symbol->rank));
    else if (symbol->declared != LE_NONE && symbol->declared != input->type)
        le_program_error_add(LEAT_MISMATCH, symbol->location,
                             le_arena_format(arena, "declare %s as %s, or convert the input to %s", symbol->name,
                                             le_type_name(input->type), le_type_name(symbol->declared)),
                             "'%s' is %s, but is declared %s", symbol->name, le_type_name(input->type),
                             le_type_name(symbol->declared));
    symbol->rank = input->rank;
    symbol->any_rank = false;
}

static const char *missing_advice(struct copier *c, const struct le_symbol *symbol) {
    const char **known = LE_NEW_ARRAY(c->arena, c->from->symbol_count, const char *);
    const char *habit = le_habit_of_input(symbol->name);
    int count = 0;
    for (int k = 0; k < c->from->symbol_count; k++)
        if (c->from->symbols[k]->name[0] && c->from->symbols[k] != c->from->symbols[symbol->id])
            known[count++] = c->from->symbols[k]->name;
    const char *near = habit ? NULL : le_nearest(symbol->name, known, count);
    if (near)
        return le_arena_format(c->arena, "bind it, or assign it above; did you mean `%s`?", near);
    return habit ? habit : "bind it, or assign it above";
}

static void fit_input(struct copier *c, struct le_symbol *symbol, const struct le_input *input) {
    if (!input->bound) {
        if (symbol->update_only)
            le_program_error_add(LEAT_PROGRAM, symbol->location, symbol->no_value, "'%s' has no value", symbol->name);
        else if (!symbol->optional)
            le_program_error_add(LEAT_MISSING, symbol->location, missing_advice(c, symbol),
                                 "'%s' has no value: no input of that name is bound", symbol->name);
        return;
    }
    if (symbol->any_kind) {
        symbol->any_kind = false;
        symbol->is_array = input->is_array;
        symbol->rank = input->rank;
    }
    bool real = symbol->declared != LE_NONE && !le_type_is_complex(symbol->declared);
    if (symbol->is_array)
        fit_array(c->arena, symbol, input);
    else if (real && le_type_is_complex(input->type))
        le_program_error_add(LEAT_MISMATCH, symbol->location, "bind a real number",
                             "'%s' is complex, but is declared %s", symbol->name, le_type_name(symbol->declared));
    else if (input->is_array)
        le_program_error_add(LEAT_MISMATCH, symbol->location, "write it with subscripts, or bind a number",
                             "'%s' is an array and needs subscripts", symbol->name);
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
            fit_input(c, &symbols[k], &c->inputs[k]);
    }
}

static struct le_symbol *symbol_copy(const struct copier *c, const struct le_symbol *symbol) {
    return symbol ? c->tree->symbols[symbol->id] : NULL;
}

/* ---- indices */

static struct le_index *add_index(struct copier *c, struct le_index value, struct le_location location) {
    c->counted += c->in_calls == 0;
    if (c->counted > LE_INDICES_MAX)
        fail(c, location, "split it into several statements", "the statement has %d indices; the limit is %d",
             c->counted, LE_INDICES_MAX);
    struct le_index *index = LE_NEW(c->arena, struct le_index);
    *index = value;
    *LE_PUSH(c->arena, &c->all) = index;
    return index;
}

static struct le_index *copy_index(struct copier *c, const struct le_index *from, struct dots *dots) {
    struct le_index *index = add_index(c, *from, from->location);
    c->indices[from->id] = index;
    index->low = copy_node(c, from->low, dots);
    index->high = copy_node(c, from->high, dots);
    index->by = copy_node(c, from->by, dots);
    return index;
}

/* Named "...0", "...1" from the left. */
static struct le_index **dots_indices(struct copier *c, int count, struct le_location location) {
    struct le_index **indices = LE_NEW_ARRAY(c->arena, count, struct le_index *);
    for (int k = 0; k < count; k++) {
        struct le_index index = {.name = le_arena_format(c->arena, "...%d", k),
                                 .id = c->tree->index_count++,
                                 .location = location,
                                 .from_dots = true};
        indices[k] = add_index(c, index, location);
    }
    return indices;
}

/* The node's missing leading subscripts are taken from the end of the list of indices. */
static void spell_out(struct copier *c, struct le_tree_node *read, struct le_index *const *indices, int index_count,
                      int rank) {
    int count = rank - read->child_count;
    struct le_tree_node **children = LE_NEW_ARRAY(c->arena, rank, struct le_tree_node *);
    for (int k = 0; k < count; k++) {
        children[k] = LE_NEW(c->arena, struct le_tree_node);
        children[k]->kind = LE_TREE_INDEX;
        children[k]->location = read->location;
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
    struct le_access *access = &c->statement->accesses[from->access];
    access->node = read;
    access->around_count = c->around_count;
    access->around = LE_NEW_ARRAY(c->arena, c->around_count, struct le_index *);
    if (c->around_count > 0)
        memcpy(access->around, c->around, (size_t)c->around_count * sizeof *c->around);
}

static _Noreturn void fail_rank(struct copier *c, const struct le_tree_node *read) {
    fail(c, read->location, "write one subscript per axis", "%s",
         le_rank_text(c->arena, read->symbol->name, read->symbol->rank, read->child_count));
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

/* The indices of `...` come before the reduction's other indices. */
static void add_dots_indices(struct copier *c, struct le_tree_node *node, const struct dots *dots) {
    struct le_index **found = dots_indices(c, dots->need, node->location);
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
    node->children[0] = copy_node(c, from->children[0], from->dots ? &own : outer);
    c->around_count = around_count;
    if (from->dots)
        add_dots_indices(c, node, &own);
}

static void copy_contents(struct copier *c, const struct le_step *steps, int number, struct dots *dots);

static void copy_call(struct copier *c, const struct le_tree_node *from, struct le_tree_node *node, struct dots *dots) {
    struct le_step *step = c->step;
    int around_count = c->around_count;
    node->steps = LE_NEW_ARRAY(c->arena, from->step_count, struct le_step);
    c->in_calls++;
    for (int k = 0; k < from->step_count; k++) {
        c->step = &node->steps[k];
        *c->step = from->steps[k];
        copy_contents(c, from->steps, k, dots);
    }
    c->in_calls--;
    c->around_count = around_count;
    c->step = step;
}

static struct le_tree_node *copy_node(struct copier *c, const struct le_tree_node *from, struct dots *dots) {
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
        node->children[k] = copy_node(c, from->children[k], dots);
    if (from->kind == LE_TREE_READ)
        copy_read(c, from, node, dots);
    else if (from->kind == LE_TREE_INDEX)
        node->index = c->indices[from->index->id];
    else if (from->kind == LE_TREE_CALL)
        copy_call(c, from, node, dots);
    else
        node->symbol = symbol_copy(c, from->symbol);
    return node;
}

/* ---- steps */

static void check_left(struct copier *c, const struct le_tree_node *left, int count) {
    const struct le_symbol *symbol = left->symbol;
    if (symbol->rank != count)
        fail(c, left->location, "write one subscript per axis", "%s",
             le_rank_text(c->arena, symbol->name, symbol->rank, count));
    if (count > LEAT_RANK_MAX)
        fail(c, left->location, NULL, "'%s' has %d axes; the limit is %d", symbol->name, count, LEAT_RANK_MAX);
}

/* Copies the left side. Its `...` stands for the remaining axes of an existing array. */
static void copy_left(struct copier *c, const struct le_step *from, struct dots *dots) {
    struct le_tree_node *left = LE_NEW(c->arena, struct le_tree_node);
    *left = *from->left;
    left->symbol = c->step->symbol;
    left->children = LE_NEW_ARRAY(c->arena, left->child_count, struct le_tree_node *);
    for (int k = 0; k < left->child_count; k++)
        left->children[k] = copy_node(c, from->left->children[k], dots);
    c->step->left = left;
    if (!left->dots) {
        left->symbol->any_rank = false;
        check_left(c, left, left->child_count);
        return;
    }
    int missing = left->symbol->rank - left->child_count;
    if (!from->is_new && missing > dots->need)
        dots->need = missing;
    *LE_PUSH(c->arena, &dots->lefts) = left;
}

/* Expands the statement's `...`, now that the number of its axes is known. */
static void spell_out_statement(struct copier *c, const struct le_step *from) {
    struct le_step *statement = c->statement;
    const struct dots *dots = &c->dots;
    int need = dots->need;
    if (need > 0 && dots->lefts.count == 0 && !from->dots)
        fail(c, dots->reads.at[0]->location, "write sum(...: x[...])", "'...' is not on the left");
    struct le_index **indices = dots_indices(c, need, statement->location);
    spell_out_all(c, dots, indices);
    for (int k = 0; k < dots->lefts.count; k++) {
        struct le_tree_node *left = dots->lefts.at[k];
        int count = left->child_count + need;
        if (from->is_new)
            left->symbol->rank = count;
        left->symbol->any_rank = false;
        check_left(c, left, count);
        spell_out(c, left, indices, need, count);
        left->dots_count = 0; /* an extent of 1 does not broadcast here */
    }
    struct le_index **free = LE_NEW_ARRAY(c->arena, need + from->free_count, struct le_index *);
    if (need > 0)
        memcpy(free, indices, (size_t)need * sizeof *free);
    for (int k = 0; k < from->free_count; k++)
        free[need + k] = c->indices[from->free[k]->id];
    statement->dots = false;
    statement->free = free;
    statement->free_count = need + from->free_count;
}

static void copy_free(struct copier *c, const struct le_step *from) {
    for (int k = 0; k < from->free_count; k++)
        c->indices[from->free[k]->id] = add_index(c, *from->free[k], from->free[k]->location);
    for (int k = 0; k < from->free_count; k++) {
        struct le_index *index = c->indices[from->free[k]->id];
        index->low = copy_node(c, index->low, &c->dots);
        index->high = copy_node(c, index->high, &c->dots);
        index->by = copy_node(c, index->by, &c->dots);
    }
}

/* The `for` of an element encloses the accesses in its body. */
static void copy_loop(struct copier *c, const struct le_step *steps, int number, struct dots *dots) {
    const struct le_step *from = &steps[number];
    bool element = c->in_calls > 0 || c->statement->kind == LE_STEP_EACH;
    if (from->kind == LE_STEP_FOR) {
        c->step->index = copy_index(c, from->index, dots);
        if (element)
            c->around[c->around_count++] = c->step->index;
    }
    if (from->kind == LE_STEP_END && element && steps[from->partner].kind == LE_STEP_FOR)
        c->around_count--;
}

/* Copies the step without the lists of a statement. */
static void copy_contents(struct copier *c, const struct le_step *steps, int number, struct dots *dots) {
    const struct le_step *from = &steps[number];
    struct le_step *step = c->step;
    step->symbol = symbol_copy(c, from->symbol);
    step->array = symbol_copy(c, from->array);
    copy_loop(c, steps, number, dots);
    step->sizes = LE_NEW_ARRAY(c->arena, from->size_count, struct le_tree_node *);
    for (int k = 0; k < from->size_count; k++)
        step->sizes[k] = copy_node(c, from->sizes[k], dots);
    if (from->left)
        copy_left(c, from, dots);
    step->value = copy_node(c, from->value, dots);
    step->otherwise = copy_node(c, from->otherwise, dots);
    if (from->left && !from->is_new)
        copy_access(c, from->left, step->left);
}

static void start_statement(struct copier *c, const struct le_step *from) {
    struct le_step *step = c->statement = c->step;
    c->all.count = c->around_count = c->counted = 0;
    c->dots = (struct dots){0};
    step->accesses = LE_NEW_ARRAY(c->arena, from->access_count, struct le_access);
    if (from->access_count > 0)
        memcpy(step->accesses, from->accesses, (size_t)from->access_count * sizeof *step->accesses);
    copy_free(c, from);
}

static void finish_statement(struct copier *c, const struct le_step *from) {
    struct le_step *statement = c->statement;
    spell_out_statement(c, from);
    statement->all_count = c->all.count;
    statement->all = LE_NEW_ARRAY(c->arena, c->all.count, struct le_index *);
    if (c->all.count > 0)
        memcpy(statement->all, c->all.at, (size_t)c->all.count * sizeof *statement->all);
}

/* An each and its body are one statement. */
static void copy_step(struct copier *c, int number) {
    const struct le_step *from = &c->from->steps[number];
    *c->step = *from;
    c->in_calls = 0;
    if (!c->each)
        start_statement(c, from);
    else
        c->counted = c->each->free_count;
    copy_contents(c, c->from->steps, number, &c->dots);
    if (from->kind == LE_STEP_EACH)
        c->each = from;
    if (!c->each) {
        finish_statement(c, from);
    } else if (c->each->partner == number) {
        finish_statement(c, c->each);
        c->each = NULL;
    }
}

/* Returns the number of the next step: an error in an each skips the rest of it. */
static int try_step(struct copier *c, int number) {
    c->number = number;
    c->step = &c->tree->steps[number];
    if (setjmp(c->failure) == 0) {
        copy_step(c, number);
        return c->number + 1;
    }
    int last = c->each ? c->each->partner : c->number;
    c->each = NULL;
    return last + 1;
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
        for (int k = 0; k < from->step_count && !le_program_errors_full();)
            k = try_step(c, k);
    if (le_errors_count() == 0)
        le_find_types(arena, c->tree, inputs);
    le_errors_sort();
    return le_errors_count() == 0 ? c->tree : NULL;
}
