"""Sums of products of two arrays. The numbers are small integers, so that sums in any order are exact: the results are equal with a
BLAS, without one (LEAT_BLAS=none), and for arrays that are too small for either."""
from caselib import *
from block_cases import made, grid, digest

i64, f64 = np.int64, np.float64


def check(text, y, name='y'):
    more, outs = digest(y, name); ok(text + more, {}, **outs)


def pair(shapes, t, a_rows, b_rows):
    """Two matrices and their text, rows by terms and terms by columns, each as it is or transposed."""
    m, k, n = shapes; ma, mb = 19, 13
    a = grid(m, k, f64, m=ma) if a_rows else grid(k, m, f64, m=ma); b = grid(k, n, f64, m=mb) if b_rows else grid(n, k, f64, m=mb)
    return a if a_rows else a.T, b if b_rows else b.T, made('a', *a.shape, t, m=ma) + made('b', *b.shape, t, m=mb)


SIZES = [(40, 50, 60), (33, 47, 129), (300, 270, 259), (1, 600, 70), (600, 90, 1), (5, 400, 90), (700, 4, 65), (16, 9000, 17), (3, 3, 3), (64, 2000, 4)]


def matrices():
    for number, size in enumerate(SIZES):
        for a_rows in (True, False):
            for b_rows in (True, False):
                t = ('f32', 'f64', 'i32', 'i64', 'f32')[(number + 2 * a_rows + b_rows) % 5]
                a, b, text = pair(size, t, a_rows, b_rows); of = ('a[i,k]' if a_rows else 'a[k,i]', 'b[k,j]' if b_rows else 'b[j,k]')
                body = 'sum(k: %s * %s)' % (of if number % 2 else of[::-1])
                check(text + 'y[i,j] = %s\n' % body, a @ b); check(text + 'y[j,i] = %s\n' % body, (a @ b).T)


def types():
    for t in ('i8', 'i16', 'i32', 'i64', 'u8', 'u16', 'u32', 'u64', 'f16', 'bf16', 'f32', 'f64'):
        m = 3 if t in ('bf16', 'f16', 'i8') else 9; i, k = np.meshgrid(np.arange(35), np.arange(41), indexing='ij')
        a = (i * 5 + k * 7) % m; b = (i * 3 + k * 2) % m
        text = 'a[i,j] = %s((i * 5 + j * 7) %% %d) where i in 0..35, j in 0..41\nb[i,j] = %s((i * 3 + j * 2) %% %d) where i in 0..35, j in 0..41\n' % (t, m, t, m)
        check(text + 'y[i,j] = sum(k: a[i,k] * b[j,k])\n', (a @ b.T).astype(DTYPES[t]) if t in ('f16', 'bf16') else a @ b.T)
    big = 'a[i,j] = i32(i * 60013 + j * 70001) where i in 0..40, j in 0..50\nb[i,j] = i32(i * 50021 - j * 90001) where i in 0..50, j in 0..45\n'
    i, j = np.meshgrid(np.arange(40), np.arange(50), indexing='ij'); a = (i * 60013 + j * 70001).astype(np.int32)
    i, j = np.meshgrid(np.arange(50), np.arange(45), indexing='ij'); b = (i * 50021 - j * 90001).astype(np.int32)
    y = (a[:, :, None] * b[None]).astype(i64).sum(1); i, j = np.meshgrid(np.arange(40), np.arange(45), indexing='ij')
    ok(big + 'y[i,j] = sum(k: a[i,k] * b[k,j])\ns = sum(i, j: y[i,j] % 1000 * (i + 2 * j))\n', {}, s=i64((y % 1000 * (i + 2 * j)).sum()))


