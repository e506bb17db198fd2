/* Turns nodes into C variables. A node is computed once, in the outermost block where everything that it depends on is
 * known. A node that may fault or change is computed where it is used. SELECT, && and || become branches unless their
 * operands are cheap and safe. */
#include "gen/device_gen.h"

#define CHEAP_COST 8 /* additions that are rather made in vain than jumped over */

#define NARROW_DEPTH 8 /* of nodes whose interval is looked for */
#define COPIES_MAX   2 /* of what is dear, in branches; then it is made before them */

/* ---- what is known of a node */

/* A region that must not run in vain: a `while` might not end. */
static bool only_when_reached(const struct le_node *node) {
    return le_region_has_while(node) || le_region_fails(node);
}

static bool find_safe(struct cuda *c, struct le_node *node) {
    if ((node->kind == LE_NODE_LOAD && !le_cuda_load_is_safe(c, node)) || only_when_reached(node) ||
        le_cuda_may_note(node))
        return false;
    for (int k = 0; k < node->operand_count; k++)
        if (!le_cuda_is_safe(c, node->operands[k]))
            return false;
    for (int k = 0; k < node->index_count; k++) {
        const struct le_range_nodes *r = &c->ir->indices.at[node->indices[k]].range;
        const struct le_node *by = le_range_of(c->space, node->indices[k])->dynamic ? r->by : NULL;
        if (r->low && (!le_cuda_is_safe(c, r->low) || !le_cuda_is_safe(c, r->high)))
            return false;
        if (by && by->kind != LE_NODE_CONST)
            return false; /* it may turn out not to be positive */
    }
    return true;
}

bool le_cuda_is_safe(struct cuda *c, struct le_node *node) {
    const struct le_node_note *known = le_note_of(c->notes, node);
    if (known->safe_epoch == c->epoch)
        return known->safe;
    bool safe = find_safe(c, node);
    struct le_node_note *note = le_note_of(c->notes, node);
    note->safe_epoch = c->epoch;
    note->safe = safe;
    return safe;
}

bool le_cuda_is_cheap(const struct le_node *node) {
    return node->cost <= CHEAP_COST && !node->reduces && node->kind != LE_NODE_REGION;
}

static leat_status no_value(void *user, struct le_node *node, int64_t *value) {
    (void)user, (void)node, (void)value;
    return LEAT_MISSING;
}

/* By ranges and types: the numbers of a run are not asked for. */
bool le_cuda_is_narrow(const struct cuda *c, struct le_node *node) {
    int64_t low, high;
    struct le_space space = *c->space;
    space.evaluate = no_value;
    return node->type == LE_I64 && node->depth <= NARROW_DEPTH && le_interval(&space, node, &low, &high) &&
           le_cuda_fits_int(low, high);
}

/* ---- blocks and memo */

static bool block_binds(const struct block *block, const struct le_node *node) {
    for (int k = 0; k < block->binds.count; k++)
        if (le_node_depends(node, block->binds.at[k]))
            return true;
    return false;
}

static struct held *first_memo(struct cuda *c, struct le_node *node) {
    const struct le_node_note *note = le_note_of(c->notes, node);
    return note->code_epoch == c->epoch ? note->code : NULL;
}

/* Whether it was made in so many branches that a further one is no gain: without this, choices inside of choices would
 * make what they share 2 to the power of their depth times. */
static bool is_repeated(struct cuda *c, struct le_node *node) {
    int copies = 0;
    for (const struct held *h = first_memo(c, node); h && copies < COPIES_MAX; h = h->next)
        copies++;
    return copies == COPIES_MAX;
}

static struct block *natural(struct cuda *c, struct le_node *node, struct block *block) {
    bool dear = node->reduces || node->kind == LE_NODE_REGION || node->cost > CHEAP_COST;
    dear = dear && !is_repeated(c, node);
    while (block->parent && !block_binds(block, node) && !(dear && block->conditional))
        block = block->parent;
    return block;
}

