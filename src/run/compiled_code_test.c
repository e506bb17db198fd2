/* Compiled kernels in memory and on disk, on sim: what is compiled, found and unloaded, also with several threads and
 * with wrong code. */
#include "base/store_testing.h"
#include "run/compiled_code.h"
#include <pthread.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct setting {
    struct scratch scratch;
    leat_context *ctx;
};

static void open_context(struct setting *setting, bool keeps, size_t cap_bytes) {
    const leat_options options = {.device = "sim", .threads = 1, .keep_code = keeps, .code_cap_bytes = cap_bytes};
    if (le_context_new(&options, &setting->ctx))
        fail_msg("%s", le_errors_text());
}

static void begin(struct setting *setting, bool keeps, size_t cap_bytes) {
    scratch_make(&setting->scratch);
    setenv("LEAT_CACHE_DIR", setting->scratch.folder, 1);
    open_context(setting, keeps, cap_bytes);
}

static void end(struct setting *setting) {
    le_context_close(setting->ctx);
    scratch_remove(&setting->scratch);
}

enum { TEXT_BYTES = 256 };

/* The text of a kernel `fill` that writes the number. */
static const char *text_of(int number, char text[TEXT_BYTES]) {
    snprintf(text, TEXT_BYTES, "extern \"C\" __global__ void fill(long long *y) { y[threadIdx.x] = %d; }\n", number);
    return text;
}

struct words {
    char text[TEXT_BYTES], label[64];
};

static struct le_code_source source_of(int number, struct words *words) {
    snprintf(words->label, sizeof words->label, "y[i] = %d: i64[1]", number);
    return (struct le_code_source){.kernel = "fill",
                                   .text = text_of(number, words->text),
                                   .program = "numbers.leat",
                                   .what = words->label,
                                   .cause = "first use with these types"};
}

static leat_status get_number(leat_context *ctx, int number, struct le_loaded_code **code) {
    struct words words;
    const struct le_code_source source = source_of(number, &words);
    return le_code_get(ctx, &source, code);
}

/* Runs the kernel and returns what it wrote. */
static int64_t run_code(leat_context *ctx, const struct le_loaded_code *code) {
    struct le_allocation *allocation;
    struct le_device_stream *stream = le_device_stream_own(ctx->device);
    assert_int_equal(le_allocation_new(ctx->device, LE_MEMORY_MAPPED, 8, stream, &allocation), LEAT_OK);
    const struct le_launch_argument argument = {
        .value = &allocation->address, .size_bytes = 8, .allocation = allocation, .access = LE_ACCESS_BOTH};
    const struct le_kernel_launch launch = {
        .grid = {1, 1, 1}, .block = {1, 1, 1}, .arguments = &argument, .argument_count = 1};
    assert_int_equal(le_device_launch(le_code_kernel(code), &launch, stream), LEAT_OK);
    assert_int_equal(le_device_stream_synchronize(stream), LEAT_OK);
    int64_t value = *(const int64_t *)allocation->host;
    le_allocation_free(allocation);
    return value;
}

static void use_number(leat_context *ctx, int number) {
    struct le_loaded_code *code;
    if (get_number(ctx, number, &code))
        fail_msg("%s", le_errors_text());
    assert_int_equal(run_code(ctx, code), number);
    le_code_release(code);
}

/* Counts the records of a kind whose `what` and `cause` contain the given words; NULL: any. Leaves out the waiting for
 * other threads. */
static uint64_t count_costs(leat_context *ctx, leat_cost_kind kind, const char *what, const char *cause) {
    uint64_t count = 0;
    leat_cost cost;
    for (size_t k = 0; le_ledger_at(ctx->ledger, k, &cost); k++)
        if (cost.kind == kind && strncmp(cost.what, "waiting", 7) && (!what || strstr(cost.what, what)) &&
            (!cause || strstr(cost.cause, cause)))
            count += cost.count;
    return count;
}

/* ---- finding */

