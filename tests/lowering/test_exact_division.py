"""Square roots and quotients are IEEE's, correctly rounded, unless `fastmath` allows less: in code, and in numbers."""

from __future__ import annotations

import re

import numpy as np
import pytest

import pykern as pk


def kernel(fastmath):
    @pk.kernel(fastmath=fastmath)
    def both(roots, quotients, x, z):
        i = pk.index()
        roots[i] = pk.sqrt(x[i])
        quotients[i] = x[i] / z[i]

    return both


def code(target, kind, fastmath):
    lowered = kernel(fastmath).lower(*[pk.spec("n", kind)] * 4, ndrange="n", target=target)
    return [stage.text for stage in lowered.stages if stage.kind == "asm"][-1]


@pytest.mark.parametrize("kind", [pk.f32, pk.f64])
def test_on_nvidia(kind):
    exact, fast = code("nvvm:sm_90a", kind, False), code("nvvm:sm_90a", kind, True)
    assert f"sqrt.rn.{kind.name}" in exact and f"div.rn.{kind.name}" in exact and ".approx" not in exact
    if kind == pk.f32:
        assert "sqrt.approx" in fast and "div.approx" in fast


@pytest.mark.parametrize("chip", ["gfx90a", "gfx942", "gfx1100"])
@pytest.mark.parametrize("kind", [pk.f32, pk.f64])
def test_on_amd(kind, chip):
    """Quotients are scaled, refined and fixed up; roots are refined by fused multiply and add."""
    exact, fast = code(f"rocdl:{chip}", kind, False), code(f"rocdl:{chip}", kind, True)
    bits = kind.bits
    for part in ("div_scale", "div_fmas", "div_fixup"):
        assert f"v_{part}_f{bits}" in exact and f"v_{part}_f{bits}" not in fast
    if kind == pk.f32:  # of f64 there is no exact instruction, so its root is refined in any case
        assert len(re.findall(r"v_(pk_)?fmac?_f", exact)) > len(re.findall(r"v_(pk_)?fmac?_f", fast))


@pytest.mark.parametrize("device", ["cpu", "opencl:0", "vulkan:0"], indirect=True)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_numbers(device, dtype, rng):
    """Any bits at all: subnormals, infinities, NaN; and pairs close to each other, where rounding is hard."""
    if dtype == np.float64 and "f64" not in pk.device(device).info.dtypes:
        pytest.skip(f"unsupported: {device} has no f64")
    bits = {np.float32: np.uint32, np.float64: np.uint64}[dtype]
    x, z = (rng.integers(0, np.iinfo(bits).max, 20_011, bits, True).view(dtype) for _ in "xz")
    x[:5000] = rng.uniform(1, 4, 5000)
    z[:5000] = rng.uniform(1, 2, 5000)
    if device.startswith("vulkan"):  # Vulkan may take subnormals for zero
        tiny = np.finfo(dtype).tiny
        for a in (x, z):
            a[np.abs(a) < tiny] = 1
    arrays = [pk.array(a, device=device) for a in (np.zeros_like(x), np.zeros_like(x), x, z)]
    kernel(False)(*arrays, ndrange=x.size)
    with np.errstate(all="ignore"):
        roots, quotients = np.sqrt(x), x / z
    if device.startswith("vulkan"):
        small = np.abs(quotients) < np.finfo(dtype).tiny
        quotients[small] = arrays[1].numpy()[small]
    np.testing.assert_array_equal(arrays[0].numpy(), roots)
    np.testing.assert_array_equal(arrays[1].numpy(), quotients)
