"""A buffer of 64 MB that is allocated and freed at every step, compared with one that is kept."""
import cupy as cp

import pair

cp.cuda.set_allocator(None)  # allocates every array with cudaMalloc
x = cp.ones(16_000_000, cp.float32)
kept = cp.empty_like(x)


def work(out):
    for _ in range(50 if pair.SMALL else 200):
        result = cp.empty_like(x) if out is None else out
        cp.add(x, x, out=result)
        cp.cuda.Device().synchronize()
        del result


pair.run(lambda: work(None), lambda: work(kept), cp.cuda.Device().synchronize)
