"""Layer norms and the like over few, long and very long rows: in pieces, row by row, with and without the cache."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from pykern.runtime.cpu_table import get_num_threads, set_num_threads

SHAPES = [(4099,), (2, 5001), (7, 20011), (9, 65537), (3, 70001), (40, 5001), (5, 300), (2, 1_100_003)]
TOLERANCE = {"float32": 1e-5, "float64": 1e-12}
EPS = 1e-5


@pk.jit
def layernorm(x, weight, bias):
    below = x - x.mean(axis=-1, keepdims=True)
    variance = (below * below).mean(axis=-1, keepdims=True)
    return below * (1 / pk.sqrt(variance + EPS)) * weight + bias


@pk.jit
def residual(x, y, weight, bias):
    """Two arrays make what all passes need, and it is a result, too."""
    x = x + y
    below = x - x.mean(axis=-1, keepdims=True)
    variance = (below * below).mean(axis=-1, keepdims=True)
    return below * (1 / pk.sqrt(variance + EPS)) * weight + bias, x


@pk.jit
def costly(x, y):
    """What the second pass keeps is read by two results; only one of them can be its place."""
    e = pk.exp(pk.tanh(x) * y)
    total = e.sum(axis=-1, keepdims=True)
    return e / total, e * e, (e - total).min(axis=-1)


@pk.jit
def normalise(x):
    """Over everything, then row by row."""
    x = x / x.sum()
    return x - x.mean(axis=-1, keepdims=True)


def norm(x, weight, bias):
    below = x - x.mean(-1, keepdims=True)
    return below / np.sqrt((below * below).mean(-1, keepdims=True) + EPS) * weight + bias


def arguments(rng, shape, dtype):
    x, y = rng.standard_normal((2, *shape)).astype(dtype)
    weight, bias = rng.standard_normal((2, shape[-1])).astype(dtype)
    return x + 3, y, weight, bias


def close(found, expected, dtype):
    assert found.dtype == dtype
    np.testing.assert_allclose(found, expected, rtol=10 * TOLERANCE[dtype], atol=TOLERANCE[dtype])


def nests(program, *arguments) -> str:
    return next(s.text for s in program.lower(*arguments).stages if s.name == "kern-make-nests")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", SHAPES)
def test_norms(rng, shape, dtype):
    x, y, weight, bias = arguments(rng, shape, dtype)
    wide = [v.astype(np.float64) for v in (x, y, weight, bias)]
    close(layernorm(x, weight, bias), norm(wide[0], wide[2], wide[3]), dtype)
    normed, total = residual(x, y, weight, bias)
    close(normed, norm(wide[0] + wide[1], wide[2], wide[3]), dtype)
    np.testing.assert_array_equal(total, x + y)


@pytest.mark.parametrize("shape", [(40, 700), (3, 9001), (2, 70001)])
def test_what_is_kept_is_kept_once(rng, shape):
    x, y, _, _ = arguments(rng, shape, "float64")
    e = np.exp(np.tanh(x) * y)
    total = e.sum(-1, keepdims=True)
    for found, expected in zip(costly(x, y), (e / total, e * e, (e - total).min(-1)), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-11)


def test_it_waits_in_the_result(rng):
    x, y, weight, bias = arguments(rng, (64, 1000), "float32")
    assert "memref.alloca" not in nests(residual, x, y, weight, bias)
    long = nests(residual, *arguments(rng, (9, 70001), "float32"))
    assert "scf.for" in long.split("func.func private")[0]  # row by row, in the program


def test_special_values(rng):
    x, y, weight, bias = arguments(rng, (11, 20011), "float32")
    x[0, 5], x[1, -1], x[2, 0], x[3, :] = np.nan, np.inf, -np.inf, 7.0
    y[3, :] = 0.0
    y[4, 9000], x[4, 9000] = np.inf, -np.inf
    with np.errstate(invalid="ignore"):
        expected = norm((x + y).astype(np.float64), weight.astype(np.float64), bias.astype(np.float64))
    for rows in (slice(0, 11), slice(0, 5), slice(3, 4)):
        found = residual(x[rows], y[rows], weight, bias)[0]
        np.testing.assert_allclose(found, expected[rows], rtol=1e-3, atol=2e-5)


def test_strided_and_given_results(rng):
    x, y, weight, bias = arguments(rng, (6, 20022), "float64")
    every = x[::2, ::2], y[::2, ::2], weight[::2], bias[::2]
    close(residual(*every)[0], norm(every[0] + every[1], every[2], every[3]), "float64")
    out = np.full_like(x, np.nan)
    layernorm(x, weight, bias, out=out)
    close(out, norm(x, weight, bias), "float64")
    expected = norm(x, weight, bias)
    layernorm(x, weight, bias, out=x)
    close(x, expected, "float64")


@pytest.mark.parametrize("shape", [(0, 5001), (0, 300)])
def test_no_rows(shape):
    x = np.empty(shape, np.float32)
    weight = np.ones(shape[1], np.float32)
    assert layernorm(x, weight, weight).shape == shape
    assert residual(x, x, weight, weight)[0].shape == shape


@pytest.mark.parametrize("shape", [(20, 1000), (3, 9001)])
def test_over_everything_first(rng, shape):
    x = rng.random(shape)
    right = x / x.sum()
    np.testing.assert_allclose(normalise(x), right - right.mean(-1, keepdims=True), rtol=1e-9, atol=1e-15)


def test_the_number_of_threads_changes_no_bit(rng):
    x, y, weight, bias = arguments(rng, (3, 300_001), "float32")
    before = get_num_threads()
    try:
        results = []
        for threads in (1, 2, 3, 5):
            set_num_threads(threads)
            results.append(b"".join(v.tobytes() for v in residual(x, y, weight, bias)))
    finally:
        set_num_threads(before)
    assert len(set(results)) == 1


def test_gradient_of_few_long_rows(rng):
    x, _, weight, bias = arguments(rng, (2, 9001), "float64")
    ct = rng.standard_normal(x.shape)
    _, pull = pk.vjp(layernorm, x, weight, bias)
    dx, dw, db = map(np.asarray, pull(ct))
    below = x - x.mean(1, keepdims=True)
    scale = 1 / np.sqrt((below * below).mean(1, keepdims=True) + EPS)
    hat = below * scale
    g = ct * weight
    right = scale * (g - g.mean(1, keepdims=True) - hat * (g * hat).mean(1, keepdims=True))
    np.testing.assert_allclose(dx, right, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(dw, (ct * hat).sum(0), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(db, ct.sum(0), rtol=1e-12)
