"""Exceptions: their classes, what they say, and where the caret is."""

import array
import re
import traceback
import threading
import time
import warnings

import numpy as np
import pytest

import leat


def program_error(text, **options):
    with pytest.raises(leat.ProgramError) as caught:
        leat.program(text, **options)
    return caught.value


def test_classes():
    assert issubclass(leat.ProgramError, SyntaxError) and issubclass(leat.ProgramError, leat.Error)
    assert issubclass(leat.ShapeError, ValueError) and issubclass(leat.DataError, IndexError)
    assert issubclass(leat.DeviceError, RuntimeError) and issubclass(leat.LeatWarning, RuntimeWarning)
    assert leat.ProgramError.__module__ == "leat"


def caret(error):
    """What the caret is under."""
    return error.text[error.offset - 1:error.end_offset - 1]


def test_location():
    error = program_error("y[i] = a[i]\nz[i] = 3 + [", name="file.leat")
    assert (error.filename, error.lineno, error.text) == ("file.leat", 2, "z[i] = 3 + [")
    assert error.end_lineno == 2 and caret(error) == "["
    assert error.filename == "file.leat" and "expected" in error.msg


PLACES = [
    ("y[i] = foo(a[i])", "foo"),
    ("\ty[i] = foo(a[i])", "foo"),
    ("y = 1 # \u00e4\u00f6\u00fc\ny[i] = foo(a[i])", "foo"),
    ("y[i] = a[i] + \u00e9", "\u00e9"),
    ("# \u65e5\u672c\r\ny = 1 +* 2", "*"),
    ("y = 1\n\n\n   z[i] = bar(3)   # comment", "bar"),
    ("y = 1 + ", ""),
    ("y = (1 + 2", "("),
]


@pytest.mark.parametrize("k", range(len(PLACES)))
def test_caret(k):
    text, under = PLACES[k]
    error = program_error(text)
    assert under in caret(error) or (under == "(" and error.offset >= len(text)), (error, caret(error))
    line = text.replace("\r", "").split("\n")[error.lineno - 1]
    assert error.text == line and 1 <= error.offset <= len(line) + 1 and error.offset < error.end_offset
    shown = "".join(traceback.format_exception_only(error))
    assert "^" in shown and "ProgramError" in shown and 'File "program"' in shown


def test_caret_after_wide_characters():
    """The offset counts characters, not bytes."""
    for before in ("", "\u00e4", "\u65e5\u672c", "\U0001f600"):
        text = f"y = 1 #{before}\nz = \u00e9"
        assert program_error(text).offset == 5
    error = program_error("y = 1; \u00e9\u00e9 = 2; z = 3 +* 1")
    assert error.offset == 8 or caret(error)


def test_several_errors():
    error = program_error("y = bar(1)\nx = foo(1)\nz = baz(1)")
    assert len(error.errors) == 3 and error.lineno == 1
    assert [one["line"] for one in error.errors] == [1, 2, 3]
    assert all(set(one) == {"message", "help", "line", "column", "span"} for one in error.errors)
    first, others = error.msg.split("2 more errors:\n")
    assert "bar" in first and "bar" not in others and "y =" not in others
    assert others.startswith("program:2:5: error: unknown function 'foo'\nx = foo(1)\n    ^") and "baz" in others
    two = program_error("y = bar(1)\nz = bar(1)")
    assert two.msg.count("unknown function 'bar'") == 2 == two.msg.count("help") and "1 more error:\nprogram:2:5" in two.msg
    many = program_error("\n".join(f"y{k} = foo{k}(1)" for k in range(50)))
    assert 1 < len(many.errors) <= 50


@pytest.mark.parametrize("text", ["", " \n\n", "# nothing", "\0", "y = 1\0", "y = 1\0\nz = 2"])
def test_no_program(text):
    assert isinstance(program_error(text), SyntaxError)


