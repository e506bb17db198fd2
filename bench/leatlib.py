"""The part of leat.h that the benchmark needs, through ctypes: NumPy arrays in, prepared calls, results. Not a binding for users."""
import ctypes
from ctypes import POINTER, byref, c_bool, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint64, c_void_p

RANK_MAX = 8
DTYPES = {'bool': 1, 'int8': 2, 'int16': 3, 'int32': 4, 'int64': 5, 'uint8': 6, 'float32': 12, 'float64': 13}
NAMES = {number: name for name, number in DTYPES.items()}


class Description(ctypes.Structure):
    _fields_ = [('dtype', c_int), ('rank', c_int), ('shape', c_int64 * RANK_MAX), ('strides', c_int64 * RANK_MAX), ('data', c_void_p), ('read_only', c_bool)]


class Error(ctypes.Structure):
    _fields_ = [('code', c_int), ('message', c_char_p), ('expected', c_char_p), ('line', c_int), ('column', c_int), ('span', c_int)]


class Options(ctypes.Structure):
    _fields_ = [('device', c_char_p), ('threads', c_int), ('simd', c_char_p), ('memory_cap_bytes', c_size_t), ('cache_cap_bytes', c_size_t), ('ledger_level', c_int),
                ('copy_threads', c_int), ('sim_check', c_bool), ('sim_seed', c_uint64), ('allocate', c_void_p), ('reallocate', c_void_p), ('release', c_void_p), ('allocator_user', c_void_p),
                ('log', c_void_p), ('log_user', c_void_p)]


class DeviceInfo(ctypes.Structure):
    _fields_ = [('name', ctypes.c_char * 64), ('kind', ctypes.c_char * 16), ('device', ctypes.c_char * 24), ('usable', c_bool), ('reason', ctypes.c_char * 256), ('memory_bytes', c_size_t),
                ('cache_bytes', c_size_t), ('simd', ctypes.c_char * 16), ('best_simd', ctypes.c_char * 16), ('threads', c_int), ('cores', c_int), ('ordinal', c_int), ('uuid', ctypes.c_char * 48),
                ('pci_id', ctypes.c_char * 24), ('capability', c_int), ('multiprocessors', c_int), ('f64_ratio', c_int), ('cuda_version', c_int), ('copy_bytes_per_second', c_double),
                ('upload_bytes_per_second', c_double), ('download_bytes_per_second', c_double), ('launch_ns', c_double), ('round_trip_ns', c_double)]


class Refused(Exception): pass


class Leat:
    def __init__(self, path, threads):
        self.lib = ctypes.CDLL(path)
        self.lib.leat_version.restype = c_char_p
        for name in ('leat_array_free', 'leat_call_free', 'leat_program_free', 'leat_close'): getattr(self.lib, name).restype = None; getattr(self.lib, name).argtypes = [c_void_p]
        for name, types in dict(leat_call_run=[c_void_p] * 3, leat_call_result=[c_void_p, c_char_p, POINTER(c_void_p)], leat_call_want=[c_void_p, c_char_p, c_void_p],
                                leat_call_set_array=[c_void_p, c_char_p, c_void_p], leat_call_set_i64=[c_void_p, c_char_p, c_int64], leat_call_set_f64=[c_void_p, c_char_p, c_double],
                                leat_array_get=[c_void_p, POINTER(Description)], leat_array_read=[c_void_p, c_void_p, c_size_t, c_void_p, c_void_p]).items():
            getattr(self.lib, name).argtypes = types
        self.ctx = c_void_p(); self.kept = []
        self.must(self.lib.leat_open(byref(Options(threads=threads)), byref(self.ctx)))

    def must(self, status):
        if status:
            e = Error(); self.lib.leat_error_get(None, byref(e)); raise Refused(e.message.decode())

    def forget(self):
        """Lets go of the wrapped arrays."""
        for h, _ in self.kept: self.lib.leat_array_free(h)
        self.kept.clear()

    def version(self): return self.lib.leat_version().decode()

    def device(self):
        info = DeviceInfo(); self.must(self.lib.leat_device_get(self.ctx, c_size_t(0), c_bool(True), byref(info))); return info

    def wrap(self, a):
        """A handle to a NumPy array's memory, which must stay."""
        d = Description(dtype=DTYPES[a.dtype.name], rank=a.ndim, data=a.ctypes.data, read_only=not a.flags.writeable); h = c_void_p()
        for k in range(a.ndim): d.shape[k] = a.shape[k]; d.strides[k] = a.strides[k] // a.itemsize
        self.must(self.lib.leat_array_wrap(self.ctx, byref(d), None, None, byref(h))); self.kept.append((h, a))
        return h

    def call(self, text, results, inputs):
        """inputs: {name: array or number}."""
        p, c = c_void_p(), c_void_p()
        self.must(self.lib.leat_program_new(self.ctx, c_char_p(text.encode()), c_size_t(0), None, byref(p))); self.must(self.lib.leat_call_new(p, byref(c)))
        for k, v in inputs.items():
            if isinstance(v, int): self.must(self.lib.leat_call_set_i64(c, k.encode(), c_int64(v)))
            elif isinstance(v, float): self.must(self.lib.leat_call_set_f64(c, k.encode(), c_double(v)))
            else: self.must(self.lib.leat_call_set_array(c, k.encode(), self.wrap(v)))
        return Call(self, p, c, [r.encode() for r in results])


class Call:
    """A prepared call."""
    def __init__(self, leat, program, handle, results): self.leat = leat; self.program = program; self.handle = handle; self.results = results; self.lib = leat.lib

    def run(self, arrays):
        for r, a in zip(self.results, arrays): self.leat.must(self.lib.leat_call_want(self.handle, r, a))
        self.leat.must(self.lib.leat_call_run(self.handle, None, None))

    def fresh(self):
        """Runs it; the results are new each time and released at once, as a NumPy expression's are."""
        self.run([None] * len(self.results)); array = c_void_p()
        for r in self.results: self.leat.must(self.lib.leat_call_result(self.handle, r, byref(array))); self.lib.leat_array_free(array)

    def into(self, arrays):
        """A function that runs it into the same arrays."""
        handles = [self.leat.wrap(a) for a in arrays]
        return lambda: self.run(handles)

    def values(self, np):
        """The results as new NumPy arrays."""
        self.run([None] * len(self.results)); array, out = c_void_p(), []
        for r in self.results:
            d = Description(); self.leat.must(self.lib.leat_call_result(self.handle, r, byref(array))); self.leat.must(self.lib.leat_array_get(array, byref(d)))
            out.append(np.empty(tuple(d.shape[:d.rank]), NAMES[d.dtype])); self.leat.must(self.lib.leat_array_read(array, out[-1].ctypes.data, out[-1].nbytes, None, None)); self.lib.leat_array_free(array)
        return out

    def free(self): self.lib.leat_call_free(self.handle); self.lib.leat_program_free(self.program)
