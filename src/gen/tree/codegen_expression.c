/* Turns nodes into C variables. A node is computed once, in the outermost block where everything that it depends on is
 * known. A node that may fault or change is computed where it is used. SELECT, && and || become branches unless their
 * operands are cheap and safe. */
#include "gen/tree/codegen.h"

#define CHEAP_COST 8 /* additions: cheaper to compute than to branch around */

#define NARROW_DEPTH 8 /* of nodes whose interval is computed */
#define COPIES_MAX   2 /* of an expensive node in branches, before it is computed ahead of them */

/* ---- what is known of a node */

static bool is_cheap(const struct le_node *node) {
    return node->cost <= CHEAP_COST && !node->reduces && node->kind != LE_NODE_REGION;
}

static leat_status no_value(void *user, struct le_node *node, int64_t *value) {
    (void)user, (void)node, (void)value;
    return LEAT_MISSING;
}

/* Decided from ranges and types, not from the numbers of a run. */
static bool fits_narrow(const struct codegen *c, struct le_node *node) {
    int64_t low, high;
    struct le_space space = *c->space;
    space.evaluate = no_value;
    return node->type == LE_I64 && node->depth <= NARROW_DEPTH && le_interval(&space, node, &low, &high) &&
           le_codegen_fits_int(low, high);
}

/* ---- blocks and memo */

static bool block_binds(const struct le_block *block, const struct le_node *node) {
    for (int k = 0; k < block->binds.count; k++)
        if (le_node_depends(node, block->binds.at[k]))
            return true;
    return false;
}

static struct held *first_memo(struct codegen *c, struct le_node *node) {
    const struct le_node_note *note = le_note_of(c->notes, node);
    return note->code_epoch == c->safety.epoch ? note->code : NULL;
}

/* Whether it was computed in COPIES_MAX branches already. Without this limit, nested choices would repeat what they
 * share 2 to the power of their depth times. */
static bool is_repeated(struct codegen *c, struct le_node *node) {
    int copies = 0;
    for (const struct held *h = first_memo(c, node); h && copies < COPIES_MAX; h = h->next)
        copies++;
    return copies == COPIES_MAX;
}

static struct le_block *natural(struct codegen *c, struct le_node *node, struct le_block *block) {
    bool dear = node->reduces || node->kind == LE_NODE_REGION || node->cost > CHEAP_COST;
    dear = dear && !is_repeated(c, node);
    while (block->parent && !block_binds(block, node) && !(dear && block->conditional))
        block = block->parent;
    return block;
}

static bool is_open(const struct le_block *block, const struct le_block *inner) {
    while (inner && inner != block)
        inner = inner->parent;
    return inner != NULL;
}

static const struct held *add_memo(struct codegen *c, struct le_node *node, const struct held *x,
                                   struct le_variable *outside) {
    struct held *known = first_memo(c, node), *h = LE_NEW(c->arena, struct held);
    *h = *x;
    h->outside = outside;
    h->moment = c->moment;
    h->next = node->changes && known && known->moment != c->moment ? NULL : known;
    struct le_node_note *note = le_note_of(c->notes, node);
    note->code_epoch = c->safety.epoch;
    note->code = h;
    return h;
}

static const struct held *find_memo(struct codegen *c, struct le_node *node, const struct le_block *block,
                                    struct le_variable *outside) {
    for (struct held *h = first_memo(c, node); h; h = h->next)
        if (h->outside == outside && (!node->changes || h->moment == c->moment) && is_open(h->block, block))
            return h;
    return NULL;
}

void le_codegen_reach(struct codegen *c, const struct le_space *ranges) {
    c->safety.space = ranges ? ranges : c->space;
    c->safety.epoch = ++c->notes->epoch;
}

void le_codegen_know(struct codegen *c, struct le_node *node, struct le_block *block, struct le_expression *x) {
    add_memo(c, node, &(struct held){.x = x, .block = block}, NULL);
}

static const struct held *new_held(struct codegen *c, struct le_block *block, struct le_expression *x) {
    struct held *h = LE_NEW(c->arena, struct held);
    *h = (struct held){.x = x, .block = block};
    return h;
}

