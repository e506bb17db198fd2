/* Generates a map's kernel: the reads ahead, the elements, and the writes. */
#include "gen/mapping/map.h"

#define PLACES_FOR_BLOCKS (2048 / MAP_THREADS) /* resident thread blocks of a multiprocessor */
#define TURNS_MOST        8

static int stored_type(const struct map *m, const struct map_stream *s) {
    return (int)m->c.ir->values.at[s->loads[0]->value].type;
}

/* Declares a local array [rows, columns], aligned if its rows are moved as vectors. */
static struct le_variable *declare_rows(struct map *m, struct le_block *block, const char *wish, int type, int rows,
                                        int columns, bool zeroed) {
    struct le_variable *array = le_ktree_array(m->c.tree, block, wish, type, LE_KTREE_LOCAL, rows, columns);
    struct le_statement *s = block->list.at[block->list.count - 1];
    s->aligned = columns > 1 && (columns == m->width || (m->paired && columns == 2 * m->width));
    s->zeroed = zeroed;
    return array;
}

static struct le_expression *row_address(struct map *m, struct le_variable *array, struct le_expression *row) {
    return le_ktree_address(m->c.tree, le_ktree_element(m->c.tree, array, row));
}

/* ---- loops over a thread's turns and elements */

/* Which elements open_elements runs for: all; those that exist; or all of the unrolled iterations in which at least one
 * element exists, because loads of the others are out of range. */
enum which { ALL, COUNTED, COUNTED_TURNS };

/* Whether an element exists; NULL: it always does. */
static struct le_expression *counts(struct map *m, const struct map_spot *s) {
    struct le_kernel_tree *t = m->c.tree;
    if (!m->to)
        return NULL;
    struct le_expression *to = le_ktree_element(t, m->to, s->turn);
    if (m->width == 1)
        return to;
    struct le_expression *below = le_less(t, s->element, to);
    if (!m->from)
        return below;
    return le_both(t, le_at_least(t, s->element, le_ktree_element(t, m->from, s->turn)), below);
}

/* Binds the inner index to the position of the unrolled iteration plus some elements. */
static void bind_inner(struct map *m, struct le_block *block, struct le_expression *turn, struct le_expression *more) {
    int inner = m->axis_count - 1;
    le_map_bind(m, block, inner, le_plus(m->c.tree, le_map_place(m, inner, turn), more));
}

static struct map_spot open_elements(struct map *m, struct le_block *block, enum which which) {
    struct le_kernel_tree *t = m->c.tree;
    struct map_spot s;
    s.turns = le_ktree_open_each(m->c.tree, block, "u", m->unroll, &s.turn);
    if (which == COUNTED_TURNS) {
        struct le_expression *to = le_ktree_element(t, m->to, s.turn);
        bool many = m->width > 1;
        s.turns = le_codegen_open_branch(&m->c, s.turns, many ? le_greater(t, to, le_ktree_int(t, 0)) : to);
    }
    le_map_bind_outer(m, s.turns, s.turn);
    s.block = le_ktree_open_each(m->c.tree, s.turns, "e", m->width, &s.element);
    struct le_expression *asks = which == ALL ? NULL : counts(m, &s);
    if (asks) {
        s.block = le_ktree_open_if(t, s.block, asks);
        s.block->conditional = which == COUNTED_TURNS;
    }
    bind_inner(m, s.block, s.turn, s.element);
    return s;
}

/* Opens the branch where all elements exist (NULL: that is not known), and the one where some may not. */
static struct le_block *open_whole(struct map *m, struct le_block *block, struct le_block **rest) {
    struct le_kernel_tree *t = m->c.tree;
    struct le_block *all = m->whole ? le_ktree_open_if(t, block, le_ktree_use(t, m->whole)) : NULL;
    *rest = all ? le_ktree_open_else(t, block) : block;
    return all;
}

