/* One run of a program by Leat, held against the oracle. */
#ifndef TESTS_RANDOM_TRIAL_H
#define TESTS_RANDOM_TRIAL_H
#include "oracle.h"
#include "program_print.h"

enum finding {
    AGREES,
    WRONG_VALUE,
    WRONG_KIND,    /* a result's type or shape */
    OTHER_BITS,    /* not those of the first way of running it */
    FALSE_ERROR,   /* though the oracle runs it */
    MISSING_ERROR, /* though the oracle finds one */
    CRASH          /* of the process, or it took too long; the caller tells these */
};

struct way {
    const char *name;
    leat_options options;
    bool takes_some;   /* asks for some of the results alone */
    bool runs_twice;   /* first with other inputs, if it ends with them, whatever comes of that */
    bool gives_arrays; /* for the results; inputs that the program assigns are written in place */
};

struct trial {
    const struct source *source;
    const struct oracle *oracle; /* after its run of the program */
    const struct text *text;
    bool has_decoy;               /* it ends with other inputs, too */
    uint64_t hashes[SYMBOLS_MAX]; /* of the results' bytes in the first way; 0: none yet */
    char words[1500];             /* what is wrong */
};

enum finding try_way(struct trial *trial, const struct way *way, leat_context *ctx);
#endif
