/* Processes that end without leat_close while a thread of Leat compiles: exit() waits for the thread, and the exit code
 * is the program's. On cuda the compiler is NVRTC, which would crash. On other devices nothing is compiled this way. */
#include "support.h"
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;
static const char *own_path;
enum { CODE = 42, LEAVES = 12, WAIT_S = 60 };

static void sleep_ms(int ms) {
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000l}, NULL);
}

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* ---- the process that ends */

static bool run_expression(leat_context *ctx, int number) {
    char text[64];
    float ones[] = {1, 1, 1};
    leat_array *x = NULL, *y = NULL;
    leat_program *program = NULL;
    leat_call *call = NULL;
    snprintf(text, sizeof text, "y[i] = x[i] * %d + sqrt(x[i])", number);
    return !leat_array_new_empty(ctx, LEAT_F32, 1, SHAPE(3), LEAT_MEMORY_DEVICE, &x) &&
           !leat_array_write(x, ones, sizeof ones, NULL, NULL) && !leat_program_new(ctx, text, 0, NULL, &program) &&
           !leat_call_new(program, &call) && !leat_call_set_array(call, "x", x) && !leat_call_run(call, NULL, NULL) &&
           !leat_call_result(call, "y", &y) && !leat_array_read(y, ones, sizeof ones, NULL, NULL) &&
           ones[2] == (float)(number + 1);
}

/* "always": an expression is interpreted while it is compiled. "ready": the interpreter itself is compiled, from the
 * third expression on in a context that is five seconds old. */
static int leave(const char *device, const char *mode, int number, int ms) {
    const bool always = strcmp(mode, "always") == 0;
    leat_options options = {.device = device, .keep_code = true};
    leat_context *ctx;
    options.interpret = always ? LEAT_INTERPRET_ALWAYS : LEAT_INTERPRET_DEFAULT;
    if (leat_open(&options, &ctx) || !run_expression(ctx, number))
        return 1;
    if (!always) {
        if (!run_expression(ctx, number + 1))
            return 1;
        sleep_ms(5200);
        if (!run_expression(ctx, number + 2))
            return 1;
    }
    sleep_ms(ms);
    return CODE;
}

/* ---- starting it */

/* Its exit code, or -1 if it was killed. */
static int leave_elsewhere(const char *mode, int number, int ms) {
    char words[2][16], *const arguments[] = {(char *)(uintptr_t)own_path,
                                             (char *)(uintptr_t)device_name,
                                             (char *)(uintptr_t)mode,
                                             words[0],
                                             words[1],
                                             NULL};
    pid_t pid;
    int status = 0;
    const double start_s = now_s();
    snprintf(words[0], sizeof words[0], "%d", number);
    snprintf(words[1], sizeof words[1], "%d", ms);
    assert_int_equal(posix_spawn(&pid, own_path, NULL, NULL, arguments, environ), 0);
    while (waitpid(pid, &status, WNOHANG) == 0) {
        if (now_s() - start_s > WAIT_S)
            kill(pid, SIGKILL);
        sleep_ms(2);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_endings(void **state) {
    char folder[] = "/tmp/leat-endings-XXXXXX", command[64];
    (void)state;
    assert_non_null(mkdtemp(folder));
    setenv("LEAT_CACHE_DIR", folder, 1);
    setenv("ASAN_OPTIONS", "detect_leaks=0", 1); /* a process that does not close leaks its memory */
    if (strcmp(device_name, "cuda") == 0) {
        assert_int_equal(leave_elsewhere("ready", 100, 600), CODE);
        for (int k = 0; k < LEAVES; k++)
            assert_int_equal(leave_elsewhere("always", k, 9 * k), CODE);
    } else {
        assert_int_equal(leave_elsewhere(on_cpu() ? "always" : "ready", 100, 0), CODE);
    }
    snprintf(command, sizeof command, "rm -rf %s", folder);
    assert_int_equal(system(command), 0);
}

int main(int count, char **arguments) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_endings)};
    own_path = arguments[0];
    if (count == 5)
        return leave(arguments[1], arguments[2], atoi(arguments[3]), atoi(arguments[4]));
    if (!start(count, arguments))
        return SKIPPED;
    return cmocka_run_group_tests_name(device_name, tests, NULL, NULL);
}
