/* Generates the text of a map's kernel: the reads ahead, the elements, and the writes. */
#include "gen/device_map.h"

#define PLACES_FOR_BLOCKS (2048 / MAP_THREADS) /* of a multiprocessor */
#define TURNS_MOST        8

struct map_writer {
    struct map *m;
    struct cuda *c;
    struct map_names names;
    struct le_block *body;      /* where its code goes now */
    bool whole;                 /* there all elements count, and all that they read is inside */
    const char *turn, *element; /* names of the loops' variables */
    const char *made;           /* the array of the elements, as they are stored */
    void (*make)(struct map *m, struct le_block *block); /* of an element; NULL: into `made` */
};

static struct le_block *open_turns(struct map_writer *k, struct le_block *block) {
    struct le_block *inner = le_cuda_unrolled(k->c, block, k->turn, k->m->unroll);
    le_map_bind_outer(k->m, &k->names, inner, k->turn, NULL);
    return inner;
}

/* Whether an element counts, as an expression; NULL: it does. */
static const char *counts(const struct map_writer *k) {
    struct le_arena *arena = k->c->arena;
    if (le_map_is_simple(k->m) || k->whole)
        return NULL;
    if (k->m->width == 1)
        return le_arena_format(arena, "%s[%s]", k->names.to, k->turn);
    const char *below = le_arena_format(arena, "%s < %s[%s]", k->element, k->names.to, k->turn);
    if (!k->names.from)
        return below;
    return le_arena_format(arena, "%s >= %s[%s] && %s", k->element, k->names.from, k->turn, below);
}

/* "place + 3" along the inner axis */
static void bind_inner(struct map_writer *k, struct le_block *block, const char *more) {
    int inner = k->m->axis_count - 1;
    const char *place = le_map_place(k->m, &k->names, inner, k->turn);
    le_map_bind(k->m, block, inner, more ? le_arena_format(k->c->arena, "%s + %s", place, more) : place);
}

static const char *stream_element(struct map_writer *k, const struct map_stream *s) {
    if (!s->along)
        return "0";
    return k->m->width > 1 ? k->element : "0";
}

/* ---- reading ahead */

static int columns_of(const struct map_writer *k, const struct map_stream *s) {
    return (s->along ? k->m->width : 1) + s->column_high - s->column_low;
}

static const char *stored_of(const struct map_writer *k, const struct map_stream *s) {
    return le_cuda_stored(k->c->ir->values.at[s->loads[0]->value].type);
}

static const char *wish_of(struct map_writer *k, const struct map_stream *s, const char *what) {
    return le_arena_format(k->c->arena, "%s_%s", le_cuda_value_name(k->c, s->loads[0]->value), what);
}

static bool is_ahead(const struct map_stream *s) {
    return !s->tile;
}

/* An array of turns' elements, aligned so that they are moved as the vectors they are: see copy_vector. */
static void declare_array(struct map_writer *k, const char *type, const char *name, int turns, int columns,
                          bool zeroed) {
    le_cuda_line(k->c, k->body, "%s%s %s[%d][%d]%s;", k->m->width > 1 && columns == k->m->width ? "__align__(16) " : "",
                 type, name, turns, columns, zeroed ? " = {}" : "");
}

/* `width` neighbours, which begin at a multiple of their size or of 16 bytes; without a function or a loop, since both
 * cost the compiler time. */
static void copy_vector(struct map_writer *k, struct le_block *block, int value, const char *to, const char *from) {
    int size_bytes = k->m->width * (int)le_type_size(k->c->ir->values.at[value].type);
    const char *chunk = size_bytes == 1   ? "unsigned char"
                        : size_bytes == 2 ? "unsigned short"
                        : size_bytes == 4 ? "unsigned"
                        : size_bytes == 8 ? "uint2"
                                          : "uint4";
    for (int n = 0; n * 16 < size_bytes; n++)
        le_cuda_line(k->c, block, "((%s *)%s)[%d] = ((const %s *)%s)[%d];", chunk, to, n, chunk, from, n);
}

static void declare(struct map_writer *k) {
    for (int q = 0; q < k->m->stream_count; q++) {
        struct map_stream *s = &k->m->streams[q];
        if (!is_ahead(s))
            continue;
        s->name = le_cuda_name(k->c, wish_of(k, s, "near"));
        declare_array(k, stored_of(k, s), s->name, k->m->unroll + s->row_high - s->row_low, columns_of(k, s),
                      !k->whole);
    }
}

