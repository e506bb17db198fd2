/* The clock for all times that Leat measures. Any thread. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "base/clock.h"
#include <time.h>

uint64_t le_clock_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
