/* See compiled_code.h: the table of compiled, loaded and held code, and the threads that compile in the background. The
 * device calls the store and the compiler (device/cuda/cuda_compile.c).
 *
 * A code in the table that is not ready has one thread that compiles it: a thread that called le_code_get, or, if it is
 * in the queue, one of the context's threads. A code whose compilation in such a thread failed has none until
 * le_code_get takes it. */
#include "run/compiled_code.h"
#include "base/cancel.h"
#include "base/exit_guard.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/thread.h"
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#define DEFAULT_CAP_BYTES ((size_t)256 << 20)
#define TABLE_SIZE        1024
#define CANCEL_LOOK_NS    10000000 /* between two looks whether a run that waits is canceled */
#define THREADS_MAX       8        /* per context; each compilation takes up to 100 MB */

/* Generated code must compute the same bits as the CPU: no fused multiply-add, IEEE division and square root, no
 * flushing of subnormals. Generated code is compiled with no other options. */
static const char *const options[] = {"--fmad=false", "--prec-div=true", "--prec-sqrt=true", "--ftz=false", NULL};

struct le_loaded_code {
    struct le_code_table *table;
    struct le_loaded_code *next;          /* in the same bucket */
    struct le_loaded_code *newer, *older; /* the list of ready codes, ordered by last use */
    uint64_t hash;
    char *text, *name;
    struct le_device_module *module;
    struct le_device_kernel *kernel;
    size_t size_bytes;
    int holders;
    bool ready;
    bool failed;                        /* compilation in a thread of the context failed */
    bool queued;                        /* in the queue; compilation has not begun */
    char *program, *what, *cause;       /* of a queued code: le_code_source */
    bool spare;                         /* of a queued code: LE_CODE_SPARE */
    struct le_loaded_code *next_queued; /* the next one in the queue */
};

struct le_code_table {
    leat_context *ctx; /* not retained: it owns this */
    size_t cap_bytes;
    pthread_mutex_t lock; /* guards the fields below, and all codes */
    pthread_cond_t changed;
    struct le_loaded_code *buckets[TABLE_SIZE];
    struct le_loaded_code *newest, *oldest;
    size_t size_bytes;
    int64_t waits;
    struct le_loaded_code *queue;   /* spare codes come last */
    pthread_t threads[THREADS_MAX]; /* each takes the next code of the queue */
    int thread_count, idle_count;   /* idle_count: those that wait for a code */
    int thread_most;                /* 0: not known yet */
    int queued_count, busy_count;   /* busy_count: threads that compile */
    atomic_bool is_closing;         /* written under the lock */
    pthread_cond_t queue_changed;   /* signals a new code in the queue, or closing */
};

leat_status le_code_table_new(leat_context *ctx, size_t cap_bytes, struct le_code_table **table) {
    struct le_code_table *made = le_alloc_zero(1, sizeof *made);
    if (!made)
        return le_fail_out_of_memory(sizeof *made);
    made->ctx = ctx;
    made->cap_bytes = cap_bytes ? cap_bytes : DEFAULT_CAP_BYTES;
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->changed, NULL);
    pthread_cond_init(&made->queue_changed, NULL);
    *table = made;
    return LEAT_OK;
}

static void free_code(struct le_loaded_code *code, const char *cause) {
    if (code->module)
        le_device_module_unload(code->module, cause);
    le_free(code->text);
    le_free(code->name);
    le_free(code->program);
    le_free(code->what);
    le_free(code->cause);
    le_free(code);
}

static void end_threads(struct le_code_table *table) {
    pthread_mutex_lock(&table->lock);
    table->is_closing = true; /* no thread starts any more */
    pthread_cond_broadcast(&table->queue_changed);
    pthread_mutex_unlock(&table->lock);
    for (int k = 0; k < table->thread_count; k++)
        pthread_join(table->threads[k], NULL);
}

void le_code_table_free(struct le_code_table *table) {
    if (!table)
        return;
    end_threads(table);
    for (int k = 0; k < TABLE_SIZE; k++)
        for (struct le_loaded_code *code = table->buckets[k], *next; code; code = next) {
            next = code->next;
            free_code(code, "the context is closed");
        }
    pthread_cond_destroy(&table->changed);
    pthread_cond_destroy(&table->queue_changed);
    pthread_mutex_destroy(&table->lock);
    le_free(table);
}

