"""What derivatives are asked for, and by what: numbers of parameters, constants, integers, forms of tangents."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pykern as pk
from pykern.errors import KernelTypeError, LaunchError

X = np.array([1.0, 2.0, 3.0])
ONES = np.ones(3)


@pk.jit
def product(x, y):
    return (x * y).sum()


@pk.jit
def cubes(x, n):
    return (x * x * x).sum() * n


@pk.jit
def power(x, n: pk.static):
    for _ in range(n):
        x = x * x
    return x.sum()


@pk.jit
def three(x):
    return 3.0


@pk.jit
def by_integers(x):
    return (x.astype(pk.i64) * 2.0).sum()


@pk.jit
def of_its_length(x):
    return pk.f64(x.shape[0])


def test_hvp_with_integers() -> None:
    for n in (3, np.int32(3), np.array(3)):
        found = pk.hvp(cubes, (X, n), (ONES, None))
        np.testing.assert_allclose(found[0], 18 * X)
        assert found[1] is None
    np.testing.assert_allclose(pk.hvp(cubes, (X, 3), (ONES, 0))[0], 18 * X)
    np.testing.assert_allclose(pk.hvp(power, (X, 2), (ONES, None))[0], 12 * X**2)
    np.testing.assert_allclose(pk.hvp(power, (X, 1), (None, None))[0], 0 * X)
    with pytest.raises(KernelTypeError, match="argument 1 holds no float, and has a tangent"):
        pk.hvp(cubes, (X, 3), (ONES, 1))
    with pytest.raises(KernelTypeError, match="no argument holds a float"):
        pk.hvp(power, (3, 2), (1, None))


def test_jvp_with_integers() -> None:
    assert pk.jvp(cubes, (X, 3), (ONES, None))[1] == pytest.approx(9 * (X**2).sum())
    jax = pytest.importorskip("jax")
    float0 = np.zeros((), jax.dtypes.float0)
    assert pk.jvp(cubes, (X, 3), (ONES, float0))[1] == pytest.approx(9 * (X**2).sum())


@pk.jit
def inside(x, n):
    return pk.hvp(cubes, (x, n), (x, None))


def test_hvp_with_integers_inside_of_a_program() -> None:
    found = inside(X, 3)
    np.testing.assert_allclose(found[0], 18 * X * X)
    assert found[1] is None


@pytest.mark.parametrize("f", [three, by_integers, of_its_length])
def test_constants_have_gradient_zero(f: Any) -> None:
    np.testing.assert_array_equal(pk.grad(f)(X), np.zeros(3))
    value, slope = pk.value_and_grad(f)(X)
    assert value == f(X)
    np.testing.assert_array_equal(slope, np.zeros(3))
    np.testing.assert_array_equal(pk.vjp(f, X)[1](2.0)[0], np.zeros(3))
    np.testing.assert_array_equal(pk.hvp(f, (X,), (ONES,)), np.zeros(3))
    assert pk.jvp(f, (X,), (ONES,))[1] == 0.0
    assert pk.grad(lambda_of_number)(2.0) == 0.0


def lambda_of_number(t):
    return 5.0


def test_a_constant_in_a_program() -> None:
    @pk.jit
    def f(x):
        def constant(y):
            return 2.0

        return pk.grad(constant)(x) + x

    np.testing.assert_array_equal(f(X), X)


def test_the_same_parameter_twice() -> None:
    y = X + 1
    first, second = pk.grad(product, (0, 0))(X, y)
    np.testing.assert_array_equal(first, y)
    np.testing.assert_array_equal(second, y)
    assert not np.shares_memory(first, second)
    value, (a, b, c) = pk.value_and_grad(product, argnums=(1, 0, -1))(X, y)
    assert value == (X * y).sum()
    for found, wanted in ((a, X), (b, y), (c, X)):
        np.testing.assert_array_equal(found, wanted)


def test_twice_inside_of_a_program() -> None:
    @pk.jit
    def f(x, y):
        a, b = pk.grad(product, (1, -1))(x, y)
        return a + b

    np.testing.assert_array_equal(f(X, ONES), 2 * X)


def test_parameters_of_numpy_numbers_and_lists() -> None:
    np.testing.assert_array_equal(pk.grad(product, np.int64(1))(X, ONES), X)
    for argnums in ([0, 1], (0, -1)):
        for found, wanted in zip(pk.grad(product, argnums)(X, 2 * X), (2 * X, X), strict=True):
            np.testing.assert_array_equal(found, wanted)
    assert pk.grad(product, ())(X, X) == ()


@pytest.mark.parametrize("argnums", ["x", 1.0, None, (0, "y")])
def test_what_numbers_no_parameter(argnums: Any) -> None:
    with pytest.raises(KernelTypeError, match="names no parameters of `product`"):
        pk.grad(product, argnums)


@pytest.mark.parametrize("argnums", [2, -3, (0, 5)])
def test_numbers_out_of_range(argnums: Any) -> None:
    with pytest.raises(KernelTypeError, match=r"they are 0: x, 1: y"):
        pk.grad(product, argnums)


@pk.jit
def halved(x):
    return 0.5 * x


@pytest.mark.parametrize("x", [3, True, np.arange(3), np.array([True, False]), np.int8(2)])
def test_no_gradient_by_whole_numbers(x: Any) -> None:
    with pytest.raises(KernelTypeError, match=r"`x` holds no float.*\n(.*\n)*.*pass floats"):
        pk.grad(halved)(x)


@pk.jit
def nothing(x):
    x = x * 2


@pk.jit
def count(x):
    return (x > 0).sum()


@pk.jit
def pair(x):
    return x.sum(), {"x": x}


@pk.jit
def named(x):
    return {"a": x.sum()}


@pk.jit
def doubled(x):
    return x * 2


@pytest.mark.parametrize(
    ("f", "what"),
    [
        (nothing, "not None"),
        (count, "not a number of type i64"),
        (pair, "not a tuple of 2"),
        (named, "not a dict"),
        (doubled, r"not an array f64\[3\]"),
    ],
)
def test_gradients_of_what_is_no_float(f: Any, what: str) -> None:
    with pytest.raises(KernelTypeError, match=f"a gradient needs a program that returns one float, {what}"):
        pk.grad(f)(X)


def test_has_aux_of_no_tuple() -> None:
    with pytest.raises(KernelTypeError, match="returns \\(float, anything\\), not a number of type f64"):
        pk.grad(product, has_aux=True)(X, X)
    slope, aux = pk.grad(pair, has_aux=True)(X)
    np.testing.assert_array_equal(slope, ONES)
    np.testing.assert_array_equal(aux["x"], X)


def test_forms_of_cotangents() -> None:
    value, pull = pk.vjp(pair, X)
    np.testing.assert_array_equal(value[1]["x"], X)
    np.testing.assert_array_equal(pull((1, {"x": [1, 2, 3]}))[0], 1 + X)
    np.testing.assert_array_equal(pull((None, {"x": X}))[0], X)
    np.testing.assert_array_equal(pull((2.0, None))[0], 2 * ONES)
    for wrong in (1.0, (1.0,), (1.0, {"y": X}), (1.0, X, X), (1.0, {"x": X}, 1.0)):
        with pytest.raises(LaunchError, match="the cotangent has another form"):
            pull(wrong)
    with pytest.raises(LaunchError, match="shape"):
        pull((1.0, {"x": np.ones(2)}))
    np.testing.assert_array_equal(pk.vjp(product, X, 2 * X)[1](1)[0], 2 * X)


def test_forms_of_tangents() -> None:
    @pk.jit
    def f(p, y):
        return (p["w"] * y).sum() + p["b"]

    p = {"w": X, "b": 1.0}
    assert pk.jvp(f, (p, X), ({"w": ONES, "b": 2.0}, None))[1] == X.sum() + 2
    assert pk.jvp(f, (p, X), ({"w": None, "b": 2.0}, None))[1] == 2
    with pytest.raises(LaunchError, match="tangent 0 has another form"):
        pk.jvp(f, (p, X), ({"w": ONES}, None))
    with pytest.raises(KernelTypeError, match=r"pk\.jvp takes a tuple of primals"):
        pk.jvp(f, p, p)
    with pytest.raises(LaunchError, match="1 tangents for 2 arguments"):
        pk.hvp(f, (p, X), (p,))


@pytest.mark.parametrize("shape", [(0,), (0, 3), ()])
def test_no_elements_and_no_dimensions(shape: tuple) -> None:
    x = np.full(shape, 3.0)

    @pk.jit
    def squares(x):
        return (x * x).sum()

    found = pk.grad(squares)(x)
    assert found.shape == shape
    np.testing.assert_array_equal(found, 2 * x)
    np.testing.assert_array_equal(pk.vjp(squares, x)[1](2.0)[0], 4 * x)
    np.testing.assert_array_equal(pk.hvp(squares, (x,), (x,)), 2 * x)
