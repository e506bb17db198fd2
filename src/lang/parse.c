/* Parses statements; basic operations on tokens. An error is reported where it occurs and leaves by longjmp to the
 * statement, which is skipped; only the arena owns memory in between. check.c handles names, indices and types. */
#include "lang/parse.h"
#include "lang/habits.h"
#include <string.h>

/* ---- tokens */

const struct le_token *le_parser_peek(const struct le_parser *p, int offset) {
    int last = p->tokens.count - 1;
    return &p->tokens.at[offset < last - p->at ? p->at + offset : last];
}

const struct le_token *le_parser_next(struct le_parser *p) {
    const struct le_token *token = le_parser_now(p);
    if (token->kind != LE_TOKEN_EOF)
        p->at++;
    return token;
}

bool le_parser_at(const struct le_parser *p, int sign) {
    return le_parser_now(p)->kind == LE_TOKEN_SIGN && le_parser_now(p)->sign == sign;
}

bool le_parser_at_key(const struct le_parser *p, enum le_keyword key) {
    const struct le_token *token = le_parser_now(p);
    return token->kind == LE_TOKEN_NAME && token->word->kind == LE_WORD_KEYWORD && token->word->value == (int)key;
}

bool le_parser_accept(struct le_parser *p, int sign) {
    if (!le_parser_at(p, sign))
        return false;
    p->at++;
    return true;
}

bool le_parser_accept_key(struct le_parser *p, enum le_keyword key) {
    if (!le_parser_at_key(p, key))
        return false;
    p->at++;
    return true;
}

struct le_location le_parser_location(const struct le_token *token) {
    return (struct le_location){token->line, token->column, token->length};
}

struct le_location le_parser_span(const struct le_parser *p, int first_token) {
    const struct le_token *first = &p->tokens.at[first_token], *last = &p->tokens.at[p->at - 1];
    struct le_location location = le_parser_location(first);
    if (last->line == first->line && last->offset > first->offset)
        location.span = last->offset + last->length - first->offset;
    return location;
}

static _Noreturn void leave_statement(struct le_parser *p) {
    longjmp(p->failure, 1);
}

_Noreturn void le_parser_fail(struct le_parser *p, struct le_location location, const char *expected,
                              const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    le_errors_add(LEAT_PROGRAM, location, expected, format, arguments);
    va_end(arguments);
    leave_statement(p);
}

static const char *token_text(const struct le_parser *p, int at) {
    if (at < 0 || at >= p->tokens.count || p->tokens.at[at].kind == LE_TOKEN_END)
        return "";
    const struct le_token *token = &p->tokens.at[at];
    return token->kind == LE_TOKEN_NUMBER ? "0"
                                          : le_arena_copy(p->arena, p->text + token->offset, (size_t)token->length);
}

/* The number that ends where the current token begins, or "". */
static const char *joined_number(const struct le_parser *p) {
    const struct le_token *now = le_parser_now(p), *last = p->at > 0 ? &p->tokens.at[p->at - 1] : NULL;
    bool joined = last && last->kind == LE_TOKEN_NUMBER && last->offset + last->length == now->offset;
    return joined ? le_arena_copy(p->arena, p->text + last->offset, (size_t)last->length) : "";
}

const char *le_parser_advice(const struct le_parser *p, const char *what) {
    struct le_syntax syntax = {.wanted = what,
                               .number = joined_number(p),
                               .before = token_text(p, p->at - 1),
                               .found = token_text(p, p->at),
                               .after = token_text(p, p->at + 1),
                               .found_name = le_parser_now(p)->kind == LE_TOKEN_NAME};
    return le_habit_of_syntax(&syntax);
}

_Noreturn void le_parser_fail_wanted(struct le_parser *p, const char *what) {
    const struct le_token *token = le_parser_now(p);
    if (token->kind == LE_TOKEN_BAD)
        leave_statement(p); /* the scanner has reported it */
    const char *advice = le_parser_advice(p, what);
    if (token->kind == LE_TOKEN_EOF || (token->kind == LE_TOKEN_END && token->length == 0))
        le_parser_fail(p, le_parser_location(token), advice, "expected %s, found the end of the program", what);
    if (token->kind == LE_TOKEN_END && token->sign != ';')
        le_parser_fail(p, le_parser_location(token), advice, "expected %s, found the end of the line", what);
    le_parser_fail(p, le_parser_location(token), advice, "expected %s, found '%.*s'", what,
                   token->length < 40 ? token->length : 40, p->text + token->offset);
}