/* Code hoisted out of either branch comes before both. */
static void close_whole(struct map *m, struct le_block *all, struct le_block *rest) {
    if (all) {
        le_ktree_close(m->c.tree, all);
        le_ktree_close(m->c.tree, rest);
    }
}

/* ---- reading ahead */

static int columns_of(const struct map *m, const struct map_stream *s) {
    return (s->along ? m->width * le_map_unit(&s->pair) : 1) + s->column_high - s->column_low;
}

static const char *wish_of(struct map *m, const struct map_stream *s, const char *what) {
    return le_arena_format(m->c.arena, "%s_%s", le_codegen_value_name(&m->c, s->loads[0]->value), what);
}

/* Where an element's part lies among the parts of both streams or results. */
static struct le_expression *part_of_pair(struct map *m, const struct map_pair *pair, struct le_expression *element) {
    struct le_kernel_tree *t = m->c.tree;
    return le_plus(t, le_times_int(t, element, 2), le_ktree_int(t, pair->imaginary));
}

/* What was read ahead for load number `load` of the stream, at the element. */
static struct le_expression *read_element(struct map *m, const struct map_stream *s, int load,
                                          const struct map_spot *at) {
    struct le_kernel_tree *t = m->c.tree;
    struct le_expression *row = le_plus(t, at->turn, le_ktree_int(t, s->row[load] - s->row_low));
    struct le_expression *column = le_ktree_int(t, s->column[load] - s->column_low);
    if (s->pair.other >= 0)
        return le_ktree_element2(t, s->array, row, part_of_pair(m, &s->pair, at->element));
    return le_ktree_element2(t, s->array, row, s->along ? le_plus(t, at->element, column) : column);
}

/* Reads one row of both streams of a pair: a vector if it is aligned, else elements. */
static void read_pair(struct map *m, const struct map_stream *s, struct le_block *block, struct le_expression *turn,
                      struct le_expression *row) {
    struct le_kernel_tree *t = m->c.tree;
    const struct map_stream *both[] = {s, &m->streams[s->pair.other]};
    for (int e = 0; e < (s->align == 0 ? 1 : m->width); e++) {
        struct le_block *base = le_ktree_open(t, block);
        bind_inner(m, base, turn, le_ktree_int(t, e));
        for (int k = 0; k < 2 && s->align != 0; k++)
            le_ktree_set(t, base, le_ktree_element2(t, s->array, row, le_ktree_int(t, 2 * e + k)),
                         le_codegen_trusted_place(&m->c, both[k]->loads[0], base));
        if (s->align == 0)
            le_ktree_copy(t, base, 2 * m->width, row_address(m, s->array, row),
                          le_ktree_address(t, le_codegen_trusted_place(&m->c, s->loads[0], base)));
        le_ktree_close(t, base);
    }
}

/* Reads one row of a stream: vectors where they are aligned, else elements. */
static void read_row(struct map *m, const struct map_stream *s, struct le_block *block, struct le_expression *turn,
                     struct le_expression *row) {
    struct le_kernel_tree *t = m->c.tree;
    int columns = columns_of(m, s), width = m->width;
    for (int at = 0, step; at < columns; at += step) {
        bool wide = s->along && s->align >= 0 && (at + s->column_low - s->align) % width == 0 && at + width <= columns;
        step = wide ? width : 1;
        struct le_block *base = le_ktree_open(t, block);
        bind_inner(m, base, turn, le_ktree_int(t, at + s->column_low));
        struct le_expression *from = le_codegen_trusted_place(&m->c, s->loads[0], base);
        struct le_expression *to = le_ktree_element2(t, s->array, row, le_ktree_int(t, at));
        struct le_expression *addresses[] = {le_ktree_address(t, to), le_ktree_address(t, from)};
        if (wide && columns == width)
            le_ktree_copy(t, base, width, row_address(m, s->array, row), addresses[1]);
        else if (wide)
            le_do(t, base, LE_CALL_READ_AT, &LE_STATIC_NUMBER(width), addresses);
        else
            le_ktree_set(t, base, to, from);
        le_ktree_close(t, base);
    }
}

