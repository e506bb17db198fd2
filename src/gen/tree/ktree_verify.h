/* Internals of the kernel trees' verifier: ktree_verify.c checks statements, ktree_verify_expression.c what is in them.
 */
#ifndef LE_KTREE_VERIFY_H
#define LE_KTREE_VERIFY_H
#include "gen/tree/tree.h"

enum le_known { LE_UNKNOWN, LE_IN_SCOPE, LE_OUT_OF_SCOPE };
struct le_ktree_verifier {
    const struct le_kernel_tree *t;
    struct le_arena *arena;
    unsigned char *known; /* by variable: enum le_known */
    bool *totals_known;   /* by number */
    const char *problem;  /* the first one; NULL: none */
};
void le_ktree_problem(struct le_ktree_verifier *v, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ktree_verify_expression.c. x NULL is a problem. */
void le_verify_type(struct le_ktree_verifier *v, int type); /* of variables: it is known */
void le_verify_use(struct le_ktree_verifier *v, const struct le_variable *variable);
void le_verify_value(struct le_ktree_verifier *v, const struct le_expression *x);
/* A value that may become one of that type: of the same type, or both are positions. */
void le_verify_fits(struct le_ktree_verifier *v, int type, const struct le_expression *x);
void le_verify_condition(struct le_ktree_verifier *v, const struct le_expression *x);
void le_verify_address(struct le_ktree_verifier *v, const struct le_expression *x, bool written);
void le_verify_place(struct le_ktree_verifier *v, const struct le_expression *x); /* an element that may be written */
void le_verify_call(struct le_ktree_verifier *v, const struct le_expression *x);  /* one that gives nothing */
void le_verify_object(struct le_ktree_verifier *v, const struct le_expression *x);
#endif
