/* For tests of kernels on sim: compiles, loads and runs them without the driver, and collects what they print. */
#ifndef LE_SIM_EXEC_TESTING_H
#define LE_SIM_EXEC_TESTING_H
#include "base/memory.h"
#include "base/text.h"
#include "sim/grid/sim_exec.h"
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <setjmp.h>
#include <cmocka.h>

struct testing {
    struct sim_compiled compiled;
    struct sim_module *module;
    struct sim_check *check;
    struct le_text printed;
    struct sim_grid grid; /* the last run's */
};

static bool testing_before(void *user, uint64_t a, uint64_t b) {
    (void)user;
    return a < b;
}

static inline struct testing testing_load(const char *source, bool check, const char *expression) {
    struct testing t = {0};
    const char *const expressions[] = {expression};
    struct sim_compile_options options = {.source = source,
                                          .name = "kernel.cu",
                                          .expressions = expressions,
                                          .expression_count = expression ? 1 : 0,
                                          .check = check};
    leat_status status = le_sim_compile(&options, &t.compiled);
    if (status != LEAT_OK)
        print_error("%s\n%s\n", t.compiled.log, le_errors_text());
    assert_int_equal(status, LEAT_OK);
    if (check)
        assert_int_equal(le_sim_check_new(testing_before, NULL, &t.check), LEAT_OK);
    assert_int_equal(le_sim_module_load(t.compiled.image, &t.module), LEAT_OK);
    le_sim_module_check(t.module, t.check);
    return t;
}

static void testing_print(void *user, const char *text, size_t size_bytes) {
    le_text_add_bytes(user, text, size_bytes);
}

/* grid and block: {x, y, z}; parameters: the address of each. */
static inline enum sim_grid_status testing_launch(struct testing *t, const char *kernel, const unsigned grid[3],
                                                  const unsigned block[3], size_t dynamic_bytes, uint64_t seed,
                                                  void **parameters) {
    const struct sim_item *item = le_sim_module_kernel(t->module, kernel);
    assert_non_null(item);
    bool cooperative = t->grid.cooperative;
    const struct le_cancel_tokens *tokens = t->grid.tokens;
    t->grid = (struct sim_grid){.module = t->module,
                                .kernel = item,
                                .dynamic_bytes = dynamic_bytes,
                                .parameters = parameters,
                                .tokens = tokens,
                                .seed = seed,
                                .cooperative = cooperative,
                                .spin_limit_ms = 1000,
                                .check = t->check,
                                .op = 1,
                                .print = testing_print,
                                .user = &t->printed};
    for (int k = 0; k < 3; k++) {
        t->grid.grid[k] = grid[k];
        t->grid.block[k] = block[k];
    }
    return le_sim_grid_run(&t->grid);
}
#define DIM(...) ((const unsigned[3]){__VA_ARGS__})

/* Runs a one-dimensional grid, which must succeed. */
static inline void testing_run(struct testing *t, const char *kernel, unsigned blocks, unsigned threads, uint64_t seed,
                               void **parameters) {
    enum sim_grid_status status = testing_launch(t, kernel, DIM(blocks, 1, 1), DIM(threads, 1, 1), 0, seed, parameters);
    if (status != SIM_GRID_OK)
        print_error("%s\n", t->grid.message);
    assert_int_equal(status, SIM_GRID_OK);
}

static inline void testing_finish(struct testing *t) {
    le_sim_module_free(t->module);
    le_sim_check_free(t->check);
    le_sim_compiled_finish(&t->compiled);
    le_text_finish(&t->printed);
}
#endif
