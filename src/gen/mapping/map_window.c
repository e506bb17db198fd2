/* Reductions of windows in a map: their terms read what neighbouring points' terms read, too, because a subscript adds
 * an index of the reduction to one of the stage. A thread walks through the terms once for all of its elements: it
 * reads a row of elements into registers, adds the terms that use the row to the totals of all elements, and goes on to
 * the next row. Each element's terms are added in the order that the reduction has. The extents are part of the text.
 *
 * A *slide* is a load whose elements several terms or several points share. */
#include "gen/mapping/map.h"
#include <math.h>
#include <stdlib.h>

#define STEP_MAX   8    /* of a slide: elements of its rows or columns from one point or term to the next */
#define WALK_TERMS 128  /* of a reduction */
#define WALK_COST  1024 /* additions of its terms */

#define TERMS_AT_ONCE 8 /* of an element by itself */

/* ---- finding */

static int64_t terms_of(const struct map *m, const struct map_walk *w) {
    return le_points(m->c.space, w->nodes[0]->indices, w->nodes[0]->index_count);
}

static int last_index(const struct map_walk *w) {
    return w->nodes[0]->indices[w->nodes[0]->index_count - 1];
}

static int index_before_last(const struct map_walk *w) {
    const struct le_node *node = w->nodes[0];
    return node->index_count > 1 ? node->indices[node->index_count - 2] : -1;
}

/* Whether it is the same for all terms of the reduction, but not for all elements. */
static bool is_fixed(const struct map *m, const struct le_node *reduction, const struct le_node *node) {
    return (node->loads || node->reduces) && le_node_depends(node, le_map_inner(m)->index) &&
           !le_node_depends_on_any(node, reduction->indices, reduction->index_count);
}

/* Additions of the node for an element; for a term of the reduction, if that is not NULL. Positions are not counted. */
static int64_t arithmetic_of(const struct map *m, const struct le_node *reduction, const struct le_node *node,
                             int epoch) {
    if (node->kind == LE_NODE_LOAD || node->kind == LE_NODE_REDUCE || (reduction && is_fixed(m, reduction, node)) ||
        le_note_met(m->c.notes, node, epoch))
        return 0;
    int64_t cost = node->cost, all = 0;
    for (int k = 0; k < node->operand_count; k++) {
        cost -= node->operands[k]->cost;
        all += arithmetic_of(m, reduction, node->operands[k], epoch);
    }
    return all + (cost > 0 ? cost : 0);
}

static int64_t term_cost(const struct map *m, const struct le_node *reduction) {
    return arithmetic_of(m, reduction, reduction->operands[0], ++m->c.notes->epoch) +
           !le_node_adds_products(reduction);
}

int64_t le_map_arithmetic(const struct map *m) {
    int64_t cost = 0;
    int epoch = ++m->c.notes->epoch;
    for (int k = 0; k < m->result_count; k++)
        cost += arithmetic_of(m, NULL, m->nodes[k], epoch);
    for (int k = 0; k < m->walk_count; k++)
        for (int q = 0; q < m->walks[k].fixed_count; q++)
            cost += arithmetic_of(m, NULL, m->walks[k].fixed[q], epoch);
    return cost;
}

static bool is_of_stage(const struct map *m, int index) {
    bool found = m->c.ir->indices.at[index].host;
    for (int i = 0; i < m->stage->index_count; i++)
        found |= m->stage->indices[i] == index;
    return found;
}

static void add_load(struct le_node *node, void *user) {
    *(int64_t *)user += node->kind == LE_NODE_LOAD && node->operand_count > 0;
}

int64_t le_map_loads(const struct map *m) {
    int64_t loads = 0;
    for (int k = 0; k < m->result_count; k++)
        le_node_walk(m->c.ir, m->nodes[k], add_load, &loads);
    return loads;
}

int64_t le_map_walk_terms(const struct map *m) {
    int64_t most = 0;
    for (int k = 0; k < m->walk_count; k++) {
        int64_t terms = terms_of(m, &m->walks[k]);
        most = terms > most ? terms : most;
    }
    return most;
}

/* It depends on no index of another reduction. */
static bool is_of_a_point(const struct map *m, const struct le_node *node) {
    bool known = true;
    for (int k = 0; k < node->free_count; k++)
        known &= is_of_stage(m, node->free[k]);
    return known;
}

