/* What recording adds to a program's time, call by call. CUPTI's share comes from a model, the recorder's own share
 * from the total that it measured. Pauses that CUPTI reports, for its buffers and for code that it loads, are added.
 *
 * Measured on an H200 (driver 580, CUPTI 13.0): a launch in a loop takes 1.2 us more in C, 0.9 us without origins; in
 * CuPy 1.3 us and 1.0 us. If the program switches recording on (--from-start off), calls cannot be selected one by one,
 * and the Python code between two launches evicts CUPTI's code and data from the caches. The cost then grows with how
 * slow the host is at that moment: launches take 2.4 to 3.4 us more in CuPy and 4.2 to 6.9 us in PyTorch, and CuPy's
 * small copies, with three calls each, 3.4 to 5.3 us. But the share of the recorded run time was the same on all hosts:
 * 0.31 to 0.35, 0.40, and 0.28 to 0.32. The cost is therefore a share of the recorded length of the call, with bounds.
 * Launches that a graph captures took 2.6 to 4.6 us more, although such a call is short. */
#include "trace/rules/rule_input.h"

/* What CUPTI adds to every call. */
enum { CALL_NS = 220 };
/* What CUPTI adds to a call that enqueues work, in addition to CALL_NS. usual_ns: the recorded length of a call for
 * which the bounds hold; they scale with the length of the call. 0: they hold for all calls. */
struct cost {
    uint64_t least_ns, most_ns, usual_ns;
};
/* captured: launches that a graph captures, which are short calls. rest: copies, sets, graphs. */
struct costs {
    struct cost launch, captured, rest;
};
/* For programs that switch recording on: CUPTI looks at every CUDA call. Numba and JAX were not measured. Captured
 * launches were measured with CuPy only. */
static const struct costs switched[LE_FRAMEWORKS] = {
    [LE_FRAMEWORK_CUDA] = {{600, 1200, 0}, {600, 1200, 0}, {900, 900, 0}},
    [LE_FRAMEWORK_CUPY] = {{1800, 2660, 4200}, {1730, 2570, 1200}, {1950, 2950, 3100}},
    [LE_FRAMEWORK_NUMBA] = {{2100, 3800, 0}, {2100, 3800, 0}, {1950, 2950, 3100}},
    [LE_FRAMEWORK_TORCH] = {{3400, 4800, 5000}, {2100, 3800, 0}, {1950, 2950, 3100}},
    [LE_FRAMEWORK_JAX] = {{2100, 3800, 0}, {2100, 3800, 0}, {1950, 2950, 3100}},
};
/* For all other programs: recorded functions are selected one by one. Numba, PyTorch and JAX were not measured: their
 * lower bounds are CuPy's, their upper bounds half of those above. */
static const struct costs picked[LE_FRAMEWORKS] = {
    [LE_FRAMEWORK_CUDA] = {{600, 1200, 0}, {600, 1200, 0}, {900, 900, 0}},
    [LE_FRAMEWORK_CUPY] = {{600, 1200, 0}, {600, 1200, 0}, {900, 900, 0}},
    [LE_FRAMEWORK_NUMBA] = {{600, 1900, 0}, {600, 1900, 0}, {900, 900, 0}},
    [LE_FRAMEWORK_TORCH] = {{600, 1900, 0}, {600, 1900, 0}, {900, 900, 0}},
    [LE_FRAMEWORK_JAX] = {{600, 1900, 0}, {600, 1900, 0}, {900, 900, 0}},
};
/* What the recorder adds at most: to find where a call was made, and to sample the bytes of a copy by a system call. */
enum { ORIGIN_NS = 250, SAMPLE_NS = 2050 };

static uint64_t recorder_ns_of(const struct le_rule_input *input, const struct le_call *call) {
    const struct le_transfer *transfer = le_transfer_of(input, call);
    uint64_t origin_ns = call->source != LE_NONE ? ORIGIN_NS : 0;
    return origin_ns + (transfer && transfer->sample ? SAMPLE_NS : 0);
}

/* What recording added to one call, or to all calls before one: likely_ns plus or minus doubt_ns. */
struct le_recording_cost {
    uint64_t likely_ns, doubt_ns;
};

/* How slow the host was, by the length of the call. A call that waited says nothing about that: synchronous copies
 * count as usual, and the cap covers launches into a full queue. */
static double slowness(struct cost cost, const struct le_call *call) {
    const double slowest = 2;
    if (cost.usual_ns == 0 || call->kind == LE_CALL_COPY)
        return 1;
    double slow = (double)(call->end_ns - call->start_ns) / (double)cost.usual_ns;
    return slow < slowest ? slow : slowest;
}

static struct le_recording_cost scaled_cost(struct cost cost, const struct le_call *call) {
    double slow = slowness(cost, call), least_ns = slow * (double)cost.least_ns, most_ns = slow * (double)cost.most_ns;
    return (struct le_recording_cost){CALL_NS + (uint64_t)((least_ns + most_ns) / 2),
                                      (uint64_t)((most_ns - least_ns) / 2)};
}

static const struct costs *costs_of(const struct le_rule_input *input) {
    const struct costs *costs = input->index->processes.at[input->process].is_switched ? switched : picked;
    return &costs[input->framework];
}

static struct le_recording_cost cupti_cost(const struct le_rule_input *input, const struct le_call *call) {
    const struct costs *costs = costs_of(input);
    if (call->kind == LE_CALL_LAUNCH)
        return scaled_cost(call->operation != LE_NONE ? costs->launch : costs->captured, call);
    if (call->operation != LE_NONE)
        return scaled_cost(costs->rest, call);
    return (struct le_recording_cost){CALL_NS, 0};
}

