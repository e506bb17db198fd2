/* Scans by many threads (device_scan.cu has their pieces). A lane takes groups of 16 terms. Rows that are adjacent in
 * memory go to the lanes of one warp, a short row to a few lanes, and other rows to a thread block, which stages its
 * terms in shared memory. Few long rows are cut into tiles, one for each block; a block looks back for the total before
 * its tile. */
#include "gen/device_group_reduce.h"
#include <string.h>

#define GROUP        16
#define COLUMNS      16    /* that make good use of what a warp reads at once */
#define BUSY_WARPS   32    /* of a multiprocessor that has enough to read */
#define LOOK_BACK    128   /* totals that a tile has room for */
#define TILE_BYTES   65536 /* of terms, unless their order wants more */
#define CHUNK_GROUPS 1024  /* of the chunks that the order of floats' totals knows */
#define REGISTERS    65536

enum way { WAY_COLUMNS, WAY_FEW, WAY_ROW, WAY_TILES };

struct team {
    struct cuda *c;
    const struct scan *scan;
    struct group g; /* its terms are those of the turns */
    int points_at[POINTS_MAX], points_count;
    int64_t points, head; /* head: terms of it */
    enum le_type type;    /* of the terms */
    bool is_arg, ordered, across;
    enum way way;
    int slot, out_width;                         /* bytes; as g.width, of what is written */
    int threads, groups;                         /* of a block; of a tile */
    int warps, lanes;                            /* that share a column's groups; that have a row of few terms */
    const char *t, *result, *n, *count;          /* C's types, and the number of turns */
    const char *some, *one, *of, *put, *put_one; /* lambdas */
};

static int size_of(enum le_type type) {
    return le_type_is_half(type) ? 4 : (int)le_type_size(type);
}

/* ---- whether, and how */

static bool find_points(struct team *s, const struct le_stage *stage) {
    s->points = 1;
    if (stage->index_count > POINTS_MAX)
        return false;
    for (int k = 0; k < stage->index_count; k++) {
        const struct le_range *r = le_range_of(s->c->space, stage->indices[k]);
        if (r->dynamic || !le_mul_i64(s->points, le_range_count(r), &s->points))
            return false;
        s->points_at[s->points_count++] = stage->indices[k];
    }
    return s->points <= INT32_MAX;
}

/* An index along which neighbours lie nearer than terms do runs fastest. */
static void find_across(struct team *s) {
    for (int k = s->points_count - 1; k >= 0 && !s->across; k--) {
        int index = s->points_at[k];
        s->across = le_range_count(le_range_of(s->c->space, index)) > 1 && le_group_is_across(s->c, &s->g, index);
        if (!s->across)
            continue;
        memmove(&s->points_at[k], &s->points_at[k + 1], (size_t)(s->points_count - 1 - k) * sizeof(int));
        s->points_at[s->points_count - 1] = index;
    }
}

/* From the end on, or in rows of few terms, W elements at a time have to end with the row. */
static void find_widths(struct team *s) {
    struct le_node target = le_cuda_target(s->c);
    int width = 16 / (int)le_type_size(s->c->ir->values.at[target.value].type);
    bool whole = s->scan->down || s->way == WAY_FEW;
    s->out_width = le_team_is_wide(s->c, &target, &s->scan->index, width) ? width : 1;
    if (whole && s->g.terms % s->out_width != 0)
        s->out_width = 1;
    if (whole && s->g.terms % s->g.width != 0)
        s->g.width = 1;
    int steps = s->way == WAY_ROW || s->way == WAY_TILES ? s->groups / s->threads : 1;
    while (s->g.unroll > steps * GROUP / s->g.width)
        s->g.unroll /= 2;
}

static size_t tile_bytes(const struct team *s) {
    return (size_t)s->groups * GROUP * (size_t)s->slot;
}

