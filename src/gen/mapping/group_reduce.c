/* Chooses what computes the reductions of a stage for each point (a thread, a warp, a thread block or the whole grid),
 * and generates these kernels. */
#include "gen/mapping/group_reduce.h"

#define CHAIN_THREADS 128   /* of a thread block whose warps bring a chain's terms to shared memory */
#define KEPT_STEPS    4     /* of each warp of a thread block that keeps rows */
#define SHORT_TERMS   24    /* one thread adds them up faster than threads can synchronize */
#define GRID_POINTS   65535 /* a grid's second axis */
#define PARTS_FEW     4096  /* totals that the last thread block joins in negligible time */
/* Of all resident blocks: then each takes two steps, and 2^28 f32 are read 0.7 to 1.9 % faster. */
#define PAIR_ROUNDS 8

int64_t le_reduce_terms(const struct team_stage *t) {
    int64_t terms = 0;
    for (int g = 0; g < t->group_count; g++)
        terms = t->groups[g].terms > terms ? t->groups[g].terms : terms;
    return terms;
}

/* ---- pieces of the kernels */

/* Bytes of a thread's totals. Of a chain, points beyond the second count a quarter: they share the reads and loops. */
static int own_bytes(const struct team_stage *t, const struct group *g) {
    return le_group_bytes(g) * (g->chain && t->side.width > 2 ? t->side.width + 2 : 4) / 4;
}

int le_reduce_room(const struct team_stage *t) {
    int bytes = 0;
    for (int g = 0; g < t->group_count; g++)
        if (own_bytes(t, &t->groups[g]) > bytes)
            bytes = own_bytes(t, &t->groups[g]);
    return bytes > 12 ? 512 : bytes > 4 ? 768 : 1024;
}

int le_reduce_resident(const struct team_stage *t, int threads, bool keeps) {
    int room = le_reduce_room(t), resident = (keeps && room > 512 ? 1024 : room) / threads;
    return resident > 0 ? resident : 1;
}

void le_reduce_bounds(struct codegen *c, const struct team_stage *t, int threads, bool keeps) {
    c->tree->threads = threads;
    c->tree->resident = le_reduce_resident(t, threads, keeps);
}

bool le_team_takes(const struct team_stage *t) {
    return (le_reduce_terms(t) > SHORT_TERMS || t->rest > SHORT_TERMS) && t->points <= INT32_MAX;
}

void le_reduce_settings(const struct le_mapping *m, struct team_stage *t) {
    int64_t unrolled = le_mapping_get(m, "unrolled");
    for (int g = 0; g < t->group_count && t->groups[g].unroll > unrolled; g++)
        t->groups[g].unroll = (int)unrolled;
}

bool le_reduce_has_chain(const struct team_stage *t) {
    for (int g = 0; g < t->group_count; g++)
        if (t->groups[g].chain)
            return true;
    return false;
}

/* Terms of a chain that a thread reads at once. */
int le_chain_unroll(const struct group *g) {
    return 2 * g->unroll < LE_CHAIN_TERMS ? 2 * g->unroll : LE_CHAIN_TERMS;
}

/* Lines of terms that a warp adds up at a time: a power of two, as small as keeps all warps busy. Reads of kept rows
 * are waited for so shortly that each warp rather takes several steps, and all finish at about the same time. */
static int lines_for(const struct group *g, int warps) {
    int lines = g->chain ? WARP : g->unroll, steps = g->kept ? KEPT_STEPS : 1;
    while (lines < WARP && (int64_t)lines * WARP * g->width * warps * steps < g->terms)
        lines *= 2;
    return lines;
}

/* Whether warps take so few steps that they leave all totals at once. */
static bool are_few(const struct team_stage *t, int threads) {
    for (int g = 0; g < t->group_count; g++) {
        const struct group *group = &t->groups[g];
        int64_t step = (int64_t)lines_for(group, threads / WARP) * WARP * group->width;
        if (group->ragged || group->terms > ROOM_FEW * step)
            return false;
    }
    return true;
}

/* The shared memory in which warps exchange totals. Groups use it in turn, separated by barriers. */
struct room {
    struct le_variable *bytes;
    bool few;
};
static struct room declare_room(struct codegen *c, const struct team_stage *t, bool few) {
    size_t bytes = 0;
    for (int g = 0; g < t->group_count; g++) {
        size_t own = le_group_room_bytes(&t->groups[g], few);
        bytes = own > bytes ? own : bytes;
    }
    struct le_variable *room = le_ktree_array(c->tree, c->root, "room", LE_U8, LE_KTREE_SHARED, (int)bytes, 0);
    c->root->list.at[c->root->list.count - 1]->aligned = true;
    return (struct room){room, few};
}

