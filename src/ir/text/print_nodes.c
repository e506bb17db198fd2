/* Prints nodes. A node that is used twice in a line, or would make it too deep, is printed on a line before it as `%n =
 * ...`, and so is every region. Indices are declared before the first line that uses them. */
#include "ir/text/printer.h"
#include "base/memory.h"
#include <inttypes.h>
#include <math.h>

#define HEIGHT_MAX 4 /* of the s-expressions in one line */

/* ---- what a line knows of a node, stored in its mark's memo while the mark's epoch is the printer's `epoch` */

struct node_mark {
    unsigned uses, number, height; /* uses: 1, or 2 for more; number: `%n` plus 1, or 0 */
    bool defined;
};

static struct node_mark mark_of(const struct printer *p, const struct le_node *n) {
    uintptr_t bits = (uintptr_t)le_node_mark_of(p->ir, n)->memo;
    return (struct node_mark){.uses = bits & 3,
                              .defined = bits >> 2 & 1,
                              .height = (unsigned)(bits >> 3 & 15),
                              .number = (unsigned)(bits >> 7)};
}

static void set_mark(const struct printer *p, const struct le_node *n, struct node_mark m) {
    uintptr_t bits = m.uses | (uintptr_t)m.defined << 2 | (uintptr_t)m.height << 3 | (uintptr_t)m.number << 7;
    le_node_mark_of(p->ir, n)->memo = (void *)bits;
}

static void count_use(struct printer *p, struct le_node *n) {
    bool met = le_walk_met(p->ir, n, p->epoch);
    set_mark(p, n, (struct node_mark){.uses = met ? 2 : 1});
    if (met)
        return;
    for (int k = 0; k < n->operand_count; k++)
        count_use(p, n->operands[k]);
    if (n->fill)
        count_use(p, n->fill);
}

/* ---- nodes */

static void print_const(const struct le_node *n, struct le_text *out) {
    if (n->type == LE_I64) {
        le_text_add(out, "%" PRId64, le_const_i64(n));
        return;
    }
    double real = le_type_is_float(n->type) ? le_const_real(n) : 0;
    if (isnan(real))
        le_text_add(out, "0x%" PRIx64, n->bits);
    else if (n->type == LE_F64)
        le_text_add_f64(out, real);
    else if (n->type == LE_F32)
        le_text_add_f32(out, (float)real);
    else if (n->type == LE_BOOL)
        le_text_add(out, n->bits ? "true" : "false");
    else if (n->type == LE_U64)
        le_text_add(out, "%" PRIu64, n->bits);
    else
        le_text_add(out, "%" PRId64, le_const_i64(n));
    le_text_add(out, ":%s", le_type_name(n->type));
}

void le_print_symbol(struct printer *p, int symbol) {
    const char *name = p->ir->tree->symbols[symbol]->name;
    if (p->namesakes[symbol])
        le_text_add(p->out, "%s.%d", name && *name ? name : "fill", symbol);
    else
        le_text_add(p->out, "%s", name);
}

void le_print_index(const struct le_ir *ir, int index, struct le_text *out) {
    le_text_add(out, "%s.%d", ir->indices.at[index].name, index);
}

void le_print_local(const struct le_ir *ir, int local, struct le_text *out) {
    le_text_add(out, "$%s.%d", ir->locals.at[local].name, local);
}

void le_print_indent(struct printer *p) {
    int depth = p->depth < PRINT_DEPTH_MAX ? p->depth : PRINT_DEPTH_MAX;
    le_text_add(p->out, "%*s", 2 * depth, "");
}

void le_print_indices(const struct le_ir *ir, const int *indices, int count, struct le_text *out) {
    le_text_add(out, " {");
    for (int k = 0; k < count; k++) {
        le_text_add(out, k ? ", " : "");
        le_print_index(ir, indices[k], out);
    }
    le_text_add(out, "}");
}

void le_print_node(struct printer *p, const struct le_node *n);

void le_print_operand(struct printer *p, const struct le_node *n) {
    unsigned number = mark_of(p, n).number;
    if (number)
        le_text_add(p->out, "%%%u", number - 1);
    else
        le_print_node(p, n);
}

