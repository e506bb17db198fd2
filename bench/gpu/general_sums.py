"""Sums with reuse: pairs, windows with weights, convolutions. general_work.py says what a Work is. `issue` counts the instructions of one
term."""
import numpy as np

from general_work import Work, kernel


def strips(count, each, f, join):
    """Applies f to slices of at most `each`, so that no array of all pairs is stored."""
    return join([f(slice(k, min(k + each, count))) for k in range(0, count, each)])


def rows(v, other, width):
    """How many rows of all pairs fit about 256 MB."""
    return max(1, (1 << 26) // (v[other].shape[0] * width))


def joined(xp): return xp.concatenate if hasattr(xp, 'concatenate') else xp.cat


# ---- pairs

def squares(xp, v):
    a, b = v['a'], v['b']
    return strips(len(a), rows(v, 'b', a.shape[1]), lambda s: xp.sqrt(((a[s, None, :] - b[None, :, :]) ** 2).sum(-1)), joined(xp))


def by_product(T, v):
    """The squares from a product, which loses digits where points are close."""
    a, b = v['a'], v['b']
    return ((a * a).sum(1)[:, None] + (b * b).sum(1)[None, :] - 2 * (a @ b.T)).clip(0) ** 0.5


def fused_squares(xp, v): return xp.sqrt(((v['a'][:, None, :] - v['b'][None, :, :]) ** 2).sum(-1))


def pairs(name, term, join, last, identity, turned=False):
    """CuPy's ReductionKernel over a[i,k] and b[j,k] or, turned, b[k,j], of which a copy has k as its last axis."""
    inner = kernel('ReductionKernel', 'T a, T b', 'T y', term, join, last, identity, name, names='a b', axis=2)['ReductionKernel']

    def f(cp, v):
        b = cp.ascontiguousarray(v['b'].T) if turned else v['b']
        return inner(cp, {'a': v['a'][:, None, :], 'b': b[None, :, :]})
    return {'ReductionKernel': f}


Work('distances', 'sums', 'd[i,j] = sqrt(sum(k: (a[i,k] - b[j,k])**2))', 'a f32 n k; b f32 m k',
     'n m k: 23 19 7; 256 256 32; 1001 777 33; 4096 4096 128',
     squares, results='d', torch={'cdist, direct': lambda T, v: T.cdist(v['a'], v['b'], compute_mode='donot_use_mm_for_euclid_dist'),
                                  'by a product': by_product, 'fused': fused_squares},
     cupy={**pairs('distances', '(a - b) * (a - b)', 'a + b', 'y = sqrt(a)', '0'), 'by a product': by_product},
     jax={'jit fused': fused_squares, 'jit product': by_product},
     terms=lambda z: z['n'] * z['m'] * z['k'], issue={'add': 1, 'fma': 1}, tolerance=2e-3, numpy_ways=False)

def fused_lengths(xp, v): return abs(v['a'][:, None, :] - v['b'][None, :, :]).sum(-1)


Work('manhattan_f64', 'sums', 'd[i,j] = sum(k: abs(a[i,k] - b[j,k]))', 'a f64 n k; b f64 m k', 'n m k: 23 19 7; 128 128 16; 513 301 31; 2048 2048 64',
     lambda xp, v: strips(len(v['a']), rows(v, 'b', v['a'].shape[1]), lambda s: abs(v['a'][s, None, :] - v['b'][None, :, :]).sum(-1), joined(xp)),
     results='d', torch={'cdist': lambda T, v: T.cdist(v['a'], v['b'], p=1.0), 'fused': fused_lengths},
     cupy=pairs('manhattan', 'abs(a - b)', 'a + b', 'y = a', '0'),
     jax={'jit fused': fused_lengths},
     terms=lambda z: z['n'] * z['m'] * z['k'], issue={'f64': 2})


def fused(f):
    """A way for torch.compile, which stores no array of all pairs; without it in strips."""
    return lambda T, v: f(T, v, 1 << 40) if T.compiler.is_compiling() else f(T, v)


def all_pairs(v): return max(1, (1 << 26) // (v['b'].shape[0] * v['b'].shape[1]))


def least(xp, v, each=None):
    a, b = v['a'], v['b']
    return strips(len(a), each or all_pairs(v), lambda s: xp.amin(a[s, :, None] + b[None, :, :], 1), joined(xp))


def widest(xp, v, each=None):
    a, b = v['a'], v['b']
    return strips(len(a), each or all_pairs(v), lambda s: xp.amax(xp.minimum(a[s, :, None], b[None, :, :]), 1), joined(xp))


def whole(f): return {'jit fused': lambda jnp, v: f(jnp, v, 1 << 40)}


for key, text, dtype, f, operations, issue in (
        ('min_plus', 'y[i,j] = min(k: a[i,k] + b[k,j])', 'f32', least, ('a + b', 'min(a, b)', 'y = a', '3e38'), {'add': 1, 'min': 1}),
        ('widest_path_i32', 'y[i,j] = max(k: min(a[i,k], b[k,j]))', 'i32', widest, ('min(a, b)', 'max(a, b)', 'y = a', '-2147483647'), {'imin': 2})):
    Work(key, 'sums', text, 'a %s n k; b %s k m' % (dtype, dtype), 'n m k: 21 17 9; 128 128 128; 501 333 257; 2048 2048 2048', f,
         torch={'strips': f, 'fused': fused(f)}, compiled=('fused',), cupy={'strips': f, **pairs(key, *operations, turned=True)}, jax=whole(f),
         numpy_ways=False,
         terms=lambda z: z['n'] * z['m'] * z['k'], issue=issue)


def pulls(xp, v, each=4096):
    p, m = v['p'], v['m']

    def strip(s):
        own = p[s]
        d = [p[None, :, e] - own[:, e, None] for e in range(3)]
        q = v['eps'] + d[0] * d[0] + d[1] * d[1] + d[2] * d[2]
        w = m / (q * xp.sqrt(q))
        return xp.stack([(w * c).sum(1) for c in d], 1)
    return strips(len(p), each, strip, joined(xp))


def pulls_product(xp, v):
    p, m = v['p'], v['m']

    def strip(s):
        own = p[s]
        q = v['eps'] + sum((p[None, :, e] - own[:, e, None]) ** 2 for e in range(3))
        w = m / (q * xp.sqrt(q))
        return w @ p - w.sum(1)[:, None] * own
    return strips(len(p), 4096, strip, joined(xp))


Work('n_body', 'sums', 'acc[i,d] = sum(j: m[j] / (eps + sum(e: (p[j,e] - p[i,e])**2))**1.5 * (p[j,d] - p[i,d]))', 'p f32 n 3; m f32+ n',
     'n: 61; 1024; 5003; 32768', pulls, results='acc', numbers={'eps': 0.01}, torch={'fused': fused(pulls), 'strips of a product': pulls_product},
     compiled=('fused',), cupy={'strips of a product': pulls_product}, jax={'jit product': pulls_product, **whole(pulls)}, tolerance=2e-3,
     terms=lambda z: z['n'] ** 2, issue={'add': 3, 'fma': 9, 'special': 1})


def kernel_sums(xp, v, each=None):
    x, p, w = v['x'], v['p'], v['w']
    return strips(len(x), each or max(1, (1 << 26) // len(p)), lambda s: (w * xp.exp(-(x[s, None] - p) ** 2)).sum(1), joined(xp))


Work('kernel_sums', 'sums', 'y[i] = sum(j: w[j] * exp(-(x[i] - p[j])**2))', 'x f32 n; p f32 m; w f32 m',
     'n m: 37 29; 1024 1024; 5003 1501; 65536 16384',
     kernel_sums, torch={'fused': fused(kernel_sums)}, jax=whole(kernel_sums), terms=lambda z: z['n'] * z['m'],
     issue={'add': 1, 'fma': 3, 'special': 1})

Work('correlation', 'sums', 'mu[i] = mean(k: x[k,i])\nsd[i] = sqrt(mean(k: (x[k,i] - mu[i])**2))\n'
     'c[i,j] = mean(k: (x[k,i] - mu[i]) * (x[k,j] - mu[j])) / (sd[i] * sd[j])', 'x f32 n m', 'n m: 43 11; 512 64; 3001 301; 16384 2048',
     lambda xp, v: xp.corrcoef(v['x'].T), results='c', torch=lambda T, v: T.corrcoef(v['x'].T),
     terms=lambda z: z['n'] * z['m'] ** 2, issue={'fma': 1}, tolerance=1e-3)


# ---- windows with weights

def patches(xp, x, extents, stride=1, dilation=1):
    """A view of x with further axes for a window over the last axes."""
    spans = [dilation * (e - 1) + 1 for e in extents]
    axes = range(x.ndim - len(extents), x.ndim)
    shape, steps = list(x.shape), list(x.strides)
    for axis, span in zip(axes, spans):
        shape[axis], steps[axis] = (shape[axis] - span) // stride + 1, steps[axis] * stride
    inner = [x.strides[a] * dilation for a in axes]
    return xp.lib.stride_tricks.as_strided(x, shape + list(extents), steps + inner)


def shifted(x, extents, stride=1):
    """The views of x that a window over the last axes visits."""
    count = len(extents)
    shape = [(x.shape[x.ndim - count + k] - e) // stride + 1 for k, e in enumerate(extents)]
    for at in np.ndindex(*extents):
        yield x[(...,) + tuple(slice(a, a + (n - 1) * stride + 1, stride) for a, n in zip(at, shape))]


def padded(xp, x, pad, axes, mode='constant'):
    """With a border at both ends of the last axes."""
    if hasattr(xp, 'nn'):  # PyTorch
        return xp.nn.functional.pad(x, (pad, pad) * axes)
    return xp.pad(x, [(pad, pad) if k >= x.ndim - axes else (0, 0) for k in range(x.ndim)], mode=mode)


def conv(axes, stride=1, pad=0, dilation=1, groups=1):
    """x[b,c,...] and w[o,c,...] in NumPy and CuPy, in f64 or the type of x."""
    def values(xp, v):
        x, w = v['x'], v['w']
        view = patches(xp, padded(xp, x, pad, axes) if pad else x, w.shape[2:], stride, dilation)
        each, made = w.shape[0] // groups, []
        for g in range(groups):
            own = view[:, g * w.shape[1]:(g + 1) * w.shape[1]]
            k = list(range(2 + axes, 2 + 2 * axes))
            made.append(xp.moveaxis(xp.tensordot(own, w[g * each:(g + 1) * each], ([1] + k, [1] + list(range(2, 2 + axes)))), -1, 1))
        return xp.concatenate(made, 1) if groups > 1 else made[0]
    return values


def library(axes, stride=1, pad=0, dilation=1, groups=1):
    """{name: PyTorch's ways}, {name: JAX's ways}."""
    def direct(T, v, last=False):
        f = getattr(T.nn.functional, 'conv%dd' % axes)
        x, w = v['x'], v['w']
        if last:
            form = {2: T.channels_last, 3: T.channels_last_3d}[axes]
            x, w = x.to(memory_format=form), w.to(memory_format=form)
        return f(x, w, stride=stride, padding=pad, dilation=dilation, groups=groups).contiguous()

    def unfolded(T, v):
        x, w = v['x'], v['w']
        columns = T.nn.functional.unfold(x, w.shape[2:], dilation=dilation, padding=pad, stride=stride)
        extents = [(x.shape[2 + k] + 2 * pad - dilation * (w.shape[2 + k] - 1) - 1) // stride + 1 for k in range(2)]
        return (w.reshape(len(w), -1) @ columns).reshape(len(x), len(w), *extents)

    def jitted(jnp, v):
        import jax
        return jax.lax.conv_general_dilated(v['x'], v['w'], (stride,) * axes, [(pad, pad)] * axes, rhs_dilation=(dilation,) * axes,
                                            feature_group_count=groups)
    ways = {'convolution': direct}
    if axes > 1:
        ways['channels_last'] = lambda T, v: direct(T, v, True)
    if axes == 2 and groups == 1:
        ways['unfold and product'] = unfolded
    return dict(torch=ways, jax={'jit conv': jitted})


def views(axes, pad=0):
    """A way for one channel: the sum of the window's views, each times its weight."""
    def values(lib, v):
        x, w = v['x'], v['w']
        return sum(w[at] * part for at, part in zip(np.ndindex(*w.shape), shifted(padded(lib, x, pad, axes) if pad else x, w.shape)))
    return values


def products_of(*names): return lambda z: int(np.prod([z[n] if isinstance(n, str) else n for n in names], dtype=np.int64))


def convolution(key, text, inputs, sizes, axes, terms, before=None, after=None, **how):
    """A work that cuDNN has. before, after: for one channel, they make x[b,c,...] and w[o,c,...] from the inputs, and the result's shape."""
    made, values = library(axes, **how), conv(axes, **how)
    shape = lambda f: (lambda lib, v: after(f(lib, before(v)))) if before else f
    more = {'views': views(axes, **how)} if before else {}
    few = {'views'} if int(np.prod([int(e) for e in inputs.split()[-axes:]])) < 100 else set()
    Work(key, 'sums', text, inputs, sizes, shape(values), torch={**{k: shape(f) for k, f in made['torch'].items()}, **more},
         cupy={'as_strided, tensordot': shape(values), **more},
         jax={**{k: shape(f) for k, f in made['jax'].items()}, **{'jit ' + k: f for k, f in more.items()}}, terms=terms,
         issue={'f64' if ' f64 ' in inputs else 'fma': 1}, winograd=axes > 1, compiled=few & set(more), numpy_ways=False, of_peer=1.2)


def one(v, rank):
    """An image and a filter without batch and channels."""
    return {'x': v['x'][None, None], 'w': v['w'][None, None]}


convolution('fir64', 'y[i] = sum(k in 0..64: x[i+k] * w[k])', 'x f32 n; w f32 64', 'n: 300; 16384; 1000003; 33554432', 1,
            lambda z: (z['n'] - 63) * 64, before=lambda v: one(v, 1), after=lambda y: y[0, 0])
convolution('fir_rows_f64', 'y[b,i] = sum(k: x[b,i+k] * w[k])', 'x f64 b n; w f64 33', 'b n: 3 90; 16 4096; 31 10007; 64 131072', 1,
            lambda z: z['b'] * (z['n'] - 32) * 33, before=lambda v: {'x': v['x'][:, None], 'w': v['w'][None, None]}, after=lambda y: y[:, 0])
convolution('conv1d_channels', 'edge x fill(0)\ny[b,o,i] = sum(c, p: x[b,c,i+p-4] * w[o,c,p])', 'x f32 b c n; w f32 o c 9',
            'b c o n: 2 3 4 17; 4 16 16 256; 7 33 31 501; 16 64 64 8192', 1, products_of('b', 'c', 'o', 'n', 9), pad=4)
convolution('conv3x3_image', 'y[i,j] = sum(p, q: x[i+p,j+q] * w[p,q])', 'x f32 n m; w f32 3 3', 'n m: 21 17; 256 256; 1003 2001; 8192 8192', 2,
            products_of('n', 'm', 9), before=lambda v: one(v, 2), after=lambda y: y[0, 0])
convolution('conv5x5_edge', 'edge x fill(0)\ny[i,j] = sum(p, q: x[i+p-2,j+q-2] * w[p,q])', 'x f32 n m; w f32 5 5',
            'n m: 21 17; 256 256; 2001 1003; 4096 8192', 2,
            products_of('n', 'm', 25), before=lambda v: one(v, 2), after=lambda y: y[0, 0], pad=2)
convolution('conv11x11_image', 'y[i,j] = sum(p, q: x[i+p,j+q] * w[p,q])', 'x f32 n m; w f32 11 11', 'n m: 31 27; 256 256; 1003 1001; 4096 4096', 2,
            products_of('n', 'm', 121), before=lambda v: one(v, 2), after=lambda y: y[0, 0])
convolution('conv7x7_batch_f64', 'y[b,i,j] = sum(p, q: x[b,i+p,j+q] * w[p,q])', 'x f64 b n m; w f64 7 7',
            'b n m: 2 21 17; 4 64 64; 5 201 303; 32 1024 1024', 2,
            products_of('b', 'n', 'm', 49), before=lambda v: {'x': v['x'][:, None], 'w': v['w'][None, None]}, after=lambda y: y[:, 0])
convolution('conv3x3_channels', 'edge x fill(0)\ny[b,o,i,j] = sum(c, p, q: x[b,c,i+p-1,j+q-1] * w[o,c,p,q])', 'x f32 b c n m; w f32 o c 3 3',
            'b c o n m: 2 3 4 9 11; 2 16 16 28 28; 3 33 65 57 55; 32 64 64 56 56', 2, products_of('b', 'c', 'o', 'n', 'm', 9), pad=1)
convolution('conv5x5_channels', 'y[b,o,i,j] = sum(c, p, q: x[b,c,i+p,j+q] * w[o,c,p,q])', 'x f32 b c n n; w f32 o c 5 5',
            'b c o n: 2 3 4 11; 2 16 16 28; 3 31 33 45; 16 48 96 64', 2, products_of('b', 'c', 'o', 'n', 'n', 25))
convolution('conv7x7_stride',
            'edge x fill(0)\ny[b,o,i,j] = sum(c, p, q: x[b,c,2*i+p-3,2*j+q-3] * w[o,c,p,q]) where i in 0..(len(x,2)+1)//2, j in 0..(len(x,3)+1)//2',
            'x f32 b 3 n n; w f32 o 3 7 7', 'b o n: 2 4 15; 1 32 64; 3 33 101; 32 64 224', 2,
            lambda z: z['b'] * z['o'] * ((z['n'] + 1) // 2) ** 2 * 147, stride=2, pad=3)
convolution('conv3x3_dilated', 'y[b,o,i,j] = sum(c, p, q: x[b,c,i+2*p,j+2*q] * w[o,c,p,q])', 'x f32 b c n m; w f32 o c 3 3',
            'b c o n m: 2 3 4 9 11; 2 16 16 32 32; 3 17 33 65 63; 16 64 64 96 96', 2, products_of('b', 'c', 'o', 'n', 'm', 9), dilation=2)
convolution('conv3x3_groups', 'edge x fill(0)\ny[b,o,i,j] = sum(c, p, q: x[b,(o//(len(w,0)//4))*len(w,1)+c,i+p-1,j+q-1] * w[o,c,p,q])',
            'x f32 b 4*c n m; w f32 4*o c 3 3', 'b c o n m: 2 3 2 9 11; 2 8 8 28 28; 3 9 11 57 55; 32 32 32 56 56', 2,
            products_of('b', 'c', 4, 'o', 'n', 'm', 9), pad=1, groups=4)


def depthwise(xp, v):
    x, w = padded(xp, v['x'], 1, 2), v['w'][..., None, None]
    n, m = v['x'].shape[2:]
    return sum(x[:, :, p:p + n, q:q + m] * w[:, p, q] for p in range(3) for q in range(3))


def depthwise_library(lib):
    """PyTorch's and JAX's ways, whose filters have an axis for the channels of a group."""
    def values(xp, v):
        made = library(2, pad=1, groups=v['x'].shape[1])[lib]
        return next(iter(made.values()))(xp, {'x': v['x'], 'w': v['w'][:, None]})
    return values


Work('conv3x3_depthwise', 'sums', 'edge x fill(0)\ny[b,c,i,j] = sum(p, q: x[b,c,i+p-1,j+q-1] * w[c,p,q])', 'x f32 b c n m; w f32 c 3 3',
     'b c n m: 2 3 9 11; 4 32 28 28; 3 65 57 55; 32 256 56 56', depthwise,
     torch={'convolution': depthwise_library('torch'), 'views': depthwise}, compiled=('views',),
     jax={'jit conv': depthwise_library('jax')}, of_peer=1.2, winograd=True, terms=products_of('b', 'c', 'n', 'm', 9), issue={'fma': 1})
convolution('conv3x3x3_volume', 'y[b,o,h,i,j] = sum(c, r, p, q: x[b,c,h+r,i+p,j+q] * w[o,c,r,p,q])', 'x f32 b c d n n; w f32 o c 3 3 3',
            'b c o d n: 1 2 3 6 7; 1 8 8 16 16; 2 9 17 19 33; 4 32 32 32 48', 3, products_of('b', 'c', 'o', 'd', 'n', 'n', 27))


def differences(xp, v):
    x, t = v['x'], v['t']
    n, m = x.shape[0] - t.shape[0] + 1, x.shape[1] - t.shape[1] + 1
    return sum(abs(x[p:p + n, q:q + m] - t[p, q]) for p in range(t.shape[0]) for q in range(t.shape[1]))


Work('template', 'sums', 'y[i,j] = sum(p, q: abs(x[i+p,j+q] - t[p,q]))', 'x f32 n m; t f32 8 8', 'n m: 21 17; 256 256; 1003 501; 4096 4096',
     differences, torch=differences, terms=products_of('n', 'm', 64), issue={'add': 2})
