/* Scatters: what their mappings share. */
#ifndef LE_SCATTER_H
#define LE_SCATTER_H
#include "gen/mapping/mapping.h"
#include "gen/tree/codegen.h"

enum {
    SCATTER_THREADS = 256,     /* of a block whose threads take its points together */
    SCATTER_OWNERS_MOST = 2048 /* elements that threads own: so many blocks go through all of a chunk's points */
};

/* Parts of a scatter that go to copies of the target, by the turns of its first index; count 1: there are none. */
struct chunks {
    int64_t count, size, elements; /* turns of the first index; of the target */
    size_t work;                   /* where the copies are, side by side */
};
struct scatter_stage {
    const struct le_device_kernel_job *job;
    const struct le_stage *stage;
    struct chunks chunks;
};
struct destination le_scatter_left_side(const struct codegen *c); /* the stage's */
struct le_expression *le_scatter_minus_zero(struct codegen *c);   /* of the target's type: -0.0, which changes no sum */

/* private_scatter.c: where it pays, it is preferred. */
void le_propose_private_scatter(struct le_mapping_search *search);

/* ordered_scatter.c: the kernel that takes the points, which are countable. By owners, only into copies. */
bool le_scatter_is_countable(const struct scatter_stage *s);
leat_status le_scatter_by_owners(const struct scatter_stage *s, struct le_generated_launches *out);
leat_status le_scatter_by_blocks(const struct scatter_stage *s, struct le_generated_launches *out);
#endif
