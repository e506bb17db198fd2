"""Windows without weights: extremes, medians, sums. general_work.py says what a Work is."""
import numpy as np

from general_sums import joined, padded, shifted
from general_work import Work


def folded(f, parts):
    parts = list(parts)
    made = parts[0]
    for p in parts[1:]:
        made = f(made, p)
    return made


def pool(axes, kind, **how):
    """PyTorch's pooling over the last axes."""
    def values(T, v):
        x = v['x']
        lead = x.shape[:x.ndim - axes]
        y = getattr(T.nn.functional, '%s_pool%dd' % (kind, axes))(x.reshape(1, -1, *x.shape[x.ndim - axes:]), **how)
        return y.reshape(*lead, *y.shape[2:])
    return values


def running(xp, x, k, axis):
    """Moving sums by a cumulative sum; only for f64."""
    c = xp.cumsum(x, axis)
    lead = (slice(None),) * axis
    n = x.shape[axis]
    first = c[lead + (slice(k - 1, k),)]
    return joined(xp)([first, c[lead + (slice(k, n),)] - c[lead + (slice(0, n - k),)]], axis)


def reduced(axes, init, how, window, stride=1):
    """JAX's reduce_window over the last axes."""
    def values(jnp, v):
        import jax
        x = v['x']
        lead = (1,) * (x.ndim - axes)
        return jax.lax.reduce_window(x, np.asarray(init, x.dtype), getattr(jax.lax, how), lead + window, lead + (stride,) * axes, 'VALID')
    return {'jit reduce_window': values}


Work('max_pool2x2', 'windows', 'y[b,c,i,j] = max(p in 0..2, q in 0..2: x[b,c,2*i+p,2*j+q])', 'x f32 b c n m',
     'b c n m: 2 3 8 11; 4 16 32 32; 3 33 57 55; 32 64 128 128', lambda xp, v: folded(xp.maximum, shifted(v['x'], (2, 2), 2)),
     torch={'max_pool2d': pool(2, 'max', kernel_size=2)}, jax=reduced(2, -np.inf, 'max', (2, 2), 2))

Work('max_pool3x3_f16', 'windows',
     'edge x fill(-inf)\ny[b,c,i,j] = max(p in 0..3, q in 0..3: x[b,c,2*i+p-1,2*j+q-1]) where i in 0..(len(x,2)+1)//2, j in 0..(len(x,3)+1)//2',
     'x f16 b c n m', 'b c n m: 2 3 8 11; 4 16 32 32; 3 33 57 55; 32 64 112 112',
     lambda xp, v: folded(xp.maximum, shifted(xp.pad(v['x'], [(0, 0), (0, 0), (1, 1), (1, 1)], constant_values=-np.inf), (3, 3), 2)),
     torch={'max_pool2d': pool(2, 'max', kernel_size=3, stride=2, padding=1)})

Work('max3x3_u8', 'windows', 'y[i,j] = max(p in 0..3, q in 0..3: x[i+p,j+q])', 'x u8 n m', 'n m: 13 21; 512 512; 2001 1003; 16384 8192',
     lambda xp, v: folded(xp.maximum, shifted(v['x'], (3, 3))),
     torch={'views': lambda T, v: folded(T.maximum, shifted(v['x'], (3, 3)))}, jax=reduced(2, 0, 'max', (3, 3)),
     cupy={'maximum_filter': lambda cp, v: __import__('cupyx.scipy.ndimage').scipy.ndimage.maximum_filter(v['x'], 3)[1:-1, 1:-1]})

MEDIAN = '''def median3(a, b, c) = max(min(a, b), min(max(a, b), c))
def median5(a, b, c, d, e) = median3(e, max(min(a, b), min(c, d)), min(max(a, b), max(c, d)))
'''


def median5(low, high, a, b, c, d, e):
    f, g = high(low(a, b), low(c, d)), low(high(a, b), high(c, d))
    return high(low(e, f), low(high(e, f), g))


def medians(v, xp, pad, axis):
    """A plain definition for NumPy; a network of extremes elsewhere."""
    x, lead = v['x'], (slice(None),) * axis
    if pad:
        x = joined(xp)([x[:1], x[:1], x, x[-1:], x[-1:]])
    parts = [x[lead + (slice(k, x.shape[axis] - 4 + k),)] for k in range(5)]
    return np.median(np.stack(parts), 0) if xp is np else median5(xp.minimum, xp.maximum, *parts)


Work('median5', 'windows', 'edge x clamp\n' + MEDIAN + 'y[i] = median5(x[i-2], x[i-1], x[i], x[i+1], x[i+2])', 'x f32 n',
     'n: 1003; 65536; 1000003; 67108864',
     lambda xp, v: medians(v, xp, True, 0), torch={'network': lambda T, v: medians(v, T, True, 0)},
     cupy={'median_filter': lambda cp, v: __import__('cupyx.scipy.ndimage').scipy.ndimage.median_filter(v['x'], 5, mode='nearest')})

