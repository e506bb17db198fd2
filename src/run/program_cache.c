/* See program_cache.h. The context's lock guards the entries. Evicted entries are freed without the lock, because
 * freeing calls the caller's hooks. Programs hold the context, so leat_close empties the cache. */
#include "run/program_cache.h"
#include "base/hash.h"
#include <string.h>

struct entry {
    uint64_t hash, used; /* used: the cache's clock at the last use */
    leat_program *program;
    leat_call *idle; /* NULL: none, or a thread is using it */
};
struct le_program_cache {
    struct entry entries[LE_PROGRAM_CACHE_MAX];
    int count;
    uint64_t clock;
};

static void finish_entry(struct entry *entry) {
    le_call_free(entry->idle);
    le_program_release(entry->program);
}

static void cache_free(struct le_program_cache *cache) {
    for (int k = 0; k < cache->count; k++)
        finish_entry(&cache->entries[k]);
    le_free(cache);
}

/* ---- the caller holds the lock */

static struct entry *find_entry(struct le_program_cache *cache, const char *text, size_t length, uint64_t hash) {
    for (int k = 0; cache && k < cache->count; k++) {
        struct entry *e = &cache->entries[k];
        if (e->hash == hash && e->program->text_bytes == length && !memcmp(e->program->text, text, length))
            return e;
    }
    return NULL;
}

/* Returns the slot for a new entry; *dropped: the entry that was evicted. */
static struct entry *make_room(struct le_program_cache *cache, struct entry *dropped) {
    if (cache->count < LE_PROGRAM_CACHE_MAX)
        return &cache->entries[cache->count++];
    struct entry *oldest = &cache->entries[0];
    for (int k = 1; k < cache->count; k++)
        if (cache->entries[k].used < oldest->used)
            oldest = &cache->entries[k];
    *dropped = *oldest;
    return oldest;
}

/* Takes the entry's idle call, or else a reference to its program. */
static void take_from(struct le_program_cache *cache, struct entry *entry, leat_program **program, leat_call **call) {
    entry->used = ++cache->clock;
    *call = entry->idle;
    entry->idle = NULL;
    *program = *call ? NULL : le_program_retain(entry->program);
}

/* ---- programs */

static bool look_up(leat_context *ctx, const char *text, size_t length, uint64_t hash, leat_program **program,
                    leat_call **call) {
    pthread_mutex_lock(&ctx->lock);
    struct entry *entry = find_entry(ctx->programs, text, length, hash);
    if (entry)
        take_from(ctx->programs, entry, program, call);
    pthread_mutex_unlock(&ctx->lock);
    return entry != NULL;
}

/* Adds the program to the cache. If another thread was faster, uses that thread's program instead. Without memory the
 * program is not cached. */
static void add_program(leat_context *ctx, uint64_t hash, leat_program **program, leat_call **call) {
    leat_program *made = *program, *twin = NULL;
    struct entry dropped = {0};
    pthread_mutex_lock(&ctx->lock);
    if (!ctx->programs)
        ctx->programs = le_alloc_zero(1, sizeof *ctx->programs);
    struct le_program_cache *cache = ctx->programs;
    struct entry *entry = find_entry(cache, made->text, made->text_bytes, hash);
    if (entry) {
        twin = made;
        take_from(cache, entry, program, call);
    } else if (cache) {
        ctx->programs_free = cache_free;
        entry = make_room(cache, &dropped);
        *entry = (struct entry){.hash = hash, .used = ++cache->clock, .program = le_program_retain(made)};
    }
    pthread_mutex_unlock(&ctx->lock);
    le_program_release(twin);
    finish_entry(&dropped);
}

leat_status le_program_cache_take(leat_context *ctx, const char *text, leat_call **call) {
    size_t length = strlen(text);
    uint64_t hash = le_hash(text, length, 0);
    leat_program *program = NULL;
    leat_status status = LEAT_OK;
    *call = NULL;
    if (!look_up(ctx, text, length, hash, &program, call)) {
        status = le_program_new(ctx, text, length, NULL, &program);
        if (status == LEAT_OK)
            add_program(ctx, hash, &program, call);
    }
    if (status == LEAT_OK && !*call)
        status = le_call_new(program, call);
    le_program_release(program);
    return status;
}

void le_program_cache_give(leat_call *call) {
    leat_context *ctx = call->program->ctx;
    le_call_unbind(call);
    le_call_want_clear(call);
    pthread_mutex_lock(&ctx->lock);
    struct le_program_cache *cache = ctx->programs;
    for (int k = 0; cache && k < cache->count; k++) {
        struct entry *e = &cache->entries[k];
        if (e->program == call->program && !e->idle) {
            e->idle = call;
            call = NULL;
            break;
        }
    }
    pthread_mutex_unlock(&ctx->lock);
    le_call_free(call);
}
