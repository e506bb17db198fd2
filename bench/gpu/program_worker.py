"""One library's part of the GPU benchmark, in a process of its own: python3 program_worker.py NAME FOLDER ... (programs.py starts it).
Runs and times every variant that the library's module has for a case, and prints one line of JSON for each. Leaves a fingerprint of the
fastest variant's results in FOLDER, which programs.py compares."""
import argparse
import concurrent.futures
import importlib
import json
import os
import statistics
import sys
import time

import numpy as np

import program_cases

CHUNKS, SAMPLES = 4096, 65536


def fingerprint(arrays):
    """For each result the means of 4,096 chunks, in f64, and a sample of elements with both ends, or all of a small result. An error
    elsewhere changes the mean of its chunk."""
    made = {}
    with concurrent.futures.ThreadPoolExecutor() as workers:
        for k, a in enumerate(arrays):
            flat = np.ascontiguousarray(a).reshape(-1)
            edges = np.linspace(0, flat.size, min(CHUNKS, flat.size) + 1).astype(np.int64)
            mean = lambda lo, hi: flat[lo:hi].mean(dtype=np.float64)
            if flat.size <= SAMPLES:
                made['means%d' % k], at = np.add.reduceat(flat, edges[:-1], dtype=np.float64) / np.diff(edges), np.arange(flat.size)
            else:
                made['means%d' % k] = np.array(list(workers.map(mean, edges, edges[1:])))
                at = np.unique(np.concatenate([np.arange(64), np.random.default_rng(0).integers(0, flat.size, SAMPLES),
                                               np.arange(flat.size - 64, flat.size)]))
            made['sample%d' % k] = flat[at].astype(np.float64)
            made['shape%d' % k] = np.array(a.shape if a.size != 1 else ())
    return made


def agree(got, want, tolerance):
    """Compares two fingerprints. Returns None if they are of the same values, otherwise the difference."""
    for k in sorted(want):
        if got[k].shape != want[k].shape or k.startswith('shape') and (got[k] != want[k]).any():
            return '%s: another shape' % k
    for k in sorted(want):
        scale = max(float(np.abs(want['sample' + k[-1]]).max()), 1e-300)
        if not k.startswith('shape') and not np.allclose(got[k], want[k], rtol=tolerance, atol=tolerance * scale):
            return '%s: off by %.2g of the largest value' % (k, np.abs(got[k] - want[k]).max() / scale)
    return None


SHORT_US, BATCH = 300, 20  # what takes less is measured in batches of so many runs


class Timer:
    """Medians, in us. quick: of fewer runs."""

    def __init__(self, peer, repeats):
        self.peer, self.repeats = peer, repeats

    def lasts(self, f):
        """Measures after a first run, which may compile."""
        f()
        self.peer.wait()
        best = 1e30
        for _ in range(2):
            start = time.perf_counter()
            f()
            self.peer.wait()
            best = min(best, (time.perf_counter() - start) * 1e6)
            if best > 1e6:
                break
        return best

    def repeated(self, about_us):
        return 1 if self.repeats == 1 or about_us > 1e6 else max(3, min(self.repeats, int(1.5e6 / about_us)))

    def device(self, f):
        """Runs one after the other, with the host ahead of the device if possible and events in between. Short ones run in batches."""
        about = self.lasts(f)
        count, batch = self.repeated(about), BATCH if about < SHORT_US else 1
        if not hasattr(self.peer, 'mark'):
            return self.wall(f, count, max(batch, 5))
        return self.between_marks(f, count, batch)

    def graph(self, f, check):
        """A run's share of a CUDA graph of several: what the device needs if the host costs nothing. check: of the last one's values."""
        replay, made = self.peer.captured(f, BATCH)
        us = self.between_marks(replay, self.repeated(self.lasts(replay)), 1) / BATCH
        check(made)
        return us

    def between_marks(self, f, count, batch):
        self.peer.ahead()
        marks = [self.peer.mark()]
        for _ in range(count):
            for _ in range(batch):
                f()
            marks.append(self.peer.mark())
        self.peer.wait()
        return statistics.median(self.peer.between_us(a, b) / batch for a, b in zip(marks, marks[1:]))

    def wall(self, f, count, batch):
        times = []
        for _ in range(count):
            start = time.perf_counter()
            for _ in range(batch):
                f()
            self.peer.wait()
            times.append((time.perf_counter() - start) / batch * 1e6)
        return statistics.median(times)

    def enqueue(self, f):
        """The host's time for one of 200 runs, which fit into the queue."""
        self.lasts(f)
        times = []
        for _ in range(self.repeats):
            start = time.perf_counter()
            for _ in range(200):
                f()
            times.append((time.perf_counter() - start) / 200 * 1e6)
            self.peer.wait()
        return statistics.median(times)

    def one(self, f): return self.wall(f, self.repeated(self.lasts(f)), 1)

    def waited(self, f):
        self.lasts(f)
        return self.wall(f, 10 * self.repeats, 1)

    def of(self, clock, f):
        return {'device': self.device, 'enqueue': self.enqueue, 'wait': self.waited, 'memory': self.one}[clock](f)


