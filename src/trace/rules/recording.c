/* What recording adds to a program's time, call by call: CUPTI's share by a model, the recorder's own by what it told
 * in all. Pauses that CUPTI tells itself, for its buffers and for the code that it loads, come on top. Measured on an
 * H200 (driver 580, CUPTI 13.0): a launch in a loop of C 1.2 us, 0.9 without origins, of CuPy's 1.3 and 1.0. Where the
 * program switches recording on (--from-start off), calls cannot be picked one by one, and what runs between launches
 * of Python drives CUPTI's code and data from the caches. That costs more on a host, and at an hour, where the calls
 * themselves take longer: of CuPy's launches 2.4 to 3.4 us, of PyTorch's 4.2 to 6.9, of CuPy's small copies 3.4 to 5.3
 * with three calls each; but in all of these the same part of the program's recorded time, 0.31 to 0.35, 0.40 and 0.28
 * to 0.32. So there it is a part of what the call took as recorded; more or less, hence a range. What a graph captures
 * took 2.6 to 4.6 us, though such a call is short. */
#include "trace/rules/rule_input.h"

/* Of every call. */
enum { CALL_NS = 220 };
/* Of what was enqueued, on top. usual_ns: where such a call takes so long as recorded, and in proportion where it takes
 * another time; 0: it is the same for all. */
struct cost {
    uint64_t least_ns, most_ns, usual_ns;
};
/* Captured: launches that a graph captures, which are short calls. The rest: copies, sets, graphs. */
struct costs {
    struct cost launch, captured, rest;
};
/* CUPTI looks into every call of its libraries'. Numba and JAX: not measured; what is captured: CuPy's alone. */
static const struct costs switched[LE_USERS] = {
    [LE_USER_CUDA] = {{600, 1200, 0}, {600, 1200, 0}, {900, 900, 0}},
    [LE_USER_CUPY] = {{1800, 2660, 4200}, {1730, 2570, 1200}, {1950, 2950, 3100}},
    [LE_USER_NUMBA] = {{2100, 3800, 0}, {2100, 3800, 0}, {1950, 2950, 3100}},
    [LE_USER_TORCH] = {{3400, 4800, 5000}, {2100, 3800, 0}, {1950, 2950, 3100}},
    [LE_USER_JAX] = {{2100, 3800, 0}, {2100, 3800, 0}, {1950, 2950, 3100}},
};
/* Calls are picked one by one. Numba, PyTorch and JAX: not measured, no less than CuPy's and no more than the half. */
static const struct costs picked[LE_USERS] = {
    [LE_USER_CUDA] = {{600, 1200, 0}, {600, 1200, 0}, {900, 900, 0}},
    [LE_USER_CUPY] = {{600, 1200, 0}, {600, 1200, 0}, {900, 900, 0}},
    [LE_USER_NUMBA] = {{600, 1900, 0}, {600, 1900, 0}, {900, 900, 0}},
    [LE_USER_TORCH] = {{600, 1900, 0}, {600, 1900, 0}, {900, 900, 0}},
    [LE_USER_JAX] = {{600, 1900, 0}, {600, 1900, 0}, {900, 900, 0}},
};
/* The recorder's, at most: to find where a call was made, and to sample the bytes of a copy, which asks the system. */
enum { ORIGIN_NS = 250, SAMPLE_NS = 2050 };

static uint64_t own_ns(const struct le_rule_input *scene, const struct le_call *call) {
    const struct le_transfer *transfer = le_transfer_of(scene, call);
    uint64_t origin_ns = call->source != LE_NONE ? ORIGIN_NS : 0;
    return origin_ns + (transfer && transfer->sample ? SAMPLE_NS : 0);
}

/* Of one call, or of all before one; more or less. */
struct le_recorded {
    uint64_t likely_ns, doubt_ns;
};

/* How slow the host is there, by how long the call took. Those that waited do not say: copies that are not
 * asynchronous, and launches into a full queue. */
static double slowness(struct cost cost, const struct le_call *call) {
    const double slowest = 2;
    if (cost.usual_ns == 0 || call->kind == LE_CALL_COPY)
        return 1;
    double slow = (double)(call->end_ns - call->start_ns) / (double)cost.usual_ns;
    return slow < slowest ? slow : slowest;
}

static struct le_recorded cupti_took_of(struct cost cost, const struct le_call *call) {
    double slow = slowness(cost, call), least_ns = slow * (double)cost.least_ns, most_ns = slow * (double)cost.most_ns;
    return (struct le_recorded){CALL_NS + (uint64_t)((least_ns + most_ns) / 2), (uint64_t)((most_ns - least_ns) / 2)};
}

static const struct costs *costs_of(const struct le_rule_input *scene) {
    const struct costs *costs = scene->index->processes.at[scene->process].is_switched ? switched : picked;
    return &costs[scene->user];
}

static struct le_recorded cupti_took(const struct le_rule_input *scene, const struct le_call *call) {
    const struct costs *costs = costs_of(scene);
    if (call->kind == LE_CALL_LAUNCH)
        return cupti_took_of(call->operation != LE_NONE ? costs->launch : costs->captured, call);
    if (call->operation != LE_NONE)
        return cupti_took_of(costs->rest, call);
    return (struct le_recorded){CALL_NS, 0};
}

/* Whichever device it is for: recording holds the host. */
static const struct le_call *host_call(const struct le_rule_input *scene, int32_t k) {
    return &scene->index->calls.at[scene->host_calls.at[k]];
}

