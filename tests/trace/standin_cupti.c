/* See standin.h: stands in for libcupti.so.13. Fills one buffer at a time with the records of all threads. */
#include "standin.h"
#include "trace/recorder/cupti.h"
#include "trace/recorder/cupti_layout.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define X(name, symbol, need, parameters) STANDIN_OUT le_cupti_result symbol parameters;
LE_CUPTI_SYMBOLS(X)
LE_CUPTI_YOUNGER_SYMBOLS(X)
#undef X

static struct {
    pthread_mutex_t lock;
    le_cupti_callback_function *callback;
    void *user;
    uint8_t wanted[3][16], enabled[64],
        is_recorded[3][16]; /* is_recorded: whether calls of the function are recorded */
    bool is_zeroed;         /* the recorder promised that buffers are cleared */
    le_cupti_request_function *request;
    le_cupti_complete_function *complete;
    uint8_t *buffer;
    size_t size_bytes, used;
    size_t dropped;
    bool is_graph_told; /* kernels were recorded when the graph was created */
    bool has_graph;
    _Atomic uint32_t correlation;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local bool in_callback;

static uint32_t number(const char *variable, uint32_t otherwise) {
    const char *value = getenv(variable);
    return value ? (uint32_t)strtoul(value, NULL, 10) : otherwise;
}

static uint32_t version_now(void) {
    static _Atomic uint32_t version;
    uint32_t known = atomic_load_explicit(&version, memory_order_relaxed);
    if (!known) {
        known = number("STANDIN_VERSION", 130001);
        atomic_store_explicit(&version, known, memory_order_relaxed);
    }
    return known;
}

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- records */

static const struct size {
    int kind;
    uint32_t since, size_bytes;
} sizes[] = {
#define LE_CUPTI_RECORD(record, since, structure, size_bytes) {LE_CUPTI_KIND_##record, since, size_bytes},
#define LE_CUPTI_KIND_API                                     LE_CUPTI_KIND_DRIVER
#include "trace/recorder/cupti_layout.def"
};

static size_t record_bytes(int kind) {
    uint32_t version = version_now();
    size_t size_bytes = 0;
    if (kind == LE_CUPTI_KIND_RUNTIME)
        kind = LE_CUPTI_KIND_DRIVER;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        if (sizes[k].kind == kind && sizes[k].since <= version)
            size_bytes = sizes[k].size_bytes;
    return size_bytes;
}

struct record {
    uint8_t bytes[256];
};
#define SET(record, name, field, ...)                                                                                  \
    do {                                                                                                               \
        uint64_t value_ = (uint64_t)(__VA_ARGS__);                                                                     \
        if (LE_SINCE_##name##_##field <= version_now())                                                                \
            memcpy((record).bytes + LE_OFFSET_##name##_##field, &value_,                                               \
                   LE_BYTES_##name##_##field < 8 ? LE_BYTES_##name##_##field : 8);                                     \
    } while (0)

static void check_zeros(void) {
    for (size_t k = 0; state.is_zeroed && state.buffer && k < state.size_bytes; k++)
        if (state.buffer[k])
            abort();
}

static void emit(int kind, const struct record *record) {
    size_t size_bytes = record_bytes(kind), most;
    uint32_t number_of_kind = (uint32_t)kind;
    uint8_t *full = NULL;
    size_t full_bytes = 0, buffer_bytes = 0;
    pthread_mutex_lock(&state.lock);
    bool is_call = kind == LE_CUPTI_KIND_DRIVER || kind == LE_CUPTI_KIND_RUNTIME;
    bool wanted = (is_call || state.enabled[kind]) && state.request;
    if (wanted && state.buffer && state.used + size_bytes > state.size_bytes) {
        full = state.buffer, full_bytes = state.used, buffer_bytes = state.size_bytes;
        state.buffer = NULL;
    }
    if (wanted && !state.buffer) {
        state.request(&state.buffer, &state.size_bytes, &most);
        state.used = 0;
        check_zeros();
    }
    if (wanted && state.buffer) {
        memcpy(state.buffer + state.used, record->bytes, size_bytes);
        memcpy(state.buffer + state.used, &number_of_kind, sizeof number_of_kind);
        state.used += size_bytes;
    } else if (wanted) {
        state.dropped++;
    }
    pthread_mutex_unlock(&state.lock);
    if (full)
        state.complete(NULL, 0, full, buffer_bytes, full_bytes);
}

/* ---- called by the stand-in for the driver */

static void call_back(int domain, uint32_t id, int site, const void *parameters, uint32_t correlation) {
    struct le_cupti_callback data = {
        .site = site, .parameters = parameters, .correlation = correlation, .context_id = 1};
    if (!state.callback || !state.wanted[domain][id])
        return;
    in_callback = true;
    state.callback(state.user, domain, id, &data);
    in_callback = false;
}

static uint32_t enter(int domain, uint32_t id, const void *parameters, uint64_t *start_ns) {
    uint32_t correlation = ++state.correlation;
    *start_ns = now_ns();
    call_back(domain, id, LE_CUPTI_ENTER, parameters, correlation);
    return correlation;
}

static void leave(int domain, uint32_t id, const void *parameters, uint32_t correlation, uint64_t start_ns) {
    struct record record = {0};
    SET(record, API, function, id);
    SET(record, API, start, start_ns);
    SET(record, API, end, now_ns());
    SET(record, API, thread, syscall(SYS_gettid));
    SET(record, API, correlation, correlation);
    call_back(domain, id, LE_CUPTI_EXIT, parameters, correlation);
    if (state.is_recorded[domain][id])
        emit(domain == LE_CUPTI_DOMAIN_DRIVER ? LE_CUPTI_KIND_DRIVER : LE_CUPTI_KIND_RUNTIME, &record);
}

static void kernel(uint32_t correlation, const char *name) {
    struct record record = {0};
    uint64_t start_ns = now_ns();
    SET(record, KERNEL, registers, 32);
    SET(record, KERNEL, start, start_ns);
    SET(record, KERNEL, end, start_ns + 1000);
    SET(record, KERNEL, context, 1);
    SET(record, KERNEL, stream, 7);
    SET(record, KERNEL, grid_x, 11);
    SET(record, KERNEL, grid_y, 12);
    SET(record, KERNEL, grid_z, 13);
    SET(record, KERNEL, block_x, 21);
    SET(record, KERNEL, block_y, 22);
    SET(record, KERNEL, block_z, 23);
    SET(record, KERNEL, static_shared, 31);
    SET(record, KERNEL, dynamic_shared, 33);
    SET(record, KERNEL, local, 34);
    SET(record, KERNEL, correlation, correlation);
    SET(record, KERNEL, name, (uintptr_t)name);
    emit(LE_CUPTI_KIND_KERNEL, &record);
}

static void copy(uint32_t correlation, int direction, uint64_t size_bytes) {
    struct record record = {0};
    uint64_t start_ns = now_ns();
    SET(record, MEMCPY, direction, direction);
    SET(record, MEMCPY, from, direction == LE_CUPTI_COPY_HTOD ? LE_CUPTI_MEMORY_PAGEABLE : LE_CUPTI_MEMORY_DEVICE);
    SET(record, MEMCPY, to, direction == LE_CUPTI_COPY_HTOD ? LE_CUPTI_MEMORY_DEVICE : LE_CUPTI_MEMORY_PAGEABLE);
    SET(record, MEMCPY, bytes, size_bytes);
    SET(record, MEMCPY, start, start_ns);
    SET(record, MEMCPY, end, start_ns + 2000);
    SET(record, MEMCPY, context, 1);
    SET(record, MEMCPY, stream, 7);
    SET(record, MEMCPY, correlation, correlation);
    emit(LE_CUPTI_KIND_MEMCPY, &record);
}

static void emit_place(void) {
    struct record device = {0}, context = {0}, stream = {0};
    SET(device, DEVICE, bandwidth, 4800000000);
    SET(device, DEVICE, memory, (uint64_t)139 << 30);
    SET(device, DEVICE, warp_threads, 32);
    SET(device, DEVICE, warps, 64);
    SET(device, DEVICE, multiprocessors, 132);
    SET(device, DEVICE, major, 9);
    SET(device, DEVICE, name, (uintptr_t) "Stand-in");
    memcpy(device.bytes + LE_OFFSET_DEVICE_uuid, "of the whole GPU", LE_BYTES_DEVICE_uuid);
    memcpy(device.bytes + LE_OFFSET_DEVICE_mig_uuid, "of a part of it.", LE_BYTES_DEVICE_mig_uuid);
    SET(device, DEVICE, is_mig, number("STANDIN_MIG", 0));
    emit(LE_CUPTI_KIND_DEVICE, &device);
    SET(context, CONTEXT, id, 1);
    SET(context, CONTEXT, null_stream, 7);
    emit(LE_CUPTI_KIND_CONTEXT, &context);
    SET(stream, STREAM, context, 1);
    SET(stream, STREAM, id, 13);
    SET(stream, STREAM, flag, LE_CUPTI_STREAM_NON_BLOCKING);
    emit(LE_CUPTI_KIND_STREAM, &stream);
}

static void emit_range(uint64_t time_ns) {
    struct record begin = {0}, end = {0};
    uint32_t thread[3] = {(uint32_t)getpid(), (uint32_t)getpid(), 0};
    SET(begin, MARKER, flags, LE_CUPTI_MARKER_START);
    SET(begin, MARKER, time, time_ns);
    SET(begin, MARKER, id, 5);
    SET(begin, MARKER, object_kind, LE_CUPTI_OBJECT_THREAD);
    memcpy(begin.bytes + LE_OFFSET_MARKER_object, thread, sizeof thread);
    SET(begin, MARKER, name, (uintptr_t) "epoch");
    SET(end, MARKER, flags, LE_CUPTI_MARKER_END);
    SET(end, MARKER, time, time_ns + 500);
    SET(end, MARKER, id, 5);
    emit(LE_CUPTI_KIND_MARKER, &begin);
    emit(LE_CUPTI_KIND_MARKER, &end);
}

static void emit_host(uint64_t time_ns) {
    struct record memory = {0}, overhead = {0}, jit = {0};
    SET(memory, MEMORY2, operation, LE_CUPTI_ALLOCATION);
    SET(memory, MEMORY2, where, LE_CUPTI_MEMORY_PINNED);
    SET(memory, MEMORY2, address, 0x1000);
    SET(memory, MEMORY2, bytes, 4096);
    SET(memory, MEMORY2, time, time_ns);
    emit(LE_CUPTI_KIND_MEMORY2, &memory);
    SET(overhead, OVERHEAD, kind, LE_CUPTI_OVERHEAD_QUEUE_FULL);
    SET(overhead, OVERHEAD, start, time_ns);
    SET(overhead, OVERHEAD, end, time_ns + 20);
    emit(LE_CUPTI_KIND_OVERHEAD, &overhead);
    SET(jit, JIT, entry, 1);
    SET(jit, JIT, operation, 3);
    SET(jit, JIT, start, time_ns);
    SET(jit, JIT, end, time_ns + 30);
    emit(LE_CUPTI_KIND_JIT, &jit);
}

static void graph_made(void) {
    state.has_graph = true;
    state.is_graph_told = state.enabled[LE_CUPTI_KIND_KERNEL] && state.enabled[LE_CUPTI_KIND_GRAPH];
}

static void graph_launched(uint32_t correlation) {
    if (state.enabled[LE_CUPTI_KIND_KERNEL] && !state.is_graph_told)
        abort();
    kernel(correlation, "of the graph");
}

static void everything(void) {
    struct record set = {0}, peer = {0}, graph = {0};
    uint64_t time_ns = now_ns();
    emit_place();
    emit_range(time_ns);
    emit_host(time_ns);
    SET(set, MEMSET, bytes, 64);
    SET(set, MEMSET, start, time_ns);
    SET(set, MEMSET, end, time_ns + 40);
    SET(set, MEMSET, context, 1);
    SET(set, MEMSET, stream, 7);
    emit(LE_CUPTI_KIND_MEMSET, &set);
    SET(peer, MEMCPY2, direction, LE_CUPTI_COPY_PTOP);
    SET(peer, MEMCPY2, bytes, 65);
    SET(peer, MEMCPY2, start, time_ns + 50);
    SET(peer, MEMCPY2, end, time_ns + 60);
    SET(peer, MEMCPY2, context, 1);
    SET(peer, MEMCPY2, stream, 7);
    emit(LE_CUPTI_KIND_MEMCPY2, &peer);
    SET(graph, GRAPH, start, time_ns + 70);
    SET(graph, GRAPH, end, time_ns + 80);
    SET(graph, GRAPH, graph, 3);
    SET(graph, GRAPH, context, 1);
    SET(graph, GRAPH, stream, 7);
    emit(LE_CUPTI_KIND_GRAPH, &graph);
}

const struct standin *standin_table(void) {
    static const struct standin table = {enter, leave, kernel, copy, graph_made, graph_launched, everything};
    return &table;
}

/* ---- CUPTI's functions */

le_cupti_result cuptiGetVersion(uint32_t *version) {
    *version = version_now();
    return 0;
}

le_cupti_result cuptiGetTimestamp(uint64_t *time_ns) {
    *time_ns = now_ns();
    return 0;
}

le_cupti_result cuptiGetResultString(le_cupti_result result, const char **text) {
    (void)result;
    *text = "the stand-in's error";
    return 0;
}

le_cupti_result cuptiSetThreadIdType(int type) {
    return type == LE_CUPTI_THREAD_SYSTEM ? 0 : 1;
}

le_cupti_result cuptiSubscribe(le_cupti_subscriber *subscriber, le_cupti_callback_function *function, void *user) {
    uint32_t error = number("STANDIN_SUBSCRIBE", 0);
    if (error)
        return (le_cupti_result)error;
    state.callback = function;
    state.user = user;
    *subscriber = (le_cupti_subscriber)&state;
    return 0;
}

le_cupti_result cuptiUnsubscribe(le_cupti_subscriber subscriber) {
    (void)subscriber;
    state.callback = NULL;
    return 0;
}

le_cupti_result cuptiEnableCallback(uint32_t enable, le_cupti_subscriber subscriber, le_cupti_domain domain,
                                    uint32_t id) {
    (void)subscriber;
    state.wanted[domain][id] = (uint8_t)enable;
    return 0;
}

le_cupti_result cuptiGetCallbackName(le_cupti_domain domain, uint32_t id, const char **name) {
    static const char *const names[STANDIN_FUNCTIONS] = {
        [STANDIN_cuInit] = "cuInit",
        [STANDIN_cuLaunchKernel] = "cuLaunchKernel",
        [STANDIN_cuMemcpyHtoD_v2] = "cuMemcpyHtoD_v2",
        [STANDIN_cuMemcpyDtoH_v2] = "cuMemcpyDtoH_v2",
        [STANDIN_cuProfilerStart] = "cuProfilerStart",
        [STANDIN_cuProfilerStop] = "cuProfilerStop",
        [STANDIN_cuGraphCreate] = "cuGraphCreate",
        [STANDIN_cuGraphLaunch] = "cuGraphLaunch",
        [STANDIN_cuStreamSynchronize] = "cuStreamSynchronize",
        [STANDIN_cuStreamWaitEvent] = "cuStreamWaitEvent",
        [STANDIN_cuStreamBeginCapture_v2] = "cuStreamBeginCapture_v2",
        [STANDIN_cuStreamEndCapture] = "cuStreamEndCapture",
    };
    if (domain == LE_CUPTI_DOMAIN_DRIVER)
        *name = id < STANDIN_FUNCTIONS ? names[id] : NULL;
    else
        *name = id == STANDIN_cudaLaunchKernel_v7000 ? "cudaLaunchKernel_v7000"
                : id == STANDIN_cudaGetDevice_v3020  ? "cudaGetDevice_v3020"
                                                     : NULL;
    return *name ? 0 : 1;
}

le_cupti_result cuptiActivityEnable(le_cupti_kind kind) {
    pthread_mutex_lock(&state.lock);
    state.enabled[kind] = 1;
    if (kind == LE_CUPTI_KIND_DRIVER || kind == LE_CUPTI_KIND_RUNTIME)
        memset(state.is_recorded[kind - LE_CUPTI_KIND_DRIVER + LE_CUPTI_DOMAIN_DRIVER], 1, sizeof state.is_recorded[0]);
    pthread_mutex_unlock(&state.lock);
    return record_bytes(kind) ? 0 : 21;
}

/* Like CUPTI, cannot pick functions inside a callback. */
le_cupti_result cuptiActivityEnableDriverApi(uint32_t id, uint8_t is_on) {
    if (number("STANDIN_PICKS", 1) == 0)
        return 1;
    if (!in_callback || !is_on)
        state.is_recorded[LE_CUPTI_DOMAIN_DRIVER][id] = is_on;
    return 0;
}

le_cupti_result cuptiActivityEnableRuntimeApi(uint32_t id, uint8_t is_on) {
    if (!in_callback || !is_on)
        state.is_recorded[LE_CUPTI_DOMAIN_RUNTIME][id] = is_on;
    return 0;
}

le_cupti_result cuptiActivitySetAttribute(le_cupti_attribute attribute, size_t *size_bytes, void *value) {
    if (attribute != LE_CUPTI_ATTRIBUTE_ZEROED || *size_bytes != 1)
        return 1;
    state.is_zeroed = *(uint8_t *)value;
    return 0;
}

le_cupti_result cuptiGetStreamIdEx(le_cupti_context context, le_cupti_stream stream, uint8_t per_thread, uint32_t *id) {
    *id = (uint32_t)(uintptr_t)stream;
    return context || per_thread;
}

le_cupti_result cuptiActivityDisable(le_cupti_kind kind) {
    pthread_mutex_lock(&state.lock);
    state.enabled[kind] = 0;
    if (kind == LE_CUPTI_KIND_DRIVER || kind == LE_CUPTI_KIND_RUNTIME)
        memset(state.is_recorded[kind - LE_CUPTI_KIND_DRIVER + LE_CUPTI_DOMAIN_DRIVER], 0, sizeof state.is_recorded[0]);
    pthread_mutex_unlock(&state.lock);
    return 0;
}

le_cupti_result cuptiActivityRegisterCallbacks(le_cupti_request_function *request,
                                               le_cupti_complete_function *complete) {
    state.request = request;
    state.complete = complete;
    state.dropped = number("STANDIN_DROPPED", 0);
    return 0;
}

le_cupti_result cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid_bytes, void **record) {
    uint8_t *at = *record ? (uint8_t *)*record + record_bytes((int)le_cupti_load(*record, 4)) : buffer;
    if (at >= buffer + valid_bytes)
        return LE_CUPTI_ERROR_MAX_LIMIT_REACHED;
    *record = at;
    return 0;
}

le_cupti_result cuptiActivityGetNumDroppedRecords(le_cupti_context context, uint32_t stream, size_t *dropped) {
    (void)context, (void)stream;
    pthread_mutex_lock(&state.lock);
    *dropped = state.dropped;
    state.dropped = 0;
    pthread_mutex_unlock(&state.lock);
    return 0;
}

le_cupti_result cuptiActivityFlushAll(uint32_t flag) {
    if (state.has_graph && flag != LE_CUPTI_FLUSH_FORCED)
        abort();
    pthread_mutex_lock(&state.lock);
    uint8_t *buffer = state.buffer;
    size_t used = state.used, size_bytes = state.size_bytes;
    state.buffer = NULL;
    pthread_mutex_unlock(&state.lock);
    if (buffer)
        state.complete(NULL, 0, buffer, size_bytes, used);
    return 0;
}
