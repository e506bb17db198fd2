/* leat.h: devices, and the searches for CUDA's libraries. Device 0 is the CPU; describing it does not look for CUDA. */
#include "api/api_check.h"
#include "device/cpu/blas.h"
#include "device/cuda/cuda_libraries.h"
#include "sim/sim.h"
#include "run/device_rates.h"
#include "run/host_info.h"
#include <stdio.h>

/* ---- the CPU */

static leat_status describe_cpu(leat_context *ctx, bool measure, leat_device_info *info) {
    struct le_machine_rates rates;
    leat_status status = le_context_rates(ctx, measure, &rates);
    if (status)
        return status;
    *info = (leat_device_info){.kind = "cpu",
                               .device = "cpu",
                               .usable = true,
                               .threads = le_pool_threads(ctx->threads),
                               .cores = le_cores(),
                               .memory_bytes = le_host_memory_bytes(),
                               .cache_bytes = le_host_cache_bytes(),
                               .copy_bytes_per_second = rates.copy_bytes_per_second,
                               .additions_per_second = rates.additions_per_second};
    le_host_name(info->name, sizeof info->name);
    snprintf(info->simd, sizeof info->simd, "%s", le_simd_name(ctx->simd));
    snprintf(info->best_simd, sizeof info->best_simd, "%s", le_simd_name(le_simd_best()));
    return LEAT_OK;
}

/* ---- CUDA */

/* Opens the driver and returns its number of devices; 0 if it cannot be used. */
static int open_cuda(const struct le_cuda_driver **driver, int *cuda_version) {
    int count = 0;
    if (!le_cuda_library_search(LE_LIBRARY_DRIVER)->found || le_cuda_driver_open(driver, cuda_version) ||
        le_cuda_facts_count(*driver, &count))
        return 0;
    return count;
}

static void mark_unusable(const char *reason, leat_device_info *info) {
    leat_error error;
    leat_error_get(NULL, &error);
    info->usable = false;
    snprintf(info->reason, sizeof info->reason, "%.255s", reason[0] ? reason : error.message);
}

static void copy_facts(const struct le_cuda_facts *facts, leat_device_info *info) {
    info->usable = facts->usable;
    info->capability = facts->capability;
    info->multiprocessors = facts->multiprocessors;
    info->f64_ratio = facts->f64_ratio;
    info->memory_bytes = facts->memory_bytes;
    snprintf(info->name, sizeof info->name, "%s", facts->name);
    snprintf(info->uuid, sizeof info->uuid, "%s", facts->uuid);
    snprintf(info->pci_id, sizeof info->pci_id, "%s", facts->pci_id);
    snprintf(info->reason, sizeof info->reason, "%s", facts->reason);
}

/* A device that cannot be opened to be measured is marked unusable. */
static void measure_cuda(leat_device_info *info) {
    struct le_device_rates gauge = {0};
    if (le_device_rates_measure(info->device, &gauge)) {
        mark_unusable("", info);
        return;
    }
    info->copy_bytes_per_second = gauge.copy_bytes_per_second;
    info->upload_bytes_per_second = gauge.upload_bytes_per_second;
    info->download_bytes_per_second = gauge.download_bytes_per_second;
    info->launch_ns = gauge.launch_ns;
    info->round_trip_ns = gauge.round_trip_ns;
}

static void describe_cuda(int ordinal, bool measure, leat_device_info *info) {
    const struct le_cuda_driver *driver;
    struct le_cuda_facts facts;
    *info = (leat_device_info){.kind = "cuda", .ordinal = ordinal};
    if (open_cuda(&driver, &info->cuda_version) == 0) {
        snprintf(info->device, sizeof info->device, "cuda");
        mark_unusable(le_cuda_library_search(LE_LIBRARY_DRIVER)->reason, info);
        return;
    }
    snprintf(info->device, sizeof info->device, "cuda:%d", ordinal);
    if (le_cuda_facts_get(driver, ordinal, &facts))
        mark_unusable("", info);
    else
        copy_facts(&facts, info);
    if (measure && info->usable)
        measure_cuda(info);
}

/* ---- sim: what its driver reports, without a UUID and a PCI address, which it does not have */

