/* Scatters whose order affects the result: sums of floats, and operations without an atomic form. A thread block takes
 * its points in order, one for each thread at a time. Each thread computes one point's term; then each thread applies,
 * in order, the terms for the elements that it owns. Every element thus gets its terms in the order of the stage's
 * indices, whatever the number of threads. If there are few elements, a thread owns one of them and keeps its total in
 * a register. */
#include "gen/mapping/group_reduce.h"
#include "gen/mapping/scatter.h"

enum { BLOCK = SCATTER_THREADS }; /* threads, points at once, and owners of places */

bool le_scatter_is_countable(const struct scatter_stage *s) {
    const struct le_stage *stage = s->stage;
    return le_ranges_are_fixed(s->job->kernel.space, stage->indices, stage->index_count) && stage->index_count > 0 &&
           stage->index_count <= POINTS_MAX;
}

/* One kernel. A block takes the points of one chunk; few: of a chunk, those for 256 of its elements. */
struct ordered {
    struct codegen *c;
    const struct le_chunks *chunks;
    bool few;
    int type; /* to compute in */
    struct le_variable *array, *places, *terms;
    struct le_expression *chunk, *elements; /* the chunk's number; of a copy */
    struct le_expression *own, *total;      /* few: the thread's element, and its total */
};

/* A point's term and its place, which is -1 where there is none. */
static void make_terms(const struct ordered *o, struct le_block *block, struct le_expression *point,
                       struct le_expression *end) {
    struct codegen *c = o->c;
    struct le_kernel_tree *t = c->tree;
    const struct le_stage *stage = c->stage;
    struct le_expression *term =
        le_ktree_use(t, le_ktree_declare(t, block, "term", o->type, le_ktree_constant(t, o->type, 0)));
    struct le_expression *place =
        le_ktree_use(t, le_ktree_declare(t, block, "place", LE_KTREE_LONG, le_ktree_long(t, -1)));
    struct le_block *inner = le_ktree_open_if(t, block, le_less(t, point, end));
    inner->conditional = true;
    le_team_bind(c, inner, stage->indices, stage->index_count, point, false);
    struct le_expression *x = le_codegen_wide(c, le_codegen_node(c, stage->node, inner, NULL)), *element;
    struct destination to = le_scatter_left_side(c);
    to.numbered = o->chunks->count > 1;
    struct le_block *inside = le_codegen_place(c, &to, inner, NULL, &element);
    le_ktree_set(t, inside, term, x);
    le_ktree_set(t, inside, place, le_ktree_cast(t, LE_KTREE_LONG, to.numbered ? element : element->x[0]));
    if (inside != inner)
        le_ktree_close(t, inside);
    le_ktree_close(t, inner);
    struct le_expression *thread = le_ktree_thread(t, LE_THREAD_X);
    le_ktree_set(t, block, le_ktree_element(t, o->terms, thread), term);
    le_ktree_set(t, block, le_ktree_element(t, o->places, thread), le_ktree_cast(t, o->places->type, place));
}

/* Each thread adds the terms of its element to a total of its own. */
static void add_term(const struct ordered *o, struct le_block *block, struct le_expression *place,
                     struct le_expression *from) {
    struct codegen *c = o->c;
    struct le_expression *term = le_let(c->tree, block, "term", from);
    struct le_block *inner = le_ktree_open_if(c->tree, block, le_ktree_binary(c->tree, LE_OP_EQ, place, o->own));
    le_ktree_set(c->tree, inner, o->total,
                 le_codegen_updated(c, c->stage->scatter, (enum le_type)o->type, true, o->total, term));
    le_ktree_close(c->tree, inner);
}

/* Places beside each other have different owners, and so have those that are a row apart. */
static void take_term(const struct ordered *o, struct le_block *block, struct le_expression *place,
                      struct le_expression *term) {
    struct codegen *c = o->c;
    struct le_kernel_tree *t = c->tree;
    struct le_expression *at = le_let(t, block, "at", place);
    struct le_expression *mixed =
        le_ktree_binary(t, LE_OP_XOR, at, le_ktree_binary(t, LE_OP_SHR, at, le_ktree_int(t, 8)));
    struct le_expression *owner =
        le_ktree_binary(t, LE_OP_AND, le_ktree_cast(t, LE_KTREE_UINT, mixed), le_ktree_int(t, BLOCK - 1));
    struct le_expression *is_own = le_ktree_binary(t, LE_OP_EQ, owner, le_ktree_thread(t, LE_THREAD_X));
    struct le_block *inner =
        le_ktree_open_if(t, block, le_both(t, le_ktree_binary(t, LE_OP_GE, at, le_ktree_int(t, 0)), is_own));
    if (o->elements)
        at = le_plus(t, le_times(t, o->chunk, o->elements), at);
    struct le_expression *element = le_ktree_element(t, o->array, at);
    le_ktree_set(t, inner, element,
                 le_codegen_updated(c, c->stage->scatter, (enum le_type)o->array->type, true, element, term));
    le_ktree_close(t, inner);
}

/* The terms of the block's points, in order. */
static void take_terms(const struct ordered *o, struct le_block *block) {
    struct le_kernel_tree *t = o->c->tree;
    struct le_variable *k = le_ktree_variable(t, "k", LE_KTREE_INT);
    le_ktree_barrier(t, block);
    struct le_block *loop = le_ktree_open_loop(t, block, o->few ? LE_ROLE_UNROLLED : LE_ROLE_SERIAL, k,
                                               le_ktree_int(t, 0), le_ktree_int(t, BLOCK), NULL);
    loop->owner->count = o->few ? 16 : 0;
    (o->few ? add_term : take_term)(o, loop, le_ktree_element(t, o->places, le_ktree_use(t, k)),
                                    le_ktree_element(t, o->terms, le_ktree_use(t, k)));
    le_ktree_close(t, loop);
    le_ktree_barrier(t, block);
}

