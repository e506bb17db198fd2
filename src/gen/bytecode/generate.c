/* Turns a stage into launches. If reads may be out of range, the domain is split into boxes: an interior, whose code
 * has no checks, and a border. Each box is a launch. The tasks of a launch divide the outermost loop, the lanes, or the
 * terms of a single reduction. */
#include "gen/bytecode/bytecode_gen.h"

#define TASK_WORK_MIN    65536 /* additions worth waking a thread for */
#define TASKS_PER_THREAD 4
#define PART_TERMS_MIN                                                                                                 \
    16384 /* a power of two, of whole units of chains: parts are whole subtrees of the sum's tree                      \
           */

static struct gen new_gen(const struct le_kernel *kernel, const struct le_stage *stage) {
    struct gen g = {.kernel = kernel, .ir = kernel->ir, .stage = stage, .space = kernel->space, .arena = kernel->arena};
    g.merged_into = kernel->work->merged_into;
    g.merged_count = kernel->work->merged_count;
    g.notes = &kernel->work->notes;
    g.safety = (struct le_safety){
        .ir = g.ir, .space = g.space, .layouts = kernel->layouts, .notes = g.notes, .epoch = ++g.notes->epoch};
    g.lane = -1;
    g.block = kernel->block ? kernel->block : LE_BLOCK_MAX;
    g.nodes[0] = stage->node;
    g.node_count = 1;
    g.root = LE_NEW(kernel->arena, struct scope);
    *g.root = (struct scope){.index = -1, .loop = -1};
    g.base = g.root;
    le_gen_reg(&g, LE_REG_FAULT, LE_I64);
    return g;
}

static void unmerge_indices(struct gen *g) {
    for (int k = 0; k < g->all_count; k++) {
        g->merged_into[g->all[k]] = g->all[k];
        g->merged_count[g->all[k]] = 0;
    }
}

/* ---- blocks: 64-bit elements get half as many lanes, so that slots stay in the first cache. Where lanes leave a loop
 * one by one, few of them wait for few others (Mandelbrot's set, 1000 x 1000: 64 lanes take half the time of 512).
 * Where each lane walks along a row of its own, its cache line has to stay until it is used up. */

#define BLOCK_WAITING 128
#define BLOCK_STRIDED 32
#define BLOCK_MIN     16

static void find_wide(struct le_node *node, void *user) {
    if (node->free_count > 0 && le_type_size(node->type) == 8 && node->kind != LE_NODE_INDEX)
        *(bool *)user = true;
}

/* A block takes what is the same for all lanes once for each of its places: no more of those than any loop has turns.
 * A power of two, as all blocks are, and one block still: nothing is added in another order. */
static void cap_block(struct gen *g) {
    int64_t most = BLOCK_MIN;
    for (int k = 0; k < g->all_count; k++) {
        const struct le_range *r = le_range_of(g->space, g->all[k]);
        if (!r->solved || (r->dynamic && !(r->bounded && le_index_by_host(g->space, g->all[k]))))
            return;
        int64_t extent = le_gen_extent(g, g->all[k]);
        most = extent > most ? extent : most;
    }
    while (g->block / 2 >= most)
        g->block /= 2;
}

static void choose_block(struct gen *g) {
    bool wide = false;
    for (int k = 0; k < g->node_count; k++)
        le_node_walk(g->ir, g->nodes[k], find_wide, &wide);
    if (wide && g->block > LE_BLOCK_MAX / 2)
        g->block = LE_BLOCK_MAX / 2;
    if (g->whiles || g->safety.loose_count > 0)
        g->block = wide ? BLOCK_WAITING / 2 : BLOCK_WAITING;
    if (g->fors.count > 0 && le_gen_is_strided(g))
        g->block = BLOCK_STRIDED;
    cap_block(g);
}

/* ---- tasks */

static int64_t round_up(int64_t x, int64_t to) {
    return (x + to - 1) / to * to;
}

