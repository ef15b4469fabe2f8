"""kern-mask-short-rows: stencils of short and longer rows have the bits of NumPy, and write nothing beside them."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from pykern.environment.machine import host_cpu


@pk.kernel
def diffuse(new, old):
    i, j = pk.index()
    if 0 < i < old.shape[0] - 1 and 0 < j < old.shape[1] - 1:
        new[i, j] = old[i + 1, j] + old[i - 1, j] + old[i, j + 1] + old[i, j - 1] - 4 * old[i, j]


@pk.jit
def differences(old):
    return old[1:, 1:] - old[:-1, :-1]


COLUMNS = [2, 3, 4, 17, 18, 19, 31, 66, 130, 257, 258, 259, 514, 600]


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "uint8"])
@pytest.mark.parametrize("columns", COLUMNS)
def test_rows_of_any_length(rng, columns, dtype):
    old = rng.integers(0, 100, (7, columns)).astype(dtype)
    new = np.full_like(old, 77)
    expected = new.copy()
    expected[1:-1, 1:-1] = (
        old[2:, 1:-1] + old[:-2, 1:-1] + old[1:-1, 2:] + old[1:-1, :-2] - 4 * old[1:-1, 1:-1]
    )
    diffuse(new, old, ndrange=old.shape)
    np.testing.assert_array_equal(new, expected)


@pytest.mark.parametrize("columns", COLUMNS)
def test_programs(rng, columns):
    old = rng.standard_normal((9, columns)).astype(np.float32)
    np.testing.assert_array_equal(differences(old), old[1:, 1:] - old[:-1, :-1])


def test_special_values_beside_the_last_cell(rng):
    """What masks leave out may hold anything."""
    whole = rng.standard_normal((40, 40)).astype(np.float32)
    whole[:, 21:] = np.nan
    old, new = np.ascontiguousarray(whole[:, :21]), np.zeros((40, 21), np.float32)
    diffuse(new, old, ndrange=old.shape)
    assert np.isfinite(new).all()


@pytest.mark.skipif(host_cpu().isa != "avx512", reason="masks are quick with AVX-512 only")
def test_short_rows_have_masks():
    old = np.zeros((7, 40), np.float32)
    stages = {s.name: s.text for s in diffuse.lower(old.copy(), old, ndrange=old.shape).stages}
    assert "predicateEnable = true" in stages["kern-mask-short-rows"]
    assert "{%k" in stages["llvm-emit"]
