"""Products: contractions of two or three arrays in any order of the indices. general_work.py says what a Work is."""
from general_work import TOLERANCE, Work


def subscripts(letters): return ','.join(letters)


def einsum(spec):
    """Peers and values of a contraction: einsum, and for two arrays a product of permuted copies."""
    left, result = spec.split('->')

    def values(xp, v): return xp.einsum(spec, *v.values(), **({'optimize': True} if xp.__name__ != 'torch' else {}))
    parts = left.split(',')
    torch = {'einsum': lambda T, v: T.einsum(spec, *v.values()).contiguous()}
    if len(parts) == 2:
        torch['permute and matmul'] = permuted(parts, result)
    return values, torch


def permuted(parts, result):
    """Batch, own and summed indices of each array in order, then torch.matmul."""
    a, b = parts
    batch = [c for c in result if c in a and c in b]
    own_a, own_b = [c for c in result if c in a and c not in b], [c for c in result if c in b and c not in a]
    summed = [c for c in a if c in b and c not in result]

    def f(T, v):
        x, y = list(v.values())[:2]
        size = {**dict(zip(a, x.shape)), **dict(zip(b, y.shape))}
        count = lambda names: [size[c] for c in names]
        flat = lambda t, names, order, shape: t.permute([names.index(c) for c in order]).reshape(shape)
        many = lambda names: int(T.tensor(count(names)).prod()) if names else 1
        x = flat(x, a, batch + own_a + summed, count(batch) + [many(own_a), many(summed)])
        y = flat(y, b, batch + summed + own_b, count(batch) + [many(summed), many(own_b)])
        made, order = (x @ y).reshape(count(batch + own_a + own_b)), batch + own_a + own_b
        return made.permute([order.index(c) for c in result]).contiguous()
    return f


def contraction(key, spec, sizes, dtype='f32', tolerance=None):
    """A contraction by its einsum, 'ik,kj->ij'. sizes: of all its letters."""
    left, result = spec.split('->')
    names = 'ABC'
    parts = left.split(',')
    summed = [c for c in dict.fromkeys(left.replace(',', '')) if c not in result]
    inner = 'sum(%s: %s)' % (', '.join(summed), ' * '.join('%s[%s]' % (n, subscripts(p)) for n, p in zip(names, parts)))
    values, torch = einsum(spec)
    Work(key, 'products', 'Y[%s] = %s' % (subscripts(result), inner), '; '.join('%s %s %s' % (n, dtype, ' '.join(p)) for n, p in zip(names, parts)),
         sizes, values, results='Y', torch=torch, compiled=(), tolerance=tolerance or 3 * TOLERANCE[dtype])


contraction('matmul_f32', 'ik,kj->ij', 'i j k: 33 29 19; 256 256 256; 1001 777 333; 4096 4096 4096')
contraction('matmul_f64', 'ik,kj->ij', 'i j k: 33 29 19; 256 256 256; 777 1001 333; 4096 4096 4096', 'f64')
contraction('matmul_f16', 'ik,kj->ij', 'i j k: 33 29 19; 256 256 256; 1001 777 333; 8192 8192 8192', 'f16')
contraction('matmul_bf16', 'ik,kj->ij', 'i j k: 33 29 19; 512 256 128; 999 1003 515; 8192 8192 8192', 'bf16')
contraction('matmul_c64', 'ik,kj->ij', 'i j k: 33 29 19; 256 256 256; 333 777 501; 2048 2048 2048', 'c64')
contraction('matmul_batch', 'bik,bkj->bij', 'b i j k: 5 7 9 11; 16 64 64 64; 31 97 101 65; 128 512 512 512')
contraction('matmul_batch_f16', 'bhik,bhkj->bhij', 'b h i j k: 2 3 7 9 11; 2 8 64 64 64; 3 5 97 101 65; 16 16 512 512 128', 'f16')
contraction('matmul_transposed', 'ki,jk->ji', 'i j k: 33 29 19; 256 256 256; 1001 777 333; 4096 4096 4096')
contraction('matmul_thin', 'ik,kj->ij', 'i j k: 9 5 301; 64 16 4096; 33 17 100003; 256 64 262144')
contraction('matvec', 'ik,k->i', 'i k: 33 29; 512 512; 1001 3003; 16384 8192')
contraction('tccg_abcd_aebf_dfce', 'aebf,dfce->abcd', 'a b c d e f: 5 3 4 6 7 2; 12 12 12 12 12 12; 17 19 13 23 11 15; 72 72 72 72 72 72')
contraction('tccg_abcd_aebf_fdec', 'aebf,fdec->abcd', 'a b c d e f: 5 3 4 6 7 2; 12 12 12 12 12 12; 17 19 13 23 11 15; 72 72 72 72 72 72', 'f64')
contraction('tccg_abc_acd_db', 'acd,db->abc', 'a b c d: 5 3 4 6; 32 32 32 32; 101 97 51 65; 384 384 384 384')
contraction('tccg_abcd_dbea_ec', 'dbea,ec->abcd', 'a b c d e: 5 3 4 6 7; 16 16 16 16 16; 31 23 27 29 33; 72 72 72 72 256')
contraction('tccg_abcd_ebad_ce', 'ebad,ce->abcd', 'a b c d e: 5 3 4 6 7; 16 16 16 16 16; 31 23 27 29 33; 72 72 72 72 256')
contraction('tccg_abcdef_gdab_efgc', 'gdab,efgc->abcdef', 'a b c d e f g: 2 3 4 3 2 5 7; 6 6 6 6 6 6 6; 11 7 9 5 13 8 15; 24 16 16 24 16 16 24')
contraction('tccg_abcdef_dega_gfbc', 'dega,gfbc->abcdef', 'a b c d e f g: 2 3 4 3 2 5 7; 6 6 6 6 6 6 6; 11 7 9 5 13 8 15; 24 16 16 24 16 16 24')
contraction('three_arrays', 'ij,jk,kl->il', 'i j k l: 13 11 9 7; 128 128 128 128; 501 303 257 99; 1024 1024 1024 1024')
contraction('bilinear', 'ni,ij,nj->n', 'n i j: 17 11 13; 512 64 64; 5003 65 129; 131072 256 256')


