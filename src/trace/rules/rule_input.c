/* See rule_input.h. Each step takes time linear in the records that it looks at: first those of the whole trace, then
 * those of each process, then those of each device. */
#include "trace/rules/rule_input.h"
#include "trace/rules/occupancy.h"
#include "trace/rules/user_sources.h"
#include "trace/report/report.h"
#include <string.h>

/* A call that takes longer waited for something: CUPTI measures 2 to 5 us for a launch and up to 10 us for a copy. */
#define HELD_NS 20000
/* Findings that gain less than this, or less than a hundredth of the run, are dropped. */
#define LEAST_GAIN_NS 100000

uint64_t le_periods_total(const struct le_periods *periods) {
    return periods->total_ns;
}

/* Pages that are never used take no memory. */
struct le_periods le_periods_new(struct le_arena *arena, int64_t room) {
    return (struct le_periods){.at = LE_NEW_ARRAY(arena, room, struct le_period),
                               .before_ns = LE_NEW_ARRAY(arena, room / LE_PERIODS_SUMMED + 1, uint64_t)};
}

int64_t le_periods_after(const struct le_periods *periods, uint64_t time_ns) {
    int64_t low = 0, high = periods->count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (periods->at[middle].end_ns > time_ns)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* The total length of the periods before the time. */
static uint64_t covered_before(const struct le_periods *periods, uint64_t time_ns) {
    int64_t k = le_periods_after(periods, time_ns);
    if (k == periods->count)
        return le_periods_total(periods);
    uint64_t total_ns = periods->before_ns[k / LE_PERIODS_SUMMED];
    for (int64_t before = k / LE_PERIODS_SUMMED * LE_PERIODS_SUMMED; before < k; before++)
        total_ns += periods->at[before].end_ns - periods->at[before].start_ns;
    return total_ns + (time_ns > periods->at[k].start_ns ? time_ns - periods->at[k].start_ns : 0);
}

uint64_t le_periods_overlap(const struct le_periods *periods, uint64_t start_ns, uint64_t end_ns) {
    return end_ns <= start_ns ? 0 : covered_before(periods, end_ns) - covered_before(periods, start_ns);
}

void le_periods_add(struct le_periods *periods, uint64_t start_ns, uint64_t end_ns) {
    struct le_period *last = periods->count ? &periods->at[periods->count - 1] : NULL;
    if (last && start_ns <= last->end_ns) {
        if (end_ns <= last->end_ns)
            return;
        periods->total_ns += end_ns - last->end_ns;
        last->end_ns = end_ns;
    } else if (end_ns > start_ns) {
        if (periods->count % LE_PERIODS_SUMMED == 0)
            periods->before_ns[periods->count / LE_PERIODS_SUMMED] = periods->total_ns;
        periods->total_ns += end_ns - start_ns;
        periods->at[periods->count++] = (struct le_period){start_ns, end_ns};
    }
}

const struct le_operation *le_rule_input_operation(const struct le_rule_input *input, int32_t k) {
    return &input->index->operations.at[input->operations[k]];
}

/* A radix sort by positions in tables, with digits of 16 bits, or fewer values if the table has fewer rows. */
enum { DIGIT_BITS = 16, DIGITS = 1 << DIGIT_BITS };

/* Sorts `from` into `to`, stably, by one digit of the shape or the name. most: the number of shapes or names. */
static void sort_digit(const struct le_rule_input *input, const int32_t *from, int32_t *to, bool by_shape, int32_t most,
                       int shift, int32_t *next) {
    int32_t digits = most >> shift < DIGITS ? (most >> shift) + 1 : DIGITS;
    memset(next, 0, ((size_t)digits + 1) * sizeof *next);
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t k = 0; k < input->operation_count; k++) {
            const struct le_operation *operation = le_rule_input_operation(input, from[k]);
            uint32_t key = (uint32_t)(by_shape ? operation->shape : operation->name) + 1; /* LE_NONE comes first */
            uint32_t digit = key >> shift & (DIGITS - 1);
            if (pass == 0)
                next[digit + 1]++;
            else
                to[next[digit]++] = from[k];
        }
        for (int32_t digit = 1; pass == 0 && digit <= digits; digit++)
            next[digit] += next[digit - 1];
    }
}