/* Whether rows are so few that their tiles are shared; a tile of floats' totals is a chunk of their order. */
static bool find_tiles(struct team *s) {
    const struct le_device_facts *facts = s->c->job->facts;
    s->groups = s->ordered ? CHUNK_GROUPS : TILE_BYTES / GROUP / (s->slot > 4 ? s->slot : 4);
    s->threads = tile_bytes(s) > TILE_BYTES ? 512 : 256;
    size_t room = (size_t)(s->groups + LOOK_BACK + 2 * WARP + 2) * (size_t)le_group_bytes(&s->g) * 2;
    return s->points < 4 * (int64_t)facts->multiprocessors && s->g.terms > 2 * (int64_t)s->groups * GROUP &&
           tile_bytes(s) + room <= facts->shared_most_bytes &&
           s->g.terms / ((int64_t)s->groups * GROUP) < INT32_MAX / s->points;
}

static enum way choose_way(struct team *s) {
    int64_t busy = (int64_t)s->c->job->facts->multiprocessors * BUSY_WARPS * WARP, terms = s->g.terms;
    if ((s->across && s->points >= COLUMNS) || terms <= GROUP) {
        for (s->warps = 1; s->warps < 16 && terms > GROUP * s->warps && s->points * s->warps < busy; s->warps *= 4)
            ;
        s->threads = s->warps == 16 ? 512 : 256;
        return WAY_COLUMNS;
    }
    s->threads = 256;
    for (s->lanes = 2; s->lanes < WARP && s->lanes * GROUP < terms; s->lanes *= 2)
        ;
    if (terms <= WARP * GROUP)
        return WAY_FEW;
    if (find_tiles(s))
        return WAY_TILES;
    for (s->threads = 64; s->threads < 256 && (int64_t)s->threads * GROUP < terms; s->threads *= 2)
        ;
    s->groups = s->threads;
    return WAY_ROW;
}

static bool find_team(struct team *s, const struct le_stage *stage) {
    struct cuda *c = s->c;
    const struct scan *scan = s->scan;
    struct le_node *n = scan->reduction;
    if (!find_points(s, stage))
        return false;
    s->type = n->operands[0]->type;
    s->is_arg = n->code == LE_RED_ARGMIN || n->code == LE_RED_ARGMAX;
    s->ordered = le_type_is_float(s->type) && (n->code == LE_RED_SUM || n->code == LE_RED_PROD);
    s->head = scan->head.low < scan->head.high ? scan->head.high - scan->head.low : 0;
    s->g = (struct group){.nodes = {n}, .bodies = {scan->term}, .node_count = 1, .index_count = 1};
    s->g.indices = &scan->index;
    s->g.terms = le_range_count(&scan->turns) + s->head;
    le_group_shape(c, &s->g);
    s->g.terms -= s->head;
    find_across(s);
    s->t = le_cuda_type(s->type);
    s->n = s->g.narrow ? "int" : "long long";
    s->result = s->is_arg ? s->n : s->t;
    s->slot = size_of(s->type);
    if (s->is_arg && s->slot < (s->g.narrow ? 4 : 8))
        s->slot = s->g.narrow ? 4 : 8;
    s->way = choose_way(s);
    find_widths(s);
    return true;
}

/* ---- faults: a row's head, then term, element, term, element, ... */

static bool is_safe(struct team *s) {
    struct cuda *c = s->c;
    struct le_node target = le_cuda_target(c);
    return le_cuda_is_safe(c, s->scan->term) && le_cuda_load_is_safe(c, &target) &&
           (s->head == 0 || le_cuda_is_safe(c, s->scan->reduction->operands[0]));
}

static void number_terms(struct team *s) {
    if (!is_safe(s))
        s->c->terms = le_cuda_number(s->c, "terms", s->head + 2 * s->g.terms);
}

static const char *numbered(struct team *s, const char *at, int more) {
    return s->c->terms
               ? le_arena_format(s->c->arena, "%s + 2 * %s + %d", le_cuda_number(s->c, "head_terms", s->head), at, more)
               : NULL;
}

/* ---- the lambdas */

