/* Kernels on sim, compared with plain C: barriers, shared memory, warps, atomics, waiting, and how kernels end. */
#include "sim/grid/sim_exec_testing.h"
#include "base/clock.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZED = 1 };
#elif defined(__has_feature)
enum { SANITIZED = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) };
#else
enum { SANITIZED = 0 };
#endif
enum { SEEDS = 5 };

static void indices_of_three_dimensions(void **state) {
    (void)state;
    struct testing t =
        testing_load("extern \"C\" __global__ void where(unsigned *out) {\n"
                     "  unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);\n"
                     "  unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);\n"
                     "  out[block * blockDim.x * blockDim.y * blockDim.z + thread] += block * 1000 + thread;\n"
                     "}\n",
                     false, NULL);
    enum { BLOCKS = 2 * 3 * 4, THREADS = 5 * 3 * 2 };
    unsigned out[BLOCKS * THREADS] = {0};
    void *p = out, *parameters[] = {&p};
    for (uint64_t seed = 0; seed < SEEDS; seed++)
        assert_int_equal(testing_launch(&t, "where", DIM(2, 3, 4), DIM(5, 3, 2), 0, seed, parameters), SIM_GRID_OK);
    for (unsigned k = 0; k < BLOCKS * THREADS; k++)
        assert_int_equal(out[k], SEEDS * (k / THREADS * 1000 + k % THREADS));
    testing_finish(&t);
}

static void sums_in_shared_memory(void **state) {
    (void)state;
    struct testing t = testing_load("template <class T> __global__ void total(const T *x, T *out, int n) {\n"
                                    "  __shared__ T part[128];\n"
                                    "  extern __shared__ __align__(16) T more[];\n"
                                    "  T sum = 0;\n"
                                    "  for (int k = threadIdx.x; k < n; k += blockDim.x) sum += x[k];\n"
                                    "  part[threadIdx.x] = sum;\n"
                                    "  __syncthreads();\n"
                                    "  for (int s = blockDim.x / 2; s; s /= 2) {\n"
                                    "    if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];\n"
                                    "    __syncthreads();\n"
                                    "  }\n"
                                    "  more[threadIdx.x] = part[0];\n"
                                    "  __syncthreads();\n"
                                    "  if (threadIdx.x == 5) out[blockIdx.x] = more[(threadIdx.x + 77) % blockDim.x];\n"
                                    "}\n",
                                    false, " total < double > ");
    double x[1000], expected = 0, out[3] = {0};
    for (int k = 0; k < 1000; k++)
        expected += x[k] = k;
    const void *px = x;
    void *po = out;
    int n = 1000;
    void *parameters[] = {&px, &po, &n};
    assert_string_equal(t.compiled.lowered[0], "total<double>");
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        memset(out, 0, sizeof out);
        assert_int_equal(
            testing_launch(&t, "total<double>", DIM(3, 1, 1), DIM(128, 1, 1), 128 * sizeof(double), seed, parameters),
            SIM_GRID_OK);
        for (int k = 0; k < 3; k++)
            assert_true(out[k] == expected);
    }
    assert_int_equal(le_sim_module_shared_bytes(t.module, le_sim_module_kernel(t.module, "total<double>")), 1024);
    testing_finish(&t);
}

