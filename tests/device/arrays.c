/* Arrays in every memory of a device: layouts, tickets, streams that overlap, memory that runs out, files, exchange. */
#include "support.h"
#include <unistd.h>

static const leat_memory memories[] = {LEAT_MEMORY_DEVICE, LEAT_MEMORY_HOST, LEAT_MEMORY_PINNED, LEAT_MEMORY_MAPPED};

static void fill_bytes(unsigned char *bytes, size_t size_bytes, unsigned seed) {
    for (size_t k = 0; k < size_bytes; k++)
        bytes[k] = (unsigned char)((k * 31 + seed * 17 + k / 251) & 0xff);
}

static leat_array *new_array(leat_context *ctx, leat_dtype dtype, int rank, const int64_t *shape, leat_memory memory) {
    leat_array *array = NULL;
    assert_ok(leat_array_new(ctx, dtype, rank, shape, memory, &array));
    return array;
}

/* ---- whole arrays of many sizes */

static void test_sizes(void **state) {
    static const int64_t sizes[] = {0, 1, 3, 1000, 65536, 65537, 300000, 5 * 1048576 + 7};
    (void)state;
    leat_context *ctx = open_device(NULL);
    for (size_t m = 0; m < ARRAY_LEN(memories); m++)
        for (size_t k = 0; k < ARRAY_LEN(sizes); k++) {
            size_t size_bytes = (size_t)sizes[k];
            unsigned char *out = malloc(size_bytes + 1), *back = malloc(size_bytes + 1);
            leat_array *a = new_array(ctx, LEAT_U8, 1, &sizes[k], memories[m]);
            leat_ticket ticket = {0};
            memset(back, 1, size_bytes);
            assert_ok(leat_array_read(a, back, size_bytes, NULL, NULL));
            memset(out, 0, size_bytes);
            assert_memory_equal(out, back, size_bytes);
            fill_bytes(out, size_bytes, (unsigned)k);
            assert_ok(leat_array_write(a, out, size_bytes, NULL, NULL));
            assert_ok(leat_array_read(a, back, size_bytes, NULL, NULL));
            assert_memory_equal(out, back, size_bytes);
            fill_bytes(out, size_bytes, (unsigned)k + 9);
            assert_ok(leat_array_write(a, out, size_bytes, NULL, &ticket));
            assert_ok(leat_array_read(a, back, size_bytes, NULL, &ticket));
            assert_ok(leat_ticket_wait(ctx, ticket));
            assert_memory_equal(out, back, size_bytes);
            leat_array_free(a);
            free(out);
            free(back);
        }
    leat_close(ctx);
}

static void test_descriptions(void **state) {
    (void)state;
    leat_context *ctx = open_device(NULL);
    for (size_t m = 0; m < ARRAY_LEN(memories); m++) {
        leat_description description;
        leat_array *a = new_array(ctx, LEAT_F64, 2, SHAPE(3, 5), memories[m]);
        assert_ok(leat_array_get(a, &description));
        assert_int_equal(description.memory, on_cpu() ? LEAT_MEMORY_DEVICE : memories[m]);
        assert_non_null(description.data);
        if (on_cpu() || memories[m] != LEAT_MEMORY_DEVICE) /* the host can access it */
            assert_true(((double *)description.data)[14] == 0);
        leat_array_free(a);
    }
    leat_array *none = NULL;
    assert_status(leat_array_new(ctx, LEAT_F64, 0, NULL, (leat_memory)4, &none), LEAT_INVALID);
    leat_close(ctx);
}

/* ---- layouts: random views, against their elements by index */

static int64_t below(unsigned *seed, int64_t limit) {
    return rand_r(seed) % limit;
}

struct view {
    leat_array *array;
    int rank;
    int64_t shape[LEAT_RANK_MAX];
    size_t count;
};

