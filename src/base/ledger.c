/* See ledger.h. Records are in the order of their first charge and are found by kind, text and cause. `lock` guards the
 * records, their index and the observer. Each thread has its own stack of open spans. */
#include "base/ledger.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/memory.h"
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define HINTS 64

struct cost_key {
    leat_cost_kind kind;
    const char *what, *cause;
    bool on_device, in_background;
};
struct le_ledger {
    atomic_int level;
    uint64_t (*clock)(void *user); /* NULL: CLOCK_MONOTONIC */
    void *clock_user;
    uint64_t clock_offset_ns; /* so that time continues when the clock is replaced */
    pthread_mutex_t lock;
    uint64_t start_ns;            /* when it was made or last cleared */
    le_ledger_observer *observer; /* NULL: none */
    void *observer_user;
    uint64_t
        version; /* increases each time the ledger is cleared, which invalidates the records that tallies remember */
    leat_cost *records;
    int count, capacity;
    int *index;         /* hash table with linear probing: 1 + a record's number; 0: free */
    int index_capacity; /* a power of two, more than twice count */
    int hints[HINTS];   /* the record last found for texts at these addresses; usually right, always checked */
};
static _Thread_local struct le_span *innermost;
static _Thread_local bool is_background; /* this thread's costs are */

/* Threads are numbered from 1 in the order of their first observed spans. */
static atomic_uint last_thread;
static _Thread_local unsigned this_thread;

leat_status le_ledger_new(int level, struct le_ledger **ledger) {
    struct le_ledger *made = le_alloc_zero(1, sizeof *made);
    if (!made)
        return le_fail_out_of_memory(sizeof *made);
    pthread_mutex_init(&made->lock, NULL);
    atomic_init(&made->level, level);
    made->version = 1;
    made->start_ns = le_ledger_clock_ns(made);
    *ledger = made;
    return LEAT_OK;
}

/* Frees the records and their strings. */
static void free_records(struct le_ledger *ledger) {
    for (int k = 0; k < ledger->count; k++) {
        le_free((void *)(uintptr_t)ledger->records[k].what);
        le_free((void *)(uintptr_t)ledger->records[k].cause);
    }
    ledger->count = 0;
}

void le_ledger_free(struct le_ledger *ledger) {
    if (!ledger)
        return;
    free_records(ledger);
    le_free(ledger->records);
    le_free(ledger->index);
    pthread_mutex_destroy(&ledger->lock);
    le_free(ledger);
}

void le_ledger_level_set(struct le_ledger *ledger, int level) {
    atomic_store_explicit(&ledger->level, level, memory_order_relaxed);
}

int le_ledger_level(const struct le_ledger *ledger) {
    return atomic_load_explicit(&ledger->level, memory_order_relaxed);
}

void le_ledger_clear(struct le_ledger *ledger) {
    uint64_t now_ns = le_ledger_clock_ns(ledger);
    pthread_mutex_lock(&ledger->lock);
    free_records(ledger);
    ledger->version++;
    ledger->start_ns = now_ns;
    memset(ledger->hints, 0, sizeof ledger->hints);
    if (ledger->index)
        memset(ledger->index, 0, (size_t)ledger->index_capacity * sizeof *ledger->index);
    pthread_mutex_unlock(&ledger->lock);
}

uint64_t le_ledger_age_ns(struct le_ledger *ledger) {
    uint64_t now_ns = le_ledger_clock_ns(ledger);
    pthread_mutex_lock(&ledger->lock);
    uint64_t start_ns = ledger->start_ns;
    pthread_mutex_unlock(&ledger->lock);
    return now_ns > start_ns ? now_ns - start_ns : 0; /* another thread may just have cleared it */
}

size_t le_ledger_count(struct le_ledger *ledger) {
    pthread_mutex_lock(&ledger->lock);
    size_t count = (size_t)ledger->count;
    pthread_mutex_unlock(&ledger->lock);
    return count;
}

bool le_ledger_at(struct le_ledger *ledger, size_t k, leat_cost *cost) {
    pthread_mutex_lock(&ledger->lock);
    bool found = k < (size_t)ledger->count;
    if (found)
        *cost = ledger->records[k];
    pthread_mutex_unlock(&ledger->lock);
    return found;
}

/* ---- finding and making records; all under lock */

static bool matches(const leat_cost *record, const struct cost_key *key) {
    return record->kind == key->kind && record->on_device == key->on_device &&
           record->in_background == key->in_background && strcmp(record->what, key->what) == 0 &&
           strcmp(record->cause, key->cause) == 0;
}

static uint64_t key_hash(const struct cost_key *key) {
    uint64_t seed = (uint64_t)key->kind * 4 + (uint64_t)key->on_device * 2 + key->in_background;
    return le_hash(key->cause, strlen(key->cause), le_hash(key->what, strlen(key->what), seed));
}

