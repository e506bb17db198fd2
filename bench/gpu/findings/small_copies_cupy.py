"""A thousand uploads of a hundred numbers, compared with one upload of all."""
import cupy as cp
import cupyx
import numpy as np

import pair

TURNS, ROWS = (1, 300) if pair.SMALL else (20, 1000)
host = cupyx.zeros_pinned((ROWS, 100), np.float32)
device = cp.empty((ROWS, 100), cp.float32)
stream = cp.cuda.Stream(non_blocking=True)


def each():
    for _ in range(TURNS):
        for k in range(ROWS):
            device[k].set(host[k], stream=stream)


def together():
    for _ in range(TURNS):
        device.set(host, stream=stream)


pair.run(each, together, stream.synchronize)
