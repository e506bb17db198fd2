"""Reductions over every axis and several, of every type, with the language's fixed tree for floats; rows (softmax, layer norm)."""
from fractions import Fraction
from caselib import *
from operator_cases import as_ints


def tree(terms, op):
    """The fixed order: T(n terms) = T(first h) + T(the rest), h the largest power of two below n. terms: [n, ...]."""
    n = len(terms)
    if n == 1: return terms[0]
    h = 1 << ((n - 1).bit_length() - 1)
    return op(tree(terms[:h], op), tree(terms[h:], op))


def multiply_add(a, b, c):
    """a * b + c, rounded once."""
    a, b, c = np.broadcast_arrays(a, b, c); out = np.empty(a.shape, a.dtype)
    for k in np.ndindex(a.shape):
        x, y, z = float(a[k]), float(b[k]), float(c[k])
        exact = Fraction(x) * Fraction(y) + Fraction(z) if math.isfinite(x * y + z) else None
        out[k] = x * y + z if not exact else once(exact, a.dtype)
    return out


def once(exact, t):
    """A fraction that is not 0 as a float of type t, rounded once: by way of f64 it is rounded to an odd last bit first."""
    x = float(exact)
    if t == np.float32 and Fraction(x) != exact and int(np.float64(x).view(np.int64)) % 2 == 0:
        x = float(np.nextafter(x, inf if exact > Fraction(x) else -inf))
    return t.type(x)


def chain(terms, factors=None):
    """Sums with reuse: chunks of 32 terms in order, a product by one multiply-add; 32 chunks in order; the tree of those. terms: [n, ...]."""
    units = []
    for u in range(0, len(terms), 1024):
        unit = -np.zeros_like(terms[0])
        for c in range(u, min(u + 1024, len(terms)), 32):
            chunk = -np.zeros_like(terms[0])
            for k in range(c, min(c + 32, len(terms))): chunk = chunk + terms[k] if factors is None else multiply_add(terms[k], factors[k], chunk)
            unit = unit + chunk
        units.append(unit)
    return tree(units, np.add)


def leading(x, axes):
    """The reduced axes first and merged, the last one running fastest."""
    kept = [k for k in range(x.ndim) if k not in axes]
    y = x.transpose(list(axes) + kept)
    return y.reshape((int(np.prod([x.shape[k] for k in axes])),) + tuple(x.shape[k] for k in kept))


def total(x, axes, name):
    t = NAMES[x.dtype]; y = leading(x, axes); empty = len(y) == 0
    if not is_float(t):
        s = 'u64' if t[0] == 'u' else 'i64'; shape = y.shape[1:]
        z = y.astype(object) * 1
        z = z.sum(0) if name == 'sum' else z.prod(0)
        return arr(s, [wrap(int(v), s) for v in np.asarray(z).reshape(-1).tolist()]).reshape(shape)
    c = DTYPES[computed(t)]
    if empty: return np.full(y.shape[1:], 0 if name == 'sum' else 1, DTYPES[t])
    return tree(y.astype(c), np.add if name == 'sum' else np.multiply).astype(DTYPES[t])


def mean(x, axes):
    t = NAMES[x.dtype]; y = leading(x, axes); c = DTYPES[computed(to_float(t))]
    if len(y) == 0: return np.full(y.shape[1:], nan, DTYPES[to_float(t)])
    return (tree(y.astype(c), np.add) / c.type(len(y))).astype(DTYPES[to_float(t)])


def extreme(x, axes, name):
    t = NAMES[x.dtype]; y = leading(x, axes)
    if len(y) == 0:
        low, high = (-inf, inf) if is_float(t) else (0, 1) if t == 'bool' else ends(t)
        return np.full(y.shape[1:], high if name == 'min' else low, DTYPES[t])
    z = y.astype(DTYPES[computed(t)]); return (z.min(0) if name == 'min' else z.max(0)).astype(DTYPES[t])


def first(x, axis, name):
    y = np.moveaxis(x, axis, 0)
    if len(y) == 0: return np.full(y.shape[1:], -1, np.int64)
    y = y.astype(np.float64) if is_float(NAMES[x.dtype]) else y
    return np.asarray(y.argmin(0) if name == 'argmin' else y.argmax(0)).astype(np.int64)