static struct le_expression *room_of(struct codegen *c, const struct group *g, const struct room *room) {
    const struct le_static statics[] = {LE_STATIC_TYPE(g->type), LE_STATIC_NUMBER(room->few ? ROOM_FEW : ROOM_TOTALS)};
    struct le_expression *x = le_ktree_use(c->tree, room->bytes);
    return le_ktree_call(c->tree, LE_CALL_ROOM, LE_KTREE_VOID, statics, &x);
}

/* Statics of the library's totals: type of totals, lines, vectors read before they are used, width, type of term
 * numbers. */
struct statics {
    struct le_static at[5];
};
static struct statics statics_of(const struct group *g, int lines, int unroll, int width, int counting) {
    return (struct statics){{LE_STATIC_TYPE(g->type), LE_STATIC_NUMBER(lines), LE_STATIC_NUMBER(unroll),
                             LE_STATIC_NUMBER(width), LE_STATIC_TYPE(counting)}};
}

/* Computes all values before it stores any: one may be stored where another is read. */
void le_team_store(struct codegen *c, const struct team_stage *t, struct le_block *block, enum team_stages which) {
    const struct le_stage *stages[1 + GROUP_NODES];
    struct le_expression *x[1 + GROUP_NODES];
    int count = 0;
    for (int k = -1; k < t->sibling_count; k++) {
        const struct le_stage *stage = k < 0 ? c->stage : t->siblings[k];
        bool along = t->spread > 1 || stage->index_count == c->stage->index_count;
        if (which == TEAM_ALL || along == (which == TEAM_ALONG))
            stages[count++] = stage;
    }
    for (int k = 0; k < count; k++)
        x[k] = le_codegen_node(c, stages[k]->node, block, NULL);
    const struct le_stage *first = c->stage;
    for (int k = 0; k < count; k++) {
        c->stage = stages[k];
        le_codegen_store(c, x[k], block);
    }
    c->stage = first;
}

void le_team_store_points(struct codegen *c, const struct team_stage *t, struct le_block *block,
                          enum team_stages which) {
    struct le_expression *e;
    if (t->side.width == 1) {
        le_team_store(c, t, block, which);
        return;
    }
    struct le_block *each = le_side_open_each(c, &t->side, block, &e);
    le_team_store(c, t, each, which);
    le_ktree_close(c->tree, each);
}

void le_team_store_once(struct codegen *c, const struct team_stage *t, struct le_expression *own) {
    struct le_kernel_tree *tree = c->tree;
    bool some = false;
    for (int k = 0; k < t->sibling_count; k++)
        some |= t->siblings[k]->index_count < c->stage->index_count;
    if (t->rest_count == 0 || !some)
        return;
    struct le_block *one = le_ktree_open_if(tree, c->root, le_ktree_binary(tree, LE_OP_EQ, own, le_ktree_int(tree, 0)));
    le_team_store_points(c, t, one, TEAM_ONCE);
    le_ktree_close(tree, one);
}

/* The team's threads share the values of the kept indices that no reduction depends on; `own` is the thread's number
 * in the team of `threads`. */
static void make_rest(struct codegen *c, const struct team_stage *t, struct le_expression *own, int threads) {
    struct le_kernel_tree *tree = c->tree;
    bool narrow = t->rest <= INT32_MAX / 2;
    if (t->rest_count == 0) {
        le_ktree_end_if(tree, c->root, le_ktree_binary(tree, LE_OP_NE, own, le_ktree_int(tree, 0)));
        le_team_store(c, t, c->root, TEAM_ALL);
        return;
    }
    le_team_store_once(c, t, own);
    int type = narrow ? LE_KTREE_INT : LE_KTREE_LONG;
    struct le_variable *along = le_ktree_variable(tree, "along", type);
    struct le_expression *end = le_ktree_cast(tree, type, le_codegen_number(c, "rest_points", t->rest));
    struct le_block *block = le_ktree_open_loop(tree, c->root, LE_ROLE_SERIAL, along, own, end,
                                                le_ktree_constant(tree, type, (uint64_t)threads));
    le_team_bind(c, block, t->rest_at, t->rest_count, le_ktree_use(tree, along), narrow);
    le_team_store(c, t, block, TEAM_ALONG);
    le_ktree_close(tree, block);
}

