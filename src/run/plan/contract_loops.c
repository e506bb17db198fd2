/* Analyses a CONTRACT stage for one set of extents: its loops, and the stride of each loop in each operand. */
#include "run/plan/contraction.h"
#include <string.h>

/* ---- loops and operands */

struct loops {
    const struct le_specialised *s;
    struct le_arena *arena;
    struct le_contract *c;
    int64_t *divisors; /* by index; 0: none */
};

static bool is_host(const struct loops *l, int index) {
    return l->s->ir->indices.at[index].host;
}

static bool add_host(struct loops *l, struct le_contract_operand *out, int index, int64_t factor) {
    for (int k = 0; k < out->host_count; k++)
        if (out->hosts[k].value == l->s->ir->indices.at[index].host_value) {
            out->hosts[k].factor += factor;
            return true;
        }
    if (out->host_count == LE_HOSTS_MAX)
        return false;
    out->hosts[out->host_count].value = l->s->ir->indices.at[index].host_value;
    out->hosts[out->host_count++].factor = factor;
    return true;
}

/* How far one step of an index moves in an array, in elements: the index itself; its quotient and its remainder by the
 * divisor that the index has in the statement, as in k[h // 4]. The uses say which of them subscripts name. */
enum { WHOLE = 1, QUOTIENT = 2, REMAINDER = 4 };
struct step {
    int64_t whole, quotient, remainder;
    unsigned uses;
};

static bool add_affine(struct loops *l, struct le_contract_operand *out, const struct le_affine *f, int64_t stride,
                       struct step *steps) {
    out->offset += le_wrapping_product(f->constant, stride);
    for (int k = 0; k < f->count; k++) {
        if (is_host(l, f->index[k])) {
            if (!add_host(l, out, f->index[k], le_wrapping_product(f->factor[k], stride)))
                return false;
        } else {
            steps[f->index[k]].whole += le_wrapping_product(f->factor[k], stride);
            steps[f->index[k]].uses |= WHOLE;
        }
    }
    return true;
}

static bool constant_of(const struct loops *l, struct le_node *node, int64_t *value) {
    struct le_affine f;
    if (!le_affine_of(&l->s->plan->space, node, &f) || f.count > 0)
        return false;
    *value = f.constant;
    return true;
}

/* An index divided by a positive constant, always the same one. */
static bool add_divided(struct loops *l, struct le_node *node, int64_t stride, struct step *steps) {
    int index = node->operands[0]->index;
    int64_t divisor;
    if (node->operands[0]->kind != LE_NODE_INDEX || is_host(l, index) || !constant_of(l, node->operands[1], &divisor) ||
        divisor < 1 || (l->divisors[index] && l->divisors[index] != divisor))
        return false;
    l->divisors[index] = divisor;
    if (node->code == LE_OP_FLOORDIV) {
        steps[index].quotient += stride;
        steps[index].uses |= QUOTIENT;
    } else {
        steps[index].remainder += stride;
        steps[index].uses |= REMAINDER;
    }
    return true;
}

/* Adds what the subscript, times the stride, adds to the offset. false: it is neither a linear function of indices nor
 * of their quotients and remainders. */
static bool add_subscript(struct loops *l, struct le_contract_operand *out, struct le_node *node, int64_t stride,
                          struct step *steps) {
    struct le_affine f;
    struct le_node **x = node->operands;
    int64_t factor;
    if (le_affine_of(&l->s->plan->space, node, &f))
        return add_affine(l, out, &f, stride, steps);
    switch (node->kind == LE_NODE_OP ? node->code : LE_OPS) {
    case LE_OP_ADD:
    case LE_OP_SUB:
        return add_subscript(l, out, x[0], stride, steps) &&
               add_subscript(l, out, x[1], node->code == LE_OP_SUB ? -stride : stride, steps);
    case LE_OP_NEG:
        return add_subscript(l, out, x[0], -stride, steps);
    case LE_OP_MUL:
        return constant_of(l, x[0], &factor)
                   ? add_subscript(l, out, x[1], le_wrapping_product(stride, factor), steps)
                   : constant_of(l, x[1], &factor) &&
                         add_subscript(l, out, x[0], le_wrapping_product(stride, factor), steps);
    case LE_OP_FLOORDIV:
    case LE_OP_MOD:
        return add_divided(l, node, stride, steps);
    default:
        return false;
    }
}

