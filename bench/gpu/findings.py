"""Checks the gains that leat's findings predict. Each program in findings/ has two variants, before and after following the advice. The
variant before is recorded, and the gain that the rule of its name predicts is compared with the actual gain, without tracing.

    findings.py --build build/gpu [--only small_grid,compiling] [--rounds 5] [--json FILE] [--keep FOLDER [--small]]

The host's speed varies from minute to minute. A round therefore runs before untraced, before recorded and after untraced directly one
after the other. Processes start beforehand and then work one at a time: PLAIN processes of a pair alternate at the untraced runs, and each
round's recording has a process and a trace of its own. Gain and prediction are medians over the rounds; the table also has the spread of
single predictions.

Prints a table. The exit status is 1 if fewer than nine of ten predictions are within 25 % (a pair whose library is missing is left out).
With --keep the traces of both variants are kept in the folder, with their reports. With --small nothing is compared: the programs do only
what the finding needs, and run in a folder without a user's name, so that their traces can be committed (tests/trace)."""
import argparse
import datetime
import glob
import importlib.util
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import waiting

HERE = os.path.dirname(os.path.abspath(__file__))
NOBODYS = '/tmp/leat-pairs'
WITHIN, NEEDED, MOST_SMALL_BYTES = 0.25, 0.9, 200_000
PLAIN, AT_ONCE = 2, 5  # untraced processes of a pair; pairs that start together
LATE_S, LATE_ROUNDS = 110, 3  # after this time pairs have fewer rounds


def options():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--build', default='build/gpu', help='folder of the leat command')
    p.add_argument('--only', default='', help='pairs, by the start of their names')
    p.add_argument('--rounds', type=int, default=5)
    p.add_argument('--json', default='', help='a file')
    p.add_argument('--keep', default='', help='a folder, for the traces and their reports')
    p.add_argument('--small', action='store_true', help='small traces alone')
    p.add_argument('--seconds', type=int, default=120, help='the longest that one line of a program may take')
    o = p.parse_args()
    if o.small and not o.keep:
        p.error('--small: say where to --keep the traces')
    return o


def leat(o):
    return os.path.join(o.build, 'leat')


def python():
    """The bare name, if it runs the same program: the name is in the trace."""
    return 'python3' if shutil.which('python3') == sys.executable else sys.executable


def report(o, trace, *words):
    return subprocess.run([leat(o), 'report', trace, *words], capture_output=True, text=True, timeout=o.seconds, check=True).stdout


# ---- processes that alternate

class Recorded(waiting.Program):
    """A pair's program under `leat trace`."""

    def __init__(self, o, path, trace):
        super().__init__([leat(o), 'trace', '-o', trace, '--from-start', 'off', python(), path], o.seconds)
        self.trace = trace


class Pair:
    def __init__(self, o, path, folder):
        self.name = os.path.basename(path)[:-3]
        self.rule = self.name.rsplit('_', 1)[0].replace('_', '-')
        self.times = {'before': [], 'after': [], 'recorded': []}
        def trace(kind): return os.path.join(folder, '%s.%s.trace' % (self.name, kind))
        self.recorded = [Recorded(o, path, trace(k)) for k in range(1 if o.small else o.rounds)]
        self.plain = [waiting.Program([python(), path], o.seconds) for _ in range(0 if o.small else PLAIN)]
        self.other = [Recorded(o, path, trace('after'))] if o.keep and not o.small else []
        for program in self.recorded:
            program.ask('before')
        for program in self.plain:
            program.ask('before')
            program.ask('after')

    def wait(self):
        """Waits until all have answered the first request, which warms them up."""
        for program in self.recorded + self.plain + self.plain:
            program.answer()

    def run(self):
        for k, recorded in enumerate(self.recorded):
            plain = self.plain[k % PLAIN] if self.plain else None
            if plain:
                self.times['before'].append(plain.told('before'))
            self.times['recorded'].append(recorded.told('before recorded'))
            if plain:
                self.times['after'].append(plain.told('after'))
        for program in self.other:
            program.told('after recorded')

    def programs(self):
        return self.recorded + self.plain + self.other


# ---- predictions and gains

def in_ns(text):
    number, unit = text.split()
    return float(number) * {'ns': 1, 'us': 1e3, 'ms': 1e6, 's': 1e9}[unit]


def predicted_ns(rule, finding):
    """The gain; for blamed-wait, which predicts none, the part of the measured time that is not the call's own."""
    if rule != 'blamed-wait':
        return finding['gain_ns']
    return in_ns(re.search(r': ([\d.]+ \w+) of its', finding['title']).group(1))


def told(o, pair):
    """For each recording: (predicted gain, its finding, all findings, the trace), sorted by predicted gain. 0: no finding."""
    all_ = []
    for program in pair.recorded:
        findings = json.loads(report(o, program.trace, '--findings', '--json'))['findings']
        ours = [f for f in findings if f['rule'] == pair.rule]
        all_.append((predicted_ns(pair.rule, ours[0]) if ours else 0, ours[0] if ours else None, findings, program.trace))
    return sorted(all_, key=lambda one: one[0])


