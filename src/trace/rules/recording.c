/* What recording adds to a program's time, call by call: CUPTI's share by a model, the recorder's own by what it told
 * in all. Pauses that CUPTI tells itself, for its buffers and for the code that it loads, come on top. Measured on an
 * H200 (driver 580, CUPTI 13.0): a launch in a loop of C 1.2 us, 0.9 without origins, of CuPy's 1.3 and 1.0. Where the
 * program switches recording on (--from-start off), calls cannot be picked one by one: then of CuPy's 2.1 to 2.7, of
 * PyTorch's 4.2 to 4.5, since what runs between launches of Python drives CUPTI's code and data from the caches, and on
 * a host that ran at two thirds of that speed 4.5 and 7.9. Hence a range for launches. A small copy from Python with
 * four calls about it 4.5 us, of which the recorder's callbacks took 2.3. */
#include "trace/rules/scene.h"

/* CUPTI's, of every call, and of what was enqueued. Of a kernel, or of one that a graph captures: more or less. */
enum { CALL_NS = 220, OPERATION_NS = 900 };
struct cost {
    uint64_t least_ns, most_ns;
};
/* Where recording is switched on by the program, CUPTI looks into every call of its libraries'. */
static const struct cost launch_switched[LE_USERS] = {
    [LE_USER_CUDA] = {600, 1200},   [LE_USER_CUPY] = {1700, 3400}, [LE_USER_NUMBA] = {2100, 3800},
    [LE_USER_TORCH] = {2100, 3800}, [LE_USER_JAX] = {2100, 3800},
};
/* Else calls are picked one by one. Numba, PyTorch and JAX: not measured, no less than CuPy's and no more than the
 * half. */
static const struct cost launch_picked[LE_USERS] = {
    [LE_USER_CUDA] = {600, 1200},  [LE_USER_CUPY] = {600, 1200}, [LE_USER_NUMBA] = {600, 1900},
    [LE_USER_TORCH] = {600, 1900}, [LE_USER_JAX] = {600, 1900},
};
/* The recorder's, at most: to find where a call was made, and to sample the bytes of a copy, which asks the system. */
enum { ORIGIN_NS = 250, SAMPLE_NS = 2050 };

static uint64_t own_ns(const struct le_scene *scene, const struct le_call *call) {
    const struct le_transfer *transfer = le_transfer_of(scene, call);
    uint64_t origin_ns = call->source != LE_NONE ? ORIGIN_NS : 0;
    return origin_ns + (transfer && transfer->sample ? SAMPLE_NS : 0);
}

static struct cost launch_cost(const struct le_scene *scene) {
    const struct cost *costs = scene->index->processes.at[scene->process].is_switched ? launch_switched : launch_picked;
    return costs[scene->user];
}

static uint64_t launch_ns(const struct le_scene *scene) {
    struct cost cost = launch_cost(scene);
    return (cost.least_ns + cost.most_ns) / 2;
}

/* So much more or less. */
static uint64_t launch_doubt_ns(const struct le_scene *scene) {
    struct cost cost = launch_cost(scene);
    return (cost.most_ns - cost.least_ns) / 2;
}

static uint64_t cupti_ns(const struct le_scene *scene, const struct le_call *call) {
    if (call->kind == LE_CALL_LAUNCH)
        return CALL_NS + launch_ns(scene);
    return call->operation != LE_NONE ? CALL_NS + OPERATION_NS : CALL_NS;
}

/* Whichever device it is for: recording holds the host. */
static const struct le_call *host_call(const struct le_scene *scene, int32_t k) {
    return &scene->index->calls.at[scene->host_calls.at[k]];
}

/* The writer's thread makes no calls: what it is held for holds nobody. */
static void lay_out_pauses(struct le_scene *scene) {
    const struct le_index *index = scene->index;
    struct le_positions overheads = le_grouped_of(&scene->owners.overheads, scene->process);
    bool *calls = LE_NEW_ARRAY(scene->scratch, index->threads.count, bool);
    for (int32_t k = 0; k < scene->host_calls.count; k++)
        calls[host_call(scene, k)->thread] = true;
    scene->pauses = le_spans_new(scene->scratch, overheads.count);
    for (int32_t k = 0; k < overheads.count; k++) {
        const struct le_host_span *span = &index->overheads.at[overheads.at[k]];
        bool is_recording = span->kind == LE_TRACE_OVERHEAD_FLUSH || span->kind == LE_TRACE_OVERHEAD_INSTRUMENT ||
                            span->kind == LE_TRACE_OVERHEAD_RESOURCE;
        if (is_recording && calls[span->thread])
            le_spans_add(&scene->pauses, span->start_ns, span->end_ns);
    }
}

