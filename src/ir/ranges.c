/* The range rules. The first rule that applies to an index gives it its range:
 *
 *   1. an explicit range                      2. bare X[..i..]: that axis
 *   3. only i+c: the whole axis               4. strides, windows: the largest range that stays inside, in rounds
 *   5. otherwise an error
 *
 * In subscripts, an index with a dependent range (its bounds use another index) is replaced by each of its two bounds.
 * Such a *tied* subscript bounds the other index by rule 2 only if no subscript is that bare index itself. A subscript
 * under a condition (?:, && or ||) bounds an index by rules 3 and 4 only if nothing else does. */
#include "ir/infer.h"

static struct le_range *range_of(struct le_infer *in, int index) {
    return &in->space->ranges[index];
}
const char *le_infer_index_name(struct le_infer *in, int index) {
    const struct le_ir_index *ix = &in->space->ir->indices.at[index];
    return ix->from_dots ? "..." : ix->name;
}

const char *le_infer_symbol_name(struct le_infer *in, int symbol) {
    return in->space->ir->tree->symbols[symbol]->name;
}

static bool is_free(const struct le_infer *in, int index) {
    for (int k = 0; k < in->st->free_count; k++)
        if (in->st->free[k] == index)
            return true;
    return false;
}

static enum le_index_use use_of(const struct le_infer *in, int index) {
    if (!is_free(in, index))
        return LE_INDEX_OF_REDUCTION;
    return in->st->kind == LE_STEP_EACH ? LE_INDEX_OF_EACH : LE_INDEX_OF_STATEMENT;
}

/* ---- rule 1 */

static bool is_index(int64_t value) {
    return value >= -LE_INDEX_MAX && value <= LE_INDEX_MAX;
}

static leat_status too_far(struct le_infer *in, int index) {
    return le_fail_at(LEAT_PROGRAM, in->space->ir->indices.at[index].location, LE_FAR_ADVICE,
                      "the range of index '%s' is too large", le_infer_index_name(in, index));
}

static bool is_host(struct le_infer *in, int index) {
    return in->space->ir->indices.at[index].host;
}

static bool host_value(struct le_infer *in, int index, int64_t *value) {
    in->now = true;
    return in->space->evaluate(in->space->user, le_node_index(in->space->ir, index), value) == LEAT_OK;
}

static bool depends_on_hosts(struct le_infer *in, const struct le_node *node, bool hosts) {
    for (int k = 0; k < node->free_count; k++)
        if (is_host(in, node->free[k]) == hosts)
            return true;
    return false;
}

/* The value of a node, for the current values of host indices. */
bool le_bound_value(struct le_infer *in, struct le_node *node, int64_t *value) {
    struct le_affine f;
    in->now |= node->free_count > 0;
    if (!le_affine_of(in->space, node, &f))
        return node->free_count > 0 && !depends_on_hosts(in, node, false) && !node->reduces && !node->changes &&
               in->space->evaluate(in->space->user, node, value) == LEAT_OK;
    __int128 sum = f.constant;
    for (int k = 0; k < f.count; k++) {
        int64_t at;
        if (!is_host(in, f.index[k]) || !host_value(in, f.index[k], &at))
            return false;
        sum += (__int128)f.factor[k] * at;
    }
    *value = (int64_t)sum;
    return sum >= INT64_MIN && sum <= INT64_MAX;
}

/* Evaluates the numbers that the range of an index needs, so that a failure is reported. */
static void require_numbers(struct le_infer *in, int index) {
    const struct le_range_nodes *r = &in->space->ir->indices.at[index].range;
    struct le_node *bounds[] = {r->low, r->high, r->by};
    int64_t value;
    in->space->must = true;
    for (size_t k = 0; k < ARRAY_LEN(bounds); k++)
        if (bounds[k] && in->space->failure == LEAT_OK)
            le_bound_value(in, bounds[k], &value);
    for (int k = 0; k < in->forms.count && in->space->failure == LEAT_OK; k++) {
        struct le_form *form = &in->forms.at[k];
        le_affine_of(in->space, form->access->subscripts[form->axis], &form->f);
    }
    in->space->must = false;
}

