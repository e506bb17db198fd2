/* Host memory as it comes, aligned to 64: from base/memory.h, so that the caller's allocator sees it. Any thread. */
#include "base/memory.h"
#include "device/device_state.h"
#include <string.h>

#define ALIGNMENT 64u

/* The allocator's address is kept right before the aligned memory. */
void *le_host_memory_new(size_t size_bytes) {
    char *start = size_bytes <= PTRDIFF_MAX - 2 * ALIGNMENT ? le_alloc(size_bytes + ALIGNMENT + sizeof(void *)) : NULL;
    if (!start)
        return NULL;
    uintptr_t first = (uintptr_t)start + sizeof(void *);
    char *memory = start + sizeof(void *) + (ALIGNMENT - first % ALIGNMENT) % ALIGNMENT;
    memcpy(memory - sizeof(void *), &start, sizeof start);
    return memory;
}

void le_host_memory_free(void *memory) {
    void *start;
    if (!memory)
        return;
    memcpy(&start, (char *)memory - sizeof start, sizeof start);
    le_free(start);
}
