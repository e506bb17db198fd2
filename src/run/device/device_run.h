/* The device's part of a call: what works differently on a device than on the CPU. Actions become device kernels
 * (device_plan.c), which are enqueued in the run's stream (device_perform.c). Scalars live on the host or on the device
 * and are copied where they are needed (device_values.c). Inputs that kernels cannot reach are uploaded, and faults are
 * collected at the end of a run (device_call.c).
 *
 * `call->device` is NULL on the CPU. The functions here require that it is not NULL, unless their comment says
 * otherwise. */
#ifndef LE_DEVICE_RUN_H
#define LE_DEVICE_RUN_H
#include "gen/device_code.h"
#include "run/call.h"
#include "run/compiled_code.h"

/* Each execution of an action that may fault gets its own fault record, so that faults are found in order. */
enum { LE_DEVICE_RECORDS = 1024, LE_DEVICE_ELEMENTS = 16 };

struct le_device_run {
    /* by symbol of the typed tree: call->binds, with arrays that kernels cannot reach replaced by their `uploads` */
    struct le_bind *binds;
    leat_array **uploads;
    bool has_deferred; /* some input or target has no memory yet: le_device_materialize */
    /* 8 bytes for each scalar that kernels compute; enough that one is free even if every cell uses one */
    struct le_allocation *slots;
    int *slot_users, slot_count, next_slot;
    struct le_allocation *records;
    struct le_action **record_actions;
    int record_count, record_first; /* records in use; the first one that is not checked yet */
    struct le_allocation *work;     /* memory for partial results of an action */
    struct le_allocation *counters; /* all 0 except while an action runs */
    struct le_allocation *fetched;  /* pinned: a scalar on its way to the host */
    struct {
        struct le_mirror {
            int value;
            void *memory, *owned; /* owned: NULL if memory is one of `elements` */
            void *before;         /* the buffer's address before */
            size_t size_bytes;
        } * at;
        int count, capacity;
    } mirrors; /* host copies of arrays, or of one element, for the host scalars being computed */
    struct {
        struct le_node **at;
        int count, capacity;
    } loads; /* the load nodes of the host scalars being computed */
    bool out_of_memory;
    uint64_t elements[LE_DEVICE_ELEMENTS];
    const char *cause; /* for the ledger, why the host needs a scalar; NULL: derived from the running action */
};

/* One launch of an action, complete except for the arguments that change from run to run. It lives in the arena of its
 * group, except for the kernel that it holds. */
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
    } * values;                     /* the values of the arguments */
    struct le_allocation_use *uses; /* the scalars in device memory that the launch reads */
};
struct le_device_result { /* a scalar that the action computes */
    int value, base;      /* values; base: the initial value; -1: none */
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
    struct le_device_contract *contract; /* computed by a library; NULL: computed by kernels */
    bool by_leader;                      /* computed by the kernel of the stage's leader */
    bool zero;                           /* FILL with zeros, which needs no kernel */
    bool may_report;                     /* some launch may report a fault or notes */
    struct le_action *also[LE_ALSO_MAX]; /* later actions that its kernel computes, too */
    const struct le_stage *alone;        /* its own stage, before others were joined to it; NULL: none were */
    int also_count;
};

/* ---- device_call.c */
leat_status le_device_run_new(struct leat_call *call);                              /* does nothing on the CPU */
void le_device_run_free(struct leat_call *call);                                    /* does nothing on the CPU */
leat_status le_device_specialise(struct leat_call *call, struct le_specialised *s); /* does nothing on the CPU */
void le_device_unbind(struct leat_call *call);
/* Discards the state of the last run, except for the inputs. */
leat_status le_device_reset(struct leat_call *call);
/* Sets `binds`: uploads the inputs that kernels cannot reach. */
leat_status le_device_bind(struct leat_call *call);
/* Allocates the memory of deferred arrays (array.h) and makes the uploads that waited for it. */
leat_status le_device_materialize(struct leat_call *call);
/* Called before the plan runs: first compiles its first kernels, which does not need the device to be open yet, then
 * materializes the deferred arrays. */
leat_status le_device_begin(struct leat_call *call);
bool le_device_can_write(const leat_array *array); /* kernels can write a result directly to it */
/* An input of rank 0. *bound: it stays where it is, because it has the type that the program uses. */
leat_status le_device_bind_scalar(struct leat_call *call, int symbol, struct le_cell *cell, bool *bound);
/* Allocates a fault record for an action that is about to run. */
leat_status le_device_new_record(struct leat_call *call, struct le_action *action, uint64_t *address);
/* Reports faults and notes of the work done so far; wait: of all enqueued work. */
leat_status le_device_check_records(struct leat_call *call, bool wait);
/* Called at the end of a run; done: it succeeded. */
void le_device_end(struct leat_call *call, bool done);

/* ---- device_values.c */
void le_device_scalar_release(struct leat_call *call, struct le_cell *cell);      /* releases the cell's slot */
void le_device_scalar_retain(struct leat_call *call, const struct le_cell *cell); /* holds the cell's slot once more */
leat_status le_device_new_slot(struct leat_call *call, struct le_device_scalar *on_device); /* a slot, held once */
leat_status le_device_fetch(struct leat_call *call,
                            int value); /* copies the scalar to the host if only the device has it */
/* Before the host computes a node: copies the operands of its loads to the host. The caller passes *mark to
 * le_device_release_mirrors, also after a failure. */
