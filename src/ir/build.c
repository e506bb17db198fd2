/* Construction of nodes: equal nodes are shared, and constants are folded. Independent of stages and ranges. */
#include "base/hash.h"
#include "ir/region.h"
#include <math.h>
#include <string.h>

bool le_node_is_const(const struct le_node *node) {
    return node->kind == LE_NODE_CONST;
}

int64_t le_const_i64(const struct le_node *node) {
    uint64_t bits = node->bits;
    switch (node->type) {
    case LE_I8:
        return (int8_t)bits;
    case LE_I16:
        return (int16_t)bits;
    case LE_I32:
        return (int32_t)bits;
    default:
        return (int64_t)bits;
    }
}

double le_const_real(const struct le_node *node) {
    if (node->type == LE_F32) {
        float f;
        memcpy(&f, &node->bits, sizeof f);
        return (double)f;
    }
    double d;
    memcpy(&d, &node->bits, sizeof d);
    return d;
}

bool le_node_depends(const struct le_node *node, int index) {
    for (int k = 0; k < node->free_count; k++)
        if (node->free[k] == index)
            return true;
    return false;
}

bool le_node_depends_on_any(const struct le_node *node, const int *indices, int count) {
    for (int k = 0; k < count; k++)
        if (le_node_depends(node, indices[k]))
            return true;
    return false;
}

bool le_node_chooses(const struct le_node *node) {
    bool logic = node->kind == LE_NODE_OP && (node->code == LE_OP_LAND || node->code == LE_OP_LOR);
    return node->kind == LE_NODE_SELECT || node->kind == LE_NODE_ELSE || logic;
}

bool le_node_is_untrusted(const struct le_node *node) {
    return node->kind == LE_NODE_LOAD && node->operand_count > 0 && !node->trusted;
}

bool le_node_share_loops(struct le_node **a, struct le_node **b) {
    struct le_node *x = *a, *y = *b;
    while (x->kind == LE_NODE_OP && x->code == LE_OP_DIV && y->kind == LE_NODE_OP && y->code == LE_OP_DIV) {
        x = x->operands[0];
        y = y->operands[0];
    }
    if (x == y || x->kind != LE_NODE_REDUCE || y->kind != LE_NODE_REDUCE || !le_node_is_sum(x) || !le_node_is_sum(y) ||
        le_node_is_chain(x) != le_node_is_chain(y) || x->type != y->type || x->index_count != y->index_count ||
        memcmp(x->indices, y->indices, (size_t)x->index_count * sizeof(int)) != 0)
        return false;
    *a = x;
    *b = y;
    return true;
}

bool le_node_is_hosts(const struct le_ir *ir, const struct le_node *node) {
    for (int k = 0; k < node->free_count; k++)
        if (!ir->indices.at[node->free[k]].host)
            return false;
    return !node->changes;
}

static uint64_t node_hash(const struct le_node *n) {
    int fields[] = {(int)n->kind,     (int)n->type,   (int)n->rounded, n->code,    n->index, n->symbol,
                    n->axis,          n->value,       (int)n->edge,    n->stretch, n->local, n->fill ? n->fill->id : -1,
                    n->operand_count, n->index_count, n->trusted,      n->live};
    uint64_t h = le_hash(fields, sizeof fields, n->bits);
    if (n->kind == LE_NODE_REGION)
        h = le_region_hash(n->region, h);
    for (int k = 0; k < n->operand_count; k += 2) { /* a hash takes 8 bytes at a time */
        int ids[] = {n->operands[k]->id, k + 1 < n->operand_count ? n->operands[k + 1]->id : -1};
        h = le_hash(ids, sizeof ids, h);
    }
    return n->index_count ? le_hash(n->indices, (size_t)n->index_count * sizeof(int), h) : h;
}

