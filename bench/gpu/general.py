"""The general GPU benchmark: works of five classes, each at three sizes, as Leat's programs and in the best ways of PyTorch, CuPy and
JAX, each library in a process of its own. A shard fits a call of eight minutes. Every line of JSON is written as soon as it is measured,
and the text is written anew after each, so that a run that is cut off leaves what it has.

    general.py --build build/gpu --shard 1/8 --json A.jsonl --to A.txt      one shard; adds to the lines of A.jsonl
    general.py --report A.jsonl B.jsonl ...                                 one table from the lines of several shards
    general.py --build build/gpu --only softmax_columns,distances/huge      some works, or works at a size
    general.py --build build/release --dry --device cpu                     Leat alone at tiny sizes, compared with NumPy; no GPU
    general.py --build build/release --dry --device cpu --peers torch,jax   those libraries' values as well, on the CPU"""
import argparse
import concurrent.futures
import datetime
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np

import general_work
import general_works

HERE = os.path.dirname(os.path.abspath(__file__))
PEERS = ['torch', 'cupy', 'jax']
PARTS = {'leat': 0.28, 'torch': 0.36, 'cupy': 0.16, 'jax': 0.20}  # of the seconds of a shard
KILLED_AFTER = 20  # seconds that a case may go on when its library's time is over


def options():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--build', default='build/gpu', help='folder of libleat.so')
    p.add_argument('--device', default='cuda', help="Leat's: cuda, sim or cpu")
    p.add_argument('--only', default='', help='works, works at a size, classes or sizes: fir,distances/huge,maps,odd')
    p.add_argument('--shard', default=os.environ.get('GENERAL_SHARD', '1/1'), help='K/N; default $GENERAL_SHARD')
    p.add_argument('--peers', default=None, help='of %s; default all' % ','.join(PEERS))
    p.add_argument('--seconds', type=float, default=420, help='for all libraries together')
    p.add_argument('--quick', action='store_true', help='fewer repeats, no torch.compile')
    p.add_argument('--dry', nargs='?', const='dry', default='', choices=general_work.SIZES, help='values only, at tiny sizes or another')
    p.add_argument('--json', default='', help='a file of lines, to which this run adds')
    p.add_argument('--to', default='', help='a file for the text')
    p.add_argument('--report', nargs='+', default=[], help='files of lines')
    o = p.parse_args()
    o.repeats = 1 if o.dry else 7 if o.quick else 15
    o.peers = ([] if o.dry else PEERS) if o.peers is None else [p for p in o.peers.split(',') if p]
    return o


def chosen(o):
    cases = [general_work.Case(w, which) for w in general_works.works() for which in w.sizes if (which == o.dry if o.dry else which != 'dry')]
    only = o.only.split(',') if o.only else []
    cases = [c for c in cases if not only or {c.name, c.work.key, c.work.group, c.which} & set(only)]
    turn, count = map(int, o.shard.split('/'))
    return sorted(cases[turn - 1::count], key=lambda c: -general_work.SIZES.index(c.which))  # if time runs out, small ones are left


# ---- one process for each library

def fill(part, at): part[:] = np.random.default_rng((17, at)).standard_normal(len(part), np.float32)


def data(cases):
    """A folder with the pool of numbers, in memory if there is room, else on disk."""
    count = max(c.work.needs(c.which) for c in cases)
    room = '/dev/shm' if os.path.isdir('/dev/shm') and shutil.disk_usage('/dev/shm').free > 4 << 30 else None
    folder = tempfile.mkdtemp(prefix='leat-general-', dir=room)
    made = np.lib.format.open_memmap(os.path.join(folder, 'pool.npy'), 'w+', 'f4', (count,))
    with concurrent.futures.ThreadPoolExecutor() as workers:
        list(workers.map(lambda at: fill(made[at:at + (1 << 22)], at), range(0, count, 1 << 22)))
    return folder


def work(o, name, folder, cases, seconds, take):
    """Runs a library's process and passes its lines on as they come. They count however the process ends."""
    line = [sys.executable, os.path.join(HERE, 'general_worker.py'), name, folder, '--cases', ','.join(c.name for c in cases),
            '--repeats', str(o.repeats), '--seconds', str(seconds), '--library', os.path.join(o.build, 'libleat.so'), '--device', o.device]
    line += ['--dry'] * bool(o.dry) + ['--quick'] * o.quick
    caches = {k: os.path.join(folder, v) for k, v in
              {'CUPY_CACHE_DIR': 'cupy', 'TORCHINDUCTOR_CACHE_DIR': 'inductor', 'TRITON_CACHE_DIR': 'triton'}.items()}
    environment = {**os.environ, 'CUPY_ACCELERATORS': 'cub', **({} if o.dry else caches)}
    with open(os.path.join(folder, name + '.err'), 'w+') as err:
        process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=err, text=True, env=environment)
        late = threading.Timer(seconds + KILLED_AFTER, process.kill)
        late.start()
        try:
            for text in process.stdout:
                if text.startswith('{'):
                    take(json.loads(text))
            code = process.wait()
        finally:
            late.cancel()
            process.kill()
        if code:
            err.seek(0)
            said = [text for text in err.read().split('\n') if text.strip()] or ['']
            take({'peer': name, 'failed': '%s: %s' % ('killed' if code < 0 else code, said[-1][:200])})


