/* round-trip: bytes that came down from the device and went up again unchanged, by samples of the host's memory. */
#include "base/hash.h"
#include "trace/rules/groups.h"
#include "trace/rules/scene.h"

/* Constants and small arrays are alike by chance; a sample of few bytes says little. */
enum { LEAST_TRIP_BYTES = 4096 };
enum { LEAST_TRIPS = 2 };

static uint64_t key_of(const struct le_transfer *transfer) {
    uint64_t parts[2] = {transfer->sample, transfer->bytes};
    return le_hash(parts, sizeof parts, 0);
}

void le_rule_round_trip(struct le_scene *scene) {
    struct le_groups down = {.most = scene->operation_count};
    uint64_t trips = 0, bytes = 0, time_ns = 0;
    for (int32_t k = 0; k < scene->operation_count; k++) {
        const struct le_operation *operation = le_scene_operation(scene, k);
        const struct le_call *call = le_call_of(scene, operation);
        const struct le_transfer *transfer = le_transfer_of(scene, call);
        uint8_t direction = le_shape_of(scene, operation)->direction;
        if (operation->kind != LE_OPERATION_COPY || !transfer || transfer->sample == 0 ||
            transfer->bytes < LEAST_TRIP_BYTES)
            continue;
        struct le_group *group = le_groups_get(scene->scratch, &down, key_of(transfer));
        if (direction == LE_TRACE_DTOH) {
            group->count = 1;
            group->time_ns = le_copy_cost_ns(scene, call, operation);
        } else if (direction == LE_TRACE_HTOD && group->count) {
            uint64_t trip_ns = group->time_ns + le_copy_cost_ns(scene, call, operation);
            group->time_ns = 0; /* it came down once, however often it goes up */
            trips++;
            bytes += transfer->bytes;
            time_ns += trip_ns;
            le_blame(scene, call, trip_ns);
        }
    }
    if (trips < LEAST_TRIPS || time_ns < scene->worth_ns)
        return;
    struct le_arena *arena = scene->arena;
    le_scene_claim(scene, &(struct le_claim){
                              .rule = "round-trip",
                              .title = le_arena_format(arena,
                                                       "Round trips: %s came down and went up again unchanged, %s "
                                                       "times, %s",
                                                       le_figure_bytes(arena, bytes), le_figure_count(arena, trips),
                                                       le_figure_time(arena, time_ns)),
                              .evidence = "told by samples of the bytes, so that a change between them may be missed\n"
                                          "assumed: the host only looks at them",
                              .advice = LE_ADVICE_ROUND_TRIP,
                              .gain_ns = time_ns,
                              .confidence = LE_PLAUSIBLE,
                          });
}
