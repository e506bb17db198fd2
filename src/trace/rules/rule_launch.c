/* launch-bound: the device is idle between kernels because the host has not yet launched the next one. */
#include "trace/rules/rule_input.h"

/* Fewer gaps are chance. A longer gap is the host's own work, not launching. */
enum { LEAST_GAPS = 50, LONGEST_GAP_NS = 200000 };
/* A kernel that starts within this time after its call waited only for the call. */
enum { LATENCY_NS = 25000 };
/* Percent of the time that is idle. With kernels of 6 us a graph saves 14 %, so less is not worth the change. */
enum { LEAST_IDLE = 25 };

struct tally {
    uint64_t gaps, idle_ns, busy_ns, recording_ns, start_ns, end_ns;
    struct le_estimate idle;
};

static bool is_late(const struct le_rule_input *input, const struct le_operation *operation, uint64_t before_ns) {
    const struct le_call *call = le_call_of(input, operation);
    return operation->kind == LE_OPERATION_KERNEL && operation->graph == 0 && call && call->kind == LE_CALL_LAUNCH &&
           operation->start_ns - before_ns <= LONGEST_GAP_NS && call->end_ns + LATENCY_NS >= operation->start_ns &&
           call->end_ns > before_ns &&
           2 * le_periods_overlap(&input->held, before_ns, operation->start_ns) < operation->start_ns - before_ns;
}

/* What recording added from the call of the previous operation to this operation's call. Each call's share delays
 * one operation, whatever the device did when the call was made. */
static struct le_estimate recording_before(const struct le_rule_input *input, int32_t k) {
    const struct le_call *call = le_call_of(input, le_rule_input_operation(input, k));
    const struct le_call *before = le_call_of(input, le_rule_input_operation(input, k - 1));
    uint64_t from_ns = before && before->start_ns < call->start_ns ? before->start_ns + 1 : call->start_ns;
    return le_recording_estimate(input, from_ns, call->end_ns);
}

static void count_gaps(struct le_rule_input *input, struct tally *tally) {
    uint64_t busy_until_ns = 0;
    for (int32_t k = 0; k < input->operation_count; k++) {
        const struct le_operation *operation = le_rule_input_operation(input, k);
        uint64_t before_ns = busy_until_ns;
        if (operation->end_ns > busy_until_ns)
            busy_until_ns = operation->end_ns;
        if (k == 0 || operation->start_ns <= before_ns || !is_late(input, operation, before_ns))
            continue;
        uint64_t gap_ns = operation->start_ns - before_ns;
        struct le_estimate idle = le_estimate_of_rest(recording_before(input, k), gap_ns);
        le_estimate_add(&tally->idle, idle);
        tally->recording_ns += gap_ns - idle.likely;
        gap_ns = idle.likely;
        tally->start_ns = tally->gaps++ ? tally->start_ns : before_ns;
        tally->end_ns = operation->end_ns;
        tally->idle_ns += gap_ns;
        tally->busy_ns += le_operation_ns(operation);
        le_rule_input_charge(input, le_call_of(input, operation), gap_ns);
    }
}

void le_rule_launch_bound(struct le_rule_input *input) {
    struct tally tally = {0};
    count_gaps(input, &tally);
    uint64_t whole_ns = tally.idle_ns + tally.busy_ns;
    if (tally.gaps < LEAST_GAPS || tally.idle_ns * 100 < whole_ns * LEAST_IDLE || tally.idle_ns < input->least_gain_ns)
        return;
    struct le_arena *arena = input->arena;
    const char *gaps = le_format_count(arena, tally.gaps), *idle = le_format_time(arena, tally.idle_ns);
    le_rule_input_claim(
        input,
        &(struct le_claim){
            .rule = "launch-bound",
            .title =
                le_arena_format(arena, "Launch-bound: the device idled %s waiting for %s launches (%s of that time)",
                                idle, gaps, le_format_percent(arena, tally.idle_ns, whole_ns)),
            .evidence = le_arena_format(
                arena,
                "on average a kernel runs for %s, and before it the device idles %s while the host launches it\n"
                "recording added about %s to each launch, which is not counted%s",
                le_format_time(arena, tally.busy_ns / tally.gaps), le_format_time(arena, tally.idle_ns / tally.gaps),
                le_format_time(arena, tally.recording_ns / tally.gaps), le_recording_doubt_text(input, tally.idle)),
            .advice = LE_ADVICE_LAUNCH,
            .gain_ns = tally.idle_ns,
            .confidence = LE_LIKELY,
            .start_ns = tally.start_ns,
            .end_ns = tally.end_ns,
        });
}
