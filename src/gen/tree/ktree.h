/* The kernel tree: all that one kernel does, typed, for every backend. `mapping` makes it, printers turn it into code,
 * `leat show --emit kernel` prints it (ktree_print.c), and tests read it back (tests/ktree).
 *
 * A *block* is a list of statements. An *expression* has a type and no effect, and it may be shared. A *variable* is a
 * value, an array or a function; its name is unique in the kernel. The tree lives in an arena and belongs to the thread
 * that makes it. */
#ifndef LE_KERNEL_TREE_H
#define LE_KERNEL_TREE_H
#include "base/arena.h"
#include "base/hash.h"
#include "spec/bytecode.h"

/* Types. The types of the language (enum le_type) have the language's arithmetic: integers wrap, casts saturate. The
 * types below are those of positions and counts. Their arithmetic stays in range, so a printer may use the machine's
 * own; only UINT wraps. */
enum {
    LE_KTREE_VOID = LE_NONE,
    LE_KTREE_INT = LE_TYPES_ALL, /* 32 bits */
    LE_KTREE_UINT,
    LE_KTREE_LONG, /* 64 bits */
    LE_KTREE_ULONG,
    LE_KTREE_TOTALS /* LE_KTREE_TOTALS + k: kernel->totals.at[k] */
};
static inline bool le_ktree_is_position(int type) {
    return type >= LE_KTREE_INT && type <= LE_KTREE_ULONG;
}
static inline bool le_ktree_is_narrow(int type) {
    return type == LE_KTREE_INT || type == LE_KTREE_UINT;
}
static inline bool le_ktree_is_totals(int type) {
    return type >= LE_KTREE_TOTALS;
}
/* The common type of two positions, as in C: INT, UINT, LONG, ULONG. */
static inline int le_ktree_wider(int a, int b) {
    return a > b ? a : b;
}

/* ---- variables */

enum le_ktree_memory {
    LE_KTREE_NO_ARRAY, /* not an array */
    LE_KTREE_BUFFER,   /* memory of the device, through a parameter or a value that points into it */
    LE_KTREE_LOCAL,    /* the thread's own: registers, if all subscripts are known */
    LE_KTREE_SHARED,   /* the thread block's */
    LE_KTREE_DYNAMIC   /* the same; the launch says how many bytes */
};
enum { LE_KTREE_AXES = 3 };
struct le_expression;
struct le_variable {
    const char *name;
    int type; /* of the value, of the array's elements, or of what the function returns */
    enum le_ktree_memory memory;
    bool changes;   /* a value that SET may change */
    bool read_only; /* BUFFER: this kernel never writes it. LOCAL: a parameter that the function only reads */
    bool function;
    struct le_expression *object; /* not NULL: a CALL that names the type of an object of the printers' library */
    int extents[LE_KTREE_AXES],
        axes; /* LOCAL, SHARED; one object has no axis. BUFFER, DYNAMIC: one without an extent */
    int id;   /* in the order in which variables were made */
};

/* ---- expressions */

