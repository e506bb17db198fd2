/* Random well-formed programs, divided into pieces at their top level. A program depends only on its seed. */
#ifndef TESTS_RANDOM_GENERATOR_H
#define TESTS_RANDOM_GENERATOR_H
#include "leat.h"
#include "random_bits.h"

enum { VARIABLES_MAX = 64, PIECES_MAX = 32, NAME_MAX_BYTES = 16, TEXT_MAX_BYTES = 6000 };

struct variable {
    char name[NAME_MAX_BYTES];
    int rank; /* 0: a scalar */
    int64_t shape[3];
    leat_dtype dtype; /* of an input array */
    bool is_input;    /* the caller binds it */
    bool is_number;   /* an input that is a plain number */
    bool is_float;    /* may hold a fraction: not for subscripts and bit operations */
    bool is_small;    /* an input whose elements are subscripts: 0..4 */
    bool is_weak;     /* a scalar made of literals and numbers alone */
    bool is_set;      /* it has a value at this point */
    double number;
};

/* Statements that are run together. */
struct piece {
    char text[TEXT_MAX_BYTES];
    bool is_prefix; /* a def or an edge: later pieces need it when they name `about` */
    char about[NAME_MAX_BYTES];
    int writes[8], write_count; /* variables */
};

struct program {
    struct variable variables[VARIABLES_MAX];
    int variable_count;
    struct piece pieces[PIECES_MAX];
    int piece_count;
};

void generate(struct program *program, uint64_t seed);
#endif
