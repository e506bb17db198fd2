"""What a Numba user would write for kernels.py: loops, parallel and fastmath."""
import math
import numpy as np
from numba import njit, prange

loop = njit(parallel=True, fastmath=True)
inner = njit(fastmath=True)
THREADS = 2


@inner
def cdf(z): return np.float32(0.5) * (np.float32(1) + math.erf(z * np.float32(0.7071067811865476)))


@loop
def black_scholes(S, X, t, r, v):
    o = np.empty_like(S)
    r, v = np.float32(r), np.float32(v)
    for i in prange(S.size):
        q = v * math.sqrt(t[i])
        d = (math.log(S[i] / X[i]) + (r + v * v * np.float32(0.5)) * t[i]) / q
        o[i] = S[i] * cdf(d) - X[i] * math.exp(-r * t[i]) * cdf(d - q)
    return o


@loop
def mandelbrot(w, h):
    o = np.empty((h, w), np.int64)
    for i in prange(h):
        for j in range(w):
            cr, ci, zr, zi, k = 3 * j / w - 2, 2 * i / h - 1, 0.0, 0.0, 0
            while k < 50 and zr * zr + zi * zi <= 4:
                zr, zi = zr * zr - zi * zi + cr, 2 * zr * zi + ci
                k += 1
            o[i, j] = k
    return o


@loop
def layer_norm(x, g, b):
    o = np.empty_like(x)
    for i in prange(x.shape[0]):
        m = np.float32(0)
        s = np.float32(0)
        for j in range(x.shape[1]): m += x[i, j]
        m /= np.float32(x.shape[1])
        for j in range(x.shape[1]): s += (x[i, j] - m) ** 2
        f = np.float32(1) / math.sqrt(s / np.float32(x.shape[1]) + np.float32(1e-5))
        for j in range(x.shape[1]): o[i, j] = (x[i, j] - m) * f * g[j] + b[j]
    return o


@loop
def logsumexp(x):
    o = np.empty(x.shape[0], x.dtype)
    for i in prange(x.shape[0]):
        m = x[i, 0]
        s = np.float32(0)
        for j in range(x.shape[1]): m = max(m, x[i, j])
        for j in range(x.shape[1]): s += math.exp(x[i, j] - m)
        o[i] = m + math.log(s)
    return o


@inner
def cumulative(x):
    o = np.empty_like(x)
    s = 0.0
    for i in range(x.size):
        s += x[i]
        o[i] = s
    return o


@loop
def cumulative_parts(x):
    o = np.empty_like(x)
    size = (x.size + THREADS - 1) // THREADS
    total = np.zeros(THREADS + 1)
    for t in prange(THREADS):
        s = 0.0
        for i in range(t * size, min(x.size, (t + 1) * size)): s += x[i]
        total[t + 1] = s
    for t in range(THREADS): total[t + 1] += total[t]
    for t in prange(THREADS):
        s = total[t]
        for i in range(t * size, min(x.size, (t + 1) * size)):
            s += x[i]
            o[i] = s
    return o


@loop
def histogram(b):
    part = np.zeros((THREADS, 4, 256), np.int64)
    size = (b.size // THREADS + 3) // 4 * 4
    for t in prange(THREADS):
        h = part[t]
        end = min(b.size, (t + 1) * size)
        whole = t * size + (end - t * size) // 4 * 4
        for i in range(t * size, whole, 4):
            for k in range(4): h[k, b[i + k]] += 1
        for i in range(whole, end): h[0, b[i]] += 1
    return part.sum(0).sum(0)


@loop
def kmeans(x, cen):
    n, width, count = x.shape[0], x.shape[1], cen.shape[0]
    lab = np.empty(n, np.int64)
    sums = np.zeros((THREADS, count, width))
    counts = np.zeros((THREADS, count), np.int64)
    size = (n + THREADS - 1) // THREADS
    for t in prange(THREADS):
        for i in range(t * size, min(n, (t + 1) * size)):
            best, least = 0, np.float32(np.inf)
            for c in range(count):
                s = np.float32(0)
                for d in range(width): s += (x[i, d] - cen[c, d]) ** 2
                if s < least: best, least = c, s
            lab[i] = best
            counts[t, best] += 1
            for d in range(width): sums[t, best, d] += x[i, d]
    return lab, sums.sum(0), counts.sum(0)


@loop
def nbody(p, m, eps):
    n = p.shape[0]
    o = np.empty_like(p)
    x, y, z = p[:, 0].copy(), p[:, 1].copy(), p[:, 2].copy()
    e = np.float32(eps)
    for i in prange(n):
        a = b = c = np.float32(0)
        for j in range(n):
            u, v, w = x[j] - x[i], y[j] - y[i], z[j] - z[i]
            q = e + u * u + v * v + w * w
            f = m[j] / (q * math.sqrt(q))
            a += f * u
            b += f * v
            c += f * w
        o[i, 0] = a
        o[i, 1] = b
        o[i, 2] = c
    return o


@loop
def relax(a, b):
    for i in prange(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1): b[i, j] = (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1]) * np.float32(0.25)


def jacobi(u):
    a, b = u.copy(), u.copy()
    for _ in range(100):
        relax(a, b)
        a, b = b, a
    return a


@loop
def diffuse(a, b, k):
    for i in prange(1, a.size - 1): b[i] = a[i] + k * (a[i - 1] - np.float32(2) * a[i] + a[i + 1])


def heat(u, k):
    a, b = u.copy(), u.copy()
    for _ in range(1000):
        diffuse(a, b, np.float32(k))
        a, b = b, a
    return a


@loop
def convolve(x, w):
    o = np.zeros_like(x)
    for i in prange(1, x.shape[0] - 1):
        for j in range(1, x.shape[1] - 1):
            s = np.float32(0)
            for a in range(3):
                for b in range(3): s += w[a, b] * x[i + a - 1, j + b - 1]
            o[i, j] = s
    return o


@loop
def batched(A, x):
    o = np.empty(A.shape[:2], A.dtype)
    for b in prange(A.shape[0]):
        for i in range(A.shape[1]):
            s = np.float32(0)
            for j in range(A.shape[2]): s += A[b, i, j] * x[b, j]
            o[b, i] = s
    return o


@loop
def sparse(row, col, val, x):
    o = np.empty(row.size - 1, val.dtype)
    for i in prange(row.size - 1):
        s = np.float32(0)
        for p in range(row[i], row[i + 1]): s += val[p] * x[col[p]]
        o[i] = s
    return o


@njit
def matmul(A, B): return A @ B
