"""A thousand uploads of a hundred numbers, against one upload of all."""
import cupy as cp
import cupyx

import pair

host = cupyx.zeros_pinned((1000, 100), 'float32')
device = cp.empty((1000, 100), cp.float32)
stream = cp.cuda.Stream(non_blocking=True)


def each():
    for _ in range(pair.TURNS):
        for k in range(1000):
            device[k].set(host[k], stream=stream)


def together():
    for _ in range(pair.TURNS):
        device.set(host, stream=stream)


pair.run(each, together, stream.synchronize)
