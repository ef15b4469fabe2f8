"""What devices compute together with a product: in tiles of its factors and of its result. Against NumPy in f64."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from pykern.passes.analysis.cost_model.products import FEWEST_PART_STEPS, MATRIX_CLOCKS, MULTIPROCESSORS
from pykern.passes.analysis.product_tiles import ProductTile, shared_out
from tests.cases.row_programs import launches, leaves

SIZES = [(67, 131, 90), (9, 33, 70), (130, 17, 33), (5, 6, 7)]
"""Rows, columns and terms; the last is below what tiles are made for."""

over_devices = pytest.mark.parametrize("device", ["opencl:0", "vulkan:0"], indirect=True)


def layer(a, b, bias, scale, rest):
    return pk.tanh(a @ b + bias) * scale + rest


def rows_scaled(a, b, column):
    return (a @ b) * column


def scaled(a, b, bias, column):
    return (a * column + 0.5) @ (b - bias)


def both_ends(a, b, bias, column):
    return pk.maximum((a * column) @ (b * bias), 0) + bias


def gated(a, b):
    return (a * pk.maximum(a[::-1], 0)) @ b


def right_transposed(a, c, bias):
    return (a + 1) @ (c * 2).T + bias


def read_twice(a, b):
    c = a * 2
    product = c @ b
    return c, product, product + 1


def two_layers(a, b, c, bias):
    hidden = pk.maximum(a @ b + bias, 0)
    return (hidden * 0.5) @ c - 1


def in_place(d, e):
    d[:] = (d * 0.5) @ e + d
    return d


def in_batches(x, y, column):
    return pk.maximum((x * column) @ (y - 1), 0) * 2


def arguments(rng, m, n, k, dtype):
    shapes = {
        "a": (m, k), "b": (k, n), "c": (n, k), "bias": (n,), "column": (m, 1), "rest": (m, n), "d": (m, m), "e": (m, m),
        "x": (3, m, k), "y": (3, k, n),
    }  # fmt: skip
    return {"scale": 2.5} | {name: rng.standard_normal(shape).astype(dtype) for name, shape in shapes.items()}


def checked(function, device, names, dtype, error):
    given = {name: names[name] for name in function.__code__.co_varnames[: function.__code__.co_argcount]}
    ours = [pk.asarray(v.copy(), device=device) if isinstance(v, np.ndarray) else v for v in given.values()]
    wide = [v.astype(np.float64) if isinstance(v, np.ndarray) else v for v in given.values()]
    expected, result = leaves(function(*wide)), leaves(pk.jit(function)(*ours))
    for have, want in zip(result, expected, strict=True):
        size = max(1.0, np.abs(want).max())
        np.testing.assert_allclose(have.numpy(), want, rtol=0, atol=error * size)


PROGRAMS = [
    layer, rows_scaled, scaled, both_ends, gated, right_transposed, read_twice, two_layers, in_place, in_batches,
]  # fmt: skip


@over_devices
@pytest.mark.parametrize(("m", "n", "k"), SIZES)
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_before_and_after_products(rng, device, function, m, n, k):
    if function is two_layers:
        n = k
    checked(function, device, arguments(rng, m, n, k, np.float32), np.float32, 2e-5)


@over_devices
def test_weights_in_bytes_and_halves(rng, device):
    names = arguments(rng, 67, 70, 40, np.float16)
    checked(both_ends, device, names, np.float16, 2e-2)

    @pk.jit
    def dequantised(a, q, s):
        return a @ (q.astype(pk.f32) * s)

    a, s = rng.standard_normal((33, 50)).astype(np.float32), rng.random(65).astype(np.float32)
    q = rng.integers(-128, 128, (50, 65)).astype(np.int8)
    have = dequantised(*(pk.asarray(v, device=device) for v in (a, q, s))).numpy()
    np.testing.assert_allclose(have, a.astype(np.float64) @ (q * s.astype(np.float64)), rtol=0, atol=1e-2)
    assert launches(dequantised, a, q, s) == 1


SPECS = {
    "a": (200, 300), "b": (300, 400), "c": (400, 300), "bias": (400,), "column": (200, 1), "rest": (200, 400),
    "x": (3, 200, 300), "y": (3, 300, 400),
}  # fmt: skip


@pytest.mark.parametrize(
    ("function", "count"),
    [(layer, 1), (rows_scaled, 1), (scaled, 1), (both_ends, 1), (right_transposed, 1), (in_batches, 1)],
)
def test_one_kernel_does_it(function, count):
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    specs = [2.5 if name == "scale" else pk.spec(SPECS[name], pk.f32) for name in names]
    assert launches(pk.jit(function), *specs) == count


def of_functions(a, b):
    return pk.exp(a) @ b


def of_two_arrays(a, b, c):
    return (a * c) @ b


def test_what_costs_more_where_it_is_read_is_made_before():
    """A function for each tile again, and two large arrays that are read in place of one."""
    large, wide, narrow = (pk.spec(shape, pk.f32) for shape in ((512, 96), (96, 512), (96, 16)))
    assert launches(pk.jit(of_functions), large, wide) == 2
    assert launches(pk.jit(of_functions), large, narrow) == 1
    assert launches(pk.jit(of_two_arrays), large, wide, large) == 2
    assert launches(pk.jit(of_two_arrays), large, narrow, large) == 1


@pytest.mark.parametrize("device", ["opencl:0", "vulkan:0", "cuda:emulated"], indirect=True)
@pytest.mark.parametrize(
    ("batches", "m", "n", "k"), [((), 24, 20, 1030), pytest.param((3,), 9, 40, 1504, marks=pytest.mark.slow)]
)
def test_many_terms_of_few_cells_are_summed_in_parts(rng, device, batches, m, n, k):
    """By multiply-adds, whose last part may be shorter; a second kernel adds the parts up, and does what follows."""
    a, b = (rng.standard_normal((*batches, *shape), np.float32) for shape in ((m, k), (k, n)))
    bias, held = rng.standard_normal(n, np.float32), rng.standard_normal((*batches, m, n), np.float32)

    @pk.jit
    def both(a, b, bias, held):
        held += a @ b
        return pk.maximum(a @ b + bias, 0), held

    lowered = both.lower(a, b, bias, held, target=pk.device(device).info.target)
    assert sum("its terms are summed in" in remark.text for remark in lowered.remarks) >= 1
    have = [both(*(pk.asarray(v, device=device) for v in (a, b, bias, held.copy()))) for _ in range(2)]
    left, right = a.astype(np.float64), b.astype(np.float64)
    limit = (k + 2) * 2**-23 * (np.abs(left) @ np.abs(right) + 8)
    for found, again, want in zip(
        *have, (np.maximum(left @ right + bias, 0), held + left @ right), strict=True
    ):
        assert (np.abs(found.numpy() - want) <= limit).all()
        np.testing.assert_array_equal(found.numpy(), again.numpy())


def test_what_costs_of_products_decide():
    """Results of many tiles, or of few terms, have no parts; others as many as fill a GPU, a power of two."""
    tiles = [
        ProductTile(side, count, 128, MATRIX_CLOCKS[side]) for side, count in ((128, 1), (64, 4), (32, 16))
    ]
    chosen, parts = shared_out(tiles, 128 * 128)
    assert chosen.groups * parts <= 4 * MULTIPROCESSORS
    assert parts > 1
    assert parts & (parts - 1) == 0
    assert chosen.steps // parts >= FEWEST_PART_STEPS
    for many, steps in ((1024, 128), (1, 8)):
        tile = ProductTile(128, many, steps, MATRIX_CLOCKS[128])
        assert shared_out([tile], many * 128 * 128) == (tile, 1)
