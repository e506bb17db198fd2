/* Strips of neighbouring columns that several passes run over: softmax or variances of rows whose elements lie apart.
 * Each thread keeps neighbouring elements of one column, as many as a power of two, so that its total is a complete
 * subtree. Kept lines in registers are written out, those in shared memory are loops. */
#include "gen/mapping/row.h"

enum { AT_ONCE = 4 }; /* lines in shared memory that values are computed of before the first one is stored */

/* ---- where a thread is */

struct le_expression *le_strip_begin(struct row *r) {
    struct codegen *c = r->c;
    struct le_kernel_tree *t = c->tree;
    struct le_block *root = c->root;
    const struct row_shape *s = &r->shape;
    struct le_expression *thread = le_to_int(t, le_ktree_thread(t, LE_THREAD_X)), *strip = le_ktree_int(t, s->strip);
    struct le_expression *number = le_ktree_thread(t, LE_BLOCK_X);
    struct le_expression *column = le_let(t, root, "column", le_ktree_remainder(t, thread, strip));
    struct le_expression *part = le_ktree_quotient(t, thread, strip);
    if (s->cluster > 1) {
        struct le_expression *cluster = le_ktree_int(t, s->cluster);
        struct le_expression *rank = le_to_int(t, le_ktree_remainder(t, number, cluster));
        le_do(t, root, LE_CALL_CLUSTER_ARRIVE, NULL, NULL);
        part = le_plus(t, le_times_int(t, rank, s->threads / s->strip), part);
        number = le_ktree_quotient(t, number, cluster);
    }
    part = le_let(t, root, "part", part);
    struct le_expression *points = le_codegen_number(c, "points", r->t->points);
    struct le_expression *own = le_plus(t, le_times_int(t, le_to_long(t, number), s->strip), column);
    own = le_let(t, root, "own", own);
    r->inside = le_let(t, root, "inside", le_less(t, own, points));
    /* a thread without a column has no lines either, but its indices are those of the last one */
    struct le_expression *last = le_minus(t, points, le_ktree_int(t, 1));
    struct le_expression *point = le_let(t, root, "point", le_ktree_select(t, r->inside, own, last));
    r->base = le_let(t, root, "base", le_times_int(t, part, s->lines));
    struct le_expression *left = le_minus(t, le_group_count(c, &r->t->groups[0]), r->base), *none = le_ktree_int(t, 0);
    r->left = le_let(t, root, "left", le_ktree_select(t, r->inside, left, none));
    le_team_bind(c, root, r->points_at, r->t->points_count, point, r->t->points <= INT32_MAX);
    return le_let(t, root, "after", le_ktree_select(t, r->inside, part, le_ktree_int(t, 1)));
}

/* ---- lines in shared memory */

/* The end of the lines that the thread has. */
static struct le_expression *end_of_lines(struct row *r) {
    struct le_kernel_tree *t = r->c->tree;
    struct le_expression *lines = le_ktree_int(t, r->shape.lines);
    return le_ktree_select(t, le_less(t, r->left, lines), r->left, lines);
}

static struct le_block *open_far(struct row *r, int step, struct le_expression **first) {
    struct le_kernel_tree *t = r->c->tree;
    struct le_variable *variable = le_ktree_variable(t, "first", LE_KTREE_INT);
    struct le_expression *end = le_let(t, r->c->root, "end", end_of_lines(r));
    *first = le_ktree_use(t, variable);
    return le_ktree_open_loop(t, r->c->root, LE_ROLE_ROLLED, variable, le_ktree_int(t, r->shape.near), end,
                              le_ktree_int(t, step));
}

/* Lines `first` to first + AT_ONCE, as far as the thread has them. */
static struct le_block *open_few(struct row *r, struct le_block *loop, struct le_expression *first,
                                 struct le_expression **line) {
    struct le_kernel_tree *t = r->c->tree;
    struct le_expression *slot;
    struct le_block *few = le_ktree_open_each(t, loop, "slot", AT_ONCE, &slot);
    *line = le_let(t, few, "line", le_plus(t, first, slot));
    return le_ktree_open_if(t, few, le_row_has(r, *line));
}

void le_strip_fetch_far(struct row *r) {
    struct le_expression *first, *line;
    struct le_block *loop = open_far(r, AT_ONCE, &first), *inside = open_few(r, loop, first, &line);
    le_row_fetch_line(r, inside, LE_CALL_KEPT_FETCH_FAR, line, le_row_line(r, inside, line).at);
    le_ktree_close_to(r->c->tree, inside, r->c->root);
}

