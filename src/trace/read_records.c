/* Adds a part's records to the index's tables, with one small function for each kind of record. Nothing in a record is
 * trusted: unknown numbers become LE_NONE or a new entry, and an end before its start becomes the start. read_link.c
 * resolves correlations. */
#include "base/memory.h"
#include "trace/call_kinds.h"
#include "trace/trace_reader.h"
#include <string.h>

enum { DEVICES_MOST = 1024 };
/* Later times are invalid: 2^62 ns are a hundred and forty years. */
#define TIME_MOST ((uint64_t)1 << 62)

/* ---- times */

static struct le_process *process_of(struct le_reader *reader) {
    return &reader->index->processes.at[reader->part.process];
}

/* Converts a time to the clock that all parts share. 0 (unknown) stays 0. */
static uint64_t shared_time(struct le_reader *reader, uint64_t time_ns) {
    int64_t offset = process_of(reader)->unix_offset_ns;
    if (time_ns == 0 || time_ns > TIME_MOST)
        return 0;
    if (offset < 0 && (uint64_t)-offset >= time_ns)
        return 0;
    uint64_t shifted = time_ns + (uint64_t)offset;
    return shifted > TIME_MOST ? 0 : shifted;
}

void le_reader_extend(struct le_reader *reader, uint64_t start_ns, uint64_t end_ns) {
    struct le_reader_part *part = &reader->part;
    if (start_ns < part->start_ns)
        part->start_ns = start_ns;
    if (end_ns > part->end_ns)
        part->end_ns = end_ns;
}

/* Sets both times, in order. If they are unknown, counts the record and returns false. */
static bool set_times(struct le_reader *reader, uint64_t start_ns, uint64_t end_ns, uint64_t *start, uint64_t *end) {
    *start = shared_time(reader, start_ns);
    *end = shared_time(reader, end_ns);
    if (*start == 0 || *end == 0) {
        reader->part.timeless++;
        return false;
    }
    if (*end < *start)
        *end = *start;
    return true;
}

/* The same, and extends the part's times. */
static bool set_times_and_extend(struct le_reader *reader, uint64_t start_ns, uint64_t end_ns, uint64_t *start,
                                 uint64_t *end) {
    bool done = set_times(reader, start_ns, end_ns, start, end);
    if (done)
        le_reader_extend(reader, *start, *end);
    return done;
}

/* ---- numbers to positions */

static int32_t text_of(struct le_reader *reader, uint32_t id) {
    int32_t position = id ? le_id_map_get(&reader->part.texts, id) : LE_NONE;
    return position == LE_NONE ? 0 : position;
}

static int32_t thread_of(struct le_reader *reader, uint32_t id) {
    int32_t position = le_id_map_get(&reader->part.threads, id);
    if (position != LE_NONE)
        return position;
    position = reader->index->threads.count;
    *LE_READER_PUSH(reader, &reader->index->threads) = (struct le_thread){.process = reader->part.process, .id = id};
    le_reader_put(reader, &reader->part.threads, id, position);
    return position;
}

static int32_t device_of(struct le_reader *reader, uint32_t id) {
    if (id >= DEVICES_MOST)
        return LE_NONE;
    int32_t position = le_id_map_get(&reader->part.devices, id);
    if (position != LE_NONE)
        return position;
    position = reader->index->devices.count;
    *LE_READER_PUSH(reader, &reader->index->devices) = (struct le_trace_device){.id = id};
    le_reader_put(reader, &reader->part.devices, id, position);
    return position;
}

static int32_t stream_of(struct le_reader *reader, uint32_t context, uint32_t id) {
    uint64_t key = (uint64_t)context << 32 | id;
    int32_t position = le_id_map_get(&reader->part.streams, key);
    if (position != LE_NONE)
        return position;
    position = reader->index->streams.count;
    *LE_READER_PUSH(reader, &reader->index->streams) =
        (struct le_stream){.process = reader->part.process, .device = LE_NONE, .id = id, .context = context};
    le_reader_put(reader, &reader->part.streams, key, position);
    return position;
}

static void add_context(struct le_reader *reader, uint32_t id, uint32_t device, uint32_t null_stream) {
    struct le_reader_contexts *list = &reader->part.context_list;
    le_reader_put(reader, &reader->part.contexts, id, list->count);
    *LE_READER_PUSH(reader, list) = (struct le_reader_context){.device = device, .null_stream = null_stream};
}

