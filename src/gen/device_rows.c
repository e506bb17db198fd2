/* Rows that several passes run over (softmax, layer norms, variances): each is read once, and kept in the registers of
 * a warp or a block, and beyond these in shared memory. The terms of a warp are a complete subtree: its lines of 32 *
 * width.
 *
 * Where the values of long rows read more than the row (a layer norm's gain and bias), that comes from L2, and two
 * things count. Blocks that run abreast would all ask one part of L2 for the same lines: so each row has an order of
 * its own, line ^ turn, which leaves every total's bits as they are, since it only exchanges the two sides of joins.
 * And a line's reads must not wait for the line before it: they are under way READ_AHEAD lines earlier, and nothing
 * branches. On an H200 a layer norm of rows of 65,536 takes 1.12 of the memory's time so; without the order 1.25
 * to 1.4, with it alone 1.2. */
#include "gen/device_team.h"
#include <string.h>

#define WARP      32
#define LATE_COST 8 /* additions, for which a value is rather kept than made again */

enum { READ_AHEAD = 2 }; /* lines; with 3 there are too few registers */

struct row {
    struct cuda *c;
    struct team_stage *t;
    struct group all;      /* the groups' terms and, last, the value */
    struct le_node *value; /* over the groups' index; NULL: there is one a row */
    struct le_node *loads[LOADS_MAX];
    int load_count;
    bool kept[LOADS_MAX];
    const char *names[LOADS_MAX];
    int kept_bytes; /* of an element */
    /* A dear node of a group's terms that the value uses, too: from that group on it has the place of a load that
     * nobody needs then. */
    struct le_node *late;
    int late_load, late_group;
    struct row_shape shape;
    bool rolled;                  /* values are made by a loop over lines, of which some are in shared memory */
    bool reads;                   /* they read more than the row */
    const char *ahead[LOADS_MAX]; /* what of it was read ahead */
    const char *base, *left;      /* where the thread's first element is; elements from there on */
    const char *lines, *turn;     /* rolled: lines that the thread has; their order (NULL: as they come) */
};

/* ---- whether, and how */

static bool is_one_axis(struct row *r) {
    const struct team_stage *t = r->t;
    const struct le_range *k = &r->c->space->ranges[t->groups[0].indices[0]];
    int bodies = t->rest_count;
    for (int g = 0; g < t->group_count; g++) {
        bodies += t->groups[g].node_count;
        if (t->groups[g].index_count != 1 || t->groups[g].indices[0] != t->groups[0].indices[0])
            return false;
    }
    if (bodies > GROUP_NODES || k->by != 1 || t->rest_count > 1 || t->group_count + t->rest_count < 2)
        return false;
    const struct le_range *j = t->rest_count ? &r->c->space->ranges[t->rest_at[0]] : k;
    return j->low == k->low && j->high == k->high && j->by == 1;
}

struct inner {
    int index;
    bool found;
};

static void find_inner(struct le_node *node, void *user) {
    struct inner *i = user;
    i->found |= node->index_count > 0 && le_node_depends(node, i->index);
}

/* The stage's value over the groups' index; false: it cannot be named so. */
static bool find_value(struct row *r) {
    struct le_ir *ir = r->c->ir;
    struct le_node *to = le_node_index(ir, r->t->groups[0].indices[0]);
    if (r->t->rest_count == 0)
        return true;
    struct inner i = {.index = r->t->rest_at[0]};
    le_node_walk(ir, r->c->stage->node, find_inner, &i);
    r->value = i.found ? NULL : le_node_substitute(ir, r->c->stage->node, &i.index, &to, 1);
    return !i.found;
}

static void gather(struct row *r) {
    const struct group *first = &r->t->groups[0];
    r->all = (struct group){.indices = first->indices, .index_count = 1, .axis_count = 1, .terms = first->terms};
    r->all.axes[0] = first->axes[0];
    r->all.narrow = first->narrow;
    for (int g = 0; g < r->t->group_count; g++)
        for (int k = 0; k < r->t->groups[g].node_count; k++)
            r->all.bodies[r->all.node_count++] = r->t->groups[g].bodies[k];
    if (r->value)
        r->all.bodies[r->all.node_count++] = r->value;
    r->all.width = le_group_width(r->c, &r->all);
}

