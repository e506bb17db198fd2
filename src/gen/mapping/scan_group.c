/* The kernels of scans by many threads. A lane takes groups of 16 terms. Rows that are adjacent in memory go to the
 * lanes of one warp, a short row to a few lanes, and other rows to a thread block, which stages its terms in shared
 * memory. Few long rows are cut into tiles, one for each block; a block looks back for the total before its tile. */
#include "gen/mapping/scan_group.h"

#define REGISTERS 65536

/* ---- faults: a row's head, then term, element, term, element, ... */

static bool is_safe(struct scan_team *s) {
    struct codegen *c = s->c;
    struct le_node target = le_codegen_target(c);
    return le_node_is_safe(&c->safety, s->scan->term) && le_load_is_safe(&c->safety, &target) &&
           (s->head == 0 || le_node_is_safe(&c->safety, s->scan->reduction->operands[0]));
}

static void number_terms(struct scan_team *s) {
    if (!is_safe(s))
        s->c->terms = le_codegen_number(s->c, "terms", s->head + 2 * s->g.terms);
}

/* The number of term `at`, or, one more, of its element; NULL: faults need none. */
static struct le_expression *numbered(struct scan_team *s, struct le_expression *at, int more) {
    struct le_kernel_tree *t = s->c->tree;
    if (!s->c->terms)
        return NULL;
    struct le_expression *own = le_plus(t, le_times(t, le_ktree_int(t, 2), at), le_ktree_int(t, more));
    return le_plus(t, le_codegen_number(s->c, "head_terms", s->head), own);
}

/* ---- the functions */

/* Function `wish` of one or two parameters (b NULL). */
static struct le_block *open_function(struct scan_team *s, const char *wish, int type, struct le_variable *a,
                                      struct le_variable *b, struct le_variable **function) {
    struct le_variable *parameters[] = {a, b};
    *function = le_ktree_variable(s->c->tree, wish, type);
    return le_ktree_open_function(s->c->tree, s->c->root, *function, parameters, b ? 2 : 1);
}

/* Several terms, or results. */
static struct le_variable *array_parameter(struct scan_team *s, const char *wish, int type, int width, bool read_only) {
    struct le_variable *v = le_ktree_variable(s->c->tree, wish, type);
    v->memory = LE_KTREE_LOCAL;
    v->read_only = read_only;
    v->axes = 1;
    v->extents[0] = width;
    return v;
}

/* Binds the scan's index to the at'th turn, or to the first in memory of `width` turns from that on. */
static void bind_turn(struct scan_team *s, struct le_block *block, struct le_expression *at, int width) {
    struct le_kernel_tree *t = s->c->tree;
    if (s->scan->down)
        at = le_minus(t, le_minus(t, s->count, le_ktree_int(t, width)), at);
    le_team_bind_one(s->c, block, s->scan->index, at, 0);
}

/* Element e in memory of `width` turns, as the turns count them. */
static struct le_expression *turn_of(const struct scan_team *s, struct le_expression *e, int width) {
    return s->scan->down ? le_minus(s->c->tree, le_ktree_int(s->c->tree, width - 1), e) : e;
}

/* Of the turn that block binds. */
static struct le_expression *term_of(struct scan_team *s, struct le_block *block, struct le_expression *at) {
    s->c->term = numbered(s, at, 0);
    struct le_expression *x = le_codegen_wide(s->c, le_codegen_node(s->c, s->scan->term, block, NULL));
    s->c->term = NULL;
    return x;
}

static void emit_one(struct scan_team *s) {
    struct le_kernel_tree *t = s->c->tree;
    struct le_variable *v = le_ktree_variable(t, "at", s->counting);
    struct le_expression *at = le_ktree_use(t, v);
    struct le_block *inner = open_function(s, "term", (int)s->type, v, NULL, &s->one);
    bind_turn(s, inner, at, 1);
    le_ktree_return(t, inner, term_of(s, inner, at));
    le_ktree_close(t, inner);
}

