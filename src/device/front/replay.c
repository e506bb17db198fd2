/* Launches that are given again and again are kept, as the backend can: on CUDA devices as a graph of one kernel, which
 * the host launches in half the time, with other parameters, too: 1.8 and 2.0 us where a kernel takes 3.8 (one H200,
 * driver 580). Which launches those are is decided here.
 *
 * To make one takes as long as eleven launches save (22 us; a process's first 0.2 ms) and 110 KB of the device's
 * memory. What has more threads than the device runs at one time is not kept: its kernel takes longer than its launch,
 * and a little longer still in a graph (of 262,144 threads 2.7 us for 4.1, of 524,288 4.4 for 4.1). A launch of a graph
 * comes after all earlier ones of it, in whatever stream, so each stream has a graph of its own. Streams of another
 * library, which may be capturing what they are given, get none. */
#include "device/front/module.h"

enum {
    LAUNCHES_BEFORE = 32, /* it is kept, and before that is tried again */
    REPLAYS_MAX = 64      /* of a device: 7 MB */
};

static uint64_t volume(const unsigned extents[3]) {
    return (uint64_t)extents[0] * extents[1] * extents[2];
}

static bool may_replay(const struct le_device *device, const struct le_kernel_launch *launch,
                       const struct le_device_stream *stream) {
    uint64_t most = (uint64_t)device->limits.multiprocessors * (uint64_t)device->limits.multiprocessor_threads;
    return device->ops->replay_new && !launch->cooperative && !stream->foreign &&
           volume(launch->grid) <= most / volume(launch->block);
}

static bool take_slot(struct le_device *device) {
    int taken = atomic_load(&device->replay_count);
    while (taken < REPLAYS_MAX && !atomic_compare_exchange_weak(&device->replay_count, &taken, taken + 1))
        ;
    return taken < REPLAYS_MAX;
}

/* That it cannot be made is nobody's to know; a device that fails tells it at the launch. */
static void make_replay(struct le_device_kernel *kernel, const struct le_kernel_launch *launch, void **parameters) {
    struct le_device *device = kernel->module->device;
    struct le_device_span span;
    if (!take_slot(device))
        return;
    le_device_span_begin(device, &span, LEAT_COST_PLAN, kernel->name, "a graph: it is launched again and again");
    le_errors_save();
    if (device->ops->replay_new(device->native, kernel, launch, parameters, &launch->replay->native))
        atomic_fetch_sub(&device->replay_count, 1);
    le_errors_restore();
    le_device_span_end(&span, 0);
}

bool le_replay_prepare(struct le_device_kernel *kernel, const struct le_kernel_launch *launch,
                       const struct le_device_stream *stream, void **parameters) {
    struct le_replay *replay = launch->replay;
    if (!may_replay(kernel->module->device, launch, stream))
        return false;
    if (replay->kernel != kernel || replay->stream_id != stream->id) {
        le_replay_finish(replay);
        *replay = (struct le_replay){.kernel = kernel, .stream_id = stream->id};
    }
    if (!replay->native && replay->launches++ >= LAUNCHES_BEFORE) {
        replay->launches = 0;
        make_replay(kernel, launch, parameters);
    }
    return replay->native != NULL;
}

leat_status le_replay_launch(struct le_device_kernel *kernel, const struct le_kernel_launch *launch,
                             const struct le_device_stream *stream, void **parameters) {
    struct le_device *device = kernel->module->device;
    struct le_replay *replay = launch->replay;
    leat_status status =
        device->ops->replay_launch(device->native, stream->native, kernel, launch, parameters, replay->native);
    if (status == LEAT_OK || atomic_load(&device->failed))
        return status;
    le_replay_finish(replay);
    le_errors_clear();
    return device->ops->launch(device->native, stream->native, kernel, launch, parameters);
}

void le_replay_finish(struct le_replay *replay) {
    struct le_device *device = replay->kernel ? replay->kernel->module->device : NULL;
    if (replay->native && !le_device_forked(device)) {
        device->ops->replay_free(device->native, replay->native);
        atomic_fetch_sub(&device->replay_count, 1);
    }
    *replay = (struct le_replay){0};
}