/* A slice of a transposed new array of about `most` elements per axis. Has the shape of `like`, if it is not NULL. */
static struct view random_view(leat_context *ctx, leat_dtype dtype, leat_memory memory, unsigned *seed, int64_t most,
                               const struct view *like) {
    struct view v = {.rank = like ? like->rank : (int)below(seed, LEAT_RANK_MAX + 1), .count = 1};
    int axes[LEAT_RANK_MAX], back[LEAT_RANK_MAX];
    int64_t shape[LEAT_RANK_MAX], start[LEAT_RANK_MAX], stop[LEAT_RANK_MAX], step[LEAT_RANK_MAX];
    for (int k = 0; k < v.rank; k++) {
        int other = (int)below(seed, k + 1);
        axes[k] = axes[other];
        axes[other] = k;
    }
    for (int k = 0; k < v.rank; k++) {
        if (k > 4 && !like)
            most = most < 2 ? most : 2;
        v.shape[k] = like ? like->shape[k] : 1 + below(seed, most);
        v.count *= (size_t)v.shape[k];
        int64_t stride = 1 + (below(seed, 4) == 0), left = below(seed, 2), right = below(seed, 2);
        shape[axes[k]] = left + (v.shape[k] - 1) * stride + 1 + right;
        bool up = below(seed, 3) > 0;
        start[k] = up ? left : left + (v.shape[k] - 1) * stride;
        stop[k] = up ? start[k] + (v.shape[k] - 1) * stride + 1 : left - 1;
        step[k] = up ? stride : -stride;
        back[k] = axes[k];
    }
    leat_array *base = new_array(ctx, dtype, v.rank, shape, memory), *turned = NULL;
    assert_ok(leat_array_transpose(base, back, &turned));
    assert_ok(leat_array_slice(turned, start, stop, step, &v.array));
    leat_array_free(base);
    leat_array_free(turned);
    return v;
}

static void test_layouts(void **state) {
    static const leat_dtype dtypes[] = {LEAT_U8, LEAT_I16, LEAT_F32, LEAT_I64};
    (void)state;
    leat_context *ctx = open_device(NULL);
    unsigned seed = 5;
    for (int k = 0; k < 400; k++) {
        leat_dtype dtype = dtypes[k % 4];
        struct view a = random_view(ctx, dtype, memories[below(&seed, 4)], &seed, k % 40 ? 5 : 9, NULL);
        struct view b = random_view(ctx, dtype, memories[below(&seed, 4)], &seed, 0, &a);
        size_t size_bytes = a.count * leat_dtype_size_bytes(dtype);
        unsigned char *out = malloc(size_bytes), *back = malloc(size_bytes);
        fill_bytes(out, size_bytes, (unsigned)k);
        assert_ok(leat_array_write(a.array, out, size_bytes, NULL, NULL));
        assert_ok(leat_array_read(a.array, back, size_bytes, NULL, NULL));
        assert_memory_equal(out, back, size_bytes);
        assert_ok(leat_array_copy(b.array, a.array, NULL, NULL));
        memset(back, 0, size_bytes);
        assert_ok(leat_array_read(b.array, back, size_bytes, NULL, NULL));
        assert_memory_equal(out, back, size_bytes);
        leat_array_free(a.array);
        leat_array_free(b.array);
        free(out);
        free(back);
    }
    leat_close(ctx);
}

/* Elements around a view do not change. Large enough for several chunks. */
static void test_large_views(void **state) {
    enum { ROWS = 1500, COLUMNS = 1100 };
    (void)state;
    leat_context *ctx = open_device(NULL);
    float *out = malloc(ROWS * COLUMNS * sizeof *out), *back = malloc(ROWS * COLUMNS * sizeof *out);
    for (size_t m = 0; m < ARRAY_LEN(memories); m++) {
        leat_array *a = new_array(ctx, LEAT_F32, 2, SHAPE(ROWS, COLUMNS), memories[m]), *part = NULL, *turned = NULL;
        for (int k = 0; k < ROWS * COLUMNS; k++)
            out[k] = (float)k;
        assert_ok(leat_array_write(a, out, ROWS * COLUMNS * sizeof *out, NULL, NULL));
        assert_ok(leat_array_slice(a, SHAPE(1, 1), SHAPE(ROWS - 1, COLUMNS - 1), SHAPE(1, 2), &part));
        assert_ok(leat_array_transpose(part, NULL, &turned));
        size_t rows = ROWS - 2, columns = (COLUMNS - 1) / 2;
        assert_ok(leat_array_read(turned, back, rows * columns * sizeof *out, NULL, NULL));
        size_t wrong = 0;
        for (size_t j = 0; j < columns; j++)
            for (size_t i = 0; i < rows; i++)
                wrong += back[j * rows + i] != (float)((i + 1) * COLUMNS + 1 + 2 * j);
        for (size_t k = 0; k < rows * columns; k++)
            back[k] = -back[k];
        assert_ok(leat_array_write(turned, back, rows * columns * sizeof *out, NULL, NULL));
        assert_ok(leat_array_read(a, back, ROWS * COLUMNS * sizeof *out, NULL, NULL));
        for (size_t i = 0; i < ROWS; i++)
            for (size_t j = 0; j < COLUMNS; j++) {
                bool inside = i >= 1 && i < ROWS - 1 && j >= 1 && j < COLUMNS - 1 && j % 2 == 1;
                float was = (float)(i * COLUMNS + j);
                wrong += back[i * COLUMNS + j] != (inside ? -was : was);
            }
        assert_int_equal(wrong, 0);
        leat_array_free(turned);
        leat_array_free(part);
        leat_array_free(a);
    }
    free(out);
    free(back);
    leat_close(ctx);
}