static bool node_equal(const struct le_node *a, const struct le_node *b) {
    if (a->hash != b->hash || a->kind != b->kind || a->type != b->type || a->rounded != b->rounded ||
        a->code != b->code || a->bits != b->bits || a->index != b->index || a->symbol != b->symbol ||
        a->axis != b->axis || a->value != b->value || a->edge != b->edge || a->fill != b->fill ||
        a->stretch != b->stretch || a->trusted != b->trusted || a->operand_count != b->operand_count ||
        a->index_count != b->index_count || a->local != b->local || a->live != b->live)
        return false;
    if (a->kind == LE_NODE_REGION && !le_region_equal(a->region, b->region))
        return false;
    for (int k = 0; k < a->operand_count; k++)
        if (a->operands[k] != b->operands[k])
            return false;
    return a->index_count == 0 || memcmp(a->indices, b->indices, (size_t)a->index_count * sizeof(int)) == 0;
}

static void free_add(struct le_node *node, const int *more, int count, int *room) {
    for (int k = 0; k < count; k++) {
        int at = 0;
        while (at < *room && node->free[at] < more[k])
            at++;
        if (at < *room && node->free[at] == more[k])
            continue;
        memmove(node->free + at + 1, node->free + at, (size_t)(*room - at) * sizeof(int));
        node->free[at] = more[k];
        ++*room;
    }
}

static void free_remove(struct le_node *node, int index) {
    for (int k = 0; k < node->free_count; k++)
        if (node->free[k] == index) {
            memmove(node->free + k, node->free + k + 1, (size_t)(node->free_count - k - 1) * sizeof(int));
            node->free_count--;
            return;
        }
}

/* The bounds of an index; what they depend on counts as well. */
static int bounds_of(const struct le_ir *ir, int index, struct le_node *out[3]) {
    const struct le_range_nodes *r = &ir->indices.at[index].range;
    int n = 0;
    if (r->low)
        out[n++] = r->low;
    if (r->high)
        out[n++] = r->high;
    if (r->by)
        out[n++] = r->by;
    return n;
}

static void find_free(struct le_ir *ir, struct le_node *node) {
    int most = 1, count = 0;
    struct le_node *bounds[3];
    for (int k = 0; k < node->operand_count; k++)
        most += node->operands[k]->free_count;
    if (node->fill)
        most += node->fill->free_count;
    for (int k = 0; k < node->index_count; k++)
        for (int b = bounds_of(ir, node->indices[k], bounds); b > 0; b--)
            most += bounds[b - 1]->free_count;
    node->free = LE_NEW_ARRAY(ir->arena, most, int);
    if (node->kind == LE_NODE_INDEX)
        free_add(node, &node->index, 1, &count);
    for (int k = 0; k < node->operand_count; k++)
        free_add(node, node->operands[k]->free, node->operands[k]->free_count, &count);
    if (node->fill)
        free_add(node, node->fill->free, node->fill->free_count, &count);
    for (int k = 0; k < node->index_count; k++)
        for (int b = bounds_of(ir, node->indices[k], bounds); b > 0; b--)
            free_add(node, bounds[b - 1]->free, bounds[b - 1]->free_count, &count);
    node->free_count = count;
    for (int k = 0; k < node->index_count; k++)
        free_remove(node, node->indices[k]);
}

static int64_t own_cost(const struct le_node *node) {
    switch (node->kind) {
    case LE_NODE_OP:
        return node->code < LE_OPS ? le_op_info((enum le_op)node->code)->cost : 1;
    case LE_NODE_RAND:
        return 20;
    case LE_NODE_CAST:
    case LE_NODE_ROUND:
    case LE_NODE_SELECT:
    case LE_NODE_LOAD:
        return 1;
    default:
        return 0;
    }
}

static void find_facts(struct le_ir *ir, struct le_node *node) {
    struct le_node *bounds[3];
    bool changes = node->fill && node->fill->changes;
    node->untrusted = le_node_is_untrusted(node) || le_region_fails(node) || (node->fill && node->fill->untrusted);
    node->loads = node->kind == LE_NODE_LOAD && node->operand_count > 0;
    node->reduces = node->kind == LE_NODE_REDUCE;
    node->cost = own_cost(node);
    for (int k = 0; k < node->operand_count; k++) {
        const struct le_node *x = node->operands[k];
        node->loads |= x->loads;
        node->reduces |= x->reduces;
        node->untrusted |= x->untrusted;
        node->cost += x->cost;
        changes |= x->changes;
        if (x->depth >= node->depth)
            node->depth = x->depth + 1;
    }
    for (int k = 0; k < node->index_count; k++)
        for (int b = bounds_of(ir, node->indices[k], bounds); b > 0; b--) {
            changes |= bounds[b - 1]->changes;
            node->reduces |= bounds[b - 1]->free_count > 0;
            node->untrusted |= bounds[b - 1]->untrusted;
        }
    if (node->kind == LE_NODE_REGION) {
        node->cost = le_region_cost(node);
        changes = changes && le_node_changes(ir, node);
    }
    node->changes = changes || node->kind == LE_NODE_LOCAL || node->live;
    if (node->cost > (int64_t)1 << 40)
        node->cost = (int64_t)1 << 40;
}

