"""leat.Module and leat.Kernel: CUDA C of one's own, on the device LEAT_TEST_DEVICE (sim if that is the CPU)."""

import ctypes
import gc
import os
import shutil
import threading

import numpy as np
import pytest

import leat

DEVICE = os.environ.get("LEAT_TEST_DEVICE", "cpu")
DEVICE = "sim" if DEVICE == "cpu" else DEVICE
pytestmark = pytest.mark.skipif(DEVICE == "sim" and not (shutil.which("c++") or shutil.which("g++")),
                                reason="the simulator needs a C++ compiler")

SOURCE = """
struct Pair { float first; double second; };
__constant__ float scale[2] = {1, 2};
extern "C" __global__ void saxpy(float *y, const float *x, float a, int n) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n) y[k] += a * x[k];
}
extern "C" __global__ void numbers(double *y, Pair p, unsigned char c, short s, long long l, bool b, double d,
                                   unsigned u, float f) {
    y[0] = p.first; y[1] = p.second; y[2] = c; y[3] = s; y[4] = (double)l; y[5] = b; y[6] = d; y[7] = u; y[8] = f;
}
extern "C" __global__ void where(int *y) {
    int k = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    y[k] = blockDim.x * 100 + blockDim.y * 10 + blockDim.z;
}
extern "C" __global__ void shared(int *y, int n) {
    extern __shared__ int kept[];
    kept[threadIdx.x] = threadIdx.x;
    __syncthreads();
    y[threadIdx.x] = kept[n - 1 - threadIdx.x] + (int)scale[1];
}
extern "C" __global__ void is_null(int *y, const float *x) { y[0] = x == nullptr; }
template <class T> __global__ void fill(T *y, T value) { y[threadIdx.x] = value; }
"""


@pytest.fixture(scope="module")
def module():
    return leat.Module(SOURCE, name="kernels.cu", names=["fill<double>", "fill<int>"], device=DEVICE)


def array(x, dtype="f32"):
    return leat.asarray(np.array(x), dtype=dtype, device=DEVICE)


def test_saxpy(module):
    x, y = np.arange(1000, dtype="f4"), np.ones(1000, "f4")
    a, b = array(x), array(y)
    assert module["saxpy"][4, 256](b, a, 0.5, 999) is None
    y[:999] += 0.5 * x[:999]
    assert np.array_equal(b.numpy(), y)
    assert np.array_equal(a.numpy(), x)


def test_ordered_with_programs(module):
    x = array(np.ones(64))
    kernel = module["saxpy"][1, 64]
    for _ in range(10):
        kernel(x, x[:], 1.0, 64)
        leat.eval("y[i] = x[i] / 2", x=x, out=x, device=DEVICE)
    assert x.tolist() == [1.0] * 64


def test_numbers(module):
    y = array(np.zeros(9), "f64")
    kernel = module["numbers"][1, 1]
    pair = np.array((1.5, 2.5), np.dtype([("first", "f4"), ("second", "f8")], align=True))

    class Pair(ctypes.Structure):
        _fields_ = [("first", ctypes.c_float), ("second", ctypes.c_double)]

    kernel(y, pair, 200, -3, -(2**40), True, 0.1, 2**32 - 1, 3)
    assert y.tolist() == [1.5, 2.5, 200, -3, -(2**40), 1, 0.1, 2**32 - 1, 3]
    kernel(y, pair[()], np.uint8(7), np.int64(5), np.int32(6), np.bool_(True), np.float32(0.5), np.array(9), np.float64(2))
    assert y.tolist() == [1.5, 2.5, 7, 5, 6, 1, 0.5, 9, 2]
    kernel(y, Pair(3, 4), 0, 0, 0, False, 1, 0, np.float16(0.25))
    assert y.tolist() == [3, 4, 0, 0, 0, 0, 1, 0, 0.25]
    kernel(y, bytes(16), 0, 0, 0, False, 1, 0, 0)
    assert y.tolist() == [0] * 6 + [1, 0, 0]


