/* Measures Leat's overhead: a prepared call on small arrays, compiling a program of twenty lines, and the command from
 * start to exit. Prints `NAME BEST MEDIAN UNIT` lines for bench.py, which adds them to the table.
 *
 * usage: bench_call COMMAND FOLDER      COMMAND: path of the command; FOLDER: a folder for an input file of a few
 * kilobytes */
#include "leat.h"
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SMALL = 1000, BATCH = 2000, REPEATS = 31, COMPILES = 200, STARTS = 40 };

extern char **environ;

static const char five_terms[] = "y[i] = a[i] + b[i] + c[i] + d[i] + e[i]";

/* Twenty typical lines: declarations, a def, row reductions, a stencil, a histogram, a gather. */
static const char twenty_lines[] = "in x[n, m], g[m], eps = 1e-5\n"
                                   "def square(v) = v * v\n"
                                   "edge x clamp\n"
                                   "mu[i] = mean(j: x[i,j])\n"
                                   "va[i] = mean(j: square(x[i,j] - mu[i]))\n"
                                   "z[i,j] = (x[i,j] - mu[i]) / sqrt(va[i] + eps) * g[j]\n"
                                   "e[i,j] = exp(z[i,j] - max(k: z[i,k]))\n"
                                   "p[i,j] = e[i,j] / sum(k: e[i,k])\n"
                                   "s[i,j] = (x[i-1,j] + x[i+1,j] + x[i,j-1] + x[i,j+1]) / 4\n"
                                   "d[i,j] = abs(s[i,j] - x[i,j])\n"
                                   "worst = max(i,j: d[i,j])\n"
                                   "low = min(i,j: x[i,j])\n"
                                   "high = max(i,j: x[i,j])\n"
                                   "bin[i,j] = min(i64(16 * (x[i,j] - low) / (high - low + 1)), 15)\n"
                                   "out count: i64[16]\n"
                                   "count[bin[i,j]] += 1\n"
                                   "share[i,j] = count[bin[i,j]] / (n * m)\n"
                                   "best[i] = argmax(j: p[i,j])\n"
                                   "q[i] = x[i, best[i]] + worst\n"
                                   "out p, share, q\n";

static void must(leat_status status, const char *what) {
    leat_error error;
    if (status == LEAT_OK)
        return;
    leat_error_get(NULL, &error);
    fprintf(stderr, "bench_call: %s: %s\n", what, error.message);
    exit(1);
}

