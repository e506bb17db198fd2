/* Queries on a tree. */
#include "lang/tree.h"
#include <string.h>

static bool is_size(const struct le_symbol *symbol) {
    return symbol->optional && !symbol->wants_default;
}

static bool precedes(const struct le_tree *tree, int a, int b) {
    const struct le_symbol *first = tree->symbols[a], *second = tree->symbols[b];
    bool marked = first->marked_out && second->marked_out;
    struct le_location left = marked ? first->out_location : first->location,
                       right = marked ? second->out_location : second->location;
    return left.line != right.line ? left.line < right.line : left.column < right.column;
}

static void merge_by_location(const struct le_tree *tree, const int *a, int a_count, const int *b, int b_count,
                              int *out) {
    while (a_count > 0 || b_count > 0) {
        bool take_b = a_count == 0 || (b_count > 0 && precedes(tree, *b, *a));
        *out++ = take_b ? *b++ : *a++;
        if (take_b)
            b_count--;
        else
            a_count--;
    }
}

/* Sorts by location. The sort is stable. */
static void sort_by_location(const struct le_tree *tree, int *ids, int count, int *scratch) {
    if (count < 2)
        return;
    int half = count / 2;
    sort_by_location(tree, ids, half, scratch);
    sort_by_location(tree, ids + half, count - half, scratch);
    merge_by_location(tree, ids, half, ids + half, count - half, scratch);
    memcpy(ids, scratch, (size_t)count * sizeof *ids);
}

int *le_tree_results(struct le_arena *arena, const struct le_tree *tree, int *count) {
    int *ids = LE_NEW_ARRAY(arena, tree->symbol_count, int), *scratch = LE_NEW_ARRAY(arena, tree->symbol_count, int);
    *count = 0;
    for (int k = 0; k < tree->symbol_count; k++)
        if (tree->symbols[k]->marked_out)
            ids[(*count)++] = k;
    for (int k = 0, none_marked = *count == 0; none_marked && k < tree->symbol_count; k++) {
        const struct le_symbol *symbol = tree->symbols[k];
        if (symbol->assigned && !symbol->in_block && (symbol->is_input || !symbol->read))
            ids[(*count)++] = k;
    }
    sort_by_location(tree, ids, *count, scratch);
    return ids;
}

int *le_tree_inputs(struct le_arena *arena, const struct le_tree *tree, int *count) {
    int *ids = LE_NEW_ARRAY(arena, tree->symbol_count, int), *scratch = LE_NEW_ARRAY(arena, tree->symbol_count, int);
    int used = 0;
    *count = 0;
    for (int sizes = 0; sizes < 2; sizes++) {
        for (int k = 0; k < tree->symbol_count; k++)
            if (tree->symbols[k]->is_input && is_size(tree->symbols[k]) == (sizes == 1))
                ids[(*count)++] = k;
        sort_by_location(tree, ids + used, *count - used, scratch);
        used = *count;
    }
    return ids;
}

int le_tree_find(const struct le_tree *tree, const char *name) {
    return name[0] ? le_names_get(&tree->names, name, strlen(name)) : -1;
}

/* ---- traversal of a node */

struct node_query {
    bool (*holds)(const struct le_tree_node *node, const void *user);
    const void *user;
};

static bool any_node(const struct le_tree_node *node, const struct node_query *q);

static bool any_of(struct le_tree_node *const *nodes, int count, const struct node_query *q) {
    for (int k = 0; k < count; k++)
        if (any_node(nodes[k], q))
            return true;
    return false;
}

static bool any_of_range(const struct le_index *index, const struct node_query *q) {
    return index && (any_node(index->low, q) || any_node(index->high, q) || any_node(index->by, q));
}

static bool any_of_step(const struct le_step *step, const struct node_query *q) {
    return any_node(step->value, q) || any_node(step->otherwise, q) || any_node(step->left, q) ||
           any_of(step->sizes, step->size_count, q) || any_of_range(step->index, q);
}

static bool any_node(const struct le_tree_node *node, const struct node_query *q) {
    if (!node)
        return false;
    if (q->holds(node, q->user) || any_of(node->children, node->child_count, q))
        return true;
    for (int k = 0; k < node->index_count; k++)
        if (any_of_range(node->indices[k], q))
            return true;
    for (int k = 0; k < node->step_count; k++)
        if (any_of_step(&node->steps[k], q))
            return true;
    return false;
}

bool le_tree_any(const struct le_tree_node *node, bool (*holds)(const struct le_tree_node *node, const void *user),
                 const void *user) {
    struct node_query q = {holds, user};
    return any_node(node, &q);
}

_Static_assert((int)LE_SPECIAL_CONJ - (int)LE_SPECIAL_RE == (int)LE_PART_CONJ, "the parts are in one order");

const char *le_part_name(enum le_part part) {
    return le_special_words((enum le_special)((int)LE_SPECIAL_RE + (int)part))->name;
}

/* A simple operand as text; NULL for any other. */
static const char *operand_text(struct le_arena *arena, const struct le_tree_node *node) {
    if (node->kind == LE_TREE_INDEX)
        return node->index->name;
    if (node->kind == LE_TREE_SCALAR)
        return node->symbol->name;
    if (node->kind == LE_TREE_CONST && node->type == LE_WEAK_INT)
        return le_arena_format(arena, "%llu", (unsigned long long)node->integer);
    return NULL;
}

const char *le_whole_advice(struct le_arena *arena, const struct le_tree_node *node) {
    if (node->kind != LE_TREE_OP || node->op != LE_OP_DIV)
        return "write i64(...)";
    const char *left = operand_text(arena, node->children[0]), *right = operand_text(arena, node->children[1]);
    return left && right ? le_arena_format(arena, "write %s // %s", left, right) : "write // instead of /";
}
