/* Writes Chrome's trace JSON, which Perfetto and chrome://tracing read. Each process of the program becomes a process
 * with its threads' calls and ranges, and each device becomes a process with its streams. Arrows lead from a call to
 * the work that it enqueued. Events on a track must nest; ranges that cross others become asynchronous events, which
 * have no track. Times are microseconds from the start of the trace, with three decimals. Devices have process numbers
 * from 2^30 on, which no operating system uses. */
#include "trace/report/report.h"
#include "trace/rules/user_sources.h"

enum { DEVICE_TRACKS = 1 << 30 };

static void begin_event(struct le_report *report, const char *phase, uint64_t process, uint64_t track) {
    le_output_text(report->output, "\n");
    le_output_open(report->output, NULL, '{');
    le_output_json_text(report->output, "ph", phase);
    le_output_json_count(report->output, "pid", process);
    le_output_json_count(report->output, "tid", track);
}

static void end_event(struct le_report *report) {
    le_output_close(report->output, '}');
}

static void name_track(struct le_report *report, const char *what, uint64_t process, uint64_t track, const char *name) {
    begin_event(report, "M", process, track);
    le_output_json_text(report->output, "name", what);
    le_output_open(report->output, "args", '{');
    le_output_json_text(report->output, "name", name);
    le_output_close(report->output, '}');
    end_event(report);
    le_report_line_end(report);
}

static void put_time(struct le_report *report, uint64_t time_ns) {
    le_output_json_fixed(report->output, "ts", time_ns - report->index->start_ns, 3);
}

static void put_times(struct le_report *report, uint64_t start_ns, uint64_t end_ns) {
    put_time(report, start_ns);
    le_output_json_fixed(report->output, "dur", end_ns - start_ns, 3);
}

/* ---- tracks: if there are several processes, each is numbered by its position, so that equal process IDs stay
 * separate */

static uint64_t host_process(const struct le_report *report, int32_t process) {
    return report->index->processes.count == 1 ? report->index->processes.at[process].id : (uint64_t)process + 1;
}

static uint64_t thread_process(const struct le_report *report, int32_t thread) {
    return host_process(report, report->index->threads.at[thread].process);
}

/* device: LE_NONE if a stream's device is unknown. */
static uint64_t device_process(int32_t device) {
    return DEVICE_TRACKS + (uint64_t)(device + 1);
}

static void name_devices(struct le_report *report) {
    const struct le_trace_index *index = report->index;
    bool has_unknown = false;
    for (int32_t k = 0; k < index->streams.count; k++)
        has_unknown |= index->streams.at[k].device == LE_NONE;
    for (int32_t k = has_unknown ? LE_NONE : 0; k < index->devices.count; k++)
        name_track(report, "process_name", device_process(k), 0, le_report_device(report, k));
}

static void name_tracks(struct le_report *report) {
    const struct le_trace_index *index = report->index;
    for (int32_t k = 0; k < index->processes.count; k++)
        name_track(report, "process_name", host_process(report, k), 0,
                   le_arena_format(report->line_arena, "%s (%u)", index->texts.at[index->processes.at[k].command],
                                   (unsigned)index->processes.at[k].id));
    for (int32_t k = 0; k < index->threads.count; k++)
        name_track(report, "thread_name", thread_process(report, k), index->threads.at[k].id,
                   le_report_thread(report, k));
    name_devices(report);
    for (int32_t k = 0; k < index->streams.count; k++)
        name_track(report, "thread_name", device_process(index->streams.at[k].device), (uint64_t)k + 1,
                   le_report_stream(report, k));
}

/* ---- events */

static void begin_span(struct le_report *report, const struct le_host_span *span, const char *category,
                       const char *name) {
    begin_event(report, "X", thread_process(report, span->thread), report->index->threads.at[span->thread].id);
    put_times(report, span->start_ns, span->end_ns);
    le_output_json_text(report->output, "cat", category);
    le_output_json_text(report->output, "name", name);
}

/* source: "" for none. */
static void add_call(struct le_report *report, const struct le_call *call, const char *source) {
    struct le_host_span span = {.start_ns = call->start_ns, .end_ns = call->end_ns, .thread = call->thread};
    begin_span(report, &span, "call", report->index->texts.at[call->function]);
    if (*source || call->result) {
        le_output_open(report->output, "args", '{');
        if (*source)
            le_output_json_text(report->output, "source", source);
        if (call->result)
            le_output_json_count(report->output, "result", (uint32_t)call->result);
        le_output_close(report->output, '}');
    }
    end_event(report);
}

