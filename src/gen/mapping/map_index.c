/* Computes the positions of threads along a map's axes. Positions are unsigned ints. Instead of dividing, the kernel
 * multiplies by numbers that the host computes. */
#include "gen/mapping/map.h"
#define ITEMS_MAX ((int64_t)INT32_MAX - 65536)

static int64_t parts_of(int64_t count, int64_t part) {
    return count / part + (count % part != 0);
}

static void add_digit(struct map_digits *d, int axis, int64_t count, int64_t unit) {
    d->at[d->count++] = (struct map_digit){.axis = axis, .count = count, .unit = unit};
}

/* Neighbouring threads take the vectors of up to a warp's width of columns, then rows. If a row has more columns, a few
 * rows of these columns come before the next columns, because the rows share what they read. */
static void add_rows_and_columns(const struct map *m, struct map_digits *d, int64_t vectors, int64_t rows) {
    int inner = m->axis_count - 1;
    int64_t across = parts_of(vectors, WARP), down = across > 1 ? parts_of(rows, MAP_ROWS_DOWN) : 1;
    int64_t lanes = parts_of(vectors, across), groups = parts_of(rows, down);
    add_digit(d, inner, lanes, 1);
    if (!m->between)
        add_digit(d, m->row, groups, 1);
    if (across == 1)
        return;
    add_digit(d, inner, across, lanes);
    if (!m->between)
        add_digit(d, m->row, down, groups);
}

struct map_digits le_map_digits(const struct map *m) {
    struct map_digits d = {.count = 0};
    int inner = m->axis_count - 1;
    bool tile = m->way == MAP_TILE, rows = m->way == MAP_ROWS;
    int64_t columns = parts_of(m->axes[inner].count + m->phase, tile ? m->tile_columns : m->width);
    if (rows) {
        add_rows_and_columns(m, &d, columns, parts_of(m->axes[m->row].count, m->unroll));
    } else {
        add_digit(&d, inner, columns, 1);
        if (tile)
            add_digit(&d, m->row, parts_of(m->axes[m->row].count, m->tile_rows), 1);
    }
    for (int a = inner - 1; a >= 0; a--)
        if (m->way == MAP_FLAT || a != m->row)
            add_digit(&d, a, m->axes[a].count, 1);
    return d;
}

bool le_map_count_items(struct map *m) {
    const struct map_digits d = le_map_digits(m);
    m->items = 1;
    for (int k = 0; k < d.count; k++)
        if (!le_mul_i64(m->items, d.at[k].count, &m->items))
            return false;
    return m->items <= ITEMS_MAX;
}

bool le_map_is_simple(const struct map *m) {
    return m->way == MAP_FLAT && m->width == 1 && m->unroll == 1 && !m->splits && !m->paired;
}

static const char *name_of(struct map *m, int axis, const char *what) {
    return le_arena_format(m->c.arena, "%s_%s", le_codegen_index_name(&m->c, m->axes[axis].index), what);
}

struct le_expression *le_map_axis_number(struct map *m, int axis, const char *what, int64_t value) {
    return le_codegen_index_number(&m->c, m->axes[axis].index, what, value, LE_KTREE_LONG);
}

static int type_of(const struct map *m, int axis) {
    return m->axes[axis].narrow ? LE_KTREE_INT : LE_KTREE_LONG;
}

static struct le_expression *typed_number(struct map *m, int axis, const char *what, int64_t value) {
    return le_codegen_index_number(&m->c, m->axes[axis].index, what, value, type_of(m, axis));
}

struct le_expression *le_map_count(struct map *m, int axis) {
    return typed_number(m, axis, "count", m->axes[axis].count);
}

/* ---- parts */

/* The number for le_over: n * number >> (31 + shift) is n / divisor for n below 2^31. */
static int64_t packed_inverse(int64_t divisor) {
    int shift = 0;
    while ((int64_t)1 << shift < divisor)
        shift++;
    uint64_t number = ((uint64_t)1 << (31 + shift)) / (uint64_t)divisor + 1;
    return (int64_t)number | (int64_t)shift << 32;
}

