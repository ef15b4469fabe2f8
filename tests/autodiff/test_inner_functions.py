"""Derivatives that a program takes of functions it defines itself, against NumPy, finite differences and JAX."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from tests.cases.texts import written

SIZES = [1, 7, 130]


def close(found, wanted, rtol=1e-11):
    np.testing.assert_allclose(found, wanted, rtol=rtol, atol=1e-13)


# -- gradients ------------------------------------------------------------------------------------


@pk.jit
def step(w, x, y, lr):
    def loss(w):
        p = x @ w
        return ((p - y) ** 2).mean()

    g = pk.grad(loss)(w)
    return w - lr * g


@pytest.mark.parametrize("n", SIZES)
def test_a_step_of_training(rng, n):
    w, x, y = rng.random(5), rng.random((n, 5)), rng.random(n)
    close(step(w, x, y, 0.1), w - 0.1 * 2 / n * x.T @ (x @ w - y))


def test_nothing_to_sum():
    @pk.jit
    def program(x, c):
        return pk.value_and_grad(lambda x: (c * x * x).sum())(x)

    value, gradient = program(np.zeros(0), 2.0)
    assert value == 0 and gradient.shape == (0,)


@pk.jit
def many_forms(p, x, s):
    def loss(p, scale, power=2.0):
        h = pk.tanh(x @ p["w"] + p["b"])
        return (scale * h**power).sum(), {"h": h}

    scaled = 2.0 * s
    (value, aux), g = pk.value_and_grad(loss, has_aux=True)(p, scaled)
    by_scale = pk.grad(lambda q: loss(p, q)[0])(s)
    by_all = pk.grad(loss, argnums=(2, 0, 1), has_aux=True)(p, scaled)[0]
    return value, aux, g, by_scale, by_all


def test_structures_aux_defaults_and_argnums(rng):
    p, x, s = {"w": rng.random((3, 2)), "b": rng.random(2)}, rng.random((4, 3)), 0.7
    value, aux, g, by_scale, (by_power, by_p, by_2s) = many_forms(p, x, s)
    h = np.tanh(x @ p["w"] + p["b"])
    close(value, (2 * s * h**2).sum())
    close(aux["h"], h)
    inner = 2 * s * 2 * h * (1 - h**2)
    close(g["w"], x.T @ inner)
    close(g["b"], inner.sum(0))
    close(by_p["w"], g["w"])
    close(by_scale, (h**2).sum())
    close(by_2s, (h**2).sum())
    close(by_power, (2 * s * h**2 * np.log(h)).sum())


@pk.jit
def named_late(x):
    c = 1.0

    def f(a):
        return (c * a**3).sum()

    df = pk.grad(f)
    c = 2.0
    return df(x), pk.grad(df_sum(df))(x)


def df_sum(df):
    return lambda a: df(a).sum()


def test_names_mean_what_they_do_at_the_call(rng):
    x = rng.random(6)
    first, second = named_late(x)
    close(first, 6 * x**2)
    close(second, 12 * x)


# -- derivatives of derivatives: through values that the inner function captured ------------------


@pk.jit
def meta(theta, w, x, y):
    """The loss after a step of training, whose loss captures theta: MAML in small."""

    def inner(v):
        return ((pk.tanh(x @ v) * theta - y) ** 2).mean() + (theta**2 * v).sum()

    stepped = w - 0.1 * pk.grad(inner)(w)
    return (pk.sin(stepped) * theta).sum() + inner(stepped)


def reference_meta(np_, grad, theta, w, x, y):
    def inner(v):
        return ((np_.tanh(x @ v) * theta - y) ** 2).mean() + (theta**2 * v).sum()

    stepped = w - 0.1 * grad(inner)(w)
    return (np_.sin(stepped) * theta).sum() + inner(stepped)


def finite(f, args, n, eps=1e-6):
    found = np.zeros_like(args[n])
    for index in np.ndindex(found.shape):
        values = []
        for sign in (1, -1):
            moved = [a.copy() for a in args]
            moved[n][index] += sign * eps
            values.append(f(*moved))
        found[index] = (values[0] - values[1]) / (2 * eps)
    return found


@pytest.mark.parametrize("n", [1, 3, 9])
def test_second_order_through_captured_values(rng, n):
    args = [rng.normal(size=n), rng.normal(size=n), rng.normal(size=(n, n)), rng.normal(size=n)]
    found = pk.grad(meta, argnums=(0, 1, 2, 3))(*args)
    for number in range(4):
        np.testing.assert_allclose(found[number], finite(meta, args, number), rtol=2e-6, atol=2e-7)


def test_second_order_against_jax(rng):
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    args = [rng.normal(size=5), rng.normal(size=5), rng.normal(size=(5, 5)), rng.normal(size=5)]

    def reference(*given):
        return reference_meta(jax.numpy, jax.grad, *given)

    close(meta(*args), reference(*args), 1e-12)
    for found, wanted in zip(
        pk.grad(meta, argnums=(0, 1, 2, 3))(*args),
        jax.grad(reference, argnums=(0, 1, 2, 3))(*args),
        strict=True,
    ):
        close(found, wanted, 1e-10)
    v = rng.normal(size=5)
    wanted = jax.jvp(jax.grad(reference), (args[0], *args[1:]), (v, *(np.zeros_like(a) for a in args[1:])))[1]
    found = pk.jvp(pk.grad(meta), tuple(args), (v, None, None, None))[1]
    close(found, wanted, 1e-9)


@pk.jit
def nested(a, b):
    def outer(s):
        t = s * b

        def middle(u):
            return pk.grad(lambda v: (v**3 * t * u).sum())(u * a)

        return (middle(t) * s).sum()

    return pk.grad(outer)(a)


def test_three_functions_deep(rng):
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    a, b = rng.normal(size=(2, 4))

    def reference(a, b):
        def outer(s):
            t = s * b

            def middle(u):
                return jax.grad(lambda v: (v**3 * t * u).sum())(u * a)

            return (middle(t) * s).sum()

        return jax.grad(outer)(a)

    close(nested(a, b), reference(a, b))
    found = pk.vjp(nested, a, b)[1](np.arange(4.0))
    for one, other in zip(found, jax.vjp(reference, a, b)[1](np.arange(4.0)), strict=True):
        close(one, other)


@pk.jit
def trained(w, x, y, lr, n: pk.static):
    def loss(v):
        return ((pk.sin(x @ v) - y) ** 2).mean()

    for k in pk.range(n):
        rate = lr / (1.0 + k)
        w = w - rate * pk.grad(lambda v: loss(v) + rate * (v * v).sum())(w)  # noqa: B023
    return loss(w)


def test_a_loop_of_steps_and_its_derivative(rng):
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    w, x, y = rng.normal(size=3), rng.normal(size=(6, 3)), rng.normal(size=6)

    def reference(w, x, y, lr):
        def loss(v):
            return ((jax.numpy.sin(x @ v) - y) ** 2).mean()

        for k in range(5):
            rate = lr / (1.0 + k)
            w = w - rate * jax.grad(lambda v, rate=rate: loss(v) + rate * (v * v).sum())(w)
        return loss(w)

    found = pk.value_and_grad(trained, argnums=(0, 1, 2, 3))(w, x, y, 0.1, 5)
    value, wanted = jax.value_and_grad(reference, argnums=(0, 1, 2, 3))(w, x, y, 0.1)
    close(found[0], value)
    for one, other in zip(found[1], wanted, strict=True):
        close(one, other, 1e-9)


@pk.jit
def on_a_path(w, x, n):
    def loss(v):
        if n > 2:
            return (v * v * x).sum()
        return (v * x).sum()

    if n > 1:
        g = pk.grad(loss)(w)
    else:
        g = pk.grad(lambda v: (pk.exp(v) * x).sum())(w)
    return g


@pytest.mark.parametrize("n", [1, 2, 3])
def test_on_paths_of_run_time(rng, n):
    w, x = rng.normal(size=(2, 9))
    close(on_a_path(w, x, n), [np.exp(w) * x, x, 2 * w * x][n - 1])


# -- kernels and derivatives of one's own ---------------------------------------------------------


@pk.kernel
def squares(y, x, c):
    i = pk.index()
    y[i] = c * x[i] * x[i]


@pk.kernel
def recurrence(y, x, c):
    s = 0.0
    for k in range(len(x)):
        s += c * x[k] * s + x[k]
        y[k] = s


@pk.custom_vjp
def straight(x):
    return pk.clamp(x, -0.5, 0.5)


def _forward(x):
    return pk.clamp(x, -0.5, 0.5), ()


def _backward(kept, g):
    return (g,)


straight.defvjp(_forward, _backward)


@pk.jit
def launches(x, c):
    z = 2.0 * x

    def f(a):
        y, w = pk.zeros_like(a), pk.zeros_like(a)
        squares(y, a * z, c, ndrange=a.shape)
        recurrence(w, y, c, ndrange=1)
        return (w * straight(a)).sum()

    return pk.grad(f)(x), f(x)


def test_kernels_and_custom_vjp_in_local_functions(rng):
    x, c = rng.random(5), 0.3
    gradient, _ = launches(x, c)

    @pk.jit
    def outside(a, z, c):
        y, w = pk.zeros_like(a), pk.zeros_like(a)
        squares(y, a * z, c, ndrange=a.shape)
        recurrence(w, y, c, ndrange=1)
        return (w * straight(a)).sum()

    close(gradient, pk.grad(outside)(x, 2 * x, c))


# -- vjp, jvp, hvp --------------------------------------------------------------------------------


@pk.jit
def pulled(x, a, c):
    def f(x, p):
        return {"y": pk.sin(x) @ a * p["s"], "n": 3, "total": x.sum()}, x[0] * p["s"]

    value, pull = pk.vjp(f, x, {"s": c, "k": 2})
    a = a * 0.0  # what `pull` knows is what was there
    x = x * a.sum()
    given = pull(({"y": pk.ones(2), "n": None, "total": 2.0}, 0.5))
    none = pull(({"y": pk.ones(2), "n": None, "total": None}, None))
    return value, given, none, x


def test_vjp_keeps_what_it_saw(rng):
    x, a, c = rng.random(3), rng.random((3, 2)), 1.5
    value, given, none, x_after = pulled(x, a, c)
    y = np.sin(x) @ a * c
    close(value[0]["y"], y)
    assert value[0]["n"] == 3
    close(value[0]["total"], x.sum())
    close(value[1], x[0] * c)
    by_y = np.cos(x) * (a.sum(1) * c)
    close(none[0], by_y)
    close(given[0], by_y + 2 + np.array([0.5 * c, 0, 0]))
    close(none[1]["s"], (np.sin(x) @ a).sum())
    close(given[1]["s"], (np.sin(x) @ a).sum() + 0.5 * x[0])
    assert given[1]["k"] is None
    close(x_after, 0 * x)


def cubes(x, y):
    return x**3 * y


@pk.jit
def all_three(x, y, v):
    def energy(x, y):
        return cubes(x, y).sum() + scale * (x * x).sum()

    scale = 3.0
    value, pull = pk.vjp(cubes, x, y)
    pushed = pk.jvp(cubes, (x, y), (v, None))
    both = pk.jvp(cubes, (x, y), (v, x))
    return value, pull(v), pushed, both, pk.hvp(energy, (x, y), (v, y))


@pytest.mark.parametrize("n", SIZES)
def test_the_three_as_outside(rng, n):
    x, y, v = rng.normal(size=(3, n))
    value, pulled, pushed, both, second = all_three(x, y, v)
    outside = pk.vjp(cubes, x, y)
    close(value, outside[0])
    for one, other in zip(pulled, outside[1](v), strict=True):
        close(one, other)
    for one, other in zip(pushed, pk.jvp(cubes, (x, y), (v, None)), strict=True):
        close(one, other)
    close(both[1], 3 * x**2 * y * v + x**3 * x)
    close(second[0], (6 * x * y + 6) * v + 3 * x**2 * y)
    close(second[1], 3 * x**2 * v)


def test_hvp_of_one_argument_and_numbers(rng):
    @pk.jit
    def program(x, v, t):
        one = pk.hvp(lambda a: (a**4).sum() * t, (x,), (v,))
        number, slope = pk.jvp(lambda s: s * s * t, (t,), (1.0,))
        value, pull = pk.vjp(lambda s: pk.sin(s), t)
        return one, number, slope, value, pull(2.0)

    x, v = rng.normal(size=(2, 5))
    one, number, slope, value, back = program(x, v, 0.5)
    close(one, 12 * x**2 * v * 0.5)
    assert (number, slope) == pytest.approx((0.125, 0.5))
    assert value == pytest.approx(np.sin(0.5))
    assert isinstance(back, tuple) and back[0] == pytest.approx(2 * np.cos(0.5))


@pk.jit
def newton(x, steps):
    """Newton's method: Hessian times vectors in conjugate gradients, all in one program."""

    def f(x):
        return (x**4).sum() / 4 + (x @ x) ** 2 / 4 - x.sum()

    for _ in pk.range(steps):
        g = pk.grad(f)(x)
        d, r = pk.zeros_like(x), -g
        p = r
        for _ in pk.range(len(x)):
            hp = pk.hvp(f, (x,), (p,))
            alpha = (r @ r) / (p @ hp + 1e-300)
            d = d + alpha * p
            r2 = r - alpha * hp
            p = r2 + (r2 @ r2) / (r @ r + 1e-300) * p
            r = r2
        x = x + d
    return x


