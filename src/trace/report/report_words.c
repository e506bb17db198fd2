/* Names, source lines and totals by name, as reports show them. See report.h. */
#include "base/demangle.h"
#include "base/memory.h"
#include "trace/report/report.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- names of kernels */

const char *le_report_name(struct le_arena *arena, const char *name) {
    const char *readable = le_demangle(arena, name);
    return readable ? readable : name;
}

/* ---- texts of a line */

void le_report_line_end(struct le_report *report) {
    enum { KEPT_BYTES = 1 << 20 };
    if (report->line_arena->size_bytes <= KEPT_BYTES)
        return;
    le_arena_finish(report->line_arena);
    report->lines_ended++;
}

const char **le_shown_text(const struct le_report *report, struct le_shown *shown, int32_t position) {
    struct le_shown_slot *slot = &shown->slots[(uint32_t)position % LE_SHOWN_SLOTS];
    if (shown->lines_ended != report->lines_ended) {
        memset(shown->slots, 0, sizeof shown->slots);
        shown->lines_ended = report->lines_ended;
    }
    if (slot->position != position)
        *slot = (struct le_shown_slot){.position = position};
    return &slot->text;
}

/* ---- sources, devices, streams, threads */

static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

const char *le_report_source(const struct le_report *report, int32_t source) {
    const struct le_trace_index *index = report->index;
    if (source == LE_NONE)
        return "";
    const struct le_source *at = &index->sources.at[source];
    const char *function = index->texts.at[at->function], *file = index->texts.at[at->file];
    if (at->language == LE_TRACE_NATIVE)
        return le_arena_format(report->line_arena, "%s (%s)",
                               le_report_name(report->line_arena, *function ? function : "?"), last_part(file));
    if (at->line == 0)
        return le_arena_format(report->line_arena, "%s in %s", file, function);
    return le_arena_format(report->line_arena, "%s:%d in %s", file, (int)at->line, function);
}

const char *le_report_device(const struct le_report *report, int32_t device) {
    if (device == LE_NONE)
        return "unknown device";
    const struct le_trace_device *at = &report->index->devices.at[device];
    if (at->name == 0)
        return le_arena_format(report->line_arena, "device %u", (unsigned)at->id);
    return le_arena_format(report->line_arena, "%s (%u)", report->index->texts.at[at->name], (unsigned)at->id);
}

const char *le_report_stream(const struct le_report *report, int32_t stream) {
    const struct le_stream *at = &report->index->streams.at[stream];
    const char *null = at->is_null ? ", the null stream" : "";
    if (report->index->processes.count < 2)
        return le_arena_format(report->line_arena, "stream %u%s", (unsigned)at->id, null);
    return le_arena_format(report->line_arena, "stream %u%s of process %u", (unsigned)at->id, null,
                           (unsigned)report->index->processes.at[at->process].id);
}

const char *le_report_thread(const struct le_report *report, int32_t thread) {
    const struct le_thread *at = &report->index->threads.at[thread];
    if (at->name == 0)
        return le_arena_format(report->line_arena, "thread %u", (unsigned)at->id);
    return le_arena_format(report->line_arena, "%s (%u)", report->index->texts.at[at->name], (unsigned)at->id);
}

const char *le_memory_kind_name(unsigned kind) {
    static const char *const names[] = {"-", "Pageable", "Pinned", "Device", "Array", "Managed"};
    return kind < ARRAY_LEN(names) ? names[kind] : "-";
}

const char *le_overhead_name(uint32_t kind) {
    static const char *const names[] = {"overhead",         "driver compiler", "profiler buffers", "instrumentation",
                                        "driver resources", "lazy loading",    "queue full"};
    return names[kind < ARRAY_LEN(names) ? kind : 0];
}

const char *le_confidence_name(enum le_confidence confidence) {
    static const char *const names[] = {"likely", "plausible", "a hint"};
    return names[confidence];
}

void le_report_notes_text(struct le_report *report) {
    for (int32_t k = 0; k < report->index->notes.count; k++) {
        le_output_text(report->output, k == 0 ? "\nnote: " : "note: ");
        le_output_text(report->output, report->index->notes.at[k]);
        le_output_text(report->output, "\n");
    }
}

