"""Leat and its peers on the same work in one process, two threads: best and median of some repetitions, peers in turn within each
repetition so that drift hits all alike. bench/run.sh calls it; --help says what may be asked for."""
import argparse, datetime, os, platform, re, statistics, subprocess, sys, tempfile, time

THREADS = 2


def two_cores():
    """Before any library starts its threads: two cores for the whole process."""
    if hasattr(os, 'sched_setaffinity'): os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:THREADS])
    for name in ('OMP_NUM_THREADS', 'NUMEXPR_MAX_THREADS', 'NUMEXPR_NUM_THREADS', 'NUMBA_NUM_THREADS', 'OPENBLAS_NUM_THREADS'): os.environ[name] = str(THREADS)
    os.environ['JAX_PLATFORMS'] = 'cpu'


two_cores()
import numpy as np
import leatlib

PEERS = ['leat', 'leat kept', 'numpy', 'numexpr', 'numba', 'jax']
half, quarter = np.float32(0.5), np.float32(0.25)
PROGRAMS = {      # case: (what it says in the table, Leat's program; the result is y)
    'add5': ('a+b+c+d+e', 'y[i] = a[i] + b[i] + c[i] + d[i] + e[i]'),
    'poly': ('((a*b+c)*d-e)/(a*a+b*b+0.5)', 'y[i] = ((a[i]*b[i] + c[i])*d[i] - e[i]) / (a[i]*a[i] + b[i]*b[i] + 0.5)'),
    'trans': ('exp(-a)*sin(b)+sqrt(c)*log(d)', 'y[i] = exp(-a[i])*sin(b[i]) + sqrt(c[i])*log(d[i])'),
    'normalise': ('a/sum(a)', 'y[i] = a[i] / sum(k: a[k])'),
    'sum': ('sum(a)', 'y = sum(k: a[k])'),
    'softmax': ('softmax of rows', 'e[i,j] = exp(x[i,j] - max(k: x[i,k]))\ny[i,j] = e[i,j] / sum(k: e[i,k])'),
    'stencil': ('4-point stencil, border 0', 'y[i,j] = (x[i-1,j] + x[i+1,j] + x[i,j-1] + x[i,j+1]) * 0.25 else 0'),
    'variance': ('variance of rows', 'm[i] = mean(j: x[i,j])\ny[i] = mean(j: (x[i,j] - m[i])**2)')}
READS = {'add5': 'abcde', 'poly': 'abcde', 'trans': 'abcd', 'normalise': 'a', 'sum': 'a', 'softmax': 'x', 'stencil': 'x', 'variance': 'x'}


def make_inputs(log2):
    n, row = 1 << log2, 1 << min(12, log2 // 2); r = np.random.default_rng(0)
    v = {k: r.random(n, dtype=np.float32) + half for k in 'abcde'}; v['x'] = v['a'].reshape(-1, row)
    return v


def numpy_cases(v):
    a, b, c, d, e, x = (v[k] for k in 'abcdex')
    def softmax(): z = np.exp(x - x.max(1, keepdims=True)); return z / z.sum(1, keepdims=True)
    def stencil():
        o = np.zeros_like(x); o[1:-1, 1:-1] = (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]) * quarter; return o
    return dict(add5=lambda: a + b + c + d + e, poly=lambda: ((a * b + c) * d - e) / (a * a + b * b + half), trans=lambda: np.exp(-a) * np.sin(b) + np.sqrt(c) * np.log(d),
                normalise=lambda: a / a.sum(), sum=lambda: a.sum(), softmax=softmax, stencil=stencil, variance=lambda: x.var(1))


def numexpr_cases(v):
    import numexpr as ne
    ne.set_num_threads(THREADS); a = v['a']
    run = lambda text, names: lambda: ne.evaluate(text, {k: half if k == 'h' else v[k] for k in names})
    return dict(add5=run('a+b+c+d+e', 'abcde'), poly=run('((a*b+c)*d-e)/(a*a+b*b+h)', 'abcdeh'), trans=run('exp(-a)*sin(b)+sqrt(c)*log(d)', 'abcd'), sum=run('sum(a)', 'a'),
                normalise=lambda: ne.evaluate('a/s', dict(a=a, s=np.float32(ne.evaluate('sum(a)', dict(a=a))))))


def numba_cases(v):
    import numba_peers as nb
    of = lambda f, names: lambda: f(*(v[k] for k in names))
    f = dict(add5=nb.add5, poly=nb.poly, trans=nb.trans, normalise=nb.normalise, sum=nb.total, softmax=nb.softmax, stencil=nb.stencil, variance=nb.variance)
    return {k: of(f[k], READS[k]) for k in f}


