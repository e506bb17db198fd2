/* Proposes the mappings of scans: a lane for each row, some lanes for a short row, a thread block for each row, or a
 * block for each tile of few long rows. A thread for each row fits all scans. Elements with an empty range are a stage
 * of their own. */
#include "gen/mapping/scan_group.h"
#include <math.h>
#include <string.h>

#define COLUMNS      16 /* least columns for which a lane for each column is efficient */
#define BUSY_WARPS   32 /* warps that keep a multiprocessor's memory reads busy */
#define WARPS_MOST   16 /* most warps that share a column's groups */
#define BLOCK_LEAST  64 /* least and most threads of a row */
#define BLOCK_MOST   256
#define LOOK_BACK    128  /* totals of earlier tiles for which a tile has room */
#define CHUNK_GROUPS 1024 /* groups in a chunk of the order of floats' totals */

/* ---- what all teams have in common */

static int size_of(enum le_type type) {
    return le_type_is_half(type) ? 4 : (int)le_type_size(type);
}

static bool find_points(struct scan_team *s, const struct le_stage *stage) {
    if (stage->index_count > POINTS_MAX || !le_ranges_are_fixed(s->c->space, stage->indices, stage->index_count))
        return false;
    s->points = le_points(s->c->space, stage->indices, stage->index_count);
    for (int k = 0; k < stage->index_count; k++)
        s->points_at[s->points_count++] = stage->indices[k];
    return s->points <= INT32_MAX;
}

/* If neighbours along some index are nearer in memory than neighbouring terms, that index runs fastest. */
static void find_across(struct scan_team *s) {
    for (int k = s->points_count - 1; k >= 0 && !s->across; k--) {
        int index = s->points_at[k];
        s->across = le_range_count(le_range_of(s->c->space, index)) > 1 && le_group_is_across(s->c, &s->g, index);
        if (!s->across)
            continue;
        memmove(&s->points_at[k], &s->points_at[k + 1], (size_t)(s->points_count - 1 - k) * sizeof(int));
        s->points_at[s->points_count - 1] = index;
    }
}

static bool find_team(struct scan_team *s, const struct le_stage *stage) {
    struct codegen *c = s->c;
    const struct le_scan *scan = s->scan;
    struct le_node *n = scan->reduction;
    if (!find_points(s, stage))
        return false;
    s->type = n->operands[0]->type;
    s->is_arg = le_node_is_arg(n);
    s->ordered = le_node_is_ordered(n);
    s->head = scan->head.low < scan->head.high ? scan->head.high - scan->head.low : 0;
    s->g = (struct group){.nodes = {n}, .bodies = {scan->term}, .node_count = 1, .index_count = 1};
    s->g.indices = &scan->index;
    s->g.terms = le_range_count(&scan->turns) + s->head;
    le_group_shape(c, &s->g);
    s->g.terms -= s->head;
    find_across(s);
    s->counting = le_group_counting(&s->g);
    s->result = s->is_arg ? s->counting : (int)s->type;
    s->slot = size_of(s->type);
    if (s->is_arg && s->slot < (s->g.narrow ? 4 : 8))
        s->slot = s->g.narrow ? 4 : 8;
    return true;
}

/* ---- whether they fit */

static bool are_rows_short(const struct scan_team *s) {
    return s->g.terms <= WARP * SCAN_GROUP;
}

/* For floats a tile is a chunk of the order of their totals. */
static int tile_groups(const struct scan_team *s) {
    return s->ordered ? CHUNK_GROUPS : SCAN_TILE_BYTES / SCAN_GROUP / (s->slot > 4 ? s->slot : 4);
}

static bool can_count_tiles(const struct scan_team *s, int64_t groups) {
    return s->g.terms / (groups * SCAN_GROUP) < INT32_MAX / s->points;
}

static bool fit_tiles(const struct scan_team *s) {
    int64_t groups = tile_groups(s);
    size_t room = (size_t)(groups + LOOK_BACK + 2 * WARP + 2) * (size_t)le_group_bytes(&s->g) * 2;
    return (size_t)(groups * SCAN_GROUP * s->slot) + room <= s->c->job->facts->shared_most_bytes &&
           can_count_tiles(s, groups);
}

/* Rows share tiles if they are few and long. */
static enum le_mapping_kind best_kind(const struct scan_team *s) {
    if ((s->across && s->points >= COLUMNS) || s->g.terms <= SCAN_GROUP)
        return LE_MAPPING_SCAN_COLUMNS;
    if (are_rows_short(s))
        return LE_MAPPING_SCAN_LANES;
    bool are_few = s->points < 4 * (int64_t)s->c->job->facts->multiprocessors;
    bool are_long = s->g.terms > 2 * (int64_t)tile_groups(s) * SCAN_GROUP;
    return are_few && are_long && fit_tiles(s) ? LE_MAPPING_SCAN_TILES : LE_MAPPING_SCAN_BLOCK;
}

