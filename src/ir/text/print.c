/* Prints the IR as text, for people and for tests; tests/ir/reader reads it back.
 *
 * Each line describes one thing: a symbol, a value, an index with its range, a statement, one of its accesses, or a
 * stage. Nodes are s-expressions. A node that is used twice in a line, or would make it too deep, is printed on a line
 * before it as `%n = ...`. Numbers and operations without a type are i64. A control stage encloses the lines that are
 * indented below it, up to its `end`. A dead stage is printed by name only. Only one thread at a time may print an IR,
 * because printing writes the nodes' marks. */
#include "base/hash.h"
#include "base/memory.h"
#include "ir/text/printer.h"
#include <string.h>

/* ---- symbols and values */

/* An extent is named as in its declaration, or after the index that defined it. */
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

/* Symbols of different blocks may share a name: all but the first are printed with their number. */
static void find_namesakes(struct printer *p) {
    const struct le_tree *tree = p->ir->tree;
    size_t size = 16;
    while (size < 2 * (size_t)tree->symbol_count)
        size *= 2;
    int *table = le_alloc_zero(size, sizeof *table);
    p->out->failed |= !table;
    for (int k = 0; table && k < tree->symbol_count; k++) {
        const char *name = tree->symbols[k]->name ? tree->symbols[k]->name : "";
        size_t at = le_hash(name, strlen(name), 0) & (size - 1);
        while (table[at] && strcmp(tree->symbols[table[at] - 1]->name, name) != 0)
            at = (at + 1) & (size - 1);
        p->namesakes[k] = !*name || table[at];
        if (*name && !table[at])
            table[at] = k + 1;
    }
    le_free(table);
}

static void print_symbols(struct printer *p) {
    for (int k = 0; k < p->ir->tree->symbol_count; k++) {
        const struct le_symbol *s = p->ir->tree->symbols[k];
        const struct le_node *size = p->ir->fixed[k];
        le_text_add(p->out, "symbol ");
        le_print_symbol(p, k);
        print_type(p, s->type, k, s->is_array ? s->rank : 0, s->is_array);
        if (size && size->kind == LE_NODE_LEN) {
            le_text_add(p->out, " = ");
            le_print_node(p, size);
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
            le_print_symbol(p, v->symbol);
        }
        le_text_add(p->out, "%s%s", v->wanted ? " wanted" : "", v->moved ? " moved" : "");
        if (v->uses)
            le_text_add(p->out, " used %d", v->uses);
        le_text_add(p->out, "\n");
    }
}

/* ---- statements */

static void print_access(struct printer *p, const struct le_ir_access *a) {
    le_print_declare(p, a->around, a->around_count);
    le_print_declare_of(p, a->subscripts, a->rank);
    le_print_begin(p, a->subscripts, a->rank);
    le_text_add(p->out, a->left ? "write " : "read ");
    le_print_symbol(p, a->symbol);
    le_text_add(p->out, "[");
    le_print_list(p, a->subscripts, a->rank);
    const char *guarded = a->under_condition ? " conditional" : a->guarded ? " guarded" : "";
    le_text_add(p->out, "]%s%s", guarded, a->has_edge ? " edge" : "");
    if (a->stretch)
        le_text_add(p->out, " stretch %d", a->stretch);
    if (a->around_count) {
        le_text_add(p->out, " around");
        le_print_indices(p->ir, a->around, a->around_count, p->out);
    }
    le_print_location(&a->location, p->out);
    le_text_add(p->out, "\n");
}

static void print_statement_head(struct printer *p, const struct le_ir_statement *st) {
    static const char *const kinds[] = {
        [LE_STEP_DEFAULT] = "default", [LE_STEP_BIND] = "bind",     [LE_STEP_AGREE] = "agree", [LE_STEP_NEW] = "new",
        [LE_STEP_FILL] = "fill",       [LE_STEP_ASSIGN] = "assign", [LE_STEP_EACH] = "each",   [LE_STEP_FOR] = "for",
        [LE_STEP_WHILE] = "while",     [LE_STEP_IF] = "if"};
    le_text_add(p->out, "statement %s", kinds[st->kind]);
    if (st->symbol >= 0) {
        le_text_add(p->out, " ");
        le_print_symbol(p, st->symbol);
    }
    if (st->array >= 0) {
        le_text_add(p->out, " array ");
        le_print_symbol(p, st->array);
        le_text_add(p->out, " axis %d", st->axis);
    }
    le_text_add(p->out, "%s%s%s%s", st->is_new ? " makes" : "", st->has_else ? " else" : "",
                st->conditional ? " conditional" : "", st->unchecked ? " unchecked" : "");
}

