/* Opening a context: options, then the environment, then what is here. */
#include "run/context.h"
#include "run/machine.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS_MAX 1024
#define NOTE_MAX    1024

static const char *environment(const char *name) {
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static leat_status check_device(const char *given) {
    const char *from = given && strcmp(given, "auto") != 0 ? NULL : environment("LEAT_DEVICE");
    const char *name = from ? from : given ? given : "auto";
    if (strcmp(name, "auto") == 0 || strcmp(name, "cpu") == 0 || strcmp(name, "cpu:0") == 0)
        return LEAT_OK;
    return le_fail_at(LEAT_DEVICE, (struct le_place){0}, "auto, cpu or cpu:0", "there is no device '%.100s'%s", name,
                      from ? " (from LEAT_DEVICE)" : "");
}

static leat_status resolve_threads(int given, int *threads) {
    const char *text = given ? NULL : environment("LEAT_THREADS");
    long value = given;
    if (text) {
        char *end;
        value = strtol(text, &end, 10);
        if (*end || value < 1 || value > THREADS_MAX)
            return le_fail(LEAT_INVALID, "LEAT_THREADS is '%.40s', not a number from 1 to %d", text, THREADS_MAX);
    }
    if (value < 0 || value > THREADS_MAX)
        return le_fail(LEAT_INVALID, "%ld threads: it must be 1 to %d, or 0 for as many as there are cores", value,
                       THREADS_MAX);
    *threads = value ? (int)value : le_cores();
    return LEAT_OK;
}

static leat_status resolve_simd(const char *given, enum le_simd *simd) {
    const char *name = given ? given : environment("LEAT_SIMD");
    *simd = le_simd_best();
    if (!name)
        return LEAT_OK;
    enum le_simd asked = le_simd_parse(name);
    if (asked == LE_SIMDS)
        return le_fail_at(LEAT_INVALID, (struct le_place){0}, "baseline, avx2 or avx512",
                          "there is no instruction set '%.40s'%s", name, given ? "" : " (from LEAT_SIMD)");
    if (!le_simd_here(asked))
        return le_fail(LEAT_DEVICE, "this machine does not have %s; its best is %s", le_simd_name(asked),
                       le_simd_name(*simd));
    *simd = asked;
    return LEAT_OK;
}

static leat_status check_options(const leat_options *options) {
    bool some = options->allocate || options->reallocate || options->release;
    if (some && !(options->allocate && options->reallocate && options->release))
        return le_fail(LEAT_INVALID, "allocate, reallocate and release must be given together, or none of them");
    if (options->ledger_level < 0 || options->ledger_level > 2)
        return le_fail(LEAT_INVALID, "ledger_level %d: it must be 0, 1 or 2", options->ledger_level);
    return check_device(options->device);
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

/* Frees what a context holds, the pool of memory last: the allocator is the pool's. */
static void free_parts(leat_context *ctx) {
    struct le_memory_pool *memory = ctx->memory;
    le_pool_free(ctx->threads);
    le_ledger_free(ctx->ledger);
    pthread_mutex_destroy(&ctx->lock);
    le_free(ctx);
    le_memory_pool_close(memory);
}

static leat_status resolve(leat_context *ctx, const leat_options *options) {
    int threads = 1;
    leat_status status = resolve_threads(options->threads, &threads);
    if (!status)
        status = resolve_simd(options->simd, &ctx->simd);
    return status ? status : le_pool_new(threads, &ctx->threads);
}

static leat_status fill(leat_context *ctx, const leat_options *options) {
    ctx->generation = le_fork_generation();
    ctx->log = options->log;
    ctx->log_user = options->log_user;
    ctx->stream.ctx = ctx;
    ctx->stream.id = 1;
    atomic_init(&ctx->refcount, 1);
    atomic_init(&ctx->last_stream, 1);
    pthread_mutex_init(&ctx->lock, NULL);
    leat_status status = le_ledger_new(options->ledger_level, &ctx->ledger);
    if (status)
        return status;
    struct le_span span;
    le_span_begin(&span, ctx->ledger, LEAT_COST_INIT, "open", "");
    status = resolve(ctx, options);
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
    leat_context *made = le_alloc_zero(1, sizeof *made);
    if (!made) {
        le_memory_pool_close(memory);
        return le_fail_out_of_memory(sizeof *made);
    }
    made->memory = memory;
    status = fill(made, options);
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

/* In a child after fork() there are no threads to stop and the locks' state is unknown: all is left as it is. */
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

/* ---- the copy rate, tickets */

double le_context_copy_rate_known(leat_context *ctx) {
    pthread_mutex_lock(&ctx->lock);
    double rate = ctx->copy_bytes_per_second;
    pthread_mutex_unlock(&ctx->lock);
    return rate;
}

leat_status le_context_copy_rate(leat_context *ctx, double *bytes_per_second) {
    double rate = le_context_copy_rate_known(ctx);
    if (rate == 0) {
        leat_status status = le_machine_copy_rate(ctx->threads, ctx->memory, &rate);
        if (status)
            return status;
        pthread_mutex_lock(&ctx->lock);
        ctx->copy_bytes_per_second = rate;
        pthread_mutex_unlock(&ctx->lock);
    }
    *bytes_per_second = rate;
    return LEAT_OK;
}

leat_ticket le_context_ticket(leat_context *ctx, leat_stream *stream) {
    stream = stream ? stream : &ctx->stream;
    uint64_t number = atomic_fetch_add_explicit(&stream->number, 1, memory_order_relaxed) + 1;
    return (leat_ticket){.stream_id = stream->id, .number = number};
}
