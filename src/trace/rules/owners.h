/* Which process and device each operation, call and overhead belongs to. Positions in the index are grouped by process
 * once for the whole trace, so that the time to find findings is linear in the number of records, however many
 * processes made them; and by device for a process that used several. Memory comes from an arena. */
#ifndef LE_OWNERS_H
#define LE_OWNERS_H
#include "base/arena.h"
#include "trace/index.h"

/* Positions in one of the index's tables, in the order of the table. */
struct le_positions {
    const int32_t *at;
    int32_t count;
};
/* The positions of key k are at[first[k]] up to at[first[k + 1]]. */
struct le_grouped {
    int32_t *at, *first;
};
struct le_owners {
    const struct le_trace_index *index;
    struct le_grouped operations, calls, overheads; /* by process */
    int32_t *devices_of_calls; /* by call; LE_NONE: unknown. NULL if the trace has at most one device */
};

void le_owners_find(struct le_owners *owners, const struct le_trace_index *index, struct le_arena *arena);
struct le_positions le_grouped_of(const struct le_grouped *grouped, int32_t key);

/* What a process did on each of its devices, in the order of their first work. Work on an unknown device, and calls
 * that belong to no device, count for the first one. */
struct le_device_parts {
    int32_t *devices, count; /* devices: one LE_NONE if no device is known */
    struct le_grouped operations, calls;
};
struct le_device_parts le_device_parts_of(const struct le_owners *owners, int32_t process, struct le_arena *arena);
#endif
