/* Removes from a kernel what is never used: generators bind indices that the expressions may then not need. */
#include "gen/tree/tree.h"
#include <string.h>

struct sweep {
    struct le_kernel_tree *t;
    int *uses;   /* by variable */
    bool faults; /* it has some */
};

static void count_block(struct sweep *s, const struct le_block *block, int by);

static void count_expression(struct sweep *s, const struct le_expression *x, int by) {
    if (!x)
        return;
    if (x->variable)
        s->uses[x->variable->id] += by;
    for (int k = 0; k < x->count; k++)
        count_expression(s, x->x[k], by);
}

/* What the statement uses, but for its blocks. */
static void count_statement(struct sweep *s, const struct le_statement *statement, int by) {
    count_expression(s, statement->x, by);
    count_expression(s, statement->to, by);
    count_expression(s, statement->step, by);
    count_expression(s, statement->guard, by);
    if (statement->variable && statement->variable->object)
        count_expression(s, statement->variable->object, by);
    if (statement->kind != LE_STATEMENT_FAULT && statement->kind != LE_STATEMENT_NOTE)
        return;
    s->uses[s->t->fault->id] += by;
    s->faults |= statement->kind == LE_STATEMENT_FAULT;
    if (statement->kind == LE_STATEMENT_FAULT)
        count_expression(s, s->t->action, by);
}

static void count_block(struct sweep *s, const struct le_block *block, int by) {
    for (int k = 0; block && k < block->list.count; k++) {
        count_statement(s, block->list.at[k], by);
        count_block(s, block->list.at[k]->body, by);
        count_block(s, block->list.at[k]->otherwise, by);
    }
}

/* From the last statement to the first: what one that goes had used is used less then. */
static void sweep_block(struct sweep *s, struct le_block *block) {
    int kept = block ? block->list.count : 0;
    for (int k = kept - 1; k >= 0; k--) {
        struct le_statement *one = block->list.at[k];
        if (one->kind == LE_STATEMENT_LET && s->uses[one->variable->id] == 0) {
            count_statement(s, one, -1);
            continue;
        }
        if (one->otherwise)
            sweep_block(s, one->otherwise);
        if (one->body)
            sweep_block(s, one->body);
        block->list.at[--kept] = one;
    }
    if (kept > 0) {
        memmove(block->list.at, block->list.at + kept, (size_t)(block->list.count - kept) * sizeof *block->list.at);
        block->list.count -= kept;
    }
}

void le_ktree_sweep(struct le_kernel_tree *t) {
    struct sweep s = {.t = t, .uses = LE_NEW_ARRAY(t->arena, t->variable_count + 1, int)};
    count_block(&s, t->root, 1);
    sweep_block(&s, t->root);
    int kept = 0;
    for (int k = 0; k < t->parameters.count; k++)
        if (s.uses[t->parameters.at[k]->id] > 0)
            t->parameters.at[kept++] = t->parameters.at[k];
    t->parameters.count = kept;
    if (t->fault && s.uses[t->fault->id] == 0)
        t->fault = NULL;
    if (!s.faults)
        t->action = NULL;
}
