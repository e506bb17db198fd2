/* What the rules look at: what one process of a trace did on one device, or on all that it used, with what several
 * rules need worked out once, and the way to say what they found. A rule is a function over a scene (rule_*.c);
 * rules.def says whether it asks about a device or about the process. It says nothing about a process without
 * operations, since it is not asked. Memory is the scratch arena's, texts of findings the other one's. */
#ifndef LE_RULE_INPUT_H
#define LE_RULE_INPUT_H
#include "trace/rules/advice.h"
#include "trace/format_figures.h"
#include "trace/rules/finding.h"
#include "trace/rules/owners.h"

/* Intervals that do not touch, by start. */
struct le_period {
    uint64_t start_ns, end_ns;
};
enum { LE_PERIODS_SUMMED = 16 };
struct le_periods {
    struct le_period *at;
    uint64_t *before_ns; /* of one in so many: the total of those before it */
    uint64_t total_ns;
    int64_t count;
};
struct le_periods le_periods_new(struct le_arena *arena, int64_t room);
uint64_t le_periods_total(const struct le_periods *periods);
uint64_t le_periods_overlap(const struct le_periods *periods, uint64_t start_ns, uint64_t end_ns);
/* Adds an interval that starts no earlier than those before; there has to be room. */
void le_periods_add(struct le_periods *periods, uint64_t start_ns, uint64_t end_ns);
/* The first span that ends after the time; count if there is none. */
int64_t le_periods_after(const struct le_periods *periods, uint64_t time_ns);

/* A time that is not known exactly. */
struct le_estimate {
    uint64_t least, likely, most;
};

struct le_rule_input {
    const struct le_trace_index *index;
    struct le_arena *arena, *scratch;
    struct le_findings *findings;

    /* Of the whole trace. */
    struct le_owners owners;
    int32_t *user_sources;          /* for each source: the nearest place that is no library's */
    uint8_t *frameworks_of_sources; /* enum le_framework */
    uint64_t *costs;                /* of sources, for the finding at hand */
    int32_t cost_first, cost_after; /* where in it there may be some */
    uint64_t costs_of_frameworks[LE_FRAMEWORKS];

    /* Of the process. */
    int32_t process;
    struct le_positions host_calls;           /* on whatever device */
    struct le_recording_cost *recording_sums; /* up to one in so many calls (recording.c) */
    double recorder_scale;                    /* of what the model says of the recorder's own time */
    struct le_periods pauses;                 /* when it held the program beside that, for its buffers and the like */
    uint64_t recording_ns;                    /* all that it took, pauses too */
    uint64_t launch_recording_ns;             /* of a launch, on average */
    uint64_t least_gain_ns;                   /* less is not worth saying */

    /* Of the device, or of all that the process used. */
    int32_t device;           /* of the longest work; LE_NONE */
    bool names_device;        /* titles say it */
    uint32_t *blocks_at_once; /* for each shape here: blocks that the device holds at once; 0: not known */
    enum le_framework framework;
    const int32_t *operations; /* positions in the index, by start */
    const int32_t *calls;
    int32_t operation_count, call_count;
    struct le_periods busy, kernels, copies; /* when the device did anything; kernels or whole graphs; copies */
    struct le_periods held;                  /* when the host was held in a call: waits, and what takes as long */
    uint64_t start_ns, end_ns;               /* from the first work's call to the end of work and calls */
    uint64_t kernel_ns;                      /* of kernels and graphs, one by one */
};

/* Works out what is of the whole trace, of a scene that has index, arenas and findings. */
void le_rule_input_init(struct le_rule_input *input);
/* What is of the process, on all its devices. False: it used none. */
bool le_rule_input_set_process(struct le_rule_input *input, int32_t process);
/* Of a process' scene: a scene of one of its parts. */
struct le_rule_input le_rule_input_for_device(const struct le_rule_input *input, const struct le_device_parts *parts,
                                              int32_t part, struct le_arena *scratch);