static void warps(void **state) {
    (void)state;
    struct testing t = testing_load(
        "extern \"C\" __global__ void warps(int *out) {\n"
        "  int lane = threadIdx.x % 32, *o = out + threadIdx.x * 16;\n"
        "  unsigned all = 0xffffffffu;\n"
        "  o[0] = __shfl_sync(all, lane * 3, 7);\n"
        "  o[1] = __shfl_down_sync(all, lane, 3);\n"
        "  o[2] = __shfl_up_sync(all, lane, 2, 8);\n"
        "  o[3] = __shfl_xor_sync(all, lane, 5);\n"
        "  o[4] = (int)__ballot_sync(all, lane % 3 == 0);\n"
        "  o[5] = __all_sync(all, lane < 32) + 2 * __any_sync(all, lane == 9) + 4 * __any_sync(all, lane > 99);\n"
        "  o[6] = (int)__match_any_sync(all, lane / 8);\n"
        "  int same;\n"
        "  __match_all_sync(all, 4, &same);\n"
        "  o[7] = same;\n"
        "  o[8] = (int)__reduce_add_sync(all, (unsigned)lane);\n"
        "  o[9] = __reduce_min_sync(all, lane - 16);\n"
        "  double d = __shfl_sync(all, lane + 0.25, 31);\n"
        "  o[10] = d == 31.25;\n"
        "  if (lane < 16) {\n"
        "    unsigned m = __activemask();\n"
        "    o[11] = (int)m;\n"
        "    o[12] = __shfl_sync(m, lane, 15);\n"
        "  } else {\n"
        "    o[11] = __shfl_xor_sync(0xffff0000u, lane, 1);\n"
        "    o[12] = __shfl_sync(0xffff0000u, lane, 3, 16);\n"
        "  }\n"
        "  long long big = __shfl_sync(all, (1ll << 40) + lane, 2);\n"
        "  o[13] = big == (1ll << 40) + 2;\n"
        "  o[14] = __shfl_down_sync(all, (unsigned char)lane, 1);\n"
        "}\n",
        false, NULL);
    int out[64 * 16];
    void *p = out, *parameters[] = {&p};
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        memset(out, 0, sizeof out);
        testing_run(&t, "warps", 1, 64, seed, parameters);
        for (int thread = 0; thread < 64; thread++) {
            int lane = thread % 32;
            const int *o = out + thread * 16;
            assert_int_equal(o[0], 21);
            assert_int_equal(o[1], lane + 3 < 32 ? lane + 3 : lane);
            assert_int_equal(o[2], lane % 8 >= 2 ? lane - 2 : lane);
            assert_int_equal(o[3], lane ^ 5);
            assert_int_equal(o[4], 0x49249249);
            assert_int_equal(o[5], 3);
            assert_int_equal(o[6], (int)(0xffu << lane / 8 * 8));
            assert_int_equal(o[7], 1);
            assert_int_equal(o[8], 496);
            assert_int_equal(o[9], -16);
            assert_int_equal(o[10], 1);
            assert_int_equal(o[11], lane < 16 ? 0xffff : lane ^ 1);
            assert_int_equal(o[12], lane < 16 ? 15 : 19);
            assert_int_equal(o[13], 1);
            assert_int_equal(o[14], lane < 31 ? lane + 1 : 31);
        }
    }
    testing_finish(&t);
}

static void atomics(void **state) {
    (void)state;
    struct testing t =
        testing_load("struct Out { int add, sub, lo, hi, bits, cas; unsigned inc, dec; float f; double d;\n"
                     "  unsigned long long big; unsigned short half; };\n"
                     "extern \"C\" __global__ void count(Out *o) {\n"
                     "  int k = threadIdx.x + blockIdx.x * blockDim.x;\n"
                     "  atomicAdd(&o->add, k); atomicSub(&o->sub, 1); atomicMin(&o->lo, -k);\n"
                     "  atomicMax(&o->hi, k); atomicOr(&o->bits, 1 << k % 31); atomicInc(&o->inc, 9);\n"
                     "  atomicDec(&o->dec, 9); atomicAdd(&o->f, 0.5f); atomicAdd_system(&o->d, 0.25);\n"
                     "  atomicAdd_block(&o->big, 1ull << 33);\n"
                     "  int old = o->cas, seen;\n"
                     "  do { seen = old; old = atomicCAS(&o->cas, seen, seen + 2); } while (old != seen);\n"
                     "  unsigned short h = o->half, w;\n"
                     "  do { w = h; h = atomicCAS(&o->half, w, (unsigned short)(w + 1)); } while (h != w);\n"
                     "}\n",
                     false, NULL);
    struct {
        int add, sub, lo, hi, bits, cas;
        unsigned inc, dec;
        float f;
        double d;
        uint64_t big;
        uint16_t half;
    } out = {0};
    void *p = &out, *parameters[] = {&p};
    testing_run(&t, "count", 4, 100, 3, parameters);
    assert_int_equal(out.add, 400 * 399 / 2);
    assert_int_equal(out.sub, -400);
    assert_int_equal(out.lo, -399);
    assert_int_equal(out.hi, 399);
    assert_int_equal(out.bits, 0x7fffffff);
    assert_int_equal(out.cas, 800);
    assert_int_equal(out.inc, 0);
    assert_int_equal(out.dec, 0);
    assert_true(out.f == 200 && out.d == 100);
    assert_true(out.big == (uint64_t)400 << 33);
    assert_int_equal(out.half, 400);
    testing_finish(&t);
}