static bool is_open(const struct block *block, const struct block *inner) {
    while (inner && inner != block)
        inner = inner->parent;
    return inner != NULL;
}

static const struct held *add_memo(struct cuda *c, struct le_node *node, const struct held *x, const char *outside) {
    struct held *known = first_memo(c, node), *h = LE_NEW(c->arena, struct held);
    *h = *x;
    h->outside = outside;
    h->moment = c->moment;
    h->next = node->changes && known && known->moment != c->moment ? NULL : known;
    struct le_node_note *note = le_note_of(c->notes, node);
    note->code_epoch = c->epoch;
    note->code = h;
    return h;
}

static const struct held *find_memo(struct cuda *c, struct le_node *node, const struct block *block,
                                    const char *outside) {
    for (struct held *h = first_memo(c, node); h; h = h->next)
        if (h->outside == outside && (!node->changes || h->moment == c->moment) && is_open(h->block, block))
            return h;
    return NULL;
}

void le_cuda_reach(struct cuda *c, const struct le_space *ranges) {
    c->reach = ranges ? ranges : c->space;
    c->epoch = ++c->notes->epoch;
}

const struct held *le_cuda_know(struct cuda *c, struct le_node *node, struct block *block, const char *text) {
    return add_memo(c, node, &(struct held){.text = text, .block = block}, NULL);
}

static const struct held *new_held(struct cuda *c, struct block *block, const char *text, bool narrow) {
    struct held *h = LE_NEW(c->arena, struct held);
    *h = (struct held){.text = text, .narrow = narrow, .block = block};
    return h;
}

const struct held *le_cuda_variable(struct cuda *c, struct block *block, const char *name) {
    return new_held(c, block, name, false);
}

const struct held *le_cuda_hold(struct cuda *c, struct block *block, enum le_type type, bool narrow, const char *wish,
                                const char *text) {
    const char *name = le_cuda_name(c, wish);
    le_cuda_line(c, block, "const %s %s = %s;", narrow ? "int" : le_cuda_type(type), name, text);
    return new_held(c, block, name, narrow);
}

/* ---- kinds of nodes */

static void add_note(struct cuda *c, const struct le_node *node, struct block *block, const struct held *right) {
    if (!le_cuda_may_note(node) || c->branches > 0)
        return;
    c->may_note = true;
    le_cuda_line(c, block, "if (%s %s 0)", right->text, node->code == LE_OP_POW ? "<" : "==");
    le_cuda_line(c, block, "    le_note(%s, %du);", le_cuda_fault(c),
                 node->code == LE_OP_POW ? LE_NOTE_POWER : LE_NOTE_DIVISION);
}

static bool all_narrow(const struct le_node *node, const struct held *const *x) {
    for (int k = 0; k < node->operand_count; k++)
        if (node->operands[k]->type != LE_I64 || !x[k]->narrow)
            return false;
    return true;
}

static bool has_narrow_form(int code) {
    switch (code) {
    case LE_OP_ADD:
    case LE_OP_SUB:
    case LE_OP_MUL:
    case LE_OP_NEG:
    case LE_OP_FLOORDIV:
    case LE_OP_MOD:
    case LE_OP_MIN:
    case LE_OP_MAX:
    case LE_OP_CLAMP:
    case LE_OP_EQ:
    case LE_OP_NE:
    case LE_OP_LT:
    case LE_OP_LE:
    case LE_OP_GT:
    case LE_OP_GE:
        return true;
    default:
        return false;
    }
}