def jax_cases(v):
    import jax, jax.numpy as jnp
    w = {k: jnp.asarray(q) for k, q in v.items()}
    f = dict(add5=lambda a, b, c, d, e: a + b + c + d + e, poly=lambda a, b, c, d, e: ((a * b + c) * d - e) / (a * a + b * b + half),
             trans=lambda a, b, c, d: jnp.exp(-a) * jnp.sin(b) + jnp.sqrt(c) * jnp.log(d), normalise=lambda a: a / a.sum(), sum=lambda a: a.sum(),
             softmax=lambda x: jax.nn.softmax(x, 1), variance=lambda x: x.var(1),
             stencil=lambda x: jnp.zeros_like(x).at[1:-1, 1:-1].set((x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]) * quarter))
    def of(k): g = jax.jit(f[k]); names = READS[k]; return lambda: g(*(w[q] for q in names)).block_until_ready()
    return {k: of(k) for k in f}


def leat_cases(v, leat, reference):
    """Two ways of each: a new result each run, and one that is kept. The first run is checked against NumPy."""
    fresh, kept = {}, {}
    for k, (_, text) in PROGRAMS.items():
        call = leat.call(text, 'y', **{q: v[q] for q in READS[k]}); y = call.value(np); want = np.asarray(reference[k]())
        if not np.allclose(y, want, rtol=2e-5, atol=2e-5 * float(np.abs(want).max())): raise RuntimeError('leat: %s differs from NumPy' % k)
        fresh[k], kept[k] = call.fresh, call.into(y)
    return fresh, kept


def collect(v, build):
    cases = {}; leat = None
    for name, make in (('numpy', numpy_cases), ('numexpr', numexpr_cases), ('numba', numba_cases), ('jax', jax_cases)):
        try: cases[name] = make(v)
        except ImportError: pass
    library = os.path.join(build, 'libleat.so')
    if os.path.exists(library):
        leat = leatlib.Leat(library, THREADS); cases['leat'], cases['leat kept'] = leat_cases(v, leat, cases['numpy'])
    return cases, leat


def measure(cases, repetitions):
    """{case: {peer: [ms, ...]}}, a warm-up apart."""
    times = {}
    for k in PROGRAMS:
        here = {p: cases[p][k] for p in PEERS + ['copy'] if k in cases.get(p, {})}; times[k] = {p: [] for p in here}
        for f in here.values(): f(); f()
        for _ in range(repetitions):
            for p, f in here.items():
                t = time.perf_counter(); f(); times[k][p].append((time.perf_counter() - t) * 1e3)
    return times


def copy_case(v):
    """A copy by both threads, half of it each; it runs in turn with every case, so that its best is of many."""
    from concurrent.futures import ThreadPoolExecutor
    a = v['a']; o = np.zeros_like(a); h = len(a) // 2; pool = ThreadPoolExecutor(THREADS)
    run = lambda: list(pool.map(lambda q: np.copyto(o[q], a[q]), (slice(0, h), slice(h, None))))
    return {k: run for k in PROGRAMS}


def small(build):
    """bench_call's lines: {name: (best, median, unit)}."""
    for place in ('bench/bench_call', 'bench_call'):
        path = os.path.join(build, place)
        if os.path.exists(path): break
    else: return {}
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([path, os.path.join(build, 'leat'), folder], capture_output=True, text=True)
    if done.returncode: print(done.stderr.strip(), file=sys.stderr)
    return {w[0]: (float(w[1]), float(w[2]), w[3]) for w in map(str.split, done.stdout.splitlines())}


def cpu_name():
    try: return re.search(r'model name\s*: (.*)', open('/proc/cpuinfo').read()).group(1).strip()
    except (OSError, AttributeError): return platform.machine()


def versions(leat):
    out = ['python ' + platform.python_version()]
    for name in ('numpy', 'numexpr', 'numba', 'jax'):
        m = sys.modules.get(name); out.append('%s %s' % (name, m.__version__ if m else '-'))
    return ['leat ' + (leat.version() if leat else '-')] + out


def table(times, pick):
    rows = ['%-32s' % '' + ''.join('%11s' % p for p in PEERS) + '   leat / numpy, numexpr, numba, jax']
    for k, (label, _) in PROGRAMS.items():
        t = {p: pick(q) for p, q in times[k].items() if q}; cells = ''.join('%11s' % ('%.2f' % t[p] if p in t else '-') for p in PEERS)
        ratio = ', '.join('%.2f' % (t['leat'] / t[p]) if 'leat' in t and p in t else '-' for p in PEERS[2:])
        rows.append('%-32s%s   %s' % (label, cells, ratio))
    return rows


