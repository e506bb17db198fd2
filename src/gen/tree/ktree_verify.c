/* Checks that a kernel tree keeps what ktree.h promises, so that printers need not: statements and scopes. */
#include "gen/tree/ktree_verify.h"
#include "base/status.h"
#include "base/text.h"
#include "gen/tree/ktree_text.h"
#include <stdio.h>
#include <string.h>

#define COPY_MOST 4096 /* bytes */

/* The SCOPEs that a LEAVE may leave. */
struct open_label {
    const struct le_variable *label;
    const struct open_label *up;
};

/* Where a statement is. */
struct surroundings {
    const struct open_label *scopes;
    const struct le_variable *function; /* NULL: it is the kernel's own */
    bool loop;
};

struct checker {
    struct le_ktree_verifier v;
    struct surroundings around; /* of the statement that is checked */
    struct {
        const struct le_variable **at;
        int count, capacity;
    } defined; /* in scope, in their order */
    struct le_names names;
    const struct le_statement *wrong; /* the statement that has the problem */
};

void le_ktree_problem(struct le_ktree_verifier *v, const char *format, ...) {
    char text[200];
    va_list arguments;
    if (v->problem)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    v->problem = le_arena_copy(v->arena, text, strlen(text));
}

/* ---- variables */

static void define(struct checker *c, const struct le_variable *variable) {
    struct le_ktree_verifier *v = &c->v;
    if (!variable) {
        le_ktree_problem(v, "a variable is missing");
        return;
    }
    size_t length = strlen(variable->name);
    if (v->known[variable->id] != LE_UNKNOWN)
        le_ktree_problem(v, "%s is defined twice", variable->name);
    else if (le_names_get(&c->names, variable->name, length) >= 0)
        le_ktree_problem(v, "two variables are named %s", variable->name);
    if (variable->object)
        le_verify_object(v, variable->object);
    le_names_put(v->arena, &c->names, variable->name, length, variable->id);
    v->known[variable->id] = LE_IN_SCOPE;
    *LE_PUSH(v->arena, &c->defined) = variable;
}

static void end_scope(struct checker *c, int count) {
    while (c->defined.count > count)
        c->v.known[c->defined.at[--c->defined.count]->id] = LE_OUT_OF_SCOPE;
}

/* Of values 16-bit floats are in memory alone. */
static void value_type(struct checker *c, const struct le_variable *variable) {
    if (!variable->object)
        le_verify_type(&c->v, variable->type);
    if (variable->memory != LE_KTREE_NO_ARRAY)
        le_ktree_problem(&c->v, "%s is an array", variable->name);
    else if (variable->type == LE_F16 || variable->type == LE_BF16)
        le_ktree_problem(&c->v, "a variable of type %s", le_ktree_type_name(c->v.t, variable->type));
}

static void extents(struct checker *c, const struct le_variable *variable) {
    bool one = variable->memory == LE_KTREE_BUFFER || variable->memory == LE_KTREE_DYNAMIC;
    if (variable->axes < !variable->object || variable->axes > (one ? 1 : LE_KTREE_AXES))
        le_ktree_problem(&c->v, "%s has %d axes", variable->name, variable->axes);
    for (int k = 0; !one && !c->v.problem && k < variable->axes; k++)
        if (variable->extents[k] < 1)
            le_ktree_problem(&c->v, "%s has an extent of %d", variable->name, variable->extents[k]);
}

static void check_parameter(struct checker *c, const struct le_variable *p, bool of_function) {
    if (p->memory != LE_KTREE_NO_ARRAY)
        extents(c, p);
    else if (!p->object)
        value_type(c, p);
    if (p->type != LE_KTREE_VOID || p->memory != LE_KTREE_BUFFER)
        le_verify_type(&c->v, p->type);
    if (p->memory == LE_KTREE_SHARED || p->memory == LE_KTREE_DYNAMIC || (!of_function && p->memory == LE_KTREE_LOCAL))
        le_ktree_problem(&c->v, "the parameter %s has memory of its own", p->name);
    else if (p->changes && !of_function)
        le_ktree_problem(&c->v, "the parameter %s changes", p->name);
    define(c, p);
}

/* ---- statements */

