/* The two trees. The *ast* is the parsed text (parse.c). The *tree* is a checked program (check.c): every name is
 * resolved to a symbol or an index, and defs are inlined. Once the tree is specialised for the types and ranks of its
 * inputs (types.c), `...` is expanded and every node has a type. Both live in an arena, are immutable once built, and
 * may be shared by threads. */
#ifndef LE_TREE_H
#define LE_TREE_H
#include "base/arena.h"
#include "base/hash.h"
#include "base/status.h"
#include "spec/op.h"

/* Limits of a program. Exceeding one is reported as an error in its text. */
#define LE_NESTING_MAX    200       /* of parentheses, calls and blocks */
#define LE_DEPTH_MAX      2000      /* of an expression's tree, defs inlined; chains such as a + b + c count */
#define LE_NODES_MAX      3000000   /* of all expressions, defs inlined */
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
    struct le_location location; /* starts at its first token; spans at most its first line */
    size_t offset;               /* of its first byte in the text */
    int size_bytes;              /* of its text, all lines */
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
    int left_span;       /* ASSIGN: of the left side, at most its first line */
    struct le_asts subscripts;
    enum le_assign op;             /* ASSIGN */
    struct le_ast *value;          /* ASSIGN: right side; EDGE: fill; DEF: expression or NULL; WHILE, IF: condition */
    struct le_ast *otherwise;      /* ASSIGN: else */
    struct le_ast_binders binders; /* ASSIGN: where; EACH; FOR: one */
    struct le_stmts body, otherwise_body; /* blocks */
};

/* Parses as much as it can: after an error it continues with the next statement. Errors are added to the thread's
 * record (le_errors_add), which the caller has cleared. NUL bytes, invalid characters and nesting deeper than
 * LE_NESTING_MAX are errors. */
struct le_stmts le_parse(struct le_arena *arena, const char *text, size_t size_bytes);

/* ---- tree */

/* A value: an input, a declared or assigned array, or a scalar. */
struct le_symbol {
    const char *name;
    int id;                          /* position in le_tree.symbols */
    struct le_location location;     /* first appearance */
    struct le_location out_location; /* if marked_out: of that declaration */
    bool is_array, is_input;
    bool optional;         /* an input with a default (step DEFAULT), or a size bound by a declaration (step BIND) */
    bool wants_default;    /* optional, and has a default */
    bool marked_out;       /* declared with `out` */
    bool assigned, read;   /* read: other than by its own `op=` */
    bool any_kind;         /* an input that is declared but never used: array or scalar, until specialisation */
    bool in_block;         /* defined in a block: it exists only inside it, and cannot be a result */
    bool local;            /* private to one element: a scalar or parameter of an `each` or of a def's block */
    bool update_only;      /* an input that is only assigned, first with `op=`: it must be bound */
    const char *no_value;  /* if update_only: the advice, as in "write C[i,j] = sum(k: ...), or bind it" */
    bool any_rank;         /* used or defined with `...`, so that only a lower bound of the rank is known */
    int rank;              /* a lower bound if any_rank, until specialisation makes it exact */
    enum le_type declared; /* LE_NONE: not declared */
    struct le_symbol *imaginary; /* after le_complex_split: if the symbol is a real part, its imaginary part */
    enum le_type type;           /* a scalar's may be weak; LE_NONE if it depends on inputs not yet known */
};

/* An index of a statement or a reduction. `...` is expanded into indices named "...0", "...1", from left to right. */
struct le_tree_node;
struct le_index {
    const char *name;
    int id; /* unique in the tree */
    struct le_location location;
    bool from_dots;
    bool has_range;                       /* explicit */
    struct le_tree_node *low, *high, *by; /* by may be NULL */
    bool loop;                            /* of a FOR; its step may be negative */
    bool host;                            /* of a FOR that the host runs: constant while a statement runs */
    /* Its bounds use another index of the statement (other than `host` ones) or a private scalar, so they change while
     * the statement runs. */
    bool depends;
    bool folds; /* of a FOR generated from a reduction: its range is inferred like a reduction's */
};