/* Finds how far one step of each index moves in the array: by index, in `steps`. Returns false if a subscript is not
 * a linear function of indices or may be out of range. */
static bool find_offset(struct loops *l, int value, struct le_node *const *subscripts, int rank, int stretch,
                        struct le_contract_operand *out, struct step *steps) {
    const struct le_space *space = &l->s->plan->space;
    const struct le_address address = {&l->s->plan->layouts[value], subscripts, rank, stretch};
    const int symbol = l->s->ir->values.at[value].symbol;
    *out = (struct le_contract_operand){.value = value, .offset = address.layout->offset};
    for (int d = 0; d < rank; d++) {
        int64_t low, high;
        if (le_address_is_stretched(&address, d))
            continue;
        if (!add_subscript(l, out, subscripts[d], address.layout->strides[d], steps))
            return false;
        if (symbol >= 0 ? !le_axis_is_safe(space, &address, d) : !le_interval(space, subscripts[d], &low, &high))
            return false;
    }
    return true;
}

struct strides {
    struct step *left[LE_TERMS_MAX], *right[LE_TERMS_MAX], *target, *kept; /* by index */
};

static bool find_load(struct loops *l, const struct le_node *load, struct le_contract_operand *out,
                      struct step **steps) {
    *steps = LE_NEW_ARRAY(l->arena, l->s->ir->indices.count, struct step);
    return find_offset(l, load->value, load->operands, load->operand_count, load->stretch, out, *steps);
}

static bool find_operands(struct loops *l, const struct le_stage *stage, struct strides *out) {
    struct le_contract *c = l->c;
    for (int k = 0; k < c->form.product_count; k++)
        if (!find_load(l, c->form.products[k].left, &c->left[k], &out->left[k]) ||
            !find_load(l, c->form.products[k].right, &c->right[k], &out->right[k]))
            return false;
    if (c->form.kept && !find_load(l, c->form.kept, &c->kept, &out->kept))
        return false;
    out->target = LE_NEW_ARRAY(l->arena, l->s->ir->indices.count, struct step);
    return find_offset(l, stage->target, stage->left, stage->left_count, 0, &c->target, out->target);
}

/* ---- the loops of an index: its own, or those of its quotient and remainder if it has a divisor */

struct loop {
    int index;
    int64_t count, whole, quotient, remainder; /* of one step: the change of the index, its quotient and remainder */
    int64_t low, low_quotient;                 /* the index's first value, if the offsets are to be moved there */
    unsigned uses;                             /* what changes */
};

static int64_t change_of(const struct loop *loop, const struct step *step) {
    return loop->whole * step->whole + loop->quotient * step->quotient + loop->remainder * step->remainder;
}

static int64_t first_of(const struct loop *loop, const struct step *step) {
    return loop->low * step->whole + loop->low_quotient * step->quotient;
}

/* false: the divisor does not divide the index's values into whole groups. */
static bool loops_of(const struct loops *l, int index, struct loop out[2], int *loop_count) {
    const struct le_range *r = &l->s->plan->space.ranges[index];
    const int64_t count = le_range_count(r), divisor = l->divisors[index];
    *loop_count = divisor ? 2 : 1;
    out[0] = (struct loop){.index = index, .count = count, .whole = r->by, .low = r->low, .uses = WHOLE};
    if (!divisor)
        return true;
    if (r->by != 1 || r->low % divisor || count % divisor)
        return false;
    out[0] = (struct loop){.index = index,
                           .count = count / divisor,
                           .whole = divisor,
                           .quotient = 1,
                           .low = r->low,
                           .low_quotient = r->low / divisor,
                           .uses = WHOLE | QUOTIENT};
    out[1] = (struct loop){.index = index, .count = divisor, .whole = 1, .remainder = 1, .uses = WHOLE | REMAINDER};
    return true;
}

