/* Computes the positions of threads along a map's axes. Positions are unsigned ints. Instead of dividing, the kernel
 * multiplies by numbers that the host computes. */
#include "gen/device_map.h"

bool le_map_is_simple(const struct map *m) {
    return m->way == MAP_FLAT && m->width == 1 && m->unroll == 1 && !m->splits;
}

static const char *name_of(struct map *m, int axis) {
    return le_cuda_index_name(&m->c, m->axes[axis].index);
}

const char *le_map_axis_number(struct map *m, int axis, const char *what, int64_t value) {
    struct le_arena *arena = m->c.arena;
    return le_cuda_number(&m->c, le_arena_format(arena, "%s_%s", name_of(m, axis), what), value);
}

/* As le_over wants it: n * number >> (31 + shift) is n / divisor for n below 2^31. */
static int64_t packed_inverse(int64_t divisor) {
    int shift = 0;
    while ((int64_t)1 << shift < divisor)
        shift++;
    uint64_t number = ((uint64_t)1 << (31 + shift)) / (uint64_t)divisor + 1;
    return (int64_t)number | (int64_t)shift << 32;
}

/* The parts of number `item` along the axes, the inner one's first. */
static void split_item(struct map *m, struct block *block, const char *item, const char **parts) {
    struct cuda *c = &m->c;
    int order[MAP_AXES_MAX], n = 0;
    for (int a = m->axis_count - 1; a >= 0; a--)
        if (a == m->axis_count - 1 || (m->way != MAP_FLAT && a == m->row))
            order[n++] = a;
    for (int a = m->axis_count - 2; a >= 0; a--)
        if (m->way == MAP_FLAT || a != m->row)
            order[n++] = a;
    for (int k = 0; k < n; k++) {
        int a = order[k];
        if (k == n - 1) {
            parts[a] = item;
            return;
        }
        const char *rest = le_cuda_name(c, "rest"), *part = le_cuda_name(c, "part");
        le_cuda_line(c, block, "const unsigned %s = le_over(%s, %s);", rest, item,
                     le_map_axis_number(m, a, "over", packed_inverse(le_map_parts(m, a))));
        le_cuda_line(c, block, "const unsigned %s = %s - %s * (unsigned)%s;", part, item, rest,
                     le_map_axis_number(m, a, "parts", le_map_parts(m, a)));
        parts[a] = part;
        item = rest;
    }
}

static const char *type_of(const struct map *m, int axis) {
    return m->axes[axis].narrow ? "int" : "long long";
}

static const char *count_of(struct map *m, int axis) {
    return le_arena_format(m->c.arena, "(%s)%s", type_of(m, axis),
                           le_map_axis_number(m, axis, "count", m->axes[axis].count));
}

/* "part * 4 - phase" */
static const char *column_text(struct map *m, const char *part) {
    int inner = m->axis_count - 1;
    const char *text = le_arena_format(m->c.arena, "(%s)%s", type_of(m, inner), part);
    if (m->width > 1)
        text = le_arena_format(m->c.arena, "%s * %d", text, m->width);
    if (m->phase > 0)
        text = le_arena_format(m->c.arena, "%s - (int)%s", text, le_cuda_number(&m->c, "phase", m->phase));
    return text;
}

const char *le_map_place(struct map *m, const struct map_names *names, int axis, const char *turn) {
    const char *place = names->place[axis];
    if (m->way == MAP_FLAT)
        return le_map_is_simple(m) ? place : le_arena_format(m->c.arena, "%s[%s]", place, turn);
    if (axis != m->row)
        return place;
    int step = m->way == MAP_TILE ? MAP_THREADS / le_map_across(m) : 1;
    return le_arena_format(m->c.arena, step > 1 ? "%s + %s * %d" : "%s + %s", place, turn, step);
}

/* Whether all that the turn's elements read is inside. */
static void find_inside(struct map *m, struct map_names *names, struct block *block, const char *turn) {
    struct le_arena *arena = m->c.arena;
    struct words all = {0};
    for (int a = 0; a < m->axis_count; a++) {
        const char *place = le_map_place(m, names, a, turn), *type = type_of(m, a);
        bool inner = a == m->axis_count - 1;
        if (m->inside_low[a] > 0)
            le_words_add(arena, &all, " && %s >= (%s)%s", place, type,
                         le_map_axis_number(m, a, "inside", m->inside_low[a]));
        if (m->inside_high[a] < m->axes[a].count)
            le_words_add(arena, &all, " && %s <= (%s)%s - %d", place, type,
                         le_map_axis_number(m, a, "inside_end", m->inside_high[a]), inner ? m->width : 1);
    }
    if (all.length)
        le_cuda_line(&m->c, block, "%s = %s%s;", names->whole, names->whole, all.at);
}

