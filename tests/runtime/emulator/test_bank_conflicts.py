"""Kernels that the compiler makes for products, whole: no two lanes of an access to shared memory meet in a bank."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk


@pk.jit
def product(a, b):
    return a @ b


@pk.jit
def turned(a, b):
    return a @ b.T


def shared_accesses(program, *arrays, device):
    there = [pk.asarray(array, device=device) for array in arrays]
    with pk.memory_accesses() as found:
        program(*there)
    return [row for row in found.lines if row.space == "shared"]


@pytest.mark.parametrize("dtype", [np.float16, np.float64], ids=["f16", "f64"])
@pytest.mark.parametrize("program", [product, turned], ids=lambda f: f.__name__)
def test_tensor_cores(rng, program, dtype):
    """Both factors copied 16 bytes at a time, as rows or as columns; the last tiles are parts of tiles."""
    a, b = rng.standard_normal((72, 40)).astype(dtype), rng.standard_normal((40, 72)).astype(dtype)
    given = a, np.ascontiguousarray(b.T) if program is turned else b
    rows = shared_accesses(program, *given, device="cuda:emulated")
    kinds = {row.kind for row in rows}
    assert kinds == {"read", "write"}
    assert [row.transactions for row in rows] == [row.least for row in rows]


@pytest.mark.parametrize("program", [product, turned], ids=lambda f: f.__name__)
def test_multiply_adds(rng, program):
    """A factor whose terms lie side by side is stored column by column."""
    a, b = (rng.standard_normal((40, 40)).astype(np.float32) for _ in range(2))
    rows = shared_accesses(program, a, b, device="cuda:emulated")
    assert {row.kind for row in rows} == {"read", "write"}
    assert [row.transactions for row in rows] == [row.least for row in rows]
