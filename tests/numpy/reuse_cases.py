"""Reductions whose terms read the same elements for many points: distances of all pairs, products with weights, min-plus, correlations
with channels, strides, dilation, groups and edges; with up to 9,000 terms. All results are exact."""
from caselib import *
from reduction_cases import chain, multiply_add
from chain_cases import part

f32 = np.float32


def wide(x, shape): return np.broadcast_to(x, shape)


def pairs():
    for t, rows, columns, terms in (('f32', 33, 5, 70), ('f32', 2, 3, 1100), ('f32', 17, 20, 3), ('f64', 6, 33, 33), ('f32', 34, 17, 32)):
        a, b, w = part((rows, terms), 3, t), part((columns, terms), 5, t), part((terms,), 7, t)
        d = np.moveaxis(a[:, None] - b[None], 2, 0); sides = wide(a.T[:, :, None], d.shape), wide(b.T[:, None], d.shape)
        ok('d[i,j] = sum(k: abs(a[i,k] - b[j,k]))\ne[j,i] = sum(k: w[k] * abs(a[i,k] - b[j,k]))\nf[i,j] = sum(k: (a[i,k] - b[j,k])**2)', dict(a=a, b=b, w=w),
           d=chain(abs(d)), e=chain(wide(w[:, None, None], d.shape), abs(d)).T, f=chain(d, d))
        ok('d[i,j] = min(k: a[i,k] + b[j,k])\ne[i,j] = argmax(k: a[i,k] - b[j,k])\nf[i,j] = mean(k: max(a[i,k], b[j,k]))\ns[i] = sum(j: sum(k: abs(a[i,k] - b[j,k])))',
           dict(a=a, b=b), d=(a[:, None] + b).min(2), e=d.argmax(0), f=chain(np.maximum(*sides)) / a.dtype.type(terms), s=chain(chain(abs(d)).T))
    a, b = part((3, 5, 40), 3), part((3, 6, 40), 5); d = np.moveaxis(a[:, :, None] - b[:, None], 3, 0)
    ok('d[p,i,j] = sum(k: abs(a[p,i,k] - b[p,j,k]))', dict(a=a, b=b), d=chain(abs(d)))
    a, b = part((40, 34), 3, 'f16'), part((40, 33), 5, 'f16'); d = a.astype(f32)[:, :, None] - b.astype(f32)[:, None]
    ok('d[i,j] = sum(k: abs(a[k,i] - b[k,j]))', dict(a=a, b=b), d=chain(abs(d)).astype(np.float16))
    a, b = (np.arange(33 * 50) * 60013 % 4001 - 2000).reshape(33, 50).astype(np.int32), (np.arange(50 * 34) * 70001 % 3001).reshape(50, 34).astype(np.int32)
    ok('d[i,j] = sum(k: a[i,k] * b[k,j])\ne[i,j] = max(k: a[i,k] - b[k,j])', dict(a=a, b=b), d=a.astype(np.int64) @ b.astype(np.int64), e=(a[:, :, None] - b[None]).max(1))


def units():
    """Arrays that the program makes, and sums of several units of 1,024 terms."""
    for rows, columns, terms in ((3, 4, 9000), (2, 33, 2049), (34, 3, 1024), (2, 2, 8191)):
        i, k = np.meshgrid(np.arange(rows), np.arange(terms), indexing='ij'); a = (((i * 31 + k * 7919) % 1009).astype(f32) / f32(64) - f32(7))
        j, k = np.meshgrid(np.arange(columns), np.arange(terms), indexing='ij'); b = (((j * 37 + k * 6007) % 997).astype(f32) / f32(64) - f32(7))
        text = 'a[i,k] = f32((i * 31 + k * 7919) %% 1009) / 64 - 7 where i in 0..%d, k in 0..%d\nb[j,k] = f32((j * 37 + k * 6007) %% 997) / 64 - 7 where j in 0..%d, k in 0..%d\n' % (rows, terms, columns, terms)
        d = np.moveaxis(a[:, None] - b[None], 2, 0)
        ok(text + 'd[i,j] = sum(k: abs(a[i,k] - b[j,k]))\ne[i] = a[i,1] + b[0,i %% %d]' % columns, {}, d=chain(abs(d)), e=a[:, 1] + b[0, np.arange(rows) % columns])
        ok(text + 'd[i,j] = sum(k: (a[i,k] - b[j,k]) * (k % 3 + 1))', {}, d=chain(d, wide((np.arange(terms) % 3 + 1).astype(f32)[:, None, None], d.shape)))