enum le_tree_kind {
    LE_TREE_CONST,  /* integer or real, by type: bool, weak int, weak float; weak complex: real is the imaginary part */
    LE_TREE_INDEX,  /* index */
    LE_TREE_SCALAR, /* symbol */
    LE_TREE_READ,   /* symbol[children], edge and fill */
    LE_TREE_LEN,    /* len(symbol, children[0]) */
    LE_TREE_OP,     /* op applied to children, each converted to type `operand` */
    LE_TREE_SELECT, /* children: condition, then, else */
    LE_TREE_CAST,   /* to `type`; two children: the parts of a complex number */
    LE_TREE_PART,   /* re, im or conj (op: le_part) of a number, which may be real; after le_complex_split only im of a
                       CALL */
    LE_TREE_RAND,   /* rand or randn (op 0 or 1) of children */
    LE_TREE_REDUCE, /* reduction over indices, children[0] */
    LE_TREE_CALL    /* a def's block, run for one element. Its first `steps` assign the parameters. Its value is that of
                       the RETURN it reaches, converted to `operand` */
};
enum le_part { LE_PART_RE, LE_PART_IM, LE_PART_CONJ, LE_PARTS };
struct le_step;
struct le_tree_node {
    enum le_tree_kind kind;
    struct le_location location;
    enum le_type type; /* LE_NONE before specialisation where it depends on the inputs */
    /* OP, SELECT, REDUCE: the type that children are converted to first, which may be weak. LE_NONE: each child keeps
     * its own type (LOGIC, and COMPARE of integers, which compares values). */
    enum le_type operand;
    int op;          /* OP: le_op; RAND: 0, 1; REDUCE: le_reduction */
    int64_t integer; /* CONST: bool, weak int; above 2^63 - 1 is_u64 is set, and this holds the bits */
    bool is_u64;
    double real;
    struct le_index *index;
    struct le_symbol *symbol;
    enum le_edge edge;      /* READ */
    struct le_symbol *fill; /* READ with LE_EDGE_FILL: the scalar set by step FILL */
    int access;             /* READ: index into the step's accesses */
    bool dots;              /* READ, REDUCE before specialisation: starts with `...` */
    int dots_count; /* READ after specialisation: how many leading children came from `...`; extents of 1 broadcast
                       there */
    struct le_tree_node **children;
    int child_count;
    struct le_index **indices; /* REDUCE */
    int index_count;
    struct le_step *steps; /* CALL; their accesses and indices are listed in the enclosing statement */
    int step_count;
    int parents; /* after le_complex_split: number of nodes and steps that refer to it, 0 if not counted; above 1 it is
                    shared */
};

/* One array access of a statement, as input to the range rules and the bounds check (ranges.c). */
struct le_access {
    struct le_tree_node *node; /* a READ; the left side is a READ as well */
    /* Under a ?:, && or || of its own statement. Unless its subscript is bare, such an access bounds an index only if
     * no other access does. */
    bool under_condition;
    bool guarded; /* under_condition, or inside an element's `if` or `while`, or after its `break` or `return` */
    bool left;
    bool has_else;            /* in an element's assignment that has an `else` */
    struct le_index **around; /* indices of the enclosing reductions and of the element's own `for`s */
    int around_count;
};

/* The program's steps, in order. A control step encloses the steps up to its END, in the same list. Outside of EACH the
 * host runs them, and every step inside is a statement of its own. An EACH is one statement: it lists the free indices,
 * all indices and the accesses of all its steps up to END, whose own lists are empty. The same holds for the steps of a
 * CALL. */
