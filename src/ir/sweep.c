/* sweep: what nobody reads is dead, and uses are counted. What lives is found from the results, and from loops that may
 * not end: a stage brings what it reads and the blocks around it, a block its conditions and bounds, a loop what may
 * leave it. A MOVE lives pair by pair. What is dead already stays so. */
#include "ir/ir.h"
#include <string.h>

struct sweep {
    struct le_ir *ir;
    int *around;          /* by stage: the FOR, LOOP, IF or ELSE whose block it lies in; -1: none */
    int *partner;         /* by FOR, LOOP, IF and ELSE: its END or ELSE; by ELSE the IF is `opener` */
    int *opener;          /* by ELSE: its IF */
    int *leaves;          /* by TEST and BREAK: the loop that it leaves */
    int *next_leaver;     /* by loop and leaver: the next that leaves the same; -1 */
    int *first_move;      /* by value: a MOVE that sets it; -1 */
    struct move *moves;   /* in lists by value */
    bool *lives, *needed; /* by stage, by value */
    struct {
        int *at;
        int count, capacity;
    } stages, values;         /* to be looked at */
    int reader, *last_reader; /* by value: so that a stage counts once */
};
struct move {
    int stage, pair, next;
};

/* ---- how stages lie in each other */

static void open_block(struct sweep *s, int stage, int *innermost) {
    s->around[stage] = *innermost;
    *innermost = stage;
}

static void leave_loop(struct sweep *s, int stage, int innermost) {
    int loop = innermost;
    while (s->ir->stages.at[loop].kind != LE_STAGE_FOR && s->ir->stages.at[loop].kind != LE_STAGE_LOOP)
        loop = s->around[loop];
    s->leaves[stage] = loop;
    s->next_leaver[stage] = s->next_leaver[loop];
    s->next_leaver[loop] = stage;
}

static void place_stages(struct sweep *s) {
    int innermost = -1;
    for (int k = 0; k < s->ir->stages.count; k++) {
        enum le_stage_kind kind = s->ir->stages.at[k].kind;
        s->next_leaver[k] = s->leaves[k] = s->opener[k] = -1;
        if (kind == LE_STAGE_ELSE || kind == LE_STAGE_END) {
            s->partner[innermost] = k;
            if (kind == LE_STAGE_ELSE)
                s->opener[k] = innermost;
            innermost = s->around[innermost];
        }
        s->around[k] = innermost;
        if (kind == LE_STAGE_FOR || kind == LE_STAGE_LOOP || kind == LE_STAGE_IF || kind == LE_STAGE_ELSE)
            open_block(s, k, &innermost);
        if (kind == LE_STAGE_TEST || kind == LE_STAGE_BREAK)
            leave_loop(s, k, innermost);
    }
}

static void list_moves(struct sweep *s) {
    struct le_ir *ir = s->ir;
    int count = 0, at = 0;
    for (int k = 0; k < ir->stages.count; k++)
        count += ir->stages.at[k].kind == LE_STAGE_MOVE ? ir->stages.at[k].pair_count : 0;
    s->moves = LE_NEW_ARRAY(ir->arena, count, struct move);
    for (int k = 0; k < ir->values.count; k++)
        s->first_move[k] = -1;
    for (int k = 0; k < ir->stages.count; k++)
        for (int q = 0; ir->stages.at[k].kind == LE_STAGE_MOVE && q < ir->stages.at[k].pair_count; q++) {
            int target = ir->stages.at[k].pairs[q].target;
            if (ir->stages.at[k].dead)
                continue;
            s->moves[at] = (struct move){.stage = k, .pair = q, .next = s->first_move[target]};
            s->first_move[target] = at++;
        }
}

/* ---- what lives */

static void need(struct sweep *s, int value) {
    if (s->needed[value])
        return;
    s->needed[value] = true;
    *LE_PUSH(s->ir->arena, &s->values) = value;
}

static void live(struct sweep *s, int stage) {
    if (stage < 0 || s->lives[stage] || s->ir->stages.at[stage].dead)
        return;
    s->lives[stage] = true;
    *LE_PUSH(s->ir->arena, &s->stages) = stage;
}

static void read_value(struct sweep *s, int value) {
    need(s, value);
    if (s->last_reader[value] == s->reader)
        return;
    s->last_reader[value] = s->reader;
    s->ir->values.at[value].uses++;
}

static void read_load(struct le_node *node, void *user) {
    if (node->kind == LE_NODE_LOAD && !node->live)
        read_value(user, node->value);
}

