/* See compiled_code.h: the table of what is compiled, loaded and held, and the thread that compiles what nobody waits
 * for. Not the store's work, nor the compiler's: the device's (device/cuda/cuda_compile.c).
 *
 * A code that is in the table and not ready is some thread's to compile: of one that called le_code_get, or of the
 * context's own if it was put into the queue. One that failed there is nobody's, until le_code_get takes it. */
#include "run/compiled_code.h"
#include "base/exit_guard.h"
#include "base/hash.h"
#include "base/memory.h"
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

#define DEFAULT_CAP_BYTES ((size_t)256 << 20)
#define TABLE_SIZE        1024

/* Generated code computes what the CPU does, to the last bit: no contraction of a product and a sum, IEEE division and
 * roots, subnormals as they are. No other option is given to what Leat generates. */
static const char *const options[] = {"--fmad=false", "--prec-div=true", "--prec-sqrt=true", "--ftz=false", NULL};

struct le_loaded_code {
    struct le_code_table *table;
    struct le_loaded_code *next;          /* in the same place of the table */
    struct le_loaded_code *newer, *older; /* by their last use, of those that are ready */
    uint64_t hash;
    char *text, *name;
    struct le_device_module *module;
    struct le_device_kernel *kernel;
    size_t size_bytes;
    int holders;
    bool ready;
    bool failed;                       /* in the context's thread */
    bool queued;                       /* and not begun */
    char *program, *what, *cause;      /* of what is in the queue */
    bool spare;                        /* the same */
    struct le_loaded_code *next_asked; /* behind it in the queue */
};

struct le_code_table {
    leat_context *ctx; /* not retained: it owns this */
    size_t cap_bytes;
    pthread_mutex_t lock; /* guards what follows, and all codes */
    pthread_cond_t changed;
    struct le_loaded_code *places[TABLE_SIZE];
    struct le_loaded_code *newest, *oldest;
    size_t size_bytes;
    int64_t waits;
    struct le_loaded_code *asked; /* the queue: what is spare comes last */
    pthread_t thread;             /* that compiles them, one after the other */
    bool has_thread;
    atomic_bool is_closing; /* written under the lock */
    pthread_cond_t more;    /* of the queue, or the end */
};

leat_status le_code_table_new(leat_context *ctx, size_t cap_bytes, struct le_code_table **table) {
    struct le_code_table *made = le_alloc_zero(1, sizeof *made);
    if (!made)
        return le_fail_out_of_memory(sizeof *made);
    made->ctx = ctx;
    made->cap_bytes = cap_bytes ? cap_bytes : DEFAULT_CAP_BYTES;
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->changed, NULL);
    pthread_cond_init(&made->more, NULL);
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

static void end_thread(struct le_code_table *table) {
    pthread_mutex_lock(&table->lock);
    bool runs = table->has_thread;
    table->is_closing = true;
    pthread_cond_signal(&table->more);
    pthread_mutex_unlock(&table->lock);
    if (runs)
        pthread_join(table->thread, NULL);
}

void le_code_table_free(struct le_code_table *table) {
    if (!table)
        return;
    end_thread(table);
    for (int k = 0; k < TABLE_SIZE; k++)
        for (struct le_loaded_code *code = table->places[k], *next; code; code = next) {
            next = code->next;
            free_code(code, "the context is closed");
        }
    pthread_cond_destroy(&table->changed);
    pthread_cond_destroy(&table->more);
    pthread_mutex_destroy(&table->lock);
    le_free(table);
}

/* ---- the table and the order of uses, under the lock */

static struct le_loaded_code **place_of(struct le_code_table *table, uint64_t hash) {
    return &table->places[hash % TABLE_SIZE];
}

static struct le_loaded_code *find(struct le_code_table *table, uint64_t hash, const char *kernel, const char *text) {
    for (struct le_loaded_code *code = *place_of(table, hash); code; code = code->next)
        if (code->hash == hash && strcmp(code->text, text) == 0 && strcmp(code->name, kernel) == 0)
            return code;
    return NULL;
}