/* Shares the loop of clip c out to so many tasks, or fewer. Gives how many. */
static int64_t share_out_loop(struct gen *g, struct le_launch *launch, int c, int index, int64_t tasks) {
    int64_t count = le_gen_extent(g, index), grain = index == g->lane ? g->block : 1;
    int64_t size = round_up((count + tasks - 1) / tasks, grain), pieces = (count + size - 1) / size;
    if (le_index_by_host(g->space, index)) {
        launch->clip_pieces[c] = pieces;
    } else {
        launch->clip_count[c] = count;
        launch->clip_size[c] = size;
    }
    return pieces;
}

static void cut_into_tasks(struct gen *g, struct le_launch *launch, int first, bool has_lane) {
    launch->tasks = 1;
    int64_t work = le_gen_work(g).time, target = (int64_t)g->kernel->threads * TASKS_PER_THREAD;
    if (first < 0 || g->kernel->threads == 1 || work < 2 * TASK_WORK_MIN || !le_stage_in_any_order(g->stage))
        return;
    if (target > work / TASK_WORK_MIN)
        target = work / TASK_WORK_MIN;
    launch->tasks = share_out_loop(g, launch, 0, first, target);
    if (has_lane && launch->tasks < target)
        launch->tasks *= share_out_loop(g, launch, 1, g->lane, (target + launch->tasks - 1) / launch->tasks);
}

/* ---- one box of a map */

static struct scope *open_kept(struct gen *g, bool *clipped_lane, int *first) {
    struct scope *scope = g->base;
    *first = -1;
    *clipped_lane = false;
    for (int k = 0; k < g->stage->index_count; k++) {
        int index = g->stage->indices[k], clip = -1;
        if (g->merged_into[index] != index)
            continue;
        bool counts = !le_range_of(g->space, index)->dynamic || le_index_by_host(g->space, index);
        if (scope == g->base && counts)
            clip = 0;
        else if (index == g->lane && counts && *first >= 0)
            clip = 1;
        if (clip == 0)
            *first = index;
        *clipped_lane |= clip == 1;
        scope = le_gen_open(g, scope, index, index == g->lane, clip, (struct condition){.outside = -1});
    }
    return scope;
}

static void add_launch(struct gen *g, struct le_launches *out, struct le_launch launch, int64_t turns) {
    launch.unit = le_gen_finish(g);
    if (!le_mul_i64(le_kernel_points(g->kernel, g->stage), turns, &launch.elements))
        launch.elements = INT64_MAX;
    if (turns > 1)
        launch.operations += launch.elements;
    *LE_PUSH(g->arena, out) = launch;
}

leat_status le_gen_map(const struct le_kernel *kernel, struct scan *scan, struct le_launches *out) {
    struct gen g = new_gen(kernel, kernel->stage);
    struct le_launch launch = {.tasks = 1};
    int first;
    bool lane_clip;
    le_gen_find_indices(&g);
    le_gen_merge(&g);
    if (scan)
        le_gen_choose_scan_lane(&g, scan);
    else
        le_gen_choose_lane(&g);
    choose_block(&g);
    launch.operations = le_gen_work(&g).additions;
    bool chunks = scan && le_gen_cut_scan(&g, scan, &launch);
    le_gen_open_hosts(&g);
    struct scope *scope = open_kept(&g, &lane_clip, &first);
    if (scan)
        le_gen_scan(&g, scan, scope);
    else if (g.stage->kind == LE_STAGE_EACH)
        le_gen_region(&g, g.stage->node, scope, (struct condition){.outside = -1});
    else
        le_gen_store(&g, le_gen_node(&g, g.stage->node, scope, (struct condition){.outside = -1}), scope);
    if (!chunks)
        cut_into_tasks(&g, &launch, first, lane_clip);
    le_gen_close_all(&g, scope);
    if (g.status == LEAT_OK)
        add_launch(&g, out, launch, scan ? le_range_count(&scan->of.turns) : 1);
    unmerge_indices(&g);
    return g.status;
}

/* ---- a reduction of a whole array: tasks take subtrees of its terms */