/* The slot of the key's record in the index, or the free slot where it belongs. The index is never full. */
static int *find_place(struct le_ledger *ledger, const struct cost_key *key) {
    size_t mask = (size_t)ledger->index_capacity - 1;
    for (size_t k = (size_t)key_hash(key) & mask;; k = (k + 1) & mask) {
        int *place = &ledger->index[k];
        if (*place == 0 || matches(&ledger->records[*place - 1], key))
            return place;
    }
}

static bool grow_index(struct le_ledger *ledger) {
    int capacity = ledger->index_capacity ? 2 * ledger->index_capacity : 64;
    int *index = le_alloc_zero((size_t)capacity, sizeof *index);
    if (!index)
        return false;
    le_free(ledger->index);
    ledger->index = index;
    ledger->index_capacity = capacity;
    for (int k = 0; k < ledger->count; k++) {
        const leat_cost *record = &ledger->records[k];
        *find_place(ledger, &(struct cost_key){record->kind, record->what, record->cause, record->on_device,
                                               record->in_background}) = k + 1;
    }
    return true;
}

/* Makes room for one more record; false if memory ran out. */
static bool reserve_record(struct le_ledger *ledger) {
    if (ledger->count >= INT_MAX / 8)
        return false;
    if (ledger->count == ledger->capacity) {
        int capacity = ledger->capacity ? 2 * ledger->capacity : 32;
        leat_cost *records = le_realloc(ledger->records, (size_t)capacity * sizeof *records);
        if (!records)
            return false;
        ledger->records = records;
        ledger->capacity = capacity;
    }
    return 2 * (ledger->count + 1) < ledger->index_capacity || grow_index(ledger);
}

static int make_record(struct le_ledger *ledger, const struct cost_key *key) {
    char *what = le_strdup(key->what), *cause = le_strdup(key->cause);
    if (!what || !cause) {
        le_free(what);
        le_free(cause);
        return 0;
    }
    ledger->records[ledger->count++] = (leat_cost){.kind = key->kind,
                                                   .what = what,
                                                   .cause = cause,
                                                   .on_device = key->on_device,
                                                   .in_background = key->in_background};
    return ledger->count;
}

/* The hint is looked up by the addresses of the texts, since the same cost usually comes with the same addresses. */
static leat_cost *find_record(struct le_ledger *ledger, const struct cost_key *key) {
    uintptr_t address = (uintptr_t)key->what ^ ((uintptr_t)key->cause << 1) ^ ((uintptr_t)key->kind << 4) ^
                        key->on_device ^ ((uintptr_t)key->in_background << 2);
    int *hint = &ledger->hints[(address ^ address >> 6 ^ address >> 12) % HINTS];
    if (*hint && matches(&ledger->records[*hint - 1], key))
        return &ledger->records[*hint - 1];
    if (!reserve_record(ledger))
        return NULL;
    int *place = find_place(ledger, key);
    if (*place == 0)
        *place = make_record(ledger, key);
    *hint = *place;
    return *place ? &ledger->records[*place - 1] : NULL;
}

static void charge(struct le_ledger *ledger, const struct cost_key *key, const leat_cost *amount) {
    pthread_mutex_lock(&ledger->lock);
    leat_cost *record = find_record(ledger, key);
    if (record) {
        record->count += amount->count;
        record->time_ns += amount->time_ns;
        record->bytes += amount->bytes;
        record->operations += amount->operations;
    }
    pthread_mutex_unlock(&ledger->lock);
}

const char *le_cost_kind_name(leat_cost_kind kind) {
    static const char *const names[LEAT_COST_KINDS] = {
        [LEAT_COST_INIT] = "init",           [LEAT_COST_LIBRARY] = "library", [LEAT_COST_READ] = "read",
        [LEAT_COST_CHECK] = "check",         [LEAT_COST_COMPILE] = "compile", [LEAT_COST_MODULE] = "module load",
        [LEAT_COST_IN_MEMORY] = "in memory", [LEAT_COST_ON_DISK] = "on disk", [LEAT_COST_PLAN] = "plan",
        [LEAT_COST_ALLOCATE] = "allocate",   [LEAT_COST_PIN] = "pin",         [LEAT_COST_LAUNCH] = "launch",
        [LEAT_COST_KERNEL] = "kernel",       [LEAT_COST_COPY] = "copy",       [LEAT_COST_UPLOAD] = "upload",
        [LEAT_COST_DOWNLOAD] = "download",   [LEAT_COST_WAIT] = "wait",       [LEAT_COST_IDLE] = "idle",
        [LEAT_COST_UNLOAD] = "unload",       [LEAT_COST_EVICT] = "evict",     [LEAT_COST_WRITE] = "write",
        [LEAT_COST_INTERPRET] = "interpret", [LEAT_COST_OTHER] = "other",
    };
    return (unsigned)kind < LEAT_COST_KINDS ? names[kind] : "?";
}

