/* Turns text into tokens. Words are interned. Comments, and newlines that do not end a statement, are dropped. Numbers
 * are not converted here. A bad character does not stop the scan: it becomes a BAD token, about which the parser
 * reports nothing more. */
#include "lang/scan.h"
#include "base/text.h"
#include "lang/program_error.h"
#include "lang/habits.h"
#include <string.h>

struct scanner {
    struct le_arena *arena;
    const char *text;
    int size, at, line, line_start;
    int parentheses;            /* number of open parentheses and brackets */
    bool newline;               /* a newline follows the last token and may end the statement */
    struct le_token newline_at; /* the first such newline */
    struct le_tokens tokens;
    struct le_names names; /* from words to their number in `words` */
    struct {
        struct le_word **at;
        int count, capacity;
    } words;
};

static const struct le_word reserved[] = {
    {"in", LE_WORD_KEYWORD, LE_KEY_IN},           {"out", LE_WORD_KEYWORD, LE_KEY_OUT},
    {"var", LE_WORD_KEYWORD, LE_KEY_VAR},         {"edge", LE_WORD_KEYWORD, LE_KEY_EDGE},
    {"def", LE_WORD_KEYWORD, LE_KEY_DEF},         {"each", LE_WORD_KEYWORD, LE_KEY_EACH},
    {"for", LE_WORD_KEYWORD, LE_KEY_FOR},         {"while", LE_WORD_KEYWORD, LE_KEY_WHILE},
    {"if", LE_WORD_KEYWORD, LE_KEY_IF},           {"else", LE_WORD_KEYWORD, LE_KEY_ELSE},
    {"where", LE_WORD_KEYWORD, LE_KEY_WHERE},     {"return", LE_WORD_KEYWORD, LE_KEY_RETURN},
    {"break", LE_WORD_KEYWORD, LE_KEY_BREAK},     {"by", LE_WORD_KEYWORD, LE_KEY_BY},
    {"true", LE_WORD_CONSTANT, LE_CONSTANT_TRUE}, {"false", LE_WORD_CONSTANT, LE_CONSTANT_FALSE},
    {"inf", LE_WORD_CONSTANT, LE_CONSTANT_INF},   {"nan", LE_WORD_CONSTANT, LE_CONSTANT_NAN},
    {"pi", LE_WORD_CONSTANT, LE_CONSTANT_PI},
};

/* Longer signs come before their prefixes. */
static const struct {
    char text[4];
    int sign;
} signs[] = {
    {"...", LE_SIGN_DOTS},   {"..", LE_SIGN_TO},      {"**", LE_SIGN_POW},     {"//", LE_SIGN_FLOORDIV},
    {"<<", LE_SIGN_SHL},     {">>", LE_SIGN_SHR},     {"<=", LE_SIGN_LE},      {">=", LE_SIGN_GE},
    {"==", LE_SIGN_EQ},      {"!=", LE_SIGN_NE},      {"&&", LE_SIGN_LAND},    {"||", LE_SIGN_LOR},
    {"+=", LE_SIGN_ADD_SET}, {"-=", LE_SIGN_SUB_SET}, {"*=", LE_SIGN_MUL_SET}, {"/=", LE_SIGN_DIV_SET},
};

static const struct le_word *add_word(struct scanner *s, struct le_word word) {
    struct le_word *kept = LE_NEW(s->arena, struct le_word);
    *kept = word;
    le_names_put(s->arena, &s->names, word.text, strlen(word.text), s->words.count);
    *LE_PUSH(s->arena, &s->words) = kept;
    return kept;
}

static void add_reserved(struct scanner *s) {
    for (size_t k = 0; k < ARRAY_LEN(reserved); k++)
        add_word(s, reserved[k]);
    for (int k = 0; k < LE_RED_FUNCTIONS; k++)
        add_word(s, (struct le_word){le_reduction_name((enum le_reduction)k), LE_WORD_REDUCTION, k});
    for (int k = LE_BOOL; k < LE_TYPES; k++)
        add_word(s, (struct le_word){le_type_name((enum le_type)k), LE_WORD_TYPE, k});
}

static const struct le_word *find_word(struct scanner *s, const char *text, int length) {
    int known = le_names_get(&s->names, text, (size_t)length);
    if (known >= 0)
        return s->words.at[known];
    return add_word(s, (struct le_word){le_arena_copy(s->arena, text, (size_t)length), LE_WORD_FREE, 0});
}