/* Vectors of both are read where a thread goes through them all. */
static struct le_variable *share(const struct ordered *o, const char *name, int type) {
    struct le_kernel_tree *t = o->c->tree;
    struct le_variable *array = le_ktree_array(t, o->c->root, name, type, LE_KTREE_SHARED, BLOCK, 0);
    t->root->list.at[t->root->list.count - 1]->aligned = o->few;
    return array;
}

static void begin_few(struct ordered *o, int64_t parts) {
    struct codegen *c = o->c;
    struct le_kernel_tree *t = c->tree;
    struct le_expression *over = le_ktree_cast(t, LE_KTREE_UINT, le_codegen_number(c, "parts", parts));
    struct le_expression *block = le_ktree_thread(t, LE_BLOCK_X);
    o->chunk = le_let(t, c->root, "number", le_ktree_quotient(t, block, over));
    struct le_expression *part = le_minus(t, block, le_times(t, o->chunk, over));
    struct le_expression *own = le_plus(t, le_times(t, part, le_ktree_int(t, BLOCK)), le_ktree_thread(t, LE_THREAD_X));
    o->own = le_let(t, c->root, "own", le_ktree_cast(t, LE_KTREE_INT, own));
    o->total = le_ktree_use(t, le_ktree_declare(t, c->root, "total", o->type, le_scatter_minus_zero(c)));
}

static void leave_total(const struct ordered *o) {
    struct le_kernel_tree *t = o->c->tree;
    struct le_block *inner = le_ktree_open_if(t, t->root, le_less(t, o->own, o->elements));
    struct le_expression *at = le_plus(t, le_times(t, o->chunk, o->elements), o->own);
    le_ktree_set(t, inner, le_ktree_element(t, o->array, at), o->total);
    le_ktree_close(t, inner);
}

/* All points of the chunk, one for each thread at a time. */
static void take_points(const struct ordered *o, int64_t points, int64_t of_chunk) {
    struct codegen *c = o->c;
    struct le_kernel_tree *t = c->tree;
    struct le_expression *size = le_codegen_number(c, "chunk", of_chunk), *all = le_codegen_number(c, "points", points);
    struct le_expression *begin = le_let(t, c->root, "begin", le_times(t, o->chunk, size));
    struct le_expression *next = le_plus(t, begin, size);
    struct le_expression *end = le_let(t, c->root, "end", le_ktree_select(t, le_less(t, next, all), next, all));
    struct le_variable *some = le_ktree_variable(t, "some", LE_KTREE_LONG);
    struct le_block *loop = le_ktree_open_loop(t, c->root, LE_ROLE_SERIAL, some, begin, end, le_ktree_int(t, BLOCK));
    struct le_expression *own = le_plus(t, le_ktree_use(t, some), le_ktree_thread(t, LE_THREAD_X));
    make_terms(o, loop, le_let(t, loop, "point", own), end);
    take_terms(o, loop);
    le_ktree_close(t, loop);
}

static leat_status generate(const struct scatter_stage *s, bool few, struct le_generated_launches *out) {
    struct codegen c;
    const struct le_device_kernel_job *job = s->job;
    const struct le_stage *stage = s->stage;
    const struct le_chunks *chunks = &s->chunks;
    const struct le_value *target = &job->kernel.ir->values.at[stage->target];
    bool copied = chunks->count > 1;
    struct ordered o = {.c = &c, .chunks = chunks, .few = few, .type = (int)le_type_compute(target->type)};
    int64_t points = le_kernel_points(&job->kernel, stage), parts = few ? (chunks->elements + BLOCK - 1) / BLOCK : 1;
    le_codegen_begin(&c, job, stage, copied ? "_chunks" : "");
    o.places = share(&o, "places", few ? LE_KTREE_INT : LE_KTREE_LONG);
    o.terms = share(&o, "terms", o.type);
    o.array = le_codegen_parameter(&c, copied ? LE_ARGUMENT_WORK : LE_ARGUMENT_TARGET, copied ? -1 : target->id,
                                   copied ? (int64_t)s->copies : 0, (int)target->type, copied ? "copies" : NULL);
    o.elements = copied ? le_codegen_number(&c, "elements", chunks->elements) : NULL;
    o.chunk = le_ktree_thread(c.tree, LE_BLOCK_X);
    if (few)
        begin_few(&o, parts);
    take_points(&o, points,
                copied ? chunks->size * le_points(job->kernel.space, stage->indices + 1, stage->index_count - 1)
                       : points);
    if (few)
        leave_total(&o);
    struct le_generated_launch *launch = le_codegen_finish(&c, out);
    launch->how = few      ? "a thread for each element of a chunk, in order"
                  : copied ? "a block for each chunk, in order, into a copy"
                           : "one block, in order";
    leat_status status = le_codegen_set_grid(&c, launch, chunks->count * parts * BLOCK);
    launch->elements = points;
    return status;
}

leat_status le_scatter_by_owners(const struct scatter_stage *s, struct le_generated_launches *out) {
    return generate(s, true, out);
}

leat_status le_scatter_by_blocks(const struct scatter_stage *s, struct le_generated_launches *out) {
    return generate(s, false, out);
}
