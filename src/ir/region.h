/* What build.c asks about regions (region.c). */
#ifndef LE_REGION_H
#define LE_REGION_H
#include "ir/ir.h"

uint64_t le_region_hash(const struct le_region *region, uint64_t seed); /* of its steps' kinds and numbers */
bool le_region_equal(const struct le_region *a, const struct le_region *b);
int64_t le_region_cost(const struct le_node *node); /* a guess: how often its loops turn is not known */
/* Of a REGION some of whose operands change: whether it does, too. */
bool le_node_changes(struct le_ir *ir, struct le_node *node);
#endif
