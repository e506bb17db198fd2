/* Bounds checks for the vector machine, in builds with LEAT_CHECK_BOUNDS. Before an instruction runs, the first and
 * last byte of each memory operand must lie in the array or scratch area that the operand's register belongs to.
 * Otherwise the access is reported and the process aborts. Such an access is always a bug in the generator; data cannot
 * cause it. Not checked: accumulators' own memory, and kernels that run outside the machine, such as matrix
 * products. */
#ifndef LE_BOUNDS_CHECK_H
#define LE_BOUNDS_CHECK_H
#include "device/cpu/machine/execute.h"

#ifdef LE_CHECK_BOUNDS
enum { LE_CHECKS_BOUNDS = 1 };
#else
enum { LE_CHECKS_BOUNDS = 0 };
#endif

/* Finds the area of each register for a worker that runs one task. */
void le_bounds_start(const struct le_cpu_job *job, const char *scratch, struct le_cpu_area *areas);
/* Call before instr runs on n elements. */
void le_bounds_check(const struct le_unit *unit, void *const *regs, const struct le_cpu_area *areas,
                     const struct le_instr *instr, int64_t n);
/* Call before loop runs. lanes: of the loop around it. */
void le_bounds_check_loop(const struct le_unit *unit, void *const *regs, const struct le_cpu_area *areas,
                          const struct le_loop *loop, int64_t lanes);
#endif
