/* Queues of operations. Enqueueing an operation fixes its number, its order and its virtual times. The seed decides
 * which one runs next, among the heads of the streams that can run. sim_worker.c runs them. Guarded by the state's
 * lock.
 *
 * A stream is first in, first out. In addition, a wait waits for its record, an operation of the NULL stream waits for
 * everything enqueued before it in blocking streams, and an operation of a blocking stream waits for everything
 * enqueued before it in the NULL stream. */
#include "base/hash.h"
#include "base/memory.h"
#include "sim/driver/sim_guard.h"
#include "sim/driver/sim_state.h"

const char *le_sim_op_name(const struct sim_op *op) {
    switch (op->kind) {
    case SIM_OP_COPY:
        return op->copy.name;
    case SIM_OP_FILL:
        return "fill";
    case SIM_OP_KERNEL:
        return le_sim_kernel_name(op->kernel);
    default:
        return "event";
    }
}

void le_sim_op_free(struct sim_op *op) {
    if (!op)
        return;
    if (op->kind == SIM_OP_KERNEL)
        le_sim_kernel_free(op->kernel);
    le_sim_vector_finish(&op->vector);
    le_cancel_tokens_drop(&op->tokens);
    le_free(op->staged);
    le_free(op);
}

bool le_sim_op_done(int slot, uint64_t number) {
    const struct sim_stream *stream = le_sim_state()->streams[slot];
    return !stream || !stream->head || stream->head->number > number;
}

/* ---- enqueueing */

