/* graph-rebuilt: a graph that is instantiated again and again, for a launch or two each time. */
#include "trace/scene.h"
#include <string.h>

/* Fewer are different graphs, or the warm-up. */
enum { LEAST_BUILDS = 10 };
/* Instantiating costs two to six launches of its nodes in a stream: a graph has to be launched more often than that. */
enum { MOST_LAUNCHES_EACH = 3 };

void le_rule_graph_rebuilt(struct le_scene *scene) {
    uint64_t builds = 0, launches = 0, time_ns = 0, first_ns = 0;
    for (int32_t k = 0; k < scene->call_count; k++) {
        const struct le_call *call = le_scene_call(scene, k);
        launches += call->kind == LE_CALL_GRAPH_LAUNCH;
        if (call->kind != LE_CALL_GRAPH_BUILD)
            continue;
        builds += strstr(le_text_of(scene, call->function), "Instantiate") != NULL;
        time_ns += le_call_ns(call);
        first_ns += builds <= 1 ? le_call_ns(call) : 0; /* one has to be made */
        le_blame(scene, call, le_call_ns(call));
    }
    if (builds < LEAST_BUILDS || launches > builds * MOST_LAUNCHES_EACH || time_ns - first_ns < scene->worth_ns)
        return;
    struct le_arena *arena = scene->arena;
    le_scene_claim(scene, &(struct le_claim){
                              .rule = "graph-rebuilt",
                              .title = le_arena_format(arena, "A graph is built %s times for %s launches: %s",
                                                       le_figure_count(arena, builds), le_figure_count(arena, launches),
                                                       le_figure_time(arena, time_ns)),
                              .evidence = "capturing, adding nodes and instantiating; an update of changed parameters "
                                          "takes 0.2 to 0.3 us a node\nassumed: one graph does for all",
                              .advice = LE_ADVICE_REBUILD,
                              .gain_ns = time_ns - first_ns,
                              .confidence = LE_PLAUSIBLE,
                          });
}
