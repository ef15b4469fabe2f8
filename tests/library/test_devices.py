"""Every function of the library on every kind of device, values and gradients, against the same in f64 on the
processor, which `test_against_torch` and `test_layers` hold against PyTorch and NumPy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import pykern as pk
from pykern import library as pl

DEVICES = [
    "cuda:emulated:80", "rocm:emulated:gfx942", "cuda:emulated:90", "rocm:emulated:gfx1100", "opencl:0", "vulkan:0",
    "metal:emulated:0",
]  # fmt: skip
RNG = np.random.default_rng(12)
NUMBERS = RNG.integers(-128, 128, (7, 12)).astype(np.int8)


def real(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype("f")


@pk.jit
def causal(q, k, v):
    return pl.flash_attention(q, k, v, causal=True)


@pk.jit
def windowed(q, k, v, bias):
    return pl.flash_attention(q, k, v, bias=bias, window=(7, 2), softcap=3.0)


@pk.jit
def sequences(q, k, v, ends):
    return pl.varlen_attention(q, k, v, ends, causal=True)


@pk.jit
def decoding(q, k, v, table, lengths):
    return pl.paged_attention(q, k, v, table, lengths, window=6)


@pk.jit
def rope(x, weight, cos, sin):
    return pl.rmsnorm_rope(x, weight, cos, sin, head_dim=8)


@pk.jit
def groups(x, weight, bias):
    return pl.group_norm(x, 3, weight, bias)


@pk.jit
def dropped(x):
    return pl.softmax_dropout(x, 0.25, seed=3)


@pk.jit
def loss(x, weight, target):
    return pl.linear_cross_entropy(x, weight, target)


@pk.jit
def looked_up(weight, indices):
    return pl.embedding(indices, weight)


@pk.jit
def of_8_bits(x, scale, numbers):
    return pl.quantised_linear(x, numbers, scale)


@pk.jit
def of_4_bits(x, scale, numbers):
    return pl.quantised_linear(x, numbers, scale, bits=4)


@pk.jit
def step(p, g, first, second):
    (moved,), (mean,), (square,) = pl.adamw([p], [g], [first], [second], step=3, lr=0.1)
    return moved, mean, square


CASES: dict[str, tuple[Callable, list[np.ndarray]]] = {
    "swiglu": (pl.swiglu, [real(3, 17), real(3, 17)]),
    "group_norm": (groups, [real(2, 6, 4, 5), real(6), real(6)]),
    "residual_layernorm": (pl.residual_layernorm, [real(4, 33), real(4, 33), real(33), real(33)]),
    "linear_cross_entropy": (loss, [real(5, 6), real(11, 6), np.array([0, 3, -100, 8, 1])]),
    "embedding": (looked_up, [real(10, 4), np.array([1, 1, 2, 0, 9])]),
    "adamw": (step, [real(7, 5), real(7, 5), real(7, 5), abs(real(7, 5))]),
    "quantised_linear": (of_8_bits, [real(3, 12), real(7, 3), NUMBERS]),
    "geglu": (pl.geglu, [real(3, 17), real(3, 17)]),
    "swiglu_linear": (pl.swiglu_linear, [real(2, 3, 9), real(7, 9), real(7, 9)]),
    "layernorm_linear": (pl.layernorm_linear, [real(2, 5, 33), real(33), real(33), real(7, 33), real(7)]),
    "residual_rmsnorm": (pl.residual_rmsnorm, [real(4, 33), real(4, 33), real(33)]),
    "rmsnorm_rope": (rope, [real(2, 5, 24), real(24), real(5, 4), real(5, 4)]),
    "softmax_dropout": (dropped, [real(7, 19)]),
    "grouped_linear": (pl.grouped_linear, [real(10, 6), real(3, 5, 6), np.array([3, 3, 9])]),
    "weights of 4 bits": (of_4_bits, [real(3, 24), real(7, 3), NUMBERS]),
    "flash_attention": (causal, [real(1, 4, 37, 8), real(1, 2, 37, 8), real(1, 2, 37, 8)]),
    "attention with a bias": (
        windowed,
        [real(1, 2, 9, 8), real(1, 2, 30, 8), real(1, 2, 30, 8), real(2, 9, 30)],
    ),
    "varlen_attention": (sequences, [real(37, 2, 8), real(37, 2, 8), real(37, 2, 8), np.array([0, 5, 37])]),
    "paged_attention": (
        decoding,
        [real(2, 2, 8), real(4, 4, 2, 8), real(4, 4, 2, 8), np.array([[0, 2], [1, 3]]), np.array([7, 5])],
    ),
}
QUICK = list(CASES)[:7]
"""One for each device; the others are slow."""


def found_by(function: Callable, arguments: list, place: Callable) -> list[np.ndarray]:
    """Values, and gradients by arrays of floats, for weights that are all different."""
    values, pull = pk.vjp(function, *map(place, arguments))
    is_tuple = isinstance(values, tuple)
    leaves = list(values) if is_tuple else [values]
    weights = [np.linspace(-1, 2, int(np.prod(y.shape))).reshape(y.shape) for y in leaves]
    short = arguments[0].dtype
    given = [place(w.astype(short)) for w in weights]
    gradients = pull(tuple(given) if is_tuple else given[0])
    by_floats = [g for g, x in zip(gradients, arguments, strict=True) if x.dtype == short]
    return [x.numpy() if isinstance(x, pk.Array) else np.asarray(x) for x in (*leaves, *by_floats)]


@pytest.mark.parametrize("device", DEVICES, indirect=True)
@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in CASES]
)
def test_values_and_gradients(device, name):
    function, arguments = CASES[name]
    wide = [x.astype("d") if x.dtype == np.float32 else x for x in arguments]
    expected = found_by(function, wide, lambda x: x)
    found = found_by(function, arguments, lambda x: pk.array(x, device=device))
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == np.float32
        np.testing.assert_allclose(one, other, rtol=2e-5, atol=2e-6 * max(1.0, np.abs(other).max()))
