/* From bindings to results. A *specialised* program is the IR for the types and ranks that are bound. A *plan* is that
 * for one set of extents and numbers: ranges, code and memory, action by action; it is kept and run again as long as
 * these stay. An *action* is a stage that lives; a *group* are the actions of one statement, which are planned
 * together.
 *
 * Groups outside of all blocks are planned before anything runs. Where a range of theirs hangs on computed values,
 * planning stops, runs what is planned so far, reads them, and goes on; such a plan serves once. Groups in blocks are
 * planned when they are first reached, and again when they are reached and a number or shape that they hang on is
 * another: so a plan with loops may serve again, whatever the data. */
#ifndef LE_PLAN_H
#define LE_PLAN_H
#include "array/array.h"
#include "device/cpu/machine/execute.h"
#include "gen/kernel.h"
#include "run/context.h"
#include "run/program.h"

enum le_storage_kind {
    LE_STORAGE_NEW,  /* memory of its own */
    LE_STORAGE_COPY, /* the same, starting as a copy of the base */
    LE_STORAGE_BASE, /* the base's memory, if nobody else holds that when it runs: no action reads the base any more */
    LE_STORAGE_PART, /* the same; as the action itself reads the base where it writes, what it writes, a box, is made in
                      other memory and copied over when all of it is there */
    LE_STORAGE_NONE  /* none: the action that reads it makes it, too, where it reads it */
};
/* A part of the plan's `deaths`. */
struct le_dying_values {
    int first, count;
};
struct le_contract;
struct le_device_work;
struct le_action {
    const struct le_stage *stage;
    const struct le_stage *generated; /* the stage, or the same with what others of its group leave to it */
    int group;
    enum le_storage_kind storage;   /* of stage.target; EACH: of all pairs, but for `storages` */
    enum le_storage_kind *storages; /* EACH: by pair */
    bool writes_nothing;            /* an update over no values: it writes nothing */
    bool writes_all;                /* it writes all of its target: a base that it cannot take need not be copied */
    struct le_launches launches;
    struct le_cpu_code *codes;          /* by launch */
    const struct le_contract *contract; /* contraction.h: a library runs it, not launches; or NULL */
    struct le_device_work *device;      /* device_plan.c: a device's kernels run it, not launches; or NULL */
    int64_t bytes;                      /* that it reads and writes, for the ledger */
    uint64_t operations;
    unsigned notes_reported; /* notes of this run that were passed on */
    int partner;       /* action: FOR, LOOP, BREAK, TEST: the END; IF: the ELSE; ELSE: the END; END: what it ends */
    int64_t next, end; /* FOR: the index's next value while it runs */
    struct le_dying_values dying;         /* values that no action after it reads, on the way to the next action */
    struct le_dying_values dying_on_exit; /* the same on the other way: where a loop is left or a branch skipped */
};

/* What a group, or a number's code, hangs on besides numbers: when one of them is newer than it, it is made again. */
struct le_dependencies {
    struct {
        const uint64_t **at;
        int count, capacity;
    } on;                   /* times of changes: of shapes, ranges and layouts */
    uint64_t made, checked; /* times; made 0: not yet */
};
/* A number that was used for planning: a scalar value's bits, or what a node comes to. */
struct le_planned_number {
    struct le_node *node; /* NULL: a scalar value */
    int value;
    uint64_t bits;
};
struct le_plan_step {
    struct le_arena *arena;               /* the plan's; in a block one of its own, emptied when it is planned again */
    bool inside;                          /* in a block */
    int first_statement, statement_count; /* whose ranges are found before the group is planned */
    int first_action, action_count;
    struct le_dependencies dependencies;
    struct {
        struct le_planned_number *at;
        int count, capacity;
    } used; /* in blocks */
};
/* A node without indices of its own, ready to be computed again and again. */
struct le_host_scalar {
    struct le_host_scalar *next; /* of those in the same place of the table */
    struct le_node *node;
    enum le_type stored;
    struct le_arena arena;
    struct le_launch launch;
    struct le_cpu_code code;
    struct le_dependencies dependencies;
};

/* A number that lies in a device's memory: 8 bytes. */
struct le_device_scalar {
    uint64_t address; /* address; 0: nowhere */
    struct le_allocation *allocation;
};
/* A value while a plan runs. */
struct le_cell {
    leat_array *array;                 /* of rank > 0; retained */
    leat_array *wanted;                /* where the caller wants it, if it is made right there; retained */
    uint64_t scalar;                   /* of rank 0, unless it is away */
    struct le_device_scalar on_device; /* of rank 0: the device alone has it */
    bool ready;
};

