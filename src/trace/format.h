/* The trace file format, which the recorder writes and the reader reads. Nothing else is shared between the two.
 *
 * A file is a sequence of *parts*, one for each process, so parts are gathered by appending them. A part is a header
 * followed by blocks. A block is a head followed by records. A record is a head followed by a structure of its kind,
 * below. Everything is little-endian, and every head and structure is a multiple of 8 bytes long. Whole blocks are
 * appended, each with its own checksum, so after a crash everything up to the last whole block is intact. Readers skip
 * unknown kinds of records, and extra bytes after a known structure (later versions append fields).
 *
 * Times are nanoseconds of CUPTI's clock (cuptiGetTimestamp), which host and device share; 0 means unknown. A text is
 * the number of a STRING record (0: none). STRING and SOURCE records precede their uses. Numbers of texts, sources,
 * correlations, threads and streams are valid only within their part. */
#ifndef LE_FORMAT_H
#define LE_FORMAT_H
#include <stddef.h>
#include <stdint.h>

#define LE_TRACE_MAGIC "LEATTRC\n"
enum { LE_TRACE_VERSION = 1, LE_TRACE_BLOCK_MAGIC = 0x4b4c424c, LE_TRACE_BLOCK_MOST_BYTES = 1 << 20 };

struct le_trace_header {
    char magic[8];
    uint32_t version, header_bytes; /* header_bytes: from here to the first block */
    uint32_t process, parent;       /* process IDs of the operating system */
    uint64_t unix_ns, time_ns;      /* the same moment on the wall clock and on the trace's clock */
    uint64_t checksum;              /* le_hash of the preceding bytes, seed 0 */
};

struct le_trace_block {
    uint32_t magic, bytes; /* bytes: of the records that follow; at most LE_TRACE_BLOCK_MOST_BYTES */
    uint64_t number;       /* 0, 1, ... within the part */
    uint64_t checksum;     /* le_hash of the records; the seed is the block's number */
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
    uint32_t bytes; /* including this head; a multiple of 8 */
};

struct le_trace_string {
    uint32_t id, length; /* length bytes of UTF-8 follow, and zeros up to a multiple of 8 */
};

/* The first record of a part other than STRING, once. */
struct le_trace_process {
    uint32_t command, language;             /* texts: the command line; "Python 3.11.7", or none */
    uint32_t cupti_version, driver_version; /* as reported by the libraries: 130000 or 26; 13000; 0: none */
    uint32_t host, unused; /* host: text with the processor and number of cores, "AMD EPYC 9B45, 16 cores" */
};

/* Limits are the device's own; 0: unknown. The number is valid within the process only: with CUDA_VISIBLE_DEVICES,
 * device 0 may be a different device in each process. */
enum { LE_TRACE_UUID_BYTES = 16 };
struct le_trace_device {
    uint32_t id, name;
    uint32_t capability_major, capability_minor, multiprocessors, warp_threads;
    uint32_t multiprocessor_threads, multiprocessor_blocks, multiprocessor_registers, block_registers;
    uint32_t multiprocessor_shared_bytes, block_shared_bytes;
    uint32_t clock_khz, copy_engines;
    uint64_t memory_bytes;
    uint64_t bandwidth; /* of its memory, in bytes per second */
    /* Missing in older traces. */
    uint8_t uuid[LE_TRACE_UUID_BYTES]; /* of the device or the MIG instance; zeros: unknown */
};

struct le_trace_context {
    uint32_t id, device, null_stream, unused;
};

struct le_trace_stream {
    uint32_t id, context, flags, priority;
};
enum { LE_TRACE_STREAM_DEFAULT = 1, LE_TRACE_STREAM_NON_BLOCKING = 2 }; /* flags */

struct le_trace_thread {
    uint32_t id, name; /* id: the operating system's thread ID */
};

/* A source line (or a symbol in a native module), and its caller. */
struct le_trace_source {
    uint32_t id, parent;     /* parent: the caller, an earlier source; 0: none */
    uint32_t function, file; /* texts; for native code: symbol and module */
    uint32_t line;           /* 0: unknown */
    uint32_t language;       /* enum le_trace_language */
};
enum le_trace_language { LE_TRACE_PYTHON, LE_TRACE_NATIVE };

