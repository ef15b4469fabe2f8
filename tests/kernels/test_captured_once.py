"""Functions that call functions many times: captured once each, and put in place only where that is not too much."""

from __future__ import annotations

import itertools
import pickle
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import pykern as pk
from pykern.capture.functions import function_source
from pykern.compiler.reproducer import reproducer_text
from pykern.data.source import CapturedCustom, FunctionSource, KernelSource, LaunchSpec, reached
from tests.cases.texts import load

HEAD = "import numpy as np\nimport pykern as pk\n\n\n"
X = np.array([0.25, 1.5, 3.0])
LEVELS = 25


def diamond(levels: int) -> str:
    """Functions of which each calls the one before twice."""
    first = "@pk.func\ndef g0(a):\n    return a * 0.5 + 1\n\n\n"
    more = "".join(
        f"@pk.func\ndef g{j}(a):\n    return g{j - 1}(a) + g{j - 1}(a + 1)\n\n\n" for j in range(1, levels)
    )
    kernel = "@pk.kernel\ndef k(z, x):\n    i = pk.index()\n    z[i] = {0}(x[i])\n\n\n"
    ends = kernel + "@pk.jit\ndef p(x):\n    return {0}(x)\n"
    return HEAD + first + more + ends.format(f"g{levels - 1}")


def doubled(x: np.ndarray, levels: int) -> np.ndarray:
    """The same, each value computed once."""
    values = [(x + n) * 0.5 + 1 for n in range(levels)]
    for _ in range(levels - 1):
        values = [a + b for a, b in itertools.pairwise(values)]
    return values[0]


def captured(module: ModuleType, program: bool = False) -> FunctionSource:
    chosen: Any = module.p if program else module.k
    return function_source(chosen.__wrapped__, chosen.text, program)[0]


@pytest.mark.timeout(60)
@pytest.mark.parametrize("program", [False, True])
def test_a_function_is_captured_once(program: bool, tmp_path: Path) -> None:
    """As a tree these would be 33 million."""
    module = load(diamond(LEVELS), tmp_path)
    source = captured(module, program)
    assert len(reached(source)) == LEVELS + 1
    assert [f.name for f in reached(source)] == [*(f"g{j}" for j in range(LEVELS)), "p" if program else "k"]
    again = captured(module, program)
    assert again is not source
    assert again == source and hash(again) == hash(source)
    assert len(pickle.dumps(source)) < 1000 * LEVELS
    assert pickle.loads(pickle.dumps(source)) == source
    key = KernelSource(source, (), LaunchSpec(1)).key("")
    assert key == KernelSource(again, (), LaunchSpec(1)).key("")


@pytest.mark.timeout(60)
def test_what_a_function_far_down_captures_is_part_of_the_key(tmp_path: Path) -> None:
    text = diamond(LEVELS).replace("a * 0.5", "a * HALF").replace("@pk.func", "HALF = 0.5\n\n\n@pk.func", 1)
    module = load(text, tmp_path)
    before = captured(module)
    module.HALF = 0.25  # type: ignore[attr-defined]
    after = captured(module)
    assert before != after
    assert KernelSource(before, (), LaunchSpec(1)).key("") != KernelSource(after, (), LaunchSpec(1)).key("")
    module.HALF = 0.5  # type: ignore[attr-defined]
    assert captured(module) == before


@pytest.mark.timeout(60)
def test_the_reproducer_tells_each_function_once(tmp_path: Path) -> None:
    source = KernelSource(captured(load(diamond(LEVELS), tmp_path)), (), LaunchSpec(1))
    text = reproducer_text(source, "died")
    assert text.count("name='g7'") == 1 and "pickle" not in text
    scope: dict[str, Any] = {"__name__": "reproducer"}
    exec(text, scope)
    assert scope["SOURCE"] == source
    assert scope["SOURCE"].key("") == source.key("")


def test_values(tmp_path: Path) -> None:
    module, z = load(diamond(7), tmp_path), np.zeros(3)
    module.k(z, X, ndrange=3)
    np.testing.assert_allclose(z, doubled(X, 7), rtol=1e-14)
    np.testing.assert_allclose(module.p(X), doubled(X, 7), rtol=1e-14)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("program", [False, True])
