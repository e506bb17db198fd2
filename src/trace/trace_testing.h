/* Builds trace files for tests, record by record, as the recorder would write them. Times are nanoseconds. Numbers of
 * texts, sources and calls are assigned automatically. Errors end the test.
 *
 *     struct le_made_trace made = {0};
 *     le_made_part(&made, 100);
 *     le_made_device(&made, 0, "H200", 132);
 *     uint32_t call = le_made_call(&made, 7, "cudaLaunchKernel", 1000, 3000);
 *     le_made_kernel(&made, call, 13, "saxpy", 4000, 2000, 132, 256);
 *     struct le_trace_index *index = le_made_index(&made);
 *     ...
 *     le_trace_free(index);
 *     le_made_finish(&made); */
#ifndef LE_TRACE_TESTING_H
#define LE_TRACE_TESTING_H
#include "base/hash.h"
#include "trace/index.h"
#include "trace/read.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LE_MADE_TEXTS = 256, LE_MADE_CONTEXT = 1, LE_MADE_NULL_STREAM = 7 };

struct le_made_bytes {
    unsigned char *at;
    size_t length, capacity;
};
struct le_made_trace {
    struct le_made_bytes file, block; /* block: records that are not written to the file yet */
    const char *texts[LE_MADE_TEXTS]; /* of the current part; a text's number is its position plus one */
    uint32_t text_count, source_count, correlation;
    uint64_t blocks;
    uint32_t device; /* on which operations run; 0 by default */
    uint8_t uuid;    /* the first and last byte of the devices' UUIDs; 0: devices have none */
};

static inline void le_made_require(bool holds) {
    if (!holds) {
        fputs("trace_testing.h: cannot go on\n", stderr);
        abort();
    }
}

static inline void le_made_add(struct le_made_bytes *bytes, const void *from, size_t length) {
    if (length == 0)
        return;
    if (bytes->length + length > bytes->capacity) {
        bytes->capacity = 2 * (bytes->length + length);
        bytes->at = realloc(bytes->at, bytes->capacity);
        le_made_require(bytes->at != NULL);
    }
    memcpy(bytes->at + bytes->length, from, length);
    bytes->length += length;
}

/* Ends the block; further records go into a new one. */
static inline void le_made_flush(struct le_made_trace *made) {
    struct le_trace_block head = {
        .magic = LE_TRACE_BLOCK_MAGIC, .bytes = (uint32_t)made->block.length, .number = made->blocks};
    if (made->block.length == 0)
        return;
    head.checksum = le_hash(made->block.at, made->block.length, head.number);
    le_made_add(&made->file, &head, sizeof head);
    le_made_add(&made->file, made->block.at, made->block.length);
    made->block.length = 0;
    made->blocks++;
}

/* Adds a record of any kind, with more bytes after its structure. */
static inline void le_made_record_with(struct le_made_trace *made, enum le_trace_kind kind, const void *body,
                                       size_t body_bytes, const void *more, size_t more_bytes) {
    static const unsigned char zeros[8];
    size_t padding = (8 - (body_bytes + more_bytes) % 8) % 8;
    struct le_trace_record head = {.kind = (uint16_t)kind,
                                   .bytes = (uint32_t)(sizeof head + body_bytes + more_bytes + padding)};
    if (made->block.length + head.bytes > LE_TRACE_BLOCK_MOST_BYTES)
        le_made_flush(made);
    le_made_add(&made->block, &head, sizeof head);
    le_made_add(&made->block, body, body_bytes);
    le_made_add(&made->block, more, more_bytes);
    le_made_add(&made->block, zeros, padding);
}
#define LE_MADE_RECORD(made, kind, body) le_made_record_with((made), (kind), &(body), sizeof(body), "", 0)

/* Begins the part of a process, to which the following records belong. All parts have the same clock. */
static inline void le_made_part(struct le_made_trace *made, uint32_t process) {
    struct le_trace_header header = {.version = LE_TRACE_VERSION, .header_bytes = sizeof header, .process = process};
    memcpy(header.magic, LE_TRACE_MAGIC, sizeof header.magic);
    le_made_flush(made);
    header.unix_ns = 1;
    header.time_ns = 1;
    header.checksum = le_hash(&header, offsetof(struct le_trace_header, checksum), 0);
    le_made_add(&made->file, &header, sizeof header);
    made->text_count = made->source_count = 0;
    made->blocks = 0;
}

