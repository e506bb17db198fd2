/* The range of each index, by the first rule that applies:
 *   1. its own range
 *   2. a bare subscript; if there is none, the ends of another index's range
 *   3. only offsets i+c: the whole axis
 *   4. strides, reversals and windows: the largest range that keeps them inside, found in rounds
 * Offsets, strides and windows under a condition count only if nothing else bounds the index. */
#include "oracle.h"
#include <string.h>

enum { TERMS_MAX = 6, FORMS_MAX = 160 };

/* constant + factors times indices */
struct affine {
    int64_t constant;
    struct index *index[TERMS_MAX];
    int64_t factor[TERMS_MAX];
    int count;
    bool has_host_index,
        has_value; /* the constant contains the index of a host's loop; a scalar, an element or an extent */
};

/* One subscript of one access. is_end: an index with a range that depends on others was replaced by one of its ends. */
struct form {
    const struct access *access;
    int64_t extent;
    struct affine f;
    bool is_end;
    bool is_index; /* the subscript is written as an index alone */
};

struct inference {
    struct oracle *oracle;
    const struct range_question *question;
    const struct range_context *ranges;
    struct form forms[FORMS_MAX], counted[FORMS_MAX];
    int form_count, counted_count;
};

/* ---- affine subscripts */

static bool is_free(const struct range_context *ranges, const struct index *index) {
    for (int k = 0; k < ranges->index_count; k++)
        if (ranges->indices[k] == index)
            return true;
    return false;
}

static bool has_free(const struct range_context *ranges, const struct expression *e) {
    bool found = e->kind == INDEX && is_free(ranges, e->index);
    for (int k = 0; k < e->count; k++)
        found |= has_free(ranges, e->x[k]);
    return found;
}

/* Whether it has a value before the statement runs. */
static bool is_known(const struct inference *in, const struct expression *e) {
    if (e->kind == REDUCTION || e->kind == CALL || (e->kind == INDEX && !e->index->is_active) ||
        (in->question->is_restricted && e->kind != NUMBER && e->kind != UNARY && e->kind != BINARY))
        return false;
    for (int k = 0; k < e->count; k++)
        if (!is_known(in, e->x[k]))
            return false;
    return true;
}

static bool combine(struct affine *a, const struct affine *b, int64_t factor) {
    a->constant += factor * b->constant;
    a->has_host_index |= b->has_host_index;
    a->has_value |= b->has_value;
    for (int k = 0; k < b->count; k++) {
        int q = 0;
        while (q < a->count && a->index[q] != b->index[k])
            q++;
        if (q == TERMS_MAX)
            return false;
        if (q == a->count) {
            a->index[a->count] = b->index[k];
            a->factor[a->count++] = 0;
        }
        a->factor[q] += factor * b->factor[k];
        if (a->factor[q] == 0) {
            a->index[q] = a->index[--a->count];
            a->factor[q] = a->factor[a->count];
        }
    }
    return true;
}

static void note_sources(const struct expression *e, struct affine *f) {
    f->has_host_index |= e->kind == INDEX;
    f->has_value |= e->kind == SCALAR || e->kind == READ || e->kind == LENGTH;
    for (int k = 0; k < e->count; k++)
        note_sources(e->x[k], f);
}

/* Gets a known value. false if it is not known: then the subscript is checked during the run. */
static bool known_value(struct inference *in, struct expression *e, struct affine *f) {
    if (!is_known(in, e))
        return false;
    f->constant = evaluate(in->oracle, e).whole;
    note_sources(e, f);
    if (in->oracle->verdict != FAILS_LATE)
        return true;
    in->oracle->verdict = RUNS;
    return false;
}

static bool find_affine(struct inference *in, struct expression *e, struct affine *f) {
    struct affine b = {0};
    *f = b;
    if (!has_free(in->ranges, e))
        return known_value(in, e, f);
    if (e->kind == INDEX) {
        f->index[0] = e->index;
        f->factor[0] = 1;
        f->count = 1;
        return true;
    }
    if (e->kind == UNARY && e->op == NEGATE)
        return find_affine(in, e->x[0], &b) && combine(f, &b, -1);
    if (e->kind != BINARY || (e->op != ADD && e->op != SUBTRACT && e->op != MULTIPLY))
        return false;
    if (!find_affine(in, e->x[0], f) || !find_affine(in, e->x[1], &b))
        return false;
    if (e->op != MULTIPLY)
        return combine(f, &b, e->op == ADD ? 1 : -1);
    if (f->count && b.count)
        return false;
    struct affine product = {0}, *terms = f->count ? f : &b;
    bool fits = combine(&product, terms, f->count ? b.constant : f->constant);
    product.has_host_index = f->has_host_index || b.has_host_index;
    product.has_value = f->has_value || b.has_value;
    *f = product;
    return fits;
}

/* ---- forms */

static struct form *add_form(struct inference *in, struct form *forms, int *count, const struct form *form) {
    if (*count == FORMS_MAX) {
        fail(in->oracle, UNSUITABLE, "too many subscripts");
        return NULL;
    }
    forms[*count] = *form;
    return &forms[(*count)++];
}