/* Reads `width` elements of every load, and makes their terms. */
static void emit_wide(struct scan_team *s, struct le_block *inner, struct le_expression *at, struct le_variable *to) {
    struct codegen *c = s->c;
    struct le_kernel_tree *t = c->tree;
    struct le_node *loads[LOADS_MAX];
    struct le_variable *some[LOADS_MAX], *element = le_ktree_variable(t, "e", LE_KTREE_INT);
    struct le_expression *e = le_ktree_use(t, element), *turn = turn_of(s, e, s->g.width);
    struct le_block *base = le_ktree_open(t, inner);
    bind_turn(s, base, at, s->g.width);
    int count = le_group_open_wide(c, &s->g, base, loads, some);
    struct le_block *each = le_ktree_open_unrolled(t, inner, element, s->g.width);
    bind_turn(s, each, le_plus(t, at, turn), 1);
    for (int k = 0; k < count; k++)
        le_group_know_element(c, loads[k], each, some[k], e);
    le_ktree_set(t, each, le_ktree_element(t, to, turn), term_of(s, each, le_plus(t, at, turn)));
    le_ktree_close(t, each);
}

static void emit_some(struct scan_team *s) {
    struct le_kernel_tree *t = s->c->tree;
    struct le_variable *v = le_ktree_variable(t, "at", s->counting);
    struct le_variable *to = array_parameter(s, "to", (int)s->type, s->g.width, false);
    struct le_block *inner = open_function(s, "terms", LE_KTREE_VOID, v, to, &s->some);
    struct le_expression *x[] = {le_ktree_use(t, s->one), le_ktree_use(t, v)};
    if (s->g.width > 1)
        emit_wide(s, inner, x[1], to);
    else
        le_ktree_set(t, inner, le_ktree_element(t, to, le_ktree_int(t, 0)),
                     le_ktree_call(t, LE_CALL_APPLY, (int)s->type, NULL, x));
    le_ktree_close(t, inner);
}

/* A term's total; at: its place, which only args keep. */
static struct le_expression *total_of(struct scan_team *s, struct le_expression *x, struct le_expression *at) {
    struct le_expression *both[] = {x, at};
    return le_ktree_total(s->c->tree, s->g.type, both, s->is_arg ? 2 : 1);
}

static struct le_expression *head_terms(struct scan_team *s) {
    return le_ktree_cast(s->c->tree, s->counting, le_codegen_number(s->c, "head_terms", s->head));
}

/* A place is counted from the first of all terms on, as they lie. */
static void emit_of(struct scan_team *s) {
    struct le_kernel_tree *t = s->c->tree;
    struct le_variable *v = le_ktree_variable(t, "at", s->counting), *x = le_ktree_variable(t, "x", (int)s->type);
    struct le_block *inner = open_function(s, "total_of", s->g.type, x, v, &s->of);
    struct le_expression *at = le_ktree_use(t, v);
    if (s->scan->suffix)
        at = le_minus(t, le_minus(t, s->count, le_ktree_int(t, 1)), at);
    else if (s->head > 0)
        at = le_plus(t, head_terms(s), at);
    le_ktree_return(t, inner, total_of(s, le_ktree_use(t, x), at));
    le_ktree_close(t, inner);
}

/* A result as the reduction's value. */
static struct le_expression *value_of(struct scan_team *s, struct le_expression *x) {
    if (s->is_arg && s->scan->terms.low != 0)
        x = le_plus(s->c->tree, le_codegen_number(s->c, "first", s->scan->terms.low), x);
    return le_codegen_wide(s->c, x);
}

static void emit_put_one(struct scan_team *s) {
    struct codegen *c = s->c;
    struct le_kernel_tree *t = c->tree;
    struct le_variable *v = le_ktree_variable(t, "at", s->counting), *x = le_ktree_variable(t, "x", s->result);
    struct le_block *inner = open_function(s, "store", LE_KTREE_VOID, v, x, &s->put_one);
    bind_turn(s, inner, le_ktree_use(t, v), 1);
    c->term = numbered(s, le_ktree_use(t, v), 1);
    le_codegen_store(c, value_of(s, le_ktree_use(t, x)), inner);
    c->term = NULL;
    le_ktree_close(t, inner);
}

