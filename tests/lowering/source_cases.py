"""Kernels that are printed as source, each with arguments and what NumPy says."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import pykern as pk


@dataclass(frozen=True)
class SourceCase:
    """A kernel, how its arguments are made, its index space, and its first argument afterwards."""

    kernel: Any
    arguments: Callable[[np.random.Generator], tuple[Any, ...]]
    ndrange: tuple[int, ...]
    expected: Callable[..., np.ndarray]

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
def image(out, source, width, height):
    """As CUDA C++ has it: the first dimension lies along memory."""
    x, y = pk.index()
    if x < width and y < height:
        out[y * width + x] = source[y * width + x] + x - 3 * y


def image_by_numpy(out, source, width, height):
    y, x = np.divmod(np.arange(len(out)), width)
    return (source + (x - 3 * y).astype(np.float32)).astype(np.float32)


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


LIMITS = np.array(
    [
        0,
        1,
        -1,
        2,
        -2,
        7,
        1 << 31,
        -(1 << 31),
        (1 << 32) - 1,
        1 << 32,
        1 << 62,
        -(1 << 62),
        -(1 << 63),
        (1 << 63) - 1,
    ]
)


@pk.kernel
def wide(out, x, y):
    i, k = pk.index()
    a, b = x[i], y[i]
    one = pk.i64(1)
    value = a + b
    if k == 1:
        value = a - b
    if k == 2:
        value = a * b
    if k == 3:
        value = a // b
    if k == 4:
        value = a % b
    if k == 5:
        value = a << (b & 63)
    if k == 6:
        value = a >> (b & 63)
    if k == 7:
        value = (a & b) ^ (a | b)
    if k == 8:
        value = min(a, b) ^ (max(a, b) >> 1)
    if k == 9:
        value = one * (a < b) + 2 * (a <= b) + 4 * (a == b) + 8 * (a > b) + 16 * (a >= b) + 32 * (a != b)
    if k == 10:
        value = one * pk.i32(a) + pk.u32(b) * pk.i64(pk.i8(a)) + pk.u16(b)
    if k == 11:
        value = abs(a) - ~b
    if k == 12:
        value = pk.i64(pk.f32(a)) + pk.i64(pk.f32(b) / 1024)
    out[i, k] = value


def wide_by_numpy(out, x, y):
    rows = []
    with np.errstate(all="ignore"):
        quotient = np.where(y == 0, 0, np.floor_divide(x, np.where(y == 0, 1, y)))
        rest = np.where(y == 0, 0, np.remainder(x, np.where(y == 0, 1, y)))
        compared = (x < y) + 2 * (x <= y) + 4 * (x == y) + 8 * (x > y) + 16 * (x >= y) + 32 * (x != y)
        parts = (
            x.astype(np.int32)
            + y.astype(np.uint32) * x.astype(np.int8).astype(np.int64)
            + y.astype(np.uint16)
        )
        rows = [
            x + y, x - y, x * y, quotient, rest, x << (y & 63), x >> (y & 63), (x & y) ^ (x | y),
            np.minimum(x, y) ^ (np.maximum(x, y) >> 1), compared, parts, np.abs(x) - ~y,
            whole(x.astype(np.float32)) + whole(y.astype(np.float32) / np.float32(1024)),
        ]  # fmt: skip
    return np.stack(rows, axis=1).astype(np.int64)


def whole(x):
    """Floats as integers of 64 bits; beyond them the nearest."""
    return np.array([min(max(int(each), -(1 << 63)), (1 << 63) - 1) for each in x], np.int64)


def wide_arguments(g):
    x = np.concatenate([np.repeat(LIMITS, LIMITS.size), g.integers(-(1 << 63), (1 << 63) - 1, 60)])
    y = np.concatenate(
        [np.tile(LIMITS, LIMITS.size), g.integers(-(1 << 63), (1 << 63) - 1, 30) >> 20, g.integers(-9, 9, 30)]
    )
    return np.zeros((x.size, 13), np.int64), x, y


@pk.kernel
def halved(out, x, y):
    i = pk.index()
    out[i] = x[i] * y[i] + x[i]


def halved_by_numpy(out, x, y):
    with np.errstate(all="ignore"):
        return x * y + x


HALVES = np.array([0, -0.0, 1, -1, 6e-8, -6e-8, 6e-5, 65504, -65504, np.inf, -np.inf, np.nan], np.float16)


@pk.kernel
def turned(out, x):
    i = pk.index()
    out[i, 0] = math.sin(x[i])
    out[i, 1] = math.cos(x[i])
    out[i, 2] = math.tan(x[i])
    out[i, 3] = math.asinh(x[i])
    out[i, 4] = math.acosh(abs(x[i]) + 1)
    out[i, 5] = math.atanh(x[i] / (1 + 2 * abs(x[i])))


def turned_by_numpy(out, x):
    one, two, size = np.float32(1), np.float32(2), np.abs(x)
    with np.errstate(over="ignore"):
        below = (x / (one + two * size)).astype(np.float64)
    wide, above = x.astype(np.float64), (size + one).astype(np.float64)
    found = [np.sin(wide), np.cos(wide), np.tan(wide), np.arcsinh(wide), np.arccosh(above), np.arctanh(below)]
    return np.stack(found, axis=1).astype(np.float32)


def angles(g):
    """Small ones, next to quarter turns, and floats of any size."""
    any_size = g.integers(0, 0x7F800000, 300).astype(np.uint32).view(np.float32)
    x = np.concatenate([floats(g, 300), np.arange(-50, 50) * np.pi / 2, any_size, -any_size]).astype(
        np.float32
    )
    return np.zeros((x.size, 6), np.float32), x


@pk.kernel
def without_sign(out, x, seed: pk.i32):
    i = pk.index()
    value = pk.u64(x[i])
    out[i, 0] = pk.i32(value >> 32 & 0xFFFF)
    out[i, 1] = pk.i32(value % 7)
    out[i, 2] = pk.i32(value >> 40)
    out[i, 3] = pk.i32(value // 1099511627776)
    out[i, 4] = pk.i32(min(value, pk.u64(77)))
    out[i, 5] = pk.i32(value > 5)
    out[i, 6] = pk.i32(pk.u64(pk.i64(seed) + x[i] // 2) % 11)


def without_sign_by_numpy(out, x, seed):
    value = x.astype(np.int64).astype(np.uint64)
    last = (seed + (x.astype(np.int64) // 2)).astype(np.uint64) % np.uint64(11)
    columns = [
        value >> np.uint64(32) & np.uint64(0xFFFF), value % np.uint64(7), value >> np.uint64(40),
        value // np.uint64(1 << 40), np.minimum(value, np.uint64(77)), value > np.uint64(5), last,
    ]  # fmt: skip
    return np.stack([column.astype(np.int32) for column in columns], axis=1)


@pk.kernel
def bytes_added(bins, x):
    i = pk.index()
    pk.atomic_add(bins, pk.i32(x[i]) & 7, x[i])


def bytes_added_by_numpy(bins, x):
    bins = bins.copy()
    np.add.at(bins, x.astype(np.int32) & 7, x)
    return bins


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


@pk.kernel
def moved_bits(out, n):
    """What is known to be small has 64 bits all the same where that shows."""
    i = pk.index()
    small = pk.i64(n[i] % 100)
    out[i] = (pk.i64(1) << (n[i] % 60)) + 1000 * pk.clz(small)


def moved_bits_by_numpy(out, n):
    zeros = np.array([64 - int(v % 100).bit_length() for v in n])
    return (np.int64(1) << (n % 60).astype(np.int64)) + 1000 * zeros


@pk.kernel
def of_two(out, x, y):
    """What needs more digits than f32 has, on the way."""
    i = pk.index()
    out[i, 0] = abs(x[i]) ** y[i]
    out[i, 1] = abs(x[i]) ** 1.7 + abs(x[i]) ** -0.5 + abs(x[i]) ** 1.5
    out[i, 2] = math.atan2(y[i], x[i])
    out[i, 3] = math.hypot(x[i], y[i])
    out[i, 4] = math.cbrt(x[i])
    out[i, 5] = math.erfc(y[i])
    out[i, 6] = math.erf(y[i])
    out[i, 7] = math.expm1(y[i]) + math.log1p(abs(x[i]))


def of_two_by_numpy(out, x, y):
    x, y = x.astype(np.float64), y.astype(np.float64)
    size = abs(x)
    erf = np.array([math.erf(v) for v in y])
    erfc = np.array([math.erfc(v) for v in y])
    columns = [
        size**y, size ** np.float32(1.7) + size**-0.5 + size**1.5, np.arctan2(y, x), np.hypot(x, y), np.cbrt(x), erfc,
        erf, np.expm1(y) + np.log1p(size),
    ]  # fmt: skip
    return np.stack(columns, axis=1).astype(np.float32)


@pk.kernel
def rooted(out, n, m):
    i = pk.index()
    out[i, 0] = math.isqrt(n[i])
    out[i, 1] = math.isqrt(m[i])


def rooted_by_python(out, n, m):
    return np.array(
        [[math.isqrt(max(int(a), 0)), math.isqrt(int(b))] for a, b in zip(n, m, strict=True)], np.uint32
    )


def next_to_squares(g):
    roots = g.integers(0, 1 << 16, 400)
    m = np.concatenate([roots**2, roots[1:] ** 2 - 1, [0, (1 << 32) - 1]]).clip(0).astype(np.uint32)
    n = np.concatenate([(roots // 2) ** 2, (roots[1:] // 2) ** 2 - 1, [-5, (1 << 31) - 1]]).astype(np.int32)
    return np.zeros((m.size, 2), np.uint32), n, m


@pk.kernel
def complex_numbers(out, a, b):
    i = pk.index()
    out[i] = (a[i] * b[i] + 1j) / (b[i] + 3) + abs(a[i]) + np.sqrt(b[i])


def complexes(g):
    a, b = (floats(g, 60) + np.complex64(1j) * floats(g, 60) for _ in range(2))
    return np.zeros(60, np.complex64), a, b


@pk.kernel
def squared(out, scale: pk.f32):
    i, j = pk.index()
    c = scale * (j - 30) + 1j * (scale * (i - 20))
    z = 0 * c
    n = 0
    while abs(z) < 2 and n < 3:
        z = z * z + c
        n += 1
    out[i, j] = abs(z)


def squared_by_numpy(out, scale):
    i, j = np.mgrid[: out.shape[0], : out.shape[1]]
    c = np.float32(scale) * ((j - 30) + 1j * (i - 20))
    z = np.zeros(out.shape, complex)
    for _ in range(3):
        z = z * z + c
    return abs(z).astype(np.float32)


@pk.kernel
def chosen(out, x):
    """A list, generators, a row that a loop carries, and small matrices."""
    i = pk.index()
    powers = [x[i, 0] * k for k in range(4)]
    v = x[i, :2]
    for _ in range(3):
        v = v * 0.5 - v[::-1]
    m = np.array([[2 + abs(x[i, 0]), x[i, 1]], [x[i, 2], 3 + abs(x[i, 3])]])
    out[i, 0] = max(powers) + sum(x[i, k] * x[i, k] for k in range(x.shape[1]))
    out[i, 1] = any(x[i, k] > 1 for k in range(5)) + 2 * all(x[i, k] > -1 for k in range(5))
    out[i, 2] = v[0] + 2 * v[1]
    out[i, 3] = np.linalg.det(m) + np.median(x[i])
    out[i, 4] = (m @ x[i, 3:5])[1] + np.argmax(x[i])


def chosen_by_numpy(out, x):
    v = x[:, :2]
    for _ in range(3):
        v = v * np.float32(0.5) - v[:, ::-1]
    a, b, c, d = 2 + abs(x[:, 0]), x[:, 1], x[:, 2], 3 + abs(x[:, 3])
    rows = [
        np.maximum(0, 3 * x[:, 0]) + (x * x).sum(1), (x > 1).any(1) + 2 * (x > -1).all(1), v[:, 0] + 2 * v[:, 1],
        a * d - b * c + np.median(x, 1), c * x[:, 3] + d * x[:, 4] + x.argmax(1),
    ]  # fmt: skip
    return np.stack(rows, axis=1).astype(np.float32)


@pk.kernel
def picked(out, u, rate):
    """Loads of one side, and floats of Python's that are only chosen, which languages without f64 choose in 32 bits."""
    i, j, k = pk.index()
    level = 1.0 if u[i, j, k] < 0 else (2.5 if u[i, j, k] < 1 else 3.0)
    sign = 1.0
    for n in range(3):
        if u[i, j, k] > n:
            sign = -sign
    if k == 0:
        low, high = 0.1, 0.2
    else:
        low, high = (0.3, 0.4) if k < 3 else (0.5, 0.6)
    out[i, j, k] = (
        rate * u[i, j, k] + (u[i - 1, j, k] if i > 0 else 0.0) + u[i, j, (k + 1) % u.shape[2]] * level
    )
    out[i, j, k] += sign * (low + u[i, j, k]) + high * u[i, j, k]


