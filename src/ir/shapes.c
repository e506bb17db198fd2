/* The shape of the array that a statement makes or declares, once the ranges of its indices are known, and the check
 * that declared sizes agree with the arrays that are bound. */
#include "ir/infer.h"

static leat_status set_shape(struct le_infer *in, int64_t *extents, int rank) {
    int symbol = in->st->symbol;
    int64_t elements = 1;
    for (int d = 0; d < rank; d++) {
        if (extents[d] < 0)
            return le_fail_at(LEAT_MISMATCH, in->st->location, NULL, "%s axis %d: the size %lld is negative",
                              in->space->ir->tree->symbols[symbol]->name, d, (long long)extents[d]);
        if (!le_mul_i64(elements, extents[d] ? extents[d] : 1, &elements) || elements > INT64_MAX / 64)
            return le_fail_at(LEAT_OUT_OF_MEMORY, in->st->location, NULL, "'%s' is too large for any memory",
                              in->space->ir->tree->symbols[symbol]->name);
        in->space->shape[symbol][d] = extents[d];
    }
    in->space->shaped[symbol] = true;
    return LEAT_OK;
}

static leat_status new_shape(struct le_infer *in) {
    int64_t extents[LEAT_RANK_MAX];
    for (int d = 0; d < in->st->left_count; d++) {
        int index = in->st->left[d]->index;
        const struct le_range *r = &in->space->ranges[index];
        if (r->dynamic || r->low != 0 || r->by != 1)
            return le_fail_at(LEAT_PROGRAM, in->st->location, "declare its shape first",
                              "'%s' is new, so index '%s' must start at 0 with step 1%s",
                              le_infer_symbol_name(in, in->st->symbol), le_infer_index_name(in, index),
                              r->dynamic ? ", and end at the same value for every element" : "");
        extents[d] = r->high < 0 ? 0 : r->high;
    }
    return set_shape(in, extents, in->st->left_count);
}

static leat_status declared_shape(struct le_infer *in) {
    int64_t extents[LEAT_RANK_MAX];
    for (int d = 0; d < in->st->size_count; d++) {
        bool known = le_bound_value(in, in->st->sizes[d], &extents[d]);
        if (in->space->failure != LEAT_OK)
            return in->space->failure;
        if (!known)
            return le_fail_at(LEAT_PROGRAM, in->st->location, "compute it from numbers, inputs and extents",
                              "%s axis %d: the size is not known here", le_infer_symbol_name(in, in->st->symbol), d);
    }
    return in->st->size_count ? set_shape(in, extents, in->st->size_count) : LEAT_OK;
}

/* The declared size, as "n is 3 (x axis 0)". */
static const char *size_text(struct le_infer *in, int64_t size) {
    const struct le_node *value = in->st->value;
    int symbol = in->st->symbol;
    for (int k = 0; symbol < 0 && k < in->space->ir->tree->symbol_count; k++)
        if (in->space->ir->fixed[k] == value)
            symbol = k;
    if (symbol < 0 && value->kind == LE_NODE_LOAD && value->operand_count == 0)
        symbol = in->space->ir->values.at[value->value].symbol;
    const char *name = symbol >= 0 ? le_infer_symbol_name(in, symbol) : "the declared size";
    if (value->kind == LE_NODE_LEN)
        return le_arena_format(in->arena, "%s is %lld (%s axis %d)", name, (long long)size,
                               le_infer_symbol_name(in, value->symbol), value->axis);
    return le_arena_format(in->arena, "%s is %lld", name, (long long)size);
}

static leat_status agree(struct le_infer *in) {
    struct le_affine f;
    const char *name = le_infer_symbol_name(in, in->st->array);
    int64_t extent = in->space->shape[in->st->array][in->st->axis];
    if (!in->st->value)
        return LEAT_OK;
    bool known = le_affine_of(in->space, in->st->value, &f) && f.count == 0;
    if (in->space->failure != LEAT_OK)
        return in->space->failure;
    if (!known)
        return le_fail_at(LEAT_PROGRAM, in->st->location, NULL, "%s axis %d: the declared size is not known here", name,
                          in->st->axis);
    if (f.constant == extent)
        return LEAT_OK;
    return le_fail_at(LEAT_MISMATCH, in->st->location, NULL, "%s axis %d is %lld, but %s", name, in->st->axis,
                      (long long)extent, size_text(in, f.constant));
}

leat_status le_find_shape(struct le_infer *in) {
    const struct le_ir_statement *st = in->st;
    if (st->kind == LE_STEP_NEW)
        return declared_shape(in);
    if (st->kind == LE_STEP_BIND || st->kind == LE_STEP_AGREE)
        return agree(in);
    if (st->kind == LE_STEP_ASSIGN && st->is_new && st->left_count)
        return new_shape(in);
    return LEAT_OK;
}