static int64_t part_size(int64_t terms, int threads) {
    int64_t size = PART_TERMS_MIN;
    while (size * threads * 8 < terms)
        size *= 2;
    return size;
}

/* Sibling number k's totals: one a task, after those of the siblings before it. */
static void store_total(struct gen *g, int k, const struct operand *total, int64_t tasks) {
    enum le_type type = g->nodes[k]->type;
    int pointer = le_gen_reg(g, LE_REG_STREAM, type);
    g->regs.at[pointer].buffer = LE_PARTS;
    g->regs.at[pointer].offset = k * tasks * 8;
    g->regs.at[pointer].task_stride = (int64_t)le_type_size(type);
    le_gen_emit(g, g->base,
                (struct le_instr){.code = LE_CODE_COPY,
                                  .type = (uint8_t)type,
                                  .d = (uint16_t)pointer,
                                  .a = (uint16_t)total->reg,
                                  .b = LE_NO_REG,
                                  .c = LE_NO_REG,
                                  .e = LE_NO_REG});
}

static bool all_safe(struct gen *g) {
    for (int k = 0; k < g->node_count && !g->regions; k++)
        if (!le_node_is_safe(&g->safety, g->nodes[k]))
            return false;
    return true;
}

static bool generate_parts(const struct le_kernel *kernel, struct le_launches *out, leat_status *status) {
    const struct le_stage *stage = kernel->stage;
    struct gen g = new_gen(kernel, stage);
    struct le_launch launch = {.parts = true};
    for (int k = stage->sibling; k >= 0; k = kernel->ir->stages.at[k].sibling)
        g.nodes[g.node_count++] = kernel->ir->stages.at[k].node;
    le_gen_find_indices(&g);
    le_gen_merge(&g);
    choose_block(&g);
    int64_t terms = le_gen_cuttable(&g, stage->node, &launch.row_count);
    bool fits = terms >= 2 * PART_TERMS_MIN && all_safe(&g);
    if (fits) {
        struct operand *totals[ARRAY_LEN(g.nodes)];
        launch.operations = le_gen_work(&g).additions;
        launch.clip_count[0] = terms;
        launch.clip_size[0] = part_size(terms, kernel->threads);
        launch.tasks = (terms + launch.clip_size[0] - 1) / launch.clip_size[0];
        le_gen_open_hosts(&g);
        le_gen_reduce_parts(&g, totals);
        for (int k = 0; k < g.node_count; k++)
            store_total(&g, k, totals[k], launch.tasks);
        le_gen_close_all(&g, g.base);
        if (g.status == LEAT_OK)
            add_launch(&g, out, launch, 1);
        *status = g.status;
    }
    unmerge_indices(&g);
    return fits;
}

/* ---- scatters */

static leat_status generate_scatter(const struct le_kernel *kernel, struct le_launches *out) {
    struct gen g = new_gen(kernel, kernel->stage);
    struct le_launch launch = {.tasks = 1};
    const struct le_chunks chunks = le_scatter_chunks(kernel, kernel->stage);
    int first;
    bool lane_clip;
    le_gen_find_indices(&g);
    le_gen_choose_lane(&g);
    choose_block(&g);
    launch.operations = le_gen_work(&g).additions;
    le_gen_open_hosts(&g);
    struct scope *scope = open_kept(&g, &lane_clip, &first);
    struct operand *value = le_gen_node(&g, g.stage->node, scope, (struct condition){.outside = -1});
    if (chunks.count > 1) {
        launch.copies = true;
        launch.clip_count[0] = le_gen_extent(&g, first);
        launch.clip_size[0] = chunks.size;
        launch.tasks = chunks.count;
    }
    le_gen_scatter(&g, value, scope, launch.copies,
                   chunks.elements * (int64_t)le_type_size(g.ir->values.at[g.stage->target].type));
    le_gen_close_all(&g, scope);
    if (g.status == LEAT_OK)
        add_launch(&g, out, launch, 1);
    unmerge_indices(&g);
    return g.status;
}

/* ---- boxes */

