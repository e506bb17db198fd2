/* Splits the expressions of a program with complex numbers into real ones: copies in which every complex node becomes
 * two that share the nodes below them. complex_statements.c splits statements, and complex_arithmetic.c builds the
 * arithmetic. */
#include "lang/complex_split.h"

/* ---- indices and accesses */

struct le_tree_node *le_complex_real(struct le_complex_splitter *c, const struct le_tree_node *node) {
    return node ? le_make_child(le_complex_parts(c, node).re) : NULL;
}

/* The first copy keeps the id. */
struct le_index *le_complex_index(struct le_complex_splitter *c, const struct le_index *from) {
    struct le_index *index = LE_NEW(c->arena, struct le_index);
    *index = *from;
    if (c->indices[from->id])
        index->id = c->tree->index_count++;
    c->indices[from->id] = index;
    *LE_PUSH(c->arena, &c->all) = index;
    index->low = le_complex_real(c, from->low);
    index->high = le_complex_real(c, from->high);
    index->by = le_complex_real(c, from->by);
    return index;
}

struct le_index **le_complex_indices(struct le_complex_splitter *c, struct le_index *const *from, int count) {
    struct le_index **indices = LE_NEW_ARRAY(c->arena, count, struct le_index *);
    for (int k = 0; k < count; k++)
        indices[k] = le_complex_index(c, from[k]);
    return indices;
}

static void add_access(struct le_complex_splitter *c, const struct le_access *from, struct le_tree_node *read) {
    struct le_index **around = LE_NEW_ARRAY(c->arena, from->around_count, struct le_index *);
    for (int k = 0; k < from->around_count; k++)
        around[k] = c->indices[from->around[k]->id];
    struct le_access *access = LE_PUSH(c->arena, &c->accesses);
    *access = *from;
    access->node = read;
    access->around = around;
    read->access = c->accesses.count - 1;
}

/* ---- nodes */

static struct le_maker maker_for(struct le_complex_splitter *c, const struct le_tree_node *node, enum le_type type) {
    return (struct le_maker){c->arena, node->location, le_type_part(type)};
}

static struct le_tree_node *shallow_copy(struct le_complex_splitter *c, const struct le_tree_node *from) {
    struct le_tree_node *node = LE_NEW(c->arena, struct le_tree_node);
    *node = *from;
    node->type = le_type_part(from->type);
    node->operand = le_type_part(from->operand);
    node->symbol = le_twin_of(c, from->symbol).re;
    if (from->index)
        node->index = c->indices[from->index->id];
    if (from->child_count > 0)
        node->children = LE_NEW_ARRAY(c->arena, from->child_count, struct le_tree_node *);
    return node;
}

struct le_tree_node *le_complex_condition(struct le_complex_splitter *c, const struct le_tree_node *node) {
    struct le_parts parts = le_complex_parts(c, node);
    struct le_maker m = maker_for(c, node, node->type);
    return parts.im ? le_parts_nonzero(&m, parts) : parts.re;
}

static struct le_parts copy_real(struct le_complex_splitter *c, const struct le_tree_node *from) {
    struct le_tree_node *node = shallow_copy(c, from);
    for (int k = 0; k < from->child_count; k++)
        node->children[k] = le_make_child(le_complex_condition(c, from->children[k]));
    return (struct le_parts){.re = node};
}

struct le_parts le_complex_both(struct le_complex_splitter *c, const struct le_tree_node *node) {
    struct le_parts parts = le_complex_parts(c, node);
    struct le_maker m = maker_for(c, node, LE_WEAK_FLOAT);
    return parts.im ? parts : (struct le_parts){parts.re, le_make_host_scalar(&m, 0)};
}

struct le_tree_node *le_complex_one_part(struct le_complex_splitter *c, const struct le_tree_node *node,
                                         bool imaginary) {
    struct le_parts parts = le_complex_both(c, node);
    if (!le_complex_has_all_reads(node, imaginary))
        parts = le_complex_with_all_reads(c, node, parts);
    return imaginary ? parts.im : parts.re;
}

static struct le_parts split_const(struct le_complex_splitter *c, const struct le_tree_node *from) {
    struct le_maker m = maker_for(c, from, LE_WEAK_FLOAT);
    if (!le_type_is_complex(from->type))
        return (struct le_parts){.re = shallow_copy(c, from)};
    return (struct le_parts){le_make_host_scalar(&m, 0), le_make_host_scalar(&m, from->real)};
}

static struct le_parts split_scalar(struct le_complex_splitter *c, const struct le_tree_node *from) {
    struct le_parts parts = {.re = shallow_copy(c, from)};
    if (!le_type_is_complex(from->type))
        return parts;
    parts.im = shallow_copy(c, from);
    parts.im->symbol = le_twin_of(c, from->symbol).im;
    return parts;
}

