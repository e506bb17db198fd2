/* Finds a map's streams: the arrays whose elements a thread reads before it computes, because their addresses can be
 * computed by counting. Loads that are a few rows and columns apart are one stream, which reads what they share once.
 */
#include "gen/mapping/map.h"
#include <stdlib.h>

#define STEP_MAX       4  /* columns, or rows, from one position to the next whose elements are read as neighbours */
#define STEP_BYTES_MAX 16 /* the same in bytes */

/* ---- rows and columns of a stream */

int le_map_dimension(const struct map *m, const struct le_node *load, int axis, int64_t *factor) {
    const struct le_address address = le_load_address(m->c.layouts, load);
    int found = -1;
    for (int d = 0; d < address.rank; d++) {
        struct le_affine f;
        if (le_address_is_stretched(&address, d) || !le_affine_of(m->c.space, load->operands[d], &f))
            continue;
        for (int k = 0; k < f.count; k++) {
            if (f.index[k] != m->axes[axis].index)
                continue;
            if (found >= 0)
                return -1;
            found = d;
            *factor = f.factor[k] * le_range_of(m->c.space, f.index[k])->by;
        }
    }
    return found;
}

int64_t le_map_subscripts_apart(const struct map *m, const struct le_node *a, const struct le_node *b, int d) {
    struct le_affine f, g;
    return le_affine_of(m->c.space, a->operands[d], &f) && le_affine_of(m->c.space, b->operands[d], &g)
               ? g.constant - f.constant
               : 0;
}

static bool is_step(int64_t step) {
    return step >= 1 && step <= STEP_MAX;
}

bool le_map_is_step(int64_t step, int64_t size) {
    return is_step(step) && step * size <= STEP_BYTES_MAX;
}

static struct map_stream stream_of(const struct map *m, struct le_node *load, const struct map_place *p) {
    int inner = m->axis_count - 1;
    int64_t step = p->strides[inner], rows = 0;
    struct map_stream s = {.loads = {load}, .load_count = 1, .pair.other = -1, .place = *p, .row_dimension = -1};
    const int64_t *strides = m->c.layouts[load->value].strides;
    s.along = le_node_depends(load, m->axes[inner].index) && step != 0;
    s.step = le_map_is_step(step, le_map_size(m, load->value)) ? (int)step : 0;
    s.column_dimension = le_map_dimension(m, load, inner, &step);
    if (s.column_dimension >= 0 && (strides[s.column_dimension] != 1 || s.step == 0))
        s.column_dimension = -1;
    if (m->way != MAP_ROWS || p->strides[m->row] == 0)
        return s;
    s.pitch = p->strides[m->row];
    if (s.pitch > 0 && s.pitch < s.step) { /* rows lie between columns */
        s.row_columns = (int)s.pitch;
        s.pitch = 0;
        return s;
    }
    s.row_step = 1;
    s.row_dimension = le_map_dimension(m, load, m->row, &rows);
    if (s.row_dimension == le_map_dimension(m, load, inner, &step))
        s.row_dimension = -1;
    if (s.row_dimension >= 0 && is_step(rows)) {
        s.pitch = strides[s.row_dimension];
        s.row_step = (int)rows;
    } else {
        s.row_dimension = -1;
    }
    return s;
}

/* The distance between two reads: columns, or rows and columns. */
static bool find_shift(const struct map *m, const struct map_stream *s, const struct le_node *load,
                       const struct map_place *p, int *row, int *column) {
    int64_t apart = p->start - s->place.start, pitch = llabs(s->pitch);
    *row = 0;
    if (s->step == 0)
        return false;
    if (s->row_dimension >= 0) {
        int64_t rows = le_map_subscripts_apart(m, s->loads[0], load, s->row_dimension);
        if (llabs(rows) > MAP_SHIFT_MAX)
            return false;
        *row = (int)rows;
    } else if (pitch > 2 * MAP_SHIFT_MAX && llabs(apart) > MAP_SHIFT_MAX) {
        int64_t rows = (llabs(apart) + pitch / 2) / pitch;
        if (rows > MAP_SHIFT_MAX)
            return false;
        *row = (int)((apart < 0) == (s->pitch < 0) ? rows : -rows);
    }
    apart -= *row * s->pitch;
    *column = (int)apart;
    return llabs(apart) <= MAP_SHIFT_MAX;
}

