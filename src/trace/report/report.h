/* Reports of a trace, each one function over an index that writes through an output. The same trace gives the same
 * bytes. They know no files and no command. */
#ifndef LE_REPORT_H
#define LE_REPORT_H
#include "base/arena.h"
#include "trace/rules/finding.h"
#include "trace/report/report_output.h"

enum { LE_REPORT_SCHEMA = 1 };

struct le_report {
    const struct le_trace_index *index;
    struct le_arena *arena;                       /* freed after the report; its failure is set */
    struct le_arena *finding_arena, *group_arena; /* group_arena: of what is named together */
    struct le_arena *line_arena;                  /* of texts that a line or two need */
    uint64_t lines_ended;                         /* how often line_arena was emptied */
    struct le_output *output;
    leat_report_format format;
};
leat_status le_report_overview(struct le_report *report);
leat_status le_report_summary(struct le_report *report);
leat_status le_report_operations(struct le_report *report);
leat_status le_report_findings(struct le_report *report);
leat_status le_report_perfetto(struct le_report *report);
leat_status le_report_svg(struct le_report *report);

/* ---- what several of them need (report_words.c) */

/* Texts of line_arena are no longer needed; to be called after each of what may be millions of lines. */
void le_report_line_end(struct le_report *report);
/* What was made last of some positions, so that most is made once: a table of limited size. {0} is empty. */
enum { LE_SHOWN_SLOTS = 1 << 12 };
struct le_shown {
    struct le_shown_slot {
        const char *text; /* of line_arena; NULL: to be made */
        int32_t position;
    } slots[LE_SHOWN_SLOTS];
    uint64_t lines_ended;
};
/* The place for the text of a position, or of LE_NONE. */
const char **le_shown_text(const struct le_report *report, struct le_shown *shown, int32_t position);

/* A name as people read it: that of a C++ function by le_demangle. The index's own text, or the arena's. */
const char *le_report_name(struct le_arena *arena, const char *name);
/* "app.py:12 in step"; "" for LE_NONE. These are texts of line_arena. */
const char *le_report_source(const struct le_report *report, int32_t source);
const char *le_report_device(const struct le_report *report, int32_t device); /* "NVIDIA H200 (0)" */
const char *le_report_stream(const struct le_report *report, int32_t stream); /* "stream 7", with process if many */
const char *le_report_thread(const struct le_report *report, int32_t thread); /* "main (1234)" */
const char *le_memory_kind_name(unsigned kind);
const char *le_overhead_name(uint32_t kind); /* enum le_trace_overhead_kind */
const char *le_confidence_name(enum le_confidence confidence);
/* JSON's first and last members: schema and notes. */
void le_report_json_begin(struct le_report *report);
void le_report_json_end(struct le_report *report);
void le_report_notes_text(struct le_report *report); /* "note: ..." for each */
/* The findings, in an arena of their own, which lives as long as the report's. */
leat_status le_report_find(struct le_report *report, struct le_findings *findings);
/* The findings as text, or as JSON's member "findings". */
void le_report_findings_text(struct le_report *report, const struct le_findings *findings);
void le_report_findings_json(struct le_report *report, const struct le_findings *findings);

/* What has one name, together; sorted by total, then name. */
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
/* Until the next ones. */
struct le_named_times le_named_times_of_operations(const struct le_report *report);
struct le_named_times le_named_times_of_calls(const struct le_report *report);
struct le_named_times le_named_times_of_ranges(const struct le_report *report);
#endif
