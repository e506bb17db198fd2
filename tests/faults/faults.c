/* Every allocation that Leat makes fails once, in scenarios that cover the public interface; then all from some point
 * on fail. A failure must be reported as LEAT_OUT_OF_MEMORY or do no harm, leave no memory behind when the context is
 * closed, leave no file, and leave the context fit to do the same work again. The same for every call on files, whose
 * failure is the file's or, in the code cache, nobody's.
 *
 * usage: faults [all] [SCENARIO]...; all: every request, all from every point on, and code that is compiled anew, which
 * empties the code cache. */
#include "file_calls.h"
#include "leat.h"
#include "sparsely.h"
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof(*(a)))

/* dmlc/dlpack, version 0.8 */
struct DLManagedTensor {
    struct {
        void *data;
        struct {
            int32_t device_type, device_id;
        } device;
        int32_t ndim;
        struct {
            uint8_t code, bits;
            uint16_t lanes;
        } dtype;
        int64_t *shape, *strides;
        uint64_t byte_offset;
    } dl_tensor;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensor *self);
};

/* ---- the allocator that fails */

static struct {
    pthread_mutex_t lock;
    int64_t requests, fail_at; /* the number of the request that fails, from 1; 0: none */
    bool from_then_on, has_failed;
    int64_t live;
} faults = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* false: this request fails */
static bool admit(int64_t live_change) {
    pthread_mutex_lock(&faults.lock);
    faults.requests++;
    const bool fails = faults.fail_at &&
                       (faults.requests == faults.fail_at || (faults.from_then_on && faults.requests > faults.fail_at));
    faults.has_failed |= fails;
    faults.live += fails ? 0 : live_change;
    pthread_mutex_unlock(&faults.lock);
    return !fails;
}

static void *hook_allocate(size_t size_bytes, void *user) {
    (void)user;
    return admit(1) ? malloc(size_bytes) : NULL;
}

static void *hook_reallocate(void *memory, size_t size_bytes, void *user) {
    (void)user;
    return admit(memory ? 0 : 1) ? realloc(memory, size_bytes) : NULL;
}

static void hook_release(void *memory, void *user) {
    (void)user;
    pthread_mutex_lock(&faults.lock);
    faults.live -= memory != NULL;
    pthread_mutex_unlock(&faults.lock);
    free(memory);
}

/* ---- parts of scenarios */

static char scratch[] = "/tmp/leat-faults-XXXXXX";

static const char *scratch_path(const char *name) {
    static char path[200];
    snprintf(path, sizeof path, "%s/%s", scratch, name);
    return path;
}

static leat_status ramp(leat_context *ctx, int rank, const int64_t *shape, leat_array **array) {
    float values[4096];
    size_t count = 1;
    for (int k = 0; k < rank; k++)
        count *= (size_t)shape[k];
    for (size_t k = 0; k < count; k++)
        values[k] = (float)(k % 17) * 0.25f - 1.0f;
    leat_status status = leat_array_new(ctx, LEAT_F32, rank, shape, LEAT_MEMORY_DEVICE, array);
    return status ? status : leat_array_write(*array, values, count * sizeof *values, NULL, NULL);
}

/* Runs text with x: f32[40,25] and, where a range asks for it, n = 3, and takes every result. */
static leat_status run_text(leat_context *ctx, const char *text) {
    leat_program *program = NULL;
    leat_call *call = NULL;
    leat_array *x = NULL, *result;
    leat_status status;
    const char *name;
    size_t count = 0;
    (void)((status = ramp(ctx, 2, (int64_t[]){40, 25}, &x)) ||
           (status = leat_program_new(ctx, text, 0, NULL, &program)) || (status = leat_call_new(program, &call)) ||
           (status = leat_call_set_array(call, "x", x)) ||
           (strstr(text, "0..n") && (status = leat_call_set_i64(call, "n", 3))) ||
           (status = leat_call_run(call, NULL, NULL)) || (status = leat_call_result_count(call, &count)));
    for (size_t k = 0; k < count && !status; k++) {
        result = NULL;
        (void)((status = leat_call_result_name(call, k, &name)) || (status = leat_call_result(call, name, &result)));
        leat_array_free(result);
    }
    leat_call_free(call);
    leat_program_free(program);
    leat_array_free(x);
    return status;
}

/* ---- scenarios: each does its work in a context and gives the first failure */

static leat_status devices(leat_context *ctx) {
    leat_device_info info;
    size_t count;
    leat_status status = leat_device_count(ctx, &count);
    return status ? status : leat_device_get(ctx, 0, false, &info);
}

