/* Where a device's time went: the union of what it did, and what the host did while it did nothing. Two sums close to
 * the nanosecond: wall = busy + idle, and idle = the sum of its causes. */
#ifndef LE_DEVICE_TIME_H
#define LE_DEVICE_TIME_H
#include "base/arena.h"
#include "trace/index.h"

/* What the host did: the processes that use the device, which have a context or work on it; of several threads the
 * first in this order. */
enum le_host_state {
    LE_HOST_PAUSED,     /* none of these processes was recorded: paused, not begun or ended */
    LE_HOST_COMPILING,  /* or loading code */
    LE_HOST_LAUNCHING,  /* kernels and graphs, or building graphs */
    LE_HOST_COPYING,    /* in a call that copies or sets */
    LE_HOST_ALLOCATING, /* or releasing, or page-locking */
    LE_HOST_STARTING,   /* CUDA, contexts */
    LE_HOST_CALLING,    /* another call */
    LE_HOST_WAITING,    /* for the device */
    LE_HOST_OTHER,      /* in no call: the program's other code */
    LE_HOST_STATES
};
const char *le_host_state_name(enum le_host_state state); /* "launching kernels" */
enum le_host_state le_host_state_of(enum le_call_kind kind);

struct le_device_time {
    uint64_t wall_ns, busy_ns, idle_ns;
    uint64_t kernel_ns, copy_ns, both_ns; /* unions, kernels with whole graphs, copies with sets; both at once */
    uint64_t host_ns[LE_HOST_STATES];     /* of idle_ns */
    uint64_t gaps;
};
/* Told from first to last, without holes: what the device and the host did from start to end. */
struct le_device_moment {
    uint64_t start_ns, end_ns;
    bool kernels, copies;
    enum le_host_state host;
};
typedef void le_device_moment_take(void *user, const struct le_device_moment *moment);
/* device: a position in the index. Memory is the arena's. */
void le_device_time_walk(const struct le_trace_index *index, int32_t device, struct le_arena *arena,
                         le_device_moment_take *take, void *user);
void le_device_time_find(const struct le_trace_index *index, int32_t device, struct le_arena *arena,
                         struct le_device_time *time);
#endif
