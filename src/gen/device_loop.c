/* Indices: their ranges as loops of one thread, and the distribution of the kept indices' points over the threads. */
#include "gen/device_gen.h"

#define SHORT_TERMS 32

void le_cuda_bind(struct cuda *c, struct block *block, int index, const char *text, bool narrow) {
    *LE_PUSH(c->arena, &block->binds) = index;
    c->indices[index] = (struct held){.text = text, .narrow = narrow, .block = block};
}

/* ---- ranges */

/* What the text says of a range. */
struct range {
    const struct le_ir_index *ix;
    const struct le_range *known;
    const char *low, *high, *by; /* expressions; by NULL: 1; high NULL: not asked for yet */
    bool narrow;
};

static const char *index_number(struct cuda *c, int index, const char *what, int64_t value, bool narrow) {
    const char *name = le_cuda_index_name(c, index);
    const char *text = le_cuda_number(c, le_arena_format(c->arena, "%s_%s", name, what), value);
    return narrow ? le_arena_format(c->arena, "(int)%s", text) : text;
}

static void find_fixed(struct cuda *c, int index, struct range *r) {
    const struct le_range *k = r->known;
    r->narrow = le_cuda_fits_int(k->low, k->high) && k->by <= INT32_MAX && k->high <= INT32_MAX - k->by;
    r->low = k->low == 0 ? "0" : index_number(c, index, "low", k->low, r->narrow);
    r->by = k->by == 1 ? NULL : index_number(c, index, "by", k->by, r->narrow);
}

/* A step that is not positive is a fault. */
static void ask_step(struct cuda *c, struct block *block, const char *outside, const char *by) {
    c->may_fault = true;
    const char *asked = outside ? le_arena_format(c->arena, " && !%s", outside) : "";
    le_cuda_line(c, block, "if (%s <= 0%s)\n    le_fault(%s, %s, %s, %d, %s)%s", by, asked, le_cuda_fault(c),
                 le_cuda_number(c, "action", c->job->action), le_cuda_point(c), LE_FAULT_STEP, by,
                 le_cuda_and_fails(c));
}

/* Bounds that are found as it runs. */
static void find_dynamic(struct cuda *c, struct block *block, const char *outside, struct range *r) {
    const struct le_range_nodes *nodes = &r->ix->range;
    const struct held *low = le_cuda_node(c, nodes->low, block, outside);
    const struct held *high = le_cuda_node(c, nodes->high, block, outside);
    r->narrow = low->narrow && high->narrow && !nodes->by;
    r->low = r->narrow ? low->text : le_cuda_wide(c, low);
    r->high = r->narrow ? high->text : le_cuda_wide(c, high);
    if (!nodes->by)
        return;
    r->by = le_cuda_wide(c, le_cuda_node(c, nodes->by, block, outside));
    bool is_positive = nodes->by->kind == LE_NODE_CONST && le_const_i64(nodes->by) > 0;
    if (is_positive && le_const_i64(nodes->by) <= INT32_MAX)
        return;
    if (!is_positive)
        ask_step(c, block, outside, r->by);
    const char *text = le_arena_format(c->arena, "le_step(%s, %s, %s)", r->low, r->high, r->by);
    const struct held *step = le_cuda_hold(c, block, LE_I64, false, "step", text);
    const struct held *end = le_cuda_hold(c, block, LE_I64, false, "end",
                                          le_arena_format(c->arena, "%s > 0 ? %s : %s", step->text, r->high, r->low));
    r->by = step->text;
    r->high = end->text;
}

static const char *end_of(struct cuda *c, int index, const struct range *r) {
    return r->high ? r->high : index_number(c, index, "high", r->known->high, r->narrow);
}

static struct range find_range(struct cuda *c, int index, struct block *block, const char *outside) {
    struct range r = {.ix = &c->ir->indices.at[index], .known = le_range_of(c->space, index)};
    if (r.known->dynamic)
        find_dynamic(c, block, outside, &r);
    else
        find_fixed(c, index, &r);
    return r;
}

struct block *le_cuda_loop(struct cuda *c, struct block *block, int index, const char *outside) {
    struct range r = find_range(c, index, block, outside);
    const char *name = le_cuda_index_name(c, index);
    const char *step =
        r.by ? le_arena_format(c->arena, "%s += %s", name, r.by) : le_arena_format(c->arena, "%s++", name);
    const char *head = le_arena_format(c->arena, "for (%s %s = %s; %s < %s; %s)", r.narrow ? "int" : "long long", name,
                                       r.low, name, end_of(c, index, &r), step);
    struct block *inner = le_cuda_open(c, block, head);
    le_cuda_bind(c, inner, index, name, r.narrow);
    return inner;
}

