/* The interpreter for devices: its results equal those of the CPU's machine, byte for byte, and it refuses the stages
 * that it leaves to compiled kernels. */
#include "gen/interpreter/interpreter.h"
#include "gen/device_kernel_testing.h"

enum { SHARED_BYTES = 227 * 1024 };

static void launch_tape(struct device_test_run *r, struct memory *m, enum le_interpreter which,
                        const struct le_tape *tape) {
    struct le_device *device = r->kept->device;
    struct le_allocation *allocation;
    struct le_device_kernel *kernel;
    struct le_launch_argument arguments[1 + LE_INTERPRETER_BUFFERS] = {{0}};
    uint64_t addresses[1 + LE_INTERPRETER_BUFFERS] = {0};
    const struct le_generated_launch l = {.kernel = LE_INTERPRETER_KERNEL,
                                          .text = le_interpreter_text(&r->arena, which)};
    ok(le_allocation_new(device, LE_MEMORY_PINNED, tape->size_bytes, NULL, &allocation));
    memcpy(allocation->host, tape->bytes, tape->size_bytes);
    ok(le_device_module_kernel(compiled(r->kept, &l), l.kernel, &kernel));
    for (int k = 0; k <= LE_INTERPRETER_BUFFERS; k++) {
        int value = k == 0 || k > tape->buffer_count ? -1 : tape->buffers[k - 1];
        struct le_allocation *own = k == 0              ? allocation
                                    : value == LE_PARTS ? m->work
                                    : value >= 0        ? m->values[value]
                                                        : NULL;
        addresses[k] = own ? own->address : 0;
        arguments[k] = (struct le_launch_argument){
            .value = &addresses[k], .size_bytes = 8, .allocation = own, .access = LE_ACCESS_BOTH};
    }
    const struct le_kernel_launch how = {.grid = {(unsigned)tape->tasks, 1, 1},
                                         .block = {LE_INTERPRETER_THREADS, 1, 1},
                                         .shared_bytes = tape->shared_bytes,
                                         .arguments = arguments,
                                         .argument_count = 1 + LE_INTERPRETER_BUFFERS};
    ok(le_device_launch(kernel, &how, le_device_stream_own(device)));
    ok(le_device_synchronize(device));
    le_allocation_free(allocation);
}

static void interpret_launch(struct device_test_run *r, struct memory *m, enum le_interpreter which,
                             const struct le_stage *stage, const struct le_launch *launch) {
    struct le_tape tape;
    if (!le_tape_encode(&r->arena, which, launch, SHARED_BYTES, &tape))
        fail_msg("%s: the interpreter does not take it", r->program);
    ok(le_allocation_new(r->kept->device, LE_MEMORY_PINNED, (size_t)launch->tasks * 64 + 64, NULL, &m->work));
    launch_tape(r, m, which, &tape);
    if (launch->parts) {
        assert_true(le_tape_join(&r->arena, which, stage->node->type, (enum le_reduction)stage->node->code,
                                 launch->tasks, stage->target, SHARED_BYTES, &tape));
        launch_tape(r, m, which, &tape);
    }
    le_allocation_free(m->work);
}

static void interpret(struct device_test_run *r, enum le_interpreter which, const struct le_stage *stage,
                      void *result) {
    struct le_launches launches = {.at = NULL};
    struct memory m = {.work = NULL};
    struct le_kernel kernel = r->kernel;
    kernel.stage = stage;
    kernel.block = LE_INTERPRETER_LANES;
    kernel.threads = 4;
    ok(le_kernel_generate(&kernel, &launches));
    for (int v = 0; v < kernel.ir->values.count; v++) {
        ok(le_allocation_new(r->kept->device, LE_MEMORY_PINNED, r->bytes[v] + 64, NULL, &m.values[v]));
        memcpy(m.values[v]->host, r->buffers[v], r->bytes[v]);
    }
    for (int k = 0; k < launches.count; k++)
        interpret_launch(r, &m, which, stage, &launches.at[k]);
    memcpy(result, m.values[stage->target]->host, r->bytes[stage->target]);
    for (int v = 0; v < kernel.ir->values.count; v++)
        le_allocation_free(m.values[v]);
}

static void same_interpreted(enum le_interpreter which, const char *program, const char *arrays) {
    struct device_test_run r;
    start_run(&r, program, arrays, true);
    r.how = le_interpreter_name(which);
    for (int k = 0; k < r.kernel.ir->stages.count; k++) {
        const struct le_stage *stage = &r.kernel.ir->stages.at[k];
        if (stage->dead || stage->kind != LE_STAGE_MAP)
            continue;
        char *found = calloc(r.bytes[stage->target] + 8, 1);
        interpret(&r, which, stage, found);
        run_on_cpu(&r, stage);
        compare(&r, stage, found);
        free(found);
    }
    finish(&r);
}
static void f32(const char *program, const char *arrays) {
    same_interpreted(LE_INTERPRETER_F32, program, arrays);
}
static void f64(const char *program, const char *arrays) {
    same_interpreted(LE_INTERPRETER_F64, program, arrays);
}

