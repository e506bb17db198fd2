"""What a Numba user would write: one fused loop each, parallel and fastmath."""
import numpy as np
from numba import njit, prange

loop = njit(parallel=True, fastmath=True)


@loop
def add5(a, b, c, d, e):
    o = np.empty_like(a)
    for i in prange(a.size): o[i] = a[i] + b[i] + c[i] + d[i] + e[i]
    return o


@loop
def poly(a, b, c, d, e):
    o = np.empty_like(a)
    for i in prange(a.size): o[i] = ((a[i] * b[i] + c[i]) * d[i] - e[i]) / (a[i] * a[i] + b[i] * b[i] + np.float32(0.5))
    return o


@loop
def trans(a, b, c, d):
    o = np.empty_like(a)
    for i in prange(a.size): o[i] = np.exp(-a[i]) * np.sin(b[i]) + np.sqrt(c[i]) * np.log(d[i])
    return o


@loop
def total(a):
    s = np.float32(0)
    for i in prange(a.size): s += a[i]
    return s


@loop
def normalise(a):
    s = np.float32(0)
    o = np.empty_like(a)
    for i in prange(a.size): s += a[i]
    for i in prange(a.size): o[i] = a[i] / s
    return o


@loop
def softmax(x):
    o = np.empty_like(x)
    for i in prange(x.shape[0]):
        m = np.float32(-np.inf)
        s = np.float32(0)
        for j in range(x.shape[1]): m = max(m, x[i, j])
        for j in range(x.shape[1]):
            o[i, j] = np.exp(x[i, j] - m)
            s += o[i, j]
        for j in range(x.shape[1]): o[i, j] /= s
    return o


@loop
def variance(x):
    o = np.empty(x.shape[0], x.dtype)
    for i in prange(x.shape[0]):
        m = np.float32(0)
        v = np.float32(0)
        for j in range(x.shape[1]): m += x[i, j]
        m /= x.shape[1]
        for j in range(x.shape[1]): v += (x[i, j] - m) ** 2
        o[i] = v / x.shape[1]
    return o


@loop
def stencil(x):
    o = np.zeros_like(x)
    for i in prange(1, x.shape[0] - 1):
        for j in range(1, x.shape[1] - 1): o[i, j] = (x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1]) * np.float32(0.25)
    return o
