"""Comprehensions, spread dicts and updates inside of structures in array programs, against the function over NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from pykern.errors import KernelTypeError
from tests.cases.texts import written


@pk.jit
def everything(p, x):
    k = 5
    doubled = [v * 2 for v in p.values() if True]
    total = sum(v.sum() for k, v in p.items())
    more = {**p, "w": p["w"] + k, "n": 1.5}
    pairs = [10 * i + j for i in range(4) for j in pk.unroll(range(i)) if i != 2]
    rows = [row.sum() for row in x]
    return doubled[1], total, more, pairs, rows, max(row for row in rows)


@pk.jit
def in_turn(p, n):
    for _ in pk.range(n):
        p = {k: v * 2 for k, v in p.items()}
    return p


@pk.jit
def updated(p, x):
    p["w"] += 1
    p["b"][1:] *= x[0]
    return p["w"].sum()


def same(found, want):
    if isinstance(want, dict):
        assert list(found) == list(want)
        found, want = list(found.values()), list(want.values())
    if isinstance(want, list | tuple):
        assert len(found) == len(want)
        for a, b in zip(found, want, strict=True):
            same(a, b)
    else:
        np.testing.assert_allclose(found, want, rtol=1e-12)


def test_values(rng):
    p, x = {"w": rng.random(3), "b": rng.random(3)}, rng.random((3, 2))
    same(everything(p, x), everything(p, x, device="python"))
    assert everything(p, x)[3] == (10, 30, 31, 32)
    same(in_turn(p, 3), {k: 8 * v for k, v in p.items()})


def test_updates(rng):
    p, x = {"w": rng.random(3), "b": rng.random(3)}, rng.random(2)
    other = {k: v.copy() for k, v in p.items()}
    same(updated(p, x), updated(other, x, device="python"))
    same(p, other)


@pytest.mark.parametrize(
    ("statement", "match"),
    [
        ("[v for v in x if v > 0]", "must be known at compile time"),
        ("{1: x for k in range(2)}", "keys of a dict are strings"),
        ("p['w'] = x", "is the caller's dict"),
        ("p['n'] += 1", "is the caller's dict"),
        ("[k for k in range(70) for j in range(70)]", "more than 4096 copies"),
        ("[v for v in n]", "cannot be run through"),
    ],
)
def test_refusals(statement, match, tmp_path):
    file = tmp_path / "program.py"
    scope = written(file, f"def program(p, x, n):\n    y = x\n    {statement}\n    return y\n")
    with pytest.raises(
        KernelTypeError if "copies" not in match else pk.errors.KernelSyntaxError, match=match
    ) as caught:
        pk.jit(scope["program"])({"w": np.ones(3), "n": 1.0}, np.ones(3), 2.0)
    assert caught.value.span is not None and statement[:5] in caught.value.span.source_line()
