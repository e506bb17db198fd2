"""Reductions of elements of one, two and four bytes, which threads read as vectors: down columns (also over a middle axis) of which
a thread has several, along rows, and over short rows. Extents that vectors divide and extents that they do not, from no terms to
more than a thread adds up, with NaN and -0.0; chains of reductions; a part of an array, which is not aligned."""
from caselib import *
from reduction_cases import tree, reduced, first, sample

COLUMNS = [(1, 8), (5, 24), (70, 36), (200, 4), (33, 10), (18, 7), (0, 8)]
ROWS = [(3, 8), (5, 32), (2, 64), (37, 16), (9, 12), (4, 33), (2, 700), (6, 1), (3, 0)]
SOME = ['sum', 'min', 'max', 'prod', 'any', 'all', 'mean']


def unusual(t, shape, seed):
    """-0.0 in whole columns and rows, and a few NaN."""
    x = sample(t, shape, seed, nans=seed % 3 == 0)
    if is_float(t) and x.size > 40: x[:, 1] = -0.0; x[2, :] = -0.0
    return x


def every(t, shape, axis, seed):
    x = unusual(t, shape, seed); kept, along = ('j', 'i') if axis == 0 else ('i', 'j')
    names = [SOME[(seed + k) % len(SOME)] for k in range(3)]
    text = ['r_%s[%s] = %s(%s: x[i,j])' % (n, kept, n, along) for n in names]
    ok('\n'.join(text), dict(x=x), **{'r_' + n: reduced(x, (axis,), n) for n in names})
    name = 'argmin' if seed % 2 else 'argmax'
    if x.shape[axis]: ok('y[%s] = %s(%s: x[i,j])' % (kept, name, along), dict(x=x), y=first(x, axis, name))


def wide(t, shape, seed):
    """Bytes whose sums are of another type."""
    x = sample(t, shape, seed)
    ok('lo[i] = min(j: x[i,j])\nhi[i] = max(j: x[i,j])\ns[i] = sum(j: i32(x[i,j]))', dict(x=x), lo=reduced(x, (1,), 'min'), hi=reduced(x, (1,), 'max'),
       s=reduced(x.astype(np.int32), (1,), 'sum'))
    ok('y[j] = sum(i: f32(x[i,j]) * f32(x[i,j]))', dict(x=x), y=reduced(x.astype(np.float32) ** 2, (0,), 'sum'))


def chains(t, shape, seed):
    """16-bit floats of which totals of totals are made; w[j] and z[i] do not change along the terms, or along the columns."""
    a = (sample('i32', shape, seed) / 4).astype(DTYPES[t]); b = a.astype(np.float32)
    w = (sample('i32', shape[1:], seed + 1) / 4).astype(DTYPES[t]); z = sample('f32', shape[:1], seed + 2)
    m = tree(b, np.add) / np.float32(len(b)); d = b - m
    ok('y[j] = mean(i: (f32(a[i,j]) - mean(k: f32(a[k,j]))) ** 2)', dict(a=a), y=tree(d * d, np.add) / np.float32(len(b)))
    ok('y[j] = max(i: abs(f32(a[i,j]) - sqrt(abs(f32(w[j]))) - z[i]))', dict(a=a, w=w, z=z), y=np.abs(b - np.sqrt(np.abs(w.astype(np.float32))) - z[:, None]).max(0))
    ok('y[i,j] = %s((f32(a[i,j]) - mean(k: f32(a[k,j]))) * z[i])' % t, dict(a=a, z=z), y=(d * z[:, None]).astype(DTYPES[t]))
    s = np.float32(3) + np.abs(b).max(0)
    ok('y[i,j] = f32(a[i,j]) / (3 + max(k: abs(f32(a[k,j]))))', dict(a=a), y=b / s)
    ok('y[j] = sum(i: f32(a[i,j]) / (3 + max(k: abs(f32(a[k,j])))))', dict(a=a), y=tree(b / s, np.add))


def cases():
    begin('reductions_narrow', __doc__.replace('\n', ' '))
    seed = 0
    for t in ['u8', 'f16', 'bool', 'i16', 'bf16', 'i8', 'f32', 'u16', 'i64', 'f64']:
        for shape in COLUMNS[seed % 2::2]: every(t, shape, 0, seed); seed += 1
        for shape in ROWS[seed % 3::3]: every(t, shape, 1, seed); seed += 1
    for t, shape in (('u8', (5, 64)), ('i8', (3, 1040)), ('u16', (9, 40)), ('bool', (6, 36))): wide(t, shape, seed); seed += 1
    for t, shape in (('f16', (9, 24)), ('bf16', (130, 32)), ('f16', (40, 5)), ('f16', (300, 16))): chains(t, shape, seed); seed += 1
    # a middle axis; columns of a part; other orders of the result
    x = sample('f16', (3, 33, 10), 5); ok('y[b,j] = sum(i: x[b,i,j])', dict(x=x), y=reduced(x, (1,), 'sum'))
    x = sample('u8', (4, 20, 8), 6); ok('y[j,b] = sum(i: x[b,i,j])', dict(x=x), y=reduced(x, (1,), 'sum').T)
    x = sample('i16', (5, 6, 4, 8), 7); ok('y[b,j] = sum(i, k: x[b,i,k,j])\nz[k,j] = max(b, i: x[b,i,k,j])', dict(x=x), y=reduced(x, (1, 2), 'sum'), z=reduced(x, (0, 1), 'max'))
    x = sample('f16', (21, 18), 8); ok('y[j] = sum(i: x[i,j+2]) where j in 0..16', dict(x=x), y=reduced(x[:, 2:], (0,), 'sum'))
    ok('y[j] = sum(i: x[i,j+1]) where j in 0..16', dict(x=x), y=reduced(x[:, 1:17], (0,), 'sum'))
    ok('y[j] = sum(i: x[i,15-j]) where j in 0..16', dict(x=x), y=reduced(x[:, 15::-1], (0,), 'sum'))
    ok('y[j] = sum(i in 3..20: x[i,j])', dict(x=x), y=reduced(x[3:20], (0,), 'sum'))