/* Splits the number `item` into parts along the axes. */
static void split_item(struct map *m, struct le_block *block, struct le_expression *item,
                       struct le_expression **parts) {
    struct le_kernel_tree *t = m->c.tree;
    const struct map_digits d = le_map_digits(m);
    for (int a = 0; a < m->axis_count; a++)
        parts[a] = le_ktree_constant(t, LE_KTREE_UINT, 0);
    for (int k = 0; k < d.count; k++) {
        int a = d.at[k].axis;
        struct le_expression *digit = item;
        if (k < d.count - 1) {
            struct le_expression *x[] = {item, le_map_axis_number(m, a, "over", packed_inverse(d.at[k].count))};
            struct le_expression *rest =
                le_let(t, block, "rest", le_ktree_call(t, LE_CALL_OVER, LE_KTREE_UINT, NULL, x));
            struct le_expression *count =
                le_ktree_cast(t, LE_KTREE_UINT, le_map_axis_number(m, a, "parts", d.at[k].count));
            digit = le_let(t, block, "part", le_minus(t, item, le_times(t, rest, count)));
            item = rest;
        }
        if (d.at[k].unit > 1)
            digit = le_times(t, digit, le_ktree_cast(t, LE_KTREE_UINT, le_map_axis_number(m, a, "unit", d.at[k].unit)));
        parts[a] = le_plus(t, parts[a], digit);
    }
}

void le_map_open_parts(struct map *m, int64_t parts, enum le_role role) {
    struct le_kernel_tree *t = m->c.tree;
    struct le_variable *part = le_ktree_variable(t, "part", LE_KTREE_UINT);
    struct le_expression *count = le_ktree_cast(t, LE_KTREE_UINT, le_codegen_number(&m->c, "parts", parts));
    m->body = le_ktree_open_loop(t, m->c.root, role, part, le_ktree_thread(t, LE_BLOCK_X), count,
                                 le_ktree_thread(t, LE_BLOCKS_X));
    m->part = le_ktree_use(t, part);
}

/* ---- places */

/* part * 4 - phase */
static struct le_expression *column_of(struct map *m, struct le_expression *part) {
    struct le_kernel_tree *t = m->c.tree;
    struct le_expression *x = le_ktree_cast(t, type_of(m, m->axis_count - 1), part);
    x = le_times_int(t, x, m->width);
    if (m->phase > 0)
        x = le_minus(t, x, le_to_int(t, le_codegen_number(&m->c, "phase", m->phase)));
    return x;
}

struct le_expression *le_map_place(struct map *m, int axis, struct le_expression *turn) {
    struct le_kernel_tree *t = m->c.tree;
    if (m->places[axis])
        return le_ktree_element(t, m->places[axis], turn);
    if (axis != m->row)
        return m->place[axis];
    int step = m->way == MAP_TILE ? MAP_THREADS / le_map_across(m) : 1;
    return le_plus(t, m->place[axis], le_times_int(t, turn, step));
}

/* Sets the positions of unrolled iteration `turn` (NULL: there is only one). */
static void set_places(struct map *m, struct le_block *block, struct le_expression *const *parts,
                       struct le_expression *turn) {
    struct le_kernel_tree *t = m->c.tree;
    for (int a = 0; a < m->axis_count; a++) {
        int type = type_of(m, a);
        struct le_expression *x = a == m->axis_count - 1 ? column_of(m, parts[a]) : le_ktree_cast(t, type, parts[a]);
        if (turn)
            le_ktree_set(t, block, le_map_place(m, a, turn), x);
        else
            m->place[a] = le_let(t, block, name_of(m, a, "place"), x);
    }
}

/* ---- which elements count */

