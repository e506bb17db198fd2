/* contract: turns a sum of products of two arrays into a CONTRACT stage, which a library's matrix product can compute.
 *
 * The pass looks at one statement as it was lowered, before any fusion, so that its results do not depend on which
 * other results are requested. It does not matter which factors form the left and the right side, nor their order,
 * scales and signs. With i the left side's own indices, j the right side's, b the batch indices of both, and k the
 * reduced ones, it matches
 *
 *     sum(k: left[b,i,k] * right[b,j,k])
 *
 * where i or j may be empty, but not both. A side that is more than a load is first computed into its own array (its
 * prologue), provided that some array it reads is as large. A sum of products of three arrays and more first becomes
 * one of two arrays. A statement of the form `alpha * sum + beta * target` becomes one stage. 16-bit floats that both
 * sides load are not converted first, and neither is a result of their type: libraries multiply them as they are
 * stored. Otherwise the sum becomes a stage that the rest of the statement reads. `node` is unchanged: when a run is
 * planned, the extents alone decide whether `node` or `product` is computed. */
#include "ir/passes/factor_pairs.h"
#include "ir/ranges.h"

#define SUBSCRIPT_COST_MAX 64
#define SIDES_MAX          16 /* prologues of one statement that are shared */

struct contract {
    struct le_ir *ir;
    struct {
        struct le_stage *at;
        int count, capacity;
    } out;
    const struct le_stage *stage;
    bool conditions;
    struct made_side {
        struct le_node *node, *load;
        struct le_index_set set;
    } sides[SIDES_MAX];
    int side_count;
};

/* ---- facts about nodes */

struct facts {
    bool untrusted, condition, gather, variable;
};

static bool is_constant(const struct le_node *x) {
    return x->free_count == 0 && !x->loads && !x->reduces;
}

/* A subscript that the range rules can analyse. An index may be divided by a number, as in k[h // 4]: it then counts as
 * two indices, its quotient and its remainder. */
static bool is_plain(const struct le_node *x) {
    if (x->kind == LE_NODE_INDEX || is_constant(x))
        return true;
    if (x->kind != LE_NODE_OP || x->loads || x->reduces || x->cost > SUBSCRIPT_COST_MAX)
        return false;
    if (x->code == LE_OP_FLOORDIV || x->code == LE_OP_MOD)
        return x->operands[0]->kind == LE_NODE_INDEX && is_constant(x->operands[1]);
    bool plain = x->code == LE_OP_ADD || x->code == LE_OP_SUB || x->code == LE_OP_MUL || x->code == LE_OP_NEG;
    for (int k = 0; k < x->operand_count; k++)
        plain = plain && is_plain(x->operands[k]);
    return plain;
}

static void find_facts(struct le_node *node, void *user) {
    struct facts *f = user;
    f->condition |= le_node_chooses(node);
    f->untrusted |= le_node_is_untrusted(node);
    f->variable |= node->changes;
    if (node->kind != LE_NODE_LOAD || node->operand_count == 0)
        return;
    for (int k = 0; node->edge == LE_EDGE_NONE && k < node->operand_count; k++)
        f->gather |= !is_plain(node->operands[k]);
}

static struct facts facts_of(struct le_ir *ir, struct le_node *node) {
    struct facts f = {false};
    le_node_walk(ir, node, find_facts, &f);
    return f;
}

static bool is_number(const struct le_node *node) {
    return node->free_count == 0 && !node->reduces;
}

static bool is_plain_load(const struct le_node *node) {
    if (node->kind != LE_NODE_LOAD || node->operand_count == 0 || node->edge != LE_EDGE_NONE)
        return false;
    for (int k = 0; k < node->operand_count; k++)
        if (!is_plain(node->operands[k]))
            return false;
    return true;
}

/* A load that the library can read in place. */
static bool is_direct(const struct le_ir *ir, const struct le_node *node) {
    return is_plain_load(node) && ir->values.at[node->value].type == node->type;
}

