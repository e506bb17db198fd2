"""Compares Leat with its peers on the same work, in one process on two threads. Reports the best and the median of several repetitions.
Each repetition runs all peers in a different order, so that drift and warm caches favor no peer. bench/run.sh calls it; see --help."""
import argparse, datetime, os, platform, random, re, statistics, subprocess, sys, tempfile, time

THREADS = 2


def two_cores():
    """Restricts the process to two cores, before any library starts its threads."""
    if hasattr(os, 'sched_setaffinity'): os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:THREADS])
    for name in ('OMP_NUM_THREADS', 'NUMEXPR_MAX_THREADS', 'NUMEXPR_NUM_THREADS', 'NUMBA_NUM_THREADS', 'OPENBLAS_NUM_THREADS'): os.environ[name] = str(THREADS)
    os.environ['JAX_PLATFORMS'] = 'cpu'


two_cores()
import numpy as np
import leatlib
from cases import CASES
import kernels                                                    # adds the second part of CASES

PEERS = ['leat', 'leat kept', 'numpy', 'numexpr', 'numba', 'jax']


class Copy:
    """A copy by two threads, half of it each. It runs in turn with every case, so that its best time is one of many."""
    def __init__(self, bytes):
        from concurrent.futures import ThreadPoolExecutor
        self.a = np.ones(bytes // 8); self.o = np.zeros_like(self.a); h = len(self.a) // 2; self.halves = slice(0, h), slice(h, None); self.pool = ThreadPoolExecutor(THREADS)

    def __call__(self): list(self.pool.map(lambda q: np.copyto(self.o[q], self.a[q]), self.halves))


def settle():
    """Waits until the process's threads are idle: a BLAS's threads spin for about 50 ms after its last call, on cores that the next peer needs."""
    for _ in range(100):
        t = time.process_time(); time.sleep(.002)
        if time.process_time() - t < .0005: return


def lasted(f): t = time.perf_counter(); f(); return (time.perf_counter() - t) * 1e3


def as_tuple(x): return x if isinstance(x, (tuple, list)) else (x,)


def agree(case, got, want, peer, way=0):
    tolerance = case.rough.get(peer, case.tolerance)
    for k, x, w in zip(case.results, map(np.asarray, as_tuple(got)), map(np.asarray, as_tuple(want))):
        if x.shape != w.shape or not case.check(k, x, w, tolerance): raise RuntimeError('%s: %s, way %d: %s differs from NumPy' % (case.label, peer, way, k))


def fastest(case, peer, ways, want):
    """The fastest variant. Each is run twice and checked the first time."""
    best = None
    for k, f in enumerate(ways):
        agree(case, f(), want, peer, k); took = lasted(f)
        if best is None or took < best[0]: best = took, f
    return best[1]


def prepare(case, v, leat, wanted):
    """{peer: function}, and Leat's error if it refused the program."""
    here, peers = {}, case.peers(); ways = peers['numpy'](v); want = ways[0](); here['numpy'] = fastest(case, 'numpy', ways, want)
    for p in ('numexpr', 'numba', 'jax'):
        if p not in peers or p not in wanted: continue
        try: here[p] = fastest(case, p, peers[p](v), want)
        except ImportError: pass
    if leat is None: return here, None, None
    try: call = leat.call(case.text, case.results, v); made = call.values(np)
    except leatlib.Refused as e: return here, None, str(e)
    agree(case, made, want, 'leat'); here['leat'], here['leat kept'] = call.fresh, call.into(made)
    return here, call, None


def measure(cases, o, leat, copy):
    """For each case: {peer: [ms, ...]}, without the warm-up."""
    for c in cases:
        v = c.inputs(o.log2); c.bytes = c.moved(v); here, call, c.refused = prepare(c, v, leat, o.peers); here['copy'] = copy; here = {p: here[p] for p in PEERS + ['copy'] if p in here}; c.times = {p: [] for p in here}
        for f in here.values(): f()
        order = random.Random(0)                                  # a new order each time, so that no peer always runs after the same other one
        for _ in range(o.repetitions):
            for p, f in order.sample(list(here.items()), len(here)): settle(); c.times[p].append(lasted(f))
        if call: call.free()
        if leat: leat.forget()
        print('%-32s %s' % (c.label, c.refused or ', '.join('%s %.2f' % (p, min(q)) for p, q in c.times.items())), file=sys.stderr, flush=True)


def small(build):
    """Parses the output of bench_call: {name: (best, median, unit)}."""
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


def table(cases, pick, copy_rate):
    """floor: the time of the case's bytes at the rate of a copy."""
    rows = ['%-32s' % '' + ''.join('%11s' % p for p in PEERS + ['floor']) + '   leat / numpy, numexpr, numba, jax']
    for c in cases:
        t = {p: pick(q) for p, q in c.times.items()}; cells = ''.join('%11s' % ('%.2f' % t[p] if p in t else '-') for p in PEERS)
        ratio = ', '.join('%.2f' % (t['leat'] / t[p]) if 'leat' in t and p in t else '-' for p in PEERS[2:])
        rows.append('%-32s%s%11.2f   %s' % (c.label, cells, c.bytes / copy_rate * 1e3, ratio))
    return rows


def against_copy(ratio):
    """No work is faster than a copy of its bytes: a ratio well below 1 means that the copy was disturbed, not that the goal is met."""
    said = '%.2f times what its bytes take at the copy rate (goal: 1.3)' % ratio
    return said + ('   NOT JUDGED: the copy was disturbed' if ratio < 0.9 else '' if ratio <= 1.3 else '   MISSED')


def goals(cases, copy_rate):
    """Leat's goals, and what it reached."""
    rows = []
    for c in cases:
        best = {p: min(q) for p, q in c.times.items()}; rival = min(best[p] for p in ('numpy', 'numexpr') if p in best)
        if c.refused: rows.append('%-32s refused: %s   MISSED' % (c.label, c.refused))
        elif 'leat' in best: rows.append('%-32s %.2f times the better of NumPy and numexpr (goal: at most 1)%s' % (c.label, best['leat'] / rival, '' if best['leat'] <= rival else '   MISSED'))
    for c in cases:
        if c.label == 'a+b+c+d+e' and 'leat' in c.times:
            for p in ('leat', 'leat kept'): rows.append('%-32s %s' % (c.label + ', ' + p, against_copy(min(c.times[p]) / 1e3 * copy_rate / c.bytes)))
    return rows


LIMITS = {'call_1000_new': ('prepared call, n = 1,000, new result', 3), 'call_1000_kept': ('prepared call, n = 1,000, kept result', 3),
          **{'call_1000_memory_%s_%s' % (how, device): ('call on %s, n = 1,000, memory bound %s' % (device, said), None)
             for device in ('cpu', 'sim') for how, said in (('once', 'once'), ('again', 'each time'), ('in_turns', 'in turns'))},
          'compile_20_lines_check': ('text of 20 lines to checked program', None), 'compile_20_lines_to_first_result': ('text of 20 lines to bytecode and run', 1000),
          'leat_run_start_to_exit': ('leat run, start to exit', 15), 'true_start_to_exit': ('(/bin/true, start to exit)', None)}


def small_rows(figures):
    rows = []
    for k, (best, median, unit) in figures.items():
        label, goal = LIMITS[k]; said = '' if goal is None else '   (goal: at most %g)%s' % (goal, '' if best <= goal else '   MISSED')
        rows.append('%-40s best %9.2f %s   median %9.2f %s%s' % (label, best, unit, median, unit, said))
    return rows


def load_line(before, after):
    """The load of the machine. This benchmark itself adds up to two."""
    said = 'load average %.1f before, %.1f after' % (before, after)
    return said + ('   DISTURBED: other work ran at the same time; figures and ratios are rough' if before > 1.0 or after > THREADS + 1.0 else '')


def options():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument('--build', default='build/release', help='folder of libleat.so, the command and bench_call'); p.add_argument('--log2', type=int, default=24, help='elements: 2 to this power')
    p.add_argument('--repetitions', type=int, default=5); p.add_argument('--no-file', action='store_true', help='print only'); p.add_argument('--only', default='', help='cases whose label matches')
    p.add_argument('--peers', default='numexpr numba jax', help='beside Leat and NumPy')
    return p.parse_args()


def main():
    before = os.getloadavg()[0]; o = options(); path = os.path.join(o.build, 'libleat.so'); leat = leatlib.Leat(path, THREADS) if os.path.exists(path) else None
    chosen = [c() for c in CASES if re.search(o.only, c.label)]; copy = Copy(4 << o.log2); measure(chosen, o, leat, copy)
    best = min(min(c.times['copy']) for c in chosen); rate = 2 * copy.a.nbytes / best * 1e3; today = datetime.date.today().isoformat()
    text = ['%s, %s, %d of %d cores, Linux %s' % (today, cpu_name(), THREADS, os.cpu_count(), platform.release()), ', '.join(versions(leat)) + (', simd ' + leat.device().simd.decode() if leat else ''),
            'n = 2^%d, %d threads, %d repetitions, peers in turn; ms' % (o.log2, THREADS, o.repetitions),
            load_line(before, os.getloadavg()[0]), 'copy of %d MiB: %.2f ms (%.1f GB/s read and written)' % (copy.a.nbytes >> 20, best, rate / 1e9), '',
            "'leat' makes new results each run and releases them, as the peers do; 'leat kept' writes into the same arrays.", "Each peer's fastest way counts.", '', 'best'] + table(chosen, min, rate) + ['', 'median'] + \
        table(chosen, statistics.median, rate) + [''] + goals(chosen, rate) + [''] + ([] if o.only else small_rows(small(o.build)))
    print('\n'.join(text))
    if not o.no_file:
        folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'results'); os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, '%s-%s.txt' % (today, re.sub(r'[^a-z0-9]+', '-', cpu_name().lower()).strip('-')))
        with open(path, 'w') as f: f.write('\n'.join(text) + '\n')
        print('\nwritten to ' + os.path.relpath(path))


if __name__ == '__main__': main()
