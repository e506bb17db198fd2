/* small-grid: long kernels whose grids leave most of the device empty. */
#include "trace/rules/occupancy.h"
#include "trace/rules/once.h"
#include "trace/rules/rule_input.h"

/* A device hides latencies if at least about a quarter of its threads are in use. Below that, more threads make a
 * kernel faster. */
enum { FULL_ENOUGH = 25 };
/* Shorter kernels are bound by latency: more threads would not make them faster. */
enum { LEAST_MEAN_NS = 20000 };
/* Percent of the run that such kernels take. */
enum { LEAST_PART = 5 };
enum { NAMED = 4 };

/* How much of the device's threads the kernel uses, in parts per million, including kernels that run at the same
 * time. */
static uint64_t filled_ppm(const struct le_rule_input *input, const struct le_operation *operation) {
    const struct le_trace_device *device =
        &input->index->devices.at[input->index->streams.at[operation->stream].device];
    const struct le_shape *shape = le_shape_of(input, operation);
    uint64_t room = (uint64_t)device->multiprocessors * device->multiprocessor_threads;
    uint64_t threads = le_shape_blocks(shape) * le_shape_threads(shape);
    uint64_t union_ns = le_periods_total(&input->kernels);
    if (room == 0 || threads == 0 || union_ns == 0 || threads >= room)
        return 1000000;
    uint64_t part = (uint64_t)(1e6 * (double)threads / (double)room * (double)input->kernel_ns / (double)union_ns);
    return part < 1000000 ? part : 1000000;
}

static bool can_tell(const struct le_rule_input *input, const struct le_operation *operation) {
    return operation->kind == LE_OPERATION_KERNEL && input->index->streams.at[operation->stream].device != LE_NONE;
}

/* Operations of the same name and shape. */
struct alike {
    uint64_t count, time_ns;
    uint64_t filled;   /* parts per million */
    uint64_t saved_ns; /* if the device were full */
    int32_t first;     /* position in the input; LE_NONE: none of them is a kernel on a known device */
};

/* Adds up the operations in `order` that are like the one at `from`. Returns where the next group begins. */
static int32_t sum_alike(const struct le_rule_input *input, const int32_t *order, int32_t from, struct alike *alike) {
    const struct le_operation *like = le_rule_input_operation(input, order[from]);
    *alike = (struct alike){.first = LE_NONE};
    int32_t k = from;
    for (; k < input->operation_count; k++) {
        const struct le_operation *operation = le_rule_input_operation(input, order[k]);
        if (operation->name != like->name || operation->shape != like->shape)
            break;
        if (!can_tell(input, operation))
            continue;
        if (alike->count++ == 0) {
            alike->first = order[k];
            alike->filled = filled_ppm(input, operation);
        }
        alike->time_ns += le_operation_ns(operation);
    }
    if (alike->count && alike->filled * 100 < 1000000ull * FULL_ENOUGH &&
        alike->time_ns / alike->count >= LEAST_MEAN_NS)
        alike->saved_ns = alike->time_ns - (uint64_t)((double)alike->time_ns * (double)alike->filled / 1e6);
    return k;
}

struct small {
    uint64_t time_ns, saved_ns, waited_ns;
    struct alike named[NAMED]; /* the groups that would save most, largest first; the earlier one if equal */
    int named_count;
};

static bool comes_before(const struct alike *a, const struct alike *b) {
    return a->saved_ns > b->saved_ns || (a->saved_ns == b->saved_ns && a->first < b->first);
}

static void add_alike(struct small *small, const struct alike *alike) {
    small->time_ns += alike->time_ns;
    small->saved_ns += alike->saved_ns;
    if (small->named_count < NAMED)
        small->named_count++;
    else if (!comes_before(alike, &small->named[NAMED - 1]))
        return;
    int at = small->named_count - 1;
    for (; at > 0 && comes_before(alike, &small->named[at - 1]); at--)
        small->named[at] = small->named[at - 1];
    small->named[at] = *alike;
}

static struct small gather_small_grids(const struct le_rule_input *input, const int32_t *order) {
    struct small small = {0};
    struct alike alike;
    for (int32_t k = 0; k < input->operation_count;) {
        k = sum_alike(input, order, k, &alike);
        if (alike.saved_ns)
            add_alike(&small, &alike);
    }
    return small;
}

