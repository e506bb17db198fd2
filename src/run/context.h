/* A context: what the options came to, and what all programs, calls and streams made from it share. Reference-counted;
 * arrays keep only its memory pool alive. Any thread. */
#ifndef LE_CONTEXT_H
#define LE_CONTEXT_H
#include "array/pool.h"
#include "base/ledger.h"
#include "base/thread.h"
#include "device/cpu/ops.h"
#include <pthread.h>
#include <stdatomic.h>

struct le_program_cache;

struct leat_stream {
    leat_context *ctx; /* retained; not so by the context's own */
    uint64_t id;       /* from 1 */
    _Atomic uint64_t number;
};

struct leat_context {
    atomic_int refcount;
    unsigned generation; /* of processes: le_fork_generation */
    enum le_simd simd;
    struct le_pool *threads;
    struct le_ledger *ledger;
    struct le_memory_pool *memory;
    void (*log)(leat_log_level level, const char *text, void *user);
    void *log_user;
    struct leat_stream stream;    /* where a call without a stream runs */
    _Atomic uint64_t last_stream; /* the id given out last */
    pthread_mutex_t lock;         /* guards what follows */
    double copy_bytes_per_second; /* 0: not measured */
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
/* Passes one line to the log hook, if there is one. */
void le_context_note(leat_context *ctx, const char *format, ...) __attribute__((format(printf, 2, 3)));
void le_context_warn(leat_context *ctx, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Bytes read plus written in a second by all threads copying; measured at the first call (about 0.1 s). */
leat_status le_context_copy_rate(leat_context *ctx, double *bytes_per_second);
double le_context_copy_rate_known(leat_context *ctx); /* 0: not measured */

/* The next ticket of a stream (NULL: the context's own): what it stands for is done. */
leat_ticket le_context_ticket(leat_context *ctx, leat_stream *stream);
#endif
