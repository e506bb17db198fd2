"""Leat's part of the GPU benchmark, and the limits: the time that the device takes to copy, or read, a case's bytes."""
import ctypes
import os
import statistics
import time

import numpy as np

import leatlib
import program_cases

NVRTC_ALONE = 'a kernel of nothing, NVRTC alone'
LIMITS = '''
extern "C" __global__ void copy(float4 *y, const float4 *x, long long n) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i];
}
extern "C" __global__ void copy4(float4 *y, const float4 *x, long long n) {
    long long i = (long long)blockIdx.x * blockDim.x * 4 + threadIdx.x, b = blockDim.x;
    if (i + 3 * b < n) {
        float4 p = x[i], q = x[i + b], r = x[i + 2 * b], s = x[i + 3 * b];
        y[i] = p; y[i + b] = q; y[i + 2 * b] = r; y[i + 3 * b] = s;
    } else for (int k = 0; k < 4; k++) if (i + k * b < n) y[i + k * b] = x[i + k * b];
}
extern "C" __global__ void read(float4 *y, const float4 *x, long long n) {
    long long step = (long long)gridDim.x * blockDim.x, i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (; i + 3 * step < n; i += 4 * step) {
        float4 p = x[i], q = x[i + step], r = x[i + 2 * step], s = x[i + 3 * step];
        sum += p.x + p.y + p.z + p.w + q.x + q.y + q.z + q.w + r.x + r.y + r.z + r.w + s.x + s.y + s.z + s.w;
    }
    for (; i < n; i += step) sum += x[i].x + x[i].y + x[i].z + x[i].w;
    if (sum == -1.5f) y[0] = x[0];  // never
}
'''
BLOCK = 256


def number_of_bytes(a): return int(np.prod(a.shape[:a.rank], dtype=np.int64)) * np.dtype(leatlib.STORED[a.dtype]).itemsize


