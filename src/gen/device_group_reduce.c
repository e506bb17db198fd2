/* Chooses what computes the reductions of a stage for each point (a thread, a warp, a thread block or the whole grid),
 * and generates these kernels. */
#include "gen/device_group_reduce.h"

#define SHORT_TERMS 24    /* one thread is done with them before a team has met */
#define GRID_TERMS  32768 /* that are worth a second pass over the blocks' totals */
#define COLUMNS     16    /* that make good use of what a warp reads at once */
#define GRID_POINTS 65535 /* a grid's second axis */
#define PARTS_FEW   4096  /* totals that the last block joins in no time */
/* Of all resident blocks: then each takes two steps, and 2^28 f32 are read 0.7 to 1.9 % faster. */
#define PAIR_ROUNDS 8

enum team { TEAM_NONE, TEAM_WARP, TEAM_BLOCK, TEAM_GRID, TEAM_COLUMNS };

static int64_t terms_of(const struct team_stage *t) {
    int64_t terms = 0;
    for (int g = 0; g < t->group_count; g++)
        terms = t->groups[g].terms > terms ? t->groups[g].terms : terms;
    return terms;
}

/* Depends on types, layouts and extents alone, and so do the bits' order: on nothing of this. */
static enum team choose_team(const struct cuda *c, const struct team_stage *t) {
    const struct le_device_facts *facts = c->job->facts;
    int64_t terms = terms_of(t), warp_terms = INT64_MAX;
    int64_t busy = 2 * (int64_t)facts->multiprocessors; /* points that give every multiprocessor a block */
    for (int g = 0; g < t->group_count; g++)
        if (1024 * t->groups[g].width < warp_terms)
            warp_terms = 1024 * t->groups[g].width;
    if (terms <= SHORT_TERMS && t->rest <= SHORT_TERMS)
        return TEAM_NONE;
    if (t->are_columns && t->rest_count == 0 && t->points >= COLUMNS)
        return TEAM_COLUMNS;
    if (terms >= GRID_TERMS && t->rest_count == 0 && t->points < busy && t->points <= GRID_POINTS)
        return TEAM_GRID;
    return terms <= warp_terms && t->rest <= 4 * warp_terms && t->points >= 4 * busy ? TEAM_WARP : TEAM_BLOCK;
}

/* ---- pieces of the kernels */

/* Registers for what is read at once: left to itself a compiler would rather spill a few than have fewer warps. */
void le_team_bounds(struct cuda *c, const struct team_stage *t, int threads) {
    int bytes = 0;
    for (int g = 0; g < t->group_count; g++)
        if (le_group_bytes(&t->groups[g]) > bytes)
            bytes = le_group_bytes(&t->groups[g]);
    int resident = (bytes > 4 ? 768 : 1024) / threads;
    c->tree->threads = threads;
    c->tree->resident = resident > 0 ? resident : 1;
}

bool le_team_takes(const struct cuda *c, const struct team_stage *t) {
    return choose_team(c, t) != TEAM_NONE && t->points <= INT32_MAX;
}

static const char *counted_in(const struct group *g) {
    return g->narrow ? "int" : "long long";
}

/* A power of two of lines for each warp: as few as keep all of them busy. */
static int lines_for(const struct group *g, int warps) {
    int lines = g->unroll;
    while (lines < WARP && (int64_t)lines * WARP * g->width * warps < g->terms)
        lines *= 2;
    return lines;
}

/* Shared memory where groups put totals together, one after the other: each has it after a barrier. */
static const char *declare_room(struct cuda *c, const struct team_stage *t) {
    const char *room = le_cuda_name(c, "room");
    size_t bytes = 0;
    for (int g = 0; g < t->group_count; g++)
        bytes = le_group_room_bytes(&t->groups[g]) > bytes ? le_group_room_bytes(&t->groups[g]) : bytes;
    le_cuda_line(c, c->root, "__shared__ __align__(16) unsigned char %s[%zu];", room, bytes);
    return room;
}

