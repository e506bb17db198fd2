/* Columns: neighbouring threads for neighbouring points, so that they read side by side. Each adds up a chunk of its
 * column's terms, a power of two. With `parts`, several threads of a block have the same column: few columns then keep
 * as many threads busy without as many totals in memory. In sums with reuse, those take turns at the chunks of 32
 * terms, whose totals one of them adds up in order. If several blocks have the same columns, the last one of them puts
 * their totals together. Groups that use the totals of others get a kernel each then. */
#include "gen/mapping/group_reduce.h"

#define GRID_ROWS        65535 /* a grid's second axis */
#define CHUNK_LEAST      64    /* terms of a thread that computes part of a column */
#define COLUMN_UNROLL(g) ((g)->unroll * 2)

enum { BLOCK_THREADS = 256 };

struct columns {
    struct codegen *c;
    struct team_stage *t;
    int threads, parts;
    int64_t chunk, steps;     /* steps: blocks that have the same columns */
    int64_t points;           /* of threads: each has as many columns as the side is wide */
    size_t at_bytes;          /* bytes of work memory used so far */
    size_t known[GROUPS_MAX]; /* where the totals of groups are that earlier kernels have computed */
    /* of the current kernel */
    struct le_variable *left[GROUPS_MAX];        /* the totals of all blocks */
    struct le_expression *point, *part, *inside; /* part, inside: NULL if a column has one thread */
};

/* ---- shapes */

int64_t le_columns_least_chunk(const struct team_stage *t, int parts) {
    return le_reduce_has_chain(t) ? LE_CHAIN_TERMS * LE_CHAIN_CHUNKS / parts : CHUNK_LEAST;
}

int64_t le_columns_whole(const struct team_stage *t, int parts) {
    int64_t chunk = le_columns_least_chunk(t, parts);
    while (chunk * parts < le_reduce_terms(t))
        chunk *= 2;
    return chunk;
}

int le_columns_threads(const struct team_stage *t, int parts) {
    int64_t points = t->points / t->side.width;
    if (parts > 1)
        return le_reduce_has_chain(t) && parts * WARP < BLOCK_THREADS ? parts * WARP : BLOCK_THREADS;
    return points >= BLOCK_THREADS ? BLOCK_THREADS : (int)(points + 31) / 32 * 32;
}

/* Bytes of shared memory, at most, in which threads join a group's totals, of a column and of blocks, and a unit's
 * chunks. */
static size_t room_bytes(const struct team_stage *t, const struct group *g) {
    size_t width = (size_t)t->side.width, largest = 0;
    if (!g->chain)
        return 2 * BLOCK_THREADS * width * le_group_total_bytes(g);
    for (int k = 0; k < g->node_count; k++)
        largest = le_type_size(g->nodes[k]->type) > largest ? le_type_size(g->nodes[k]->type) : largest;
    return (LE_CHAIN_CHUNKS * WARP + BLOCK_THREADS) * width * largest * (size_t)g->node_count;
}

/* Threads of chains share 32 columns at most, whose chunks' totals are in shared memory. Each has at least one chunk of
 * a unit. */
int le_columns_parts(const struct team_stage *t) {
    size_t bytes = 0;
    int columns = 1;
    for (int g = 0; g < t->group_count; g++)
        bytes += room_bytes(t, &t->groups[g]);
    while (columns < WARP && columns < t->points / t->side.width)
        columns *= 2;
    if (bytes > ROOM_MOST)
        return 1;
    return le_reduce_has_chain(t) ? LE_CHAIN_CHUNKS : BLOCK_THREADS / columns;
}

/* ---- pieces of the kernels */

/* Levels of the tree of sums above one unrolled step. Rounded up to few values, as each value is another kernel text.
 */
static int levels_for(const struct group *g, int64_t chunk) {
    const int64_t unit = LE_CHAIN_TERMS * LE_CHAIN_CHUNKS, step = g->chain ? unit : COLUMN_UNROLL(g);
    int levels = g->chain ? 2 : 5;
    if (g->chain && chunk <= unit)
        return 0;
    while (levels < 40 && step << levels < chunk)
        levels *= 2;
    return levels;
}