static void emit_wide_put(struct scan_team *s, struct le_block *inner, struct le_expression *at,
                          struct le_variable *from) {
    struct codegen *c = s->c;
    struct le_kernel_tree *t = c->tree;
    struct le_node target = le_codegen_target(c);
    enum le_type stored = c->ir->values.at[target.value].type;
    struct le_variable *out = le_ktree_array(t, inner, "out", (int)stored, LE_KTREE_LOCAL, s->out_width, 0);
    struct le_variable *element = le_ktree_variable(t, "e", LE_KTREE_INT);
    struct le_expression *e = le_ktree_use(t, element);
    struct le_block *each = le_ktree_open_unrolled(t, inner, element, s->out_width);
    struct le_expression *x = value_of(s, le_ktree_element(t, from, turn_of(s, e, s->out_width)));
    le_ktree_set(t, each, le_ktree_element(t, out, e), le_codegen_to_memory(c, x, stored));
    le_ktree_close(t, each);
    bind_turn(s, inner, at, s->out_width);
    struct le_expression *both[] = {le_ktree_address(t, le_codegen_trusted_place(c, &target, inner)),
                                    le_ktree_use(t, out)};
    le_do(t, inner, LE_CALL_WRITE, &LE_STATIC_NUMBER(s->out_width), both);
}

static void emit_put(struct scan_team *s) {
    struct le_kernel_tree *t = s->c->tree;
    struct le_variable *at = le_ktree_variable(t, "at", s->counting);
    struct le_variable *from = array_parameter(s, "from", s->result, s->out_width, true);
    struct le_block *inner = open_function(s, "stores", LE_KTREE_VOID, at, from, &s->put);
    struct le_expression *x[] = {le_ktree_use(t, s->put_one), le_ktree_use(t, at),
                                 le_ktree_element(t, from, le_ktree_int(t, 0))};
    if (s->out_width > 1)
        emit_wide_put(s, inner, x[1], from);
    else
        le_do(t, inner, LE_CALL_APPLY_PAIR, NULL, x);
    le_ktree_close(t, inner);
}

static void emit_functions(struct scan_team *s) {
    emit_one(s);
    emit_of(s);
    emit_put_one(s);
    if (s->kind == LE_MAPPING_SCAN_COLUMNS)
        return;
    emit_some(s);
    emit_put(s);
}

/* ---- the terms before the first element's own */

static struct le_expression *declare_start(struct scan_team *s) {
    struct le_kernel_tree *t = s->c->tree;
    struct le_expression *none = le_ktree_call(t, LE_CALL_NONE, s->g.type, &LE_STATIC_TYPE(s->g.type), NULL);
    return le_ktree_use(t, le_ktree_declare(t, t->root, "start", s->g.type, none));
}

/* By each thread: their total. */
static struct le_expression *own_head(struct scan_team *s) {
    struct codegen *c = s->c;
    struct le_kernel_tree *t = c->tree;
    const struct le_scan *scan = s->scan;
    if (s->head > 0 && s->ordered)
        return le_let(t, c->root, "start", total_of(s, le_codegen_node(c, scan->reduction, c->root, NULL), NULL));
    struct le_expression *start = declare_start(s);
    if (s->head == 0)
        return start;
    struct le_block *inner = le_codegen_run(c, c->root, scan->scanned, scan->suffix);
    struct le_expression *x = le_codegen_wide(c, le_codegen_node(c, scan->reduction->operands[0], inner, NULL));
    struct le_expression *place =
        le_minus(t, c->indices[scan->scanned].x, le_codegen_number(c, "first", scan->terms.low));
    struct le_expression *both[] = {start, total_of(s, x, le_ktree_cast(t, s->counting, place))};
    le_ktree_set(t, inner, start, le_ktree_call(t, LE_CALL_TOTAL_JOIN, s->g.type, NULL, both));
    le_ktree_close(t, inner);
    return start;
}

/* By a block, of which all threads come here, into start. */
static void take_head(struct scan_team *s, struct le_block *block, struct le_expression *start) {
    struct codegen *c = s->c;
    struct le_kernel_tree *t = c->tree;
    const struct le_scan *scan = s->scan;
    struct group h = {.nodes = {scan->reduction}, .bodies = {scan->reduction->operands[0]}, .node_count = 1};
    h.indices = &scan->scanned;
    h.index_count = 1;
    h.terms = s->head;
    le_group_shape(c, &h);
    h.narrow = s->g.narrow;
    le_group_emit(c, &h, block);
    const struct le_static statics[] = {LE_STATIC_TYPE(s->g.type), LE_STATIC_NUMBER(h.unroll),
                                        LE_STATIC_NUMBER(h.unroll), LE_STATIC_NUMBER(h.width),
                                        LE_STATIC_TYPE(s->counting)};
    struct le_variable *room = le_ktree_object(t, c->root, "head_room", LE_KTREE_SHARED, 0,
                                               le_ktree_call(t, LE_CALL_TOTALS_ROOM, LE_KTREE_VOID, statics, NULL));
    struct le_expression *x[] = {head_terms(s), le_ktree_use(t, h.many), le_ktree_use(t, h.term),
                                 le_ktree_use(t, room)};
    le_ktree_set(t, block, start, le_ktree_call(t, LE_CALL_BLOCK_TOTAL, s->g.type, statics, x));
    struct le_expression *moved[] = {start, s->count};
    if (s->is_arg && scan->suffix)
        le_do(t, block, LE_CALL_TOTAL_MOVE, NULL, moved);
}