def test_too_many_calls_are_refused_at_the_line(program: bool, tmp_path: Path) -> None:
    module = load(diamond(LEVELS), tmp_path)
    with pytest.raises(pk.KernelSyntaxError, match="33,554,431 calls") as caught:
        module.p(X) if program else module.k(np.zeros(3), X, ndrange=3)
    assert caught.value.span is not None
    assert caught.value.span.source_line().strip() == ("return g24(x)" if program else "z[i] = g24(x[i])")
    assert "keep its value in a name" in str(caught.value)


@pytest.mark.timeout(300)
def test_many_calls_at_one_place_are_no_mistake(tmp_path: Path) -> None:
    """A thousand calls of one function, and what is doubled a few times."""
    calls = "".join(f"    r = half(r) + {j}\n" for j in range(1100))
    text = f"{HEAD}@pk.func\ndef half(a):\n    return a * 0.5\n\n\n@pk.kernel\ndef k(z, x):\n    i = pk.index()\n"
    module = load(f"{text}    r = x[i]\n{calls}    z[i] = r\n", tmp_path)
    z, wanted = np.zeros(3), X.copy()
    module.k(z, X, ndrange=3)
    for j in range(1100):
        wanted = wanted * 0.5 + j
    np.testing.assert_array_equal(z, wanted)


CIRCLES = HEAD + "".join(
    f"@pk.func\ndef h{j}(a):\n    return {' + '.join(f'h{i}(a)' for i in range(14) if i != j)}\n\n\n" for j in range(14)
) + "@pk.kernel\ndef k(z, x):\n    i = pk.index()\n    z[i] = h0(x[i])\n"  # fmt: skip


@pytest.mark.timeout(60)
def test_functions_that_call_one_another_in_circles_are_refused(tmp_path: Path) -> None:
    """There are 14! ways through them."""
    with pytest.raises(pk.KernelSyntaxError, match="that is recursion") as caught:
        load(CIRCLES, tmp_path).k(np.zeros(3), X, ndrange=3)
    assert caught.value.span is not None and caught.value.span.source_line().startswith("def h")


def test_a_plain_recursion_is_told_at_the_call(tmp_path: Path) -> None:
    text = (
        f"{HEAD}@pk.func\ndef h(a):\n    return h(a - 1)\n\n\n@pk.kernel\ndef k(z, x):\n    z[0] = h(x[0])\n"
    )
    with pytest.raises(pk.KernelError, match="`h` calls itself") as caught:
        load(text, tmp_path).k(np.zeros(3), X, ndrange=1)
    assert caught.value.span is not None and "return h(a - 1)" in caught.value.span.source_line()


CUSTOM = (
    HEAD
    + """\
@pk.custom_vjp
def f(x):
    return x * x


def helper(x):
    return f(x) * 1.0


def forward(x):
    return helper(x), x


def backward(x, c):
    return (c * x * 10.0,)


f.defvjp(forward, backward)


@pk.jit
def first(x):
    return (helper(x) + f(x)).sum()


@pk.jit
def last(x):
    return (f(x) + helper(x)).sum()


@pk.jit
def alone(x):
    return f(x).sum()
"""
)


@pytest.mark.parametrize("name", ["first", "last"])
def test_what_a_function_means_depends_on_its_callers(name: str, tmp_path: Path) -> None:
    """Inside of its own forward function, however far, a function with a derivative is the plain one."""
    program = getattr(load(CUSTOM, tmp_path), name)
    source, _ = function_source(program.__wrapped__, program.text, True)
    captures = dict(source.captures)
    custom = captures["f"]
    assert isinstance(custom, CapturedCustom)
    outside, inside = captures["helper"], dict(custom.forward.captures)["helper"]
    assert isinstance(outside, FunctionSource) and isinstance(inside, FunctionSource)
    assert isinstance(dict(outside.captures)["f"], CapturedCustom)
    assert isinstance(dict(inside.captures)["f"], FunctionSource)


def test_a_derivative_whose_forward_function_calls_a_helper(tmp_path: Path) -> None:
    program = load(CUSTOM, tmp_path).alone
    np.testing.assert_allclose(program(X), (X * X).sum())
    np.testing.assert_allclose(pk.grad(program)(X), 10 * X)
