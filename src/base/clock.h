#ifndef LE_CLOCK_H
#define LE_CLOCK_H
#include <stdint.h>
uint64_t le_clock_ns(void); /* CLOCK_MONOTONIC */
/* CLOCK_MONOTONIC_COARSE: the same clock as of the kernel's last tick, 1 to 10 ms ago. Takes 7 ns where le_clock_ns
 * takes 37. */
uint64_t le_clock_coarse_ns(void);
#endif
