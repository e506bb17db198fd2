"""Programs with for, while, if, each and functions of several statements, as people write them. Plain Python loops are the oracle."""
from caselib import *

f64, f32, i64 = np.float64, np.float32, np.int64
R = 1e-12       # sums have another order here, and multiply-adds round once


def data(seed, *shape, low=0.5, high=2.0): return np.random.default_rng(seed).uniform(low, high, shape)
def whole(seed, *shape, low=0, high=10): return np.random.default_rng(seed).integers(low, high, shape)
def over(*ends):
    """All index tuples, the last running fastest."""
    return list(np.ndindex(*ends))


def scalars():
    for n in (0, 1, 2, 7, 40):
        a, b = 0, 1
        for _ in range(n): a, b = b, a + b
        ok('in n\nvar a = 0, b = 1\nfor t in 0..n { c = a + b; a = b; b = c }\nout a', dict(n=n), a=i64(a))
    for n in (1, 6, 27, 97):
        c, m = 0, n
        while m != 1: m = m // 2 if m % 2 == 0 else 3 * m + 1; c += 1
        ok('in n\nvar m = n, c = 0\nwhile m != 1 {\n  if m % 2 == 0 { m = m // 2 } else { m = 3*m + 1 }\n  c += 1\n}\nout c', dict(n=n), c=i64(c))
    for a, b in ((48, 36), (17, 5), (0, 9), (9, 0)):
        ok('in a, b\nvar x = a, y = b\nwhile y { r = x % y; x = y; y = r }\nout x', dict(a=a, b=b), x=i64(math.gcd(a, b)))
    for n in (-3, 0, 4, 15, 101):
        y = 'low' if n < 0 else 'nil' if n == 0 else 'some' if n < 10 else 'many' if n < 100 else 'lots'
        ok('in n\nvar y\nif n < 0 { y = 1 } else if n == 0 { y = 2 } else if n < 10 { y = 3 }\nelse if n < 100 { y = 4 } else { y = 5 }\nout y',
           dict(n=n), y=i64('low nil some many lots'.split().index(y) + 1))
    for lo, hi, by in ((0, 10, 3), (10, 0, -3), (3, 3, 1), (5, 2, 1), (2, 5, -1), (-7, 8, 5), (9, -1, -1)):
        s = w = 0
        for t in range(lo, hi, by): w += 1; s = 3 * s + t
        ok('in lo, hi, by_\nvar s = 0, w = 0\nfor t in lo..hi by by_ { w += 1; s = 3*s + t }\nout s, w', dict(lo=lo, hi=hi, by_=by), s=i64(s), w=i64(w))
    ok('var s = 0\nfor i in 0..5 { for j in i..5 { for k in 0..j by 2 { s += i*100 + j*10 + k } } }\nout s', {},
       s=i64(sum(i * 100 + j * 10 + k for i in range(5) for j in range(i, 5) for k in range(0, j, 2))))
    found = next((a, b, c) for a in range(1, 50) for b in range(a, 50) for c in range(b, 50) if a * a + b * b == c * c and a + b + c > 50)
    ok('var a = 0, b = 0, c = 0, done = 0\nfor i in 1..50 {\n  for j in i..50 {\n    for k in j..50 { if i*i + j*j == k*k && i + j + k > 50 { a = i; b = j; c = k; done = 1; break } }\n'
       '    if done { break }\n  }\n  if done { break }\n}\nout a, b, c', {}, a=i64(found[0]), b=i64(found[1]), c=i64(found[2]))
    x = 2.0
    for _ in range(40): x = x - (x * x - 7) / (2 * x)
    ok('var x = 2.0, step = 1.0\nwhile abs(step) > 1e-14 { step = (x*x - 7) / (2*x); x -= step }\nout x', {}, R, x=f64(x))
    lo, hi = 0.0, 3.0
    for _ in range(50):
        m = (lo + hi) / 2
        if m**3 - m - 2 > 0: hi = m
        else: lo = m
    ok('var lo = 0.0, hi = 3.0\nfor t in 0..50 { m = (lo + hi) / 2; if m**3 - m - 2 > 0 { hi = m } else { lo = m } }\nout lo, hi', {}, R, lo=f64(lo), hi=f64(hi))
    ok('var p = 1, b = 3, e = 13\nwhile e > 0 { if e & 1 { p *= b }; b *= b; e = e >> 1 }\nout p', {}, p=i64(3**13))
    ok('var c = 0\nwhile 0 { c += 1 }\nwhile c < 5 { c += 1; if c == 3 { break } }\nout c', {}, c=i64(3))
    ok('var c = 0\nwhile true { c += 7; if c % 5 == 0 { break } }\nout c', {}, c=i64(35))
    ok('var y = 0\nif nan { y += 1 }\nif 0.0 { y += 10 }\nif 2.5 { y += 100 }\nif -1 { y += 1000 }\nout y', {}, y=i64(1101))
    ok('var s = 0\nfor t in 0..10 { s += t }\nfor t in 0..3 { s *= 2 }\nout s', {}, s=i64(360))
    ok('var s = 45, r = 2.5\nfor t in 0..3 { s *= 2; r = r / 2 + s }\nfor t in 0..3 { s += 2; r += s }\nout s, r', {}, s=i64(366), r=f64(1564.8125))
    x = whole(1, 30, low=-9); ok('in x[n]\nvar best = x[0], at = 0\nfor t in 1..n { if x[t] > best { best = x[t]; at = t } }\nout best, at', dict(x=x), best=x.max(), at=i64(x.argmax()))
    x = data(2, 9).astype(f32); s = f64(0)
    for v in x: s = 0.5 * s + f64(v)
    ok('s = 0.0\nfor j in 0..9 { s = 0.5*s + x[j] }', dict(x=x), 1e-6, s=f32(s))


