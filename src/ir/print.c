/* The IR as text, for people, for tests, and for read.c, which takes it back.
 *
 * A line says one thing: a symbol, a value, an index with its range, a statement, one of its accesses, a stage. Nodes
 * are s-expressions; what is used twice in a line, or would make it too deep, stands before it as `%n = ...`. Numbers
 * and operations without a type are i64. A stage that a pass has left dead is named, no more. One thread at a time: the
 * nodes' marks are written. */
#include "base/memory.h"
#include "base/text.h"
#include "ir/ir.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

#define HEIGHT_MAX 4 /* of the s-expressions in one line */

struct printer {
    struct le_ir *ir; /* its nodes' marks are written */
    struct le_text *out;
    const char **shapes; /* by symbol and axis: what its extent is called; NULL: nothing */
    bool *declared;      /* by index */
    int *pending;        /* indices to declare */
    int pending_count, pending_capacity;
    int epoch, numbered; /* of the line at hand */
    const char *indent;
};

/* ---- a node's mark, in its memo, while `epoch` is its epoch */

struct mark {
    unsigned uses, number, height; /* uses: 1, or 2 for more; number: 0, or one more than its `%n` */
    bool defined;
};

static struct mark mark_of(const struct le_node *n) {
    uintptr_t bits = (uintptr_t)n->memo;
    return (struct mark){.uses = bits & 3,
                         .defined = bits >> 2 & 1,
                         .height = (unsigned)(bits >> 3 & 15),
                         .number = (unsigned)(bits >> 7)};
}

static void set_mark(struct le_node *n, struct mark m) {
    uintptr_t bits = m.uses | (uintptr_t)m.defined << 2 | (uintptr_t)m.height << 3 | (uintptr_t)m.number << 7;
    n->memo = (void *)bits;
}