struct cover_search {
    const struct le_ir *ir;
    const struct le_index_set *set;
    bool found;
};

static void find_cover(struct le_node *node, void *user) {
    struct cover_search *c = user;
    struct le_index_set bare = {.count = 0};
    for (int k = 0; node->kind == LE_NODE_LOAD && k < node->operand_count; k++)
        if (node->operands[k]->kind == LE_NODE_INDEX)
            le_set_add(c->ir, &bare, &node->operands[k]->index, 1);
    c->found |= node->kind == LE_NODE_LOAD && le_set_is_within(c->set, &bare);
}

/* ---- sides */

struct side {
    struct le_node *factors[LE_FACTORS_MAX];
    int count;
    struct le_index_set set;
};
struct sum_split {
    struct side left, right;
    struct le_term numbers;
    enum le_type half; /* both sides are loads of arrays of this 16-bit float type; LE_NONE: they are not */
};

static void take_factor(const struct le_ir *ir, struct side *side, struct le_node *factor) {
    side->factors[side->count++] = factor;
    le_set_add(ir, &side->set, factor->free, factor->free_count);
}

/* Whether the side can be read in place or computed first: it is then smaller than the whole product, and no larger
 * than some array that it reads. */
static bool can_compute(struct le_ir *ir, const struct side *side, int whole_count) {
    if (side->count == 1 && is_direct(ir, side->factors[0]))
        return true;
    struct cover_search cover = {.ir = ir, .set = &side->set};
    for (int k = 0; k < side->count; k++) {
        if (facts_of(ir, side->factors[k]).gather)
            return false;
        le_node_walk(ir, side->factors[k], find_cover, &cover);
    }
    return cover.found && side->set.count < whole_count && side->set.count <= LEAT_RANK_MAX;
}

/* A library multiplies 16-bit floats as they are stored if both sides have the same type. */
static enum le_type half_of(const struct le_ir *ir, const struct side *left, const struct side *right) {
    if (left->count != 1 || right->count != 1 || !is_plain_load(left->factors[0]) || !is_plain_load(right->factors[0]))
        return LE_NONE;
    enum le_type type = ir->values.at[left->factors[0]->value].type;
    return le_type_is_half(type) && ir->values.at[right->factors[0]->value].type == type ? type : LE_NONE;
}

static bool is_sound(struct le_ir *ir, const struct le_node *sum, struct sum_split *s) {
    struct le_index_set whole = le_set_of(ir, sum);
    le_set_add(ir, &whole, sum->indices, sum->index_count);
    for (int k = 0; k < sum->index_count; k++)
        if (!le_set_has(&s->left.set, sum->indices[k]) || !le_set_has(&s->right.set, sum->indices[k]))
            return false;
    if (le_set_is_within(&s->left.set, &s->right.set) && le_set_is_within(&s->right.set, &s->left.set))
        return false;
    s->half = half_of(ir, &s->left, &s->right);
    return !whole.too_many &&
           (s->half != LE_NONE || (can_compute(ir, &s->left, whole.count) && can_compute(ir, &s->right, whole.count)));
}

/* Tries factors a and b as the two sides. Each other factor goes to the smaller side that has all of its indices. */
static bool try_pair(struct le_ir *ir, const struct le_node *sum, const struct le_term *term, int a, int b,
                     struct sum_split *out) {
    out->left = out->right = (struct side){.count = 0};
    take_factor(ir, &out->left, term->factors[a]);
    take_factor(ir, &out->right, term->factors[b]);
    bool right_first = out->right.set.count <= out->left.set.count;
    struct side *first = right_first ? &out->right : &out->left, *second = right_first ? &out->left : &out->right;
    for (int k = 0; k < term->count; k++) {
        struct le_index_set set = le_set_of(ir, term->factors[k]);
        if (k == a || k == b)
            continue;
        if (!le_set_is_within(&set, &second->set) && !le_set_is_within(&set, &first->set))
            return false;
        take_factor(ir, le_set_is_within(&set, &first->set) ? first : second, term->factors[k]);
    }
    return is_sound(ir, sum, out);
}