static bool fits_walk(const struct map *m, const struct le_node *node) {
    const bool chain = le_node_is_chain(node), ordered = le_node_is_ordered(node);
    if (le_node_is_arg(node) || node->changes || chain != ordered || !is_of_a_point(m, node) ||
        !le_node_depends(node, le_map_inner(m)->index) ||
        !le_ranges_are_fixed(m->c.space, node->indices, node->index_count))
        return false;
    int64_t terms = le_points(m->c.space, node->indices, node->index_count);
    return terms >= 1 && terms <= WALK_TERMS && terms * term_cost(m, node) <= WALK_COST;
}

static bool same_indices(const struct le_node *a, const struct le_node *b) {
    bool same = a->index_count == b->index_count;
    for (int k = 0; k < a->index_count && same; k++)
        same = a->indices[k] == b->indices[k];
    return same;
}

/* Reductions over the same indices share a walk, unless one of them needs another's total. */
static bool add_walk(struct map *m, struct le_node *node) {
    if (!fits_walk(m, node))
        return false;
    for (int k = 0; k < m->walk_count; k++) {
        struct map_walk *w = &m->walks[k];
        if (same_indices(w->nodes[0], node) && w->node_count < MAP_WALK_NODES && !node->operands[0]->reduces) {
            w->nodes[w->node_count++] = node;
            return true;
        }
    }
    if (m->walk_count == MAP_WALKS_MAX)
        return false;
    m->walks[m->walk_count++] = (struct map_walk){.nodes = {node}, .node_count = 1};
    return true;
}

static bool find_walks(struct map *m, struct le_node *node, int epoch) {
    if (!node->reduces || le_note_met(m->c.notes, node, epoch))
        return true;
    for (int k = 0; k < node->operand_count; k++)
        if (!find_walks(m, node->operands[k], epoch))
            return false;
    return node->kind != LE_NODE_REDUCE || add_walk(m, node);
}

/* ---- slides */

static int64_t stride_of(const struct map *m, const struct le_node *load, int index) {
    const struct le_address address = le_load_address(m->c.layouts, load);
    int64_t stride = 0;
    if (index < 0 || !le_address_stride(m->c.space, &address, index, &stride))
        return 0;
    return le_wrapping_product(stride, le_range_of(m->c.space, index)->by);
}

/* Counts two strides in a unit: *of_axis (above 0) and *of_index. false: there is none, or it is too short. */
static bool find_unit(int64_t axis, int64_t index, int *of_axis, int *of_index) {
    if (axis == 0 || index == 0)
        return false;
    int64_t a = 1, b = index / axis;
    if (index % axis != 0) {
        a = llabs(axis / index);
        b = axis % index != 0 ? 0 : index / (axis / a);
    }
    *of_axis = (int)a;
    *of_index = (int)b;
    return a >= 1 && a <= STEP_MAX && b != 0 && llabs(b) <= STEP_MAX;
}

static bool find_slide_along(const struct map *m, const struct map_walk *w, struct map_slide *s) {
    const int64_t inner = stride_of(m, s->load, le_map_inner(m)->index);
    const int64_t rows = m->row >= 0 ? stride_of(m, s->load, m->axes[m->row].index) : 0;
    const int last = last_index(w), before = index_before_last(w);
    int a = 0, b = 0;
    *s = (struct map_slide){.load = s->load, .down = -1, .across = -1, .of_turn = 1, .of_element = 1};
    if (inner == 0)
        return false;
    if (find_unit(inner, stride_of(m, s->load, last), &s->of_element, &s->of_across))
        s->across = last;
    else
        s->of_element = 1;
    if (find_unit(rows, stride_of(m, s->load, s->across >= 0 ? before : last), &a, &b) && llabs(b) == 1) {
        s->down = s->across >= 0 ? before : last;
        s->of_turn = a;
        s->of_down = b;
    }
    return s->across >= 0 || s->down >= 0;
}

static void add_slide(struct map *m, struct map_walk *w, struct le_node *load) {
    struct map_slide s = {.load = load};
    if (load->operand_count == 0 || load->live || w->slide_count == MAP_SLIDES_MAX || !le_map_reads_plainly(m, load) ||
        !find_slide_along(m, w, &s))
        return;
    w->slides[w->slide_count++] = s;
}

