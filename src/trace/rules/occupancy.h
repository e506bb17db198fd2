/* How many blocks of a kernel a device holds at once, from its limits and what the kernel takes. */
#ifndef LE_OCCUPANCY_H
#define LE_OCCUPANCY_H
#include "trace/format.h"
#include "trace/index.h"

/* Of one multiprocessor; 0: the device's limits are not known, or the kernel does not fit. */
uint32_t le_occupancy_blocks(const struct le_trace_device *device, const struct le_shape *shape);
/* At most 2^30 each. */
uint64_t le_shape_blocks(const struct le_shape *shape);
uint64_t le_shape_threads(const struct le_shape *shape); /* of a block */
#endif
