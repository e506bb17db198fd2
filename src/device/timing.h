/* The ledger's level 2: the device's own times of its work, by a pair of the backend's events around each operation, so
 * that a copy is not blamed for the kernels that it waited for. The events cost the host about a microsecond an
 * operation, which the ledger shows as a cost of its own. Below level 2 begin and end do nothing.
 *
 * begin and end take the native stream that the operation goes to: any thread, the stream's owner. */
#ifndef LE_TIMING_H
#define LE_TIMING_H
#include "device/device.h"

struct le_timed {
    void *start, *stop; /* events, the second not recorded yet; NULL: not timed */
};
void le_timing_begin(struct le_device *device, void *native_stream, struct le_timed *timed);
/* what is copied. bytes: that it moved; 0: none or not known. */
void le_timing_end(struct le_device *device, void *native_stream, struct le_timed *timed, leat_cost_kind kind,
                   const char *what, uint64_t bytes);
/* Instead of end, where the operation failed. */
void le_timing_drop(struct le_device *device, struct le_timed *timed);
bool le_timing_is_on(struct le_device *device);
/* Enters into the ledger what has ended by now. */
void le_timing_collect(struct le_device *device);
void le_timing_free(struct le_device *device); /* all work is done, or the device has failed */
#endif
