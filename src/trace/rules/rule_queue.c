/* queue-full: launches held the host because the queue of a stream was full. The device loses nothing, so no gain is
 * claimed. But the host's time around such launches says nothing about the cost of launching. */
#include "trace/rules/once.h"
#include "trace/rules/rule_input.h"

/* A stream holds 1,021 launches. Launches that wait for other reasons are in a shorter queue. */
enum { FULL = 1000, SLOW_LAUNCH_NS = 20000, LEAST_LAUNCHES = 10 };

struct stream_queue {
    int32_t *operations, count, room; /* operations of the stream, by start */
    int32_t enqueued, finished;
};

static struct stream_queue *make_queues(struct le_rule_input *input) {
    struct stream_queue *queues = LE_NEW_ARRAY(input->scratch, input->index->streams.count, struct stream_queue);
    for (int32_t k = 0; k < input->operation_count; k++)
        queues[le_rule_input_operation(input, k)->stream].room++;
    for (int32_t k = 0; k < input->index->streams.count; k++)
        queues[k].operations = LE_NEW_ARRAY(input->scratch, queues[k].room, int32_t);
    for (int32_t k = 0; k < input->operation_count; k++) {
        struct stream_queue *queue = &queues[le_rule_input_operation(input, k)->stream];
        queue->operations[queue->count++] = input->operations[k];
    }
    return queues;
}

/* The number of operations in the stream when the call began. */
static int32_t depth_at(const struct le_rule_input *input, struct stream_queue *queue, const struct le_call *call) {
    while (queue->finished < queue->count &&
           input->index->operations.at[queue->operations[queue->finished]].end_ns <= call->start_ns)
        queue->finished++;
    return queue->enqueued++ - queue->finished;
}

void le_rule_queue_full(struct le_rule_input *input) {
    struct stream_queue *queues = make_queues(input);
    uint64_t count = 0, time_ns = 0, held_ns = 0,
             until_ns = 0; /* held_ns: time in which several threads are held counts once */
    for (int32_t k = 0; k < input->call_count; k++) {
        const struct le_call *call = le_rule_input_call(input, k);
        const struct le_operation *operation = le_operation_of(input, call);
        if (!operation || depth_at(input, &queues[operation->stream], call) < FULL || call->kind != LE_CALL_LAUNCH ||
            le_call_ns(call) < SLOW_LAUNCH_NS)
            continue;
        count++;
        time_ns += le_call_ns(call);
        held_ns += call->end_ns - le_once_from(&until_ns, call->start_ns, call->end_ns);
        le_rule_input_charge(input, call, le_call_ns(call));
    }
    if (count < LEAST_LAUNCHES || held_ns < input->least_gain_ns)
        return;
    struct le_arena *arena = input->arena;
    le_rule_input_claim(input,
                        &(struct le_claim){
                            .rule = "queue-full",
                            .title = le_arena_format(arena, "Queue full: %s launches held the host for %s",
                                                     le_format_count(arena, count), le_format_time(arena, held_ns)),
                            .evidence = le_arena_format(arena,
                                                        "a stream holds 1,021 launches; each further launch waits "
                                                        "until a kernel ends, here %s on average\n"
                                                        "the device always has work: a host clock around these "
                                                        "launches measures the kernels, not the launches",
                                                        le_format_time(arena, time_ns / count)),
                            .advice = LE_ADVICE_QUEUE,
                            .confidence = LE_LIKELY,
                        });
}
