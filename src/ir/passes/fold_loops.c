/* loops: a host loop that contains only element-wise statements becomes one EACH stage with the loop inside, so that it
 * is one kernel instead of one per iteration. Each element then runs all iterations by itself. This is correct if no
 * element reads what another one writes: the arrays that the loop writes are read and written with the same bare
 * indices at the same axes. These indices must also have the same range in all statements. The range rules must show
 * that without numbers: they are bare subscripts of the same axis of one array, or of axes that a statement makes
 * equal. New arrays become variables. All other loops remain host loops. */
#include "ir/path.h"
#include <string.h>

#define BODY_MAX 64 /* stages */

/* A symbol that the loop writes. */
struct slot {
    int symbol;
    int head, pair;               /* handed on between iterations; -1: new in each iteration */
    int target;                   /* its target in the EACH */
    int local;                    /* if new: its variable */
    int now;                      /* its current value in the loop's body */
    unsigned axes[LEAT_RANK_MAX]; /* by index: bit mask of the axes where all accesses have it bare */
};

struct folder {
    struct le_ir *ir;
    int first, end; /* FOR and END */
    const struct le_stage *body[BODY_MAX], *move;
    int count;
    int indices[LEAT_RANK_MAX], index_count; /* of the EACH */
    int inner;                               /* the loop's index inside the EACH */
    struct slot slots[BODY_MAX];
    int slot_count;
    bool fits;
    const struct le_stage *stage; /* the current stage */
    int own[LEAT_RANK_MAX];       /* by index of the EACH: the corresponding index of the current stage */
    int *parents; /* union-find of equal ranges: by index and, from first_axis on, by axis of an array */
    int *looks, look, first_axis;
};

/* ---- equal ranges */

static int axis_key(const struct folder *f, int symbol, int axis) {
    return f->first_axis + symbol * LEAT_RANK_MAX + axis;
}

static int find_class(struct folder *f, int key) {
    if (f->looks[key] != f->look) {
        f->looks[key] = f->look;
        f->parents[key] = key;
    }
    while (f->parents[key] != key)
        key = f->parents[key] = f->parents[f->parents[key]];
    return key;
}

static void unite_ranges(struct folder *f, int a, int b) {
    f->parents[find_class(f, a)] = find_class(f, b);
}

static bool is_plain_index(const struct folder *f, const struct le_node *x) {
    if (x->kind != LE_NODE_INDEX)
        return false;
    const struct le_ir_index *ix = &f->ir->indices.at[x->index];
    return !ix->explicit_range && !ix->from_dots && !ix->depends && !ix->host;
}

/* By rule 2, the range of a bare subscript is the axis. */
static void unite_statement(struct folder *f, const struct le_ir_statement *st) {
    for (int k = 0; k < st->access_count; k++) {
        const struct le_ir_access *a = &f->ir->accesses.at[st->first_access + k];
        for (int d = 0; d < a->rank && a->stretch == 0; d++)
            if (is_plain_index(f, a->subscripts[d]))
                unite_ranges(f, a->subscripts[d]->index, axis_key(f, a->symbol, d));
    }
    for (int d = 0; st->is_new && d < st->left_count; d++)
        if (is_plain_index(f, st->left[d]))
            unite_ranges(f, st->left[d]->index, axis_key(f, st->symbol, d));
}

/* Whether rules 1 to 3 fix all ranges of the statement, so that no range is solved for the current value of the loop's
 * index. */
static bool ranges_are_plain(struct folder *f, const struct le_ir_statement *st) {
    for (int k = 0; k < st->all_count; k++) {
        bool bare = f->ir->indices.at[st->all[k]].explicit_range;
        for (int q = 0; q < st->access_count && !bare; q++) {
            const struct le_ir_access *a = &f->ir->accesses.at[st->first_access + q];
            for (int d = 0; d < a->rank; d++)
                bare |= a->subscripts[d]->kind == LE_NODE_INDEX && a->subscripts[d]->index == st->all[k];
        }
        if (!bare)
            return false;
    }
    return true;
}

/* Finds the stage's index for each index of the EACH; false if they do not correspond. */
static bool match_indices(struct folder *f, const struct le_stage *s) {
    if (s->index_count != f->index_count)
        return false;
    for (int q = 0; q < f->index_count; q++) {
        int found = -1, class = find_class(f, f->indices[q]);
        for (int k = 0; k < s->index_count; k++)
            if (find_class(f, s->indices[k]) == class) {
                if (found >= 0)
                    return false;
                found = s->indices[k];
            }
        if (found < 0)
            return false;
        f->own[q] = found;
    }
    return true;
}