static leat_status program_errors(leat_context *ctx) {
    leat_program *program = NULL;
    char text[2000] = "";
    for (int k = 0; k < 30; k++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "y%d[i] = a[i] + * 2\nz%d[i,j] = q[k]\n", k, k);
    leat_status status = leat_program_new(ctx, text, 0, NULL, &program);
    if (status == LEAT_PROGRAM && leat_error_text(ctx) == NULL)
        status = LEAT_INTERNAL;
    leat_program_free(program);
    return status == LEAT_PROGRAM ? LEAT_OK : status;
}

static leat_status program_forms(leat_context *ctx) {
    static const char text[] = "in x: f32[n, m], eps = 1e-5\ndef half(z) = z / 2\nmu[i] = mean(j: x[i,j])\n"
                               "y[i,j] = half(x[i,j] - mu[i]) + eps else 0\n";
    leat_program_options options = {.name = "forms.leat"};
    leat_program *program = NULL;
    leat_name_info info;
    char *tree = NULL;
    size_t count;
    leat_status status;
    (void)((status = leat_program_new(ctx, text, sizeof text - 1, &options, &program)) ||
           (status = leat_program_count(program, LEAT_NAME_INPUT, &count)) ||
           (status = leat_program_name(program, LEAT_NAME_INPUT, 0, &info)) ||
           (status = leat_program_show(program, LEAT_FORM_TREE, &tree)));
    leat_memory_free(tree);
    leat_program_free(program);
    return status;
}

static leat_status call_forms(leat_context *ctx) {
    static const leat_form forms[] = {LEAT_FORM_IR, LEAT_FORM_PLAN, LEAT_FORM_BYTECODE};
    leat_program *program = NULL;
    leat_call *call = NULL;
    leat_array *x = NULL;
    leat_status status;
    (void)((status = ramp(ctx, 2, (int64_t[]){40, 25}, &x)) ||
           (status = leat_program_new(ctx, "y[i,j] = exp(x[i,j]) / sum(k: exp(x[i,k]))", 0, NULL, &program)) ||
           (status = leat_call_new(program, &call)) || (status = leat_call_set_array(call, "x", x)));
    for (size_t k = 0; k < ARRAY_LEN(forms) && !status; k++) {
        char *text = NULL;
        status = leat_call_show(call, forms[k], &text);
        leat_memory_free(text);
    }
    leat_call_free(call);
    leat_program_free(program);
    leat_array_free(x);
    return status;
}

static leat_status elementwise(leat_context *ctx) {
    return run_text(
        ctx, "y[i,j] = (x[i,j] * 3 + 1) / (x[i,j] ** 2 + 0.5)\nz[i,j] = y[i,j] > 0 ? sqrt(y[i,j]) : sin(y[i,j])");
}

static leat_status reductions(leat_context *ctx) {
    return run_text(ctx,
                    "r[i] = sum(j: x[i,j])\nc[j] = sum(i: x[i,j])\nt = sum(i, j: x[i,j])\nm[i] = argmax(j: x[i,j])\n"
                    "p = max(i, j: x[i,j]) + mean(i, j: x[i,j])");
}

static leat_status softmax(leat_context *ctx) {
    return run_text(ctx, "e[...,j] = exp(x[...,j] - max(k: x[...,k]))\ny[...,j] = e[...,j] / sum(k: e[...,k])");
}

/* Which the generator writes out: it makes nodes as it runs. */
static leat_status short_sums(leat_context *ctx) {
    return run_text(ctx, "y[i] = x[i,0] + sum(k in 0..4: x[i,k] * x[i,k+1])");
}

static leat_status stencil(leat_context *ctx) {
    return run_text(ctx, "edge x clamp\na[i,j] = (x[i-1,j] + x[i+1,j]) / 2\nedge x none\n"
                         "b[i,j] = x[i-1,j] + x[i,j+1] else 0\nw[i] = sum(k in 0..n: x[i+k,0])");
}

static leat_status scatter(leat_context *ctx) {
    return run_text(ctx, "out h: i64[9], s: f32[9]\nh[i64(abs(x[i,j]))] += 1\ns[i64(abs(x[i,j]))] += x[i,j]\n"
                         "g[i] = x[i64(abs(x[i,0])), 0]");
}

static leat_status data_error(leat_context *ctx) {
    leat_status status = run_text(ctx, "y[i] = x[i64(x[i,0] * 1000), 0]");
    return status == LEAT_DATA ? LEAT_OK : status ? status : LEAT_INTERNAL;
}

