/* The intermediate representation (IR): what a specialised program computes, for any extents.
 *
 * A *value* is an array or scalar at one moment. Each assignment makes a new value, so a stage reads a snapshot by
 * naming an older value. A *statement* keeps the input of the range rules. A *stage* computes one value: for every
 * point of its indices, it writes `node` to `target[left]`. Nodes are immutable, shared (equal nodes are the same node)
 * and live in the IR's arena. The operands of a node have the types that its operation expects, so later rooms need no
 * typing rules. Types are strong. 16-bit floats appear only as types of values: arithmetic on them is done in f32 and
 * rounded when a value is assigned. */
#ifndef LE_IR_H
#define LE_IR_H
#include "base/arena.h"
#include "lang/tree.h"
#include "spec/bytecode.h"
#include <assert.h>

enum le_node_kind {
    LE_NODE_CONST,  /* bits */
    LE_NODE_INDEX,  /* i64: the index's value */
    LE_NODE_LEN,    /* i64: extent `axis` of symbol `symbol` */
    LE_NODE_LOAD,   /* element of `value` at operands (i64), cast to f32 if 16-bit; edge, fill */
    LE_NODE_OP,     /* code: an operation or LE_CODE_MULADD, MULSUB, NMULADD, LE_CODE_LOWER, LE_CODE_HIGHER */
    LE_NODE_CAST,   /* operand to type */
    LE_NODE_ROUND,  /* the operand rounded once to 16-bit float type `rounded`, as an f32 */
    LE_NODE_SELECT, /* operands: condition (bool), then, else */
    LE_NODE_RAND,   /* code: LE_CODE_RAND, LE_CODE_RANDN; operands: seed, then arguments (i64 or u64) */
    LE_NODE_REDUCE, /* code: enum le_reduction except MEAN; operands: body; over indices */
    LE_NODE_COUNT,  /* i64: number of points of indices */
    LE_NODE_ELSE,   /* operands: term, otherwise. The value is otherwise if a read of the term is out of range */
    LE_NODE_LOCAL,  /* current value of variable `local` of an enclosing region */
    LE_NODE_REGION, /* runs `region` for one element. The value is what its RETURN returns; type LE_NONE: no value, in
                       an EACH stage. operands: all nodes that its steps name; indices: those of its FORs, outermost
                       first */
    LE_NODE_SECOND  /* the second of the two values that its operand, a REGION, returns; both have one type */
};

/* Codes of an OP besides those of bytecode, in CUDA only: what a reduction's min or max takes of two floats. Unlike
 * LE_OP_MIN and LE_OP_MAX, -0.0 is lower than 0.0. */
enum { LE_CODE_LOWER = LE_CODES, LE_CODE_HIGHER };

/* Code that runs for one element, with its own variables: the body of an `each`, or of a def's block. Steps name nodes
 * by their number in the REGION node's operands, and indices by their number in its indices, so that passes that walk,
 * substitute and compare nodes need not look inside. A variable has no value before it is set. The index of a FOR is
 * read with an INDEX node. A step's nodes are evaluated when the step runs, so a LOCAL returns the latest value. Steps
 * that are not reached perform no reads. */
enum le_region_kind {
    LE_REGION_SET,   /* local = value, of the local's type */
    LE_REGION_STORE, /* EACH stages only: element of the stage's target number `target`, at the subscripts, op= value */
    LE_REGION_FOR,   /* repeats the steps up to END for index over its range; the step is positive */
    LE_REGION_WHILE, /* repeats the steps up to END while value (bool) is true */
    LE_REGION_IF,
    LE_REGION_ELSE,
    LE_REGION_BREAK, /* leaves the innermost FOR or WHILE */
    LE_REGION_RETURN,
    LE_REGION_FAIL, /* last step of a region that should have reached a RETURN: a fault */
    LE_REGION_END
};
struct le_region_step {
    enum le_region_kind kind;
    int local;  /* SET: number in le_ir.locals */
    int value;  /* SET, STORE, WHILE, IF, RETURN: number of an operand */
    int second; /* RETURN: operand number of the second value, greater than `value`; 0: none */
    int first_subscript, subscript_count; /* STORE: numbers of operands, i64 */
    int target;                           /* STORE: number in the stage's pairs */
    enum le_scatter scatter;              /* STORE */
    bool own;                             /* STORE: different elements write different addresses */
    int access;                           /* STORE: number in le_ir.accesses, for messages */
    int index;                            /* FOR: number in the node's indices */
    int partner;                          /* as in le_step */
    struct le_location location;          /* FAIL: line and column of the def */
    const char *text;                     /* the source of its statement, in one line */
};
struct le_region {
    struct le_region_step *steps;
    int step_count;
};

