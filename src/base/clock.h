#ifndef LE_CLOCK_H
#define LE_CLOCK_H
#include <stdint.h>
uint64_t le_clock_ns(void); /* CLOCK_MONOTONIC */
#endif
