/* Writes the findings as text, CSV and JSON. See report.h. */
#include "trace/format_figures.h"
#include "trace/report/report.h"
#include <string.h>

/* Prints each line of a text after the same prefix. */
static void print_indented(struct le_output *output, const char *start, const char *lines) {
    while (*lines) {
        size_t length = strcspn(lines, "\n");
        le_output_text(output, start);
        le_output_bytes(output, lines, length);
        le_output_text(output, "\n");
        lines += length + (lines[length] == '\n');
    }
}

static void print_finding(struct le_report *report, const struct le_finding *finding, int number) {
    struct le_output *output = report->output;
    const struct le_process *process = &report->index->processes.at[finding->process];
    uint64_t wall_ns = process->end_ns - process->start_ns;
    le_output_format(output, "\n%2d. ", number);
    le_output_text(output, finding->title);
    le_output_format(output, "\n    %s, %s", finding->rule, le_confidence_name(finding->confidence));
    if (finding->gain_ns)
        le_output_format(output, "; gains at most %s, %s of the run", le_format_time(report->arena, finding->gain_ns),
                         le_format_percent(report->arena, finding->gain_ns, wall_ns));
    if (report->index->processes.count > 1)
        le_output_format(output, "; process %u", (unsigned)process->id);
    le_output_text(output, "\n");
    print_indented(output, "    ", finding->evidence ? finding->evidence : "");
    for (int k = 0; k < LE_FINDING_SOURCES && finding->sources[k] != LE_NONE; k++)
        print_indented(output, k == 0 ? "    at " : "       ", le_report_source(report, finding->sources[k]));
    print_indented(output, "    > ", finding->advice ? finding->advice : "");
}

void le_report_findings_text(struct le_report *report, const struct le_findings *findings) {
    if (findings->count == 0) {
        le_output_text(report->output, "findings: none\n");
        return;
    }
    le_output_text(report->output, "findings, largest gain first; gains are upper bounds and do not add up\n");
    for (int k = 0; k < findings->count; k++)
        print_finding(report, &findings->at[k], k + 1);
}

static void json_finding(struct le_report *report, const struct le_finding *finding) {
    static const char *const confidences[] = {"likely", "plausible", "hint"};
    struct le_output *output = report->output;
    uint64_t start_ns = report->index->start_ns;
    le_output_open(output, NULL, '{');
    le_output_json_text(output, "rule", finding->rule);
    le_output_json_text(output, "title", finding->title);
    le_output_json_text(output, "evidence", finding->evidence ? finding->evidence : "");
    le_output_json_text(output, "advice", finding->advice ? finding->advice : "");
    le_output_json_count(output, "gain_ns", finding->gain_ns);
    le_output_json_text(output, "confidence", confidences[finding->confidence]);
    le_output_json_count(output, "process", report->index->processes.at[finding->process].id);
    le_output_json_count(output, "start_ns", finding->start_ns > start_ns ? finding->start_ns - start_ns : 0);
    le_output_json_count(output, "end_ns", finding->end_ns > start_ns ? finding->end_ns - start_ns : 0);
    le_output_open(output, "sources", '[');
    for (int k = 0; k < LE_FINDING_SOURCES && finding->sources[k] != LE_NONE; k++)
        le_output_json_text(output, NULL, le_report_source(report, finding->sources[k]));
    le_output_close(output, ']');
    le_output_close(output, '}');
}

void le_report_findings_json(struct le_report *report, const struct le_findings *findings) {
    le_output_open(report->output, "findings", '[');
    for (int k = 0; k < findings->count; k++)
        json_finding(report, &findings->at[k]);
    le_output_close(report->output, ']');
}

static void csv_findings(struct le_report *report, const struct le_findings *findings) {
    le_output_text(report->output, "Rule,Gain,Confidence,Process,Title,Source\n,ns,,,,\n");
    for (int k = 0; k < findings->count; k++) {
        const struct le_finding *finding = &findings->at[k];
        le_output_csv(report->output, finding->rule);
        le_output_format(report->output, ",%llu,%s,%u,", (unsigned long long)finding->gain_ns,
                         le_confidence_name(finding->confidence),
                         (unsigned)report->index->processes.at[finding->process].id);
        le_output_csv(report->output, finding->title);
        le_output_text(report->output, ",");
        le_output_csv(report->output, le_report_source(report, finding->sources[0]));
        le_output_text(report->output, "\n");
    }
}

leat_status le_report_findings(struct le_report *report) {
    struct le_findings findings;
    leat_status status = le_report_find(report, &findings);
    if (status)
        return status;
    if (report->format == LEAT_REPORT_TEXT) {
        le_report_findings_text(report, &findings);
    } else if (report->format == LEAT_REPORT_CSV) {
        csv_findings(report, &findings);
    } else {
        le_report_json_begin(report);
        le_report_findings_json(report, &findings);
        le_report_json_end(report);
    }
    return LEAT_OK;
}
