/* Rows that several passes run over (softmax, layer norms, variances). Each row is read once and kept in the registers
 * of a warp or a thread block, and beyond these in shared memory. The terms of a warp form a complete subtree: its
 * lines of 32 * width. */
#include "gen/device_row.h"
#include <string.h>

/* ---- lines */

const char *le_row_stored(const struct row *r, int load) {
    return le_cuda_stored(r->c->ir->values.at[r->loads[load]->value].type);
}

const char *le_row_bind(struct row *r, struct le_block *block, const char *line) {
    const char *at = le_cuda_name(r->c, "at");
    const char *number = r->turn ? le_arena_format(r->c->arena, "(%s ^ %s)", line, r->turn) : line;
    le_cuda_line(r->c, block, "const int %s = %s + %s * %d;", at, r->base, number, WARP * r->all.width);
    return at;
}

/* Whether the thread has the line, as an expression. */
static const char *is_inside(struct row *r, const char *line) {
    return r->lines ? le_arena_format(r->c->arena, "%s < %s", line, r->lines)
                    : le_arena_format(r->c->arena, "%s * %d < %s", line, WARP * r->all.width, r->left);
}

struct le_block *le_row_inside(struct row *r, struct le_block *block, const char *line) {
    return le_cuda_open(r->c, block, le_arena_format(r->c->arena, "if (%s)", is_inside(r, line)));
}

struct le_block *le_row_open_lines(struct row *r, const char **line) {
    *line = le_cuda_name(r->c, "line");
    return le_cuda_unrolled(r->c, r->c->root, *line, r->shape.lines);
}

/* The place in memory of the thread's elements of a line. */
static const char *place_of_line(struct row *r, int load, struct le_block *block, const char *at) {
    le_team_bind_one_text(r->c, block, r->all.indices[0], at, 0);
    return le_cuda_trusted_place_text(r->c, r->loads[load], block);
}

void le_row_read(struct row *r, int load, struct le_block *block, const char *at, const char *name) {
    struct le_block *first = le_cuda_open(r->c, block, NULL);
    le_cuda_line(r->c, first, "le_read<%d>(%s, &%s);", r->all.width, name, place_of_line(r, load, first, at));
    le_cuda_close(r->c, first);
}

const char *le_row_get(struct row *r, int load, struct le_block *block, const char *get, const char *line,
                       const char *at) {
    struct cuda *c = r->c;
    const char *name =
        le_cuda_name(c, le_arena_format(c->arena, "%s_line", le_cuda_value_name(c, r->loads[load]->value)));
    le_cuda_line(c, block, "%s %s[%d];", le_row_stored(r, load), name, r->all.width);
    if (r->kept[load])
        le_cuda_line(c, block, "%s.%s(%s, %s);", r->names[load], get, line, name);
    else
        le_row_read(r, load, block, at, name);
    return name;
}

static void fetch_line(struct row *r, struct le_block *block, const char *line, const char *at) {
    for (int k = 0; k < r->load_count; k++)
        if (r->kept[k])
            le_cuda_line(r->c, block, "%s.fetch(%s, &%s);", r->names[k], line, place_of_line(r, k, block, at));
}

/* Where there are many lines nothing branches between them: one that the thread does not have is the first one again.
 */
static void fetch_rows(struct row *r) {
    struct cuda *c = r->c;
    const char *line = le_cuda_name(c, "line"),
               *have = r->rolled ? le_arena_format(c->arena, "if (%s > 0)", r->lines) : NULL;
    struct le_block *some = le_cuda_open(c, c->root, have);
    struct le_block *lines = le_cuda_unrolled(c, some, line, r->shape.lines), *inside = lines;
    const char *at =
        le_row_bind(r, lines, r->rolled ? le_arena_format(c->arena, "(%s < %s ? %s : 0)", line, r->lines, line) : line);
    if (!r->rolled)
        inside = le_row_inside(r, lines, line);
    fetch_line(r, inside, line, at);
    if (inside != lines)
        le_cuda_close(c, inside);
    le_cuda_close(c, lines);
    le_cuda_close(c, some);
}

