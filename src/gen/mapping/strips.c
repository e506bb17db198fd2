/* Strips of neighbouring columns that several passes run over: softmax or variances of rows whose elements lie apart.
 * Each thread keeps neighbouring elements of one column, as many as a power of two, so that its total is a complete
 * subtree; or the same elements of `vector` neighbouring columns, which it reads and writes as vectors. Kept lines in
 * registers are written out, those in shared memory are loops. */
#include "gen/mapping/row.h"

enum {
    AT_ONCE = STRIP_LINES_AT_ONCE, /* lines that values are computed of before the first one is stored */
    SUMMED_AT_ONCE = 8,            /* lines, at most, that sums join before they carry */
    VALUES_AT_ONCE = 16            /* the same of elements of all columns of a thread */
};

/* ---- where a thread is */

struct le_expression *le_strip_begin(struct row *r) {
    struct codegen *c = r->c;
    struct le_kernel_tree *t = c->tree;
    struct le_block *root = c->root;
    const struct row_shape *s = &r->shape;
    int across = s->strip / s->vector; /* threads side by side, each with its columns */
    struct le_expression *thread = le_to_int(t, le_ktree_thread(t, LE_THREAD_X)), *threads = le_ktree_int(t, across);
    struct le_expression *number = le_ktree_thread(t, LE_BLOCK_X);
    struct le_expression *column = le_let(t, root, "column", le_ktree_remainder(t, thread, threads));
    struct le_expression *part = le_ktree_quotient(t, thread, threads);
    if (s->cluster > 1) {
        struct le_expression *cluster = le_ktree_int(t, s->cluster);
        struct le_expression *rank = le_to_int(t, le_ktree_remainder(t, number, cluster));
        le_do(t, root, LE_CALL_CLUSTER_ARRIVE, NULL, NULL);
        part = le_plus(t, le_times_int(t, rank, s->threads / across), part);
        number = le_ktree_quotient(t, number, cluster);
    }
    part = le_let(t, root, "part", part);
    struct le_expression *points = le_codegen_number(c, "points", r->t->points / s->vector);
    struct le_expression *own = le_plus(t, le_times_int(t, le_to_long(t, number), across), column);
    own = le_let(t, root, "own", own);
    struct le_expression *inside = le_let(t, root, "inside", le_less(t, own, points));
    /* a thread without a column has no lines either, but its indices are those of the last one */
    struct le_expression *last = le_minus(t, points, le_ktree_int(t, 1));
    struct le_expression *point = le_let(t, root, "point", le_ktree_select(t, inside, own, last));
    r->base = le_let(t, root, "base", le_times_int(t, part, s->lines));
    struct le_expression *left = le_minus(t, le_group_count(c, &r->t->groups[0]), r->base), *none = le_ktree_int(t, 0);
    r->left = le_let(t, root, "left", le_ktree_select(t, inside, left, none));
    le_side_bind(c, &r->t->side, root, r->points_at, r->t->points_count, point, r->t->points <= INT32_MAX);
    return le_let(t, root, "after", le_ktree_select(t, inside, part, le_ktree_int(t, 1)));
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

/* `count` lines from `first` on, as far as the thread has them. */
static struct le_block *open_few(struct row *r, struct le_block *loop, struct le_expression *first, int count,
                                 struct le_expression **line) {
    struct le_kernel_tree *t = r->c->tree;
    struct le_expression *slot;
    struct le_block *few = le_ktree_open_each(t, loop, "slot", count, &slot);
    *line = le_let(t, few, "line", le_plus(t, first, slot));
    return r->steady ? le_ktree_open(t, few) : le_ktree_open_if(t, few, le_row_has(r, *line));
}

void le_strip_fetch_far(struct row *r) {
    struct le_expression *first, *line;
    int count = r->shape.near < SUMMED_AT_ONCE ? r->shape.near : SUMMED_AT_ONCE; /* sums read no others */
    struct le_block *loop = open_far(r, count, &first), *inside = open_few(r, loop, first, count, &line);
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
    int across = s->strip / s->vector;
    if (s->threads > across) {
        int totals = across < WARP ? s->threads / WARP * across : s->threads;
        const struct le_static statics[] = {LE_STATIC_NUMBER(across), LE_STATIC_NUMBER(s->threads)};
        struct le_expression *x[] = {total, le_ktree_use(t, room_of(r, g, "room", totals))};
        total = le_let(t, r->c->root, "of_block", le_ktree_call(t, LE_CALL_STRIP_JOIN, g->type, statics, x));
    }
    if (s->cluster > 1) {
        const struct le_static statics[] = {LE_STATIC_NUMBER(across), LE_STATIC_NUMBER(s->cluster)};
        struct le_expression *x[] = {total, le_ktree_use(t, room_of(r, g, "blocks", s->cluster * across))};
        total = le_ktree_call(t, LE_CALL_STRIP_CLUSTER_JOIN, g->type, statics, x);
    }
    return total;
}

void le_strip_group(struct row *r, int pass) {
    struct codegen *c = r->c;
    struct le_kernel_tree *t = c->tree;
    struct group *g = &r->t->groups[pass];
    int unroll = le_group_bytes(g) > 4 ? SUMMED_AT_ONCE / 2 : SUMMED_AT_ONCE, near = r->shape.near,
        vector = r->shape.vector;
    bool is_far = near < r->shape.lines;
    while (unroll > 1 && unroll * vector > VALUES_AT_ONCE)
        unroll /= 2;
    if (vector > 1)
        le_side_hold(c, g, c->root, g->bodies, g->node_count);
    struct le_variable *of_near = le_row_line_total(r, pass, LE_CALL_KEPT_GET, LE_CALL_KEPT_PUT), *of_far = of_near;
    if (is_far)
        of_far = le_row_line_total(r, pass, LE_CALL_KEPT_GET_FAR, LE_CALL_KEPT_PUT_FAR);
    const struct le_static statics[] = {LE_STATIC_TYPE(g->type), LE_STATIC_NUMBER(r->shape.lines),
                                        LE_STATIC_NUMBER(near), LE_STATIC_NUMBER(unroll < near ? unroll : near),
                                        LE_STATIC_NUMBER(r->whole)};
    struct le_expression *x[] = {r->left, le_ktree_use(t, of_near), le_ktree_use(t, of_far)};
    struct le_expression *total = le_ktree_call(t, LE_CALL_STRIP_TOTAL, g->type, statics, x);
    total = le_let(t, c->root, "of_thread", total);
    le_group_know(c, g, c->root, join_threads(r, g, total));
}

/* ---- values */

/* Reads what values use of a line, and opens a loop over its elements, one of each of the thread's columns. */
static struct le_block *open_line(struct row *r, struct le_block *block, enum le_library_call get,
                                  struct le_expression *number, struct le_expression **e) {
    struct row_line line = le_row_line(r, block, number);
    le_row_get(r, r->t->group_count, block, get, &line);
    le_row_bind_value(r, block, r->t->rest_at, line.at);
    return le_row_open_elements(r, r->t->group_count, block, &line, e);
}

/* Computes and stores the values of a line that the thread has. */
static void make_value(struct row *r, struct le_block *block, enum le_library_call get, struct le_expression *number) {
    struct le_expression *e;
    struct le_block *each = open_line(r, block, get, number, &e);
    le_codegen_store(r->c, le_codegen_node(r->c, r->value, each, NULL), each);
    le_ktree_close(r->c->tree, each);
}

static struct le_expression *line_from(struct row *r, struct le_block *block, struct le_expression *first,
                                       struct le_expression *slot) {
    return le_let(r->c->tree, block, "line", le_plus(r->c->tree, first, slot));
}

/* Opens a block for a line, if the thread has it. */
static struct le_block *open_if_there(struct row *r, struct le_block *block, struct le_expression *line) {
    return r->whole ? le_ktree_open(r->c->tree, block) : le_ktree_open_if(r->c->tree, block, le_row_has(r, line));
}

/* Computes the values of `count` lines from `first` on one by one and exactly, in short code. */
static void make_apart(struct row *r, struct le_block *block, struct le_expression *first, int count,
                       enum le_library_call get) {
    struct le_kernel_tree *t = r->c->tree;
    struct le_variable *variable = le_ktree_variable(t, "slot", LE_KTREE_INT);
    struct le_block *slots = le_ktree_open_loop(t, block, LE_ROLE_ROLLED, variable, le_ktree_int(t, 0),
                                                le_ktree_int(t, count), le_ktree_int(t, 1));
    struct le_expression *line = line_from(r, slots, first, le_ktree_use(t, variable));
    struct le_block *inside = open_if_there(r, slots, line);
    r->c->rare = inside;
    make_value(r, inside, get, line);
    r->c->rare = NULL;
    le_ktree_close_to(t, inside, block);
}

static void store_lines(struct row *r, struct le_block *block, struct le_expression *first, struct le_variable *out) {
    struct le_kernel_tree *t = r->c->tree;
    struct le_node target = le_codegen_target(r->c);
    struct le_expression *slot;
    struct le_block *each = le_ktree_open_each(t, block, "slot", out->extents[0], &slot);
    struct le_expression *line = line_from(r, each, first, slot);
    struct le_block *inside = open_if_there(r, each, line);
    le_row_bind_value(r, inside, r->t->rest_at, le_plus(t, r->base, line));
    if (r->shape.vector > 1)
        le_team_bind_one(r->c, inside, r->t->side.index, r->t->side.first, 0);
    struct le_expression *x[] = {le_ktree_address(t, le_codegen_trusted_place(r->c, &target, inside)),
                                 le_ktree_address(t, le_ktree_element(t, out, slot))};
    le_do(t, inside, LE_CALL_WRITE, &LE_STATIC_NUMBER(r->shape.vector), x);
    le_ktree_close_to(t, inside, block);
}

/* Computes the values of `count` lines from `first` on before it stores those that the thread has. rare: how a line is
 * read whose number is known when the program runs */
static void make_steady(struct row *r, struct le_block *block, struct le_expression *first, int count,
                        enum le_library_call get, enum le_library_call rare) {
    struct codegen *c = r->c;
    struct le_kernel_tree *t = c->tree;
    struct le_node target = le_codegen_target(c);
    struct le_expression *slot, *e;
    struct le_variable *out = le_group_array(c, block, &target, "out", count), *usual = NULL;
    out->extents[1] = r->shape.vector;
    out->axes = 2;
    if (r->quick)
        usual = le_ktree_declare(t, block, "usual", LE_BOOL, le_ktree_constant(t, LE_BOOL, 1));
    struct le_block *slots = le_ktree_open_each(t, block, "slot", count, &slot);
    c->quick = usual ? slots : NULL;
    c->usual = usual;
    struct le_block *each = open_line(r, slots, get, line_from(r, slots, first, slot), &e);
    struct le_expression *x = le_codegen_node(c, r->value, each, NULL);
    le_ktree_set(t, each, le_ktree_element2(t, out, slot, e), le_codegen_to_memory(c, x, (enum le_type)out->type));
    c->quick = NULL;
    le_ktree_close_to(t, each, block);
    struct le_block *counts = usual ? le_ktree_open_if(t, block, le_ktree_use(t, usual)) : le_ktree_open(t, block);
    store_lines(r, counts, first, out);
    le_ktree_close(t, counts);
    if (!usual)
        return;
    struct le_block *otherwise = le_ktree_open_else(t, block);
    make_apart(r, otherwise, first, count, rare);
    le_ktree_close(t, otherwise);
}

static void make_near(struct row *r) {
    struct le_kernel_tree *t = r->c->tree;
    struct le_expression *number;
    int near = r->shape.near, count = r->kept_bytes > 4 || r->shape.vector > 1 ? AT_ONCE : 2 * AT_ONCE;
    if (!r->steady) {
        struct le_block *lines = le_ktree_open_each(t, r->c->root, "line", near, &number);
        struct le_block *inside = le_ktree_open_if(t, lines, le_row_has(r, number));
        make_value(r, inside, LE_CALL_KEPT_GET, number);
        le_ktree_close_to(t, inside, r->c->root);
        return;
    }
    for (int first = 0; first < near; first += count) {
        struct le_expression *from = le_ktree_int(t, first);
        struct le_block *some = le_ktree_open_if(t, r->c->root, le_less(t, from, r->left));
        make_steady(r, some, from, count < near ? count : near, LE_CALL_KEPT_GET, LE_CALL_KEPT_GET_ANY);
        le_ktree_close(t, some);
    }
}

void le_strip_values(struct row *r) {
    struct le_kernel_tree *t = r->c->tree;
    struct le_expression *number, *first;
    if (r->shape.vector > 1)
        le_side_hold(r->c, &r->all, r->c->root, &r->value, 1);
    make_near(r);
    if (r->shape.near == r->shape.lines)
        return;
    struct le_block *loop = open_far(r, AT_ONCE, &first);
    if (r->steady) {
        make_steady(r, loop, first, AT_ONCE, LE_CALL_KEPT_GET_FAR, LE_CALL_KEPT_GET_FAR);
        le_ktree_close(t, loop);
        return;
    }
    struct le_block *inside = open_few(r, loop, first, AT_ONCE, &number);
    make_value(r, inside, LE_CALL_KEPT_GET_FAR, number);
    le_ktree_close_to(t, inside, r->c->root);
}
