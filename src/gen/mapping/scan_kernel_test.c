/* Scans on the simulated device: the bytes equal those of the CPU's machine, at the borders of groups, tiles and
 * chunks, for every kind of total, in both directions, and for every order of the device's threads. */
#include "gen/device_kernel_testing.h"
#include "gen/tree/codegen.h"

#define TILES   "a block for each tile of the rows, which looks back"
#define ROWS    "a block for each row"
#define FEW     "some lanes for each row"
#define LANES   "a thread for each row"
#define COLUMNS "warps for each 32 rows, a thread each"

/* mapping: LEAT_MAPPING; NULL: not set. how: of the scan's first kernel, which is another one where some elements have
 * no terms; NULL: any. */
static void scan_as(const char *program, const char *arrays, const char *mapping, const char *how, bool aligned,
                    bool check) {
    struct device_test_run r;
    bool made = false;
    start_run(&r, program, arrays, check);
    r.aligned = aligned;
    r.mapping = mapping;
    for (int k = 0; k < r.kernel.ir->stages.count; k++) {
        const struct le_stage *stage = &r.kernel.ir->stages.at[k];
        if (stage->dead || (stage->kind != LE_STAGE_MAP && stage->kind != LE_STAGE_SCAN))
            continue;
        char *found = calloc(r.bytes[stage->target] + 8, 1);
        run_on_device(&r, stage, found);
        run_on_cpu(&r, stage);
        compare(&r, stage, found);
        made |= stage->kind == LE_STAGE_SCAN && (!how || strcmp(r.how, how) == 0);
        free(found);
    }
    if (!made)
        fail_msg("%s\n%s: %s, not %s", program, arrays, r.how, how);
    finish(&r);
}

static void check_scan(const char *program, const char *arrays, const char *how) {
    scan_as(program, arrays, NULL, how, true, false);
}

/* One more of a kind. */
static void another(const char *program, const char *arrays, const char *how) {
    if (getenv("LEAT_TEST_ALL"))
        check_scan(program, arrays, how);
}

static void scan_row(const char *program, int n, const char *how) {
    char arrays[64];
    snprintf(arrays, sizeof arrays, "x %d", n);
    check_scan(program, arrays, how);
}

static void borders(void **state) {
    (void)state;
    static const char up[] = "y[i] = sum(k in 0..i+1: x[k])", down[] = "y[i] = sum(k in i..len(x, 0): x[k])";
    static const int few[] = {257, 271, 272, 273, 511}, rows[] = {4097, 8191, 16383, 16385, 32767};
    scan_row(down, 15, LANES);
    for (size_t k = 0; k < ARRAY_LEN(few); k++)
        scan_row(up, few[k], FEW);
    for (size_t k = 0; k < ARRAY_LEN(rows); k++)
        scan_row(down, rows[k], ROWS);
    scan_row(up, 8192, ROWS);
    for (int n = 49151; n <= 49153; n++)
        scan_row(up, n, TILES);
    scan_row(down, 81932, TILES);
}

static void every_total(void **state) {
    (void)state;
    check_scan("in x: f64[n]\ny[i] = prod(k in i..n: x[k])", "x 40001", TILES);
    another("in x: i16[n]\ny[i] = sum(k in 0..i+1: x[k])", "x 40000", TILES);
    check_scan("in x: bf16[n]\ny[i] = sum(k in 0..i: x[k]) where i in 0..n", "x 40000", NULL);
    another("in x: bool[n]\ny[i] = all(k in i..n: x[k])", "x 3000", ROWS);
    check_scan("in x: f64[n]\ny[i] = argmin(k in i..n: x[k])", "x 40000", TILES);
    another("in x: u8[n]\ny[i] = argmax(k in 0..i+1: x[k])", "x 3000", ROWS);
    another("in x: f32[n]\ny[i] = max(k in 0..i+1: x[k])", "x 200", FEW);
}

static void rows(void **state) {
    (void)state;
    check_scan("y[i,j] = sum(k in 0..j+1: x[i,k])", "x 70 24 by 30 1", FEW);
    check_scan("y[i,j] = max(k in j..len(x,1): x[i,k])", "x 3 40001", TILES);
    check_scan("y[i,j] = sum(k in 0..i+1: x[k,j])", "x 20000 33", COLUMNS);
    another("y[i,j] = argmax(k in i..len(x,0): x[k,j])", "x 100 300", COLUMNS);
    another("y[i,j] = sum(k in 0..i+1: x[k,j])", "x 40000 3", TILES);
    check_scan("y[b,i,j] = prod(k in 0..j+1: x[b,i,k] * w[b])", "x 5 10 70, w 5", FEW);
    another("y[i] = sum(k in 0..i+1: sum(j: x[k,j]))", "x 700 5", ROWS);
}