static void keep_rows(struct row *r) {
    struct cuda *c = r->c;
    const char *far = NULL;
    int64_t far_bytes = 0; /* for a thread, so far */
    if (r->shape.near < r->shape.lines) {
        far = le_cuda_name(c, "far");
        le_cuda_line(c, c->root, "extern __shared__ uint4 %s[];", far);
    }
    for (int k = 0; k < r->load_count; k++) {
        if (!r->kept[k])
            continue;
        const char *name = le_cuda_value_name(c, r->loads[k]->value);
        r->names[k] = le_cuda_name(c, le_arena_format(c->arena, "%s_kept", name));
        le_cuda_line(c, c->root, "le_kept<%s, %d, %d> %s;", le_row_stored(r, k), r->all.width, r->shape.near,
                     r->names[k]);
        if (far)
            le_cuda_line(
                c, c->root,
                "%s.far = (%s *)((char *)%s + %lld * blockDim.x) + (threadIdx.x / 32 * %d + threadIdx.x %% 32) * %d;",
                r->names[k], le_row_stored(r, k), far, (long long)far_bytes, WARP * (r->shape.lines - r->shape.near),
                r->all.width);
        far_bytes += (int64_t)(r->shape.lines - r->shape.near) * r->all.width *
                     (int64_t)le_type_size(c->ir->values.at[r->loads[k]->value].type);
    }
    fetch_rows(r);
    if (far)
        le_cuda_line(c, c->root, "le_fetched();");
    if (r->shape.cluster > 1)
        le_cuda_line(c, c->root, "__cluster_barrier_wait();");
}

static bool is_late(const struct row *r, int group, int load) {
    return r->late && load == r->late_load && group > r->late_group;
}

void le_row_find_read(struct row *r, const struct group *pass, bool read[LOADS_MAX]) {
    struct le_node *loads[LOADS_MAX];
    int count = le_group_loads(r->c, pass, loads);
    for (int k = 0; k < r->load_count; k++) {
        read[k] = false;
        for (int q = 0; q < count; q++)
            read[k] |= loads[q] == r->loads[k];
    }
}

void le_row_get_all(struct row *r, const struct group *pass, struct le_block *block, const char *get, const char *line,
                    const char *at, const char *names[LOADS_MAX]) {
    bool read[LOADS_MAX];
    le_row_find_read(r, pass, read);
    for (int k = 0; k < r->load_count; k++)
        names[k] = read[k] ? le_row_get(r, k, block, get, line, at) : NULL;
}

void le_row_know(struct row *r, int group, struct le_block *each, const char *const names[LOADS_MAX], const char *e) {
    struct cuda *c = r->c;
    for (int k = 0; k < r->load_count; k++) {
        const struct le_value *v = &c->ir->values.at[r->loads[k]->value];
        if (!names[k])
            continue;
        const char *x = le_arena_format(c->arena, "%s[%s]", names[k], e);
        if (is_late(r, group, k)) {
            le_cuda_know_text(c, r->late, each, x);
            continue;
        }
        x = le_cuda_from_memory_text(c, x, v->type, r->loads[k]->type);
        x = le_cuda_hold_text(c, each, r->loads[k]->type, false, le_cuda_value_name(c, v->id), x);
        le_cuda_know_text(c, r->loads[k], each, x);
    }
}

struct le_block *le_row_open_elements(struct row *r, struct le_block *block, const char *at, const char **e) {
    *e = le_cuda_name(r->c, "e");
    struct le_block *each = le_cuda_unrolled(r->c, block, *e, r->all.width);
    le_team_bind_one_text(r->c, each, r->all.indices[0], le_arena_format(r->c->arena, "%s + %s", at, *e), 0);
    return each;
}

/* ---- passes */

