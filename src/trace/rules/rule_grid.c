/* small-grid: kernels whose grid leaves most of the device empty for long. */
#include "base/hash.h"
#include "trace/rules/groups.h"
#include "trace/rules/occupancy.h"
#include "trace/rules/scene.h"

/* A device hides its latencies from about a quarter of its threads on; below, time goes down as threads go up. */
enum { FULL_ENOUGH = 25 };
/* Shorter kernels end with their latency: more threads would not make them faster. */
enum { LEAST_MEAN_NS = 20000 };
/* Percent of the whole that they take. */
enum { LEAST_PART = 5 };
enum { NAMED = 4 };

/* Parts in a million of the device's threads that the kernel fills; what runs at the same time counts in. */
static uint64_t filled(const struct le_scene *scene, const struct le_operation *operation) {
    const struct le_trace_device *device =
        &scene->index->devices.at[scene->index->streams.at[operation->stream].device];
    const struct le_shape *shape = le_shape_of(scene, operation);
    uint64_t room = (uint64_t)device->multiprocessors * device->multiprocessor_threads;
    uint64_t threads = le_shape_blocks(shape) * le_shape_threads(shape);
    uint64_t union_ns = le_spans_total(&scene->kernels);
    if (room == 0 || threads == 0 || union_ns == 0 || threads >= room)
        return 1000000;
    uint64_t part = (uint64_t)(1e6 * (double)threads / (double)room * (double)scene->kernel_ns / (double)union_ns);
    return part < 1000000 ? part : 1000000;
}

static bool can_tell(const struct le_scene *scene, const struct le_operation *operation) {
    return operation->kind == LE_OPERATION_KERNEL && scene->index->streams.at[operation->stream].device != LE_NONE;
}

static uint64_t key_of(const struct le_operation *operation) {
    int32_t parts[2] = {operation->name, operation->shape};
    return le_hash(parts, sizeof parts, 0);
}

/* bytes: parts in a million; extra_ns: what a full device would save. */
static struct le_groups gather(struct le_scene *scene) {
    struct le_groups groups = {.most = scene->operation_count};
    for (int32_t k = 0; k < scene->operation_count; k++) {
        const struct le_operation *operation = le_scene_operation(scene, k);
        if (!can_tell(scene, operation))
            continue;
        struct le_group *group = le_groups_get(scene->scratch, &groups, key_of(operation));
        if (group->count++ == 0) {
            group->first = k;
            group->bytes = filled(scene, operation);
        }
        group->time_ns += le_operation_ns(operation);
    }
    for (int k = 0; k < groups.count; k++) {
        struct le_group *group = &groups.at[k];
        bool is_small = group->bytes * 100 < 1000000ull * FULL_ENOUGH && group->time_ns / group->count >= LEAST_MEAN_NS;
        group->extra_ns =
            is_small ? group->time_ns - (uint64_t)((double)group->time_ns * (double)group->bytes / 1e6) : 0;
    }
    return groups;
}

/* The host's wait for these kernels: no more can be won. Where nothing is known to wait, that is no limit. */
static uint64_t waited(struct le_scene *scene, const struct le_groups *groups) {
    uint64_t waited_ns = 0;
    for (int32_t k = 0; k < scene->operation_count; k++) {
        const struct le_operation *operation = le_scene_operation(scene, k);
        if (!can_tell(scene, operation) || le_groups_find(groups, key_of(operation))->extra_ns == 0)
            continue;
        waited_ns += le_spans_overlap(&scene->held, operation->start_ns, operation->end_ns);
        le_blame(scene, le_call_of(scene, operation), le_operation_ns(operation));
    }
    return scene->held.count ? waited_ns : UINT64_MAX;
}

static const char *name_them(struct le_scene *scene, const struct le_groups *groups) {
    struct le_arena *arena = scene->arena;
    const char *text = "";
    for (int k = 0; k < groups->count && k < NAMED && groups->at[k].extra_ns; k++) {
        const struct le_group *group = &groups->at[k];
        const struct le_operation *operation = le_scene_operation(scene, group->first);
        const struct le_shape *shape = le_shape_of(scene, operation);
        text = le_arena_format(
            arena, "%s%s%s: %s blocks of %s threads, %.2g %% of the device's threads, %s times %s", text, k ? "\n" : "",
            le_kernel_name(scene, operation->name), le_figure_count(arena, le_shape_blocks(shape)),
            le_figure_count(arena, le_shape_threads(shape)), (double)group->bytes / 1e4,
            le_figure_count(arena, group->count), le_figure_time(arena, group->time_ns / group->count));
    }
    return text;
}

void le_rule_small_grid(struct le_scene *scene) {
    struct le_groups groups = gather(scene);
    uint64_t time_ns, saved_ns;
    le_groups_sum(&groups, &time_ns, &saved_ns);
    if (saved_ns < scene->worth_ns || time_ns * 100 < (scene->end_ns - scene->start_ns) * LEAST_PART)
        return;
    uint64_t waited_ns = waited(scene, &groups);
    le_groups_sort(&groups);
    struct le_arena *arena = scene->arena;
    const struct le_operation *first = le_scene_operation(scene, groups.at[0].first);
    le_scene_claim(scene,
                   &(struct le_claim){
                       .rule = "small-grid",
                       .title = le_arena_format(arena, "Grids too small: %s in kernels that fill %.2g %% of the device",
                                                le_figure_time(arena, time_ns), (double)groups.at[0].bytes / 1e4),
                       .evidence = le_arena_format(arena,
                                                   "%s\nassumed: as many threads as the device holds, and work "
                                                   "that divides among them",
                                                   name_them(scene, &groups)),
                       .advice = LE_ADVICE_GRID,
                       .gain_ns = saved_ns < waited_ns ? saved_ns : waited_ns,
                       .confidence = groups.at[0].bytes < 100000 ? LE_LIKELY : LE_PLAUSIBLE,
                       .start_ns = first->start_ns,
                       .end_ns = first->end_ns,
                   });
}
