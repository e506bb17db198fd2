/* Inside the generator: scopes are the open loops, registers are virtual until allocate.c packs the slots. */
#ifndef LE_GEN_H
#define LE_GEN_H
#include "gen/kernel.h"

struct scope {
    struct scope *parent;
    int index;    /* of the IR; -1: outside of all loops */
    int loop;     /* in unit->loops */
    bool lane;    /* this loop is the lanes' */
    bool in_lane; /* this or one around it is */
    struct {
        struct le_instr *at;
        int count, capacity;
    } code;
};

/* A computed node: a register that holds it from `scope` inwards; a vector has one element a lane. */
struct operand {
    int reg;
    struct scope *scope;
    bool vector;
    int splat; /* its vector of equal lanes; -1: not made yet */
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
    int outside;
};

struct gen {
    const struct le_kernel *kernel;
    struct le_ir *ir;
    const struct le_stage *stage;
    struct le_node *nodes[8]; /* the stage's, and its siblings' if they are made together */
    int node_count;
    struct le_space space; /* its ranges are those of this box */
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
    int *merged_into;      /* by index: the index whose loop covers it too; itself if none */
    int64_t *merged_count; /* by index: iterations of its loop if it covers others; else 0 */
    int *all;              /* the stage's indices and those of its reductions */
    int all_count;
    int lane; /* kept index that is the lane; -1: reductions choose theirs */
    int epoch;
    int block;
    int branches; /* of selects around what is generated now: it may be computed in vain */
    leat_status status;
};

/* emit.c */
struct le_instr *le_gen_emit(struct gen *g, struct scope *scope, struct le_instr instr);
int le_gen_reg(struct gen *g, enum le_reg_kind kind, enum le_type type);
int le_gen_const(struct gen *g, enum le_type type, uint64_t bits);
int le_gen_result(struct gen *g, const struct scope *scope, enum le_type type); /* a slot in lanes, else a scalar */
bool le_gen_by_moves(const struct gen *g, int index); /* its step is known only as it runs: no lanes */
struct scope *le_gen_open(struct gen *g, struct scope *parent, int index, bool lane, int clip);
void le_gen_close(struct gen *g, struct scope *scope);
struct scope *le_gen_natural(const struct gen *g, const struct le_node *node, struct scope *scope);
int le_gen_vector(struct gen *g, struct operand *operand); /* a register with one element a lane */
int le_gen_use(struct gen *g, struct operand *operand, const struct scope *scope); /* as code in scope wants it */
void le_gen_stream_loop(struct gen *g, int reg, struct scope *scope, int64_t stride_bytes);

/* expression.c */
struct operand *le_gen_node(struct gen *g, struct le_node *node, struct scope *scope, struct condition c);
bool le_gen_is_safe(struct gen *g, struct le_node *node);

/* access.c */
struct operand *le_gen_load(struct gen *g, struct le_node *node, struct scope *scope, struct condition c);
bool le_gen_load_is_safe(struct gen *g, const struct le_node *node);
void le_gen_store(struct gen *g, struct operand *value, struct scope *scope);
void le_gen_scatter(struct gen *g, struct operand *value, struct scope *scope, bool copies, int64_t copy_bytes);
/* bytes from one value of index to the next in a load or store; false: not affine */
bool le_gen_stride(const struct gen *g, int value, struct le_node *const *subscripts, int rank, int stretch, int index,
                   int64_t *stride);

/* reduce.c */
struct operand *le_gen_reduce(struct gen *g, struct le_node *node, struct scope *scope, struct condition c);
/* A reduction that is a whole kernel: its terms, which tasks share out; 0 where it cannot be cut. *row_count: of its
 * second loop, or 0 if it has one loop. */
int64_t le_gen_cuttable(struct gen *g, struct le_node *node, int64_t *row_count);
void le_gen_reduce_parts(struct gen *g, struct operand **totals); /* all of g->nodes in one loop */
bool le_gen_drives_bounds(const struct gen *g, int index);        /* a dynamic range depends on it */

/* schedule.c */
void le_gen_find_indices(struct gen *g);
void le_gen_merge(struct gen *g);
void le_gen_choose_lane(struct gen *g);
int64_t le_gen_extent(const struct gen *g, int index); /* iterations; 64 for a dynamic one of unknown bounds */
int64_t le_gen_work(struct gen *g);                    /* of the whole stage: its time in additions */
int64_t le_gen_operations(struct gen *g);              /* of the whole stage: arithmetic alone, one each */

/* allocate.c: code in order, slots packed */
struct le_unit *le_gen_finish(struct gen *g);
#endif
