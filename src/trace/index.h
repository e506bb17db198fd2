/* A trace in memory, indexed: what reports and findings read. Made once by le_trace_read (read.h), never changed after;
 * any number of threads may read it. Numbers in it are positions in its own tables; LE_NONE where there is none.
 *
 * *Operations* are what devices did: kernels, copies, sets, whole graphs, sorted by start. *Calls* are what the host
 * asked of the driver or the runtime; only outermost ones (a runtime call's driver calls are inside of it, and not
 * told), sorted by start. An operation knows its call, a call the first of its operations.
 *
 * Texts hold no control characters; equal ones are one position. A function's is without CUPTI's version ("_v7000").
 * What has no times is left out, and no time ends before it starts. */
#ifndef LE_INDEX_H
#define LE_INDEX_H
#include "trace/format.h"
#include <stdbool.h>

enum { LE_NONE = -1 };

enum le_operation_kind { LE_OPERATION_KERNEL, LE_OPERATION_COPY, LE_OPERATION_SET, LE_OPERATION_GRAPH };

/* Equal for many: what a kernel was launched with; or a copy's ends. */
struct le_shape {
    uint32_t grid[3], block[3];
    uint32_t registers, static_shared_bytes, dynamic_shared_bytes, local_bytes;
    uint8_t direction, from, to, is_async; /* of copies */
};

struct le_operation {
    uint64_t start_ns, end_ns;
    uint64_t bytes; /* of copies and sets */
    int32_t name;   /* text; of all but kernels: "[copy host to device]", "[set]", "[graph]", ... */
    int32_t shape, stream, call;
    uint8_t kind;
    uint32_t graph; /* the number of the graph that was launched, or that a node belongs to; 0: none, or not known */
};

enum le_call_kind { /* what a call is to the rules, by its function's name (call_kinds.def) */
                    LE_CALL_OTHER,
                    LE_CALL_LAUNCH,
                    LE_CALL_GRAPH_LAUNCH,
                    LE_CALL_GRAPH_BUILD, /* capture, add node, instantiate, update, destroy */
                    LE_CALL_COPY,
                    LE_CALL_COPY_ASYNC,
                    LE_CALL_SET,
                    LE_CALL_WAIT, /* the host waits: stream, context, event */
                    LE_CALL_QUERY,
                    LE_CALL_ORDER, /* events recorded, streams that wait */
                    LE_CALL_ALLOCATE,
                    LE_CALL_RELEASE,
                    LE_CALL_PIN,
                    LE_CALL_LOAD, /* modules, libraries, functions of them */
                    LE_CALL_START /* cuInit, contexts */
};

struct le_call {
    uint64_t start_ns, end_ns;
    int32_t function;                  /* text */
    int32_t thread, source, operation; /* source: position in sources; operation: first */
    int32_t transfer;                  /* of a copy */
    int32_t result;
    uint8_t kind, library;
};

struct le_source {
    int32_t parent, function, file; /* parent: position in sources */
    int32_t line;
    uint8_t language;
};

struct le_stream {
    int32_t process, device;
    uint32_t id, context, flags;
    bool is_null;
};

struct le_thread {
    int32_t process, name;
    uint32_t id;
};

struct le_process {
    uint32_t id, parent;
    int32_t command, language, host; /* texts */
    uint32_t cupti_version, driver_version;
    uint64_t start_ns, end_ns, recorder_ns; /* of what was recorded */
    int64_t unix_offset_ns;                 /* added to this part's own times, so that all parts share one clock */
    bool ended, is_cut;                     /* in order; the file ends, or is damaged, before the part does */
    bool is_switched;                       /* recording began where the program switched it on */
};

struct le_host_span { /* what took the host's time, beside calls: compiling, lazy loading, NVTX ranges */
    uint64_t start_ns, end_ns;
    int32_t thread, name;
    uint32_t kind; /* of overheads: enum le_trace_overhead_kind; of jits: operation */
    uint64_t bytes;
};

struct le_memory_event {
    uint64_t time_ns, address, bytes;
    int32_t call, device;
    uint8_t operation, where, is_async;
};

struct le_transfer { /* what a call that copies was given: a TRANSFER record */
    uint64_t host, device, bytes, sample;
};

struct le_device_use { /* a process that has a context or work on a device; each pair once */
    int32_t process, device;
};

struct le_pause { /* when a process was not recorded, between two times when it was */
    uint64_t start_ns, end_ns;
    int32_t process;
};

struct le_wait { /* a SYNC record: whom the host, or a stream, waited for */
    uint64_t start_ns, end_ns;
    int32_t call, stream; /* stream: LE_NONE for a whole context */
    int32_t device;       /* of the stream or context; LE_NONE: not known */
    uint8_t kind;
};

#define LE_TABLE(type)                                                                                                 \
    struct {                                                                                                           \
        type *at;                                                                                                      \
        int32_t count;                                                                                                 \
        int64_t capacity;                                                                                              \
    }

struct le_trace_index {
    LE_TABLE(const char *) texts; /* NUL-terminated UTF-8; 0 is "" */
    LE_TABLE(struct le_process) processes;
    LE_TABLE(struct le_trace_device) devices; /* name: position in texts; of all processes: equal ones once */
    LE_TABLE(struct le_device_use) uses;
    LE_TABLE(struct le_stream) streams;
    LE_TABLE(struct le_thread) threads;
    LE_TABLE(struct le_shape) shapes;
    LE_TABLE(struct le_source) sources;
    LE_TABLE(struct le_operation) operations;
    LE_TABLE(struct le_call) calls;
    LE_TABLE(struct le_transfer) transfers;
    LE_TABLE(struct le_wait) waits;
    LE_TABLE(struct le_memory_event) memory;
    LE_TABLE(struct le_host_span) overheads, jits, ranges;
    LE_TABLE(struct le_pause) pauses;
    LE_TABLE(const char *) notes; /* the recorder's, and the reader's own on what it could not read */
    uint64_t start_ns, end_ns;    /* of all that was recorded */
    uint64_t lost;                /* records */
};
#endif