static struct le_expression *points_of(struct columns *s) {
    return le_codegen_number(s->c, "points", s->points);
}

static struct le_block *bind(struct columns *s, struct le_block *block, struct le_expression *point) {
    le_side_bind(s->c, &s->t->side, block, s->t->points_at, s->t->points_count, point, s->t->points <= INT32_MAX);
    return block;
}

/* Computes the thread's column and opens the block for its work. With parts, all threads come there, because they meet:
 * those behind the last column have no terms of it. */
static struct le_block *open_columns(struct columns *s) {
    struct le_kernel_tree *t = s->c->tree;
    struct le_block *root = s->c->root;
    struct le_expression *thread = le_ktree_thread(t, LE_THREAD_X), *column = thread;
    int columns = s->threads / s->parts;
    if (s->parts > 1) {
        thread = le_to_int(t, thread);
        column = le_ktree_remainder(t, thread, le_ktree_int(t, columns));
        s->part = le_let(t, root, "part", le_ktree_quotient(t, thread, le_ktree_int(t, columns)));
    }
    struct le_expression *before = le_times_int(t, le_to_long(t, le_ktree_thread(t, LE_BLOCK_X)), columns);
    struct le_expression *own = le_plus(t, before, column);
    if (s->parts == 1) {
        s->point = le_let(t, root, "point", own);
        struct le_block *block = le_ktree_open_if(t, root, le_less(t, s->point, points_of(s)));
        return bind(s, block, s->point);
    }
    own = le_let(t, root, "own", own);
    s->inside = le_let(t, root, "inside", le_less(t, own, points_of(s)));
    struct le_expression *last = le_minus(t, points_of(s), le_ktree_int(t, 1));
    s->point = le_let(t, root, "point", le_ktree_select(t, s->inside, own, last));
    return bind(s, le_ktree_open(t, root), s->point);
}

/* `end`, or of columns behind the last one `first`: no terms. */
static struct le_expression *within(struct columns *s, struct le_expression *end, struct le_expression *first) {
    return s->inside ? le_ktree_select(s->c->tree, s->inside, end, first) : end;
}

/* The total of the chain's terms from `first` to before `end` by the threads that share a column, in each of them. */
static struct le_expression *emit_chain_parts(struct columns *s, struct group *g, struct le_variable *quick,
                                              struct le_expression *first, struct le_expression *end) {
    struct le_kernel_tree *t = s->c->tree;
    int totals = LE_CHAIN_CHUNKS * (s->threads / s->parts);
    struct le_variable *room = le_ktree_array(t, s->c->root, "room", g->type, LE_KTREE_SHARED, totals, 0);
    const struct le_static statics[] = {LE_STATIC_TYPE(g->type), LE_STATIC_NUMBER(levels_for(g, s->chunk * s->parts)),
                                        LE_STATIC_NUMBER(s->parts), LE_STATIC_NUMBER(le_chain_unroll(g)),
                                        LE_STATIC_TYPE(le_group_counting(g))};
    struct le_expression *x[] = {first, end, le_ktree_use(t, room), le_ktree_use(t, g->term),
                                 quick ? le_ktree_use(t, quick) : NULL};
    return le_ktree_call(t, quick ? LE_CALL_CHAIN_PARTS_QUICK : LE_CALL_CHAIN_PARTS, g->type, statics, x);
}

/* The same of other terms by one thread. */
static struct le_expression *emit_column(struct columns *s, struct group *g, struct le_variable *quick,
                                         struct le_expression *first, struct le_expression *end) {
    struct le_kernel_tree *t = s->c->tree;
    const struct le_static statics[] = {LE_STATIC_TYPE(g->type), LE_STATIC_NUMBER(levels_for(g, s->chunk)),
                                        LE_STATIC_NUMBER(g->chain ? le_chain_unroll(g) : COLUMN_UNROLL(g)),
                                        LE_STATIC_TYPE(le_group_counting(g))};
    struct le_expression *x[] = {first, end, le_ktree_use(t, g->term), quick ? le_ktree_use(t, quick) : NULL};
    enum le_library_call call = g->chain ? (quick ? LE_CALL_CHAIN_THREAD_QUICK : LE_CALL_CHAIN_THREAD)
                                         : (quick ? LE_CALL_THREAD_TOTAL_QUICK : LE_CALL_THREAD_TOTAL);
    return le_ktree_call(t, call, g->type, statics, x);
}

