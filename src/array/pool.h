/* Memory for the elements of arrays. Released memory is kept for reuse, up to one limit; live and kept memory together
 * stay below another. This is not a general allocator: small allocations go directly to base/memory.h.
 *
 * A pool outlives its context as long as one of its buffers exists. The process uses the allocator hooks of the first
 * live pool. Any thread. */
#ifndef LE_ARRAY_POOL_H
#define LE_ARRAY_POOL_H
#include "base/fork.h"
#include "base/memory.h"
#include "base/status.h"

struct le_memory_pool;

struct le_pool_options {
    size_t memory_cap_bytes;       /* limit of live and kept memory; 0: none */
    size_t cache_cap_bytes;        /* limit of kept memory; 0: 1 GiB */
    struct le_allocator allocator; /* all NULL: malloc, and mmap for large allocations */
    void (*log)(leat_log_level level, const char *text, void *user);
    void *log_user;
};

leat_status le_memory_pool_new(const struct le_pool_options *options, struct le_memory_pool **pool);
struct le_memory_pool *le_memory_pool_retain(struct le_memory_pool *pool);
void le_memory_pool_release(struct le_memory_pool *pool);
/* Called by the owning context when it closes: releases all kept memory, keeps and logs nothing from now on, and drops
 * the context's reference. */
void le_memory_pool_close(struct le_memory_pool *pool);
/* LEAT_INVALID in a child of the process that made the pool. */
leat_status le_memory_pool_check(const struct le_memory_pool *pool);
bool le_memory_pool_forked(const struct le_memory_pool *pool);

/* Takes at least size_bytes bytes, aligned to 64. Pass *capacity_bytes to le_memory_pool_give. */
leat_status le_memory_pool_take(struct le_memory_pool *pool, size_t size_bytes, bool zero, void **memory,
                                size_t *capacity_bytes);
void le_memory_pool_give(struct le_memory_pool *pool, void *memory, size_t capacity_bytes);

struct le_pool_use {
    size_t live_bytes, kept_bytes, peak_bytes; /* in use; kept for reuse; maximum of their sum so far */
    size_t cap_bytes;                          /* limit; 0: none */
    uint64_t trims;                            /* times that memory ran out and the kept memory was released */
};
void le_memory_pool_use(struct le_memory_pool *pool, struct le_pool_use *use);
void le_memory_pool_trim(struct le_memory_pool *pool); /* releases all kept memory */
/* Passes one line to the context's log hook, if the context is open and has one. */
void le_memory_pool_note(struct le_memory_pool *pool, leat_log_level level, const char *text);
#endif
