/* Two threads make the kernels of all stages of one program at once: bytecode and CUDA C. Each of them gets what one
 * thread makes. The thread sanitizer sees whether a generator writes anything that both of them read. */
#include "gen/device_kernel_testing.h"
#include <pthread.h>

enum { THREADS = 2, TURNS = 32 };

struct shared {
    struct le_kernel kernel;
    pthread_barrier_t start;
};

/* What a thread has of its own. */
struct worker {
    pthread_t thread;
    struct shared *shared;
    struct le_arena arena;
    struct le_text made;
    leat_status status;
};

static leat_status add_bytecode(const struct le_kernel *kernel, struct le_text *out) {
    struct le_launches launches = {.at = NULL};
    struct le_node *node = kernel->stage->node;
    leat_status status = kernel->stage->kind == LE_STAGE_FILL
                             ? le_kernel_scalar(kernel, node, node->type, LE_PUSH(kernel->arena, &launches))
                             : le_kernel_generate(kernel, &launches);
    for (int k = 0; k < launches.count; k++) {
        le_text_add(out, "%lld tasks\n", (long long)launches.at[k].tasks);
        le_unit_print(launches.at[k].unit, out);
    }
    return status;
}

static leat_status add_cuda(const struct le_kernel *kernel, int action, struct le_text *out) {
    struct device_test_run run = {.aligned = true};
    struct le_device_facts own = facts;
    struct le_generated_launches launches = {.at = NULL};
    own.user = &run;
    const struct le_device_kernel_job job = {.kernel = *kernel, .facts = &own, .action = action};
    leat_status status = le_device_generate(&job, &launches);
    for (int k = 0; k < launches.count; k++) {
        const struct le_generated_launch *l = &launches.at[k];
        le_text_add(out, "%u blocks of %u\n%s", l->grid[0], l->block[0], l->text);
        for (int q = 0; q < l->argument_count; q++)
            le_text_add(out, "%d %d %lld\n", (int)l->arguments[q].kind, l->arguments[q].value,
                        (long long)l->arguments[q].number);
    }
    return status;
}

static leat_status make_all(struct worker *w) {
    struct le_kernel kernel = w->shared->kernel;
    const struct le_ir *ir = kernel.ir;
    le_arena_init(&w->arena);
    leat_status status = LEAT_OK;
    if (setjmp(w->arena.failure))
        return LEAT_OUT_OF_MEMORY;
    kernel.arena = &w->arena;
    kernel.work = LE_NEW(&w->arena, struct le_kernel_work);
    le_kernel_work_init(kernel.work, &w->arena);
    for (int k = 0; k < ir->stages.count && status == LEAT_OK; k++) {
        kernel.stage = &ir->stages.at[k];
        if (kernel.stage->dead || kernel.stage->kind >= LE_STAGE_MOVE)
            continue;
        status = add_bytecode(&kernel, &w->made);
        if (status == LEAT_OK)
            status = add_cuda(&kernel, k, &w->made);
    }
    le_arena_finish(&w->arena);
    return status;
}

static void make_often(struct worker *w) {
    for (int k = 0; k < TURNS && w->status == LEAT_OK; k++)
        w->status = make_all(w);
}

static void *work(void *user) {
    struct worker *w = user;
    pthread_barrier_wait(&w->shared->start);
    make_often(w);
    return NULL;
}

static void makes_the_same(const char *program, const char *arrays) {
    struct le_arena arena;
    struct le_space space;
    struct shared shared;
    struct worker workers[THREADS] = {{.shared = &shared}, {.shared = &shared}}, alone = {.shared = &shared};
    le_arena_init(&arena);
    if (setjmp(arena.failure))
        fail_msg("out of memory");
    struct le_ir *ir = lower_text(&arena, program);
    if (!ir)
        fail_msg("%s\n%s", program, le_errors_text());
    set_up_kernel(&shared.kernel, &space, &arena, ir, arrays, 2);
    assert_int_equal(pthread_barrier_init(&shared.start, NULL, THREADS), 0);
    for (int k = 0; k < THREADS; k++)
        assert_int_equal(pthread_create(&workers[k].thread, NULL, work, &workers[k]), 0);
    for (int k = 0; k < THREADS; k++)
        pthread_join(workers[k].thread, NULL);
    make_often(&alone);
    ok(alone.status);
    for (int k = 0; k < THREADS; k++) {
        assert_int_equal(workers[k].status, LEAT_OK);
        assert_string_equal(workers[k].made.at, alone.made.at);
        le_text_finish(&workers[k].made);
    }
    pthread_barrier_destroy(&shared.start);
    le_text_finish(&alone.made);
    le_arena_finish(&arena);
}

static void maps(void **state) {
    (void)state;
    makes_the_same("in a: f32[n, m], b: f32[m]\ny[i,j] = a[i-1,j] + a[i+1,j] * b[j] else 0\nz[i,j] = a[j,i] / n",
                   "a 300 300, b 300");
}

static void reductions(void **state) {
    (void)state;
    /* sums that become others as kernels are made: written out, or along an index with few values */
    makes_the_same("in a: f32[n, m], w: f32[k]\np[i] = sum(j: a[i,j]); q = sum(i, j: a[i,j] * a[i,j])\n"
                   "s[i,j] = exp(a[i,j]) / sum(l: exp(a[i,l])); t[i] = sum(j in 0..k: w[j] * a[i,j])",
                   "a 3000 500, w 3");
    makes_the_same("in p: f32[n, m]\nf[i,d] = sum(j: (p[j,d] - p[i,d]) / sqrt(sum(e: (p[j,e] - p[i,e])**2) + 1))",
                   "p 500 3");
}

static void scans_and_scatters(void **state) {
    (void)state;
    makes_the_same("in a: f64[n, m], at: i64[n]\nc[i,j] = sum(l in 0..j+1: a[i,l])\n"
                   "d[i] = i > 2 ? max(l in i-1..n: a[l,0]) : 0\nout h: f64[8]\nh[at[i]] += a[i,0]",
                   "a 300 400, at 300");
}

static void blocks(void **state) {
    (void)state;
    makes_the_same(
        "in a: f32[n, m]\ndef steps(x, most) {\n  k = 0\n  while true {\n    if x > 4 { return k }\n"
        "    if k == most { break }\n    x = x * x; k += 1\n  }\n  return -1\n}\np[i,j] = steps(a[i,j], 50)\n"
        "out y: f32[n, m]\n"
        "each r { s = 0.0; for j in 0..m { s = 0.9 * s + a[r,j]; y[r,j] = s - sum(l: a[r,l]) } }\n",
        "a 30 40");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(maps),
        cmocka_unit_test(reductions),
        cmocka_unit_test(scans_and_scatters),
        cmocka_unit_test(blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
