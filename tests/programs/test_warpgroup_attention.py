"""Attention by Hopper's `wgmma`, fed by tensor maps, on the emulated GPU: against NumPy in f64, and as assembled."""

from __future__ import annotations

import subprocess

import ml_dtypes
import numpy as np
import pytest

import pykern as pk
import pykern.library as pl
from pykern.lowering.nvvm.ptxas import ptxas
from tests.programs import test_attention as cpu
from tests.programs import test_attention_forms as forms
from tests.programs.test_device_attention import normal, on

slow = pytest.mark.slow
DEVICE, TARGET = "cuda:emulated:90", "nvvm:sm_90a+aligned"
hopper = pytest.mark.parametrize("device", [DEVICE], indirect=True)
over_types = pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16], ids=["f16", "bf16"])


def ptx_of(program, *given, target=TARGET, **options):
    return program.lower(*given, target=target, **options).as_text("ptx")


def checked(device, q, k, v, **options):
    """`flash_attention` beside NumPy; heads share keys."""
    n, m = q.shape[2], k.shape[2]
    distance = np.arange(m) - (m - n + np.arange(n))[:, None]
    keys, values = (np.repeat(x, q.shape[1] // x.shape[1], 1).astype(float) for x in (k, v))
    s = q.astype(float) @ np.swapaxes(keys, -1, -2) / q.shape[3] ** 0.5
    cap, window = options.get("softcap"), options.get("window", m + n)
    s = s if cap is None else cap * np.tanh(s / cap)
    s = np.where((distance <= 0) | (not options.get("causal")), s, -np.inf)
    right = cpu.softmax(np.where(np.abs(distance) < window, s, -np.inf)) @ values
    text = ptx_of(pl.flash_attention, q, k, v, **options)
    assert "wgmma.mma_async" in text
    assert "cp.async.bulk.tensor" in text
    forms.close(on(device, pl.flash_attention, q, k, v, **options), right, q.dtype.name)


@hopper
@over_types
@pytest.mark.sweep("dtype")
@pytest.mark.parametrize(
    ("heads", "shared", "queries", "keys", "depth", "width", "options"),
    [
        (
            32,
            8,
            60,
            66,
            64,
            128,
            {"causal": True},
        ),  # two products of different sizes in one kernel, and one batch
        pytest.param(8, 4, 66, 90, 64, 128, {"causal": True}, marks=slow),
        pytest.param(32, 32, 64, 64, 64, 64, {}, marks=slow),
        pytest.param(8, 8, 130, 200, 40, 72, {"causal": True}, marks=slow),
        pytest.param(32, 32, 60, 70, 128, 128, {"window": 20}, marks=slow),
        pytest.param(32, 32, 64, 70, 256, 16, {"softcap": 2.0}, marks=slow),
        pytest.param(16, 16, 64, 70, 16, 136, {"causal": True}, marks=slow),
    ],
)
def test_the_library(rng, device, dtype, heads, shared, queries, keys, depth, width, options):
    batch = -(-32 // (heads * -(-queries // 64)))
    shapes = (heads, queries, depth), (shared, keys, depth), (shared, keys, width)
    checked(device, *normal(rng, *((batch, *shape) for shape in shapes), dtype=dtype), **options)


@hopper
@slow
def test_more_queries_than_keys(rng, device):
    """Some queries take no key: no block is met, and nothing is asked for."""
    q, k, v = normal(rng, (2, 16, 200, 64), (2, 16, 40, 64), (2, 16, 40, 64), dtype=np.float16)
    have = on(device, pl.flash_attention, q, k, v, causal=True)
    assert np.isnan(have[:, :, :160].astype(float)).all()
    forms.close(have[:, :, 160:], pl.flash_attention(q[:, :, 160:], k, v, causal=True), "float16")


@pk.jit
def turned(q, k, v):
    """Keys and values lie with their lines side by side, or their terms: the other way round."""
    s = (q @ k).astype(pk.f32) * 0.125
    e = pk.exp(s - s.max(-1, keepdims=True))
    return (e / e.sum(-1, keepdims=True)).astype(q.dtype) @ pk.swapaxes(v, -1, -2)


@hopper
@slow
def test_keys_and_values_that_are_turned(rng, device):
    q, k, v = normal(rng, (32, 64, 64), (32, 64, 96), (32, 72, 96), dtype=np.float16)
    assert "wgmma.mma_async" in ptx_of(turned, q, k, v)
    wide = [x.astype(float) for x in (q, k, v)]
    right = cpu.softmax(wide[0] @ wide[1] * 0.125) @ np.swapaxes(wide[2], -1, -2)
    forms.close(on(device, turned, q, k, v), right, "float16")


@pytest.mark.parametrize(
    ("shapes", "target"),
    [
        (((1, 2, 64, 64), (1, 2, 64, 64)), TARGET),
        (((2, 16, 64, 41), (2, 16, 64, 41)), TARGET),
        (((2, 16, 64, 64), (2, 16, 64, 64)), "nvvm:sm_90a"),
        (((2, 16, 64, 64), (2, 16, 64, 64)), "nvvm:sm_80+aligned"),
    ],
    ids=["few groups", "rows that begin anywhere", "arrays that begin anywhere", "before Hopper"],
)
def test_what_goes_another_way(shapes, target):
    q, k = (np.zeros(shape, np.float16) for shape in shapes)
    text = ptx_of(pl.flash_attention, q, k, k, target=target)
    assert "mma.sync" in text
    assert "wgmma" not in text


@pytest.mark.skipif(ptxas() is None, reason="there is no ptxas")
@pytest.mark.parametrize("size", [64, pytest.param(128, marks=slow), pytest.param(256, marks=slow)])
def test_the_assembler_keeps_products_together(tmp_path, size):
    """No spills, no product that waits for the one before it (C7510 and its like)."""
    q = np.zeros((4, 16, 1000, size), np.float16)
    source, program = tmp_path / "attention.ptx", ptxas()
    assert program is not None
    source.write_text(ptx_of(pl.flash_attention, q, q, q, causal=True))
    command = [program, "-v", "-O3", "-arch=sm_90a", str(source), "-o", str(tmp_path / "attention.cubin")]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    assert "C75" not in said
    assert "0 bytes spill stores, 0 bytes spill loads" in said