def test_text_that_is_no_utf8():
    with pytest.raises(UnicodeEncodeError):
        leat.program("y = 1 # \ud800")
    with pytest.raises(TypeError):
        leat.program(b"y = 1")
    with pytest.raises(TypeError):
        leat.program(None)


def test_long_text():
    program_error("y = " + "(" * 100_000)
    program_error("y = " + "1 +" * 20_000)


class Text(str):
    pass


def test_subclass_of_str():
    assert leat.program(Text("y = 1"))() == 1 and leat.eval(Text("y = 2")) == 2


def test_eval_raises_the_same():
    with pytest.raises(leat.ProgramError) as caught:
        leat.eval("y[i] = foo(a[i])", np.ones(3))
    assert caught.value.lineno == 1 and caret(caught.value) == "foo(a[i])"


SHAPES = [
    ("y[i] = a[i] + b[i]", (np.ones(3), np.ones(4)), "a axis 0 has 3, b axis 0 has 4"),
    ("y[i,j] = a[i,j]", (np.ones(3),), "'a'"),
    ("y[i] = a[i]", (3.0,), "'a' is a scalar"),
    ("y = a + 1", (np.ones(3),), "'a'"),
    ("in a: f32\ny[i] = a[i]", (np.ones(3),), "'a'"),
    ("in a[3]\ny[i] = a[i]", (np.ones(4),), "a"),
    ("y[i] = a[i+1]", (np.ones(4),), "a"),
    ("in a: i32\ny = a", (2**40,), "'a'"),
    ("in a: u8\ny = a", (-1,), "'a'"),
    ("in a: i32\ny = a", (0.5,), "a"),
    ("in a: f32\ny = a", (1j,), "a"),
    ("y[i] = a[i] % 2", (np.ones(4, "c8"),), ""),
]


@pytest.mark.parametrize("k", range(len(SHAPES)))
def test_shapes(k):
    text, inputs, words = SHAPES[k]
    program = leat.program(text, name="file.leat")
    for _ in range(2):
        with pytest.raises((leat.ShapeError, leat.ProgramError)) as caught:
            program(*inputs)
        assert words in str(caught.value), caught.value


def test_data_error():
    gather = leat.program("y[i] = a[p[i]]", name="gather")
    a = np.arange(3.0)
    for _ in range(3):
        with pytest.raises(leat.DataError, match="of gather: a axis 0 .length 3.: subscript is 5"):
            gather(a, np.array([0, 5]))
        assert gather(a, np.array([2, 0])).tolist() == [2, 0]
    with pytest.raises(IndexError):
        gather(a, np.array([-1]), out=np.zeros(1))


def test_location_of_shape_and_data_errors():
    """As for a SyntaxError: attributes, and a caret in the message."""
    gather = leat.program("# \u00e4\n\tz[i] = 1 + b[p[i]]  # \u00f6", name="gather")
    for wrong, kind, under in (((np.arange(3.0), np.array([5])), leat.DataError, "b[p[i]]"),
                               ((np.ones((3, 1)), np.array([1])), leat.ShapeError, "b")):
        for call in (gather, gather.explain):
            with pytest.raises(kind) as caught:
                call(*wrong)
            error = caught.value
            assert (error.filename, error.lineno, error.end_lineno) == ("gather", 2, 2) and caret(error).startswith(under)
            assert error.text == "\tz[i] = 1 + b[p[i]]  # \u00f6" and error.args == (str(error),)
            lines = str(error).split("\n")
            assert lines[0].startswith("line 2 of gather: ") and lines[1] == "    " + error.text and len(lines) <= 4
            drawn = lines[2].expandtabs()
            assert lines[1].expandtabs()[drawn.index("^"):].startswith(under) and drawn.strip(" ^") == ""
            assert len(lines) == 3 or lines[3].startswith("help: ")
    plain = leat.ShapeError("text")
    assert plain.lineno is plain.offset is plain.text is plain.filename is plain.end_lineno is plain.end_offset is None


