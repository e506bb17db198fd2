/* Scatters whose order does not affect the result, into a target with few elements. Each thread block has copies of the
 * target in shared memory, which its threads update atomically. Then it updates the target with the copied elements
 * that changed. If the copies fit, each lane of a warp has its own, so that collisions cost nothing. The text does not
 * depend on the extents: the number of copies is an argument. */
#include "gen/mapping/map.h"
#include "gen/mapping/scatter.h"
#include <math.h>

#define COPIES_BYTES   ((int64_t)48 << 10) /* of a block; several are resident */
#define LANES          32
#define RESIDENT       4    /* blocks that a multiprocessor has at once */
#define LARGE_THREADS  1024 /* of the one block, where one copy takes more than that */
#define POINTS_MIN     2048
#define POINTS_A_PLACE 8 /* that a block has at least */

enum form {
    FORM_COUNT, /* the term is the same for all points: how many there were */
    FORM_WORD,  /* a sum of 32 bits */
    FORM_PAIR,  /* a sum of 64 bits, which shared memory cannot add: low and high words apart */
    FORM_BEST   /* minima and maxima */
};
struct own {
    struct map m;
    enum form form;
    enum le_type type, word;              /* of the target's elements; of a copy's */
    int64_t elements, points, bytes;      /* bytes: of one copy */
    int64_t parts, blocks;                /* a block takes some parts */
    int copies;                           /* a power of two; an element's lie side by side */
    struct le_variable *own, *mine;       /* all copies; the same from the lane's first element on */
    struct le_expression *count, *length; /* copies, elements */
};

static bool is_sum(const struct le_stage *stage) {
    return stage->scatter == LE_SCATTER_ADD || stage->scatter == LE_SCATTER_SUB;
}

static bool is_same_for_all(const struct le_stage *stage) {
    const struct le_node *x = stage->node;
    for (int k = 0; k < stage->index_count; k++)
        if (le_node_depends(x, stage->indices[k]))
            return false;
    return !x->loads && !x->changes;
}

static void find_form(struct own *o) {
    const struct le_stage *stage = o->m.stage;
    bool wide = le_type_size(o->type) == 8;
    o->word = LE_U32;
    if (!is_sum(stage)) {
        o->form = FORM_BEST;
        if (wide || le_type_is_float(o->type))
            o->word = le_type_compute(o->type);
        else if (!le_type_is_unsigned(o->type))
            o->word = LE_I32;
    } else if (is_same_for_all(stage)) {
        o->form = FORM_COUNT;
    } else {
        o->form = wide ? FORM_PAIR : FORM_WORD;
    }
    o->bytes = o->elements * (wide && o->form != FORM_COUNT ? 8 : 4);
}

/* Of points that are few, or few for each element, the copies cost more than they save. */
static bool is_worth_copies(const struct own *o) {
    return o->points >= POINTS_MIN && o->points >= o->elements * POINTS_A_PLACE;
}

/* false: the copies do not fit. */
static bool find_copies(struct own *o) {
    struct map *m = &o->m;
    const struct le_device_facts *facts = m->c.job->facts;
    int64_t most =
        (int64_t)(facts->shared_most_bytes > facts->shared_bytes ? facts->shared_most_bytes : facts->shared_bytes);
    int64_t blocks = facts->multiprocessors, part, few;
    if (o->bytes > most)
        return false;
    if (o->bytes > COPIES_BYTES) {
        m->threads = LARGE_THREADS;
    } else {
        while (o->copies < LANES && o->bytes * o->copies * 2 <= COPIES_BYTES)
            o->copies *= 2;
        few = most / (o->bytes * o->copies + 1024);
        blocks *= few > RESIDENT ? RESIDENT : few > 1 ? few : 1;
        m->c.tree->resident = RESIDENT;
    }
    part = (int64_t)m->threads * m->unroll;
    o->parts = (m->items + part - 1) / part;
    few = o->points / (o->elements * POINTS_A_PLACE);
    blocks = blocks < o->parts ? blocks : o->parts;
    o->blocks = blocks < few ? blocks : few > 1 ? few : 1;
    return o->points / o->blocks < (int64_t)1 << 31; /* what a word counts to */
}

/* ---- the kernel */

/* What a copy has where nothing met. */
static struct le_expression *empty(struct own *o, int type) {
    enum le_reduction code = o->m.stage->scatter == LE_SCATTER_MIN ? LE_RED_MIN : LE_RED_MAX;
    struct le_kernel_tree *t = o->m.c.tree;
    if (o->form != FORM_BEST)
        return le_ktree_constant(t, type, 0);
    return le_ktree_cast(t, type, le_codegen_empty(&o->m.c, code, le_type_compute(o->type)));
}

