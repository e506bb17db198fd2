/* Whether one kernel computes two maps over the same points faster than two kernels do. Planning calls it for stages
 * that read the same elements, or of which one reads at each point what the other computes there. */
#include "gen/mapping/map.h"
#include "gen/scan_find.h"

/* The map that the stage's kernel would be made from; NULL: another kind of kernel. */
static const struct map *map_of(const struct le_device_kernel_job *job, const struct le_stage *stage, double *seconds) {
    struct le_mapping_search search = {.job = job, .stage = stage};
    le_propose_maps(&search);
    if (search.count == 0)
        return NULL;
    const struct le_mapping *best = le_mapping_choose(&search);
    *seconds = best->seconds;
    return job->facts->mapping && !best->forced ? NULL : best->found;
}

/* Whether the threads of the joined map read and write as well as those of the two maps. */
static bool is_as_good(const struct map *joined, const struct map *a, const struct map *b) {
    const struct map *coarser = a->axis_count > b->axis_count ? a : b;
    return joined->safe && joined->way == a->way && joined->way == b->way &&
           joined->axis_count <= coarser->axis_count && joined->width >= (a->width < b->width ? a->width : b->width) &&
           joined->dear <= (a->dear || b->dear) && joined->loose <= (a->loose || b->loose) &&
           joined->asks <= (a->asks || b->asks);
}

/* Whether kernels read the stage's node as it is. */
static bool is_readable(const struct le_kernel *kernel, const struct le_stage *stage) {
    return le_kernel_readable(kernel, stage->node) == stage->node;
}

const struct le_stage *le_device_join(const struct le_device_kernel_job *job, const struct le_stage *other,
                                      const struct le_stage *member) {
    const struct le_stage *stage = job->kernel.stage;
    struct le_device_kernel_job own = *job;
    double first = 0, second = 0, both = 0;
    if (stage->also_count == LE_ALSO_MAX)
        return NULL;
    own.kernel = le_kernel_begin(&job->kernel);
    if (!is_readable(&own.kernel, stage) || !is_readable(&own.kernel, other) || !is_readable(&own.kernel, member))
        return NULL;
    const struct le_stage **also = LE_NEW_ARRAY(own.kernel.arena, stage->also_count + 1, const struct le_stage *);
    for (int k = 0; k < stage->also_count; k++)
        also[k] = stage->also[k];
    also[stage->also_count] = member;
    struct le_stage *joined = LE_NEW(own.kernel.arena, struct le_stage);
    *joined = *stage;
    joined->also = also;
    joined->also_count++;
    const struct map *m = map_of(&own, joined, &both), *a = m ? map_of(&own, stage, &first) : NULL,
                     *b = a ? map_of(&own, other, &second) : NULL;
    return b && is_as_good(m, a, b) && both < first + second ? joined : NULL;
}
