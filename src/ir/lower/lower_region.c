/* Lowers code that runs for one element: the body of an `each` and a def's block become regions. Their scalars are
 * variables. The nodes of each step are lowered like those of any statement. Statements after a `break` or `return` in
 * its block never run and are dropped. */
#include "base/memory.h"
#include "ir/lower/lower.h"
#include <string.h>

static struct le_region_step *add_step(struct lower *l, enum le_region_kind kind, const struct le_step *step) {
    struct le_region_step *s = LE_PUSH(l->ir->arena, &l->region->steps);
    *s = (struct le_region_step){.kind = kind, .access = -1, .text = step ? le_lower_text(l, step) : NULL};
    return s;
}

static int add_operand(struct lower *l, struct le_node *node) {
    *LE_PUSH(l->ir->arena, &l->region->operands) = node;
    return l->region->operands.count - 1;
}

/* ---- variables */

static int new_local(struct lower *l, const char *name, enum le_type type) {
    struct le_ir *ir = l->ir;
    *LE_PUSH(ir->arena, &ir->locals) = (struct le_local){.name = name, .type = type};
    return ir->locals.count - 1;
}

static void set_local(struct lower *l, int local, struct le_node *node, const struct le_step *step) {
    int value = add_operand(l, le_lower_stored(l, node, l->ir->locals.at[local].type));
    struct le_region_step *s = add_step(l, LE_REGION_SET, step);
    s->local = local;
    s->value = value;
}

/* A variable that is set once, to a value that may be repeated, is replaced by that value wherever it is read. The
 * range rules read the variable itself, so a region lowered for them keeps every SET. */
static void set_scalar(struct lower *l, const struct le_step *step, struct le_node *node) {
    int *local = &l->local[step->symbol->id];
    const char *name = *step->symbol->name ? step->symbol->name : "fill";
    enum le_type type = le_type_strong(step->symbol->type);
    if (*local < 0)
        *local = new_local(l, name, type);
    node = le_lower_stored(l, node, type);
    if (l->sets[step->symbol->id] == 1 && !l->as_written && le_lower_repeats(node))
        l->known[step->symbol->id] = node;
    else
        set_local(l, *local, node, step);
}

/* Keeps the node's current value, in a variable if later steps may change it. */
static struct le_node *keep_value(struct lower *l, struct le_node *node, const struct le_step *step) {
    if (!node || !node->changes)
        return node;
    int local = new_local(l, "by", LE_I64);
    set_local(l, local, node, step);
    return le_node_make(l->ir, &(struct le_node){.kind = LE_NODE_LOCAL, .type = LE_I64, .local = local});
}

static void assign_scalar(struct lower *l, const struct le_step *step) {
    struct le_node *term = le_lower_term(l, step);
    if (step->op != LE_ASSIGN_SET)
        term = le_lower_updated(l, step, le_lower_scalar(l, step->symbol), term, NULL, 0);
    set_scalar(l, step, term);
}

static void new_scalar(struct lower *l, const struct le_step *step) {
    enum le_type type = le_type_strong(step->symbol->type);
    set_scalar(l, step,
               step->value ? le_lower_into(l, step->value, type) : le_node_const(l->ir, le_type_compute(type), 0));
}

/* Counts from zero each time: a call is lowered again for each use. */
static void count_sets(struct lower *l, const struct le_step *steps, int first, int end) {
    for (int k = first; k < end; k++)
        if (steps[k].symbol)
            l->sets[steps[k].symbol->id] = 0;
    for (int k = first; k < end; k++)
        if (steps[k].symbol && !steps[k].left)
            l->sets[steps[k].symbol->id]++;
}

/* ---- arrays */

/* The region of the EACH, the only one that assigns arrays. */
static struct lower_region *outermost_region(const struct lower *l) {
    struct lower_region *r = l->region;
    while (r->outer)
        r = r->outer;
    return r;
}

