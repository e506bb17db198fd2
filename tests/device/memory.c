/* Memory: what is in use and what is kept, caps, trimming, reuse that never waits for other streams, and arrays that
 * the host can access. */
#include "work.h"

#define MIB ((size_t)1 << 20)

static leat_memory_use use_of(leat_context *of, leat_memory memory) {
    leat_memory_use use;
    assert_ok(leat_memory_get(of, memory, &use));
    return use;
}

static leat_array *bytes(leat_context *in, size_t size_bytes, leat_memory memory) {
    leat_array *array = NULL;
    assert_ok(leat_array_new_empty(in, LEAT_U8, 1, SHAPE((int64_t)size_bytes), memory, &array));
    return array;
}

static void test_live_and_kept(void **state) {
    static const leat_memory memories[] = {LEAT_MEMORY_DEVICE, LEAT_MEMORY_HOST, LEAT_MEMORY_PINNED,
                                           LEAT_MEMORY_MAPPED};
    static const char *const names[] = {"device", "host", "pinned", "mapped"};
    (void)state;
    leat_context *own = open_device(NULL);
    for (size_t m = 0; m < ARRAY_LEN(memories); m++) {
        leat_array *first = bytes(own, 3 * MIB, memories[m]), *second = bytes(own, 5 * MIB, memories[m]);
        leat_memory_use use = use_of(own, memories[m]);
        say("%s: %zu MiB live", names[m], use.live_bytes / MIB);
        leat_array_free(first);
        leat_array_free(second);
        use = use_of(own, memories[m]);
        say("%s, released: %zu MiB live, %zu kept, peak at least 8: %s", names[m], use.live_bytes / MIB,
            use.kept_bytes / MIB, use.peak_bytes >= 8 * MIB ? "yes" : "no");
        first = bytes(own, 5 * MIB - 100, memories[m]); /* reuses the same memory */
        say("%s, taken again: %zu MiB kept", names[m], use_of(own, memories[m]).kept_bytes / MIB);
        leat_array_free(first);
        assert_ok(leat_memory_trim(own));
        use = use_of(own, memories[m]);
        say("%s, trimmed: %zu bytes kept, no cap: %s, trims %d", names[m], use.kept_bytes,
            use.cap_bytes == 0 ? "yes" : "no", (int)use.trims);
    }
    leat_memory_use use;
    say_failure(leat_memory_get(own, (leat_memory)7, &use));
    leat_close(own);
}

static void test_caps(void **state) {
    const leat_options options = {.memory_cap_bytes = 10 * MIB, .cache_cap_bytes = 4 * MIB};
    (void)state;
    leat_context *own = open_device(&options);
    leat_array *first = bytes(own, 6 * MIB, LEAT_MEMORY_DEVICE), *second = NULL;
    say_failure(leat_array_new(own, LEAT_U8, 1, SHAPE(5 * (int64_t)MIB), LEAT_MEMORY_DEVICE, &second));
    assert_null(second);
    leat_array_free(first);
    second = bytes(own, 9 * MIB, LEAT_MEMORY_DEVICE);
    leat_memory_use use = use_of(own, LEAT_MEMORY_DEVICE);
    say("cap %zu MiB, live %zu, kept %zu", use.cap_bytes / MIB, use.live_bytes / MIB, use.kept_bytes / MIB);
    leat_array_free(second);
    leat_close(own);
}

/* Releasing does not wait, and released memory is not written by others before its work is done. */
static void test_release_with_work(void **state) {
    enum { ROUNDS = 40, STREAMS = 4 };
    (void)state;
    leat_stream *streams[STREAMS];
    leat_array *sums[STREAMS], *x = words(LEAT_MEMORY_DEVICE, 9);
    for (unsigned k = 0; k < STREAMS; k++) {
        streams[k] = new_stream();
        sums[k] = words(LEAT_MEMORY_DEVICE, k);
    }
    for (int k = 0; k < ROUNDS; k++) {
        leat_stream *stream = streams[k % STREAMS];
        leat_ticket ticket;
        leat_array *temporary = NULL;
        assert_ok(leat_array_new_empty(ctx, LEAT_U32, 1, SHAPE(WORDS), LEAT_MEMORY_DEVICE, &temporary));
        assert_ok(leat_array_copy(temporary, x, stream, &ticket));
        assert_ok(spin(stream, temporary, 3000));
        assert_ok(mix(stream, temporary, x));
        assert_ok(mix(stream, sums[k % STREAMS], temporary));
        leat_array_free(temporary);
    }
    for (int k = 0; k < STREAMS; k++) {
        say("temporaries released with work queued, stream %d: %08x", k, checksum(sums[k]));
        leat_stream_free(streams[k]);
        leat_array_free(sums[k]);
    }
    leat_array_free(x);
}

