/* Regions, host indices, and bounds known only at run time. Stages given as IR are generated and run by the vector
 * machine, and the results are compared with the same computation in C. */
#include "gen/kernel_testing.h"
#include "device/cpu/machine/execute.h"

#define VALUES_MAX 16

/* ---- running */

struct machine {
    struct le_arena arena;
    struct le_space space;
    struct le_kernel kernel;
    struct le_pool *pool;
    void *buffers[VALUES_MAX];
    size_t bytes[VALUES_MAX];
    struct le_fault faults[4];
    struct le_text code;
};

static int number_of(const struct machine *m, const char *name) {
    for (int v = 0; v < m->kernel.ir->values.count; v++)
        if (strcmp(m->kernel.ir->values.at[v].name, name) == 0)
            return v;
    fail_msg("no value %s", name);
    return -1;
}
static void *data(const struct machine *m, const char *name) {
    return m->buffers[number_of(m, name)];
}

/* Numbers that are small, of both signs, and exact in every type. */
static void put_number(enum le_type type, void *at, size_t k) {
    int number = (int)(k * 7 % 23) - (le_type_is_unsigned(type) || type == LE_BOOL ? 0 : 9);
    double twice = number / 4.0;
    float single = (float)twice;
    int64_t whole = type == LE_BOOL ? number % 2 : number;
    if (type == LE_F64)
        memcpy((char *)at + 8 * k, &twice, 8);
    else if (type == LE_F32)
        memcpy((char *)at + 4 * k, &single, 4);
    else
        memcpy((char *)at + le_type_size(type) * k, &whole, le_type_size(type));
}

static void start_machine(struct machine *m, const char *text, const char *arrays, int threads) {
    memset(m, 0, sizeof *m);
    le_arena_init(&m->arena);
    if (setjmp(m->arena.failure))
        fail_msg("out of memory");
    set_up(&m->kernel, &m->space, &m->arena, text, arrays, threads);
    assert_int_equal(le_pool_new(threads, &m->pool), LEAT_OK);
    const struct le_ir *ir = m->kernel.ir;
    assert_true(ir->values.count <= VALUES_MAX);
    for (int v = 0; v < ir->values.count; v++) {
        size_t count = 1, size = le_type_size(ir->values.at[v].type);
        for (int d = 0; d < ir->values.at[v].rank; d++)
            count *= (size_t)m->kernel.layouts[v].shape[d];
        m->bytes[v] = count * size;
        m->buffers[v] = calloc(count + 1, size);
        assert_non_null(m->buffers[v]);
        for (size_t k = 0; k < count; k++)
            put_number(ir->values.at[v].type, m->buffers[v], k);
    }
}

static void finish(struct machine *m) {
    for (int v = 0; v < m->kernel.ir->values.count; v++)
        free(m->buffers[v]);
    le_pool_free(m->pool);
    le_text_finish(&m->code);
    le_arena_finish(&m->arena);
}

static void run_launch(struct machine *m, const struct le_launch *launch, void *parts) {
    struct le_cpu_code code;
    le_unit_print(launch->unit, &m->code);
    if (le_cpu_prepare(&m->arena, launch->unit, le_simd_best(), &code) != LEAT_OK)
        fail_msg("%s", le_errors_text());
    size_t stride = (code.scratch_bytes + 63) / 64 * 64;
    char *scratch = aligned_alloc(64, stride * (size_t)m->kernel.threads);
    struct le_cpu_job job = {.code = &code,
                             .tasks = launch->tasks,
                             .clip_count = {launch->clip_count[0], launch->clip_count[1]},
                             .clip_size = {launch->clip_size[0], launch->clip_size[1]},
                             .clip_pieces = {launch->clip_pieces[0], launch->clip_pieces[1]},
                             .row_count = launch->row_count,
                             .buffers = m->buffers,
                             .parts = parts,
                             .scratch = scratch,
                             .scratch_stride = stride,
                             .faults = m->faults};
    assert_non_null(scratch);
    memset(scratch, 0x5a, stride * (size_t)m->kernel.threads);
    assert_int_equal(le_cpu_run(m->pool, &job), LEAT_OK);
    free(scratch);
}

