/* What has to change in preprocessed CUDA C before a C++ compiler takes it: a walk over its tokens, not a parse. Shared
 * variables become thread-local ones, the other words of CUDA go, and kernels and variables of the namespaces are
 * listed in a table after the source. What lies outside the subset is found here, with its line. Text of the system's
 * headers and of our own is passed over. */
#ifndef LE_SIM_REWRITE_H
#define LE_SIM_REWRITE_H
#include "base/arena.h"
#include "base/text.h"
#include <stdbool.h>

struct sim_source {
    const char *text; /* preprocessed, with line markers */
    size_t length;
    const char *folder; /* of our own headers: named <leat> in the result, whatever it is called this time */
    const char *const *expressions;
    int expression_count;
    bool check;
};
struct sim_rewritten {        /* finish both */
    struct le_text text, log; /* log: "file(line): error: ...\n" for each error */
    int errors;
    bool spins; /* it reads volatile memory */
    bool gcc;   /* by the marks that our headers leave; else clang */
    int compiler_major;
};
#define SIM_OWN_FILES     "<leat>"
#define SIM_EXPRESSION_IN "name expression " /* the file that errors of a name expression are in */
void le_sim_rewrite(struct le_arena *arena, const struct sim_source *source, struct sim_rewritten *rewritten);
/* The expression without spaces and what stands before the name. */
char *le_sim_lowered_name(struct le_arena *arena, const char *expression);

/* ---- sim_tokens.c */
enum sim_token_kind { SIM_WORD, SIM_NUMBER, SIM_STRING, SIM_SIGN, SIM_MARKER, SIM_FOREIGN };
struct sim_token { /* with the blanks before it */
    const char *start, *text;
    size_t length; /* of text */
    enum sim_token_kind kind;
    int line;
    const char *file;
    const char *instead; /* NULL: as it is */
    const char *before;  /* NULL: nothing */
};
struct sim_tokens {
    struct sim_token *at;
    int count, capacity;
};
void le_sim_tokens_read(struct le_arena *arena, const struct sim_source *source, struct sim_tokens *tokens);
bool le_sim_token_is(const struct sim_token *token, const char *text);
#endif