static struct le_node *own_element(struct lower *l, const struct lower_pair *pair, const struct le_tree_node *written,
                                   struct le_node **left, int access) {
    return le_node_make(l->ir, &(struct le_node){.kind = LE_NODE_LOAD,
                                                 .type = le_type_compute(l->ir->values.at[pair->target].type),
                                                 .value = pair->target,
                                                 .operands = left,
                                                 .operand_count = written->child_count,
                                                 .access = access,
                                                 .live = true,
                                                 .trusted = le_lower_is_bare(l, written, left)});
}

/* Adds a STORE of the term. finish_stores completes its value once all stores to the array are known. */
static void add_store(struct lower *l, const struct le_step *step) {
    struct lower_region *r = outermost_region(l);
    int number = l->pair[step->symbol->id], count = step->left->child_count;
    struct le_node *left[LEAT_RANK_MAX], *term = le_lower_term(l, step);
    for (int d = 0; d < count; d++)
        left[d] = le_lower_as(l, step->left->children[d], LE_I64);
    int first = r->operands.count;
    for (int d = 0; d < count; d++)
        add_operand(l, left[d]);
    int value = add_operand(l, term);
    *LE_PUSH(l->ir->arena, &r->pairs.at[number].stores) = (struct lower_store){.step = r->steps.count, .from = step};
    struct le_region_step *s = add_step(l, LE_REGION_STORE, step);
    s->first_subscript = first;
    s->subscript_count = count;
    s->value = value;
    s->target = number;
    s->access = le_names_get(&l->accesses, (const char *)&step->left, sizeof step->left);
}

/* Splits index * factor + offset, with constant factor and offset. Returns false for any other node. */
static bool split_linear(const struct le_node *x, const struct le_node **index, int64_t *factor, int64_t *offset) {
    *factor = 1;
    *offset = 0;
    if (x->kind == LE_NODE_OP && (x->code == LE_OP_ADD || x->code == LE_OP_SUB)) {
        int at = x->code == LE_OP_ADD && x->operands[0]->kind == LE_NODE_CONST ? 0 : 1;
        if (x->operands[at]->kind != LE_NODE_CONST ||
            !le_mul_i64(le_const_i64(x->operands[at]), x->code == LE_OP_ADD ? 1 : -1, offset))
            return false;
        x = x->operands[1 - at];
    }
    if (x->kind == LE_NODE_OP && x->code == LE_OP_MUL) {
        int at = x->operands[0]->kind == LE_NODE_CONST ? 0 : 1;
        if (x->operands[at]->kind != LE_NODE_CONST)
            return false;
        *factor = le_const_i64(x->operands[at]);
        x = x->operands[1 - at];
    }
    *index = x;
    return x->kind == LE_NODE_INDEX;
}

/* Whether two subscripts of one axis can be equal only for the same element: they are the same node, or differ like 2 *
 * i and 2 * i + 1. */
static bool are_disjoint(const struct le_node *a, const struct le_node *b) {
    const struct le_node *i, *j;
    int64_t factor, other, from, to;
    if (a == b)
        return true;
    if (!split_linear(a, &i, &factor, &from) || !split_linear(b, &j, &other, &to) || i != j || factor != other ||
        factor < 1)
        return false;
    return from == to || (from % factor != to % factor && (from < 0) == (to < 0));
}

static struct le_node *const *left_of(const struct lower_region *r, const struct lower_pair *pair, int store) {
    return r->operands.at + r->steps.at[pair->stores.at[store].step].first_subscript;
}

static bool is_disjoint_axis(const struct lower_region *r, const struct lower_pair *pair, int axis) {
    for (int a = 0; a < pair->stores.count; a++)
        for (int b = 0; b < a; b++)
            if (!are_disjoint(left_of(r, pair, a)[axis], left_of(r, pair, b)[axis]))
                return false;
    return true;
}