void le_ledger_thread_is_background(void) {
    is_background = true;
}

/* ---- clock and observer */

void le_ledger_clock_set(struct le_ledger *ledger, uint64_t (*clock)(void *user), void *user) {
    uint64_t now_ns = le_ledger_clock_ns(ledger);
    ledger->clock_user = user;
    ledger->clock = clock;
    ledger->clock_offset_ns = 0;
    ledger->clock_offset_ns = now_ns - le_ledger_clock_ns(ledger);
}

uint64_t le_ledger_clock_ns(const struct le_ledger *ledger) {
    return ledger->clock ? ledger->clock(ledger->clock_user) + ledger->clock_offset_ns : le_clock_ns();
}

void le_ledger_observer_set(struct le_ledger *ledger, le_ledger_observer *observer, void *user) {
    pthread_mutex_lock(&ledger->lock);
    ledger->observer = observer;
    ledger->observer_user = user;
    pthread_mutex_unlock(&ledger->lock);
}

/* ---- charging */

void le_ledger_add(struct le_ledger *ledger, leat_cost_kind kind, const char *what, const char *cause, uint64_t bytes) {
    charge(ledger, &(struct cost_key){kind, what ? what : "", cause ? cause : "", false, is_background},
           &(leat_cost){.count = 1, .bytes = bytes});
}

void le_ledger_device(struct le_ledger *ledger, const leat_cost *cost) {
    charge(ledger, &(struct cost_key){cost->kind, cost->what, cost->cause ? cost->cause : "", true, false}, cost);
}

void le_ledger_tally(struct le_ledger *ledger, struct le_tally *tally, leat_cost_kind kind, const char *what) {
    pthread_mutex_lock(&ledger->lock);
    if (tally->version != ledger->version) {
        leat_cost *record = find_record(ledger, &(struct cost_key){kind, what, "", false, is_background});
        tally->record = record ? (int)(record - ledger->records) : 0;
        tally->version = record ? ledger->version : 0;
    }
    if (tally->version)
        ledger->records[tally->record].count++;
    pthread_mutex_unlock(&ledger->lock);
}

void le_span_begin(struct le_span *span, struct le_ledger *ledger, leat_cost_kind kind, const char *what,
                   const char *cause) {
    *span = (struct le_span){
        .ledger = ledger, .outer = innermost, .kind = kind, .what = what ? what : "", .cause = cause ? cause : ""};
    innermost = span;
    if (le_ledger_level(ledger) > 0)
        span->start_ns = le_ledger_clock_ns(ledger);
}

static void observe(const struct le_span *span, uint64_t stop_ns) {
    int depth = 0;
    for (const struct le_span *outer = span->outer; outer; outer = outer->outer)
        depth += outer->ledger == span->ledger && outer->start_ns != 0;
    if (!this_thread)
        this_thread = atomic_fetch_add(&last_thread, 1) + 1;
    struct le_ledger *ledger = span->ledger;
    pthread_mutex_lock(&ledger->lock);
    if (ledger->observer)
        ledger->observer(ledger->observer_user, span, stop_ns, depth, this_thread);
    pthread_mutex_unlock(&ledger->lock);
}

/* The span's own time. Its whole time is added to the inner time of the next outer span of the same ledger that is
 * timed. */
static uint64_t take_time(struct le_span *span) {
    uint64_t stop_ns = le_ledger_clock_ns(span->ledger), elapsed_ns = stop_ns - span->start_ns;
    if (le_ledger_level(span->ledger) > 1)
        observe(span, stop_ns);
    struct le_span *outer = span->outer;
    while (outer && (outer->ledger != span->ledger || outer->start_ns == 0))
        outer = outer->outer;
    if (outer)
        outer->inner_ns += elapsed_ns;
    return elapsed_ns - span->inner_ns;
}

/* Closes all spans opened within the span that ends: a caller's hook may leave one open, or end one too many. Returns
 * whether the span itself was still open. */
static bool unwind(struct le_span *span) {
    struct le_span *open = innermost;
    while (open && open != span)
        open = open->outer;
    if (open)
        innermost = open->outer;
    return open != NULL;
}

struct le_span *le_span_innermost(void) {
    return innermost;
}

void le_span_drop(struct le_span *outer) {
    innermost = outer;
}

/* If the span was already closed with an outer one, its time is part of the outer span, whose memory may be gone. */
void le_span_end(struct le_span *span, uint64_t bytes, uint64_t operations) {
    leat_cost amount = {.count = 1, .bytes = bytes, .operations = operations};
    if (unwind(span) && span->start_ns)
        amount.time_ns = take_time(span);
    charge(span->ledger, &(struct cost_key){span->kind, span->what, span->cause, false, is_background}, &amount);
}
