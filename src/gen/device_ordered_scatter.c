/* Scatters whose order affects the result: sums of floats, and operations without an atomic form. A thread block takes
 * its points in order, one for each thread at a time. Each thread computes one point's term; then each thread applies,
 * in order, the terms for the elements that it owns. Every element thus gets its terms in the order of the stage's
 * indices, whatever the number of threads. If there are few elements, a thread owns one of them and keeps its total in
 * a register. */
#include "gen/device_group_reduce.h"

#define BLOCK   256  /* threads, points at once, and owners of places */
#define FEW_MAX 2048 /* elements: so many blocks go through all of a chunk's points */

static bool is_countable(const struct le_kernel *k, const struct le_stage *stage) {
    for (int q = 0; q < stage->index_count; q++)
        if (le_range_of(k->space, stage->indices[q])->dynamic)
            return false;
    return stage->index_count > 0 && stage->index_count <= POINTS_MAX;
}

static int64_t count_points(const struct le_kernel *k, const struct le_stage *stage, int from) {
    int64_t points = 1;
    for (int q = from; q < stage->index_count; q++)
        if (!le_mul_i64(points, le_range_count(le_range_of(k->space, stage->indices[q])), &points))
            return INT64_MAX;
    return points;
}

/* The names of one kernel. */
struct ordered {
    const char *array, *places, *terms, *point, *end;
};

/* A point's term and its place, which is -1 where there is none. */
static void make_terms(struct cuda *c, struct block *block, const struct ordered *o, bool numbered) {
    const struct le_stage *stage = c->stage;
    enum le_type type = c->ir->values.at[stage->target].type;
    const char *term = le_cuda_name(c, "term"), *place = le_cuda_name(c, "place"), *element;
    le_cuda_line(c, block, "%s %s = 0;\nlong long %s = -1;", le_cuda_type(type), term, place);
    struct block *inner = le_cuda_open(c, block, le_arena_format(c->arena, "if (%s < %s)", o->point, o->end));
    inner->conditional = true;
    le_team_bind(c, inner, stage->indices, stage->index_count, o->point, false);
    const char *x = le_cuda_wide(c, le_cuda_node(c, stage->node, inner, NULL));
    struct destination to = {.value = stage->target,
                             .rank = stage->left_count,
                             .access = stage->access,
                             .subscripts = stage->left,
                             .numbered = numbered};
    struct block *inside = le_cuda_place(c, &to, inner, NULL, &element);
    le_cuda_line(c, inside, numbered ? "%s = %s;\n%s = %s;" : "%s = %s;\n%s = &%s - %s;", term, x, place, element,
                 o->array);
    if (inside != inner)
        le_cuda_close(c, inside);
    le_cuda_close(c, inner);
    le_cuda_line(c, block, "%s[threadIdx.x] = %s;\n%s[threadIdx.x] = %s;", o->terms, term, o->places, place);
}

/* Places beside each other have different owners, and so have those that are a row apart. */
static void take_terms(struct cuda *c, struct block *block, const struct ordered *o, const char *base) {
    enum le_type type = c->ir->values.at[c->stage->target].type;
    const char *k = le_cuda_name(c, "k"), *at = le_cuda_name(c, "at"), *element = le_cuda_name(c, "element");
    const char *term = le_arena_format(c->arena, "%s[%s]", o->terms, k);
    le_cuda_line(c, block, "__syncthreads();\nfor (int %s = 0; %s < %d; %s++) {", k, k, BLOCK, k);
    le_cuda_line(c, block, "    const long long %s = %s[%s];", at, o->places, k);
    le_cuda_line(c, block, "    if (%s >= 0 && (unsigned char)(%s ^ %s >> 8) == threadIdx.x) {", at, at, at);
    le_cuda_line(c, block, "        %s &%s = %s[%s%s];", le_cuda_stored(type), element, o->array, base, at);
    le_cuda_line(c, block, "        %s = %s;\n    }\n}\n__syncthreads();", element,
                 le_cuda_updated(c, c->stage->scatter, type, element, term));
}

/* Each thread adds the terms of its element to a total of its own. */
static void add_terms(struct cuda *c, struct block *block, const struct ordered *o, const char *own,
                      const char *total) {
    const char *k = le_cuda_name(c, "k"), *term = le_cuda_name(c, "term");
    enum le_type type = c->ir->values.at[c->stage->target].type;
    le_cuda_line(c, block, "__syncthreads();\n#pragma unroll 16\nfor (int %s = 0; %s < %d; %s++) {", k, k, BLOCK, k);
    le_cuda_line(c, block, "    const %s %s = %s[%s];", le_cuda_type(type), term, o->terms, k);
    le_cuda_line(c, block, "    if (%s[%s] == %s)\n        %s = %s;\n}\n__syncthreads();", o->places, k, own, total,
                 le_cuda_updated(c, c->stage->scatter, type, total, term));
}

