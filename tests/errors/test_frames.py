"""Errors end at the user's own line, wherever the kernel was written and whoever shows the traceback."""

from __future__ import annotations

import io
import linecache
import pickle
import subprocess
import sys
import threading
import traceback
from pathlib import Path

import numpy as np
import pytest

import pykern as pk

SCRIPT = """\
import numpy as np
import pykern as pk


@pk.func
def inner(a):
    return a + None


@pk.func
def outer(a):
    return inner(a)


@pk.kernel
def wrong(y, x):
    i = pk.index()
    y[i] = outer(x) * 2


@pk.func
def positive(a):
    assert a > 0, "positive"
    return a


@pk.kernel
def asserts(y, x):
    i = pk.index()
    shift = 3
    y[i] = positive(x[i] - shift) ** 0.5


@pk.kernel(debug=True)
def outside(y, x):
    i = pk.index()
    y[i + 3] = x[i]


y, x = np.zeros(8), np.ones(8)
"""
LINES = {name: n for n, line in enumerate(SCRIPT.splitlines(), 1) for name in [line.strip()]}


def script(tmp_path: Path, last: str) -> Path:
    path = tmp_path / "heat.py"
    path.write_text(SCRIPT + last + "\n")
    return path


def run(*command: object, folder: Path, given: str = "") -> subprocess.CompletedProcess:
    words = [sys.executable, *map(str, command)]
    return subprocess.run(words, cwd=folder, input=given, capture_output=True, text=True)


def frames(text: str) -> list[tuple[int, str]]:
    """Line and function of the frames of heat.py in a traceback."""
    lines = [line for line in text.splitlines() if line.startswith('  File "') and "heat.py" in line]
    places = [line for line in lines if ", in " in line]
    return [(int(p.split("line ")[1].split(",")[0]), p.rpartition(" in ")[2]) for p in places]


def test_a_script(tmp_path):
    path = script(tmp_path, "wrong(y, x, ndrange=8)")
    said = run(path, folder=tmp_path).stderr
    trace, _, message = said.partition("pykern.errors.KernelTypeError: ")
    assert frames(trace)[1:] == [
        (LINES["y[i] = outer(x) * 2"], "wrong"),
        (LINES["return inner(a)"], "outer"),
        (LINES["return a + None"], "inner"),
    ]
    assert trace.splitlines()[-2:] == ["    return a + None", "           ~~^~~~~~"] or sys.version_info[
        :2
    ] == (
        3,
        10,
    )
    assert trace.count("pykern/") <= 1, "one frame of pykern at most"
    assert message.startswith("`+` takes scalars, not array `x`: f64[?] [PK002]\n")
    if sys.version_info >= (3, 11):
        assert message.splitlines()[1:] == ["  help: index it, as in x[i]", "  more: pykern explain PK002"]


ENDS = {
    "kernel": "wrong(y, x, ndrange=8)",
    "lower": "wrong.lower(y, x, ndrange=8)",
    "raised": "wrong.raised(y, x, ndrange=8)",
    "explore": "pk.explore(wrong, y, x, ndrange=8)",
    "derivative": "pk.autodiff(wrong)(pk.Dup(y, y.copy()), pk.Dup(x, x.copy()), ndrange=8)",
    "thread": "import threading; t = threading.Thread(target=lambda: wrong(y, x, ndrange=8)); t.start(); t.join()",
    "program": "launches(y, x)",
    "benchmark": "pk.benchmark(launches, (y, x))",
    "tune": "pk.tune(launches, y, x)",
    "check_grads": "pk.check_grads(launches, (y, x))",
    "gradient": "pk.grad(launches)(y, x)",
    "vjp": "pk.vjp(launches, y, x)",
    "traceback": "import traceback\ntry: wrong(y, x, ndrange=8)\nexcept pk.KernelError: traceback.print_exc()",
    "logging": "import logging\ntry: wrong(y, x, ndrange=8)\nexcept pk.KernelError: logging.exception('')",
}
LAUNCHES = "@pk.jit\ndef launches(y, x):\n    wrong(y, x, ndrange=8)\n    return y\n\n"


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 prints no carets: the message has them")
@pytest.mark.parametrize("name", ENDS)
def test_the_place_is_printed_once_and_no_frames_of_ours_between(name, tmp_path):
    path = script(tmp_path, LAUNCHES + ENDS[name])
    said = run(path, folder=tmp_path).stderr
    assert said.count("    return a + None\n") == 1, said
    assert said.count("    y[i] = outer(x) * 2\n") == 1, said
    assert said.count("/pykern/") <= 1, said
    inside = ["launches"] * (ENDS[name].find("launches") >= 0) + ["wrong", "outer", "inner"]
    assert [function for _, function in frames(said)][-len(inside) :] == inside
    assert "  help: index it, as in x[i]\n" in said


@pytest.mark.parametrize("call", ["pk.device('gpu')", "pk.array([1.0], device='gpu')", "pk.Stream('gpu')"])
def test_no_frames_of_ours_where_there_is_no_kernel(call, tmp_path):
    said = run(script(tmp_path, call), folder=tmp_path).stderr
    assert said.count("/pykern/") == 1 and "no device 'gpu'" in said


