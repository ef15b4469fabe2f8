"""Kernels of many loads and stores to few places: what `kern-reuse-loads` leaves out nobody misses."""

from __future__ import annotations

import random

import numpy as np
import pytest

import pykern as pk
from tests.cases.texts import defined

STATEMENTS = 60
PLACES = ("y[i]", "x[i]", "y[j]", "x[j]", "p[0]", "p[1]", "p[k]", "y[i + 1 - 1]")


def _text(seed: int) -> str:
    """Sums of two places into a third, some of them under a condition or in a loop."""
    chosen = random.Random(seed)
    lines = ["def mixed(y, x, n: pk.i32):", "    i = pk.index()", "    j = n - 1 - i", "    k = i % 2"]
    lines += ["    p = pk.private(2, pk.f64)", "    p[0] = 1.0", "    p[1] = 2.0"]
    for _ in range(STATEMENTS):
        target, left, right = (chosen.choice(PLACES) for _ in range(3))
        statement = f"{target} = {left} * 0.5 + {right} * {chosen.randint(-2, 2)}.0"
        around = chosen.random()
        if around < 0.1:
            lines += [
                f"    if {left} > {right}:",
                f"        {statement}",
                f"        {target} = {target} + 1.0",
            ]
        elif around < 0.15:
            lines += ["    for _ in range(2):", f"        {statement}", f"        {target} = {target} - 1.0"]
        else:
            lines.append(f"    {statement}")
    return "\n".join([*lines, "    y[i] = y[i] + p[0] + p[1]\n"])


def _made(seed: int):
    text, file = _text(seed), f"<accesses of seed {seed}>"
    scope = defined(text, file, {"pk": pk})
    return pk.kernel(scope["mixed"])


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("one", [False, True], ids=["two arrays", "one array twice"])
def test_random_statements(seed, one, rng):
    """One work-item, whose `x[j]` is its `x[i]`: no other one comes between."""
    kernel, y = _made(seed), rng.standard_normal(1)
    x = y if one else rng.standard_normal(1)
    wanted_y = y.copy()
    wanted_x = wanted_y if one else x.copy()
    kernel(wanted_y, wanted_x, 1, ndrange=1, device="python")
    kernel(y, x, 1, ndrange=1)
    np.testing.assert_allclose(y, wanted_y, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(x, wanted_x, rtol=1e-9, atol=1e-9)


def test_the_pass_has_something_to_do():
    stages = _made(0).lower(np.zeros(1), np.zeros(1), 1, ndrange=1).stages
    before, after = (
        next(s.text for s in stages if s.name == name) for name in ("kern-simplify", "kern-reuse-loads")
    )
    assert after.count("memref.load") < before.count("memref.load") / 1.5
    assert after.count("memref.store") < before.count("memref.store")
