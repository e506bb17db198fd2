/* Scatters into private copies of thread blocks: the bytes equal the CPU's for all types, extents and strides, and
 * faults are the same as without copies. */
#include "gen/device_kernel_testing.h"

#define OWN  "a block into copies of its own"
#define EACH "a thread for each point, atomically"

static void counts(void **state) {
    (void)state;
    static const char bytes[] = "in x: u8[n]\nout h: i64[256]\nh[x[i]] += 1";
    same(bytes, "x 5003", OWN);
    same(bytes, "x 20000", OWN);
    same(bytes, "x 2047", EACH);
    also("out h: u16[10]\nh[i % 10] -= 7 where i in 0..5003", "", OWN);
}

static void sums(void **state) {
    (void)state;
    static const char wide[] = "in x: u8[n]\nin w: i64[n]\nout h: i64[3]\nh[x[i] % 3] -= (w[i] - 9000000) * 1000003";
    also("in x: u8[n]\nin w: i16[n]\nout h: i16[256]\nh[x[i]] += w[i]", "x 5003, w 5003", OWN);
    same_checked(wide, "x 5003, w 5003", OWN, true, true); /* carries, of both signs */
}

static void extremes(void **state) {
    (void)state;
    same("in x: u8[n]\nin w: u16[n]\nout h: u16[256]\nh[x[i]] min= w[i]", "x 5003, w 5003", OWN);
    also("in x: u8[n]\nin w: i64[n]\nout h: i64[256]\nh[x[i]] max= w[i]", "x 5003, w 5003", OWN);
    same_checked("in x: u8[n]\nin w: f32[n]\nout h: f32[99]\nh[x[i] % 99] max= x[i] == 7 ? nan : -abs(w[i])",
                 "x 5003, w 5003", OWN, true, true);
}

/* Copies for each lane, for some lanes, and one for a block that has nothing else. */
static void lengths(void **state) {
    (void)state;
    static const char program[] = "in x: u32[n]\nin w: i64[n]\nin z: f32[m]\nout h: i64[m]\nh[x[i] % u32(m)] += w[i]";
    same(program, "x 5003, w 5003, z 1", OWN);
    same(program, "x 9001, w 9001, z 1000", OWN);
    same(program, "x 7999, w 7999, z 1000", EACH);
    same(program, "x 50001, w 50001, z 6200", OWN);
}

static void layouts(void **state) {
    (void)state;
    static const char flat[] = "in x: u8[n,m]\nout h: i64[256]\nh[x[i,j]] += 1";
    static const char folded[] = "in x: u8[n,m]\nin w: i32[n]\nout h: i64[4,64]\nh[x[i,j] // 64, x[i,j] % 64] += w[i]";
    same(flat, "x 61 83 by 100 1", OWN);
    also(flat, "x 61 83 by -83 -1", OWN);
    same_checked(flat, "x 61 83", OWN, false, false);
    same(folded, "x 61 83, w 61", OWN);
    same("in x: u8[n]\nout h: i64[256]\nh[x[i+1]] += 1 where i in 0..5001", "x 5002", OWN);
}

static const struct le_stage *scatter_of(const struct device_test_run *r) {
    int k = 0;
    while (r->kernel.ir->stages.at[k].kind != LE_STAGE_SCATTER)
        k++;
    return &r->kernel.ir->stages.at[k];
}

static int value_of(const struct device_test_run *r, const char *name) {
    int v = 0;
    while (strcspn(r->kernel.ir->values.at[v].name, ".") != strlen(name) ||
           strncmp(r->kernel.ir->values.at[v].name, name, strlen(name)) != 0)
        v++;
    return v;
}

/* Sums of floats, which keep their order: chunk after chunk. */
enum { POINTS = 131073, BINS = 100 };

