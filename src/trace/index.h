/* An indexed trace in memory, from which reports and findings are made. le_trace_read (read.h) makes it; it never
 * changes afterwards, so any number of threads may read it. References are positions in its own tables; LE_NONE: no
 * such entry.
 *
 * *Operations* are what devices did: kernels, copies, sets and whole graphs. *Calls* are the host's calls of the driver
 * or the runtime, only the outermost ones: driver calls inside a runtime call are left out. Both are sorted by start.
 * An operation refers to its call, a call to the first of its operations.
 *
 * Texts have no control characters; equal texts have the same position. Names of functions lack CUPTI's version
 * ("_v7000"). Records without times are left out, and nothing ends before it starts. */
#ifndef LE_INDEX_H
#define LE_INDEX_H
#include "trace/format.h"
#include <stdbool.h>

enum { LE_NONE = -1 };

enum le_operation_kind { LE_OPERATION_KERNEL, LE_OPERATION_COPY, LE_OPERATION_SET, LE_OPERATION_GRAPH };

/* Shared by operations with the same values: a kernel's launch parameters, or the two ends of a copy. */
struct le_shape {
    uint32_t grid[3], block[3];
    uint32_t registers, static_shared_bytes, dynamic_shared_bytes, local_bytes;
    uint8_t direction, from, to, is_async; /* of copies */
};

struct le_operation {
    uint64_t start_ns, end_ns;
    uint64_t bytes; /* of copies and sets */
    int32_t name;   /* text; for all but kernels: "[copy host to device]", "[set]", "[graph]", ... */
    int32_t shape, stream, call;
    uint8_t kind;
    uint32_t graph; /* the graph that was launched, or that a node belongs to; 0: none, or unknown */
};

enum le_call_kind { /* how the rules see a call, by the name of its function (call_kinds.def) */
                    LE_CALL_OTHER,
                    LE_CALL_LAUNCH,
                    LE_CALL_GRAPH_LAUNCH,
                    LE_CALL_GRAPH_BUILD, /* capture, add node, instantiate, update, destroy */
                    LE_CALL_COPY,
                    LE_CALL_COPY_ASYNC,
                    LE_CALL_SET,
                    LE_CALL_WAIT, /* the host waits: stream, context, event */
                    LE_CALL_QUERY,
                    LE_CALL_ORDER, /* records an event, or makes a stream wait */
                    LE_CALL_ALLOCATE,
                    LE_CALL_RELEASE,
                    LE_CALL_PIN,
                    LE_CALL_LOAD, /* modules, libraries, their functions */
                    LE_CALL_START /* cuInit, contexts */
};

struct le_call {
    uint64_t start_ns, end_ns;
    int32_t function;                  /* text */
    int32_t thread, source, operation; /* operation: the first one that it enqueued */
    int32_t transfer;                  /* if it copies */
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
    uint64_t start_ns, end_ns, recorder_ns; /* start and end of what was recorded */
    int64_t unix_offset_ns;                 /* added to the part's times so that all parts share one clock */
    bool ended, is_cut;                     /* ended: normally. is_cut: its records are damaged or incomplete */
    bool is_switched;                       /* recording began when the program switched it on */
};

struct le_host_span { /* time of the host other than calls: compiling, lazy loading, NVTX ranges */
    uint64_t start_ns, end_ns;
    int32_t thread, name;
    uint32_t kind; /* overheads: enum le_trace_overhead_kind; jits: CUPTI's operation */
    uint64_t bytes;
};

struct le_memory_event {
    uint64_t time_ns, address, bytes;
    int32_t call, device;
    uint8_t operation, where, is_async;
};

struct le_transfer { /* the arguments of a call that copies: a TRANSFER record */
    uint64_t host, device, bytes, sample;
};

struct le_device_use { /* a process has a context or work on a device; each pair occurs once */
    int32_t process, device;
};

struct le_pause { /* a period in which a process was not recorded, between two in which it was */
    uint64_t start_ns, end_ns;
    int32_t process;
};

struct le_wait { /* a SYNC record: what the host or a stream waited for */
    uint64_t start_ns, end_ns;
    int32_t call, stream; /* stream: LE_NONE for a whole context */
    int32_t device;       /* of the stream or context; LE_NONE: unknown */
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
    LE_TABLE(struct le_trace_device) devices; /* of all processes, each device once; name: position in texts */
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
    LE_TABLE(const char *) notes; /* from the recorder, and from the reader about what it could not read */
    uint64_t start_ns, end_ns;    /* of the whole trace */
    uint64_t lost;                /* records */
};
#endif
