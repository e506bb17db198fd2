"""What every pair of programs shares. A pair reads from stdin what to do, a line each: `before` or `after` runs one of its two ways, a
first time that warms up and then again, and prints `before NANOSECONDS`, to the very end of the device's work; `before recorded` has the
profiler switched on around the second time alone. PAIR_SMALL=1: as little as the finding needs, for a small trace."""
import ctypes
import os
import sys
import time

SMALL = os.environ.get('PAIR_SMALL') == '1'
TURNS = 12 if SMALL else 20


def took_ns(way, wait):
    start = time.perf_counter_ns()
    own = way()
    wait()
    return time.perf_counter_ns() - start if own is None else own


def recorded_ns(way, wait):
    driver = ctypes.CDLL('libcuda.so.1')
    driver.cuProfilerStart()
    took = took_ns(way, wait)
    driver.cuProfilerStop()
    return took


def run(before, after, wait):
    """before, after: the program's two ways; wait: until the device is done. A way may return its own nanoseconds instead. All processes
    of all pairs work on the same core, one at a time: on another one the same work may take a third longer."""
    wait()  # CUDA has started, and the recorder's thread with it
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})  # this thread's alone
    ways = {'before': before, 'after': after}
    for line in sys.stdin:
        name, *recorded = line.split()
        took_ns(ways[name], wait)
        print(name, (recorded_ns if recorded else took_ns)(ways[name], wait), flush=True)
