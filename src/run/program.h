/* A program: its text, checked, and never changed after. Reference-counted; shared by threads. */
#ifndef LE_PROGRAM_H
#define LE_PROGRAM_H
#include "lang/tree.h"
#include "run/context.h"

struct leat_program {
    atomic_int refcount;
    leat_context *ctx; /* retained */
    struct le_arena arena;
    const char *name, *text;
    size_t text_bytes;
    const struct le_tree *tree;
    int *results; /* symbol ids of the default results */
    int result_count;
    const struct le_symbol **names[LEAT_NAME_TEMPORARY + 1]; /* of each kind, in order of appearance; none of indices */
    size_t name_counts[LEAT_NAME_TEMPORARY + 1];
};

leat_status le_program_new(leat_context *ctx, const char *text, size_t size_bytes, const char *name,
                           leat_program **program);
leat_program *le_program_retain(leat_program *program);
void le_program_release(leat_program *program);
/* The names of one kind, in order of appearance: number k, or false. */
bool le_program_name(const leat_program *program, leat_name_kind kind, size_t k, leat_name_info *info);
/* Shows errors of the last failure in the program's text, if they have a place in it. */
void le_program_source(const leat_program *program);
#endif