static void test_bools(void **state) {
    static const unsigned char odd[] = {0, 1, 2, 255, 0, 128};
    (void)state;
    leat_context *ctx = open_device(NULL);
    for (size_t m = 0; m < ARRAY_LEN(memories); m++) {
        unsigned char back[6];
        leat_array *a = new_array(ctx, LEAT_BOOL, 2, SHAPE(2, 3), memories[m]), *turned = NULL;
        assert_ok(leat_array_transpose(a, NULL, &turned));
        assert_ok(leat_array_write(turned, odd, 6, NULL, NULL));
        assert_ok(leat_array_read(turned, back, 6, NULL, NULL));
        for (int k = 0; k < 6; k++)
            assert_int_equal(back[k], odd[k] != 0);
        leat_array_free(a);
        leat_array_free(turned);
    }
    leat_close(ctx);
}

static void test_copies(void **state) {
    (void)state;
    leat_context *ctx = open_device(NULL);
    leat_array *a = new_array(ctx, LEAT_F32, 1, SHAPE(8), LEAT_MEMORY_DEVICE), *head = NULL, *tail = NULL;
    leat_array *b = new_array(ctx, LEAT_F32, 1, SHAPE(7), LEAT_MEMORY_DEVICE);
    leat_array *c = new_array(ctx, LEAT_I32, 1, SHAPE(8), LEAT_MEMORY_DEVICE);
    assert_status(leat_array_copy(a, b, NULL, NULL), LEAT_MISMATCH);
    assert_status(leat_array_copy(a, c, NULL, NULL), LEAT_MISMATCH);
    assert_ok(leat_array_slice(a, SHAPE(0), SHAPE(7), SHAPE(1), &head));
    assert_ok(leat_array_slice(a, SHAPE(1), SHAPE(8), SHAPE(1), &tail));
    assert_status(leat_array_copy(head, tail, NULL, NULL), LEAT_INVALID);
    assert_message("overlap");
    assert_ok(leat_array_copy(b, head, NULL, NULL));
    leat_context *other = open_device(NULL);
    leat_array *foreign = new_array(other, LEAT_F32, 1, SHAPE(7), LEAT_MEMORY_DEVICE);
    assert_status(leat_array_copy(foreign, b, NULL, NULL), LEAT_INVALID);
    assert_message("target and source are of different contexts");
    leat_array_free(foreign);
    leat_close(other);
    leat_array_free(a);
    leat_array_free(b);
    leat_array_free(c);
    leat_array_free(head);
    leat_array_free(tail);
    leat_close(ctx);
}

/* ---- order: a read returns the values from the time of the call */

static void test_order(void **state) {
    enum { SIZE = 3 << 20, TURNS = 5 };
    (void)state;
    leat_context *ctx = open_device(NULL);
    unsigned char *out[TURNS], *back[TURNS];
    leat_ticket written[TURNS], read[TURNS];
    leat_stream *streams[2] = {NULL, NULL};
    leat_array *a = new_array(ctx, LEAT_U8, 1, SHAPE(SIZE), LEAT_MEMORY_DEVICE);
    assert_ok(leat_stream_new(ctx, &streams[0]));
    assert_ok(leat_stream_new(ctx, &streams[1]));
    for (int k = 0; k < TURNS; k++) {
        out[k] = malloc(SIZE);
        back[k] = malloc(SIZE);
        fill_bytes(out[k], SIZE, (unsigned)k);
        assert_ok(leat_array_write(a, out[k], SIZE, streams[k % 2], &written[k]));
        assert_ok(leat_array_read(a, back[k], SIZE, streams[(k + k / 2) % 2], &read[k]));
    }
    for (int k = TURNS - 1; k >= 0; k--) {
        assert_ok(leat_ticket_wait(ctx, read[k]));
        assert_ok(leat_ticket_wait(ctx, written[k]));
        assert_memory_equal(out[k], back[k], SIZE);
        free(out[k]);
        free(back[k]);
    }
    leat_array_free(a);
    leat_stream_free(streams[0]);
    leat_stream_free(streams[1]);
    leat_close(ctx);
}

