"""Few or very long rows: maxima with their sums of exponentials, in pieces. Against NumPy in double precision."""

from __future__ import annotations

import re

import numpy as np
import pytest

import pykern as pk
from pykern.runtime.cpu_table import get_num_threads, set_num_threads

SHAPES = [(4097,), (1, 20011), (3, 70001), (40, 5001)]
TOLERANCE = {"float32": 2e-6, "float64": 1e-14, "float16": 2e-3}


@pk.jit
def softmax(x):
    e = pk.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@pk.jit
def log_softmax(x):
    below = x - x.max(axis=-1, keepdims=True)
    return below - pk.log(pk.exp(below).sum(axis=-1, keepdims=True))


@pk.jit
def logsumexp(x):
    largest = x.max(axis=-1, keepdims=True)
    return pk.log(pk.exp(x - largest).sum(axis=-1, keepdims=True)) + largest


@pk.jit
def scaled_softmax(x, bias):
    """What is compared takes long to compute."""
    scores = pk.tanh(x) * 5.0 + bias
    e = pk.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@pk.jit
def several(x, y):
    """Other reductions in the same pass, and values of each row that are read and written."""
    largest = x.max(axis=-1)
    total = pk.exp(x - largest[:, None]).sum(axis=-1)
    low = x.min(axis=-1)
    y = y + low
    return (x - low[:, None]) * (y / total)[:, None], y, x.sum(axis=-1)


def three(x):
    """Softmax, its logarithm, and the logarithm of the sum, in double precision."""
    x = x.astype(np.float64)
    with np.errstate(all="ignore"):
        largest = x.max(-1, keepdims=True)
        e = np.exp(x - largest)
        total = e.sum(-1, keepdims=True)
        return e / total, x - largest - np.log(total), np.log(total) + largest


def close(found, expected, dtype, scale=1.0):
    assert found.dtype == dtype
    with np.errstate(all="ignore"):
        expected = expected.astype(dtype).astype(np.float64)
    limit = TOLERANCE[dtype] * scale
    finite = np.abs(expected[np.isfinite(expected)])
    np.testing.assert_allclose(
        found.astype(np.float64), expected, rtol=limit, atol=limit * np.max(finite, initial=1e-30)
    )


def nests(program, *arguments) -> str:
    return next(s.text for s in program.lower(*arguments).stages if s.name == "kern-make-nests")


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("shape", SHAPES)
def test_random(rng, shape, dtype):
    x = (3 * rng.standard_normal(shape)).astype(dtype)
    for program, expected in zip((softmax, log_softmax, logsumexp), three(x), strict=True):
        close(program(x), expected, dtype)


@pytest.mark.parametrize("shape", [(2, 20011), (1, (1 << 20) + 1029)])
def test_what_is_compared_is_computed(rng, shape):
    x, bias = rng.standard_normal(shape).astype(np.float32), rng.standard_normal(shape[-1]).astype(np.float32)
    close(scaled_softmax(x, bias), three(np.tanh(x.astype(np.float64)) * 5 + bias)[0], "float32", 2)


def test_a_row_that_no_cache_keeps(rng):
    x = (3 * rng.standard_normal((1, (1 << 20) + 1029))).astype(np.float32)
    text = nests(softmax, x)
    sizes = re.findall(r"memref\.alloc\(\).*memref<(\d+)x", text)
    assert sizes  # partial results
    assert all(int(size) <= 64 for size in sizes)  # and no exponentials
    close(softmax(x), three(x)[0], "float32")


def test_bf16(rng):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x = (3 * rng.standard_normal((2, 9001))).astype(ml_dtypes.bfloat16)
    for program, expected in zip((softmax, log_softmax, logsumexp), three(x), strict=True):
        found = program(x).astype(np.float64)
        np.testing.assert_allclose(found, expected, rtol=0.03, atol=0.03 * np.max(np.abs(expected)))


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_special_values(rng, dtype):
    n = 20011
    x = rng.standard_normal((13, n)).astype(dtype)
    x[0] = -np.inf
    x[1, :-1] = -np.inf  # the only finite one is the last
    x[2, : n // 2] = -np.inf
    x[3, n // 3] = np.inf
    x[4, n // 3] = np.nan
    x[5], x[5, 3] = -np.inf, np.nan
    x[6], x[6, n - 2] = -np.inf, np.inf
    x[7, 0] = np.inf
    x[8] = 3.0
    x[9] = np.linspace(-30, 30, n)  # every block has a larger maximum
    x[10] = np.linspace(30, -30, n)
    x[11] *= 1e3 if dtype == "float16" else 1e37
    x[12] = np.finfo(dtype).min
    expected = three(x)
    for row in range(len(x)):  # one by one: pieces of a row of its own
        for program, wanted in zip((softmax, log_softmax, logsumexp), expected, strict=True):
            close(program(x[row]), wanted[row], dtype, 2)
    for program, wanted in zip((softmax, log_softmax, logsumexp), expected, strict=True):
        close(program(np.concatenate([x, x, x])), np.concatenate([wanted] * 3), dtype, 2)  # row by row


def test_other_reductions_go_along(rng):
    x, y = rng.standard_normal((5, 30001)), rng.standard_normal(5)
    first, second, third = several(x, y)
    total = np.exp(x - x.max(1, keepdims=True)).sum(1)
    low = x.min(1)
    np.testing.assert_allclose(second, y + low, rtol=1e-15)
    np.testing.assert_allclose(third, x.sum(1), rtol=1e-12)
    np.testing.assert_allclose(first, (x - low[:, None]) * ((y + low) / total)[:, None], rtol=1e-12)


def test_into_the_array_itself(rng):
    x = rng.standard_normal((2, 30001))
    expected = three(x)[1]

    @pk.jit
    def in_place(x):
        below = x - x.max(axis=-1, keepdims=True)
        x[:, :] = below - pk.log(pk.exp(below).sum(axis=-1, keepdims=True))

    in_place(x)
    close(x, expected, "float64")


def test_the_number_of_threads_changes_no_bit(rng):
    x = rng.standard_normal((3, 300_001)).astype(np.float32)
    before = get_num_threads()
    try:
        results = []
        for threads in (1, 2, 3, 5):
            set_num_threads(threads)
            results.append((softmax(x).tobytes(), log_softmax(x).tobytes(), logsumexp(x).tobytes()))
    finally:
        set_num_threads(before)
    assert len(set(results)) == 1


def test_gradient_of_a_long_row(rng):
    x, ct = rng.standard_normal((2, 1, 20011))
    value, pull = pk.vjp(softmax, x)
    y = three(x)[0]
    np.testing.assert_allclose(value, y, rtol=1e-12)
    np.testing.assert_allclose(
        np.asarray(pull(ct)[0]), y * (ct - (ct * y).sum(1, keepdims=True)), rtol=1e-10, atol=1e-16
    )


def test_rows_stay_rows_where_nothing_is_gained(rng):
    """A maximum over everything, in front of a layer norm, takes nothing away from it."""

    @pk.jit
    def program(x):
        x = x / x.max()
        centred = x - x.mean(axis=-1, keepdims=True)
        return centred / (centred * centred).mean(axis=-1, keepdims=True)

    x = rng.standard_normal((64, 300))
    assert nests(program, x).count("kern.rows") == 1
    y = x / x.max()
    y = y - y.mean(1, keepdims=True)
    np.testing.assert_allclose(program(x), y / (y * y).mean(1, keepdims=True), rtol=1e-10, atol=1e-12)
