"""Maps: every element of a result on its own, whatever its type and layout. general_work.py says what a Work is."""
from general_work import Work, kernel


def permutation(key, dtype, order, sizes):
    """A copy with the axes in another order, as a user writes it."""
    names = 'abcde'[:len(order)]
    result = ''.join(names[k] for k in order)
    Work(key, 'maps', 'y[%s] = x[%s]' % (','.join(result), ','.join(names)), 'x %s %s' % (dtype, ' '.join(names)), sizes,
         lambda xp, v: xp.ascontiguousarray(v['x'].transpose(order)), numpy_ways=False,
         torch={'permute': lambda T, v: v['x'].permute(order).contiguous()},
         cupy={'transpose': lambda cp, v: cp.ascontiguousarray(v['x'].transpose(order))}, jax={'jit': lambda jnp, v: v['x'].transpose(order)},
         tolerance=0)


permutation('permute_cab_f32', 'f32', (2, 0, 1), 'a b c: 5 7 9; 64 64 64; 101 203 307; 512 512 256')
permutation('permute_cba_f64', 'f64', (2, 1, 0), 'a b c: 5 7 9; 64 64 64; 103 201 305; 256 512 256')
permutation('channels_last_f16', 'f16', (0, 2, 3, 1), 'a b c d: 2 3 7 9; 4 32 28 28; 3 65 57 55; 32 64 224 112')
permutation('channels_first_u8', 'u8', (0, 3, 1, 2), 'a b c d: 2 7 9 3; 4 64 64 3; 3 257 255 3; 64 1024 1024 3')
permutation('permute_five', 'f32', (0, 3, 1, 4, 2), 'a b c d e: 2 3 4 5 3; 4 8 8 8 8; 5 11 13 17 9; 16 32 64 32 64')
permutation('permute_dcba_i64', 'i64', (3, 2, 1, 0), 'a b c d: 3 5 4 6; 16 16 16 16; 23 31 29 27; 64 64 64 128')
permutation('transpose_c64', 'c64', (1, 0), 'a b: 13 29; 256 256; 1001 1003; 8192 4096')

Work('several_results', 'maps', 'p[i] = a[i] + b[i]; q[i] = a[i] - b[i]; r[i] = a[i] * b[i]', 'a f32 n; b f32 n', 'n: 1003; 65536; 1000003; 67108864',
     lambda xp, v: (v['a'] + v['b'], v['a'] - v['b'], v['a'] * v['b']), results='p q r',
     torch=lambda T, v: (v['a'] + v['b'], v['a'] - v['b'], v['a'] * v['b']),
     cupy=kernel('ElementwiseKernel', 'T a, T b', 'T p, T q, T r', 'p = a + b; q = a - b; r = a * b', 'several', names='a b'))

Work('polar', 'maps', 'r[i,j] = sqrt(x[i,j]**2 + y[i,j]**2); t[i,j] = atan2(y[i,j], x[i,j])', 'x f32 n m; y f32 n m',
     'n m: 13 31; 256 256; 1001 1003; 8192 4096',
     lambda xp, v: (xp.sqrt(v['x'] ** 2 + v['y'] ** 2), xp.arctan2(v['y'], v['x'])), results='r t',
     torch=lambda T, v: (T.sqrt(v['x'] ** 2 + v['y'] ** 2), T.atan2(v['y'], v['x'])),
     cupy=kernel('ElementwiseKernel', 'T x, T y', 'T r, T t', 'r = sqrt(x*x + y*y); t = atan2(y, x)', 'polar', names='x y'))

Work('complex_multiply_add', 'maps', 'z[i] = a[i] * b[i] + c[i]', 'a c64 n; b c64 n; c c64 n', 'n: 1003; 65536; 1000003; 33554432',
     lambda xp, v: v['a'] * v['b'] + v['c'], results='z', torch=lambda T, v: v['a'] * v['b'] + v['c'],
     cupy=kernel('ElementwiseKernel', 'T a, T b, T c', 'T z', 'z = a * b + c', 'complex_add', names='a b c'))