static void count_pass(struct row *r, struct le_node *const *bodies, int count, int *passes) {
    struct group pass = r->all;
    struct le_node *loads[LOADS_MAX];
    memcpy(pass.bodies, bodies, (size_t)count * sizeof *bodies);
    pass.node_count = count;
    int found = le_group_loads(r->c, &pass, loads);
    for (int k = 0; k < found; k++)
        for (int q = 0; q < r->load_count; q++)
            passes[q] += r->loads[q] == loads[k];
}

/* What more than one pass reads is kept. */
static bool find_loads(struct row *r) {
    int passes[LOADS_MAX] = {0};
    r->load_count = le_group_loads(r->c, &r->all, r->loads);
    if (r->load_count <= 0)
        return false;
    for (int g = 0; g < r->t->group_count; g++)
        count_pass(r, r->t->groups[g].bodies, r->t->groups[g].node_count, passes);
    if (r->value)
        count_pass(r, &r->value, 1, passes);
    for (int k = 0; k < r->load_count; k++) {
        int bytes = (int)le_type_size(r->c->ir->values.at[r->loads[k]->value].type);
        r->kept[k] = passes[k] > 1;
        if (r->kept[k])
            r->kept_bytes += bytes < 4 ? 4 : bytes;
    }
    return r->kept_bytes > 0;
}

struct reach {
    const struct row *r;
    const struct le_node *without, *node;
    bool found;
};

static void reach(struct reach *s, struct le_node *node, int epoch) {
    if (s->found || node == s->without || node->epoch == epoch || !le_node_depends(node, s->r->all.indices[0]))
        return;
    node->epoch = epoch;
    s->found = node == s->node;
    for (int k = 0; k < node->operand_count; k++)
        reach(s, node->operands[k], epoch);
}

/* Whether passes behind the group's use the node where they do not use it through the other one. */
static bool uses(struct row *r, int group, const struct le_node *node, const struct le_node *without) {
    struct reach s = {.r = r, .without = without, .node = node};
    int epoch = ++r->c->ir->epoch;
    for (int g = group + 1; g < r->t->group_count; g++)
        for (int k = 0; k < r->t->groups[g].node_count; k++)
            reach(&s, r->t->groups[g].bodies[k], epoch);
    reach(&s, r->value, epoch);
    return s.found;
}

struct dear {
    const struct row *r;
    struct le_node *at[LOADS_MAX];
    int count;
};

static void find_dear(struct le_node *node, void *user) {
    struct dear *d = user;
    if (node->kind == LE_NODE_OP && node->cost >= LATE_COST && d->count < LOADS_MAX &&
        le_node_depends(node, d->r->all.indices[0]))
        d->at[d->count++] = node;
}

struct along {
    const struct row *r;
    int64_t cost;
};

static void add_cost(struct le_node *node, void *user) {
    struct along *a = user;
    int64_t own = node->cost;
    for (int k = 0; k < node->operand_count; k++)
        own -= node->operands[k]->cost;
    if (own > 0 && le_node_depends(node, a->r->all.indices[0]))
        a->cost += own;
}

/* Of what changes along the row. */
static int64_t cost_along(struct row *r, struct le_node *node) {
    struct along a = {.r = r};
    le_node_walk(r->c->ir, node, add_cost, &a);
    return a.cost;
}

static void try_late(struct row *r, int group, struct le_node *node) {
    if (cost_along(r, node) < LATE_COST)
        return;
    for (int k = 0; k < r->load_count; k++) {
        enum le_type stored = r->c->ir->values.at[r->loads[k]->value].type;
        bool fits = r->kept[k] && node->type == stored && (stored == LE_F32 || stored == LE_F64);
        if (!fits || (r->late && r->late->cost >= node->cost) || !le_cuda_is_safe(r->c, node))
            continue;
        if (!uses(r, group, node, NULL) || uses(r, group, r->loads[k], node))
            continue;
        r->late = node;
        r->late_load = k;
        r->late_group = group;
    }
}

