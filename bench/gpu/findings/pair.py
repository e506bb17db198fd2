"""What every pair of programs shares. NAME.py measure N runs its two ways in turns, N times after a first one that warms up, and prints
the nanoseconds that each took to the very end of the device's work. NAME.py before|after runs one of them once, after a first time that
warms up, with the profiler switched on around it alone. PAIR_SMALL=1: as little as the finding needs, for a small trace."""
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


def run(before, after, wait):
    """before, after: the program's two ways; wait: until the device is done. A way may return its own nanoseconds instead."""
    ways, what = {'before': before, 'after': after}, sys.argv[1]
    chosen = list(ways) if what == 'measure' else [what]
    for name in chosen:
        took_ns(ways[name], wait)
    if what == 'measure':
        for _ in range(int(sys.argv[2])):
            for name in chosen:
                print(name, took_ns(ways[name], wait))
        return
    driver = ctypes.CDLL('libcuda.so.1')
    driver.cuProfilerStart()
    print(what, took_ns(ways[what], wait))
    driver.cuProfilerStop()
