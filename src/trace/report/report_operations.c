/* Lists the trace: one line for each kernel, copy, set and graph, with nvprof's columns. Times are relative to the
 * start of the trace. In text, starts are in ms and durations in us, with enough digits for every nanosecond. */
#include "trace/report/report.h"
#include "trace/rules/user_sources.h"

struct line {
    const struct le_operation *operation;
    const struct le_shape *shape;
    const struct le_stream *stream;
    uint64_t start_ns, duration_ns;
    bool is_kernel, has_bytes, is_copy;
};

static struct line line_of(const struct le_trace_index *index, int32_t k) {
    const struct le_operation *operation = &index->operations.at[k];
    return (struct line){.operation = operation,
                         .shape = &index->shapes.at[operation->shape],
                         .stream = &index->streams.at[operation->stream],
                         .start_ns = operation->start_ns - index->start_ns,
                         .duration_ns = operation->end_ns - operation->start_ns,
                         .is_kernel = operation->kind == LE_OPERATION_KERNEL,
                         .has_bytes = operation->kind == LE_OPERATION_COPY || operation->kind == LE_OPERATION_SET,
                         .is_copy = operation->kind == LE_OPERATION_COPY};
}

/* In thousandths of a GB/s. */
static uint64_t throughput(const struct line *line) {
    double rate = line->duration_ns ? 1000.0 * (double)line->operation->bytes / (double)line->duration_ns : 0;
    return rate < 1e15 ? (uint64_t)(rate + 0.5) : 0;
}

/* ---- text: columns are wide enough for most traces. A longer value is still preceded by a space, and makes its line
 * longer. */

enum operation_column {
    START,
    DURATION,
    GRID,
    BLOCK,
    REGS,
    SSMEM,
    DSMEM,
    SIZE,
    THROUGHPUT,
    FROM,
    TO,
    DEVICE,
    CONTEXT,
    STREAM
};
enum { DEVICE_MOST = 80 };
static const struct {
    const char *name, *unit;
    int width;
} columns[] = {
    [START] = {"Start", "ms", 13},
    [DURATION] = {"Duration", "us", 13},
    [GRID] = {"Grid Size", "", 18},
    [BLOCK] = {"Block Size", "", 14},
    [REGS] = {"Regs", "", 4},
    [SSMEM] = {"SSMem", "B", 7},
    [DSMEM] = {"DSMem", "B", 7},
    [SIZE] = {"Size", "B", 12},
    [THROUGHPUT] = {"Throughput", "GB/s", 10},
    [FROM] = {"SrcMemType", "", 10},
    [TO] = {"DstMemType", "", 10},
    [DEVICE] = {"Device", "", 19},
    [CONTEXT] = {"Context", "", 7},
    [STREAM] = {"Stream", "", 6},
};

static void put_text(struct le_output *output, const char *text, int width) {
    le_output_text(output, " ");
    le_output_right(output, text, width);
}

static void put_number(struct le_output *output, enum operation_column column, uint64_t value, int digits) {
    le_output_text(output, " ");
    le_output_fixed(output, value, digits, columns[column].width);
}

static void put_number_or_dash(struct le_output *output, enum operation_column column, bool is_known, uint64_t value,
                               int digits) {
    if (is_known)
        put_number(output, column, value, digits);
    else
        put_text(output, "-", columns[column].width);
}

/* "(132 1 1)". The result is inside `text`. */
static const char *extents_text(const uint32_t extents[3], char text[40]) {
    char *at = text + 39;
    *at = '\0';
    *--at = ')';
    for (int k = 2; k >= 0; k--) {
        uint32_t value = extents[k];
        do {
            *--at = (char)('0' + value % 10);
            value /= 10;
        } while (value);
        *--at = k ? ' ' : '(';
    }
    return at;
}

