"""Lambdas as array programs, functions of kernels and inside of derivatives: which one on a line, and its text."""

import sys

import numpy as np
import pytest

import pykern as pk

POSITIONS = pytest.mark.skipif(
    sys.version_info < (3, 11), reason="Python 3.10 keeps no columns of instructions"
)


@pytest.fixture
def x() -> np.ndarray:
    return np.random.default_rng(3).standard_normal(7).astype(np.float32)


def test_program_and_gradient(x: np.ndarray) -> None:
    np.testing.assert_array_equal(pk.jit(lambda x: 2 * x)(x), 2 * x)
    np.testing.assert_allclose(pk.grad(lambda x: (x * x).sum())(x), 2 * x, rtol=1e-6)
    value, pull = pk.vjp(lambda x: x * x, x)
    np.testing.assert_array_equal(value, x * x)
    np.testing.assert_allclose(pull(np.ones_like(x))[0], 2 * x, rtol=1e-6)


def test_over_several_lines(x: np.ndarray) -> None:
    f = pk.jit(
        lambda x, scale=3.0: (
            x * scale  # a comment
            + x.shape[0]
        )
    )
    np.testing.assert_allclose(f(x), x * np.float32(3) + 7, rtol=1e-6)
    np.testing.assert_allclose(f(x, 2.0), x * np.float32(2) + 7, rtol=1e-6)


@POSITIONS
def test_several_on_a_line(x: np.ndarray) -> None:
    a, b = pk.jit(lambda x: x + 1), pk.jit(lambda x: x - 1)
    np.testing.assert_array_equal(a(x), x + 1)
    np.testing.assert_array_equal(b(x), x - 1)
    c, d = pk.jit(lambda x: x if x.shape[0] else 2 * x), pk.jit(lambda x: (lambda y: y * 2)(x) + 1)
    np.testing.assert_array_equal(c(x), x)
    np.testing.assert_array_equal(d(x), 2 * x + 1)
    e = (lambda x: lambda x: x + 3)(0); f = pk.jit(e)  # fmt: skip # noqa: E702
    np.testing.assert_array_equal(f(x), x + 3)


def test_names_outside(x: np.ndarray) -> None:
    """A captured name that changes is found again, as in a `def`."""
    scale = 2.0
    f = pk.jit(lambda x: scale * x)
    np.testing.assert_array_equal(f(x), 2 * x)
    scale = 3.0
    np.testing.assert_array_equal(f(x), np.float32(3) * x)


@pytest.mark.parametrize("device", ["cpu", "python"])
def test_function_of_a_kernel(x: np.ndarray, device: str) -> None:
    square = pk.func(lambda v: v * v)

    @pk.kernel
    def squares(o, x):
        i = pk.index()
        o[i] = square(x[i])

    o = np.zeros_like(x)
    squares(o, x, ndrange=len(x), device=device)
    np.testing.assert_array_equal(o, x * x)


def test_ufunc(x: np.ndarray) -> None:
    np.testing.assert_allclose(pk.ufunc(lambda a, b: a * b + 1)(x, x), x * x + 1, rtol=1e-6)


def test_errors_stand_in_the_lambda(x: np.ndarray) -> None:
    with pytest.raises(pk.KernelTypeError) as caught:
        pk.jit(lambda v: 1 + v.nothing())(x)
    assert caught.value.span is not None
    assert caught.value.span.text.strip() == "lambda v: 1 + v.nothing()"
    with open(__file__) as lines:
        line = lines.read().splitlines()[caught.value.span.line - 1]
    assert line[caught.value.span.column :].startswith("v.nothing()")


def test_a_kernel_is_no_lambda(x: np.ndarray) -> None:
    with pytest.raises(pk.KernelSyntaxError, match="a kernel returns nothing"):
        pk.kernel(lambda x: x)(x, ndrange=1)


def test_no_source(x: np.ndarray) -> None:
    with pytest.raises(pk.KernelSyntaxError, match="not available"):
        pk.jit(eval("lambda x: x"))
