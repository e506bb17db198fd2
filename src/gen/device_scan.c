/* Scans by one thread along each row, for rows that cannot be counted before the kernel starts. Teams compute all
 * others (device_scan_group.c). Each iteration of the loop adds the term that distinguishes its total from its
 * neighbour's (scan_code.c). Elements with an empty range are computed by a separate kernel. */
#include "gen/device_group_reduce.h"

/* What takes the terms. */
struct state {
    struct cuda *c;
    const struct scan *scan;
    const struct le_node *reduction;
    enum le_type type; /* of the terms */
    const char *name, *best;
    bool is_tree, is_arg;
};

static void begin_state(struct state *s, struct block *block) {
    struct cuda *c = s->c;
    const struct scan *scan = s->scan;
    const char *t = le_cuda_type(s->type);
    bool has_head = scan->head.low < scan->head.high;
    s->name = le_cuda_name(c, "so_far");
    if (s->is_tree) {
        const char *product = s->reduction->code == LE_RED_PROD ? "true" : "false", *start = "";
        if (has_head)
            start = le_arena_format(c->arena, "(%s)", le_cuda_node(c, scan->reduction, block, NULL)->text);
        le_cuda_line(c, block, "le_scan<%s, %s> %s%s;", t, product, s->name, start);
    } else if (s->is_arg) {
        s->best = le_cuda_name(c, "best");
        le_cuda_line(c, block, "%s %s = 0;\nlong long %s = le_nowhere;", t, s->best, s->name);
    } else {
        le_cuda_line(c, block, "%s %s = %s;", t, s->name,
                     le_cuda_empty(c, (enum le_reduction)s->reduction->code, s->type));
    }
}

/* Gives the total with one more term. */
static const char *take_term(struct state *s, struct block *block, struct le_node *term, struct le_node *at) {
    struct cuda *c = s->c;
    const char *x = le_cuda_wide(c, le_cuda_node(c, term, block, NULL)), *t = le_cuda_type(s->type);
    enum le_reduction code = (enum le_reduction)s->reduction->code;
    if (s->is_tree)
        return le_cuda_hold(c, block, s->type, false, "total", le_arena_format(c->arena, "%s.next(%s)", s->name, x))
            ->text;
    if (s->is_arg) {
        const char *index = le_cuda_wide(c, le_cuda_node(c, at, block, NULL));
        le_cuda_line(c, block, "if (%s%s<%s>(%s, %s, %s)) {\n    %s = %s;\n    %s = %s;\n}",
                     code == LE_RED_ARGMIN ? "le_is_lower" : "le_is_higher", s->scan->suffix ? "_back" : "", t, s->name,
                     s->best, x, s->best, x, s->name, index);
        return s->name;
    }
    le_cuda_line(c, block, "%s = %s;", s->name, le_cuda_fold(c, code, s->type, s->name, x));
    return le_type_is_float(s->type) ? le_arena_format(c->arena, "le_canonical<%s>(%s)", t, s->name) : s->name;
}

/* The terms before the first element's own, which a float's total has as one number. */
static void take_head(struct state *s, struct block *block) {
    const struct scan *scan = s->scan;
    if (s->is_tree || scan->head.low >= scan->head.high)
        return;
    struct block *inner = le_cuda_run(s->c, block, scan->scanned, scan->suffix);
    take_term(s, inner, scan->reduction->operands[0], le_node_index(s->c->ir, scan->scanned));
    le_cuda_close(s->c, inner);
}

static leat_status generate_turns(const struct le_device_kernel_job *job, const struct le_stage *stage,
                                  struct scan *scan, struct le_generated_launches *out) {
    struct cuda c;
    int64_t threads;
    le_cuda_begin(&c, job, stage, "");
    struct state s = {.c = &c, .scan = scan, .reduction = scan->reduction, .type = scan->reduction->operands[0]->type};
    s.is_arg = s.reduction->code == LE_RED_ARGMIN || s.reduction->code == LE_RED_ARGMAX;
    s.is_tree = le_type_is_float(s.type) && (s.reduction->code == LE_RED_SUM || s.reduction->code == LE_RED_PROD);
    struct block *block = le_cuda_points(&c, false, &threads);
    begin_state(&s, block);
    take_head(&s, block);
    struct block *inner = le_cuda_run(&c, block, scan->index, scan->down);
    le_cuda_store(&c, le_cuda_variable(&c, inner, take_term(&s, inner, scan->term, scan->own)), inner);
    le_cuda_close(&c, inner);
    le_cuda_close_all(&c, block);
    struct le_generated_launch *launch = le_cuda_finish(&c, out);
    launch->how = "a thread for each row";
    leat_status status = le_cuda_set_grid(&c, launch, threads);
    launch->elements = threads * le_range_count(&scan->turns);
    launch->operations = launch->elements * (scan->term->cost + 1);
    return status;
}

static leat_status scan_turns(const struct le_device_kernel_job *job, const struct le_stage *whole, struct scan *scan,
                              struct le_generated_launches *out) {
    const struct le_kernel *k = &job->kernel;
    struct le_stage stage = *whole;
    struct le_device_kernel_job own = *job;
    struct le_space space = *job->kernel.space;
    stage.indices = LE_NEW_ARRAY(k->arena, stage.index_count, int);
    stage.index_count = 0;
    for (int q = 0; q < whole->index_count; q++)
        if (whole->indices[q] != scan->index)
            stage.indices[stage.index_count++] = whole->indices[q];
    stage.node = scan->term = le_node_substitute(k->ir, scan->reduction->operands[0], &scan->scanned, &scan->own, 1);
    own.kernel.stage = &stage;
    own.kernel.space = &space;
    le_space_narrow(&space, k->arena, scan->index, scan->turns);
    le_space_narrow(&space, k->arena, scan->scanned, scan->head);
    leat_status status;
    return le_team_scan(&own, &stage, scan, out, &status) ? status : generate_turns(&own, &stage, scan, out);
}

static leat_status fill_empty(const struct le_device_kernel_job *job, const struct le_stage *whole,
                              const struct scan *scan, struct le_generated_launches *out) {
    struct le_stage stage = *whole;
    struct le_device_kernel_job own = *job;
    struct le_space space = *job->kernel.space;
    stage.kind = LE_STAGE_MAP;
    stage.node = le_gen_empty_total(job->kernel.ir, scan->reduction);
    own.kernel.stage = &stage;
    own.kernel.space = &space;
    le_space_narrow(&space, job->kernel.arena, scan->index, scan->empty);
    return le_cuda_map(&own, &stage, out);
}

leat_status le_cuda_scan(const struct le_device_kernel_job *job, const struct le_stage *stage,
                         struct le_generated_launches *out) {
    struct scan scan;
    const struct le_kernel *k = &job->kernel;
    leat_status status = LEAT_OK;
    if (!le_gen_is_made(k, stage))
        return LEAT_OK;
    if (!le_gen_find_scan(k, stage, &scan))
        return le_cuda_map(job, stage, out);
    if (scan.empty.low < scan.empty.high)
        status = fill_empty(job, stage, &scan, out);
    if (status == LEAT_OK && scan.turns.low < scan.turns.high)
        status = scan_turns(job, stage, &scan, out);
    return status;
}