/* One row of a stream: vectors where they are aligned, else elements. */
static void read_row(struct map_writer *k, const struct map_stream *s, struct le_block *block, const char *row) {
    struct cuda *c = k->c;
    int end = s->column_low + columns_of(k, s), width = k->m->width;
    for (int at = s->column_low, step; at < end; at += step) {
        bool wide = s->along && s->align >= 0 && (at - s->align) % width == 0 && at + width <= end;
        step = wide ? width : 1;
        struct le_block *base = le_cuda_open(c, block, NULL);
        bind_inner(k, base, le_arena_format(c->arena, "(%d)", at));
        const char *place = le_cuda_trusted_place_text(k->c, s->loads[0], base);
        if (wide && columns_of(k, s) == width)
            copy_vector(k, base, s->loads[0]->value, le_arena_format(c->arena, "%s[%s]", s->name, row),
                        le_arena_format(c->arena, "&%s", place));
        else if (wide)
            le_cuda_line(c, base, "le_read_at<%d>(&%s[%s][%d], &%s);", width, s->name, row, at - s->column_low, place);
        else
            le_cuda_line(c, base, "%s[%s][%d] = %s;", s->name, row, at - s->column_low, place);
        le_cuda_close(c, base);
    }
}

static void read_rows(struct map_writer *k, const struct map_stream *s, struct le_block *block) {
    struct cuda *c = k->c;
    if (s->row_low == s->row_high) {
        struct le_block *inner = open_turns(k, block);
        read_row(k, s, inner, k->turn);
        le_cuda_close(c, inner);
        return;
    }
    const char *row = le_cuda_name(c, "row");
    struct le_block *inner = le_cuda_unrolled(k->c, block, row, k->m->unroll + s->row_high - s->row_low);
    le_map_bind_outer(k->m, &k->names, inner, k->turn,
                      le_arena_format(c->arena, "%s + (%s - %d)", k->names.place[k->m->row], row, -s->row_low));
    read_row(k, s, inner, row);
    le_cuda_close(c, inner);
}

/* Every load by itself, where its element counts. */
static void read_some(struct map_writer *k, struct le_block *block) {
    struct cuda *c = k->c;
    struct le_block *turns = open_turns(k, block);
    struct le_block *elements = le_cuda_unrolled(k->c, turns, k->element, k->m->width);
    const char *asks = counts(k);
    struct le_block *inner = asks ? le_cuda_open(c, elements, le_arena_format(c->arena, "if (%s)", asks)) : elements;
    bind_inner(k, inner, k->element);
    for (int q = 0; q < k->m->stream_count; q++) {
        const struct map_stream *s = &k->m->streams[q];
        for (int x = 0; x < s->load_count && is_ahead(s); x++)
            le_cuda_line(c, inner, "%s[%s + %d][%s + %d] = %s;", s->name, k->turn, s->row[x] - s->row_low,
                         stream_element(k, s), s->column[x] - s->column_low,
                         le_cuda_trusted_place_text(k->c, s->loads[x], inner));
    }
    if (inner != elements)
        le_cuda_close(c, inner);
    le_cuda_close(c, elements);
    le_cuda_close(c, turns);
}

static void read_ahead(struct map_writer *k) {
    struct cuda *c = k->c;
    bool some = false;
    for (int q = 0; q < k->m->stream_count; q++)
        some |= is_ahead(&k->m->streams[q]);
    if (!some)
        return;
    declare(k);
    if (!k->whole && !k->names.whole) {
        read_some(k, k->body);
        return;
    }
    struct le_block *all =
        k->whole ? k->body : le_cuda_open(c, k->body, le_arena_format(c->arena, "if (%s)", k->names.whole));
    for (int q = 0; q < k->m->stream_count; q++)
        if (is_ahead(&k->m->streams[q]))
            read_rows(k, &k->m->streams[q], all);
    if (k->whole)
        return;
    struct le_block *rest = le_cuda_open(c, k->body, "else");
    read_some(k, rest);
    le_cuda_close(c, all); /* what is hoisted out of either comes before both */
    le_cuda_close(c, rest);
}

/* ---- tiles in shared memory, by columns */

struct tile_place {
    const char *row, *column; /* in the tile */
};