static struct block *open_lambda(struct team *s, const char *parameters, const char *type) {
    struct block *inner =
        le_cuda_open(s->c, s->c->root, le_arena_format(s->c->arena, "const auto %s -> %s", parameters, type));
    inner->tail = ";";
    return inner;
}

/* Binds the scan's index to the at'th turn, or to the first in memory of `width` turns from that on. */
static void bind_turn(struct team *s, struct block *block, const char *at, int width) {
    const char *place = at;
    if (s->scan->down)
        place = le_arena_format(s->c->arena, "%s - %d - (%s)", s->count, width, at);
    le_team_bind_one(s->c, block, s->scan->index, place, 0);
}

/* Element e in memory of `width` turns, as the turns count them. */
static const char *turn_of(const struct team *s, const char *e, int width) {
    return s->scan->down ? le_arena_format(s->c->arena, "%d - %s", width - 1, e) : e;
}

static void emit_one(struct team *s) {
    struct cuda *c = s->c;
    const char *at = le_cuda_name(c, "at");
    s->one = le_cuda_name(c, "term");
    struct block *inner = open_lambda(s, le_arena_format(c->arena, "%s = [&](%s %s)", s->one, s->n, at), s->t);
    bind_turn(s, inner, at, 1);
    c->term = numbered(s, at, 0);
    le_cuda_line(c, inner, "return %s;", le_cuda_wide(c, le_cuda_node(c, s->scan->term, inner, NULL)));
    c->term = NULL;
    le_cuda_close(c, inner);
}

/* Reads `width` elements of every load, and makes their terms. */
static void emit_wide(struct team *s, struct block *inner, const char *at, const char *to) {
    struct cuda *c = s->c;
    struct le_node *loads[LOADS_MAX];
    const char *names[LOADS_MAX], *e = le_cuda_name(c, "e");
    int width = s->g.width, count = le_group_loads(c, &s->g, loads);
    struct block *base = le_cuda_open(c, inner, NULL);
    bind_turn(s, base, at, width);
    for (int k = 0; k < count; k++) {
        const struct le_value *v = &c->ir->values.at[loads[k]->value];
        const char *place = le_cuda_trusted_place(c, loads[k], base);
        names[k] = le_cuda_name(c, le_arena_format(c->arena, "%s_some", v->name));
        le_cuda_line(c, base, "%s %s[%d];\nle_read<%d>(%s, &%s);", le_cuda_stored(v->type), names[k], width, width,
                     names[k], place);
    }
    le_cuda_close(c, base);
    struct block *each = le_cuda_unrolled(c, inner, e, width);
    bind_turn(s, each, le_arena_format(c->arena, "%s + %s", at, turn_of(s, e, width)), 1);
    for (int k = 0; k < count; k++) {
        const struct le_value *v = &c->ir->values.at[loads[k]->value];
        const char *x =
            le_cuda_from_memory(c, le_arena_format(c->arena, "%s[%s]", names[k], e), v->type, loads[k]->type);
        le_cuda_know(c, loads[k], each, le_cuda_hold(c, each, loads[k]->type, false, v->name, x)->text);
    }
    c->term = numbered(s, le_arena_format(c->arena, "(%s + %s)", at, turn_of(s, e, width)), 0);
    const char *x = le_cuda_wide(c, le_cuda_node(c, s->scan->term, each, NULL));
    le_cuda_line(c, each, "%s[%s] = %s;", to, turn_of(s, e, width), x);
    c->term = NULL;
    le_cuda_close(c, each);
}

static void emit_some(struct team *s) {
    struct cuda *c = s->c;
    const char *at = le_cuda_name(c, "at"), *to = le_cuda_name(c, "to");
    s->some = le_cuda_name(c, "terms");
    const char *head =
        le_arena_format(c->arena, "%s = [&](%s %s, %s (&%s)[%d])", s->some, s->n, at, s->t, to, s->g.width);
    struct block *inner = open_lambda(s, head, "void");
    if (s->g.width > 1)
        emit_wide(s, inner, at, to);
    else
        le_cuda_line(c, inner, "%s[0] = %s(%s);", to, s->one, at);
    le_cuda_close(c, inner);
}