static void describe_sim(leat_device_info *info) {
    const struct le_cuda_driver *driver = le_sim_driver();
    struct le_cuda_facts facts;
    *info = (leat_device_info){.kind = "sim", .device = "sim"};
    if (driver->Init(0) || le_cuda_facts_get(driver, 0, &facts)) {
        mark_unusable("", info);
        return;
    }
    facts.uuid[0] = facts.pci_id[0] = 0;
    copy_facts(&facts, info);
    driver->DriverGetVersion(&info->cuda_version);
}

/* ---- all of them */

/* The CPU, the CUDA devices and sim. Without a usable driver one "cuda" is counted, which gives the reason. */
static size_t count_devices(void) {
    const struct le_cuda_driver *driver;
    int cuda_version, count = open_cuda(&driver, &cuda_version);
    return 2 + (size_t)(count > 0 ? count : 1);
}

leat_status leat_device_count(leat_context *ctx, size_t *count) {
    LE_CHECK_CONTEXT(ctx);
    LE_CHECK_POINTER(count);
    *count = count_devices();
    return LEAT_OK;
}

leat_status leat_device_get(leat_context *ctx, size_t k, bool measure, leat_device_info *info) {
    LE_CHECK_CONTEXT(ctx);
    LE_CHECK_POINTER(info);
    if (k == 0)
        return describe_cpu(ctx, measure, info);
    size_t count = count_devices();
    if (k >= count)
        return le_fail(LEAT_INVALID, "no device %zu: there are %zu, counted from 0", k, count);
    if (k == count - 1)
        describe_sim(info);
    else
        describe_cuda((int)k - 1, measure, info);
    return LEAT_OK;
}

leat_status leat_products_get(leat_context *ctx, const char **words) {
    LE_CHECK_CONTEXT(ctx);
    LE_CHECK_POINTER(words);
    *words = le_blas_description();
    return LEAT_OK;
}

/* ---- searches for libraries */

static const struct {
    const char *name;
    enum le_cuda_library what;
} searches[LEAT_SEARCH_KINDS] = {
    [LEAT_SEARCH_DRIVER] = {"driver", LE_LIBRARY_DRIVER},
    [LEAT_SEARCH_NVRTC] = {"nvrtc", LE_LIBRARY_NVRTC},
    [LEAT_SEARCH_CUBLAS] = {"cublas", LE_LIBRARY_CUBLAS},
    [LEAT_SEARCH_HEADERS] = {"headers", LE_LIBRARY_HEADERS},
};

static leat_status check_kind(leat_search_kind kind) {
    if ((unsigned)kind >= LEAT_SEARCH_KINDS)
        return le_fail(LEAT_INVALID, "no search %d: there are %d, counted from 0", (int)kind, LEAT_SEARCH_KINDS);
    return LEAT_OK;
}

leat_status leat_search_get(leat_context *ctx, leat_search_kind kind, leat_search *search) {
    LE_CHECK_CONTEXT(ctx);
    LE_CHECK_POINTER(search);
    leat_status status = check_kind(kind);
    if (status)
        return status;
    const struct le_search *made = le_cuda_library_search(searches[kind].what);
    *search = (leat_search){.name = searches[kind].name,
                            .found = made->found,
                            .version = made->version,
                            .path = made->found ? made->path : "",
                            .reason = made->reason,
                            .line_count = (size_t)made->line_count};
    return LEAT_OK;
}

leat_status leat_search_line_get(leat_context *ctx, leat_search_kind kind, size_t k, leat_search_line *line) {
    LE_CHECK_CONTEXT(ctx);
    LE_CHECK_POINTER(line);
    leat_status status = check_kind(kind);
    if (status)
        return status;
    const struct le_search *made = le_cuda_library_search(searches[kind].what);
    if (k >= (size_t)made->line_count)
        return le_fail(LEAT_INVALID, "the search for %s has no line %zu: there are %d", searches[kind].name, k,
                       made->line_count);
    *line =
        (leat_search_line){.name = made->lines[k].name, .path = made->lines[k].path, .outcome = made->lines[k].outcome};
    return LEAT_OK;
}