/* Adds the loop; the offsets are moved to its first iteration. */
static bool add_loop(struct loops *l, const struct strides *strides, struct le_contract_axes *to,
                     const struct loop *loop) {
    struct le_contract_axis axis = {.count = loop->count};
    struct le_contract *c = l->c;
    const int index = loop->index;
    if (to->count == (int)ARRAY_LEN(to->at) || !le_mul_i64(to->total, axis.count, &to->total))
        return false;
    for (int k = 0; k < c->form.product_count; k++) {
        axis.left[k] = change_of(loop, &strides->left[k][index]);
        axis.right[k] = change_of(loop, &strides->right[k][index]);
        c->left[k].offset += first_of(loop, &strides->left[k][index]);
        c->right[k].offset += first_of(loop, &strides->right[k][index]);
    }
    axis.target = change_of(loop, &strides->target[index]);
    c->target.offset += first_of(loop, &strides->target[index]);
    if (c->form.kept) {
        axis.kept = change_of(loop, &strides->kept[index]);
        c->kept.offset += first_of(loop, &strides->kept[index]);
    }
    if (axis.count != 1)
        to->at[to->count++] = axis;
    return true;
}

static bool swap_products(struct le_contraction *said) {
    for (int k = 1; k < said->product_count; k++) {
        const struct le_node *first = said->products[0].left;
        bool same = true, crossed = true;
        for (int q = 0; q < said->products[k].sum->free_count; q++) {
            int index = said->products[k].sum->free[q];
            same &= le_node_depends(first, index) == le_node_depends(said->products[k].left, index);
            crossed &= le_node_depends(first, index) == le_node_depends(said->products[k].right, index);
        }
        if (!same && crossed) {
            struct le_node *left = said->products[k].left;
            said->products[k].left = said->products[k].right;
            said->products[k].right = left;
        } else if (!same) {
            return false;
        }
    }
    return true;
}

/* Whether the factor depends on what the loop changes. */
static bool is_in(const struct loops *l, const struct le_node *factor, const struct step *steps,
                  const struct loop *loop) {
    return l->divisors[loop->index] ? (steps[loop->index].uses & loop->uses) != 0
                                    : le_node_depends(factor, loop->index);
}

/* Adds the loop to those that both factors depend on, or only the left one, or only the right one. */
static bool sort_loop(struct loops *l, const struct strides *strides, const struct loop *loop) {
    struct le_contract *c = l->c;
    bool in_left = is_in(l, c->form.products[0].left, strides->left[0], loop);
    bool in_right = is_in(l, c->form.products[0].right, strides->right[0], loop);
    for (int k = 1; k < c->form.product_count; k++)
        if (in_left != is_in(l, c->form.products[k].left, strides->left[k], loop) ||
            in_right != is_in(l, c->form.products[k].right, strides->right[k], loop))
            return false;
    return add_loop(l, strides, in_left && in_right ? &c->batch : in_left ? &c->rows : &c->columns, loop);
}

static bool find_loops(struct loops *l, const struct le_stage *stage, const struct strides *strides) {
    struct le_contract *c = l->c;
    const struct le_node *sum = c->form.products[0].sum;
    struct loop loops[2];
    int count;
    for (int k = 0; k < stage->index_count; k++) {
        if (is_host(l, stage->indices[k]))
            continue;
        if (!loops_of(l, stage->indices[k], loops, &count))
            return false;
        for (int q = 0; q < count; q++)
            if (!sort_loop(l, strides, &loops[q]))
                return false;
    }
    for (int k = 0; k < sum->index_count; k++) {
        if (!loops_of(l, sum->indices[k], loops, &count))
            return false;
        for (int q = 0; q < count; q++)
            if (!add_loop(l, strides, &c->terms, &loops[q]))
                return false;
    }
    return true;
}

/* ---- merging loops that every operand walks as one */

bool le_contract_axes_are_one(const struct le_contract_axis *outer, const struct le_contract_axis *inner) {
    bool one = outer->target == inner->target * inner->count && outer->kept == inner->kept * inner->count;
    for (int k = 0; k < LE_TERMS_MAX; k++)
        one =
            one && outer->left[k] == inner->left[k] * inner->count && outer->right[k] == inner->right[k] * inner->count;
    return one;
}

