/* no-overlap: pieces are copied to the device, computed and copied back one after the other, although in several
 * streams the two directions and the kernels could overlap; and why they do not.
 *
 * The model: both copy engines and the multiprocessors work at the same time on n pieces. The busiest of the three sets
 * the pace; the others' work on one piece comes before and after. Pageable copies count at the pinned rate, because
 * they cannot overlap at all. */
#include "base/hash.h"
#include "trace/rules/groups.h"
#include "trace/rules/rule_input.h"

/* With fewer or smaller pieces, filling and draining the pipeline costs as much as it saves. */
enum { LEAST_PIECES = 4, LEAST_PIECE_BYTES = 1 << 20 };
/* Percent of the present time. */
enum { LEAST_PERCENT = 15 };
/* Idle time of up to this between two pieces would be saved, too. */
enum { MOST_IDLE_NS = 200000 };
/* Both directions together reach 92 % of their rates (measured: 101 of 110 GB/s). */
#define DUPLEX 0.92

struct piece_totals {
    uint64_t up, down, up_bytes, down_bytes, pageable;
    double up_ns, down_ns, kernel_ns;
    uint64_t start_ns, end_ns;
    struct le_position_groups addresses, streams;
    bool unknown, has_null;
};

static void add_stream(struct le_rule_input *input, struct piece_totals *pieces, int32_t stream) {
    le_groups_get(input->scratch, &pieces->streams, (uint64_t)stream)->count++;
    pieces->has_null |= input->index->streams.at[stream].is_null;
}

static void add_copy(struct le_rule_input *input, struct piece_totals *pieces, const struct le_operation *operation,
                     double rate) {
    const struct le_shape *shape = le_shape_of(input, operation);
    if (operation->bytes < LEAST_PIECE_BYTES ||
        (shape->direction != LE_TRACE_HTOD && shape->direction != LE_TRACE_DTOH))
        return;
    bool is_up = shape->direction == LE_TRACE_HTOD;
    double time_ns = le_is_pageable(shape) ? (double)operation->bytes / rate : (double)le_operation_ns(operation);
    pieces->pageable += le_is_pageable(shape);
    *(is_up ? &pieces->up : &pieces->down) += 1;
    *(is_up ? &pieces->up_bytes : &pieces->down_bytes) += operation->bytes;
    *(is_up ? &pieces->up_ns : &pieces->down_ns) += time_ns;
    pieces->start_ns = pieces->start_ns ? pieces->start_ns : operation->start_ns;
    pieces->end_ns = operation->end_ns > pieces->end_ns ? operation->end_ns : pieces->end_ns;
    const struct le_transfer *transfer = le_transfer_of(input, le_call_of(input, operation));
    if (transfer && transfer->host)
        le_groups_get(input->scratch, &pieces->addresses, transfer->host)->count++;
    else
        pieces->unknown = true;
    add_stream(input, pieces, operation->stream);
    le_rule_input_charge(input, le_call_of(input, operation), le_operation_ns(operation));
}

static struct piece_totals gather_pieces(struct le_rule_input *input, double rate) {
    struct piece_totals pieces = {.addresses.most = input->operation_count};
    for (int32_t k = 0; k < input->operation_count; k++) {
        const struct le_operation *operation = le_rule_input_operation(input, k);
        if (operation->kind == LE_OPERATION_COPY)
            add_copy(input, &pieces, operation, rate);
    }
    for (int32_t k = 0; k < input->operation_count; k++) {
        const struct le_operation *operation = le_rule_input_operation(input, k);
        if (le_is_kernel(operation) && operation->start_ns >= pieces.start_ns && operation->end_ns <= pieces.end_ns)
            add_stream(input, &pieces, operation->stream);
    }
    pieces.kernel_ns = (double)le_periods_overlap(&input->kernels, pieces.start_ns, pieces.end_ns);
    return pieces;
}