static struct map_stream widened(const struct map_stream *s, int row, int column) {
    struct map_stream wide = *s;
    wide.row_low = row < s->row_low ? row : s->row_low;
    wide.row_high = row > s->row_high ? row : s->row_high;
    wide.column_low = column < s->column_low ? column : s->column_low;
    wide.column_high = column > s->column_high ? column : s->column_high;
    return wide;
}

static void widen_interval(int64_t from, int64_t to, int64_t stride, int64_t *low, int64_t *high) {
    int64_t first = le_wrapping_product(from, stride), last = le_wrapping_product(to, stride);
    *low += first < last ? first : last;
    *high += first < last ? last : first;
}

/* Whether the array has all that is read of rows and columns, where no load asks for some of it, too. */
static bool has_all(const struct map *m, const struct map_stream *s) {
    const struct le_layout *layout = &m->c.layouts[s->loads[0]->value];
    int64_t low = layout->offset, high = low, first = s->place.start, last = first;
    for (int d = 0; d < m->c.ir->values.at[s->loads[0]->value].rank; d++)
        widen_interval(0, layout->shape[d] - 1, layout->strides[d], &low, &high);
    for (int a = 0; a < m->axis_count; a++)
        widen_interval(m->inside ? m->inside_low[a] : 0, (m->inside ? m->inside_high[a] : m->axes[a].count) - 1,
                       s->place.strides[a], &first, &last);
    widen_interval(s->column_low, s->column_high, 1, &first, &last);
    widen_interval(s->row_low, s->row_high, s->pitch, &first, &last);
    return first >= low && last <= high;
}

static void add_load(struct map *m, struct le_node *load, const struct map_place *p) {
    int row, column;
    for (int k = 0; k < m->stream_count; k++) {
        struct map_stream *s = &m->streams[k];
        if (s->loads[0]->value != load->value || s->load_count == MAP_LOADS_MAX ||
            !le_map_same_strides(m, &s->place, p) || !find_shift(m, s, load, p, &row, &column))
            continue;
        struct map_stream wide = widened(s, row, column);
        if (!has_all(m, &wide))
            continue;
        *s = wide;
        s->loads[s->load_count] = load;
        s->row[s->load_count] = row;
        s->column[s->load_count++] = column;
        return;
    }
    if (m->stream_count == MAP_STREAMS_MAX) {
        m->loose = true;
        return;
    }
    m->streams[m->stream_count++] = stream_of(m, load, p);
}

static void find_streams(struct map *m, struct le_node *node, int epoch) {
    struct map_place p;
    if (!node->loads || node->kind == LE_NODE_REDUCE || le_note_met(m->c.notes, node, epoch))
        return;
    if (node->kind == LE_NODE_LOAD && le_map_is_plain(m, node, &p)) {
        if (le_map_depends(m, node))
            add_load(m, node, &p);
        return;
    }
    m->loose |= node->kind == LE_NODE_LOAD && le_map_depends(m, node);
    for (int k = 0; k < node->operand_count; k++)
        find_streams(m, node->operands[k], epoch);
}

void le_map_find_streams(struct map *m) {
    int epoch = ++m->c.notes->epoch;
    m->stream_count = 0;
    m->loose = m->paired = false;
    for (int d = 0; m->scatters && d < m->stage->left_count; d++)
        find_streams(m, m->stage->left[d], epoch);
    for (int k = 0; k < m->result_count; k++)
        find_streams(m, m->nodes[k], epoch);
}

/* ---- reads with checks */

/* Positions along an axis that threads have, of which some may not exist: from *first to below *end. */
static void find_positions(const struct map *m, int axis, int64_t *first, int64_t *end) {
    bool inner = axis == m->axis_count - 1;
    int64_t part = inner ? m->width : m->way == MAP_ROWS && axis == m->row ? m->unroll : 1;
    if (inner ? m->shifts_columns : m->shifts_rows)
        part = 1;
    *first = inner ? -m->phase : 0;
    *end = *first + (m->axes[axis].count - *first + part - 1) / part * part;
}

static int axis_of(const struct map *m, int index) {
    for (int a = 0; a < m->axis_count; a++)
        if (m->axes[a].index == index)
            return a;
    return -1;
}