static void copy_base(struct machine *m, int target, int base) {
    if (base >= 0)
        memcpy(m->buffers[target], m->buffers[base], m->bytes[target]);
}

static void run_stage(struct machine *m, const struct le_stage *stage) {
    struct le_launches launches = {.at = NULL};
    const struct le_value *target = &m->kernel.ir->values.at[stage->target];
    m->kernel.stage = stage;
    if (stage->kind == LE_STAGE_FILL) {
        struct le_launch one;
        uint64_t bits = 0;
        assert_int_equal(le_kernel_scalar(&m->kernel, stage->node, target->type, &one), LEAT_OK);
        run_launch(m, &one, &bits);
        for (size_t k = 0; k < m->bytes[stage->target]; k += le_type_size(target->type))
            memcpy((char *)m->buffers[stage->target] + k, &bits, le_type_size(target->type));
        return;
    }
    copy_base(m, stage->target, stage->base);
    for (int k = 0; k < stage->pair_count; k++)
        copy_base(m, stage->pairs[k].target, stage->pairs[k].source);
    if (le_kernel_generate(&m->kernel, &launches) != LEAT_OK)
        fail_msg("%s", le_errors_text());
    for (int k = 0; k < launches.count; k++) {
        const struct le_launch *launch = &launches.at[k];
        char *parts = calloc((size_t)launch->tasks, 8);
        run_launch(m, launch, parts);
        if (launch->parts)
            le_acc_join(le_simd_best(), stage->node->type, (enum le_reduction)stage->node->code, parts, launch->tasks,
                        m->buffers[stage->target]);
        free(parts);
    }
}

static void run_all(struct machine *m) {
    for (int k = 0; k < m->kernel.ir->stages.count; k++)
        if (m->kernel.ir->stages.at[k].kind <= LE_STAGE_SCAN)
            run_stage(m, &m->kernel.ir->stages.at[k]);
}

static bool faulted(const struct machine *m) {
    return m->faults[0].set || m->faults[1].set || m->faults[2].set;
}

/* ---- a def with a `while`: Mandelbrot's counts, in lanes and one by one, under a condition, inside a sum */

#define COUNT_REGION                                                                                                   \
    "%0 = region.i64\n"                                                                                                \
    "  $zr.0 = 0:f64\n  $zi.1 = 0:f64\n  $k.2 = 0:i64\n"                                                               \
    "  while (&&.bool (<.i64 $k.2 30:i64) (<=.f64 (MULADD.f64 $zr.0 $zr.0 (*.f64 $zi.1 $zi.1)) 4:f64))\n"              \
    "    $t.3 = (+.f64 (-.f64 (*.f64 $zr.0 $zr.0) (*.f64 $zi.1 $zi.1)) a[i.0])\n"                                      \
    "    $zi.1 = (+.f64 (*.f64 (*.f64 2:f64 $zr.0) $zi.1) 0.25:f64)\n"                                                 \
    "    $zr.0 = $t.3\n    $k.2 = (+.i64 $k.2 1:i64)\n  end\n"                                                         \
    "  return $k.2\nend\n"
#define COUNT_HEAD                                                                                                     \
    "symbol a: f64[n]\nsymbol y: i64[n]\ninput a: f64[n] of a\nvalue y.1: i64[n] of y wanted\n"                        \
    "local $zr.0: f64\nlocal $zi.1: f64\nlocal $k.2: i64\nlocal $t.3: f64\nindex i.0\n"                                \
    "statement assign y makes left [i.0] free {i.0} all {i.0}\n  read a[i.0]\n"

static int64_t count_turns(double cr) {
    double zr = 0, zi = 0;
    int64_t k = 0;
    while (k < 30 && zr * zr + zi * zi <= 4) {
        double t = zr * zr - zi * zi + cr;
        zi = 2 * zr * zi + 0.25;
        zr = t;
        k++;
    }
    return k;
}

static void lanes_leave_a_while_one_by_one(void **state) {
    (void)state;
    struct machine m;
    start_machine(&m, COUNT_HEAD COUNT_REGION "map y.1[i.0] {i.0} = %0\n", "a 3000", 1);
    run_all(&m);
    for (int k = 0; k < 3000; k++)
        assert_int_equal(((int64_t *)data(&m, "y.1"))[k], count_turns(((double *)data(&m, "a"))[k]));
    finish(&m);
}

