/* A call: one thread's bindings of a program, what was made for them (the IR for their types, the plan for their
 * shapes), and the results of its last run. One thread at a time. */
#ifndef LE_CALL_H
#define LE_CALL_H
#include "array/array.h"
#include "run/plan/plan.h"
#include "run/program.h"

enum le_bound { LE_BOUND_NOT, LE_BOUND_ARRAY, LE_BOUND_NUMBER };
struct le_bind {
    enum le_bound kind;
    leat_array *array; /* retained */
    enum le_type type; /* of a number: bool, weak int, weak float, weak complex, or u64 */
    uint64_t bits;     /* its bytes; of a complex one the real part's */
    uint64_t im_bits;
};
struct le_want {
    int symbol;
    leat_array *target; /* retained; NULL: a new array */
    bool is_fresh;      /* asked for since the last run */
    leat_array *result; /* of the last run, or of this one, if it is `number`; retained */
    int placed_array;   /* by the last run: the value that is made in the target; -1: none */
    int placed_scalar;  /* the same of rank 0, where kernels write it: in the target, or else in `result` */
    leat_array *view;   /* of the target, kept for that value from one run to the next; NULL: none is */
};

struct le_device_run;
struct leat_call {
    leat_program *program; /* retained */
    struct le_bind *binds; /* by symbol */
    struct le_want *wants;
    int want_count, want_capacity;
    int *want_of;                       /* by symbol: 1 + its number in wants; 0: it is not asked for */
    bool targets_apart;                 /* it is known that no two wants' targets share memory */
    bool has_targets;                   /* some want has a target; known when results are handed out */
    bool default_wants;                 /* wants are the program's own results */
    struct le_specialised *specialised; /* NULL: none yet */
    struct le_array_home home;          /* of new arrays; its stream is that of the run */
    struct le_device_run *device;       /* device_run.h; NULL on the CPU */
    bool has_foreign_inputs;            /* some input is, or was, of another device's context */
    bool stale;                         /* it ran out of memory in the middle of planning: make it anew */
    bool wants_placed;                  /* by the last run: the wants, before its plan began */
    bool steady; /* all is as the last run, which went well, has left it: nothing is compared or bound again */
};

leat_status le_call_new(leat_program *program, leat_call **call);
void le_call_free(leat_call *call);
leat_status le_call_set_array(leat_call *call, const char *name, leat_array *array); /* NULL unbinds */
leat_status le_call_set_number(leat_call *call, const char *name, enum le_type type, uint64_t bits);
leat_status le_call_set_complex(leat_call *call, const char *name, double re, double im);
leat_status le_call_want(leat_call *call, const char *name, leat_array *array);
void le_call_want_clear(leat_call *call);
void le_call_unbind(leat_call *call); /* all of it; what was made for it is kept */
/* stream: of the context's device, which matters where that is not the CPU. On another device it may return before the
 * work is done: faults in the data, if there may be some, are waited for. */
leat_status le_call_run(leat_call *call, struct le_device_stream *stream);
/* Between arrays of a run, in its stream; with a cost of that name and cause. */
leat_status le_call_copy(leat_call *call, const leat_array *target, const leat_array *source, const char *what,
                         const char *cause);
/* A cell's number into an array of rank 0. */
leat_status le_call_store(leat_call *call, const leat_array *target, const struct le_cell *cell, const char *what);
/* The IR and the plan for what is bound, without running. */
leat_status le_call_prepare(leat_call *call);
/* complex_values.c: s->bound, what the symbols of a program of real parts are bound to; what nobody needs any more
 * goes. */
leat_status le_complex_bind(struct leat_call *call);
void le_complex_unbind(struct le_specialised *s);
void le_complex_forget(struct le_specialised *s, int symbol);
bool le_is_complex_result(const struct le_specialised *s, int symbol);
leat_status le_complex_deliver(struct leat_call *call, struct le_want *w);
leat_status le_new_result(struct leat_call *call, struct le_want *w, int value); /* an array for it */
const struct le_want *le_call_result(const leat_call *call, const char *name);
#endif
