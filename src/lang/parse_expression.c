/* Parses expressions. The recursion is as deep as the nesting of the text (LE_NESTING_MAX); chains of operators are
 * parsed in loops. */
#include "lang/habits.h"
#include "lang/parse.h"
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_SHOWN 40

static const struct {
    int sign, level;
    enum le_op op;
} operators[] = {
    {LE_SIGN_LOR, 0, LE_OP_LOR}, {LE_SIGN_LAND, 1, LE_OP_LAND},
    {LE_SIGN_EQ, 2, LE_OP_EQ},   {LE_SIGN_NE, 2, LE_OP_NE},
    {'<', 2, LE_OP_LT},          {LE_SIGN_LE, 2, LE_OP_LE},
    {'>', 2, LE_OP_GT},          {LE_SIGN_GE, 2, LE_OP_GE},
    {'|', 3, LE_OP_OR},          {'^', 4, LE_OP_XOR},
    {'&', 5, LE_OP_AND},         {LE_SIGN_SHL, 6, LE_OP_SHL},
    {LE_SIGN_SHR, 6, LE_OP_SHR}, {'+', 7, LE_OP_ADD},
    {'-', 7, LE_OP_SUB},         {'*', 8, LE_OP_MUL},
    {'/', 8, LE_OP_DIV},         {LE_SIGN_FLOORDIV, 8, LE_OP_FLOORDIV},
    {'%', 8, LE_OP_MOD},
};
#define LEVEL_COMPARE 2

static struct le_ast *parse_unary(struct le_parser *p);

static struct le_ast *new_ast(struct le_parser *p, enum le_ast_kind kind, struct le_location location) {
    struct le_ast *ast = LE_NEW(p->arena, struct le_ast);
    ast->kind = kind;
    ast->location = location;
    ast->depth = 1;
    return ast;
}

/* Updates the depth of ast for an operand. */
static void add_depth(struct le_parser *p, struct le_ast *ast, const struct le_ast *below) {
    if (below->depth >= ast->depth)
        ast->depth = below->depth + 1;
    if (ast->depth > LE_DEPTH_MAX)
        le_parser_fail(p, ast->location, "split it into several statements",
                       "the expression is nested too deeply (limit: %d operations, chains such as a + b + c included)",
                       LE_DEPTH_MAX);
}

static void add_depths(struct le_parser *p, struct le_ast *ast) {
    for (int k = 0; k < ast->children.count; k++)
        add_depth(p, ast, ast->children.at[k]);
}

static struct le_ast *new_parent(struct le_parser *p, enum le_ast_kind kind, struct le_location location, enum le_op op,
                                 int count, struct le_ast *const *children) {
    struct le_ast *ast = new_ast(p, kind, location);
    ast->op = (int)op;
    ast->children.at = LE_NEW_ARRAY(p->arena, count, struct le_ast *);
    ast->children.count = ast->children.capacity = count;
    memcpy(ast->children.at, children, (size_t)count * sizeof *children);
    add_depths(p, ast);
    return ast;
}

/* ---- numbers */

static struct le_ast *parse_whole_number(struct le_parser *p, struct le_ast *ast, const char *text, int base) {
    for (const char *c = text; *c; c++) {
        int digit = *c <= '9' ? *c - '0' : (*c | 32) - 'a' + 10;
        if (__builtin_mul_overflow(ast->integer, (uint64_t)base, &ast->integer) ||
            __builtin_add_overflow(ast->integer, (uint64_t)digit, &ast->integer))
            le_parser_fail(p, ast->location, "integers must be below 2**64; write a float for a larger number",
                           "the number %.*s%s is too large", NUMBER_SHOWN, text,
                           strlen(text) > NUMBER_SHOWN ? "..." : "");
    }
    ast->op = LE_WEAK_INT;
    return ast;
}

/* Does not depend on the process's locale. */
static double read_real(const char *text) {
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (c_locale == (locale_t)0)
        return strtod(text, NULL);
    double value = strtod_l(text, NULL, c_locale);
    freelocale(c_locale);
    return value;
}