/* Streams with arrays of their own, copied through every kind of memory; handles are freed before the work is done. */
static void test_streams(void **state) {
    enum { STREAMS = 6, SIZE = 2500000 };
    (void)state;
    leat_context *ctx = open_device(NULL);
    unsigned char *out[STREAMS], *back[STREAMS];
    leat_ticket tickets[STREAMS];
    for (int k = 0; k < STREAMS; k++) {
        leat_stream *stream = NULL;
        leat_ticket ignored;
        out[k] = malloc(SIZE);
        back[k] = calloc(1, SIZE);
        fill_bytes(out[k], SIZE, (unsigned)k);
        assert_ok(leat_stream_new(ctx, &stream));
        leat_array *a = new_array(ctx, LEAT_U8, 2, SHAPE(SIZE / 100, 100), LEAT_MEMORY_DEVICE), *turned = NULL;
        leat_array *b = new_array(ctx, LEAT_U8, 2, SHAPE(100, SIZE / 100), memories[k % 4]), *c = NULL;
        assert_ok(leat_array_write(a, out[k], SIZE, stream, &ignored));
        assert_ok(leat_array_transpose(a, NULL, &turned));
        assert_ok(leat_array_copy(b, turned, stream, &ignored));
        assert_ok(leat_array_transpose(b, NULL, &c));
        assert_ok(leat_array_read(c, back[k], SIZE, stream, &tickets[k]));
        leat_array_free(a);
        leat_array_free(turned);
        leat_array_free(b);
        leat_array_free(c);
        leat_stream_free(stream);
    }
    for (int k = 0; k < STREAMS; k++) {
        assert_ok(leat_ticket_wait(ctx, tickets[k]));
        assert_memory_equal(out[k], back[k], SIZE);
        free(out[k]);
        free(back[k]);
    }
    leat_close(ctx);
}

/* Many small copies, which reuse the slots. */
static void test_small(void **state) {
    enum { COUNT = 300 };
    (void)state;
    leat_context *ctx = open_device(NULL);
    leat_array *arrays[COUNT];
    int32_t back[COUNT][5];
    leat_ticket ticket = {0};
    for (int k = 0; k < COUNT; k++) {
        arrays[k] = new_array(ctx, LEAT_I32, 1, SHAPE(5), LEAT_MEMORY_DEVICE);
        assert_ok(leat_array_write(arrays[k], (const int32_t[]){k, k + 1, k + 2, k + 3, k + 4}, 20, NULL, &ticket));
        assert_ok(leat_ticket_wait(ctx, ticket));
    }
    for (int k = 0; k < COUNT; k++)
        assert_ok(leat_array_read(arrays[k], back[k], 20, NULL, &ticket));
    assert_ok(leat_ticket_wait(ctx, ticket));
    for (int k = 0; k < COUNT; k++) {
        assert_int_equal(back[k][4], k + 4);
        leat_array_free(arrays[k]);
    }
    leat_close(ctx);
}

/* ---- the caller's memory */

static void count_release(void *user) {
    ++*(int *)user;
}

