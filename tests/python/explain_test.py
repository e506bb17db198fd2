"""Program.explain and Program.show: what they return, print and leave as it was, and the picture in a notebook."""

import array
import html.parser
import json
import re
import subprocess
import sys

import numpy as np
import pytest

import leat
from leat import _account, _picture

SOFTMAX = """e[i,j] = exp(x[i,j] - max(k: x[i,k]))
y[i,j] = e[i,j] / sum(k: e[i,k])
out y
"""


@pytest.fixture(params=["cpu", "sim"])
def device(request):
    return request.param


@pytest.fixture
def softmax():
    return leat.program(SOFTMAX, name="softmax")


@pytest.fixture
def x():
    return np.arange(600, dtype="f4").reshape(20, 30) % 7


def records(account, **wanted):
    ledger = account.json["ledger"]
    return [record for record in ledger if all(record.get(name) == value for name, value in wanted.items())]


class Picture(html.parser.HTMLParser):
    """Checks that tags are closed in order, and keeps the text and the names of the tags."""

    def __init__(self, text):
        super().__init__()
        self.open, self.words, self.tags, self.rows = [], [], set(), 0
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.rows += tag == "tr"
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.words.append(data)


# ---- explain


def test_the_account_has_the_run(softmax, x, device):
    account = softmax.explain(x, device=device)
    assert type(account) is leat.Account
    assert records(account, kind="kernel", on_device=False)[0]["what"] == "y[i,j] = e[i,j] / sum(k: e[i,k])"
    assert "compile" in str(account) and "Would help: " in account.text.splitlines()[-1]
    assert account.json["verdict"] == "\n".join(account.text.splitlines()[-2:])
    assert bool(records(account, on_device=True)) == (device == "sim")


def test_the_second_run_is_reported(softmax, x, device):
    account = softmax.explain(x, device=device)
    assert {"check", "compile", "plan"} <= {cost["kind"] for cost in account.json["first_run"]}
    assert not {"check", "compile", "plan"} & {record["kind"] for record in account.json["ledger"]}
    assert "in the first run only" in account.text and "the whole call, which had run before" in account.text


def test_two_runs_do_not_add_up(softmax, x, device):
    for _ in range(2):
        softmax(x, device=device)
        counts = [record["count"] for record in records(softmax.explain(x, device=device), kind="kernel")]
        assert counts and set(counts) == {1}


def test_out_is_written(softmax, x, device):
    out = np.zeros_like(x)
    softmax.explain(x=x, out=out, device=device)
    np.testing.assert_allclose(out, softmax(x), rtol=1e-6)


def test_arrays_of_leat_in_and_out(softmax, x, device):
    given, out = softmax(x, like=leat, device=device), softmax(x, like=leat, device=device)
    account = softmax.explain(given, out=out, device=device)
    assert bool(records(account, kind="upload")) is False
    np.testing.assert_allclose(out.numpy(), softmax(softmax(x)), rtol=1e-6)


def test_stream(softmax, x, device):
    stream = leat.Stream(device=device)
    given = softmax(x, like=leat, device=device, stream=stream)
    assert records(softmax.explain(given, stream=stream, device=device), kind="kernel")
    assert "launch 0" in softmax.show("plan", given, stream=stream, device=device)
    with pytest.raises(TypeError, match="stream must be"):
        softmax.explain(x, stream="s", device=device)


def test_many_threads_explain_and_run(softmax, x, device):
    from concurrent.futures import ThreadPoolExecutor

    copied, wanted = x.astype(">f4"), softmax(x)

    def work(k):
        if k % 2:
            np.testing.assert_allclose(softmax(copied, device=device), wanted, rtol=1e-6)
            return True
        account = softmax.explain(copied, device=device)
        return [record["count"] for record in records(account, kind="copy") if record["what"] == "x"] == [1]

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(32)))


def test_nothing_is_held(softmax, x, device, references):
    out, copied = np.zeros_like(x), x.astype(">f4")
    references.add(x, out, copied, softmax)
    for given in (x, copied, softmax(x, like=leat, device=device)):
        softmax.explain(given, out=out, device=device)
        softmax.show("plan", given, out=out, device=device, arch=None)
        with pytest.raises(ValueError):
            softmax.show("ir:wrong", given, device=device)


def test_copies_of_arguments_are_recorded(softmax, x):
    copies = records(softmax.explain(x.astype(">f4")), kind="copy")
    assert [(copy["what"], copy["bytes"]) for copy in copies] == [("x", x.nbytes)]
    assert not records(softmax.explain(x), kind="copy")


def test_numbers_and_optional_inputs():
    assert records(leat.program("y = a * b + 1").explain(2, b=3.5), kind="kernel") is not None


def test_errors(softmax, x):
    with pytest.raises(TypeError, match="softmax is missing the argument 'x'"):
        softmax.explain()
    with pytest.raises(leat.DataError):
        leat.program("y[i] = a[n[i]]").explain(x[0], np.array([99]))
    with pytest.raises(leat.ShapeError):
        softmax.explain(x[0])
    assert softmax.explain(x).text


def run(code):
    return subprocess.run([sys.executable, *code], capture_output=True, text=True, check=True).stdout


def test_a_script_prints_it_and_a_prompt_shows_it_once():
    code = "import leat; leat.program('y = a + 1').explain(1)"
    assert run(["-c", code]).count("Would help: ") == 1
    prompt = subprocess.run([sys.executable, "-i", "-q"], input=code, capture_output=True, text=True, check=True)
    assert prompt.stdout.count("Would help: ") == 1


def cost(kind, what, time_ns=2_000_000, **more):
    return {"kind": kind, "what": what, "cause": "", "count": 1, "time_ns": time_ns, "bytes": 0, "operations": 0, "on_device": False,
            "in_background": False, **more}