/* The total of all threads of the block that share a column. */
static struct le_expression *join_threads(struct columns *s, const struct group *g, struct le_block *block,
                                          struct le_expression *total) {
    struct le_kernel_tree *t = s->c->tree;
    if (s->parts == 1)
        return total;
    int columns = s->threads / s->parts;
    int totals = columns < WARP ? s->threads / WARP * columns : s->threads;
    struct le_variable *room = le_ktree_array(t, s->c->root, "room", g->type, LE_KTREE_SHARED, totals, 0);
    const struct le_static statics[] = {LE_STATIC_NUMBER(columns), LE_STATIC_NUMBER(s->threads)};
    struct le_expression *x[] = {le_let(t, block, "of_thread", total), le_ktree_use(t, room)};
    return le_ktree_call(t, LE_CALL_STRIP_JOIN, g->type, statics, x);
}

/* The total of the block's terms of the thread's column: from `first`, of `step` if there are as many (NULL: all). */
static struct le_expression *emit_block(struct columns *s, struct group *g, struct le_block *block,
                                        struct le_expression *first, struct le_expression *step) {
    struct le_kernel_tree *t = s->c->tree;
    int counting = le_group_counting(g);
    struct le_expression *end = le_group_count(s->c, g);
    bool shares = s->part && !g->chain;
    if (shares) {
        step = le_ktree_int(t, s->chunk);
        first = le_plus(t, first, le_times(t, le_to_long(t, s->part), step));
    }
    if (step) {
        first = le_let(t, block, "first", first);
        struct le_expression *next = le_plus(t, first, step);
        end = le_ktree_select(t, le_less(t, next, end), next, end);
        end = le_let(t, block, "end", shares ? within(s, end, first) : end);
    }
    le_group_emit(s->c, g, block);
    struct le_variable *quick = le_group_quick_term(s->c, g, block);
    first = le_ktree_cast(t, counting, first);
    end = le_ktree_cast(t, counting, end);
    if (s->part && g->chain)
        return emit_chain_parts(s, g, quick, first, end);
    return join_threads(s, g, block, emit_column(s, g, quick, first, end));
}

/* The block for what one thread of a column does. */
static struct le_block *open_one(struct columns *s, struct le_block *block) {
    struct le_kernel_tree *t = s->c->tree;
    if (s->parts == 1)
        return le_ktree_open(t, block);
    struct le_expression *first = le_ktree_binary(t, LE_OP_EQ, s->part, le_ktree_int(t, 0));
    return le_ktree_open_if(t, block, le_ktree_binary(t, LE_OP_LAND, s->inside, first));
}

/* ---- one block has all terms of a column */

static void whole_columns(struct columns *s) {
    struct le_kernel_tree *t = s->c->tree;
    struct le_block *block = open_columns(s);
    for (int k = 0; k < s->t->group_count; k++) {
        struct group *g = &s->t->groups[k];
        le_group_know(s->c, g, block, emit_block(s, g, block, le_ktree_int(t, 0), NULL));
    }
    struct le_block *one = open_one(s, block);
    le_team_store_points(s->c, s->t, one, TEAM_ALL);
    le_ktree_close_to(t, one, s->c->root);
}

/* ---- several blocks have the same columns */

static struct le_variable *totals_at(struct columns *s, const struct group *g, size_t at, const char *name) {
    struct le_kernel_tree *t = s->c->tree;
    struct le_variable *work = le_codegen_parameter(s->c, LE_ARGUMENT_WORK, -1, (int64_t)at, LE_KTREE_VOID, "work");
    struct le_expression *x[] = {le_ktree_use(t, work), le_ktree_int(t, 0)};
    return le_ktree_pointer(t, s->c->root, name, g->type, LE_KTREE_BUFFER,
                            le_ktree_call(t, LE_CALL_POINTER, g->type, &LE_STATIC_TYPE(g->type), x));
}

