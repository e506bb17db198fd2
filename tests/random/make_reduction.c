/* Draws reductions: the ranges of their indices, and terms whose reads serve several results. */
#include "program_make.h"

static void range_by_index(struct maker *m, struct index *binder) {
    struct index *outer = choose_plan(m);
    if (!outer) {
        set_range(m, binder, 0, binder->planned_high);
    } else if (chance(m, 65)) {
        binder->low = number(m, 0);
        binder->high = chance(m, 70) ? binary(m, ADD, of_index(m, outer), number(m, 1)) : of_index(m, outer);
        binder->planned_high = outer->planned_high;
    } else {
        binder->low = of_index(m, outer);
        binder->planned_high = draw_extent(m);
        binder->high = make_extent(m, binder->planned_high);
        if (chance(m, 40)) { /* in steps; some of them pass the end that the subscripts are drawn for */
            binder->by = 2 + (int)draw(m, 7);
            if (chance(m, 40))
                binder->high = number(m, binder->planned_high + draw(m, binder->by));
        }
    }
}

static void range_by_data(struct maker *m, struct index *binder) {
    struct symbol *table = choose_name(m, WHOLE, true);
    if (!table)
        table = make_fitting_input(m, WHOLE);
    struct expression *read = new_of_symbol(m->source, READ, table);
    for (int d = 0; d < table->rank; d++)
        read->x[read->count++] = make_subscript(m, table, d, 0);
    binder->low = number(m, 0);
    binder->planned_high = 1 + draw(m, 4);
    binder->high = binary(m, MODULO, read, number(m, binder->planned_high + 1));
    if (chance(m, 30)) { /* from a start that is data */
        binder->low = binder->high;
        binder->high = number(m, binder->planned_high);
    }
}

/* True if its range must be inferred from a bare read. */
static bool make_binder(struct maker *m, struct index *binder) {
    int64_t how = draw(m, 100);
    if (how < m->habits.inferred)
        return true;
    how = m->is_plain ? 30 + draw(m, 70) : draw(m, 100);
    if (how < 20) {
        range_by_index(m, binder);
    } else if (how < 30) {
        range_by_data(m, binder);
    } else if (how < 36) {
        set_range(m, binder, 0, binder->planned_high);
        binder->by = 2;
    } else if (how < 42 && binder->planned_high > 1) {
        binder->planned_low = 1;
        set_range(m, binder, 1, binder->planned_high);
    } else if (how < 50) {
        binder->planned_high = 2 + draw(m, 2);
        set_range(m, binder, 0, binder->planned_high);
    } else {
        set_range(m, binder, 0, binder->planned_high);
    }
    return false;
}

static int draw_reduction(struct maker *m, enum value_class value_class, int binder_count) {
    static const int wholes[] = {SUM, SUM, SUM, GREATEST, LEAST, GREATEST, PROD, ARGMIN, ARGMAX};
    static const int reals[] = {SUM, SUM, SUM, GREATEST, LEAST, MEAN};
    if (value_class == TRUTH)
        return chance(m, 50) ? ANY : ALL;
    return value_class == REAL ? reals[draw(m, 6)] : wholes[draw(m, binder_count == 1 ? 9 : 7)];
}

/* A read of the line's index and the binders: it serves all values of the other indices. Or a window, or turned. */
static struct expression *make_reused_read(struct maker *m, enum value_class value_class, struct index *line,
                                           struct index *const *binders, int count) {
    struct index *at[AXES_MAX];
    int64_t shape[AXES_MAX];
    int rank = 0;
    bool is_window = line && chance(m, 30) && !is_inferred(line) && !is_inferred(binders[0]);
    if (line && !is_window)
        at[rank++] = line;
    for (int k = 0; k < count; k++)
        at[rank++] = binders[k];
    if (rank > 1 && !is_window && chance(m, 40)) {
        struct index *first = at[0];
        at[0] = at[rank - 1];
        at[rank - 1] = first;
    }
    for (int d = 0; d < rank; d++)
        shape[d] = at[d]->planned_high;
    shape[0] += is_window ? line->planned_high : 0;
    struct expression *read = new_of_symbol(m->source, READ, make_input(m, value_class, rank, shape));
    for (int d = 0; d < rank; d++)
        read->x[read->count++] =
            d == 0 && is_window ? binary(m, ADD, of_index(m, line), of_index(m, at[0])) : of_index(m, at[d]);
    return read;
}

/* Terms whose reads serve several results. */
static struct expression *make_reused(struct maker *m, enum value_class value_class, const struct expression *reduction,
                                      int outside) {
    static const int joins[] = {MULTIPLY, MULTIPLY, SUBTRACT, ADD};
    struct index *const *binders = reduction->binders, *first = m->plans[draw(m, outside)], *second = NULL;
    for (int k = 0; k < outside && !second; k++)
        if (m->plans[k] != first && m->plans[k]->planned_low >= 0)
            second = m->plans[k];
    if (first->planned_low < 0)
        first = NULL;
    struct expression *a = make_reused_read(m, value_class, first, binders, reduction->binder_count);
    struct expression *b = make_reused_read(m, value_class, second, binders, reduction->binder_count);
    int64_t how = draw(m, 10);
    if (how < 5)
        return binary(m, joins[draw(m, 4)], a, b);
    if (how < 7)
        return new_function(m->source, ABS, binary(m, SUBTRACT, a, b), NULL, NULL);
    if (how < 8)
        return new_function(m->source, chance(m, 50) ? MIN : MAX, a, b, NULL);
    if (how < 9)
        return new_choice(m->source, binary(m, LT, a, b), copy_expression(m->source, b), number(m, draw(m, 3)));
    return binary(m, MULTIPLY, binary(m, MULTIPLY, a, b), make_leaf(m, value_class));
}

struct expression *make_reduction(struct maker *m, enum value_class value_class, int depth) {
    int plan_count = m->plan_count, bare_count = 0;
    struct index *bare[2];
    struct expression *e = new_expression(m->source, REDUCTION, 0);
    int binder_count = chance(m, 80) ? 1 : 2;
    for (int k = 0; k < binder_count && m->plan_count < PLANS_MAX; k++) {
        struct index *binder = plan_index(m, 0, draw_extent(m));
        if (make_binder(m, binder))
            bare[bare_count++] = binder;
        e->binders[e->binder_count++] = binder;
        m->plans[m->plan_count++] = binder;
    }
    if (e->binder_count == 0)
        return number(m, 1);
    e->op = draw_reduction(m, value_class, e->binder_count);
    enum value_class inner = value_class == TRUTH && chance(m, 40) ? WHOLE : value_class;
    if ((e->op == SUM || e->op == ARGMAX) && chance(m, 10))
        inner = TRUTH;
    bool is_reused = inner != TRUTH && plan_count > 0 && !m->in_def && !m->is_free && chance(m, 25);
    struct expression *body = is_reused ? make_reused(m, inner, e, plan_count) : make_value(m, inner, depth - 1);
    if (bare_count) {
        struct expression *read = make_bounding_read(m, inner == TRUTH ? WHOLE : inner, bare, bare_count);
        body = binary(m, inner == TRUTH ? LE : chance(m, 50) ? MULTIPLY : ADD, read, body);
    }
    m->plan_count = plan_count;
    e->x[0] = body;
    e->count = 1;
    if (value_class == REAL && inner != REAL)
        return new_cast(m->source, m->real_type, e);
    return e;
}
