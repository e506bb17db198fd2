/* Reads a kernel's text: its head, variables, statements and blocks. Names are defined before they are used, each once;
 * whether they are in scope is the verifier's. */
#include "base/text.h"
#include "tests/ktree/reader/kernel_reader.h"
#include <limits.h>
#include <string.h>

static void read_block(struct kernel_reader *r, struct le_block *block);

/* ---- words and names */

static bool is_part(const char *at, const char *end) {
    return at < end && (le_is_letter(*at) || le_is_digit(*at) || *at == '_');
}

/* Letters, digits and points between them; a letter first. */
static int word_length(const char *at, const char *end) {
    const char *stop = at;
    if (at < end && le_is_digit(*at))
        return 0;
    while (is_part(stop, end) || (stop > at && stop < end && *stop == '.' && is_part(stop + 1, end)))
        stop++;
    return (int)(stop - at);
}

void le_kernel_enter(struct kernel_reader *r) {
    if (++r->depth > LE_KERNEL_DEPTH_MAX)
        le_read_fail(&r->text, "more than %d levels", LE_KERNEL_DEPTH_MAX);
}

/* A new name, of the variable (NULL: of something else). */
static const char *define(struct kernel_reader *r, struct le_variable *variable) {
    struct word w = le_read_look(&r->text);
    if (memchr(w.at, '.', (size_t)w.length))
        le_read_fail(&r->text, "a name with a point");
    if (le_names_get(&r->names, w.at, (size_t)w.length) >= 0)
        le_read_fail(&r->text, "'%.*s' is defined twice", w.length, w.at);
    le_read_take(&r->text, "a name");
    const char *name = le_arena_copy(r->text.arena, w.at, (size_t)w.length);
    le_names_put(r->text.arena, &r->names, name, (size_t)w.length, r->variables.count);
    le_names_put(r->text.arena, &r->tree->names, name, (size_t)w.length, 1);
    *LE_PUSH(r->text.arena, &r->variables) = variable;
    if (variable) {
        variable->name = name;
        variable->id = r->tree->variable_count++;
    }
    return name;
}

struct le_variable *le_kernel_find(struct kernel_reader *r, struct word w) {
    int k = le_names_get(&r->names, w.at, (size_t)w.length);
    if (k < 0 || !r->variables.at[k])
        le_read_fail_none(&r->text, "variable", w);
    return r->variables.at[k];
}

/* ---- statements with blocks */

static struct le_statement *add(struct kernel_reader *r, struct le_block *block, enum le_statement_kind kind) {
    return le_ktree_add(r->tree, block, (struct le_statement){.kind = kind});
}

static void open_block(struct kernel_reader *r, struct le_statement *s, struct le_block *parent) {
    s->body = le_ktree_open(r->tree, parent);
    s->body->owner = s;
    read_block(r, s->body);
}

/* ---- variables */

static void read_extents(struct kernel_reader *r, struct le_variable *v) {
    if (le_read_peek(&r->text) != '[') {
        v->axes = v->memory != LE_KTREE_NO_ARRAY;
        return;
    }
    r->text.at++;
    if (v->memory == LE_KTREE_NO_ARRAY)
        v->memory = LE_KTREE_LOCAL;
    if (v->memory == LE_KTREE_BUFFER || v->memory == LE_KTREE_DYNAMIC)
        le_read_fail(&r->text, "extents of what has none");
    do {
        if (v->axes == LE_KTREE_AXES)
            le_read_fail(&r->text, "more than %d axes", LE_KTREE_AXES);
        v->extents[v->axes++] = (int)le_read_whole(&r->text, 1, INT_MAX);
    } while (le_read_accept(&r->text, ','));
    le_read_expect(&r->text, ']');
}

