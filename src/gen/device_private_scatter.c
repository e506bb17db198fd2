/* Scatters whose order does not affect the result, into a target with few elements. Each thread block has copies of the
 * target in shared memory, which its threads update atomically. Then it updates the target with the copied elements
 * that changed. If the copies fit, each lane of a warp has its own, so that collisions cost nothing. The text does not
 * depend on the extents: the number of copies is an argument. */
#include "gen/device_map.h"

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
    struct map m; /* first: what le_map_elements hands back */
    enum form form;
    enum le_type type;               /* of the target */
    const char *word;                /* C's type of a copy's element */
    int64_t elements, points, bytes; /* bytes: of one copy */
    int64_t parts, blocks;           /* a block takes some parts */
    int copies;                      /* a power of two; an element's lie side by side */
    const char *own, *mine;          /* all copies, the lane's first element */
    const char *count, *length;      /* copies, elements */
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
    o->word = "unsigned";
    if (!is_sum(stage)) {
        o->form = FORM_BEST;
        o->word = wide || le_type_is_float(o->type) ? le_cuda_type(o->type)
                  : le_type_is_unsigned(o->type)    ? "unsigned"
                                                    : "int";
    } else if (is_same_for_all(stage)) {
        o->form = FORM_COUNT;
    } else {
        o->form = wide ? FORM_PAIR : FORM_WORD;
    }
    o->bytes = o->elements * (wide && o->form != FORM_COUNT ? 8 : 4);
}

/* false: the copies would not fit, or not pay. */
static bool find_copies(struct own *o) {
    struct map *m = &o->m;
    const struct le_device_facts *facts = m->c.job->facts;
    int64_t most =
        (int64_t)(facts->shared_most_bytes > facts->shared_bytes ? facts->shared_most_bytes : facts->shared_bytes);
    int64_t blocks = facts->multiprocessors, part, few;
    if (o->bytes > most || o->points < POINTS_MIN || o->points < o->elements * POINTS_A_PLACE)
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
    o->blocks = blocks < few ? blocks : few;
    return o->points / o->blocks < (int64_t)1 << 31; /* what a word counts to */
}

/* ---- text */

static const char *empty(struct own *o) {
    enum le_reduction code = o->m.stage->scatter == LE_SCATTER_MIN ? LE_RED_MIN : LE_RED_MAX;
    return o->form == FORM_BEST ? le_cuda_text(&o->m.c, le_cuda_empty(&o->m.c, code, o->type)) : "0";
}

/* The copies of a block start as if nothing had met there. */
static void clear_copies(struct own *o) {
    struct cuda *c = &o->m.c;
    const char *k = le_cuda_name(c, "k"), *words = le_cuda_name(c, "words");
    o->own = le_cuda_name(c, "own");
    o->mine = le_cuda_name(c, "mine");
    o->count = le_arena_format(c->arena, "(unsigned)%s", le_cuda_number_text(c, "copies", o->copies));
    o->length = le_arena_format(c->arena, "(unsigned)%s", le_cuda_number_text(c, "elements", o->elements));
    le_cuda_line(c, c->root, "extern __shared__ %s %s[];", o->word, o->own);
    le_cuda_line(c, c->root, "const unsigned %s = %s * %s;", words, o->length, o->count);
    le_cuda_line(c, c->root, "for (unsigned %s = threadIdx.x; %s < %s%s; %s += %d)\n    %s[%s] = %s;", k, k, words,
                 o->form == FORM_PAIR ? " * 2" : "", k, o->m.threads, o->own, k, empty(o));
    le_cuda_line(c, c->root, "__syncthreads();\n%s *const %s = %s + (threadIdx.x & (%s - 1));", o->word, o->mine,
                 o->own, o->count);
}

/* A point's update of its copy. */
static void update_copy(struct map *m, struct le_block *block) {
    struct own *o = (struct own *)m;
    struct cuda *c = &m->c;
    const struct le_stage *stage = m->stage;
    const char *x = le_cuda_wide_text(c, stage->node, block), *number, *place;
    struct destination to = le_cuda_left_side(c);
    to.numbered = true;
    struct le_block *inner = le_cuda_place_text(c, &to, block, &number);
    bool subtracts = stage->scatter == LE_SCATTER_SUB;
    place = le_arena_format(c->arena, "le_copy(%s, %s, %s)", o->mine, number, o->count);
    if (o->form == FORM_COUNT)
        le_cuda_line(c, inner, "atomicAdd(%s, 1u);", place);
    else if (o->form == FORM_WORD)
        le_cuda_line(c, inner, "atomicAdd(%s, %s(unsigned)%s);", place, subtracts ? "0u - " : "", x);
    else if (o->form == FORM_PAIR)
        le_cuda_line(c, inner, "le_pair_add(%s, %s * %s, %s(unsigned long long)%s);", place, o->length, o->count,
                     subtracts ? "0ull - " : "", x);
    else
        le_cuda_line(c, inner, "le_atomic_%s<%s>(%s, %s);", stage->scatter == LE_SCATTER_MIN ? "min" : "max", o->word,
                     place, x);
    if (inner != block)
        le_cuda_close(c, inner);
}