/* The number of a text. The caller keeps the string, which must not change. */
static inline uint32_t le_made_text(struct le_made_trace *made, const char *text) {
    for (uint32_t k = 0; k < made->text_count; k++)
        if (strcmp(made->texts[k], text) == 0)
            return k + 1;
    le_made_require(made->text_count < LE_MADE_TEXTS);
    made->texts[made->text_count] = text;
    struct le_trace_string string = {.id = ++made->text_count, .length = (uint32_t)strlen(text)};
    le_made_record_with(made, LE_TRACE_STRING, &string, sizeof string, text, string.length);
    return string.id;
}

static inline void le_made_process(struct le_made_trace *made, const char *command, const char *language) {
    struct le_trace_process process = {.cupti_version = 130000, .driver_version = 13000};
    process.command = le_made_text(made, command);
    process.language = language ? le_made_text(made, language) : 0;
    LE_MADE_RECORD(made, LE_TRACE_PROCESS, process);
}

/* Adds a device like an H200, except for its multiprocessors, and a context on it with its null stream. */
static inline void le_made_device(struct le_made_trace *made, uint32_t id, const char *name, uint32_t multiprocessors) {
    struct le_trace_device device = {.id = id,
                                     .name = le_made_text(made, name),
                                     .capability_major = 9,
                                     .multiprocessors = multiprocessors,
                                     .warp_threads = 32,
                                     .multiprocessor_threads = 2048,
                                     .multiprocessor_blocks = 32,
                                     .multiprocessor_registers = 65536,
                                     .block_registers = 65536,
                                     .multiprocessor_shared_bytes = 233472,
                                     .block_shared_bytes = 232448,
                                     .clock_khz = 1980000,
                                     .copy_engines = 3,
                                     .memory_bytes = (uint64_t)141 << 30,
                                     .bandwidth = 4800000000000};
    struct le_trace_context context = {.id = LE_MADE_CONTEXT + id, .device = id, .null_stream = LE_MADE_NULL_STREAM};
    device.uuid[0] = device.uuid[LE_TRACE_UUID_BYTES - 1] = made->uuid;
    size_t size_bytes = made->uuid
                            ? sizeof device
                            : offsetof(struct le_trace_device, uuid); /* without one, the record has the older form */
    le_made_record_with(made, LE_TRACE_DEVICE, &device, size_bytes, "", 0);
    LE_MADE_RECORD(made, LE_TRACE_CONTEXT, context);
    made->device = id;
}

static inline void le_made_thread(struct le_made_trace *made, uint32_t id, const char *name) {
    struct le_trace_thread thread = {.id = id, .name = le_made_text(made, name)};
    LE_MADE_RECORD(made, LE_TRACE_THREAD, thread);
}

/* Adds a line of Python. parent: an earlier source, or 0. */
static inline uint32_t le_made_source(struct le_made_trace *made, const char *function, const char *file, uint32_t line,
                                      uint32_t parent) {
    struct le_trace_source source = {.parent = parent, .line = line, .language = LE_TRACE_PYTHON};
    source.function = le_made_text(made, function);
    source.file = le_made_text(made, file);
    source.id = ++made->source_count;
    LE_MADE_RECORD(made, LE_TRACE_SOURCE, source);
    return source.id;
}

static inline void le_made_origin(struct le_made_trace *made, uint32_t correlation, uint32_t source) {
    struct le_trace_origin origin = {.correlation = correlation, .source = source};
    LE_MADE_RECORD(made, LE_TRACE_ORIGIN, origin);
}

/* Adds a call of the runtime ("cuda...") or the driver ("cu...") and returns its correlation. */
static inline uint32_t le_made_call(struct le_made_trace *made, uint32_t thread, const char *function,
                                    uint64_t start_ns, uint64_t duration_ns) {
    struct le_trace_call call = {.start_ns = start_ns,
                                 .end_ns = start_ns + duration_ns,
                                 .correlation = ++made->correlation,
                                 .thread = thread,
                                 .function = le_made_text(made, function)};
    call.library = strncmp(function, "cuda", 4) == 0 ? LE_TRACE_RUNTIME : LE_TRACE_DRIVER;
    LE_MADE_RECORD(made, LE_TRACE_CALL, call);
    return call.correlation;
}

/* The same with a source; 0: none. */
static inline uint32_t le_made_call_from(struct le_made_trace *made, uint32_t thread, const char *function,
                                         uint64_t start_ns, uint64_t duration_ns, uint32_t source) {
    uint32_t correlation = le_made_call(made, thread, function, start_ns, duration_ns);
    if (source)
        le_made_origin(made, correlation, source);
    return correlation;
}

