"""What every pair of programs shares: NAME.py before|after runs one of its two functions, after a first time that warms up, with
the profiler switched on around it alone, and prints the nanoseconds that it took to the very end of the device's work."""
import ctypes
import sys
import time

TURNS = 20


def run(before, after, wait, warm=True):
    """before, after: the program's two ways; wait: until the device is done. A way may return its own nanoseconds instead."""
    way = {'before': before, 'after': after}[sys.argv[1]]
    if warm:
        way()
    wait()
    driver = ctypes.CDLL('libcuda.so.1')
    driver.cuProfilerStart()
    start = time.perf_counter_ns()
    own = way()
    wait()
    took = time.perf_counter_ns() - start
    driver.cuProfilerStop()
    print('took_ns', took if own is None else own)
