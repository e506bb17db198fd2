/* What this machine is, as the operating system tells, and how fast it copies. Any thread. */
#ifndef LE_MACHINE_H
#define LE_MACHINE_H
#include "array/pool.h"
#include "base/thread.h"

void le_machine_name(char *name, size_t size_bytes); /* the processor's, or its architecture's */
size_t le_machine_memory_bytes(void);                /* main memory; 0: unknown */
size_t le_machine_cache_bytes(void);                 /* the last-level cache; 0: unknown */
/* Of all threads copying in memory, the best of a few times: bytes read plus bytes written in a second. */
leat_status le_machine_copy_rate(struct le_pool *threads, struct le_memory_pool *memory, double *bytes_per_second);
#endif
