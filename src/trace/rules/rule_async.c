/* blocked-async: an asynchronous copy returns only when the data is copied, because its memory is pageable. */
#include "trace/rules/once.h"
#include "trace/rules/rule_input.h"

/* Enqueuing takes 5 to 10 us. A call that takes 50 us has waited for something. */
enum { LEAST_CALL_NS = 50000, ENQUEUE_NS = 8000 };

void le_rule_blocked_async(struct le_rule_input *input) {
    uint64_t count = 0, time_ns = 0, bytes = 0, until_ns = 0;
    for (int32_t k = 0; k < input->call_count; k++) {
        const struct le_call *call = le_rule_input_call(input, k);
        const struct le_operation *operation = le_operation_of(input, call);
        if (call->kind != LE_CALL_COPY_ASYNC || !operation || operation->kind != LE_OPERATION_COPY ||
            !le_is_pageable(le_shape_of(input, operation)) || le_call_ns(call) < LEAST_CALL_NS)
            continue;
        count++;
        uint64_t held_ns = call->end_ns - le_once_from(&until_ns, call->start_ns, call->end_ns);
        time_ns += held_ns > ENQUEUE_NS ? held_ns - ENQUEUE_NS : 0;
        bytes += operation->bytes;
        le_rule_input_charge(input, call, le_call_ns(call));
    }
    if (time_ns < input->least_gain_ns)
        return;
    struct le_arena *arena = input->arena;
    le_rule_input_claim(
        input,
        &(struct le_claim){
            .rule = "blocked-async",
            .title = le_arena_format(arena, "Asynchronous copies that blocked: %s held the host for %s",
                                     le_format_counted(arena, count, "call", "calls"), le_format_time(arena, time_ns)),
            .evidence = le_arena_format(arena,
                                        "%s from or to pageable memory: such a call returns only when "
                                        "the driver has read or written the memory\n"
                                        "assumed: the host has other work to do meanwhile",
                                        le_format_bytes(arena, bytes)),
            .advice = LE_ADVICE_PIN,
            .gain_ns = time_ns,
            .confidence = LE_PLAUSIBLE,
        });
}
