"""Products by Metal's matrices of subgroups: the text, and numbers against NumPy on sizes that divide nothing."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import pykern as pk
from pykern.dialect.fragments import BFLOAT_UNIT, FRAGMENT_UNIT
from pykern.lowering.source import options
from pykern.pytest_plugin import need_device

DEVICE = "metal:emulated"


@pk.jit
def product(a, b):
    return a @ b


@pk.jit
def layer(a, b, c):
    return np.maximum((2 * a) @ b.T + c, 0)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("shape", [(64, 64, 64), (33, 129, 65), (9, 17, 8)])
def test_products_as_numpy(shape: tuple[int, int, int], dtype: str, rng: np.random.Generator) -> None:
    need_device(DEVICE)
    kind = np.dtype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
    m, k, n = shape
    a, b = (rng.standard_normal(size).astype(kind) for size in ((m, k), (k, n)))
    found = product(pk.array(a, device=DEVICE), pk.array(b, device=DEVICE)).numpy()
    wanted = a.astype(np.float64) @ b.astype(np.float64)
    error = {"float32": 1e-5, "float16": 2e-3, "bfloat16": 2e-2}[dtype]
    np.testing.assert_allclose(found.astype(np.float64), wanted, rtol=error, atol=error)


def test_what_is_fused_with_a_product(rng: np.random.Generator) -> None:
    need_device(DEVICE)
    a, b, c = (rng.standard_normal(size).astype(np.float32) for size in ((70, 50), (91, 50), (91,)))
    found = layer(*(pk.array(each, device=DEVICE) for each in (a, b, c))).numpy()
    np.testing.assert_allclose(found, np.maximum(2 * a @ b.T + c, 0), rtol=1e-5, atol=1e-5)


@pk.kernel
def by_loops(out, a, b):
    i, j = pk.index()
    total = 0.0
    for k in range(a.shape[1]):
        total += a[i, k] * b[k, j]
    out[i, j] = total


@pk.jit
def raised(a, b):
    out = np.empty((a.shape[0], b.shape[1]), np.float32)
    by_loops(out, a, b, ndrange=out.shape)
    return 2 * out


def test_a_kernel_whose_loops_are_a_product(rng: np.random.Generator) -> None:
    need_device(DEVICE)
    a, b = (rng.standard_normal(size).astype(np.float32) for size in ((70, 50), (50, 91)))
    text = raised.lower(a, b, target="source:msl+simd").compile().source
    assert "simdgroup_multiply_accumulate(" in text
    found = raised(pk.array(a, device=DEVICE), pk.array(b, device=DEVICE)).numpy()
    np.testing.assert_allclose(found, 2 * a @ b, rtol=2e-5, atol=2e-5)


@pk.kernel
def by_tiles(c, a, b):
    i, j = pk.tile()
    acc = pk.zeros((i, j), pk.f32)
    for k in pk.tiles(a.shape[1]):
        acc += a[i, k] @ b[k, j]
    c[i, j] = acc


def test_a_tile_kernel(rng: np.random.Generator) -> None:
    need_device(DEVICE)
    a, b = (rng.standard_normal(size).astype(np.float32) for size in ((70, 50), (50, 91)))
    out = np.zeros((70, 91), np.float32)
    text = by_tiles.lower(out, a, b, ndrange=out.shape, target="source:msl+words+simd").compile().source
    assert "simdgroup_multiply_accumulate(" in text
    by_tiles(out, a, b, ndrange=out.shape, device=DEVICE)
    np.testing.assert_allclose(out, a @ b, rtol=2e-5, atol=2e-5)


def test_the_text() -> None:
    specs = pk.spec((70, 50), pk.f16), pk.spec((50, 90), pk.f16)
    text = product.lower(*specs, target="source:msl+simd").compile().source
    assert "simdgroup_half8x8" in text and "simdgroup_float8x8" in text
    for name in ("load", "store", "multiply_accumulate"):
        assert f"simdgroup_{name}(" in text
    plain = product.lower(*specs, target="source:msl").compile().source
    assert "simdgroup" not in plain  # GPUs older than Apple's have none


def test_matrices_of_bf16_are_of_newer_versions_of_the_language() -> None:
    """Before 3.1 their factors are converted to f32."""
    specs = pk.spec((70, 50), pk.bf16), pk.spec((50, 90), pk.bf16)
    text = product.lower(*specs, target="source:msl+simd+bfloat").compile().source
    assert "simdgroup_bfloat8x8" in text and "threadgroup short " in text and "simdgroup_float8x8" in text
    assert "(threadgroup bfloat *)&" in text
    older = product.lower(*specs, target="source:msl+simd").compile().source
    assert "bfloat" not in older and "simdgroup_float8x8" in older
    others = (
        product.lower(*(pk.spec((64, 64), pk.f16),) * 2, target="source:msl+simd+bfloat").compile().source
    )
    assert "bfloat" not in others


def test_the_unit_has_one_name() -> None:
    assert (options.FRAGMENT_UNIT, options.BFLOAT_UNIT) == (FRAGMENT_UNIT, BFLOAT_UNIT)
