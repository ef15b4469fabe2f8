"""Derivatives of programs that take derivatives on paths, in loops and of launches: finite differences, devices."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk


@pk.jit
def on_paths(w, x, c):
    def loss(v):
        if c > 0.5:
            return (v**3 * x).sum()
        return (pk.sin(v) * x).sum()

    if c > 0.2:
        g = pk.grad(loss)(w)
    else:
        g = pk.grad(lambda v: pk.exp(v * x).sum())(w)
    return (g * g * w).sum()


@pk.jit
def pulled_in_a_loop(w, x, n: pk.static):
    def f(v):
        return pk.sin(v * x)

    value, pull = pk.vjp(f, w)
    s = w
    for _ in pk.range(n):
        s = pull(s)[0] + pk.jvp(f, (s,), (x,))[1]
    return (s * value).sum()


@pk.jit
def hessian_of_a_loop(w, x, n: pk.static):
    def f(v):
        s = v
        for _ in pk.range(n):
            s = pk.sin(s * x) + v
        return (s * s).sum()

    return (pk.hvp(f, (w,), (x,)) * w).sum()


@pk.kernel
def cubes(y, x, c):
    i = pk.index()
    y[i] = c * x[i] * x[i] * x[i]


@pk.jit
def of_a_launch(w, x, c):
    def f(v):
        y = pk.empty_like(v)
        cubes(y, v * x, c, ndrange=v.shape)
        return y.sum()

    return (pk.grad(f)(w) * w).sum()


@pk.jit
def arguments_written(w, x, c):
    def f(v, d):
        v[0] = v[0] * 2
        d["w"] = d["w"] * v
        return (d["w"] * x).sum() * c

    return (pk.grad(f)(w, {"w": x * w}) * w).sum() + w[0]


CASES = [
    (on_paths, 0.9), (on_paths, 0.3), (on_paths, 0.1), (pulled_in_a_loop, 3), (hessian_of_a_loop, 3),
    (of_a_launch, 0.7), (arguments_written, 0.7),
]  # fmt: skip
NAMES = [f"{program.__name__}-{last}" for program, last in CASES]


@pytest.mark.parametrize(("program", "last"), CASES, ids=NAMES)
def test_finite_differences(program, last, rng):
    given = [rng.random(3), rng.random(3)]
    found = pk.grad(program, argnums=(0, 1))(*given, last)
    for number in (0, 1):
        for k in range(3):
            values = []
            for step in (1e-6, -1e-6):
                moved = [a.copy() for a in given]
                moved[number][k] += step
                values.append(program(*moved, last))
            np.testing.assert_allclose(found[number][k], (values[0] - values[1]) / 2e-6, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("device", ["opencl:0", "vulkan:0"], indirect=True)
@pytest.mark.parametrize(
    "program", [pulled_in_a_loop, of_a_launch, arguments_written], ids=lambda p: p.__name__
)
def test_on_devices(device, program, rng):
    w, x, last = rng.random(40), rng.random(40), 2
    wanted = pk.grad(program)(w, x, last)
    found = pk.grad(program)(pk.asarray(w, device=device), pk.asarray(x, device=device), last)
    np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-11)
