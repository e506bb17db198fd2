/* A call holds the bindings of a program, the IR specialised for their types, the plan for their shapes, and the
 * results of the last run. A call may be used by one thread at a time. */
#ifndef LE_CALL_H
#define LE_CALL_H
#include "array/array.h"
#include "base/cancel.h"
#include "run/plan/plan.h"
#include "run/program.h"

enum le_bound { LE_BOUND_NOT, LE_BOUND_ARRAY, LE_BOUND_NUMBER };
struct le_bind {
    enum le_bound kind;
    leat_array *array; /* retained */
    enum le_type type; /* of a number: bool, weak int, weak float, weak complex or u64 */
    uint64_t bits;     /* of a number; of its real part if it is complex */
    uint64_t im_bits;
};
/* A result that the caller asks for. */
struct le_want {
    int symbol;
    leat_array *target; /* retained; NULL: the result goes into a new array */
    bool is_fresh;      /* requested since the last run */
    bool is_memory;     /* the target is one of the call's `result_memory` */
    leat_array *result; /* of the last run, or of the current one if placed_scalar is set; retained */
    int placed_array;   /* the array value that the last run computed directly in the target; -1: none */
    int placed_scalar;  /* the rank-0 value that kernels wrote directly into the target, or else into `result`; -1: none
                         */
    leat_array *view;   /* a view of the target, kept for placed_array from one run to the next; or NULL */
};

/* Memory of the caller's, shown by an array that only the call uses. */
struct le_call_memory {
    leat_array *array;            /* NULL: not made yet */
    leat_description description; /* what the array shows while it is bound */
};

struct le_device_run;
struct leat_call {
    leat_program *program;                               /* retained */
    struct le_bind *binds;                               /* by symbol */
    struct le_call_memory *input_memory, *result_memory; /* by symbol; NULL: never used */
    struct le_want *wants;
    int want_count, want_capacity;
    int *want_of;                       /* by symbol: 1 + its index in wants; 0: not requested */
    bool targets_are_disjoint;          /* checked: no two targets share memory */
    bool has_targets;                   /* some want has a target; set when results are handed out */
    bool default_wants;                 /* wants are the program's default results */
    struct le_specialised *specialised; /* NULL: not specialised yet */
    struct le_array_home home;          /* where new arrays are allocated; its stream is the stream of the run */
    struct le_device_run *device;       /* device_run.h; NULL on the CPU */
    struct le_cancel cancel;            /* of the run in progress */
    bool has_foreign_inputs;            /* some input belongs, or belonged, to another context's device */
    bool stale;                         /* planning ran out of memory: specialise again */
    bool wants_placed;                  /* the last run placed the wants before its plan began */
    bool steady; /* nothing changed since the last run, which succeeded: the next run skips all comparing and binding */
};

leat_status le_call_new(leat_program *program, leat_call **call);
void le_call_free(leat_call *call);
/* call_inputs.c. symbol: an input's ID. Binding what is bound already leaves the call steady. */
leat_status le_call_find_input(const leat_call *call, const char *name, int *symbol);
leat_status le_call_set_array(leat_call *call, int symbol, leat_array *array); /* NULL unbinds */
leat_status le_call_set_number(leat_call *call, int symbol, enum le_type type, uint64_t bits);
leat_status le_call_set_complex(leat_call *call, int symbol, double re, double im);
/* Bind memory of the caller's to an input or as the target of a result, as leat_call_set_memory_at says. */
leat_status le_call_set_memory(leat_call *call, int symbol, const leat_description *description);
leat_status le_call_want_memory(leat_call *call, int symbol, const leat_description *description);
/* Before a run on a device: orders the run after the stream's earlier copies of such memory. */
void le_call_follow_stream(leat_call *call, const struct le_device_stream *stream);
/* After a run on a device that failed: waits for the work on memory of the caller's. */
void le_call_drain(leat_call *call);
void le_call_memory_free(const leat_call *call, struct le_call_memory *table);
/* call_wants.c. symbol: the ID of any symbol that has a name. */
leat_status le_call_find_want(const leat_call *call, const char *name, int *symbol);
leat_status le_call_want(leat_call *call, int symbol, leat_array *array);
void le_call_want_clear(leat_call *call);
leat_status le_call_default_wants(leat_call *call); /* cannot fail after it has succeeded once */
void le_call_drop_wants(leat_call *call);
void le_call_drop_results(leat_call *call);
void le_call_drop_result(leat_call *call, int symbol);
leat_status le_call_check_disjoint(leat_call *call);                     /* no two targets may share memory */
const struct le_want *le_call_result(const leat_call *call, int symbol); /* NULL: not requested */
void le_call_unbind(leat_call *call); /* unbinds everything; keeps the IR and the plan */
/* stream: of the context's device; ignored on the CPU. On other devices the function may return before the work is
 * done, but it waits if the program may find faults in the data. */
leat_status le_call_run(leat_call *call, struct le_device_stream *stream);
leat_status le_call_complete(leat_call *call, struct le_device_stream *stream); /* and waits for its work */
/* Copies between arrays of a run, in the run's stream. The ledger records the copy under `what` and `cause`. */
leat_status le_call_copy(leat_call *call, const leat_array *target, const leat_array *source, const char *what,
                         const char *cause);
/* Writes a cell's scalar into an array of rank 0. */
/* Fails if the value of the result `name` has not the target's shape. They have the same number of axes. */
leat_status le_call_check_shape(const char *name, const leat_array *value, const leat_array *target);
leat_status le_call_store(leat_call *call, const leat_array *target, const struct le_cell *cell, const char *what);
/* Specialises the program for what is bound and checks the targets, without planning or running. */
leat_status le_call_prepare(leat_call *call);
/* complex_values.c. le_complex_bind sets s->bound: the bindings of the program over real numbers. The others release
 * these bindings, or the imaginary part of one input. */
leat_status le_complex_bind(struct leat_call *call);
void le_complex_unbind(struct le_specialised *s);
void le_complex_forget(struct le_specialised *s, int symbol);
bool le_is_complex_result(const struct le_specialised *s, int symbol);
/* A view of the value's elements in a new array of complex numbers, or in the caller's target. The other part is going
 * to be computed beside it. */
leat_status le_complex_part_new(struct leat_call *call, int value, leat_array **array);
leat_status le_complex_deliver(struct leat_call *call, struct le_want *w);
leat_status le_new_result(struct leat_call *call, struct le_want *w, int value); /* allocates w->result for the value */
#endif