/* All operations, by their position in the scene: those of one name and shape together, and among them by start. */
int32_t *le_rule_input_sort_alike(const struct le_rule_input *input);
const struct le_operation *le_rule_input_operation(const struct le_rule_input *input, int32_t k);
const struct le_call *le_rule_input_call(const struct le_rule_input *input, int32_t k);
/* The call of an operation; NULL where it is not known. */
const struct le_call *le_call_of(const struct le_rule_input *input, const struct le_operation *operation);
/* The first operation of a call; NULL where there is none, or its stream is not known. */
const struct le_operation *le_operation_of(const struct le_rule_input *input, const struct le_call *call);
const struct le_shape *le_shape_of(const struct le_rule_input *input, const struct le_operation *operation);
const char *le_kernel_name(const struct le_rule_input *input,
                           int32_t text); /* as people read it, of no more than 64 bytes */
const char *le_text_of(const struct le_rule_input *input, int32_t text);
const struct le_transfer *le_transfer_of(const struct le_rule_input *input, const struct le_call *call); /* NULL */
bool le_is_kernel(const struct le_operation *operation); /* one, or a whole graph */
/* "12 kernels", "1 graph", "12 kernels and 1 graph". */
const char *le_kernels_and_graphs(const struct le_rule_input *input, uint64_t kernels, uint64_t graphs);
static inline uint64_t le_operation_ns(const struct le_operation *operation) {
    return operation->end_ns - operation->start_ns;
}
static inline uint64_t le_call_ns(const struct le_call *call) {
    return call->end_ns - call->start_ns;
}
/* Bytes a nanosecond between pinned memory and the device: the best seen in the trace, else what its bus should do. */
double le_pinned_rate(const struct le_rule_input *input);
const char *le_pinned_rate_from(const struct le_rule_input *input); /* which of the two, in words */
bool le_is_pageable(const struct le_shape *shape);
/* What a copy costs: its call without the wait for kernels, or the copy itself where that takes longer. call: or NULL.
 */
uint64_t le_copy_cost_ns(const struct le_rule_input *input, const struct le_call *call,
                         const struct le_operation *operation);
/* recording.c: works out what recording added to each call of the process. */
void le_recording_init(struct le_rule_input *input);
/* What it added to the calls that start in this time, and held the program in it; no more than the time. */
uint64_t le_recording_between(const struct le_rule_input *input, uint64_t start_ns, uint64_t end_ns);
struct le_estimate le_recording_estimate(const struct le_rule_input *input, uint64_t start_ns, uint64_t end_ns);
struct le_estimate le_estimate_within(struct le_estimate range, uint64_t most);
struct le_estimate le_estimate_of_rest(struct le_estimate range, uint64_t whole); /* what the whole leaves beside it */
void le_estimate_add(struct le_estimate *sum, struct le_estimate range);
/* A line of evidence: what following the advice would gain where nothing records; "" where there is no doubt. */
const char *le_recording_doubt_text(const struct le_rule_input *input, struct le_estimate gain);

/* Adds cost to the place of the call (NULL is fine), for the next claim. */
void le_rule_input_charge(struct le_rule_input *input, const struct le_call *call, uint64_t cost_ns);

struct le_claim {
    const char *rule, *title, *evidence; /* texts of scene->arena, or literals */
    enum le_advice advice;
    uint64_t gain_ns;
    enum le_confidence confidence;
    uint64_t start_ns, end_ns; /* 0, 0: the whole */
};
/* A finding, with the places that were blamed since the last one. */
void le_rule_input_claim(struct le_rule_input *input, const struct le_claim *claim);
/* Forgets who was blamed. */
void le_rule_input_drop_charges(struct le_rule_input *input);
/* A call by its position in the index: the scene's process made it. */
bool le_is_own_call(const struct le_rule_input *input, int32_t call);
bool le_is_module_load(const struct le_rule_input *input, const struct le_call *call);

/* The rules. Each file has its threshold and why; docs/FINDINGS.md an example. */
#define LE_RULE(name, scope, function) void function(struct le_rule_input *input);
#include "trace/rules/rules.def"
#undef LE_RULE
#endif
