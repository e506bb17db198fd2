/* distortion: recording itself took so long that the host's times are longer than without it. */
#include "trace/rules/rule_input.h"

/* Percent of the run. Runs differ by less. */
enum { LEAST_DISTORTION = 5 };

struct launched {
    uint64_t count, captured; /* captured: into graphs, so that no kernel ran for the call itself */
};

static struct launched count_launches(const struct le_rule_input *input) {
    struct launched launches = {0};
    for (int32_t k = 0; k < input->call_count; k++) {
        const struct le_call *call = le_rule_input_call(input, k);
        launches.count += call->kind == LE_CALL_LAUNCH;
        launches.captured += call->kind == LE_CALL_LAUNCH && call->operation == LE_NONE;
    }
    return launches;
}

static const char *distortion_evidence(const struct le_rule_input *input, struct launched launches) {
    struct le_arena *arena = input->arena;
    const char *each = "", *captured = "";
    if (launches.count)
        each = le_arena_format(arena, ", among them %s at %s each",
                               le_format_counted(arena, launches.count, "launch", "launches"),
                               le_format_time(arena, input->launch_recording_ns));
    if (2 * launches.captured > launches.count)
        captured = le_arena_format(arena,
                                   "\n%s captured into graphs: `leat trace --graphs only` does not record them one "
                                   "by one",
                                   le_format_counted(arena, launches.captured, "launch was", "launches were"));
    return le_arena_format(arena,
                           "%s recorded%s; the profiler's own pauses took %s\n"
                           "the times of kernels are not affected%s",
                           le_format_counted(arena, (uint64_t)input->call_count, "call was", "calls were"), each,
                           le_format_time(arena, le_periods_total(&input->pauses)), captured);
}

void le_rule_distortion(struct le_rule_input *input) {
    uint64_t time_ns = input->recording_ns, whole_ns = input->end_ns - input->start_ns;
    if (time_ns < input->least_gain_ns || time_ns * 100 < whole_ns * LEAST_DISTORTION)
        return;
    struct le_arena *arena = input->arena;
    le_rule_input_claim(input, &(struct le_claim){
                                   .rule = "distortion",
                                   .title = le_arena_format(arena, "Recording took about %s, %s of the run",
                                                            le_format_time(arena, time_ns),
                                                            le_format_percent(arena, time_ns, whole_ns)),
                                   .evidence = distortion_evidence(input, count_launches(input)),
                                   .advice = LE_ADVICE_DISTORTION,
                                   .confidence = LE_LIKELY,
                               });
}
