/* Inside the verifier: verify.c looks at stages and blocks, verify_nodes.c at nodes, verify_region.c at regions. */
#ifndef LE_VERIFY_H
#define LE_VERIFY_H
#include "ir/ir.h"

struct verify {
    struct le_ir *ir; /* nothing but the nodes' marks is written */
    const struct le_stage *stage;
    int at;
    const char *problem; /* NULL: none yet */
    bool *defined;       /* by value: it is set on every way that leads here */
    int *paired;         /* by value: the last stage that has a pair which sets it; -1: none */
    struct {
        int *at;
        int count, capacity;
    } made;  /* the values that are defined, in order */
    struct { /* a control stage whose END is to come */
        struct open_stage {
            enum le_stage_kind kind;
            int block, index; /* index: FOR */
            int made;         /* how many values were there at its beginning */
            bool reached;     /* ELSE: the end of the first branch */
            int *then;        /* ELSE: what the first branch defines */
            int then_count;
        } * at;
        int count, capacity;
    } open;
    int blocks;   /* so far */
    bool reached; /* no BREAK stands before in this block */
};

static inline bool is_among(const int *set, int count, int index) {
    for (int k = 0; k < count; k++)
        if (set[k] == index)
            return true;
    return false;
}

/* verify_nodes.c: a node of the stage: all below it is sound, and it depends on nothing but the stage's indices and
 * those of the host's loops around */
void le_verify_tree(struct verify *v, struct le_node *root);

/* verify_region.c: NULL, or what is wrong */
const char *le_region_problem(const struct verify *v, const struct le_node *n);
#endif
