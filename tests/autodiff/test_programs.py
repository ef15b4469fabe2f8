"""Derivatives of array programs: against NumPy's own formulas, finite differences, forward against reverse."""

from __future__ import annotations

import weakref

import numpy as np
import pytest

import pykern as pk
from pykern.data.program_source import ProgramDerivative

random = np.random.default_rng(23)


@pk.jit
def product_sum(x, y):
    return pk.sum(pk.sin(x) * y)


@pk.jit
def softmax_loss(x, w):
    z = x @ w
    z = z - z.max(axis=1, keepdims=True)
    p = pk.exp(z) / pk.exp(z).sum(axis=1, keepdims=True)
    return -pk.log(p[:, 0]).mean()


@pk.jit
def layernorm(x, gain, bias):
    mean = x.mean(axis=-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(axis=-1, keepdims=True)
    return (x - mean) / pk.sqrt(variance + 1e-5) * gain + bias


@pk.jit
def diffusion(t, c, steps: pk.static):
    """A nonlinear time loop that updates in place."""
    u = pk.copy(t)
    for _ in pk.range(steps):
        lap = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * u[1:-1, 1:-1]
        u[1:-1, 1:-1] = u[1:-1, 1:-1] + c[1:-1, 1:-1] * lap * u[1:-1, 1:-1]
    return u


@pk.jit
def diffusion_loss(t, c, steps: pk.static):
    u = diffusion(t, c, steps)
    return pk.sum(u * u)


@pk.jit
def branches(x, a):
    s = x.sum()
    if s > 0.0:
        y = pk.exp(x) * a
    else:
        y = x * x
    return y


@pk.jit
def several(x, y):
    return {"sum": x + y, "parts": (pk.tanh(x), 3, y.sum())}


@pk.jit
def reductions(x):
    return x.prod(axis=0), x.max(axis=1), x.min(), (x * x).mean(axis=(0, 1))


@pk.jit
def moved(x, w):
    y = pk.concatenate([x[::2], x[1::2] * 2.0])
    z = pk.stack([y, y.T.T * w])
    return z.reshape(-1)[1:] * pk.where(z.reshape(-1)[:-1] > 0.5, 1.0, w[0, 0])


def test_gradient_of_a_sum():
    x, y = random.random((5, 7)), random.random((5, 7))
    np.testing.assert_allclose(pk.grad(product_sum)(x, y), np.cos(x) * y, rtol=1e-14)
    value, (dx, dy) = pk.value_and_grad(product_sum, (0, 1))(x, y)
    np.testing.assert_allclose(value, (np.sin(x) * y).sum(), rtol=1e-14)
    np.testing.assert_allclose(dx, np.cos(x) * y, rtol=1e-14)
    np.testing.assert_allclose(dy, np.sin(x), rtol=1e-14)
    np.testing.assert_array_equal(pk.grad(product_sum, -1)(x, y), dy)


PROGRAMS = {
    "sum": (product_sum, lambda: (random.random((3, 5)), random.random((3, 5)))),
    "softmax and matmul": (softmax_loss, lambda: (random.random((4, 6)), random.random((6, 5)))),
    "layernorm": (layernorm, lambda: (random.random((5, 9)), random.random(9), random.random(9))),
    "time loop": (diffusion, lambda: (random.random((6, 7)), 0.1 * random.random((6, 7)), 4)),
    "no iteration": (diffusion, lambda: (random.random((6, 7)), 0.1 * random.random((6, 7)), 0)),
    "branch taken": (branches, lambda: (random.random(7), 1.5)),
    "branch not taken": (branches, lambda: (-random.random(7), 1.5)),
    "several results": (several, lambda: (random.random((2, 3)), random.random((2, 3)))),
    "reductions": (reductions, lambda: (random.random((4, 5)),)),
    "movement": (moved, lambda: (random.random((4, 5)), random.random((4, 5)))),
    "one element": (product_sum, lambda: (random.random(1), random.random(1))),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_against_finite_differences(name):
    program, make = PROGRAMS[name]
    pk.check_grads(program, make(), rtol=2e-7)


@pytest.mark.parametrize("policy", ["all", pk.every(3), pk.binomial(2), "binomial(4)"])
def test_checkpoints_give_the_same_gradient(policy):
    t, c = random.random((6, 7)), 0.1 * random.random((6, 7))
    expected = pk.grad(diffusion_loss, (0, 1))(t, c, 11)
    found = pk.grad(diffusion_loss, (0, 1), checkpoint=policy)(t, c, 11)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_checkpoint_as_a_decorator():
    @pk.checkpoint(pk.every(2))
    @pk.jit
    def cubes(x):
        for _ in pk.range(4):
            x = x * x * x
        return x.sum()

    x = 1.0 + 0.01 * random.random(3)
    np.testing.assert_allclose(pk.grad(cubes)(x), 81 * x**80, rtol=1e-12)
    assert "every(2)" in str(pk.grad(cubes).derivatives)
    with pytest.raises(pk.KernelTypeError, match="every"):
        pk.checkpoint("sometimes")


def test_has_aux():
    @pk.jit
    def with_aux(x):
        y = x * x
        return y.sum(), y

    x = random.random(4)
    (value, aux), dx = pk.value_and_grad(with_aux, has_aux=True)(x)
    np.testing.assert_allclose(aux, x * x)
    np.testing.assert_allclose([value, *dx], [(x * x).sum(), *(2 * x)], rtol=1e-14)
    dx, aux = pk.grad(with_aux, has_aux=True)(x)
    np.testing.assert_allclose(dx, 2 * x)


def test_vjp_and_jvp():
    x, y = random.random((2, 3)), random.random((2, 3))
    value, pull = pk.vjp(several, x, y)
    assert value["parts"][1] == 3
    dx, dy = pull({"sum": np.ones((2, 3)), "parts": (np.full((2, 3), 2.0), 0, 5.0)})
    np.testing.assert_allclose(dx, 1 + 2 / np.cosh(x) ** 2, rtol=1e-14)
    np.testing.assert_allclose(dy, np.full((2, 3), 6.0), rtol=1e-14)
    out, tangent = pk.jvp(several, (x, y), (np.ones((2, 3)), None))
    np.testing.assert_allclose(out["sum"], x + y)
    np.testing.assert_allclose(tangent["parts"][0], 1 / np.cosh(x) ** 2, rtol=1e-13)
    assert tangent["parts"][1] is None
    assert tangent["parts"][2] == 0.0


def test_cotangents_as_they_come():
    """One of the value's type and shape is passed as it is; others are converted, or refused."""

    @pk.jit
    def scaled(x, n, y):
        return x * n * y

    x, y, w = random.standard_normal((3, 4))
    value, pull = pk.vjp(scaled, x, 3, y)
    kept = weakref.ref(value)
    for given in (w, w.astype(np.float32), (w,), np.asfortranarray(w[::-1])[::-1]):
        dx, dn, dy = pull(given)
        wanted = np.asarray(given[0] if isinstance(given, tuple) else given, np.float64)
        np.testing.assert_allclose(dx, 3 * y * wanted)
        np.testing.assert_allclose(dy, 3 * x * wanted)
        assert dn is None
    for wrong in (w[:2], 1.0, np.float32(2)):
        with pytest.raises(pk.LaunchError, match="a derivative of shape"):
            pull(wrong)
    del value
    assert kept() is None  # the array itself need not be kept

    _, pull = pk.vjp(product_sum, x, y)
    for given in (2.0, np.float64(2), np.float32(2), np.array(2.0), 2):
        dx, dy = pull(given) if not isinstance(given, int) else pull(float(given))
        np.testing.assert_allclose(dx, 2 * np.cos(x) * y)
        np.testing.assert_allclose(dy, 2 * np.sin(x))
    with pytest.raises(pk.LaunchError, match="for a number"):
        pull(w)


def test_keys_of_a_dict_are_the_users():
    """They are told apart from the words that the form of a result is written in."""

    @pk.jit
    def named(x):
        return {"array": 2.0 * x, "scalar": x.sum(), "constant": 3, "tuple": (x, {"dict": x * x})}

    x, t = random.standard_normal((2, 5))
    value, tangent = pk.jvp(named, (x,), (t,))
    assert list(value) == list(tangent) == ["array", "scalar", "constant", "tuple"]
    np.testing.assert_allclose(tangent["array"], 2.0 * t)
    np.testing.assert_allclose(tangent["scalar"], t.sum())
    assert (value["constant"], tangent["constant"]) == (3, None)
    np.testing.assert_allclose(tangent["tuple"][1]["dict"], 2.0 * x * t)


def test_hessian_vector_product():
    x, v = random.random(6), random.random(6)

    @pk.jit
    def f(x):
        return (pk.sin(x) * x).sum() * x.sum()

    step = 1e-6
    expected = (pk.grad(f)(x + step * v) - pk.grad(f)(x - step * v)) / (2 * step)
    np.testing.assert_allclose(pk.hvp(f, (x,), (v,)), expected, rtol=1e-7)


def test_gradient_of_a_gradient():
    f = pk.jit(lambda_cube)
    assert pk.grad(pk.grad(f))(2.0) == 12.0


def lambda_cube(x):
    return x * x * x


def test_float32_and_scalars():
    @pk.jit
    def line(x, a):
        return (a * x).sum()

    x = random.random(5).astype(np.float32)
    dx, da = pk.grad(line, (0, 1))(x, 2.0)
    assert dx.dtype == np.float32
    np.testing.assert_array_equal(dx, np.full(5, 2, np.float32))
    np.testing.assert_allclose(da, x.sum(), rtol=1e-6)


def test_stop_gradient():
    @pk.jit
    def stopped(x):
        return (x * pk.stop_gradient(x)).sum()

    x = random.random(4)
    np.testing.assert_array_equal(pk.grad(stopped)(x), x)


def test_an_argument_the_program_writes_stays_in_its_gradient():
    @pk.jit
    def overwrites(x):
        x[1:] = x[1:] * x[:-1]
        return x.sum()

    x = random.random(4)
    before = x.copy()
    found = pk.grad(overwrites)(x)
    np.testing.assert_array_equal(x, before)
    np.testing.assert_allclose(found, [1 + x[1], x[0] + x[2], x[1] + x[3], x[2]])


def test_refusals():
    with pytest.raises(pk.KernelTypeError, match="returns one float"):
        pk.grad(diffusion)(random.random((4, 4)), random.random((4, 4)), 1)
    with pytest.raises(pk.KernelTypeError, match="holds no float"):
        pk.grad(product_sum)(np.arange(3), random.random(3))
    with pytest.raises(pk.KernelTypeError, match="argnums"):
        pk.grad(product_sum, 2)
    with pytest.raises(pk.KernelTypeError, match=r"@pk\.jit"):
        pk.grad(3)
    with pytest.raises(pk.LaunchError, match="shape"):
        pk.vjp(product_sum, np.ones(3), np.ones(3))[1](np.ones(3))


@pk.kernel
def heat(after, before, c):
    i, j = pk.index()
    if 0 < i < before.shape[0] - 1 and 0 < j < before.shape[1] - 1:
        after[i, j] = before[i, j] + c * before[i, j] * (
            before[i + 1, j] - 2 * before[i, j] + before[i - 1, j]
        )


@pk.kernel
def add_root(out, x, s):
    """A while loop: no operation on whole arrays."""
    i = pk.index()
    r, n = x[i], 0
    while abs(r * r - x[i]) > 1e-13 * x[i] and n < 50:
        r = 0.5 * (r + x[i] / r)
        n += 1
    out[i] = r * s + out[i]


@pk.jit
def heat_steps(t, c, steps: pk.static):
    for _ in pk.range(steps):
        after = pk.copy(t)
        heat(after, t, c, ndrange=t.shape)
        t = after
    return (t * t).sum()


@pk.jit
def roots(x, s):
    out = pk.ones_like(x)
    add_root(out, x * 2.0, s, ndrange=x.shape)
    twice = pk.copy(out)
    add_root(twice, out, s * 0.5, ndrange=(range(1, x.shape[0] - 1),))
    return out * twice, out.sum()


def test_kernels_inside_are_raised_and_differentiated():
    pk.check_grads(heat_steps, (1.0 + random.random((6, 7)), 0.1, 3), rtol=2e-7)
    text = pk.grad(heat_steps).lower(pk.spec((6, 7), pk.f64), 0.1, 3).stage("gradient").text
    assert "kern.launch" not in text


def test_kernels_that_do_not_raise_are_differentiated_as_kernels():
    pk.check_grads(roots, (1.0 + random.random(6), 0.7), rtol=2e-7)
    text = pk.grad(summed_roots).lower(pk.spec(6, pk.f64), 0.7).stage("gradient").text
    assert "kern.launch" in text


@pk.jit
def summed_roots(x, s):
    return roots(x, s)[1]


@pk.kernel
def weighted(out, x, c, k):
    """A loop whose length is data: its raised form would have an array of unknown length."""
    i = pk.index()
    g, a, p = x[i] * x[i], 0.0, 1.0
    for j in range(k[i]):
        a += c[j]
        p *= x[i]
    out[i] = g * a + p * c[0]


@pk.jit
def weighted_sum(x, c, k):
    out = pk.zeros_like(x)
    weighted(out, x, c, k, ndrange=x.shape)
    return out.sum()


def test_loops_whose_length_is_data():
    x, c, k = np.array([1.0, 2.0, 3.0]), np.array([0.1, 0.2, 0.3, 0.4, 0.5]), np.array([3, 5, 2])
    expected = 2 * x * np.cumsum(c)[k - 1] + k * x ** (k - 1.0) * c[0]
    np.testing.assert_allclose(pk.grad(weighted_sum)(x, c, k), expected, rtol=1e-14)
    pk.check_grads(weighted_sum, (x, c, k), rtol=2e-7)


@pk.jit
def chosen(x, w):
    """A branch that gives arrays from outside of it: a select of whole tensors."""
    y = x * x
    z = w * 3.0
    if x.sum() > 2.0:
        v = y
    else:
        v = z
    return (v * w).sum()


@pytest.mark.parametrize("scale", [0.1, 1.0])
def test_a_choice_between_arrays(scale):
    pk.check_grads(chosen, (scale * (1.0 + random.random(4)), random.random(4)), rtol=2e-7)


def test_the_derivative_by_a_cotangent():
    """A vjp is a program, whose cotangents are parameters like others."""

    @pk.jit
    def cubed(x):
        return x * x * x

    pulled = cubed.derived(ProgramDerivative("vjp", (0,)), ("u",), "vjp(cubed)")
    again = pulled.derived(ProgramDerivative("vjp", (0, 1)), ("v",), "vjp(vjp(cubed))")
    x, u, v = np.array([2.0, 3.0]), np.array([5.0, 7.0]), np.array([1.0, -1.0])
    np.testing.assert_allclose(pulled(x, u), 3 * x**2 * u)
    by_x, by_u = again(x, u, v)
    np.testing.assert_allclose(by_x, 6 * x * u * v)
    np.testing.assert_allclose(by_u, 3 * x**2 * v)


@pytest.mark.parametrize("argument", [np.ones(3), np.arange(3)])
@pytest.mark.parametrize("count", [0, 2])
def test_pull_takes_one_cotangent(argument, count):
    _, pull = pk.vjp(pk.jit(lambda x: x * x), argument)
    with pytest.raises(pk.KernelTypeError, match=f"pull takes one cotangent.*not {count}"):
        pull(*(np.ones(3),) * count)
