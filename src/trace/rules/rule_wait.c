/* needless-wait: the host waits although it does not use results of the device afterwards, and the device idles
 * meanwhile. */
#include "trace/rules/rule_input.h"

/* A few waits, such as those around timed code, are intended. */
enum { LEAST_WAITS = 20 };
/* Percent of the run. */
enum { LEAST_WON = 2 };
/* The host needs this long from the end of its wait until the next kernel runs. */
enum { RESTART_NS = 10000 };

/* Whether the process has managed memory, which the host reads without a copy, so that it may need the wait. Memory
 * whose call is unknown may be of any process. */
static bool shares_memory(const struct le_rule_input *input) {
    for (int32_t k = 0; k < input->index->memory.count; k++) {
        const struct le_memory_event *event = &input->index->memory.at[k];
        if (event->where == LE_TRACE_MANAGED && (event->call == LE_NONE || le_is_own_call(input, event->call)))
            return true;
    }
    return false;
}

static bool brings_data(const struct le_rule_input *input, const struct le_call *call) {
    const struct le_operation *operation = le_operation_of(input, call);
    if (call->kind == LE_CALL_GRAPH_LAUNCH)
        return true; /* its contents are unknown */
    return operation && operation->kind == LE_OPERATION_COPY &&
           le_shape_of(input, operation)->direction != LE_TRACE_DTOD;
}

/* How long the device idled because of the wait. 0 if it did not idle, had no later work, or if the gap was already
 * counted for another thread's wait. */
static struct le_estimate idle_after(const struct le_rule_input *input, const struct le_call *wait, bool *is_counted) {
    int64_t next = le_periods_after(&input->busy, wait->end_ns);
    if (next == 0 || next == input->busy.count || input->busy.at[next].start_ns <= wait->end_ns || is_counted[next])
        return (struct le_estimate){0};
    is_counted[next] = true;
    uint64_t from_ns = input->busy.at[next - 1].end_ns, to_ns = input->busy.at[next].start_ns;
    struct le_estimate idle = le_estimate_of_rest(le_recording_estimate(input, from_ns, to_ns), to_ns - from_ns);
    return le_estimate_within(idle, le_call_ns(wait) + RESTART_NS);
}

void le_rule_needless_wait(struct le_rule_input *input) {
    if (shares_memory(input))
        return;
    uint64_t count = 0, wait_ns = 0;
    struct le_estimate idle = {0};
    bool has_data = false, has_work = false, *is_counted = LE_NEW_ARRAY(input->scratch, input->busy.count, bool);
    for (int32_t k = 0; k < input->call_count; k++) {
        const struct le_call *call = le_rule_input_call(input, k);
        has_data |= brings_data(input, call);
        has_work |= call->kind == LE_CALL_LAUNCH;
        if (call->kind != LE_CALL_WAIT)
            continue;
        struct le_estimate gap = has_work && !has_data ? idle_after(input, call, is_counted) : (struct le_estimate){0};
        has_data = has_work = false;
        if (gap.likely == 0)
            continue;
        count++;
        wait_ns += le_call_ns(call);
        le_estimate_add(&idle, gap);
        le_rule_input_charge(input, call, gap.likely);
    }
    if (count < LEAST_WAITS || idle.likely < input->least_gain_ns ||
        idle.likely * 100 < (input->end_ns - input->start_ns) * LEAST_WON)
        return;
    struct le_arena *arena = input->arena;
    le_rule_input_claim(
        input, &(struct le_claim){
                   .rule = "needless-wait",
                   .title = le_arena_format(arena, "%s unnecessary waits: the device idled %s after them",
                                            le_format_count(arena, count), le_format_time(arena, idle.likely)),
                   .evidence = le_arena_format(arena,
                                               "the host waited %s in total, %s per wait, and copied nothing "
                                               "from the device between two waits\nassumed: the host does "
                                               "not read the device's memory in another way%s",
                                               le_format_time(arena, wait_ns), le_format_time(arena, wait_ns / count),
                                               le_recording_doubt_text(input, idle)),
                   .advice = LE_ADVICE_SYNC,
                   .gain_ns = idle.likely,
                   .confidence = LE_PLAUSIBLE,
               });
}
