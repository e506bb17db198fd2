/* allocation-churn: device or pinned memory is allocated and freed repeatedly while the device works. */
#include "trace/rules/once.h"
#include "trace/rules/rule_input.h"
#include <string.h>

/* Fewer allocations are set-up. */
enum { LEAST_ALLOCATIONS = 20 };
/* The approximate time of an allocation from a pool. */
enum { POOLED_NS = 1000 };
/* Percent of the whole. */
enum { LEAST_TAKEN = 2 };

struct churn {
    uint64_t taken, given, pinned, time_ns, saved_ns;
};

/* Allocations from a pool already follow the advice. */
static bool is_churn(const struct le_rule_input *input, const struct le_call *call) {
    const char *function = le_text_of(input, call->function);
    return call->start_ns >= input->start_ns && call->kind >= LE_CALL_ALLOCATE && call->kind <= LE_CALL_PIN &&
           !strstr(function, "Async") && !strstr(function, "FromPool");
}

static struct churn sum_allocations(struct le_rule_input *input) {
    struct churn churn = {0};
    uint64_t until_ns = 0;
    for (int32_t k = 0; k < input->call_count; k++) {
        const struct le_call *call = le_rule_input_call(input, k);
        if (!is_churn(input, call))
            continue;
        uint64_t from_ns = le_once_from(&until_ns, call->start_ns, call->end_ns);
        churn.taken += call->kind == LE_CALL_ALLOCATE;
        churn.given += call->kind == LE_CALL_RELEASE;
        churn.pinned += call->kind == LE_CALL_PIN;
        uint64_t time_ns = call->end_ns - from_ns;
        uint64_t own_ns = time_ns - le_periods_overlap(&input->busy, from_ns, call->end_ns);
        churn.time_ns += time_ns;
        churn.saved_ns += own_ns > POOLED_NS ? own_ns - POOLED_NS : 0;
        le_rule_input_charge(input, call, le_call_ns(call));
    }
    return churn;
}

void le_rule_allocation_churn(struct le_rule_input *input) {
    struct churn churn = sum_allocations(input);
    if (churn.taken + churn.pinned < LEAST_ALLOCATIONS || churn.saved_ns < input->least_gain_ns ||
        churn.saved_ns * 100 < (input->end_ns - input->start_ns) * LEAST_TAKEN)
        return;
    struct le_arena *arena = input->arena;
    le_rule_input_claim(
        input, &(struct le_claim){
                   .rule = "allocation-churn",
                   .title = le_arena_format(arena, "Memory is allocated while the program runs: %s calls took %s",
                                            le_format_count(arena, churn.taken + churn.given + churn.pinned),
                                            le_format_time(arena, churn.time_ns)),
                   .evidence = le_arena_format(
                       arena,
                       "%s, %s and %s for pinned memory\n"
                       "the device was idle for %s of that\nassumed: a memory pool saves this time",
                       le_format_counted(arena, churn.taken, "allocation", "allocations"),
                       le_format_counted(arena, churn.given, "release", "releases"),
                       le_format_counted(arena, churn.pinned, "call", "calls"), le_format_time(arena, churn.saved_ns)),
                   .advice = LE_ADVICE_ALLOCATION,
                   .gain_ns = churn.saved_ns,
                   .confidence = LE_LIKELY,
               });
}
