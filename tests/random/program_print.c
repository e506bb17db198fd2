/* Prints trees as text. Every operation is in parentheses, except the outermost. */
#include "program_print.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void add_text(struct text *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text->bytes + text->length, sizeof text->bytes - text->length, format, arguments);
    va_end(arguments);
    text->length += (size_t)length;
    if (text->length >= sizeof text->bytes)
        exit(TOO_LARGE);
}

/* ---- expressions */

static void print(struct text *text, const struct expression *e, bool is_inner);

static void print_list(struct text *text, struct expression *const *list, int count) {
    for (int k = 0; k < count; k++) {
        add_text(text, k ? ", " : "");
        print(text, list[k], false);
    }
}

static void print_range(struct text *text, const struct index *index) {
    if (!index->low)
        return;
    add_text(text, " in ");
    print(text, index->low, true);
    add_text(text, "..");
    print(text, index->high, true);
    if (index->by != 1)
        add_text(text, index->by < 0 ? " by (%d)" : " by %d", index->by);
}

static void print_reduction(struct text *text, const struct expression *e) {
    static const char *const names[] = {"sum", "prod", "min", "max", "any", "all", "mean", "argmin", "argmax"};
    add_text(text, "%s(", names[e->op]);
    for (int k = 0; k < e->binder_count; k++) {
        add_text(text, "%s%s", k ? ", " : "", e->binders[k]->name);
        print_range(text, e->binders[k]);
    }
    add_text(text, ": ");
    print(text, e->x[0], false);
    add_text(text, ")");
}

static void print_operation(struct text *text, const struct expression *e) {
    static const char *const unary[] = {"-", "!", "~"};
    static const char *const binary[] = {"+",  "-",  "*", "/",  "//", "%",  "&",  "|", "^",
                                         "&&", "||", "<", "<=", ">",  ">=", "==", "!="};
    if (e->kind == UNARY) {
        add_text(text, "%s", unary[e->op]);
        print(text, e->x[0], true);
    } else if (e->kind == BINARY) {
        print(text, e->x[0], true);
        add_text(text, " %s ", binary[e->op]);
        print(text, e->x[1], true);
    } else {
        print(text, e->x[0], true);
        add_text(text, " ? ");
        print(text, e->x[1], true);
        add_text(text, " : ");
        print(text, e->x[2], true);
    }
}

static void print_number(struct text *text, const struct expression *e) {
    add_text(text, e->is_real ? "%.1f" : "%.0f", e->number);
}

static void print_call(struct text *text, const char *name, struct expression *const *list, int count) {
    add_text(text, "%s(", name);
    print_list(text, list, count);
    add_text(text, ")");
}

static void print(struct text *text, const struct expression *e, bool is_inner) {
    static const char *const functions[] = {"min", "max", "clamp", "abs", "sign", "floor"};
    bool is_operation = e->kind == UNARY || e->kind == BINARY || e->kind == CHOICE;
    if (e->called) {
        print_call(text, e->called->name, e->kind == CALL ? e->x : e->arguments, e->called->parameter_count);
    } else if (is_operation) {
        add_text(text, is_inner ? "(" : "");
        print_operation(text, e);
        add_text(text, is_inner ? ")" : "");
    } else if (e->kind == NUMBER) {
        print_number(text, e);
    } else if (e->kind == INDEX) {
        add_text(text, "%s", e->index->name);
    } else if (e->kind == SCALAR) {
        add_text(text, "%s", e->symbol->name);
    } else if (e->kind == READ) {
        add_text(text, "%s[", e->symbol->name);
        print_list(text, e->x, e->count);
        add_text(text, "]");
    } else if (e->kind == LENGTH) {
        add_text(text, "len(%s,%d)", e->symbol->name, e->op);
    } else if (e->kind == REDUCTION) {
        print_reduction(text, e);
    } else {
        print_call(text, e->kind == CAST ? leat_dtype_name((leat_dtype)e->op) : functions[e->op], e->x, e->count);
    }
}

/* ---- statements */

static void print_body(struct text *text, const struct statement *st, int indent);

static void print_block(struct text *text, const struct statement *st, int indent) {
    add_text(text, " {\n");
    print_body(text, st, indent + 1);
    add_text(text, "%*s}", 4 * indent, "");
}

static void print_ranges(struct text *text, const struct statement *st) {
    const char *word = " where ";
    for (int k = 0; k < st->index_count; k++) {
        if (!st->indices[k]->low)
            continue;
        add_text(text, "%s%s", word, st->indices[k]->name);
        print_range(text, st->indices[k]);
        word = ", ";
    }
}

