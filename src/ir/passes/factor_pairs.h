/* Which two factors of a sum of products of three arrays and more are multiplied first, and sets of indices. */
#ifndef LE_FACTOR_PAIRS_H
#define LE_FACTOR_PAIRS_H
#include "ir/passes/contract.h"
#include "ir/path.h"

/* Host indices are constants here and are left out. */
struct le_index_set {
    int at[2 * LEAT_RANK_MAX];
    int count;
    bool too_many;
};

static inline bool le_set_has(const struct le_index_set *set, int index) {
    return le_has_index(set->at, set->count, index);
}

static inline void le_set_add(const struct le_ir *ir, struct le_index_set *set, const int *indices, int count) {
    for (int k = 0; k < count; k++) {
        if (ir->indices.at[indices[k]].host || le_set_has(set, indices[k]))
            continue;
        if (set->count == ARRAY_LEN(set->at))
            set->too_many = true;
        else
            set->at[set->count++] = indices[k];
    }
}

static inline struct le_index_set le_set_of(const struct le_ir *ir, const struct le_node *node) {
    struct le_index_set set = {.count = 0};
    le_set_add(ir, &set, node->free, node->free_count);
    return set;
}

static inline bool le_set_is_within(const struct le_index_set *a, const struct le_index_set *b) {
    for (int k = 0; k < a->count; k++)
        if (!le_set_has(b, a->at[k]))
            return false;
    return true;
}

static inline void le_set_join(const struct le_ir *ir, struct le_index_set *set, const struct le_index_set *other) {
    le_set_add(ir, set, other->at, other->count);
}

static inline struct le_index_set le_set_without(const struct le_ir *ir, const struct le_index_set *set,
                                                 const struct le_index_set *other) {
    struct le_index_set rest = {.count = 0};
    for (int k = 0; k < set->count; k++)
        if (!le_set_has(other, set->at[k]))
            le_set_add(ir, &rest, &set->at[k], 1);
    return rest;
}

struct le_factor_pair {
    int first, second;          /* factors */
    struct le_index_set summed; /* the indices of the sum that only these two have */
    int most, least;            /* indices of the larger and the smaller of the two sums */
};
/* Chooses the pair whose two sums, of the two factors and of their product with the others, run over the fewest
 * indices. If both are fewer than those of the whole sum, the work shrinks by an extent. If not, the pair must be a
 * product of matrices no larger than another factor, so that one is computed as fast as a library can, and little is
 * stored: sum(i, j: x[n,i] * w[i,j] * z[n,j]). The term has the factors that depend on indices. false: there is no such
 * pair. */
bool le_factor_pair_find(const struct le_ir *ir, const struct le_node *sum, const struct le_term *term,
                         struct le_factor_pair *best);
#endif