static leat_status no_range(struct le_infer *in, int index) {
    const char *name = le_infer_index_name(in, index);
    if (in->space->outside)
        require_numbers(in, index);
    if (in->space->failure != LEAT_OK)
        return in->space->failure;
    return le_fail_at(LEAT_PROGRAM, in->space->ir->indices.at[index].location,
                      le_range_advice(in->arena, name, use_of(in, index)), "index '%s' has no range", name);
}

/* Bounds the values of a dependent range, if possible: low..high becomes the hull of all its ranges. */
static void bound_dynamic(struct le_infer *in, int index) {
    const struct le_range_nodes *r = &in->space->ir->indices.at[index].range;
    struct le_range *out = range_of(in, index);
    int64_t low, high, unused;
    out->bounded = le_interval(in->space, r->low, &low, &unused) && le_interval(in->space, r->high, &unused, &high) &&
                   is_index(low) && is_index(high);
    out->low = out->bounded ? low : 0;
    out->high = out->bounded ? high : 0;
}

/* Whether the index is an axis of a new array, whose extent must be known before the statement runs. */
static bool is_extent(struct le_infer *in, int index) {
    for (int d = 0; in->st->is_new && d < in->st->left_count; d++)
        if (in->st->left[d]->index == index)
            return true;
    return false;
}

/* Whether the bounds are evaluated while the statement runs. */
static bool is_dynamic(struct le_infer *in, int index) {
    const struct le_ir_index *ix = &in->space->ir->indices.at[index];
    bool by_hosts = false;
    if (ix->host && (le_is_made_first(in->space->ir, ix->range.low) || le_is_made_first(in->space->ir, ix->range.high)))
        return true;
    const struct le_node *ends[] = {ix->range.low, ix->range.high};
    for (int k = 0; k < 2; k++) {
        if (ends[k]->changes || depends_on_hosts(in, ends[k], false))
            return true;
        by_hosts |= depends_on_hosts(in, ends[k], true);
    }
    return by_hosts ? !is_extent(in, index) : ix->depends;
}

/* The data have no number for a part of the range. That is an error only where the statement reads it. */
static leat_status evaluate_as_it_runs(struct le_infer *in, int index, int64_t by) {
    if (!in->space->outside || in->space->failure != LEAT_OK || is_extent(in, index))
        return no_range(in, index);
    *range_of(in, index) = (struct le_range){.by = by, .dynamic = true, .solved = true};
    return LEAT_OK;
}

static leat_status rule_explicit(struct le_infer *in, int index) {
    const struct le_ir_index *ix = &in->space->ir->indices.at[index];
    struct le_range *out = range_of(in, index);
    *out = (struct le_range){.by = 1};
    in->space->outside = false;
    if (!ix->explicit_range)
        return LEAT_OK;
    const struct le_node *by = ix->range.by;
    bool by_moves =
        by && (by->free_count || by->reduces || by->changes ||
               (ix->host && le_is_made_first(in->space->ir, ix->range.by))); /* evaluated while the statement runs */
    if (by && !by_moves && !le_bound_value(in, ix->range.by, &out->by))
        return evaluate_as_it_runs(in, index, 1);
    if (out->by <= 0 && ix->stepped)
        return le_fail_at(LEAT_PROGRAM, ix->location, LE_LOOP_STEP_ADVICE, "`by` must not be zero");
    if (out->by <= 0)
        return le_fail_at(LEAT_PROGRAM, ix->location, LE_STEP_ADVICE, "index '%s': `by` must be positive",
                          le_infer_index_name(in, index));
    if (!is_index(out->by))
        return too_far(in, index);
    if (is_dynamic(in, index)) {
        out->dynamic = out->solved = true;
        return LEAT_OK;
    }
    bool known = le_bound_value(in, ix->range.low, &out->low) && le_bound_value(in, ix->range.high, &out->high);
    if (!known)
        return evaluate_as_it_runs(in, index, out->by);
    if (!is_index(out->low) || !is_index(out->high))
        return too_far(in, index);
    out->solved = true;
    return LEAT_OK;
}

