"""What a program computes and does not take has no say: around loops, through gathers, windows, launches.

`X` holds zeros and negative numbers, at which roots have infinite derivatives or none; the expected slopes are those
of the formula with the root taken of positive numbers alone.
"""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk

X = np.array([0.0, -1.0, 2.0, 4.0, -0.0, 0.25])
PLACES = (3 * np.arange(6) + 2) % 5
READS = np.bincount(PLACES, minlength=6)
ONES, ZEROS = np.ones(6), np.zeros(6)
with np.errstate(all="ignore"):
    ROOT = np.where(X > 0, 0.5 / np.sqrt(X), 0.0)
    ROOT2 = np.where(X > 0, -0.25 * X**-1.5, 0.0)
    EIGHTH = np.where(X > 0, X**-0.875 / 8, 0.0)
    EIGHTH2 = np.where(X > 0, -7 / 64 * X**-1.875, 0.0)


@pk.jit
def branch_of_a_trip(x):
    t = x
    for k in pk.range(2):
        if k == 1:
            t = x * 2.0
        else:
            t = pk.sqrt(t)
    return t.sum()


@pk.jit
def branch_never_gone(x):
    s = pk.sqrt(x)
    r = 0.0 * x
    for k in pk.range(3):
        if k > 5:
            r = r + s
        else:
            r = r + x
    return r.sum()


@pk.jit
def greatest_in_a_loop(x):
    m = -1.0
    for k in pk.range(6):
        m = pk.maximum(m, pk.sqrt(abs(x[k])))
    return m


@pk.jit
def of_the_last_trip(x):
    r = 0.0 * x
    for k in pk.range(4):
        r = pk.where(k == 3, x * x, r + pk.sqrt(x))
    return r.sum()


@pk.jit
def overwritten(x):
    u = pk.sqrt(x)
    for k in pk.range(6):
        if not x[k] > 0:
            u[k] = 0.0
    return u.sum()


@pk.jit
def overwritten_slices(x):
    u = pk.sqrt(x)
    u[:2] = 1.0
    u[4:5] = x[1:2]
    return u.sum()


@pk.jit
def one_by_one(x):
    u = pk.zeros(6)
    for k in pk.range(6):
        u[k] = pk.sqrt(x[k])
    return pk.where(x > 0, u, 0.0).sum()


@pk.jit
def until(x):
    t, n = x, 0
    while n < 3:
        t = pk.sqrt(t)
        n = n + 1
    return pk.where(x > 0, t, 0.0).sum()


@pk.jit
def left_early(x):
    t = x
    for k in pk.range(5):
        t = pk.sqrt(t)
        if k == 2:
            break
    return pk.where(x > 0, t, 0.0).sum()


@pk.jit
def slices_in_a_loop(x):
    s, t = pk.sqrt(x), pk.zeros(4)
    for _ in pk.range(3):
        t = t + pk.where(x[1:5] > 0, s[1:5], 0.0)
    return t.sum() / 3


@pk.jit
def gathered(x):
    s, k = pk.sqrt(x), (3 * pk.arange(6) + 2) % 5
    return pk.where(x[k] > 0, s[k], 0.0).sum()


@pk.jit
def gathered_twice(x):
    s, k = pk.sqrt(x), (3 * pk.arange(6) + 2) % 5
    return (pk.where(x[k] > 100.0, s[k], 0.0) + pk.where(x[k] > 3.0, s[k], 0.0)).sum()


@pk.jit
def differences(x):
    s = pk.sqrt(x)
    return pk.where(x[1:-1] > 100.0, s[2:] + s[:-2] - 2 * s[1:-1], x[1:-1]).sum()


@pk.kernel
def window(y, x):
    i = pk.index()
    total = 0.0
    for k in range(3):
        total += x[i + k] * (k + 1)
    y[i] = total


@pk.jit
def windows(x):
    y = pk.zeros(4)
    window(y, pk.sqrt(x), ndrange=4)
    return pk.where(x[1:5] > 100.0, y, x[1:5]).sum()


@pk.kernel
def diagonal(y, x):
    i = pk.index()
    total = 0.0
    for j in range(2):
        total += x[j, j] * (i + 1)
    y[i] = total


@pk.jit
def diagonals(x):
    y = pk.zeros(3)
    diagonal(y, pk.sqrt(x).reshape(2, 3), ndrange=3)
    return pk.where(x[:3] > 100.0, y, x[:3]).sum()


@pk.kernel
def slow_root(y, x):
    """Not raised: it stays a launch."""
    i = pk.index()
    t = x[i]
    n = 0
    while n < 1 and t < 1e9:
        t = pk.sqrt(t)
        n += 1
    y[i] = t


@pk.jit
def launched(x):
    y = pk.zeros(6)
    slow_root(y, x, ndrange=6)
    return pk.where(x > 0, y, 0.0).sum()


@pk.jit
def launched_behind_a_root(x):
    y = pk.zeros(6)
    slow_root(y, pk.sqrt(x), ndrange=6)
    return pk.where(x > 0, y * y, 0.0).sum()