/* A call of the process, for any device: recording slows the host. */
static const struct le_call *host_call(const struct le_rule_input *input, int32_t k) {
    return &input->index->calls.at[input->host_calls.at[k]];
}

/* Pauses of threads that make no CUDA calls are left out: the recorder's writer thread does not hold the program. */
static void find_pauses(struct le_rule_input *input) {
    const struct le_trace_index *index = input->index;
    struct le_positions overheads = le_grouped_of(&input->owners.overheads, input->process);
    bool *calls = LE_NEW_ARRAY(input->scratch, index->threads.count, bool);
    for (int32_t k = 0; k < input->host_calls.count; k++)
        calls[host_call(input, k)->thread] = true;
    input->pauses = le_periods_new(input->scratch, overheads.count);
    for (int32_t k = 0; k < overheads.count; k++) {
        const struct le_host_span *span = &index->overheads.at[overheads.at[k]];
        bool is_recording = span->kind == LE_TRACE_OVERHEAD_FLUSH || span->kind == LE_TRACE_OVERHEAD_INSTRUMENT ||
                            span->kind == LE_TRACE_OVERHEAD_RESOURCE;
        if (is_recording && calls[span->thread])
            le_periods_add(&input->pauses, span->start_ns, span->end_ns);
    }
}

/* Running sums are kept for every n-th call; the calls in between are added up on demand. */
enum { CALLS_PER_SUM = 16 };

/* Adds what recording added to the call, and returns CUPTI's part of it. */
static uint64_t add_call_cost(const struct le_rule_input *input, const struct le_call *call,
                              struct le_recording_cost *sum) {
    struct le_recording_cost cupti = cupti_cost(input, call);
    sum->likely_ns += cupti.likely_ns + (uint64_t)(input->recorder_scale * (double)recorder_ns_of(input, call));
    sum->doubt_ns += cupti.doubt_ns;
    return cupti.likely_ns;
}

static struct le_recording_cost cost_before(const struct le_rule_input *input, int32_t call) {
    struct le_recording_cost sum = input->recording_sums[call / CALLS_PER_SUM];
    for (int32_t k = call / CALLS_PER_SUM * CALLS_PER_SUM; k < call; k++)
        add_call_cost(input, host_call(input, k), &sum);
    return sum;
}

void le_recording_init(struct le_rule_input *input) {
    uint64_t measured_ns = input->index->processes.at[input->process].recorder_ns, modelled_ns = 0, launches_ns = 0;
    uint64_t launches = 0;
    struct le_recording_cost all = {0};
    find_pauses(input);
    input->recording_ns = measured_ns + le_periods_total(&input->pauses);
    for (int32_t k = 0; k < input->host_calls.count; k++)
        modelled_ns += recorder_ns_of(input, host_call(input, k));
    input->recorder_scale = modelled_ns > measured_ns ? (double)measured_ns / (double)modelled_ns : 1;
    input->recording_sums =
        LE_NEW_ARRAY(input->scratch, input->host_calls.count / CALLS_PER_SUM + 1, struct le_recording_cost);
    for (int32_t k = 0; k < input->host_calls.count; k++) {
        const struct le_call *call = host_call(input, k);
        uint64_t before_ns = all.likely_ns;
        if (k % CALLS_PER_SUM == 0)
            input->recording_sums[k / CALLS_PER_SUM] = all;
        input->recording_ns += add_call_cost(input, call, &all);
        if (call->kind == LE_CALL_LAUNCH) {
            launches_ns += all.likely_ns - before_ns;
            launches++;
        }
    }
    if (input->host_calls.count % CALLS_PER_SUM == 0)
        input->recording_sums[input->host_calls.count / CALLS_PER_SUM] = all;
    input->launch_recording_ns = launches ? launches_ns / launches : 0;
}

/* The first call that starts at the time or later. */
static int32_t first_call_from(const struct le_rule_input *input, uint64_t time_ns) {
    int32_t low = 0, high = input->host_calls.count;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (host_call(input, middle)->start_ns < time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct le_estimate le_recording_estimate(const struct le_rule_input *input, uint64_t start_ns, uint64_t end_ns) {
    if (end_ns <= start_ns)
        return (struct le_estimate){0};
    struct le_recording_cost from = cost_before(input, first_call_from(input, start_ns));
    struct le_recording_cost to = cost_before(input, first_call_from(input, end_ns));
    uint64_t likely_ns = to.likely_ns - from.likely_ns + le_periods_overlap(&input->pauses, start_ns, end_ns);
    uint64_t doubt_ns = to.doubt_ns - from.doubt_ns;
    struct le_estimate range = {likely_ns - doubt_ns, likely_ns, likely_ns + doubt_ns};
    return le_estimate_within(range, end_ns - start_ns);
}

uint64_t le_recording_between(const struct le_rule_input *input, uint64_t start_ns, uint64_t end_ns) {
    return le_recording_estimate(input, start_ns, end_ns).likely;
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

const char *le_recording_doubt_text(const struct le_rule_input *input, struct le_estimate gain) {
    const char *least = le_format_time(input->arena, gain.least), *most = le_format_time(input->arena, gain.most);
    if (gain.least == gain.most)
        return "";
    return le_arena_format(
        input->arena, "\nthe cost of recording is an estimate: without it the gain is between %s and %s", least, most);
}