/* ---- the table and the order of uses; the caller holds the lock */

static struct le_loaded_code **bucket_of(struct le_code_table *table, uint64_t hash) {
    return &table->buckets[hash % TABLE_SIZE];
}

static struct le_loaded_code *find_code(struct le_code_table *table, uint64_t hash, const char *kernel,
                                        const char *text) {
    for (struct le_loaded_code *code = *bucket_of(table, hash); code; code = code->next)
        if (code->hash == hash && strcmp(code->text, text) == 0 && strcmp(code->name, kernel) == 0)
            return code;
    return NULL;
}

static void remove_code(struct le_code_table *table, struct le_loaded_code *code) {
    struct le_loaded_code **at = bucket_of(table, code->hash);
    while (*at != code)
        at = &(*at)->next;
    *at = code->next;
}

static void unlink_use(struct le_code_table *table, struct le_loaded_code *code) {
    *(code->newer ? &code->newer->older : &table->newest) = code->older;
    *(code->older ? &code->older->newer : &table->oldest) = code->newer;
}

static void link_newest(struct le_code_table *table, struct le_loaded_code *code) {
    code->newer = NULL;
    code->older = table->newest;
    *(table->newest ? &table->newest->newer : &table->oldest) = code;
    table->newest = code;
}

static void note_use(struct le_code_table *table, struct le_loaded_code *code) {
    unlink_use(table, code);
    link_newest(table, code);
}

/* Removes the least recently used codes that are not held, until the limit is met. Returns them linked by `next`. */
static struct le_loaded_code *take_surplus(struct le_code_table *table) {
    struct le_loaded_code *surplus = NULL;
    for (struct le_loaded_code *code = table->oldest, *newer; code && table->size_bytes > table->cap_bytes;
         code = newer) {
        newer = code->newer;
        if (code->holders)
            continue;
        unlink_use(table, code);
        remove_code(table, code);
        table->size_bytes -= code->size_bytes;
        code->next = surplus;
        surplus = code;
    }
    return surplus;
}

/* Call without the lock, because unloading waits for the device. */
static void unload(struct le_loaded_code *surplus) {
    for (struct le_loaded_code *next; surplus; surplus = next) {
        next = surplus->next;
        free_code(surplus, "limit of loaded code");
    }
}

/* ---- get */

static struct le_loaded_code *new_code(struct le_code_table *table, uint64_t hash, const char *kernel,
                                       const char *text) {
    struct le_loaded_code *code = le_alloc_zero(1, sizeof *code);
    if (!code)
        return NULL;
    *code = (struct le_loaded_code){
        .table = table, .hash = hash, .text = le_strdup(text), .name = le_strdup(kernel), .holders = 1};
    if (code->text && code->name)
        return code;
    free_code(code, "");
    return NULL;
}

const char *const *le_code_options(void) {
    return options;
}

/* Whether a thread of the context should stop compiling the code. */
static bool is_unwanted(void *user) {
    const struct le_loaded_code *code = user;
    return le_exit_guard_is_exiting() || (code->spare && atomic_load(&code->table->is_closing));
}

/* The same for a code that a run waits for. */
static bool is_canceled(void *user) {
    return le_cancel_look(user);
}

enum load_way { AT_ONCE, IN_THREAD, FROM_STORE }; /* FROM_STORE: LEAT_MISSING if the store does not have it */

static leat_status load_code(struct le_loaded_code *code, const struct le_code_source *asked, enum load_way way) {
    struct le_cancel *cancel = le_cancel_here();
    const struct le_module_source source = {.text = code->text,
                                            .name = code->name,
                                            .options = options,
                                            .is_whole = true,
                                            .is_plain = true,
                                            .only_cached = way == FROM_STORE,
                                            .owner = asked->program,
                                            .label = asked->what,
                                            .cause = asked->cause,
                                            .is_unwanted = way == IN_THREAD ? is_unwanted
                                                           : cancel         ? is_canceled
                                                                            : NULL,
                                            .user = way == IN_THREAD ? (void *)code : cancel};
    leat_status status = le_device_module_new(code->table->ctx->device, &source, &code->module);
    if (!status)
        status = le_device_module_kernel(code->module, code->name, &code->kernel);
    if (status) {
        le_device_module_free(code->module);
        code->module = NULL;
        return le_cancel_is_requested(cancel) ? le_cancel_check() : status;
    }
    code->size_bytes = le_device_module_size_bytes(code->module) + strlen(code->text) + sizeof *code;
    return LEAT_OK;
}

