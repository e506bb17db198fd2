/* The oracle evaluates a program's tree with plain loops, by the rules of docs/LANGUAGE.md. It finds the range of each
 * index, the type of each value, and whether the run ends in an error. Numbers are integers or small multiples of 1/8,
 * so that sums of floats are exact in any order. A program whose sums would not be exact, or whose result the rules do
 * not define, is UNSUITABLE.
 *
 * oracle_check.c finds, in the order of the text, the visible names and the accesses that the range rules use.
 * oracle_type.c finds types, oracle_range.c ranges, oracle_expression.c and oracle_statement.c values. */
#ifndef TESTS_RANDOM_ORACLE_H
#define TESTS_RANDOM_ORACLE_H
#include "program_tree.h"

enum verdict {
    RUNS,
    FAILS_EARLY, /* an error of ranges or extents, or of an access that is checked before the run */
    FAILS_LATE,  /* an error in the data: a subscript is out of range during the run */
    UNSUITABLE   /* the oracle cannot decide */
};

enum { ORACLE_BYTES = 1 << 25, POINTS_MAX = 1 << 18 };

struct oracle {
    struct source *source;
    enum verdict verdict;
    char why[100];
    struct index *unranged;            /* FAILS_EARLY: this index has no range */
    const struct statement *statement; /* the host's statement that runs or failed, not a def's */
    int64_t steps;
    bool breaks, returns;
    union value returned;
    int returned_type;
    int64_t point_elements[POINTS_MAX]; /* values that a statement will store */
    union value point_values[POINTS_MAX];
    int64_t point_count;
    size_t used_bytes;
    _Alignas(16) char memory[ORACLE_BYTES];
};

/* Runs the program; is_decoy: with other valid inputs. If the verdict is RUNS, arrays and scalars have their values in
 * the tree afterwards. */
enum verdict oracle_run(struct oracle *oracle, struct source *source, bool is_decoy);
/* Element k of an input, or the scalar, times 2. */
int64_t input_halves(const struct source *source, const struct symbol *input, int64_t k, bool is_decoy);

/* ---- between the oracle's files */

/* Returns NULL and sets UNSUITABLE if there is no memory left. */
void *oracle_new(struct oracle *oracle, size_t size_bytes);
__attribute__((format(printf, 3, 4))) void fail(struct oracle *oracle, enum verdict verdict, const char *format, ...);
void check_program(struct oracle *oracle);
void type_program(struct oracle *oracle);
int strong_type(int type);
int promote(int a, int b);
struct range_question {
    struct range_context *ranges;
    int count; /* the first of its indices are asked for */
    bool has_else;
    bool is_restricted; /* in an `each` or a def: only explicit ranges and bare subscripts count, and nothing is checked
                         */
    struct index *const *outer; /* the statement's own indices; if one has no points, nothing is checked */
    int outer_count;
};
void infer_ranges(struct oracle *oracle, const struct range_question *question);
union value type_end(int type, bool is_most);
union value convert(struct oracle *oracle, union value v, int from, int to);
union value exactly(struct oracle *oracle, double real, int type);
bool is_true(union value v, int type);
union value operate(struct oracle *oracle, int op, union value a, union value b, int type);
union value least_or_greatest(union value a, union value b, int type, bool is_least);
union value evaluate(struct oracle *oracle, struct expression *e);
union value evaluate_as(struct oracle *oracle, struct expression *e, int type);
/* Moves the index to its next point; first: evaluates its range again if it depends on other indices. */
bool first_point(struct oracle *oracle, struct index *index);
bool next_point(struct index *index);
int64_t element_count(const struct symbol *array);
/* -1: out of range; the error has been recorded. */
int64_t find_element(struct oracle *oracle, const struct symbol *array, struct expression *const *x,
                     const struct statement *edge, bool *is_filled);
void run_body(struct oracle *oracle, struct statement *body);
#endif
