/* Measures the simulated device. Its clock is virtual, so the measured rates are those of its model. */
#include "run/device_rates.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void measures_all(void **state) {
    (void)state;
    struct le_device_rates gauge = {0};
    assert_int_equal(le_device_rates_measure("sim", &gauge), LEAT_OK);
    assert_true(gauge.copy_bytes_per_second > 1e9 && gauge.copy_bytes_per_second < 1e14);
    assert_true(gauge.upload_bytes_per_second > 1e8 && gauge.upload_bytes_per_second < gauge.copy_bytes_per_second);
    assert_true(gauge.download_bytes_per_second > 1e8 && gauge.download_bytes_per_second < gauge.copy_bytes_per_second);
    if (gauge.launch_ns == 0 && gauge.round_trip_ns == 0)
        return; /* no host compiler, so sim cannot compile kernels */
    assert_true(gauge.launch_ns > 100 && gauge.launch_ns < 1e6);
    assert_true(gauge.round_trip_ns > gauge.launch_ns && gauge.round_trip_ns < 1e7);
}

static void fails_as_a_whole(void **state) {
    (void)state;
    struct le_device_rates gauge = {.launch_ns = -1};
    assert_int_equal(le_device_rates_measure("no device", &gauge), LEAT_DEVICE);
    assert_true(gauge.launch_ns == -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(measures_all), cmocka_unit_test(fails_as_a_whole)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