static const char *place_in_tile(struct map_writer *k, const struct map_stream *s, const struct tile_place *at,
                                 struct le_block *base) {
    struct map *m = k->m;
    struct le_arena *arena = k->c->arena;
    le_map_bind_outer(m, &k->names, base, k->turn, le_arena_format(arena, "%s + %s", k->names.row_start, at->row));
    le_map_bind(m, base, m->axis_count - 1, le_arena_format(arena, "%s + %s", k->names.column_start, at->column));
    return le_cuda_trusted_place_text(k->c, s->loads[0], base);
}

/* An element; of wide tiles a vector along the rows, which is put into the tile when all that the thread reads is under
 * way. */
static void read_tile(struct map_writer *k, const struct map_stream *s, struct le_block *block,
                      const struct tile_place *at) {
    struct cuda *c = k->c;
    struct le_block *base = le_cuda_open(c, block, NULL);
    const char *place = place_in_tile(k, s, at, base);
    if (k->m->width > 1)
        copy_vector(k, base, s->loads[0]->value, le_arena_format(c->arena, "%s[%s]", s->part, k->turn),
                    le_arena_format(c->arena, "&%s", place));
    else
        le_cuda_line(c, base, "%s[%s * %d + %s] = %s;", s->name, at->column, le_map_pitch(k->m), at->row, place);
    le_cuda_close(c, base);
}

static void put_part(struct map_writer *k, const struct map_stream *s, struct le_block *block,
                     const struct tile_place *at) {
    struct le_block *elements = le_cuda_unrolled(k->c, block, k->element, k->m->width);
    le_cuda_line(k->c, elements, "%s[%s * %d + %s + %s] = %s[%s][%s];", s->name, at->column, le_map_pitch(k->m),
                 at->row, k->element, s->part, k->turn, k->element);
    le_cuda_close(k->c, elements);
}

/* What a thread does for each of its parts of the tiles. */
static void for_parts(struct map_writer *k, const struct tile_place *at,
                      void (*work)(struct map_writer *k, const struct map_stream *s, struct le_block *block,
                                   const struct tile_place *at)) {
    struct map *m = k->m;
    struct cuda *c = k->c;
    int inner = m->axis_count - 1, down = m->tile_rows / m->width;
    const char *part = le_cuda_name(c, "at");
    struct le_block *turns = le_cuda_unrolled(c, c->root, k->turn, m->unroll);
    le_cuda_line(c, turns, "const int %s = (int)threadIdx.x + %s * %d;", part, k->turn, MAP_THREADS);
    const char *times = m->width > 1 ? le_arena_format(c->arena, " * %d", m->width) : "";
    le_cuda_line(c, turns, "const int %s = %s %% %d%s, %s = %s / %d;", at->row, part, down, times, at->column, part,
                 down);
    struct le_block *within = le_cuda_open(
        c, turns,
        le_arena_format(c->arena, "if (%s + %s < %s && %s + %s < %s)", k->names.row_start, at->row,
                        le_map_axis_number(m, m->row, "count", m->axes[m->row].count), k->names.column_start,
                        at->column, le_map_axis_number(m, inner, "count", m->axes[inner].count)));
    for (int q = 0; q < m->stream_count; q++)
        if (m->streams[q].tile)
            work(k, &m->streams[q], within, at);
    le_cuda_close(c, within);
    le_cuda_close(c, turns);
}

static void read_tiles(struct map_writer *k) {
    struct map *m = k->m;
    struct cuda *c = k->c;
    const struct tile_place at = {.row = le_cuda_name(c, "row"), .column = le_cuda_name(c, "column")};
    for (int q = 0; q < m->stream_count; q++) {
        struct map_stream *s = &m->streams[q];
        if (!s->tile)
            continue;
        s->name = le_cuda_name(c, wish_of(k, s, "tile"));
        le_cuda_line(c, c->root, "__shared__ %s %s[%d];", stored_of(k, s), s->name, m->tile_columns * le_map_pitch(m));
        if (m->width == 1)
            continue;
        s->part = le_cuda_name(c, wish_of(k, s, "part"));
        declare_array(k, stored_of(k, s), s->part, m->unroll, m->width, false);
    }
    for_parts(k, &at, read_tile);
    if (m->width > 1)
        for_parts(k, &at, put_part);
    le_cuda_line(c, c->root, "__syncthreads();");
}