/* without an end for some elements: those must not run */
static void a_while_runs_under_its_condition(void **state) {
    (void)state;
    struct machine m;
    start_machine(
        &m,
        "symbol a: i64[n]\nsymbol y: i64[n]\ninput a: i64[n] of a\nvalue y.1: i64[n] of y wanted\n"
        "local $k.0: i64\nindex i.0\nstatement assign y makes left [i.0] free {i.0} all {i.0}\n  read a[i.0]\n"
        "%0 = region.i64\n  $k.0 = 0:i64\n  while (!=.i64 $k.0 a[i.0])\n    $k.0 = (+.i64 $k.0 1:i64)\n  end\n"
        "  return $k.0\nend\n"
        "map y.1[i.0] {i.0} = (select (>=.i64 a[i.0] 0:i64) %0 -1:i64)\n",
        "a 100", 1);
    run_all(&m);
    for (int k = 0; k < 100; k++) {
        int64_t a = ((int64_t *)data(&m, "a"))[k];
        assert_int_equal(((int64_t *)data(&m, "y.1"))[k], a >= 0 ? a : -1);
    }
    finish(&m);
}

/* ---- a recurrence along each row: in lanes over rows, tasks share them */

static const char recurrence[] =
    "symbol x: f64[n, m]\nsymbol y: f64[n, m]\ninput x: f64[n, m] of x\nvalue y.1: f64[n, m] of y\n"
    "value y.2: f64[n, m] of y wanted\nlocal $s.0: f64\nindex r.0\nindex j.1 in 0 .. (len x 1)\n"
    "statement new y sizes [(len x 0), (len x 1)]\nfill y.1 = 0:f64\n"
    "statement each free {r.0} all {r.0, j.1}\n  read x[r.0, j.1] around {j.1}\n  write y[r.0, j.1] around {j.1}\n"
    "%0 = region\n  $s.0 = 0:f64\n  for j.1\n    $s.0 = (+.f64 (*.f64 0.5:f64 $s.0) x[r.0, j.1]?0)\n"
    "    store 0[r.0, j.1] own access 1 = $s.0\n  end\nend\neach {r.0} y.2 over y.1 = %0\n";

static void a_recurrence_runs_along_rows(void **state) {
    (void)state;
    for (int threads = 1; threads <= 3; threads += 2) {
        struct machine m;
        start_machine(&m, recurrence, "x 1500 40", threads);
        run_all(&m);
        const double *x = data(&m, "x"), *y = data(&m, "y.2");
        for (int r = 0; r < 1500; r++) {
            double s = 0;
            for (int j = 0; j < 40; j++) {
                s = 0.5 * s + x[r * 40 + j];
                assert_true(y[r * 40 + j] == s);
            }
        }
        finish(&m);
    }
}

/* ---- conditions, breaks and returns, in lanes and (where no lane can be chosen) one by one */

#define FIND_HEAD                                                                                                      \
    "symbol a: i64[n]\nsymbol y: i64[n]\ninput a: i64[n] of a\nvalue y.1: i64[n] of y wanted\n"                        \
    "local $s.0: i64\nlocal $q.1: i64\nindex i.0\nindex j.1 in 0 .. (+ i.0 1)\nindex k.2 in 0 .. 5\n"                  \
    "statement assign y makes left [i.0] free {i.0} all {i.0, j.1, k.2}\n  read a[i.0]\n"                              \
    "  read a[j.1] guarded around {j.1}\n"

/* s += a[j], but for j in 0..i+1 up to the first that is 13; a negative sum goes back at once; k adds up */
static const char finds[] =
    FIND_HEAD "%0 = region.i64\n  $s.0 = 0:i64\n  for j.1\n    if (==.i64 a[j.1]?1 13:i64)\n      break\n    end\n"
              "    $s.0 = (+.i64 $s.0 a[j.1]?1)\n    if (<.i64 $s.0 -25:i64)\n      return $s.0\n    else\n"
              "      $s.0 = (+.i64 $s.0 1:i64)\n    end\n  end\n"
              "  for k.2\n    $q.1 = (*.i64 k.2 k.2)\n    if (>.i64 $q.1 $s.0)\n      break\n    end\n"
              "    $s.0 = (+.i64 $s.0 (//.i64 100:i64 (- a[i.0] 3)))\n  end\n"
              "  return (*.i64 $s.0 2:i64)\nend\nmap y.1[i.0] {i.0} = %0\n";

