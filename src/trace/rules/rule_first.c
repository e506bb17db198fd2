/* first-call: what came before the first kernel had run, and what first launches took more than later ones. It claims
 * no gain: it says which part of the time is not that of the program's loop. */
#include "trace/rules/groups.h"
#include "trace/rules/scene.h"

/* cuInit and a context take 345 ms: who runs for seconds need not read of it. */
enum { LEAST_SETUP_NS = 100000000 };
/* Percent of all that was recorded. */
enum { LEAST_SETUP = 20 };

struct first {
    uint64_t kernels, time_ns;
};

/* First launches of kernels that were launched again, beyond what the others take. */
static struct first first_launches(struct le_scene *scene) {
    struct le_groups names = {.most = scene->operation_count};
    struct first first = {0};
    for (int32_t k = 0; k < scene->operation_count; k++) {
        const struct le_operation *operation = le_scene_operation(scene, k);
        const struct le_call *call = le_call_of(scene, operation);
        if (operation->kind != LE_OPERATION_KERNEL || !call || operation->is_of_graph)
            continue;
        struct le_group *group = le_groups_get(scene->scratch, &names, (uint64_t)operation->name);
        *(group->count++ ? &group->time_ns : &group->extra_ns) += le_call_ns(call);
    }
    for (int k = 0; k < names.count; k++) {
        const struct le_group *group = &names.at[k];
        if (group->count < 2 || group->extra_ns <= group->time_ns / (group->count - 1))
            continue;
        first.kernels++;
        first.time_ns += group->extra_ns - group->time_ns / (group->count - 1);
    }
    return first;
}

static const struct le_operation *first_kernel(const struct le_scene *scene) {
    for (int32_t k = 0; k < scene->operation_count; k++)
        if (le_is_kernel(le_scene_operation(scene, k)))
            return le_scene_operation(scene, k);
    return NULL;
}

void le_rule_first_call(struct le_scene *scene) {
    const struct le_process *process = &scene->index->processes.at[scene->process];
    const struct le_operation *operation = first_kernel(scene);
    if (!operation)
        return;
    uint64_t begin_ns = process->start_ns && process->start_ns < scene->start_ns ? process->start_ns : scene->start_ns;
    uint64_t setup_ns = operation->end_ns - begin_ns;
    struct first first = first_launches(scene);
    uint64_t whole_ns = scene->end_ns - begin_ns, apart_ns = setup_ns + first.time_ns;
    if (apart_ns < LEAST_SETUP_NS || apart_ns * 100 < whole_ns * LEAST_SETUP)
        return;
    struct le_arena *arena = scene->arena;
    le_scene_claim(scene,
                   &(struct le_claim){
                       .rule = "first-call",
                       .title = le_arena_format(arena, "Before the first kernel had run %s of %s were over",
                                                le_figure_time(arena, setup_ns), le_figure_time(arena, whole_ns)),
                       .evidence = le_arena_format(
                           arena,
                           "start-up, loading, compiling, and what the host did before; first launches of %s "
                           "kernels took %s more than later ones",
                           le_figure_count(arena, first.kernels), le_figure_time(arena, first.time_ns)),
                       .advice = LE_ADVICE_FIRST,
                       .confidence = LE_LIKELY,
                       .start_ns = begin_ns,
                       .end_ns = operation->end_ns,
                   });
}