def around():
    """Expressions around the sum, and inside it."""
    a, b, text = pair((60, 70, 80), 'f64', True, True); c = grid(60, 80, f64, m=23); d = np.arange(70) % 5; e = np.arange(80) % 7 - 3; p = a @ b
    text += made('c', 60, 80, 'f64', m=23) + 'd[k] = f64(k % 5) where k in 0..70\ne[j] = f64(j % 7 - 3) where j in 0..80\nalpha = f64(2)\nbeta = f64(-3)\n'
    for body, y in (('2 * sum(k: a[i,k] * b[k,j])', 2 * p), ('-sum(k: a[i,k] * b[k,j])', -p), ('alpha * sum(k: a[i,k] * b[k,j]) + beta * c[i,j]', 2 * p - 3 * c),
                    ('c[i,j] - sum(k: a[i,k] * b[k,j])', c - p), ('max(sum(k: a[i,k] * b[k,j]) + e[j] * 900, 5000)', np.maximum(p + e * 900, 5000)),
                    ('sum(k: a[i,k] * d[k] * b[k,j])', (a * d) @ b), ('sum(k: d[k] * b[k,j] * (a[i,k] + 1))', ((a + 1) * d) @ b), ('sum(k: alpha * a[i,k] * b[k,j] * e[j])', 2 * p * e),
                    ('sum(k: abs(a[i,k] - 9) * b[k,j])', abs(a - 9) @ b), ('sum(k: a[i,k] * (k % 2 == 0 ? b[k,j] : 0))', a[:, ::2] @ b[::2]), ('sum(k: a[i,k] * b[k,j] - d[k] * a[i,k] * (b[k,j] + 1))', p - (a * d) @ (b + 1)),
                    ('sum(k in 3..50: a[i,k] * b[k,j])', a[:, 3:50] @ b[3:50]), ('sum(k in 3..50 by 4: a[i,k] * b[k,j])', a[:, 3:50:4] @ b[3:50:4]),
                    ('sum(k: a[59-i,k] * b[69-k,j])', a[::-1] @ b[::-1]), ('sum(k: a[i,k] * b[k,j]) + sum(k in 0..60: c[i,k] * c[k,j])', p + c[:, :60] @ c),
                    ('4 * (sum(k: a[i,k] * b[k,j]) / 4)', p), ('0 * sum(k: a[i,k] * b[k,j]) + c[i,j]', c)):
        check(text + 'y[i,j] = %s\n' % body, y)
    g, n, apart = a - 9, a.sum(1), abs(a[:, None] - a).sum(2)  # both sides, or totals, are the same but for an index
    check(text + 'y[i,j] = sum(k: (a[i,k] - 9) * (a[j,k] - 9))\n', g @ g.T)
    check(text + 'y[i,j] = sum(k: (a[i,k] - 9) * (a[j,k] - 9)) where j in 0..50\n', g @ g[:50].T)
    check(text + 'n[i] = sum(k: a[i,k])\ny[i,j] = sum(k: abs(a[i,k] - a[j,k])) * (n[i] - 2 * n[j])\n', apart * (n[:, None] - 2 * n))
    start = text + 'y[i,j] = c[i,j]\n'
    for body, y in (('y[i,j] += a[i,k] * b[k,j]', c + p), ('y[i,j] = alpha * sum(k: a[i,k] * b[k,j]) + beta * y[i,j]', 2 * p - 3 * c), ('y[i,j] = y[i,j] - 2 * sum(k: a[i,k] * b[k,j])', c - 2 * p),
                    ('y[i,j] = 0 * y[i,j] + sum(k: a[i,k] * b[k,j])', p), ('z[i,j] = y[i,j]\ny[i,j] += a[i,k] * b[k,j]\ny[i,j] = y[i,j] - z[i,j]', p),
                    ('y[i+2,j] = sum(k: a[i,k] * b[k,j]) where i in 0..50', np.concatenate([c[:2], p[:50], c[52:]])), ('for n in 0..3 { y[i,j] = y[i,j] + sum(k: a[i,k] * b[k,j]) }', c + 3 * p),
                    ('for n in 0..60 { y[n,j] = sum(k: a[n,k] * b[k,j]) }', p), ('q[i,j] = y[i,j]\nfor n in 0..2 { y[i,j] = sum(k in 0..60: q[i,k] * q[k,j]) }', c[:, :60] @ c)):
        check(start + body + '\n', y)
    hole = text + 'a[3,4] = nan\ny[i,j] = 0 * sum(k: a[i,k] * b[k,j])\nn = sum(i, j: i64(isnan(y[i,j])))\n'; ok(hole, {}, n=i64(80))


