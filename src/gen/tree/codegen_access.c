/* Loads and stores: an element's address as an expression, and the range checks before it is used. The text depends on
 * these properties of a layout only: whether it starts at offset 0, which axes have stride 1 or stretch, whether an int
 * can index all of it, and which axes need no check. All numbers are parameters. */
#include "gen/tree/codegen.h"

/* ---- places */

struct access {
    struct codegen *c;
    int value, rank, stretch;
    const struct le_layout *layout;
    const char *name; /* of the array */
    bool narrow;      /* an int reaches all of it */
    struct le_variable *array;
    struct le_expression *subscript[LEAT_RANK_MAX]; /* moved by its edge already; NULL: stretched */
    bool asked[LEAT_RANK_MAX];                      /* its range must be checked */
    int along, span; /* of `span` elements along that axis from the subscript on; 0: one element */
};

static bool reaches_in_int(const struct le_layout *layout, int rank) {
    int64_t reach = layout->offset < 0 ? -layout->offset : layout->offset, step, all;
    for (int d = 0; d < rank; d++) {
        int64_t stride = layout->strides[d] < 0 ? -layout->strides[d] : layout->strides[d];
        if (stride < 0 || !le_mul_i64(stride, layout->shape[d], &step) || !le_add_i64(reach, step, &all))
            return false;
        reach = all;
    }
    return reach >= 0 && reach < INT32_MAX / 2;
}

static void begin_access(struct access *a, struct codegen *c, int value, int rank, int stretch) {
    *a = (struct access){.c = c, .value = value, .rank = rank, .stretch = stretch, .layout = &c->layouts[value]};
    a->name = le_codegen_value_name(c, value);
    a->narrow = reaches_in_int(a->layout, rank);
}

bool le_codegen_reaches_in_int(const struct codegen *c, int value) {
    return reaches_in_int(&c->layouts[value], c->ir->values.at[value].rank);
}

static struct le_expression *length_of(const struct access *a, int d) {
    int64_t starts = a->layout->shape[d] - a->span + 1;
    if (a->span > 1 && d == a->along)
        return le_codegen_number(a->c, le_arena_format(a->c->arena, "%s_n%d_less", a->name, d),
                                 starts < 0 ? 0 : starts);
    return le_codegen_number(a->c, le_arena_format(a->c->arena, "%s_n%d", a->name, d), a->layout->shape[d]);
}

static bool axis_is_narrow(const struct access *a, int d) {
    return le_ktree_is_narrow(a->subscript[d]->type) && a->layout->shape[d] <= INT32_MAX;
}

/* Unsigned, one comparison checks both ends. */
static struct le_expression *inside(const struct access *a, int d) {
    struct le_kernel_tree *t = a->c->tree;
    int type = axis_is_narrow(a, d) ? LE_KTREE_UINT : LE_KTREE_ULONG;
    struct le_expression *x = type == LE_KTREE_UINT ? a->subscript[d] : le_codegen_wide(a->c, a->subscript[d]);
    return le_less(t, le_ktree_cast(t, type, x), le_ktree_cast(t, type, length_of(a, d)));
}

static struct le_expression *offset_term(const struct access *a, int d) {
    struct le_kernel_tree *t = a->c->tree;
    int64_t stride = a->layout->strides[d];
    int type = a->narrow ? LE_KTREE_INT : LE_KTREE_LONG;
    struct le_expression *subscript = le_ktree_cast(t, type, a->subscript[d]);
    if (stride == 1)
        return subscript;
    struct le_expression *s = le_codegen_number(a->c, le_arena_format(a->c->arena, "%s_s%d", a->name, d), stride);
    return le_times(t, subscript, le_ktree_cast(t, type, s));
}

/* The element's row-major number: ((i * n1) + j) * n2 + k. */
static struct le_expression *dense_number(const struct access *a) {
    struct le_kernel_tree *t = a->c->tree;
    struct le_expression *number = le_ktree_long(t, 0);
    for (int d = 0; d < a->rank; d++) {
        struct le_expression *x = le_to_long(t, a->subscript[d]);
        number = d == 0 ? x : le_plus(t, le_times(t, number, length_of(a, d)), x);
    }
    return number;
}