static const char *room_of(struct cuda *c, const struct group *g, const char *room) {
    return le_arena_format(c->arena, "*(le_room<%s> *)%s", g->type, room);
}

/* The stage's value, and those of its siblings. */
static void store_values(struct cuda *c, const struct team_stage *t, struct le_block *block) {
    const struct le_stage *stage = c->stage;
    le_cuda_store(c, le_cuda_node(c, stage->node, block, NULL), block);
    for (int k = 0; k < t->sibling_count; k++) {
        c->stage = t->siblings[k];
        le_cuda_store(c, le_cuda_node(c, c->stage->node, block, NULL), block);
    }
    c->stage = stage;
}

/* Along the kept indices that no reduction depends on, by all of the team: thread `own` of so many. */
static void make_rest(struct cuda *c, const struct team_stage *t, const char *own, const char *threads) {
    struct le_block *block = c->root;
    bool narrow = t->rest <= INT32_MAX / 2;
    if (t->rest_count == 0) {
        le_cuda_line(c, block, "if (%s != 0)\n    return;", own);
    } else {
        const char *type = narrow ? "int" : "long long", *rest = le_cuda_name(c, "along");
        block = le_cuda_open(c, block,
                             le_arena_format(c->arena, "for (%s %s = %s; %s < (%s)%s; %s += %s)", type, rest, own, rest,
                                             type, le_cuda_number_text(c, "rest_points", t->rest), rest, threads));
        le_team_bind(c, block, t->rest_at, t->rest_count, rest, narrow);
    }
    store_values(c, t, block);
    if (block != c->root)
        le_cuda_close(c, block);
}

static void finish_launch(struct cuda *c, const struct team_stage *t, struct le_generated_launches *out, int threads,
                          unsigned blocks, unsigned rows, const char *how) {
    struct le_generated_launch *launch = le_cuda_finish(c, out);
    launch->grid[0] = blocks;
    launch->grid[1] = rows;
    launch->block[0] = (unsigned)threads;
    launch->grid[2] = launch->block[1] = launch->block[2] = 1;
    launch->elements = t->points * t->rest * t->spread;
    launch->how = t->spread > 1 ? le_arena_format(c->arena, "%s, %d values at once", how, t->spread) : how;
}

/* ---- a warp or a block for each point */

static void emit_warp(struct cuda *c, struct group *g) {
    const char *total = le_cuda_name(c, "all");
    le_group_emit(c, g, c->root);
    le_cuda_line(c, c->root, "const %s %s = le_warp_total<%s, %d, %d, %d, %s>(0, %s, %s, %s);", g->type, total, g->type,
                 lines_for(g, 1), g->unroll, g->width, counted_in(g), le_group_count(c, g), g->many, g->term);
    le_group_know(c, g, c->root, total);
}

static void make_warps(struct cuda *c, struct team_stage *t, struct le_generated_launches *out) {
    int threads = 256, warps = threads / WARP;
    const char *point = le_cuda_name(c, "point"), *lane = le_cuda_name(c, "lane");
    le_cuda_line(c, c->root,
                 "const int %s = (int)threadIdx.x %% 32;\n"
                 "const long long %s = (long long)blockIdx.x * %d + threadIdx.x / 32;\n"
                 "if (%s >= %s)\n    return;",
                 lane, point, warps, point, le_cuda_number_text(c, "points", t->points));
    le_team_bind(c, c->root, t->points_at, t->points_count, point, t->points <= INT32_MAX);
    for (int g = 0; g < t->group_count; g++)
        emit_warp(c, &t->groups[g]);
    make_rest(c, t, lane, "32");
    finish_launch(c, t, out, threads, (unsigned)((t->points + warps - 1) / warps), 1, "a warp for each row");
}

static int threads_for(const struct team_stage *t) {
    int64_t reads = 0; /* of the longest group */
    int threads = 64;
    for (int g = 0; g < t->group_count; g++)
        if (t->groups[g].terms / t->groups[g].width > reads)
            reads = t->groups[g].terms / t->groups[g].width;
    while (threads < 512 && reads > threads * 8)
        threads *= 2;
    return threads;
}

