/* Rows that several passes run over (softmax, layer norms, variances). Each row is read once and kept in the registers
 * of a warp or a thread block, and beyond these in shared memory. The terms of a warp form a complete subtree: its
 * lines of 32 * width. */
#include "gen/mapping/row.h"

/* ---- lines */

/* From a thread's element of a line to that of its next line. */
static int line_step(const struct row *r) {
    return r->shape.strip ? 1 : WARP * r->all.width;
}

/* Of threads that have several columns. */
static bool has_side(const struct row *r) {
    return r->t->side.width > 1;
}

static bool is_split(const struct row *r, bool of_values) {
    return r->split == ROW_SPLIT || (r->split == ROW_SPLIT_VALUES && of_values);
}

/* Splits the place and binds all but the last index, whose place it gives. The values' own indices have the counts of
 * the groups'. */
static struct le_expression *bind_first(struct row *r, struct le_block *block, const int *indices,
                                        struct le_expression *place) {
    struct le_expression *extents[AXES_MAX] = {NULL}, *places[AXES_MAX];
    int last = r->all.index_count - 1;
    for (int k = 1; k <= last; k++)
        extents[k] =
            le_codegen_index_number(r->c, r->all.indices[k], "count",
                                    le_range_count(le_range_of(r->c->space, r->all.indices[k])), LE_KTREE_LONG);
    le_codegen_split(r->c, block, place, LE_KTREE_UINT, extents, last + 1, places);
    for (int k = 0; k < last; k++)
        le_team_bind_one(r->c, block, indices[k], places[k], 0);
    return places[last];
}

/* Of an element of a line: `first` is what bind_first gave, or the place in the row. */
static void bind_last(struct row *r, struct le_block *block, const int *indices, struct le_expression *first,
                      bool split) {
    int last = r->all.index_count - 1;
    for (int k = 0; k < last && !split; k++)
        le_team_bind_one(r->c, block, indices[k], NULL, 0);
    le_team_bind_one(r->c, block, indices[last], first, split || last == 0 ? 0 : r->all.terms);
}

static void bind_all(struct row *r, struct le_block *block, const int *indices, struct le_expression *place,
                     bool split) {
    bind_last(r, block, indices, split ? bind_first(r, block, indices, place) : place, split);
}

void le_row_bind(struct row *r, struct le_block *block, const int *indices, struct le_expression *place) {
    bind_all(r, block, indices, place, is_split(r, false));
    if (has_side(r))
        le_team_bind_one(r->c, block, r->t->side.index, r->t->side.first, 0);
}

void le_row_bind_value(struct row *r, struct le_block *block, const int *indices, struct le_expression *place) {
    bind_all(r, block, indices, place, is_split(r, true));
}

struct row_line le_row_line(struct row *r, struct le_block *block, struct le_expression *number) {
    struct le_kernel_tree *t = r->c->tree;
    struct le_expression *turned = r->turn ? le_ktree_binary(t, LE_OP_XOR, number, r->turn) : number;
    if (r->steady && !r->whole)
        turned = le_ktree_select(t, le_row_has(r, number), number, le_ktree_int(t, 0));
    struct le_expression *before = le_times_int(t, turned, line_step(r));
    struct le_expression *at = le_let(t, block, "at", le_plus(t, r->base, before));
    return (struct row_line){.number = number, .at = at};
}

struct le_expression *le_row_has(struct row *r, struct le_expression *number) {
    struct le_kernel_tree *t = r->c->tree;
    int step = r->lines ? 1 : line_step(r);
    return le_less(t, step == 1 ? number : le_times_int(t, number, step), r->lines ? r->lines : r->left);
}

/* For a line of what the pass reads of the load, or of what is kept in place of it. */
static struct le_variable *line_array(struct row *r, struct le_block *block, int load, bool late) {
    struct le_variable *array = le_group_array(r->c, block, r->loads[load], late ? "late" : "line", r->all.width);
    if (late)
        array->type = (int)r->late->type;
    return array;
}

void le_row_get(struct row *r, int pass, struct le_block *block, enum le_library_call get, struct row_line *line) {
    struct codegen *c = r->c;
    struct le_kernel_tree *t = c->tree;
    struct le_block *first = le_ktree_open(t, block);
    le_row_bind(r, first, r->all.indices, line->at);
    for (int k = 0; k < r->load_count; k++) {
        if (!r->read[pass][k])
            continue;
        if (line->slot && r->ahead[k]) {
            line->some[k] = r->ahead[k];
            continue;
        }
        line->some[k] = line_array(r, first, k, r->late && k == r->late_load && pass > r->late_group);
        struct le_expression *to = le_ktree_use(t, line->some[k]);
        if (r->kept[k]) {
            struct le_expression *x[] = {le_ktree_use(t, r->objects[k]), line->number, to};
            le_do(t, first, get, NULL, x);
        } else {
            le_group_read(c, first, r->loads[k], r->all.width, to);
        }
    }
    le_ktree_close(t, first);
}

