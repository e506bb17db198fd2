/* Helpers of the device suites. The device is the program's argument, or LEAT_TEST_DEVICES: "cpu", "sim", "cuda". */
#ifndef TESTS_DEVICE_SUPPORT_H
#define TESTS_DEVICE_SUPPORT_H
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "leat.h"

#define ARRAY_LEN(a) (sizeof(a) / sizeof(*(a)))
#define SHAPE(...)   ((const int64_t[]){__VA_ARGS__})
#define assert_ok(expression)                                                                                          \
    do {                                                                                                               \
        if (expression)                                                                                                \
            fail_msg("%s: %s", #expression, leat_error_text(NULL));                                                    \
    } while (0)
#define assert_status(expression, status) assert_string_equal(leat_status_name(expression), leat_status_name(status))

static const char *device_name;

static inline leat_context *open_device(const leat_options *options) {
    leat_options all = options ? *options : (leat_options){0};
    leat_context *ctx = NULL;
    all.device = device_name;
    assert_ok(leat_open(&all, &ctx));
    return ctx;
}

static inline bool on_cpu(void) {
    return strcmp(device_name, "cpu") == 0;
}

static inline bool on_sim(void) {
    return strcmp(device_name, "sim") == 0;
}

/* The last failure's message contains text. */
static inline void assert_message(const char *text) {
    leat_error error;
    assert_ok(leat_error_get(NULL, &error));
    if (!strstr(error.message, text))
        fail_msg("\"%s\" is not in \"%s\"", text, error.message);
}

/* Sets the device; false if it is not available and the test must be skipped. */
static inline bool start(int count, char **arguments) {
    leat_context *ctx;
    device_name = count > 1 ? arguments[1] : getenv("LEAT_TEST_DEVICES");
    device_name = device_name ? device_name : "sim";
    if (strcmp(device_name, "cuda") != 0)
        return true;
    const leat_options options = {.device = device_name};
    if (leat_open(&options, &ctx)) {
        printf("skipped: %s\n", leat_error_text(NULL));
        return false;
    }
    leat_close(ctx);
    return true;
}
#define SKIPPED 77
#endif
