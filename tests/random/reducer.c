/* Removes statements, replaces expressions by their operands or by numbers, and makes inputs small, one edit at a time,
 * until every further edit makes the program pass. */
#include "reducer.h"
#include "oracle.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

struct reducer {
    struct source *source;
    bool (*fails)(void);
    bool progressed;
    const struct definition *def; /* the def whose body is edited; its calls are updated */
};

static void renew_calls(struct source *source, const struct definition *def, struct statement *st);

static bool keeps_failing(struct reducer *r) {
    size_t used_bytes = r->source->used_bytes;
    int symbol_count = r->source->symbol_count;
    if (symbol_count > SYMBOLS_MAX * 3 / 4)
        return false;
    if (r->def)
        renew_calls(r->source, r->def, r->source->body);
    if (r->fails()) {
        r->progressed = true;
        return true;
    }
    r->source->used_bytes = used_bytes; /* copies made after that are made again before they are used */
    r->source->symbol_count = symbol_count;
    return false;
}

/* ---- calls of a block def */

static void renew_in(struct source *source, const struct definition *def, struct expression *e) {
    if (!e)
        return;
    for (int k = 0; k < e->count; k++)
        renew_in(source, def, e->x[k]);
    for (int k = 0; k < e->binder_count; k++) {
        renew_in(source, def, e->binders[k]->low);
        renew_in(source, def, e->binders[k]->high);
    }
    if (e->kind != CALL || e->called != def)
        return;
    const struct expression *made = call_definition(source, def, e->x);
    memcpy(e->parameters, made->parameters, sizeof e->parameters);
    e->body = made->body;
}

static void renew_calls(struct source *source, const struct definition *def, struct statement *st) {
    for (; st; st = st->next) {
        renew_in(source, def, st->value);
        renew_in(source, def, st->otherwise);
        for (int d = 0; d < st->count; d++)
            renew_in(source, def, st->x[d]);
        renew_calls(source, def, st->body);
        renew_calls(source, def, st->other);
    }
}

/* ---- expressions */

static void reduce_slot(struct reducer *r, struct expression **slot);

static bool try_expression(struct reducer *r, struct expression **slot, struct expression *e) {
    struct expression *old = *slot;
    *slot = e;
    if (keeps_failing(r))
        return true;
    *slot = old;
    return false;
}

static bool try_number(struct reducer *r, struct expression **slot, int64_t number) {
    size_t used_bytes = r->source->used_bytes;
    if ((*slot)->kind == NUMBER && (*slot)->number <= (double)number && !(*slot)->is_real)
        return false;
    if (try_expression(r, slot, new_number(r->source, number)))
        return true;
    r->source->used_bytes = used_bytes;
    return false;
}

static void reduce_index(struct reducer *r, struct index *index, bool may_be_inferred) {
    struct index old = *index;
    if (index->by != 1) {
        index->by = 1;
        if (!keeps_failing(r))
            index->by = old.by;
    }
    if (!index->low)
        return;
    index->low = index->high = NULL;
    if (may_be_inferred && keeps_failing(r))
        return;
    index->low = old.low;
    index->high = old.high;
    reduce_slot(r, &index->low);
    reduce_slot(r, &index->high);
    for (int64_t end = 1; end < 4; end++)
        if (try_number(r, &index->high, end))
            break;
}

static void reduce_operands(struct reducer *r, struct expression *e) {
    for (int k = 0; k < e->binder_count; k++)
        reduce_index(r, e->binders[k], true);
    for (int k = 0; k < e->count; k++)
        reduce_slot(r, &e->x[k]);
}

static void reduce_slot(struct reducer *r, struct expression **slot) {
    if (!*slot || try_number(r, slot, 0) || try_number(r, slot, 1) || try_number(r, slot, 2))
        return;
    for (int k = 0; k < (*slot)->count; k++)
        if (try_expression(r, slot, (*slot)->x[k])) {
            reduce_slot(r, slot);
            return;
        }
    const struct definition *called = (*slot)->called;
    if (called && !called->is_block) {
        (*slot)->called = NULL;
        if (!keeps_failing(r)) {
            (*slot)->called = called;
            return;
        }
    }
    reduce_operands(r, *slot);
}

/* ---- statements */

static void reduce_body(struct reducer *r, struct statement **first);

static bool try_statement(struct reducer *r, struct statement **slot, struct statement *instead) {
    struct statement *old = *slot;
    *slot = instead;
    if (keeps_failing(r))
        return true;
    *slot = old;
    return false;
}