static int32_t stream_on(struct le_reader *reader, uint32_t device, uint32_t context, uint32_t id) {
    int32_t position = stream_of(reader, context, id);
    struct le_stream *stream = &reader->index->streams.at[position];
    if (stream->device != LE_NONE)
        return position;
    stream->device = device_of(reader, device);
    if (le_id_map_get(&reader->part.contexts, context) == LE_NONE) /* not recorded: this is all that is known of it */
        add_context(reader, context, device, LE_TRACE_NO_STREAM);
    return position;
}

/* Equal shapes share one position. */
static int32_t shape_of(struct le_reader *reader, const struct le_shape *shape) {
    struct le_trace_index *index = reader->index;
    uint32_t hash = (uint32_t)le_hash(shape, sizeof *shape, 0);
    int64_t slot = LE_NONE;
    for (int32_t known; (known = le_position_set_next(&reader->shapes, hash, &slot)) != LE_NONE;)
        if (memcmp(&index->shapes.at[known], shape, sizeof *shape) == 0)
            return known;
    int32_t position = index->shapes.count;
    *LE_READER_PUSH(reader, &index->shapes) = *shape;
    le_reader_add(reader, &reader->shapes, hash, position);
    return position;
}

/* ---- processes, devices, streams, threads, sources */

static void read_string(struct le_reader *reader, const void *record, size_t size_bytes) {
    const struct le_trace_string *string = record;
    if (string->id == 0 || string->length > size_bytes - sizeof *string) {
        reader->part.malformed++;
        return;
    }
    int32_t position = le_reader_text(reader, (const char *)(string + 1), string->length);
    le_reader_put(reader, &reader->part.texts, string->id, position);
}

static void read_process(struct le_reader *reader, const void *record, size_t size_bytes) {
    const struct le_trace_process *recorded = record;
    struct le_process *process = process_of(reader);
    (void)size_bytes;
    process->command = text_of(reader, recorded->command);
    process->language = text_of(reader, recorded->language);
    process->host = text_of(reader, recorded->host);
    process->cupti_version = recorded->cupti_version;
    process->driver_version = recorded->driver_version;
}

static bool has_uuid(const struct le_trace_device *device) {
    static const uint8_t none[LE_TRACE_UUID_BYTES];
    return memcmp(device->uuid, none, sizeof none) != 0;
}

/* In older traces, which have no UUIDs, devices are the same if all their properties are equal. */
static bool is_same_device(const struct le_trace_device *a, const struct le_trace_device *b) {
    if (has_uuid(a) && has_uuid(b))
        return memcmp(a->uuid, b->uuid, sizeof a->uuid) == 0;
    return memcmp(a, b, offsetof(struct le_trace_device, uuid)) == 0;
}

/* Describes a device that was known only by its number. A device that another process has described is the same. */
static void read_device(struct le_reader *reader, const void *record, size_t size_bytes) {
    struct le_trace_device device = {0};
    struct le_trace_index *index = reader->index;
    memcpy(&device, record, size_bytes < sizeof device ? size_bytes : sizeof device);
    device.name = (uint32_t)text_of(reader, device.name);
    if (device.id >= DEVICES_MOST) {
        reader->part.malformed++;
        return;
    }
    int32_t position = le_id_map_get(&reader->part.devices, device.id);
    for (int32_t k = 0; k < reader->part.first_device && position == LE_NONE; k++)
        if (is_same_device(&index->devices.at[k], &device))
            position = k;
    if (position == LE_NONE)
        position = device_of(reader, device.id);
    le_reader_put(reader, &reader->part.devices, device.id, position);
    if (index->devices.at[position].name == 0)
        index->devices.at[position] = device;
}

static void read_context(struct le_reader *reader, const void *record, size_t size_bytes) {
    const struct le_trace_context *context = record;
    (void)size_bytes;
    add_context(reader, context->id, context->device, context->null_stream);
}

static void read_stream(struct le_reader *reader, const void *record, size_t size_bytes) {
    const struct le_trace_stream *stream = record;
    int32_t position = stream_of(reader, stream->context, stream->id);
    (void)size_bytes;
    reader->index->streams.at[position].flags = stream->flags;
}

static void read_thread(struct le_reader *reader, const void *record, size_t size_bytes) {
    const struct le_trace_thread *thread = record;
    int32_t position = thread_of(reader, thread->id);
    (void)size_bytes;
    reader->index->threads.at[position].name = text_of(reader, thread->name);
}