static const struct held *make_op(struct cuda *c, struct le_node *node, struct block *block, const char *outside) {
    const struct held *x[3] = {NULL, NULL, NULL};
    for (int k = 0; k < node->operand_count; k++)
        x[k] = le_cuda_node(c, node->operands[k], block, outside);
    bool narrow = has_narrow_form(node->code) && all_narrow(node, x);
    narrow = narrow && (node->type == LE_BOOL || le_cuda_is_narrow(c, node));
    add_note(c, node, block, x[node->operand_count - 1]);
    const char *usual = c->quick && is_open(c->quick, block) ? c->usual : NULL;
    return le_cuda_hold(c, block, node->type, narrow && node->type == LE_I64, "t",
                        le_cuda_op(c, node, x, narrow, usual, c->rare && is_open(c->rare, block)));
}

static const struct held *make_cast(struct cuda *c, struct le_node *node, struct block *block, const char *outside) {
    const struct held *x = le_cuda_node(c, node->operands[0], block, outside);
    const char *text;
    if (node->kind == LE_NODE_ROUND) {
        const char *half = le_cuda_cast(c, le_cuda_wide(c, x), node->operands[0]->type, node->rounded);
        text = le_cuda_cast(c, half, node->rounded, LE_F32);
    } else {
        if (node->type == LE_I64 && le_cuda_is_narrow(c, node))
            return le_cuda_hold(c, block, LE_I64, true, "t", le_arena_format(c->arena, "(int)%s", x->text));
        enum le_type from = node->operands[0]->type;
        text = le_cuda_cast(
            c, from == LE_I64 && node->type != LE_F32 && node->type != LE_F64 ? le_cuda_wide(c, x) : x->text, from,
            node->type);
    }
    return le_cuda_hold(c, block, node->type, false, "t", text);
}

/* ---- branches */

static struct block *open_branch(struct cuda *c, struct block *block, const char *format, const char *x) {
    struct block *inner = le_cuda_open(c, block, le_arena_format(c->arena, format, x));
    inner->conditional = true;
    return inner;
}

/* name = node's value, in a block that is still open: what is hoisted out of it comes before it. */
static struct block *assign_in_branch(struct cuda *c, struct le_node *node, struct block *block, const char *head,
                                      const char *name, const char *outside) {
    struct block *inner = open_branch(c, block, "%s", head);
    c->branches++;
    const struct held *value = le_cuda_node(c, node, inner, outside);
    c->branches--;
    le_cuda_line(c, inner, "%s = %s;", name, le_cuda_wide(c, value));
    return inner;
}

static bool is_free(struct cuda *c, struct le_node *node) {
    return le_cuda_is_cheap(node) && le_cuda_is_safe(c, node);
}

static const struct held *make_select(struct cuda *c, struct le_node *node, struct block *block, const char *outside) {
    const struct held *x = le_cuda_node(c, node->operands[0], block, outside);
    if (is_free(c, node->operands[1]) && is_free(c, node->operands[2])) {
        const struct held *a = le_cuda_node(c, node->operands[1], block, outside);
        const struct held *b = le_cuda_node(c, node->operands[2], block, outside);
        bool narrow = node->type == LE_I64 && a->narrow && b->narrow;
        const char *text = le_arena_format(c->arena, "%s ? %s : %s", x->text, narrow ? a->text : le_cuda_wide(c, a),
                                           narrow ? b->text : le_cuda_wide(c, b));
        return le_cuda_hold(c, block, node->type, narrow, "t", text);
    }
    const char *name = le_cuda_name(c, "t");
    le_cuda_line(c, block, "%s %s;", le_cuda_type(node->type), name);
    const char *head = le_arena_format(c->arena, "if (%s)", x->text);
    struct block *then = assign_in_branch(c, node->operands[1], block, head, name, outside);
    struct block *otherwise = assign_in_branch(c, node->operands[2], block, "else", name, outside);
    le_cuda_close(c, then);
    le_cuda_close(c, otherwise);
    return new_held(c, block, name, false);
}