/* ---- slots */

static struct slot *slot_of(struct folder *f, int value) {
    for (int k = 0; k < f->slot_count; k++)
        if (f->slots[k].symbol == f->ir->values.at[value].symbol)
            return &f->slots[k];
    return NULL;
}

static struct slot *add_slot(struct folder *f, int symbol, int head) {
    struct slot *slot = &f->slots[f->slot_count++];
    *slot = (struct slot){.symbol = symbol, .head = head, .pair = -1, .local = -1, .now = head};
    memset(slot->axes, -1, sizeof slot->axes);
    return slot;
}

/* Whether the value is a head of the loop or made inside it. */
static bool is_inside(const struct folder *f, int value) {
    int stage = f->ir->values.at[value].stage;
    for (int k = 0; k < f->slot_count; k++)
        if (f->slots[k].head == value)
            return true;
    return stage > f->first && stage < f->end;
}

/* Bit mask of the axes whose subscript is the bare index. */
static unsigned bare_axes(struct le_node *const *subscripts, int count, int index) {
    unsigned axes = 0;
    for (int d = 0; d < count; d++)
        axes |= (unsigned)(subscripts[d]->kind == LE_NODE_INDEX && subscripts[d]->index == index) << d;
    return axes;
}

static void note_access(struct folder *f, struct slot *slot, struct le_node *const *subscripts, int count) {
    for (int q = 0; q < f->index_count; q++) {
        slot->axes[q] &= bare_axes(subscripts, count, f->own[q]);
        f->fits &= slot->axes[q] != 0;
    }
}

static void check_load(struct le_node *node, void *user) {
    struct folder *f = user;
    if (node->kind == LE_NODE_LEN) {
        for (int k = 0; k < f->slot_count; k++)
            f->fits &= f->slots[k].symbol != node->symbol || f->slots[k].head >= 0;
        return;
    }
    if (node->kind != LE_NODE_LOAD || !is_inside(f, node->value))
        return;
    struct slot *slot = slot_of(f, node->value);
    f->fits &= slot && slot->now == node->value && node->edge == LE_EDGE_NONE && node->stretch == 0;
    if (f->fits && (slot->head >= 0 || node->operand_count > 0))
        note_access(f, slot, node->operands, node->operand_count);
}

/* Bounds and fills are not evaluated per element, so they may not read values of the loop. */
static void check_alias(struct le_node *node, void *user) {
    struct folder *f = user;
    f->fits &= node->kind != LE_NODE_LOAD || !is_inside(f, node->value);
}

struct holders {
    struct le_arena *arena;
    struct le_node **at;
    int count, capacity;
};

static void find_holder(struct le_node *node, void *user) {
    struct holders *h = user;
    if (node->index_count > 0 || node->fill)
        *LE_PUSH(h->arena, h) = node;
}

static void check_holders(struct folder *f, struct le_node *root) {
    struct holders h = {.arena = f->ir->arena};
    le_node_walk(f->ir, root, find_holder, &h);
    for (int k = 0; k < h.count; k++) {
        if (h.at[k]->fill)
            le_node_walk(f->ir, h.at[k]->fill, check_alias, f);
        for (int q = 0; q < h.at[k]->index_count; q++) {
            const struct le_range_nodes *r = &f->ir->indices.at[h.at[k]->indices[q]].range;
            struct le_node *bounds[] = {r->low, r->high, r->by};
            for (int b = 0; b < 3; b++)
                if (bounds[b])
                    le_node_walk(f->ir, bounds[b], check_alias, f);
        }
    }
}

/* ---- loops that can be folded */

static bool collect_body(struct folder *f) {
    const struct le_ir *ir = f->ir;
    const struct le_stage *loop = &ir->stages.at[f->first];
    const struct le_ir_index *ix = &ir->indices.at[loop->index];
    f->count = 0;
    f->move = NULL;
    if (loop->dead || ix->stepped || ix->range.by || ix->range.low->loads || ix->range.high->loads ||
        ix->range.low->reduces || ix->range.high->reduces)
        return false;
    for (f->end = f->first + 1; ir->stages.at[f->end].kind != LE_STAGE_END; f->end++) {
        const struct le_stage *s = &ir->stages.at[f->end];
        if (s->dead && s->kind < LE_STAGE_FOR)
            continue;
        if (s->kind == LE_STAGE_MOVE && !f->move)
            f->move = s;
        else if (s->kind == LE_STAGE_MAP && !f->move && f->count < BODY_MAX &&
                 (f->count == 0 || f->body[f->count - 1]->statement != s->statement))
            f->body[f->count++] = s;
        else
            return false;
    }
    return f->count > 0 && f->move && f->move->pair_count <= BODY_MAX / 2 && f->count <= BODY_MAX / 2;
}

