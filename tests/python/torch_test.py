"""Tensors of PyTorch on the CPU: in, out, and as results."""

import gc
import re

import numpy as np
import pytest

import leat

torch = pytest.importorskip("torch")
double = leat.program("y[...] = a[...] + a[...]")
DTYPES = [torch.bool, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8, torch.uint16, torch.uint32,
          torch.uint64, torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128]


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes(dtype):
    a = torch.arange(3).to(dtype)
    y = double(a)
    assert type(y) is torch.Tensor and y.tolist() == [0, 2 if dtype != torch.bool else 1, 4 if dtype != torch.bool else 1]
    assert y.dtype == dtype
    own = leat.asarray(a).dtype
    assert own == dtype and dtype == own and [own == other for other in DTYPES].count(True) == 1
    assert own != torch.float8_e5m2 and own != torch.device("cpu") and own != a.layout
    out = torch.zeros(3, dtype=dtype)
    assert double(a, out=out) is out and torch.equal(out.to(torch.complex128), y.to(torch.complex128))


LAYOUTS = {
    "transposed": lambda t: t.T,
    "sliced": lambda t: t[1::2, 2:],
    "expanded": lambda t: t[0].expand(6, 8),
    "permuted": lambda t: t.reshape(2, 3, 4, 2).permute(3, 1, 0, 2),
    "empty": lambda t: t[:0],
    "offset": lambda t: t.flatten()[5:17],
    "rank 8": lambda t: t.reshape(1, 6, 1, 1, 8, 1, 1, 1),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout):
    t = LAYOUTS[layout](torch.arange(48.0).reshape(6, 8))
    y = double(t)
    assert y.shape == t.shape and torch.equal(y, t + t)


def test_out_views():
    whole = torch.zeros(4, 6)
    double(torch.arange(8.0).reshape(2, 4), out=whole[::2, 1:5])
    assert whole[2].tolist() == [0, 8, 10, 12, 14, 0] and whole[1].tolist() == [0] * 6
    a = torch.arange(4.0)
    assert double(a, out=a) is a and a.tolist() == [0, 2, 4, 6]


def test_gradients_that_are_not_recorded():
    a = torch.nn.Parameter(torch.arange(3.0))
    with torch.no_grad():
        assert double(a).tolist() == [0, 2, 4]
    with torch.inference_mode():
        assert double(a).tolist() == [0, 2, 4]


def test_rank_0():
    y = leat.eval("y = a + a", torch.tensor(3.0))
    assert type(y) is torch.Tensor and y.shape == () and y == 6
    assert leat.eval("y[i] = a[i] * b", torch.ones(2), torch.tensor(3, dtype=torch.float64)).dtype == torch.float64
    assert leat.eval("y[i] = a[i] * b", torch.ones(2), 3.0).dtype == torch.float32