def test_newton_in_one_program(rng):
    x = newton(1.0 + rng.random(4), 12)
    close(x**3 + (x @ x) * x, np.ones(4), 1e-9)


def test_derivatives_of_programs_that_pull_and_push(rng):
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)

    def make(lib, np_):
        def program(x, a):
            def f(u):
                return np_.sin(u * a) * x

            value, pull = lib.vjp(f, x)
            tangent = lib.jvp(f, (x,), (a,))[1]
            return (pull(value)[0] * tangent).sum()

        return program

    x, a = rng.normal(size=(2, 6))

    @pk.jit
    def program(x, a):
        def f(u):
            return pk.sin(u * a) * x

        value, pull = pk.vjp(f, x)
        tangent = pk.jvp(f, (x,), (a,))[1]
        return (pull(value)[0] * tangent).sum()

    found = pk.value_and_grad(program, argnums=(0, 1))(x, a)
    value, wanted = jax.value_and_grad(make(jax, jax.numpy), argnums=(0, 1))(x, a)
    close(found[0], value)
    for one, other in zip(found[1], wanted, strict=True):
        close(one, other, 1e-10)


# -- argnums --------------------------------------------------------------------------------------


def product(x, y):
    return (x * y).sum()


@pk.jit
def of_one(x, y):
    return pk.grad(product, argnums=(1,))(x, y), pk.value_and_grad(product, (0,))(x, y), of_second(x, y)


