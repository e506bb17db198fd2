/* Clusters on sim: extents and ranks, both halves of the barrier, shared memory of other blocks, and fatal errors. */
#include "sim/grid/sim_exec_testing.h"
#include <string.h>

enum { SEEDS = 5, BLOCKS = 24, THREADS = 40 };

/* Every block of a cluster of 2 x 1 x 2 blocks writes its number to all blocks of the cluster, at its own rank. */
static void extents_and_ranks(void **state) {
    (void)state;
    struct testing t = testing_load(
        "extern \"C\" __global__ void __launch_bounds__(64) __cluster_dims__(2, 1, 2) give(unsigned *out) {\n"
        "  __shared__ unsigned char before[3];\n"
        "  __shared__ unsigned given[4];\n"
        "  extern __shared__ double last[];\n"
        "  unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);\n"
        "  unsigned rank = __clusterRelativeBlockRank();\n"
        "  __cluster_barrier_arrive_relaxed();\n"
        "  before[threadIdx.x % 3] = 1;\n"
        "  __cluster_barrier_wait();\n"
        "  if (threadIdx.x < __clusterSizeInBlocks()) {\n"
        "    *(unsigned *)__cluster_map_shared_rank(&given[rank], threadIdx.x) = block;\n"
        "    ((double *)__cluster_map_shared_rank(last, threadIdx.x))[rank] = block * 0.5;\n"
        "  }\n"
        "  __cluster_barrier_arrive();\n"
        "  __cluster_barrier_wait();\n"
        "  if (threadIdx.x < 4)\n"
        "    out[4 * block + threadIdx.x] = given[threadIdx.x] * 1000 + (unsigned)(2 * last[threadIdx.x]);\n"
        "}\n",
        false, NULL);
    unsigned out[4 * BLOCKS];
    void *p = out, *parameters[] = {&p};
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        memset(out, 0, sizeof out);
        enum sim_grid_status status =
            testing_launch(&t, "give", DIM(4, 3, 2), DIM(THREADS, 1, 1), 4 * sizeof(double), seed, parameters);
        if (status != SIM_GRID_OK)
            print_error("%s\n", t.grid.message);
        assert_int_equal(status, SIM_GRID_OK);
        for (unsigned block = 0; block < BLOCKS; block++)
            for (unsigned rank = 0; rank < 4; rank++) {
                unsigned x = block % 4 / 2 * 2 + rank % 2, y = block / 4 % 3, z = rank / 2;
                unsigned other = x + 4 * (y + 3 * z);
                assert_int_equal(out[4 * block + rank], other * 1001);
            }
    }
    testing_finish(&t);
}

/* Many rounds around a ring, with more clusters than can be resident, and a block barrier between the two halves. */
static void rounds(void **state) {
    (void)state;
    struct testing t = testing_load("__global__ void __cluster_dims__(4) ring(int *out) {\n"
                                    "  __shared__ int mine[2];\n"
                                    "  int next = (__clusterRelativeBlockRank() + 1) % 4;\n"
                                    "  if (threadIdx.x == 0) mine[0] = blockIdx.x % 4;\n"
                                    "  for (int k = 0; k < 10; k++) {\n"
                                    "    __cluster_barrier_arrive();\n"
                                    "    __syncthreads();\n"
                                    "    __cluster_barrier_wait();\n"
                                    "    if (threadIdx.x == 0)\n"
                                    "      ((int *)__cluster_map_shared_rank(mine, next))[~k & 1] = mine[k & 1] + 1;\n"
                                    "  }\n"
                                    "  __cluster_barrier_arrive();\n"
                                    "  __cluster_barrier_wait();\n"
                                    "  if (threadIdx.x == 1) out[blockIdx.x] = mine[0];\n"
                                    "}\n",
                                    false, NULL);
    int out[2000];
    void *p = out, *parameters[] = {&p};
    testing_run(&t, "ring", 2000, 34, 3, parameters);
    for (int k = 0; k < 2000; k++)
        assert_int_equal(out[k], (k + 4 - 10 % 4) % 4 + 10);
    testing_finish(&t);
}

/* A kernel without __cluster_dims__ has clusters of one block. */
static void single_blocks(void **state) {
    (void)state;
    struct testing t = testing_load("__global__ void alone(unsigned *out) {\n"
                                    "  __shared__ unsigned x;\n"
                                    "  __cluster_barrier_arrive();\n"
                                    "  __cluster_barrier_wait();\n"
                                    "  *(unsigned *)__cluster_map_shared_rank(&x, 0) = __clusterSizeInBlocks();\n"
                                    "  out[blockIdx.x] = x;\n"
                                    "}\n",
                                    false, NULL);
    unsigned out[3] = {0};
    void *p = out, *parameters[] = {&p};
    testing_run(&t, "alone", 3, 1, 1, parameters);
    assert_int_equal(out[0] + out[1] + out[2], 3);
    testing_finish(&t);
}

static void bad_ends(void **state) {
    (void)state;
    static const struct {
        const char *body, *message;
        enum sim_grid_status status;
        unsigned blocks;
    } rows[] = {
        {"__cluster_barrier_arrive(); __cluster_barrier_arrive();",
         "arrives at the cluster's barrier again without waiting first", SIM_GRID_TRAP, 2},
        {"__cluster_barrier_wait();", "waits at the cluster's barrier without having arrived", SIM_GRID_TRAP, 2},
        {"__cluster_map_shared_rank(&s, 2);", "a cluster of 2 blocks has no block of rank 2", SIM_GRID_TRAP, 2},
        {"__cluster_map_shared_rank(&blocks, 1);", "is not in the block's shared memory", SIM_GRID_TRAP, 2},
        {"if (blockIdx.x == 0) while (*blocks == 0) __nanosleep(1);\n"
         " else *(volatile int *)blocks = 1;\n"
         " __syncthreads(); if (blockIdx.x == 0) { for (int k = 0; k < 1000; k++) __nanosleep(1);\n"
         " __cluster_map_shared_rank(&s, 1); }",
         "the block of rank 1 has ended, so its shared memory is gone", SIM_GRID_TRAP, 2},
        {"__cluster_barrier_arrive(); if (threadIdx.x) __syncthreads(); else __cluster_barrier_wait();", "",
         SIM_GRID_OK, 2},
        {"if (blockIdx.x == 0 && threadIdx.x == 0) __syncthreads();\n"
         " __cluster_barrier_arrive(); __cluster_barrier_wait();",
         "wait for each other forever: thread 0 waits for __syncthreads", SIM_GRID_DEADLOCK, 2},
        {"", "the grid does not consist of whole clusters", SIM_GRID_TRAP, 3},
    };
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        char source[1000];
        snprintf(source, sizeof source,
                 "__global__ void __cluster_dims__(2, 1, 1) k(int *blocks) {\n __shared__ int s;\n s = 0;\n %s\n}\n",
                 rows[k].body);
        struct testing t = testing_load(source, false, NULL);
        int blocks = 0;
        void *p = &blocks, *parameters[] = {&p};
        enum sim_grid_status status =
            testing_launch(&t, "k", DIM(rows[k].blocks, 1, 1), DIM(2, 1, 1), 0, 1, parameters);
        if (status != rows[k].status || !strstr(t.grid.message, rows[k].message))
            fail_msg("%s: %d: %s", rows[k].body, status, t.grid.message);
        testing_finish(&t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(extents_and_ranks), cmocka_unit_test(rounds),
                                       cmocka_unit_test(single_blocks), cmocka_unit_test(bad_ends)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
