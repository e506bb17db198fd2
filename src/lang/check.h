/* The checker's own: what classify.c finds out about every name, and what statements (check.c, blocks.c), declarations
 * (declare.c), defs (definition.c) and expressions (resolve.c) share while the tree is built. */
#ifndef LE_CHECK_H
#define LE_CHECK_H
#include "lang/fault.h"
#include "lang/tree.h"
#include <setjmp.h>

/* A block of statements, or a def's that is being put in place: names that are set in it end with it. NULL stands for
 * the program's own level. */
struct le_block {
    const struct le_block *outer; /* whose names it sees, too: those of where the text stands */
    int limit;                    /* of the defs there, those from this number on are not seen */
    struct le_block *before;      /* the one that was open before it */
    int mark;                     /* of the checker's changes */
};
/* What a name means in a block: a symbol, or the index of a `for` or an `each`. */
struct le_binding {
    struct le_symbol *symbol;
    struct le_index *index;
    const struct le_block *block;
    struct le_binding *older;
};
struct le_frame;
struct le_definition {
    const struct le_stmt *stmt;
    int number;                  /* of its statement: a def sees the defs with lower ones */
    struct le_definition *older; /* of the same name */
    const struct le_block *block;
    const struct le_frame *frame; /* in force where it stands */
    bool *takes_array;            /* by parameter: it names an array */
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
    bool wants_out;                  /* `out` stands before the first assignment or use */
    bool listed;                     /* among the index names */
    bool ended;                      /* a block that set it is over */
    const struct le_block *ended_in; /* so is one inside of this def's block, which set it for itself */
    struct le_place out_place;
    struct le_symbol *symbol; /* at the program's own level */
    /* and what a block may change, until it ends */
    bool broken; /* its own statement has an error: it makes no others */
    struct le_binding *binding;
    struct le_definition *definition;
    enum le_edge edge;
    struct le_symbol *fill;
    /* of the statement at hand */
    struct le_index *free; /* in statement free_of */
    int free_of;
};

/* The parameters in force inside of a def that stand for what the caller wrote: all of an expression's, those of a
 * block's that name arrays (the others' arguments are NULL: they are symbols). */
struct le_frame {
    const struct le_stmt *definition;
    struct le_ast *const *arguments;
    const struct le_scope *caller;
    const struct le_frame *outer; /* of the def that it stands in */
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
    const struct le_block *block;
    int limit; /* defs from this number on are not seen */
};

struct le_indices {
    struct le_index **at;
    int count, capacity;
};

struct le_steps {
    struct le_step *at;
    int count, capacity;
};

/* Where the checker stands; put back as a whole when a statement fails, or a call is over. */
struct le_position {
    const struct le_stmt *stmt;
    int statement;          /* numbers what has free indices of its own */
    const char *no_indices; /* why there are none outside of reductions; NULL: there may be */
    int index_limit;        /* as many indices may there be in all */
    int around_count, depth;
    int guards;          /* around what is resolved: conditions, and an element's own control statements */
    int conditions;      /* of those: the ?:, && and || of the statement at hand */
    int dots_reductions; /* over `...` that stand around */
    bool has_dots;       /* outside of them, with at least one axis for sure */
    struct le_place dots_place;
    const struct le_symbol *owner; /* what the statement assigns */
    struct le_block *block;
    const struct le_frame *frame;
    struct le_steps *steps;
    int loop; /* the step of the innermost `for` or `while`; -1: none */
    bool in_for, conditional;
    /* In an `each` or a def's block, which run for one element: all that is assigned is private, within `element`. */
    const struct le_block *element;
    bool in_call;
    bool binds_dots; /* the each's `...` */
};

struct le_checker {
    struct le_arena *arena;
    struct le_tree *tree;
    struct {
        struct le_symbol **at;
        int count, capacity;
    } symbols;
    struct le_steps steps;
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
    struct {
        struct le_change {
            struct le_name *name, before;
        } * at;
        int count, capacity;
    } changes; /* that blocks have made to names */
    int node_count, number;
    struct le_symbol *defaulting; /* the input whose default is being resolved */
    struct le_position now;
    /* of the statement at hand, an `each` with all in it being one */
    struct le_indices free, all;
    struct {
        struct le_access *at;
        int count, capacity;
    } accesses;
    struct le_index *around[LE_INDICES_MAX];
    jmp_buf *failure;
};

#define LE_SCALAR_NEEDED "a scalar is needed here"

_Noreturn void le_checker_fail(struct le_checker *c, struct le_place place, const char *expected, const char *format,
                               ...) __attribute__((format(printf, 4, 5)));
/* Leaves the statement without a word: the error was told before. */
_Noreturn void le_checker_leave(struct le_checker *c);
struct le_name *le_checker_name(struct le_checker *c, const char *text);

/* classify.c: which names are indices; errors are added. */
void le_classify(struct le_checker *c, struct le_stmts stmts);

