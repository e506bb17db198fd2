/* Canceled grids: wherever the request finds a grid, it ends soon, and the next grid is right. */
#include "base/clock.h"
#include "sim/grid/sim_exec_testing.h"
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#if defined(__SANITIZE_THREAD__)
enum { DEFERS_SIGNALS = 1 };
#elif defined(__has_feature)
enum { DEFERS_SIGNALS = __has_feature(thread_sanitizer) };
#else
enum { DEFERS_SIGNALS = 0 };
#endif
enum { THREADS = 64 };
#define DELAY_NS    50000000u
#define REACTION_NS 2000000000u /* at most; far more than it takes, because tests may share few slow cores */

static const char source[] =
    "extern \"C\" __global__ void barriers(double *y) { for (;;) __syncthreads(); }\n"
    "extern \"C\" __global__ void prints(double *y) { for (;;) printf(\"%s\", \"\"); }\n"
    "extern \"C\" __global__ void waits(volatile double *y) { while (y[0] < 1) __nanosleep(9); }\n"
    "extern \"C\" __global__ void lanes(double *y) { for (;;) __syncwarp(); }\n"
    "extern \"C\" __global__ void computes(double *y) { for (long long k = 1; k; k += 2) y[threadIdx.x] = k; }\n"
    "extern \"C\" __global__ void spins(double *y) { for (volatile int k = 0;; k++) {} }\n"
    "extern \"C\" __global__ void calls(double *y) { for (;;) y[threadIdx.x] = sin(y[threadIdx.x] + 1); }\n"
    "extern \"C\" __global__ void fine(double *y) {\n"
    "    __shared__ double s[64];\n"
    "    s[threadIdx.x] = threadIdx.x;\n"
    "    __syncthreads();\n"
    "    y[threadIdx.x] = s[63 - threadIdx.x];\n"
    "}\n";
static const char *const endless[] = {"barriers", "prints", "waits", "lanes", "computes", "spins", "calls"};
enum { WITH_SERVICES = 4 }; /* the first of them call services */

struct request {
    struct le_cancel_token *token;
    uint64_t at_ns;
};

static void *request_soon(void *user) {
    struct request *request = user;
    nanosleep(&(const struct timespec){.tv_nsec = DELAY_NS}, NULL);
    request->at_ns = le_clock_ns();
    le_cancel_token_request(request->token);
    return NULL;
}

static void cancel(struct testing *t, const char *kernel, double *y) {
    struct le_cancel_tokens tokens = {.run = le_cancel_token_new()};
    struct request request = {.token = tokens.run};
    void *parameters[] = {&y};
    pthread_t thread;
    assert_non_null(tokens.run);
    assert_int_equal(pthread_create(&thread, NULL, request_soon, &request), 0);
    t->grid.tokens = &tokens;
    enum sim_grid_status status = testing_launch(t, kernel, DIM(3, 1, 1), DIM(THREADS, 1, 1), 0, 1, parameters);
    uint64_t end_ns = le_clock_ns();
    pthread_join(thread, NULL);
    t->grid.tokens = NULL;
    le_cancel_tokens_drop(&tokens);
    assert_int_equal(status, SIM_GRID_CANCELED);
    assert_true(end_ns - request.at_ns < REACTION_NS);
}

static void check_all(bool check) {
    size_t count = DEFERS_SIGNALS ? WITH_SERVICES : ARRAY_LEN(endless);
    double *y = calloc(THREADS, sizeof *y);
    assert_non_null(y);
    struct testing t = testing_load(source, check, NULL);
    if (check)
        le_sim_check_memory(t.check, (uintptr_t)y, THREADS * sizeof *y, SIM_MEMORY_VALID, "y");
    for (size_t k = 0; k < count; k++) {
        y[0] = 0;
        cancel(&t, endless[k], y);
        testing_run(&t, "fine", 1, THREADS, 0, (void *[]){&y});
        for (int i = 0; i < THREADS; i++)
            assert_true(y[i] == THREADS - 1 - i);
    }
    testing_finish(&t);
    free(y);
}

static void unchecked(void **state) {
    (void)state;
    check_all(false);
}

static void checked(void **state) {
    (void)state;
    check_all(true);
}

/* A request that came before a stream's work does not stop it. */
static void earlier_requests(void **state) {
    (void)state;
    struct le_cancel_token *token = le_cancel_token_new();
    struct le_cancel_tokens before, after;
    assert_non_null(token);
    le_cancel_token_offer(token);
    le_cancel_tokens_take(&before);
    le_cancel_token_request(token);
    le_cancel_tokens_take(&after);
    le_cancel_token_offer(NULL);
    assert_true(le_cancel_tokens_requested(&before) && !le_cancel_tokens_requested(&after));
    le_cancel_tokens_drop(&before);
    le_cancel_tokens_drop(&after);
    le_cancel_token_drop(token);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unchecked),
        cmocka_unit_test(checked),
        cmocka_unit_test(earlier_requests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