static leat_status evaluation(leat_context *ctx) {
    leat_array *x = NULL;
    leat_status status = ramp(ctx, 1, (int64_t[]){100}, &x);
    for (int k = 0; k < 3 && !status; k++) {
        leat_binding inputs[] = {
            {.name = "x", .kind = LEAT_VALUE_ARRAY, .array = x}, {.name = "k", .kind = LEAT_VALUE_F64, .f64 = 2}, {0}};
        leat_binding results[] = {{.name = "y"}, {0}};
        status = leat_eval(ctx, k == 1 ? "y[i] = x[i] - k" : "y[i] = x[i] * k", inputs, results);
        if (!status)
            leat_array_free(results[0].array);
    }
    leat_array_free(x);
    return status;
}

static leat_status views(leat_context *ctx) {
    leat_array *x = NULL, *turned = NULL, *part = NULL, *flat = NULL, *copy = NULL;
    float values[60];
    leat_binding inputs[] = {{.name = "a", .kind = LEAT_VALUE_ARRAY}, {0}}, results[] = {{.name = "b"}, {0}};
    leat_status status;
    (void)((status = ramp(ctx, 2, (int64_t[]){12, 10}, &x)) || (status = leat_array_transpose(x, NULL, &turned)) ||
           (status = leat_array_slice(turned, (int64_t[]){9, 0}, (int64_t[]){-1, 12}, (int64_t[]){-2, 1}, &part)) ||
           (status = leat_array_reshape(x, 1, (int64_t[]){-1}, &flat)) ||
           (status = leat_array_read(part, values, sizeof values, NULL, NULL)) ||
           (status = leat_array_write(part, values, sizeof values, NULL, NULL)) ||
           (inputs[0].array = part, status = leat_eval(ctx, "b[i,j] = a[i,j] + 1", inputs, results)));
    if (!status)
        copy = results[0].array;
    leat_array_free(copy);
    leat_array_free(flat);
    leat_array_free(part);
    leat_array_free(turned);
    leat_array_free(x);
    return status;
}

static void count_release(void *user) {
    ++*(int *)user;
}

/* A wrapped array is read, overwritten in place, and given back exactly once. */
static leat_status wrapping(leat_context *ctx) {
    float values[64] = {0};
    int released = 0;
    leat_description description = {.dtype = LEAT_F32, .rank = 1, .shape = {64}, .strides = {1}, .data = values};
    leat_program *program = NULL;
    leat_call *call = NULL;
    leat_array *u = NULL;
    leat_status status;
    bool wrapped = false;
    (void)((status = leat_array_wrap(ctx, &description, count_release, &released, &u)) || (wrapped = true, false) ||
           (status = leat_program_new(ctx, "out u\nu[i] = u[i] + u[63 - i] + 1", 0, NULL, &program)) ||
           (status = leat_call_new(program, &call)) || (status = leat_call_set_array(call, "u", u)) ||
           (status = leat_call_want(call, "u", u)) || (status = leat_call_run(call, NULL, NULL)));
    if (!status && values[5] != 1.0f)
        status = LEAT_INTERNAL;
    leat_call_free(call);
    leat_program_free(program);
    leat_array_free(u);
    return released == wrapped ? status : LEAT_INTERNAL;
}

static leat_status file_round_trip(leat_context *ctx, const char *name, const char *key, leat_dtype dtype) {
    leat_array *x = NULL, *back = NULL;
    leat_status status;
    (void)((status = leat_array_new(ctx, dtype, 2, (int64_t[]){30, 20}, LEAT_MEMORY_DEVICE, &x)) ||
           (status = leat_array_save(x, scratch_path(name), key, LEAT_COLORMAP_VIRIDIS)) ||
           (status = leat_array_load(ctx, scratch_path(name), key, 0, &back)));
    leat_array_free(back);
    leat_array_free(x);
    unlink(scratch_path(name));
    return status;
}

static leat_status npy_file(leat_context *ctx) {
    return file_round_trip(ctx, "x.npy", NULL, LEAT_F64);
}
static leat_status npz_file(leat_context *ctx) {
    return file_round_trip(ctx, "x.npz", "key", LEAT_I16);
}
static leat_status archive(leat_context *ctx) {
    leat_array *x = NULL, *y = NULL, *back = NULL;
    leat_status status;
    const char *path = scratch_path("two.npz");
    (void)((status = ramp(ctx, 2, (int64_t[]){7, 9}, &x)) || (status = leat_array_transpose(x, NULL, &y)) ||
           (status = leat_archive_save(path, (leat_named_array[]){{"x", x}, {"y", y}}, 2, NULL)) ||
           (status = leat_array_load(ctx, path, "y", 0, &back)));
    leat_array_free(back);
    leat_array_free(y);
    leat_array_free(x);
    unlink(path);
    return status;
}
static leat_status csv_file(leat_context *ctx) {
    return file_round_trip(ctx, "x.csv", NULL, LEAT_F64);
}
static leat_status png_grey(leat_context *ctx) {
    return file_round_trip(ctx, "grey.png", NULL, LEAT_U16);
}
static leat_status png_colour(leat_context *ctx) {
    return file_round_trip(ctx, "colour.png", NULL, LEAT_F32);
}

