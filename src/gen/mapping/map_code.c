/* Generates a map's kernel: the reads ahead, the elements, and the writes. */
#include "gen/mapping/map.h"

#define PLACES_FOR_BLOCKS (2048 / MAP_THREADS) /* resident thread blocks of a multiprocessor */
#define TURNS_MOST        8
/* Shares of warps at an edge. If there are few, a loop over the elements at the edges takes fewer registers. If there
 * are many, warps would run both ways. */
#define FEW_EDGES  0.08
#define MANY_EDGES 0.25

int le_map_stored_type(const struct map *m, const struct map_stream *s) {
    return (int)m->c.ir->values.at[s->loads[0]->value].type;
}

/* Declares a local array [rows, columns], aligned if its rows are moved as vectors. */
struct le_variable *le_map_declare_rows(struct map *m, struct le_block *block, const char *wish, int type, int rows,
                                        int columns, bool zeroed) {
    struct le_variable *array = le_ktree_array(m->c.tree, block, wish, type, LE_KTREE_LOCAL, rows, columns);
    struct le_statement *s = block->list.at[block->list.count - 1];
    s->aligned = columns > 1 && (columns == m->width || (m->paired && columns == 2 * m->width));
    s->zeroed = zeroed;
    return array;
}

struct le_expression *le_map_row_address(struct map *m, struct le_variable *array, struct le_expression *row) {
    return le_ktree_address(m->c.tree, le_ktree_element(m->c.tree, array, row));
}

/* ---- loops over a thread's turns and elements */

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

struct le_expression *le_map_exists(struct map *m, struct le_expression *turn) {
    struct le_expression *to = le_ktree_element(m->c.tree, m->to, turn);
    return m->width > 1 ? le_greater(m->c.tree, to, le_ktree_int(m->c.tree, 0)) : to;
}

/* Binds the inner index to the position of the unrolled iteration plus some elements. */
void le_map_bind_inner(struct map *m, struct le_block *block, struct le_expression *turn, struct le_expression *more) {
    int inner = m->axis_count - 1;
    le_map_bind(m, block, inner, le_plus(m->c.tree, le_map_place(m, inner, turn), more));
}

static void open_element(struct map *m, struct map_spot *s, enum map_which which) {
    s->block = le_ktree_open_each(m->c.tree, s->turns, "e", m->width, &s->element);
    struct le_expression *asks = which == MAP_ALL ? NULL : counts(m, s);
    if (asks) {
        s->block = le_ktree_open_if(m->c.tree, s->block, asks);
        s->block->conditional = which == MAP_COUNTED_TURNS;
    }
    le_map_bind_inner(m, s->block, s->turn, s->element);
}

struct map_spot le_map_open_elements(struct map *m, struct le_block *block, enum map_which which) {
    struct map_spot s;
    s.turns = le_ktree_open_each(m->c.tree, block, "u", m->unroll, &s.turn);
    if (which == MAP_COUNTED_TURNS)
        s.turns = le_codegen_open_branch(&m->c, s.turns, le_map_exists(m, s.turn));
    le_map_bind_outer(m, s.turns, s.turn);
    open_element(m, &s, which);
    return s;
}

/* Opens the branch where all elements exist (NULL: that is not known), and the one where some may not. */
struct le_block *le_map_open_whole(struct map *m, struct le_block *block, struct le_block **rest) {
    struct le_kernel_tree *t = m->c.tree;
    struct le_block *all = m->whole ? le_ktree_open_if(t, block, le_ktree_use(t, m->whole)) : NULL;
    *rest = all ? le_ktree_open_else(t, block) : block;
    return all;
}

/* Code hoisted out of either branch comes before both. */
void le_map_close_whole(struct map *m, struct le_block *all, struct le_block *rest) {
    if (all) {
        le_ktree_close(m->c.tree, all);
        le_ktree_close(m->c.tree, rest);
    }
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
    int count = m->width * le_map_unit(&s->pair);
    if (count > 1)
        le_ktree_copy(t, base, count, le_map_row_address(m, s->part, at->turn), le_ktree_address(t, from));
    else
        le_ktree_set(t, base, tile_element(m, s, at->column, at->row), from);
    le_ktree_close(t, base);
}