static bool split_term(struct le_ir *ir, const struct le_node *sum, const struct le_term *term, struct sum_split *out) {
    struct le_term rest = {.count = 0};
    out->numbers = (struct le_term){.negative = term->negative};
    for (int k = 0; k < term->count; k++) {
        struct le_term *to = is_number(term->factors[k]) ? &out->numbers : &rest;
        to->factors[to->count++] = term->factors[k];
    }
    for (int a = 0; a < rest.count; a++)
        for (int b = a + 1; b < rest.count; b++)
            if (try_pair(ir, sum, &rest, a, b, out))
                return true;
    return false;
}

/* The terms of the sum. Integers may be multiplied in a narrower type than they are added in, so only a product of two
 * is accepted. */
static bool terms_of_body(const struct le_node *sum, struct le_terms *out) {
    struct le_node *body = sum->operands[0];
    if (le_type_is_float(sum->type))
        return le_terms_of(body, out);
    if (body->kind == LE_NODE_CAST && le_type_is_int(body->operands[0]->type))
        body = body->operands[0];
    *out = (struct le_terms){.count = 1};
    out->at[0] = (struct le_term){.count = 2};
    if (body->kind != LE_NODE_OP || body->code != LE_OP_MUL)
        return false;
    for (int k = 0; k < 2; k++)
        out->at[0].factors[k] = body->operands[k];
    return !is_number(body->operands[0]) && !is_number(body->operands[1]);
}

static bool is_candidate(struct contract *c, struct le_node *sum) {
    const struct le_ir *ir = c->ir;
    if (sum->kind != LE_NODE_REDUCE || !le_node_is_sum(sum) || sum->free_count > LEAT_RANK_MAX ||
        (sum->type != LE_F32 && sum->type != LE_F64 && sum->type != LE_I64 && sum->type != LE_U64))
        return false;
    for (int k = 0; k < sum->index_count; k++)
        if (ir->indices.at[sum->indices[k]].depends)
            return false;
    for (int k = 0; k < sum->free_count; k++)
        if (ir->indices.at[sum->free[k]].depends)
            return false;
    struct facts f = facts_of(c->ir, sum);
    return !f.variable && !(c->conditions && f.untrusted);
}

static bool split_sum(struct contract *c, struct le_node *sum, struct sum_split splits[LE_TERMS_MAX], int *count) {
    struct le_terms terms;
    if (!is_candidate(c, sum) || !terms_of_body(sum, &terms))
        return false;
    *count = terms.count;
    for (int k = 0; k < terms.count; k++)
        if (!split_term(c->ir, sum, &terms.at[k], &splits[k]) || splits[k].numbers.count > LE_FACTORS_MAX / 2 ||
            splits[k].half != splits[0].half)
            return false;
    return true;
}

/* ---- stages */

static struct le_stage *new_stage(struct contract *c, struct le_node *node, const struct le_index_set *set) {
    struct le_ir *ir = c->ir;
    int *indices = LE_NEW_ARRAY(ir->arena, set->count, int), id = ir->values.count;
    struct le_node **left = LE_NEW_ARRAY(ir->arena, set->count, struct le_node *);
    for (int k = 0; k < set->count; k++) {
        indices[k] = set->at[k];
        left[k] = le_node_index(ir, set->at[k]);
    }
    *LE_PUSH(ir->arena, &ir->values) = (struct le_value){
        .id = id, .symbol = -1, .name = le_arena_format(ir->arena, "t.%d", id), .type = node->type, .rank = set->count};
    struct le_stage *stage = LE_PUSH(ir->arena, &c->out);
    *stage = (struct le_stage){.kind = LE_STAGE_MAP,
                               .statement = c->stage->statement,
                               .name = c->stage->name,
                               .block = c->stage->block,
                               .target = id,
                               .base = -1,
                               .leader = -1,
                               .sibling = -1,
                               .index = -1,
                               .indices = indices,
                               .index_count = set->count,
                               .left = left,
                               .left_count = set->count,
                               .node = node,
                               .access = -1};
    return stage;
}