static void test_found(void **state) {
    (void)state;
    struct setting setting;
    begin(&setting, true, 0);
    for (int k = 0; k < 3; k++)
        use_number(setting.ctx, 1);
    use_number(setting.ctx, 2);
    assert_int_equal(count_costs(setting.ctx, LEAT_COST_COMPILE, "y[i] = 1", "first use with these types"), 1);
    assert_int_equal(count_costs(setting.ctx, LEAT_COST_COMPILE, NULL, NULL), 2);
    assert_int_equal(count_costs(setting.ctx, LEAT_COST_IN_MEMORY, "y[i] = 1", "first use"), 2);
    assert_int_equal(count_costs(setting.ctx, LEAT_COST_ON_DISK, NULL, NULL), 0);
    le_context_close(setting.ctx);
    open_context(&setting, true, 0);
    use_number(setting.ctx, 1);
    use_number(setting.ctx, 2);
    assert_int_equal(count_costs(setting.ctx, LEAT_COST_COMPILE, NULL, NULL), 0);
    assert_int_equal(count_costs(setting.ctx, LEAT_COST_ON_DISK, "y[i] = 2", "first use"), 1);
    assert_int_equal(count_costs(setting.ctx, LEAT_COST_ON_DISK, NULL, NULL), 2);
    assert_int_equal(count_costs(setting.ctx, LEAT_COST_MODULE, "y[i] = 2", NULL), 1);
    end(&setting);
}

/* Without the option Leat stores no code; the simulator's compiler still uses its own store. */
static void test_not_kept(void **state) {
    (void)state;
    struct setting setting;
    begin(&setting, false, 0);
    use_number(setting.ctx, 1);
    le_context_close(setting.ctx);
    open_context(&setting, false, 0);
    use_number(setting.ctx, 1);
    assert_int_equal(count_costs(setting.ctx, LEAT_COST_COMPILE, NULL, NULL), 1);
    assert_int_equal(count_costs(setting.ctx, LEAT_COST_ON_DISK, NULL, NULL), 0);
    end(&setting);
}

static void test_wrong(void **state) {
    (void)state;
    struct setting setting;
    struct le_loaded_code *code = NULL;
    const struct le_code_source not_c = {.kernel = "f", .text = "extern \"C\" __global__ void f( {}", .what = "f"};
    const struct le_code_source not_there = {.kernel = "g", .text = "extern \"C\" __global__ void f() {}", .what = "f"};
    begin(&setting, true, 0);
    for (int k = 0; k < 2; k++) {
        assert_int_equal(le_code_get(setting.ctx, &not_c, &code), LEAT_PROGRAM);
        assert_int_equal(le_code_get(setting.ctx, &not_there, &code), LEAT_INVALID);
        assert_null(code);
    }
    end(&setting);
}

/* ---- the limit of loaded code */

static void test_limit(void **state) {
    (void)state;
    struct setting setting;
    struct le_loaded_code *held;
    begin(&setting, true, 1);
    assert_int_equal(get_number(setting.ctx, 1, &held), LEAT_OK);
    use_number(setting.ctx, 2);
    use_number(setting.ctx, 3);
    assert_int_equal(count_costs(setting.ctx, LEAT_COST_UNLOAD, "y[i] = 1", NULL), 0);
    assert_int_equal(count_costs(setting.ctx, LEAT_COST_UNLOAD, "y[i] = 2", "limit of loaded code"), 1);
    assert_int_equal(run_code(setting.ctx, held), 1);
    le_code_release(held);
    assert_int_equal(count_costs(setting.ctx, LEAT_COST_UNLOAD, "y[i] = 1", "limit of loaded code"), 1);
    use_number(setting.ctx, 1);
    assert_int_equal(count_costs(setting.ctx, LEAT_COST_ON_DISK, "y[i] = 1", NULL), 1);
    end(&setting);
}

/* ---- threads */

enum { THREADS = 8, TEXTS = 3 };

static void *get_all(void *ctx) {
    for (int k = 0; k < TEXTS; k++) {
        struct le_loaded_code *code;
        if (get_number(ctx, k, &code) == LEAT_OK)
            le_code_release(code);
    }
    return NULL;
}

static void test_threads(void **state) {
    (void)state;
    struct setting setting;
    pthread_t threads[THREADS];
    begin(&setting, false, 0);
    for (int k = 0; k < THREADS; k++)
        assert_int_equal(pthread_create(&threads[k], NULL, get_all, setting.ctx), 0);
    for (int k = 0; k < THREADS; k++)
        pthread_join(threads[k], NULL);
    assert_int_equal(count_costs(setting.ctx, LEAT_COST_COMPILE, NULL, NULL), TEXTS);
    assert_int_equal(count_costs(setting.ctx, LEAT_COST_IN_MEMORY, NULL, NULL), (THREADS - 1) * TEXTS);
    end(&setting);
}

