"""500 small kernels per step: launched one by one, compared with a graph of a step."""
import cupy as cp
import numpy as np

import pair

HALF = 15 if pair.SMALL else 250
add = cp.RawKernel('extern "C" __global__ void add(float *x, int n) {'
                   'int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] += 1; }', 'add')
scale = cp.RawKernel('extern "C" __global__ void scale(float *x, int n) {'
                     'int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= 0.5f; }', 'scale')
x = cp.ones(1024, cp.float32)
stream = cp.cuda.Stream(non_blocking=True)


def step():
    for _ in range(HALF):
        add((4,), (256,), (x, np.int32(1024)))
        scale((4,), (256,), (x, np.int32(1024)))


def launch():
    with stream:
        for _ in range(pair.TURNS):
            step()
            stream.synchronize()


def replay():
    for _ in range(pair.TURNS):
        graph.launch(stream)
        stream.synchronize()


with stream:
    step()
    stream.synchronize()
    stream.begin_capture()
    step()
    graph = stream.end_capture()
pair.run(launch, replay, stream.synchronize)
