/* Prints a kernel tree as CUDA C. */
#ifndef LE_CUDA_PRINT_H
#define LE_CUDA_PRINT_H
#include "gen/cuda/words.h"
#include "gen/tree/ktree.h"

/* The kernel alone, without its prelude. */
void le_cuda_print(const struct le_kernel_tree *t, struct words *out);
#endif
