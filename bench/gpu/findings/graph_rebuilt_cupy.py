"""A graph that is captured at each step, against one that is captured once."""
import cupy as cp
import numpy as np

import pair

add = cp.RawKernel('extern "C" __global__ void add(float *x, int n) {'
                   'int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] += 1; }', 'add')
x = cp.ones(1024, cp.float32)
stream = cp.cuda.Stream(non_blocking=True)


def capture():
    with stream:
        stream.begin_capture()
        for _ in range(200):
            add((4,), (256,), (x, np.int32(1024)))
        return stream.end_capture()


def work(graph):
    for _ in range(pair.TURNS):
        (graph or capture()).launch(stream)
        stream.synchronize()


with stream:
    add((4,), (256,), (x, np.int32(1024)))
kept = capture()
pair.run(lambda: work(None), lambda: work(kept), stream.synchronize)