static struct le_node *load_of(struct le_ir *ir, const struct le_stage *stage) {
    return le_node_make(ir, &(struct le_node){.kind = LE_NODE_LOAD,
                                              .type = ir->values.at[stage->target].type,
                                              .value = stage->target,
                                              .operands = stage->left,
                                              .operand_count = stage->left_count,
                                              .access = -1,
                                              .trusted = true});
}

/* The load of what was made for the side, if the node is the same with another index; else NULL. */
static struct le_node *load_of_same(struct contract *c, const struct made_side *made, struct le_node *node,
                                    const struct le_index_set *set) {
    struct le_ir *ir = c->ir;
    struct le_node **left = LE_NEW_ARRAY(ir->arena, set->count, struct le_node *);
    int other = -1;
    for (int k = 0; k < set->count; k++) {
        left[k] = le_node_index(ir, set->at[k]);
        if (made->set.count != set->count || (made->set.at[k] != set->at[k] && other >= 0))
            return NULL;
        other = made->set.at[k] != set->at[k] ? k : other;
    }
    if (other < 0 || !le_ranges_are_same(ir, c->stage->statement, made->set.at[other], set->at[other]) ||
        le_node_substitute(ir, made->node, &made->set.at[other], &left[other], 1) != node)
        return NULL;
    struct le_node load = *made->load;
    load.operands = left;
    return le_node_make(ir, &load);
}

/* Computes the node in its own stage, once per statement, and returns a load of its value. */
static struct le_node *computed_first(struct contract *c, struct le_node *node, const struct le_index_set *set) {
    for (int k = 0; k < c->side_count; k++) {
        struct made_side *made = &c->sides[k];
        struct le_node *load = made->node == node ? made->load : load_of_same(c, made, node, set);
        if (load)
            return load;
    }
    struct le_node *load = load_of(c->ir, new_stage(c, node, set));
    if (c->side_count < SIDES_MAX)
        c->sides[c->side_count++] = (struct made_side){node, load, *set};
    return load;
}

static struct le_node *product_of(struct le_ir *ir, struct le_node *const *factors, int count) {
    struct le_node *x = factors[0];
    for (int k = 1; k < count; k++) {
        struct le_node *pair[] = {x, factors[k]};
        x = le_node_op(ir, LE_OP_MUL, x->type, pair, 2);
    }
    return x;
}

/* A load of the side. If it is computed first, its axes are the stage's indices in loop order, then the reduced ones.
 */
static struct le_node *operand_of(struct contract *c, const struct le_node *sum, const struct side *side, bool half) {
    struct le_index_set order = {.count = 0};
    if (half || (side->count == 1 && is_direct(c->ir, side->factors[0])))
        return side->factors[0];
    for (int k = 0; k < c->stage->index_count; k++)
        if (le_set_has(&side->set, c->stage->indices[k]))
            le_set_add(c->ir, &order, &c->stage->indices[k], 1);
    le_set_add(c->ir, &order, sum->indices, sum->index_count);
    return computed_first(c, product_of(c->ir, side->factors, side->count), &order);
}

static struct le_node *new_sum(struct contract *c, const struct le_node *sum, const struct sum_split *s) {
    const bool half = s->half != LE_NONE;
    struct le_node *x[] = {operand_of(c, sum, &s->left, half), operand_of(c, sum, &s->right, half)};
    struct le_node *body = le_node_cast(c->ir, sum->type, le_node_op(c->ir, LE_OP_MUL, x[0]->type, x, 2));
    return le_node_reduce(c->ir, LE_RED_SUM, sum->type, body, sum->indices, sum->index_count);
}

