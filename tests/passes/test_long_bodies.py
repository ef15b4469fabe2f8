"""Kernels and programs of many statements: compilers that recurse give up on them, quadratic ones take minutes."""

from __future__ import annotations

import numpy as np

import pykern as pk
from tests.cases.texts import defined

STATEMENTS = 700


def made(name: str, head: str, statement: str, tail: str):
    """A function of `STATEMENTS` statements, each of which needs the one before."""
    text = f"def {name}{head}" + "".join(f"    {statement}\n" for _ in range(STATEMENTS)) + tail
    file = f"<{name} of {STATEMENTS} statements>"
    scope = defined(text, file, {"pk": pk})
    return scope[name]


def expected(x: np.ndarray) -> np.ndarray:
    a = x.copy()
    for _ in range(STATEMENTS):
        a = a * np.float32(0.5) + x
    return a


def test_a_chain_as_long_as_pythons_stack(rng):
    chain = pk.kernel(
        made("chain", "(y, x):\n    i = pk.index()\n    a = x[i]\n", "a = a * 0.5 + x[i]", "    y[i] = a\n")
    )
    x = rng.random(1000, np.float32)
    y = np.zeros_like(x)
    chain(y, x, ndrange=len(x))
    np.testing.assert_allclose(y, expected(x), rtol=1e-6)


def test_a_program_of_many_ops(rng):
    chain = pk.jit(made("chain", "(x):\n    a = x\n", "a = a * 0.5 + x", "    return a\n"))
    x = rng.random(1000, np.float32)
    np.testing.assert_allclose(chain(x), expected(x), rtol=1e-6)
