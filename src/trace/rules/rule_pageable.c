/* pageable-copy: copies from or to memory that is not page-locked, which the driver moves through its own buffers. */
#include "trace/rules/groups.h"
#include "trace/rules/once.h"
#include "trace/rules/rule_input.h"

/* Up to 64 KiB the driver copies both kinds of memory in the same way. */
enum { LEAST_COPY_BYTES = 65537 };
/* Page-locking 64 MiB takes 19 ms, four times what it saves, so it does not pay for memory that is used once. */
enum { PINNING_PS_PER_BYTE = 283 };

struct pageable {
    uint64_t count, gain_ns, buffers_bytes, unknown;
    uint64_t up_bytes, up_ns, down_bytes, down_ns; /* to the device and to the host */
};

/* Adds the bytes of a buffer; each buffer counts once. Addresses may be unknown. */
static void add_buffer(struct le_rule_input *input, struct le_position_groups *buffers, const struct le_call *call,
                       uint64_t bytes, struct pageable *all) {
    const struct le_transfer *transfer = le_transfer_of(input, call);
    if (!transfer || transfer->host == 0) {
        all->unknown++;
        return;
    }
    struct le_position_group *buffer = le_groups_get(input->scratch, buffers, transfer->host);
    if (bytes > buffer->bytes) {
        all->buffers_bytes += bytes - buffer->bytes;
        buffer->bytes = bytes;
    }
}

static struct pageable sum_pageable(struct le_rule_input *input, double rate) {
    struct pageable all = {0};
    struct le_position_groups buffers = {.most = input->operation_count};
    uint64_t until_ns = 0;
    for (int32_t k = 0; k < input->operation_count; k++) {
        const struct le_operation *operation = le_rule_input_operation(input, k);
        if (operation->kind != LE_OPERATION_COPY || !le_is_pageable(le_shape_of(input, operation)) ||
            operation->bytes < LEAST_COPY_BYTES)
            continue;
        uint64_t time_ns = operation->end_ns - le_once_from(&until_ns, operation->start_ns, operation->end_ns);
        uint64_t pinned_ns = (uint64_t)((double)operation->bytes / rate);
        const struct le_call *call = le_call_of(input, operation);
        bool up = le_shape_of(input, operation)->direction == LE_TRACE_HTOD;
        all.count++;
        *(up ? &all.up_bytes : &all.down_bytes) += operation->bytes;
        *(up ? &all.up_ns : &all.down_ns) += time_ns;
        all.gain_ns += time_ns > pinned_ns ? time_ns - pinned_ns : 0;
        add_buffer(input, &buffers, call, operation->bytes, &all);
        le_rule_input_charge(input, call, le_operation_ns(operation));
    }
    return all;
}

static const char *format_rates(struct le_arena *arena, const struct pageable *all) {
    const char *up = le_format_rate(arena, all->up_bytes, all->up_ns);
    const char *down = le_format_rate(arena, all->down_bytes, all->down_ns);
    return !all->down_bytes ? le_arena_format(arena, "%s to the device", up)
           : !all->up_bytes ? le_arena_format(arena, "%s to the host", down)
                            : le_arena_format(arena, "%s to the device, %s to the host", up, down);
}

void le_rule_pageable_copy(struct le_rule_input *input) {
    struct le_copy_rate pinned = le_pinned_rate(input);
    struct pageable all = sum_pageable(input, pinned.rate);
    if (all.count == 0 || all.gain_ns < input->least_gain_ns)
        return;
    struct le_arena *arena = input->arena;
    uint64_t pinning_ns = all.buffers_bytes / 1000 * PINNING_PS_PER_BYTE;
    bool pays = all.unknown == 0 && pinning_ns < all.gain_ns;
    const char *cost =
        all.unknown ? "pinning memory takes 19 ms for 64 MiB, so it pays only for buffers that are used again"
                    : le_arena_format(arena, "the host buffers have %s in total; pinning them once takes about %s",
                                      le_format_bytes(arena, all.buffers_bytes), le_format_time(arena, pinning_ns));
    le_rule_input_claim(
        input, &(struct le_claim){
                   .rule = "pageable-copy",
                   .title = le_arena_format(arena, "Pageable copies: %s took %s (%s); pinned memory reaches %.0f GB/s",
                                            le_format_bytes(arena, all.up_bytes + all.down_bytes),
                                            le_format_time(arena, all.up_ns + all.down_ns), format_rates(arena, &all),
                                            pinned.rate),
                   .evidence = le_arena_format(arena, "%s\n%s\nassumed: pinned memory reaches %.0f GB/s, %s",
                                               le_format_counted(arena, all.count, "copy", "copies"), cost, pinned.rate,
                                               pinned.from),
                   .advice = LE_ADVICE_PIN,
                   .gain_ns = all.gain_ns,
                   .confidence = pays ? LE_LIKELY : LE_PLAUSIBLE,
               });
}