void le_print_list(struct printer *p, struct le_node *const *nodes, int count) {
    for (int k = 0; k < count; k++) {
        le_text_add(p->out, k ? ", " : "");
        le_print_operand(p, nodes[k]);
    }
}

/* u.1[i.0; clamp]!?3: `!` marks a live load, `?` one that may be out of range, followed by the number of its access. */
static void print_load(struct printer *p, const struct le_node *n) {
    le_text_add(p->out, "%s[", p->ir->values.at[n->value].name);
    le_print_list(p, n->operands, n->operand_count);
    if (n->edge != LE_EDGE_NONE)
        le_text_add(p->out, "; %s", le_edge_name(n->edge));
    if (n->fill) {
        le_text_add(p->out, " ");
        le_print_operand(p, n->fill);
    }
    if (n->stretch)
        le_text_add(p->out, "; stretch %d", n->stretch);
    le_text_add(p->out, n->live ? "]!" : "]");
    if (n->operand_count > 0 && !n->trusted)
        le_text_add(p->out, "?");
    if (n->operand_count > 0 && !n->trusted && n->access >= 0)
        le_text_add(p->out, "%d", n->access);
}

static const char *head_of(const struct le_node *n) {
    switch (n->kind) {
    case LE_NODE_OP:
        return n->code < LE_OPS ? le_op_info((enum le_op)n->code)->name : le_code_name(n->code);
    case LE_NODE_CAST:
        return le_type_name(n->type);
    case LE_NODE_ROUND:
        return "round";
    case LE_NODE_SELECT:
        return "select";
    case LE_NODE_RAND:
        return le_code_name(n->code);
    case LE_NODE_REDUCE:
        return le_reduction_name((enum le_reduction)n->code);
    case LE_NODE_COUNT:
        return "count";
    case LE_NODE_SECOND:
        return "second";
    default:
        return "else";
    }
}

static void print_form(struct printer *p, const struct le_node *n) {
    le_text_add(p->out, "(%s", head_of(n));
    enum le_type type = n->type == LE_BOOL && n->operand_count > 0 ? n->operands[0]->type : n->type;
    if (n->kind == LE_NODE_OP && type != LE_I64)
        le_text_add(p->out, ".%s", le_type_name(type));
    if (n->kind == LE_NODE_ROUND)
        le_text_add(p->out, ".%s", le_type_name(n->rounded));
    if (n->kind == LE_NODE_REDUCE || n->kind == LE_NODE_COUNT)
        le_print_indices(p->ir, n->indices, n->index_count, p->out);
    for (int k = 0; k < n->operand_count; k++) {
        le_text_add(p->out, " ");
        le_print_operand(p, n->operands[k]);
    }
    le_text_add(p->out, ")");
}

void le_print_node(struct printer *p, const struct le_node *n) {
    switch (n->kind) {
    case LE_NODE_CONST:
        print_const(n, p->out);
        return;
    case LE_NODE_INDEX:
        le_print_index(p->ir, n->index, p->out);
        return;
    case LE_NODE_LEN:
        le_text_add(p->out, "(len ");
        le_print_symbol(p, n->symbol);
        le_text_add(p->out, " %d)", n->axis);
        return;
    case LE_NODE_LOAD:
        print_load(p, n);
        return;
    case LE_NODE_LOCAL:
        le_print_local(p->ir, n->local, p->out);
        return;
    case LE_NODE_REGION:
        le_print_region(p, n);
        return;
    default:
        print_form(p, n);
    }
}

/* ---- lines before a line: its shared and deep nodes, and the indices that it is the first to use */

static bool is_leaf(const struct le_node *n) {
    return n->kind == LE_NODE_CONST || n->kind == LE_NODE_INDEX || n->kind == LE_NODE_LEN || n->kind == LE_NODE_LOCAL ||
           (n->kind == LE_NODE_LOAD && n->operand_count == 0);
}

/* Nodes that are repeated rather than numbered. */
static bool is_small(const struct le_node *n) {
    bool small = is_leaf(n) || (n->kind == LE_NODE_LOAD && !n->fill);
    for (int k = 0; k < n->operand_count; k++)
        small &= is_leaf(n->operands[k]);
    return small;
}

