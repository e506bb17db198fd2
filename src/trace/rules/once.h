/* Time that several threads or streams spend at once, counted once. */
#ifndef LE_ONCE_H
#define LE_ONCE_H
#include <stdint.h>

/* From where start..end counts, if intervals come by start and all up to `until` is counted: end where nothing of it
 * does. Moves `until` on. */
static inline uint64_t le_once_from(uint64_t *until_ns, uint64_t start_ns, uint64_t end_ns) {
    uint64_t from_ns = start_ns > *until_ns ? start_ns : *until_ns;
    if (end_ns > *until_ns)
        *until_ns = end_ns;
    return from_ns < end_ns ? from_ns : end_ns;
}
#endif