static void find_late(struct row *r) {
    for (int g = 0; r->value && g < r->t->group_count; g++)
        for (int k = 0; k < r->t->groups[g].node_count; k++) {
            struct dear d = {.r = r};
            le_node_walk(r->c->ir, r->t->groups[g].bodies[k], find_dear, &d);
            for (int q = 0; q < d.count; q++)
                try_late(r, g, d.at[q]);
        }
}

static bool is_kept(const struct row *r, const struct le_node *load) {
    for (int k = 0; k < r->load_count; k++)
        if (r->loads[k] == load)
            return r->kept[k];
    return false;
}

struct parts {
    bool quick, reads; /* one has a way without a branch; one is read from memory */
};

static void find_parts(const struct row *r, struct le_node *node, int epoch, struct parts *parts) {
    if (node->epoch == epoch || node == r->late || !le_node_depends(node, r->all.indices[0]))
        return;
    node->epoch = epoch;
    parts->quick |= le_cuda_has_quick_way(node);
    parts->reads |= node->kind == LE_NODE_LOAD && !is_kept(r, node);
    for (int k = 0; k < node->operand_count; k++)
        find_parts(r, node->operands[k], epoch, parts);
}

/* Of the value, as far as they change along the row. */
static struct parts parts_of_value(struct row *r) {
    struct parts parts = {0};
    find_parts(r, r->value, ++r->c->ir->epoch, &parts);
    return parts;
}

static bool is_wide(struct row *r) {
    struct le_node target = le_cuda_target(r->c);
    return r->all.width > 1 && le_team_is_wide(r->c, &target, r->t->rest_at, r->all.width);
}

static bool is_rolled(struct row *r) {
    return r->value && r->shape.near < r->shape.lines && is_wide(r) && le_cuda_is_safe(r->c, r->value);
}

static bool find_shape(struct row *r) {
    struct row_need need = {.reads = (r->all.terms + r->all.width - 1) / r->all.width,
                            .words = r->kept_bytes * r->all.width / 4,
                            .is_wide = r->kept_bytes > 4};
    for (int g = 0; g < r->t->group_count; g++)
        need.are_totals_big |= le_group_bytes(&r->t->groups[g]) > 4;
    return le_row_shape(r->c->job->facts, &need, &r->shape);
}

static bool find_row(struct row *r) {
    if (!is_one_axis(r) || r->t->groups[0].terms == 0 || !r->t->groups[0].narrow || !find_value(r))
        return false;
    gather(r);
    if (!find_loads(r) || !find_shape(r))
        return false;
    find_late(r);
    r->rolled = is_rolled(r);
    r->reads = r->rolled && parts_of_value(r).reads;
    return true;
}

/* ---- lines */

static const char *stored_of(const struct row *r, int load) {
    return le_cuda_stored(r->c->ir->values.at[r->loads[load]->value].type);
}

