/* For sums in which time that several threads or streams spend at once counts only once. */
#ifndef LE_ONCE_H
#define LE_ONCE_H
#include <stdint.h>

/* Intervals must come sorted by start. *until_ns is the end of the time counted so far, and is moved on. Returns where
 * the part of start..end that was not counted yet begins; end_ns if all of it was. */
static inline uint64_t le_once_from(uint64_t *until_ns, uint64_t start_ns, uint64_t end_ns) {
    uint64_t from_ns = start_ns > *until_ns ? start_ns : *until_ns;
    if (end_ns > *until_ns)
        *until_ns = end_ns;
    return from_ns < end_ns ? from_ns : end_ns;
}
#endif
