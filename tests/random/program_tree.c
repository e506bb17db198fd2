/* Making and copying trees of programs. */
#include "program_tree.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *tree_new(struct source *source, size_t size_bytes) {
    size_t at = (source->used_bytes + 15) & ~(size_t)15;
    if (at + size_bytes > TREE_BYTES)
        exit(TOO_LARGE);
    source->used_bytes = at + size_bytes;
    return memset(source->memory + at, 0, size_bytes);
}

bool is_real_type(int type) {
    return type == LEAT_F32 || type == LEAT_F64 || type == WEAK_REAL;
}

/* ---- expressions */

struct expression *new_expression(struct source *source, enum expression_kind kind, int op) {
    struct expression *e = tree_new(source, sizeof *e);
    e->kind = kind;
    e->op = op;
    return e;
}

static struct expression *with_operands(struct expression *e, struct expression *a, struct expression *b,
                                        struct expression *c) {
    e->x[0] = a;
    e->x[1] = b;
    e->x[2] = c;
    e->count = c ? 3 : b ? 2 : 1;
    return e;
}

struct expression *new_number(struct source *source, int64_t number) {
    struct expression *e = new_expression(source, NUMBER, 0);
    e->number = (double)(number < 0 ? -number : number);
    return number < 0 ? new_unary(source, NEGATE, e) : e;
}

struct expression *new_of_index(struct source *source, struct index *index) {
    struct expression *e = new_expression(source, INDEX, 0);
    e->index = index;
    return e;
}

struct expression *new_of_symbol(struct source *source, enum expression_kind kind, struct symbol *symbol) {
    struct expression *e = new_expression(source, kind, 0);
    e->symbol = symbol;
    return e;
}

struct expression *new_binary(struct source *source, int op, struct expression *a, struct expression *b) {
    return with_operands(new_expression(source, BINARY, op), a, b, NULL);
}

struct expression *new_unary(struct source *source, int op, struct expression *a) {
    return with_operands(new_expression(source, UNARY, op), a, NULL, NULL);
}

struct expression *new_choice(struct source *source, struct expression *condition, struct expression *a,
                              struct expression *b) {
    return with_operands(new_expression(source, CHOICE, 0), condition, a, b);
}

struct expression *new_function(struct source *source, int op, struct expression *a, struct expression *b,
                                struct expression *c) {
    return with_operands(new_expression(source, FUNCTION, op), a, b, c);
}

struct expression *new_cast(struct source *source, int type, struct expression *a) {
    return with_operands(new_expression(source, CAST, type), a, NULL, NULL);
}

/* ---- names */

struct index *new_index(struct source *source, const char *name) {
    struct index *index = tree_new(source, sizeof *index);
    snprintf(index->name, sizeof index->name, "%s", name);
    index->by = 1;
    return index;
}

struct symbol *new_symbol(struct source *source, char letter, bool is_array) {
    struct symbol *symbol = tree_new(source, sizeof *symbol);
    if (source->symbol_count == SYMBOLS_MAX)
        exit(TOO_LARGE);
    source->symbols[source->symbol_count] = symbol;
    snprintf(symbol->name, sizeof symbol->name, "%c%d", letter, ++source->symbol_count);
    symbol->is_array = is_array;
    return symbol;
}

struct statement *new_statement(struct source *source, enum statement_kind kind) {
    struct statement *st = tree_new(source, sizeof *st);
    st->kind = kind;
    return st;
}

/* ---- copies */

enum { RENAMED_MAX = 16 };

struct copier {
    struct source *source;
    const struct definition *def; /* NULL: a plain copy */
    struct expression *const *arguments;
    const struct index *old[RENAMED_MAX];
    struct index *renamed[RENAMED_MAX];
    int renamed_count;
};

static struct expression *copy(struct copier *c, const struct expression *e);

static struct index *copy_binder(struct copier *c, const struct index *old) {
    struct index *made = new_index(c->source, old->name);
    made->by = old->by;
    made->low = copy(c, old->low);
    made->high = copy(c, old->high);
    if (c->renamed_count == RENAMED_MAX)
        exit(TOO_LARGE);
    c->old[c->renamed_count] = old;
    c->renamed[c->renamed_count++] = made;
    return made;
}

static struct index *renamed(const struct copier *c, struct index *index) {
    for (int k = c->renamed_count - 1; k >= 0; k--)
        if (c->old[k] == index)
            return c->renamed[k];
    return index;
}

