"""Leat's part of the general GPU benchmark, and the floors of its works: the time in which the device copies or reads a work's bytes,
and the time in which it issues the instructions of a sum's terms at the rates that kernels of such instructions reach."""
import numpy as np

import general_work
import leatlib
import program_leat

# Kernels of one instruction each, in eight independent chains of a thread. The operands alternate so that no compiler may fold them.
STEPS, CHAINS = 4096, 8
INSTRUCTIONS = {'fma': ('float', 'f', 'fma.rn.f32 %0, %0, %1, %2;'), 'add': ('float', 'f', 'add.rn.f32 %0, %0, %1;'),
                'min': ('float', 'f', 'min.f32 %0, %0, %1;'), 'special': ('float', 'f', 'ex2.approx.ftz.f32 %0, %0;'),
                'f64': ('double', 'd', 'fma.rn.f64 %0, %0, %1, %2;'), 'imin': ('int', 'r', 'min.s32 %0, %0, %1;', 'max.s32 %0, %0, %2;')}
PROBE = '''
extern "C" __global__ void probe_%(name)s(%(type)s *y, long long n) {
    %(type)s x[%(chains)d], a = (%(type)s)1.5, b = (%(type)s)(n + threadIdx.x), c = (%(type)s)(n - threadIdx.x);
    for (int k = 0; k < %(chains)d; k++) x[k] = b + (%(type)s)k;
    for (long long i = 0; i < n; i += 16) {
#pragma unroll
        for (int j = 0; j < 8; j++) {
#pragma unroll
            for (int k = 0; k < %(chains)d; k++) asm volatile("%(first)s" : "+%(letter)s"(x[k]) : "%(letter)s"(b), "%(letter)s"(a));
#pragma unroll
            for (int k = 0; k < %(chains)d; k++) asm volatile("%(last)s" : "+%(letter)s"(x[k]) : "%(letter)s"(c), "%(letter)s"(a));
        }
    }
    %(type)s sum = 0;
    for (int k = 0; k < %(chains)d; k++) sum += x[k];
    if (sum == (%(type)s)-7) y[0] = sum;
}
'''
THREADS, BLOCKS_EACH = 256, 8  # of a probe: a full multiprocessor


class Peer(program_leat.Leat):
    def __init__(self, o):
        super().__init__(o, None)
        self.rates, self.copied = {}, {}

    def prepare(self, work, arrays):
        self.inputs = {i.name: self.leat.upload(arrays[i.name], general_work.LEAT[i.dtype]) for i in work.inputs}
        return {**self.inputs, **work.numbers}

    def ways(self, work, v):
        work.axes, work.clock = None, 'device'
        yield 'leat', program_leat.Runs(self, work, v), True

    def fetch(self, handles):
        bits = leatlib.DTYPES['bfloat16']
        read = [(self.description(h).dtype, self.leat.read(np, h)) for h in handles]
        return [general_work.from_bf16(a) if dtype == bits else a for dtype, a in read]

    # ---- floors

    def floor(self, what, case, timer):
        """The floor in us by the 'bytes' or the 'issue' of instructions of the work whose results were just made; None if there is none."""
        work, size = case.work, case.size
        if what == 'issue':
            return self.issue_us(work, size, timer) if work.issue else None
        if work.moved:
            return self.bytes_us(*work.moved(size), timer)
        passes = {name: f(size) for name, f in work.passes.items()}
        moved_in = sum(program_leat.number_of_bytes(self.description(h)) * passes.get(name, 1) for name, h in self.inputs.items())
        return self.bytes_us(moved_in, sum(program_leat.number_of_bytes(self.description(h)) for h in self.made), timer)

    def bytes_us(self, moved_in, moved_out, timer):
        """To read the bytes, if few are written, else to copy half of them; measured once for each number of bytes."""
        reads = moved_out * 50 < moved_in
        size_bytes = max(16, (moved_in if reads else (moved_in + moved_out) // 2) & ~15)
        if (reads, size_bytes) not in self.copied:
            self.copied[reads, size_bytes] = min(timer.device(f) for f in (self.reads if reads else self.copies)(size_bytes))
        return self.copied[reads, size_bytes]

    def issue_us(self, work, size, timer):
        """All instructions share the issue slots, at the rate of fma; each kind has a rate of its own as well."""
        terms = work.terms(size)
        kinds = {kind: terms * count for kind, count in work.issue.items()}
        shared = sum(n for kind, n in kinds.items() if kind != 'f64') / self.rate('fma', timer)
        return max([shared] + [n / self.rate(kind, timer) for kind, n in kinds.items()])

    def rate(self, kind, timer):
        """Instructions of one thread, per us, on the whole device."""
        if kind not in self.rates:
            type_, letter, first, *last = INSTRUCTIONS[kind]
            source = PROBE % dict(name=kind, type=type_, letter=letter, first=first, last=(last or [first])[0], chains=CHAINS)
            blocks = self.leat.multiprocessors() * BLOCKS_EACH
            y, _ = self.pair(1024)
            launch = self.leat.launcher(self.leat.kernel(source, 'probe_' + kind), blocks, THREADS, ('out', y), STEPS)
            self.rates[kind] = blocks * THREADS * STEPS * CHAINS / timer.device(launch)
        return self.rates[kind]

    def measured(self, timer):
        """What the header of the report says about the device."""
        multiprocessors = self.leat.multiprocessors()
        said = ['%s %.1f' % (kind, self.rate(kind, timer) / multiprocessors) for kind in INSTRUCTIONS]
        big = 1 << 28
        return ('copies %.0f GB/s; instructions per us and multiprocessor: ' % (2e-3 * big / self.bytes_us(big, big, timer))) + ', '.join(said)


def open_peer(o): return Peer(o)
