/* Why does the copy back take so long? Launches a tiled matrix product 1, 100, 1,000 and 3,000 times and copies its
 * result back. It times this in two ways: with the host's clock around the launches and around the copy, and with
 * Leat's ledger, which uses events on the device. docs/TIMING.md explains the output.
 *
 * After installing Leat (see the README), build and run it in this folder:
 *
 *     cc -O2 matmul.c -o matmul $(pkg-config --cflags --libs leat) -lm
 *     ./matmul [device=auto|cuda|sim] [n=512] [folder=.]
 *
 * folder is where matmul.cu is; by default the current folder, then examples/cuda. */
#include "example.h"
#include <math.h>

enum { TILE = 8 };

struct product {
    leat_context *ctx;
    leat_kernel *kernel;
    int n;
    leat_array *a, *b, *c;
    float *values;
    size_t size_bytes;
};

static uint64_t now_ns(leat_context *ctx) {
    uint64_t time_ns;
    must(leat_ledger_clock(ctx, &time_ns)); /* the host's clock; on sim, its virtual one */
    return time_ns;
}

static double cost_ms(leat_context *ctx, leat_cost_kind kind, bool on_device) {
    size_t count;
    double sum_ms = 0;
    must(leat_ledger_count(ctx, &count));
    for (size_t k = 0; k < count; k++) {
        leat_cost cost;
        must(leat_ledger_get(ctx, k, &cost));
        if (cost.kind == kind && cost.on_device == on_device)
            sum_ms += (double)cost.time_ns * 1e-6;
    }
    return sum_ms;
}

static void launch(struct product *p, int times) {
    leat_dim3 block = {TILE, TILE, 1}, grid = {(unsigned)p->n / TILE, (unsigned)p->n / TILE, 1};
    leat_argument arguments[] = {leat_in(p->a), leat_in(p->b), leat_out(p->c), leat_i32(p->n)};
    for (int k = 0; k < times; k++)
        must(leat_kernel_launch(p->kernel, grid, block, 0, NULL, arguments, 4));
}

static void time_both_ways(struct product *p, int times) {
    must(leat_ledger_level_set(p->ctx, 1));
    must(leat_context_synchronize(p->ctx));
    uint64_t start_ns = now_ns(p->ctx);
    launch(p, times);
    uint64_t launched_ns = now_ns(p->ctx);
    must(leat_array_read(p->c, p->values, p->size_bytes, NULL, NULL));
    uint64_t copied_ns = now_ns(p->ctx);

    must(leat_ledger_level_set(p->ctx, 2));
    must(leat_ledger_clear(p->ctx));
    launch(p, times);
    must(leat_array_read(p->c, p->values, p->size_bytes, NULL, NULL));
    must(leat_context_synchronize(p->ctx));
    printf("%8d %14.3f %14.3f %14.3f %14.3f\n", times, (double)(launched_ns - start_ns) * 1e-6,
           (double)(copied_ns - launched_ns) * 1e-6, cost_ms(p->ctx, LEAT_COST_KERNEL, true),
           cost_ms(p->ctx, LEAT_COST_DOWNLOAD, true));
}

/* Compares every element of c with a sum in double. */
static double worst_error(const struct product *p, const float *a, const float *b) {
    double worst = 0;
    for (int i = 0; i < p->n; i++)
        for (int j = 0; j < p->n; j++) {
            double sum = 0;
            for (int k = 0; k < p->n; k++)
                sum += (double)a[i * p->n + k] * (double)b[k * p->n + j];
            worst = fmax(worst, fabs(sum - (double)p->values[i * p->n + j]));
        }
    return worst;
}

int main(int argc, char **argv) {
    static const char *const names[] = {"device", "n", "folder", NULL};
    check_arguments(argc, argv, "[device=auto|cuda|sim] [n=512] [folder=.]", names);
    static const int times[] = {1, 100, 1000, 3000};
    struct product p = {.n = atoi(option(argc, argv, "n", "512"))};
    if (p.n < TILE || p.n % TILE || p.n > 8192) {
        fprintf(stderr, "n: a multiple of %d, up to 8192\n", TILE);
        return 2;
    }
    p.ctx = open_device(option(argc, argv, "device", "auto"));
    leat_module *module = load_module(p.ctx, option(argc, argv, "folder", NULL), "matmul.cu");
    p.kernel = find_kernel(module, "matmul");
    const int64_t shape[] = {p.n, p.n};
    size_t count = (size_t)p.n * (size_t)p.n;
    p.size_bytes = count * sizeof(float);
    float *a = malloc(p.size_bytes), *b = malloc(p.size_bytes);
    p.values = malloc(p.size_bytes);
    for (size_t k = 0; k < count; k++) {
        a[k] = (float)(k % 11) - 5;
        b[k] = (float)(k % 13) - 6;
    }
    must(leat_array_new(p.ctx, LEAT_F32, 2, shape, LEAT_MEMORY_DEVICE, &p.a));
    must(leat_array_new(p.ctx, LEAT_F32, 2, shape, LEAT_MEMORY_DEVICE, &p.b));
    must(leat_array_new(p.ctx, LEAT_F32, 2, shape, LEAT_MEMORY_DEVICE, &p.c));
    must(leat_array_write(p.a, a, p.size_bytes, NULL, NULL));
    must(leat_array_write(p.b, b, p.size_bytes, NULL, NULL));
    launch(&p, 1); /* so that costs of the first use are not measured */
    printf("product of two %d x %d matrices; ms\n", p.n, p.n);
    printf("%8s %14s %14s %14s %14s\n", "launches", "host: launch", "host: copy", "device: kernel", "device: copy");
    for (size_t k = 0; k < sizeof times / sizeof *times; k++)
        time_both_ways(&p, times[k]);
    printf("largest error %g\n", worst_error(&p, a, b));
    free(a);
    free(b);
    free(p.values);
    leat_array_free(p.a);
    leat_array_free(p.b);
    leat_array_free(p.c);
    leat_module_free(module);
    leat_close(p.ctx);
    return 0;
}
