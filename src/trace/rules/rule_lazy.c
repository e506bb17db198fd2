/* lazy-loading: modules are loaded, or PTX is compiled by the driver, after the first kernel. */
#include "trace/rules/rule_input.h"
#include <string.h>

/* CUPTI's number for it in a JIT record. */
enum { JIT_COMPILES = 3 };
/* Loading one kernel lazily takes about 0.1 to 1 ms. Less than this in total does not matter. */
enum { LEAST_LOADING_NS = 5000000 };
/* Percent of the run. */
enum { LEAST_SHARE_OF_WHOLE = 2 };

static bool is_inside(const struct le_rule_input *input, const struct le_host_span *span) {
    return span->thread != LE_NONE && input->index->threads.at[span->thread].process == input->process &&
           span->start_ns >= input->start_ns && span->end_ns <= input->end_ns;
}

struct loading {
    struct le_periods loads, compiled;
    uint64_t load_count, compile_count;
};

static struct loading gather_loading(const struct le_rule_input *input) {
    const struct le_trace_index *index = input->index;
    struct loading loading = {.loads = le_periods_new(input->scratch, index->overheads.count),
                              .compiled = le_periods_new(input->scratch, index->jits.count)};
    for (int32_t k = 0; k < index->overheads.count; k++) {
        const struct le_host_span *span = &index->overheads.at[k];
        if (span->kind == LE_TRACE_OVERHEAD_LAZY_LOADING && is_inside(input, span)) {
            loading.load_count++;
            le_periods_add(&loading.loads, span->start_ns, span->end_ns);
        }
    }
    for (int32_t k = 0; k < index->jits.count; k++) {
        const struct le_host_span *span = &index->jits.at[k];
        if (span->kind == JIT_COMPILES && is_inside(input, span)) {
            loading.compile_count++;
            le_periods_add(&loading.compiled, span->start_ns, span->end_ns);
        }
    }
    return loading;
}

/* Code that is compiled while its module is loaded counts as compiled only. */
static uint64_t loading_alone_ns(const struct loading *loading) {
    uint64_t time_ns = le_periods_total(&loading->loads);
    for (int64_t k = 0; k < loading->loads.count; k++)
        time_ns -= le_periods_overlap(&loading->compiled, loading->loads.at[k].start_ns, loading->loads.at[k].end_ns);
    return time_ns;
}

static const char *lazy_evidence(const struct le_rule_input *input, const struct loading *loading, uint64_t load_ns,
                                 uint64_t compile_ns) {
    struct le_arena *arena = input->arena;
    const char *loads = le_arena_format(arena, "%s loaded at first use in %s",
                                        le_format_counted(arena, loading->load_count, "module", "modules"),
                                        le_format_time(arena, load_ns));
    if (loading->compile_count == 0)
        return le_arena_format(arena, "%s\nloading can move to the start of the program, but it cannot be saved",
                               loads);
    return le_arena_format(arena,
                           "%s; %s compiled by the driver in %s\n"
                           "loading can move to the start of the program; the driver's compile time can be saved",
                           loads, le_format_count(arena, loading->compile_count), le_format_time(arena, compile_ns));
}

void le_rule_lazy_loading(struct le_rule_input *input) {
    struct loading loading = gather_loading(input);
    uint64_t load_ns = loading_alone_ns(&loading), compile_ns = le_periods_total(&loading.compiled);
    uint64_t whole_ns = load_ns + compile_ns;
    if (whole_ns < LEAST_LOADING_NS || whole_ns * 100 < (input->end_ns - input->start_ns) * LEAST_SHARE_OF_WHOLE)
        return;
    struct le_arena *arena = input->arena;
    le_rule_input_claim(input, &(struct le_claim){
                                   .rule = "lazy-loading",
                                   .title = le_arena_format(arena, "Code was loaded after the first kernel: %s",
                                                            le_format_time(arena, whole_ns)),
                                   .evidence = lazy_evidence(input, &loading, load_ns, compile_ns),
                                   .advice = loading.compile_count ? LE_ADVICE_PTX : LE_ADVICE_LOADING,
                                   .gain_ns = compile_ns,
                                   .confidence = LE_PLAUSIBLE,
                               });
}