static void read_source(struct le_reader *reader, const void *record, size_t size_bytes) {
    const struct le_trace_source *source = record;
    struct le_trace_index *index = reader->index;
    (void)size_bytes;
    if (source->id == 0 || le_id_map_get(&reader->part.sources, source->id) != LE_NONE) {
        reader->part.malformed++;
        return;
    }
    int32_t parent = source->parent ? le_id_map_get(&reader->part.sources, source->parent) : LE_NONE;
    int32_t position = index->sources.count;
    *LE_READER_PUSH(reader, &index->sources) =
        (struct le_source){.parent = parent,
                           .function = text_of(reader, source->function),
                           .file = text_of(reader, source->file),
                           .line = source->line > INT32_MAX ? 0 : (int32_t)source->line,
                           .language = source->language == LE_TRACE_PYTHON ? LE_TRACE_PYTHON : LE_TRACE_NATIVE};
    le_reader_put(reader, &reader->part.sources, source->id, position);
}

/* ---- what the host did */

/* The text of a function's name without its version. */
static int32_t function_of(struct le_reader *reader, uint32_t id) {
    int32_t text = text_of(reader, id), function = le_id_map_get(&reader->functions, (uint64_t)text);
    if (function != LE_NONE)
        return function;
    const char *name = reader->index->texts.at[text];
    function = le_reader_text(reader, name, le_call_name_length(name, strlen(name)));
    le_reader_put(reader, &reader->functions, (uint64_t)text, function);
    le_reader_put(reader, &reader->kinds, (uint64_t)function,
                  (int32_t)le_call_kind_of(reader->index->texts.at[function]));
    return function;
}

static void read_call(struct le_reader *reader, const void *record, size_t size_bytes) {
    const struct le_trace_call *recorded = record;
    struct le_call call = {.source = LE_NONE, .transfer = LE_NONE, .operation = (int32_t)recorded->correlation};
    (void)size_bytes;
    if (!set_times_and_extend(reader, recorded->start_ns, recorded->end_ns, &call.start_ns, &call.end_ns))
        return;
    call.function = function_of(reader, recorded->function);
    call.kind = (uint8_t)le_id_map_get(&reader->kinds, (uint64_t)call.function);
    call.thread = thread_of(reader, recorded->thread);
    call.result = recorded->result;
    call.library = recorded->library == LE_TRACE_RUNTIME ? LE_TRACE_RUNTIME : LE_TRACE_DRIVER;
    *LE_READER_PUSH(reader, &reader->index->calls) = call;
}

static void read_origin(struct le_reader *reader, const void *record, size_t size_bytes) {
    const struct le_trace_origin *recorded = record;
    int32_t source = le_id_map_get(&reader->part.sources, recorded->source);
    (void)size_bytes;
    if (source != LE_NONE && recorded->correlation)
        *LE_READER_PUSH(reader, &reader->part.origins) =
            (struct le_trace_origin){.correlation = recorded->correlation, .source = (uint32_t)source};
}

static void read_transfer(struct le_reader *reader, const void *record, size_t size_bytes) {
    (void)size_bytes;
    const struct le_trace_transfer *recorded = record;
    *LE_READER_PUSH(reader, &reader->part.correlations) = recorded->correlation;
    *LE_READER_PUSH(reader, &reader->index->transfers) = (struct le_transfer){
        .host = recorded->host, .device = recorded->device, .bytes = recorded->bytes, .sample = recorded->sample};
}

static void read_sync(struct le_reader *reader, const void *record, size_t size_bytes) {
    const struct le_trace_sync *recorded = record;
    struct le_wait wait = {.call = (int32_t)recorded->correlation,
                           .stream = LE_NONE,
                           .device = (int32_t)recorded->context,
                           .kind = (uint8_t)recorded->kind};
    (void)size_bytes;
    if (recorded->kind < LE_TRACE_SYNC_EVENT || recorded->kind > LE_TRACE_SYNC_CONTEXT) {
        reader->part.malformed++;
        return;
    }
    if (!set_times_and_extend(reader, recorded->start_ns, recorded->end_ns, &wait.start_ns, &wait.end_ns))
        return;
    if (recorded->kind != LE_TRACE_SYNC_CONTEXT && recorded->stream != LE_TRACE_NO_STREAM)
        wait.stream = stream_of(reader, recorded->context, recorded->stream);
    *LE_READER_PUSH(reader, &reader->index->waits) = wait;
}

