/* Scatters: several points may meet at one element of the target. If the order does not affect the result, or can be
 * corrected (integers, minima and maxima, the last one that sets), all threads run in parallel (few elements:
 * private_scatter.c). Sums and products of floats keep the order of NUMERICS: in chunks whose totals are joined
 * in order (ordered_scatter.c). If the points cannot be counted, one thread processes them all. */
#include "gen/mapping/scatter.h"
#include <math.h>

struct le_expression *le_codegen_updated(struct codegen *c, enum le_scatter op, enum le_type type, bool meets,
                                         struct le_expression *now, struct le_expression *x) {
    static const enum le_op ops[] = {
        [LE_SCATTER_ADD] = LE_OP_ADD, [LE_SCATTER_SUB] = LE_OP_SUB, [LE_SCATTER_MUL] = LE_OP_MUL,
        [LE_SCATTER_DIV] = LE_OP_DIV, [LE_SCATTER_MIN] = LE_OP_MIN, [LE_SCATTER_MAX] = LE_OP_MAX};
    if (op == LE_SCATTER_SET)
        return x;
    now = le_codegen_from_memory(c, now, le_type_compute(type));
    if (meets && le_type_is_float(type) && (op == LE_SCATTER_MIN || op == LE_SCATTER_MAX)) {
        enum le_reduction code = op == LE_SCATTER_MIN ? LE_RED_MIN : LE_RED_MAX;
        return le_codegen_to_memory(c, le_codegen_fold(c, code, le_type_compute(type), now, x), type);
    }
    return le_codegen_to_memory(c, le_ktree_binary(c->tree, (int)ops[op], now, x), type);
}

/* ---- at once */

bool le_codegen_has_atomic_form(enum le_type type, enum le_scatter op) {
    size_t size = le_type_size(type);
    if (op == LE_SCATTER_SET)
        return false;
    if (type == LE_BOOL)
        return true;
    if (le_type_is_float(type))
        return op == LE_SCATTER_MIN || op == LE_SCATTER_MAX;
    return size > 1;
}

struct destination le_scatter_left_side(const struct codegen *c) {
    return (struct destination){.value = c->stage->target,
                                .rank = c->stage->left_count,
                                .access = c->stage->access,
                                .subscripts = c->stage->left};
}

/* Updates the element of the block's point, in the target or in the copy that begins at element `from` of `dense`.
 * Closes the block and those around it. */
static void update_place(struct codegen *c, struct le_block *block, bool atomic, struct le_variable *dense,
                         struct le_expression *from) {
    const struct le_stage *stage = c->stage;
    enum le_type type = c->ir->values.at[stage->target].type;
    struct le_expression *x = le_codegen_wide(c, le_codegen_node(c, stage->node, block, NULL)), *place;
    struct destination to = le_scatter_left_side(c);
    to.dense = dense;
    to.from = from;
    struct le_block *inner = le_codegen_place(c, &to, block, NULL, &place);
    if (atomic)
        le_ktree_add(
            c->tree, inner,
            (struct le_statement){.kind = LE_STATEMENT_UPDATE, .code = (int)stage->scatter, .to = place, .x = x});
    else
        le_ktree_set(c->tree, inner, place, le_codegen_updated(c, stage->scatter, type, true, place, x));
    if (inner != block)
        le_ktree_close(c->tree, inner);
    le_codegen_close_all(c, block);
}

static leat_status make_atomic(const struct le_mapping *m, void *found, struct le_generated_launches *out) {
    const struct scatter_stage *s = found;
    struct codegen c;
    int64_t threads;
    (void)m;
    le_codegen_begin(&c, s->job, s->stage, "");
    update_place(&c, le_codegen_points(&c, false, &threads), true, NULL, NULL);
    struct le_generated_launch *launch = le_codegen_finish(&c, out);
    launch->how = "a thread for each point, atomically";
    return le_codegen_set_grid(&c, launch, threads);
}

/* ---- the last point in order sets an element: all points first claim their elements with their numbers, then the
 * point with the greatest number writes */