static void heads(void **state) {
    (void)state;
    static const char *const programs[] = {
        "in x: f32[n]\nin y: f32[n]\ny[i] = sum(k in 3..i+1: x[k]) where i in 1000..1300",
        "in x: f32[n]\nin y: f32[n]\ny[i] = sum(k in i..n: x[k]) where i in 1000..6001",
        "in x: f32[n]\nin y: f32[n]\ny[i] = argmin(k in i..n: x[k]) where i in 1000..41000"};
    check_scan(programs[0], "x 50000, y 50000", FEW);
    check_scan(programs[1], "x 50000, y 50000", ROWS);
    check_scan(programs[2], "x 50000, y 50000", TILES);
}

static void with_checks(void **state) {
    (void)state;
    scan_as("y[i] = sum(k in 0..i+1: x[k])", "x 50001", NULL, TILES, true, true);
    scan_as("in x: i64[n]\ny[i] = sum(k in i..len(x,0): x[k])", "x 9000", NULL, ROWS, false, true);
    if (getenv("LEAT_TEST_ALL"))
        scan_as("in x: bool[n,m]\ny[i,j] = any(k in 0..j+1: x[i,k])", "x 5 111", NULL, FEW, true, true);
    scan_as("y[i,j] = sum(k in 0..i+1: x[k,j])", "x 300 40", NULL, COLUMNS, true, true);
}

/* Each mapping, where the default is another one. */
static void forced(void **state) {
    (void)state;
    static const char sums[] = "y[i] = sum(k in 0..i+1: x[k])", least[] = "y[i] = min(k in i..len(x, 0): x[k])",
                      places[] = "in x: f64[n]\ny[i] = argmax(k in 0..i+1: x[k])";
    static const struct {
        const char *program, *arrays, *mapping, *how;
    } cases[] = {{sums, "x 300", "scan-tiles", TILES},
                 {sums, "x 300", "scan-block threads=256", ROWS},
                 {sums, "x 40001", "scan-block threads=64", ROWS},
                 {sums, "x 40001", "scan-columns warps=8", COLUMNS},
                 {sums, "x 40001", "scan-loop", LANES},
                 {least, "x 40001", "scan-tiles groups=256", TILES},
                 {least, "x 301", "scan-lanes lanes=32", FEW},
                 {places, "x 5000", "scan-lanes; scan-columns warps=2", COLUMNS},
                 {places, "x 12", "scan-loop; scan-lanes", LANES}};
    for (size_t k = 0; k < ARRAY_LEN(cases); k++)
        scan_as(cases[k].program, cases[k].arrays, cases[k].mapping, cases[k].how, true, false);
}

/* ---- looking back: blocks whose tiles come the other way round, so that all wait for the one that comes last */

static const char look_text[] =
    "template <class M, class Of>\n"
    "__device__ inline M look(unsigned *next, unsigned long long *told, const Of &of, long long &tile) {\n"
    "    __shared__ le_scan_seen<M> seen;\n"
    "    enum { WORDS = le_scan_words<M>::COUNT };\n"
    "    tile = (long long)gridDim.x - 1 - le_scan_turn(next);\n"
    "    told += tile * 2 * WORDS;\n"
    "    const M own = of(tile);\n"
    "    M before = M::none();\n"
    "    if (tile > 0 && threadIdx.x == 0)\n"
    "        le_scan_tell(told, own);\n"
    "    if (tile > 0)\n"
    "        before = le_scan_before(told, tile, 2 * WORDS, seen);\n"
    "    if (threadIdx.x == 0)\n"
    "        le_scan_tell(told + WORDS, before.join(own));\n"
    "    return before.join(own);\n"
    "}\n"
    "extern \"C\" __global__ void sums(unsigned *next, unsigned long long *told, float *x) {\n"
    "    long long tile;\n"
    "    const auto of = [&](long long at) -> le_sum<float> { return le_sum<float>::of(x[at]); };\n"
    "    const float all = look<le_sum<float>>(next, told, of, tile).total;\n"
    "    __syncwarp();\n"
    "    if (threadIdx.x == 0)\n"
    "        x[tile] = all;\n"
    "}\n"
    "extern \"C\" __global__ void places(unsigned *next, unsigned long long *told, float *x) {\n"
    "    typedef le_first<double, long long, true> first;\n"
    "    long long tile;\n"
    "    const auto of = [&](long long at) -> first { return first::of(x[at], at); };\n"
    "    const first all = look<first>(next, told, of, tile);\n"
    "    __syncwarp();\n"
    "    if (threadIdx.x == 0)\n"
    "        x[tile] = (float)all.at;\n"
    "}\n";