/* ---- the first and last members of JSON */

void le_report_json_begin(struct le_report *report) {
    le_output_open(report->output, NULL, '{');
    le_output_json_count(report->output, "schema", LE_REPORT_SCHEMA);
}

void le_report_json_end(struct le_report *report) {
    le_output_open(report->output, "notes", '[');
    for (int32_t k = 0; k < report->index->notes.count; k++)
        le_output_json_text(report->output, NULL, report->index->notes.at[k]);
    le_output_close(report->output, ']');
    le_output_open(report->output, "errors", '[');
    le_output_close(report->output, ']');
    le_output_close(report->output, '}');
    le_output_text(report->output, "\n");
}

/* ---- groups */

/* Groups in the order in which their names were first seen. of: by name, the group's position plus one. */
struct grouping {
    struct le_named_time *at;
    int32_t *of, count;
};

static struct grouping new_groups(const struct le_report *report, int32_t rows) {
    int32_t names = report->index->texts.count;
    le_arena_finish(report->group_arena);
    return (struct grouping){.at = LE_NEW_ARRAY(report->group_arena, rows < names ? rows : names, struct le_named_time),
                             .of = LE_NEW_ARRAY(report->group_arena, names, int32_t)};
}

static struct le_named_time *group_of(struct grouping *groups, int32_t name) {
    int32_t *of = &groups->of[name];
    if (!*of) {
        groups->at[groups->count++] = (struct le_named_time){.name = name, .least_ns = UINT64_MAX};
        *of = groups->count;
    }
    return &groups->at[*of - 1];
}

static void add_time(struct le_named_time *group, uint64_t time_ns, uint64_t bytes) {
    group->count++;
    group->total_ns += time_ns;
    group->bytes += bytes;
    group->least_ns = time_ns < group->least_ns ? time_ns : group->least_ns;
    group->most_ns = time_ns > group->most_ns ? time_ns : group->most_ns;
}

/* Equal totals are sorted by the position of the name, which is the order in the file. */
static int longer_first(const void *left, const void *right) {
    const struct le_named_time *a = left, *b = right;
    if (a->total_ns != b->total_ns)
        return a->total_ns > b->total_ns ? -1 : 1;
    return a->name < b->name ? -1 : a->name > b->name;
}

static struct le_named_times sort_groups(const struct grouping *groups) {
    struct le_named_times sorted = {.at = groups->at, .count = groups->count};
    for (int32_t k = 0; k < groups->count; k++)
        sorted.total_ns += groups->at[k].total_ns;
    qsort(groups->at, (size_t)groups->count, sizeof *groups->at, longer_first);
    return sorted;
}

struct le_named_times le_named_times_of_operations(const struct le_report *report) {
    const struct le_trace_index *index = report->index;
    struct grouping groups = new_groups(report, index->operations.count);
    for (int32_t k = 0; k < index->operations.count; k++) {
        const struct le_operation *operation = &index->operations.at[k];
        add_time(group_of(&groups, operation->name), operation->end_ns - operation->start_ns, operation->bytes);
    }
    return sort_groups(&groups);
}

struct le_named_times le_named_times_of_calls(const struct le_report *report) {
    const struct le_trace_index *index = report->index;
    struct grouping groups = new_groups(report, index->calls.count);
    for (int32_t k = 0; k < index->calls.count; k++)
        add_time(group_of(&groups, index->calls.at[k].function),
                 index->calls.at[k].end_ns - index->calls.at[k].start_ns, 0);
    return sort_groups(&groups);
}

struct le_named_times le_named_times_of_ranges(const struct le_report *report) {
    const struct le_trace_index *index = report->index;
    struct grouping groups = new_groups(report, index->ranges.count);
    for (int32_t k = 0; k < index->ranges.count; k++)
        add_time(group_of(&groups, index->ranges.at[k].name), index->ranges.at[k].end_ns - index->ranges.at[k].start_ns,
                 0);
    return sort_groups(&groups);
}
