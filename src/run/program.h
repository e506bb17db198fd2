/* A program: checked text, immutable, reference-counted, shared by threads. */
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
    int *results; /* IDs of the symbols that are the default results */
    int result_count;
    const struct le_symbol **names[LEAT_NAME_TEMPORARY + 1]; /* by kind, in le_program_name's order; unused for indices,
                                                                whose names are in the tree */
    size_t name_counts[LEAT_NAME_TEMPORARY + 1];
};

leat_status le_program_new(leat_context *ctx, const char *text, size_t size_bytes, const char *name,
                           leat_program **program);
leat_program *le_program_retain(leat_program *program);
void le_program_release(leat_program *program);
/* Describes name number k of one kind, in the order of leat_program_name. Returns false if there are fewer. */
bool le_program_name(const leat_program *program, leat_name_kind kind, size_t k, leat_name_info *info);
/* The ID of the symbol of an input or result, k as in le_program_name; -1: there are fewer. */
int le_program_symbol(const leat_program *program, leat_name_kind kind, size_t k);
bool le_program_is_index(const leat_program *program, const char *name);
/* Adds source lines to the errors of the last failure, if they have a location in the program's text. */
void le_program_source(const leat_program *program);
#endif