void le_parser_expect(struct le_parser *p, int sign, const char *why) {
    if (le_parser_accept(p, sign))
        return;
    char text[3] = {(char)sign, 0, 0};
    le_parser_fail_wanted(p, le_arena_format(p->arena, "'%s'%s", sign == LE_SIGN_TO ? ".." : text, why));
}

const char *le_parser_name(struct le_parser *p, const char *what) {
    const struct le_token *token = le_parser_now(p);
    if (token->kind != LE_TOKEN_NAME)
        le_parser_fail_wanted(p, what);
    if (token->word->kind != LE_WORD_FREE)
        le_parser_fail(p, le_parser_location(token), "choose another name", "'%s' is reserved", token->word->text);
    return le_parser_next(p)->word->text;
}

void le_parser_enter(struct le_parser *p) {
    if (++p->depth > LE_NESTING_MAX)
        le_parser_fail(p, le_parser_location(le_parser_now(p)), "split it into several statements",
                       "nesting is too deep (limit: %d levels)", LE_NESTING_MAX);
}

/* ---- statements */

static void parse_statement(struct le_parser *p, struct le_stmt *stmt);

static void check_end(struct le_parser *p, const char *wanted) {
    const struct le_token *token = le_parser_now(p);
    if (token->kind != LE_TOKEN_END && token->kind != LE_TOKEN_EOF && !(p->braces > 0 && le_parser_at(p, '}')))
        le_parser_fail_wanted(p, wanted);
}

static struct le_stmts parse_block(struct le_parser *p) {
    struct le_stmts stmts = {0};
    le_parser_expect(p, '{', "");
    le_parser_enter(p);
    p->braces++;
    while (!le_parser_at(p, '}')) {
        if (le_parser_now(p)->kind == LE_TOKEN_EOF)
            le_parser_fail_wanted(p, "'}'");
        if (le_parser_now(p)->kind == LE_TOKEN_END) {
            le_parser_next(p);
            continue;
        }
        struct le_stmt *stmt = LE_NEW(p->arena, struct le_stmt);
        parse_statement(p, stmt);
        *LE_PUSH(p->arena, &stmts) = stmt;
        check_end(p, "the end of the statement");
    }
    le_parser_next(p);
    p->braces--;
    p->depth--;
    return stmts;
}

static void parse_declared_type(struct le_parser *p, struct le_ast_item *item) {
    const struct le_token *token = le_parser_now(p);
    const char *meant = token->kind == LE_TOKEN_NAME ? le_habit_of_type(token->word->text) : NULL;
    if (meant)
        le_parser_fail(p, le_parser_location(token), le_arena_format(p->arena, "write %s", meant),
                       "expected a type, found '%s'", token->word->text);
    if (token->kind != LE_TOKEN_NAME || token->word->kind != LE_WORD_TYPE)
        le_parser_fail_wanted(p, "a type");
    item->type = (enum le_type)token->word->value;
    le_parser_next(p);
}

static void parse_declaration(struct le_parser *p, struct le_stmt *stmt) {
    stmt->kind = LE_STMT_DECL;
    do {
        struct le_ast_item item = {.location = le_parser_location(le_parser_now(p))};
        item.name = le_parser_name(p, "a name");
        if (le_parser_accept(p, ':'))
            parse_declared_type(p, &item);
        if (le_parser_accept(p, '[')) {
            item.is_array = true;
            item.sizes = le_parse_expressions(p, ']');
        }
        if (le_parser_accept(p, '='))
            item.value = le_parse_expression(p);
        *LE_PUSH(p->arena, &stmt->items) = item;
    } while (le_parser_accept(p, ','));
}

static void parse_edge(struct le_parser *p, struct le_stmt *stmt) {
    stmt->kind = LE_STMT_EDGE;
    do {
        const char *name = le_parser_name(p, "a name");
        *LE_PUSH(p->arena, &stmt->names) = name;
    } while (le_parser_accept(p, ','));
    const struct le_token *token = le_parser_now(p);
    stmt->edge = LE_EDGES;
    if (token->kind == LE_TOKEN_NAME)
        stmt->edge = le_edge_parse(token->word->text, strlen(token->word->text));
    if (stmt->edge == LE_EDGES)
        le_parser_fail_wanted(p, "an edge mode (clamp wrap mirror symmetric none fill)");
    le_parser_next(p);
    if (stmt->edge == LE_EDGE_FILL) {
        le_parser_expect(p, '(', " and the value");
        stmt->value = le_parse_expression(p);
        le_parser_expect(p, ')', "");
    }
}

