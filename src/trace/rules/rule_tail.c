/* tail-wave: the last wave of blocks fills only part of the device, but takes as long as a full one. */
#include "base/hash.h"
#include "trace/rules/groups.h"
#include "trace/rules/occupancy.h"
#include "trace/rules/once.h"
#include "trace/rules/rule_input.h"

/* Percent of the waves' time that the last wave leaves unused. Less is lost in the differences between blocks. This
 * implies at most four waves. */
enum { LEAST_LOSS = 20 };
/* As for small grids: shorter kernels are bound by latency. */
enum { SHORTEST_MEAN_NS = 20000 };
/* Percent of the run that such kernels take. */
enum { LEAST_OF_WHOLE = 5 };

struct waves {
    uint64_t blocks, at_once, full; /* full: the number of waves, including the last one */
    uint64_t last;                  /* blocks in the last one */
    uint64_t loss;                  /* parts per million */
};

static struct waves waves_of(const struct le_rule_input *input, const struct le_operation *operation) {
    if (operation->kind != LE_OPERATION_KERNEL || operation->shape == LE_NONE)
        return (struct waves){0};
    struct waves waves = {.blocks = le_shape_blocks(le_shape_of(input, operation)),
                          .at_once = input->blocks_at_once[operation->shape]};
    if (waves.at_once == 0 || waves.blocks <= waves.at_once)
        return (struct waves){0};
    waves.full = (waves.blocks + waves.at_once - 1) / waves.at_once;
    waves.last = waves.blocks - (waves.full - 1) * waves.at_once;
    uint64_t room = waves.full * waves.at_once;
    waves.loss = (room - waves.blocks) * 1000000 / room;
    return waves;
}

/* In groups, extra_ns is the time lost. */
static struct le_position_groups gather_tails(struct le_rule_input *input) {
    struct le_position_groups groups = {.most = input->operation_count};
    uint64_t until_ns = 0; /* kernels of several streams may overlap */
    for (int32_t k = 0; k < input->operation_count; k++) {
        const struct le_operation *operation = le_rule_input_operation(input, k);
        struct waves waves = waves_of(input, operation);
        if (waves.loss * 100 < 1000000ull * LEAST_LOSS)
            continue;
        int32_t parts[2] = {operation->name, operation->shape};
        struct le_position_group *group = le_groups_get(input->scratch, &groups, le_hash(parts, sizeof parts, 0));
        if (group->count++ == 0)
            group->first = k;
        group->time_ns += le_operation_ns(operation);
        uint64_t alone_ns = operation->end_ns - le_once_from(&until_ns, operation->start_ns, operation->end_ns);
        group->extra_ns += (uint64_t)((double)alone_ns * (double)waves.loss / 1e6);
        le_rule_input_charge(input, le_call_of(input, operation), le_operation_ns(operation));
    }
    for (int k = 0; k < groups.count; k++)
        if (groups.at[k].time_ns / groups.at[k].count < SHORTEST_MEAN_NS)
            groups.at[k].extra_ns = 0;
    return groups;
}

void le_rule_tail_wave(struct le_rule_input *input) {
    struct le_position_groups groups = gather_tails(input);
    uint64_t time_ns, lost_ns;
    le_groups_sum(&groups, &time_ns, &lost_ns);
    if (lost_ns < input->least_gain_ns || time_ns * 100 < (input->end_ns - input->start_ns) * LEAST_OF_WHOLE)
        return;
    le_groups_sort(&groups);
    struct le_arena *arena = input->arena;
    const struct le_operation *first = le_rule_input_operation(input, groups.at[0].first);
    struct waves waves = waves_of(input, first);
    le_rule_input_claim(
        input,
        &(struct le_claim){
            .rule = "tail-wave",
            .title = le_arena_format(
                arena, "Tail wave: %s blocks run in %llu waves of up to %s, and the last wave is %s full",
                le_format_count(arena, waves.blocks), (unsigned long long)waves.full,
                le_format_count(arena, waves.at_once), le_format_percent(arena, waves.last, waves.at_once)),
            .evidence = le_arena_format(arena,
                                        "%s: %s, %s in total; all kernels with a tail wave: %s\n"
                                        "assumed: all blocks of a kernel take the same time",
                                        le_kernel_name(input, first->name),
                                        le_format_counted(arena, groups.at[0].count, "launch", "launches"),
                                        le_format_time(arena, groups.at[0].time_ns), le_format_time(arena, time_ns)),
            .advice = LE_ADVICE_TAIL,
            .gain_ns = lost_ns,
            .confidence = LE_PLAUSIBLE,
            .start_ns = first->start_ns,
            .end_ns = first->end_ns,
        });
}
