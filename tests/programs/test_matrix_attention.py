"""Attention of 16-bit floats by tensor cores and matrix cores, on emulated GPUs, beside NumPy in f64."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import pykern as pk
import pykern.library as pl
from tests.programs import test_attention as cpu
from tests.programs import test_attention_forms as forms
from tests.programs.test_device_attention import normal, on

slow = pytest.mark.slow
AMD = [f"rocm:emulated:{chip}" for chip in ("gfx942", "gfx1100", "gfx1201", "gfx90a", "gfx950")]
over_gpus = pytest.mark.parametrize(
    "device",
    ["cuda:emulated", "cuda:emulated:90", *AMD[:2], *(pytest.param(chip, marks=slow) for chip in AMD[2:])],
    indirect=True,
)
emulated = pytest.mark.parametrize(
    "device", ["cuda:emulated", *(pytest.param(chip, marks=slow) for chip in AMD[:3])], indirect=True
)
over_types = pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16], ids=["float16", "bfloat16"])
SIZES = [
    (50, 70, 16, 24),
    (40, 65, 17, 31),
    (64, 64, 64, 64),
    (33, 100, 40, 8),
    (40, 130, 8, 136),
    (130, 40, 80, 80),
]
"""Queries, keys, depth and width; where depth and width are multiples of 8, chunks are copied ahead."""


def uses_matrices(program, *arrays, **options):
    """Whether the kernel has instructions for small matrices."""
    return "mma.sync" in program.lower(*arrays, target="nvvm:sm_80+aligned", **options).as_text("ptx")


@over_gpus
@over_types
@pytest.mark.sweep("dtype", "device")
@pytest.mark.parametrize(
    ("queries", "keys", "depth", "width"),
    [*SIZES[:2], *(pytest.param(*size, marks=slow) for size in SIZES[2:])],
)
def test_sizes(rng, device, dtype, queries, keys, depth, width):
    q, k, v = normal(rng, (queries, depth), (keys, depth), (keys, width), dtype=dtype)
    forms.close(on(device, cpu.plain, q, k, v, 0.25), cpu.expected(q, k, v, 0.25), np.dtype(dtype).name)
    assert uses_matrices(cpu.plain, q, k, v, 0.25)


@emulated
@over_types
@pytest.mark.sweep("dtype")
@pytest.mark.parametrize(
    "program",
    [forms.without_maximum, *(pytest.param(p, marks=slow) for p in (*forms.WITH_MAXIMUM, forms.WITHOUT[1]))],
)
def test_forms(rng, device, dtype, program):
    inputs = forms.arrays(rng, np.dtype(dtype).name)
    forms.close(on(device, program, *inputs), forms.expected(*inputs), np.dtype(dtype).name)
    exact = program is forms.scaled_before  # queries times a number are not rounded
    assert uses_matrices(program, *inputs) != exact


@emulated
def test_sums_of_f16_are_wide(rng, device):
    """Of many equal weights, whose sum is more than f16 holds, and of scores that would overflow in f16."""
    q, k, v = (np.ones(s, np.float16) for s in ((64, 16), (4096, 16), (4096, 16)))
    v *= 3
    np.testing.assert_array_equal(
        on(device, cpu.plain, q * 100, k * 100, v, 0.01), np.full((64, 16), 3, np.float16)
    )


@emulated
@pytest.mark.parametrize(
    ("queries", "keys"), [pytest.param(64, 64, marks=slow), (70, 90), pytest.param(200, 130, marks=slow)]
)
def test_causal(rng, device, queries, keys):
    q, k, v = normal(rng, (1, 2, queries, 16), (1, 2, keys, 16), (1, 2, keys, 16), dtype=np.float16)
    mask = np.arange(queries)[:, None] >= np.arange(keys)[None, :]
    have = on(device, cpu.causal, q, k, v, 0.25)
    forms.close(have, cpu.expected(q, k, v, 0.25, mask), "float16")


@emulated
@over_types
@pytest.mark.sweep("dtype")
@pytest.mark.parametrize(
    "options", [{"causal": True}, {"window": 9}, pytest.param({"softcap": 2.0}, marks=slow)], ids=str
)
def test_the_library(rng, device, dtype, options):
    """Heads that share keys; masks by both indices, a function of scores."""
    q, k, v = normal(rng, (2, 4, 90, 32), (2, 2, 150, 32), (2, 2, 150, 32), dtype=dtype)
    distance = np.arange(150) - (60 + np.arange(90))[:, None]
    s = np.einsum("bhnd,bhmd->bhnm", q.astype(float), np.repeat(k, 2, 1).astype(float)) / 32**0.5
    if "softcap" in options:
        s = 2 * np.tanh(s / 2)
    masks = {"causal": distance <= 0, "window": np.abs(distance) < 9, "softcap": distance < 150}
    right = cpu.softmax(np.where(masks[next(iter(options))], s, -np.inf)) @ np.repeat(v, 2, 1).astype(float)
    forms.close(on(device, pl.flash_attention, q, k, v, **options), right, np.dtype(dtype).name)
    assert uses_matrices(pl.flash_attention, q, k, v, **options)


@emulated
@slow
def test_masks_and_what_is_added(rng, device):
    inputs = forms.arrays(rng, "float16", 64, 150)
    allowed, bias = rng.random((64, 150)) < 0.5, rng.standard_normal((64, 150)).astype(np.float16)
    want = forms.expected(*inputs, bias=np.where(allowed, 0, -np.inf))
    forms.close(on(device, forms.masked, *inputs, allowed), want, "float16")
    forms.close(
        on(device, forms.biased, *inputs, bias), forms.expected(*inputs, bias=bias.astype(float)), "float16"
    )


@emulated
@slow
def test_factors_that_lie_another_way(rng, device):
    """Keys by terms or by lines, values by lines or by terms: [b, s, h, d], and transposed ones."""
    q, k, v = normal(rng, *[(2, 72, 3, 16)] * 3, dtype=np.float16)
    have = on(device, cpu.sequence_first, q, k, v, 0.25)
    x, y, z = (np.swapaxes(a, 1, 2) for a in (q, k, v))
    forms.close(have, np.swapaxes(cpu.expected(x, y, z, 0.25), 1, 2), "float16")

    @pk.jit
    def transposed(q, k, v):
        s = q @ k * 0.25
        e = pk.exp(s - s.max(axis=-1, keepdims=True))
        return e / e.sum(axis=-1, keepdims=True) @ v.T

    for keys in (72, 75):
        q, k, v = normal(rng, (40, 16), (16, keys), (24, keys), dtype=np.float16)
        forms.close(on(device, transposed, q, k, v), cpu.expected(q, k.T, v.T, 0.25), "float16")
        assert uses_matrices(transposed, q, k, v)


@emulated
def test_special_values_stay_in_their_row(rng, device):
    q, k, v = normal(rng, (64, 16), (80, 16), (80, 16), dtype=np.float16)
    q[5, 3], q[7, 2] = np.nan, np.inf
    with np.errstate(invalid="ignore"):
        right = cpu.expected(q, k, v, 0.25)
    have = on(device, cpu.plain, q, k, v, 0.25)
    np.testing.assert_array_equal(np.isnan(have), np.isnan(right))
    np.testing.assert_allclose(np.nan_to_num(have), np.nan_to_num(right), atol=3e-3)


@emulated
def test_rows_without_keys_are_no_numbers(rng, device):
    inputs = forms.arrays(rng, "float16", 40, 150)
    allowed = np.arange(150)[None, :] >= np.where(np.arange(40) == 3, 150, 100)[:, None]
    with np.errstate(invalid="ignore"):
        want = forms.expected(*inputs, bias=np.where(allowed, 0, -np.inf))
    have = on(device, forms.masked, *inputs, allowed)
    np.testing.assert_allclose(have.astype(float), want, rtol=0, atol=4e-3)


@pk.kernel
def tiles(o, q, k, v):
    b, i = pk.tile(1, None)
    m = pk.full((i, 1), -pk.inf, pk.f32)
    total = pk.zeros((i, 1), pk.f32)
    acc = pk.zeros((i, v.shape[2]), pk.f32)
    for j in pk.tiles(k.shape[1]):
        s = q[b, i] @ k[b, j].T * 0.25
        new = pk.maximum(m, s.max(-1, keepdims=True))
        p = pk.exp(s - new)
        rest = pk.exp(m - new)
        total = total * rest + p.sum(-1, keepdims=True)
        acc = acc * rest + p.astype(v.dtype) @ v[b, j]
        m = new
    o[b, i] = acc / total


@emulated
@over_types
@pytest.mark.sweep("dtype")
def test_a_running_softmax_that_rounds_its_powers(rng, device, dtype):
    q, k, v = forms.arrays(rng, np.dtype(dtype).name)
    o = pk.asarray(np.empty((2, 50, 24), dtype), device=device)
    tiles(o, *(pk.asarray(a, device=device) for a in (q, k, v)), ndrange=(2, 50))
    forms.close(o.numpy(), forms.expected(q, k, v), np.dtype(dtype).name)
    assert uses_matrices(tiles, o.numpy(), q, k, v, ndrange=(2, 50))


def test_f32_is_never_rounded_for_it(rng):
    """Neither factors nor powers that the program keeps in f32."""

    @pk.jit
    def wide_powers(q, k, v):
        s = q.astype(pk.f32) @ k.astype(pk.f32).T
        e = pk.exp(s - s.max(axis=-1, keepdims=True))
        return e / e.sum(axis=-1, keepdims=True) @ v.astype(pk.f32)

    half, single = ([pk.spec((64, 16), t)] * 3 for t in (pk.f16, pk.f32))
    for program, specs in ((wide_powers, half), (wide_powers, single), (cpu.plain, [*single, 0.25])):
        assert not uses_matrices(program, *specs)