enum le_expression_kind {
    LE_EXPRESSION_CONSTANT, /* bits: as in an LE_NODE_CONST; of positions an int64_t */
    LE_EXPRESSION_VARIABLE, /* variable: its value; of an array its first element's address */
    LE_EXPRESSION_OP,       /* code: an operation (op.def), MULADD, MULSUB, NMULADD, le_ktree_code; x: operands */
    LE_EXPRESSION_CAST,     /* x[0] as `type` */
    LE_EXPRESSION_SELECT,   /* x[0] ? x[1] : x[2] */
    LE_EXPRESSION_ELEMENT,  /* variable: an array; x: a subscript for each axis */
    LE_EXPRESSION_ADDRESS,  /* x[0]: an element, or an array's row; its address. The type is the element's */
    LE_EXPRESSION_THREAD,   /* code: enum le_thread_number, a UINT */
    LE_EXPRESSION_CALL,     /* code: enum le_library_call; statics, then x */
    LE_EXPRESSION_TOTAL,    /* totals of one term: x: one for each reduction; last, if there is an arg, its position */
    LE_EXPRESSION_PART      /* x[0]: totals; the value of reduction `code` of them; x[1]: whether there were no terms */
};
/* Beyond the operations of op.def. */
enum le_ktree_code {
    LE_KTREE_QUOTIENT = LE_CODES, /* of positions, both at least 0 */
    LE_KTREE_REMAINDER,
    LE_KTREE_OPS
};
/* How an operation on floats is computed. All ways give the same bits where they apply. */
enum le_way {
    LE_WAY_EXACT,
    LE_WAY_QUICK, /* without a branch; clears `variable`, a bool, if the operands are unusual, so that the result is
                     void */
    LE_WAY_SHORT  /* slow, in few instructions */
};
enum le_thread_number {
    LE_THREAD_X, /* of the thread in its block */
    LE_BLOCK_X,  /* of the block in the grid */
    LE_BLOCK_Y,
    LE_THREADS_X, /* threads of a block */
    LE_BLOCKS_X,  /* blocks of the grid */
    LE_BLOCKS_Y,
    LE_THREAD_NUMBERS
};
/* A type or a number that is known when the kernel is made. */
struct le_static {
    bool is_type;
    int64_t value;
};
struct le_expression {
    enum le_expression_kind kind;
    int type, code;
    enum le_way way;
    uint64_t bits;
    struct le_variable *variable;
    struct le_static *statics;
    int static_count;
    struct le_expression **x;
    int count;
};

enum le_library_call {
#define LE_CALL(id, name, type, statics, operands, cuda) LE_CALL_##id,
#include "gen/tree/call.def"
#undef LE_CALL
    LE_CALLS
};
struct le_call_properties {
    const char *name;      /* in the kernel's text */
    int type;              /* of the result; LE_KTREE_VOID: none, and the call is a statement; -1: the caller says */
    int statics, operands; /* how many it takes */
    const char *cuda;      /* CUDA C: $0 is a static, %0 an operand */
};
extern const struct le_call_properties le_calls[LE_CALLS];

/* ---- statements */

enum le_statement_kind {
    LE_STATEMENT_LET,      /* variable = x, which never changes; an array: it begins at address x */
    LE_STATEMENT_VARIABLE, /* variable, which is x at first (NULL: anything) */
    LE_STATEMENT_ARRAY,    /* variable: an array. `zeroed`; `aligned` to 16 bytes */
    LE_STATEMENT_SET,      /* to, a variable that changes or an element, = x */
    LE_STATEMENT_COPY,     /* `count` elements side by side from address x to address `to`, in the widest moves */
    LE_STATEMENT_LOOP,  /* body for variable = x, x + step, ... while it is below `to` and `guard` holds (NULL: always).
                           `down`: from to - 1 to x */
    LE_STATEMENT_WHILE, /* body while x holds */
    LE_STATEMENT_BRANCH,   /* body if x holds, else `otherwise` (may be NULL) */
    LE_STATEMENT_SCOPE,    /* body, which LEAVE may leave */
    LE_STATEMENT_BREAK,    /* leaves the innermost LOOP or WHILE */
    LE_STATEMENT_LEAVE,    /* leaves the SCOPE whose variable is `variable` */
    LE_STATEMENT_RETURN,   /* from the function with x, or from the kernel (x NULL) */
    LE_STATEMENT_FUNCTION, /* variable: a function of `parameters` with `body`, which sees all around it */
    LE_STATEMENT_TOTALS,   /* kernel->totals.at[code], for printers that declare types */
    LE_STATEMENT_CALL,     /* x, a CALL without a result */
    LE_STATEMENT_UPDATE,   /* element `to` op= x at once with all other threads' updates; code: enum le_scatter */
    LE_STATEMENT_FAULT, /* records the fault `code` (access_axis), value `to`, at point x; sets `variable` (may be NULL)
                         */
    LE_STATEMENT_NOTE,  /* records the notes `code` */
    LE_STATEMENT_BARRIER, /* of the thread block */
    LE_STATEMENT_COMMENT  /* text */
};
static inline bool le_ktree_has_block(enum le_statement_kind kind) {
    return kind == LE_STATEMENT_LOOP || kind == LE_STATEMENT_WHILE || kind == LE_STATEMENT_BRANCH ||
           kind == LE_STATEMENT_SCOPE || kind == LE_STATEMENT_FUNCTION;
}
/* Who runs the iterations of a LOOP. */
enum le_role {
    LE_ROLE_SERIAL,
    LE_ROLE_ROLLED,   /* SERIAL, and the compiler must not unroll it */
    LE_ROLE_UNROLLED, /* written out; if `count` is not 0, `count` iterations at a time */
    LE_ROLES
};
struct le_block;
struct le_statement {
    enum le_statement_kind kind;
    enum le_role role;
    int code, count;
    bool zeroed, aligned, down;
    struct le_variable *variable;
    struct le_expression *x, *to, *step, *guard;
    struct le_block *body, *otherwise;
    struct le_variable **parameters;
    int parameter_count;
    const char *text;
};
struct le_block {
    struct le_block *parent;
    struct le_statement
        *owner; /* the statement whose body it is; NULL: its statements move to the parent when it is closed */
    struct {
        struct le_statement **at;
        int count, capacity;
    } list;
    bool is_otherwise; /* it is the `else` of the BRANCH that was closed last in the parent */
    /* While the tree is made: */
    bool conditional; /* it may not run, so expensive nodes are not hoisted out of it */
    struct {
        int *at;
        int count, capacity;
    } binds; /* indices of the IR */
};

