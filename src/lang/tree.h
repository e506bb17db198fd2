/* The two trees. An *ast* is the text as it stands (parse.c). A *tree* is a checked program (check.c): every name is a
 * symbol or an index, defs are inlined, and, once specialised for the types and ranks of its inputs (types.c), `...`
 * is spelled out and every node has its type. Both live in an arena, are never changed once made, and are then shared
 * by threads. */
#ifndef LE_TREE_H
#define LE_TREE_H
#include "base/arena.h"
#include "base/hash.h"
#include "base/status.h"
#include "spec/op.h"

/* Limits of a program: passing one is an error of its text. */
#define LE_NESTING_MAX    200       /* of parentheses, calls and blocks */
#define LE_DEPTH_MAX      2000      /* of an expression's tree, its defs inlined: chains such as a + b + c count, too */
#define LE_NODES_MAX      3000000   /* of all expressions, their defs inlined */
#define LE_INDICES_MAX    16        /* of one statement */
#define LE_PARAMETERS_MAX 64        /* of a def */
#define LE_TEXT_MAX       (1 << 26) /* bytes */

/* ---- ast */

enum le_ast_kind {
    LE_AST_NUMBER,
    LE_AST_DOTS,
    LE_AST_NAME,
    LE_AST_SUBSCRIPT,
    LE_AST_CALL,
    LE_AST_REDUCE,
    LE_AST_UNARY,
    LE_AST_BINARY,
    LE_AST_SELECT
};
struct le_ast;
struct le_asts {
    struct le_ast **at;
    int count, capacity;
};
struct le_ast_range {
    struct le_ast *low, *high, *by;
}; /* by may be NULL */
struct le_ast_binder {
    const char *name;
    struct le_location location;
    bool dots, has_range;
    struct le_ast_range range;
};
struct le_ast_binders {
    struct le_ast_binder *at;
    int count, capacity;
};
struct le_ast {
    enum le_ast_kind kind;
    struct le_location location;
    int depth;        /* of the tree below, 1 for a leaf; at most LE_DEPTH_MAX */
    int op;           /* UNARY, BINARY: le_op; REDUCE: le_reduction; NUMBER: le_type (bool, weak int, weak float) */
    bool imaginary;   /* NUMBER: 2j */
    uint64_t integer; /* NUMBER, bool or weak int */
    double real;      /* NUMBER, weak float */
    const char *name; /* NAME, SUBSCRIPT, CALL */
    struct le_asts children;       /* SUBSCRIPT, CALL: arguments; UNARY 1; BINARY 2; SELECT 3; REDUCE: the body */
    struct le_ast_binders binders; /* REDUCE */
};
enum le_stmt_kind {
    LE_STMT_DECL,
    LE_STMT_EDGE,
    LE_STMT_DEF,
    LE_STMT_ASSIGN,
    LE_STMT_EACH,
    LE_STMT_FOR,
    LE_STMT_WHILE,
    LE_STMT_IF,
    LE_STMT_RETURN,
    LE_STMT_BREAK
};
enum le_decl { LE_DECL_IN, LE_DECL_OUT, LE_DECL_VAR };
enum le_assign {
    LE_ASSIGN_SET,
    LE_ASSIGN_ADD,
    LE_ASSIGN_SUB,
    LE_ASSIGN_MUL,
    LE_ASSIGN_DIV,
    LE_ASSIGN_MIN,
    LE_ASSIGN_MAX
};
struct le_ast_item {
    const char *name;
    struct le_location location;
    enum le_type type;
    bool is_array;
    struct le_asts sizes;
    struct le_ast *value;
};
struct le_stmt;
struct le_stmts {
    struct le_stmt **at;
    int count, capacity;
};
struct le_stmt {
    enum le_stmt_kind kind;
    struct le_location location; /* of its first token; span: to the end of its first line or of itself */
    size_t offset;               /* of its first byte in the text */
    int size_bytes;              /* of its text, of all lines */
    enum le_decl decl;           /* DECL */
    struct {
        struct le_ast_item *at;
        int count, capacity;
    } items;
    struct {
        const char **at;
        int count, capacity;
    } names;             /* EDGE: arrays; DEF: parameters */
    enum le_edge edge;   /* EDGE */
    const char *name;    /* ASSIGN: the left side; DEF; FOR: the index */
    bool has_subscripts; /* ASSIGN */
    struct le_asts subscripts;
    enum le_assign op;             /* ASSIGN */
    struct le_ast *value;          /* ASSIGN: right side; EDGE: fill; DEF: expression or NULL; WHILE, IF: condition */
    struct le_ast *otherwise;      /* ASSIGN: else */
    struct le_ast_binders binders; /* ASSIGN: where; EACH; FOR: one */
    struct le_stmts body, otherwise_body; /* blocks */
};

