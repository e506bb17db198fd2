/* The backend of the host itself: memory is the host's, work is done when the call returns, events are times. It has no
 * CUDA C. Nothing of the vector machine (execute.h) is here: programs reach that directly. Any thread. */
#ifndef LE_CPU_DEVICE_H
#define LE_CPU_DEVICE_H
#include "device/front/device_state.h"

/* Fills device->ops, native and limits. Cannot fail. */
void le_cpu_device_new(struct le_device *device);
#endif
