/* Makes the code that walks through the terms of windows: once for all elements of a thread, or for one element. */
#include "gen/mapping/map_window.h"

#define TERMS_AT_ONCE 8 /* of an element by itself */

/* A loop over all elements; alone: there is only one, which needs no loop. */
static struct map_spot open_all(struct map *m, struct le_block *block, bool alone) {
    struct map_spot at = {.turns = block, .block = block};
    if (alone)
        return at;
    at.turns = le_ktree_open_each(m->c.tree, block, "u", m->unroll, &at.turn);
    at.block = le_ktree_open_each(m->c.tree, at.turns, "e", m->width, &at.element);
    return at;
}

static struct le_expression *total_at(struct map *m, struct le_variable *total, const struct map_spot *at) {
    return at->turn ? le_ktree_element2(m->c.tree, total, at->turn, at->element) : le_ktree_use(m->c.tree, total);
}

/* Binds an index of the reduction to its value at a position. */
static void bind_at(struct map *m, struct le_block *block, int index, struct le_expression *position) {
    const struct le_range *r = le_range_of(m->c.space, index);
    struct le_kernel_tree *t = m->c.tree;
    bool narrow = le_codegen_fits_int(r->low - r->by * WALK_TERMS, r->high + r->by * WALK_TERMS);
    struct le_expression *x = le_ktree_cast(t, narrow ? LE_KTREE_INT : LE_KTREE_LONG, position);
    x = le_times(t, x, narrow ? le_ktree_int(t, r->by) : le_ktree_long(t, r->by));
    le_codegen_bind(&m->c, block, index, le_plus(t, x, narrow ? le_ktree_int(t, r->low) : le_ktree_long(t, r->low)));
}

struct slide_reading {
    const struct map_slide *s;
    int low;                    /* column of the first element, where that of the first term is 0 */
    struct le_expression *turn; /* whose position it reads at */
};

static unsigned checked_axes(const struct map *m, const struct le_node *load) {
    unsigned checked = 0;
    for (int d = 0; d < load->operand_count && m->walks_guarded; d++)
        checked |= (unsigned)!le_map_stays_inside(m, load, d) << d;
    return checked;
}

/* The array's axis along which neighbouring columns of a slide lie; -1: several, or they lie apart. */
static int column_axis(const struct map *m, const struct map_slide *s) {
    int64_t step;
    int d = le_map_dimension(m, s->load, m->axis_count - 1, &step);
    return d >= 0 && m->c.layouts[s->load->value].strides[d] == 1 && step == 1 ? d : -1;
}

static struct le_expression *slide_element(const struct map_span *to, struct le_block *block, int at, int more,
                                           int span, struct le_expression **inside) {
    const struct slide_reading *r = to->user;
    struct map *m = to->m;
    struct le_kernel_tree *t = m->c.tree;
    const bool by_across = r->s->of_element > 1;
    const int inner = m->axis_count - 1, column = at + r->low;
    struct le_near near = {.load = to->load,
                           .row_axis = -1,
                           .column_axis = column_axis(m, r->s),
                           .column = more,
                           .span = span,
                           .checked = checked_axes(m, to->load)};
    if (r->s->across >= 0)
        bind_at(m, block, r->s->across, le_ktree_int(t, by_across ? column * r->s->of_across : 0));
    le_map_bind(m, block, inner, le_plus(t, le_map_place(m, inner, r->turn), le_ktree_int(t, by_across ? 0 : column)));
    return le_codegen_near(&m->c, &near, block, inside);
}

/* Whether all of a vector is inside or outside of its row, where nothing is read elsewhere instead. */
static bool keeps_vectors(const struct map *m, const struct map_slide *s, int vector) {
    const struct le_layout *layout = &m->c.layouts[s->load->value];
    int d = column_axis(m, s);
    bool aligned = layout->offset % vector == 0;
    for (int k = 0; k < m->c.ir->values.at[s->load->value].rank; k++)
        aligned &= (k == d ? layout->shape[k] : layout->strides[k]) % vector == 0;
    return d >= 0 && (le_map_stays_inside(m, s->load, d) || (!le_map_moves(s->load) && aligned));
}

/* Reads row number `row` of a slide, where row 0 is that of the first term of turn 0, and the columns next to each
 * other. The indices that the slide follows stand at their first values, unless they are what counts its rows or
 * columns. */