/* A place is counted from the first of all terms on, as they lie. */
static void emit_of(struct team *s) {
    struct cuda *c = s->c;
    const char *at = le_cuda_name(c, "at"), *x = le_cuda_name(c, "x"), *place;
    s->of = le_cuda_name(c, "total_of");
    struct block *inner =
        open_lambda(s, le_arena_format(c->arena, "%s = [&](%s %s, %s %s)", s->of, s->t, x, s->n, at), s->g.type);
    if (!s->is_arg)
        le_cuda_line(c, inner, "return %s::of(%s);", s->g.type, x);
    else if (s->scan->suffix)
        le_cuda_line(c, inner, "return %s::of(%s, %s - 1 - %s);", s->g.type, x, s->count, at);
    else if (s->head == 0)
        le_cuda_line(c, inner, "return %s::of(%s, %s);", s->g.type, x, at);
    else {
        place = le_arena_format(c->arena, "(%s)%s + %s", s->n, le_cuda_number(c, "head_terms", s->head), at);
        le_cuda_line(c, inner, "return %s::of(%s, %s);", s->g.type, x, place);
    }
    le_cuda_close(c, inner);
}

/* A result as the reduction's value. */
static const char *value_of(struct team *s, const char *x) {
    if (!s->is_arg)
        return x;
    if (s->scan->terms.low == 0)
        return le_arena_format(s->c->arena, "(long long)%s", x);
    return le_arena_format(s->c->arena, "%s + %s", le_cuda_number(s->c, "first", s->scan->terms.low), x);
}

static void emit_put_one(struct team *s) {
    struct cuda *c = s->c;
    const char *at = le_cuda_name(c, "at"), *x = le_cuda_name(c, "x");
    s->put_one = le_cuda_name(c, "store");
    const char *head = le_arena_format(c->arena, "%s = [&](%s %s, %s %s)", s->put_one, s->n, at, s->result, x);
    struct block *inner = open_lambda(s, head, "void");
    bind_turn(s, inner, at, 1);
    c->term = numbered(s, at, 1);
    const struct held *value = le_cuda_hold(c, inner, s->scan->reduction->type, false, "value", value_of(s, x));
    le_cuda_store(c, value, inner);
    c->term = NULL;
    le_cuda_close(c, inner);
}

static void emit_put(struct team *s) {
    struct cuda *c = s->c;
    const char *at = le_cuda_name(c, "at"), *from = le_cuda_name(c, "from");
    int width = s->out_width;
    s->put = le_cuda_name(c, "stores");
    const char *head =
        le_arena_format(c->arena, "%s = [&](%s %s, const %s (&%s)[%d])", s->put, s->n, at, s->result, from, width);
    struct block *inner = open_lambda(s, head, "void");
    if (width == 1) {
        le_cuda_line(c, inner, "%s(%s, %s[0]);", s->put_one, at, from);
    } else {
        struct le_node target = le_cuda_target(c);
        enum le_type stored = c->ir->values.at[target.value].type;
        const char *out = le_cuda_name(c, "out"), *e = le_cuda_name(c, "e");
        const char *x = value_of(s, le_arena_format(c->arena, "%s[%s]", from, turn_of(s, e, width)));
        x = le_cuda_to_memory(c, le_arena_format(c->arena, "(%s)", x), le_type_compute(stored), stored);
        le_cuda_line(c, inner, "%s %s[%d];\n#pragma unroll\nfor (int %s = 0; %s < %d; %s++)\n    %s[%s] = %s;",
                     le_cuda_stored(stored), out, width, e, e, width, e, out, e, x);
        bind_turn(s, inner, at, width);
        le_cuda_line(c, inner, "le_write<%d>(&%s, %s);", width, le_cuda_trusted_place(c, &target, inner), out);
    }
    le_cuda_close(c, inner);
}

static void emit_lambdas(struct team *s) {
    emit_one(s);
    emit_of(s);
    emit_put_one(s);
    if (s->way == WAY_COLUMNS)
        return;
    emit_some(s);
    emit_put(s);
}

