/* How fast a CUDA device is, measured through its front door, with sizes that keep it short: about 20 ms besides
 * opening the device, which is done here and undone. Any thread; two at once would measure each other. */
#ifndef LE_DEVICE_RATES_H
#define LE_DEVICE_RATES_H
#include "base/status.h"

struct le_device_rates {                                       /* 0: not measured */
    double copy_bytes_per_second;                              /* in its memory, bytes read plus bytes written */
    double upload_bytes_per_second, download_bytes_per_second; /* from and to pinned memory */
    double launch_ns, round_trip_ns; /* an empty kernel: each of many, enqueued; one, with a wait */
};
/* device: "cuda:1". Where there is no NVRTC launches are not measured. */
leat_status le_device_rates_measure(const char *device, struct le_device_rates *gauge);
#endif
