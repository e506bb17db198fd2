/* Reports: a device's time against a count of every nanosecond, the same bytes each time, correct quoting in all
 * formats.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/memory.h"
#include "trace/device_time.h"
#include "trace/report/report.h"
#include "trace/report/report_make.h"
#include "trace/report/report_testing.h"

struct sink {
    char *at;
    size_t length, most; /* most: writing more fails; 0: no limit */
};

static bool keep(void *user, const void *bytes, size_t size_bytes) {
    struct sink *sink = user;
    if (sink->most && sink->length + size_bytes > sink->most)
        return false;
    sink->at = realloc(sink->at, sink->length + size_bytes + 1);
    assert_non_null(sink->at);
    memcpy(sink->at + sink->length, bytes, size_bytes);
    sink->length += size_bytes;
    sink->at[sink->length] = '\0';
    return true;
}

/* The caller frees it. */
static char *made(const struct le_trace_index *index, leat_report report, leat_report_format format) {
    struct sink sink = {0};
    assert_int_equal(le_report_make(index, report, format, keep, &sink), LEAT_OK);
    assert_true(sink.length > 0 && strlen(sink.at) == sink.length);
    return sink.at;
}

static struct le_trace_index *example_index(void) {
    struct le_made_trace trace = {0};
    le_example_make(&trace);
    struct le_trace_index *index = le_made_index(&trace);
    le_made_finish(&trace);
    return index;
}

static void assert_says(const char *text, const char *part) {
    if (!strstr(text, part))
        fail_msg("`%s` is not in\n%s", part, text);
}

/* ---- a device's time */

enum { SPAN_NS = 3000 };

/* The states at a moment, found by looking at every operation, call and pause. */
static void count_moment(const struct le_trace_index *index, uint64_t now, struct le_device_time *time) {
    bool kernels = false, copies = false;
    enum le_host_state host = LE_HOST_OTHER;
    for (int32_t k = 0; k < index->operations.count; k++) {
        const struct le_operation *at = &index->operations.at[k];
        bool is_now = index->streams.at[at->stream].device == 0 && at->start_ns <= now && now < at->end_ns;
        kernels |= is_now && at->kind == LE_OPERATION_KERNEL;
        copies |= is_now && at->kind == LE_OPERATION_COPY;
    }
    for (int32_t k = 0; k < index->calls.count; k++) {
        const struct le_call *at = &index->calls.at[k];
        enum le_host_state state = le_host_state_of((enum le_call_kind)at->kind);
        if (at->start_ns <= now && now < at->end_ns && state < host)
            host = state;
    }
    time->wall_ns++;
    time->kernel_ns += kernels;
    time->copy_ns += copies;
    time->both_ns += kernels && copies;
    time->busy_ns += kernels || copies;
    if (!kernels && !copies) {
        time->idle_ns++;
        time->host_ns[host]++;
    }
}

static uint64_t some(uint64_t *state, uint64_t most) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (*state >> 33) % most;
}

static void make_random(struct le_made_trace *trace, uint64_t seed) {
    static const char *const functions[] = {"cudaLaunchKernel",      "cudaMemcpy", "cudaMalloc", "cuModuleLoad",
                                            "cudaDeviceSynchronize", "cuInit",     "cuCtxGetId"};
    le_made_part(trace, 1);
    le_made_device(trace, 0, "one", 10);
    le_made_call(trace, 9, "cuCtxGetId", 1, 1);
    for (int k = 0; k < 30; k++) {
        uint64_t start = 1 + some(&seed, SPAN_NS), duration = some(&seed, 200);
        uint32_t call = le_made_call(trace, (uint32_t)some(&seed, 3), functions[some(&seed, 7)], start, duration);
        trace->device = (uint32_t)some(&seed, 4) == 0;
        start = 1 + some(&seed, SPAN_NS);
        duration = some(&seed, 150);
        if (some(&seed, 2))
            le_made_kernel(trace, call, 7, "kernel", start, duration, 1, 32);
        else
            le_made_copy(trace, call, 8, LE_TRACE_HTOD, LE_TRACE_PINNED, true, 100, start, duration);
    }
    le_made_end(trace, SPAN_NS + 400, 0);
}

