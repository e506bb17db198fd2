/* The return addresses of the calling thread outside of CUDA's libraries, without frame pointers: the first time by the
 * unwinder, which keeps for each return address how far it is to the next; from then on by following those steps.
 * Neither allocates. */
#ifndef LE_SOURCE_NATIVE_H
#define LE_SOURCE_NATIVE_H
#include "trace/recorder/source_table.h"
#include <pthread.h>

struct le_native {
    bool is_usable;
    pthread_key_t highest; /* of a thread: the highest address of its stack that an unwinding has seen */
};
void le_native_init(struct le_native *native);
void le_native_finish(struct le_native *native);

/* From a frame on: it goes on at return address `at`, with the stack pointer there. The innermost address first. */
int le_native_addresses(const struct le_native *native, struct le_source_table *table, uintptr_t at, uintptr_t stack,
                        uintptr_t *addresses);
#endif