static void read_memory(struct le_reader *reader, const void *record, size_t size_bytes) {
    const struct le_trace_memory *recorded = record;
    (void)size_bytes;
    struct le_memory_event event = {.address = recorded->address,
                                    .bytes = recorded->bytes,
                                    .call = (int32_t)recorded->correlation,
                                    .operation = recorded->operation,
                                    .where = recorded->where,
                                    .is_async = recorded->is_async != 0};
    if ((recorded->operation != LE_TRACE_ALLOCATE && recorded->operation != LE_TRACE_RELEASE) ||
        recorded->where > LE_TRACE_MANAGED) {
        reader->part.malformed++;
        return;
    }
    uint64_t end_ns;
    if (!set_times_and_extend(reader, recorded->time_ns, recorded->time_ns, &event.time_ns, &end_ns))
        return;
    event.device = device_of(reader, recorded->device);
    *LE_READER_PUSH(reader, &reader->index->memory) = event;
}

/* False: the record has no times. */
static bool read_span(struct le_reader *reader, uint64_t start_ns, uint64_t end_ns, uint32_t thread,
                      struct le_host_span *span) {
    *span = (struct le_host_span){0};
    if (!set_times_and_extend(reader, start_ns, end_ns, &span->start_ns, &span->end_ns))
        return false;
    span->thread = thread_of(reader, thread);
    return true;
}

static void read_overhead(struct le_reader *reader, const void *record, size_t size_bytes) {
    const struct le_trace_overhead *recorded = record;
    struct le_host_span span;
    (void)size_bytes;
    if (!read_span(reader, recorded->start_ns, recorded->end_ns, recorded->thread, &span))
        return;
    span.kind = recorded->kind > LE_TRACE_OVERHEAD_QUEUE_FULL ? LE_TRACE_OVERHEAD_OTHER : recorded->kind;
    *LE_READER_PUSH(reader, &reader->index->overheads) = span;
}

static void read_jit(struct le_reader *reader, const void *record, size_t size_bytes) {
    const struct le_trace_jit *recorded = record;
    struct le_host_span span;
    (void)size_bytes;
    if (!read_span(reader, recorded->start_ns, recorded->end_ns, recorded->thread, &span))
        return;
    span.kind = recorded->operation;
    span.bytes = recorded->cache_bytes;
    *LE_READER_PUSH(reader, &reader->index->jits) = span;
}

static void read_range(struct le_reader *reader, const void *record, size_t size_bytes) {
    const struct le_trace_range *recorded = record;
    struct le_host_span span;
    (void)size_bytes;
    bool is_open = recorded->end_ns == 0; /* until the end of the part, which is not known yet */
    if (!read_span(reader, recorded->start_ns, is_open ? recorded->start_ns : recorded->end_ns, recorded->thread,
                   &span))
        return;
    span.end_ns = is_open ? 0 : span.end_ns;
    span.name = text_of(reader, recorded->name);
    *LE_READER_PUSH(reader, &reader->index->ranges) = span;
}

/* ---- what devices did */

static int32_t fixed_text(struct le_reader *reader, const char *text) {
    return le_reader_text(reader, text, strlen(text));
}

static void read_kernel(struct le_reader *reader, const void *record, size_t size_bytes) {
    const struct le_trace_kernel *recorded = record;
    struct le_operation operation = {
        .call = (int32_t)recorded->correlation, .graph = recorded->graph, .kind = LE_OPERATION_KERNEL};
    struct le_shape shape = {.registers = recorded->registers,
                             .static_shared_bytes = recorded->static_shared_bytes,
                             .dynamic_shared_bytes = recorded->dynamic_shared_bytes,
                             .local_bytes = recorded->local_bytes};
    (void)size_bytes;
    if (!set_times(reader, recorded->start_ns, recorded->end_ns, &operation.start_ns, &operation.end_ns))
        return;
    memcpy(shape.grid, recorded->grid, sizeof shape.grid);
    memcpy(shape.block, recorded->block, sizeof shape.block);
    operation.name = text_of(reader, recorded->name);
    operation.shape = shape_of(reader, &shape);
    operation.stream = stream_on(reader, recorded->device, recorded->context, recorded->stream);
    *LE_READER_PUSH(reader, &reader->index->operations) = operation;
}

