/* Launches that are given again and again are kept, as the backend can: on CUDA devices as a graph of one kernel, which
 * the host launches in half the time, with other parameters, too: 1.8 and 2.0 us for 3.8 us (H200, driver 580). Which
 * launches those are is decided here.
 *
 * To make one takes as long as eleven launches save (22 us; a process's first 0.2 ms) and 110 KB of the device's
 * memory. What has more threads than the device runs at one time is not kept: its kernel takes longer than its launch,
 * and a little longer still in a graph (of 262,144 threads 2.7 us for 4.1, of 524,288 4.4 for 4.1). Launches of one
 * graph never run at one time, so each stream that it is launched in begins anew; streams of another library, which may
 * be capturing what they are given, get none. */
#include "device/module.h"

enum {
    LAUNCHES_BEFORE = 32, /* it is kept */
    REPLAYS_MAX = 64      /* of a device: 7 MB */
};

static uint64_t product(const unsigned extents[3]) {
    return (uint64_t)extents[0] * extents[1] * extents[2];
}

static bool may_be_kept(const struct le_device *device, const struct le_kernel_launch *launch,
                        const struct le_device_stream *stream) {
    uint64_t threads = product(launch->grid) * product(launch->block);
    uint64_t most = (uint64_t)device->limits.multiprocessors * (uint64_t)device->limits.multiprocessor_threads;
    return device->ops->replay_new && !launch->cooperative && !stream->foreign && threads <= most;
}

static bool take_place(struct le_device *device) {
    if (atomic_fetch_add(&device->replay_count, 1) < REPLAYS_MAX)
        return true;
    atomic_fetch_sub(&device->replay_count, 1);
    return false;
}

/* What fails here is nobody's to know: the launch is given as if it were once. */
static bool make(struct le_device_kernel *kernel, const struct le_kernel_launch *launch, void **parameters) {
    struct le_device *device = kernel->module->device;
    struct le_device_span span;
    if (!take_place(device))
        return false;
    le_device_span_begin(device, &span, LEAT_COST_PLAN, kernel->name, "a graph: it is launched again and again");
    le_errors_keep();
    leat_status status = device->ops->replay_new(device->native, kernel, launch, parameters, &launch->replay->kept);
    le_errors_restore();
    le_device_span_end(&span, 0);
    if (status)
        atomic_fetch_sub(&device->replay_count, 1);
    return status == LEAT_OK;
}

/* Notes one more launch. */
static bool is_ready(struct le_device_kernel *kernel, const struct le_kernel_launch *launch,
                     const struct le_device_stream *stream, void **parameters) {
    struct le_replay *replay = launch->replay;
    if (replay->refused || !may_be_kept(kernel->module->device, launch, stream))
        return false;
    if (replay->kernel != kernel) {
        le_replay_free(replay);
        replay->kernel = kernel;
    }
    if (replay->stream_id != stream->id) {
        replay->stream_id = stream->id;
        replay->launches = 0;
    }
    if (replay->launches < LAUNCHES_BEFORE) {
        replay->launches++;
        return false;
    }
    if (!replay->kept)
        replay->refused = !make(kernel, launch, parameters);
    return replay->kept != NULL;
}

bool le_replay_launch(struct le_device_kernel *kernel, const struct le_kernel_launch *launch,
                      const struct le_device_stream *stream, void **parameters) {
    struct le_device *device = kernel->module->device;
    if (!is_ready(kernel, launch, stream, parameters))
        return false;
    le_errors_keep();
    leat_status status =
        device->ops->replay_launch(device->native, stream->native, kernel, launch, parameters, launch->replay->kept);
    le_errors_restore();
    if (status) {
        le_replay_free(launch->replay);
        launch->replay->refused = true;
    }
    return status == LEAT_OK;
}

void le_replay_free(struct le_replay *replay) {
    struct le_device *device = replay->kernel ? replay->kernel->module->device : NULL;
    if (replay->kept && !le_device_forked(device)) {
        device->ops->replay_free(device->native, replay->kept);
        atomic_fetch_sub(&device->replay_count, 1);
    }
    *replay = (struct le_replay){0};
}