static void read_rows(struct map *m, const struct map_stream *s, struct le_block *block) {
    struct le_expression *row;
    struct le_block *rows = le_ktree_open_each(m->c.tree, block, "row", m->unroll + s->row_high - s->row_low, &row);
    struct le_expression *turn = le_plus(m->c.tree, row, le_ktree_int(m->c.tree, s->row_low));
    le_map_bind_outer(m, rows, turn);
    if (s->pair.other >= 0)
        read_pair(m, s, rows, turn, row);
    else
        read_row(m, s, rows, turn, row);
    le_ktree_close(m->c.tree, rows);
}

/* Reads each load separately, where its element exists. */
static void read_some(struct map *m, struct le_block *block) {
    struct map_spot at = open_elements(m, block, COUNTED);
    for (int q = 0; q < m->stream_count; q++) {
        const struct map_stream *s = &m->streams[q];
        for (int x = 0; x < s->load_count && !s->tile; x++)
            le_ktree_set(m->c.tree, at.block, read_element(m, s, x, &at),
                         le_codegen_trusted_place(&m->c, s->loads[x], at.block));
    }
    le_ktree_close_to(m->c.tree, at.block, block);
}

/* whole: all elements exist */
static void read_ahead(struct map *m, struct le_block *block, bool whole) {
    bool some = false;
    for (int q = 0; q < m->stream_count; q++) {
        struct map_stream *s = &m->streams[q];
        if (s->tile)
            continue;
        some = true;
        if (s->pair.imaginary)
            continue;
        s->array = declare_rows(m, block, wish_of(m, s, "near"), stored_type(m, s),
                                m->unroll + s->row_high - s->row_low, columns_of(m, s), !whole);
    }
    if (!some)
        return;
    for (int q = 0; q < m->stream_count; q++)
        if (m->streams[q].pair.imaginary)
            m->streams[q].array = m->streams[m->streams[q].pair.other].array;
    struct le_block *rest = NULL, *all = whole ? block : open_whole(m, block, &rest);
    for (int q = 0; q < m->stream_count && all; q++)
        if (!m->streams[q].tile && !m->streams[q].pair.imaginary)
            read_rows(m, &m->streams[q], all);
    if (whole)
        return;
    read_some(m, rest);
    close_whole(m, all, rest);
}

/* ---- tiles in shared memory, by columns */

struct tile_spot {
    struct le_expression *turn, *row, *column; /* the unrolled iteration; the element's row and column in the tile */
};

static struct le_expression *tile_element(struct map *m, const struct map_stream *s, struct le_expression *column,
                                          struct le_expression *row) {
    struct le_kernel_tree *t = m->c.tree;
    return le_ktree_element(t, s->array, le_plus(t, le_times_int(t, column, le_map_pitch(m)), row));
}

/* Reads an element into the tile; in wide tiles a vector along the row axis into registers, which put_part stores in
 * the tile once all of the thread's reads are in flight. */
static void read_part(struct map *m, const struct map_stream *s, struct le_block *block, const struct tile_spot *at) {
    struct le_kernel_tree *t = m->c.tree;
    struct le_block *base = le_ktree_open(t, block);
    int inner = m->axis_count - 1;
    for (int a = 0; a < inner; a++)
        le_map_bind(m, base, a, a == m->row ? le_plus(t, m->row_start, at->row) : le_map_place(m, a, at->turn));
    le_map_bind(m, base, inner, le_plus(t, m->column_start, at->column));
    struct le_expression *from = le_codegen_trusted_place(&m->c, s->loads[0], base);
    if (m->width > 1)
        le_ktree_copy(t, base, m->width, row_address(m, s->part, at->turn), le_ktree_address(t, from));
    else
        le_ktree_set(t, base, tile_element(m, s, at->column, at->row), from);
    le_ktree_close(t, base);
}

