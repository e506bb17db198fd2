/* first-call: the time until the first kernel or graph has run, and how much longer first launches take than later
 * ones. It claims no gain: it says which part of the run is not the program's loop. */
#include "trace/rules/groups.h"
#include "trace/rules/rule_input.h"

/* cuInit and a context take 345 ms, which does not matter to a program that runs for seconds. */
enum { LEAST_SETUP_NS = 100000000 };
/* Percent of the run. */
enum { LEAST_SETUP = 20 };

/* What was launched more than once, and how much longer its first launches took than the later ones. */
struct first {
    uint64_t kernels, graphs, time_ns;
};

#define GRAPH_KEY ((uint64_t)1 << 32) /* keys of kernels are smaller */

static bool is_graph(const struct le_operation *operation) {
    return operation->kind == LE_OPERATION_GRAPH || operation->graph != 0;
}

/* A graph is identified by its number, a kernel by its name. The nodes of a graph that are recorded one by one share
 * its call: only the first of them counts. */
static struct le_position_groups launches_by_name(struct le_rule_input *input) {
    struct le_position_groups names = {.most = input->operation_count};
    for (int32_t k = 0; k < input->operation_count; k++) {
        const struct le_operation *operation = le_rule_input_operation(input, k);
        const struct le_call *call = le_call_of(input, operation);
        if (!call || !(is_graph(operation) ? le_operation_of(input, call) == operation : le_is_kernel(operation)))
            continue;
        uint64_t key = is_graph(operation) ? GRAPH_KEY | operation->graph : (uint64_t)operation->name;
        struct le_position_group *group = le_groups_get(input->scratch, &names, key);
        *(group->count++ ? &group->time_ns : &group->extra_ns) += le_call_ns(call);
    }
    return names;
}

static struct first first_launches(struct le_rule_input *input) {
    struct le_position_groups names = launches_by_name(input);
    struct first first = {0};
    for (int k = 0; k < names.count; k++) {
        const struct le_position_group *group = &names.at[k];
        if (group->count < 2 || group->extra_ns <= group->time_ns / (group->count - 1))
            continue;
        *(group->key & GRAPH_KEY ? &first.graphs : &first.kernels) += 1;
        first.time_ns += group->extra_ns - group->time_ns / (group->count - 1);
    }
    return first;
}

static const char *first_evidence(const struct le_rule_input *input, const struct first *first) {
    static const char covers[] = "this covers start-up, loading, compiling and what the host did before";
    if (first->kernels + first->graphs == 0)
        return covers;
    return le_arena_format(input->arena, "%s\nthe first launches of %s took %s longer than later ones", covers,
                           le_kernels_and_graphs(input, first->kernels, first->graphs),
                           le_format_time(input->arena, first->time_ns));
}

static const struct le_operation *first_kernel(const struct le_rule_input *input) {
    for (int32_t k = 0; k < input->operation_count; k++)
        if (le_is_kernel(le_rule_input_operation(input, k)))
            return le_rule_input_operation(input, k);
    return NULL;
}

void le_rule_first_call(struct le_rule_input *input) {
    const struct le_process *process = &input->index->processes.at[input->process];
    const struct le_operation *operation = first_kernel(input);
    if (!operation)
        return;
    uint64_t begin_ns = process->start_ns && process->start_ns < input->start_ns ? process->start_ns : input->start_ns;
    uint64_t setup_ns = operation->end_ns - begin_ns;
    struct first first = first_launches(input);
    uint64_t whole_ns = input->end_ns - begin_ns, apart_ns = setup_ns + first.time_ns;
    if (apart_ns < LEAST_SETUP_NS || apart_ns * 100 < whole_ns * LEAST_SETUP)
        return;
    struct le_arena *arena = input->arena;
    le_rule_input_claim(input,
                        &(struct le_claim){
                            .rule = "first-call",
                            .title = le_arena_format(arena, "The first %s ended after %s; all CUDA work ended after %s",
                                                     is_graph(operation) ? "graph" : "kernel",
                                                     le_format_time(arena, setup_ns), le_format_time(arena, whole_ns)),
                            .evidence = first_evidence(input, &first),
                            .advice = LE_ADVICE_FIRST,
                            .confidence = LE_LIKELY,
                            .start_ns = begin_ns,
                            .end_ns = operation->end_ns,
                        });
}
