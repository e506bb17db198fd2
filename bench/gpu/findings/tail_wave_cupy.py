"""One block more than the device holds, compared with the same work in blocks of a thirty-second of the size. Their shared memory allows
four blocks per multiprocessor, so few that each takes as long alone as beside the others."""
import cupy as cp
import numpy as np

import pair

PARTS, AT_ONCE = 32, 4
spin = cp.RawKernel(r'''
extern "C" __global__ void spin(float *x, int turns) {
    __shared__ volatile float room[12000];
    float value = threadIdx.x;
    for (int k = 0; k < turns; k++)
        value = value * 1.0001f + 0.5f;
    room[threadIdx.x] = value;
    if (room[threadIdx.x] == 12345.f)
        *x = value;
}''', 'spin')
spin.preferred_shared_memory_carveout = 100
x = cp.zeros(1, cp.float32)
blocks = cp.cuda.Device().attributes['MultiProcessorCount'] * AT_ONCE + 1


def work(parts):
    for _ in range(pair.TURNS):
        spin((blocks * parts,), (64,), (x, np.int32(400_000 // parts)))
        cp.cuda.Device().synchronize()


pair.run(lambda: work(1), lambda: work(PARTS), cp.cuda.Device().synchronize)