static void table_grow(struct le_ir *ir) {
    int size = ir->table_size ? 2 * ir->table_size : ir->parent ? 32 : 256;
    struct le_node **table = LE_NEW_ARRAY(ir->arena, size, struct le_node *);
    for (int k = 0; k < ir->table_size; k++)
        if (ir->table[k]) {
            int at = (int)(ir->table[k]->hash & (uint64_t)(size - 1));
            while (table[at])
                at = (at + 1) & (size - 1);
            table[at] = ir->table[k];
        }
    ir->table = table;
    ir->table_size = size;
}

struct le_node *le_node_find(const struct le_ir *ir, const struct le_node *node, int below) {
    int last = ir->table_size - 1, at = (int)(node->hash & (uint64_t)last);
    for (; last >= 0 && ir->table[at]; at = (at + 1) & last)
        if (ir->table[at]->id < below && node_equal(ir->table[at], node))
            return ir->table[at];
    return NULL;
}

struct le_node *le_node_make(struct le_ir *ir, const struct le_node *model) {
    struct le_node probe = *model;
    probe.hash = node_hash(&probe);
    for (const struct le_ir *fork = ir; fork->parent; fork = fork->parent) {
        struct le_node *known = le_node_find(fork->parent, &probe, fork->first_node);
        if (known)
            return known;
    }
    if (2 * (ir->node_count - ir->first_node + 1) > ir->table_size)
        table_grow(ir);
    int at = (int)(probe.hash & (uint64_t)(ir->table_size - 1));
    for (; ir->table[at]; at = (at + 1) & (ir->table_size - 1))
        if (node_equal(ir->table[at], &probe))
            return ir->table[at];
    struct le_node *node = LE_NEW(ir->arena, struct le_node);
    *node = probe;
    node->operands = LE_NEW_ARRAY(ir->arena, probe.operand_count, struct le_node *);
    if (probe.operand_count)
        memcpy(node->operands, probe.operands, (size_t)probe.operand_count * sizeof *probe.operands);
    node->indices = LE_NEW_ARRAY(ir->arena, probe.index_count, int);
    if (probe.index_count)
        memcpy(node->indices, probe.indices, (size_t)probe.index_count * sizeof(int));
    node->depth = 0;
    node->id = ir->node_count++;
    le_node_marks_reserve(ir->marks, ir->node_count);
    find_free(ir, node);
    find_facts(ir, node);
    ir->table[at] = node;
    return node;
}

struct le_node *le_node_const(struct le_ir *ir, enum le_type type, uint64_t bits) {
    return le_node_make(ir, &(struct le_node){.kind = LE_NODE_CONST, .type = type, .bits = bits});
}

struct le_node *le_node_i64(struct le_ir *ir, int64_t value) {
    return le_node_const(ir, LE_I64, (uint64_t)value);
}
struct le_node *le_node_bool(struct le_ir *ir, bool value) {
    return le_node_const(ir, LE_BOOL, value);
}

struct le_node *le_node_real(struct le_ir *ir, enum le_type type, double value) {
    uint64_t bits = 0;
    float f = (float)value;
    if (type == LE_F32)
        memcpy(&bits, &f, sizeof f);
    else
        memcpy(&bits, &value, sizeof value);
    return le_node_const(ir, type, bits);
}

struct le_node *le_node_index(struct le_ir *ir, int index) {
    return le_node_make(ir, &(struct le_node){.kind = LE_NODE_INDEX, .type = LE_I64, .index = index});
}

