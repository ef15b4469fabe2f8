"""Kernels that are printed as source, each with arguments and what NumPy says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import pykern as pk


@dataclass(frozen=True)
class SourceCase:
    """A kernel, how its arguments are made, its index space, and its first argument afterwards.

    `wide`: it computes with integers of 64 bits, which WGSL has not.
    """

    kernel: Any
    arguments: Callable[[np.random.Generator], tuple[Any, ...]]
    ndrange: tuple[int, ...]
    expected: Callable[..., np.ndarray]
    wide: bool = False

    @property
    def lacking(self) -> tuple[str, ...]:
        """Languages that cannot say it."""
        return ("wgsl",) if self.wide else ()

    def given(self) -> tuple[Any, ...]:
        """The arguments, the same at each call."""
        return self.arguments(np.random.default_rng(7))


def floats(generator: np.random.Generator, *shape: int) -> np.ndarray:
    return generator.standard_normal(shape).astype(np.float32)


def integers(generator: np.random.Generator, *shape: int) -> np.ndarray:
    return generator.integers(-(1 << 31), 1 << 31, shape).astype(np.int32)


@pk.kernel
def diffused(out, u, rate):
    i, j = pk.index()
    if 0 < i < u.shape[0] - 1 and 0 < j < u.shape[1] - 1:
        out[i, j] = u[i, j] + rate * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4 * u[i, j])


def diffused_by_numpy(out, u, rate):
    out = out.copy()
    inner = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1]
    out[1:-1, 1:-1] = u[1:-1, 1:-1] + np.float32(rate) * inner
    return out


@pk.kernel
def products(c, a, b):
    i, j = pk.index()
    total = pk.f32(0)
    for k in range(a.shape[1]):
        total += a[i, k] * b[k, j]
    c[i, j] = total


@pk.kernel(workgroup=32)
def group_maxima(out, x):
    row = pk.group_index()
    largest = pk.f32(-np.inf)
    for j in range(pk.local_index(), x.shape[1], 32):
        largest = max(largest, x[row, j])
    out[row] = pk.group_reduce(largest, "max")


@pk.kernel
def collatz(steps, n):
    i = pk.index()
    value = n[i]
    count = pk.i32(0)
    while value != 1 and count < 200:
        value = value // 2 if value % 2 == 0 else 3 * value + 1
        count += 1
    steps[i] = count


def collatz_by_python(steps, n):
    def count(value: int) -> int:
        number = 0
        while value != 1 and number < 200:
            value = value // 2 if value % 2 == 0 else 3 * value + 1
            number += 1
        return number

    return np.array([count(int(v)) for v in n], np.int32)


@pk.kernel
def swapped(out, x, rounds):
    i = pk.index()
    a, b = x[i], x[i] + 1
    for _ in range(rounds):
        a, b = b, a + b
    out[i] = a


def swapped_by_numpy(out, x, rounds):
    a, b = x.copy(), x + 1
    for _ in range(rounds):
        a, b = b, a + b
    return a


@pk.kernel
def wrapping(out, a, b):
    i = pk.index()
    out[i] = (a[i] * b[i] - 7) ^ (a[i] + b[i])


def wrapping_by_numpy(out, a, b):
    with np.errstate(over="ignore"):
        return (a * b - np.int32(7)) ^ (a + b)


@pk.kernel
def divided(out, a, b):
    i = pk.index()
    out[i] = a[i] // b[i] + a[i] % b[i]


def divided_by_numpy(out, a, b):
    with np.errstate(all="ignore"):
        return a // b + a % b


@pk.kernel
def counted(bins, x):
    i = pk.index()
    pk.atomic_add(bins, x[i] & 7, 1)


@pk.kernel
def summed(sums, x):
    i = pk.index()
    pk.atomic_add(sums, i % 3, x[i])


@pk.kernel
def left_early(out, x):
    i = pk.index()
    if x[i] < 0:
        return
    kept = pk.private((3,), pk.f32)
    for k in range(3):
        kept[k] = x[i] * (k + 1)
    total = pk.f32(0)
    for k in range(3):
        if k == 1:
            continue
        total += kept[2 - k]
    out[i] = total


@pk.kernel
def small_integers(out, a, b):
    i = pk.index()
    out[i] = a[i] * b[i] + 100


def small_integers_by_numpy(out, a, b):
    with np.errstate(over="ignore"):
        return a * b + np.int8(100)


@pk.kernel
def either(out, x, mask):
    i = pk.index()
    out[i] = x[i] > 0 or mask[i]


@pk.kernel
def waves(out, x):
    i = pk.index()
    out[i] = pk.sin(x[i]) * pk.exp(-x[i] * x[i]) + pk.log(1 + abs(x[i])) + pk.sqrt(abs(x[i])) + pk.tanh(x[i])


@pk.kernel
def kept_apart(out, x):
    i = pk.index()
    out[i] = 1.0 if x[i] != x[i] else (x[i] + pk.f32(12582912.0)) - pk.f32(12582912.0)


def kept_apart_by_numpy(out, x):
    magic = np.float32(12582912.0)
    return np.where(np.isnan(x), np.float32(1), (x + magic) - magic)


@pk.kernel
def scrambled(out, seeds, rounds):
    i = pk.index()
    state = seeds[i]
    for _ in range(rounds):
        state = state * 6364136223846793005 + 1442695040888963407
        state = state ^ (state >> 33)
    out[i] = state // 7 + state % 11


def scrambled_by_numpy(out, seeds, rounds):
    state = seeds.copy()
    with np.errstate(over="ignore"):
        for _ in range(rounds):
            state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
            state = state ^ (state >> np.uint64(33))
    return state // np.uint64(7) + state % np.uint64(11)


@pk.kernel
def named_as_words(kernel, local, words, target):
    half = pk.index()
    int_ = local[half] + words[half]
    kernel[half] = int_ * target


CASES = {
    "stencil": SourceCase(
        diffused, lambda g: (floats(g, 37, 50), floats(g, 37, 50), 0.1), (37, 50), diffused_by_numpy
    ),
    "product": SourceCase(
        products,
        lambda g: (floats(g, 17, 23), floats(g, 17, 31), floats(g, 31, 23)),
        (17, 23),
        lambda c, a, b: a @ b,
    ),
    "group reduction": SourceCase(
        group_maxima, lambda g: (floats(g, 9), floats(g, 9, 70)), (9 * 32,), lambda out, x: x.max(1)
    ),
    "while": SourceCase(
        collatz,
        lambda g: (np.zeros(100, np.int32), g.integers(1, 1000, 100).astype(np.int32)),
        (100,),
        collatz_by_python,
    ),
    "exchange": SourceCase(
        swapped,
        lambda g: (np.zeros(77, np.int32), g.integers(-9, 9, 77).astype(np.int32), 7),
        (77,),
        swapped_by_numpy,
    ),
    "wrapping": SourceCase(
        wrapping, lambda g: (integers(g, 300), integers(g, 300), integers(g, 300)), (300,), wrapping_by_numpy
    ),
    "division": SourceCase(
        divided,
        lambda g: (integers(g, 300), integers(g, 300), g.integers(-9, 9, 300).astype(np.int32)),
        (300,),
        divided_by_numpy,
    ),
    "atomic counts": SourceCase(
        counted,
        lambda g: (np.zeros(8, np.int32), integers(g, 999)),
        (999,),
        lambda bins, x: np.bincount(x & 7, minlength=8),
    ),
    "atomic floats": SourceCase(
        summed,
        lambda g: (np.zeros(3, np.float32), g.integers(-9, 9, 500).astype(np.float32)),
        (500,),
        lambda sums, x: np.array([x[k::3].sum() for k in range(3)]),
    ),
    "early return": SourceCase(
        left_early,
        lambda g: (floats(g, 90), floats(g, 90)),
        (90,),
        lambda out, x: np.where(x < 0, out, 4 * x),
    ),
    "i8": SourceCase(
        small_integers,
        lambda g: tuple(g.integers(-128, 128, 61).astype(np.int8) for _ in range(3)),
        (61,),
        small_integers_by_numpy,
    ),
    "bool": SourceCase(
        either,
        lambda g: (np.zeros(61, bool), floats(g, 61), floats(g, 61) > 1),
        (61,),
        lambda out, x, mask: (x > 0) | mask,
    ),
    "functions": SourceCase(
        waves,
        lambda g: (floats(g, 200), floats(g, 200)),
        (200,),
        lambda out, x: np.sin(x) * np.exp(-x * x) + np.log(1 + abs(x)) + np.sqrt(abs(x)) + np.tanh(x),
    ),
    "rounding": SourceCase(
        kept_apart,
        lambda g: (floats(g, 64), np.where(np.arange(64) % 9 == 0, np.float32(np.nan), 100 * floats(g, 64))),
        (64,),
        kept_apart_by_numpy,
    ),
    "u64": SourceCase(
        scrambled,
        lambda g: (np.zeros(8, np.uint64), g.integers(0, 1 << 63, 8).astype(np.uint64), 5),
        (8,),
        scrambled_by_numpy,
        wide=True,
    ),
    "reserved names": SourceCase(
        named_as_words,
        lambda g: (floats(g, 12), floats(g, 12), floats(g, 12), 3.0),
        (12,),
        lambda kernel, local, words, target: (local + words) * np.float32(target),
    ),
}