static void test_wrap(void **state) {
    enum { COUNT = 100000 };
    (void)state;
    leat_context *ctx = open_device(NULL);
    float *memory = malloc(COUNT * sizeof *memory), *back = malloc(COUNT * sizeof *memory);
    int released = 0;
    leat_ticket ticket;
    const leat_description description = {.dtype = LEAT_F32,
                                          .rank = 1,
                                          .shape = {COUNT},
                                          .strides = {-1},
                                          .data = memory + COUNT - 1,
                                          .memory = LEAT_MEMORY_HOST};
    for (int k = 0; k < COUNT; k++)
        memory[k] = (float)k;
    leat_array *wrapped = NULL, *a = new_array(ctx, LEAT_F32, 1, SHAPE(COUNT), LEAT_MEMORY_DEVICE);
    assert_ok(leat_array_wrap(ctx, &description, count_release, &released, &wrapped));
    assert_ok(leat_array_copy(a, wrapped, NULL, &ticket));
    assert_ok(leat_array_read(a, back, COUNT * sizeof *back, NULL, NULL));
    size_t wrong = 0;
    for (int k = 0; k < COUNT; k++)
        wrong += back[k] != (float)(COUNT - 1 - k);
    for (int k = 0; k < COUNT; k++)
        back[k] = (float)(-k);
    assert_ok(leat_array_write(a, back, COUNT * sizeof *back, NULL, NULL));
    assert_ok(leat_array_copy(wrapped, a, NULL, &ticket));
    leat_array_free(wrapped); /* released after the copy into it */
    assert_ok(leat_ticket_wait(ctx, ticket));
    assert_int_equal(released, 1);
    for (int k = 0; k < COUNT; k++)
        wrong += memory[k] != (float)(-(COUNT - 1 - k));
    assert_int_equal(wrong, 0);
    leat_array_free(a);
    free(memory);
    free(back);
    leat_close(ctx);
}

static void test_pins(void **state) {
    const size_t size_bytes = (size_t)2 << 20;
    (void)state;
    leat_context *ctx = open_device(NULL);
    unsigned char *memory = aligned_alloc(4096, size_bytes), *back = malloc(size_bytes);
    leat_array *a = new_array(ctx, LEAT_U8, 1, SHAPE((int64_t)size_bytes), LEAT_MEMORY_DEVICE);
    leat_ticket ticket;
    assert_status(leat_host_pin(ctx, memory, 0), LEAT_INVALID);
    assert_status(leat_host_unpin(ctx, memory), LEAT_INVALID);
    assert_ok(leat_host_pin(ctx, memory, size_bytes));
    assert_status(leat_host_pin(ctx, memory, size_bytes), LEAT_INVALID);
    assert_message("already page-locked");
    assert_status(leat_host_pin(ctx, memory + 4096, 4096), LEAT_INVALID);
    fill_bytes(memory, size_bytes, 3);
    assert_ok(leat_array_write(a, memory, size_bytes, NULL, &ticket));
    assert_ok(leat_array_read(a, back, size_bytes, NULL, NULL));
    assert_memory_equal(memory, back, size_bytes);
    memset(memory, 0, size_bytes);
    assert_ok(leat_array_read(a, memory, size_bytes, NULL, &ticket));
    assert_ok(leat_ticket_wait(ctx, ticket));
    assert_memory_equal(memory, back, size_bytes);
    assert_ok(leat_host_unpin(ctx, memory));
    assert_status(leat_host_unpin(ctx, memory), LEAT_INVALID);
    leat_array_free(a);
    free(memory);
    free(back);
    leat_close(ctx);
}

/* ---- out of memory */

static void test_cap(void **state) {
    const leat_options options = {.memory_cap_bytes = (size_t)8 << 20};
    (void)state;
    leat_context *ctx = open_device(&options);
    leat_array *a = new_array(ctx, LEAT_U8, 1, SHAPE(6 << 20), LEAT_MEMORY_DEVICE), *b = NULL;
    assert_status(leat_array_new(ctx, LEAT_U8, 1, SHAPE(6 << 20), LEAT_MEMORY_DEVICE, &b), LEAT_OUT_OF_MEMORY);
    leat_array_free(a);
    b = new_array(ctx, LEAT_U8, 1, SHAPE(7 << 20), LEAT_MEMORY_DEVICE); /* kept memory is released to make room */
    leat_array_free(b);
    leat_close(ctx);
}

static void test_too_large(void **state) {
    (void)state;
    leat_context *ctx = open_device(NULL);
    leat_array *a = NULL;
    assert_status(leat_array_new(ctx, LEAT_F64, 1, SHAPE((int64_t)1 << 45), LEAT_MEMORY_DEVICE, &a),
                  LEAT_OUT_OF_MEMORY);
    a = new_array(ctx, LEAT_F64, 1, SHAPE(10), LEAT_MEMORY_DEVICE); /* everything still works */
    leat_array_free(a);
    leat_close(ctx);
}

