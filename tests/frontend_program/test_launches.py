"""Kernels called in array programs, against the same program over the kernels' NumPy meaning."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from tests.frontend_program.execute import build, run
from tests.frontend_program.test_programs import arrays, close


@pk.kernel
def heat(u2, u, c, dt):
    i, j = pk.index()
    if 0 < i < u.shape[0] - 1 and 0 < j < u.shape[1] - 1:
        lap = u[i + 1, j] + u[i - 1, j] + u[i, j + 1] + u[i, j - 1] - 4 * u[i, j]
        u2[i, j] = u[i, j] + dt * c[i, j] * lap


def heat_in_numpy(u2, u, c, dt):
    lap = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
    u2[1:-1, 1:-1] = u[1:-1, 1:-1] + dt * c[1:-1, 1:-1] * lap


@pk.kernel
def scale(y, x, factor: pk.f32, shift: pk.static):
    i = pk.index()
    y[i] = x[i] * factor + shift


@pk.kernel(workgroup=4)
def add(y: pk.InOut[pk.f64[:]], x: pk.In[pk.f64[:]], pair):
    i = pk.index()
    y[i] += x[i] * pair[0] + pair[1]


@pytest.mark.parametrize("n", [0, 1, 4, 5])
def test_time_loop(rng, n):
    def program(u, c, dt, n):
        u2 = u.copy()
        for _ in pk.range(n):
            heat(u2, u, c, dt, ndrange=u.shape)
            u, u2 = u2, u
        return u

    u, c = arrays(rng, (6, 7), (6, 7))
    mine, current = u.copy(), u.copy()
    got = run(program, mine, c, 0.1, n)
    other = u.copy()
    buffer = current
    for _ in range(n):
        heat_in_numpy(other, current, c, 0.1)
        current, other = other, current
    close(got, current)
    close(mine, buffer)  # the caller's array was one of the two


def test_launch_writes_an_argument(rng):
    def program(y, x):
        scale(y, x, 3, 1, ndrange=x.shape)
        add(y, x, (2.0, 1), ndrange=(range(1, len(x), 2),))
        return y.sum()

    x, y = arrays(rng, (9,), (9,))
    expected = x * 3 + 1
    expected[1::2] += x[1::2] * 2 + 1
    close(run(program, y, x), np.float64(expected.sum()))
    close(y, expected)


def test_one_array_twice(rng):
    def program(x):
        scale(x, x, 2.0, 0, ndrange=x.shape)
        return x

    [x] = arrays(rng, (5,), dtype="f4")
    close(run(program, x.copy()), x * 2)


def test_what_was_read_before_stays(rng):
    def program(x):
        before = x * 1
        y = x.copy()
        old = x + y
        scale(x, y, 2.0, 0, ndrange=x.shape)
        return before, old, x, y

    [x] = arrays(rng, (5,))
    close(run(program, x.copy()), (x, x + x, x * 2, x))


def test_launch_in_a_branch(rng):
    def program(x, flag):
        if flag:
            scale(x, x, 2.0, 0, ndrange=4)
        return x

    [x] = arrays(rng, (5,))
    doubled = np.concatenate((x[:4] * 2, x[4:]))
    close(run(program, x.copy(), True), doubled)
    close(run(program, x.copy(), False), x)


def test_a_kernel_is_built_once_for_a_kind_of_call(rng):
    def program(x):
        y = pk.zeros_like(x)
        scale(y, x, 1.0, 0, ndrange=x.shape)
        scale(x, y, 2.0, 0, ndrange=x.shape)
        scale(x, y, 2.0, 1, ndrange=x.shape)
        scale(y, x, 2.0, 0, ndrange=0)
        return x

    text = build(program, *arrays(rng, (5,)))
    assert text.count("kern.kernel") == 2
    assert text.count('"kern.launch"') == 3
    assert text.count("read_only") == 3


def test_launch_attributes(rng):
    def program(x):
        add(x, x * 1, (1.0, 2.0), ndrange=(range(8, 0, -2),))

    text = build(program, *arrays(rng, (9,)))
    assert (
        "ndrange = array<i64: 4>, starts = array<i64: 8>, steps = array<i64: -2>, workgroup = array<i64: 4>"
        in text
    )


def test_small_types(rng):
    @pk.kernel
    def flags(y, x, limit):
        i = pk.index()
        y[i] = x[i] > limit

    def program(x, limit):
        y = pk.zeros(x.shape, pk.bool_)
        flags(y, x, limit, ndrange=len(x))
        return y, x[y.argmax()]

    x = rng.integers(0, 255, 7, dtype="u1")
    got, first = run(program, x, np.uint8(100))
    close(got, x > 100)
    assert first == x[np.argmax(x > 100)]
