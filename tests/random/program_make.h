/* Makes random programs. A statement is drawn at random and kept if the oracle can run it, so almost all programs run.
 * Some end with a statement that fails.
 *
 * make_expression.c draws expressions, make_reduction.c reductions, make_statement.c statements, make_definition.c
 * defs, make_program.c programs. */
#ifndef TESTS_RANDOM_PROGRAM_MAKE_H
#define TESTS_RANDOM_PROGRAM_MAKE_H
#include "oracle.h"

/* Programs of every fifth seed are plain: sim can interpret most of them, without compiling each statement. */
enum { PLAIN_EVERY = 5 };

/* Makes the same program for the same seed. Overwrites `source` and `oracle`; the verdict is that of this program. */
void make_program(struct source *source, struct oracle *oracle, uint64_t seed);

/* ---- between the generator's files */

enum { PLANS_MAX = 8, DIMS_MAX = 4, STATEMENT_BUDGET = 30 };

/* The probability of each kind of code in this program, in percent. */
struct habits {
    int inferred, computed, guarded, reducing, calling, controlled;
};

struct maker {
    struct source *source;
    struct oracle *oracle;
    uint64_t seed, drawn;
    int64_t dims[DIMS_MAX];
    int whole_types[2], real_type;
    struct habits habits;
    struct index *plans[PLANS_MAX]; /* indices that an expression may use */
    int plan_count;
    struct symbol *names[SYMBOLS_MAX]; /* visible names */
    int name_count;
    const struct symbol *written[4]; /* by the enclosing `each`: read with its bare indices only */
    int written_count, each_mark;    /* each_mark: the first plan that is the each's */
    struct symbol *target;           /* of the statement; it is read more often than other arrays */
    int block_depth, budget;
    int64_t points_max;            /* of a statement */
    bool in_each, in_def, is_free; /* is_free: subscripts may fall outside */
    bool is_plain;                 /* mostly code that the interpreter on devices can run */
};

int64_t draw(struct maker *m, int64_t below);
bool chance(struct maker *m, int percent);
int64_t draw_extent(struct maker *m);
struct symbol *make_input(struct maker *m, enum value_class value_class, int rank, const int64_t *shape);
void add_name(struct maker *m, struct symbol *symbol);
struct index *plan_index(struct maker *m, int64_t low, int64_t high);
void set_range(struct maker *m, struct index *index, int64_t low, int64_t high);
struct expression *make_value(struct maker *m, enum value_class value_class, int depth);
struct expression *make_reduction(struct maker *m, enum value_class value_class, int depth);
struct expression *make_subscript(struct maker *m, const struct symbol *array, int axis, int depth);
struct expression *make_leaf(struct maker *m, enum value_class value_class);
/* A read that bounds all these indices, mostly with bare subscripts. */
struct expression *make_bounding_read(struct maker *m, enum value_class value_class, struct index *const *indices,
                                      int count);
struct expression *make_extent(struct maker *m, int64_t extent);
struct expression *whole_subscript(struct maker *m, struct expression *e);
struct index *choose_plan(struct maker *m);  /* NULL: there is none */
bool is_inferred(const struct index *index); /* from reads, as it has no range */
struct symbol *choose_name(struct maker *m, enum value_class value_class, bool is_array);
struct symbol *make_fitting_input(struct maker *m, enum value_class value_class);
struct statement *make_statement(struct maker *m);
/* An assignment to a scalar of the enclosing `each` or def. */
struct statement *make_private(struct maker *m);
void make_definition(struct maker *m);

static inline struct expression *number(struct maker *m, int64_t value) {
    return new_number(m->source, value);
}
static inline struct expression *binary(struct maker *m, int op, struct expression *a, struct expression *b) {
    return new_binary(m->source, op, a, b);
}
static inline struct expression *of_index(struct maker *m, struct index *index) {
    return new_of_index(m->source, index);
}
#endif
