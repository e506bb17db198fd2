/* What this machine is, as the operating system tells, and how fast it copies and adds. Any thread. */
#ifndef LE_HOST_INFO_H
#define LE_HOST_INFO_H
#include "array/pool.h"
#include "base/thread.h"
#include "device/cpu/machine/ops.h"

void le_host_name(char *name, size_t size_bytes); /* the processor's, or its architecture's */
size_t le_host_memory_bytes(void);                /* main memory; 0: unknown */
size_t le_host_cache_bytes(void);                 /* the last-level cache; 0: unknown */
/* Of all threads at once, the best of a few times. */
struct le_machine_rates {
    double copy_bytes_per_second; /* in memory: bytes read plus bytes written */
    double additions_per_second;  /* of doubles in the caches */
};
leat_status le_machine_measure(struct le_pool *threads, struct le_memory_pool *memory, enum le_simd simd,
                               struct le_machine_rates *rates);
#endif