static size_t take_work(struct columns *s, const struct group *g, int64_t rows) {
    size_t at = s->at_bytes;
    s->at_bytes += (size_t)rows * (size_t)s->t->points * le_group_total_bytes(g);
    return at;
}

static void leave_parts(struct columns *s, int number, struct le_block *block) {
    struct codegen *c = s->c;
    struct le_kernel_tree *t = c->tree;
    struct group *g = &s->t->groups[number];
    struct le_expression *row = le_ktree_thread(t, LE_BLOCK_Y), *step = le_ktree_int(t, s->chunk * s->parts);
    struct le_expression *total = emit_block(s, g, block, le_times(t, le_to_long(t, row), step), step);
    total = le_let(t, block, "all", total);
    s->left[number] = totals_at(s, g, take_work(s, g, s->steps), "parts");
    struct le_block *one = open_one(s, block);
    struct le_expression *to = le_plus(t, le_times(t, row, points_of(s)), s->point);
    le_ktree_set(t, one, le_ktree_element(t, s->left[number], to), total);
    le_ktree_close(t, one);
}

static struct le_expression *take_parts(struct columns *s, int number, struct le_block *block) {
    struct codegen *c = s->c;
    struct le_kernel_tree *t = c->tree;
    const struct group *g = &s->t->groups[number];
    struct le_variable *part;
    struct le_expression *at;
    struct le_block *inner = le_ktree_open_function_of(t, block, "part", g->type, "at", LE_KTREE_INT, &part, &at);
    struct le_expression *row = le_times(t, at, points_of(s));
    le_ktree_close_with(t, inner, le_ktree_element(t, s->left[number], le_plus(t, row, s->point)));
    const struct le_static statics[] = {LE_STATIC_TYPE(g->type), LE_STATIC_NUMBER(s->steps <= 256 ? 5 : 13),
                                        LE_STATIC_NUMBER(8), LE_STATIC_TYPE(LE_KTREE_INT)};
    struct le_expression *first = le_ktree_int(t, 0), *end = le_to_int(t, le_ktree_thread(t, LE_BLOCKS_Y));
    if (s->part) { /* each part takes as many of them, a power of two */
        int64_t run = 1;
        while (run * s->parts < s->steps)
            run *= 2;
        struct le_expression *some = le_to_int(t, le_codegen_number(c, "run", run));
        first = le_let(t, block, "first", le_times(t, s->part, some));
        struct le_expression *next = le_plus(t, first, some);
        end = le_let(t, block, "end", within(s, le_ktree_select(t, le_less(t, next, end), next, end), first));
    }
    struct le_expression *x[] = {first, end, le_ktree_use(t, part)};
    struct le_expression *total = le_ktree_call(t, LE_CALL_THREAD_TOTAL, g->type, statics, x);
    return le_let(t, block, "all", join_threads(s, g, block, total));
}

/* Makes the totals known that earlier kernels have computed. */
static void know_earlier(struct columns *s, int count, struct le_block *block) {
    for (int g = 0; g < count; g++) {
        struct group *group = &s->t->groups[g];
        le_group_declare(s->c, group);
        struct le_variable *totals = totals_at(s, group, s->known[g], "totals");
        le_group_know(s->c, group, block, le_ktree_element(s->c->tree, totals, s->point));
    }
}

/* Keeps the totals for later kernels. */
static void keep_totals(struct columns *s, int number, struct le_block *block, struct le_expression *total) {
    const struct group *g = &s->t->groups[number];
    s->known[number] = take_work(s, g, 1);
    struct le_variable *totals = totals_at(s, g, s->known[number], "totals");
    le_ktree_set(s->c->tree, block, le_ktree_element(s->c->tree, totals, s->point), total);
}