enum le_step_kind {
    LE_STEP_DEFAULT, /* sets input `symbol` to `value` if it is not bound */
    /* binds scalar input `symbol` to extent `axis` of `array`; if it is already bound, it must be equal */
    LE_STEP_BIND,
    LE_STEP_AGREE, /* checks that extent `axis` of `array` equals `value` */
    LE_STEP_NEW,   /* creates `symbol` with `sizes` (arrays), filled with `value` or zero */
    LE_STEP_FILL,  /* scalar `symbol` = value: an edge's fill */
    LE_STEP_ASSIGN,
    LE_STEP_EACH,  /* runs its steps independently for each point of `free` */
    LE_STEP_FOR,   /* `index` takes each value of its range in order; its step may be negative */
    LE_STEP_WHILE, /* repeats while `value` is true */
    LE_STEP_IF,    /* runs if `value` is true; ends at its ELSE, if there is one */
    LE_STEP_ELSE,
    LE_STEP_BREAK,  /* leaves the innermost FOR or WHILE */
    LE_STEP_RETURN, /* leaves the CALL with `value`; after le_complex_split a complex CALL also returns `otherwise` */
    LE_STEP_FAIL, /* last step of a CALL whose block may end without a RETURN: reports a fault at the def's location */
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
    /* Host steps: the step is inside a FOR but may be skipped for some of its values, because of an IF or WHILE in
     * between, another FOR whose bounds may vary, or a BREAK that may leave the FOR. Its accesses that use `host`
     * indices are checked for their current values only. */
    bool conditional;
    bool dots; /* EACH, before specialisation: binds `...` */
    /* Position of a related step in the same list. EACH, FOR, WHILE, ELSE: their END. IF: its ELSE, or else its END.
     * END: the step it closes (the ELSE of an IF that has one). BREAK: the loop it leaves. */
    int partner;
    struct le_tree_node *value, *otherwise; /* ASSIGN: otherwise is the `else` value, or NULL */
    struct le_tree_node **sizes;            /* NEW */
    int size_count;
    /* ASSIGN */
    enum le_assign op;
    bool is_new;               /* the assignment defines the symbol */
    bool is_parameter;         /* one of the first steps of a CALL: assigns an argument to a parameter */
    bool held;                 /* after le_complex_split: what it assigns becomes visible after the next step */
    struct le_tree_node *left; /* a READ of symbol with the left side's subscripts; NULL for a scalar */
    enum le_type term;         /* type that value and otherwise are converted to (after specialisation) */
    enum le_type update;       /* type that `op=` computes in */
    /* The statement's own indices in order: `...`, left side, `where`, right side. Those whose bounds depend on other
     * indices come last. */
    struct le_index **free;
    int free_count;
    struct le_index **all; /* the free indices and those of its reductions */
    int all_count;
    struct le_access *accesses; /* other steps list those of value, sizes and fill; they have no free indices */
    int access_count;
};

/* An integer bound by the caller is combined with an integer type that it does not widen, possibly after a sign (- or
 * ~). Its value must be in the type's range. */
struct le_fit {
    int symbol; /* symbol id */
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
    int index_name_count; /* distinct names, for `leat check` */
    int index_count;      /* ids are 0..index_count-1 */
    bool has_complex;     /* after specialisation: le_complex_split has work to do */
    struct le_fit *fits;  /* after specialisation */
    int fit_count;
    struct le_names names; /* symbol names to ids */
};

/* Parses and checks a program. Returns NULL on error; all errors are in the thread's record. */
struct le_tree *le_check(struct le_arena *arena, const char *text, size_t size_bytes);

/* What an input is bound to. is_array: rank > 0. A plain number has a weak type. */
struct le_input {
    bool bound, is_array;
    enum le_type type;
    int rank;
};
/* Returns a copy with `...` expanded and all types found. inputs[] is indexed by symbol id. Returns NULL on error:
 * LEAT_MISMATCH for errors caused by the inputs, LEAT_MISSING for an input that is not bound, LEAT_PROGRAM for errors
 * in the text. Symbols and steps keep their order and ids; indices may be added. */
struct le_tree *le_specialise(struct le_arena *arena, const struct le_tree *tree, const struct le_input *inputs);
/* complex_statements.c: returns the same program over real numbers. A complex symbol keeps its id as its real part, its
 * imaginary part is appended after all other symbols, and its steps come in pairs. *inputs is replaced by what the
 * parts are bound to. Returns the tree itself if nothing is complex, NULL on error. Nodes of the result may have
 * several parents. */
struct le_tree *le_complex_split(struct le_arena *arena, struct le_tree *tree, const struct le_input **inputs);
const char *le_part_name(enum le_part part);
/* What to write for a float where an integer is needed. */
const char *le_whole_advice(struct le_arena *arena, const struct le_tree_node *node);
/* The symbol ids of the default results: in the order of the `out`s, or of appearance if there are none; *count may be
 * 0. */
int *le_tree_results(struct le_arena *arena, const struct le_tree *tree, int *count);
/* The symbol ids of the inputs, in order of appearance. Sizes that a declaration binds, as in `in x[n]`, come last. */
int *le_tree_inputs(struct le_arena *arena, const struct le_tree *tree, int *count);
int le_tree_find(const struct le_tree *tree, const char *name); /* symbol id of a top-level name; -1: none */
/* The known name spelled most like it; NULL if none is close. */
const char *le_nearest(const char *name, const char *const *known, int count);
struct le_text;
/* Whether `holds` is true for the node or any node below it, including ranges and a CALL's steps. node may be NULL. */
bool le_tree_any(const struct le_tree_node *node, bool (*holds)(const struct le_tree_node *node, const void *user),
                 const void *user);
void le_tree_print(const struct le_tree *tree, struct le_text *out);
#endif
