/* Draws statements. */
#include "program_make.h"

static enum value_class draw_class(struct maker *m) {
    int64_t how = draw(m, 100);
    return how < 60 ? WHOLE : how < 90 ? REAL : TRUTH;
}

/* ---- indices of a statement */

static int64_t planned_points(const struct maker *m) {
    int64_t points = 1;
    for (int k = 0; k < m->plan_count; k++)
        points *= m->plans[k]->planned_high > 0 ? m->plans[k]->planned_high : 1;
    return points;
}

static struct symbol *count_scalar(struct maker *m) {
    for (int k = 0; k < m->name_count; k++) {
        struct symbol *symbol = m->names[k];
        if (!symbol->is_array && !symbol->size_of && symbol->value_class == WHOLE && !symbol->is_number &&
            symbol->value.whole >= 0 && symbol->value.whole < 10 && !m->block_depth && chance(m, 40))
            return symbol;
    }
    return NULL;
}

/* Sets the index's range, or leaves it to be inferred. is_new: an index of a new array, which runs from 0. */
static void range_of_index(struct maker *m, struct index *index, bool is_new) {
    struct symbol *count = NULL;
    if (chance(m, m->habits.inferred))
        return;
    int64_t how = draw(m, 100);
    if (how < 12 && (count = count_scalar(m))) {
        index->planned_high = count->value.whole;
        index->low = number(m, 0);
        index->high = new_of_symbol(m->source, SCALAR, count);
    } else if (how < 20 && !is_new) {
        set_range(m, index, 0, index->planned_high);
        index->by = 2;
    } else if (how < 30 && !is_new && index->planned_high > 1) {
        index->planned_low = 1;
        set_range(m, index, 1, index->planned_high);
    } else if (how < 40 && !is_new && m->plan_count && !m->is_plain) {
        struct index *outer = m->plans[draw(m, m->plan_count)];
        index->low = number(m, 0);
        index->high = new_binary(m->source, ADD, new_of_index(m->source, outer), number(m, 1));
        index->planned_high = outer->planned_high;
        if (chance(m, 30)) { /* from a start that differs, in steps */
            index->low = new_of_index(m->source, outer);
            index->planned_high = outer->planned_high + 1 + draw(m, 4);
            index->high = number(m, index->planned_high);
            index->by = 2 + (int)draw(m, 3);
        }
    } else {
        set_range(m, index, 0, index->planned_high);
    }
}

static struct index *add_index(struct maker *m, struct statement *st, int64_t extent, bool is_new) {
    struct index *index = plan_index(m, 0, extent);
    range_of_index(m, index, is_new);
    st->indices[st->index_count++] = index;
    m->plans[m->plan_count++] = index;
    return index;
}

static int draw_rank(struct maker *m) {
    int64_t how = draw(m, 100);
    return how < 40 ? 1 : how < 72 ? 2 : how < 95 ? 3 : 4;
}

/* A read with the indices that have no range of their own. */
static struct expression *with_ranges(struct maker *m, const struct statement *st, enum value_class value_class,
                                      struct expression *value) {
    struct index *inferred[BINDERS_MAX];
    int count = 0;
    for (int k = 0; k < st->index_count; k++)
        if (!st->indices[k]->low)
            inferred[count++] = st->indices[k];
    if (!count || chance(m, 25))
        return value;
    struct expression *read = make_bounding_read(m, value_class, inferred, count);
    if (value_class == TRUTH)
        return new_binary(m->source, chance(m, 50) ? AND : OR, value, read);
    return new_binary(m->source, chance(m, 50) ? ADD : MULTIPLY, value, read);
}

/* ---- assignments */

static struct statement *make_new_array(struct maker *m) {
    struct statement *st = new_statement(m->source, ASSIGN);
    enum value_class value_class = draw_class(m);
    int rank = draw_rank(m);
    for (int d = 0; d < rank && m->plan_count < PLANS_MAX; d++) {
        int64_t extent = draw_extent(m);
        if (planned_points(m) * extent > m->points_max)
            extent = 1 + draw(m, 2);
        add_index(m, st, extent, true);
    }
    int turn = chance(m, 20) ? (int)draw(m, st->index_count) : 0;
    for (int d = 0; d < st->index_count; d++)
        st->x[st->count++] = new_of_index(m->source, st->indices[(d + turn) % st->index_count]);
    bool was_free = m->is_free, has_else = chance(m, 12);
    m->is_free |= has_else;
    st->value = with_ranges(m, st, value_class, make_value(m, value_class, 3));
    m->is_free = was_free;
    if (has_else)
        st->otherwise = make_value(m, value_class, 1);
    st->symbol = new_symbol(m->source, 'y', true);
    st->symbol->value_class = value_class;
    st->symbol->rank = st->count;
    for (int d = 0; d < st->count; d++)
        st->symbol->shape[d] = st->x[d]->index->planned_high < 0 ? 0 : st->x[d]->index->planned_high;
    add_name(m, st->symbol);
    return st;
}