@pytest.mark.parametrize("k, value, error, words", [
    (1, 1.5, TypeError, "'p' takes a structure of 16 bytes"),
    (1, bytes(15), TypeError, "'p' takes a structure of 16 bytes"),
    (2, 256, OverflowError, "256 does not fit parameter 'c', which has 8 bits"),
    (2, -129, OverflowError, "'c'"),
    (3, 65536, OverflowError, "'s'"),
    (3, np.int64(-40000), OverflowError, "'s'"),
    (3, 1.0, TypeError, "'s' takes an integer"),
    (3, np.float32(1), TypeError, "'s' takes an integer"),
    (3, "1", TypeError, "'s' takes an integer"),
    (3, np.ones(1, int), TypeError, "'s' takes an integer"),
    (4, 2**64, OverflowError, "'l'"),
    (4, -(2**63) - 1, OverflowError, "'l'"),
    (4, 1.0, TypeError, "'l' takes an array or an integer"),
    (4, None, TypeError, "'l' takes an array or an integer"),
    (6, "1", TypeError, "'d' takes a number"),
    (6, 1j, TypeError, "'d' takes a number"),
    (6, b"1", TypeError, "'d' takes a number"),
    (6, None, TypeError, "'d' takes a number"),
    (0, "text", TypeError, "'y'"),
    (0, 1.0, TypeError, "'y' takes an array, not a value of type float"),
    (0, 4096, TypeError, "'y' takes an array, not a value of type int; ctypes.c_void_p"),
    (0, np.int64(4096), TypeError, "'y' takes an array, not a value of type int64"),
    (0, np.float32(1), TypeError, "'y' takes an array, not a value of type float32; ctypes.c_void_p"),
    (0, np.complex64(1), TypeError, "'y' takes an array, not a value of type complex64; ctypes.c_void_p"),
    (0, np.bool_(1), TypeError, "'y' takes an array, not a value of type bool"),
    (0, np.array(1.0), TypeError, "'y' is in host memory"),
    (0, True, TypeError, "'y' takes an array, not a value of type bool"),
    (0, None, TypeError, "'y' takes an array, not a value of type NoneType"),
])
def test_wrong_numbers(module, k, value, error, words):
    arguments = [array(np.zeros(9), "f64"), bytes(16), 0, 0, 0, False, 0, 0, 0]
    arguments[k] = value
    with pytest.raises(error, match=words):
        module["numbers"][1, 1](*arguments)
    assert arguments[0] is value or arguments[0].tolist() == [0] * 9


def test_a_kernel_is_not_called(module):
    for call in (lambda f: f(), lambda f: f((1,), (4,), (array([1.0]), 1)), lambda f: f(1, grid=2)):
        with pytest.raises(TypeError, match=r"kernel saxpy .*kernel\[grid, block\]\(...\)"):
            call(module["saxpy"])


def test_wrong_arrays(module):
    kernel = module["saxpy"][1, 1]
    x = array([1.0])
    with pytest.raises(TypeError, match=r"'x' is in host memory; leat.asarray\(x, device="):
        kernel(x, np.ones(1, "f4"), 1, 1)
    with pytest.raises(leat.DeviceError, match="'y' is on cpu"):
        kernel(leat.asarray(np.ones(1, "f4"), device="cpu"), x, 1, 1)
    with pytest.raises(ValueError, match="f64.*pointer to f32"):
        kernel(x, array([1.0], "f64"), 1, 1)
    with pytest.raises(TypeError, match="takes 4 arguments, but got 3"):
        kernel(x, x, 1)
    with pytest.raises(TypeError, match="'n'"):
        kernel(x, x, 1, n=1)
    frozen = np.ones(1, "f4")
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="cannot write 'y' into a read-only array"):
        kernel(frozen, x, 1, 1)


def test_null_and_addresses(module):
    y = array([7], "i32")
    for address in (None, 0):
        module["is_null"][1, 1](y, ctypes.c_void_p(address))
        assert y.tolist() == [1]
    for address in (4096, 2**64 - 1):
        module["is_null"][1, 1](y, ctypes.c_void_p(address))
        assert y.tolist() == [0]
    with pytest.raises(TypeError, match="'n' takes an integer"):
        module["shared"][1, 1](y, ctypes.c_void_p(1))