static void put_part(struct map *m, const struct map_stream *s, struct le_block *block, const struct tile_spot *at) {
    struct le_kernel_tree *t = m->c.tree;
    struct le_expression *element;
    struct le_block *elements = le_ktree_open_each(m->c.tree, block, "e", m->width, &element);
    le_ktree_set(t, elements, tile_element(m, s, at->column, le_plus(t, at->row, element)),
                 le_ktree_element2(t, s->part, at->turn, element));
    le_ktree_close(t, elements);
}

/* For each of a thread's parts of the tiles: reads them, or (puts) stores in the tiles what it has read. */
static void move_parts(struct map *m, bool puts) {
    struct le_kernel_tree *t = m->c.tree;
    int inner = m->axis_count - 1;
    struct le_expression *down = le_ktree_int(t, m->tile_rows / m->width);
    struct tile_spot at;
    struct le_block *turns = le_ktree_open_each(m->c.tree, m->body, "u", m->unroll, &at.turn);
    struct le_expression *part = le_to_int(t, le_ktree_thread(t, LE_THREAD_X));
    part = le_plus(t, part, le_times_int(t, at.turn, MAP_THREADS));
    part = le_let(t, turns, "at", part);
    at.row = le_times_int(t, le_ktree_remainder(t, part, down), m->width);
    at.row = le_let(t, turns, "row", at.row);
    at.column = le_let(t, turns, "column", le_ktree_quotient(t, part, down));
    struct le_expression *rows = le_map_axis_number(m, m->row, "count", m->axes[m->row].count);
    struct le_expression *columns = le_map_axis_number(m, inner, "count", m->axes[inner].count);
    struct le_expression *is_row = le_less(t, le_plus(t, m->row_start, at.row), rows);
    struct le_expression *is_column = le_less(t, le_plus(t, m->column_start, at.column), columns);
    struct le_block *within = le_ktree_open_if(t, turns, le_both(t, is_row, is_column));
    for (int q = 0; q < m->stream_count; q++)
        if (m->streams[q].tile && puts)
            put_part(m, &m->streams[q], within, &at);
        else if (m->streams[q].tile)
            read_part(m, &m->streams[q], within, &at);
    le_ktree_close_to(m->c.tree, within, m->body);
}

static void read_tiles(struct map *m) {
    struct le_kernel_tree *t = m->c.tree;
    for (int q = 0; q < m->stream_count; q++) {
        struct map_stream *s = &m->streams[q];
        if (!s->tile)
            continue;
        s->array = le_ktree_array(t, m->body, wish_of(m, s, "tile"), stored_type(m, s), LE_KTREE_SHARED,
                                  m->tile_columns * le_map_pitch(m), 0);
        if (m->width > 1)
            s->part = declare_rows(m, m->body, wish_of(m, s, "part"), stored_type(m, s), m->unroll, m->width, false);
    }
    move_parts(m, false);
    if (m->width > 1)
        move_parts(m, true);
    le_ktree_barrier(t, m->body);
}

/* The element's value in the tile. */
static struct le_expression *put_element(struct map *m, const struct map_stream *s, const struct map_spot *at) {
    struct le_kernel_tree *t = m->c.tree;
    struct le_expression *thread = le_ktree_thread(t, LE_THREAD_X), *across = le_ktree_int(t, le_map_across(m));
    struct le_expression *column = le_times_int(t, le_ktree_remainder(t, thread, across), m->width);
    struct le_expression *row = le_times_int(t, at->turn, MAP_THREADS / le_map_across(m));
    row = le_plus(t, le_ktree_quotient(t, thread, across), row);
    return le_ktree_select(t, counts(m, at), tile_element(m, s, le_plus(t, column, at->element), row),
                           le_ktree_constant(t, stored_type(m, s), 0));
}

/* ---- the elements */