/* "x: buffer f32 read as object" */
static struct le_variable *read_declared(struct kernel_reader *r) {
    struct le_variable *v = LE_NEW(r->text.arena, struct le_variable);
    define(r, v);
    le_read_expect(&r->text, ':');
    v->memory = le_read_accept_word(&r->text, "buffer")    ? LE_KTREE_BUFFER
                : le_read_accept_word(&r->text, "shared")  ? LE_KTREE_SHARED
                : le_read_accept_word(&r->text, "dynamic") ? LE_KTREE_DYNAMIC
                : le_read_accept_word(&r->text, "local")   ? LE_KTREE_LOCAL
                                                           : LE_KTREE_NO_ARRAY;
    v->type = le_kernel_type(r);
    read_extents(r, v);
    v->read_only = le_read_accept_word(&r->text, "read");
    if (le_read_accept_word(&r->text, "as")) {
        v->object = le_kernel_expression(r);
        if (v->object->kind != LE_EXPRESSION_CALL)
            le_read_fail(&r->text, "an object is missing");
        if ((v->memory == LE_KTREE_SHARED || v->memory == LE_KTREE_LOCAL) && !v->extents[0])
            v->axes = 0; /* one object */
    }
    return v;
}

struct variables {
    struct le_variable **at;
    int count, capacity;
};

static struct variables read_parameters(struct kernel_reader *r) {
    struct variables all = {0};
    le_read_expect(&r->text, '(');
    while (!le_read_accept(&r->text, ')')) {
        if (all.count > 0)
            le_read_expect(&r->text, ',');
        struct le_variable *v = read_declared(r);
        v->changes = le_read_accept_word(&r->text, "changes");
        *LE_PUSH(r->text.arena, &all) = v;
    }
    return all;
}

/* ---- statements */

/* The value may use what is not defined yet only if the text is wrong, so that the variable is read first. */
static void read_definition(struct kernel_reader *r, struct le_statement *s) {
    s->variable = read_declared(r);
    s->variable->changes = s->kind == LE_STATEMENT_VARIABLE;
    s->aligned = le_read_accept_word(&r->text, "aligned");
    s->zeroed = le_read_accept_word(&r->text, "zeroed");
    if (s->kind != LE_STATEMENT_ARRAY && le_read_accept(&r->text, '='))
        s->x = le_kernel_expression(r);
    if (s->kind == LE_STATEMENT_LET && !s->x)
        le_read_fail(&r->text, "'=' is missing");
}

static void read_change(struct kernel_reader *r, struct le_statement *s, char between) {
    s->to = le_kernel_expression(r);
    le_read_expect(&r->text, between);
    s->x = le_kernel_expression(r);
}

static void read_role(struct kernel_reader *r, struct le_statement *s) {
    if (le_read_accept_word(&r->text, "rolled"))
        s->role = LE_ROLE_ROLLED;
    if (!le_read_accept_word(&r->text, "unrolled"))
        return;
    s->role = LE_ROLE_UNROLLED;
    if (le_is_digit(le_read_next(&r->text)))
        s->count = (int)le_read_whole(&r->text, 1, INT_MAX);
}

static void read_loop(struct kernel_reader *r, struct le_statement *s) {
    s->variable = LE_NEW(r->text.arena, struct le_variable);
    define(r, s->variable);
    le_read_expect(&r->text, ':');
    s->variable->type = le_kernel_type(r);
    le_read_expect_word(&r->text, "in");
    s->x = le_kernel_expression(r);
    le_read_expect(&r->text, '.');
    le_read_expect(&r->text, '.');
    s->to = le_kernel_expression(r);
    s->step = le_read_accept_word(&r->text, "step") ? le_kernel_expression(r)
                                                    : le_ktree_constant(r->tree, s->variable->type, 1);
    s->guard = le_read_accept_word(&r->text, "while") ? le_kernel_expression(r) : NULL;
    s->down = le_read_accept_word(&r->text, "down");
    read_role(r, s);
}

static void read_scope(struct kernel_reader *r, struct le_statement *s) {
    if (le_read_look(&r->text).length == 0)
        return;
    s->variable = LE_NEW(r->text.arena, struct le_variable);
    s->variable->type = LE_KTREE_VOID;
    define(r, s->variable);
}

static void read_function(struct kernel_reader *r, struct le_statement *s) {
    s->variable = LE_NEW(r->text.arena, struct le_variable);
    s->variable->function = true;
    define(r, s->variable);
    struct variables parameters = read_parameters(r);
    s->parameters = parameters.at;
    s->parameter_count = parameters.count;
    le_read_expect(&r->text, ':');
    s->variable->type = le_kernel_type(r);
}