def test_location_in_a_long_line():
    with pytest.raises(leat.DataError) as caught:
        leat.eval("y[i] = 1" + " + 1" * 100 + " + a[p[i]]", np.ones(2), np.array([2]))
    assert caught.value.offset > 400 and "^" not in str(caught.value) and len(str(caught.value)) < 200


def test_missing_arguments():
    program = leat.program("in a, b = 1, c, d; y[i] = a[i] + b + c + d")
    with pytest.raises(TypeError, match="is missing the arguments 'a', 'c', 'd'$"):
        program()
    with pytest.raises(TypeError, match="is missing the argument 'c'$"):
        program(np.ones(2), d=1)


@pytest.mark.parametrize("value, name, advice", [
    (np.ones(2, "g"), str(np.dtype("g")), "asarray(x"), (np.ones(2, "G"), str(np.dtype("G")), "asarray(x"),
    (array.array("u", "ab"), "w", "asarray(x"), (np.array(["1"]), "<U1", 'numbers, convert them first, as by x.astype("float64")'),
    (np.array([b"1"]), "|S1", 'x.astype("float64")'), (np.array([1, None]), "object", 'x.astype("float64")'),
    (np.zeros(2, "i4,f4"), "f0", "pass one field, such as x['f0']"), (np.zeros(2, "M8[D],f4"), "f0", "x['f0']"),
    (np.zeros(2, "M8[D]"), "datetime64[D]", 'pass x.view("int64"), which shares the memory, or x.astype("int64")'),
    (np.zeros(2, "m8[s]"), "timedelta64[s]", 'x.view("int64")'),
])
def test_elements_that_leat_does_not_have(value, name, advice):
    for call in (lambda: leat.eval("y[i] = a[i]", a=value), lambda: leat.asarray(value)):
        with pytest.raises(TypeError, match=re.escape(name) + ".* which Leat does not have; .*" + re.escape(advice)):
            call()
    if "asarray" not in advice:
        with pytest.raises(TypeError, match="'y' .*does not have.*" + re.escape(advice)):
            leat.eval("y[i] = a[i]", a=np.ones(2), out=value)


def test_advice_is_right():
    assert leat.eval("y[i] = a[i] + 1", np.array(["2020-01-02"], "M8[D]").view("int64")).view("M8[D]") == np.datetime64("2020-01-03")
    assert leat.eval("y[i] = a[i]", np.array(["1", "2.5"]).astype("float64")).tolist() == [1, 2.5]
    with pytest.raises(TypeError, match=r'datetime64, which is not a number; pass x.astype\("int64"\)'):
        leat.eval("y = a", np.datetime64("2020-01-01"))


def test_device_of_the_environment(run_python):
    script = "import leat\ntry: leat.eval('y = 1')\nexcept leat.DeviceError as error: print(error)"
    assert run_python(script, LEAT_DEVICE="toaster").startswith("the environment variable LEAT_DEVICE: there is no device 'toaster'")
    script = script.replace("1'", "1', device='gpu'")
    assert run_python(script, LEAT_DEVICE="toaster").startswith("there is no device 'gpu'")


def test_memory_error():
    large = leat.program("y[i] = 1.0 where i in 0..n")
    for _ in range(3):
        with pytest.raises((MemoryError, leat.DeviceError)):
            large(10**15)
        assert large(3).tolist() == [1, 1, 1]
    with pytest.raises(MemoryError, match="'y'"):
        large(10**15, device="cpu")


def test_device_error():
    with pytest.raises(leat.DeviceError, match="no device 'gpu'"):
        leat.eval("y = 1", device="gpu")
    assert leat.eval("y = 1") == 1


# ---- warnings


divide = leat.program("y[i] = a[i] // b[i]")
ones, zeros = np.ones(3, "i8"), np.zeros(3, "i8")


