/* The summary: one line for each kernel, kind of copy, function and range, with nvprof's columns. */
#include "trace/format_figures.h"
#include "trace/report/report.h"

static const struct {
    const char *name, *key;
    struct le_named_times (*find)(const struct le_report *report);
} sections[] = {
    {"GPU activities", "gpu_activities", le_named_times_of_operations},
    {"API calls", "api_calls", le_named_times_of_calls},
    {"Ranges", "ranges", le_named_times_of_ranges},
};

/* In hundredths of a percent. */
static uint64_t percent_share(uint64_t part, uint64_t whole) {
    return whole ? (uint64_t)(10000.0 * (double)part / (double)whole + 0.5) : 0;
}

static void print_group(struct le_report *report, const char *type, const struct le_named_time *group,
                        uint64_t total_ns) {
    struct le_output *output = report->output;
    const uint64_t times[] = {group->total_ns / group->count, group->least_ns, group->most_ns};
    le_output_left(output, type, 14);
    le_output_fixed(output, percent_share(group->total_ns, total_ns), 2, 9);
    le_output_right(output, le_format_time(report->line_arena, group->total_ns), 10);
    le_output_right(output, le_format_count(report->line_arena, group->count), 12);
    for (size_t k = 0; k < ARRAY_LEN(times); k++)
        le_output_right(output, le_format_time(report->line_arena, times[k]), 10);
    le_output_text(output, "  ");
    le_output_text(output, le_report_name(report->line_arena, report->index->texts.at[group->name]));
    le_output_text(output, "\n");
}

static void csv_group(struct le_report *report, const char *type, const struct le_named_time *group,
                      uint64_t total_ns) {
    struct le_output *output = report->output;
    const uint64_t columns[] = {group->total_ns, group->count, group->total_ns / group->count, group->least_ns,
                                group->most_ns};
    le_output_csv(output, type);
    le_output_text(output, ",");
    le_output_fixed(output, percent_share(group->total_ns, total_ns), 2, 0);
    for (size_t k = 0; k < ARRAY_LEN(columns); k++) {
        le_output_text(output, ",");
        le_output_count(output, columns[k]);
    }
    le_output_text(output, ",");
    le_output_csv(output, report->index->texts.at[group->name]);
    le_output_text(output, "\n");
}

static void json_group(struct le_report *report, const struct le_named_time *group, uint64_t total_ns) {
    struct le_output *output = report->output;
    le_output_open(output, NULL, '{');
    le_output_json_text(output, "name", report->index->texts.at[group->name]);
    le_output_json_count(output, "calls", group->count);
    le_output_json_fixed(output, "percent", percent_share(group->total_ns, total_ns), 2);
    le_output_json_count(output, "total_ns", group->total_ns);
    le_output_json_count(output, "mean_ns", group->total_ns / group->count);
    le_output_json_count(output, "least_ns", group->least_ns);
    le_output_json_count(output, "most_ns", group->most_ns);
    le_output_json_count(output, "bytes", group->bytes);
    le_output_close(output, '}');
}

static void print_section(struct le_report *report, size_t which) {
    struct le_named_times groups = sections[which].find(report);
    if (report->format == LEAT_REPORT_JSON)
        le_output_open(report->output, sections[which].key, '[');
    for (int32_t k = 0; k < groups.count; k++) {
        if (report->format == LEAT_REPORT_TEXT)
            print_group(report, k == 0 ? sections[which].name : "", &groups.at[k], groups.total_ns);
        else if (report->format == LEAT_REPORT_CSV)
            csv_group(report, sections[which].name, &groups.at[k], groups.total_ns);
        else
            json_group(report, &groups.at[k], groups.total_ns);
        le_report_line_end(report);
    }
    if (report->format == LEAT_REPORT_JSON)
        le_output_close(report->output, ']');
}

leat_status le_report_summary(struct le_report *report) {
    if (report->format == LEAT_REPORT_TEXT)
        le_output_text(report->output,
                       "Type            Time(%)      Time       Calls       Avg       Min       Max  Name\n");
    else if (report->format == LEAT_REPORT_CSV)
        le_output_text(report->output, "Type,Time(%),Time,Calls,Avg,Min,Max,Name\n,%,ns,,ns,ns,ns,\n");
    else
        le_report_json_begin(report);
    for (size_t k = 0; k < ARRAY_LEN(sections); k++)
        print_section(report, k);
    if (report->format == LEAT_REPORT_JSON)
        le_report_json_end(report);
    else if (report->format == LEAT_REPORT_TEXT)
        le_report_notes_text(report);
    return LEAT_OK;
}
