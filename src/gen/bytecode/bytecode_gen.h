/* The internals of the code generator for the vector machine. A scope is an open loop. Registers are virtual until
 * allocate.c packs the slots. */
#ifndef LE_BYTECODE_GEN_H
#define LE_BYTECODE_GEN_H
#include "gen/scan_find.h"

enum scope_kind { SCOPE_ROOT, SCOPE_LOOP, SCOPE_REPEAT, SCOPE_SKIP };
struct scope {
    struct scope *parent;
    enum scope_kind kind;
    int index;             /* of the IR; -1: none */
    int loop;              /* LOOP: in unit->loops */
    struct operand *value; /* REPEAT with an index: its value, lane by lane */
    bool lane;             /* this loop is the lanes' */
    bool in_lane;          /* this or one around it is */
    struct scope *single;  /* the same place, for code whose results are equal in all lanes; NULL: not made yet */
    struct scope *real;    /* of a `single`: where its code goes; else NULL */
    struct {
        struct le_instr *at;
        int count, capacity;
    } code;
    int bodies_end; /* code up to here ends with a body, which may not run */
};

/* A computed node: a register that holds it from `scope` inwards; a vector has one element a lane. */
struct operand {
    int reg;
    struct scope *scope;
    bool vector;
    bool gone;              /* the register that held it has been given up */
    struct operand *origin; /* the operand it was copied from, which has the same register; NULL: none */
    int splat;              /* its vector of equal lanes; -1: not made yet */
    struct operand *second; /* of a REGION: the other number that it gives; NULL: it is not asked for */
};

/* Under what a node is computed: only lanes with mask make unsafe reads (-1: all do); where such a read falls outside,
 * register `outside` is set (-1: it is a fault). */
struct condition {
    struct operand *mask;
    int outside;
};

struct memo {
    struct memo *next;
    struct operand operand;
    struct operand *mask;
    int outside, moment;
};

struct gen {
    const struct le_kernel *kernel;
    struct le_ir *ir;
    const struct le_stage *stage;
    struct le_node *nodes[8]; /* the stage's, and its siblings' if they are made together */
    int node_count;
    const struct le_space *space; /* its ranges are those of this box */
    struct le_arena *arena;
    struct {
        struct le_instr *at;
        int count, capacity;
    } code;
    struct {
        struct le_reg *at;
        int count, capacity;
    } regs;
    struct {
        struct le_loop *at;
        int count, capacity;
    } loops;
    struct scope *root;
    struct scope *base; /* inside the host's loops around the kernel */
    struct {
        int *at;
        int count, capacity;
    } hosts; /* indices of those */
    struct {
        int *at;
        int count, capacity;
    } fors;         /* indices of the regions' FORs, in ascending order */
    int *splitting; /* those of `all` but for FORs whose ranges are dynamic */
    int splitting_count;
    bool regions, whiles;    /* there are some */
    struct operand **locals; /* by number from first_local on: where their values are; NULL: not set yet */
    int first_local, local_count;
    int moment, moments;   /* of what changes variables or arrays the last, and their count: at one moment a node that
                              changes has one value */
    int *merged_into;      /* by index: the index whose loop covers it too; itself if none */
    int64_t *merged_count; /* by index: iterations of its loop if it covers others; else 0 */
    int *all;              /* the stage's indices and those of its reductions */
    int all_count;
    int lane;                    /* kept index that is the lane; -1: reductions choose theirs */
    bool rows;                   /* inside its lanes there are loops of rows */
    struct le_node_notes *notes; /* the kernel's */
    struct le_safety safety;
    int block;
    int branches; /* of selects around what is generated now: it may be computed in vain */
    leat_status status;
};

/* A SCAN stage while its code is made. */
struct scan {
    struct le_scan of;
    bool along, chunks; /* the lanes go along the scan; tasks take chunks of it */
};

/* emit.c */
struct le_instr *le_gen_emit(struct gen *g, struct scope *scope, struct le_instr instr);
int le_gen_reg(struct gen *g, enum le_reg_kind kind, enum le_type type);
int le_gen_const(struct gen *g, enum le_type type, uint64_t bits);
int le_gen_result(struct gen *g, const struct scope *scope, enum le_type type); /* a slot in lanes, else a scalar */
bool le_gen_by_moves(const struct gen *g, int index); /* its step is known only as it runs: no lanes */
/* c: of what the bounds read, where the range is dynamic. */
struct scope *le_gen_open(struct gen *g, struct scope *parent, int index, bool lane, int clip, struct condition c);
void le_gen_open_hosts(struct gen *g); /* opens g->base */
void le_gen_close(struct gen *g, struct scope *scope);
void le_gen_close_all(struct gen *g, struct scope *scope); /* with those around it, but for the root */
struct scope *le_gen_open_repeat(struct gen *g, struct scope *parent, int index);
struct scope *le_gen_open_skip(struct gen *g, struct scope *parent);
void le_gen_close_body(struct gen *g, struct scope *scope, int mask); /* of REPEAT, which has no mask, or SKIP */
/* Whether a node that is needed in scope is the same for all its lanes, and takes a few instructions at most. */
bool le_gen_is_equal(struct gen *g, const struct le_node *node, const struct scope *scope);
struct scope *le_gen_single(struct gen *g, struct scope *scope);
struct scope *le_gen_natural(const struct gen *g, const struct le_node *node, struct scope *scope);
int le_gen_vector(struct gen *g, struct operand *operand);                   /* a register with one element a lane */
int le_gen_use(struct gen *g, struct operand *operand, struct scope *scope); /* as code in scope wants it */
void le_gen_stream_loop(struct gen *g, int reg, struct scope *scope, int64_t stride_bytes);

