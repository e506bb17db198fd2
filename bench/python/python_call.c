/* The C call that bench/python/calls.py compares Python's with: a shared library for ctypes, so that both use the same
 * memory in the same process. It has a copy of Leat and a context of its own. One program at a time, one thread. */
#include "leat.h"
#include <stddef.h>
#include <time.h>

enum { INPUTS = 3 };

/* Prepares a program of three f32 vectors of n elements and one such result. arrays: their addresses, the result's
 * last. Returns NULL, or what is wrong. */
LEAT_API const char *bench_prepare(const char *text, int64_t n, void *const *arrays);
/* The ns that `count` runs take, or -1 if one fails. With bind, each run binds the same descriptions again. */
LEAT_API double bench_run(int64_t count, int bind);

static leat_context *ctx;
static leat_program *program;
static leat_call *call;
static leat_description descriptions[INPUTS + 1]; /* the last is the result's */

static leat_status bind_arrays(void) {
    for (size_t k = 0; k < INPUTS; k++) {
        const leat_status status = leat_call_set_memory_at(call, k, &descriptions[k]);
        if (status != LEAT_OK)
            return status;
    }
    return leat_call_want_memory_at(call, 0, &descriptions[INPUTS]);
}

static leat_status prepare(const char *text) {
    leat_status status = ctx ? LEAT_OK : leat_open(NULL, &ctx);
    if (status == LEAT_OK)
        status = leat_program_new(ctx, text, 0, NULL, &program);
    if (status == LEAT_OK)
        status = leat_call_new(program, &call);
    return status == LEAT_OK ? bind_arrays() : status;
}

const char *bench_prepare(const char *text, int64_t n, void *const *arrays) {
    leat_call_free(call);
    leat_program_free(program);
    call = NULL;
    program = NULL;
    for (int k = 0; k <= INPUTS; k++)
        descriptions[k] = (leat_description){.dtype = LEAT_F32,
                                             .rank = 1,
                                             .shape = {n},
                                             .strides = {1},
                                             .data = arrays[k],
                                             .read_only = k < INPUTS,
                                             .memory = LEAT_MEMORY_HOST};
    return prepare(text) == LEAT_OK ? NULL : leat_error_text(ctx);
}

double bench_run(int64_t count, int bind) {
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (int64_t k = 0; k < count; k++)
        if ((bind && bind_arrays() != LEAT_OK) || leat_call_run(call, NULL, NULL) != LEAT_OK)
            return -1;
    clock_gettime(CLOCK_MONOTONIC, &end);
    return (double)(end.tv_sec - start.tv_sec) * 1e9 + (double)(end.tv_nsec - start.tv_nsec);
}