def correlations():
    x, w = part((5, 14, 15), 2), part((4, 5, 3, 2), 4)
    for by, apart in ((1, 1), (2, 1), (1, 2), (3, 2)):
        h, v = (14 - 2 * apart - 1) // by + 1, (15 - apart - 1) // by + 1
        taken = np.stack([x[c, p * apart:p * apart + (h - 1) * by + 1:by, q * apart:q * apart + (v - 1) * by + 1:by] for c in range(5) for p in range(3) for q in range(2)])[:, None]
        weights = w.reshape(4, 30).T[:, :, None, None]; shape = (30, 4, h, v)
        at = 'x[c,%d*i+%d*p,%d*j+%d*q]' % (by, apart, by, apart)
        ok('y[o,i,j] = sum(c,p,q: %s * w[o,c,p,q]) where i in 0..%d, j in 0..%d' % (at, h, v), dict(x=x, w=w), y=chain(wide(taken, shape), wide(weights, shape)))
        ok('y[o,i,j] = sum(c,p,q: abs(%s - w[o,c,p,q])) where i in 0..%d, j in 0..%d' % (at, h, v), dict(x=x, w=w), y=chain(abs(taken - weights)))
    x, w = part((3, 4, 40), 2), part((3, 6, 4, 5), 4)  # groups
    taken = np.stack([x[:, c, p:p + 36] for c in range(4) for p in range(5)])[:, :, None]; weights = np.moveaxis(w.reshape(3, 6, 20), 2, 0)[..., None]
    ok('y[g,o,i] = sum(c,p: x[g,c,i+p] * w[g,o,c,p])', dict(x=x, w=w), y=chain(*np.broadcast_arrays(taken, weights)))
    x, w = part((3, 9, 10), 2), part((7, 3, 3, 3), 4); weights = w.reshape(7, 27).T[:, :, None, None]
    for mode, pad in (('fill(0)', dict(mode='constant')), ('clamp', dict(mode='edge')), ('wrap', dict(mode='wrap'))):
        far = np.pad(x, ((0, 0), (1, 1), (1, 1)), **pad)
        taken = np.stack([far[c, p:p + 9, q:q + 10] for c in range(3) for p in range(3) for q in range(3)])[:, None]
        ok('edge x %s\ny[o,i,j] = sum(c, p in -1..2, q in -1..2: x[c,i+p,j+q] * w[o,c,p+1,q+1]) where i in 0..9, j in 0..10' % mode, dict(x=x, w=w), y=chain(*np.broadcast_arrays(taken, weights)))