/* The caller holds the lock. Returns the codes to unload for it. */
static struct le_loaded_code *publish_code(struct le_code_table *table, struct le_loaded_code *code) {
    code->ready = true;
    table->size_bytes += code->size_bytes;
    link_newest(table, code);
    return take_surplus(table);
}

/* Compiles a code that is this thread's to compile. If that fails, the code is removed from the table, and the threads
 * that wait for it try to compile it themselves. */
static leat_status compile_and_publish(struct le_loaded_code *code, const struct le_code_source *source) {
    struct le_code_table *table = code->table;
    leat_status status = load_code(code, source, AT_ONCE);
    pthread_mutex_lock(&table->lock);
    struct le_loaded_code *surplus = status ? code : NULL;
    table->waits += status == LEAT_OK && !le_device_module_was_cached(code->module);
    if (status) {
        remove_code(table, code);
        code->next = NULL;
    } else {
        surplus = publish_code(table, code);
    }
    pthread_cond_broadcast(&table->changed);
    pthread_mutex_unlock(&table->lock);
    unload(surplus);
    return status;
}

static uint64_t hash_of(const struct le_code_source *source) {
    return le_hash(source->text, strlen(source->text), le_hash(source->kernel, strlen(source->kernel), 0));
}

/* The caller holds the lock. The new code is held once. NULL: no memory. */
static struct le_loaded_code *insert_new(struct le_code_table *table, uint64_t hash,
                                         const struct le_code_source *source) {
    struct le_loaded_code *code = new_code(table, hash, source->kernel, source->text);
    if (code) {
        code->next = *bucket_of(table, hash);
        *bucket_of(table, hash) = code;
    }
    return code;
}

static void hold_code(struct le_code_table *table, struct le_loaded_code *code) {
    code->holders++;
    note_use(table, code);
}

static void dequeue_code(struct le_code_table *table, struct le_loaded_code *code) {
    struct le_loaded_code **at = &table->queue;
    while (*at != code)
        at = &(*at)->next_queued;
    *at = code->next_queued;
    code->queued = false;
    table->queued_count--;
}

/* The caller holds the lock. Waits until the table changes, or for a moment if the run may be canceled. */
static void wait_for_change(struct le_code_table *table, const struct le_cancel *cancel) {
    struct timespec until;
    if (!cancel) {
        pthread_cond_wait(&table->changed, &table->lock);
        return;
    }
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += CANCEL_LOOK_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&table->changed, &table->lock, &until);
}

/* Whether another thread compiles the code. */
static bool is_coming(const struct le_loaded_code *code) {
    return code && !code->ready && !code->failed && !code->queued;
}

/* The caller holds the lock. Returns the code, or NULL if it is not in the table, once no other thread compiles it, or
 * the run is canceled. */
static struct le_loaded_code *find_settled(struct le_code_table *table, uint64_t hash,
                                           const struct le_code_source *source, bool *canceled) {
    struct le_cancel *cancel = le_cancel_here();
    struct le_loaded_code *code = find_code(table, hash, source->kernel, source->text);
    struct le_span span;
    if (!is_coming(code))
        return code;
    le_span_begin(&span, table->ctx->ledger, LEAT_COST_COMPILE, "waiting for other threads that compile",
                  source->cause);
    while (is_coming(code) && !*canceled) {
        wait_for_change(table, cancel);
        pthread_mutex_unlock(&table->lock);
        *canceled = le_cancel_look(cancel); /* may call back */
        pthread_mutex_lock(&table->lock);
        code = find_code(table, hash, source->kernel, source->text);
    }
    le_span_end(&span, 0, 0);
    table->waits += code && code->ready && !le_device_module_was_cached(code->module);
    return code;
}

/* Returns the code, held. *made false: it was ready. *made true: this thread must compile it. NULL: no memory, or the
 * run is canceled. */
