"""Attention on devices: one kernel, whatever the sizes, masks and forms. Against NumPy in f64."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
import pykern.library as pl
from tests.cases.row_programs import launches
from tests.programs import test_attention as cpu
from tests.programs import test_attention_forms as forms

over_devices = pytest.mark.parametrize(
    "device", ["opencl:0", "vulkan:0", "webgpu:0", "cuda:emulated"], indirect=True
)
over_two = pytest.mark.parametrize("device", ["opencl:0", "cuda:emulated"], indirect=True)
LONG = [(32, 32, 8, 8), (33, 100, 3, 5), (40, 33, 16, 130)]
SIZES = [(49, 257, 17, 31), (70, 40, 40, 1), *(pytest.param(*size, marks=pytest.mark.slow) for size in LONG)]
"""Queries, keys, depth and width."""


def on(device, program, *arrays, **options):
    given = [pk.asarray(a, device=device) if isinstance(a, np.ndarray) else a for a in arrays]
    return program(*given, **options).numpy()


def normal(rng, *shapes, dtype: type = np.float32):
    return [rng.standard_normal(shape).astype(dtype) for shape in shapes]


@pytest.mark.parametrize(
    "device", ["opencl:0", "vulkan:0", "webgpu:0", "cuda:emulated", "rocm:emulated"], indirect=True
)
@pytest.mark.parametrize(("queries", "keys", "depth", "width"), SIZES)
def test_sizes(rng, device, queries, keys, depth, width):
    q, k, v = normal(rng, (queries, depth), (keys, depth), (keys, width))
    assert launches(cpu.plain, q, k, v, 0.3) == 1
    cpu.close(on(device, cpu.plain, q, k, v, 0.3), cpu.expected(q, k, v, 0.3), "float32")


@over_two
@pytest.mark.parametrize("width", [64, 520])
def test_wide_results_and_f64(rng, device, width):
    """Cut into columns where a group does not hold them all."""
    q, k, v = normal(rng, (2, 1, 40, 20), (2, 1, 70, 20), (2, 1, 70, width), dtype=np.float64)
    cpu.close(on(device, cpu.heads, q, k, v, 0.2), cpu.expected(q, k, v, 0.2), "float64")


@over_devices
@pytest.mark.parametrize(
    ("queries", "keys"), [(100, 130), pytest.param(33, 333, marks=pytest.mark.slow), (130, 100)]
)
def test_causal(rng, device, queries, keys):
    q, k, v = normal(rng, (1, 2, queries, 16), (1, 2, keys, 16), (1, 2, keys, 16))
    mask = np.arange(queries)[:, None] >= np.arange(keys)[None, :]
    k[:, :, queries + 32 :] = np.nan  # in blocks that no query meets
    have = on(device, cpu.causal, q, k, v, 0.25)
    cpu.close(have, cpu.expected(q, np.nan_to_num(k), v, 0.25, mask), "float32")


@over_devices
@pytest.mark.parametrize("window", [16, (30, 5), (5, -1)])
def test_windows_of_the_library(rng, device, window):
    """Blocks of keys before all windows are not looked at either."""
    q, k, v = normal(rng, (1, 2, 150, 16), (1, 1, 250, 16), (1, 1, 250, 24))
    distance = np.arange(250) - (100 + np.arange(150))[:, None]
    before, behind = (window - 1, window - 1) if isinstance(window, int) else window
    mask = (distance >= -before) & (distance <= (behind if behind >= 0 else 250))
    k[:, :, :64] = np.nan
    have = on(device, pl.flash_attention, q, k, v, window=window)
    cpu.close(have, cpu.expected(q, np.nan_to_num(k), v, 0.25, mask), "float32")


@over_two
def test_scores_of_any_form(rng, device):
    q, k, v = normal(rng, (2, 2, 70, 16), (2, 2, 90, 16), (2, 2, 90, 16))
    bias, allowed = rng.standard_normal((70, 90)).astype(np.float32), rng.random((2, 90)) < 0.7
    s = 5.0 * np.tanh(q.astype(np.float64) @ np.swapaxes(k, -1, -2) / 5.0) + bias
    right = cpu.softmax(np.where(allowed[:, None, None, :], s, -np.inf)) @ v.astype(np.float64)
    cpu.close(on(device, cpu.capped, q, k, v, bias, allowed), right, "float32")


@over_devices
@pytest.mark.parametrize("program", [*forms.WITH_MAXIMUM, *forms.WITHOUT])
def test_forms(rng, device, program):
    inputs = forms.arrays(rng, "float32")
    forms.close(on(device, program, *inputs), forms.expected(*inputs), "float32")
    assert launches(program, *inputs) == (2 if program is forms.scaled_before else 1)


@pytest.mark.parametrize("device", ["opencl:0", "vulkan:0", "cuda:emulated"], indirect=True)
def test_floats_of_16_bits_are_read_and_written_as_they_are(rng, device):
    q, k, v = normal(rng, (2, 4, 40, 16), (2, 2, 50, 16), (2, 2, 50, 16), dtype=np.float16)
    have = on(device, pl.flash_attention, q, k, v)
    forms.close(have, cpu.expected(q, np.repeat(k, 2, axis=1), np.repeat(v, 2, axis=1), 0.25), "float16")
    assert launches(pl.flash_attention, *(pk.spec(a.shape, pk.f16) for a in (q, k, v))) == 1


@over_two
def test_heads_that_share_keys_and_lie_behind_the_sequence(rng, device):
    q, k, v = normal(rng, (2, 2, 4, 50, 32), (2, 2, 70, 32), (2, 2, 70, 32))
    cpu.close(
        on(device, cpu.grouped, q, k, v, 0.2), cpu.expected(q, k[:, :, None], v[:, :, None], 0.2), "float32"
    )
    q, k, v = normal(rng, *[(2, 60, 3, 16)] * 3)
    have = on(device, cpu.sequence_first, q, k, v, 0.2)
    q, k, v = (np.swapaxes(a, 1, 2) for a in (q, k, v))
    cpu.close(have, np.swapaxes(cpu.expected(q, k, v, 0.2), 1, 2), "float32")


@over_devices
@pytest.mark.parametrize("allowed_from", [0, 200, 300])
def test_masked_from_the_start(rng, device, allowed_from):
    """Whole blocks of keys that are masked, and at last all of them: NaN, as NumPy has it."""
    q, k, v = normal(rng, (1, 1, 40, 16), (1, 1, 300, 16), (1, 1, 300, 16))
    allowed = np.arange(300)[None, :] >= allowed_from
    s = 5.0 * np.tanh(q.astype(np.float64) @ np.swapaxes(k, -1, -2) / 5.0)
    right = cpu.softmax(np.where(allowed[:, None, None, :], s, -np.inf)) @ v.astype(np.float64)
    have = on(device, cpu.capped, q, k, v, np.zeros((40, 300), np.float32), allowed)
    np.testing.assert_allclose(have, right, rtol=0, atol=3e-6)


@over_devices
@pytest.mark.parametrize("special", [np.nan, np.inf])
def test_special_values_stay_in_their_row(rng, device, special):
    q, k, v = normal(rng, *[(64, 8)] * 3)
    q[5, 3] = special
    with np.errstate(invalid="ignore"):
        right = cpu.expected(q, k, v, 0.3)
    have = on(device, cpu.plain, q, k, v, 0.3)
    np.testing.assert_array_equal(np.isnan(have), np.isnan(right))
    np.testing.assert_allclose(np.nan_to_num(have), np.nan_to_num(right), atol=3e-6)


@over_two
def test_gradients(rng, device):
    """Of the library, whose derivative keeps no scores, and of a program."""
    arrays = normal(rng, *[(1, 2, 40, 16)] * 3)

    @pk.jit
    def loss(q, k, v):
        o = cpu.heads(q, k, v, 0.3)
        return (o * o * o).sum()

    want = pk.grad(loss, argnums=(0, 1, 2))(*(a.astype(np.float64) for a in arrays))
    have = pk.grad(loss, argnums=(0, 1, 2))(*(pk.asarray(a, device=device) for a in arrays))
    for a, b in zip(have, want, strict=True):
        np.testing.assert_allclose(a.numpy(), b, rtol=0, atol=2e-5)