struct inner_indices {
    struct le_infer *in;
    leat_status status;
};

static void solve_inner_indices(struct le_node *node, void *user) {
    struct inner_indices *inner = user;
    for (int k = 0; k < node->index_count && inner->status == LEAT_OK; k++)
        inner->status = rule_explicit(inner->in, node->indices[k]);
}

/* Bounds are evaluated with the ranges of the loops and reductions inside them, so these are found first. */
static leat_status rule_explicit_inside_out(struct le_infer *in, int index) {
    const struct le_range_nodes *r = &in->space->ir->indices.at[index].range;
    struct le_node *const bounds[] = {r->low, r->high, r->by};
    struct inner_indices inner = {.in = in, .status = LEAT_OK};
    for (int k = 0; k < 3; k++)
        if (bounds[k])
            le_node_walk(in->space->ir, bounds[k], solve_inner_indices, &inner);
    return inner.status == LEAT_OK ? rule_explicit(in, index) : inner.status;
}

/* ---- forms */

struct computed {
    const struct le_ir *ir;
    bool found;
};

static void find_computed(struct le_node *node, void *user) {
    struct computed *c = user;
    c->found |= node->kind == LE_NODE_LOAD && c->ir->values.at[node->value].stage >= 0;
}

bool le_is_computed(struct le_infer *in, struct le_node *subscript) {
    struct computed c = {.ir = in->space->ir};
    if (in->space->inside && !depends_on_hosts(in, subscript, false))
        le_node_walk(in->space->ir, subscript, find_computed, &c);
    return c.found;
}

/* An element's private values are constant while one of its reductions runs, so there they are part of the constant. */
static bool is_affine(struct le_infer *in, struct le_node *subscript, struct le_form *out) {
    if (le_is_computed(in, subscript) || !le_affine_moving(in->space, subscript, &out->f, &out->moving))
        return false;
    for (int k = 0; k < out->f.count && out->moving; k++)
        if (is_free(in, out->f.index[k]))
            return false;
    return true;
}

static void collect_forms(struct le_infer *in) {
    for (int k = 0; k < in->st->access_count; k++) {
        const struct le_ir_access *a = &in->space->ir->accesses.at[in->st->first_access + k];
        if (!in->space->shaped[a->symbol])
            continue; /* the left side of a new array */
        for (int d = 0; d < a->rank; d++) {
            struct le_form *out = LE_PUSH(in->arena, &in->forms);
            out->access = a;
            out->axis = d;
            out->length = in->space->shape[a->symbol][d];
            out->stretched = d < a->stretch && out->length == 1;
            out->affine = is_affine(in, a->subscripts[d], out);
        }
    }
}

static bool substitute_end(struct le_infer *in, const struct le_affine *f, int term, struct le_node *end,
                           int64_t offset, struct le_affine *out) {
    struct le_affine g;
    if (!le_affine_of(in->space, end, &g))
        return false;
    __int128 c = (__int128)f->factor[term] * (g.constant + (__int128)offset) + f->constant;
    if (c < INT64_MIN || c > INT64_MAX)
        return false;
    *out = (struct le_affine){.constant = (int64_t)c};
    for (int pass = 0; pass < 2; pass++) {
        const struct le_affine *from = pass ? &g : f;
        for (int k = 0; k < from->count; k++) {
            if (!pass && k == term)
                continue;
            int64_t factor = from->factor[k];
            if (pass && !le_mul_i64(factor, f->factor[term], &factor))
                return false;
            int q = 0;
            while (q < out->count && out->index[q] != from->index[k])
                q++;
            if (q == LE_AFFINE_MAX)
                return false;
            if (q == out->count)
                out->index[out->count++] = from->index[k], out->factor[q] = 0;
            if (!le_add_i64(out->factor[q], factor, &out->factor[q]))
                return false;
            if (out->factor[q] < -LE_FACTOR_MAX || out->factor[q] > LE_FACTOR_MAX)
                return false;
            if (out->factor[q] == 0)
                out->index[q] = out->index[--out->count], out->factor[q] = out->factor[out->count];
        }
    }
    return true;
}