def test_costs_of_the_first_run_are_apart(capsys, monkeypatch):
    monkeypatch.setattr(_account, "is_interactive", lambda: False)
    ledger = [cost("kernel", "y"), cost("plan", "keep")]
    first = [cost("check", "p"), cost("compile", "y", cause="f32"), *ledger, {"kind": "unaccounted", "time_ns": 5}]
    account = _account.explained("table\nbound: why\nWould help: x.\n", json.dumps({"ledger": ledger}), json.dumps({"ledger": first}))
    assert account.json["first_run"] == first[:2] and account.json["verdict"] == "bound: why\nWould help: x."
    assert str(account).splitlines() == [
        "table",
        "in the first run only, before this one",
        "check              1       2.000  p",
        "compile            1       2.000  y (f32)",
        "sum                        4.000",
        "bound: why",
        "Would help: x.",
    ]
    assert capsys.readouterr().out == f"{account}\n"
    picture = Picture(account._repr_html_())
    assert picture.rows == 4 and "First run only" in "".join(picture.words)


# ---- the picture


def test_picture(softmax, x, device):
    account = softmax.explain(x, device=device)
    drawn = account._repr_html_()
    picture = Picture(drawn)
    words = " ".join("".join(picture.words).split())
    assert account.json["verdict"].splitlines()[1] in words
    assert not picture.tags & {"script", "img", "link", "iframe"} and not re.search(r"https?:|url\(|@import", drawn)
    assert picture.rows == len(account.json["ledger"]) + len(account.json["first_run"])
    assert ("Device" in words) == (device == "sim")


def account_of(costs, **more):
    made = [{"kind": "kernel", "what": "y", "cause": "", "count": 1, "bytes": 0, "operations": 0, "on_device": False, **cost}
            for cost in costs]
    return {"ledger": made + [{"kind": "unaccounted", "time_ns": 1000}], "verdict": "bound: why\nWould help: x.", **more}


def test_picture_escapes_all_texts():
    evil = "<script>alert('x')</script>&\"'"
    drawn = _picture.draw(account_of([{"kind": evil, "what": evil, "cause": evil, "time_ns": 5}]) | {"verdict": evil + ": " + evil})
    picture = Picture(drawn)
    assert "script" not in picture.tags and "".join(picture.words).count(evil) == 5


def test_picture_of_a_long_account_folds_small_costs():
    drawn = _picture.draw(account_of([{"what": f"v{k}", "time_ns": 10**6 if k < 5 else 10} for k in range(40)]))
    picture = Picture(drawn)
    assert picture.rows == 41 and "36 smaller costs, together" in "".join(picture.words)


def test_picture_sums_close():
    sums = {"span_ns": 900, "busy_ns": 700, "idle_ns": 200, "overlap_ns": 50, "dropped": 0}
    costs = [{"time_ns": 2_000, "bytes": 8_000}, {"time_ns": 750, "on_device": True}, {"kind": "idle", "time_ns": 200, "on_device": True}]
    words = "".join(Picture(_picture.draw(account_of(costs, device_time=sums))).words).replace("\N{NO-BREAK SPACE}", " ")
    us = "\N{MICRO SIGN}s"
    assert f"operations 0.750 {us} \N{MINUS SIGN} overlap 0.050 {us} = busy 0.700 {us} + idle 0.200 {us} = span 0.900 {us}" in words
    assert f"costs 2.000 {us} + unaccounted 1.000 {us} = wall time 3.000 {us}" in words
    assert "4.00 GB/s" in words and "10.7 GB/s" in words  # the device's kernel has the bytes of the host's record


# ---- show


def test_forms(softmax, x):
    assert "make y[i, j]" in softmax.show("tree") and softmax.show("tree") == softmax.show()
    assert "f32" in softmax.show("tree", x) and "f32" not in softmax.show("tree")
    assert "wanted" in softmax.show("ir", x) and "value e.1" in softmax.show("ir:lower", x)
    assert "launch 0" in softmax.show("plan", x=x)
    assert "LOOP" in softmax.show("bytecode", x, device="cpu")
    assert "__global__" in softmax.show("cuda", x) and "__global__" in softmax.show("cuda", x, device="sim")


def test_a_text_shows_its_lines(softmax):
    text = softmax.show("tree")
    assert type(text) is leat.Text and isinstance(text, str) and repr(text) == text.rstrip("\n")


def test_forms_of_arrays_of_leat(softmax, x, device):
    assert "launch 0" in softmax.show("plan", softmax(x, like=leat, device=device))


def test_an_input_named_arch():
    assert "arch" in leat.program("y = arch + form").show("plan", form=2, arch=3)


def test_form_errors(softmax, x):
    with pytest.raises(ValueError, match="no form 'foo'; the forms are 'tree', 'ir', 'plan'.* and 'ir:PASS'"):
        softmax.show("foo", x)
    with pytest.raises(ValueError, match="no pass 'foo'"):
        softmax.show("ir:foo", x)
    with pytest.raises(TypeError, match="form must be a string"):
        softmax.show(x)
    with pytest.raises(TypeError, match="arch must be a string"):
        softmax.show("ptx", x, arch=90)
    with pytest.raises(TypeError, match="missing the argument 'x'"):
        softmax.show("ir")
    with pytest.raises(ValueError, match="bytecode exists on the CPU only"):
        softmax.show("bytecode", x, device="sim")
    with pytest.raises(leat.DeviceError, match="CUDA C"):
        softmax.show("cuda", x, device="cpu")


def test_show_takes_buffers_without_numpy():
    assert "launch 0" in leat.program("y[i] = a[i] + 1").show("plan", array.array("d", [1, 2]))