static void check_parameter(struct le_parser *p, const struct le_stmt *stmt) {
    const char *name = stmt->names.at[stmt->names.count - 1];
    struct le_location location = le_parser_location(&p->tokens.at[p->at - 1]);
    if (stmt->names.count > LE_PARAMETERS_MAX)
        le_parser_fail(p, location, NULL, "'%s' has more than %d parameters", stmt->name, LE_PARAMETERS_MAX);
    for (int k = 0; k < stmt->names.count - 1; k++)
        if (stmt->names.at[k] == name)
            le_parser_fail(p, location, NULL, "'%s' has two parameters named '%s'", stmt->name, name);
}

static void parse_definition(struct le_parser *p, struct le_stmt *stmt) {
    stmt->kind = LE_STMT_DEF;
    stmt->name = le_parser_name(p, "a name");
    le_parser_expect(p, '(', "");
    if (!le_parser_at(p, ')')) {
        do {
            const char *name = le_parser_name(p, "a parameter");
            *LE_PUSH(p->arena, &stmt->names) = name;
            check_parameter(p, stmt);
        } while (le_parser_accept(p, ','));
    }
    le_parser_expect(p, ')', "");
    if (le_parser_accept(p, '='))
        stmt->value = le_parse_expression(p);
    else if (le_parser_at(p, '{'))
        stmt->body = parse_block(p);
    else
        le_parser_fail_wanted(p, "'=' and an expression");
}

static void parse_for(struct le_parser *p, struct le_stmt *stmt) {
    stmt->kind = LE_STMT_FOR;
    struct le_ast_binder index = {.location = le_parser_location(le_parser_now(p)), .has_range = true};
    index.name = stmt->name = le_parser_name(p, "an index");
    if (!le_parser_accept_key(p, LE_KEY_IN))
        le_parser_fail_wanted(p, "'in'");
    index.range = le_parse_range(p);
    *LE_PUSH(p->arena, &stmt->binders) = index;
    stmt->body = parse_block(p);
}

/* An else-if chain is parsed in a loop, although each `if` is nested in the `else` of the previous one. */
static void parse_if(struct le_parser *p, struct le_stmt *stmt) {
    for (;;) {
        stmt->kind = LE_STMT_IF;
        stmt->value = le_parse_expression(p);
        stmt->body = parse_block(p);
        if (!le_parser_accept_key(p, LE_KEY_ELSE))
            return;
        const struct le_token *token = le_parser_now(p);
        if (!le_parser_accept_key(p, LE_KEY_IF)) {
            stmt->otherwise_body = parse_block(p);
            return;
        }
        struct le_stmt *next = LE_NEW(p->arena, struct le_stmt);
        next->location = le_parser_location(token);
        next->offset = (size_t)token->offset;
        *LE_PUSH(p->arena, &stmt->otherwise_body) = next;
        stmt = next;
    }
}

static bool accept_assignment_sign(struct le_parser *p, struct le_stmt *stmt) {
    const struct le_token *token = le_parser_now(p);
    if (token->kind != LE_TOKEN_SIGN)
        return false;
    if (token->sign == '=')
        stmt->op = LE_ASSIGN_SET;
    else if (token->sign >= LE_SIGN_ADD_SET && token->sign <= LE_SIGN_MAX_SET)
        stmt->op = (enum le_assign)(LE_ASSIGN_ADD + (token->sign - LE_SIGN_ADD_SET));
    else
        return false;
    le_parser_next(p);
    return true;
}

static void parse_assignment(struct le_parser *p, struct le_stmt *stmt) {
    stmt->kind = LE_STMT_ASSIGN;
    int first = p->at;
    stmt->name = le_parser_name(p, "a statement");
    if (le_parser_accept(p, '[')) {
        stmt->has_subscripts = true;
        stmt->subscripts = le_parse_subscripts(p);
    }
    stmt->left_span = le_parser_span(p, first).span;
    if (!accept_assignment_sign(p, stmt))
        le_parser_fail_wanted(p, "'=' or another assignment");
    stmt->value = le_parse_expression(p);
    if (le_parser_accept_key(p, LE_KEY_ELSE))
        stmt->otherwise = le_parse_expression(p);
    if (le_parser_accept_key(p, LE_KEY_WHERE)) {
        stmt->binders = le_parse_binders(p);
        check_end(p, "',' or the end of the ranges");
    }
}

