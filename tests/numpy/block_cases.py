"""Arrays larger than the machine's blocks and tasks, made by the programs themselves. Results are integers, so they are exact."""
from caselib import *
from range_cases import at, moved, MODES

i64, f64, f32 = np.int64, np.float64, np.float32


def grid(rows, columns, t=i64, a=31, b=7919, m=1009):
    i, j = np.meshgrid(np.arange(rows), np.arange(columns), indexing='ij'); return ((i * a + j * b) % m).astype(t)


def made(name, rows, columns, t='i64', a=31, b=7919, m=1009):
    return '%s[i,j] = %s((i * %d + j * %d) %% %d) where i in 0..%d, j in 0..%d\n' % (name, t, a, b, m, rows, columns)


def digest(y, name='y'):
    """Program lines and results that distinguish arrays of two axes."""
    y = y.astype(f64); i, j = np.meshgrid(np.arange(y.shape[0]), np.arange(y.shape[1]), indexing='ij')
    text = 's = sum(i, j: i64(%s[i,j]) * (i %% 13 + 1) * (j %% 17 + 1))\nt = sum(j, i: i64(%s[i,j]) * ((i + j) %% 7))\n' % (name, name)
    return text, dict(s=i64((y * (i % 13 + 1) * (j % 17 + 1)).sum()), t=i64((y * ((i + j) % 7)).sum()))


def check(text, y, name='y'):
    more, outs = digest(y, name); ok(text + more, {}, **outs)


SIZES = [(1, 5000), (5000, 1), (3, 1700), (1700, 3), (64, 1025), (257, 300), (1024, 33)]


def maps():
    for rows, columns in SIZES:
        x = grid(rows, columns); v = grid(rows, columns, f32)
        check(made('x', rows, columns) + 'y[j,i] = x[i,j] * 2 + j\n', (x * 2 + np.arange(columns)).T)
        check(made('x', rows, columns) + 'in_[i] = sum(j: x[i,j])\ny[i,j] = x[i,j] + in_[i]\n', x + x.sum(1, keepdims=True))
        check(made('x', rows, columns) + 'c[j] = sum(i: x[i,j])\ny[i,j] = x[i,j] * 3 - c[j]\n', x * 3 - x.sum(0))
        check(made('x', rows, columns) + 'm[j] = max(i: x[i,j])\nk[j] = argmin(i: x[i,j])\ny[i,j] = x[i,j] + m[j] * 2 + k[j]\n', x + x.max(0) * 2 + x.argmin(0))
        check(made('x', rows, columns) + 'm[i] = min(j: x[i,j])\nk[i] = argmax(j: x[i,j])\ny[i,j] = x[i,j] + m[i] * 2 + k[i]\n', x + (x.min(1) * 2 + x.argmax(1))[:, None])
        check(made('x', rows, columns, 'f32') + 'y[i,j] = x[i,j] > 500 ? floor(x[i,j] / 2) : -x[i,j]\n', np.where(v > 500, np.floor(v / 2), -v))
        check(made('x', rows, columns, 'u8', m=256) + 'y[i,j] = x[i,j] * u8(3) + u8(j % 200)\n', grid(rows, columns, np.uint8, m=256) * np.uint8(3) + (np.arange(columns) % 200).astype(np.uint8))
        check(made('x', rows, columns, 'f16', m=64) + 'y[i,j] = x[i,j] * 2 + 1\n', grid(rows, columns, m=64) * 2 + 1)
        check(made('x', rows, columns) + 'y[i,j] = x[len(x,0)-1-i, len(x,1)-1-j]\n', x[::-1, ::-1])
        total = int(x.sum()); check(made('x', rows, columns) + 's0 = sum(i, j: x[i,j])\ny[i,j] = x[i,j] + s0 % 1000\n', x + total % 1000)
        check(made('x', rows, columns) + 'y[i,j] = x[i,j]\ny[0,j] = j\ny[i,0] += 5\n', edited(x))


def edited(x):
    y = x.copy(); y[0] = np.arange(x.shape[1]); y[:, 0] += 5; return y


def stencils():
    for rows, columns in SIZES:
        x = grid(rows, columns)
        pick = lambda a, b, mode: np.array([at(x, i + a, mode) for i in range(rows)])[:, [c if 0 <= c < columns else moved(c, columns, mode) for c in (j + b for j in range(columns))]]
        for mode in MODES:
            check(made('x', rows, columns) + 'edge x %s\ny[i,j] = x[i-1,j] + 2*x[i+1,j] + 3*x[i,j-1] + 5*x[i,j+2] + 7*x[i-2,j-1]\n' % mode,
                  pick(-1, 0, mode) + 2 * pick(1, 0, mode) + 3 * pick(0, -1, mode) + 5 * pick(0, 2, mode) + 7 * pick(-2, -1, mode))
        y = np.zeros_like(x)
        if rows > 2 and columns > 2: y[1:-1, 1:-1] = x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + 2 * x[1:-1, 2:]
        check(made('x', rows, columns) + 'y[i,j] = x[i-1,j] + x[i+1,j] + x[i,j-1] + 2*x[i,j+1] else 0\n', y)
        check(made('x', rows, columns) + 'y[i,j] = x[i-1,j] + x[i+1,j] + x[i,j-1] + 2*x[i,j+1] else x[i,j]\n', np.where(inside(rows, columns), y, x))
        p = np.pad(x, 2); check(made('x', rows, columns) + 'edge x fill(0)\ny[i,j] = sum(a in -2..3, b in -2..3: x[i+a,j+b] * (a + 3))\n',
                                sum(p[a + 2:a + 2 + rows, b + 2:b + 2 + columns] * (a + 3) for a in range(-2, 3) for b in range(-2, 3)))