struct le_node *le_node_len(struct le_ir *ir, int symbol, int axis) {
    return le_node_make(ir, &(struct le_node){.kind = LE_NODE_LEN, .type = LE_I64, .symbol = symbol, .axis = axis});
}

/* Returns false if the result does not fit i64, or the exponent is negative. */
static bool power_i64(int64_t base, int64_t exponent, int64_t *result) {
    bool odd = exponent % 2 != 0;
    *result = base == -1 && !odd ? 1 : base;
    if (exponent < 0 || (base >= -1 && base <= 1 && exponent > 0))
        return exponent > 0;
    *result = 1;
    for (int64_t k = 0; k < exponent; k++)
        if (__builtin_mul_overflow(*result, base, result))
            return false;
    return true;
}

/* Folds arithmetic of i64 constants; NULL if it would overflow, or for any other operation. */
static struct le_node *fold_i64(struct le_ir *ir, int code, struct le_node **x, int count) {
    int64_t a, b, r;
    if (count < 1 || x[0]->kind != LE_NODE_CONST || x[0]->type != LE_I64)
        return NULL;
    a = le_const_i64(x[0]);
    if (count == 1 && code == LE_OP_NEG && a != INT64_MIN)
        return le_node_i64(ir, -a);
    if (count != 2 || x[1]->kind != LE_NODE_CONST || x[1]->type != LE_I64)
        return NULL;
    b = le_const_i64(x[1]);
    if (code == LE_OP_ADD && !__builtin_add_overflow(a, b, &r))
        return le_node_i64(ir, r);
    if (code == LE_OP_SUB && !__builtin_sub_overflow(a, b, &r))
        return le_node_i64(ir, r);
    if (code == LE_OP_MUL && !__builtin_mul_overflow(a, b, &r))
        return le_node_i64(ir, r);
    if (code == LE_OP_FLOORDIV && b > 0)
        return le_node_i64(ir, a / b - (a % b < 0));
    if (code == LE_OP_MOD && b > 0)
        return le_node_i64(ir, a % b + (a % b < 0 ? b : 0));
    if (code == LE_OP_POW && power_i64(a, b, &r))
        return le_node_i64(ir, r);
    return NULL;
}

static bool compare_reals(int code, double a, double b) {
    switch (code) {
    case LE_OP_EQ:
        return a == b;
    case LE_OP_NE:
        return a != b;
    case LE_OP_LT:
        return a < b;
    case LE_OP_LE:
        return a <= b;
    case LE_OP_GT:
        return a > b;
    default:
        return a >= b;
    }
}

/* Folds operations on float and bool constants that never round: signs, comparisons, AND and OR; else NULL. This
 * removes the comparisons from a complex division by a constant. */
static struct le_node *fold_exact(struct le_ir *ir, int code, struct le_node **x, int count) {
    for (int k = 0; k < count; k++)
        if (x[k]->kind != LE_NODE_CONST || x[k]->type != x[0]->type)
            return NULL;
    bool real = le_type_is_float(x[0]->type), truth = x[0]->type == LE_BOOL;
    if (real && code == LE_OP_NEG)
        return le_node_real(ir, x[0]->type, -le_const_real(x[0]));
    if (real && code == LE_OP_ABS)
        return le_node_real(ir, x[0]->type, fabs(le_const_real(x[0])));
    if (real && code >= LE_OP_EQ && code <= LE_OP_GE)
        return le_node_bool(ir, compare_reals(code, le_const_real(x[0]), le_const_real(x[1])));
    if (truth && (code == LE_OP_AND || code == LE_OP_LAND))
        return le_node_bool(ir, x[0]->bits & x[1]->bits & 1);
    if (truth && (code == LE_OP_OR || code == LE_OP_LOR))
        return le_node_bool(ir, (x[0]->bits | x[1]->bits) & 1);
    return NULL;
}

struct le_node *le_node_op(struct le_ir *ir, int code, enum le_type type, struct le_node **operands, int count) {
    struct le_node *folded = type == LE_I64 ? fold_i64(ir, code, operands, count) : NULL;
    if (!folded && count > 0)
        folded = fold_exact(ir, code, operands, count);
    if (folded)
        return folded;
    return le_node_make(
        ir, &(struct le_node){
                .kind = LE_NODE_OP, .type = type, .code = code, .operands = operands, .operand_count = count});
}