/* Blocks that depend on each other: the last block sums the results of all; a lock; a flag that another block sets. */
static void blocks_that_wait(void **state) {
    (void)state;
    struct testing t = testing_load("__device__ unsigned done;\n"
                                    "__device__ int lock, inside, flag;\n"
                                    "__device__ float parts[64];\n"
                                    "extern \"C\" __global__ void last(float *out) {\n"
                                    "  __shared__ bool mine;\n"
                                    "  if (threadIdx.x == 0) {\n"
                                    "    parts[blockIdx.x] = blockIdx.x + 1;\n"
                                    "    __threadfence();\n"
                                    "    mine = atomicAdd(&done, 1u) == gridDim.x - 1;\n"
                                    "  }\n"
                                    "  __syncthreads();\n"
                                    "  if (mine && threadIdx.x == 0) {\n"
                                    "    float sum = 0;\n"
                                    "    for (int k = 0; k < gridDim.x; k++) sum += ((volatile float *)parts)[k];\n"
                                    "    *out = sum;\n"
                                    "    done = 0;\n"
                                    "  }\n"
                                    "}\n"
                                    "extern \"C\" __global__ void locked(int *out) {\n"
                                    "  while (atomicCAS(&lock, 0, 1) != 0) {}\n"
                                    "  __threadfence();\n"
                                    "  inside++;\n"
                                    "  __nanosleep(100);\n"
                                    "  *out += inside == 1;\n"
                                    "  inside--;\n"
                                    "  __threadfence();\n"
                                    "  atomicExch(&lock, 0);\n"
                                    "}\n"
                                    "extern \"C\" __global__ void flagged(int *out) {\n"
                                    "  __shared__ int kept;\n"
                                    "  if (threadIdx.x == 0) kept = blockIdx.x;\n"
                                    "  __syncthreads();\n"
                                    "  if (blockIdx.x == gridDim.x - 1 - *out) { *(volatile int *)&flag = 1; }\n"
                                    "  else while (*(volatile int *)&flag == 0) {}\n"
                                    "  __syncthreads();\n"
                                    "  if (kept == blockIdx.x) atomicAdd(out + 1, 1);\n"
                                    "}\n",
                                    false, NULL);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        float sum = 0;
        void *p = &sum, *parameters[] = {&p};
        testing_run(&t, "last", 64, 32, seed, parameters);
        assert_true(sum == 64 * 65 / 2);
        int count[2] = {0};
        void *c = count;
        parameters[0] = &c;
        testing_run(&t, "locked", 7, 40, seed, parameters);
        assert_int_equal(count[0], 280);
        *(int *)le_sim_module_global(t.module, "flag")->address = 0;
        count[0] = (int)seed;
        testing_run(&t, "flagged", 20, 33, seed, parameters);
        assert_int_equal(count[1], 20 * 33);
    }
    testing_finish(&t);
}