static void read_parts(struct kernel_reader *r, struct le_totals *totals) {
    do {
        if (totals->count == (int)ARRAY_LEN(totals->part))
            le_read_fail(&r->text, "too many parts");
        struct word w = le_read_take(&r->text, "a reduction");
        enum le_reduction reduction = le_reduction_parse(w.at, (size_t)w.length);
        if (reduction == LE_REDUCTIONS)
            le_read_fail_not(&r->text, w, "a reduction");
        int type = le_kernel_type(r);
        if (type >= LE_TYPES || type == LE_KTREE_VOID)
            le_read_fail(&r->text, "a term of type %s", le_ktree_type_name(r->tree, type));
        totals->part[totals->count].reduction = reduction;
        totals->part[totals->count++].type = (enum le_type)type;
    } while (le_read_accept(&r->text, ','));
    totals->narrow = le_read_accept_word(&r->text, "narrow");
}

static void read_totals(struct kernel_reader *r, struct le_statement *s) {
    struct le_totals totals = {.name = define(r, NULL)};
    le_read_expect(&r->text, '=');
    if (le_read_accept_word(&r->text, "several")) {
        totals.several = (int)le_read_whole(&r->text, 2, INT_MAX);
        totals.of = le_kernel_type(r);
    } else {
        read_parts(r, &totals);
    }
    s->code = r->tree->totals.count;
    *LE_PUSH(r->text.arena, &r->tree->totals) = totals;
}

static void read_fault(struct kernel_reader *r, struct le_statement *s) {
    s->code = (int)le_read_whole(&r->text, INT_MIN, INT_MAX);
    le_read_expect(&r->text, ',');
    s->to = le_kernel_expression(r);
    le_read_expect_word(&r->text, "at");
    s->x = le_kernel_expression(r);
    if (le_read_accept_word(&r->text, "sets"))
        s->variable = le_kernel_find(r, le_read_take(&r->text, "a variable"));
    if (!r->tree->fault || !r->tree->action)
        le_read_fail(&r->text, "the kernel reports no faults");
}

/* Reads what follows the statement's first word, up to its block. */
static void read_details(struct kernel_reader *r, struct le_statement *s) {
    switch (s->kind) {
    case LE_STATEMENT_LET:
    case LE_STATEMENT_VARIABLE:
    case LE_STATEMENT_ARRAY:
        read_definition(r, s);
        break;
    case LE_STATEMENT_COPY:
        s->count = (int)le_read_whole(&r->text, 1, INT_MAX);
        read_change(r, s, '=');
        break;
    case LE_STATEMENT_SET:
        read_change(r, s, '=');
        break;
    case LE_STATEMENT_UPDATE:
        s->code = le_read_choose(&r->text, le_ktree_updates, LE_SCATTER_MAX + 1, "update");
        read_change(r, s, ',');
        break;
    case LE_STATEMENT_LEAVE:
        s->variable = le_kernel_find(r, le_read_take(&r->text, "a scope"));
        break;
    case LE_STATEMENT_RETURN:
        if (!strchr("\n;}", le_read_next(&r->text)))
            s->x = le_kernel_expression(r);
        break;
    case LE_STATEMENT_LOOP:
        read_loop(r, s);
        break;
    case LE_STATEMENT_WHILE:
        s->x = le_kernel_expression(r);
        read_role(r, s);
        break;
    case LE_STATEMENT_SCOPE:
        read_scope(r, s);
        break;
    case LE_STATEMENT_FUNCTION:
        read_function(r, s);
        break;
    case LE_STATEMENT_TOTALS:
        read_totals(r, s);
        break;
    case LE_STATEMENT_CALL:
        s->x = le_kernel_expression(r);
        break;
    case LE_STATEMENT_FAULT:
        read_fault(r, s);
        break;
    case LE_STATEMENT_NOTE:
        s->code = (int)le_read_whole(&r->text, 0, INT_MAX);
        if (!r->tree->fault)
            le_read_fail(&r->text, "the kernel reports no notes");
        break;
    default:
        break;
    }
}