/* ---- the terms before the first element's own */

/* By each thread: their total, a variable. */
static const char *own_head(struct team *s) {
    struct cuda *c = s->c;
    const struct scan *scan = s->scan;
    const char *start = le_cuda_name(c, "start"), *place = "";
    if (s->head > 0 && s->ordered) {
        const char *x = le_cuda_node(c, scan->reduction, c->root, NULL)->text;
        le_cuda_line(c, c->root, "const %s %s = %s::of(%s);", s->g.type, start, s->g.type, x);
        return start;
    }
    le_cuda_line(c, c->root, "%s %s = %s::none();", s->g.type, start, s->g.type);
    if (s->head == 0)
        return start;
    struct block *inner = le_cuda_run(c, c->root, scan->scanned, scan->suffix);
    const char *x = le_cuda_wide(c, le_cuda_node(c, scan->reduction->operands[0], inner, NULL));
    if (s->is_arg)
        place = le_arena_format(c->arena, ", (%s)(%s - %s)", s->n, c->indices[scan->scanned].text,
                                le_cuda_number(c, "first", scan->terms.low));
    le_cuda_line(c, inner, "%s = %s.join(%s::of(%s%s));", start, start, s->g.type, x, place);
    le_cuda_close(c, inner);
    return start;
}

/* By a block, of which all threads come here, into start. */
static void take_head(struct team *s, struct block *block, const char *start) {
    struct cuda *c = s->c;
    const struct scan *scan = s->scan;
    struct group h = {.nodes = {scan->reduction}, .bodies = {scan->reduction->operands[0]}, .node_count = 1};
    h.indices = &scan->scanned;
    h.index_count = 1;
    h.terms = s->head;
    le_group_shape(c, &h);
    h.narrow = s->g.narrow;
    le_group_emit(c, &h, block);
    const char *room = le_cuda_name(c, "head_room");
    le_cuda_line(c, c->root, "__shared__ le_room<%s> %s;", s->g.type, room);
    le_cuda_line(c, block, "%s = le_block_total<%s, %d, %d, %d, %s>((%s)%s, %s, %s, %s);", start, s->g.type, h.unroll,
                 h.unroll, h.width, s->n, s->n, le_cuda_number(c, "head_terms", s->head), h.many, h.term, room);
    if (s->is_arg && scan->suffix)
        le_cuda_line(c, block, "%s.at += %s;", start, s->count);
}

static const char *block_head(struct team *s, const char *when) {
    struct cuda *c = s->c;
    const char *start = le_cuda_name(c, "start");
    le_cuda_line(c, c->root, "%s %s = %s::none();", s->g.type, start, s->g.type);
    if (s->head == 0)
        return start;
    struct block *block = le_cuda_open(c, c->root, when);
    block->conditional = when != NULL;
    take_head(s, block, start);
    le_cuda_close(c, block);
    return start;
}

/* ---- kernels */

static void begin_team(struct team *s) {
    struct cuda *c = s->c;
    int bytes = le_group_bytes(&s->g), blocks = REGISTERS / (s->threads * (bytes > 8 ? 128 : bytes > 4 ? 96 : 64));
    if (s->way == WAY_TILES)
        blocks = tile_bytes(s) > TILE_BYTES ? 1 : 3;
    c->block_threads = s->threads;
    c->blocks = blocks > 0 ? blocks : 1;
    le_group_declare(c, &s->g);
    s->count = le_arena_format(c->arena, "(%s)%s", s->n, le_cuda_number(c, "turns", s->g.terms));
    number_terms(s);
}

static void finish_launch(struct team *s, struct le_generated_launches *out, int64_t blocks, size_t shared,
                          const char *how) {
    struct le_generated_launch *launch = le_cuda_finish(s->c, out);
    launch->grid[0] = (unsigned)blocks;
    launch->block[0] = (unsigned)s->threads;
    launch->grid[1] = launch->grid[2] = launch->block[1] = launch->block[2] = 1;
    launch->shared_bytes = shared;
    launch->elements = s->points * s->g.terms;
    launch->operations = launch->elements * (s->scan->term->cost + 1);
    launch->how = how;
}

