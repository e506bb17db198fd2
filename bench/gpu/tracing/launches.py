"""launches.c's two figures from Python, with CuPy: what a launch costs the host, and how long kernels of about 6 us take one after the
other. Prints `launch_ns MEDIAN` and `kernels_ns MEDIAN`."""
import statistics
import time

import cupy as cp
import numpy as np

ROUNDS, ROUND, TIMES, WARM, CYCLES = 40, 500, 3, 30000, 11000
nothing = cp.RawKernel('extern "C" __global__ void nothing() {}', 'nothing')
spin = cp.RawKernel('extern "C" __global__ void spin(long long cycles) {'
                    'long long from = clock64(); while (clock64() - from < cycles) ; }', 'spin')
grid, block, none, cycles = (1,), (32,), (), (np.int64(CYCLES),)
stream = cp.cuda.Stream(non_blocking=True)


def launch(count):
    for _ in range(count):
        nothing(grid, block, none)


def launch_spinning(count):
    for _ in range(count):
        spin(grid, block, cycles)


def launch_ns():
    start = time.perf_counter_ns()
    launch(ROUND)
    took = (time.perf_counter_ns() - start) / ROUND
    stream.synchronize()
    return took


def kernels_ns():
    start = time.perf_counter_ns()
    launch_spinning(ROUNDS * ROUND)
    stream.synchronize()
    return time.perf_counter_ns() - start


with stream:
    launch_spinning(WARM)  # a fifth of a second, for the clocks to rise
    launch(ROUND)
    stream.synchronize()
    print('launch_ns %.1f' % statistics.median(launch_ns() for _ in range(ROUNDS)))
    print('kernels_ns %.0f' % statistics.median(kernels_ns() for _ in range(TIMES)))
