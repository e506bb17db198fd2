"""An array that is copied to the host and back at each step, unchanged, compared with one that stays on the device."""
import pair
from pair_numba import cuda, float32, np

N, THREADS = 4_000_000, 256
host = np.empty(N, np.float32)


@cuda.jit
def grow(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = x[i] * float32(1.001) + float32(1)


kept = cuda.device_array(N, np.float32)
start = cuda.to_device(np.arange(N, dtype=np.float32))


def steps(down_and_up):
    kept.copy_to_device(start)
    for _ in range(pair.TURNS):
        grow[(N + THREADS - 1) // THREADS, THREADS](kept)
        if down_and_up:
            kept.copy_to_host(host)
            kept.copy_to_device(host)


pair.run(lambda: steps(True), lambda: steps(False), cuda.synchronize)