static void barrier_of_the_grid(void **state) {
    (void)state;
    struct testing t = testing_load("#include <cooperative_groups.h>\n"
                                    "namespace cg = cooperative_groups;\n"
                                    "extern \"C\" __global__ void steps(int *x, int n) {\n"
                                    "  cg::grid_group g = cg::this_grid();\n"
                                    "  __shared__ int mine;\n"
                                    "  int k = g.thread_rank();\n"
                                    "  if (threadIdx.x == 0) mine = blockIdx.x;\n"
                                    "  for (int s = 0; s < 4; s++) {\n"
                                    "    int next = x[(k + 1) % n];\n"
                                    "    g.sync();\n"
                                    "    x[k] = next + (mine == blockIdx.x);\n"
                                    "    g.sync();\n"
                                    "  }\n"
                                    "  auto tile = cg::tiled_partition<8>(cg::this_thread_block());\n"
                                    "  int sum = tile.thread_rank();\n"
                                    "  for (int d = 4; d; d /= 2) sum += tile.shfl_down(sum, d);\n"
                                    "  if (tile.thread_rank() == 0 && sum != 28) x[k] = -1;\n"
                                    "}\n",
                                    false, NULL);
    enum { N = 6 * 32 };
    int x[N], n = N;
    void *p = x, *parameters[] = {&p, &n};
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        for (int k = 0; k < N; k++)
            x[k] = k;
        t.grid.cooperative = true;
        testing_run(&t, "steps", 6, 32, seed, parameters);
        for (int k = 0; k < N; k++)
            assert_int_equal(x[k], (k + 4) % N + 4);
    }
    t.grid.cooperative = false;
    assert_int_equal(testing_launch(&t, "steps", DIM(6, 1, 1), DIM(32, 1, 1), 0, 0, parameters), SIM_GRID_TRAP);
    assert_non_null(strstr(t.grid.message, "cooperative"));
    testing_finish(&t);
}

static void barriers_that_count(void **state) {
    (void)state;
    struct testing t =
        testing_load("extern \"C\" __global__ void votes(int *out) {\n"
                     "  int c = __syncthreads_count(threadIdx.x % 3 == 0);\n"
                     "  int a = __syncthreads_and(threadIdx.x < 49), o = __syncthreads_or(threadIdx.x == 7);\n"
                     "  atomicAdd(out, c == 17 && !a && o);\n"
                     "}\n",
                     false, NULL);
    int out = 0;
    void *p = &out, *parameters[] = {&p};
    testing_run(&t, "votes", 3, 50, 1, parameters);
    assert_int_equal(out, 150);
    testing_finish(&t);
}

static void printed_in_order(void **state) {
    (void)state;
    struct testing t =
        testing_load("extern \"C\" __global__ void say(int n, float x) {\n"
                     "  if (threadIdx.x == 2) printf(\"%d %s %.2f %lld\\n\", n, \"words\", x, 1ll << 40);\n"
                     "  __syncthreads();\n"
                     "  if (threadIdx.x == 0) printf(\"end\\n\");\n"
                     "}\n",
                     false, NULL);
    int n = 7;
    float x = 1.5f;
    void *parameters[] = {&n, &x};
    testing_run(&t, "say", 1, 4, 2, parameters);
    assert_string_equal(t.printed.at, "7 words 1.50 1099511627776\nend\n");
    testing_finish(&t);
}