/* Makes what was read ahead the value of the loads, in the outermost block where they are valid. */
static void know_stream(struct map *m, const struct map_stream *s, const struct map_spot *at) {
    struct codegen *c = &m->c;
    for (int x = 0; x < s->load_count; x++) {
        struct le_node *load = s->loads[x];
        struct le_block *block = le_node_depends(load, le_map_inner(m)->index) ? at->block : at->turns;
        struct le_expression *read = s->tile ? put_element(m, s, at) : read_element(m, s, x, at);
        read = le_codegen_from_memory(c, read, load->type);
        le_codegen_know(c, load, block, le_let(c->tree, block, le_codegen_value_name(c, load->value), read));
    }
}

static struct map_spot open_known(struct map *m, struct le_block *block, enum which which) {
    struct map_spot at = open_elements(m, block, which);
    for (int q = 0; q < m->stream_count; q++)
        know_stream(m, &m->streams[q], &at);
    le_map_know_totals(m, &at);
    return at;
}

struct map_spot le_map_open_known(struct map *m, struct le_block *block) {
    return open_known(m, block, ALL);
}

static void declare_made(struct map *m, struct le_block *block) {
    for (int k = 0; k < m->result_count; k++) {
        int stored = (int)m->c.ir->values.at[m->results[k].stage->target].type;
        if (!m->results[k].pair.imaginary)
            m->results[k].made =
                declare_rows(m, block, "made", stored, m->unroll, m->width * le_map_unit(&m->results[k].pair), false);
    }
    for (int k = 0; k < m->result_count; k++)
        if (m->results[k].pair.imaginary)
            m->results[k].made = m->results[m->results[k].pair.other].made;
}

static struct le_expression *made_element(struct map *m, const struct map_result *r, const struct map_spot *at) {
    struct le_expression *column = r->pair.other >= 0 ? part_of_pair(m, &r->pair, at->element) : at->element;
    return le_ktree_element2(m->c.tree, r->made, at->turn, column);
}

static void make_element(struct map *m, const struct map_spot *at) {
    struct codegen *c = &m->c;
    for (int k = 0; k < m->result_count; k++) {
        struct le_variable *made = m->results[k].made;
        struct le_expression *x = le_codegen_node(c, m->nodes[k], at->block, NULL);
        le_ktree_set(c->tree, at->block, made_element(m, &m->results[k], at),
                     le_codegen_to_memory(c, x, (enum le_type)made->type));
    }
}

/* ---- writing */

static struct le_expression *target_place(struct map *m, const struct map_result *r, struct le_block *block) {
    struct le_node target = le_codegen_target_of(&m->c, r->stage);
    return le_codegen_trusted_place(&m->c, &target, block);
}

static void write_some(struct map *m, struct le_block *block) {
    struct map_spot at = open_elements(m, block, COUNTED);
    for (int k = 0; k < m->result_count; k++)
        le_ktree_set(m->c.tree, at.block, target_place(m, &m->results[k], at.block),
                     made_element(m, &m->results[k], &at));
    le_ktree_close_to(m->c.tree, at.block, block);
}

static void write_whole(struct map *m, struct le_block *block) {
    struct le_kernel_tree *t = m->c.tree;
    struct le_expression *turn;
    struct le_block *turns = le_ktree_open_each(m->c.tree, block, "u", m->unroll, &turn);
    le_map_bind_outer(m, turns, turn);
    bind_inner(m, turns, turn, le_ktree_int(t, 0));
    for (int k = 0; k < m->result_count; k++)
        if (!m->results[k].pair.imaginary)
            le_ktree_copy(t, turns, m->width * le_map_unit(&m->results[k].pair),
                          le_ktree_address(t, target_place(m, &m->results[k], turns)),
                          row_address(m, m->results[k].made, turn));
    le_ktree_close(t, turns);
}

/* ---- threads whose elements are all alike, and the others */

/* Opens a loop over elements that exist, one at a time, unless `usual` holds. The loop checks that itself, so that the
 * code before it has no branch. */
