"""Assigning: op=, scatters, partial writes, snapshots, scalars, declared results; rand."""
from caselib import *

X = arr('f64', [3, -1, 2, 5])
x = dict(x=X)
i64, f64, f32 = np.int64, np.float64, np.float32


def updates():
    begin('assigning', 'Assignments: op=, partial writes, snapshots, declared arrays, scalars.')
    A, B = np.arange(6.).reshape(2, 3), np.arange(12.).reshape(3, 4)
    ok('out C: f64[2,4]\nC[i,j] += A[i,k] * B[k,j]', dict(A=A, B=B), C=A @ B)
    ok('y[i] = x[i]\ny[i] += m[i,k]', dict(x=arr('f64', [1, 2]), m=arr('f64', [[1, 2], [3, 4]])), y=arr('f64', [4, 9]))
    ok('s = 1.0\ns *= x[i]\nt = 0.0\nt max= x[i]\nu = 10.0\nu min= x[i]\nv = 5.0\nv -= 2\nw = 8.0\nw /= 4', x, s=f64(-30), t=f64(5), u=f64(-1), v=f64(3), w=f64(2))
    ok('s = 0\ns += x[i] where i in 1..3', x, s=f64(1))
    ok('y[i] = x[i]\ny[i] /= 2\ny[i] -= 1\ny[i] *= 3', x, y=(X / 2 - 1) * 3)
    ok('y[i] = x[i]\ny[i] min= 2.5\ny[i] max= 0', x, y=np.clip(X, 0, 2.5))
    ok('u[i] += u[i-1] + u[i+1] else 100', dict(u=arr('f64', [1, 2, 4])), u=arr('f64', [101, 7, 104]))
    ok('in u\nu[0,j] = 1', dict(u=arr('f64', [[5, 5], [6, 6]])), u=arr('f64', [[1, 1], [6, 6]]))
    ok('in u\nu[0] = 7', dict(u=arr('f64', [1, 2])), u=arr('f64', [7, 2]))
    ok('out d: f64[4,4]\nd[i,i] = x[i]', x, d=np.diag(X))
    ok('out y: f64[3] = 2.5\ny[0] = 1', {}, y=arr('f64', [1, 2.5, 2.5]))
    ok('out y: f64[5]\ny[2*i] = w[i]', dict(w=arr('f64', [1, 2, 3])), y=arr('f64', [1, 0, 2, 0, 3]))
    ok('out y: f64[8]\ny[2*i] = x[i]\ny[2*i+1] = -x[i]', x, y=np.stack([X, -X], 1).reshape(-1))
    ok('out y: f64[4]\ny[3-i] = x[i]', x, y=X[::-1])
    ok('out y: f64[5,5]\ny[i+1,j+1] = m[i,j]', dict(m=np.arange(9.).reshape(3, 3)), y=np.pad(np.arange(9.).reshape(3, 3), 1))
    ok('out y: f64[3]\ny[i] = x[i+1]', x, y=X[1:])
    ok('in x[n]\nout y[n]\ny[i] = x[i] * 2', x, y=X * 2)
    ok('in x: f32[n]\nout y: f64[n], z: i32[n]\ny[i] = x[i] / 2\nz[i] = i32(x[i])', dict(x=X.astype(f32)), y=X / 2, z=X.astype(np.int32))
    ok('y[i] = x[i]\ny[i] = y[i] + 1', x, y=X + 1)
    ok('y[i] = x[i]\nx[i] = 0\nz[i] = y[i] + x[i]', x, z=X)
    ok('u[i] = u[len(u,0)-1-i]', dict(u=X), u=X[::-1])
    ok('u[i] = u[i-1] + u[i+1] else u[i]', dict(u=X), u=arr('f64', [3, 5, 4, 5]))
    ok('in m\nm[i,j] = m[j,i]', dict(m=np.arange(9.).reshape(3, 3)), m=np.arange(9.).reshape(3, 3).T)
    ok('y[i] = x[i]\ny[1] = 100\ny[2] += 1000', x, y=arr('f64', [3, 100, 1002, 5]))
    ok('k = 2\ny = x[k] + k', x, y=f64(4))
    ok('s = 0.0\ns = s + 1\ns = s * 3', {}, s=f64(3))
    ok('s = 1\ns = s + x[0]\ny[i] = w[i] * s', dict(x=X, w=arr('f32', [1, 2])), y=arr('f64', [4, 8]))
    ok('s = 2\ny[i] = w[i] * s', dict(w=arr('f32', [1, 2])), y=arr('f32', [2, 4]))
    ok('var t: f32[4]\nt[i] = f32(x[i])\ny[i] = t[i] * 2', x, y=(X * 2).astype(f32))
    ok('var t = 0.5\ny[i] = w[i] * t', dict(w=arr('f16', [1, 2])), y=arr('f16', [.5, 1]))
    ok('in eps = 1e-5\ny = eps * 2', {}, y=f64(2e-5))
    ok('in eps = 1e-5\ny = eps * 2', dict(eps=2), y=i64(4))
    ok('in a = 2, b = a + 1\ny = b', {}, y=i64(3))
    ok('out a: f32[4], b: i8[4]\na[i] = f32(x[i])\nb[i] = i8(x[i]) + 100', x, a=X.astype(f32), b=(X + 100).astype(np.int8))
    ok('y[i] = x[i] > 0\nz[i] = y[i] ? 1 : -1', x, y=X > 0, z=np.where(X > 0, 1, -1))
    for t in TYPES:
        v = arr(t, [1, 0, 1]); ok('out y: %s[5]\ny[i+1] = v[i]' % t, dict(v=v), y=arr(t, [0, 1, 0, 1, 0]))
    errors()


