/* One run of a program by Leat, compared with the oracle. */
#ifndef TESTS_RANDOM_TRIAL_H
#define TESTS_RANDOM_TRIAL_H
#include "oracle.h"
#include "program_print.h"

enum finding {
    AGREES,
    WRONG_VALUE,
    WRONG_KIND,    /* a result's type or shape */
    OTHER_BITS,    /* different from the first way of running it */
    FALSE_ERROR,   /* although the oracle runs it */
    MISSING_ERROR, /* although the oracle finds one */
    CRASH          /* of the process, or a timeout; set by the caller */
};

struct way {
    const char *name;
    leat_options options;
    bool takes_some;   /* requests only some of the results */
    bool runs_twice;   /* first with other inputs, if the program ends with them; that result is ignored */
    bool gives_arrays; /* passes arrays for the results; inputs that the program assigns are written in place */
};

struct trial {
    const struct source *source;
    const struct oracle *oracle; /* after its run of the program */
    const struct text *text;
    bool has_decoy;               /* the program also ends with other inputs */
    uint64_t hashes[SYMBOLS_MAX]; /* of the results' bytes in the first way of running; 0: none yet */
    char words[1500];             /* what is wrong */
};

enum finding try_way(struct trial *trial, const struct way *way, leat_context *ctx);
#endif
