/* Draws a timeline as SVG: for each device, how busy it was, what the host did meanwhile, and its streams; then the
 * host's threads, and where the findings are. The file needs no other files and follows the viewer's light or dark
 * theme. Entries narrower than part of a pixel are joined with their neighbours into one bar. */
#include "trace/device_time.h"
#include "trace/format_figures.h"
#include "trace/report/report.h"
#include <stdlib.h>
#include <string.h>

enum {
    PLOT_LEFT = 190,
    PLOT_WIDTH = 1000,
    WIDTH = PLOT_LEFT + PLOT_WIDTH + 20,
    HEAD_HEIGHT = 74, /* of the title, legend and axis */
    BUSY_HEIGHT = 60,
    LANE_HEIGHT = 18,
    LANE_STEP = 24,
    MARK_STEP = 16,
    LINE_STEP = 18,
    COLUMNS = 500,
    LABEL_CHARS = 27,
    LINE_CHARS = 170,
    DEVICES_SHOWN = 4,
    STREAMS_SHOWN = 12,
    THREADS_SHOWN = 8,
    FINDINGS_SHOWN = 12
};
/* Entries closer than JOIN_PIXELS are joined into one bar, up to JOIN_WIDTH pixels. Its opacity shows how dense it is.
 */
#define JOIN_PIXELS 0.4
#define JOIN_WIDTH  4.0

enum { KERNELS = LE_HOST_STATES, COPIES, STATES }; /* states of the device, after those of the host */

/* The colours, in the order of the legend. A state's colour is the CSS class "s" + its number. */
static const struct {
    int state;
    const char *word;
} legend[] = {
    {KERNELS, "kernels"},
    {COPIES, "copies, sets"},
    {LE_HOST_LAUNCHING, "launching"},
    {LE_HOST_COPYING, "copy calls"},
    {LE_HOST_WAITING, "waiting"},
    {LE_HOST_ALLOCATING, "allocating"},
    {LE_HOST_COMPILING, "compiling"},
    {LE_HOST_STARTING, "starting"},
    {LE_HOST_CALLING, "other calls"},
    {LE_HOST_OTHER, "other code"},
    {LE_HOST_PAUSED, "not recorded"},
};

static const char style[] =
    "<style>\n"
    "text{font:12px system-ui,sans-serif;fill:#1b1f24}.title{font-size:15px;font-weight:600}.dim{fill:#59636e}\n"
    ".bg{fill:#fff}.lane{fill:#f1f3f5}.grid{stroke:#d5dae0}.mark{fill:#b3261e}.number{fill:#fff;font-size:10px}\n"
    ".s9{fill:#2b6cb0}.s10{fill:#2f9e6e}.s2{fill:#e8912d}.s3{fill:#9ad1b8}.s7{fill:#b9c2cc}.s4{fill:#c77dba}\n"
    ".s1{fill:#d64545}.s5{fill:#8c6bb1}.s6{fill:#c9b458}.s8{fill:#e4e8ec}.s0{fill:#f8f9fa}\n"
    "@media (prefers-color-scheme:dark){text{fill:#e6edf3}.dim{fill:#9aa4af}.bg{fill:#0d1117}.lane{fill:#1a2028}\n"
    ".grid{stroke:#30363d}.s9{fill:#4c93dc}.s10{fill:#3cc48a}.s3{fill:#2d6b52}.s7{fill:#55606c}.s8{fill:#272e37}\n"
    ".s0{fill:#12171e}.number{fill:#fff}}\n"
    "</style>\n";

struct picture {
    struct le_report *report;
    uint64_t start_ns, wall_ns;
    int y;
    bool is_measured; /* drawn only to find its height */
};

static double x_of(const struct picture *picture, uint64_t time_ns) {
    uint64_t from_start = time_ns > picture->start_ns ? time_ns - picture->start_ns : 0;
    double part = picture->wall_ns ? (double)from_start / (double)picture->wall_ns : 0;
    return PLOT_LEFT + PLOT_WIDTH * (part < 1 ? part : 1);
}