/* Both parts share the subscripts. */
static struct le_parts split_read(struct le_complex_splitter *c, const struct le_tree_node *from) {
    struct le_parts parts = copy_real(c, from);
    const struct le_access *access = &c->owner->accesses[from->access];
    parts.re->fill = le_twin_of(c, from->fill).re;
    add_access(c, access, parts.re);
    if (!le_type_is_complex(from->symbol->type))
        return parts;
    parts.im = shallow_copy(c, from);
    parts.im->symbol = le_twin_of(c, from->symbol).im;
    parts.im->fill = le_twin_of(c, from->fill).im;
    for (int k = 0; k < from->child_count; k++)
        parts.im->children[k] = le_make_child(parts.re->children[k]);
    add_access(c, access, parts.im);
    return parts;
}

struct le_parts le_complex_operate(struct le_complex_splitter *c, const struct le_tree_node *from, struct le_parts a,
                                   struct le_parts b) {
    struct le_maker m = maker_for(c, from, from->operand);
    switch ((enum le_op)from->op) {
    case LE_OP_NEG:
        return le_parts_negative(&m, a);
    case LE_OP_ABS:
        return (struct le_parts){.re = le_make_op(&m, LE_OP_HYPOT, a.re, a.im)};
    case LE_OP_EXP:
        return le_parts_exp(&m, a);
    case LE_OP_SQRT:
        return le_parts_sqrt(&m, a);
    case LE_OP_EQ:
        return (struct le_parts){.re = le_parts_equal(&m, a, b)};
    case LE_OP_NE:
        return (struct le_parts){.re = le_make_op(&m, LE_OP_NOT, le_parts_equal(&m, a, b), NULL)};
    default:
        return le_parts_op(&m, (enum le_op)from->op, a, b, from->children[1]);
    }
}

static struct le_parts split_operation(struct le_complex_splitter *c, const struct le_tree_node *from) {
    if (!le_type_is_complex(from->operand))
        return copy_real(c, from);
    if (le_complex_may_skip_reads(from))
        return le_complex_operands_first(c, from);
    struct le_parts a = le_complex_both(c, from->children[0]), b = {0};
    if (from->child_count == 2)
        b = le_complex_both(c, from->children[1]);
    return le_complex_operate(c, from, a, b);
}

/* Whether it contains a complex number that is computed by a block. */
static bool contains_block(const struct le_tree_node *node) {
    bool product = node->kind == LE_TREE_REDUCE && node->op == LE_RED_PROD;
    if (le_type_is_complex(node->type) && (node->kind == LE_TREE_CALL || product))
        return true;
    for (int k = 0; k < node->child_count; k++)
        if (contains_block(node->children[k]))
            return true;
    return false;
}

/* Without a block, each part of a select would compute its branches again. */
static struct le_parts split_select(struct le_complex_splitter *c, const struct le_tree_node *from) {
    if (!le_type_is_complex(from->type))
        return copy_real(c, from);
    if (c->element && (contains_block(from->children[1]) || contains_block(from->children[2])))
        return le_complex_choice(c, from);
    struct le_maker m = maker_for(c, from, from->type);
    struct le_tree_node *condition = le_complex_condition(c, from->children[0]);
    struct le_parts a = le_complex_both(c, from->children[1]), b = le_complex_both(c, from->children[2]);
    return (struct le_parts){le_make_select(&m, condition, a.re, b.re), le_make_select(&m, condition, a.im, b.im)};
}

static struct le_tree_node *cast_to(struct le_complex_splitter *c, const struct le_tree_node *from, enum le_type type,
                                    struct le_tree_node *child) {
    struct le_tree_node *node = LE_NEW(c->arena, struct le_tree_node);
    *node = (struct le_tree_node){.kind = LE_TREE_CAST, .location = from->location, .type = type, .child_count = 1};
    node->children = LE_NEW_ARRAY(c->arena, 1, struct le_tree_node *);
    node->children[0] = le_make_child(child);
    return node;
}

/* Casting a complex number to a real type gives its real part; casting it to bool, whether it is not zero. */
static struct le_parts split_cast(struct le_complex_splitter *c, const struct le_tree_node *from) {
    enum le_type type = le_type_part(from->type);
    if (from->type == LE_BOOL)
        return copy_real(c, from);
    if (!le_type_is_complex(from->type))
        return (struct le_parts){.re = cast_to(c, from, type, le_complex_one_part(c, from->children[0], false))};
    struct le_parts parts = from->child_count == 2 ? (struct le_parts){le_complex_parts(c, from->children[0]).re,
                                                                       le_complex_parts(c, from->children[1]).re}
                                                   : le_complex_both(c, from->children[0]);
    return (struct le_parts){cast_to(c, from, type, parts.re), cast_to(c, from, type, parts.im)};
}

static struct le_parts split_part(struct le_complex_splitter *c, const struct le_tree_node *from) {
    if (from->op == LE_PART_CONJ && le_type_is_complex(from->children[0]->type)) {
        struct le_parts parts = le_complex_both(c, from->children[0]);
        struct le_maker m = maker_for(c, from, from->type);
        return (struct le_parts){parts.re, le_make_op(&m, LE_OP_NEG, parts.im, NULL)};
    }
    struct le_tree_node *part = le_complex_one_part(c, from->children[0], from->op == LE_PART_IM);
    if (from->type == part->type || le_type_is_weak(from->type))
        return (struct le_parts){.re = part};
    return (struct le_parts){.re = cast_to(c, from, from->type, part)};
}

