"""Loops over work-items in exported C that are written otherwise than in the kernel: squares, rows, and angles."""

from __future__ import annotations

import ctypes
import math
from typing import Any

import numpy as np
import pytest

import pykern as pk
from tests.lowering.source_runs import c_compiler, compiled_c, run_c
from tests.passes.test_vector_math import worst

pytestmark = pytest.mark.skipif(c_compiler() is None, reason="no compiler of C: cc, gcc or clang")
FLAGS = ("-std=c11", "-O3", "-march=native", "-ffp-contract=off", "-fno-math-errno", "-Wall", "-Werror")


@pk.kernel
def transposed(out, x, y):
    i, j = pk.index()
    out[i, j] = 2 * x[j, i] + y[i, j]


@pk.kernel
def turned(out, x):
    i, j, k = pk.index()
    out[i, j, k] = x[i, k, j]


@pk.kernel
def row_sums(out, x):
    i = pk.index()
    total, most = pk.f32(0), pk.f32(-math.inf)
    for j in range(x.shape[1]):
        total += x[i, j]
        most = max(most, x[i, j])
    out[0, i] = total
    out[1, i] = most


@pk.kernel
def angles(out, x, pitch: pk.f32):
    i = pk.index()
    angle = pitch * x[i]
    out[0, i] = pk.sin(angle)
    out[1, i] = pk.cos(angle)
    out[2, i] = pk.tan(angle)


@pk.kernel
def in_place(x):
    i = pk.index()
    x[i] = pk.sin(x[i])


def known(kernel: Any, arrays: list[np.ndarray], words: tuple[Any, ...], ndrange: tuple[int, ...]) -> str:
    """Run the text for lengths that are known, which changes the arrays; gives it."""
    specs = [pk.spec(each.shape, pk.f32) for each in arrays]
    text = pk.export(kernel, *specs, *words, ndrange=ndrange, form="c").text
    function = getattr(compiled_c(text, kernel.__name__, FLAGS), kernel.__name__)
    function(*(ctypes.c_void_p(each.ctypes.data) for each in arrays), *map(ctypes.c_float, words))
    return text


@pytest.mark.parametrize("shape", [(1, 1), (16, 32), (17, 33), (100, 3)])
def test_squares(rng: np.random.Generator, shape: tuple[int, int]) -> None:
    x, y = (rng.standard_normal(s).astype("f") for s in (shape[::-1], shape))
    out = np.zeros(shape, np.float32)
    known(transposed, [out, x, y], (), shape)
    np.testing.assert_array_equal(out, 2 * x.T + y)
    np.testing.assert_array_equal(run_c(transposed, (out * 0, x, y), shape)[0], 2 * x.T + y)


def test_squares_of_the_last_two_dimensions(rng: np.random.Generator) -> None:
    x = rng.standard_normal((3, 20, 37)).astype("f")
    expected = x.swapaxes(1, 2)
    np.testing.assert_array_equal(
        run_c(turned, (np.zeros_like(expected, order="C"), x), (3, 37, 20))[0], expected
    )


@pytest.mark.parametrize("shape", [(8, 5), (19, 40), (3, 7), (64, 0)])
def test_rows(rng: np.random.Generator, shape: tuple[int, int]) -> None:
    """Each row is added up in its order, to the last bit."""
    x = rng.standard_normal(shape).astype("f")
    expected = np.array([[0] * shape[0], [-np.inf] * shape[0]], "f")
    for column in x.T:
        expected = np.array([expected[0] + column, np.maximum(expected[1], column)], "f")
    found = np.zeros_like(expected)
    known(row_sums, [found, x], (), shape[:1])
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(run_c(row_sums, (np.zeros_like(expected), x), shape[:1])[0], expected)


def test_angles(rng: np.random.Generator) -> None:
    """Of every size, next to multiples of a quarter turn, and in blocks with huge ones and without."""
    quarters = np.arange(1, 2_600_000, 4001) * (math.pi / 2)
    x = np.concatenate(
        [
            rng.uniform(-10, 10, 600),
            quarters,
            -quarters,
            np.exp2(rng.uniform(-126, 22, 600)),
            [0.0, -0.0, math.nan, 2.0**22, -(2.0**22), 1e-45] * 10,
            [*rng.uniform(-10, 10, 400), math.inf, -math.inf, 1e30, 2.0**23, 3e38],
        ]
    ).astype("f")
    out = np.zeros((3, x.size), np.float32)
    text = known(angles, [out, x], (1.0,), (x.size,))
    for name, found in zip(("sin", "cos", "tan"), out, strict=True):
        assert f"moderate_{name}_f32(" in text
        assert f"{name}f(" in text
        error, where = worst(found, name, x, np.float32)
        assert error <= 2, f"{name}({where!r}) is {error} units off"
    zeros = x == 0
    np.testing.assert_array_equal(np.signbit(out[0][zeros]), np.signbit(x[zeros]))


@pytest.mark.parametrize("count", [1, 255, 256, 700])
def test_angles_in_place(rng: np.random.Generator, count: int) -> None:
    x = rng.uniform(-100, 100, count).astype("f")
    expected = np.sin(x.astype(float))
    known(in_place, [x], (), (count,))
    np.testing.assert_allclose(x, expected, atol=1e-7)