void le_row_know(struct row *r, int pass, struct le_block *each, const struct row_line *line, struct le_expression *e) {
    for (int k = 0; k < r->load_count; k++) {
        struct le_variable *some = line->some[k];
        if (!some)
            continue;
        struct le_expression *x = some->axes == 2 ? le_ktree_element2(r->c->tree, some, line->slot, e)
                                                  : le_ktree_element(r->c->tree, some, e);
        if (r->late && k == r->late_load && pass > r->late_group)
            le_codegen_know(r->c, r->late, each, x);
        else
            le_group_know_read(r->c, r->loads[k], each, x);
    }
}

struct le_block *le_row_open_elements(struct row *r, int pass, struct le_block *block, const struct row_line *line,
                                      struct le_expression **e) {
    const int *indices = r->all.indices;
    const bool split = is_split(r, pass == r->t->group_count);
    struct le_block *each;
    if (has_side(r)) {
        bind_all(r, block, indices, line->at, split);
        each = le_side_open_each(r->c, &r->t->side, block, e);
    } else {
        struct le_expression *first = split ? bind_first(r, block, indices, line->at) : line->at;
        each = le_ktree_open_each(r->c->tree, block, "e", r->all.width, e);
        bind_last(r, each, indices, le_plus(r->c->tree, first, *e), split);
    }
    le_row_know(r, pass, each, line, *e);
    return each;
}

/* ---- what is kept */

void le_row_fetch_line(struct row *r, struct le_block *block, enum le_library_call fetch, struct le_expression *number,
                       struct le_expression *at) {
    struct le_kernel_tree *t = r->c->tree;
    le_row_bind(r, block, r->all.indices, at);
    for (int k = 0; k < r->load_count; k++) {
        if (!r->kept[k])
            continue;
        struct le_expression *place = le_codegen_trusted_place(r->c, r->loads[k], block);
        struct le_expression *x[] = {le_ktree_use(t, r->objects[k]), number, le_ktree_address(t, place)};
        le_do(t, block, fetch, NULL, x);
    }
}

/* With many lines there is no branch between them: instead of a line beyond the row's end the thread reads its first
 * line again. */
static void fetch_rows(struct row *r) {
    struct le_kernel_tree *t = r->c->tree;
    struct le_expression *number, *zero = le_ktree_int(t, 0);
    bool always = r->rolled || r->steady;
    struct le_block *some = always
                                ? le_ktree_open_if(t, r->c->root, le_greater(t, r->steady ? r->left : r->lines, zero))
                                : le_ktree_open(t, r->c->root);
    int count = r->shape.strip ? r->shape.near : r->shape.lines;
    struct le_block *lines = le_ktree_open_each(t, some, "line", count, &number);
    struct le_expression *has = le_row_has(r, number);
    struct row_line from = le_row_line(r, lines, r->rolled ? le_ktree_select(t, has, number, zero) : number);
    struct le_block *inside = always ? le_ktree_open(t, lines) : le_ktree_open_if(t, lines, has);
    le_row_fetch_line(r, inside, LE_CALL_KEPT_FETCH, number, from.at);
    le_ktree_close_to(t, inside, t->root);
    if (r->shape.strip && r->shape.near < r->shape.lines)
        le_strip_fetch_far(r);
}

/* Declares the object that keeps a load's lines as elements of the type. far: the array in shared memory for lines that
 * do not fit in registers (NULL: none). far_bytes: bytes per thread that other loads use of it */
static struct le_variable *declare_kept(struct row *r, const struct le_node *load, enum le_type type,
                                        struct le_variable *far, int64_t far_bytes) {
    struct le_kernel_tree *t = r->c->tree;
    const struct le_value *v = &r->c->ir->values.at[load->value];
    const struct le_static statics[] = {LE_STATIC_TYPE((int)type), LE_STATIC_NUMBER(r->all.width),
                                        LE_STATIC_NUMBER(r->shape.near)};
    struct le_variable *kept =
        le_ktree_declare(t, r->c->root, le_arena_format(r->c->arena, "%s_kept", v->name), LE_KTREE_VOID, NULL);
    kept->object = le_ktree_call(t, LE_CALL_KEPT, LE_KTREE_VOID, statics, NULL);
    if (far) {
        struct le_expression *x[] = {le_ktree_use(t, kept), le_ktree_use(t, far), le_ktree_long(t, far_bytes),
                                     le_ktree_int(t, r->shape.lines - r->shape.near)};
        le_do(t, r->c->root, LE_CALL_KEPT_FAR, NULL, x);
    }
    return kept;
}

