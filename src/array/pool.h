/* Memory for arrays' elements: released blocks are kept for reuse, up to a cap; all that is out and kept stays below
 * another. It is not a general allocator: small blocks go straight to base/memory.h.
 *
 * The pool outlives its context for as long as a buffer of it lives; the process's allocator hooks are those of the
 * first live pool. Any thread. */
#ifndef LE_ARRAY_POOL_H
#define LE_ARRAY_POOL_H
#include "base/fork.h"
#include "base/memory.h"
#include "base/status.h"

struct le_memory_pool;

struct le_pool_options {
    size_t memory_cap_bytes;       /* 0: none */
    size_t cache_cap_bytes;        /* 0: 1 GiB */
    struct le_allocator allocator; /* all NULL: malloc, and mmap for large blocks */
    void (*log)(leat_log_level level, const char *text, void *user);
    void *log_user;
};

leat_status le_memory_pool_new(const struct le_pool_options *options, struct le_memory_pool **pool);
struct le_memory_pool *le_memory_pool_retain(struct le_memory_pool *pool);
void le_memory_pool_release(struct le_memory_pool *pool);
/* The owner's last word: drops what is kept, keeps no more, logs no more; and releases. */
void le_memory_pool_close(struct le_memory_pool *pool);
/* LEAT_INVALID in a child of the process that made the pool. */
leat_status le_memory_pool_check(const struct le_memory_pool *pool);
bool le_memory_pool_forked(const struct le_memory_pool *pool);

/* A block of at least size_bytes bytes, aligned to 64; *capacity_bytes is what le_memory_pool_give wants back. */
leat_status le_memory_pool_take(struct le_memory_pool *pool, size_t size_bytes, bool zero, void **memory,
                                size_t *capacity_bytes);
void le_memory_pool_give(struct le_memory_pool *pool, void *memory, size_t capacity_bytes);

struct le_pool_use {
    size_t live_bytes, kept_bytes, peak_bytes; /* out; kept for reuse; most of their sum so far */
    size_t cap_bytes;                          /* 0: none */
    uint64_t trims;                            /* times that memory ran out and what was kept was given back */
};
void le_memory_pool_use(struct le_memory_pool *pool, struct le_pool_use *use);
void le_memory_pool_trim(struct le_memory_pool *pool); /* gives back all that is kept */
/* Passes one line to the log hook of the context, if that is open and has one. */
void le_memory_pool_note(struct le_memory_pool *pool, leat_log_level level, const char *text);
#endif
