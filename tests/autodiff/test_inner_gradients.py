"""Gradients taken inside of array programs, against the same taken outside, and against formulas."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from pykern.errors import KernelTypeError
from tests.cases.texts import written


def loss(w, x):
    return ((w * x) ** 2).sum()


def network(p, x, y):
    h = pk.tanh(x @ p["w1"] + p["b1"])
    return ((h @ p["w2"] - y) ** 2).mean()


value_and_grad_of_loss = pk.value_and_grad(pk.jit(loss))


@pk.jit
def descent(w, x):
    return w - 0.1 * pk.grad(loss)(w, x)


@pk.jit
def made_outside(w, x):
    value, gradient = value_and_grad_of_loss(w, x)
    return value, gradient


@pk.jit
def train(p, x, y, rate, n):
    for _ in pk.range(n):
        g = pk.grad(network)(p, x, y)
        p = {"w1": p["w1"] - rate * g["w1"], "b1": p["b1"] - rate * g["b1"], "w2": p["w2"] - rate * g["w2"]}
    return p


def test_one_step(rng):
    w, x = rng.random((2, 7))
    np.testing.assert_allclose(descent(w, x), w - 0.2 * w * x * x, rtol=1e-14)
    value, gradient = made_outside(w, x)
    np.testing.assert_allclose(value, ((w * x) ** 2).sum(), rtol=1e-14)
    np.testing.assert_allclose(gradient, 2 * w * x * x, rtol=1e-14)


def test_a_training_loop_inside_of_a_program(rng):
    start = {"w1": rng.normal(size=(3, 8)), "b1": np.zeros(8), "w2": rng.normal(size=(8, 1))}
    x, y = rng.normal(size=(20, 3)), rng.normal(size=(20, 1))
    p, outside = start, pk.grad(network)
    for _ in range(5):
        g = outside(p, x, y)
        p = {k: p[k] - 0.05 * g[k] for k in p}
    found = train(start, x, y, 0.05, 5)
    for key, wanted in p.items():
        np.testing.assert_allclose(found[key], wanted, rtol=1e-10)


@pk.jit
def norm_of_gradient(w, x):
    return (pk.grad(loss)(w, x) ** 2).sum()


def cube(t):
    return t**3


@pk.jit
def second(t):
    return pk.grad(pk.grad(cube))(t), pk.grad(cube)(3.0)


def test_derivatives_of_derivatives(rng):
    w, x = rng.random((2, 5))
    np.testing.assert_allclose(pk.grad(norm_of_gradient)(w, x), 8 * w * x**4, rtol=1e-13)
    assert second(2.0) == pytest.approx((12.0, 27.0))


@pk.kernel
def recurrence(y, x, c):
    s = 0.0
    for k in range(len(x)):
        s += c * x[k] * s + x[k]
        y[k] = s


@pk.kernel
def square(y, x, c):
    i = pk.index()
    y[i] = c * x[i] * x[i]


def launches(x, c):
    y, z = pk.zeros_like(x), pk.zeros_like(x)
    recurrence(y, x, c, ndrange=1)
    square(z, y, c, ndrange=x.shape)
    return z.sum()


@pk.jit
def beside_launches(x, c):
    y = pk.zeros_like(x)
    recurrence(y, x, c, ndrange=1)
    return y, pk.grad(launches, argnums=(0, 1))(x, c), pk.grad(launches, argnums=-1)(y, c)


def test_kernels_in_the_function_and_beside_it(rng):
    x, c = rng.random(6), 0.4
    y, both, alone = beside_launches(x, c)
    outside = pk.grad(launches, argnums=(0, 1))
    np.testing.assert_allclose(both[0], outside(x, c)[0], rtol=1e-12)
    np.testing.assert_allclose(both[1], outside(x, c)[1], rtol=1e-12)
    np.testing.assert_allclose(alone, outside(y, c)[1], rtol=1e-12)
    jit = pk.jit(launches)
    np.testing.assert_allclose(both[1], (jit(x, c + 1e-6) - jit(x, c - 1e-6)) / 2e-6, rtol=1e-6)


def with_aux(x, scale):
    return (x * x).sum() * scale, x + 1


@pk.jit
def aux(x):
    (value, more), gradient = pk.value_and_grad(with_aux, has_aux=True)(x, scale=2.0)
    return value, more, gradient


def test_aux_and_keywords():
    x = np.arange(3.0)
    value, more, gradient = aux(x)
    assert value == 10.0
    np.testing.assert_array_equal(more, x + 1)
    np.testing.assert_array_equal(gradient, 4 * x)


def doubled(x):
    return 2 * x


def writes(x):
    x[0] = 3 * x[1]
    return (x * x).sum()


@pk.jit
def of_what_writes(x):
    return pk.grad(writes)(x), x


def test_arguments_that_the_function_writes_stay():
    gradient, x = of_what_writes(np.array([1.0, 2.0, 3.0]))
    np.testing.assert_array_equal(gradient, [0, 40, 6])
    np.testing.assert_array_equal(x, [1, 2, 3])


@pytest.mark.parametrize(
    ("expression", "match"),
    [
        ("pk.grad(doubled)(x)", "one float, not an array"),
        ("pk.grad(2.0)(x)", "takes a function, not 2.0"),
        ("pk.grad(loss, argnums=2)(x, x)", "has no parameter number 2, which argnums names"),
        ("pk.grad(loss)(x)", "needs the argument `x`"),
        ("pk.grad(loss, checkpoint=3)(x, x)", "`checkpoint` is a string"),
        ("pk.vjp(loss, x, x)", "cannot return the pullback of the function `loss`"),
        ("pk.autodiff(loss)", "`pk.autodiff` is a function"),
        ("pk.grad(loss)(x.astype(int), x)", "holds no float"),
    ],
)
def test_what_is_refused(expression, match, tmp_path):
    file = tmp_path / "program.py"
    scope = written(
        file, f"def program(x):\n    return {expression}\n", {"pk": pk, "loss": loss, "doubled": doubled}
    )
    with pytest.raises(KernelTypeError, match=match) as caught:
        pk.jit(scope["program"])(np.ones(3))
    assert caught.value.span is not None


def test_on_the_reference_device_the_gradient_is_compiled(rng):
    w, x = rng.random((2, 4))
    want = w - 0.2 * w * x * x
    np.testing.assert_allclose(descent(w, x, device="python"), want, rtol=1e-14)
    with pk.device("python"):
        for _ in range(3):
            np.testing.assert_allclose(descent(w, x), want, rtol=1e-14)
            np.testing.assert_allclose(made_outside(w, x)[1], 2 * w * x * x, rtol=1e-14)
        with pytest.raises(pk.errors.DeviceError, match="not their derivatives"):
            pk.grad(loss)(w, x)
    np.testing.assert_allclose(descent(w, x), want, rtol=1e-14)
