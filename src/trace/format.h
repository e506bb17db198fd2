/* The file of a trace: what the recorder writes and the reader reads, and all that the two know of each other.
 *
 * A file is one or more *parts*, one for each process, one after the other: to gather parts is to append them. A part
 * is a header and then blocks; a block is a head and records; a record is a head and a structure of its kind below. All
 * is little-endian, every head and every structure a multiple of 8 bytes. Blocks are written whole, at the end, and
 * each has a checksum of its own: after a crash all up to the last whole block is there. A reader skips kinds of
 * records that it does not know, and what a record has beyond the structure that it knows (later versions append
 * fields).
 *
 * Times are nanoseconds of CUPTI's clock (cuptiGetTimestamp), the same for host and device; 0 is "not known". Texts are
 * numbers of STRING records (0: none), which come before they are used; so do SOURCE records. Numbers of texts,
 * sources, correlations, threads and streams are those of one part: two processes' have nothing in common. */
#ifndef LE_FORMAT_H
#define LE_FORMAT_H
#include <stddef.h>
#include <stdint.h>

#define LE_TRACE_MAGIC "LEATTRC\n"
enum { LE_TRACE_VERSION = 1, LE_TRACE_BLOCK_MAGIC = 0x4b4c424c, LE_TRACE_BLOCK_MOST_BYTES = 1 << 20 };

struct le_trace_header {
    char magic[8];
    uint32_t version, header_bytes; /* header_bytes: from here to the first block */
    uint32_t process, parent;       /* of the operating system */
    uint64_t unix_ns, time_ns;      /* one moment by the calendar's clock and by the trace's */
    uint64_t checksum;              /* le_hash of the bytes before, seed 0 */
};

struct le_trace_block {
    uint32_t magic, bytes; /* of the records that follow; at most LE_TRACE_BLOCK_MOST_BYTES */
    uint64_t number;       /* 0, 1, ... in the part */
    uint64_t checksum;     /* le_hash of the records, seed number */
};

enum le_trace_kind {
    LE_TRACE_STRING = 1,
    LE_TRACE_PROCESS,
    LE_TRACE_DEVICE,
    LE_TRACE_CONTEXT,
    LE_TRACE_STREAM,
    LE_TRACE_THREAD,
    LE_TRACE_SOURCE,
    LE_TRACE_CALL,
    LE_TRACE_ORIGIN,
    LE_TRACE_KERNEL,
    LE_TRACE_COPY,
    LE_TRACE_SET,
    LE_TRACE_GRAPH,
    LE_TRACE_TRANSFER,
    LE_TRACE_SYNC,
    LE_TRACE_MEMORY,
    LE_TRACE_OVERHEAD,
    LE_TRACE_JIT,
    LE_TRACE_RANGE,
    LE_TRACE_SWITCH,
    LE_TRACE_NOTE,
    LE_TRACE_LOST,
    LE_TRACE_END,
    LE_TRACE_CAPTURES,
    LE_TRACE_KINDS
};

struct le_trace_record {
    uint16_t kind, unused;
    uint32_t bytes; /* with this head; a multiple of 8 */
};

struct le_trace_string {
    uint32_t id, length; /* length bytes of UTF-8 follow, and zeros up to a multiple of 8 */
};

/* Once a part, first. */
struct le_trace_process {
    uint32_t command, language;             /* texts: the command line; "Python 3.11.7", or none */
    uint32_t cupti_version, driver_version; /* as the libraries tell them: 130000 or 26; 13000; 0: none */
    uint32_t host, unused;                  /* text: the machine's processor and cores, "AMD EPYC 9B45, 16 cores" */
};

/* Limits are the device's own; 0 where not told. A number is the process' own: with CUDA_VISIBLE_DEVICES two processes
 * may each call another device 0. */
enum { LE_TRACE_UUID_BYTES = 16 };
struct le_trace_device {
    uint32_t id, name;
    uint32_t capability_major, capability_minor, multiprocessors, warp_threads;
    uint32_t multiprocessor_threads, multiprocessor_blocks, multiprocessor_registers, block_registers;
    uint32_t multiprocessor_shared_bytes, block_shared_bytes;
    uint32_t clock_khz, copy_engines;
    uint64_t memory_bytes;
    uint64_t bandwidth; /* of its memory, bytes a second */
    /* Not in the traces of before. */
    uint8_t uuid[LE_TRACE_UUID_BYTES]; /* the device's own, or the MIG instance's; zeros: not told */
};

struct le_trace_context {
    uint32_t id, device, null_stream, unused;
};

struct le_trace_stream {
    uint32_t id, context, flags, priority;
};
enum { LE_TRACE_STREAM_DEFAULT = 1, LE_TRACE_STREAM_NON_BLOCKING = 2 }; /* flags */

struct le_trace_thread {
    uint32_t id, name; /* id: of the operating system */
};

/* A place in somebody's code, and who called it. */
struct le_trace_source {
    uint32_t id, parent;     /* parent: 0, or an earlier one: the caller's */
    uint32_t function, file; /* texts; of C: symbol and module */
    uint32_t line;           /* 0: not known */
    uint32_t language;       /* enum le_trace_language */
};
enum le_trace_language { LE_TRACE_PYTHON, LE_TRACE_NATIVE };

/* A call of the driver's or the runtime's functions. A runtime call and the driver calls inside of it are told each. */
struct le_trace_call {
    uint64_t start_ns, end_ns;
    uint32_t correlation; /* of what it enqueued */
    uint32_t thread, function;
    int32_t result;   /* CUDA's; 0: success */
    uint32_t library; /* enum le_trace_library */
    uint32_t unused;
};
enum le_trace_library { LE_TRACE_DRIVER, LE_TRACE_RUNTIME };

