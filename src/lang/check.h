/* Internals of the checker: what classify.c records about every name, and the state shared by statements (check.c,
 * blocks.c), declarations (declare.c), defs (definition.c) and expressions (resolve.c) while they build the tree. */
#ifndef LE_CHECK_H
#define LE_CHECK_H
#include "lang/program_error.h"
#include "lang/tree.h"
#include <setjmp.h>

/* A block of statements, or the block of a def that is being inlined. Names set in it exist only inside it. NULL stands
 * for the program's top level. */
struct le_syntax_block {
    const struct le_syntax_block *outer; /* the enclosing block in the text; its names are visible, too */
    int limit;                           /* defs with this number or above are not visible */
    struct le_syntax_block *before;      /* the block that was current before */
    int mark;                            /* the number of changes when it was opened */
};
/* What a name means in a block: a symbol, or the index of a `for` or an `each`. */
struct le_binding {
    struct le_symbol *symbol;
    struct le_index *index;
    const struct le_syntax_block *block;
    struct le_binding *older;
};
struct le_frame;
struct le_definition {
    const struct le_stmt *stmt;
    int number;                  /* of its statement; a def can call only defs with lower numbers */
    struct le_definition *older; /* def of the same name */
    const struct le_syntax_block *block;
    const struct le_frame *frame; /* the frame that was current where the def was defined */
    bool *takes_array;            /* by parameter: it names an array */
};

/* What is known about a name. */
struct le_name {
    const char *text;
    /* from classify.c, over the whole program */
    bool declared, assigned, subscripted, bound, bare, mentioned;
    struct le_location index_location; /* where it is first used as an index */
    struct le_location value_location; /* where it is first used as a value */
    const char *value_use;             /* that use, for a message: "is assigned" */
    int local;                         /* number of enclosing parameters and reductions that bind it */
    bool is_index, conflict;
    /* as the statements are checked */
    bool declared_input;                    /* by an `in` */
    bool wants_out;                         /* an `out` precedes the first assignment or use */
    bool listed;                            /* in the list of index names */
    bool ended;                             /* a block that set it has ended */
    const struct le_syntax_block *ended_in; /* the def's block in which an inner block that set it has ended */
    struct le_location out_location;
    struct le_symbol *symbol; /* at the top level */
    /* what a block may change; restored when the block ends */
    bool broken; /* the statement that sets it has an error: uses report no more errors */
    struct le_binding *binding;
    struct le_definition *definition;
    enum le_edge edge;
    struct le_symbol *fill;
    /* of the current statement */
    struct le_index *free; /* valid if free_of is the statement's number */
    int free_of;
};

/* The parameters that are replaced by the caller's arguments, as text, while a def is inlined. For an expression def
 * these are all parameters. For a block def they are those that name arrays; its other parameters are symbols, and
 * their arguments here are NULL. */
struct le_frame {
    const struct le_stmt *definition;
    struct le_ast *const *arguments;
    const struct le_scope *caller;
    const struct le_frame *outer; /* of the enclosing def */
};
/* Indices of the enclosing reductions, innermost first. */
struct le_index_bounds {
    const char *name;
    struct le_index *index;
    const struct le_index_bounds *outer;
};
/* Where a name is looked up. */
struct le_scope {
    const struct le_frame *frame;
    const struct le_index_bounds *bound;
    const struct le_syntax_block *block;
    int limit; /* defs with this number or above are not visible */
};

struct le_indices {
    struct le_index **at;
    int count, capacity;
};

struct le_steps {
    struct le_step *at;
    int count, capacity;
};

