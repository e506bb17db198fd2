/* See convert.h. Maps CUPTI's numbers to those of format.h where they differ. Unknown kinds of activities are left out.
 */
#include "trace/recorder/convert.h"
#include "base/memory.h"
#include "trace/recorder/cupti_layout.h"
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define GET(record, field)      LE_CUPTI_GET32(at, convert->version, record, field)
#define GET64(record, field)    LE_CUPTI_GET(at, convert->version, record, field)
#define GET_TEXT(record, field) le_part_text(convert->writer, LE_CUPTI_GET_TEXT(at, convert->version, record, field))
#define PUT(kind, structure)    le_part_put(convert->writer, kind, &(structure), sizeof(structure), NULL, 0)

/* ---- threads: each is written once, when a record first refers to it */

static void put_thread(struct le_convert *convert, uint32_t id, const char *name) {
    struct le_trace_thread thread = {.id = id, .name = le_part_text(convert->writer, name)};
    PUT(LE_TRACE_THREAD, thread);
}

/* The system's name for the thread; "" if it has ended. */
static void thread_name(uint32_t id, char name[64]) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%u/comm", id);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? 0 : read(file, name, 63);
    if (file >= 0)
        close(file);
    name[length > 0 ? length - 1 : 0] = 0; /* it ends with a newline */
}

static uint32_t *thread_slot(uint32_t *slots, uint32_t capacity, uint32_t id) {
    for (uint32_t k = id * 0x9e3779b1u & (capacity - 1);; k = (k + 1) & (capacity - 1))
        if (slots[k] == id || !slots[k])
            return &slots[k];
}

static bool grow_threads(struct le_convert *convert) {
    uint32_t capacity = convert->thread_capacity ? 2 * convert->thread_capacity : 64;
    uint32_t *slots = le_alloc_zero(capacity, sizeof *slots);
    if (!slots)
        return false;
    for (uint32_t k = 0; k < convert->thread_capacity; k++)
        if (convert->threads[k])
            *thread_slot(slots, capacity, convert->threads[k]) = convert->threads[k];
    le_free(convert->threads);
    convert->threads = slots;
    convert->thread_capacity = capacity;
    return true;
}

static uint32_t note_thread(struct le_convert *convert, uint32_t id) {
    char name[64];
    if (!id || id == convert->last_thread)
        return id;
    convert->last_thread = id;
    if (2 * convert->thread_count >= convert->thread_capacity && !grow_threads(convert))
        return id;
    uint32_t *slot = thread_slot(convert->threads, convert->thread_capacity, id);
    if (*slot)
        return id;
    *slot = id;
    convert->thread_count++;
    thread_name(id, name);
    put_thread(convert, id, name[0] ? name : NULL);
    return id;
}

/* ---- calls */

/* Removes a long version: "cudaLaunchKernel_v7000" becomes cudaLaunchKernel. "cuMemAlloc_v2" keeps its suffix, because
 * it is a different function from cuMemAlloc. */
static uint32_t name_function(struct le_convert *convert, le_cupti_domain domain, uint32_t id) {
    char plain[256];
    const char *name = NULL;
    if (convert->cupti->get_callback_name(domain, id, &name) != LE_CUPTI_SUCCESS || !name) {
        snprintf(plain, sizeof plain, "%s function %u", domain == LE_CUPTI_DOMAIN_DRIVER ? "driver" : "runtime", id);
        return le_part_text(convert->writer, plain);
    }
    snprintf(plain, sizeof plain, "%s", name);
    char *version = strrchr(plain, '_');
    if (version && version[1] == 'v' && strlen(version + 2) >= 4 &&
        strspn(version + 2, "0123456789") == strlen(version + 2))
        *version = 0;
    return le_part_text(convert->writer, plain);
}

static uint32_t function_text(struct le_convert *convert, le_cupti_domain domain, uint32_t id) {
    if (id >= LE_CONVERT_FUNCTIONS)
        return name_function(convert, domain, id);
    uint32_t *text = &convert->functions[domain - LE_CUPTI_DOMAIN_DRIVER][id];
    if (!*text)
        *text = name_function(convert, domain, id);
    return *text;
}

