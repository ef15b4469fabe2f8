"""Programs that are nested deeply or are very long: compiled, or refused with an error that says so.

Python's own limit of recursion is the user's process's, and is not changed; the compiler's process has room.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import pykern as pk
from tests.cases.texts import load

HEAD = "import numpy as np\nimport pykern as pk\n\n\n"
KERNEL = "@pk.kernel\ndef k(z, x):\n    i = pk.index()\n"
X = np.array([0.0, 1.0, 2.0, 70.0, 199.0, 3.5])


def chain_of_elif(n: int) -> str:
    more = "".join(f"    elif x[i] == {j}:\n        r = {j}.5\n" for j in range(1, n))
    return KERNEL + f"    if x[i] == 0:\n        r = 0.5\n{more}    else:\n        r = -1.0\n    z[i] = r\n"


def chain_of_returns(n: int) -> str:
    tests = "".join(f"    if a == {j}:\n        return {j}.5\n" for j in range(n))
    return f"@pk.func\ndef g(a):\n{tests}    return -1.0\n\n\n{KERNEL}    z[i] = g(x[i])\n"


def conditional(n: int) -> str:
    return KERNEL + "    z[i] = " + "".join(f"{j}.5 if x[i] == {j} else " for j in range(n)) + "-1.0\n"


def functions(n: int) -> str:
    more = "".join(f"@pk.func\ndef g{j}(a):\n    return g{j - 1}(a) + 1\n\n\n" for j in range(1, n))
    return f"@pk.func\ndef g0(a):\n    return a + 1\n\n\n{more}{KERNEL}    z[i] = g{n - 1}(x[i])\n"


def nested_calls(n: int) -> str:
    return f"@pk.func\ndef g(a):\n    return a + 1\n\n\n{KERNEL}    z[i] = {'g(' * n}x[i]{')' * n}\n"


def statements(n: int) -> str:
    lines = "".join(f"    r = r * 0.5 + {j}.0\n" for j in range(n))
    return f"{KERNEL}    r = x[i]\n{lines}    z[i] = r\n"


def halved(x: np.ndarray, n: int) -> np.ndarray:
    for j in range(n):
        x = x * 0.5 + j
    return x


def found(n: int) -> np.ndarray:
    return np.where((np.floor(X) == X) & (n > X), X + 0.5, -1.0)


CASES = {
    "a sum": (KERNEL + f"    z[i] = {' + '.join(['x[i]'] * 400)}\n", X * 400),
    "a long sum": (KERNEL + f"    z[i] = {' + '.join(f'x[i] * {j}' for j in range(900))}\n", X * 404550),
    "a chain of elif": (chain_of_elif(200), found(200)),
    "a chain of returns": (chain_of_returns(150), found(150)),
    "conditional expressions": (conditional(200), found(200)),
    "minus": (KERNEL + f"    z[i] = {'-' * 501}x[i]\n", -X),
    "not": (KERNEL + f"    z[i] = 1.0 if {'not ' * 301}(x[i] > 1) else 0.0\n", np.where(X > 1, 0.0, 1.0)),
    "comparisons": (
        KERNEL + f"    z[i] = 1.0 if {' < '.join(f'x[i] + {j}' for j in range(300))} else 0.0\n", np.ones(6)
    ),
    "and": (KERNEL + f"    z[i] = 1.0 if {' and '.join(f'x[i] > -{j}' for j in range(500))} else 0.0\n", X > 0),
    "parentheses": (KERNEL + f"    z[i] = {'(1 + ' * 180}x[i]{')' * 180}\n", X + 180),
    "calls": (nested_calls(180), X + 180),
    "functions": (functions(100), X + 100),
    "branches": (
        KERNEL + "".join(f"    {' ' * j}if x[i] > -{j + 1}:\n" for j in range(90)) + f"    {' ' * 90}z[i] = 5.0\n",
        np.full(6, 5.0),
    ),
    "statements": (statements(1000), halved(X, 1000)),
    "a long tuple": (KERNEL + f"    t = ({', '.join(f'x[i] + {j}' for j in range(500))})\n    z[i] = t[-1]\n", X + 499),
}  # fmt: skip


def run(module: ModuleType, device: str = "cpu") -> np.ndarray:
    z = np.zeros(len(X))
    module.k(z, X.copy(), ndrange=len(X), device=device)
    return z


@pytest.mark.parametrize("what", CASES)
def test_on_the_cpu(what: str, tmp_path: Path) -> None:
    text, wanted = CASES[what]
    np.testing.assert_array_equal(run(load(HEAD + text, tmp_path)), wanted)


LONG = {
    "a sum of 2000 terms": (KERNEL + f"    z[i] = {' + '.join(f'x[i] * {j}' for j in range(2000))}\n", X * 1999000),
    "2000 signs": (KERNEL + f"    z[i] = {'-' * 2001}x[i]\n", -X),
    "a chain of 600 elif": (chain_of_elif(600), found(600)),
    "a chain of 600 returns": (chain_of_returns(600), found(600)),
    "1000 conditional expressions": (conditional(1000), found(1000)),
}  # fmt: skip
"""Longer than Python's limit of recursion, 1000 frames, lets a visitor of the syntax tree go: two frames a level. The
compiler's time is the square of the levels."""


@pytest.mark.parametrize("what", [*CASES, *LONG])
def test_on_the_reference_device(what: str, tmp_path: Path) -> None:
    """It runs in the user's process, whose limit of recursion stays: chains are cut in pieces."""
    text, wanted = {**CASES, **LONG}[what]
    limit = sys.getrecursionlimit()
    np.testing.assert_array_equal(run(load(HEAD + text, tmp_path), "python"), wanted)
    assert sys.getrecursionlimit() == limit