/* x as a variable of the block. */
static const struct held *hold(struct codegen *c, struct le_block *block, const char *wish, struct le_expression *x) {
    return new_held(c, block, le_let(c->tree, block, wish, x));
}

/* ---- kinds of nodes */

static void add_note(struct codegen *c, const struct le_node *node, struct le_block *block,
                     struct le_expression *right) {
    if (!le_node_may_note(&c->safety, node) || c->branches > 0)
        return;
    bool power = node->code == LE_OP_POW;
    c->may_note = true;
    le_codegen_reports(c);
    struct le_expression *zero = le_ktree_constant(c->tree, right->type, 0);
    struct le_block *inner =
        le_ktree_open_if(c->tree, block, le_ktree_binary(c->tree, power ? LE_OP_LT : LE_OP_EQ, right, zero));
    le_ktree_add(c->tree, inner,
                 (struct le_statement){.kind = LE_STATEMENT_NOTE, .code = power ? LE_NOTE_POWER : LE_NOTE_DIVISION});
    le_ktree_close(c->tree, inner);
}

static bool is_narrow(const struct le_expression *x) {
    return x->type == LE_KTREE_INT;
}

static bool all_narrow(const struct le_node *node, struct le_expression *const *x) {
    for (int k = 0; k < node->operand_count; k++)
        if (node->operands[k]->type != LE_I64 || !is_narrow(x[k]))
            return false;
    return true;
}

/* Whether the operation gives the same result on ints as on i64, if that fits an int. */
static bool has_narrow_form(int code) {
    static const bool has[LE_CODES] = {
        [LE_OP_ADD] = true, [LE_OP_SUB] = true, [LE_OP_MUL] = true, [LE_OP_NEG] = true,   [LE_OP_FLOORDIV] = true,
        [LE_OP_MOD] = true, [LE_OP_MIN] = true, [LE_OP_MAX] = true, [LE_OP_CLAMP] = true, [LE_OP_EQ] = true,
        [LE_OP_NE] = true,  [LE_OP_LT] = true,  [LE_OP_LE] = true,  [LE_OP_GT] = true,    [LE_OP_GE] = true};
    return has[code];
}

static const struct held *make_op(struct codegen *c, struct le_node *node, struct le_block *block,
                                  struct le_variable *outside) {
    struct le_expression *x[3] = {NULL, NULL, NULL};
    for (int k = 0; k < node->operand_count; k++)
        x[k] = le_codegen_node(c, node->operands[k], block, outside);
    if (node->code == LE_CODE_LOWER || node->code == LE_CODE_HIGHER)
        return hold(c, block, "t",
                    le_codegen_fold(c, node->code == LE_CODE_LOWER ? LE_RED_MIN : LE_RED_MAX, node->type, x[0], x[1]));
    bool narrow = has_narrow_form(node->code) && all_narrow(node, x);
    narrow = narrow && (node->type == LE_BOOL || fits_narrow(c, node));
    add_note(c, node, block, x[node->operand_count - 1]);
    for (int k = 0; k < node->operand_count && !narrow; k++)
        x[k] = le_codegen_wide(c, x[k]);
    int type = narrow && node->type == LE_I64 ? LE_KTREE_INT : (int)node->type;
    struct le_expression *made = le_ktree_op(c->tree, node->code, type, x, node->operand_count);
    if (le_codegen_has_quick_way(node) && c->quick && is_open(c->quick, block)) {
        made->way = LE_WAY_QUICK;
        made->variable = c->usual;
    } else if (c->rare && is_open(c->rare, block)) {
        made->way = LE_WAY_SHORT;
    }
    return hold(c, block, "t", made);
}

static const struct held *make_cast(struct codegen *c, struct le_node *node, struct le_block *block,
                                    struct le_variable *outside) {
    struct le_expression *x = le_codegen_node(c, node->operands[0], block, outside);
    int type = (int)node->type;
    if (node->kind == LE_NODE_ROUND)
        x = le_ktree_cast(c->tree, (int)node->rounded, le_codegen_wide(c, x));
    else if (node->type == LE_I64 && fits_narrow(c, node))
        type = LE_KTREE_INT;
    else if (node->type != LE_F32 && node->type != LE_F64)
        x = le_codegen_wide(c, x);
    return hold(c, block, "t", le_ktree_cast(c->tree, type, x));
}

