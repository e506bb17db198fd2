/* Compiling, loading and running while each allocation fails once: returns an error and leaks nothing. */
#include "sim/grid/sim_exec_testing.h"
#include <stdlib.h>

static struct {
    long until, live; /* until: requests until one fails; 0: none */
    bool failed;
} memory;

static bool fails(void) {
    bool now = memory.until > 0 && --memory.until == 0;
    memory.failed |= now;
    return now;
}

static void *allocate(size_t size_bytes, void *user) {
    (void)user;
    void *block = fails() ? NULL : malloc(size_bytes);
    memory.live += block != NULL;
    return block;
}

static void *reallocate(void *block, size_t size_bytes, void *user) {
    (void)user;
    if (fails())
        return NULL;
    memory.live += block == NULL;
    return realloc(block, size_bytes);
}

static void release(void *block, void *user) {
    (void)user;
    memory.live -= block != NULL;
    free(block);
}

static const char *const source = "#include <cuda_fp16.h>\n"
                                  "__device__ int total;\n"
                                  "template <class T> __global__ void other(T *x) { *x = 1; }\n"
                                  "__global__ void k(int n) {\n"
                                  "  __shared__ int s[32];\n"
                                  "  s[threadIdx.x] = n;\n"
                                  "  __syncthreads();\n"
                                  "  atomicAdd(&total, s[31 - threadIdx.x]);\n"
                                  "  while (*(volatile int *)&total < 32 * 3 * n) {}\n"
                                  "}\n";

/* Compiles, loads and runs the kernel; returns the first error. */
static leat_status compile_and_run(bool check) {
    const char *const expressions[] = {"other<float>"};
    struct sim_compile_options options = {
        .source = source, .name = "kernel.cu", .expressions = expressions, .expression_count = 1, .check = check};
    struct sim_compiled compiled;
    struct sim_module *module = NULL;
    leat_status status = le_sim_compile(&options, &compiled);
    if (status == LEAT_OK)
        status = le_sim_module_load(compiled.image, &module);
    if (status == LEAT_OK) {
        int n = 2;
        void *parameters[] = {&n};
        struct sim_grid grid = {.module = module,
                                .kernel = le_sim_module_kernel(module, "k"),
                                .grid = {3, 1, 1},
                                .block = {32, 1, 1},
                                .parameters = parameters};
        enum sim_grid_status ended = le_sim_grid_run(&grid);
        assert_true(ended == SIM_GRID_OK || ended == SIM_GRID_MEMORY);
        if (ended == SIM_GRID_OK)
            assert_int_equal(*(int *)le_sim_module_global(module, "total")->address, 192);
        status = ended == SIM_GRID_OK ? LEAT_OK : LEAT_OUT_OF_MEMORY;
    }
    le_sim_module_free(module);
    le_sim_compiled_finish(&compiled);
    return status;
}

static void every_allocation_fails_once(void **state) {
    (void)state;
    const struct le_allocator allocator = {.allocate = allocate, .reallocate = reallocate, .release = release};
    assert_int_equal(compile_and_run(false), LEAT_OK); /* fills the cache */
    le_memory_set_allocator(&allocator);
    long count = 1;
    for (bool more = true; more; count++) {
        memory.until = count;
        memory.failed = false;
        memory.live = 0;
        leat_status status = compile_and_run(false);
        more = memory.failed;
        memory.until = 0;
        if (memory.live)
            print_error("allocation %ld: %ld blocks leaked\n", count, memory.live);
        assert_int_equal(memory.live, 0);
        if (!more)
            assert_int_equal(status, LEAT_OK);
        else if (status != LEAT_OK) /* a failure in the cache is not an error */
            assert_int_equal(status, LEAT_OUT_OF_MEMORY);
    }
    le_memory_set_allocator(NULL);
    print_message("%ld allocations\n", count);
    assert_true(count > 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_fails_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