def picked_by_numpy(out, u, rate):
    one = np.float32
    level = np.where(u < 0, one(1), np.where(u < 1, one(2.5), one(3)))
    sign = np.where(((u > 0).astype(int) + (u > 1) + (u > 2)) % 2, one(-1), one(1))
    k = np.arange(u.shape[2])
    low, high = (
        np.select([k == 0, k < 3], list(map(one, each)), one(last))
        for each, last in (((0.1, 0.3), 0.5), ((0.2, 0.4), 0.6))
    )
    before = np.concatenate([np.zeros_like(u[:1]), u[:-1]])
    return one(rate) * u + before + np.roll(u, -1, 2) * level + sign * (low + u) + high * u


CASES = {
    "choices": SourceCase(
        picked,
        lambda g: (np.zeros((5, 6, 7), np.float32), floats(g, 5, 6, 7), 0.5),
        (5, 6, 7),
        picked_by_numpy,
    ),
    "functions of two numbers": SourceCase(
        of_two,
        lambda g: (np.zeros((500, 8), np.float32), 3 * floats(g, 500), 2 * floats(g, 500)),
        (500,),
        of_two_by_numpy,
    ),
    "roots of integers": SourceCase(rooted, next_to_squares, (801,), rooted_by_python),
    "complex numbers": SourceCase(
        complex_numbers, complexes, (60,), lambda out, a, b: (a * b + 1j) / (b + 3) + abs(a) + np.sqrt(b)
    ),
    "a loop of complex numbers": SourceCase(
        squared, lambda g: (np.zeros((37, 50), np.float32), 0.0117), (37, 50), squared_by_numpy
    ),
    "lists and small matrices": SourceCase(
        chosen, lambda g: (np.zeros((70, 5), np.float32), floats(g, 70, 5)), (70,), chosen_by_numpy
    ),
    "numbers below 0 without a sign": SourceCase(
        without_sign,
        lambda g: (
            np.zeros((40, 7), np.int32),
            np.concatenate([integers(g, 33), [-5, 3, 0, -1, 1, -(1 << 31), (1 << 31) - 1]]).astype(np.int32),
            -5,
        ),
        (40,),
        without_sign_by_numpy,
    ),
    "stencil": SourceCase(
        diffused, lambda g: (floats(g, 37, 50), floats(g, 37, 50), 0.1), (37, 50), diffused_by_numpy
    ),
    "product": SourceCase(
        products,
        lambda g: (floats(g, 17, 43), floats(g, 17, 31), floats(g, 31, 43)),
        (17, 43),
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
    ),
    "i64": SourceCase(wide, wide_arguments, (LIMITS.size**2 + 60, 13), wide_by_numpy),
    "f16": SourceCase(
        halved,
        lambda g: (
            np.zeros(300, np.float16),
            np.concatenate([HALVES, g.integers(0, 1 << 16, 288).astype(np.uint16).view(np.float16)]),
            np.concatenate([HALVES[::-1], g.standard_normal(288).astype(np.float16)]),
        ),
        (300,),
        halved_by_numpy,
    ),
    "angles": SourceCase(turned, angles, (1000,), turned_by_numpy),
    "atomic bytes": SourceCase(
        bytes_added,
        lambda g: (np.zeros(8, np.int8), g.integers(-128, 128, 500).astype(np.int8)),
        (500,),
        bytes_added_by_numpy,
    ),
    "wide shifts": SourceCase(
        moved_bits,
        lambda g: (np.zeros(40, np.int64), g.integers(0, 200, 40).astype(np.int32)),
        (40,),
        moved_bits_by_numpy,
    ),
    "reserved names": SourceCase(
        named_as_words,
        lambda g: (floats(g, 12), floats(g, 12), floats(g, 12), 3.0),
        (12,),
        lambda kernel, local, words, target: (local + words) * np.float32(target),
    ),
    "an image": SourceCase(
        image,
        lambda g: (np.zeros(37 * 21, np.float32), floats(g, 37 * 21), 37, 21),
        (48, 32),
        image_by_numpy,
    ),
}