/* Whether different elements write different addresses of the array, for any combination of its stores. */
static bool have_distinct_targets(const struct lower_region *r, const struct lower_pair *pair) {
    int axes[LEAT_RANK_MAX], count = 0;
    for (int d = 0; d < pair->symbol->rank; d++)
        if (is_disjoint_axis(r, pair, d))
            axes[count++] = d;
    for (int k = 0; k < pair->stores.count; k++) {
        struct le_node *left[LEAT_RANK_MAX];
        for (int d = 0; d < count; d++)
            left[d] = left_of(r, pair, k)[axes[d]];
        if (!le_lower_injective(left, count, r->free, r->free_count))
            return false;
    }
    return true;
}

static void finish_store(struct lower *l, struct lower_pair *pair, const struct lower_store *store, bool own) {
    struct lower_region *r = l->region;
    const struct le_step *from = store->from;
    struct le_region_step *s = &r->steps.at[store->step];
    struct le_node **value = &r->operands.at[s->value], **left = r->operands.at + s->first_subscript;
    enum le_type type = le_type_strong(pair->symbol->type), update = type;
    if (!own && from->op != LE_ASSIGN_SET)
        update = le_type_compute(le_type_strong(from->update));
    /* one of several stores leaves a value of the array's type */
    bool widens = le_lower_needs_wide(from->op, type, update), alone = pair->stores.count == 1;
    bool scatters = !own && from->op != LE_ASSIGN_SET && (alone || !widens);
    if (!scatters && from->op != LE_ASSIGN_SET) {
        struct le_node *old = own_element(l, pair, from->left, left, s->access);
        *value = le_lower_updated(l, from, old, *value, NULL, 0);
    }
    if (scatters && widens)
        pair->wide = update;
    *value = le_lower_stored(l, *value, scatters && widens ? update : type);
    s->own = own;
    s->scatter = scatters ? (enum le_scatter)from->op : LE_SCATTER_SET;
}

static void finish_stores(struct lower *l, struct lower_pair *pair) {
    bool own = have_distinct_targets(l->region, pair);
    for (int k = 0; k < pair->stores.count; k++)
        finish_store(l, pair, &pair->stores.at[k], own);
}

/* ---- blocks */

static int lower_step(struct lower *l, const struct le_step *steps, int number);

/* Lowers steps first..end-1. Returns false if their end is never reached. */
static bool lower_block(struct lower *l, const struct le_step *steps, int first, int end) {
    for (int k = first; k < end && !l->failed;) {
        enum le_step_kind kind = steps[k].kind;
        k = lower_step(l, steps, k);
        if (!l->reached || kind == LE_STEP_BREAK || kind == LE_STEP_RETURN)
            return false;
    }
    return true;
}

/* Adds the END or ELSE of the step `opened`. */
static void close_step(struct lower *l, enum le_region_kind kind, int opened) {
    int number = l->region->steps.count;
    add_step(l, kind, NULL)->partner = opened;
    l->region->steps.at[opened].partner = number;
}

static void for_range(struct lower *l, const struct le_step *step) {
    bool stepped = step->index->by != NULL;
    if (step->index->folds) {
        le_lower_indices(l, (struct le_index *const *)&step->index, 1);
        return;
    }
    struct le_node *low = le_lower_bound(l, step->index->low);
    struct le_node *by = stepped ? keep_value(l, le_lower_bound(l, step->index->by), step) : NULL;
    le_lower_for_range(l, step->index, stepped ? keep_value(l, low, step) : low, by);
}

static void lower_element_loop(struct lower *l, const struct le_step *steps, int number) {
    const struct le_step *step = &steps[number];
    int opened = 0, outer = l->region_loop;
    if (step->kind == LE_STEP_FOR) {
        for_range(l, step);
        *LE_PUSH(l->ir->arena, &l->region->indices) = step->index->id;
        opened = l->region->steps.count;
        add_step(l, LE_REGION_FOR, step)->index = l->region->indices.count - 1;
    } else {
        int value = add_operand(l, le_lower_as(l, step->value, LE_BOOL));
        opened = l->region->steps.count;
        add_step(l, LE_REGION_WHILE, step)->value = value;
    }
    l->region_loop = opened;
    lower_block(l, steps, number + 1, step->partner);
    l->region_loop = outer;
    l->reached = true;
    close_step(l, LE_REGION_END, opened);
}