/* ---- files, programs, exchange */

static void test_files(void **state) {
    float values[12], back[12];
    char path[] = "/tmp/leat_test_XXXXXX.npy";
    (void)state;
    leat_context *ctx = open_device(NULL);
    leat_array *a = new_array(ctx, LEAT_F32, 2, SHAPE(3, 4), LEAT_MEMORY_DEVICE), *turned = NULL, *loaded = NULL;
    leat_description description;
    close(mkstemps(path, 4));
    for (int k = 0; k < 12; k++)
        values[k] = (float)k;
    assert_ok(leat_array_write(a, values, sizeof values, NULL, NULL));
    assert_ok(leat_array_transpose(a, NULL, &turned));
    assert_ok(leat_array_save(turned, path, NULL, LEAT_COLORMAP_GREY));
    assert_ok(leat_array_load(ctx, path, NULL, LEAT_F32, &loaded));
    unlink(path);
    assert_ok(leat_array_get(loaded, &description));
    assert_int_equal(description.memory, LEAT_MEMORY_DEVICE);
    assert_int_equal(description.shape[0], 4);
    assert_ok(leat_array_read(loaded, back, sizeof back, NULL, NULL));
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 3; j++)
            assert_true(back[i * 3 + j] == values[j * 4 + i]);
    void *bytes;
    size_t size_bytes;
    assert_ok(leat_array_save_memory(a, &bytes, &size_bytes));
    leat_array_free(loaded);
    assert_ok(leat_array_load_memory(ctx, bytes, size_bytes, LEAT_F32, &loaded));
    assert_ok(leat_array_read(loaded, back, sizeof back, NULL, NULL));
    assert_memory_equal(back, values, sizeof back);
    leat_memory_free(bytes);
    leat_array_free(loaded);
    leat_array_free(turned);
    leat_array_free(a);
    leat_close(ctx);
}

/* A program over arrays of the device that needs no kernels, because the host knows all its numbers. */
static void test_programs(void **state) {
    (void)state;
    leat_context *ctx = open_device(NULL);
    leat_program *program = NULL;
    leat_call *call = NULL;
    leat_array *y = NULL;
    int64_t value = 0;
    assert_ok(leat_program_new(ctx, "y = 1 + 2", 0, NULL, &program));
    assert_ok(leat_call_new(program, &call));
    assert_ok(leat_call_run(call, NULL, NULL));
    assert_ok(leat_call_result(call, "y", &y));
    assert_ok(leat_array_read(y, &value, sizeof value, NULL, NULL));
    assert_int_equal(value, 3);
    leat_array_free(y);
    leat_call_free(call);
    leat_program_free(program);
    leat_close(ctx);
}

/* An array in a device's memory cannot be an input of a program on the CPU; memory that the host can access can. */
static void test_programs_elsewhere(void **state) {
    const leat_options cpu_options = {.device = "cpu"};
    (void)state;
    leat_context *ctx = open_device(NULL), *cpu = NULL;
    assert_ok(leat_open(&cpu_options, &cpu));
    for (size_t m = 0; m < ARRAY_LEN(memories); m++) {
        const double values[3] = {1, 2, 3};
        double sum;
        leat_ticket ticket;
        leat_array *a = new_array(ctx, LEAT_F64, 1, SHAPE(3), memories[m]);
        leat_binding inputs[] = {{.name = "a", .kind = LEAT_VALUE_ARRAY, .array = a}, {0}},
                     results[] = {{.name = "y"}, {0}};
        assert_ok(leat_array_write(a, values, sizeof values, NULL, &ticket));
        leat_status status = leat_eval(cpu, "y = sum(i: a[i])", inputs, results);
        if (!on_cpu() && memories[m] == LEAT_MEMORY_DEVICE) {
            assert_status(status, LEAT_INVALID);
            assert_message("memory that programs on the CPU cannot read");
        } else {
            assert_ok(status);
            assert_ok(leat_array_read(results[0].array, &sum, sizeof sum, NULL, NULL));
            assert_true(sum == 6);
            leat_array_free(results[0].array);
        }
        leat_array_free(a);
    }
    leat_close(cpu);
    leat_close(ctx);
}

