/* Reads a kernel's text: its head, variables, statements and blocks. Names are defined before they are used, each once;
 * whether they are in scope is the verifier's. */
#include "base/text.h"
#include "tests/ktree/reader/kernel_words.h"
#include <limits.h>
#include <string.h>

static void read_block(struct kernel_reader *r, struct le_block *block);

static struct le_statement *add(struct kernel_reader *r, struct le_block *block, enum le_statement_kind kind) {
    return le_ktree_add(r->tree, block, (struct le_statement){.kind = kind});
}

static void open_block(struct kernel_reader *r, struct le_statement *s, struct le_block *parent) {
    s->body = le_ktree_open(r->tree, parent);
    s->body->owner = s;
    read_block(r, s->body);
}

static void expect_word(struct kernel_reader *r, const char *word) {
    if (!le_kernel_accept_word(r, word))
        le_kernel_fail(r, "'%s' is missing", word);
}

/* ---- variables */

static void read_extents(struct kernel_reader *r, struct le_variable *v) {
    if (le_kernel_glued(r) != '[') {
        v->axes = v->memory != LE_KTREE_NO_ARRAY;
        return;
    }
    r->at++;
    if (v->memory == LE_KTREE_NO_ARRAY)
        v->memory = LE_KTREE_LOCAL;
    if (v->memory == LE_KTREE_BUFFER || v->memory == LE_KTREE_DYNAMIC)
        le_kernel_fail(r, "extents of what has none");
    do {
        if (v->axes == LE_KTREE_AXES)
            le_kernel_fail(r, "more than %d axes", LE_KTREE_AXES);
        v->extents[v->axes++] = (int)le_kernel_whole(r, 1, INT_MAX);
    } while (le_kernel_accept(r, ','));
    le_kernel_expect(r, ']');
}