/* so_far + numbers * main; so_far may be NULL. */
static struct le_node *add_scaled(struct contract *c, struct le_node *so_far, const struct le_term *numbers,
                                  struct le_node *main) {
    static const struct le_index_set none = {.count = 0};
    struct le_ir *ir = c->ir;
    if (numbers->count) {
        struct le_node *x[] = {product_of(ir, numbers->factors, numbers->count), main};
        bool at_hand = x[0]->kind == LE_NODE_CONST || (x[0]->kind == LE_NODE_LOAD && x[0]->operand_count == 0 &&
                                                       ir->values.at[x[0]->value].type == x[0]->type);
        if (!at_hand)
            x[0] = computed_first(c, x[0], &none);
        main = le_node_op(ir, LE_OP_MUL, main->type, x, 2);
    }
    struct le_node *x[] = {so_far, main};
    if (so_far)
        return le_node_op(ir, numbers->negative ? LE_OP_SUB : LE_OP_ADD, main->type, x, 2);
    return numbers->negative ? le_node_op(ir, LE_OP_NEG, main->type, &main, 1) : main;
}

/* so_far + outer * sum, term by term. */
static struct le_node *add_scaled_sums(struct contract *c, struct le_node *so_far, const struct le_term *outer,
                                       const struct le_node *sum, const struct sum_split *splits, int count) {
    for (int k = 0; k < count; k++) {
        struct le_term numbers = splits[k].numbers;
        numbers.negative = numbers.negative != outer->negative;
        for (int q = 0; q < outer->count; q++)
            numbers.factors[numbers.count++] = outer->factors[q];
        so_far = add_scaled(c, so_far, &numbers, new_sum(c, sum, &splits[k]));
    }
    return so_far;
}

/* ---- the sum is part of the statement */

/* Computes the sum in a stage of its own, whose axes are the statement's indices in loop order, then those of `more`.
 */
static struct le_node *own_stage(struct contract *c, struct le_node *sum, const struct le_index_set *more) {
    static const struct le_term one = {.count = 0};
    struct sum_split splits[LE_TERMS_MAX];
    struct le_index_set order = {.count = 0}, set = le_set_of(c->ir, sum);
    int count;
    if (!split_sum(c, sum, splits, &count))
        return sum;
    struct le_contraction parsed;
    struct le_node *product = add_scaled_sums(c, NULL, &one, sum, splits, count);
    if (!le_contraction_of(product, &parsed))
        return sum; /* too many terms; dead-code removes the stages added for it */
    for (int k = 0; k < c->stage->index_count; k++)
        if (le_set_has(&set, c->stage->indices[k]))
            le_set_add(c->ir, &order, &c->stage->indices[k], 1);
    for (int k = 0; k < more->count; k++)
        if (le_set_has(&set, more->at[k]))
            le_set_add(c->ir, &order, &more->at[k], 1);
    if (order.count != set.count)
        return sum;
    struct le_stage *stage = new_stage(c, sum, &order);
    stage->kind = LE_STAGE_CONTRACT;
    stage->product = product;
    return load_of(c->ir, stage);
}

/* Sums inside other reductions are left alone: they could have many more values than the statement. */
static struct le_node *replace_sum(struct le_node *node, void *user) {
    static const struct le_index_set none = {.count = 0};
    if (!node->reduces || node->kind == LE_NODE_REGION)
        return node;
    return node->kind == LE_NODE_REDUCE ? own_stage(user, node, &none) : NULL;
}

/* ---- sums of products of three arrays and more: two of them are multiplied first
 *
 *     sum(k, l: a[i,k] * b[k,l] * c[l,j])  is computed as  sum(l: sum(k: a[i,k] * b[k,l]) * c[l,j])
 *
 * factor_pairs.c chooses the two. */