static uint64_t max_ns(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

/* When everything that must come before the next operation of the stream ends, on the virtual clock. */
static uint64_t ready_ns(const struct sim_stream *stream) {
    const struct sim_state *state = le_sim_state();
    uint64_t ready = max_ns(state->clock_ns, stream->end_ns);
    if (stream->slot && stream->blocking)
        return max_ns(ready, state->streams[0]->end_ns);
    for (int k = 1; !stream->slot && k < state->stream_count; k++)
        if (state->streams[k] && state->streams[k]->blocking)
            ready = max_ns(ready, state->streams[k]->end_ns);
    return stream->slot ? ready : max_ns(ready, state->destroyed[true].end_ns);
}

/* If the queue is full, runs the oldest operation, and the host waits until its slot is free. */
static void make_room(struct sim_stream *stream) {
    struct sim_state *state = le_sim_state();
    while (stream->length >= SIM_QUEUE_DEPTH) {
        le_cancel_pass_on(le_cancel_here()); /* what the run that enqueues has canceled makes room */
        le_sim_force_briefly(stream->slot, stream->head->number);
    }
    if (stream->enqueued >= SIM_QUEUE_DEPTH)
        state->clock_ns = max_ns(state->clock_ns, stream->ends_ns[stream->enqueued % SIM_QUEUE_DEPTH]);
}

static void append_op(struct sim_stream *stream, struct sim_op *op) {
    struct sim_state *state = le_sim_state();
    op->slot = stream->slot;
    if (stream->tail)
        stream->tail->next = op;
    else
        stream->head = op;
    stream->tail = op;
    stream->length++;
    stream->last_number = op->number;
    stream->end_ns = op->end_ns;
    if (op->kind != SIM_OP_RECORD && op->kind != SIM_OP_WAIT)
        stream->ends_ns[stream->enqueued++ % SIM_QUEUE_DEPTH] = op->end_ns;
    if (!state->queued++)
        pthread_cond_signal(&state->work); /* the worker may run it unasked, after a while */
}

le_cu_result le_sim_enqueue(struct sim_stream *stream, struct sim_op *op) {
    struct sim_state *state = le_sim_state();
    make_room(stream);
    if (state->fatal) {
        le_sim_op_free(op);
        return state->fatal;
    }
    uint64_t start_ns;
    op->number = state->op_count + 1;
    if (op->kind == SIM_OP_KERNEL)
        le_cancel_tokens_take(&op->tokens);
    if (!le_sim_engines_take(&state->engines, op, ready_ns(stream), &start_ns) ||
        (state->check && (!le_sim_order_enqueue(stream, op) || !le_sim_guard_add(stream, op)))) {
        le_sim_op_free(op);
        return LE_CU_ERROR_OUT_OF_MEMORY;
    }
    state->op_count++;
    op->end_ns = start_ns + op->duration_ns;
    append_op(stream, op);
    return LE_CU_SUCCESS;
}

/* ---- choosing */

static bool may_run(const struct sim_stream *stream) {
    const struct sim_state *state = le_sim_state();
    const struct sim_op *op = stream->head;
    if (op->kind == SIM_OP_WAIT && !le_sim_op_done(op->wait.slot, op->wait.number))
        return false;
    if (stream->slot)
        return !stream->blocking || le_sim_op_done(0, op->number);
    for (int k = 1; k < state->stream_count; k++)
        if (state->streams[k] && state->streams[k]->blocking && !le_sim_op_done(k, op->number))
            return false;
    return true;
}

/* The seed gives each operation a position in a shuffled order, which does not depend on when this is called. */
struct sim_op *le_sim_queue_pick(void) {
    const struct sim_state *state = le_sim_state();
    struct sim_op *best = NULL;
    uint64_t best_turn = 0;
    for (int k = 0; k < state->stream_count; k++) {
        const struct sim_stream *stream = state->streams[k];
        if (!stream || !stream->head || !may_run(stream))
            continue;
        uint64_t turn = le_hash(&stream->head->number, sizeof stream->head->number, state->options.seed);
        if (!best || turn < best_turn) {
            best = stream->head;
            best_turn = turn;
        }
    }
    return best;
}

void le_sim_stream_reap(struct sim_stream *stream) {
    if (!stream->destroyed || stream->head)
        return;
    struct sim_destroyed_streams *gone = &le_sim_state()->destroyed[stream->blocking];
    gone->end_ns = max_ns(gone->end_ns, stream->end_ns);
    le_sim_vector_join(&gone->vector, &stream->vector);
    le_sim_state()->streams[stream->slot] = NULL;
    le_sim_vector_finish(&stream->vector);
    le_free(stream);
}

void le_sim_queue_pop(struct sim_op *op) {
    struct sim_state *state = le_sim_state();
    struct sim_stream *stream = state->streams[op->slot];
    stream->head = op->next;
    if (!stream->head)
        stream->tail = NULL;
    stream->length--;
    state->queued--;
    le_sim_op_free(op);
    le_sim_stream_reap(stream);
}

void le_sim_queue_drop_all(void) {
    struct sim_state *state = le_sim_state();
    for (int k = 0; k < state->stream_count; k++)
        while (state->streams[k] && state->streams[k]->head)
            le_sim_queue_pop(state->streams[k]->head);
}

/* ---- the host waits */

void le_sim_host_waits(uint64_t end_ns, const struct sim_vector *vector) {
    struct sim_state *state = le_sim_state();
    state->clock_ns = max_ns(state->clock_ns, end_ns) + le_sim_call_ns(SIM_CALL_SYNCHRONIZE);
    le_sim_order_host_knows(vector);
}

void le_sim_wait_stream(struct sim_stream *stream) {
    le_sim_host_waits(stream->end_ns, &stream->vector);
    le_sim_force(stream->slot, stream->last_number);
}

void le_sim_wait_all(void) {
    struct sim_state *state = le_sim_state();
    uint64_t end_ns = max_ns(state->destroyed[false].end_ns, state->destroyed[true].end_ns);
    le_sim_order_host_knows(&state->destroyed[false].vector);
    le_sim_order_host_knows(&state->destroyed[true].vector);
    for (int k = 0; k < state->stream_count; k++)
        if (state->streams[k]) {
            end_ns = max_ns(end_ns, state->streams[k]->end_ns);
            le_sim_order_host_knows(&state->streams[k]->vector);
        }
    le_sim_host_waits(end_ns, &state->host_vector);
    le_sim_force_all();
}

/* Each unsuccessful query in a row advances the clock twice as far, but not past end_ns, so that polling ends. */
le_cu_result le_sim_poll(int slot, uint64_t number, uint64_t end_ns, const struct sim_vector *vector) {
    struct sim_state *state = le_sim_state();
    if (state->clock_ns < end_ns) {
        uint64_t step_ns = le_sim_call_ns(SIM_CALL_QUERY) << (state->failed_polls < 30 ? state->failed_polls : 30);
        state->failed_polls++;
        state->clock_ns = end_ns - state->clock_ns < step_ns ? end_ns : state->clock_ns + step_ns;
        return LE_CU_ERROR_NOT_READY;
    }
    if (!le_sim_force_briefly(slot, number))
        return LE_CU_ERROR_NOT_READY;
    state->failed_polls = 0;
    le_sim_order_host_knows(vector);
    return LE_CU_SUCCESS;
}
