/* See nvrtc_preload.h. */
#include "device/cuda/nvrtc_preload.h"
#include "base/memory.h"
#include "device/cuda/cuda_libraries.h"
#include "device/cuda/nvrtc_identity.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

static atomic_bool is_used;

struct le_nvrtc_warm {
    pthread_t thread;
    atomic_bool is_cancelled; /* a real compilation is about to start */
};

/* Uses typical features of kernels. The architecture hardly matters. */
static const char text[] = "extern \"C\" __global__ void warm(double *y, const double *x, long long n) {\n"
                           "    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n"
                           "    if (i < n) y[i] = x[i] / y[i] + sqrt(x[i]);\n"
                           "}\n";

static void compile_once(const struct le_nvrtc *nvrtc) {
    static const char *const options[] = {"--gpu-architecture=sm_90", "--std=c++17"};
    le_nvrtc_program program;
    if (nvrtc->CreateProgram(&program, text, "warm.cu", 0, NULL, NULL) != LE_NVRTC_SUCCESS)
        return;
    if (nvrtc->CompileProgram(program, ARRAY_LEN(options), options) == LE_NVRTC_SUCCESS)
        le_nvrtc_note_used();
    nvrtc->DestroyProgram(&program);
}

static void *load_and_use(void *user) {
    struct le_nvrtc_warm *warm = user;
    const struct le_nvrtc *nvrtc;
    int version;
    if (le_nvrtc_open(&nvrtc, &version) == LEAT_OK && !atomic_load(&warm->is_cancelled))
        compile_once(nvrtc);
    return NULL;
}

void le_nvrtc_note_used(void) {
    atomic_store_explicit(&is_used, true, memory_order_relaxed);
}

void le_nvrtc_use_once(const struct le_nvrtc *nvrtc) {
    if (!atomic_load_explicit(&is_used, memory_order_relaxed))
        compile_once(nvrtc);
}

/* Blocks all signals in the thread: they are for the program's own threads. */
struct le_nvrtc_warm *le_nvrtc_warm_begin(struct le_store *store) {
    sigset_t all, before;
    struct le_nvrtc_warm *warm = store && le_nvrtc_is_remembered(store) ? NULL : le_alloc_zero(1, sizeof *warm);
    if (!warm)
        return NULL;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool runs = pthread_create(&warm->thread, NULL, load_and_use, warm) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (runs)
        return warm;
    le_free(warm);
    return NULL;
}

void le_nvrtc_warm_cancel(struct le_nvrtc_warm *warm) {
    if (warm)
        atomic_store(&warm->is_cancelled, true);
}

void le_nvrtc_warm_end(struct le_nvrtc_warm **warm) {
    if (!*warm)
        return;
    le_nvrtc_warm_cancel(*warm);
    pthread_join((*warm)->thread, NULL);
    le_free(*warm);
    *warm = NULL;
}
