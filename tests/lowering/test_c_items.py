"""Exported C in which work-items run their loops side by side: blocks of all kinds, and what is left over."""

from __future__ import annotations

import ctypes
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pykern as pk
from tests.lowering.source_runs import c_compiler, compiled_c

NUMBERS = {"f32": ctypes.c_float, "i64": ctypes.c_int64}


@pk.kernel
def product(out, a, b, scale: pk.f32):
    i, j = pk.index()
    total = pk.f32(0)
    for k in range(a.shape[1]):
        total += a[i, k] * b[k, j]
    out[i, j] = scale * total + out[i, j]


@pk.kernel
def forces(out, x, soft: pk.f32):
    i = pk.index()
    total, least = pk.f32(0), pk.f32(9)
    for j in range(x.shape[0]):
        away = x[j] - x[i]
        total += away / (away * away + soft)
        least = min(least, abs(away) + soft)
    out[i] = total + least


@pk.kernel
def steps(out, x, factor: pk.f32):
    i = pk.index()
    n, count = pk.i64(x[i]), pk.i32(0)
    while n > 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        count += 1
    out[i] = count + n


@pk.kernel
def halvings(out, x, limit: pk.f32):
    i, j = pk.index()
    value = x[i, j]
    rounds = pk.f32(0)
    while (size := abs(value) * 2) > limit and rounds < 30:
        value = value / 2
        rounds += 1
    out[i, j] = rounds * 100 + size


def run(kernel: Any, *arguments: Any, known: bool, ndrange: tuple[int, ...], flags: tuple[str, ...]) -> str:
    """The kernel in C with lengths that are known, or not; gives the text."""
    arrays = [each for each in arguments if isinstance(each, np.ndarray)]
    specs = [
        pk.spec(each.shape if known else (None,) * each.ndim, {"f": pk.f32, "i": pk.i32}[each.dtype.kind])
        for each in arrays
    ]
    made = pk.export(
        kernel,
        *specs,
        *arguments[len(arrays) :],
        form="c",
        ndrange=ndrange if known else (None,) * len(ndrange),
    )
    function = getattr(compiled_c(made.text, kernel.__name__, flags), kernel.__name__)
    passed: list[Any] = []
    for each in arrays:
        passed.append(ctypes.c_void_p(each.ctypes.data))
        if not known:
            passed += [ctypes.c_int64(n) for n in each.shape]
    passed += [ctypes.c_float(each) for each in arguments[len(arrays) :]]
    function(*passed, *(() if known else (ctypes.c_int64(n) for n in ndrange)))
    return made.text


FLAGS = (
    "-std=c11",
    "-O3",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-fsanitize=undefined,bounds",
    "-fno-sanitize-recover",
)
KNOWN = pytest.mark.parametrize("known", [True, False], ids=["known", "open"])
REPEATED = pytest.mark.sweep("known")
"""Each case with lengths that are known, or with others; the rest is slow."""


@pytest.fixture(autouse=True)
def compiler() -> None:
    if c_compiler() is None:
        pytest.skip("no compiler of C: cc, gcc or clang")


@REPEATED
@KNOWN
@pytest.mark.parametrize("shape", [(16, 64, 45), (9, 33, 47), (8, 45, 43), (3, 50, 36), (40, 5, 0)])
def test_products(shape: tuple[int, int, int], known: bool, rng: np.random.Generator) -> None:
    n, m, inner = shape
    a, b, out = (rng.standard_normal(each).astype(np.float32) for each in ((n, inner), (inner, m), (n, m)))
    expected = 0.5 * (a.astype(np.float64) @ b) + out
    text = run(product, out, a, b, 0.5, known=known, ndrange=(n, m), flags=FLAGS)
    np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-5)
    assert ("float total[" in text) == (not known or m >= 32)


