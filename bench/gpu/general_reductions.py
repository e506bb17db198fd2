"""Reductions and chains of them along any axis. general_work.py says what a Work is."""
from general_work import Work, again


def softmax(axis):
    def values(xp, v):
        e = xp.exp(v['x'] - v['x'].max(axis, keepdims=True))
        return e / e.sum(axis, keepdims=True)
    return values


def standard(axis, shape):
    """Layer norm along an axis, with a scale and an offset for each position on it."""
    def values(xp, v):
        x = v['x']
        centred = x - x.mean(axis, keepdims=True)
        spread = xp.sqrt((centred * centred).mean(axis, keepdims=True) + v['eps'])
        return centred / spread * v['g'].reshape(shape) + v['b'].reshape(shape)
    return values


def standard_torch(axis, shape):
    def values(T, v):
        var, mean = T.var_mean(v['x'], axis, correction=0, keepdim=True)
        return (v['x'] - mean) * T.rsqrt(var + v['eps']) * v['g'].reshape(shape) + v['b'].reshape(shape)

    def moved(T, v):
        x = v['x'].movedim(axis, -1).contiguous()
        return T.nn.functional.layer_norm(x, x.shape[-1:], v['g'], v['b'], v['eps']).movedim(-1, axis).contiguous()
    return {'eager': values, 'layer_norm of a transposed copy': moved}


def fused_softmax(axis):
    """CuPy's own softmax."""
    def values(cp, v):
        from cupyx.scipy.special import softmax as library
        return library(v['x'], axis=axis)
    return {'cupyx softmax': values}


for key, text, inputs, sizes, axis, length in (
        ('softmax_columns', 'e[i,j] = exp(x[i,j] - max(k: x[k,j]))\ny[i,j] = e[i,j] / sum(k: e[k,j])', 'x f32 n m',
         'n m: 37 29; 512 256; 3001 777; 16384 4096', 0, 'n'),
        ('softmax_middle', 'e[b,i,j] = exp(x[b,i,j] - max(k: x[b,k,j]))\ny[b,i,j] = e[b,i,j] / sum(k: e[b,k,j])', 'x f32 b n m',
         'b n m: 3 11 7; 8 64 128; 33 129 65; 64 4096 256', 1, 'n'),
        ('softmax_rows_bf16', 'e[i,j] = exp(f32(x[i,j]) - max(k: f32(x[i,k])))\ny[i,j] = bf16(e[i,j] / sum(k: e[i,k]))', 'x bf16 n m',
         'n m: 13 70; 128 512; 999 3001; 8192 8192', 1, None)):
    Work(key, 'reductions', text, inputs, sizes, softmax(axis), torch=lambda T, v, axis=axis: T.softmax(v['x'], axis),
         cupy=fused_softmax(axis), jax={'jit softmax': lambda jnp, v, axis=axis: __import__('jax').nn.softmax(v['x'], axis)},
         passes={'x': again(3, length)} if length else ())

Work('logsumexp_rows', 'reductions', 'm[i] = max(j: x[i,j])\ny[i] = m[i] + log(sum(j: exp(x[i,j] - m[i])))', 'x f64 n m',
     'n m: 17 33; 256 1024; 1023 4099; 8192 4096',
     lambda xp, v: xp.log(xp.exp(v['x'] - v['x'].max(1, keepdims=True)).sum(1)) + v['x'].max(1),
     torch=lambda T, v: T.logsumexp(v['x'], 1), jax={'jit logsumexp': lambda jnp, v: __import__('jax').nn.logsumexp(v['x'], 1)})

Work('logsumexp_columns', 'reductions', 'm[j] = max(i: x[i,j])\ny[j] = m[j] + log(sum(i: exp(x[i,j] - m[j])))', 'x f32 n m',
     'n m: 33 17; 1024 256; 4099 1023; 4096 16384',
     lambda xp, v: xp.log(xp.exp(v['x'] - v['x'].max(0, keepdims=True)).sum(0)) + v['x'].max(0),
     torch=lambda T, v: T.logsumexp(v['x'], 0), passes={'x': again(2, 'n')})