def told(e): return '%s: %s' % (type(e).__name__, str(e).strip().split('\n')[0][:200])


def say(**what): print(json.dumps(what), flush=True)


class Worker:
    def __init__(self, peer, o):
        self.peer, self.o, self.timer, self.loaded = peer, o, Timer(peer, o.repeats), {}

    def pool(self, name):
        return np.load(os.path.join(self.o.folder, name + '.npy'), mmap_mode='r')

    def inputs(self, case):
        """{name: the library's array, or a number}; NumPy arrays for the clock 'memory'."""
        made = {}
        for name, value in case.inputs.items():
            if isinstance(value, program_cases.Input):
                if case.clock == 'memory':
                    made[name] = np.array(value.of(self.pool(value.pool)))
                    continue
                if value.pool not in self.loaded:
                    self.loaded[value.pool] = self.peer.load(self.pool(value.pool))
                made[name] = self.peer.view(self.loaded[value.pool], value)
            else:
                made[name] = value
        return made

    def values(self, case, f): return fingerprint([case.natural(a) for a in self.peer.fetch(f())])

    def case(self, case):
        times, errors, best = {}, {}, None
        for label, f in self.peer.ways(case, self.inputs(case)):
            try:
                made = self.values(case, f)
                taken = self.timer.of(case.clock, f)
                if self.peer.is_leat and agree(self.values(case, f), made, 0):
                    raise ValueError('the runs that were timed made other values than the first one')
                times[label] = taken
                if best is None or times[label] < times[best]:
                    best = label
                    np.savez(os.path.join(self.o.folder, '%s-%s.npz' % (self.o.name, case.key)), **made)
            except Exception as e:  # if one variant fails, the others still run
                errors[label] = told(e)
        limit = None
        if hasattr(self.peer, 'limit') and self.o.device != 'cpu':
            try:
                limit = self.peer.limit(case, self.timer)
            except Exception as e:
                errors['limit'] = told(e)
        if times or errors:
            say(case=case.key, peer=self.o.name, us=times.get(best), way=best, ways=times, errors=errors, limit_us=limit)
        self.peer.done()


def options():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument('name')
    p.add_argument('folder')
    p.add_argument('--cases', default='')
    p.add_argument('--repeats', type=int, default=15)
    p.add_argument('--seconds', type=float, default=90, help='no further case is begun after them')
    p.add_argument('--quick', action='store_true')
    p.add_argument('--tiny', action='store_true')
    p.add_argument('--library', default='', help='libleat.so')
    p.add_argument('--device', default='cuda')
    return p.parse_args()


def main():
    o = options()
    started = time.perf_counter()
    z = program_cases.Sizes(o.tiny)
    peer = importlib.import_module('program_' + o.name).open_peer(o, z)
    say(peer=o.name, version=peer.version)
    worker = Worker(peer, o)
    for case in program_cases.fill(z):
        if o.cases and case.key not in o.cases.split(',') or case.like and not peer.is_leat:
            continue
        if time.perf_counter() - started > o.seconds:
            say(case=case.key, peer=o.name, errors={'': 'no time left'}, ways={}, us=None, way=None, limit_us=None)
            continue
        try:
            worker.case(case)
        except Exception as e:
            say(case=case.key, peer=o.name, errors={'': told(e)}, ways={}, us=None, way=None, limit_us=None)
            peer.done()
    for what, milliseconds in peer.new_expressions() if not o.cases or 'new' in o.cases.split(',') else []:
        say(new=what, peer=o.name, ms=milliseconds)


if __name__ == '__main__':
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    main()
