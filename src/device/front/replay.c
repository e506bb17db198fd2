/* Repeated launches. The backend may turn a launch that one thread repeats into an object that launches faster. On CUDA
 * devices it is a graph of one kernel, also for changed parameters: the host needs 1.8 to 2.0 us instead of 3.8 us per
 * launch (one H200, driver 580). This file decides which launches to turn into graphs.
 *
 * Creating one costs as much as eleven launches save (22 us; 0.2 ms for the first in a process), and 110 KB of device
 * memory. Launches with more threads than the device runs at one time are left alone: their kernel takes longer than
 * the launch, and slightly longer still in a graph (262,144 threads: 2.7 instead of 4.1 us; 524,288 threads: 4.4
 * instead of 4.1 us). A graph's launch comes after its own earlier launches, whatever the stream, so each stream has
 * graphs of its own. While another library captures its stream, a backend launches the kernel itself. */
#include "device/front/module.h"

enum {
    LAUNCHES_BEFORE = 32, /* launches before a graph is created, and between attempts */
    REPLAYS_MAX = 64      /* graphs per device: 7 MB */
};

static uint64_t volume(const unsigned extents[3]) {
    return (uint64_t)extents[0] * extents[1] * extents[2];
}

static bool may_replay(const struct le_device *device, const struct le_kernel_launch *launch) {
    uint64_t most = (uint64_t)device->limits.multiprocessors * (uint64_t)device->limits.multiprocessor_threads;
    return device->ops->replay_new && !launch->cooperative && volume(launch->grid) <= most / volume(launch->block);
}

static bool take_slot(struct le_device *device) {
    int taken = atomic_load(&device->replay_count);
    while (taken < REPLAYS_MAX && !atomic_compare_exchange_weak(&device->replay_count, &taken, taken + 1))
        ;
    return taken < REPLAYS_MAX;
}

/* A failure is not reported: the ordinary launch goes on, and reports a device that has failed. */
static void make_replay(struct le_device_kernel *kernel, const struct le_kernel_launch *launch, void **parameters) {
    struct le_device *device = kernel->module->device;
    struct le_device_span span;
    if (!take_slot(device))
        return;
    le_device_span_begin(device, &span, LEAT_COST_PLAN, kernel->name, "a graph, for repeated launches");
    le_errors_save();
    if (device->ops->replay_new(device->native, kernel, launch, parameters, &launch->replay->native))
        atomic_fetch_sub(&device->replay_count, 1);
    le_errors_restore();
    le_device_span_end(&span, 0);
}

bool le_replay_prepare(struct le_device_kernel *kernel, const struct le_kernel_launch *launch,
                       const struct le_device_stream *stream, void **parameters) {
    struct le_replay *replay = launch->replay;
    if (!may_replay(kernel->module->device, launch))
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
    leat_status status = device->ops->replay_launch(device->native, stream->native, stream->foreign, kernel, launch,
                                                    parameters, replay->native);
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
