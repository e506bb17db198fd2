/* A program as a tree. The generator makes it, the printer writes it as text, the oracle evaluates it, and the reducer
 * edits it in place. Fields under "oracle" belong to the oracle, which sets them in each of its runs.
 *
 * A def is inlined at its calls: the call's expression is a copy of the def's body with the arguments in place of the
 * parameters, and records the call for the printer. A call of a block def owns a copy of its statements. */
#ifndef TESTS_RANDOM_PROGRAM_TREE_H
#define TESTS_RANDOM_PROGRAM_TREE_H
#include "leat.h"

enum {
    AXES_MAX = 4,
    OPERANDS_MAX = 4,
    BINDERS_MAX = 4,
    PARAMETERS_MAX = 2,
    SYMBOLS_MAX = 400,
    DEFS_MAX = 3,
    NAME_BYTES = 16,
    TREE_BYTES = 1 << 20,
    TOO_LARGE = 4 /* exit status if a program does not fit */
};

/* Types in addition to leat_dtype: of integer literals, of indices and sizes, of literals with a fraction. */
enum { WEAK_WHOLE = 32, WEAK_INDEX, WEAK_REAL };

enum expression_kind {
    NUMBER,
    INDEX,
    SCALAR,
    READ,
    LENGTH,
    UNARY,
    BINARY,
    CHOICE,
    FUNCTION,
    CAST,
    REDUCTION,
    CALL /* of a block def */
};
enum unary { NEGATE, NOT, COMPLEMENT };
enum binary {
    ADD,
    SUBTRACT,
    MULTIPLY,
    DIVIDE,
    FLOOR_DIVIDE,
    MODULO,
    BIT_AND,
    BIT_OR,
    BIT_XOR,
    AND,
    OR,
    LT,
    LE,
    GT,
    GE,
    EQ,
    NE
};
enum function { MIN, MAX, CLAMP, ABS, SIGN, FLOOR };
enum reduction { SUM, PROD, LEAST, GREATEST, ANY, ALL, MEAN, ARGMIN, ARGMAX };
enum update { SET, SET_ADD, SET_SUBTRACT, SET_MULTIPLY, SET_MIN, SET_MAX };
enum edge_mode { EDGE_NONE, EDGE_CLAMP, EDGE_WRAP, EDGE_MIRROR, EDGE_SYMMETRIC, EDGE_FILL };

/* The layout of an input: row-major, column-major, every second element, reversed, one row for all. */
enum layout { LAYOUT_PLAIN, LAYOUT_COLUMNS, LAYOUT_SPREAD, LAYOUT_BACKWARDS, LAYOUT_BROADCAST, LAYOUTS };
/* What the generator knows about a value before types are found. */
enum value_class { WHOLE, REAL, TRUTH };

/* Depending on the type: .whole for integers and bools, .real for floats. */
union value {
    int64_t whole;
    double real;
};

struct index {
    char name[NAME_BYTES];
    struct expression *low, *high;     /* NULL: inferred */
    int by;                            /* 1: not written */
    int64_t planned_low, planned_high; /* the generator's */
    /* oracle */
    int64_t at, first, end, step;
    bool is_bound, is_bounded, is_active, is_dynamic, is_solved;
};

struct symbol {
    char name[NAME_BYTES];
    bool is_array, is_input;
    bool is_number;         /* an input that is bound to a plain number */
    bool has_written_type;  /* an input with a type in its declaration */
    struct symbol *size_of; /* the extent of this input's axis `axis`, named in its declaration */
    int axis;
    int dtype; /* of an input or a declaration; 0: it follows from the assignments */
    int rank;
    int64_t shape[AXES_MAX]; /* of an input; else planned by the generator, then the oracle's */
    int64_t least, greatest; /* the elements of an input are in this range */
    enum layout layout;      /* of an input */
    int64_t number;          /* of an input that is a scalar */
    enum value_class value_class;
    /* oracle */
    bool is_visible, is_used, is_private; /* private: to an `each` or a def */
    int type, strong, weak;
    struct statement *edge; /* the edge mode at the present point of the text; type_giver: the first assignment */
    struct statement *type_giver;
    union value value, *data;
    struct symbol *copy; /* while a def's body is copied */
};

struct definition {
    char name[NAME_BYTES];
    struct symbol *parameters[PARAMETERS_MAX];
    int parameter_count;
    bool is_block;
    struct expression *value; /* of an expression def */
    struct statement *body;
};

