/* A call in the context of a device: what goes another way there than on the CPU. Actions become kernels of the
 * device's (device_plan.c), which are enqueued in the run's stream (device_perform.c); numbers lie with the host or
 * with the device, and go where they are needed (device_values.c); inputs that kernels do not reach are uploaded, and
 * faults are looked for at the end (device_call.c).
 *
 * `call->device` is NULL on the CPU; what is here may be asked only where it is not, unless it says otherwise. */
#ifndef LE_DEVICE_RUN_H
#define LE_DEVICE_RUN_H
#include "gen/device_code.h"
#include "run/call.h"
#include "run/compiled_code.h"

/* A record of faults for each time that an action runs which may fault, so that they are found in order. */
enum { LE_DEVICE_RECORDS = 1024, LE_DEVICE_ELEMENTS = 16 };

struct le_device_run {
    /* inputs, by symbol of the typed tree: as call->binds, but for arrays that kernels do not reach, whose elements are
     * in `uploads` */
    struct le_bind *binds;
    leat_array **uploads;
    bool is_late; /* some of them, or of what is wanted, are late: le_device_settle */
    /* 8 bytes for each number that kernels make, so many that one is free when all cells have one */
    struct le_allocation *slots;
    int *slot_users, slot_count, next_slot;
    struct le_allocation *records;
    struct le_action **record_actions;
    int record_count, record_first; /* taken; of those that were not looked at yet */
    struct le_allocation *work;     /* for partial results of an action */
    struct le_allocation *counters; /* all 0, but while an action is at work */
    struct le_allocation *fetched;  /* page-locked, for a number on its way to the host */
    struct {
        struct le_mirror {
            int value;
            void *memory, *owned, *before; /* owned: NULL, if it is one of `elements`; the buffer's address before */
            size_t size_bytes;
        } * at;
        int count, capacity;
    } mirrors; /* host copies, or one element, of arrays, for the numbers that are being worked out */
    struct {
        struct le_node **at;
        int count, capacity;
    } loads; /* the same: nodes that load */
    bool out_of_memory;
    uint64_t elements[LE_DEVICE_ELEMENTS];
    const char *cause; /* why the host needs a number; NULL: the action that control.c is at says it */
};

/* What the device does for an action: launches, ready but for what is another from one run to the next. In the arena
 * of its group, but for the kernels that it holds. */
struct le_device_step {
    struct le_loaded_code *code;
    const struct le_generated_launch *generated;
    struct le_kernel_launch launch;
    struct le_replay replay;
    struct le_launch_argument *arguments;
    union le_device_value {
        uint64_t address;
        int64_t number;
        struct le_scalar scalar;
    } * values;                     /* of the arguments */
    struct le_allocation_use *uses; /* of numbers */
};
struct le_device_result { /* a number that the action makes */
    int value, base;      /* values; base -1: it does not start as one */
    struct le_device_scalar on_device;
};
struct le_device_work {
    struct le_generated_launches launches;
    struct le_device_step *steps;
    int step_count;
    struct {
        struct le_device_result *at;
        int count, capacity;
    } results;
    struct le_device_contract *contract; /* NULL: kernels make it */
    bool by_leader;                      /* the kernel of the stage that leads it makes it */
    bool zero;                           /* FILL: with zeros, which needs no kernel */
    bool may_report;                     /* a fault, or notes */
};

/* ---- device_call.c */
leat_status le_device_run_new(struct leat_call *call);                              /* on the CPU it makes nothing */
void le_device_run_free(struct leat_call *call);                                    /* the same */
leat_status le_device_specialise(struct leat_call *call, struct le_specialised *s); /* the same */
void le_device_unbind(struct leat_call *call);
/* What is kept from the run before goes, but for the inputs. */
leat_status le_device_reset(struct leat_call *call);
/* Where kernels reach the inputs: what the run binds. */
leat_status le_device_bind(struct leat_call *call);
/* Gives late arrays their memory, and uploads what waited for it. */
leat_status le_device_settle(struct leat_call *call);
/* The same, where it is due: before the plan runs, and after its first kernels are compiled, for which the device need
 * not be there. */