/* Where the call with this correlation was made. */
struct le_trace_origin {
    uint32_t correlation, source;
};

struct le_trace_kernel {
    uint64_t start_ns, end_ns;
    uint32_t correlation, name;
    uint32_t device, context, stream;
    uint32_t graph; /* 0: not part of one */
    uint64_t graph_node;
    uint32_t grid[3], block[3];
    uint32_t registers, static_shared_bytes, dynamic_shared_bytes,
        local_bytes; /* a thread, a block, a block, a thread */
};

enum le_trace_memory_kind { /* where bytes lie */
                            LE_TRACE_UNKNOWN,
                            LE_TRACE_PAGEABLE,
                            LE_TRACE_PINNED,
                            LE_TRACE_ON_DEVICE,
                            LE_TRACE_ARRAY, /* a texture's */
                            LE_TRACE_MANAGED
};
enum le_trace_direction { LE_TRACE_HTOD = 1, LE_TRACE_DTOH, LE_TRACE_DTOD, LE_TRACE_HTOH, LE_TRACE_PTOP };

struct le_trace_copy {
    uint64_t start_ns, end_ns, bytes;
    uint32_t correlation;
    uint32_t device, context, stream;
    uint8_t direction, from, to, is_async; /* enum le_trace_direction, le_trace_memory_kind twice, 0 or 1 */
    uint32_t graph;
    uint64_t graph_node;
};

struct le_trace_set {
    uint64_t start_ns, end_ns, bytes;
    uint32_t correlation;
    uint32_t device, context, stream;
    uint32_t value, graph;
    uint64_t graph_node;
};

/* A launch of a whole graph, where its nodes are not told one by one. */
struct le_trace_graph {
    uint64_t start_ns, end_ns;
    uint32_t correlation;
    uint32_t device, context, stream;
    uint32_t graph, unused;
};

/* What a call that copies was given. */
struct le_trace_transfer {
    uint32_t correlation, unused;
    uint64_t host, device; /* addresses; 0: there is none on that side */
    uint64_t bytes;
    uint64_t sample; /* a hash of some of the host's bytes, taken when they were sure to be there; 0: not taken */
};

enum le_trace_sync_kind {
    LE_TRACE_SYNC_EVENT = 1,    /* the host waits for an event */
    LE_TRACE_SYNC_STREAM_EVENT, /* a stream waits for an event */
    LE_TRACE_SYNC_STREAM,
    LE_TRACE_SYNC_CONTEXT
};
#define LE_TRACE_NO_STREAM 0xffffffffu /* CUPTI's, too */
struct le_trace_sync {
    uint64_t start_ns, end_ns;
    uint32_t correlation, kind;
    uint32_t context, stream; /* stream: LE_TRACE_NO_STREAM, or the one waited for, or that waits */
    uint32_t event, unused;   /* event: 0, or CUPTI's number in traces of before */
};

enum le_trace_memory_operation { LE_TRACE_ALLOCATE = 1, LE_TRACE_RELEASE };
struct le_trace_memory {
    uint64_t time_ns, address, bytes;
    uint32_t correlation;
    uint32_t device, context;
    uint8_t operation, where, is_async, unused; /* enum le_trace_memory_operation, le_trace_memory_kind, 0 or 1 */
};

enum le_trace_overhead_kind {
    LE_TRACE_OVERHEAD_OTHER,
    LE_TRACE_OVERHEAD_COMPILER, /* the driver's */
    LE_TRACE_OVERHEAD_FLUSH,    /* the profiler's buffers */
    LE_TRACE_OVERHEAD_INSTRUMENT,
    LE_TRACE_OVERHEAD_RESOURCE,
    LE_TRACE_OVERHEAD_LAZY_LOADING,
    LE_TRACE_OVERHEAD_QUEUE_FULL
};
struct le_trace_overhead {
    uint64_t start_ns, end_ns;
    uint32_t thread, kind;
};

/* Code that the driver compiled, or took from its cache. */
struct le_trace_jit {
    uint64_t start_ns, end_ns;
    uint32_t correlation, thread;
    uint32_t entry, operation; /* CUPTI's: 1 PTX to cubin, 2 NVVM IR to PTX; 1 load from cache, 2 store, 3 compile */
    uint64_t cache_bytes;
};

struct le_trace_range { /* NVTX */
    uint64_t start_ns, end_ns;
    uint32_t thread, name;
    uint32_t domain, unused;
};

struct le_trace_switch { /* cuProfilerStart and cuProfilerStop, and where recording began */
    uint64_t time_ns;
    uint32_t is_on, unused;
};

struct le_trace_note {
    uint32_t text, unused;
};

enum le_trace_loss { LE_TRACE_LOST_CUPTI = 1, LE_TRACE_LOST_LIMIT, LE_TRACE_LOST_MEMORY, LE_TRACE_LOST_DISK };
struct le_trace_lost {
    uint64_t records; /* how many; 0: not known */
    uint32_t reason, unused;
};

/* The process ended normally: the last record of its part. */
struct le_trace_end {
    uint64_t time_ns;
    uint64_t recorder_ns; /* that the recorder took in the program's own threads */
};

/* Launches that were captured into graphs and recorded with their origins. It comes right before END, if there are any.
 */
struct le_trace_captures {
    uint64_t launches;
    uint64_t time_ns;      /* processor time of the threads that captured, from begin to end */
    uint64_t recording_ns; /* an estimate of how much of it recording took */
};
#endif