static void count_form(struct inference *in, const struct form *form);

static void count_end(struct inference *in, const struct form *form, int term, struct expression *end, int64_t offset) {
    struct form replaced = *form;
    struct affine g;
    int64_t factor = form->f.factor[term];
    if (!find_affine(in, end, &g))
        return;
    g.constant += offset;
    replaced.f.count--;
    replaced.f.index[term] = replaced.f.index[replaced.f.count];
    replaced.f.factor[term] = replaced.f.factor[replaced.f.count];
    replaced.is_end = true;
    if (combine(&replaced.f, &g, factor))
        count_form(in, &replaced);
}

static void count_form(struct inference *in, const struct form *form) {
    for (int k = 0; k < form->f.count; k++) {
        struct index *index = form->f.index[k];
        if (!index->is_dynamic || (!index->is_solved && !in->question->is_restricted))
            continue;
        count_end(in, form, k, index->low, 0);
        count_end(in, form, k, index->high, -1);
        return;
    }
    add_form(in, in->counted, &in->counted_count, form);
}

static void collect(struct inference *in) {
    for (int k = 0; k < in->ranges->access_count; k++) {
        const struct access *a = &in->ranges->accesses[k];
        for (int d = 0; d < a->symbol->rank; d++) {
            struct form form = {.access = a, .extent = a->symbol->shape[d], .is_index = a->x[d]->kind == INDEX};
            if (!find_affine(in, a->x[d], &form.f))
                continue;
            add_form(in, in->forms, &in->form_count, &form);
            count_form(in, &form);
        }
    }
}

static int term_of(const struct form *form, const struct index *index) {
    for (int k = 0; k < form->f.count; k++)
        if (form->f.index[k] == index)
            return k;
    return -1;
}

/* ---- rules 2 and 3 */

static bool is_offset(const struct form *form) {
    return form->f.count == 1 && form->f.factor[0] == 1;
}

/* A bound that comes to an index because of a scalar's value: whether it counts as bare is not settled. */
static bool is_bare(struct inference *in, const struct form *form) {
    if (!form->is_index || !is_offset(form) || form->f.constant != 0 || form->f.has_host_index)
        return false;
    if (form->f.has_value)
        fail(in->oracle, UNSUITABLE, "an offset that happens to be 0");
    return true;
}

/* The extent that all these forms have, or -1 if there are none. */
static int64_t find_extent(struct inference *in, const struct index *index, bool bare, bool end, bool guarded) {
    int64_t extent = -1;
    for (int k = 0; k < in->counted_count; k++) {
        const struct form *form = &in->counted[k];
        if (term_of(form, index) < 0 || (bare && (!is_bare(in, form) || form->is_end != end)) ||
            (!bare && form->access->is_guarded && !guarded))
            continue;
        if (extent >= 0 && form->extent != extent)
            fail(in->oracle, in->question->is_restricted && end ? UNSUITABLE : FAILS_EARLY,
                 "index %s: the extents differ", index->name);
        extent = form->extent;
    }
    return extent;
}

static bool only_offsets(const struct inference *in, const struct index *index, bool guarded) {
    int found = 0;
    for (int k = 0; k < in->counted_count; k++) {
        const struct form *form = &in->counted[k];
        if (term_of(form, index) < 0 || (form->access->is_guarded && !guarded))
            continue;
        if (!is_offset(form))
            return false;
        found++;
    }
    return found > 0;
}

static void solve_by_axis(struct inference *in, struct index *index) {
    int64_t extent = find_extent(in, index, true, false, true);
    if (extent < 0)
        extent = find_extent(in, index, true, true, true);
    for (int guarded = 0; guarded < 2 && extent < 0 && !in->question->is_restricted; guarded++)
        if (only_offsets(in, index, guarded))
            extent = find_extent(in, index, false, false, guarded);
    if (extent < 0)
        return;
    index->is_solved = true;
    index->first = 0;
    index->end = extent;
    index->step = 1;
}

/* ---- rule 4 */