/* ---- the elements */

static const char *column_of_tile(const struct map_writer *k) {
    int width = k->m->width, across = le_map_across(k->m);
    return width == 1 ? le_arena_format(k->c->arena, "threadIdx.x %% %d", across)
                      : le_arena_format(k->c->arena, "(threadIdx.x %% %d * %d + %s)", across, width, k->element);
}

/* What was read ahead, from now on: in the outermost block where the loads' nodes may stand. */
static void know_stream(struct map_writer *k, const struct map_stream *s, struct le_block *turns,
                        struct le_block *element) {
    struct map *m = k->m;
    struct cuda *c = k->c;
    for (int x = 0; x < s->load_count; x++) {
        struct le_node *load = s->loads[x];
        enum le_type stored = c->ir->values.at[load->value].type;
        const char *text;
        if (s->tile)
            text = le_arena_format(c->arena, "(%s ? %s[%s * %d + (threadIdx.x / %d + %s * %d)] : (%s)0)", counts(k),
                                   s->name, column_of_tile(k), le_map_pitch(m), le_map_across(m), k->turn,
                                   MAP_THREADS / le_map_across(m), stored_of(k, s));
        else
            text = le_arena_format(c->arena, "%s[%s + %d][%s + %d]", s->name, k->turn, s->row[x] - s->row_low,
                                   stream_element(k, s), s->column[x] - s->column_low);
        bool inner = le_node_depends(load, le_map_inner(m)->index);
        struct le_block *block = inner ? element : turns;
        const char *x_text = le_cuda_from_memory_text(c, text, stored, load->type);
        le_cuda_know_text(c, load, block,
                          le_cuda_hold_text(c, block, load->type, false, le_cuda_value_name(c, load->value), x_text));
    }
}

static const char *target_place(struct map_writer *k, struct le_block *block) {
    const struct le_stage *stage = k->m->stage;
    const char *place;
    struct destination to = {.value = stage->target,
                             .rank = stage->left_count,
                             .access = stage->access,
                             .subscripts = stage->left,
                             .trusted = true};
    le_cuda_place_text(k->c, &to, block, &place);
    return place;
}

/* Turns of which some element counts: what they read lies inside. */
static struct le_block *open_counted(struct map_writer *k) {
    struct cuda *c = k->c;
    struct le_block *turns = le_cuda_unrolled(k->c, k->body, k->turn, k->m->unroll);
    struct le_block *inner = le_cuda_open(c, turns, le_arena_format(c->arena, "if (%s[%s] > 0)", k->names.to, k->turn));
    inner->conditional = true;
    le_map_bind_outer(k->m, &k->names, inner, k->turn, NULL);
    return inner;
}

static void declare_made(struct map_writer *k) {
    enum le_type stored = k->c->ir->values.at[k->m->stage->target].type;
    k->made = le_cuda_name(k->c, "made");
    declare_array(k, le_cuda_stored(stored), k->made, k->m->unroll, k->m->width, false);
}

static void make_element(struct map_writer *k, struct le_block *block) {
    struct cuda *c = k->c;
    enum le_type stored = c->ir->values.at[k->m->stage->target].type;
    if (k->make) {
        k->make(k->m, block);
        return;
    }
    le_cuda_line(
        c, block, "%s[%s][%s] = %s;", k->made, k->turn, k->element,
        le_cuda_to_memory_text(c, le_cuda_wide_text(c, k->m->stage->node, block), le_type_compute(stored), stored));
}

static void make_elements(struct map_writer *k) {
    struct cuda *c = k->c;
    bool asks = !k->whole && !le_map_is_simple(k->m) && (!k->m->safe || k->m->loose);
    struct le_block *turns = asks ? open_counted(k) : open_turns(k, k->body);
    struct le_block *loop = le_cuda_unrolled(k->c, turns, k->element, k->m->width), *element = loop;
    if (asks) {
        element = le_cuda_open(c, loop, le_arena_format(c->arena, "if (%s)", counts(k)));
        element->conditional = true;
    }
    bind_inner(k, element, k->m->width > 1 ? k->element : NULL);
    for (int q = 0; q < k->m->stream_count; q++)
        know_stream(k, &k->m->streams[q], turns, element);
    make_element(k, element);
    for (; element != k->body; element = element->parent)
        le_cuda_close(c, element);
}

