/* A context holds the resolved options and whatever its programs, calls and streams share. It is reference-counted;
 * arrays keep only its memory pool alive. Thread-safe. */
#ifndef LE_CONTEXT_H
#define LE_CONTEXT_H
#include "array/array.h"
#include "base/ledger.h"
#include "base/thread.h"
#include "device/cpu/machine/ops.h"
#include "gen/interpreter/interpreter.h"
#include "run/host_info.h"
#include <pthread.h>
#include <stdatomic.h>

struct le_code_table;
struct le_program_cache;
struct le_store;

struct leat_stream {
    leat_context *ctx;             /* retained, except by the context's own stream */
    struct le_device_stream *work; /* the device's stream; the CPU has streams, too */
};

struct leat_context {
    atomic_int refcount;
    unsigned generation; /* le_fork_generation when the context was opened */
    enum le_simd simd;
    struct le_pool *threads;
    struct le_ledger *ledger;
    struct le_memory_pool *memory;
    struct le_device *device; /* never NULL: the CPU is a device, too, and completes all work at once */
    struct le_store *store;   /* of compiled code, on disk; NULL: code is not stored */
    struct le_code_table *code;
    _Atomic(struct le_loaded_code *)
        interpreters[LE_INTERPRETERS]; /* NULL until found; then held until the context is freed */
    uint64_t opened_ns;                /* by le_clock_ns */
    leat_interpret interpret;          /* not DEFAULT */
    bool tf32;                         /* matrix products of f32 may use it */
    const char *mapping;               /* LEAT_MAPPING, checked; NULL: it is not set */
    void (*log)(leat_log_level level, const char *text, void *user);
    void *log_user;
    atomic_bool blas_warned;       /* a warning about LEAT_BLAS was logged */
    struct leat_stream stream;     /* where a call without a stream runs */
    pthread_mutex_t lock;          /* guards the fields below */
    struct le_machine_rates rates; /* 0: not measured */
    /* leat_eval's programs, keyed by their text. They hold references to the context, so leat_close drops them first.
     */
    struct le_program_cache *programs;
    void (*programs_free)(struct le_program_cache *programs);
};

/* options may be NULL. */
leat_status le_context_new(const leat_options *options, leat_context **ctx);
leat_context *le_context_retain(leat_context *ctx);
void le_context_release(leat_context *ctx);
void le_context_close(leat_context *ctx); /* drops the program cache and the opener's reference */
/* Returns LEAT_INVALID for NULL, and in a forked child of the process that opened the context. */
leat_status le_context_check(const leat_context *ctx);
/* Whether the array was created in this context. */
static inline bool le_context_has(const leat_context *ctx, const leat_array *array) {
    return array->buffer->pool == ctx->memory;
}
/* Pass one line to the log hook, if there is one. */
void le_context_note(leat_context *ctx, const char *format, ...) __attribute__((format(printf, 2, 3)));
void le_context_warn(leat_context *ctx, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* measure: the first such call measures the rates, which takes about 0.1 s. Without it, rates not measured yet are 0.
 */
leat_status le_context_rates(leat_context *ctx, bool measure, struct le_machine_rates *rates);

/* Where the context allocates arrays. */
static inline struct le_array_home le_context_home(const leat_context *ctx) {
    bool on_cpu = le_device_limits_of(ctx->device)->host_is_device;
    return (struct le_array_home){.pool = ctx->memory,
                                  .device = on_cpu ? NULL : ctx->device,
                                  .stream = on_cpu ? NULL : le_device_stream_own(ctx->device)};
}
/* The device's stream behind a stream; NULL: the context's own. */
static inline struct le_device_stream *le_context_stream(const leat_context *ctx, const leat_stream *stream) {
    return (stream ? stream : &ctx->stream)->work;
}
/* How much of one kind of memory is in use. */
leat_status le_context_memory_use(leat_context *ctx, leat_memory memory, struct le_memory_usage *use);
/* A ticket that is reached once all work enqueued so far in the stream (NULL: the context's own) is done. */
leat_ticket le_context_ticket(leat_context *ctx, leat_stream *stream);
#endif
