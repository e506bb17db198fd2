/* graph-rebuilt: a graph is instantiated repeatedly, for a launch or two each time. */
#include "trace/rules/once.h"
#include "trace/rules/rule_input.h"
#include <string.h>

/* Fewer builds are different graphs, or the warm-up. */
enum { LEAST_BUILDS = 10 };
/* Instantiating a graph costs as much as launching its nodes two to six times in a stream, so a graph must be
 * launched more often than that. */
enum { MOST_LAUNCHES_EACH = 3 };

/* The time to launch a graph that was launched before. The first launch uploads it: on an H200, a graph of 200
 * kernels takes 280 us at first and then 50 us. */
enum { LAUNCH_NS = 5000, NODE_NS = 230 };

struct build {
    uint64_t start_ns; /* start of the current capture; 0: none */
    uint64_t nodes;    /* nodes captured or added since the last graph was begun */
    bool is_new;       /* the graph has not been launched yet */
    uint64_t until_ns; /* threads that build at the same time count once */
};

static bool is_called(const struct le_rule_input *input, const struct le_call *call, const char *part) {
    return call->kind == LE_CALL_GRAPH_BUILD && strstr(le_text_of(input, call->function), part);
}

static struct le_estimate time_without_recording(const struct le_rule_input *input, struct build *build,
                                                 uint64_t start_ns, uint64_t end_ns) {
    start_ns = le_once_from(&build->until_ns, start_ns, end_ns);
    return le_estimate_of_rest(le_recording_estimate(input, start_ns, end_ns), end_ns - start_ns);
}

static uint64_t difference_or_zero(uint64_t a, uint64_t b) {
    return a > b ? a - b : 0;
}

static struct le_estimate first_launch(const struct le_rule_input *input, const struct le_call *call,
                                       struct build *build) {
    uint64_t again_ns = LAUNCH_NS + NODE_NS * build->nodes;
    if (!build->is_new)
        return (struct le_estimate){0};
    build->is_new = false;
    struct le_estimate cost = time_without_recording(input, build, call->start_ns, call->end_ns);
    return (struct le_estimate){difference_or_zero(cost.least, again_ns), difference_or_zero(cost.likely, again_ns),
                                difference_or_zero(cost.most, again_ns)};
}

/* What the call adds to the time of building: everything from the beginning of a capture to the end of its
 * instantiation, the extra time of the first launch, and destroying the graph. */
static struct le_estimate build_cost(const struct le_rule_input *input, const struct le_call *call,
                                     struct build *build) {
    if (call->kind == LE_CALL_GRAPH_LAUNCH)
        return first_launch(input, call, build);
    if (is_called(input, call, "BeginCapture"))
        *build = (struct build){.start_ns = call->start_ns, .until_ns = build->until_ns};
    else if (is_called(input, call, "GraphCreate") && !build->start_ns)
        build->nodes = 0;
    build->nodes += (build->start_ns && call->kind == LE_CALL_LAUNCH) || is_called(input, call, "GraphAdd");
    build->is_new |= is_called(input, call, "Instantiate");
    if (call->kind != LE_CALL_GRAPH_BUILD || (build->start_ns && !is_called(input, call, "Instantiate")))
        return (struct le_estimate){0};
    uint64_t start_ns = build->start_ns ? build->start_ns : call->start_ns;
    build->start_ns = 0;
    return time_without_recording(input, build, start_ns, call->end_ns);
}

void le_rule_graph_rebuilt(struct le_rule_input *input) {
    uint64_t builds = 0, launches = 0, time_ns = 0;
    struct le_estimate gain = {0}; /* one build is needed */
    struct build build = {0};
    for (int32_t k = 0; k < input->call_count; k++) {
        const struct le_call *call = le_rule_input_call(input, k);
        struct le_estimate cost = build_cost(input, call, &build);
        launches += call->kind == LE_CALL_GRAPH_LAUNCH;
        builds += is_called(input, call, "Instantiate");
        time_ns += cost.likely;
        if (builds > 1)
            le_estimate_add(&gain, cost);
        if (cost.likely)
            le_rule_input_charge(input, call, cost.likely);
    }
    if (builds < LEAST_BUILDS || launches > builds * MOST_LAUNCHES_EACH || gain.likely < input->least_gain_ns)
        return;
    struct le_arena *arena = input->arena;
    le_rule_input_claim(
        input, &(struct le_claim){
                   .rule = "graph-rebuilt",
                   .title = le_arena_format(
                       arena, "A graph is built %s times for %s: %s", le_format_count(arena, builds),
                       le_format_counted(arena, launches, "launch", "launches"), le_format_time(arena, time_ns)),
                   .evidence = le_arena_format(arena,
                                               "this is the time to capture, add nodes, instantiate, launch for the "
                                               "first time and destroy\nupdating changed parameters takes 0.2 to "
                                               "0.3 us per node\nassumed: one graph serves all launches%s",
                                               le_recording_doubt_text(input, gain)),
                   .advice = LE_ADVICE_REBUILD,
                   .gain_ns = gain.likely,
                   .confidence = LE_PLAUSIBLE,
               });
}