/* Binds the points' indices to one that there is, also where a lane has none; the bool that tells. */
static const char *bind_lane(struct team *s, const char *point) {
    struct cuda *c = s->c;
    const char *points = le_cuda_number(c, "points", s->points), *active = le_cuda_name(c, "active");
    le_cuda_line(c, c->root, "const bool %s = %s < %s;", active, point, points);
    const char *own = le_cuda_hold(c, c->root, LE_I64, false, "row",
                                   le_arena_format(c->arena, "%s ? %s : %s - 1", active, point, points))
                          ->text;
    le_team_bind(c, c->root, s->points_at, s->points_count, own, true);
    return active;
}

static void make_columns(struct team *s, struct le_generated_launches *out) {
    struct cuda *c = s->c;
    int side = s->threads / WARP / s->warps;
    const char *warp = le_cuda_name(c, "warp"), *point = le_cuda_name(c, "point"), *room = le_cuda_name(c, "totals");
    begin_team(s);
    le_cuda_line(c, c->root,
                 "__shared__ le_scan_lanes<%s, %d> %s[%d];\nconst int %s = (int)threadIdx.x / 32;\n"
                 "const long long %s = ((long long)blockIdx.x * %d + %s / %d) * 32 + threadIdx.x %% 32;",
                 s->g.type, s->warps, room, side, warp, point, side, warp, s->warps);
    const char *active = bind_lane(s, point);
    emit_lambdas(s);
    const char *start = own_head(s);
    le_cuda_line(c, c->root, "le_scan_columns<%s, %d, %d, %s>(%s[%s / %d], %s %% %d, %s, %s, %s, %s, %s, %s);",
                 s->g.type, s->g.unroll >= 4 ? GROUP : 1, s->warps, s->n, room, warp, s->warps, warp, s->warps, active,
                 s->count, start, s->one, s->of, s->put_one);
    int64_t lanes = (int64_t)side * WARP;
    finish_launch(s, out, (s->points + lanes - 1) / lanes, 0,
                  s->warps > 1 ? "warps for each 32 rows, a thread each" : "a thread for each row");
}

/* "<total, T, result, slot, width, unroll, out width, last>" */
static const char *kinds(const struct team *s, int last) {
    return le_arena_format(s->c->arena, "<%s, %s, %s, %d, %d, %d, %d, %d>", s->g.type, s->t, s->result, s->slot,
                           s->g.width, s->g.unroll, s->out_width, last);
}

static const char *lambdas(const struct team *s) {
    return le_arena_format(s->c->arena, "%s, %s, %s, %s, %s", s->some, s->one, s->of, s->put, s->put_one);
}

static const char *declare_tile(struct team *s) {
    const char *tile = le_cuda_name(s->c, "tile");
    le_cuda_line(s->c, s->c->root, "extern __shared__ uint4 %s[];", tile);
    return tile;
}

static void make_few(struct team *s, struct le_generated_launches *out) {
    struct cuda *c = s->c;
    int rows = s->threads / s->lanes;
    const char *point = le_cuda_name(c, "point"), *count = le_cuda_name(c, "count");
    begin_team(s);
    const char *tile = declare_tile(s);
    le_cuda_line(c, c->root, "const long long %s = (long long)blockIdx.x * %d + threadIdx.x / %d;", point, rows,
                 s->lanes);
    const char *active = bind_lane(s, point);
    emit_lambdas(s);
    const char *start = own_head(s);
    le_cuda_line(c, c->root, "const int %s = %s ? (int)%s : 0;", count, active, s->count);
    le_cuda_line(c, c->root, "le_scan_few%s(%s + threadIdx.x / 32 * %d, %s, %s, %s);", kinds(s, s->lanes), tile,
                 WARP * s->slot, count, start, lambdas(s));
    finish_launch(s, out, (s->points + rows - 1) / rows, (size_t)(s->threads * GROUP * s->slot),
                  "some lanes for each row");
}