/* A call of a driver or runtime function. A runtime call and the driver calls inside it are separate records. */
struct le_trace_call {
    uint64_t start_ns, end_ns;
    uint32_t correlation; /* identifies the work that it enqueued */
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
    uint32_t graph; /* 0: not part of a graph */
    uint64_t graph_node;
    uint32_t grid[3], block[3];
    uint32_t registers, static_shared_bytes, dynamic_shared_bytes,
        local_bytes; /* per thread, per block, per block, per thread */
};

enum le_trace_memory_kind { /* the kind of memory at one end of a copy */
                            LE_TRACE_UNKNOWN,
                            LE_TRACE_PAGEABLE,
                            LE_TRACE_PINNED,
                            LE_TRACE_ON_DEVICE,
                            LE_TRACE_ARRAY, /* of a texture */
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

/* A launch of a whole graph whose nodes are not recorded one by one. */
struct le_trace_graph {
    uint64_t start_ns, end_ns;
    uint32_t correlation;
    uint32_t device, context, stream;
    uint32_t graph, unused;
};

/* The arguments of a call that copies. */
struct le_trace_transfer {
    uint32_t correlation, unused;
    uint64_t host, device; /* addresses; 0: not on that side */
    uint64_t bytes;
    uint64_t sample; /* a hash of some of the host's bytes, taken when they were certainly valid; 0: none */
};

enum le_trace_sync_kind {
    LE_TRACE_SYNC_EVENT = 1,    /* the host waits for an event */
    LE_TRACE_SYNC_STREAM_EVENT, /* a stream waits for an event */
    LE_TRACE_SYNC_STREAM,
    LE_TRACE_SYNC_CONTEXT
};
#define LE_TRACE_NO_STREAM 0xffffffffu /* the same value as in CUPTI */
struct le_trace_sync {
    uint64_t start_ns, end_ns;
    uint32_t correlation, kind;
    uint32_t context, stream; /* stream: the one that is waited for, or that waits; or LE_TRACE_NO_STREAM */
    uint32_t event, unused;   /* event: 0; CUPTI's number in older traces */
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
    LE_TRACE_OVERHEAD_COMPILER, /* in the driver */
    LE_TRACE_OVERHEAD_FLUSH,    /* CUPTI's buffers */
    LE_TRACE_OVERHEAD_INSTRUMENT,
    LE_TRACE_OVERHEAD_RESOURCE,
    LE_TRACE_OVERHEAD_LAZY_LOADING,
    LE_TRACE_OVERHEAD_QUEUE_FULL
};
struct le_trace_overhead {
    uint64_t start_ns, end_ns;
    uint32_t thread, kind;
};

/* Code that the driver compiled or loaded from its cache. */
struct le_trace_jit {
    uint64_t start_ns, end_ns;
    uint32_t correlation, thread;
    uint32_t entry, operation; /* CUPTI's numbers. entry: 1 PTX to cubin, 2 NVVM IR to PTX. operation: 1 load from
                                  cache, 2 store, 3 compile */
    uint64_t cache_bytes;
};

struct le_trace_range { /* NVTX */
    uint64_t start_ns, end_ns;
    uint32_t thread, name;
    uint32_t domain, unused;
};

struct le_trace_switch { /* cuProfilerStart or cuProfilerStop was called, or recording began */
    uint64_t time_ns;
    uint32_t is_on, unused;
};

struct le_trace_note {
    uint32_t text, unused;
};

enum le_trace_loss { LE_TRACE_LOST_CUPTI = 1, LE_TRACE_LOST_LIMIT, LE_TRACE_LOST_MEMORY, LE_TRACE_LOST_DISK };
struct le_trace_lost {
    uint64_t records; /* how many; 0: unknown */
    uint32_t reason, unused;
};

/* The last record of a part whose process ended normally. */
struct le_trace_end {
    uint64_t time_ns;
    uint64_t recorder_ns; /* time that the recorder took in the program's own threads */
};

/* Totals of the launches that were captured into graphs and recorded with their origins. The record comes right before
 * END, if there were any. */
struct le_trace_captures {
    uint64_t launches;
    uint64_t time_ns;      /* CPU time of the capturing threads, from the beginning to the end of each capture */
    uint64_t recording_ns; /* the estimated part of time_ns that recording took */
};
#endif