static void keep_rows(struct row *r) {
    struct codegen *c = r->c;
    struct le_kernel_tree *t = c->tree;
    struct le_variable *far = NULL;
    int64_t far_bytes = 0; /* per thread, used so far */
    if (r->shape.near < r->shape.lines) {
        far = le_ktree_array(t, c->root, "far", LE_KTREE_VOID, LE_KTREE_DYNAMIC, 0, 0);
        far->object = le_ktree_call(t, LE_CALL_CHUNK, LE_KTREE_VOID, NULL, NULL);
    }
    for (int k = 0; k < r->load_count; k++) {
        if (!r->kept[k])
            continue;
        enum le_type type = c->ir->values.at[r->loads[k]->value].type;
        r->objects[k] = declare_kept(r, r->loads[k], type, far, far_bytes);
        far_bytes += (int64_t)(r->shape.lines - r->shape.near) * r->all.width * (int64_t)le_type_size(type);
        if (r->late && r->late_load == k)
            r->late_object =
                r->late->type == type ? r->objects[k] : declare_kept(r, r->loads[k], r->late->type, NULL, 0);
    }
    fetch_rows(r);
    if (far)
        le_do(t, c->root, LE_CALL_FETCHED, NULL, NULL);
    if (r->shape.cluster > 1)
        le_do(t, c->root, LE_CALL_CLUSTER_WAIT, NULL, NULL);
}

/* ---- passes */

/* Computes the group's totals from those that the function returns for each line. */
static void join_lines(struct row *r, struct group *g, struct le_variable *line_total) {
    struct codegen *c = r->c;
    struct le_kernel_tree *t = c->tree;
    int lines = r->shape.lines, unroll = le_group_bytes(g) > 4 ? 4 : 8;
    const struct le_static statics[] = {LE_STATIC_TYPE(g->type), LE_STATIC_NUMBER(lines),
                                        LE_STATIC_NUMBER(lines < unroll ? lines : unroll)};
    struct le_expression *of_line = le_ktree_use(t, line_total);
    struct le_expression *total = le_ktree_call(t, LE_CALL_ROW_TOTAL, g->type, statics, &of_line);
    if (r->shape.rows == 1) {
        int cluster = r->shape.cluster, totals = cluster * r->shape.most_threads / WARP;
        struct le_variable *room =
            le_ktree_array(t, c->root, "room", g->type, LE_KTREE_SHARED, totals < WARP ? WARP : totals, 0);
        struct le_expression *x[] = {total, le_ktree_use(t, room)};
        total = le_ktree_call(t, cluster > 1 ? LE_CALL_CLUSTER_JOIN : LE_CALL_BLOCK_JOIN, g->type,
                              &LE_STATIC_NUMBER(cluster), x);
    }
    le_group_know(c, g, c->root, total);
}

struct le_variable *le_row_line_total(struct row *r, int pass, enum le_library_call get, enum le_library_call put) {
    struct codegen *c = r->c;
    struct le_kernel_tree *t = c->tree;
    struct group *g = &r->t->groups[pass];
    struct le_variable *late = NULL, *function;
    struct le_expression *number, *e;
    struct le_block *block =
        le_ktree_open_function_of(t, c->root, "line_total", g->type, "line", LE_KTREE_INT, &function, &number);
    struct row_line line = le_row_line(r, block, number);
    if (!r->steady) {
        struct le_block *outside = le_ktree_open_if(t, block, le_ktree_not(t, le_row_has(r, number)));
        le_ktree_close_with(t, outside, le_ktree_call(t, LE_CALL_NONE, g->type, &LE_STATIC_TYPE(g->type), NULL));
    }
    struct le_variable *some = le_ktree_array(t, block, "some", g->one, LE_KTREE_LOCAL, r->all.width, 0);
    if (r->late && r->late_group == pass)
        late = line_array(r, block, r->late_load, true);
    le_row_get(r, pass, block, get, &line);
    struct le_block *each = le_row_open_elements(r, pass, block, &line, &e);
    le_ktree_set(t, each, le_ktree_element(t, some, e),
                 le_group_total(c, g, each, has_side(r) ? line.at : le_plus(t, line.at, e)));
    if (late)
        le_ktree_set(t, each, le_ktree_element(t, late, e), le_codegen_node(c, r->late, each, NULL));
    le_ktree_close(t, each);
    if (late) {
        struct le_expression *x[] = {le_ktree_use(t, r->late_object), number, le_ktree_use(t, late)};
        le_do(t, block, put, NULL, x);
        r->objects[r->late_load] = r->late_object; /* for the passes that follow */
    }
    if (has_side(r)) {
        struct le_expression *all = le_ktree_use(t, some);
        le_ktree_close_with(t, block, le_ktree_call(t, LE_CALL_SEVERAL, g->type, &LE_STATIC_TYPE(g->type), &all));
    } else {
        le_group_return_joined(c, g, block, some);
    }
    return function;
}