static void find_slides(struct map *m, struct map_walk *w, struct le_node *node, int epoch) {
    if (!node->loads || node->kind == LE_NODE_REDUCE || le_note_met(m->c.notes, node, epoch))
        return;
    if (node->kind == LE_NODE_LOAD) {
        add_slide(m, w, node);
        return;
    }
    for (int k = 0; k < node->operand_count; k++)
        find_slides(m, w, node->operands[k], epoch);
}

struct along_search {
    const struct map *m;
    int axis;
    bool found;
};

static void find_along(struct le_node *node, void *user) {
    struct along_search *s = user;
    int a, b;
    for (int k = 0; k < node->free_count && node->kind == LE_NODE_LOAD; k++)
        s->found |= !is_of_stage(s->m, node->free[k]) && find_unit(stride_of(s->m, node, s->m->axes[s->axis].index),
                                                                   stride_of(s->m, node, node->free[k]), &a, &b);
}

bool le_map_slides_along(const struct map *m, int axis) {
    struct along_search s = {.m = m, .axis = axis};
    for (int k = 0; k < m->result_count; k++)
        le_node_walk(m->c.ir, m->nodes[k], find_along, &s);
    return s.found;
}

bool le_map_find_walks(struct map *m) {
    int epoch = ++m->c.notes->epoch;
    bool fits = true;
    for (int k = 0; k < m->result_count && fits; k++)
        fits = find_walks(m, m->nodes[k], epoch);
    for (int axis = 0; axis < m->axis_count - 1; axis++)
        m->row = le_map_slides_along(m, axis) ? axis : m->row;
    if (m->row >= 0)
        m->way = MAP_ROWS;
    return fits && m->walk_count > 0;
}

/* What the terms of an element share. */
static void find_fixed(struct map *m, struct map_walk *w, struct le_node *node, int epoch) {
    if (node->kind == LE_NODE_REDUCE || le_note_met(m->c.notes, node, epoch))
        return;
    if (is_fixed(m, w->nodes[0], node)) {
        if (w->fixed_count < MAP_FIXED_MAX)
            w->fixed[w->fixed_count++] = node;
        return;
    }
    for (int k = 0; k < node->operand_count && node->kind != LE_NODE_LOAD; k++)
        find_fixed(m, w, node->operands[k], epoch);
}

bool le_map_find_slides(struct map *m) {
    bool found = false;
    for (int k = 0; k < m->walk_count; k++) {
        struct map_walk *w = &m->walks[k];
        int epoch = ++m->c.notes->epoch;
        for (int q = 0; q < w->node_count; q++)
            find_slides(m, w, w->nodes[q]->operands[0], epoch);
        epoch = ++m->c.notes->epoch;
        for (int q = 0; q < w->node_count; q++)
            find_fixed(m, w, w->nodes[q]->operands[0], epoch);
        found |= w->slide_count > 0;
    }
    return found;
}

/* ---- the shape of what a thread reads */

static int count_of(const struct map *m, int index) {
    return index < 0 ? 1 : (int)le_range_count(le_range_of(m->c.space, index));
}

/* Rows that the thread's elements need at one term. */
static int rows_at_once(const struct map *m, const struct map_slide *s) {
    return (m->unroll - 1) * s->of_turn + 1;
}

static int rows_of(const struct map *m, const struct map_slide *s) {
    return rows_at_once(m, s) + count_of(m, s->down) - 1;
}

static int columns_of(const struct map *m, const struct map_slide *s) {
    return (m->width - 1) * s->of_element + (count_of(m, s->across) - 1) * abs(s->of_across) + 1;
}

static int lowest(const struct map *m, int index, int step) {
    return step < 0 ? (count_of(m, index) - 1) * step : 0;
}

/* Elements of the widest vectors, and in *first the first column where one begins. 1: they are not aligned. */
static int vector_of(const struct map *m, const struct map_walk *w, const struct map_slide *s, int *first) {
    const int inner = m->axis_count - 1, size = le_map_size(m, s->load->value);
    const struct le_device_facts *facts = m->c.job->facts;
    int64_t step = stride_of(m, s->load, le_map_inner(m)->index), all = step * m->width, start;
    *first = 0;
    if (step != s->of_element || !facts->is_aligned(facts->user, s->load->value) ||
        !le_map_load_start(m, s->load, &start))
        return 1;
    for (int a = 0; a < inner; a++)
        all |= stride_of(m, s->load, m->axes[a].index);
    for (int k = 0; k < w->nodes[0]->index_count; k++)
        if (w->nodes[0]->indices[k] != s->across)
            all |= stride_of(m, s->load, w->nodes[0]->indices[k]);
    int vector = 16 / size;
    while (vector > 1 && all % vector != 0)
        vector /= 2;
    start += lowest(m, s->across, s->of_across) - step * m->phase;
    *first = (int)(((-start) % vector + vector) % vector);
    return vector;
}

