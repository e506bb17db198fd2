/* Goes through a program in the order of its text, and finds which names are visible where, which indices a statement
 * has, the order of its points, and which accesses the range rules use. A program that breaks a rule of names is
 * UNSUITABLE: the generator and the reducer do not make such programs on purpose. */
#include "oracle.h"
#include <string.h>

struct checker {
    struct oracle *oracle;
    struct statement *statement;       /* whose indices may be used; NULL: none */
    struct range_context *ranges;      /* to which accesses are added */
    struct range_context *each_ranges; /* the same of the enclosing `each` */
    struct statement *each, *host;     /* host: the host's statement */
    bool in_def, in_loop, is_guarded;
    struct index *loops[BINDERS_MAX * 2];
    int loop_count;
    struct symbol *visible[SYMBOLS_MAX];
    int visible_count;
};

static void check_body(struct checker *c, struct statement *st);
static void walk(struct checker *c, struct expression *e);

static void invalid(struct checker *c, const char *why) {
    fail(c->oracle, UNSUITABLE, "%s", why);
}

static void add_index(struct checker *c, struct range_context *ranges, struct index *index) {
    if (ranges->index_count == CONTEXT_INDICES_MAX)
        invalid(c, "too many indices");
    else
        ranges->indices[ranges->index_count++] = index;
}

static void add_access_to(struct checker *c, struct range_context *ranges, const struct access *access) {
    if (ranges->access_count == ACCESSES_MAX)
        invalid(c, "too many accesses");
    else
        ranges->accesses[ranges->access_count++] = *access;
}

static void add_access(struct checker *c, struct access access) {
    access.is_guarded = c->is_guarded;
    memcpy(access.loops, c->loops, sizeof access.loops);
    access.loop_count = c->loop_count;
    add_access_to(c, c->ranges, &access);
    if (c->each_ranges)
        add_access_to(c, c->each_ranges, &access);
}

/* ---- expressions */

static bool is_among(const struct index *index, struct index *const *list, int count) {
    for (int k = 0; k < count; k++)
        if (list[k] == index)
            return true;
    return false;
}

static void meet_index(struct checker *c, struct index *index) {
    struct statement *st = c->statement;
    if (index->is_bound)
        return;
    if (!st || !is_among(index, st->indices, st->index_count)) {
        invalid(c, "an index that nothing binds");
        return;
    }
    if (!is_among(index, st->order, st->order_count)) {
        st->order[st->order_count++] = index;
        add_index(c, c->ranges, index);
    }
}

static bool mentions(const struct expression *e, struct index *const *list, int count) {
    if (!e)
        return false;
    if (e->kind == INDEX)
        return is_among(e->index, list, count);
    for (int k = 0; k < e->count; k++)
        if (mentions(e->x[k], list, count))
            return true;
    return false;
}

static bool has_loop(const struct expression *e) {
    bool found = e->kind == REDUCTION || e->kind == CALL;
    for (int k = 0; k < e->count; k++)
        found |= has_loop(e->x[k]);
    return found;
}

static void walk_bounds(struct checker *c, struct index *index) {
    walk(c, index->low);
    walk(c, index->high);
}

static void walk_range(struct checker *c, struct index *index) {
    if (!index->low)
        return;
    if (has_loop(index->low) || has_loop(index->high))
        invalid(c, "a loop inside of a bound");
    walk_bounds(c, index);
}

static void find_dynamic(const struct range_context *ranges, struct index *index) {
    index->is_dynamic = mentions(index->low, ranges->indices, ranges->index_count) ||
                        mentions(index->high, ranges->indices, ranges->index_count);
}