/* The text, cut to at most `most` characters. A cut text is in line_arena. */
static const char *shortened(struct le_report *report, const char *text, int most) {
    size_t length = 0;
    int count = 0;
    for (; text[length]; length++)
        if (((unsigned char)text[length] & 0xc0) != 0x80 && count++ == most - 1)
            return text[length + 1] ? le_arena_format(report->line_arena, "%.*s\xe2\x80\xa6", (int)length, text) : text;
    return text;
}

static void text_at(struct picture *picture, double x, int y, const char *class, const char *anchor, const char *text) {
    struct le_output *output = picture->report->output;
    le_output_format(output, "<text x=\"%.1f\" y=\"%d\" class=\"%s\" text-anchor=\"%s\">", x, y, class, anchor);
    le_output_xml(output, text);
    le_output_text(output, "</text>\n");
}

static void lane_label(struct picture *picture, int height, const char *text) {
    struct le_output *output = picture->report->output;
    le_output_format(output, "<g><title>");
    le_output_xml(output, text);
    le_output_format(output, "</title>");
    text_at(picture, PLOT_LEFT - 8, picture->y + height / 2 + 4, "label", "end",
            shortened(picture->report, text, LABEL_CHARS));
    le_output_format(output, "</g><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" class=\"lane\"/>\n", PLOT_LEFT,
                     picture->y, PLOT_WIDTH, height);
}

static void draw_heading(struct picture *picture, const char *text) {
    picture->y += 8;
    text_at(picture, 10, picture->y + 12, "title", "start", shortened(picture->report, text, LINE_CHARS));
    picture->y += 20;
}

/* ---- the axis */

/* 1, 2 or 5 times a power of ten, for about ten ticks. */
static uint64_t tick_step(uint64_t wall_ns) {
    uint64_t step = 1;
    for (int k = 0; step < wall_ns / 10 && step < UINT64_MAX / 10; k++)
        step = k % 3 == 1 ? step / 2 * 5 : step * 2;
    return step;
}

static void draw_axis(struct picture *picture, int top, int bottom) {
    struct le_output *output = picture->report->output;
    uint64_t step = tick_step(picture->wall_ns);
    for (uint64_t at = 0; at <= picture->wall_ns; at += step) {
        double x = x_of(picture, picture->start_ns + at);
        le_output_format(output, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\" class=\"grid\"/>\n", x, x, top,
                         bottom);
        text_at(picture, x, top - 4, "dim", "middle", at ? le_format_time(picture->report->arena, at) : "0");
    }
}

static void draw_legend(struct picture *picture, int y) {
    int x = 10;
    for (size_t k = 0; k < ARRAY_LEN(legend); k++) {
        le_output_format(picture->report->output,
                         "<rect x=\"%d\" y=\"%d\" width=\"12\" height=\"12\" class=\"s%d\" stroke=\"#8888\"/>\n", x,
                         y - 10, legend[k].state);
        text_at(picture, x + 17, y, "dim", "start", legend[k].word);
        x += 34 + 7 * (int)strlen(legend[k].word);
    }
}

/* ---- how busy a device was */

struct busy_columns {
    const struct picture *picture;
    uint64_t (*columns)[STATES];
};

static void add_to_columns(void *user, const struct le_device_moment *moment) {
    const struct busy_columns *busy = user;
    int state = moment->kernels ? KERNELS : moment->copies ? COPIES : (int)moment->host;
    double scale = COLUMNS / (double)busy->picture->wall_ns;
    uint64_t base = busy->picture->start_ns;
    int first = (int)((double)(moment->start_ns - base) * scale), last = (int)((double)(moment->end_ns - base) * scale);
    for (int k = first; k <= last && k < COLUMNS; k++) {
        uint64_t low = base + (uint64_t)(k / scale), high = base + (uint64_t)((k + 1) / scale);
        low = low > moment->start_ns ? low : moment->start_ns;
        high = high < moment->end_ns ? high : moment->end_ns;
        busy->columns[k][state] += high > low ? high - low : 0;
    }
}