/* The place of a line's first element that the thread has. */
static const char *bind_line(struct row *r, struct block *block, const char *line) {
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

static struct block *open_inside(struct row *r, struct block *block, const char *line) {
    return le_cuda_open(r->c, block, le_arena_format(r->c->arena, "if (%s)", is_inside(r, line)));
}

static struct block *open_lines(struct row *r, const char **line) {
    *line = le_cuda_name(r->c, "line");
    return le_cuda_unrolled(r->c, r->c->root, *line, r->shape.lines);
}

/* The place in memory of the thread's elements of a line. */
static const char *place_of_line(struct row *r, int load, struct block *block, const char *at) {
    le_team_bind_one(r->c, block, r->all.indices[0], at, 0);
    return le_cuda_trusted_place(r->c, r->loads[load], block);
}

static void read_line(struct row *r, int load, struct block *block, const char *at, const char *name) {
    struct block *first = le_cuda_open(r->c, block, NULL);
    le_cuda_line(r->c, first, "le_read<%d>(%s, &%s);", r->all.width, name, place_of_line(r, load, first, at));
    le_cuda_close(r->c, first);
}

/* get: le_kept's function, by what is known of the line when the text is compiled */
static const char *get_line(struct row *r, int load, struct block *block, const char *get, const char *line,
                            const char *at) {
    struct cuda *c = r->c;
    const char *name =
        le_cuda_name(c, le_arena_format(c->arena, "%s_line", le_cuda_value_name(c, r->loads[load]->value)));
    le_cuda_line(c, block, "%s %s[%d];", stored_of(r, load), name, r->all.width);
    if (r->kept[load])
        le_cuda_line(c, block, "%s.%s(%s, %s);", r->names[load], get, line, name);
    else
        read_line(r, load, block, at, name);
    return name;
}

static void fetch_line(struct row *r, struct block *block, const char *line, const char *at) {
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
    struct block *some = le_cuda_open(c, c->root, have);
    struct block *lines = le_cuda_unrolled(c, some, line, r->shape.lines), *inside = lines;
    const char *at =
        bind_line(r, lines, r->rolled ? le_arena_format(c->arena, "(%s < %s ? %s : 0)", line, r->lines, line) : line);
    if (!r->rolled)
        inside = open_inside(r, lines, line);
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
        le_cuda_line(c, c->root, "le_kept<%s, %d, %d> %s;", stored_of(r, k), r->all.width, r->shape.near, r->names[k]);
        if (far)
            le_cuda_line(c, c->root, "%s.far = (%s *)((char *)%s + %lld * blockDim.x) + threadIdx.x * %d;", r->names[k],
                         stored_of(r, k), far, (long long)far_bytes, r->all.width);
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

/* Which of the loads the pass reads. */
static void find_read(struct row *r, const struct group *pass, bool read[LOADS_MAX]) {
    struct le_node *loads[LOADS_MAX];
    int count = le_group_loads(r->c, pass, loads);
    for (int k = 0; k < r->load_count; k++) {
        read[k] = false;
        for (int q = 0; q < count; q++)
            read[k] |= loads[q] == r->loads[k];
    }
}

/* What the pass reads of a line: names' arrays. */
static void get_lines(struct row *r, const struct group *pass, struct block *block, const char *get, const char *line,
                      const char *at, const char *names[LOADS_MAX]) {
    bool read[LOADS_MAX];
    find_read(r, pass, read);
    for (int k = 0; k < r->load_count; k++)
        names[k] = read[k] ? get_line(r, k, block, get, line, at) : NULL;
}

/* Tells the values of what was read of element e; group: the pass's number, or that of all. */
static void know_elements(struct row *r, int group, struct block *each, const char *const names[LOADS_MAX],
                          const char *e) {
    struct cuda *c = r->c;
    for (int k = 0; k < r->load_count; k++) {
        const struct le_value *v = &c->ir->values.at[r->loads[k]->value];
        if (!names[k])
            continue;
        const char *x = le_arena_format(c->arena, "%s[%s]", names[k], e);
        if (is_late(r, group, k)) {
            le_cuda_know(c, r->late, each, x);
            continue;
        }
        x = le_cuda_from_memory(c, x, v->type, r->loads[k]->type);
        x = le_cuda_hold(c, each, r->loads[k]->type, false, le_cuda_value_name(c, v->id), x)->text;
        le_cuda_know(c, r->loads[k], each, x);
    }
}

/* Opens the loop over a line's elements, and binds their index. */
static struct block *open_elements(struct row *r, struct block *block, const char *at, const char **e) {
    *e = le_cuda_name(r->c, "e");
    struct block *each = le_cuda_unrolled(r->c, block, *e, r->all.width);
    le_team_bind_one(r->c, each, r->all.indices[0], le_arena_format(r->c->arena, "%s + %s", at, *e), 0);
    return each;
}

/* ---- passes */

static void join_lines(struct row *r, struct group *g, const char *lines) {
    struct cuda *c = r->c;
    const char *total = le_cuda_name(c, "all");
    int unroll = le_group_bytes(g) > 4 ? 4 : 8;
    const char *text = le_arena_format(c->arena, "le_row_total<%s, %d, %d>(%s)", g->type, r->shape.lines,
                                       r->shape.lines < unroll ? r->shape.lines : unroll, lines);
    if (r->shape.rows == 1) {
        const char *room = le_cuda_name(c, "room");
        int totals = r->shape.cluster * r->shape.most_threads / WARP;
        le_cuda_line(c, c->root, "__shared__ %s %s[%d];", g->type, room, totals < WARP ? WARP : totals);
        text = r->shape.cluster > 1
                   ? le_arena_format(c->arena, "le_cluster_join<%d>(%s, %s)", r->shape.cluster, text, room)
                   : le_arena_format(c->arena, "le_block_join(%s, %s)", text, room);
    }
    le_cuda_line(c, c->root, "const %s %s = %s;", g->type, total, text);
    le_group_know(c, g, c->root, total);
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
    struct block *lambda =
        le_cuda_open(c, c->root, le_arena_format(c->arena, "const auto %s = [&](int %s) -> %s", name, line, g->type));
    lambda->tail = ";";
    const char *at = bind_line(r, lambda, line);
    le_cuda_line(c, lambda, "if (!(%s))\n    return %s::none();\n%s %s[%d];", is_inside(r, line), g->type, g->type,
                 some, r->all.width);
    if (late)
        le_cuda_line(c, lambda, "%s %s[%d];", stored_of(r, r->late_load), late, r->all.width);
    get_lines(r, &pass, lambda, "get", line, at, names);
    struct block *each = open_elements(r, lambda, at, &e);
    know_elements(r, number, each, names, e);
    le_cuda_line(c, each, "%s[%s] = %s;", some, e,
                 le_group_total(c, g, each, le_arena_format(c->arena, "%s + %s", at, e)));
    if (late)
        le_cuda_line(c, each, "%s[%s] = %s;", late, e, le_cuda_node(c, r->late, each, NULL)->text);
    le_cuda_close(c, each);
    if (late)
        le_cuda_line(c, lambda, "%s.put(%s, %s);", r->names[r->late_load], line, late);
    le_cuda_line(c, lambda, "return le_joined<%s, %d>(%s);", g->type, r->all.width, some);
    le_cuda_close(c, lambda);
    return name;
}

static void store_line(struct row *r, struct block *block, const char *at, const char *out) {
    struct cuda *c = r->c;
    struct le_node target = le_cuda_target(c);
    struct block *first = le_cuda_open(c, block, NULL);
    le_team_bind_one(c, first, r->t->rest_at[0], at, 0);
    le_cuda_line(c, first, "le_write<%d>(&%s, %s);", r->all.width, le_cuda_trusted_place(c, &target, first), out);
    le_cuda_close(c, first);
}

/* Not where the value reads more than the row: a line's reads would wait until the line before it is known to be usual,
 * unless they are read ahead. */
static bool is_quick(struct row *r) {
    struct parts parts = parts_of_value(r);
    return parts.quick && (r->rolled || !parts.reads) && le_cuda_is_safe(r->c, r->value);
}

static struct group pass_of_value(const struct row *r) {
    struct group pass = r->all;
    pass.bodies[0] = r->value;
    pass.node_count = 1;
    return pass;
}

static const char *value_of(struct row *r, struct block *block) {
    struct cuda *c = r->c;
    enum le_type stored = c->ir->values.at[le_cuda_target(c).value].type;
    const char *x = le_cuda_wide(c, le_cuda_node(c, r->value, block, NULL));
    return le_cuda_to_memory(c, x, le_type_compute(stored), stored);
}

static const char *declare_out(struct row *r, struct block *block) {
    const char *out = le_cuda_name(r->c, "out");
    enum le_type stored = r->c->ir->values.at[le_cuda_target(r->c).value].type;
    le_cuda_line(r->c, block, "%s %s[%d];", le_cuda_stored(stored), out, r->all.width);
    return out;
}

/* The elements of a line in `out`, without a branch. The answer is the bool that says whether they count; NULL: they
 * do. */
static const char *make_line(struct row *r, struct block *block, const char *at, const char *const names[LOADS_MAX],
                             const char *out) {
    struct cuda *c = r->c;
    const char *e, *usual = NULL;
    if (is_quick(r)) {
        usual = le_cuda_name(c, "usual");
        le_cuda_line(c, block, "bool %s = true;", usual);
    }
    struct block *each = open_elements(r, block, at, &e);
    c->quick = usual ? each : NULL;
    c->usual = usual;
    know_elements(r, r->t->group_count, each, names, e);
    le_cuda_line(c, each, "%s[%s] = %s;", out, e, value_of(r, each));
    c->quick = NULL;
    le_cuda_close(c, each);
    return usual;
}

/* The same one at a time, in a few lines of text; unless `usual` (NULL: always). */
static void make_apart(struct row *r, struct block *block, const char *at, const char *const names[LOADS_MAX],
                       const char *out, const char *usual) {
    struct cuda *c = r->c;
    const char *turn = le_cuda_name(c, "turn"), *unless = usual ? le_arena_format(c->arena, "!%s && ", usual) : "";
    struct block *each = le_cuda_open(c, block,
                                      le_arena_format(c->arena, "#pragma unroll 1\nfor (int %s = 0; %s%s < %d; %s++)",
                                                      turn, unless, turn, r->all.width, turn));
    le_team_bind_one(c, each, r->all.indices[0], le_arena_format(c->arena, "%s + %s", at, turn), 0);
    c->rare = each;
    know_elements(r, r->t->group_count, each, names, "0");
    le_cuda_line(c, each, "%s[0] = %s;\nle_turn(%s);", out, value_of(r, each), out);
    c->rare = NULL;
    for (int k = 0; k < r->load_count; k++)
        if (names[k])
            le_cuda_line(c, each, "le_turn(%s);", names[k]);
    le_cuda_close(c, each);
}

static void emit_value(struct row *r) {
    struct cuda *c = r->c;
    struct group pass = pass_of_value(r);
    const char *names[LOADS_MAX], *line, *e;
    struct block *lines = open_lines(r, &line);
    const char *at = bind_line(r, lines, line);
    struct block *inside = open_inside(r, lines, line);
    if (is_wide(r)) {
        const char *out = declare_out(r, inside);
        get_lines(r, &pass, inside, "get", line, at, names);
        const char *usual = make_line(r, inside, at, names, out);
        if (usual)
            make_apart(r, inside, at, names, out, usual);
        store_line(r, inside, at, out);
    } else {
        get_lines(r, &pass, inside, "get", line, at, names);
        struct block *each = open_elements(r, inside, at, &e);
        know_elements(r, r->t->group_count, each, names, e);
        le_team_bind_one(c, each, r->t->rest_at[0], le_arena_format(c->arena, "%s + %s", at, e), 0);
        le_cuda_store(c, le_cuda_node(c, r->value, each, NULL), each);
        le_cuda_close(c, each);
    }
    le_cuda_close(c, inside);
    le_cuda_close(c, lines);
}

/* ---- values of lines that are in shared memory, too: READ_AHEAD at a time while there are as many, then the lines in
 * registers, and last those that are left, or not usual, one element at a time */

/* What the values read of a line apart from the row. */
static void read_ahead(struct row *r, struct block *block, const char *slot, const char *line) {
    const char *at = bind_line(r, block, line);
    for (int k = 0; k < r->load_count; k++)
        if (r->ahead[k])
            read_line(r, k, block, at, le_arena_format(r->c->arena, "%s[%s]", r->ahead[k], slot));
}

static void start_reading(struct row *r) {
    struct cuda *c = r->c;
    struct group pass = pass_of_value(r);
    bool read[LOADS_MAX];
    const char *slot = le_cuda_name(c, "slot");
    find_read(r, &pass, read);
    for (int k = 0; k < r->load_count; k++) {
        if (!read[k] || r->kept[k])
            continue;
        r->ahead[k] = le_cuda_name(c, le_arena_format(c->arena, "%s_ahead", le_cuda_value_name(c, r->loads[k]->value)));
        le_cuda_line(c, c->root, "%s %s[%d][%d];", stored_of(r, k), r->ahead[k], READ_AHEAD, r->all.width);
    }
    struct block *some =
        le_cuda_open(c, c->root, le_arena_format(c->arena, "if (%s - %d >= %d)", r->lines, r->shape.near, READ_AHEAD));
    struct block *slots = le_cuda_unrolled(c, some, slot, READ_AHEAD);
    read_ahead(r, slots, slot, le_arena_format(c->arena, "(%d + %s)", r->shape.near, slot));
    le_cuda_close(c, slots);
    le_cuda_close(c, some);
}

static void make_rolled_line(struct row *r, struct block *block, const char *get, const char *line, const char *slot,
                             const char *again) {
    struct cuda *c = r->c;
    struct group pass = pass_of_value(r);
    bool read[LOADS_MAX];
    const char *names[LOADS_MAX], *at = bind_line(r, block, line), *out = declare_out(r, block);
    find_read(r, &pass, read);
    for (int k = 0; k < r->load_count; k++)
        names[k] = !read[k]      ? NULL
                   : r->ahead[k] ? le_arena_format(c->arena, "%s[%s]", r->ahead[k], slot)
                                 : get_line(r, k, block, get, line, at);
    const char *usual = make_line(r, block, at, names, out);
    if (usual)
        le_cuda_line(c, block, "%s |= %s ? 0u : 1u << %s;", again, usual, line);
    store_line(r, block, at, out);
}

/* Lines in shared memory up to `end`. What is read ahead behind them is of the lines in registers. */
static void make_far_lines(struct row *r, struct block *block, const char *end, const char *again) {
    struct cuda *c = r->c;
    const char *first = le_cuda_name(c, "first"), *slot = le_cuda_name(c, "slot"), *line = le_cuda_name(c, "line"),
               *next = le_cuda_name(c, "next");
    struct block *loop =
        le_cuda_open(c, block,
                     le_arena_format(c->arena, "#pragma unroll 1\nfor (int %s = %d; %s < %s; %s += %d)", first,
                                     r->shape.near, first, end, first, READ_AHEAD));
    struct block *slots = le_cuda_unrolled(c, loop, slot, READ_AHEAD);
    le_cuda_line(c, slots, "const int %s = %s + %s;", line, first, slot);
    make_rolled_line(r, slots, "get_far", line, slot, again);
    if (r->reads) {
        le_cuda_line(c, slots, "const int %s = %s + %d < %s ? %s + %d : %s %% %d;", next, line, READ_AHEAD, end, line,
                     READ_AHEAD, slot, r->shape.near);
        read_ahead(r, slots, slot, next);
    }
    le_cuda_close(c, slots);
    le_cuda_close(c, loop);
}

static void make_near_lines(struct row *r, struct block *block, const char *again) {
    struct cuda *c = r->c;
    const char *line = le_cuda_name(c, "line"), *slot = le_cuda_name(c, "slot");
    struct block *lines = le_cuda_unrolled(c, block, line, r->shape.near);
    le_cuda_line(c, lines, "const int %s = %s %% %d;", slot, line, READ_AHEAD);
    make_rolled_line(r, lines, "get", line, slot, again);
    if (r->reads && r->shape.near > READ_AHEAD) {
        struct block *more =
            le_cuda_open(c, lines, le_arena_format(c->arena, "if (%s < %d)", line, r->shape.near - READ_AHEAD));
        read_ahead(r, more, slot, le_arena_format(c->arena, "(%s + %d)", line, READ_AHEAD));
        le_cuda_close(c, more);
    }
    le_cuda_close(c, lines);
}

static void make_lines_again(struct row *r, const char *again) {
    struct cuda *c = r->c;
    struct group pass = pass_of_value(r);
    const char *names[LOADS_MAX], *line = le_cuda_name(c, "line");
    struct block *loop = le_cuda_open(
        c, c->root, le_arena_format(c->arena, "#pragma unroll 1\nfor (; %s != 0; %s &= %s - 1)", again, again, again));
    le_cuda_line(c, loop, "const int %s = __ffs((int)%s) - 1;", line, again);
    const char *at = bind_line(r, loop, line), *out = declare_out(r, loop);
    get_lines(r, &pass, loop, "get_any", line, at, names);
    make_apart(r, loop, at, names, out, NULL);
    store_line(r, loop, at, out);
    le_cuda_close(c, loop);
}

static void emit_rolled(struct row *r) {
    struct cuda *c = r->c;
    const char *again = le_cuda_name(c, "again"), *end = le_cuda_name(c, "end"), *line = le_cuda_name(c, "line");
    int near = r->shape.near;
    le_cuda_line(c, c->root, "const int %s = %s - %d < %d ? 0 : %s - (%s - %d) %% %d;", end, r->lines, near, READ_AHEAD,
                 r->lines, r->lines, near, READ_AHEAD);
    le_cuda_line(c, c->root,
                 "unsigned %s = 0;\n#pragma unroll 1\nfor (int %s = %s; %s < %s; %s++)\n    %s |= 1u << %s;", again,
                 line, end, line, r->lines, line, again, line);
    struct block *most = le_cuda_open(c, c->root, le_arena_format(c->arena, "if (%s > 0)", end));
    make_far_lines(r, most, end, again);
    make_near_lines(r, most, again);
    le_cuda_close(c, most);
    make_lines_again(r, again);
}

/* One value a row. */
static void emit_one(struct row *r, const char *own) {
    struct cuda *c = r->c;
    le_cuda_line(c, c->root, "if (%s != 0)\n    return;", own);
    le_cuda_store(c, le_cuda_node(c, c->stage->node, c->root, NULL), c->root);
}

/* ---- the kernel */

/* How many lines the thread has. Only a warp that has all of them has an order of its own. */
static void name_lines(struct row *r, const char *lane, const char *point) {
    struct cuda *c = r->c;
    int line = WARP * r->all.width, lines = r->shape.lines;
    r->lines = le_cuda_name(c, "lines");
    le_cuda_line(c, c->root, "const int %s = %s <= 0 ? 0 : %s > %d ? %d : (%s + %d) / %d;", r->lines, r->left, r->left,
                 (lines - 1) * line, lines, r->left, line - 1, line);
    if (!r->reads)
        return;
    r->turn = le_cuda_name(c, "turn");
    le_cuda_line(c, c->root, "const int %s = %s + (%s - %d) * %d > %d ? (int)(%s %% %d) : 0;", r->turn, r->left, lane,
                 WARP - 1, r->all.width, (lines - 1) * line, point, lines);
}

/* Where the row is, and where in it the thread is; the answer: the thread's number among those of the row. */
static const char *begin(struct row *r) {
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
                     point, r->shape.rows, point, le_cuda_number(c, "points", t->points), r->base, lane, r->all.width);
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
    le_cuda_line(c, c->root, "const int %s = %s - %s;", r->left, le_group_count(c, &t->groups[0]), r->base);
    if (r->rolled)
        name_lines(r, lane, point);
    le_team_bind(c, c->root, t->points_at, t->points_count, point, t->points <= INT32_MAX);
    return own;
}

static const char *how(const struct row *r) {
    if (r->shape.cluster > 1)
        return le_arena_format(r->c->arena, "a cluster of %d blocks for each row, which they keep", r->shape.cluster);
    return r->shape.rows > 1 ? "a warp for each row, which it keeps" : "a block for each row, which it keeps";
}

static void set_launch(struct row *r, struct le_device_launches *out) {
    struct le_device_launch *launch = le_cuda_finish(r->c, out);
    const struct row_shape *s = &r->shape;
    launch->grid[0] = (unsigned)((r->t->points + s->rows - 1) / s->rows * s->cluster);
    launch->block[0] = (unsigned)(s->threads * s->rows);
    launch->grid[1] = launch->grid[2] = launch->block[1] = launch->block[2] = 1;
    launch->shared_bytes = s->far_bytes;
    launch->elements = r->t->points * r->t->rest;
    launch->how = how(r);
}

bool le_team_rows(struct cuda *c, struct team_stage *t, struct le_device_launches *out) {
    struct row r = {.c = c, .t = t};
    if (!find_row(&r))
        return false;
    c->block_threads = r.shape.most_threads;
    c->blocks = r.shape.resident;
    c->cluster = r.shape.cluster;
    const char *own = begin(&r);
    keep_rows(&r);
    for (int g = 0; g < t->group_count; g++) {
        const char *line_total = emit_group(&r, g);
        if (r.reads && g == t->group_count - 1)
            start_reading(&r); /* what comes while the blocks wait for each other */
        join_lines(&r, &t->groups[g], line_total);
    }
    if (r.rolled)
        emit_rolled(&r);
    else if (r.value)
        emit_value(&r);
    else
        emit_one(&r, own);
    set_launch(&r, out);
    return true;
}