Work('variance_columns', 'reductions', 'mu[j] = mean(i: x[i,j])\ny[j] = mean(i: (x[i,j] - mu[j])**2)', 'x f32 n m',
     'n m: 41 19; 1024 128; 5003 301; 65536 1024', lambda xp, v: v['x'].var(0),
     torch={'eager': lambda T, v: T.var(v['x'], 0, correction=0)}, passes={'x': again(2, 'n')})

Work('variance_middle', 'reductions', 'mu[b,j] = mean(i: x[b,i,j])\ny[b,j] = mean(i: (x[b,i,j] - mu[b,j])**2)', 'x f64 b n m',
     'b n m: 3 41 7; 16 256 32; 11 503 101; 32 16384 64', lambda xp, v: v['x'].var(1),
     torch={'eager': lambda T, v: T.var(v['x'], 1, correction=0)}, passes={'x': again(2, 'n')})

NORM = 'mu[%(k)s] = mean(i: x[%(at)s])\nd[%(k)s] = sqrt(mean(i: (x[%(at)s] - mu[%(k)s])**2) + eps)\n'
Work('layer_norm_columns', 'reductions', NORM % dict(k='j', at='i,j') + 'y[i,j] = (x[i,j] - mu[j]) / d[j] * g[i] + b[i]',
     'x f32 n m; g f32 n; b f32 n', 'n m: 29 31; 256 1024; 999 2047; 4096 16384', standard(0, (-1, 1)),
     torch=standard_torch(0, (-1, 1)), numbers={'eps': 1e-5}, passes={'x': again(3, 'n')})

# A value is rounded to its type when it is assigned, so the names between are f32.
Work('layer_norm_middle_f16', 'reductions',
     'mu[b,j] = mean(i: f32(x[b,i,j]))\nd[b,j] = sqrt(mean(i: (f32(x[b,i,j]) - mu[b,j])**2) + eps)\n'
     'y[b,i,j] = f16((f32(x[b,i,j]) - mu[b,j]) / d[b,j] * g[i] + o[i])',
     'x f16 b n m; g f16 n; o f16 n', 'b n m: 3 13 9; 16 64 64; 31 97 101; 128 1024 512',
     lambda xp, v: standard(1, (-1, 1))(xp, {**v, 'b': v['o']}), numbers={'eps': 1e-5}, tolerance=1.5e-2, passes={'x': again(3, 'n')},
     torch={name: (lambda T, v, f=f: f(T, {**v, 'b': v['o']})) for name, f in standard_torch(1, (-1, 1)).items()})

Work('mean_channels', 'reductions', 'y[a,b] = mean(c, d: x[a,b,c,d])', 'x f32 a b c d', 'a b c d: 3 5 7 4; 8 16 28 28; 7 33 57 55; 64 256 64 64',
     lambda xp, v: v['x'].mean((2, 3)), torch=lambda T, v: v['x'].mean((2, 3)))

Work('mean_apart', 'reductions', 'y[a,c,e] = mean(b, d: x[a,b,c,d,e])', 'x f32 a b c d e',
     'a b c d e: 2 3 4 5 3; 8 16 8 16 8; 7 31 5 33 11; 16 64 64 64 16', lambda xp, v: v['x'].mean((1, 3)),
     torch=lambda T, v: v['x'].mean((1, 3)))

Work('argmax_rows', 'reductions', 'y[i] = argmax(j: x[i,j])', 'x f32 n m', 'n m: 9 50; 128 1000; 1021 3001; 4096 16384',
     lambda xp, v: v['x'].argmax(1), torch=lambda T, v: T.argmax(v['x'], 1), tolerance=0)

Work('argmin_columns', 'reductions', 'y[j] = argmin(i: x[i,j])', 'x f64 n m', 'n m: 50 9; 1000 128; 3001 1021; 8192 4096',
     lambda xp, v: v['x'].argmin(0), torch=lambda T, v: T.argmin(v['x'], 0), tolerance=0)

Work('norm_rows_bf16', 'reductions', 'y[i] = sqrt(sum(j: f32(x[i,j])**2))', 'x bf16 n m', 'n m: 21 45; 512 512; 1023 4097; 65536 1024',
     lambda xp, v: xp.sqrt((v['x'].astype(xp.float32) ** 2).sum(1)), tolerance=1e-3,
     torch=lambda T, v: T.linalg.vector_norm(v['x'], dim=1, dtype=T.float32))

