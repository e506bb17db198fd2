/* transfer-bound: most of the device's work was copying data to and from the host. */
#include "base/hash.h"
#include "trace/rules/groups.h"
#include "trace/rules/once.h"
#include "trace/rules/rule_input.h"

/* Percent of the device's busy time, and of the run, in which it copies to or from the host and no kernel runs. With
 * less, look at the kernels first. */
enum { LEAST_OF_BUSY = 50, LEAST_OF_WHOLE_TIME = 25 };

struct traffic {
    uint64_t up_bytes, down_bytes, up_ns, down_ns, again_ns;
};

/* Whether the same host memory was copied in this direction before. */
static bool is_again(struct le_rule_input *input, struct le_position_groups *seen, const struct le_call *call,
                     uint8_t direction) {
    const struct le_transfer *transfer = le_transfer_of(input, call);
    if (!transfer || transfer->host == 0)
        return false;
    uint64_t parts[3] = {transfer->host, transfer->bytes, direction};
    return le_groups_get(input->scratch, seen, le_hash(parts, sizeof parts, 0))->count++ > 0;
}

static bool is_transfer(const struct le_rule_input *input, const struct le_operation *operation) {
    uint8_t direction = le_shape_of(input, operation)->direction;
    return operation->kind == LE_OPERATION_COPY && (direction == LE_TRACE_HTOD || direction == LE_TRACE_DTOH);
}

static struct traffic sum_transfers(struct le_rule_input *input) {
    struct traffic traffic = {0};
    uint64_t up_until = 0, down_until = 0, again_until = 0;
    struct le_position_groups seen = {.most = input->operation_count};
    for (int32_t k = 0; k < input->operation_count; k++) {
        const struct le_operation *operation = le_rule_input_operation(input, k);
        if (!is_transfer(input, operation))
            continue;
        uint64_t start_ns = operation->start_ns, end_ns = operation->end_ns;
        uint8_t direction = le_shape_of(input, operation)->direction;
        bool is_up = direction == LE_TRACE_HTOD;
        *(is_up ? &traffic.up_bytes : &traffic.down_bytes) += operation->bytes;
        *(is_up ? &traffic.up_ns : &traffic.down_ns) +=
            end_ns - le_once_from(is_up ? &up_until : &down_until, start_ns, end_ns);
        if (is_again(input, &seen, le_call_of(input, operation), direction))
            traffic.again_ns += end_ns - le_once_from(&again_until, start_ns, end_ns);
        le_rule_input_charge(input, le_call_of(input, operation), le_operation_ns(operation));
    }
    return traffic;
}

static uint64_t transfers_alone_ns(const struct le_rule_input *input) {
    uint64_t until_ns = 0, alone_ns = 0;
    for (int32_t k = 0; k < input->operation_count; k++) {
        const struct le_operation *operation = le_rule_input_operation(input, k);
        if (!is_transfer(input, operation))
            continue;
        uint64_t from_ns = le_once_from(&until_ns, operation->start_ns, operation->end_ns);
        alone_ns += operation->end_ns - from_ns - le_periods_overlap(&input->kernels, from_ns, operation->end_ns);
    }
    return alone_ns;
}

void le_rule_transfer_bound(struct le_rule_input *input) {
    uint64_t alone = transfers_alone_ns(input), busy_ns = le_periods_total(&input->busy);
    if (alone * 100 < busy_ns * LEAST_OF_BUSY || alone < input->least_gain_ns ||
        alone * 100 < (input->end_ns - input->start_ns) * LEAST_OF_WHOLE_TIME)
        return;
    struct traffic traffic = sum_transfers(input);
    struct le_arena *arena = input->arena;
    uint64_t kernels_ns = le_periods_total(&input->kernels), hidden_ns = alone < kernels_ns ? alone : kernels_ns;
    uint64_t again_ns = traffic.again_ns < alone ? traffic.again_ns : alone;
    bool again = again_ns > hidden_ns;
    le_rule_input_claim(
        input,
        &(struct le_claim){
            .rule = "transfer-bound",
            .title = le_arena_format(arena, "Transfer-bound: the device only copied for %s of its %s of work",
                                     le_format_time(arena, alone), le_format_time(arena, busy_ns)),
            .evidence = le_arena_format(arena, "%s to the device in %s, %s to the host in %s, kernels %s\n%s",
                                        le_format_bytes(arena, traffic.up_bytes), le_format_time(arena, traffic.up_ns),
                                        le_format_bytes(arena, traffic.down_bytes),
                                        le_format_time(arena, traffic.down_ns), le_format_time(arena, kernels_ns),
                                        again ? le_arena_format(arena,
                                                                "%s of that copies the same host memory again\n"
                                                                "assumed: that data can stay on the device",
                                                                le_format_time(arena, again_ns))
                                              : "assumed: copies can run while kernels run"),
            .advice = LE_ADVICE_TRANSFER,
            .gain_ns = again ? again_ns : hidden_ns,
            .confidence = LE_PLAUSIBLE,
        });
}
