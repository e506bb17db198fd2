"""Compares Leat's programs on a GPU with CuPy, Numba, PyTorch and JAX in one run, each library in a process of its own. Every case is
judged by the limit that the same run measured for its bytes, or by the best peer. Prints text to stdout and JSON lines to --json.

    programs.py --build build/gpu                    all of it, under 5 minutes
    programs.py --build build/gpu --quick            fewer repeats, CuPy and PyTorch without compile, no fresh processes
    programs.py --build build/release --device sim --tiny     Leat alone at tiny sizes, compared with NumPy; no GPU"""
import argparse
import concurrent.futures
import datetime
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import program_cases
from program_worker import agree, fingerprint

HERE = os.path.dirname(os.path.abspath(__file__))
PEERS = ['cupy', 'numba', 'torch', 'jax']
SECONDS = {'leat': 80, 'cupy': 60, 'numba': 45, 'torch': 60, 'jax': 60}  # after this time no further case is begun


def options():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--build', default='build/gpu', help='folder of libleat.so and bench_gpu_first')
    p.add_argument('--device', default='cuda', help="Leat's: cuda, sim or cpu")
    p.add_argument('--only', default='', help='cases, by key: add5,softmax_short; also new, first')
    p.add_argument('--peers', default=None, help='of %s; default all' % ','.join(PEERS))
    p.add_argument('--quick', action='store_true')
    p.add_argument('--tiny', action='store_true')
    p.add_argument('--json', default='', help='a file')
    o = p.parse_args()
    o.repeats = 1 if o.tiny else 7 if o.quick else 15
    o.peers = ([] if o.tiny else ['cupy', 'torch'] if o.quick else PEERS) if o.peers is None else [p for p in o.peers.split(',') if p]
    return o


# ---- one process for each library

def data(o, z, cases):
    """The pools as files in memory, if there is room for them, else on disk."""
    room = '/dev/shm' if os.path.isdir('/dev/shm') and shutil.disk_usage('/dev/shm').free > 8 << 30 else None
    folder = tempfile.mkdtemp(prefix='leat-bench-', dir=room)
    wanted = {v.pool for c in cases for v in c.inputs.values() if isinstance(v, program_cases.Input)}
    for name, (dtype, count, make) in program_cases.pools(z).items():
        if name in wanted:
            made = np.lib.format.open_memmap(os.path.join(folder, name + '.npy'), 'w+', dtype, (count,))
            with concurrent.futures.ThreadPoolExecutor() as workers:
                list(workers.map(lambda at: fill(made[at:at + (1 << 24)], at, make), range(0, count, 1 << 24)))
    return folder


def fill(part, at, make): part[:] = make(at, len(part))


def caches(folder):
    """Empties every library's cache of compiled code."""
    names = {'LEAT_CACHE_DIR': 'leat', 'CUPY_CACHE_DIR': 'cupy', 'NUMBA_CACHE_DIR': 'numba', 'TORCHINDUCTOR_CACHE_DIR': 'torch',
             'TRITON_CACHE_DIR': 'triton', 'CUDA_CACHE_PATH': 'cuda'}
    made = {k: os.path.join(folder, v) for k, v in names.items()}
    for path in made.values():
        os.makedirs(path, mode=0o700, exist_ok=True)
    return {**os.environ, 'CUPY_ACCELERATORS': 'cub', **made}


def work(o, name, folder, only, env, seconds):
    """The lines that a worker prints; they count however the worker ends."""
    line = [sys.executable, os.path.join(HERE, 'program_worker.py'), name, folder, '--cases', only, '--repeats', str(o.repeats),
            '--seconds', str(seconds), '--library', os.path.join(o.build, 'libleat.so'), '--device', o.device]
    line += ['--tiny'] * o.tiny + ['--quick'] * o.quick
    started = time.monotonic()
    with open(os.path.join(folder, name + '.err'), 'w+') as err:
        try:
            done = subprocess.run(line, stdout=subprocess.PIPE, stderr=err, text=True, env=env, timeout=seconds + 40)
            out, code = done.stdout, done.returncode
        except subprocess.TimeoutExpired as e:
            out, code = e.stdout or '', 'no end'
            out = out.decode() if isinstance(out, bytes) else out
        err.seek(0)
        why = err.read().strip().split('\n')[-1][:200] if code else ''
    made = [json.loads(text) for text in out.splitlines() if text.startswith('{')]
    print('%s: %.0f s' % (name, time.monotonic() - started), file=sys.stderr, flush=True)
    return made + ([{'peer': name, 'failed': '%s: %s' % (code, why)}] if code else [])


# ---- judging

