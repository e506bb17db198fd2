/* Conversions between the types of memory, of values and of positions. */
#include "gen/tree/codegen.h"

bool le_codegen_fits_int(int64_t low, int64_t high) {
    return low >= -INT32_MAX && high <= INT32_MAX;
}

struct le_expression *le_codegen_wide(struct codegen *c, struct le_expression *x) {
    return le_ktree_is_position(x->type) ? le_ktree_cast(c->tree, LE_I64, x) : x;
}

struct le_expression *le_codegen_from_memory(struct codegen *c, struct le_expression *element, enum le_type type) {
    return le_ktree_cast(c->tree, (int)type, element);
}

struct le_expression *le_codegen_to_memory(struct codegen *c, struct le_expression *x, enum le_type stored) {
    return le_ktree_cast(c->tree, (int)stored, le_codegen_wide(c, x));
}