/* expression.c */
struct operand *le_gen_node(struct gen *g, struct le_node *node, struct scope *scope, struct condition c);
/* A register: reg, an i64, where the condition holds and nothing has fallen outside, else the other one. */
int le_gen_reached(struct gen *g, struct scope *scope, struct condition c, int reg, int other);
/* Both will be asked for, there and then: sums over the same indices are made in one loop. */
void le_gen_both(struct gen *g, struct le_node *a, struct le_node *b, struct scope *scope, struct condition c);

/* region_code.c, region_steps.c */
struct operand *le_gen_region(struct gen *g, struct le_node *node, struct scope *scope, struct condition c);
struct operand *le_gen_second(struct gen *g, struct le_node *node, struct scope *scope, struct condition c);
struct operand *le_gen_local(struct gen *g, const struct le_node *node);
bool le_gen_in_lanes(const struct gen *g); /* several elements at once give what one by one would */

/* rows.c: sums over ranges that differ from lane to lane */
bool le_gen_choose_rows(struct gen *g); /* the lane, if all ranges that differ in its lanes are such */
bool le_gen_is_row_sum(const struct gen *g, const struct le_node *node);
struct operand *le_gen_rows(struct gen *g, struct le_node *node, struct scope *scope, struct condition c);
int le_gen_fetch(struct gen *g, struct operand *x, struct scope *scope); /* one element a lane of scope */

/* tile.c: node, which is safe, computed before a loop that would compute it again and again; NULL: it is not worth it
 */
struct operand *le_gen_tile(struct gen *g, struct le_node *node, struct scope *scope);

/* access.c */
struct operand *le_gen_load(struct gen *g, struct le_node *node, struct scope *scope, struct condition c);
void le_gen_store(struct gen *g, struct operand *value, struct scope *scope);
/* What a step of an EACH stage stores: op=, but only SET where it is the element's own place. */
struct stored {
    int value, rank, access;
    struct le_node *const *subscripts;
    enum le_scatter op;
    bool own;
};
void le_gen_store_step(struct gen *g, const struct stored *to, struct operand *value, struct scope *scope,
                       struct condition c);
/* The instruction that has just made a value may write it to another register. */
bool le_gen_retarget(struct gen *g, struct operand *value, struct scope *scope, int reg);
void le_gen_scatter(struct gen *g, struct operand *value, struct scope *scope, bool copies, int64_t copy_bytes);
/* Whether a load or store is a pointer that the loops move, wherever it stands: every subscript is affine, stays inside
 * its axis, and uses no index that may differ from lane to lane without being the lanes' own. */
bool le_gen_is_linear(const struct gen *g, const struct le_address *address, bool trusted);
struct le_address le_gen_target(const struct gen *g); /* the left side's */
bool le_gen_target_is_trusted(const struct gen *g);   /* its subscripts need no check */

/* reduce.c */
struct operand *le_gen_reduce(struct gen *g, struct le_node *node, struct scope *scope, struct condition c);
/* Two over the same indices; false: each has a better way of its own. */
bool le_gen_reduce_both(struct gen *g, struct le_node *const nodes[2], struct scope *scope, struct condition c,
                        struct operand *totals[2]);
/* What a reduction adds: registers of its term, or of both factors where it adds products; else second is LE_NO_REG. */
struct added_term {
    int first, second;
};
struct added_term le_gen_term(struct gen *g, const struct le_node *node, struct scope *scope, struct condition c);
/* A reduction that is a whole kernel: its terms, which tasks share out; 0 where it cannot be cut. *row_count: of its
 * second loop, or 0 if it has one loop. */
int64_t le_gen_cuttable(struct gen *g, struct le_node *node, int64_t *row_count);
void le_gen_reduce_parts(struct gen *g, struct operand **totals); /* all of g->nodes in one loop */
bool le_gen_drives_bounds(const struct gen *g, int index);        /* a dynamic range depends on it */
/* The index cannot be the lanes': a loop that all lanes share would get bounds that differ. */
bool le_gen_splits_bounds(struct gen *g, int index);

/* generate.c */
leat_status le_gen_stage(const struct le_kernel *kernel, struct le_launches *out); /* between two of those */
/* One box of a map; scan: or the turns of a scan, whose stage has the kept indices alone, and its term */
leat_status le_gen_map(const struct le_kernel *kernel, struct scan *scan, struct le_launches *out);

/* scan_code.c */
bool le_gen_scan_stage(const struct le_kernel *kernel, struct le_launches *out, leat_status *status); /* false: a map */
void le_gen_choose_scan_lane(struct gen *g, struct scan *scan);
bool le_gen_cut_scan(struct gen *g, struct scan *scan, struct le_launch *launch); /* into chunks; false: it is not */
void le_gen_scan(struct gen *g, const struct scan *scan, struct scope *scope);

/* schedule.c */
/* Calls visit for every node of the kernel: those of its nodes and of the left side's subscripts. */
void le_gen_walk(struct gen *g, void (*visit)(struct le_node *node, void *user), void *user);
void le_gen_find_indices(struct gen *g);
void le_gen_merge(struct gen *g);
void le_gen_choose_lane(struct gen *g);
int64_t le_gen_extent(const struct gen *g, int index); /* iterations */
bool le_gen_is_strided(struct gen *g);                 /* in lanes there are reads or stores with gaps between them */
bool le_gen_is_for(const struct gen *g, int index);
struct le_work le_gen_work(const struct gen *g); /* of the whole stage */

/* combine.c: squares of differences in one instruction each; bodies' ends are known */
void le_gen_combine(struct gen *g);

/* allocate.c: code in order, slots packed */
struct le_unit *le_gen_finish(struct gen *g);
#endif
