/* The overview: what ran; each device's wall time as busy and idle time, idle time by what the host did; the kernels
 * and copies that took most time; then the findings. In JSON, sums hold to the nanosecond. */
#include "trace/device_time.h"
#include "trace/format_figures.h"
#include "trace/report/report.h"
#include <string.h>

enum { DEVICES_SHOWN = 16, KERNELS_SHOWN = 5, LABEL_WIDTH = 14, NAME_WIDTH = 60 };

static const char *time_text(struct le_report *report, uint64_t time_ns) {
    return le_format_time(report->arena, time_ns);
}

static const char *part_text(struct le_report *report, uint64_t part, uint64_t whole) {
    return le_format_percent(report->arena, part, whole);
}

static void print_label(struct le_report *report, const char *text) {
    le_output_left(report->output, text, LABEL_WIDTH);
}

/* "label   1.25 ms   12 %" */
static void print_time_line(struct le_report *report, const char *name, uint64_t time_ns, uint64_t whole_ns) {
    print_label(report, name);
    le_output_right(report->output, time_text(report, time_ns), 9);
    le_output_right(report->output, part_text(report, time_ns, whole_ns), 8);
}

/* ---- what ran */

static void print_process(struct le_report *report, const struct le_process *process) {
    const char *const *texts = report->index->texts.at;
    print_label(report, "command");
    le_output_text(report->output, process->command ? texts[process->command] : "(unknown command)");
    le_output_format(report->output, " (process %u", (unsigned)process->id);
    if (process->language) {
        le_output_text(report->output, ", ");
        le_output_text(report->output, texts[process->language]);
    }
    le_output_text(report->output, process->ended ? ")\n" : ", did not end normally)\n");
    if (!process->host)
        return;
    print_label(report, "host");
    le_output_text(report->output, texts[process->host]);
    le_output_text(report->output, "\n");
}

static void print_device_facts(struct le_report *report, int32_t position) {
    const struct le_trace_device *device = &report->index->devices.at[position];
    print_label(report, "device");
    le_output_text(report->output, le_report_device(report, position));
    if (device->multiprocessors)
        le_output_format(report->output, ", %u multiprocessors", (unsigned)device->multiprocessors);
    if (device->memory_bytes)
        le_output_format(report->output, ", %.0f GiB", (double)device->memory_bytes / (1 << 30));
    if (device->bandwidth)
        le_output_format(report->output, " at %.0f GB/s", (double)device->bandwidth * 1e-9);
    le_output_text(report->output, "\n");
}

/* ---- the time of a device */

static void print_busy(struct le_report *report, const struct le_device_time *time) {
    print_time_line(report, "  busy", time->busy_ns, time->wall_ns);
    le_output_format(report->output, "   kernels %s, copies %s", time_text(report, time->kernel_ns),
                     time_text(report, time->copy_ns));
    if (time->both_ns)
        le_output_format(report->output, ", both at once %s", time_text(report, time->both_ns));
    le_output_text(report->output, "\n");
}

/* The host's states during the device's idle time, longest first. */
static int order_states(const struct le_device_time *time, enum le_host_state order[LE_HOST_STATES]) {
    int count = 0;
    for (int state = 0; state < LE_HOST_STATES; state++) {
        if (time->host_ns[state] == 0)
            continue;
        int at = count++;
        for (; at > 0 && time->host_ns[order[at - 1]] < time->host_ns[state]; at--)
            order[at] = order[at - 1];
        order[at] = (enum le_host_state)state;
    }
    return count;
}

static void print_idle(struct le_report *report, const struct le_device_time *time) {
    enum le_host_state order[LE_HOST_STATES];
    int count = order_states(time, order);
    print_time_line(report, "  idle", time->idle_ns, time->wall_ns);
    le_output_format(report->output, "   in %s gap%s%s\n", le_format_count(report->arena, time->gaps),
                     time->gaps == 1 ? "" : "s", count ? ", while the host was" : "");
    for (int k = 0; k < count; k++) {
        le_output_text(report->output, "    ");
        le_output_right(report->output, time_text(report, time->host_ns[order[k]]), LABEL_WIDTH + 9 - 4);
        le_output_right(report->output, part_text(report, time->host_ns[order[k]], time->wall_ns), 8);
        le_output_format(report->output, "   %s\n", le_host_state_name(order[k]));
    }
}