/* base + i * stride + ...; base may be NULL */
static struct le_expression *offset_from(const struct access *a, struct le_expression *base) {
    struct le_kernel_tree *t = a->c->tree;
    for (int d = 0; d < a->rank; d++) {
        struct le_expression *term = a->subscript[d] ? offset_term(a, d) : NULL;
        base = !base ? term : term ? le_plus(t, base, term) : base;
    }
    return base ? base : le_ktree_int(t, 0);
}

/* The layout's; NULL: 0 */
static struct le_expression *first_offset(const struct access *a) {
    if (a->layout->offset == 0)
        return NULL;
    return le_ktree_cast(a->c->tree, a->narrow ? LE_KTREE_INT : LE_KTREE_LONG,
                         le_codegen_number(a->c, le_arena_format(a->c->arena, "%s_o", a->name), a->layout->offset));
}

/* array[offset + i * stride + ...] */
static struct le_expression *element_at(const struct access *a) {
    return le_ktree_element(a->c->tree, a->array, offset_from(a, first_offset(a)));
}

/* ---- what has to be asked */

static struct le_expression *moved(const struct access *a, int d, struct le_expression *x, enum le_edge edge,
                                   struct le_block *block) {
    static const enum le_library_call calls[LE_EDGES] = {[LE_EDGE_CLAMP] = LE_CALL_EDGE_CLAMP,
                                                         [LE_EDGE_WRAP] = LE_CALL_EDGE_WRAP,
                                                         [LE_EDGE_MIRROR] = LE_CALL_EDGE_MIRROR,
                                                         [LE_EDGE_SYMMETRIC] = LE_CALL_EDGE_SYMMETRIC};
    struct le_kernel_tree *t = a->c->tree;
    int type = axis_is_narrow(a, d) ? LE_KTREE_INT : LE_KTREE_LONG;
    struct le_expression *operands[] = {le_ktree_cast(t, type, x), le_ktree_cast(t, type, length_of(a, d))};
    return le_let(t, block, "at", le_ktree_call(t, calls[edge], type, &LE_STATIC_TYPE(type), operands));
}

/* Applies the edge mode to a subscript that may be out of range. */
static void apply_edge(struct access *a, int d, enum le_edge edge, struct le_block *block) {
    if (edge == LE_EDGE_NONE || edge == LE_EDGE_FILL || a->layout->shape[d] == 0)
        a->asked[d] = true;
    else
        a->subscript[d] = moved(a, d, a->subscript[d], edge, block);
}

/* Computes the subscripts, and applies the edge mode to those that may be out of range. */
static void find_subscripts(struct access *a, struct le_node *const *subscripts, enum le_edge edge, bool trusted,
                            struct le_block *block, struct le_variable *outside) {
    const struct le_address address = {a->layout, subscripts, a->rank, a->stretch};
    bool inside_another = a->c->safety.in_subscript;
    for (int d = 0; d < a->rank; d++) {
        if (le_address_is_stretched(&address, d))
            continue;
        a->c->safety.in_subscript = true;
        a->subscript[d] = le_codegen_node(a->c, subscripts[d], block, outside);
        a->c->safety.in_subscript = inside_another;
        if (!trusted && !le_axis_is_safe(a->c->safety.space, &address, d))
            apply_edge(a, d, edge, block);
    }
}

static bool asks(const struct access *a) {
    for (int d = 0; d < a->rank; d++)
        if (a->asked[d])
            return true;
    return false;
}

static struct le_expression *all_inside(const struct access *a) {
    struct le_expression *all = NULL;
    for (int d = 0; d < a->rank; d++)
        if (a->asked[d])
            all = le_both(a->c->tree, all, inside(a, d));
    return all;
}