static void maps(void **state) {
    (void)state;
    f32("y[i] = x[i] * 3", "x 1");
    f32("y[i] = x[i]+x[i]+x[i]+x[i]+x[i]", "x 1000");
    f32("y[i] = (x[i] * 1.25 + 7) / (x[i] + 0.75) - x[i]", "x 5001");
    f32("y[i,j] = a[i] * b[j] - x[j,i]", "a 70, b 300, x 300 70");
    f32("y[t,i,j] = m[i,j] * d[t,i,j]", "m 41 5, d 7 41 5");
    f32("y[i] = x[len(x,0)-1-i] + z[2*i] where i in 0..len(x,0)", "x 700, z 1400");
    f32("y[i] = x[i] > 0 ? sqrt(x[i]) : -x[i] * i", "x 1300");
    f32("y[i] = (x[i-1] + x[i+1]) / 2 else 0", "x 999");
    f32("edge x wrap\ny[i] = x[i-1] + x[i+3]", "x 300");
    f32("y[i] = floor(x[i] * 8) % 3 + round(x[i]) // 0.25", "x 2000");
    f32("in h: f16[n]\ny[i] = h[i] * x[i]", "h 600, x 600");
    f64("in x: f64[n]\ny[i] = (x[i] * 1.25 + 7) / (x[i] + 0.75) - x[i]", "x 5001");
    f64("in q: i32[n]\ny[i] = q[i] * 0.5 + q[i]/3", "q 1000");
    f64("in x: f64[n]\ny[i] = x[i] + rand(7, i)", "x 1000");
}

static void totals(void **state) {
    (void)state;
    f32("m[i] = sum(j: x[i,j])", "x 40 1000");
    f32("m[i] = sum(j,k: x[i,j,k])", "x 20 33 47");
    f32("m[j] = sum(i: x[i,j])", "x 300 500");
    f32("m[j] = max(i: x[i,j])", "x 30 500");
    f32("m[i] = argmin(j: x[i,j])", "x 30 500");
    f32("m[j] = argmax(i: x[i,j])", "x 30 500");
    f64("in x: f64[n,m]\ns[i] = argmin(j: x[i,j])", "x 30 500");
    f32("m[i] = any(j: x[i,j] > 0.99)", "x 30 500");
    f32("s = sum(i: x[i])", "x 1000");
    f32("s = sum(i: x[i])", "x 1000001");
    f32("s = min(i: x[i] * x[i])", "x 300001");
    f64("in x: f64[n,m]\ns = sum(i,j: x[i,j])", "x 500 700");
    f64("in x: f64[n,k]\nm[i] = prod(j: x[i,j])", "x 50 77");
}

static void rows(void **state) {
    (void)state;
    f32("mu[i] = mean(j: x[i,j])\nva[i] = mean(j: (x[i,j] - mu[i])**2)\n"
        "y[i,j] = (x[i,j] - mu[i]) / sqrt(va[i] + 1e-5) * g[j] + b[j]",
        "x 70 300, g 300, b 300");
    f32("y[i,j] = x[i,j] / sum(k: abs(x[i,k]))", "x 8 128");
    f32("y[i,j] = x[i,j] / sum(k: x[k,j])", "x 60 300");
    f32("w[i,j] = 1 / (0.01 + sum(e: (p[j,e] - p[i,e])**2))\nm[j] = sum(i: w[i,j])", "p 90 3");
    f64("in x: f64[n,m]\ny[i,j] = (x[i,j] - mean(k: x[i,k])) * 2", "x 40 700");
}

/* Sums with reuse are not among its instructions. */
static void chains(void **state) {
    struct device_test_run r;
    struct le_launches launches = {.at = NULL};
    struct le_tape tape;
    (void)state;
    start_run(&r, "y[i] = sum(j: x[j] * abs(p[i,j]))", "p 90 300, x 300", true);
    r.kernel.stage = &r.kernel.ir->stages.at[0];
    r.kernel.block = LE_INTERPRETER_LANES;
    ok(le_kernel_generate(&r.kernel, &launches));
    assert_int_equal(launches.count, 1);
    assert_false(le_tape_encode(&r.arena, LE_INTERPRETER_F32, &launches.at[0], SHARED_BYTES, &tape));
    finish(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(maps), cmocka_unit_test(totals), cmocka_unit_test(rows),
                                       cmocka_unit_test(chains)};
    return cmocka_run_group_tests(tests, NULL, close_kept);
}