int32_t *le_rule_input_sort_alike(const struct le_rule_input *input) {
    int32_t *alike = LE_NEW_ARRAY(input->scratch, input->operation_count, int32_t);
    int32_t *other = LE_NEW_ARRAY(input->scratch, input->operation_count, int32_t);
    int32_t *next = LE_NEW_ARRAY(input->scratch, DIGITS + 1, int32_t);
    for (int32_t k = 0; k < input->operation_count; k++)
        alike[k] = k;
    for (int by_shape = 0; by_shape < 2; by_shape++) {
        int32_t most = by_shape ? input->index->shapes.count : input->index->texts.count;
        for (int shift = 0; shift < 32 && most >> shift; shift += DIGIT_BITS) {
            sort_digit(input, alike, other, by_shape, most, shift, next);
            int32_t *sorted = other;
            other = alike;
            alike = sorted;
        }
    }
    return alike;
}

const struct le_call *le_rule_input_call(const struct le_rule_input *input, int32_t k) {
    return &input->index->calls.at[input->calls[k]];
}

const struct le_call *le_call_of(const struct le_rule_input *input, const struct le_operation *operation) {
    return operation->call == LE_NONE ? NULL : &input->index->calls.at[operation->call];
}

const struct le_operation *le_operation_of(const struct le_rule_input *input, const struct le_call *call) {
    const struct le_operation *operation =
        call->operation == LE_NONE ? NULL : &input->index->operations.at[call->operation];
    return operation && operation->stream != LE_NONE ? operation : NULL;
}

const struct le_shape *le_shape_of(const struct le_rule_input *input, const struct le_operation *operation) {
    static const struct le_shape none = {0};
    return operation->shape == LE_NONE ? &none : &input->index->shapes.at[operation->shape];
}

const char *le_text_of(const struct le_rule_input *input, int32_t text) {
    return text == LE_NONE ? "" : input->index->texts.at[text];
}

const char *le_kernel_name(const struct le_rule_input *input, int32_t text) {
    enum { MOST = 64, KEPT = 61 };
    const char *name = le_report_name(input->arena, le_text_of(input, text));
    size_t kept = KEPT;
    if (strlen(name) <= MOST)
        return name;
    while (kept > 0 && ((unsigned char)name[kept] & 0xc0) == 0x80) /* do not cut a character in half */
        kept--;
    return le_arena_format(input->arena, "%.*s...", (int)kept, name);
}

const struct le_transfer *le_transfer_of(const struct le_rule_input *input, const struct le_call *call) {
    return !call || call->transfer == LE_NONE ? NULL : &input->index->transfers.at[call->transfer];
}

bool le_is_kernel(const struct le_operation *operation) {
    return operation->kind == LE_OPERATION_KERNEL || operation->kind == LE_OPERATION_GRAPH;
}

const char *le_kernels_and_graphs(const struct le_rule_input *input, uint64_t kernels, uint64_t graphs) {
    const char *of_kernels = le_format_counted(input->arena, kernels, "kernel", "kernels");
    const char *of_graphs = le_format_counted(input->arena, graphs, "graph", "graphs");
    if (graphs == 0)
        return of_kernels;
    return kernels == 0 ? of_graphs : le_arena_format(input->arena, "%s and %s", of_kernels, of_graphs);
}

bool le_is_pageable(const struct le_shape *shape) {
    return shape->from == LE_TRACE_PAGEABLE || shape->to == LE_TRACE_PAGEABLE;
}

/* Callers precede callees in the table of sources, so each source inherits its caller's framework. */
static void find_frameworks(struct le_rule_input *input) {
    int32_t count = input->index->sources.count;
    input->user_sources = le_user_sources(input->index, input->scratch);
    input->frameworks_of_sources = LE_NEW_ARRAY(input->scratch, count, uint8_t);
    input->costs = LE_NEW_ARRAY(input->scratch, count, uint64_t);
    for (int32_t k = 0; k < count; k++) {
        const struct le_source *source = &input->index->sources.at[k];
        bool has_parent = source->parent >= 0 && source->parent < k;
        enum le_framework framework = le_framework_of_path(le_text_of(input, source->file));
        input->frameworks_of_sources[k] = (uint8_t)(framework != LE_FRAMEWORKS ? framework
                                                    : has_parent ? input->frameworks_of_sources[source->parent]
                                                                 : LE_FRAMEWORKS);
    }
}

