/* tail-wave: the last wave of blocks fills little of the device, and takes as long as a full one. */
#include "base/hash.h"
#include "trace/rules/groups.h"
#include "trace/rules/occupancy.h"
#include "trace/rules/scene.h"

/* From five waves on blocks end at different times, and no last wave is left to see. */
enum { MOST_WAVES = 5 };
/* Percent of the waves' time that the last one leaves unused; less drowns in how blocks differ. */
enum { LEAST_LOSS = 20 };
/* As for small grids: latency rules what is shorter. */
enum { SHORTEST_MEAN_NS = 20000 };
/* Percent of the whole that such kernels take. */
enum { LEAST_OF_WHOLE = 5 };

struct waves {
    uint64_t blocks, at_once, full; /* full: waves, the last one counted as one */
    uint64_t loss;                  /* parts in a million */
};

static struct waves waves_of(const struct le_scene *scene, const struct le_operation *operation) {
    if (operation->kind != LE_OPERATION_KERNEL || operation->shape == LE_NONE)
        return (struct waves){0};
    struct waves waves = {.blocks = le_shape_blocks(le_shape_of(scene, operation)),
                          .at_once = scene->rooms[operation->shape]};
    if (waves.at_once == 0 || waves.blocks <= waves.at_once)
        return (struct waves){0};
    waves.full = (waves.blocks + waves.at_once - 1) / waves.at_once;
    uint64_t room = waves.full * waves.at_once;
    waves.loss = waves.full <= MOST_WAVES ? (room - waves.blocks) * 1000000 / room : 0;
    return waves;
}

/* bytes: loss; extra_ns: time lost. */
static struct le_groups gather(struct le_scene *scene) {
    struct le_groups groups = {.most = scene->operation_count};
    for (int32_t k = 0; k < scene->operation_count; k++) {
        const struct le_operation *operation = le_scene_operation(scene, k);
        struct waves waves = waves_of(scene, operation);
        if (waves.loss * 100 < 1000000ull * LEAST_LOSS)
            continue;
        int32_t parts[2] = {operation->name, operation->shape};
        struct le_group *group = le_groups_get(scene->scratch, &groups, le_hash(parts, sizeof parts, 0));
        if (group->count++ == 0) {
            group->first = k;
            group->bytes = waves.loss;
        }
        group->time_ns += le_operation_ns(operation);
        le_blame(scene, le_call_of(scene, operation), le_operation_ns(operation));
    }
    for (int k = 0; k < groups.count; k++)
        if (groups.at[k].time_ns / groups.at[k].count >= SHORTEST_MEAN_NS)
            groups.at[k].extra_ns = (uint64_t)((double)groups.at[k].time_ns * (double)groups.at[k].bytes / 1e6);
    return groups;
}

void le_rule_tail_wave(struct le_scene *scene) {
    struct le_groups groups = gather(scene);
    uint64_t time_ns, lost_ns;
    le_groups_sum(&groups, &time_ns, &lost_ns);
    if (lost_ns < scene->worth_ns || time_ns * 100 < (scene->end_ns - scene->start_ns) * LEAST_OF_WHOLE)
        return;
    le_groups_sort(&groups);
    struct le_arena *arena = scene->arena;
    const struct le_operation *first = le_scene_operation(scene, groups.at[0].first);
    struct waves waves = waves_of(scene, first);
    le_scene_claim(
        scene,
        &(struct le_claim){
            .rule = "tail-wave",
            .title = le_arena_format(arena,
                                     "Tail wave: %s blocks where the device holds %s make %llu waves, the last "
                                     "one mostly empty",
                                     le_figure_count(arena, waves.blocks), le_figure_count(arena, waves.at_once),
                                     (unsigned long long)waves.full),
            .evidence = le_arena_format(arena,
                                        "%s: %s times, %s in all; kernels like it: %s\nassumed: blocks of equal "
                                        "length",
                                        le_kernel_name(scene, first->name), le_figure_count(arena, groups.at[0].count),
                                        le_figure_time(arena, groups.at[0].time_ns), le_figure_time(arena, time_ns)),
            .advice = LE_ADVICE_TAIL,
            .gain_ns = lost_ns,
            .confidence = LE_PLAUSIBLE,
            .start_ns = first->start_ns,
            .end_ns = first->end_ns,
        });
}
