"""A kernel whose text contains the shape, and is compiled for each shape, compared with one that takes the shape as an argument. Each run
has a new text, so that nothing has been compiled."""
import itertools
import os
import tempfile

os.environ['CUPY_CACHE_DIR'] = tempfile.mkdtemp()
import cupy as cp
import numpy as np

import pair

arrays = [cp.ones(n, cp.float32) for n in range(1000, 1000 + pair.TURNS)]
ready = cp.RawKernel('extern "C" __global__ void ready(float *x) { x[threadIdx.x] = 1; }', 'ready')
runs = itertools.count()


def kernel(parameters, size):
    return cp.RawKernel('// run %d\nextern "C" __global__ void twice(float *x%s) {'
                        'int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < %s) x[i] *= 2; }' % (next(runs), parameters, size), 'twice')


def compile_each():
    ready((1,), (256,), (arrays[0],))
    for x in arrays:
        kernel('', x.size)((4,), (256,), (x,))


def compile_once():
    ready((1,), (256,), (arrays[0],))
    general = kernel(', int n', 'n')
    for x in arrays:
        general((4,), (256,), (x, np.int32(x.size)))


pair.run(compile_each, compile_once, cp.cuda.Device().synchronize)