/* Whether the subscript counts along several axes of the array at once: it is never out of range, but exceeds its own
 * axis. */
static bool is_merged(const struct map *m, const struct le_affine *f) {
    for (int k = 0; k < f->count; k++) {
        int a = axis_of(m, f->index[k]);
        if (a >= 0 && m->axes[a].merged)
            return true;
    }
    return false;
}

/* The index of a loop on the host, of which every turn has its own value. */
static bool varies(const struct map *m, int index) {
    const struct le_range *r = le_range_of(m->c.space, index);
    return r->dynamic || (m->c.ir->indices.at[index].host && le_range_count(r) != 1);
}

/* Whether all of the subscript's values are inside, for all positions, the rows around them, and these columns. */
static bool stays_inside(const struct map *m, const struct map_stream *s, int d, const struct le_affine *f, int column,
                         int span) {
    int64_t low = f->constant, high = low, first, end;
    for (int k = 0; k < f->count; k++) {
        int a = axis_of(m, f->index[k]);
        const struct le_range *r = le_range_of(m->c.space, f->index[k]);
        if (varies(m, f->index[k]))
            return false;
        low += f->factor[k] * r->low;
        high += f->factor[k] * r->low;
        if (a < 0)
            continue;
        find_positions(m, a, &first, &end);
        if (d == s->column_dimension && a == m->axis_count - 1)
            end -= m->width - 1; /* a thread's columns are counted from its first element */
        widen_interval(first, end - 1, f->factor[k] * r->by, &low, &high);
    }
    if (d == s->row_dimension)
        widen_interval(s->row_low, s->row_high, 1, &low, &high);
    if (d == s->column_dimension)
        widen_interval(column, column + span - 1, 1, &low, &high);
    return low >= 0 && high < m->c.layouts[s->loads[0]->value].shape[d];
}

unsigned le_map_checked(const struct map *m, const struct map_stream *s, int column, int span) {
    const struct le_address address = le_load_address(m->c.layouts, s->loads[0]);
    unsigned checked = 0;
    for (int d = 0; d < address.rank; d++) {
        struct le_affine f;
        if (le_address_is_stretched(&address, d) || !le_affine_of(m->c.space, address.subscripts[d], &f))
            continue;
        if (!is_merged(m, &f) && !stays_inside(m, s, d, &f, column, span))
            checked |= 1u << d;
    }
    return checked;
}

bool le_map_keeps_vectors(const struct map *m, const struct map_stream *s, int column) {
    int d = s->column_dimension, inner = m->axis_count - 1;
    struct le_affine f;
    if (d < 0 || m->c.layouts[s->loads[0]->value].shape[d] % m->width != 0 ||
        !le_affine_of(m->c.space, s->loads[0]->operands[d], &f))
        return false;
    int64_t start = f.constant + column - (int64_t)m->phase * s->step;
    for (int k = 0; k < f.count; k++) {
        const struct le_range *r = le_range_of(m->c.space, f.index[k]);
        start += f.factor[k] * r->low;
        if (varies(m, f.index[k]) ||
            (f.index[k] != m->axes[inner].index && axis_of(m, f.index[k]) >= 0 && f.factor[k] * r->by % m->width != 0))
            return false;
    }
    return start % m->width == 0;
}

bool le_map_stays_inside(const struct map *m, const struct le_node *load, int d) {
    struct le_affine f;
    if (!le_affine_of(m->c.space, load->operands[d], &f))
        return false;
    if (is_merged(m, &f))
        return true;
    int64_t low = f.constant, high = low, first, end;
    for (int k = 0; k < f.count; k++) {
        const struct le_range *r = le_range_of(m->c.space, f.index[k]);
        int a = axis_of(m, f.index[k]);
        if (varies(m, f.index[k]))
            return false;
        widen_interval(r->low, a < 0 ? r->high - 1 : r->low, f.factor[k], &low, &high);
        if (a < 0)
            continue;
        find_positions(m, a, &first, &end);
        widen_interval(first, end - 1, f.factor[k] * r->by, &low, &high);
    }
    return low >= 0 && high < m->c.layouts[load->value].shape[d];
}

