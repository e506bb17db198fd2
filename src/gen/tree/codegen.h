/* The internals of the device code generator: the text of one kernel while it is being generated.
 *
 * A *block* is an open { } of the text. A node is computed once, as a variable of the outermost open block where
 * everything that it depends on is known; a node that may fault or is expensive is computed where it is needed. The
 * code that maps threads to points (codegen_loop.c) knows nothing about bodies, and bodies (codegen_expression.c and
 * its callees) know nothing about threads: a body only needs an open block that binds its indices to names.
 *
 * Mappings (gen/mapping/mapping.h) make the kernels. One in which many threads share a reduction binds the kept indices
 * like le_codegen_points, opens the reduction's loop with its own start and step (le_codegen_bind), lets
 * le_codegen_node emit the term, joins the threads' totals, and makes the total known to the nodes around it with
 * le_codegen_know. */
#ifndef LE_CODEGEN_H
#define LE_CODEGEN_H
#include "base/hash.h"
#include "gen/cuda/cuda_print.h"
#include "gen/cuda/spelling.h"
#include "gen/device_code.h"
#include "gen/bytecode/bytecode_gen.h"

enum { WARP = 32 }; /* threads */

/* How an EACH's elements meet (each.c): one thread makes all in order; all update atomically; or the last one
 * wins, which claims its places first and writes them then. */
enum le_meet { LE_MEET_IN_ORDER, LE_MEET_AT_ONCE, LE_MEET_CLAIM, LE_MEET_LAST };

/* A node's value: an expression that costs nothing to repeat, in its block and inside of it. An i64 whose values an int
 * holds has the type LE_KTREE_INT. */
struct held {
    struct le_expression *x;
    struct le_block *block;
    struct le_variable *outside; /* under which it was computed */
    int moment;
    struct held *next;
    struct le_variable *second; /* of a REGION that gives two numbers: the other one */
};

struct parameter {
    struct le_variable *variable;
    const char *wish; /* of a number: what it was asked for as */
    struct le_argument argument;
};

struct codegen {
    const struct le_device_kernel_job *job;
    struct le_ir *ir;
    const struct le_stage *stage;
    const struct le_space *space;
    const struct le_space *reach; /* the indices' ranges where code is made now: what a read may touch there */
    const struct le_layout *layouts;
    struct le_arena *arena;
    struct le_kernel_tree *tree;
    struct le_block *root;
    struct {
        struct parameter *at;
        int count, capacity;
    } parameters;
    struct held *indices;                    /* by index: its value while it is bound */
    struct le_variable **locals;             /* by local */
    const char **value_names, **index_names; /* by number; NULL: not in the kernel yet */
    bool *index_has_variable;                /* by number: some variable has the index's own name */
    /* Not NULL: how many terms the reductions of a point have that threads share, and the number of the one that is
     * made now (NULL: what comes after them all): of a point's faults the first one is told, too. */
    struct le_expression *terms, *term;
    struct le_expression *thread; /* the number of a thread that le_codegen_points gives a part; NULL: one has all */
    /* Not NULL: code of that block, and inside of it, may divide without a branch, and says in the bool `usual` whether
     * its results count. */
    const struct le_block *quick;
    struct le_variable *usual;
    const struct le_block *rare; /* not NULL: code of that block seldom runs, so that it may be slow if it is short */
    struct le_variable *failed;  /* of a region with a `while`: the bool that a fault sets, which ends it; NULL: none */
    struct le_node_notes *notes; /* the job's */
    int epoch, moment, moments, branches; /* epoch: in the notes; moment: as bytecode_gen.h's */
    bool may_fault, may_note;
    enum le_meet meet;            /* of an EACH */
    struct le_variable **winners; /* by pair of the EACH: for each element the number of who writes it; NULL: all do */
    leat_status status;
};

/* codegen_launch.c: names, parameters, the unit */
void le_codegen_begin(struct codegen *c, const struct le_device_kernel_job *job, const struct le_stage *stage,
                      const char *suffix);