static struct symbol *some_array(struct maker *m) {
    struct symbol *found[SYMBOLS_MAX];
    int count = 0;
    for (int k = 0; k < m->name_count; k++)
        if (m->names[k]->is_array && m->names[k]->rank > 0)
            found[count++] = m->names[k];
    return count ? found[draw(m, count)] : NULL;
}

static enum update draw_update(struct maker *m, enum value_class value_class) {
    static const enum update updates[] = {SET, SET_ADD, SET_MIN, SET_MAX, SET_MULTIPLY, SET_SUBTRACT};
    if (value_class == TRUTH)
        return SET;
    return chance(m, 40) ? SET : chance(m, 60) ? SET_ADD : updates[draw(m, 6)];
}

/* Writes elements of an array: a slice, a scatter, or all elements computed from the array itself. */
static struct statement *make_update(struct maker *m) {
    struct symbol *array = some_array(m);
    if (!array)
        return make_new_array(m);
    struct statement *st = new_statement(m->source, ASSIGN);
    st->symbol = m->target = array;
    bool is_scatter = !m->is_plain && chance(m, 35);
    for (int d = 0; d < array->rank && !is_scatter; d++)
        add_index(m, st, array->shape[d], false);
    for (int d = 0; d < 3 && is_scatter && (d == 0 || chance(m, 50)); d++)
        add_index(m, st, planned_points(m) > 60 ? 2 : draw_extent(m), false);
    for (int d = 0; d < array->rank; d++) {
        bool is_bare = !is_scatter && chance(m, 80);
        struct expression *e = is_bare                ? new_of_index(m->source, st->indices[d])
                               : array->shape[d] == 0 ? number(m, 0)
                                                      : make_subscript(m, array, d, 2);
        st->x[st->count++] = e;
    }
    bool was_free = m->is_free, has_else = chance(m, 20);
    m->is_free |= has_else;
    st->value = make_value(m, array->value_class, 3);
    if (chance(m, 40) || is_scatter)
        st->value = with_ranges(m, st, array->value_class, st->value);
    m->is_free = was_free;
    if (has_else)
        st->otherwise = make_value(m, array->value_class, 1);
    st->update = draw_update(m, array->value_class);
    return st;
}

static struct symbol *host_scalar(struct maker *m) {
    for (int k = 0; k < m->name_count; k++)
        if (!m->names[k]->is_array && !m->names[k]->size_of && chance(m, 50))
            return m->names[k];
    return NULL;
}

static struct statement *make_scalar(struct maker *m) {
    struct statement *st = new_statement(m->source, ASSIGN);
    struct symbol *scalar = chance(m, 30) ? host_scalar(m) : NULL;
    enum value_class value_class = scalar ? scalar->value_class : draw_class(m);
    if (scalar) {
        st->update = draw_update(m, value_class);
        if ((st->update == SET_ADD || st->update == SET_MAX) && chance(m, 50))
            add_index(m, st, draw_extent(m), false);
    }
    st->value = make_value(m, value_class, chance(m, 20) ? 0 : 3);
    if (st->index_count)
        st->value = with_ranges(m, st, value_class, st->value);
    if (value_class == WHOLE && chance(m, 30))
        st->value = new_binary(m->source, MODULO, whole_subscript(m, st->value), number(m, 2 + draw(m, 6)));
    st->symbol = scalar ? scalar : new_symbol(m->source, 's', false);
    st->symbol->value_class = value_class;
    if (!scalar)
        add_name(m, st->symbol);
    return st;
}