/* A merged axis has no subscript of its own that could be checked: all of its positions must exist. */
static bool exists_everywhere(const struct map *m, int axis) {
    int64_t first, end;
    find_positions(m, axis, &first, &end);
    return first == 0 && end == m->axes[axis].count;
}

bool le_map_can_check_axes(const struct map *m, const struct le_node *load) {
    for (int d = 0; d < load->operand_count; d++) {
        struct le_affine f;
        if (load->operands[d]->loads || load->operands[d]->reduces)
            return false;
        bool affine = le_affine_of(m->c.space, load->operands[d], &f);
        for (int a = 0; a < m->axis_count; a++)
            if (m->axes[a].merged && le_node_depends(load->operands[d], m->axes[a].index) &&
                (!affine || !exists_everywhere(m, a)))
                return false;
    }
    return true;
}

static bool has_same_edge(const struct le_node *a, const struct le_node *b) {
    return a->edge == b->edge && (a->edge != LE_EDGE_FILL || a->fill == b->fill);
}

/* Whether the load reads what the stream's first load reads some rows and columns away, out of range, too. */
static bool is_shifted(const struct map *m, const struct map_stream *s, int load) {
    const struct le_node *a = s->loads[0], *b = s->loads[load];
    for (int d = 0; d < a->operand_count; d++) {
        struct le_affine f, g;
        if (!le_affine_of(m->c.space, a->operands[d], &f) || !le_affine_of(m->c.space, b->operands[d], &g) ||
            f.count != g.count)
            return false;
        int64_t apart = (d == s->row_dimension ? s->row[load] : 0) + (d == s->column_dimension ? s->column[load] : 0);
        for (int k = 0; k < f.count; k++)
            if (f.index[k] != g.index[k] || f.factor[k] != g.factor[k])
                return false;
        if (g.constant - f.constant != apart)
            return false;
    }
    return a->stretch == b->stretch && has_same_edge(a, b);
}

static bool can_check(const struct map *m, const struct map_stream *s) {
    int inner = m->axis_count - 1;
    bool rows = m->way == MAP_ROWS && s->place.strides[m->row] != 0;
    if (s->row_dimension >= 0 && s->row_dimension == s->column_dimension)
        return false;
    if (s->along && m->width > 1 && s->column_dimension < 0)
        return false;
    if (rows && s->row_dimension < 0)
        return false;
    if (s->along && m->axes[inner].merged &&
        (!exists_everywhere(m, inner) || s->column_low != 0 || s->column_high != 0))
        return false;
    if (rows && m->axes[m->row].merged && (!exists_everywhere(m, m->row) || s->row_low != 0 || s->row_high != 0))
        return false;
    for (int k = 1; k < s->load_count; k++)
        if (!is_shifted(m, s, k))
            return false;
    return true;
}

bool le_map_can_guard(const struct map *m) {
    if ((!m->inside && m->windows != MAP_WALKED) || m->scatters || m->paired || m->loose || !m->safe || m->dear ||
        m->way == MAP_TILE)
        return false;
    if (m->windows == MAP_WALKED && !le_map_walk_can_guard(m))
        return false;
    for (int k = 0; k < m->stream_count; k++)
        if (!can_check(m, &m->streams[k]))
            return false;
    return true;
}

/* Ends of an axis where threads have elements that do not exist, or that read out of range. */
static int ends_of(const struct map *m, int axis) {
    int64_t first, end, count = m->axes[axis].count;
    find_positions(m, axis, &first, &end);
    return (first < 0 || (m->inside && m->inside_low[axis] > 0)) +
           (end > count || (m->inside && m->inside_high[axis] < count));
}

/* Of the threads that an axis' parts and those of the faster axes take, one run at each end is at an edge. */
double le_map_edge_share(const struct map *m) {
    const struct map_digits d = le_map_digits(m);
    double before = 1, share = 0; /* of warps */
    for (int k = 0; k < d.count; k++) {
        int a = d.at[k].axis, ends = ends_of(m, a);
        double parts = 1, run = before < WARP ? WARP : before;
        for (int q = k; q < d.count; q++)
            parts *= d.at[q].axis == a ? (double)d.at[q].count : 1;
        if (d.at[k].unit == 1)
            share += ends * run / (before * parts);
        before *= (double)d.at[k].count;
    }
    return share;
}