/* ---- kernels and copies */

static bool is_copy_name(const char *name) {
    return name[0] == '[';
}

static bool is_graph_name(const char *name) {
    return strcmp(name, "[graph]") == 0;
}

static const char *short_name(struct le_report *report, const char *name) {
    name = le_report_name(report->arena, name);
    if (strlen(name) <= NAME_WIDTH)
        return name;
    size_t length = NAME_WIDTH - 3;
    while (length > 0 && ((unsigned char)name[length] & 0xc0) == 0x80)
        length--;
    return le_arena_format(report->arena, "%.*s...", (int)length, name);
}

static void print_kernels(struct le_report *report, const struct le_named_times *names) {
    uint64_t total_ns = 0;
    int shown = 0, others = 0;
    for (int32_t k = 0; k < names->count; k++)
        if (!is_copy_name(report->index->texts.at[names->at[k].name]))
            total_ns += names->at[k].total_ns;
    for (int32_t k = 0; k < names->count; k++) {
        const struct le_named_time *group = &names->at[k];
        const char *name = report->index->texts.at[group->name];
        if (is_copy_name(name))
            continue;
        if (shown == KERNELS_SHOWN) {
            others++;
            continue;
        }
        print_time_line(report, shown++ ? "" : "kernels", group->total_ns, total_ns);
        le_output_format(report->output, "   %s x %s  ", le_format_count(report->arena, group->count),
                         time_text(report, group->total_ns / group->count));
        le_output_text(report->output, short_name(report, name));
        le_output_text(report->output, "\n");
    }
    if (others) {
        print_label(report, "");
        le_output_format(report->output, "%17s   and %d other%s; see --summary\n", "", others, others == 1 ? "" : "s");
    }
}

/* Graphs whose launches are recorded as a whole. */
static void print_graphs(struct le_report *report, const struct le_named_times *names) {
    for (int32_t k = 0; k < names->count; k++) {
        const struct le_named_time *group = &names->at[k];
        if (!is_graph_name(report->index->texts.at[group->name]))
            continue;
        print_label(report, "graphs");
        le_output_right(report->output, time_text(report, group->total_ns), 9);
        le_output_format(report->output, "%8s   %s x %s\n", "", le_format_count(report->arena, group->count),
                         time_text(report, group->total_ns / group->count));
    }
}

static void print_copies(struct le_report *report, const struct le_named_times *names) {
    bool first = true;
    for (int32_t k = 0; k < names->count; k++) {
        const struct le_named_time *group = &names->at[k];
        const char *name = report->index->texts.at[group->name];
        if (!is_copy_name(name) || is_graph_name(name))
            continue;
        print_label(report, first ? "copies" : "");
        first = false;
        le_output_right(report->output, time_text(report, group->total_ns), 9);
        le_output_right(report->output, le_format_bytes(report->arena, group->bytes), 9);
        le_output_format(report->output, "  %s x %s at %s  ", le_format_count(report->arena, group->count),
                         le_format_bytes(report->arena, group->bytes / group->count),
                         le_format_rate(report->arena, group->bytes, group->total_ns));
        le_output_text(report->output, name);
        le_output_text(report->output, "\n");
    }
}

/* ---- JSON */

static void json_device(struct le_report *report, int32_t position, const struct le_device_time *time) {
    struct le_output *output = report->output;
    le_output_open(output, NULL, '{');
    le_output_json_text(output, "device", le_report_device(report, position));
    le_output_json_count(output, "wall_ns", time->wall_ns);
    le_output_json_count(output, "busy_ns", time->busy_ns);
    le_output_json_count(output, "idle_ns", time->idle_ns);
    le_output_json_count(output, "kernels_ns", time->kernel_ns);
    le_output_json_count(output, "copies_ns", time->copy_ns);
    le_output_json_count(output, "both_ns", time->both_ns);
    le_output_json_count(output, "gaps", time->gaps);
    le_output_open(output, "idle", '{');
    for (int state = 0; state < LE_HOST_STATES; state++)
        le_output_json_count(output, le_host_state_name((enum le_host_state)state), time->host_ns[state]);
    le_output_close(output, '}');
    le_output_close(output, '}');
}

