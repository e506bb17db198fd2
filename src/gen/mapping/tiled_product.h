/* CONTRACT stages in tiles: the threads of a block share the factors through shared memory. */
#ifndef LE_TILED_PRODUCT_H
#define LE_TILED_PRODUCT_H
#include "gen/tree/codegen.h"
#include "gen/mapping/mapping.h"

/* Adds nothing if it is small, or no such product. Its sums are in the order of the terms, as a library's are: if it
 * fits, no other mapping may be chosen. */
void le_propose_product(struct le_mapping_search *search);
#endif