const char *le_codegen_value_name(struct codegen *c,
                                  int value); /* of its pointer, or its parameter; others begin with it */
const char *le_codegen_index_name(struct codegen *c, int index);      /* of its variable */
void le_codegen_close_all(struct codegen *c, struct le_block *block); /* with those around it, but for the root */
/* A number of the run, a LONG that is a parameter; the same one for the same name and value. */
struct le_expression *le_codegen_number(struct codegen *c, const char *name, int64_t value);
/* Any other parameter: a buffer of elements of that type, but a value of 16 bytes for SCALAR. */
struct le_variable *le_codegen_parameter(struct codegen *c, enum le_argument_kind kind, int value, int64_t number,
                                         int type, const char *wish);
void le_codegen_reports(struct codegen *c); /* FAULT and NOTE may be used from now on */
void le_codegen_add_fault(struct codegen *c, struct le_block *block, int64_t access_axis, struct le_expression *value);
struct le_variable *le_codegen_index_variable(struct codegen *c, int index, int type); /* with the index's name */
/* The launch, but for the first axes of grid and block; root is closed. */
struct le_generated_launch *le_codegen_finish(struct codegen *c, struct le_generated_launches *out);

/* codegen_type.c: conversions */
struct le_expression *le_codegen_wide(struct codegen *c, struct le_expression *x); /* an i64, if it is a position */
/* An element as a value of the type to compute in, and back. */
struct le_expression *le_codegen_from_memory(struct codegen *c, struct le_expression *element, enum le_type type);
struct le_expression *le_codegen_to_memory(struct codegen *c, struct le_expression *x, enum le_type stored);
bool le_codegen_fits_int(int64_t low, int64_t high);

/* codegen_expression.c. outside: the bool that a read which falls outside sets; NULL: it is a fault. */
struct le_expression *le_codegen_node(struct codegen *c, struct le_node *node, struct le_block *block,
                                      struct le_variable *outside);
const struct held *le_codegen_held(struct codegen *c, struct le_node *node, struct le_block *block,
                                   struct le_variable *outside); /* the same, with the block where it is */
/* Both will be asked for, there and then: sums over the same indices are made in one loop. */
void le_codegen_both(struct codegen *c, struct le_node *a, struct le_node *b, struct le_block *block,
                     struct le_variable *outside);
/* From now on code is for those elements alone whose indices lie in these ranges (NULL: for all); what is known of
 * nodes is forgotten. */
void le_codegen_reach(struct codegen *c, const struct le_space *ranges);
/* From block on the node has this value. */
void le_codegen_know(struct codegen *c, struct le_node *node, struct le_block *block, struct le_expression *x);
bool le_codegen_is_safe(struct codegen *c,
                        struct le_node *node); /* it can neither fault nor go on for ever, nor tell notes */

/* codegen_op.c: what is known of operations */
bool le_codegen_has_quick_way(
    const struct le_node *node); /* an operation without a branch, where its numbers are usual */
bool le_codegen_has_quick_ways(const struct codegen *c, struct le_node *node); /* it, or something that it is made of */
bool le_codegen_may_note(const struct le_node *node);

/* codegen_access.c */
struct le_expression *le_codegen_load(struct codegen *c, struct le_node *node, struct le_block *block,
                                      struct le_variable *outside);
struct le_expression *le_codegen_scalar(struct codegen *c, int value, enum le_type type); /* a value of rank 0 */
bool le_codegen_load_is_safe(const struct codegen *c, const struct le_node *node);
struct destination {
    int value, rank, access, stretch;
    struct le_node *const *subscripts;
    bool trusted;
    struct le_variable *dense; /* not NULL: instead, as many elements side by side, from number `from` on (NULL: 0) */
    struct le_expression *from;
    bool numbered; /* *place is the element's number, as they would lie side by side */
};
/* Opens the block where the place is inside, if that has to be asked; *place is an element there. */
struct le_block *le_codegen_place(struct codegen *c, const struct destination *to, struct le_block *block,
                                  struct le_variable *outside, struct le_expression **place);