static struct expression *argument_of(const struct copier *c, const struct symbol *symbol) {
    for (int k = 0; c->def && k < c->def->parameter_count; k++)
        if (c->def->parameters[k] == symbol)
            return c->arguments[k];
    return NULL;
}

static struct expression *copy(struct copier *c, const struct expression *e) {
    if (!e)
        return NULL;
    struct expression *argument = e->symbol ? argument_of(c, e->symbol) : NULL;
    if (argument && e->kind == SCALAR && !c->def->is_block)
        return copy_expression(c->source, argument);
    struct expression *made = tree_new(c->source, sizeof *made);
    *made = *e;
    for (int k = 0; k < e->binder_count; k++)
        made->binders[k] = copy_binder(c, e->binders[k]);
    if (e->index)
        made->index = renamed(c, e->index);
    if (argument && !c->def->is_block)
        made->symbol = argument->symbol; /* an array's name */
    else if (e->symbol && e->symbol->copy)
        made->symbol = e->symbol->copy;
    for (int k = 0; k < e->count; k++)
        made->x[k] = copy(c, e->x[k]);
    if (e->kind == CALL) /* it has its own names */
        return call_definition(c->source, e->called, made->x);
    for (int k = 0; e->called && k < e->called->parameter_count; k++)
        made->arguments[k] = copy(c, e->arguments[k]);
    return made;
}

static struct symbol *own_symbol(struct copier *c, struct symbol *symbol) {
    if (!symbol->copy) {
        symbol->copy = new_symbol(c->source, symbol->name[0], false);
        memcpy(symbol->copy->name, symbol->name, sizeof symbol->name);
    }
    return symbol->copy;
}

static struct statement *copy_body(struct copier *c, const struct statement *st) {
    struct statement *first = NULL, **end = &first;
    for (; st; st = st->next) {
        struct statement *made = tree_new(c->source, sizeof *made);
        *made = *st;
        made->next = NULL;
        for (int k = 0; k < st->index_count; k++)
            made->indices[k] = copy_binder(c, st->indices[k]);
        made->value = copy(c, st->value);
        if (st->symbol)
            made->symbol = own_symbol(c, st->symbol);
        made->body = copy_body(c, st->body);
        made->other = copy_body(c, st->other);
        *end = made;
        end = &made->next;
    }
    return first;
}

struct expression *copy_expression(struct source *source, const struct expression *e) {
    struct copier c = {.source = source};
    return copy(&c, e);
}

struct expression *call_definition(struct source *source, const struct definition *def,
                                   struct expression *const *arguments) {
    struct copier c = {.source = source, .def = def, .arguments = arguments};
    struct expression *made = NULL;
    if (def->is_block) {
        made = new_expression(source, CALL, 0);
        made->count = def->parameter_count;
        for (int k = 0; k < source->symbol_count; k++)
            source->symbols[k]->copy = NULL;
        for (int k = 0; k < def->parameter_count; k++) {
            made->x[k] = arguments[k];
            made->parameters[k] = own_symbol(&c, def->parameters[k]);
        }
        made->body = copy_body(&c, def->body);
        for (int k = 0; k < source->symbol_count; k++)
            source->symbols[k]->copy = NULL;
    } else {
        made = copy(&c, def->value);
    }
    made->called = def;
    for (int k = 0; k < def->parameter_count && !def->is_block; k++)
        made->arguments[k] = arguments[k];
    return made;
}

/* ---- defs */

static bool calls(const struct expression *e, const struct definition *def) {
    if (!e)
        return false;
    bool found = e->called == def;
    for (int k = 0; k < e->count; k++)
        found |= calls(e->x[k], def);
    for (int k = 0; k < e->binder_count; k++)
        found |= calls(e->binders[k]->low, def) || calls(e->binders[k]->high, def);
    return found;
}

static bool body_calls(const struct statement *st, const struct definition *def) {
    bool found = false;
    for (; st && !found; st = st->next) {
        found = calls(st->value, def) || calls(st->otherwise, def) || body_calls(st->body, def) ||
                body_calls(st->other, def);
        for (int d = 0; d < st->count; d++)
            found |= calls(st->x[d], def);
        for (int k = 0; k < st->index_count; k++)
            found |= calls(st->indices[k]->low, def) || calls(st->indices[k]->high, def);
    }
    return found;
}

void drop_uncalled(struct source *source) {
    int kept = 0;
    for (int k = 0; k < source->def_count; k++)
        if (body_calls(source->body, source->defs[k]))
            source->defs[kept++] = source->defs[k];
    source->def_count = kept;
}
