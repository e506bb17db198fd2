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
#include "gen/scan_find.h"

enum { WARP = 32 }; /* threads */

/* How iterations of an EACH that write the same element are ordered (each.c): one thread runs all iterations in order;
 * all threads update atomically; or the last iteration wins: a first kernel claims elements, a second one writes those
 * it claimed. */
enum le_meet { LE_MEET_IN_ORDER, LE_MEET_AT_ONCE, LE_MEET_CLAIM, LE_MEET_LAST };

/* The computed value of a node: an expression that costs nothing to repeat, valid in `block` and in blocks inside it.
 * An i64 whose values all fit an int has the type LE_KTREE_INT. */
struct held {
    struct le_expression *x;
    struct le_block *block;
    struct le_variable *outside; /* the bool that its out-of-range reads set; NULL: they are faults */
    int moment;
    struct held *next;
    struct le_variable *second; /* of a REGION with two results: the second one */
};

struct parameter {
    struct le_variable *variable;
    const char *wish; /* of a number: the name that was asked for */
    struct le_argument argument;
};

enum { LE_AHEAD_MAX = 4 };
/* A load that was read ahead: the local element has its value if its subscripts are in range, which is still checked
 * where the load is needed. */
struct codegen_ahead {
    const struct le_node *load;
    struct le_expression *element;
};
struct codegen {
    const struct le_device_kernel_job *job;
    struct le_ir *ir;
    const struct le_stage *stage;
    const struct le_space *space;
    const struct le_layout *layouts;
    struct le_arena *arena;
    struct le_kernel_tree *tree;
    struct le_block *root;
    struct {
        struct parameter *at;
        int count, capacity;
    } parameters;
    struct held *indices;                    /* by index: its value, while it is bound */
    struct le_variable **locals;             /* by local: its variable */
    const char **value_names, **index_names; /* by value and by index; NULL: not used yet */
    bool *index_has_variable;                /* by index: a variable already has the index's own name */
    /* Not NULL: how many terms the reductions of a point have that threads share, and the number of the one that is
     * made now (NULL: what comes after them all): the first fault of a point is reported. */
    struct le_expression *terms, *term;
    struct le_expression *thread; /* the thread's number in the grid; NULL: one thread computes everything */
    /* Not NULL: code of that block, and inside of it, may divide without a branch, and says in the bool `usual` whether
     * its results count. */
    const struct le_block *quick;
    struct le_variable *usual;
    /* Loops over terms are unrolled, so what is the same for all points is read at known distances from one address.
     * The compiler finds that if offsets have 64 bits. */
    bool unrolls;
    const struct le_block *rare; /* not NULL: code of that block seldom runs, so that it may be slow if it is short */
    struct le_variable *failed;  /* of a region with a `while`: the bool that a fault sets, which ends it; NULL: none */
    struct le_node_notes *notes; /* the job's */
    struct le_safety safety;     /* its space: the indices' ranges where code is made now */
    int moment, moments, branches; /* moment: of what changes variables or arrays the last */
    bool may_fault, may_note;
    struct codegen_ahead ahead[LE_AHEAD_MAX];
    int ahead_count;
    enum le_meet meet;            /* of an EACH */
    struct le_variable **winners; /* by pair of the EACH: for each element the number of who writes it; NULL: all do */
    leat_status status;
};

/* codegen_launch.c: names, parameters, the unit */
void le_codegen_begin(struct codegen *c, const struct le_device_kernel_job *job, const struct le_stage *stage,
                      const char *suffix);
const char *le_codegen_value_name(
    struct codegen *c,
    int value); /* the name of its pointer or parameter; names of its extents and strides begin with it */
const char *le_codegen_index_name(struct codegen *c, int index); /* the name of its variable */
void le_codegen_close_all(struct codegen *c,
                          struct le_block *block); /* closes it and the blocks around it, except the root */
/* A number of this run as a kernel parameter of type LONG. The same name and value give the same parameter. */
struct le_expression *le_codegen_number(struct codegen *c, const char *name, int64_t value);
/* Any other parameter: a buffer of elements of that type; for SCALAR a value of 16 bytes. */
struct le_variable *le_codegen_parameter(struct codegen *c, enum le_argument_kind kind, int value, int64_t number,
                                         int type, const char *wish);
void le_codegen_reports(struct codegen *c); /* adds the parameter that FAULT and NOTE statements need */
void le_codegen_add_fault(struct codegen *c, struct le_block *block, int64_t access_axis, struct le_expression *value);
struct le_variable *le_codegen_index_variable(struct codegen *c, int index, int type); /* named like the index */
/* Prints the kernel and adds its launch. The caller then sets grid and block. */
struct le_generated_launch *le_codegen_finish(struct codegen *c, struct le_generated_launches *out);