/* Adds the form with each dependent index replaced by its two bounds. */
static void count_form(struct le_infer *in, const struct le_form *form, int depth) {
    for (int k = 0; k < form->f.count; k++) {
        if (!range_of(in, form->f.index[k])->dynamic || depth > 8)
            continue;
        const struct le_range_nodes *r = &in->space->ir->indices.at[form->f.index[k]].range;
        struct le_form end = *form;
        end.tied = true;
        end.window |= !depends_on_hosts(in, r->low, false) && !depends_on_hosts(in, r->high, false);
        if (substitute_end(in, &form->f, k, r->low, 0, &end.f))
            count_form(in, &end, depth + 1);
        if (substitute_end(in, &form->f, k, r->high, -1, &end.f))
            count_form(in, &end, depth + 1);
        return;
    }
    *LE_PUSH(in->arena, &in->counted) = *form;
}

/* ---- rules 2 and 3 */

static int term_of(const struct le_affine *f, int index) {
    for (int k = 0; k < f->count; k++)
        if (f->index[k] == index)
            return k;
    return -1;
}

/* i+c; host indices are constant while the statement runs. */
static bool is_offset(struct le_infer *in, const struct le_form *form, int index) {
    for (int k = 0; k < form->f.count; k++)
        if (form->f.index[k] == index ? form->f.factor[k] != 1 : !is_host(in, form->f.index[k]))
            return false;
    return term_of(&form->f, index) >= 0;
}

static bool is_bare(struct le_infer *in, const struct le_form *form, int index) {
    return form->access->bare >> form->axis & 1 && is_offset(in, form, index) && form->f.count == 1 &&
           form->f.constant == 0 && !form->moving;
}

static bool is_written_bare(struct le_infer *in, const struct le_form *form, int index) {
    return is_bare(in, form, index) && !form->tied;
}

/* Whether the index appears only under conditions. */
static bool is_conditional(struct le_infer *in, int index) {
    for (int k = 0; k < in->counted.count; k++)
        if (term_of(&in->counted.at[k].f, index) >= 0 && !in->counted.at[k].access->under_condition)
            return false;
    return true;
}

/* Whether rule 3 applies: all subscripts that count are offsets of the index. */
static bool has_only_offsets(struct le_infer *in, int index) {
    bool conditional = is_conditional(in, index);
    for (int k = 0; k < in->counted.count; k++) {
        const struct le_form *c = &in->counted.at[k];
        if (term_of(&c->f, index) >= 0 && (conditional || !c->access->under_condition) &&
            (c->window || !is_offset(in, c, index)))
            return false;
    }
    return true;
}

static bool is_counted_offset(struct le_infer *in, const struct le_form *form, int index) {
    return is_offset(in, form, index) && (!form->access->under_condition || is_conditional(in, index));
}

static leat_status extents_differ(struct le_infer *in, int index, const struct le_form *a, const struct le_form *b) {
    return le_fail_at(LEAT_MISMATCH, b->access->location, le_extents_advice(in->arena, le_infer_index_name(in, index)),
                      "index '%s': the extents differ: %s axis %d has %lld, %s axis %d has %lld",
                      le_infer_index_name(in, index), le_infer_symbol_name(in, a->access->symbol), a->axis,
                      (long long)a->length, le_infer_symbol_name(in, b->access->symbol), b->axis, (long long)b->length);
}

typedef bool applies(struct le_infer *in, const struct le_form *form, int index);

/* The index runs over the axis of every form to which the rule applies. */
static leat_status take_axis(struct le_infer *in, int index, applies *rule) {
    const struct le_form *first = NULL;
    for (int k = 0; k < in->counted.count; k++) {
        const struct le_form *c = &in->counted.at[k];
        if (!rule(in, c, index))
            continue;
        if (first && first->length != c->length)
            return extents_differ(in, index, first, c);
        first = first ? first : c;
    }
    if (first)
        *range_of(in, index) = (struct le_range){.high = first->length, .by = 1, .solved = true};
    return LEAT_OK;
}