/* Which of its elements count. */
static void find_ends(struct map *m, struct map_names *names, struct block *block, const char *turn, const char *asks) {
    struct cuda *c = &m->c;
    int inner = m->axis_count - 1;
    const char *place = le_map_place(m, names, inner, turn), *count = count_of(m, inner);
    const char *left = le_cuda_name(c, "left");
    if (m->width == 1) {
        const char *within = m->way == MAP_FLAT ? asks : le_arena_format(c->arena, "%s && %s < %s", asks, place, count);
        le_cuda_line(c, block, "%s[%s] = %s;", names->to, turn, within);
        if (names->whole)
            le_cuda_line(c, block, "%s = %s && %s[%s];", names->whole, names->whole, names->to, turn);
        return;
    }
    le_cuda_line(c, block, "const %s %s = %s - (%s);", type_of(m, inner), left, count, place);
    le_cuda_line(c, block, "%s[%s] = !(%s) ? 0 : %s < %d ? (int)%s : %d;", names->to, turn, asks, left, m->width, left,
                 m->width);
    if (names->from)
        le_cuda_line(c, block, "%s[%s] = %s < 0 ? (int)-(%s) : 0;", names->from, turn, place, place);
    le_cuda_line(c, block, "%s = %s && %s[%s] %s %d;", names->whole, names->whole, names->to, turn,
                 names->from ? le_arena_format(c->arena, "- %s[%s] ==", names->from, turn) : "==", m->width);
}

static void declare_ends(struct map *m, struct map_names *names) {
    struct cuda *c = &m->c;
    names->to = le_cuda_name(c, "end");
    le_cuda_line(c, m->body, m->width > 1 ? "int %s[%d];" : "bool %s[%d];", names->to, m->unroll);
    if (m->phase > 0) {
        names->from = le_cuda_name(c, "start");
        le_cuda_line(c, m->body, "int %s[%d];", names->from, m->unroll);
    }
    if (m->width > 1 || m->splits) {
        names->whole = le_cuda_name(c, "whole");
        le_cuda_line(c, m->body, "bool %s = true;", names->whole);
    }
}

static void put_places(struct map *m, struct map_names *names, struct block *block, const char *const *parts,
                       const char *turn) {
    struct cuda *c = &m->c;
    int inner = m->axis_count - 1;
    for (int a = 0; a < m->axis_count; a++) {
        const char *text =
            a == inner ? column_text(m, parts[a]) : le_arena_format(c->arena, "(%s)%s", type_of(m, a), parts[a]);
        const char *to = le_map_is_simple(m) ? le_arena_format(c->arena, "const %s %s", type_of(m, a), names->place[a])
                                             : le_map_place(m, names, a, turn);
        le_cuda_line(c, block, "%s = %s;", to, text);
    }
}

static void find_flat(struct map *m, struct map_names *names) {
    struct cuda *c = &m->c;
    const char *parts[MAP_AXES_MAX] = {NULL}, *first = le_cuda_name(c, "first"), *turn = le_cuda_name(c, "turn");
    const char *items = le_cuda_number(c, "items", m->items), *part = m->part ? m->part : "blockIdx.x";
    for (int a = 0; a < m->axis_count; a++)
        names->place[a] = le_cuda_name(c, le_arena_format(c->arena, "%s_place", name_of(m, a)));
    le_cuda_line(c, m->body, "const unsigned %s = %s * %du + threadIdx.x;", first, part, m->threads * m->unroll);
    if (le_map_is_simple(m)) {
        le_cuda_line(c, m->body, "if (%s >= (unsigned)%s)\n    return;", first, items);
        split_item(m, m->body, first, parts);
        put_places(m, names, m->body, parts, turn);
        return;
    }
    for (int a = 0; a < m->axis_count; a++)
        le_cuda_line(c, m->body, "%s %s[%d];", type_of(m, a), names->place[a], m->unroll);
    declare_ends(m, names);
    struct block *block = le_cuda_unrolled(c, m->body, turn, m->unroll);
    const char *item = le_cuda_name(c, "item");
    le_cuda_line(c, block, "const unsigned %s = %s + %s * %du;", item, first, turn, m->threads);
    split_item(m, block, item, parts);
    put_places(m, names, block, parts, turn);
    find_ends(m, names, block, turn, le_arena_format(c->arena, "%s < (unsigned)%s", item, items));
    if (m->inside)
        find_inside(m, names, block, turn);
    le_cuda_close(c, block);
}