static leat_status npy_memory(leat_context *ctx) {
    leat_array *x = NULL, *back = NULL;
    void *bytes = NULL;
    size_t size_bytes;
    leat_status status;
    (void)((status = ramp(ctx, 2, (int64_t[]){7, 9}, &x)) ||
           (status = leat_array_save_memory(x, &bytes, &size_bytes)) ||
           (status = leat_array_load_memory(ctx, bytes, size_bytes, LEAT_F32, &back)));
    leat_memory_free(bytes);
    leat_array_free(back);
    leat_array_free(x);
    return status;
}

static leat_status dlpack(leat_context *ctx) {
    leat_array *x = NULL, *back = NULL;
    struct DLManagedTensor *tensor = NULL;
    leat_status status;
    (void)((status = ramp(ctx, 2, (int64_t[]){7, 9}, &x)) || (status = leat_array_to_dlpack(x, NULL, &tensor)));
    if (!status && (status = leat_array_from_dlpack(ctx, tensor, &back)))
        tensor->deleter(tensor); /* still the caller's after a failure */
    leat_array_free(back);
    leat_array_free(x);
    return status;
}

/* DLPack 1.x, as far as deleting a tensor needs it. */
struct DLManagedTensorVersioned {
    uint32_t major, minor;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensorVersioned *self);
};

static leat_status dlpack_versioned(leat_context *ctx) {
    leat_array *x = NULL, *back = NULL;
    struct DLManagedTensorVersioned *tensor = NULL;
    leat_status status;
    (void)((status = ramp(ctx, 2, (int64_t[]){7, 9}, &x)) ||
           (status = leat_array_to_dlpack_versioned(x, NULL, &tensor)));
    if (!status && (status = leat_array_from_dlpack_versioned(ctx, tensor, &back)))
        tensor->deleter(tensor);
    leat_array_free(back);
    leat_array_free(x);
    return status;
}

static leat_status account(leat_context *ctx) {
    char *text = NULL, *json = NULL;
    leat_status status = leat_account_print(ctx, LEAT_ACCOUNT_TEXT, NULL, &text);
    if (!status)
        status = leat_account_print(ctx, LEAT_ACCOUNT_JSON, NULL, &json);
    leat_memory_free(text);
    leat_memory_free(json);
    return status;
}

static leat_status streams(leat_context *ctx) {
    leat_stream *stream = NULL;
    leat_event *start = NULL, *stop = NULL;
    double milliseconds;
    leat_status status;
    (void)((status = leat_stream_new(ctx, &stream)) || (status = leat_event_new(ctx, &start)) ||
           (status = leat_event_new(ctx, &stop)) || (status = leat_event_record(start, stream)) ||
           (status = leat_stream_wait_event(stream, start)) || (status = leat_event_record(stop, stream)) ||
           (status = leat_event_synchronize(stop)) || (status = leat_event_elapsed_ms(start, stop, &milliseconds)) ||
           (status = leat_stream_synchronize(stream)));
    leat_event_free(stop);
    leat_event_free(start);
    leat_stream_free(stream);
    return status;
}

static leat_status ledger(leat_context *ctx) {
    leat_cost cost;
    size_t count = 0;
    leat_status status;
    (void)((status = leat_ledger_level_set(ctx, 1)) || (status = leat_ledger_begin(ctx, LEAT_COST_OTHER, "mine")));
    if (!status) {
        status = run_text(ctx, "y[i] = sum(j: x[i,j])");
        const leat_status ended = leat_ledger_end(ctx, 10);
        status = status ? status : ended;
    }
    if (!status && !(status = leat_ledger_count(ctx, &count)) && count)
        status = leat_ledger_get(ctx, 0, &cost);
    return status ? status : leat_ledger_clear(ctx);
}

