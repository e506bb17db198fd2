/* Subscripts as linear combinations of indices, as far as the text determines them. This mirrors le_affine_of
 * (ir/affine.c), which knows all numbers: a node that is not affine here is not affine there, and a known factor is the
 * same there. */
#include "lang/static_form.h"

static void set_constant(struct le_static_form *f, bool known, int64_t value) {
    f->affine = true;
    f->known = known;
    f->constant = value;
    f->count = 0;
}

static void set_opaque(struct le_static_form *f) {
    set_constant(f, false, 0);
    f->affine = false;
}

/* ---- sums */

static struct le_static_term *find_term(struct le_static_form *f, const struct le_index *index) {
    for (int k = 0; k < f->count; k++)
        if (f->terms[k].index == index)
            return &f->terms[k];
    return NULL;
}

static void add_term(struct le_static_form *f, struct le_static_term term) {
    struct le_static_term *found = find_term(f, term.index);
    if (!found && f->count < LE_INDICES_MAX)
        f->terms[f->count++] = term;
    if (!found)
        return;
    bool known = found->factor && term.factor && !__builtin_add_overflow(found->factor, term.factor, &found->factor);
    if (known && found->factor == 0)
        *found = f->terms[--f->count];
    else if (!known)
        found->factor = 0;
}

static void add_form(struct le_static_form *f, const struct le_static_form *g) {
    f->affine = f->affine && g->affine;
    f->known = f->known && g->known && !__builtin_add_overflow(f->constant, g->constant, &f->constant);
    for (int k = 0; k < g->count; k++)
        add_term(f, g->terms[k]);
}

static void scale_form(struct le_static_form *f, bool known, int64_t factor) {
    if (f->affine && known && factor == 0) {
        set_constant(f, true, 0);
        return;
    }
    f->known = f->known && known && !__builtin_mul_overflow(f->constant, factor, &f->constant);
    for (int k = 0; k < f->count; k++) {
        int64_t *own = &f->terms[k].factor;
        if (!known || __builtin_mul_overflow(*own, factor, own))
            *own = 0;
    }
}

static bool has_known_term(const struct le_static_form *f) {
    for (int k = 0; k < f->count; k++)
        if (f->terms[k].factor)
            return true;
    return false;
}

static void multiply_forms(struct le_static_form *f, struct le_static_form *g) {
    if (!f->affine || !g->affine || (has_known_term(f) && has_known_term(g))) {
        set_opaque(f);
    } else if (g->count == 0) {
        scale_form(f, g->known, g->constant);
    } else if (f->count == 0) {
        scale_form(g, f->known, f->constant);
        *f = *g;
    } else {
        scale_form(f, false, 0);
        scale_form(g, false, 0);
        add_form(f, g);
    }
}

/* ---- nodes */

static bool is_own_index(const struct le_tree_node *node, const void *user) {
    (void)user;
    return node->kind == LE_TREE_INDEX && !node->index->host;
}

/* The value may be that of any operand, so each index in them gets an unknown factor. */
static void form_of_any(const struct le_tree_node *node, const struct le_static_shape *shapes,
                        struct le_static_form *out) {
    struct le_static_form operand;
    set_constant(out, false, 0);
    for (int k = 0; k < node->child_count; k++) {
        le_static_form_of(node->children[k], shapes, &operand);
        scale_form(&operand, false, 0);
        operand.affine = true;
        add_form(out, &operand);
    }
}

static void form_of_other(const struct le_tree_node *node, struct le_static_form *out) {
    if (le_tree_any(node, is_own_index, NULL))
        set_opaque(out);
    else
        set_constant(out, false, 0);
}

static void form_of_operation(const struct le_tree_node *node, const struct le_static_shape *shapes,
                              struct le_static_form *out) {
    bool is_sum = node->op == LE_OP_ADD || node->op == LE_OP_SUB;
    if (node->op == LE_OP_POW) {
        form_of_any(node, shapes, out);
        return;
    }
    if (!is_sum && node->op != LE_OP_MUL && node->op != LE_OP_NEG &&
        le_op_info((enum le_op)node->op)->rule != LE_RULE_ROUND) { /* rounding leaves an integer unchanged */
        form_of_other(node, out);
        return;
    }
    le_static_form_of(node->children[0], shapes, out);
    if (node->op == LE_OP_NEG)
        scale_form(out, true, -1);
    if (node->child_count < 2)
        return;
    struct le_static_form right;
    le_static_form_of(node->children[1], shapes, &right);
    if (node->op == LE_OP_SUB)
        scale_form(&right, true, -1);
    if (is_sum)
        add_form(out, &right);
    else
        multiply_forms(out, &right);
}

static void form_of_length(const struct le_tree_node *node, const struct le_static_shape *shapes,
                           struct le_static_form *out) {
    const struct le_symbol *symbol = node->symbol;
    int64_t axis;
    form_of_other(node, out);
    if (symbol->any_rank || !le_static_value(node->children[0], shapes, &axis))
        return;
    axis += axis < 0 ? symbol->rank : 0;
    if (axis >= 0 && axis < symbol->rank && shapes[symbol->id].known[axis])
        set_constant(out, true, shapes[symbol->id].extents[axis]);
}

void le_static_form_of(const struct le_tree_node *node, const struct le_static_shape *shapes,
                       struct le_static_form *out) {
    switch (node->kind) {
    case LE_TREE_CONST:
        set_constant(out, node->type == LE_WEAK_INT && !node->is_u64, node->integer);
        out->affine = node->type != LE_WEAK_FLOAT;
        return;
    case LE_TREE_INDEX:
        set_constant(out, !node->index->host, 0);
        if (!node->index->host)
            add_term(out, (struct le_static_term){node->index, 1});
        return;
    case LE_TREE_LEN:
        form_of_length(node, shapes, out);
        return;
    case LE_TREE_OP:
        form_of_operation(node, shapes, out);
        return;
    case LE_TREE_SELECT:
        form_of_any(node, shapes, out);
        return;
    case LE_TREE_CAST:
        if (node->type == LE_I64)
            le_static_form_of(node->children[0], shapes, out);
        else
            form_of_other(node, out);
        return;
    default:
        form_of_other(node, out);
        return;
    }
}

bool le_static_value(const struct le_tree_node *node, const struct le_static_shape *shapes, int64_t *value) {
    struct le_static_form f;
    le_static_form_of(node, shapes, &f);
    *value = f.constant;
    return f.affine && f.known && f.count == 0;
}