leat_status le_device_fetch_operands(struct leat_call *call, struct le_node *node, int *mark);
void le_device_release_mirrors(struct leat_call *call, int mark);
/* Writes the scalar of a cell into an array of rank 0. */
leat_status le_device_store_scalar(struct leat_call *call, const leat_array *target, const struct le_cell *cell,
                                   const char *name);
/* Copies the source to a dense target; bools become 0 or 1. */
leat_status le_device_clean_copy(struct leat_call *call, const leat_array *target, const leat_array *source,
                                 const char *name);
uint64_t le_device_address(const leat_array *array); /* of the first element, for kernels; 0: kernels cannot reach it */

/* ---- device_plan.c */
struct le_device_facts le_device_facts_of(struct leat_call *call);
/* The predicted time of the action's kernels; 0: unknown. */
leat_status le_device_predict(struct leat_call *call, struct le_plan_step *group, const struct le_action *action,
                              double *seconds);
/* Whether the device computes the stage. The host computes scalars whose operands it has. May be called on the CPU. */
bool le_device_computes(const struct leat_call *call, const struct le_stage *stage);
leat_status le_device_plan(struct leat_call *call, struct le_plan_step *group, struct le_action *action);
leat_status le_device_load_code(struct leat_call *call, struct le_action *action); /* loads its kernels */
bool le_device_code_is_loaded(const struct le_action *action);
/* The same without waiting for a compiler. Returns true if no kernel is still being compiled: le_device_load_code then
 * waits only for kernels whose compilation failed. */
bool le_device_request_code(struct leat_call *call, struct le_action *action, enum le_code_wish wish);
/* The value of the other part, if both parts of complex numbers lie side by side in memory; -1: they do not. */
int le_device_other_part(const struct leat_call *call, int value, bool *is_imaginary);
struct le_device_facts le_device_facts_of(struct leat_call *call);
struct le_device_kernel_job le_device_job(struct leat_call *call, struct le_plan_step *group,
                                          const struct le_action *action, const struct le_device_facts *facts);
void le_device_make_steps(struct le_plan_step *group, struct le_action *action); /* of its generated launches */
void le_device_work_finish(struct le_action *action); /* releases its kernels; any action, also on the CPU */
void le_device_show(const struct le_action *action, struct le_text *out);

/* ---- device_permute.c: copies of arrays in another order, by the kernels that a statement such as y[i,j] = x[j,i] has
 */
struct le_permutation;
struct le_contract_copy;
struct le_strided_memory { /* what a permutation reads or writes */
    struct le_allocation *allocation;
    uint64_t address; /* of the first element */
};
/* Plans copying between an array and its copy, whose elements have the type. back: from the copy to the array. name: of
 * the statement. The permutation lives in the group's arena. */
leat_status le_permutation_new(struct leat_call *call, struct le_plan_step *group, const struct le_contract_copy *copy,
                               enum le_type type, bool back, const char *name, struct le_permutation **out);
leat_status le_permutation_run(struct leat_call *call, struct le_permutation *permutation,
                               const struct le_strided_memory *from, const struct le_strided_memory *to);
void le_permutation_finish(struct le_permutation *permutation); /* releases its kernels; NULL is fine */
void le_permutation_show(const struct le_permutation *permutation, const char *what, struct le_text *out);
/* ---- device_fuse.c */
/* Whether the action needs no kernel, because its only reader, a later action of the group, computes it where it reads
 * it. */
bool le_device_make_in_reader(struct leat_call *call, struct le_plan_step *group, const struct le_action *action);
/* Whether an earlier action's kernel now computes the action as well. */
bool le_device_join_earlier(struct leat_call *call, struct le_plan_step *group, struct le_action *action,
                            leat_status *status);

/* ---- device_contract.c */
/* Sets action->device->contract if a library computes the stage. */
leat_status le_device_contract_plan(struct leat_call *call, struct le_plan_step *group, struct le_action *action);
bool le_device_contract_is_sure(const struct le_device_contract *contract); /* it needs no kernel as a fallback */
bool le_device_contract_can_run(const struct leat_call *call, const struct le_device_contract *contract);
leat_status le_device_contract_run(struct leat_call *call, const struct le_action *action);
void le_device_contract_finish(struct le_device_contract *contract); /* releases its kernels; NULL is fine */
void le_device_contract_show(const struct le_device_contract *contract, struct le_text *out);

/* ---- device_interpret.c */
struct le_interpretation; /* one execution of an action by the interpreter */
/* NULL: compiled kernels run the action; their code may have been loaded in the meantime. */
struct le_interpretation *le_interpretation_new(struct leat_call *call, struct le_action *action);
leat_status le_interpretation_run(struct le_interpretation *n); /* after its targets are prepared */
void le_interpretation_free(struct le_interpretation *n);       /* NULL is fine */

/* ---- device_perform.c */
const struct le_device_scalar *le_device_find_result(const struct le_device_work *w,
                                                     int value); /* where the action writes it */
/* The array with a value's elements while the action runs. If the target took over the memory of its base, the base's
 * elements are in the target's array. target: the value as the action writes it. */
const leat_array *le_device_array_of(const struct leat_call *call, const struct le_action *action, int value,
                                     bool target);
leat_status le_device_perform(struct leat_call *call, struct le_action *action);
#endif