static void device_time_counts_every_nanosecond(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct le_made_trace trace = {0};
        struct le_arena arena;
        struct le_device_time time, counted = {0};
        uint64_t host_ns = 0;
        make_random(&trace, seed);
        struct le_trace_index *index = le_made_index(&trace);
        le_arena_init(&arena);
        le_device_time_find(index, 0, &arena, &time);
        for (uint64_t now = index->start_ns; now < index->end_ns; now++)
            count_moment(index, now, &counted);
        counted.gaps = time.gaps;
        assert_memory_equal(&time, &counted, sizeof time);
        for (int k = 0; k < LE_HOST_STATES; k++)
            host_ns += time.host_ns[k];
        assert_true(time.wall_ns == index->end_ns - index->start_ns);
        assert_true(time.wall_ns == time.busy_ns + time.idle_ns && time.idle_ns == host_ns);
        assert_true(time.busy_ns == time.kernel_ns + time.copy_ns - time.both_ns);
        le_arena_finish(&arena);
        le_trace_free(index);
        le_made_finish(&trace);
    }
}

static void pauses_and_compiling_come_first(void **state) {
    (void)state;
    struct le_made_trace trace = {0};
    struct le_arena arena;
    struct le_device_time time;
    le_made_part(&trace, 1);
    le_made_switch(&trace, 1000, true);
    uint32_t call = le_made_call(&trace, 5, "cudaLaunchKernel", 1000, 500);
    le_made_overhead(&trace, 5, LE_TRACE_OVERHEAD_LAZY_LOADING, 1100, 300);
    le_made_overhead(&trace, 5, LE_TRACE_OVERHEAD_FLUSH, 1400, 100);
    le_made_kernel(&trace, call, 7, "k", 1600, 100, 1, 32);
    le_made_switch(&trace, 2000, false);
    le_made_switch(&trace, 2600, true);
    le_made_end(&trace, 3000, 0);
    struct le_trace_index *index = le_made_index(&trace);
    le_arena_init(&arena);
    le_device_time_find(index, 0, &arena, &time);
    assert_true(time.wall_ns == 2000 && time.busy_ns == 100 && time.gaps == 2);
    assert_true(time.host_ns[LE_HOST_COMPILING] == 300 && time.host_ns[LE_HOST_LAUNCHING] == 200);
    assert_true(time.host_ns[LE_HOST_PAUSED] == 600 && time.host_ns[LE_HOST_OTHER] == 800);
    le_arena_finish(&arena);
    le_trace_free(index);
    le_made_finish(&trace);
}

/* ---- reports */

/* The file that other tests read is the same as this trace. */
static void example_is_the_kept_file(void **state) {
    (void)state;
    struct le_made_trace trace = {0};
    unsigned char kept[1 << 15];
    FILE *file = fopen("tests/trace/small.trace", "rb");
    assert_non_null(file);
    size_t length = fread(kept, 1, sizeof kept, file);
    fclose(file);
    le_example_make(&trace);
    assert_int_equal(length, trace.file.length);
    assert_memory_equal(kept, trace.file.at, length);
    le_made_finish(&trace);
}

static void reports_are_the_same_again(void **state) {
    (void)state;
    struct le_trace_index *first = example_index(), *second = example_index();
    for (int report = LEAT_REPORT_OVERVIEW; report <= LEAT_REPORT_SVG; report++)
        for (int format = LEAT_REPORT_TEXT; format <= LEAT_REPORT_JSON; format++) {
            if (report == LEAT_REPORT_OVERVIEW && format == LEAT_REPORT_CSV)
                continue;
            char *once = made(first, (leat_report)report, (leat_report_format)format);
            char *again = made(second, (leat_report)report, (leat_report_format)format);
            assert_string_equal(once, again);
            free(once);
            free(again);
        }
    le_trace_free(first);
    le_trace_free(second);
}