def errors():
    bad('m max= x[i]', x, 'm')
    bad('s = 1.0\ns /= x[i]', x, 'i')
    bad('s = 1.0\ns -= x[i]', x, 'i')
    bad('d[i,i] = x[i]', x, 'd')
    bad('d[0] = 1', {}, 'd')
    bad('y[i] = x[i]\ny[i] = w[i]', dict(x=X, w=arr('f64', [1])), 'y')
    bad('y = 3\ny[i] = x[i]', x, 'y')
    bad('y[i] = x[i]\ny[4] = 9', x, 'y')
    bad('C[i,j] += A[i,k] * B[k,j]', dict(A=np.eye(2), B=np.eye(2)), 'C')
    bad('out y: i32[4]\ny[i] = x[i]', x, 'y')
    bad('x[i] = x[2*i]', x, 'x')
    bad('out y: f64[3]\ny[i] = x[i]', x, 'y')
    bad('out y: i64[2]\ny[i] &= 1', {})
    bad('in y: f64\ny = 3\nz = q', dict(y=1.5), 'q', code=2)


def scatters():
    begin('scatters', 'Scatters: several elements may have the same target.')
    ok('out y: f64[2]\ny[b[i]] += v[i]', dict(b=arr('i64', [0, 0, 1]), v=arr('f64', [1, 2, 3])), y=arr('f64', [3, 3]))
    ok('out m: f64[2] = -inf\nm[b[i]] max= v[i]', dict(b=arr('i64', [0, 1, 0]), v=arr('f64', [-3, -2, -1])), m=arr('f64', [-1, -2]))
    ok('out m: f64[2] = inf\nm[b[i]] min= v[i]', dict(b=arr('i32', [0, 1, 0]), v=arr('f64', [-3, -2, -1])), m=arr('f64', [-3, -2]))
    for t in ('f32', 'f64'):                                                # -0.0 is lower than 0.0, in any order
        zeros = dict(b=arr('i32', [0, 0, 1, 1]), v=arr(t, [0.0, -0.0, -0.0, 0.0])); inf = arr(t, [np.inf, np.inf])
        ok('out m: %s[2] = 5\nm[b[i]] min= v[i]\ny[i] = 1 / m[i]' % t, zeros, y=-inf)
        ok('out m: %s[2] = -5\nm[b[i]] max= v[i]\ny[i] = 1 / m[i]' % t, zeros, y=inf)
    ok('out m: i64[3] = 1\nm[b[i]] *= v[i]', dict(b=arr('u8', [0, 1, 0, 0]), v=arr('i64', [2, 5, 3, -1])), m=arr('i64', [-6, 5, 1]))
    ok('out h: i64[4]\nh[b[i]] += 1', dict(b=arr('u8', [0, 3, 3, 1, 0, 2, 3])), h=arr('i64', [2, 1, 1, 3]))
    ok('out y: f64[3]\ny[b[i]] = v[i]', dict(b=arr('i64', [2, 0, 2, 2]), v=arr('f64', [1, 2, 3, 4])), y=arr('f64', [2, 0, 4]))
    ok('out y: i32[2,3]\ny[a[i], b[i]] += 1', dict(a=arr('i64', [0, 1, 0]), b=arr('i64', [2, 1, 2])), y=arr('i32', [[0, 0, 2], [0, 1, 0]]))
    ok('out y: f64[2,3]\ny[i, b[j]] += m[i,j]', dict(b=arr('i64', [2, 0, 2, 2]), m=np.arange(8.).reshape(2, 4)), y=arr('f64', [[1, 0, 5], [5, 0, 17]]))
    ok('out sm: f64[2,2], cnt: i64[2]\nsm[lab[i],d] += x[i,d]\ncnt[lab[i]] += 1', dict(lab=arr('i64', [1, 0, 1]), x=arr('f64', [[1, 2], [3, 4], [5, 6]])),
       sm=arr('f64', [[3, 4], [6, 8]]), cnt=arr('i64', [1, 2]))
    ok('out h: i64[256]\nh[b[i]] += 1', dict(b=arr('u8', np.arange(5000) * 7 % 251)), h=np.bincount(np.arange(5000) * 7 % 251, minlength=256).astype(i64))
    n = 100000; b = (np.arange(n) * 7919) % 613
    ok('b[i] = (i * 7919) % 613 where i in 0..100000\nvar h: i64[613]\nh[b[i]] += i\ns = sum(k: h[k] * k)\nf[k] = h[k] where k in 0..5', {},
       s=i64((np.arange(n) * b).sum()), f=np.array([np.arange(n)[b == k].sum() for k in range(5)]))
    ok('b[i] = (i * 7919) % 613 where i in 0..100000\nvar h: f64[613]\nh[b[i]] += i * 1.0\ns = sum(k: h[k])', {}, s=f64(n * (n - 1) / 2))
    ok('out y: i64[10]\ny[i % 10] = i where i in 0..3007', {}, y=np.array([3000 + k if k < 7 else 2990 + k for k in range(10)]))
    ok('h[b[i]] += 1', dict(h=arr('i64', [5, 6]), b=arr('i64', [1, 1])), h=arr('i64', [5, 8]))
    ok('out h: i32[3]\nh[b[i,j]] += w[j]', dict(b=arr('i64', [[0, 1], [2, 1]]), w=arr('i32', [1, 10])), h=arr('i32', [1, 20, 1]))
    ok('out h: f32[2]\nh[b[i]] += 1', dict(b=np.zeros(0, i64)), h=arr('f32', [0, 0]))
    bad('out h: i64[2]\nh[b[i]] += 1', dict(b=arr('i64', [0, 2])), 'h', '2', code=6)
    bad('out h: i64[2]\nh[b[i]] = 1', dict(b=arr('i64', [0, -1])), 'h', '-1', code=6)


