/* Streams, events, tickets, devices and the ledger. */
#include "support.h"
#include <time.h>

static void test_streams(void **state) {
    (void)state;
    leat_context *ctx = open_context();
    leat_program *program = program_of(ctx, "y[i] = a[i] + 1");
    leat_call *call = call_of(program);
    leat_array *a = vector_f64(ctx, 2, LIST(1, 2));
    leat_stream *one = NULL, *two = NULL;
    leat_event *event = NULL;
    leat_ticket first = {0}, second = {0};
    assert_ok(leat_stream_new(ctx, &one));
    assert_ok(leat_stream_new(ctx, &two));
    assert_ok(leat_event_new(ctx, &event));
    assert_ok(leat_call_set_array(call, "a", a));
    assert_ok(leat_ticket_wait(ctx, first));
    assert_ok(leat_call_run(call, one, &first));
    assert_ok(leat_event_record(event, one));
    assert_ok(leat_stream_wait_event(two, event));
    assert_ok(leat_call_run(call, two, &second));
    assert_true(first.stream_id != second.stream_id);
    assert_ok(leat_ticket_wait(ctx, second));
    assert_ok(leat_ticket_wait(ctx, first));
    assert_ok(leat_stream_synchronize(two));
    assert_result_f64(call, "y", 2, LIST(2, 3));
    leat_event_free(event);
    leat_stream_free(one);
    leat_stream_free(two);
    assert_ok(leat_ticket_wait(ctx, first)); /* its stream was freed, so the ticket was reached */
    leat_array_free(a);
    leat_call_free(call);
    leat_program_free(program);
    leat_close(ctx);
}

static void test_events(void **state) {
    (void)state;
    leat_context *ctx = open_context();
    leat_event *start = NULL, *stop = NULL;
    leat_stream *stream = NULL;
    const struct timespec pause = {.tv_nsec = 5000000};
    double milliseconds = -1;
    uint64_t before_ns = 0, after_ns = 0;
    assert_ok(leat_stream_new(ctx, &stream));
    assert_ok(leat_event_new(ctx, &start));
    assert_ok(leat_event_new(ctx, &stop));
    assert_status(leat_event_elapsed_ms(start, stop, &milliseconds), LEAT_INVALID);
    assert_ok(leat_ledger_clock(ctx, &before_ns));
    assert_ok(leat_event_record(start, stream));
    assert_status(leat_event_elapsed_ms(start, stop, &milliseconds), LEAT_INVALID);
    nanosleep(&pause, NULL);
    assert_ok(leat_event_record(stop, NULL));
    assert_ok(leat_event_synchronize(stop));
    assert_ok(leat_event_elapsed_ms(start, stop, &milliseconds));
    assert_ok(leat_ledger_clock(ctx, &after_ns));
    assert_true(milliseconds >= 5 && milliseconds <= (double)(after_ns - before_ns) * 1e-6);
    leat_event_free(start);
    leat_event_free(stop);
    leat_stream_free(stream);
    leat_close(ctx);
}

static void test_devices(void **state) {
    (void)state;
    leat_options options = {.device = "cpu", .threads = 3, .simd = "baseline"};
    leat_context *ctx = NULL;
    leat_device_info info;
    size_t count = 0;
    assert_ok(leat_open(&options, &ctx));
    assert_ok(leat_device_count(ctx, &count));
    assert_true(count >= 1);
    assert_ok(leat_device_get(ctx, 0, false, &info));
    assert_string_equal(info.kind, "cpu");
    assert_string_equal(info.simd, "baseline");
    assert_int_equal(info.threads, 3);
    assert_true(info.cores >= 1 && info.memory_bytes > 1 << 20);
    assert_status(leat_device_get(ctx, count, false, &info), LEAT_INVALID);
    leat_close(ctx);
    options.simd = "neither";
    assert_int_not_equal(leat_open(&options, &ctx), LEAT_OK);
    options.simd = NULL;
    options.threads = -1;
    assert_status(leat_open(&options, &ctx), LEAT_INVALID);
}

static void test_ledger(void **state) {
    (void)state;
    leat_context *ctx = open_context();
    const struct timespec pause = {.tv_nsec = 3000000};
    leat_array *a = vector_f64(ctx, 2, LIST(1, 2));
    leat_binding inputs[] = {{.name = "a", .kind = LEAT_VALUE_ARRAY, .array = a}, {0}},
                 results[] = {{.name = "y"}, {0}};
    leat_cost cost;
    size_t count = 0;
    uint64_t mine_ns = 0, kernels = 0;
    assert_ok(leat_ledger_level_set(ctx, 1));
    assert_ok(leat_ledger_begin(ctx, LEAT_COST_OTHER, "mine"));
    nanosleep(&pause, NULL);
    assert_ok(leat_eval(ctx, "y[i] = a[i] + 1", inputs, results));
    assert_ok(leat_ledger_end(ctx, 77));
    leat_array_free(results[0].array);
    assert_ok(leat_ledger_count(ctx, &count));
    for (size_t k = 0; k < count; k++) {
        assert_ok(leat_ledger_get(ctx, k, &cost));
        assert_non_null(cost.cause);
        kernels += cost.kind == LEAT_COST_KERNEL ? cost.count : 0;
        if (cost.kind == LEAT_COST_OTHER && !strcmp(cost.what, "mine")) {
            mine_ns = cost.time_ns;
            assert_int_equal(cost.bytes, 77);
            assert_int_equal(cost.count, 1);
        }
    }
    assert_true(kernels >= 1);
    assert_true(mine_ns >= 3000000);
    assert_ok(leat_ledger_clear(ctx));
    assert_ok(leat_ledger_count(ctx, &count));
    assert_int_equal(count, 0);
    assert_status(leat_ledger_get(ctx, 0, &cost), LEAT_INVALID);
    assert_string_equal(leat_cost_name(LEAT_COST_KERNEL), "kernel");
    leat_array_free(a);
    leat_close(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_streams),
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_devices),
        cmocka_unit_test(test_ledger),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
