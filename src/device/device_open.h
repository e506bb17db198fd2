/* Opens a device by name. This is the only part of the front door that knows the backends. */
#ifndef LE_DEVICE_OPEN_H
#define LE_DEVICE_OPEN_H
#include "device/front/device.h"

/* name: "cpu", "cpu:0", "cuda", "cuda:N" or "sim". options may be NULL. Fails with LEAT_DEVICE if there is no such
 * device or it cannot be used. */
leat_status le_device_open(const char *name, const struct le_device_options *options, struct le_device **device);
/* Whether the name has one of these forms; the device need not exist. */
bool le_device_is_name(const char *name);
#endif