/* ---- branches */

struct le_block *le_codegen_open_branch(struct codegen *c, struct le_block *block, struct le_expression *x) {
    struct le_block *inner = x ? le_ktree_open_if(c->tree, block, x) : le_ktree_open_else(c->tree, block);
    inner->conditional = true;
    return inner;
}

/* Sets the variable to the node's value in a branch (x NULL: the other one). The branch stays open, so that code
 * hoisted out of it comes before it. */
static struct le_block *assign_in_branch(struct codegen *c, struct le_node *node, struct le_block *block,
                                         struct le_expression *x, struct le_variable *variable,
                                         struct le_variable *outside) {
    struct le_block *inner = le_codegen_open_branch(c, block, x);
    c->branches++;
    struct le_expression *value = le_codegen_node(c, node, inner, outside);
    c->branches--;
    le_ktree_set(c->tree, inner, le_ktree_use(c->tree, variable), le_codegen_wide(c, value));
    return inner;
}

static bool is_free(struct codegen *c, struct le_node *node) {
    return is_cheap(node) && le_node_is_safe(&c->safety, node);
}

static const struct held *make_select(struct codegen *c, struct le_node *node, struct le_block *block,
                                      struct le_variable *outside) {
    struct le_expression *x = le_codegen_node(c, node->operands[0], block, outside);
    if (is_free(c, node->operands[1]) && is_free(c, node->operands[2])) {
        struct le_expression *a = le_codegen_node(c, node->operands[1], block, outside);
        struct le_expression *b = le_codegen_node(c, node->operands[2], block, outside);
        bool narrow = node->type == LE_I64 && is_narrow(a) && is_narrow(b);
        struct le_expression *chosen =
            le_ktree_select(c->tree, x, narrow ? a : le_codegen_wide(c, a), narrow ? b : le_codegen_wide(c, b));
        return hold(c, block, "t", chosen);
    }
    struct le_variable *t = le_ktree_declare(c->tree, block, "t", (int)node->type, NULL);
    struct le_block *then = assign_in_branch(c, node->operands[1], block, x, t, outside);
    struct le_block *otherwise = assign_in_branch(c, node->operands[2], block, NULL, t, outside);
    le_ktree_close(c->tree, then);
    le_ktree_close(c->tree, otherwise);
    return new_held(c, block, le_ktree_use(c->tree, t));
}

static const struct held *make_logic(struct codegen *c, struct le_node *node, struct le_block *block,
                                     struct le_variable *outside) {
    struct le_expression *a = le_codegen_node(c, node->operands[0], block, outside);
    if (is_free(c, node->operands[1])) {
        struct le_expression *b = le_codegen_node(c, node->operands[1], block, outside);
        return hold(c, block, "t", le_ktree_binary(c->tree, node->code, a, b));
    }
    struct le_variable *t = le_ktree_declare(c->tree, block, "t", LE_BOOL, a);
    struct le_expression *x = le_ktree_use(c->tree, t);
    if (node->code == LE_OP_LOR)
        x = le_ktree_not(c->tree, x);
    le_ktree_close(c->tree, assign_in_branch(c, node->operands[1], block, x, t, outside));
    return new_held(c, block, le_ktree_use(c->tree, t));
}