static void join_lines(struct row *r, struct group *g, const char *lines) {
    struct cuda *c = r->c;
    const char *total = le_cuda_name(c, "all");
    int unroll = le_group_bytes(g) > 4 ? 4 : 8;
    const char *text = le_arena_format(c->arena, "le_row_total<%s, %d, %d>(%s)", le_group_type_text(c, g),
                                       r->shape.lines, r->shape.lines < unroll ? r->shape.lines : unroll, lines);
    if (r->shape.rows == 1) {
        const char *room = le_cuda_name(c, "room");
        int totals = r->shape.cluster * r->shape.most_threads / WARP;
        le_cuda_line(c, c->root, "__shared__ %s %s[%d];", le_group_type_text(c, g), room,
                     totals < WARP ? WARP : totals);
        text = r->shape.cluster > 1
                   ? le_arena_format(c->arena, "le_cluster_join<%d>(%s, %s)", r->shape.cluster, text, room)
                   : le_arena_format(c->arena, "le_block_join(%s, %s)", text, room);
    }
    le_cuda_line(c, c->root, "const %s %s = %s;", le_group_type_text(c, g), total, text);
    le_group_known_text(c, g, c->root, total);
}

/* The function that gives the total of a line. */
static const char *emit_group(struct row *r, int number) {
    struct cuda *c = r->c;
    struct group *g = &r->t->groups[number], pass = r->all;
    const char *name = le_cuda_name(c, "line_total"), *line = le_cuda_name(c, "line"), *some = le_cuda_name(c, "some");
    const char *names[LOADS_MAX], *e, *late = r->late && r->late_group == number ? le_cuda_name(c, "kept") : NULL;
    memcpy(pass.bodies, g->bodies, sizeof pass.bodies);
    pass.node_count = g->node_count;
    le_group_declare(c, g);
    struct le_block *lambda = le_cuda_open(
        c, c->root,
        le_arena_format(c->arena, "const auto %s = [&](int %s) -> %s", name, line, le_group_type_text(c, g)));
    lambda->owner->tail = ";";
    const char *at = le_row_bind(r, lambda, line);
    le_cuda_line(c, lambda, "if (!(%s))\n    return %s::none();\n%s %s[%d];", is_inside(r, line),
                 le_group_type_text(c, g), le_group_type_text(c, g), some, r->all.width);
    if (late)
        le_cuda_line(c, lambda, "%s %s[%d];", le_row_stored(r, r->late_load), late, r->all.width);
    le_row_get_all(r, &pass, lambda, "get", line, at, names);
    struct le_block *each = le_row_open_elements(r, lambda, at, &e);
    le_row_know(r, number, each, names, e);
    le_cuda_line(c, each, "%s[%s] = %s;", some, e,
                 le_group_total_text(c, g, each, le_arena_format(c->arena, "%s + %s", at, e)));
    if (late)
        le_cuda_line(c, each, "%s[%s] = %s;", late, e, le_cuda_node_text(c, r->late, each));
    le_cuda_close(c, each);
    if (late)
        le_cuda_line(c, lambda, "%s.put(%s, %s);", r->names[r->late_load], line, late);
    le_cuda_line(c, lambda, "return le_joined<%s, %d>(%s);", le_group_type_text(c, g), r->all.width, some);
    le_cuda_close(c, lambda);
    return name;
}

/* ---- the kernel */

/* One value a row. */
static void emit_one(struct row *r, const char *own) {
    struct cuda *c = r->c;
    le_cuda_line(c, c->root, "if (%s != 0)\n    return;", own);
    le_cuda_store(c, le_cuda_node(c, c->stage->node, c->root, NULL), c->root);
}

/* How many lines the thread has. Only a warp that has all of them may begin in their middle. */
static void name_lines(struct row *r, const char *lane, const char *point) {
    struct cuda *c = r->c;
    int line = WARP * r->all.width, lines = r->shape.lines;
    r->lines = le_cuda_name(c, "lines");
    le_cuda_line(c, c->root, "const int %s = %s <= 0 ? 0 : %s > %d ? %d : (%s + %d) / %d;", r->lines, r->left, r->left,
                 (lines - 1) * line, lines, r->left, line - 1, line);
    if (!r->reads)
        return;
    r->turn = le_cuda_name(c, "turn");
    le_cuda_line(c, c->root, "const int %s = %s + (%s - %d) * %d > %d ? (int)(%s %% 2) * %d : 0;", r->turn, r->left,
                 lane, WARP - 1, r->all.width, (lines - 1) * line, point, lines / 2);
}