/* A scalar that is handed on is the same for all elements, so it cannot become an element's variable. */
static bool find_slots(struct folder *f) {
    f->slot_count = 0;
    for (int k = 0; k < f->move->pair_count; k++) {
        const struct le_value *head = &f->ir->values.at[f->move->pairs[k].target];
        if (head->symbol < 0 || (head->rank == 0 && f->index_count > 0))
            return false;
        add_slot(f, head->symbol, head->id)->pair = k;
    }
    return true;
}

/* An update without terms writes nothing, so its place need not exist; an element's store would check it. */
static bool may_write_nowhere(const struct folder *f, const struct le_stage *s) {
    bool elsewhere = false;
    for (int d = 0; d < s->left_count; d++)
        elsewhere |= s->left[d]->kind != LE_NODE_INDEX;
    return elsewhere && s->base >= 0 && f->ir->statements.at[s->statement].free_count > s->index_count;
}

static bool check_stage(struct folder *f, const struct le_stage *s) {
    const struct le_value *target = &f->ir->values.at[s->target];
    bool is_scalar = target->rank == 0;
    f->stage = s;
    if (target->symbol < 0 || may_write_nowhere(f, s) || !ranges_are_plain(f, &f->ir->statements.at[s->statement]) ||
        (s->node->reduces && (is_scalar || f->index_count == 0)) ||
        (!(is_scalar && f->index_count > 0) && !match_indices(f, s)))
        return false;
    le_node_walk(f->ir, s->node, check_load, f);
    for (int d = 0; d < s->left_count; d++)
        le_node_walk(f->ir, s->left[d], check_load, f);
    check_holders(f, s->node);
    for (int d = 0; d < s->left_count; d++)
        check_holders(f, s->left[d]);
    struct slot *slot = slot_of(f, s->target);
    if (!f->fits || (slot && slot->head < 0))
        return false;
    if (!slot) {
        if (s->base >= 0 || s->left_count != (is_scalar ? 0 : f->index_count))
            return false;
        slot = add_slot(f, target->symbol, -1);
    } else if ((!is_scalar && s->base != slot->now) || f->ir->values.at[slot->head].type != target->type)
        return false;
    slot->now = s->target;
    if (!is_scalar || slot->head >= 0)
        note_access(f, slot, s->left, s->left_count);
    return f->fits;
}

static bool may_fold(struct folder *f) {
    if (!collect_body(f))
        return false;
    f->look++;
    f->index_count = 0;
    f->fits = true;
    for (int k = 0; k < f->count; k++)
        unite_statement(f, &f->ir->statements.at[f->body[k]->statement]);
    for (int k = 0; k < f->count && f->index_count == 0; k++) {
        const struct le_stage *s = f->body[k];
        f->index_count = s->index_count <= LEAT_RANK_MAX ? s->index_count : 0;
        if (f->index_count > 0)
            memcpy(f->indices, s->indices, (size_t)f->index_count * sizeof *f->indices);
    }
    for (int q = 0; q < f->index_count; q++) {
        const struct le_ir_index *ix = &f->ir->indices.at[f->indices[q]];
        if (ix->explicit_range || ix->from_dots || ix->depends)
            return false;
    }
    if (!find_slots(f))
        return false;
    for (int k = 0; k < f->count; k++)
        if (!check_stage(f, f->body[k]))
            return false;
    for (int k = 0; k < f->move->pair_count; k++)
        if (slot_of(f, f->move->pairs[k].target)->now != f->move->pairs[k].source)
            return false;
    return true;
}

/* ---- folding */

static struct le_node *own_load(struct folder *f, struct le_node *load) {
    const struct slot *slot = slot_of(f, load->value);
    if (slot->head < 0)
        return le_node_make(f->ir, &(struct le_node){.kind = LE_NODE_LOCAL, .type = load->type, .local = slot->local});
    load->value = slot->target;
    load->live = true;
    return le_node_make(f->ir, load);
}

