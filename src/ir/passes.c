/* The passes, in order, with the verifier between them, and the sweep. */
#include "ir/ir.h"
#include <string.h>

const struct le_pass le_passes[] = {{"sweep", le_pass_sweep}, {"inline", le_pass_inline},     {"hoist", le_pass_hoist},
                                    {"sweep", le_pass_sweep}, {"siblings", le_pass_siblings}, {NULL, NULL}};

static leat_status run_pass(struct le_ir *ir, const struct le_pass *pass) {
    pass->run(ir);
    leat_status status = le_ir_verify(ir);
    return status == LEAT_OK ? LEAT_OK : le_fail_prefix(status, "after pass %s", pass->name);
}

leat_status le_passes_run(struct le_ir *ir) {
    leat_status status = le_ir_verify(ir);
    for (const struct le_pass *pass = le_passes; pass->name && status == LEAT_OK; pass++)
        status = run_pass(ir, pass);
    return status;
}

leat_status le_passes_run_to(struct le_ir *ir, const char *last) {
    const struct le_pass *end = le_passes;
    leat_status status = le_ir_verify(ir);
    bool none = strcmp(last, "lower") == 0;
    while (!none && end->name && strcmp(end->name, last) != 0)
        end++;
    if (!none && !end->name)
        return le_fail(LEAT_INVALID, "there is no pass '%s': lower, sweep, inline, hoist or siblings", last);
    for (const struct le_pass *pass = le_passes; !none && pass <= end && status == LEAT_OK; pass++)
        status = run_pass(ir, pass);
    return status;
}

/* ---- sweep */

struct sweep {
    struct le_ir *ir;
    int reader;
    int *last_reader; /* by value: so that a stage counts once */
};

static void count_value(struct sweep *s, int value) {
    if (s->last_reader[value] == s->reader)
        return;
    s->last_reader[value] = s->reader;
    s->ir->values.at[value].uses++;
}

static void count_load(struct le_node *node, void *user) {
    if (node->kind == LE_NODE_LOAD)
        count_value(user, node->value);
}

static void count_index_bounds(struct sweep *s, const int *indices, int count) {
    for (int k = 0; k < count; k++) {
        struct le_range_nodes *r = &s->ir->indices.at[indices[k]].range;
        if (r->low)
            le_node_walk(s->ir, r->low, count_load, s);
        if (r->high)
            le_node_walk(s->ir, r->high, count_load, s);
    }
}

void le_pass_sweep(struct le_ir *ir) {
    struct sweep s = {.ir = ir, .last_reader = LE_NEW_ARRAY(ir->arena, ir->values.count, int)};
    for (int k = 0; k < ir->values.count; k++)
        ir->values.at[k].uses = 0;
    for (int k = 0; k < ir->values.count; k++)
        s.last_reader[k] = -1;
    for (int k = ir->stages.count - 1; k >= 0; k--) {
        struct le_stage *stage = &ir->stages.at[k];
        const struct le_value *target = &ir->values.at[stage->target];
        stage->dead = !target->wanted && target->uses == 0;
        if (stage->dead)
            continue;
        s.reader = k;
        if (stage->base >= 0)
            count_value(&s, stage->base);
        le_node_walk(ir, stage->node, count_load, &s);
        for (int d = 0; d < stage->left_count; d++)
            le_node_walk(ir, stage->left[d], count_load, &s);
        count_index_bounds(&s, stage->indices, stage->index_count);
    }
}