static void walk_reduction(struct checker *c, struct expression *e) {
    int loop_count = c->loop_count;
    for (int k = 0; k < e->binder_count; k++) {
        struct index *binder = e->binders[k];
        walk_range(c, binder);
        find_dynamic(c->ranges, binder);
        add_index(c, c->ranges, binder);
        if (c->each_ranges)
            add_index(c, c->each_ranges, binder);
        binder->is_bound = true;
    }
    for (int k = 0; k < e->binder_count; k++) {
        if (c->loop_count == BINDERS_MAX * 2)
            invalid(c, "too many loops");
        else
            c->loops[c->loop_count++] = e->binders[k];
    }
    walk(c, e->x[0]);
    c->loop_count = loop_count;
    for (int k = 0; k < e->binder_count; k++)
        e->binders[k]->is_bound = false;
}

static void hide_from(struct checker *c, int mark) {
    while (c->visible_count > mark)
        c->visible[--c->visible_count]->is_visible = false;
}

static void show(struct checker *c, struct symbol *symbol) {
    symbol->is_visible = true;
    symbol->is_private = c->each || c->in_def;
    c->visible[c->visible_count++] = symbol;
}

static bool ends_in_return(const struct statement *st) {
    for (; st; st = st->next)
        if (st->kind == RETURN)
            return true;
    return false;
}

/* The def's body is checked at each call, with its own names. */
static void walk_call(struct checker *c, struct expression *e) {
    struct checker inner = *c;
    inner.statement = NULL;
    inner.ranges = inner.each_ranges = NULL;
    inner.each = NULL;
    inner.in_def = true;
    inner.in_loop = inner.is_guarded = false;
    inner.loop_count = 0;
    for (int k = 0; k < e->count; k++)
        show(&inner, e->parameters[k]);
    check_body(&inner, e->body);
    if (!ends_in_return(e->body))
        invalid(c, "a def without a return");
    hide_from(&inner, c->visible_count);
}

static void use(struct checker *c, struct symbol *symbol) {
    if (!symbol->is_visible)
        invalid(c, "a name without a value");
    symbol->is_used = true;
    if (symbol->size_of)
        use(c, symbol->size_of);
}

static void walk_guarded(struct checker *c, struct expression *e) {
    bool was_guarded = c->is_guarded;
    c->is_guarded = true;
    walk(c, e);
    c->is_guarded = was_guarded;
}

static void walk(struct checker *c, struct expression *e) {
    if (e->kind == INDEX)
        meet_index(c, e->index);
    if (e->symbol)
        use(c, e->symbol);
    if (e->kind == REDUCTION) {
        walk_reduction(c, e);
        return;
    }
    bool is_logic = e->kind == BINARY && (e->op == AND || e->op == OR);
    for (int k = 0; k < e->count; k++) {
        if ((is_logic || e->kind == CHOICE) && k > 0)
            walk_guarded(c, e->x[k]);
        else
            walk(c, e->x[k]);
    }
    if (e->kind == READ) {
        e->edge = e->symbol->edge;
        add_access(c, (struct access){.symbol = e->symbol, .x = e->x, .edge = e->edge});
    }
    if (e->kind == CALL)
        walk_call(c, e);
}

/* ---- statements */

static bool is_on_left(const struct statement *st, struct index *index) {
    for (int d = 0; d < st->count; d++)
        if (mentions(st->x[d], &index, 1))
            return true;
    return false;
}

static void check_left(struct checker *c, struct statement *st) {
    for (int k = 0; k < st->order_count; k++)
        if ((st->update == SET || st->update == SET_SUBTRACT) && !is_on_left(st, st->order[k]))
            invalid(c, "an index that is not on the left");
    for (int d = 0; st->is_new && d < st->count; d++) {
        if (st->x[d]->kind != INDEX || st->x[d]->index->is_bound)
            invalid(c, "a new array's subscript that is not bare");
        for (int k = 0; k < d; k++)
            if (st->x[k]->index == st->x[d]->index)
                invalid(c, "a new array's subscripts are not distinct");
    }
}

static bool waits_for(const struct index *index, struct index *const *left, int count) {
    return mentions(index->low, left, count) || mentions(index->high, left, count);
}

