/* leat.h: the code cache, as it is on disk. */
#include "api/api_check.h"
#include "base/store.h"

leat_status leat_cache_stat(leat_context *ctx, leat_cache_info *info) {
    LE_CHECK_CONTEXT(ctx);
    LE_CHECK_POINTER(info);
    struct le_store *store;
    leat_status status = le_store_open(NULL, &store);
    if (status)
        return status;
    status = le_store_stat(store, info);
    le_store_close(store);
    return status;
}

leat_status leat_cache_list(leat_context *ctx, leat_cache_entry **entries, size_t *count) {
    LE_CHECK_CONTEXT(ctx);
    LE_CHECK_POINTER(entries);
    LE_CHECK_POINTER(count);
    struct le_store *store;
    leat_status status = le_store_open(NULL, &store);
    if (status)
        return status;
    status = le_store_list(store, entries, count);
    le_store_close(store);
    return status;
}

leat_status leat_cache_clear(leat_context *ctx, leat_cache_info *removed) {
    LE_CHECK_CONTEXT(ctx);
    struct le_store *store;
    leat_status status = le_store_open(NULL, &store);
    if (status)
        return status;
    leat_cache_info info;
    status = le_store_clear(store, removed ? removed : &info);
    le_store_close(store);
    return status;
}
