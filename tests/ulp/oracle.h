/* What the library functions ought to give: f64 for f32's functions, four at a time where glibc has vector functions,
 * and long double for f64's and for whatever looks wrong in f64. No state, any thread. */
#ifndef LE_ORACLE_H
#define LE_ORACLE_H
#include "spec/op.h"

typedef void oracle_block(double *result, const double *x, int64_t n); /* n: a multiple of 4 */
struct oracle {
    enum le_op op;
    oracle_block *block;                             /* NULL for functions of two arguments */
    long double (*exact1)(long double);              /* either this */
    long double (*exact2)(long double, long double); /* or this */
};
extern const struct oracle oracles[];
extern const int oracle_count;
bool oracle_here(void); /* whether this processor can run what the oracle was built for */
/* Whether each of n f32 results is its f64 rounded, or no farther from it than so many units in the last place. */
bool oracle_all_near(const float *results, const double *wide, int64_t n, double units);
#endif
