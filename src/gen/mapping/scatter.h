/* Scatters: what their mappings share. */
#ifndef LE_SCATTER_H
#define LE_SCATTER_H
#include "gen/mapping/mapping.h"
#include "gen/tree/codegen.h"

enum {
    SCATTER_THREADS = 256,     /* threads of a block that computes the points together */
    SCATTER_OWNERS_MOST = 2048 /* elements of a target whose elements are owned by threads: every block of owners reads
                                  all points of the chunk */
};

struct scatter_stage {
    const struct le_device_kernel_job *job;
    const struct le_stage *stage;
    struct le_chunks chunks;
    size_t copies; /* chunks.count > 1: byte of the work memory where the copies begin */
};
struct destination le_scatter_left_side(const struct codegen *c); /* the stage's */
struct le_expression *le_scatter_minus_zero(struct codegen *c);   /* of the target's type: -0.0, which changes no sum */

/* private_scatter.c: preferred where copies save time. */
void le_propose_private_scatter(struct le_mapping_search *search);

/* ordered_scatter.c: the kernel that adds the terms, whose points must be countable. Owners add to copies only. */
bool le_scatter_is_countable(const struct scatter_stage *s);
leat_status le_scatter_by_owners(const struct scatter_stage *s, struct le_generated_launches *out);
leat_status le_scatter_by_blocks(const struct scatter_stage *s, struct le_generated_launches *out);
#endif
