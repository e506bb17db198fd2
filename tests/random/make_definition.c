/* Draws defs: of one expression, with a block, and with a read of an array that is a parameter. */
#include "program_make.h"
#include <string.h>

static struct statement *make_def_statement(struct maker *m, bool may_block) {
    int64_t how = draw(m, 100);
    if (how < 65 || !may_block)
        return make_private(m);
    struct statement *st = new_statement(m->source, how < 82 ? IF : FOR);
    int name_count = m->name_count;
    if (st->kind == IF) {
        st->value = make_value(m, TRUTH, 1);
    } else {
        struct index *index = plan_index(m, 0, 1 + draw(m, 3));
        set_range(m, index, 0, index->planned_high);
        st->indices[st->index_count++] = index;
        m->plans[m->plan_count++] = index;
    }
    st->body = make_def_statement(m, false);
    if (st->kind == FOR) {
        m->plan_count--;
    } else if (chance(m, 30)) {
        struct statement *back = st->body->next = new_statement(m->source, RETURN);
        back->value = make_value(m, WHOLE, 1);
    }
    m->name_count = name_count;
    return st;
}

static void make_block_definition(struct maker *m, struct definition *def) {
    struct statement **end = &def->body;
    int count = 1 + (int)draw(m, 4);
    for (int k = 0; k < count; k++) {
        *end = make_def_statement(m, true);
        end = &(*end)->next;
    }
    *end = new_statement(m->source, RETURN);
    (*end)->value = make_value(m, WHOLE, 1);
}

/* a[i], a[(i+1) % len(a,0)] and the like */
static void make_array_definition(struct maker *m, struct definition *def) {
    struct symbol *array = new_symbol(m->source, 'a', true), *place = new_symbol(m->source, 'v', false);
    def->parameters[0] = array;
    def->parameters[1] = place;
    def->parameter_count = 2;
    struct expression *read = new_of_symbol(m->source, READ, array), *at = new_of_symbol(m->source, SCALAR, place);
    struct expression *length = new_of_symbol(m->source, LENGTH, array);
    int64_t how = draw(m, 4);
    if (how == 1)
        at = new_binary(m->source, MODULO, new_binary(m->source, ADD, at, number(m, 1)), length);
    else if (how == 2)
        at = new_function(m->source, MIN, at, new_binary(m->source, SUBTRACT, length, number(m, 1)), NULL);
    else if (how == 3)
        at = new_binary(m->source, FLOOR_DIVIDE, at, number(m, 2));
    read->x[read->count++] = at;
    def->value = chance(m, 50) ? read : new_binary(m->source, MULTIPLY, read, number(m, 2));
}

static bool uses(const struct expression *e, const struct symbol *symbol) {
    bool found = e->symbol == symbol;
    for (int k = 0; k < e->count; k++)
        found |= uses(e->x[k], symbol);
    return found;
}

/* Each parameter is used, so that each argument is evaluated. */
static void make_value_definition(struct maker *m, struct definition *def) {
    def->value = make_value(m, WHOLE, 2);
    for (int k = 0; k < def->parameter_count; k++)
        if (!uses(def->value, def->parameters[k]))
            def->value = new_binary(m->source, chance(m, 50) ? ADD : MULTIPLY, def->value,
                                    new_of_symbol(m->source, SCALAR, def->parameters[k]));
    if (def->value->kind == SCALAR) /* the argument's own expression could not record that call */
        def->value = new_binary(m->source, ADD, def->value, number(m, 1));
}

void make_definition(struct maker *m) {
    struct definition *def = tree_new(m->source, sizeof *def);
    int64_t how = draw(m, 100);
    memcpy(def->name, "f1", 3);
    def->name[1] = (char)('1' + m->source->def_count);
    m->in_def = true;
    m->name_count = m->plan_count = 0;
    m->budget = STATEMENT_BUDGET;
    if (how >= 75) {
        make_array_definition(m, def);
    } else {
        def->is_block = how < 50;
        def->parameter_count = 1 + (int)draw(m, PARAMETERS_MAX);
        for (int k = 0; k < def->parameter_count; k++) {
            def->parameters[k] = new_symbol(m->source, 'v', false);
            def->parameters[k]->value_class = WHOLE;
            add_name(m, def->parameters[k]);
        }
        if (def->is_block)
            make_block_definition(m, def);
        else
            make_value_definition(m, def);
    }
    m->in_def = false;
    m->name_count = 0;
    m->source->defs[m->source->def_count++] = def;
}