def scopes():
    x = whole(3, 6)
    ok('out y: i64[6]\nfor t in 0..6 { q = x[t]; y[t] = q * q }\nif 1 { q[i] = x[i] + 1; y[i] += q[i] }', dict(x=x), y=x * x + x + 1)
    ok('s = 1\nvar z = 0\nif s { var s = 5; s += 1; z = s }\ny = s * 10 + z\nout y', {}, y=i64(16))
    ok('edge x clamp\nout a: i64[6]\nfor t in 0..2 { edge x wrap; a[i] += x[i-1] }\nb[i] = x[i-1]', dict(x=x), a=2 * np.roll(x, 1), b=x[[0, 0, 1, 2, 3, 4]])
    ok('t = 5\ndef f(a) { t = a; t += 1; return t * 2 }\nu = f(3)\nv = t', {}, u=i64(8), v=i64(5))
    ok('k = 2\ndef f(a) = a * k\nvar y = 0\nfor t in 0..3 { var k = 100; y += f(t) }\nout y', {}, y=i64(6))
    ok('out y: i64[4]\nfor t in 0..4 { def g(a) = a * t + x[t]; y[t] = g(3) }', dict(x=x), y=3 * np.arange(4) + x[:4])
    results('var counter = 0\nfor t in 0..3 { counter += t; unseen = t }', {}, 'counter')
    results('for t in 0..3 { u[i] = u[i] + 1 }', dict(u=arr('f64', [1, 2])), 'u')
    u = data(4, 8); w = u
    for _ in range(3): w = (w + np.roll(w, 1)) / 2
    ok('edge u wrap\nfor t in 0..3 { w[i] = (u[i] + u[i-1]) / 2; u[i] = w[i] }', dict(u=u), R, u=w)
    a, b = data(5, 4), data(6, 4); p, q = a.copy(), b.copy()
    for _ in range(5): p, q = q, p + q
    ok('for t in 0..5 { s[i] = a[i] + b[i]; a[i] = b[i]; b[i] = s[i] }', dict(a=a, b=b), R, a=p, b=q)
    ok('in a, b\nfor t in 0..5 { s[i] = a[i]; a[i] = b[i]; b[i] = s[i] }', dict(a=a, b=b), a=b, b=a)
    ok('in n\nout y: f64[3]\nif n > 1 { y[i] = 1; if n > 2 { y[0] = n } else { y[1] = -n } } else { y[2] = 7 }', dict(n=3), y=arr('f64', [3, 1, 1]))
    ok('in n\nout y: f64[3]\nif n > 1 { y[i] = 1; if n > 2 { y[0] = n } else { y[1] = -n } } else { y[2] = 7 }', dict(n=2), y=arr('f64', [1, -2, 1]))
    ok('in n\nout y: f64[3]\nif n > 1 { y[i] = 1; if n > 2 { y[0] = n } else { y[1] = -n } } else { y[2] = 7 }', dict(n=0), y=arr('f64', [0, 0, 7]))
    ok('edge x fill(k)\nin k\nvar s = 0\nfor t in 0..3 { edge x fill(t*10); s += x[0-1] + x[6] }\ny = s + x[9]\nout y', dict(x=x, k=4), y=i64(2 * (0 + 10 + 20) + 4))


def linear_algebra():
    n = 7; A = data(10, n, n) + n * np.eye(n); b = data(11, n)
    L = np.tril(A); y = b.copy()
    for i in range(n): y[i] = (b[i] - sum(L[i, j] * y[j] for j in range(i))) / L[i, i]
    ok('in L[n,n]\nout x: f64[n]\nfor i in 0..n { x[i] = (b[i] - sum(j in 0..i: L[i,j] * x[j])) / L[i,i] }', dict(L=L, b=b), 1e-11, x=y)
    U = np.triu(A); y = b.copy()
    for i in reversed(range(n)): y[i] = (b[i] - sum(U[i, j] * y[j] for j in range(i + 1, n))) / U[i, i]
    ok('in U[n,n]\nout x: f64[n]\nfor i in n-1..-1 by -1 { x[i] = (b[i] - sum(j in i+1..n: U[i,j] * x[j])) / U[i,i] }', dict(U=U, b=b), 1e-11, x=y)
    M = A.copy()
    for k in range(n):
        for i in range(k + 1, n):
            M[i, k] /= M[k, k]
            for j in range(k + 1, n): M[i, j] -= M[i, k] * M[k, j]
    ok('in A[n,n]\nfor k in 0..n {\n  A[i,k] /= A[k,k] where i in k+1..n\n  A[i,j] -= A[i,k] * A[k,j] where i in k+1..n, j in k+1..n\n}', dict(A=A), 1e-11, A=M)
    ok('in A[n,n]\nfor i in 0..n {\n  for j in 0..i { A[i,j] = (A[i,j] - sum(k in 0..j: A[i,k] * A[k,j])) / A[j,j] }\n'
       '  for j in i..n { A[i,j] -= sum(k in 0..i: A[i,k] * A[k,j]) }\n}', dict(A=A), 1e-11, A=M)
    S = A @ A.T; C = S.copy()
    for j in range(n):
        C[j, j] = math.sqrt(C[j, j] - sum(C[j, k]**2 for k in range(j)))
        for i in range(j + 1, n): C[i, j] = (C[i, j] - sum(C[i, k] * C[j, k] for k in range(j))) / C[j, j]
    ok('in A[n,n]\nfor j in 0..n {\n  A[j,j] = sqrt(A[j,j] - sum(k in 0..j: A[j,k]**2))\n'
       '  A[i,j] = (A[i,j] - sum(k in 0..j: A[i,k] * A[j,k])) / A[j,j] where i in j+1..n\n}\nA[i,j] = 0 where i in 0..n, j in i+1..n', dict(A=S), 1e-10, A=np.tril(C))
    x = np.linalg.solve(A, b)
    ok('in A[n,n], b[n]\nout x: f64[n]\nvar M: f64[n,n+1]\nM[i,j] = A[i,j] where j in 0..n\nM[i,n] = b[i]\nfor k in 0..n {\n  p = k + argmax(i in 0..n-k: abs(M[k+i,k]))\n'
       '  M[i,j] = M[i == k ? p : i == p ? k : i, j]\n  M[k,j] /= M[k,k]\n  M[i,j] -= i == k ? 0 : M[i,k] * M[k,j]\n}\nx[i] = M[i,n] where i in 0..n', dict(A=A, b=b), 1e-10, x=x)
    v = np.ones(n); l = 0.0
    for _ in range(60): w = S @ v; l = math.sqrt(w @ w); v = w / l
    ok('in A[n,n]\nv[i] = 1.0 where i in 0..n\nvar l = 0.0\nfor t in 0..60 { w[i] = sum(j: A[i,j] * v[j]); l = sqrt(sum(i: w[i]**2)); v[i] = w[i] / l }\nout v, l', dict(A=S), 1e-9, v=v, l=f64(l))
    x = np.linalg.solve(S, b)
    ok('in A[n,n], b[n]\nout x: f64[n]\nr[i] = b[i]; p[i] = b[i]\nvar rr = sum(i: r[i]**2)\nwhile rr > 1e-22 {\n  q[i] = sum(j: A[i,j] * p[j])\n  alpha = rr / sum(i: p[i] * q[i])\n'
       '  x[i] += alpha * p[i]; r[i] -= alpha * q[i]\n  more = sum(i: r[i]**2)\n  p[i] = r[i] + more / rr * p[i]\n  rr = more\n}', dict(A=S, b=b), 1e-6, x=x)
    P = data(12, 5, 5, low=1, high=9).round(); D = P.copy(); np.fill_diagonal(D, 0); F = D.copy()
    for k, i, j in over(5, 5, 5): F[i, j] = min(F[i, j], F[i, k] + F[k, j])
    ok('in d[n,n]\nfor k in 0..n { d[i,j] = min(d[i,j], d[i,k] + d[k,j]) }', dict(d=D), d=F)
    m = whole(13, 3, 3, high=4); p = np.linalg.matrix_power(m, 11)
    ok('in m[n,n]\nout p: i64[n,n]\np[i,i] = 1 where i in 0..n\nvar e = 11\nwhile e {\n  if e & 1 { t[i,j] = sum(k: p[i,k] * m[k,j]); p[i,j] = t[i,j] }\n'
       '  t[i,j] = sum(k: m[i,k] * m[k,j]); m[i,j] = t[i,j]\n  e = e >> 1\n}', dict(m=m), p=p)
    Q, T = np.zeros((6, 4)), np.zeros((4, 4)); B = data(14, 6, 4); W = B.copy()
    for k in range(4):
        T[k, k] = np.linalg.norm(W[:, k]); Q[:, k] = W[:, k] / T[k, k]
        for j in range(k + 1, 4): T[k, j] = Q[:, k] @ W[:, j]; W[:, j] -= Q[:, k] * T[k, j]
    ok('in A[m,n]\nout R: f64[n,n], Q: f64[m,n]\nfor k in 0..n {\n  R[k,k] = sqrt(sum(i: A[i,k]**2))\n  Q[i,k] = A[i,k] / R[k,k]\n  R[k,j] = sum(i: Q[i,k] * A[i,j]) where j in k+1..n\n'
       '  A[i,j] -= Q[i,k] * R[k,j] where j in k+1..n\n}', dict(A=B), 1e-9, R=T, Q=Q)
    d = data(15, 8) + 4; e = data(16, 8); r = data(17, 8); full = np.diag(d) + np.diag(e[1:], -1) + np.diag(e[:-1], 1)
    ok('in d[n], e[n], r[n]\nout x: f64[n]\nvar c: f64[n], g: f64[n]\nc[0] = e[0] / d[0]; g[0] = r[0] / d[0]\n'
       'for i in 1..n { w = d[i] - e[i] * c[i-1]; c[i] = e[i] / w; g[i] = (r[i] - e[i] * g[i-1]) / w }\n'
       'x[n-1] = g[n-1]\nfor i in n-2..-1 by -1 { x[i] = g[i] - c[i] * x[i+1] }', dict(d=d, e=e, r=r), 1e-11, x=np.linalg.solve(full, r))


