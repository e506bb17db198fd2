/* Short rows: some lanes of a warp for each row, several rows of neighbouring points at once. Each lane reads its terms
 * of all these rows before any total is joined, so that short rows keep as many bytes in flight as long ones. The lanes
 * of a row take its vectors in turn; a round of them, a *line*, is a complete subtree of the sum's tree. */
#include "gen/mapping/group_reduce.h"

enum { BLOCK_THREADS = 256, LINES_MOST = 8 };

static int power_from(int64_t n) {
    int power = 1;
    while (power < n)
        power *= 2;
    return power;
}

int le_lanes_width(const struct group *g) {
    int width = g->width;
    while (g->terms % width != 0)
        width /= 2;
    return width;
}

int le_lanes_of_row(const struct team_stage *t) {
    int lanes = 1;
    for (int g = 0; g < t->group_count; g++) {
        int64_t vectors = t->groups[g].terms / le_lanes_width(&t->groups[g]);
        if (t->groups[g].chain || vectors == 0 || vectors > WARP / 2)
            return WARP;
        lanes = power_from(vectors) > lanes ? power_from(vectors) : lanes;
    }
    return lanes;
}

bool le_lanes_find(const struct team_stage *t, struct lanes *l) {
    const struct group *g = &t->groups[0];
    if (t->group_count > 1 || t->rest_count > 0 || g->chain || g->terms == 0 || g->terms > LINES_MOST * WARP * g->width)
        return false;
    l->width = le_lanes_width(g);
    int64_t vectors = g->terms / l->width;
    l->lanes = vectors < WARP ? power_from(vectors) : WARP;
    l->lines = power_from((vectors + l->lanes - 1) / l->lanes);
    l->rows = g->unroll / l->lines < l->lanes / l->lines ? g->unroll / l->lines : l->lanes / l->lines;
    return l->rows > 0;
}

struct kernel {
    struct codegen *c;
    struct team_stage *t;
    struct lanes l;
    struct le_expression *lane, *first; /* of the row's lanes; the first row's point */
    struct le_variable *some;           /* by row and line: the lane's total */
};

static struct le_expression *points_of(struct kernel *k) {
    return le_codegen_number(k->c, "points", k->t->points);
}

static void begin(struct kernel *k) {
    struct le_kernel_tree *t = k->c->tree;
    struct le_expression *thread = le_to_int(t, le_ktree_thread(t, LE_THREAD_X)), *lanes = le_ktree_int(t, k->l.lanes);
    struct le_expression *in_block = le_ktree_quotient(t, le_ktree_thread(t, LE_THREADS_X), lanes);
    struct le_expression *before = le_times(t, le_to_long(t, le_ktree_thread(t, LE_BLOCK_X)), in_block);
    struct le_expression *team = le_plus(t, before, le_ktree_quotient(t, thread, lanes));
    k->lane = le_let(t, k->c->root, "lane", le_ktree_remainder(t, thread, lanes));
    k->first = le_let(t, k->c->root, "first", le_times_int(t, team, k->l.rows));
}

/* Binds the indices of the row's point; beyond the last one, those of the last one. */
static void bind_row(struct kernel *k, struct le_block *block, struct le_expression *own) {
    struct le_kernel_tree *t = k->c->tree;
    struct le_expression *last = le_minus(t, points_of(k), le_ktree_int(t, 1));
    own = le_let(t, block, "own", own);
    struct le_expression *point = le_let(t, block, "point", le_ktree_select(t, le_less(t, own, last), own, last));
    le_team_bind(k->c, block, k->t->points_at, k->t->points_count, point, k->t->points <= INT32_MAX);
}

static struct le_expression *at_row(struct kernel *k, struct le_expression *row) {
    return le_plus(k->c->tree, k->first, le_to_long(k->c->tree, row));
}

/* The lane's total of one line of a row. */
static void total_line(struct kernel *k, struct le_block *block, struct le_expression *row, struct le_expression *line,
                       struct le_expression *at) {
    struct le_kernel_tree *t = k->c->tree;
    struct group *g = &k->t->groups[0];
    bind_row(k, block, at_row(k, row));
    le_group_functions(k->c, g, block);
    struct le_expression *x[] = {le_ktree_use(t, g->many), le_ktree_cast(t, le_group_counting(g), at)};
    struct le_expression *number = le_plus(t, le_times_int(t, row, k->l.lines), line);
    le_ktree_set(t, block, le_ktree_element(t, k->some, number), le_ktree_call(t, LE_CALL_APPLY, g->type, NULL, x));
}

