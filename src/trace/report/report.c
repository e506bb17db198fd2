/* Chooses the function that makes a report, and sets up its memory and output. See report.h. */
#include "trace/report/report.h"
#include "base/memory.h"
#include "trace/report/report_make.h"

static leat_status (*const makers[])(struct le_report *report) = {
    [LEAT_REPORT_OVERVIEW] = le_report_overview,     [LEAT_REPORT_SUMMARY] = le_report_summary,
    [LEAT_REPORT_OPERATIONS] = le_report_operations, [LEAT_REPORT_FINDINGS] = le_report_findings,
    [LEAT_REPORT_PERFETTO] = le_report_perfetto,     [LEAT_REPORT_SVG] = le_report_svg,
};

leat_status le_report_find(struct le_report *report, struct le_findings *findings) {
    return le_findings_find(report->index, report->finding_arena, findings);
}

/* Everything that may longjmp. */
static leat_status make_guarded(struct le_report *report, leat_report which) {
    if (setjmp(report->arena->failure))
        return le_fail_out_of_memory(report->arena->size_bytes);
    if (setjmp(report->group_arena->failure))
        return le_fail_out_of_memory(report->group_arena->size_bytes);
    if (setjmp(report->line_arena->failure))
        return le_fail_out_of_memory(report->line_arena->size_bytes);
    leat_status status = makers[which](report);
    if (status)
        return status;
    le_output_flush(report->output);
    return report->output->failed ? le_fail(LEAT_FILE, "the report cannot be written") : LEAT_OK;
}

leat_status le_report_make(const struct le_trace_index *index, leat_report which, leat_report_format format,
                           leat_report_write *write, void *user) {
    struct le_arena arena, finding_arena, group_arena, line_arena;
    struct le_output *output = le_alloc(sizeof *output);
    if (!output)
        return le_fail_out_of_memory(sizeof *output);
    output->write = write;
    output->user = user;
    output->length = 0;
    output->failed = output->comma = false;
    le_arena_init(&arena);
    le_arena_init(&finding_arena);
    le_arena_init(&group_arena);
    le_arena_init(&line_arena);
    struct le_report report = {.index = index,
                               .arena = &arena,
                               .finding_arena = &finding_arena,
                               .group_arena = &group_arena,
                               .line_arena = &line_arena,
                               .output = output,
                               .format = format};
    leat_status status = make_guarded(&report, which);
    le_arena_finish(&arena);
    le_arena_finish(&finding_arena);
    le_arena_finish(&group_arena);
    le_arena_finish(&line_arena);
    le_free(output);
    return status;
}
