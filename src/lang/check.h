/* The checker's own: what classify.c finds out about every name, and what statements (check.c), declarations
 * (declare.c) and expressions (resolve.c) share while the tree is built. */
#ifndef LE_CHECK_H
#define LE_CHECK_H
#include "lang/fault.h"
#include "lang/tree.h"
#include <setjmp.h>

struct le_definition {
    const struct le_stmt *stmt;
    int number;                  /* of its statement: a def sees the defs with lower ones */
    struct le_definition *older; /* of the same name */
};

/* All that is known about a name. */
struct le_name {
    const char *text;
    /* from classify.c, over the whole program */
    bool declared, assigned, subscripted, bound, bare, mentioned;
    struct le_place index_place; /* where it is first used as an index */
    int local;                   /* parameters and reductions that it stands for right now */
    bool is_index, conflict;
    /* as the statements are checked */
    bool wants_out; /* `out` stands before the first assignment or use */
    bool listed;    /* among the index names */
    bool broken;    /* its own statement has an error: it makes no others */
    struct le_place out_place;
    struct le_symbol *symbol;
    struct le_definition *definition;
    enum le_edge edge;
    struct le_symbol *fill;
    struct le_index *free; /* in statement free_of */
    int free_of;
};

/* The parameters in force inside of a def. */
struct le_frame {
    const struct le_stmt *definition;
    const struct le_asts *arguments;
    const struct le_scope *caller;
};
/* Indices of the reductions around, the innermost first. */
struct le_bound {
    const char *name;
    struct le_index *index;
    const struct le_bound *outer;
};
/* What a name may mean besides what it means everywhere. */
struct le_scope {
    const struct le_frame *frame;
    const struct le_bound *bound;
    int limit; /* defs from this number on are not seen */
};

struct le_indices {
    struct le_index **at;
    int count, capacity;
};

struct le_checker {
    struct le_arena *arena;
    struct le_tree *tree;
    struct {
        struct le_symbol **at;
        int count, capacity;
    } symbols;
    struct {
        struct le_step *at;
        int count, capacity;
    } steps;
    struct {
        const char **at;
        int count, capacity;
    } index_names;
    struct {
        struct le_place *at;
        int count, capacity;
    } index_places;
    struct le_names numbers; /* names to their place in `names` */
    struct {
        struct le_name **at;
        int count, capacity;
    } names;
    int node_count, depth;
    struct le_symbol *defaulting; /* the input whose default is being resolved */
    /* the statement at hand */
    int number;
    const struct le_stmt *stmt;
    const char *no_indices; /* why there are none outside of reductions; NULL: there may be */
    struct le_indices free, all;
    struct {
        struct le_access *at;
        int count, capacity;
    } accesses;
    struct le_index *around[LE_INDICES_MAX];
    int around_count, guards;
    int dots_reductions; /* over `...` that stand around */
    bool has_dots;       /* outside of them, with at least one axis for sure */
    struct le_place dots_place;
    const struct le_symbol *owner; /* what the statement assigns */
    jmp_buf failure;
};

_Noreturn void le_checker_fail(struct le_checker *c, struct le_place place, const char *expected, const char *format,
                               ...) __attribute__((format(printf, 4, 5)));
/* Leaves the statement without a word: the error was told before. */
_Noreturn void le_checker_leave(struct le_checker *c);
struct le_name *le_checker_name(struct le_checker *c, const char *text);

/* classify.c: which names are indices; errors are added. */
void le_classify(struct le_checker *c, struct le_stmts stmts);
/* unsupported.c: adds an error for each statement that is not supported; false if there was one. */
bool le_check_supported(struct le_stmts stmts);

/* symbols: an input that is met; how does not matter where its kind is known. */
enum le_use { LE_USE_SCALAR, LE_USE_ARRAY, LE_USE_DECLARED };
struct le_symbol *le_checker_add_symbol(struct le_checker *c, struct le_name *name, struct le_symbol *symbol);
struct le_symbol *le_checker_input(struct le_checker *c, struct le_name *name, enum le_use use, struct le_place place);
/* The symbol is used with count subscripts, and `...` before them if dots. */
void le_checker_use_array(struct le_checker *c, struct le_symbol *symbol, int count, bool dots, struct le_place place);
void le_checker_use_scalar(struct le_checker *c, struct le_symbol *symbol, struct le_place place);

/* resolve.c */
void le_checker_start(struct le_checker *c, const struct le_stmt *stmt, const char *no_indices);
struct le_tree_node *le_resolve(struct le_checker *c, const struct le_ast *ast, const struct le_scope *scope);
/* Outside of all reductions and defs. */
struct le_tree_node *le_resolve_top(struct le_checker *c, const struct le_ast *ast);
/* The statement's own index of that name, made when it is met first. */
struct le_index *le_checker_free_index(struct le_checker *c, struct le_name *name, struct le_place place);
void le_checker_range(struct le_checker *c, struct le_index *index, const struct le_ast_range *range,
                      const struct le_scope *scope);
struct le_tree_node *le_checker_node(struct le_checker *c, enum le_tree_kind kind, struct le_place place,
                                     int child_count);
struct le_access *le_checker_access(struct le_checker *c, struct le_tree_node *read);
const struct le_definition *le_checker_definition(const struct le_name *name, int limit);

/* steps */
struct le_step *le_checker_step(struct le_checker *c, enum le_step_kind kind, struct le_place place);
/* Gives the step the indices and accesses that were collected since le_checker_start. */
void le_checker_finish(struct le_checker *c, struct le_step *step);

/* declare.c */
void le_check_declaration(struct le_checker *c, const struct le_stmt *stmt);
void le_check_edge(struct le_checker *c, const struct le_stmt *stmt);

/* types.c: finds types as far as they are known; le_checked: inputs NULL, what is unknown stays LE_NONE. */
bool le_find_types(struct le_arena *arena, struct le_tree *tree, const struct le_input *inputs);
#endif