Work('complex_multiply_c128', 'maps', 'z[i,j] = a[i,j] * b[j]', 'a c128 n m; b c128 m', 'n m: 23 19; 256 128; 1001 503; 4096 4096',
     lambda xp, v: v['a'] * v['b'], results='z', torch=lambda T, v: v['a'] * v['b'])

Work('rotate_c128', 'maps', 'in a[n]\nz[i] = conj(a[n-1-i]) * 1j', 'a c128 n', 'n: 301; 65536; 1000003; 16777216',
     lambda xp, v: v['a'][::-1].conj() * 1j, results='z', torch={'flip': lambda T, v: v['a'].flip(0).conj() * 1j})

Work('blend_u8', 'maps', 'y[i,j] = u8((i32(a[i,j])*3 + i32(b[i,j])) // 4)', 'a u8 n m; b u8 n m', 'n m: 23 31; 512 512; 2001 1003; 16384 8192',
     lambda xp, v: ((v['a'].astype(xp.int32) * 3 + v['b'].astype(xp.int32)) // 4).astype(xp.uint8),
     torch=lambda T, v: T.div(v['a'].to(T.int32) * 3 + v['b'].to(T.int32), 4, rounding_mode='floor').to(T.uint8),
     cupy=kernel('ElementwiseKernel', 'T a, T b', 'T y', 'y = (a * 3 + b) / 4', 'blend', names='a b'))

Work('add_saturated_i16', 'maps', 'y[i] = i16(clamp(i32(a[i]) + i32(b[i]), -32768, 32767))', 'a i16 n; b i16 n', 'n: 1003; 65536; 1000003; 134217728',
     lambda xp, v: xp.clip(v['a'].astype(xp.int32) + v['b'].astype(xp.int32), -32768, 32767).astype(xp.int16),
     torch=lambda T, v: (v['a'].to(T.int32) + v['b'].to(T.int32)).clamp(-32768, 32767).to(T.int16))

Work('axpy_f16', 'maps', 'y[i] = 2.5 * x[i] + z[i]', 'x f16 n; z f16 n', 'n: 1003; 65536; 1000003; 134217728',
     lambda xp, v: 2.5 * v['x'] + v['z'],
     torch={'eager': lambda T, v: 2.5 * v['x'] + v['z'], 'add alpha': lambda T, v: T.add(v['z'], v['x'], alpha=2.5)},
     cupy=kernel('ElementwiseKernel', 'T x, T z', 'T y', 'y = (float)x * 2.5f + (float)z', 'axpy', names='x z'))

Work('gelu_bf16', 'maps', 'y[i,j] = 0.5*x[i,j] * (1 + tanh(0.7978845608028654 * (x[i,j] + 0.044715*x[i,j]**3)))', 'x bf16 n m',
     'n m: 23 31; 512 512; 2001 1003; 16384 8192', lambda xp, v: 0.5 * v['x'] * (1 + xp.tanh(0.7978845608028654 * (v['x'] + 0.044715 * v['x'] ** 3))),
     torch={'gelu': lambda T, v: T.nn.functional.gelu(v['x'], approximate='tanh')})

Work('flip_both', 'maps', 'in x[n, m]\ny[i,j] = x[n-1-i,m-1-j]', 'x f32 n m', 'n m: 23 31; 512 512; 2001 1003; 8192 8192',
     lambda xp, v: v['x'][::-1, ::-1].copy(), torch={'flip': lambda T, v: v['x'].flip((0, 1))}, tolerance=0)

Work('every_second', 'maps', 'y[i,j] = x[2*i,2*j] + x[2*i+1,2*j+1]', 'x f32 2*n 2*m', 'n m: 11 15; 256 256; 1001 503; 4096 4096',
     lambda xp, v: v['x'][::2, ::2] + v['x'][1::2, 1::2], torch=lambda T, v: v['x'][::2, ::2] + v['x'][1::2, 1::2])

Work('gather_rows', 'maps', 'y[i,j] = x[p[i],j]', 'x f32 n m; p i64<n k', 'n m k: 23 31 40; 1000 64 512; 5003 301 3001; 100000 256 262144',
     lambda xp, v: v['x'][v['p']], tolerance=0, moved=lambda z: (4 * z['m'] * min(z['n'], z['k']) + 8 * z['k'], 4 * z['m'] * z['k']),
     torch={'index': lambda T, v: v['x'][v['p']], 'embedding': lambda T, v: T.nn.functional.embedding(v['p'], v['x'])},
     cupy={'take': lambda cp, v: v['x'].take(v['p'], 0)})

Work('embedding_bf16', 'maps', 'y[b,i,j] = x[p[b,i],j] + q[i,j]', 'x bf16 n m; p i32<n b k; q bf16 k m',
     'n m b k: 23 31 2 9; 1000 128 4 64; 5003 301 3 101; 50000 1024 64 1024',
     lambda xp, v: v['x'][v['p']] + v['q'],
     moved=lambda z: (2 * z['m'] * (min(z['n'], z['b'] * z['k']) + z['k']) + 4 * z['b'] * z['k'], 2 * z['m'] * z['b'] * z['k']),
     torch={'embedding, +': lambda T, v: T.nn.functional.embedding(v['p'], v['x']) + v['q']})

Work('upsample', 'maps', 'y[b,c,i,j] = x[b,c,i//2,j//2] where i in 0..2*len(x,2), j in 0..2*len(x,3)', 'x f32 b c n m',
     'b c n m: 2 3 7 9; 2 16 32 32; 3 17 55 57; 16 64 128 128',
     lambda xp, v: v['x'].repeat(2, 2).repeat(2, 3), numpy_ways=False, tolerance=0,
     torch={'interpolate': lambda T, v: T.nn.functional.interpolate(v['x'], scale_factor=2, mode='nearest')},
     cupy={'repeat': lambda cp, v: v['x'].repeat(2, 2).repeat(2, 3)}, jax={'jit repeat': lambda jnp, v: v['x'].repeat(2, 2).repeat(2, 3)})

Work('choose', 'maps', 'y[i,j] = m[i,j] ? a[i,j] : b[j]', 'm bool n k; a f32 n k; b f32 k', 'n k: 23 31; 512 512; 2001 1003; 8192 8192',
     lambda xp, v: xp.where(v['m'], v['a'], v['b']), torch=lambda T, v: T.where(v['m'], v['a'], v['b']), tolerance=0)

Work('add_rank5', 'maps', 'y[a,b,c,d,e] = x[a,b,c,d,e] * s[b,d] + o[c,e]', 'x f32 a b c d e; s f32 b d; o f32 c e',
     'a b c d e: 2 3 4 5 3; 4 8 8 8 8; 5 11 13 17 9; 16 32 64 32 64',
     lambda xp, v: v['x'] * v['s'][None, :, None, :, None] + v['o'][None, None, :, None, :],
     torch=lambda T, v: v['x'] * v['s'][None, :, None, :, None] + v['o'][None, None, :, None, :])

Work('hash_i64', 'maps', 'y[i] = (x[i] ^ (x[i] >> 7)) * 2654435761 % 1000003', 'x i64 n', 'n: 1003; 65536; 1000003; 33554432',
     lambda xp, v: (v['x'] ^ (v['x'] >> 7)) * 2654435761 % 1000003, torch=lambda T, v: (v['x'] ^ (v['x'] >> 7)) * 2654435761 % 1000003)


def gray(xp, v, wide):
    r, g, b = (wide(v['x'][..., k]) for k in range(3))
    return 77 * r + 150 * g + 29 * b


Work('gray', 'maps', 'y[i,j] = u8((77*i32(x[i,j,0]) + 150*i32(x[i,j,1]) + 29*i32(x[i,j,2])) // 256)', 'x u8 n m 3',
     'n m: 23 31; 512 512; 2001 1003; 8192 8192', lambda xp, v: (gray(xp, v, lambda x: x.astype(xp.int32)) // 256).astype(xp.uint8),
     torch=lambda T, v: (gray(T, v, lambda x: x.to(T.int32)) >> 8).to(T.uint8))