static void test_dlpack(void **state) {
    (void)state;
    leat_context *ctx = open_device(NULL);
    for (size_t m = 0; m < ARRAY_LEN(memories); m++) {
        struct DLManagedTensor *tensor = NULL;
        int32_t back[4] = {0};
        leat_array *a = new_array(ctx, LEAT_I32, 1, SHAPE(4), memories[m]), *again = NULL;
        assert_ok(leat_array_write(a, (const int32_t[]){1, 2, 3, 4}, 16, NULL, NULL));
        leat_status status = leat_array_to_dlpack(a, NULL, &tensor);
        if (strcmp(device_name, "sim") == 0 && memories[m] == LEAT_MEMORY_DEVICE) {
            assert_status(status, LEAT_UNSUPPORTED);
        } else {
            assert_ok(status);
            assert_ok(leat_array_from_dlpack(ctx, tensor, &again));
            leat_array_free(a);
            assert_ok(leat_array_read(again, back, sizeof back, NULL, NULL));
            assert_int_equal(back[3], 4);
            a = again;
        }
        leat_array_free(a);
    }
    leat_close(ctx);
}

/* ---- kernels access mapped memory in place, and arrays that were written */

static const char doubling[] = "extern \"C\" __global__ void twice(float *x, int n) {\n"
                               "    int k = blockIdx.x * blockDim.x + threadIdx.x;\n"
                               "    if (k < n)\n"
                               "        x[k] = 2 * x[k];\n"
                               "}\n";

static void test_kernels(void **state) {
    enum { COUNT = 40000 };
    (void)state;
    leat_context *ctx = open_device(NULL);
    leat_module *module = NULL;
    leat_kernel *kernel = NULL;
    leat_status status = leat_module_new(ctx, doubling, NULL, &module);
    if (status == LEAT_UNSUPPORTED) { /* the CPU, or no compiler */
        leat_close(ctx);
        skip();
    }
    assert_ok(status);
    assert_ok(leat_module_kernel(module, "twice", &kernel));
    float *out = malloc(COUNT * sizeof *out), *back = malloc(COUNT * sizeof *out);
    for (int k = 0; k < COUNT; k++)
        out[k] = (float)k;
    for (size_t m = 0; m < ARRAY_LEN(memories); m++) {
        if (memories[m] == LEAT_MEMORY_HOST)
            continue;
        leat_ticket ticket;
        leat_array *a = new_array(ctx, LEAT_F32, 1, SHAPE(COUNT), memories[m]);
        const leat_argument arguments[] = {leat_inout(a), leat_i32(COUNT)};
        assert_ok(leat_array_write(a, out, COUNT * sizeof *out, NULL, &ticket));
        assert_ok(leat_kernel_launch(kernel, (leat_dim3){(COUNT + 255) / 256, 1, 1}, (leat_dim3){256, 1, 1}, 0, NULL,
                                     arguments, 2));
        assert_ok(leat_array_read(a, back, COUNT * sizeof *out, NULL, &ticket));
        assert_ok(leat_ticket_wait(ctx, ticket));
        size_t wrong = 0;
        for (int k = 0; k < COUNT; k++)
            wrong += back[k] != (float)(2 * k);
        assert_int_equal(wrong, 0);
        leat_array_free(a);
    }
    free(out);
    free(back);
    leat_module_free(module);
    leat_close(ctx);
}

int main(int count, char **arguments) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),     cmocka_unit_test(test_descriptions),
        cmocka_unit_test(test_layouts),   cmocka_unit_test(test_large_views),
        cmocka_unit_test(test_bools),     cmocka_unit_test(test_copies),
        cmocka_unit_test(test_order),     cmocka_unit_test(test_streams),
        cmocka_unit_test(test_small),     cmocka_unit_test(test_wrap),
        cmocka_unit_test(test_pins),      cmocka_unit_test(test_cap),
        cmocka_unit_test(test_too_large), cmocka_unit_test(test_files),
        cmocka_unit_test(test_programs),  cmocka_unit_test(test_programs_elsewhere),
        cmocka_unit_test(test_dlpack),    cmocka_unit_test(test_kernels),
    };
    if (!start(count, arguments))
        return SKIPPED;
    return cmocka_run_group_tests_name(device_name, tests, NULL, NULL);
}