static int64_t floor_div(int64_t a, int64_t b) {
    return b == 0 ? 0 : a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static int64_t sum_until(const int64_t *a, int i) {
    int64_t s = 0;
    for (int j = 0; j < i + 1; j++) {
        if (a[j] == 13)
            break;
        s += a[j];
        if (s < -25)
            return s;
        s += 1;
    }
    for (int64_t k = 0; k < 5; k++) {
        if (k * k > s)
            break;
        s += floor_div(100, a[i] - 3);
    }
    return s * 2;
}

static void lanes_break_and_return(void **state) {
    (void)state;
    struct machine m;
    start_machine(&m, finds, "a 1300", 1);
    run_all(&m);
    assert_false(faulted(&m));
    for (int k = 0; k < 1300; k++)
        assert_int_equal(((int64_t *)data(&m, "y.1"))[k], sum_until(data(&m, "a"), k));
    finish(&m);
}

/* ---- each: masks, own updates, 16 bits, what several elements write, reads that fall outside */

#define EACH_HEAD                                                                                                      \
    "symbol a: i64[n]\nsymbol y: f64[n]\nsymbol h: i64[m]\nsymbol q: f16[n]\ninput a: i64[n] of a\n"                   \
    "value y.1: f64[n] of y\nvalue y.2: f64[n] of y wanted\nvalue h.1: i64[m] of h\n"                                  \
    "value h.2: i64[m] of h wanted\nvalue q.1: f16[n] of q\nvalue q.2: f16[n] of q wanted\n"                           \
    "local $t.0: f64\nindex i.0\nstatement new y sizes [(len a 0)]\nfill y.1 = 0.5:f64\n"                              \
    "statement new h sizes [10]\nfill h.1 = 0:i64\nstatement new q sizes [(len a 0)]\nfill q.1 = 1:f32\n"              \
    "statement each free {i.0} all {i.0}\n  read a[i.0]\n  write y[i.0]\n  write h[a[i.0]]\n  write q[i.0]\n"

static const char stores[] =
    EACH_HEAD "%0 = region\n  $t.0 = (f64 a[i.0])\n  store add 0[i.0] own access 1 = $t.0\n"
              "  if (>.f64 $t.0 0:f64)\n    store 0[i.0] own access 1 = (*.f64 $t.0 2:f64)\n"
              "    store 2[i.0] own access 3 = (f32 $t.0)\n"
              "    if (<.i64 a[i.0] 10:i64)\n      store add 1[a[i.0]] access 2 = 1:i64\n    end\n  end\nend\n"
              "each {i.0} y.2 over y.1, h.2 over h.1, q.2 over q.1 = %0\n";

static void stores_heed_masks(void **state) {
    (void)state;
    for (int threads = 1; threads <= 3; threads += 2) {
        struct machine m;
        int64_t counts[10] = {0};
        start_machine(&m, stores, "a 5000", threads);
        run_all(&m);
        assert_false(faulted(&m));
        const int64_t *a = data(&m, "a");
        for (int k = 0; k < 5000; k++) {
            assert_true(((double *)data(&m, "y.2"))[k] == (a[k] > 0 ? 2.0 * (double)a[k] : (double)a[k] + 0.5));
            if (a[k] <= 0)
                assert_int_equal(((uint16_t *)data(&m, "q.2"))[k], 0x3c00);
            if (a[k] > 0 && a[k] < 10)
                counts[a[k]]++;
        }
        assert_memory_equal(data(&m, "h.2"), counts, sizeof counts);
        finish(&m);
    }
}

/* A step costs the same however many stand before it: memory for twice the steps is about twice as much. */
static size_t bytes_of_updates(int count) {
    struct le_text text = {.at = NULL};
    struct machine m;
    struct le_launches launches = {.at = NULL};
    le_text_add(&text, EACH_HEAD "%%0 = region\n");
    for (int k = 0; k < count; k++)
        le_text_add(&text, "  store add 0[i.0] own access 1 = 3:f64\n");
    le_text_add(&text, "end\neach {i.0} y.2 over y.1, h.2 over h.1, q.2 over q.1 = %%0\n");
    start_machine(&m, text.at, "a 100", 1);
    m.kernel.stage = &m.kernel.ir->stages.at[m.kernel.ir->stages.count - 1];
    size_t before = m.arena.size_bytes;
    assert_int_equal(le_kernel_generate(&m.kernel, &launches), LEAT_OK);
    size_t bytes = m.arena.size_bytes - before;
    finish(&m);
    le_text_finish(&text);
    return bytes;
}

static void updates_cost_the_same(void **state) {
    (void)state;
    size_t once = bytes_of_updates(1000), twice = bytes_of_updates(2000);
    assert_true(once > 0 && twice < once * 5 / 2);
}

/* waits for a number that never comes: the first read outside ends it, with its fault */
static void a_read_outside_ends_a_while(void **state) {
    (void)state;
    struct machine m;
    start_machine(
        &m,
        "symbol a: i64[n]\nsymbol y: i64[n]\ninput a: i64[n] of a\nvalue y.1: i64[n] of y wanted\n"
        "local $k.0: i64\nindex i.0\nstatement assign y makes left [i.0] free {i.0} all {i.0}\n  read a[i.0]\n"
        "  read a[i.0] guarded\n"
        "%0 = region.i64\n  $k.0 = i.0\n  while (!=.i64 a[$k.0]?1 99:i64)\n    $k.0 = (+.i64 $k.0 1:i64)\n  end\n"
        "  return $k.0\nend\nmap y.1[i.0] {i.0} = (+.i64 %0 a[i.0])\n",
        "a 100", 1);
    run_all(&m);
    assert_true(m.faults[0].set);
    assert_int_equal(m.faults[0].value, 100);
    finish(&m);
}

/* ---- the host's loops: streams begin at its index, triangles are cut as they run */

static const char update[] =
    "symbol a: f64[n, n]\nsymbol y: f64[n, n]\ninput a: f64[n, n] of a\nvalue k.1: i64 temporary\n"
    "value y.2: f64[n, n] of y wanted\nindex k.0 in 0 .. (len a 0) host k.1\n"
    "index i.1 in (+ k.0 1) .. (len a 0)\nindex j.2 in (+ k.0 1) .. (len a 0)\n"
    "statement new y sizes [(len a 0), (len a 1)]\nstatement for all {k.0}\nfor k.0\n"
    "  statement assign y left [i.1, j.2] free {i.1, j.2} all {i.1, j.2}\n    read a[i.1, j.2]\n    read a[k.0, j.2]\n"
    "  map y.2[i.1, j.2] {i.1, j.2} over a = (-.f64 a[i.1, j.2]?0 (*.f64 a[i.1, k.0]?1 a[k.0, j.2]?1))\nend\n";

static void a_triangle_of_the_hosts_is_cut(void **state) {
    (void)state;
    const int n = 600;
    struct machine m;
    start_machine(&m, update, "a 600 600", 3);
    int k = 0;
    for (int step = 0; step < 3; step++) {
        const int at[] = {0, 450, 599};
        k = at[step];
        int64_t host = k;
        memcpy(data(&m, "k.1"), &host, sizeof host);
        m.code.length = 0;
        run_all(&m);
        assert_false(faulted(&m));
        const double *a = data(&m, "a"), *y = data(&m, "y.2");
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                assert_true(y[i * n + j] ==
                            (i > k && j > k ? a[i * n + j] - a[i * n + k] * a[k * n + j] : a[i * n + j]));
        assert_non_null(strstr(m.code.at, "LOOP once k"));
        assert_non_null(strstr(m.code.at, "LOOP lanes j"));
        assert_non_null(strstr(m.code.at, "task 0"));
    }
    finish(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_leave_a_while_one_by_one),
        cmocka_unit_test(a_while_runs_under_its_condition),
        cmocka_unit_test(a_recurrence_runs_along_rows),
        cmocka_unit_test(lanes_break_and_return),
        cmocka_unit_test(stores_heed_masks),
        cmocka_unit_test(updates_cost_the_same),
        cmocka_unit_test(a_read_outside_ends_a_while),
        cmocka_unit_test(a_triangle_of_the_hosts_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