static int lower_if(struct lower *l, const struct le_step *steps, int number) {
    const struct le_step *step = &steps[number], *otherwise = &steps[step->partner];
    int value = add_operand(l, le_lower_as(l, step->value, LE_BOOL)), opened = l->region->steps.count;
    add_step(l, LE_REGION_IF, step)->value = value;
    bool first = lower_block(l, steps, number + 1, step->partner), second = true;
    int end = step->partner;
    l->reached = true;
    if (otherwise->kind == LE_STEP_ELSE) {
        end = otherwise->partner;
        close_step(l, LE_REGION_ELSE, opened);
        opened = l->region->steps.count - 1;
        second = lower_block(l, steps, step->partner + 1, end);
    }
    close_step(l, LE_REGION_END, opened);
    l->reached = first || second;
    return end + 1;
}

static void lower_return(struct lower *l, const struct le_step *step) {
    enum le_type type = l->region->returns;
    int value = add_operand(l, le_node_cast(l->ir, type, le_lower_any(l, step->value))), second = 0;
    if (step->otherwise)
        second = add_operand(l, le_node_cast(l->ir, type, le_lower_any(l, step->otherwise)));
    struct le_region_step *s = add_step(l, LE_REGION_RETURN, step);
    s->value = value;
    s->second = second;
}

static int lower_step(struct lower *l, const struct le_step *steps, int number) {
    const struct le_step *step = &steps[number];
    switch (step->kind) {
    case LE_STEP_FOR:
    case LE_STEP_WHILE:
        lower_element_loop(l, steps, number);
        return step->partner + 1;
    case LE_STEP_IF:
        return lower_if(l, steps, number);
    case LE_STEP_NEW:
        new_scalar(l, step);
        break;
    case LE_STEP_FILL:
        set_scalar(l, step, le_lower_any(l, step->value));
        break;
    case LE_STEP_ASSIGN:
        if (step->left)
            add_store(l, step);
        else
            assign_scalar(l, step);
        break;
    case LE_STEP_BREAK:
        add_step(l, LE_REGION_BREAK, step)->partner = l->region_loop;
        break;
    case LE_STEP_FAIL:
        add_step(l, LE_REGION_FAIL, NULL)->location = step->location;
        break;
    default:
        lower_return(l, step);
    }
    return number + 1;
}

static struct le_node *finish_region(struct lower *l) {
    struct lower_region *r = l->region;
    struct le_region *region = LE_NEW(l->ir->arena, struct le_region);
    *region = (struct le_region){.steps = r->steps.at, .step_count = r->steps.count};
    return le_node_make(l->ir, &(struct le_node){.kind = LE_NODE_REGION,
                                                 .type = r->returns,
                                                 .region = region,
                                                 .operands = r->operands.at,
                                                 .operand_count = r->operands.count,
                                                 .indices = r->indices.at,
                                                 .index_count = r->indices.count});
}

/* ---- calls */

struct le_node *le_lower_call(struct lower *l, const struct le_tree_node *n) {
    struct lower_region region = {.outer = l->region, .returns = le_type_compute(le_type_strong(n->operand))};
    bool reached = l->reached;
    int loop = l->region_loop;
    l->region = &region;
    l->reached = true;
    count_sets(l, n->steps, 0, n->step_count);
    lower_block(l, n->steps, 0, n->step_count);
    struct le_node *node = finish_region(l);
    l->region = region.outer;
    l->region_loop = loop;
    l->reached = reached;
    return node;
}

/* ---- each */

static void find_pairs(struct lower *l, int first, int end) {
    for (int k = first; k < end; k++) {
        const struct le_step *step = &l->tree->steps[k];
        if (step->kind != LE_STEP_ASSIGN || !step->left || l->pair[step->symbol->id] >= 0)
            continue;
        const struct le_symbol *s = step->symbol;
        int target = le_lower_new_value(l, s->id, le_type_strong(s->type), s->rank, 0);
        l->pair[s->id] = l->region->pairs.count;
        *LE_PUSH(l->ir->arena, &l->region->pairs) =
            (struct lower_pair){.symbol = s, .base = l->current[s->id], .target = target, .wide = LE_NONE};
        l->current[s->id] = target;
    }
}

