"""`Kernel.raised`: whether a kernel is linalg on tensors, and why not."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk


@pk.kernel
def axpy(y, x, a):
    i = pk.index()
    y[i] = a * x[i] + y[i]


@pk.kernel
def product(c, a, b):
    i, j = pk.index()
    s = 0.0
    for k in range(a.shape[1]):
        s += a[i, k] * b[k, j]
    c[i, j] = s


@pk.kernel
def collatz(n, x):
    i = pk.index()
    v = x[i]
    while v > 1:  # here
        v = v // 2 if v % 2 == 0 else 3 * v + 1
        n[i] += 1


def test_yes():
    x = np.ones(5, np.float32)
    found = axpy.raised(x, x.copy(), 2.0, ndrange=5)
    assert found
    assert found.reason is None
    assert found.text.count("linalg.generic") == 1
    assert "scf" not in found.text


def test_a_triple_loop_is_a_matmul():
    spec = pk.spec(("n", "m"), pk.f64)
    found = product.raised(spec, spec, spec, ndrange=("n", "m"))
    assert "linalg.matmul" in found.text
    assert repr(found) == "<raised: `product` is linalg on tensors, see .text>"


def test_no_and_why():
    x = np.ones(5, np.int64)
    found = collatz.raised(x, x.copy(), ndrange=5)
    assert not found
    assert found.text == ""
    assert isinstance(found.reason, pk.NotRaisable)
    assert "while v > 1:  # here" in str(found.reason)


def test_the_raised_form_is_a_target_to_look_at():
    x = np.ones(5)
    lowered = axpy.lower(x, x.copy(), 2.0, ndrange=5, target="linalg")
    assert lowered.stages[0].name == "kern"
    assert "kern-raise-to-linalg" in [s.name for s in lowered.stages]
    with pytest.raises(pk.TargetError, match="no machine code"):
        lowered.compile()
    with pytest.raises(pk.NotRaisable, match="while"):
        collatz.lower(np.ones(5, np.int64), np.ones(5, np.int64), ndrange=5, target="linalg")
