/* leat.h: devices. There is one, the CPU. */
#include "api/api_check.h"
#include "run/machine.h"
#include <stdio.h>

leat_status leat_device_count(leat_context *ctx, size_t *count) {
    LE_CHECK_CONTEXT(ctx);
    LE_CHECK_POINTER(count);
    *count = 1;
    return LEAT_OK;
}

leat_status leat_device_get(leat_context *ctx, size_t k, bool measure, leat_device_info *info) {
    LE_CHECK_CONTEXT(ctx);
    LE_CHECK_POINTER(info);
    if (k > 0)
        return le_fail(LEAT_INVALID, "there is no device %zu: there is one, number 0", k);
    double rate = le_context_copy_rate_known(ctx);
    leat_status status = measure ? le_context_copy_rate(ctx, &rate) : LEAT_OK;
    if (status)
        return status;
    *info = (leat_device_info){.kind = "cpu",
                               .threads = le_pool_threads(ctx->threads),
                               .cores = le_cores(),
                               .memory_bytes = le_machine_memory_bytes(),
                               .cache_bytes = le_machine_cache_bytes(),
                               .copy_bytes_per_second = rate};
    le_machine_name(info->name, sizeof info->name);
    snprintf(info->simd, sizeof info->simd, "%s", le_simd_name(ctx->simd));
    snprintf(info->best_simd, sizeof info->best_simd, "%s", le_simd_name(le_simd_best()));
    return LEAT_OK;
}