static leat_status generate_box(const struct le_kernel *kernel, const struct le_box *box, struct le_launches *out) {
    struct le_kernel own = *kernel;
    struct le_space space = *kernel->space;
    own.space = &space;
    le_space_narrow_to(&space, kernel, box);
    return le_gen_map(&own, NULL, out);
}

/* The whole without the interior, a slab at a time, then the interior. */
static leat_status generate_boxes(const struct le_kernel *kernel, struct le_box whole, const struct le_box *interior,
                                  struct le_launches *out) {
    leat_status status = LEAT_OK;
    for (int k = 0; k < kernel->stage->index_count && status == LEAT_OK; k++) {
        struct le_box below = whole, above = whole;
        below.high[k] = interior->low[k];
        above.low[k] = interior->high[k];
        if (below.low[k] < below.high[k])
            status = generate_box(kernel, &below, out);
        if (status == LEAT_OK && above.low[k] < above.high[k])
            status = generate_box(kernel, &above, out);
        whole.low[k] = interior->low[k];
        whole.high[k] = interior->high[k];
    }
    return status == LEAT_OK ? generate_box(kernel, &whole, out) : status;
}

static leat_status generate_stage(const struct le_kernel *kernel, struct le_launches *out) {
    const struct le_stage *stage = kernel->stage;
    struct le_box whole, interior;
    leat_status status = LEAT_OK;
    if (le_kernel_is_empty(kernel))
        return LEAT_OK;
    if (stage->kind == LE_STAGE_SCATTER)
        return generate_scatter(kernel, out);
    bool is_total = stage->node->kind == LE_NODE_REDUCE && stage->index_count == 0 && stage->left_count == 0;
    if (is_total && generate_parts(kernel, out, &status))
        return status;
    if (stage->kind == LE_STAGE_SCAN && le_gen_scan_stage(kernel, out, &status))
        return status;
    if (le_stage_in_any_order(stage) && le_kernel_interior(kernel, &whole, &interior))
        return generate_boxes(kernel, whole, &interior, out);
    return le_gen_map(kernel, NULL, out);
}

leat_status le_gen_stage(const struct le_kernel *kernel, struct le_launches *out) {
    struct le_stage stage = *kernel->stage;
    struct le_kernel readable = *kernel;
    stage.node = le_kernel_readable(kernel, stage.node);
    readable.stage = &stage;
    return generate_stage(&readable, out);
}

leat_status le_kernel_generate(const struct le_kernel *kernel, struct le_launches *out) {
    struct le_kernel own = le_kernel_begin(kernel);
    return le_gen_stage(&own, out);
}

leat_status le_kernel_scalar(const struct le_kernel *kernel, struct le_node *node, enum le_type stored,
                             struct le_launch *out) {
    struct le_kernel own = le_kernel_begin(kernel);
    struct le_stage stage = {.name = "a scalar",
                             .statement = -1,
                             .node = le_kernel_readable(&own, node),
                             .target = -1,
                             .base = -1,
                             .access = -1};
    struct gen g = new_gen(&own, &stage);
    le_gen_find_indices(&g);
    le_gen_open_hosts(&g);
    struct operand *x = le_gen_node(&g, stage.node, g.base, (struct condition){.outside = -1});
    int pointer = le_gen_reg(&g, LE_REG_STREAM, stored);
    g.regs.at[pointer].buffer = LE_PARTS;
    le_gen_emit(&g, g.base,
                (struct le_instr){.code = node->type == stored ? LE_CODE_COPY : LE_CODE_CAST,
                                  .type = (uint8_t)node->type,
                                  .type2 = (uint8_t)stored,
                                  .d = (uint16_t)pointer,
                                  .a = (uint16_t)x->reg,
                                  .b = LE_NO_REG,
                                  .c = LE_NO_REG,
                                  .e = LE_NO_REG});
    le_gen_close_all(&g, g.base);
    *out = (struct le_launch){.unit = le_gen_finish(&g), .tasks = 1, .elements = 1};
    unmerge_indices(&g);
    return g.status;
}
