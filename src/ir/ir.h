/* The intermediate representation: what a specialised program computes, for any extents.
 *
 * A *value* is an array or scalar at one moment: each assignment makes a new one, so a stage reads a snapshot by naming
 * an older value. A *statement* keeps what the range rules need. A *stage* computes one value: for every point of its
 * indices, `node` is written to `target[left]`. Nodes are immutable, shared (equal nodes are one node) and live in the
 * IR's arena; operands of every node have the types that its operation wants, so later floors know no type rules. Types
 * are strong; 16-bit floats appear only in values: arithmetic on them is f32, rounded where a value is assigned. */
#ifndef LE_IR_H
#define LE_IR_H
#include "base/arena.h"
#include "lang/tree.h"
#include "spec/bytecode.h"

enum le_node_kind {
    LE_NODE_CONST,  /* bits */
    LE_NODE_INDEX,  /* i64: the index's value */
    LE_NODE_LEN,    /* i64: extent `axis` of symbol `symbol` */
    LE_NODE_LOAD,   /* element of `value` at operands (i64), cast to f32 if 16-bit; edge, fill */
    LE_NODE_OP,     /* code: an operation or LE_CODE_MULADD, MULSUB, NMULADD */
    LE_NODE_CAST,   /* operand to type */
    LE_NODE_ROUND,  /* the operand rounded once to the 16-bit float `rounded`, as an f32 */
    LE_NODE_SELECT, /* operands: condition (bool), then, else */
    LE_NODE_RAND,   /* code: LE_CODE_RAND, LE_CODE_RANDN; operands: seed, then arguments (i64 or u64) */
    LE_NODE_REDUCE, /* code: enum le_reduction without MEAN; operands: body; over indices */
    LE_NODE_COUNT,  /* i64: points of indices */
    LE_NODE_ELSE,   /* operands: term, otherwise: where a read of the term falls outside */
    LE_NODE_LOCAL,  /* variable `local` of a region around it, as it is at that moment */
    LE_NODE_REGION, /* `region` runs for one element; the value is what its RETURN gives; of type LE_NONE, without one,
                       in an EACH stage. operands: all nodes that its steps name; indices: those of its FORs, outer
                       ones first */
    LE_NODE_SECOND  /* operand, a REGION, gives two numbers of one type: the other one */
};

/* Code for one element over variables of its own, in order: the body of an `each`, or a def's block. Steps name nodes
 * by their number in the REGION node's operands, and indices by their number in its indices, so that passes that walk,
 * substitute and compare nodes need not look inside. Variables have no value before they are set; each FOR's index is
 * read as an INDEX node. A step's nodes are evaluated when it runs, so a LOCAL gives what was set last. Steps that are
 * not reached make no reads. */
enum le_region_kind {
    LE_REGION_SET,   /* local = value, of its type */
    LE_REGION_STORE, /* targets[target] of the stage at subscripts op= value; EACH stages only */
    LE_REGION_FOR,   /* index runs through its range, by a positive step: the steps up to END */
    LE_REGION_WHILE, /* as long as value (bool) holds */
    LE_REGION_IF,
    LE_REGION_ELSE,
    LE_REGION_BREAK, /* leaves the innermost FOR or WHILE */
    LE_REGION_RETURN,
    LE_REGION_FAIL, /* the last step of one that should have met a RETURN: an error in the data */
    LE_REGION_END
};
struct le_region_step {
    enum le_region_kind kind;
    int local;                            /* SET: number in le_ir.locals */
    int value;                            /* SET, STORE, WHILE, IF, RETURN: number of an operand */
    int second;                           /* RETURN: of the other number's operand, above value; 0: there is none */
    int first_subscript, subscript_count; /* STORE: numbers of operands, i64 */
    int target;                           /* STORE: number in the stage's pairs */
    enum le_scatter scatter;              /* STORE */
    bool own;                             /* STORE: different elements write different places */
    int access;                           /* STORE: for messages */
    int index;                            /* FOR: number in the node's indices */
    int partner;                          /* as in le_step */
    struct le_location location;          /* FAIL: of the def: line and column */
    const char *text;                     /* its statement's source, one line */
};
struct le_region {
    struct le_region_step *steps;
    int step_count;
};