def linear(T, v):
    return T.nn.functional.gelu(T.nn.functional.linear(v['x'], v['w'], v['b']), approximate='tanh') + v['r']


def gelu(xp, h): return 0.5 * h * (1 + xp.tanh(0.7978845608028654 * (h + 0.044715 * h * h * h)))


Work('linear_gelu_bf16', 'products', 'h[i,o] = sum(k: f32(x[i,k]) * f32(w[o,k])) + f32(b[o])\n'
     'y[i,o] = bf16(0.5*h[i,o] * (1 + tanh(0.7978845608028654 * (h[i,o] + 0.044715*h[i,o]**3))) + f32(r[i,o]))',
     'x bf16 n k; w bf16 o k; b bf16 o; r bf16 n o', 'n k o: 17 21 13; 128 256 256; 1001 515 771; 8192 4096 4096',
     lambda xp, v: gelu(xp, v['x'] @ v['w'].T + v['b']) + v['r'], torch={'linear, gelu, +': linear}, tolerance=0.1)

Work('linear_relu', 'products', 'y[i,o] = max(sum(k: x[i,k] * w[k,o]) + b[o], 0) + r[i,o]', 'x f32 n k; w f32 k o; b f32 o; r f32 n o',
     'n k o: 17 21 13; 128 256 256; 1001 515 771; 4096 4096 2048', lambda xp, v: xp.maximum(v['x'] @ v['w'] + v['b'], 0) + v['r'],
     torch={'addmm, relu, +': lambda T, v: T.relu(T.addmm(v['b'], v['x'], v['w'])) + v['r']}, tolerance=1e-3)


def grouped(T, v):
    """Four heads of q share a head of k: the four as further rows of one product."""
    q, k = v['q'], v['k']
    b, h, n, d = q.shape
    return (q.reshape(b, h // 4, 4 * n, d) @ k.transpose(2, 3)).reshape(b, h, n, -1) * d ** -0.5


def grouped_einsum(xp, v):
    """With the four heads as an index of their own."""
    q, k = v['q'], v['k']
    b, h, n, d = q.shape
    return (xp.einsum('bgrid,bgjd->bgrij', q.reshape(b, h // 4, 4, n, d), k) * d ** -0.5).reshape(b, h, n, -1)


Work('attention_scores', 'products', 's[b,h,i,j] = sum(d: q[b,h,i,d] * k[b,h//4,j,d]) / sqrt(len(q,3))', 'q bf16 b 4*h n d; k bf16 b h m d',
     'b h n m d: 2 2 5 7 8; 1 2 64 64 64; 3 3 77 101 40; 8 8 1024 1024 128',
     lambda xp, v: xp.einsum('bhid,bhjd->bhij', v['q'], v['k'].repeat(4, 1)) / v['q'].shape[-1] ** 0.5, results='s',
     torch={'grouped rows': grouped, 'einsum': grouped_einsum}, jax={'jit grouped': grouped_einsum}, tolerance=0.1)
