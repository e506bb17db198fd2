"""NumPy arrays as arguments of a kernel, which are copied both ways at each call, compared with an array that is copied once each way."""
import pair
from pair_numba import cuda, float32, np

N, THREADS = 8_000_000, 256


@cuda.jit
def scale(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= float32(1.0001)


host = np.ones(N, np.float32)


def work(x):
    for _ in range(pair.TURNS):
        scale[(N + THREADS - 1) // THREADS, THREADS](x)


def stay():
    device = cuda.to_device(host)
    work(device)
    device.copy_to_host(host)


pair.run(lambda: work(host), stay, cuda.synchronize)