/* Threads of a block, for kernels that read this number when they run: `most`, or fewer (at least 64) if blocks of
 * `most` threads would leave multiprocessors without work. threads: of the whole grid. */
int le_codegen_block_threads(const struct codegen *c, int64_t threads, int most);
/* The same with a grid and thread blocks of one dimension. elements: of the target. how: for `--emit plan` */
struct le_generated_launch *le_codegen_launch(struct codegen *c, struct le_generated_launches *out, int64_t blocks,
                                              int threads, int64_t elements, const char *how);

/* A branch where x holds (NULL: the other branch of the `if` before), in which expensive nodes stay. */
struct le_block *le_codegen_open_branch(struct codegen *c, struct le_block *block, struct le_expression *x);

/* codegen_type.c: conversions */
struct le_expression *le_codegen_wide(struct codegen *c, struct le_expression *x); /* a position becomes an i64 */
/* Converts an element in memory to the type that is computed in, and back. */
struct le_expression *le_codegen_from_memory(struct codegen *c, struct le_expression *element, enum le_type type);
struct le_expression *le_codegen_to_memory(struct codegen *c, struct le_expression *x, enum le_type stored);
bool le_codegen_fits_int(int64_t low, int64_t high);

/* codegen_expression.c. Compute a node where `block` needs it. outside: the bool that an out-of-range read sets; NULL:
 * such a read is a fault. */
struct le_expression *le_codegen_node(struct codegen *c, struct le_node *node, struct le_block *block,
                                      struct le_variable *outside);
const struct held *le_codegen_held(struct codegen *c, struct le_node *node, struct le_block *block,
                                   struct le_variable *outside); /* the same, with the block where it is valid */
/* The node's value as it is stored in memory. A value that is rounded to the stored type is converted once. */
struct le_expression *le_codegen_stored(struct codegen *c, struct le_node *node, struct le_block *block,
                                        enum le_type stored);
/* Announces that both nodes are needed in the block: sums over the same indices are then computed in one loop. */
void le_codegen_both(struct codegen *c, struct le_node *a, struct le_node *b, struct le_block *block,
                     struct le_variable *outside);
/* Code from now on runs only where the indices are in these ranges (NULL: everywhere). Forgets all computed values. */
void le_codegen_reach(struct codegen *c, const struct le_space *ranges);
/* In the block, from here on, the node has this value. */
void le_codegen_know(struct codegen *c, struct le_node *node, struct le_block *block, struct le_expression *x);

/* codegen_op.c: what is known of operations */
bool le_codegen_has_quick_way(
    const struct le_node *node); /* an operation without a branch, where its numbers are usual */
bool le_codegen_has_quick_ways(const struct codegen *c, struct le_node *node); /* it, or something that it is made of */

/* codegen_access.c */
struct le_expression *le_codegen_load(struct codegen *c, struct le_node *node, struct le_block *block,
                                      struct le_variable *outside);
struct le_expression *le_codegen_scalar(struct codegen *c, int value, enum le_type type); /* a value of rank 0 */
struct destination {
    int value, rank, access, stretch;
    struct le_node *const *subscripts;
    bool trusted;
    struct le_variable
        *dense; /* not NULL: the destination is this contiguous array instead, from element `from` on (NULL: 0) */
    struct le_expression *from;
    bool numbered; /* *place is the element's row-major number instead */
};
/* Sets *place to the element. If its subscripts may be out of range, opens the block that runs only when they are not.
 */
struct le_block *le_codegen_place(struct codegen *c, const struct destination *to, struct le_block *block,
                                  struct le_variable *outside, struct le_expression **place);
bool le_codegen_reaches_in_int(const struct codegen *c, int value); /* an int can index all of the array */
/* The element that a load reads, without a range check. */
struct le_expression *le_codegen_trusted_place(struct codegen *c, const struct le_node *load, struct le_block *block);
/* `span` elements side by side near one that a load reads. */
struct le_near {
    const struct le_node *load;
    int row_axis, column_axis; /* of the array; -1: none */
    struct le_expression *row; /* subscripts along the row axis from the load's element on */
    int column, span;          /* the same along the column axis */
    unsigned checked;          /* axes whose subscripts may be out of range, as bits: the load's edge mode moves them */
    struct le_expression *apart; /* elements from there on; NULL: 0 */
};
/* Gives the first of them. *inside: whether they are all in range; NULL: they are. */
struct le_expression *le_codegen_near(struct codegen *c, const struct le_near *near, struct le_block *block,
                                      struct le_expression **inside);
/* The element that a stage of the kernel writes, as a LOAD; and that of its first stage. */
struct le_node le_codegen_target_of(const struct codegen *c, const struct le_stage *stage);
struct le_node le_codegen_target(const struct codegen *c);
/* Where the element lies that a load reads, without a range check, as far as these axes (a set of bits) say. */
struct le_expression *le_codegen_offset(struct codegen *c, const struct le_node *load, unsigned axes,
                                        struct le_block *block);
