/* Opening a context. A setting comes from the options, else from the environment, else from what the machine has. */
#include "run/context.h"
#include "base/environment.h"
#include "base/clock.h"
#include "base/store.h"
#include "device/device_open.h"
#include "gen/device_code.h"
#include "run/compiled_code.h"
#include "run/host_info.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS_MAX 1024
#define NOTE_MAX    1024

static const char *environment_variable(const char *name) {
    const char *value = le_environment_get(name);
    return value && *value ? value : NULL;
}

/* The device to open; *from: for errors, " (from LEAT_DEVICE)" or "". */
static leat_status resolve_device(const char *given, const char **name, const char **from) {
    const char *variable = given && strcmp(given, "auto") != 0 ? NULL : environment_variable("LEAT_DEVICE");
    *name = variable ? variable : given ? given : "auto";
    *from = variable ? " (from LEAT_DEVICE)" : "";
    if (strcmp(*name, "auto") == 0)
        *name = "cpu";
    if (le_device_is_name(*name))
        return LEAT_OK;
    return le_fail_at(LEAT_DEVICE, (struct le_location){0}, "use auto, cpu, cuda, cuda:1 or sim",
                      "there is no device '%.100s'%s", *name, *from);
}

static leat_status resolve_threads(int given, int *threads) {
    const char *text = given ? NULL : environment_variable("LEAT_THREADS");
    long value = given;
    if (text) {
        char *end;
        value = strtol(text, &end, 10);
        if (*end || value < 1 || value > THREADS_MAX)
            return le_fail(LEAT_INVALID, "LEAT_THREADS is '%.40s', not a number from 1 to %d", text, THREADS_MAX);
    }
    if (value < 0 || value > THREADS_MAX)
        return le_fail(LEAT_INVALID, "threads is %ld; it must be 1 to %d, or 0 for one per core", value, THREADS_MAX);
    *threads = value ? (int)value : le_cores();
    return LEAT_OK;
}

static leat_status resolve_simd(const char *given, enum le_simd *simd) {
    const char *name = given ? given : environment_variable("LEAT_SIMD");
    *simd = le_simd_best();
    if (!name)
        return LEAT_OK;
    enum le_simd asked = le_simd_parse(name);
    if (asked == LE_SIMDS)
        return le_fail_at(LEAT_INVALID, (struct le_location){0}, "use baseline, avx2 or avx512",
                          "there is no instruction set '%.40s'%s", name, given ? "" : " (from LEAT_SIMD)");
    if (!le_simd_here(asked))
        return le_fail(LEAT_DEVICE, "this machine does not support %s; the best it supports is %s", le_simd_name(asked),
                       le_simd_name(*simd));
    *simd = asked;
    return LEAT_OK;
}

/* Compiling the interpreter takes long, so by default it is used only if it is in the store. */
static leat_status resolve_interpret(const leat_options *options, leat_interpret *interpret) {
    static const char *const names[] = {[LEAT_INTERPRET_NEVER] = "never",
                                        [LEAT_INTERPRET_READY] = "ready",
                                        [LEAT_INTERPRET_ALWAYS] = "always",
                                        [LEAT_INTERPRET_ONLY] = "only"};
    bool open = options->interpret == LEAT_INTERPRET_DEFAULT;
    const char *text = open ? environment_variable("LEAT_INTERPRET") : NULL;
    *interpret = !open ? options->interpret : options->keep_code ? LEAT_INTERPRET_READY : LEAT_INTERPRET_NEVER;
    for (int k = LEAT_INTERPRET_NEVER; text && k < (int)ARRAY_LEN(names); k++)
        if (strcmp(text, names[k]) == 0) {
            *interpret = (leat_interpret)k;
            return LEAT_OK;
        }
    return text ? le_fail_at(LEAT_INVALID, (struct le_location){0}, "use never, ready, always or only",
                             "unknown value '%.40s' of LEAT_INTERPRET", text)
                : LEAT_OK;
}

static leat_status resolve_tf32(const leat_options *options, bool *tf32) {
    const char *text = options->tf32 == 0 ? environment_variable("LEAT_PRECISION") : NULL;
    *tf32 = options->tf32 > 0 || (text && strcmp(text, "tf32") == 0);
    if (!text || *tf32 || strcmp(text, "f32") == 0)
        return LEAT_OK;
    return le_fail_at(LEAT_INVALID, (struct le_location){0}, "use f32 or tf32",
                      "unknown value '%.40s' of LEAT_PRECISION", text);
}

/* A multiply-add that rounds twice gives other bits than a GPU's. */
static leat_status resolve_bits(const leat_options *options, enum le_simd simd, bool *portable) {
    const char *text = options->portable_bits == 0 ? environment_variable("LEAT_BITS") : NULL;
    *portable = options->portable_bits > 0 || (text && strcmp(text, "portable") == 0);
    if (*portable && !le_simd_is_fused(simd))
        return le_fail(LEAT_UNSUPPORTED,
                       "bits that are the same on every device need fused multiply-adds, which the "
                       "CPU's instruction set '%s' does not have",
                       le_simd_name(simd));
    if (!text || *portable || strcmp(text, "default") == 0)
        return LEAT_OK;
    return le_fail_at(LEAT_INVALID, (struct le_location){0}, "use portable or default",
                      "unknown value '%.40s' of LEAT_BITS", text);
}

