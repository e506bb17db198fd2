/* Sums of products as a library's matrix products compute them: what a CONTRACT stage's `product` says.
 *
 * It is a linear combination, whose terms are each a number times a sum, or a number times what the target held before.
 * A sum is over the product of two loads, left and right; integers may be widened before they are added. The indices
 * that both have and that stay count whole products, the reduced ones stand in both. Numbers are constants or loads of
 * rank 0. */
#ifndef LE_CONTRACT_H
#define LE_CONTRACT_H
#include "ir/ir.h"

#define LE_TERMS_MAX   4
#define LE_FACTORS_MAX 8
struct le_term {
    bool negative;
    struct le_node *factors[LE_FACTORS_MAX];
    int count;
};
struct le_terms {
    struct le_term at[LE_TERMS_MAX];
    int count;
};
/* node as a sum of products: what + - * and multiply-adds of it say. false: there are more than fit. */
bool le_terms_of(struct le_node *node, struct le_terms *out);

struct le_contraction {
    struct {
        struct le_node *sum, *left, *right;
        struct le_node *scale; /* NULL: 1 */
        bool negative;
    } products[LE_TERMS_MAX];
    int product_count;
    enum le_type factor_type; /* that products are computed in, before they are added as the sums' type */
    struct le_node *kept;     /* load of what the target held before; NULL: nothing is added to */
    struct le_node *kept_scale;
    bool kept_negative;
};
/* false: `product` is no such combination. */
bool le_contraction_of(struct le_node *product, struct le_contraction *out);
#endif