static leat_status set_pass(const struct le_device_kernel_job *job, const struct le_stage *stage, size_t work,
                            bool writes, struct le_generated_launches *out) {
    struct codegen c;
    int64_t threads;
    struct le_expression *place, *number;
    le_codegen_begin(&c, job, stage, writes ? "" : "_claim");
    enum le_type type = c.ir->values.at[stage->target].type;
    struct le_variable *winners =
        le_codegen_parameter(&c, LE_ARGUMENT_WORK, -1, (int64_t)work, LE_KTREE_ULONG, "winners");
    struct le_block *block = le_codegen_points(&c, false, &threads);
    struct destination to = le_scatter_left_side(&c), claim = to;
    claim.dense = winners;
    struct le_block *inner = le_codegen_place(&c, &claim, block, NULL, &number);
    struct le_expression *own = le_codegen_claim(&c);
    if (writes) {
        struct le_block *winner = le_ktree_open_if(c.tree, inner, le_ktree_binary(c.tree, LE_OP_EQ, number, own));
        winner->conditional = true;
        to.trusted = true;
        le_codegen_place(&c, &to, winner, NULL, &place);
        le_ktree_set(c.tree, winner, place,
                     le_codegen_to_memory(&c, le_codegen_node(&c, stage->node, winner, NULL), type));
        le_ktree_close(c.tree, winner);
    } else {
        if (!le_node_is_safe(&c.safety, stage->node)) /* its faults count even if another point wins */
            le_codegen_node(&c, stage->node, block, NULL);
        struct le_expression *x[] = {le_ktree_address(c.tree, number), own};
        le_do(c.tree, inner, LE_CALL_CLAIM, NULL, x);
    }
    if (inner != block)
        le_ktree_close(c.tree, inner);
    le_codegen_close_all(&c, block);
    struct le_generated_launch *launch = le_codegen_finish(&c, out);
    launch->how = writes ? "a thread for each point: the last one writes" : "a thread for each point claims its place";
    return le_codegen_set_grid(&c, launch, threads);
}

static leat_status make_claim(const struct le_mapping *m, void *found, struct le_generated_launches *out) {
    const struct scatter_stage *s = found;
    size_t work = out->work_bytes;
    (void)m;
    out->work_bytes += (size_t)(s->chunks.elements ? s->chunks.elements : 1) * 8; /* work memory is never empty */
    out->zeroed_bytes = out->work_bytes;
    leat_status status = set_pass(s->job, s->stage, work, false, out);
    return status == LEAT_OK ? set_pass(s->job, s->stage, work, true, out) : status;
}

/* ---- in order, in chunks */

static struct le_variable *copies_of(struct codegen *c, const struct scatter_stage *s) {
    enum le_type type = c->ir->values.at[c->stage->target].type;
    return le_codegen_parameter(c, LE_ARGUMENT_WORK, -1, (int64_t)s->copies, (int)type, "copies");
}

static struct le_expression *open_threads(struct codegen *c, const char *name, int64_t count) {
    struct le_expression *most = le_codegen_number(c, name, count);
    struct le_expression *thread = le_codegen_thread(c, "thread", LE_KTREE_LONG);
    le_ktree_end_if(c->tree, c->root, le_ktree_binary(c->tree, LE_OP_GE, thread, most));
    return thread;
}

struct le_expression *le_scatter_minus_zero(struct codegen *c) {
    enum le_type type = c->ir->values.at[c->stage->target].type;
    uint64_t bits = (uint64_t)1 << (8 * le_type_size(type) - 1);
    return le_ktree_constant(c->tree, (int)type, bits);
}

static leat_status clear_copies(const struct scatter_stage *s, struct le_generated_launches *out) {
    const struct le_chunks *chunks = &s->chunks;
    struct codegen c;
    le_codegen_begin(&c, s->job, s->stage, "_clear");
    struct le_expression *thread = open_threads(&c, "elements", chunks->count * chunks->elements);
    le_ktree_set(c.tree, c.root, le_ktree_element(c.tree, copies_of(&c, s), thread), le_scatter_minus_zero(&c));
    struct le_generated_launch *launch = le_codegen_finish(&c, out);
    launch->how = "a thread for each element of the copies";
    return le_codegen_set_grid(&c, launch, chunks->count * chunks->elements);
}