struct le_node {
    enum le_node_kind kind;
    enum le_type type, rounded;
    int code;
    uint64_t bits; /* CONST: the type's bytes come first in memory */
    int index, symbol, axis, value;
    enum le_edge edge;
    struct le_node *fill;           /* LE_EDGE_FILL: of the load's type */
    int stretch;                    /* LOAD: leading axes that come from `...`: an extent of 1 stretches */
    int access;                     /* LOAD: number in le_ir.accesses, for messages */
    int local;                      /* LOCAL */
    const struct le_region *region; /* REGION */
    bool live;    /* LOAD: of a target of its own EACH stage: what the element has stored there so far */
    bool changes; /* holds a LOCAL that no REGION in it sets, or a live LOAD: its value is another from one step of the
                     region around it to the next */
    bool trusted; /* LOAD: its subscripts are bare indices whose range is the axis: never outside */
    struct le_node **operands;
    int operand_count;
    int *indices; /* REDUCE, COUNT, REGION */
    int index_count;
    int *free; /* indices that it depends on, ascending */
    int free_count;
    bool reduces; /* holds a REDUCE, or a COUNT or REGION with a range that depends on an index outside of it */
    bool loads;   /* holds a LOAD of an array */
    bool untrusted;      /* holds, its ranges included, a LOAD that may fall outside, or a REGION that may fail */
    int depth, id;
    int64_t cost; /* additions for one element, reductions apart */
    uint64_t hash;
    int epoch; /* says which walk or substitution wrote memo */
    void *memo;
    int code_epoch; /* the same for the code generator's */
    void *code_memo;
    int safe_epoch, asked_epoch;
    bool safe;                    /* the code generator's: no read of it can fall outside */
    bool asks_first, asks_second; /* of a REGION, the code generator's: which of two numbers its kernel reads */
};

struct le_range_nodes {
    struct le_node *low, *high, *by;
}; /* by NULL: 1 */
struct le_ir_index {
    const char *name;
    bool explicit_range, depends, from_dots;
    bool stepped; /* of a `for` with `by`: runs from 0 by 1; range.by is 0 if that is 0, which is an error, or else 1 */
    bool host;    /* of a FOR stage: the loop is the host's, and around the kernels, whose indices do not list it */
    int host_value; /* of those: the value (i64, rank 0) that holds it while the loop runs */
    struct le_range_nodes range;
    struct le_location location;
};

/* An access, as the range rules see it: subscripts of `symbol`. */
struct le_ir_access {
    int symbol, stretch, statement;
    struct le_node **subscripts;
    int rank;
    unsigned bare; /* bit d: subscript d is written as an index alone, not as what comes to one, such as i+0 */
    bool under_condition, guarded; /* as le_access's */
    bool left;
    bool has_edge; /* or an `else`, in an element's assignment */
    int *around;
    int around_count;
    struct le_location location;
};

struct le_ir_statement {
    enum le_step_kind kind;
    struct le_location location;
    const char *text; /* its source text, clipped to one line */
    int symbol;       /* that it defines or writes */
    bool is_new, has_else;
    bool conditional; /* as le_step's */
    bool unchecked;   /* no result needs it, and its ranges depend on data or it stands in a block of the host's: they
                         are not found */
    struct le_node **left; /* ASSIGN to an array */
    int left_count;
    struct le_node *value; /* AGREE: the size; NEW, DEFAULT, FILL: the start value */
    struct le_node **sizes;
    int size_count, axis, array;
    int *free, *all; /* index ids */
    int free_count, all_count;
    int first_access, access_count;
    int loop; /* index of the host's loop around it that has become a part of its stage; -1: none has */
};

struct le_value {
    int id, symbol;
    const char *name;  /* "u.2" */
    enum le_type type; /* storage type */
    int rank;
    int stage;   /* that makes it; -1: an input */
    bool wanted; /* a result, or read on the host: it has to be stored */
    bool moved;  /* MOVE stages set it, several perhaps: `stage` is the first of them when it was made */
    int uses;    /* stages that read it */
};

/* Stages run in order. Control stages enclose those up to their END, as LE_STEP_*'s do; blocks nest. What a block
 * changes of the outside is handed on by MOVE stages. A symbol that a loop assigns has one value for its head: moved
 * from the value before the loop, from the body's last value right before END, and from the value at hand right before
 * a BREAK; that is its value after the loop, too. (Where a loop has many BREAKs, scalars have another value for after
 * it, which the body may move to wherever it stands.) A symbol that an IF assigns has one value for after it, moved at
 * the end of both branches. So every stage reads values that are set on every way that leads to it. */