static void add_weights(const struct device_test_run *r, float *sums) {
    const unsigned char *x = r->buffers[value_of(r, "x")];
    const float *w = r->buffers[value_of(r, "w")];
    float chunk[BINS];
    int64_t copies = le_scatter_copies(LE_SCATTER_ADD, POINTS, BINS, 4), size = (POINTS + copies - 1) / copies;
    assert_true(copies > 1);
    for (int64_t first = 0; first < POINTS; first += size) {
        for (int b = 0; b < BINS; b++)
            chunk[b] = -0.0f;
        for (int64_t i = first; i < first + size && i < POINTS; i++)
            chunk[x[i] % BINS] += w[i];
        for (int b = 0; b < BINS; b++)
            sums[b] += chunk[b];
    }
}

static void weights(void **state) {
    (void)state;
    static const char *const cases[][2] = {{NULL, "a thread for each element of a chunk, in order"},
                                           {"scatter-loop; scatter-blocks", "a thread for each element of the copies"}};
    struct device_test_run r;
    float wanted[BINS];
    start_run(&r, "in x: u8[n]\nin w: f32[n]\nout h: f32[100]\nh[x[i] % 100] += w[i]", "x 131073, w 131073", false);
    const struct le_stage *stage = scatter_of(&r);
    memcpy(wanted, r.buffers[stage->target], sizeof wanted);
    add_weights(&r, wanted);
    float *found = calloc(r.bytes[stage->target] + 8, 1);
    for (size_t k = 0; k < ARRAY_LEN(cases); k++) {
        r.mapping = cases[k][0];
        run_on_device(&r, stage, found);
        assert_string_equal(r.how, cases[k][1]);
        assert_memory_equal(found, wanted, sizeof wanted);
    }
    free(found);
    finish(&r);
}

/* Sums of floats whose first index has one value: there is nothing to cut into chunks, so no device takes copies. */
static void one_chunk(void **state) {
    (void)state;
    same_checked("in w: f32[n,m]\nout h: f32[7]\nh[(i + j * 5 + j // 3) % 7] += w[i,j]", "w 1 140001",
                 "one block, in order", true, false);
}

/* Copies of points that are too few to pay, and fewer copies than fit. */
static void forced(void **state) {
    (void)state;
    static const char *const mappings[] = {"scatter-private", "scatter-private copies=1"};
    for (size_t k = 0; k < ARRAY_LEN(mappings); k++) {
        struct device_test_run r;
        start_run(&r, "in x: u8[n]\nout h: i64[256]\nh[x[i]] += 1", "x 203", false);
        const struct le_stage *stage = scatter_of(&r);
        char *found = calloc(r.bytes[stage->target] + 8, 1);
        r.mapping = mappings[k];
        run_on_device(&r, stage, found);
        assert_string_equal(r.how, OWN);
        run_on_cpu(&r, stage);
        compare(&r, stage, found);
        free(found);
        finish(&r);
    }
}

/* The first point that falls outside, as the CPU finds it. */
static void faults(void **state) {
    (void)state;
    struct device_test_run r;
    start_run(&r, "in x: u8[n]\nout h: i64[250]\nh[x[i]] += 1", "x 5003", false);
    int64_t first = 0;
    const struct le_stage *stage = scatter_of(&r);
    const unsigned char *x = r.buffers[value_of(&r, "x")];
    while (x[first] < 250)
        first++;
    char *found = calloc(r.bytes[stage->target] + 8, 1);
    run_on_device(&r, stage, found);
    assert_string_equal(r.how, OWN);
    assert_int_equal(r.fault.set, 1);
    assert_int_equal(r.fault.point, first);
    assert_int_equal(r.fault.value, x[first]);
    free(found);
    finish(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts),    cmocka_unit_test(sums),    cmocka_unit_test(extremes),
        cmocka_unit_test(lengths),   cmocka_unit_test(layouts), cmocka_unit_test(weights),
        cmocka_unit_test(one_chunk), cmocka_unit_test(forced),  cmocka_unit_test(faults)};
    return cmocka_run_group_tests(tests, NULL, close_kept);
}
