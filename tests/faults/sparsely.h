/* How many requests a short run tries. */
#ifndef LE_SPARSELY_H
#define LE_SPARSELY_H
#include <stdint.h>

/* The step of a scenario of which not every request is tried. With AddressSanitizer a request takes several times as
 * long, so half as many are; a build without it tries the others. */
static inline int64_t sparsely(int64_t step) {
#ifdef __SANITIZE_ADDRESS__
    return step > 1 ? 2 * step - 1 : step;
#else
    return step;
#endif
}
#endif
