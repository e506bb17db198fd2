/* What the files that make an index share: the reader's state, in which a part is read record by record
 * (read_records.c), then linked and sorted (read_link.c). Memory that runs out leaves by longjmp to arena->failure. */
#ifndef LE_TRACE_READER_H
#define LE_TRACE_READER_H
#include "base/arena.h"
#include "base/hash.h"
#include "base/status.h"
#include "trace/id_map.h"
#include "trace/index.h"
#include "trace/position_set.h"

struct le_trace_origins {
    struct le_trace_origin *at;
    int32_t count;
    int64_t capacity;
};

/* Of the part's transfers, one for each. */
struct le_reader_correlations {
    uint32_t *at;
    int32_t count;
    int64_t capacity;
};

/* A context as its record tells it. */
struct le_reader_context {
    uint32_t device, null_stream;
};
struct le_reader_contexts {
    struct le_reader_context *at;
    int32_t count;
    int64_t capacity;
};

/* One process' part. Until it is linked its operations, calls, waits and memory events hold correlations: in
 * le_operation.call, le_call.operation, le_wait.call and le_memory_event.call; and waits contexts in le_wait.device. */
struct le_reader_part {
    bool is_open;
    int32_t process;
    struct le_id_map texts, sources, threads, contexts, streams, devices; /* this part's numbers to positions */
    struct le_id_map used;                                                /* positions of devices to those of uses */
    struct le_reader_contexts context_list;
    struct le_trace_origins origins;
    struct le_reader_correlations correlations;
    int32_t first_operation, first_call, first_transfer, first_wait, first_memory, first_stream, first_range,
        first_pause, first_device;
    uint64_t next_block, blocks_missing, damaged_bytes;
    uint64_t start_ns, end_ns; /* of its records; start UINT64_MAX: none yet */
    uint64_t on_ns, off_ns;    /* first switched on; switched off since; 0: not */
    uint64_t malformed, timeless;
};

struct le_reader {
    struct le_trace_index *index;
    struct le_arena *arena; /* of texts */
    struct le_position_set texts, shapes;
    struct le_id_map functions, kinds; /* by texts' positions */
    struct le_id_map labels;           /* how many devices are called the same */
    struct le_reader_part part;
    int64_t clock_base_ns; /* the first part's calendar less its clock */
    bool has_base;
    int32_t *new_positions; /* where rows went, while all parts are sorted */
    leat_status status;     /* why it left by arena->failure */
};

void *le_reader_grow(struct le_reader *reader, void *at, int32_t count, int64_t *capacity, size_t size_bytes);
#define LE_READER_PUSH(reader, table)                                                                                  \
    ((table)->at = le_reader_grow((reader), (table)->at, (table)->count, &(table)->capacity, sizeof *(table)->at),     \
     &(table)->at[(table)->count++])
void le_reader_put(struct le_reader *reader, struct le_id_map *map, uint64_t id, int32_t position);
void le_reader_add(struct le_reader *reader, struct le_position_set *set, uint32_t hash, int32_t position);
_Noreturn void le_reader_fail(struct le_reader *reader, leat_status status);
/* The position of a text with these bytes, made fit to print. */
int32_t le_reader_text(struct le_reader *reader, const char *text, size_t length);
void le_reader_note(struct le_reader *reader, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The part lasts at least so long. */
void le_reader_extend(struct le_reader *reader, uint64_t start_ns, uint64_t end_ns);
/* All records of a block. */
void le_reader_records(struct le_reader *reader, const unsigned char *bytes, size_t size_bytes);
/* Calls are left outermost, everything knows its call, and operations and calls of the part are sorted. */
void le_reader_link(struct le_reader *reader);
/* Sorts whole tables, after the last part. */
void le_reader_sort(struct le_reader *reader, int32_t parts);
#endif