static void take_out(struct le_code_table *table, struct le_loaded_code *code) {
    struct le_loaded_code **at = place_of(table, code->hash);
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

/* What goes so that the limit is kept, as a list by `next`: used longest ago first, and nothing that is held. */
static struct le_loaded_code *take_surplus(struct le_code_table *table) {
    struct le_loaded_code *surplus = NULL;
    for (struct le_loaded_code *code = table->oldest, *newer; code && table->size_bytes > table->cap_bytes;
         code = newer) {
        newer = code->newer;
        if (code->holders)
            continue;
        unlink_use(table, code);
        take_out(table, code);
        table->size_bytes -= code->size_bytes;
        code->next = surplus;
        surplus = code;
    }
    return surplus;
}

/* Without the lock: unloading waits for the device. */
static void unload(struct le_loaded_code *surplus) {
    for (struct le_loaded_code *next; surplus; surplus = next) {
        next = surplus->next;
        free_code(surplus, "the limit of loaded code");
    }
}

/* ---- get and release */

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

/* Of what the context's thread compiles. */
static bool is_unwanted(void *user) {
    const struct le_loaded_code *code = user;
    return le_exit_guard_is_exiting() || (code->spare && atomic_load(&code->table->is_closing));
}

enum way { AT_ONCE, IN_THREAD, IF_KEPT }; /* IF_KEPT: LEAT_MISSING if the store has not got it */

static leat_status load(struct le_loaded_code *code, const struct le_code_source *asked, enum way way) {
    const struct le_module_source source = {.text = code->text,
                                            .name = code->name,
                                            .options = options,
                                            .is_whole = true,
                                            .is_plain = true,
                                            .only_cached = way == IF_KEPT,
                                            .owner = asked->program,
                                            .label = asked->what,
                                            .cause = asked->cause,
                                            .is_unwanted = way == IN_THREAD ? is_unwanted : NULL,
                                            .user = code};
    leat_status status = le_device_module_new(code->table->ctx->device, &source, &code->module);
    if (!status)
        status = le_device_module_kernel(code->module, code->name, &code->kernel);
    if (status) {
        le_device_module_free(code->module);
        code->module = NULL;
        return status;
    }
    code->size_bytes = le_device_module_size_bytes(code->module) + strlen(code->text) + sizeof *code;
    return LEAT_OK;
}

/* Under the lock. Gives what goes for it. */
static struct le_loaded_code *put_ready(struct le_code_table *table, struct le_loaded_code *code) {
    code->ready = true;
    table->size_bytes += code->size_bytes;
    link_newest(table, code);
    return take_surplus(table);
}

/* A code that is this thread's to compile is; where that fails it is gone again, and threads that wait for it try for
 * themselves. */
static leat_status make(struct le_loaded_code *code, const struct le_code_source *source) {
    struct le_code_table *table = code->table;
    leat_status status = load(code, source, AT_ONCE);
    pthread_mutex_lock(&table->lock);
    struct le_loaded_code *surplus = status ? code : NULL;
    table->waits += status == LEAT_OK && !le_device_module_was_cached(code->module);
    if (status) {
        take_out(table, code);
        code->next = NULL;
    } else {
        surplus = put_ready(table, code);
    }
    pthread_cond_broadcast(&table->changed);
    pthread_mutex_unlock(&table->lock);
    unload(surplus);
    return status;
}

static uint64_t hash_of(const struct le_code_source *source) {
    return le_hash(source->text, strlen(source->text), le_hash(source->kernel, strlen(source->kernel), 0));
}

/* Under the lock; held once. NULL: no memory. */
static struct le_loaded_code *put(struct le_code_table *table, uint64_t hash, const struct le_code_source *source) {
    struct le_loaded_code *code = new_code(table, hash, source->kernel, source->text);
    if (code) {
        code->next = *place_of(table, hash);
        *place_of(table, hash) = code;
    }
    return code;
}

static void hold(struct le_code_table *table, struct le_loaded_code *code) {
    code->holders++;
    note_use(table, code);
}

/* Out of the queue. */
static void take_asked(struct le_code_table *table, struct le_loaded_code *code) {
    struct le_loaded_code **at = &table->asked;
    while (*at != code)
        at = &(*at)->next_asked;
    *at = code->next_asked;
    code->queued = false;
}

/* The code, held: there already (*made false), or in the table for this thread to compile; NULL: no memory. */
static struct le_loaded_code *find_or_put(struct le_code_table *table, const struct le_code_source *source,
                                          bool *made) {
    uint64_t hash = hash_of(source);
    pthread_mutex_lock(&table->lock);
    struct le_loaded_code *code = find(table, hash, source->kernel, source->text);
    while (code && !code->ready && !code->failed && !code->queued) {
        pthread_cond_wait(&table->changed, &table->lock);
        code = find(table, hash, source->kernel, source->text);
    }
    *made = !code || !code->ready;
    if (!code)
        code = put(table, hash, source);
    else if (code->ready)
        hold(table, code);
    else {
        if (code->queued)
            take_asked(table, code);
        code->failed = false;
        code->holders = 1;
    }
    pthread_mutex_unlock(&table->lock);
    return code;
}

leat_status le_code_get(leat_context *ctx, const struct le_code_source *source, struct le_loaded_code **code) {
    bool made;
    struct le_loaded_code *found = find_or_put(ctx->code, source, &made);
    if (!found)
        return le_fail_out_of_memory(strlen(source->text));
    if (!made)
        le_ledger_add(ctx->ledger, LEAT_COST_IN_MEMORY, source->what, source->cause, 0);
    leat_status status = made ? make(found, source) : LEAT_OK;
    if (!status)
        *code = found;
    return status;
}

/* ---- what is compiled while nobody waits */

static struct le_loaded_code *next_asked(struct le_code_table *table) {
    while (!table->is_closing && !table->asked)
        pthread_cond_wait(&table->more, &table->lock);
    struct le_loaded_code *code = table->asked;
    if (!code || (table->is_closing && code->spare))
        return NULL;
    take_asked(table, code);
    return code;
}

/* LEAT_DEVICE, too, where the process ends. */
static leat_status load_in_thread(struct le_loaded_code *code, const struct le_code_source *source) {
    if (!le_exit_guard_begin())
        return LEAT_DEVICE;
    leat_status status = load(code, source, IN_THREAD);
    le_exit_guard_end();
    return status;
}

/* Where the process ends it may as well stay loaded. */
static void unload_in_thread(struct le_loaded_code *surplus) {
    if (!le_exit_guard_begin())
        return;
    unload(surplus);
    le_exit_guard_end();
}

/* Signals are the program's own: this thread takes none. */
static void *compile_asked(void *user) {
    struct le_code_table *table = user;
    struct le_loaded_code *code;
    pthread_mutex_lock(&table->lock);
    while ((code = next_asked(table))) {
        const struct le_code_source source = {code->name, code->text, code->program, code->what, code->cause};
        pthread_mutex_unlock(&table->lock);
        leat_status status = load_in_thread(code, &source);
        pthread_mutex_lock(&table->lock);
        code->failed = status != LEAT_OK;
        struct le_loaded_code *surplus = status ? NULL : put_ready(table, code);
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

static bool start_thread(struct le_code_table *table) {
    sigset_t all, before;
    if (table->has_thread)
        return true;
    sigfillset(&all);
    sigdelset(&all, SIGSEGV); /* the thread's own faults */
    sigdelset(&all, SIGBUS);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    table->has_thread = pthread_create(&table->thread, NULL, compile_asked, table) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return table->has_thread;
}

/* Under the lock. */
static void enqueue(struct le_code_table *table, struct le_loaded_code *code, const struct le_code_source *source,
                    bool spare) {
    struct le_loaded_code **at = &table->asked;
    code->program = source->program ? le_strdup(source->program) : NULL;
    code->what = le_strdup(source->what);
    code->cause = le_strdup(source->cause);
    code->spare = spare;
    code->failed = !code->what || !code->cause || (source->program && !code->program) || !start_thread(table);
    if (code->failed)
        return;
    while (*at && (spare || !(*at)->spare))
        at = &(*at)->next_asked;
    code->next_asked = *at;
    *at = code;
    code->queued = true;
    pthread_cond_signal(&table->more);
}

static enum le_code_state state_of(const struct le_loaded_code *code) {
    return code->ready ? LE_CODE_READY : code->failed ? LE_CODE_FAILED : LE_CODE_COMING;
}

/* A code that this thread has put into the table is loaded if the store has it, else asked for, or gone again. */
static enum le_code_state find_kept(struct le_loaded_code *code, const struct le_code_source *source,
                                    enum le_code_wish wish) {
    struct le_code_table *table = code->table;
    leat_status status = load(code, source, IF_KEPT);
    if (status == LEAT_MISSING && wish != LE_CODE_KEPT)
        le_device_compiler_begin(table->ctx->device);
    pthread_mutex_lock(&table->lock);
    struct le_loaded_code *surplus = NULL;
    code->failed = status != LEAT_OK && status != LEAT_MISSING;
    if (status == LEAT_OK)
        surplus = put_ready(table, code);
    else
        code->holders = 0;
    if (status == LEAT_MISSING && wish != LE_CODE_KEPT)
        enqueue(table, code, source, wish == LE_CODE_SPARE);
    enum le_code_state state = state_of(code);
    if (status == LEAT_MISSING && wish == LE_CODE_KEPT) {
        take_out(table, code);
        code->next = NULL;
        surplus = code;
    }
    pthread_cond_broadcast(&table->changed);
    pthread_mutex_unlock(&table->lock);
    unload(surplus);
    return state;
}

enum le_code_state le_code_ask(leat_context *ctx, const struct le_code_source *source, enum le_code_wish wish,
                               struct le_loaded_code **code) {
    struct le_code_table *table = ctx->code;
    uint64_t hash = hash_of(source);
    pthread_mutex_lock(&table->lock);
    struct le_loaded_code *found = find(table, hash, source->kernel, source->text);
    bool made = !found && (found = put(table, hash, source));
    enum le_code_state state = found ? state_of(found) : LE_CODE_FAILED;
    if (state == LE_CODE_READY)
        hold(table, found);
    pthread_mutex_unlock(&table->lock);
    if (made)
        state = find_kept(found, source, wish);
    if (state == LE_CODE_READY)
        *code = found;
    return state;
}

int64_t le_code_waits(leat_context *ctx) {
    pthread_mutex_lock(&ctx->code->lock);
    int64_t waits = ctx->code->waits;
    pthread_mutex_unlock(&ctx->code->lock);
    return waits;
}

/* ---- */

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