/* In the context's own stream and in another one. */
static void test_steady_state(void **state) {
    (void)state;
    leat_stream *streams[2] = {NULL, new_stream()};
    leat_array *x = words(LEAT_MEMORY_DEVICE, 9);
    for (int s = 0; s < 2; s++) {
        size_t before = 0;
        assert_ok(leat_context_synchronize(ctx));
        for (int k = 0; k < 300; k++) {
            leat_array *temporary = NULL;
            leat_ticket ticket;
            assert_ok(leat_array_new_empty(ctx, LEAT_U32, 1, SHAPE(WORDS), LEAT_MEMORY_DEVICE, &temporary));
            assert_ok(leat_array_copy(temporary, x, streams[s], &ticket));
            leat_array_free(temporary);
            leat_memory_use use = use_of(ctx, LEAT_MEMORY_DEVICE);
            if (k == 100)
                before = use.live_bytes + use.kept_bytes;
            assert_true(k <= 100 || use.live_bytes + use.kept_bytes == before);
        }
        say("a loop that makes and releases an array asks for no more memory");
    }
    leat_stream_free(streams[1]);
    leat_array_free(x);
}

/* Pinned and mapped memory: written by the host, read by the device, and the other way round. */
static void test_host_sees(void **state) {
    static const leat_memory memories[] = {LEAT_MEMORY_PINNED, LEAT_MEMORY_MAPPED};
    (void)state;
    for (size_t m = 0; m < ARRAY_LEN(memories); m++) {
        leat_array *y = words(LEAT_MEMORY_DEVICE, 1), *shared = words(memories[m], 0);
        leat_description description;
        assert_ok(leat_array_get(shared, &description));
        unsigned *values = description.data;
        for (unsigned k = 0; k < WORDS; k++)
            values[k] = 5 * k;
        assert_ok(leat_array_copy(y, shared, NULL, NULL));
        assert_ok(mix(NULL, y, shared));
        assert_ok(leat_array_copy(shared, y, NULL, NULL));
        say("%s memory: %u %u %u", m ? "mapped" : "pinned", values[0], values[1], values[WORDS - 1]);
        leat_array_free(shared);
        leat_array_free(y);
    }
}

static void test_pinning(void **state) {
    (void)state;
    size_t size_bytes = 64 * 4096;
    char *memory = NULL;
    assert_int_equal(posix_memalign((void **)&memory, 4096, size_bytes), 0);
    assert_ok(leat_host_pin(ctx, memory, size_bytes));
    assert_status(leat_host_pin(ctx, memory, size_bytes), LEAT_INVALID);
    assert_status(leat_host_unpin(ctx, memory + 4096), LEAT_INVALID);
    leat_array *y = bytes(ctx, size_bytes, LEAT_MEMORY_DEVICE);
    memset(memory, 77, size_bytes);
    assert_ok(leat_array_write(y, memory, size_bytes, NULL, NULL));
    memset(memory, 0, size_bytes);
    assert_ok(leat_array_read(y, memory, size_bytes, NULL, NULL));
    say("through memory pinned by its owner: %d %d", memory[0], memory[size_bytes - 1]);
    assert_ok(leat_host_unpin(ctx, memory));
    assert_status(leat_host_unpin(ctx, memory), LEAT_INVALID);
    assert_status(leat_host_pin(ctx, memory, 0), LEAT_INVALID);
    say_failure(LEAT_INVALID);
    leat_array_free(y);
    free(memory);
}

int main(int count, char **arguments) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_live_and_kept),     cmocka_unit_test(test_caps),
        cmocka_unit_test(test_release_with_work), cmocka_unit_test(test_steady_state),
        cmocka_unit_test(test_host_sees),         cmocka_unit_test(test_pinning),
    };
    if (!start(count, arguments) || !work_begin(NULL))
        return SKIPPED;
    int failed = cmocka_run_group_tests_name(device_name, tests, NULL, NULL);
    work_end();
    return failed;
}
