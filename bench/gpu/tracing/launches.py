"""Measures what a launch costs the host, from Python with CuPy. Answers lines of stdin as launches.c does, except `kernel`."""
import os
import statistics
import sys
import time

import cupy as cp
import numpy as np

ROUNDS, ROUND, WARM, WARM_AGAIN, CYCLES = 5, 500, 3000, 1000, 11000
nothing = cp.RawKernel('extern "C" __global__ void nothing() {}', 'nothing')
spin = cp.RawKernel('extern "C" __global__ void spin(long long cycles) {'
                    'long long from = clock64(); while (clock64() - from < cycles) ; }', 'spin')
grid, block, none, cycles = (1,), (32,), (), (np.int64(CYCLES),)
stream = cp.cuda.Stream(non_blocking=True)
launches = 0


def launch(count):
    global launches
    launches += count
    for _ in range(count):
        nothing(grid, block, none)


def launch_spinning(count):
    global launches
    launches += count
    for _ in range(count):
        spin(grid, block, cycles)


def launch_ns():
    start = time.perf_counter_ns()
    launch(ROUND)
    took = (time.perf_counter_ns() - start) / ROUND
    stream.synchronize()
    return took


os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})  # as launches.c
with stream:
    launch_spinning(WARM)  # until the clocks have risen
    for line in sys.stdin:
        launch_spinning(WARM_AGAIN)
        launch(ROUND)
        stream.synchronize()
        if line == 'launch\n':
            print('launch_ns %.1f' % statistics.median(launch_ns() for _ in range(ROUNDS)), flush=True)
        else:
            print('launches %d' % launches, flush=True)