static void print_bracketed(struct printer *p, const char *word, struct le_node *const *nodes, int count) {
    if (count == 0)
        return;
    le_text_add(p->out, " %s [", word);
    le_print_list(p, nodes, count);
    le_text_add(p->out, "]");
}

static void print_statement(struct printer *p, const struct le_ir_statement *st) {
    struct le_node *nodes[2 * LEAT_RANK_MAX + 1];
    int count = 0;
    for (int k = 0; k < st->left_count; k++)
        nodes[count++] = st->left[k];
    for (int k = 0; k < st->size_count; k++)
        nodes[count++] = st->sizes[k];
    nodes[count++] = st->value;
    le_text_add(p->out, "\n");
    le_print_indent(p);
    le_text_add(p->out, "# %s\n", st->text);
    le_print_declare(p, st->free, st->free_count);
    le_print_declare(p, st->all, st->all_count);
    le_print_declare_of(p, nodes, count);
    le_print_begin(p, nodes, count);
    print_statement_head(p, st);
    print_bracketed(p, "left", st->left, st->left_count);
    print_bracketed(p, "sizes", st->sizes, st->size_count);
    print_bracketed(p, "value", &st->value, st->value != NULL);
    if (st->free_count) {
        le_text_add(p->out, " free");
        le_print_indices(p->ir, st->free, st->free_count, p->out);
    }
    if (st->all_count) {
        le_text_add(p->out, " all");
        le_print_indices(p->ir, st->all, st->all_count, p->out);
    }
    if (st->loop >= 0) {
        le_text_add(p->out, " within");
        le_print_indices(p->ir, &st->loop, 1, p->out);
    }
    le_print_location(&st->location, p->out);
    le_text_add(p->out, "\n");
    p->depth++;
    for (int k = 0; k < st->access_count; k++)
        print_access(p, &p->ir->accesses.at[st->first_access + k]);
    p->depth--;
}

/* ---- stages */

static void print_points(struct printer *p, const struct le_stage *s) {
    if (s->left_count) {
        le_text_add(p->out, "[");
        le_print_list(p, s->left, s->left_count);
        le_text_add(p->out, "]");
    }
    if (s->index_count)
        le_print_indices(p->ir, s->indices, s->index_count, p->out);
}

/* u.4 over u.2, v.5 over v.3; or with another word in between. */
static void print_pairs(struct printer *p, const struct le_stage *s, const char *between) {
    for (int k = 0; k < s->pair_count; k++)
        le_text_add(p->out, "%s%s %s %s", k ? ", " : " ", p->ir->values.at[s->pairs[k].target].name, between,
                    p->ir->values.at[s->pairs[k].source].name);
}

static void print_each(struct printer *p, const struct le_stage *s) {
    le_text_add(p->out, "each");
    if (s->index_count)
        le_print_indices(p->ir, s->indices, s->index_count, p->out);
    print_pairs(p, s, "over");
}

static void print_element_head(struct printer *p, const struct le_stage *s) {
    static const char *const kinds[] = {[LE_STAGE_MAP] = "map",
                                        [LE_STAGE_SCATTER] = "scatter",
                                        [LE_STAGE_FILL] = "fill",
                                        [LE_STAGE_SCAN] = "scan",
                                        [LE_STAGE_CONTRACT] = "contract"};
    static const char *const scatters[] = {
        [LE_SCATTER_SET] = "",     [LE_SCATTER_ADD] = " add", [LE_SCATTER_SUB] = " sub", [LE_SCATTER_MUL] = " mul",
        [LE_SCATTER_DIV] = " div", [LE_SCATTER_MIN] = " min", [LE_SCATTER_MAX] = " max"};
    le_text_add(p->out, "%s%s %s", kinds[s->kind], scatters[s->scatter], p->ir->values.at[s->target].name);
    print_points(p, s);
    if (s->base >= 0)
        le_text_add(p->out, " over %s", p->ir->values.at[s->base].name);
    if (s->access >= 0)
        le_text_add(p->out, " access %d", s->access);
    le_text_add(p->out, s->guarded ? " guarded" : "");
    if (s->leader >= 0)
        le_text_add(p->out, " with %s", p->ir->values.at[p->ir->stages.at[s->leader].target].name);
}

