/* Reports of a trace. Each is one function that reads an index and writes to an output. The same trace always gives the
 * same bytes. Reports know nothing about files or the command line. */
#ifndef LE_REPORT_H
#define LE_REPORT_H
#include "base/arena.h"
#include "trace/rules/finding.h"
#include "trace/report/report_output.h"

enum { LE_REPORT_SCHEMA = 1 };

struct le_report {
    const struct le_trace_index *index;
    struct le_arena *arena;                       /* lives as long as the report; its failure jump is set */
    struct le_arena *finding_arena, *group_arena; /* group_arena: for groups of operations, calls and ranges */
    struct le_arena *line_arena;                  /* for texts that are needed for a line or two */
    uint64_t lines_ended;                         /* how many times line_arena was emptied */
    struct le_output *output;
    leat_report_format format;
};
leat_status le_report_overview(struct le_report *report);
leat_status le_report_summary(struct le_report *report);
leat_status le_report_operations(struct le_report *report);
leat_status le_report_findings(struct le_report *report);
leat_status le_report_perfetto(struct le_report *report);
leat_status le_report_svg(struct le_report *report);

/* ---- shared by several reports (report_words.c) */

/* Says that texts in line_arena are no longer needed. Call it after each line if there may be millions of lines. */
void le_report_line_end(struct le_report *report);
/* A cache of texts by position, with a fixed number of slots, so that most texts are made only once. {0} is empty. */
enum { LE_SHOWN_SLOTS = 1 << 12 };
struct le_shown {
    struct le_shown_slot {
        const char *text; /* in line_arena; NULL: not made yet */
        int32_t position;
    } slots[LE_SHOWN_SLOTS];
    uint64_t lines_ended;
};
/* The cache's entry for the text of a position, which may be LE_NONE. */
const char **le_shown_text(const struct le_report *report, struct le_shown *shown, int32_t position);

/* A readable name: C++ names are demangled. The result is `name` itself, or in the arena. */
const char *le_report_name(struct le_arena *arena, const char *name);
/* "app.py:12 in step"; "" for LE_NONE. This and the following texts are in line_arena. */
const char *le_report_source(const struct le_report *report, int32_t source);
const char *le_report_device(const struct le_report *report, int32_t device); /* "NVIDIA H200 (0)" */
const char *le_report_stream(const struct le_report *report,
                             int32_t stream); /* "stream 7", with the process if there are several */
const char *le_report_thread(const struct le_report *report, int32_t thread); /* "main (1234)" */
const char *le_memory_kind_name(unsigned kind);
const char *le_overhead_name(uint32_t kind); /* enum le_trace_overhead_kind */
const char *le_confidence_name(enum le_confidence confidence);
/* Write the first and last members of a JSON report: its schema and notes. */
void le_report_json_begin(struct le_report *report);
void le_report_json_end(struct le_report *report);
void le_report_notes_text(struct le_report *report); /* a line "note: ..." for each */
/* Finds the findings, in finding_arena, which lives as long as the report. */
leat_status le_report_find(struct le_report *report, struct le_findings *findings);
/* Write the findings as text, or as the JSON member "findings". */
void le_report_findings_text(struct le_report *report, const struct le_findings *findings);
void le_report_findings_json(struct le_report *report, const struct le_findings *findings);

/* Totals by name. */
struct le_named_time {
    int32_t name;
    uint32_t count;
    uint64_t total_ns, least_ns, most_ns, bytes;
};
struct le_named_times {
    struct le_named_time *at;
    int32_t count;
    uint64_t total_ns;
};
/* Sorted by total time, then by name. Valid until the next call of one of them. */
struct le_named_times le_named_times_of_operations(const struct le_report *report);
struct le_named_times le_named_times_of_calls(const struct le_report *report);
struct le_named_times le_named_times_of_ranges(const struct le_report *report);
#endif