/* Elements of the read at a column. */
static int read_width(int at, int columns, int vector, int first) {
    while (vector > 1 && ((at - first) % vector != 0 || at + vector > columns))
        vector /= 2;
    return vector;
}

/* ---- code */

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

/* Reads row number `row` of a slide, where row 0 is that of the first term of turn 0, and the columns next to each
 * other. The indices that the slide follows stand at their first values, unless they are what counts its rows or
 * columns. */
static void read_row(struct map *m, const struct map_walk *w, const struct map_slide *s, struct le_block *block,
                     struct le_expression *row) {
    struct le_kernel_tree *t = m->c.tree;
    int columns = columns_of(m, s), low = lowest(m, s->across, s->of_across), first;
    int vector = vector_of(m, w, s, &first);
    bool by_down = s->of_turn > 1, by_across = s->of_element > 1;
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
        s->down >= 0 ? le_minus(t, row, le_ktree_int(t, lowest(m, s->down, s->of_down))) : row;
    for (int at = 0, width; at < columns; at += width) {
        width = read_width(at, columns, vector, first);
        struct le_block *base = le_ktree_open(t, rows);
        if (s->across >= 0)
            bind_at(m, base, s->across, le_ktree_int(t, by_across ? (at + low) * s->of_across : 0));
        struct le_expression *more = le_ktree_int(t, by_across ? 0 : at + low);
        le_map_bind(m, base, m->axis_count - 1, le_plus(t, le_map_place(m, m->axis_count - 1, turn), more));
        struct le_expression *from = le_codegen_trusted_place(&m->c, s->load, base);
        struct le_expression *to = le_ktree_element2(t, s->array, to_row, le_ktree_int(t, at));
        struct le_expression *addresses[] = {le_ktree_address(t, to), le_ktree_address(t, from)};
        if (width > 1)
            le_do(t, base, LE_CALL_READ_AT, &LE_STATIC_NUMBER(width), addresses);
        else
            le_ktree_set(t, base, to, from);
        le_ktree_close(t, base);
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
            read_rows(m, w, s, block, s->of_down < 0, rows_at_once(m, s) - 1);
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
            row = le_plus(t, row, le_ktree_int(t, rows_at_once(m, s) - 1));
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
            row = le_minus(t, row, le_ktree_int(t, lowest(m, s->down, s->of_down)));
        }
        if (s->across >= 0) {
            column = le_plus(t, column, le_times_int(t, places[node->index_count - 1], s->of_across));
            column = le_minus(t, column, le_ktree_int(t, lowest(m, s->across, s->of_across)));
        }
        struct le_expression *read = le_ktree_element2(t, s->array, row, column);
        read = le_codegen_from_memory(c, read, s->load->type);
        le_codegen_know(c, s->load, at->block,
                        le_let(t, at->block, le_codegen_value_name(c, s->load->value), read));
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
        return le_ktree_constant(m->c.tree, (int)type,
                                 type == LE_F64 ? (uint64_t)1 << 63 : (uint64_t)1 << 31);
    return le_codegen_empty(&m->c, (enum le_reduction)node->code, type);
}

static struct le_variable *declare_totals(struct map *m, struct le_block *block, const char *wish, int type,
                                          bool alone) {
    return alone ? le_ktree_declare(m->c.tree, block, wish, type, NULL)
                 : le_ktree_array(m->c.tree, block, wish, type, LE_KTREE_LOCAL, m->unroll, m->width);
}

