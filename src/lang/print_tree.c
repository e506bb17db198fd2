/* Prints a tree as text, one line per step, for people and tests. It is not read back. Steps are printed as they will
 * run: `...` is expanded, defs are inlined, and each operation is in parentheses. An assignment shows the type of its
 * value once it is known. */
#include "base/text.h"
#include "lang/tree.h"

#define INDENT_MAX 40 /* blocks */

static void print_node(struct le_text *out, const struct le_tree_node *node);
static void print_step(struct le_text *out, const struct le_step *step);

static void print_list(struct le_text *out, struct le_tree_node *const *nodes, int first, int count) {
    for (int k = first; k < count; k++) {
        le_text_add(out, k > first ? ", " : "");
        print_node(out, nodes[k]);
    }
}

static void print_name(struct le_text *out, const struct le_symbol *symbol) {
    if (symbol->name[0])
        le_text_add(out, "%s", symbol->name);
    else
        le_text_add(out, "fill%d", symbol->id);
}

static void print_range(struct le_text *out, const struct le_index *index) {
    le_text_add(out, "%s", index->name);
    if (!index->has_range)
        return;
    le_text_add(out, " in ");
    print_node(out, index->low);
    le_text_add(out, "..");
    print_node(out, index->high);
    if (index->by) {
        le_text_add(out, " by ");
        print_node(out, index->by);
    }
}

static void print_ranges(struct le_text *out, struct le_index *const *indices, int count) {
    for (int k = 0; k < count; k++) {
        le_text_add(out, k ? ", " : "");
        print_range(out, indices[k]);
    }
}

static void print_const(struct le_text *out, const struct le_tree_node *node) {
    if (node->type == LE_BOOL)
        le_text_add(out, node->integer ? "true" : "false");
    else if (node->type == LE_WEAK_INT && node->is_u64)
        le_text_add(out, "%llu", (unsigned long long)node->integer);
    else if (node->type == LE_WEAK_INT)
        le_text_add(out, "%lld", (long long)node->integer);
    else {
        le_text_add_f64(out, node->real);
        le_text_add(out, node->type == LE_WEAK_COMPLEX ? "j" : "");
    }
}

static void print_read(struct le_text *out, const struct le_tree_node *node) {
    print_name(out, node->symbol);
    le_text_add(out, "[%s%s", node->dots ? "..." : "", node->dots && node->child_count ? ", " : "");
    print_list(out, node->children, 0, node->child_count);
    le_text_add(out, "]");
    if (node->edge == LE_EDGE_NONE)
        return;
    le_text_add(out, ":%s", le_edge_name(node->edge));
    if (node->fill) {
        le_text_add(out, "(");
        print_name(out, node->fill);
        le_text_add(out, ")");
    }
}

static void print_operation(struct le_text *out, const struct le_tree_node *node) {
    const struct le_op_properties *info = le_op_info((enum le_op)node->op);
    bool word = info->name[0] >= 'a' && info->name[0] <= 'z';
    if (word || info->arity == 1) {
        le_text_add(out, "%s(", info->name);
        print_list(out, node->children, 0, node->child_count);
    } else {
        le_text_add(out, "(");
        print_node(out, node->children[0]);
        le_text_add(out, " %s ", info->name);
        print_node(out, node->children[1]);
    }
    le_text_add(out, ")");
}

static void print_reduction(struct le_text *out, const struct le_tree_node *node) {
    le_text_add(out, "%s(%s%s", le_reduction_name((enum le_reduction)node->op), node->dots ? "..." : "",
                node->dots && node->index_count ? ", " : "");
    print_ranges(out, node->indices, node->index_count);
    le_text_add(out, ": ");
    print_node(out, node->children[0]);
    le_text_add(out, ")");
}

static void print_select(struct le_text *out, const struct le_tree_node *node) {
    le_text_add(out, "(");
    print_node(out, node->children[0]);
    le_text_add(out, " ? ");
    print_node(out, node->children[1]);
    le_text_add(out, " : ");
    print_node(out, node->children[2]);
    le_text_add(out, ")");
}

static void print_call(struct le_text *out, const char *name, const struct le_tree_node *node) {
    le_text_add(out, "%s(", name);
    if (node->kind == LE_TREE_LEN) {
        print_name(out, node->symbol);
        le_text_add(out, ", ");
    }
    print_list(out, node->children, 0, node->child_count);
    le_text_add(out, ")");
}

/* Prints a def's block in one line. */
static void print_block(struct le_text *out, const struct le_tree_node *node) {
    le_text_add(out, "{");
    for (int k = 0; k < node->step_count; k++) {
        le_text_add(out, k ? "; " : "");
        print_step(out, &node->steps[k]);
    }
    le_text_add(out, "}");
}

static void print_node(struct le_text *out, const struct le_tree_node *node) {
    switch (node->kind) {
    case LE_TREE_CONST:
        print_const(out, node);
        break;
    case LE_TREE_INDEX:
        le_text_add(out, "%s", node->index->name);
        break;
    case LE_TREE_SCALAR:
        print_name(out, node->symbol);
        break;
    case LE_TREE_READ:
        print_read(out, node);
        break;
    case LE_TREE_LEN:
        print_call(out, "len", node);
        break;
    case LE_TREE_OP:
        print_operation(out, node);
        break;
    case LE_TREE_SELECT:
        print_select(out, node);
        break;
    case LE_TREE_CAST:
        print_call(out, le_type_name(node->type), node);
        break;
    case LE_TREE_PART:
        print_call(out, le_part_name((enum le_part)node->op), node);
        break;
    case LE_TREE_RAND:
        print_call(out, node->op ? "randn" : "rand", node);
        break;
    case LE_TREE_REDUCE:
        print_reduction(out, node);
        break;
    case LE_TREE_CALL:
        print_block(out, node);
        break;
    }
}