#define LE_NUMBER_TABLE 64
enum le_asking { LE_ASKING_RANGES, LE_ASKING_CODE, LE_ASKING_NUMBER }; /* who wants to know a node's number */
struct le_plan {
    struct le_arena arena;
    struct le_space space;
    struct le_layout *layouts; /* by value */
    struct le_action *actions; /* by stage that lives, in order */
    int action_count;
    struct le_plan_step *groups;
    int group_count;
    bool has_blocks;
    int planned; /* groups that are planned, or passed if they stand in a block */
    struct {
        int *at;
        int count, capacity;
    } deaths;   /* values */
    int *maker; /* by value: the first action that sets it; -1: an input */
    const struct le_layout *
        *result_layouts;  /* by value: of a result that is made as it lies where it is wanted; NULL: dense */
    size_t scratch_bytes; /* of one worker */
    bool *is_key;         /* by symbol: a range hangs on this number */
    bool single_use;      /* it holds for these data alone */
    int done;             /* actions that have run, when none is running */
    /* when what a group may hang on was last changed: by symbol, index and value */
    uint64_t time, *shape_changed, *range_changed, *layout_changed;
    const struct le_stage *running;
    struct le_plan_step *planning; /* NULL: none that stands in a block */
    enum le_asking asking;
    struct le_host_scalar *numbers[LE_NUMBER_TABLE];
    leat_array **moving;          /* room for the arrays of one MOVE */
    struct le_cell *moving_cells; /* the same for numbers */
};

#define LE_SPARES_MAX 32
struct leat_call;
struct le_bind;
struct le_specialised {
    struct le_arena arena;
    const struct le_tree *typed; /* as the program is written */
    const struct le_tree *tree;  /* the same over real numbers: what runs. The same one where nothing is complex */
    struct le_ir *ir;
    struct le_input *inputs; /* by symbol of typed: what it was made for */
    int *wanted;             /* and the symbols that were asked for, in that order */
    int wanted_count;
    const struct le_input *real_inputs; /* both for tree */
    int *real_wanted, *real_want_of;    /* the second: which of `wanted` it is a part of */
    int real_wanted_count;
    struct le_bind *bound; /* by symbol of tree: what is bound for this run */
    int *merged_into;      /* the generator's work space */
    int64_t *merged_count;
    struct le_plan *plan; /* NULL: none */
    int64_t *extents;     /* what the plan was made for: shapes, strides and numbers, in order */
    int extent_count;
    struct le_cell *cells;   /* by value */
    bool *on_host;           /* by value of rank 0, for a device: the host has all that it takes. NULL: all are */
    void **buffers;          /* by value */
    struct le_fault *faults; /* by worker */
    void *scratch;
    size_t scratch_bytes;
    char *work; /* for partial results of an action */
    size_t work_bytes;
    leat_array *part; /* where an action at work makes what it writes of its target; NULL: in the target */
    int64_t part_low[LEAT_RANK_MAX], part_high[LEAT_RANK_MAX]; /* the box that it writes */
    leat_array *spares[LE_SPARES_MAX]; /* arrays that nobody holds any more, while a loop runs */
    int spare_count;
};

leat_status le_specialise_call(struct leat_call *call);
void le_specialised_free(struct le_specialised *s);
void le_plan_free(struct le_plan *plan); /* NULL is fine */
/* Whether the plan was made for the extents and numbers that are bound now; remembers that it was. */
bool le_same_extents(struct leat_call *call);
leat_status le_keep_extents(struct leat_call *call);
/* Runs: plans if need be. The results are in their values' cells. */
leat_status le_plan_run(struct leat_call *call, bool only_plan);
leat_status le_bind_inputs(struct leat_call *call); /* bind.c: inputs to their cells */
/* The action that computes the value; NULL: an input, or a value that MOVE stages set. */
static inline const struct le_action *le_maker_of(const struct le_plan *plan, int value) {
    int maker = plan->maker[value];
    const struct le_action *a = maker >= 0 && maker < plan->action_count ? &plan->actions[maker] : NULL;
    return a && a->stage->kind != LE_STAGE_MOVE ? a : NULL;
}

/* It computes its target, or those of its pairs. */
static inline bool le_stage_computes(const struct le_stage *stage) {
    return stage->kind <= LE_STAGE_CONTRACT;
}

/* storage.c: memory for values. */
int le_storage_base(const struct le_plan *plan, int value); /* the value whose memory it takes, if it may; -1: none */

