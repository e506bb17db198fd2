/* Operations of a warp's lanes: __syncwarp, shuffles, votes, matches, reductions. A lane waits until all lanes of its
 * mask wait in the same operation with the same mask. Lanes that the block does not have, or that have ended, do not
 * count. __activemask is answered when no other thread can go on; its result is the lanes that are then at the same
 * call. */
#include "sim/grid/sim_thread_block.h"
#include <stdio.h>

struct lanes {
    struct sim_thread *at; /* lane 0 */
    const unsigned char *state;
    unsigned base, count, ended; /* base: the thread number of lane 0; ended: a mask */
};

static struct lanes lanes_of(const struct sim_run *run, unsigned warp) {
    struct lanes lanes = {.base = warp * SIM_WARP};
    lanes.at = run->thread_block->threads + lanes.base;
    lanes.state = run->thread_block->state + lanes.base;
    lanes.count = run->threads - lanes.base < SIM_WARP ? run->threads - lanes.base : SIM_WARP;
    for (unsigned k = 0; k < lanes.count; k++)
        lanes.ended |= lanes.state[k] == SIM_ENDED ? 1u << k : 0;
    return lanes;
}

static unsigned all_lanes(unsigned count) {
    return count == SIM_WARP ? ~0u : (1u << count) - 1;
}

/* The lane that a shuffle reads, or the lane itself if there is none. Widths and bounds follow the PTX manual. */
static unsigned source_lane(const struct sim_thread *thread, unsigned lane) {
    unsigned width = thread->argument >> 8, operand = thread->argument & 255, low = lane & ~(width - 1);
    unsigned source = lane;
    switch (thread->kind) {
    case SIM_SHUFFLE:
        return low | (operand & (width - 1));
    case SIM_SHUFFLE_UP:
        source = lane - operand;
        return operand > lane || source < low ? lane : source;
    case SIM_SHUFFLE_DOWN:
        source = lane + operand;
        return source >= low + width ? lane : source;
    default:
        source = lane ^ operand;
        return source >= low + width ? lane : source;
    }
}

static uint64_t count_votes(const struct lanes *lanes, unsigned group, int kind) {
    unsigned yes = 0;
    for (unsigned left = group; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        yes |= lanes->at[lane].value ? 1u << lane : 0;
    }
    return kind == SIM_BALLOT ? yes : kind == SIM_ALL ? yes == group : yes != 0;
}

static unsigned matching_lanes(const struct lanes *lanes, unsigned group, uint64_t value) {
    unsigned same = 0;
    for (unsigned left = group; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        same |= lanes->at[lane].value == value ? 1u << lane : 0;
    }
    return same;
}

static uint32_t reduce_two(int kind, uint32_t a, uint32_t b) {
    switch (kind) {
    case SIM_REDUCE_ADD:
        return a + b;
    case SIM_REDUCE_MIN:
        return a < b ? a : b;
    case SIM_REDUCE_MAX:
        return a > b ? a : b;
    case SIM_REDUCE_MIN_SIGNED:
        return (int32_t)a < (int32_t)b ? a : b;
    case SIM_REDUCE_MAX_SIGNED:
        return (int32_t)a > (int32_t)b ? a : b;
    case SIM_REDUCE_AND:
        return a & b;
    case SIM_REDUCE_OR:
        return a | b;
    default:
        return a ^ b;
    }
}

static uint64_t reduce_lanes(const struct lanes *lanes, unsigned group, int kind) {
    uint32_t total = (uint32_t)lanes->at[__builtin_ctz(group)].value;
    for (unsigned left = group & (group - 1); left; left &= left - 1)
        total = reduce_two(kind, total, (uint32_t)lanes->at[__builtin_ctz(left)].value);
    return total;
}

static void report_lane(struct sim_run *run, const struct sim_thread *thread, const char *text, unsigned lane) {
    if (!run->check)
        return;
    char location[300];
    struct sim_thread_id id = le_sim_thread_id_of(run, thread);
    snprintf(location, sizeof location, "%s:%d", thread->file, thread->line);
    le_sim_check_report(run->check, SIM_REPORT_DIVERGENT_BARRIER, &id, location, text, lane);
}