/* The total of an element's copies, as what the target is updated with. */
static const char *total(struct own *o, struct le_block *block, const char *element) {
    struct cuda *c = &o->m.c;
    const struct le_stage *stage = o->m.stage;
    const char *type = le_cuda_type(o->type), *name = le_cuda_name(c, "total");
    const char *at = le_arena_format(c->arena, "%s + %s * %s", o->own, element, o->count);
    if (o->form == FORM_BEST) {
        le_cuda_line(c, block, "const %s %s = (%s)le_copies_%s(%s, %s);", type, name, type,
                     stage->scatter == LE_SCATTER_MIN ? "least" : "greatest", at, o->count);
        return name;
    }
    const char *high =
        le_arena_format(c->arena, " + (le_copies_sum(%s + %s * %s, %s) << 32)", at, o->length, o->count, o->count);
    le_cuda_line(c, block, "const unsigned long long %s = le_copies_sum(%s, %s)%s;", name, at, o->count,
                 o->form == FORM_PAIR ? high : "");
    return name;
}

static void join_copies(struct own *o) {
    struct cuda *c = &o->m.c;
    const struct le_stage *stage = o->m.stage;
    static const char *const names[] = {
        [LE_SCATTER_ADD] = "add", [LE_SCATTER_SUB] = "sub", [LE_SCATTER_MIN] = "min", [LE_SCATTER_MAX] = "max"};
    const char *element = le_cuda_name(c, "element"), *type = le_cuda_type(o->type);
    const char *x = o->form == FORM_COUNT ? le_cuda_wide_text(c, stage->node, c->root) : NULL;
    le_cuda_line(c, c->root, "__syncthreads();");
    struct le_block *block =
        le_cuda_open(c, c->root,
                     le_arena_format(c->arena, "for (unsigned %s = threadIdx.x; %s < %s; %s += %d)", element, element,
                                     o->length, element, o->m.threads));
    const char *sum = total(o, block, element), *term = sum;
    struct le_block *changed = le_cuda_open(c, block, le_arena_format(c->arena, "if (%s != %s)", sum, empty(o)));
    if (is_sum(stage))
        term = le_arena_format(c->arena, x ? "(%s)(%s * (unsigned long long)%s)" : "(%s)%s", type, sum, x);
    /* what a copy was given has its sign already */
    const char *name = o->form == FORM_COUNT || !is_sum(stage) ? names[stage->scatter] : "add";
    le_cuda_line(c, changed, "le_atomic_%s<%s>(&%s, %s);", name, type,
                 le_cuda_element_text(
                     c, le_cuda_dense_element(c, stage->target, changed, le_cuda_raw(c, LE_KTREE_UINT, element))),
                 term);
    le_cuda_close(c, changed);
    le_cuda_close(c, block);
}

/* ---- */

static bool can_use_copies(struct own *o, const struct le_device_kernel_job *job, const struct le_stage *stage) {
    const struct le_value *target = &job->kernel.ir->values.at[stage->target];
    if (target->rank == 0 || !le_map_find(&o->m, job, stage))
        return false;
    o->type = target->type;
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

bool le_cuda_scatter_own(const struct le_device_kernel_job *job, const struct le_stage *stage,
                         struct le_generated_launches *out, leat_status *status) {
    struct own o = {.copies = 1};
    struct map *m = &o.m;
    struct cuda *c = &m->c;
    struct map_names names;
    if (!can_use_copies(&o, job, stage))
        return false;
    c->tree->threads = m->threads;
    clear_copies(&o);
    m->part = le_cuda_name(c, "part");
    const char *head = "for (unsigned %s = blockIdx.x; %s < (unsigned)%s; %s += gridDim.x)";
    m->body = le_cuda_open(
        c, c->root,
        le_arena_format(c->arena, head, m->part, m->part, le_cuda_number_text(c, "parts", o.parts), m->part));
    le_map_places(m, &names);
    le_map_elements(m, &names, update_copy);
    le_cuda_close(c, m->body);
    join_copies(&o);
    struct le_generated_launch *launch = le_cuda_finish(c, out);
    launch->grid[0] = (unsigned)o.blocks;
    launch->grid[1] = launch->grid[2] = launch->block[1] = launch->block[2] = 1;
    launch->block[0] = (unsigned)m->threads;
    launch->shared_bytes = (size_t)(o.bytes * o.copies);
    launch->elements = o.points;
    launch->how = "a block into copies of its own";
    *status = c->status;
    return true;
}