def measured(o, pair):
    row = {'pair': pair.name, 'rule': pair.rule, 'times_ns': pair.times, 'recorded_ns': statistics.median(pair.times['recorded'])}
    promises = told(o, pair)
    promise, ours, findings, trace = promises[len(promises) // 2]
    row.update(all=[(f['rule'], f['gain_ns']) for f in findings], promises_ns=[p[0] for p in promises], trace_bytes=os.path.getsize(trace))
    if ours:
        row.update(predicted_ns=promise, title=ours['title'], places=ours['sources'])
    if not o.small:
        before, after = (statistics.median(pair.times[way]) for way in ('before', 'after'))
        row.update(before_ns=before, after_ns=after, gain_ns=before - after)
    if ours and not o.small:
        row['off'] = promise / row['gain_ns'] - 1 if row['gain_ns'] > 0 else float('inf')
    if o.keep:
        keep(o, pair, trace)
    return row


def keep(o, pair, trace):
    """The recording that counts, and one of the other variant."""
    kept = {'before': trace, **{'after': program.trace for program in pair.other}}
    for way, path in kept.items():
        base = os.path.join(o.keep, '%s.%s' % (pair.name, way))
        shutil.copyfile(path, base + '.trace')
        with open(base + '.txt', 'w') as file:
            file.write(report(o, path))


def is_good(o, row):
    if o.small:
        return 'title' in row and row['trace_bytes'] <= MOST_SMALL_BYTES
    return 'off' in row and abs(row['off']) <= WITHIN


def show(o, row):
    def ms(key): return '%10.3f' % (row[key] / 1e6) if key in row else '%10s' % '-'
    if 'error' in row:
        print('%-26s %s' % (row['pair'], row['error']), flush=True)
        return
    off = '%+5.0f %%' % (100 * row['off']) if 'off' in row else 'found' if 'title' in row else 'not found'
    apart = '%.2f to %.2f' % (row['promises_ns'][0] / 1e6, row['promises_ns'][-1] / 1e6)
    print('%-26s %s %s %s %s %s  %-9s %-3s %-20s %7.1f kB' %
          (row['pair'], ms('before_ns'), ms('recorded_ns'), ms('after_ns'), ms('gain_ns'), ms('predicted_ns'), off,
           'ok' if is_good(o, row) else 'NO', apart, row['trace_bytes'] / 1e3))
    print('    ' + row.get('title', 'found instead: ' + ', '.join('%s %.1f ms' % (r, g / 1e6) for r, g in row['all'])), flush=True)


# ---- all pairs

FAILURES = (RuntimeError, subprocess.SubprocessError, AttributeError, ValueError, KeyError, OSError)


def tried(action, pair):
    """None on success, otherwise the output to show."""
    try:
        action()
    except FAILURES as error:
        return {'pair': pair.name, 'error': 'failed: %s' % error}


def rows_of(o, paths, folder):
    """Pairs that start together. Nothing else runs during a round; programs end, and traces are read, after all rounds."""
    pairs = [Pair(o, path, folder) for path in paths]
    failed = {pair: tried(pair.wait, pair) for pair in pairs}
    for pair in pairs:
        failed[pair] = failed[pair] or tried(pair.run, pair)
    waiting.end_all([program for pair in pairs for program in pair.programs()])
    for pair in pairs:
        row = {}
        failed[pair] = failed[pair] or tried(lambda: row.update(measured(o, pair)), pair)
        yield failed[pair] or row


def paths_of_pairs(o):
    here = os.path.join(HERE, 'findings')
    if o.small:
        shutil.copytree(here, NOBODYS, dirs_exist_ok=True)
        here = NOBODYS
        os.environ['PAIR_SMALL'] = '1'
    paths = [p for p in sorted(glob.glob(os.path.join(here, '*_*.py'))) if not os.path.basename(p).startswith('pair')]
    return [p for p in paths if os.path.basename(p).startswith(tuple(o.only.split(',')))]


def all_rows(o, folder):
    paths = []
    for path in paths_of_pairs(o):
        name = os.path.basename(path)[:-3]
        if importlib.util.find_spec(name.rsplit('_', 1)[1]) is None:
            print('%-26s its library is not here' % name)
        else:
            paths.append(path)
    start = time.perf_counter()
    for k in range(0, len(paths), AT_ONCE):
        if time.perf_counter() - start > LATE_S and o.rounds > LATE_ROUNDS:
            o.rounds = LATE_ROUNDS
            print('late: %d rounds from here on' % o.rounds, flush=True)
        for row in rows_of(o, paths[k:k + AT_ONCE], folder):
            show(o, row)
            yield row


def main():
    o, start = options(), time.perf_counter()
    os.environ['XLA_PYTHON_CLIENT_PREALLOCATE'] = 'false'
    if o.keep:
        os.makedirs(o.keep, exist_ok=True)
    print('%s: gains that findings predict beside those that come; ms, medians of %d rounds' % (datetime.date.today(), o.rounds))
    print('%-26s %10s %10s %10s %10s %10s  %-13s %-20s %10s' %
          ('pair', 'before', 'recorded', 'after', 'gain', 'predicted', 'off', 'single predictions', 'trace'))
    with tempfile.TemporaryDirectory() as folder:
        rows = list(all_rows(o, folder))
    if o.json:
        with open(o.json, 'w') as file:
            for row in rows:
                file.write(json.dumps(row) + '\n')
    good = sum(is_good(o, row) for row in rows)
    print('%d of %d %s; %.0f s in all' % (good, len(rows), 'found in small traces' if o.small else 'within %d %%' % (100 * WITHIN),
                                          time.perf_counter() - start))
    sys.exit(0 if rows and good >= NEEDED * len(rows) else 1)


main()
