/* See plan.h: whether a leader's kernel may compute its siblings. Their own statements check their accesses, but these
 * statements come later: until then the kernel must not trust their reads. A note would name the leader's statement. */
#include "ir/analysis/analysis.h"
#include "run/call.h"

struct sibling_check {
    struct le_safety safety;
    bool all;
};

static void check_sibling(struct le_node *node, void *user) {
    struct sibling_check *fit = user;
    fit->all &= !le_node_may_note(&fit->safety, node);
    if (node->kind != LE_NODE_LOAD || !node->trusted || !fit->all)
        return;
    const struct le_address address = le_load_address(fit->safety.layouts, node);
    fit->all = le_address_is_safe(fit->safety.space, &address);
}

bool le_siblings_fit(const struct le_specialised *s, const struct le_stage *leader) {
    struct sibling_check fit = {.safety = {.ir = s->ir, .space = &s->plan->space, .layouts = s->plan->layouts},
                                .all = true};
    for (int k = leader->sibling; k >= 0 && fit.all; k = s->ir->stages.at[k].sibling)
        le_node_walk(s->ir, s->ir->stages.at[k].node, check_sibling, &fit);
    return fit.all;
}
