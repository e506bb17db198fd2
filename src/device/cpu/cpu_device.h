/* The backend for the host itself. Memory is host memory, work is done when the call returns, and events are times. It
 * does not run CUDA C. The vector machine (execute.h) is not part of it; programs use that directly. Any thread. */
#ifndef LE_CPU_DEVICE_H
#define LE_CPU_DEVICE_H
#include "device/front/device_state.h"

/* Fills device->ops, native and limits. Cannot fail. */
void le_cpu_device_new(struct le_device *device);
#endif
