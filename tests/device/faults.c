/* Kernels that fault, each in a process of its own: the error names the kernel that may have caused it, every later
 * call returns the same error at once, and all handles can still be freed. */
#include "work.h"
#include <sys/wait.h>
#include <unistd.h>

static const char fault_text[] =
    "extern \"C\" __global__ void poke(unsigned *y, unsigned long long at) {\n"
    "    if (threadIdx.x == 3) *(volatile unsigned *)at = 1;\n"
    "    y[threadIdx.x] = 1;\n"
    "}\n"
    "extern \"C\" __global__ void trap(unsigned *y) { if (y[0] == 12345) y[1] = 1; else __trap(); }\n";

enum fault { FAULT_NULL, FAULT_WILD, FAULT_TRAP };
static const char *const fault_names[] = {"address 0", "an unmapped address", "__trap"};

static leat_status launch_fault(leat_module *module, enum fault fault, leat_array *y, leat_stream *stream) {
    static const char *const kernels[] = {"poke", "poke", "trap"};
    leat_kernel *kernel = NULL;
    assert_ok(leat_module_kernel(module, kernels[fault], &kernel));
    const leat_argument arguments[] = {leat_inout(y), leat_u64(fault == FAULT_WILD ? 0x200000000000ull : 0)};
    return leat_kernel_launch(kernel, (leat_dim3){2, 1, 1}, (leat_dim3){32, 1, 1}, 0, stream, arguments,
                              fault == FAULT_TRAP ? 1 : 2);
}

/* Checks that the error is latched, and what it names. */
static void say_all_fail(leat_array *y, leat_stream *stream, leat_event *event) {
    static unsigned values[WORDS];
    leat_array *other = NULL;
    leat_stream *more = NULL;
    const leat_status statuses[] = {
        leat_array_read(y, values, sizeof values, NULL, NULL),
        leat_array_write(y, values, sizeof values, stream, NULL),
        leat_array_new(ctx, LEAT_U8, 1, SHAPE(100), LEAT_MEMORY_DEVICE, &other),
        leat_stream_new(ctx, &more),
        leat_event_record(event, stream),
        leat_stream_synchronize(stream),
        leat_context_synchronize(ctx),
        leat_memory_trim(ctx),
        mix(stream, y, y),
    };
    for (size_t k = 0; k < ARRAY_LEN(statuses); k++)
        assert_status(statuses[k], LEAT_DEVICE);
}

/* Prints which kernel was launched. The simulator also names the thread and the reason; a GPU names only the kind of
 * failure, which for a trap differs between generations. */
static void say_cause(const char *when, enum fault fault) {
    leat_error error;
    assert_ok(leat_error_get(NULL, &error));
    static const char *const reasons[] = {"): null pointer (", "): invalid address 0x200000000000 (",
                                          "): the kernel called __trap() ("};
    const char *text = strstr(error.message, "after: ");
    if (strcmp(device_name, "sim") == 0)
        assert_non_null(strstr(error.message, reasons[fault]));
    else if (fault != FAULT_TRAP)
        assert_non_null(strstr(error.message, "an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS)"));
    say("%s%s", when, text ? text : error.message);
}

static void fault_in_child(enum fault fault) {
    leat_module *module = NULL;
    leat_stream *stream = NULL;
    leat_event *event = NULL;
    if (!start(2, (char *[]){NULL, (char *)(uintptr_t)device_name}) || !work_begin(NULL))
        _exit(SKIPPED);
    assert_ok(leat_module_new(ctx, fault_text, NULL, &module));
    assert_ok(leat_stream_new(ctx, &stream));
    assert_ok(leat_event_new(ctx, &event));
    leat_array *y = words(LEAT_MEMORY_DEVICE, 0), *x = words(LEAT_MEMORY_DEVICE, 1);
    assert_ok(mix(stream, y, x));
    assert_ok(leat_stream_synchronize(stream));
    say("%s:", fault_names[fault]);
    assert_ok(launch_fault(module, fault, y, stream));
    assert_status(leat_stream_synchronize(stream), LEAT_DEVICE);
    say_cause("", fault);
    say_all_fail(y, stream, event);
    say_cause("then: ", fault);
    leat_array_free(y);
    leat_array_free(x);
    leat_event_free(event);
    leat_stream_free(stream);
    leat_module_free(module);
    work_end();
}

static bool is_skipped; /* the device or a compiler is missing */

static void test_fault(void **state) {
    enum fault fault = *(enum fault *)*state;
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        fault_in_child(fault);
        fflush(NULL);
        _exit(0);
    }
    int result = -1;
    assert_int_equal(waitpid(child, &result, 0), child);
    is_skipped = WIFEXITED(result) && WEXITSTATUS(result) == SKIPPED;
    if (is_skipped)
        skip();
    assert_true(WIFEXITED(result) && WEXITSTATUS(result) == 0);
}

int main(int count, char **arguments) {
    static enum fault faults[] = {FAULT_NULL, FAULT_WILD, FAULT_TRAP};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_fault, &faults[0]),
        cmocka_unit_test_prestate(test_fault, &faults[1]),
        cmocka_unit_test_prestate(test_fault, &faults[2]),
    };
    if (count < 2) { /* started without arguments, as by memory checkers, which would report the intended faults */
        printf("skipped: no device is given as an argument\n");
        return 0;
    }
    device_name = arguments[1];
    if (on_cpu())
        return SKIPPED;
    int failed = cmocka_run_group_tests_name(device_name, tests, NULL, NULL);
    return is_skipped ? SKIPPED : failed;
}