static bool fold_cast(enum le_type to, const struct le_node *x, struct le_ir *ir, struct le_node **out) {
    bool from_float = le_type_is_float(x->type);
    if (le_type_is_float(to)) {
        if (from_float)
            *out = le_node_real(ir, to, le_const_real(x));
        else if (x->type == LE_U64 && to == LE_F64)
            *out = le_node_real(ir, to, (double)x->bits);
        else if (x->type != LE_U64 && to == LE_F64)
            *out = le_node_real(ir, to, (double)le_const_i64(x));
        else if (x->type != LE_U64)
            *out = le_node_real(ir, to, (double)(float)le_const_i64(x));
        else
            *out = le_node_real(ir, to, (double)(float)x->bits);
        return true;
    }
    if (from_float)
        return false;
    if (to == LE_BOOL) {
        *out = le_node_bool(ir, x->bits != 0);
        return true;
    }
    uint64_t bits = x->type == LE_U64 ? x->bits : (uint64_t)le_const_i64(x);
    int width = le_type_bits(to);
    if (width < 64)
        bits &= ((uint64_t)1 << width) - 1;
    *out = le_node_const(ir, to, bits);
    return true;
}

struct le_node *le_node_cast(struct le_ir *ir, enum le_type type, struct le_node *operand) {
    struct le_node *folded;
    type = le_type_compute(type);
    if (operand->type == type)
        return operand;
    if (operand->kind == LE_NODE_CONST && fold_cast(type, operand, ir, &folded))
        return folded;
    return le_node_make(
        ir, &(struct le_node){.kind = LE_NODE_CAST, .type = type, .operands = &operand, .operand_count = 1});
}

/* f32 represents all integers of up to 24 bits exactly, and f16 has no finite value above 65,504. */
bool le_round_takes(enum le_type type, enum le_type rounded) {
    return type == LE_F32 || type == LE_F64 || (le_type_is_int(type) && le_type_bits(type) > 16 && rounded == LE_BF16);
}

struct le_node *le_node_round(struct le_ir *ir, enum le_type rounded, struct le_node *operand) {
    if (operand->kind == LE_NODE_ROUND && operand->rounded == rounded)
        return operand;
    if (!le_round_takes(operand->type, rounded))
        operand = le_node_cast(ir, LE_F32, operand);
    return le_node_make(
        ir, &(struct le_node){
                .kind = LE_NODE_ROUND, .type = LE_F32, .rounded = rounded, .operands = &operand, .operand_count = 1});
}

struct le_node *le_node_select(struct le_ir *ir, struct le_node *condition, struct le_node *then,
                               struct le_node *otherwise) {
    if (condition->kind == LE_NODE_CONST)
        return condition->bits & 1 ? then : otherwise;
    struct le_node *x[] = {condition, then, otherwise};
    return le_node_make(
        ir, &(struct le_node){.kind = LE_NODE_SELECT, .type = then->type, .operands = x, .operand_count = 3});
}

struct le_node *le_node_reduce(struct le_ir *ir, enum le_reduction reduction, enum le_type type, struct le_node *body,
                               const int *indices, int count) {
    return le_node_make(ir, &(struct le_node){.kind = LE_NODE_REDUCE,
                                              .type = type,
                                              .code = (int)reduction,
                                              .operands = &body,
                                              .operand_count = 1,
                                              .indices = (int *)(uintptr_t)indices,
                                              .index_count = count});
}

static struct le_node *substitute_node(struct le_ir *ir, struct le_node *node, const int *from,
                                       struct le_node *const *to, int count, int epoch);

static struct le_range_nodes substitute_range(struct le_ir *ir, struct le_range_nodes range, const int *from,
                                              struct le_node *const *to, int count, int epoch) {
    struct le_node **part[] = {&range.low, &range.high, &range.by};
    for (int q = 0; q < 3; q++)
        if (*part[q])
            *part[q] = substitute_node(ir, *part[q], from, to, count, epoch);
    return range;
}

