"""What is computed and not taken has no say in a derivative, whatever it would have been; what is taken is told."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk

X = np.array([0.0, -1.0, 2.0, 4.0, -0.0])
LEVELS = ("direct", "raised")
with np.errstate(all="ignore"):
    ROOT = np.where(X > 0, 0.5 / np.sqrt(X), 0.0)
    ROOT2 = np.where(X > 0, -0.25 * X**-1.5, 0.0)


@pk.jit
def root(x):
    return pk.where(x > 0, pk.sqrt(x), 0.0).sum()


@pk.jit
def root_twice(x):
    s = pk.sqrt(x)
    return (pk.where(x > 0, s, 0.0) + pk.where(x > 3, s, 0.0)).sum()


@pk.jit
def half_power(x):
    return pk.where(x > 0, x**0.5, 0.0).sum()


@pk.jit
def logarithm(x):
    return pk.where(x > 0, pk.log(x) * x, 0.0).sum()


@pk.jit
def reciprocal(x):
    return pk.where(x != 0, pk.sin(x) * (1 / x), 1.0).sum()


@pk.jit
def of_a_slice(x):
    return pk.where(x[1:4] > 0, pk.sqrt(x)[1:4], 0.0).sum()


@pk.jit
def of_a_reshape(x):
    s = pk.sqrt(x).reshape(5, 1)
    return (pk.where(x.reshape(5, 1) > 0, s, 0.0) * pk.ones((5, 3))).sum() / 3


@pk.jit
def of_differences(x):
    s = pk.sqrt(x)
    return pk.where(pk.minimum(x[1:], x[:-1]) > 0, s[1:] - s[:-1], 0.0).sum()


@pk.jit
def of_a_sum(x):
    total = (1.0 / x).sum()
    return pk.where(x[1] > 0, total, 0.0) + x[2]


@pk.jit
def of_a_loop(x):
    t = x
    for _ in pk.range(2):
        t = pk.sqrt(t)
    return pk.where(x > 0, t, 0.0).sum()


@pk.jit
def greatest(x):
    return pk.sqrt(abs(x)).max()


@pk.jit
def at_least_one(x):
    return pk.maximum(pk.sqrt(x), 1.0).sum()


with np.errstate(all="ignore"):
    PROGRAMS = [
        (root, ROOT, ROOT2),
        (root_twice, ROOT * (1 + (X > 3)), ROOT2 * (1 + (X > 3))),
        (half_power, ROOT, ROOT2),
        (logarithm, np.where(X > 0, np.log(X) + 1, 0), np.where(X > 0, 1 / X, 0)),
        (
            reciprocal,
            np.where(X != 0, np.cos(X) / X - np.sin(X) / X**2, 0),
            np.where(X != 0, -np.sin(X) / X - 2 * np.cos(X) / X**2 + 2 * np.sin(X) / X**3, 0),
        ),
        (of_a_slice, ROOT, ROOT2),
        (of_a_reshape, ROOT, ROOT2),
        (of_differences, ROOT * [0, 0, -1, 1, 0], ROOT2 * [0, 0, -1, 1, 0]),
        (of_a_sum, np.array([0.0, 0, 1, 0, 0]), np.zeros(5)),
        (of_a_loop, np.where(X > 0, 0.25 * X**-0.75, 0), np.where(X > 0, -0.1875 * X**-1.75, 0)),
        (greatest, ROOT * [0, 0, 0, 1, 0], ROOT2 * [0, 0, 0, 1, 0]),
        (at_least_one, ROOT, ROOT2),
    ]


@pytest.mark.parametrize(
    ("program", "slope", "curvature"), PROGRAMS, ids=lambda p: getattr(p, "__name__", "")
)
def test_programs_in_every_mode(program, slope, curvature):
    close = np.testing.assert_allclose
    close(pk.grad(program)(X), slope, rtol=1e-12, atol=1e-15)
    close(pk.vjp(program, X)[1](2.0)[0], 2 * slope, rtol=1e-12, atol=1e-15)
    v = np.array([0.5, 2.0, -1.0, 3.0, 1.0])
    close(pk.jvp(program, (X,), (v,))[1], slope @ v, rtol=1e-12)
    close(pk.hvp(program, (X,), (v,)), curvature * v, rtol=1e-12, atol=1e-14)


@pk.kernel
def choosing(y, x):
    i = pk.index()
    s = pk.sqrt(x[i])
    y[i] = s if x[i] > 0 else 0.0


@pk.kernel
def choosing_twice(y, x):
    i = pk.index()
    s = pk.sqrt(x[i])
    y[i] = pk.where(x[i] > 0, s, 0.0) + pk.where(x[i] > 3, s, 0.0)


@pk.kernel
def in_a_branch(y, x):
    i = pk.index()
    s = pk.sqrt(x[i])
    if x[i] > 0:
        for _ in range(2):
            y[i] += s
    else:
        y[i] = 0.0


@pk.kernel
def greatest_root(y, x):
    i = pk.index()
    m = -1.0
    for j in range(x.shape[0]):
        m = max(m, pk.sqrt(abs(x[j])))
    y[i] = m


@pk.kernel
def roots_in_a_loop(y, x):
    i = pk.index()
    t = x[i]
    for _ in range(2):
        t = pk.sqrt(t)
    y[i] = t if x[i] > 0 else 0.0


KERNELS = [
    (choosing, ROOT, LEVELS),
    (choosing_twice, ROOT * (1 + (X > 3)), LEVELS),
    (in_a_branch, 2 * ROOT, LEVELS),
    (greatest_root, 5 * ROOT * [0, 0, 0, 1, 0], LEVELS),
    (roots_in_a_loop, PROGRAMS[9][1], ("direct",)),
]


@pytest.mark.parametrize(
    ("kernel", "slope", "level"), [(k, s, level) for k, s, levels in KERNELS for level in levels]
)
def test_kernels_at_both_levels(kernel, slope, level):
    n, dx, tangent = len(X), np.zeros(len(X)), np.zeros(len(X))
    pk.autodiff(kernel, level=level)(pk.Dup(np.zeros(n), np.ones(n)), pk.Dup(X.copy(), dx), ndrange=n)
    np.testing.assert_allclose(dx, slope, rtol=1e-12)
    pk.autodiff(kernel, mode="forward", level=level)(
        pk.Dup(np.zeros(n), tangent), pk.Dup(X.copy(), np.ones(n)), ndrange=n
    )
    np.testing.assert_allclose(tangent.sum(), slope.sum(), rtol=1e-12)


@pk.jit
def taken(x):
    return pk.sqrt(x).sum()


@pk.jit
def norm(x):
    return pk.sqrt((x * x).sum())


@pk.kernel
def taken_in_a_kernel(y, x):
    i = pk.index()
    y[i] = pk.sqrt(x[i])


def test_what_is_taken_is_told_as_jax_does():
    with np.errstate(all="ignore"):
        expected = 0.5 / np.sqrt(X[:4])
    np.testing.assert_array_equal(pk.grad(taken)(X[:4]), expected)
    assert np.isnan(pk.grad(norm)(np.zeros(3))).all()
    for level in LEVELS:
        dx = np.zeros(4)
        pk.autodiff(taken_in_a_kernel, level=level)(
            pk.Dup(np.zeros(4), np.ones(4)), pk.Dup(X[:4].copy(), dx), ndrange=4
        )
        np.testing.assert_array_equal(dx, expected)
