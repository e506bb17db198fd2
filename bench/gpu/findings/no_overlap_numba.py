"""Ten arrays of 40 MB divided by their sums: pageable memory and one stream, compared with pinned memory and ten."""
import pair
from pair_numba import cuda, float32, np

ARRAYS, N, BLOCKS, THREADS = 10, 10_000_000, 528, 256


@cuda.jit
def clear(total):
    total[0] = 0


@cuda.jit
def add_up(x, total):
    part = float32(0)
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        part += x[i]
    cuda.atomic.add(total, 0, part)


@cuda.jit
def divide(x, total):
    scale = float32(1) / total[0]
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        x[i] *= scale


devices = [(cuda.device_array(N, np.float32), cuda.device_array(1, np.float32)) for _ in range(ARRAYS)]


def normalise(host, streams):
    for _ in range(3):
        for k, values in enumerate(host):
            stream, (x, total) = streams[k % len(streams)], devices[k]
            x.copy_to_device(values, stream=stream)
            clear[1, 1, stream](total)
            add_up[BLOCKS, THREADS, stream](x, total)
            divide[BLOCKS, THREADS, stream](x, total)
            x.copy_to_host(values, stream=stream)
        cuda.synchronize()


def arrays(make):
    made = [make(N, dtype=np.float32) for _ in range(ARRAYS)]
    for values in made:
        values[:] = 1
    return made


pageable, pinned = arrays(np.empty), arrays(cuda.pinned_array)
one, ten = [cuda.stream()], [cuda.stream() for _ in range(ARRAYS)]
pair.run(lambda: normalise(pageable, one), lambda: normalise(pinned, ten), cuda.synchronize)