class Run:
    """All lines, by case and library, without figures whose values are wrong."""

    def __init__(self, o, z, cases, lines, folder):
        self.cases, self.lines, self.folder = cases, lines, folder
        self.at = {(x['case'], x['peer']): x for x in lines if 'case' in x}
        self.wrong = {}
        for c in cases:
            self.check(o, c)

    def made(self, key, peer):
        path = os.path.join(self.folder, '%s-%s.npz' % (peer, key))
        return dict(np.load(path)) if os.path.exists(path) else None

    def reference(self, o, c):
        """The values of CuPy or another peer; at tiny sizes NumPy's, in f64."""
        if o.tiny:
            v = {}
            for name, value in c.inputs.items():
                is_array = isinstance(value, program_cases.Input)
                a = value.of(np.load(os.path.join(self.folder, value.pool + '.npy'))) if is_array else value
                v[name] = a.astype(np.float64) if getattr(a, 'dtype', None) == np.float32 else a
            return 'numpy', fingerprint([c.natural(c.expected(np, v))])
        for peer in PEERS:
            found = self.made(c.key if not c.like else c.like, peer)
            if found:
                return peer, found
        return None, None

    def check(self, o, c):
        who, want = self.reference(o, c)
        for peer in ['leat'] + PEERS:
            line, got = self.at.get((c.key, peer)), self.made(c.key, peer)
            if not line or line['us'] is None or not got:
                continue
            if want is None:
                self.wrong[c.key, peer] = 'nothing to compare with'
                continue
            said = agree(got, want, c.tolerance)
            if said:
                self.wrong[c.key, peer] = 'differs from %s, %s' % (who, said)
                line['us'] = None

    def us(self, c, peer):
        line = self.at.get((c.key if peer == 'leat' or not c.like else c.like, peer))
        return line['us'] if line else None

    def limit(self, c):
        line = self.at.get((c.key, 'leat'))
        return line and line.get('limit_us')

    def best_peer(self, c):
        times = [t for t in (self.us(c, p) for p in PEERS) if t]
        return min(times) if times else None




def times(ratio): return '%.2f' % ratio if ratio else '-'


def micro(us): return '-' if us is None else '%.1f' % us if us < 1000 else '%.0f' % us


def judged(run, c):
    """(the goal in words, and ok, MISSED or the reason for neither)."""
    what, factor = c.goal
    if not what:
        return '', ''
    against = {'limit': run.limit, 'peer': run.best_peer, 'us': lambda c: 1}.get(what, lambda c: run.us(c, what))(c)
    words = '<= %g us' % factor if what == 'us' else '%g x %s' % (factor, what)
    leat = run.us(c, 'leat')
    return words, 'MISSED' if leat is None else 'not judged' if not against else 'ok' if leat <= factor * against else 'MISSED'


def values(run):
    """At tiny sizes: which libraries have correct values."""
    rows = []
    for c in run.cases:
        for p in ['leat'] + PEERS:
            line = run.at.get((c.key, p))
            if line or p == 'leat':
                wrong = [run.wrong.get((c.key, p))] + (['%s %s' % e for e in line['errors'].items()] if line else ['was not run'])
                rows.append('%-36s%-6s %s' % (c.label, p, '; '.join(e for e in wrong if e) or 'ok'))
    return rows


def table(o, run):
    peers = ['%10s' % p for p in o.peers]
    rows = ['%-36s%10s%10s%8s  %-13s%s%8s' % ('us', 'leat', 'limit', 'ratio', 'goal', ''.join(peers), 'l/best')]
    for c in run.cases:
        leat, limit, best = run.us(c, 'leat'), run.limit(c), run.best_peer(c)
        goal, said = judged(run, c)
        ratio = lambda other: times(leat / other if leat and other else None)
        rows.append('%-36s%10s%10s%8s  %-13s%s%8s  %s' % (c.label, micro(leat), micro(limit), ratio(limit), goal,
                                                      ''.join('%10s' % micro(run.us(c, p)) for p in o.peers), ratio(best), said))
        rows += errors(run, c)
    return rows


def errors(run, c):
    line = run.at.get((c.key, 'leat'))
    said = [run.wrong.get((c.key, 'leat'))] + (list(line['errors'].values()) if line else ['was not run'])
    return ['    leat: ' + e for e in said if e]


def five(run):
    """Compares the ways to write the discount workload."""
    made = [run.us(c, 'leat') for c in run.cases if c.key.startswith('discount') and c.goal[0] == 'limit']
    if len(made) < 5:  # --only
        return []
    if None in made:
        return ['discount: not all five ways ran   MISSED']
    spread = max(made) / min(made)
    said = 'ok' if spread <= 1.05 else 'MISSED'
    return ['discount: the slowest of the five ways takes %.3f times the fastest (goal: 1.05)   %s' % (spread, said)]