/* The checker's position. It is restored as a whole when a statement fails or a call has been inlined. */
struct le_position {
    const struct le_stmt *stmt;
    int statement;          /* number of the statement that owns the free indices */
    const char *no_indices; /* why free indices are not allowed; NULL: they are */
    int index_limit;        /* limit for the number of indices */
    int around_count, depth;
    int guards;          /* number of an element's conditions and control statements around what is being resolved */
    int conditions;      /* how many of them are ?:, && and || of the current statement */
    int dots_reductions; /* enclosing reductions over `...` */
    bool has_dots;       /* `...` occurs outside of those reductions, for at least one axis */
    struct le_location dots_location;
    const struct le_symbol *owner; /* the symbol assigned by the statement */
    struct le_syntax_block *block;
    const struct le_frame *frame;
    struct le_steps *steps;
    int loop; /* step of the innermost `for` or `while`; -1: none */
    bool in_for, conditional;
    /* Set inside an `each` or a def's block, which run for one element. Scalars assigned inside this block are private
     * to the element. */
    const struct le_syntax_block *element;
    bool in_call;
    bool binds_dots; /* the each binds `...` */
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
        struct le_location *at;
        int count, capacity;
    } index_locations;
    struct le_names numbers; /* from names to their position in `names` */
    struct {
        struct le_name **at;
        int count, capacity;
    } names;
    struct {
        struct le_change {
            struct le_name *name, before;
        } * at;
        int count, capacity;
    } changes; /* changes made to names by blocks that are still open */
    int node_count, number;
    struct le_symbol *defaulting; /* the input whose default is being resolved */
    struct le_position now;
    /* of the current statement; an `each` with its body is one statement */
    struct le_indices free, all;
    struct {
        struct le_access *at;
        int count, capacity;
    } accesses;
    struct le_index *around[LE_INDICES_MAX];
    jmp_buf *failure;
};

#define LE_SCALAR_NEEDED "a scalar is required"