static void emit_block(struct cuda *c, struct group *g, int threads, const char *room) {
    const char *total = le_cuda_name(c, "all");
    le_group_emit(c, g, c->root);
    le_cuda_line(c, c->root, "const %s %s = le_block_total<%s, %d, %d, %d, %s>(%s, %s, %s, %s);", g->type, total,
                 g->type, lines_for(g, threads / WARP), g->unroll, g->width, counted_in(g), le_group_count(c, g),
                 g->many, g->term, room_of(c, g, room));
    le_group_know(c, g, c->root, total);
}

static void make_blocks(struct cuda *c, struct team_stage *t, struct le_generated_launches *out) {
    int threads = threads_for(t);
    le_team_bounds(c, t, threads);
    le_team_bind(c, c->root, t->points_at, t->points_count, "blockIdx.x", true);
    const char *room = declare_room(c, t);
    for (int g = 0; g < t->group_count; g++)
        emit_block(c, &t->groups[g], threads, room);
    make_rest(c, t, "(int)threadIdx.x", le_arena_format(c->arena, "%d", threads));
    finish_launch(c, t, out, threads, (unsigned)t->points, 1, t->points == 1 ? "one block" : "a block for each row");
}

/* ---- many blocks for each point: each leaves the totals of its steps, and the last one puts them together */

struct grid {
    struct cuda *c;
    struct team_stage *t;
    size_t at_bytes;           /* of the work memory */
    int64_t steps[GROUPS_MAX]; /* of a block */
    int64_t most_steps;
    const char *room;
    bool are_short; /* a block makes some of them, one after the other */
};

static void emit_parts(struct grid *s, int number, const char **parts, const char **steps) {
    struct cuda *c = s->c;
    struct group *g = &s->t->groups[number];
    int lines = g->unroll;
    while (lines < WARP && g->terms / ((int64_t)lines * WARP * g->width * 8) > PARTS_FEW)
        lines *= 2;
    int64_t step = (int64_t)lines * WARP * g->width * 8, count = (g->terms + step - 1) / step;
    s->steps[number] = count;
    s->most_steps = count > s->most_steps ? count : s->most_steps;
    s->are_short |= lines < WARP || g->unroll == 1;
    le_group_emit(c, g, c->root);
    const char *work = le_cuda_parameter_text(c, LE_ARGUMENT_WORK, -1, (int64_t)s->at_bytes, "void *", "work");
    *steps =
        le_arena_format(c->arena, "(int)%s", le_cuda_number_text(c, le_arena_format(c->arena, "steps_%d", number), count));
    *parts = le_cuda_name(c, "parts");
    le_cuda_line(c, c->root, "%s *%s = (%s *)%s + (long long)blockIdx.y * ((%s + 3) / 4 * 4);", g->type, *parts,
                 g->type, work, *steps);
    s->at_bytes += (size_t)(count + 3) / 4 * 4 * (size_t)s->t->points * le_group_total_bytes(g);
    if (number > 0)
        le_cuda_line(c, c->root, "__syncthreads();");
    le_cuda_line(c, c->root, "le_grid_parts<%s, %d, %d, %d, %s>(%s, %s, %s, %s, %s, %s);", g->type, lines, g->unroll,
                 g->width, counted_in(g), le_group_count(c, g), *steps, g->many, g->term, *parts,
                 room_of(c, g, s->room));
}

static void join_parts(struct grid *s, int number, const char *parts, const char *steps) {
    struct cuda *c = s->c;
    const struct group *g = &s->t->groups[number];
    const char *part = le_cuda_name(c, "part"), *many = part, *total = le_cuda_name(c, "all");
    int width = le_group_bytes(g) > 8 ? 1 : 4;
    le_cuda_line(c, c->root, "const auto %s = [=](int at) -> %s { return %s[at]; };", part, g->type, parts);
    if (width > 1) {
        many = le_cuda_name(c, "four_parts");
        le_cuda_line(c, c->root,
                     "const auto %s = [=](int at) -> %s {\n    %s some[4];\n    le_read<4>(some, %s + at);\n"
                     "    return le_joined<%s, 4>(some);\n};",
                     many, g->type, g->type, parts, g->type);
    }
    le_cuda_line(c, c->root, "const %s %s = le_block_total<%s, 8, %d, %d, int>(%s, %s, %s, %s);", g->type, total,
                 g->type, g->unroll, width, steps, many, part, room_of(c, g, s->room));
    le_group_know(c, g, c->root, total);
}

