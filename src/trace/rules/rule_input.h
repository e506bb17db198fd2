/* The input of the rules: what one process of a trace did on one device, or on all devices that it used, with facts
 * that several rules need computed once. A rule is a function that takes this input (rule_*.c) and reports its findings
 * through le_rule_input_claim. rules.def says whether a rule runs for each device or for each process. Rules do not run
 * for a process without operations. Texts of findings are allocated from `arena`, everything else from `scratch`. */
#ifndef LE_RULE_INPUT_H
#define LE_RULE_INPUT_H
#include "trace/rules/advice.h"
#include "trace/format_figures.h"
#include "trace/rules/finding.h"
#include "trace/rules/owners.h"

/* Intervals that do not touch, sorted by start. */
struct le_period {
    uint64_t start_ns, end_ns;
};
enum { LE_PERIODS_SUMMED = 16 };
struct le_periods {
    struct le_period *at;
    uint64_t *before_ns; /* for every LE_PERIODS_SUMMED-th period: the total length of those before it */
    uint64_t total_ns;
    int64_t count;
};
struct le_periods le_periods_new(struct le_arena *arena, int64_t room);
uint64_t le_periods_total(const struct le_periods *periods);
uint64_t le_periods_overlap(const struct le_periods *periods, uint64_t start_ns, uint64_t end_ns);
/* Adds an interval that starts no earlier than those before it. There must be room. */
void le_periods_add(struct le_periods *periods, uint64_t start_ns, uint64_t end_ns);
/* The first period that ends after the time; `count` if there is none. */
int64_t le_periods_after(const struct le_periods *periods, uint64_t time_ns);

/* A time that is not known exactly. */
struct le_estimate {
    uint64_t least, likely, most;
};

struct le_rule_input {
    const struct le_trace_index *index;
    struct le_arena *arena, *scratch;
    struct le_findings *findings;

    /* ---- about the whole trace */
    struct le_owners owners;
    int32_t *user_sources;          /* by source: the nearest caller outside libraries (user_sources.h) */
    uint8_t *frameworks_of_sources; /* by source: enum le_framework */
    uint64_t *costs;                /* by source: what was charged for the finding in progress */
    int32_t cost_first, cost_after; /* the range of `costs` that may not be 0 */
    uint64_t costs_of_frameworks[LE_FRAMEWORKS];

    /* ---- about the process */
    int32_t process;
    struct le_positions host_calls;           /* for all devices */
    struct le_recording_cost *recording_sums; /* what recording added up to every n-th call (recording.c) */
    double recorder_scale;                    /* the recorder's measured time, as a part of the modelled one */
    struct le_periods pauses;                 /* when CUPTI held the program for its buffers and the like */
    uint64_t recording_ns;                    /* all that recording took, with pauses */
    uint64_t launch_recording_ns;             /* what it added to a launch, on average */
    uint64_t least_gain_ns;                   /* findings with a smaller gain are dropped */

    /* ---- about the device, or about all devices that the process used */
    int32_t device;           /* the one that worked longest; LE_NONE: unknown */
    bool names_device;        /* titles name the device */
    uint32_t *blocks_at_once; /* by shape: thread blocks that the device holds at once; 0: unknown */
    enum le_framework framework;
    const int32_t *operations; /* positions in the index, sorted by start */
    const int32_t *calls;
    int32_t operation_count, call_count;
    struct le_periods busy, kernels, copies; /* when the device did anything; ran kernels or whole graphs; copied */
    struct le_periods held;                  /* when a call held the host: waits, and other calls that take long */
    uint64_t start_ns, end_ns;               /* from the call of the first work to the end of the last work or call */
    uint64_t kernel_ns;                      /* the sum over kernels and graphs, overlaps included */
};

/* Computes the facts about the whole trace. index, arena, scratch and findings must be set. */
void le_rule_input_init(struct le_rule_input *input);
/* Computes the facts about a process and all its devices. False: it used no device. */
bool le_rule_input_set_process(struct le_rule_input *input, int32_t process);
/* From the input for a process, makes the input for one of its devices. */
struct le_rule_input le_rule_input_for_device(const struct le_rule_input *input, const struct le_device_parts *parts,
                                              int32_t part, struct le_arena *scratch);