/* "x: buffer f32 read as object" */
static struct le_variable *read_declared(struct kernel_reader *r) {
    struct le_variable *v = LE_NEW(r->arena, struct le_variable);
    le_kernel_define(r, v);
    le_kernel_expect(r, ':');
    v->memory = le_kernel_accept_word(r, "buffer")    ? LE_KTREE_BUFFER
                : le_kernel_accept_word(r, "shared")  ? LE_KTREE_SHARED
                : le_kernel_accept_word(r, "dynamic") ? LE_KTREE_DYNAMIC
                : le_kernel_accept_word(r, "local")   ? LE_KTREE_LOCAL
                                                      : LE_KTREE_NO_ARRAY;
    v->type = le_kernel_type(r);
    read_extents(r, v);
    v->read_only = le_kernel_accept_word(r, "read");
    if (le_kernel_accept_word(r, "as")) {
        v->object = le_kernel_expression(r);
        if (v->object->kind != LE_EXPRESSION_CALL)
            le_kernel_fail(r, "an object is missing");
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
    le_kernel_expect(r, '(');
    while (!le_kernel_accept(r, ')')) {
        if (all.count > 0)
            le_kernel_expect(r, ',');
        struct le_variable *v = read_declared(r);
        v->changes = le_kernel_accept_word(r, "changes");
        *LE_PUSH(r->arena, &all) = v;
    }
    return all;
}

/* ---- statements */

/* The value may use what is not defined yet only if the text is wrong, so that the variable is read first. */
static void read_definition(struct kernel_reader *r, struct le_statement *s) {
    s->variable = read_declared(r);
    s->variable->changes = s->kind == LE_STATEMENT_VARIABLE;
    s->aligned = le_kernel_accept_word(r, "aligned");
    s->zeroed = le_kernel_accept_word(r, "zeroed");
    if (s->kind != LE_STATEMENT_ARRAY && le_kernel_accept(r, '='))
        s->x = le_kernel_expression(r);
    if (s->kind == LE_STATEMENT_LET && !s->x)
        le_kernel_fail(r, "'=' is missing");
}

static void read_change(struct kernel_reader *r, struct le_statement *s, char between) {
    s->to = le_kernel_expression(r);
    le_kernel_expect(r, between);
    s->x = le_kernel_expression(r);
}

static void read_role(struct kernel_reader *r, struct le_statement *s) {
    if (le_kernel_accept_word(r, "rolled"))
        s->role = LE_ROLE_ROLLED;
    if (!le_kernel_accept_word(r, "unrolled"))
        return;
    s->role = LE_ROLE_UNROLLED;
    if (le_is_digit(le_kernel_peek(r)))
        s->count = (int)le_kernel_whole(r, 1, INT_MAX);
}

static void read_loop(struct kernel_reader *r, struct le_statement *s) {
    s->variable = LE_NEW(r->arena, struct le_variable);
    le_kernel_define(r, s->variable);
    le_kernel_expect(r, ':');
    s->variable->type = le_kernel_type(r);
    expect_word(r, "in");
    s->x = le_kernel_expression(r);
    le_kernel_expect(r, '.');
    le_kernel_expect(r, '.');
    s->to = le_kernel_expression(r);
    s->step =
        le_kernel_accept_word(r, "step") ? le_kernel_expression(r) : le_ktree_constant(r->tree, s->variable->type, 1);
    s->guard = le_kernel_accept_word(r, "while") ? le_kernel_expression(r) : NULL;
    s->down = le_kernel_accept_word(r, "down");
    read_role(r, s);
}

static void read_scope(struct kernel_reader *r, struct le_statement *s) {
    if (le_kernel_look(r).length == 0)
        return;
    s->variable = LE_NEW(r->arena, struct le_variable);
    s->variable->type = LE_KTREE_VOID;
    le_kernel_define(r, s->variable);
}

static void read_function(struct kernel_reader *r, struct le_statement *s) {
    s->variable = LE_NEW(r->arena, struct le_variable);
    s->variable->function = true;
    le_kernel_define(r, s->variable);
    struct variables parameters = read_parameters(r);
    s->parameters = parameters.at;
    s->parameter_count = parameters.count;
    le_kernel_expect(r, ':');
    s->variable->type = le_kernel_type(r);
}

static void read_totals(struct kernel_reader *r, struct le_statement *s) {
    struct le_totals totals = {.name = le_kernel_define(r, NULL)};
    le_kernel_expect(r, '=');
    do {
        if (totals.count == (int)ARRAY_LEN(totals.part))
            le_kernel_fail(r, "too many parts");
        struct kernel_word w = le_kernel_take(r, "a reduction");
        enum le_reduction reduction = le_reduction_parse(w.at, (size_t)w.length);
        if (reduction == LE_REDUCTIONS)
            le_kernel_fail(r, "'%.*s' is not a reduction", w.length < 60 ? w.length : 60, w.at);
        int type = le_kernel_type(r);
        if (type >= LE_TYPES || type == LE_KTREE_VOID)
            le_kernel_fail(r, "a term of type %s", le_ktree_type_name(r->tree, type));
        totals.part[totals.count].reduction = reduction;
        totals.part[totals.count++].type = (enum le_type)type;
    } while (le_kernel_accept(r, ','));
    totals.narrow = le_kernel_accept_word(r, "narrow");
    s->code = r->tree->totals.count;
    *LE_PUSH(r->arena, &r->tree->totals) = totals;
}

static void read_fault(struct kernel_reader *r, struct le_statement *s) {
    s->code = (int)le_kernel_whole(r, INT_MIN, INT_MAX);
    le_kernel_expect(r, ',');
    s->to = le_kernel_expression(r);
    expect_word(r, "at");
    s->x = le_kernel_expression(r);
    if (le_kernel_accept_word(r, "sets"))
        s->variable = le_kernel_find(r, le_kernel_take(r, "a variable"));
    if (!r->tree->fault || !r->tree->action)
        le_kernel_fail(r, "the kernel reports no faults");
}

/* Reads what follows the statement's first word. */
static void read_plain(struct kernel_reader *r, struct le_statement *s) {
    switch (s->kind) {
    case LE_STATEMENT_LET:
    case LE_STATEMENT_VARIABLE:
    case LE_STATEMENT_ARRAY:
        read_definition(r, s);
        break;
    case LE_STATEMENT_COPY:
        s->count = (int)le_kernel_whole(r, 1, INT_MAX);
        read_change(r, s, '=');
        break;
    case LE_STATEMENT_SET:
        read_change(r, s, '=');
        break;
    case LE_STATEMENT_UPDATE:
        s->code = le_kernel_choose(r, le_ktree_updates, "an update");
        read_change(r, s, ',');
        break;
    case LE_STATEMENT_LEAVE:
        s->variable = le_kernel_find(r, le_kernel_take(r, "a scope"));
        break;
    case LE_STATEMENT_RETURN:
        if (!strchr("\n;}", le_kernel_peek(r)))
            s->x = le_kernel_expression(r);
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
        s->code = (int)le_kernel_whole(r, 0, INT_MAX);
        if (!r->tree->fault)
            le_kernel_fail(r, "the kernel reports no notes");
        break;
    default:
        break;
    }
}

static void read_head(struct kernel_reader *r, struct le_statement *s) {
    switch (s->kind) {
    case LE_STATEMENT_LOOP:
        read_loop(r, s);
        break;
    case LE_STATEMENT_SCOPE:
        read_scope(r, s);
        break;
    case LE_STATEMENT_FUNCTION:
        read_function(r, s);
        break;
    default:
        s->x = le_kernel_expression(r);
        read_role(r, s);
        break;
    }
}

/* An `else` of one `if` has that as its only statement. */
static void read_branch(struct kernel_reader *r, struct le_statement *s, struct le_block *parent) {
    s->x = le_kernel_expression(r);
    open_block(r, s, parent);
    if (!le_kernel_accept_word(r, "else"))
        return;
    s->otherwise = le_ktree_open(r->tree, parent);
    if (le_kernel_accept_word(r, "if")) {
        le_kernel_enter(r);
        read_branch(r, add(r, s->otherwise, LE_STATEMENT_BRANCH), s->otherwise);
        r->depth--;
    } else {
        read_block(r, s->otherwise);
    }
}

static const char *const words[] = {
    [LE_STATEMENT_LET] = "let",           [LE_STATEMENT_VARIABLE] = "var",  [LE_STATEMENT_ARRAY] = "array",
    [LE_STATEMENT_SET] = "set",           [LE_STATEMENT_COPY] = "copy",     [LE_STATEMENT_LOOP] = "loop",
    [LE_STATEMENT_WHILE] = "while",       [LE_STATEMENT_BRANCH] = "if",     [LE_STATEMENT_SCOPE] = "scope",
    [LE_STATEMENT_BREAK] = "break",       [LE_STATEMENT_LEAVE] = "leave",   [LE_STATEMENT_RETURN] = "return",
    [LE_STATEMENT_FUNCTION] = "function", [LE_STATEMENT_TOTALS] = "totals", [LE_STATEMENT_CALL] = "call",
    [LE_STATEMENT_UPDATE] = "update",     [LE_STATEMENT_FAULT] = "fault",   [LE_STATEMENT_NOTE] = "note",
    [LE_STATEMENT_BARRIER] = "barrier",   [LE_STATEMENT_COMMENT] = "#",     NULL};

/* "# text" */
static const char *read_comment(struct kernel_reader *r) {
    if (le_kernel_glued(r) == ' ')
        r->at++;
    return le_kernel_rest(r);
}

static void read_statement(struct kernel_reader *r, struct le_block *block) {
    if (le_kernel_accept(r, '#')) {
        add(r, block, LE_STATEMENT_COMMENT)->text = read_comment(r);
        return;
    }
    struct le_statement *s = add(r, block, (enum le_statement_kind)le_kernel_choose(r, words, "a statement"));
    switch (s->kind) {
    case LE_STATEMENT_LOOP:
    case LE_STATEMENT_WHILE:
    case LE_STATEMENT_SCOPE:
    case LE_STATEMENT_FUNCTION:
        read_head(r, s);
        open_block(r, s, block);
        break;
    case LE_STATEMENT_BRANCH:
        read_branch(r, s, block);
        break;
    default:
        read_plain(r, s);
        break;
    }
}

/* ---- blocks */

/* Skips what separates statements; false: there is nothing of it. */
static bool end_statement(struct kernel_reader *r) {
    bool found = false;
    for (char c = le_kernel_peek(r); r->at < r->end && (c == '\n' || c == ';'); c = le_kernel_peek(r)) {
        r->at++;
        r->line += c == '\n';
        r->line_start = c == '\n' ? r->at : r->line_start;
        found = true;
    }
    return found;
}

static void read_block(struct kernel_reader *r, struct le_block *block) {
    le_kernel_enter(r);
    le_kernel_expect(r, '{');
    end_statement(r);
    while (!le_kernel_accept(r, '}')) {
        read_statement(r, block);
        if (!end_statement(r) && le_kernel_peek(r) != '}')
            le_kernel_fail(r, "unexpected text after a statement");
    }
    r->depth--;
}

/* ---- the kernel */

static void read_kernel(struct kernel_reader *r) {
    struct le_kernel_tree *t = r->tree;
    static const char *const limits[] = {"threads", "resident", "cluster"};
    int *const numbers[] = {&t->threads, &t->resident, &t->cluster};
    t->comment = "";
    for (end_statement(r); le_kernel_accept(r, '#'); end_statement(r))
        t->comment = read_comment(r);
    expect_word(r, "kernel");
    t->name = le_kernel_define(r, NULL);
    struct variables parameters = read_parameters(r);
    t->parameters.at = parameters.at;
    t->parameters.count = t->parameters.capacity = parameters.count;
    for (size_t k = 0; k < ARRAY_LEN(limits); k++)
        if (le_kernel_accept_word(r, limits[k]))
            *numbers[k] = (int)le_kernel_whole(r, 1, INT_MAX);
    if (le_kernel_accept_word(r, "reports"))
        t->fault = le_kernel_find(r, le_kernel_take(r, "a parameter"));
    if (t->fault && le_kernel_accept(r, ','))
        t->action = le_kernel_expression(r);
    read_block(r, t->root);
    end_statement(r);
    if (r->at < r->end)
        le_kernel_fail(r, "unexpected text after the kernel");
}

leat_status le_ktree_read(struct le_arena *arena, const char *text, size_t size_bytes, struct le_kernel_tree **tree) {
    struct kernel_reader *r = LE_NEW(arena, struct kernel_reader);
    r->arena = arena;
    r->tree = *tree = le_ktree_new(arena);
    r->start = r->at = r->line_start = text;
    r->end = text + size_bytes;
    r->line = 1;
    if (setjmp(r->failure))
        return r->status;
    read_kernel(r);
    return LEAT_OK;
}