static struct map_spot open_apart(struct map *m) {
    struct le_kernel_tree *t = m->c.tree;
    struct le_expression *unless = m->usual ? le_ktree_not(t, le_ktree_use(t, m->usual)) : NULL;
    struct map_spot at;
    at.turns = le_ktree_open_each(m->c.tree, m->others, "u", m->unroll, &at.turn);
    if (m->width == 1) {
        at.element = le_ktree_int(t, 0);
        at.block = le_ktree_open_if(t, at.turns, le_both(t, unless, counts(m, &at)));
    } else {
        struct le_variable *element = le_ktree_variable(t, "e", LE_KTREE_INT);
        struct le_expression *from = m->from ? le_ktree_element(t, m->from, at.turn) : le_ktree_int(t, 0);
        at.element = le_ktree_use(t, element);
        at.block =
            le_ktree_open_loop(t, at.turns, LE_ROLE_ROLLED, element, from, le_ktree_element(t, m->to, at.turn), NULL);
        at.block->owner->guard = unless;
    }
    at.block->conditional = true;
    le_map_bind_outer(m, at.block, at.turn); /* where no element exists the row may not exist either */
    bind_inner(m, at.block, at.turn, at.element);
    return at;
}

/* The same where a thread has rows, in little code. */
static struct map_spot open_apart_in_rows(struct map *m) {
    struct le_kernel_tree *t = m->c.tree;
    struct le_variable *turn = le_ktree_variable(t, "u", LE_KTREE_INT), *e = le_ktree_variable(t, "e", LE_KTREE_INT);
    struct le_expression *from, *to;
    struct map_spot at = {.turn = le_ktree_use(t, turn), .element = le_ktree_use(t, e)};
    le_map_ends(m, &from, &to);
    at.turns =
        le_ktree_open_loop(t, m->others, LE_ROLE_ROLLED, turn, le_ktree_int(t, 0), le_ktree_int(t, m->unroll), NULL);
    at.turns->owner->guard = le_less(t, le_map_place(m, m->row, at.turn), le_map_count(m, m->row));
    at.block = le_ktree_open_loop(t, at.turns, LE_ROLE_ROLLED, e, from, to, NULL);
    at.block->conditional = true;
    le_map_bind_outer(m, at.block, at.turn);
    bind_inner(m, at.block, at.turn, at.element);
    return at;
}

struct map_spot le_map_open_element(struct map *m, bool alike) {
    struct codegen *c = &m->c;
    struct le_kernel_tree *t = c->tree;
    if (!alike) {
        le_codegen_reach(c, NULL);
        c->rare = m->usual ? m->others : NULL;
        return m->windows == MAP_WALKED && m->way == MAP_ROWS ? open_apart_in_rows(m) : open_apart(m);
    }
    m->all = le_ktree_open_if(t, m->body, le_ktree_use(t, m->whole));
    m->others = m->usual ? le_ktree_open_scope(t, m->body) : le_ktree_open_else(t, m->body);
    c->quick = m->usual ? m->all : NULL;
    c->usual = m->usual;
    le_codegen_reach(c, m->inside);
    read_ahead(m, m->all, true);
    if (!m->scatters)
        declare_made(m, m->all);
    le_map_walk(m, m->all);
    return open_known(m, m->all, ALL);
}

void le_map_close_element(struct map *m, const struct map_spot *at, bool alike) {
    le_ktree_close_to(m->c.tree, at->block, alike ? m->all : m->others);
    m->c.quick = m->c.rare = NULL;
    if (alike)
        return;
    le_ktree_close(m->c.tree, m->all);
    le_ktree_close(m->c.tree, m->others);
}

static bool has_quick_ways(const struct map *m) {
    for (int k = 0; k < m->result_count; k++)
        if (le_codegen_has_quick_ways(&m->c, m->nodes[k]))
            return true;
    return false;
}

/* Computes all of an element's results before it stores any: one may be stored where another is read. */
static void store_apart(struct map *m, struct le_block *block) {
    struct codegen *c = &m->c;
    struct le_expression *x[MAP_RESULTS_MAX];
    le_map_walk_alone(m, block);
    for (int k = 0; k < m->result_count; k++)
        x[k] = le_codegen_node(c, m->nodes[k], block, NULL);
    for (int k = 0; k < m->result_count; k++)
        le_codegen_store_to(c, m->results[k].stage, x[k], block);
}