/* A dependent range uses an outer index. If substitution changes it, the reduction or region gets a new index with the
 * new range, and so does each later index whose range depends on a replaced one. */
static void substitute_indices(struct le_ir *ir, struct le_node *copy, const int *from, struct le_node *const *to,
                               int count, int epoch) {
    int *old = LE_NEW_ARRAY(ir->arena, copy->index_count, int), made = 0;
    struct le_node **fresh = LE_NEW_ARRAY(ir->arena, copy->index_count, struct le_node *);
    for (int k = 0; k < copy->index_count; k++) {
        struct le_ir_index ix = ir->indices.at[copy->indices[k]];
        struct le_range_nodes range = substitute_range(ir, ix.range, from, to, count, epoch);
        if (made > 0)
            range = substitute_range(ir, range, old, fresh, made, le_walk_begin(ir));
        if (range.low == ix.range.low && range.high == ix.range.high && range.by == ix.range.by)
            continue;
        ix.range = range;
        *LE_PUSH(ir->arena, &ir->indices) = ix;
        old[made] = copy->indices[k];
        copy->indices[k] = ir->indices.count - 1;
        fresh[made++] = le_node_index(ir, copy->indices[k]);
    }
    int inner = le_walk_begin(ir);
    for (int k = 0; made > 0 && k < copy->operand_count; k++)
        copy->operands[k] = substitute_node(ir, copy->operands[k], old, fresh, made, inner);
}

/* An index with an explicit range need not cover the whole axis. */
static bool is_bare(const struct le_ir *ir, const struct le_node *load) {
    for (int k = 0; k < load->operand_count; k++)
        if (load->operands[k]->kind != LE_NODE_INDEX || ir->indices.at[load->operands[k]->index].explicit_range)
            return false;
    return true;
}

static struct le_node *substitute_node(struct le_ir *ir, struct le_node *node, const int *from,
                                       struct le_node *const *to, int count, int epoch) {
    if (!le_node_depends_on_any(node, from, count))
        return node;
    if (node->kind == LE_NODE_INDEX) {
        for (int k = 0; k < count; k++)
            if (node->index == from[k])
                return to[k];
        return node;
    }
    struct le_node *known = le_walk_memo(ir, node, epoch);
    if (known)
        return known;
    struct le_node copy = *node;
    struct le_node *few[8];
    int few_indices[16];
    copy.operands = node->operand_count <= 8 ? few : LE_NEW_ARRAY(ir->arena, node->operand_count, struct le_node *);
    for (int k = 0; k < node->operand_count; k++)
        copy.operands[k] = substitute_node(ir, node->operands[k], from, to, count, epoch);
    copy.indices = node->index_count <= 16 ? few_indices : LE_NEW_ARRAY(ir->arena, node->index_count, int);
    if (node->index_count)
        memcpy(copy.indices, node->indices, (size_t)node->index_count * sizeof(int));
    if (node->index_count)
        substitute_indices(ir, &copy, from, to, count, epoch);
    if (node->fill)
        copy.fill = substitute_node(ir, node->fill, from, to, count, epoch);
    bool made_for_it = copy.kind == LE_NODE_LOAD && ir->values.at[copy.value].symbol < 0;
    copy.trusted = copy.trusted &&
                   (made_for_it || is_bare(ir, &copy)); /* a temporary covers every point of its readers' indices */
    return le_walk_remember(ir, node, epoch, le_node_make(ir, &copy));
}

struct le_node *le_node_substitute(struct le_ir *ir, struct le_node *node, const int *from, struct le_node *const *to,
                                   int count) {
    return substitute_node(ir, node, from, to, count, le_walk_begin(ir));
}

void le_ir_adopt_indices(struct le_ir *ir, int statement, int from) {
    if (statement < 0 || from == ir->indices.count)
        return;
    struct le_ir_statement *st = &ir->statements.at[statement];
    int made = ir->indices.count - from;
    int *all = LE_NEW_ARRAY(ir->arena, st->all_count + made, int);
    if (st->all_count)
        memcpy(all, st->all, (size_t)st->all_count * sizeof *all);
    for (int k = 0; k < made; k++)
        all[st->all_count++] = from + k;
    st->all = all;
}