# ---- judging

class Judged:
    """A work at one size, from the lines of all libraries."""

    def __init__(self, case, lines):
        self.case, self.lines = case, lines
        leat = lines.get('leat', {})
        self.leat, self.floors = leat.get('ways', {}).get('leat'), leat.get('floors', {})
        ways = [(us, '%s, %s' % (p, label)) for p in PEERS for label, us in lines.get(p, {}).get('ways', {}).items()
                if us and label not in lines[p]['uncounted']]
        self.best, self.best_name = min(ways) if ways else (None, '')
        differing = [e for p in PEERS for e in lines.get(p, {}).get('errors', {}).values() if 'WRONG' in e]
        self.doubtful = bool(differing) and not ways and not any(lines[p]['ways'] for p in PEERS if p in lines)
        if self.doubtful:
            self.leat = None

    def bound(self):
        """(what the floor is, the floor in us, the time that the class allows above it)."""
        allowed = self.case.work.goal['of_floor']
        made = [(us * (general_work.OF_BYTES if what == 'bytes' and self.case.work.group == 'sums' else allowed or 1), what, us)
                for what, us in self.floors.items()]
        if not made:
            return '', None, None
        most, what, us = max(made)
        return what, us, most if allowed else None

    def ratio(self): return self.leat / self.best if self.leat and self.best else None

    def verdict(self):
        most = self.bound()[2]
        if self.leat is None:
            return 'MISSED'
        by_peer = self.best and self.leat <= self.case.work.goal['of_peer'] * self.best
        by_floor = most and self.leat <= most
        if not self.best and not most:
            return 'not judged'
        return 'ok' if by_peer and (by_floor or not most) else 'ok by the peer' if by_peer else 'ok by the floor' if by_floor else 'MISSED'


def mean(ratios): return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None


def times(ratio): return '%.2f' % ratio if ratio else '-'


def micro(us): return '-' if us is None else '%.1f' % us if us < 1000 else '%.0f' % us


def judged(lines):
    """All works and sizes that have a line of Leat or a peer, in order; of several lines the last counts."""
    at = {}
    for x in lines:
        if 'case' in x:
            at.setdefault(x['case'], {})[x['peer']] = x
    cases = [general_work.Case(w, which) for w in general_works.works() for which in w.sizes]
    return [Judged(c, at[c.name]) for c in cases if c.name in at]


def table(rows):
    text = []
    for group, goal in general_work.GOALS.items():
        own = [j for j in rows if j.case.work.group == group]
        if own:
            text += ['', '%-52s%9s%9s %-5s%8s%9s%8s' % (group + ', us', 'leat', 'floor', '', 'l/floor', 'peer', 'l/peer')]
        for j in own:
            what, floor, _ = j.bound()
            text.append('%-52s%9s%9s %-5s%8s%9s%8s  %-15s %s' % (
                j.case.label, micro(j.leat), micro(floor), what, times(j.leat / floor if j.leat and floor else None), micro(j.best),
                times(j.ratio()), j.verdict(), j.best_name))
            text += ['    leat: ' + e for e in j.lines.get('leat', {}).get('errors', {}).values()]
            text += ['    leat: no peer computes the same values'] * j.doubtful
    return text


def summary(rows):
    text = ['', '%-12s%8s%14s%8s%8s%20s' % ('class', 'works', 'mean l/peer', 'ok', 'MISSED', 'goal of the mean')]
    for group in list(general_work.GOALS) + ['all']:
        own = [j for j in rows if group in ('all', j.case.work.group)]
        ratios, verdicts = [j.ratio() for j in own if j.ratio()], [j.verdict() for j in own]
        if own:
            goal, reached = 0.85 if group == 'all' else 1.0, mean(ratios)
            text.append('%-12s%8d%14s%8d%8d%20s  %s' % (group, len(own), times(reached), sum(v.startswith('ok') for v in verdicts),
                                                     verdicts.count('MISSED'), '<= %.2f' % goal,
                                                     '' if reached is None else 'ok' if reached <= goal else 'MISSED'))
    return text