static uint64_t result_of(struct sim_run *run, const struct lanes *lanes, unsigned group, unsigned lane) {
    const struct sim_thread *thread = &lanes->at[lane];
    switch (thread->kind) {
    case SIM_SYNCWARP:
        return 0;
    case SIM_SHUFFLE:
    case SIM_SHUFFLE_UP:
    case SIM_SHUFFLE_DOWN:
    case SIM_SHUFFLE_XOR: {
        unsigned source = source_lane(thread, lane);
        if (group >> source & 1)
            return lanes->at[source].value;
        report_lane(run, thread, "a warp shuffle reads lane %u, which does not take part in it", source);
        return ~(uint64_t)0; /* undefined */
    }
    case SIM_BALLOT:
    case SIM_ALL:
    case SIM_ANY:
        return count_votes(lanes, group, thread->kind);
    case SIM_MATCH_ANY:
        return matching_lanes(lanes, group, thread->value);
    case SIM_MATCH_ALL:
        return matching_lanes(lanes, group, thread->value) == group ? group : 0;
    default:
        return reduce_lanes(lanes, group, thread->kind);
    }
}

static void complete_group(struct sim_run *run, const struct lanes *lanes, unsigned group) {
    unsigned first = (unsigned)__builtin_ctz(group);
    const struct sim_thread *thread = &lanes->at[first];
    unsigned gone = thread->mask & lanes->ended;
    if (gone)
        report_lane(run, thread, "the mask includes lane %u of the warp, which has ended",
                    (unsigned)__builtin_ctz(gone));
    for (unsigned left = group; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        lanes->at[lane].result = result_of(run, lanes, group, lane);
    }
    for (unsigned left = group; left; left &= left - 1)
        run->thread_block->state[lanes->base + (unsigned)__builtin_ctz(left)] = SIM_READY;
    run->thread_block->progressed = true;
    if (run->check && thread->kind == SIM_SYNCWARP)
        le_sim_check_warp_barrier(run->check, run->thread_block->number, lanes->base / SIM_WARP, group);
}

static void try_lane(struct sim_run *run, const struct lanes *lanes, unsigned lane) {
    const struct sim_thread *thread = &lanes->at[lane];
    unsigned group = thread->mask & all_lanes(lanes->count) & ~lanes->ended;
    if (thread->kind == SIM_ACTIVE)
        return;
    for (unsigned left = group; left; left &= left - 1) {
        unsigned k = (unsigned)__builtin_ctz(left);
        const struct sim_thread *other = &lanes->at[k];
        if (lanes->state[k] != SIM_AT_WARP || other->kind != thread->kind || other->mask != thread->mask)
            return;
    }
    complete_group(run, lanes, group);
}

void le_sim_warp_try_complete(struct sim_run *run, struct sim_thread *thread) {
    struct lanes lanes = lanes_of(run, thread->self->warp);
    try_lane(run, &lanes, thread->self->lane);
}

void le_sim_warp_ended(struct sim_run *run, unsigned warp) {
    struct lanes lanes = lanes_of(run, warp);
    for (unsigned k = 0; k < lanes.count; k++)
        if (lanes.state[k] == SIM_AT_WARP)
            try_lane(run, &lanes, k);
}

bool le_sim_warp_answer_activemask(struct sim_run *run) {
    bool answered = false;
    for (unsigned warp = 0; warp < run->warps; warp++) {
        struct lanes lanes = lanes_of(run, warp);
        for (unsigned k = 0; k < lanes.count; k++) {
            const struct sim_thread *thread = &lanes.at[k];
            unsigned group = 0;
            if (lanes.state[k] != SIM_AT_WARP || thread->kind != SIM_ACTIVE)
                continue;
            for (unsigned i = k; i < lanes.count; i++)
                if (lanes.state[i] == SIM_AT_WARP && lanes.at[i].kind == SIM_ACTIVE && lanes.at[i].line == thread->line)
                    group |= 1u << i;
            for (unsigned left = group; left; left &= left - 1) {
                unsigned i = (unsigned)__builtin_ctz(left);
                lanes.at[i].result = group;
                run->thread_block->state[lanes.base + i] = SIM_READY;
            }
            answered = true;
        }
    }
    return answered;
}
