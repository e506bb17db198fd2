/* Generates a map's reads: what a thread reads of its streams before it computes. */
#include "gen/mapping/map.h"

static int columns_of(const struct map *m, const struct map_stream *s) {
    int columns = !s->along ? 1 : s->step > 0 ? (m->width - 1) * s->step + 1 : m->width;
    columns += (m->unroll - 1) * s->row_columns;
    return s->pair.other >= 0 ? 2 * m->width : columns + s->column_high - s->column_low;
}

/* ROWS: rows of the array; else an unrolled iteration is a row. */
static int rows_of(const struct map *m, const struct map_stream *s) {
    return m->way == MAP_ROWS ? (m->unroll - 1) * s->row_step + 1 + s->row_high - s->row_low : m->unroll;
}

const char *le_map_wish(struct map *m, const struct map_stream *s, const char *what) {
    return le_arena_format(m->c.arena, "%s_%s", le_codegen_value_name(&m->c, s->loads[0]->value), what);
}

/* Returns the position of an element's part among the parts of both streams or results. */
struct le_expression *le_map_part_of_pair(struct map *m, const struct map_pair *pair, struct le_expression *element) {
    struct le_kernel_tree *t = m->c.tree;
    return le_plus(t, le_times_int(t, element, 2), le_ktree_int(t, pair->imaginary));
}

/* Returns the element that was read ahead for load number `load` of the stream. */
struct le_expression *le_map_read_element(struct map *m, const struct map_stream *s, int load,
                                          const struct map_spot *at) {
    struct le_kernel_tree *t = m->c.tree;
    int step = s->step > 0 ? s->step : 1;
    struct le_expression *row = at->turn, *column = le_ktree_int(t, s->column[load] - s->column_low);
    if (m->way == MAP_ROWS) {
        row = le_ktree_int(t, s->row[load] - s->row_low);
        if (s->row_step > 0)
            row = le_plus(t, le_times_int(t, at->turn, s->row_step), row);
    }
    if (s->pair.other >= 0)
        return le_ktree_element2(t, s->array, row, le_map_part_of_pair(m, &s->pair, at->element));
    if (s->along)
        column = le_plus(t, le_times_int(t, at->element, step), column);
    if (s->row_columns > 0)
        column = le_plus(t, le_times_int(t, at->turn, s->row_columns), column);
    return le_ktree_element2(t, s->array, row, column);
}

/* Reads one row of both streams of a pair: a vector if it is aligned, else elements. */
static void read_pair(struct map *m, const struct map_stream *s, struct le_block *block, struct le_expression *turn,
                      struct le_expression *row) {
    struct le_kernel_tree *t = m->c.tree;
    const struct map_stream *both[] = {s, &m->streams[s->pair.other]};
    for (int e = 0; e < (s->align == 0 ? 1 : m->width); e++) {
        struct le_block *base = le_ktree_open(t, block);
        le_map_bind_inner(m, base, turn, le_ktree_int(t, e));
        for (int k = 0; k < 2 && s->align != 0; k++)
            le_ktree_set(t, base, le_ktree_element2(t, s->array, row, le_ktree_int(t, 2 * e + k)),
                         le_codegen_trusted_place(&m->c, both[k]->loads[0], base));
        if (s->align == 0)
            le_ktree_copy(t, base, 2 * m->width, le_map_row_address(m, s->array, row),
                          le_ktree_address(t, le_codegen_trusted_place(&m->c, s->loads[0], base)));
        le_ktree_close(t, base);
    }
}

/* ---- rows */

struct row_reading {
    struct map_span span;
    const struct map_stream *s;
    struct le_block *block;
    struct le_expression *turn, *rows_away; /* the unrolled iteration; the row of the stream's array as a distance */
    bool guarded;
};

/* Whether some load reads that column at some element of some row. */
static bool is_needed(const struct map *m, const struct map_stream *s, int column) {
    int step = s->along && s->step > 0 ? s->step : 1, elements = s->along ? m->width : 1;
    for (int k = 0; k < s->load_count; k++)
        for (int u = 0; u < (s->row_columns > 0 ? m->unroll : 1); u++) {
            int from_load = column - (s->column[k] - s->column_low) - u * s->row_columns;
            if (from_load >= 0 && from_load % step == 0 && from_load / step < elements)
                return true;
        }
    return false;
}

static int count_needed(const struct map *m, const struct map_stream *s, int from, int count) {
    int needed = 0;
    for (int k = from; k < from + count; k++)
        needed += is_needed(m, s, k);
    return needed;
}