def grids():
    u = data(20, 12); k = 0.2; v = u.copy()
    for _ in range(10): n = v.copy(); n[1:-1] = v[1:-1] + k * (v[:-2] - 2 * v[1:-1] + v[2:]); v = n
    ok('in k\nfor step in 0..10 { u[i] = u[i] + k*(u[i-1] - 2*u[i] + u[i+1]) else u[i] }', dict(u=u, k=k), R, u=v)
    u = np.zeros((6, 7)); u[0] = 1; v = u.copy(); count = 0; err = 1.0
    while err > 1e-3:
        n = v.copy(); n[1:-1, 1:-1] = (v[:-2, 1:-1] + v[2:, 1:-1] + v[1:-1, :-2] + v[1:-1, 2:]) / 4; err = abs(n - v).max(); v = n; count += 1
    ok('in tol\nvar err = inf, count = 0\nwhile err > tol {\n  w[i,j] = (u[i-1,j] + u[i+1,j] + u[i,j-1] + u[i,j+1]) / 4 else u[i,j]\n  err = max(i,j: abs(w[i,j] - u[i,j]))\n'
       '  u[i,j] = w[i,j]\n  count += 1\n}\nout u, count', dict(u=u, tol=1e-3), dict(u=R), u=v, count=i64(count))
    a = data(21, 6, 6); s = a.copy()
    for _ in range(2):
        for i in range(1, 5):
            for j in range(1, 5): s[i, j] = s[i - 1:i + 2, j - 1:j + 2].sum() / 9
    ok('in a[n,m]\nfor t in 0..2 { for i in 1..n-1 { for j in 1..m-1 { a[i,j] = sum(p in -1..2, q in -1..2: a[i+p,j+q]) / 9 } } }', dict(a=a), 1e-11, a=s)
    g = whole(22, 8, 9, high=2); h = g.copy()
    for _ in range(4): c = sum(np.roll(h, (p, q), (0, 1)) for p in (-1, 0, 1) for q in (-1, 0, 1)) - h; h = ((c == 3) | ((c == 2) & (h == 1))).astype(i64)
    ok('edge g wrap\nfor t in 0..4 {\n  c[i,j] = sum(p in -1..2, q in -1..2: g[i+p,j+q]) - g[i,j]\n  g[i,j] = c[i,j] == 3 || c[i,j] == 2 && g[i,j] ? 1 : 0\n}', dict(g=g), g=h)
    p, q = np.zeros(20), np.zeros(20); p[9:11] = q[9:11] = 1
    a, b = p.copy(), q.copy()
    for _ in range(6): n = 2 * b - a; n[1:-1] += .25 * (b[:-2] - 2 * b[1:-1] + b[2:]); n[0] = n[-1] = 0; a, b = b, n
    ok('for t in 0..6 {\n  n[i] = 2*b[i] - a[i] + 0.25*(b[i-1] - 2*b[i] + b[i+1]) else 0\n  a[i] = b[i]; b[i] = n[i]\n}\nout a, b', dict(a=p, b=q), R, a=a, b=b)
    ex, ey, hz, fict = data(23, 5, 6), data(24, 5, 6), data(25, 5, 6), data(26, 3); x, y, z = ex.copy(), ey.copy(), hz.copy()
    for t in range(3):
        y[0] = fict[t]; y[1:] -= .5 * (z[1:] - z[:-1]); x[:, 1:] -= .5 * (z[:, 1:] - z[:, :-1]); z[:-1, :-1] -= .7 * (x[:-1, 1:] - x[:-1, :-1] + y[1:, :-1] - y[:-1, :-1])
    ok('in fict[T], ex, ey, hz\nfor t in 0..T {\n  ey[0,j] = fict[t]\n  ey[i,j] -= 0.5 * (hz[i,j] - hz[i-1,j]) where i in 1..len(ey,0)\n  ex[i,j] -= 0.5 * (hz[i,j] - hz[i,j-1]) where j in 1..len(ex,1)\n'
       '  hz[i,j] -= 0.7 * (ex[i,j+1] - ex[i,j] + ey[i+1,j] - ey[i,j]) where i in 0..len(hz,0)-1, j in 0..len(hz,1)-1\n}\nout ex, ey, hz', dict(ex=ex, ey=ey, hz=hz, fict=fict), 1e-11, ex=x, ey=y, hz=z)
    v = u.copy()
    for t in range(3): v[t + 1, 1:-1] = v[t, :-2] + v[t, 2:] + t
    ok('in u[n,m]\nfor t in 0..3 { u[t+1,j] = u[t,j-1] + u[t,j+1] + t where j in 1..m-1 }', dict(u=u), u=v)
    field = whole(27, 10); f = field.copy()
    for t in range(3): f = np.array([f[(i + t) % 10] - f[i] for i in range(10)])
    ok('edge x wrap\nfor t in 0..3 { x[i] = x[i+t] - x[i] }', dict(x=field), x=f)