static void convert_call(struct le_convert *convert, const uint8_t *at, le_cupti_domain domain) {
    struct le_trace_call call = {.start_ns = GET64(API, start),
                                 .end_ns = GET64(API, end),
                                 .correlation = GET(API, correlation),
                                 .thread = note_thread(convert, GET(API, thread)),
                                 .function = function_text(convert, domain, GET(API, function)),
                                 .result = (int32_t)GET(API, result),
                                 .library = domain == LE_CUPTI_DOMAIN_DRIVER ? LE_TRACE_DRIVER : LE_TRACE_RUNTIME};
    PUT(LE_TRACE_CALL, call);
}

static void convert_driver(struct le_convert *convert, const uint8_t *at) {
    convert_call(convert, at, LE_CUPTI_DOMAIN_DRIVER);
}

static void convert_runtime(struct le_convert *convert, const uint8_t *at) {
    convert_call(convert, at, LE_CUPTI_DOMAIN_RUNTIME);
}

/* ---- what devices did */

static void convert_kernel(struct le_convert *convert, const uint8_t *at) {
    struct le_trace_kernel kernel = {.start_ns = GET64(KERNEL, start),
                                     .end_ns = GET64(KERNEL, end),
                                     .correlation = GET(KERNEL, correlation),
                                     .name = GET_TEXT(KERNEL, name),
                                     .device = GET(KERNEL, device),
                                     .context = GET(KERNEL, context),
                                     .stream = GET(KERNEL, stream),
                                     .graph = GET(KERNEL, graph),
                                     .graph_node = GET64(KERNEL, graph_node),
                                     .grid = {GET(KERNEL, grid_x), GET(KERNEL, grid_y), GET(KERNEL, grid_z)},
                                     .block = {GET(KERNEL, block_x), GET(KERNEL, block_y), GET(KERNEL, block_z)},
                                     .registers = GET(KERNEL, registers),
                                     .static_shared_bytes = GET(KERNEL, static_shared),
                                     .dynamic_shared_bytes = GET(KERNEL, dynamic_shared),
                                     .local_bytes = GET(KERNEL, local)};
    PUT(LE_TRACE_KERNEL, kernel);
}

static uint8_t memory_kind(uint32_t kind) {
    static const uint8_t kinds[] = {
        [LE_CUPTI_MEMORY_PAGEABLE] = LE_TRACE_PAGEABLE,     [LE_CUPTI_MEMORY_PINNED] = LE_TRACE_PINNED,
        [LE_CUPTI_MEMORY_DEVICE] = LE_TRACE_ON_DEVICE,      [LE_CUPTI_MEMORY_ARRAY] = LE_TRACE_ARRAY,
        [LE_CUPTI_MEMORY_MANAGED] = LE_TRACE_MANAGED,       [LE_CUPTI_MEMORY_DEVICE_STATIC] = LE_TRACE_ON_DEVICE,
        [LE_CUPTI_MEMORY_MANAGED_STATIC] = LE_TRACE_MANAGED};
    return kind < sizeof kinds ? kinds[kind] : LE_TRACE_UNKNOWN;
}

static uint8_t copy_direction(uint32_t kind) {
    static const uint8_t directions[] = {[LE_CUPTI_COPY_HTOD] = LE_TRACE_HTOD, [LE_CUPTI_COPY_DTOH] = LE_TRACE_DTOH,
                                         [LE_CUPTI_COPY_HTOA] = LE_TRACE_HTOD, [LE_CUPTI_COPY_ATOH] = LE_TRACE_DTOH,
                                         [LE_CUPTI_COPY_ATOA] = LE_TRACE_DTOD, [LE_CUPTI_COPY_ATOD] = LE_TRACE_DTOD,
                                         [LE_CUPTI_COPY_DTOA] = LE_TRACE_DTOD, [LE_CUPTI_COPY_DTOD] = LE_TRACE_DTOD,
                                         [LE_CUPTI_COPY_HTOH] = LE_TRACE_HTOH, [LE_CUPTI_COPY_PTOP] = LE_TRACE_PTOP};
    return kind < sizeof directions ? directions[kind] : 0;
}

#define CONVERT_COPY(record)                                                                                           \
    struct le_trace_copy copy = {.start_ns = GET64(record, start),                                                     \
                                 .end_ns = GET64(record, end),                                                         \
                                 .bytes = GET64(record, bytes),                                                        \
                                 .correlation = GET(record, correlation),                                              \
                                 .device = GET(record, device),                                                        \
                                 .context = GET(record, context),                                                      \
                                 .stream = GET(record, stream),                                                        \
                                 .direction = copy_direction(GET(record, direction)),                                  \
                                 .from = memory_kind(GET(record, from)),                                               \
                                 .to = memory_kind(GET(record, to)),                                                   \
                                 .is_async = (GET(record, flags) & LE_CUPTI_COPY_ASYNC) != 0,                          \
                                 .graph = GET(record, graph),                                                          \
                                 .graph_node = GET64(record, graph_node)};                                             \
    PUT(LE_TRACE_COPY, copy)