/* By each block, or by those for which `when` holds. */
static struct le_expression *block_head(struct scan_team *s, struct le_expression *when) {
    struct le_kernel_tree *t = s->c->tree;
    struct le_expression *start = declare_start(s);
    if (s->head == 0)
        return start;
    struct le_block *block = when ? le_ktree_open_if(t, t->root, when) : le_ktree_open(t, t->root);
    block->conditional = when != NULL;
    take_head(s, block, start);
    le_ktree_close(t, block);
    return start;
}

/* ---- kernels */

static void begin_team(struct scan_team *s) {
    struct codegen *c = s->c;
    int bytes = le_group_bytes(&s->g), blocks = REGISTERS / (s->threads * (bytes > 8 ? 128 : bytes > 4 ? 96 : 64));
    if (s->kind == LE_MAPPING_SCAN_TILES)
        blocks = le_scan_tile_bytes(s) > SCAN_TILE_BYTES ? 1 : 3;
    c->tree->threads = s->threads;
    c->tree->resident = blocks > 0 ? blocks : 1;
    le_group_declare(c, &s->g);
    s->count = le_ktree_cast(c->tree, s->counting, le_codegen_number(c, "turns", s->g.terms));
    number_terms(s);
}

static leat_status finish_launch(struct scan_team *s, struct le_generated_launches *out, int64_t blocks, size_t shared,
                                 const char *how) {
    struct le_generated_launch *launch = le_codegen_finish(s->c, out);
    launch->grid[0] = (unsigned)blocks;
    launch->block[0] = (unsigned)s->threads;
    launch->shared_bytes = shared;
    launch->elements = s->points * s->g.terms;
    launch->operations = launch->elements * (s->scan->term->cost + 1);
    launch->how = how;
    return s->c->status;
}

static struct le_expression *let(struct scan_team *s, const char *wish, struct le_expression *x) {
    return le_let(s->c->tree, s->c->root, wish, x);
}

/* The thread's number, as that type, over n. */
static struct le_expression *thread_over(struct scan_team *s, int n, int type) {
    struct le_kernel_tree *t = s->c->tree;
    return le_ktree_quotient(t, le_ktree_cast(t, type, le_ktree_thread(t, LE_THREAD_X)), le_ktree_int(t, n));
}

/* The block's first of `count` points. */
static struct le_expression *first_point(struct scan_team *s, int count) {
    struct le_kernel_tree *t = s->c->tree;
    return le_times(t, le_ktree_cast(t, LE_KTREE_LONG, le_ktree_thread(t, LE_BLOCK_X)), le_ktree_int(t, count));
}

/* Binds the points' indices to one that there is, also where a lane has none; the bool that tells. */
static struct le_expression *bind_lane(struct scan_team *s, struct le_expression *point) {
    struct le_kernel_tree *t = s->c->tree;
    struct le_expression *points = le_codegen_number(s->c, "points", s->points);
    struct le_expression *active = let(s, "active", le_less(t, point, points));
    struct le_expression *last = le_minus(t, points, le_ktree_int(t, 1));
    struct le_expression *own = let(s, "row", le_ktree_select(t, active, point, last));
    le_team_bind(s->c, t->root, s->points_at, s->points_count, own, true);
    return active;
}

/* An object of the totals' class, shared by the block; number: as the class says. */
static struct le_variable *share(struct scan_team *s, enum le_library_call class, const char *wish, int number,
                                 int count) {
    const struct le_static statics[] = {LE_STATIC_TYPE(s->g.type), LE_STATIC_NUMBER(number)};
    return le_ktree_object(s->c->tree, s->c->root, wish, LE_KTREE_SHARED, count,
                           le_ktree_call(s->c->tree, class, LE_KTREE_VOID, statics, NULL));
}

