/* kernels-apart: kernels in several streams, small enough to share the device, that never run at the same time. */
#include "trace/rules/groups.h"
#include "trace/rules/occupancy.h"
#include "trace/rules/scene.h"

/* Below, the host launches too slowly for two to meet: that is launch-bound's. */
enum { LEAST_MEAN_KERNEL_NS = 20000 };
/* Percent of the device's blocks that a kernel may take for another to fit beside it. */
enum { MOST_FILLED = 50 };
/* Percent of their time in which two run: more, and streams do what they are for. */
enum { MOST_SHARED = 10 };
/* Percent of the whole; and how many. */
enum { LEAST_PERCENT_OF_WHOLE = 10, LEAST_KERNELS = 8 };

struct apart {
    uint64_t count, time_ns, full;
    struct le_groups streams;
    bool has_null, ordered;
};

static bool is_full(const struct le_scene *scene, const struct le_operation *operation) {
    uint64_t room = operation->shape == LE_NONE ? 0 : scene->rooms[operation->shape];
    return room == 0 || le_shape_blocks(le_shape_of(scene, operation)) * 100 > room * MOST_FILLED;
}

static struct apart gather(struct le_scene *scene) {
    struct apart apart = {0};
    for (int32_t k = 0; k < scene->operation_count; k++) {
        const struct le_operation *operation = le_scene_operation(scene, k);
        if (operation->kind != LE_OPERATION_KERNEL || operation->is_of_graph)
            continue;
        if (is_full(scene, operation)) {
            apart.full++;
            continue;
        }
        apart.count++;
        apart.time_ns += le_operation_ns(operation);
        apart.has_null |= scene->index->streams.at[operation->stream].is_null;
        le_groups_get(scene->scratch, &apart.streams, (uint64_t)operation->stream)->count++;
        le_blame(scene, le_call_of(scene, operation), le_operation_ns(operation));
    }
    for (int32_t k = 0; k < scene->index->waits.count; k++)
        apart.ordered |= scene->index->waits.at[k].kind == LE_TRACE_SYNC_STREAM_EVENT;
    return apart;
}

void le_rule_kernels_apart(struct le_scene *scene) {
    struct apart apart = gather(scene);
    uint64_t shared_ns = scene->kernel_ns - le_spans_total(&scene->kernels);
    if (apart.count < LEAST_KERNELS || apart.streams.count < 2 || apart.ordered ||
        apart.time_ns / apart.count < LEAST_MEAN_KERNEL_NS || shared_ns * 100 > scene->kernel_ns * MOST_SHARED ||
        apart.time_ns * 100 < (scene->end_ns - scene->start_ns) * LEAST_PERCENT_OF_WHOLE)
        return;
    struct le_arena *arena = scene->arena;
    const char *why = apart.has_null ? "the null stream is among them: it waits for the others, and they for it"
                      : apart.full   ? "kernels that fill the device lie between"
                                     : "the host waits, or works, between the launches";
    le_scene_claim(scene,
                   &(struct le_claim){
                       .rule = "kernels-apart",
                       .title = le_arena_format(arena, "%s small kernels in %d streams, never two at once: %s",
                                                le_figure_count(arena, apart.count), apart.streams.count,
                                                le_figure_time(arena, apart.time_ns)),
                       .evidence = le_arena_format(arena,
                                                   "why: %s\n%s kernels that fill the device are not counted\nassumed: "
                                                   "as many at once as there are streams",
                                                   why, le_figure_count(arena, apart.full)),
                       .advice = LE_ADVICE_STREAMS,
                       .gain_ns = apart.time_ns - apart.time_ns / (uint64_t)apart.streams.count,
                       .confidence = LE_HINT,
                   });
}
