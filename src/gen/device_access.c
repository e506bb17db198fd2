/* Loads and stores: an element's address as an expression, and the range checks before it is used. The text depends on
 * these properties of a layout only: whether it starts at offset 0, which axes have stride 1 or stretch, whether an int
 * can index all of it, and which axes need no check. All numbers are parameters. */
#include "gen/device_gen.h"

static bool is_stretched(const struct le_layout *layout, int d, int stretch) {
    return d < stretch && layout->shape[d] == 1;
}

bool le_cuda_load_is_safe(const struct cuda *c, const struct le_node *node) {
    const struct le_layout *layout = &c->layouts[node->value];
    if (node->trusted)
        return true;
    for (int d = 0; d < node->operand_count; d++) {
        bool edge = node->edge != LE_EDGE_NONE && layout->shape[d] > 0;
        if (!edge && !le_axis_is_safe(c->reach, layout, node->operands[d], d, node->stretch))
            return false;
    }
    return !node->fill || le_cuda_is_safe((struct cuda *)(uintptr_t)c, node->fill);
}

/* ---- places */

struct access {
    struct cuda *c;
    int value, rank, stretch;
    const struct le_layout *layout;
    const char *name; /* of the array */
    bool narrow;      /* an int reaches all of it */
    const char *pointer;
    const struct held *subscript[LEAT_RANK_MAX]; /* moved by its edge already; NULL: stretched */
    bool asked[LEAT_RANK_MAX];                   /* whether it is inside has to be asked */
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

static void begin_access(struct access *a, struct cuda *c, int value, int rank, int stretch) {
    *a = (struct access){.c = c, .value = value, .rank = rank, .stretch = stretch, .layout = &c->layouts[value]};
    a->name = le_cuda_value_name(c, value);
    a->narrow = reaches_in_int(a->layout, rank);
}

static const char *length_of(const struct access *a, int d, bool narrow) {
    const char *n = le_cuda_number(a->c, le_arena_format(a->c->arena, "%s_n%d", a->name, d), a->layout->shape[d]);
    return narrow ? le_arena_format(a->c->arena, "(int)%s", n) : n;
}

/* Whether the text is that of an int. */
static bool axis_is_narrow(const struct access *a, int d) {
    return a->subscript[d]->narrow && a->layout->shape[d] <= INT32_MAX;
}

static const char *inside(const struct access *a, int d) {
    bool narrow = axis_is_narrow(a, d);
    return le_arena_format(a->c->arena, narrow ? "(unsigned)%s < (unsigned)%s" : "(unsigned long long)%s < %s",
                           narrow ? a->subscript[d]->text : le_cuda_wide(a->c, a->subscript[d]),
                           narrow ? length_of(a, d, false)
                                  : le_arena_format(a->c->arena, "(unsigned long long)%s", length_of(a, d, false)));
}

static const char *offset_term(const struct access *a, int d) {
    struct le_arena *arena = a->c->arena;
    int64_t stride = a->layout->strides[d];
    const struct held *x = a->subscript[d];
    const char *subscript =
        a->narrow ? (x->narrow ? x->text : le_arena_format(arena, "(int)%s", x->text)) : le_cuda_wide(a->c, x);
    if (stride == 1)
        return subscript;
    const char *s = le_cuda_number(a->c, le_arena_format(arena, "%s_s%d", a->name, d), stride);
    return le_arena_format(arena, a->narrow ? "%s * (int)%s" : "%s * %s", subscript, s);
}

/* ((i * n1) + j) * n2 + k, of elements side by side */
static const char *dense_number(const struct access *a) {
    struct le_arena *arena = a->c->arena;
    const char *number = "0";
    for (int d = 0; d < a->rank; d++) {
        const char *x = le_cuda_wide(a->c, a->subscript[d]);
        number = d == 0 ? x : le_arena_format(arena, "(%s) * %s + %s", number, length_of(a, d, false), x);
    }
    return number;
}

/* array[offset + i * stride + ...] */
static const char *element_expression(const struct access *a) {
    struct words sum = {0};
    struct le_arena *arena = a->c->arena;
    if (a->layout->offset != 0) {
        const char *o = le_cuda_number(a->c, le_arena_format(arena, "%s_o", a->name), a->layout->offset);
        le_words_add(arena, &sum, a->narrow ? "(int)%s" : "%s", o);
    }
    for (int d = 0; d < a->rank; d++)
        if (a->subscript[d])
            le_words_add(arena, &sum, "%s%s", sum.length ? " + " : "", offset_term(a, d));
    return le_arena_format(arena, "%s[%s]", a->pointer, sum.length ? sum.at : "0");
}

/* ---- what has to be asked */

static const struct held *moved(const struct access *a, int d, const struct held *x, enum le_edge edge,
                                struct block *block) {
    static const char *const names[LE_EDGES] = {[LE_EDGE_CLAMP] = "le_edge_clamp",
                                                [LE_EDGE_WRAP] = "le_edge_wrap",
                                                [LE_EDGE_MIRROR] = "le_edge_mirror",
                                                [LE_EDGE_SYMMETRIC] = "le_edge_symmetric"};
    bool narrow = x->narrow && a->layout->shape[d] <= INT32_MAX;
    const char *text = le_arena_format(a->c->arena, "%s<%s>(%s, %s)", names[edge], narrow ? "int" : "long long",
                                       narrow ? x->text : le_cuda_wide(a->c, x), length_of(a, d, narrow));
    return le_cuda_hold(a->c, block, LE_I64, narrow, "at", text);
}

/* The subscripts' values, moved by the edge. */
static void find_subscripts(struct access *a, struct le_node *const *subscripts, enum le_edge edge, bool trusted,
                            struct block *block, const char *outside) {
    for (int d = 0; d < a->rank; d++) {
        if (is_stretched(a->layout, d, a->stretch))
            continue;
        a->subscript[d] = le_cuda_node(a->c, subscripts[d], block, outside);
        if (trusted || le_axis_is_safe(a->c->reach, a->layout, subscripts[d], d, a->stretch))
            continue;
        if (edge == LE_EDGE_NONE || edge == LE_EDGE_FILL || a->layout->shape[d] == 0)
            a->asked[d] = true;
        else
            a->subscript[d] = moved(a, d, a->subscript[d], edge, block);
    }
}

static bool asks(const struct access *a) {
    for (int d = 0; d < a->rank; d++)
        if (a->asked[d])
            return true;
    return false;
}

/* "i inside && j inside" */
static const char *all_inside(const struct access *a) {
    struct words all = {0};
    for (int d = 0; d < a->rank; d++)
        if (a->asked[d])
            le_words_add(a->c->arena, &all, "%s%s", all.length ? " && " : "", inside(a, d));
    return all.at;
}

/* The faults of axes that are outside: the first one's. */
static void add_faults(const struct access *a, int access, struct block *block) {
    struct cuda *c = a->c;
    bool first = true;
    c->may_fault = true;
    for (int d = 0; d < a->rank; d++) {
        if (!a->asked[d])
            continue;
        le_cuda_line(c, block, "%sif (!(%s))", first ? "" : "else ", inside(a, d));
        le_cuda_line(c, block, "    le_fault(%s, %s, %s, %lld, %s)%s", le_cuda_fault(c),
                     le_cuda_number(c, "action", c->job->action), le_cuda_point(c), (long long)access * 8 + d,
                     a->subscript[d]->text, le_cuda_and_fails(c));
        first = false;
    }
}

/* ---- loads */

static const char *pointer_to(struct cuda *c, int value) {
    const struct le_value *v = &c->ir->values.at[value];
    const char *stored = le_cuda_stored(v->type);
    bool target = value == c->stage->target;
    for (int k = 0; k < c->stage->pair_count; k++)
        target |= c->stage->pairs[k].target == value;
    if (target && v->rank == 0)
        return le_cuda_parameter(c, LE_ARGUMENT_RESULT, value, 0, le_arena_format(c->arena, "%s *", stored), NULL);
    return le_cuda_parameter(c, target ? LE_ARGUMENT_TARGET : LE_ARGUMENT_ARRAY, value, 0,
                             le_arena_format(c->arena, target ? "%s *" : "const %s *", stored), NULL);
}

static const struct held *load_scalar(struct cuda *c, const struct le_node *node) {
    const struct le_value *v = &c->ir->values.at[node->value];
    const char *scalar = le_cuda_parameter(c, LE_ARGUMENT_SCALAR, v->id, 0, "le_scalar ", NULL);
    const char *text = le_arena_format(c->arena, "le_value<%s>(%s)", le_cuda_stored(v->type), scalar);
    return le_cuda_hold(c, c->root, node->type, false, scalar, le_cuda_from_memory(c, text, v->type, node->type));
}

static const struct held *load_asking(struct access *a, struct le_node *node, struct block *block,
                                      const char *outside) {
    struct cuda *c = a->c;
    const char *name = le_cuda_name(c, a->name), *type = le_cuda_type(node->type);
    const char *x = le_cuda_from_memory(c, element_expression(a), c->ir->values.at[node->value].type, node->type);
    if (node->edge == LE_EDGE_FILL) {
        const struct held *fill = le_cuda_node(c, node->fill, block, NULL);
        le_cuda_line(c, block, "const %s %s = %s ? %s : %s;", type, name, all_inside(a), x, le_cuda_wide(c, fill));
        return le_cuda_variable(c, block, name);
    }
    le_cuda_line(c, block, "%s %s = 0;", type, name);
    if (outside && node->edge == LE_EDGE_NONE) {
        le_cuda_line(c, block, "if (%s)\n    %s = %s;\nelse\n    %s = true;", all_inside(a), name, x, outside);
        return le_cuda_variable(c, block, name);
    }
    add_faults(a, node->access, block);
    le_cuda_line(c, block, "else\n    %s = %s;", name, x);
    return le_cuda_variable(c, block, name);
}

const struct held *le_cuda_load(struct cuda *c, struct le_node *node, struct block *block, const char *outside) {
    struct access a;
    enum le_type stored = c->ir->values.at[node->value].type;
    begin_access(&a, c, node->value, node->operand_count, node->stretch);
    if (node->operand_count == 0 && !node->live)
        return load_scalar(c, node);
    find_subscripts(&a, node->operands, node->edge, node->trusted, block, outside);
    a.pointer = pointer_to(c, node->value);
    if (asks(&a))
        return load_asking(&a, node, block, outside);
    return le_cuda_hold(c, block, node->type, false, a.name,
                        le_cuda_from_memory(c, element_expression(&a), stored, node->type));
}

/* ---- stores */

struct block *le_cuda_place(struct cuda *c, const struct destination *to, struct block *block, const char *outside,
                            const char **place) {
    struct access a;
    begin_access(&a, c, to->value, to->rank, to->stretch);
    find_subscripts(&a, to->subscripts, LE_EDGE_NONE, to->trusted, block, outside);
    if (to->numbered) {
        *place = dense_number(&a);
    } else if (to->dense) {
        *place = le_arena_format(c->arena, "%s[%s]", to->dense, dense_number(&a));
    } else {
        a.pointer = pointer_to(c, to->value);
        *place = element_expression(&a);
    }
    if (!asks(&a))
        return block;
    add_faults(&a, to->access, block);
    struct block *inner = le_cuda_open(c, block, le_arena_format(c->arena, "if (%s)", all_inside(&a)));
    inner->conditional = true;
    return inner;
}

/* A temporary has exactly the elements that its indices reach. */
void le_cuda_store(struct cuda *c, const struct held *value, struct block *block) {
    const struct le_stage *stage = c->stage;
    const struct le_value *target = &c->ir->values.at[stage->target];
    struct destination to = {.value = target->id,
                             .rank = stage->left_count,
                             .access = stage->access,
                             .subscripts = stage->left,
                             .trusted = target->symbol < 0};
    const char *place;
    struct block *inner = le_cuda_place(c, &to, block, NULL, &place);
    enum le_type type = le_type_compute(target->type);
    le_cuda_line(c, inner, "%s = %s;", place, le_cuda_to_memory(c, value->text, type, target->type));
    if (inner != block)
        le_cuda_close(c, inner);
}

const char *le_cuda_dense_element(struct cuda *c, int value, struct block *block, const char *number) {
    struct access a;
    begin_access(&a, c, value, c->ir->values.at[value].rank, 0);
    a.pointer = pointer_to(c, value);
    for (int d = a.rank - 1; d >= 0; d--) {
        if (d > 0) {
            a.subscript[d] = le_cuda_hold(c, block, LE_I64, false, "at",
                                          le_arena_format(c->arena, "%s %% %s", number, length_of(&a, d, false)));
            number = le_cuda_hold(c, block, LE_I64, false, "rest",
                                  le_arena_format(c->arena, "%s / %s", number, length_of(&a, d, false)))
                         ->text;
        } else {
            a.subscript[d] = le_cuda_variable(c, block, number);
        }
    }
    return element_expression(&a);
}

const char *le_cuda_trusted_place(struct cuda *c, const struct le_node *load, struct block *block) {
    const char *place;
    struct destination from = {.value = load->value,
                               .rank = load->operand_count,
                               .access = load->access,
                               .stretch = load->stretch,
                               .subscripts = load->operands,
                               .trusted = true};
    le_cuda_place(c, &from, block, NULL, &place);
    return place;
}

struct le_node le_cuda_target(const struct cuda *c) {
    const struct le_stage *stage = c->stage;
    return (struct le_node){.kind = LE_NODE_LOAD,
                            .value = stage->target,
                            .access = stage->access,
                            .operands = stage->left,
                            .operand_count = stage->left_count,
                            .trusted = c->ir->values.at[stage->target].symbol < 0};
}