static int64_t floor_of(int64_t a, int64_t b) {
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static int64_t last_of(const struct index *index) {
    return index->first + floor_of(index->end - index->first - 1, index->step) * index->step;
}

/* The smallest and largest value without the term `without`. */
static void find_ends(const struct affine *f, int without, int64_t *low, int64_t *high) {
    *low = *high = f->constant;
    for (int k = 0; k < f->count; k++) {
        if (k == without)
            continue;
        int64_t a = f->factor[k] * f->index[k]->first, b = f->factor[k] * last_of(f->index[k]);
        *low += a < b ? a : b;
        *high += a < b ? b : a;
    }
}

/* The form's only index without a range, or -1: none, several, or the range of another one depends on indices. */
static int lone_term(const struct form *form) {
    int found = -1;
    for (int k = 0; k < form->f.count; k++) {
        if (form->f.index[k]->is_dynamic)
            return -1;
        if (form->f.index[k]->is_solved)
            continue;
        if (found >= 0)
            return -1;
        found = k;
    }
    return found;
}

struct found {
    struct index *index;
    int64_t low, high;
};

static void solve_form(const struct inference *in, const struct form *form, int term, struct found *out) {
    int64_t low, high, c = form->f.factor[term], n = form->extent;
    find_ends(&form->f, term, &low, &high);
    if (c > 0) {
        out->low = -floor_of(low, c);
        out->high = floor_of(n - 1 - high, c) + 1;
    } else {
        out->low = -floor_of(n - 1 - high, -c);
        out->high = floor_of(low, -c) + 1;
    }
    if (c == 1 && (form->access->edge || (in->question->has_else && !form->access->is_left))) {
        out->low = 0;
        out->high = n;
    }
}

static bool solve_round(const struct inference *in, bool guarded) {
    struct found found[CONTEXT_INDICES_MAX];
    int count = 0;
    for (int k = 0; k < in->counted_count; k++) {
        const struct form *form = &in->counted[k];
        int term = lone_term(form), q = 0;
        if (term < 0 || (form->access->is_guarded && !guarded))
            continue;
        struct found now = {.index = form->f.index[term]};
        solve_form(in, form, term, &now);
        while (q < count && found[q].index != now.index)
            q++;
        if (q == count)
            found[count++] = now;
        if (now.low > found[q].low)
            found[q].low = now.low;
        if (now.high < found[q].high)
            found[q].high = now.high;
    }
    for (int q = 0; q < count; q++) {
        struct index *index = found[q].index;
        index->is_solved = true;
        index->first = found[q].low;
        index->end = found[q].high;
        index->step = 1;
    }
    return count > 0;
}

/* ---- checks before the run */

static bool is_empty(const struct index *index) {
    return index->is_solved && !index->is_dynamic && index->first >= index->end;
}

static bool any_empty(struct index *const *list, int count) {
    for (int k = 0; k < count; k++)
        if (is_empty(list[k]))
            return true;
    return false;
}

static bool any_dynamic(struct index *const *list, int count) {
    for (int k = 0; k < count; k++)
        if (list[k]->is_dynamic)
            return true;
    return false;
}

static void check_form(struct inference *in, const struct form *form) {
    const struct access *a = form->access;
    int64_t low, high;
    if (a->is_guarded || a->edge || (in->question->has_else && !a->is_left) || any_empty(a->loops, a->loop_count) ||
        any_empty(form->f.index, form->f.count) || any_dynamic(a->loops, a->loop_count) ||
        any_dynamic(form->f.index, form->f.count))
        return;
    for (int k = 0; k < form->f.count; k++)
        if (!form->f.index[k]->is_solved)
            return;
    find_ends(&form->f, -1, &low, &high);
    if (low < 0 || high >= form->extent)
        fail(in->oracle, FAILS_EARLY, "%s: subscript goes from %lld to %lld", a->symbol->name, (long long)low,
             (long long)high);
}

/* ---- the rules in order */

static void solve_explicit(struct inference *in, struct index *index) {
    index->is_solved = index->is_dynamic;
    if (!index->low || index->is_dynamic)
        return;
    index->first = evaluate(in->oracle, index->low).whole;
    index->end = evaluate(in->oracle, index->high).whole;
    index->step = index->by;
    index->is_solved = true;
    if (in->oracle->verdict == FAILS_LATE && (in->question->has_else || in->question->is_restricted))
        fail(in->oracle, UNSUITABLE, "a bound that falls outside, beside an else");
}

static void need_ranges(struct inference *in, int count) {
    for (int k = 0; k < count; k++) {
        struct index *index = in->ranges->indices[k];
        if (index->is_solved || in->oracle->verdict != RUNS)
            continue;
        fail(in->oracle, in->question->is_restricted ? UNSUITABLE : FAILS_EARLY, "index %s has no range", index->name);
        in->oracle->unranged = index;
    }
}

void infer_ranges(struct oracle *oracle, const struct range_question *q) {
    static struct inference
        in; /* static because it is large; known values have no ranges to infer, so this is never nested */
    in.oracle = oracle;
    in.question = q;
    in.ranges = q->ranges;
    in.form_count = in.counted_count = 0;
    for (int k = 0; k < q->count && oracle->verdict == RUNS; k++)
        solve_explicit(&in, q->ranges->indices[k]);
    if (oracle->verdict == RUNS)
        collect(&in);
    for (int k = 0; k < q->count && oracle->verdict == RUNS; k++)
        if (!q->ranges->indices[k]->is_solved)
            solve_by_axis(&in, q->ranges->indices[k]);
    for (bool guarded = false; oracle->verdict == RUNS && !q->is_restricted;) {
        bool found = solve_round(&in, guarded);
        if (!found && guarded)
            break;
        guarded = !found;
    }
    if (oracle->verdict == RUNS)
        need_ranges(&in, q->count);
    if (q->is_restricted || any_empty(q->outer, q->outer_count) || any_dynamic(q->outer, q->outer_count))
        return;
    for (int k = 0; k < in.form_count && oracle->verdict == RUNS; k++)
        check_form(&in, &in.forms[k]);
}
