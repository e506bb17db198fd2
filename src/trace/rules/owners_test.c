/* Programs that use two devices: work on one device does not count for the other, and no finding is reported twice. */
#include "trace/rules/index_testing.h"

enum { OTHER = 6 }; /* the second device's null stream */

static int count_found(const struct play *play, const char *rule) {
    int count = 0;
    for (int k = 0; k < play->findings.count; k++)
        count += strcmp(play->findings.at[k].rule, rule) == 0;
    return count;
}

/* The finding of a rule about a device. */
static const struct le_finding *found_on(const struct play *play, const char *rule, const char *device) {
    for (int k = 0; k < play->findings.count; k++)
        if (strcmp(play->findings.at[k].rule, rule) == 0 && strstr(play->findings.at[k].title, device))
            return &play->findings.at[k];
    return NULL;
}

/* Each kernel fills 19 % of its device. Two at once are not 38 % of one device. */
static void small_grids_are_found_on_both(void **state) {
    (void)state;
    struct play *play = play_new("./app");
    play_second_device(play, OTHER);
    for (int k = 0; k < 40; k++) {
        play_launch(play, 0, "kernel", 200, 256, MS(2));
        play_launch(play, OTHER, "kernel", 200, 256, MS(2));
        play_wait(play);
    }
    play_end(play);
    assert_int_equal(count_found(play, "small-grid"), 2);
    const struct le_finding *first = found_on(play, "small-grid", "Device 0: ");
    const struct le_finding *second = found_on(play, "small-grid", "Device 1: ");
    assert_non_null(first);
    assert_non_null(second);
    assert_non_null(strstr(first->evidence, "19 %"));
    assert_true(first->gain_ns > MS(60) && second->gain_ns > MS(60));
    play_free(play);
}

/* A copy to one device does not wait for kernels on the other. */
static void copies_do_not_wait_for_another_device(void **state) {
    (void)state;
    for (int other = 0; other <= OTHER; other += OTHER) {
        struct play *play = play_new("./app");
        play_second_device(play, OTHER);
        play_launch(play, 0, "first", 2112, 256, US(5));
        play_launch(play, other, "long", 2112, 256, MS(60));
        for (int k = 0; k < 10; k++) {
            struct le_call *call = play_call(play, "cudaMemcpy", LE_CALL_COPY, MS(3));
            struct le_operation *copy = play_operation(play, call, 0, 1, call->end_ns - US(100), US(90));
            copy->kind = LE_OPERATION_COPY;
            copy->bytes = 24 << 20;
            play_shape(play, copy, (struct le_shape){.direction = LE_TRACE_HTOD, .from = LE_TRACE_PINNED});
            copy->start_ns = call->end_ns - US(100);
            copy->end_ns = copy->start_ns + US(90);
        }
        play_end(play);
        assert_int_equal(count_found(play, "blamed-wait"), other == 0);
        play_free(play);
    }
}

static void a_busy_device_hides_no_idle_one(void **state) {
    (void)state;
    struct play *play = play_new("./app");
    play_second_device(play, OTHER);
    play_launch(play, OTHER, "long", 50000, 256, MS(60));
    play->launch_ns = US(20);
    for (int k = 0; k < 500; k++)
        play_launch(play, 0, "short", 50000, 256, US(5));
    play_end(play);
    assert_int_equal(count_found(play, "launch-bound"), 1);
    assert_non_null(found_on(play, "launch-bound", "Device 0: "));
    play_free(play);
}

/* Layers alternate between two devices, each in its null stream. These streams do not wait for each other. */
static void each_device_has_its_null_stream(void **state) {
    (void)state;
    for (int other = 1; other <= OTHER; other += OTHER - 1) {
        struct play *play = play_new("./app");
        play_second_device(play, OTHER);
        for (int k = 0; k < 64; k++) {
            play_launch(play, k % 2 ? other : 0, "layer", 200, 256, US(300));
            play_wait(play);
        }
        play_end(play);
        assert_int_equal(count_found(play, "kernels-apart"), other == 1);
        play_free(play);
    }
}

/* Findings about the host's own time are about the process, and are reported once. */
static void host_time_is_reported_once(void **state) {
    (void)state;
    struct play *play = play_new("./app");
    play_second_device(play, OTHER);
    play_call(play, "cuInit", LE_CALL_START, MS(300));
    for (int k = 0; k < 40; k++) {
        play_launch(play, 0, "kernel", 2112, 256, US(20));
        play_launch(play, OTHER, "kernel", 2112, 256, US(20));
        play_wait(play);
    }
    play_end(play);
    assert_int_equal(count_found(play, "first-call"), 1);
    assert_int_equal(count_found(play, "host-would-win"), 1);
    assert_null(found_on(play, "first-call", "Device "));
    play_free(play);
}

static int32_t part_of(const struct le_device_parts *parts, int32_t call) {
    int32_t part = LE_NONE;
    for (int32_t k = 0; k < parts->count; k++) {
        struct le_positions calls = le_grouped_of(&parts->calls, k);
        for (int32_t at = 0; at < calls.count; at++) {
            if (calls.at[at] != call)
                continue;
            assert_int_equal(part, LE_NONE); /* only on one device */
            part = k;
        }
    }
    return part;
}

static int32_t play_nothing(struct play *play, int32_t thread) {
    struct le_call *call = play_call(play, "cudaDeviceSynchronize", LE_CALL_WAIT, US(1));
    call->thread = thread;
    return (int32_t)(call - play->index.calls.at);
}

/* A call belongs to the device of what it enqueued, waited for or allocated, else to the device that its thread used
 * last. */
static void calls_have_one_device(void **state) {
    (void)state;
    struct play *play = play_new("./app");
    play_second_device(play, OTHER);
    play->index.threads.count = 2;
    int32_t before = play_nothing(play, 0), idle = play_nothing(play, 1);
    play_launch(play, OTHER, "kernel", 1, 1, US(5));
    int32_t after = play_nothing(play, 0), waits = play_nothing(play, 0), takes = play_nothing(play, 0);
    int32_t follows = play_nothing(play, 0);
    play_launch(play, 0, "kernel", 1, 1, US(5));
    int32_t last = play_nothing(play, 0);
    struct le_wait wait = {.call = waits, .stream = LE_NONE, .device = 0};
    play->index.waits.at = &wait;
    play->index.waits.count = 1;
    play->index.memory.at[play->index.memory.count++] = (struct le_memory_event){.call = takes, .device = 1};
    struct le_owners owners;
    le_owners_find(&owners, &play->index, &play->arena);
    struct le_device_parts parts = le_device_parts_of(&owners, 0, &play->arena);
    assert_int_equal(parts.count, 2);
    assert_int_equal(parts.devices[0], 1);
    assert_int_equal(parts.devices[1], 0);
    assert_int_equal(part_of(&parts, before), 0);
    assert_int_equal(part_of(&parts, idle), 0);
    assert_int_equal(part_of(&parts, after), 0);
    assert_int_equal(part_of(&parts, waits), 1);
    assert_int_equal(part_of(&parts, takes), 0);
    assert_int_equal(part_of(&parts, follows), 0);
    assert_int_equal(part_of(&parts, last), 1);
    play_free(play);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_grids_are_found_on_both),   cmocka_unit_test(copies_do_not_wait_for_another_device),
        cmocka_unit_test(a_busy_device_hides_no_idle_one), cmocka_unit_test(each_device_has_its_null_stream),
        cmocka_unit_test(host_time_is_reported_once),      cmocka_unit_test(calls_have_one_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