static void put_part(struct map *m, const struct map_stream *s, struct le_block *block, const struct tile_spot *at) {
    struct le_kernel_tree *t = m->c.tree;
    struct le_expression *element;
    struct le_block *elements = le_ktree_open_each(m->c.tree, block, "e", m->width, &element);
    struct le_expression *row = le_plus(t, at->row, element);
    for (int k = 0; k < le_map_unit(&s->pair); k++) {
        const struct map_stream *part = k == 0 ? s : &m->streams[s->pair.other];
        struct le_expression *read = s->pair.other < 0 ? element : le_ktree_int(t, k);
        le_ktree_set(t, elements, tile_element(m, part, at->column, row),
                     le_ktree_element2(t, s->part, at->turn, read));
    }
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
    for (int q = 0; q < m->stream_count; q++) {
        const struct map_stream *s = &m->streams[q];
        if (s->tile && puts && s->part)
            put_part(m, s, within, &at);
        else if (s->tile && !puts && !s->pair.imaginary)
            read_part(m, s, within, &at);
    }
    le_ktree_close_to(m->c.tree, within, m->body);
}

static void read_tiles(struct map *m) {
    struct le_kernel_tree *t = m->c.tree;
    bool parts = false;
    for (int q = 0; q < m->stream_count; q++) {
        struct map_stream *s = &m->streams[q];
        if (!s->tile)
            continue;
        s->array = le_ktree_array(t, m->body, le_map_wish(m, s, "tile"), le_map_stored_type(m, s), LE_KTREE_SHARED,
                                  m->tile_columns * le_map_pitch(m), 0);
        int count = m->width * le_map_unit(&s->pair);
        parts |= count > 1;
        if (count > 1 && !s->pair.imaginary)
            s->part = le_map_declare_rows(m, m->body, le_map_wish(m, s, "part"), le_map_stored_type(m, s), m->unroll,
                                          count, false);
    }
    move_parts(m, false);
    if (parts)
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
                           le_ktree_constant(t, le_map_stored_type(m, s), 0));
}

/* ---- the elements */

/* Makes what was read ahead the value of the loads, in the outermost block where they are valid. */
static void know_stream(struct map *m, const struct map_stream *s, const struct map_spot *at) {
    struct codegen *c = &m->c;
    for (int x = 0; x < s->load_count; x++) {
        struct le_node *load = s->loads[x];
        struct le_block *block = le_node_depends(load, le_map_inner(m)->index) ? at->block : at->turns;
        struct le_expression *read = s->tile ? put_element(m, s, at) : le_map_read_element(m, s, x, at);
        read = le_codegen_from_memory(c, read, load->type);
        le_codegen_know(c, load, block, le_let(c->tree, block, le_codegen_value_name(c, load->value), read));
    }
}

static struct map_spot open_known(struct map *m, struct le_block *block, enum map_which which) {
    struct map_spot at = le_map_open_elements(m, block, which);
    for (int q = 0; q < m->stream_count; q++)
        know_stream(m, &m->streams[q], &at);
    le_map_know_totals(m, &at);
    return at;
}

struct map_spot le_map_open_known(struct map *m, struct le_block *block) {
    return open_known(m, block, MAP_ALL);
}

static void declare_made(struct map *m, struct le_block *block) {
    for (int k = 0; k < m->result_count; k++) {
        int stored = (int)m->c.ir->values.at[m->results[k].stage->target].type;
        if (!m->results[k].pair.imaginary)
            m->results[k].made = le_map_declare_rows(m, block, "made", stored, m->unroll,
                                                     m->width * le_map_unit(&m->results[k].pair), false);
    }
    for (int k = 0; k < m->result_count; k++)
        if (m->results[k].pair.imaginary)
            m->results[k].made = m->results[m->results[k].pair.other].made;
}