/* A kernel with a one-dimensional grid, 32 registers per thread and no shared memory. */
static inline struct le_trace_kernel le_made_kernel_of(struct le_made_trace *made, uint32_t correlation,
                                                       uint32_t stream, const char *name, uint64_t start_ns,
                                                       uint64_t duration_ns, uint32_t blocks, uint32_t threads) {
    return (struct le_trace_kernel){.start_ns = start_ns,
                                    .end_ns = start_ns + duration_ns,
                                    .correlation = correlation,
                                    .name = le_made_text(made, name),
                                    .device = made->device,
                                    .context = LE_MADE_CONTEXT + made->device,
                                    .stream = stream,
                                    .grid = {blocks, 1, 1},
                                    .block = {threads, 1, 1},
                                    .registers = 32};
}

static inline void le_made_kernel(struct le_made_trace *made, uint32_t correlation, uint32_t stream, const char *name,
                                  uint64_t start_ns, uint64_t duration_ns, uint32_t blocks, uint32_t threads) {
    struct le_trace_kernel kernel =
        le_made_kernel_of(made, correlation, stream, name, start_ns, duration_ns, blocks, threads);
    LE_MADE_RECORD(made, LE_TRACE_KERNEL, kernel);
}

/* host: the kind of host memory (LE_TRACE_PAGEABLE, ...); ignored for copies between devices. */
static inline void le_made_copy(struct le_made_trace *made, uint32_t correlation, uint32_t stream,
                                enum le_trace_direction direction, enum le_trace_memory_kind host, bool is_async,
                                uint64_t bytes, uint64_t start_ns, uint64_t duration_ns) {
    bool from_host = direction == LE_TRACE_HTOD || direction == LE_TRACE_HTOH;
    bool to_host = direction == LE_TRACE_DTOH || direction == LE_TRACE_HTOH;
    struct le_trace_copy copy = {.start_ns = start_ns,
                                 .end_ns = start_ns + duration_ns,
                                 .bytes = bytes,
                                 .correlation = correlation,
                                 .device = made->device,
                                 .context = LE_MADE_CONTEXT + made->device,
                                 .stream = stream,
                                 .direction = (uint8_t)direction,
                                 .from = (uint8_t)(from_host ? host : LE_TRACE_ON_DEVICE),
                                 .to = (uint8_t)(to_host ? host : LE_TRACE_ON_DEVICE),
                                 .is_async = is_async};
    LE_MADE_RECORD(made, LE_TRACE_COPY, copy);
}

static inline void le_made_set(struct le_made_trace *made, uint32_t correlation, uint32_t stream, uint64_t bytes,
                               uint64_t start_ns, uint64_t duration_ns) {
    struct le_trace_set set = {.start_ns = start_ns,
                               .end_ns = start_ns + duration_ns,
                               .bytes = bytes,
                               .correlation = correlation,
                               .device = made->device,
                               .context = LE_MADE_CONTEXT + made->device,
                               .stream = stream};
    LE_MADE_RECORD(made, LE_TRACE_SET, set);
}

static inline void le_made_graph(struct le_made_trace *made, uint32_t correlation, uint32_t stream, uint32_t graph,
                                 uint64_t start_ns, uint64_t duration_ns) {
    struct le_trace_graph launched = {.start_ns = start_ns,
                                      .end_ns = start_ns + duration_ns,
                                      .correlation = correlation,
                                      .device = made->device,
                                      .context = LE_MADE_CONTEXT + made->device,
                                      .stream = stream,
                                      .graph = graph};
    LE_MADE_RECORD(made, LE_TRACE_GRAPH, launched);
}

static inline void le_made_transfer(struct le_made_trace *made, uint32_t correlation, uint64_t host, uint64_t device,
                                    uint64_t bytes, uint64_t sample) {
    struct le_trace_transfer transfer = {
        .correlation = correlation, .host = host, .device = device, .bytes = bytes, .sample = sample};
    LE_MADE_RECORD(made, LE_TRACE_TRANSFER, transfer);
}

static inline void le_made_sync(struct le_made_trace *made, uint32_t correlation, enum le_trace_sync_kind kind,
                                uint32_t stream, uint64_t start_ns, uint64_t duration_ns) {
    struct le_trace_sync sync = {.start_ns = start_ns,
                                 .end_ns = start_ns + duration_ns,
                                 .correlation = correlation,
                                 .kind = kind,
                                 .context = LE_MADE_CONTEXT + made->device,
                                 .stream = stream,
                                 .event = 0xffffffffu};
    LE_MADE_RECORD(made, LE_TRACE_SYNC, sync);
}

