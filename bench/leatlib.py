"""The part of leat.h that the benchmarks need, through ctypes: arrays in host or device memory, prepared calls and results; for GPUs
also kernels, events and waits. Not a binding for users."""
import ctypes, os, re
from ctypes import POINTER, byref, c_bool, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint, c_uint64, c_void_p

RANK_MAX = 8
INTERPRET = {'default': 0, 'never': 1, 'ready': 2, 'always': 3, 'only': 4}
MEMORY = {'device': 0, 'host': 1, 'pinned': 2, 'mapped': 3}
DTYPES = {'bool': 1, 'int8': 2, 'int16': 3, 'int32': 4, 'int64': 5, 'uint8': 6, 'uint16': 7, 'uint32': 8, 'uint64': 9, 'float16': 10, 'bfloat16': 11,
          'float32': 12, 'float64': 13, 'complex64': 14, 'complex128': 15}
NAMES = {number: name for name, number in DTYPES.items()}
STORED = {**NAMES, DTYPES['bfloat16']: 'uint16'}  # the type in which NumPy holds the elements


class Description(ctypes.Structure):
    _fields_ = [('dtype', c_int), ('rank', c_int), ('shape', c_int64 * RANK_MAX), ('strides', c_int64 * RANK_MAX), ('data', c_void_p), ('read_only', c_bool), ('memory', c_int)]


class Error(ctypes.Structure):
    _fields_ = [('code', c_int), ('message', c_char_p), ('expected', c_char_p), ('line', c_int), ('column', c_int), ('span', c_int)]


class Options(ctypes.Structure):
    _fields_ = [('struct_size', c_size_t), ('device', c_char_p), ('threads', c_int), ('simd', c_char_p), ('memory_cap_bytes', c_size_t), ('cache_cap_bytes', c_size_t), ('code_cap_bytes', c_size_t),
                ('keep_code', c_bool), ('interpret', c_int), ('ledger_level', c_int), ('copy_threads', c_int), ('sim_check', c_bool), ('sim_seed', c_uint64), ('allocate', c_void_p), ('reallocate', c_void_p), ('release', c_void_p), ('allocator_user', c_void_p),
                ('log', c_void_p), ('log_user', c_void_p), ('environment', c_void_p), ('tf32', c_int)]


class DeviceInfo(ctypes.Structure):
    _fields_ = [('name', ctypes.c_char * 64), ('kind', ctypes.c_char * 16), ('device', ctypes.c_char * 24), ('usable', c_bool), ('reason', ctypes.c_char * 256), ('memory_bytes', c_size_t),
                ('cache_bytes', c_size_t), ('simd', ctypes.c_char * 16), ('best_simd', ctypes.c_char * 16), ('threads', c_int), ('cores', c_int), ('ordinal', c_int), ('uuid', ctypes.c_char * 48),
                ('pci_id', ctypes.c_char * 24), ('capability', c_int), ('multiprocessors', c_int), ('f64_ratio', c_int), ('cuda_version', c_int), ('copy_bytes_per_second', c_double),
                ('upload_bytes_per_second', c_double), ('download_bytes_per_second', c_double), ('additions_per_second', c_double), ('launch_ns', c_double), ('round_trip_ns', c_double)]


class Number(ctypes.Union):
    _fields_ = [('f32', ctypes.c_float), ('f64', c_double), ('i64', c_int64), ('u64', c_uint64)]


class Argument(ctypes.Structure):
    _fields_ = [('kind', c_int), ('dtype', c_int), ('array', c_void_p), ('bytes', c_void_p), ('size_bytes', c_size_t), ('number', Number)]


class Ticket(ctypes.Structure):
    _fields_ = [('stream_id', c_uint64), ('number', c_uint64)]


class Dim3(ctypes.Structure):
    _fields_ = [('x', c_uint), ('y', c_uint), ('z', c_uint)]


class Refused(Exception): pass


