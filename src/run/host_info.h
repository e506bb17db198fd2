/* The machine's name and sizes, as the operating system reports them, and its measured copy and addition rates.
 * Thread-safe. */
#ifndef LE_HOST_INFO_H
#define LE_HOST_INFO_H
#include "array/pool.h"
#include "base/thread.h"
#include "device/cpu/machine/ops.h"

void le_host_name(char *name, size_t size_bytes); /* the processor's name, or its architecture's */
size_t le_host_memory_bytes(void);                /* main memory; 0: unknown */
size_t le_host_cache_bytes(void);                 /* the last-level cache; 0: unknown */
/* Rates of all threads together; the best of several measurements. */
struct le_machine_rates {
    double copy_bytes_per_second; /* in memory: bytes read plus bytes written */
    double additions_per_second;  /* of doubles that lie in the caches */
};
leat_status le_machine_measure(struct le_pool *threads, struct le_memory_pool *memory, enum le_simd simd,
                               struct le_machine_rates *rates);
#endif