static void declare_ends(struct map *m) {
    struct le_kernel_tree *t = m->c.tree;
    m->to = le_ktree_array(t, m->body, "end", m->width > 1 ? LE_KTREE_INT : LE_BOOL, LE_KTREE_LOCAL, m->unroll, 0);
    if (m->phase > 0 || (m->width > 1 && m->skipped_columns))
        m->from = le_ktree_array(t, m->body, "start", LE_KTREE_INT, LE_KTREE_LOCAL, m->unroll, 0);
    if ((m->width > 1 || m->splits || m->paired) && !m->only_guards)
        m->whole = le_ktree_declare(t, m->body, "whole", LE_BOOL, le_ktree_constant(t, LE_BOOL, 1));
}

/* Clears `whole` unless all reads of the iteration's elements are in range. */
static void find_inside(struct map *m, struct le_block *block, struct le_expression *turn) {
    struct le_kernel_tree *t = m->c.tree;
    struct le_expression *whole = le_ktree_use(t, m->whole), *all = whole, *end;
    for (int a = 0; a < m->axis_count; a++) {
        struct le_expression *place = le_map_place(m, a, turn);
        struct le_expression *elements = le_ktree_int(t, a == m->axis_count - 1 ? m->width : 1);
        if (m->inside_low[a] > 0) {
            end = typed_number(m, a, "inside", m->inside_low[a]);
            all = le_both(t, all, le_at_least(t, place, end));
        }
        if (m->inside_high[a] < m->axes[a].count) {
            end = le_minus(t, typed_number(m, a, "inside_end", m->inside_high[a]), elements);
            all = le_both(t, all, le_ktree_binary(t, LE_OP_LE, place, end));
        }
    }
    if (all != whole)
        le_ktree_set(t, block, whole, all);
}

/* Computes which elements of the iteration exist. asks: whether it has any */
static void find_ends(struct map *m, struct le_block *block, struct le_expression *turn, struct le_expression *asks) {
    struct le_kernel_tree *t = m->c.tree;
    int inner = m->axis_count - 1;
    struct le_expression *place = le_map_place(m, inner, turn), *to = le_ktree_element(t, m->to, turn), *full = to;
    if (m->width == 1 && m->way == MAP_FLAT) {
        le_ktree_set(t, block, to, asks);
    } else if (m->width == 1) {
        le_ktree_set(t, block, to, le_both(t, asks, le_less(t, place, le_map_count(m, inner))));
    } else {
        struct le_expression *zero = le_ktree_int(t, 0), *width = le_ktree_int(t, m->width);
        struct le_expression *end = width;
        if (!m->skipped_columns) {
            struct le_expression *left = le_let(t, block, "left", le_minus(t, le_map_count(m, inner), place));
            end = le_ktree_select(t, le_less(t, left, width), le_to_int(t, left), width);
        }
        le_ktree_set(t, block, to, le_ktree_select(t, le_ktree_not(t, asks), zero, end));
        if (m->from && m->skipped_columns) {
            le_ktree_set(t, block, le_ktree_element(t, m->from, turn), m->skipped_columns);
            full = le_minus(t, to, m->skipped_columns);
        } else if (m->from) {
            struct le_expression *from = le_ktree_element(t, m->from, turn);
            struct le_expression *before = le_to_int(t, le_minus(t, zero, place));
            le_ktree_set(t, block, from, le_ktree_select(t, le_less(t, place, zero), before, zero));
            full = le_minus(t, to, from);
        }
        full = le_ktree_binary(t, LE_OP_EQ, full, width);
    }
    if (m->whole)
        le_ktree_set(t, block, le_ktree_use(t, m->whole), le_both(t, le_ktree_use(t, m->whole), full));
    if (m->inside && m->whole)
        find_inside(m, block, turn);
}