static void define_node(struct printer *p, struct le_node *n, bool is_root) {
    struct node_mark m = mark_of(p, n);
    if (m.defined)
        return;
    m.defined = true;
    set_mark(p, n, m);
    for (int k = 0; k < n->operand_count + (n->fill != NULL); k++) {
        struct le_node *x = k < n->operand_count ? n->operands[k] : n->fill;
        define_node(p, x, false);
        struct node_mark below = mark_of(p, x);
        if (below.number == 0 && below.height >= m.height)
            m.height = below.height + 1;
    }
    bool is_deep = m.height >= HEIGHT_MAX && !is_root;
    if (is_deep || n->kind == LE_NODE_REGION || (m.uses > 1 && !is_small(n))) {
        le_print_indent(p);
        le_text_add(p->out, "%%%d = ", p->numbered);
        le_print_node(p, n);
        le_text_add(p->out, "\n");
        m.number = (unsigned)++p->numbered;
    }
    set_mark(p, n, m);
}

static void declare_index(struct printer *p, int index);

static void add_pending(struct printer *p, int index) {
    if (p->declared[index] || p->out->failed)
        return;
    if (p->pending_count == p->pending_capacity) {
        int capacity = p->pending_capacity ? 2 * p->pending_capacity : 64;
        int *larger = le_realloc(p->pending, (size_t)capacity * sizeof *larger);
        p->out->failed |= !larger;
        if (!larger)
            return;
        p->pending = larger;
        p->pending_capacity = capacity;
    }
    p->pending[p->pending_count++] = index;
}

static void find_indices(struct le_node *n, void *user) {
    if (n->kind == LE_NODE_INDEX)
        add_pending(user, n->index);
    for (int k = 0; k < n->index_count; k++)
        add_pending(user, n->indices[k]);
}

static void declare_pending(struct printer *p, int from) {
    for (int k = from; k < p->pending_count; k++)
        declare_index(p, p->pending[k]);
    p->pending_count = from;
}

void le_print_declare_of(struct printer *p, struct le_node *const *nodes, int count) {
    int from = p->pending_count;
    for (int k = 0; k < count; k++)
        if (nodes[k])
            le_node_walk(p->ir, nodes[k], find_indices, p);
    declare_pending(p, from);
}

void le_print_declare(struct printer *p, const int *indices, int count) {
    int from = p->pending_count;
    for (int k = 0; k < count; k++)
        add_pending(p, indices[k]);
    declare_pending(p, from);
}

void le_print_begin(struct printer *p, struct le_node *const *nodes, int count) {
    p->epoch = le_walk_begin(p->ir);
    p->numbered = 0;
    for (int k = 0; k < count; k++)
        if (nodes[k])
            count_use(p, nodes[k]);
    for (int k = 0; k < count; k++)
        if (nodes[k])
            define_node(p, nodes[k], true);
    le_print_indent(p);
}

void le_print_location(const struct le_location *location, struct le_text *out) {
    if (location->line)
        le_text_add(out, " at %d:%d+%d", location->line, location->column, location->span);
}

static void declare_index(struct printer *p, int index) {
    const struct le_ir_index *ix = &p->ir->indices.at[index];
    struct le_node *bounds[] = {ix->range.low, ix->range.high, ix->range.by};
    if (p->declared[index])
        return;
    p->declared[index] = true;
    le_print_declare_of(p, bounds, 3);
    le_print_begin(p, bounds, 3);
    le_text_add(p->out, "index ");
    le_print_index(p->ir, index, p->out);
    for (int k = 0; k < 3; k++)
        if (bounds[k]) {
            static const char *const words[] = {" in ", " .. ", " by "};
            le_text_add(p->out, "%s", words[k]);
            le_print_operand(p, bounds[k]);
        }
    le_text_add(p->out, "%s%s", ix->depends ? " depends" : "", ix->from_dots ? " dots" : "");
    le_text_add(p->out, ix->stepped ? " stepped" : "");
    if (ix->host)
        le_text_add(p->out, " host %s", p->ir->values.at[ix->host_value].name);
    le_print_location(&ix->location, p->out);
    le_text_add(p->out, "\n");
}
