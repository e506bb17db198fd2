/* The bounds check: an access whose subscripts are known before its statement runs must be inside its array. */
#include "ir/infer.h"

/* The index has no values; inside a block: in no iteration. */
static bool is_empty(struct le_infer *in, int index) {
    const struct le_range *r = &in->space->ranges[index];
    return r->solved && (!r->dynamic || (r->bounded && in->space->inside)) && r->low >= r->high;
}

static bool reads_nothing(struct le_infer *in, const struct le_form *form) {
    for (int k = 0; k < form->access->around_count; k++)
        if (is_empty(in, form->access->around[k]))
            return true;
    for (int k = 0; k < form->f.count; k++)
        if (is_empty(in, form->f.index[k]))
            return true;
    for (int k = 0; k < in->st->free_count; k++)
        if (is_empty(in, in->st->free[k]))
            return true;
    return false;
}

/* The range depends on another index, so it may be empty for some of that index's values. */
static bool has_dynamic_range(struct le_infer *in, int index) {
    return in->space->ranges[index].dynamic;
}

/* The range depends on another index, or on data that a block may change between its iterations. */
static bool is_varying(struct le_infer *in, int index) {
    const struct le_range_nodes *r = &in->space->ir->indices.at[index].range;
    return has_dynamic_range(in, index) || (r->low && le_is_computed(in, r->low)) ||
           (r->high && le_is_computed(in, r->high));
}

/* An access in a range that is empty at some points is performed at the others only. */
static bool may_be_skipped(struct le_infer *in, const struct le_form *form) {
    bool in_block = in->st->kind == LE_STEP_EACH || le_form_has_host(in, form);
    bool (*skips)(struct le_infer *, int) = in_block ? is_varying : has_dynamic_range;
    for (int k = 0; k < form->access->around_count; k++)
        if (skips(in, form->access->around[k]))
            return true;
    for (int k = 0; k < in->st->free_count; k++)
        if (skips(in, in->st->free[k]))
            return true;
    return false;
}

/* A statement that a loop may skip does not run for all values of the loop's index. */
static bool is_checked_now(struct le_infer *in, const struct le_form *form) {
    if (!form->affine || form->moving || form->stretched || form->access->guarded || form->access->has_edge)
        return false;
    if (in->st->conditional && !in->now && le_form_has_host(in, form))
        return false;
    if ((in->st->has_else && !form->access->left) || may_be_skipped(in, form))
        return false;
    for (int k = 0; k < form->f.count; k++) {
        const struct le_range *r = &in->space->ranges[form->f.index[k]];
        if (!r->solved || r->dynamic)
            return false;
    }
    return !reads_nothing(in, form);
}

bool le_is_never_reached(struct le_infer *in) {
    int64_t low, high;
    if (in->st->loop < 0)
        return false;
    const struct le_range_nodes *r = &in->space->ir->indices.at[in->st->loop].range;
    bool now = in->now;
    bool known = r->low && le_bound_value(in, r->low, &low) && le_bound_value(in, r->high, &high);
    in->now = now;
    return known && low >= high;
}

static leat_status fail_outside(struct le_infer *in, const struct le_form *form, __int128 low, __int128 high) {
    const char *name = in->space->ir->tree->symbols[form->access->symbol]->name;
    bool left = form->access->left;
    return le_fail_at(LEAT_MISMATCH, form->access->location,
                      le_outside_advice(in->arena, name, form->axis, high < 0, left),
                      "%s%s axis %d (length %lld): subscript %s", left ? "write to " : "", name, form->axis,
                      (long long)form->length, le_subscript_text(in->arena, low, high));
}

leat_status le_check_accesses(struct le_infer *in) {
    for (int k = 0; k < in->forms.count; k++) {
        const struct le_form *form = &in->forms.at[k];
        if (!is_checked_now(in, form))
            continue;
        __int128 lo, hi;
        le_form_ends(in, form, -1, &lo, &hi);
        if (lo < 0 || hi >= form->length)
            return fail_outside(in, form, lo, hi);
    }
    return LEAT_OK;
}
