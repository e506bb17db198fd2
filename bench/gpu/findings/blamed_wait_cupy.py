"""A matrix product that is launched 3,000 times and then copied back: the copy timed by a naive clock, and after a wait."""
import time

import cupy as cp
import numpy as np

import pair

N, LAUNCHES = 512, 300 if pair.SMALL else 3000
product = cp.RawKernel(r'''
extern "C" __global__ void product(const float *a, const float *b, float *c, int n) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}''', 'product')
a, b, c = (cp.ones((N, N), cp.float32) for _ in range(3))


def copy_time(waits):
    for _ in range(LAUNCHES):
        product((N // 16, N // 16), (16, 16), (a, b, c, np.int32(N)))
    if waits:
        cp.cuda.Device().synchronize()
    start = time.perf_counter_ns()
    c.get()
    return time.perf_counter_ns() - start


pair.run(lambda: copy_time(False), lambda: copy_time(True), cp.cuda.Device().synchronize)