def against_copy(ratio):
    """Nothing passes memory faster than a copy does: a ratio well below 1 says that the copy was disturbed, not that the goal is met."""
    said = '%.2f times what its bytes take at the copy rate (goal: 1.3)' % ratio
    return said + ('   NOT JUDGED: the copy was disturbed' if ratio < 0.9 else '' if ratio <= 1.3 else '   MISSED')


def goals(times, copy):
    """What is asked of Leat, and what it reached."""
    rows = []; best = {k: {p: min(q) for p, q in t.items()} for k, t in times.items()}
    for k, (label, _) in PROGRAMS.items():
        if 'leat' not in best[k]: continue
        rival = min(best[k].get(p, float('inf')) for p in ('numpy', 'numexpr'))
        rows.append('%-32s %.2f times the better of NumPy and numexpr (goal: at most 1)%s' % (label, best[k]['leat'] / rival, '' if best[k]['leat'] <= rival else '   MISSED'))
    if 'leat' in best['add5']:
        floor = copy * 6 / 2                                        # six arrays pass; a copy passes two
        for p in ('leat', 'leat kept'): rows.append('%-32s %s' % ('a+b+c+d+e, ' + p, against_copy(best['add5'][p] / floor)))
    return rows


LIMITS = {'call_1000_new': ('prepared call, n = 1,000, new result', 3), 'call_1000_kept': ('prepared call, n = 1,000, kept result', 3),
          'compile_20_lines_check': ('text of 20 lines to checked program', None), 'compile_20_lines_to_first_result': ('text of 20 lines to bytecode and run', 1000),
          'leat_run_start_to_exit': ('leat run, start to exit', 15), 'true_start_to_exit': ('(/bin/true, start to exit)', None)}


def small_rows(figures):
    rows = []
    for k, (best, median, unit) in figures.items():
        label, goal = LIMITS[k]; said = '' if goal is None else '   (goal: at most %g)%s' % (goal, '' if best <= goal else '   MISSED')
        rows.append('%-40s best %9.2f %s   median %9.2f %s%s' % (label, best, unit, median, unit, said))
    return rows


def load_line(before, after):
    """How busy the machine was; this benchmark itself adds up to two."""
    said = 'load average %.1f before, %.1f after' % (before, after)
    return said + ('   DISTURBED: other work ran at the same time; figures and ratios are rough' if before > 1.0 or after > THREADS + 1.0 else '')


def main():
    before = os.getloadavg()[0]
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument('--build', default='build/release', help='folder of libleat.so, the command and bench_call'); p.add_argument('--log2', type=int, default=24, help='elements: 2 to this power')
    p.add_argument('--repetitions', type=int, default=5); p.add_argument('--no-file', action='store_true', help='print only'); o = p.parse_args()
    v = make_inputs(o.log2); cases, leat = collect(v, o.build); cases['copy'] = copy_case(v); times = measure(cases, o.repetitions); copy = min(min(t['copy']) for t in times.values())
    today = datetime.date.today().isoformat(); rate = 2 * v['a'].nbytes / copy / 1e6
    text = ['%s, %s, %d of %d cores, Linux %s' % (today, cpu_name(), THREADS, os.cpu_count(), platform.release()), ', '.join(versions(leat)) + (', simd ' + leat.device().simd.decode() if leat else ''),
            'n = 2^%d f32, rows of %d, %d threads, %d repetitions, peers in turn; ms' % (o.log2, v['x'].shape[1], THREADS, o.repetitions),
            load_line(before, os.getloadavg()[0]), 'copy of %d MiB: %.2f ms (%.1f GB/s read and written)' % (v['a'].nbytes >> 20, copy, rate), '',
            "'leat' makes a new result each run and releases it, as the peers do; 'leat kept' writes into the same array.", '', 'best'] + table(times, min) + ['', 'median'] + \
        table(times, statistics.median) + [''] + goals(times, copy) + [''] + small_rows(small(o.build))
    print('\n'.join(text))
    if not o.no_file:
        folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'results'); os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, '%s-%s.txt' % (today, re.sub(r'[^a-z0-9]+', '-', cpu_name().lower()).strip('-')))
        with open(path, 'w') as f: f.write('\n'.join(text) + '\n')
        print('\nwritten to ' + os.path.relpath(path))


if __name__ == '__main__': main()