/* Draws one layer of all columns, from base[k] pixels up, and moves base[k] to its top. */
static void draw_layer(struct picture *picture, const struct busy_columns *busy, int state, double *base) {
    struct le_output *output = picture->report->output;
    bool any = false;
    for (int k = 0; k < COLUMNS; k++) {
        uint64_t whole = 0;
        for (int other = 0; other < STATES; other++)
            whole += busy->columns[k][other];
        double height = whole ? BUSY_HEIGHT * (double)busy->columns[k][state] / (double)whole : 0;
        if (height < 0.05)
            continue;
        if (!any)
            le_output_format(output, "<path class=\"s%d\" d=\"", state);
        any = true;
        le_output_format(output, "M%d %.1fh%dv-%.1fh-%dz", PLOT_LEFT + k * PLOT_WIDTH / COLUMNS,
                         picture->y + BUSY_HEIGHT - base[k], PLOT_WIDTH / COLUMNS, height, PLOT_WIDTH / COLUMNS);
        base[k] += height;
    }
    if (any)
        le_output_text(output, "\"/>\n");
}

static void fill_columns(const struct picture *picture, int32_t device, struct busy_columns *busy,
                         struct le_device_time *time) {
    struct le_report *report = picture->report;
    le_device_time_find(report->index, device, report->arena, time);
    le_device_time_walk(report->index, device, report->arena, add_to_columns, busy);
}

static void draw_busy_columns(struct picture *picture, int32_t device) {
    struct le_report *report = picture->report;
    struct busy_columns busy = {.picture = picture,
                                .columns = le_arena_array(report->arena, COLUMNS, sizeof *busy.columns)};
    double base[COLUMNS] = {0};
    struct le_device_time time = {0};
    if (!picture->is_measured)
        fill_columns(picture, device, &busy, &time);
    draw_heading(picture, le_arena_format(report->arena, "%s: busy %s, %s of %s", le_report_device(report, device),
                                          le_format_time(report->arena, time.busy_ns),
                                          le_format_percent(report->arena, time.busy_ns, time.wall_ns),
                                          le_format_time(report->arena, time.wall_ns)));
    lane_label(picture, BUSY_HEIGHT, "busy, idle by cause");
    for (size_t k = 0; k < ARRAY_LEN(legend); k++)
        draw_layer(picture, &busy, legend[k].state, base);
    picture->y += BUSY_HEIGHT + LANE_STEP - LANE_HEIGHT;
}

/* ---- lanes: consecutive entries, joined into one bar if they are close together */

struct bar {
    double left, right;
    int state, name; /* name: LE_NONE: several names */
    uint64_t count, time_ns;
};

static void print_bar_title(struct le_report *report, const struct bar *bar) {
    const char *name = "several names";
    if (bar->name != LE_NONE)
        name = shortened(report, le_report_name(report->line_arena, report->index->texts.at[bar->name]), 80);
    le_output_xml(report->output, name);
    le_output_text(report->output, ": ");
    le_output_text(report->output, le_format_count(report->line_arena, bar->count));
    le_output_text(report->output, " x, ");
    le_output_text(report->output, le_format_time(report->line_arena, bar->time_ns));
}