static void clear_totals(struct map *m, struct map_walk *w, struct le_block *block, bool alone) {
    bool chunks = terms_of(m, w) > LE_CHAIN_TERMS;
    for (int k = 0; k < w->node_count; k++) {
        int type = (int)w->nodes[k]->operands[0]->type;
        w->totals[k] = declare_totals(m, block, "total", type, alone);
        w->units[k] =
            chunks && le_node_is_chain(w->nodes[k]) ? declare_totals(m, block, "chunks", type, alone) : NULL;
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
        number = le_plus(t, le_times_int(t, number, count_of(m, w->nodes[0]->indices[k])), places[k]);
    number = le_ktree_remainder(t, number, le_ktree_int(t, LE_CHAIN_TERMS));
    struct le_block *ends = le_ktree_open_if(t, block, le_ktree_binary(t, LE_OP_EQ, number, end));
    end_chunk(m, w, ends, alone, true);
    le_ktree_close(t, ends);
}

static void finish_totals(struct map *m, struct map_walk *w, struct le_block *block, bool alone) {
    struct le_kernel_tree *t = m->c.tree;
    if (has_chunks(w) && terms_of(m, w) % LE_CHAIN_TERMS != 0)
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
            le_ktree_array(m->c.tree, block, wish, type, LE_KTREE_LOCAL, rows_of(m, s), columns_of(m, s));
    }
}

static void make_fixed(struct map *m, struct map_walk *w, struct le_block *block) {
    for (int k = 0; k < w->fixed_count; k++)
        w->fixed_made[k] = declare_totals(m, block, "fixed", (int)w->fixed[k]->type, false);
    if (w->fixed_count == 0)
        return;
    struct map_spot at = le_map_open_known(m, block);
    for (int k = 0; k < w->fixed_count; k++)
        le_ktree_set(m->c.tree, at.block, total_at(m, w->fixed_made[k], &at),
                     le_codegen_wide(&m->c, le_codegen_node(&m->c, w->fixed[k], at.block, NULL)));
    le_ktree_close_to(m->c.tree, at.block, block);
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
        inner = le_ktree_open_each(t, inner, m->c.ir->indices.at[node->indices[k]].name, count_of(m, node->indices[k]),
                                   &places[k]);
        bind_at(m, inner, node->indices[k], places[k]);
    }
    read_next(m, w, inner, true, places);
    struct map_spot at = le_map_open_known(m, inner);
    know_slides(m, w, &at, places);
    know_fixed(m, w, &at);
    for (int k = 0; k < w->node_count; k++)
        add_term(m, w, k, &at);
    le_ktree_close_to(t, at.block, inner);
    end_chunk_here(m, w, inner, false, places);
    le_ktree_close_to(t, inner, block);
    finish_totals(m, w, block, false);
}

void le_map_walk(struct map *m, struct le_block *block) {
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
                                      le_ktree_int(t, 0), le_ktree_int(t, count_of(m, node->indices[k])), NULL);
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

/* ---- what it costs */

#define REGISTERS      65536 /* of a multiprocessor */
#define REGISTERS_MAX  200   /* of a thread */
#define REGISTERS_USED 36    /* by positions, addresses and what is computed */
#define CODE_MAX       2560  /* operations of a thread */
#define LINE_BYTES     128
#define SCHEDULERS     4  /* of a multiprocessor, each of which issues an instruction in a clock */
#define IN_FLIGHT      16 /* instructions that keep a scheduler busy */
#define ALIKE_MAX      8  /* instructions of a warp that do not wait for each other: one for each element, up to so many */

static int words(int size) {
    return (size + 3) / 4;
}

static int type_words(enum le_type type) {
    return words((int)le_type_size(type));
}

/* Registers of a thread. */
static int registers_of(const struct map *m) {
    int totals = 0, most = 0, elements = m->width * m->unroll;
    for (int k = 0; k < m->walk_count; k++) {
        const struct map_walk *w = &m->walks[k];
        int near = 0, chunks = terms_of(m, w) > LE_CHAIN_TERMS;
        for (int q = 0; q < w->slide_count; q++)
            near += rows_at_once(m, &w->slides[q]) * columns_of(m, &w->slides[q]) *
                    words(le_map_size(m, w->slides[q].load->value));
        for (int q = 0; q < w->node_count; q++) {
            int own = elements * type_words(w->nodes[q]->operands[0]->type);
            totals += own;
            near += le_node_is_chain(w->nodes[q]) && chunks ? own : 0;
        }
        for (int q = 0; q < w->fixed_count; q++)
            near += elements * type_words(w->fixed[q]->type);
        most = totals + near > most ? totals + near : most;
    }
    return REGISTERS_USED + most;
}