/* result_memory.c */
struct le_want;
void le_find_result_layouts(struct leat_call *call); /* the plan's `laid` */
/* What a plan hangs on besides: numbers, into out if that is not NULL; returns how many. */
int le_result_layout_key(const struct leat_call *call, const struct le_want *want, int64_t *out);
const struct le_layout *le_result_layout(const struct le_plan *plan, int value, int rank); /* NULL: it is dense */
leat_status le_result_array_new(struct leat_call *call, enum le_type type, int rank, const struct le_layout *laid,
                                leat_array **array);
/* A result that may be computed right where the caller wants it, apart from every input, goes there: a number, for
 * which no array is given, in a new one. */
void le_result_place(struct leat_call *call, int want);
void le_result_keep_views(struct leat_call *call); /* that it has made, after all was handed out */
/* The array of rank 0 that the number is made in, in a run whose wants are placed; NULL: it has a place of its own. */
const leat_array *le_result_scalar(const struct leat_call *call, int value);

/* liveness.c: where values die, for a plan whose actions are listed. */
void le_find_dying_values(struct le_specialised *s);
bool le_value_dies(const struct le_plan *plan, struct le_dying_values deaths, int value);

/* empty_ranges.c: sees to it that nothing fails that nobody reads, once the ranges of the group's statements are known.
 */
void le_find_empty_ranges(struct le_specialised *s, const struct le_plan_step *group);

/* plan_group.c: lists the actions and groups; plans a group; sees to it that one in a block is planned for what is now.
 */
void le_list_actions(struct le_specialised *s);
leat_status le_plan_group(struct leat_call *call, struct le_plan_step *group);
void le_plan_stop(struct le_plan *plan); /* memory ran out in the middle: nobody plans, nobody asks */
leat_status le_ensure_group_planned(struct leat_call *call, struct le_plan_step *group);

/* host_scalar.c: nodes without indices, but for those of FOR stages. */
leat_status le_host_scalar_get(struct leat_call *call, struct le_node *node, enum le_type stored, uint64_t *bits);
/* An i64; not found, which is no error: its evaluation reads outside of an array. */
leat_status le_host_scalar_try(struct leat_call *call, struct le_node *node, uint64_t *bits, bool *found);
/* The same for planning: the group that is planned hangs on it, or the plan does. */
leat_status le_evaluate(void *call, struct le_node *node, int64_t *value);
/* The same while an action runs: only numbers that the host has. It runs nothing, waits for nothing, and no plan
 * depends on it. */
leat_status le_evaluate_on_host(void *call, struct le_node *node, int64_t *value);
bool le_planned_numbers_are_same(struct leat_call *call, const struct le_plan_step *group, leat_status *status);
void le_dependencies_add(struct le_dependencies *dependencies, struct le_arena *arena, struct le_specialised *s,
                         struct le_node *node);
bool le_dependencies_hold(struct le_dependencies *dependencies, const struct le_plan *plan);

/* perform.c, control.c: runs the actions that have not run yet, up to that one, which stands outside of all blocks. */
leat_status le_perform(struct leat_call *call, int until);
leat_status le_ensure_scratch(struct leat_call *call, size_t worker_bytes);
leat_status le_ensure_work(struct leat_call *call, size_t size_bytes);
leat_status le_perform_action(struct leat_call *call, struct le_action *action);
/* Of the stage, which may be NULL where none runs. */
leat_status le_report_fault(struct leat_call *call, const struct le_stage *stage, const struct le_fault *fault);
void le_report_notes(struct leat_call *call, struct le_action *action, unsigned notes); /* each kind once a run */
/* failed: NULL, or where to say instead of an error that it read outside of an array. */
leat_status le_perform_scalar(struct leat_call *call, const struct le_launch *launch, const struct le_cpu_code *code,
                              uint64_t *bits, bool *failed);

/* storage.c, too */
leat_status le_storage_prepare(struct leat_call *call, const struct le_action *action, bool zero);
leat_status le_storage_put_back(struct leat_call *call, const struct le_action *action,
                                leat_status status); /* the part */
leat_status le_storage_move(struct leat_call *call, const struct le_action *action);
void le_storage_drop(struct leat_call *call, struct le_dying_values deaths, bool in_loop);
void le_storage_drop_spares(struct le_specialised *s);

void le_cells_clear(struct le_specialised *s);
void le_cells_clear_computed(struct le_specialised *s);
leat_status le_plan_show(struct leat_call *call, leat_form form, struct le_text *out);
leat_status le_pass_show(struct leat_call *call, const char *pass, struct le_text *out); /* the IR after that pass */
#endif