/* Parses as much as it can: after an error it goes on with the next line. Errors go to the thread's record
 * (le_errors_add); the caller has cleared it. NUL bytes and bad characters are errors. Nesting deeper than
 * LE_NESTING_MAX is an error. */
struct le_stmts le_parse(struct le_arena *arena, const char *text, size_t size_bytes);

/* ---- tree */

/* A value: an input, a declared or assigned array, or a scalar. */
struct le_symbol {
    const char *name;
    int id;                      /* its place in le_tree.symbols */
    struct le_location location; /* first appearance */
    bool is_array, is_input;
    bool optional; /* an input with a default (le_step DEFAULT), or a size that a declaration binds (le_step BIND) */
    bool wants_default;    /* of those: has a default */
    bool marked_out;       /* `out` names it */
    bool assigned, read;   /* read by another statement than its own `op=` */
    bool any_kind;         /* an input that is declared and never used: array or scalar (until specialisation) */
    bool in_block;         /* made in a block: it ends with it, has no value when the block begins, and is no result */
    bool local;            /* private to one element: a scalar of an `each` or of a def's block, or its parameter */
    bool update_only;      /* an input that is only assigned, first by `op=`: an error if it is not bound */
    const char *no_value;  /* of those, the advice: "write C[i,j] = sum(k: ...), or bind it" */
    bool any_rank;         /* its rank is only known from below: it is used, or made, with `...` */
    int rank;              /* the rank, or the least if any_rank (then exact after specialisation) */
    enum le_type declared; /* LE_NONE: not declared */
    struct le_symbol
        *imaginary;    /* after le_complex_split: the symbol is the real part of a complex one, and this the other */
    enum le_type type; /* a scalar's may be weak; LE_NONE before specialisation where it depends on the inputs */
};

/* An index of a statement or reduction; `...` becomes indices named "...0", "...1" from the left. */
struct le_tree_node;
struct le_index {
    const char *name;
    int id; /* unique in the tree */
    struct le_location location;
    bool from_dots;
    bool has_range;                       /* explicit */
    struct le_tree_node *low, *high, *by; /* by may be NULL */
    bool loop;                            /* of a FOR, whose step may be negative */
    bool host;                            /* of a FOR that the host runs: fixed while a statement runs */
    /* Its bounds use another index of the statement, or a private scalar, so they change as it runs. Indices that are
     * `host` do not count. */
    bool depends;
    bool folds; /* of a FOR that stands for a reduction: its range is found as those of reductions are */
};

