"""Cotangents of the same functions by JAX; Hessian-vector products, also by differences."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import pytest

from tests.autodiff.tensor_programs import Program
from tests.cases.tensor_texts import (
    ADD,
    conv1d,
    full,
    function,
    generic,
    heat_step,
    layernorm,
    pointwise,
    reduced,
    softmax,
    tensor,
    time_loop,
)

N, M = 5, 7


@pytest.fixture(scope="module")
def jax():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import jax as module
    module.config.update("jax_enable_x64", True)
    module.config.update("jax_platforms", "cpu")
    return module


def heat(jnp, x, steps: int, nonlinear: bool):
    for _ in range(steps):
        inside = x[1:-1, 1:-1]
        flow = 0.1 * (x[:-2, 1:-1] + x[2:, 1:-1] + (x[1:-1, :-2] + x[1:-1, 2:]) - 4.0 * inside)
        x = x.at[1:-1, 1:-1].set(inside + (flow * jnp.cos(inside) if nonlinear else flow))
    return x


def normalised(jnp, x, g, h):
    d = x - x.mean(1, keepdims=True)
    return d / jnp.sqrt((d * d).mean(1, keepdims=True) + 1e-5) * g + h


def cosines(jnp, x):
    for _ in range(10):
        x = jnp.cos(x * x)
    return x


MATRIX, VECTOR = tensor(N, M), tensor(6)


def of_matrix(body: str, result: str) -> str:
    return function(f"%x: {MATRIX}", body, [f"%y: {result}"])


def rows(combine: str, init: str, before: str = "") -> str:
    return of_matrix(reduced("%y", "%x", (N, M), combine, init, before), tensor(N))


def product_of_matrices(result: str) -> str:
    x, w, y = tensor(4, 6), tensor(6, 5), tensor(4, 5)
    return (
        full(f"{result}_i", y)
        + f"{result} = linalg.matmul ins(%x, %w : {x}, {w}) outs({result}_i : {y}) -> {y}\n"
    )


def layer_and_loss() -> str:
    """sum(tanh(x w + bias)^2)."""
    y = tensor(4, 5)
    text = product_of_matrices("%h") + f"%e = tensor.empty() : {y}\n"
    body = "%s = arith.addf %a, %b : f64\n%r = math.tanh %s : f64\nlinalg.yield %r : f64"
    maps = "(i, j) -> (i, j), (j), (i, j)"
    text += generic("%t", [f"%h: {y}", f"%bias: {tensor(5)}"], f"%e: {y}", maps, "pp", body) + "\n"
    body = "%s = arith.mulf %a, %a : f64\n%r = arith.addf %o, %s : f64\nlinalg.yield %r : f64"
    text += full("%z", tensor()) + generic(
        "%y", [f"%t: {y}"], f"%z: {tensor()}", "(i, j) -> (i, j), ()", "rr", body
    )
    arguments = f"%x: {tensor(4, 6)}, %w: {tensor(6, 5)}, %bias: {tensor(5)}"
    return function(arguments, text, [f"%y: {tensor()}"])


def heat_text(nonlinear: bool) -> str:
    return of_matrix(time_loop(MATRIX, 4, heat_step("%next", "%u", N, M, nonlinear)), MATRIX)


def cosines_text() -> str:
    step = pointwise("%next", ["%u"], "%p = arith.mulf %a, %a : f64; %r = math.cos %p : f64", VECTOR)
    return function(f"%x: {VECTOR}", time_loop(VECTOR, 10, step), [f"%y: {VECTOR}"])


def jax_softmax(jnp, x):
    e = jnp.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


MATMUL = function(
    f"%x: {tensor(4, 6)}, %w: {tensor(6, 5)}", product_of_matrices("%y"), [f"%y: {tensor(4, 5)}"]
)
CASES: dict[str, tuple[str, list[tuple[int, ...]], Callable]] = {
    "softmax": (softmax(N, M), [(N, M)], jax_softmax),
    "layernorm": (layernorm(N, M), [(N, M), (M,), (M,)], normalised),
    "sum": (rows(ADD, "%zero", "%v = math.sin %a : f64"), [(N, M)], lambda jnp, x: jnp.sin(x).sum(1)),
    "max with ties": (rows("%r = arith.maximumf %o, %v : f64", "%low"), [(N, M)], lambda jnp, x: x.max(1)),
    "product": (rows("%r = arith.mulf %o, %v : f64", "%one"), [(N, M)], lambda jnp, x: x.prod(1)),
    "matmul": (MATMUL, [(4, 6), (6, 5)], lambda jnp, x, w: x @ w),
    "layer and loss": (
        layer_and_loss(), [(4, 6), (6, 5), (5,)], lambda jnp, x, w, b: (jnp.tanh(x @ w + b) ** 2).sum(),
    ),
    "convolution": (conv1d(20, 4), [(20,), (4,)], lambda jnp, x, w: jnp.convolve(x, w[::-1], "valid")),
    "strided convolution": (
        conv1d(20, 4, 3), [(20,), (4,)], lambda jnp, x, w: jnp.convolve(x, w[::-1], "valid")[::3],
    ),
    "heat": (heat_text(False), [(N, M)], lambda jnp, x: heat(jnp, x, 4, False)),
    "nonlinear heat": (heat_text(True), [(N, M)], lambda jnp, x: heat(jnp, x, 4, True)),
    "cosines": (cosines_text(), [(6,)], cosines),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_against_jax(name, jax, rng):
    text, shapes, f = CASES[name]
    program = Program(text, range(len(shapes)))
    arguments = [rng.standard_normal(shape) for shape in shapes]
    if name == "max with ties":
        arguments = [np.round(a) for a in arguments]
    if name == "product":
        arguments[0][1, 2] = arguments[0][2, 3] = arguments[0][2, 5] = 0.0
    expected, pull = jax.vjp(lambda *a: f(jax.numpy, *a), *arguments)
    seed = rng.standard_normal(np.shape(expected))
    value, *gradient = program.call("f.vjp", *arguments, seed)
    # the value itself may differ in its last bits, by the order of sums
    np.testing.assert_allclose(value, expected, rtol=1e-13, atol=1e-14)
    for got, wanted in zip(gradient, pull(seed), strict=True):
        wanted = np.asarray(wanted)
        assert np.max(np.abs(got - wanted)) <= 1e-14 * max(1.0, np.max(np.abs(wanted)))


SECOND = [name for name in CASES if name != "max with ties"]


@pytest.mark.parametrize("name", SECOND)
def test_hessian_vector_products(name, rng):
    """Forward over reverse: the derivative of the cotangents, against differences of the cotangents."""
    text, shapes, _ = CASES[name]
    program = Program(text, range(len(shapes)), second=True)
    arguments = [rng.standard_normal(shape) for shape in shapes]
    if name == "product":
        arguments[0][1, 2] = arguments[0][2, 3] = 0.0
    direction = [rng.standard_normal(shape) for shape in shapes]
    (result,) = program.call("f", *arguments)
    seed = rng.standard_normal(result.shape)
    found = program.call("f.vjp.jvp", *arguments, seed, *direction)
    count = 1 + len(shapes)
    first, second = found[1:count], found[count + 1 :]
    for got, wanted in zip(first, program.call("f.vjp", *arguments, seed)[1:], strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-13, atol=1e-14)
    step = 1e-6
    sides = [
        program.call(
            "f.vjp", *[a + sign * step * d for a, d in zip(arguments, direction, strict=True)], seed
        )[1:]
        for sign in (1.0, -1.0)
    ]
    for up, down, got in zip(*sides, second, strict=True):
        expected = (up - down) / (2 * step)
        assert np.max(np.abs(got - expected)) <= 2e-7 * max(1.0, np.max(np.abs(expected)))


@pytest.mark.parametrize("checkpoint", ["all", "every(4)", "binomial(3)"])
def test_hessian_vector_products_through_checkpoints(checkpoint, jax, rng):
    """Of a scalar loss, against JAX's forward over reverse."""
    program = Program(cosines_text(), checkpoint=checkpoint, second=True)
    x, d, seed = rng.standard_normal((3, 6))
    *_, found = program.call("f.vjp.jvp", x, seed, d)

    def loss(x):
        return (cosines(jax.numpy, x) * seed).sum()

    _, expected = jax.jvp(jax.grad(loss), (x,), (d,))
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)