/* ---- writing */

static void write_some(struct map_writer *k, struct le_block *block) {
    struct cuda *c = k->c;
    struct le_block *turns = open_turns(k, block);
    struct le_block *elements = le_cuda_unrolled(k->c, turns, k->element, k->m->width);
    const char *asks = counts(k);
    struct le_block *inner = asks ? le_cuda_open(c, elements, le_arena_format(c->arena, "if (%s)", asks)) : elements;
    bind_inner(k, inner, k->m->width > 1 ? k->element : NULL);
    le_cuda_line(c, inner, "%s = %s[%s][%s];", target_place(k, inner), k->made, k->turn, k->element);
    if (inner != elements)
        le_cuda_close(c, inner);
    le_cuda_close(c, elements);
    le_cuda_close(c, turns);
}

static void write_whole(struct map_writer *k, struct le_block *block) {
    struct cuda *c = k->c;
    struct le_block *turns = open_turns(k, block);
    bind_inner(k, turns, NULL);
    copy_vector(k, turns, k->m->stage->target, le_arena_format(c->arena, "&%s", target_place(k, turns)),
                le_arena_format(c->arena, "%s[%s]", k->made, k->turn));
    le_cuda_close(c, turns);
}

static void write_all(struct map_writer *k) {
    struct cuda *c = k->c;
    if (!k->names.whole) {
        write_some(k, k->body);
        return;
    }
    struct le_block *all = le_cuda_open(c, k->body, le_arena_format(c->arena, "if (%s)", k->names.whole));
    write_whole(k, all);
    struct le_block *rest = le_cuda_open(c, k->body, "else");
    write_some(k, rest);
    le_cuda_close(c, all);
    le_cuda_close(c, rest);
}

/* ---- threads whose elements are all alike, and the others */

static void store_point(struct map *m, struct le_block *block) {
    le_cuda_store(&m->c, le_cuda_node(&m->c, m->stage->node, block, NULL), block);
}

/* Each element by itself, where it counts; unless `usual` (NULL: always). That is asked by the loop, not before it, so
 * that what comes before it does not branch. */
static void make_apart(struct map_writer *k, const char *usual) {
    struct cuda *c = k->c;
    const char *unless = usual ? le_arena_format(c->arena, "!%s && ", usual) : "";
    const char *from = k->names.from ? le_arena_format(c->arena, "%s[%s]", k->names.from, k->turn) : "0";
    const char *head = k->m->width == 1
                           ? le_arena_format(c->arena, "if (%s%s)", unless, counts(k))
                           : le_arena_format(c->arena, "#pragma unroll 1\nfor (int %s = %s; %s%s < %s[%s]; %s++)",
                                             k->element, from, unless, k->element, k->names.to, k->turn, k->element);
    struct le_block *turns = le_cuda_unrolled(c, k->body, k->turn, k->m->unroll);
    struct le_block *elements = le_cuda_open(c, turns, head);
    elements->conditional = true;
    le_map_bind_outer(k->m, &k->names, elements, k->turn, NULL); /* there may be no such row where none counts */
    bind_inner(k, elements, k->m->width > 1 ? k->element : NULL);
    k->make(k->m, elements);
    le_cuda_close(c, elements);
    le_cuda_close(c, turns);
}

/* NULL: none of it has a quick way that is worth it; else the bool that says whether what was made so counts. */
static const char *declare_usual(struct map_writer *k, struct le_block *block) {
    if (!k->m->dear || k->make || !le_cuda_has_quick_ways(k->c, k->m->stage->node))
        return NULL;
    const char *usual = le_cuda_name(k->c, "usual");
    le_cuda_line(k->c, block, "bool %s = %s;", usual, k->names.whole);
    return usual;
}

static void make_whole(struct map_writer *k, struct le_block *block, const char *usual) {
    k->body = block;
    k->whole = true;
    k->c->quick = usual ? block : NULL;
    k->c->usual = le_cuda_named(k->c, usual);
    le_cuda_reach(k->c, k->m->inside);
    read_ahead(k);
    if (!k->make)
        declare_made(k);
    make_elements(k);
    k->c->quick = NULL;
    if (k->make)
        return;
    struct le_block *writes = usual ? le_cuda_open(k->c, block, le_arena_format(k->c->arena, "if (%s)", usual)) : block;
    write_whole(k, writes);
    if (usual)
        le_cuda_close(k->c, writes);
}

