/* Divides each of several arrays by its sum: copies it to the device, runs three kernels, and copies it back. In one
 * stream, each operation waits for the previous one. With one stream per array, copies to the device, kernels and
 * copies back overlap. Leat finds out which operations must wait for which others: the only two events in this program
 * measure the time.
 *
 * After installing Leat (see the README), build and run it in this folder:
 *
 *     cc -O2 normalise.c -o normalise $(pkg-config --cflags --libs leat) -lm
 *     ./normalise [device=auto|cuda|sim] [arrays=10] [n=10000000] [memory=pinned|host] [repeat=5] [folder=.]
 *
 * folder is where normalise.cu is; by default the current folder, then examples/cuda. On sim, the simulated device, use
 * a small n, such as 10000.
 *
 * Prints, for one stream and for one stream per array, the best time of all arrays, from the first byte copied to the
 * device to the last byte copied back, on the device's clock, and the rate in bytes per second. */
#include "example.h"
#include <math.h>

enum { THREADS = 256, BLOCKS = 512, ARRAYS_MAX = 64 };

struct work {
    leat_context *ctx;
    leat_kernel *partial_sums, *total, *divide;
    int arrays, streams;
    uint32_t n;
    leat_stream *stream[ARRAYS_MAX];
    leat_array *host[ARRAYS_MAX], *x[ARRAYS_MAX], *partials[ARRAYS_MAX];
    leat_event *start, *stop, *done[ARRAYS_MAX];
};

static void fill(struct work *work) {
    for (int k = 0; k < work->arrays; k++) {
        leat_description d;
        must(leat_array_get(work->host[k], &d));
        for (uint32_t i = 0; i < work->n; i++)
            ((float *)d.data)[i] = (float)(i % 7 + (uint32_t)k);
    }
}

static void enqueue(struct work *work, int k) {
    leat_stream *stream = work->stream[k % work->streams];
    leat_dim3 one = {1, 1, 1}, threads = {THREADS, 1, 1}, blocks = {BLOCKS, 1, 1};
    leat_argument sums[] = {leat_in(work->x[k]), leat_out(work->partials[k]), leat_u32(work->n)};
    leat_argument sum[] = {leat_inout(work->partials[k]), leat_u32(BLOCKS)};
    leat_argument quotients[] = {leat_inout(work->x[k]), leat_in(work->partials[k]), leat_u32(work->n)};
    leat_ticket ticket; /* passed so that the call does not wait */
    must(leat_array_copy(work->x[k], work->host[k], stream, &ticket));
    must(leat_kernel_launch(work->partial_sums, blocks, threads, 0, stream, sums, 3));
    must(leat_kernel_launch(work->total, one, one, 0, stream, sum, 2));
    must(leat_kernel_launch(work->divide, blocks, threads, 0, stream, quotients, 3));
    must(leat_array_copy(work->host[k], work->x[k], stream, &ticket));
}

static double run_ms(struct work *work) {
    double elapsed_ms;
    fill(work);
    must(leat_event_record(work->start, work->stream[0]));
    for (int s = 1; s < work->streams; s++)
        must(leat_stream_wait_event(work->stream[s], work->start));
    for (int k = 0; k < work->arrays; k++)
        enqueue(work, k);
    for (int s = 1; s < work->streams; s++) {
        must(leat_event_record(work->done[s], work->stream[s]));
        must(leat_stream_wait_event(work->stream[0], work->done[s]));
    }
    must(leat_event_record(work->stop, work->stream[0]));
    must(leat_event_elapsed_ms(work->start, work->stop, &elapsed_ms));
    must(leat_context_synchronize(work->ctx));
    return elapsed_ms;
}

/* Sums in double; each array should sum to 1. */
static double worst_sum(struct work *work) {
    double worst = 1;
    for (int k = 0; k < work->arrays; k++) {
        leat_description d;
        double sum = 0;
        must(leat_array_get(work->host[k], &d));
        for (uint32_t i = 0; i < work->n; i++)
            sum += (double)((float *)d.data)[i];
        if (fabs(sum - 1) > fabs(worst - 1) || k == 0)
            worst = sum;
    }
    return worst;
}

static void make(struct work *work, leat_memory memory) {
    const int64_t shape[] = {work->n}, few[] = {BLOCKS};
    must(leat_event_new(work->ctx, &work->start));
    must(leat_event_new(work->ctx, &work->stop));
    for (int k = 0; k < work->arrays; k++) {
        must(leat_stream_new(work->ctx, &work->stream[k]));
        must(leat_event_new(work->ctx, &work->done[k]));
        must(leat_array_new(work->ctx, LEAT_F32, 1, shape, memory, &work->host[k]));
        must(leat_array_new(work->ctx, LEAT_F32, 1, shape, LEAT_MEMORY_DEVICE, &work->x[k]));
        must(leat_array_new(work->ctx, LEAT_F32, 1, few, LEAT_MEMORY_DEVICE, &work->partials[k]));
    }
}

static void free_all(struct work *work) {
    for (int k = 0; k < work->arrays; k++) {
        leat_array_free(work->host[k]);
        leat_array_free(work->x[k]);
        leat_array_free(work->partials[k]);
        leat_event_free(work->done[k]);
        leat_stream_free(work->stream[k]);
    }
    leat_event_free(work->start);
    leat_event_free(work->stop);
}

int main(int argc, char **argv) {
    static const char *const names[] = {"device", "arrays", "n", "memory", "repeat", "folder", NULL};
    check_arguments(argc, argv,
                    "[device=auto|cuda|sim] [arrays=10] [n=10000000] [memory=pinned|host] [repeat=5] [folder=.]",
                    names);
    struct work work = {.arrays = atoi(option(argc, argv, "arrays", "10")),
                        .n = (uint32_t)atoi(option(argc, argv, "n", "10000000"))};
    const char *memory = option(argc, argv, "memory", "pinned");
    int repeats = atoi(option(argc, argv, "repeat", "5"));
    if (work.arrays < 1 || work.arrays > ARRAYS_MAX || work.n < 1 || repeats < 1) {
        fprintf(stderr, "arrays: 1 to %d; n and repeat: at least 1\n", ARRAYS_MAX);
        return 2;
    }
    work.ctx = open_device(option(argc, argv, "device", "auto"));
    leat_module *module = load_module(work.ctx, option(argc, argv, "folder", NULL), "normalise.cu");
    work.partial_sums = find_kernel(module, "partial_sums");
    work.total = find_kernel(module, "total");
    work.divide = find_kernel(module, "divide");
    make(&work, strcmp(memory, "pinned") == 0 ? LEAT_MEMORY_PINNED : LEAT_MEMORY_HOST);
    for (int turn = 0; turn < 2; turn++) {
        work.streams = turn ? work.arrays : 1;
        double best_ms = INFINITY;
        for (int r = 0; r < repeats + 1; r++) { /* the first one includes costs of the first use */
            double elapsed_ms = run_ms(&work);
            best_ms = r && elapsed_ms < best_ms ? elapsed_ms : best_ms;
        }
        printf("%2d arrays of %u, %s memory, %2d streams: %8.3f ms, %6.1f GB/s, sums to %.4f\n", work.arrays, work.n,
               memory, work.streams, best_ms, 8e-6 * work.arrays * work.n / best_ms, worst_sum(&work));
    }
    free_all(&work);
    leat_module_free(module);
    leat_close(work.ctx);
    return 0;
}
