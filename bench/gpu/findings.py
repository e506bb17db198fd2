"""Is what leat's findings promise true? For each pair of programs in findings/: the one before the advice is traced, and the gain
that the rule of its name predicts is compared with what the one after it gains, both run without tracing.

    findings.py --build build/gpu [--only small_grid,compiling] [--repeats 5] [--json FILE] [--keep FOLDER [--small]]

A table to stdout; exit status 1 if fewer than nine of ten are within 25 % (a pair whose library is not here is left out). With --keep the
traces of both programs stay in the folder, with their reports. With --small nothing is compared: the programs do as little as the finding
needs, and run from a folder of no one's, so that their traces can be committed (tests/trace)."""
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

HERE = os.path.dirname(os.path.abspath(__file__))
NOBODYS = '/tmp/leat-pairs'
WITHIN, NEEDED, MOST_SMALL_BYTES = 0.25, 0.9, 200_000


def options():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--build', default='build/gpu', help='folder of the leat command')
    p.add_argument('--only', default='', help='pairs, by the start of their names')
    p.add_argument('--repeats', type=int, default=5)
    p.add_argument('--json', default='', help='a file')
    p.add_argument('--keep', default='', help='a folder, for the traces and their reports')
    p.add_argument('--small', action='store_true', help='small traces alone')
    p.add_argument('--seconds', type=int, default=120, help='the longest that one program may take')
    o = p.parse_args()
    if o.small and not o.keep:
        p.error('--small: say where to --keep the traces')
    return o


def leat(o):
    return os.path.join(o.build, 'leat')


def python():
    """By its name, where that is the same: the name is in the trace."""
    return 'python3' if shutil.which('python3') == sys.executable else sys.executable


def run(command, seconds):
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
    if done.returncode:
        own = [line for line in done.stderr.splitlines() if line.strip() and not line.startswith('leat: ')]
        raise RuntimeError(own[-1] if own else 'status %d' % done.returncode)
    return done.stdout


def times_ns(out, way):
    return [int(took) for took in re.findall(r'^%s (\d+)$' % way, out, re.M)]


def measured_ns(o, path):
    """Medians of the ways, by name."""
    out = run([python(), path, 'measure', str(o.repeats)], o.seconds)
    return {way: statistics.median(times_ns(out, way)) for way in ('before', 'after')}


def record(o, path, way, trace):
    """What the way took while it was recorded."""
    out = run([leat(o), 'trace', '-o', trace, '--from-start', 'off', python(), path, way], o.seconds)
    if o.keep:
        with open(trace[:-len('.trace')] + '.txt', 'w') as file:
            subprocess.run([leat(o), 'report', trace], stdout=file, stderr=subprocess.STDOUT)
    return times_ns(out, way)[0]


def findings(o, path, folder):
    """What the traced program before the advice is told, what it took, and how large its trace is."""
    name = os.path.basename(path)[:-3]
    trace = os.path.join(folder, name + '.before.trace')
    traced_ns = record(o, path, 'before', trace)
    told = json.loads(run([leat(o), 'report', trace, '--findings', '--json'], o.seconds))['findings']
    if o.keep and not o.small:
        record(o, path, 'after', os.path.join(folder, name + '.after.trace'))
    return told, traced_ns, os.path.getsize(trace)


def in_ns(text):
    number, unit = text.split()
    return float(number) * {'ns': 1, 'us': 1e3, 'ms': 1e6, 's': 1e9}[unit]


def predicted_ns(rule, finding):
    """The gain; for a wait that is blamed, which claims none, how much of the clock's time is not its own."""
    if rule != 'blamed-wait':
        return finding['gain_ns']
    return in_ns(re.search(r': ([\d.]+ \w+) of its', finding['title']).group(1))


def measure(o, path, folder):
    name = os.path.basename(path)[:-3]
    rule = name.rsplit('_', 1)[0].replace('_', '-')
    row = {'pair': name, 'rule': rule}
    if not o.small:
        times = measured_ns(o, path)
        row.update(before_ns=times['before'], after_ns=times['after'], gain_ns=times['before'] - times['after'])
    told, traced_ns, size_bytes = findings(o, path, folder)
    row.update(traced_ns=traced_ns, all=[(f['rule'], f['gain_ns']) for f in told], trace_bytes=size_bytes)
    ours = [f for f in told if f['rule'] == rule]
    if ours:
        row.update(predicted_ns=predicted_ns(rule, ours[0]), title=ours[0]['title'], places=ours[0]['sources'])
        if not o.small:
            row['off'] = row['predicted_ns'] / row['gain_ns'] - 1 if row['gain_ns'] > 0 else float('inf')
    return row


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
    print('%-26s %s %s %s %s %s  %-9s %-3s %7.1f kB %6.1f s' %
          (row['pair'], ms('before_ns'), ms('traced_ns'), ms('after_ns'), ms('gain_ns'), ms('predicted_ns'), off,
           'ok' if is_good(o, row) else 'NO', row['trace_bytes'] / 1e3, row['took_s']))
    print('    ' + row.get('title', 'found instead: ' + ', '.join('%s %.1f ms' % (r, g / 1e6) for r, g in row['all'])), flush=True)


def pairs(o):
    here = os.path.join(HERE, 'findings')
    if o.small:
        shutil.copytree(here, NOBODYS, dirs_exist_ok=True)
        here = NOBODYS
        os.environ['PAIR_SMALL'] = '1'
    paths = [p for p in sorted(glob.glob(os.path.join(here, '*_*.py'))) if not os.path.basename(p).startswith('pair')]
    return [p for p in paths if os.path.basename(p).startswith(tuple(o.only.split(',')))]


def all_rows(o, folder):
    for path in pairs(o):
        name, start = os.path.basename(path)[:-3], time.perf_counter()
        if importlib.util.find_spec(name.rsplit('_', 1)[1]) is None:
            print('%-26s its library is not here' % name)
            continue
        try:
            row = measure(o, path, folder)
        except (RuntimeError, subprocess.SubprocessError, AttributeError, ValueError, KeyError, OSError) as error:
            row = {'pair': name, 'error': 'failed: %s' % error}
        row['took_s'] = time.perf_counter() - start
        show(o, row)
        yield row


def main():
    o, start = options(), time.perf_counter()
    os.environ['XLA_PYTHON_CLIENT_PREALLOCATE'] = 'false'
    if o.keep:
        os.makedirs(o.keep, exist_ok=True)
    print('%s: gains that findings predict beside those that come; ms, medians of %d' % (datetime.date.today(), o.repeats))
    print('%-26s %10s %10s %10s %10s %10s  %-13s %10s %8s' % ('pair', 'before', 'recorded', 'after', 'gain', 'predicted', 'off', 'trace', 'took'))
    with tempfile.TemporaryDirectory() as folder:
        rows = list(all_rows(o, o.keep or folder))
    if o.json:
        with open(o.json, 'w') as file:
            for row in rows:
                file.write(json.dumps(row) + '\n')
    good = sum(is_good(o, row) for row in rows)
    print('%d of %d %s; %.0f s in all' % (good, len(rows), 'found in small traces' if o.small else 'within %d %%' % (100 * WITHIN),
                                          time.perf_counter() - start))
    sys.exit(0 if rows and good >= NEEDED * len(rows) else 1)


main()