of_second = pk.grad(pk.jit(product), argnums=(1,))


def test_a_tuple_of_one_number_gives_a_tuple_of_one(rng):
    x, y = rng.random((2, 4))
    inside, (value, both), captured = of_one(x, y)
    outside = pk.grad(product, argnums=(1,))(x, y)
    pair = pk.value_and_grad(product, argnums=(0,))(x, y)
    for found, wanted in ((inside, x), (both, y), (captured, x), (outside, x), (pair[1], y)):
        assert isinstance(found, tuple) and len(found) == 1
        close(found[0], wanted)
    assert value == pytest.approx(pair[0])
    close(pk.grad(product, argnums=0)(x, y), y)
    for _ in range(4):  # the compiled entry's way
        assert isinstance(pk.grad(product, argnums=(1,))(x, y), tuple)


# -- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "match", "at"),
    [
        ("y = x.copy()\n    def f(a):\n        y[0] = a[0]\n        return y.sum()\n    return pk.grad(f)(x)",
         "of the program around the function", "y[0] = a"),
        ("return pk.grad(lambda a: a * x)(x)", "one float, not an array", "pk.grad(lambda a: a * x)(x)"),
        ("return pk.vjp(lambda a: a * x, x)[1](x[1:])", "the cotangent is", "pk.vjp(lambda a: a * x, x)[1]"),
        ("return pk.vjp(lambda a: (a, a), x)[1](x)", "belongs to a tuple of 2", "pk.vjp"),
        ("return pk.jvp(lambda a: a, (x,), (x, x))", "2 tangents for 1 arguments", "pk.jvp"),
        ("return pk.jvp(lambda a: a, x, x)", "takes tuples of primals", "pk.jvp"),
        ("return pk.jvp(lambda a: a, (x,), (x[:1],))", "the tangent is", "pk.jvp"),
        ("return pk.vjp(lambda a: a, 3)", "given no float", "pk.vjp"),
        ("return pk.vjp(3.0, x)", "takes a function, not 3.0", "pk.vjp"),
        ("return pk.grad(lambda *a: a[0].sum(), argnums=-1)(x)", "count argnums from the first|any number", "pk.grad"),
        ("return pk.grad(lambda a, b: (a * b).sum())(x)", "missing a required argument: 'b'", "pk.grad"),
        ("return pk.grad(lambda a: nothing(a))(x)", "`nothing` is not defined", "nothing"),
    ],
)  # fmt: skip
def test_what_is_refused(body, match, at, tmp_path):
    file = tmp_path / "program.py"
    scope = written(file, f"def program(x):\n    {body}\n", {"pk": pk})
    with pytest.raises(pk.errors.KernelError, match=match) as caught:
        pk.jit(scope["program"])(np.ones(3))
    span = caught.value.span
    assert span is not None
    line = file.read_text().splitlines()[span.line - 1]
    assert at in line and line[span.column :].startswith(at.split("(")[0])