static struct le_expression *made_element(struct map *m, const struct map_result *r, const struct map_spot *at) {
    struct le_expression *column = r->pair.other >= 0 ? le_map_part_of_pair(m, &r->pair, at->element) : at->element;
    return le_ktree_element2(m->c.tree, r->made, at->turn, column);
}

static void make_element(struct map *m, const struct map_spot *at) {
    struct codegen *c = &m->c;
    for (int k = 0; k < m->result_count; k++) {
        struct le_variable *made = m->results[k].made;
        le_ktree_set(c->tree, at->block, made_element(m, &m->results[k], at),
                     le_codegen_stored(c, m->nodes[k], at->block, (enum le_type)made->type));
    }
}

/* ---- writing */

static struct le_expression *target_place(struct map *m, const struct map_result *r, struct le_block *block) {
    struct le_node target = le_codegen_target_of(&m->c, r->stage);
    return le_codegen_trusted_place(&m->c, &target, block);
}

/* Finds which elements of an unrolled iteration exist. */
static void write_elements(struct map *m, struct le_block *block, struct le_expression *turn) {
    struct map_spot at = {.turns = block, .turn = turn};
    le_map_bind_outer(m, block, turn);
    open_element(m, &at, MAP_COUNTED);
    for (int k = 0; k < m->result_count; k++)
        le_ktree_set(m->c.tree, at.block, target_place(m, &m->results[k], at.block),
                     made_element(m, &m->results[k], &at));
    le_ktree_close_to(m->c.tree, at.block, block);
}

static void write_piece(struct map *m, const struct map_result *r, struct le_block *block, struct le_expression *turn,
                        int element) {
    struct le_kernel_tree *t = m->c.tree;
    struct le_expression *to = target_place(m, r, block);
    if (m->width > 1 && m->piece == 1)
        le_ktree_set(t, block, to, le_ktree_element2(t, r->made, turn, le_ktree_int(t, element)));
    else if (m->piece < m->width)
        le_ktree_copy(t, block, m->piece, le_ktree_address(t, to),
                      le_ktree_address(t, le_ktree_element2(t, r->made, turn, le_ktree_int(t, element))));
    else
        le_ktree_copy(t, block, m->width * le_map_unit(&r->pair), le_ktree_address(t, to),
                      le_map_row_address(m, r->made, turn));
}

/* The same, all of them. */
static void write_vectors(struct map *m, struct le_block *block, struct le_expression *turn) {
    struct le_kernel_tree *t = m->c.tree;
    le_map_bind_outer(m, block, turn);
    for (int e = 0; e < m->width; e += m->piece) {
        struct le_block *piece = le_ktree_open(t, block);
        le_map_bind_inner(m, piece, turn, le_ktree_int(t, e));
        for (int k = 0; k < m->result_count; k++)
            if (!m->results[k].pair.imaginary)
                write_piece(m, &m->results[k], piece, turn, e);
        le_ktree_close(t, piece);
    }
}

static void write_all_turns(struct map *m, struct le_block *block,
                            void (*write)(struct map *m, struct le_block *block, struct le_expression *turn)) {
    struct le_expression *turn;
    struct le_block *turns = le_ktree_open_each(m->c.tree, block, "u", m->unroll, &turn);
    write(m, turns, turn);
    le_ktree_close(m->c.tree, turns);
}

static void write_some(struct map *m, struct le_block *block) {
    write_all_turns(m, block, write_elements);
}

static void write_whole(struct map *m, struct le_block *block) {
    write_all_turns(m, block, write_vectors);
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
    le_map_bind_inner(m, at.block, at.turn, at.element);
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
    at.turns->owner->guard =
        le_both(t, m->exists, le_less(t, le_map_place(m, m->row, at.turn), le_map_count(m, m->row)));
    at.block = le_ktree_open_loop(t, at.turns, LE_ROLE_ROLLED, e, from, to, NULL);
    at.block->conditional = true;
    le_map_bind_outer(m, at.block, at.turn);
    le_map_bind_inner(m, at.block, at.turn, at.element);
    return at;
}