static void make_grid(struct cuda *c, struct team_stage *t, struct le_generated_launches *out) {
    struct grid s = {.c = c, .t = t, .room = declare_room(c, t)};
    const char *parts[GROUPS_MAX], *steps[GROUPS_MAX];
    le_team_bounds(c, t, 256);
    le_team_bind(c, c->root, t->points_at, t->points_count, "blockIdx.y", true);
    for (int g = 0; g < t->group_count; g++)
        emit_parts(&s, g, &parts[g], &steps[g]);
    const char *arrived = le_cuda_parameter_text(c, LE_ARGUMENT_COUNTERS, -1, 0, "unsigned *", "arrived");
    le_cuda_line(c, c->root, "if (!le_is_last(%s + blockIdx.y, gridDim.x))\n    return;", arrived);
    for (int g = 0; g < t->group_count; g++)
        join_parts(&s, g, parts[g], steps[g]);
    make_rest(c, t, "(int)threadIdx.x", "256");
    int64_t most = (int64_t)c->tree->resident * c->job->facts->multiprocessors / t->points;
    int64_t rounds = most > 0 ? (s.most_steps + most - 1) / most : s.most_steps;
    if (!s.are_short) /* long ones: who is done early takes the next one */
        rounds = rounds >= PAIR_ROUNDS ? 2 : 1;
    unsigned blocks = (unsigned)((s.most_steps + rounds - 1) / rounds); /* that are done at the same time */
    finish_launch(c, t, out, 256, blocks, (unsigned)t->points,
                  t->points == 1 ? "all blocks, the last joins their totals" : "some blocks for each row");
    out->work_bytes = s.at_bytes;
    out->counter_bytes = (size_t)t->points * 4;
}

/* ---- columns: a thread for each point, which takes a power of two of terms; the last block of those with the same
 * points puts their totals together */

#define CHUNK_LEAST      64
#define IDLE_MOST        32                 /* of dear terms: one part of so many of a device's time */
#define PARTS_BYTES      ((int64_t)1 << 27) /* of their totals */
#define CHUNK_MOST       16384
#define COLUMN_UNROLL(g) ((g)->unroll * 2)

static int64_t chunk_for(const struct cuda *c, const struct team_stage *t, bool cut) {
    int64_t threads = 4096 * (int64_t)c->job->facts->multiprocessors, terms = terms_of(t), chunk = CHUNK_LEAST, all;
    while (chunk < terms && (!cut || (chunk < CHUNK_MOST &&
                                      (!le_mul_i64((terms + chunk - 1) / chunk, t->points, &all) || all > threads))))
        chunk *= 2;
    return chunk;
}
/* Where terms are dear: as much as leaves few multiprocessors idle while the last blocks run. */
static int64_t dear_chunk(const struct cuda *c, const struct team_stage *t, int64_t blocks) {
    int64_t resident = (int64_t)c->tree->resident * c->job->facts->multiprocessors, chunk = chunk_for(c, t, false);
    int64_t bytes = t->points * (int64_t)le_group_total_bytes(&t->groups[0]);
    for (; chunk > CHUNK_LEAST; chunk /= 2) {
        int64_t steps = (terms_of(t) + chunk - 1) / chunk, all = steps * blocks;
        int64_t turns = (all + resident - 1) / resident, idle = turns * resident - all;
        if (idle * IDLE_MOST <= turns * resident || steps * 2 * bytes > PARTS_BYTES)
            break;
    }
    return chunk;
}

/* Of the tree above what is read at once: few buckets, as each is a text of its own. */
static int levels_for(const struct group *g, int64_t chunk) {
    int levels = 5;
    while (levels < 40 && (int64_t)COLUMN_UNROLL(g) << levels < chunk)
        levels *= 2;
    return levels;
}

