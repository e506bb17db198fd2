/* The operations, special functions, reductions and edge modes of the language, with descriptions for help texts. */
#ifndef LE_OP_H
#define LE_OP_H
#include "spec/type.h"

enum le_rule {
    LE_RULE_ARITH,
    LE_RULE_TRUEDIV,
    LE_RULE_BITS,
    LE_RULE_SHIFT,
    LE_RULE_COMPARE,
    LE_RULE_LOGIC,
    LE_RULE_FLOAT,
    LE_RULE_ROUND,
    LE_RULE_SAME,
    LE_RULE_CLASSIFY,
    LE_RULE_CHOOSE,
    LE_RULE_INTEGER
};
enum le_op {
#define LE_OP(id, ...) LE_OP_##id,
#include "spec/op.def"
#undef LE_OP
    LE_OPS
};
/* usage: an expression that uses it, "sqrt(x)"; summary: its meaning. */
struct le_words {
    const char *name, *usage, *summary;
};
/* Texts of CUDA C by type, with the placeholders of op.def. NULL: not computed in such types, or no such way. */
struct le_cuda_spelling {
    const char *each; /* the types that have no text of their own below, and positions (gen/tree/ktree.h) */
    const char *floats, *integers, *bools;
    const char *unsigneds;         /* unsigned integers, if other than integers */
    const char *quick32, *quick64; /* f32 and f64 by LE_WAY_QUICK (gen/tree/ktree.h) */
    const char *short32;           /* f32 by LE_WAY_SHORT */
};
struct le_op_properties {
    const char *name;
    int arity;
    enum le_rule rule;
    int cost;
    struct le_words words;
    struct le_cuda_spelling cuda;
};
const struct le_op_properties *le_op_info(enum le_op op);
/* The function with that name (sqrt, min, ...; not an operator); LE_OPS: none. */
enum le_op le_op_function(const char *name, size_t length);
bool le_op_is_function(enum le_op op);

/* Functions that are not operations; the checker has a separate rule for each. */
enum le_special {
    LE_SPECIAL_LEN,
    LE_SPECIAL_RAND,
    LE_SPECIAL_RANDN,
    LE_SPECIAL_RE,
    LE_SPECIAL_IM,
    LE_SPECIAL_CONJ,
    LE_SPECIALS
};
const struct le_words *le_special_words(enum le_special special);
enum le_special le_special_parse(const char *name, size_t length); /* LE_SPECIALS: none */

enum le_reduction {
    LE_RED_SUM,
    LE_RED_PROD,
    LE_RED_MIN,
    LE_RED_MAX,
    LE_RED_ANY,
    LE_RED_ALL,
    LE_RED_MEAN,
    LE_RED_ARGMIN,
    LE_RED_ARGMAX,
    LE_RED_FUNCTIONS, /* those above are functions of the language */
    /* Sums of floats in the order for sums with reuse (rule 3b of NUMERICS): chunks of terms, each added in order */
    LE_RED_CHAIN = LE_RED_FUNCTIONS,
    LE_RED_CHAIN_OF_PRODUCTS, /* the same; a term that is a product is added by a multiply-add */
    LE_REDUCTIONS
};
enum { LE_CHAIN_TERMS = 32, LE_CHAIN_CHUNKS = 32 }; /* terms of a chunk; chunks whose totals are added in order */
const char *le_reduction_name(enum le_reduction reduction);
const struct le_words *le_reduction_words(enum le_reduction reduction);
enum le_reduction le_reduction_parse(const char *name, size_t length); /* LE_REDUCTIONS: none */

enum le_edge { LE_EDGE_NONE, LE_EDGE_CLAMP, LE_EDGE_WRAP, LE_EDGE_MIRROR, LE_EDGE_SYMMETRIC, LE_EDGE_FILL, LE_EDGES };
const char *le_edge_name(enum le_edge edge);
const struct le_words *le_edge_words(enum le_edge edge);
enum le_edge le_edge_parse(const char *name, size_t length); /* LE_EDGES: none */
#endif
