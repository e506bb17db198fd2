"""Chains of reductions over several indices, which are a row of memory, several pieces of one, or columns: batch, group, instance and layer
norms, with gains that one index selects or several. Extents around powers of two, of one element, and longer than what a thread keeps. All
results are exact."""
from caselib import *
from reduction_cases import sample

SHAPES = [(1, 1, 1), (3, 1, 5), (2, 4, 8), (2, 3, 33), (3, 8, 12), (1, 70, 3), (1, 9, 40), (4, 5, 1)]


def small(t, shape, seed): return (sample('i32', shape, seed) % 5 - 2).astype(DTYPES[t])


def wide(a): return a.astype(np.float64 if a.dtype.kind == 'f' else np.int64)


def totals(a, axes): a = wide(a); m = a.sum(axes, keepdims=True); return a, m, np.abs(a - a.max(axes, keepdims=True)).sum(axes, keepdims=True)


def norms(t, shape, read, axes, kept):
    """read: the array's indices, of which i and j are summed; kept: the others."""
    a = small(t, shape, 3); b, s, d = totals(a, axes); extents = dict(zip(read, shape)); inside = ','.join(read); result = computed(t) if is_float(t) else 'i64'
    across = lambda x, index: x.reshape([n if k == index else 1 for n, k in zip(shape, read)]).astype(b.dtype)
    u, v = small(result, (extents['i'],), 4), small(result, (extents['j'],), 5); outer = ','.join(kept)
    chain = f's[{outer}] = sum(i,j: {result}(a[{inside}]))\nt[{outer}] = max(i,j: a[{inside}])\nd[{outer}] = sum(i,j: abs({result}(a[{inside}]) - t[{outer}]))\n'
    data = dict(a=a); make = lambda y: y.astype(DTYPES[result])
    ok(chain + f'y[{inside}] = a[{inside}] * d[{outer}] - s[{outer}]', data, y=make(b * d - s))
    ok(chain + f'y[{inside}] = (a[{inside}] - s[{outer}]) * u[i] + v[j] + d[{outer}]', dict(a=a, u=u, v=v), y=make((b - s) * across(u, 'i') + across(v, 'j') + d))
    ok(chain + f'y[{inside}] = a[{inside}] == t[{outer}] ? i : d[{outer}] - j', data,
       y=make(np.where(b == b.max(axes, keepdims=True), across(np.arange(extents['i']), 'i'), d - across(np.arange(extents['j']), 'j'))))
    turned = ','.join(reversed(read))
    ok(f't[{outer}] = max(i,j: a[{inside}])\ny[{turned}] = {result}(a[{inside}]) - t[{outer}]', data, y=make(b - b.max(axes, keepdims=True)).T)
    ok(chain + f'r[{outer}] = 1 + sum(i,j: ({result}(a[{inside}]) - t[{outer}]) * u[i])', dict(a=a, u=u),
       r=make(1 + ((b - b.max(axes, keepdims=True)) * across(u, 'i')).sum(axes)), d=make(d.reshape(d.sum(axes).shape)))


def cases():
    begin('norms', __doc__.replace('\n', ' '))
    for n, (x, y, z) in enumerate(SHAPES):
        t = ('f32', 'f16', 'f64', 'i32')[n % 4]
        norms(t, (x, y, z), 'pij', (1, 2), 'p')
        norms(t, (y, x, z), 'ipj', (0, 2), 'p')
        norms(t, (y, z, 8 * x), 'ijp', (0, 1), 'p')
        norms(t, (y, x, z, 4), 'ipjq', (0, 2), 'pq')
    a = small('f32', (3, 4, 5, 6), 9); b = wide(a); s = b.sum((1, 2, 3), keepdims=True); w, u, v = (small('f32', (n,), n) for n in (4, 5, 6))
    ok('y[p,i,j,k] = (a[p,i,j,k] - sum(i,j,k: a[p,i,j,k])) * w[i] + u[j] * v[k]', dict(a=a, w=w, u=u, v=v),
       y=((b - s) * wide(w)[:, None, None] + wide(u[:, None] * v)).astype(np.float32))
    s = b.sum((2, 3), keepdims=True)
    ok('y[p,g,i,j] = (a[p,g,i,j] - sum(i,j: a[p,g,i,j])) * w[g,i]', dict(a=a, w=small('f32', (4, 5), 2)), y=((b - s) * wide(small('f32', (4, 5), 2))[:, :, None]).astype(np.float32))
    # all of an array as one row
    for t, shape in (('f32', (3, 5)), ('f32', (33, 70)), ('i32', (64, 64)), ('f16', (20, 30)), ('f64', (1, 9))):
        a = small(t, shape, 6); b = wide(a); make = lambda y: y.astype(DTYPES[computed(t) if is_float(t) else 'i64'])
        ok('y[i,j] = %s(a[i,j]) * (1 + max(p,q: a[p,q])) - sum(p,q: %s(a[p,q]))' % ((computed(t) if is_float(t) else 'i64',) * 2), dict(a=a), y=make(b * (1 + b.max()) - b.sum()))
        ok('m = max(i,j: a[i,j])\ny[i,j] = (a[i,j] - m) * i', dict(a=a), y=((b - b.max()) * np.arange(len(b))[:, None]).astype(a.dtype if is_float(t) else np.int64))
    # a part of each row; subscripts beyond its indices' ranges; a division that is checked
    a = small('i32', (3, 9, 7), 8).astype(np.int64); m = a[:, 1:8, 2:].max((1, 2), keepdims=True); k = np.array([2, 0, -1, 1, 3, 5, 1, 2, 0])
    ok('m[p] = max(i in 1..8, j in 2..7: a[p,i,j])\ny[p,i,j] = a[p,i+1,j+2] - m[p] where i in 0..7, j in 0..5', dict(a=a), y=a[:, 1:8, 2:] - m)
    ok('edge a clamp\nm[p] = max(i,j: a[p,i,j])\ny[p,i,j] = a[p,i-1,j] - m[p] where i in 0..9', dict(a=a), y=a[:, [0, 0, 1, 2, 3, 4, 5, 6, 7]] - a.max((1, 2), keepdims=True))
    ok('m[p] = max(i,j: a[p,i,j])\ny[p,i,j] = (a[p,i,j] - m[p]) // (1 + abs(k[i]))', dict(a=a, k=k), y=(a - a.max((1, 2), keepdims=True)) // (1 + np.abs(k))[:, None])
    bad('m[p] = max(i,j: a[p,i,j])\ny[p,i,j] = a[p,i,j] - m[p] + k[k[i]]', dict(a=a, k=k), 'k axis 0 (length 9)', 'subscript is -1', code=6)
