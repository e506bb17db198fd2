/* See device_rates.h. Opening a device takes a third of a second, and NVRTC's first compilation a tenth of that, so a
 * thread warms NVRTC up while the device is opened. */
#include "run/device_rates.h"
#include "device/cuda/cuda_libraries.h"
#include "device/device_open.h"
#include <pthread.h>

#define INSIDE_BYTES ((size_t)128 << 20) /* more than the caches of any device hold */
#define PINNED_BYTES ((size_t)16 << 20)  /* pinning takes 0.3 ms a MiB */
#define COPIES       4
#define LAUNCHES     256 /* far fewer than a queue holds before it blocks: 1,021 */
#define ROUND_TRIPS  32

/* ---- copies */

struct measurement {
    struct le_device *device;
    struct le_device_event *start, *stop;
    struct le_allocation *inside[2], *pinned;
};

static leat_status set_up(struct measurement *measurement) {
    struct le_device *device = measurement->device;
    leat_status status = le_device_event_new(device, &measurement->start);
    if (!status)
        status = le_device_event_new(device, &measurement->stop);
    for (int k = 0; k < 2 && !status; k++)
        status = le_allocation_new(device, LE_MEMORY_DEVICE, INSIDE_BYTES, NULL, &measurement->inside[k]);
    if (!status)
        status = le_allocation_new(device, LE_MEMORY_PINNED, PINNED_BYTES, NULL, &measurement->pinned);
    for (int k = 0; k < 2 && !status; k++)
        status = le_device_fill_zero(le_device_stream_own(device), measurement->inside[k], INSIDE_BYTES);
    return status;
}

static void take_down(struct measurement *measurement) {
    le_allocation_free(measurement->inside[0]);
    le_allocation_free(measurement->inside[1]);
    le_allocation_free(measurement->pinned);
    le_device_event_free(measurement->start);
    le_device_event_free(measurement->stop);
    le_device_close(measurement->device);
}

static char *first_byte(const struct le_allocation *allocation) {
    return allocation->host ? allocation->host : (char *)(uintptr_t)allocation->address;
}

static leat_status copy_once(struct measurement *measurement, struct le_allocation *target,
                             struct le_allocation *source, size_t size_bytes) {
    struct le_copy copy = {.target = target,
                           .source = source,
                           .target_memory = first_byte(target),
                           .source_memory = first_byte(source),
                           .element_bytes = 1,
                           .rank = 1,
                           .shape = {(int64_t)size_bytes},
                           .target_strides = {1},
                           .source_strides = {1},
                           .what = "measuring"};
    return le_device_copy(le_device_stream_own(measurement->device), &copy);
}

/* The first copy touches the memory and is not timed. */
static leat_status measure_copy(struct measurement *measurement, struct le_allocation *target,
                                struct le_allocation *source, size_t size_bytes, double *bytes_per_second) {
    struct le_device_stream *stream = le_device_stream_own(measurement->device);
    double milliseconds = 0;
    leat_status status = copy_once(measurement, target, source, size_bytes);
    if (!status)
        status = le_device_event_record(measurement->start, stream);
    for (int k = 0; k < COPIES && !status; k++)
        status = copy_once(measurement, target, source, size_bytes);
    if (!status)
        status = le_device_event_record(measurement->stop, stream);
    if (!status)
        status = le_device_event_synchronize(measurement->stop);
    if (!status)
        status = le_device_event_elapsed_ms(measurement->start, measurement->stop, &milliseconds);
    if (!status && milliseconds > 0)
        *bytes_per_second = COPIES * (double)size_bytes / (milliseconds * 1e-3);
    return status;
}