static void the_overview_has_the_figures(void **state) {
    (void)state;
    struct le_trace_index *index = example_index();
    char *text = made(index, LEAT_REPORT_OVERVIEW, LEAT_REPORT_TEXT);
    assert_says(text, "  wall          3.20 ms\n");
    assert_says(text, "  busy          1.14 ms    36 %   kernels 340 us, copies 800 us\n");
    assert_says(text, "  idle          2.06 ms    64 %   in 61 gaps, while the host was\n");
    assert_says(text, "290 us     9 %   starting CUDA\n");
    assert_says(text, "20 x 400 KB at 20 GB/s  [copy host to device]\n");
    free(text);
    text = made(index, LEAT_REPORT_OVERVIEW, LEAT_REPORT_JSON);
    assert_says(text, "\"wall_ns\":3200000,\"busy_ns\":1140000,\"idle_ns\":2060000,\"kernels_ns\":340000,"
                      "\"copies_ns\":800000,\"both_ns\":0,\"gaps\":61,");
    free(text);
    le_trace_free(index);
}

/* Graphs that are launched as a whole have their own line beside the kernels. */
static void the_overview_has_graphs(void **state) {
    (void)state;
    struct le_made_trace trace = {0};
    le_example_make(&trace);
    for (uint32_t k = 0; k < 40; k++)
        le_made_graph(&trace, le_made_call(&trace, 4001, "cuGraphLaunch", 2800000 + 2000 * k, 1000), 7, 3,
                      2801500 + 2000 * k, 500);
    le_made_flush(&trace);
    struct le_trace_index *index = le_made_index(&trace);
    char *text = made(index, LEAT_REPORT_OVERVIEW, LEAT_REPORT_TEXT);
    assert_says(text, "\ngraphs          20.0 us");
    assert_says(text, "   40 x 500 ns\n");
    free(text);
    le_trace_free(index);
    le_made_finish(&trace);
}

static void formats_quote_special_characters(void **state) {
    (void)state;
    struct le_trace_index *index = example_index();
    char *text = made(index, LEAT_REPORT_OVERVIEW, LEAT_REPORT_JSON);
    assert_says(text, "\"command\":\"python3 steps.py \\\"a, b\\\" <x>\"");
    free(text);
    text = made(index, LEAT_REPORT_SVG, LEAT_REPORT_TEXT);
    assert_says(text, "python3 steps.py &quot;a, b&quot; &lt;x&gt;");
    assert_null(strstr(text, "<x>"));
    free(text);
    text = made(index, LEAT_REPORT_SUMMARY, LEAT_REPORT_CSV);
    assert_says(text, "GPU activities,14.75,180000,20,9000,9000,9000,\"saxpy(float, float*)\"\n");
    free(text);
    text = made(index, LEAT_REPORT_OPERATIONS, LEAT_REPORT_CSV);
    assert_says(text,
                "\n708000,20000,,,,,,,,,,400000,20.000,Pageable,Device,NVIDIA H200 (0),1,7,[copy host to device]\n");
    free(text);
    text = made(index, LEAT_REPORT_PERFETTO, LEAT_REPORT_TEXT);
    assert_says(text, "\"ts\":731.000,\"dur\":4.000,\"cat\":\"call\",\"name\":\"cudaLaunchKernel\"");
    assert_says(text, "{\"ph\":\"f\",");
    free(text);
    le_trace_free(index);
}