static const char *copy_name(unsigned direction) {
    static const char *const names[] = {"[copy]",
                                        "[copy host to device]",
                                        "[copy device to host]",
                                        "[copy device to device]",
                                        "[copy host to host]",
                                        "[copy device to other device]"};
    return names[direction < ARRAY_LEN(names) ? direction : 0];
}

static void read_copy(struct le_reader *reader, const void *record, size_t size_bytes) {
    const struct le_trace_copy *recorded = record;
    struct le_operation operation = {.bytes = recorded->bytes,
                                     .call = (int32_t)recorded->correlation,
                                     .graph = recorded->graph,
                                     .kind = LE_OPERATION_COPY};
    struct le_shape shape = {.direction = recorded->direction <= LE_TRACE_PTOP ? recorded->direction : 0,
                             .from = recorded->from <= LE_TRACE_MANAGED ? recorded->from : 0,
                             .to = recorded->to <= LE_TRACE_MANAGED ? recorded->to : 0,
                             .is_async = recorded->is_async != 0};
    (void)size_bytes;
    if (!set_times(reader, recorded->start_ns, recorded->end_ns, &operation.start_ns, &operation.end_ns))
        return;
    operation.name = fixed_text(reader, copy_name(shape.direction));
    operation.shape = shape_of(reader, &shape);
    operation.stream = stream_on(reader, recorded->device, recorded->context, recorded->stream);
    *LE_READER_PUSH(reader, &reader->index->operations) = operation;
}

static void read_set(struct le_reader *reader, const void *record, size_t size_bytes) {
    const struct le_trace_set *recorded = record;
    struct le_operation operation = {.bytes = recorded->bytes,
                                     .call = (int32_t)recorded->correlation,
                                     .graph = recorded->graph,
                                     .kind = LE_OPERATION_SET};
    (void)size_bytes;
    if (!set_times(reader, recorded->start_ns, recorded->end_ns, &operation.start_ns, &operation.end_ns))
        return;
    operation.name = fixed_text(reader, "[set]");
    operation.shape = shape_of(reader, &(struct le_shape){.to = LE_TRACE_ON_DEVICE});
    operation.stream = stream_on(reader, recorded->device, recorded->context, recorded->stream);
    *LE_READER_PUSH(reader, &reader->index->operations) = operation;
}

static void read_graph(struct le_reader *reader, const void *record, size_t size_bytes) {
    const struct le_trace_graph *recorded = record;
    struct le_operation operation = {
        .call = (int32_t)recorded->correlation, .graph = recorded->graph, .kind = LE_OPERATION_GRAPH};
    (void)size_bytes;
    if (!set_times(reader, recorded->start_ns, recorded->end_ns, &operation.start_ns, &operation.end_ns))
        return;
    operation.name = fixed_text(reader, "[graph]");
    operation.shape = shape_of(reader, &(struct le_shape){0});
    operation.stream = stream_on(reader, recorded->device, recorded->context, recorded->stream);
    *LE_READER_PUSH(reader, &reader->index->operations) = operation;
}

/* ---- about the recording */

static void read_switch(struct le_reader *reader, const void *record, size_t size_bytes) {
    const struct le_trace_switch *recorded = record;
    struct le_reader_part *part = &reader->part;
    uint64_t time_ns = shared_time(reader, recorded->time_ns);
    (void)size_bytes;
    if (time_ns == 0) {
        part->timeless++;
        return;
    }
    if (!recorded->is_on) {
        process_of(reader)->is_switched |= !part->on_ns;
        part->off_ns = part->off_ns ? part->off_ns : time_ns;
        return;
    }
    if (!part->on_ns)
        part->on_ns = time_ns;
    else if (part->off_ns && part->off_ns < time_ns)
        *LE_READER_PUSH(reader, &reader->index->pauses) =
            (struct le_pause){.start_ns = part->off_ns, .end_ns = time_ns, .process = part->process};
    part->off_ns = 0;
}

static void read_note(struct le_reader *reader, const void *record, size_t size_bytes) {
    const struct le_trace_note *note = record;
    (void)size_bytes;
    if (note->text)
        le_reader_note(reader, "%s", reader->index->texts.at[text_of(reader, note->text)]);
}