static void count_use(struct printer *p, struct le_node *n) {
    bool met = n->epoch == p->epoch;
    n->epoch = p->epoch;
    set_mark(n, (struct mark){.uses = met ? 2 : 1});
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

static void print_symbol(const struct le_ir *ir, int symbol, struct le_text *out) {
    const char *name = ir->tree->symbols[symbol]->name;
    if (name && *name)
        le_text_add(out, "%s", name);
    else
        le_text_add(out, "fill.%d", symbol);
}

static void print_index(const struct le_ir *ir, int index, struct le_text *out) {
    le_text_add(out, "%s.%d", ir->indices.at[index].name, index);
}

static void print_indices(const struct le_ir *ir, const int *indices, int count, struct le_text *out) {
    le_text_add(out, " {");
    for (int k = 0; k < count; k++) {
        le_text_add(out, k ? ", " : "");
        print_index(ir, indices[k], out);
    }
    le_text_add(out, "}");
}

static void print_node(struct printer *p, const struct le_node *n);

static void print_operand(struct printer *p, const struct le_node *n) {
    unsigned number = mark_of(n).number;
    if (number)
        le_text_add(p->out, "%%%u", number - 1);
    else
        print_node(p, n);
}

static void print_list(struct printer *p, struct le_node *const *nodes, int count) {
    for (int k = 0; k < count; k++) {
        le_text_add(p->out, k ? ", " : "");
        print_operand(p, nodes[k]);
    }
}

/* u.1[i.0; clamp]?3: after `?` the number of the access, for what may fall outside. */
static void print_load(struct printer *p, const struct le_node *n) {
    le_text_add(p->out, "%s[", p->ir->values.at[n->value].name);
    print_list(p, n->operands, n->operand_count);
    if (n->edge != LE_EDGE_NONE)
        le_text_add(p->out, "; %s", le_edge_name(n->edge));
    if (n->fill) {
        le_text_add(p->out, " ");
        print_operand(p, n->fill);
    }
    if (n->stretch)
        le_text_add(p->out, "; stretch %d", n->stretch);
    le_text_add(p->out, "]");
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
        print_indices(p->ir, n->indices, n->index_count, p->out);
    for (int k = 0; k < n->operand_count; k++) {
        le_text_add(p->out, " ");
        print_operand(p, n->operands[k]);
    }
    le_text_add(p->out, ")");
}

static void print_node(struct printer *p, const struct le_node *n) {
    switch (n->kind) {
    case LE_NODE_CONST:
        print_const(n, p->out);
        return;
    case LE_NODE_INDEX:
        print_index(p->ir, n->index, p->out);
        return;
    case LE_NODE_LEN:
        le_text_add(p->out, "(len ");
        print_symbol(p->ir, n->symbol, p->out);
        le_text_add(p->out, " %d)", n->axis);
        return;
    case LE_NODE_LOAD:
        print_load(p, n);
        return;
    default:
        print_form(p, n);
    }
}

/* ---- what stands before a line: its shared and its deep nodes, and the indices that it is the first to use */

static bool is_leaf(const struct le_node *n) {
    return n->kind == LE_NODE_CONST || n->kind == LE_NODE_INDEX || n->kind == LE_NODE_LEN ||
           (n->kind == LE_NODE_LOAD && n->operand_count == 0);
}

/* Shown again rather than numbered. */
static bool is_small(const struct le_node *n) {
    bool small = is_leaf(n) || (n->kind == LE_NODE_LOAD && !n->fill);
    for (int k = 0; k < n->operand_count; k++)
        small &= is_leaf(n->operands[k]);
    return small;
}

static void define(struct printer *p, struct le_node *n, bool is_root) {
    struct mark m = mark_of(n);
    if (m.defined)
        return;
    m.defined = true;
    set_mark(n, m);
    for (int k = 0; k < n->operand_count + (n->fill != NULL); k++) {
        struct le_node *x = k < n->operand_count ? n->operands[k] : n->fill;
        define(p, x, false);
        struct mark below = mark_of(x);
        if (below.number == 0 && below.height >= m.height)
            m.height = below.height + 1;
    }
    bool is_deep = m.height >= HEIGHT_MAX && !is_root;
    if (is_deep || (m.uses > 1 && !is_small(n))) {
        le_text_add(p->out, "%s%%%d = ", p->indent, p->numbered);
        print_node(p, n);
        le_text_add(p->out, "\n");
        m.number = (unsigned)++p->numbered;
    }
    set_mark(n, m);
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

static void declare_indices_of(struct printer *p, struct le_node *const *nodes, int count) {
    int from = p->pending_count;
    for (int k = 0; k < count; k++)
        if (nodes[k])
            le_node_walk(p->ir, nodes[k], find_indices, p);
    declare_pending(p, from);
}

/* Starts a line that shows these nodes; NULL ones are left out. The indices are declared. */
static void begin(struct printer *p, struct le_node *const *nodes, int count) {
    p->epoch = ++p->ir->epoch;
    p->numbered = 0;
    for (int k = 0; k < count; k++)
        if (nodes[k])
            count_use(p, nodes[k]);
    for (int k = 0; k < count; k++)
        if (nodes[k])
            define(p, nodes[k], true);
    le_text_add(p->out, "%s", p->indent);
}

static void print_place(const struct le_place *place, struct le_text *out) {
    if (place->line)
        le_text_add(out, " at %d:%d+%d", place->line, place->column, place->span);
}

static void declare_index(struct printer *p, int index) {
    const struct le_ir_index *ix = &p->ir->indices.at[index];
    struct le_node *bounds[] = {ix->range.low, ix->range.high, ix->range.by};
    if (p->declared[index])
        return;
    p->declared[index] = true;
    declare_indices_of(p, bounds, 3);
    begin(p, bounds, 3);
    le_text_add(p->out, "index ");
    print_index(p->ir, index, p->out);
    for (int k = 0; k < 3; k++)
        if (bounds[k]) {
            static const char *const words[] = {" in ", " .. ", " by "};
            le_text_add(p->out, "%s", words[k]);
            print_operand(p, bounds[k]);
        }
    le_text_add(p->out, "%s%s", ix->depends ? " depends" : "", ix->from_dots ? " dots" : "");
    print_place(&ix->place, p->out);
    le_text_add(p->out, "\n");
}

/* ---- symbols and values */

/* Extents are called as a declaration names them, or as the index that made them. */
static void name_shapes(struct printer *p) {
    const struct le_ir *ir = p->ir;
    for (int k = 0; k < ir->statements.count; k++) {
        const struct le_ir_statement *st = &ir->statements.at[k];
        if (st->kind == LE_STEP_BIND && st->array >= 0 && st->symbol >= 0)
            p->shapes[st->array * LEAT_RANK_MAX + st->axis] = ir->tree->symbols[st->symbol]->name;
        for (int d = 0; d < st->left_count && st->is_new; d++)
            if (st->left[d]->kind == LE_NODE_INDEX)
                p->shapes[st->symbol * LEAT_RANK_MAX + d] = ir->indices.at[st->left[d]->index].name;
    }
}

static void print_type(const struct printer *p, enum le_type type, int symbol, int rank, bool is_array) {
    le_text_add(p->out, ": %s%s", le_type_name(type), is_array ? "[" : "");
    for (int d = 0; d < rank; d++) {
        const char *name = symbol < 0 ? NULL : p->shapes[symbol * LEAT_RANK_MAX + d];
        le_text_add(p->out, "%s%s", d ? ", " : "", name ? name : "_");
    }
    le_text_add(p->out, is_array ? "]" : "");
}

static void print_symbols(struct printer *p) {
    for (int k = 0; k < p->ir->tree->symbol_count; k++) {
        const struct le_symbol *s = p->ir->tree->symbols[k];
        const struct le_node *size = p->ir->fixed[k];
        le_text_add(p->out, "symbol ");
        print_symbol(p->ir, k, p->out);
        print_type(p, s->type, k, s->is_array ? s->rank : 0, s->is_array);
        if (size && size->kind == LE_NODE_LEN) {
            le_text_add(p->out, " = ");
            print_node(p, size);
        }
        le_text_add(p->out, "\n");
    }
}

static void print_values(struct printer *p) {
    for (int k = 0; k < p->ir->values.count; k++) {
        const struct le_value *v = &p->ir->values.at[k];
        le_text_add(p->out, "%s %s", v->stage < 0 ? "input" : "value", v->name);
        print_type(p, v->type, v->symbol, v->rank, v->rank > 0);
        if (v->symbol < 0)
            le_text_add(p->out, " temporary");
        else {
            le_text_add(p->out, " of ");
            print_symbol(p->ir, v->symbol, p->out);
        }
        le_text_add(p->out, v->wanted ? " wanted" : "");
        if (v->uses)
            le_text_add(p->out, " used %d", v->uses);
        le_text_add(p->out, "\n");
    }
}

/* ---- statements */

static void print_access(struct printer *p, const struct le_ir_access *a) {
    int from = p->pending_count;
    for (int k = 0; k < a->around_count; k++)
        add_pending(p, a->around[k]);
    declare_pending(p, from);
    declare_indices_of(p, a->subscripts, a->rank);
    begin(p, a->subscripts, a->rank);
    le_text_add(p->out, a->left ? "write " : "read ");
    print_symbol(p->ir, a->symbol, p->out);
    le_text_add(p->out, "[");
    print_list(p, a->subscripts, a->rank);
    le_text_add(p->out, "]%s%s", a->guarded ? " guarded" : "", a->has_edge ? " edge" : "");
    if (a->stretch)
        le_text_add(p->out, " stretch %d", a->stretch);
    if (a->around_count) {
        le_text_add(p->out, " around");
        print_indices(p->ir, a->around, a->around_count, p->out);
    }
    print_place(&a->place, p->out);
    le_text_add(p->out, "\n");
}

static void print_statement_head(struct printer *p, const struct le_ir_statement *st) {
    static const char *const kinds[] = {
        [LE_STEP_DEFAULT] = "default", [LE_STEP_BIND] = "bind", [LE_STEP_AGREE] = "agree",
        [LE_STEP_NEW] = "new",         [LE_STEP_FILL] = "fill", [LE_STEP_ASSIGN] = "assign"};
    le_text_add(p->out, "statement %s", kinds[st->kind]);
    if (st->symbol >= 0) {
        le_text_add(p->out, " ");
        print_symbol(p->ir, st->symbol, p->out);
    }
    if (st->array >= 0) {
        le_text_add(p->out, " array ");
        print_symbol(p->ir, st->array, p->out);
        le_text_add(p->out, " axis %d", st->axis);
    }
    le_text_add(p->out, "%s%s", st->is_new ? " makes" : "", st->has_else ? " else" : "");
}

static void print_bracketed(struct printer *p, const char *word, struct le_node *const *nodes, int count) {
    if (count == 0)
        return;
    le_text_add(p->out, " %s [", word);
    print_list(p, nodes, count);
    le_text_add(p->out, "]");
}

static void print_statement(struct printer *p, const struct le_ir_statement *st) {
    struct le_node *nodes[2 * LEAT_RANK_MAX + 1];
    int count = 0, from = p->pending_count;
    for (int k = 0; k < st->left_count; k++)
        nodes[count++] = st->left[k];
    for (int k = 0; k < st->size_count; k++)
        nodes[count++] = st->sizes[k];
    nodes[count++] = st->value;
    le_text_add(p->out, "\n# %s\n", st->text);
    for (int k = 0; k < st->free_count; k++)
        add_pending(p, st->free[k]);
    for (int k = 0; k < st->all_count; k++)
        add_pending(p, st->all[k]);
    declare_pending(p, from);
    declare_indices_of(p, nodes, count);
    begin(p, nodes, count);
    print_statement_head(p, st);
    print_bracketed(p, "left", st->left, st->left_count);
    print_bracketed(p, "sizes", st->sizes, st->size_count);
    print_bracketed(p, "value", &st->value, st->value != NULL);
    if (st->free_count) {
        le_text_add(p->out, " free");
        print_indices(p->ir, st->free, st->free_count, p->out);
    }
    if (st->all_count) {
        le_text_add(p->out, " all");
        print_indices(p->ir, st->all, st->all_count, p->out);
    }
    print_place(&st->place, p->out);
    le_text_add(p->out, "\n");
    p->indent = "  ";
    for (int k = 0; k < st->access_count; k++)
        print_access(p, &p->ir->accesses.at[st->first_access + k]);
    p->indent = "";
}

/* ---- stages */

static void print_stage_head(struct printer *p, const struct le_stage *s) {
    static const char *const kinds[] = {
        [LE_STAGE_MAP] = "map", [LE_STAGE_SCATTER] = "scatter", [LE_STAGE_FILL] = "fill"};
    static const char *const scatters[] = {
        [LE_SCATTER_SET] = "",     [LE_SCATTER_ADD] = " add", [LE_SCATTER_SUB] = " sub", [LE_SCATTER_MUL] = " mul",
        [LE_SCATTER_DIV] = " div", [LE_SCATTER_MIN] = " min", [LE_SCATTER_MAX] = " max"};
    le_text_add(p->out, "%s%s %s", kinds[s->kind], scatters[s->scatter], p->ir->values.at[s->target].name);
    if (s->left_count) {
        le_text_add(p->out, "[");
        print_list(p, s->left, s->left_count);
        le_text_add(p->out, "]");
    }
    if (s->index_count)
        print_indices(p->ir, s->indices, s->index_count, p->out);
    if (s->base >= 0)
        le_text_add(p->out, " over %s", p->ir->values.at[s->base].name);
    if (s->access >= 0)
        le_text_add(p->out, " access %d", s->access);
    if (s->leader >= 0)
        le_text_add(p->out, " with %s", p->ir->values.at[p->ir->stages.at[s->leader].target].name);
}

static void print_stage(struct printer *p, const struct le_stage *s, int statement) {
    struct le_node *nodes[LEAT_RANK_MAX + 1];
    int from = p->pending_count;
    if (s->dead) {
        le_text_add(p->out, "dead %s", p->ir->values.at[s->target].name);
    } else {
        for (int k = 0; k < s->left_count; k++)
            nodes[k] = s->left[k];
        nodes[s->left_count] = s->node;
        for (int k = 0; k < s->index_count; k++)
            add_pending(p, s->indices[k]);
        declare_pending(p, from);
        declare_indices_of(p, nodes, s->left_count + 1);
        begin(p, nodes, s->left_count + 1);
        print_stage_head(p, s);
    }
    if (s->statement != statement)
        le_text_add(p->out, " statement %d", s->statement);
    if (!s->dead) {
        le_text_add(p->out, " =\n    ");
        print_operand(p, s->node);
    }
    le_text_add(p->out, "\n");
}

static void print_all(struct printer *p) {
    const struct le_ir *ir = p->ir;
    int done = 0;
    name_shapes(p);
    print_symbols(p);
    print_values(p);
    for (int k = 0; k < ir->notes.count; k++)
        le_text_add(p->out, "note %d %s\n", ir->notes.at[k].line, ir->notes.at[k].text);
    for (int k = 0; k < ir->stages.count && !p->out->failed; k++) {
        for (; done <= ir->stages.at[k].statement; done++)
            print_statement(p, &ir->statements.at[done]);
        print_stage(p, &ir->stages.at[k], done - 1);
    }
    for (; done < ir->statements.count; done++)
        print_statement(p, &ir->statements.at[done]);
}

void le_ir_print(const struct le_ir *ir, struct le_text *out) {
    struct printer p = {.ir = (struct le_ir *)(uintptr_t)ir, .out = out, .indent = ""};
    p.shapes = le_alloc_zero((size_t)ir->tree->symbol_count * LEAT_RANK_MAX + 1, sizeof *p.shapes);
    p.declared = le_alloc_zero((size_t)ir->indices.count + 1, sizeof *p.declared);
    if (p.shapes && p.declared)
        print_all(&p);
    else
        out->failed = true;
    le_free(p.pending);
    le_free(p.declared);
    le_free(p.shapes);
}