static const char *declare_room(struct team *s) {
    const char *room = le_cuda_name(s->c, "room");
    le_cuda_line(s->c, s->c->root, "__shared__ le_scan_room<%s, %d> %s;", s->g.type, s->groups, room);
    return room;
}

static void make_rows(struct team *s, struct le_generated_launches *out) {
    struct cuda *c = s->c;
    begin_team(s);
    const char *tile = declare_tile(s), *room = declare_room(s);
    le_team_bind(c, c->root, s->points_at, s->points_count, "blockIdx.x", true);
    emit_lambdas(s);
    const char *start = block_head(s, NULL);
    le_cuda_line(c, c->root, "le_scan_row%s(%s, %s, %s, %s, %s);", kinds(s, s->groups), tile, room, s->count, start,
                 lambdas(s));
    finish_launch(s, out, s->points, tile_bytes(s), "a block for each row");
}

/* Rows go on side by side, so that what is before a tile has been there for long. */
static void make_tiles(struct team *s, struct le_generated_launches *out) {
    struct cuda *c = s->c;
    int64_t tile_terms = (int64_t)s->groups * GROUP, tiles = (s->g.terms + tile_terms - 1) / tile_terms * s->points;
    size_t told_bytes = (size_t)tiles * 2 * (le_group_total_bytes(&s->g) / 4) * 8;
    int64_t work = (int64_t)(out->work_bytes + 15) / 16 * 16;
    begin_team(s);
    const char *tile = declare_tile(s), *room = declare_room(s), *seen = le_cuda_name(c, "seen");
    const char *turn = le_cuda_name(c, "turn"), *row = le_cuda_name(c, "row"), *number = le_cuda_name(c, "number");
    const char *next = le_cuda_parameter(c, LE_ARGUMENT_WORK, -1, work, "unsigned *", "next");
    const char *told = le_cuda_parameter(c, LE_ARGUMENT_WORK, -1, work + 16, "unsigned long long *", "told");
    const char *points = le_cuda_number(c, "points", s->points), *step = le_cuda_name(c, "step");
    le_cuda_line(c, c->root,
                 "__shared__ le_scan_seen<%s> %s;\nconst unsigned %s = le_scan_turn(%s), %s = %s / (unsigned)%s;\n"
                 "const unsigned %s = %s - %s * (unsigned)%s;\nconst int %s = 2 * le_scan_words<%s>::COUNT;",
                 s->g.type, seen, turn, next, number, turn, points, row, turn, number, points, step, s->g.type);
    le_team_bind(c, c->root, s->points_at, s->points_count, row, true);
    emit_lambdas(s);
    const char *start = block_head(s, le_arena_format(c->arena, "if (%s == 0)", number));
    le_cuda_line(c, c->root, "le_scan_tile%s(%s, %s, %s, %s + (long long)%s * %s, %s, %s * %s, %s, %s, %s);",
                 kinds(s, s->groups), tile, room, seen, told, turn, step, number, points, step, s->count, start,
                 lambdas(s));
    finish_launch(s, out, tiles, tile_bytes(s), "a block for each tile of the rows, which looks back");
    out->zeroed_bytes = out->work_bytes = (size_t)work + 16 + told_bytes;
}

bool le_team_scan(const struct le_device_kernel_job *job, const struct le_stage *stage, const struct scan *scan,
                  struct le_generated_launches *out, leat_status *status) {
    struct cuda c;
    struct team s = {.c = &c, .scan = scan};
    le_cuda_begin(&c, job, stage, "");
    if (!find_team(&s, stage))
        return false;
    switch (s.way) {
    case WAY_COLUMNS:
        make_columns(&s, out);
        break;
    case WAY_FEW:
        make_few(&s, out);
        break;
    case WAY_ROW:
        make_rows(&s, out);
        break;
    default:
        make_tiles(&s, out);
    }
    *status = c.status;
    return true;
}