/* The sum with the product of two factors computed in a stage of its own; NULL: no pair is worth it. */
static struct le_node *multiply_pair(struct contract *c, struct le_node *sum) {
    struct le_ir *ir = c->ir;
    struct le_terms terms;
    struct le_term arrays = {.count = 0}, rest = {.count = 0};
    struct le_index_set all = {.count = 0};
    struct le_factor_pair p;
    if (!le_type_is_float(sum->type) || !is_candidate(c, sum) || !le_terms_of(sum->operands[0], &terms) ||
        terms.count != 1)
        return NULL;
    for (int k = 0; k < terms.at[0].count; k++) {
        struct le_term *to = is_number(terms.at[0].factors[k]) ? &rest : &arrays;
        to->factors[to->count++] = terms.at[0].factors[k];
    }
    if (arrays.count < 3 || !le_factor_pair_find(ir, sum, &arrays, &p))
        return NULL;
    struct le_node *x[] = {arrays.factors[p.first], arrays.factors[p.second]};
    struct le_node *inner = le_node_reduce(ir, LE_RED_SUM, sum->type, le_node_op(ir, LE_OP_MUL, sum->type, x, 2),
                                           p.summed.at, p.summed.count);
    le_set_add(ir, &all, sum->indices, sum->index_count);
    struct le_node *load = own_stage(c, inner, &all);
    if (load == inner)
        return NULL;
    rest.factors[rest.count++] = load;
    for (int k = 0; k < arrays.count; k++)
        if (k != p.first && k != p.second)
            rest.factors[rest.count++] = arrays.factors[k];
    struct le_node *body = product_of(ir, rest.factors, rest.count);
    if (terms.at[0].negative)
        body = le_node_op(ir, LE_OP_NEG, body->type, &body, 1);
    struct le_index_set left = le_set_without(ir, &all, &p.summed);
    return le_node_reduce(ir, LE_RED_SUM, sum->type, body, left.at, left.count);
}

static struct le_node *multiply_pairs(struct le_node *node, void *user) {
    struct sum_split splits[LE_TERMS_MAX];
    int count;
    if (!node->reduces || node->kind == LE_NODE_REGION)
        return node;
    if (node->kind != LE_NODE_REDUCE)
        return NULL;
    for (struct le_node *next = node; next && !split_sum(user, next, splits, &count);) {
        next = multiply_pair(user, node);
        node = next ? next : node;
    }
    return node;
}

/* ---- the sum is the whole statement: alpha * sum + beta * target */

static bool is_old_target(const struct le_stage *stage, const struct le_node *node) {
    bool same = node->kind == LE_NODE_LOAD && node->value == stage->base && node->operand_count == stage->left_count &&
                node->edge == LE_EDGE_NONE;
    for (int d = 0; same && d < node->operand_count; d++)
        same = node->operands[d] == stage->left[d];
    return same && node->operand_count > 0;
}

struct whole_statement {
    struct le_node *sum, *old;
    struct le_term sum_numbers, old_numbers;
};

static bool add_statement_term(const struct le_stage *stage, const struct le_term *term, struct whole_statement *w) {
    struct le_term numbers = {.negative = term->negative};
    struct le_node *main = NULL;
    for (int k = 0; k < term->count; k++) {
        struct le_node *x = term->factors[k];
        if (is_number(x))
            numbers.factors[numbers.count++] = x;
        else if (main)
            return false;
        else
            main = x;
    }
    if (numbers.count > LE_FACTORS_MAX / 2)
        return false;
    if (main && main->kind == LE_NODE_REDUCE && !w->sum) {
        w->sum = main;
        w->sum_numbers = numbers;
        return true;
    }
    if (!main || !is_old_target(stage, main) || w->old)
        return false;
    w->old = main;
    w->old_numbers = numbers;
    return true;
}

/* The statement's value before it is rounded to a 16-bit float. */
static struct le_node *value_of(const struct le_stage *stage) {
    return stage->node->kind == LE_NODE_ROUND ? stage->node->operands[0] : stage->node;
}

