/* The tokens of a program's text. A newline is a token only if it ends a statement. */
#ifndef LE_SCAN_H
#define LE_SCAN_H
#include "lang/tree.h"

enum le_token_kind { LE_TOKEN_END, LE_TOKEN_EOF, LE_TOKEN_BAD, LE_TOKEN_NUMBER, LE_TOKEN_NAME, LE_TOKEN_SIGN };

/* A sign of one character is represented by that character. */
enum le_sign {
    LE_SIGN_DOTS = 256, /* ... */
    LE_SIGN_TO,         /* .. */
    LE_SIGN_POW,
    LE_SIGN_FLOORDIV,
    LE_SIGN_SHL,
    LE_SIGN_SHR,
    LE_SIGN_LE,
    LE_SIGN_GE,
    LE_SIGN_EQ,
    LE_SIGN_NE,
    LE_SIGN_LAND,
    LE_SIGN_LOR,
    LE_SIGN_ADD_SET, /* op=, in the order of enum le_assign */
    LE_SIGN_SUB_SET,
    LE_SIGN_MUL_SET,
    LE_SIGN_DIV_SET,
    LE_SIGN_MIN_SET,
    LE_SIGN_MAX_SET
};

enum le_word_kind {
    LE_WORD_FREE, /* not reserved */
    LE_WORD_KEYWORD,
    LE_WORD_REDUCTION,
    LE_WORD_TYPE,
    LE_WORD_CONSTANT
};
enum le_keyword {
    LE_KEY_IN,
    LE_KEY_OUT,
    LE_KEY_VAR,
    LE_KEY_EDGE,
    LE_KEY_DEF,
    LE_KEY_EACH,
    LE_KEY_FOR,
    LE_KEY_WHILE,
    LE_KEY_IF,
    LE_KEY_ELSE,
    LE_KEY_WHERE,
    LE_KEY_RETURN,
    LE_KEY_BREAK,
    LE_KEY_BY
};
enum le_constant { LE_CONSTANT_TRUE, LE_CONSTANT_FALSE, LE_CONSTANT_INF, LE_CONSTANT_NAN, LE_CONSTANT_PI };
struct le_word {
    const char *text; /* interned: equal words have one address */
    enum le_word_kind kind;
    int value; /* le_keyword, le_reduction, le_type, le_constant */
};

struct le_token {
    uint16_t kind, sign;
    int offset, length, line, column;
    const struct le_word *word; /* NAME */
};
struct le_tokens {
    struct le_token *at;
    int count, capacity;
};

/* Ends with END and EOF. Errors are added to the thread's record. */
struct le_tokens le_scan_tokens(struct le_arena *arena, const char *text, int size_bytes);
#endif