/* An `else` of one `if` has that as its only statement. */
static void read_branch(struct kernel_reader *r, struct le_statement *s, struct le_block *parent) {
    s->x = le_kernel_expression(r);
    open_block(r, s, parent);
    if (!le_read_accept_word(&r->text, "else"))
        return;
    s->otherwise = le_ktree_open(r->tree, parent);
    if (le_read_accept_word(&r->text, "if")) {
        le_kernel_enter(r);
        read_branch(r, add(r, s->otherwise, LE_STATEMENT_BRANCH), s->otherwise);
        r->depth--;
    } else {
        read_block(r, s->otherwise);
    }
}

static void read_statement(struct kernel_reader *r, struct le_block *block) {
    if (le_read_accept(&r->text, '#')) {
        add(r, block, LE_STATEMENT_COMMENT)->text = le_read_rest(&r->text);
        return;
    }
    struct le_statement *s = add(
        r, block, (enum le_statement_kind)le_read_choose(&r->text, le_ktree_words, LE_STATEMENT_COMMENT, "statement"));
    if (s->kind == LE_STATEMENT_BRANCH) {
        read_branch(r, s, block);
        return;
    }
    read_details(r, s);
    if (le_ktree_has_block(s->kind))
        open_block(r, s, block);
}

/* ---- blocks */

/* Skips what separates statements; false: there is nothing of it. */
static bool end_statement(struct kernel_reader *r) {
    bool found = false;
    for (char c = le_read_next(&r->text); r->text.at < r->text.end && (c == '\n' || c == ';');
         c = le_read_next(&r->text)) {
        r->text.at++;
        r->text.line += c == '\n';
        r->text.line_start = c == '\n' ? r->text.at : r->text.line_start;
        found = true;
    }
    return found;
}

static void read_block(struct kernel_reader *r, struct le_block *block) {
    le_kernel_enter(r);
    le_read_expect(&r->text, '{');
    end_statement(r);
    while (!le_read_accept(&r->text, '}')) {
        read_statement(r, block);
        if (!end_statement(r) && le_read_next(&r->text) != '}')
            le_read_fail(&r->text, "unexpected text after a statement");
    }
    r->depth--;
}

/* ---- the kernel */

static void read_kernel(struct kernel_reader *r) {
    struct le_kernel_tree *t = r->tree;
    static const char *const limits[] = {"threads", "resident", "cluster"};
    int *const numbers[] = {&t->threads, &t->resident, &t->cluster};
    t->comment = "";
    for (end_statement(r); le_read_accept(&r->text, '#'); end_statement(r))
        t->comment = le_read_rest(&r->text);
    le_read_expect_word(&r->text, "kernel");
    t->name = define(r, NULL);
    struct variables parameters = read_parameters(r);
    t->parameters.at = parameters.at;
    t->parameters.count = t->parameters.capacity = parameters.count;
    for (size_t k = 0; k < ARRAY_LEN(limits); k++)
        if (le_read_accept_word(&r->text, limits[k]))
            *numbers[k] = (int)le_read_whole(&r->text, 1, INT_MAX);
    if (le_read_accept_word(&r->text, "reports"))
        t->fault = le_kernel_find(r, le_read_take(&r->text, "a parameter"));
    if (t->fault && le_read_accept(&r->text, ','))
        t->action = le_kernel_expression(r);
    read_block(r, t->root);
    end_statement(r);
    if (r->text.at < r->text.end)
        le_read_fail(&r->text, "unexpected text after the kernel");
}

leat_status le_ktree_read(struct le_arena *arena, const char *text, size_t size_bytes, struct le_kernel_tree **tree) {
    struct kernel_reader *r = LE_NEW(arena, struct kernel_reader);
    le_reader_init(&r->text, arena, "kernel", text, size_bytes, word_length);
    r->tree = *tree = le_ktree_new(arena);
    if (setjmp(r->text.failure))
        return r->text.status;
    read_kernel(r);
    return LEAT_OK;
}
