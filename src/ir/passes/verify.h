/* Internals of the verifier: verify.c checks stages and blocks, verify_nodes.c nodes, verify_region.c regions. */
#ifndef LE_VERIFY_H
#define LE_VERIFY_H
#include "ir/ir.h"

struct verify {
    const struct le_ir *ir;
    const struct le_stage *stage;
    int at;
    const char *problem; /* NULL: none yet */
    bool *defined;       /* by value: it is set on every path to here */
    int *paired;         /* by value: the last stage with a pair that sets it; -1: none */
    struct {
        int *at;
        int count, capacity;
    } made;  /* the defined values, in order */
    struct { /* control stages that are not closed yet */
        struct open_stage {
            enum le_stage_kind kind;
            int block, index; /* index: FOR */
            int made;         /* number of defined values at its beginning */
            bool reached;     /* ELSE: the end of the first branch is reached */
            int *then;        /* ELSE: the values that the first branch defines */
            int then_count;
        } * at;
        int count, capacity;
    } open;
    int blocks;   /* so far */
    bool reached; /* there is no BREAK earlier in this block */
};

static inline bool is_among(const int *set, int count, int index) {
    for (int k = 0; k < count; k++)
        if (set[k] == index)
            return true;
    return false;
}

/* verify_nodes.c: checks a node of the stage and all nodes below it. They may use only the indices of the stage and of
 * the enclosing host loops. */
void le_verify_tree(struct verify *v, struct le_node *root);

/* verify_region.c: the problem, or NULL */
const char *le_region_problem(const struct verify *v, const struct le_node *n);
#endif