/* An index of `...` that broadcasts in every array. */
static void take_stretched(struct le_infer *in, int index) {
    for (int k = 0; k < in->forms.count && in->space->ir->indices.at[index].from_dots; k++) {
        const struct le_form *c = &in->forms.at[k];
        if (c->stretched && c->affine && is_bare(in, c, index))
            *range_of(in, index) = (struct le_range){.high = 1, .by = 1, .solved = true};
    }
}

static leat_status rule_axis(struct le_infer *in, int index) {
    applies *const rules[] = {is_written_bare, is_bare, is_counted_offset};
    for (size_t k = 0; k < ARRAY_LEN(rules); k++) {
        if (rules[k] == is_counted_offset && !has_only_offsets(in, index))
            return LEAT_OK;
        leat_status status = take_axis(in, index, rules[k]);
        if (status != LEAT_OK || range_of(in, index)->solved)
            return status;
    }
    take_stretched(in, index);
    return LEAT_OK;
}

/* ---- rule 4 */

static int64_t floor_div(__int128 a, __int128 b) {
    __int128 q = a / b;
    if (a % b != 0 && (a < 0) != (b < 0))
        q--;
    return q < -LE_INDEX_MAX ? -LE_INDEX_MAX : q > LE_INDEX_MAX ? LE_INDEX_MAX : (int64_t)q;
}

/* The term of the only index without a range; -1 if there are none or several, or an index has a dependent range. */
static int lone_index(struct le_infer *in, const struct le_form *form) {
    int found = -1;
    for (int k = 0; k < form->f.count && !form->moving; k++) {
        const struct le_range *r = range_of(in, form->f.index[k]);
        if (is_host(in, form->f.index[k]))
            continue;
        if (r->dynamic)
            return -1;
        if (r->solved)
            continue;
        if (found >= 0)
            return -1;
        found = k;
    }
    return found;
}

void le_form_ends(struct le_infer *in, const struct le_form *form, int without, __int128 *low, __int128 *high) {
    *low = *high = form->f.constant;
    for (int k = 0; k < form->f.count; k++) {
        if (k == without)
            continue;
        const struct le_range *r = range_of(in, form->f.index[k]);
        int64_t ends[2] = {r->low, 0};
        if (in->now && is_host(in, form->f.index[k]))
            ends[1] = host_value(in, form->f.index[k], &ends[0]) ? ends[0] : 0;
        else
            ends[1] = le_range_last(r);
        __int128 a = (__int128)form->f.factor[k] * ends[0], b = (__int128)form->f.factor[k] * ends[1];
        *low += a < b ? a : b;
        *high += a < b ? b : a;
    }
}

bool le_form_has_host(struct le_infer *in, const struct le_form *form) {
    for (int k = 0; k < form->f.count; k++)
        if (is_host(in, form->f.index[k]))
            return true;
    return false;
}

static void solve_form(struct le_infer *in, const struct le_form *form, int term, int64_t *low, int64_t *high) {
    __int128 lo, hi;
    int64_t c = form->f.factor[term], n = form->length;
    in->now |= le_form_has_host(in, form);
    le_form_ends(in, form, term, &lo, &hi);
    bool spans = c == 1 && (form->access->has_edge || (in->st->has_else && !form->access->left));
    *low = spans ? 0 : c > 0 ? -floor_div(lo, c) : -floor_div((__int128)n - 1 - hi, -(__int128)c);
    *high = spans ? n : c > 0 ? floor_div((__int128)n - 1 - hi, c) + 1 : floor_div(lo, -(__int128)c) + 1;
}

/* Solves each index that is the only one without a range in some subscript. Subscripts under a condition count only if
 * `conditions` is set. */