static void add_span(struct le_report *report, const struct le_host_span *span, const char *category,
                     const char *name) {
    begin_span(report, span, category, name);
    end_event(report);
}

/* ---- ranges */

/* The calls and ranges that are open on a thread's track, during the sweep below. */
struct track {
    uint64_t call_end_ns;
    int32_t range; /* the innermost open range, or LE_NONE */
};

/* Finds which ranges cross another range or a call of their thread. outer: by open range, the one that contains it.
 * Both tables are sorted by start, longer entries first. */
struct crossing {
    const struct le_trace_index *index;
    struct track *tracks;
    int32_t *outer;
    bool *crosses;
};

static void cross_call(struct crossing *crossing, const struct le_call *call) {
    const struct le_host_span *ranges = crossing->index->ranges.at;
    struct track *track = &crossing->tracks[call->thread];
    for (; track->range != LE_NONE && ranges[track->range].end_ns < call->end_ns;
         track->range = crossing->outer[track->range])
        crossing->crosses[track->range] = ranges[track->range].end_ns > call->start_ns;
    track->call_end_ns = call->end_ns > track->call_end_ns ? call->end_ns : track->call_end_ns;
}

static void cross_range(struct crossing *crossing, int32_t number) {
    const struct le_host_span *ranges = crossing->index->ranges.at, *range = &ranges[number];
    struct track *track = &crossing->tracks[range->thread];
    while (track->range != LE_NONE && ranges[track->range].end_ns <= range->start_ns)
        track->range = crossing->outer[track->range];
    bool leaves_range = track->range != LE_NONE && ranges[track->range].end_ns < range->end_ns;
    bool leaves_call = range->start_ns < track->call_end_ns && track->call_end_ns < range->end_ns;
    crossing->crosses[number] = leaves_range || leaves_call;
    if (crossing->crosses[number])
        return;
    crossing->outer[number] = track->range;
    track->range = number;
}

static bool opens_first(const struct le_host_span *range, const struct le_call *call) {
    return range->start_ns < call->start_ns || (range->start_ns == call->start_ns && range->end_ns >= call->end_ns);
}

static const bool *find_crossing(struct le_report *report) {
    const struct le_trace_index *index = report->index;
    struct crossing crossing = {.index = index,
                                .tracks = LE_NEW_ARRAY(report->arena, index->threads.count, struct track),
                                .outer = LE_NEW_ARRAY(report->arena, index->ranges.count, int32_t),
                                .crosses = LE_NEW_ARRAY(report->arena, index->ranges.count, bool)};
    for (int32_t k = 0; k < index->threads.count; k++)
        crossing.tracks[k].range = LE_NONE;
    for (int32_t range = 0, call = 0; range < index->ranges.count || call < index->calls.count;) {
        if (call == index->calls.count ||
            (range < index->ranges.count && opens_first(&index->ranges.at[range], &index->calls.at[call])))
            cross_range(&crossing, range++);
        else
            cross_call(&crossing, &index->calls.at[call++]);
    }
    return crossing.crosses;
}

static void add_async(struct le_report *report, const char *phase, int32_t number, uint64_t time_ns) {
    const struct le_trace_index *index = report->index;
    const struct le_host_span *range = &index->ranges.at[number];
    begin_event(report, phase, thread_process(report, range->thread), index->threads.at[range->thread].id);
    put_time(report, time_ns);
    le_output_json_count(report->output, "id", (uint64_t)number + 1);
    le_output_json_text(report->output, "cat", "range");
    le_output_json_text(report->output, "name", index->texts.at[range->name]);
    end_event(report);
}

static void add_ranges(struct le_report *report) {
    const struct le_trace_index *index = report->index;
    const bool *crosses = find_crossing(report);
    for (int32_t k = 0; k < index->ranges.count && !report->output->failed; k++) {
        const struct le_host_span *range = &index->ranges.at[k];
        if (!crosses[k]) {
            add_span(report, range, "range", index->texts.at[range->name]);
            continue;
        }
        add_async(report, "b", k, range->start_ns);
        add_async(report, "e", k, range->end_ns);
    }
}

/* ---- calls and operations */

