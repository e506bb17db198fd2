/* Lowers assignments to arrays: decides between maps and scatters, expands `op=`, and widens scatters that compute in
 * another type. */
#include "ir/lower/lower.h"
#include <string.h>

bool le_lower_injective(struct le_node *const *left, int left_count, const int *indices, int count) {
    for (int k = 0; k < count; k++) {
        bool found = false;
        for (int d = 0; d < left_count && !found; d++) {
            const struct le_node *x = left[d], *y = x;
            if (x->free_count != 1 || x->free[0] != indices[k] || x->changes)
                continue;
            if (x->kind == LE_NODE_OP && (x->code == LE_OP_ADD || x->code == LE_OP_SUB))
                y = x->operands[0]->free_count ? x->operands[0] : x->operands[1];
            if (y->kind == LE_NODE_OP && y->code == LE_OP_MUL) {
                const struct le_node *c = y->operands[0]->free_count ? y->operands[1] : y->operands[0];
                if (c->kind != LE_NODE_CONST || le_const_i64(c) == 0)
                    continue;
                y = y->operands[0]->free_count ? y->operands[0] : y->operands[1];
            }
            found = y->kind == LE_NODE_INDEX && (x == y || x->kind == LE_NODE_OP) &&
                    (x == y || x->operands[0]->free_count == 0 || x->operands[1]->free_count == 0);
        }
        if (!found)
            return false;
    }
    return true;
}

static int update_code(enum le_assign op) {
    static const int codes[] = {LE_OPS, LE_OP_ADD, LE_OP_SUB, LE_OP_MUL, LE_OP_DIV, LE_OP_MIN, LE_OP_MAX};
    return codes[op];
}

static enum le_reduction update_reduction(enum le_assign op) {
    switch (op) {
    case LE_ASSIGN_MUL:
        return LE_RED_PROD;
    case LE_ASSIGN_MIN:
        return LE_RED_MIN;
    case LE_ASSIGN_MAX:
        return LE_RED_MAX;
    default:
        return LE_RED_SUM;
    }
}

struct le_node *le_lower_updated(struct lower *l, const struct le_step *step, struct le_node *old, struct le_node *term,
                                 const int *reduced, int count) {
    enum le_type type = le_type_compute(le_type_strong(step->update));
    term = le_node_cast(l->ir, type, term);
    if (count > 0) {
        bool adds = step->op == LE_ASSIGN_ADD || step->op == LE_ASSIGN_MUL;
        enum le_type wide = adds ? le_type_compute(le_type_summed(type)) : type;
        enum le_reduction reduction = update_reduction(step->op);
        term = le_node_cast(l->ir, wide, term);
        if (reduction == LE_RED_SUM)
            reduction = le_lower_sum(l->ir, term, reduced, count);
        term = le_node_reduce(l->ir, reduction, wide, term, reduced, count);
        term = le_node_cast(l->ir, type, term);
    }
    old = le_node_cast(l->ir, type, old);
    int code = update_code(step->op);
    if (code == LE_OP_ADD || code == LE_OP_SUB)
        return le_lower_contracted(l, code, type, old, term);
    return le_lower_op2(l, code, type, old, term);
}

/* Splits the statement's indices into those that the left side depends on (kept) and the others (reduced). */
static int split_indices(struct le_node *const *left, int left_count, const int *all, int count, int *kept,
                         int *reduced) {
    int kept_count = 0, reduced_count = 0;
    for (int k = 0; k < count; k++) {
        bool found = false;
        for (int d = 0; d < left_count; d++)
            found |= le_node_depends(left[d], all[k]);
        if (found)
            kept[kept_count++] = all[k];
        else
            reduced[reduced_count++] = all[k];
    }
    return kept_count;
}

/* Whether the range of a kept index depends on a reduced one. The kept index is the outer loop, where the reduced one
 * has no value. */
static bool kept_depends_on_reduced(const struct le_ir *ir, const int *kept, int kept_count, const int *reduced,
                                    int count) {
    for (int k = 0; k < kept_count; k++) {
        const struct le_range_nodes *range = &ir->indices.at[kept[k]].range;
        const struct le_node *bounds[] = {range->low, range->high, range->by};
        for (int b = 0; b < 3; b++)
            for (int q = 0; bounds[b] && q < count; q++)
                if (le_node_depends(bounds[b], reduced[q]))
                    return true;
    }
    return false;
}

struct le_node *le_lower_term(struct lower *l, const struct le_step *step) {
    struct le_node *term = le_lower_as(l, step->value, step->term);
    if (!step->otherwise)
        return term;
    struct le_node *x[] = {term, le_lower_as(l, step->otherwise, step->term)};
    return le_node_make(l->ir,
                        &(struct le_node){.kind = LE_NODE_ELSE, .type = term->type, .operands = x, .operand_count = 2});
}

/* ---- scatters that compute in a type other than their array's */

/* max= and min= compare in the wider type, 16-bit floats compute in f32, bools subtract as integers: the array is
 * converted to that type, updated, and rounded back once. Sums and products of integers wrap to the same result in
 * their own type. */