static struct le_expression *pitch_of(struct map *m, const struct map_stream *s) {
    const char *name = le_arena_format(m->c.arena, "%s_pitch", le_codegen_value_name(&m->c, s->loads[0]->value));
    struct le_expression *pitch = le_codegen_number(&m->c, name, s->pitch);
    bool narrow = le_codegen_reaches_in_int(&m->c, s->loads[0]->value);
    return narrow ? le_to_int(m->c.tree, pitch) : pitch;
}

/* `span` elements from column `at` of the row on. */
static struct le_expression *checked_element(const struct map_span *to, struct le_block *block, int at, int more,
                                             int span, struct le_expression **inside) {
    const struct row_reading *r = to->user;
    struct map *m = to->m;
    at += more;
    const struct map_stream *s = r->s;
    struct le_kernel_tree *t = m->c.tree;
    bool lone = s->along && s->step == 0; /* its elements are not side by side */
    struct le_near near = {.load = to->load, .row_axis = -1, .column_axis = -1, .span = span};
    le_map_bind_inner(m, block, r->turn, le_ktree_int(t, lone ? at : 0));
    if (r->guarded) {
        near.row_axis = r->rows_away ? s->row_dimension : -1;
        near.row = r->rows_away;
        near.column_axis = lone ? -1 : s->column_dimension;
        near.column = at + s->column_low;
        near.checked = le_map_checked(m, s, near.column, span);
        return le_codegen_near(&m->c, &near, block, inside);
    }
    near.apart = lone ? NULL : le_ktree_int(t, at + s->column_low);
    if (r->rows_away) {
        struct le_expression *rows = le_times(t, r->rows_away, pitch_of(m, s));
        near.apart = near.apart ? le_plus(t, rows, near.apart) : rows;
    }
    return le_codegen_near(&m->c, &near, block, inside);
}

/* Returns the value of an element out of range. */
struct le_expression *le_map_fill_of(struct map *m, const struct le_node *load, struct le_block *block) {
    struct codegen *c = &m->c;
    int stored = (int)c->ir->values.at[load->value].type;
    if (load->edge != LE_EDGE_FILL)
        return le_ktree_constant(c->tree, stored, 0);
    return le_codegen_to_memory(c, le_codegen_wide(c, le_codegen_node(c, load->fill, block, NULL)),
                                (enum le_type)stored);
}

static struct le_expression *near_element(const struct map_span *r, int at) {
    return le_ktree_element2(r->m->c.tree, r->array, r->row, le_ktree_int(r->m->c.tree, at));
}

static void read_element(const struct map_span *r, struct le_block *block, int at, int more) {
    struct le_kernel_tree *t = r->m->c.tree;
    struct le_expression *inside, *x = r->element(r, block, at, more, 1, &inside);
    if (inside)
        x = le_ktree_select(t, inside, x, le_map_fill_of(r->m, r->load, block));
    le_ktree_set(t, block, near_element(r, at + more), x);
}

/* If part of a vector is out of range, it is read element by element. If all of it is, it is filled. */
static void read_vector(const struct map_span *r, struct le_block *block, int at, int width, bool none) {
    struct le_kernel_tree *t = r->m->c.tree;
    struct le_expression *inside, *from = le_ktree_address(t, r->element(r, block, at, 0, width, &inside));
    struct le_block *within = inside ? le_ktree_open_if(t, block, inside) : block;
    struct le_expression *addresses[] = {le_ktree_address(t, near_element(r, at)), from};
    if (r->columns == width)
        le_ktree_copy(t, within, width, le_map_row_address(r->m, r->array, r->row), from);
    else
        le_do(t, within, LE_CALL_READ_AT, &LE_STATIC_NUMBER(width), addresses);
    if (!inside)
        return;
    struct le_block *outside = le_ktree_open_else(t, block);
    for (int e = 0; e < width; e++)
        if (none)
            le_ktree_set(t, outside, near_element(r, at + e), le_map_fill_of(r->m, r->load, block));
        else
            read_element(r, outside, at, e);
    le_ktree_close(t, within);
    le_ktree_close(t, outside);
}

void le_map_read_span(const struct map_span *r, struct le_block *block, int at, int width, bool none) {
    struct le_block *base = le_ktree_open(r->m->c.tree, block);
    if (width > 1)
        read_vector(r, base, at, width, none);
    else
        read_element(r, base, at, 0);
    le_ktree_close(r->m->c.tree, base);
}