leat_status le_scan_make_columns(const struct le_mapping *m, void *found, struct le_generated_launches *out) {
    struct scan_team *s = found;
    (void)m;
    struct le_kernel_tree *t = s->c->tree;
    int side = s->threads / WARP / s->warps;
    begin_team(s);
    struct le_variable *room = share(s, LE_CALL_SCAN_LANES, "totals", s->warps, side);
    struct le_expression *warp = let(s, "warp", thread_over(s, WARP, LE_KTREE_INT));
    struct le_expression *warps = le_ktree_int(t, s->warps), *lanes = le_ktree_int(t, WARP);
    struct le_expression *own = le_ktree_quotient(t, warp, warps);
    struct le_expression *before = le_times(t, le_plus(t, first_point(s, side), own), lanes);
    struct le_expression *lane = le_ktree_remainder(t, le_ktree_thread(t, LE_THREAD_X), lanes);
    struct le_expression *active = bind_lane(s, let(s, "point", le_plus(t, before, lane)));
    emit_functions(s);
    struct le_expression *start = own_head(s);
    const struct le_static statics[] = {LE_STATIC_TYPE(s->g.type), LE_STATIC_NUMBER(s->g.unroll >= 4 ? SCAN_GROUP : 1),
                                        LE_STATIC_NUMBER(s->warps), LE_STATIC_TYPE(s->counting)};
    struct le_expression *x[] = {le_ktree_element(t, room, own),
                                 le_ktree_remainder(t, warp, warps),
                                 active,
                                 s->count,
                                 start,
                                 le_ktree_use(t, s->one),
                                 le_ktree_use(t, s->of),
                                 le_ktree_use(t, s->put_one)};
    le_do(t, t->root, LE_CALL_SCAN_COLUMNS, statics, x);
    int64_t points = (int64_t)side * WARP;
    return finish_launch(s, out, (s->points + points - 1) / points, 0,
                         s->warps > 1 ? "warps for each 32 rows, a thread each" : "a thread for each row");
}

/* A call whose last operands are the functions, after `count` others. last: its last static. */
static void call_scan(struct scan_team *s, enum le_library_call call, int last, struct le_expression *const *first,
                      int count) {
    struct le_kernel_tree *t = s->c->tree;
    const struct le_static statics[] = {LE_STATIC_TYPE(s->g.type),      LE_STATIC_TYPE((int)s->type),
                                        LE_STATIC_TYPE(s->result),      LE_STATIC_NUMBER(s->slot),
                                        LE_STATIC_NUMBER(s->g.width),   LE_STATIC_NUMBER(s->g.unroll),
                                        LE_STATIC_NUMBER(s->out_width), LE_STATIC_NUMBER(last)};
    struct le_variable *functions[] = {s->some, s->one, s->of, s->put, s->put_one};
    struct le_expression *x[8 + ARRAY_LEN(functions)];
    for (int k = 0; k < count; k++)
        x[k] = first[k];
    for (int k = 0; k < (int)ARRAY_LEN(functions); k++)
        x[count + k] = le_ktree_use(t, functions[k]);
    le_do(t, t->root, call, statics, x);
}

static struct le_variable *declare_tile(struct scan_team *s) {
    struct le_kernel_tree *t = s->c->tree;
    return le_ktree_object(t, t->root, "tile", LE_KTREE_DYNAMIC, 0,
                           le_ktree_call(t, LE_CALL_CHUNK, LE_KTREE_VOID, NULL, NULL));
}

leat_status le_scan_make_lanes(const struct le_mapping *m, void *found, struct le_generated_launches *out) {
    struct scan_team *s = found;
    (void)m;
    struct le_kernel_tree *t = s->c->tree;
    int rows = s->threads / s->lanes;
    begin_team(s);
    struct le_variable *tile = declare_tile(s);
    struct le_expression *point =
        let(s, "point", le_plus(t, first_point(s, rows), thread_over(s, s->lanes, LE_KTREE_UINT)));
    struct le_expression *active = bind_lane(s, point);
    emit_functions(s);
    struct le_expression *start = own_head(s), *count = le_ktree_cast(t, LE_KTREE_INT, s->count);
    count = let(s, "count", le_ktree_select(t, active, count, le_ktree_int(t, 0)));
    struct le_expression *own = le_times(t, thread_over(s, WARP, LE_KTREE_UINT), le_ktree_int(t, WARP * s->slot));
    struct le_expression *x[] = {le_ktree_address(t, le_ktree_element(t, tile, own)), count, start};
    call_scan(s, LE_CALL_SCAN_FEW, s->lanes, x, 3);
    return finish_launch(s, out, (s->points + rows - 1) / rows, (size_t)(s->threads * SCAN_GROUP * s->slot),
                         "some lanes for each row");
}