struct expression {
    enum expression_kind kind;
    int op; /* unary, binary, function, reduction; a CAST's type; a LENGTH's axis */
    int count;
    struct expression *x[OPERANDS_MAX]; /* operands; subscripts of a READ; arguments of a CALL */
    double number;
    bool is_real; /* a NUMBER with a decimal point */
    struct symbol *symbol;
    struct index *index;
    struct index *binders[2];
    int binder_count;
    const struct definition *called; /* printed as a call */
    struct expression *arguments[PARAMETERS_MAX];
    struct symbol *parameters[PARAMETERS_MAX]; /* CALL: its own copies */
    struct statement *body;                    /* CALL */
    /* oracle */
    int type;
    struct statement *edge;
};

enum statement_kind { ASSIGN, DECLARE, EDGE, IF, WHILE, FOR, EACH, BREAK, RETURN };

/* An access of an array, for the range rules. */
struct access {
    struct symbol *symbol;
    struct expression *const *x; /* subscripts */
    const struct statement *edge;
    bool is_guarded, is_left;
    struct index *loops[BINDERS_MAX * 2];
    int loop_count;
};

/* The accesses that the range rules use: of an assignment, of an expression of the host, or of an `each`. */
enum { ACCESSES_MAX = 64, CONTEXT_INDICES_MAX = 16 };
struct range_context {
    struct access accesses[ACCESSES_MAX];
    int access_count;
    struct index *indices[CONTEXT_INDICES_MAX];
    int index_count;
    struct range_context *next; /* of the same statement of the host, inside an `each` or a def */
};

struct statement {
    enum statement_kind kind;
    struct statement *next;
    struct symbol *symbol; /* ASSIGN, DECLARE, EDGE */
    int count;
    struct expression *x[AXES_MAX]; /* subscripts; extents of DECLARE; lower and upper bound of FOR */
    enum update update;
    struct expression *value; /* right side; initial value; fill; condition; RETURN */
    struct expression *otherwise;
    struct index *indices[BINDERS_MAX]; /* of ASSIGN in order of their text, of EACH, the one of FOR */
    int index_count;
    struct statement *body, *other;
    bool is_out;
    enum edge_mode mode;
    /* oracle */
    bool is_new, is_inside; /* is_inside: in an `each` or a def */
    int type;               /* of the right side, `else` included */
    struct range_context *ranges, *inner;
    struct index *order[BINDERS_MAX]; /* in the order of its points */
    int order_count;
    union value fill;
};

struct source {
    uint64_t seed;
    int64_t steps_max; /* the maximum number of expressions that the oracle evaluates */
    struct symbol *symbols[SYMBOLS_MAX];
    int symbol_count;
    struct definition *defs[DEFS_MAX];
    int def_count;
    struct statement *body;
    size_t used_bytes; /* of memory */
    _Alignas(16) char memory[TREE_BYTES];
};

/* Returns zeroed memory that belongs to the program. Ends the process with TOO_LARGE if there is none left. */
void *tree_new(struct source *source, size_t size_bytes);
struct expression *new_expression(struct source *source, enum expression_kind kind, int op);
struct expression *new_number(struct source *source, int64_t number);
struct expression *new_of_index(struct source *source, struct index *index);
struct expression *new_of_symbol(struct source *source, enum expression_kind kind, struct symbol *symbol);
struct expression *new_binary(struct source *source, int op, struct expression *a, struct expression *b);
struct expression *new_unary(struct source *source, int op, struct expression *a);
struct expression *new_choice(struct source *source, struct expression *condition, struct expression *a,
                              struct expression *b);
struct expression *new_function(struct source *source, int op, struct expression *a, struct expression *b,
                                struct expression *c);
struct expression *new_cast(struct source *source, int type, struct expression *a);
struct index *new_index(struct source *source, const char *name);
struct symbol *new_symbol(struct source *source, char letter, bool is_array);
struct statement *new_statement(struct source *source, enum statement_kind kind);
/* A deep copy, with new binders. Parameters of `def` become the arguments, and names that its body assigns become new.
 */
struct expression *copy_expression(struct source *source, const struct expression *e);
struct expression *call_definition(struct source *source, const struct definition *def,
                                   struct expression *const *arguments);
/* Removes defs that are not called. */
void drop_uncalled(struct source *source);
bool is_real_type(int type);
#endif
