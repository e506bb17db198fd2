/* Unrolls short sums and products inside lanes: all terms one after the other, added in the order of the sums' tree.
 * Parts of a term that do not change in a loop around are then computed once, outside that loop. */
#include "gen/bytecode/bytecode_gen.h"

#define TERMS_MAX 16
#define COST_MAX  256 /* additions of all terms */

bool le_gen_is_short(struct gen *g, const struct le_node *node) {
    int64_t terms = 1;
    if ((node->code != LE_RED_SUM && node->code != LE_RED_PROD) || !le_type_is_float(node->type))
        return false;
    if (node->operands[0]->reduces || node->operands[0]->changes || !le_node_is_safe(&g->safety, node->operands[0]))
        return false;
    for (int k = 0; k < node->index_count; k++) {
        const struct le_range *r = le_range_of(g->space, node->indices[k]);
        if (r->dynamic || g->ir->indices.at[node->indices[k]].host || le_range_count(r) < 1 ||
            le_range_count(r) > TERMS_MAX)
            return false;
        terms *= le_range_count(r);
        if (terms > TERMS_MAX)
            return false;
    }
    return terms * (node->operands[0]->cost + 1) <= COST_MAX;
}