/* A type of values that hold the totals of several reductions. */
struct le_totals {
    const char *name;
    int count;
    struct {
        enum le_reduction reduction;
        enum le_type type; /* of the terms */
    } part[8];
    bool narrow;     /* positions of ARGMIN and ARGMAX are INT, not LONG */
    int several, of; /* more than 0: of as many points, each with totals of the type `of`; then it has no parts */
};

struct le_kernel_tree {
    struct le_arena *arena;
    const char *name, *comment;
    int threads, resident, cluster; /* upper bound of a thread block's threads; thread blocks that are to fit on a
                                       multiprocessor; thread blocks of a cluster. 0: unspecified */
    struct {
        struct le_variable **at;
        int count, capacity;
    } parameters;
    struct {
        struct le_totals *at;
        int count, capacity;
    } totals;
    struct le_variable *fault;    /* the parameter that FAULT and NOTE write to; NULL: there is none */
    struct le_expression *action; /* the number that faults are recorded for */
    struct le_block *root;
    struct le_names names; /* names in use */
    int variable_count;
};

/* ---- build.c: expressions. Sums and products of positions are folded as far as they are constants. */

struct le_kernel_tree *le_ktree_new(struct le_arena *arena);
struct le_variable *le_ktree_variable(struct le_kernel_tree *t, const char *wish,
                                      int type); /* its name is `wish`, with a suffix if that is in use */
struct le_expression *le_ktree_constant(struct le_kernel_tree *t, int type, uint64_t bits);
struct le_expression *le_ktree_int(struct le_kernel_tree *t, int64_t value);
struct le_expression *le_ktree_long(struct le_kernel_tree *t, int64_t value);
struct le_expression *le_ktree_use(struct le_kernel_tree *t, struct le_variable *variable);
struct le_expression *le_ktree_op(struct le_kernel_tree *t, int code, int type, struct le_expression *const *x,
                                  int count);
/* Two positions, or two values of one type; the type is the wider one, of comparisons bool. */
struct le_expression *le_ktree_binary(struct le_kernel_tree *t, int code, struct le_expression *a,
                                      struct le_expression *b);
struct le_expression *le_ktree_not(struct le_kernel_tree *t, struct le_expression *x);
struct le_expression *le_ktree_cast(struct le_kernel_tree *t, int type, struct le_expression *x);
struct le_expression *le_ktree_select(struct le_kernel_tree *t, struct le_expression *condition,
                                      struct le_expression *a, struct le_expression *b);
struct le_expression *le_ktree_element(struct le_kernel_tree *t, struct le_variable *array, struct le_expression *x);
struct le_expression *le_ktree_element2(struct le_kernel_tree *t, struct le_variable *array, struct le_expression *x,
                                        struct le_expression *y);
