/* One copy between two layouts, by one driver copy if possible, else by several or by a kernel. The sides are plain
 * addresses; copy.c does ordering and staging. Any thread. */
#ifndef LE_COPY_NATIVE_H
#define LE_COPY_NATIVE_H
#include "device/front/device_state.h"
#include "device/front/strided.h"

struct le_copy_side {
    bool is_host;     /* pinned */
    uint64_t at;      /* a host pointer or a device address */
    uint64_t visible; /* the same address as kernels see it; 0: not accessible to them */
};
/* Whether a kernel would be faster. axes need not be collapsed. */
bool le_copy_wants_kernel(const struct le_axes *axes);
/* kernel: NULL, or used if it is faster and both sides are visible to kernels. */
leat_status le_copy_enqueue(struct le_device *device, void *native_stream, const struct le_axes *axes,
                            struct le_copy_side target, struct le_copy_side source, struct le_device_kernel *kernel);
#endif
