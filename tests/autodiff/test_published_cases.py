"""Small cases with known derivatives that other systems publish, through kernels (both levels) and programs."""

from __future__ import annotations

import math

import numpy as np
import pytest

import pykern as pk


def kernel_gradient(kernel, out, *args, ndrange, level="auto"):
    """Derivatives of the sum of `out`; float arrays and numbers are active. The backward pass changes no value."""
    plain = out.copy()
    kernel(plain, *args, ndrange=ndrange)
    dups = [_dup(a) for a in args]
    given = plain.copy()
    pk.autodiff(kernel, level=level)(pk.Dup(given, np.ones_like(out)), *dups, ndrange=ndrange)
    np.testing.assert_array_equal(given, plain)
    for one, other in zip(args, dups, strict=True):
        if isinstance(one, np.ndarray) and isinstance(other, pk.Dup):
            np.testing.assert_array_equal(other.value, one)
    return [d.shadow for d in dups if isinstance(d, pk.Dup)]


def _dup(value):
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return pk.Dup(value.copy(), np.zeros_like(value))
    return pk.Dup(value, np.zeros(())) if isinstance(value, float) else value


@pk.kernel
def square(out, x):
    i = pk.index()
    out[i] = x[i] * x[i]


@pk.kernel
def by_quarter(out, x):
    i = pk.index()
    if i < 8:
        if i < 4:
            out[i] = 2.0 * x[i]
        else:
            out[i] = 4.0 * x[i]
    else:
        if i < 12:
            out[i] = 6.0 * x[i]
        else:
            out[i] = 8.0 * x[i]


@pk.kernel
def power(out, x, b):
    i = pk.index()
    p = 1.0
    for _ in range(b):
        p *= x[i]
    out[i] = p


@pk.kernel
def fibonacci(out, x, n):
    i = pk.index()
    a, b = 0.0, x[i]
    for _ in range(n):
        a, b = b, a + b
    out[i] = a


@pk.kernel
def doubled(out, x, n):
    i = pk.index()
    s = 0.0
    for _ in range(n):
        d = x[i] * x[i]
        for _ in range(n - 1):
            d += d
        s += d
    out[i] = s


@pk.kernel
def elementwise(out, x, y, z):
    i = pk.index()
    out[i] = x[i] * x[i] + pk.exp(y[i]) + pk.cos(z[i])


@pytest.mark.parametrize("level", ["direct", "raised"])
def test_square_of_three(level):
    (dx,) = kernel_gradient(square, np.zeros(1), np.array([3.0]), ndrange=1, level=level)
    assert dx == [6.0]
    assert pk.grad(pk.jit(lambda_square))(3.0) == 6.0


def lambda_square(x):
    return x * x


@pytest.mark.parametrize("level", ["direct", "raised"])
def test_nested_branches_by_quarter(level):
    (dx,) = kernel_gradient(by_quarter, np.zeros(16), np.linspace(-1, 1, 16), ndrange=16, level=level)
    np.testing.assert_array_equal(dx, np.repeat([2.0, 4.0, 6.0, 8.0], 4))


@pytest.mark.parametrize("b", [0, 1, 2, 7])
def test_power(b):
    (dx,) = kernel_gradient(power, np.zeros(2), np.array([3.0, 3.0]), b, ndrange=2)
    np.testing.assert_allclose(dx, b * 3.0 ** (b - 1), rtol=1e-14)


@pytest.mark.parametrize("n", [0, 1, 2, 10, 30])
def test_fibonacci(n):
    numbers = [0, 1]
    while len(numbers) <= n:
        numbers.append(numbers[-1] + numbers[-2])
    (dx,) = kernel_gradient(fibonacci, np.zeros(3), np.array([1.0, -2.0, 0.5]), n, ndrange=3)
    np.testing.assert_array_equal(dx, float(numbers[n]))


@pytest.mark.parametrize("i", [1, 2, 3, 6])
def test_doubling(i):
    (dx,) = kernel_gradient(doubled, np.zeros(1), np.array([float(i)]), i, ndrange=1)
    assert dx == [2 * i * i * 2.0 ** (i - 1)]


@pytest.mark.parametrize("level", ["direct", "raised"])
def test_elementwise_on_64_ones(level):
    ones = [np.ones(64) for _ in range(3)]
    dx, dy, dz = kernel_gradient(elementwise, np.zeros(64), *ones, ndrange=64, level=level)
    np.testing.assert_array_equal(dx, 2.0)
    np.testing.assert_allclose(dy, math.e, rtol=1e-15)
    np.testing.assert_allclose(dz, -math.sin(1), rtol=1e-15)


@pk.jit
def sum_of_squares(x):
    return pk.sum(pk.square(x))


@pk.jit
def total(x):
    return pk.sum(x)


@pk.jit
def squares_by_kernel(x):
    y = pk.zeros_like(x)
    square(y, x, ndrange=x.shape)
    return pk.sum(y)


def test_sums():
    x = np.linspace(-2, 3, 64)
    np.testing.assert_array_equal(pk.grad(sum_of_squares)(x), 2 * x)
    np.testing.assert_array_equal(pk.grad(squares_by_kernel)(x), 2 * x)
    _, back = pk.vjp(total, x)
    b = 1.75
    found = back(b)
    np.testing.assert_array_equal(found[0] if isinstance(found, tuple) else found, np.full(64, b))


def test_the_winner_takes_it():
    @pk.jit
    def greatest(x):
        return pk.max(x)

    np.testing.assert_array_equal(pk.grad(greatest)(np.array([1.0, 4.0, 2.0, 3.0])), [0, 1, 0, 0])
    np.testing.assert_array_equal(pk.grad(greatest)(np.array([1.0, 3.0, 3.0, 0.0])), [0, 0.5, 0.5, 0])


def test_values_are_as_without_derivatives():
    x = np.linspace(0.1, 2, 9)
    for program in (sum_of_squares, squares_by_kernel):
        kept = x.copy()
        value, _ = pk.value_and_grad(program)(x)
        np.testing.assert_array_equal(x, kept)
        assert value == program(x)