/* The kernel of the groups from `first` to before `end`; that of the last ones stores values. */
static void cut_columns(struct columns *s, int first, int end) {
    struct le_kernel_tree *t = s->c->tree;
    struct le_expression *totals[GROUPS_MAX];
    struct le_block *block = open_columns(s);
    know_earlier(s, first, block);
    for (int g = first; g < end; g++)
        leave_parts(s, g, block);
    le_ktree_close(t, block);
    le_reduce_end_unless_last(s->c, le_ktree_thread(t, LE_BLOCK_X), le_ktree_thread(t, LE_BLOCKS_Y),
                              s->part ? NULL : le_at_least(t, s->point, points_of(s)));
    block = bind(s, le_ktree_open(t, s->c->root), s->point);
    for (int g = first; g < end; g++)
        totals[g] = take_parts(s, g, block);
    if (end == s->t->group_count)
        know_earlier(s, first, block);
    for (int g = first; g < end && end == s->t->group_count; g++)
        le_group_know(s->c, &s->t->groups[g], block, totals[g]);
    struct le_block *one = open_one(s, block);
    for (int g = first; g < end && end < s->t->group_count; g++)
        keep_totals(s, g, one, totals[g]);
    if (end == s->t->group_count)
        le_team_store_points(s->c, s->t, one, TEAM_ALL);
    le_ktree_close_to(t, one, s->c->root);
}

/* ---- the launches */

static void launch(struct columns *s, struct le_generated_launches *out, bool cut) {
    int columns = s->threads / s->parts;
    const char *how = "a thread for each column";
    if (s->parts > 1)
        how = cut ? "threads of some blocks for each column, the last block joins their totals"
                  : "threads of a block for each column";
    else if (cut)
        how = "threads for each column, the last block joins their totals";
    le_reduce_launch(s->c, s->t, out, s->threads, (s->points + columns - 1) / columns, cut ? s->steps : 1, how);
}

/* Each group has a kernel of its own. */
static leat_status make_each(struct columns *s, struct le_generated_launches *out) {
    const struct le_device_kernel_job *job = s->c->job;
    const struct le_stage *stage = s->c->stage;
    struct codegen own, *first = s->c;
    s->c = &own;
    for (int g = 0; g < s->t->group_count; g++) {
        le_codegen_begin(&own, job, stage, g + 1 < s->t->group_count ? "_totals" : "");
        le_reduce_bounds(&own, s->t, s->threads, false);
        cut_columns(s, g, g + 1);
        launch(s, out, true);
        first->status = first->status == LEAT_OK ? own.status : first->status;
    }
    s->c = first;
    return first->status;
}

bool le_columns_can_cut(struct codegen *c, const struct team_stage *t) {
    return le_reduce_stands_alone(t) || (t->sibling_count == 0 && le_node_is_safe(&c->safety, c->stage->node));
}

leat_status le_reduce_columns(const struct le_mapping *m, void *found, struct le_generated_launches *out) {
    struct reduction *r = found;
    struct columns s = {.c = &r->c, .t = &r->t, .parts = (int)le_mapping_get(m, "parts")};
    s.t->side.width = (int)le_mapping_get(m, "vector");
    for (int g = 0; g < s.t->group_count; g++)
        s.t->groups[g].side = s.t->side.width > 1 ? &s.t->side : NULL;
    s.points = s.t->points / s.t->side.width;
    s.chunk = le_mapping_get(m, "chunk");
    s.threads = le_columns_threads(s.t, s.parts);
    s.steps = (le_reduce_terms(s.t) + s.chunk * s.parts - 1) / (s.chunk * s.parts);
    le_reduce_settings(m, s.t);
    le_reduce_bounds(s.c, s.t, s.threads, false);
    bool cut = le_columns_can_cut(s.c, s.t) && s.steps > 1 && s.steps <= GRID_ROWS;
    if (!cut)
        s.chunk = le_columns_whole(s.t, s.parts);
    leat_status status = LEAT_OK;
    if (cut && !le_reduce_stands_alone(s.t)) {
        status = make_each(&s, out);
    } else {
        if (cut)
            cut_columns(&s, 0, s.t->group_count);
        else
            whole_columns(&s);
        launch(&s, out, cut);
        status = r->c.status;
    }
    int columns = s.threads / s.parts;
    out->work_bytes = cut ? s.at_bytes : 0;
    out->counter_bytes = cut ? (size_t)((s.points + columns - 1) / columns) * 4 : 0;
    return status;
}