/* Loads of the loop's values become variables and live loads. */
static struct le_node *replace_own_loads(struct folder *f, struct le_node *node, int epoch) {
    struct le_node *made = node, copy = *node, *known = le_walk_memo(f->ir, node, epoch);
    if (known)
        return known;
    copy.operands = LE_NEW_ARRAY(f->ir->arena, node->operand_count, struct le_node *);
    bool changed = false;
    for (int k = 0; k < node->operand_count; k++) {
        copy.operands[k] = replace_own_loads(f, node->operands[k], epoch);
        changed |= copy.operands[k] != node->operands[k];
    }
    if (node->kind == LE_NODE_LOAD && is_inside(f, node->value))
        made = own_load(f, &copy);
    else if (changed)
        made = le_node_make(f->ir, &copy);
    return le_walk_remember(f->ir, node, epoch, made);
}

/* Rewrites a node of the current stage for the EACH. */
static struct le_node *rewrite_for_element(struct folder *f, struct le_node *node) {
    int from[LEAT_RANK_MAX + 1], count = 0;
    struct le_node *to[LEAT_RANK_MAX + 1];
    for (int q = 0; q < f->index_count && f->stage->index_count > 0; q++) {
        from[count] = f->own[q];
        to[count++] = le_node_index(f->ir, f->indices[q]);
    }
    from[count] = f->ir->stages.at[f->first].index;
    to[count++] = le_node_index(f->ir, f->inner);
    node = le_node_substitute(f->ir, node, from, to, count);
    return replace_own_loads(f, node, le_walk_begin(f->ir));
}

/* "u" for "u.7", a value's name without its number. */
static const char *bare_name(struct le_ir *ir, int value) {
    const char *name = ir->values.at[value].name, *dot = strrchr(name, '.');
    return dot ? le_arena_copy(ir->arena, name, (size_t)(dot - name)) : name;
}

struct region_builder {
    struct le_region_step *steps;
    int step_count;
    struct {
        struct le_node **at;
        int count, capacity;
    } operands;
};

static void add_step(struct folder *f, struct region_builder *b, const struct le_stage *s) {
    struct le_ir *ir = f->ir;
    struct slot *slot = slot_of(f, s->target);
    struct le_region_step *step = &b->steps[b->step_count++];
    f->stage = s;
    if (s->index_count > 0)
        match_indices(f, s);
    struct le_node *node = rewrite_for_element(f, s->node);
    *step = (struct le_region_step){
        .kind = LE_REGION_SET, .access = s->access, .text = ir->statements.at[s->statement].text};
    if (slot->head < 0) {
        *LE_PUSH(ir->arena, &ir->locals) =
            (struct le_local){.name = bare_name(ir, s->target), .type = ir->values.at[s->target].type};
        step->local = slot->local = ir->locals.count - 1;
    } else {
        step->kind = LE_REGION_STORE;
        step->target = slot->pair;
        step->own = true;
        step->first_subscript = b->operands.count;
        step->subscript_count = s->left_count;
        for (int d = 0; d < s->left_count; d++) {
            struct le_node *subscript = rewrite_for_element(f, s->left[d]);
            *LE_PUSH(ir->arena, &b->operands) = subscript;
        }
    }
    step->value = b->operands.count;
    *LE_PUSH(ir->arena, &b->operands) = node;
}

static struct le_node *make_region(struct folder *f) {
    struct le_ir *ir = f->ir;
    struct region_builder b = {.steps = LE_NEW_ARRAY(ir->arena, f->count + 2, struct le_region_step)};
    const struct le_stage *loop = &ir->stages.at[f->first];
    b.steps[b.step_count++] = (struct le_region_step){
        .kind = LE_REGION_FOR, .access = -1, .partner = f->count + 1, .text = ir->statements.at[loop->statement].text};
    for (int k = 0; k < f->count; k++)
        add_step(f, &b, f->body[k]);
    b.steps[b.step_count++] = (struct le_region_step){.kind = LE_REGION_END, .access = -1};
    struct le_region *region = LE_NEW(ir->arena, struct le_region);
    *region = (struct le_region){.steps = b.steps, .step_count = b.step_count};
    return le_node_make(ir, &(struct le_node){.kind = LE_NODE_REGION,
                                              .type = LE_NONE,
                                              .region = region,
                                              .operands = b.operands.at,
                                              .operand_count = b.operands.count,
                                              .indices = &f->inner,
                                              .index_count = 1});
}

