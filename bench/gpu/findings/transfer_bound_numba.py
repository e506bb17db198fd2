"""NumPy arrays given to a kernel, which go up and down at each call, against arrays on the device."""
import numpy as np
from numba import cuda

import pair


@cuda.jit
def scale(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 1.0001


host = np.ones(8_000_000, np.float32)
device = cuda.to_device(host)


def work(x):
    for _ in range(pair.TURNS):
        scale[(x.size + 255) // 256, 256](x)


pair.run(lambda: work(host), lambda: work(device), cuda.synchronize)