static void read_lost(struct le_reader *reader, const void *record, size_t size_bytes) {
    static const char *const reasons[] = {"", "CUPTI had no room for them", "the size limit was reached",
                                          "memory ran out", "the disk was full"};
    const struct le_trace_lost *lost = record;
    (void)size_bytes;
    if (__builtin_add_overflow(reader->index->lost, lost->records, &reader->index->lost))
        reader->index->lost = UINT64_MAX;
    const char *reason = lost->reason < ARRAY_LEN(reasons) ? reasons[lost->reason] : "";
    unsigned process = (unsigned)process_of(reader)->id;
    if (lost->records)
        le_reader_note(reader, "process %u: %llu records were lost%s%s", process, (unsigned long long)lost->records,
                       *reason ? ": " : "", reason);
    else
        le_reader_note(reader, "process %u: records were lost%s%s", process, *reason ? ": " : "", reason);
}

static void read_end(struct le_reader *reader, const void *record, size_t size_bytes) {
    const struct le_trace_end *end = record;
    struct le_process *process = process_of(reader);
    uint64_t time_ns = shared_time(reader, end->time_ns);
    (void)size_bytes;
    process->ended = true;
    process->recorder_ns = end->recorder_ns;
    if (time_ns && !reader->part.off_ns)
        le_reader_extend(reader, time_ns, time_ns);
}

/* ---- the table of kinds */

static const struct {
    size_t size_bytes;
    void (*read)(struct le_reader *reader, const void *record, size_t size_bytes);
} kinds[LE_TRACE_KINDS] = {
    [LE_TRACE_STRING] = {sizeof(struct le_trace_string), read_string},
    [LE_TRACE_PROCESS] = {sizeof(struct le_trace_process), read_process},
    [LE_TRACE_DEVICE] = {offsetof(struct le_trace_device, uuid), read_device},
    [LE_TRACE_CONTEXT] = {sizeof(struct le_trace_context), read_context},
    [LE_TRACE_STREAM] = {sizeof(struct le_trace_stream), read_stream},
    [LE_TRACE_THREAD] = {sizeof(struct le_trace_thread), read_thread},
    [LE_TRACE_SOURCE] = {sizeof(struct le_trace_source), read_source},
    [LE_TRACE_CALL] = {sizeof(struct le_trace_call), read_call},
    [LE_TRACE_ORIGIN] = {sizeof(struct le_trace_origin), read_origin},
    [LE_TRACE_KERNEL] = {sizeof(struct le_trace_kernel), read_kernel},
    [LE_TRACE_COPY] = {sizeof(struct le_trace_copy), read_copy},
    [LE_TRACE_SET] = {sizeof(struct le_trace_set), read_set},
    [LE_TRACE_GRAPH] = {sizeof(struct le_trace_graph), read_graph},
    [LE_TRACE_TRANSFER] = {sizeof(struct le_trace_transfer), read_transfer},
    [LE_TRACE_SYNC] = {sizeof(struct le_trace_sync), read_sync},
    [LE_TRACE_MEMORY] = {sizeof(struct le_trace_memory), read_memory},
    [LE_TRACE_OVERHEAD] = {sizeof(struct le_trace_overhead), read_overhead},
    [LE_TRACE_JIT] = {sizeof(struct le_trace_jit), read_jit},
    [LE_TRACE_RANGE] = {sizeof(struct le_trace_range), read_range},
    [LE_TRACE_SWITCH] = {sizeof(struct le_trace_switch), read_switch},
    [LE_TRACE_NOTE] = {sizeof(struct le_trace_note), read_note},
    [LE_TRACE_LOST] = {sizeof(struct le_trace_lost), read_lost},
    [LE_TRACE_END] = {sizeof(struct le_trace_end), read_end},
};

void le_reader_records(struct le_reader *reader, const unsigned char *bytes, size_t size_bytes) {
    struct le_trace_record head;
    while (size_bytes >= sizeof head) {
        memcpy(&head, bytes, sizeof head);
        if (head.bytes < sizeof head || head.bytes > size_bytes || head.bytes % 8) {
            reader->part.malformed++;
            return;
        }
        size_t body_bytes = head.bytes - sizeof head;
        if (head.kind < LE_TRACE_KINDS && kinds[head.kind].read) {
            if (body_bytes >= kinds[head.kind].size_bytes)
                kinds[head.kind].read(reader, bytes + sizeof head, body_bytes);
            else
                reader->part.malformed++;
        }
        bytes += head.bytes;
        size_bytes -= head.bytes;
    }
}
