/* The IR as text: a line for each stage, nodes as s-expressions. */
#include "base/text.h"
#include "ir/ir.h"
#include <inttypes.h>

static void print_const(const struct le_node *n, struct le_text *out)
{
    if (n->type == LE_F64) le_text_add_f64(out, le_const_real(n));
    else if (n->type == LE_F32) le_text_add_f32(out, (float)le_const_real(n));
    else if (n->type == LE_BOOL) le_text_add(out, n->bits ? "true" : "false");
    else if (n->type == LE_U64) le_text_add(out, "%" PRIu64, n->bits);
    else le_text_add(out, "%" PRId64, le_const_i64(n));
    le_text_add(out, ":%s", le_type_name(n->type));
}

static void print_range(const struct le_ir *ir, int index, struct le_text *out)
{
    const struct le_range_nodes *r = &ir->indices.at[index].range;
    le_text_add(out, "%s.%d", ir->indices.at[index].name, index);
    if (!r->low) return;
    le_text_add(out, " in ");
    le_node_print(ir, r->low, out);
    le_text_add(out, "..");
    le_node_print(ir, r->high, out);
    if (!r->by) return;
    le_text_add(out, " by ");
    le_node_print(ir, r->by, out);
}

static void print_indices(const struct le_ir *ir, const int *indices, int count, struct le_text *out)
{
    for (int k = 0; k < count; k++) {
        le_text_add(out, k ? ", " : "");
        print_range(ir, indices[k], out);
    }
}

static void print_load(const struct le_ir *ir, const struct le_node *n, struct le_text *out)
{
    le_text_add(out, "%s", ir->values.at[n->value].name);
    if (n->operand_count == 0) return;
    le_text_add(out, "[");
    for (int k = 0; k < n->operand_count; k++) {
        le_text_add(out, k ? ", " : "");
        le_node_print(ir, n->operands[k], out);
    }
    le_text_add(out, "]%s", n->trusted ? "" : "?");
    if (n->edge == LE_EDGE_NONE) return;
    le_text_add(out, " edge %s", le_edge_name(n->edge));
    if (!n->fill) return;
    le_text_add(out, " ");
    le_node_print(ir, n->fill, out);
}

static const char *head(const struct le_node *n)
{
    switch (n->kind) {
    case LE_NODE_OP: return n->code < LE_OPS ? le_op_info((enum le_op)n->code)->name : le_code_name(n->code);
    case LE_NODE_CAST: return le_type_name(n->type);
    case LE_NODE_ROUND: return "round";
    case LE_NODE_SELECT: return "select";
    case LE_NODE_RAND: return le_code_name(n->code);
    case LE_NODE_REDUCE: return le_reduction_name((enum le_reduction)n->code);
    case LE_NODE_COUNT: return "count";
    case LE_NODE_ELSE: return "else";
    default: return "?";
    }
}

void le_node_print(const struct le_ir *ir, const struct le_node *n, struct le_text *out)
{
    switch (n->kind) {
    case LE_NODE_CONST: print_const(n, out); return;
    case LE_NODE_INDEX: le_text_add(out, "%s.%d", ir->indices.at[n->index].name, n->index); return;
    case LE_NODE_LEN: le_text_add(out, "(len %s %d)", ir->tree->symbols[n->symbol]->name, n->axis); return;
    case LE_NODE_LOAD: print_load(ir, n, out); return;
    default: break;
    }
    le_text_add(out, "(%s", head(n));
    if (n->kind == LE_NODE_OP) le_text_add(out, ".%s", le_type_name(n->operands[0]->type));
    if (n->kind == LE_NODE_ROUND) le_text_add(out, ".%s", le_type_name(n->rounded));
    if (n->index_count) {
        le_text_add(out, " {");
        print_indices(ir, n->indices, n->index_count, out);
        le_text_add(out, "}");
    }
    for (int k = 0; k < n->operand_count; k++) {
        le_text_add(out, " ");
        le_node_print(ir, n->operands[k], out);
    }
    le_text_add(out, ")");
}

void le_ir_print(const struct le_ir *ir, struct le_text *out)
{
    static const char *const kinds[] = {"map", "scatter", "fill"};
    for (int k = 0; k < ir->stages.count; k++) {
        const struct le_stage *s = &ir->stages.at[k];
        const struct le_value *v = &ir->values.at[s->target];
        if (s->dead) continue;
        le_text_add(out, "# %s\n%s %s: %s", s->name, kinds[s->kind], v->name, le_type_name(v->type));
        if (s->left_count) {
            le_text_add(out, " [");
            for (int d = 0; d < s->left_count; d++) {
                le_text_add(out, d ? ", " : "");
                le_node_print(ir, s->left[d], out);
            }
            le_text_add(out, "]");
        }
        if (s->base >= 0) le_text_add(out, " over %s", ir->values.at[s->base].name);
        if (s->index_count) {
            le_text_add(out, " {");
            print_indices(ir, s->indices, s->index_count, out);
            le_text_add(out, "}");
        }
        le_text_add(out, " =\n    ");
        le_node_print(ir, s->node, out);
        le_text_add(out, "\n");
    }
}
