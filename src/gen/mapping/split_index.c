/* Splits kept indices that subscripts divide by a known number, as in x[o//4] or x[o%4], if it divides their count: o
 * becomes 4 * q + r, so that o//4 is q and o%4 is r. The subscripts are then linear, and mappings can tell what depends
 * on the group alone. Points and their order stay the same. */
#include "gen/mapping/reuse.h"

struct split {
    struct codegen *c;
    struct le_space *space;                         /* of the kernel, with the ranges of the new indices */
    int index;                                      /* the one that is split */
    struct le_node *divisor, *quotient, *remainder; /* divisor NULL: none found */
    int64_t number, count;                          /* its value; values of the index */
    struct {
        struct le_node **at;
        int count, capacity;
    } loads;
};

/* ---- which index, and by what */

static bool is_divided(const struct split *s, const struct le_node *node) {
    return node->kind == LE_NODE_OP && (node->code == LE_OP_FLOORDIV || node->code == LE_OP_MOD) &&
           node->type == LE_I64 && node->operands[0]->kind == LE_NODE_INDEX && node->operands[0]->index == s->index;
}

static bool is_number(const struct split *s, struct le_node *node, int64_t *number) {
    struct le_affine f;
    *number = 0;
    if (node->free_count > 0 || !le_affine_of(s->space, node, &f))
        return false;
    *number = f.constant;
    return f.count == 0;
}

static void find_divisor(struct le_node *node, void *user) {
    struct split *s = user;
    int64_t number;
    if (!s->divisor && is_divided(s, node) && is_number(s, node->operands[1], &number) && number > 0 &&
        (number >= s->count || s->count % number == 0)) {
        s->divisor = node->operands[1];
        s->number = number;
    }
}

static void add_load(struct le_node *node, void *user) {
    struct split *s = user;
    if (node->kind == LE_NODE_LOAD && le_node_depends(node, s->index))
        *LE_PUSH(s->c->arena, &s->loads) = node;
}

/* Of the subscripts: the plan depends on these numbers anyway. */
static bool find_in_subscripts(struct split *s, struct le_node *node) {
    le_node_walk(s->c->ir, node, add_load, s);
    for (int k = 0; k < s->loads.count; k++)
        for (int d = 0; d < s->loads.at[k]->operand_count; d++)
            le_node_walk(s->c->ir, s->loads.at[k]->operands[d], find_divisor, s);
    return s->divisor != NULL;
}

/* ---- the stage with two indices in place of one */

static struct le_node *new_index(struct split *s, int64_t count) {
    struct le_ir *ir = s->c->ir;
    struct le_ir_index made = {
        .name = ir->indices.at[s->index].name, .explicit_range = true, .location = ir->indices.at[s->index].location};
    *LE_PUSH(ir->arena, &ir->indices) = made;
    le_space_narrow(s->space, s->c->arena, ir->indices.count - 1,
                    (struct le_range){.high = count, .by = 1, .solved = true});
    return le_node_index(ir, ir->indices.count - 1);
}

static struct le_node *divided(struct le_node *node, void *user) {
    struct split *s = user;
    int64_t number;
    if (!is_divided(s, node) || !is_number(s, node->operands[1], &number) || number != s->number)
        return NULL;
    return node->code == LE_OP_FLOORDIV ? s->quotient : s->remainder;
}

/* The value of the index. */
static struct le_node *joined(struct split *s) {
    struct le_ir *ir = s->c->ir;
    struct le_node *factors[] = {s->quotient, s->divisor}, *parts[2];
    parts[0] = le_node_op(ir, LE_OP_MUL, LE_I64, factors, 2);
    parts[1] = s->remainder;
    return le_node_op(ir, LE_OP_ADD, LE_I64, parts, 2);
}

static void apply(struct split *s, struct le_stage *stage) {
    struct codegen *c = s->c;
    struct le_node *old = le_node_index(c->ir, s->index), *to = old;
    bool parts = s->number < s->count && s->number > 1;
    s->quotient = s->number >= s->count ? le_node_i64(c->ir, 0) : parts ? new_index(s, s->count / s->number) : old;
    s->remainder = s->number >= s->count ? old : parts ? new_index(s, s->number) : le_node_i64(c->ir, 0);
    if (parts)
        to = joined(s);
    int *indices = LE_NEW_ARRAY(c->arena, stage->index_count + 1, int), count = 0;
    for (int k = 0; k < stage->index_count; k++)
        if (stage->indices[k] == s->index && parts) {
            indices[count++] = s->quotient->index;
            indices[count++] = s->remainder->index;
        } else {
            indices[count++] = stage->indices[k];
        }
    stage->indices = indices;
    stage->index_count = count;
    stage->node = le_node_substitute(c->ir, le_node_replace(c->ir, stage->node, divided, s), &s->index, &to, 1);
    struct le_node **left = LE_NEW_ARRAY(c->arena, stage->left_count, struct le_node *);
    for (int d = 0; d < stage->left_count; d++)
        left[d] = le_node_substitute(c->ir, le_node_replace(c->ir, stage->left[d], divided, s), &s->index, &to, 1);
    stage->left = left;
}

const struct le_stage *le_split_indices(struct codegen *c, const struct le_stage *stage, struct le_space *space) {
    struct le_stage *made = LE_NEW(c->arena, struct le_stage);
    *made = *stage;
    *space = *c->space;
    bool found = false;
    for (int k = 0; k < stage->index_count && stage->sibling < 0 && stage->also_count == 0; k++) {
        struct split s = {.c = c, .space = space, .index = stage->indices[k]};
        s.count = le_range_count(le_range_of(space, s.index));
        if (!le_is_counted(c, s.index) || s.count < 1 || le_bounds_depend(c, made->node, s.index))
            continue;
        if (made->index_count < POINTS_MAX && find_in_subscripts(&s, made->node)) {
            apply(&s, made);
            found = true;
        }
    }
    return found ? made : NULL;
}