/* Creates the EACH's target for each head; after the loop it is moved back to the head. */
static void make_targets(struct folder *f, struct le_pair *pairs, struct le_pair *moves) {
    struct le_ir *ir = f->ir;
    for (int k = 0; k < f->move->pair_count; k++) {
        struct slot *slot = &f->slots[k];
        struct le_value v = ir->values.at[slot->head];
        v.id = ir->values.count;
        v.name = le_arena_format(ir->arena, "%s.%d", bare_name(ir, slot->head), v.id);
        v.wanted = v.moved = false;
        v.uses = 0;
        *LE_PUSH(ir->arena, &ir->values) = v;
        slot->target = v.id;
        pairs[k] = (struct le_pair){.target = v.id, .source = slot->head};
        moves[k] = (struct le_pair){.target = slot->head, .source = v.id};
    }
}

/* The last statement that went into the stage. Later ones may read arrays that do not exist. */
static int last_statement(const struct folder *f) {
    int k = f->end;
    while (f->ir->stages.at[k].dead || f->ir->stages.at[k].kind >= LE_STAGE_MOVE)
        k--;
    return f->ir->stages.at[k].statement;
}

/* Replaces the loop by two stages; its own stages stay before them, dead. */
static void fold_loop(struct folder *f, struct le_stage out[2]) {
    struct le_ir *ir = f->ir;
    const struct le_stage *loop = &ir->stages.at[f->first];
    int statement = ir->stages.at[f->end].statement;
    int count = f->move->pair_count, indices = ir->indices.count;
    struct le_pair *pairs = LE_NEW_ARRAY(ir->arena, count, struct le_pair);
    struct le_pair *moves = LE_NEW_ARRAY(ir->arena, count, struct le_pair);
    struct le_ir_index inner = ir->indices.at[loop->index];
    inner.host = false;
    *LE_PUSH(ir->arena, &ir->indices) = inner;
    f->inner = indices;
    make_targets(f, pairs, moves);
    struct le_node *node = make_region(f);
    le_ir_adopt_indices(ir, last_statement(f), indices);
    int *own = LE_NEW_ARRAY(ir->arena, f->index_count, int);
    memcpy(own, f->indices, (size_t)f->index_count * sizeof *own);
    out[0] = (struct le_stage){.kind = LE_STAGE_EACH,
                               .statement = statement,
                               .name = loop->name,
                               .target = pairs[0].target,
                               .base = pairs[0].source,
                               .indices = own,
                               .index_count = f->index_count,
                               .node = node,
                               .pairs = pairs,
                               .pair_count = count,
                               .index = -1,
                               .block = loop->block,
                               .leader = -1,
                               .sibling = -1,
                               .access = -1};
    out[1] = out[0];
    out[1].kind = LE_STAGE_MOVE;
    out[1].target = moves[0].target;
    out[1].base = -1;
    out[1].indices = NULL;
    out[1].index_count = 0;
    out[1].node = NULL;
    out[1].pairs = moves;
    for (int k = loop->statement + 1; k <= statement; k++)
        ir->statements.at[k].loop = loop->index;
    for (int k = f->first; k <= f->end; k++)
        ir->stages.at[k].dead = true;
}

void le_pass_fold_loops(struct le_ir *ir) {
    struct {
        struct le_stage *at;
        int count, capacity;
    } out = {.at = NULL};
    int keys = ir->indices.count + ir->tree->symbol_count * LEAT_RANK_MAX, from = 0;
    struct folder *f = NULL;
    for (int k = 0; k < ir->stages.count; k++) {
        if (ir->stages.at[k].kind != LE_STAGE_FOR)
            continue;
        if (!f) {
            f = LE_NEW(ir->arena, struct folder);
            *f = (struct folder){.ir = ir,
                                 .first_axis = ir->indices.count,
                                 .parents = LE_NEW_ARRAY(ir->arena, keys, int),
                                 .looks = LE_NEW_ARRAY(ir->arena, keys, int)};
        }
        struct le_stage made[2];
        f->first = k;
        if (!may_fold(f))
            continue;
        fold_loop(f, made);
        for (; from <= f->end; from++)
            *LE_PUSH(ir->arena, &out) = ir->stages.at[from];
        *LE_PUSH(ir->arena, &out) = made[0];
        *LE_PUSH(ir->arena, &out) = made[1];
    }
    if (out.count == 0)
        return;
    for (; from < ir->stages.count; from++)
        *LE_PUSH(ir->arena, &out) = ir->stages.at[from];
    ir->stages.at = out.at;
    ir->stages.count = out.count;
    ir->stages.capacity = out.capacity;
    le_ir_number_stages(ir);
    le_pass_dead_code(ir);
}