def groups():
    """Subscripts with // and %: groups of channels, heads that share keys, multipliers, remainders; divisors that are written, of
    extents, of the caller's numbers and of arrays, and that do not divide the extent, or are 0."""
    x, w = part((2, 8, 4, 5), 2), part((12, 2, 3, 3), 4); far = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    for text, number, first in (('3', {}, np.arange(12) // 3 * 2), ('(len(w,0)//4)', {}, np.arange(12) // 3 * 2), ('t', dict(t=3), np.arange(12) // 3 * 2),
                                ('(len(w,0)//groups)', dict(groups=4), np.arange(12) // 3 * 2), ('5', {}, np.arange(12) // 5 * 2), ('t', dict(t=5), np.arange(12) // 5 * 2),
                                ('12', {}, 0 * np.arange(12)), ('t', dict(t=40), 0 * np.arange(12)), ('t', dict(t=0), 0 * np.arange(12)), ('t', dict(t=-3), np.arange(12) // -3 * 2),
                                ('d[o]', dict(d=np.array([3, 5, 0, 7, 4, 6, 3, 2, 100, 4, 3, 3])), None)):
        if first is None: d = number['d']; first = np.where(d == 0, 0, np.arange(12) // np.where(d == 0, 1, d)) * 2
        rows = first[:, None] + np.arange(2); needs = ''.join('in %s\n' % name for name in number if name != 'd')
        if (rows < 0).any() or (rows >= 8).any():
            if 'd' in number: continue
            bad('%sy[b,o,i,j] = sum(c,p,q: x[b,(o//%s)*2+c,i+p,j+q] * w[o,c,p,q]) where i in 0..2, j in 0..3' % (needs, text), dict(x=x, w=w, **number), code=6)
            continue
        taken = np.stack([far[:, rows[:, c], p:p + 4, q:q + 5] for c in range(2) for p in range(3) for q in range(3)])
        weights = np.moveaxis(w.reshape(12, 18), 1, 0)[:, None, :, None, None]
        ok('%sedge x fill(0)\ny[b,o,i,j] = sum(c,p,q: x[b,(o//%s)*len(w,1)+c,i+p-1,j+q-1] * w[o,c,p,q]) where i in 0..4, j in 0..5' % (needs, text), dict(x=x, w=w, **number),
           y=chain(*np.broadcast_arrays(taken, weights)))
    for heads, keys in ((8, 2), (6, 6), (4, 1)):
        q, k = part((heads, 5, 17), 3), part((keys, 33, 17), 5); t = heads // keys
        pairs_of = np.moveaxis(np.broadcast_to(q[:, :, None], (heads, 5, 33, 17)), 3, 0), np.moveaxis(np.broadcast_to(k.repeat(t, 0)[:, None], (heads, 5, 33, 17)), 3, 0)
        ok('s[h,i,j] = sum(d: q[h,i,d] * k[h//(len(q,0)//len(k,0)),j,d])\nr[h,i,j] = sum(d: abs(q[h,i,d] - k[h//%d,j,d]))' % t, dict(q=q, k=k), s=chain(*pairs_of), r=chain(abs(pairs_of[0] - pairs_of[1])))
        ok('s[h,i,j] = sum(d: q[h,i,d] * k[h%%%d,j,d])' % keys, dict(q=q, k=k), s=chain(pairs_of[0], np.moveaxis(np.broadcast_to(np.tile(k, (t, 1, 1))[:, None], (heads, 5, 33, 17)), 3, 0)))
    x, w = part((4, 20), 2), part((6, 5), 4)  # two filters a channel; each second place; terms that share weights
    taken = np.stack([x[np.arange(6) // 2, p:p + 16] for p in range(5)])
    ok('y[o,i] = sum(p: x[o//2,i+p] * w[o,p])\nz[o,i] = sum(p: x[(o-3)//2+2,i+p] * w[o,p])', dict(x=x, w=w), y=chain(*np.broadcast_arrays(taken, w.T[:, :, None])),
       z=chain(*np.broadcast_arrays(np.stack([x[(np.arange(6) - 3) // 2 + 2, p:p + 16] for p in range(5)]), w.T[:, :, None])))
    ok('y[o,i] = sum(p: x[o//2,i//2+p] * w[o,p]) where i in 0..30', dict(x=x, w=w), y=chain(*np.broadcast_arrays(np.stack([x[np.arange(6)[:, None] // 2, np.arange(30) // 2 + p] for p in range(5)]), w.T[:, :, None])))
    a, b, s = part((5, 40), 3), part((40, 33), 5), part((10,), 7)
    quarters = np.broadcast_to(s.repeat(4)[:, None, None], (40, 5, 33))
    ok('y[i,j] = sum(k: a[i,k] * (b[k,j] * s[k//4]))', dict(a=a, b=b, s=s), y=chain(np.broadcast_to(a.T[:, :, None], (40, 5, 33)), np.broadcast_to(b[:, None], (40, 5, 33)) * quarters))
    ok('y[i,j] = sum(k in 0..40: abs(a[i,(k-7)//3+3] - b[k%9,j]))', dict(a=a, b=b), y=chain(abs(np.broadcast_to(a.T[(np.arange(40) - 7) // 3 + 3][:, :, None], (40, 5, 33)) - b[np.arange(40) % 9][:, None])))
    p = np.array([3, 0, 3, 1, 4, 4, 2]).astype(np.uint8); far = part((256, 6), 3)
    ok('y[i,j] = sum(k: abs(a[p[i],k] - b[k,j]))', dict(a=far, b=b[:6], p=p), y=chain(abs(far[p].T[:, :, None] - b[:6, None])))
    ok('y[i,j] = sum(k: a[i//d[j],k] * b[k,j]) where i in 0..5', dict(a=a, b=b, d=np.arange(33) % 4), y=chain(np.moveaxis(a[np.where(np.arange(33) % 4 == 0, 0, np.arange(5)[:, None] // np.maximum(np.arange(33) % 4, 1))], 2, 0), np.broadcast_to(b[:, None], (40, 5, 33))))
    ok('y[i,j] = sum(k: a[i,k] * b[k,j] + f32(i // (k - 3)))', dict(a=a, b=b), y=chain(np.stack([multiply_add(np.broadcast_to(a[:, k, None], (5, 33)), np.broadcast_to(b[k], (5, 33)), np.broadcast_to(f32(0 if k == 3 else 1) * (np.arange(5) // (k - 3 or 1)).astype(f32)[:, None], (5, 33))) for k in range(40)])))


def cases():
    begin('reuse', __doc__.replace('\n', ' '))
    pairs(); units(); correlations(); groups()
