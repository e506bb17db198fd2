/* A context: what the options came to, and what all programs, calls and streams made from it share. Reference-counted;
 * arrays keep only its memory pool alive. Any thread. */
#ifndef LE_CONTEXT_H
#define LE_CONTEXT_H
#include "array/array.h"
#include "base/ledger.h"
#include "base/thread.h"
#include "device/cpu/machine/ops.h"
#include "gen/device_interpreter.h"
#include "run/host_info.h"
#include <pthread.h>
#include <stdatomic.h>

struct le_code_table;
struct le_program_cache;
struct le_store;

struct leat_stream {
    leat_context *ctx;             /* retained; not so by the context's own */
    struct le_device_stream *work; /* the device's: the CPU has some, too */
};

struct leat_context {
    atomic_int refcount;
    unsigned generation; /* of processes: le_fork_generation */
    enum le_simd simd;
    struct le_pool *threads;
    struct le_ledger *ledger;
    struct le_memory_pool *memory;
    struct le_device *device; /* the CPU's, too, where all is done at once */
    struct le_store *store;   /* of compiled code; NULL: it is not kept */
    struct le_code_table *code;
    _Atomic(struct le_loaded_code *) interpreters[LE_INTERPRETERS]; /* once they are found; held to the end */
    uint64_t opened_ns;                                             /* by le_clock_ns */
    leat_interpret interpret;                                       /* not DEFAULT */
    void (*log)(leat_log_level level, const char *text, void *user);
    void *log_user;
    atomic_bool blas_warned;       /* of LEAT_BLAS */
    struct leat_stream stream;     /* where a call without a stream runs */
    pthread_mutex_t lock;          /* guards what follows */
    struct le_machine_rates rates; /* 0: not measured */
    /* leat_eval's programs by their text. They hold references to the context: leat_close drops them first. */
    struct le_program_cache *programs;
    void (*programs_free)(struct le_program_cache *programs);
};

/* options may be NULL. */
leat_status le_context_new(const leat_options *options, leat_context **ctx);
leat_context *le_context_retain(leat_context *ctx);
void le_context_release(leat_context *ctx);
void le_context_close(leat_context *ctx); /* the opener's release: drops the program cache, too */
/* LEAT_INVALID for NULL, and in a child of the process that opened it. */
leat_status le_context_check(const leat_context *ctx);
/* Whether the array was made in this context. */
static inline bool le_context_has(const leat_context *ctx, const leat_array *array) {
    return array->buffer->pool == ctx->memory;
}
/* Passes one line to the log hook, if there is one. */
void le_context_note(leat_context *ctx, const char *format, ...) __attribute__((format(printf, 2, 3)));
void le_context_warn(leat_context *ctx, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* measure: measures them at the first such call (about 0.1 s); false gives what is known, 0 if that is nothing. */
leat_status le_context_rates(leat_context *ctx, bool measure, struct le_machine_rates *rates);

/* Where the context's arrays live. */
static inline struct le_array_home le_context_home(const leat_context *ctx) {
    bool on_cpu = le_device_limits_of(ctx->device)->host_is_device;
    return (struct le_array_home){.pool = ctx->memory,
                                  .device = on_cpu ? NULL : ctx->device,
                                  .stream = on_cpu ? NULL : le_device_stream_own(ctx->device)};
}
/* The device's stream of a stream, or for NULL the context's own. */
static inline struct le_device_stream *le_context_stream(const leat_context *ctx, const leat_stream *stream) {
    return (stream ? stream : &ctx->stream)->work;
}
/* What is used of a kind of memory. */
leat_status le_context_memory_use(leat_context *ctx, leat_memory memory, struct le_memory_usage *use);
/* The point that all work given so far to the stream (NULL: the context's own) has passed when it is reached. */
leat_ticket le_context_ticket(leat_context *ctx, leat_stream *stream);
#endif
