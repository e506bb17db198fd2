/* distortion: recording itself took so long that the host's times are longer than without it. */
#include "trace/rules/rule_input.h"

/* Percent of the run. Runs differ by less. */
enum { LEAST_DISTORTION = 5 };

struct launched {
    uint64_t count, captured; /* captured: into graphs, so that no kernel ran for the call itself */
};

static struct launched count_launches(const struct le_rule_input *scene) {
    struct launched launches = {0};
    for (int32_t k = 0; k < scene->call_count; k++) {
        const struct le_call *call = le_rule_input_call(scene, k);
        launches.count += call->kind == LE_CALL_LAUNCH;
        launches.captured += call->kind == LE_CALL_LAUNCH && call->operation == LE_NONE;
    }
    return launches;
}

static const char *evidence(const struct le_rule_input *scene, struct launched launches) {
    struct le_arena *arena = scene->arena;
    const char *each = "", *captured = "";
    if (launches.count)
        each = le_arena_format(arena, ", among them %s at %s each",
                               le_format_counted(arena, launches.count, "launch", "launches"),
                               le_format_time(arena, scene->launch_recording_ns));
    if (2 * launches.captured > launches.count)
        captured = le_arena_format(arena,
                                   "\n%s captured into graphs: `leat trace --graphs only` does not record them one "
                                   "by one",
                                   le_format_counted(arena, launches.captured, "launch was", "launches were"));
    return le_arena_format(arena,
                           "%s recorded%s; the profiler's own pauses took %s\n"
                           "the times of kernels are not affected%s",
                           le_format_counted(arena, (uint64_t)scene->call_count, "call was", "calls were"), each,
                           le_format_time(arena, le_periods_total(&scene->pauses)), captured);
}

void le_rule_distortion(struct le_rule_input *scene) {
    uint64_t time_ns = scene->recording_ns, whole_ns = scene->end_ns - scene->start_ns;
    if (time_ns < scene->worth_ns || time_ns * 100 < whole_ns * LEAST_DISTORTION)
        return;
    struct le_arena *arena = scene->arena;
    le_rule_input_claim(scene, &(struct le_claim){
                                   .rule = "distortion",
                                   .title = le_arena_format(arena, "Recording took about %s, %s of the run",
                                                            le_format_time(arena, time_ns),
                                                            le_format_percent(arena, time_ns, whole_ns)),
                                   .evidence = evidence(scene, count_launches(scene)),
                                   .advice = LE_ADVICE_DISTORTION,
                                   .confidence = LE_LIKELY,
                               });
}