/* The block of those threads that have a point. */
static struct le_block *open_columns(struct cuda *c, const struct team_stage *t, int threads, const char **point) {
    const char *points = le_cuda_number_text(c, "points", t->points);
    *point = le_cuda_name(c, "point");
    le_cuda_line(c, c->root, "const long long %s = (long long)blockIdx.x * %d + threadIdx.x;", *point, threads);
    struct le_block *block = le_cuda_open(c, c->root, le_arena_format(c->arena, "if (%s < %s)", *point, points));
    le_team_bind(c, block, t->points_at, t->points_count, *point, t->points <= INT32_MAX);
    return block;
}

static void emit_column(struct cuda *c, struct group *g, struct le_block *block, int levels, const char *first,
                        const char *end, const char *total) {
    le_group_emit(c, g, block);
    const char *quick = le_group_quick_term(c, g, block);
    le_cuda_line(c, block, "const %s %s = le_thread_total<%s, %d, %d, %s>(%s, %s, %s%s%s);", g->type, total, g->type,
                 levels, COLUMN_UNROLL(g), counted_in(g), first, end, g->term, quick ? ", " : "", quick ? quick : "");
}

/* Without a second pass: a thread takes all terms. */
static void whole_columns(struct cuda *c, struct team_stage *t, int threads) {
    const char *point;
    int64_t chunk = chunk_for(c, t, false);
    struct le_block *block = open_columns(c, t, threads, &point);
    for (int g = 0; g < t->group_count; g++) {
        const char *total = le_cuda_name(c, "all");
        emit_column(c, &t->groups[g], block, levels_for(&t->groups[g], chunk), "0", le_group_count(c, &t->groups[g]),
                    total);
        le_group_know(c, &t->groups[g], block, total);
    }
    store_values(c, t, block);
    le_cuda_close(c, block);
}

static void leave_parts(struct grid *s, int number, struct le_block *block, const char *point, int64_t chunk,
                        const char **parts) {
    struct cuda *c = s->c;
    struct group *g = &s->t->groups[number];
    const char *count = le_group_count(c, g), *n = counted_in(g), *total = le_cuda_name(c, "all");
    const char *first = le_cuda_hold_text(c, block, LE_I64, false, "first",
                                     le_arena_format(c->arena, "(long long)blockIdx.y * %lld", (long long)chunk));
    const char *end = le_cuda_hold_text(c, block, LE_I64, false, "end",
                                   le_arena_format(c->arena, "%s + %lld < %s ? %s + %lld : %s", first, (long long)chunk,
                                                   count, first, (long long)chunk, count));
    emit_column(c, g, block, levels_for(g, chunk), le_arena_format(c->arena, "(%s)%s", n, first),
                le_arena_format(c->arena, "(%s)%s", n, end), total);
    const char *work = le_cuda_parameter_text(c, LE_ARGUMENT_WORK, -1, (int64_t)s->at_bytes, "void *", "work");
    *parts = le_cuda_name(c, "parts");
    le_cuda_line(c, c->root, "%s *%s = (%s *)%s;", g->type, *parts, g->type, work);
    le_cuda_line(c, block, "%s[blockIdx.y * %s + %s] = %s;", *parts, le_cuda_number_text(c, "points", s->t->points), point,
                 total);
    s->at_bytes += (size_t)s->most_steps * (size_t)s->t->points * le_group_total_bytes(g);
}

static void take_parts(struct grid *s, int number, struct le_block *block, const char *point, const char *parts) {
    struct cuda *c = s->c;
    const struct group *g = &s->t->groups[number];
    const char *part = le_cuda_name(c, "part"), *total = le_cuda_name(c, "all");
    le_cuda_line(c, block, "const auto %s = [=](int at) -> %s { return %s[at * %s + %s]; };", part, g->type, parts,
                 le_cuda_number_text(c, "points", s->t->points), point);
    le_cuda_line(c, block, "const %s %s = le_thread_total<%s, %d, 8, int>(0, (int)gridDim.y, %s);", g->type, total,
                 g->type, s->most_steps <= 256 ? 5 : 13, part);
    le_group_know(c, g, block, total);
}

