/* The analyses of one stage: strides of its loads, what may be computed early, and which loops run as one. */
#include "gen/device_kernel_testing.h"

struct loads {
    struct le_node *at[4];
    int count;
};

static void find_load(struct le_node *node, void *user) {
    struct loads *l = user;
    if (node->kind == LE_NODE_LOAD && l->count < 4)
        l->at[l->count++] = node;
}

struct analysed {
    struct device_test_run r;
    const struct le_stage *stage;
    struct le_safety safety;
    struct loads loads;
};

static void analyse(struct analysed *a, const char *program, const char *arrays) {
    start_run(&a->r, program, arrays, false);
    const struct le_kernel *k = &a->r.kernel;
    a->stage = &k->ir->stages.at[k->ir->stages.count - 1];
    a->safety = (struct le_safety){.ir = k->ir,
                                   .space = k->space,
                                   .layouts = k->layouts,
                                   .notes = &k->work->notes,
                                   .epoch = ++k->work->notes.epoch};
    a->loads.count = 0;
    le_node_walk(k->ir, a->stage->node, find_load, &a->loads);
}

/* Of the first load along the stage's index number k; -1: not affine. */
static int64_t stride(const char *program, const char *arrays, int k) {
    struct analysed a;
    int64_t elements;
    analyse(&a, program, arrays);
    const struct le_address address = le_load_address(a.safety.layouts, a.loads.at[0]);
    if (!le_address_stride(a.safety.space, &address, a.stage->indices[k], &elements))
        elements = -1;
    finish(&a.r);
    return elements;
}

static void strides(void **state) {
    (void)state;
    assert_int_equal(stride("y[i,j] = a[i,j]", "a 30 7", 0), 7);
    assert_int_equal(stride("y[i,j] = a[i,j]", "a 30 7 by 9 1", 0), 9);
    assert_int_equal(stride("out y: f32[10,7]\ny[i,j] = a[2*i+1,j]", "a 30 7", 0), 14);
    assert_int_equal(stride("out y: f32[10,7]\ny[i,j] = a[2*i+1,j]", "a 30 7", 1), 1);
    assert_int_equal(stride("y[...] = a[...] * b[...]", "a 1 7, b 30 7", 0), 0);
    assert_int_equal(stride("out y: f32[10,7]\ny[i,j] = a[i//2,j]", "a 30 7", 0), -1);
    assert_int_equal(stride("out y: f32[10,7]\ny[i,j] = a[i//2,j]", "a 30 7", 1), 1);
}

static bool is_safe(const char *program, const char *arrays, bool moves, bool notes) {
    struct analysed a;
    analyse(&a, program, arrays);
    a.safety.edges_move = moves;
    a.safety.notes_count = notes;
    bool safe = le_node_is_safe(&a.safety, a.stage->node);
    assert_int_equal(le_node_is_safe(&a.safety, a.stage->node), safe); /* as the notes say */
    finish(&a.r);
    return safe;
}

static void safety(void **state) {
    (void)state;
    assert_true(is_safe("y[i] = x[i] * 2", "x 9", false, true));
    assert_false(is_safe("in p: i32[n]\ny[i] = x[p[i]]", "x 9, p 9", true, true));
    assert_true(is_safe("in p: u8[n]\ny[i] = x[p[i]]", "x 256, p 9", false, false));
    assert_false(is_safe("edge x clamp\ny[i] = x[i] - x[i-1]", "x 9", false, false));
    assert_true(is_safe("edge x clamp\ny[i] = x[i] - x[i-1]", "x 9", true, false));
    assert_true(is_safe("in x: i32[n]\ny[i] = x[i] // x[i]", "x 9", false, false));
    assert_false(is_safe("in x: i32[n]\ny[i] = x[i] // x[i]", "x 9", false, true));
    assert_true(is_safe("y[i] = x[i] + 9 // (i + 1) + i % (len(x,0) // 4 - 1)", "x 9", false, true));
    assert_false(is_safe("y[i] = x[0] * (9 // i) where i in 0..9", "x 9", false, true));
    assert_false(is_safe("y[i] = x[i] + i // (len(x,0) // 4 - 2)", "x 9", false, true));
}

static bool is_counted(const void *user, const struct le_address *address, bool trusted, bool live) {
    return !live && (trusted || le_address_is_safe(user, address));
}

/* The stage's first two loops. */
static bool merge(const char *program, const char *arrays, bool gathers) {
    struct analysed a;
    analyse(&a, program, arrays);
    struct le_merging m = {.code = &a.safety,
                           .stage = a.stage,
                           .outer = a.stage->indices[0],
                           .inner = a.stage->indices[1],
                           .inner_count = le_index_extent(a.safety.space, a.stage->indices[1]),
                           .gathers = gathers,
                           .is_counted = is_counted,
                           .user = a.safety.space};
    bool merges = le_loops_merge(&m, &a.stage->node, 1);
    finish(&a.r);
    return merges;
}

static void merging(void **state) {
    (void)state;
    assert_true(merge("y[i,j] = a[i,j] + 1", "a 30 7", false));
    assert_true(merge("y[i,j] = a[i,j] * b[i,j]", "a 30 7, b 30 7", false));
    assert_false(merge("y[i,j] = a[i,j] * x[j]", "a 30 7, x 7", false));
    assert_false(merge("y[i,j] = a[i,j] + 1", "a 30 7 by 9 1", false));
    assert_false(merge("y[i,j] = a[j,i] + 1", "a 30 7", false));
    assert_false(merge("y[i,j] = a[i,j] + i", "a 30 7", false));
    assert_true(merge("in p: i32[n,m]\ny[i,j] = x[p[i,j]]", "x 9, p 30 7", true));
    assert_false(merge("in p: i32[n,m]\ny[i,j] = x[p[i,j]]", "x 9, p 30 7", false));
    assert_false(merge("out y: f32[30,7]\ny[i,j] = a[i,j] where i in 0..30 by 2", "a 30 7", false));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(strides), cmocka_unit_test(safety), cmocka_unit_test(merging)};
    return cmocka_run_group_tests(tests, NULL, close_kept);
}