static inline void le_made_memory(struct le_made_trace *made, uint32_t correlation,
                                  enum le_trace_memory_operation operation, uint64_t address, uint64_t bytes,
                                  uint64_t time_ns) {
    struct le_trace_memory memory = {.time_ns = time_ns,
                                     .address = address,
                                     .bytes = bytes,
                                     .correlation = correlation,
                                     .device = made->device,
                                     .context = LE_MADE_CONTEXT + made->device,
                                     .operation = (uint8_t)operation,
                                     .where = LE_TRACE_ON_DEVICE};
    LE_MADE_RECORD(made, LE_TRACE_MEMORY, memory);
}

static inline void le_made_overhead(struct le_made_trace *made, uint32_t thread, enum le_trace_overhead_kind kind,
                                    uint64_t start_ns, uint64_t duration_ns) {
    struct le_trace_overhead overhead = {
        .start_ns = start_ns, .end_ns = start_ns + duration_ns, .thread = thread, .kind = kind};
    LE_MADE_RECORD(made, LE_TRACE_OVERHEAD, overhead);
}

/* entry, operation: CUPTI's numbers; see format.h. */
static inline void le_made_jit(struct le_made_trace *made, uint32_t thread, uint32_t entry, uint32_t operation,
                               uint64_t cache_bytes, uint64_t start_ns, uint64_t duration_ns) {
    struct le_trace_jit jit = {.start_ns = start_ns,
                               .end_ns = start_ns + duration_ns,
                               .thread = thread,
                               .entry = entry,
                               .operation = operation,
                               .cache_bytes = cache_bytes};
    LE_MADE_RECORD(made, LE_TRACE_JIT, jit);
}

static inline void le_made_range(struct le_made_trace *made, uint32_t thread, const char *name, uint64_t start_ns,
                                 uint64_t duration_ns) {
    struct le_trace_range range = {.start_ns = start_ns, .end_ns = start_ns + duration_ns, .thread = thread};
    range.name = le_made_text(made, name);
    LE_MADE_RECORD(made, LE_TRACE_RANGE, range);
}

static inline void le_made_switch(struct le_made_trace *made, uint64_t time_ns, bool is_on) {
    struct le_trace_switch turned = {.time_ns = time_ns, .is_on = is_on};
    LE_MADE_RECORD(made, LE_TRACE_SWITCH, turned);
}

static inline void le_made_end(struct le_made_trace *made, uint64_t time_ns, uint64_t recorder_ns) {
    struct le_trace_end end = {.time_ns = time_ns, .recorder_ns = recorder_ns};
    LE_MADE_RECORD(made, LE_TRACE_END, end);
}

/* Makes a file with these bytes. It can be opened by its path as long as the returned descriptor is open. */
static inline int le_made_open(const unsigned char *bytes, size_t size_bytes, char path[64]) {
    int fd = memfd_create("trace", MFD_CLOEXEC);
    le_made_require(fd >= 0);
    for (size_t done = 0; done < size_bytes;) {
        ssize_t some = write(fd, bytes + done, size_bytes - done);
        le_made_require(some > 0);
        done += (size_t)some;
    }
    snprintf(path, 64, "/proc/self/fd/%d", fd);
    return fd;
}

static inline leat_status le_made_read(const unsigned char *bytes, size_t size_bytes, struct le_trace_index **index) {
    char path[64];
    int fd = le_made_open(bytes, size_bytes, path);
    leat_status status = le_trace_read(path, index);
    close(fd);
    return status;
}

/* Reads everything that was added so far. */
static inline struct le_trace_index *le_made_index(struct le_made_trace *made) {
    struct le_trace_index *index;
    le_made_flush(made);
    le_made_require(le_made_read(made->file.at, made->file.length, &index) == LEAT_OK);
    return index;
}

static inline void le_made_save(struct le_made_trace *made, const char *path) {
    le_made_flush(made);
    FILE *file = fopen(path, "wb");
    le_made_require(file && fwrite(made->file.at, 1, made->file.length, file) == made->file.length);
    le_made_require(fclose(file) == 0);
}

static inline void le_made_finish(struct le_made_trace *made) {
    free(made->file.at);
    free(made->block.at);
    *made = (struct le_made_trace){0};
}
#endif