def check_options():
    """Checks that Options has the fields of leat.h: a struct that has grown would be read wrongly."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'include', 'leat.h')) as f: text = f.read()
    body = re.sub(r'/\*.*?\*/', '', re.search(r'typedef struct leat_options \{(.*?)\} leat_options;', text, re.S).group(1), flags=re.S)
    names = [re.search(r'(?:\(\*)?(\w+)(?:\)\(.*)?$', part.strip(), re.S).group(1) for part in body.split(';') if part.strip()]
    if names != [name for name, _ in Options._fields_]: raise RuntimeError('leatlib.Options is not leat_options: ' + ', '.join(names))


class Leat:
    def __init__(self, path, threads=0, device=None, keep_code=False, interpret='never'):
        check_options(); self.lib = ctypes.CDLL(path)
        self.lib.leat_version.restype = c_char_p
        for name in ('leat_array_free', 'leat_call_free', 'leat_program_free', 'leat_close'): getattr(self.lib, name).restype = None; getattr(self.lib, name).argtypes = [c_void_p]
        for name, types in dict(leat_call_run=[c_void_p] * 3, leat_call_result=[c_void_p, c_char_p, POINTER(c_void_p)], leat_call_want=[c_void_p, c_char_p, c_void_p],
                                leat_call_set_array=[c_void_p, c_char_p, c_void_p], leat_call_set_i64=[c_void_p, c_char_p, c_int64], leat_call_set_f64=[c_void_p, c_char_p, c_double],
                                leat_array_get=[c_void_p, POINTER(Description)], leat_array_read=[c_void_p, c_void_p, c_size_t, c_void_p, c_void_p],
                                leat_array_write=[c_void_p, c_void_p, c_size_t, c_void_p, c_void_p], leat_array_copy=[c_void_p] * 4, leat_event_record=[c_void_p] * 2, leat_context_synchronize=[c_void_p],
                                leat_event_elapsed_ms=[c_void_p, c_void_p, POINTER(c_double)], leat_kernel_launch=[c_void_p, Dim3, Dim3, c_size_t, c_void_p, c_void_p, c_size_t]).items():
            getattr(self.lib, name).argtypes = types
        self.ctx = c_void_p(); self.kept = []
        self.must(self.lib.leat_open(byref(Options(device=device and device.encode(), threads=threads, keep_code=keep_code, interpret=INTERPRET[interpret])), byref(self.ctx)))

    def must(self, status):
        if status:
            e = Error(); self.lib.leat_error_get(None, byref(e)); raise Refused(e.message.decode())

    def close(self): self.forget(); self.lib.leat_close(self.ctx)

    def forget(self):
        """Frees the wrapped arrays."""
        for h, _ in self.kept: self.lib.leat_array_free(h)
        self.kept.clear()

    def version(self): return self.lib.leat_version().decode()

    def device(self):
        info = DeviceInfo(); self.must(self.lib.leat_device_get(self.ctx, c_size_t(0), c_bool(True), byref(info))); return info

    def multiprocessors(self):
        """Those of the GPU, or 1."""
        count = c_size_t(); self.must(self.lib.leat_device_count(self.ctx, byref(count)))
        for k in range(count.value):
            info = DeviceInfo(); self.must(self.lib.leat_device_get(self.ctx, c_size_t(k), c_bool(False), byref(info)))
            if info.kind == b'cuda' and info.usable: return info.multiprocessors
        return 1

    def wrap(self, a):
        """A handle to the memory of a NumPy array, which must outlive it."""
        d = Description(dtype=DTYPES[a.dtype.name], rank=a.ndim, data=a.ctypes.data, read_only=not a.flags.writeable, memory=MEMORY['host']); h = c_void_p()
        for k in range(a.ndim): d.shape[k] = a.shape[k]; d.strides[k] = a.strides[k] // a.itemsize
        self.must(self.lib.leat_array_wrap(self.ctx, byref(d), None, None, byref(h))); self.kept.append((h, a))
        return h

    def empty(self, dtype, shape, memory='device'):
        """A handle to a new array of Leat; its elements are uninitialized."""
        h = c_void_p(); self.must(self.lib.leat_array_new_empty(self.ctx, c_int(DTYPES[dtype]), c_int(len(shape)), (c_int64 * RANK_MAX)(*shape), c_int(MEMORY[memory]), byref(h)))
        self.kept.append((h, None)); return h

    def upload(self, a, dtype=None):
        """A handle to a copy of a NumPy array in the device's memory. dtype: 'bfloat16' for an array of uint16 that holds such numbers."""
        h = self.empty(dtype or a.dtype.name, a.shape); self.write(h, a); return h

    def reshape(self, h, shape): v = c_void_p(); self.must(self.lib.leat_array_reshape(h, c_int(len(shape)), (c_int64 * RANK_MAX)(*shape), byref(v))); self.kept.append((v, None)); return v

    def transpose(self, h, axes): v = c_void_p(); self.must(self.lib.leat_array_transpose(h, (c_int * RANK_MAX)(*axes), byref(v))); self.kept.append((v, None)); return v

    def part(self, h, start, stop):
        """A slice of an array with one axis."""
        v = c_void_p(); self.must(self.lib.leat_array_slice(h, (c_int64 * 1)(start), (c_int64 * 1)(stop), (c_int64 * 1)(1), byref(v))); self.kept.append((v, None)); return v

    def write(self, h, a, later=False):
        """later: returns at once; a must not change until something waits for later work."""
        self.must(self.lib.leat_array_write(h, a.ctypes.data, a.nbytes, None, byref(Ticket()) if later else None))

    def copy(self, target, source):
        """Enqueues the copy."""
        self.must(self.lib.leat_array_copy(target, source, None, byref(Ticket())))

    def read(self, np, h):
        """The elements as a new NumPy array."""
        d = Description(); self.must(self.lib.leat_array_get(h, byref(d))); out = np.empty(tuple(d.shape[:d.rank]), STORED[d.dtype])
        self.read_into(h, out); return out

    def read_into(self, h, out): self.must(self.lib.leat_array_read(h, out.ctypes.data, out.nbytes, None, None))

    def wait(self): self.must(self.lib.leat_context_synchronize(self.ctx))

    def events(self, count):
        made = [c_void_p() for _ in range(count)]
        for e in made: self.must(self.lib.leat_event_new(self.ctx, byref(e)))
        return made

    def record(self, event): self.must(self.lib.leat_event_record(event, None))

    def elapsed_us(self, start, stop): ms = c_double(); self.must(self.lib.leat_event_elapsed_ms(start, stop, byref(ms))); return ms.value * 1e3

    def kernel(self, text, name):
        """A kernel in CUDA C; its module is never freed."""
        m, k = c_void_p(), c_void_p(); self.must(self.lib.leat_module_new(self.ctx, c_char_p(text.encode()), None, byref(m))); self.must(self.lib.leat_module_kernel(m, c_char_p(name.encode()), byref(k)))
        return k

    def launcher(self, kernel, grid, block, *arguments):
        """A function that launches it. arguments: ('in' or 'out', handle) or an integer, which is an i64."""
        a = (Argument * len(arguments))(); grid, block, count = Dim3(grid, 1, 1), Dim3(block, 1, 1), len(arguments)
        for k, v in enumerate(arguments):
            if isinstance(v, int): a[k].kind, a[k].dtype = 4, DTYPES['int64']; a[k].number.i64 = v
            else: a[k].kind, a[k].array = {'in': 1, 'out': 2}[v[0]], v[1]
        return lambda: self.must(self.lib.leat_kernel_launch(kernel, grid, block, 0, None, a, count))

    def call(self, text, results, inputs):
        """inputs: {name: array, handle or number}; a NumPy array is wrapped as host memory."""
        p, c = c_void_p(), c_void_p()
        self.must(self.lib.leat_program_new(self.ctx, c_char_p(text.encode()), c_size_t(0), None, byref(p))); self.must(self.lib.leat_call_new(p, byref(c)))
        for k, v in inputs.items():
            if isinstance(v, int): self.must(self.lib.leat_call_set_i64(c, k.encode(), c_int64(v)))
            elif isinstance(v, float): self.must(self.lib.leat_call_set_f64(c, k.encode(), c_double(v)))
            else: self.must(self.lib.leat_call_set_array(c, k.encode(), v if isinstance(v, c_void_p) else self.wrap(v)))
        return Call(self, p, c, [r.encode() for r in results])