static struct le_ast *parse_number(struct le_parser *p) {
    const struct le_token *token = le_parser_next(p);
    struct le_ast *ast = new_ast(p, LE_AST_NUMBER, le_parser_location(token));
    char *text = le_arena_copy(p->arena, p->text + token->offset, (size_t)token->length);
    if (text[0] == '0' && (text[1] | 32) == 'x')
        return parse_whole_number(p, ast, text + 2, 16);
    if (strspn(text, "0123456789") == (size_t)token->length)
        return parse_whole_number(p, ast, text, 10);
    if (text[token->length - 1] == 'j') {
        ast->imaginary = true;
        text[token->length - 1] = 0;
    }
    ast->op = LE_WEAK_FLOAT;
    ast->real = read_real(text);
    return ast;
}

static struct le_ast *parse_constant(struct le_parser *p, const struct le_token *token) {
    static const double values[] = {
        [LE_CONSTANT_INF] = INFINITY, [LE_CONSTANT_NAN] = NAN, [LE_CONSTANT_PI] = 3.14159265358979323846};
    struct le_ast *ast = new_ast(p, LE_AST_NUMBER, le_parser_location(token));
    if (token->word->value == LE_CONSTANT_TRUE || token->word->value == LE_CONSTANT_FALSE) {
        ast->op = LE_BOOL;
        ast->integer = token->word->value == LE_CONSTANT_TRUE;
    } else {
        ast->op = LE_WEAK_FLOAT;
        ast->real = values[token->word->value];
    }
    return ast;
}

/* ---- ranges, binders, lists */

/* Parses an expression inside another one. */
static struct le_ast *parse_inner(struct le_parser *p) {
    le_parser_enter(p);
    struct le_ast *result = le_parse_expression(p);
    p->depth--;
    return result;
}

struct le_ast_range le_parse_range(struct le_parser *p) {
    struct le_ast_range range = {.low = parse_inner(p)};
    le_parser_expect(p, LE_SIGN_TO, " of a range");
    range.high = parse_inner(p);
    if (le_parser_accept_key(p, LE_KEY_BY))
        range.by = parse_inner(p);
    return range;
}

static void parse_binder(struct le_parser *p, struct le_ast_binder *binder) {
    int first = p->at;
    *binder = (struct le_ast_binder){0};
    if (le_parser_accept(p, LE_SIGN_DOTS)) {
        binder->dots = true;
        binder->name = "...";
    } else {
        binder->name = le_parser_name(p, "an index");
    }
    binder->location = le_parser_span(p, first);
    if (!binder->dots && le_parser_accept_key(p, LE_KEY_IN)) {
        binder->has_range = true;
        binder->range = le_parse_range(p);
    }
}

struct le_ast_binders le_parse_binders(struct le_parser *p) {
    struct le_ast_binders binders = {0};
    do {
        struct le_ast_binder next;
        parse_binder(p, &next);
        if (binders.count == LE_INDICES_MAX)
            le_parser_fail(p, next.location, "split it into several statements",
                           "the statement has %d indices; the limit is %d", binders.count + 1, LE_INDICES_MAX);
        if (next.dots && binders.count > 0)
            le_parser_fail(p, next.location, NULL, "'...' must come first, and only once");
        *LE_PUSH(p->arena, &binders) = next;
    } while (le_parser_accept(p, ','));
    return binders;
}

struct le_asts le_parse_expressions(struct le_parser *p, int end) {
    struct le_asts list = {0};
    do {
        struct le_ast *next = parse_inner(p);
        *LE_PUSH(p->arena, &list) = next;
    } while (le_parser_accept(p, ','));
    le_parser_expect(p, end, "");
    return list;
}

struct le_asts le_parse_subscripts(struct le_parser *p) {
    struct le_asts list = {0};
    for (;;) {
        struct le_ast *next;
        if (le_parser_at(p, LE_SIGN_DOTS))
            next = new_ast(p, LE_AST_DOTS, le_parser_location(le_parser_next(p)));
        else
            next = parse_inner(p);
        if (next->kind == LE_AST_DOTS && list.count > 0)
            le_parser_fail(p, next->location, "write x[..., i]", "'...' must come first, and only once");
        *LE_PUSH(p->arena, &list) = next;
        if (le_parser_accept(p, ']'))
            return list;
        if (!le_parser_accept(p, ','))
            le_parser_fail_wanted(p, "',' or ']'");
    }
}

/* ---- expressions */