void le_map_ends(struct map *m, struct le_expression **from, struct le_expression **to) {
    struct le_kernel_tree *t = m->c.tree;
    int inner = m->axis_count - 1;
    struct le_expression *place = le_map_place(m, inner, NULL), *zero = le_ktree_int(t, 0);
    struct le_expression *width = le_ktree_int(t, m->width), *left = le_minus(t, le_map_count(m, inner), place);
    *to = le_ktree_select(t, le_less(t, left, width), le_to_int(t, left), width);
    *from = m->phase == 0 ? zero
                          : le_ktree_select(t, le_less(t, place, zero), le_to_int(t, le_minus(t, zero, place)), zero);
}

/* ---- */

static void find_flat(struct map *m) {
    struct le_kernel_tree *t = m->c.tree;
    struct le_expression *parts[MAP_AXES_MAX] = {NULL}, *turn;
    struct le_expression *items = le_ktree_cast(t, LE_KTREE_UINT, le_codegen_number(&m->c, "items", m->items));
    struct le_expression *first = m->part ? m->part : le_ktree_thread(t, LE_BLOCK_X);
    first = m->unroll > 1 ? le_times_int(t, first, m->threads * m->unroll)
                          : le_times(t, first, le_ktree_thread(t, LE_THREADS_X));
    first = le_let(t, m->body, "first", le_plus(t, first, le_ktree_thread(t, LE_THREAD_X)));
    if (le_map_is_simple(m)) {
        le_ktree_end_if(t, m->body, le_at_least(t, first, items));
        split_item(m, m->body, first, parts);
        set_places(m, m->body, parts, NULL);
        return;
    }
    for (int a = 0; a < m->axis_count; a++)
        m->places[a] = le_ktree_array(t, m->body, name_of(m, a, "place"), type_of(m, a), LE_KTREE_LOCAL, m->unroll, 0);
    declare_ends(m);
    struct le_block *block = le_ktree_open_each(m->c.tree, m->body, "turn", m->unroll, &turn);
    struct le_expression *threads = le_ktree_constant(t, LE_KTREE_UINT, (uint64_t)m->threads);
    struct le_expression *item = le_let(t, block, "item", le_plus(t, first, le_times(t, turn, threads)));
    split_item(m, block, item, parts);
    set_places(m, block, parts, turn);
    find_ends(m, block, turn, le_less(t, item, items));
    le_ktree_close(t, block);
}

/* TILE: computes the first row and column of the thread block and of the thread. */
static void find_corner(struct map *m, struct le_expression *const *parts) {
    struct le_kernel_tree *t = m->c.tree;
    int inner = m->axis_count - 1, row_type = type_of(m, m->row), type = type_of(m, inner);
    struct le_expression *across = le_ktree_int(t, le_map_across(m));
    struct le_expression *row = le_ktree_quotient(t, le_ktree_thread(t, LE_THREAD_X), across);
    struct le_expression *column = le_ktree_remainder(t, le_ktree_thread(t, LE_THREAD_X), across);
    struct le_expression *start = le_times_int(t, le_ktree_cast(t, row_type, parts[m->row]), m->tile_rows);
    m->row_start = le_let(t, m->body, "row_start", start);
    start = le_times_int(t, le_ktree_cast(t, type, parts[inner]), m->tile_columns);
    m->column_start = le_let(t, m->body, "column_start", start);
    column = le_plus(t, m->column_start, le_times_int(t, le_to_int(t, column), m->width));
    m->place[m->row] = le_let(t, m->body, "row", le_plus(t, m->row_start, le_to_int(t, row)));
    m->place[inner] = le_let(t, m->body, "column", column);
}

/* Moves the thread back to the last `elements` of the axis, if it is beyond them. Returns how far. */
static struct le_expression *shift_back(struct map *m, int axis, int elements) {
    struct le_kernel_tree *t = m->c.tree;
    struct le_expression *place = m->place[axis], *count = le_map_count(m, axis);
    struct le_expression *last = le_minus(t, count, le_ktree_int(t, elements));
    m->exists = le_both(t, m->exists, le_less(t, place, count));
    m->place[axis] =
        le_let(t, m->body, axis == m->row ? "row" : "column", le_ktree_select(t, le_less(t, last, place), last, place));
    return le_let(t, m->body, "skipped", le_to_int(t, le_minus(t, place, m->place[axis])));
}