static void cut_columns(struct cuda *c, struct team_stage *t, int threads, struct grid *s, int64_t chunk) {
    const char *point, *parts[GROUPS_MAX];
    struct le_block *block = open_columns(c, t, threads, &point);
    for (int g = 0; g < t->group_count; g++)
        leave_parts(s, g, block, point, chunk, &parts[g]);
    le_cuda_close(c, block);
    const char *arrived = le_cuda_parameter_text(c, LE_ARGUMENT_COUNTERS, -1, 0, "unsigned *", "arrived");
    le_cuda_line(c, c->root, "if (!le_is_last(%s + blockIdx.x, gridDim.y) || %s >= %s)\n    return;", arrived, point,
                 le_cuda_number_text(c, "points", t->points));
    block = le_cuda_open(c, c->root, NULL);
    le_team_bind(c, block, t->points_at, t->points_count, point, t->points <= INT32_MAX);
    for (int g = 0; g < t->group_count; g++)
        take_parts(s, g, block, point, parts[g]);
    store_values(c, t, block);
    le_cuda_close(c, block);
}

/* Groups of a grid cannot use each other's totals: they are there at the end alone. */
static bool stand_alone(const struct team_stage *t) {
    for (int g = 1; g < t->group_count; g++)
        for (int k = 0; k < t->groups[g].node_count; k++)
            if (t->groups[g].nodes[k]->operands[0]->reduces)
                return false;
    return true;
}

static void make_columns(struct cuda *c, struct team_stage *t, struct le_generated_launches *out) {
    int threads = t->points >= 256 ? 256 : (int)(t->points + 31) / 32 * 32;
    int64_t blocks = (t->points + threads - 1) / threads;
    le_team_bounds(c, t, threads);
    int64_t chunk = t->spread > 1 ? dear_chunk(c, t, blocks) : chunk_for(c, t, true);
    struct grid s = {.c = c, .t = t, .most_steps = (terms_of(t) + chunk - 1) / chunk};
    bool cut = stand_alone(t) && s.most_steps > 1 && s.most_steps <= GRID_POINTS;
    le_team_bounds(c, t, threads);
    if (!cut)
        whole_columns(c, t, threads);
    else
        cut_columns(c, t, threads, &s, chunk);
    finish_launch(c, t, out, threads, (unsigned)blocks, cut ? (unsigned)s.most_steps : 1,
                  cut ? "threads for each column, the last block joins their totals" : "a thread for each column");
    out->work_bytes = cut ? s.at_bytes : 0;
    out->counter_bytes = cut ? (size_t)blocks * 4 : 0;
}

/* ---- */

bool le_team_stage(const struct le_device_kernel_job *job, const struct le_stage *stage,
                   struct le_generated_launches *out, leat_status *status) {
    struct cuda c;
    struct team_stage t;
    le_cuda_begin(&c, job, stage, "");
    if (!le_gen_in_any_order(stage) || (!le_team_spread(&c, stage, &t) && !le_team_find(&c, stage, 1, &t)))
        return false;
    enum team team = choose_team(&c, &t);
    if (!le_cuda_is_safe(&c, stage->node))
        c.terms = le_cuda_number(&c, "terms", terms_of(&t));
    if (team == TEAM_GRID && !stand_alone(&t))
        team = TEAM_BLOCK;
    if (!le_team_takes(&c, &t))
        return false;
    if (t.spread == 1 && (team == TEAM_WARP || team == TEAM_BLOCK) && le_team_rows(&c, &t, out)) {
        *status = c.status;
        return true;
    }
    if (team == TEAM_WARP)
        make_warps(&c, &t, out);
    else if (team == TEAM_BLOCK)
        make_blocks(&c, &t, out);
    else if (team == TEAM_COLUMNS)
        make_columns(&c, &t, out);
    else
        make_grid(&c, &t, out);
    *status = c.status;
    return true;
}