def test_an_integer_that_may_be_an_address():
    made = leat.Module('extern "C" __global__ void f(int *y, size_t p) { y[0] = p == 0; }', device=DEVICE)
    assert [p.is_pointer for p in made["f"].parameters] == [True, False]
    y = array([7], "i32")
    made["f"][1, 1](y, 0)
    assert y.tolist() == [1]
    made["f"][1, 1](y, y)
    assert y.tolist() == [0]
    with pytest.raises(TypeError, match="'p' takes an array or an integer"):
        made["f"][1, 1](y, None)


def test_views_with_strides(module):
    kernel, x = module["saxpy"][1, 8], array(np.arange(12).reshape(3, 4))
    y = array(np.zeros(12))
    for view in (x.T, x[:, 1:], x[::-1], x[:, 0]):
        with pytest.raises(ValueError, match=r"'x' are not one after another; .*leat.asarray\(x, copy=True\), or strided=True"):
            kernel(y, view, 1.0, 3)
        with pytest.raises(ValueError, match="'y' are not one after another"):
            kernel(view, y, 1.0, 3)
    assert y.tolist() == [0] * 12
    for view in (x[1:], x[1], x[1:2, 1:], x[:, :0], x[None, 2, 3], x.T[:1].T[:1]):
        kernel(y, view, 1.0, 0)
    kernel(y, leat.asarray(x.T, copy=True), 1.0, 3)
    assert y.tolist()[:3] == [0, 4, 8]
    kernel(y, x[:, 1:], 1.0, 4, strided=True)
    assert y.tolist()[:4] == [1, 6, 11, 4]


def test_pairs_of_floats():
    """float2 and double2 are complex numbers, or two floats each."""
    source = """extern "C" __global__ void NAME(TYPE *y, const TYPE *x) {
        int k = threadIdx.x;
        y[k].x = x[k].y;
        y[k].y = x[k].x;
    }
    """
    made = leat.Module(source.replace("NAME", "f").replace("TYPE", "float2") +
                       source.replace("NAME", "d").replace("TYPE", "double2"), device=DEVICE)
    for kernel, complex_type, float_type in (("f", "complex64", "f32"), ("d", "complex128", "f64")):
        x = np.array([1 + 2j, 3 - 4j], complex_type)
        y, flat = array(np.zeros(2), complex_type), array(np.zeros(4), float_type)
        made[kernel][1, 2](y, array(x, complex_type))
        assert y.tolist() == [2 + 1j, -4 + 3j]
        made[kernel][1, 2](flat, y)
        assert flat.tolist() == [1, 2, 3, -4]
        assert [(p.dtype, p.is_pointer) for p in made[kernel].parameters] == [(y.dtype, True)] * 2
        for wrong in ("f64" if float_type == "f32" else "f32", "i32", "complex128" if kernel == "f" else "complex64"):
            with pytest.raises(ValueError, match="pointer to c"):
                made[kernel][1, 2](array(np.zeros(4), wrong), y)


def test_grid_and_block(module):
    y = array(np.zeros(24), "i32")
    kernel = module["where"]
    kernel[(2, 3, 4), (5, 4, 3)](y)
    assert y.tolist() == [543] * 24
    kernel[(2, 3), (6,)](y)
    assert y.tolist()[:6] == [611] * 6 and y.tolist()[6] == 543
    kernel[np.int64(1), 1, None](y)
    assert y.tolist()[0] == 111
    for key in (1, (1,), (1, 1, None, 0, 0), (1.5, 1), ((), 1), ((1, 1, 1, 1), 1), (1, 1, "stream")):
        with pytest.raises(TypeError):
            kernel[key](y)
    for key in ((0, 1), (1, -1), (2**32, 1), (2**40, 1)):
        with pytest.raises(ValueError, match="must be from 1 to 4294967295"):
            kernel[key]
    with pytest.raises(ValueError):
        kernel[1, 100000](y)