/* In the order of the text, except that indices whose ranges depend on others come last, after those. */
static void order_points(struct checker *c, struct statement *st) {
    struct index *left[BINDERS_MAX];
    int count = 0, left_count = 0;
    for (int k = 0; k < st->order_count; k++) {
        find_dynamic(st->ranges, st->order[k]);
        if (st->order[k]->is_dynamic)
            left[left_count++] = st->order[k];
        else
            st->order[count++] = st->order[k];
    }
    while (left_count) {
        int k = 0;
        while (k < left_count && waits_for(left[k], left, left_count))
            k++;
        if (k == left_count) {
            invalid(c, "ranges that depend on each other");
            return;
        }
        st->order[count++] = left[k];
        memmove(&left[k], &left[k + 1], (size_t)(--left_count - k) * sizeof *left);
    }
}

/* ---- each index needs a bound */

static bool is_zero(const struct expression *e) {
    return e->kind == NUMBER && e->number == 0;
}

static bool has_index(const struct expression *e) {
    bool found = e->kind == INDEX;
    for (int k = 0; k < e->count; k++)
        found |= has_index(e->x[k]);
    return found;
}

static bool is_affine_product(const struct expression *e) {
    return !is_zero(e->x[0]) && !is_zero(e->x[1]) && !(has_index(e->x[0]) && has_index(e->x[1]));
}

static bool is_affine(const struct expression *e) {
    if (e->kind == UNARY)
        return e->op == NEGATE;
    if (e->kind == BINARY && e->op == MULTIPLY)
        return is_affine_product(e);
    return e->kind == BINARY && (e->op == ADD || e->op == SUBTRACT);
}

static bool bounds(const struct expression *e, const struct index *index, bool must_be_bare) {
    if (e->kind == INDEX)
        return e->index == index;
    for (int k = 0; k < e->count && is_affine(e) && !must_be_bare; k++)
        if (bounds(e->x[k], index, false))
            return true;
    return false;
}

/* Whether all indices of the expression but the one given are bounded already, and none is in a part that is computed.
 */
static bool is_alone(const struct expression *e, const struct index *index) {
    if (e->kind == INDEX)
        return e->index == index || e->index->low || e->index->is_bounded;
    if (!is_affine(e) && has_index(e))
        return false;
    for (int k = 0; k < e->count; k++)
        if (!is_alone(e->x[k], index))
            return false;
    return true;
}

static bool find_bounds(const struct range_context *ranges, const struct index *index, bool must_be_bare) {
    for (int q = 0; q < ranges->access_count; q++)
        for (int d = 0; d < ranges->accesses[q].symbol->rank; d++)
            if (bounds(ranges->accesses[q].x[d], index, must_be_bare) && is_alone(ranges->accesses[q].x[d], index))
                return true;
    return false;
}

/* An index is bounded by a subscript in which all other indices are. If none bounds it, the program is wrong even if
 * the statement is not reached. */
static void need_bounds(struct checker *c, const struct range_context *ranges, bool must_be_bare) {
    for (int k = 0; k < ranges->index_count; k++)
        ranges->indices[k]->is_bounded = ranges->indices[k]->low != NULL;
    for (bool is_changed = true; is_changed;) {
        is_changed = false;
        for (int k = 0; k < ranges->index_count; k++)
            if (!ranges->indices[k]->is_bounded && find_bounds(ranges, ranges->indices[k], must_be_bare))
                ranges->indices[k]->is_bounded = is_changed = true;
    }
    for (int k = 0; k < ranges->index_count && c->oracle->verdict == RUNS; k++) {
        if (ranges->indices[k]->is_bounded)
            continue;
        invalid(c, "an index that nothing bounds");
        c->oracle->unranged = ranges->indices[k];
    }
}

static void new_ranges(struct checker *c, struct statement *st) {
    st->ranges = oracle_new(c->oracle, sizeof *st->ranges);
    c->ranges = st->ranges;
    c->loop_count = 0;
    c->is_guarded = false;
    if (st->ranges && st->is_inside) {
        st->ranges->next = c->host->inner;
        c->host->inner = st->ranges;
    }
}