struct le_expression *le_ktree_address(struct le_kernel_tree *t, struct le_expression *element);
struct le_expression *le_ktree_thread(struct le_kernel_tree *t, enum le_thread_number number);
/* statics and x: arrays, which are copied; type: of the result where the table leaves it open */
struct le_expression *le_ktree_call(struct le_kernel_tree *t, enum le_library_call call, int type,
                                    const struct le_static *statics, struct le_expression *const *x);
struct le_expression *le_ktree_total(struct le_kernel_tree *t, int type, struct le_expression *const *x, int count);
struct le_expression *le_ktree_part(struct le_kernel_tree *t, int type, struct le_expression *totals, int number,
                                    struct le_expression *empty);
bool le_ktree_is_constant(const struct le_expression *x, int64_t value); /* of a position */
/* Whether the operation's result is a bool, whatever its operands are. */
static inline bool le_ktree_gives_bool(int code) {
    enum le_rule rule = code < LE_OPS ? le_op_info((enum le_op)code)->rule : LE_RULE_ARITH;
    return rule == LE_RULE_COMPARE || rule == LE_RULE_LOGIC || rule == LE_RULE_CLASSIFY;
}
#define LE_STATIC_TYPE(type)    ((struct le_static){true, (type)})
#define LE_STATIC_NUMBER(value) ((struct le_static){false, (value)})

#define LE_BINARY(name, code)                                                                                          \
    static inline struct le_expression *name(struct le_kernel_tree *t, struct le_expression *a,                        \
                                             struct le_expression *b) {                                                \
        return le_ktree_binary(t, code, a, b);                                                                         \
    }
LE_BINARY(le_plus, LE_OP_ADD)
LE_BINARY(le_minus, LE_OP_SUB)
LE_BINARY(le_times, LE_OP_MUL)
LE_BINARY(le_ktree_quotient, LE_KTREE_QUOTIENT)
LE_BINARY(le_ktree_remainder, LE_KTREE_REMAINDER)
LE_BINARY(le_less, LE_OP_LT)
LE_BINARY(le_at_least, LE_OP_GE)
LE_BINARY(le_greater, LE_OP_GT)
#undef LE_BINARY
static inline struct le_expression *le_times_int(struct le_kernel_tree *t, struct le_expression *x, int64_t n) {
    return le_times(t, x, le_ktree_int(t, n));
}
static inline struct le_expression *le_to_int(struct le_kernel_tree *t, struct le_expression *x) {
    return le_ktree_cast(t, LE_KTREE_INT, x);
}
static inline struct le_expression *le_to_long(struct le_kernel_tree *t, struct le_expression *x) {
    return le_ktree_cast(t, LE_KTREE_LONG, x);
}
static inline struct le_expression *le_both(struct le_kernel_tree *t, struct le_expression *a,
                                            struct le_expression *b) {
    return !a ? b : !b ? a : le_ktree_binary(t, LE_OP_LAND, a, b);
}

/* ---- statements, at the end of a block */

struct le_statement *le_ktree_add(struct le_kernel_tree *t, struct le_block *block, struct le_statement model);
/* A variable that never changes, of x's type and with the value x. Returns its use. */
struct le_expression *le_let(struct le_kernel_tree *t, struct le_block *block, const char *wish,
                             struct le_expression *x);
struct le_variable *le_ktree_declare(struct le_kernel_tree *t, struct le_block *block, const char *wish, int type,
                                     struct le_expression *x);
/* An array with one or two axes (columns 0: one). */
struct le_variable *le_ktree_array(struct le_kernel_tree *t, struct le_block *block, const char *wish, int type,
                                   enum le_ktree_memory memory, int rows, int columns);
/* A pointer: an array of that memory which begins at the address. */
struct le_variable *le_ktree_pointer(struct le_kernel_tree *t, struct le_block *block, const char *wish, int type,
                                     enum le_ktree_memory memory, struct le_expression *address);
/* An array of objects of the type that a CALL names; count 0: one object. */
struct le_variable *le_ktree_object(struct le_kernel_tree *t, struct le_block *block, const char *wish,
                                    enum le_ktree_memory memory, int count, struct le_expression *type);