/* Marks small kernels by their position in the input. */
static bool *mark_small(struct le_rule_input *input, const int32_t *order) {
    bool *marks = LE_NEW_ARRAY(input->scratch, input->operation_count, bool);
    struct alike alike;
    for (int32_t k = 0, end; k < input->operation_count; k = end) {
        end = sum_alike(input, order, k, &alike);
        for (int32_t one = k; one < end && alike.saved_ns; one++)
            marks[order[one]] = can_tell(input, le_rule_input_operation(input, order[one]));
    }
    return marks;
}

/* Kernels of several streams may overlap: time in which at least one runs counts once, and the gain is reduced in
 * proportion. The gain is at most the time that the host waited for them; without known waits there is no such
 * limit. */
static void count_once(struct le_rule_input *input, const int32_t *order, struct small *small) {
    const bool *marks = mark_small(input, order);
    uint64_t until_ns = 0, union_ns = 0, waited_ns = 0;
    for (int32_t k = 0; k < input->operation_count; k++) {
        const struct le_operation *operation = le_rule_input_operation(input, k);
        if (!marks[k])
            continue;
        uint64_t from_ns = le_once_from(&until_ns, operation->start_ns, operation->end_ns);
        union_ns += operation->end_ns - from_ns;
        waited_ns += le_periods_overlap(&input->held, from_ns, operation->end_ns);
        le_rule_input_charge(input, le_call_of(input, operation), le_operation_ns(operation));
    }
    if (union_ns < small->time_ns)
        small->saved_ns = (uint64_t)((double)small->saved_ns * (double)union_ns / (double)small->time_ns);
    small->time_ns = union_ns;
    small->waited_ns = input->held.count ? waited_ns : UINT64_MAX;
}

static const char *name_them(struct le_rule_input *input, const struct small *small) {
    struct le_arena *arena = input->arena;
    const char *text = "";
    for (int k = 0; k < small->named_count; k++) {
        const struct alike *alike = &small->named[k];
        const struct le_operation *operation = le_rule_input_operation(input, alike->first);
        const struct le_shape *shape = le_shape_of(input, operation);
        text = le_arena_format(
            arena, "%s%s%s: %s of %s, %.2g %% of the device's threads; %s of %s%s", text, k ? "\n" : "",
            le_kernel_name(input, operation->name), le_format_counted(arena, le_shape_blocks(shape), "block", "blocks"),
            le_format_counted(arena, le_shape_threads(shape), "thread", "threads"), (double)alike->filled / 1e4,
            le_format_counted(arena, alike->count, "launch", "launches"),
            le_format_time(arena, alike->time_ns / alike->count), alike->count == 1 ? "" : " each");
    }
    return text;
}

void le_rule_small_grid(struct le_rule_input *input) {
    const int32_t *order = le_rule_input_sort_alike(input);
    struct small small = gather_small_grids(input, order);
    if (small.saved_ns < input->least_gain_ns)
        return;
    count_once(input, order, &small);
    if (small.saved_ns < input->least_gain_ns || small.time_ns * 100 < (input->end_ns - input->start_ns) * LEAST_PART)
        return;
    struct le_arena *arena = input->arena;
    const struct alike *most = &small.named[0];
    const struct le_operation *first = le_rule_input_operation(input, most->first);
    le_rule_input_claim(
        input, &(struct le_claim){
                   .rule = "small-grid",
                   .title = le_arena_format(arena, "Small grids: kernels that fill %.2g %% of the device take %s",
                                            (double)most->filled / 1e4, le_format_time(arena, small.time_ns)),
                   .evidence = le_arena_format(arena,
                                               "%s\nassumed: the work can be divided among as many threads as "
                                               "the device holds",
                                               name_them(input, &small)),
                   .advice = LE_ADVICE_GRID,
                   .gain_ns = small.saved_ns < small.waited_ns ? small.saved_ns : small.waited_ns,
                   .confidence = most->filled < 100000 ? LE_LIKELY : LE_PLAUSIBLE,
                   .start_ns = first->start_ns,
                   .end_ns = first->end_ns,
               });
}
