/* Forks: a program's IR as a thread sees it that generates code from it, and makes nodes for that alone. */
#include "ir/ir.h"

struct le_ir *le_ir_new(struct le_arena *arena, const struct le_tree *tree) {
    struct le_ir *ir = LE_NEW(arena, struct le_ir);
    ir->arena = arena;
    ir->tree = tree;
    ir->marks = LE_NEW(arena, struct le_node_marks);
    ir->marks->arena = arena;
    return ir;
}

struct le_ir *le_ir_fork(const struct le_ir *parent, struct le_arena *arena, struct le_node_marks *marks) {
    struct le_ir *ir = LE_NEW(arena, struct le_ir);
    *ir = *parent;
    ir->arena = arena;
    ir->parent = parent;
    ir->first_node = parent->node_count;
    ir->table = NULL;
    ir->table_size = 0;
    ir->indices.capacity = ir->indices.count; /* a new one goes into a copy */
    ir->marks = marks;
    le_node_marks_reserve(marks, ir->node_count);
    return ir;
}

static bool is_in(const struct le_ir *ir, const struct le_node *node) {
    for (int below = ir->node_count; ir; below = ir->first_node, ir = ir->parent)
        if (le_node_find(ir, node, below) == node)
            return true;
    return false;
}

/* Memos are kept for nodes of the fork alone, whose numbers nodes of ir may have, too. */
static struct le_node *adopt_node(struct le_ir *ir, struct le_node *node, int epoch) {
    struct le_node copy = *node, *known;
    if (is_in(ir, node))
        return node;
    le_node_marks_reserve(ir->marks, node->id + 1);
    known = le_walk_memo(ir, node, epoch);
    if (known)
        return known;
    copy.operands = LE_NEW_ARRAY(ir->arena, node->operand_count, struct le_node *);
    for (int k = 0; k < node->operand_count; k++)
        copy.operands[k] = adopt_node(ir, node->operands[k], epoch);
    if (node->fill)
        copy.fill = adopt_node(ir, node->fill, epoch);
    return le_walk_remember(ir, node, epoch, le_node_make(ir, &copy));
}

struct le_node *le_node_adopt(struct le_ir *ir, struct le_node *node) {
    return adopt_node(ir, node, le_walk_begin(ir));
}
