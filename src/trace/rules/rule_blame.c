/* blamed-wait: a copy, an allocation or a wait looks slow by a clock around it, but it waited for kernels that were
 * launched before. The rule claims no gain: it says what the time was spent on. */
#include "trace/rules/groups.h"
#include "trace/rules/once.h"
#include "trace/rules/rule_input.h"

/* Percent of a call that it must have waited for kernels. */
enum { LEAST_WAITED = 50 };
/* Percent of the run that such calls take. */
enum { LEAST_OF_ALL = 5 };
/* The name of a wait says that it waits. It is worth a finding only if it waits for many launches. */
enum { LEAST_LAUNCHES = 100 };

struct launched {
    uint64_t kernels, graphs;
};

struct blamed {
    const struct le_call *most; /* the call that waited longest */
    uint64_t count, call_ns, waited_ns, copy_ns;
    struct launched launched;
    uint64_t most_ns;                    /* how long it waited */
    uint64_t called_until, waited_until; /* several threads may wait for the same kernels, which count once */
};

static bool looks_slow(const struct le_call *call) {
    return call->kind == LE_CALL_COPY || call->kind == LE_CALL_COPY_ASYNC || call->kind == LE_CALL_SET ||
           call->kind == LE_CALL_ALLOCATE || call->kind == LE_CALL_RELEASE;
}

/* Adds kernels and graphs that started before the time. `started` continues from call to call. */
static void count_kernels(const struct le_rule_input *input, uint64_t before_ns, int32_t *started,
                          struct launched *launched) {
    for (; *started < input->operation_count && le_rule_input_operation(input, *started)->start_ns < before_ns;
         ++*started) {
        uint8_t kind = le_rule_input_operation(input, *started)->kind;
        launched->kernels += kind == LE_OPERATION_KERNEL;
        launched->graphs += kind == LE_OPERATION_GRAPH;
    }
}

static void add_call(struct le_rule_input *input, const struct le_call *call, struct launched launched,
                     struct blamed *blamed) {
    const struct le_operation *operation = le_operation_of(input, call);
    uint64_t until_ns = operation && operation->start_ns < call->end_ns ? operation->start_ns : call->end_ns;
    uint64_t waited_ns = le_periods_overlap(&input->kernels, call->start_ns, until_ns);
    if (waited_ns * 100 < le_call_ns(call) * LEAST_WAITED)
        return;
    blamed->count++;
    blamed->call_ns += call->end_ns - le_once_from(&blamed->called_until, call->start_ns, call->end_ns);
    blamed->waited_ns +=
        le_periods_overlap(&input->kernels, le_once_from(&blamed->waited_until, call->start_ns, until_ns), until_ns);
    blamed->copy_ns += operation ? le_operation_ns(operation) : 0;
    blamed->launched.kernels += launched.kernels;
    blamed->launched.graphs += launched.graphs;
    if (waited_ns > blamed->most_ns) {
        blamed->most_ns = waited_ns;
        blamed->most = call;
    }
    le_rule_input_charge(input, call, waited_ns);
}

static struct blamed gather_blamed(struct le_rule_input *input, bool waits) {
    struct blamed blamed = {0};
    int32_t started = 0;
    struct launched launched = {0};
    for (int32_t k = 0; k < input->call_count; k++) {
        const struct le_call *call = le_rule_input_call(input, k);
        if (call->kind != LE_CALL_WAIT && !looks_slow(call))
            continue;
        count_kernels(input, call->end_ns, &started, &launched);
        if ((call->kind == LE_CALL_WAIT) != waits)
            continue;
        if (!waits || launched.kernels + launched.graphs >= LEAST_LAUNCHES)
            add_call(input, call, launched, &blamed);
        launched = (struct launched){0};
    }
    return blamed;
}

/* The kernel that took most of the time up to the end of the call. */
static const char *main_kernel(struct le_rule_input *input, const struct le_call *call) {
    struct le_position_groups names = {0};
    const struct le_position_group *most = NULL;
    for (int32_t k = 0; k < input->operation_count; k++) {
        const struct le_operation *operation = le_rule_input_operation(input, k);
        if (operation->start_ns >= call->end_ns)
            break;
        if (le_is_kernel(operation) && operation->end_ns > call->start_ns)
            le_groups_get(input->scratch, &names, (uint64_t)operation->name)->time_ns += le_operation_ns(operation);
    }
    for (int k = 0; k < names.count; k++)
        if (!most || names.at[k].time_ns > most->time_ns)
            most = &names.at[k];
    return most ? le_kernel_name(input, (int32_t)most->key) : "";
}

static void claim_waits(struct le_rule_input *input, bool waits) {
    struct blamed blamed = gather_blamed(input, waits);
    if (!blamed.most || blamed.waited_ns * 100 < (input->end_ns - input->start_ns) * LEAST_OF_ALL ||
        blamed.waited_ns < input->least_gain_ns) {
        le_rule_input_drop_charges(input);
        return;
    }
    struct le_arena *arena = input->arena;
    const char *mostly =
        blamed.launched.kernels == 0 ? "" : le_arena_format(arena, ", mostly for %s", main_kernel(input, blamed.most));
    const char *own = blamed.copy_ns == 0 ? "the call itself does no work on the device"
                                          : le_arena_format(arena, "the copies themselves took %s",
                                                            le_format_time(arena, blamed.copy_ns));
    le_rule_input_claim(
        input,
        &(struct le_claim){
            .rule = "blamed-wait",
            .title = le_arena_format(arena, "%s is not slow: %s of its %s were spent waiting for kernels",
                                     le_text_of(input, blamed.most->function), le_format_time(arena, blamed.waited_ns),
                                     le_format_time(arena, blamed.call_ns)),
            .evidence = le_arena_format(
                arena, "%s waited for %s%s\n%s", le_format_counted(arena, blamed.count, "call", "calls"),
                le_kernels_and_graphs(input, blamed.launched.kernels, blamed.launched.graphs), mostly, own),
            .advice = LE_ADVICE_BLAME,
            .confidence = LE_LIKELY,
            .start_ns = blamed.most->start_ns,
            .end_ns = blamed.most->end_ns,
        });
}

void le_rule_blamed_wait(struct le_rule_input *input) {
    claim_waits(input, false);
    claim_waits(input, true);
}
