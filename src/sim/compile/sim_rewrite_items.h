/* The state of the walk over tokens, and functions shared by the files of the rewriter. */
#ifndef LE_SIM_REWRITE_ITEMS_H
#define LE_SIM_REWRITE_ITEMS_H
#include "base/status.h"
#include "sim/compile/sim_rewrite.h"

enum sim_scope_kind { SIM_NAMESPACE, SIM_EXTERN_C, SIM_INSIDE };
struct sim_scope {
    enum sim_scope_kind kind;
    const char *name; /* of a namespace */
    bool outside;     /* the value of `outside` before it */
};
struct sim_declared {
    const char *name, *full, *file; /* full: with namespaces */
    const char *max_threads;        /* of a kernel: the text of the expression */
    const char *cluster;            /* of a kernel: ", x, y, z"; "": none */
    int line;
    bool kernel, constant;
};
struct sim_walk {
    struct le_arena *arena;
    const struct sim_source *source;
    struct sim_rewritten *out;
    struct sim_tokens tokens;
    struct {
        struct sim_scope *at;
        int count, capacity;
    } scopes;
    struct {
        struct sim_declared *at;
        int count, capacity;
    } declared;
    int statement;      /* where the current statement starts */
    int seen_statement; /* the last statement whose variables are listed */
    bool outside;       /* at namespace scope, not in a function or a class */
    bool spins;         /* the program reads volatile memory */
    bool flattens;      /* kernels contain the code of the functions that they call */
};
void le_sim_walk_error(struct sim_walk *w, int at, const char *format, ...) __attribute__((format(printf, 3, 4)));
int le_sim_walk_close(const struct sim_walk *w, int at); /* the index of the bracket that closes the one at `at` */
int le_sim_walk_find(const struct sim_walk *w, int from, int to, const char *text); /* -1: not found */
int le_sim_walk_end(const struct sim_walk *w, int at);

void le_sim_walk_kernel(struct sim_walk *w, int at); /* at: __global__ */
void le_sim_walk_variables(struct sim_walk *w);      /* lists the variables that the current statement declares */
void le_sim_walk_items(struct sim_walk *w);          /* writes the table of items */
#endif