/* The present time: when the device was busy, with short idle times between. */
static double present_ns(const struct le_rule_input *input, const struct piece_totals *pieces) {
    uint64_t time_ns = 0, until_ns = 0;
    for (int64_t k = le_periods_after(&input->busy, pieces->start_ns); k < input->busy.count; k++) {
        const struct le_period *period = &input->busy.at[k];
        if (period->start_ns >= pieces->end_ns)
            break;
        if (until_ns && period->start_ns - until_ns <= MOST_IDLE_NS)
            time_ns += period->start_ns - until_ns;
        time_ns += period->end_ns - period->start_ns;
        until_ns = period->end_ns;
    }
    return (double)time_ns;
}

static double larger(double a, double b) {
    return a > b ? a : b;
}

static double best_ns(const struct piece_totals *pieces, double rate) {
    double both_ns = (double)(pieces->up_bytes + pieces->down_bytes) / (2 * rate * DUPLEX);
    double slowest_ns = larger(larger(pieces->up_ns, pieces->down_ns), pieces->kernel_ns);
    double all_ns = pieces->up_ns + pieces->down_ns + pieces->kernel_ns;
    uint64_t count = pieces->up < pieces->down ? pieces->up : pieces->down;
    if (!pieces->unknown && (uint64_t)pieces->addresses.count < count)
        count = (uint64_t)pieces->addresses.count;
    return larger(slowest_ns, both_ns) + (all_ns - slowest_ns) / (double)count;
}

static const char *reason(const struct piece_totals *pieces) {
    if (pieces->pageable)
        return "the copies use pageable memory, which the driver copies one piece at a time while the host waits";
    if (pieces->streams.count == 1)
        return pieces->has_null ? "all work is in the null stream" : "all work is in one stream";
    if (pieces->has_null)
        return "some work is in the null stream, which waits for all other streams";
    return "there are several streams, but copies in one direction share an engine, or the host waits between pieces";
}

static bool has_pieces(const struct piece_totals *pieces) {
    return pieces->up >= LEAST_PIECES && pieces->down >= LEAST_PIECES && pieces->kernel_ns > 0 &&
           (pieces->unknown || pieces->addresses.count >= LEAST_PIECES);
}

void le_rule_no_overlap(struct le_rule_input *input) {
    struct le_copy_rate pinned = le_pinned_rate(input);
    struct piece_totals pieces = gather_pieces(input, pinned.rate);
    if (!has_pieces(&pieces))
        return;
    double now_ns = present_ns(input, &pieces), then_ns = best_ns(&pieces, pinned.rate), gain_ns = now_ns - then_ns;
    if (gain_ns * 100 < now_ns * LEAST_PERCENT || gain_ns < (double)input->least_gain_ns)
        return;
    struct le_arena *arena = input->arena;
    le_rule_input_claim(
        input,
        &(struct le_claim){
            .rule = "no-overlap",
            .title = le_arena_format(arena, "Copies and kernels do not overlap: %s, or %s in several streams",
                                     le_format_time(arena, (uint64_t)now_ns), le_format_time(arena, (uint64_t)then_ns)),
            .evidence = le_arena_format(
                arena,
                "reason: %s\n%s copies to the device (%s), %s to the host (%s), kernels %s, in %s\n"
                "assumed: pinned memory reaches %.0f GB/s, %s; the pieces do not depend on each other",
                reason(&pieces), le_format_count(arena, pieces.up), le_format_bytes(arena, pieces.up_bytes),
                le_format_count(arena, pieces.down), le_format_bytes(arena, pieces.down_bytes),
                le_format_time(arena, (uint64_t)pieces.kernel_ns),
                le_format_counted(arena, (uint64_t)pieces.streams.count, "stream", "streams"), pinned.rate,
                pinned.from),
            .advice = LE_ADVICE_STREAMS,
            .gain_ns = (uint64_t)gain_ns,
            .confidence = pieces.unknown ? LE_HINT : LE_PLAUSIBLE,
            .start_ns = pieces.start_ns,
            .end_ns = pieces.end_ns,
        });
}
