"""A CuPy program whose four kinds of kernels are Leat programs: ElementwiseKernel, ReductionKernel, RawKernel and fuse.

Without CuPy or a GPU the same programs run on NumPy arrays, and are compared with NumPy.
"""

import numpy as np

import leat

try:
    import cupy

    on_gpu = cupy.cuda.is_available()
except ImportError:
    on_gpu = False
xp = cupy if on_gpu else np

SAXPY = r"""
extern "C" __global__ void saxpy(float *y, const float *x, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
"""

squared_difference = leat.program("in x, y; z[...] = (x[...] - y[...])**2")
norm = leat.program("in x; y[i] = sqrt(sum(k: x[i,k]**2))")
saxpy = leat.program("in y, x, a; y[i] = a * x[i] + y[i]")
gelu = leat.program("in x; y[...] = 0.5 * x[...] * (1 + tanh(0.7978845608 * (x[...] + 0.044715 * x[...]**3)))")


def gelu_of_arrays(x):
    return 0.5 * x * (1 + xp.tanh(0.7978845608 * (x + 0.044715 * x**3)))


if __name__ == "__main__":
    a, b = xp.asarray(np.random.default_rng(1).normal(size=(2, 1000, 300)), dtype="f4")
    y = b[0].copy()
    if on_gpu:
        difference = cupy.ElementwiseKernel("T x, T y", "T z", "z = (x - y) * (x - y)", "difference")(a, b)
        length = cupy.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "length")(a, axis=1)
        cupy.RawKernel(SAXPY, "saxpy")((2,), (256,), (y, a[0], np.float32(2), np.int32(y.size)))
        fused = cupy.fuse()(gelu_of_arrays)(a)
    else:
        difference, length, fused = (a - b) ** 2, np.sqrt((a**2).sum(axis=1)), gelu_of_arrays(a)
        y += 2 * a[0]
    z = b[0].copy()
    saxpy(z, a[0], 2, out=z)  # in place; without out=, the result is a new array
    pairs = [(squared_difference(a, b), difference), (norm(a), length), (z, y), (gelu(a), fused)]
    for mine, theirs in pairs:
        assert type(mine) is type(theirs) and mine.dtype == theirs.dtype
        xp.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-5)
    print(f"four programs agree with {'CuPy on the GPU' if on_gpu else 'NumPy: there is no CuPy, or no GPU'}")
