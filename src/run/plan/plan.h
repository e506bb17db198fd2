/* From bindings to results. A *specialised* program is the IR for the bound types and ranks. A *plan* adds ranges, code
 * and storage, action by action, for one set of extents and numbers. It is kept and run again as long as these stay the
 * same. An *action* is a stage that is not dead. A *group* is the actions of one statement; they are planned together.
 *
 * Groups outside all syntax blocks are planned before anything runs. If one of their ranges depends on computed values,
 * planning pauses, runs the actions planned so far, reads these values and continues; such a plan is used once. Groups
 * inside blocks are planned when they are first reached. They are planned again when they are reached after a number or
 * shape that they depend on has changed. A plan with loops can therefore be reused whatever the data. */
#ifndef LE_PLAN_H
#define LE_PLAN_H
#include "array/array.h"
#include "device/cpu/machine/execute.h"
#include "gen/kernel.h"
#include "run/context.h"
#include "run/program.h"

enum le_storage_kind {
    LE_STORAGE_NEW,  /* its own memory */
    LE_STORAGE_COPY, /* its own memory, initialized with a copy of the base */
    LE_STORAGE_BASE, /* the base's memory, if nothing else holds it at run time: no later action reads the base */
    LE_STORAGE_PART, /* the base's memory, too. The action reads elements of the base that it writes, so it writes its
                        box into other memory, which is copied into the base's when complete */
    LE_STORAGE_NONE  /* not stored: fused into its consumer */
};
/* A range of the plan's `deaths`. */
struct le_dying_values {
    int first, count;
};
struct le_contract;
struct le_device_work;
struct le_action {
    const struct le_stage *stage;
    /* the stage that code is generated for: `stage`, or a variant of it made while planning the group */
    const struct le_stage *generated;
    const char *name;            /* for tables: of the stage, and of others that its kernel computes */
    struct le_action *joined_to; /* the earlier action whose kernel computes this one, too; NULL: none */
    bool is_unstored;            /* only the kernel that computes it reads it */
    int group;
    enum le_storage_kind storage;   /* of stage.target; EACH: see `storages` */
    enum le_storage_kind *storages; /* EACH: by pair */
    bool writes_nothing;            /* an update over an empty domain */
    bool writes_all;                /* it writes its whole target, so the base need not be copied */
    struct le_launches launches;
    struct le_cpu_code *codes;          /* by launch */
    const struct le_contract *contract; /* contraction.h: runs the action instead of launches; or NULL */
    struct le_device_work *device;      /* device_plan.c: runs the action on a device instead of launches; or NULL */
    int64_t bytes;                      /* read and written, for the ledger */
    uint64_t operations;
    unsigned notes_reported; /* the kinds of notes reported in this run */
    int partner; /* action. FOR, LOOP, BREAK, TEST: the END; IF: the ELSE; ELSE: the END; END: the one that it ends */
    int64_t next, end;                    /* FOR: the index's value while the loop runs, and its end */
    struct le_dying_values dying;         /* values that no later action reads, if the next action follows */
    struct le_dying_values dying_on_exit; /* the same if a loop is left or a branch skipped */
};

/* What a group, or the code of a host scalar, depends on besides numbers. When one of these changed after it was made,
 * it is made again. */
struct le_dependencies {
    struct {
        const uint64_t **at;
        int count, capacity;
    } on;                   /* when a shape, range or layout last changed */
    uint64_t made, checked; /* times of the plan's clock; made 0: not made yet */
};
/* A number used for planning: the bits of a scalar value, or of a node's result. */
struct le_planned_number {
    struct le_node *node; /* NULL: a scalar value */
    int value;
    uint64_t bits;
};
/* A group of actions. */
struct le_plan_step {
    struct le_arena *arena;               /* the plan's; in a block its own, emptied when the group is planned again */
    bool inside;                          /* in a block */
    int first_statement, statement_count; /* their ranges are found before the actions are planned */
    int first_action, action_count;
    struct le_dependencies dependencies;
    struct {
        struct le_planned_number *at;
        int count, capacity;
    } used; /* in blocks */
};
/* A node that the host computes, with its code. The node has no indices of its own. */
struct le_host_scalar {
    struct le_host_scalar *next; /* in the same bucket of the table */
    struct le_node *node;
    enum le_type stored;
    struct le_arena arena;
    struct le_launch launch;
    struct le_cpu_code code;
    struct le_dependencies dependencies;
};

