/* Analysis of integer nodes for the range rules: affine combinations of indices, intervals, and whether a node is
 * computed by its own statement. */
#include "ir/ranges.h"

int64_t le_range_count(const struct le_range *r) {
    return r->high <= r->low ? 0 : (r->high - r->low - 1) / r->by + 1;
}
int64_t le_range_last(const struct le_range *r) {
    if (r->dynamic) /* a hull, whose steps begin anywhere */
        return r->high - 1;
    return r->low + (r->high - r->low - 1) / r->by * r->by;
}

void le_space_narrow(struct le_space *space, struct le_arena *arena, int index, struct le_range range) {
    struct le_narrowed *narrowed = LE_NEW(arena, struct le_narrowed);
    *narrowed = (struct le_narrowed){.next = space->narrowed, .index = index, .range = range};
    space->narrowed = narrowed;
}

static bool is_factor(int64_t factor) {
    return factor >= -LE_FACTOR_MAX && factor <= LE_FACTOR_MAX;
}

static bool add_term(struct le_affine *f, int index, int64_t factor) {
    if (!is_factor(factor))
        return false;
    for (int k = 0; k < f->count; k++)
        if (f->index[k] == index) {
            f->factor[k] += factor;
            if (!is_factor(f->factor[k]))
                return false;
            if (f->factor[k] == 0) {
                f->index[k] = f->index[--f->count];
                f->factor[k] = f->factor[f->count];
            }
            return true;
        }
    if (factor == 0)
        return true;
    if (f->count == LE_AFFINE_MAX)
        return false;
    f->index[f->count] = index;
    f->factor[f->count++] = factor;
    return true;
}

static bool add_scaled(struct le_affine *f, const struct le_affine *g, int64_t scale) {
    int64_t x;
    if (!le_mul_i64(g->constant, scale, &x) || !le_add_i64(f->constant, x, &f->constant))
        return false;
    for (int k = 0; k < g->count; k++)
        if (!le_mul_i64(g->factor[k], scale, &x) || !add_term(f, g->index[k], x))
            return false;
    return true;
}

static bool find_affine(const struct le_space *space, struct le_node *node, struct le_affine *out, bool *moving);

/* A quotient or remainder of known numbers, by a positive one. */
static bool divide_known(int code, const struct le_affine *a, const struct le_affine *b, struct le_affine *out) {
    if (a->count || b->count || b->constant <= 0)
        return false;
    int64_t rest = a->constant % b->constant, below = rest < 0;
    out->constant = code == LE_OP_MOD ? rest + below * b->constant : a->constant / b->constant - below;
    return true;
}

static bool affine_op(const struct le_space *space, struct le_node *node, struct le_affine *out, bool *moving) {
    struct le_affine a, b;
    *out = (struct le_affine){0};
    if (node->code == LE_OP_NEG)
        return find_affine(space, node->operands[0], &a, moving) && add_scaled(out, &a, -1);
    if (node->code == LE_OP_FLOORDIV || node->code == LE_OP_MOD)
        return find_affine(space, node->operands[0], &a, NULL) && !a.count &&
               find_affine(space, node->operands[1], &b, NULL) && divide_known(node->code, &a, &b, out);
    if (node->code != LE_OP_ADD && node->code != LE_OP_SUB && node->code != LE_OP_MUL)
        return false;
    if (node->code == LE_OP_MUL)
        moving = NULL; /* a factor must be known */
    if (!find_affine(space, node->operands[0], &a, moving) || !find_affine(space, node->operands[1], &b, moving))
        return false;
    if (node->code == LE_OP_MUL) {
        if (a.count && b.count)
            return false;
        return a.count ? add_scaled(out, &a, b.constant) : add_scaled(out, &b, a.constant);
    }
    *out = a;
    return add_scaled(out, &b, node->code == LE_OP_ADD ? 1 : -1);
}

/* *moving is set if part of the constant varies while the statement runs; it counts as 0. If moving is NULL, such parts
 * are rejected. */
static bool find_affine(const struct le_space *space, struct le_node *node, struct le_affine *out, bool *moving) {
    *out = (struct le_affine){0};
    if (node->kind == LE_NODE_INDEX)
        return add_term(out, node->index, 1);
    if (node->kind == LE_NODE_CONST && node->type == LE_I64) {
        out->constant = le_const_i64(node);
        return true;
    }
    if (node->kind == LE_NODE_LEN) {
        out->constant = space->shape[node->symbol][node->axis];
        return space->shaped[node->symbol];
    }
    if (node->kind == LE_NODE_OP && node->type == LE_I64 && affine_op(space, node, out, moving))
        return true;
    *out = (struct le_affine){0};
    if (node->free_count == 0 && !node->reduces && node->changes && moving) {
        *moving = true;
        return true;
    }
    return node->free_count == 0 && !node->reduces && !node->changes &&
           space->evaluate(space->user, node, &out->constant) == LEAT_OK;
}

bool le_affine_of(const struct le_space *space, struct le_node *node, struct le_affine *out) {
    return find_affine(space, node, out, NULL);
}

bool le_affine_moving(const struct le_space *space, struct le_node *node, struct le_affine *out, bool *moving) {
    *moving = false;
    return find_affine(space, node, out, moving);
}

/* ---- intervals */

static bool clip_to_i64(__int128 low, __int128 high, int64_t *out_low, int64_t *out_high) {
    if (low < INT64_MIN || high > INT64_MAX)
        return false;
    *out_low = (int64_t)low;
    *out_high = (int64_t)high;
    return true;
}