static const struct held *make_logic(struct cuda *c, struct le_node *node, struct block *block, const char *outside) {
    const struct held *a = le_cuda_node(c, node->operands[0], block, outside);
    bool both = node->code == LE_OP_LAND;
    if (is_free(c, node->operands[1])) {
        const struct held *b = le_cuda_node(c, node->operands[1], block, outside);
        return le_cuda_hold(c, block, LE_BOOL, false, "t",
                            le_arena_format(c->arena, both ? "%s && %s" : "%s || %s", a->text, b->text));
    }
    const char *name = le_cuda_name(c, "t");
    le_cuda_line(c, block, "bool %s = %s;", name, a->text);
    const char *head = le_arena_format(c->arena, both ? "if (%s)" : "if (!%s)", name);
    le_cuda_close(c, assign_in_branch(c, node->operands[1], block, head, name, outside));
    return new_held(c, block, name, false);
}

/* The term; where one of its reads falls outside, the other. */
static const struct held *make_else(struct cuda *c, struct le_node *node, struct block *block, const char *outside) {
    if (le_cuda_is_safe(c, node->operands[0]))
        return le_cuda_node(c, node->operands[0], block, outside);
    const char *flag = le_cuda_name(c, "outside");
    le_cuda_line(c, block, "bool %s = false;", flag);
    const struct held *term = le_cuda_node(c, node->operands[0], block, flag);
    if (is_free(c, node->operands[1])) {
        const struct held *other = le_cuda_node(c, node->operands[1], block, outside);
        return le_cuda_hold(
            c, block, node->type, false, "t",
            le_arena_format(c->arena, "%s ? %s : %s", flag, le_cuda_wide(c, other), le_cuda_wide(c, term)));
    }
    const char *name = le_cuda_name(c, "t");
    le_cuda_line(c, block, "%s %s = %s;", le_cuda_type(node->type), name, le_cuda_wide(c, term));
    struct block *inner = open_branch(c, block, "if (%s)", flag);
    le_cuda_line(c, inner, "%s = %s;", name, le_cuda_wide(c, le_cuda_node(c, node->operands[1], inner, outside)));
    le_cuda_close(c, inner);
    return new_held(c, block, name, false);
}

/* ---- the rest */

/* Key and two words of counter at a time; a missing one is 0. The earlier blocks' low halves are the later ones' keys.
 */
static const struct held *make_rand(struct cuda *c, struct le_node *node, struct block *block, const char *outside) {
    const char *key = le_cuda_wide(c, le_cuda_node(c, node->operands[0], block, outside)), *x[2];
    for (int k = 1;; k += 2) {
        bool last = k + 2 >= node->operand_count;
        for (int q = 0; q < 2; q++)
            x[q] = k + q < node->operand_count ? le_cuda_wide(c, le_cuda_node(c, node->operands[k + q], block, outside))
                                               : "0ull";
        const char *name = !last ? "le_rand_key" : node->code == LE_CODE_RAND ? "le_rand" : "le_randn";
        const char *text =
            le_arena_format(c->arena, "%s((unsigned long long)%s, (unsigned long long)%s, (unsigned long long)%s)",
                            name, key, x[0], x[1]);
        const struct held *made = le_cuda_hold(c, block, last ? LE_F64 : LE_U64, false, last ? "random" : "key", text);
        if (last)
            return made;
        key = made->text;
    }
}

static const struct held *make_count(struct cuda *c, const struct le_node *node) {
    int64_t points = 1;
    struct words name = {0};
    for (int k = 0; k < node->index_count; k++) {
        if (!le_mul_i64(points, le_range_count(le_range_of(c->space, node->indices[k])), &points))
            points = INT64_MAX;
        le_words_add(c->arena, &name, "%s_", le_cuda_index_name(c, node->indices[k]));
    }
    le_words_add(c->arena, &name, "points");
    return new_held(c, c->root, le_cuda_number(c, name.at, points), false);
}