def test_shared_memory_and_streams(module):
    stream = leat.Stream(device=DEVICE)
    y = array(np.zeros(8), "i32")
    module["shared"][1, 8, stream, 32](y, 8)
    stream.synchronize()
    assert y.tolist() == [9, 8, 7, 6, 5, 4, 3, 2]
    with pytest.raises(ValueError, match="stream"):
        module["where"][1, 1, leat.Stream(device="cpu")](y)


def test_cooperative(module):
    y = array(np.zeros(8), "i32")
    module["where"][2, 4](y, cooperative=True)
    assert y.tolist()[:2] == [411] * 2
    module["where"][1, 1](y, **{"cooperative": False})
    assert y.tolist()[0] == 111


def test_names_and_facts(module):
    assert set(module.kernels) >= {"saxpy", "numbers", "where", "shared", "is_null", "fill<double>", "fill<int>"}
    assert module.name == "kernels.cu" and module.device.startswith(DEVICE) and "saxpy" in repr(module)
    assert isinstance(module.log, str)
    kernel = module["saxpy"]
    assert isinstance(kernel, leat.Kernel) and kernel.name == "saxpy" and kernel.module is module
    assert repr(kernel).startswith("<leat.Kernel saxpy(y, x, a, n) on ")
    assert kernel.max_block_threads >= 256 and kernel.best_block_threads >= 32 and kernel.registers > 0
    assert kernel.static_shared_bytes == 0 and kernel.local_bytes >= 0
    assert [p.name for p in kernel.parameters] == ["y", "x", "a", "n"]
    assert [p.is_const for p in kernel.parameters] == [False, True, False, False]
    assert [p.dtype for p in kernel.parameters] == ["f32", "f32", "f32", "i32"] and kernel.parameters[0].is_address
    assert [p.is_pointer for p in kernel.parameters] == [True, True, False, False]
    assert [p.dtype for p in module["numbers"].parameters][:3] == ["f64", None, "i8"]
    assert "saxpy" in repr(kernel[1, 2])
    y = array(np.zeros(4), "f64")
    module["fill<double>"][1, 4](y, 2.5)
    assert y.tolist() == [2.5] * 4
    with pytest.raises(KeyError, match="saxpi"):
        module["saxpi"]
    with pytest.raises(TypeError):
        module[1]


def test_symbol(module):
    scale = module.symbol("scale")
    assert scale.dtype == "u8" and scale.numpy().view("f4").tolist() == [1, 2]
    with pytest.raises(ValueError, match="nothing"):
        module.symbol("nothing")


def test_errors_of_source():
    source = 'extern "C" __global__ void f(int *y) {\n    y[0] = undeclared;\n}\n'
    with pytest.raises(leat.ProgramError) as caught:
        leat.Module(source, name="bad.cu", device=DEVICE)
    error = caught.value
    assert isinstance(error, SyntaxError) and error.filename == "bad.cu" and error.lineno == 2
    assert error.text.strip() == "y[0] = undeclared;" and "undeclared" in error.msg


def test_options(tmp_path):
    (tmp_path / "two.h").write_text("#define TWO 2\n")
    source = '#include "two.h"\nextern "C" __global__ void f(int *y) { y[0] = N + TWO; }'
    y = array([0], "i32")
    made = leat.Module(source, macros=["N=40"], include_paths=[tmp_path], line_info=True, device=DEVICE)
    made["f"][1, 1](y)
    assert y.tolist() == [42]
    with pytest.raises(TypeError, match="macros"):
        leat.Module(source, macros="N=40", device=DEVICE)
    with pytest.raises(TypeError):
        leat.Module(source, options=[1], device=DEVICE)
    with pytest.raises(leat.DeviceError):
        leat.Module(source, device="cpu")


def test_a_device_is_found_or_the_reason_given():
    usable = any(info.kind == "cuda" and info.usable for info in leat.devices())
    with leat.device("cpu"):
        if usable:
            assert leat.Module('extern "C" __global__ void f() {}').device.startswith("cuda")
        else:
            with pytest.raises(leat.DeviceError, match='device="sim"'):
                leat.Module('extern "C" __global__ void f() {}')


