/* dead-code: marks stages dead whose values are not read, and counts uses. The search for live stages starts from the
 * results, and from loops that may not terminate. A stage needs what it reads and the blocks around it, a block its
 * conditions and bounds, a loop the stages that may leave it. Each pair of a MOVE is live or dead by itself. A dead
 * stage stays dead.
 *
 * demand: the same search over the program as written, and over statements as well. A live stage needs its statement,
 * and a statement needs the host scalars that the range rules evaluate for it and the shapes of the arrays that it
 * accesses. Those scalars must be stored. A statement that is not needed does not run. Its ranges are inferred and its
 * accesses checked only if that takes nothing but extents and the caller's numbers. */
#include "ir/ir.h"
#include <string.h>

struct liveness {
    struct le_ir *ir;
    int *around;              /* by stage: the FOR, LOOP, IF or ELSE whose block contains it; -1: none */
    int *partner;             /* by FOR, LOOP, IF and ELSE: its END or ELSE */
    int *opener;              /* by ELSE: its IF */
    int *leaves;              /* by TEST and BREAK: the loop that it leaves; else -1 */
    int *next_leaver;         /* by loop, TEST and BREAK: the next stage that leaves the loop; -1: none */
    int *first_move;          /* by value: first entry in `moves`; -1: none */
    struct move_entry *moves; /* linked lists, one per value */
    bool *lives, *needed;     /* by stage, by value */
    struct {
        int *at;
        int count, capacity;
    } stages, values, statements; /* work lists of the search */
    int reader, *last_reader;     /* reader: the current stage; last_reader, by value: counts each reader once */
    bool *demanded;               /* by statement; NULL for dead-code, which ignores statements */
    int *shaper;                  /* by symbol: the statement that sets its shape; -1: none */
};
struct move_entry {
    int stage, pair, next;
};

/* ---- nesting of stages */

static void open_block(struct liveness *s, int stage, int *innermost) {
    s->around[stage] = *innermost;
    *innermost = stage;
}

static void leave_loop(struct liveness *s, int stage, int innermost) {
    int loop = innermost;
    while (s->ir->stages.at[loop].kind != LE_STAGE_FOR && s->ir->stages.at[loop].kind != LE_STAGE_LOOP)
        loop = s->around[loop];
    s->leaves[stage] = loop;
    s->next_leaver[stage] = s->next_leaver[loop];
    s->next_leaver[loop] = stage;
}