/* ---- proposals: no number of threads, lanes or groups changes the order of floats' totals */

struct proposals {
    struct le_mapping_search *search;
    const struct scan_stage *own;
    const struct scan_team *base; /* what all teams have in common */
};

static struct le_mapping *add(const struct proposals *p, enum le_mapping_kind kind,
                              leat_status (*make)(const struct le_mapping *m, void *found,
                                                  struct le_generated_launches *out),
                              struct scan_team **team) {
    *team = LE_NEW(p->search->job->kernel.arena, struct scan_team);
    **team = *p->base;
    (*team)->kind = kind;
    return le_mapping_add(p->search, kind, make, *team);
}

/* A scan from the end on, and one of a short row, reads and writes vectors only if the row consists of whole vectors.
 */
static void find_widths(struct scan_team *s) {
    struct le_node target = le_codegen_target(s->c);
    int width = 16 / (int)le_type_size(s->c->ir->values.at[target.value].type);
    bool whole = s->scan->down || s->kind == LE_MAPPING_SCAN_LANES;
    s->out_width = le_team_is_wide(s->c, &target, &s->scan->index, 1, width) ? width : 1;
    if (whole && s->g.terms % s->out_width != 0)
        s->out_width = 1;
    if (whole && s->g.terms % s->g.width != 0)
        s->g.width = 1;
    int steps = s->groups > 0 ? s->groups / s->threads : 1;
    while (s->g.unroll > steps * SCAN_GROUP / s->g.width)
        s->g.unroll /= 2;
}

/* rounds: of reads, one after the other. seconds: that each takes. */
static double seconds_of(const struct scan_stage *own, int index, double threads, double rounds, double seconds) {
    struct le_node *term = own->scan->term;
    double terms = (double)le_range_count(&own->scan->turns), all = terms * le_cost_points(own->job, own->stage);
    double bytes = le_cost_bytes(own->job, &term, 1, index);
    struct le_cost cost = {.bytes = bytes + terms * le_cost_target_bytes(own->job, own->stage, index),
                           .operations = all * (double)(term->cost + 1),
                           .requests = le_cost_requests(own->job, &term, 1, index, NULL, 0) * all / WARP,
                           .threads = threads,
                           .bytes_in_flight = fmax(4, bytes / (threads * rounds)),
                           .team_seconds = rounds * seconds,
                           .launches = 1};
    return le_cost_seconds(own->job->facts, &cost);
}

static void finish(const struct proposals *p, struct scan_team *s, struct le_mapping *m, int index, double threads,
                   double rounds, double join_seconds) {
    find_widths(s);
    m->seconds = seconds_of(p->own, index, threads, rounds, LE_READ_SECONDS + join_seconds);
    if (m->kind == best_kind(s))
        p->search->preferred = m;
}

static void propose_columns(const struct proposals *p) {
    struct scan_team *s;
    struct le_mapping *m = add(p, LE_MAPPING_SCAN_COLUMNS, le_scan_make_columns, &s);
    int64_t busy = (int64_t)s->c->job->facts->multiprocessors * BUSY_WARPS * WARP, warps = 1;
    while (warps < WARPS_MOST && s->g.terms > SCAN_GROUP * warps && s->points * warps < busy)
        warps *= 4;
    s->warps = (int)le_mapping_set(m, "warps", warps, 1, WARPS_MOST, true);
    s->threads = s->warps == WARPS_MOST ? 512 : 256;
    int last = s->points_count ? s->points_at[s->points_count - 1] : -1;
    finish(p, s, m, last, (double)s->points * s->warps, ceil((double)s->g.terms / (SCAN_GROUP * s->warps)), 0);
}

static void propose_lanes(const struct proposals *p) {
    struct scan_team *s;
    int64_t lanes = 2;
    if (!are_rows_short(p->base))
        return;
    struct le_mapping *m = add(p, LE_MAPPING_SCAN_LANES, le_scan_make_lanes, &s);
    while (lanes < WARP && lanes * SCAN_GROUP < s->g.terms)
        lanes *= 2;
    s->lanes = (int)le_mapping_set(m, "lanes", lanes, lanes, WARP, true);
    s->threads = BLOCK_MOST;
    finish(p, s, m, s->scan->index, (double)s->points * s->lanes, 1, LE_WARP_SECONDS);
}

