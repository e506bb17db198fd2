/* lazy-loading: modules loaded, or PTX compiled by the driver, after the first kernel: inside of what should be the
 * loop.
 */
#include "trace/rules/scene.h"
#include <string.h>

/* CUPTI's numbers in a JIT record. */
enum { JIT_COMPILES = 3 };
/* Loading one kernel lazily takes some 0.1 to 1 ms: below, nobody would see it. */
enum { LEAST_LOADING_NS = 5000000 };
/* Percent of the whole. */
enum { LEAST_SHARE_OF_WHOLE = 2 };

static bool is_inside(const struct le_scene *scene, const struct le_host_span *span) {
    return span->thread != LE_NONE && scene->index->threads.at[span->thread].process == scene->process &&
           span->start_ns >= scene->start_ns && span->end_ns <= scene->end_ns;
}

void le_rule_lazy_loading(struct le_scene *scene) {
    const struct le_index *index = scene->index;
    uint64_t loads = 0, load_ns = 0, compiled = 0, compile_ns = 0;
    for (int32_t k = 0; k < index->overheads.count; k++) {
        const struct le_host_span *span = &index->overheads.at[k];
        if (span->kind == LE_TRACE_OVERHEAD_LAZY_LOADING && is_inside(scene, span)) {
            loads++;
            load_ns += span->end_ns - span->start_ns;
        }
    }
    for (int32_t k = 0; k < index->jits.count; k++) {
        const struct le_host_span *span = &index->jits.at[k];
        if (span->kind == JIT_COMPILES && is_inside(scene, span)) {
            compiled++;
            compile_ns += span->end_ns - span->start_ns;
        }
    }
    uint64_t whole_ns = load_ns + compile_ns;
    if (whole_ns < LEAST_LOADING_NS || whole_ns * 100 < (scene->end_ns - scene->start_ns) * LEAST_SHARE_OF_WHOLE)
        return;
    struct le_arena *arena = scene->arena;
    le_scene_claim(
        scene,
        &(struct le_claim){
            .rule = "lazy-loading",
            .title = le_arena_format(arena, "Code loaded after the first kernel: %s", le_figure_time(arena, whole_ns)),
            .evidence =
                le_arena_format(arena,
                                "%s loaded at first use, %s; %s compiled by the "
                                "driver, %s\nthe time moves to the start, where it does "
                                "not disturb; only what the driver compiles can go",
                                le_figure_counted(arena, loads, "module", "modules"), le_figure_time(arena, load_ns),
                                le_figure_count(arena, compiled), le_figure_time(arena, compile_ns)),
            .advice = compiled ? LE_ADVICE_COMPILE : LE_ADVICE_LOADING,
            .gain_ns = compile_ns,
            .confidence = LE_PLAUSIBLE,
        });
}