static bool rule_round(struct le_infer *in, bool conditions) {
    int solved[LE_AFFINE_MAX * 4], count = 0;
    struct le_range found[LE_AFFINE_MAX * 4];
    for (int k = 0; k < in->counted.count; k++) {
        const struct le_form *form = &in->counted.at[k];
        int term = lone_index(in, form), q = 0;
        if (term < 0 || (form->access->under_condition && !conditions))
            continue;
        int64_t low, high;
        solve_form(in, form, term, &low, &high);
        while (q < count && solved[q] != form->f.index[term])
            q++;
        if (q == LE_AFFINE_MAX * 4)
            continue;
        if (q == count) {
            solved[count++] = form->f.index[term];
            found[q] = (struct le_range){.low = low, .high = high, .by = 1, .solved = true};
        }
        if (low > found[q].low)
            found[q].low = low;
        if (high < found[q].high)
            found[q].high = high;
    }
    for (int q = 0; q < count; q++)
        *range_of(in, solved[q]) = found[q];
    return count > 0;
}

/* ---- a statement */

static leat_status infer(struct le_infer *in) {
    const struct le_ir_statement *st = in->st;
    leat_status status = LEAT_OK;
    if (le_is_never_reached(in)) {
        for (int k = 0; k < st->all_count; k++)
            *range_of(in, st->all[k]) = (struct le_range){.by = 1, .solved = true};
        return LEAT_OK;
    }
    for (int k = 0; k < st->all_count && status == LEAT_OK; k++)
        status = rule_explicit_inside_out(in, st->all[k]);
    if (status != LEAT_OK)
        return status;
    collect_forms(in);
    for (int k = 0; k < in->forms.count; k++)
        if (in->forms.at[k].affine && !in->forms.at[k].stretched)
            count_form(in, &in->forms.at[k], 0);
    for (int k = 0; k < st->all_count && status == LEAT_OK; k++)
        if (!range_of(in, st->all[k])->solved)
            status = rule_axis(in, st->all[k]);
    if (status != LEAT_OK)
        return status;
    while (rule_round(in, false) || rule_round(in, true))
        continue;
    for (int k = 0; k < st->all_count; k++)
        if (!range_of(in, st->all[k])->solved)
            return no_range(in, st->all[k]);
    for (int pass = 0; pass < 4; pass++)
        for (int k = 0; k < st->all_count; k++)
            if (range_of(in, st->all[k])->dynamic && !range_of(in, st->all[k])->bounded)
                bound_dynamic(in, st->all[k]);
    return le_check_accesses(in);
}

leat_status le_ranges_find(struct le_space *space, const struct le_ir_statement *statement) {
    struct le_infer in = {.space = space, .st = statement, .arena = space->arena};
    space->must = false;
    leat_status status = infer(&in);
    if (space->failure != LEAT_OK)
        return space->failure;
    if (status != LEAT_OK)
        return status;
    space->must = true;
    status = le_find_shape(&in);
    space->must = false;
    return status;
}

/* ---- two indices */

/* Rule 2 applies to the index because of this access. */
static bool runs_along(const struct le_ir_access *a, int d, int index) {
    return a->bare >> d & 1 && d >= a->stretch && !a->under_condition && !a->has_edge && !a->left &&
           a->subscripts[d]->kind == LE_NODE_INDEX && a->subscripts[d]->index == index;
}

bool le_ranges_are_same(const struct le_ir *ir, int statement, int first, int second) {
    if (statement < 0 || ir->indices.at[first].explicit_range || ir->indices.at[second].explicit_range)
        return false;
    const struct le_ir_statement *st = &ir->statements.at[statement];
    const struct le_ir_access *all = &ir->accesses.at[st->first_access];
    for (int a = 0; a < st->access_count; a++)
        for (int d = 0; d < all[a].rank; d++)
            for (int b = 0; b < st->access_count && runs_along(&all[a], d, first); b++)
                if (all[b].symbol == all[a].symbol && d < all[b].rank && runs_along(&all[b], d, second))
                    return true;
    return false;
}
