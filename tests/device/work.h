/* Work for the suites of streams and events: kernels on devices that have them, and the same work on the host for the
 * CPU, so that every device prints the same. Lines of the transcript start with "| ". */
#ifndef TESTS_DEVICE_WORK_H
#define TESTS_DEVICE_WORK_H
#include "support.h"

static leat_context *ctx;
static leat_module *work_module;
static leat_kernel *mix_kernel, *spin_kernel;

/* mix: y[i] = 3 * y[i] + x[i] in 32 bits, so that the result depends on the order of operations. spin: a kernel that
 * takes a while and returns its argument. */
static const char work_text[] = "extern \"C\" __global__ void mix(unsigned *y, const unsigned *x, int n) {\n"
                                "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                "    if (i < n) y[i] = 3 * y[i] + x[i];\n"
                                "}\n"
                                "extern \"C\" __global__ void spin(unsigned *y, int turns) {\n"
                                "    unsigned state = y[0] | 1;\n"
                                "    for (int k = 0; k < turns; k++) state = state * 1664525u + 1013904223u;\n"
                                "    if (state == 0) y[0] = 0;\n"
                                "}\n";
enum { WORDS = 20000 };

static inline void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static inline void say(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    printf("| ");
    vprintf(format, arguments);
    printf("\n");
    va_end(arguments);
}

/* Prints the last failure for the transcript. */
static inline void say_failure(leat_status status) {
    leat_error error;
    assert_ok(leat_error_get(NULL, &error));
    say("%s: %s", leat_status_name(status), error.message);
}

/* false if kernels cannot be compiled and the suite must be skipped. */
static inline bool work_begin(const leat_options *options) {
    ctx = open_device(options);
    if (on_cpu())
        return true;
    leat_status status = leat_module_new(ctx, work_text, NULL, &work_module);
    if (status == LEAT_UNSUPPORTED) {
        printf("skipped: %s\n", leat_error_text(NULL));
        leat_close(ctx);
        return false;
    }
    assert_ok(status);
    assert_ok(leat_module_kernel(work_module, "mix", &mix_kernel));
    assert_ok(leat_module_kernel(work_module, "spin", &spin_kernel));
    return true;
}

static inline void work_end(void) {
    leat_module_free(work_module);
    leat_close(ctx);
}

static inline leat_array *words(leat_memory memory, unsigned first) {
    static unsigned values[WORDS];
    leat_array *array = NULL;
    assert_ok(leat_array_new(ctx, LEAT_U32, 1, SHAPE(WORDS), memory, &array));
    for (unsigned k = 0; k < WORDS; k++)
        values[k] = first + k;
    assert_ok(leat_array_write(array, values, sizeof values, NULL, NULL));
    return array;
}

static inline leat_status mix(leat_stream *stream, leat_array *y, leat_array *x) {
    if (on_cpu()) {
        static _Thread_local unsigned a[WORDS], b[WORDS];
        leat_status status = leat_array_read(y, a, sizeof a, stream, NULL);
        if (!status)
            status = leat_array_read(x, b, sizeof b, stream, NULL);
        for (int k = 0; k < WORDS && !status; k++)
            a[k] = 3 * a[k] + b[k];
        return status ? status : leat_array_write(y, a, sizeof a, stream, NULL);
    }
    const leat_argument arguments[] = {leat_inout(y), leat_in(x), leat_i32(WORDS)};
    return leat_kernel_launch(mix_kernel, (leat_dim3){(WORDS + 255) / 256, 1, 1}, (leat_dim3){256, 1, 1}, 0, stream,
                              arguments, 3);
}

static inline leat_status spin(leat_stream *stream, leat_array *y, int turns) {
    const leat_argument arguments[] = {leat_inout(y), leat_i32(turns)};
    if (on_cpu())
        return LEAT_OK;
    return leat_kernel_launch(spin_kernel, (leat_dim3){1, 1, 1}, (leat_dim3){1, 1, 1}, 0, stream, arguments, 2);
}

/* A sum that depends on the positions of the elements. */
static inline unsigned checksum(leat_array *array) {
    static unsigned values[WORDS];
    unsigned sum = 0;
    assert_ok(leat_array_read(array, values, sizeof values, NULL, NULL));
    for (unsigned k = 0; k < WORDS; k++)
        sum = sum * 31 + values[k];
    return sum;
}

static inline leat_stream *new_stream(void) {
    leat_stream *stream = NULL;
    assert_ok(leat_stream_new(ctx, &stream));
    return stream;
}
#endif