/* ROWS: computes the first row and the column of the thread. */
static void find_strip(struct map *m, struct le_expression *const *parts) {
    struct le_kernel_tree *t = m->c.tree;
    const int inner = m->axis_count - 1;
    struct le_expression *row = le_times_int(t, le_ktree_cast(t, type_of(m, m->row), parts[m->row]), m->unroll);
    m->place[m->row] = le_let(t, m->body, "row", row);
    m->place[inner] = le_let(t, m->body, "column", column_of(m, parts[inner]));
    if (m->shifts_rows)
        m->skipped_rows = shift_back(m, m->row, m->unroll);
    if (m->shifts_columns)
        m->skipped_columns = shift_back(m, inner, m->width);
    if (m->shifts_rows)
        le_ktree_end_if(t, m->body, le_ktree_not(t, m->exists));
}

/* TILE: a thread block is an item; ROWS: a thread is. */
static void find_blocks(struct map *m) {
    struct le_kernel_tree *t = m->c.tree;
    struct le_expression *parts[MAP_AXES_MAX] = {NULL}, *turn, *item = le_ktree_thread(t, LE_BLOCK_X);
    if (m->way == MAP_ROWS) {
        item = le_plus(t, le_times(t, item, le_ktree_thread(t, LE_THREADS_X)), le_ktree_thread(t, LE_THREAD_X));
        item = le_let(t, m->body, "item", item);
        struct le_expression *items = le_ktree_cast(t, LE_KTREE_UINT, le_codegen_number(&m->c, "items", m->items));
        m->exists = le_less(t, item, items);
    }
    split_item(m, m->body, item, parts);
    for (int a = 0; a < m->axis_count; a++)
        m->place[a] = le_ktree_cast(t, type_of(m, a), parts[a]);
    if (m->way == MAP_ROWS)
        find_strip(m, parts);
    else
        find_corner(m, parts);
    declare_ends(m);
    struct le_block *block = le_ktree_open_each(m->c.tree, m->body, "turn", m->unroll, &turn);
    struct le_expression *counts = m->skipped_rows ? le_at_least(t, turn, m->skipped_rows)
                                                   : le_less(t, le_map_place(m, m->row, turn), le_map_count(m, m->row));
    find_ends(m, block, turn, m->skipped_rows ? counts : le_both(t, m->exists, counts));
    le_ktree_close(t, block);
}

/* ---- indices */

void le_map_bind(struct map *m, struct le_block *block, int axis, struct le_expression *place) {
    int index = m->axes[axis].index;
    le_codegen_bind_value(&m->c, block, index, le_codegen_index_value(&m->c, index, type_of(m, axis), place));
}

void le_map_bind_outer(struct map *m, struct le_block *block, struct le_expression *turn) {
    for (int a = 0; a < m->axis_count - 1; a++)
        le_map_bind(m, block, a, le_map_place(m, a, turn));
}

void le_map_places(struct map *m) {
    for (int k = 0; k < m->covered_count; k++) {
        int64_t low = le_range_of(m->c.space, m->covered[k])->low;
        int type = le_codegen_fits_int(low, low) ? LE_KTREE_INT : LE_KTREE_LONG;
        struct le_expression *first = le_ktree_constant(m->c.tree, type, 0);
        if (low == 0)
            le_codegen_bind(&m->c, m->c.root, m->covered[k], first);
        else
            le_codegen_bind_value(&m->c, m->c.root, m->covered[k],
                                  le_codegen_index_number(&m->c, m->covered[k], "low", low, type));
    }
    if (m->way == MAP_FLAT)
        find_flat(m);
    else
        find_blocks(m);
}