/* A loop that the block's threads share. */
static struct le_block *open_shared(struct own *o, const char *wish, struct le_expression *count,
                                    struct le_expression **number) {
    struct le_kernel_tree *t = o->m.c.tree;
    struct le_variable *k = le_ktree_variable(t, wish, LE_KTREE_UINT);
    *number = le_ktree_use(t, k);
    return le_ktree_open_loop(t, o->m.c.root, LE_ROLE_SERIAL, k, le_ktree_thread(t, LE_THREAD_X), count,
                              le_ktree_constant(t, LE_KTREE_UINT, (uint64_t)o->m.threads));
}

/* The copies of a block start as if nothing had met there. */
static void clear_copies(struct own *o) {
    struct codegen *c = &o->m.c;
    struct le_kernel_tree *t = c->tree;
    struct le_expression *k;
    o->count = le_ktree_cast(t, LE_KTREE_UINT, le_codegen_number(c, "copies", o->copies));
    o->length = le_ktree_cast(t, LE_KTREE_UINT, le_codegen_number(c, "elements", o->elements));
    o->own = le_ktree_array(t, c->root, "own", (int)o->word, LE_KTREE_DYNAMIC, 0, 0);
    struct le_expression *words = le_let(t, c->root, "words", le_times(t, o->length, o->count));
    struct le_block *block = open_shared(o, "k", le_times(t, words, le_ktree_int(t, o->form == FORM_PAIR ? 2 : 1)), &k);
    le_ktree_set(t, block, le_ktree_element(t, o->own, k), empty(o, (int)o->word));
    le_ktree_close(t, block);
    le_ktree_barrier(t, c->root);
    struct le_expression *lane =
        le_ktree_binary(t, LE_OP_AND, le_ktree_thread(t, LE_THREAD_X), le_minus(t, o->count, le_ktree_int(t, 1)));
    o->mine = le_ktree_pointer(t, c->root, "mine", (int)o->word, o->own->memory,
                               le_ktree_address(t, le_ktree_element(t, o->own, lane)));
}

static void update(struct own *o, struct le_block *block, enum le_scatter scatter, struct le_expression *to,
                   struct le_expression *x) {
    le_ktree_add(o->m.c.tree, block,
                 (struct le_statement){.kind = LE_STATEMENT_UPDATE, .code = (int)scatter, .to = to, .x = x});
}

/* A point's update of its copy. */
static void update_copy(struct own *o, struct le_block *block) {
    struct codegen *c = &o->m.c;
    struct le_kernel_tree *t = c->tree;
    const struct le_stage *stage = o->m.stage;
    bool pair = o->form == FORM_PAIR, sum = pair || o->form == FORM_WORD;
    int type = (int)(pair ? LE_U64 : o->word);
    struct le_expression *x = le_codegen_wide(c, le_codegen_node(c, stage->node, block, NULL)), *number;
    struct destination to = le_scatter_left_side(c);
    to.numbered = true;
    struct le_block *inner = le_codegen_place(c, &to, block, NULL, &number);
    struct le_expression *of[] = {le_ktree_use(t, o->mine), number, o->count};
    struct le_variable *copy = le_ktree_pointer(t, inner, "copy", (int)o->word, o->own->memory,
                                                le_ktree_call(t, LE_CALL_COPY, (int)o->word, NULL, of));
    x = o->form == FORM_COUNT ? le_ktree_constant(t, type, 1) : le_ktree_cast(t, type, x);
    if (sum && stage->scatter == LE_SCATTER_SUB)
        x = le_ktree_binary(t, LE_OP_SUB, le_ktree_constant(t, type, 0), x);
    struct le_expression *operands[] = {le_ktree_use(t, copy), le_times(t, o->length, o->count), x};
    if (pair)
        le_do(t, inner, LE_CALL_PAIR_ADD, NULL, operands);
    else
        update(o, inner, o->form == FORM_BEST ? stage->scatter : LE_SCATTER_ADD,
               le_ktree_element(t, copy, le_ktree_int(t, 0)), x);
    if (inner != block)
        le_ktree_close(t, inner);
}

static struct le_expression *copies_call(struct own *o, enum le_library_call call, struct le_expression *first) {
    struct le_kernel_tree *t = o->m.c.tree;
    struct le_expression *x[] = {le_ktree_address(t, le_ktree_element(t, o->own, first)), o->count};
    return le_ktree_call(t, call, (int)o->word, NULL, x);
}

/* The total of an element's copies, as what the target is updated with. */
static struct le_expression *total(struct own *o, struct le_block *block, struct le_expression *element) {
    struct le_kernel_tree *t = o->m.c.tree;
    struct le_expression *first = le_times(t, element, o->count), *sum;
    if (o->form == FORM_BEST) {
        bool least = o->m.stage->scatter == LE_SCATTER_MIN;
        int type = (int)le_type_compute(o->type);
        sum = copies_call(o, least ? LE_CALL_COPIES_LEAST : LE_CALL_COPIES_GREATEST, first);
        return le_let(t, block, "total", le_ktree_cast(t, type, sum));
    }
    sum = copies_call(o, LE_CALL_COPIES_SUM, first);
    if (o->form == FORM_PAIR) {
        struct le_expression *high =
            copies_call(o, LE_CALL_COPIES_SUM, le_plus(t, first, le_times(t, o->length, o->count)));
        high = le_ktree_binary(t, LE_OP_MUL, high, le_ktree_constant(t, LE_U64, (uint64_t)1 << 32));
        sum = le_ktree_binary(t, LE_OP_ADD, sum, high);
    }
    return le_let(t, block, "total", sum);
}

