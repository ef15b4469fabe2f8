"""Programs of hundreds of statements: elementwise ops joined in long runs compute what NumPy computes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import pykern as pk
from tests.cases.texts import defined


def chain(count: int, between: dict[int, str]) -> Callable:
    """Two values, each with two readers, updated so many times in turn; `between` are other statements."""
    lines = ["def chain(x, y):", "    a = x", "    b = y", "    s = x * 0"]
    for k in range(count):
        lines += [f"    a = a * 0.5 + x * {k % 5}.0", "    b = b * 0.25 - a"]
        if k in between:
            lines.append("    " + between[k])
    text = "\n".join([*lines, "    return a, b, s", ""])
    name = f"<chain of {count}, {sorted(between)}>"
    made = defined(text, name)
    return made["chain"]


@pytest.mark.parametrize(
    "between",
    [{}, {40: "s = s + a[::-1]", 60: "s = s * b.sum()"}, {10: "s = s + b", 50: "a[1:] = a[1:] + b[:-1]"}],
    ids=["whole", "cut by other ops", "updated in the midst"],
)
@pytest.mark.parametrize("size", [1, 37])
def test_long_chains(between: dict[int, str], size: int, rng: np.random.Generator) -> None:
    function = chain(80, between)
    x, y = (rng.uniform(0.5, 1.5, size).astype(np.float32) for _ in range(2))
    exact = function(x.astype(np.float64), y.astype(np.float64))
    for found, expected in zip(pk.jit(function)(x, y), exact, strict=True):
        np.testing.assert_allclose(found, expected, rtol=2e-5, atol=1e-5)