/* Sixty launches for which the host is too slow, from a function whose name is longer than any line. */
static void make_slow_launches(struct le_made_trace *trace, const char *function) {
    le_made_part(trace, 1);
    le_made_process(trace, "a.out", NULL);
    le_made_device(trace, 0, "NVIDIA H200", 132);
    uint32_t source = le_made_source(trace, function, "app.py", 3, 0);
    for (uint64_t k = 0; k < 60; k++) {
        uint64_t at = 1000000 + 100000 * k;
        uint32_t call = le_made_call_from(trace, 5, "cudaLaunchKernel", at, 90000, source);
        le_made_kernel(trace, call, 7, "k", at + 91000, 5000, 1, 32);
    }
    le_made_end(trace, 8000000, 0);
}

/* Texts in the trace never add line breaks to a report. */
static void long_texts_stay_on_their_line(void **state) {
    (void)state;
    char function[3000];
    struct le_made_trace trace = {0};
    memset(function, 'f', sizeof function);
    function[sizeof function - 1] = '\0';
    make_slow_launches(&trace, function);
    struct le_trace_index *index = le_made_index(&trace);
    char *text = made(index, LEAT_REPORT_FINDINGS, LEAT_REPORT_TEXT);
    assert_says(text, "\n    at app.py:3 in fff");
    assert_says(text, "ffff\n    > ");
    assert_null(strstr(text, "f    > "));
    assert_says(text, function);
    free(text);
    le_trace_free(index);
    le_made_finish(&trace);
}

/* Long names and large numbers make a line longer, but columns stay separate. */
static void columns_stay_apart(void **state) {
    (void)state;
    struct le_made_trace trace = {0};
    le_made_part(&trace, 1);
    le_made_device(&trace, 0, "NVIDIA H100 80GB HBM3", 132);
    uint32_t call = le_made_call(&trace, 5, "cudaLaunchKernel", 1000, 1000);
    struct le_trace_kernel kernel = le_made_kernel_of(&trace, call, 4000000000, "k", 1000, 1000000, 2147483647, 1024);
    kernel.grid[1] = kernel.grid[2] = 65535;
    kernel.context = 4000000000;
    LE_MADE_RECORD(&trace, LE_TRACE_KERNEL, kernel);
    le_made_end(&trace, 2000000, 0);
    struct le_trace_index *index = le_made_index(&trace);
    char *text = made(index, LEAT_REPORT_OPERATIONS, LEAT_REPORT_TEXT);
    assert_says(text, "DstMemType                    Device Context Stream  Name\n");
    assert_says(text, " 1000.000 (2147483647 65535 65535) ");
    assert_says(text, " NVIDIA H100 80GB HBM3 (0) 4000000000 4000000000  k\n");
    free(text);
    le_trace_free(index);
    le_made_finish(&trace);
}

static void assert_event(const char *text, const char *phase, const char *start_us, const char *rest, bool is_there) {
    char event[256];
    snprintf(event, sizeof event, "{\"ph\":\"%s\",\"pid\":1,\"tid\":5,\"ts\":%s,%s}", phase, start_us, rest);
    assert_int_equal(strstr(text, event) != NULL, is_there);
}