/* Records a fault for the first axis that is out of range. Returns the block that runs if none is, with the blocks
 * around it up to `block` still open. */
static struct le_block *open_faults(const struct access *a, int access, struct le_block *block) {
    struct le_kernel_tree *t = a->c->tree;
    for (int d = 0; d < a->rank; d++) {
        if (!a->asked[d])
            continue;
        struct le_block *fault = le_ktree_open_if(t, block, le_ktree_not(t, inside(a, d)));
        le_codegen_add_fault(a->c, fault, (int64_t)access * 8 + d, a->subscript[d]);
        le_ktree_close(t, fault);
        block = le_codegen_open_branch(a->c, block, NULL);
    }
    return block;
}

/* ---- loads */

static struct le_variable *array_of(struct codegen *c, int value) {
    const struct le_value *v = &c->ir->values.at[value];
    bool target = value == c->stage->target;
    for (int k = 0; k < c->stage->pair_count; k++)
        target |= c->stage->pairs[k].target == value;
    for (int k = 0; k < c->stage->also_count; k++)
        target |= c->stage->also[k]->target == value;
    enum le_argument_kind kind = !target ? LE_ARGUMENT_ARRAY : v->rank == 0 ? LE_ARGUMENT_RESULT : LE_ARGUMENT_TARGET;
    return le_codegen_parameter(c, kind, value, 0, (int)v->type, NULL);
}

/* Its bytes are as in memory: a bool's byte may be any value but 0. */
struct le_expression *le_codegen_scalar(struct codegen *c, int value, enum le_type type) {
    enum le_type stored = c->ir->values.at[value].type, bytes = stored;
    struct le_variable *scalar = le_codegen_parameter(c, LE_ARGUMENT_SCALAR, value, 0, (int)stored, NULL);
    struct le_expression *x = le_ktree_use(c->tree, scalar);
    if (stored == LE_BOOL)
        bytes = stored = LE_U8;
    if (le_type_is_half(stored))
        bytes = LE_U16;
    x = le_ktree_call(c->tree, LE_CALL_VALUE, (int)stored, &LE_STATIC_TYPE((int)bytes), &x);
    if (c->ir->values.at[value].type == LE_BOOL)
        x = le_ktree_cast(c->tree, LE_BOOL, x);
    return le_codegen_from_memory(c, x, type);
}

static struct le_expression *load_scalar(struct codegen *c, const struct le_node *node) {
    struct le_expression *x = le_codegen_scalar(c, node->value, node->type);
    return le_let(c->tree, c->root, le_codegen_value_name(c, node->value), x);
}

/* What a load reads if its subscripts are in range. */
static struct le_expression *read_of(const struct access *a, const struct le_node *load) {
    const struct codegen *c = a->c;
    for (int k = 0; k < c->ahead_count; k++)
        if (c->ahead[k].load == load)
            return c->ahead[k].element;
    return element_at(a);
}

static struct le_expression *load_asking(struct access *a, struct le_node *node, struct le_block *block,
                                         struct le_variable *outside) {
    struct codegen *c = a->c;
    struct le_kernel_tree *t = c->tree;
    struct le_expression *x = le_codegen_from_memory(c, read_of(a, node), node->type);
    if (node->edge == LE_EDGE_FILL) {
        struct le_expression *fill = le_codegen_wide(c, le_codegen_node(c, node->fill, block, NULL));
        return le_let(t, block, a->name, le_ktree_select(t, all_inside(a), x, fill));
    }
    struct le_variable *read =
        le_ktree_declare(t, block, a->name, (int)node->type, le_ktree_constant(t, (int)node->type, 0));
    struct le_expression *value = le_ktree_use(t, read);
    if (outside && node->edge == LE_EDGE_NONE) {
        struct le_block *inner = le_ktree_open_if(t, block, all_inside(a)), *other = le_ktree_open_else(t, block);
        le_ktree_set(t, inner, value, x);
        le_ktree_set(t, other, le_ktree_use(t, outside), le_ktree_constant(t, LE_BOOL, 1));
        le_ktree_close(t, inner);
        le_ktree_close(t, other);
        return value;
    }
    struct le_block *good = open_faults(a, node->access, block);
    le_ktree_set(t, good, value, x);
    le_ktree_close_to(a->c->tree, good, block);
    return value;
}