static void find_nesting(struct liveness *s) {
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

static void list_moves(struct liveness *s) {
    struct le_ir *ir = s->ir;
    int count = 0, at = 0;
    for (int k = 0; k < ir->stages.count; k++)
        count += ir->stages.at[k].kind == LE_STAGE_MOVE ? ir->stages.at[k].pair_count : 0;
    s->moves = LE_NEW_ARRAY(ir->arena, count, struct move_entry);
    for (int k = 0; k < ir->values.count; k++)
        s->first_move[k] = -1;
    for (int k = 0; k < ir->stages.count; k++)
        for (int q = 0; ir->stages.at[k].kind == LE_STAGE_MOVE && q < ir->stages.at[k].pair_count; q++) {
            int target = ir->stages.at[k].pairs[q].target;
            if (ir->stages.at[k].dead)
                continue;
            s->moves[at] = (struct move_entry){.stage = k, .pair = q, .next = s->first_move[target]};
            s->first_move[target] = at++;
        }
}

/* ---- live stages and values */

static void need_value(struct liveness *s, int value) {
    if (s->needed[value])
        return;
    s->needed[value] = true;
    *LE_PUSH(s->ir->arena, &s->values) = value;
}

static void mark_live(struct liveness *s, int stage) {
    if (stage < 0 || s->lives[stage] || s->ir->stages.at[stage].dead)
        return;
    s->lives[stage] = true;
    *LE_PUSH(s->ir->arena, &s->stages) = stage;
}

static void read_value(struct liveness *s, int value) {
    need_value(s, value);
    if (s->last_reader[value] == s->reader)
        return;
    s->last_reader[value] = s->reader;
    s->ir->values.at[value].uses++;
}

static void demand_statement(struct liveness *s, int statement) {
    if (!s->demanded || statement < 0 || s->demanded[statement])
        return;
    s->demanded[statement] = true;
    *LE_PUSH(s->ir->arena, &s->statements) = statement;
}

static void demand_shape(struct liveness *s, int symbol) {
    if (s->demanded)
        demand_statement(s, s->shaper[symbol]);
}

static void read_load(struct le_node *node, void *user) {
    if (node->kind == LE_NODE_LOAD && !node->live)
        read_value(user, node->value);
    if (node->kind == LE_NODE_LEN)
        demand_shape(user, node->symbol);
}

static void read_node(struct liveness *s, struct le_node *node) {
    if (node)
        le_node_walk(s->ir, node, read_load, s);
}

static void read_range(struct liveness *s, int index) {
    const struct le_range_nodes *r = &s->ir->indices.at[index].range;
    read_node(s, r->low);
    read_node(s, r->high);
    read_node(s, r->by);
}

/* ---- host scalars */

/* A load in a host scalar: the host evaluates it before a statement runs, for the range rules, or for a condition or
 * bound of its own blocks. */
static bool is_read_by_host(const struct le_ir *ir, const struct le_node *node) {
    return node->kind == LE_NODE_LOAD && le_node_is_hosts(ir, node);
}

static void read_number(struct le_node *node, void *user) {
    struct liveness *s = user;
    if (node->kind == LE_NODE_LEN)
        demand_shape(s, node->symbol);
    if (!is_read_by_host(s->ir, node) || s->ir->values.at[node->value].stage < 0)
        return;
    s->ir->values.at[node->value].wanted = true;
    need_value(s, node->value);
}

typedef void visit_node(struct le_node *node, void *user);

static void visit_range(struct le_ir *ir, int index, visit_node *visit, void *user) {
    const struct le_range_nodes *r = &ir->indices.at[index].range;
    struct le_node *bounds[] = {r->low, r->high, r->by};
    for (size_t b = 0; b < ARRAY_LEN(bounds); b++)
        if (bounds[b])
            le_node_walk(ir, bounds[b], visit, user);
}

/* Visits all nodes that the range rules evaluate. */
static void visit_statement(struct le_ir *ir, const struct le_ir_statement *st, visit_node *visit, void *user) {
    for (int k = 0; k < st->all_count; k++)
        visit_range(ir, st->all[k], visit, user);
    for (int k = 0; k < st->access_count; k++) {
        const struct le_ir_access *a = &ir->accesses.at[st->first_access + k];
        for (int d = 0; d < a->rank; d++)
            le_node_walk(ir, a->subscripts[d], visit, user);
    }
    for (int k = 0; k < st->size_count; k++)
        le_node_walk(ir, st->sizes[k], visit, user);
    if (st->value)
        le_node_walk(ir, st->value, visit, user);
}

static void look_at_statement(struct liveness *s, int number) {
    const struct le_ir_statement *st = &s->ir->statements.at[number];
    visit_statement(s->ir, st, read_number, s);
    for (int k = 0; k < st->access_count; k++)
        demand_shape(s, s->ir->accesses.at[st->first_access + k].symbol);
}

/* Stages that only close a block or hand on values may belong to any earlier statement, so they do not need theirs. */
static void demand_of_stage(struct liveness *s, const struct le_stage *stage) {
    bool control = stage->kind == LE_STAGE_FOR || stage->kind == LE_STAGE_TEST || stage->kind == LE_STAGE_IF;
    if (!s->demanded || (stage->kind >= LE_STAGE_MOVE && !control))
        return;
    demand_statement(s, stage->statement);
    if (control && stage->node)
        le_node_walk(s->ir, stage->node, read_number, s);
    if (stage->kind == LE_STAGE_FOR)
        visit_range(s->ir, stage->index, read_number, s);
}

/* ---- the search */

static void look_at_stage(struct liveness *s, int number) {
    const struct le_stage *stage = &s->ir->stages.at[number];
    s->reader = number;
    demand_of_stage(s, stage);
    mark_live(s, s->around[number]);
    if (stage->kind == LE_STAGE_FOR || stage->kind == LE_STAGE_LOOP || stage->kind == LE_STAGE_IF ||
        stage->kind == LE_STAGE_ELSE)
        mark_live(s, s->partner[number]);
    mark_live(s, s->opener[number]);
    for (int k = s->next_leaver[number]; k >= 0 && s->leaves[number] < 0; k = s->next_leaver[k])
        mark_live(s, k);
    if (stage->kind == LE_STAGE_MOVE)
        return; /* its pairs are live one by one */
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

static void look_at_value(struct liveness *s, int value) {
    const struct le_value *v = &s->ir->values.at[value];
    if (!v->moved) {
        mark_live(s, v->stage);
        return;
    }
    for (int k = s->first_move[value]; k >= 0; k = s->moves[k].next) {
        const struct le_stage *stage = &s->ir->stages.at[s->moves[k].stage];
        mark_live(s, s->moves[k].stage);
        need_value(s, stage->pairs[s->moves[k].pair].source);
    }
}

static void find_living(struct liveness *s) {
    struct le_ir *ir = s->ir;
    for (int k = 0; k < ir->values.count; k++)
        if (ir->values.at[k].wanted)
            need_value(s, k);
    for (int k = 0; k < ir->stages.count; k++)
        if (ir->stages.at[k].kind == LE_STAGE_LOOP)
            mark_live(s, k);
    while (s->stages.count > 0 || s->values.count > 0 || s->statements.count > 0) {
        if (s->stages.count > 0)
            look_at_stage(s, s->stages.at[--s->stages.count]);
        else if (s->statements.count > 0)
            look_at_statement(s, s->statements.at[--s->statements.count]);
        else
            look_at_value(s, s->values.at[--s->values.count]);
    }
}

static void mark_dead(struct liveness *s) {
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

static struct liveness new_liveness(struct le_ir *ir) {
    int stages = ir->stages.count, values = ir->values.count;
    struct liveness s = {.ir = ir, .reader = -1};
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
    find_nesting(&s);
    list_moves(&s);
    return s;
}

void le_pass_dead_code(struct le_ir *ir) {
    struct liveness s = new_liveness(ir);
    find_living(&s);
    mark_dead(&s);
}

/* ---- demand */

static bool gives_shape(const struct le_ir_statement *st) {
    return st->symbol >= 0 && ((st->kind == LE_STEP_NEW && st->size_count > 0) || (st->is_new && st->left_count > 0));
}

/* Finds the statements that set shapes. Declarations of inputs are always needed, because they are always checked. */
static void find_shapers(struct liveness *s) {
    for (int k = 0; k < s->ir->tree->symbol_count; k++)
        s->shaper[k] = -1;
    for (int k = s->ir->statements.count - 1; k >= 0; k--) {
        const struct le_ir_statement *st = &s->ir->statements.at[k];
        if (gives_shape(st))
            s->shaper[st->symbol] = k;
        if (st->kind == LE_STEP_BIND || st->kind == LE_STEP_AGREE)
            demand_statement(s, k);
    }
}

struct unknown {
    const struct le_ir *ir;
    bool *inside; /* by statement: it is inside a host block */
    bool *lost;   /* by symbol: its shape is unknown */
    bool found;
};

static void find_unknown(struct le_node *node, void *user) {
    struct unknown *u = user;
    if (is_read_by_host(u->ir, node))
        u->found |= node->operand_count > 0 || u->ir->values.at[node->value].stage >= 0;
    u->found |= node->kind == LE_NODE_LEN && u->lost[node->symbol];
}

/* The statements of a block are those after the statement that opens it, up to that of its END. */
static void find_inside(struct unknown *u) {
    for (int k = 0, depth = 0, first = 0; k < u->ir->stages.count; k++) {
        const struct le_stage *stage = &u->ir->stages.at[k];
        if (stage->kind == LE_STAGE_FOR || stage->kind == LE_STAGE_LOOP || stage->kind == LE_STAGE_IF)
            first = depth++ == 0 ? stage->statement + 1 : first;
        if (stage->kind == LE_STAGE_END && --depth == 0)
            for (int q = first; q <= stage->statement; q++)
                u->inside[q] = true;
    }
}

static void mark_unchecked(struct liveness *s) {
    struct le_ir *ir = s->ir;
    struct unknown u = {.ir = ir,
                        .inside = LE_NEW_ARRAY(ir->arena, ir->statements.count, bool),
                        .lost = LE_NEW_ARRAY(ir->arena, ir->tree->symbol_count, bool)};
    find_inside(&u);
    for (int k = 0; k < ir->statements.count; k++) {
        struct le_ir_statement *st = &ir->statements.at[k];
        if (s->demanded[k])
            continue;
        u.found = u.inside[k];
        visit_statement(ir, st, find_unknown, &u);
        for (int q = 0; q < st->access_count; q++)
            u.found |= u.lost[ir->accesses.at[st->first_access + q].symbol];
        st->unchecked = u.found;
        if (st->unchecked && gives_shape(st))
            u.lost[st->symbol] = true;
    }
}

void le_pass_demand(struct le_ir *ir) {
    struct liveness s = new_liveness(ir);
    s.demanded = LE_NEW_ARRAY(ir->arena, ir->statements.count, bool);
    s.shaper = LE_NEW_ARRAY(ir->arena, ir->tree->symbol_count, int);
    find_shapers(&s);
    find_living(&s);
    mark_unchecked(&s);
}
