/* Properties of regions that build.c needs (region.c). */
#ifndef LE_REGION_H
#define LE_REGION_H
#include "ir/ir.h"

uint64_t le_region_hash(const struct le_region *region, uint64_t seed); /* hash of the kinds and numbers of its steps */
bool le_region_equal(const struct le_region *a, const struct le_region *b);
int64_t le_region_cost(const struct le_node *node); /* an estimate: the number of iterations of its loops is unknown */
/* le_node.changes for a REGION with operands that change. */
bool le_node_changes(const struct le_ir *ir, struct le_node *node);
#endif