/* The first operand; where one of its reads is out of range, the second. */
static const struct held *make_else(struct codegen *c, struct le_node *node, struct le_block *block,
                                    struct le_variable *outside) {
    if (le_node_is_safe(&c->safety, node->operands[0]))
        return new_held(c, block, le_codegen_node(c, node->operands[0], block, outside));
    struct le_variable *flag =
        le_ktree_declare(c->tree, block, "outside", LE_BOOL, le_ktree_constant(c->tree, LE_BOOL, 0));
    struct le_expression *term = le_codegen_wide(c, le_codegen_node(c, node->operands[0], block, flag));
    struct le_expression *fell = le_ktree_use(c->tree, flag);
    if (is_free(c, node->operands[1])) {
        struct le_expression *other = le_codegen_wide(c, le_codegen_node(c, node->operands[1], block, outside));
        return hold(c, block, "t", le_ktree_select(c->tree, fell, other, term));
    }
    struct le_variable *t = le_ktree_declare(c->tree, block, "t", (int)node->type, term);
    struct le_block *inner = le_codegen_open_branch(c, block, fell);
    struct le_expression *other = le_codegen_node(c, node->operands[1], inner, outside);
    le_ktree_set(c->tree, inner, le_ktree_use(c->tree, t), le_codegen_wide(c, other));
    le_ktree_close(c->tree, inner);
    return new_held(c, block, le_ktree_use(c->tree, t));
}

/* ---- the rest */

/* Each step takes a key and two words of the counter; a missing word is 0. The result of one step is the key of the
 * next. */
static const struct held *make_rand(struct codegen *c, struct le_node *node, struct le_block *block,
                                    struct le_variable *outside) {
    struct le_expression *x[3] = {le_codegen_node(c, node->operands[0], block, outside), NULL, NULL};
    for (int k = 1;; k += 2) {
        bool last = k + 2 >= node->operand_count;
        for (int q = 0; q < 2; q++)
            x[1 + q] = k + q < node->operand_count ? le_codegen_node(c, node->operands[k + q], block, outside)
                                                   : le_ktree_constant(c->tree, LE_U64, 0);
        for (int q = 0; q < 3; q++)
            x[q] = le_ktree_cast(c->tree, LE_U64, le_codegen_wide(c, x[q]));
        enum le_library_call call = !last                        ? LE_CALL_RAND_KEY
                                    : node->code == LE_CODE_RAND ? LE_CALL_RAND
                                                                 : LE_CALL_RANDN;
        const struct held *made =
            hold(c, block, last ? "random" : "key", le_ktree_call(c->tree, call, LE_NONE, NULL, x));
        if (last)
            return made;
        x[0] = made->x;
    }
}

static const struct held *make_count(struct codegen *c, const struct le_node *node) {
    struct words name = {0};
    for (int k = 0; k < node->index_count; k++)
        le_words_add(c->arena, &name, "%s_", le_codegen_index_name(c, node->indices[k]));
    le_words_add(c->arena, &name, "points");
    return new_held(
        c, c->root,
        le_codegen_wide(c, le_codegen_number(c, name.at, le_points(c->space, node->indices, node->index_count))));
}

static const struct held *make_len(struct codegen *c, const struct le_node *node) {
    int64_t length = c->space->shape[node->symbol][node->axis];
    const char *name = le_arena_format(c->arena, "%s_len%d", c->ir->tree->symbols[node->symbol]->name, node->axis);
    struct le_expression *x = le_codegen_number(c, name, length);
    return new_held(c, c->root, le_codegen_fits_int(length, length) ? le_to_int(c->tree, x) : le_codegen_wide(c, x));
}

/* A value computed from extents alone is a parameter. */
static const struct held *make_known(struct codegen *c, struct le_node *node) {
    struct le_affine known;
    struct le_space space = *c->space;
    space.evaluate = no_value;
    if (node->free_count > 0 || node->type != LE_I64 || !le_affine_of(&space, node, &known))
        return NULL;
    struct le_expression *x = le_codegen_number(c, "known", known.constant);
    bool narrow = le_codegen_fits_int(known.constant, known.constant);
    return new_held(c, c->root, narrow ? le_to_int(c->tree, x) : le_codegen_wide(c, x));
}

/* An index of a loop on the host is stored in a value while that loop runs. */
static const struct held *make_index(struct codegen *c, struct le_node *node) {
    const struct le_ir_index *ix = &c->ir->indices.at[node->index];
    if (!ix->host)
        return &c->indices[node->index];
    return hold(c, c->root, ix->name, le_codegen_scalar(c, ix->host_value, LE_I64));
}

