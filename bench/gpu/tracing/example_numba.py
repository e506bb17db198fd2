"""A program as Numba's users write them: a tiled product in shared memory, a generalized ufunc, a reduction and a histogram, a heat
equation through two streams and pinned memory. Its output is the same in each run."""
import math

import numpy as np

for name, value in {'row_stack': 'vstack', 'in1d': 'isin', 'trapz': 'trapezoid'}.items():  # removed in new versions of NumPy
    if not hasattr(np, name):
        setattr(np, name, getattr(np, value))
from numba import cuda, float32, guvectorize, int32, vectorize

TILE = 16


@cuda.jit
def product(a, b, c):
    left = cuda.shared.array((TILE, TILE), float32)
    right = cuda.shared.array((TILE, TILE), float32)
    column, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for tile in range((a.shape[1] + TILE - 1) // TILE):
        left[ty, tx] = 0
        right[ty, tx] = 0
        if row < a.shape[0] and tile * TILE + tx < a.shape[1]:
            left[ty, tx] = a[row, tile * TILE + tx]
        if column < b.shape[1] and tile * TILE + ty < b.shape[0]:
            right[ty, tx] = b[tile * TILE + ty, column]
        cuda.syncthreads()
        for k in range(TILE):
            total += left[ty, k] * right[k, tx]
        cuda.syncthreads()
    if row < c.shape[0] and column < c.shape[1]:
        c[row, column] = total


@cuda.jit(device=True)
def bin_of(value, bins):
    return min(max(int32(value * bins), 0), bins - 1)


@cuda.jit
def histogram(values, counts):
    own = cuda.shared.array(64, int32)
    if cuda.threadIdx.x < 64:
        own[cuda.threadIdx.x] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), values.size, cuda.gridsize(1)):
        cuda.atomic.add(own, bin_of(values[i], 64), 1)
    cuda.syncthreads()
    if cuda.threadIdx.x < 64:
        cuda.atomic.add(counts, cuda.threadIdx.x, own[cuda.threadIdx.x])


@cuda.jit
def heat_step(old, new, rate):
    i, j = cuda.grid(2)
    if 0 < i < old.shape[0] - 1 and 0 < j < old.shape[1] - 1:
        new[i, j] = old[i, j] + rate * (old[i - 1, j] + old[i + 1, j] + old[i, j - 1] + old[i, j + 1] - 4 * old[i, j])


@cuda.reduce
def largest(a, b):
    return max(a, b)


def make_ufuncs():
    @guvectorize(['void(float64[:], float64[:], float64[:])'], '(n),(n)->()', target='cuda')
    def weighted_mean(values, weights, result):
        total, weight = 0., 0.
        for k in range(values.shape[0]):
            total += values[k] * weights[k]
            weight += weights[k]
        result[0] = total / weight

    @vectorize(['float64(float64, float64)'], target='cuda')
    def damped(x, scale):
        return math.exp(-x * x * scale) * math.cos(x)
    return weighted_mean, damped


def show_product(random):
    a, b = (random.random(shape, np.float32) for shape in ((200, 120), (120, 170)))
    c = cuda.device_array((200, 170), np.float32)
    product[(11, 13), (TILE, TILE)](cuda.to_device(a), cuda.to_device(b), c)
    made = c.copy_to_host()
    print('product: close to NumPy\'s %s, sum %.1f' % (np.allclose(made, a @ b, rtol=1e-4), made.sum(dtype=np.float64)))


def show_histogram(random):
    values, counts = cuda.to_device(random.random(500_000, np.float32)), cuda.to_device(np.zeros(64, np.int32))
    histogram[256, 128](values, counts)
    print('histogram:', ' '.join(str(n) for n in counts.copy_to_host()[:12]), 'largest %.6f' % largest(values))


def show_ufuncs(random):
    weighted_mean, damped = make_ufuncs()
    values, weights = random.random((6_000, 40)), random.random((6_000, 40))
    means = weighted_mean(values, weights)
    print('weighted means: %.6f to %.6f, %s' % (means.min(), means.max(),
                                                np.allclose(means, (values * weights).sum(1) / weights.sum(1))))
    print('damped: %.6f' % damped(values, np.float64(0.5)).sum())


def show_heat(plates, steps):
    """Each plate in a stream of its own, copied both ways through pinned memory."""
    streams, hosts, results = [], [], []
    for k in range(plates):
        host = cuda.pinned_array((256, 256), dtype=np.float32)
        host[:] = 0
        host[100 + 10 * k:140, 60:90 + 20 * k] = 1
        hosts.append(host)
        streams.append(cuda.stream())
    for host, stream in zip(hosts, streams):
        old = cuda.to_device(host, stream=stream)
        new = cuda.to_device(host, stream=stream)
        for _ in range(steps):
            heat_step[(16, 16), (16, 16), stream](old, new, np.float32(0.2))
            old, new = new, old
        old.copy_to_host(host, stream=stream)
        results.append((old, new))  # kept until the stream is done
    for k, (host, stream) in enumerate(zip(hosts, streams)):
        stream.synchronize()
        print('plate %d: heat %.3f, warmest %.5f' % (k, host.sum(dtype=np.float64), host.max()))


random = np.random.default_rng(5)
show_product(random)
show_histogram(random)
show_ufuncs(random)
show_heat(3, 60)
