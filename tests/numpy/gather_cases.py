"""Rows of arrays that data choose: vectors of them are read at once where they are aligned and in range."""
from caselib import *


def rows():
    r = np.random.default_rng(21); n, k = 20, 17
    for t, m in (('f32', 16), ('f32', 15), ('f64', 8), ('i8', 32), ('f16', 24), ('i64', 6)):
        x = arr(t, r.integers(-8, 9, (n, m))); s = r.integers(0, n, k)
        ok('y[i,j] = x[s[i],j]', dict(x=x, s=s), y=x[s])
        ok('y[j,i] = x[s[i],j]', dict(x=x, s=s), y=np.ascontiguousarray(x[s].T))
        ok('y[i,j] = x[s[i],j+4] where j in 0..len(x,1)-4', dict(x=x, s=s), y=x[s, 4:])
        ok('y[i,j] = s[i] >= 9 ? x[s[i]-9,j] : x[s[i],j]', dict(x=x, s=s), y=np.where((s >= 9)[:, None], x[s - 9], x[s]))
        ok('y[i,j] = x[s[i],j] + x[s[len(s,0)-1-i],j]', dict(x=x, s=s), y=x[s] + x[s[::-1]])
        ok('y[i,j] = x[s[i],j]\nz[i,j] = x[s[i],j] - x[len(x,0)-1-s[i],j]', dict(x=x, s=s), y=x[s], z=x[s] - x[n - 1 - s])
        ok('y[i,j] = x[s[i],j] + x[s[i]//2,j] + x[s[i]%5,j] + x[s[i]//3,j] + x[s[i]//4,j] + x[s[i]//5,j]', dict(x=x, s=s), y=sum(x[q] for q in (s, s // 2, s % 5, s // 3, s // 4, s // 5)).astype(x.dtype))
        ok('edge x clamp\nin d: i64\ny[i,j] = x[s[i]//d,j]', dict(x=x, s=s, d=arr('i64', 3)), y=x[s // 3])
        ok('x[i,j] = x[s[i],j] where i in 0..len(s,0)', dict(x=x, s=s), x=np.concatenate([x[s], x[k:]]))
        wild = s.copy(); wild[3] = n; wild[9] = -4
        ok('edge x wrap\ny[i,j] = x[s[i],j]', dict(x=x, s=wild), y=x[wild % n])
        ok('edge x mirror\ny[i,j] = x[s[i],j]', dict(x=x, s=wild), y=x[np.where(wild == n, n - 2, np.abs(wild))])
        ok('edge x clamp\ny[i,j] = x[s[i],j]', dict(x=x, s=wild), y=x[np.clip(wild, 0, n - 1)])
        ok('edge x fill(7)\ny[i,j] = x[s[i],j]', dict(x=x, s=wild), y=np.where(((wild >= 0) & (wild < n))[:, None], x[np.clip(wild, 0, n - 1)], 7).astype(x.dtype))
        ok('y[i,j] = s[i] >= 0 && s[i] < len(x,0) ? x[s[i],j] : 1', dict(x=x, s=wild), y=np.where(((wild >= 0) & (wild < n))[:, None], x[np.clip(wild, 0, n - 1)], 1).astype(x.dtype))
        bad('y[i,j] = x[s[i],j]', dict(x=x, s=wild), str(n), code=6)
        bad('y[i,j] = x[s[i],j] + x[s[len(s,0)-1-i],j]', dict(x=x, s=np.where(wild < 0, 0, wild)), str(n), code=6)

    x = arr('f64', r.integers(-8, 9, (n, 8))); z = arr('f64', r.integers(-8, 9, (n, 3, 8))); s = r.integers(0, n, k); i = np.arange(k)
    ok('y[i,j] = i % 3 == 0 ? x[s[i],j] : z[s[i]//2,i%3,j]', dict(x=x, z=z, s=s), y=np.where((i % 3 == 0)[:, None], x[s], z[s // 2, i % 3]))
    ok('y[i,j] = i8(x[s[i],j])', dict(x=x, s=s), y=x[s].astype('i1'))
    x = arr('f32', r.integers(-8, 9, (n, 16)))
    ok('b[r,j] = bf16(x[r,j])\ny[i,j] = f32(b[s[i],j]) * 2', dict(x=x, s=s), y=x[s] * 2)


def cases():
    begin('gathered_rows', 'Rows of arrays that data choose, in and out of range.')
    rows()
