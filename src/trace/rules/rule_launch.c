/* launch-bound: the device is idle between kernels because the host has not launched the next one yet. */
#include "trace/rules/scene.h"

/* Fewer gaps are an accident; a longer one is the host's own work, not that of launching. */
enum { LEAST_GAPS = 50, LONGEST_GAP_NS = 200000 };
/* A kernel that starts so soon after its call has waited for nothing but that call. */
enum { LATENCY_NS = 25000 };
/* Idle parts in a hundred: a graph wins 14 at kernels of 6 us, so that less is not worth the change. */
enum { LEAST_IDLE = 25 };

struct tally {
    uint64_t gaps, idle_ns, busy_ns, recording_ns, start_ns, end_ns;
};

static bool is_late(const struct le_scene *scene, const struct le_operation *operation, uint64_t before_ns) {
    const struct le_call *call = le_call_of(scene, operation);
    return operation->kind == LE_OPERATION_KERNEL && operation->graph == 0 && call && call->kind == LE_CALL_LAUNCH &&
           operation->start_ns - before_ns <= LONGEST_GAP_NS && call->end_ns + LATENCY_NS >= operation->start_ns &&
           call->end_ns > before_ns &&
           2 * le_spans_overlap(&scene->held, before_ns, operation->start_ns) < operation->start_ns - before_ns;
}

static void count_gaps(struct le_scene *scene, struct tally *tally) {
    uint64_t busy_until_ns = 0;
    for (int32_t k = 0; k < scene->operation_count; k++) {
        const struct le_operation *operation = le_scene_operation(scene, k);
        uint64_t before_ns = busy_until_ns;
        if (operation->end_ns > busy_until_ns)
            busy_until_ns = operation->end_ns;
        if (k == 0 || operation->start_ns <= before_ns || !is_late(scene, operation, before_ns))
            continue;
        uint64_t gap_ns = operation->start_ns - before_ns;
        uint64_t recording_ns = le_recording_between(scene, before_ns, operation->start_ns);
        gap_ns -= recording_ns;
        tally->recording_ns += recording_ns;
        tally->start_ns = tally->gaps++ ? tally->start_ns : before_ns;
        tally->end_ns = operation->end_ns;
        tally->idle_ns += gap_ns;
        tally->busy_ns += le_operation_ns(operation);
        le_blame(scene, le_call_of(scene, operation), gap_ns);
    }
}

void le_rule_launch_bound(struct le_scene *scene) {
    struct tally tally = {0};
    count_gaps(scene, &tally);
    uint64_t whole_ns = tally.idle_ns + tally.busy_ns;
    if (tally.gaps < LEAST_GAPS || tally.idle_ns * 100 < whole_ns * LEAST_IDLE || tally.idle_ns < scene->worth_ns)
        return;
    struct le_arena *arena = scene->arena;
    const char *gaps = le_figure_count(arena, tally.gaps), *idle = le_figure_time(arena, tally.idle_ns);
    le_scene_claim(
        scene,
        &(struct le_claim){
            .rule = "launch-bound",
            .title = le_arena_format(arena, "Launch-bound: the device waited %s for %s launches (%s of that time)",
                                     idle, gaps, le_figure_part(arena, tally.idle_ns, whole_ns)),
            .evidence = le_arena_format(arena,
                                        "kernels of %s on average, %s of idle device before each while the host "
                                        "enqueues it\nrecording's own %s a launch is taken off",
                                        le_figure_time(arena, tally.busy_ns / tally.gaps),
                                        le_figure_time(arena, tally.idle_ns / tally.gaps),
                                        le_figure_time(arena, tally.recording_ns / tally.gaps)),
            .advice = LE_ADVICE_LAUNCH,
            .gain_ns = tally.idle_ns,
            .confidence = LE_LIKELY,
            .start_ns = tally.start_ns,
            .end_ns = tally.end_ns,
        });
}