struct le_node {
    enum le_node_kind kind;
    enum le_type type, rounded;
    int code;
    uint64_t bits; /* CONST: the bytes of the value come first in memory */
    int index, symbol, axis, value;
    enum le_edge edge;
    struct le_node *fill;           /* LE_EDGE_FILL: has the load's type */
    int stretch;                    /* LOAD: number of leading axes from `...`, whose extent of 1 broadcasts */
    int access;                     /* LOAD: number in le_ir.accesses, for messages */
    int local;                      /* LOCAL */
    const struct le_region *region; /* REGION */
    bool live;    /* LOAD of a target of its own EACH stage: reads what the element has stored there so far */
    bool changes; /* contains a LOCAL that no REGION in it sets, or a live LOAD: its value may differ between steps of
                     the enclosing region */
    bool trusted; /* LOAD: never out of range, because its subscripts are bare indices that range over the axis */
    struct le_node **operands;
    int operand_count;
    int *indices; /* REDUCE, COUNT, REGION */
    int index_count;
    int *free; /* indices that it depends on, in ascending order */
    int free_count;
    bool reduces;   /* contains a REDUCE, or a COUNT or REGION with a range that depends on an index outside of it */
    bool loads;     /* contains a LOAD of an array */
    bool untrusted; /* it or its ranges contain a LOAD that may be out of range, or a REGION that may fail */
    int depth, id;
    int64_t cost; /* estimated cost for one element, in additions; a reduction's body counts once */
    uint64_t hash;
};

struct le_range_nodes {
    struct le_node *low, *high, *by;
}; /* by NULL: 1 */
struct le_ir_index {
    const char *name;
    bool explicit_range, depends, from_dots;
    bool stepped;   /* of a `for` with `by`: counts from 0 by 1; range.by is 0 if `by` is 0 (an error), else 1 */
    bool host;      /* of a FOR stage: the host runs the loop around the kernels, whose indices do not include it */
    int host_value; /* if host: the value (i64, rank 0) that holds it while the loop runs */
    struct le_range_nodes range;
    struct le_location location;
};

/* An access as input to the range rules: subscripts of `symbol`. */
struct le_ir_access {
    int symbol, stretch, statement;
    struct le_node **subscripts;
    int rank;
    unsigned bare; /* bit d: subscript d is written as a bare index, not as an expression equal to one, such as i+0 */
    bool under_condition, guarded; /* as in le_access */
    bool left;
    bool has_edge; /* has an edge mode, or an `else` in an element's assignment */
    int *around;
    int around_count;
    struct le_location location;
};

struct le_ir_statement {
    enum le_step_kind kind;
    struct le_location location;
    const char *text; /* its source text, shortened to one line */
    int symbol;       /* the symbol that it defines or writes */
    bool is_new, has_else;
    bool conditional; /* as in le_step */
    bool unchecked;   /* no result needs it, and its ranges depend on data or it is inside a host block: its ranges are
                         not inferred */
    struct le_node **left; /* ASSIGN to an array */
    int left_count;
    struct le_node *value; /* AGREE: the size; NEW, DEFAULT, FILL: the initial value */
    struct le_node **sizes;
    int size_count, axis, array;
    int *free, *all; /* index ids */
    int free_count, all_count;
    int first_access, access_count;
    int loop; /* index of the enclosing host loop that was folded into its stage; -1: none */
};

