"""A program as CuPy's users write them: k-means with kernels of its own, conjugate gradients in array expressions, pieces of a signal
through two streams and pinned memory. Its output is the same in each run."""
import cupy as cp
import cupyx
import numpy as np

nearest = cp.RawKernel(r'''
extern "C" __global__ void nearest(const float *points, const float *centres, int *labels, int n, int dimensions, int count) {
    extern __shared__ float kept[];
    for (int k = threadIdx.x; k < count * dimensions; k += blockDim.x)
        kept[k] = centres[k];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float best = 3.4e38f;
    for (int c = 0; c < count; c++) {
        float distance = 0;
        for (int d = 0; d < dimensions; d++) {
            float x = points[i * dimensions + d] - kept[c * dimensions + d];
            distance += x * x;
        }
        if (distance < best) {
            best = distance;
            labels[i] = c;
        }
    }
}''', 'nearest')
squared = cp.ReductionKernel('T x, T y', 'T z', '(x - y) * (x - y)', 'a + b', 'z = a', '0', 'squared_distance')
soft_limit = cp.ElementwiseKernel('T x, T most', 'T y', 'y = most * tanh(x / most)', 'soft_limit')


def make_points(count, dimensions, centres, seed):
    random = np.random.default_rng(seed)
    at = random.normal(size=(centres, dimensions)) * 5
    return (at[np.arange(count) % centres] + random.normal(size=(count, dimensions))).astype(np.float32)


def kmeans(points, count, turns):
    n, dimensions = points.shape
    centres = points[:count].copy()
    labels = cp.zeros(n, cp.int32)
    for _ in range(turns):
        nearest(((n + 255) // 256,), (256,), (points, centres, labels, np.int32(n), np.int32(dimensions), np.int32(count)),
                shared_mem=4 * count * dimensions)
        chosen = (labels[None, :] == cp.arange(count)[:, None]).astype(cp.float32)
        sizes = cp.maximum(chosen.sum(axis=1, keepdims=True), 1)
        moved = chosen @ points / sizes
        change = float(squared(moved, centres))
        centres = moved
        if change < 1e-6:
            break
    return centres, labels, change


def laplacian(u):
    """The operator on a square with zeros around it."""
    result = 4 * u
    result[1:] -= u[:-1]
    result[:-1] -= u[1:]
    result[:, 1:] -= u[:, :-1]
    result[:, :-1] -= u[:, 1:]
    return result


def conjugate_gradients(b, tolerance, most):
    x = cp.zeros_like(b)
    residual, direction = b.copy(), b.copy()
    size = (residual * residual).sum()
    for step in range(most):
        image = laplacian(direction)
        alpha = size / (direction * image).sum()
        x += alpha * direction
        residual -= alpha * image
        new = (residual * residual).sum()
        if float(new) < tolerance:
            break
        direction = residual + new / size * direction
        size = new
    return x, step + 1


def filtered(pieces, streams):
    """For each piece: a copy to the device, a low-pass filter, and a copy back, in one of the streams."""
    results = [cupyx.empty_pinned(piece.shape, np.float32) for piece in pieces]
    for k, piece in enumerate(pieces):
        stream = streams[k % len(streams)]
        with stream:
            values = cp.empty(piece.shape, cp.float32)
            values.set(piece, stream=stream)
            frequencies = cp.fft.rfft(values)
            frequencies[values.size // 8:] = 0
            low = soft_limit(cp.fft.irfft(frequencies, n=values.size).astype(cp.float32), np.float32(2))
            low.get(stream=stream, out=results[k], blocking=False)
    for stream in streams:
        stream.synchronize()
    return results


def main():
    points = cp.asarray(make_points(60_000, 8, 12, seed=1))
    centres, labels, change = kmeans(points, 12, 40)
    sizes = cp.asnumpy(cp.bincount(labels, minlength=12))
    print('k-means: sizes', ' '.join(str(n) for n in sizes), 'last change %.3g' % change)
    print('centres', ' '.join('%.3f' % value for value in cp.asnumpy(cp.sort(centres[:, 0]))))

    grid = cp.linspace(0, 1, 96, dtype=cp.float64)
    b = cp.sin(3 * grid)[:, None] * cp.cos(2 * grid)[None, :]
    x, steps = conjugate_gradients(b, 1e-10, 400)
    print('conjugate gradients: %d steps, largest %.6f, residual below 1e-4: %s' %
          (steps, float(x.max()), bool(abs(laplacian(x) - b).max() < 1e-4)))

    random = np.random.default_rng(3)
    pieces = []
    for _ in range(6):
        piece = cupyx.empty_pinned((1 << 14,), np.float32)
        piece[:] = random.normal(size=piece.shape)
        pieces.append(piece)
    streams = [cp.cuda.Stream(non_blocking=True) for _ in range(2)]
    for k, low in enumerate(filtered(pieces, streams)):
        print('piece %d: root mean square %.4f, down from %.4f' % (k, np.sqrt(np.mean(low ** 2)), np.sqrt(np.mean(pieces[k] ** 2))))

    try:
        cp.RawKernel('extern "C" __global__ void broken() { unknown(); }', 'broken')((1,), (1,), ())
    except cp.cuda.compiler.CompileException as error:
        print('a kernel that does not compile:', type(error).__name__)


main()