@REPEATED
@KNOWN
@pytest.mark.parametrize("length", [77, 32, 31, 0])
def test_sums_over_all_others(length: int, known: bool, rng: np.random.Generator) -> None:
    x, out = rng.standard_normal((2, length)).astype(np.float32)
    text = run(forces, out, x, 0.5, known=known, ndrange=(length,), flags=FLAGS)
    away = x[None, :].astype(np.float64) - x[:, None]
    least = np.minimum(np.abs(away).min(axis=1, initial=9) + 0.5, 9)
    np.testing.assert_allclose(out, (away / (away**2 + 0.5)).sum(axis=1) + least, rtol=1e-4, atol=1e-4)
    assert ("float total[" in text) == (not known or length >= 32)


@REPEATED
@KNOWN
@pytest.mark.parametrize("length", [128, 100, 3])
def test_loops_that_end_differently(length: int, known: bool, rng: np.random.Generator) -> None:
    def count(n: int) -> int:
        rounds = 0
        while n > 1:
            n, rounds = (n // 2 if n % 2 == 0 else 3 * n + 1), rounds + 1
        return rounds + n

    x = rng.integers(-3, 1000, length).astype(np.int32)
    out = np.zeros(length, np.int32)
    run(steps, out, x, 1.0, known=known, ndrange=(length,), flags=FLAGS)
    np.testing.assert_array_equal(out, [count(int(n)) for n in x])


@REPEATED
@KNOWN
@pytest.mark.parametrize("shape", [(3, 64), (2, 97)])
def test_what_a_condition_computes(shape: tuple[int, int], known: bool, rng: np.random.Generator) -> None:
    """It is what it was when the work-item's own loop ended; numbers that are none end none of the others."""
    x = (rng.standard_normal(shape) * 1e4).astype(np.float32)
    x.ravel()[::7] = np.nan
    out = np.zeros(shape, np.float32)
    text = run(halvings, out, x, 0.75, known=known, ndrange=shape, flags=FLAGS)
    value, rounds = x.copy(), np.zeros(shape, np.float32)
    while (going := np.abs(value) * 2 > np.float32(0.75)).any():
        value, rounds = np.where(going, value / 2, value), rounds + going
    np.testing.assert_array_equal(out, rounds * 100 + np.abs(value) * 2)
    assert ("going" in text) == (not known or shape[1] >= 64)


@pk.kernel
def drawn(out, x, seed: pk.i32):
    i = pk.index()
    total = pk.f32(0)
    for k in range(x.shape[0]):
        total += x[pk.i32(pk.random(seed, i + k) * x.shape[0])]
    out[i] = total


def test_elements_at_places_that_many_numbers_make(rng: np.random.Generator) -> None:
    """Each is a neighbour of none: the loops stay, and it takes no time to see it."""
    x, out, expected = rng.standard_normal((3, 70)).astype(np.float32)
    drawn(expected, x, -4, ndrange=70)
    text = pk.export(drawn, *(pk.spec((70,), pk.f32) for _ in range(2)), -4, form="c", ndrange=70).text
    run_it = compiled_c(text, "drawn", FLAGS).drawn
    run_it(ctypes.c_void_p(out.ctypes.data), ctypes.c_void_p(x.ctypes.data), ctypes.c_int32(-4))
    np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-5)
    assert "float total[" not in text


@pytest.mark.slow
def test_long_chains_in_front_of_a_loop(tmp_path: Path) -> None:
    """What a work-item computes first is computed again for each part of a block, however long it is."""
    lines = ["        value = value * pk.f32(0.5) + x[i]"] * 1200
    (tmp_path / "long.py").write_text(
        "\n".join(
            [
                "import pykern as pk",
                "@pk.kernel",
                "def chain(out, x):",
                "    i = pk.index()",
                "    value = x[i]",
                *(line[4:] for line in lines),
                "    while value > 1:",
                "        value = value * pk.f32(0.25)",
                "    out[i] = value",
            ]
        )
    )
    kernel = runpy.run_path(str(tmp_path / "long.py"))["chain"]
    x = np.linspace(0, 9, 64, dtype=np.float32)
    out = np.zeros_like(x)
    run(kernel, out, x, known=True, ndrange=(64,), flags=("-std=c11", "-O1"))
    value = 2 * x
    while (going := value > 1).any():
        value = np.where(going, value * np.float32(0.25), value)
    np.testing.assert_allclose(out, value, rtol=1e-5)