/* ---- totals */

static struct le_variable *room_of(struct row *r, const struct group *g, const char *name, int totals) {
    return le_ktree_array(r->c->tree, r->c->root, name, g->type, LE_KTREE_SHARED, totals, 0);
}

/* Joins the totals of the threads that share a column. */
static struct le_expression *join_threads(struct row *r, const struct group *g, struct le_expression *total) {
    struct le_kernel_tree *t = r->c->tree;
    const struct row_shape *s = &r->shape;
    if (s->threads > s->strip) {
        int totals = s->strip < WARP ? s->threads / WARP * s->strip : s->threads;
        const struct le_static statics[] = {LE_STATIC_NUMBER(s->strip), LE_STATIC_NUMBER(s->threads)};
        struct le_expression *x[] = {total, le_ktree_use(t, room_of(r, g, "room", totals))};
        total = le_let(t, r->c->root, "of_block", le_ktree_call(t, LE_CALL_STRIP_JOIN, g->type, statics, x));
    }
    if (s->cluster > 1) {
        const struct le_static statics[] = {LE_STATIC_NUMBER(s->strip), LE_STATIC_NUMBER(s->cluster)};
        struct le_expression *x[] = {total, le_ktree_use(t, room_of(r, g, "blocks", s->cluster * s->strip))};
        total = le_ktree_call(t, LE_CALL_STRIP_CLUSTER_JOIN, g->type, statics, x);
    }
    return total;
}

void le_strip_group(struct row *r, int pass) {
    struct codegen *c = r->c;
    struct le_kernel_tree *t = c->tree;
    struct group *g = &r->t->groups[pass];
    int unroll = le_group_bytes(g) > 4 ? 4 : 8, near = r->shape.near;
    bool is_far = near < r->shape.lines;
    struct le_variable *of_near = le_row_line_total(r, pass, LE_CALL_KEPT_GET, LE_CALL_KEPT_PUT), *of_far = of_near;
    if (is_far)
        of_far = le_row_line_total(r, pass, LE_CALL_KEPT_GET_FAR, LE_CALL_KEPT_PUT_FAR);
    const struct le_static statics[] = {LE_STATIC_TYPE(g->type), LE_STATIC_NUMBER(r->shape.lines),
                                        LE_STATIC_NUMBER(near), LE_STATIC_NUMBER(unroll < near ? unroll : near)};
    struct le_expression *x[] = {r->left, le_ktree_use(t, of_near), le_ktree_use(t, of_far)};
    struct le_expression *total = le_ktree_call(t, LE_CALL_STRIP_TOTAL, g->type, statics, x);
    total = le_let(t, c->root, "of_thread", total);
    le_group_know(c, g, c->root, join_threads(r, g, total));
}

/* ---- values */

static void make_value(struct row *r, struct le_block *block, enum le_library_call get, struct le_expression *number) {
    struct codegen *c = r->c;
    struct le_kernel_tree *t = c->tree;
    struct le_expression *e;
    struct row_line line = le_row_line(r, block, number);
    le_row_get(r, r->t->group_count, block, get, &line);
    struct le_block *each = le_row_open_elements(r, r->t->group_count, block, &line, &e);
    le_team_bind_one(c, each, r->t->rest_at[0], le_plus(t, line.at, e), 0);
    le_codegen_store(c, le_codegen_node(c, r->value, each, NULL), each);
    le_ktree_close(t, each);
}

void le_strip_values(struct row *r) {
    struct le_kernel_tree *t = r->c->tree;
    struct le_expression *number, *first;
    struct le_block *lines = le_ktree_open_each(t, r->c->root, "line", r->shape.near, &number);
    struct le_block *inside = le_ktree_open_if(t, lines, le_row_has(r, number));
    make_value(r, inside, LE_CALL_KEPT_GET, number);
    le_ktree_close_to(t, inside, r->c->root);
    if (r->shape.near == r->shape.lines)
        return;
    struct le_block *loop = open_far(r, AT_ONCE, &first);
    inside = open_few(r, loop, first, &number);
    make_value(r, inside, LE_CALL_KEPT_GET_FAR, number);
    le_ktree_close_to(t, inside, r->c->root);
}