static void check_where(struct checker *c, struct statement *st) {
    for (int k = 0; k < st->index_count; k++) {
        struct index *index = st->indices[k];
        if (!index->low)
            continue;
        meet_index(c, index);
        memcpy(c->loops, st->order, sizeof st->order);
        c->loop_count = st->order_count;
        walk_range(c, index);
        c->loop_count = 0;
    }
}

static void check_assignment(struct checker *c, struct statement *st) {
    struct symbol *symbol = st->symbol;
    st->is_new = !symbol->is_visible;
    st->order_count = 0;
    new_ranges(c, st);
    if (!st->ranges)
        return;
    if (st->is_new && (st->update != SET || (symbol->is_array && st->is_inside)))
        invalid(c, "an assignment to a name without a value");
    if (!st->is_new && st->is_inside && !symbol->is_array && !symbol->is_private)
        invalid(c, "an assignment to a scalar from outside");
    if ((symbol->size_of || (symbol->is_array && c->in_def)) || (st->is_inside && st->index_count))
        invalid(c, "an assignment that is not allowed");
    c->statement = st;
    for (int d = 0; d < st->count; d++)
        walk(c, st->x[d]);
    check_where(c, st);
    walk(c, st->value);
    if (st->otherwise)
        walk(c, st->otherwise);
    c->statement = NULL;
    if (symbol->is_array && !st->is_new) {
        memcpy(c->loops, st->order, sizeof st->order);
        c->loop_count = st->order_count;
        add_access(c, (struct access){.symbol = symbol, .x = st->x, .is_left = true});
        c->loop_count = 0;
        symbol->is_used = true;
    }
    check_left(c, st);
    order_points(c, st);
    if (st->is_new)
        show(c, symbol);
    else
        symbol->is_used |= st->update != SET || symbol->is_input;
    if (!symbol->type_giver)
        symbol->type_giver = st;
}

static void check_declaration(struct checker *c, struct statement *st) {
    if (st->symbol->is_visible || c->each || c->in_def || (st->is_out && c->visible_count < 0))
        invalid(c, "a declaration of a name that has a value");
    new_ranges(c, st);
    for (int d = 0; d < st->count && st->ranges; d++)
        walk(c, st->x[d]);
    if (st->value && st->ranges)
        walk(c, st->value);
    show(c, st->symbol);
}

static void check_edge(struct checker *c, struct statement *st) {
    use(c, st->symbol);
    new_ranges(c, st);
    if (st->mode == EDGE_FILL && st->ranges)
        walk(c, st->value);
    st->symbol->edge = st->mode == EDGE_NONE ? NULL : st;
}

/* Names and edge modes end with the block. */
static void check_block(struct checker *c, struct statement *body) {
    int mark = c->visible_count;
    struct source *source = c->oracle->source;
    struct statement *edges[SYMBOLS_MAX];
    for (int k = 0; k < source->symbol_count; k++)
        edges[k] = source->symbols[k]->edge;
    check_body(c, body);
    for (int k = 0; k < source->symbol_count; k++)
        source->symbols[k]->edge = edges[k];
    hide_from(c, mark);
}

static void check_control(struct checker *c, struct statement *st) {
    bool in_loop = c->in_loop;
    new_ranges(c, st);
    if (!st->ranges)
        return;
    if (st->kind == FOR) {
        if (st->is_inside)
            walk_range(c, st->indices[0]);
        else
            walk_bounds(c, st->indices[0]);
        st->indices[0]->is_bound = true;
    } else {
        walk(c, st->value);
    }
    c->in_loop |= st->kind != IF;
    check_block(c, st->body);
    c->in_loop = in_loop;
    if (st->other)
        check_block(c, st->other);
    if (st->kind == FOR)
        st->indices[0]->is_bound = false;
}