/* Where the row is, and where in it the thread is; the answer: the thread's number among those of the row. */
static const char *begin_row(struct row *r) {
    struct cuda *c = r->c;
    const struct team_stage *t = r->t;
    const char *point = le_cuda_name(c, "point"), *lane = le_cuda_name(c, "lane"), *own = "threadIdx.x";
    r->base = le_cuda_name(c, "base");
    r->left = le_cuda_name(c, "left");
    le_cuda_line(c, c->root, "const int %s = (int)threadIdx.x %% 32;", lane);
    if (r->shape.rows > 1) {
        le_cuda_line(c, c->root,
                     "const long long %s = (long long)blockIdx.x * %d + threadIdx.x / 32;\n"
                     "if (%s >= %s)\n    return;\nconst int %s = %s * %d;",
                     point, r->shape.rows, point, le_cuda_number_text(c, "points", t->points), r->base, lane,
                     r->all.width);
        own = lane;
    } else {
        const char *number = "blockIdx.x";
        if (r->shape.cluster > 1) {
            number = le_arena_format(c->arena, "blockIdx.x / %d", r->shape.cluster);
            own = le_cuda_name(c, "own");
            le_cuda_line(c, c->root,
                         "__cluster_barrier_arrive_relaxed();\n"
                         "const unsigned %s = blockIdx.x %% %d * blockDim.x + threadIdx.x;",
                         own, r->shape.cluster);
        }
        le_cuda_line(c, c->root,
                     "const long long %s = %s;\n"
                     "const int %s = (int)(%s / 32 * %d + %s) * %d;",
                     point, number, r->base, own, WARP * r->shape.lines, lane, r->all.width);
    }
    le_cuda_line(c, c->root, "const int %s = %s - %s;", r->left, le_cuda_text(c, le_group_count(c, &t->groups[0])),
                 r->base);
    if (r->rolled)
        name_lines(r, lane, point);
    le_team_bind_text(c, c->root, t->points_at, t->points_count, point, t->points <= INT32_MAX);
    return own;
}

static const char *describe_shape(const struct row *r) {
    if (r->shape.cluster > 1)
        return le_arena_format(r->c->arena, "a cluster of %d blocks for each row, which they keep", r->shape.cluster);
    return r->shape.rows > 1 ? "a warp for each row, which it keeps" : "a block for each row, which it keeps";
}

static void set_launch(struct row *r, struct le_generated_launches *out) {
    struct le_generated_launch *launch = le_cuda_finish(r->c, out);
    const struct row_shape *s = &r->shape;
    launch->grid[0] = (unsigned)((r->t->points + s->rows - 1) / s->rows * s->cluster);
    launch->block[0] = (unsigned)(s->threads * s->rows);
    launch->grid[1] = launch->grid[2] = launch->block[1] = launch->block[2] = 1;
    launch->shared_bytes = s->far_bytes;
    launch->elements = r->t->points * r->t->rest;
    launch->how = describe_shape(r);
}

bool le_team_rows(struct cuda *c, struct team_stage *t, struct le_generated_launches *out) {
    struct row r = {.c = c, .t = t};
    if (!le_row_find(&r))
        return false;
    c->tree->threads = r.shape.most_threads;
    c->tree->resident = r.shape.resident;
    c->tree->cluster = r.shape.cluster;
    const char *own = begin_row(&r);
    keep_rows(&r);
    for (int g = 0; g < t->group_count; g++) {
        const char *line_total = emit_group(&r, g);
        if (r.reads && g == t->group_count - 1)
            le_row_start_reading(&r); /* what comes while the blocks wait for each other */
        join_lines(&r, &t->groups[g], line_total);
    }
    if (r.value)
        le_row_values(&r);
    else
        emit_one(&r, own);
    set_launch(&r, out);
    return true;
}