struct block *le_cuda_run(struct cuda *c, struct block *block, int index, bool down) {
    if (!down)
        return le_cuda_loop(c, block, index, NULL);
    struct range r = find_range(c, index, block, NULL);
    const char *name = le_cuda_index_name(c, index);
    struct block *inner =
        le_cuda_open(c, block,
                     le_arena_format(c->arena, "for (%s %s = %s - 1; %s >= %s; %s--)", r.narrow ? "int" : "long long",
                                     name, end_of(c, index, &r), name, r.low, name));
    le_cuda_bind(c, inner, index, name, r.narrow);
    return inner;
}

struct block *le_cuda_part_loop(struct cuda *c, struct block *block, int index, const char *part, const char *size) {
    struct range r = find_range(c, index, block, NULL);
    const char *name = le_cuda_index_name(c, index), *by = r.by ? r.by : "1";
    const char *turn =
        le_cuda_hold(c, block, LE_I64, false, "turn", le_arena_format(c->arena, "%s * %s", part, size))->text;
    const char *first =
        le_cuda_hold(c, block, LE_I64, false, "first", le_arena_format(c->arena, "%s + %s * %s", r.low, turn, by))
            ->text;
    const char *last =
        le_cuda_hold(c, block, LE_I64, false, "last", le_arena_format(c->arena, "%s + %s * %s", first, size, by))->text;
    struct block *inner =
        le_cuda_open(c, block,
                     le_arena_format(c->arena, "for (long long %s = %s; %s < %s && %s < %s; %s += %s)", name, first,
                                     name, last, name, end_of(c, index, &r), name, by));
    le_cuda_bind(c, inner, index, name, false);
    return inner;
}

/* ---- the element's number, for faults */

static int64_t most_of(const struct le_range *r) {
    if (r->dynamic)
        return r->bounded && r->high > r->low ? r->high - r->low : (int64_t)1 << 20;
    return le_range_count(r);
}

/* How many of its values come before the index's own. */
static const char *place_of(struct cuda *c, int index, const struct le_range *r) {
    if (!c->indices[index].text)
        return "0"; /* no value yet */
    const char *at = le_cuda_wide(c, &c->indices[index]);
    if (r->low != 0 && (!r->dynamic || r->bounded))
        at = le_arena_format(c->arena, "(%s - %s)", at, index_number(c, index, "low", r->low, false));
    if (r->by != 1 && !r->dynamic)
        at = le_arena_format(c->arena, "%s / %s", at, index_number(c, index, "by", r->by, false));
    return at;
}

const char *le_cuda_point(struct cuda *c) {
    const struct le_stage *stage = c->stage;
    struct words point = {0};
    for (int k = 0; k < stage->index_count; k++) {
        int index = stage->indices[k];
        const struct le_range *r = le_range_of(c->space, index);
        const char *most = index_number(c, index, "most", most_of(r), false);
        const char *at = place_of(c, index, r);
        if (point.length == 0)
            le_words_add(c->arena, &point, "%s", at);
        else
            point.at = le_arena_format(c->arena, "(%s) * %s + %s", point.at, most, at);
        point.length = 1;
    }
    const char *number = point.length ? le_arena_format(c->arena, "(unsigned long long)(%s)", point.at) : "0ull";
    if (c->terms)
        number = le_arena_format(c->arena, "%s * (unsigned long long)(%s + 1) + (unsigned long long)(%s)", number,
                                 c->terms, c->term ? c->term : c->terms);
    return number;
}

/* ---- threads to points */

struct shared {
    int at[16]; /* kept indices that threads share out */
    int count;
};

enum { HULL_MOST = 1 << 24 };
#define POINTS_MOST ((int64_t)1 << 36) /* a tenth of what a grid has */

/* Threads share a range whose values they can count: a fixed one, or one that lies in fixed bounds, which may be far
 * wider: an i32 of the data lies in 2^32 of them. Then it is a thread's loop. */
static bool is_countable(const struct le_range *r, int64_t *points) {
    int64_t all;
    if (r->dynamic &&
        (!r->bounded || most_of(r) > HULL_MOST || !le_mul_i64(*points, most_of(r), &all) || all > POINTS_MOST))
        return false;
    if (!le_mul_i64(*points, most_of(r), points))
        *points = INT64_MAX;
    return true;
}

struct deepest {
    struct cuda *c;
    int last; /* position of the last kept index that some reduction depends on */
    bool found;
};

/* Few terms are rather added up again for every element. */
static bool is_short(const struct cuda *c, const struct le_node *node) {
    int64_t terms = 1;
    for (int k = 0; k < node->index_count; k++) {
        const struct le_range *r = le_range_of(c->space, node->indices[k]);
        if (r->dynamic || !le_mul_i64(terms, le_range_count(r), &terms))
            return false;
    }
    return terms <= SHORT_TERMS && !node->operands[0]->reduces;
}