struct le_value {
    int id, symbol;
    const char *name;  /* "u.2" */
    enum le_type type; /* storage type */
    int rank;
    int stage;   /* the stage that makes it; -1: an input */
    bool wanted; /* a result, or read by the host: it must be stored */
    bool moved;  /* set by one or more MOVE stages; `stage` is the first of them, which may be dead */
    int uses;    /* number of stages that read it */
};

/* Stages run in order. Control stages enclose the stages up to their END, as control steps do in le_tree. Blocks nest.
 * MOVE stages hand on the values that a block changes. A symbol assigned in a loop has one value for the loop's head.
 * It is moved there from the value before the loop, from the body's last value right before END, and from the current
 * value right before a BREAK. This is also its value after the loop. (In a loop with many BREAKs, a scalar has a
 * separate value for after the loop, and the body may move to it anywhere.) A symbol assigned in an IF has one value
 * for after the IF, moved to at the end of both branches. So every stage reads values that are set on every path to it.
 */

enum le_stage_kind {
    LE_STAGE_MAP,     /* target[left] = node at every point; other elements are those of base */
    LE_STAGE_SCATTER, /* target = base; target[left] op= node, in index order */
    LE_STAGE_FILL,    /* a new array filled with node, which has no index */
    LE_STAGE_EACH, /* runs node, a REGION, at every point; it stores into the targets of pairs, which start as copies of
                      their bases */
    LE_STAGE_SCAN, /* target[left] = node, a REDUCE over one index whose range ends (or starts) at an index of left;
                      computes all totals in linear time */
    LE_STAGE_CONTRACT, /* target[left] = node, or product instead, which a library computes; the extents decide */
    LE_STAGE_MOVE,     /* assigns the source of each pair to its target, all at once; shares the memory */
    LE_STAGE_FOR,      /* index takes each value of its range; target: its host_value */
    LE_STAGE_LOOP,     /* a `while`: repeats the stages up to END */
    LE_STAGE_TEST,     /* leaves the LOOP if node (bool) is false; lies in the loop's own block, after the stages of the
                          condition */
    LE_STAGE_IF,       /* if node (bool) is true: the stages up to ELSE, which always exists */
    LE_STAGE_ELSE,
    LE_STAGE_BREAK, /* leaves the innermost FOR or LOOP */
    LE_STAGE_END
};
enum { LE_ALSO_MAX = 7 };
struct le_pair {
    int target, source;
}; /* values */
struct le_stage {
    enum le_stage_kind kind;
    int statement;
    const char *name; /* text of its statement, for tables */
    int target, base; /* values; base -1: none, every element of target is written */
    int *indices;     /* loop order, outermost first */
    int index_count;
    struct le_node **left; /* i64, one per axis */
    int left_count;
    struct le_node *node;    /* of the target's compute type */
    struct le_node *product; /* CONTRACT: node as sums of products of loads (ir/passes/contract.h); else NULL */
    enum le_scatter scatter;
    struct le_pair *pairs; /* EACH: targets and their bases; target and base are those of the first pair. MOVE: targets
                              and sources */
    int pair_count;
    int index; /* FOR: the host index */
    int block; /* the block that contains it; 0: top level. Each FOR, LOOP and branch of an IF has a block, numbered in
                  order. FOR, LOOP, IF, ELSE and END lie in the block around theirs, TEST and BREAK in the block that
                  they leave */
    bool dead;
    bool guarded; /* SCAN: its reads are under a condition. If one may be out of range, the scan is not computed, and
                     its readers compute the reduction themselves */
    bool inner;   /* for a device, a reduction that one reader needs for each term of another reduction, or for each
                     element that it scatters; the reader may compute it itself instead (gen/mapping/make_there.c) */
    /* Reductions fused into one kernel, or, for a device, numbers that need one reduction each: the first of them, and
     * the next one after this; -1: none. */
    int leader, sibling;
    int access; /* of the left side, for messages; -1: none */
    /* MAP: other stages over the same indices, which the same kernel computes. Planning for a device sets them. */
    const struct le_stage *const *also;
    int also_count;
};