/* structure.c: adds an error for each statement that stands where it must not. */
void le_check_structure(struct le_stmts stmts);
/* Whether a return stands in them, or, if breaks, a break that leaves the loop around. */
bool le_stmts_leave(struct le_stmts stmts, bool breaks);
bool le_stmt_leaves(const struct le_stmt *stmt, bool breaks);
bool le_stmts_end(struct le_stmts stmts);      /* one of them does */
bool le_stmt_ends(const struct le_stmt *stmt); /* its block: what follows never runs */
/* The next of a chain of else-ifs; NULL: there is none, and the `else`, if any, is a block. */
const struct le_stmt *le_stmt_chained(const struct le_stmt *stmt);

/* scope.c: blocks, and what names mean in them. */
struct le_block *le_checker_open(struct le_checker *c, const struct le_block *outer, int limit);
void le_checker_close(struct le_checker *c);
/* Closes all that was opened since. */
void le_checker_unwind(struct le_checker *c, const struct le_block *block);
/* To be called before what a block may change of a name is changed. */
void le_checker_change(struct le_checker *c, struct le_name *name);
void le_checker_bind(struct le_checker *c, struct le_name *name, struct le_symbol *symbol, struct le_index *index);
/* Seen from the block; NULL: it means nothing in the blocks that are open. */
const struct le_binding *le_checker_binding(const struct le_name *name, const struct le_block *from);
/* The symbol, or NULL. */
struct le_symbol *le_checker_find(const struct le_name *name, const struct le_block *from);
const struct le_definition *le_checker_definition(const struct le_name *name, const struct le_scope *scope);
bool le_block_within(const struct le_block *block, const struct le_block *outer);

/* symbol.c: an input that is met; how does not matter where its kind is known. */
enum le_use { LE_USE_SCALAR, LE_USE_ARRAY, LE_USE_DECLARED };
struct le_symbol *le_checker_add_symbol(struct le_checker *c, struct le_name *name, struct le_symbol *symbol);
struct le_symbol *le_checker_input(struct le_checker *c, struct le_name *name, enum le_use use, struct le_place place);
/* The symbol is used with count subscripts, and `...` before them if dots. */
void le_checker_use_array(struct le_checker *c, struct le_symbol *symbol, int count, bool dots, struct le_place place);
void le_checker_use_scalar(struct le_checker *c, struct le_symbol *symbol, struct le_place place);

/* resolve.c */
void le_checker_start(struct le_checker *c, const struct le_stmt *stmt, const char *no_indices);
/* So many nodes more: fails when the program is too large. */
void le_checker_count(struct le_checker *c, int count, struct le_place place);
struct le_tree_node *le_resolve(struct le_checker *c, const struct le_ast *ast, const struct le_scope *scope);
/* Outside of all reductions and expressions' defs. */
struct le_scope le_checker_scope(const struct le_checker *c);
struct le_tree_node *le_resolve_top(struct le_checker *c, const struct le_ast *ast);
/* That, for what is one number. */
struct le_tree_node *le_resolve_scalar(struct le_checker *c, const struct le_ast *ast);
/* `...` needs one on the left, or the each's. */
void le_checker_no_dots(struct le_checker *c);
/* The argument that the name stands for; NULL if it is no parameter here. *where: its frame, may be NULL. */
const struct le_ast *le_frame_argument(const struct le_frame *frame, const char *name, const struct le_frame **where);
/* A new one, which reductions, `each` and `for` bind. */
struct le_index *le_checker_index(struct le_checker *c, struct le_name *name, struct le_place place);
/* Fails if an `each` or a `for` around has that index. */
void le_checker_unused(struct le_checker *c, const struct le_name *name, struct le_place place);
/* The statement's own index of that name, made when it is met first. */
struct le_index *le_checker_free_index(struct le_checker *c, struct le_name *name, struct le_place place);
void le_checker_range(struct le_checker *c, struct le_index *index, const struct le_ast_range *range,
                      const struct le_scope *scope);
struct le_tree_node *le_checker_node(struct le_checker *c, enum le_tree_kind kind, struct le_place place,
                                     int child_count);
struct le_access *le_checker_access(struct le_checker *c, struct le_tree_node *read);

/* definition.c: a def is stated; one that is called. */
void le_check_definition(struct le_checker *c, const struct le_stmt *stmt);
struct le_tree_node *le_resolve_definition(struct le_checker *c, const struct le_ast *ast, const struct le_scope *scope,
                                           const struct le_definition *definition);

/* steps */
struct le_step *le_checker_step(struct le_checker *c, enum le_step_kind kind, struct le_place place);
/* Gives the step the indices and accesses that were collected since le_checker_start; nothing for an element's. */
void le_checker_finish(struct le_checker *c, struct le_step *step);

/* check.c: statements in order, each with its own errors; but in a call an error leaves the statement around. */
void le_check_statements(struct le_checker *c, struct le_stmts stmts);
void le_check_try(struct le_checker *c, const struct le_stmt *stmt,
                  void (*check)(struct le_checker *c, const struct le_stmt *stmt));

/* blocks.c */
void le_check_control(struct le_checker *c, const struct le_stmt *stmt);

/* declare.c */
void le_check_declaration(struct le_checker *c, const struct le_stmt *stmt);
void le_check_edge(struct le_checker *c, const struct le_stmt *stmt);

/* types.c: finds types as far as they are known; le_checked: inputs NULL, what is unknown stays LE_NONE. */
bool le_find_types(struct le_arena *arena, struct le_tree *tree, const struct le_input *inputs);
#endif