/* The writer's thread makes no calls: what it is held for holds nobody. */
static void lay_out_pauses(struct le_rule_input *scene) {
    const struct le_trace_index *index = scene->index;
    struct le_positions overheads = le_grouped_of(&scene->owners.overheads, scene->process);
    bool *calls = LE_NEW_ARRAY(scene->scratch, index->threads.count, bool);
    for (int32_t k = 0; k < scene->host_calls.count; k++)
        calls[host_call(scene, k)->thread] = true;
    scene->pauses = le_periods_new(scene->scratch, overheads.count);
    for (int32_t k = 0; k < overheads.count; k++) {
        const struct le_host_span *span = &index->overheads.at[overheads.at[k]];
        bool is_recording = span->kind == LE_TRACE_OVERHEAD_FLUSH || span->kind == LE_TRACE_OVERHEAD_INSTRUMENT ||
                            span->kind == LE_TRACE_OVERHEAD_RESOURCE;
        if (is_recording && calls[span->thread])
            le_periods_add(&scene->pauses, span->start_ns, span->end_ns);
    }
}

/* One is kept for so many calls; what lies between is added up again. */
enum { CALLS_ADDED = 16 };

/* Returns CUPTI's part. */
static uint64_t add_call(const struct le_rule_input *scene, const struct le_call *call, struct le_recorded *recorded) {
    struct le_recorded cupti = cupti_took(scene, call);
    recorded->likely_ns += cupti.likely_ns + (uint64_t)(scene->own_part * (double)own_ns(scene, call));
    recorded->doubt_ns += cupti.doubt_ns;
    return cupti.likely_ns;
}

static struct le_recorded recorded_before(const struct le_rule_input *scene, int32_t call) {
    struct le_recorded recorded = scene->recorded[call / CALLS_ADDED];
    for (int32_t k = call / CALLS_ADDED * CALLS_ADDED; k < call; k++)
        add_call(scene, host_call(scene, k), &recorded);
    return recorded;
}

void le_recording_know(struct le_rule_input *scene) {
    uint64_t told_ns = scene->index->processes.at[scene->process].recorder_ns, modelled_ns = 0, launches_ns = 0;
    uint64_t launches = 0;
    struct le_recorded all = {0};
    lay_out_pauses(scene);
    scene->recording_ns = told_ns + le_periods_total(&scene->pauses);
    for (int32_t k = 0; k < scene->host_calls.count; k++)
        modelled_ns += own_ns(scene, host_call(scene, k));
    scene->own_part = modelled_ns > told_ns ? (double)told_ns / (double)modelled_ns : 1;
    scene->recorded = LE_NEW_ARRAY(scene->scratch, scene->host_calls.count / CALLS_ADDED + 1, struct le_recorded);
    for (int32_t k = 0; k < scene->host_calls.count; k++) {
        const struct le_call *call = host_call(scene, k);
        uint64_t before_ns = all.likely_ns;
        if (k % CALLS_ADDED == 0)
            scene->recorded[k / CALLS_ADDED] = all;
        scene->recording_ns += add_call(scene, call, &all);
        if (call->kind == LE_CALL_LAUNCH) {
            launches_ns += all.likely_ns - before_ns;
            launches++;
        }
    }
    if (scene->host_calls.count % CALLS_ADDED == 0)
        scene->recorded[scene->host_calls.count / CALLS_ADDED] = all;
    scene->launch_recording_ns = launches ? launches_ns / launches : 0;
}

/* The first call that starts no earlier. */
static int32_t call_from(const struct le_rule_input *scene, uint64_t time_ns) {
    int32_t low = 0, high = scene->host_calls.count;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (host_call(scene, middle)->start_ns < time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct le_estimate le_recording_estimate(const struct le_rule_input *scene, uint64_t start_ns, uint64_t end_ns) {
    if (end_ns <= start_ns)
        return (struct le_estimate){0};
    struct le_recorded from = recorded_before(scene, call_from(scene, start_ns));
    struct le_recorded to = recorded_before(scene, call_from(scene, end_ns));
    uint64_t likely_ns = to.likely_ns - from.likely_ns + le_periods_overlap(&scene->pauses, start_ns, end_ns);
    uint64_t doubt_ns = to.doubt_ns - from.doubt_ns;
    struct le_estimate range = {likely_ns - doubt_ns, likely_ns, likely_ns + doubt_ns};
    return le_estimate_within(range, end_ns - start_ns);
}

uint64_t le_recording_between(const struct le_rule_input *scene, uint64_t start_ns, uint64_t end_ns) {
    return le_recording_estimate(scene, start_ns, end_ns).likely;
}

struct le_estimate le_estimate_within(struct le_estimate range, uint64_t most) {
    return (struct le_estimate){range.least < most ? range.least : most, range.likely < most ? range.likely : most,
                                range.most < most ? range.most : most};
}

struct le_estimate le_estimate_of_rest(struct le_estimate range, uint64_t whole) {
    range = le_estimate_within(range, whole);
    return (struct le_estimate){whole - range.most, whole - range.likely, whole - range.least};
}

void le_estimate_add(struct le_estimate *sum, struct le_estimate range) {
    sum->least += range.least;
    sum->likely += range.likely;
    sum->most += range.most;
}

const char *le_unrecorded(const struct le_rule_input *scene, struct le_estimate gain) {
    const char *least = le_format_time(scene->arena, gain.least), *most = le_format_time(scene->arena, gain.most);
    if (gain.least == gain.most)
        return "";
    return le_arena_format(
        scene->arena, "\nthe cost of recording is an estimate: without it the gain is between %s and %s", least, most);
}