bool le_lower_needs_wide(enum le_assign op, enum le_type type, enum le_type wide) {
    if (op == LE_ASSIGN_SET)
        return false;
    if (type != le_type_compute(type) || (type == LE_BOOL && (op == LE_ASSIGN_SUB || op == LE_ASSIGN_DIV)))
        return true;
    return (op == LE_ASSIGN_MIN || op == LE_ASSIGN_MAX) && wide != type;
}

/* New indices over all axes of the symbol. */
static int *whole_axes(struct lower *l, const struct le_symbol *symbol, struct le_node **subscripts) {
    struct le_ir *ir = l->ir;
    struct le_ir_statement *st = &ir->statements.at[l->statement];
    int *indices = LE_NEW_ARRAY(ir->arena, symbol->rank, int);
    int *all = LE_NEW_ARRAY(ir->arena, st->all_count + symbol->rank, int);
    if (st->all_count)
        memcpy(all, st->all, (size_t)st->all_count * sizeof *all);
    for (int d = 0; d < symbol->rank; d++) {
        struct le_range_nodes range = {.low = le_node_i64(ir, 0), .high = le_node_len(ir, symbol->id, d)};
        *LE_PUSH(ir->arena, &ir->indices) =
            (struct le_ir_index){.name = "w", .explicit_range = true, .range = range, .location = symbol->location};
        all[st->all_count + d] = indices[d] = ir->indices.count - 1;
        subscripts[d] = le_node_index(ir, indices[d]);
    }
    st->all = all;
    st->all_count += symbol->rank;
    return indices;
}

/* Adds a stage that converts source to `type`, element by element. Returns the new value. */
int le_lower_convert(struct lower *l, const struct le_symbol *symbol, int source, enum le_type type) {
    struct le_ir *ir = l->ir;
    struct le_node **left = LE_NEW_ARRAY(ir->arena, symbol->rank, struct le_node *);
    int *indices = whole_axes(l, symbol, left);
    struct le_node load = {.kind = LE_NODE_LOAD,
                           .type = le_type_compute(ir->values.at[source].type),
                           .value = source,
                           .operands = left,
                           .operand_count = symbol->rank,
                           .access = -1,
                           .trusted = true};
    struct le_stage *s = le_lower_stage(l, LE_STAGE_MAP, symbol);
    ir->values.at[s->target].type = type;
    s->indices = indices;
    s->index_count = s->left_count = symbol->rank;
    s->left = left;
    s->node = le_lower_stored(l, le_node_make(ir, &load), type);
    return s->target;
}

/* Whether the updates of one element may be reduced first. This matters for an index that the subscripts name but do
 * not depend on, as in h[true ? j : i]. */
static bool may_reduce(enum le_assign op) {
    return op == LE_ASSIGN_ADD || op == LE_ASSIGN_MUL || op == LE_ASSIGN_MIN || op == LE_ASSIGN_MAX;
}

void le_lower_array(struct lower *l, const struct le_step *step, struct le_node **left, struct le_node *term,
                    const int *all, int count) {
    struct le_ir *ir = l->ir;
    const struct le_symbol *symbol = step->symbol;
    enum le_type type = le_type_strong(symbol->type);
    int base = step->is_new ? -1 : l->current[symbol->id], left_count = step->left->child_count;
    int *kept = LE_NEW_ARRAY(ir->arena, count, int), *reduced = LE_NEW_ARRAY(ir->arena, count, int);
    int kept_count = split_indices(left, left_count, all, count, kept, reduced);
    int access = le_names_get(&l->accesses, (const char *)&step->left, sizeof step->left);
    bool map = (kept_count == count || may_reduce(step->op)) &&
               le_lower_injective(left, left_count, kept, kept_count) &&
               !kept_depends_on_reduced(ir, kept, kept_count, reduced, count - kept_count);
    if (map && step->op != LE_ASSIGN_SET) {
        struct le_node old = {.kind = LE_NODE_LOAD,
                              .type = le_type_compute(type),
                              .value = base,
                              .operands = left,
                              .operand_count = left_count,
                              .access = access,
                              .trusted = le_lower_is_bare(l, step->left, left)};
        term = le_lower_updated(l, step, le_node_make(ir, &old), term, reduced, count - kept_count);
    }
    enum le_type wide = step->op == LE_ASSIGN_SET ? type : le_type_compute(le_type_strong(step->update));
    bool widened = !map && le_lower_needs_wide(step->op, type, wide);
    if (widened)
        base = le_lower_convert(l, symbol, base, wide);
    struct le_stage *s = le_lower_stage(l, map ? LE_STAGE_MAP : LE_STAGE_SCATTER, symbol);
    s->base = base;
    s->left = left;
    s->left_count = left_count;
    s->indices = map ? kept : (int *)(uintptr_t)all;
    s->index_count = map ? kept_count : count;
    s->node = le_lower_stored(l, term, widened ? wide : type);
    if (widened)
        ir->values.at[s->target].type = wide;
    s->scatter = map ? LE_SCATTER_SET : (enum le_scatter)step->op;
    s->access = access;
    l->current[symbol->id] = widened ? le_lower_convert(l, symbol, s->target, type) : s->target;
    struct le_ir_statement *st = &ir->statements.at[l->statement];
    st->left = left;
    st->left_count = left_count;
}