void le_ktree_set(struct le_kernel_tree *t, struct le_block *block, struct le_expression *to, struct le_expression *x);
void le_ktree_copy(struct le_kernel_tree *t, struct le_block *block, int count, struct le_expression *to,
                   struct le_expression *from);
/* A call that has no result. */
void le_do(struct le_kernel_tree *t, struct le_block *block, enum le_library_call call, const struct le_static *statics,
           struct le_expression *const *x);
void le_ktree_barrier(struct le_kernel_tree *t, struct le_block *block);
/* Adds a type of totals and the statement that declares it. Returns the type. */
int le_ktree_totals(struct le_kernel_tree *t, struct le_block *block, const struct le_totals *totals);
/* Returns from the kernel if x holds. */
void le_ktree_end_if(struct le_kernel_tree *t, struct le_block *block, struct le_expression *x);
void le_ktree_return(struct le_kernel_tree *t, struct le_block *block, struct le_expression *x);

/* Open blocks. What is added to the parent while one is open comes before it. le_ktree_close adds it to the parent. */
struct le_block *le_ktree_open(struct le_kernel_tree *t,
                               struct le_block *parent); /* its statements become the parent's */
struct le_block *le_ktree_open_scope(struct le_kernel_tree *t, struct le_block *parent);
struct le_block *le_ktree_open_if(struct le_kernel_tree *t, struct le_block *parent, struct le_expression *x);
struct le_block *le_ktree_open_else(struct le_kernel_tree *t,
                                    struct le_block *parent); /* closed right after its `if` */
struct le_block *le_ktree_open_while(struct le_kernel_tree *t, struct le_block *parent, struct le_expression *x);
/* variable: the loop's; from, below: of its type; step NULL: 1 */
struct le_block *le_ktree_open_loop(struct le_kernel_tree *t, struct le_block *parent, enum le_role role,
                                    struct le_variable *variable, struct le_expression *from,
                                    struct le_expression *below, struct le_expression *step);
/* 0 ... count - 1, written out. With one iteration there is no loop. */
struct le_block *le_ktree_open_unrolled(struct le_kernel_tree *t, struct le_block *parent, struct le_variable *variable,
                                        int count);
/* The same with an INT variable of its own; *number: its value. */
struct le_block *le_ktree_open_each(struct le_kernel_tree *t, struct le_block *parent, const char *wish, int count,
                                    struct le_expression **number);
struct le_block *le_ktree_open_function(struct le_kernel_tree *t, struct le_block *parent, struct le_variable *function,
                                        struct le_variable *const *parameters, int count);
/* The same with one parameter of a position's type; *function: a new one that returns that type, *x: the parameter. */
struct le_block *le_ktree_open_function_of(struct le_kernel_tree *t, struct le_block *parent, const char *wish,
                                           int type, const char *parameter, int parameter_type,
                                           struct le_variable **function, struct le_expression **x);
/* Closes the block, which ends with a return of x. */
void le_ktree_close_with(struct le_kernel_tree *t, struct le_block *block, struct le_expression *x);
void le_ktree_close(struct le_kernel_tree *t, struct le_block *block);
/* Closes inner and the blocks around it, up to outer, which stays open. */
void le_ktree_close_to(struct le_kernel_tree *t, struct le_block *inner, const struct le_block *outer);

/* ---- names.c */
const char *le_ktree_name(struct le_kernel_tree *t,
                          const char *wish); /* `wish` as a C name, with a suffix if that is in use */
char *le_ktree_clean_name(struct le_arena *arena, const char *wish); /* letters, digits and single underscores */

/* ---- simplify.c: removes what is never used: variables that are not read, and parameters */
void le_ktree_sweep(struct le_kernel_tree *t);

/* ---- ktree_verify.c: LEAT_INTERNAL, with the statement, if the tree breaks a rule of this header */
leat_status le_ktree_verify(const struct le_kernel_tree *t);

/* ---- ktree_print.c: the kernel's text */
struct le_text;
void le_ktree_print(const struct le_kernel_tree *t, struct le_text *out);
const char *le_ktree_type_name(const struct le_kernel_tree *t, int type);
#endif
