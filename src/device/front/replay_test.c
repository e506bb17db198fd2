/* Repeated launches: when the front door asks a backend for a replay object, and what happens if it fails. */
#include "device/front/launch_testing.h"

enum { PLAIN = 32 }; /* launches before a replay object is created */

static void repeat(struct setting *setting, struct le_device_stream *stream, struct le_kernel_launch spec, int times) {
    const struct le_launch_argument arguments[] = {array_of(setting, LE_ACCESS_BOTH)};
    spec.arguments = arguments;
    spec.argument_count = 1;
    for (int k = 0; k < times; k++)
        assert_ok(le_device_launch(kernel_of(setting, "_Z4overPf"), &spec, stream));
}

static void test_repeated(void **state) {
    struct setting *setting = *state;
    struct le_device_stream *own = le_device_stream_own(setting->device), *other = fake_stream_of(setting->device);
    struct le_replay replay = {0};
    struct le_kernel_launch spec = shape_of(1, 32);
    repeat(setting, own, spec, 2 * PLAIN); /* without launch.replay */
    assert_int_equal(replays.made, 0);
    spec.replay = &replay;
    repeat(setting, own, spec, PLAIN);
    assert_int_equal(replays.made, 0);
    repeat(setting, own, spec, 3);
    assert_int_equal(replays.made, 1);
    assert_int_equal(replays.given, 3);
    repeat(setting, other, spec, PLAIN); /* another stream starts over */
    assert_int_equal(replays.freed, 1);
    repeat(setting, own, spec, PLAIN);
    assert_int_equal(replays.given, 3);
    repeat(setting, own, spec, 1);
    assert_int_equal(replays.made, 2);
    assert_int_equal(replays.given, 4);
    assert_false(replays.was_foreign);
    spec.grid[0] = 2 * 1024 / 32 + 1; /* more threads than the device runs at one time */
    repeat(setting, own, spec, 1);
    assert_int_equal(replays.given, 4);
    const struct le_launch_argument arguments[] = {array_of(setting, LE_ACCESS_BOTH)};
    spec = shape_of(1, 1);
    spec.arguments = arguments;
    spec.argument_count = 1;
    spec.replay = &replay;
    assert_ok(le_device_launch(kernel_of(setting, "_Z4overPd"), &spec, own)); /* so does another kernel */
    assert_int_equal(replays.freed, 2);
    assert_int_equal(last.count, (int)le_device_stream_point(own).number + PLAIN);
    le_replay_finish(&replay);
    assert_int_equal(replays.freed, 2);
    le_device_stream_free(other);
}

/* The front door passes `foreign` to the backend, which must check whether another library is capturing the stream. */
static void test_repeated_in_foreign_stream(void **state) {
    struct setting *setting = *state;
    struct le_device_stream *foreign;
    struct le_replay replay = {0};
    struct le_kernel_launch spec = shape_of(1, 32);
    void *theirs;
    assert_ok(fake_stream_new(setting->fake, &theirs));
    assert_ok(le_device_stream_new(setting->device, theirs, &foreign));
    spec.replay = &replay;
    repeat(setting, foreign, spec, PLAIN + 1);
    assert_int_equal(replays.given, 1);
    assert_true(replays.was_foreign);
    le_replay_finish(&replay);
    le_device_stream_free(foreign);
}

/* If creating or launching a replay object fails, the launch is done as usual, without an error, and tried again
 * later. */
static void test_not_kept(void **state) {
    struct setting *setting = *state;
    struct le_device_stream *own = le_device_stream_own(setting->device);
    struct le_replay replay = {0};
    struct le_kernel_launch spec = shape_of(1, 32);
    spec.replay = &replay;
    replays.failing_new = LEAT_OUT_OF_MEMORY;
    repeat(setting, own, spec, 2 * PLAIN);
    replays.failing_new = LEAT_OK;
    assert_int_equal(replays.made, 0);
    repeat(setting, own, spec, PLAIN);
    assert_int_equal(replays.made, 1);
    replays.given = 0;
    replays.failing_launch = LEAT_DEVICE;
    repeat(setting, own, spec, 1);
    replays.failing_launch = LEAT_OK;
    assert_int_equal(replays.freed, 1);
    assert_null(le_error_at(0));
    repeat(setting, own, spec, PLAIN);
    assert_int_equal(replays.given, 0);
    repeat(setting, own, spec, 1);
    assert_int_equal(replays.given, 1);
    assert_int_equal(last.count, le_device_stream_point(own).number);
    le_replay_finish(&replay);
}

/* The number per device is limited; a freed one makes room for another. */
static void test_most_are_kept(void **state) {
    struct setting *setting = *state;
    enum { MOST = 64 };
    struct le_device_stream *own = le_device_stream_own(setting->device);
    struct le_replay many[MOST + 1] = {0};
    struct le_kernel_launch spec = shape_of(1, 32);
    for (size_t k = 0; k < ARRAY_LEN(many); k++) {
        spec.replay = &many[k];
        repeat(setting, own, spec, PLAIN + 1);
    }
    assert_int_equal(replays.made, MOST);
    le_replay_finish(&many[0]);
    repeat(setting, own, spec, PLAIN);
    assert_int_equal(replays.made, MOST);
    repeat(setting, own, spec, 1);
    assert_int_equal(replays.made, MOST + 1);
    for (size_t k = 0; k < ARRAY_LEN(many); k++)
        le_replay_finish(&many[k]);
    assert_int_equal(replays.freed, replays.made);
}

/* A device that fails reports it at once, and gets no more work. */
static void test_kept_and_fatal(void **state) {
    struct setting *setting = *state;
    struct le_replay replay = {0};
    struct le_kernel_launch spec = shape_of(1, 32);
    const struct le_launch_argument arguments[] = {array_of(setting, LE_ACCESS_BOTH)};
    spec.replay = &replay;
    repeat(setting, le_device_stream_own(setting->device), spec, PLAIN + 1);
    int before = last.count;
    replays.failing_launch = LEAT_DEVICE;
    replays.is_fatal = true;
    spec.arguments = arguments;
    spec.argument_count = 1;
    assert_int_equal(le_device_launch(kernel_of(setting, "_Z4overPf"), &spec, le_device_stream_own(setting->device)),
                     LEAT_DEVICE);
    assert_message("the fake does not give what it has kept");
    assert_int_equal(last.count, before);
    le_replay_finish(&replay);
    assert_int_equal(replays.freed, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_SETTING(test_repeated),       IN_SETTING(test_repeated_in_foreign_stream),
        IN_SETTING(test_not_kept),       IN_SETTING(test_most_are_kept),
        IN_SETTING(test_kept_and_fatal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