/* Replaces the statement by its block. */
static bool try_block(struct reducer *r, struct statement **slot, struct statement *block) {
    struct statement *old = *slot, *last = block;
    if (!block)
        return false;
    while (last->next)
        last = last->next;
    last->next = old->next;
    if (try_statement(r, slot, block))
        return true;
    last->next = NULL;
    return false;
}

static void reduce_statement(struct reducer *r, struct statement *st) {
    if (st->otherwise) {
        struct expression *old = st->otherwise;
        st->otherwise = NULL;
        if (!keeps_failing(r))
            st->otherwise = old;
    }
    if (st->other) {
        struct statement *old = st->other;
        st->other = NULL;
        if (!keeps_failing(r))
            st->other = old;
    }
    if (st->kind == ASSIGN && st->update != SET) {
        enum update old = st->update;
        st->update = SET;
        if (!keeps_failing(r))
            st->update = old;
    }
    reduce_slot(r, &st->value);
    reduce_slot(r, &st->otherwise);
    for (int d = 0; d < st->count; d++)
        reduce_slot(r, &st->x[d]);
    for (int k = 0; k < st->index_count; k++)
        reduce_index(r, st->indices[k], st->kind == ASSIGN || st->kind == EACH);
    reduce_body(r, &st->body);
    reduce_body(r, &st->other);
}

static void reduce_body(struct reducer *r, struct statement **slot) {
    while (*slot) {
        if (try_statement(r, slot, (*slot)->next) || try_block(r, slot, (*slot)->body) ||
            try_block(r, slot, (*slot)->other))
            continue;
        reduce_statement(r, *slot);
        slot = &(*slot)->next;
    }
}

/* ---- inputs */

static void reduce_input(struct reducer *r, struct symbol *input) {
    struct symbol old = *input;
    input->layout = LAYOUT_PLAIN;
    input->has_written_type = false;
    if (!keeps_failing(r))
        *input = old;
    for (int64_t end = 0; input->is_array && end < 4 && end < input->greatest; end++) {
        old = *input;
        input->least = 0;
        input->greatest = end;
        if (keeps_failing(r))
            break;
        *input = old;
    }
    for (int d = 0; d < input->rank; d++)
        while (input->shape[d] > 1) {
            input->shape[d]--;
            if (keeps_failing(r))
                continue;
            input->shape[d]++;
            break;
        }
}

/* ---- reducing a program */

static void reduce_definition(struct reducer *r, struct definition *def) {
    r->def = def;
    reduce_body(r, &def->body);
    r->def = NULL;
    renew_calls(r->source, def, r->source->body);
}

void reduce_program(struct source *source, bool (*fails)(void)) {
    struct reducer r = {.source = source, .fails = fails, .progressed = true};
    for (int round = 0; r.progressed && round < 8; round++) {
        r.progressed = false;
        reduce_body(&r, &source->body);
        drop_uncalled(source);
        for (int k = 0; k < source->def_count; k++)
            if (source->defs[k]->is_block)
                reduce_definition(&r, source->defs[k]);
        for (int k = 0; k < source->symbol_count; k++)
            if (source->symbols[k]->is_input && source->symbols[k]->is_used)
                reduce_input(&r, source->symbols[k]);
    }
}

/* Skips digits, signs, and the letter before the digits of a name. */
static const char *skip_numbers(const char *at) {
    while (isdigit((unsigned char)*at) || *at == '-' || (isalpha((unsigned char)*at) && isdigit((unsigned char)at[1])))
        at++;
    return at;
}

bool same_words(const char *a, const char *b) {
    for (;; a++, b++) {
        a = skip_numbers(a);
        b = skip_numbers(b);
        if (*a != *b || !*a || *a == '\n') /* the program's text follows the first line */
            return *a == *b;
    }
}

void print_inputs(const struct source *source) {
    static const char *const layouts[] = {"", " by columns", " each second", " backwards", " broadcast"};
    for (int k = 0; k < source->symbol_count; k++) {
        const struct symbol *input = source->symbols[k];
        if (!input->is_input || !input->is_used)
            continue;
        printf("# %s: %s", input->name, input->is_number ? "number" : leat_dtype_name((leat_dtype)input->dtype));
        for (int d = 0; d < input->rank; d++)
            printf("%s%lld", d ? "," : "[", (long long)input->shape[d]);
        printf("%s%s =", input->rank ? "]" : "", layouts[input->layout]);
        if (!input->is_array)
            printf(" %lld", (long long)input->number);
        for (int64_t q = 0; input->is_array && q < element_count(input) && q < 60; q++)
            printf(" %g", (double)input_halves(source, input, q, false) / 2);
        printf("\n");
    }
}