static const struct held *generate_value(struct codegen *c, struct le_node *node, struct le_block *block,
                                         struct le_variable *outside) {
    const struct held *known;
    switch (node->kind) {
    case LE_NODE_CONST:
        if (fits_narrow(c, node))
            return new_held(c, c->root, le_ktree_int(c->tree, le_const_i64(node)));
        return new_held(c, c->root, le_ktree_constant(c->tree, (int)node->type, node->bits));
    case LE_NODE_LEN:
        return make_len(c, node);
    case LE_NODE_INDEX:
        return make_index(c, node);
    case LE_NODE_LOAD:
        return new_held(c, node->operand_count == 0 && !node->live ? c->root : block,
                        le_codegen_load(c, node, block, outside));
    case LE_NODE_SELECT:
        return make_select(c, node, block, outside);
    case LE_NODE_RAND:
        return make_rand(c, node, block, outside);
    case LE_NODE_REDUCE:
        return new_held(c, block, le_codegen_reduce(c, node, block, outside));
    case LE_NODE_COUNT:
        return make_count(c, node);
    case LE_NODE_ELSE:
        return make_else(c, node, block, outside);
    case LE_NODE_REGION:
        return le_codegen_region(c, node, block, outside);
    case LE_NODE_SECOND:
        return le_codegen_second(c, node, block, outside);
    case LE_NODE_LOCAL:
        break;
    case LE_NODE_OP:
        known = make_known(c, node);
        if (known)
            return known;
        if (node->code == LE_OP_LAND || node->code == LE_OP_LOR)
            return make_logic(c, node, block, outside);
        return make_op(c, node, block, outside);
    case LE_NODE_CAST:
    case LE_NODE_ROUND:
        return make_cast(c, node, block, outside);
    }
    return NULL;
}

/* Finds the block in which a node that is needed in *block is computed, and the bool for its out-of-range reads. */
static void choose_block(struct codegen *c, struct le_node *node, struct le_block **block,
                         struct le_variable **outside) {
    if (!le_node_is_safe(&c->safety, node))
        return;
    *outside = NULL;
    if (!node->changes)
        *block = natural(c, node, *block);
}

const struct held *le_codegen_held(struct codegen *c, struct le_node *node, struct le_block *block,
                                   struct le_variable *outside) {
    if (node->kind == LE_NODE_LOCAL)
        return new_held(c, block, le_ktree_use(c->tree, c->locals[node->local]));
    choose_block(c, node, &block, &outside);
    const struct held *x = find_memo(c, node, block, outside);
    if (x)
        return x;
    x = generate_value(c, node, block, outside);
    return x ? add_memo(c, node, x, outside) : NULL;
}

struct le_expression *le_codegen_node(struct codegen *c, struct le_node *node, struct le_block *block,
                                      struct le_variable *outside) {
    return le_codegen_held(c, node, block, outside)->x;
}

struct le_expression *le_codegen_stored(struct codegen *c, struct le_node *node, struct le_block *block,
                                        enum le_type stored) {
    bool rounds = node->kind == LE_NODE_ROUND && node->rounded == stored;
    struct le_expression *x = le_codegen_node(c, rounds ? node->operands[0] : node, block, NULL);
    return le_codegen_to_memory(c, x, stored);
}

void le_codegen_both(struct codegen *c, struct le_node *a, struct le_node *b, struct le_block *block,
                     struct le_variable *outside) {
    struct le_block *other = block;
    struct le_variable *under = outside;
    struct le_expression *totals[2];
    if (!le_node_share_loops(&a, &b))
        return;
    choose_block(c, a, &block, &outside);
    choose_block(c, b, &other, &under);
    bool together = block == other && outside == under && a->changes == b->changes;
    if (!together || find_memo(c, a, block, outside) || find_memo(c, b, block, outside))
        return;
    if (le_codegen_reduce_both(c, (struct le_node *[]){a, b}, block, outside, totals)) {
        add_memo(c, a, new_held(c, block, totals[0]), outside);
        add_memo(c, b, new_held(c, block, totals[1]), outside);
    }
}