static void make_split(struct map *m) {
    struct codegen *c = &m->c;
    struct le_kernel_tree *t = c->tree;
    if (m->dear && has_quick_ways(m))
        m->usual = le_ktree_declare(t, m->body, "usual", LE_BOOL, le_ktree_use(t, m->whole));
    struct map_spot at = le_map_open_element(m, true);
    make_element(m, &at);
    le_map_close_element(m, &at, true);
    struct le_block *writes = m->usual ? le_ktree_open_if(t, m->all, le_ktree_use(t, m->usual)) : m->all;
    write_whole(m, writes);
    le_ktree_close_to(m->c.tree, writes, m->all);
    at = le_map_open_element(m, false);
    store_apart(m, at.block);
    le_map_close_element(m, &at, false);
}

/* Computes all elements in the same way, then stores them. */
static void make_all(struct map *m) {
    bool asks = m->to && (!m->safe || m->loose);
    struct le_block *rest, *all;
    read_ahead(m, m->body, false);
    if (m->way == MAP_TILE)
        read_tiles(m);
    declare_made(m, m->body);
    struct map_spot at = open_known(m, m->body, asks ? COUNTED_TURNS : ALL);
    make_element(m, &at);
    le_ktree_close_to(m->c.tree, at.block, m->body);
    all = open_whole(m, m->body, &rest);
    if (all)
        write_whole(m, all);
    write_some(m, rest);
    close_whole(m, all, rest);
}

/* ---- */

static const char *describe_way(const struct map *m) {
    if (m->way == MAP_TILE)
        return m->width > 1 ? "tiles of vectors through shared memory" : "tiles through shared memory";
    if (m->windows == MAP_WALKED)
        return "a thread for some rows and columns of windows";
    if (m->way == MAP_ROWS)
        return "a thread for some rows and columns";
    return le_map_is_simple(m) ? "a thread for each element"
           : m->width > 1      ? "a thread for vectors of elements"
                               : "a thread for some elements";
}

/* Thread blocks for a loop over parts: enough that several follow each other on each multiprocessor. */
static int64_t blocks_of_parts(const struct map *m, int64_t parts) {
    int64_t places = (int64_t)m->c.job->facts->multiprocessors * PLACES_FOR_BLOCKS;
    int64_t turns = parts / (places * 4);
    turns = turns < 1 ? 1 : turns > TURNS_MOST ? TURNS_MOST : turns;
    return (parts + turns - 1) / turns;
}

leat_status le_map_make(const struct le_mapping *mapping, void *found, struct le_generated_launches *out) {
    struct map *m = found;
    if (m->windows == MAP_WALKED)
        le_map_set_walk(m, (int)le_mapping_get(mapping, "columns"), (int)le_mapping_get(mapping, "rows"));
    else if (m->way != MAP_TILE)
        le_map_set(m, (int)le_mapping_get(mapping, "vector"), (int)le_mapping_get(mapping, "unrolled"));
    m->c.tree->threads = MAP_THREADS;
    int64_t blocks = m->items;
    if (m->way == MAP_FLAT)
        blocks = (m->items + MAP_THREADS * m->unroll - 1) / (MAP_THREADS * m->unroll);
    if (m->dear) { /* a loop over parts: what is the same for all elements is computed once for several of them */
        le_map_open_parts(m, blocks, LE_ROLE_ROLLED);
        blocks = blocks_of_parts(m, blocks);
    }
    le_map_places(m);
    if (m->splits)
        make_split(m);
    else
        make_all(m);
    le_ktree_close_to(m->c.tree, m->body, m->c.root);
    int64_t elements = 1;
    for (int a = 0; a < m->axis_count; a++)
        elements *= m->axes[a].count;
    le_codegen_launch(&m->c, out, blocks, MAP_THREADS, elements, describe_way(m));
    return m->c.status;
}