static bool affine_interval(const struct le_space *space, const struct le_affine *f, int64_t *low, int64_t *high) {
    __int128 lo = f->constant, hi = f->constant;
    for (int k = 0; k < f->count; k++) {
        const struct le_range *r = le_range_of(space, f->index[k]);
        if (!r->solved || (r->dynamic && !r->bounded) || r->high <= r->low)
            return false;
        __int128 a = (__int128)f->factor[k] * r->low, b = (__int128)f->factor[k] * le_range_last(r);
        lo += a < b ? a : b;
        hi += a < b ? b : a;
    }
    return clip_to_i64(lo, hi, low, high);
}

static bool type_interval(enum le_type type, int64_t *low, int64_t *high) {
    int bits = le_type_bits(type);
    if (type == LE_BOOL)
        bits = 1;
    if (bits > 32 || (type != LE_BOOL && !le_type_is_int(type)))
        return false;
    bool is_unsigned = type == LE_BOOL || le_type_is_unsigned(type);
    *low = is_unsigned ? 0 : -((int64_t)1 << (bits - 1));
    *high = ((int64_t)1 << (is_unsigned ? bits : bits - 1)) - 1;
    return true;
}

static bool binary_interval(int code, const int64_t a[2], const int64_t b[2], int64_t *low, int64_t *high) {
    if (code == LE_OP_ADD)
        return clip_to_i64((__int128)a[0] + b[0], (__int128)a[1] + b[1], low, high);
    if (code == LE_OP_SUB)
        return clip_to_i64((__int128)a[0] - b[1], (__int128)a[1] - b[0], low, high);
    if (code == LE_OP_MIN || code == LE_OP_MAX) {
        bool least = code == LE_OP_MIN;
        *low = (a[0] < b[0]) == least ? a[0] : b[0];
        *high = (a[1] < b[1]) == least ? a[1] : b[1];
        return true;
    }
    if (code == LE_OP_MUL) {
        __int128 p[] = {(__int128)a[0] * b[0], (__int128)a[0] * b[1], (__int128)a[1] * b[0], (__int128)a[1] * b[1]};
        __int128 lo = p[0], hi = p[0];
        for (int k = 1; k < 4; k++) {
            lo = p[k] < lo ? p[k] : lo;
            hi = p[k] > hi ? p[k] : hi;
        }
        return clip_to_i64(lo, hi, low, high);
    }
    if (code == LE_OP_FLOORDIV && b[0] == b[1] && b[0] > 0) {
        *low = a[0] / b[0] - (a[0] % b[0] < 0);
        *high = a[1] / b[0] - (a[1] % b[0] < 0);
        return true;
    }
    if (code == LE_OP_MOD && b[0] == b[1] && b[0] > 0) {
        *low = 0;
        *high = b[0] - 1;
        return true;
    }
    return false;
}

static bool op_interval(const struct le_space *space, struct le_node *n, int64_t *low, int64_t *high) {
    int64_t x[3][2];
    if (n->operand_count > 3)
        return false;
    for (int k = 0; k < n->operand_count; k++)
        if (!le_interval(space, n->operands[k], &x[k][0], &x[k][1]))
            return false;
    if (n->operand_count == 2)
        return binary_interval(n->code, x[0], x[1], low, high);
    if (n->code == LE_OP_NEG)
        return clip_to_i64(-(__int128)x[0][1], -(__int128)x[0][0], low, high);
    if (n->code == LE_OP_CLAMP) {
        int64_t m[2];
        return binary_interval(LE_OP_MAX, x[0], x[1], &m[0], &m[1]) && binary_interval(LE_OP_MIN, m, x[2], low, high);
    }
    return false;
}

static bool select_interval(const struct le_space *space, struct le_node *n, int64_t *low, int64_t *high) {
    int64_t a[2], b[2];
    if (!le_interval(space, n->operands[1], &a[0], &a[1]) || !le_interval(space, n->operands[2], &b[0], &b[1]))
        return false;
    *low = a[0] < b[0] ? a[0] : b[0];
    *high = a[1] > b[1] ? a[1] : b[1];
    return true;
}

bool le_interval(const struct le_space *space, struct le_node *node, int64_t *low, int64_t *high) {
    struct le_affine f;
    if (!le_type_is_int(node->type) && node->type != LE_BOOL)
        return false;
    if (node->type == LE_I64 && le_affine_of(space, node, &f))
        return affine_interval(space, &f, low, high);
    if (node->kind == LE_NODE_OP && node->type == LE_I64 && op_interval(space, node, low, high))
        return true;
    if (node->kind == LE_NODE_SELECT && select_interval(space, node, low, high))
        return true;
    if (node->kind == LE_NODE_CAST && node->type == LE_I64 && le_interval(space, node->operands[0], low, high))
        return true;
    if (node->kind == LE_NODE_LOAD)
        return type_interval(space->ir->values.at[node->value].type, low, high);
    return type_interval(node->type, low, high);
}

/* ---- temporaries that a statement computes first */

struct made_first {
    const struct le_ir *ir;
    bool found;
};

static void find_made_first(struct le_node *node, void *user) {
    struct made_first *m = user;
    m->found |= node->kind == LE_NODE_LOAD && m->ir->values.at[node->value].symbol < 0;
}

bool le_is_made_first(struct le_ir *ir, struct le_node *node) {
    struct made_first m = {.ir = ir, .found = node->reduces};
    le_node_walk(ir, node, find_made_first, &m);
    return m.found;
}