/* If the device did only one kind of work, `busy` shares the periods of that kind. */
static void find_busy_periods(struct le_rule_input *input) {
    int32_t kernels = 0, copies = 0, count = input->operation_count;
    input->kernel_ns = 0;
    for (int32_t k = 0; k < count; k++) {
        kernels += le_is_kernel(le_rule_input_operation(input, k));
        copies += le_rule_input_operation(input, k)->kind == LE_OPERATION_COPY;
    }
    bool is_mixed = kernels < count && copies < count;
    input->kernels = le_periods_new(input->scratch, kernels);
    input->copies = le_periods_new(input->scratch, copies);
    input->busy = le_periods_new(input->scratch, is_mixed ? count : 0);
    for (int32_t k = 0; k < count; k++) {
        const struct le_operation *operation = le_rule_input_operation(input, k);
        if (is_mixed)
            le_periods_add(&input->busy, operation->start_ns, operation->end_ns);
        if (operation->kind == LE_OPERATION_COPY)
            le_periods_add(&input->copies, operation->start_ns, operation->end_ns);
        if (!le_is_kernel(operation))
            continue;
        le_periods_add(&input->kernels, operation->start_ns, operation->end_ns);
        input->kernel_ns += le_operation_ns(operation);
    }
    if (!is_mixed)
        input->busy = kernels ? input->kernels : input->copies;
}

/* A long launch waits for room in the queue if the device is busy; otherwise it loads code. */
static bool is_held(const struct le_rule_input *input, const struct le_call *call) {
    if (call->kind == LE_CALL_LAUNCH && le_call_ns(call) >= HELD_NS)
        return 2 * le_periods_overlap(&input->busy, call->start_ns, call->end_ns) >= le_call_ns(call);
    return call->kind == LE_CALL_WAIT ||
           (le_call_ns(call) >= HELD_NS && call->kind != LE_CALL_START && call->kind != LE_CALL_LOAD);
}

static void find_held_periods(struct le_rule_input *input) {
    input->held = le_periods_new(input->scratch, input->host_calls.count);
    for (int32_t k = 0; k < input->host_calls.count; k++) {
        const struct le_call *call = &input->index->calls.at[input->host_calls.at[k]];
        if (is_held(input, call))
            le_periods_add(&input->held, call->start_ns, call->end_ns);
    }
}

static void find_blocks_at_once(struct le_rule_input *input) {
    input->blocks_at_once = LE_NEW_ARRAY(input->scratch, input->index->shapes.count, uint32_t);
    if (input->device == LE_NONE)
        return;
    const struct le_trace_device *device = &input->index->devices.at[input->device];
    for (int32_t k = 0; k < input->operation_count; k++) {
        int32_t shape = le_rule_input_operation(input, k)->shape;
        if (shape == LE_NONE || input->blocks_at_once[shape])
            continue;
        uint64_t blocks =
            (uint64_t)le_occupancy_blocks(device, &input->index->shapes.at[shape]) * device->multiprocessors;
        input->blocks_at_once[shape] =
            blocks < UINT32_MAX ? (uint32_t)blocks : UINT32_MAX; /* far more than any grid has */
    }
}

/* Finds the device that worked longest, and the framework that enqueued most operations, from a sample of some tens of
 * thousands of them. */
static void find_device_and_framework(struct le_rule_input *input) {
    enum { ASKED = 1 << 16 };
    const struct le_trace_index *index = input->index;
    uint64_t *times = LE_NEW_ARRAY(input->scratch, index->devices.count, uint64_t);
    uint64_t counts[LE_FRAMEWORKS + 1] = {0};
    input->device = LE_NONE;
    for (int32_t k = 0; k < input->operation_count; k++) {
        const struct le_operation *operation = le_rule_input_operation(input, k);
        int32_t device = index->streams.at[operation->stream].device;
        if (device != LE_NONE) {
            times[device] += le_operation_ns(operation);
            if (input->device == LE_NONE || times[device] > times[input->device])
                input->device = device;
        }
        if (k % (input->operation_count / ASKED + 1) != 0)
            continue;
        const struct le_call *call = le_call_of(input, operation);
        enum le_framework framework = call && call->source != LE_NONE
                                          ? (enum le_framework)input->frameworks_of_sources[call->source]
                                          : LE_FRAMEWORKS;
        if (framework == LE_FRAMEWORKS && operation->kind == LE_OPERATION_KERNEL)
            framework = le_framework_of_kernel(le_text_of(input, operation->name));
        counts[framework]++;
    }
    input->framework = LE_FRAMEWORKS;
    for (int user = 0; user < LE_FRAMEWORKS; user++)
        if (counts[user] > (input->framework == LE_FRAMEWORKS ? 0 : counts[input->framework]))
            input->framework = (enum le_framework)user;
    if (input->framework == LE_FRAMEWORKS)
        input->framework = le_framework_of_command(le_text_of(input, index->processes.at[input->process].command));
    if (input->framework == LE_FRAMEWORKS)
        input->framework = LE_FRAMEWORK_CUDA;
}