class Leat:
    is_leat = True

    def __init__(self, o, z):
        self.o = o
        self.leat = leatlib.Leat(o.library, device=o.device, keep_code=True)
        self.version = 'leat ' + self.leat.version()
        self.call, self.kernels = None, None
        self.big = 1 << 26 if not o.tiny else 1 << 10  # size of each buffer that is copied to keep the device busy
        self.buffers, self.made = [self.lasting(self.leat.empty('uint8', (self.big,))) for _ in range(2)], None

    # ---- arrays

    def lasting(self, h):
        """A handle that done() does not free."""
        self.leat.kept = [(k, a) for k, a in self.leat.kept if k is not h]
        return h

    def own(self, h):
        """A handle that done() frees."""
        self.leat.kept.append((h, None))
        return h

    def load(self, a): return self.lasting(self.leat.upload(np.ascontiguousarray(a)))

    def view(self, pool, spec):
        v = self.leat.reshape(self.leat.part(pool, spec.start, spec.start + spec.count), spec.shape)
        return v if spec.axes is None else self.leat.transpose(v, spec.axes)

    def description(self, h):
        d = leatlib.Description()
        self.leat.must(self.leat.lib.leat_array_get(h, leatlib.byref(d)))
        return d

    def fetch(self, handles): return [self.leat.read(np, h) for h in handles]

    def done(self):
        """Frees the case's arrays."""
        if self.call:
            self.call.free()
        self.call = self.made = None
        self.leat.forget()

    # ---- a case

    def ways(self, case, v):
        if case.clock == 'memory':
            yield 'written, run, read', self.from_memory(case, v)
            return
        self.inputs = {name: value for name, value in v.items() if not isinstance(value, (int, float))}
        yield '', Runs(self, case, v)

    def from_memory(self, case, v):
        """Copies the inputs to the device, runs the program, and copies the results back. The device's arrays are made once."""
        held = {name: self.leat.empty(a.dtype.name, a.shape) for name, a in v.items()}
        call = self.call = self.leat.call(case.text, case.results, held)
        out = np.empty(case.expected(np, v).shape)
        made = [None]

        def run():
            for name, a in v.items():
                self.leat.write(held[name], a, later=True)
            if made[0] is None:
                made[0] = self.own(call.made()[0])
                call.run(made)
            else:
                again()
            self.leat.read_into(made[0], out)
            return made
        again = call.again()
        return run

    # ---- time

    def wait(self): self.leat.wait()

    def ahead(self):
        for _ in range(16 if self.big > 1 << 20 else 1):
            self.leat.copy(*self.buffers)

    def mark(self):
        e = self.leat.events(1)[0]
        self.leat.record(e)
        return e

    def between_us(self, a, b): return self.leat.elapsed_us(a, b)

    # ---- limits

    def limit(self, case, timer):
        """The time to copy the case's bytes, or to read them if the results are small. With host memory: pinned, in both directions."""
        if case.clock == 'memory':
            return self.pinned(case, timer)
        if not case.bounded or self.made is None:
            return None
        moved_in = sum(number_of_bytes(self.description(h)) * case.passes.get(name, 1) for name, h in self.inputs.items())
        moved_out = sum(number_of_bytes(self.description(h)) for h in self.made)
        if moved_out * 50 < moved_in:
            return min(timer.device(f) for f in self.reads(moved_in))
        return min(timer.device(f) for f in self.copies((moved_in + moved_out) // 2))

    def kernel(self, name):
        if self.kernels is None:
            self.kernels = {k: self.leat.kernel(LIMITS, k) for k in ('copy', 'copy4', 'read')}
        return self.kernels[name]

    def pair(self, size_bytes):
        """Two buffers of at least that size."""
        if self.big < size_bytes:
            for h in self.buffers:
                self.leat.lib.leat_array_free(h)
            self.buffers, self.big = [self.lasting(self.leat.empty('uint8', (size_bytes,))) for _ in range(2)], size_bytes
        return [self.leat.part(h, 0, size_bytes) for h in self.buffers]

    def copies(self, size_bytes):
        y, x = self.pair(size_bytes)
        n = size_bytes // 16
        yield lambda: self.leat.copy(y, x)
        for name, each in ('copy', BLOCK), ('copy4', 4 * BLOCK):
            yield self.leat.launcher(self.kernel(name), -(-n // each), BLOCK, ('out', y), ('in', x), n)

    def reads(self, size_bytes):
        y, x = self.pair(size_bytes)
        n = size_bytes // 16
        for blocks in 132 * 8, 132 * 16, 132 * 32:
            yield self.leat.launcher(self.kernel('read'), min(blocks, -(-n // BLOCK)), BLOCK, ('out', y), ('in', x), n)

    def pinned(self, case, timer):
        sizes = [v.count * 8 for v in case.inputs.values()]
        up, down = sum(sizes), max(sizes)
        host, device = self.leat.empty('uint8', (up,), 'pinned'), self.leat.empty('uint8', (up,))
        back = self.leat.part(host, 0, down), self.leat.part(device, 0, down)

        def both():
            self.leat.copy(device, host)
            self.leat.copy(*back)
        return timer.one(both)

    # ---- a new expression in a warm process

    def new_expressions(self):
        """Milliseconds to the first result of a new text, medians of five texts: while a thread compiles it; waiting for its
        compilation; and, if another process has filled this one's cache of code, from disk."""
        with self.another('always') as other:  # compiles the interpreters, once for a GPU and a version of Leat
            for dtype in np.float32, np.float64:
                yield 'the interpreter for %s' % np.dtype(dtype).name, other.first('y[i] = x[i] * 3', other.ones(dtype, 1000))
        for interpret, said, number in ('never', ', compiled first', 1.5), ('default', '', 1.25):
            with self.another(interpret) as other:
                other.first('y[i] = x[i] * %r' % (number * 3), other.ones(np.float32, 1000))  # loads the driver and NVRTC
                for alike in zip(*(other.expressions(number + k / 64) for k in range(5))):
                    what = alike[0][0]
                    try:
                        yield what + said, statistics.median(other.first(text, inputs) for _, text, inputs in alike)
                    except leatlib.Refused as e:
                        yield what + said + ': ' + str(e)[:120], None
                if interpret == 'never':
                    yield from eight_kernels(other)
        yield from nvrtc_alone()
        yield from self.interpreted()

    def another(self, interpret): return Context(self, interpret)

    def interpreted(self):
        """The ratio of the interpreter's time and the compiled code's time for large arrays: device times, 2^26 numbers."""
        times = {}
        for interpret in 'never', 'only':
            with self.another(interpret) as other:
                for what, text, inputs in other.expressions(1.25, 1 << 26):
                    call = other.leat.call(text, ('y',), inputs)
                    made = [other.own(h) for h in call.made()]
                    call.run(made)
                    again, spans = call.again(), []
                    for _ in range(5):
                        a, b = other.leat.events(2)
                        other.leat.record(a)
                        again()
                        other.leat.record(b)
                        spans.append(other.leat.elapsed_us(a, b))
                    times.setdefault(what, []).append(sorted(spans)[2])
                    call.free()
                    other.leat.forget()
        for what, (compiled, interpreted) in times.items():
            yield '%s of 2^26, interpreted: times as long' % what, interpreted / compiled


def eight_kernels(other):
    """A program of eight new kernels, of which each needs the one before, and the slowest of them as programs of their own."""
    def statement(k, number, before): return 'a%d = sum(i: exp(x[i] * %r - %s) / (log(x[i] + %r) + %d))' % (k, number, before, number, k + 2)
    together, slowest = [], []
    for turn in range(5):
        number, inputs = 3 + turn / 64, other.ones(np.float32, 1000)
        chain = [statement(k, number, 'a%d' % (k - 1) if k else '0.5') for k in range(7)]
        together.append(other.first('\n'.join(chain + ['y[i] = tanh(x[i] - a6) * %r' % number]), inputs))
        slowest.append(max(other.first(statement(k, number + 0.5, '0.5') + '\ny = a%d' % k, inputs) for k in range(7)))
    yield 'eight new kernels, compiled first', statistics.median(together)
    yield 'the slowest of them alone', statistics.median(slowest)
    yield program_cases.EIGHT, statistics.median(together) / statistics.median(slowest)


class Context:
    """Another context of Leat in this process."""

    def __init__(self, peer, interpret): self.peer, self.interpret = peer, interpret

    def __enter__(self):
        o = self.peer.o
        self.leat = leatlib.Leat(o.library, device=o.device, keep_code=True, interpret=self.interpret)
        return self

    def __exit__(self, *_): self.leat.close()

    def own(self, h):
        self.leat.kept.append((h, None))
        return h

    def ones(self, dtype, *shape): return {'x': self.leat.upload(np.ones(shape, dtype))}

    def expressions(self, number, size=1000):
        yield 'arithmetic', 'y[i] = (x[i] * %r + 7) / (x[i] + 0.75) - x[i]' % number, self.ones(np.float32, size)
        rows = (8, 128) if size < 1 << 20 else (size // 1024, 1024)
        yield 'softmax', 'e[i,j] = exp(x[i,j] * %r - max(k: x[i,k]))\ny[i,j] = e[i,j] / sum(k: e[i,k])' % number, self.ones(np.float32, *rows)
        yield 'Black-Scholes', ('def cdf(z) = 0.5 * (1 + erf(z * 0.7071067811865476))\n'
                                'd[i] = (log(x[i]/1.25) + (0.05 + v*v/2)*x[i]) / (v*sqrt(x[i]))\n'
                                'y[i] = x[i]*cdf(d[i]) - %r*exp(-0.05*x[i])*cdf(d[i] - v*sqrt(x[i]))' % number), {**self.ones(np.float32, size), 'v': 0.3}

    def first(self, text, inputs):
        start = time.perf_counter()
        call = self.leat.call(text, ('y',), inputs)
        made = call.made()
        self.leat.wait()
        took = (time.perf_counter() - start) * 1e3
        for h in made:
            self.own(h)
        call.free()
        return took


class Runs:
    """A call that reuses the results of its first run."""

    def __init__(self, peer, case, v):
        self.peer, self.case = peer, case
        self.call = peer.call = peer.leat.call(case.text, case.results, v)
        self.handles = None

    def __call__(self):
        if self.handles is None:
            leat = self.peer.leat
            made = [self.peer.own(h) for h in self.call.made()]
            if self.case.axes:  # the result has the layout of the transposed inputs
                d = self.peer.description(made[0])
                inverse = [self.case.axes.index(k) for k in range(d.rank)]
                natural = [d.shape[k] for k in inverse]
                made = [leat.transpose(leat.empty(leatlib.NAMES[d.dtype], natural), self.case.axes)]
            self.handles = self.peer.made = made
            self.call.run(made)
            self.again = self.call.again()
        else:
            self.again()
        return self.handles


def loaded(name):
    """The path of a library, if this process has loaded it, or None."""
    with open('/proc/self/maps') as maps:
        return next((line.split()[-1] for line in maps if '/' + name in line), None)


def nvrtc_alone():
    """Milliseconds that NVRTC takes for an empty kernel: the minimum for a new expression. The name differs each time, because
    NVRTC keeps what it has compiled."""
    nvrtc, driver = loaded('libnvrtc.so'), loaded('libcuda.so')
    if not nvrtc or not driver:
        return
    nvrtc, driver, number, times = ctypes.CDLL(nvrtc), ctypes.CDLL(driver), ctypes.c_int(), []
    capability = [driver.cuDeviceGetAttribute(ctypes.byref(number), which, 0) or number.value for which in (75, 76)]
    words = [word.encode() for word in ('--gpu-architecture=sm_%d%d' % tuple(capability), '--std=c++17', '--minimal')]
    for k in range(7):
        text, program, size = 'extern "C" __global__ void nothing_%d_%d() {}' % (os.getpid(), k), ctypes.c_void_p(), ctypes.c_size_t()
        start = time.perf_counter()
        failed = nvrtc.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b'nothing.cu', 0, None, None)
        failed = failed or nvrtc.nvrtcCompileProgram(program, len(words), (ctypes.c_char_p * len(words))(*words))
        failed = failed or nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size))
        if failed:
            return
        times.append((time.perf_counter() - start) * 1e3)
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    yield NVRTC_ALONE, sorted(times)[len(times) // 2]


def open_peer(o, z): return Leat(o, z)