/* The block's first row and column, and the thread's own. */
static void find_corner(struct map *m, struct map_names *names, const char *const *parts) {
    struct cuda *c = &m->c;
    int inner = m->axis_count - 1;
    const char *row = le_cuda_name(c, "row"), *at = le_cuda_name(c, "column");
    names->row_start = le_cuda_name(c, "row_start");
    names->column_start = le_cuda_name(c, "column_start");
    int columns = m->way == MAP_TILE ? m->tile_columns : 32, across = m->way == MAP_TILE ? le_map_across(m) : 32;
    int rows = m->way == MAP_TILE ? m->tile_rows : MAP_THREADS / 32 * m->unroll;
    le_cuda_line(c, m->body, "const %s %s = (%s)%s * %d;", type_of(m, m->row), names->row_start, type_of(m, m->row),
                 parts[m->row], rows);
    le_cuda_line(c, m->body, "const %s %s = %s + (int)(threadIdx.x / %d)%s;", type_of(m, m->row), row, names->row_start,
                 across, m->way == MAP_ROWS ? le_arena_format(c->arena, " * %d", m->unroll) : "");
    le_cuda_line(c, m->body, "const %s %s = (%s)%s * %d;", type_of(m, inner), names->column_start, type_of(m, inner),
                 parts[inner], columns);
    const char *of =
        m->way == MAP_TILE && m->width > 1
            ? le_arena_format(c->arena, "%s + (int)(threadIdx.x %% %d) * %d", names->column_start, across, m->width)
            : column_text(m, le_arena_format(c->arena, "(%s + threadIdx.x %% %d)", names->column_start, across));
    le_cuda_line(c, m->body, "const %s %s = %s;", type_of(m, inner), at, of);
    names->place[m->row] = row;
    names->place[inner] = at;
}

static void find_blocks(struct map *m, struct map_names *names) {
    struct cuda *c = &m->c;
    const char *parts[MAP_AXES_MAX] = {NULL}, *turn = le_cuda_name(c, "turn");
    split_item(m, m->body, "blockIdx.x", parts);
    for (int a = 0; a < m->axis_count; a++)
        names->place[a] = le_arena_format(c->arena, "(%s)%s", type_of(m, a), parts[a]);
    find_corner(m, names, parts);
    declare_ends(m, names);
    struct block *block = le_cuda_unrolled(c, m->body, turn, m->unroll);
    find_ends(m, names, block, turn,
              le_arena_format(c->arena, "%s < %s", le_map_place(m, names, m->row, turn), count_of(m, m->row)));
    if (m->inside)
        find_inside(m, names, block, turn);
    le_cuda_close(c, block);
}

static void bind_text(struct map *m, struct block *block, int index, bool narrow, const char *place) {
    struct cuda *c = &m->c;
    const struct le_range *r = le_range_of(c->space, index);
    const char *wish = le_cuda_index_name(c, index), *name = le_cuda_name(c, wish);
    const char *type = narrow ? "int" : "long long";
    struct words value = {0};
    if (r->low != 0 || !place)
        le_words_add(c->arena, &value, "(%s)%s%s", type,
                     le_cuda_number(c, le_arena_format(c->arena, "%s_low", wish), r->low), place ? " + " : "");
    if (place)
        le_words_add(c->arena, &value, r->by != 1 ? "(%s)" : "%s", place);
    if (place && r->by != 1)
        le_words_add(c->arena, &value, " * (%s)%s", type,
                     le_cuda_number(c, le_arena_format(c->arena, "%s_by", wish), r->by));
    le_cuda_line(c, block, "const %s %s = %s;", type, name, value.at);
    le_cuda_bind(c, block, index, name, narrow);
}

void le_map_bind(struct map *m, struct block *block, int axis, const char *place) {
    bind_text(m, block, m->axes[axis].index, m->axes[axis].narrow, place);
}

void le_map_bind_outer(struct map *m, const struct map_names *names, struct block *block, const char *turn,
                       const char *row) {
    for (int a = 0; a < m->axis_count - 1; a++)
        le_map_bind(m, block, a, row && a == m->row ? row : le_map_place(m, names, a, turn));
}

void le_map_places(struct map *m, struct map_names *names) {
    *names = (struct map_names){.from = NULL};
    for (int k = 0; k < m->covered_count; k++) {
        int64_t low = le_range_of(m->c.space, m->covered[k])->low;
        if (low == 0)
            le_cuda_bind(&m->c, m->c.root, m->covered[k], "0", true);
        else
            bind_text(m, m->c.root, m->covered[k], le_cuda_fits_int(low, low), NULL);
    }
    if (m->way == MAP_FLAT)
        find_flat(m, names);
    else
        find_blocks(m, names);
}
