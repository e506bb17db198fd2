/* leat.h: the ledger. Each thread has a stack of the caller's own open costs. */
#include "api/api_check.h"
#include "device/front/timing.h"
#include <string.h>

leat_status leat_ledger_level_set(leat_context *ctx, int level) {
    LE_CHECK_CONTEXT(ctx);
    if (level < 0 || level > 2)
        return le_fail(LEAT_INVALID, "level is %d: it must be 0, 1 or 2", level);
    le_ledger_level_set(ctx->ledger, level);
    return LEAT_OK;
}

leat_status leat_ledger_clear(leat_context *ctx) {
    LE_CHECK_CONTEXT(ctx);
    le_timing_clear(ctx->device);
    le_ledger_clear(ctx->ledger);
    return LEAT_OK;
}

leat_status leat_ledger_clock(leat_context *ctx, uint64_t *time_ns) {
    LE_CHECK_CONTEXT(ctx);
    LE_CHECK_POINTER(time_ns);
    *time_ns = le_ledger_clock_ns(ctx->ledger);
    return LEAT_OK;
}

leat_status leat_ledger_device(leat_context *ctx, leat_ledger_sums *sums) {
    LE_CHECK_CONTEXT(ctx);
    LE_CHECK_POINTER(sums);
    struct le_timeline_sums found = le_timing_settle(ctx->device);
    *sums = (leat_ledger_sums){.span_ns = found.span_ns,
                               .busy_ns = found.busy_ns,
                               .idle_ns = found.idle_ns,
                               .overlap_ns = found.total_ns - found.busy_ns,
                               .dropped = found.dropped};
    return LEAT_OK;
}

leat_status leat_ledger_count(leat_context *ctx, size_t *count) {
    LE_CHECK_CONTEXT(ctx);
    LE_CHECK_POINTER(count);
    le_timing_settle(ctx->device);
    *count = le_ledger_count(ctx->ledger);
    return LEAT_OK;
}

leat_status leat_ledger_get(leat_context *ctx, size_t k, leat_cost *cost) {
    LE_CHECK_CONTEXT(ctx);
    LE_CHECK_POINTER(cost);
    if (!le_ledger_at(ctx->ledger, k, cost))
        return le_fail(LEAT_INVALID, "the ledger has no record %zu", k);
    return LEAT_OK;
}

/* A cost that was begun and has not ended. It retains the context. */
struct open_cost {
    struct open_cost *outer;
    leat_context *ctx;
    struct le_span span;
    char what[];
};
static _Thread_local struct open_cost *open_costs;

leat_status leat_ledger_begin(leat_context *ctx, leat_cost_kind kind, const char *what) {
    LE_CHECK_CONTEXT(ctx);
    LE_CHECK_POINTER(what);
    if ((unsigned)kind >= LEAT_COST_KINDS)
        return le_fail(LEAT_INVALID, "%d is not a kind of cost", (int)kind);
    size_t size_bytes = strlen(what) + 1;
    struct open_cost *cost = le_alloc(sizeof *cost + size_bytes);
    if (!cost)
        return le_fail_out_of_memory(sizeof *cost + size_bytes);
    memcpy(cost->what, what, size_bytes);
    cost->ctx = le_context_retain(ctx);
    cost->outer = open_costs;
    open_costs = cost;
    le_span_begin(&cost->span, ctx->ledger, kind, cost->what, "");
    return LEAT_OK;
}

leat_status leat_ledger_end(leat_context *ctx, uint64_t bytes) {
    LE_CHECK_CONTEXT(ctx);
    struct open_cost *cost = open_costs;
    if (!cost || cost->ctx != ctx)
        return le_fail(LEAT_INVALID, "the last cost begun on this thread, if any, is not of this context");
    le_span_end(&cost->span, bytes, 0);
    open_costs = cost->outer;
    le_free(cost);
    le_context_release(ctx);
    return LEAT_OK;
}

const char *leat_cost_name(leat_cost_kind kind) {
    return le_cost_kind_name(kind);
}
