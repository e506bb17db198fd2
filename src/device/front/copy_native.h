/* One copy between two layouts as copies of the driver's: one where it can be, else several, or a kernel. Knows sides
 * by their addresses; order and staging are copy.c's. Any thread. */
#ifndef LE_COPY_NATIVE_H
#define LE_COPY_NATIVE_H
#include "device/front/device_state.h"
#include "device/front/strided.h"

struct le_copy_side {
    bool is_host;     /* pinned */
    uint64_t at;      /* a host pointer or a device address */
    uint64_t visible; /* the same as kernels see it; 0: they cannot */
};
/* Would a kernel do it better? axes need not be collapsed. */
bool le_copy_wants_kernel(const struct le_axes *axes);
/* kernel: NULL, or to be used where it is better and both sides are visible. */
leat_status le_copy_enqueue(struct le_device *device, void *native_stream, const struct le_axes *axes,
                            struct le_copy_side target, struct le_copy_side source, struct le_device_kernel *kernel);
#endif
