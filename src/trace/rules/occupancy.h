/* How many thread blocks of a kernel a device can hold at once, from the device's limits and the kernel's resources. */
#ifndef LE_OCCUPANCY_H
#define LE_OCCUPANCY_H
#include "trace/format.h"
#include "trace/index.h"

/* Thread blocks per multiprocessor; 0 if the device's limits are unknown or the kernel does not fit. */
uint32_t le_occupancy_blocks(const struct le_trace_device *device, const struct le_shape *shape);
/* Both return at most 2^30. */
uint64_t le_shape_blocks(const struct le_shape *shape);
uint64_t le_shape_threads(const struct le_shape *shape); /* of one thread block */
#endif