/* Events on a Perfetto track must nest, so a range that crosses another has no track. */
static void perfetto_has_crossing_ranges_apart(void **state) {
    (void)state;
    struct le_made_trace trace = {0};
    le_made_part(&trace, 1);
    le_made_switch(&trace, 1000, true);
    le_made_call(&trace, 5, "cudaMalloc", 11000, 1000);
    le_made_call(&trace, 5, "cudaFree", 19500, 1000);
    le_made_range(&trace, 5, "outer", 11000, 9000 - 500); /* ends where a call begins */
    le_made_range(&trace, 5, "inner", 11000, 1000);       /* as long as a call */
    le_made_range(&trace, 5, "crosses outer", 15000, 20000);
    le_made_range(&trace, 5, "inside of both", 16000, 1000);
    le_made_range(&trace, 6, "another thread's", 15000, 20000);
    le_made_range(&trace, 5, "ends in a call", 18000, 2000);
    le_made_range(&trace, 5, "begins in a call", 20000, 2000);
    le_made_range(&trace, 5, "in a call", 19600, 100);
    le_made_end(&trace, 50000, 0);
    struct le_trace_index *index = le_made_index(&trace);
    char *text = made(index, LEAT_REPORT_PERFETTO, LEAT_REPORT_TEXT);
    assert_event(text, "X", "10.000", "\"dur\":8.500,\"cat\":\"range\",\"name\":\"outer\"", true);
    assert_event(text, "X", "10.000", "\"dur\":1.000,\"cat\":\"range\",\"name\":\"inner\"", true);
    assert_event(text, "b", "14.000", "\"id\":3,\"cat\":\"range\",\"name\":\"crosses outer\"", true);
    assert_event(text, "e", "34.000", "\"id\":3,\"cat\":\"range\",\"name\":\"crosses outer\"", true);
    assert_event(text, "X", "14.000", "\"dur\":20.000,\"cat\":\"range\",\"name\":\"crosses outer\"", false);
    assert_event(text, "X", "15.000", "\"dur\":1.000,\"cat\":\"range\",\"name\":\"inside of both\"", true);
    assert_event(text, "b", "17.000", "\"id\":6,\"cat\":\"range\",\"name\":\"ends in a call\"", true);
    assert_event(text, "X", "18.600", "\"dur\":0.100,\"cat\":\"range\",\"name\":\"in a call\"", true);
    assert_event(text, "b", "19.000", "\"id\":8,\"cat\":\"range\",\"name\":\"begins in a call\"", true);
    assert_says(text, "\"tid\":6,\"ts\":14.000,\"dur\":20.000,\"cat\":\"range\",\"name\":\"another thread's\"");
    free(text);
    le_trace_free(index);
    le_made_finish(&trace);
}

/* A stream whose device is unknown belongs to a named process, too. */
static void perfetto_names_an_unknown_device(void **state) {
    (void)state;
    struct le_made_trace trace = {0};
    le_made_part(&trace, 1);
    trace.device = 5000; /* rejected: no machine has so many devices */
    le_made_kernel(&trace, 0, 7, "k", 1000, 10, 1, 1);
    le_made_end(&trace, 2000, 0);
    struct le_trace_index *index = le_made_index(&trace);
    char *text = made(index, LEAT_REPORT_PERFETTO, LEAT_REPORT_TEXT);
    assert_int_equal(index->streams.at[0].device, LE_NONE);
    assert_says(
        text,
        "{\"ph\":\"M\",\"pid\":1073741824,\"tid\":0,\"name\":\"process_name\",\"args\":{\"name\":\"unknown device\"}}");
    free(text);
    le_trace_free(index);
    le_made_finish(&trace);
}

static void names_are_readable(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"saxpy", "saxpy"},
        {"_Z5saxpyifPfS_", "saxpy"},
        {"_ZN2ns3fooEv", "ns::foo"},
        {"_ZN12_GLOBAL__N_13barEv", "(anon)::bar"},
        {"_Z3addILi4EEvPf", "add<4>"},
        {LE_EXAMPLE_KERNEL, "at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float> >"},
        {"_Z99short", "_Z99short"},
        {"_Z", "_Z"},
    };
    struct le_arena arena;
    le_arena_init(&arena);
    for (size_t k = 0; k < ARRAY_LEN(cases); k++)
        assert_string_equal(le_report_name(&arena, cases[k][0]), cases[k][1]);
    le_arena_finish(&arena);
}

static void failures_are_reported(void **state) {
    (void)state;
    struct le_trace_index *index = example_index();
    struct sink full = {.most = 100};
    assert_int_equal(le_report_make(index, LEAT_REPORT_SUMMARY, LEAT_REPORT_TEXT, keep, &full), LEAT_FILE);
    assert_int_equal(le_report_make(index, LEAT_REPORT_OVERVIEW, LEAT_REPORT_CSV, keep, &full), LEAT_INVALID);
    free(full.at);
    le_trace_free(index);
}

