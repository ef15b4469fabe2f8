"""WGSL asks for the feature `f16` where its text has such floats, and only there."""

from __future__ import annotations

import pytest

import pykern as pk


@pk.kernel
def chosen(out, x):
    i = pk.index()
    out[i] = pk.f32(pk.f16(2) if x[i] > 0 else pk.f16(-6))


@pk.kernel
def commented(out, x):
    i = pk.index()
    out[i] = pk.f32(pk.f16(2)) * x[i]  # pk.f16 of a constant is none


@pytest.mark.parametrize("target", ["source:wgsl+words+i64+f16+f64", "source:wgsl+words+f16", "source:wgsl"])
@pytest.mark.parametrize("kernel", [chosen, commented])
def test_the_feature_is_asked_for_where_it_is_used(kernel: pk.Kernel, target: str) -> None:
    spec = pk.spec((8,), pk.f32)
    lines = kernel.lower(spec, spec, ndrange=8, target=f"{target}+comments").compile().source.splitlines()
    code = " ".join(line.partition("//")[0] for line in lines if not line.startswith("enable"))
    has_halves = "f16" in code or "2.0h" in code
    assert ("enable f16;" in lines) == has_halves == (kernel is chosen and "f16" in target)