static struct le_loaded_code *find_or_insert(struct le_code_table *table, const struct le_code_source *source,
                                             bool *made) {
    uint64_t hash = hash_of(source);
    bool canceled = false;
    pthread_mutex_lock(&table->lock);
    struct le_loaded_code *code = find_settled(table, hash, source, &canceled);
    *made = !code || !code->ready;
    if (*made && canceled)
        code = NULL;
    else if (!code)
        code = insert_new(table, hash, source);
    else if (code->ready)
        hold_code(table, code);
    else {
        if (code->queued)
            dequeue_code(table, code);
        code->failed = false;
        code->holders = 1;
    }
    pthread_mutex_unlock(&table->lock);
    return code;
}

leat_status le_code_get(leat_context *ctx, const struct le_code_source *source, struct le_loaded_code **code) {
    bool made;
    struct le_loaded_code *found = find_or_insert(ctx->code, source, &made);
    if (!found)
        return le_cancel_is_requested(le_cancel_here()) ? le_cancel_check()
                                                        : le_fail_out_of_memory(strlen(source->text));
    if (!made)
        le_ledger_add(ctx->ledger, LEAT_COST_IN_MEMORY, source->what, source->cause, 0);
    leat_status status = made ? compile_and_publish(found, source) : LEAT_OK;
    if (!status)
        *code = found;
    return status;
}

/* ---- compiling in the background */

/* Spare code is compiled after everything else. */
static bool has_next(const struct le_code_table *table) {
    return table->queue && (!table->queue->spare || table->busy_count == 0);
}

static struct le_loaded_code *wait_for_queued(struct le_code_table *table) {
    table->idle_count++;
    while (!table->is_closing && !has_next(table))
        pthread_cond_wait(&table->queue_changed, &table->lock);
    table->idle_count--;
    struct le_loaded_code *code = table->queue;
    if (!code || (table->is_closing && code->spare))
        return NULL;
    dequeue_code(table, code);
    table->busy_count++;
    return code;
}

/* Returns LEAT_DEVICE also if the process is exiting. */
static leat_status load_in_thread(struct le_loaded_code *code, const struct le_code_source *source) {
    if (!le_exit_guard_begin())
        return LEAT_DEVICE;
    leat_status status = load_code(code, source, IN_THREAD);
    le_exit_guard_end();
    return status;
}

/* If the process is exiting, the code can stay loaded. */
static void unload_in_thread(struct le_loaded_code *surplus) {
    if (!le_exit_guard_begin())
        return;
    unload(surplus);
    le_exit_guard_end();
}

/* This thread blocks all signals: they are for the program's own threads. */
static void *compile_queued(void *user) {
    struct le_code_table *table = user;
    struct le_loaded_code *code;
    le_ledger_thread_is_background();
    pthread_mutex_lock(&table->lock);
    while ((code = wait_for_queued(table))) {
        const struct le_code_source source = {code->name, code->text, code->program, code->what, code->cause};
        pthread_mutex_unlock(&table->lock);
        leat_status status = load_in_thread(code, &source);
        pthread_mutex_lock(&table->lock);
        table->busy_count--;
        code->failed = status != LEAT_OK;
        struct le_loaded_code *surplus = status ? NULL : publish_code(table, code);
        pthread_cond_broadcast(&table->changed);
        if (!surplus)
            continue;
        pthread_mutex_unlock(&table->lock);
        unload_in_thread(surplus);
        pthread_mutex_lock(&table->lock);
    }
    pthread_mutex_unlock(&table->lock);
    return NULL;
}

/* Starts a thread if more codes are queued than threads are idle. Returns whether there is a thread at all. */
static bool start_thread(struct le_code_table *table) {
    sigset_t all, before;
    if (!table->thread_most)
        table->thread_most = le_cores() < THREADS_MAX ? le_cores() : THREADS_MAX;
    if (table->thread_count >= table->thread_most || table->idle_count > table->queued_count)
        return table->thread_count > 0;
    sigfillset(&all);
    sigdelset(&all, SIGSEGV); /* the thread's own faults */
    sigdelset(&all, SIGBUS);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    table->thread_count += pthread_create(&table->threads[table->thread_count], NULL, compile_queued, table) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return table->thread_count > 0;
}