/* ---- the kernel */

/* Stores the values of which there is one per row. */
static void emit_one(struct row *r, struct le_expression *own) {
    struct codegen *c = r->c;
    le_ktree_end_if(c->tree, c->root, le_ktree_binary(c->tree, LE_OP_NE, own, le_ktree_int(c->tree, 0)));
    le_team_store_points(c, r->t, c->root, TEAM_ALL);
}

/* Computes how many lines the thread has. Only a warp that has all lines may start in the middle. */
static void name_lines(struct row *r, struct le_expression *lane, struct le_expression *point) {
    struct le_kernel_tree *t = r->c->tree;
    int line = WARP * r->all.width, lines = r->shape.lines;
    struct le_expression *most = le_ktree_int(t, (int64_t)(lines - 1) * line), *left = r->left;
    struct le_expression *some = le_ktree_quotient(t, le_plus(t, left, le_ktree_int(t, line - 1)),
                                                   le_ktree_int(t, line)); /* valid if it has any */
    some = le_ktree_select(t, le_greater(t, left, most), le_ktree_int(t, lines), some);
    some = le_ktree_select(t, le_ktree_binary(t, LE_OP_LE, left, le_ktree_int(t, 0)), le_ktree_int(t, 0), some);
    r->lines = le_let(t, r->c->root, "lines", some);
    if (!r->reads)
        return;
    struct le_expression *before = le_times_int(t, le_minus(t, lane, le_ktree_int(t, WARP - 1)), r->all.width);
    struct le_expression *odd = le_to_int(t, le_ktree_remainder(t, point, le_ktree_int(t, 2)));
    r->turn = le_let(t, r->c->root, "turn",
                     le_ktree_select(t, le_greater(t, le_plus(t, left, before), most), le_times_int(t, odd, lines / 2),
                                     le_ktree_int(t, 0)));
}

/* A warp for each row: computes the row's number and the position of the thread's first element. */
static struct le_expression *begin_warp(struct row *r, struct le_expression *lane) {
    struct le_kernel_tree *t = r->c->tree;
    struct le_block *root = r->c->root;
    struct le_expression *block = le_to_long(t, le_ktree_thread(t, LE_BLOCK_X));
    struct le_expression *warp = le_ktree_quotient(t, le_ktree_thread(t, LE_THREAD_X), le_ktree_int(t, WARP));
    struct le_expression *warps = le_ktree_quotient(t, le_ktree_thread(t, LE_THREADS_X), le_ktree_int(t, WARP));
    struct le_expression *point = le_let(t, root, "point", le_plus(t, le_times(t, block, warps), warp));
    le_ktree_end_if(t, root, le_at_least(t, point, le_codegen_number(r->c, "points", r->t->points)));
    /* A product even if the width is 1: from `base = lane` NVRTC makes other code, which has up to a tenth more
     * instructions. */
    struct le_expression *x[] = {lane, le_ktree_int(t, r->all.width)};
    r->base = le_let(t, root, "base", le_ktree_op(t, LE_OP_MUL, LE_KTREE_INT, x, 2));
    return point;
}

/* The same for a thread block or a cluster. *own: the thread's number among the row's threads */
static struct le_expression *begin_block(struct row *r, struct le_expression *lane, struct le_expression **own) {
    struct le_kernel_tree *t = r->c->tree;
    struct le_block *root = r->c->root;
    struct le_expression *number = le_ktree_thread(t, LE_BLOCK_X);
    *own = le_ktree_thread(t, LE_THREAD_X);
    if (r->shape.cluster > 1) {
        struct le_expression *cluster = le_ktree_int(t, r->shape.cluster);
        struct le_expression *before =
            le_times(t, le_ktree_remainder(t, number, cluster), le_ktree_thread(t, LE_THREADS_X));
        le_do(t, root, LE_CALL_CLUSTER_ARRIVE, NULL, NULL);
        *own = le_let(t, root, "own", le_plus(t, before, *own));
        number = le_ktree_quotient(t, number, cluster);
    }
    struct le_expression *point = le_let(t, root, "point", le_to_long(t, number));
    struct le_expression *before =
        le_times_int(t, le_ktree_quotient(t, *own, le_ktree_int(t, WARP)), (int64_t)WARP * r->shape.lines);
    struct le_expression *first = le_to_int(t, le_plus(t, before, lane));
    r->base = le_let(t, root, "base", le_times_int(t, first, r->all.width));
    return point;
}

