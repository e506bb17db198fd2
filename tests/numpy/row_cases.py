"""Sums and products over ranges that differ from element to element: sparse rows of every length, with gaps and overlaps, values of the
row inside the sum, conditions, subscripts out of range. All results are exact."""
from caselib import *
from reduction_cases import tree

LENGTHS = ([3, 0, 1, 16, 7, 0, 0, 40, 2] * 5, [600, 0, 1500, 1, 5, 0, 1023, 2, 3, 1024, 0, 9, 4, 100, 12, 31, 33], [1] * 30, [0] * 20, [16] * 70)


def ends(lengths): row = np.zeros(len(lengths) + 1, np.int64); np.cumsum(lengths, out=row[1:]); return row


def fold(terms, t='f32', op=np.add, empty=0): return tree(terms, op) if len(terms) else DTYPES[t].type(empty)


def each(f, low, high): return np.array([f(i, np.arange(a, max(a, b))) for i, (a, b) in enumerate(zip(low, high))])


def cases():
    begin('rows', __doc__.replace('\n', ' '))
    for t in ('f32', 'f64'):
        for lengths in LENGTHS:
            row = ends(lengths); n = int(row[-1]); k = np.arange(n); x = arr(t, [(j * 31 % 97) / 8 for j in range(90)]); z = DTYPES[t].type
            val = ((k * 7919 % 1009) / 64).astype(z); seventh = (val.astype(np.float64) / 7).astype(z); col = (k * 53 % 90).astype(np.int32); low, high = row[:-1], row[1:]
            if n > 2000 and t == 'f64': continue
            text = 'y[i] = sum(p in row[i]..row[i+1]: val[p] * x[col[p]]) where i in 0..len(row,0)-1'
            ok(text, dict(row=row, val=seventh, col=col, x=x), y=each(lambda i, p: fold(seventh[p] * x[col[p]], t), low, high).astype(z))
            if n > 1000: continue
            w = arr(t, [1 + i % 5 for i in range(len(lengths))]); few = lengths if max(lengths) < 20 else [min(q, 6) for q in lengths]; high = low + few
            ok('y[i] = w[i] * sum(p in lo[i]..hi[i]: val[p] * w[i] + i) - 1', dict(lo=low, hi=high, val=val, w=w),
               y=np.array([w[i] * fold(np.array([z(float(val[q]) * float(w[i]) + i) for q in p], z), t) - z(1) for i, p in enumerate(np.arange(a, b) for a, b in zip(low, high))], z))
            ok('y[i] = prod(p in lo[i]..hi[i]: 1 + val[p] / 16)', dict(lo=low, hi=high, val=val), y=each(lambda i, p: fold(1 + val[p] / z(16), t, np.multiply, 1), low, high).astype(z))
            ok('y[i] = sum(p in lo[i]..hi[i]: col[p] > 40 ? val[p] : 0)', dict(lo=low, hi=high, val=val, col=col), y=each(lambda i, p: fold(np.where(col[p] > 40, val[p], z(0)), t), low, high).astype(z))
            ok('y[i] = i % 2 == 0 ? sum(p in lo[i]..hi[i]: val[p]) : w[i]', dict(lo=low, hi=high, val=val, w=w), y=each(lambda i, p: fold(val[p], t) if i % 2 == 0 else w[i], low, high).astype(z))
            ok('y[i] = sum(p in lo[i]..hi[i]: val[p]) / (1 + sum(p in lo[i]..hi[i]: x[col[p]]))', dict(lo=low, hi=high, val=val, x=x, col=col),
               y=each(lambda i, p: fold(val[p], t) / (z(1) + fold(x[col[p]], t)), low, high).astype(z))
    x = arr('f32', [(j * 31 % 97) / 8 for j in range(120)]); a = x[:100].reshape(20, 5)
    ok('y[i] = sum(k in 0..i+1: a[i,k]) where i in 0..5', dict(a=a), y=np.array([fold(a[i, :i + 1]) for i in range(5)], np.float32))
    ok('y[i,j] = sum(k in i..j: x[k]*x[j-k]) where i in 0..3, j in 0..30', dict(x=x), y=np.array([[fold(np.array([x[k] * x[j - k] for k in range(i, j)], np.float32)) for j in range(30)] for i in range(3)], np.float32))
    lo, hi = np.arange(20), np.arange(20) + 3
    ok('y[i] = sum(p in lo[i]..hi[i]: x[p])', dict(lo=lo + 5, hi=hi + 5, x=x[:40]), y=np.array([fold(x[i + 5:i + 8]) for i in range(20)], np.float32))
    bad('y[i] = sum(p in lo[i]..hi[i]: x[p])', dict(lo=lo, hi=hi, x=x[:20]), 'x axis 0 (length 20)', 'subscript is 20', code=6)
    ok('y[i] = sum(p in lo[i]..hi[i]: i < 10 ? x[p] : 1)', dict(lo=lo, hi=hi, x=x[:20]), y=np.array([fold(x[i:i + 3]) if i < 10 else 3 for i in range(20)], np.float32))
    ok('y[i] = sum(p in hi[i]..lo[i]: x[p])', dict(lo=lo, hi=hi, x=x[:20]), y=np.zeros(20, np.float32))
