/* See device_open.h. The CUDA backend works over a driver table: the real one for "cuda", the simulator's for "sim". */
#include "device/device_open.h"
#include "device/cpu/cpu_device.h"
#include "device/cuda/cuda_device.h"
#include "device/cuda/cuda_libraries.h"
#include "device/cuda/nvrtc_preload.h"
#include "device/front/device_state.h"
#include "sim/sim.h"
#include <stdlib.h>
#include <string.h>

/* Whether a background thread creates the context. Not with a memory cap: then the caller must learn at once that the
 * context does not fit. */
static bool opens_in_background(const struct le_device *device) {
    return device->options.compiles && device->options.memory_cap_bytes == 0;
}

static leat_status open_cuda(struct le_device *device, int ordinal) {
    struct le_cuda_opening opening = {.ordinal = ordinal, .kind = "cuda", .in_background = opens_in_background(device)};
    struct le_device_span span;
    int version;
    if (device->options.compiles)
        opening.warm = le_nvrtc_warm_begin(device->options.store);
    le_device_span_begin(device, &span, LEAT_COST_LIBRARY, "driver", "");
    leat_status status = le_cuda_driver_open(&opening.driver, &version);
    le_device_span_end(&span, 0);
    if (!status)
        status = le_cuda_device_new(&opening, device);
    if (status)
        le_nvrtc_warm_end(&opening.warm);
    return status;
}

/* The context is created at once unless it is configured to take a while: sim's clock must depend only on the calls. */
static leat_status open_sim(struct le_device *device) {
    const struct le_device_options *options = &device->options;
    const struct le_sim_options sim = {.check = options->sim_check, .seed = options->sim_seed};
    leat_status status = options->sim_check || options->sim_seed ? le_sim_configure(&sim) : LEAT_OK;
    if (!status)
        status = le_sim_environment_check();
    if (!status)
        status = le_cuda_facts_init(le_sim_driver());
    if (status)
        return status;
    const struct le_cuda_opening opening = {.driver = le_sim_driver(),
                                            .nvrtc = le_sim_nvrtc(),
                                            .cublas = le_sim_cublas(),
                                            .kind = "sim",
                                            .in_background = opens_in_background(device) && le_sim_context_ms() > 0};
    return le_cuda_device_new(&opening, device);
}

/* N of "cuda:N", 0 for "cuda", -1 for any other name. */
static int cuda_ordinal(const char *name) {
    if (strncmp(name, "cuda", 4) != 0 || (name[4] && name[4] != ':'))
        return -1;
    if (!name[4])
        return 0;
    const char *digits = name + 5;
    size_t length = strlen(digits);
    if (length < 1 || length > 4 || strspn(digits, "0123456789") != length)
        return -1;
    return atoi(digits);
}

bool le_device_is_name(const char *name) {
    return strcmp(name, "cpu") == 0 || strcmp(name, "cpu:0") == 0 || strcmp(name, "sim") == 0 ||
           cuda_ordinal(name) >= 0;
}

static leat_status open_backend(struct le_device *device, const char *name) {
    if (strcmp(name, "sim") == 0)
        return open_sim(device);
    if (cuda_ordinal(name) >= 0)
        return open_cuda(device, cuda_ordinal(name));
    if (!le_device_is_name(name))
        return le_fail_at(LEAT_DEVICE, (struct le_location){0}, "use cpu, cuda, cuda:1 or sim",
                          "there is no device '%.100s'", name);
    le_cpu_device_new(device);
    return LEAT_OK;
}

leat_status le_device_open(const char *name, const struct le_device_options *options, struct le_device **device) {
    struct le_device *made = le_device_allocate(options);
    if (!made)
        return le_fail_out_of_memory(sizeof *made);
    leat_status status = open_backend(made, name);
    if (status)
        made->ops = NULL; /* without a backend */
    else
        status = le_device_start(made);
    if (status)
        le_device_destroy(made);
    else
        *device = made;
    return status;
}