static struct statement *make_declaration(struct maker *m) {
    static const int types[] = {LEAT_I64, LEAT_I64, LEAT_I32, LEAT_F64, LEAT_F32, LEAT_U8, LEAT_I16, LEAT_BOOL};
    struct statement *st = new_statement(m->source, DECLARE);
    st->symbol = new_symbol(m->source, 'z', chance(m, 90));
    st->is_out = !m->block_depth && chance(m, 60);
    st->symbol->dtype = st->symbol->type = types[draw(m, 8)];
    st->symbol->value_class = is_real_type(st->symbol->dtype) ? REAL : st->symbol->dtype == LEAT_BOOL ? TRUTH : WHOLE;
    for (int d = 0; st->symbol->is_array && d < 3 && (d == 0 || chance(m, 45)); d++) {
        struct symbol *count = chance(m, 20) ? count_scalar(m) : NULL;
        st->symbol->shape[d] = count ? count->value.whole : draw_extent(m);
        st->x[st->count++] = count ? new_of_symbol(m->source, SCALAR, count) : make_extent(m, st->symbol->shape[d]);
    }
    st->symbol->rank = st->count;
    if (chance(m, 30))
        st->value = make_value(m, st->symbol->value_class, 1);
    add_name(m, st->symbol);
    return st;
}

static struct statement *make_edge(struct maker *m) {
    struct symbol *array = some_array(m);
    if (!array)
        return make_scalar(m);
    struct statement *st = new_statement(m->source, EDGE);
    st->symbol = array;
    st->mode = (enum edge_mode)(1 + draw(m, EDGE_FILL));
    if (chance(m, 10))
        st->mode = EDGE_NONE;
    if (st->mode == EDGE_FILL)
        st->value = make_value(m, array->value_class, 0);
    return st;
}

/* ---- blocks */

static struct statement *make_block(struct maker *m, int count) {
    struct statement *first = NULL, **end = &first;
    int name_count = m->name_count;
    m->block_depth++;
    for (int k = 0; k < count; k++) {
        int plan_count = m->plan_count;
        *end = make_statement(m);
        m->plan_count = plan_count;
        while (*end)
            end = &(*end)->next;
    }
    m->block_depth--;
    m->name_count = name_count;
    return first;
}

static struct statement *make_if(struct maker *m) {
    struct statement *st = new_statement(m->source, IF);
    st->value = make_value(m, TRUTH, 2);
    st->body = make_block(m, 1 + (int)draw(m, 3));
    if (chance(m, 45))
        st->other = make_block(m, 1 + (int)draw(m, 2));
    return st;
}

static struct statement *append_break(struct maker *m, struct statement *body) {
    struct statement *st = new_statement(m->source, IF);
    st->value = make_value(m, TRUTH, 2);
    st->body = new_statement(m->source, BREAK);
    struct statement *last = body;
    while (last->next)
        last = last->next;
    last->next = st;
    return body;
}

static struct statement *make_for(struct maker *m) {
    struct statement *st = new_statement(m->source, FOR);
    struct index *index = plan_index(m, 0, 1 + draw(m, 3));
    st->indices[st->index_count++] = index;
    if (chance(m, 15)) {
        index->low = number(m, index->planned_high);
        if (chance(m, 60)) /* from what a reduction gives */
            index->low = new_binary(m->source, MODULO, make_reduction(m, WHOLE, 1), number(m, index->planned_high + 1));
        index->high = number(m, -1);
        index->by = -1;
        index->planned_high++;
    } else {
        set_range(m, index, 0, index->planned_high);
    }
    m->plans[m->plan_count++] = index;
    st->body = make_block(m, 1 + (int)draw(m, 2));
    if (chance(m, 15) && st->body)
        st->body = append_break(m, st->body);
    m->plan_count--;
    return st;
}

/* w = 0; while w < n { ...; w += 1 } */
static struct statement *make_while(struct maker *m) {
    struct statement *start = new_statement(m->source, ASSIGN), *st = new_statement(m->source, WHILE);
    struct symbol *counter = new_symbol(m->source, 'w', false);
    start->symbol = counter;
    start->value = chance(m, 50) ? number(m, 0) : new_cast(m->source, LEAT_I64, number(m, 0));
    start->next = st;
    st->value = new_binary(m->source, LT, new_of_symbol(m->source, SCALAR, counter), number(m, 1 + draw(m, 3)));
    if (chance(m, 30))
        st->value = new_binary(m->source, AND, st->value, make_value(m, TRUTH, 2));
    counter->value_class = WHOLE;
    add_name(m, counter);
    struct statement *step = new_statement(m->source, ASSIGN);
    step->symbol = counter;
    step->update = SET_ADD;
    step->value = number(m, 1);
    step->next = chance(m, 70) ? make_block(m, 1 + (int)draw(m, 2)) : NULL;
    st->body = step;
    if (chance(m, 60) && step->next) { /* the increment last */
        st->body = step->next;
        struct statement *last = step->next;
        step->next = NULL;
        while (last->next)
            last = last->next;
        last->next = step;
    }
    return start;
}