enum le_stage_kind {
    LE_STAGE_MAP,     /* target[left] = node at every point; all else is base's */
    LE_STAGE_SCATTER, /* target = base; target[left] op= node, in index order */
    LE_STAGE_FILL,    /* a new array, all of it node (which has no index) */
    LE_STAGE_EACH, /* node, a REGION, at every point: it stores into the targets of pairs, which start as their bases */
    LE_STAGE_SCAN, /* target[left] = node, a REDUCE over one index that ends (or starts) at one of left's: all its
                      totals at once, in linear time */
    LE_STAGE_CONTRACT, /* target[left] = node, or in its stead product, which a library computes; the extents say which
                        */
    LE_STAGE_MOVE,     /* every target of pairs takes what its source holds, all at once; shares its memory */
    LE_STAGE_FOR,      /* index runs through its range; target: its host_value */
    LE_STAGE_LOOP,     /* a `while`: repeats the stages up to END */
    LE_STAGE_TEST, /* leaves that LOOP unless node (bool) holds; in the same block, after what computes the condition */
    LE_STAGE_IF,   /* node (bool); up to ELSE, which is always there */
    LE_STAGE_ELSE,
    LE_STAGE_BREAK, /* leaves the innermost FOR or LOOP */
    LE_STAGE_END
};
struct le_pair {
    int target, source;
}; /* values */
struct le_stage {
    enum le_stage_kind kind;
    int statement;
    const char *name; /* of its statement, or of the reduction that was hoisted out of it */
    int target, base; /* values; base -1: none, target is written whole */
    int *indices;     /* loop order, outermost first */
    int index_count;
    struct le_node **left; /* i64, one an axis */
    int left_count;
    struct le_node *node;    /* of the target's compute type */
    struct le_node *product; /* CONTRACT: the same as sums of products of loads (ir/passes/contract.h); else NULL */
    enum le_scatter scatter;
    struct le_pair *pairs; /* EACH: what it writes, and the base of each (target and base are the first's); MOVE */
    int pair_count;
    int index; /* FOR: of the host's */
    int block; /* that it lies in: 0 outside of all; each FOR, LOOP and branch of an IF has one, by number in order.
                  FOR, LOOP, IF, ELSE and END lie in the block around theirs; TEST and BREAK in the one that they leave
                */
    bool dead;
    bool guarded;        /* SCAN: its reads stand under a condition: where one may fall outside, it is not made, and its
                            readers reduce on their own */
    int leader, sibling; /* reductions that one kernel makes: the stage that leads them, the next of them; -1: none */
    int access;          /* of the left side, for messages; -1 */
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
            int within; /* region.c's, while it looks */
        } * at;
        int count, capacity;
    } locals;        /* variables of all regions */
    int block_count; /* but for 0 */
    struct {
        struct le_ir_note {
            int line;
            const char *text;
        } * at;
        int count, capacity;
    } notes;                /* for the user, as it is lowered */
    int *last;              /* by symbol: its last value; -1: none */
    int *first;             /* by symbol: the input's value; -1: none */
    struct le_node **fixed; /* by symbol: the node that a scalar which needs no array stands for; NULL */
    struct le_node **table; /* of equal nodes */
    int node_count, table_size;
    int epoch;
};

/* build.c and region.c: nodes. Constants are folded where the result is exact on every device. */
struct le_node *le_node_const(struct le_ir *ir, enum le_type type, uint64_t bits);
struct le_node *le_node_i64(struct le_ir *ir, int64_t value);
struct le_node *le_node_bool(struct le_ir *ir, bool value);
struct le_node *le_node_real(struct le_ir *ir, enum le_type type, double value); /* rounded to the float type */
struct le_node *le_node_index(struct le_ir *ir, int index);
struct le_node *le_node_len(struct le_ir *ir, int symbol, int axis);
struct le_node *le_node_op(struct le_ir *ir, int code, enum le_type type, struct le_node **operands, int count);
struct le_node *le_node_cast(struct le_ir *ir, enum le_type type, struct le_node *operand);
/* Whether a number of that type is rounded as it is. All others become an f32 first, which does not change them. */
bool le_round_takes(enum le_type type, enum le_type rounded);
/* operand: a number of any type; a cast to f32 before this may round it twice. */
struct le_node *le_node_round(struct le_ir *ir, enum le_type rounded, struct le_node *operand);
struct le_node *le_node_select(struct le_ir *ir, struct le_node *condition, struct le_node *then,
                               struct le_node *otherwise);