static void read_node(struct sweep *s, struct le_node *node) {
    if (node)
        le_node_walk(s->ir, node, read_load, s);
}

static void read_range(struct sweep *s, int index) {
    const struct le_range_nodes *r = &s->ir->indices.at[index].range;
    read_node(s, r->low);
    read_node(s, r->high);
    read_node(s, r->by);
}

static void look_at_stage(struct sweep *s, int number) {
    const struct le_stage *stage = &s->ir->stages.at[number];
    s->reader = number;
    live(s, s->around[number]);
    if (stage->kind == LE_STAGE_FOR || stage->kind == LE_STAGE_LOOP || stage->kind == LE_STAGE_IF ||
        stage->kind == LE_STAGE_ELSE)
        live(s, s->partner[number]);
    live(s, s->opener[number]);
    for (int k = s->next_leaver[number]; k >= 0 && s->leaves[number] < 0; k = s->next_leaver[k])
        live(s, k);
    if (stage->kind == LE_STAGE_MOVE)
        return; /* by pairs */
    if (stage->base >= 0)
        read_value(s, stage->base);
    for (int k = 0; k < stage->pair_count; k++)
        read_value(s, stage->pairs[k].source);
    read_node(s, stage->node);
    read_node(s, stage->product);
    for (int d = 0; d < stage->left_count; d++)
        read_node(s, stage->left[d]);
    for (int k = 0; k < stage->index_count; k++)
        read_range(s, stage->indices[k]);
    if (stage->kind == LE_STAGE_FOR)
        read_range(s, stage->index);
}

static void look_at_value(struct sweep *s, int value) {
    const struct le_value *v = &s->ir->values.at[value];
    if (!v->moved) {
        live(s, v->stage);
        return;
    }
    for (int k = s->first_move[value]; k >= 0; k = s->moves[k].next) {
        const struct le_stage *stage = &s->ir->stages.at[s->moves[k].stage];
        live(s, s->moves[k].stage);
        need(s, stage->pairs[s->moves[k].pair].source);
    }
}

static void find_living(struct sweep *s) {
    struct le_ir *ir = s->ir;
    for (int k = 0; k < ir->values.count; k++)
        if (ir->values.at[k].wanted)
            need(s, k);
    for (int k = 0; k < ir->stages.count; k++)
        if (ir->stages.at[k].kind == LE_STAGE_LOOP)
            live(s, k);
    while (s->stages.count > 0 || s->values.count > 0) {
        if (s->stages.count > 0)
            look_at_stage(s, s->stages.at[--s->stages.count]);
        else
            look_at_value(s, s->values.at[--s->values.count]);
    }
}

static void bury(struct sweep *s) {
    for (int k = 0; k < s->ir->stages.count; k++) {
        struct le_stage *stage = &s->ir->stages.at[k];
        stage->dead = !s->lives[k];
        if (stage->kind != LE_STAGE_MOVE || stage->dead)
            continue;
        int count = 0;
        s->reader = k;
        for (int q = 0; q < stage->pair_count; q++)
            if (s->needed[stage->pairs[q].target]) {
                stage->pairs[count++] = stage->pairs[q];
                read_value(s, stage->pairs[q].source);
            }
        stage->pair_count = count;
        stage->target = stage->pairs[0].target;
    }
}

void le_pass_sweep(struct le_ir *ir) {
    int stages = ir->stages.count, values = ir->values.count;
    struct sweep s = {.ir = ir, .reader = -1};
    s.around = LE_NEW_ARRAY(ir->arena, stages, int);
    s.partner = LE_NEW_ARRAY(ir->arena, stages, int);
    s.opener = LE_NEW_ARRAY(ir->arena, stages, int);
    s.leaves = LE_NEW_ARRAY(ir->arena, stages, int);
    s.next_leaver = LE_NEW_ARRAY(ir->arena, stages, int);
    s.lives = LE_NEW_ARRAY(ir->arena, stages, bool);
    s.needed = LE_NEW_ARRAY(ir->arena, values, bool);
    s.first_move = LE_NEW_ARRAY(ir->arena, values, int);
    s.last_reader = LE_NEW_ARRAY(ir->arena, values, int);
    for (int k = 0; k < values; k++) {
        ir->values.at[k].uses = 0;
        s.last_reader[k] = -1;
    }
    place_stages(&s);
    list_moves(&s);
    find_living(&s);
    bury(&s);
}
