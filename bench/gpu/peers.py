"""Divides ten arrays of 10^7 floats by their sums with Numba, in one and in ten streams: a copy from pinned memory to the device, three
kernels, a copy back. The kernels are those of examples/cuda/normalise.cu. Prints the best time of the repeats, from the first copy to
the end of the last copy back, by the host's clock and with a synchronization at the end."""
import sys
import time

import numpy

for name, value in {"row_stack": "vstack", "in1d": "isin", "trapz": "trapezoid"}.items():  # removed in new versions of NumPy
    if not hasattr(numpy, name):
        setattr(numpy, name, getattr(numpy, value))
import numba
from numba import cuda, float32

THREADS, BLOCKS, ARRAYS, N = 256, 512, 10, 10_000_000


@cuda.jit
def partial_sums(x, partials):
    sums = cuda.shared.array(THREADS, float32)
    t = cuda.threadIdx.x
    total = float32(0)
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        total += x[i]
    sums[t] = total
    cuda.syncthreads()
    half = THREADS // 2
    while half > 0:
        if t < half:
            sums[t] += sums[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        partials[cuda.blockIdx.x] = sums[0]


@cuda.jit
def total(partials):
    sum_ = float32(0)
    for k in range(partials.size):
        sum_ += partials[k]
    partials[0] = sum_


@cuda.jit
def divide(x, partials):
    scale = float32(1) / partials[0]
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        x[i] *= scale


def run(host, streams, keep):
    """One repeat; keep: the device arrays are made once, not in every repeat."""
    cuda.synchronize()
    start = time.perf_counter()
    for k, values in enumerate(host):
        stream = streams[k % len(streams)]
        with cuda.defer_cleanup():
            if keep:
                x, partials = keep[k]
                x.copy_to_device(values, stream=stream)
            else:
                x = cuda.to_device(values, stream=stream)
                partials = cuda.device_array(BLOCKS, dtype=numpy.float32, stream=stream)
            partial_sums[BLOCKS, THREADS, stream](x, partials)
            total[1, 1, stream](partials)
            divide[BLOCKS, THREADS, stream](x, partials)
            x.copy_to_host(values, stream=stream)
    cuda.synchronize()
    return (time.perf_counter() - start) * 1e3


def main(repeats):
    print(f"numba {numba.__version__}")
    for memory in ("pinned", "host"):
        host = [(cuda.pinned_array if memory == "pinned" else numpy.empty)(N, dtype=numpy.float32) for _ in range(ARRAYS)]
        for kept in (False, True):
            keep = [(cuda.device_array(N, numpy.float32), cuda.device_array(BLOCKS, numpy.float32)) for _ in host] if kept else None
            for count in (1, ARRAYS):
                streams = [cuda.stream() for _ in range(count)]
                times = []
                for _ in range(repeats + 1):
                    for k, values in enumerate(host):
                        values[:] = 1 + k
                    times.append(run(host, streams, keep))
                sums = [float(v.sum(dtype=numpy.float64)) for v in host]
                how = "device arrays kept" if kept else "device arrays made"
                print(f"numba: {ARRAYS} arrays of {N}, {memory} memory, {count:2d} streams, {how}: {min(times[1:]):8.3f} ms, "
                      f"median {sorted(times[1:])[len(times[1:]) // 2]:8.3f}, sums to {max(sums, key=lambda s: abs(s - 1)):.4f}")


main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