/* There may be millions of bars. */
static void draw_bar(struct picture *picture, const struct bar *bar) {
    struct le_report *report = picture->report;
    struct le_output *output = report->output;
    double width = bar->right - bar->left < JOIN_PIXELS ? JOIN_PIXELS : bar->right - bar->left;
    double span_ns = width / PLOT_WIDTH * (double)picture->wall_ns;
    double density = bar->count == 1 || span_ns <= 0 ? 1 : 0.25 + 0.75 * (double)bar->time_ns / span_ns;
    if (bar->count == 0)
        return;
    le_output_text(output, "<rect x=\"");
    le_output_hundredths(output, bar->left);
    le_output_text(output, "\" y=\"");
    le_output_count(output, (uint64_t)picture->y);
    le_output_text(output, "\" width=\"");
    le_output_hundredths(output, width);
    le_output_text(output, "\" height=\"");
    le_output_count(output, LANE_HEIGHT);
    le_output_text(output, "\" class=\"s");
    le_output_count(output, (uint64_t)bar->state);
    le_output_text(output, "\"");
    if (density < 0.995) {
        le_output_text(output, " fill-opacity=\"");
        le_output_hundredths(output, density);
        le_output_text(output, "\"");
    }
    le_output_text(output, "><title>");
    print_bar_title(report, bar);
    le_output_text(output, "</title></rect>\n");
    le_report_line_end(report);
}

static void add_to_bar(struct picture *picture, struct bar *bar, uint64_t start_ns, uint64_t end_ns, int state,
                       int name) {
    double left = x_of(picture, start_ns), right = x_of(picture, end_ns);
    if (bar->count == 0 || bar->state != state || left > bar->right + JOIN_PIXELS || left > bar->left + JOIN_WIDTH) {
        draw_bar(picture, bar);
        *bar = (struct bar){.left = left, .right = right, .state = state, .name = name};
    }
    bar->right = right > bar->right ? right : bar->right;
    bar->name = bar->name == name ? name : LE_NONE;
    bar->count++;
    bar->time_ns += end_ns - start_ns;
}

static void draw_stream(struct picture *picture, int32_t stream) {
    const struct le_trace_index *index = picture->report->index;
    struct bar bar = {0};
    lane_label(picture, LANE_HEIGHT, le_report_stream(picture->report, stream));
    for (int32_t k = 0; k < index->operations.count && !picture->is_measured; k++) {
        const struct le_operation *operation = &index->operations.at[k];
        if (operation->stream != stream)
            continue;
        bool is_copy = operation->kind == LE_OPERATION_COPY || operation->kind == LE_OPERATION_SET;
        add_to_bar(picture, &bar, operation->start_ns, operation->end_ns, is_copy ? COPIES : KERNELS, operation->name);
    }
    draw_bar(picture, &bar);
    picture->y += LANE_STEP;
}

static void draw_thread(struct picture *picture, int32_t thread) {
    const struct le_trace_index *index = picture->report->index;
    struct bar bar = {0};
    lane_label(picture, LANE_HEIGHT, le_report_thread(picture->report, thread));
    for (int32_t k = 0; k < index->calls.count && !picture->is_measured; k++) {
        const struct le_call *call = &index->calls.at[k];
        if (call->thread == thread)
            add_to_bar(picture, &bar, call->start_ns, call->end_ns,
                       (int)le_host_state_of((enum le_call_kind)call->kind), call->function);
    }
    draw_bar(picture, &bar);
    picture->y += LANE_STEP;
}

/* ---- which lanes */

struct ranked {
    int32_t position;
    uint64_t weight;
};

static int heavier_first(const void *left, const void *right) {
    const struct ranked *a = left, *b = right;
    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    return a->position < b->position ? -1 : a->position > b->position;
}

static int by_position(const void *left, const void *right) {
    const struct ranked *a = left, *b = right;
    return a->position < b->position ? -1 : a->position > b->position;
}

/* Keeps at most `most` entries, those with the largest weights above 0, in the order of the file. Returns how many;
 * *left_out: how many more there are. */
static int choose_heaviest(struct ranked *ranked, int32_t count, int most, int32_t *left_out) {
    int32_t used = 0;
    qsort(ranked, (size_t)count, sizeof *ranked, heavier_first);
    while (used < count && ranked[used].weight)
        used++;
    int shown = used < most ? (int)used : most;
    *left_out = used - shown;
    qsort(ranked, (size_t)shown, sizeof *ranked, by_position);
    return shown;
}