static struct le_expression *own_thread(struct codegen *c) {
    return le_to_int(c->tree, le_ktree_thread(c->tree, LE_THREAD_X));
}

void le_reduce_launch(struct codegen *c, const struct team_stage *t, struct le_generated_launches *out, int threads,
                      int64_t blocks, int64_t rows, const char *how) {
    if (t->spread > 1)
        how = le_arena_format(c->arena, "%s, %d values at once", how, t->spread);
    le_codegen_launch(c, out, blocks, threads, t->points * t->rest * t->spread, how)->grid[1] = (unsigned)rows;
}

/* ---- a warp or a block for each point */

static struct le_expression *fetch_of(struct codegen *c, const struct group *g) {
    if (!g->staged_count)
        return le_ktree_call(c->tree, LE_CALL_NO_FETCH, LE_KTREE_VOID, NULL, NULL);
    struct le_expression *fetch = le_ktree_use(c->tree, g->fetch);
    return le_ktree_call(c->tree, LE_CALL_FETCHING, LE_KTREE_VOID, &LE_STATIC_NUMBER(g->staged_width), &fetch);
}

/* Terms of a group as le_block_total and le_grid_parts take them: one, and several neighbours. */
static void terms_of(struct codegen *c, const struct group *g, struct le_expression *out[2]) {
    struct le_kernel_tree *t = c->tree;
    out[0] = le_ktree_use(t, g->many);
    out[1] = le_ktree_use(t, g->term);
    if (g->kept && g->width > 1)
        out[1] = le_ktree_call(t, LE_CALL_ENDS, LE_KTREE_VOID, NULL, &out[1]);
    if (!g->chain)
        return;
    struct le_expression *x[] = {out[1], fetch_of(c, g)};
    out[0] = out[1] = le_ktree_call(t, LE_CALL_CHAIN_TERMS, LE_KTREE_VOID, &LE_STATIC_NUMBER(le_chain_unroll(g)), x);
}

/* By some lanes of a warp: each has at most one vector of terms. */
static void emit_row(struct codegen *c, struct group *g, int lanes) {
    struct le_kernel_tree *t = c->tree;
    g->width = le_lanes_width(g);
    le_group_emit(c, g, c->root);
    const struct le_static statics[] = {LE_STATIC_TYPE(g->type), LE_STATIC_NUMBER(lanes), LE_STATIC_NUMBER(g->width),
                                        LE_STATIC_TYPE(le_group_counting(g))};
    struct le_expression *x[] = {le_group_count(c, g), le_ktree_use(t, g->many)};
    le_group_know(c, g, c->root, le_ktree_call(t, LE_CALL_SHORT_TOTAL, g->type, statics, x));
}

static void emit_warp(struct codegen *c, struct group *g, int warps) {
    struct le_kernel_tree *t = c->tree;
    le_group_find_bounds(c, g, c->root);
    le_group_stage(c, g, warps);
    le_group_emit(c, g, c->root);
    if (g->chain) {
        const struct le_static statics[] = {LE_STATIC_TYPE(g->type), LE_STATIC_NUMBER(le_chain_unroll(g)),
                                            LE_STATIC_TYPE(le_group_counting(g))};
        struct le_expression *x[] = {le_group_count(c, g), le_ktree_use(t, g->term), fetch_of(c, g)};
        le_group_know(c, g, c->root, le_ktree_call(t, LE_CALL_CHAIN_WARP, g->type, statics, x));
        return;
    }
    struct le_expression *x[] = {le_group_count(c, g), le_ktree_use(t, g->many), le_ktree_use(t, g->term)};
    if (g->ragged) { /* of any number of terms */
        const struct le_static statics[] = {LE_STATIC_TYPE(g->type), LE_STATIC_NUMBER(g->unroll),
                                            LE_STATIC_TYPE(le_group_counting(g))};
        le_group_know(c, g, c->root, le_ktree_call(t, LE_CALL_WARP_ALL, g->type, statics, x));
        return;
    }
    struct statics s = statics_of(g, lines_for(g, 1), g->unroll, g->width, le_group_counting(g));
    le_group_know(c, g, c->root, le_ktree_call(t, LE_CALL_WARP_TOTAL, g->type, s.at, x));
}

/* Several rows share a warp: its lanes stay together until they have all totals, those behind the last row with that
 * row's. */