static void find_deepest(struct le_node *node, void *user) {
    struct deepest *d = user;
    if (node->kind != LE_NODE_REDUCE || is_short(d->c, node))
        return;
    d->found = true;
    for (int k = 0; k < d->c->stage->index_count; k++)
        if (le_node_depends(node, d->c->stage->indices[k]) && k > d->last)
            d->last = k;
}

/* What is computed once for several elements is one thread's, which then makes them all. */
static void find_shared(struct cuda *c, struct shared *s) {
    const struct le_stage *stage = c->stage;
    struct deepest d = {.c = c, .last = -1};
    if (stage->kind == LE_STAGE_MAP || stage->kind == LE_STAGE_CONTRACT)
        le_node_walk(c->ir, stage->node, find_deepest, &d);
    int count = d.found ? d.last + 1 : stage->index_count;
    int64_t points = 1;
    for (int k = 0; k < count && s->count < 16; k++) {
        if (!is_countable(le_range_of(c->space, stage->indices[k]), &points))
            break;
        s->at[s->count++] = stage->indices[k];
    }
}

static bool is_shared(const struct shared *s, int index) {
    for (int k = 0; k < s->count; k++)
        if (s->at[k] == index)
            return true;
    return false;
}

/* Each thread's place along the shared indices, the last running fastest. */
static void find_places(struct cuda *c, const struct shared *s, int64_t points, const char **place) {
    bool narrow = points <= INT32_MAX - 1024;
    const char *type = narrow ? "unsigned" : "unsigned long long", *rest = c->thread = le_cuda_name(c, "thread");
    le_cuda_line(c, c->root,
                 narrow ? "const unsigned %s = blockIdx.x * blockDim.x + threadIdx.x;"
                        : "const unsigned long long %s = (unsigned long long)blockIdx.x * blockDim.x + "
                          "threadIdx.x;",
                 rest);
    le_cuda_line(c, c->root, "if (%s >= (%s)%s)\n    return;", rest, type, le_cuda_number(c, "points", points));
    for (int k = s->count - 1; k >= 0; k--) {
        int index = s->at[k];
        if (k == 0) {
            place[k] = rest;
            break;
        }
        const char *count = index_number(c, index, "count", most_of(le_range_of(c->space, index)), false);
        const char *next = le_cuda_name(c, "rest");
        le_cuda_line(c, c->root, "const %s %s = %s / (%s)%s;", type, next, rest, type, count);
        place[k] = le_cuda_name(c, le_arena_format(c->arena, "%s_place", le_cuda_index_name(c, index)));
        le_cuda_line(c, c->root, "const %s %s = %s - %s * (%s)%s;", type, place[k], rest, next, type, count);
        rest = next;
    }
}

/* low + place * by, where that is below the end. */
static struct block *bind_place(struct cuda *c, struct block *block, int index, const char *place) {
    struct range r = find_range(c, index, block, NULL);
    const char *type = r.narrow ? "int" : "long long", *name = le_cuda_index_name(c, index);
    struct words value = {0};
    if (r.low[0] != '0' || r.low[1])
        le_words_add(c->arena, &value, "%s + ", r.low);
    le_words_add(c->arena, &value, "(%s)%s", type, place);
    if (r.by)
        le_words_add(c->arena, &value, " * %s", r.by);
    le_cuda_line(c, block, "const %s %s = %s;", type, name, value.at);
    if (r.known->dynamic)
        le_cuda_line(c, block, "if (%s >= %s)\n    return;", name, end_of(c, index, &r));
    struct block *inner = le_cuda_open(c, block, NULL);
    le_cuda_bind(c, inner, index, name, r.narrow);
    return inner;
}

void le_cuda_close_all(struct cuda *c, struct block *block) {
    for (; block != c->root; block = block->parent)
        le_cuda_close(c, block);
}

struct block *le_cuda_points(struct cuda *c, bool in_order, int64_t *points) {
    struct shared s = {.count = 0};
    const char *place[16];
    struct block *block = c->root;
    if (!in_order)
        find_shared(c, &s);
    *points = 1;
    for (int k = 0; k < s.count; k++)
        if (!le_mul_i64(*points, most_of(le_range_of(c->space, s.at[k])), points))
            *points = INT64_MAX;
    if (s.count > 0)
        find_places(c, &s, *points, place);
    for (int k = 0, q = 0; k < c->stage->index_count; k++) {
        int index = c->stage->indices[k];
        if (is_shared(&s, index))
            block = bind_place(c, block, index, place[q++]);
        else
            block = le_cuda_loop(c, block, index, NULL);
    }
    return block;
}

/* Threads share the first indices out in order, and each goes in order through the values of those that are left: of
 * what one thread writes to a place the last stays. */
const char *le_cuda_claim(struct cuda *c) {
    return c->thread ? le_arena_format(c->arena, "%s + 1ull", c->thread) : "1ull";
}