static void draw_left_out(struct picture *picture, int32_t count, const char *what) {
    if (count == 0)
        return;
    text_at(picture, PLOT_LEFT, picture->y + 12, "dim", "start",
            le_arena_format(picture->report->arena, "and %d more %s with less activity", (int)count, what));
    picture->y += LANE_STEP;
}

static void draw_streams(struct picture *picture, int32_t device) {
    const struct le_trace_index *index = picture->report->index;
    le_arena_finish(picture->report->group_arena);
    struct ranked *ranked = LE_NEW_ARRAY(picture->report->group_arena, index->streams.count + 1, struct ranked);
    int32_t left_out;
    for (int32_t k = 0; k < index->streams.count; k++)
        ranked[k].position = k;
    for (int32_t k = 0; k < index->operations.count; k++) {
        int32_t stream = index->operations.at[k].stream;
        if (index->streams.at[stream].device == device)
            ranked[stream].weight += index->operations.at[k].end_ns - index->operations.at[k].start_ns + 1;
    }
    int shown = choose_heaviest(ranked, index->streams.count, STREAMS_SHOWN, &left_out);
    for (int k = 0; k < shown; k++)
        draw_stream(picture, ranked[k].position);
    draw_left_out(picture, left_out, "streams");
}

static void draw_threads(struct picture *picture) {
    const struct le_trace_index *index = picture->report->index;
    le_arena_finish(picture->report->group_arena);
    struct ranked *ranked = LE_NEW_ARRAY(picture->report->group_arena, index->threads.count + 1, struct ranked);
    int32_t left_out;
    for (int32_t k = 0; k < index->threads.count; k++)
        ranked[k].position = k;
    for (int32_t k = 0; k < index->calls.count; k++)
        ranked[index->calls.at[k].thread].weight += index->calls.at[k].end_ns - index->calls.at[k].start_ns + 1;
    draw_heading(picture, "Host threads, in CUDA calls");
    int shown = choose_heaviest(ranked, index->threads.count, THREADS_SHOWN, &left_out);
    for (int k = 0; k < shown; k++)
        draw_thread(picture, ranked[k].position);
    draw_left_out(picture, left_out, "threads");
}

/* ---- findings */

static void number_at(struct picture *picture, double x, int y, int number) {
    struct le_output *output = picture->report->output;
    le_output_format(output, "<circle cx=\"%.1f\" cy=\"%d\" r=\"7\" class=\"mark\"/>\n", x, y);
    text_at(picture, x, y + 4, "number", "middle", le_arena_format(picture->report->arena, "%d", number));
}

static void draw_marks(struct picture *picture, const struct le_findings *findings) {
    for (int k = 0; k < findings->count && k < FINDINGS_SHOWN; k++) {
        const struct le_finding *finding = &findings->at[k];
        double left = x_of(picture, finding->start_ns), right = x_of(picture, finding->end_ns);
        if (finding->end_ns == 0)
            right = PLOT_LEFT + PLOT_WIDTH;
        le_output_format(picture->report->output,
                         "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"3\" class=\"mark\"/>\n", left,
                         picture->y + 6, right - left < 1 ? 1 : right - left);
        number_at(picture, left, picture->y + 7, k + 1);
        picture->y += MARK_STEP;
    }
}

static void list_findings(struct picture *picture, const struct le_findings *findings) {
    struct le_report *report = picture->report;
    draw_heading(picture, findings->count ? "Findings; gains are upper bounds and do not add up" : "Findings: none");
    for (int k = 0; k < findings->count && k < FINDINGS_SHOWN; k++) {
        const struct le_finding *finding = &findings->at[k];
        const char *gain = finding->gain_ns ? le_arena_format(report->arena, " (at most %s)",
                                                              le_format_time(report->arena, finding->gain_ns))
                                            : "";
        number_at(picture, 18, picture->y + 8, k + 1);
        text_at(picture, 32, picture->y + 12, "label", "start",
                shortened(report, le_arena_format(report->arena, "%s%s", finding->title, gain), LINE_CHARS));
        picture->y += LINE_STEP;
    }
}