/* ---- each */

struct bare_check {
    const struct symbol *symbol;
    struct index *index;
    unsigned common; /* axes where all accesses so far have the index bare */
};

static void find_common(struct bare_check *b, const struct range_context *ranges) {
    for (int k = 0; k < ranges->access_count; k++) {
        const struct access *a = &ranges->accesses[k];
        for (int d = 0; a->symbol == b->symbol && d < a->symbol->rank; d++)
            if (a->x[d]->kind != INDEX || a->x[d]->index != b->index)
                b->common &= ~(1u << d);
    }
}

/* Arrays that the body writes are accessed with bare indices of the `each` on the same axes. */
static void check_each_arrays(struct checker *c, const struct statement *st) {
    const struct range_context *ranges = st->ranges;
    for (int k = 0; k < ranges->access_count; k++) {
        const struct access *a = &ranges->accesses[k];
        bool is_read = false;
        for (int q = 0; q < ranges->access_count; q++)
            is_read |= ranges->accesses[q].symbol == a->symbol && !ranges->accesses[q].is_left;
        for (int q = 0; a->is_left && is_read && q < st->index_count; q++) {
            struct bare_check b = {a->symbol, st->indices[q], (1u << a->symbol->rank) - 1};
            find_common(&b, ranges);
            if (!b.common)
                invalid(c, "an array that an each writes is read elsewhere");
        }
    }
}

static void check_each(struct checker *c, struct statement *st) {
    if (c->each || c->in_def) {
        invalid(c, "an each inside of another");
        return;
    }
    new_ranges(c, st);
    if (!st->ranges)
        return;
    for (int k = 0; k < st->index_count; k++) {
        walk_range(c, st->indices[k]);
        find_dynamic(st->ranges, st->indices[k]);
        add_index(c, st->ranges, st->indices[k]);
        st->indices[k]->is_bound = true;
    }
    bool in_loop = c->in_loop;
    c->in_loop = false;
    c->each = st;
    c->each_ranges = st->ranges;
    check_block(c, st->body);
    c->each = NULL;
    c->each_ranges = NULL;
    c->in_loop = in_loop;
    for (int k = 0; k < st->index_count; k++)
        st->indices[k]->is_bound = false;
    check_each_arrays(c, st);
}

static void check_statement(struct checker *c, struct statement *st) {
    st->is_inside = c->each || c->in_def;
    if (!st->is_inside) {
        c->host = st;
        st->inner = NULL;
    }
    if (st->kind == ASSIGN) {
        check_assignment(c, st);
    } else if (st->kind == DECLARE) {
        check_declaration(c, st);
    } else if (st->kind == EDGE) {
        check_edge(c, st);
    } else if (st->kind == EACH) {
        check_each(c, st);
    } else if (st->kind == BREAK) {
        if (!c->in_loop)
            invalid(c, "a break outside of a loop");
    } else if (st->kind == RETURN) {
        if (!c->in_def)
            invalid(c, "a return outside of a def");
        new_ranges(c, st);
        if (st->ranges)
            walk(c, st->value);
    } else {
        check_control(c, st);
    }
}

static void check_body(struct checker *c, struct statement *st) {
    for (; st && c->oracle->verdict == RUNS; st = st->next) {
        st->ranges = NULL;
        check_statement(c, st);
        if (st->ranges)
            need_bounds(c, st->ranges, st->is_inside);
    }
}

void check_program(struct oracle *oracle) {
    struct source *source = oracle->source;
    struct checker c = {.oracle = oracle};
    for (int k = 0; k < source->symbol_count; k++) {
        struct symbol *symbol = source->symbols[k];
        symbol->is_used = symbol->is_private = false;
        symbol->is_visible = symbol->is_input || symbol->size_of;
        symbol->edge = symbol->type_giver = NULL;
        if (symbol->is_visible)
            c.visible[c.visible_count++] = symbol;
    }
    check_body(&c, source->body);
}
