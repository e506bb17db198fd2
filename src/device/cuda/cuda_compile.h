/* CUDA C to code for a device: found in the device's store where the source is whole, else compiled by NVRTC or the
 * simulator's. Any thread. */
#ifndef LE_CUDA_COMPILE_H
#define LE_CUDA_COMPILE_H
#include "device/cuda/cuda_device.h"
#include "device/front/module.h"

/* For the driver: a cubin, or, where NVRTC does not know the architecture, the PTX itself. */
struct le_cuda_image {
    char *bytes; /* from le_alloc */
    size_t size_bytes;
};
/* Fills module->log, ptx and names, and gives the image. LEAT_PROGRAM: it does not compile; LEAT_UNSUPPORTED: no NVRTC;
 * LEAT_INVALID: a wrong option or name. */
leat_status le_cuda_compile(struct le_cuda_device *cuda, const struct le_module_source *source,
                            struct le_device_module *module, struct le_cuda_image *image);
/* The same by NVRTC for an architecture of which no device need be here; nothing is kept. exact: LEAT_UNSUPPORTED where
 * NVRTC does not know it, instead of code for the next one below. */
leat_status le_cuda_compile_for(int capability, bool exact, const struct le_module_source *source,
                                struct le_device_module *module, struct le_cuda_image *image);
#endif
