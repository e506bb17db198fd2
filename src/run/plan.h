/* From bindings to results. A *specialised* program is the IR for the types and ranks that are bound. A *plan* is that
 * for one set of extents and numbers: ranges, code and memory, action by action; it is kept and run again as long as
 * these stay. Where a range hangs on computed values, planning stops, runs what is planned so far, reads them, and goes
 * on; such a plan serves once. */
#ifndef LE_PLAN_H
#define LE_PLAN_H
#include "array/array.h"
#include "device/cpu/execute.h"
#include "gen/kernel.h"
#include "run/context.h"
#include "run/program.h"

enum le_memory_plan {
    LE_PLACE_NEW,  /* memory of its own */
    LE_PLACE_COPY, /* the same, starting as a copy of the base */
    LE_PLACE_BASE  /* the base's memory: nobody reads that any more */
};
struct le_action {
    const struct le_stage *stage;
    enum le_memory_plan place;
    struct le_launches launches;
    struct le_cpu_code *codes; /* by launch */
    int64_t bytes;             /* that it reads and writes, for the ledger */
};

/* A value while a plan runs. */
struct le_cell {
    leat_array *array; /* of rank > 0; retained */
    uint64_t scalar;   /* of rank 0 */
    bool ready;
};

struct le_plan {
    struct le_arena arena;
    struct le_space space;
    struct le_layout *layouts; /* by value */
    struct {
        struct le_action *at;
        int count, capacity;
    } actions;
    int *last_use;           /* by value: the last action that reads it; INT_MAX: a result */
    int *dying, *dying_next; /* by action: the first value it is the last to read; by value: the next one; -1: none */
    enum le_memory_plan *placed; /* by value */
    size_t scratch_bytes;        /* of one worker */
    bool *keyed;                 /* by symbol: a range hangs on this number */
    bool once;                   /* it holds for these data alone */
    int done;                    /* actions that have run */
};

struct leat_call;
struct le_specialised {
    struct le_arena arena;
    const struct le_tree *tree;
    struct le_ir *ir;
    struct le_input *inputs; /* by symbol: what it was made for */
    int *wanted;             /* and the symbols that were asked for, in that order */
    int wanted_count;
    int *merged_into; /* the generator's work space */
    int64_t *merged_count;
    struct le_plan *plan; /* NULL: none */
    int64_t *extents;     /* what the plan was made for: shapes, strides and numbers, in order */
    int extent_count;
    struct le_cell *cells;   /* by value */
    void **buffers;          /* by value */
    struct le_fault *faults; /* by worker */
    void *scratch;
    size_t scratch_bytes;
};

leat_status le_specialise_call(struct leat_call *call);
void le_specialised_free(struct le_specialised *s);
void le_plan_free(struct le_plan *plan); /* NULL is fine */
/* Whether the plan was made for the extents and numbers that are bound now; remembers that it was. */
bool le_same_extents(const struct leat_call *call);
leat_status le_keep_extents(struct leat_call *call);
/* Runs: plans if need be. The results are in their values' cells. */
leat_status le_plan_run(struct leat_call *call, bool only_plan);
/* perform.c: runs the actions that have not run yet. */
leat_status le_perform(struct leat_call *call);
/* A node without indices, as it is stored in an array of that type. */
leat_status le_perform_scalar(struct leat_call *call, struct le_node *node, enum le_type stored, uint64_t *bits);
void le_cells_clear(struct le_specialised *s);
void le_cells_clear_computed(struct le_specialised *s);
leat_status le_plan_show(struct leat_call *call, leat_form form, struct le_text *out);
leat_status le_pass_show(struct leat_call *call, const char *pass, struct le_text *out); /* the IR after that pass */
#endif