enum { TILES_MOST = 128 }; /* as many as are at work at once */

struct look_back {
    struct le_device *device;
    struct le_device_module *module;
    struct le_allocation *next, *told, *x;
};

static void open_look(struct look_back *l, uint64_t seed) {
    struct le_arena arena = {0};
    struct words unit = {0};
    struct le_device_options options = {.sim_check = true, .sim_seed = seed};
    ok(le_device_open("sim", &options, &l->device));
    le_prelude_add(&arena, &unit, look_text);
    le_words_add(&arena, &unit, "%s", look_text);
    struct le_module_source source = {.text = unit.at, .name = "look.cu"};
    ok(le_device_module_new(l->device, &source, &l->module));
    ok(le_allocation_new(l->device, LE_MEMORY_DEVICE, 4, NULL, &l->next));
    ok(le_allocation_new(l->device, LE_MEMORY_DEVICE, 8 * 8 * TILES_MOST, NULL, &l->told));
    ok(le_allocation_new(l->device, LE_MEMORY_PINNED, 4 * TILES_MOST, NULL, &l->x));
    le_arena_finish(&arena);
}

static void close_look(struct look_back *l) {
    le_allocation_free(l->next);
    le_allocation_free(l->told);
    le_allocation_free(l->x);
    le_device_module_free(l->module);
    le_device_close(l->device);
}

static void launch_look(struct look_back *l, const char *name, int tiles) {
    struct le_device_kernel *kernel;
    struct le_allocation *allocations[] = {l->next, l->told, l->x};
    struct le_launch_argument arguments[3];
    for (int k = 0; k < 3; k++)
        arguments[k] = (struct le_launch_argument){
            .value = &allocations[k]->address, .size_bytes = 8, .allocation = allocations[k], .access = LE_ACCESS_BOTH};
    struct le_kernel_launch how = {
        .grid = {(unsigned)tiles, 1, 1}, .block = {32, 1, 1}, .arguments = arguments, .argument_count = 3};
    ok(le_device_module_kernel(l->module, name, &kernel));
    ok(le_device_fill_zero(le_device_stream_own(l->device), l->next, 4));
    ok(le_device_fill_zero(le_device_stream_own(l->device), l->told, 8 * 8 * TILES_MOST));
    ok(le_device_launch(kernel, &how, le_device_stream_own(l->device)));
    ok(le_allocation_wait(l->x, LE_ACCESS_WRITE));
}

static void look_at(struct look_back *l, int tiles, bool places) {
    float *x = l->x->host, start[TILES_MOST], all = -0.0f;
    int best = 0;
    ok(le_allocation_wait(l->x, LE_ACCESS_WRITE));
    for (int k = 0; k < tiles; k++)
        put_number(LE_F32, x, (size_t)k);
    memcpy(start, x, sizeof start[0] * (size_t)tiles);
    launch_look(l, places ? "places" : "sums", tiles);
    for (int k = 0; k < tiles; k++) {
        best = start[k] > start[best] ? k : best;
        all += start[k];
        if (x[k] != (places ? (float)best : all))
            fail_msg("tile %d of %d: %.9g, not %.9g", k, tiles, (double)x[k], places ? best : (double)all);
    }
}

static void looking_back(void **state) {
    (void)state;
    static const int counts[] = {1, 2, 32, 33, 34, TILES_MOST};
    for (uint64_t seed = 1; seed <= 2; seed++) {
        struct look_back l;
        open_look(&l, seed);
        for (size_t k = 0; k < ARRAY_LEN(counts); k++)
            for (int places = 0; places < 2; places++)
                look_at(&l, counts[k], places);
        close_look(&l);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(looking_back), cmocka_unit_test(borders),
                                       cmocka_unit_test(every_total),  cmocka_unit_test(rows),
                                       cmocka_unit_test(heads),        cmocka_unit_test(forced),
                                       cmocka_unit_test(with_checks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
