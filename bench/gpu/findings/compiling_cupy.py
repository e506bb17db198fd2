"""A kernel whose text has the shape in it, and so is compiled for each, against one that is told the shape."""
import os
import tempfile

os.environ['CUPY_CACHE_DIR'] = tempfile.mkdtemp()  # nothing is compiled yet
import cupy as cp
import numpy as np

import pair

SHAPES = range(1000, 1020)
arrays = [cp.ones(n, cp.float32) for n in SHAPES]
general = cp.RawKernel('extern "C" __global__ void twice(float *x, int n) {'
                       'int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= 2; }', 'twice')


def compile_each():
    for x in arrays:
        kernel = cp.RawKernel('extern "C" __global__ void twice(float *x) {'
                              'int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < %d) x[i] *= 2; }' % x.size, 'twice')
        kernel((4,), (256,), (x,))


def compile_once():
    for x in arrays:
        general((4,), (256,), (x, np.int32(x.size)))


pair.run(compile_each, compile_once, cp.cuda.Device().synchronize, warm=False)