static void propose_block(const struct proposals *p) {
    struct scan_team *s;
    struct le_mapping *m = add(p, LE_MAPPING_SCAN_BLOCK, le_scan_make_block, &s);
    int64_t threads = BLOCK_LEAST;
    while (threads < BLOCK_MOST && threads * SCAN_GROUP < s->g.terms)
        threads *= 2;
    s->threads = s->groups = (int)le_mapping_set(m, "threads", threads, BLOCK_LEAST, BLOCK_MOST, true);
    finish(p, s, m, s->scan->index, (double)s->points * s->threads, ceil((double)s->g.terms / (SCAN_GROUP * s->groups)),
           LE_BLOCK_SECONDS);
}

static void propose_tiles(const struct proposals *p) {
    struct scan_team *s;
    if (!fit_tiles(p->base))
        return;
    struct le_mapping *m = add(p, LE_MAPPING_SCAN_TILES, le_scan_make_tiles, &s);
    int most = tile_groups(s), least = s->ordered || !can_count_tiles(s, BLOCK_MOST) ? most : BLOCK_MOST;
    s->groups = (int)le_mapping_set(m, "groups", most, least, most, true);
    s->threads = le_scan_tile_bytes(s) > SCAN_TILE_BYTES ? 512 : BLOCK_MOST;
    double tiles = ceil((double)s->g.terms / (SCAN_GROUP * s->groups));
    finish(p, s, m, s->scan->index, (double)s->points * tiles * s->threads, 1, LE_BLOCK_SECONDS);
}

static void propose_loop(struct le_mapping_search *search, struct scan_stage *own) {
    struct le_mapping *m = le_mapping_add(search, LE_MAPPING_SCAN_LOOP, le_scan_make_loop, own);
    const struct le_stage *stage = own->stage;
    int last = stage->index_count ? stage->indices[stage->index_count - 1] : -1;
    double rows = le_cost_points(own->job, stage), terms = (double)le_range_count(&own->scan->turns);
    m->seconds = seconds_of(own, last, rows, terms, LE_TERM_SECONDS);
}

static void propose_scans(struct le_mapping_search *search, const struct le_scan *scan) {
    struct le_arena *arena = search->job->kernel.arena;
    struct scan_stage *own = LE_NEW(arena, struct scan_stage);
    struct scan_team base = {.c = LE_NEW(arena, struct codegen), .scan = scan};
    const struct proposals p = {search, own, &base};
    *own = (struct scan_stage){search->job, search->stage, scan};
    le_codegen_begin(base.c, search->job, search->stage, "");
    if (find_team(&base, search->stage)) {
        propose_columns(&p);
        propose_lanes(&p);
        propose_block(&p);
        propose_tiles(&p);
    }
    propose_loop(search, own);
}

/* ---- the stages that a scan consists of */

static leat_status generate_turns(const struct le_device_kernel_job *job, struct le_scan *scan,
                                  struct le_generated_launches *out) {
    struct le_scan_part part;
    struct le_device_kernel_job own = *job;
    struct le_mapping_search search = {.job = &own, .stage = &part.stage};
    le_scan_turns_part(&job->kernel, scan, &part);
    own.kernel = part.kernel;
    propose_scans(&search, scan);
    return le_mapping_make(&search, out);
}

static leat_status generate_empty(const struct le_device_kernel_job *job, const struct le_scan *scan,
                                  struct le_generated_launches *out) {
    struct le_scan_part part;
    struct le_device_kernel_job own = *job;
    struct le_mapping_search search = {.job = &own, .stage = &part.stage};
    le_scan_empty_part(&job->kernel, scan, &part);
    own.kernel = part.kernel;
    le_propose_loop(&search);
    return le_mapping_make(&search, out);
}

leat_status le_scan_generate(const struct le_device_kernel_job *job, const struct le_stage *stage,
                             struct le_generated_launches *out) {
    struct le_scan scan;
    struct le_mapping_search search = {.job = job, .stage = stage};
    leat_status status = LEAT_OK;
    if (!le_scan_is_made(&job->kernel, stage))
        return LEAT_OK;
    if (!le_scan_find(&job->kernel, stage, &scan)) {
        le_propose_loop(&search);
        return le_mapping_make(&search, out);
    }
    if (scan.empty.low < scan.empty.high)
        status = generate_empty(job, &scan, out);
    if (status == LEAT_OK && scan.turns.low < scan.turns.high)
        status = generate_turns(job, &scan, out);
    return status;
}