static void print_assignment(struct text *text, const struct statement *st) {
    static const char *const updates[] = {"=", "+=", "-=", "*=", "min=", "max="};
    add_text(text, "%s", st->symbol->name);
    if (st->symbol->is_array) {
        add_text(text, "[");
        print_list(text, st->x, st->count);
        add_text(text, "]");
    }
    add_text(text, " %s ", updates[st->update]);
    print(text, st->value, false);
    if (st->otherwise) {
        add_text(text, " else ");
        print(text, st->otherwise, true);
    }
    print_ranges(text, st);
}

static void print_declaration(struct text *text, const struct statement *st) {
    add_text(text, "%s %s", st->is_out ? "out" : "var", st->symbol->name);
    if (st->symbol->dtype)
        add_text(text, ": %s", leat_dtype_name((leat_dtype)st->symbol->dtype));
    if (st->symbol->is_array) {
        add_text(text, "[");
        print_list(text, st->x, st->count);
        add_text(text, "]");
    }
    if (st->value) {
        add_text(text, " = ");
        print(text, st->value, false);
    }
}

static void print_edge(struct text *text, const struct statement *st) {
    static const char *const modes[] = {"none", "clamp", "wrap", "mirror", "symmetric", "fill"};
    add_text(text, "edge %s %s", st->symbol->name, modes[st->mode]);
    if (st->mode == EDGE_FILL) {
        add_text(text, "(");
        print(text, st->value, false);
        add_text(text, ")");
    }
}

static void print_each(struct text *text, const struct statement *st, int indent) {
    add_text(text, "each ");
    for (int k = 0; k < st->index_count; k++) {
        add_text(text, "%s%s", k ? ", " : "", st->indices[k]->name);
        print_range(text, st->indices[k]);
    }
    print_block(text, st->body, indent);
}

static void print_control(struct text *text, const struct statement *st, int indent) {
    if (st->kind == FOR) {
        add_text(text, "for %s", st->indices[0]->name);
        print_range(text, st->indices[0]);
    } else {
        add_text(text, st->kind == IF ? "if " : "while ");
        print(text, st->value, false);
    }
    print_block(text, st->body, indent);
    if (st->other) {
        add_text(text, " else");
        print_block(text, st->other, indent);
    }
}

static void print_statement(struct text *text, const struct statement *st, int indent) {
    add_text(text, "%*s", 4 * indent, "");
    if (st->kind == ASSIGN) {
        print_assignment(text, st);
    } else if (st->kind == DECLARE) {
        print_declaration(text, st);
    } else if (st->kind == EDGE) {
        print_edge(text, st);
    } else if (st->kind == EACH) {
        print_each(text, st, indent);
    } else if (st->kind == BREAK) {
        add_text(text, "break");
    } else if (st->kind == RETURN) {
        add_text(text, "return ");
        print(text, st->value, false);
    } else {
        print_control(text, st, indent);
    }
    add_text(text, "\n");
}

static void print_body(struct text *text, const struct statement *st, int indent) {
    for (; st; st = st->next)
        print_statement(text, st, indent);
}

/* ---- programs */

static const struct symbol *size_of_axis(const struct source *source, const struct symbol *input, int axis) {
    for (int k = 0; k < source->symbol_count; k++)
        if (source->symbols[k]->size_of == input && source->symbols[k]->axis == axis && source->symbols[k]->is_used)
            return source->symbols[k];
    return NULL;
}

static bool has_sizes(const struct source *source, const struct symbol *input) {
    for (int d = 0; d < input->rank; d++)
        if (size_of_axis(source, input, d))
            return true;
    return false;
}

static void print_input(struct text *text, const struct source *source, const struct symbol *input) {
    add_text(text, "in %s", input->name);
    if (input->has_written_type)
        add_text(text, ": %s", leat_dtype_name((leat_dtype)input->dtype));
    if (input->is_array && (input->has_written_type || has_sizes(source, input))) {
        for (int d = 0; d < input->rank; d++) {
            const struct symbol *size = size_of_axis(source, input, d);
            add_text(text, d ? ", " : "[");
            if (size)
                add_text(text, "%s", size->name);
            else
                add_text(text, "%lld", (long long)input->shape[d]);
        }
        add_text(text, "]");
    }
    add_text(text, "\n");
}

static void print_definition(struct text *text, const struct definition *def) {
    add_text(text, "def %s(", def->name);
    for (int k = 0; k < def->parameter_count; k++)
        add_text(text, "%s%s", k ? ", " : "", def->parameters[k]->name);
    add_text(text, ")");
    if (def->is_block) {
        print_block(text, def->body, 0);
    } else {
        add_text(text, " = ");
        print(text, def->value, false);
    }
    add_text(text, "\n");
}

void print_program(struct text *text, const struct source *source) {
    text->length = 0;
    for (int k = 0; k < source->symbol_count; k++)
        if (source->symbols[k]->is_input && source->symbols[k]->is_used)
            print_input(text, source, source->symbols[k]);
    for (int k = 0; k < source->def_count; k++)
        if (source->defs[k])
            print_definition(text, source->defs[k]);
    print_body(text, source->body, 0);
}