static void verify_let(struct checker *c, const struct le_statement *s) {
    if (!s->variable) {
        le_ktree_problem(&c->v, "a variable is missing");
        return;
    }
    if (s->variable->memory != LE_KTREE_NO_ARRAY) {
        le_verify_address(&c->v, s->x, false);
        if (s->variable->axes != 1 || s->variable->extents[0])
            le_ktree_problem(&c->v, "%s is a pointer with extents", s->variable->name);
        le_verify_type(&c->v, s->variable->type);
        if (!c->v.problem && s->x->type != s->variable->type)
            le_ktree_problem(&c->v, "an address of %s, not %s", le_ktree_type_name(c->v.t, s->x->type),
                             le_ktree_type_name(c->v.t, s->variable->type));
    } else {
        value_type(c, s->variable);
        le_verify_fits(&c->v, s->variable->type, s->x);
    }
    if (s->variable->changes || s->variable->object)
        le_ktree_problem(&c->v, "%s may change", s->variable->name);
    define(c, s->variable);
}

static void verify_variable(struct checker *c, const struct le_statement *s) {
    if (!s->variable || !s->variable->changes) {
        le_ktree_problem(&c->v, "a variable that does not change");
        return;
    }
    value_type(c, s->variable);
    if (s->x)
        le_verify_fits(&c->v, s->variable->type, s->x);
    define(c, s->variable);
}

static void verify_array(struct checker *c, const struct le_statement *s) {
    const struct le_variable *variable = s->variable;
    if (!variable || variable->memory == LE_KTREE_NO_ARRAY || variable->memory == LE_KTREE_BUFFER) {
        le_ktree_problem(&c->v, "an array without memory");
        return;
    }
    if (!variable->object)
        le_verify_type(&c->v, variable->type);
    extents(c, variable);
    if (s->zeroed && variable->memory != LE_KTREE_LOCAL)
        le_ktree_problem(&c->v, "%s is shared and zeroed", variable->name);
    define(c, variable);
}

static void verify_set(struct checker *c, const struct le_statement *s) {
    const struct le_expression *to = s->to;
    if (to && to->kind == LE_EXPRESSION_VARIABLE) {
        le_verify_value(&c->v, to);
        if (!to->variable->changes)
            le_ktree_problem(&c->v, "%s does not change", to->variable->name);
    } else {
        le_verify_place(&c->v, to);
    }
    if (!c->v.problem)
        le_verify_fits(&c->v, to->type, s->x);
}

static void verify_copy(struct checker *c, const struct le_statement *s) {
    le_verify_address(&c->v, s->to, true);
    le_verify_address(&c->v, s->x, false);
    if (c->v.problem)
        return;
    int type = s->x->type, size = 0;
    if (le_ktree_is_position(type))
        size = le_ktree_is_narrow(type) ? 4 : 8;
    else if (!le_ktree_is_totals(type))
        size = (int)le_type_size((enum le_type)type);
    int64_t bytes = (int64_t)s->count * size;
    bool whole =
        bytes > 0 && bytes <= COPY_MOST && (bytes % 16 == 0 || bytes == 8 || bytes == 4 || bytes == 2 || bytes == 1);
    if (type != s->to->type || !whole)
        le_ktree_problem(&c->v, "a copy of %d elements of type %s to elements of type %s", s->count,
                         le_ktree_type_name(c->v.t, type), le_ktree_type_name(c->v.t, s->to->type));
}

static void verify_update(struct checker *c, const struct le_statement *s) {
    bool has = s->code > LE_SCATTER_SET && s->code <= LE_SCATTER_MAX && s->code != LE_SCATTER_DIV;
    le_verify_place(&c->v, s->to);
    if (c->v.problem)
        return;
    int type = s->to->type;
    if (!has || le_ktree_is_totals(type))
        le_ktree_problem(&c->v, "no update of this kind is atomic");
    else
        le_verify_fits(&c->v, le_ktree_is_position(type) ? type : (int)le_type_compute((enum le_type)type), s->x);
}

static void position(struct checker *c, const struct le_expression *x) {
    le_verify_value(&c->v, x);
    if (!c->v.problem && !le_ktree_is_position(x->type) && x->type != LE_I64)
        le_ktree_problem(&c->v, "a position of type %s", le_ktree_type_name(c->v.t, x->type));
}

