"""As many blocks as the device holds and one more, against the same work in blocks of an eighth."""
import cupy as cp
import numpy as np

import pair

spin = cp.RawKernel(r'''
extern "C" __global__ void spin(float *x, int turns) {
    float value = threadIdx.x;
    for (int k = 0; k < turns; k++)
        value = value * 1.0001f + 0.5f;
    if (value == 12345.f)
        *x = value;
}''', 'spin')
x = cp.zeros(1, cp.float32)
blocks = cp.cuda.Device().attributes['MultiProcessorCount'] * 8 + 1  # of 256 threads, 8 on a multiprocessor of 2,048


def work(parts):
    for _ in range(pair.TURNS):
        spin((blocks * parts,), (256,), (x, np.int32(400_000 // parts)))
        cp.cuda.Device().synchronize()


pair.run(lambda: work(1), lambda: work(8), cp.cuda.Device().synchronize)