struct le_ir {
    struct le_arena *arena;
    const struct le_tree *tree;
    struct {
        struct le_ir_index *at;
        int count, capacity;
    } indices;
    struct {
        struct le_ir_access *at;
        int count, capacity;
    } accesses;
    struct {
        struct le_ir_statement *at;
        int count, capacity;
    } statements;
    struct {
        struct le_value *at;
        int count, capacity;
    } values;
    struct {
        struct le_stage *at;
        int count, capacity;
    } stages;
    struct {
        struct le_local {
            const char *name;
            enum le_type type;
        } * at;
        int count, capacity;
    } locals;        /* variables of all regions */
    bool portable;   /* matrix products stay sums, which have the same bits on every device */
    int block_count; /* without block 0 */
    struct {
        struct le_ir_note {
            int line;
            const char *text;
        } * at;
        int count, capacity;
    } notes;                /* notes for the user, found while lowering */
    int *last;              /* by symbol: its last value; -1: none */
    int *first;             /* by symbol: the input's value; -1: none */
    struct le_node **fixed; /* by symbol: the node to use for a scalar that need not be stored; NULL */
    struct le_node **table; /* hash table that finds an equal node */
    int node_count, table_size;
    struct le_node_marks *marks;
    bool for_device;            /* a GPU is to run it: memory traffic counts for more than operations */
    const struct le_ir *parent; /* of a fork; else NULL */
    int first_node;             /* number of the fork's first own node */
};
/* ir_fork.c */
struct le_ir *le_ir_new(struct le_arena *arena, const struct le_tree *tree);
/* The parent as one thread sees it that makes more nodes and indices: these go into the arena, and the parent is only
 * read. It costs no more than a few hundred bytes. The parent may get more nodes meanwhile, but from the fork's own
 * thread alone. marks: the thread's, which serve one fork after another. */
struct le_ir *le_ir_fork(const struct le_ir *parent, struct le_arena *arena, struct le_node_marks *marks);
/* The node of ir that equals one of a fork of it, which has no new indices. */
struct le_node *le_node_adopt(struct le_ir *ir, struct le_node *node);

/* node_walk.c: what walks and rewritings remember of nodes, by the nodes' numbers, so that the nodes themselves never
 * change. What is remembered has an epoch, and counts only in the walk of that epoch, so nothing needs to be cleared.
 */
struct le_node_mark {
    int epoch;
    void *memo; /* what the walk has made of the node */
};
struct le_node_marks {
    struct le_arena *arena;
    struct le_node_mark *at;
    int count, epoch; /* epoch: the last one that was begun */
    int *inside;      /* region.c: by local, how many of the regions around set it; all 0 between its searches */
    int inside_count;
};
void le_node_marks_reserve(struct le_node_marks *marks, int count); /* as many at least; le_node_make does it */
/* Valid until the next node is made. */
static inline struct le_node_mark *le_node_mark_of(const struct le_ir *ir, const struct le_node *node) {
    assert(node->id < ir->marks->count);
    return &ir->marks->at[node->id];
}
static inline int le_walk_begin(const struct le_ir *ir) { /* a new epoch */
    return ++ir->marks->epoch;
}
/* Whether the walk has met the node before. */
static inline bool le_walk_met(const struct le_ir *ir, const struct le_node *node, int epoch) {
    struct le_node_mark *mark = le_node_mark_of(ir, node);
    bool met = mark->epoch == epoch;
    mark->epoch = epoch;
    return met;
}
/* What the walk has made of the node; NULL: nothing yet. */
static inline void *le_walk_memo(const struct le_ir *ir, const struct le_node *node, int epoch) {
    const struct le_node_mark *mark = le_node_mark_of(ir, node);
    return mark->epoch == epoch ? mark->memo : NULL;
}
static inline void *le_walk_remember(const struct le_ir *ir, const struct le_node *node, int epoch, void *made) {
    *le_node_mark_of(ir, node) = (struct le_node_mark){epoch, made};
    return made;
}

