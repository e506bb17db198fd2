"""A few expressions over 10,000 numbers, each evaluated once: on the device, which must compile them first, compared with NumPy."""
import itertools
import os
import tempfile

os.environ['CUPY_CACHE_DIR'] = tempfile.mkdtemp()
import cupy as cp
import numpy as np

import pair

host = np.linspace(0.1, 1, 10_000)
runs = itertools.count(1)


def on_device():
    x = cp.asarray(host)
    for _ in range(5):
        k = next(runs)  # in the text, so that no run finds another's compiled
        x = cp.ElementwiseKernel('float64 x', 'float64 y', 'y = sqrt(x * %d.5) * 0.5 + 0.1' % k, 'expression_%d' % k)(x)
    return cp.asnumpy(x)


def on_host():
    x = host
    for _ in range(5):
        x = np.sqrt(x * (next(runs) + 0.5)) * 0.5 + 0.1
    return x


def only(way):
    def run():
        way()
    return run


pair.run(only(on_device), only(on_host), cp.cuda.Device().synchronize)
