"""A graph that is captured at each step, compared with one that is captured once."""
import cupy as cp
import numpy as np

import pair

NODES = 20 if pair.SMALL else 200
add = cp.RawKernel('extern "C" __global__ void add(float *x, int n) {'
                   'int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] += 1; }', 'add')
x = cp.ones(1024, cp.float32)
stream = cp.cuda.Stream(non_blocking=True)


def capture():
    with stream:
        stream.begin_capture()
        for _ in range(NODES):
            add((4,), (256,), (x, np.int32(1024)))
        return stream.end_capture()


def work(keeps):
    graph = None
    for _ in range(pair.TURNS):
        if graph is None or not keeps:
            graph = capture()
        graph.launch(stream)
        stream.synchronize()


with stream:
    add((4,), (256,), (x, np.int32(1024)))
stream.synchronize()
pair.run(lambda: work(False), lambda: work(True), stream.synchronize)