Work('median5_columns_f64', 'windows', MEDIAN + 'y[i,j] = median5(x[i,j], x[i+1,j], x[i+2,j], x[i+3,j], x[i+4,j]) where i in 0..len(x,0)-4',
     'x f64 n m', 'n m: 21 19; 256 256; 1003 501; 4096 4096', lambda xp, v: medians(v, xp, False, 0), torch=lambda T, v: medians(v, T, False, 0))

Work('moving_sum_rows', 'windows', 'y[i,j] = sum(k in 0..15: x[i,j+k])', 'x f32 n m', 'n m: 13 40; 256 512; 1001 1003; 8192 8192',
     lambda xp, v: sum(shifted(v['x'], (15,))), torch={'avg_pool1d': lambda T, v: T.nn.functional.avg_pool1d(v['x'][:, None], 15, 1)[:, 0] * 15,
                                                       'views': lambda T, v: sum(shifted(v['x'], (15,)))}, jax=reduced(1, 0, 'add', (15,)))

Work('moving_sum_columns_f64', 'windows', 'y[i,j] = sum(k in 0..32: x[i+k,j])', 'x f64 n m', 'n m: 40 13; 512 256; 1003 1001; 8192 4096',
     lambda xp, v: sum(v['x'][k:len(v['x']) - 31 + k] for k in range(32)),
     torch={'cumsum': lambda T, v: running(T, v['x'], 32, 0), 'views': lambda T, v: sum(v['x'][k:len(v['x']) - 31 + k] for k in range(32))},
     cupy={'cumsum': lambda cp, v: running(cp, v['x'], 32, 0)})

Work('moving_sum_i32', 'windows', 'y[i] = sum(k in 0..7: x[i+k])', 'x i32 n', 'n: 1003; 65536; 1000003; 33554432',
     lambda xp, v: sum(p.astype(xp.int64) for p in shifted(v['x'], (7,))), torch=lambda T, v: sum(p.to(T.int64) for p in shifted(v['x'], (7,))))

Work('box9x9', 'windows', 'edge x clamp\ny[i,j] = mean(p in 0..9, q in 0..9: x[i+p-4,j+q-4])', 'x f32 n m',
     'n m: 21 17; 256 256; 1003 2001; 8192 8192',
     lambda xp, v: sum(shifted(sum(shifted(padded(xp, v['x'], 4, 2, 'edge'), (1, 9))), (9, 1))) / 81,
     torch={'avg_pool2d': lambda T, v: T.nn.functional.avg_pool2d(T.nn.functional.pad(v['x'][None, None], (4,) * 4, mode='replicate'), 9, 1)[0, 0],
            'apart': lambda T, v: sum(shifted(sum(shifted(T.nn.functional.pad(v['x'][None, None], (4,) * 4, mode='replicate')[0, 0], (1, 9))),
                                              (9, 1))) / 81},
     cupy={'uniform_filter': lambda cp, v: __import__('cupyx.scipy.ndimage').scipy.ndimage.uniform_filter(v['x'], 9, mode='nearest')})


def local_variance(xp, v):
    parts = list(shifted(v['x'], (5, 5)))
    mean = sum(parts) / 25
    return sum((p - mean) ** 2 for p in parts) / 25


Work('local_variance', 'windows', 'mu[i,j] = mean(p in 0..5, q in 0..5: x[i+p,j+q])\ny[i,j] = mean(p in 0..5, q in 0..5: (x[i+p,j+q] - mu[i,j])**2)',
     'x f32 n m', 'n m: 21 17; 256 256; 1003 1001; 8192 4096', local_variance, torch={'views': local_variance, 'avg_pool2d of squares': lambda T, v: (
         lambda a, b: b - a * a)(*(T.nn.functional.avg_pool2d(x[None, None], 5, 1)[0, 0] for x in (v['x'], v['x'] * v['x'])))}, tolerance=1e-3)

Work('mean_pool_volume', 'windows', 'y[b,c,h,i,j] = mean(r in 0..2, p in 0..2, q in 0..2: x[b,c,2*h+r,2*i+p,2*j+q])', 'x f32 b c d n n',
     'b c d n: 2 3 4 5; 2 8 16 16; 3 5 21 33; 8 32 64 64', lambda xp, v: sum(shifted(v['x'], (2, 2, 2), 2)) / 8,
     torch={'avg_pool3d': pool(3, 'avg', kernel_size=2), 'views': lambda T, v: sum(shifted(v['x'], (2, 2, 2), 2)) / 8})


def columns(v, width, *functions):
    """Each function's window down the columns."""
    x = v['x']
    return tuple(folded(f, (x[k:len(x) - width + 1 + k] for k in range(width))) for f in functions)


Work('min_max_columns_i16', 'windows', 'lo[i,j] = min(k in 0..5: x[i+k,j]); hi[i,j] = max(k in 0..5: x[i+k,j])', 'x i16 n m',
     'n m: 40 13; 512 256; 1003 1001; 8192 8192', lambda xp, v: columns(v, 5, xp.minimum, xp.maximum), results='lo hi',
     torch=lambda T, v: columns(v, 5, T.minimum, T.maximum))