static leat_status take_whole(const struct scatter_stage *s, struct le_generated_launches *out) {
    struct codegen c;
    int64_t threads;
    le_codegen_begin(&c, s->job, s->stage, "");
    update_place(&c, le_codegen_points(&c, true, &threads), false, NULL, NULL);
    struct le_generated_launch *launch = le_codegen_finish(&c, out);
    launch->how = "one thread, in order";
    return le_codegen_set_grid(&c, launch, threads);
}

static leat_status take_chunks(const struct scatter_stage *s, struct le_generated_launches *out) {
    const struct le_stage *stage = s->stage;
    const struct le_chunks *chunks = &s->chunks;
    struct codegen c;
    le_codegen_begin(&c, s->job, stage, "_chunks");
    struct le_expression *thread = open_threads(&c, "chunks", chunks->count);
    struct le_expression *size = le_codegen_number(&c, "chunk_size", chunks->size);
    struct le_block *block = le_codegen_part_loop(&c, c.root, stage->indices[0], thread, size);
    for (int k = 1; k < stage->index_count; k++)
        block = le_codegen_loop(&c, block, stage->indices[k], NULL);
    struct le_expression *from = le_times(c.tree, thread, le_codegen_number(&c, "elements", chunks->elements));
    update_place(&c, block, false, copies_of(&c, s), from);
    struct le_generated_launch *launch = le_codegen_finish(&c, out);
    launch->how = "a thread for each chunk, into a copy";
    return le_codegen_set_grid(&c, launch, chunks->count);
}

/* target[e] += each copy's, in their order. */
static leat_status join_copies(const struct scatter_stage *s, struct le_generated_launches *out) {
    const struct le_chunks *chunks = &s->chunks;
    struct codegen c;
    le_codegen_begin(&c, s->job, s->stage, "");
    struct le_kernel_tree *t = c.tree;
    enum le_type type = c.ir->values.at[s->stage->target].type;
    struct le_expression *elements = le_codegen_number(&c, "elements", chunks->elements);
    struct le_expression *thread = open_threads(&c, "elements", chunks->elements);
    struct le_expression *place = le_codegen_dense_element(&c, s->stage->target, c.root, thread);
    struct le_expression *total = le_ktree_use(t, le_ktree_declare(t, c.root, "total", (int)type, place));
    struct le_variable *k = le_ktree_variable(t, "k", LE_KTREE_LONG);
    struct le_block *loop = le_ktree_open_loop(t, c.root, LE_ROLE_SERIAL, k, le_ktree_long(t, 0),
                                               le_codegen_number(&c, "chunks", chunks->count), NULL);
    struct le_expression *at = le_plus(t, le_times(t, le_ktree_use(t, k), elements), thread);
    struct le_expression *one = le_ktree_element(t, copies_of(&c, s), at);
    le_ktree_set(t, loop, total, le_ktree_binary(t, LE_OP_ADD, total, one));
    le_ktree_close(t, loop);
    le_ktree_set(t, c.root, place, total);
    struct le_generated_launch *launch = le_codegen_finish(&c, out);
    launch->how = "a thread for each element joins the copies";
    return le_codegen_set_grid(&c, launch, chunks->elements);
}

/* take: makes the kernel that adds the terms in order. clears: that kernel adds to copies, which must be cleared first.
 */
static leat_status make_in_order(struct scatter_stage *s,
                                 leat_status (*take)(const struct scatter_stage *s, struct le_generated_launches *out),
                                 bool clears, struct le_generated_launches *out) {
    leat_status status = LEAT_OK;
    if (s->chunks.count < 2)
        return take(s, out);
    s->copies = out->work_bytes;
    out->work_bytes += (size_t)(s->chunks.count * s->chunks.elements) * 8;
    if (clears)
        status = clear_copies(s, out);
    if (status == LEAT_OK)
        status = take(s, out);
    return status == LEAT_OK ? join_copies(s, out) : status;
}