def details(run):
    """The slower variants of the peers, and those that failed or were wrong."""
    rows = []
    for c in run.cases:
        for p in PEERS:
            line = run.at.get((c.key, p))
            if not line:
                continue
            said = ['%s %s' % (way, micro(us)) for way, us in line['ways'].items()]
            said += ['%s FAILED, %s' % e for e in line['errors'].items()]
            wrong = run.wrong.get((c.key, p))
            rows.append('%-36s%-6s %s' % (c.label, p, '; '.join(said + (['WRONG: ' + wrong] if wrong else []))))
    return rows


# ---- new processes and new expressions

def spent_ms(line, env):
    """The time that a process reports since its start was requested, which is its last argument; the parts of that time; and the
    time from its last step to its end."""
    start = time.monotonic_ns()
    done = subprocess.run(line + [str(start)], capture_output=True, text=True, env=env, timeout=60)
    all_ms = (time.monotonic_ns() - start) / 1e6
    if done.returncode:
        raise RuntimeError(done.stderr.strip().split('\n')[-1][:200])
    said = done.stdout.strip().split(' ')
    ms = float(said[-1])
    return ms, ' '.join(said[:-1]).rstrip(','), all_ms - ms


FIRST_TURNS = 11


def first_results(o, folder, lines):
    """From the start of a process to x+x+x+x+x of 1,000 numbers: with an empty cache of compiled code, then with the filled one. Leat
    alternates with the driver alone, because the same context takes 95 ms in one process and 125 ms in the next."""
    calls = os.path.join(o.build, 'bench', 'bench_gpu_calls')
    rows = ['first result in a fresh process, ms; medians of %d in turns, the peers once' % FIRST_TURNS]
    spent, failed = {}, {}

    def spend(what, line, keep):
        """Adds the times to spent, by the name of the cache."""
        if what in failed:
            return
        env = caches(tempfile.mkdtemp(dir=folder))
        try:
            for name in ('empty cache', 'warm cache')[:1 + keep]:
                spent.setdefault(what, {}).setdefault(name, []).append(spent_ms(line, env))
        except (OSError, RuntimeError, ValueError, subprocess.TimeoutExpired) as e:
            failed[what] = e

    def middle(what): return {name: sorted(made)[len(made) // 2] for name, made in spent.get(what, {}).items() if made}

    def tell(what, goal=''):
        made = middle(what)
        phases = ['    %s: %s, to the end of the process %.1f' % (name, said, end) for name, (_, said, end) in made.items() if said]
        lines.append({'first': what, 'ms': {name: m[0] for name, m in made.items()}, 'phases': phases})
        said = ' '.join('%10.1f %s' % (m[0], name) for name, m in made.items()) + goal
        rows.append('%-36s%s' % (what, ' ' + str(failed[what]) if what in failed else said))
        rows.extend(phases)
    alone = 'cuInit + context'
    for k in range(FIRST_TURNS):
        turn = [(alone, [calls, 'context', o.device], False), ('leat', [calls, 'first', o.device], True)]
        for one in turn if k % 2 else reversed(turn):
            spend(*one)
    goal = ''
    if not failed:
        ratio = middle('leat')['empty cache'][0] / middle(alone)['empty cache'][0]
        goal = '   %.2f x context (goal: 1.1)   %s' % (ratio, 'ok' if ratio <= 1.1 else 'MISSED')
    tell(alone)
    tell('leat', goal)
    for p in o.peers:
        if p != 'torch':
            spend(p, [sys.executable, os.path.join(HERE, 'program_first.py'), p], True)
            tell(p)
    return rows + ['']


NEW_GOALS = {'arithmetic': 15, 'softmax': 40, 'Black-Scholes': 40}
EIGHT_GOAL = 1.5


def new_expressions(o, run, again):
    """again: the output of a second process of Leat, with the cache that the first one filled."""
    rows = ['a new expression in a warm process, ms; with a thread that compiles it meanwhile']
    for x in run.lines:
        if 'new' in x and x['peer'] == 'leat' and x['ms'] is not None:
            others = ['%s %.1f' % (y['peer'] + y['new'][len(x['new']):].replace(', ', ' '), y['ms']) for y in run.lines
                      if 'new' in y and y['peer'] != 'leat' and y['new'].startswith(x['new'])]
            disk = [y['ms'] for y in again if y.get('new') == x['new']]
            goal = NEW_GOALS.get(x['new'])
            if goal is None:
                judged_eight = '' if x['new'] != program_cases.EIGHT else ' (goal: %g)  %s' % (EIGHT_GOAL, 'ok' if x['ms'] <= EIGHT_GOAL else 'MISSED')
                rows.append('%-48s%10.2f%s' % (x['new'], x['ms'], judged_eight))
                continue
            said = 'ok' if x['ms'] <= goal else 'MISSED'
            rows.append('%-48s%10.2f (goal: %d)   %-9s%s' % (x['new'], x['ms'], goal, said, ', '.join(others)))
            if disk and disk[0] is not None:
                rows.append('%-48s%10.2f (goal: 1)   %s' % ('    from the disk cache', disk[0], 'ok' if disk[0] <= 1 else 'MISSED'))
        elif 'new' in x and x['ms'] is None:
            rows.append('%s   MISSED' % x['new'])
    return rows + [''] if len(rows) > 1 else []


def warm_calls(o, run, env):
    """Calls of n = 1,000 from C, as Leat's users make them. Leat's figures above are these."""
    try:
        out = subprocess.run([os.path.join(o.build, 'bench', 'bench_gpu_calls'), 'warm', o.device], capture_output=True, text=True,
                             env=env, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as e:
        return ['calls from C: %s' % e]
    if out.returncode:
        return ['calls from C: ' + out.stderr.strip()[:200]]
    *figures, kernel, graph = map(float, out.stdout.split())
    rows = ['the driver alone takes %.2f us to launch a kernel that does nothing, %.2f as a graph' % (kernel, graph)] if kernel else []
    for key, us in zip(('add5_call', 'add5_call_wait'), figures):
        line = run.at.get((key, 'leat'))
        if line and line['us'] is not None:
            rows.append('%s: leat from C %.2f us, through ctypes %.2f us' % (key, us, line['us']))
            line['us'] = us
    return rows


# ---- the text

def said_by(command):
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=20, cwd=HERE).stdout.strip().split('\n')[0]
    except (OSError, subprocess.TimeoutExpired):
        return ''


def header(o, lines):
    gpu = said_by(['nvidia-smi', '--query-gpu=name,driver_version', '--format=csv,noheader']) if o.device == 'cuda' else o.device
    commit = os.environ.get('LEAT_COMMIT', '') or said_by(['git', 'rev-parse', '--short', 'HEAD'])
    first = '%s, %s, %d cores%s' % (datetime.date.today().isoformat(), gpu, os.cpu_count(), ', commit ' + commit if commit else '')
    kind = 'tiny: values only' if o.tiny else 'quick' if o.quick else 'full'
    return [first, '; '.join([x['version'] for x in lines if 'version' in x]) + '; python ' + sys.version.split()[0],
            '%s run, medians of %d (fewer where one takes over 0.1 s); device times by events' % (kind, o.repeats),
            'JAX has no events: times by the host, over several calls and one wait',
            'limit: a plain kernel that copies (sums: reads) the same bytes, in the same process, the best of three',
            "each library's fastest way counts, if its values agree with CuPy's", '']


def main():
    started = time.monotonic()
    o = options()
    z = program_cases.Sizes(o.tiny)
    cases = [c for c in program_cases.fill(z) if not o.only or c.key in o.only.split(',')]
    folder = data(o, z, cases)
    try:
        lines, parts = measure(o, z, cases, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    text = '\n'.join(header(o, lines) + parts + ['took %.0f s' % (time.monotonic() - started)])
    print(text)
    if o.json:
        with open(o.json, 'w') as f:
            f.writelines(json.dumps(x) + '\n' for x in lines)
    failed = [x for x in lines if 'failed' in x and x['peer'] == 'leat']
    return 1 if failed or o.tiny and not all(row.endswith(' ok') for row in parts if row) else 0


def measure(o, z, cases, folder):
    """(all lines, the text's rows)."""
    env, lines = caches(os.path.join(folder, 'caches')), []
    for name in ['leat'] + o.peers:
        lines += work(o, name, folder, o.only, env, 500 if o.tiny else SECONDS[name])
    again = [] if o.tiny or o.only and 'new' not in o.only.split(',') else work(o, 'leat', folder, 'new', env, 30)
    run = Run(o, z, cases, lines, folder)
    failed = ['%s FAILED: %s' % (x['peer'], x['failed']) for x in lines if 'failed' in x]
    if o.tiny:
        return lines, failed + values(run)
    calls = warm_calls(o, run, env) if any(c.key.startswith('add5_call') for c in cases) else []
    rows = failed + (table(o, run) if cases else []) + ['']
    rows += five(run) + calls + [''] + new_expressions(o, run, again)
    if not o.quick and (not o.only or 'first' in o.only.split(',')):
        rows += first_results(o, folder, lines)
    more = details(run)
    return lines, rows + (["the peers' ways, us"] + more + [''] if more else [])


if __name__ == '__main__':
    sys.exit(main())