leat_status le_scan_make_block(const struct le_mapping *m, void *found, struct le_generated_launches *out) {
    struct scan_team *s = found;
    (void)m;
    struct le_kernel_tree *t = s->c->tree;
    begin_team(s);
    struct le_variable *tile = declare_tile(s), *room = share(s, LE_CALL_SCAN_ROOM, "room", s->groups, 0);
    le_team_bind(s->c, t->root, s->points_at, s->points_count, le_ktree_thread(t, LE_BLOCK_X), true);
    emit_functions(s);
    struct le_expression *start = block_head(s, NULL);
    struct le_expression *x[] = {le_ktree_use(t, tile), le_ktree_use(t, room), s->count, start};
    call_scan(s, LE_CALL_SCAN_ROW, s->groups, x, 4);
    return finish_launch(s, out, s->points, le_scan_tile_bytes(s), "a block for each row");
}

/* Rows go on side by side, so that what is before a tile has been there for long. */
leat_status le_scan_make_tiles(const struct le_mapping *m, void *found, struct le_generated_launches *out) {
    struct scan_team *s = found;
    (void)m;
    struct codegen *c = s->c;
    struct le_kernel_tree *t = c->tree;
    int64_t tile_terms = (int64_t)s->groups * SCAN_GROUP,
            tiles = (s->g.terms + tile_terms - 1) / tile_terms * s->points;
    size_t told_bytes = (size_t)tiles * 2 * (le_group_total_bytes(&s->g) / 4) * 8;
    int64_t work = (int64_t)(out->work_bytes + 15) / 16 * 16;
    begin_team(s);
    struct le_variable *tile = declare_tile(s), *room = share(s, LE_CALL_SCAN_ROOM, "room", s->groups, 0);
    struct le_variable *seen = share(s, LE_CALL_SCAN_SEEN, "seen", 0, 0);
    struct le_variable *next = le_codegen_parameter(c, LE_ARGUMENT_WORK, -1, work, LE_KTREE_UINT, "next");
    struct le_variable *told = le_codegen_parameter(c, LE_ARGUMENT_WORK, -1, work + 16, LE_KTREE_ULONG, "told");
    struct le_expression *first = le_ktree_use(t, next), *all = le_codegen_number(c, "points", s->points);
    struct le_expression *points = le_ktree_cast(t, LE_KTREE_UINT, all);
    struct le_expression *turn = let(s, "turn", le_ktree_call(t, LE_CALL_SCAN_TURN, LE_KTREE_UINT, NULL, &first));
    struct le_expression *number = let(s, "number", le_ktree_quotient(t, turn, points));
    struct le_expression *row = let(s, "row", le_minus(t, turn, le_times(t, number, points)));
    struct le_expression *words = le_ktree_call(t, LE_CALL_SCAN_WORDS, LE_KTREE_INT, &LE_STATIC_TYPE(s->g.type), NULL);
    struct le_expression *step = let(s, "step", le_times(t, le_ktree_int(t, 2), words));
    le_team_bind(c, c->root, s->points_at, s->points_count, row, true);
    emit_functions(s);
    struct le_expression *start = block_head(s, le_ktree_binary(t, LE_OP_EQ, number, le_ktree_int(t, 0)));
    struct le_expression *own = le_times(t, le_ktree_cast(t, LE_KTREE_LONG, turn), step);
    struct le_expression *x[] = {le_ktree_use(t, tile),
                                 le_ktree_use(t, room),
                                 le_ktree_use(t, seen),
                                 le_ktree_address(t, le_ktree_element(t, told, own)),
                                 number,
                                 le_times(t, all, step),
                                 s->count,
                                 start};
    call_scan(s, LE_CALL_SCAN_TILE, s->groups, x, 8);
    out->zeroed_bytes = out->work_bytes = (size_t)work + 16 + told_bytes;
    return finish_launch(s, out, tiles, le_scan_tile_bytes(s), "a block for each tile of the rows, which looks back");
}