/* An array that a scatter updates in a wider type is converted to that type, stored to, and rounded back once. */
static void widen_pair(struct lower *l, const struct lower_pair *pair, int number) {
    struct lower_region *r = l->region;
    for (int k = 0; k < r->steps.count; k++)
        if (r->steps.at[k].kind == LE_REGION_STORE && r->steps.at[k].target == number) {
            struct le_node **value = &r->operands.at[r->steps.at[k].value];
            *value = le_node_cast(l->ir, pair->wide, *value);
        }
    l->ir->values.at[pair->target].type = pair->wide;
}

/* A body with a single store that different elements may aim at the same address is lowered as a SCATTER, which has
 * faster implementations. */
static bool is_scatter(const struct lower_region *r) {
    return r->steps.count == 1 && r->steps.at[0].kind == LE_REGION_STORE && !r->steps.at[0].own;
}

static void fill_scatter(struct lower *l, struct le_stage *s) {
    const struct lower_region *r = l->region;
    const struct le_region_step *store = &r->steps.at[0];
    s->kind = LE_STAGE_SCATTER;
    s->left = r->operands.at + store->first_subscript;
    s->left_count = store->subscript_count;
    s->node = r->operands.at[store->value];
    s->scatter = store->scatter;
    s->access = store->access;
}

static void each_stage(struct lower *l, int *free, int free_count) {
    struct lower_region *r = l->region;
    struct le_ir *ir = l->ir;
    struct le_pair *pairs = LE_NEW_ARRAY(ir->arena, r->pairs.count, struct le_pair);
    for (int k = 0; k < r->pairs.count; k++) {
        struct lower_pair *p = &r->pairs.at[k];
        finish_stores(l, p);
        bool wide = p->wide != LE_NONE;
        if (wide)
            widen_pair(l, p, k);
        l->pair[p->symbol->id] = -1;
        pairs[k] = (struct le_pair){.target = p->target,
                                    .source = wide ? le_lower_convert(l, p->symbol, p->base, p->wide) : p->base};
    }
    for (int k = 0; k < r->pairs.count; k++)
        ir->values.at[pairs[k].target].stage = ir->stages.count;
    struct le_stage *s = le_lower_blank_stage(l, LE_STAGE_EACH);
    s->indices = free;
    s->index_count = free_count;
    s->target = pairs[0].target;
    s->base = pairs[0].source;
    if (is_scatter(r)) {
        fill_scatter(l, s);
    } else {
        s->pairs = pairs;
        s->pair_count = r->pairs.count;
        s->node = finish_region(l);
    }
    for (int k = 0; k < r->pairs.count; k++) {
        const struct lower_pair *p = &r->pairs.at[k];
        if (p->wide != LE_NONE)
            l->current[p->symbol->id] = le_lower_convert(l, p->symbol, p->target, le_type_strong(p->symbol->type));
    }
}

int le_lower_each(struct lower *l, int number) {
    const struct le_step *step = &l->tree->steps[number];
    struct lower_region region = {.returns = LE_NONE};
    le_lower_statement(l, step);
    le_lower_number_accesses(l, step);
    int *free = le_lower_indices(l, step->free, step->free_count);
    region.free = free;
    region.free_count = step->free_count;
    l->region = &region;
    find_pairs(l, number + 1, step->partner);
    count_sets(l, l->tree->steps, number + 1, step->partner);
    lower_block(l, l->tree->steps, number + 1, step->partner);
    l->reached = true;
    le_lower_finish_statement(l, step);
    struct le_ir_statement *st = &l->ir->statements.at[l->statement];
    st->free = free;
    st->free_count = step->free_count;
    if (region.pairs.count)
        each_stage(l, free, step->free_count);
    l->region = NULL;
    return step->partner + 1;
}
