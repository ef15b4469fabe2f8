"""Programs whose ops go row by row run as one loop over rows: against NumPy in double precision."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from pykern.runtime.cpu_table import get_num_threads, set_num_threads

SHAPES = [(8, 64), (37, 129), (100, 1000), (64, 64), (9, 5000), (3, 5, 77), (33, 16385), (4, 8, 40001)]
TOLERANCE = {"float32": 2e-6, "float64": 2e-14}


@pk.jit
def softmax(x):
    e = pk.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@pk.jit
def layernorm(x, gain, bias):
    mean = x.mean(axis=-1, keepdims=True)
    centred = x - mean
    variance = (centred * centred).mean(axis=-1, keepdims=True)
    return centred / pk.sqrt(variance + 1e-5) * gain + bias


@pk.jit
def several(x, y):
    """Results of every kind: cells, a value per row, and what is read after it was overwritten."""
    top = x.max(axis=1)
    low = x.min(axis=1)
    scaled = (x - low[:, None]) / (top - low)[:, None]
    y = y * scaled
    total = y.sum(axis=1)
    y = y - total[:, None] * x
    return y, total, scaled, (y * y).sum(axis=1)


@pk.jit
def in_place(x, y):
    y[:, :] = y - y.max(axis=1, keepdims=True)
    y[:, :] = y / pk.abs(y * x).sum(axis=1, keepdims=True)


def softmax_of(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def layernorm_of(x, gain, bias):
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-5) * gain + bias


def rows_in(program, *arguments) -> int:
    """How many loops over rows the program became."""
    text = next(s.text for s in program.lower(*arguments).stages if s.name == "kern-make-nests")
    return text.count("kern.rows")


def close(found, expected, dtype, scale=1.0):
    assert found.dtype == dtype
    assert found.shape == expected.shape
    limit = TOLERANCE[dtype] * scale * float(np.max(np.abs(expected), initial=1.0))
    np.testing.assert_allclose(found, expected, rtol=TOLERANCE[dtype] * scale, atol=limit)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", SHAPES)
def test_softmax(rng, shape, dtype):
    x = (8 * rng.standard_normal(shape)).astype(dtype)
    close(softmax(x), softmax_of(x.astype(np.float64)), dtype, 4)
    assert rows_in(softmax, x) == 1


@pytest.mark.parametrize("shape", [(0, 100), (7, 64), (100, 63), (1, 1), (100, 1), (8, 20000), (31, 16385)])
def test_shapes_that_are_not_taken_together(rng, shape):
    """Too few rows, too short or too long ones: as right, one op after the other."""
    x = rng.standard_normal(shape).astype(np.float32)
    expected = softmax_of(x.astype(np.float64)) if x.size else x
    close(softmax(x), expected, "float32", 4)
    assert rows_in(softmax, x) == 0


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", SHAPES)
def test_layernorm(rng, shape, dtype):
    x, gain, bias = (rng.standard_normal(s).astype(dtype) for s in (shape, shape[-1:], shape[-1:]))
    expected = layernorm_of(*(a.astype(np.float64) for a in (x, gain, bias)))
    close(layernorm(x, gain, bias), expected, dtype, 8)
    assert rows_in(layernorm, x, gain, bias) == 1


@pytest.mark.parametrize("shape", [(37, 129), (128, 128)])
def test_results_of_every_kind(rng, shape):
    x, y = rng.random(shape), rng.random(shape)
    before = x.copy(), y.copy()
    top, low = x.max(axis=1), x.min(axis=1)
    scaled = (x - low[:, None]) / (top - low)[:, None]
    z = y * scaled
    total = z.sum(axis=1)
    z = z - total[:, None] * x
    for found, expected in zip(several(x, y), (z, total, scaled, (z * z).sum(axis=1)), strict=True):
        close(found, expected, "float64", 8)
    np.testing.assert_array_equal(x, before[0])
    np.testing.assert_array_equal(y, before[1])


def test_an_array_is_written_after_everybody_has_read_it(rng):
    x, y = rng.random((50, 200)), rng.random((50, 200))
    expected = y - y.max(axis=1, keepdims=True)
    expected = expected / np.abs(expected * x).sum(axis=1, keepdims=True)
    in_place(x, y)
    close(y, expected, "float64", 8)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_special_values(rng, dtype):
    x = rng.standard_normal((12, 100)).astype(dtype)
    x[0, 3], x[1, 5], x[2, 7], x[4] = np.nan, np.inf, -np.inf, -np.inf
    x[5], x[6] = -0.0, 1e30
    x[7, :50] = -1e30
    with np.errstate(all="ignore"):
        expected = softmax_of(x.astype(np.float64))
    found = softmax(x)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-30)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    plain = [3, 5, 6, 7, 8, 9, 10, 11]
    assert np.isfinite(found[plain]).all()


def test_zeros_keep_their_sign():
    @pk.jit
    def signed(x):
        return x * (x + 1.0).sum(axis=1, keepdims=True), -x / (x + 1.0).max(axis=1, keepdims=True)

    x = np.where(np.arange(20 * 100).reshape(20, 100) % 3 == 0, -0.0, 0.0)
    assert rows_in(signed, x) == 1
    for found, expected in zip(signed(x), (x * 100.0, -x), strict=True):
        np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))


def test_the_number_of_threads_changes_no_bit(rng):
    x, gain, ct = (rng.standard_normal(s).astype(np.float32) for s in ((613, 900), 900, (613, 900)))

    def pulled():
        _, pull = pk.vjp(layernorm, x, gain, gain)
        return [np.asarray(a).tobytes() for a in pull(ct)]

    before = get_num_threads()
    try:
        results = []
        for threads in (1, 2, 3, 5):
            set_num_threads(threads)
            results.append((softmax(x).tobytes(), *pulled()))
    finally:
        set_num_threads(before)
    assert len(set(results)) == 1


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(37, 129), (100, 1000), (128, 128), (9, 2500)])
def test_gradient_of_softmax(rng, shape, dtype):
    x, ct = (rng.standard_normal(shape).astype(dtype) for _ in range(2))
    s, c = softmax_of(x.astype(np.float64)), ct.astype(np.float64)
    _, pull = pk.vjp(softmax, x)
    found = pull(ct)
    found = found[0] if isinstance(found, tuple) else found
    close(found, s * (c - (c * s).sum(axis=1, keepdims=True)), dtype, 8)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(37, 129), (1000, 100), (128, 128), (9, 2500)])
def test_gradient_of_layernorm(rng, shape, dtype):
    """Columns are summed as well: each part of the rows has sums of its own."""
    x, gain, bias, ct = (rng.standard_normal(s).astype(dtype) for s in (shape, shape[-1:], shape[-1:], shape))
    x64, g, c = (a.astype(np.float64) for a in (x, gain, ct))
    centred = x64 - x64.mean(axis=1, keepdims=True)
    deviation = np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5)
    normal = centred / deviation
    flowing = c * g
    expected = flowing - flowing.mean(1, keepdims=True) - normal * (flowing * normal).mean(1, keepdims=True)
    _, pull = pk.vjp(layernorm, x, gain, bias)
    for a, b in zip(pull(ct), (expected / deviation, (c * normal).sum(0), c.sum(0)), strict=True):
        close(a, b, dtype, 32)


def test_a_comparison_needed_in_two_passes(rng):
    """The gradient of a maximum of what took work to compute: which element it was is asked twice."""

    @pk.jit
    def steep(x, y):
        z = pk.tanh(x) * y + x
        return z - z.max(axis=1)[:, None] * x

    x, y, ct = (rng.standard_normal((20, 100)) for _ in range(3))
    t = np.tanh(x)
    z = t * y + x
    flowing = ct.copy()
    flowing[np.arange(20), z.argmax(axis=1)] -= (ct * x).sum(axis=1)
    expected = flowing * ((1 - t * t) * y + 1) - ct * z.max(axis=1, keepdims=True), flowing * t
    _, pull = pk.vjp(steep, x, y)
    for found, wanted in zip(pull(ct), expected, strict=True):
        close(found, wanted, "float64", 32)


def test_sums_of_columns_add_to_what_is_there(rng):
    @pk.jit
    def counted(x):
        top = x.max(axis=1, keepdims=True)
        scaled = x / top
        return scaled, scaled.sum(axis=0), (x - top).max(axis=0), (scaled * x).sum(axis=1)

    x = 1 + rng.random((333, 80))
    top = x.max(axis=1, keepdims=True)
    expected = x / top, (x / top).sum(0), (x - top).max(0), (x / top * x).sum(1)
    for found, wanted in zip(counted(x), expected, strict=True):
        close(found, wanted, "float64", 16)


def test_in_a_loop_over_time(rng):
    @pk.jit
    def repeated(x, steps: pk.static):
        y = pk.copy(x)
        for _ in pk.range(steps):
            y = y / y.sum(axis=1, keepdims=True) + x * y.max(axis=1, keepdims=True)
        return y

    x = rng.random((40, 150))
    expected = x.copy()
    for _ in range(5):
        expected = expected / expected.sum(1, keepdims=True) + x * expected.max(1, keepdims=True)
    close(repeated(x, 5), expected, "float64", 64)


def test_half_precision(rng):
    x = rng.standard_normal((20, 100)).astype(np.float16)
    found = softmax(x)
    assert found.dtype == np.float16
    np.testing.assert_allclose(found, softmax_of(x.astype(np.float64)), rtol=2e-2, atol=1e-3)


@pk.jit
def over_two_axes(x):
    e = pk.exp(x - x.max(axis=(1, 2), keepdims=True))
    p = e / e.sum(axis=(1, 2), keepdims=True)
    return p, p.sum(axis=0), p.max(axis=0, keepdims=True)


@pytest.mark.parametrize("shape", [(200, 3, 64), (70, 5, 1), (65, 1, 9)])
def test_sums_of_rows_keep_the_dimensions_of_columns(rng, shape):
    x = rng.standard_normal(shape)
    e = np.exp(x - x.max(axis=(1, 2), keepdims=True))
    p = e / e.sum(axis=(1, 2), keepdims=True)
    for found, exact in zip(over_two_axes(x), (p, p.sum(axis=0), p.max(axis=0, keepdims=True)), strict=True):
        np.testing.assert_allclose(found, exact, rtol=1e-13)


@pk.jit
def looked_up_in_between(x, index):
    t = pk.exp(x / x.sum(axis=1, keepdims=True))
    found = t[index]
    return t, found, t / t.sum(axis=1, keepdims=True)


def test_rows_are_there_before_they_are_looked_up(rng):
    """Between two operations that stay within rows stands one that reads other rows of what the first one makes."""
    x, index = rng.random((64, 256)), np.arange(64)[::-1] // 2
    t = np.exp(x / x.sum(1, keepdims=True))
    expected = t, t[index], t / t.sum(1, keepdims=True)
    for found, exact in zip(looked_up_in_between(x, index), expected, strict=True):
        np.testing.assert_allclose(found, exact, rtol=1e-13)