/* build.c and region.c: nodes. Constants are folded where the result is exact on every device. */
struct le_node *le_node_const(struct le_ir *ir, enum le_type type, uint64_t bits);
struct le_node *le_node_i64(struct le_ir *ir, int64_t value);
struct le_node *le_node_bool(struct le_ir *ir, bool value);
struct le_node *le_node_real(struct le_ir *ir, enum le_type type, double value); /* rounded to the float type */
struct le_node *le_node_index(struct le_ir *ir, int index);
struct le_node *le_node_len(struct le_ir *ir, int symbol, int axis);
struct le_node *le_node_op(struct le_ir *ir, int code, enum le_type type, struct le_node **operands, int count);
struct le_node *le_node_cast(struct le_ir *ir, enum le_type type, struct le_node *operand);
/* Whether ROUND takes operands of that type directly. All other types are converted to f32 first, which is exact. */
bool le_round_takes(enum le_type type, enum le_type rounded);
/* operand: of any type. Casting it to f32 first might round it twice. */
struct le_node *le_node_round(struct le_ir *ir, enum le_type rounded, struct le_node *operand);
struct le_node *le_node_select(struct le_ir *ir, struct le_node *condition, struct le_node *then,
                               struct le_node *otherwise);
struct le_node *le_node_reduce(struct le_ir *ir, enum le_reduction reduction, enum le_type type, struct le_node *body,
                               const int *indices, int count);
struct le_node *
le_node_make(struct le_ir *ir,
             const struct le_node *model); /* any kind; returns the existing node if there is an equal one */
/* Whether it reads a variable that no REGION in it sets. */
bool le_node_has_free_local(const struct le_ir *ir, struct le_node *node);
/* The equal node whose number is less than `below`; NULL: none. Does not look into the parent. */
struct le_node *le_node_find(const struct le_ir *ir, const struct le_node *node, int below);
bool le_region_fails(const struct le_node *node);     /* whether it is a REGION that may fail (region.c) */
bool le_region_has_while(const struct le_node *node); /* whether it is a REGION with a WHILE */
bool le_region_has_value(enum le_region_kind kind);   /* whether such a step has one */
bool le_region_is_loop(enum le_region_kind kind);
bool le_stage_in_any_order(const struct le_stage *stage); /* its elements write different places */
bool le_region_gives_two(const struct le_node *region);   /* whether every RETURN has two values */
bool le_node_is_const(const struct le_node *node);
int64_t le_const_i64(const struct le_node *node); /* node: a CONST of an integer type or bool */
double le_const_real(const struct le_node *node);
bool le_node_depends(const struct le_node *node, int index);
bool le_node_depends_on_any(const struct le_node *node, const int *indices, int count);
/* Of a REDUCE: it is a sum; a sum with reuse; its value is an index; its floats are added or multiplied in the order of
 * NUMERICS. */
static inline bool le_node_is_chain(const struct le_node *node) {
    return node->code == LE_RED_CHAIN || node->code == LE_RED_CHAIN_OF_PRODUCTS;
}
static inline bool le_node_is_sum(const struct le_node *node) {
    return node->code == LE_RED_SUM || le_node_is_chain(node);
}
static inline bool le_node_is_arg(const struct le_node *node) {
    return node->code == LE_RED_ARGMIN || node->code == LE_RED_ARGMAX;
}
static inline bool le_node_is_ordered(const struct le_node *node) {
    return (le_node_is_sum(node) || node->code == LE_RED_PROD) && le_type_is_float(node->operands[0]->type);
}
/* Whether that term of a REDUCE of this code is added by a multiply-add. */
static inline bool le_chain_adds_products(enum le_reduction code, const struct le_node *term) {
    return code == LE_RED_CHAIN_OF_PRODUCTS && term->kind == LE_NODE_OP && term->code == LE_OP_MUL;
}
static inline bool le_node_adds_products(const struct le_node *node) {
    return le_chain_adds_products((enum le_reduction)node->code, node->operands[0]);
}
static inline bool le_node_same_indices(const struct le_node *a, const struct le_node *b) {
    bool same = a->index_count == b->index_count;
    for (int k = 0; same && k < a->index_count; k++)
        same = a->indices[k] == b->indices[k];
    return same;
}
bool le_node_chooses(const struct le_node *node); /* whether it may skip operands: SELECT, ELSE, && and || */
bool le_node_is_untrusted(
    const struct le_node *node); /* whether it is a LOAD that may be out of range, disregarding its edge mode */