@pk.jit
def a_product_of_roots(x):
    return pk.where(x[0] > 100.0, pk.sqrt(x).prod(), 0.0) + (x * x).sum()


MIDDLE = np.array([0.0, 1, 1, 1, 1, 0])
PROGRAMS = {
    branch_of_a_trip: (2 * ONES, ZEROS),
    branch_never_gone: (3 * ONES, ZEROS),
    greatest_in_a_loop: (ROOT * [0, 0, 0, 1, 0, 0], ROOT2 * [0, 0, 0, 1, 0, 0]),
    of_the_last_trip: (2 * X, 2 * ONES),
    overwritten: (ROOT, ROOT2),
    overwritten_slices: (ROOT * [0, 0, 1, 1, 0, 1] + [0, 1, 0, 0, 0, 0], ROOT2 * [0, 0, 1, 1, 0, 1]),
    one_by_one: (ROOT, ROOT2),
    until: (EIGHTH, EIGHTH2),
    left_early: (EIGHTH, EIGHTH2),
    slices_in_a_loop: (ROOT * MIDDLE, ROOT2 * MIDDLE),
    gathered: (ROOT * READS, ROOT2 * READS),
    gathered_twice: (ROOT * [0, 0, 0, 1, 0, 0], ROOT2 * [0, 0, 0, 1, 0, 0]),
    differences: (MIDDLE, ZEROS),
    windows: (MIDDLE, ZEROS),
    diagonals: (np.array([1.0, 1, 1, 0, 0, 0]), ZEROS),
    launched: (ROOT, ROOT2),
    launched_behind_a_root: (np.where(X > 0, 0.5 / np.sqrt(np.abs(X) + (X <= 0)), 0.0), ROOT2),
    a_product_of_roots: (2 * X, 2 * ONES),
}
"""Slopes and curvatures."""
PLAIN_LOOPS = (
    branch_of_a_trip,
    branch_never_gone,
    greatest_in_a_loop,
    of_the_last_trip,
    overwritten,
    one_by_one,
)


@pytest.mark.parametrize("program", PROGRAMS)
def test_in_every_mode(program):
    slope, curvature = PROGRAMS[program]
    close, v = np.testing.assert_allclose, np.arange(1.0, 7.0)
    close(pk.grad(program)(X), slope, rtol=1e-12, atol=1e-15)
    close(pk.vjp(program, X)[1](2.0)[0], 2 * slope, rtol=1e-12, atol=1e-15)
    close(pk.jvp(program, (X,), (v,))[1], slope @ v, rtol=1e-12)
    close(pk.hvp(program, (X,), (v,)), curvature * v, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("program", PLAIN_LOOPS)
@pytest.mark.parametrize("policy", [pk.every(2), pk.binomial(2)])
def test_with_checkpoints(program, policy):
    found = pk.grad(program, checkpoint=policy)(X)
    np.testing.assert_allclose(found, PROGRAMS[program][0], rtol=1e-12, atol=1e-15)


@pk.jit
def limited(x, steps: pk.static):
    u = x
    for _ in pk.range(steps):
        u = u * 0.9 + 0.1 * pk.minimum(u, 0.5)
    return (u * u).sum()


@pk.jit
def smoothed(x, steps: pk.static):
    u = pk.copy(x)
    for _ in pk.range(steps):
        u[1:-1] = u[1:-1] + 0.1 * (u[2:] - u[:-2]) / (1.0 + u[1:-1] ** 2)
    return (u * u).sum()


@pytest.mark.parametrize("program", [limited, smoothed])
def test_loops_in_which_all_flows_carry_no_gates(program):
    """Of what has no infinite derivative none are made; of what flows everywhere they are known to be open."""
    assert "tensor<6xi8>" not in stages(program, X, 4)
    assert "tensor<6xi8>" in stages(of_the_last_trip, X)


def stages(program, *args):
    return "".join(stage.text for stage in pk.grad(program).lower(*args).stages)


@pk.jit
def power(x, y):
    return (x**y).sum()


def test_the_mixed_derivative_of_a_power_where_the_exponent_is_zero():
    """d/dy of y x**(y - 1) is 1 / x at y = 0."""
    x, y = np.array([2.0, 3.0, 0.5]), np.array([0.0, 2.0, -0.0])
    v = np.array([1.0, -2.0, 0.5])
    by_x, by_y = pk.hvp(power, (x, y), (np.zeros(3), v))
    mixed = x ** (y - 1) * (1 + y * np.log(x))
    np.testing.assert_allclose(by_x, mixed * v, rtol=1e-12)
    np.testing.assert_allclose(by_y, x**y * np.log(x) ** 2 * v, rtol=1e-12)
    np.testing.assert_array_equal(pk.grad(power)(np.zeros(3), np.array([0.0, 1.0, 2.0])), [0, 1, 0])


def test_the_stages_of_a_launch_with_gates_are_valid():
    """Each is verified where stages are asked for."""
    assert "vjp.gated" in pk.grad(launched).lower(X).stage("gradient").text
