/* The reader's state, shared by the files that make an index. Each part is read record by record (read_records.c), then
 * linked and sorted (read_link.c). If memory runs out, the reader jumps to arena->failure. */
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

/* The correlation of each of the part's transfers. */
struct le_reader_correlations {
    uint32_t *at;
    int32_t count;
    int64_t capacity;
};

/* A context, as its record describes it. */
struct le_reader_context {
    uint32_t device, null_stream;
};
struct le_reader_contexts {
    struct le_reader_context *at;
    int32_t count;
    int64_t capacity;
};

/* The part of one process. Until the part is linked, le_operation.call, le_call.operation, le_wait.call and
 * le_memory_event.call hold correlations, and le_wait.device holds a context. */
struct le_reader_part {
    bool is_open;
    int32_t process;
    /* From the part's numbers to positions in the index. */
    struct le_id_map texts, sources, threads, contexts, streams, devices;
    struct le_id_map used; /* from positions of devices to positions in `uses` */
    struct le_reader_contexts context_list;
    struct le_trace_origins origins;
    struct le_reader_correlations correlations;
    int32_t first_operation, first_call, first_transfer, first_wait, first_memory, first_stream, first_range,
        first_pause, first_device;
    uint64_t next_block, blocks_missing, damaged_bytes;
    uint64_t start_ns, end_ns; /* of its records; start_ns is UINT64_MAX before the first one */
    uint64_t on_ns, off_ns;    /* when it was first switched on, and off since then; 0: it was not */
    uint64_t malformed, timeless;
};

struct le_reader {
    struct le_trace_index *index;
    struct le_arena *arena; /* for texts */
    struct le_position_set texts, shapes;
    struct le_id_map functions, kinds; /* by position of the text */
    struct le_id_map labels;           /* how many devices have the same name and number */
    struct le_reader_part part;
    int64_t clock_base_ns; /* wall clock minus trace clock, in the first part */
    bool has_base;
    int32_t *new_positions; /* of rows, while the tables of all parts are sorted */
    leat_status status;     /* why it jumped to arena->failure */
};

void *le_reader_grow(struct le_reader *reader, void *at, int32_t count, int64_t *capacity, size_t size_bytes);
#define LE_READER_PUSH(reader, table)                                                                                  \
    ((table)->at = le_reader_grow((reader), (table)->at, (table)->count, &(table)->capacity, sizeof *(table)->at),     \
     &(table)->at[(table)->count++])
void le_reader_put(struct le_reader *reader, struct le_id_map *map, uint64_t id, int32_t position);
void le_reader_add(struct le_reader *reader, struct le_position_set *set, uint32_t hash, int32_t position);
_Noreturn void le_reader_fail(struct le_reader *reader, leat_status status);
/* The position of the text with these bytes, made printable. */
int32_t le_reader_text(struct le_reader *reader, const char *text, size_t length);
void le_reader_note(struct le_reader *reader, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Extends the part's times to include these. */
void le_reader_extend(struct le_reader *reader, uint64_t start_ns, uint64_t end_ns);
/* Reads all records of a block. */
void le_reader_records(struct le_reader *reader, const unsigned char *bytes, size_t size_bytes);
/* Drops all but outermost calls, links everything to its call, and sorts the part's operations and calls. */
void le_reader_link(struct le_reader *reader);
/* Sorts the whole tables, after the last part. */
void le_reader_sort(struct le_reader *reader, int32_t parts);
#endif