FAULT = r"""
import numpy as np
import leat

SOURCE = 'extern "C" __global__ void f(int *y, int n) { y[n] = 5; }'
double = leat.program("y[i] = 2 * a[i]")
wild, host = leat.Module(SOURCE, device="sim")["f"], np.arange(3)
y = leat.asarray(np.zeros(2, "i4"), device="sim")
assert double(host, device="sim").tolist() == [0, 2, 4]
wild[1, 1](y, 1)
assert y.tolist() == [0, 5]
wild[1, 1](y, 10**8)

def says(words, call):
    try:
        call()
    except leat.DeviceError as error:
        assert words in str(error), error
    else:
        raise AssertionError(words)

try:
    leat.synchronize("sim")
except (leat.DeviceError, leat.DataError):
    pass
calls = [lambda: leat.synchronize("sim"), lambda: double(host, device="sim"), lambda: y.tolist(),
         lambda: leat.asarray(host, device="sim"), lambda: double(y), lambda: wild[1, 1](y, 0)]
for call in calls:
    says("failed earlier", call)
    says("start a new process", call)
assert double(host, device="cpu").tolist() == [0, 2, 4]
"""


@pytest.mark.skipif(DEVICE != "sim", reason="on a GPU the fault ends the work of the whole process")
@pytest.mark.parametrize("check", ["0", "1"])
def test_a_failed_device(run_python, not_with_asan, check):
    run_python(FAULT, LEAT_SIM_CHECK=check)


def test_lifetimes(module):
    kernel = leat.Module('extern "C" __global__ void f(int *y) { y[0] = 5; }', device=DEVICE)["f"]
    launcher = kernel[1, 1]
    del kernel
    gc.collect()
    y = array([0], "i32")
    launcher(y)
    assert y.tolist() == [5]


def test_many_parameters():
    words = ", ".join(f"int p{k}" for k in range(20))
    total = " + ".join(f"p{k}" for k in range(20))
    made = leat.Module(f'extern "C" __global__ void f(int *y, {words}) {{ y[0] = {total}; }}', device=DEVICE)
    y = array([0], "i32")
    made["f"][1, 1](y, *range(20))
    assert y.tolist() == [190]


def test_threads(module):
    kernel = module["saxpy"]
    ys = [array(np.zeros(256)) for _ in range(4)]
    x = array(np.ones(256))

    def work(y):
        for _ in range(50):
            kernel[2, 128](y, x, 1.0, 256)

    threads = [threading.Thread(target=work, args=(y,)) for y in ys]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(y.tolist() == [50.0] * 256 for y in ys)


@pytest.mark.skipif(not DEVICE.startswith("cuda"), reason="needs a GPU")
def test_arrays_of_torch(module):
    torch = pytest.importorskip("torch")
    for stream in (torch.cuda.current_stream(), torch.cuda.Stream()):
        with torch.cuda.stream(stream):
            x, y = torch.arange(1000.0, device="cuda"), torch.ones(1000, device="cuda")
            for _ in range(100):
                module["saxpy"][4, 256](y, x, 2.0, 1000)
                y -= 2 * x
            assert y.tolist() == [1.0] * 1000
            module["saxpy"][4, 256, stream](y, x, 1.0, 1000)
            assert torch.equal(y, x + 1)


@pytest.mark.skipif(not DEVICE.startswith("cuda"), reason="needs a GPU")
def test_arrays_of_cupy(module):
    cupy = pytest.importorskip("cupy")
    x, y = cupy.arange(1000, dtype="f4"), cupy.ones(1000, "f4")
    module["saxpy"][4, 256](y, x, 2.0, 1000)
    assert (y == 2 * x + 1).all()
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        for _ in range(100):
            z = cupy.ones(1000, "f4")
            module["saxpy"][4, 256](z, x, 1.0, 1000)
            assert (z == x + 1).all()