static void join_copies(struct own *o) {
    struct codegen *c = &o->m.c;
    struct le_kernel_tree *t = c->tree;
    const struct le_stage *stage = o->m.stage;
    bool count = o->form == FORM_COUNT;
    struct le_expression *x = count ? le_codegen_wide(c, le_codegen_node(c, stage->node, c->root, NULL)) : NULL,
                         *element;
    le_ktree_barrier(t, c->root);
    struct le_block *block = open_shared(o, "element", o->length, &element);
    struct le_expression *sum = total(o, block, element), *term = sum;
    struct le_block *changed = le_ktree_open_if(t, block, le_ktree_binary(t, LE_OP_NE, sum, empty(o, sum->type)));
    if (count)
        term = le_ktree_binary(t, LE_OP_MUL, sum, le_ktree_cast(t, LE_U64, x));
    /* what a copy was given has its sign already */
    enum le_scatter scatter = count || !is_sum(stage) ? stage->scatter : LE_SCATTER_ADD;
    update(o, changed, scatter, le_codegen_dense_element(c, stage->target, changed, element),
           le_ktree_cast(t, (int)le_type_compute(o->type), term));
    le_ktree_close(t, changed);
    le_ktree_close(t, block);
}

/* ---- */

static bool can_use_copies(struct own *o, const struct le_device_kernel_job *job, const struct le_stage *stage) {
    const struct le_value *target = &job->kernel.ir->values.at[stage->target];
    o->type = target->type;
    if (target->rank == 0 || !le_codegen_has_atomic_form(o->type, stage->scatter) || o->type == LE_BOOL ||
        stage->scatter == LE_SCATTER_MUL || !le_map_find(&o->m, job, stage, false, false))
        return false;
    o->elements = o->points = 1;
    for (int d = 0; d < target->rank; d++)
        if (!le_mul_i64(o->elements, job->kernel.layouts[target->id].shape[d], &o->elements))
            return false;
    for (int a = 0; a < o->m.axis_count; a++)
        if (!le_mul_i64(o->points, o->m.axes[a].count, &o->points))
            return false;
    if (o->elements < 1 || o->elements > INT32_MAX / 8)
        return false;
    find_form(o);
    return find_copies(o);
}

static leat_status make_private(const struct le_mapping *mapping, void *found, struct le_generated_launches *out) {
    struct own *o = found;
    struct map *m = &o->m;
    struct codegen *c = &m->c;
    o->copies = (int)le_mapping_get(mapping, "copies");
    c->tree->threads = m->threads;
    clear_copies(o);
    le_map_open_parts(m, o->parts, LE_ROLE_SERIAL);
    le_map_places(m);
    for (int alike = 1; alike >= 0; alike--) {
        struct map_spot at = le_map_open_element(m, alike);
        update_copy(o, at.block);
        le_map_close_element(m, &at, alike);
    }
    le_ktree_close(c->tree, m->body);
    join_copies(o);
    struct le_generated_launch *launch = le_codegen_finish(c, out);
    launch->grid[0] = (unsigned)o->blocks;
    launch->grid[1] = launch->grid[2] = launch->block[1] = launch->block[2] = 1;
    launch->block[0] = (unsigned)m->threads;
    launch->shared_bytes = (size_t)(o->bytes * o->copies);
    launch->elements = o->points;
    launch->how = "a block into copies of its own";
    return c->status;
}

void le_propose_private_scatter(struct le_mapping_search *search) {
    const struct le_stage *stage = search->stage;
    struct own *o = LE_NEW(search->job->kernel.arena, struct own);
    o->copies = 1;
    if (!can_use_copies(o, search->job, stage))
        return;
    struct le_mapping *m = le_mapping_add(search, LE_MAPPING_SCATTER_PRIVATE, make_private, o);
    le_mapping_set(m, "copies", o->copies, 1, o->copies, true);
    double threads = (double)o->blocks * o->m.threads;
    struct le_cost cost = le_cost_of_points(search->job, stage, threads);
    cost.bytes += (double)o->elements * (double)le_type_size(o->type);
    cost.bytes_in_flight = 16;
    cost.team_seconds = ceil((double)o->parts / (double)o->blocks) * LE_READ_SECONDS + 2 * LE_BLOCK_SECONDS;
    m->seconds = le_cost_seconds(search->job->facts, &cost);
    if (is_worth_copies(o))
        search->preferred = m;
}