static void read_row(struct map *m, const struct map_walk *w, const struct map_slide *s, struct le_block *block,
                     struct le_expression *row) {
    struct le_kernel_tree *t = m->c.tree;
    int columns = le_slide_columns(m, s), first, vector = le_slide_vector(m, w, s, &first);
    bool by_down = s->of_turn > 1;
    struct le_expression *zero = le_ktree_int(t, 0), *turn = by_down ? zero : row;
    struct held down = {0}, across = {0};
    struct le_block *rows = le_ktree_open(t, block);
    if (s->down >= 0) {
        down = m->c.indices[s->down];
        bind_at(m, rows, s->down, by_down ? le_times_int(t, row, s->of_down) : zero);
    }
    le_map_bind_outer(m, rows, turn);
    if (s->across >= 0)
        across = m->c.indices[s->across];
    struct le_expression *to_row =
        s->down >= 0 ? le_minus(t, row, le_ktree_int(t, le_slide_lowest(m, s->down, s->of_down))) : row;
    const struct slide_reading r = {.s = s, .low = le_slide_lowest(m, s->across, s->of_across), .turn = turn};
    const struct map_span span = {
        .m = m, .load = s->load, .array = s->array, .row = to_row, .element = slide_element, .user = &r};
    if (m->walks_guarded && column_axis(m, s) < 0)
        vector = 1;
    for (int at = 0, width; at < columns; at += width) {
        width = le_slide_read_width(at, columns, vector, first);
        le_map_read_span(&span, rows, at, width, keeps_vectors(m, s, width));
    }
    le_ktree_close(t, rows);
    if (s->down >= 0)
        m->c.indices[s->down] = down;
    if (s->across >= 0)
        m->c.indices[s->across] = across;
}

static void read_rows(struct map *m, const struct map_walk *w, const struct map_slide *s, struct le_block *block,
                      int first, int count) {
    struct le_expression *row;
    if (count <= 0)
        return;
    struct le_block *rows = le_ktree_open_each(m->c.tree, block, "row", count, &row);
    read_row(m, w, s, rows, le_plus(m->c.tree, row, le_ktree_int(m->c.tree, first)));
    le_ktree_close(m->c.tree, rows);
}

/* Before the loop of an index: the rows of its first value that later values share. */
static void read_before(struct map *m, const struct map_walk *w, struct le_block *block, int index) {
    for (int k = 0; k < w->slide_count; k++) {
        const struct map_slide *s = &w->slides[k];
        if (s->down == index)
            read_rows(m, w, s, block, s->of_down < 0, le_slide_rows_at_once(m, s) - 1);
    }
}

/* In the innermost loop but one, or in the innermost one (last): the rows that its value adds. */
static void read_next(struct map *m, const struct map_walk *w, struct le_block *block, bool last,
                      struct le_expression *const *places) {
    struct le_kernel_tree *t = m->c.tree;
    for (int k = 0; k < w->slide_count; k++) {
        const struct map_slide *s = &w->slides[k];
        if ((s->across < 0) != last)
            continue;
        if (s->down < 0) {
            read_rows(m, w, s, block, 0, m->unroll);
            continue;
        }
        int number = w->nodes[0]->index_count - 1 - !last;
        struct le_expression *row = le_times_int(t, places[number], s->of_down);
        if (s->of_down > 0)
            row = le_plus(t, row, le_ktree_int(t, le_slide_rows_at_once(m, s) - 1));
        read_row(m, w, s, block, row);
    }
}

static void know_slides(struct map *m, const struct map_walk *w, const struct map_spot *at,
                        struct le_expression *const *places) {
    struct codegen *c = &m->c;
    struct le_kernel_tree *t = c->tree;
    const struct le_node *node = w->nodes[0];
    for (int k = 0; k < w->slide_count; k++) {
        const struct map_slide *s = &w->slides[k];
        struct le_expression *row = le_times_int(t, at->turn, s->down >= 0 ? s->of_turn : 1);
        struct le_expression *column = le_times_int(t, at->element, s->of_element);
        if (s->down >= 0) {
            struct le_expression *place = places[node->index_count - 1 - (s->across >= 0)];
            row = le_plus(t, row, le_times_int(t, place, s->of_down));
            row = le_minus(t, row, le_ktree_int(t, le_slide_lowest(m, s->down, s->of_down)));
        }
        if (s->across >= 0) {
            column = le_plus(t, column, le_times_int(t, places[node->index_count - 1], s->of_across));
            column = le_minus(t, column, le_ktree_int(t, le_slide_lowest(m, s->across, s->of_across)));
        }
        struct le_expression *read = le_ktree_element2(t, s->array, row, column);
        read = le_codegen_from_memory(c, read, s->load->type);
        le_codegen_know(c, s->load, at->block, le_let(t, at->block, le_codegen_value_name(c, s->load->value), read));
    }
}

