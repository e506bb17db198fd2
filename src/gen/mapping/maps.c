/* Proposes the mappings of stages that compute one value for each point from reads and operations alone. */
#include "gen/mapping/map.h"
#include <math.h>

static double elements_of(const struct map *m) {
    double elements = 1;
    for (int a = 0; a < m->axis_count; a++)
        elements *= (double)m->axes[a].count;
    return elements;
}

/* A tile reads along each array's own axis: index -1. */
static void finish(struct le_mapping *mapping, const struct map *m, int index) {
    const struct le_device_kernel_job *job = m->c.job;
    double elements = elements_of(m), part = (double)m->width * m->unroll;
    double bytes = le_cost_bytes(job, m->nodes, m->result_count, index), written = 0;
    for (int k = 0; k < m->result_count; k++)
        written += le_cost_target_bytes(job, m->results[k].stage, le_map_inner(m)->index);
    struct le_cost cost = {.bytes = bytes + written,
                           .operations = elements * (double)le_map_cost(m),
                           .threads = elements / part,
                           .bytes_in_flight = fmax(16, part * bytes / elements),
                           .launches = 1};
    mapping->seconds = le_cost_seconds(job->facts, &cost);
}

static struct map *find(struct le_mapping_search *search, bool tiles) {
    struct map *m = LE_NEW(search->job->kernel.arena, struct map);
    return le_map_find(m, search->job, search->stage, tiles) ? m : NULL;
}

void le_propose_maps(struct le_mapping_search *search) {
    struct map *m = find(search, true);
    if (m && m->way == MAP_TILE) {
        struct le_mapping *mapping = le_mapping_add(search, LE_MAPPING_TILE, le_map_make, m);
        le_mapping_set(mapping, "rows", m->tile_rows, m->tile_rows, m->tile_rows, false);
        le_mapping_set(mapping, "columns", m->tile_columns, m->tile_columns, m->tile_columns, false);
        le_mapping_set(mapping, "vector", m->width, m->width, m->width, false);
        finish(mapping, m, -1);
        m = find(search, false);
    }
    if (!m)
        return;
    struct le_mapping *mapping = le_mapping_add(search, LE_MAPPING_MAP, le_map_make, m);
    le_mapping_set(mapping, "vector", m->width, 1, m->width, true);
    le_mapping_set(mapping, "unrolled", m->unroll, 1, 16, true);
    finish(mapping, m, le_map_inner(m)->index);
}
