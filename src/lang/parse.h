/* Internals of the parser: its state, and the functions shared by statements (parse.c) and expressions
 * (parse_expression.c). */
#ifndef LE_PARSE_H
#define LE_PARSE_H
#include "lang/program_error.h"
#include "lang/scan.h"
#include <setjmp.h>

struct le_parser {
    struct le_arena *arena;
    const char *text;
    struct le_tokens tokens;
    int at;
    int depth;       /* of nesting */
    int braces;      /* number of open braces */
    jmp_buf failure; /* where an error jumps to: the start of the statement */
};

const struct le_token *le_parser_peek(const struct le_parser *p, int offset);
static inline const struct le_token *le_parser_now(const struct le_parser *p) {
    return &p->tokens.at[p->at];
}
const struct le_token *le_parser_next(struct le_parser *p);
bool le_parser_at(const struct le_parser *p, int sign);
bool le_parser_at_key(const struct le_parser *p, enum le_keyword key);
bool le_parser_accept(struct le_parser *p, int sign);
bool le_parser_accept_key(struct le_parser *p, enum le_keyword key);
/* `why` is appended to the expected token in the message; may be "". */
void le_parser_expect(struct le_parser *p, int sign, const char *why);
const char *le_parser_name(struct le_parser *p, const char *what);
/* Enters a level of nesting. The caller leaves it with p->depth--. */
void le_parser_enter(struct le_parser *p);
/* The location of a token, and of the span from a token to the last one taken. */
struct le_location le_parser_location(const struct le_token *token);
struct le_location le_parser_span(const struct le_parser *p, int first_token);
_Noreturn void le_parser_fail(struct le_parser *p, struct le_location location, const char *expected,
                              const char *format, ...) __attribute__((format(printf, 4, 5)));
/* What to write instead of the current token where `what` is expected; NULL if there is no advice. */
const char *le_parser_advice(const struct le_parser *p, const char *what);
/* "expected WHAT, found ..." */
_Noreturn void le_parser_fail_wanted(struct le_parser *p, const char *what);

struct le_ast *le_parse_expression(struct le_parser *p);
struct le_asts le_parse_expressions(struct le_parser *p, int end); /* up to and including the sign `end` */
struct le_asts le_parse_subscripts(struct le_parser *p);           /* after the opening bracket */
struct le_ast_binders le_parse_binders(struct le_parser *p);
struct le_ast_range le_parse_range(struct le_parser *p);
#endif