/* If guarded: loads that are no slides. What is fixed is made before there are terms. */
static void know_others(struct map *m, const struct map_walk *w, const struct map_spot *at, bool fixed) {
    struct codegen *c = &m->c;
    for (int k = 0; k < w->other_count && m->walks_guarded; k++) {
        struct le_node *load = w->others[k];
        struct le_near near = {
            .load = load, .row_axis = -1, .column_axis = -1, .span = 1, .checked = checked_axes(m, load)};
        struct le_expression *inside, *x;
        if (fixed && le_node_depends_on_any(load, w->nodes[0]->indices, w->nodes[0]->index_count))
            continue;
        x = le_codegen_near(c, &near, at->block, &inside);
        if (inside)
            x = le_ktree_select(c->tree, inside, x, le_map_fill_of(m, load, at->block));
        x = le_codegen_from_memory(c, x, load->type);
        le_codegen_know(c, load, at->block, le_let(c->tree, at->block, le_codegen_value_name(c, load->value), x));
    }
}

static void add_term(struct map *m, const struct map_walk *w, int number, const struct map_spot *at) {
    struct codegen *c = &m->c;
    const struct le_node *node = w->nodes[number];
    const enum le_reduction code = (enum le_reduction)node->code;
    struct le_expression *total = total_at(m, w->totals[number], at), *x;
    if (le_node_is_chain(node)) {
        x = le_codegen_chained(c, code, node->operands[0], at->block, NULL, total);
    } else {
        x = le_codegen_wide(c, le_codegen_node(c, node->operands[0], at->block, NULL));
        x = le_codegen_fold(c, code, node->operands[0]->type, total, x);
    }
    le_ktree_set(c->tree, at->block, total, x);
}

static struct le_expression *nothing(struct map *m, const struct le_node *node) {
    enum le_type type = node->operands[0]->type;
    if (le_node_is_chain(node)) /* not 0, because -0 + 0 is 0 */
        return le_ktree_constant(m->c.tree, (int)type, type == LE_F64 ? (uint64_t)1 << 63 : (uint64_t)1 << 31);
    return le_codegen_empty(&m->c, (enum le_reduction)node->code, type);
}

static struct le_variable *declare_totals(struct map *m, struct le_block *block, const char *wish, int type,
                                          bool alone) {
    return alone ? le_ktree_declare(m->c.tree, block, wish, type, NULL)
                 : le_ktree_array(m->c.tree, block, wish, type, LE_KTREE_LOCAL, m->unroll, m->width);
}

static void clear_totals(struct map *m, struct map_walk *w, struct le_block *block, bool alone) {
    bool chunks = le_walk_terms(m, w) > LE_CHAIN_TERMS;
    for (int k = 0; k < w->node_count; k++) {
        int type = (int)w->nodes[k]->operands[0]->type;
        w->totals[k] = declare_totals(m, block, "total", type, alone);
        w->units[k] = chunks && le_node_is_chain(w->nodes[k]) ? declare_totals(m, block, "chunks", type, alone) : NULL;
    }
    struct map_spot at = open_all(m, block, alone);
    for (int k = 0; k < w->node_count; k++) {
        le_ktree_set(m->c.tree, at.block, total_at(m, w->totals[k], &at), nothing(m, w->nodes[k]));
        if (w->units[k])
            le_ktree_set(m->c.tree, at.block, total_at(m, w->units[k], &at), nothing(m, w->nodes[k]));
    }
    le_ktree_close_to(m->c.tree, at.block, block);
}