static void json_processes(struct le_report *report) {
    const struct le_trace_index *index = report->index;
    le_output_open(report->output, "processes", '[');
    for (int32_t k = 0; k < index->processes.count; k++) {
        const struct le_process *process = &index->processes.at[k];
        le_output_open(report->output, NULL, '{');
        le_output_json_count(report->output, "process", process->id);
        le_output_json_text(report->output, "command", index->texts.at[process->command]);
        le_output_json_text(report->output, "language", index->texts.at[process->language]);
        le_output_json_text(report->output, "host", index->texts.at[process->host]);
        le_output_json_flag(report->output, "ended", process->ended);
        le_output_json_flag(report->output, "cut", process->is_cut);
        le_output_json_count(report->output, "recorder_ns", process->recorder_ns);
        le_output_close(report->output, '}');
    }
    le_output_close(report->output, ']');
}

static void json_overview(struct le_report *report, const struct le_findings *findings) {
    const struct le_trace_index *index = report->index;
    struct le_device_time time;
    le_report_json_begin(report);
    json_processes(report);
    le_output_json_count(report->output, "wall_ns", index->end_ns - index->start_ns);
    le_output_json_count(report->output, "operations", (uint64_t)index->operations.count);
    le_output_json_count(report->output, "calls", (uint64_t)index->calls.count);
    le_output_json_count(report->output, "lost", index->lost);
    le_output_open(report->output, "devices", '[');
    for (int32_t k = 0; k < index->devices.count && k < DEVICES_SHOWN; k++) {
        le_device_time_find(index, k, report->arena, &time);
        json_device(report, k, &time);
    }
    le_output_close(report->output, ']');
    le_report_findings_json(report, findings);
    le_report_json_end(report);
}

/* ---- the whole report */

static void print_devices(struct le_report *report) {
    struct le_device_time time;
    int32_t count = report->index->devices.count;
    for (int32_t k = 0; k < count && k < DEVICES_SHOWN; k++) {
        le_device_time_find(report->index, k, report->arena, &time);
        print_device_facts(report, k);
        print_label(report, "  wall");
        le_output_right(report->output, time_text(report, time.wall_ns), 9);
        le_output_text(report->output, "\n");
        print_busy(report, &time);
        print_idle(report, &time);
    }
    if (count > DEVICES_SHOWN)
        le_output_format(report->output, "(and %d other devices)\n", (int)count - DEVICES_SHOWN);
}

static void print_overview(struct le_report *report, const struct le_findings *findings) {
    const struct le_trace_index *index = report->index;
    for (int32_t k = 0; k < index->processes.count && k < DEVICES_SHOWN; k++)
        print_process(report, &index->processes.at[k]);
    if (index->processes.count > DEVICES_SHOWN)
        le_output_format(report->output, "(and %d other processes)\n", (int)index->processes.count - DEVICES_SHOWN);
    if (index->operations.count == 0)
        le_output_text(report->output, "No work on a device was recorded.\n");
    print_devices(report);
    struct le_named_times names = le_named_times_of_operations(report);
    print_kernels(report, &names);
    print_graphs(report, &names);
    print_copies(report, &names);
    le_output_text(report->output, "\n");
    le_report_findings_text(report, findings);
    le_report_notes_text(report);
}

leat_status le_report_overview(struct le_report *report) {
    struct le_findings findings;
    if (report->format == LEAT_REPORT_CSV)
        return le_fail_at(LEAT_INVALID, (struct le_location){0}, "ask for the summary, the operations or the findings",
                          "the overview is not available as CSV");
    leat_status status = le_report_find(report, &findings);
    if (status)
        return status;
    if (report->format == LEAT_REPORT_JSON)
        json_overview(report, &findings);
    else
        print_overview(report, &findings);
    return LEAT_OK;
}