def test_who_asks_without_frames_gets_the_place(tmp_path):
    """Also where the error was caught below its frames, in another process, and by what prints the message alone."""
    path = script(tmp_path, "")
    names: dict = {}
    exec(compile(path.read_text(), str(path), "exec"), names)
    with pytest.raises(pk.KernelTypeError) as caught:
        names["wrong"](names["y"], names["x"], ndrange=8)
    place = f'  File "{path}", line {LINES["return a + None"]} in inner\n    return a + None\n           ^^^^^^^^\n'
    error = caught.value
    assert place in str(error) and place in f"{error}"
    assert place in "".join(traceback.format_exception_only(error))
    assert place not in "".join(traceback.format_exception(error)) or sys.version_info < (3, 11)
    assert place in str(pickle.loads(pickle.dumps(error)))
    path.write_text("# edited since\n" * 50)
    linecache.checkcache()
    assert place in "".join(traceback.format_exception(error)), "the frames no longer show it"


@pytest.mark.parametrize("device", ["cpu", "opencl:0", "vulkan:0"], indirect=True)
@pytest.mark.parametrize(
    ("call", "last"),
    [
        (
            "asserts",
            [("y[i] = positive(x[i] - shift) ** 0.5", "asserts"), ('assert a > 0, "positive"', "positive")],
        ),
        ("outside", [("y[i + 3] = x[i]", "outside")]),
    ],
)
def test_errors_of_a_run_have_the_calls_that_led_there(device, call, last, tmp_path):
    path = script(tmp_path, "")
    names: dict = {}
    exec(compile(path.read_text(), str(path), "exec"), names)
    with pytest.raises(pk.KernelError) as caught:
        names[call](names["y"], names["x"], ndrange=8, device=device)
    found = [
        (f.lineno, f.name)
        for f in traceback.extract_tb(caught.value.__traceback__)
        if f.filename == str(path)
    ]
    assert found == [(LINES[line], name) for line, name in last]


def test_exec(tmp_path):
    """Text that is in linecache has a source."""
    text = "import pykern as pk\n\n@pk.kernel\ndef k(y):\n    y[pk.index()] = nowhere\n"
    linecache.cache["<generated>"] = (len(text), None, text.splitlines(True), "<generated>")
    names: dict = {}
    exec(compile(text, "<generated>", "exec"), names)
    with pytest.raises(pk.KernelSyntaxError) as caught:
        names["k"](np.zeros(3), ndrange=3)
    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert (last.filename, last.lineno, last.name) == ("<generated>", 5, "k")
    assert last.line == "y[pk.index()] = nowhere"


def test_exec_without_a_source():
    names: dict = {}
    with pytest.raises(pk.KernelSyntaxError, match="source of `k` is not available") as caught:
        exec("import pykern as pk\n\n@pk.kernel\ndef k(y):\n    pass\n", names)
    assert "write the kernel into a file and import it" in str(caught.value)
    assert "linecache" in str(caught.value)
    shown = [f.filename for f in traceback.extract_tb(caught.value.__traceback__)]
    assert sum(Path(name).name == "decorator.py" for name in shown) == 1, "one frame of pykern"
    assert shown[-1] == "<string>"


@pytest.mark.parametrize(("how", "file"), [(("-c",), "<string>"), (("-",), "<stdin>")])
def test_standard_input_and_the_command_line_have_no_source(how, file, tmp_path):
    """What is advised runs: the same text in a file that is imported."""
    text = "import numpy as np\nimport pykern as pk\n\n@pk.kernel\ndef k(y):\n    y[pk.index()] = 1\n\n"
    given = (*how, text) if how == ("-c",) else how
    said = run(*given, folder=tmp_path, given=text).stderr
    assert f"the source of `k` is not available (file '{file}')" in said
    assert "write the kernel into a file and import it" in said
    (tmp_path / "mended.py").write_text(text)
    done = run(
        "-c", "from mended import *; y = np.zeros(3); k(y, ndrange=3); print(y.sum())", folder=tmp_path
    )
    assert done.stdout == "3.0\n", done.stderr


def test_notebook_cell():
    """A cell of IPython, in a shell of its own."""
    shell_of = pytest.importorskip("IPython.core.interactiveshell")
    shell = shell_of.InteractiveShell()
    kernel = "@pk.kernel\ndef k(y):\n    y[pk.index()] = nowhere\n"
    cell = f"import numpy as np\nimport pykern as pk\n\n{kernel}\nk(np.zeros(3), ndrange=3)"
    shell.showtraceback = lambda *a, **b: None
    result = shell.run_cell(cell)
    error = result.error_in_exec
    assert isinstance(error, pk.KernelSyntaxError)
    last = traceback.extract_tb(error.__traceback__)[-1]
    assert (last.lineno, last.name) == (6, "k")
    assert "y[pk.index()] = nowhere" in str(error)
    assert [f.name for f in traceback.extract_tb(error.__traceback__) if "/pykern/" in f.filename] == [
        "__call__"
    ]
    shown = "\n".join(shell.InteractiveTB.structured_traceback(type(error), error, error.__traceback__))
    assert "kernel.py" not in shown and "nowhere" in shown