/* Adds the totals of chunks to those of all, and (again) begins the next chunk. */
static void end_chunk(struct map *m, const struct map_walk *w, struct le_block *block, bool alone, bool again) {
    struct le_kernel_tree *t = m->c.tree;
    struct map_spot at = open_all(m, block, alone);
    for (int k = 0; k < w->node_count; k++) {
        if (!w->units[k])
            continue;
        struct le_expression *unit = total_at(m, w->units[k], &at), *chunk = total_at(m, w->totals[k], &at);
        le_ktree_set(t, at.block, unit, le_plus(t, unit, chunk));
        if (again)
            le_ktree_set(t, at.block, chunk, nothing(m, w->nodes[k]));
    }
    le_ktree_close_to(t, at.block, block);
}

static bool has_chunks(const struct map_walk *w) {
    bool found = false;
    for (int k = 0; k < w->node_count; k++)
        found |= w->units[k] != NULL;
    return found;
}

/* At a term that may be the last one of a chunk. */
static void end_chunk_here(struct map *m, const struct map_walk *w, struct le_block *block, bool alone,
                           struct le_expression *const *places) {
    struct le_kernel_tree *t = m->c.tree;
    struct le_expression *number = le_ktree_int(t, 0), *end = le_ktree_int(t, LE_CHAIN_TERMS - 1);
    if (!has_chunks(w))
        return;
    for (int k = 0; k < w->nodes[0]->index_count; k++)
        number = le_plus(t, le_times_int(t, number, le_walk_count(m, w->nodes[0]->indices[k])), places[k]);
    number = le_ktree_remainder(t, number, le_ktree_int(t, LE_CHAIN_TERMS));
    struct le_block *ends = le_ktree_open_if(t, block, le_ktree_binary(t, LE_OP_EQ, number, end));
    end_chunk(m, w, ends, alone, true);
    le_ktree_close(t, ends);
}

static void finish_totals(struct map *m, struct map_walk *w, struct le_block *block, bool alone) {
    struct le_kernel_tree *t = m->c.tree;
    if (has_chunks(w) && le_walk_terms(m, w) % LE_CHAIN_TERMS != 0)
        end_chunk(m, w, block, alone, false);
    struct map_spot at = open_all(m, block, alone);
    for (int k = 0; k < w->node_count; k++) {
        int type = (int)w->nodes[k]->operands[0]->type;
        if (w->units[k])
            w->totals[k] = w->units[k];
        struct le_expression *total = total_at(m, w->totals[k], &at);
        if (!le_node_is_chain(w->nodes[k]) && le_type_is_float((enum le_type)type))
            le_ktree_set(t, at.block, total, le_ktree_call(t, LE_CALL_CANONICAL, type, &LE_STATIC_TYPE(type), &total));
    }
    le_ktree_close_to(t, at.block, block);
    w->done = true;
}

static void declare_slides(struct map *m, struct map_walk *w, struct le_block *block) {
    for (int k = 0; k < w->slide_count; k++) {
        struct map_slide *s = &w->slides[k];
        int value = s->load->value, type = (int)m->c.ir->values.at[value].type;
        const char *wish = le_arena_format(m->c.arena, "%s_near", le_codegen_value_name(&m->c, value));
        s->array =
            le_ktree_array(m->c.tree, block, wish, type, LE_KTREE_LOCAL, le_slide_rows(m, s), le_slide_columns(m, s));
    }
}

static void set_fixed(struct map *m, struct le_block *block, void *user) {
    const struct map_walk *w = user;
    struct map_spot at = le_map_open_known(m, block);
    know_others(m, w, &at, true);
    for (int k = 0; k < w->fixed_count; k++)
        le_ktree_set(m->c.tree, at.block, total_at(m, w->fixed_made[k], &at),
                     le_codegen_wide(&m->c, le_codegen_node(&m->c, w->fixed[k], at.block, NULL)));
    le_ktree_close_to(m->c.tree, at.block, block);
}

static void make_fixed(struct map *m, struct map_walk *w, struct le_block *block) {
    bool quick = false;
    for (int k = 0; k < w->fixed_count; k++) {
        w->fixed_made[k] = declare_totals(m, block, "fixed", (int)w->fixed[k]->type, false);
        quick |= le_codegen_has_quick_ways(&m->c, w->fixed[k]);
    }
    if (w->fixed_count > 0)
        le_map_make_twice(m, block, quick, set_fixed, w);
}

