/* Ledger level 2: times of the device's work, measured on the device. A pair of backend events encloses each operation,
 * so that a copy is not charged for the kernels that it waited for. Together with the host's spans, the times make a
 * timeline (timeline.h), whose gaps become records of idle time. The events cost the host about a microsecond per
 * operation, which the ledger shows as a cost of its own. Below level 2, begin and end do nothing.
 *
 * begin and end take the native stream that the operation is enqueued in. Threads: any that may use the stream. */
#ifndef LE_TIMING_H
#define LE_TIMING_H
#include "device/front/device.h"
#include "device/front/timeline.h"

struct le_timed {
    void *start, *stop; /* events; stop is not recorded yet; NULL: not timed */
};
void le_timing_begin(struct le_device *device, void *native_stream, struct le_timed *timed);
/* what: the name; it is copied. bytes: moved by the operation; 0: none or unknown. */
void le_timing_end(struct le_device *device, void *native_stream, struct le_timed *timed, leat_cost_kind kind,
                   const char *what, uint64_t bytes);
/* Call instead of end if the operation failed. */
void le_timing_drop(struct le_device *device, struct le_timed *timed);
bool le_timing_is_on(struct le_device *device);
/* Charges to the ledger the operations that have ended, and the gaps between them. Returns the sums since the last
 * clear. */
struct le_timeline_sums le_timing_settle(struct le_device *device);
void le_timing_clear(struct le_device *device); /* forgets the timeline; le_ledger_clear clears the records */
void le_timing_free(struct le_device *device);  /* call when all work is done or the device has failed */
#endif
