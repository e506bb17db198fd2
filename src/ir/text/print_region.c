/* Prints regions: one line per step, indented below the region's number, up to its `end`.
 *
 *   %1 = region.f64
 *     $s.0 = 0:f64  # s = 0.0
 *     for j.3  # for j in 0..n
 *       $s.0 = (+.f64 $s.0 a[i.0, j.3])
 *       store add 0[i.0, j.3] own access 4 = $s.0
 *     end
 *     return $s.0
 *   end */
#include "ir/text/printer.h"

static void print_store(struct printer *p, const struct le_node *n, const struct le_region_step *s) {
    static const char *const scatters[] = {
        [LE_SCATTER_SET] = "",     [LE_SCATTER_ADD] = " add", [LE_SCATTER_SUB] = " sub", [LE_SCATTER_MUL] = " mul",
        [LE_SCATTER_DIV] = " div", [LE_SCATTER_MIN] = " min", [LE_SCATTER_MAX] = " max"};
    le_text_add(p->out, "store%s %d[", scatters[s->scatter], s->target);
    le_print_list(p, n->operands + s->first_subscript, s->subscript_count);
    le_text_add(p->out, s->own ? "] own" : "]");
    if (s->access >= 0)
        le_text_add(p->out, " access %d", s->access);
    le_text_add(p->out, " = ");
    le_print_operand(p, n->operands[s->value]);
}

static void print_step(struct printer *p, const struct le_node *n, const struct le_region_step *s) {
    switch (s->kind) {
    case LE_REGION_SET:
        le_print_local(p->ir, s->local, p->out);
        le_text_add(p->out, " = ");
        le_print_operand(p, n->operands[s->value]);
        return;
    case LE_REGION_STORE:
        print_store(p, n, s);
        return;
    case LE_REGION_FOR:
        le_text_add(p->out, "for ");
        le_print_index(p->ir, n->indices[s->index], p->out);
        return;
    case LE_REGION_WHILE:
    case LE_REGION_IF:
    case LE_REGION_RETURN:
        le_text_add(p->out, s->kind == LE_REGION_WHILE ? "while " : s->kind == LE_REGION_IF ? "if " : "return ");
        le_print_operand(p, n->operands[s->value]);
        if (s->second) {
            le_text_add(p->out, ", ");
            le_print_operand(p, n->operands[s->second]);
        }
        return;
    case LE_REGION_ELSE:
        le_text_add(p->out, "else");
        return;
    case LE_REGION_BREAK:
        le_text_add(p->out, "break");
        return;
    case LE_REGION_FAIL:
        le_text_add(p->out, "fail %d:%d", s->location.line, s->location.column);
        return;
    case LE_REGION_END:
        le_text_add(p->out, "end");
    }
}

void le_print_region(struct printer *p, const struct le_node *n) {
    int depth = p->depth++;
    le_text_add(p->out, n->type == LE_NONE ? "region\n" : "region.%s\n", le_type_name(n->type));
    for (int k = 0; k < n->region->step_count; k++) {
        const struct le_region_step *s = &n->region->steps[k];
        p->depth -= s->kind == LE_REGION_END || s->kind == LE_REGION_ELSE;
        le_print_indent(p);
        print_step(p, n, s);
        if (s->text && *s->text)
            le_text_add(p->out, "  # %s", s->text);
        le_text_add(p->out, "\n");
        p->depth += s->kind == LE_REGION_FOR || s->kind == LE_REGION_WHILE || s->kind == LE_REGION_IF ||
                    s->kind == LE_REGION_ELSE;
    }
    p->depth = depth;
    le_print_indent(p);
    le_text_add(p->out, "end");
}