static void know_fixed(struct map *m, const struct map_walk *w, const struct map_spot *at) {
    for (int k = 0; k < w->fixed_count; k++)
        le_codegen_know(&m->c, w->fixed[k], at->block, total_at(m, w->fixed_made[k], at));
}

/* All terms of all of the thread's elements. */
static void walk(struct map *m, struct map_walk *w, struct le_block *block) {
    struct le_kernel_tree *t = m->c.tree;
    const struct le_node *node = w->nodes[0];
    const int last = node->index_count - 1;
    struct le_expression **places = LE_NEW_ARRAY(m->c.arena, node->index_count, struct le_expression *);
    struct le_block *inner = block;
    make_fixed(m, w, block);
    clear_totals(m, w, block, false);
    declare_slides(m, w, block);
    for (int k = 0; k <= last; k++) {
        read_before(m, w, inner, node->indices[k]);
        if (k == last)
            read_next(m, w, inner, false, places);
        inner = le_ktree_open_each(t, inner, m->c.ir->indices.at[node->indices[k]].name,
                                   le_walk_count(m, node->indices[k]), &places[k]);
        bind_at(m, inner, node->indices[k], places[k]);
    }
    read_next(m, w, inner, true, places);
    struct map_spot at = le_map_open_known(m, inner);
    know_slides(m, w, &at, places);
    know_fixed(m, w, &at);
    know_others(m, w, &at, false);
    for (int k = 0; k < w->node_count; k++)
        add_term(m, w, k, &at);
    le_ktree_close_to(t, at.block, inner);
    end_chunk_here(m, w, inner, false, places);
    le_ktree_close_to(t, inner, block);
    finish_totals(m, w, block, false);
}

void le_map_walk(struct map *m, struct le_block *block, bool guarded) {
    m->walks_guarded = guarded;
    for (int k = 0; k < m->walk_count; k++)
        m->walks[k].done = false;
    for (int k = 0; k < m->walk_count; k++)
        walk(m, &m->walks[k], block);
}

void le_map_know_totals(struct map *m, const struct map_spot *at) {
    for (int k = 0; k < m->walk_count; k++)
        for (int q = 0; q < m->walks[k].node_count && m->walks[k].done; q++)
            le_codegen_know(&m->c, m->walks[k].nodes[q], at->block, total_at(m, m->walks[k].totals[q], at));
}

/* All terms of one element. Only those of the last index are written out, so that this is little code. */
static void walk_alone(struct map *m, struct map_walk *w, struct le_block *block) {
    struct le_kernel_tree *t = m->c.tree;
    const struct le_node *node = w->nodes[0];
    const int last = node->index_count - 1;
    struct le_expression **places = LE_NEW_ARRAY(m->c.arena, node->index_count, struct le_expression *);
    struct map_spot at = {.block = block};
    clear_totals(m, w, block, true);
    for (int k = 0; k <= last; k++) {
        struct le_variable *place = le_ktree_variable(t, m->c.ir->indices.at[node->indices[k]].name, LE_KTREE_INT);
        at.block = le_ktree_open_loop(t, at.block, k == last ? LE_ROLE_UNROLLED : LE_ROLE_ROLLED, place,
                                      le_ktree_int(t, 0), le_ktree_int(t, le_walk_count(m, node->indices[k])), NULL);
        at.block->owner->count = k == last ? TERMS_AT_ONCE : 0;
        places[k] = le_ktree_use(t, place);
        bind_at(m, at.block, node->indices[k], places[k]);
    }
    for (int k = 0; k < w->node_count; k++)
        add_term(m, w, k, &at);
    end_chunk_here(m, w, at.block, true, places);
    le_ktree_close_to(t, at.block, block);
    finish_totals(m, w, block, true);
}

void le_map_walk_alone(struct map *m, struct le_block *block) {
    const struct map_spot at = {.block = block};
    for (int k = 0; k < m->walk_count; k++) {
        walk_alone(m, &m->walks[k], block);
        for (int q = 0; q < m->walks[k].node_count; q++)
            le_codegen_know(&m->c, m->walks[k].nodes[q], block, total_at(m, m->walks[k].totals[q], &at));
    }
}