static int64_t absolute(int64_t x) {
    return x < 0 ? -x : x;
}

static int64_t order_of(const struct le_contract_axis *axis) {
    return absolute(axis->target ? axis->target : axis->left[0]);
}

static void merge_axes(struct le_contract_axes *axes) {
    for (int k = 1; k < axes->count; k++)
        for (int q = k; q > 0 && order_of(&axes->at[q - 1]) < order_of(&axes->at[q]); q--) {
            struct le_contract_axis axis = axes->at[q];
            axes->at[q] = axes->at[q - 1];
            axes->at[q - 1] = axis;
        }
    for (int k = axes->count - 1; k > 0; k--)
        if (le_contract_axes_are_one(&axes->at[k - 1], &axes->at[k])) {
            int64_t count = axes->at[k - 1].count * axes->at[k].count;
            axes->at[k - 1] = axes->at[k];
            axes->at[k - 1].count = count;
            memmove(&axes->at[k], &axes->at[k + 1], (size_t)(axes->count - k - 1) * sizeof axes->at[0]);
            axes->count--;
        }
}

void le_contract_transpose(struct le_contract *c) {
    struct le_contract_axes rows = c->rows;
    c->rows = c->columns;
    c->columns = rows;
    for (int k = 0; k < c->form.product_count; k++) {
        struct le_contract_operand left = c->left[k];
        c->left[k] = c->right[k];
        c->right[k] = left;
    }
    struct le_contract_axes *all[] = {&c->batch, &c->rows, &c->columns, &c->terms};
    for (size_t a = 0; a < ARRAY_LEN(all); a++)
        for (int q = 0; q < all[a]->count; q++)
            for (int k = 0; k < LE_TERMS_MAX; k++) {
                int64_t left = all[a]->at[q].left[k];
                all[a]->at[q].left[k] = all[a]->at[q].right[k];
                all[a]->at[q].right[k] = left;
            }
}

/* ---- the analysis */

static bool is_static(const struct le_plan *plan, const struct le_stage *stage, const struct le_node *sum) {
    for (int k = 0; k < stage->index_count; k++)
        if (plan->space.ranges[stage->indices[k]].dynamic)
            return false;
    for (int k = 0; k < sum->index_count; k++)
        if (plan->space.ranges[sum->indices[k]].dynamic)
            return false;
    return true;
}

static void arrange_loops(struct le_contract *c) {
    merge_axes(&c->batch);
    merge_axes(&c->rows);
    merge_axes(&c->columns);
    merge_axes(&c->terms);
    bool by_rows = c->columns.count && c->columns.at[c->columns.count - 1].target == 1;
    if (c->rows.total == 1 ||
        (c->columns.total > 1 && !by_rows && c->rows.count && c->rows.at[c->rows.count - 1].target == 1))
        le_contract_transpose(c);
    c->vector = c->columns.total == 1;
}

bool le_contract_analyse(const struct le_specialised *s, const struct le_stage *stage, struct le_arena *arena,
                         struct le_contract *c) {
    struct loops l = {.s = s, .arena = arena, .c = c};
    struct strides strides;
    l.divisors = LE_NEW_ARRAY(arena, s->ir->indices.count, int64_t);
    c->batch.total = c->rows.total = c->columns.total = c->terms.total = 1;
    if (!le_contraction_of(stage->product, &c->form) || !is_static(l.s->plan, stage, c->form.products[0].sum) ||
        !swap_products(&c->form) || !find_operands(&l, stage, &strides) || !find_loops(&l, stage, &strides))
        return false;
    c->factor_type = c->form.factor_type;
    c->type = c->form.products[0].sum->type;
    c->array_type = s->ir->values.at[c->left[0].value].type;
    c->target_type = s->ir->values.at[c->target.value].type;
    arrange_loops(c);
    return c->batch.total > 0 && c->rows.total > 0 && c->columns.total > 0 && c->terms.total > 0;
}