enum le_tree_kind {
    LE_TREE_CONST,  /* integer or real, by type: bool, weak int, weak float; weak complex: real is the imaginary part */
    LE_TREE_INDEX,  /* index */
    LE_TREE_SCALAR, /* symbol */
    LE_TREE_READ,   /* symbol[children], edge and fill */
    LE_TREE_LEN,    /* len(symbol, children[0]) */
    LE_TREE_OP,     /* op over children; types of operands: `operand`, to which each child is converted */
    LE_TREE_SELECT, /* children: condition, then, else */
    LE_TREE_CAST,   /* to `type`; of two children: the parts of a complex number */
    LE_TREE_PART,   /* re, im or conj (op: le_part) of a number, which may be real; after le_complex_split: im of a CALL
                     */
    LE_TREE_RAND,   /* rand or randn (op 0 or 1) of children */
    LE_TREE_REDUCE, /* reduction over indices, children[0] */
    LE_TREE_CALL /* a def's block, for one element: `steps` run, the first of them assign the parameters; its value is
                    what the RETURN that is met gives, converted to `operand` */
};
enum le_part { LE_PART_RE, LE_PART_IM, LE_PART_CONJ, LE_PARTS };
struct le_step;
struct le_tree_node {
    enum le_tree_kind kind;
    struct le_location location;
    enum le_type type; /* LE_NONE before specialisation where it depends on the inputs */
    /* OP, SELECT, REDUCE: the type that children are converted to first; LE_NONE: each keeps its own (LOGIC; COMPARE of
     * integers alone, which is by value). May be weak, as types of nodes. */
    enum le_type operand;
    int op;          /* OP: le_op; RAND: 0, 1; REDUCE: le_reduction */
    int64_t integer; /* CONST: bool, weak int (above 2^63 - 1: the bits of a u64, and is_u64) */
    bool is_u64;
    double real;
    struct le_index *index;
    struct le_symbol *symbol;
    enum le_edge edge;      /* READ */
    struct le_symbol *fill; /* READ with LE_EDGE_FILL: the scalar that le_step FILL set */
    int access;             /* READ: its number in the step's accesses */
    bool dots;              /* READ, REDUCE before specialisation: starts with `...` */
    int dots_count; /* READ after it: how many leading children came from `...`; there an extent of 1 stretches */
    struct le_tree_node **children;
    int child_count;
    struct le_index **indices; /* REDUCE */
    int index_count;
    struct le_step *steps; /* CALL; their accesses and indices are listed with the statement around it */
    int step_count;
    int parents; /* after le_complex_split: how many nodes and steps have it, if that was counted; above 1 it is shared
                  */
};

/* One array access of a statement, for the range rules and the check (ranges.c). */
struct le_access {
    struct le_tree_node *node; /* a READ; the left side is one, too */
    /* Under ?:, && or || of its own statement: it bounds an index only if nothing else does, but for a bare subscript.
     */
    bool under_condition;
    bool guarded; /* that, or in an element's own `if` or `while`, or after its `break` or `return` */
    bool left;
    bool has_else;            /* stands in an element's assignment that says what is outside */
    struct le_index **around; /* indices of the reductions and the element's own `for`s around it */
    int around_count;
};

/* What runs, in order. Control steps enclose the steps up to their END, in the same list. Outside of EACH they are the
 * host's: every step in them is a statement of its own. EACH is one statement: its free indices, all indices and
 * accesses are those of all steps up to its END, whose own lists are empty; the same holds for a CALL's steps. */
enum le_step_kind {
    LE_STEP_DEFAULT, /* input `symbol` was not bound: it is `value` */
    /* scalar input `symbol` is extent `axis` of array `array` (or must equal it when bound, or bound before) */
    LE_STEP_BIND,
    LE_STEP_AGREE, /* extent `axis` of `array` must equal `value` */
    LE_STEP_NEW,   /* `symbol` starts: sizes (arrays), value or zero */
    LE_STEP_FILL,  /* scalar `symbol` = value: an edge's fill */
    LE_STEP_ASSIGN,
    LE_STEP_EACH,  /* the steps run once for each point of `free`, independently */
    LE_STEP_FOR,   /* `index` runs through its range, one value after the other; its step may be negative */
    LE_STEP_WHILE, /* as long as value holds */
    LE_STEP_IF,    /* if value holds; up to its ELSE, if there is one */
    LE_STEP_ELSE,
    LE_STEP_BREAK,  /* leaves the innermost FOR or WHILE */
    LE_STEP_RETURN, /* leaves the CALL with value; after le_complex_split: and with otherwise, if it is complex */
    LE_STEP_FAIL,   /* the last of a CALL's whose block may end without a RETURN: an error in the data; place: the def's
                     */
    LE_STEP_END
};
struct le_step {
    enum le_step_kind kind;
    struct le_location location;
    size_t offset; /* of the statement in le_tree.text */
    int size_bytes;
    struct le_symbol *symbol, *array;
    int axis;
    struct le_index *index; /* FOR */
    /* Of the host's: there is a FOR around it for some of whose values it may not run: an IF or a WHILE stands in
     * between, or another FOR whose ends may move, or a BREAK may leave the FOR. Its accesses with `host` indices are
     * checked for the values at hand. */
    bool conditional;
    bool dots; /* EACH, before specialisation: binds `...` */
    /* Numbers in the same list: of EACH, FOR, WHILE and ELSE: their END; IF: its ELSE, or its END; END: what it ends
     * (the ELSE of an IF that has one); BREAK: the loop that it leaves. */
    int partner;
    struct le_tree_node *value, *otherwise; /* ASSIGN: otherwise: `else`, may be NULL */
    struct le_tree_node **sizes;            /* NEW */
    int size_count;
    /* ASSIGN */
    enum le_assign op;
    bool is_new; /* the assignment makes the symbol */
    bool given;  /* one of a CALL's first: the symbol is a parameter, the value of what stands around it */
    bool held;   /* after le_complex_split: what it assigns shows after the next step only */
    struct le_tree_node *left; /* a READ of symbol with the left side's subscripts; NULL for a scalar */
    enum le_type term;         /* value and otherwise are converted to it (after specialisation) */
    enum le_type update;       /* `op=` computes in it */
    /* The statement's own indices in index order: `...`, left side, where, right side; those whose bounds depend on
     * others last. */
    struct le_index **free;
    int free_count;
    struct le_index **all; /* and those of its reductions */
    int all_count;
    struct le_access *accesses; /* also of value, sizes and fill in other steps (which have no free indices) */
    int access_count;
};