/* Kernels that must fail: the status, and a word of the message. */
static void bad_ends(void **state) {
    (void)state;
    static const struct {
        const char *kernel, *word;
        enum sim_grid_status status;
    } rows[] = {
        {"trap", "__trap", SIM_GRID_TRAP},
        {"assertion", "assertion", SIM_GRID_ASSERT},
        {"null", "null pointer", SIM_GRID_ADDRESS},
        {"divide", "division", SIM_GRID_TRAP},
        {"deep", "stack", SIM_GRID_STACK},
        {"huge", "stack", SIM_GRID_STACK},
        {"alone", "__syncthreads", SIM_GRID_DEADLOCK},
        {"mixed", "kernel.cu:", SIM_GRID_DEADLOCK},
        {"spin", "waited", SIM_GRID_TIMEOUT},
        {"watch", "waited", SIM_GRID_TIMEOUT},
    };
    struct testing t = testing_load(
        "__device__ int zero, sink; __device__ int *nothing;\n"
        "__device__ __noinline__ int dive(int n) { volatile int a[64]; a[n % 64] = n; return n > 1000000 ? 0 : dive(n "
        "+ 1) + a[n % 64]; }\n"
        "extern \"C\" {\n"
        "__global__ void trap() { if (threadIdx.x == 3) __trap(); __syncthreads(); }\n"
        "__global__ void assertion() { assert(threadIdx.x < 3); }\n"
        "__global__ void null() { if (threadIdx.x == 1) *nothing = 1; }\n"
        "__global__ void divide() { sink = 5 / zero; }\n"
        "__global__ void deep() { if (threadIdx.x == 1) sink = dive(0); }\n"
        "__global__ void huge() { volatile int a[400000]; a[threadIdx.x] = 1; sink = a[threadIdx.x]; }\n"
        "__global__ void alone() { if (threadIdx.x < 2) __syncthreads(); else __shfl_sync(0xffffffffu, 1, 0); }\n"
        "__global__ void mixed() { if (threadIdx.x < 2) __syncwarp(); else __syncwarp(3u | 4u << threadIdx.x % 2); }\n"
        "__global__ void spin() { while (atomicAdd(&zero, 0) == 0) {} }\n"
        "__global__ void watch() { while (*(volatile int *)&zero == 0) {} }\n"
        "__global__ void fine() { sink = 42; }\n"
        "}\n",
        false, NULL);
    void *parameters[1] = {0};
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        enum sim_grid_status status = testing_launch(&t, rows[k].kernel, DIM(2, 1, 1), DIM(4, 1, 1), 0, k, parameters);
        if (status != rows[k].status || !strstr(t.grid.message, rows[k].word))
            print_error("%s: %d, %s\n", rows[k].kernel, status, t.grid.message);
        assert_int_equal(status, rows[k].status);
        assert_non_null(strstr(t.grid.message, rows[k].word));
    }
    assert_non_null(strstr(t.printed.at, "kernel.cu:5: "));
    assert_non_null(strstr(t.printed.at, "block: ["));
    assert_non_null(strstr(t.printed.at, "Assertion `threadIdx.x < 3` failed."));
    testing_run(&t, "fine", 1, 1, 0, parameters); /* the module stays usable */
    assert_int_equal(*(int *)le_sim_module_global(t.module, "sink")->address, 42);
    testing_finish(&t);
}

/* Large frames work; endless recursion is found in every block, also beyond those whose stacks all have guards. */
static void stacks(void **state) {
    (void)state;
    static const char *const source =
        "__device__ int arrived, sink;\n"
        "__device__ __noinline__ int dive(int n) { volatile int a[64]; a[n % 64] = n; return n < 0 ? 0 : dive(n + 1) + "
        "a[n % 64]; }\n"
        "extern \"C\" __global__ void wide(int *y, int n) {\n"
        "  int a[128000];\n"
        "  for (int k = 0; k < 128000; k++) a[k] = k * n;\n"
        "  int sum = 0;\n"
        "  for (int k = 0; k < 128000; k += n * 100) sum += a[k];\n"
        "  atomicAdd(y, sum);\n"
        "}\n"
        "extern \"C\" __global__ void deep(int *y, int n) {\n"
        "  atomicAdd(&arrived, 1);\n"
        "  while (*(volatile int *)&arrived < n) {}\n"
        "  if (blockIdx.x == 3 && threadIdx.x == 2) sink = dive(0);\n"
        "}\n";
    for (int check = 0; check < 2; check++) {
        struct testing t = testing_load(source, check, NULL);
        int y = 0, n = 1;
        void *p = &y, *parameters[] = {&p, &n};
        if (!check)
            testing_run(&t, "wide", 2, 3, 0, parameters);
        assert_int_equal(y, check ? 0 : 6 * (1279 * 1280 / 2 * 100));
        for (unsigned seed = 0; seed < 12; seed++) {
            *(int *)le_sim_module_global(t.module, "arrived")->address = 0;
            n = 12 * 4;
            assert_int_equal(testing_launch(&t, "deep", DIM(12, 1, 1), DIM(4, 1, 1), 0, seed, parameters),
                             SIM_GRID_STACK);
            assert_non_null(strstr(t.grid.message, "kernel deep, block (3,0,0), thread (2,0,0): stack overflow"));
        }
        testing_finish(&t);
    }
}

