/* Handles may outlive their context: whichever is freed last, all memory returns to the caller's allocator. */
#include "support.h"

enum { HIDDEN_BYTES = 64, KINDS = 5 };

static long live;

/* An allocator whose addresses malloc's free does not accept: they lie inside blocks of malloc. */
static void *allocate(size_t size_bytes, void *user) {
    (void)user;
    char *block = malloc(size_bytes + HIDDEN_BYTES);
    live += block != NULL;
    return block ? block + HIDDEN_BYTES : NULL;
}

static void release(void *memory, void *user) {
    (void)user;
    live--;
    free((char *)memory - HIDDEN_BYTES);
}

static void *reallocate(void *memory, size_t size_bytes, void *user) {
    (void)user;
    char *block = realloc((char *)memory - HIDDEN_BYTES, size_bytes + HIDDEN_BYTES);
    return block ? block + HIDDEN_BYTES : NULL;
}

struct handles {
    leat_program *program;
    leat_call *call;
    leat_array *array;
    leat_stream *stream;
    leat_event *event;
};

static void free_one(struct handles *h, int kind) {
    switch (kind) {
    case 0:
        leat_program_free(h->program);
        break;
    case 1:
        leat_call_free(h->call);
        break;
    case 2:
        leat_array_free(h->array);
        break;
    case 3:
        leat_stream_free(h->stream);
        break;
    default:
        leat_event_free(h->event);
        break;
    }
}

static void free_in_turn(const char *device, int last) {
    const leat_options options = {
        .device = device, .threads = 1, .allocate = allocate, .reallocate = reallocate, .release = release};
    leat_context *ctx;
    struct handles h;
    assert_ok(leat_open(&options, &ctx));
    h.program = program_of(ctx, "y[i] = a[i] + 1");
    h.call = call_of(h.program);
    h.array = vector_f64(ctx, 2, (double[]){1, 2});
    assert_ok(leat_call_set_array(h.call, "a", h.array));
    assert_ok(leat_stream_new(ctx, &h.stream));
    assert_ok(leat_event_new(ctx, &h.event));
    leat_close(ctx);
    for (int kind = 0; kind < KINDS; kind++)
        if (kind != last)
            free_one(&h, kind);
    free_one(&h, last);
    assert_int_equal(live, 0);
}

static void test_any_handle_last(void **state) {
    (void)state;
    for (int last = 0; last < KINDS; last++) {
        free_in_turn("cpu", last);
        free_in_turn("sim", last);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_any_handle_last)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