Work('norm_all_c64', 'reductions', 'y = sqrt(sum(i: re(x[i])**2 + im(x[i])**2))', 'x c64 n', 'n: 1003; 65536; 1000003; 33554432',
     lambda xp, v: xp.sqrt((v['x'].real ** 2 + v['x'].imag ** 2).sum()), torch=lambda T, v: T.linalg.vector_norm(v['x']))

Work('min_max_mean_columns', 'reductions', 'lo[j] = min(i: x[i,j]); hi[j] = max(i: x[i,j]); av[j] = mean(i: x[i,j])', 'x f32 n m',
     'n m: 60 23; 1024 128; 3003 517; 16384 4096', lambda xp, v: (v['x'].min(0), v['x'].max(0), v['x'].mean(0)), results='lo hi av',
     torch={'aminmax, mean': lambda T, v: (*T.aminmax(v['x'], dim=0), v['x'].mean(0)),
            'amin, amax, mean': lambda T, v: (v['x'].amin(0), v['x'].amax(0), v['x'].mean(0))})

Work('min_max_sum_u8', 'reductions', 'lo[i] = min(j: x[i,j]); hi[i] = max(j: x[i,j]); s[i] = sum(j: i32(x[i,j]))', 'x u8 n m',
     'n m: 23 60; 256 1024; 517 3003; 16384 8192', lambda xp, v: (v['x'].min(1), v['x'].max(1), v['x'].sum(1, dtype=xp.int64)), results='lo hi s',
     torch={'eager': lambda T, v: (v['x'].amin(1), v['x'].amax(1), v['x'].sum(1))})

Work('sum_first_i32', 'reductions', 'y[j,k] = sum(i: x[i,j,k])', 'x i32 n m k', 'n m k: 5 7 9; 64 32 32; 101 63 65; 256 512 512',
     lambda xp, v: v['x'].sum(0, dtype=xp.int64), torch=lambda T, v: v['x'].sum(0))

Work('sum_middle_f16', 'reductions', 'y[i,k] = sum(j: x[i,j,k])', 'x f16 n m k', 'n m k: 5 7 9; 32 64 32; 63 101 65; 256 1024 512',
     lambda xp, v: v['x'].sum(1), torch=lambda T, v: v['x'].sum(1))

Work('sum_last_i64', 'reductions', 'y[i,j] = sum(k: x[i,j,k])', 'x i64 n m k', 'n m k: 5 7 9; 64 64 32; 101 63 65; 1024 1024 32',
     lambda xp, v: v['x'].sum(2), torch=lambda T, v: v['x'].sum(2))

Work('count_columns', 'reductions', 'y[j] = sum(i: x[i,j])', 'x bool n m', 'n m: 77 31; 1024 256; 5001 1003; 65536 2048',
     lambda xp, v: v['x'].sum(0), torch=lambda T, v: v['x'].sum(0))

Work('any_all_rows', 'reductions', 'p[i] = any(j: x[i,j]); q[i] = all(j: x[i,j] || z[i])', 'x bool n m; z bool n',
     'n m: 31 7; 256 1024; 1003 5001; 16384 8192',
     lambda xp, v: (v['x'].any(1), (v['x'] | v['z'][:, None]).all(1)), results='p q',
     torch=lambda T, v: (v['x'].any(1), (v['x'] | v['z'][:, None]).all(1)))


def cosine(xp, v):
    a, b = v['a'], v['b']
    return (a * b).sum(1) / xp.sqrt((a * a).sum(1) * (b * b).sum(1))


Work('cosine_rows', 'reductions', 'y[i] = sum(j: a[i,j]*b[i,j]) / sqrt(sum(j: a[i,j]**2) * sum(j: b[i,j]**2))', 'a f32 n m; b f32 n m',
     'n m: 19 37; 512 512; 1021 2049; 32768 1024', cosine,
     torch={'cosine_similarity': lambda T, v: T.nn.functional.cosine_similarity(v['a'], v['b'], dim=1), 'sums': cosine})