/* Sets start_ns and end_ns. */
static void find_bounds(struct le_rule_input *input) {
    const struct le_operation *first = le_rule_input_operation(input, 0);
    const struct le_call *call = le_call_of(input, first);
    input->start_ns = call && call->start_ns < first->start_ns ? call->start_ns : first->start_ns;
    input->end_ns = input->busy.count ? input->busy.at[input->busy.count - 1].end_ns : first->end_ns;
    for (int32_t k = 0; k < input->call_count; k++) {
        call = le_rule_input_call(input, k);
        if (call->kind >= LE_CALL_LAUNCH && call->kind <= LE_CALL_QUERY && call->end_ns > input->end_ns)
            input->end_ns = call->end_ns;
    }
}

/* Computes the facts about the device, or about all devices of the process. */
static void find_device_facts(struct le_rule_input *input) {
    find_busy_periods(input);
    find_held_periods(input);
    find_device_and_framework(input);
    find_blocks_at_once(input);
    find_bounds(input);
}

void le_rule_input_init(struct le_rule_input *input) {
    le_owners_find(&input->owners, input->index, input->scratch);
    find_frameworks(input);
}

bool le_rule_input_set_process(struct le_rule_input *input, int32_t process) {
    struct le_positions operations = le_grouped_of(&input->owners.operations, process);
    input->process = process;
    input->host_calls = le_grouped_of(&input->owners.calls, process);
    input->operations = operations.at;
    input->operation_count = operations.count;
    input->calls = input->host_calls.at;
    input->call_count = input->host_calls.count;
    if (input->operation_count == 0)
        return false;
    find_device_facts(input);
    le_recording_init(input);
    uint64_t hundredth_ns = (input->end_ns - input->start_ns) / 100;
    input->least_gain_ns = hundredth_ns > LEAST_GAIN_NS ? hundredth_ns : LEAST_GAIN_NS;
    return true;
}

struct le_rule_input le_rule_input_for_device(const struct le_rule_input *input, const struct le_device_parts *parts,
                                              int32_t part, struct le_arena *scratch) {
    struct le_positions operations = le_grouped_of(&parts->operations, part);
    struct le_positions calls = le_grouped_of(&parts->calls, part);
    struct le_rule_input device_input = *input;
    device_input.scratch = scratch;
    device_input.operations = operations.at;
    device_input.operation_count = operations.count;
    device_input.calls = calls.at;
    device_input.call_count = calls.count;
    find_device_facts(&device_input);
    return device_input;
}

/* Bytes per nanosecond that pinned copies reach in one direction: a sixteenth below the bus rate (PCIe 5, 4 and 3, 16
 * lanes). */
static double bus_rate(const struct le_rule_input *input) {
    uint32_t major = input->device == LE_NONE ? 9 : input->index->devices.at[input->device].capability_major;
    return major >= 9 ? 55 : major == 8 ? 25 : 12;
}

/* The best rate of a copy in the trace between the device and pinned or pageable memory. 0: no copy is large enough, or
 * all are slower than any bus, so they waited for something. */
static double measured_rate(const struct le_rule_input *input, bool pageable) {
    enum { ENOUGH_BYTES = 4 << 20 }; /* smaller copies do not reach the full rate */
    double best = 0;
    for (int32_t k = 0; k < input->operation_count; k++) {
        const struct le_operation *operation = le_rule_input_operation(input, k);
        const struct le_shape *shape = le_shape_of(input, operation);
        bool between = shape->direction == LE_TRACE_HTOD || shape->direction == LE_TRACE_DTOH;
        if (operation->kind != LE_OPERATION_COPY || !between || le_is_pageable(shape) != pageable ||
            operation->bytes < ENOUGH_BYTES || operation->end_ns == operation->start_ns)
            continue;
        double rate = (double)operation->bytes / (double)le_operation_ns(operation);
        if (rate > best)
            best = rate;
    }
    return best >= 1 ? best : 0;
}