def random_numbers():
    begin('rand', 'rand and randn, which depend only on their arguments.')
    t, true = np.bool_, np.bool_(True)
    ok('a[i] = rand(7, i) where i in 0..100\nb[i] = rand(7, i) where i in 0..100\nc[i] = rand(8, i) where i in 0..100\n'
       'same = all(i: a[i] == b[i])\nother = any(i: a[i] == c[i])\ninside = all(i: a[i] >= 0 && a[i] < 1)', {}, same=true, other=t(False), inside=true)
    ok('a[i,j] = rand(1, i, j) where i in 0..30, j in 0..40\nb[j] = rand(1, 3, j) where j in 0..40\nsame = all(j: a[3,j] == b[j])\n'
       'meets = sum(i, j: a[i,j] == a[0,0])', {}, same=true, meets=i64(1))
    ok('a[i] = rand(5, i) where i in 0..20000\nm = mean(i: a[i])\nv = mean(i: (a[i] - m)**2)\nfine = abs(m - 0.5) < 0.01 && abs(v - 1.0/12) < 0.003', {}, fine=true)
    ok('a[i] = randn(5, i) where i in 0..20000\nm = mean(i: a[i])\nv = mean(i: (a[i] - m)**2)\nw = mean(i: a[i]**4)\nfine = abs(m) < 0.03 && abs(v - 1) < 0.04 && abs(w - 3) < 0.3',
       {}, fine=true)
    ok('a[i] = rand(seed, i) where i in 0..10\nb[i] = rand(4, i) where i in 0..10\nsame = all(i: a[i] == b[i])', dict(seed=4), same=true)
    ok('a[i] = rand(2, i, 0) where i in 0..3000\nb[i] = rand(2, 2999-i, 0) where i in 0..3000\nsame = all(i: a[i] == b[2999-i])', {}, same=true)
    ok('y[i] = w[i] * rand(1, i)\nz = y[0] == w[0] * rand(1, 0)', dict(w=arr('f64', [1, 2])), z=true)
    bad('y = rand()', {}, 'rand')


def cases():
    updates(); scatters(); random_numbers()