static void verify_fault(struct checker *c, const struct le_statement *s) {
    if (!c->v.t->fault || (s->kind == LE_STATEMENT_FAULT && !c->v.t->action)) {
        le_ktree_problem(&c->v, "the kernel reports nothing");
        return;
    }
    le_verify_use(&c->v, c->v.t->fault);
    if (s->kind == LE_STATEMENT_NOTE)
        return;
    position(c, c->v.t->action);
    position(c, s->to);
    position(c, s->x);
    if (!s->variable)
        return;
    le_verify_use(&c->v, s->variable);
    if (s->variable->type != LE_BOOL || !s->variable->changes)
        le_ktree_problem(&c->v, "%s is not a bool that changes", s->variable->name);
}

static void verify_totals(struct checker *c, const struct le_statement *s) {
    struct le_ktree_verifier *v = &c->v;
    if (s->code < 0 || s->code >= v->t->totals.count || v->totals_known[s->code]) {
        le_ktree_problem(v, "totals that do not exist, or are declared already");
        return;
    }
    const struct le_totals *totals = &v->t->totals.at[s->code];
    if (totals->several)
        le_verify_type(v, totals->of);
    else if (totals->count < 1 || totals->count > (int)ARRAY_LEN(totals->part))
        le_ktree_problem(v, "%s has %d parts", totals->name, totals->count);
    for (int k = 0; k < totals->count && !v->problem; k++) {
        if (totals->part[k].reduction >= LE_REDUCTIONS || totals->part[k].reduction == LE_RED_MEAN)
            le_ktree_problem(v, "%s has a part that is no total", totals->name);
        le_verify_type(v, (int)totals->part[k].type);
    }
    v->totals_known[s->code] = true;
}

static void verify_return(struct checker *c, const struct le_statement *s) {
    int type = c->around.function ? c->around.function->type : LE_KTREE_VOID;
    if (type == LE_KTREE_VOID && s->x)
        le_ktree_problem(&c->v, "a value is returned where none is asked for");
    else if (type != LE_KTREE_VOID)
        le_verify_fits(&c->v, type, s->x);
}

static void verify_break(struct checker *c, const struct le_statement *s) {
    (void)s;
    if (!c->around.loop)
        le_ktree_problem(&c->v, "it is not in a loop");
}

static void verify_leave(struct checker *c, const struct le_statement *s) {
    const struct open_label *scope = c->around.scopes;
    while (scope && scope->label != s->variable)
        scope = scope->up;
    if (!scope || !s->variable)
        le_ktree_problem(&c->v, "no scope %s is open", s->variable ? s->variable->name : "");
}

static void verify_call(struct checker *c, const struct le_statement *s) {
    le_verify_call(&c->v, s->x);
}

static void verify_comment(struct checker *c, const struct le_statement *s) {
    size_t length = s->text ? strlen(s->text) : 0;
    if (!s->text || strchr(s->text, '\n') || (length > 0 && s->text[length - 1] == '\\'))
        le_ktree_problem(&c->v, "a comment of more than one line");
}

/* ---- statements with a block: what stands before it. The variables that it defines belong to the block. */

static void verify_loop(struct checker *c, const struct le_statement *s) {
    const struct le_variable *variable = s->variable;
    if (!variable || !le_ktree_is_position(variable->type) || variable->memory != LE_KTREE_NO_ARRAY ||
        variable->changes || variable->object) {
        le_ktree_problem(&c->v, "a loop's variable is a position that the loop alone changes");
        return;
    }
    le_verify_fits(&c->v, variable->type, s->x);
    le_verify_fits(&c->v, variable->type, s->to);
    le_verify_fits(&c->v, variable->type, s->step);
    if (s->down && (s->guard || (s->step && !le_ktree_is_constant(s->step, 1))))
        le_ktree_problem(&c->v, "a loop that goes down has no guard, and steps of 1");
    define(c, variable);
    if (s->guard)
        le_verify_condition(&c->v, s->guard);
    c->around.loop = true;
}

static void verify_branch(struct checker *c, const struct le_statement *s) {
    le_verify_condition(&c->v, s->x);
    c->around.loop |= s->kind == LE_STATEMENT_WHILE;
}