/* Control stages, and MOVE. */
static bool is_control(enum le_stage_kind kind) {
    return kind >= LE_STAGE_MOVE;
}

static void print_control_head(struct printer *p, const struct le_stage *s) {
    static const char *const words[] = {
        [LE_STAGE_MOVE] = "move", [LE_STAGE_FOR] = "for ",  [LE_STAGE_LOOP] = "loop",   [LE_STAGE_TEST] = "test ",
        [LE_STAGE_IF] = "if ",    [LE_STAGE_ELSE] = "else", [LE_STAGE_BREAK] = "break", [LE_STAGE_END] = "end"};
    le_text_add(p->out, "%s", words[s->kind]);
    if (s->kind == LE_STAGE_MOVE)
        print_pairs(p, s, "<-");
    if (s->kind == LE_STAGE_FOR)
        le_print_index(p->ir, s->index, p->out);
    if (s->node)
        le_print_operand(p, s->node);
}

static void print_dead(struct printer *p, const struct le_stage *s) {
    le_print_indent(p);
    le_text_add(p->out, "dead %s", p->ir->values.at[s->target].name);
    for (int k = 1; k < s->pair_count; k++)
        le_text_add(p->out, ", %s", p->ir->values.at[s->pairs[k].target].name);
}

static void print_live(struct printer *p, const struct le_stage *s) {
    struct le_node *nodes[LEAT_RANK_MAX + 2];
    int count = 0;
    for (int k = 0; k < s->left_count; k++)
        nodes[count++] = s->left[k];
    nodes[count++] = s->node;
    if (s->product && s->product != s->node)
        nodes[count++] = s->product;
    le_print_declare(p, s->indices, s->index_count);
    le_print_declare(p, &s->index, s->kind == LE_STAGE_FOR);
    le_print_declare_of(p, nodes, count);
    le_print_begin(p, nodes, count);
    le_text_add(p->out, s->dead ? "dead " : "");
    if (is_control(s->kind))
        print_control_head(p, s);
    else if (s->kind == LE_STAGE_EACH)
        print_each(p, s);
    else
        print_element_head(p, s);
}

static bool opens_block(const struct le_stage *s) {
    return s->kind == LE_STAGE_FOR || s->kind == LE_STAGE_LOOP || s->kind == LE_STAGE_IF || s->kind == LE_STAGE_ELSE;
}

static void print_stage(struct printer *p, const struct le_stage *s, int statement) {
    bool has_node = !is_control(s->kind) && !s->dead;
    if (s->kind == LE_STAGE_ELSE || s->kind == LE_STAGE_END)
        p->depth--;
    if (is_control(s->kind) || !s->dead)
        print_live(p, s);
    else
        print_dead(p, s);
    if (s->statement != statement)
        le_text_add(p->out, " statement %d", s->statement);
    if (has_node) {
        le_text_add(p->out, " =\n");
        le_print_indent(p);
        le_text_add(p->out, "    ");
        le_print_operand(p, s->node);
    }
    if (has_node && s->product && s->product != s->node) {
        le_text_add(p->out, " as\n");
        le_print_indent(p);
        le_text_add(p->out, "    ");
        le_print_operand(p, s->product);
    }
    le_text_add(p->out, "\n");
    if (opens_block(s))
        p->depth++;
}

static void print_all(struct printer *p) {
    const struct le_ir *ir = p->ir;
    int done = 0;
    name_shapes(p);
    find_namesakes(p);
    print_symbols(p);
    print_values(p);
    for (int k = 0; k < ir->locals.count; k++) {
        le_text_add(p->out, "local ");
        le_print_local(ir, k, p->out);
        le_text_add(p->out, ": %s\n", le_type_name(ir->locals.at[k].type));
    }
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
    struct printer p = {.ir = ir, .out = out};
    p.shapes = le_alloc_zero((size_t)ir->tree->symbol_count * LEAT_RANK_MAX + 1, sizeof *p.shapes);
    p.declared = le_alloc_zero((size_t)ir->indices.count + 1, sizeof *p.declared);
    p.namesakes = le_alloc_zero((size_t)ir->tree->symbol_count + 1, sizeof *p.namesakes);
    if (p.shapes && p.declared && p.namesakes)
        print_all(&p);
    else
        out->failed = true;
    le_free(p.namesakes);
    le_free(p.pending);
    le_free(p.declared);
    le_free(p.shapes);
}