class Call:
    """A prepared call."""
    def __init__(self, leat, program, handle, results): self.leat = leat; self.program = program; self.handle = handle; self.results = results; self.lib = leat.lib

    def run(self, arrays):
        for r, a in zip(self.results, arrays): self.leat.must(self.lib.leat_call_want(self.handle, r, a))
        self.leat.must(self.lib.leat_call_run(self.handle, None, None))

    def fresh(self):
        """Runs the call. The results are new arrays and are released at once, as in a NumPy expression."""
        for h in self.made(): self.lib.leat_array_free(h)

    def into(self, arrays):
        """A function that runs the call into the same arrays."""
        return self.into_handles([self.leat.wrap(a) for a in arrays])

    def into_handles(self, handles): return lambda: self.run(handles)

    def again(self):
        """A function that only repeats the last run."""
        run, handle = self.lib.leat_call_run, self.handle
        def once():
            status = run(handle, None, None)
            if status: self.leat.must(status)
        return once

    def made(self):
        """Runs the call with new results and returns their handles, which the caller frees."""
        self.run([None] * len(self.results)); handles = [c_void_p() for _ in self.results]
        for r, h in zip(self.results, handles): self.leat.must(self.lib.leat_call_result(self.handle, r, byref(h)))
        return handles

    def values(self, np):
        """The results as new NumPy arrays."""
        out = []
        for h in self.made(): out.append(self.leat.read(np, h)); self.lib.leat_array_free(h)
        return out

    def free(self): self.lib.leat_call_free(self.handle); self.lib.leat_program_free(self.program)
