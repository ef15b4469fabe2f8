"""Reductions and products of arrays against NumPy, also in sizes that fit no vector and no thread."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from pykern.runtime.cpu_table import get_num_threads, set_num_threads
from tests.cases.program_texts import TextProgram, program


def reduction(kind: str, result: str, maps: str, loops: str, body: str, start: str = "0.0") -> str:
    scalar = kind.split("x")[-1].removesuffix(">")
    return program(
        f"%x: {kind}",
        result,
        f"""
  %start = arith.constant {start} : {scalar}
  %e = tensor.empty() : {result}
  %i = linalg.fill ins(%start : {scalar}) outs(%e : {result}) -> {result}
  %s = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{loops}]}}
      ins(%x : {kind}) outs(%i : {result}) {{
    ^bb0(%a: {scalar}, %b: {scalar}):
      {body}
      linalg.yield %r : {scalar}
  }} -> {result}
  return %s : {result}""",
    )


SQUARES = "%m = arith.mulf %a, %a : f32\n %r = arith.addf %b, %m : f32"


@pytest.mark.parametrize("length", [0, 1, 5, 1023, 4097, 1_000_003])
def test_sum_of_squares(rng, length):
    f = TextProgram(reduction(f"tensor<{length}xf32>", "tensor<f32>", "#id1, #none1", '"reduction"', SQUARES))
    x = rng.standard_normal(length).astype(np.float32)
    (result,) = f(x)
    assert result.shape == ()
    np.testing.assert_allclose(result, np.sum(x.astype(np.float64) ** 2), rtol=3e-7)


def test_long_sums_keep_their_digits(rng):
    """One running f32 sum would be wrong in the fourth digit here."""
    f = TextProgram(
        reduction(
            "tensor<3000000xf32>",
            "tensor<f32>",
            "#id1, #none1",
            '"reduction"',
            "%r = arith.addf %b, %a : f32",
        )
    )
    x = rng.random(3_000_000, np.float32) + np.float32(100)
    np.testing.assert_allclose(f(x)[0], x.astype(np.float64).sum(), rtol=2e-7)


def test_the_number_of_threads_changes_no_bit(rng):
    f = TextProgram(reduction("tensor<1000003xf32>", "tensor<f32>", "#id1, #none1", '"reduction"', SQUARES))
    x = rng.standard_normal(1_000_003).astype(np.float32)
    before = get_num_threads()
    try:
        results = []
        for threads in (1, 2, 3, 5):
            set_num_threads(threads)
            results.append(f(x)[0].tobytes())
    finally:
        set_num_threads(before)
    assert len(set(results)) == 1


@pytest.mark.parametrize("body", ["arith.maximumf", "arith.minimumf"])
@pytest.mark.parametrize("length", [1, 1000, 500_001])
def test_extremes(rng, body, length):
    start = "0xFF800000" if body == "arith.maximumf" else "0x7F800000"
    f = TextProgram(
        reduction(
            f"tensor<{length}xf32>",
            "tensor<f32>",
            "#id1, #none1",
            '"reduction"',
            f"%r = {body} %b, %a : f32",
            start,
        )
    )
    x = rng.standard_normal(length).astype(np.float32)
    numpy = np.max if body == "arith.maximumf" else np.min
    assert f(x)[0] == numpy(x)
    x[length // 2] = np.nan
    assert np.isnan(f(x)[0])


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (1, 1), (7, 1000), (1000, 7), (333, 5001), (70_000, 3)])
@pytest.mark.parametrize("axis", [0, 1])
def test_along_an_axis(rng, shape, axis):
    n, m = shape
    keep = "#column" if axis == 0 else "#row"
    loops = '"reduction", "parallel"' if axis == 0 else '"parallel", "reduction"'
    result = f"tensor<{shape[1 - axis]}xf32>"
    f = TextProgram(
        reduction(f"tensor<{n}x{m}xf32>", result, f"#id2, {keep}", loops, "%r = arith.addf %b, %a : f32")
    )
    x = rng.random(shape, np.float32)
    np.testing.assert_allclose(f(x)[0], x.sum(axis=axis, dtype=np.float64), rtol=3e-6)


@pytest.mark.parametrize("shape", [(3, 5), (200, 300)])
def test_over_both_axes(rng, shape):
    n, m = shape
    f = TextProgram(
        reduction(f"tensor<{n}x{m}xf64>", "tensor<f64>", "#id2, #none2", '"reduction", "reduction"',
                  "%r = arith.addf %b, %a : f64")
    )  # fmt: skip
    x = rng.random(shape)
    np.testing.assert_allclose(f(x)[0], x.sum(), rtol=1e-14)


def test_integers(rng):
    f = TextProgram(
        reduction("tensor<100003xi64>", "tensor<i64>", "#id1, #none1", '"reduction"',
                  "%r = arith.addi %b, %a : i64", "0")
    )  # fmt: skip
    x = rng.integers(-(2**62), 2**62, 100_003)
    assert f(x)[0] == x.sum()


MATMUL = """
  %zero = arith.constant 0.0 : {t}
  %e = tensor.empty() : tensor<{m}x{n}x{t}>
  %i = linalg.fill ins(%zero : {t}) outs(%e : tensor<{m}x{n}x{t}>) -> tensor<{m}x{n}x{t}>
  %s = linalg.matmul ins(%a, %b : tensor<{m}x{k}x{t}>, tensor<{k}x{n}x{t}>)
      outs(%i : tensor<{m}x{n}x{t}>) -> tensor<{m}x{n}x{t}>
  return %s : tensor<{m}x{n}x{t}>"""


def matmul(m: int, k: int, n: int, t: str) -> TextProgram:
    return TextProgram(
        program(
            f"%a: tensor<{m}x{k}x{t}>, %b: tensor<{k}x{n}x{t}>",
            f"tensor<{m}x{n}x{t}>",
            MATMUL.format(m=m, k=k, n=n, t=t),
        )
    )


@pytest.mark.parametrize(
    ("m", "k", "n"),
    [(1, 1, 1), (3, 5, 7), (64, 64, 64), (1, 100, 50), (50, 100, 1), (33, 0, 4), (200, 333, 130)],
)
@pytest.mark.parametrize("t", ["f32", "f64"])
def test_matmul(rng, m, k, n, t):
    dtype = np.float32 if t == "f32" else np.float64
    a, b = rng.random((m, k), dtype), rng.random((k, n), dtype)
    (result,) = matmul(m, k, n, t)(a, b)
    np.testing.assert_allclose(result, a @ b, rtol=2e-5 if t == "f32" else 1e-13)


@pk.jit
def around_the_middle(a, b):
    return (a * b[:, None, :]).sum(axis=(0, 2)), (a + b[:, None, :]).max(axis=(0, 2)), a.sum(axis=(0, 2))


@pytest.mark.parametrize("shape", [(4, 3, 2), (1, 7, 5), (40, 30, 20), (2, 64, 3000), (300, 9, 40)])
@pytest.mark.parametrize("order", "CF")
def test_axes_on_both_sides_of_another(rng, shape, order):
    a = np.asarray(rng.standard_normal(shape), order=order)
    b = np.asarray(rng.standard_normal(shape[::2]), order=order)
    both = a * b[:, None, :], a + b[:, None, :]
    for found, exact in zip(
        around_the_middle(a, b),
        (both[0].sum(axis=(0, 2)), both[1].max(axis=(0, 2)), a.sum(axis=(0, 2))),
        strict=True,
    ):
        np.testing.assert_allclose(found, exact, atol=1e-10)