/* Arrays of a device: small and large copies, views, two streams, memory of the caller's, a file's bytes. */
static leat_status device_arrays(leat_context *ctx) {
    enum { ROWS = 300, COLUMNS = 250, SIZE = ROWS * COLUMNS * 4 };
    leat_array *a = NULL, *b = NULL, *part = NULL, *pinned = NULL, *small = NULL, *wrapped = NULL;
    leat_stream *stream = NULL;
    leat_ticket ticket = {0};
    size_t size_bytes;
    void *bytes = NULL;
    char *memory = calloc(2, SIZE);
    const leat_description description = {.dtype = LEAT_F32,
                                          .rank = 2,
                                          .shape = {ROWS, COLUMNS},
                                          .strides = {COLUMNS, 1},
                                          .data = memory + SIZE,
                                          .memory = LEAT_MEMORY_HOST};
    const int64_t shape[] = {ROWS, COLUMNS}, wide[] = {ROWS, COLUMNS + 9}, one[] = {3};
    leat_status status;
    (void)((status = leat_stream_new(ctx, &stream)) ||
           (status = leat_array_new(ctx, LEAT_F32, 2, shape, LEAT_MEMORY_DEVICE, &a)) ||
           (status = leat_array_new(ctx, LEAT_F32, 2, wide, LEAT_MEMORY_DEVICE, &b)) ||
           (status = leat_array_new(ctx, LEAT_F32, 2, shape, LEAT_MEMORY_PINNED, &pinned)) ||
           (status = leat_array_new(ctx, LEAT_I32, 1, one, LEAT_MEMORY_DEVICE, &small)) ||
           (status = leat_array_wrap(ctx, &description, NULL, NULL, &wrapped)) ||
           (status = leat_array_slice(b, (int64_t[]){0, 9}, wide, (int64_t[]){1, 1}, &part)) ||
           (status = leat_array_write(a, memory, SIZE, stream, &ticket)) ||
           (status = leat_array_copy(part, a, NULL, NULL)) ||
           (status = leat_array_copy(pinned, part, stream, &ticket)) ||
           (status = leat_array_copy(wrapped, a, NULL, &ticket)) ||
           (status = leat_array_write(small, "twelve bytes", 12, NULL, NULL)) ||
           (status = leat_array_read(small, memory, 12, stream, &ticket)) ||
           (status = leat_array_read(a, memory, SIZE, stream, &ticket)) || (status = leat_ticket_wait(ctx, ticket)) ||
           (status = leat_array_save_memory(part, &bytes, &size_bytes)));
    leat_context_synchronize(ctx); /* memory is written to until then */
    leat_memory_free(bytes);
    leat_array_free(wrapped);
    leat_array_free(small);
    leat_array_free(pinned);
    leat_array_free(part);
    leat_array_free(b);
    leat_array_free(a);
    leat_stream_free(stream);
    free(memory);
    return status;
}

/* ---- loops and branches of the host's */

static leat_status time_loop(leat_context *ctx) {
    return run_text(
        ctx,
        "out u\nu[i,j] = x[i,j]\nfor t in 0..4 { w[i,j] = (u[i-1,j] + u[i,j+1]) / 2 else u[i,j]; u[i,j] = w[i,j] }");
}

static leat_status in_place_loop(leat_context *ctx) {
    return run_text(ctx, "u[i,j] = x[i,j] + 1\nv[i,j] = u[i,j]\nfor t in 0..3 { u[i,j] = u[i,j] * 2; u[0,j] = 7 }");
}

static leat_status convergence(leat_context *ctx) {
    return run_text(ctx, "out u\nu[i,j] = x[i,j]\nvar e = inf\nwhile e > 0.3 { w[i,j] = u[i,j] / 2\n"
                         "e = max(i,j: abs(w[i,j] - u[i,j])); u[i,j] = w[i,j] }");
}

static leat_status branches(leat_context *ctx) {
    return run_text(ctx,
                    "var y: f32[40] = 1\nfor t in 0..5 { if sum(i: x[i,t]) > 0 { y[i] = y[i] + x[i,t] } else if t == 4 "
                    "{ break } else { y[i] = y[i-1] else 0 } }\nz[i] = y[i] + 1");
}

static leat_status growing_arrays(leat_context *ctx) {
    return run_text(ctx, "s = 0.0\nfor t in 1..6 { z[c] = x[c,0] * t where c in 0..3*t\n"
                         "q[a,b] = z[a*t+b] where a in 0..3, b in 0..t; s += sum(a, b: q[a,b]) }");
}

static leat_status numbers_from_data(leat_context *ctx) {
    return run_text(ctx, "m = 1\ns = 0.0\nfor t in 0..4 { m = m + i64(abs(x[t,0])) + 1\n"
                         "z[c] = x[c,t] where c in 0..m; s += sum(c: z[c]) }\nr[c] = s where c in 0..m");
}

static leat_status triangles(leat_context *ctx) {
    return run_text(ctx, "a[i,j] = x[i,j] + (i == j ? 9 : 0) where i in 0..20, j in 0..20\nfor k in 0..20 {\n"
                         "a[i,k] = a[i,k] / a[k,k] where i in k+1..20\n"
                         "a[i,j] -= a[i,k] * a[k,j] where i in k+1..20, j in k+1..20 }");
}