def vectors():
    for t in ('f32', 'f64', 'i32'):
        for m, n in ((70, 600), (600, 70), (4, 9000), (9000, 4), (257, 259)):
            a = grid(m, n, f64, m=19); text = made('a', m, n, t, m=19); x = np.arange(n) % 11; z = np.arange(m) % 7
            lines = 'x[j] = %s(j %% 11) where j in 0..%d\nz[i] = %s(i %% 7) where i in 0..%d\n' % (t, n, t, m)
            tail = 's = sum(i: i64(u[i]) * (i % 13 + 1))\nr = sum(j: i64(v[j]) * (j % 17 + 1))\n'; u = a @ x; v = z @ a
            ok(text + lines + 'u[i] = sum(j: a[i,j] * x[j])\nv[j] = sum(i: z[i] * a[i,j])\n' + tail, {}, s=i64((u * (np.arange(m) % 13 + 1)).sum()), r=i64((v * (np.arange(n) % 17 + 1)).sum()))


def more_axes():
    t, i, j = np.meshgrid(np.arange(9), np.arange(40), np.arange(50), indexing='ij'); a = (t * 3 + i * 7 + j) % 11
    t, i, j = np.meshgrid(np.arange(9), np.arange(50), np.arange(30), indexing='ij'); b = (t * 5 + i + j * 2) % 13; w = b[0]
    text = 'a[t,i,j] = f32((t * 3 + i * 7 + j) % 11) where t in 0..9, i in 0..40, j in 0..50\nb[t,i,j] = f32((t * 5 + i + j * 2) % 13) where t in 0..9, i in 0..50, j in 0..30\n'
    for left, body, y in (('t,i,j', 'sum(k: a[t,i,k] * b[t,k,j])', a @ b), ('i,t,j', 'sum(k: a[t,i,k] * b[t,k,j])', (a @ b).transpose(1, 0, 2)), ('t,i,j', 'sum(k: a[t,i,k] * b[0,k,j])', a @ w),
                          ('j,t,i', 'sum(k: b[0,k,j] * a[t,i,k])', (a @ w).transpose(2, 0, 1)), ('i,k,j', 'sum(t: a[t,i,k] * b[t,k,j])', np.einsum('tik,tkj->ikj', a, b)),
                          ('s,i,j', 'sum(t, k: a[t,i,k] * b[t,k,j]) where s in 0..1', np.einsum('tik,tkj->ij', a, b)[None]), ('t,s,i', 'sum(k: a[t,i,k] * a[s,i,k])', np.einsum('tik,sik->tsi', a, a)),
                          ('i,l,j', 'sum(t, k: a[t,i,k] * a[t,l,k]) where j in 0..1', np.einsum('tik,tlk->il', a, a)[:, :, None]), ('...,i,j', 'sum(k: a[...,i,k] * b[...,k,j])', a @ b)):
        n = np.indices(y.shape); q = left.split(',') if '...' not in left else ['t', 'i', 'j']
        ok(text + 'y[%s] = %s\nr = sum(%s: i64(y[%s]) * (%s + 2 * %s + 3 * %s))\n' % (left, body, ', '.join(q), ','.join(q), *q), {}, r=i64((y * (n[0] + 2 * n[1] + 3 * n[2])).sum()))
    c, h, x = np.meshgrid(np.arange(8), np.arange(20), np.arange(25), indexing='ij'); image = (c * 3 + h * 7 + x) % 11; k = (np.arange(16 * 8 * 9).reshape(16, 8, 3, 3)) % 5
    y = np.einsum('cyxab,ocab->oyx', np.lib.stride_tricks.sliding_window_view(image, (3, 3), (1, 2)), k); n = np.indices(y.shape)
    ok('x[c,h,w] = f64((c * 3 + h * 7 + w) % 11) where c in 0..8, h in 0..20, w in 0..25\nf[o,c,p,q] = f64((o * 72 + c * 9 + p * 3 + q) % 5) where o in 0..16, c in 0..8, p in 0..3, q in 0..3\n'
       'y[o,h,w] = sum(c, p, q: x[c,h+p,w+q] * f[o,c,p,q])\nr = sum(o, h, w: i64(y[o,h,w]) * (o + 2 * h + 3 * w))\n', {}, r=i64((y * (n[0] + 2 * n[1] + 3 * n[2])).sum()))


def cases():
    begin('contractions', 'Products of matrices in every order, of many sizes and types.'); matrices(); types()
    begin('contractions_around', 'Expressions around and inside a sum of products; vectors; more axes.'); around(); vectors(); more_axes()
