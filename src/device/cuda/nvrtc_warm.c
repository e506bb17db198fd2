/* See nvrtc_warm.h. */
#include "device/cuda/nvrtc_warm.h"
#include "device/cuda/door.h"
#include "device/cuda/nvrtc_known.h"
#include <signal.h>

/* Something of what kernels have; for which architecture matters little. */
static const char text[] = "extern \"C\" __global__ void warm(double *y, const double *x, long long n) {\n"
                           "    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n"
                           "    if (i < n) y[i] = x[i] / y[i] + sqrt(x[i]);\n"
                           "}\n";

static void *load_and_use(void *unused) {
    static const char *const options[] = {"--gpu-architecture=sm_90", "--std=c++17"};
    const struct le_nvrtc *nvrtc;
    le_nvrtc_program program;
    int version;
    if (le_nvrtc_open(&nvrtc, &version) == LEAT_OK &&
        nvrtc->CreateProgram(&program, text, "warm.cu", 0, NULL, NULL) == LE_NVRTC_SUCCESS) {
        nvrtc->CompileProgram(program, ARRAY_LEN(options), options);
        nvrtc->DestroyProgram(&program);
    }
    return unused;
}

/* Signals are the program's own: no thread of Leat's takes one. */
void le_nvrtc_warm_begin(struct le_nvrtc_warm *warm, struct le_store *store) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    warm->runs =
        !(store && le_nvrtc_is_remembered(store)) && pthread_create(&warm->thread, NULL, load_and_use, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

bool le_nvrtc_warm_end(struct le_nvrtc_warm *warm) {
    if (warm->runs)
        pthread_join(warm->thread, NULL);
    return warm->runs;
}
