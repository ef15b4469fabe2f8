"""kern-vectorize-elementary: loops with elementary functions, of any length, against double precision."""

from __future__ import annotations

import math

import numpy as np
import pytest

import pykern as pk
from pykern.errors import PassError
from pykern.passes.vectorize.vectorize_elementary import VectorizeElementary


@pk.jit
def gelu(x):
    return 0.5 * x * (1.0 + pk.erf(x * 0.7071067811865476))


@pk.jit
def two(x, y):
    return pk.exp(x) * y, pk.tanh(x + y)


@pk.kernel
def rows(z, x, b):
    i, j = pk.index()
    z[i, j] = pk.exp(x[i, j]) + b[j] * j


def is_vector(program, *arguments) -> bool:
    stages = program.lower(*arguments).stages
    return "vector<" in next(s.text for s in stages if s.name == "kern-vectorize-elementary")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "shape", [(0,), (1,), (31,), (32,), (33,), (7, 13), (128, 64), (3, 5, 77), (1000, 3)]
)
def test_any_shape(rng, shape, dtype):
    x = rng.standard_normal(shape).astype(dtype)
    wide = x.astype(np.float64)
    right = 0.5 * wide * (1 + np.vectorize(math.erf, otypes=[float])(wide * math.sqrt(0.5)))
    tolerance = 4e-7 if dtype == "float32" else 1e-15
    np.testing.assert_allclose(gelu(x), right, rtol=0, atol=tolerance * max(1, np.abs(wide).max(initial=0)))
    assert is_vector(gelu, x) == (x.nbytes >= 128)


def test_two_results_and_special_values(rng):
    x, y = (rng.standard_normal((40, 50)).astype(np.float32) for _ in range(2))
    x[3, :5] = np.nan, np.inf, -np.inf, -0.0, 88.0
    with np.errstate(over="ignore", invalid="ignore"):
        right = np.exp(x.astype(np.float64)) * y, np.tanh(x.astype(np.float64) + y)
    for found, expected in zip(two(x, y), right, strict=True):
        np.testing.assert_allclose(found, expected.astype(np.float32), rtol=5e-7, atol=5e-7)


@pytest.mark.parametrize("columns", [1, 15, 16, 17, 100])
def test_kernels_whose_rows_are_not_aligned(rng, columns):
    x, b = (
        rng.standard_normal((9, columns)).astype(np.float32),
        rng.standard_normal(columns).astype(np.float32),
    )
    z = np.full((9, columns + 2), 7.0, np.float32)
    rows(z[:, 1:-1], x, b, ndrange=x.shape)
    np.testing.assert_allclose(
        z[:, 1:-1], np.exp(x.astype(np.float64)) + b * np.arange(columns), rtol=1e-5, atol=1e-5
    )
    assert (z[:, [0, -1]] == 7.0).all()


def test_widths_are_powers_of_two():
    with pytest.raises(PassError):
        VectorizeElementary(bytes=48).run(None)  # type: ignore[arg-type]