/* ---- symbols and steps */

static void print_symbol(struct le_text *out, const struct le_symbol *symbol) {
    le_text_add(out, symbol->is_input     ? "input  "
                     : symbol->marked_out ? "result "
                     : symbol->local      ? "own    "
                     : symbol->in_block   ? "block  "
                                          : "value  ");
    print_name(out, symbol);
    if (symbol->any_kind)
        le_text_add(out, "  array or scalar");
    else if (!symbol->is_array)
        le_text_add(out, "  scalar");
    else
        le_text_add(out, "  array, rank %d%s", symbol->rank, symbol->any_rank ? " or more" : "");
    enum le_type type = symbol->type != LE_NONE ? symbol->type : symbol->declared;
    if (type != LE_NONE)
        le_text_add(out, ", %s%s", le_type_is_weak(type) ? "weak " : "", le_type_name(type));
    le_text_add(out, "%s%s%s%s\n", symbol->optional ? ", optional" : "",
                symbol->assigned && symbol->is_input ? ", assigned" : "",
                symbol->marked_out && symbol->is_input ? ", result" : "", symbol->read ? "" : ", never read");
}

static void print_new(struct le_text *out, const struct le_step *step) {
    le_text_add(out, "new ");
    print_name(out, step->symbol);
    if (step->symbol->is_array) {
        le_text_add(out, "[");
        print_list(out, step->sizes, 0, step->size_count);
        le_text_add(out, "]");
    }
    if (step->value) {
        le_text_add(out, " = ");
        print_node(out, step->value);
    }
}

static void print_assignment(struct le_text *out, const struct le_step *step) {
    static const char *const signs[] = {"=", "+=", "-=", "*=", "/=", "min=", "max="};
    le_text_add(out, step->is_new ? "make " : "");
    if (step->left)
        print_read(out, step->left);
    else
        print_name(out, step->symbol);
    le_text_add(out, " %s ", signs[step->op]);
    print_node(out, step->value);
    if (step->otherwise) {
        le_text_add(out, " else ");
        print_node(out, step->otherwise);
    }
    if (step->free_count > 0) {
        le_text_add(out, " for ");
        print_ranges(out, step->free, step->free_count);
    }
}

static void print_extent(struct le_text *out, const struct le_step *step) {
    le_text_add(out, "len(%s, %d)", step->array->name, step->axis);
}

static void print_value(struct le_text *out, const char *word, const struct le_step *step) {
    le_text_add(out, "%s ", word);
    print_node(out, step->value);
}

static void print_step(struct le_text *out, const struct le_step *step) {
    switch (step->kind) {
    case LE_STEP_DEFAULT:
    case LE_STEP_FILL:
        le_text_add(out, step->kind == LE_STEP_DEFAULT ? "default " : "fill ");
        print_name(out, step->symbol);
        print_value(out, " =", step);
        break;
    case LE_STEP_BIND:
        le_text_add(out, "bind %s = ", step->symbol->name);
        print_extent(out, step);
        break;
    case LE_STEP_AGREE:
        le_text_add(out, "agree ");
        print_extent(out, step);
        print_value(out, " ==", step);
        break;
    case LE_STEP_NEW:
        print_new(out, step);
        break;
    case LE_STEP_ASSIGN:
        print_assignment(out, step);
        break;
    case LE_STEP_EACH:
        le_text_add(out, "each %s%s", step->dots ? "..." : "", step->dots && step->free_count ? ", " : "");
        print_ranges(out, step->free, step->free_count);
        break;
    case LE_STEP_FOR:
        le_text_add(out, "for ");
        print_range(out, step->index);
        break;
    case LE_STEP_WHILE:
        print_value(out, "while", step);
        break;
    case LE_STEP_IF:
        print_value(out, "if", step);
        break;
    case LE_STEP_ELSE:
        le_text_add(out, "else");
        break;
    case LE_STEP_BREAK:
        le_text_add(out, "break");
        break;
    case LE_STEP_RETURN:
        print_value(out, "return", step);
        break;
    case LE_STEP_FAIL:
        le_text_add(out, "fail");
        break;
    case LE_STEP_END:
        le_text_add(out, "end");
        break;
    }
}

static bool opens_block(enum le_step_kind kind) {
    return kind == LE_STEP_EACH || kind == LE_STEP_FOR || kind == LE_STEP_WHILE || kind == LE_STEP_IF;
}

static void print_steps(struct le_text *out, const struct le_tree *tree) {
    int depth = 0;
    for (int k = 0; k < tree->step_count; k++) {
        enum le_step_kind kind = tree->steps[k].kind;
        bool back = kind == LE_STEP_END || kind == LE_STEP_ELSE;
        depth -= back;
        le_text_add(out, "%*s", 2 * (depth < INDENT_MAX ? depth : INDENT_MAX), "");
        print_step(out, &tree->steps[k]);
        if (tree->steps[k].term != LE_NONE)
            le_text_add(out, "  # %s", le_type_name(tree->steps[k].term));
        le_text_add(out, "\n");
        depth += opens_block(kind) || kind == LE_STEP_ELSE;
    }
}

void le_tree_print(const struct le_tree *tree, struct le_text *out) {
    for (int k = 0; k < tree->symbol_count; k++)
        print_symbol(out, tree->symbols[k]);
    print_steps(out, tree);
}