static double now_us(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void report(const char *name, double *samples, int count, const char *unit) {
    qsort(samples, (size_t)count, sizeof *samples, by_value);
    printf("%s %.4f %.4f %s\n", name, samples[0], samples[count / 2], unit);
    fflush(stdout);
}

static leat_array *filled(leat_context *ctx, int rank, const int64_t *shape) {
    size_t count = 1;
    leat_array *array;
    for (int axis = 0; axis < rank; axis++)
        count *= (size_t)shape[axis];
    float *values = malloc(count * sizeof *values);
    if (!values)
        exit(1);
    for (size_t k = 0; k < count; k++)
        values[k] = (float)(k % 97) / 97.0f;
    must(leat_array_new(ctx, LEAT_F32, rank, shape, LEAT_MEMORY_DEVICE, &array), "array");
    must(leat_array_write(array, values, count * sizeof *values, NULL, NULL), "write");
    free(values);
    return array;
}

/* ---- a prepared call: five inputs of 1,000 elements */

static leat_call *prepared(leat_context *ctx, leat_program **program) {
    const int64_t shape[] = {SMALL};
    leat_call *call;
    must(leat_program_new(ctx, five_terms, 0, NULL, program), "program");
    must(leat_call_new(*program, &call), "call");
    for (char name[] = "a"; name[0] <= 'e'; name[0]++) {
        leat_array *array = filled(ctx, 1, shape);
        must(leat_call_set_array(call, name, array), "set");
        leat_array_free(array);
    }
    return call;
}

static double batch_us(leat_call *call, bool take) {
    const double begin = now_us();
    for (int k = 0; k < BATCH; k++) {
        leat_array *y;
        must(leat_call_run(call, NULL, NULL), "run");
        if (take) {
            must(leat_call_result(call, "y", &y), "result");
            leat_array_free(y);
        }
    }
    return (now_us() - begin) / BATCH;
}

static void measure_calls(leat_context *ctx) {
    const int64_t shape[] = {SMALL};
    double fresh[REPEATS], kept[REPEATS];
    leat_program *program;
    leat_call *call = prepared(ctx, &program);
    leat_array *y = filled(ctx, 1, shape);
    for (int k = 0; k < REPEATS; k++) {
        must(leat_call_want(call, "y", NULL), "want");
        if (k == 0)
            batch_us(call, true);
        fresh[k] = batch_us(call, true);
        must(leat_call_want(call, "y", y), "want");
        kept[k] = batch_us(call, false);
    }
    report("call_1000_new", fresh, REPEATS, "us");
    report("call_1000_kept", kept, REPEATS, "us");
    leat_array_free(y);
    leat_call_free(call);
    leat_program_free(program);
}

/* ---- a prepared call on memory without arrays: two inputs and a result. Bound once, the same descriptions bound each
 * time, two sets of addresses in turns */

enum binding { BOUND_ONCE, BOUND_AGAIN, BOUND_IN_TURNS };

static double memory_batch_ns(leat_call *call, leat_description memory[2][3], enum binding binding) {
    const double begin = now_us();
    for (int k = 0; k < BATCH; k++) {
        const leat_description *set = memory[binding == BOUND_IN_TURNS ? k % 2 : 0];
        for (size_t input = 0; input < 2 && (binding != BOUND_ONCE || k == 0); input++)
            must(leat_call_set_memory_at(call, input, &set[input]), "memory");
        if (binding != BOUND_ONCE || k == 0)
            must(leat_call_want_memory_at(call, 0, &set[2]), "memory of the result");
        must(leat_call_run(call, NULL, NULL), "run");
    }
    return (now_us() - begin) / BATCH * 1e3;
}

static void measure_memory(leat_context *ctx, const char *device) {
    static const char *const names[] = {"once", "again", "in_turns"};
    const int64_t shape[] = {SMALL};
    double samples[3][REPEATS];
    leat_description memory[2][3];
    leat_array *arrays[2][3];
    leat_program *program;
    leat_call *call;
    must(leat_program_new(ctx, "y[i] = a[i] + b[i]", 0, NULL, &program), "program");
    must(leat_call_new(program, &call), "call");
    for (int k = 0; k < 6; k++) {
        arrays[k / 3][k % 3] = filled(ctx, 1, shape);
        must(leat_array_get(arrays[k / 3][k % 3], &memory[k / 3][k % 3]), "description");
    }
    for (int k = 0; k < REPEATS; k++)
        for (int binding = BOUND_ONCE; binding <= BOUND_IN_TURNS; binding++) {
            samples[binding][k] = memory_batch_ns(call, memory, (enum binding)binding);
            must(leat_context_synchronize(ctx), "synchronize");
        }
    for (int binding = BOUND_ONCE; binding <= BOUND_IN_TURNS; binding++) {
        char name[64];
        snprintf(name, sizeof name, "call_1000_memory_%s_%s", names[binding], device);
        report(name, samples[binding], REPEATS, "ns");
    }
    leat_call_free(call);
    leat_program_free(program);
    for (int k = 0; k < 6; k++)
        leat_array_free(arrays[k / 3][k % 3]);
}

/* Where sim has a compiler; its launches are the host's own part of a launch, and a simulated one. */
static void measure_sim(void) {
    const leat_options options = {.device = "sim", .interpret = LEAT_INTERPRET_NEVER};
    leat_context *ctx;
    if (leat_open(&options, &ctx))
        return;
    measure_memory(ctx, "sim");
    leat_close(ctx);
}

/* ---- compiling: from text to bytecode; the run itself has four by four elements */

static void compile_once(leat_context *ctx, int k, leat_array *x, leat_array *g, double *check_us, double *whole_us) {
    char text[sizeof twenty_lines + 32];
    leat_program *program;
    leat_call *call;
    snprintf(text, sizeof text, "%s# %d\n", twenty_lines, k); /* a new text */
    const double begin = now_us();
    must(leat_program_new(ctx, text, 0, NULL, &program), "program of 20 lines");
    *check_us = now_us() - begin;
    must(leat_call_new(program, &call), "call");
    must(leat_call_set_array(call, "x", x), "set");
    must(leat_call_set_array(call, "g", g), "set");
    must(leat_call_run(call, NULL, NULL), "run");
    *whole_us = now_us() - begin;
    leat_call_free(call);
    leat_program_free(program);
}

static void measure_compiles(leat_context *ctx) {
    const int64_t shape[] = {4, 4};
    double check[COMPILES], whole[COMPILES];
    leat_array *x = filled(ctx, 2, shape), *g = filled(ctx, 1, shape);
    for (int k = 0; k < COMPILES; k++)
        compile_once(ctx, k, x, g, &check[k], &whole[k]);
    report("compile_20_lines_check", check, COMPILES, "us");
    report("compile_20_lines_to_first_result", whole, COMPILES, "us");
    leat_array_free(x);
    leat_array_free(g);
}

/* ---- the command, from start to exit */

static double start_us(const char *const arguments[]) {
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    const double begin = now_us();
    if (posix_spawn(&child, arguments[0], &actions, NULL, (char *const *)arguments, environ) != 0 ||
        waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fprintf(stderr, "bench_call: %s did not run\n", arguments[0]);
        exit(1);
    }
    const double took = now_us() - begin;
    posix_spawn_file_actions_destroy(&actions);
    return took;
}

static void measure_starts(leat_context *ctx, const char *command, const char *folder) {
    const int64_t shape[] = {SMALL};
    double samples[STARTS], empty[STARTS];
    char path[4096], input[4200];
    snprintf(path, sizeof path, "%s/small.npy", folder);
    snprintf(input, sizeof input, "a=%s", path);
    leat_array *a = filled(ctx, 1, shape);
    must(leat_array_save(a, path, NULL, LEAT_COLORMAP_GREY), "save");
    leat_array_free(a);
    const char *const run[] = {command, "run", "-e", "y[i] = a[i] / sum(k: a[k])", input, "-o", "y", NULL};
    const char *const nothing[] = {"/bin/true", NULL};
    for (int k = 0; k < STARTS; k++) {
        samples[k] = start_us(run) / 1e3;
        empty[k] = start_us(nothing) / 1e3;
    }
    report("leat_run_start_to_exit", samples, STARTS, "ms");
    report("true_start_to_exit", empty, STARTS, "ms");
}

int main(int argc, char **argv) {
    const leat_options options = {.threads = 2};
    leat_context *ctx;
    if (argc != 3) {
        fprintf(stderr, "usage: bench_call COMMAND FOLDER\n");
        return 2;
    }
    must(leat_open(&options, &ctx), "open");
    measure_calls(ctx);
    measure_memory(ctx, "cpu");
    measure_sim();
    measure_compiles(ctx);
    measure_starts(ctx, argv[1], argv[2]);
    leat_close(ctx);
    return 0;
}