/* After NAME "(": whether names and commas are followed by "in" or ":". */
static bool is_reduction(const struct le_parser *p) {
    for (int k = 0;; k += 2) {
        const struct le_token *token = le_parser_peek(p, k), *after = le_parser_peek(p, k + 1);
        bool dots = token->kind == LE_TOKEN_SIGN && token->sign == LE_SIGN_DOTS;
        if (!dots && !(token->kind == LE_TOKEN_NAME && token->word->kind == LE_WORD_FREE))
            return false;
        if (after->kind == LE_TOKEN_NAME)
            return after->word->kind == LE_WORD_KEYWORD && after->word->value == LE_KEY_IN;
        if (after->kind != LE_TOKEN_SIGN || after->sign != ',')
            return after->kind == LE_TOKEN_SIGN && after->sign == ':';
    }
}

static struct le_ast *parse_reduction(struct le_parser *p, const struct le_word *word, int first) {
    struct le_ast *ast = new_ast(p, LE_AST_REDUCE, (struct le_location){0});
    ast->op = word->value;
    ast->name = word->text;
    ast->binders = le_parse_binders(p);
    le_parser_expect(p, ':', " of the reduction");
    *LE_PUSH(p->arena, &ast->children) = parse_inner(p);
    le_parser_expect(p, ')', "");
    ast->location = le_parser_span(p, first);
    add_depths(p, ast);
    for (int k = 0; k < ast->binders.count; k++) {
        const struct le_ast_binder *b = &ast->binders.at[k];
        if (!b->has_range)
            continue;
        add_depth(p, ast, b->range.low);
        add_depth(p, ast, b->range.high);
        if (b->range.by)
            add_depth(p, ast, b->range.by);
    }
    return ast;
}

static _Noreturn void fail_reduction(struct le_parser *p, const struct le_word *word, int first) {
    const char *known[LE_RED_FUNCTIONS], *advice = le_habit_of_function(word->text);
    for (int k = 0; k < LE_RED_FUNCTIONS; k++)
        known[k] = le_reduction_name((enum le_reduction)k);
    const char *near = le_nearest(word->text, known, LE_RED_FUNCTIONS);
    if (!advice && near)
        advice = le_arena_format(p->arena, "did you mean `%s`?", near);
    le_parser_fail(p, le_parser_location(&p->tokens.at[first]),
                   advice ? advice : "reductions are sum prod min max any all mean argmin argmax",
                   "unknown reduction '%s'", word->text);
}

static struct le_ast *parse_call(struct le_parser *p, const struct le_word *word, int first) {
    if (is_reduction(p) && word->kind != LE_WORD_REDUCTION)
        fail_reduction(p, word, first);
    if (word->kind == LE_WORD_REDUCTION) {
        if (is_reduction(p))
            return parse_reduction(p, word, first);
        if (word->value != LE_RED_MIN && word->value != LE_RED_MAX)
            le_parser_fail(p, le_parser_location(&p->tokens.at[first]),
                           le_arena_format(p->arena, "write %s(i: x[i])", word->text), "'%s' needs an index",
                           word->text);
    }
    struct le_ast *ast = new_ast(p, LE_AST_CALL, (struct le_location){0});
    ast->name = word->text;
    if (!le_parser_accept(p, ')'))
        ast->children = le_parse_expressions(p, ')');
    ast->location = le_parser_span(p, first);
    add_depths(p, ast);
    return ast;
}

static void check_reserved(struct le_parser *p, const struct le_token *token) {
    const struct le_word *word = token->word;
    const struct le_token *after = le_parser_peek(p, 1);
    bool called = after->kind == LE_TOKEN_SIGN && after->sign == '(';
    if (word->kind == LE_WORD_FREE || (called && word->kind != LE_WORD_KEYWORD))
        return;
    const char *advice = called ? le_habit_of_function(word->text) : NULL;
    if (!advice)
        advice = le_parser_advice(p, "an expression");
    if (word->kind == LE_WORD_REDUCTION)
        advice = le_arena_format(p->arena, "write %s(i: x[i])", word->text);
    else if (word->kind == LE_WORD_TYPE)
        advice = le_arena_format(p->arena, "write %s(x) for a cast", word->text);
    le_parser_fail(p, le_parser_location(token), advice ? advice : "choose another name", "'%s' is reserved",
                   word->text);
}