def tables():
    a, b = whole(30, 9, high=3), whole(31, 7, high=3); D = np.zeros((10, 8), i64)
    for i, j in over(9, 7): D[i + 1, j + 1] = D[i, j] + 1 if a[i] == b[j] else max(D[i, j + 1], D[i + 1, j])
    ok('in a[n], b[m]\nout L: i64[n+1,m+1]\nfor i in 0..n { for j in 0..m { L[i+1,j+1] = a[i] == b[j] ? L[i,j] + 1 : max(L[i,j+1], L[i+1,j]) } }', dict(a=a, b=b), L=D)
    E = np.zeros((10, 8), i64); E[:, 0] = range(10); E[0] = range(8)
    for i, j in over(9, 7): E[i + 1, j + 1] = min(E[i, j] + (a[i] != b[j]), E[i, j + 1] + 1, E[i + 1, j] + 1)
    ok('in a[n], b[m]\nout d: i64[n+1,m+1]\nd[i,0] = i\nd[0,j] = j\nfor i in 0..n {\n  for j in 0..m {\n    if a[i] == b[j] { d[i+1,j+1] = d[i,j] } else { d[i+1,j+1] = 1 + min(d[i,j], min(d[i,j+1], d[i+1,j])) }\n  }\n}', dict(a=a, b=b), d=E)
    w, v = whole(32, 6, low=1, high=6), whole(33, 6, low=1, high=20); K = np.zeros(16, i64)
    for i in range(6): K = np.array([max(K[c], K[c - w[i]] + v[i]) if c >= w[i] else K[c] for c in range(16)])
    ok('in w[n], v[n]\nout best: i64[16]\nfor i in 0..n { best[c] = c >= w[i] ? max(best[c], best[c-w[i]] + v[i]) : best[c] }', dict(w=w, v=v), best=K)
    sieve = np.ones(60, i64); sieve[:2] = 0
    for p in range(2, 8):
        if sieve[p]: sieve[p * p::p] = 0
    ok('out s: i64[60] = 1\ns[0] = 0; s[1] = 0\nfor p in 2..8 { if s[p] { s[i] = 0 where i in p*p..60 by p } }', {}, s=sieve)
    x = whole(34, 11); c = x.copy(); d = 1
    while d < 11: c = np.array([c[i] + (c[i - d] if i >= d else 0) for i in range(11)]); d *= 2
    ok('in x[n]\nvar d = 1\nwhile d < n { x[i] = x[i] + (i >= d ? x[i-d] : 0); d *= 2 }\nout x', dict(x=x), x=c)
    x = whole(35, 16, low=-9); h = x.copy(); s = 1
    while s < 16: h = np.array([h[i] + h[i + s] if i // s % 2 == 0 else h[i - s] - h[i] for i in range(16)]); s *= 2
    ok('var s = 1\nwhile s < 16 { x[i] = i // s % 2 == 0 ? x[i] + x[i+s] : x[i-s] - x[i]; s *= 2 }\nout x', dict(x=x), x=h)
    z = data(36, 2, 16, low=-1); f = np.fft.fft(z[0] + 1j * z[1])
    ok('in a[n], b[n]\nre_[i] = a[i]; im_[i] = b[i]\nvar s = 1, l = n // 2\nwhile l > 0 {\n'
       '  ar[q,k] = re_[q*s + k] where q in 0..l, k in 0..s\n  ai[q,k] = im_[q*s + k] where q in 0..l, k in 0..s\n'
       '  br[q,k] = re_[(q + l)*s + k] where q in 0..l, k in 0..s\n  bi[q,k] = im_[(q + l)*s + k] where q in 0..l, k in 0..s\n'
       '  c[q] = cos(pi * q / l) where q in 0..l\n  d[q] = -sin(pi * q / l) where q in 0..l\n'
       '  re_[2*q*s + k] = ar[q,k] + br[q,k]\n  im_[2*q*s + k] = ai[q,k] + bi[q,k]\n'
       '  re_[(2*q + 1)*s + k] = (ar[q,k] - br[q,k])*c[q] - (ai[q,k] - bi[q,k])*d[q]\n  im_[(2*q + 1)*s + k] = (ar[q,k] - br[q,k])*d[q] + (ai[q,k] - bi[q,k])*c[q]\n'
       '  s *= 2; l = l // 2\n}\nout re_, im_',
       dict(a=z[0], b=z[1]), 1e-9, re_=f.real, im_=f.imag)
    seq = whole(37, 8, high=4); N = np.zeros((8, 8), i64)
    for i in reversed(range(8)):
        for j in range(i + 1, 8):
            N[i, j] = max([N[i + 1, j], N[i, j - 1], (N[i + 1, j - 1] if i + 1 <= j - 1 else 0) + (seq[i] + seq[j] == 3)] + [N[i, k] + N[k + 1, j] for k in range(i + 1, j)])
    ok('in s[n]\nout t: i64[n,n]\nfor i in n-1..-1 by -1 {\n  for j in i+1..n {\n    t[i,j] = max(i + 1 < n ? t[i+1,j] : 0, t[i,j-1])\n    if i + 1 <= j - 1 { t[i,j] = max(t[i,j], t[i+1,j-1] + (s[i] + s[j] == 3)) } else { t[i,j] = max(t[i,j], i64(s[i] + s[j] == 3)) }\n'
       '    t[i,j] = max(t[i,j], max(k in i+1..j: t[i,k] + t[k+1,j]))\n  }\n}', dict(s=seq), t=N)
    bubble = whole(38, 8); y = bubble.copy(); y.sort()
    ok('in x[n]\nfor i in 0..n {\n  for j in 0..n-1-i { if x[j] > x[j+1] { t = x[j]; x[j] = x[j+1]; x[j+1] = t } }\n}', dict(x=bubble), x=y)
    ok('in x[n]\nfor t in 0..n { y[i] = (i + t) % 2 == 0 ? (i + 1 < n ? min(x[i], x[i+1]) : x[i]) : (i > 0 && (i - 1 + t) % 2 == 0 ? max(x[i-1], x[i]) : x[i]); x[i] = y[i] }', dict(x=bubble), x=y)


def recurrent():
    T, n, m = 5, 4, 3; x, W, U, b = data(40, T, m, low=-1), data(41, n, m, low=-1), data(42, n, n, low=-1) / 4, data(43, n, low=-1); h = np.zeros(n); H = []
    for t in range(T): h = np.tanh(W @ x[t] + U @ h + b); H.append(h)
    ok('in x[T,m], W[n,m]\nout H: f64[T,n]\nvar h: f64[n]\nfor t in 0..T {\n  h[i] = tanh(sum(j: W[i,j] * x[t,j]) + sum(j: U[i,j] * h[j]) + b[i])\n  H[t,i] = h[i]\n}', dict(x=x, W=W, U=U, b=b), 1e-10, H=np.array(H))
    sig = lambda v: 1 / (1 + np.exp(-v)); h = np.zeros(n); c = np.zeros(n); G = data(44, 4, n, m, low=-1); V = data(45, 4, n, n, low=-1) / 4
    for t in range(T):
        a = np.einsum('gij,j->gi', G, x[t]) + np.einsum('gij,j->gi', V, h); c = sig(a[1]) * c + sig(a[0]) * np.tanh(a[2]); h = sig(a[3]) * np.tanh(c)
    ok('in x[T,m], G[q,n,m]\ndef sigmoid(v) = 1 / (1 + exp(-v))\nout h: f64[n], c: f64[n]\nfor t in 0..T {\n  a[g,i] = sum(j: G[g,i,j] * x[t,j]) + sum(j: V[g,i,j] * h[j])\n'
       '  c[i] = sigmoid(a[1,i]) * c[i] + sigmoid(a[0,i]) * tanh(a[2,i])\n  h[i] = sigmoid(a[3,i]) * tanh(c[i])\n}', dict(x=x, G=G, V=V), 1e-10, h=h, c=c)
    p, v = data(46, 6, 2), data(47, 6, 2, low=-1); q, w = p.copy(), v.copy()
    for _ in range(4):
        d = q[None] - q[:, None]; a = (d / (.1 + (d**2).sum(2))[:, :, None]**1.5).sum(1); w = w + .01 * a; q = q + .01 * w
    ok('for t in 0..4 {\n  w[i,j] = 1 / (0.1 + sum(e: (p[j,e] - p[i,e])**2))**1.5\n  v[i,d] += 0.01 * sum(j: w[i,j] * (p[j,d] - p[i,d]))\n  p[i,d] += 0.01 * v[i,d]\n}\nout p, v', dict(p=p, v=v), 1e-9, p=q, v=w)
    q, w = p.copy(), v.copy()
    for i in range(6):
        for _ in range(30):
            for d in range(2):
                q[i, d] += .1 * w[i, d]
                if q[i, d] < 0.4: q[i, d] = .8 - q[i, d]; w[i, d] = -w[i, d]
                elif q[i, d] > 2.1: q[i, d] = 4.2 - q[i, d]; w[i, d] = -.5 * w[i, d]
    ok('each i {\n  for t in 0..30 {\n    for d in 0..2 {\n      p[i,d] += 0.1 * v[i,d]\n      if p[i,d] < 0.4 { p[i,d] = 0.8 - p[i,d]; v[i,d] = -v[i,d] }\n'
       '      else if p[i,d] > 2.1 { p[i,d] = 4.2 - p[i,d]; v[i,d] *= -0.5 }\n    }\n  }\n}\nout p, v', dict(p=p, v=v), 1e-9, p=q, v=w)


def elements():
    x = data(50, 3, 6); y = x.copy()
    for r in range(3):
        s = 0.0
        for j in range(6): s = .9 * s + x[r, j]; y[r, j] = s
    ok('out y: f64[len(x,0), len(x,1)]\neach r { s = 0.0; for j in 0..len(x,1) { s = 0.9*s + x[r,j]; y[r,j] = s } }', dict(x=x), R, y=y)
    ok('out y: f32[len(x,0), len(x,1)]\neach r { s = 0.0; for j in 0..len(x,1) { s = 0.9*s + x[r,j]; y[r,j] = s } }', dict(x=x.astype(f32)), 1e-5, y=y.astype(f32))
    y = x.copy()
    for j in range(6):
        for i in range(1, 3): y[i, j] += .5 * y[i - 1, j]
    ok('each j { for i in 1..len(x,0) { x[i,j] += 0.5 * x[i-1,j] } }', dict(x=x), R, x=y)
    b = np.sort(whole(51, 9, high=30)); q = whole(52, 14, low=-2, high=33)
    ok('in b[n]\nout at: i64[len(q,0)]\neach i {\n  lo = 0; hi = n\n  while lo < hi { m = (lo + hi) // 2; if b[m] < q[i] { lo = m + 1 } else { hi = m } }\n  at[i] = lo\n}', dict(b=b, q=q), at=np.searchsorted(b, q).astype(i64))
    a = data(53, 20, low=.1, high=30)
    ok('out r: f64[len(a,0)]\neach i {\n  z = a[i]; k = 0\n  while k < 60 { n = 0.5*(z + a[i]/z); k += 1; if abs(n - z) < 1e-12 * n { break }; z = n }\n  r[i] = z\n}', dict(a=a), 1e-9, r=np.sqrt(a))
    n = whole(54, 25, low=1, high=200); steps = []
    for v in n:
        k = 0
        while v != 1: v = v // 2 if v % 2 == 0 else 3 * v + 1; k += 1
        steps.append(k)
    ok('out c: i64[len(n,0)]\neach i { m = n[i]; k = 0; while m != 1 { if m % 2 { m = 3*m + 1 } else { m = m // 2 }; k += 1 }; c[i] = k }', dict(n=n), c=arr('i64', steps))
    u = whole(55, 25, low=1, high=300)
    ok('out g: i64[len(n,0)]\neach i { a = n[i]; b = u[i]; while b { t = a % b; a = b; b = t }; g[i] = a }', dict(n=n, u=u), g=np.gcd(n, u))
    bits = whole(56, 12, high=1 << 16); par = arr('i64', [bin(v).count('1') for v in bits])
    ok('out c: i64[len(v,0)]\neach i { b = v[i]; k = 0; for t in 0..16 { if b & 1 { k += 1 }; b = b >> 1; if !b { break } }; c[i] = k }', dict(v=bits), c=par)
    m = whole(57, 4, 5, low=-9); best = m.max(1); ok('out best: i64[4], at: i64[4]\neach i {\n  w = m[i,0]; k = 0\n  for j in 1..len(m,1) { if m[i,j] > w { w = m[i,j]; k = j } }\n  best[i] = w; at[i] = k\n}', dict(m=m), best=best, at=m.argmax(1).astype(i64))
    ok('out s: i64[4]\neach i { for j in 0..len(m,1) { if m[i,j] < 0 { break }; s[i] += m[i,j] } }', dict(m=m), s=arr('i64', [sum(r[:next((k for k, v in enumerate(r) if v < 0), 5)]) for r in m.tolist()]))
    ok('out h: i64[3]\neach i { if x[i] > 0 { h[b[i]] += 1 } }', dict(x=arr('f64', [3, -1, 2, 5]), b=arr('i64', [0, 1, 0, 2])), h=arr('i64', [2, 0, 1]))
    ok('out h: i64[10]\neach i, j { v = m[i,j]; if v >= 0 { h[v] += 1; if v > 4 { h[0] += 100 } } else { h[-v] -= 1 } }', dict(m=m), h=histogram(m))
    ok('out y: f64[4]\neach i in 1..3 { y[i] = x[i-1] + x[i+1] }', dict(x=arr('f64', [3, -1, 2, 5])), y=arr('f64', [0, 5, 4, 0]))
    ok('out y: i64[9]\neach i in 1..9 by 3 { for k in 0..i { y[i] += k } }', {}, y=arr('i64', [0, 0, 0, 0, 6, 0, 0, 21, 0]))
    t = np.zeros((4, 4), i64)
    for i in range(4):
        for j in range(i): t[i, j] = 10 * i + j
    ok('out y: i64[4,4]\neach i in 0..4, j in 0..i { y[i,j] = 10*i + j }', {}, y=t)
    ok('out y: f64[2]\neach i { y[i] = 1; y[i] = y[i] + sum(j: m[i,j]); y[i] *= 2 }', dict(m=arr('f64', [[3, 2], [1, 0]])), y=arr('f64', [12, 4]))
    ok('t = 2.0\nout y: f64[4]\neach i { q = t; y[i] = q * x[i] }', dict(x=arr('f64', [3, -1, 2, 5])), y=arr('f64', [6, -2, 4, 10]))
    for shape in ((5,), (2, 5), (2, 3, 5)):
        z = whole(58, *shape, low=-9); ok('out y: i64[%s]\neach ..., j { s = 0; for k in 0..3 { s += x[...,j] * k }; if s > 0 { y[...,j] = s } else { y[...,j] = w[j] } }' % ','.join(map(str, shape)), dict(x=z, w=arr('i64', [1, 2, 3, 4, 5])),
                                           y=np.where(3 * z > 0, 3 * z, np.arange(1, 6)))
    ok('each ... { for t in 0..4 { x[...] = x[...] * 2 % 7 } }', dict(x=whole(59, 3, 2)), x=whole(59, 3, 2) * 16 % 7)
    e = np.zeros((0, 3)); ok('out s: f64[len(x,0)], t: f64[len(x,1)]\neach i { for j in 0..len(x,1) { s[i] += x[i,j] } }\neach j { for i in 0..len(x,0) { t[j] += x[i,j] } }', dict(x=e), s=np.zeros(0), t=np.zeros(3))
    o = np.zeros((4, 3), i64)
    for s in range(4):
        for i in range(3): o[s, i] = s * s + i if i <= s else -1
    ok('out y: i64[4,3]\nfor t in 0..4 { each i { if i <= t { y[t,i] = t*t + i } else { y[t,i] = -1 } } }', {}, y=o)
    x = whole(60, 12, low=-5); d = x.copy(); r = 0
    for i in range(12): r = 0 if x[i] < 0 else r + x[i]; d[i] = r
    ok('out y: i64[1,12]\neach o { r = 0; for i in 0..12 { if x[i] < 0 { r = 0 } else { r += x[i] }; y[o,i] = r } }', dict(x=x), y=d[None])
    c = data(61, 5); z = data(62, 7, low=-1); ok('in c[n]\nout y: f64[len(z,0)]\neach i { s = 0.0; for k in n-1..-1 by -1 { s = s * z[i] + c[k] }; y[i] = s }', dict(c=c, z=z), 1e-9, y=np.polyval(c[::-1], z))
    ok('out y: i64[5]\neach i { var a = 1; var b = i; while a < 100 { if a > 40 && b { break }; a = a * 2 + b }; y[i] = a }', {}, y=arr('i64', [doubled(i) for i in range(5)]))
    val, col, row, x = data(63, 9), whole(64, 9, high=5), arr('i64', [0, 2, 2, 6, 9]), data(65, 5)
    ok('out y: f64[len(row,0)-1]\neach i in 0..len(row,0)-1 { s = 0.0; for p in row[i]..row[i+1] { s += val[p] * x[col[p]] }; y[i] = s }', dict(val=val, col=col, row=row, x=x), R, y=arr('f64', [sum(val[p] * x[col[p]] for p in range(row[i], row[i + 1])) for i in range(4)]))
    med = whole(66, 6, 3); ok('out y: i64[len(m,0)]\neach i {\n  a = m[i,0]; b = m[i,1]; c = m[i,2]\n  if a > b { t = a; a = b; b = t }\n  if b > c { t = b; b = c; c = t }\n  if a > b { t = a; a = b; b = t }\n  y[i] = b\n}', dict(m=med), y=np.median(med, 1).astype(i64))
    A = data(67, 4, 3); s = A - A.mean(1, keepdims=True); ok('out y: f64[4,3]\neach i {\n  mu = mean(j: x[i,j]); va = mean(j: (x[i,j] - mu)**2)\n  for j in 0..3 { y[i,j] = (x[i,j] - mu) / sqrt(va + 1e-5) }\n}', dict(x=A), 1e-9, y=s / np.sqrt((s**2).mean(1, keepdims=True) + 1e-5))
    K = data(68, 5, 3); P = np.exp(A @ K.T); P /= P.sum(1, keepdims=True); ok('in K[n,d]\nout y: f64[len(A,0),d]\neach i {\n  top = -inf; total = 0.0\n  for j in 0..n { top = max(top, sum(k: A[i,k] * K[j,k])) }\n'
        '  for j in 0..n { w = exp(sum(k: A[i,k] * K[j,k]) - top); total += w; for k in 0..d { y[i,k] += w * K[j,k] } }\n  for k in 0..d { y[i,k] /= total }\n}', dict(A=A, K=K), 1e-9, y=P @ K)


def doubled(b):
    a = 1
    while a < 100:
        if a > 40 and b: break
        a = a * 2 + b
    return a


def histogram(m):
    h = [0] * 10
    for v in m.reshape(-1).tolist():
        if v >= 0:
            h[v] += 1
            if v > 4: h[0] += 100
        else: h[-v] -= 1
    return arr('i64', h)


def functions():
    it = np.zeros((6, 8), i64)
    for y, x in over(6, 8):
        cr, ci, zr, zi, k = 3 * x / 8 - 2, 2 * y / 6 - 1, 0.0, 0.0, 0
        while k < 50 and zr * zr + zi * zi <= 4: zr, zi = zr * zr - zi * zi + cr, 2 * zr * zi + ci; k += 1
        it[y, x] = k
    mandel = 'def mandel(cr, ci, n) {\n  zr = 0.0; zi = 0.0; k = 0\n  while k < n && zr*zr + zi*zi <= 4 { t = zr*zr - zi*zi + cr; zi = 2*zr*zi + ci; zr = t; k += 1 }\n  return k\n}\n'
    ok(mandel + 'it[y,x] = mandel(3*x/8 - 2, 2*y/6 - 1, 50) where y in 0..6, x in 0..8', {}, it=it)
    ok(mandel + 'total = sum(y in 0..6, x in 0..8: mandel(3*x/8 - 2, 2*y/6 - 1, 50))', {}, total=i64(it.sum()))
    d = whole(70, 10, high=256)
    ok('in poly = 0x8408\ndef crc16() {\n  crc = 0xFFFF\n  for i in 0..len(data,0) {\n    b = data[i]\n    for q in 0..8 {\n      if (crc ^ b) & 1 { crc = (crc >> 1) ^ poly } else { crc = crc >> 1 }\n      b = b >> 1\n    }\n  }\n'
       '  crc = ~crc & 0xFFFF\n  return (crc << 8 | crc >> 8) & 0xFFFF\n}\nr = crc16()', dict(data=d), r=i64(crc16(d.tolist())))
    x = whole(71, 11, low=-6, high=7)
    ok('def classify(v) {\n  if v < -3 { return -2 }\n  if v < 0 { return -1 }\n  if v == 0 { return 0 }\n  if v > 3 { return 2 } else { return 1 }\n}\ny[i] = classify(x[i])', dict(x=x), y=np.sign(x) * (1 + (abs(x) > 3)) )
    ok('def f(a, n) { s = 0; for k in 0..n { s += a * k }; return s }\ny[i] = f(x[i], 4)', dict(x=x), y=x * 6)
    ok('def first(a, n, v) { for k in 0..n { if a[k] == v { return k } }; return -1 }\nin v\nout y: i64[3]\ny[0] = first(x, len(x,0), v); y[1] = first(x, len(x,0), 99); y[2] = first(x, 0, v)', dict(x=x, v=int(x[4])), y=arr('i64', [x.tolist().index(x[4]), -1, -1]))
    ok('def past(n) { for k in 0..9 { if k > n { return k } }; return -1 }\ny[i] = past(i) where i in 0..12', {}, y=np.where(np.arange(12) < 8, np.arange(12) + 1, -1))
    ok('def past(n) { k = 0; while k < 9 { if k > n { return k * k }; k += 1 }; return -1 }\ny[i] = past(i) + past(4) where i in 0..12', {}, y=np.where(np.arange(12) < 8, (np.arange(12) + 1)**2, -1) + 25)
    ok('def g(f, i) = f[i] * 2\ndef h(f, n) { s = 0; for k in 0..n { s += g(f, k) }; return s }\ny = h(x, 5) + h(w, 2)', dict(x=x, w=arr('i64', [7, 8])), y=i64(2 * x[:5].sum() + 30))
    ok('def power(b, e) { p = 1; while e > 0 { if e & 1 { p *= b }; b *= b; e = e >> 1 }; return p }\ny[i] = power(x[i], i)', dict(x=x), y=arr('i64', [int(v)**i for i, v in enumerate(x)]))
    ok('def isqrt(n) { r = 0; while (r + 1)*(r + 1) <= n { r += 1 }; return r }\ny[i] = sum(k in 0..isqrt(i): x[k]) where i in 0..30', dict(x=x), y=arr('i64', [x[:math.isqrt(i)].sum() for i in range(30)]))
    ok('def even(n) { return n % 2 == 0 }\nb[i] = even(x[i])\nc = sum(i: even(x[i]) ? x[i] : 0)\nvar w = 0\nif even(c) { w = 1 }\nout b, c, w', dict(x=x), b=x % 2 == 0, c=i64(x[x % 2 == 0].sum()), w=i64(x[x % 2 == 0].sum() % 2 == 0))
    ok('def back(k) { m = len(x,0) - 1 - k; return m }\ny[i] = x[back(i)] where i in 0..len(x,0)', dict(x=x), y=x[::-1])
    ok('def f(a) { def g(b) { return a * b + 1 }; s = 0; for k in 0..3 { s += g(k) }; return s }\ny[i] = f(x[i])', dict(x=x), y=3 * x + 3)
    ok('edge x clamp\ndef blur(i) { s = 0; for k in -1..2 { s += x[i+k] }; return s }\ny[i] = blur(i) where i in 0..11', dict(x=x), y=x[[0] + list(range(10))] + x + x[list(range(1, 11)) + [10]])
    ok('def bisect(c) { lo = 0.0; hi = 4.0; for t in 0..60 { m = (lo + hi) / 2; if m*m > c { hi = m } else { lo = m } }; return lo }\ny[i] = bisect(x[i]) where i in 0..3', dict(x=arr('f64', [2, 3, 9])), 1e-12, y=np.sqrt(arr('f64', [2, 3, 9])))
    ok('def clip(v, lo, hi) { if v < lo { return lo } else if v > hi { return hi }; return v }\neach i { x[i] = clip(x[i], -2, 3); if clip(x[i], 0, 9) == 0 { x[i] = 100 } }', dict(x=x), x=np.where(np.clip(x, -2, 3) <= 0, 100, np.clip(x, -2, 3)))
    ok('def tail(i, n) { s = 0; k = i; while true { if k >= n { break }; s += x[k]; k += 1 }; return s }\ny[i] = tail(i, 11) where i in 0..11', dict(x=x), y=np.cumsum(x[::-1])[::-1])
    ok('def twice(v) { return v + v }\ndef four(v) { return twice(twice(v)) }\ny = four(four(3)) + twice(four(1))', {}, y=i64(56))
    h = data(72, 6).astype(np.float16); ok('def f(a) { if a > 1 { return a }; return 0 }\ny[i] = f(x[i])', dict(x=h), y=np.where(h > 1, h, np.float16(0)))
    u = whole(73, 6, high=256).astype(np.uint8); ok('def f(a) { if a > 9 { return a + 1 }; return 7 }\ny[i] = f(x[i])', dict(x=u), y=np.where(u > 9, u + np.uint8(1), np.uint8(7)))
    ok('def root(a) { if a <= 0 { return nan }; z = a + 1.0; for t in 0..60 { z = (z + a / z) / 2 }; return z }\ny[i] = root(x[i])', dict(x=x), 1e-9, y=np.sqrt(np.where(x > 0, x, nan)))


def crc16(data):
    crc = 0xFFFF
    for b in data:
        for _ in range(8): crc = (crc >> 1) ^ 0x8408 if (crc ^ b) & 1 else crc >> 1; b >>= 1
    crc = ~crc & 0xFFFF; return (crc << 8 | crc >> 8) & 0xFFFF


def passed_over():
    """Accesses that a loop makes only for some values of its index are not checked for all of them."""
    x = whole(80, 4); y = np.zeros(4, i64)
    for t in range(9):
        if t < 4: y[t] = x[t] * t
    ok('out y: i64[4]\nfor t in 0..9 { if t < 4 { y[t] = x[t] * t } }', dict(x=x), y=y)
    ok('out y: i64[4]\nfor t in 0..9 { if t == 4 { break }; y[t] = x[t] * t }', dict(x=x), y=y)
    ok('out y: i64[4]\nvar c = 0\nwhile c < 2 { for t in 0..9 { if t >= 4 { break }; y[t] += x[t] * t }; c += 1 }', dict(x=x), y=2 * y)
    ok('out y: i64[4]\nfor t in 0..9 { if t > 2 && t < 4 { y[i] = x[i] + x[t-3] } }', dict(x=x), y=x + x[0])
    bad('out y: i64[4]\nfor t in 0..9 { if t > 2 { y[t] = t } }', {}, 'y', '4', code=6)
    bad('out y: i64[4]\nvar s = 0\nfor t in 0..9 { if t > 2 { s += y[t] } }\nout s', {}, 'y', '4', code=6)


def errors():
    x = arr('f64', [3, -1, 2, 5]); m = arr('f64', [[3, 2], [1, 0]])
    bad('for t in 0..3 { acc += x[t] }\ny = 1', dict(x=x), 'acc')
    bad('for t in 0..3 { w = t }', {})
    bad('for t in 0..3 { w = t }\ny = w', {}, 'w', 'exists')
    bad('for t in 0..3 { y[t] = x[t] }', dict(x=x), 'y', 'declare')
    bad('y = 1\nreturn 3', {}, 'return')
    bad('y = 1\nbreak', {}, 'break')
    bad('out y: f64[4]\neach i { y[i] = x[i]; break }', dict(x=x), 'break')
    bad('out y: f64[2,2]\neach i { y[i,j] = m[i,j] }', dict(m=m), 'j')
    bad('out y: f64[2,2]\neach i, j { y[i,j] = m[i,j] + y[j,i] }', dict(m=m), 'y')
    bad('s = 0.0\nout y: f64[4]\neach i { s = x[i]; y[i] = s }', dict(x=x), 's', 'read-only')
    bad('each i { y[i] = x[i] }', dict(x=x), 'y', 'declare')
    bad('def f(a) { return f(a) }\ny = f(1)', {}, 'f')
    bad('def f(a) { a = 2 }\ny = f(1)', {}, 'f', 'return')
    bad('out y: f64[3]\ndef f(a) { y[0] = a; return a }\nz = f(1)', {}, 'y')
    bad('var c = 0\nin s\nfor t in 0..4 by s { c += 1 }\nout c', dict(s=0), 'by')
    bad('var c = 0\nfor t in 0..2.5 { c += 1 }\nout c', {}, 'integer')
    bad('var c = 0\nfor c in 0..3 { y = c }', {}, 'c')
    bad('var s = 0.0\nfor t in 0..5 { s += x[t] }\nout s', dict(x=x), 'x', '4')
    bad('out y: f64[4]\neach i { y[i] = x[idx[i]] }', dict(x=x, idx=arr('i64', [0, 1, 4, 2])), 'x', '4', code=6)
    bad('out y: f64[4]\neach i { k = 0; while x[k] > -9 { k += 1 }; y[i] = k }', dict(x=x), 'x', '4', code=6)
    bad('out h: i64[2]\neach i { h[idx[i]] += 1 }', dict(idx=arr('i64', [0, 1, 2])), 'h', '2', code=6)
    bad('def f(k) { return x[k] }\ny[i] = f(i - 1) where i in 0..4', dict(x=x), 'x', '-1', code=6)


def cases():
    begin('control', 'for, while, if, each and functions of several statements.')
    scalars(); scopes(); linear_algebra(); grids(); tables(); recurrent(); elements(); functions(); passed_over(); errors()
