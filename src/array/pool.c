/* The pool of array memory. Allocations under KEEP_MIN are released at once. Others are kept when they are given back,
 * the newest last, and reused: the smallest that fits without wasting more than an eighth. Without allocator hooks,
 * allocations of MAP_MIN bytes or more are mapped with huge pages, since the page faults of a new result would
 * otherwise cost more than computing it.
 *
 * A context and each buffer hold a reference. `lock` guards all fields that change. */
#include "array/pool.h"
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#define ALIGNMENT 64u
#define KEEP_MIN  ((size_t)64 << 10)
#define MAP_MIN   ((size_t)2 << 20) /* also the size of a huge page */
#define KEPT_MAX  128

struct kept_allocation {
    void *memory;
    size_t capacity_bytes;
};

struct le_memory_pool {
    atomic_int refcount;
    unsigned generation; /* of forks, when the pool was made */
    size_t memory_cap_bytes;
    bool hooked;
    pthread_mutex_t lock;
    size_t cache_cap_bytes;
    struct le_pool_use use;
    struct kept_allocation kept[KEPT_MAX];
    int kept_count;
    void (*log)(leat_log_level level, const char *text, void *user);
    void *log_user;
};

/* The process has one allocator. The hooks of the first live pool are used until the last pool is freed. */
static pthread_mutex_t allocator_lock = PTHREAD_MUTEX_INITIALIZER;
static int allocator_users;
static bool allocator_hooked;

static bool allocator_enter(const struct le_allocator *allocator) {
    pthread_mutex_lock(&allocator_lock);
    if (allocator_users++ == 0) {
        allocator_hooked = allocator->allocate != NULL;
        if (allocator_hooked)
            le_memory_set_allocator(allocator);
    }
    bool hooked = allocator_hooked;
    pthread_mutex_unlock(&allocator_lock);
    return hooked;
}

static void allocator_leave(void) {
    pthread_mutex_lock(&allocator_lock);
    if (--allocator_users == 0 && allocator_hooked)
        le_memory_set_allocator(NULL);
    pthread_mutex_unlock(&allocator_lock);
}

leat_status le_memory_pool_new(const struct le_pool_options *options, struct le_memory_pool **pool) {
    bool hooked = allocator_enter(&options->allocator);
    struct le_memory_pool *made = le_alloc_zero(1, sizeof *made);
    if (!made) {
        allocator_leave();
        return le_fail_out_of_memory(sizeof *made);
    }
    atomic_init(&made->refcount, 1);
    made->generation = le_fork_watch();
    made->hooked = hooked;
    made->memory_cap_bytes = options->memory_cap_bytes ? options->memory_cap_bytes : SIZE_MAX;
    made->cache_cap_bytes = options->cache_cap_bytes ? options->cache_cap_bytes : (size_t)1 << 30;
    made->log = options->log;
    made->log_user = options->log_user;
    pthread_mutex_init(&made->lock, NULL);
    *pool = made;
    return LEAT_OK;
}

struct le_memory_pool *le_memory_pool_retain(struct le_memory_pool *pool) {
    atomic_fetch_add_explicit(&pool->refcount, 1, memory_order_relaxed);
    return pool;
}

bool le_memory_pool_forked(const struct le_memory_pool *pool) {
    return pool->generation != le_fork_generation();
}

leat_status le_memory_pool_check(const struct le_memory_pool *pool) {
    if (le_memory_pool_forked(pool))
        return le_fail(LEAT_INVALID, "this handle was made before fork(); open a new context in the child");
    return LEAT_OK;
}

/* ---- memory from the system */

static void *map_memory(size_t size_bytes) {
    size_t span = size_bytes + MAP_MIN;
    if (!le_memory_is_available(size_bytes))
        return NULL;
    char *start = mmap(NULL, span, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED)
        return NULL;
    size_t head = (MAP_MIN - (uintptr_t)start % MAP_MIN) % MAP_MIN;
    if (head)
        munmap(start, head);
    if (head < MAP_MIN)
        munmap(start + head + size_bytes, MAP_MIN - head);
    madvise(start + head, size_bytes, MADV_HUGEPAGE);
    return start + head;
}

