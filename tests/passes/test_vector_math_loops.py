"""Loops over expanded functions work on vectors, whatever the type and the options: the point of the pass."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import pykern as pk


@pk.kernel
def exp_kernel(y, x):
    i = pk.index()
    y[i] = pk.exp(x[i])


@pk.kernel
def log_kernel(y, x):
    i = pk.index()
    y[i] = pk.log(x[i])


@pk.kernel
def tanh_kernel(y, x):
    i = pk.index()
    y[i] = pk.tanh(x[i])


@pk.kernel
def sin_kernel(y, x):
    i = pk.index()
    y[i] = pk.sin(x[i])


@pk.kernel
def cos_kernel(y, x):
    i = pk.index()
    y[i] = pk.cos(x[i])


@pk.kernel
def erf_kernel(y, x):
    i = pk.index()
    y[i] = pk.erf(x[i])


@pk.kernel
def pow_kernel(y, x):
    i = pk.index()
    y[i] = x[i] ** 1.7


@pk.kernel
def others_kernel(y, x):
    i = pk.index()
    v = x[i]
    a = pk.exp2(v) + pk.expm1(v) + pk.log2(v) + pk.log10(v) + pk.log1p(v) + pk.sinh(v) + pk.cosh(v)
    b = pk.erfc(v) + pk.asin(v) + pk.acos(v) + pk.atan(v) + pk.atan2(v, v + 1) + pk.cbrt(v)
    y[i] = a + b + pk.asinh(v) + pk.acosh(v) + pk.atanh(v) + pk.tan(v)


@pk.kernel(fastmath=True)
def fast_kernel(y, x):
    i = pk.index()
    y[i] = pk.sin(x[i]) + pk.exp(x[i]) * pk.erf(x[i])


KERNELS = (
    exp_kernel, log_kernel, tanh_kernel, sin_kernel, cos_kernel, erf_kernel, pow_kernel, others_kernel, fast_kernel,
)  # fmt: skip


def vector_blocks(text: str) -> list[str]:
    """Blocks of the kernel that store vectors: the bodies of its loops. Their tails are scalar."""
    body = re.search(r"^define [^\n]*@[\w.]*_kernel\b.*?^}", text, re.MULTILINE | re.DOTALL)
    assert body is not None
    return [b for b in body[0].split("\n\n") if re.search(r"store <\d+ x (float|double|half|bfloat|i16)>", b)]


@pytest.mark.parametrize("dtype", [pk.f32, pk.f64], ids=["f32", "f64"])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.__name__)
def test_loops_vectorise(kernel: Any, dtype: pk.DType) -> None:
    lowered = kernel.lower(pk.spec("n", dtype), pk.spec("n", dtype), ndrange=("n",))
    blocks = vector_blocks(lowered.as_text("llvm-optimise"))
    assert blocks
    for block in blocks:
        called = set(re.findall(r"@([\w.]+)\(", block))
        scalar = {
            f for f in called if not re.search(r"\.v\d+|^kern\.huge_angle\.\d+$|^llvm\.(assume|prefetch)", f)
        }
        assert not scalar, scalar


@pytest.mark.parametrize("dtype", [pk.f16, pk.bf16], ids=["f16", "bf16"])
def test_narrow_types_are_computed_as_f32(dtype: pk.DType) -> None:
    lowered = sin_kernel.lower(pk.spec("n", dtype), pk.spec("n", dtype), ndrange=("n",))
    assert vector_blocks(lowered.as_text("llvm-optimise"))


def test_f16_is_right_but_for_its_own_rounding() -> None:
    x = np.linspace(-60000, 60000, 4001).astype(np.float16)
    y = np.zeros_like(x)
    sin_kernel(y, x, ndrange=x.size)
    np.testing.assert_allclose(y, np.sin(x.astype(np.float64)), rtol=2**-10, atol=2**-24)


def test_fastmath_keeps_special_values() -> None:
    """The flags it sets allow other roundings, not other results for NaN and infinity."""
    x = np.array([0.0, 1.0, -3.0, np.inf, -np.inf, np.nan, 1e5, -1e5] * 9)
    y = np.zeros_like(x)
    fast_kernel(y, x, ndrange=x.size)
    with np.errstate(all="ignore"):
        near = np.array(
            [0.0, np.sin(1) + np.e * 0.8427007929497149, np.sin(-3) - np.exp(-3) * 0.9999779095030014]
        )
    np.testing.assert_allclose(y[:3], near, rtol=1e-14)
    assert np.isnan(y[3:6]).all()
    assert y[6] == np.inf
    np.testing.assert_allclose(y[7], np.sin(-1e5), rtol=1e-14)
