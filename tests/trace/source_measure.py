"""Measures a capture by the depth of calls: for a known source line (warm) and for new ones (cold).

usage: source_measure.py PROBE"""

import sys

sys.dont_write_bytecode = True
from source_probe import Probe

probe = Probe(sys.argv[1])
COLD = 400


def down(depth, call):
    return call() if depth == 0 else down(depth - 1, call)


def cold_functions():
    """Functions that the probe has not seen, each in a different file."""
    names = {"probe": probe}
    for k in range(COLD):
        text = "\n" * k + "def f%d():\n    return probe.capture_ns(probe.probe, 1)" % k
        exec(compile(text, "/a/path/of/some/length/file%d.py" % k, "exec"), names)
    return [names["f%d" % k] for k in range(COLD)]


def main():
    print(probe.language().decode())
    print("frames  warm  new place  all new   ns of the thread's own time")
    for frames in (5, 15, 32):
        extra = 4  # this one, the module, the first `down`, the function
        warm = min(down(frames - 3, lambda: probe.capture_ns(probe.probe, 100000)) for _ in range(5))
        cold = sorted(down(frames - extra, function) for function in cold_functions())
        fresh = Probe(sys.argv[1])
        first = down(frames - 3, lambda: fresh.capture_ns(fresh.probe, 1))
        print("%6d %5.0f %10.0f %8.0f" % (frames, warm, cold[COLD // 2], first))


main()