/* ---- without waiting */

static enum le_code_state request_number(leat_context *ctx, int number, enum le_code_wish wish,
                                         struct le_loaded_code **code) {
    struct words words;
    const struct le_code_source source = source_of(number, &words);
    return le_code_request(ctx, &source, wish, code);
}

static void wait_for_number(leat_context *ctx, int number) {
    struct le_loaded_code *code = NULL;
    const struct timespec moment = {.tv_nsec = 1000000};
    enum le_code_state state;
    while ((state = request_number(ctx, number, LE_CODE_SOON, &code)) == LE_CODE_COMING)
        nanosleep(&moment, NULL);
    assert_int_equal(state, LE_CODE_READY);
    assert_int_equal(run_code(ctx, code), number);
    le_code_release(code);
}

static void test_requested(void **state) {
    (void)state;
    struct setting setting;
    struct le_loaded_code *code = NULL;
    begin(&setting, true, 0);
    assert_int_equal(request_number(setting.ctx, 1, LE_CODE_KEPT, &code), LE_CODE_COMING);
    assert_int_equal(request_number(setting.ctx, 1, LE_CODE_SOON, &code), LE_CODE_COMING);
    assert_null(code);
    assert_int_equal(request_number(setting.ctx, 2, LE_CODE_SOON, &code), LE_CODE_COMING);
    use_number(setting.ctx, 2); /* waits for the compilation in the background */
    wait_for_number(setting.ctx, 1);
    assert_int_equal(count_costs(setting.ctx, LEAT_COST_COMPILE, NULL, NULL), 2);
    assert_int_equal(count_costs(setting.ctx, LEAT_COST_READ, "code cache", NULL), 3);
    le_context_close(setting.ctx);
    open_context(&setting, true, 0);
    assert_int_equal(request_number(setting.ctx, 1, LE_CODE_KEPT, &code), LE_CODE_READY);
    le_code_release(code);
    assert_int_equal(request_number(setting.ctx, 2, LE_CODE_SOON, &code), LE_CODE_READY);
    le_code_release(code);
    assert_int_equal(count_costs(setting.ctx, LEAT_COST_COMPILE, NULL, NULL), 0);
    end(&setting);
}

/* leat_close waits for requested code, so the next process finds it; spare code that has not begun is not compiled. */
static void test_closed_early(void **state) {
    (void)state;
    struct setting setting;
    struct le_loaded_code *code = NULL;
    begin(&setting, true, 0);
    assert_int_equal(request_number(setting.ctx, 1, LE_CODE_SOON, &code), LE_CODE_COMING);
    assert_int_equal(request_number(setting.ctx, 2, LE_CODE_SPARE, &code), LE_CODE_COMING);
    assert_int_equal(request_number(setting.ctx, 3, LE_CODE_SOON, &code), LE_CODE_COMING);
    le_context_close(setting.ctx);
    open_context(&setting, true, 0);
    assert_int_equal(request_number(setting.ctx, 1, LE_CODE_KEPT, &code), LE_CODE_READY);
    le_code_release(code);
    assert_int_equal(request_number(setting.ctx, 3, LE_CODE_KEPT, &code), LE_CODE_READY);
    le_code_release(code);
    assert_int_equal(request_number(setting.ctx, 2, LE_CODE_KEPT, &code), LE_CODE_COMING);
    assert_int_equal(request_number(setting.ctx, 2, LE_CODE_SPARE, &code), LE_CODE_COMING);
    wait_for_number(setting.ctx, 2);
    end(&setting);
}

enum { REQUESTS = 40 }; /* more than the context's threads compile at the same time */

/* exit() waits for the compilations that have begun, and for nothing else. */
static void test_process_ends(void **state) {
    (void)state;
    struct setting setting;
    struct le_loaded_code *code = NULL;
    int status = 0;
    scratch_make(&setting.scratch);
    setenv("LEAT_CACHE_DIR", setting.scratch.folder, 1);
    pid_t pid = fork();
    if (pid == 0) {
        open_context(&setting, true, 0);
        for (int k = 1; k <= REQUESTS; k++)
            if (request_number(setting.ctx, k, LE_CODE_SOON, &code) != LE_CODE_COMING)
                _exit(1);
        exit(42);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 42);
    open_context(&setting, true, 0);
    assert_int_equal(request_number(setting.ctx, REQUESTS, LE_CODE_KEPT, &code), LE_CODE_COMING);
    end(&setting);
}