bool le_map_moves(const struct le_node *load) {
    return load->edge != LE_EDGE_NONE && load->edge != LE_EDGE_FILL;
}

/* Reads one row of a stream: vectors where they are aligned, else elements. */
static void read_row(const struct row_reading *r) {
    const struct map *m = r->span.m;
    const struct map_stream *s = r->s;
    int columns = columns_of(m, s), width = m->width, d = s->column_dimension;
    for (int at = 0, step; at < columns; at += step) {
        bool wide = s->along && s->align >= 0 && (at + s->column_low - s->align) % width == 0 && at + width <= columns;
        wide = wide && count_needed(m, s, at, width) > 1;
        step = wide ? width : 1;
        if (!wide && !is_needed(m, s, at))
            continue;
        int column = at + s->column_low;
        bool none = wide && r->guarded &&
                    (!(le_map_checked(m, s, column, width) >> d & 1) ||
                     (!le_map_moves(s->loads[0]) && le_map_keeps_vectors(m, s, column)));
        le_map_read_span(&r->span, r->block, at, step, none);
    }
}

static void read_rows(struct map *m, const struct map_stream *s, struct le_block *block, bool guarded) {
    struct le_kernel_tree *t = m->c.tree;
    struct row_reading r = {.s = s, .guarded = guarded};
    r.span = (struct map_span){.m = m,
                               .load = s->loads[0],
                               .array = s->array,
                               .columns = columns_of(m, s),
                               .element = checked_element,
                               .user = &r};
    struct le_block *rows = le_ktree_open_each(t, block, "row", rows_of(m, s), &r.span.row);
    r.block = rows;
    r.turn = m->way == MAP_ROWS ? le_ktree_int(t, 0) : r.span.row;
    if (m->way == MAP_ROWS && s->pitch != 0)
        r.rows_away = le_plus(t, r.span.row, le_ktree_int(t, s->row_low));
    if (guarded && m->way == MAP_FLAT)
        r.block = le_ktree_open_if(t, rows, le_map_exists(m, r.turn));
    le_map_bind_outer(m, r.block, r.turn);
    if (s->pair.other >= 0)
        read_pair(m, s, r.block, r.turn, r.span.row);
    else
        read_row(&r);
    le_ktree_close_to(t, r.block, block);
}

/* ---- streams */

/* Reads each load separately, where its element exists. */
static void read_some(struct map *m, struct le_block *block) {
    struct map_spot at = le_map_open_elements(m, block, MAP_COUNTED);
    for (int q = 0; q < m->stream_count; q++) {
        const struct map_stream *s = &m->streams[q];
        for (int x = 0; x < s->load_count && !s->tile; x++)
            le_ktree_set(m->c.tree, at.block, le_map_read_element(m, s, x, &at),
                         le_codegen_trusted_place(&m->c, s->loads[x], at.block));
    }
    le_ktree_close_to(m->c.tree, at.block, block);
}

static void declare_near(struct map *m, struct le_block *block, bool zeroed) {
    for (int q = 0; q < m->stream_count; q++) {
        struct map_stream *s = &m->streams[q];
        if (!s->tile && !s->pair.imaginary)
            s->array = le_map_declare_rows(m, block, le_map_wish(m, s, "near"), le_map_stored_type(m, s), rows_of(m, s),
                                           columns_of(m, s), zeroed);
    }
    for (int q = 0; q < m->stream_count; q++)
        if (m->streams[q].pair.imaginary && !m->streams[q].tile)
            m->streams[q].array = m->streams[m->streams[q].pair.other].array;
}

static bool reads_ahead(const struct map *m) {
    for (int q = 0; q < m->stream_count; q++)
        if (!m->streams[q].tile)
            return true;
    return false;
}

void le_map_read_ahead(struct map *m, struct le_block *block, enum map_reading how) {
    if (!reads_ahead(m))
        return;
    declare_near(m, block, how == MAP_READ_EITHER || (how == MAP_READ_GUARDED && m->way == MAP_FLAT));
    struct le_block *rest = NULL, *all = how != MAP_READ_EITHER ? block : le_map_open_whole(m, block, &rest);
    for (int q = 0; q < m->stream_count && all; q++)
        if (!m->streams[q].tile && !m->streams[q].pair.imaginary)
            read_rows(m, &m->streams[q], all, how == MAP_READ_GUARDED);
    if (how != MAP_READ_EITHER)
        return;
    read_some(m, rest);
    le_map_close_whole(m, all, rest);
}
