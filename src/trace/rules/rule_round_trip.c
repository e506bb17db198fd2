/* round-trip: bytes are copied from the device to the host and back unchanged, by samples of the host's memory. */
#include "base/hash.h"
#include "trace/rules/groups.h"
#include "trace/rules/once.h"
#include "trace/rules/rule_input.h"

/* Constants and small arrays may be equal by chance, and a sample of few bytes says little. */
enum { LEAST_TRIP_BYTES = 4096 };
enum { LEAST_TRIPS = 2 };

static uint64_t key_of(const struct le_transfer *transfer) {
    uint64_t parts[2] = {transfer->sample, transfer->bytes};
    return le_hash(parts, sizeof parts, 0);
}

struct trips {
    uint64_t down, down_bytes, up, time_ns;
};

/* In groups, bytes is what was copied to the host and has not gone back yet, and time_ns what that copy cost; it
 * counts once, however often the bytes go back. */
static void add_trip(struct le_rule_input *input, const struct le_call *call, struct le_position_group *group,
                     uint64_t cost_ns, struct trips *trips) {
    trips->down += group->bytes > 0;
    trips->down_bytes += group->bytes;
    trips->up++;
    trips->time_ns += group->time_ns + cost_ns;
    le_rule_input_charge(input, call, group->time_ns + cost_ns);
    group->bytes = group->time_ns = 0;
}

static struct trips gather_trips(struct le_rule_input *input) {
    struct le_position_groups down = {.most = input->operation_count};
    struct trips trips = {0};
    uint64_t until_ns = 0, copied_ns = 0; /* copied_ns: copies with their calls; overlaps count once */
    for (int32_t k = 0; k < input->call_count; k++) {
        const struct le_call *call = le_rule_input_call(input, k);
        const struct le_operation *operation = le_operation_of(input, call);
        const struct le_transfer *transfer = le_transfer_of(input, call);
        if (!operation || operation->kind != LE_OPERATION_COPY || !transfer || transfer->sample == 0 ||
            transfer->bytes < LEAST_TRIP_BYTES)
            continue;
        uint8_t direction = le_shape_of(input, operation)->direction;
        uint64_t cost_ns = le_copy_cost_ns(input, call, operation);
        uint64_t end_ns = operation->end_ns > call->end_ns ? operation->end_ns : call->end_ns;
        copied_ns += end_ns - le_once_from(&until_ns, call->start_ns, end_ns);
        struct le_position_group *group = le_groups_get(input->scratch, &down, key_of(transfer));
        if (direction == LE_TRACE_DTOH) {
            group->count = 1;
            group->bytes = transfer->bytes;
            group->time_ns = cost_ns;
        } else if (direction == LE_TRACE_HTOD && group->count) {
            add_trip(input, call, group, cost_ns, &trips);
        }
    }
    trips.time_ns = trips.time_ns < copied_ns ? trips.time_ns : copied_ns;
    return trips;
}

void le_rule_round_trip(struct le_rule_input *input) {
    struct trips trips = gather_trips(input);
    if (trips.up < LEAST_TRIPS || trips.time_ns < input->least_gain_ns)
        return;
    struct le_arena *arena = input->arena;
    le_rule_input_claim(
        input, &(struct le_claim){
                   .rule = "round-trip",
                   .title = le_arena_format(arena,
                                            "Round trips: %s were copied to the host in %s and back "
                                            "unchanged in %s, which took %s",
                                            le_format_bytes(arena, trips.down_bytes),
                                            le_format_counted(arena, trips.down, "copy", "copies"),
                                            le_format_count(arena, trips.up), le_format_time(arena, trips.time_ns)),
                   .evidence = "detected by comparing samples of the bytes, so a change elsewhere may be missed\n"
                               "assumed: the host only reads the data",
                   .advice = LE_ADVICE_ROUND_TRIP,
                   .gain_ns = trips.time_ns,
                   .confidence = LE_PLAUSIBLE,
               });
}