static const struct held *make_len(struct cuda *c, const struct le_node *node) {
    int64_t length = c->space->shape[node->symbol][node->axis];
    const char *name = le_arena_format(c->arena, "%s_len%d", c->ir->tree->symbols[node->symbol]->name, node->axis);
    const char *text = le_cuda_number(c, name, length);
    if (le_cuda_fits_int(length, length))
        return new_held(c, c->root, le_arena_format(c->arena, "(int)%s", text), true);
    return new_held(c, c->root, text, false);
}

/* The host's: the value that holds it while its loop runs. */
static const struct held *make_index(struct cuda *c, struct le_node *node) {
    const struct le_ir_index *ix = &c->ir->indices.at[node->index];
    if (!ix->host)
        return &c->indices[node->index];
    const char *scalar = le_cuda_parameter(c, LE_ARGUMENT_SCALAR, ix->host_value, 0, "le_scalar ", NULL);
    return le_cuda_hold(c, c->root, LE_I64, false, ix->name,
                        le_arena_format(c->arena, "le_value<long long>(%s)", scalar));
}

static const struct held *generate_value(struct cuda *c, struct le_node *node, struct block *block,
                                         const char *outside) {
    switch (node->kind) {
    case LE_NODE_CONST:
        if (le_cuda_is_narrow(c, node))
            return new_held(c, c->root, le_cuda_i64(c, le_const_i64(node), true), true);
        return new_held(c, c->root, le_cuda_literal(c, node->type, node->bits), false);
    case LE_NODE_LEN:
        return make_len(c, node);
    case LE_NODE_INDEX:
        return make_index(c, node);
    case LE_NODE_LOAD:
        return le_cuda_load(c, node, block, outside);
    case LE_NODE_SELECT:
        return make_select(c, node, block, outside);
    case LE_NODE_RAND:
        return make_rand(c, node, block, outside);
    case LE_NODE_REDUCE:
        return le_cuda_reduce(c, node, block, outside);
    case LE_NODE_COUNT:
        return make_count(c, node);
    case LE_NODE_ELSE:
        return make_else(c, node, block, outside);
    case LE_NODE_REGION:
        return le_cuda_region(c, node, block, outside);
    case LE_NODE_SECOND:
        return le_cuda_second(c, node, block, outside);
    case LE_NODE_LOCAL:
        break;
    case LE_NODE_OP:
        if (node->code == LE_OP_LAND || node->code == LE_OP_LOR)
            return make_logic(c, node, block, outside);
        return make_op(c, node, block, outside);
    case LE_NODE_CAST:
    case LE_NODE_ROUND:
        return make_cast(c, node, block, outside);
    }
    return NULL;
}

/* Where a node is made that is needed in block under outside, and under what. */
static void choose_block(struct cuda *c, struct le_node *node, struct block **block, const char **outside) {
    if (!le_cuda_is_safe(c, node))
        return;
    *outside = NULL;
    if (!node->changes)
        *block = natural(c, node, *block);
}

const struct held *le_cuda_node(struct cuda *c, struct le_node *node, struct block *block, const char *outside) {
    if (node->kind == LE_NODE_LOCAL)
        return new_held(c, block, c->locals[node->local], false);
    choose_block(c, node, &block, &outside);
    const struct held *x = find_memo(c, node, block, outside);
    if (x)
        return x;
    return add_memo(c, node, generate_value(c, node, block, outside), outside);
}

void le_cuda_both(struct cuda *c, struct le_node *a, struct le_node *b, struct block *block, const char *outside) {
    struct block *other = block;
    const char *under = outside;
    const struct held *totals[2];
    if (!le_node_share_loops(&a, &b))
        return;
    choose_block(c, a, &block, &outside);
    choose_block(c, b, &other, &under);
    bool together = block == other && outside == under && a->changes == b->changes;
    if (!together || find_memo(c, a, block, outside) || find_memo(c, b, block, outside))
        return;
    if (le_cuda_reduce_both(c, (struct le_node *[]){a, b}, block, outside, totals)) {
        add_memo(c, a, totals[0], outside);
        add_memo(c, b, totals[1], outside);
    }
}