static void convert_copy(struct le_convert *convert, const uint8_t *at) {
    CONVERT_COPY(MEMCPY);
}

static void convert_copy_between_devices(struct le_convert *convert, const uint8_t *at) {
    CONVERT_COPY(MEMCPY2);
}

static void convert_set(struct le_convert *convert, const uint8_t *at) {
    struct le_trace_set set = {.start_ns = GET64(MEMSET, start),
                               .end_ns = GET64(MEMSET, end),
                               .bytes = GET64(MEMSET, bytes),
                               .correlation = GET(MEMSET, correlation),
                               .device = GET(MEMSET, device),
                               .context = GET(MEMSET, context),
                               .stream = GET(MEMSET, stream),
                               .value = GET(MEMSET, value),
                               .graph = GET(MEMSET, graph),
                               .graph_node = GET64(MEMSET, graph_node)};
    PUT(LE_TRACE_SET, set);
}

static void convert_graph(struct le_convert *convert, const uint8_t *at) {
    struct le_trace_graph graph = {.start_ns = GET64(GRAPH, start),
                                   .end_ns = GET64(GRAPH, end),
                                   .correlation = GET(GRAPH, correlation),
                                   .device = GET(GRAPH, device),
                                   .context = GET(GRAPH, context),
                                   .stream = GET(GRAPH, stream),
                                   .graph = GET(GRAPH, graph)};
    PUT(LE_TRACE_GRAPH, graph);
}

/* ---- memory, compiling, overheads */

static void convert_memory(struct le_convert *convert, const uint8_t *at) {
    _Static_assert((int)LE_CUPTI_RELEASE == (int)LE_TRACE_RELEASE, "both use the same numbers");
    struct le_trace_memory memory = {.time_ns = GET64(MEMORY2, time),
                                     .address = GET64(MEMORY2, address),
                                     .bytes = GET64(MEMORY2, bytes),
                                     .correlation = GET(MEMORY2, correlation),
                                     .device = GET(MEMORY2, device),
                                     .context = GET(MEMORY2, context),
                                     .operation = (uint8_t)GET(MEMORY2, operation),
                                     .where = memory_kind(GET(MEMORY2, where)),
                                     .is_async = GET(MEMORY2, is_async) != 0};
    PUT(LE_TRACE_MEMORY, memory);
}

static void convert_jit(struct le_convert *convert, const uint8_t *at) {
    struct le_trace_jit jit = {.start_ns = GET64(JIT, start),
                               .end_ns = GET64(JIT, end),
                               .correlation = GET(JIT, correlation),
                               .thread = note_thread(convert, GET(JIT, thread)),
                               .entry = GET(JIT, entry),
                               .operation = GET(JIT, operation),
                               .cache_bytes = GET64(JIT, cache_bytes)};
    PUT(LE_TRACE_JIT, jit);
}

static uint32_t overhead_kind(uint32_t kind) {
    switch (kind) {
    case LE_CUPTI_OVERHEAD_COMPILER:
        return LE_TRACE_OVERHEAD_COMPILER;
    case LE_CUPTI_OVERHEAD_FLUSH:
    case LE_CUPTI_OVERHEAD_BUFFER_REQUEST:
        return LE_TRACE_OVERHEAD_FLUSH;
    case LE_CUPTI_OVERHEAD_INSTRUMENT:
        return LE_TRACE_OVERHEAD_INSTRUMENT;
    case LE_CUPTI_OVERHEAD_RESOURCE:
        return LE_TRACE_OVERHEAD_RESOURCE;
    case LE_CUPTI_OVERHEAD_MODULE_LOADING:
    case LE_CUPTI_OVERHEAD_FUNCTION_LOADING:
        return LE_TRACE_OVERHEAD_LAZY_LOADING;
    case LE_CUPTI_OVERHEAD_QUEUE_FULL:
        return LE_TRACE_OVERHEAD_QUEUE_FULL;
    default:
        return LE_TRACE_OVERHEAD_OTHER;
    }
}

/* The thread ID of an object that is a thread: its process ID comes first. */
static uint32_t object_thread(const uint8_t *object, uint32_t kind) {
    return kind == LE_CUPTI_OBJECT_THREAD ? (uint32_t)le_cupti_load(object + 4, 4) : 0;
}