struct le_parts le_complex_term(struct le_complex_splitter *c, const struct le_tree_node *reduction) {
    const struct split_around *outer = c->around, around = {reduction, outer};
    c->around = &around;
    struct le_parts term = le_complex_both(c, reduction->children[0]);
    c->around = outer;
    return term;
}

/* Whether it contains a complex number that takes a loop or a block to compute. */
static bool is_costly(const struct le_tree_node *node) {
    if (le_type_is_complex(node->type) && (node->kind == LE_TREE_CALL || node->kind == LE_TREE_REDUCE))
        return true;
    for (int k = 0; k < node->child_count; k++)
        if (is_costly(node->children[k]))
            return true;
    return false;
}

static bool is_index_around(const struct le_tree_node *node, const void *user) {
    const struct le_complex_splitter *c = user;
    for (const struct split_around *a = c->around; a && node->kind == LE_TREE_INDEX; a = a->outer)
        for (int k = 0; k < a->reduction->index_count; k++)
            if (a->reduction->indices[k] == node->index)
                return true;
    return false;
}

/* Whether both parts are needed per element or per term, and what they share takes loops or blocks. A sum that is the
 * same for all terms around it is computed only once anyway. */
static bool needs_block(struct le_complex_splitter *c, const struct le_tree_node *from) {
    return is_costly(from->children[0]) && (c->element || (c->around && le_tree_any(from, is_index_around, c)));
}

static struct le_parts split_complex_sum(struct le_complex_splitter *c, const struct le_tree_node *from) {
    struct le_index **indices = le_complex_indices(c, from->indices, from->index_count);
    struct le_parts term = le_complex_term(c, from), out = {shallow_copy(c, from), shallow_copy(c, from)};
    out.re->indices = out.im->indices = indices;
    out.re->children[0] = le_make_child(term.re);
    out.im->children[0] = le_make_child(term.im);
    return needs_block(c, from) ? le_complex_sum(c, from, out) : out;
}

static struct le_parts split_reduction(struct le_complex_splitter *c, const struct le_tree_node *from) {
    if (le_type_is_complex(from->type))
        return from->op == LE_RED_PROD ? le_complex_product(c, from) : split_complex_sum(c, from);
    struct le_index **indices = le_complex_indices(c, from->indices, from->index_count);
    struct le_parts out = {.re = shallow_copy(c, from)};
    out.re->indices = indices;
    out.re->children[0] = le_make_child(le_complex_condition(c, from->children[0]));
    return out;
}

struct le_parts le_complex_call_parts(struct le_complex_splitter *c, struct le_tree_node *call) {
    struct le_tree_node *second = LE_NEW(c->arena, struct le_tree_node);
    *second = (struct le_tree_node){
        .kind = LE_TREE_PART, .op = LE_PART_IM, .location = call->location, .type = call->type, .child_count = 1};
    second->children = LE_NEW_ARRAY(c->arena, 1, struct le_tree_node *);
    second->children[0] = le_make_child(call);
    return (struct le_parts){call, second};
}

static struct le_parts split_call(struct le_complex_splitter *c, const struct le_tree_node *from) {
    struct le_tree_node *call = shallow_copy(c, from);
    le_complex_call(c, from, call);
    return le_type_is_complex(from->type) ? le_complex_call_parts(c, call) : (struct le_parts){.re = call};
}

static struct le_parts split_kind(struct le_complex_splitter *c, const struct le_tree_node *node) {
    switch (node->kind) {
    case LE_TREE_CONST:
        return split_const(c, node);
    case LE_TREE_SCALAR:
        return split_scalar(c, node);
    case LE_TREE_READ:
        return split_read(c, node);
    case LE_TREE_OP:
        return split_operation(c, node);
    case LE_TREE_SELECT:
        return split_select(c, node);
    case LE_TREE_CAST:
        return split_cast(c, node);
    case LE_TREE_PART:
        return split_part(c, node);
    case LE_TREE_REDUCE:
        return split_reduction(c, node);
    case LE_TREE_CALL:
        return split_call(c, node);
    case LE_TREE_INDEX:
    case LE_TREE_LEN:
    case LE_TREE_RAND:
        break;
    }
    return copy_real(c, node);
}

struct le_parts le_complex_parts(struct le_complex_splitter *c, const struct le_tree_node *node) {
    if (++c->node_count > LE_NODES_MAX)
        le_complex_fail(c, node->location, NULL,
                        "the program is too large after its complex numbers are split (limit: %d operations)",
                        LE_NODES_MAX);
    return split_kind(c, node);
}

struct le_tree_node *le_complex_left(struct le_complex_splitter *c, const struct le_tree_node *from,
                                     struct le_symbol *symbol) {
    struct le_tree_node *left = copy_real(c, from).re;
    left->symbol = symbol;
    if (from->access < c->owner->access_count && c->owner->accesses[from->access].node == from)
        add_access(c, &c->owner->accesses[from->access], left);
    return left;
}