/* ---- each */

static struct statement *make_store(struct maker *m, struct symbol *array) {
    struct statement *st = new_statement(m->source, ASSIGN);
    bool is_own = false;
    for (int k = 0; k < m->written_count; k++)
        is_own |= m->written[k] == array;
    st->symbol = array;
    for (int d = 0; d < array->rank; d++)
        st->x[st->count++] = is_own                 ? new_of_index(m->source, m->plans[m->each_mark + d])
                             : array->shape[d] == 0 ? number(m, 0)
                                                    : make_subscript(m, array, d, 2);
    st->update = draw_update(m, array->value_class);
    st->value = make_value(m, array->value_class, 3);
    if (chance(m, 15))
        st->otherwise = make_value(m, array->value_class, 0);
    return st;
}

struct statement *make_private(struct maker *m) {
    struct statement *st = new_statement(m->source, ASSIGN);
    struct symbol *scalar = NULL;
    for (int k = m->name_count - 1; k >= 0 && !scalar; k--)
        if (!m->names[k]->is_array && m->names[k]->is_private && chance(m, 60))
            scalar = m->names[k];
    enum value_class value_class = scalar ? scalar->value_class : draw_class(m);
    st->update = scalar ? draw_update(m, value_class) : SET;
    st->value = make_value(m, value_class, m->in_def ? 2 : 3);
    if (!scalar) {
        scalar = new_symbol(m->source, m->in_def ? 'c' : 'p', false);
        scalar->value_class = value_class;
        scalar->is_private = true;
        add_name(m, scalar);
    }
    st->symbol = scalar;
    return st;
}

static struct statement *make_each_statement(struct maker *m) {
    int64_t how = draw(m, 100);
    struct symbol *array = some_array(m);
    if (how < 25 || !array)
        return make_private(m);
    if (how < 40 && m->block_depth < 3)
        return make_if(m);
    if (how < 50 && m->block_depth < 3 && m->plan_count < PLANS_MAX)
        return make_for(m);
    if (m->written_count && chance(m, 65))
        array = (struct symbol *)m->written[draw(m, m->written_count)];
    return make_store(m, array);
}

/* Arrays that the elements write with the `each`'s indices, and may read with these. */
static void choose_written(struct maker *m, const struct statement *st) {
    for (int k = 0; k < m->name_count && m->written_count < 2; k++) {
        struct symbol *symbol = m->names[k];
        bool fits = symbol->is_array && symbol->rank == st->index_count && chance(m, 60);
        for (int d = 0; fits && d < symbol->rank; d++)
            fits = symbol->shape[d] >= st->indices[d]->planned_high;
        if (fits)
            m->written[m->written_count++] = symbol;
    }
}

static struct statement *make_each(struct maker *m) {
    struct statement *st = new_statement(m->source, EACH);
    struct symbol *like = chance(m, 70) ? some_array(m) : NULL;
    int rank = like ? like->rank : 1 + (int)draw(m, 3);
    m->each_mark = m->plan_count;
    for (int k = 0; k < rank && m->plan_count < PLANS_MAX; k++)
        add_index(m, st, like ? like->shape[k] : draw_extent(m), false);
    choose_written(m, st);
    m->in_each = true;
    st->body = make_block(m, 1 + (int)draw(m, 4));
    m->in_each = false;
    m->written_count = 0;
    return st;
}

struct statement *make_statement(struct maker *m) {
    m->budget = STATEMENT_BUDGET;
    m->target = NULL;
    if (m->in_each)
        return make_each_statement(m);
    int64_t how = draw(m, 100);
    if (how < m->habits.controlled && m->block_depth < 2 && m->plan_count < PLANS_MAX - 4) {
        how = draw(m, 100);
        return how < 35 ? make_if(m) : how < 70 ? make_for(m) : make_while(m);
    }
    how = draw(m, m->is_plain ? 90 : 100);
    if (how < 40)
        return make_new_array(m);
    if (how < 60)
        return make_update(m);
    if (how < 76)
        return make_scalar(m);
    if (how < 84)
        return make_declaration(m);
    if (how < 90)
        return make_edge(m);
    return m->plan_count < PLANS_MAX - 3 ? make_each(m) : make_scalar(m);
}
