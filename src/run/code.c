/* See code.h: the table of what is compiled, loaded and held. Not the store's work, nor the compiler's: the device's
 * (device/cuda/cuda_compile.c). */
#include "run/code.h"
#include "base/hash.h"
#include "base/memory.h"
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
    bool ready; /* else some thread compiles it */
};

struct le_code_table {
    leat_context *ctx; /* not retained: it owns this */
    size_t cap_bytes;
    pthread_mutex_t lock; /* guards what follows, and all codes */
    pthread_cond_t changed;
    struct le_loaded_code *places[TABLE_SIZE];
    struct le_loaded_code *newest, *oldest;
    size_t size_bytes;
};

leat_status le_code_table_new(leat_context *ctx, size_t cap_bytes, struct le_code_table **table) {
    struct le_code_table *made = le_alloc_zero(1, sizeof *made);
    if (!made)
        return le_fail_out_of_memory(sizeof *made);
    made->ctx = ctx;
    made->cap_bytes = cap_bytes ? cap_bytes : DEFAULT_CAP_BYTES;
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->changed, NULL);
    *table = made;
    return LEAT_OK;
}

static void free_code(struct le_loaded_code *code, const char *cause) {
    if (code->module)
        le_device_module_unload(code->module, cause);
    le_free(code->text);
    le_free(code->name);
    le_free(code);
}

void le_code_table_free(struct le_code_table *table) {
    if (!table)
        return;
    for (int k = 0; k < TABLE_SIZE; k++)
        for (struct le_loaded_code *code = table->places[k], *next; code; code = next) {
            next = code->next;
            free_code(code, "the context is closed");
        }
    pthread_cond_destroy(&table->changed);
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

static leat_status compile(struct le_loaded_code *code, const struct le_code_source *asked) {
    const struct le_module_source source = {.text = code->text,
                                            .name = code->name,
                                            .options = options,
                                            .is_whole = true,
                                            .is_plain = true,
                                            .owner = asked->program,
                                            .label = asked->what,
                                            .cause = asked->cause};
    leat_status status = le_device_module_new(code->table->ctx->device, &source, &code->module);
    if (!status)
        status = le_device_module_kernel(code->module, code->name, &code->kernel);
    if (!status)
        code->size_bytes = le_device_module_size_bytes(code->module) + strlen(code->text) + sizeof *code;
    return status;
}

/* A code that this thread has put into the table is compiled; where that fails it is gone again, and threads that wait
 * for it try for themselves. */
static leat_status make(struct le_loaded_code *code, const struct le_code_source *source) {
    struct le_code_table *table = code->table;
    leat_status status = compile(code, source);
    pthread_mutex_lock(&table->lock);
    struct le_loaded_code *surplus = status ? code : NULL;
    if (status) {
        take_out(table, code);
        code->next = NULL;
    } else {
        code->ready = true;
        table->size_bytes += code->size_bytes;
        link_newest(table, code);
        surplus = take_surplus(table);
    }
    pthread_cond_broadcast(&table->changed);
    pthread_mutex_unlock(&table->lock);
    unload(surplus);
    return status;
}

/* The code, held: there already (*made false), or put into the table to be compiled; NULL: no memory. */
static struct le_loaded_code *find_or_put(struct le_code_table *table, const struct le_code_source *source,
                                          bool *made) {
    const char *kernel = source->kernel, *text = source->text;
    uint64_t hash = le_hash(text, strlen(text), le_hash(kernel, strlen(kernel), 0));
    pthread_mutex_lock(&table->lock);
    struct le_loaded_code *code = find(table, hash, kernel, text);
    while (code && !code->ready) {
        pthread_cond_wait(&table->changed, &table->lock);
        code = find(table, hash, kernel, text);
    }
    *made = !code;
    if (code) {
        code->holders++;
        note_use(table, code);
    } else if ((code = new_code(table, hash, kernel, text))) {
        code->next = *place_of(table, hash);
        *place_of(table, hash) = code;
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