/* An element that is known to be inside. */
struct le_expression *le_codegen_trusted_place(struct codegen *c, const struct le_node *load, struct le_block *block);
struct le_node le_codegen_target(const struct codegen *c); /* the place that the stage writes, as a LOAD */
void le_codegen_store(struct codegen *c, struct le_expression *value,
                      struct le_block *block); /* the stage's left side */
/* Element number `number` of a value, as they would lie side by side. */
struct le_expression *le_codegen_dense_element(struct codegen *c, int value, struct le_block *block,
                                               struct le_expression *number);

/* codegen_loop.c: indices, ranges, points */
void le_codegen_bind(struct codegen *c, struct le_block *block, int index, struct le_expression *x);
struct le_block *le_codegen_loop(struct codegen *c, struct le_block *block, int index, struct le_variable *outside);
/* A range that is known, by 1, upwards or from its last value down. */
struct le_block *le_codegen_run(struct codegen *c, struct le_block *block, int index, bool down);
/* The loop from turn part * size on, for at most size turns: both expressions. */
struct le_block *le_codegen_part_loop(struct codegen *c, struct le_block *block, int index, struct le_expression *part,
                                      struct le_expression *size);
/* All kept indices: those that threads share out and, in each thread, loops of the others. *points: threads that are
 * needed; their number is a parameter. in_order: one thread makes all, one after the other. */
struct le_block *le_codegen_points(struct codegen *c, bool in_order, int64_t *points);
struct le_expression *
le_codegen_point(struct codegen *c); /* the element's number in the order of the stage's indices, for faults */
int64_t le_codegen_threads(struct codegen *c); /* that le_codegen_points shares the points out to */
/* The number of the thread in the grid, a variable. */
struct le_expression *le_codegen_thread(struct codegen *c, const char *wish, int type);
/* Who claims a place: a number above those of all whose elements come before. */
struct le_expression *le_codegen_claim(struct codegen *c);

/* codegen_reduce.c */
struct le_expression *le_codegen_reduce(struct codegen *c, struct le_node *node, struct le_block *block,
                                        struct le_variable *outside);
/* Two over the same indices; false: each has a better way of its own. */
bool le_codegen_reduce_both(struct codegen *c, struct le_node *const nodes[2], struct le_block *block,
                            struct le_variable *outside, struct le_expression *totals[2]);

struct le_expression *le_codegen_empty(struct codegen *c, enum le_reduction code,
                                       enum le_type type); /* the total of no terms */
struct le_expression *le_codegen_fold(struct codegen *c, enum le_reduction code, enum le_type type,
                                      struct le_expression *m, struct le_expression *a);

/* scatter.c */
/* What is there, updated with x: now and x are expressions. meets: other points may update it, too, so that of the
 * zeros -0.0 is the lower one, as in an atomic update. */
struct le_expression *le_codegen_updated(struct codegen *c, enum le_scatter op, enum le_type type, bool meets,
                                         struct le_expression *now, struct le_expression *x);
/* Whether updates of one kind that meet come to the same in any order, and that update; where it lies is the text's. */
bool le_codegen_has_atomic_form(enum le_type type, enum le_scatter op);

/* generate_device.c */
int64_t le_codegen_elements(const struct le_device_kernel_job *job, int value);
/* The grid for so many threads, one dimension. LEAT_UNSUPPORTED: too many. */
leat_status le_codegen_set_grid(const struct codegen *c, struct le_generated_launch *launch, int64_t threads);

/* codegen_region.c */
struct held *le_codegen_region(struct codegen *c, struct le_node *node, struct le_block *block,
                               struct le_variable *outside);
struct held *le_codegen_second(struct codegen *c, struct le_node *node, struct le_block *block,
                               struct le_variable *outside);

/* prelude.c: the pieces that text uses, and those that they use */
void le_prelude_add(struct le_arena *arena, struct words *unit, const char *text);
#endif