/* An empty trace, and a trace with one kernel of no duration. */
static void tiny_traces_are_reported(void **state) {
    (void)state;
    for (int with = 0; with < 2; with++) {
        struct le_made_trace trace = {0};
        le_made_part(&trace, 1);
        if (with)
            le_made_kernel(&trace, 0, 7, "k", 1000, 0, 1, 1);
        le_made_end(&trace, with ? 1000 : 0, 0);
        struct le_trace_index *index = le_made_index(&trace);
        for (int report = LEAT_REPORT_OVERVIEW; report <= LEAT_REPORT_SVG; report++)
            free(made(index, (leat_report)report, LEAT_REPORT_TEXT));
        le_trace_free(index);
        le_made_finish(&trace);
    }
}

/* ---- memory that runs out */

static struct { int64_t requests, fail_at, live; } memory;

static void *allocate(size_t size_bytes, void *user) {
    (void)user;
    if (++memory.requests == memory.fail_at)
        return NULL;
    memory.live++;
    return malloc(size_bytes);
}

static void *reallocate(void *old, size_t size_bytes, void *user) {
    (void)user;
    if (++memory.requests == memory.fail_at)
        return NULL;
    memory.live += old == NULL;
    return realloc(old, size_bytes);
}

static void release(void *old, void *user) {
    (void)user;
    memory.live -= old != NULL;
    free(old);
}

static leat_status read_and_report(const unsigned char *bytes, size_t size_bytes, leat_report report) {
    struct le_trace_index *index;
    struct sink sink = {0};
    leat_status status = le_made_read(bytes, size_bytes, &index);
    if (!status)
        status = le_report_make(index, report, LEAT_REPORT_JSON, keep, &sink);
    le_trace_free(index);
    free(sink.at);
    return status;
}

static void every_allocation_fails_once(void **state) {
    (void)state;
    const struct le_allocator failing = {.allocate = allocate, .reallocate = reallocate, .release = release};
    static const leat_report reports[] = {LEAT_REPORT_OVERVIEW, LEAT_REPORT_SVG, LEAT_REPORT_PERFETTO};
    struct le_made_trace trace = {0};
    make_random(&trace, 1);
    le_made_flush(&trace);
    make_random(&trace, 2); /* a second part, so that parts are merged */
    le_made_flush(&trace);
    le_memory_set_allocator(&failing);
    for (size_t k = 0; k < ARRAY_LEN(reports); k++) {
        leat_status status = LEAT_OUT_OF_MEMORY;
        for (memory.fail_at = 1; status; memory.fail_at++) {
            memory.requests = 0;
            status = read_and_report(trace.file.at, trace.file.length, reports[k]);
            assert_true(status == LEAT_OK || status == LEAT_OUT_OF_MEMORY);
            assert_true(memory.live == 0);
        }
        assert_true(memory.fail_at > 20);
    }
    le_memory_set_allocator(NULL);
    le_made_finish(&trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(device_time_counts_every_nanosecond),
        cmocka_unit_test(pauses_and_compiling_come_first),
        cmocka_unit_test(example_is_the_kept_file),
        cmocka_unit_test(reports_are_the_same_again),
        cmocka_unit_test(the_overview_has_the_figures),
        cmocka_unit_test(the_overview_has_graphs),
        cmocka_unit_test(formats_quote_special_characters),
        cmocka_unit_test(long_texts_stay_on_their_line),
        cmocka_unit_test(columns_stay_apart),
        cmocka_unit_test(perfetto_has_crossing_ranges_apart),
        cmocka_unit_test(perfetto_names_an_unknown_device),
        cmocka_unit_test(names_are_readable),
        cmocka_unit_test(failures_are_reported),
        cmocka_unit_test(tiny_traces_are_reported),
        cmocka_unit_test(every_allocation_fails_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