def reduced(x, axes, name):
    if name in ('sum', 'prod'): return total(x, axes, name)
    if name == 'mean': return mean(x, axes)
    if name in ('min', 'max'): return extreme(x, axes, name)
    y = leading(cast(x, 'bool'), axes)
    return y.any(0) if name == 'any' else y.all(0)


RED = ['sum', 'prod', 'min', 'max', 'any', 'all', 'mean']
AXES = {'i': (0,), 'j': (1,), 'k': (2,), 'i,j': (0, 1), 'i,k': (0, 2), 'j,k': (1, 2), 'i,j,k': (0, 1, 2)}
NAME_OF = {'i': 'i', 'j': 'j', 'k': 'k'}


def sample(t, shape, seed, nans=False):
    r = np.random.default_rng(seed); n = int(np.prod(shape))
    if t == 'bool': return (r.random(shape) > 0.4)
    if is_int(t): low, high = ends(t); return arr(t, [int(v) for v in r.integers(max(low, -9), min(high, 12), n)]).reshape(shape)
    v = (r.random(shape) * 2 - 0.75).astype(DTYPES[t])
    if nans and n > 3: v.reshape(-1)[n // 3] = nan
    return v


def program(x, axes_name):
    """All reductions of x[i,j,k] over the named axes."""
    red = axes_name.split(','); kept = [k for k in 'ijk'[:x.ndim] if k not in red]; subs = '[%s]' % ','.join(kept) if kept else ''
    body = 'x[%s]' % ','.join('ijk'[:x.ndim])
    text = ['r_%s%s = %s(%s: %s)' % (n, subs, n, ', '.join(red), body) for n in RED]
    outs = {'r_' + n: reduced(x, AXES[axes_name], n) for n in RED}
    if len(red) == 1:
        for n in ('argmin', 'argmax'): text.append('r_%s%s = %s(%s: %s)' % (n, subs, n, red[0], body)); outs['r_' + n] = first(x, AXES[axes_name][0], n)
    return '\n'.join(text), outs


def every_axis():
    begin('reductions', 'Every reduction over every axis and several axes, of every type. Floats follow the fixed tree: exact.')
    for t in TYPES:
        for q, axes in enumerate(AXES):
            x = sample(t, (5, 3, 7), hash_of(t, axes), nans=q in (1, 5)); text, outs = program(x, axes)
            ok(text, dict(x=x), **outs)
    begin('reductions_empty', 'Reductions over empty ranges, of every type.')
    for t in TYPES:
        for shape in ((0,), (3, 0), (0, 3), (2, 0, 3)):
            x = np.zeros(shape, DTYPES[t])
            for axes in [a for a in AXES if set(a.split(',')) <= set('ijk'[:len(shape)])]:
                if t in ('bool', 'i8', 'u64', 'f16', 'f64') or shape == (0,): text, outs = program(x, axes); ok(text, dict(x=x), **outs)


def hash_of(*words): return sum((k + 1) * ord(c) for k, c in enumerate(' '.join(words)))


def long_sums():
    begin('sums', 'Sums of lengths around powers of two and blocks, along rows, columns and all axes: the fixed tree, exact.')
    for t in ('f32', 'f64', 'f16', 'bf16'):
        for n in (1, 2, 3, 7, 8, 9, 31, 33, 64, 127, 129, 1000, 1024, 1025, 2047, 4099, 10000):
            c = DTYPES[computed(t)]; k = np.arange(n)
            x = (((k * 7919 + 13) % 1009).astype(DTYPES[t]).astype(c) / c.type(7)).astype(DTYPES[t])
            ok('x[i] = %s((i * 7919 + 13) %% 1009) / 7 where i in 0..%d\ns = sum(i: x[i])\np = mean(i: x[i])\nm = max(i: x[i])' % (t, n), {},
               s=total(x, (0,), 'sum'), p=mean(x, (0,)), m=x.astype(c).max().astype(x.dtype))
    for rows, columns in ((3, 1500), (1500, 3), (67, 70), (1, 2050), (2050, 1), (20, 1024)):
        i, j = np.meshgrid(np.arange(rows), np.arange(columns), indexing='ij')
        x = ((i * 31 + j * 7919) % 1009).astype(np.float32) / np.float32(7)
        text = 'x[i,j] = f32((i * 31 + j * 7919) %% 1009) / 7 where i in 0..%d, j in 0..%d\n' % (rows, columns)
        a, b, c = total(x, (1,), 'sum'), total(x, (0,), 'sum'), total(x, (0, 1), 'sum')
        d = total(x.T.copy(), (0, 1), 'sum')
        if rows > 100: a = a[:5]; text += 'full[i] = sum(j: x[i,j])\na[i] = full[i] where i in 0..5\n'
        else: text += 'a[i] = sum(j: x[i,j])\n'
        if columns > 100: b = b[:5]; text += 'wide[j] = sum(i: x[i,j])\nb[j] = wide[j] where j in 0..5\n'
        else: text += 'b[j] = sum(i: x[i,j])\n'
        ok(text + 'c = sum(i, j: x[i,j])\nd = sum(j, i: x[i,j])\ne = sum(...: x[...])', {}, a=a, b=b, c=c, d=d, e=c)
    x = arr('f32', [1e8, 1, -1e8, 1, 1e8, 1, -1e8])
    ok('y = sum(i: x[i])', dict(x=x), y=total(x, (0,), 'sum'))


def bodies():
    begin('reductions_bodies', 'Reductions inside expressions, nested, of expressions, over ranges; rows in one pass.')
    r = np.random.default_rng(3); x = r.random((4, 6)).astype(np.float32) - np.float32(.5); n4 = arr('f32', [1, 2, 3, 4])
    x64 = x.astype(np.float64); e = np.exp(x64 - x64.max(1, keepdims=True))
    for y in (x, x64, r.random((3, 1100)).astype(np.float32), r.random((2, 1))):
        z = y.astype(np.float64); e = np.exp(z - z.max(1, keepdims=True)); v = ((z - z.mean(1, keepdims=True))**2).mean(1)
        tol = 4e-6 if y.dtype == np.float32 else 1e-13
        ok('e[...,j] = exp(x[...,j] - max(k: x[...,k]))\ny[...,j] = e[...,j] / sum(k: e[...,k])', dict(x=y), tol, y=(e / e.sum(1, keepdims=True)).astype(y.dtype))
        ok('mu[i] = mean(j: x[i,j])\nva[i] = mean(j: (x[i,j] - mu[i])**2)', dict(x=y), tol * 4, va=v.astype(y.dtype))
        ok('l[i] = max(j: x[i,j]) + log(sum(j: exp(x[i,j] - max(k: x[i,k]))))', dict(x=y), tol, l=(z.max(1) + np.log(e.sum(1))).astype(y.dtype))
        ok('y[i] = x[i,0] / sum(j: x[i,j]**2)', dict(x=y), tol * 8, y=(z[:, 0] / (z**2).sum(1)).astype(y.dtype))
    g, b = arr('f32', r.random(6)), arr('f32', r.random(6)); z = x64; mu = z.mean(1, keepdims=True); va = ((z - mu)**2).mean(1, keepdims=True)
    ok('in eps = 1e-5\nmu[i] = mean(j: x[i,j])\nva[i] = mean(j: (x[i,j] - mu[i])**2)\ny[i,j] = (x[i,j] - mu[i]) / sqrt(va[i] + eps) * g[j] + b[j]',
       dict(x=x, g=g, b=b), 1e-4, y=((z - mu) / np.sqrt(va + 1e-5) * g + b).astype(np.float32))
    ok('y[i] = a[i] / sum(k: a[k])', dict(a=arr('f64', [1, 2, 5])), y=arr('f64', [.125, .25, .625]))
    ok('s = sum(i: m[i] ? x[i] : 0)', dict(m=arr('bool', [1, 0, 1, 1]), x=n4), s=np.float32(8))
    ok('s = sum(i, j: x[i] * y[j])', dict(x=n4, y=arr('f32', [1, 10])), s=np.float32(110))
    ok('s = sum(i: x[i] * sum(j: y[j] * m[i,j]))', dict(x=arr('f32', [1, 2]), y=arr('f32', [1, 10]), m=arr('f32', [[1, 2], [3, 4]])), s=np.float32(107))
    ok('s = max(i: sum(j: m[i,j]))\nt = sum(j: max(i: m[i,j]))\nu = argmax(i: sum(j: m[i,j]))', dict(m=arr('i32', [[1, 9], [8, 3]])), s=np.int64(11),
       t=np.int64(17), u=np.int64(1))
    ok('C[i,j] = alpha * sum(k: A[i,k] * B[k,j]) + beta * C[i,j]', dict(A=arr('f64', [[1, 2], [3, 4]]), B=arr('f64', [[5, 6], [7, 8]]), C=np.eye(2), alpha=2, beta=10),
       C=arr('f64', [[48, 44], [86, 110]]))
    A, B = (r.integers(-5, 6, s).astype(np.float32) for s in ((37, 53), (53, 41)))
    ok('C[i,j] = sum(k: A[i,k] * B[k,j])', dict(A=A, B=B), C=A @ B)
    ok('C[i,j] = sum(k: A[k,i] * B[j,k])', dict(A=A.T.copy(), B=B.T.copy()), C=A @ B)
    ok('y[i] = sum(k: A[i,k] * x[k])\nz[k] = sum(i: A[i,k] * w[i])',
       dict(A=A, x=B[:, 0].copy(), w=B[:37, 1].copy()), y=A @ B[:, 0], z=A.T @ B[:37, 1])
    ok('lab[i] = argmin(c: sum(d: (x[i,d] - cen[c,d])**2))', dict(x=arr('f64', [[0, 0], [5, 5], [9, 1]]), cen=arr('f64', [[1, 1], [6, 6], [9, 0]])),
       lab=arr('i64', [0, 1, 2]))
    ok('s = sum(k in 1..3: x[k])\nt = sum(k in 0..4 by 2: x[k])\nu = prod(k in 3..1: x[k])', dict(x=n4), s=np.float32(5), t=np.float32(4), u=np.float32(1))
    ok('n = sum(i: x[i] > 1)\nany1 = any(i: x[i] > 3)\nall1 = all(i: x[i] > 1)', dict(x=n4), n=np.int64(3), any1=np.bool_(True), all1=np.bool_(False))
    ok('s = sum(i: x[i] * i)', dict(x=n4), s=np.float32(20))
    ok('k = argmax(i: x[i])\nl = argmin(i: x[i])', dict(x=arr('f32', [1, 5, nan, 7])), k=np.int64(2), l=np.int64(2))
    ok('k = argmax(i: x[i])\nl = argmin(i: x[i])', dict(x=arr('f32', [3, 5, 1, 5, 1])), k=np.int64(1), l=np.int64(2))
    ok('k = argmax(i in 2..5: x[i])', dict(x=arr('f32', [9, 5, 1, 5, 1])), k=np.int64(3))
    bad('y = argmin(i,j: m[i,j])', dict(m=np.eye(2)), 'argmin')
    bad('c[i] = a[i,k] * x[k]', dict(a=np.eye(2), x=arr('f64', [1, 2])), 'k', 'sum')
    bad('y = sum(x[k])', dict(x=n4), 'sum')
    S, X, t = arr('f64', [100, 90, 110]), arr('f64', [100, 100, 95]), arr('f64', [1, .5, 2])
    import scipy.special as sp
    cdf = lambda q: .5 * (1 + sp.erf(q * 0.7071067811865476)); d = (np.log(S / X) + (.02 + .045) * t) / (.3 * np.sqrt(t))
    ok('def cdf(z) = 0.5 * (1 + erf(z * 0.7071067811865476))\nd[i] = (log(S[i]/X[i]) + (r + v*v/2)*t[i]) / (v*sqrt(t[i]))\n'
       'call[i] = S[i]*cdf(d[i]) - X[i]*exp(-r*t[i])*cdf(d[i] - v*sqrt(t[i]))', dict(S=S, X=X, t=t, r=.02, v=.3), 1e-12,
       call=S * cdf(d) - X * np.exp(-.02 * t) * cdf(d - .3 * np.sqrt(t)))
    p, m = r.random((5, 3)), r.random(5); q = p[None] - p[:, None]; w = m[None] / (1e-2 + (q**2).sum(2))**1.5
    ok('w[i,j] = m[j] / (eps + sum(e: (p[j,e] - p[i,e])**2))**1.5\nacc[i,d] = sum(j: w[i,j] * (p[j,d] - p[i,d]))', dict(p=p, m=m, eps=1e-2), 1e-10,
       acc=(w[:, :, None] * q).sum(1))


def cases():
    every_axis(); long_sums(); bodies()
