"""Helpers of all pairs of programs. A pair reads requests from stdin, one per line: `before` or `after` runs that variant, once to warm up
and once more, and prints `before NANOSECONDS`, up to the end of the device's work; `before recorded` switches the profiler on for the
second time only. PAIR_SMALL=1: do only what the finding needs, for a small trace."""
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
    """before, after: the two variants; wait: waits for the device. A variant may return its own nanoseconds. All processes of all pairs
    work on the same core, one at a time, because the same work may take a third longer on another core."""
    wait()  # starts CUDA, and with it the recorder's thread
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})  # of this thread only
    ways = {'before': before, 'after': after}
    for line in sys.stdin:
        name, *recorded = line.split()
        took_ns(ways[name], wait)
        print(name, (recorded_ns if recorded else took_ns)(ways[name], wait), flush=True)