static void convert_overhead(struct le_convert *convert, const uint8_t *at) {
    uint32_t thread = object_thread(at + LE_OFFSET_OVERHEAD_object, GET(OVERHEAD, object_kind));
    struct le_trace_overhead overhead = {.start_ns = GET64(OVERHEAD, start),
                                         .end_ns = GET64(OVERHEAD, end),
                                         .thread = note_thread(convert, thread),
                                         .kind = overhead_kind(GET(OVERHEAD, kind))};
    PUT(LE_TRACE_OVERHEAD, overhead);
}

/* ---- NVTX: a range is two markers with the same ID */

static bool begin_range(struct le_convert *convert, const struct le_open_range *range) {
    if (convert->range_count == convert->range_capacity) {
        uint32_t capacity = convert->range_capacity ? 2 * convert->range_capacity : 64;
        struct le_open_range *larger = le_realloc(convert->ranges, capacity * sizeof *larger);
        if (!larger)
            return false;
        convert->ranges = larger;
        convert->range_capacity = capacity;
    }
    convert->ranges[convert->range_count++] = *range;
    return true;
}

/* Searches backwards, because most ranges end soon after they began. */
static void end_range(struct le_convert *convert, uint32_t id, uint64_t end_ns) {
    for (uint32_t k = convert->range_count; k-- > 0;) {
        struct le_open_range *open = &convert->ranges[k];
        if (open->id != id)
            continue;
        open->range.end_ns = end_ns;
        PUT(LE_TRACE_RANGE, open->range);
        memmove(open, open + 1, (--convert->range_count - k) * sizeof *open);
        return;
    }
}

static void convert_marker(struct le_convert *convert, const uint8_t *at) {
    uint32_t flags = GET(MARKER, flags), id = GET(MARKER, id);
    uint64_t time_ns = GET64(MARKER, time);
    if (flags & LE_CUPTI_MARKER_END) {
        end_range(convert, id, time_ns);
        return;
    }
    uint32_t thread = object_thread(at + LE_OFFSET_MARKER_object, GET(MARKER, object_kind));
    struct le_open_range open = {.range = {.start_ns = time_ns,
                                           .end_ns = flags & LE_CUPTI_MARKER_INSTANT ? time_ns : 0,
                                           .thread = note_thread(convert, thread),
                                           .name = GET_TEXT(MARKER, name),
                                           .domain = GET_TEXT(MARKER, domain)},
                                 .id = id};
    if (open.range.end_ns || !begin_range(convert, &open))
        PUT(LE_TRACE_RANGE, open.range);
}

void le_convert_end(struct le_convert *convert) {
    for (uint32_t k = 0; k < convert->range_count; k++)
        PUT(LE_TRACE_RANGE, convert->ranges[k].range);
    convert->range_count = 0;
}

/* ---- devices, contexts, streams, names */

/* For a GPU that is partitioned (MIG), the UUID of the instance: each instance is a device. */
static const uint8_t *device_uuid(const struct le_convert *convert, const uint8_t *at) {
    return GET(DEVICE, is_mig) ? at + LE_OFFSET_DEVICE_mig_uuid : at + LE_OFFSET_DEVICE_uuid;
}

static void convert_device(struct le_convert *convert, const uint8_t *at) {
    _Static_assert((int)LE_BYTES_DEVICE_uuid == (int)LE_TRACE_UUID_BYTES, "a UUID is copied whole");
    struct le_trace_device device = {.id = GET(DEVICE, id),
                                     .name = GET_TEXT(DEVICE, name),
                                     .capability_major = GET(DEVICE, major),
                                     .capability_minor = GET(DEVICE, minor),
                                     .multiprocessors = GET(DEVICE, multiprocessors),
                                     .warp_threads = GET(DEVICE, warp_threads),
                                     .multiprocessor_threads = GET(DEVICE, warps) * GET(DEVICE, warp_threads),
                                     .multiprocessor_blocks = GET(DEVICE, blocks),
                                     .multiprocessor_registers = GET(DEVICE, registers),
                                     .block_registers = GET(DEVICE, block_registers),
                                     .multiprocessor_shared_bytes = GET(DEVICE, shared),
                                     .block_shared_bytes = GET(DEVICE, block_shared),
                                     .clock_khz = GET(DEVICE, clock),
                                     .copy_engines = GET(DEVICE, engines),
                                     .memory_bytes = GET64(DEVICE, memory),
                                     .bandwidth = 1000 * GET64(DEVICE, bandwidth)};
    memcpy(device.uuid, device_uuid(convert, at), sizeof device.uuid);
    PUT(LE_TRACE_DEVICE, device);
}

