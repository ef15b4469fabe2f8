"""Work-items of array programs that have several neighbours, where all arrays begin at multiples of 16 bytes."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk

DEVICES = pytest.mark.parametrize("device", ["cuda:emulated", "rocm:emulated"], indirect=True)
SIZE = 260  # squared more than elements from which work-items have four


@pk.jit
def smoothed(x, y, bias):
    return np.maximum(x[:, 1:-3] * 0.5 + y[:, 1:-3] + bias[1:-3], 0)


@pk.jit
def scaled(x, y):
    return 2 * x + y.T


@pk.jit
def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


@pk.jit
def product(a, b, bias):
    return np.maximum(a @ b + bias, 0)


def on(device, *arrays):
    return [pk.array(a, device=device) for a in arrays]


@DEVICES
def test_elements_side_by_side(device, rng):
    """Rows that begin anywhere and an operand that is turned are computed as others are."""
    x, y = (rng.standard_normal((SIZE, SIZE), np.float32) for _ in "xy")
    bias = rng.standard_normal(SIZE, np.float32)
    expected = np.maximum(x[:, 1:-3] * np.float32(0.5) + y[:, 1:-3] + bias[1:-3], 0)
    np.testing.assert_allclose(smoothed(*on(device, x, y, bias)).numpy(), expected, 1e-6, 1e-6)
    np.testing.assert_allclose(scaled(*on(device, x, y)).numpy(), 2 * x + y.T, 1e-6, 1e-6)


@DEVICES
@pytest.mark.parametrize("columns", [1024, 1000, 2048, 1028])
def test_rows_side_by_side(device, columns, rng):
    x = rng.standard_normal((3, columns), np.float32)
    e = np.exp(x.astype(np.float64) - x.max(-1, keepdims=True))
    expected = e / e.sum(-1, keepdims=True)
    np.testing.assert_allclose(softmax(*on(device, x)).numpy(), expected, 2e-5)


@DEVICES
@pytest.mark.parametrize("shape", [(384, 48, 512), (387, 45, 509)])
def test_products_whose_cells_lie_side_by_side(device, shape, rng):
    """With whole tiles and without; beyond the edges of the result nothing is written, and no term is read."""
    rows, terms, columns = shape
    a = rng.standard_normal((rows, terms), np.float32)
    b = rng.standard_normal((terms, columns), np.float32)
    bias = rng.standard_normal(columns, np.float32)
    expected = np.maximum(a.astype(np.float64) @ b + bias, 0)
    np.testing.assert_allclose(product(*on(device, a, b, bias)).numpy(), expected, 1e-4, 1e-4)


def test_accesses_of_16_bytes():
    square = pk.spec((SIZE, SIZE), pk.f32)
    ptx = {
        name: program.lower(*args, target="nvvm:sm_80+aligned+small").as_text("ptx")
        for name, program, args in (
            ("elements", scaled, (square, square)),
            ("rows", softmax, (pk.spec((8, 1024), pk.f32),)),
            ("product", product, (*[pk.spec((2048, 2048), pk.f32)] * 2, pk.spec((2048,), pk.f32))),
        )
    }
    assert ptx["elements"].count("ld.global.nc.v4") == 1 and ptx["elements"].count("st.global.v4") == 1
    assert ptx["rows"].count("ld.global.nc.v4") == 1 and ptx["rows"].count("st.global.v4") == 1
    assert ptx["product"].count("ld.shared.v4") == 4 * 4  # eight rows and eight columns of each of four terms
