/* Streams: creation, destruction and waiting; sim_queue.c manages their operations. Slot 0 is the NULL stream, which
 * the handles NULL and CU_STREAM_LEGACY (1) name. CU_STREAM_PER_THREAD is unsupported. Guarded by the state's lock. */
#include "base/memory.h"
#include "sim/driver/sim_state.h"

static const uintptr_t LEGACY_HANDLE = 1;

struct sim_stream *le_sim_stream_of(le_cu_stream stream) {
    const struct sim_state *state = le_sim_state();
    uintptr_t handle = (uintptr_t)stream;
    if (!handle || handle == LEGACY_HANDLE)
        return state->streams[0];
    return le_sim_handle_get(&state->stream_handles, handle);
}

/* A slot whose stream is freed is reused, except while checking, when order is recorded by slot. */
static int free_slot(const struct sim_state *state) {
    for (int k = 1; !state->check && k < state->stream_count; k++)
        if (!state->streams[k])
            return k;
    return state->stream_count;
}

static struct sim_stream *stream_new(bool blocking) {
    struct sim_state *state = le_sim_state();
    int slot = free_slot(state);
    struct sim_stream **streams =
        le_realloc(state->streams, (size_t)(state->stream_count + 1) * sizeof(struct sim_stream *));
    if (!streams)
        return NULL;
    state->streams = streams;
    struct sim_stream *stream = le_alloc_zero(1, sizeof *stream);
    if (!stream)
        return NULL;
    stream->slot = slot;
    stream->blocking = blocking;
    state->streams[slot] = stream;
    if (slot == state->stream_count)
        state->stream_count++;
    return stream;
}

bool le_sim_streams_start(void) {
    return stream_new(true);
}

void le_sim_streams_finish(void) {
    struct sim_state *state = le_sim_state();
    le_sim_queue_drop_all();
    for (int k = 0; k < state->stream_count; k++)
        if (state->streams[k]) {
            le_sim_vector_finish(&state->streams[k]->vector);
            le_free(state->streams[k]);
        }
    for (int blocking = 0; blocking < 2; blocking++) {
        le_sim_vector_finish(&state->destroyed[blocking].vector);
        state->destroyed[blocking].end_ns = 0;
    }
    le_free(state->streams);
    state->streams = NULL;
    state->stream_count = 0;
    state->stream_ids = 0;
}

static le_cu_result create_stream(le_cu_stream *handle, unsigned flags) {
    struct sim_state *state = le_sim_state();
    if (!handle || flags & ~(unsigned)LE_CU_STREAM_NON_BLOCKING)
        return LE_CU_ERROR_INVALID_VALUE;
    struct sim_stream *stream = stream_new(!(flags & LE_CU_STREAM_NON_BLOCKING));
    if (!stream)
        return LE_CU_ERROR_OUT_OF_MEMORY;
    uintptr_t number = le_sim_handle_put(&state->stream_handles, stream);
    if (!number) {
        state->streams[stream->slot] = NULL;
        le_free(stream);
        return LE_CU_ERROR_OUT_OF_MEMORY;
    }
    stream->id = ++state->stream_ids;
    *handle = (le_cu_stream)number;
    return LE_CU_SUCCESS;
}

le_cu_result le_sim_StreamCreate(le_cu_stream *stream, unsigned flags) {
    le_cu_result result = le_sim_enter(SIM_CALL_CREATE);
    return result ? result : le_sim_leave(create_stream(stream, flags));
}

/* Work that is already enqueued still runs. */
static le_cu_result destroy_stream(le_cu_stream handle) {
    struct sim_state *state = le_sim_state();
    struct sim_stream *stream = le_sim_handle_get(&state->stream_handles, (uintptr_t)handle);
    if (!stream)
        return LE_CU_ERROR_INVALID_HANDLE;
    le_sim_handle_drop(&state->stream_handles, (uintptr_t)handle);
    stream->destroyed = true;
    le_sim_stream_reap(stream);
    return LE_CU_SUCCESS;
}

le_cu_result le_sim_StreamDestroy(le_cu_stream stream) {
    le_cu_result result = le_sim_enter(SIM_CALL_CREATE);
    return result ? result : le_sim_leave(destroy_stream(stream));
}

le_cu_result le_sim_StreamSynchronize(le_cu_stream handle) {
    le_cu_result result = le_sim_enter(SIM_CALL_FREE);
    if (result)
        return result;
    struct sim_stream *stream = le_sim_stream_of(handle);
    if (!stream)
        return le_sim_leave(LE_CU_ERROR_INVALID_HANDLE);
    le_sim_wait_stream(stream);
    return le_sim_leave(LE_CU_SUCCESS);
}

le_cu_result le_sim_StreamQuery(le_cu_stream handle) {
    le_cu_result result = le_sim_enter(SIM_CALL_QUERY);
    if (result)
        return result;
    const struct sim_stream *stream = le_sim_stream_of(handle);
    if (!stream)
        return le_sim_leave(LE_CU_ERROR_INVALID_HANDLE);
    return le_sim_leave(le_sim_poll(stream->slot, stream->last_number, stream->end_ns, &stream->vector));
}

le_cu_result le_sim_StreamGetCtx(le_cu_stream stream, le_cu_context *ctx) {
    le_cu_result result = le_sim_enter(SIM_CALL_FREE);
    if (result)
        return result;
    if (!le_sim_stream_of(stream))
        return le_sim_leave(LE_CU_ERROR_INVALID_HANDLE);
    if (!ctx)
        return le_sim_leave(LE_CU_ERROR_INVALID_VALUE);
    *ctx = le_sim_primary();
    return le_sim_leave(LE_CU_SUCCESS);
}
