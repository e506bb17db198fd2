/* distortion: what recording itself took, so that the host's times are longer than without it. */
#include "trace/rules/scene.h"

/* Percent of the whole: less is below what runs differ by. */
enum { LEAST_DISTORTION = 5 };

void le_rule_distortion(struct le_scene *scene) {
    uint64_t launches = 0;
    for (int32_t k = 0; k < scene->call_count; k++)
        launches += le_scene_call(scene, k)->kind == LE_CALL_LAUNCH;
    uint64_t time_ns = scene->recording_ns, whole_ns = scene->end_ns - scene->start_ns;
    if (time_ns < scene->worth_ns || time_ns * 100 < whole_ns * LEAST_DISTORTION)
        return;
    struct le_arena *arena = scene->arena;
    const char *of_which =
        !launches ? ""
                  : le_arena_format(arena, ", of which %s launches at %s each", le_figure_count(arena, launches),
                                    le_figure_time(arena, scene->launch_recording_ns));
    le_scene_claim(
        scene, &(struct le_claim){
                   .rule = "distortion",
                   .title = le_arena_format(arena, "Recording took about %s, %s of the whole",
                                            le_figure_time(arena, time_ns), le_figure_part(arena, time_ns, whole_ns)),
                   .evidence = le_arena_format(arena,
                                               "%s calls%s; %s for the profiler's buffers\n"
                                               "kernels' own times are not longer for it",
                                               le_figure_count(arena, (uint64_t)scene->call_count), of_which,
                                               le_figure_time(arena, le_spans_total(&scene->pauses))),
                   .advice = LE_ADVICE_DISTORTION,
                   .confidence = LE_LIKELY,
               });
}