struct le_copy_rate le_pinned_rate(const struct le_rule_input *input) {
    double pinned = measured_rate(input, false), pageable = measured_rate(input, true), bus = bus_rate(input);
    if (pageable > (pinned > 0 ? pinned : bus)) /* pinned memory is never slower */
        pinned = pageable;
    return pinned > 0 ? (struct le_copy_rate){pinned, "the best rate in this trace"}
                      : (struct le_copy_rate){bus, "the usual rate of the device's bus"};
}

uint64_t le_copy_cost_ns(const struct le_rule_input *input, const struct le_call *call,
                         const struct le_operation *operation) {
    uint64_t waited_ns = call ? le_periods_overlap(&input->kernels, call->start_ns, call->end_ns) : 0;
    uint64_t rest_ns = call ? le_call_ns(call) - waited_ns : 0, least_ns = le_operation_ns(operation);
    return rest_ns > least_ns ? rest_ns : least_ns;
}

void le_rule_input_charge(struct le_rule_input *input, const struct le_call *call, uint64_t cost_ns) {
    if (!call || call->source == LE_NONE)
        return;
    int32_t source = input->user_sources[call->source];
    input->costs[source] += cost_ns + 1; /* calls that cost nothing are named, too */
    input->cost_first = input->cost_after && input->cost_first < source ? input->cost_first : source;
    input->cost_after = input->cost_after > source ? input->cost_after : source + 1;
    uint8_t user = input->frameworks_of_sources[call->source];
    if (user < LE_FRAMEWORKS)
        input->costs_of_frameworks[user] += cost_ns + 1;
}

void le_rule_input_drop_charges(struct le_rule_input *input) {
    for (int32_t k = input->cost_first; k < input->cost_after; k++)
        input->costs[k] = 0;
    input->cost_first = input->cost_after = 0;
    memset(input->costs_of_frameworks, 0, sizeof input->costs_of_frameworks);
}

static void take_costliest(struct le_rule_input *input, int32_t *sources) {
    for (int slot = 0; slot < LE_FINDING_SOURCES; slot++) {
        int32_t most = LE_NONE;
        for (int32_t k = input->cost_first; k < input->cost_after; k++)
            if (input->costs[k] > (most == LE_NONE ? 0 : input->costs[most]))
                most = k;
        sources[slot] = most;
        if (most != LE_NONE)
            input->costs[most] = 0;
    }
}

void le_rule_input_claim(struct le_rule_input *input, const struct le_claim *claim) {
    enum le_framework framework = input->framework;
    for (int k = 0; k < LE_FRAMEWORKS; k++)
        if (input->costs_of_frameworks[k] > input->costs_of_frameworks[framework])
            framework = (enum le_framework)k;
    const struct le_process *process = &input->index->processes.at[input->process];
    uint64_t whole_ns = input->end_ns - input->start_ns;
    if (process->end_ns > process->start_ns && process->end_ns - process->start_ns > whole_ns)
        whole_ns = process->end_ns - process->start_ns;
    const char *title = claim->title;
    if (input->names_device && input->device != LE_NONE)
        title =
            le_arena_format(input->arena, "Device %u: %s", (unsigned)input->index->devices.at[input->device].id, title);
    struct le_finding *finding = LE_PUSH(input->arena, input->findings);
    *finding = (struct le_finding){
        .rule = claim->rule,
        .title = title,
        .evidence = claim->evidence ? claim->evidence : "",
        .advice = le_advice_text(claim->advice, framework),
        .gain_ns = claim->gain_ns < whole_ns ? claim->gain_ns : whole_ns,
        .confidence = claim->confidence,
        .process = input->process,
        .start_ns = claim->end_ns ? claim->start_ns : input->start_ns,
        .end_ns = claim->end_ns ? claim->end_ns : input->end_ns,
    };
    take_costliest(input, finding->sources);
    le_rule_input_drop_charges(input);
}

bool le_is_own_call(const struct le_rule_input *input, int32_t call) {
    int32_t thread = input->index->calls.at[call].thread;
    return thread != LE_NONE && input->index->threads.at[thread].process == input->process;
}

bool le_is_module_load(const struct le_rule_input *input, const struct le_call *call) {
    const char *function = le_text_of(input, call->function);
    return call->kind == LE_CALL_LOAD && (strstr(function, "ModuleLoad") || strstr(function, "LibraryLoad"));
}