/* A scalar in device memory: 8 bytes. */
struct le_device_scalar {
    uint64_t address; /* 0: not on the device */
    struct le_allocation *allocation;
};
/* A value while a plan runs. */
struct le_cell {
    leat_array *array;                 /* of rank > 0; retained */
    leat_array *wanted;                /* a view of the caller's target, if the value is computed there; retained */
    uint64_t scalar;                   /* of rank 0, unless on_device is set */
    struct le_device_scalar on_device; /* of rank 0: only the device has it */
    bool ready;
};

#define LE_HOST_SCALAR_TABLE 64
/* Who asks for a number: the range rules, the code generator, or the code of a host scalar. */
enum le_asking { LE_ASKING_RANGES, LE_ASKING_CODE, LE_ASKING_NUMBER };
struct le_plan {
    struct le_arena arena;
    struct le_space space;
    struct le_layout *layouts; /* by value */
    struct le_action *actions; /* one for each stage that is not dead, in order */
    int action_count;
    int prefetched_actions; /* the first ones, whose kernels have been asked for ahead (device_plan.c) */
    struct le_plan_step *groups;
    int group_count;
    bool has_blocks;
    int planned; /* groups that are planned, or skipped because they are in a block */
    struct {
        int *at;
        int count, capacity;
    } deaths;   /* values */
    int *maker; /* by value: the first action that sets it; -1: an input */
    /* by value: the target's layout, for a result computed in a target that is not row-major; else NULL */
    const struct le_layout **result_layouts;
    /* By value: of one part of a complex result, computed beside the other part in an array of complex numbers, the
     * other part's value; else -1. */
    int *other_part;
    size_t scratch_bytes; /* of one worker */
    bool *is_key;         /* by symbol: a range depends on this bound number */
    bool single_use;      /* it is valid for the current data only */
    int done;             /* actions that have run; valid while none is running */
    /* the plan's clock, and when a shape (by symbol), range (by index) or layout (by value) last changed */
    uint64_t time, *shape_changed, *range_changed, *layout_changed;
    const struct le_stage *running;
    struct le_plan_step *planning; /* the group in a block that is being planned; or NULL */
    enum le_asking asking;
    struct le_host_scalar *host_scalars[LE_HOST_SCALAR_TABLE];
    leat_array **moving;          /* scratch: the arrays of one MOVE */
    struct le_cell *moving_cells; /* scratch: the numbers of one MOVE */
};

#define LE_SPARES_MAX 32
struct leat_call;
struct le_bind;
struct le_specialised {
    struct le_arena arena;
    const struct le_tree *typed; /* the program with its types, which may be complex */
    const struct le_tree *tree;  /* typed over real numbers: this one runs. The same tree if nothing is complex */
    struct le_ir *ir;
    struct le_input *inputs; /* by symbol of typed: the bound types and ranks */
    int *wanted;             /* the requested symbols, in order */
    int wanted_count;
    const struct le_input *real_inputs; /* inputs, for tree */
    int *real_wanted, *real_want_of;    /* wanted, for tree; the want that each one is a part of */
    int real_wanted_count;
    struct le_bind *bound;            /* by symbol of tree: the bindings of this run */
    struct le_kernel_work generating; /* the code generators' work space */
    struct le_plan *plan;             /* NULL: none */
    int64_t *extents;                 /* the plan's key: shapes, strides and numbers, in order */
    int extent_count;
    struct le_cell *cells; /* by value */
    bool *on_host;         /* by value of rank 0, with a device: the host has all of its operands. NULL: true for all */
    void **buffers;        /* by value */
    struct le_fault *faults; /* by worker */
    void *scratch;
    size_t scratch_bytes;
    char *work; /* memory for partial results of an action */
    size_t work_bytes;
    leat_array *part; /* LE_STORAGE_PART: where the running action writes; NULL: it writes to its target */
    int64_t part_low[LEAT_RANK_MAX], part_high[LEAT_RANK_MAX]; /* the box that the action writes */
    leat_array *spares[LE_SPARES_MAX];                         /* free arrays, for reuse while a loop runs */
    int spare_count;
};