static leat_status measure_copies(struct measurement *measurement, struct le_device_rates *rates) {
    double inside = 0;
    leat_status status =
        measure_copy(measurement, measurement->inside[0], measurement->inside[1], INSIDE_BYTES, &inside);
    rates->copy_bytes_per_second = 2 * inside;
    if (!status)
        status = measure_copy(measurement, measurement->inside[0], measurement->pinned, PINNED_BYTES,
                              &rates->upload_bytes_per_second);
    if (!status)
        status = measure_copy(measurement, measurement->pinned, measurement->inside[0], PINNED_BYTES,
                              &rates->download_bytes_per_second);
    return status;
}

/* ---- launches */

static const char nothing[] = "extern \"C\" __global__ void nothing() {}\n";

static leat_status launch_times(struct le_device_kernel *kernel, struct le_device_stream *stream, int times) {
    static const struct le_kernel_launch launch = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
    leat_status status = LEAT_OK;
    for (int k = 0; k < times && !status; k++)
        status = le_device_launch(kernel, &launch, stream);
    return status;
}

static leat_status measure_kernel(struct le_device *device, struct le_device_kernel *kernel,
                                  struct le_device_rates *rates) {
    struct le_device_stream *stream = le_device_stream_own(device);
    uint64_t best_ns = UINT64_MAX;
    leat_status status = launch_times(kernel, stream, LAUNCHES / 8);
    if (!status)
        status = le_device_stream_synchronize(stream);
    uint64_t start_ns = le_device_clock_ns(device);
    if (!status)
        status = launch_times(kernel, stream, LAUNCHES);
    uint64_t took_ns = le_device_clock_ns(device) - start_ns;
    if (!status)
        status = le_device_stream_synchronize(stream);
    for (int k = 0; k < ROUND_TRIPS && !status; k++) {
        start_ns = le_device_clock_ns(device);
        status = launch_times(kernel, stream, 1);
        if (!status)
            status = le_device_stream_synchronize(stream);
        uint64_t trip_ns = le_device_clock_ns(device) - start_ns;
        best_ns = trip_ns < best_ns ? trip_ns : best_ns;
    }
    if (status)
        return status;
    rates->launch_ns = (double)took_ns / LAUNCHES;
    rates->round_trip_ns = (double)best_ns;
    return LEAT_OK;
}

static leat_status measure_launches(struct le_device *device, struct le_device_rates *rates) {
    struct le_module_source source = {.text = nothing, .name = "nothing.cu", .is_whole = true};
    struct le_device_module *module;
    struct le_device_kernel *kernel;
    leat_status status = le_device_module_new(device, &source, &module);
    if (status) /* UNSUPPORTED: NVRTC is not available */
        return status == LEAT_UNSUPPORTED ? LEAT_OK : status;
    status = le_device_module_kernel(module, "nothing", &kernel);
    if (!status)
        status = measure_kernel(device, kernel, rates);
    le_device_module_free(module);
    return status;
}

/* ---- the measurement */

/* Makes NVRTC's first compilation and ignores the result. */
static void *warm_up(void *unused) {
    const struct le_nvrtc *nvrtc;
    le_nvrtc_program program;
    int version;
    (void)unused;
    if (!le_cuda_library_search(LE_LIBRARY_NVRTC)->found)
        return NULL;
    if (le_nvrtc_open(&nvrtc, &version) || nvrtc->CreateProgram(&program, nothing, "nothing.cu", 0, NULL, NULL))
        return NULL;
    nvrtc->CompileProgram(program, 0, NULL);
    nvrtc->DestroyProgram(&program);
    return NULL;
}

leat_status le_device_rates_measure(const char *device, struct le_device_rates *rates) {
    struct measurement measurement = {0};
    struct le_device_rates found = {0};
    pthread_t warming;
    bool warms = pthread_create(&warming, NULL, warm_up, NULL) == 0;
    leat_status status = le_device_open(device, NULL, &measurement.device);
    if (warms)
        pthread_join(warming, NULL);
    if (status)
        return status;
    status = set_up(&measurement);
    if (!status)
        status = measure_copies(&measurement, &found);
    if (!status)
        status = measure_launches(measurement.device, &found);
    take_down(&measurement);
    if (!status)
        *rates = found;
    return status;
}