/* The caller holds the lock. */
static void enqueue_code(struct le_code_table *table, struct le_loaded_code *code, const struct le_code_source *source,
                         bool spare) {
    struct le_loaded_code **at = &table->queue;
    code->program = source->program ? le_strdup(source->program) : NULL;
    code->what = le_strdup(source->what);
    code->cause = le_strdup(source->cause);
    code->spare = spare;
    code->failed = !code->what || !code->cause || (source->program && !code->program) || !start_thread(table);
    if (code->failed)
        return;
    while (*at && (spare || !(*at)->spare))
        at = &(*at)->next_queued;
    code->next_queued = *at;
    *at = code;
    code->queued = true;
    table->queued_count++;
    pthread_cond_signal(&table->queue_changed);
}

static enum le_code_state state_of(const struct le_loaded_code *code) {
    return code->ready ? LE_CODE_READY : code->failed ? LE_CODE_FAILED : LE_CODE_COMING;
}

/* Loads a code that this thread has inserted if the store has it. Otherwise queues it, or, if the wish is KEPT, removes
 * it from the table. */
static enum le_code_state find_in_store(struct le_loaded_code *code, const struct le_code_source *source,
                                        enum le_code_wish wish) {
    struct le_code_table *table = code->table;
    leat_status status = load_code(code, source, FROM_STORE);
    if (status == LEAT_MISSING && wish != LE_CODE_KEPT)
        le_device_compiler_begin(table->ctx->device);
    pthread_mutex_lock(&table->lock);
    struct le_loaded_code *surplus = NULL;
    code->failed = status != LEAT_OK && status != LEAT_MISSING;
    if (status == LEAT_OK)
        surplus = publish_code(table, code);
    else
        code->holders = 0;
    if (status == LEAT_MISSING && wish != LE_CODE_KEPT)
        enqueue_code(table, code, source, wish == LE_CODE_SPARE);
    enum le_code_state state = state_of(code);
    if (status == LEAT_MISSING && wish == LE_CODE_KEPT) {
        remove_code(table, code);
        code->next = NULL;
        surplus = code;
    }
    pthread_cond_broadcast(&table->changed);
    pthread_mutex_unlock(&table->lock);
    unload(surplus);
    return state;
}

enum le_code_state le_code_request(leat_context *ctx, const struct le_code_source *source, enum le_code_wish wish,
                                   struct le_loaded_code **code) {
    struct le_code_table *table = ctx->code;
    uint64_t hash = hash_of(source);
    pthread_mutex_lock(&table->lock);
    struct le_loaded_code *found = find_code(table, hash, source->kernel, source->text);
    bool made = !found && (found = insert_new(table, hash, source));
    enum le_code_state state = found ? state_of(found) : LE_CODE_FAILED;
    if (state == LE_CODE_READY)
        hold_code(table, found);
    pthread_mutex_unlock(&table->lock);
    if (made)
        state = find_in_store(found, source, wish);
    if (state == LE_CODE_READY)
        *code = found;
    return state;
}

void le_code_prefetch(leat_context *ctx, const struct le_code_source *source) {
    struct le_code_table *table = ctx->code;
    uint64_t hash = hash_of(source);
    pthread_mutex_lock(&table->lock);
    struct le_loaded_code *code = find_code(table, hash, source->kernel, source->text);
    if (!code && (code = insert_new(table, hash, source))) {
        code->holders = 0;
        enqueue_code(table, code, source, false);
    }
    pthread_mutex_unlock(&table->lock);
}

int64_t le_code_waits(leat_context *ctx) {
    pthread_mutex_lock(&ctx->code->lock);
    int64_t waits = ctx->code->waits;
    pthread_mutex_unlock(&ctx->code->lock);
    return waits;
}

/* ---- release */

void le_code_release(struct le_loaded_code *code) {
    if (!code)
        return;
    struct le_code_table *table = code->table;
    pthread_mutex_lock(&table->lock);
    code->holders--;
    note_use(table, code);
    struct le_loaded_code *surplus = take_surplus(table);
    pthread_mutex_unlock(&table->lock);
    unload(surplus);
}

struct le_device_kernel *le_code_kernel(const struct le_loaded_code *code) {
    return code->kernel;
}