static void print_line(struct le_report *report, const struct line *line, const char *name, const char *device,
                       int device_width) {
    struct le_output *output = report->output;
    const struct le_shape *shape = line->shape;
    char text[40];
    put_number(output, START, line->start_ns, 6);
    put_number(output, DURATION, line->duration_ns, 3);
    put_text(output, line->is_kernel ? extents_text(shape->grid, text) : "-", columns[GRID].width);
    put_text(output, line->is_kernel ? extents_text(shape->block, text) : "-", columns[BLOCK].width);
    put_number_or_dash(output, REGS, line->is_kernel, shape->registers, 0);
    put_number_or_dash(output, SSMEM, line->is_kernel, shape->static_shared_bytes, 0);
    put_number_or_dash(output, DSMEM, line->is_kernel, shape->dynamic_shared_bytes, 0);
    put_number_or_dash(output, SIZE, line->has_bytes, line->operation->bytes, 0);
    put_number_or_dash(output, THROUGHPUT, line->has_bytes, throughput(line), 3);
    put_text(output, line->is_copy ? le_memory_kind_name(shape->from) : "-", columns[FROM].width);
    put_text(output, line->has_bytes ? le_memory_kind_name(shape->to) : "-", columns[TO].width);
    put_text(output, device, device_width);
    put_number(output, CONTEXT, line->stream->context, 0);
    put_number(output, STREAM, line->stream->id, 0);
    le_output_text(output, "  ");
    le_output_text(output, name);
    le_output_text(output, "\n");
}

static void print_head(struct le_report *report, int device_width) {
    for (int k = START; k <= STREAM; k++)
        put_text(report->output, columns[k].name, k == DEVICE ? device_width : columns[k].width);
    le_output_text(report->output, "  Name\n");
    for (int k = START; k <= THROUGHPUT; k++) /* the other columns have no units */
        put_text(report->output, columns[k].unit, columns[k].width);
    le_output_text(report->output, "\n");
}

/* The width of the column of devices. Names longer than any real one are ignored. */
static int widest_device(struct le_report *report) {
    int width = columns[DEVICE].width;
    for (int32_t k = 0; k < report->index->devices.count; k++) {
        int characters = le_output_characters(le_report_device(report, k));
        width = characters > width && characters <= DEVICE_MOST ? characters : width;
        le_report_line_end(report);
    }
    return width;
}

/* ---- CSV and JSON */

static void csv_numbers(struct le_output *output, const uint32_t *values, int count, bool are_known) {
    for (int k = 0; k < count; k++) {
        le_output_text(output, ",");
        if (are_known)
            le_output_count(output, values[k]);
    }
}

static void csv_line(struct le_report *report, const struct line *line, const char *name, const char *device) {
    struct le_output *output = report->output;
    const struct le_shape *shape = line->shape;
    le_output_count(output, line->start_ns);
    le_output_text(output, ",");
    le_output_count(output, line->duration_ns);
    csv_numbers(output, shape->grid, 3, line->is_kernel);
    csv_numbers(output, shape->block, 3, line->is_kernel);
    csv_numbers(output, &shape->registers, 1, line->is_kernel);
    csv_numbers(output, &shape->static_shared_bytes, 1, line->is_kernel);
    csv_numbers(output, &shape->dynamic_shared_bytes, 1, line->is_kernel);
    le_output_text(output, ",");
    if (line->has_bytes)
        le_output_count(output, line->operation->bytes);
    le_output_text(output, ",");
    if (line->has_bytes)
        le_output_fixed(output, throughput(line), 3, 0);
    le_output_text(output, ",");
    le_output_text(output, line->is_copy ? le_memory_kind_name(shape->from) : "");
    le_output_text(output, ",");
    le_output_text(output, line->has_bytes ? le_memory_kind_name(shape->to) : "");
    le_output_text(output, ",");
    le_output_csv(output, device);
    csv_numbers(output, (const uint32_t[]){line->stream->context, line->stream->id}, 2, true);
    le_output_text(output, ",");
    le_output_csv(output, name);
    le_output_text(output, "\n");
}

static const char csv_head[] = "Start,Duration,Grid X,Grid Y,Grid Z,Block X,Block Y,Block "
                               "Z,Regs,SSMem,DSMem,Size,Throughput,SrcMemType,DstMemType,"
                               "Device,Context,Stream,Name\nns,ns,,,,,,,,B,B,B,GB/s,,,,,,\n";

static void json_extents(struct le_output *output, const char *name, const uint32_t extents[3]) {
    le_output_open(output, name, '[');
    for (int k = 0; k < 3; k++)
        le_output_json_count(output, NULL, extents[k]);
    le_output_close(output, ']');
}

