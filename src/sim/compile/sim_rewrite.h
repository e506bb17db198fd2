/* Rewrites preprocessed CUDA C into C++, by walking over its tokens without parsing. Shared variables become
 * thread-local variables, other CUDA keywords are removed, and a table of the kernels and of the variables at namespace
 * scope is added after the source. Unsupported constructs are reported here, with their line. Text of system headers
 * and of our own headers is skipped. */
#ifndef LE_SIM_REWRITE_H
#define LE_SIM_REWRITE_H
#include "base/arena.h"
#include "base/text.h"
#include <stdbool.h>

struct sim_source {
    const char *text; /* preprocessed, with line markers */
    size_t length;
    const char *folder; /* the folder of our own headers, which is named <leat> in the result */
    const char *const *expressions;
    int expression_count;
    bool check;
};
struct sim_rewritten {        /* free text and log with le_text_finish */
    struct le_text text, log; /* log: "file(line): error: ...\n" for each error */
    int errors;
    bool spins; /* the program reads volatile memory */
    bool gcc;   /* the compiler is gcc, according to our headers; else clang */
    int compiler_major;
};
#define SIM_OWN_FILES     "<leat>"
#define SIM_EXPRESSION_IN "name expression " /* the file name in errors of a name expression */
void le_sim_rewrite(struct le_arena *arena, const struct sim_source *source, struct sim_rewritten *rewritten);
/* The expression without spaces, and without '&' and '::' at the front. */
char *le_sim_lowered_name(struct le_arena *arena, const char *expression);

/* ---- sim_tokens.c */
enum sim_token_kind { SIM_WORD, SIM_NUMBER, SIM_STRING, SIM_SIGN, SIM_MARKER, SIM_FOREIGN };
struct sim_token { /* start: the blanks before it */
    const char *start, *text;
    size_t length; /* of text */
    enum sim_token_kind kind;
    int line;
    const char *file;
    const char *instead; /* replaces the text; NULL: unchanged */
    const char *before;  /* is inserted before it; NULL: nothing */
};
struct sim_tokens {
    struct sim_token *at;
    int count, capacity;
};
void le_sim_tokens_read(struct le_arena *arena, const struct sim_source *source, struct sim_tokens *tokens);
bool le_sim_token_is(const struct sim_token *token, const char *text);
#endif