/* A value that is rounded to a 16-bit float may be multiplied by the reciprocal of a number made of literals and
 * lengths, as in sum(...) / sqrt(len(q,3)). Returns the dividend. */
static struct le_node *take_divisor(struct contract *c, struct le_node *value, struct le_node **reciprocal) {
    if (value->kind != LE_NODE_OP || value->code != LE_OP_DIV || !is_constant(value->operands[1]))
        return value;
    struct le_node *x[] = {le_node_real(c->ir, value->type, 1), value->operands[1]};
    *reciprocal = le_node_op(c->ir, LE_OP_DIV, value->type, x, 2);
    return value->operands[0];
}

static bool match_statement(struct contract *c, struct whole_statement *w) {
    const struct le_stage *stage = c->stage;
    const enum le_type target = c->ir->values.at[stage->target].type;
    struct le_node *value = value_of(stage), *reciprocal = NULL;
    struct le_terms terms;
    if (le_type_is_half(target) ? value == stage->node || value->type != LE_F32 : target != stage->node->type)
        return false;
    if (le_type_is_half(target))
        value = take_divisor(c, value, &reciprocal);
    *w = (struct whole_statement){.sum = value->kind == LE_NODE_REDUCE ? value : NULL};
    if (!w->sum && (!le_type_is_float(value->type) || !le_terms_of(value, &terms)))
        return false;
    for (int k = 0; value->kind != LE_NODE_REDUCE && k < terms.count; k++)
        if (!add_statement_term(stage, &terms.at[k], w))
            return false;
    if (reciprocal && w->sum)
        w->sum_numbers.factors[w->sum_numbers.count++] = reciprocal;
    struct le_index_set set = w->sum ? le_set_of(c->ir, w->sum) : (struct le_index_set){.count = 0};
    return w->sum && set.count == stage->index_count;
}

/* A 16-bit result is rounded once, so it must be one product, of factors of the same type, and nothing else. */
static bool fits_target(const struct contract *c, const struct whole_statement *w, const struct sum_split *splits,
                        int count) {
    const enum le_type target = c->ir->values.at[c->stage->target].type;
    return !le_type_is_half(target) || (count == 1 && !w->old && splits[0].half == target);
}

static bool contract_statement(struct contract *c, struct le_stage *stage) {
    struct whole_statement w;
    struct sum_split splits[LE_TERMS_MAX];
    int count;
    if (!match_statement(c, &w) || !split_sum(c, w.sum, splits, &count) || !fits_target(c, &w, splits, count))
        return false;
    struct le_node *product = add_scaled_sums(c, NULL, &w.sum_numbers, w.sum, splits, count);
    if (w.old)
        product = add_scaled(c, product, &w.old_numbers, w.old);
    struct le_contraction parsed;
    if (!le_contraction_of(product, &parsed))
        return false;
    stage->kind = LE_STAGE_CONTRACT;
    stage->product = product;
    return true;
}

/* ---- the pass */

static void contract_stage(struct contract *c, struct le_stage stage) {
    if (!stage.dead && stage.kind == LE_STAGE_MAP && stage.node->reduces && stage.index_count > 0) {
        struct le_stage before = stage;
        c->stage = &before;
        c->conditions = facts_of(c->ir, stage.node).condition;
        c->side_count = 0;
        stage.node = before.node = le_node_replace(c->ir, stage.node, multiply_pairs, c);
        if (!contract_statement(c, &stage))
            stage.node = le_node_replace(c->ir, stage.node, replace_sum, c);
    }
    *LE_PUSH(c->ir->arena, &c->out) = stage;
}

void le_pass_contract(struct le_ir *ir) {
    struct contract c = {.ir = ir};
    if (ir->portable)
        return;
    for (int k = 0; k < ir->stages.count; k++)
        contract_stage(&c, ir->stages.at[k]);
    ir->stages.at = c.out.at;
    ir->stages.count = c.out.count;
    ir->stages.capacity = c.out.capacity;
    le_ir_number_stages(ir);
}