struct le_expression *le_codegen_load(struct codegen *c, struct le_node *node, struct le_block *block,
                                      struct le_variable *outside) {
    struct access a;
    begin_access(&a, c, node->value, node->operand_count, node->stretch);
    if (node->operand_count == 0 && !node->live)
        return load_scalar(c, node);
    find_subscripts(&a, node->operands, node->edge, node->trusted, block, outside);
    if (c->unrolls && !le_node_depends_on_any(node, c->stage->indices, c->stage->index_count))
        a.narrow = false;
    a.array = array_of(c, node->value);
    if (asks(&a))
        return load_asking(&a, node, block, outside);
    return le_let(c->tree, block, a.name, le_codegen_from_memory(c, read_of(&a, node), node->type));
}

/* ---- loads in parts */

struct le_expression *le_codegen_offset(struct codegen *c, const struct le_node *load, unsigned axes,
                                        struct le_block *block) {
    struct access a;
    begin_access(&a, c, load->value, load->operand_count, load->stretch);
    find_subscripts(&a, load->operands, LE_EDGE_NONE, true, block, NULL);
    for (int d = 0; d < a.rank; d++)
        if (!(axes >> d & 1))
            a.subscript[d] = NULL;
    return offset_from(&a, first_offset(&a));
}

struct le_expression *le_codegen_load_from(struct codegen *c, const struct le_node *load,
                                           const struct le_load_place *place, struct le_block *block) {
    struct access a;
    begin_access(&a, c, load->value, load->operand_count, load->stretch);
    a.array = array_of(c, load->value);
    for (int d = 0; d < a.rank; d++) {
        a.subscript[d] = place->subscripts[d];
        if (a.subscript[d])
            apply_edge(&a, d, load->edge, block);
    }
    struct le_expression *offset = place->whole ? place->offset : offset_from(&a, place->offset);
    struct le_expression *x = le_ktree_element(c->tree, a.array, offset);
    x = le_codegen_from_memory(c, x, load->type);
    if (!place->inside && !asks(&a))
        return x;
    struct le_expression *fill = le_codegen_wide(c, le_codegen_node(c, load->fill, block, NULL));
    struct le_expression *inside = place->inside ? place->inside : all_inside(&a);
    return le_let(c->tree, block, a.name, le_ktree_select(c->tree, inside, x, fill));
}

struct le_expression *le_codegen_near(struct codegen *c, const struct le_near *near, struct le_block *block,
                                      struct le_expression **inside) {
    const struct le_node *load = near->load;
    const struct le_address address = le_load_address(c->layouts, load);
    struct access a;
    begin_access(&a, c, load->value, load->operand_count, load->stretch);
    a.along = near->column_axis;
    a.span = near->span;
    const bool inside_another = c->safety.in_subscript;
    for (int d = 0; d < a.rank; d++) {
        if (le_address_is_stretched(&address, d))
            continue;
        c->safety.in_subscript = true;
        a.subscript[d] = le_codegen_node(c, load->operands[d], block, NULL);
        c->safety.in_subscript = inside_another;
        if (d == near->row_axis)
            a.subscript[d] = le_plus(c->tree, a.subscript[d], near->row);
        if (d == near->column_axis)
            a.subscript[d] = le_plus(c->tree, a.subscript[d], le_ktree_int(c->tree, near->column));
        if (!(near->checked >> d & 1))
            continue;
        bool moves = load->edge != LE_EDGE_NONE && load->edge != LE_EDGE_FILL && a.layout->shape[d] > 0;
        a.asked[d] = !moves || (d == near->column_axis && near->span > 1);
        if (!a.asked[d])
            a.subscript[d] = moved(&a, d, a.subscript[d], load->edge, block);
    }
    a.array = array_of(c, load->value);
    *inside = all_inside(&a);
    struct le_expression *element = element_at(&a);
    if (!near->apart)
        return element;
    struct le_expression *apart = le_ktree_cast(c->tree, a.narrow ? LE_KTREE_INT : LE_KTREE_LONG, near->apart);
    return le_ktree_element(c->tree, a.array, le_plus(c->tree, element->x[0], apart));
}