static leat_status nested_loops(leat_context *ctx) {
    return run_text(ctx,
                    "out h: f32[40]\nfor i in 0..6 { for j in i..6 by 2 { h[i] += x[i,j]; if h[i] > 100 { break } }\n"
                    "if i == 4 { break } }");
}

static leat_status swapped_inputs(leat_context *ctx) {
    return run_text(ctx, "in x\nout x\nv[i,j] = x[i,j] * 2\nfor t in 0..3 { w[i,j] = x[i,j]; x[i,j] = v[i,j]; "
                         "v[i,j] = w[i,j] }");
}

static leat_status data_error_in_a_loop(leat_context *ctx) {
    leat_status status = run_text(ctx, "out y: f32[4]\nfor t in 0..9 { y[i64(abs(x[t,0]) * t)] += 1 }");
    return status == LEAT_DATA ? LEAT_OK : status ? status : LEAT_INTERNAL;
}

/* Plans in blocks, from one run to the next: of other extents, and of other numbers of steps. */
static leat_status loops_again(leat_context *ctx) {
    leat_program *program = NULL;
    leat_call *call = NULL;
    leat_array *x[2] = {NULL, NULL};
    leat_status status;
    (void)((status = ramp(ctx, 1, (int64_t[]){30}, &x[0])) || (status = ramp(ctx, 1, (int64_t[]){50}, &x[1])) ||
           (status = leat_program_new(ctx, "u[i] = x[i]\nfor t in 0..n { u[i] = u[i] + u[i-1] else u[i] }", 0, NULL,
                                      &program)) ||
           (status = leat_call_new(program, &call)));
    for (int k = 0; k < 6 && !status; k++) {
        char *text = NULL;
        (void)((status = leat_call_set_array(call, "x", x[k / 2 % 2])) || (status = leat_call_set_i64(call, "n", k)) ||
               (status = leat_call_run(call, NULL, NULL)) || (status = leat_call_show(call, LEAT_FORM_PLAN, &text)));
        leat_memory_free(text);
    }
    leat_call_free(call);
    leat_program_free(program);
    leat_array_free(x[1]);
    leat_array_free(x[0]);
    return status;
}

static leat_status sum_of(leat_call *call, float *sum) {
    leat_array *array = NULL;
    leat_description d;
    leat_status status = leat_call_run(call, NULL, NULL);
    if (!status && !(status = leat_call_result(call, "s", &array)) && !(status = leat_array_get(array, &d)))
        memcpy(sum, d.data, sizeof *sum);
    leat_array_free(array);
    return status;
}

/* A call that ran out of memory in the middle of planning or running may be run again, and gives what another gives. */
static leat_status same_call_again(leat_context *ctx) {
    leat_program *program = NULL;
    leat_call *call[2] = {NULL, NULL};
    leat_array *x = NULL;
    leat_status status;
    float sum[2] = {0, 1};
    (void)((status = ramp(ctx, 1, (int64_t[]){30}, &x)) ||
           (status = leat_program_new(ctx,
                                      "var s = 0.0\nu[i] = x[i]\nfor t in 0..4 {\n c[i] = u[i] * 2 where i in 0..30-t\n"
                                      " s = s + sum(i in 0..i64(abs(u[t]))+t: c[i])\n u[i] = u[i] + u[i-1] else 1\n"
                                      " if s > 3 { u[i] = u[i] * 0.5 }\n}\nout s\n",
                                      0, NULL, &program)));
    for (int k = 0; k < 2 && !status; k++) {
        (void)((status = leat_call_new(program, &call[k])) || (status = leat_call_set_array(call[k], "x", x)));
        if (!status && (status = sum_of(call[k], &sum[k])) == LEAT_OUT_OF_MEMORY)
            status = sum_of(call[k], &sum[k]);
    }
    if (!status && sum[0] != sum[1])
        status = LEAT_INTERNAL;
    leat_call_free(call[0]);
    leat_call_free(call[1]);
    leat_program_free(program);
    leat_array_free(x);
    return status;
}

/* ---- programs on sim, whose code is kept */

static leat_status maps_and_sums(leat_context *ctx) {
    return run_text(ctx, "y[i,j] = x[i,j] * 3 + 1\ns = sum(i, j: y[i,j])");
}

static leat_status two_programs(leat_context *ctx) {
    leat_status status = run_text(ctx, "y[i,j] = x[i,j] * 3 + 1");
    return status ? status : run_text(ctx, "c[i,j] = sum(k in 0..j+1: x[i,k])");
}