static struct le_ast *parse_named(struct le_parser *p) {
    int first = p->at;
    const struct le_token *token = le_parser_now(p);
    const struct le_word *word = token->word;
    if (word->kind == LE_WORD_CONSTANT) {
        le_parser_next(p);
        return parse_constant(p, token);
    }
    check_reserved(p, token);
    le_parser_next(p);
    if (le_parser_accept(p, '('))
        return parse_call(p, word, first);
    struct le_ast *ast = new_ast(p, LE_AST_NAME, le_parser_location(token));
    ast->name = word->text;
    if (le_parser_accept(p, '[')) {
        ast->kind = LE_AST_SUBSCRIPT;
        ast->children = le_parse_subscripts(p);
        ast->location = le_parser_span(p, first);
        add_depths(p, ast);
    }
    return ast;
}

/* What is missing here. At the end of a statement the operator before it is named. */
static const char *missing_expression(const struct le_parser *p) {
    const struct le_token *last = p->at > 0 ? &p->tokens.at[p->at - 1] : NULL;
    if (le_parser_now(p)->kind != LE_TOKEN_END || !last || last->kind != LE_TOKEN_SIGN)
        return "an expression";
    return le_arena_format(p->arena, "an expression after '%.*s'", last->length, p->text + last->offset);
}

static struct le_ast *parse_primary(struct le_parser *p) {
    const struct le_token *token = le_parser_now(p);
    if (token->kind == LE_TOKEN_NUMBER)
        return parse_number(p);
    if (token->kind == LE_TOKEN_NAME)
        return parse_named(p);
    if (!le_parser_accept(p, '('))
        le_parser_fail_wanted(p, missing_expression(p));
    struct le_ast *inner = parse_inner(p);
    le_parser_expect(p, ')', "");
    return inner;
}

static struct le_ast *parse_inner_unary(struct le_parser *p);

static struct le_ast *parse_unary(struct le_parser *p) {
    const struct le_token *token = le_parser_now(p);
    struct le_ast *result;
    if (token->kind == LE_TOKEN_SIGN && (token->sign == '-' || token->sign == '!' || token->sign == '~')) {
        le_parser_next(p);
        struct le_ast *operand = parse_inner_unary(p);
        enum le_op op = token->sign == '-' ? LE_OP_NEG : token->sign == '!' ? LE_OP_LNOT : LE_OP_NOT;
        result = new_parent(p, LE_AST_UNARY, le_parser_location(token), op, 1, &operand);
    } else {
        result = parse_primary(p);
        token = le_parser_now(p);
        if (le_parser_accept(p, LE_SIGN_POW)) {
            struct le_ast *both[] = {result, parse_inner_unary(p)};
            result = new_parent(p, LE_AST_BINARY, le_parser_location(token), LE_OP_POW, 2, both);
        }
    }
    return result;
}

static struct le_ast *parse_inner_unary(struct le_parser *p) {
    le_parser_enter(p);
    struct le_ast *result = parse_unary(p);
    p->depth--;
    return result;
}

static int find_operator(const struct le_token *token) {
    if (token->kind == LE_TOKEN_SIGN)
        for (int k = 0; k < (int)ARRAY_LEN(operators); k++)
            if (operators[k].sign == token->sign)
                return k;
    return -1;
}

static struct le_ast *parse_binary(struct le_parser *p, int lowest_level) {
    struct le_ast *left = parse_unary(p);
    bool compared = false;
    for (;;) {
        const struct le_token *token = le_parser_now(p);
        int k = find_operator(token);
        if (k < 0 || operators[k].level < lowest_level)
            return left;
        if (operators[k].level == LEVEL_COMPARE && compared)
            le_parser_fail(p, le_parser_location(token), "write a < b && b < c", "comparisons do not chain");
        le_parser_next(p);
        struct le_ast *both[] = {left, parse_binary(p, operators[k].level + 1)};
        left = new_parent(p, LE_AST_BINARY, le_parser_location(token), operators[k].op, 2, both);
        compared = operators[k].level == LEVEL_COMPARE;
    }
}

struct le_ast *le_parse_expression(struct le_parser *p) {
    struct le_ast *result = parse_binary(p, 0);
    const struct le_token *token = le_parser_now(p);
    if (le_parser_accept(p, '?')) {
        struct le_ast *parts[3] = {result, parse_inner(p)};
        le_parser_expect(p, ':', " of ?:");
        parts[2] = parse_inner(p);
        result = new_parent(p, LE_AST_SELECT, le_parser_location(token), LE_OPS, 3, parts);
    }
    return result;
}