/* Threads that have ended count as arrived; uninitialized shared memory is not zero; the order depends on the seed. */
static void hostile_but_legal(void **state) {
    (void)state;
    struct testing t = testing_load("extern \"C\" __global__ void order(int *log, int *count) {\n"
                                    "  __shared__ int old[4];\n"
                                    "  if (threadIdx.x >= 60) return;\n"
                                    "  if (threadIdx.x == 0) log[255] += old[2] == 0;\n"
                                    "  __syncthreads();\n"
                                    "  log[atomicAdd(count, 1)] = threadIdx.x + blockIdx.x * 64;\n"
                                    "}\n",
                                    false, NULL);
    int first[256], differ = 0;
    for (uint64_t seed = 0; seed < 4; seed++) {
        int log[256] = {0}, count = 0;
        void *p = log, *c = &count, *parameters[] = {&p, &c};
        testing_run(&t, "order", 4, 64, seed, parameters);
        assert_int_equal(count, 240);
        assert_int_equal(log[255], 0);
        if (seed == 0)
            memcpy(first, log, sizeof log);
        differ += memcmp(first, log, sizeof log) != 0;
        memset(log, 0, sizeof log);
        count = 0;
        testing_run(&t, "order", 4, 64, 0, parameters); /* the same seed gives the same order */
        assert_memory_equal(log, first, sizeof log);
    }
    assert_int_equal(differ, 3);
    testing_finish(&t);
}

static void product_of_matrices(void **state) {
    (void)state;
    struct testing t =
        testing_load("#define T 8\n"
                     "extern \"C\" __global__ void product(const float *a, const float *b, float *c, int n) {\n"
                     "  __shared__ float x[T][T], y[T][T];\n"
                     "  int row = blockIdx.y * T + threadIdx.y, column = blockIdx.x * T + threadIdx.x;\n"
                     "  float sum = 0;\n"
                     "  for (int t = 0; t < n; t += T) {\n"
                     "    x[threadIdx.y][threadIdx.x] = a[row * n + t + threadIdx.x];\n"
                     "    y[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + column];\n"
                     "    __syncthreads();\n"
                     "    for (int k = 0; k < T; k++) sum += x[threadIdx.y][k] * y[k][threadIdx.x];\n"
                     "    __syncthreads();\n"
                     "  }\n"
                     "  c[row * n + column] = sum;\n"
                     "}\n",
                     false, NULL);
    enum { N = SANITIZED ? 64 : 512, HOST_TIMES = 40 };
    float *a = malloc(N * N * sizeof *a), *b = malloc(N * N * sizeof *b), *c = calloc(N * N, sizeof *c);
    int n = N, wrong = 0;
    for (int k = 0; k < N * N; k++) {
        a[k] = (float)(k * 7 % 13);
        b[k] = (float)(k * 5 % 11);
    }
    void *parameters[] = {&a, &b, &c, &n};
    uint64_t start = le_clock_ns();
    clock_t busy = clock();
    assert_int_equal(testing_launch(&t, "product", DIM(N / 8, N / 8, 1), DIM(8, 8, 1), 0, 1, parameters), SIM_GRID_OK);
    double seconds = (double)(le_clock_ns() - start) / 1e9, own = (double)(clock() - busy) / CLOCKS_PER_SEC;
    print_message("%dx%d tiled product: %.2f s, %.2f s of CPU time\n", N, N, seconds, own);
    busy = clock();
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            float sum = 0;
            for (int k = 0; k < N; k++)
                sum += a[i * N + k] * b[k * N + j];
            wrong += sum != c[i * N + j];
        }
    double host = (double)(clock() - busy) / CLOCKS_PER_SEC;
    print_message("%.2f s of CPU time for the same loop on the host\n", host);
    assert_int_equal(wrong, 0);
    assert_true(SANITIZED || own < HOST_TIMES * host);
    free(a);
    free(b);
    free(c);
    testing_finish(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(indices_of_three_dimensions),
        cmocka_unit_test(sums_in_shared_memory),
        cmocka_unit_test(warps),
        cmocka_unit_test(atomics),
        cmocka_unit_test(blocks_that_wait),
        cmocka_unit_test(barrier_of_the_grid),
        cmocka_unit_test(barriers_that_count),
        cmocka_unit_test(printed_in_order),
        cmocka_unit_test(bad_ends),
        cmocka_unit_test(stacks),
        cmocka_unit_test(hostile_but_legal),
        cmocka_unit_test(product_of_matrices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