static bool is_mapped(const struct le_memory_pool *pool, size_t capacity_bytes) {
    return !pool->hooked && capacity_bytes >= MAP_MIN;
}

static void *obtain_memory(const struct le_memory_pool *pool, size_t capacity_bytes, bool zero) {
    if (is_mapped(pool, capacity_bytes))
        return map_memory(capacity_bytes); /* already zero */
    void *memory = le_alloc_aligned(capacity_bytes);
    if (memory && zero)
        memset(memory, 0, capacity_bytes);
    return memory;
}

static void release_memory(const struct le_memory_pool *pool, struct kept_allocation kept) {
    if (is_mapped(pool, kept.capacity_bytes))
        munmap(kept.memory, kept.capacity_bytes);
    else
        le_free_aligned(kept.memory);
}

/* ---- kept allocations; the lock is held */

static struct kept_allocation remove_kept(struct le_memory_pool *pool, int k) {
    struct kept_allocation kept = pool->kept[k];
    pool->kept_count--;
    memmove(&pool->kept[k], &pool->kept[k + 1], (size_t)(pool->kept_count - k) * sizeof kept);
    pool->use.kept_bytes -= kept.capacity_bytes;
    return kept;
}

/* Releases the oldest until at most keep_bytes are kept. */
static void trim_kept(struct le_memory_pool *pool, size_t keep_bytes) {
    while (pool->kept_count && pool->use.kept_bytes > keep_bytes)
        release_memory(pool, remove_kept(pool, 0));
}

/* The smallest kept allocation that fits, the newest of equal ones; -1: none. */
static int find_kept(const struct le_memory_pool *pool, size_t capacity_bytes) {
    size_t most = capacity_bytes + capacity_bytes / 8;
    int found = -1;
    for (int k = pool->kept_count - 1; k >= 0; k--) {
        size_t has = pool->kept[k].capacity_bytes;
        if (has >= capacity_bytes && has <= most && (found < 0 || has < pool->kept[found].capacity_bytes))
            found = k;
    }
    return found;
}

/* ---- take and give */

static bool round_up(size_t size_bytes, size_t *capacity_bytes) {
    size_t unit = size_bytes >= MAP_MIN ? 4096 : ALIGNMENT;
    if (size_bytes > PTRDIFF_MAX - 2 * MAP_MIN)
        return false;
    *capacity_bytes = size_bytes ? (size_bytes + unit - 1) / unit * unit : unit;
    return true;
}

static leat_status fail_cap(const struct le_memory_pool *pool, size_t size_bytes) {
    return le_fail(LEAT_OUT_OF_MEMORY,
                   "an array of %zu bytes does not fit: %zu of the %zu bytes that the options allow are in use",
                   size_bytes, pool->use.live_bytes, pool->memory_cap_bytes);
}

/* Counts capacity_bytes as live and releases kept allocations to stay below the limit. *kept is a kept allocation that
 * fits, or has no memory. */
static leat_status reserve_bytes(struct le_memory_pool *pool, size_t capacity_bytes, struct kept_allocation *kept) {
    size_t cap = pool->memory_cap_bytes;
    int k = capacity_bytes >= KEEP_MIN ? find_kept(pool, capacity_bytes) : -1;
    if (k >= 0) {
        *kept = remove_kept(pool, k);
    } else {
        *kept = (struct kept_allocation){.capacity_bytes = capacity_bytes};
        if (capacity_bytes > cap || pool->use.live_bytes > cap - capacity_bytes)
            return fail_cap(pool, capacity_bytes);
        trim_kept(pool, cap - capacity_bytes - pool->use.live_bytes);
    }
    pool->use.live_bytes += kept->capacity_bytes;
    size_t sum = pool->use.live_bytes + pool->use.kept_bytes;
    if (sum > pool->use.peak_bytes)
        pool->use.peak_bytes = sum;
    return LEAT_OK;
}