static void read_lines(struct kernel *k) {
    struct le_kernel_tree *t = k->c->tree;
    struct group *g = &k->t->groups[0];
    struct le_expression *line, *row;
    struct le_block *lines = le_ktree_open_each(t, k->c->root, "line", k->l.lines, &line);
    struct le_expression *vector = le_plus(t, k->lane, le_times_int(t, line, k->l.lanes));
    struct le_expression *at = le_let(t, lines, "at", le_times_int(t, vector, k->l.width));
    struct le_block *inside = le_ktree_open_if(t, lines, le_less(t, at, le_group_count(k->c, g)));
    struct le_block *rows = le_ktree_open_each(t, inside, "row", k->l.rows, &row);
    total_line(k, rows, row, line, at);
    le_ktree_close(t, rows);
    le_ktree_close(t, inside);
    struct le_block *outside = le_ktree_open_else(t, lines);
    struct le_block *none = le_ktree_open_each(t, outside, "row", k->l.rows, &row);
    struct le_expression *number = le_plus(t, le_times_int(t, row, k->l.lines), line);
    le_ktree_set(t, none, le_ktree_element(t, k->some, number),
                 le_ktree_call(t, LE_CALL_NONE, g->type, &LE_STATIC_TYPE(g->type), NULL));
    le_ktree_close_to(t, none, k->c->root);
}

/* Joins the totals. Then the lanes have those of one row each, `lines` neighbours the same one; the first of these
 * stores the row's values. */
static void store_rows(struct kernel *k) {
    struct le_kernel_tree *t = k->c->tree;
    struct group *g = &k->t->groups[0];
    const struct le_static statics[] = {LE_STATIC_TYPE(g->type), LE_STATIC_NUMBER(k->l.lanes),
                                        LE_STATIC_NUMBER(k->l.lines)};
    struct le_expression *some = le_ktree_use(t, k->some);
    struct le_expression *total = le_ktree_call(t, LE_CALL_LANES_TOTAL, g->type, statics, &some);
    total = le_let(t, k->c->root, "all", total);
    struct le_expression *lines = le_ktree_int(t, k->l.lines), *end = le_ktree_int(t, k->l.rows * k->l.lines);
    struct le_expression *own = at_row(k, le_ktree_quotient(t, k->lane, lines));
    struct le_expression *is_first =
        le_ktree_binary(t, LE_OP_EQ, le_ktree_remainder(t, k->lane, lines), le_ktree_int(t, 0));
    struct le_expression *has = le_ktree_binary(t, LE_OP_LAND, le_less(t, k->lane, end), is_first);
    has = le_ktree_binary(t, LE_OP_LAND, has, le_less(t, own, points_of(k)));
    struct le_block *block = le_ktree_open_if(t, k->c->root, has);
    le_team_bind(k->c, block, k->t->points_at, k->t->points_count, le_let(t, block, "own", own),
                 k->t->points <= INT32_MAX);
    le_group_know(k->c, g, block, total);
    le_team_store(k->c, k->t, block, TEAM_ALL);
    le_ktree_close(t, block);
}

leat_status le_reduce_lanes(const struct le_mapping *m, void *found, struct le_generated_launches *out) {
    struct reduction *r = found;
    struct group *g = &r->t.groups[0];
    struct kernel k = {.c = &r->c, .t = &r->t};
    le_lanes_find(&r->t, &k.l);
    k.l.rows = (int)le_mapping_get(m, "rows");
    g->width = k.l.width;
    r->c.tree->threads = r->c.tree->resident = 0;
    begin(&k);
    le_group_declare(&r->c, g);
    k.some = le_ktree_array(r->c.tree, r->c.root, "some", g->type, LE_KTREE_LOCAL, k.l.rows * k.l.lines, 0);
    read_lines(&k);
    store_rows(&k);
    int64_t teams = (r->t.points + k.l.rows - 1) / k.l.rows;
    int threads = le_codegen_block_threads(&r->c, teams * k.l.lanes, BLOCK_THREADS);
    int64_t rows = (int64_t)threads / k.l.lanes * k.l.rows;
    const char *how =
        le_arena_format(r->c.arena, "%d lanes of a warp for each row, %d rows at once", k.l.lanes, k.l.rows);
    le_reduce_launch(&r->c, &r->t, out, threads, (r->t.points + rows - 1) / rows, 1, how);
    return r->c.status;
}
