/* See memory.h. The hooks are set only while no memory is held: at the first open and the last close. Array memory is
 * accounted for by the pools, not here. */
#include "base/memory.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ALIGNMENT    64u
#define ALWAYS_THERE ((size_t)64 << 20) /* smaller sizes are not worth asking the system */
#define SMALL        1024u /* calloc ignores the free blocks of up to 1,032 bytes that glibc keeps for each thread */

bool le_memory_is_available(size_t size_bytes) {
    if (size_bytes <= ALWAYS_THERE)
        return true;
    long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    return pages <= 0 || page_bytes <= 0 || size_bytes / (size_t)page_bytes <= (size_t)pages;
}

static void *default_allocate(size_t size_bytes, void *user) {
    (void)user;
    return le_memory_is_available(size_bytes) ? malloc(size_bytes) : NULL;
}

static void *default_reallocate(void *memory, size_t size_bytes, void *user) {
    (void)user;
    return le_memory_is_available(size_bytes) ? realloc(memory, size_bytes) : NULL;
}

static void default_release(void *memory, void *user) {
    (void)user;
    free(memory);
}

static const struct le_allocator defaults = {default_allocate, default_reallocate, default_release, NULL};
static struct le_allocator current = {default_allocate, default_reallocate, default_release, NULL};

void le_memory_set_allocator(const struct le_allocator *allocator) {
    bool complete = allocator && allocator->allocate && allocator->reallocate && allocator->release;
    current = complete ? *allocator : defaults;
}

/* An allocator may return NULL for 0 bytes, which would look like a failure. */
static size_t at_least_one(size_t size_bytes) {
    return size_bytes ? size_bytes : 1;
}

void *le_alloc(size_t size_bytes) {
    return current.allocate(at_least_one(size_bytes), current.user);
}

void *le_alloc_zero(size_t count, size_t size_bytes) {
    size_t total_bytes;
    if (!le_mul_size(count, size_bytes, &total_bytes))
        return NULL;
    total_bytes = at_least_one(total_bytes);
    if (current.allocate == default_allocate && total_bytes > SMALL)
        return le_memory_is_available(total_bytes) ? calloc(1, total_bytes) : NULL;
    void *memory = current.allocate(total_bytes, current.user);
    if (memory)
        memset(memory, 0, total_bytes);
    return memory;
}

void *le_realloc(void *memory, size_t size_bytes) {
    if (!memory)
        return le_alloc(size_bytes);
    return current.reallocate(memory, at_least_one(size_bytes), current.user);
}

char *le_strdup(const char *text) {
    size_t size_bytes = strlen(text) + 1;
    char *copy = le_alloc(size_bytes);
    if (copy)
        memcpy(copy, text, size_bytes);
    return copy;
}

void le_free(void *memory) {
    if (memory)
        current.release(memory, current.user);
}

/* The address to free is stored right before the aligned memory. */
void *le_alloc_aligned(size_t size_bytes) {
    char *start = size_bytes <= PTRDIFF_MAX - 2 * ALIGNMENT ? le_alloc(size_bytes + ALIGNMENT + sizeof(void *)) : NULL;
    if (!start)
        return NULL;
    uintptr_t first = (uintptr_t)start + sizeof(void *);
    char *memory = start + sizeof(void *) + (ALIGNMENT - first % ALIGNMENT) % ALIGNMENT;
    memcpy(memory - sizeof(void *), &start, sizeof start);
    return memory;
}

void le_free_aligned(void *memory) {
    void *start;
    if (!memory)
        return;
    memcpy(&start, (char *)memory - sizeof start, sizeof start);
    le_free(start);
}