REFUSED = {
    "gradient": (lambda: torch.ones(3, requires_grad=True), "detach()"),
    "parameter": (lambda: torch.nn.Parameter(torch.ones(3)), "detach()"),
    "computed": (lambda: torch.ones(3, requires_grad=True) * 2, "detach()"),
    "conjugated": (lambda: torch.tensor([1 + 2j]).conj(), "resolve_conj()"),
    "negated": (lambda: torch.tensor([1 + 2j]).conj().imag, "resolve_neg()"),
    "meta": (lambda: torch.ones(3, device="meta"), "meta"),
    "sparse": (lambda: torch.eye(3).to_sparse(), "'a'"),
    "float8": (lambda: torch.ones(3).to(torch.float8_e4m3fn), "type"),
    "rank 9": (lambda: torch.ones((1,) * 9), "9 axes"),
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.filterwarnings("ignore")
def test_refused(name):
    make, words = REFUSED[name]
    for _ in range(2):
        with pytest.raises((TypeError, ValueError), match="'a'") as caught:
            double(make())
        assert words in str(caught.value) and "\n" not in str(caught.value), caught.value


def test_refused_out():
    with pytest.raises(ValueError, match="'y'.*detach"):
        double(torch.ones(3), out=torch.ones(3, requires_grad=True))
    with pytest.raises(leat.ShapeError, match="'y'"):
        double(torch.ones(3), out=torch.ones(4))
    with pytest.raises(leat.ShapeError, match="'y'.*f64"):
        double(torch.ones(3), out=torch.ones(3, dtype=torch.float64))
    with pytest.raises((ValueError, leat.Error), match="'y'"):
        double(torch.ones(3), out=torch.ones(1).expand(3))


def test_detached():
    assert double(torch.ones(3, requires_grad=True).detach()).tolist() == [2, 2, 2]
    assert torch.equal(double(torch.tensor([1 + 2j]).conj().resolve_conj()), torch.tensor([2 - 4j]))
    with torch.inference_mode():
        assert double(torch.ones(2) + 1).tolist() == [4, 4]
    with torch.no_grad():
        assert double(torch.ones(2)).requires_grad is False


class Tagged(torch.Tensor):
    pass


def test_subclass():
    y = double(torch.ones(3).as_subclass(Tagged))
    assert isinstance(y, torch.Tensor) and y.tolist() == [2, 2, 2]
    for name in ("gradient", "conjugated", "negated"):
        make, words = REFUSED[name]
        with pytest.raises(ValueError, match=re.escape(words)):
            double(make().as_subclass(Tagged))


class Silent(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        if function.__name__ == "is_neg":
            raise RuntimeError("asked is_neg")
        return super().__torch_function__(function, types, args, kwargs or {})


def test_tensor_that_does_not_answer():
    for _ in range(2):
        with pytest.raises(TypeError, match="'a'.*asked is_neg"):
            double(torch.ones(3).as_subclass(Silent))


def test_libraries_of_results():
    t, n = torch.ones(3), np.ones(3)
    both = leat.program("y[i] = a[i] + b[i]")
    assert type(both(t, n)) is torch.Tensor and type(both(n, t)) is torch.Tensor and type(both(1.0 * n, 2 * n)) is np.ndarray
    assert type(double(t, like="numpy")) is np.ndarray and type(double(n, like=torch)) is torch.Tensor
    assert type(double(n, like=t)) is torch.Tensor and type(double(t, like="leat")) is leat.Array
    y = np.zeros(3)
    assert both(t, n, out=y) is y


def test_memory():
    t = torch.arange(1000.0)
    y = double(t)
    y[0] = 5
    del t
    gc.collect()
    for _ in range(5):
        double(torch.zeros(1000))
    assert y[999] == 1998 and y[0] == 5
    same = leat.eval("y[i] = a[i]", y)
    same += 1
    assert y[0] == 5


def test_exchange_of_leat_arrays(device):
    expected = torch.arange(6.0).reshape(2, 3)
    a = leat.eval("y[i,j] = a[i,j]", expected, like="leat", device="cpu")
    assert type(a).__dlpack_c_exchange_api__ is not None
    for mine, theirs in ((a, expected), (a.T, expected.T), (a[:, ::2], expected[:, ::2]), (a[1], expected[1])):
        assert torch.equal(torch.from_dlpack(mine), theirs)
    shared = torch.from_dlpack(a)
    shared[0, 0] = 9
    assert a[0, 0].item() == 9
    del a
    gc.collect()
    assert shared.sum() == 24
    assert double(leat.eval("y[i] = a[i]", torch.arange(3).bfloat16(), like="leat", device="cpu"), like="torch").tolist() == [0, 2, 4]


def test_references(references):
    t, out = torch.ones(4), torch.zeros(4)
    references.add(t, out)
    for _ in range(20):
        double(t, out=out)
        double(t)
        with pytest.raises(leat.ShapeError):
            double(t[:3], out=out)
    assert t._use_count() <= 2 if hasattr(t, "_use_count") else True


def test_version_of_targets():
    """PyTorch refuses gradients that need elements which a run has replaced."""
    x, y = torch.ones(3, requires_grad=True), torch.ones(3)
    product = (x * y).sum()
    before = y._version
    double(torch.ones(3), out=y)
    assert y._version > before and y.tolist() == [2, 2, 2]
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.backward()
    with torch.inference_mode():
        z = torch.ones(3)
        assert double(torch.ones(3), out=z).tolist() == [2, 2, 2]