struct le_node *le_node_reduce(struct le_ir *ir, enum le_reduction reduction, enum le_type type, struct le_node *body,
                               const int *indices, int count);
struct le_node *le_node_make(struct le_ir *ir, const struct le_node *model); /* any kind; finds the equal one */
/* Whether it reads a variable that no REGION in it sets. */
bool le_node_has_free_local(struct le_ir *ir, struct le_node *node);
bool le_region_fails(const struct le_node *node);       /* a REGION that may: region.c */
bool le_region_has_while(const struct le_node *node);   /* the same */
bool le_region_gives_two(const struct le_node *region); /* whichever RETURN is met */
bool le_node_is_const(const struct le_node *node);
int64_t le_const_i64(const struct le_node *node); /* of a CONST of an integer type or bool */
double le_const_real(const struct le_node *node);
bool le_node_depends(const struct le_node *node, int index);
bool le_node_chooses(const struct le_node *node);      /* some operands may not be evaluated: SELECT, ELSE, && and || */
bool le_node_is_untrusted(const struct le_node *node); /* a LOAD that may fall outside, but for its edge mode */
/* Whether two nodes are different sums over the same indices, or such sums divided; *a and *b become those. */
bool le_node_share_loops(struct le_node **a, struct le_node **b);
/* It depends on no index but the host's: one number while a kernel runs. */
bool le_node_is_hosts(const struct le_ir *ir, const struct le_node *node);
/* The same at other indices: index from[k] becomes to[k]. */
struct le_node *le_node_substitute(struct le_ir *ir, struct le_node *node, const int *from, struct le_node *const *to,
                                   int count);
/* Substitution gives a dependent range that changes with it an index of its own: the statement finds the ranges of
 * those from number `from` on. */
void le_ir_adopt_indices(struct le_ir *ir, int statement, int from);
/* Calls visit for every distinct node reachable from root, operands first. */
void le_node_walk(struct le_ir *ir, struct le_node *root, void (*visit)(struct le_node *node, void *user), void *user);
/* The same, and through loads of guarded scans what those read: where such a scan is not made, its reader reads it. */
void le_node_walk_through(struct le_ir *ir, struct le_node *node, void (*visit)(struct le_node *node, void *user),
                          void *user);

/* lower.c: a specialised tree to one stage a statement. inputs: by symbol, as for le_specialise; wanted: symbols asked
 * for as results. NULL on error. */
struct le_ir *le_lower(struct le_arena *arena, const struct le_tree *tree, const struct le_input *inputs,
                       const int *wanted, int wanted_count);

/* passes.c: the list of passes, each with the verifier after it. NULL and LEAT_INTERNAL when the verifier objects. */
struct le_pass {
    const char *name;
    void (*run)(struct le_ir *ir);
};
extern const struct le_pass le_passes[];
leat_status le_passes_run(struct le_ir *ir);
/* Up to the first pass of that name, and with it; "lower": none. LEAT_INVALID: there is no such pass. */
leat_status le_passes_run_to(struct le_ir *ir, const char *last);
leat_status le_ir_verify(const struct le_ir *ir); /* verify.c */
void le_pass_demand(struct le_ir *ir); /* which statements results need, and the numbers that the host evaluates */
void le_pass_contract(struct le_ir *ir);
void le_pass_find_scans(struct le_ir *ir);
void le_pass_fold_loops(struct le_ir *ir);
void le_pass_inline(struct le_ir *ir);
void le_pass_hoist(struct le_ir *ir);
void le_pass_fuse_reductions(struct le_ir *ir);
void le_pass_elide_copies(struct le_ir *ir);
void le_pass_dead_code(struct le_ir *ir); /* marks stages dead whose value nobody reads, and counts uses */

void le_ir_number_stages(struct le_ir *ir); /* tells values who makes them, after stages were moved */

/* text/print.c: the IR as text. tests/ir/reader reads it back. */
void le_ir_print(const struct le_ir *ir, struct le_text *out);
#endif