static bool is_hex(char c) {
    return le_is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
static bool begins_name(char c) {
    return le_is_letter(c) || c == '_';
}

static char peek_char(const struct scanner *s, int at) {
    return at < s->size ? s->text[at] : 0;
}

static int skip_digits(const struct scanner *s, int at) {
    while (le_is_digit(peek_char(s, at)))
        at++;
    return at;
}

/* The end of the number that starts at `at`. A dot followed by another dot belongs to a range. */
static int number_end(const struct scanner *s, int at) {
    if (peek_char(s, at) == '0' && (peek_char(s, at + 1) | 32) == 'x' && is_hex(peek_char(s, at + 2))) {
        at += 2;
        while (is_hex(peek_char(s, at)))
            at++;
        return at;
    }
    at = skip_digits(s, at);
    if (peek_char(s, at) == '.' && peek_char(s, at + 1) != '.')
        at = skip_digits(s, at + 1);
    if ((peek_char(s, at) | 32) == 'e') {
        int digits = at + 1 + (peek_char(s, at + 1) == '+' || peek_char(s, at + 1) == '-');
        if (le_is_digit(peek_char(s, digits)))
            at = skip_digits(s, digits);
    }
    return peek_char(s, at) == 'j' ? at + 1 : at;
}

static struct le_token token_here(const struct scanner *s, enum le_token_kind kind, int sign, int length) {
    return (struct le_token){.kind = (uint16_t)kind,
                             .sign = (uint16_t)sign,
                             .offset = s->at,
                             .length = length,
                             .line = s->line,
                             .column = s->at - s->line_start + 1};
}

/* Whether the last token needs a continuation: an operator, a comma or an opening bracket. */
static bool needs_continuation(const struct scanner *s) {
    if (s->tokens.count == 0)
        return false;
    const struct le_token *last = &s->tokens.at[s->tokens.count - 1];
    return last->kind == LE_TOKEN_SIGN && last->sign != ')' && last->sign != ']' && last->sign != '}' &&
           last->sign != '{';
}

static bool continues_statement(const struct le_token *token) {
    if (token->kind == LE_TOKEN_NAME)
        return token->word->kind == LE_WORD_KEYWORD &&
               (token->word->value == LE_KEY_ELSE || token->word->value == LE_KEY_WHERE);
    return token->kind == LE_TOKEN_SIGN && token->sign != '}';
}

static void push_statement_end(struct scanner *s, struct le_token end) {
    if (s->tokens.count > 0 && s->tokens.at[s->tokens.count - 1].kind != LE_TOKEN_END)
        *LE_PUSH(s->arena, &s->tokens) = end;
}

static void push_token(struct scanner *s, struct le_token token) {
    if (s->newline && s->parentheses == 0 && !needs_continuation(s) && !continues_statement(&token))
        push_statement_end(s, s->newline_at);
    s->newline = false;
    if (token.kind == LE_TOKEN_SIGN) {
        if (token.sign == '(' || token.sign == '[')
            s->parentheses++;
        if ((token.sign == ')' || token.sign == ']') && s->parentheses > 0)
            s->parentheses--;
    }
    *LE_PUSH(s->arena, &s->tokens) = token;
    s->at += token.length;
}

static void scan_word(struct scanner *s) {
    int end = s->at + 1;
    while (begins_name(peek_char(s, end)) || le_is_digit(peek_char(s, end)))
        end++;
    int length = end - s->at;
    const char *text = s->text + s->at;
    bool is_min = length == 3 && memcmp(text, "min", 3) == 0, is_max = length == 3 && memcmp(text, "max", 3) == 0;
    if ((is_min || is_max) && peek_char(s, end) == '=' && peek_char(s, end + 1) != '=') {
        push_token(s, token_here(s, LE_TOKEN_SIGN, is_min ? LE_SIGN_MIN_SET : LE_SIGN_MAX_SET, 4));
        return;
    }
    struct le_token token = token_here(s, LE_TOKEN_NAME, 0, length);
    token.word = find_word(s, text, length);
    push_token(s, token);
}

/* Consecutive bad characters are one error. */
static bool is_stray(char c) {
    return !begins_name(c) && !le_is_digit(c) && !strchr(" \t\r\f\n;#+-*/%<>=!~&|^?:,()[]{}.", c ? c : 1);
}

/* The word or sign that starts at `at`. */
static const char *text_at(const struct scanner *s, int at) {
    int end = at;
    while (begins_name(peek_char(s, end)) || le_is_digit(peek_char(s, end)))
        end++;
    if (end == at && peek_char(s, at) == '*' && peek_char(s, at + 1) == '*')
        end = at + 2;
    else if (end == at && at < s->size)
        end = at + 1;
    return le_arena_copy(s->arena, s->text + at, (size_t)(end - at));
}

static const char *stray_advice(const struct scanner *s) {
    const struct le_token *last = s->tokens.count > 0 ? &s->tokens.at[s->tokens.count - 1] : NULL;
    bool joined = last && last->offset + last->length == s->at;
    struct le_syntax syntax = {.wanted = "",
                               .number = "",
                               .before =
                                   joined ? le_arena_copy(s->arena, s->text + last->offset, (size_t)last->length) : "",
                               .found = le_arena_copy(s->arena, s->text + s->at, 1),
                               .after = text_at(s, s->at + 1)};
    return le_habit_of_syntax(&syntax);
}

/* The end of a string on this line, which is one error; s->at if there is none. */
static int quoted_end(const struct scanner *s) {
    char quote = s->text[s->at];
    int end = s->at + 1;
    if (quote != '"' && quote != '\'')
        return s->at;
    while (end < s->size && s->text[end] != quote && s->text[end] != '\n')
        end++;
    return peek_char(s, end) == quote ? end + 1 : s->at;
}

static void scan_stray(struct scanner *s) {
    int end = s->at + 1;
    while (end < s->size && is_stray(s->text[end]))
        end++;
    int quoted = quoted_end(s);
    struct le_token token = token_here(s, LE_TOKEN_BAD, 0, quoted > end ? quoted - s->at : end - s->at);
    struct le_location location = {token.line, token.column, token.length};
    unsigned char c = (unsigned char)s->text[s->at];
    if (c >= 0x20 && c != 0x7f)
        le_program_error_add(LEAT_PROGRAM, location,
                             c >= 0x80 ? "names consist of ASCII letters, digits and _" : stray_advice(s),
                             "unexpected character '%.*s'", end - s->at < 12 ? end - s->at : 12, s->text + s->at);
    else
        le_program_error_add(LEAT_PROGRAM, location, "programs are UTF-8 text", "unexpected character with code %d", c);
    push_token(s, token);
}

static void scan_sign(struct scanner *s) {
    for (size_t k = 0; k < ARRAY_LEN(signs); k++) {
        int length = (int)strlen(signs[k].text);
        if (length <= s->size - s->at && memcmp(signs[k].text, s->text + s->at, (size_t)length) == 0) {
            push_token(s, token_here(s, LE_TOKEN_SIGN, signs[k].sign, length));
            return;
        }
    }
    char c = s->text[s->at];
    if (c != 0 && strchr("-+*/%<>=!~&|^?:,()[]{}", c))
        push_token(s, token_here(s, LE_TOKEN_SIGN, c, 1));
    else
        scan_stray(s);
}

static void scan_newline(struct scanner *s) {
    if (!s->newline)
        s->newline_at = token_here(s, LE_TOKEN_END, 0, 1);
    s->newline = true;
    s->at++;
    s->line++;
    s->line_start = s->at;
}

static void scan_semicolon(struct scanner *s) {
    s->newline = false;
    push_statement_end(s, token_here(s, LE_TOKEN_END, ';', 1));
    s->at++;
}

static void scan_comment(struct scanner *s) {
    const char *end = memchr(s->text + s->at, '\n', (size_t)(s->size - s->at));
    s->at = end ? (int)(end - s->text) : s->size;
}

static void scan_token(struct scanner *s) {
    char c = s->text[s->at];
    if (c == ' ' || c == '\t' || c == '\r' || c == '\f')
        s->at++;
    else if (c == '\n')
        scan_newline(s);
    else if (c == '#')
        scan_comment(s);
    else if (c == ';')
        scan_semicolon(s);
    else if (begins_name(c))
        scan_word(s);
    else if (le_is_digit(c) || (c == '.' && le_is_digit(peek_char(s, s->at + 1))))
        push_token(s, token_here(s, LE_TOKEN_NUMBER, 0, number_end(s, s->at) - s->at));
    else
        scan_sign(s);
}

struct le_tokens le_scan_tokens(struct le_arena *arena, const char *text, int size_bytes) {
    struct scanner s = {.arena = arena, .text = text, .size = size_bytes, .line = 1};
    add_reserved(&s);
    if (size_bytes >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) /* a byte order mark, which some editors write */
        s.at = s.line_start = 3;
    while (s.at < s.size)
        scan_token(&s);
    *LE_PUSH(arena, &s.tokens) = token_here(&s, LE_TOKEN_END, 0, 0);
    *LE_PUSH(arena, &s.tokens) = token_here(&s, LE_TOKEN_EOF, 0, 0);
    return s.tokens;
}
