/* One module with a kernel for each element size. Every thread copies elements in the order of the axes. */
#include "device/front/copy_kernel.h"
#include "base/memory.h"
#include <string.h>

enum { SIZES = 5, THREADS = 256, BLOCKS_MAX = 16384 };

static const char text[] =
    "struct axes { long long count, rank, extent[8], target[8], source[8]; };\n"
    "#define COPY(T, name)                                                                                \\\n"
    "    extern \"C\" __global__ void name(axes x, char *target, const char *source) {                      \\\n"
    "        long long step = (long long)gridDim.x * blockDim.x;                                          \\\n"
    "        for (long long k = (long long)blockIdx.x * blockDim.x + threadIdx.x; k < x.count; k += step) { \\\n"
    "            unsigned long long left = k;                                                             \\\n"
    "            long long t = 0, s = 0;                                                                  \\\n"
    "            for (int a = (int)x.rank - 1; a >= 0; a--) {                                             \\\n"
    "                unsigned long long extent = x.extent[a], next, at;                                   \\\n"
    "                if ((left | extent) >> 32)                                                           \\\n"
    "                    next = left / extent;                                                            \\\n"
    "                else                                                                                 \\\n"
    "                    next = (unsigned)left / (unsigned)extent;                                        \\\n"
    "                at = left - next * extent;                                                           \\\n"
    "                left = next;                                                                         \\\n"
    "                t += (long long)at * x.target[a];                                                    \\\n"
    "                s += (long long)at * x.source[a];                                                    \\\n"
    "            }                                                                                        \\\n"
    "            *(T *)(target + t) = *(const T *)(source + s);                                           \\\n"
    "        }                                                                                            \\\n"
    "    }\n"
    "COPY(unsigned char, copy_1)\n"
    "COPY(unsigned short, copy_2)\n"
    "COPY(unsigned int, copy_4)\n"
    "COPY(unsigned long long, copy_8)\n"
    "struct pair { unsigned long long first, second; };\n"
    "COPY(pair, copy_16)\n";

struct kernel_axes { /* must match the struct in the text */
    int64_t count, rank, extent[LE_AXES_MAX], target[LE_AXES_MAX], source[LE_AXES_MAX];
};

struct le_copy_kernels {
    struct le_device_module *module; /* NULL: compiling it failed */
    struct le_device_kernel *kernels[SIZES];
};

static void free_kernels(struct le_copy_kernels *k) {
    if (k)
        le_device_module_free(k->module);
    le_free(k);
}

static leat_status compile_kernels(struct le_device *device, struct le_copy_kernels *k) {
    static const char *const names[SIZES] = {"copy_1", "copy_2", "copy_4", "copy_8", "copy_16"};
    const struct le_module_source source = {.text = text, .name = "strided copies", .is_whole = true};
    leat_status status = le_device_module_new(device, &source, &k->module);
    for (int n = 0; n < SIZES && !status; n++)
        status = le_device_module_kernel(k->module, names[n], &k->kernels[n]);
    if (status && k->module) {
        le_device_module_free(k->module);
        k->module = NULL;
    }
    return status;
}

/* Threads that race for the first use each compile; one result is kept. */
static struct le_copy_kernels *kernels_of(struct le_device *device) {
    struct le_copy_kernels *kernels = atomic_load(&device->copy_kernels), *none = NULL;
    if (kernels || atomic_load(&device->closed))
        return kernels;
    kernels = le_alloc_zero(1, sizeof *kernels);
    if (!kernels)
        return NULL;
    if (compile_kernels(device, kernels) == LEAT_OUT_OF_MEMORY) { /* may succeed next time */
        free_kernels(kernels);
        return NULL;
    }
    if (atomic_compare_exchange_strong(&device->copy_kernels, &none, kernels))
        return kernels;
    free_kernels(kernels);
    return none;
}

struct le_device_kernel *le_copy_kernel(struct le_device *device, size_t element_bytes) {
    if (!device->ops->module_new)
        return NULL;
    struct le_copy_kernels *kernels = kernels_of(device);
    if (!kernels || !kernels->module)
        return NULL;
    return kernels->kernels[__builtin_ctzll(element_bytes)];
}

leat_status le_copy_kernel_launch(struct le_device *device, void *native_stream, struct le_device_kernel *kernel,
                                  const struct le_axes *axes, uint64_t target, uint64_t source) {
    struct kernel_axes x = {.count = le_axes_count(axes), .rank = axes->rank};
    memcpy(x.extent, axes->extent, sizeof x.extent);
    memcpy(x.target, axes->target, sizeof x.target);
    memcpy(x.source, axes->source, sizeof x.source);
    int64_t blocks = (x.count + THREADS - 1) / THREADS;
    const struct le_kernel_launch launch = {.grid = {(unsigned)(blocks < BLOCKS_MAX ? blocks : BLOCKS_MAX), 1, 1},
                                            .block = {THREADS, 1, 1}};
    void *parameters[] = {&x, &target, &source};
    return device->ops->launch(device->native, native_stream, kernel, &launch, parameters);
}

void le_copy_kernels_close(struct le_device *device) {
    free_kernels(atomic_exchange(&device->copy_kernels, NULL));
}
