/* Whose operations, calls and overheads are: positions in the index by process, and by device where a process used
 * several. Grouped once for the whole trace, so that findings take time in its records, however many processes made
 * them. Memory is an arena's. */
#ifndef LE_OWNERS_H
#define LE_OWNERS_H
#include "base/arena.h"
#include "trace/index.h"

/* Positions in one of the index's tables, in its order. */
struct le_positions {
    const int32_t *at;
    int32_t count;
};
/* Those of key k: at[first[k]] up to at[first[k + 1]]. */
struct le_grouped {
    int32_t *at, *first;
};
struct le_owners {
    const struct le_trace_index *index;
    struct le_grouped operations, calls, overheads; /* by process */
    int32_t *devices_of_calls; /* LE_NONE: nothing tells; NULL where the trace knows one device at most */
};

void le_owners_find(struct le_owners *owners, const struct le_trace_index *index, struct le_arena *arena);
struct le_positions le_grouped_of(const struct le_grouped *grouped, int32_t key);

/* What a process did on each of its devices, which come in the order of their first work. Work of which the device is
 * not known, and calls that belong to none of them, count to the first one. */
struct le_device_parts {
    int32_t *devices, count; /* LE_NONE: not known of any */
    struct le_grouped operations, calls;
};
struct le_device_parts le_device_parts_of(const struct le_owners *owners, int32_t process, struct le_arena *arena);
#endif
