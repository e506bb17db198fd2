"""Sums with reuse: chunks of 32 terms in order, products by multiply-adds, 32 chunks in order, and the tree of those. Filters, products
of a matrix and a vector, windows and rows of data, of lengths around those of chunks. All results are exact."""
from caselib import *
from reduction_cases import chain, tree
from tile_cases import mixed


def part(shape, salt, t='f32'): return (mixed(shape, salt) - np.float32(7)).astype(DTYPES[t])


def matrices():
    for t, rows, terms in (('f32', 2, 2100), ('f32', 40, 33), ('f32', 5, 97), ('f64', 3, 1056), ('f64', 40, 70), ('f32', 3, 0), ('f32', 70, 1)):
        a, x = part((rows, terms), 3, t), part((terms,), 5, t); c = abs(a.T); zero = np.zeros(rows, a.dtype)
        product = chain(c, np.broadcast_to(x[:, None], c.shape)) if terms else zero
        ok('y[i] = sum(j: abs(a[i,j]) * x[j])\nz[i] = mean(j: abs(a[i,j]) * x[j])', dict(a=a, x=x), y=product, z=product / a.dtype.type(terms))
        ok('y[i] = sum(j: max(a[i,j], x[j]))', dict(a=a, x=x), y=chain(np.maximum(a.T, x[:, None])) if terms else zero)
        ok('out y: %s[len(a, 0)]\ny[i] += abs(a[i,j]) * x[j]' % t, dict(a=a, x=x), y=product)
    a, x = part((80, 40), 3), part((80,), 5)
    ok('y[j] = sum(i: abs(a[i,j]) * x[i])', dict(a=a, x=x), y=chain(abs(a), np.broadcast_to(x[:, None], a.shape)))
    a, x = mixed((3, 40), 3), mixed((40,), 5) * np.float32(0)
    ok('y[i] = sum(j: -a[i,j] * x[j])', dict(a=a, x=x), y=-np.zeros(3, np.float32))
    a, x = part((3, 70), 3, 'f16'), part((70,), 5, 'f16'); wide = np.float32
    ok('y[i] = sum(j: abs(a[i,j]) * x[j])', dict(a=a, x=x), y=chain(abs(a.T).astype(wide), np.broadcast_to(x.astype(wide)[:, None], (70, 3))).astype(np.float16))


def filters():
    for t, n, terms in (('f32', 40, 1100), ('f32', 70, 1057), ('f32', 700, 40), ('f32', 90, 32), ('f64', 100, 65), ('f32', 3, 33)):
        x, w = part((n + terms,), 2, t), part((terms,), 4, t); taken = np.stack([x[k:k + n] for k in range(terms)]); w2 = np.broadcast_to(w[:, None], taken.shape)
        ok('y[i] = sum(k: x[i+k] * w[k]) where i in 0..%d' % n, dict(x=x, w=w), y=chain(taken, w2))
        ok('y[i] = sum(k in 0..%d: sqrt(abs(x[i+k]))) where i in 0..%d' % (terms, n), dict(x=x), y=chain(np.sqrt(abs(taken))))
    x, w = part((100,), 2), part((50,), 4); far = np.concatenate([np.zeros(50, np.float32), x])
    taken = np.stack([far[50 - k:150 - k] for k in range(50)])
    ok('edge x fill(0)\ny[i] = sum(k: x[i-k] * w[k]) where i in 0..100', dict(x=x, w=w), y=chain(taken, np.broadcast_to(w[:, None], taken.shape)))
    ok('y[i] = sum(k: i >= k ? x[i-k] * w[k] : 0) where i in 0..100', dict(x=x, w=w), y=chain(np.where(np.arange(100) >= np.arange(50)[:, None], taken * w[:, None], np.float32(0))))
    for size in (3, 5, 7):
        x, w = part((20, 30), 2), part((size, size), 4); h, v = 20 - size, 30 - size
        taken = np.stack([x[a:a + h, b:b + v] for a in range(size) for b in range(size)])
        ok('y[i,j] = sum(a,b: x[i+a,j+b] * w[a,b]) where i in 0..%d, j in 0..%d' % (h, v), dict(x=x, w=w), y=chain(taken, np.broadcast_to(w.reshape(-1, 1, 1), taken.shape)))


def rows():
    for t in ('f32', 'f64'):
        lengths = [0, 1, 31, 32, 33, 0, 64, 65, 1025, 7, 100, 2, 3, 0, 1, 1, 5, 9, 20, 0]
        first = np.zeros(21, np.int64); np.cumsum(lengths, out=first[1:])
        x, v, w = part((20,), 2, t), part((int(first[-1]),), 4, t), part((int(first[-1]),), 6, t); zero = DTYPES[t].type(0)
        y = [chain(*np.broadcast_arrays(x[i] - v[s], w[s])) if s.stop > s.start else zero for i, s in enumerate(map(slice, first[:-1], first[1:]))]
        z = [chain(abs(x[i] - v[s])) if s.stop > s.start else zero for i, s in enumerate(map(slice, first[:-1], first[1:]))]
        ok('y[i] = sum(k in s[i]..s[i+1]: (x[i] - v[k]) * w[k]) where i in 0..20\nz[i] = sum(k in s[i]..s[i+1]: abs(x[i] - v[k])) where i in 0..20',
           dict(x=x, v=v, w=w, s=first), y=np.array(y, DTYPES[t]), z=np.array(z, DTYPES[t]))


def without_reuse():
    a, x = part((5, 97), 3), part((5,), 4)
    ok('y[i] = sum(j: abs(a[i,j]) * x[i])', dict(a=a, x=x), y=tree(abs(a.T) * x, np.add))
    x = part((97,), 4)
    ok('y = sum(j: abs(x[j]) * x[j])', dict(x=x), y=tree(abs(x) * x, np.add))


def cases():
    begin('chains', __doc__.replace('\n', ' '))
    matrices(); filters(); rows(); without_reuse()
