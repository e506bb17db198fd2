/* Analyses the steps of a region before code is generated: which loop each is in, which steps leave a loop early, and
 * where variables are set and read. */
#ifndef LE_REGION_STEPS_H
#define LE_REGION_STEPS_H
#include "gen/bytecode/bytecode_gen.h"

struct region_variable { /* steps that name it; -1: none */
    int first_set, first_read, last_read, first, last;
};
struct region_steps {
    struct le_node *node;
    const struct le_region_step *at;
    int count;
    struct region_variable *variables; /* by number, from first_local on */
    int first_local, local_count;
    int *around; /* by step: the innermost loop around it; -1: none */
};

void le_gen_find_steps(struct gen *g, struct le_node *node, struct region_steps *out);
const struct region_variable *le_gen_variable(const struct region_steps *steps, int number);
/* Whether steps from..to-1 have a RETURN that is not the region's last step. */
bool le_gen_returns_early(const struct region_steps *steps, int from, int to);
/* That, or a BREAK out of a loop that began before step `loops_from`. */
bool le_gen_escapes(const struct region_steps *steps, int from, int to, int loops_from);
/* It would otherwise be first set in a loop, and be needed in its next turn or behind it. */
bool le_gen_starts_outside(const struct region_steps *steps, const struct region_variable *v);
/* Whether lanes that have left the loop whose body SET `step` is in may still need what the variable was: not where
 * that loop alone reads it, and each turn of a loop around it begins anew. */
bool le_gen_others_need(const struct region_steps *steps, int loop, int step);
#endif
