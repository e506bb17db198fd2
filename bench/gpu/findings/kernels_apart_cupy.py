"""Small kernels in four streams, each followed by one in the null stream, for which all streams wait, compared with separate streams."""
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
count = cp.RawKernel('extern "C" __global__ void count(int *done) { atomicAdd(done, 1); }', 'count')
x, done = cp.zeros(1, cp.float32), cp.zeros(1, cp.int32)
cp.cuda.Device().synchronize()
KERNELS = 32 if pair.SMALL else 64
blocking = [cp.cuda.Stream() for _ in range(4)]
apart = [cp.cuda.Stream(non_blocking=True) for _ in range(4)]


def work(streams, counts_in):
    for k in range(KERNELS):
        stream = streams[k % len(streams)]
        with stream:
            spin((16,), (64,), (x, np.int32(150_000)))
        with counts_in or stream:
            count((1,), (1,), (done,))


pair.run(lambda: work(blocking, cp.cuda.Stream.null), lambda: work(apart, None), cp.cuda.Device().synchronize)