static struct le_expression *bind_rows(struct codegen *c, struct team_stage *t, struct le_expression *point) {
    struct le_kernel_tree *tree = c->tree;
    struct le_expression *points = le_codegen_number(c, "points", t->points);
    struct le_expression *last = le_minus(tree, points, le_ktree_int(tree, 1));
    struct le_expression *row =
        le_let(tree, c->root, "row", le_ktree_select(tree, le_less(tree, point, last), point, last));
    le_team_bind(c, c->root, t->points_at, t->points_count, row, t->points <= INT32_MAX);
    return le_at_least(tree, point, points);
}

leat_status le_reduce_warp(const struct le_mapping *m, void *found, struct le_generated_launches *out) {
    struct reduction *r = found;
    struct codegen *c = &r->c;
    struct team_stage *t = &r->t;
    struct le_kernel_tree *tree = c->tree;
    le_reduce_settings(m, t);
    tree->threads = tree->resident = 0;
    int threads = le_reduce_has_chain(t) ? CHAIN_THREADS : 256, given = (int)le_mapping_get(m, "lanes");
    int lanes = given ? given : WARP, rows = threads / lanes;
    struct le_expression *own_lanes = le_ktree_int(tree, lanes), *thread = le_ktree_thread(tree, LE_THREAD_X);
    struct le_expression *lane = le_let(tree, c->root, "lane", le_ktree_remainder(tree, own_thread(c), own_lanes));
    struct le_expression *in_block = le_ktree_quotient(tree, le_ktree_thread(tree, LE_THREADS_X), own_lanes);
    struct le_expression *before = le_times(tree, le_to_long(tree, le_ktree_thread(tree, LE_BLOCK_X)), in_block);
    struct le_expression *point =
        le_let(tree, c->root, "point", le_plus(tree, before, le_ktree_quotient(tree, thread, own_lanes)));
    if (lanes == WARP) {
        le_ktree_end_if(tree, c->root, le_at_least(tree, point, le_codegen_number(c, "points", t->points)));
        le_team_bind(c, c->root, t->points_at, t->points_count, point, t->points <= INT32_MAX);
        for (int g = 0; g < t->group_count; g++)
            emit_warp(c, &t->groups[g], rows);
    } else {
        struct le_expression *is_behind = bind_rows(c, t, point);
        for (int g = 0; g < t->group_count; g++)
            emit_row(c, &t->groups[g], lanes);
        le_ktree_end_if(tree, c->root, is_behind);
    }
    make_rest(c, t, lane, lanes);
    const char *how = lanes == WARP ? "a warp for each row" : le_arena_format(c->arena, "%d lanes for each row", lanes);
    threads = le_codegen_block_threads(c, t->points * lanes, threads);
    rows = threads / lanes;
    le_reduce_launch(c, t, out, threads, (t->points + rows - 1) / rows, 1, how);
    return c->status;
}

int le_reduce_threads(const struct team_stage *t) {
    int64_t reads = 0; /* of the longest group */
    int threads = 64;
    for (int g = 0; g < t->group_count; g++)
        if (t->groups[g].terms / t->groups[g].width > reads)
            reads = t->groups[g].terms / t->groups[g].width;
    while (threads < (le_reduce_has_chain(t) ? CHAIN_THREADS : 512) && reads > threads * 8)
        threads *= 2;
    return threads;
}

static void emit_block(struct codegen *c, struct group *g, int threads, const struct room *room) {
    struct le_kernel_tree *t = c->tree;
    le_group_find_bounds(c, g, c->root);
    le_group_stage(c, g, threads / WARP);
    le_group_emit(c, g, c->root);
    struct statics s =
        statics_of(g, lines_for(g, threads / WARP), g->chain ? 1 : g->unroll, g->width, le_group_counting(g));
    struct le_expression *x[] = {le_group_count(c, g), NULL, NULL, room_of(c, g, room)};
    terms_of(c, g, &x[1]);
    le_group_know(c, g, c->root, le_ktree_call(t, LE_CALL_BLOCK_TOTAL, g->type, s.at, x));
}