def inside(rows, columns):
    m = np.zeros((rows, columns), bool); m[1:-1, 1:-1] = True; return m if rows > 2 and columns > 2 else np.zeros((rows, columns), bool)


def moves():
    n = 6000; k = np.arange(n); x = (k * 7919) % 1009
    base = 'x[i] = (i * 7919) % 1009 where i in 0..6000\n'
    one = lambda y: dict(s=i64((y * (np.arange(len(y)) % 13 + 1)).sum()), n=i64(len(y)), first=i64(y[0]), last=i64(y[-1]))
    tail = 's = sum(i: y[i] * (i % 13 + 1))\nn = len(y, 0)\nfirst = y[0]\nlast = y[n-1]\n'
    for body, y in (('y[i] = x[3*i] + x[3*i+2]', x[0::3] + x[2::3]), ('y[i] = x[5999-i]', x[::-1]), ('y[i] = x[5998-2*i]', x[5998::-2]), ('y[i] = sum(k in 0..7: x[i+k] * k)', np.convolve(x, np.arange(7)[::-1], 'valid')),
                    ('y[i] = max(k in 0..64: x[64*i+k])', x[:5952].reshape(-1, 64).max(1)), ('y[i] = x[(i*i) % 6000] where i in 0..6000', x[(k * k) % n]),
                    ('y[i] = i % 3 == 0 ? x[i] : i % 3 == 1 ? -x[i] : i', np.where(k % 3 == 0, x, np.where(k % 3 == 1, -x, k))),
                    ('edge x wrap\ny[i] = x[i + 2500] + x[i - 7000]', np.roll(x, -2500) + np.roll(x, 7000)), ('y[i] = x[i+100] - x[i] where i in 0..5900', x[100:] - x[:-100]),
                    ('y[i] = sum(j in i..i+5: x[j]) where i in 0..5995', np.array([x[q:q + 5].sum() for q in range(5995)]))):
        ok(base + body + '\n' + tail, {}, **one(y))
    ok(base + 'var y: i64[6000]\ny[(i*7) % 6000] = x[i] where i in 0..6000\n' + tail, {}, **one(scattered(x, (k * 7) % n)))
    ok(base + 'var y: i64[97]\ny[x[i] % 97] += x[i]\ny[x[i] % 97] max= 3000\n' + tail, {}, **one(np.maximum(np.bincount(x % 97, x, 97).astype(i64), 3000)))
    ok(base + 'var y: i64[97]\ny[i % 97] = x[i]\n' + tail, {}, **one(np.array([x[np.nonzero(k % 97 == q)[0][-1]] for q in range(97)])))
    ok(base + 'var y: f32[50]\ny[x[i] % 50] += 1\ns = sum(i: i64(y[i]) * i)', {}, s=i64((np.bincount(x % 50, minlength=50) * np.arange(50)).sum()))
    ok(base + 'c[i] = sum(k in 0..i+1: x[k] % 10)\ns = sum(i: c[i] % 100)\nlast = c[5999]', {}, s=i64((np.cumsum(x % 10) % 100).sum()), last=i64((x % 10).sum()))
    a = grid(150, 90, f64, m=19); b = grid(90, 110, f64, m=17)
    check(made('a', 150, 90, 'f64', m=19) + made('b', 90, 110, 'f64', m=17) + 'y[i,j] = sum(k: a[i,k] * b[k,j])\n', a @ b)
    check(made('a', 150, 90, 'f32', m=19) + made('b', 110, 90, 'f32', m=17) + 'y[i,j] = sum(k: a[i,k] * b[j,k])\n', a @ grid(110, 90, f64, m=17).T)
    ok('x[t,i,j] = (t * 3 + i * 7 + j) % 101 where t in 0..30, i in 0..40, j in 0..50\na[i] = sum(t, j: x[t,i,j])\nb[t,j] = max(i: x[t,i,j])\n'
       's = sum(i: a[i] * i)\nu = sum(t, j: b[t,j] * (t + 2 * j))\nv = sum(j, t, i: x[t,i,j] * (t + i + j))', {}, **cube())


def cube():
    t, i, j = np.meshgrid(np.arange(30), np.arange(40), np.arange(50), indexing='ij'); x = (t * 3 + i * 7 + j) % 101
    b = x.max(1); return dict(s=i64((x.sum((0, 2)) * np.arange(40)).sum()), u=i64((b * (t[:, 0] + 2 * j[:, 0])).sum()), v=i64((x * (t + i + j)).sum()))


def never_run():
    """Code that never runs, with a variable that nothing else sets."""
    x = arr('f64', [1, 2]); ok('''def f(n) {
  for t in 0..2 {
    if n > 1 { if n > 2 { break } else { break }; var w; s = x[t + w] }
  }
  return n
}
y = f(2)
r[i] = x[i] + 1''', dict(x=x), y=2, r=x + 1)


def scattered(x, p): y = np.zeros(len(x), i64); y[p] = x; return y


def cases():
    begin('blocks', 'Arrays larger than blocks and tasks: maps, rows, columns, partial writes.'); maps(); never_run()
    begin('blocks_stencils', 'Stencils larger than blocks: interior and every kind of border.'); stencils()
    begin('blocks_moves', 'Strides, windows, gathers, scatters, running sums and products of matrices larger than blocks.'); moves()