static void verify_function(struct checker *c, const struct le_statement *s) {
    if (!s->variable || !s->variable->function)
        le_ktree_problem(&c->v, "a function is missing");
    else if (s->variable->type != LE_KTREE_VOID)
        le_verify_type(&c->v, s->variable->type);
    for (int k = 0; k < s->parameter_count && !c->v.problem; k++)
        check_parameter(c, s->parameters[k], true);
    c->around = (struct surroundings){.function = s->variable};
}

/* ---- blocks */

/* By kind; NULL: nothing of it can be wrong. */
static void (*const rules[])(struct checker *c, const struct le_statement *s) = {
    [LE_STATEMENT_LET] = verify_let,
    [LE_STATEMENT_VARIABLE] = verify_variable,
    [LE_STATEMENT_ARRAY] = verify_array,
    [LE_STATEMENT_SET] = verify_set,
    [LE_STATEMENT_COPY] = verify_copy,
    [LE_STATEMENT_LOOP] = verify_loop,
    [LE_STATEMENT_WHILE] = verify_branch,
    [LE_STATEMENT_BRANCH] = verify_branch,
    [LE_STATEMENT_SCOPE] = NULL,
    [LE_STATEMENT_BREAK] = verify_break,
    [LE_STATEMENT_LEAVE] = verify_leave,
    [LE_STATEMENT_RETURN] = verify_return,
    [LE_STATEMENT_FUNCTION] = verify_function,
    [LE_STATEMENT_TOTALS] = verify_totals,
    [LE_STATEMENT_CALL] = verify_call,
    [LE_STATEMENT_UPDATE] = verify_update,
    [LE_STATEMENT_FAULT] = verify_fault,
    [LE_STATEMENT_NOTE] = verify_fault,
    [LE_STATEMENT_BARRIER] = NULL,
    [LE_STATEMENT_COMMENT] = verify_comment,
};

static void verify_block(struct checker *c, const struct le_block *block);

static void verify_statement(struct checker *c, const struct le_statement *s) {
    const struct surroundings around = c->around;
    struct open_label scope = {.label = s->variable, .up = around.scopes};
    int count = c->defined.count;
    if (!s->body && le_ktree_has_block(s->kind))
        le_ktree_problem(&c->v, "a statement without its block");
    else if (rules[s->kind])
        rules[s->kind](c, s);
    if (s->kind == LE_STATEMENT_SCOPE && s->variable) {
        c->around.scopes = &scope;
        define(c, s->variable);
    }
    if (c->v.problem && !c->wrong)
        c->wrong = s;
    if (!s->body)
        return;
    verify_block(c, s->body);
    end_scope(c, count);
    c->around = around;
    if (s->otherwise)
        verify_block(c, s->otherwise);
    if (s->kind == LE_STATEMENT_FUNCTION && !c->v.problem)
        define(c, s->variable);
}

static void verify_block(struct checker *c, const struct le_block *block) {
    int count = c->defined.count;
    for (int k = 0; k < block->list.count && !c->v.problem; k++)
        verify_statement(c, block->list.at[k]);
    end_scope(c, count);
}

/* ---- the kernel */

static leat_status failed(const struct checker *c) {
    struct le_text line = {0};
    if (c->wrong)
        le_ktree_print_line(c->v.t, c->wrong, &line);
    leat_status status = le_fail(LEAT_INTERNAL, "kernel %s: %s%s%s", c->v.t->name, line.at ? line.at : "",
                                 line.at ? ": " : "", c->v.problem);
    le_text_finish(&line);
    return status;
}

static leat_status verify_in(const struct le_kernel_tree *t, struct le_arena *arena) {
    struct checker c = {.v = {.t = t, .arena = arena}};
    if (setjmp(arena->failure))
        return le_fail_out_of_memory(0);
    c.v.known = LE_NEW_ARRAY(arena, t->variable_count + 1, unsigned char);
    c.v.totals_known = LE_NEW_ARRAY(arena, t->totals.count + 1, bool);
    for (int k = 0; k < t->parameters.count && !c.v.problem; k++)
        check_parameter(&c, t->parameters.at[k], false);
    if (!c.v.problem)
        verify_block(&c, t->root);
    return c.v.problem ? failed(&c) : LEAT_OK;
}

leat_status le_ktree_verify(const struct le_kernel_tree *t) {
    struct le_arena arena;
    le_arena_init(&arena);
    leat_status status = verify_in(t, &arena);
    le_arena_finish(&arena);
    return status;
}