leat_status le_reduce_block(const struct le_mapping *m, void *found, struct le_generated_launches *out) {
    struct reduction *r = found;
    struct codegen *c = &r->c;
    struct team_stage *t = &r->t;
    struct kept_rows kept = {0};
    int threads = (int)le_mapping_get(m, "threads");
    le_reduce_settings(m, t);
    bool keeps = le_mapping_get(m, "kept") && le_kept_find(c, t, &kept);
    le_reduce_bounds(c, t, threads, keeps);
    le_team_bind(c, c->root, t->points_at, t->points_count, le_ktree_thread(c->tree, LE_BLOCK_X), true);
    if (keeps)
        le_kept_bring(c, t, &kept);
    struct room room = declare_room(c, t, are_few(t, threads));
    for (int g = 0; g < t->group_count; g++)
        emit_block(c, &t->groups[g], threads, &room);
    make_rest(c, t, own_thread(c), threads);
    le_reduce_launch(c, t, out, threads, t->points, 1,
                     kept.count       ? "a block for each row, in shared memory"
                     : t->points == 1 ? "one block"
                                      : "a block for each row");
    out->at[out->count - 1].shared_bytes = kept.bytes;
    return c->status;
}

/* ---- many blocks for each point: each leaves the totals of its steps, and the last one puts them together */

struct grid {
    struct codegen *c;
    struct team_stage *t;
    size_t at_bytes; /* bytes of work memory used so far */
    int64_t most_steps;
    struct room room;
    struct le_variable *parts[GROUPS_MAX];
    struct le_expression *counts[GROUPS_MAX]; /* number of steps, as parameters */
    int threads;                              /* of a thread block */
    bool are_short;                           /* steps are short, so a thread block computes several */
};

static struct le_variable *work_of(struct grid *s) {
    return le_codegen_parameter(s->c, LE_ARGUMENT_WORK, -1, (int64_t)s->at_bytes, LE_KTREE_VOID, "work");
}

/* A pointer to the group's totals in the work memory, from total `first` on. */
static struct le_variable *parts_of(struct grid *s, const struct group *g, struct le_variable *work,
                                    struct le_expression *first) {
    struct le_kernel_tree *t = s->c->tree;
    struct le_expression *x[] = {le_ktree_use(t, work), first};
    return le_ktree_pointer(t, s->c->root, "parts", g->type, LE_KTREE_BUFFER,
                            le_ktree_call(t, LE_CALL_POINTER, g->type, &LE_STATIC_TYPE(g->type), x));
}

static void emit_parts(struct grid *s, int number) {
    struct codegen *c = s->c;
    struct le_kernel_tree *t = c->tree;
    struct group *g = &s->t->groups[number];
    int lines = g->chain ? WARP : g->unroll;
    while (lines < WARP && g->terms / ((int64_t)lines * s->threads * g->width) > PARTS_FEW)
        lines *= 2;
    int64_t step = (int64_t)lines * s->threads * g->width, count = (g->terms + step - 1) / step;
    s->most_steps = count > s->most_steps ? count : s->most_steps;
    s->are_short |= lines < WARP || g->unroll == 1;
    le_group_stage(c, g, s->threads / WARP);
    le_group_emit(c, g, c->root);
    struct le_variable *work = work_of(s);
    struct le_expression *steps =
        le_to_int(t, le_codegen_number(c, le_arena_format(c->arena, "steps_%d", number), count));
    struct le_expression *row =
        le_times_int(t, le_ktree_quotient(t, le_plus(t, steps, le_ktree_int(t, 3)), le_ktree_int(t, 4)), 4);
    s->counts[number] = steps;
    s->parts[number] = parts_of(s, g, work, le_times(t, le_to_long(t, le_ktree_thread(t, LE_BLOCK_Y)), row));
    s->at_bytes += (size_t)(count + 3) / 4 * 4 * (size_t)s->t->points * le_group_total_bytes(g);
    if (number > 0)
        le_ktree_barrier(t, c->root);
    struct statics all = statics_of(g, lines, g->chain ? 1 : g->unroll, g->width, le_group_counting(g));
    struct le_expression *x[] = {le_group_count(c, g),   steps, NULL, NULL, le_ktree_use(t, s->parts[number]),
                                 room_of(c, g, &s->room)};
    terms_of(c, g, &x[2]);
    le_do(t, c->root, LE_CALL_GRID_PARTS, all.at, x);
}