_Noreturn void le_checker_fail(struct le_checker *c, struct le_location location, const char *expected,
                               const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Leaves the statement without reporting an error, because one has already been reported. */
_Noreturn void le_checker_leave(struct le_checker *c);
struct le_name *le_checker_name(struct le_checker *c, const char *text);

/* classify.c: finds out which names are indices; reports errors. */
void le_classify(struct le_checker *c, struct le_stmts stmts);

/* structure.c: reports statements that are not allowed where they are. */
void le_check_structure(struct le_stmts stmts);
/* Whether the statements contain a return or, if breaks is set, a break out of the enclosing loop. */
bool le_stmts_leave(struct le_stmts stmts, bool breaks);
bool le_stmt_leaves(const struct le_stmt *stmt, bool breaks);
bool le_stmts_end(struct le_stmts stmts);      /* whether one of the statements ends its block */
bool le_stmt_ends(const struct le_stmt *stmt); /* whether the statements after it in its block never run */
/* The next `if` of an else-if chain; NULL at the end of the chain. */
const struct le_stmt *le_stmt_chained(const struct le_stmt *stmt);

/* scope.c: blocks, and the meaning of names in them. */
struct le_syntax_block *le_checker_open(struct le_checker *c, const struct le_syntax_block *outer, int limit);
void le_checker_close(struct le_checker *c);
/* Closes all blocks that were opened inside `block`. */
void le_checker_unwind(struct le_checker *c, const struct le_syntax_block *block);
/* Must be called before a name is changed in a block. */
void le_checker_change(struct le_checker *c, struct le_name *name);
void le_checker_bind(struct le_checker *c, struct le_name *name, struct le_symbol *symbol, struct le_index *index);
/* The binding that is visible from the block; NULL: none. */
const struct le_binding *le_checker_binding(const struct le_name *name, const struct le_syntax_block *from);
/* The symbol, or NULL. */
struct le_symbol *le_checker_find(const struct le_name *name, const struct le_syntax_block *from);
const struct le_definition *le_checker_definition(const struct le_name *name, const struct le_scope *scope);
bool le_syntax_block_within(const struct le_syntax_block *block, const struct le_syntax_block *outer);

/* symbol.c: adds an input when it is first used. `use` is ignored if its kind is already known. */
enum le_name_use { LE_USE_SCALAR, LE_USE_ARRAY, LE_USE_DECLARED };
struct le_symbol *le_checker_add_symbol(struct le_checker *c, struct le_name *name, struct le_symbol *symbol);
struct le_symbol *le_checker_input(struct le_checker *c, struct le_name *name, enum le_name_use use,
                                   struct le_location location);
/* Records that the symbol is used with count subscripts, after `...` if dots is set. */
void le_checker_use_array(struct le_checker *c, struct le_symbol *symbol, int count, bool dots,
                          struct le_location location);
void le_checker_use_scalar(struct le_checker *c, struct le_symbol *symbol, struct le_location location);

/* resolve.c */
void le_checker_start(struct le_checker *c, const struct le_stmt *stmt, const char *no_indices);
/* Counts nodes; fails if the program is too large. */
void le_checker_count(struct le_checker *c, int count, struct le_location location);
struct le_tree_node *le_resolve(struct le_checker *c, const struct le_ast *ast, const struct le_scope *scope);
/* The scope outside of all reductions and expression defs. */
struct le_scope le_checker_scope(const struct le_checker *c);
struct le_tree_node *le_resolve_top(struct le_checker *c, const struct le_ast *ast);
/* The same for an expression that must be a scalar. */
struct le_tree_node *le_resolve_scalar(struct le_checker *c, const struct le_ast *ast);
/* Fails if `...` is used but is neither on the left side nor bound by the each. */
void le_checker_reject_dots(struct le_checker *c);
/* The argument of the parameter `name`; NULL if it is not a parameter here. *where is set to its frame; where may be
 * NULL. */
const struct le_ast *le_frame_argument(const struct le_frame *frame, const char *name, const struct le_frame **where);
/* Creates an index for a reduction, `each` or `for`. */
struct le_index *le_checker_index(struct le_checker *c, struct le_name *name, struct le_location location);
/* Fails if the name is the index of an enclosing `each` or `for`. */
void le_checker_require_unbound(struct le_checker *c, const struct le_name *name, struct le_location location);
/* The statement's free index of that name; created at its first use. */
struct le_index *le_checker_free_index(struct le_checker *c, struct le_name *name, struct le_location location);
void le_checker_range(struct le_checker *c, struct le_index *index, const struct le_ast_range *range,
                      const struct le_scope *scope);
struct le_tree_node *le_checker_node(struct le_checker *c, enum le_tree_kind kind, struct le_location location,
                                     int child_count);
struct le_access *le_checker_access(struct le_checker *c, struct le_tree_node *read);

/* definition.c: adds a def; inlines a call. */
void le_check_definition(struct le_checker *c, const struct le_stmt *stmt);
struct le_tree_node *le_resolve_definition(struct le_checker *c, const struct le_ast *ast, const struct le_scope *scope,
                                           const struct le_definition *definition);

/* steps */
struct le_step *le_checker_step(struct le_checker *c, enum le_step_kind kind, struct le_location location);
/* Moves the indices and accesses collected since le_checker_start into the step; does nothing inside an element. */
void le_checker_finish(struct le_checker *c, struct le_step *step);

/* check.c: checks statements in order; each reports its own errors, but an error in a def's block leaves the calling
 * statement. */
void le_check_statements(struct le_checker *c, struct le_stmts stmts);
void le_check_try(struct le_checker *c, const struct le_stmt *stmt,
                  void (*check)(struct le_checker *c, const struct le_stmt *stmt));

/* blocks.c */
void le_check_control(struct le_checker *c, const struct le_stmt *stmt);

/* declare.c */
void le_check_declaration(struct le_checker *c, const struct le_stmt *stmt);
void le_check_edge(struct le_checker *c, const struct le_stmt *stmt);

/* types.c: finds types. If inputs is NULL, only from the text: types that depend on inputs stay LE_NONE. */
bool le_find_types(struct le_arena *arena, struct le_tree *tree, const struct le_input *inputs);
#endif
