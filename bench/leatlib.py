"""The part of leat.h that the benchmark needs, through ctypes: NumPy arrays in, prepared calls, results. Not a binding for users."""
import ctypes
from ctypes import POINTER, byref, c_bool, c_char_p, c_int, c_int64, c_size_t, c_void_p

RANK_MAX = 8
DTYPES = {'float32': 12, 'float64': 13, 'int64': 5}
NAMES = {number: name for name, number in DTYPES.items()}


class Description(ctypes.Structure):
    _fields_ = [('dtype', c_int), ('rank', c_int), ('shape', c_int64 * RANK_MAX), ('strides', c_int64 * RANK_MAX), ('data', c_void_p), ('read_only', c_bool)]


class Error(ctypes.Structure):
    _fields_ = [('code', c_int), ('message', c_char_p), ('expected', c_char_p), ('line', c_int), ('column', c_int), ('span', c_int)]


class Options(ctypes.Structure):
    _fields_ = [('device', c_char_p), ('threads', c_int), ('simd', c_char_p), ('memory_cap_bytes', c_size_t), ('cache_cap_bytes', c_size_t), ('ledger_level', c_int),
                ('allocate', c_void_p), ('reallocate', c_void_p), ('release', c_void_p), ('allocator_user', c_void_p), ('log', c_void_p), ('log_user', c_void_p)]


class DeviceInfo(ctypes.Structure):
    _fields_ = [('name', ctypes.c_char * 64), ('kind', ctypes.c_char * 16), ('simd', ctypes.c_char * 16), ('best_simd', ctypes.c_char * 16), ('threads', c_int), ('cores', c_int),
                ('memory_bytes', c_size_t), ('cache_bytes', c_size_t), ('copy_bytes_per_second', ctypes.c_double)]


class Leat:
    def __init__(self, path, threads):
        self.lib = ctypes.CDLL(path)
        self.lib.leat_version.restype = c_char_p
        for name in ('leat_array_free', 'leat_call_free', 'leat_program_free', 'leat_close'): getattr(self.lib, name).restype = None; getattr(self.lib, name).argtypes = [c_void_p]
        for name, types in dict(leat_call_run=[c_void_p] * 3, leat_call_result=[c_void_p, c_char_p, POINTER(c_void_p)], leat_call_want=[c_void_p, c_char_p, c_void_p],
                                leat_call_set_array=[c_void_p, c_char_p, c_void_p], leat_array_get=[c_void_p, POINTER(Description)]).items():
            getattr(self.lib, name).argtypes = types
        self.ctx = c_void_p(); self.keep = []
        self.must(self.lib.leat_open(byref(Options(threads=threads)), byref(self.ctx)))

    def must(self, status):
        if status:
            e = Error(); self.lib.leat_error_get(None, byref(e)); raise RuntimeError('leat: %s' % e.message.decode())

    def version(self): return self.lib.leat_version().decode()

    def device(self):
        info = DeviceInfo(); self.must(self.lib.leat_device_get(self.ctx, c_size_t(0), c_bool(True), byref(info))); return info

    def wrap(self, a):
        """A handle to a NumPy array's memory, which must stay."""
        d = Description(dtype=DTYPES[a.dtype.name], rank=a.ndim, data=a.ctypes.data, read_only=not a.flags.writeable); h = c_void_p()
        for k in range(a.ndim): d.shape[k] = a.shape[k]; d.strides[k] = a.strides[k] // a.itemsize
        self.must(self.lib.leat_array_wrap(self.ctx, byref(d), None, None, byref(h))); self.keep.append(a)
        return h

    def call(self, text, result, **arrays):
        p, c = c_void_p(), c_void_p()
        self.must(self.lib.leat_program_new(self.ctx, c_char_p(text.encode()), c_size_t(0), None, byref(p))); self.must(self.lib.leat_call_new(p, byref(c)))
        for k, v in arrays.items(): self.must(self.lib.leat_call_set_array(c, k.encode(), self.wrap(v)))
        return Call(self, c, result.encode())


class Call:
    """A prepared call of one result."""
    def __init__(self, leat, handle, result): self.leat = leat; self.handle = handle; self.result = result; self.lib = leat.lib

    def fresh(self):
        """Runs it; the result is new each time and released at once, as a NumPy expression's is."""
        array = c_void_p()
        self.leat.must(self.lib.leat_call_want(self.handle, self.result, None)); self.leat.must(self.lib.leat_call_run(self.handle, None, None))
        self.leat.must(self.lib.leat_call_result(self.handle, self.result, byref(array))); self.lib.leat_array_free(array)

    def into(self, array):
        """A function that runs it into one and the same array."""
        handle = self.leat.wrap(array)
        def run():
            self.leat.must(self.lib.leat_call_want(self.handle, self.result, handle)); self.leat.must(self.lib.leat_call_run(self.handle, None, None))
        return run

    def value(self, np):
        """The result as a new NumPy array."""
        array, d = c_void_p(), Description()
        self.leat.must(self.lib.leat_call_want(self.handle, self.result, None)); self.leat.must(self.lib.leat_call_run(self.handle, None, None))
        self.leat.must(self.lib.leat_call_result(self.handle, self.result, byref(array))); self.leat.must(self.lib.leat_array_get(array, byref(d)))
        out = np.empty(tuple(d.shape[:d.rank]), NAMES[d.dtype]); self.lib.leat_array_read.argtypes = [c_void_p, c_void_p, c_size_t, c_void_p, c_void_p]
        self.leat.must(self.lib.leat_array_read(array, out.ctypes.data, out.nbytes, None, None)); self.lib.leat_array_free(array)
        return out
