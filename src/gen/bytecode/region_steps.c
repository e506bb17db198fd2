/* See region_steps.h. */
#include "gen/bytecode/region_steps.h"

static void find_loops(struct gen *g, struct region_steps *out) {
    int innermost = -1;
    out->around = LE_NEW_ARRAY(g->arena, out->count, int);
    for (int k = 0; k < out->count; k++) {
        const struct le_region_step *s = &out->at[k];
        if (s->kind == LE_REGION_END && le_region_is_loop(out->at[s->partner].kind))
            innermost = out->around[s->partner];
        out->around[k] = innermost;
        if (le_region_is_loop(s->kind))
            innermost = k;
    }
}

bool le_gen_returns_early(const struct region_steps *steps, int from, int to) {
    for (int k = from; k < to; k++)
        if (steps->at[k].kind == LE_REGION_RETURN && k + 1 < steps->count)
            return true;
    return false;
}

bool le_gen_escapes(const struct region_steps *steps, int from, int to, int loops_from) {
    for (int k = from; k < to; k++)
        if (steps->at[k].kind == LE_REGION_BREAK && steps->at[k].partner < loops_from)
            return true;
    return le_gen_returns_early(steps, from, to);
}

/* ---- variables */

static struct region_variable *variable(const struct region_steps *steps, int number) {
    return &steps->variables[number - steps->first_local];
}

const struct region_variable *le_gen_variable(const struct region_steps *steps, int number) {
    return variable(steps, number);
}

bool le_gen_starts_outside(const struct region_steps *steps, const struct region_variable *v) {
    int loop = steps->around[v->first_set];
    return v->first < v->first_set || (loop >= 0 && v->last > steps->at[loop].partner);
}

bool le_gen_others_need(const struct region_steps *steps, int loop, int step) {
    const struct region_variable *v = variable(steps, steps->at[step].local);
    if (v->first_read >= 0 && (v->first_read < loop || v->last_read > steps->at[loop].partner))
        return true;
    int outer = steps->around[loop];
    return outer >= 0 && v->first_set < outer;
}

struct step_search {
    struct gen *g;
    struct region_steps *steps;
    int step, epoch;
};

static void add_read(const struct step_search *l, int number) {
    if (number < l->steps->first_local || number >= l->steps->first_local + l->steps->local_count)
        return; /* another region's */
    struct region_variable *v = variable(l->steps, number);
    v->first_read = v->first_read < 0 ? l->step : v->first_read;
    v->last_read = l->step;
    v->first = v->first < 0 ? l->step : v->first;
    v->last = l->step;
}

static void find_reads(const struct step_search *l, struct le_node *node) {
    if (!node || !node->changes || le_note_met(l->g->notes, node, l->epoch))
        return;
    if (node->kind == LE_NODE_LOCAL)
        add_read(l, node->local);
    find_reads(l, node->fill);
    for (int k = 0; k < node->operand_count; k++)
        find_reads(l, node->operands[k]);
    for (int k = 0; k < node->index_count; k++) {
        const struct le_range_nodes *range = &l->g->ir->indices.at[node->indices[k]].range;
        find_reads(l, range->low);
        find_reads(l, range->high);
        find_reads(l, range->by);
    }
}

static void look_at(const struct step_search *l) {
    const struct le_region_step *s = &l->steps->at[l->step];
    struct le_node *node = l->steps->node;
    if (le_region_has_value(s->kind))
        find_reads(l, node->operands[s->value]);
    if (s->second)
        find_reads(l, node->operands[s->second]);
    for (int d = 0; s->kind == LE_REGION_STORE && d < s->subscript_count; d++)
        find_reads(l, node->operands[s->first_subscript + d]);
    if (s->kind == LE_REGION_FOR) {
        const struct le_range_nodes *range = &l->g->ir->indices.at[node->indices[s->index]].range;
        find_reads(l, range->low);
        find_reads(l, range->high);
    }
    if (s->kind != LE_REGION_SET)
        return;
    struct region_variable *v = variable(l->steps, s->local);
    v->first_set = v->first_set < 0 ? l->step : v->first_set;
    v->first = v->first < 0 ? l->step : v->first;
    v->last = l->step;
}

static void make_variables(struct gen *g, struct region_steps *out) {
    int first = -1, last = -1;
    for (int k = 0; k < out->count; k++)
        if (out->at[k].kind == LE_REGION_SET) {
            first = first < 0 || out->at[k].local < first ? out->at[k].local : first;
            last = out->at[k].local > last ? out->at[k].local : last;
        }
    out->first_local = first;
    out->local_count = first < 0 ? 0 : last + 1 - first;
    out->variables = LE_NEW_ARRAY(g->arena, out->local_count, struct region_variable);
    for (int k = 0; k < out->local_count; k++)
        out->variables[k] = (struct region_variable){-1, -1, -1, -1, -1};
}

void le_gen_find_steps(struct gen *g, struct le_node *node, struct region_steps *out) {
    *out = (struct region_steps){.node = node, .at = node->region->steps, .count = node->region->step_count};
    find_loops(g, out);
    make_variables(g, out);
    for (int k = 0; k < out->count; k++)
        look_at(&(struct step_search){.g = g, .steps = out, .step = k, .epoch = ++g->notes->epoch});
}
