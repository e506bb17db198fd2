/* Reductions of windows in a map: their terms read what neighbouring points' terms read, too, because a subscript adds
 * an index of the reduction to one of the stage. A thread walks through the terms once for all of its elements: it
 * reads a row of elements into registers, adds the terms that use the row to the totals of all elements, and goes on to
 * the next row. Each element's terms are added in the order that the reduction has. The extents are part of the text.
 *
 * A *slide* is a load whose elements several terms or several points share. */
#include "gen/mapping/map_window.h"
#include <stdlib.h>

#define STEP_MAX  8    /* of a slide: elements of its rows or columns from one point or term to the next */
#define WALK_COST 1024 /* additions of its terms */

/* ---- finding */

int64_t le_walk_terms(const struct map *m, const struct map_walk *w) {
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

int64_t le_walk_term_cost(const struct map *m, const struct le_node *reduction) {
    return arithmetic_of(m, reduction, reduction->operands[0], ++m->c.notes->epoch) + !le_node_adds_products(reduction);
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
        int64_t terms = le_walk_terms(m, &m->walks[k]);
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
    return terms >= 1 && terms <= WALK_TERMS && terms * le_walk_term_cost(m, node) <= WALK_COST;
}

/* Reductions over the same indices share a walk, unless one of them needs another's total. */
static bool add_walk(struct map *m, struct le_node *node) {
    if (!fits_walk(m, node))
        return false;
    for (int k = 0; k < m->walk_count; k++) {
        struct map_walk *w = &m->walks[k];
        if (le_node_same_indices(w->nodes[0], node) && w->node_count < MAP_WALK_NODES && !node->operands[0]->reduces) {
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

int64_t le_slide_stride(const struct map *m, const struct le_node *load, int index) {
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
    const int64_t inner = le_slide_stride(m, s->load, le_map_inner(m)->index);
    const int64_t rows = m->row >= 0 ? le_slide_stride(m, s->load, m->axes[m->row].index) : 0;
    const int last = last_index(w), before = index_before_last(w);
    int a = 0, b = 0;
    *s = (struct map_slide){.load = s->load, .down = -1, .across = -1, .of_turn = 1, .of_element = 1};
    if (inner == 0)
        return false;
    if (find_unit(inner, le_slide_stride(m, s->load, last), &s->of_element, &s->of_across))
        s->across = last;
    else
        s->of_element = 1;
    if (find_unit(rows, le_slide_stride(m, s->load, s->across >= 0 ? before : last), &a, &b) && llabs(b) == 1) {
        s->down = s->across >= 0 ? before : last;
        s->of_turn = a;
        s->of_down = b;
    }
    return s->across >= 0 || s->down >= 0;
}

static void add_other(struct map *m, struct map_walk *w, struct le_node *load) {
    bool fits =
        !load->live && load->operand_count > 0 && w->other_count < MAP_OTHERS_MAX && le_map_can_check_axes(m, load);
    if (!le_map_depends(m, load))
        return;
    if (fits)
        w->others[w->other_count++] = load;
    w->has_more |= !fits;
}

/* A slide, or another load. */
static void add_slide(struct map *m, struct map_walk *w, struct le_node *load) {
    struct map_slide s = {.load = load};
    struct map_place p;
    if (load->operand_count == 0 || load->live || w->slide_count == MAP_SLIDES_MAX || !le_map_is_plain(m, load, &p) ||
        !find_slide_along(m, w, &s)) {
        add_other(m, w, load);
        return;
    }
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
        s->found |=
            !is_of_stage(s->m, node->free[k]) && find_unit(le_slide_stride(s->m, node, s->m->axes[s->axis].index),
                                                           le_slide_stride(s->m, node, node->free[k]), &a, &b);
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

/* Whether both indices move the load along one axis of its array, the same one, and along no other. */
static bool move_along_one(const struct le_node *load, int a, int b) {
    int count = 0;
    for (int d = 0; d < load->operand_count; d++) {
        bool moves = le_node_depends(load->operands[d], a);
        if (moves != le_node_depends(load->operands[d], b))
            return false;
        count += moves;
    }
    return count == 1;
}

/* Guards check a slide's rows and columns as positions along the stage's axes. They are valid only if the term's index
 * moves along the same axis. In x[j,d] with short rows, the next j lies beyond the end of d's axis, but exists. */
static bool can_guard_slide(const struct map *m, const struct map_slide *s) {
    return le_map_can_check_axes(m, s->load) &&
           (s->across < 0 || move_along_one(s->load, s->across, le_map_inner(m)->index)) &&
           (s->down < 0 || move_along_one(s->load, s->down, m->axes[m->row].index));
}

bool le_map_walk_can_guard(const struct map *m) {
    for (int k = 0; k < m->walk_count; k++) {
        if (m->walks[k].has_more)
            return false;
        for (int q = 0; q < m->walks[k].slide_count; q++)
            if (!can_guard_slide(m, &m->walks[k].slides[q]))
                return false;
    }
    return true;
}

/* Nodes that all terms of an element share. */
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

int le_walk_count(const struct map *m, int index) {
    return index < 0 ? 1 : (int)le_range_count(le_range_of(m->c.space, index));
}

/* Rows that the thread's elements need at one term. */
int le_slide_rows_at_once(const struct map *m, const struct map_slide *s) {
    return (m->unroll - 1) * s->of_turn + 1;
}

int le_slide_rows(const struct map *m, const struct map_slide *s) {
    return le_slide_rows_at_once(m, s) + le_walk_count(m, s->down) - 1;
}

int le_slide_columns(const struct map *m, const struct map_slide *s) {
    return (m->width - 1) * s->of_element + (le_walk_count(m, s->across) - 1) * abs(s->of_across) + 1;
}

int le_slide_lowest(const struct map *m, int index, int step) {
    return step < 0 ? (le_walk_count(m, index) - 1) * step : 0;
}

/* The number of the element that the load reads where all indices have their first values. false: it is not known. */
static bool find_start(const struct map *m, const struct le_node *load, int64_t *start) {
    const struct le_address address = le_load_address(m->c.layouts, load);
    *start = address.layout->offset;
    for (int d = 0; d < address.rank; d++) {
        struct le_affine f;
        if (!le_axis_elements(m->c.space, &address, d, &f))
            return false;
        *start += f.constant;
        for (int k = 0; k < f.count; k++) {
            if (m->c.ir->indices.at[f.index[k]].host || le_range_of(m->c.space, f.index[k])->dynamic)
                return false;
            *start += le_wrapping_product(f.factor[k], le_range_of(m->c.space, f.index[k])->low);
        }
    }
    return true;
}

/* Elements of the widest vectors, and in *first the first column where one begins. 1: they are not aligned. */
int le_slide_vector(const struct map *m, const struct map_walk *w, const struct map_slide *s, int *first) {
    const int inner = m->axis_count - 1, size = le_map_size(m, s->load->value);
    const struct le_device_facts *facts = m->c.job->facts;
    int64_t step = le_slide_stride(m, s->load, le_map_inner(m)->index), all = step * m->width, start;
    *first = 0;
    if (step != s->of_element || !facts->is_aligned(facts->user, s->load->value) || !find_start(m, s->load, &start))
        return 1;
    for (int a = 0; a < inner; a++)
        all |= le_slide_stride(m, s->load, m->axes[a].index);
    for (int k = 0; k < w->nodes[0]->index_count; k++)
        if (w->nodes[0]->indices[k] != s->across)
            all |= le_slide_stride(m, s->load, w->nodes[0]->indices[k]);
    int vector = 16 / size;
    while (vector > 1 && all % vector != 0)
        vector /= 2;
    start += le_slide_lowest(m, s->across, s->of_across) - step * m->phase;
    *first = (int)(((-start) % vector + vector) % vector);
    return vector;
}

bool le_map_walk_reads_vectors(const struct map *m) {
    int first;
    for (int k = 0; k < m->stream_count; k++)
        if (m->streams[k].along && m->streams[k].align >= 0)
            return true;
    for (int k = 0; k < m->walk_count; k++)
        for (int q = 0; q < m->walks[k].slide_count; q++)
            if (le_slide_vector(m, &m->walks[k], &m->walks[k].slides[q], &first) > 1)
                return true;
    return false;
}

/* Elements of the read at a column. */
int le_slide_read_width(int at, int columns, int vector, int first) {
    while (vector > 1 && ((at - first) % vector != 0 || at + vector > columns))
        vector /= 2;
    return vector;
}
