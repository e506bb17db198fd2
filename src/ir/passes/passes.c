/* The list of passes. The verifier runs after each of them. */
#include "ir/ir.h"
#include <string.h>

const struct le_pass le_passes[] = {
    {"demand", le_pass_demand}, /* before any stage is inlined or fused */
    {"dead-code", le_pass_dead_code},
    {"contract", le_pass_contract},
    {"scan", le_pass_find_scans},
    {"dead-code", le_pass_dead_code},
    {"loops", le_pass_fold_loops},
    {"inline", le_pass_inline},
    {"hoist", le_pass_hoist},
    {"dead-code", le_pass_dead_code},
    {"fuse-reductions", le_pass_fuse_reductions},
    {"finish-totals", le_pass_finish_totals},
    {"copy-elision", le_pass_elide_copies},
    {NULL, NULL},
};

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
        return le_fail_at(LEAT_INVALID, (struct le_location){0},
                          "use lower, demand, dead-code, contract, scan, loops, inline, hoist, fuse-reductions, "
                          "finish-totals or copy-elision",
                          "there is no pass '%s'", last);
    for (const struct le_pass *pass = le_passes; !none && pass <= end && status == LEAT_OK; pass++)
        status = run_pass(ir, pass);
    return status;
}

void le_ir_number_stages(struct le_ir *ir) {
    for (int k = ir->stages.count - 1; k >= 0; k--) {
        const struct le_stage *s = &ir->stages.at[k];
        if (s->target >= 0)
            ir->values.at[s->target].stage = k;
        for (int q = 0; q < s->pair_count; q++)
            ir->values.at[s->pairs[q].target].stage = k;
    }
}