/* The text belongs to the environment's copy, which the context holds. */
static leat_status resolve_mapping(const char **mapping) {
    *mapping = environment_variable("LEAT_MAPPING");
    return *mapping ? le_mapping_check(*mapping) : LEAT_OK;
}

static leat_status check_options(const leat_options *options) {
    bool some = options->allocate || options->reallocate || options->release;
    if (some && !(options->allocate && options->reallocate && options->release))
        return le_fail(LEAT_INVALID, "allocate, reallocate and release must all be set or all be NULL");
    if (options->interpret < LEAT_INTERPRET_DEFAULT || options->interpret > LEAT_INTERPRET_ONLY)
        return le_fail(LEAT_INVALID, "interpret is %d, which is not a leat_interpret value", (int)options->interpret);
    if (options->tf32 < -1 || options->tf32 > 1)
        return le_fail(LEAT_INVALID, "tf32 is %d; it must be -1, 0 or 1", options->tf32);
    if (options->portable_bits < -1 || options->portable_bits > 1)
        return le_fail(LEAT_INVALID, "portable_bits is %d; it must be -1, 0 or 1", options->portable_bits);
    if (options->copy_threads < 0 || options->copy_threads > THREADS_MAX)
        return le_fail(LEAT_INVALID, "copy_threads is %d; it must be 1 to %d, or 0 for the default",
                       options->copy_threads, THREADS_MAX);
    if (options->ledger_level < 0 || options->ledger_level > 2)
        return le_fail(LEAT_INVALID, "ledger_level is %d; it must be 0, 1 or 2", options->ledger_level);
    return LEAT_OK;
}

static leat_status new_memory(const leat_options *options, struct le_memory_pool **memory) {
    struct le_pool_options pool = {
        .memory_cap_bytes = options->memory_cap_bytes,
        .cache_cap_bytes = options->cache_cap_bytes,
        .allocator = {options->allocate, options->reallocate, options->release, options->allocator_user},
        .log = options->log,
        .log_user = options->log_user,
    };
    return le_memory_pool_new(&pool, memory);
}

/* Frees everything that a context holds. The memory pool comes last, because it owns the allocator. */
static void free_parts(leat_context *ctx) {
    struct le_memory_pool *memory = ctx->memory;
    le_code_table_free(ctx->code);
    le_device_close(ctx->device);
    le_store_close(ctx->store);
    le_pool_free(ctx->threads);
    le_ledger_free(ctx->ledger);
    pthread_mutex_destroy(&ctx->lock);
    le_free(ctx);
    le_environment_release();
    le_memory_pool_close(memory);
}

static leat_status open_device(leat_context *ctx, const leat_options *options) {
    const char *name, *from;
    const struct le_device_options device = {
        .memory_cap_bytes = options->memory_cap_bytes,
        .cache_cap_bytes = options->cache_cap_bytes,
        .copy_threads = options->copy_threads,
        .sim_check = options->sim_check,
        .sim_seed = options->sim_seed,
        .ledger = ctx->ledger,
        .compiles = true,
        .store = ctx->store,
        .log = options->log,
        .log_user = options->log_user,
    };
    leat_status status = resolve_device(options->device, &name, &from);
    if (!status)
        status = le_device_open(name, &device, &ctx->device);
    if (!status)
        ctx->stream.work = le_device_stream_own(ctx->device);
    return status;
}

static leat_status resolve_options(leat_context *ctx, const leat_options *options) {
    int threads = 1;
    leat_status status = resolve_threads(options->threads, &threads);
    if (!status)
        status = resolve_simd(options->simd, &ctx->simd);
    if (!status)
        status = resolve_interpret(options, &ctx->interpret);
    if (!status)
        status = resolve_tf32(options, &ctx->tf32);
    if (!status)
        status = resolve_bits(options, ctx->simd, &ctx->portable_bits);
    if (!status)
        status = resolve_mapping(&ctx->mapping);
    if (!status)
        status = le_pool_new(threads, &ctx->threads);
    if (!status && options->keep_code)
        status = le_store_open(NULL, &ctx->store);
    if (!status)
        status = open_device(ctx, options);
    return status ? status : le_code_table_new(ctx, options->code_cap_bytes, &ctx->code);
}

static leat_status fill_context(leat_context *ctx, const leat_options *options) {
    ctx->generation = le_fork_watch();
    ctx->opened_ns = le_clock_ns();
    ctx->log = options->log;
    ctx->log_user = options->log_user;
    ctx->stream.ctx = ctx;
    atomic_init(&ctx->refcount, 1);
    pthread_mutex_init(&ctx->lock, NULL);
    leat_status status = le_ledger_new(options->ledger_level, &ctx->ledger);
    if (status)
        return status;
    struct le_span span;
    le_span_begin(&span, ctx->ledger, LEAT_COST_INIT, "open", "");
    status = resolve_options(ctx, options);
    le_span_end(&span, 0, 0);
    return status;
}