/* After the system refused: releases all that is kept, then asks once more. */
static void *obtain_after_trim(struct le_memory_pool *pool, size_t capacity_bytes, bool zero) {
    pthread_mutex_lock(&pool->lock);
    bool some = pool->kept_count > 0;
    trim_kept(pool, 0);
    pool->use.trims += some;
    pthread_mutex_unlock(&pool->lock);
    return some ? obtain_memory(pool, capacity_bytes, zero) : NULL;
}

leat_status le_memory_pool_take(struct le_memory_pool *pool, size_t size_bytes, bool zero, void **memory,
                                size_t *capacity_bytes) {
    size_t capacity;
    if (!round_up(size_bytes, &capacity))
        return le_fail_out_of_memory(size_bytes);
    struct kept_allocation kept;
    pthread_mutex_lock(&pool->lock);
    leat_status status = reserve_bytes(pool, capacity, &kept);
    pthread_mutex_unlock(&pool->lock);
    if (status)
        return status;
    if (kept.memory) {
        if (zero)
            memset(kept.memory, 0, size_bytes);
    } else {
        kept.memory = obtain_memory(pool, capacity, zero);
        if (!kept.memory)
            kept.memory = obtain_after_trim(pool, capacity, zero);
    }
    if (!kept.memory) {
        pthread_mutex_lock(&pool->lock);
        pool->use.live_bytes -= capacity;
        pthread_mutex_unlock(&pool->lock);
        return le_fail_out_of_memory(size_bytes);
    }
    *memory = kept.memory;
    *capacity_bytes = kept.capacity_bytes;
    return LEAT_OK;
}

void le_memory_pool_give(struct le_memory_pool *pool, void *memory, size_t capacity_bytes) {
    struct kept_allocation kept = {.memory = memory, .capacity_bytes = capacity_bytes};
    pthread_mutex_lock(&pool->lock);
    pool->use.live_bytes -= capacity_bytes;
    bool keep = capacity_bytes >= KEEP_MIN && capacity_bytes <= pool->cache_cap_bytes;
    if (keep) {
        if (pool->kept_count == KEPT_MAX)
            release_memory(pool, remove_kept(pool, 0));
        trim_kept(pool, pool->cache_cap_bytes - capacity_bytes);
        pool->kept[pool->kept_count++] = kept;
        pool->use.kept_bytes += capacity_bytes;
    }
    pthread_mutex_unlock(&pool->lock);
    if (!keep)
        release_memory(pool, kept);
}

void le_memory_pool_trim(struct le_memory_pool *pool) {
    pthread_mutex_lock(&pool->lock);
    trim_kept(pool, 0);
    pthread_mutex_unlock(&pool->lock);
}

void le_memory_pool_use(struct le_memory_pool *pool, struct le_pool_use *use) {
    pthread_mutex_lock(&pool->lock);
    *use = pool->use;
    use->cap_bytes = pool->memory_cap_bytes == SIZE_MAX ? 0 : pool->memory_cap_bytes;
    pthread_mutex_unlock(&pool->lock);
}

void le_memory_pool_note(struct le_memory_pool *pool, leat_log_level level, const char *text) {
    pthread_mutex_lock(&pool->lock);
    void (*log)(leat_log_level, const char *, void *) = pool->log;
    void *user = pool->log_user;
    pthread_mutex_unlock(&pool->lock);
    if (log)
        log(level, text, user);
}

void le_memory_pool_close(struct le_memory_pool *pool) {
    pthread_mutex_lock(&pool->lock);
    trim_kept(pool, 0);
    pool->cache_cap_bytes = 0;
    pool->log = NULL;
    pthread_mutex_unlock(&pool->lock);
    le_memory_pool_release(pool);
}

void le_memory_pool_release(struct le_memory_pool *pool) {
    if (atomic_fetch_sub_explicit(&pool->refcount, 1, memory_order_acq_rel) != 1)
        return;
    trim_kept(pool, 0);
    pthread_mutex_destroy(&pool->lock);
    le_free(pool);
    allocator_leave();
}