/* Texts of sources are cached. */
static void add_calls(struct le_report *report) {
    const struct le_trace_index *index = report->index;
    struct le_shown *shown = LE_NEW(report->arena, struct le_shown);
    const int32_t *user_sources = le_user_sources(index, report->arena);
    for (int32_t k = 0; k < index->calls.count && !report->output->failed; k++) {
        int32_t source = index->calls.at[k].source == LE_NONE ? LE_NONE : user_sources[index->calls.at[k].source];
        const char **known = le_shown_text(report, shown, source);
        add_call(report, &index->calls.at[k], *known ? *known : (*known = le_report_source(report, source)));
        le_report_line_end(report);
    }
}

static void operation_facts(struct le_report *report, const struct le_operation *operation) {
    const struct le_shape *shape = &report->index->shapes.at[operation->shape];
    struct le_output *output = report->output;
    le_output_open(output, "args", '{');
    if (operation->kind == LE_OPERATION_KERNEL) {
        le_output_open(output, "grid", '[');
        for (int k = 0; k < 3; k++)
            le_output_json_count(output, NULL, shape->grid[k]);
        le_output_close(output, ']');
        le_output_open(output, "block", '[');
        for (int k = 0; k < 3; k++)
            le_output_json_count(output, NULL, shape->block[k]);
        le_output_close(output, ']');
        le_output_json_count(output, "registers", shape->registers);
    } else if (operation->kind != LE_OPERATION_GRAPH) {
        le_output_json_count(output, "bytes", operation->bytes);
        le_output_json_text(output, "from", le_memory_kind_name(shape->from));
        le_output_json_text(output, "to", le_memory_kind_name(shape->to));
    }
    le_output_close(output, '}');
}

/* Completes an event that is one end of an arrow from a call to the start of an operation. */
static void end_arrow_event(struct le_report *report, const char *phase, int32_t number, uint64_t time_ns) {
    put_time(report, time_ns);
    le_output_json_count(report->output, "id", (uint64_t)number + 1);
    le_output_json_text(report->output, "cat", "launch");
    le_output_json_text(report->output, "name", "launch");
    if (phase[0] == 'f')
        le_output_json_text(report->output, "bp", "e");
    end_event(report);
}

static void add_operation(struct le_report *report, int32_t number, const char *name) {
    static const char *const kinds[] = {"kernel", "copy", "set", "graph"};
    const struct le_trace_index *index = report->index;
    const struct le_operation *operation = &index->operations.at[number];
    const struct le_stream *stream = &index->streams.at[operation->stream];
    uint64_t track = (uint64_t)operation->stream + 1;
    begin_event(report, "X", device_process(stream->device), track);
    put_times(report, operation->start_ns, operation->end_ns);
    le_output_json_text(report->output, "cat", kinds[operation->kind]);
    le_output_json_text(report->output, "name", name);
    operation_facts(report, operation);
    end_event(report);
    if (operation->call == LE_NONE)
        return;
    const struct le_call *call = &index->calls.at[operation->call];
    begin_event(report, "s", thread_process(report, call->thread), index->threads.at[call->thread].id);
    end_arrow_event(report, "s", number, call->start_ns);
    begin_event(report, "f", device_process(stream->device), track);
    end_arrow_event(report, "f", number, operation->start_ns);
}

static void add_operations(struct le_report *report) {
    const struct le_trace_index *index = report->index;
    struct le_shown *shown = LE_NEW(report->arena, struct le_shown);
    for (int32_t k = 0; k < index->operations.count && !report->output->failed; k++) {
        int32_t name = index->operations.at[k].name;
        const char **known = le_shown_text(report, shown, name);
        *known = *known ? *known : le_report_name(report->line_arena, index->texts.at[name]);
        add_operation(report, k, *known);
        le_report_line_end(report);
    }
}

leat_status le_report_perfetto(struct le_report *report) {
    const struct le_trace_index *index = report->index;
    le_output_open(report->output, NULL, '{');
    le_output_json_text(report->output, "displayTimeUnit", "ns");
    le_output_open(report->output, "traceEvents", '[');
    name_tracks(report);
    add_ranges(report);
    add_calls(report);
    for (int32_t k = 0; k < index->overheads.count; k++)
        add_span(report, &index->overheads.at[k], "overhead", le_overhead_name(index->overheads.at[k].kind));
    for (int32_t k = 0; k < index->jits.count; k++)
        add_span(report, &index->jits.at[k], "compile", "compile");
    add_operations(report);
    le_output_close(report->output, ']');
    le_output_close(report->output, '}');
    le_output_text(report->output, "\n");
    return LEAT_OK;
}