static void convert_context(struct le_convert *convert, const uint8_t *at) {
    struct le_trace_context context = {
        .id = GET(CONTEXT, id), .device = GET(CONTEXT, device), .null_stream = GET(CONTEXT, null_stream)};
    PUT(LE_TRACE_CONTEXT, context);
}

static void convert_stream(struct le_convert *convert, const uint8_t *at) {
    _Static_assert((int)LE_CUPTI_STREAM_NON_BLOCKING == (int)LE_TRACE_STREAM_NON_BLOCKING, "both use the same flags");
    struct le_trace_stream stream = {.id = GET(STREAM, id),
                                     .context = GET(STREAM, context),
                                     .flags = GET(STREAM, flag),
                                     .priority = GET(STREAM, priority)};
    PUT(LE_TRACE_STREAM, stream);
}

static void convert_name(struct le_convert *convert, const uint8_t *at) {
    uint32_t thread = object_thread(at + LE_OFFSET_NAME_object, GET(NAME, object_kind));
    if (thread)
        put_thread(convert, thread, LE_CUPTI_GET_TEXT(at, convert->version, NAME, name));
}

/* ---- the table of kinds */

static const struct conversion {
    le_cupti_kind kind;
    uint32_t since; /* the first version of CUPTI that has it */
    unsigned group;
    void (*convert)(struct le_convert *convert, const uint8_t *at);
} rows[] = {
    {LE_CUPTI_KIND_DEVICE, 12, LE_KINDS_OF_OBJECTS, convert_device},
    {LE_CUPTI_KIND_CONTEXT, 12, LE_KINDS_OF_OBJECTS, convert_context},
    {LE_CUPTI_KIND_STREAM, 12, LE_KINDS_OF_OBJECTS, convert_stream},
    {LE_CUPTI_KIND_NAME, 12, LE_KINDS_OF_OBJECTS, convert_name},
    {LE_CUPTI_KIND_MARKER, 12, LE_KINDS_OF_HOST, convert_marker},
    {LE_CUPTI_KIND_KERNEL, 12, LE_KINDS_OF_WORK, convert_kernel},
    {LE_CUPTI_KIND_MEMCPY, 12, LE_KINDS_OF_WORK, convert_copy},
    {LE_CUPTI_KIND_MEMCPY2, 12, LE_KINDS_OF_WORK, convert_copy_between_devices},
    {LE_CUPTI_KIND_MEMSET, 12, LE_KINDS_OF_WORK, convert_set},
    {LE_CUPTI_KIND_OVERHEAD, 12, LE_KINDS_OF_HOST, convert_overhead},
    {LE_CUPTI_KIND_MEMORY2, LE_SINCE_MEMORY2_time, LE_KINDS_OF_HOST, convert_memory},
    {LE_CUPTI_KIND_GRAPH, LE_SINCE_GRAPH_start, LE_KINDS_OF_WORK, convert_graph},
    {LE_CUPTI_KIND_JIT, LE_SINCE_JIT_start, LE_KINDS_OF_HOST, convert_jit},
    {LE_CUPTI_KIND_DRIVER, 12, LE_KINDS_OF_HOST, convert_driver},
    {LE_CUPTI_KIND_RUNTIME, 12, LE_KINDS_OF_HOST, convert_runtime},
};
enum { ROWS = sizeof rows / sizeof *rows };

le_cupti_kind le_convert_kind(uint32_t version, unsigned groups, uint32_t k) {
    for (size_t row = 0; row < ROWS; row++)
        if (version >= rows[row].since && rows[row].group & groups && k-- == 0)
            return rows[row].kind;
    return 0;
}

void le_convert_activity(struct le_convert *convert, const void *activity) {
    uint32_t kind = (uint32_t)le_cupti_load(activity, 4);
    for (size_t k = 0; k < ROWS; k++)
        if (rows[k].kind == (le_cupti_kind)kind) {
            rows[k].convert(convert, activity);
            return;
        }
}

void le_convert_finish(struct le_convert *convert) {
    le_free(convert->threads);
    le_free(convert->ranges);
    convert->threads = NULL;
    convert->ranges = NULL;
}