/* Where a load reads: offset is that of the axes that are in range; the others have subscripts, which the load's edge
 * mode applies to. whole: offset counts all axes, and the mode is to fill, unless `inside` holds or, if that is NULL,
 * all subscripts are in range */
struct le_load_place {
    struct le_expression *offset, *inside, *subscripts[LEAT_RANK_MAX];
    bool whole;
};
struct le_expression *le_codegen_load_from(struct codegen *c, const struct le_node *load,
                                           const struct le_load_place *place, struct le_block *block);
/* Stores the value in the element on the left side of a stage of the kernel. */
void le_codegen_store_to(struct codegen *c, const struct le_stage *stage, struct le_expression *value,
                         struct le_block *block);
void le_codegen_store(struct codegen *c, struct le_expression *value,
                      struct le_block *block); /* stores it in the element on the stage's left side */
/* The element of a value that has this row-major number. */
struct le_expression *le_codegen_dense_element(struct codegen *c, int value, struct le_block *block,
                                               struct le_expression *number);

/* codegen_loop.c: indices, ranges, points */
void le_codegen_bind(struct codegen *c, struct le_block *block, int index, struct le_expression *x);
struct le_block *le_codegen_loop(struct codegen *c, struct le_block *block, int index, struct le_variable *outside);
/* A number of the index's range as a parameter: what: "low", "by", "count". */
struct le_expression *le_codegen_index_number(struct codegen *c, int index, const char *what, int64_t value, int type);
/* INT if the index's values are ints, even `past` beyond the last one; else LONG. */
int le_codegen_index_type(const struct codegen *c, int index, int64_t past);
/* The value at a position along the index: low + place * by, of a position's type. The range is not dynamic. */
struct le_expression *le_codegen_index_value(struct codegen *c, int index, int type, struct le_expression *place);
void le_codegen_bind_value(struct codegen *c, struct le_block *block, int index,
                           struct le_expression *x); /* to a variable with the index's name */
/* Splits a row-major position into positions along `count` axes with these extents: places[k] along axis k. type: UINT
 * or ULONG, in which it divides. */
void le_codegen_split(struct codegen *c, struct le_block *block, struct le_expression *position, int type,
                      struct le_expression *const *extents, int count, struct le_expression **places);
/* A loop over a fixed range with a step of 1, upwards or downwards. */
struct le_block *le_codegen_run(struct codegen *c, struct le_block *block, int index, bool down);
/* A loop over at most `size` iterations of the range, from iteration part * size on. */
struct le_block *le_codegen_part_loop(struct codegen *c, struct le_block *block, int index, struct le_expression *part,
                                      struct le_expression *size);
/* All kept indices: those that threads share out and, in each thread, loops of the others. *points: threads that are
 * needed; their number is a parameter. in_order: one thread makes all, one after the other. */
struct le_block *le_codegen_points(struct codegen *c, bool in_order, int64_t *points);
struct le_expression *le_codegen_point(
    struct codegen *c); /* the row-major number of the current point among the stage's indices, for faults */
int64_t le_codegen_threads(struct codegen *c); /* how many threads le_codegen_points distributes the points over */
/* The number of the thread in the grid, as a variable. */
struct le_expression *le_codegen_thread(struct codegen *c, const char *wish, int type);
/* The claim of the current thread: greater than the claims of all threads whose iterations come earlier. */
struct le_expression *le_codegen_claim(struct codegen *c);

/* codegen_reduce.c */
struct le_expression *le_codegen_reduce(struct codegen *c, struct le_node *node, struct le_block *block,
                                        struct le_variable *outside);
/* Both reductions in one loop over their common indices; false: each is better computed alone. */
bool le_codegen_reduce_both(struct codegen *c, struct le_node *const nodes[2], struct le_block *block,
                            struct le_variable *outside, struct le_expression *totals[2]);

/* The chunk of a chain with the next term: the term is added to it, by a multiply-add if it is a product. */
struct le_expression *le_codegen_chained(struct codegen *c, enum le_reduction code, struct le_node *term,
                                         struct le_block *block, struct le_variable *outside,
                                         struct le_expression *chunk);
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
/* Sets a one-dimensional grid with at least that many threads. LEAT_UNSUPPORTED: there are too many. */
leat_status le_codegen_set_grid(const struct codegen *c, struct le_generated_launch *launch, int64_t threads);

/* codegen_region.c */
struct held *le_codegen_region(struct codegen *c, struct le_node *node, struct le_block *block,
                               struct le_variable *outside);
struct held *le_codegen_second(struct codegen *c, struct le_node *node, struct le_block *block,
                               struct le_variable *outside);

/* prelude.c: adds the prelude's pieces that the text uses, directly or through other pieces */
void le_prelude_add(struct le_arena *arena, struct words *unit, const char *text);
#endif
