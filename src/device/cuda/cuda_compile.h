/* CUDA C to code for a device, by NVRTC or the simulator's. Any thread. */
#ifndef LE_CUDA_COMPILE_H
#define LE_CUDA_COMPILE_H
#include "device/cuda/cuda_device.h"
#include "device/module.h"

/* Compiles source for the device: fills module->log, ptx, names, and gives the image for the driver: a cubin, or, where
 * NVRTC does not know the architecture, the PTX itself. *image is freed with le_free. LEAT_PROGRAM: it does not
 * compile; LEAT_UNSUPPORTED: no NVRTC; LEAT_INVALID: a wrong option or name. */
leat_status le_cuda_compile(struct le_cuda_device *cuda, const struct le_module_source *source,
                            struct le_device_module *module, void **image);
#endif