def details(rows):
    text = ['', "the peers' ways, us; a way in parentheses does not count"]
    for j in rows:
        for p in PEERS:
            line = j.lines.get(p)
            if line:
                said = [('(%s %s)' if way in line['uncounted'] else '%s %s') % (way, micro(us)) for way, us in line['ways'].items()]
                said += ['%s FAILED, %s' % e for e in line['errors'].items()]
                said += ['%s, compiled: no time left' % way for way in line.get('left_out', [])]
                text.append('%-52s%-6s %s' % (j.case.label, p, '; '.join(said) or 'no way'))
    return text


def report(lines):
    rows = judged(lines)
    said = list(dict.fromkeys(x['header'] for x in lines if 'header' in x))
    versions = list(dict.fromkeys(x['version'] for x in lines if 'version' in x))
    failed = ['%s FAILED: %s' % (x['peer'], x['failed']) for x in lines if 'failed' in x]
    head = said + ['; '.join(versions)] + [x['measured'] for x in lines if 'measured' in x] + [
        'device times by events, medians; short ways of PyTorch and CuPy also as a CUDA graph of 20 runs, for which the host costs nothing;',
        'JAX has no events: times by the host, over several calls and one wait',
        "floor: the time of a plain kernel that copies (or reads) the same bytes in the same run, or of the terms' instructions at probed rates",
        "ok: within the class's factor of the best peer and of the floor; 'by the peer' or 'by the floor': of one of them. A peer's way counts",
        "if its values agree with Leat's. cuDNN may choose Winograd where JAX and CuPy call it; for PyTorch such ways do not count."]
    return '\n'.join(head + failed + table(rows) + summary(rows) + details(rows)) + '\n'


def values(rows):
    """Of a dry run: (a row for each work and library, whether all are right)."""
    text, right = [], True
    for j in rows:
        for p, line in j.lines.items():
            said = ['%s %s' % e for e in line['errors'].items()] or ['ok' if line['ways'] else 'no way']
            right = right and not line['errors']
            text.append('%-24s%-6s %s  %.2f s' % (j.case.work.key, p, '; '.join(said), line['seconds']))
    return text, right


# ---- the run

def said_by(command):
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=20, cwd=HERE).stdout.strip().split('\n')[0]
    except (OSError, subprocess.TimeoutExpired):
        return ''


def header(o):
    gpu = said_by(['nvidia-smi', '--query-gpu=name,driver_version', '--format=csv,noheader']) if o.device == 'cuda' else o.device
    commit = os.environ.get('LEAT_COMMIT', '') or said_by(['git', 'rev-parse', '--short', 'HEAD'])
    return '%s, %s, %d cores%s; %s run, shard %s' % (datetime.date.today().isoformat(), gpu, os.cpu_count(), ', commit ' + commit if commit else '',
                                           'dry' if o.dry else 'quick' if o.quick else 'full', o.shard)


def read(path):
    if not os.path.exists(path):
        return []
    with open(path) as f:
        return [json.loads(text) for text in f if text.startswith('{') and text.endswith('}\n')]


class Lines:
    """All lines so far, in the files as well."""

    def __init__(self, o):
        first = header(o)
        self.o, self.all = o, read(o.json) if o.json else []
        if any(x['header'].split(';')[0] != first.split(';')[0] for x in self.all if 'header' in x):  # of another day, device or commit
            os.replace(o.json, o.json + '.old')
            self.all = []
        self.take({'header': first})

    def take(self, line):
        self.all.append(line)
        if self.o.json:
            with open(self.o.json, 'a') as f:
                f.write(json.dumps(line) + '\n')
        if self.o.to:
            with open(self.o.to + '.new', 'w') as f:
                f.write(report(self.all))
            os.replace(self.o.to + '.new', self.o.to)
        if not self.o.dry:
            print(json.dumps(line), file=sys.stderr, flush=True)


def main():
    o = options()
    if o.report:
        print(report([x for path in o.report for x in read(path)]), end='')
        return 0
    cases = chosen(o)
    if not cases:
        print('general.py: no such work: ' + o.only, file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # removes the folder and ends the library's process
    lines, folder, started = Lines(o), data(cases), time.monotonic()
    try:
        names = ['leat'] + o.peers
        for k, name in enumerate(names):
            spent = time.monotonic() - started
            lines.take({'peer': name, 'begun': round(spent)})
            seconds = 500 if o.dry else (o.seconds - spent) * PARTS[name] / sum(PARTS[p] for p in names[k:])
            work(o, name, folder, cases, max(seconds, 10), lines.take)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if not o.dry:
        print(report(lines.all), end='')
        return 1 if any('failed' in x and x['peer'] == 'leat' for x in lines.all) else 0
    rows = judged(lines.all)
    text, right = values(rows)
    failed = ['%s FAILED: %s' % (x['peer'], x['failed']) for x in lines.all if 'failed' in x]
    print('\n'.join(text + failed + ['%d works, %.1f s' % (len(cases), time.monotonic() - started)]))
    return 0 if right and not failed and len(rows) == len(cases) else 1


if __name__ == '__main__':
    sys.exit(main())