def test_on_the_reference_device_what_is_too_deep_is_refused(tmp_path: Path) -> None:
    """Powers are evaluated from their end, so that there is nothing to cut off in front."""
    with pytest.raises(pk.KernelSyntaxError, match="nested too deeply") as caught:
        run(load(f"{HEAD}{KERNEL}    z[i] = {' ** '.join(['x[i]'] * 600)}\n", tmp_path), "python")
    assert caught.value.span is not None and "def k(" in caught.value.span.source_line()


@pytest.mark.parametrize("what", ["a sum", "a chain of elif", "conditional expressions", "functions"])
@pytest.mark.parametrize("device", ["opencl:0", "vulkan:0", "webgpu:0", "metal:emulated:0"], indirect=True)
def test_on_devices(what: str, device: str, tmp_path: Path) -> None:
    text, wanted = CASES[what]
    if device != "opencl:0" and what in ("a chain of elif", "conditional expressions"):
        with pytest.raises(pk.TargetError, match="nested more than") as caught:
            run(load(HEAD + text, tmp_path), device)
        assert caught.value.span is not None
        text, wanted = {"a": chain_of_elif, "c": conditional}[what[0]](60), found(60)
    np.testing.assert_array_equal(run(load(HEAD + text, tmp_path), device), wanted)


def test_huge_kernels_say_that_few_optimisations_were_made(tmp_path: Path) -> None:
    """Their time is near linear: of all optimisations it would be the square."""
    module = load(HEAD + statements(2300), tmp_path)
    lowered = module.k.lower(X, X, ndrange=len(X))
    assert any("made with few optimisations" in remark.text for remark in lowered.remarks)
    assert not any(stage.name.startswith("kern-vectorize") for stage in lowered.stages)
    np.testing.assert_array_equal(run(module), halved(X, 2300))
    small = load(HEAD + statements(100), tmp_path).k.lower(X, X, ndrange=len(X))
    assert not any("few optimisations" in remark.text for remark in small.remarks)


def test_derivatives(tmp_path: Path) -> None:
    terms = " + ".join(f"x[i] * {j}" for j in range(600))
    kernel = load(f"{HEAD}{KERNEL}    z[i] = {terms}\n", tmp_path).k
    dx = np.zeros(len(X))
    pk.autodiff(kernel)(pk.Dup(X * 0, np.ones(len(X))), pk.Dup(X, dx), ndrange=len(X))
    np.testing.assert_array_equal(dx, np.full(len(X), 599 * 300.0))
    program = " + ".join(f"x * {j}.0" for j in range(600))
    sums = load(f"{HEAD}@pk.jit\ndef f(x):\n    return ({program}).sum()\n", tmp_path).f
    np.testing.assert_array_equal(pk.grad(sums)(X), np.full(len(X), 599 * 300.0))


PROGRAMS = {
    "a sum": (f"    return {' + '.join(['x'] * 900)}\n", X * 900),
    "calls": (f"    return {'abs(' * 180}x{')' * 180}\n", X),
    "methods": (f"    return x{'.reshape(-1)' * 900}\n", X),
    "a list": (
        f"    t = [{', '.join(f'x + {j}' for j in range(300))}]\n    return t[0] + t[-1]\n",
        2 * X + 299,
    ),
}


@pytest.mark.parametrize("what", PROGRAMS)
def test_array_programs(what: str, tmp_path: Path) -> None:
    text, wanted = PROGRAMS[what]
    np.testing.assert_array_equal(load(f"{HEAD}@pk.jit\ndef f(x):\n{text}", tmp_path).f(X), wanted)


def test_programs_that_call_each_other_deeply(tmp_path: Path) -> None:
    """They are no recursion, however many they are."""
    more = "".join(f"def g{j}(a):\n    return g{j - 1}(a) + 1\n\n\n" for j in range(1, 120))
    text = f"{HEAD}def g0(a):\n    return a + 1\n\n\n{more}@pk.jit\ndef f(x):\n    return g119(x)\n"
    np.testing.assert_array_equal(load(text, tmp_path).f(X), X + 120)


@pytest.mark.parametrize("decorator", ["kernel", "jit"])
def test_what_is_too_deep_for_the_users_process_is_refused(decorator: str, tmp_path: Path) -> None:
    text = HEAD + functions(400).replace("@pk.kernel", f"@pk.{decorator}")
    if decorator == "jit":
        text = text.replace(
            "def k(z, x):\n    i = pk.index()\n    z[i] = g399(x[i])", "def k(x):\n    return g399(x)"
        )
    module, limit = load(text, tmp_path), sys.getrecursionlimit()
    with pytest.raises(pk.KernelSyntaxError, match="nested too deeply") as caught:
        module.k(X) if decorator == "jit" else run(module)
    assert caught.value.span is not None and "def k(" in caught.value.span.source_line()
    assert sys.getrecursionlimit() == limit


def test_in_the_users_process_what_is_too_deep_is_refused(tmp_path: Path) -> None:
    """There the limit of recursion is the user's, and stays."""
    (tmp_path / "deep.py").write_text(
        f"{HEAD}{KERNEL}    z[i] = {' + '.join(['x[i]'] * 800)}\n\n\n"
        "x, z = np.arange(3.0), np.zeros(3)\n"
        "try:\n    k(z, x, ndrange=3)\nexcept pk.KernelSyntaxError as error:\n    print(error)\n"
    )
    said = subprocess.run(
        [sys.executable, "deep.py"], cwd=tmp_path, env={"PYKERN_COMPILER": "inprocess", "PYKERN_CACHE": "0"},
        capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    assert "`k` is nested too deeply" in said.stdout and 'deep.py", line 6 in k' in said.stdout