bool le_cuda_ordered_few(const struct le_device_kernel_job *job, const struct le_stage *stage,
                         const struct chunks *chunks, struct le_generated_launches *out, leat_status *status) {
    struct cuda c;
    const struct le_kernel *k = &job->kernel;
    enum le_type type = k->ir->values.at[stage->target].type;
    if (!is_countable(k, stage) || chunks->elements > FEW_MAX)
        return false;
    int64_t points = count_points(k, stage, 0), parts = (chunks->elements + BLOCK - 1) / BLOCK;
    le_cuda_begin(&c, job, stage, "_chunks");
    struct ordered o = {.places = le_cuda_name(&c, "places"), .terms = le_cuda_name(&c, "terms")};
    const char *copies = le_cuda_parameter(&c, LE_ARGUMENT_WORK, -1, (int64_t)chunks->work,
                                           le_arena_format(c.arena, "%s *", le_cuda_stored(type)), "copies");
    const char *elements = le_cuda_number(&c, "elements", chunks->elements);
    const char *over = le_cuda_number(&c, "parts", parts), *all = le_cuda_number(&c, "points", points);
    const char *size = le_cuda_number(&c, "chunk", chunks->size * count_points(k, stage, 1));
    const char *part = le_cuda_name(&c, "number"), *own = le_cuda_name(&c, "own"), *total = le_cuda_name(&c, "total");
    const char *begin = le_cuda_name(&c, "begin"), *some = le_cuda_name(&c, "some");
    o.point = le_cuda_name(&c, "point");
    o.end = le_cuda_name(&c, "end");
    le_cuda_line(&c, c.root, "__shared__ __align__(16) int %s[%d];\n__shared__ __align__(16) %s %s[%d];", o.places,
                 BLOCK, le_cuda_type(type), o.terms, BLOCK);
    le_cuda_line(&c, c.root, "const unsigned %s = blockIdx.x / (unsigned)%s;", part, over);
    le_cuda_line(&c, c.root, "const int %s = (int)((blockIdx.x - %s * (unsigned)%s) * %d + threadIdx.x);", own, part,
                 over, BLOCK);
    le_cuda_line(&c, c.root, "const long long %s = %s * %s, %s = %s + %s < %s ? %s + %s : %s;", begin, part, size,
                 o.end, begin, size, all, begin, size, all);
    le_cuda_line(&c, c.root, "%s %s = -0.0;", le_cuda_type(type), total);
    struct block *loop = le_cuda_open(
        &c, c.root,
        le_arena_format(c.arena, "for (long long %s = %s; %s < %s; %s += %d)", some, begin, some, o.end, some, BLOCK));
    le_cuda_line(&c, loop, "const long long %s = %s + threadIdx.x;", o.point, some);
    make_terms(&c, loop, &o, true);
    add_terms(&c, loop, &o, own, total);
    le_cuda_close(&c, loop);
    le_cuda_line(&c, c.root, "if (%s < %s)\n    %s[%s * %s + %s] = %s;", own, elements, copies, part, elements, own,
                 total);
    struct le_generated_launch *launch = le_cuda_finish(&c, out);
    launch->how = "a thread for each element of a chunk, in order";
    *status = le_cuda_set_grid(&c, launch, chunks->count * parts * BLOCK);
    launch->elements = points;
    return true;
}

bool le_cuda_ordered(const struct le_device_kernel_job *job, const struct le_stage *stage, const struct chunks *chunks,
                     struct le_generated_launches *out, leat_status *status) {
    struct cuda c;
    const struct le_kernel *k = &job->kernel;
    const struct le_value *target = &k->ir->values.at[stage->target];
    bool copied = chunks->count > 1;
    if (!is_countable(k, stage) || target->rank == 0)
        return false;
    int64_t points = count_points(k, stage, 0), chunk = copied ? chunks->size * count_points(k, stage, 1) : points;
    le_cuda_begin(&c, job, stage, copied ? "_chunks" : "");
    const char *stored = le_arena_format(c.arena, "%s *", le_cuda_stored(target->type));
    const char *base = "";
    struct ordered o = {.places = le_cuda_name(&c, "places"), .terms = le_cuda_name(&c, "terms")};
    if (copied) {
        o.array = le_cuda_parameter(&c, LE_ARGUMENT_WORK, -1, (int64_t)chunks->work, stored, "copies");
        base = le_arena_format(c.arena, "blockIdx.x * %s + ", le_cuda_number(&c, "elements", chunks->elements));
    } else {
        o.array = le_cuda_parameter(&c, LE_ARGUMENT_TARGET, target->id, 0, stored, NULL);
    }
    const char *begin = le_cuda_name(&c, "begin"), *some = le_cuda_name(&c, "some");
    const char *size = le_cuda_number(&c, "chunk", chunk), *all = le_cuda_number(&c, "points", points);
    o.point = le_cuda_name(&c, "point");
    o.end = le_cuda_name(&c, "end");
    le_cuda_line(&c, c.root, "__shared__ long long %s[%d];\n__shared__ %s %s[%d];", o.places, BLOCK,
                 le_cuda_type(target->type), o.terms, BLOCK);
    le_cuda_line(&c, c.root, "const long long %s = blockIdx.x * %s, %s = %s + %s < %s ? %s + %s : %s;", begin, size,
                 o.end, begin, size, all, begin, size, all);
    struct block *loop = le_cuda_open(
        &c, c.root,
        le_arena_format(c.arena, "for (long long %s = %s; %s < %s; %s += %d)", some, begin, some, o.end, some, BLOCK));
    le_cuda_line(&c, loop, "const long long %s = %s + threadIdx.x;", o.point, some);
    make_terms(&c, loop, &o, copied);
    take_terms(&c, loop, &o, base);
    le_cuda_close(&c, loop);
    struct le_generated_launch *launch = le_cuda_finish(&c, out);
    launch->how = copied ? "a block for each chunk, in order, into a copy" : "one block, in order";
    *status = le_cuda_set_grid(&c, launch, chunks->count * BLOCK);
    launch->elements = points;
    return true;
}