/* All operations, by their position in `operations`: those with the same name and shape together, sorted by start. */
int32_t *le_rule_input_sort_alike(const struct le_rule_input *input);
const struct le_operation *le_rule_input_operation(const struct le_rule_input *input, int32_t k);
const struct le_call *le_rule_input_call(const struct le_rule_input *input, int32_t k);
/* The call that enqueued an operation; NULL: unknown. */
const struct le_call *le_call_of(const struct le_rule_input *input, const struct le_operation *operation);
/* The first operation that a call enqueued; NULL if there is none, or its stream is unknown. */
const struct le_operation *le_operation_of(const struct le_rule_input *input, const struct le_call *call);
const struct le_shape *le_shape_of(const struct le_rule_input *input, const struct le_operation *operation);
const char *le_kernel_name(const struct le_rule_input *input, int32_t text); /* demangled, at most 64 bytes */
const char *le_text_of(const struct le_rule_input *input, int32_t text);
/* The recorded arguments of a call that copies; NULL: unknown. */
const struct le_transfer *le_transfer_of(const struct le_rule_input *input, const struct le_call *call);
bool le_is_kernel(const struct le_operation *operation); /* a kernel or a whole graph */
/* "12 kernels", "1 graph", "12 kernels and 1 graph". */
const char *le_kernels_and_graphs(const struct le_rule_input *input, uint64_t kernels, uint64_t graphs);
static inline uint64_t le_operation_ns(const struct le_operation *operation) {
    return operation->end_ns - operation->start_ns;
}
static inline uint64_t le_call_ns(const struct le_call *call) {
    return call->end_ns - call->start_ns;
}
struct le_copy_rate {
    double rate;      /* bytes per nanosecond */
    const char *from; /* where the rate is from, in words */
};
/* The rate between pinned memory and the device: the best rate of pinned copies in the trace, else the usual rate of
 * the device's bus, but at least the best rate of pageable copies in the trace. */
struct le_copy_rate le_pinned_rate(const struct le_rule_input *input);
bool le_is_pageable(const struct le_shape *shape);
/* What a copy costs: the time of its call without the wait for kernels, or of the copy itself if that is longer. call
 * may be NULL. */
uint64_t le_copy_cost_ns(const struct le_rule_input *input, const struct le_call *call,
                         const struct le_operation *operation);
/* recording.c: estimates what recording added to each call of the process. */
void le_recording_init(struct le_rule_input *input);
/* What recording added to the calls that start between the two times, and for how long it held the program between
 * them. At most the whole time. */
uint64_t le_recording_between(const struct le_rule_input *input, uint64_t start_ns, uint64_t end_ns);
struct le_estimate le_recording_estimate(const struct le_rule_input *input, uint64_t start_ns, uint64_t end_ns);
struct le_estimate le_estimate_within(struct le_estimate range, uint64_t most);
struct le_estimate le_estimate_of_rest(struct le_estimate range, uint64_t whole); /* whole - range */
void le_estimate_add(struct le_estimate *sum, struct le_estimate range);
/* A line of evidence with the bounds of the gain; "" if they are equal. */
const char *le_recording_doubt_text(const struct le_rule_input *input, struct le_estimate gain);

/* Charges a cost to the source line that made the call, for the next claim. call may be NULL. */
void le_rule_input_charge(struct le_rule_input *input, const struct le_call *call, uint64_t cost_ns);

struct le_claim {
    const char *rule, *title, *evidence; /* allocated from input->arena, or literals */
    enum le_advice advice;
    uint64_t gain_ns;
    enum le_confidence confidence;
    uint64_t start_ns, end_ns; /* 0, 0: the whole run */
};
/* Adds a finding, with the source lines that were charged most since the last one. */
void le_rule_input_claim(struct le_rule_input *input, const struct le_claim *claim);
/* Forgets all charges. */
void le_rule_input_drop_charges(struct le_rule_input *input);
/* Whether the input's process made the call with this position in the index. */
bool le_is_own_call(const struct le_rule_input *input, int32_t call);
bool le_is_module_load(const struct le_rule_input *input, const struct le_call *call);

/* The rules. Each file has its thresholds and the reasons for them; docs/FINDINGS.md describes each rule with an
 * example. */
#define LE_RULE(name, scope, function) void function(struct le_rule_input *input);
#include "trace/rules/rules.def"
#undef LE_RULE
#endif