static void parse_keyword_statement(struct le_parser *p, struct le_stmt *stmt, enum le_keyword key) {
    if (key == LE_KEY_ELSE || key == LE_KEY_WHERE || key == LE_KEY_BY)
        le_parser_fail_wanted(p, "a statement");
    le_parser_next(p);
    switch (key) {
    case LE_KEY_IN:
        stmt->decl = LE_DECL_IN;
        parse_declaration(p, stmt);
        break;
    case LE_KEY_OUT:
        stmt->decl = LE_DECL_OUT;
        parse_declaration(p, stmt);
        break;
    case LE_KEY_VAR:
        stmt->decl = LE_DECL_VAR;
        parse_declaration(p, stmt);
        break;
    case LE_KEY_EDGE:
        parse_edge(p, stmt);
        break;
    case LE_KEY_DEF:
        parse_definition(p, stmt);
        break;
    case LE_KEY_FOR:
        parse_for(p, stmt);
        break;
    case LE_KEY_IF:
        parse_if(p, stmt);
        break;
    case LE_KEY_BREAK:
        stmt->kind = LE_STMT_BREAK;
        break;
    case LE_KEY_EACH:
        stmt->kind = LE_STMT_EACH;
        stmt->binders = le_parse_binders(p);
        stmt->body = parse_block(p);
        break;
    case LE_KEY_WHILE:
        stmt->kind = LE_STMT_WHILE;
        stmt->value = le_parse_expression(p);
        stmt->body = parse_block(p);
        break;
    default: /* return */
        stmt->kind = LE_STMT_RETURN;
        stmt->value = le_parse_expression(p);
        break;
    }
}

static void parse_statement(struct le_parser *p, struct le_stmt *stmt) {
    int first = p->at;
    const struct le_token *token = le_parser_now(p);
    stmt->location = le_parser_location(token);
    stmt->offset = (size_t)token->offset;
    if (token->kind != LE_TOKEN_NAME)
        le_parser_fail_wanted(p, "a statement");
    if (token->word->kind == LE_WORD_KEYWORD)
        parse_keyword_statement(p, stmt, (enum le_keyword)token->word->value);
    else
        parse_assignment(p, stmt);
    int last = p->at - 1;
    stmt->size_bytes = p->tokens.at[last].offset + p->tokens.at[last].length - p->tokens.at[first].offset;
    while (p->tokens.at[last].line > token->line)
        last--;
    stmt->location.span = p->tokens.at[last].offset + p->tokens.at[last].length - p->tokens.at[first].offset;
}

/* After an error: skips to the end of the statement and of the blocks that enclose it. */
static void skip_statement(struct le_parser *p) {
    int open = p->braces;
    for (;; le_parser_next(p)) {
        const struct le_token *token = le_parser_now(p);
        if (token->kind == LE_TOKEN_EOF || (token->kind == LE_TOKEN_END && open <= 0))
            return;
        if (le_parser_at(p, '{'))
            open++;
        if (le_parser_at(p, '}'))
            open--;
    }
}

static bool try_statement(struct le_parser *p, struct le_stmt *stmt) {
    p->depth = p->braces = 0;
    if (setjmp(p->failure))
        return false;
    parse_statement(p, stmt);
    check_end(p, "the end of the statement");
    return true;
}

struct le_stmts le_parse(struct le_arena *arena, const char *text, size_t size_bytes) {
    struct le_stmts stmts = {0};
    if (size_bytes > LE_TEXT_MAX) {
        le_program_error_add(LEAT_PROGRAM, (struct le_location){0}, NULL, "the program has %zu bytes; the limit is %d",
                             size_bytes, LE_TEXT_MAX);
        return stmts;
    }
    struct le_parser p = {.arena = arena, .text = text, .tokens = le_scan_tokens(arena, text, (int)size_bytes)};
    while (le_parser_now(&p)->kind != LE_TOKEN_EOF && !le_program_errors_full()) {
        if (le_parser_now(&p)->kind == LE_TOKEN_END) {
            le_parser_next(&p);
            continue;
        }
        int first = p.at;
        struct le_stmt *stmt = LE_NEW(arena, struct le_stmt);
        if (try_statement(&p, stmt)) {
            *LE_PUSH(arena, &stmts) = stmt;
            continue;
        }
        if (p.at == first)
            le_parser_next(&p);
        skip_statement(&p);
    }
    return stmts;
}
