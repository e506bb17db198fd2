/* Compiles CUDA C for a device: takes it from the cache if the source is whole, else compiles it with NVRTC or the
 * simulator's compiler. Any thread. */
#ifndef LE_CUDA_COMPILE_H
#define LE_CUDA_COMPILE_H
#include "device/cuda/cuda_device.h"
#include "device/front/module.h"

/* What the driver loads: a cubin, or PTX if NVRTC does not support the architecture. */
struct le_cuda_image {
    char *bytes; /* from le_alloc */
    size_t size_bytes;
};
/* Fills module->log, ptx and names, and returns the image. LEAT_PROGRAM: the source does not compile. LEAT_UNSUPPORTED:
 * no NVRTC. LEAT_INVALID: an invalid option or name. */
leat_status le_cuda_compile(struct le_cuda_device *cuda, const struct le_module_source *source,
                            struct le_device_module *module, struct le_cuda_image *image);
/* The same with NVRTC, for any architecture, without a device; nothing is cached. exact: LEAT_UNSUPPORTED if NVRTC does
 * not support the architecture, instead of code for the next lower one. */
leat_status le_cuda_compile_for(int capability, bool exact, const struct le_module_source *source,
                                struct le_device_module *module, struct le_cuda_image *image);
#endif
