/* Works out what rules share. Each step takes time in the records that it is about: the trace's once, then each
 * process', then each device's. */
#include "trace/rules/rule_input.h"
#include "trace/rules/occupancy.h"
#include "trace/rules/user_sources.h"
#include "trace/report/report.h"
#include <string.h>

/* A call that takes longer than this was held by something: CUPTI tells 2 to 5 us of a launch, up to 10 of a copy. */
#define HELD_NS 20000
/* Below a hundredth of the whole, or this, nobody should look. */
#define WORTH_NS 100000

uint64_t le_periods_total(const struct le_periods *spans) {
    return spans->total_ns;
}

/* What is not used of the room is never touched, and takes no memory. */
struct le_periods le_periods_new(struct le_arena *arena, int64_t room) {
    return (struct le_periods){.at = LE_NEW_ARRAY(arena, room, struct le_period),
                               .before_ns = LE_NEW_ARRAY(arena, room / LE_SPANS_SUMMED + 1, uint64_t)};
}

int64_t le_periods_after(const struct le_periods *spans, uint64_t time_ns) {
    int64_t low = 0, high = spans->count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (spans->at[middle].end_ns > time_ns)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* The total of spans up to the time. */
static uint64_t covered(const struct le_periods *spans, uint64_t time_ns) {
    int64_t k = le_periods_after(spans, time_ns);
    if (k == spans->count)
        return le_periods_total(spans);
    uint64_t total_ns = spans->before_ns[k / LE_SPANS_SUMMED];
    for (int64_t before = k / LE_SPANS_SUMMED * LE_SPANS_SUMMED; before < k; before++)
        total_ns += spans->at[before].end_ns - spans->at[before].start_ns;
    return total_ns + (time_ns > spans->at[k].start_ns ? time_ns - spans->at[k].start_ns : 0);
}

uint64_t le_periods_overlap(const struct le_periods *spans, uint64_t start_ns, uint64_t end_ns) {
    return end_ns <= start_ns ? 0 : covered(spans, end_ns) - covered(spans, start_ns);
}

void le_periods_add(struct le_periods *spans, uint64_t start_ns, uint64_t end_ns) {
    struct le_period *last = spans->count ? &spans->at[spans->count - 1] : NULL;
    if (last && start_ns <= last->end_ns) {
        if (end_ns <= last->end_ns)
            return;
        spans->total_ns += end_ns - last->end_ns;
        last->end_ns = end_ns;
    } else if (end_ns > start_ns) {
        if (spans->count % LE_SPANS_SUMMED == 0)
            spans->before_ns[spans->count / LE_SPANS_SUMMED] = spans->total_ns;
        spans->total_ns += end_ns - start_ns;
        spans->at[spans->count++] = (struct le_period){start_ns, end_ns};
    }
}

const struct le_operation *le_rule_input_operation(const struct le_rule_input *scene, int32_t k) {
    return &scene->index->operations.at[scene->operations[k]];
}

/* Digits of positions in tables: of as many values as the table has rows, but no more than take little to count. */
enum { DIGIT_BITS = 16, DIGITS = 1 << DIGIT_BITS };

/* Of what is in `from`, in order, into `to`, by a digit of the shape or the name, which are no more than most. */
static void sort_digit(const struct le_rule_input *scene, const int32_t *from, int32_t *to, bool by_shape, int32_t most,
                       int shift, int32_t *next) {
    int32_t digits = most >> shift < DIGITS ? (most >> shift) + 1 : DIGITS;
    memset(next, 0, ((size_t)digits + 1) * sizeof *next);
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t k = 0; k < scene->operation_count; k++) {
            const struct le_operation *operation = le_rule_input_operation(scene, from[k]);
            uint32_t key = (uint32_t)(by_shape ? operation->shape : operation->name) + 1; /* LE_NONE is the first */
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

int32_t *le_rule_input_alike(const struct le_rule_input *scene) {
    int32_t *alike = LE_NEW_ARRAY(scene->scratch, scene->operation_count, int32_t);
    int32_t *other = LE_NEW_ARRAY(scene->scratch, scene->operation_count, int32_t);
    int32_t *next = LE_NEW_ARRAY(scene->scratch, DIGITS + 1, int32_t);
    for (int32_t k = 0; k < scene->operation_count; k++)
        alike[k] = k;
    for (int by_shape = 0; by_shape < 2; by_shape++) {
        int32_t most = by_shape ? scene->index->shapes.count : scene->index->texts.count;
        for (int shift = 0; shift < 32 && most >> shift; shift += DIGIT_BITS) {
            sort_digit(scene, alike, other, by_shape, most, shift, next);
            int32_t *sorted = other;
            other = alike;
            alike = sorted;
        }
    }
    return alike;
}

const struct le_call *le_rule_input_call(const struct le_rule_input *scene, int32_t k) {
    return &scene->index->calls.at[scene->calls[k]];
}

const struct le_call *le_call_of(const struct le_rule_input *scene, const struct le_operation *operation) {
    return operation->call == LE_NONE ? NULL : &scene->index->calls.at[operation->call];
}

const struct le_operation *le_operation_of(const struct le_rule_input *scene, const struct le_call *call) {
    const struct le_operation *operation =
        call->operation == LE_NONE ? NULL : &scene->index->operations.at[call->operation];
    return operation && operation->stream != LE_NONE ? operation : NULL;
}

const struct le_shape *le_shape_of(const struct le_rule_input *scene, const struct le_operation *operation) {
    static const struct le_shape none = {0};
    return operation->shape == LE_NONE ? &none : &scene->index->shapes.at[operation->shape];
}

const char *le_text_of(const struct le_rule_input *scene, int32_t text) {
    return text == LE_NONE ? "" : scene->index->texts.at[text];
}

const char *le_kernel_name(const struct le_rule_input *scene, int32_t text) {
    enum { MOST = 64, KEPT = 61 };
    const char *name = le_report_name(scene->arena, le_text_of(scene, text));
    size_t kept = KEPT;
    if (strlen(name) <= MOST)
        return name;
    while (kept > 0 && ((unsigned char)name[kept] & 0xc0) == 0x80) /* no half of a character */
        kept--;
    return le_arena_format(scene->arena, "%.*s...", (int)kept, name);
}

const struct le_transfer *le_transfer_of(const struct le_rule_input *scene, const struct le_call *call) {
    return !call || call->transfer == LE_NONE ? NULL : &scene->index->transfers.at[call->transfer];
}

bool le_is_kernel(const struct le_operation *operation) {
    return operation->kind == LE_OPERATION_KERNEL || operation->kind == LE_OPERATION_GRAPH;
}

const char *le_kernels_and_graphs(const struct le_rule_input *scene, uint64_t kernels, uint64_t graphs) {
    const char *of_kernels = le_format_counted(scene->arena, kernels, "kernel", "kernels");
    const char *of_graphs = le_format_counted(scene->arena, graphs, "graph", "graphs");
    if (graphs == 0)
        return of_kernels;
    return kernels == 0 ? of_graphs : le_arena_format(scene->arena, "%s and %s", of_kernels, of_graphs);
}

bool le_is_pageable(const struct le_shape *shape) {
    return shape->from == LE_TRACE_PAGEABLE || shape->to == LE_TRACE_PAGEABLE;
}

/* Callers come before callees in the table, so that each is worked out from its caller's. */
static void know_sources(struct le_rule_input *scene) {
    int32_t count = scene->index->sources.count;
    scene->user_sources = le_user_sources(scene->index, scene->scratch);
    scene->users_of_sources = LE_NEW_ARRAY(scene->scratch, count, uint8_t);
    scene->costs = LE_NEW_ARRAY(scene->scratch, count, uint64_t);
    for (int32_t k = 0; k < count; k++) {
        const struct le_source *source = &scene->index->sources.at[k];
        bool has_parent = source->parent >= 0 && source->parent < k;
        enum le_user user = le_user_of_path(le_text_of(scene, source->file));
        scene->users_of_sources[k] = (uint8_t)(user != LE_USERS ? user
                                               : has_parent     ? scene->users_of_sources[source->parent]
                                                                : LE_USERS);
    }
}

/* Where all that the device did is of one kind, its spans are the device's, too. */
static void lay_out_operations(struct le_rule_input *scene) {
    int32_t kernels = 0, copies = 0, count = scene->operation_count;
    scene->kernel_ns = 0;
    for (int32_t k = 0; k < count; k++) {
        kernels += le_is_kernel(le_rule_input_operation(scene, k));
        copies += le_rule_input_operation(scene, k)->kind == LE_OPERATION_COPY;
    }
    bool is_mixed = kernels < count && copies < count;
    scene->kernels = le_periods_new(scene->scratch, kernels);
    scene->copies = le_periods_new(scene->scratch, copies);
    scene->busy = le_periods_new(scene->scratch, is_mixed ? count : 0);
    for (int32_t k = 0; k < count; k++) {
        const struct le_operation *operation = le_rule_input_operation(scene, k);
        if (is_mixed)
            le_periods_add(&scene->busy, operation->start_ns, operation->end_ns);
        if (operation->kind == LE_OPERATION_COPY)
            le_periods_add(&scene->copies, operation->start_ns, operation->end_ns);
        if (!le_is_kernel(operation))
            continue;
        le_periods_add(&scene->kernels, operation->start_ns, operation->end_ns);
        scene->kernel_ns += le_operation_ns(operation);
    }
    if (!is_mixed)
        scene->busy = kernels ? scene->kernels : scene->copies;
}

/* A long launch while the device works waits for room in the queue; else it loads code. */
static bool is_held(const struct le_rule_input *scene, const struct le_call *call) {
    if (call->kind == LE_CALL_LAUNCH && le_call_ns(call) >= HELD_NS)
        return 2 * le_periods_overlap(&scene->busy, call->start_ns, call->end_ns) >= le_call_ns(call);
    return call->kind == LE_CALL_WAIT ||
           (le_call_ns(call) >= HELD_NS && call->kind != LE_CALL_START && call->kind != LE_CALL_LOAD);
}

static void lay_out_held(struct le_rule_input *scene) {
    scene->held = le_periods_new(scene->scratch, scene->host_calls.count);
    for (int32_t k = 0; k < scene->host_calls.count; k++) {
        const struct le_call *call = &scene->index->calls.at[scene->host_calls.at[k]];
        if (is_held(scene, call))
            le_periods_add(&scene->held, call->start_ns, call->end_ns);
    }
}

static void know_rooms(struct le_rule_input *scene) {
    scene->rooms = LE_NEW_ARRAY(scene->scratch, scene->index->shapes.count, uint32_t);
    if (scene->device == LE_NONE)
        return;
    const struct le_trace_device *device = &scene->index->devices.at[scene->device];
    for (int32_t k = 0; k < scene->operation_count; k++) {
        int32_t shape = le_rule_input_operation(scene, k)->shape;
        if (shape == LE_NONE || scene->rooms[shape])
            continue;
        uint64_t blocks =
            (uint64_t)le_occupancy_blocks(device, &scene->index->shapes.at[shape]) * device->multiprocessors;
        scene->rooms[shape] = blocks < UINT32_MAX ? (uint32_t)blocks : UINT32_MAX; /* more than any grid's, by far */
    }
}

/* The device that had most to do, and the library that gave most of it, by some tens of thousands of operations. */
static void find_device_and_user(struct le_rule_input *scene) {
    enum { ASKED = 1 << 16 };
    const struct le_trace_index *index = scene->index;
    uint64_t *times = LE_NEW_ARRAY(scene->scratch, index->devices.count, uint64_t);
    uint64_t of_users[LE_USERS + 1] = {0};
    scene->device = LE_NONE;
    for (int32_t k = 0; k < scene->operation_count; k++) {
        const struct le_operation *operation = le_rule_input_operation(scene, k);
        int32_t device = index->streams.at[operation->stream].device;
        if (device != LE_NONE) {
            times[device] += le_operation_ns(operation);
            if (scene->device == LE_NONE || times[device] > times[scene->device])
                scene->device = device;
        }
        if (k % (scene->operation_count / ASKED + 1) != 0)
            continue;
        const struct le_call *call = le_call_of(scene, operation);
        enum le_user user =
            call && call->source != LE_NONE ? (enum le_user)scene->users_of_sources[call->source] : LE_USERS;
        if (user == LE_USERS && operation->kind == LE_OPERATION_KERNEL)
            user = le_user_of_kernel(le_text_of(scene, operation->name));
        of_users[user]++;
    }
    scene->user = LE_USERS;
    for (int user = 0; user < LE_USERS; user++)
        if (of_users[user] > (scene->user == LE_USERS ? 0 : of_users[scene->user]))
            scene->user = (enum le_user)user;
    if (scene->user == LE_USERS)
        scene->user = le_user_of_command(le_text_of(scene, index->processes.at[scene->process].command));
    if (scene->user == LE_USERS)
        scene->user = LE_USER_CUDA;
}

/* From the first work's call to the end of work and calls. */
static void know_bounds(struct le_rule_input *scene) {
    const struct le_operation *first = le_rule_input_operation(scene, 0);
    const struct le_call *call = le_call_of(scene, first);
    scene->start_ns = call && call->start_ns < first->start_ns ? call->start_ns : first->start_ns;
    scene->end_ns = scene->busy.count ? scene->busy.at[scene->busy.count - 1].end_ns : first->end_ns;
    for (int32_t k = 0; k < scene->call_count; k++) {
        call = le_rule_input_call(scene, k);
        if (call->kind >= LE_CALL_LAUNCH && call->kind <= LE_CALL_QUERY && call->end_ns > scene->end_ns)
            scene->end_ns = call->end_ns;
    }
}

/* What is of the device. */
static void lay_out(struct le_rule_input *scene) {
    lay_out_operations(scene);
    lay_out_held(scene);
    find_device_and_user(scene);
    know_rooms(scene);
    know_bounds(scene);
}

void le_rule_input_init(struct le_rule_input *scene) {
    le_owners_find(&scene->owners, scene->index, scene->scratch);
    know_sources(scene);
}

bool le_rule_input_choose(struct le_rule_input *scene, int32_t process) {
    struct le_positions operations = le_grouped_of(&scene->owners.operations, process);
    scene->process = process;
    scene->host_calls = le_grouped_of(&scene->owners.calls, process);
    scene->operations = operations.at;
    scene->operation_count = operations.count;
    scene->calls = scene->host_calls.at;
    scene->call_count = scene->host_calls.count;
    if (scene->operation_count == 0)
        return false;
    lay_out(scene);
    le_recording_know(scene);
    uint64_t hundredth_ns = (scene->end_ns - scene->start_ns) / 100;
    scene->worth_ns = hundredth_ns > WORTH_NS ? hundredth_ns : WORTH_NS;
    return true;
}

struct le_rule_input le_rule_input_for_device(const struct le_rule_input *scene, const struct le_device_parts *parts,
                                              int32_t part, struct le_arena *scratch) {
    struct le_positions operations = le_grouped_of(&parts->operations, part);
    struct le_positions calls = le_grouped_of(&parts->calls, part);
    struct le_rule_input on = *scene;
    on.scratch = scratch;
    on.operations = operations.at;
    on.operation_count = operations.count;
    on.calls = calls.at;
    on.call_count = calls.count;
    lay_out(&on);
    return on;
}

/* Bytes a nanosecond that pinned copies reach: half-duplex, a sixteenth below the bus (PCIe 5, 4 and 3, 16 lanes). */
static double bus_rate(const struct le_rule_input *scene) {
    uint32_t major = scene->device == LE_NONE ? 9 : scene->index->devices.at[scene->device].capability_major;
    return major >= 9 ? 55 : major == 8 ? 25 : 12;
}

/* 0: none is large enough, or all are slower than any bus: they waited for something. */
static double seen_rate(const struct le_rule_input *scene) {
    enum { ENOUGH_BYTES = 4 << 20 }; /* smaller ones do not reach the rate */
    double best = 0;
    for (int32_t k = 0; k < scene->operation_count; k++) {
        const struct le_operation *operation = le_rule_input_operation(scene, k);
        const struct le_shape *shape = le_shape_of(scene, operation);
        bool between = shape->direction == LE_TRACE_HTOD || shape->direction == LE_TRACE_DTOH;
        if (operation->kind != LE_OPERATION_COPY || !between || le_is_pageable(shape) ||
            operation->bytes < ENOUGH_BYTES || operation->end_ns == operation->start_ns)
            continue;
        double rate = (double)operation->bytes / (double)le_operation_ns(operation);
        if (rate > best)
            best = rate;
    }
    return best >= 1 ? best : 0;
}

double le_pinned_rate(const struct le_rule_input *scene) {
    double seen = seen_rate(scene);
    return seen > 0 ? seen : bus_rate(scene);
}

const char *le_pinned_rate_from(const struct le_rule_input *scene) {
    return seen_rate(scene) > 0 ? "the best rate in this trace" : "the usual rate of the device's bus";
}

uint64_t le_copy_cost_ns(const struct le_rule_input *scene, const struct le_call *call,
                         const struct le_operation *operation) {
    uint64_t waited_ns = call ? le_periods_overlap(&scene->kernels, call->start_ns, call->end_ns) : 0;
    uint64_t rest_ns = call ? le_call_ns(call) - waited_ns : 0, least_ns = le_operation_ns(operation);
    return rest_ns > least_ns ? rest_ns : least_ns;
}

void le_blame(struct le_rule_input *scene, const struct le_call *call, uint64_t cost_ns) {
    if (!call || call->source == LE_NONE)
        return;
    int32_t place = scene->user_sources[call->source];
    scene->costs[place] += cost_ns + 1; /* what is free was here, too */
    scene->cost_first = scene->cost_after && scene->cost_first < place ? scene->cost_first : place;
    scene->cost_after = scene->cost_after > place ? scene->cost_after : place + 1;
    uint8_t user = scene->users_of_sources[call->source];
    if (user < LE_USERS)
        scene->costs_of_users[user] += cost_ns + 1;
}

void le_rule_input_drop(struct le_rule_input *scene) {
    for (int32_t k = scene->cost_first; k < scene->cost_after; k++)
        scene->costs[k] = 0;
    scene->cost_first = scene->cost_after = 0;
    memset(scene->costs_of_users, 0, sizeof scene->costs_of_users);
}

static void take_places(struct le_rule_input *scene, int32_t *places) {
    for (int place = 0; place < LE_FINDING_PLACES; place++) {
        int32_t most = LE_NONE;
        for (int32_t k = scene->cost_first; k < scene->cost_after; k++)
            if (scene->costs[k] > (most == LE_NONE ? 0 : scene->costs[most]))
                most = k;
        places[place] = most;
        if (most != LE_NONE)
            scene->costs[most] = 0;
    }
}

void le_rule_input_claim(struct le_rule_input *scene, const struct le_claim *claim) {
    enum le_user user = scene->user;
    for (int k = 0; k < LE_USERS; k++)
        if (scene->costs_of_users[k] > scene->costs_of_users[user])
            user = (enum le_user)k;
    const struct le_process *process = &scene->index->processes.at[scene->process];
    uint64_t whole_ns = scene->end_ns - scene->start_ns;
    if (process->end_ns > process->start_ns && process->end_ns - process->start_ns > whole_ns)
        whole_ns = process->end_ns - process->start_ns;
    const char *title = claim->title;
    if (scene->names_device && scene->device != LE_NONE)
        title =
            le_arena_format(scene->arena, "Device %u: %s", (unsigned)scene->index->devices.at[scene->device].id, title);
    struct le_finding *finding = LE_PUSH(scene->arena, scene->findings);
    *finding = (struct le_finding){
        .rule = claim->rule,
        .title = title,
        .evidence = claim->evidence ? claim->evidence : "",
        .advice = le_advice_text(claim->advice, user),
        .gain_ns = claim->gain_ns < whole_ns ? claim->gain_ns : whole_ns,
        .confidence = claim->confidence,
        .process = scene->process,
        .start_ns = claim->end_ns ? claim->start_ns : scene->start_ns,
        .end_ns = claim->end_ns ? claim->end_ns : scene->end_ns,
    };
    take_places(scene, finding->sources);
    le_rule_input_drop(scene);
}

bool le_is_own_call(const struct le_rule_input *scene, int32_t call) {
    int32_t thread = scene->index->calls.at[call].thread;
    return thread != LE_NONE && scene->index->threads.at[thread].process == scene->process;
}

bool le_is_module_load(const struct le_rule_input *scene, const struct le_call *call) {
    const char *function = le_text_of(scene, call->function);
    return call->kind == LE_CALL_LOAD && (strstr(function, "ModuleLoad") || strstr(function, "LibraryLoad"));
}