static leat_status make_owners(const struct le_mapping *m, void *found, struct le_generated_launches *out) {
    (void)m;
    return make_in_order(found, le_scatter_by_owners, false, out);
}

static leat_status make_blocks(const struct le_mapping *m, void *found, struct le_generated_launches *out) {
    (void)m;
    return make_in_order(found, le_scatter_by_blocks, true, out);
}

static leat_status make_loop(const struct le_mapping *m, void *found, struct le_generated_launches *out) {
    struct scatter_stage *s = found;
    (void)m;
    return make_in_order(s, s->chunks.count < 2 ? take_whole : take_chunks, true, out);
}

/* ---- proposals */

#define TAKE_SECONDS 2e-9 /* time in which a thread examines one term in shared memory */

static void propose(struct le_mapping_search *search, enum le_mapping_kind kind,
                    leat_status (*make)(const struct le_mapping *mapping, void *found,
                                        struct le_generated_launches *out),
                    struct scatter_stage *s, struct le_cost cost) {
    int last = s->stage->index_count ? s->stage->indices[s->stage->index_count - 1] : -1;
    cost.bytes += 2 * le_cost_target_bytes(s->job, s->stage, last);
    le_mapping_add(search, kind, make, s)->seconds = le_cost_seconds(s->job->facts, &cost);
}

static void propose_at_once(struct le_mapping_search *search, struct scatter_stage *s) {
    struct codegen c;
    le_codegen_begin(&c, s->job, s->stage, "");
    struct le_cost cost = le_cost_of_points(s->job, s->stage, (double)le_codegen_threads(&c));
    if (le_codegen_has_atomic_form(c.ir->values.at[s->stage->target].type, s->stage->scatter))
        propose(search, LE_MAPPING_SCATTER_ATOMIC, make_atomic, s, cost);
    else if (s->stage->scatter == LE_SCATTER_SET)
        propose(search, LE_MAPPING_SCATTER_CLAIM, make_claim, s, le_cost_twice(cost));
}

static void propose_in_order(struct le_mapping_search *search, struct scatter_stage *s) {
    const struct le_chunks *chunks = &s->chunks;
    bool chunked = chunks->count > 1;
    struct le_cost cost = le_cost_of_points(s->job, s->stage, (double)chunks->count), shared = cost;
    double points = le_cost_points(s->job, s->stage) / (double)chunks->count;
    shared.threads *= SCATTER_THREADS;
    shared.team_seconds = points * TAKE_SECONDS;
    shared.launches = chunked ? 2 : 1;
    if (chunked && le_scatter_is_countable(s) && chunks->elements <= SCATTER_OWNERS_MOST)
        propose(search, LE_MAPPING_SCATTER_OWNERS, make_owners, s, shared);
    shared.launches = cost.launches = chunked ? 3 : 1;
    if (le_scatter_is_countable(s) && s->stage->left_count > 0)
        propose(search, LE_MAPPING_SCATTER_BLOCKS, make_blocks, s, shared);
    propose(search, LE_MAPPING_SCATTER_LOOP, make_loop, s, cost);
}

/* Private copies are preferred where they pay, and otherwise the first of the others that fits. */
void le_propose_scatters(struct le_mapping_search *search) {
    const struct le_kernel *k = &search->job->kernel;
    const struct le_stage *stage = search->stage;
    struct scatter_stage *s = LE_NEW(k->arena, struct scatter_stage);
    int64_t elements = le_codegen_elements(search->job, stage->target);
    bool chunks = stage->scatter == LE_SCATTER_ADD && le_type_is_float(k->ir->values.at[stage->target].type);
    *s = (struct scatter_stage){.job = search->job, .stage = stage};
    s->chunks = chunks ? le_scatter_chunks(k, stage) : (struct le_chunks){.count = 1, .elements = elements};
    le_propose_private_scatter(search);
    const struct le_mapping *first = &search->at[search->count];
    propose_at_once(search, s);
    propose_in_order(search, s);
    if (!search->preferred)
        search->preferred = first;
}