def test_pytest_short(tmp_path):
    path = script(tmp_path, "")
    test = tmp_path / "test_it.py"
    test.write_text("from heat import asserts, x, y\n\ndef test_it():\n    asserts(y, x, ndrange=8)\n")
    said = run("-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider", test, folder=tmp_path).stdout
    places = [line for line in said.splitlines() if line.startswith("heat.py:")]
    assert places == [
        f"heat.py:{LINES['y[i] = positive(x[i] - shift) ** 0.5']}: in asserts",
        f"heat.py:{LINES[chr(97) + 'ssert a > 0, ' + chr(34) + 'positive' + chr(34)]}: in positive",
    ]
    assert "E   pykern.errors.AssertionFailed: assertion failed: positive [PK012]" in said
    assert path.exists()


def test_pdb_stops_in_the_kernel(tmp_path):
    path = script(tmp_path, "wrong(y, x, ndrange=8)")
    said = run("-m", "pdb", "-c", "continue", path, folder=tmp_path, given="q\n").stdout
    assert f"heat.py({LINES['return a + None']})inner()" in said


def test_pdb_on_the_reference_device_shows_the_kernels_variables(tmp_path):
    path = script(tmp_path, 'asserts(y, x, ndrange=8, device="python")')
    said = run("-m", "pdb", "-c", "continue", path, folder=tmp_path, given="p a\nup\np shift, i\nq\n").stdout
    assert f"heat.py({LINES[chr(97) + 'ssert a > 0, ' + chr(34) + 'positive' + chr(34)]})positive()" in said
    assert "-2.0" in said
    assert "(3, 0)" in said.replace("np.int64(0)", "0")


def test_rich_shows_the_kernels_line_last(tmp_path):
    rich = pytest.importorskip("rich.traceback")
    from rich.console import Console

    path = script(tmp_path, "")
    names: dict = {}
    exec(compile(path.read_text(), str(path), "exec"), names)
    with pytest.raises(pk.KernelTypeError) as caught:
        names["wrong"](names["y"], names["x"], ndrange=8)
    error = caught.value
    shown = rich.Traceback.from_exception(type(error), error, error.__traceback__)
    console = Console(width=120, record=True, file=io.StringIO())
    console.print(shown)
    text = console.export_text()
    outer, inner = LINES["return inner(a)"], LINES["return a + None"]
    assert text.rindex(f"heat.py:{inner} in inner") > text.rindex(f"heat.py:{outer} in outer")


# -- others ----------------------------------------------------------------------------------------


@pk.kernel
def right(y, x):
    i = pk.index()
    y[i] = x[i] * 2


@pk.kernel
def faulty(y, x):
    i = pk.index()
    y[i] = nowhere  # noqa: F821 - that is what is wrong


def test_an_error_of_one_kernel_touches_no_other(rng):
    x = rng.random(100)

    def fail() -> None:
        for _ in range(5):
            with pytest.raises(pk.KernelSyntaxError):
                faulty(np.zeros(100), x, ndrange=100)

    threads = [threading.Thread(target=fail) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(20):
        y = np.zeros(100)
        right(y, x, ndrange=100)
        assert np.array_equal(y, x * 2)
    for thread in threads:
        thread.join()
    messages = set()
    for _ in range(2):
        with pytest.raises(pk.KernelSyntaxError) as caught:
            faulty(np.zeros(100), x, ndrange=100)
        messages.add(str(caught.value))
    assert len(messages) == 1


def test_an_assert_that_failed_leaves_the_next_launch_alone():
    @pk.kernel
    def k(y, x):
        i = pk.index()
        assert x[i] > 0
        y[i] = x[i]

    y = np.zeros(4)
    with pytest.raises(pk.AssertionFailed):
        k(y, np.zeros(4), ndrange=4)
    k(y, np.ones(4), ndrange=4)
    assert np.array_equal(y, np.ones(4))


def test_errors_at_decoration_are_at_the_definition():
    with pytest.raises(pk.KernelTypeError, match=r"takes `\*arrays`") as caught:

        @pk.kernel
        def k(*arrays):
            pass

    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert last.name == "k"
    assert "def k(*arrays):" in str(caught.value)


def test_mlir_names_the_line_of_an_op_that_a_pass_broke():
    def breaks(module):
        """Gives a load the type of another memref."""
        from mlir import ir

        block = module.body.operations[0].operation.regions[0].blocks[0]
        load = next(op.operation for op in block.operations if op.operation.name == "memref.load")
        with ir.InsertionPoint(load), load.location:
            made = ir.Operation.create(
                "memref.load", results=[ir.F32Type.get()], operands=list(load.operands)
            )
        assert made

    with pytest.raises(pk.VerifyError) as caught:
        right.lower(np.zeros(4), np.ones(4), ndrange=4, passes=[breaks])
    error = caught.value
    assert error.reason.startswith("pass `breaks` left invalid IR")
    assert "y[i] = x[i] * 2" in str(error)
    assert "memref.load" in str(error)
    assert traceback.extract_tb(error.__traceback__)[-1].name == "right"