/* Opens both blocks, and reads what the one without checks needs. */
static void open_split(struct map *m) {
    struct codegen *c = &m->c;
    struct le_kernel_tree *t = c->tree;
    m->all = le_ktree_open_if(t, m->body, le_ktree_use(t, m->whole));
    m->others = m->usual ? le_ktree_open_scope(t, m->body) : le_ktree_open_else(t, m->body);
    c->quick = m->usual ? m->all : NULL;
    c->usual = m->usual;
    le_codegen_reach(c, m->inside);
    le_map_read_ahead(m, m->all, MAP_READ_WHOLE);
    if (!m->scatters)
        declare_made(m, m->all);
    le_map_walk(m, m->all, false);
}

struct map_spot le_map_open_element(struct map *m, bool alike) {
    struct codegen *c = &m->c;
    if (alike) {
        open_split(m);
        return open_known(m, m->all, MAP_ALL);
    }
    le_codegen_reach(c, NULL);
    c->rare = m->usual ? m->others : NULL;
    return m->windows == MAP_WALKED && m->way == MAP_ROWS ? open_apart_in_rows(m) : open_apart(m);
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

void le_map_make_twice(struct map *m, struct le_block *block, bool has_quick_ways,
                       void (*make)(struct map *m, struct le_block *block, void *user), void *user) {
    struct codegen *c = &m->c;
    struct le_kernel_tree *t = c->tree;
    if (!has_quick_ways) {
        make(m, block, user);
        return;
    }
    c->usual = le_ktree_declare(t, block, "usual", LE_BOOL, le_ktree_constant(t, LE_BOOL, 1));
    c->quick = block;
    make(m, block, user);
    c->quick = NULL;
    struct le_block *again = le_ktree_open_if(t, block, le_ktree_not(t, le_ktree_use(t, c->usual)));
    c->rare = again;
    make(m, again, user);
    c->rare = NULL;
    le_ktree_close_to(t, again, block);
}

static void make_known(struct map *m, struct le_block *block, void *user) {
    const enum map_which *which = user;
    struct map_spot at = open_known(m, block, *which);
    le_map_read_gathers(m, &at);
    make_element(m, &at);
    m->c.ahead_count = 0;
    le_ktree_close_to(m->c.tree, at.block, block);
}

/* Computes all elements from what was read and added before. */
static void make_elements(struct map *m, struct le_block *block, enum map_which which) {
    le_map_make_twice(m, block, m->windows == MAP_WALKED && has_quick_ways(m), make_known, &which);
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

/* Writes vectors where all of their elements exist, else elements. */
static void write_turns(struct map *m, struct le_block *block) {
    struct le_kernel_tree *t = m->c.tree;
    struct le_expression *turn;
    struct le_block *turns = le_ktree_open_each(t, block, "u", m->unroll, &turn);
    struct le_expression *full = le_ktree_element(t, m->to, turn);
    if (m->from)
        full = le_minus(t, full, le_ktree_element(t, m->from, turn));
    struct le_block *all = le_ktree_open_if(t, turns, le_ktree_binary(t, LE_OP_EQ, full, le_ktree_int(t, m->width)));
    struct le_block *some = le_ktree_open_else(t, turns);
    write_vectors(m, all, turn);
    write_elements(m, some, turn);
    le_ktree_close(t, all);
    le_ktree_close(t, some);
    le_ktree_close(t, turns);
}

/* Computes all of a thread's elements at once, with checks of what it reads. ROWS: the thread's first row exists. */
static void make_guarded(struct map *m, struct le_block *block) {
    struct le_kernel_tree *t = m->c.tree;
    struct le_block *exists = block;
    if ((m->way == MAP_ROWS || m->windows == MAP_WALKED) && !m->shifts_rows)
        exists = le_ktree_open_if(t, block, le_map_exists(m, le_ktree_int(t, 0)));
    le_codegen_reach(&m->c, NULL);
    le_map_read_ahead(m, exists, MAP_READ_GUARDED);
    declare_made(m, exists);
    le_map_walk(m, exists, true);
    make_elements(m, exists, MAP_ALL);
    if (m->width > 1)
        write_turns(m, exists);
    else
        write_some(m, exists);
    le_ktree_close_to(t, exists, block);
}

static void make_split(struct map *m) {
    struct codegen *c = &m->c;
    struct le_kernel_tree *t = c->tree;
    if (m->dear && has_quick_ways(m))
        m->usual = le_ktree_declare(t, m->body, "usual", LE_BOOL, le_ktree_use(t, m->whole));
    open_split(m);
    make_elements(m, m->all, MAP_ALL);
    c->quick = NULL;
    struct le_block *writes = m->usual ? le_ktree_open_if(t, m->all, le_ktree_use(t, m->usual)) : m->all;
    write_whole(m, writes);
    le_ktree_close_to(m->c.tree, writes, m->all);
    if (m->guards) {
        make_guarded(m, m->others);
        le_ktree_close(m->c.tree, m->all);
        le_ktree_close(m->c.tree, m->others);
        return;
    }
    struct map_spot at = le_map_open_element(m, false);
    store_apart(m, at.block);
    le_map_close_element(m, &at, false);
}

/* Computes all elements in the same way, then stores them. */
static void make_all(struct map *m) {
    bool asks = m->to && (!m->safe || m->loose);
    struct le_block *rest, *all;
    le_map_read_ahead(m, m->body, m->shifts_columns ? MAP_READ_WHOLE : MAP_READ_EITHER);
    if (m->way == MAP_TILE)
        read_tiles(m);
    declare_made(m, m->body);
    le_map_walk(m, m->body, false);
    make_elements(m, m->body, asks ? MAP_COUNTED_TURNS : MAP_ALL);
    all = le_map_open_whole(m, m->body, &rest);
    if (all)
        write_whole(m, all);
    write_some(m, rest);
    le_map_close_whole(m, all, rest);
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
    int64_t blocks = m->items, each = m->way == MAP_FLAT ? m->unroll : 1;
    if (m->way != MAP_TILE) {
        if (!m->dear && each == 1)
            m->threads = le_codegen_block_threads(&m->c, m->items, MAP_THREADS);
        blocks = (m->items + m->threads * each - 1) / (m->threads * each);
    }
    if (m->dear) { /* a loop over parts: what is the same for all elements is computed once for several of them */
        le_map_open_parts(m, blocks, LE_ROLE_ROLLED);
        blocks = blocks_of_parts(m, blocks);
    }
    bool walks = m->windows == MAP_WALKED; /* an element by itself takes as long as several of them together */
    double edges = m->inside || walks ? le_map_edge_share(m) : 0;
    m->guards = (walks || edges > FEW_EDGES) && le_map_can_guard(m);
    m->only_guards = m->guards && edges > MANY_EDGES;
    bool alike = m->shifts_columns && !m->inside; /* all threads read only what exists */
    if (alike)
        m->splits = m->guards = m->only_guards = false;
    else if (!m->guards)
        m->shifts_rows = m->shifts_columns = false;
    le_map_find_gathers(m);
    le_map_places(m);
    if (m->only_guards)
        make_guarded(m, m->body);
    else if (m->splits)
        make_split(m);
    else
        make_all(m);
    le_ktree_close_to(m->c.tree, m->body, m->c.root);
    int64_t elements = 1;
    for (int a = 0; a < m->axis_count; a++)
        elements *= m->axes[a].count;
    le_codegen_launch(&m->c, out, blocks, m->threads, elements, describe_way(m));
    return m->c.status;
}