/* What a thread does for all of its elements. */
struct walk_work {
    double issued, loads, lines; /* instructions but for loads; loads; lines of memory that a warp's loads ask for */
};

struct load_count {
    const struct map *m;
    const struct map_walk *w;
    double lines, loads; /* of one term: those that are no slides */
};

/* Lines of memory that a warp asks for in one load of `vector` elements. */
static double lines_of(const struct map *m, const struct le_node *load, int vector) {
    double size = le_map_size(m, load->value);
    double apart = fabs((double)stride_of(m, load, le_map_inner(m)->index)) * m->width * size * WARP / LINE_BYTES;
    return fmax(vector * size / 4, fmin(WARP, fmax(1, apart)));
}

static void count_load(struct load_count *l, const struct le_node *node) {
    const struct map *m = l->m;
    for (int k = 0; k < l->w->slide_count; k++)
        if (l->w->slides[k].load == node)
            return;
    double times = le_node_depends(node, le_map_inner(m)->index)                          ? m->width * m->unroll
                   : m->row >= 0 && le_node_depends(node, m->axes[m->row].index) ? m->unroll
                                                                                 : 1;
    l->loads += times;
    l->lines += times * lines_of(m, node, 1);
}

static void count_loads(struct load_count *l, const struct le_node *node, int epoch) {
    if (!node->loads || node->kind == LE_NODE_REDUCE || le_note_met(l->m->c.notes, node, epoch))
        return;
    if (node->kind == LE_NODE_LOAD && node->operand_count > 0)
        count_load(l, node);
    for (int k = 0; k < node->operand_count; k++)
        count_loads(l, node->operands[k], epoch);
}

static void count_slide(const struct map *m, const struct map_walk *w, const struct map_slide *s,
                        struct walk_work *all) {
    int first, vector = vector_of(m, w, s, &first), columns = columns_of(m, s);
    double rounds = (double)terms_of(m, w) / count_of(m, s->across);
    double rows = s->down < 0 ? rounds * m->unroll
                              : rounds / count_of(m, s->down) * rows_of(m, s);
    for (int at = 0, width; at < columns; at += width) {
        width = read_width(at, columns, vector, first);
        all->loads += rows;
        all->lines += rows * lines_of(m, s->load, width);
    }
}

static struct walk_work work_of(const struct map *m) {
    const int elements = m->width * m->unroll;
    struct walk_work work = {.issued = (double)(le_map_arithmetic(m) + 2) * elements};
    for (int k = 0; k < m->walk_count; k++) {
        const struct map_walk *w = &m->walks[k];
        struct load_count term = {.m = m, .w = w};
        double terms = (double)terms_of(m, w);
        for (int q = 0; q < w->node_count; q++) {
            double own = terms * (double)term_cost(m, w->nodes[q]) * elements;
            work.issued += own * (w->nodes[q]->operands[0]->type == LE_F64 ? 2 : 1);
            count_loads(&term, w->nodes[q]->operands[0], ++m->c.notes->epoch);
        }
        work.loads += terms * term.loads;
        work.lines += terms * term.lines;
        for (int q = 0; q < w->slide_count; q++)
            count_slide(m, w, &w->slides[q], &work);
    }
    return work;
}

/* Clocks of a multiprocessor for an element of each thread of a warp. */
static double clocks_of(const struct map *m) {
    const int elements = m->width * m->unroll, registers = (registers_of(m) + 7) / 8 * 8;
    const struct walk_work work = work_of(m);
    double blocks = fmax(1, floor((double)REGISTERS / (MAP_THREADS * registers)));
    double warps = blocks * MAP_THREADS / WARP / SCHEDULERS;
    double busy = fmin(1, warps * fmin(ALIKE_MAX, elements) / IN_FLIGHT);
    return fmax((work.issued + work.loads) / SCHEDULERS / busy, work.lines) / elements;
}

bool le_map_walk_fits(const struct map *m) {
    const struct walk_work work = work_of(m);
    return (m->width == 1 && m->unroll == 1) ||
           (registers_of(m) <= REGISTERS_MAX && work.issued + work.loads <= CODE_MAX);
}

double le_map_walk_operations(const struct map *m) {
    return clocks_of(m) / WARP * SCHEDULERS * WARP;
}
