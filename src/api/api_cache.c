/* leat.h: the code cache on disk. */
#include "api/api_check.h"
#include "base/store.h"

static leat_status open_store(leat_context *ctx, struct le_store **store) {
    leat_status status = le_store_open(NULL, store);
    const char *note = status ? NULL : le_store_note(*store);
    if (note)
        le_context_note(ctx, "%s", note);
    return status;
}

leat_status leat_cache_stat(leat_context *ctx, leat_cache_info *info) {
    LE_CHECK_CONTEXT(ctx);
    LE_CHECK_POINTER(info);
    struct le_store *store;
    leat_status status = open_store(ctx, &store);
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
    leat_status status = open_store(ctx, &store);
    if (status)
        return status;
    status = le_store_list(store, entries, count);
    le_store_close(store);
    return status;
}

leat_status leat_cache_clear(leat_context *ctx, leat_cache_info *removed) {
    LE_CHECK_CONTEXT(ctx);
    struct le_store *store;
    leat_cache_info unwanted;
    leat_status status = open_store(ctx, &store);
    if (status)
        return status;
    status = le_store_clear(store, removed ? removed : &unwanted);
    le_store_close(store);
    return status;
}