/* A whole number that the caller binds meets an integer type that it does not widen, perhaps with a sign (-, ~):
 * it must be in the type's range. */
struct le_fit {
    int symbol; /* its id */
    enum le_type type;
    int sign; /* le_op; LE_OPS: none */
    struct le_location location;
};

struct le_tree {
    const char *text;
    size_t text_bytes;
    struct le_symbol **symbols;
    int symbol_count;
    struct le_step *steps;
    int step_count;
    const char **index_names;
    struct le_location *index_locations;
    int index_name_count; /* distinct, for `leat check` */
    int index_count;      /* ids 0..index_count-1 are in use */
    bool has_complex;     /* le_complex_split has something to do (after specialisation) */
    struct le_fit *fits;  /* after specialisation */
    int fit_count;
    struct le_names names; /* of the symbols, to their ids */
};

/* Parses and checks. All errors are in the thread's record. NULL on error. */
struct le_tree *le_check(struct le_arena *arena, const char *text, size_t size_bytes);

/* What an input is bound to: array or rank 0 (is_array: rank > 0), and its type (a weak one for a plain number). */
struct le_input {
    bool bound, is_array;
    enum le_type type;
    int rank;
};
/* A copy with `...` spelled out and all types found; inputs[] is by symbol id. NULL on error (LEAT_MISMATCH for what
 * comes from the inputs, LEAT_MISSING for one that is not bound, LEAT_PROGRAM for the text). Symbols, steps and ids
 * keep their order and number; further indices may come. */
struct le_tree *le_specialise(struct le_arena *arena, const struct le_tree *tree, const struct le_input *inputs);
/* complex_statements.c: the same program over real numbers: a complex symbol keeps its id as its real part, its
 * imaginary part comes behind all others; its steps come in pairs. *inputs becomes what the parts are bound to. The
 * tree itself where nothing is complex; NULL on error. Nodes may have several parents. */
struct le_tree *le_complex_split(struct le_arena *arena, struct le_tree *tree, const struct le_input **inputs);
const char *le_part_name(enum le_part part);
/* The default results' symbol ids, in order of appearance; *count may be 0. */
int *le_tree_results(struct le_arena *arena, const struct le_tree *tree, int *count);
int le_tree_find(const struct le_tree *tree, const char *name); /* symbol id of an outer name; -1: none */
/* The name of the list that is spelled most like it; NULL: none is. */
const char *le_nearest(const char *name, const char *const *known, int count);
struct le_text;
/* Whether it holds for the node or any below it, ranges and a CALL's steps included; node may be NULL. */
bool le_tree_any(const struct le_tree_node *node, bool (*holds)(const struct le_tree_node *node, const void *user),
                 const void *user);
void le_tree_print(const struct le_tree *tree, struct le_text *out);
#endif
