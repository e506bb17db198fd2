/* Measures the speed of a CUDA device through the public device functions. It opens the device, measures for about 20
 * ms, and closes it. Callable from any thread, but two concurrent measurements disturb each other. */
#ifndef LE_DEVICE_RATES_H
#define LE_DEVICE_RATES_H
#include "base/status.h"

struct le_device_rates {                                       /* 0: not measured */
    double copy_bytes_per_second;                              /* within device memory: bytes read plus bytes written */
    double upload_bytes_per_second, download_bytes_per_second; /* from and to pinned memory */
    double launch_ns, round_trip_ns; /* an empty kernel: average time to enqueue one; time to launch one and wait */
};
/* device: a name such as "cuda:1". Launches are measured only if NVRTC is available. */
leat_status le_device_rates_measure(const char *device, struct le_device_rates *gauge);
#endif