static void make_split(struct map_writer *k) {
    struct cuda *c = k->c;
    const char *usual = declare_usual(k, k->m->body);
    struct le_block *all = le_cuda_open(c, k->m->body, le_arena_format(c->arena, "if (%s)", k->names.whole));
    struct le_block *rest = le_cuda_open(c, k->m->body, usual ? "" : "else");
    make_whole(k, all, usual);
    k->body = rest;
    k->whole = false;
    le_cuda_reach(c, NULL);
    if (!k->make)
        k->make = store_point;
    c->rare = usual ? rest : NULL;
    make_apart(k, usual);
    c->rare = NULL;
    le_cuda_close(c, all);
    le_cuda_close(c, rest);
}

static struct map_writer new_maker(struct map *m, const struct map_names *names) {
    struct map_writer k = {.m = m, .c = &m->c, .body = m->body, .names = *names};
    k.turn = le_cuda_name(k.c, "u");
    k.element = le_cuda_name(k.c, "e");
    return k;
}

void le_map_elements(struct map *m, const struct map_names *names,
                     void (*make)(struct map *m, struct le_block *block)) {
    struct map_writer k = new_maker(m, names);
    k.make = make;
    make_split(&k);
}

/* ---- */

static const char *describe_way(const struct map *m) {
    if (m->way == MAP_TILE)
        return m->width > 1 ? "tiles of vectors through shared memory" : "tiles through shared memory";
    if (m->way == MAP_ROWS)
        return "a thread for some rows and columns";
    return le_map_is_simple(m) ? "a thread for each element"
           : m->width > 1      ? "a thread for vectors of elements"
                               : "a thread for some elements";
}

static void make_all(struct map_writer *k) {
    if (k->m->splits) {
        make_split(k);
        return;
    }
    read_ahead(k);
    if (k->m->way == MAP_TILE)
        read_tiles(k);
    declare_made(k);
    make_elements(k);
    write_all(k);
}

/* What is dear goes round: what is the same for all elements is found once for several of a thread's. */
static const char *open_parts(struct map *m, int64_t parts) {
    struct cuda *c = &m->c;
    const char *part = le_cuda_name(c, "part");
    const char *head = le_arena_format(
        c->arena, "#pragma unroll 1\nfor (unsigned %s = blockIdx.x; %s < (unsigned)%s; %s += gridDim.x)", part, part,
        le_cuda_number_text(c, "parts", parts), part);
    m->body = le_cuda_open(c, c->root, head);
    return part;
}

/* As many blocks as leave the device with several for each place that it has for one. */
static int64_t blocks_of_parts(const struct map *m, int64_t parts) {
    int64_t places = (int64_t)m->c.job->facts->multiprocessors * PLACES_FOR_BLOCKS;
    int64_t turns = parts / (places * 4);
    turns = turns < 1 ? 1 : turns > TURNS_MOST ? TURNS_MOST : turns;
    return (parts + turns - 1) / turns;
}

bool le_map_stage(const struct le_device_kernel_job *job, const struct le_stage *stage,
                  struct le_generated_launches *out, leat_status *status) {
    struct map m;
    struct map_names names;
    if (!le_map_find(&m, job, stage))
        return false;
    m.c.tree->threads = MAP_THREADS;
    int64_t blocks = m.items;
    if (m.way == MAP_FLAT)
        blocks = (m.items + MAP_THREADS * m.unroll - 1) / (MAP_THREADS * m.unroll);
    if (m.dear) {
        m.part = open_parts(&m, blocks);
        blocks = blocks_of_parts(&m, blocks);
    }
    le_map_places(&m, &names);
    struct map_writer k = new_maker(&m, &names);
    make_all(&k);
    if (m.dear)
        le_cuda_close(&m.c, m.body);
    struct le_generated_launch *launch = le_cuda_finish(k.c, out);
    launch->grid[0] = (unsigned)blocks;
    launch->grid[1] = launch->grid[2] = launch->block[1] = launch->block[2] = 1;
    launch->block[0] = MAP_THREADS;
    launch->how = describe_way(&m);
    launch->elements = 1;
    for (int a = 0; a < m.axis_count; a++)
        launch->elements *= m.axes[a].count;
    *status = m.c.status;
    return true;
}