/* Makes a function of a number that returns that total of the work memory, or the join of four from there on. */
static struct le_expression *part_function(struct grid *s, int number, bool four) {
    struct le_kernel_tree *t = s->c->tree;
    const struct group *g = &s->t->groups[number];
    struct le_variable *function;
    struct le_expression *at;
    struct le_block *block = le_ktree_open_function_of(t, s->c->root, four ? "four_parts" : "part", g->type, "at",
                                                       LE_KTREE_INT, &function, &at);
    struct le_expression *part = le_ktree_element(t, s->parts[number], at);
    if (four) {
        struct le_expression *some = le_ktree_use(t, le_ktree_array(t, block, "some", g->type, LE_KTREE_LOCAL, 4, 0));
        struct le_expression *x[] = {some, le_ktree_address(t, part)};
        const struct le_static statics[] = {LE_STATIC_TYPE(g->type), LE_STATIC_NUMBER(4)};
        le_do(t, block, LE_CALL_READ, &statics[1], x);
        part = le_ktree_call(t, LE_CALL_JOINED, g->type, statics, &some);
    }
    le_ktree_close_with(t, block, part);
    return le_ktree_use(t, function);
}

static void join_parts(struct grid *s, int number) {
    struct codegen *c = s->c;
    struct le_kernel_tree *t = c->tree;
    struct group *g = &s->t->groups[number];
    int width = le_group_bytes(g) > 8 ? 1 : 4;
    struct le_expression *part = part_function(s, number, false);
    struct le_expression *many = width > 1 ? part_function(s, number, true) : part;
    struct statics all = statics_of(g, 8, g->unroll, width, LE_KTREE_INT);
    struct le_expression *x[] = {s->counts[number], many, part, room_of(c, g, &s->room)};
    le_group_know(c, g, c->root, le_ktree_call(t, LE_CALL_BLOCK_TOTAL, g->type, all.at, x));
}

void le_reduce_end_unless_last(struct codegen *c, struct le_expression *number, struct le_expression *blocks,
                               struct le_expression *more) {
    struct le_kernel_tree *t = c->tree;
    struct le_variable *arrived = le_codegen_parameter(c, LE_ARGUMENT_COUNTERS, -1, 0, LE_KTREE_UINT, "arrived");
    struct le_expression *x[] = {le_ktree_address(t, le_ktree_element(t, arrived, number)), blocks};
    struct le_expression *ends = le_ktree_not(t, le_ktree_call(t, LE_CALL_IS_LAST, LE_BOOL, NULL, x));
    le_ktree_end_if(t, c->root, more ? le_ktree_binary(t, LE_OP_LOR, ends, more) : ends);
}

leat_status le_reduce_grid(const struct le_mapping *m, void *found, struct le_generated_launches *out) {
    struct reduction *r = found;
    struct codegen *c = &r->c;
    struct team_stage *t = &r->t;
    le_reduce_settings(m, t);
    struct grid s = {
        .c = c, .t = t, .room = declare_room(c, t, false), .threads = le_reduce_has_chain(t) ? CHAIN_THREADS : 256};
    le_reduce_bounds(c, t, s.threads, false);
    le_team_bind(c, c->root, t->points_at, t->points_count, le_ktree_thread(c->tree, LE_BLOCK_Y), true);
    for (int g = 0; g < t->group_count; g++)
        emit_parts(&s, g);
    le_reduce_end_unless_last(c, le_ktree_thread(c->tree, LE_BLOCK_Y), le_ktree_thread(c->tree, LE_BLOCKS_X), NULL);
    for (int g = 0; g < t->group_count; g++)
        join_parts(&s, g);
    make_rest(c, t, own_thread(c), s.threads);
    int64_t most = (int64_t)c->tree->resident * c->job->facts->multiprocessors / t->points;
    int64_t rounds = most > 0 ? (s.most_steps + most - 1) / most : s.most_steps;
    if (!s.are_short) /* long steps: blocks that finish early leave room for others */
        rounds = rounds >= PAIR_ROUNDS ? 2 : 1;
    int64_t blocks = (s.most_steps + rounds - 1) / rounds; /* that finish at about the same time */
    le_reduce_launch(c, t, out, s.threads, blocks, t->points,
                     t->points == 1 ? "all blocks, the last joins their totals" : "some blocks for each row");
    out->work_bytes = s.at_bytes;
    out->counter_bytes = (size_t)t->points * 4;
    return c->status;
}

/* Across the grid, groups cannot use each other's totals, which exist only at the end. */
bool le_reduce_stands_alone(const struct team_stage *t) {
    for (int g = 1; g < t->group_count; g++)
        for (int k = 0; k < t->groups[g].node_count; k++)
            if (t->groups[g].nodes[k]->operands[0]->reduces)
                return false;
    return true;
}
