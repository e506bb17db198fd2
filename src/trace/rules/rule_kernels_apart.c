/* kernels-apart: kernels in several streams are small enough to share the device, but hardly ever run at the same
 * time. */
#include "trace/rules/groups.h"
#include "trace/rules/occupancy.h"
#include "trace/rules/once.h"
#include "trace/rules/rule_input.h"

/* With shorter kernels the host launches too slowly for two to overlap, which is a case for launch-bound. */
enum { LEAST_MEAN_KERNEL_NS = 20000 };
/* Percent of the device's blocks that a kernel may use so that another one fits beside it. */
enum { MOST_FILLED = 50 };
/* Percent of their time in which two kernels run. With more, streams work as intended. */
enum { MOST_SHARED = 10 };
/* Percent of the run, and the number of kernels. */
enum { LEAST_PERCENT_OF_WHOLE = 10, LEAST_KERNELS = 8 };

struct apart {
    uint64_t count, time_ns, full;
    struct le_position_groups streams;
    bool ordered;
};

static bool is_full(const struct le_rule_input *input, const struct le_operation *operation) {
    uint64_t room = operation->shape == LE_NONE ? 0 : input->blocks_at_once[operation->shape];
    return room == 0 || le_shape_blocks(le_shape_of(input, operation)) * 100 > room * MOST_FILLED;
}

static bool is_own_wait(const struct le_rule_input *input, const struct le_wait *wait) {
    if (wait->stream != LE_NONE)
        return input->index->streams.at[wait->stream].process == input->process;
    return wait->call == LE_NONE || le_is_own_call(input, wait->call);
}

static struct apart gather_apart(struct le_rule_input *input) {
    struct apart apart = {0};
    uint64_t until_ns = 0;
    for (int32_t k = 0; k < input->operation_count; k++) {
        const struct le_operation *operation = le_rule_input_operation(input, k);
        if (operation->kind != LE_OPERATION_KERNEL || operation->graph != 0)
            continue;
        if (is_full(input, operation)) {
            apart.full++;
            continue;
        }
        apart.count++;
        apart.time_ns += operation->end_ns - le_once_from(&until_ns, operation->start_ns, operation->end_ns);
        le_groups_get(input->scratch, &apart.streams, (uint64_t)operation->stream)->count++;
        le_rule_input_charge(input, le_call_of(input, operation), le_operation_ns(operation));
    }
    for (int32_t k = 0; k < input->index->waits.count; k++) {
        const struct le_wait *wait = &input->index->waits.at[k];
        apart.ordered |= wait->kind == LE_TRACE_SYNC_STREAM_EVENT && is_own_wait(input, wait);
    }
    return apart;
}

/* A null stream waits for the other streams of its context, and they wait for it. */
static bool has_null(const struct le_rule_input *input, const struct le_position_groups *streams) {
    for (int a = 0; a < streams->count; a++) {
        const struct le_stream *null = &input->index->streams.at[streams->at[a].key];
        for (int b = 0; b < streams->count && null->is_null; b++) {
            const struct le_stream *other = &input->index->streams.at[streams->at[b].key];
            if (b != a && other->device == null->device && other->context == null->context)
                return true;
        }
    }
    return false;
}

void le_rule_kernels_apart(struct le_rule_input *input) {
    struct apart apart = gather_apart(input);
    uint64_t shared_ns = input->kernel_ns - le_periods_total(&input->kernels);
    if (apart.count < LEAST_KERNELS || apart.streams.count < 2 || apart.ordered ||
        apart.time_ns / apart.count < LEAST_MEAN_KERNEL_NS || shared_ns * 100 > input->kernel_ns * MOST_SHARED ||
        apart.time_ns * 100 < (input->end_ns - input->start_ns) * LEAST_PERCENT_OF_WHOLE)
        return;
    struct le_arena *arena = input->arena;
    const char *why = has_null(input, &apart.streams)
                          ? "one of them is the null stream: it waits for the others, and they wait for it"
                      : apart.full ? "kernels that fill the device run between them"
                                   : "the host waits or does other work between the launches";
    const char *full = apart.full == 0
                           ? ""
                           : le_arena_format(arena, "\n%s the device, and %s not counted",
                                             le_format_counted(arena, apart.full, "kernel fills", "kernels fill"),
                                             apart.full == 1 ? "is" : "are");
    le_rule_input_claim(input,
                        &(struct le_claim){
                            .rule = "kernels-apart",
                            .title = le_arena_format(arena, "%s small kernels in %d streams hardly overlap: %s",
                                                     le_format_count(arena, apart.count), apart.streams.count,
                                                     le_format_time(arena, apart.time_ns)),
                            .evidence = le_arena_format(arena,
                                                        "reason: %s%s\n"
                                                        "assumed: as many kernels can run at once as there are streams",
                                                        why, full),
                            .advice = LE_ADVICE_STREAMS,
                            .gain_ns = apart.time_ns - apart.time_ns / (uint64_t)apart.streams.count,
                            .confidence = LE_HINT,
                        });
}
