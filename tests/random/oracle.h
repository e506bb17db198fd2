/* The oracle: evaluates a program's tree with plain loops, by the rules of docs/LANGUAGE.md. Numbers are whole or small
 * eighths, so that floats add up exactly in any order; a program where they would not is UNSUITABLE, and so is one that
 * the rules do not settle. It knows how far each index runs, which type each value has, and whether the run ends in an
 * error.
 *
 * oracle_check.c reads the text in order: which names are visible, which accesses the range rules look at.
 * oracle_type.c gives types, oracle_range.c ranges, oracle_expression.c and oracle_statement.c values. */
#ifndef TESTS_RANDOM_ORACLE_H
#define TESTS_RANDOM_ORACLE_H
#include "program_tree.h"

enum verdict {
    RUNS,
    FAILS_EARLY, /* an error of ranges, extents or an access that is known beforehand */
    FAILS_LATE,  /* an error in the data: a subscript that is out of range as it runs */
    UNSUITABLE   /* nothing can be said of it */
};

enum { ORACLE_BYTES = 1 << 25, POINTS_MAX = 1 << 18 };

struct oracle {
    struct source *source;
    enum verdict verdict;
    char why[100];
    struct index *unranged;            /* FAILS_EARLY: this index has no range */
    const struct statement *statement; /* that runs, or failed; of the host's, not of a def's */
    int64_t steps;
    bool breaks, returns;
    union value returned;
    int returned_type;
    int64_t point_elements[POINTS_MAX]; /* what a statement stores, before it stores it */
    union value point_values[POINTS_MAX];
    int64_t point_count;
    size_t used_bytes;
    _Alignas(16) char memory[ORACLE_BYTES];
};

/* Runs the program; is_decoy: on other inputs that would fit, too. Arrays and scalars have their values in the tree
 * then, if the verdict is RUNS. */
enum verdict oracle_run(struct oracle *oracle, struct source *source, bool is_decoy);
/* Element k of an input, or the scalar, times 2. */
int64_t input_halves(const struct source *source, const struct symbol *input, int64_t k, bool is_decoy);

/* ---- among the oracle's files */

/* NULL, and UNSUITABLE, when there is none left. */
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
    bool is_restricted; /* in an `each` or a def: explicit ranges and bare subscripts alone, and nothing is checked */
    struct index *const *outer; /* the statement's own indices: where one has no points, nothing is checked */
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
/* Next point of the index; first: its range is looked at anew where it depends on other indices. */
bool first_point(struct oracle *oracle, struct index *index);
bool next_point(struct index *index);
int64_t element_count(const struct symbol *array);
/* -1: out of range, which is an error already. */
int64_t find_element(struct oracle *oracle, const struct symbol *array, struct expression *const *x,
                     const struct statement *edge, bool *is_filled);
void run_body(struct oracle *oracle, struct statement *body);
#endif
