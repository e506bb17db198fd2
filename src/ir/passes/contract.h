/* Contractions: sums of products in a form that a library's matrix product computes. This is the form of a CONTRACT
 * stage's `product`.
 *
 * It is a linear combination. Each term is a factor times a sum, or a factor times the previous value of the target. A
 * sum is over the product of two loads, left and right; integers may be widened before they are added. Both loads
 * contain all reduced indices. 16-bit floats are loaded as f32, and the target may be of their type: the value is then
 * rounded to it. Indices that both contain and that are not reduced are batch indices: there is one
 * matrix product for each of their values. Factors are constants or loads of rank 0. */
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
/* Expands the + - * and multiply-adds of node into a sum of products. Returns false if it has more terms or factors
 * than fit. */
bool le_terms_of(struct le_node *node, struct le_terms *out);

struct le_contraction {
    struct {
        struct le_node *sum, *left, *right;
        struct le_node *scale; /* NULL: 1 */
        bool negative;
    } products[LE_TERMS_MAX];
    int product_count;
    enum le_type factor_type; /* type of the products, before they are added in the sums' type */
    struct le_node *kept;     /* load of the target's previous value; NULL: none */
    struct le_node *kept_scale;
    bool kept_negative;
};
/* Returns false if `product` does not have this form. */
bool le_contraction_of(struct le_node *product, struct le_contraction *out);
#endif