static void json_kernel(struct le_output *output, const struct le_shape *shape) {
    json_extents(output, "grid", shape->grid);
    json_extents(output, "block", shape->block);
    le_output_json_count(output, "registers", shape->registers);
    le_output_json_count(output, "static_shared_bytes", shape->static_shared_bytes);
    le_output_json_count(output, "dynamic_shared_bytes", shape->dynamic_shared_bytes);
}

static void json_bytes(struct le_output *output, const struct line *line) {
    le_output_json_count(output, "bytes", line->operation->bytes);
    le_output_json_fixed(output, "gigabytes_per_second", throughput(line), 3);
    if (line->is_copy)
        le_output_json_text(output, "from", le_memory_kind_name(line->shape->from));
    le_output_json_text(output, "to", le_memory_kind_name(line->shape->to));
}

static void json_line(struct le_report *report, const struct line *line, const char *name, const char *device,
                      const char *source) {
    static const char *const kinds[] = {"kernel", "copy", "set", "graph"};
    struct le_output *output = report->output;
    le_output_open(output, NULL, '{');
    le_output_json_text(output, "kind", kinds[line->operation->kind]);
    le_output_json_text(output, "name", name);
    le_output_json_count(output, "start_ns", line->start_ns);
    le_output_json_count(output, "duration_ns", line->duration_ns);
    if (line->is_kernel)
        json_kernel(output, line->shape);
    if (line->has_bytes)
        json_bytes(output, line);
    le_output_json_count(output, "process", report->index->processes.at[line->stream->process].id);
    le_output_json_text(output, "device", device);
    le_output_json_count(output, "context", line->stream->context);
    le_output_json_count(output, "stream", line->stream->id);
    le_output_json_text(output, "source", source);
    le_output_close(output, '}');
}

/* ---- all lines; texts of names, devices and sources are cached */

struct shown {
    struct le_shown names, devices, sources; /* caches */
    const int32_t *user_sources;             /* see user_sources.h */
};

static const char *shown_name(struct le_report *report, struct shown *shown, int32_t name) {
    const char *text = report->index->texts.at[name];
    if (report->format != LEAT_REPORT_TEXT)
        return text;
    const char **known = le_shown_text(report, &shown->names, name);
    return *known ? *known : (*known = le_report_name(report->line_arena, text));
}

static const char *shown_device(struct le_report *report, struct shown *shown, int32_t device) {
    const char **known = le_shown_text(report, &shown->devices, device);
    return *known ? *known : (*known = le_report_device(report, device));
}

static const char *shown_source(struct le_report *report, struct shown *shown, int32_t call) {
    int32_t source = call == LE_NONE ? LE_NONE : report->index->calls.at[call].source;
    source = source == LE_NONE ? LE_NONE : shown->user_sources[source];
    const char **known = le_shown_text(report, &shown->sources, source);
    return *known ? *known : (*known = le_report_source(report, source));
}

static void write_lines(struct le_report *report, int device_width) {
    const struct le_trace_index *index = report->index;
    struct shown *shown = LE_NEW(report->arena, struct shown);
    shown->user_sources = le_user_sources(index, report->arena);
    for (int32_t k = 0; k < index->operations.count && !report->output->failed; k++) {
        struct line line = line_of(index, k);
        const char *name = shown_name(report, shown, line.operation->name);
        const char *device = shown_device(report, shown, line.stream->device);
        if (report->format == LEAT_REPORT_TEXT)
            print_line(report, &line, name, device, device_width);
        else if (report->format == LEAT_REPORT_CSV)
            csv_line(report, &line, name, device);
        else
            json_line(report, &line, name, device, shown_source(report, shown, line.operation->call));
        le_report_line_end(report);
    }
}

leat_status le_report_operations(struct le_report *report) {
    int device_width = widest_device(report);
    if (report->format == LEAT_REPORT_TEXT) {
        print_head(report, device_width);
    } else if (report->format == LEAT_REPORT_CSV) {
        le_output_text(report->output, csv_head);
    } else {
        le_report_json_begin(report);
        le_output_open(report->output, "operations", '[');
    }
    write_lines(report, device_width);
    if (report->format == LEAT_REPORT_JSON) {
        le_output_close(report->output, ']');
        le_report_json_end(report);
    }
    return LEAT_OK;
}