leat_status le_specialise_call(struct leat_call *call);
void le_specialised_free(struct le_specialised *s);
void le_plan_free(struct le_plan *plan); /* NULL is fine */
/* Whether the plan was made for the currently bound extents and numbers. le_keep_extents records that it is. */
bool le_same_extents(struct leat_call *call);
leat_status le_keep_extents(struct leat_call *call);
/* Plans if needed and runs the plan. Afterwards the results are in the cells of their values. */
leat_status le_plan_run(struct leat_call *call, bool only_plan);
leat_status le_bind_inputs(struct leat_call *call); /* bind.c: puts the inputs into their cells */
/* The action that computes the value. NULL: it is an input, or MOVE stages set it. */
static inline const struct le_action *le_maker_of(const struct le_plan *plan, int value) {
    int maker = plan->maker[value];
    const struct le_action *a = maker >= 0 && maker < plan->action_count ? &plan->actions[maker] : NULL;
    return a && a->stage->kind != LE_STAGE_MOVE ? a : NULL;
}

/* Whether the stage computes its target, or the targets of its pairs. */
static inline bool le_stage_computes(const struct le_stage *stage) {
    return stage->kind <= LE_STAGE_CONTRACT;
}

/* storage.c: memory for values. */
int le_storage_base(const struct le_plan *plan, int value); /* the value whose memory it may take over; -1: none */

/* result_memory.c */
struct le_want;
void le_find_result_layouts(struct leat_call *call); /* sets the `result_layouts` of the plan */
/* What the plan depends on in the want's target: writes at most 1 + LEAT_RANK_MAX numbers, and returns how many. */
int le_result_layout_key(const struct leat_call *call, const struct le_want *want, int64_t *out);
const struct le_layout *le_result_layout(const struct le_plan *plan, int value, int rank); /* NULL: row-major */
void le_result_spread(struct le_plan *plan, int value, int rank); /* sets the layout of a complex result's part */
leat_status le_result_array_new(struct leat_call *call, enum le_type type, int rank, const struct le_layout *laid,
                                leat_array **array);
bool le_result_is_bound(const struct leat_call *call, const leat_array *target); /* an input shares memory with it */
/* Arranges for a result to be computed directly in the caller's target, if that shares no memory with an input. A
 * scalar without a target is computed in a new array. */
void le_result_place(struct leat_call *call, int want);
void le_result_keep_views(
    struct leat_call *call); /* keeps the views of targets for the next run, after all results are handed out */
/* The rank-0 array that the scalar is computed in, in a run whose wants are placed. NULL: it gets a slot of its own. */
const leat_array *le_result_scalar(const struct leat_call *call, int value);

/* liveness.c: finds where values die, once the plan's actions are listed. */
void le_find_dying_values(struct le_specialised *s);
bool le_value_dies(const struct le_plan *plan, struct le_dying_values deaths, int value);

/* siblings.c: whether the leader's kernel may compute its siblings too; not if one may read out of range or give a
 * note. */
bool le_siblings_fit(const struct le_specialised *s, const struct le_stage *leader);

