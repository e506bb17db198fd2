/* small-copies: many copies that are so small that the calls cost more than the bytes. */
#include "trace/rules/once.h"
#include "trace/rules/rule_input.h"

/* At 55 GB/s, 64 KiB take 1.2 us; the call and the start of a copy take about 8 us. Below this size bytes are not
 * the cost. */
enum { MOST_BYTES = 65536, LEAST_COPIES = 100 };
/* The host's time between two consecutive copies counts as theirs, up to this long. */
enum { LONGEST_PAUSE_NS = 50000 };
/* Percent of the run. */
enum { LEAST_SHARE = 5 };

static bool is_small(const struct le_rule_input *input, const struct le_operation *operation) {
    uint8_t direction = operation ? le_shape_of(input, operation)->direction : 0;
    return operation && operation->kind == LE_OPERATION_COPY && operation->graph == 0 &&
           operation->bytes <= MOST_BYTES && (direction == LE_TRACE_HTOD || direction == LE_TRACE_DTOH);
}

void le_rule_small_copies(struct le_rule_input *input) {
    uint64_t count = 0, bytes = 0, time_ns = 0,
             before_ns = 0; /* before_ns: the end of the previous call, if it was a small copy, too; else 0 */
    uint64_t until_ns = 0, all_ns = 0; /* all_ns: overlapping threads count once */
    for (int32_t k = 0; k < input->call_count; k++) {
        const struct le_call *call = le_rule_input_call(input, k);
        const struct le_operation *operation = le_operation_of(input, call);
        if (call->kind < LE_CALL_LAUNCH || call->kind > LE_CALL_WAIT)
            continue;
        if (!is_small(input, operation)) {
            before_ns = 0;
            continue;
        }
        uint64_t cost_ns = le_copy_cost_ns(input, call, operation);
        uint64_t start_ns = call->start_ns;
        if (before_ns && start_ns >= before_ns && start_ns - before_ns <= LONGEST_PAUSE_NS)
            start_ns = before_ns;
        cost_ns += call->start_ns - start_ns;
        uint64_t recording_ns = le_recording_between(input, start_ns, call->end_ns);
        cost_ns -= recording_ns < cost_ns ? recording_ns : cost_ns;
        uint64_t end_ns = operation->end_ns > call->end_ns ? operation->end_ns : call->end_ns;
        all_ns += end_ns - le_once_from(&until_ns, start_ns, end_ns);
        before_ns = call->end_ns;
        count++;
        bytes += operation->bytes;
        time_ns += cost_ns;
        le_rule_input_charge(input, call, cost_ns);
    }
    time_ns = time_ns < all_ns ? time_ns : all_ns;
    uint64_t one_ns = (uint64_t)((double)bytes / le_pinned_rate(input).rate);
    if (count < LEAST_COPIES || time_ns <= one_ns || time_ns * 100 < (input->end_ns - input->start_ns) * LEAST_SHARE ||
        time_ns < input->least_gain_ns)
        return;
    struct le_arena *arena = input->arena;
    one_ns += time_ns / count;
    le_rule_input_claim(
        input,
        &(struct le_claim){
            .rule = "small-copies",
            .title = le_arena_format(arena, "%s small copies of %s on average took %s", le_format_count(arena, count),
                                     le_format_bytes(arena, bytes / count), le_format_time(arena, time_ns)),
            .evidence = le_arena_format(arena,
                                        "%s in total, %s per copy; a single copy of all would take about %s\n"
                                        "assumed: the copies can be combined",
                                        le_format_bytes(arena, bytes), le_format_time(arena, time_ns / count),
                                        le_format_time(arena, one_ns)),
            .advice = LE_ADVICE_SMALL_COPIES,
            .gain_ns = time_ns - one_ns,
            .confidence = LE_PLAUSIBLE,
        });
}