enum { MANY = 12 };

/* The time of the context's threads is recorded apart, so that the caller's costs still add up to the elapsed time. */
static void test_prefetched(void **state) {
    (void)state;
    struct setting setting;
    leat_cost cost;
    uint64_t in_background = 0;
    begin(&setting, true, 0);
    for (int k = 0; k < MANY; k++) {
        struct words words;
        const struct le_code_source source = source_of(k, &words);
        le_code_prefetch(setting.ctx, &source);
        le_code_prefetch(setting.ctx, &source);
    }
    for (int k = MANY - 1; k >= 0; k--) { /* the program changes its environment meanwhile */
        setenv("LEAT_TEST_NUMBER", k % 2 ? "odd" : "even, which is longer", 1);
        use_number(setting.ctx, k);
        unsetenv("LEAT_TEST_NUMBER");
    }
    assert_int_equal(count_costs(setting.ctx, LEAT_COST_COMPILE, NULL, NULL), MANY);
    for (size_t k = 0; le_ledger_at(setting.ctx->ledger, k, &cost); k++)
        in_background += cost.kind == LEAT_COST_COMPILE && cost.in_background ? cost.count : 0;
    assert_in_range(in_background, 1, MANY);
    end(&setting);
}

/* Code that is wanted ahead and does not compile is an error only for those who get it. */
static void test_prefetched_wrong(void **state) {
    (void)state;
    struct setting setting;
    struct le_loaded_code *code = NULL;
    const struct le_code_source wrong = {
        .kernel = "f", .text = "extern \"C\" __global__ void f( {}", .what = "f", .cause = "a test"};
    begin(&setting, true, 0);
    le_code_prefetch(setting.ctx, &wrong);
    use_number(setting.ctx, 1);
    assert_int_equal(le_code_get(setting.ctx, &wrong, &code), LEAT_PROGRAM);
    le_code_prefetch(setting.ctx, &wrong);
    end(&setting); /* which waits for it */
}

/* If the code is wrong, le_code_get reports the error. */
static void test_requested_wrong(void **state) {
    (void)state;
    struct setting setting;
    struct le_loaded_code *code = NULL;
    const struct timespec moment = {.tv_nsec = 1000000};
    const struct le_code_source wrong = {
        .kernel = "f", .text = "extern \"C\" __global__ void f( {}", .what = "f", .cause = "a test"};
    begin(&setting, true, 0);
    while (le_code_request(setting.ctx, &wrong, LE_CODE_SOON, &code) == LE_CODE_COMING)
        nanosleep(&moment, NULL);
    assert_int_equal(le_code_request(setting.ctx, &wrong, LE_CODE_SOON, &code), LE_CODE_FAILED);
    assert_null(code);
    assert_int_equal(le_code_get(setting.ctx, &wrong, &code), LEAT_PROGRAM);
    assert_int_equal(le_code_request(setting.ctx, &wrong, LE_CODE_SOON, &code), LE_CODE_COMING); /* again */
    end(&setting);
}

static void *request_all(void *ctx) {
    for (int k = 0; k < TEXTS; k++)
        wait_for_number(ctx, k);
    return NULL;
}

static void test_requesting_threads(void **state) {
    (void)state;
    struct setting setting;
    pthread_t threads[THREADS];
    begin(&setting, true, 1);
    for (int k = 0; k < THREADS; k++)
        assert_int_equal(pthread_create(&threads[k], NULL, k % 2 ? request_all : get_all, setting.ctx), 0);
    for (int k = 0; k < THREADS; k++)
        pthread_join(threads[k], NULL);
    assert_in_range(count_costs(setting.ctx, LEAT_COST_COMPILE, NULL, NULL), TEXTS, TEXTS);
    end(&setting);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        /* the test that forks comes first: sim's driver cannot be used in forked children */
        cmocka_unit_test(test_process_ends),    cmocka_unit_test(test_found),
        cmocka_unit_test(test_not_kept),        cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_limit),           cmocka_unit_test(test_threads),
        cmocka_unit_test(test_requested),       cmocka_unit_test(test_closed_early),
        cmocka_unit_test(test_prefetched),      cmocka_unit_test(test_prefetched_wrong),
        cmocka_unit_test(test_requested_wrong), cmocka_unit_test(test_requesting_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
