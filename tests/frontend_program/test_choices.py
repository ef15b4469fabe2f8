"""Expressions that choose, one inside of the other, in programs and kernels: random ones, against Python."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from tests.cases.texts import imported

TEXTS = [
    "x[0] if x[0] > 0 else (x[1] if x[1] > 0 else x[2])",
    "(x[1] if x[1] > 0 else x[2]) if x[0] > 0 else x[0]",
    "1.0 if x[0] > 0 or (x[1] > 0 and x[2] > 0) else 0.0",
    "1.0 if (x[0] > 0 or x[1] > 0) and (x[2] > 0 or x[0] < -1) else 0.0",
    "float(not (x[0] > 0 and (x[1] > 0 or (x[2] > 0 and x[0] < 1))))",
]


def _expression(rng, depth):
    """A number or a truth of three numbers, by random choices."""
    if depth == 0:
        return f"x[{rng.integers(3)}]"
    a, b = (_expression(rng, depth - 1) for _ in range(2))
    return f"({a} if {_truth(rng, depth)} else {b})"


def _truth(rng, depth):
    test = f"(x[{rng.integers(3)}] {rng.choice(['<', '>'])} {rng.integers(-1, 2)})"
    if depth == 0:
        return test
    return f"({test} {rng.choice(['and', 'or'])} {_truth(rng, depth - 1)})"


def _texts():
    rng = np.random.default_rng(5)
    return [*TEXTS, *(_expression(rng, depth) for depth in (1, 2, 2, 3))]


@pytest.mark.parametrize("text", _texts(), ids=lambda text: text[:40])
def test_as_python_chooses(rng, text, tmp_path):
    module = imported(
        tmp_path / "choices.py",
        "import numpy as np\nimport pykern as pk\n\n\n"
        f"@pk.jit\ndef program(x):\n    return {text}\n\n\n"
        f"@pk.jit\ndef looped(x):\n    o = np.zeros(x.shape[0])\n    for i in pk.range(x.shape[0]):\n"
        f"        o[i] = {text.replace('x[', 'x[i, ')}\n    return o\n\n\n"
        f"@pk.kernel\ndef kernel(o, x):\n    i = pk.index()\n    o[i] = {text.replace('x[', 'x[i, ')}\n",
    )
    rows = rng.standard_normal((24, 3))
    expected = [eval(text, {"x": x, "float": float}) for x in rows]
    np.testing.assert_array_equal([float(module.program(x)) for x in rows], expected)
    np.testing.assert_array_equal(module.looped(rows), expected)
    o = np.zeros(len(rows))
    module.kernel(o, rows, ndrange=len(rows))
    np.testing.assert_array_equal(o, expected)


def test_a_choice_whose_side_is_a_call_that_chooses(rng):
    @pk.func
    def middle(a, b, c):
        return (b if a < b else a) if b < c else (c if a < c else a)

    @pk.jit
    def chosen(x):
        return middle(x[0], x[1], x[2]) if x[0] > 0 else (x[1] if x[2] > 0 else -x[1])

    for x in rng.standard_normal((20, 3)):
        a, b, c = x
        inner = (b if a < b else a) if b < c else (c if a < c else a)
        assert float(chosen(x)) == (inner if a > 0 else (b if c > 0 else -b))