leat_status le_context_new(const leat_options *options, leat_context **ctx) {
    static const leat_options defaults = {0};
    options = options ? options : &defaults;
    struct le_memory_pool *memory;
    leat_status status = check_options(options);
    if (!status)
        status = new_memory(options, &memory);
    if (status)
        return status;
    bool held = le_environment_hold(options->environment);
    leat_context *made = held ? le_alloc_zero(1, sizeof *made) : NULL;
    if (!made) {
        if (held)
            le_environment_release();
        le_memory_pool_close(memory);
        return le_fail_out_of_memory(sizeof *made);
    }
    made->memory = memory;
    status = fill_context(made, options);
    if (status)
        free_parts(made);
    else
        *ctx = made;
    return status;
}

leat_context *le_context_retain(leat_context *ctx) {
    atomic_fetch_add_explicit(&ctx->refcount, 1, memory_order_relaxed);
    return ctx;
}

/* In a forked child there are no threads to stop and the locks' state is unknown, so nothing is freed. */
void le_context_release(leat_context *ctx) {
    if (!ctx || ctx->generation != le_fork_generation())
        return;
    if (atomic_fetch_sub_explicit(&ctx->refcount, 1, memory_order_acq_rel) == 1)
        free_parts(ctx);
}

void le_context_close(leat_context *ctx) {
    if (!ctx || ctx->generation != le_fork_generation())
        return;
    pthread_mutex_lock(&ctx->lock);
    struct le_program_cache *programs = ctx->programs;
    ctx->programs = NULL;
    pthread_mutex_unlock(&ctx->lock);
    if (programs && ctx->programs_free)
        ctx->programs_free(programs);
    le_context_release(ctx);
}

leat_status le_context_check(const leat_context *ctx) {
    if (!ctx)
        return le_fail(LEAT_INVALID, "ctx is NULL");
    if (ctx->generation != le_fork_generation())
        return le_fail(LEAT_INVALID, "the context was opened before fork(); open a new one in the child");
    return LEAT_OK;
}

/* ---- notes */

static void log_line(leat_context *ctx, leat_log_level level, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));
static void log_line(leat_context *ctx, leat_log_level level, const char *format, va_list arguments) {
    char text[NOTE_MAX];
    if (!ctx->log)
        return;
    vsnprintf(text, sizeof text, format, arguments);
    ctx->log(level, text, ctx->log_user);
}

void le_context_note(leat_context *ctx, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    log_line(ctx, LEAT_LOG_NOTE, format, arguments);
    va_end(arguments);
}

void le_context_warn(leat_context *ctx, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    log_line(ctx, LEAT_LOG_WARNING, format, arguments);
    va_end(arguments);
}

/* ---- rates, memory use, tickets */

leat_status le_context_rates(leat_context *ctx, bool measure, struct le_machine_rates *rates) {
    pthread_mutex_lock(&ctx->lock);
    *rates = ctx->rates;
    pthread_mutex_unlock(&ctx->lock);
    if (!measure || rates->copy_bytes_per_second > 0)
        return LEAT_OK;
    leat_status status = le_machine_measure(ctx->threads, ctx->memory, ctx->simd, rates);
    if (status)
        return status;
    pthread_mutex_lock(&ctx->lock);
    ctx->rates = *rates;
    pthread_mutex_unlock(&ctx->lock);
    return LEAT_OK;
}

leat_status le_context_memory_use(leat_context *ctx, leat_memory memory, struct le_memory_usage *use) {
    static const enum le_memory_kind kinds[] = {[LEAT_MEMORY_DEVICE] = LE_MEMORY_DEVICE,
                                                [LEAT_MEMORY_HOST] = LE_MEMORY_HOST,
                                                [LEAT_MEMORY_PINNED] = LE_MEMORY_PINNED,
                                                [LEAT_MEMORY_MAPPED] = LE_MEMORY_MAPPED};
    if (!le_device_limits_of(ctx->device)->host_is_device)
        return le_device_memory_use(ctx->device, kinds[memory], use);
    struct le_pool_use pool;
    le_memory_pool_use(ctx->memory, &pool);
    *use = (struct le_memory_usage){.live_bytes = pool.live_bytes,
                                    .kept_bytes = pool.kept_bytes,
                                    .peak_bytes = pool.peak_bytes,
                                    .cap_bytes = pool.cap_bytes,
                                    .trims = pool.trims};
    return LEAT_OK;
}

leat_ticket le_context_ticket(leat_context *ctx, leat_stream *stream) {
    struct le_point point = le_device_stream_point(le_context_stream(ctx, stream));
    return (leat_ticket){.stream_id = point.stream_id, .number = point.number};
}