/* Binds the row's indices and computes the thread's position in it. Returns the thread's number among the row's
 * threads. */
static struct le_expression *begin_row(struct row *r) {
    struct codegen *c = r->c;
    struct le_kernel_tree *t = c->tree;
    const struct team_stage *s = r->t;
    struct le_expression *thread = le_to_int(t, le_ktree_thread(t, LE_THREAD_X));
    struct le_expression *lane = le_let(t, c->root, "lane", le_ktree_remainder(t, thread, le_ktree_int(t, WARP)));
    struct le_expression *own = lane;
    struct le_expression *point = r->shape.rows > 1 ? begin_warp(r, lane) : begin_block(r, lane, &own);
    r->left = le_let(t, c->root, "left", le_minus(t, le_group_count(c, &s->groups[0]), r->base));
    if (r->rolled)
        name_lines(r, lane, point);
    le_team_bind(c, c->root, s->points_at, s->points_count, point, s->points <= INT32_MAX);
    return own;
}

static const char *describe_shape(const struct row *r) {
    if (r->shape.strip) {
        const char *of_thread =
            has_side(r) ? le_arena_format(r->c->arena, "%d for each thread and ", r->shape.vector) : "";
        return le_arena_format(r->c->arena,
                               r->shape.cluster > 1
                                   ? "columns side by side, %s%d for each cluster of %d blocks, which keep them"
                                   : "columns side by side, %s%d for each block, which keeps them",
                               of_thread, r->shape.strip, r->shape.cluster);
    }
    if (r->shape.cluster > 1)
        return le_arena_format(r->c->arena, "a cluster of %d blocks for each row, which they keep", r->shape.cluster);
    return r->shape.rows > 1 ? "a warp for each row, which it keeps" : "a block for each row, which it keeps";
}

static void set_launch(struct row *r, struct le_generated_launches *out) {
    const struct row_shape *s = &r->shape;
    int rows = s->rows > 1 ? le_codegen_block_threads(r->c, r->t->points * WARP, WARP * s->rows) / WARP : 1;
    int64_t points = s->strip ? s->strip : rows, blocks = (r->t->points + points - 1) / points * s->cluster;
    le_codegen_launch(r->c, out, blocks, s->threads * rows, r->t->points * r->t->rest, describe_shape(r))
        ->shared_bytes = s->far_bytes;
}

bool le_team_rows(struct codegen *c, struct team_stage *t, struct strip_wish wish, struct le_generated_launches *out) {
    struct row r = {.c = c, .t = t, .wish = wish};
    if (!le_row_find(&r))
        return false;
    if (r.shape.strip && r.shape.vector > 1) {
        t->side = (struct side){.index = r.points_at[t->points_count - 1], .width = r.shape.vector};
        for (int g = 0; g < t->group_count; g++)
            t->groups[g].side = &t->side;
        r.all.side = &t->side;
    }
    c->tree->threads = r.shape.most_threads;
    c->tree->resident = r.shape.resident;
    c->tree->cluster = r.shape.cluster;
    struct le_expression *own = r.shape.strip ? le_strip_begin(&r) : begin_row(&r);
    keep_rows(&r);
    for (int g = 0; g < t->group_count; g++) {
        le_group_declare(c, &t->groups[g]);
        if (r.shape.strip) {
            le_strip_group(&r, g);
            continue;
        }
        struct le_variable *line_total = le_row_line_total(&r, g, LE_CALL_KEPT_GET, LE_CALL_KEPT_PUT);
        if (r.reads && g == t->group_count - 1)
            le_row_start_reading(&r); /* arrives while the blocks wait for each other */
        join_lines(&r, &t->groups[g], line_total);
    }
    le_team_store_once(c, t, own);
    if (r.value && r.shape.strip)
        le_strip_values(&r);
    else if (r.value)
        le_row_values(&r);
    else
        emit_one(&r, own);
    set_launch(&r, out);
    return true;
}