def test_warning():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            assert divide(ones, zeros).tolist() == [0, 0, 0]
    assert len(caught) == 1 and caught[0].category is leat.LeatWarning
    assert "divided by zero" in str(caught[0].message) and caught[0].filename == __file__


def test_warning_as_error():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            with pytest.raises(leat.LeatWarning):
                divide(ones, zeros)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert divide(ones, ones).tolist() == [1, 1, 1]


def test_warning_and_failure():
    """The failure is raised, whatever the filter does."""
    both = leat.program("z[i] = a[i] // b[i]; y[i] = z[p[i]]")
    for action in ("error", "ignore"):
        with warnings.catch_warnings():
            warnings.simplefilter(action)
            with pytest.raises(leat.DataError):
                both(ones, zeros, np.array([7]))
            leat.eval("y = 1")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert both(ones, ones, np.array([2])).tolist() == [1]


def test_explain_with_warning_and_failure():
    both = leat.program("z[i] = a[i] // b[i]; y[i] = z[p[i]]")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(leat.DataError):
            both.explain(ones, zeros, np.array([7]))
        with pytest.raises(leat.LeatWarning):
            divide.explain(ones, zeros)
        assert divide(ones, ones).tolist() == [1, 1, 1]


def test_warnings_of_threads():
    """A call raises its own warnings, and those of no other thread."""
    clean = leat.program("y[i] = a[i] + 1")
    stop, wrong = threading.Event(), []

    def divide_by_zero():
        while not stop.is_set():
            try:
                divide(ones, zeros)
                wrong.append("no warning")
            except leat.LeatWarning:
                pass

    def add():
        while not stop.is_set():
            try:
                clean(ones)
            except leat.LeatWarning:
                wrong.append("a warning of another call")

    threads = [threading.Thread(target=work) for work in (divide_by_zero, add)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for thread in threads:
            thread.start()
        time.sleep(0.5)
        stop.set()
        for thread in threads:
            thread.join()
    assert not wrong


def test_failed_calls_leave_the_program_usable():
    program = leat.program("in a, k = 2, p = 0\ny[i] = a[i] * k; z = a[p]\nout y, z")
    a = np.arange(4.0)
    bad = [lambda: program(a, k="x"), lambda: program(a, p=9), lambda: program(a, out=(np.zeros(3), None)),
           lambda: program(a, k=np.ones(3)), lambda: program(), lambda: program(a, device="gpu"),
           lambda: program(a, like="x"), lambda: program(a, out=(a, np.zeros(()), a))]
    for call in bad * 3:
        with pytest.raises(Exception) as caught:
            call()
        assert not isinstance(caught.value, SystemError)
        y, z = program(a)
        assert y.tolist() == [0, 2, 4, 6] and z == 0
    assert a.tolist() == [0, 1, 2, 3]


def test_shapes_of_results_are_named():
    with pytest.raises(leat.ShapeError, match=r"'y', which has the shape \[3,2\], into an array with the shape \[3,4\]"):
        leat.eval("y[i,j] = a[i,j] * 1j", np.ones((3, 2)), out=np.ones((3, 4), complex))


def test_advice():
    assert "such as `out d: f64[n,m]`" in str(program_error("d[i,i] = a[i]"))
    with pytest.raises(leat.DeviceError, match="cpu does not run CUDA C\nhelp: use the device cuda or sim"):
        leat.Module("", device="cpu")


@pytest.mark.parametrize("text, inputs, words", [
    ("s = sum(k in 0..n: k)", {"n": 2**62}, "the range of index 'k' is too large"),
    ("s = sum(k in 0..4 by n: k)", {"n": 0}, "`by` must be positive"),
])
def test_arguments_that_a_checked_program_refuses(text, inputs, words):
    """The text is right, so this is no SyntaxError."""
    program = leat.program(text)
    for run in (program, program.explain):
        with pytest.raises(leat.ShapeError, match=words) as caught:
            run(**inputs)
        assert "line 1" in str(caught.value) and not isinstance(caught.value, SyntaxError)
