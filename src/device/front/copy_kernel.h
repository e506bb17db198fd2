/* Kernels that copy between layouts which a single driver copy cannot handle. Compiled at their first use, once per
 * device. Any thread. */
#ifndef LE_COPY_KERNEL_H
#define LE_COPY_KERNEL_H
#include "device/front/device_state.h"
#include "device/front/strided.h"

/* NULL: there is no compiler, or the device is closed. */
struct le_device_kernel *le_copy_kernel(struct le_device *device, size_t element_bytes);
/* target and source: addresses as kernels see them. */
leat_status le_copy_kernel_launch(struct le_device *device, void *native_stream, struct le_device_kernel *kernel,
                                  const struct le_axes *axes, uint64_t target, uint64_t source);
#endif
