/* Whether one kernel computes two stages faster than two kernels do: maps over the same points, or reductions that
 * depend on the same kept indices, with or without values along these rows. Planning calls it for stages that read the
 * same elements, or of which one reads what the other computes for the point. */
#include "gen/mapping/map.h"
#include "gen/scan_find.h"

#define GAIN 0.95 /* of the two kernels' time, for reductions */

/* false: the stage is computed in another way. */
static bool find_mapping(const struct le_device_kernel_job *job, const struct le_stage *stage,
                         struct le_mapping *found) {
    struct le_mapping_search search = {.job = job, .stage = stage};
    struct le_device_kernel_job own = *job;
    own.kernel.stage = stage;
    search.job = &own;
    le_propose_elements(&search);
    if (search.count == 0)
        return false;
    *found = *le_mapping_choose(&search);
    return found->kind != LE_MAPPING_REUSE && (!job->facts->mapping || found->forced);
}

static bool is_map(const struct le_mapping *m) {
    return m->kind == LE_MAPPING_MAP || m->kind == LE_MAPPING_TILE;
}

/* Whether the threads of the joined map read and write as well as those of the two maps. Tiles of complex numbers do
 * better than maps of either part. */
static bool is_as_good(const struct map *joined, const struct map *a, const struct map *b) {
    const struct map *coarser = a->axis_count > b->axis_count ? a : b;
    bool alike = joined->way == a->way && joined->way == b->way;
    return joined->safe && (alike || (joined->way == MAP_TILE && joined->paired)) &&
           joined->axis_count <= coarser->axis_count && joined->width >= (a->width < b->width ? a->width : b->width) &&
           joined->dear <= (a->dear || b->dear) && joined->loose <= (a->loose || b->loose) &&
           joined->asks <= (a->asks || b->asks);
}

static bool is_faster(const struct le_mapping *joined, const struct le_mapping *a, const struct le_mapping *b) {
    if (is_map(a) && is_map(b) && is_map(joined))
        return is_as_good(joined->found, a->found, b->found) && joined->seconds < a->seconds + b->seconds;
    bool loops = joined->kind == LE_MAPPING_LOOP && !(a->kind == LE_MAPPING_LOOP && b->kind == LE_MAPPING_LOOP);
    return !is_map(joined) && !loops && joined->seconds < GAIN * (a->seconds + b->seconds);
}

/* Whether kernels read the stage's node as it is, and it can neither fault nor record notes. */
static bool is_plain(const struct le_device_kernel_job *job, const struct le_stage *stage) {
    struct codegen c;
    le_codegen_begin(&c, job, stage, "");
    return le_kernel_readable(&job->kernel, stage->node) == stage->node && le_node_is_safe(&c.safety, stage->node);
}

static struct le_stage *joined_stage(struct le_arena *arena, const struct le_stage *stage,
                                     const struct le_stage *member) {
    const struct le_stage **also = LE_NEW_ARRAY(arena, stage->also_count + 1, const struct le_stage *);
    bool first = member->index_count <= stage->index_count;
    struct le_stage *alone = LE_NEW(arena, struct le_stage), *joined = LE_NEW(arena, struct le_stage);
    for (int k = 0; k < stage->also_count; k++)
        also[k] = stage->also[k];
    *alone = *stage;
    alone->also_count = 0;
    also[stage->also_count] = first ? member : alone;
    *joined = first ? *stage : *member;
    joined->also = also;
    joined->also_count = stage->also_count + 1;
    return joined;
}

const struct le_stage *le_device_join(const struct le_device_kernel_job *job, const struct le_stage *other,
                                      const struct le_stage *member) {
    const struct le_stage *stage = job->kernel.stage;
    struct le_device_kernel_job own = *job;
    struct le_mapping first, second, both;
    if (stage->also_count == LE_ALSO_MAX)
        return NULL;
    own.kernel = le_kernel_begin(&job->kernel);
    const struct le_stage *joined = joined_stage(own.kernel.arena, stage, member);
    if (!is_plain(&own, stage) || !is_plain(&own, member) || !find_mapping(&own, joined, &both) ||
        !find_mapping(&own, stage, &first) || !find_mapping(&own, other, &second))
        return NULL;
    return is_faster(&both, &first, &second) ? joined : NULL;
}