leat_status le_device_begin(struct leat_call *call);
bool le_device_can_write(const leat_array *array); /* kernels write a result right there */
/* An input of rank 0: stays where it is, if it is of the type that the program has for it. */
leat_status le_device_bind_scalar(struct leat_call *call, int symbol, struct le_cell *cell, bool *bound);
/* A record for an action that is about to run. */
leat_status le_device_new_record(struct leat_call *call, struct le_action *action, uint64_t *address);
/* Faults and notes of what is done by now; wait: of all that was enqueued. */
leat_status le_device_check_records(struct leat_call *call, bool wait);
/* After all else of a run; done: of one that went well. */
void le_device_end(struct leat_call *call, bool done);

/* ---- device_values.c */
void le_device_scalar_release(struct leat_call *call, struct le_cell *cell);      /* the number, wherever it is */
void le_device_scalar_retain(struct leat_call *call, const struct le_cell *cell); /* once more */
leat_status le_device_new_slot(struct leat_call *call, struct le_device_scalar *on_device); /* held once */
leat_status le_device_fetch(struct leat_call *call, int value);
/* Before the host works out a node: brings what it loads to the host; mark: for le_device_release_mirrors, whatever
 * happens. */
leat_status le_device_fetch_operands(struct leat_call *call, struct le_node *node, int *mark);
void le_device_release_mirrors(struct leat_call *call, int mark);
/* The number in a cell into an array of rank 0. */
leat_status le_device_store_scalar(struct leat_call *call, const leat_array *target, const struct le_cell *cell,
                                   const char *name);
/* A dense copy, whose bools are 0 or 1. */
leat_status le_device_clean_copy(struct leat_call *call, const leat_array *target, const leat_array *source,
                                 const char *name);
uint64_t le_device_address(const leat_array *array); /* as kernels see the first element; 0: they do not */

/* ---- device_plan.c */
/* A stage that kernels make: not where the host has all that a number needs. Also on the CPU. */
bool le_device_computes(const struct leat_call *call, const struct le_stage *stage);
leat_status le_device_plan(struct leat_call *call, struct le_plan_step *group, struct le_action *action);
leat_status le_device_load_code(struct leat_call *call, struct le_action *action); /* its kernels, for when it runs */
bool le_device_code_is_loaded(const struct le_action *action);
/* The same without waiting for a compiler. true: none of them is on its way, so that le_device_load_code need not wait
 * for one, unless what one came to was an error. */
bool le_device_request_code(struct leat_call *call, struct le_action *action, enum le_code_wish wish);
void le_device_work_finish(struct le_action *action); /* the same; any action */
void le_device_show(const struct le_action *action, struct le_text *out);

/* ---- device_contract.c */
/* action->device->contract, if a library of the device's makes the stage. */
leat_status le_device_contract_plan(struct leat_call *call, struct le_plan_step *group, struct le_action *action);
bool le_device_contract_is_sure(const struct le_device_contract *contract); /* it needs no kernel besides */
bool le_device_contract_can_run(const struct leat_call *call, const struct le_device_contract *contract);
leat_status le_device_contract_run(struct leat_call *call, const struct le_action *action);
void le_device_contract_show(const struct le_device_contract *contract, struct le_text *out);

/* ---- device_interpret.c */
struct le_interpretation; /* one run of an action by the interpreter */
/* NULL: compiled kernels make it; their code may have come by now. */
struct le_interpretation *le_interpretation_new(struct leat_call *call, struct le_action *action);
leat_status le_interpretation_run(struct le_interpretation *n); /* once its targets are placed */
void le_interpretation_free(struct le_interpretation *n);       /* NULL is fine */

/* ---- device_perform.c */
const struct le_device_scalar *le_device_find_result(const struct le_device_work *w,
                                                     int value); /* where the action makes it */
/* Where a value's elements are while the action runs; a base that the target has taken is there. target: as what the
 * action makes. */
const leat_array *le_device_array_of(const struct leat_call *call, const struct le_action *action, int value,
                                     bool target);
leat_status le_device_perform(struct leat_call *call, struct le_action *action);
#endif