/* What recording took of the calls before one, and how many of these were launches. */
struct le_recorded {
    uint64_t time_ns;
    int32_t launches;
};
/* One is kept for so many calls; what lies between is added up again. */
enum { CALLS_ADDED = 16 };

static void add_call(const struct le_scene *scene, const struct le_call *call, struct le_recorded *recorded) {
    recorded->time_ns += cupti_ns(scene, call) + (uint64_t)(scene->own_part * (double)own_ns(scene, call));
    recorded->launches += call->kind == LE_CALL_LAUNCH;
}

static struct le_recorded recorded_before(const struct le_scene *scene, int32_t call) {
    struct le_recorded recorded = scene->recorded[call / CALLS_ADDED];
    for (int32_t k = call / CALLS_ADDED * CALLS_ADDED; k < call; k++)
        add_call(scene, host_call(scene, k), &recorded);
    return recorded;
}

void le_recording_know(struct le_scene *scene) {
    uint64_t told_ns = scene->index->processes.at[scene->process].recorder_ns, modelled_ns = 0, launches_ns = 0;
    struct le_recorded all = {0};
    lay_out_pauses(scene);
    scene->recording_ns = told_ns + le_spans_total(&scene->pauses);
    for (int32_t k = 0; k < scene->host_calls.count; k++)
        modelled_ns += own_ns(scene, host_call(scene, k));
    scene->own_part = modelled_ns > told_ns ? (double)told_ns / (double)modelled_ns : 1;
    scene->recorded = LE_NEW_ARRAY(scene->scratch, scene->host_calls.count / CALLS_ADDED + 1, struct le_recorded);
    for (int32_t k = 0; k < scene->host_calls.count; k++) {
        const struct le_call *call = host_call(scene, k);
        uint64_t before_ns = all.time_ns;
        if (k % CALLS_ADDED == 0)
            scene->recorded[k / CALLS_ADDED] = all;
        add_call(scene, call, &all);
        scene->recording_ns += cupti_ns(scene, call);
        launches_ns += call->kind == LE_CALL_LAUNCH ? all.time_ns - before_ns : 0;
    }
    if (scene->host_calls.count % CALLS_ADDED == 0)
        scene->recorded[scene->host_calls.count / CALLS_ADDED] = all;
    scene->launch_recording_ns = all.launches ? launches_ns / (uint64_t)all.launches : CALL_NS + launch_ns(scene);
}

/* The first call that starts no earlier. */
static int32_t call_from(const struct le_scene *scene, uint64_t time_ns) {
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

struct le_range le_recording_range(const struct le_scene *scene, uint64_t start_ns, uint64_t end_ns) {
    if (end_ns <= start_ns)
        return (struct le_range){0};
    struct le_recorded from = recorded_before(scene, call_from(scene, start_ns));
    struct le_recorded to = recorded_before(scene, call_from(scene, end_ns));
    uint64_t likely_ns = to.time_ns - from.time_ns + le_spans_overlap(&scene->pauses, start_ns, end_ns);
    uint64_t doubt_ns = (uint64_t)(to.launches - from.launches) * launch_doubt_ns(scene);
    struct le_range range = {likely_ns - doubt_ns, likely_ns, likely_ns + doubt_ns};
    return le_range_within(range, end_ns - start_ns);
}

uint64_t le_recording_between(const struct le_scene *scene, uint64_t start_ns, uint64_t end_ns) {
    return le_recording_range(scene, start_ns, end_ns).likely;
}

struct le_range le_range_within(struct le_range range, uint64_t most) {
    return (struct le_range){range.least < most ? range.least : most, range.likely < most ? range.likely : most,
                             range.most < most ? range.most : most};
}

struct le_range le_range_of_rest(struct le_range range, uint64_t whole) {
    range = le_range_within(range, whole);
    return (struct le_range){whole - range.most, whole - range.likely, whole - range.least};
}

void le_range_add(struct le_range *sum, struct le_range range) {
    sum->least += range.least;
    sum->likely += range.likely;
    sum->most += range.most;
}

const char *le_unrecorded(const struct le_scene *scene, struct le_range gain) {
    const char *least = le_figure_time(scene->arena, gain.least), *most = le_figure_time(scene->arena, gain.most);
    if (gain.least == gain.most)
        return "";
    return le_arena_format(scene->arena,
                           "\nwhat recording took is known within bounds: without it, %s to %s would be gained", least,
                           most);
}
