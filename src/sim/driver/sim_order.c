/* The order of operations, as vectors. For each operation, the vector holds the last operation of every stream that is
 * complete before it may start. The host has such a vector, too, which grows when it waits. Recorded only while
 * checking. All host threads count as one, because synchronization between them is not visible here. Guarded by the
 * state's lock. */
#include "base/memory.h"
#include "sim/driver/sim_guard.h"
#include "sim/driver/sim_state.h"
#include <string.h>

static bool vector_grow(struct sim_vector *vector, int count) {
    if (count <= vector->count)
        return true;
    uint64_t *at = le_realloc(vector->at, (size_t)count * sizeof *at);
    if (!at)
        return false;
    memset(at + vector->count, 0, (size_t)(count - vector->count) * sizeof *at);
    vector->at = at;
    vector->count = count;
    return true;
}

bool le_sim_vector_join(struct sim_vector *into, const struct sim_vector *from) {
    if (!vector_grow(into, from->count))
        return false;
    for (int k = 0; k < from->count; k++)
        if (from->at[k] > into->at[k])
            into->at[k] = from->at[k];
    return true;
}

bool le_sim_vector_raise(struct sim_vector *vector, int slot, uint64_t number) {
    if (!vector_grow(vector, slot + 1))
        return false;
    if (number > vector->at[slot])
        vector->at[slot] = number;
    return true;
}

bool le_sim_vector_has(const struct sim_vector *vector, int slot, uint64_t number) {
    return slot < vector->count && vector->at[slot] >= number;
}

void le_sim_vector_finish(struct sim_vector *vector) {
    le_free(vector->at);
    *vector = (struct sim_vector){0};
}

static bool note_slot(struct sim_state *state, uint64_t number, int slot) {
    uint64_t k = number - state->first_checked;
    if (k >= state->op_slot_capacity) {
        uint64_t capacity = k < 512 ? 1024 : 2 * (k + 1);
        int32_t *slots = le_realloc(state->op_slots, capacity * sizeof *slots);
        if (!slots)
            return false;
        state->op_slots = slots;
        state->op_slot_capacity = capacity;
    }
    state->op_slots[k] = slot;
    return true;
}

/* Work of the NULL stream comes after earlier work of blocking streams, and work of blocking streams after earlier work
 * of the NULL stream. */
static bool join_implicit(struct sim_state *state, struct sim_stream *stream) {
    if (stream->slot && stream->blocking)
        return le_sim_vector_join(&stream->vector, &state->streams[0]->vector);
    for (int k = 1; !stream->slot && k < state->stream_count; k++)
        if (state->streams[k] && state->streams[k]->blocking &&
            !le_sim_vector_join(&stream->vector, &state->streams[k]->vector))
            return false;
    return stream->slot || le_sim_vector_join(&stream->vector, &state->destroyed[true].vector);
}

bool le_sim_order_enqueue(struct sim_stream *stream, struct sim_op *op) {
    struct sim_state *state = le_sim_state();
    return note_slot(state, op->number, stream->slot) && le_sim_vector_join(&stream->vector, &state->host_vector) &&
           join_implicit(state, stream) && le_sim_vector_join(&op->vector, &stream->vector) &&
           le_sim_vector_raise(&stream->vector, stream->slot, op->number);
}

/* Only called with b being the running operation. */
bool le_sim_order_before(void *user, uint64_t a, uint64_t b) {
    const struct sim_state *state = user;
    if (a == b || a < state->first_checked)
        return true;
    const struct sim_op *running = state->running;
    return running && running->number == b &&
           le_sim_vector_has(&running->vector, state->op_slots[a - state->first_checked], a);
}

void le_sim_order_host_knows(const struct sim_vector *vector) {
    struct sim_state *state = le_sim_state();
    if (!state->check)
        return;
    le_sim_vector_join(&state->host_vector, vector); /* out of memory: the host knows less */
    le_sim_guard_release();
}

le_cu_result le_sim_check_start(void) {
    struct sim_state *state = le_sim_state();
    state->first_checked = state->op_count + 1;
    if (!state->context_check && le_sim_check_new(le_sim_order_before, state, &state->context_check) != LEAT_OK)
        return LE_CU_ERROR_OUT_OF_MEMORY;
    state->check = state->context_check;
    if (!le_sim_guard_start()) {
        le_sim_check_stop();
        return LE_CU_ERROR_OUT_OF_MEMORY;
    }
    le_sim_memory_declare_all();
    le_sim_modules_declare_all();
    return LE_CU_SUCCESS;
}

void le_sim_check_stop(void) {
    struct sim_state *state = le_sim_state();
    le_sim_guard_stop();
    state->check = NULL;
    le_sim_vector_finish(&state->host_vector);
    le_free(state->op_slots);
    state->op_slots = NULL;
    state->op_slot_capacity = 0;
}

void le_sim_check_finish(void) {
    struct sim_state *state = le_sim_state();
    le_sim_check_stop();
    le_sim_check_free(state->context_check);
    state->context_check = NULL;
}