/* Nothing is kept on disk yet. */
static leat_status compiled_anew(leat_context *ctx) {
    leat_cache_info removed;
    leat_status status = leat_cache_clear(ctx, &removed);
    return status ? status : run_text(ctx, "y[i,j] = x[i,j] * 3 + 1");
}

static const struct scenario {
    const char *name;
    leat_status (*run)(leat_context *ctx);
    const char *device; /* NULL: the CPU */
    int step;           /* of a short run: one in so many requests fails; 0: each */
    bool is_long;       /* only in a long one */
    size_t code_cap_bytes;
    leat_interpret interpret;
} scenarios[] = {
    {.name = "devices", .run = devices},
    {.name = "program errors", .run = program_errors},
    {.name = "program forms", .run = program_forms},
    {.name = "call forms", .run = call_forms},
    {.name = "elementwise", .run = elementwise},
    {.name = "reductions", .run = reductions},
    {.name = "softmax", .run = softmax},
    {.name = "stencil", .run = stencil},
    {.name = "scatter", .run = scatter},
    {.name = "data error", .run = data_error},
    {.name = "eval", .run = evaluation},
    {.name = "views", .run = views},
    {.name = "wrap", .run = wrapping},
    {.name = "npy file", .run = npy_file},
    {.name = "npz file", .run = npz_file},
    {.name = "archive", .run = archive},
    {.name = "csv file", .run = csv_file},
    {.name = "png grey", .run = png_grey},
    {.name = "png colour", .run = png_colour},
    {.name = "npy in memory", .run = npy_memory},
    {.name = "dlpack", .run = dlpack},
    {.name = "dlpack_versioned", .run = dlpack_versioned},
    {.name = "account", .run = account, .step = 5},
    {.name = "streams", .run = streams},
    {.name = "ledger", .run = ledger},
    {.name = "time loop", .run = time_loop},
    {.name = "in-place loop", .run = in_place_loop},
    {.name = "convergence", .run = convergence},
    {.name = "branches", .run = branches},
    {.name = "growing arrays", .run = growing_arrays},
    {.name = "numbers from data", .run = numbers_from_data},
    {.name = "triangles", .run = triangles},
    {.name = "nested loops", .run = nested_loops},
    {.name = "swapped inputs", .run = swapped_inputs},
    {.name = "data error in a loop", .run = data_error_in_a_loop},
    {.name = "loops again", .run = loops_again},
    {.name = "same call again", .run = same_call_again},
    {.name = "device arrays", .run = device_arrays, .device = "sim"},
    {.name = "program on sim", .run = maps_and_sums, .device = "sim", .step = 37},
    {.name = "rows on sim", .run = softmax, .device = "sim", .step = 53},
    {.name = "time loop on sim", .run = convergence, .device = "sim", .step = 53},
    {.name = "scatter on sim", .run = scatter, .device = "sim", .step = 61},
    {.name = "data error on sim", .run = data_error, .device = "sim", .step = 53},
    {.name = "two programs on sim", .run = two_programs, .device = "sim", .step = 53},
    {.name = "evicted on sim", .run = two_programs, .device = "sim", .step = 53, .code_cap_bytes = 1},
    {.name = "interpreted on sim", .run = maps_and_sums, .device = "sim", .step = 53, .interpret = LEAT_INTERPRET_ONLY},
    {.name = "interpreted short sums on sim",
     .run = short_sums,
     .device = "sim",
     .step = 61,
     .interpret = LEAT_INTERPRET_ONLY},
    {.name = "interpreted rows on sim",
     .run = softmax,
     .device = "sim",
     .step = 61,
     .interpret = LEAT_INTERPRET_ALWAYS},
    {.name = "compiled anew on sim", .run = compiled_anew, .device = "sim", .is_long = true},
};

/* ---- the driver */

static int scratch_files(void) {
    DIR *folder = opendir(scratch);
    int count = -2; /* . and .. */
    while (folder && readdir(folder))
        count++;
    if (folder)
        closedir(folder);
    return count;
}

static int open_files(void) {
    DIR *folder = opendir("/proc/self/fd");
    int count = 0;
    while (folder && readdir(folder))
        count++;
    if (folder)
        closedir(folder);
    return count;
}

enum mode { MODE_FILES, MODE_ONE, MODE_ALL_AFTER, MODES };
static const char *const mode_names[] = {"file call %lld", "request %lld", "request %lld and all after it"};

static void plan(enum mode mode, int64_t number) {
    faults.requests = 0;
    faults.fail_at = mode == MODE_FILES ? 0 : number;
    faults.from_then_on = mode == MODE_ALL_AFTER;
    faults.has_failed = false;
    file_calls_plan(mode == MODE_FILES ? number : 0);
}