/* ---- the whole picture */

static int32_t devices_used(const struct le_trace_index *index, bool *used) {
    int32_t count = 0;
    for (int32_t k = 0; k < index->operations.count; k++) {
        int32_t device = index->streams.at[index->operations.at[k].stream].device;
        if (device == LE_NONE || used[device])
            continue;
        used[device] = true;
        count++;
    }
    return count;
}

/* The picture's height comes first in the file, so the body is drawn twice: the first time without output, to measure
 * it. */
static void draw_body(struct picture *picture, const struct le_findings *findings) {
    struct le_report *report = picture->report;
    bool *used = LE_NEW_ARRAY(report->arena, report->index->devices.count + 1, bool);
    int32_t shown = 0, count = devices_used(report->index, used);
    draw_marks(picture, findings);
    for (int32_t k = 0; k < report->index->devices.count && shown < DEVICES_SHOWN; k++) {
        if (!used[k])
            continue;
        draw_busy_columns(picture, k);
        draw_streams(picture, k);
        shown++;
    }
    draw_left_out(picture, count - shown, "devices");
    draw_threads(picture);
}

static bool write_nothing(void *user, const void *bytes, size_t size_bytes) {
    (void)user;
    (void)bytes;
    (void)size_bytes;
    return true;
}

/* Where the body ends. */
static int body_end(struct picture *picture, const struct le_findings *findings) {
    struct le_output *output = picture->report->output;
    leat_report_write *write = output->write;
    int top = picture->y;
    le_output_flush(output);
    output->write = write_nothing;
    picture->is_measured = true;
    draw_body(picture, findings);
    picture->is_measured = false;
    le_output_flush(output);
    output->write = write;
    int end = picture->y;
    picture->y = top;
    return end;
}

static const char *title_of(struct le_report *report) {
    const struct le_trace_index *index = report->index;
    const char *command = index->processes.count ? index->texts.at[index->processes.at[0].command] : "";
    const char *more = index->processes.count > 1
                           ? le_arena_format(report->arena, " and %d more processes", (int)index->processes.count - 1)
                           : "";
    return le_arena_format(report->arena, "%s%s: %s", *command ? shortened(report, command, 90) : "a trace", more,
                           le_format_time(report->arena, index->end_ns - index->start_ns));
}

static void draw_frame(struct picture *picture, int end, int height) {
    struct le_output *output = picture->report->output;
    le_output_format(output,
                     "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\">\n",
                     WIDTH, height, WIDTH, height);
    le_output_text(output, style);
    le_output_format(output, "<rect width=\"%d\" height=\"%d\" class=\"bg\"/>\n", WIDTH, height);
    text_at(picture, 10, 22, "title", "start", title_of(picture->report));
    draw_legend(picture, 46);
    draw_axis(picture, HEAD_HEIGHT, end);
}

leat_status le_report_svg(struct le_report *report) {
    const struct le_trace_index *index = report->index;
    struct le_findings findings;
    struct picture picture = {.report = report,
                              .start_ns = index->start_ns,
                              .wall_ns = index->end_ns - index->start_ns,
                              .y = HEAD_HEIGHT + 4};
    leat_status status = le_report_find(report, &findings);
    if (status)
        return status;
    int end = body_end(&picture, &findings);
    int listed = findings.count < FINDINGS_SHOWN ? findings.count : FINDINGS_SHOWN;
    draw_frame(&picture, end, end + 40 + LINE_STEP * listed);
    draw_body(&picture, &findings);
    list_findings(&picture, &findings);
    le_output_text(report->output, "</svg>\n");
    return LEAT_OK;
}