/* empty_ranges.c: once the ranges of the group's statements are known, replaces stages that nothing reads because a
 * range is empty, so that they cannot fail. */
void le_find_empty_ranges(struct le_specialised *s, const struct le_plan_step *group);

/* Bytes that the stage's kernel reads and writes, for the ledger. */
int64_t le_stage_bytes(const struct le_specialised *s, const struct le_stage *stage);

/* plan_group.c: lists the actions and groups; plans a group; plans a group in a block again if what it depends on has
 * changed. */
void le_list_actions(struct le_specialised *s);
leat_status le_plan_group(struct leat_call *call, struct le_plan_step *group);
void le_plan_stop(struct le_plan *plan); /* resets the planning state after memory ran out */
leat_status le_ensure_group_planned(struct leat_call *call, struct le_plan_step *group);

/* host_scalar.c: computes nodes that have no indices except those of FOR stages. */
leat_status le_host_scalar_get(struct leat_call *call, struct le_node *node, enum le_type stored, uint64_t *bits);
/* The same for an i64. *found false, without an error: its evaluation reads out of range. */
leat_status le_host_scalar_try(struct leat_call *call, struct le_node *node, uint64_t *bits, bool *found);
/* The same for planning: the group being planned, or the plan, then depends on the number. */
leat_status le_evaluate(void *call, struct le_node *node, int64_t *value);
/* The same while an action runs, for numbers that the host already has. It runs no action and does not wait, and no
 * plan depends on the number. */
leat_status le_evaluate_on_host(void *call, struct le_node *node, int64_t *value);
bool le_planned_numbers_are_same(struct leat_call *call, const struct le_plan_step *group, leat_status *status);
void le_dependencies_add(struct le_dependencies *dependencies, struct le_arena *arena, struct le_specialised *s,
                         struct le_node *node);
bool le_dependencies_hold(struct le_dependencies *dependencies, const struct le_plan *plan);

/* perform.c: the job that runs a launch's tasks on the call's buffers, without the memory of the tasks' totals. */
struct le_cpu_job le_job_of(const struct leat_call *call, const struct le_launch *launch,
                            const struct le_cpu_code *code);
/* perform.c, control.c: runs the actions that have not run yet, up to action `until`, which is outside all blocks. */
leat_status le_perform(struct leat_call *call, int until);
leat_status le_ensure_scratch(struct leat_call *call, size_t worker_bytes);
leat_status le_ensure_work(struct leat_call *call, size_t size_bytes);
leat_status le_perform_action(struct leat_call *call, struct le_action *action);
/* Turns the fault into an error. stage: the one that was running, or NULL. */
leat_status le_report_fault(struct leat_call *call, const struct le_stage *stage, const struct le_fault *fault);
void le_report_notes(struct leat_call *call, struct le_action *action,
                     unsigned notes); /* reports each kind of note once a run */
/* failed: NULL, or set to true, instead of an error, if the code reads out of range. */
leat_status le_perform_scalar(struct leat_call *call, const struct le_launch *launch, const struct le_cpu_code *code,
                              uint64_t *bits, bool *failed);

/* storage.c: prepares the targets of an action and moves values. */
leat_status le_storage_prepare(struct leat_call *call, const struct le_action *action, bool zero);
leat_status le_storage_put_back(struct leat_call *call, const struct le_action *action,
                                leat_status status); /* copies the part */
leat_status le_storage_move(struct leat_call *call, const struct le_action *action);
void le_storage_drop(struct leat_call *call, struct le_dying_values deaths, bool in_loop);
void le_storage_drop_spares(struct le_specialised *s);

void le_cells_clear(struct le_specialised *s);
void le_cells_clear_computed(struct le_specialised *s);
leat_status le_plan_show(struct leat_call *call, leat_form form, struct le_text *out);
leat_status le_pass_show(struct leat_call *call, const char *pass, struct le_text *out); /* the IR after the pass */
#endif