static bool has_come(void) {
    return faults.has_failed || file_calls_failed();
}

/* A kernel for whose threads sim had no memory: as on a GPU, the device has failed for good. */
static bool sim_is_full(leat_status status) {
    leat_error error = {.message = ""};
    leat_error_get(NULL, &error);
    return status == LEAT_DEVICE && strstr(error.message, "LAUNCH_OUT_OF_RESOURCES");
}

/* Where a call on a file fails, the file's error says so, or, where sim's driver made it, the device's. */
static bool is_allowed(leat_status status) {
    leat_error error = {.message = ""};
    leat_error_get(NULL, &error);
    if (status == LEAT_OK)
        return true;
    if (sim_is_full(status))
        return has_come();
    if (file_calls_failed())
        return *error.message && (status == LEAT_FILE || status == LEAT_DEVICE || status == LEAT_OUT_OF_MEMORY);
    return status == LEAT_OUT_OF_MEMORY && faults.has_failed;
}

/* One run in which something fails (*failed: it came to that); what went wrong, or NULL. */
static const char *run_once(const struct scenario *scenario, enum mode mode, int64_t fail_at, bool *failed) {
    const leat_options options = {.device = scenario->device,
                                  .threads = 2,
                                  .copy_threads = 2,
                                  .keep_code = true,
                                  .code_cap_bytes = scenario->code_cap_bytes,
                                  .interpret = scenario->interpret,
                                  .allocate = hook_allocate,
                                  .reallocate = hook_reallocate,
                                  .release = hook_release};
    leat_context *ctx = NULL;
    const char *wrong = NULL;
    const int open_before = open_files();
    plan(mode, fail_at);
    leat_status status = leat_open(&options, &ctx);
    if (!status)
        status = scenario->run(ctx);
    if (!is_allowed(status))
        wrong = leat_status_name(status);
    const bool came = has_come(), is_broken = sim_is_full(status);
    plan(mode, 0);
    if (ctx && !wrong && !is_broken && (status = scenario->run(ctx)) && !(came && sim_is_full(status)))
        wrong = "the same work fails afterwards";
    leat_close(ctx);
    *failed = came;
    if (!wrong && faults.live)
        wrong = "memory is left behind";
    if (!wrong && scratch_files())
        wrong = "a file is left behind";
    if (!wrong && open_files() > open_before)
        wrong = "a file is left open";
    return wrong;
}

static bool run_scenario(const struct scenario *scenario, bool all) {
    const int64_t step = all || !scenario->step ? 1 : sparsely(scenario->step);
    int64_t tried[MODES] = {0};
    faults.live = 0;
    bool came;
    run_once(scenario, MODE_ONE, 0, &came); /* what is made once a process, and kept */
    for (enum mode mode = 0; mode < MODES; mode++) {
        int64_t k = 1 + mode;
        const int64_t apart = all ? 1 : mode == MODE_FILES && step > 1 ? 3 : mode == MODE_ALL_AFTER ? 3 * step : step;
        for (came = true; came; k += apart) {
            const char *wrong = run_once(scenario, mode, k, &came);
            tried[mode] += came;
            if (wrong) {
                leat_error error = {0};
                leat_error_get(NULL, &error);
                printf("%s: ", scenario->name);
                printf(mode_names[mode], (long long)k);
                printf(" fails: %s (%lld blocks live): %s\n", wrong, (long long)faults.live, error.message);
                return false;
            }
        }
    }
    printf("%s: %lld failures of memory, %lld of files\n", scenario->name,
           (long long)(tried[MODE_ONE] + tried[MODE_ALL_AFTER]), (long long)tried[MODE_FILES]);
    return tried[MODE_ONE] > 0;
}

static bool chosen(const struct scenario *scenario, bool all, int argc, char **argv) {
    bool found = argc < 2 + all && (all || !scenario->is_long);
    for (int k = 1 + all; k < argc; k++)
        found |= !strcmp(argv[k], scenario->name);
    return found;
}

int main(int argc, char **argv) {
    const bool all = argc > 1 && strcmp(argv[1], "all") == 0;
    int passed = 0, failed = 0;
    if (!mkdtemp(scratch))
        return 2;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (size_t k = 0; k < ARRAY_LEN(scenarios); k++)
        if (chosen(&scenarios[k], all, argc, argv))
            *(run_scenario(&scenarios[k], all) ? &passed : &failed) += 1;
    rmdir(scratch);
    printf("%d scenarios passed, %d failed\n", passed, failed);
    return failed || !passed ? 1 : 0;
}