/* ---- stores */

/* Records faults. Returns the block that runs if there is none. */
static struct le_block *open_inside(const struct access *a, int access, struct le_block *block) {
    struct le_block *good = open_faults(a, access, block);
    le_ktree_close_to(a->c->tree, good, block);
    return le_codegen_open_branch(a->c, block, all_inside(a));
}

struct le_block *le_codegen_place(struct codegen *c, const struct destination *to, struct le_block *block,
                                  struct le_variable *outside, struct le_expression **place) {
    struct access a;
    begin_access(&a, c, to->value, to->rank, to->stretch);
    find_subscripts(&a, to->subscripts, LE_EDGE_NONE, to->trusted, block, outside);
    if (to->numbered || to->dense) {
        *place = dense_number(&a);
        if (to->dense)
            *place = le_ktree_element(c->tree, to->dense, to->from ? le_plus(c->tree, to->from, *place) : *place);
    } else {
        a.array = array_of(c, to->value);
        *place = element_at(&a);
    }
    return asks(&a) ? open_inside(&a, to->access, block) : block;
}

/* A temporary has exactly the elements that its indices cover, so it needs no range check. */
void le_codegen_store_to(struct codegen *c, const struct le_stage *stage, struct le_expression *value,
                         struct le_block *block) {
    const struct le_value *target = &c->ir->values.at[stage->target];
    struct destination to = {.value = target->id,
                             .rank = stage->left_count,
                             .access = stage->access,
                             .subscripts = stage->left,
                             .trusted = target->symbol < 0};
    struct le_expression *place;
    struct le_block *inner = le_codegen_place(c, &to, block, NULL, &place);
    le_ktree_set(c->tree, inner, place, le_codegen_to_memory(c, value, target->type));
    le_ktree_close_to(c->tree, inner, block);
}

void le_codegen_store(struct codegen *c, struct le_expression *value, struct le_block *block) {
    le_codegen_store_to(c, c->stage, value, block);
}

struct le_expression *le_codegen_dense_element(struct codegen *c, int value, struct le_block *block,
                                               struct le_expression *number) {
    struct access a;
    begin_access(&a, c, value, c->ir->values.at[value].rank, 0);
    a.array = array_of(c, value);
    for (int d = a.rank - 1; d >= 0; d--) {
        a.subscript[d] = number;
        if (d == 0)
            break;
        a.subscript[d] = le_let(c->tree, block, "at", le_ktree_remainder(c->tree, number, length_of(&a, d)));
        number = le_let(c->tree, block, "rest", le_ktree_quotient(c->tree, number, length_of(&a, d)));
    }
    return element_at(&a);
}

struct le_expression *le_codegen_trusted_place(struct codegen *c, const struct le_node *load, struct le_block *block) {
    struct le_expression *place;
    struct destination from = {.value = load->value,
                               .rank = load->operand_count,
                               .access = load->access,
                               .stretch = load->stretch,
                               .subscripts = load->operands,
                               .trusted = true};
    le_codegen_place(c, &from, block, NULL, &place);
    return place;
}

struct le_node le_codegen_target(const struct codegen *c) {
    return le_codegen_target_of(c, c->stage);
}

struct le_node le_codegen_target_of(const struct codegen *c, const struct le_stage *stage) {
    return (struct le_node){.kind = LE_NODE_LOAD,
                            .value = stage->target,
                            .access = stage->access,
                            .operands = stage->left,
                            .operand_count = stage->left_count,
                            .trusted = c->ir->values.at[stage->target].symbol < 0};
}
