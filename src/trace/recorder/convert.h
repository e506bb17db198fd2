/* Converts CUPTI's activity records into records of a part (format.h). The table of kinds that it converts is also the
 * list of kinds to enable. Used by the writer's thread only. */
#ifndef LE_CONVERT_H
#define LE_CONVERT_H
#include "trace/recorder/cupti.h"
#include "trace/recorder/part_writer.h"

enum { LE_CONVERT_FUNCTIONS = 4096 };

struct le_open_range {
    struct le_trace_range range;
    uint32_t id;
};

struct le_convert {
    const struct le_cupti *cupti;
    uint32_t version;
    struct le_part_writer *writer;
    uint32_t functions[2][LE_CONVERT_FUNCTIONS]; /* texts, by domain and number; 0: not looked up yet */
    uint32_t *threads;                           /* a hash table of the threads that were written; 0: an empty slot */
    uint32_t thread_count, thread_capacity, last_thread;
    struct le_open_range *ranges; /* not closed yet, in the order in which they were opened */
    uint32_t range_count, range_capacity;
};

void le_convert_activity(struct le_convert *convert, const void *activity);
void le_convert_end(struct le_convert *convert); /* writes ranges that were never closed */
void le_convert_finish(struct le_convert *convert);

enum le_kind_group {
    LE_KINDS_OF_OBJECTS = 1, /* devices, contexts, streams: recorded once, when they are created */
    LE_KINDS_OF_WORK = 2,    /* work of devices */
    LE_KINDS_OF_HOST = 4
};
/* The k-th kind of activity in the groups; 0: there are no more. */
le_cupti_kind le_convert_kind(uint32_t version, unsigned groups, uint32_t k);
#endif
