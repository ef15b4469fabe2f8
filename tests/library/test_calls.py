"""Calls of the library: repeated ones run no Python of programs, and arrays of several dtypes go together."""

from __future__ import annotations

import numpy as np

import pykern as pk
from pykern import library as pl
from pykern.api import jit


def test_repeated_calls_are_not_described_anew(monkeypatch, rng):
    """NumPy's arrays and `pk.Array`s reach the compiled entry, with `out=` too."""
    gate, up = (rng.standard_normal((3, 5)) for _ in range(2))
    expected, out = gate / (1 + np.exp(-gate)) * up, np.empty((3, 5))
    device = pk.array(gate), pk.array(up)
    for _ in range(2):
        pl.swiglu(gate, up)
        pl.swiglu(gate, up, out=out)
        pl.swiglu(*device)
    monkeypatch.setattr(jit, "describe", None)
    np.testing.assert_allclose(pl.swiglu(gate, up), expected)
    np.testing.assert_allclose(pl.swiglu(up, gate, out=out), up / (1 + np.exp(-up)) * gate)
    np.testing.assert_allclose(pl.swiglu(*device), expected)


def test_a_bias_of_another_dtype(rng):
    """Slopes times distances are f64 in NumPy, and queries f32."""
    q, k, v = (rng.standard_normal((1, 2, n, 4)).astype("f") for n in (5, 7, 7))
    bias = -0.5 * np.abs(np.arange(5)[:, None] - np.arange(7))
    scores = q.astype("d") @ k.swapaxes(2, 3) / 2 + bias
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    found = pl.flash_attention(q, k, v, bias=bias)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, weights / weights.sum(-1, keepdims=True) @ v, rtol=1e-4, atol=1e-5)
