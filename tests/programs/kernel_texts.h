/* Checks the texts of a call's kernels (leat show --emit kernel): each is read back, printed the same, valid, and its
 * CUDA C is part of `cuda` (--emit cuda). */
#ifndef TESTS_KERNEL_TEXTS_H
#define TESTS_KERNEL_TEXTS_H
#include <stdbool.h>

/* Prints what is wrong to stderr. *count grows by the kernels. */
bool kernel_texts_agree(const char *kernels, const char *cuda, int *count);
#endif