/* Whether two nodes are different sums over the same indices, or quotients of such sums. If so, *a and *b are set to
 * the sums. */
bool le_node_share_loops(struct le_node **a, struct le_node **b);
/* Whether node depends on host indices only, so that its value is constant while a kernel runs. */
bool le_node_is_hosts(const struct le_ir *ir, const struct le_node *node);
/* Returns node with index from[k] replaced by to[k]. */
struct le_node *le_node_substitute(struct le_ir *ir, struct le_node *node, const int *from, struct le_node *const *to,
                                   int count);
/* The same with what `choose` gives in place of the nodes for which it gives any. */
struct le_node *le_node_replace(struct le_ir *ir, struct le_node *node,
                                struct le_node *(*choose)(struct le_node *node, void *user), void *user);
/* Substitution creates a new index for a dependent range that it changes. This adds the indices from number `from` on
 * to those whose ranges the statement finds. */
void le_ir_adopt_indices(struct le_ir *ir, int statement, int from);
/* The reduction of a node that has one, apart from those in its terms; NULL: there is none. */
struct le_node *le_node_total(const struct le_ir *ir, struct le_node *node);
/* Calls visit for every distinct node reachable from root, operands first. */
void le_node_walk(const struct le_ir *ir, struct le_node *root, void (*visit)(struct le_node *node, void *user),
                  void *user);
/* The same, and continues through loads of guarded scans into the nodes of those scans, because a reader computes a
 * guarded scan itself where the scan is skipped. */
void le_node_walk_through(const struct le_ir *ir, struct le_node *node, void (*visit)(struct le_node *node, void *user),
                          void *user);

/* lower.c: lowers a specialised tree, one stage per statement. inputs: by symbol, as for le_specialise. wanted: the
 * symbols requested as results. Returns NULL on error. */
struct le_ir *le_lower(struct le_arena *arena, const struct le_tree *tree, const struct le_input *inputs,
                       const int *wanted, int wanted_count);

/* passes.c: the list of passes, ended by a NULL name. The verifier runs after each; if it finds a problem, the result
 * is LEAT_INTERNAL. */
struct le_pass {
    const char *name;
    void (*run)(struct le_ir *ir);
};
extern const struct le_pass le_passes[];
leat_status le_passes_run(struct le_ir *ir);
/* Runs the passes up to and including the first one named `last`; "lower" runs none. LEAT_INVALID if there is no such
 * pass. */
leat_status le_passes_run_to(struct le_ir *ir, const char *last);
leat_status le_ir_verify(const struct le_ir *ir); /* verify.c */
void le_pass_demand(struct le_ir *ir);            /* finds the statements that results need, and the host scalars */
void le_pass_contract(struct le_ir *ir);
void le_pass_find_scans(struct le_ir *ir);
void le_pass_fold_loops(struct le_ir *ir);
void le_pass_inline(struct le_ir *ir);
void le_pass_hoist(struct le_ir *ir);
void le_pass_fuse_reductions(struct le_ir *ir);
void le_pass_finish_totals(struct le_ir *ir);
void le_pass_elide_copies(struct le_ir *ir);
void le_pass_dead_code(struct le_ir *ir); /* marks stages dead whose values are not read, and counts uses */

void le_ir_number_stages(struct le_ir *ir); /* updates le_value.stage after stages were moved */

/* text/print.c: prints the IR as text. tests/ir/reader reads it back. */
void le_ir_print(const struct le_ir *ir, struct le_text *out);
#endif
