"""Where derivatives easily go wrong: kinks, zeros, what a branch did not compute; against JAX or by hand."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk

LEVELS = ("direct", "raised")


def gradients(kernel, *arrays, level, seed=None):
    """The gradients by all arrays of a kernel ``(y, *arrays)`` on elements, at a cotangent of one."""
    n = len(arrays[0])
    found = [np.zeros(n) for _ in arrays]
    dy = np.ones(n) if seed is None else seed.copy()
    dups = [pk.Dup(a.copy(), d) for a, d in zip(arrays, found, strict=True)]
    pk.autodiff(kernel, level=level)(pk.Dup(np.zeros(n), dy), *dups, ndrange=n)
    return found


@pk.kernel
def guarded_root(y, x):
    i = pk.index()
    y[i] = pk.sqrt(x[i]) if x[i] > 0 else 0.0 * x[i]


@pk.kernel
def guarded_logarithms(y, x):
    i = pk.index()
    s = 0.0
    if x[i] > 0:
        for j in range(3):
            s += pk.log(x[i] * (j + 1)) * x[i]
    elif x[i] < -0.5:
        s = pk.sqrt(-x[i] - 0.5) + 1.0 / (x[i] + 0.5)
    y[i] = s * x[i]


@pytest.mark.parametrize("level", LEVELS)
def test_what_a_branch_did_not_compute_has_no_say(level):
    x = np.array([0.0, -0.0, 1.0, 2.5, -0.5, -1.5, np.inf])
    (root,) = gradients(guarded_root, x, level=level)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(root, np.where(x > 0, 0.5 / np.sqrt(x), 0.0))
    (found,) = gradients(guarded_logarithms, x[:-1], level=level)
    x = x[:-1]
    with np.errstate(all="ignore"):
        logs = 2 * x * np.log(6 * x**3) + 3 * x
        r = np.sqrt(-x - 0.5)
        rest = r - 0.5 * x / r + 1 / (x + 0.5) - x / (x + 0.5) ** 2
    np.testing.assert_allclose(found, np.where(x > 0, logs, np.where(x < -0.5, rest, 0.0)), rtol=1e-12)


@pk.kernel
def remainder(y, x, z):
    i = pk.index()
    y[i] = x[i] % z[i]


@pytest.mark.parametrize("level", LEVELS)
def test_remainder(level):
    """Also at multiples, where the result is a zero with the sign of the divisor."""
    x = np.array([5.5, -5.5, 5.5, -5.5, 4.0, -4.0, 4.0, -4.0, 0.0])
    z = np.array([2.0, 2.0, -2.0, -2.0, 2.0, 2.0, -2.0, -2.0, 3.0])
    dx, dz = gradients(remainder, x, z, level=level)
    np.testing.assert_array_equal(dx, 1)
    np.testing.assert_array_equal(dz, -np.floor(x / z))
    y = np.zeros(9)
    remainder(y, x, z, ndrange=9)
    np.testing.assert_array_equal(y, np.mod(x, z))
    np.testing.assert_array_equal(np.signbit(y), np.signbit(np.mod(x, z)))


@pk.kernel
def cube_root(y, x):
    i = pk.index()
    y[i] = pk.cbrt(x[i])


@pytest.mark.parametrize("level", LEVELS)
def test_cube_root(level):
    (dx,) = gradients(cube_root, np.array([0.0, -0.0, 8.0, -8.0, np.inf]), level=level)
    np.testing.assert_allclose(dx, [np.inf, np.inf, 1 / 12, 1 / 12, 0])


@pk.kernel
def diagonals(y, x, z):
    """Indices that come twice."""
    i = pk.index()
    s = 0.0
    for j in range(x.shape[0]):
        s += x[j, j] * z[i]
    y[i] = pk.sin(x[i, i]) * s


@pytest.mark.parametrize("level", LEVELS)
def test_diagonals(level):
    random = np.random.default_rng(3)
    pk.check_grads(diagonals, (np.zeros(6), random.random((6, 6)), random.random(6)), ndrange=6, level=level)


@pk.kernel
def kinks(y, x, z):
    i = pk.index()
    y[i] = abs(x[i]) + max(x[i], z[i]) + pk.minimum(x[i], 2.0 * z[i]) + x[i] ** z[i]


@pytest.mark.parametrize("level", LEVELS)
def test_kinks_and_zeros(level):
    """Ties are halves, ``abs`` is flat at zero, and ``0 ** 0`` is a constant, as everywhere in the project."""
    x, z = np.array([0.0, 1.0, 2.0, 0.0]), np.array([0.0, 1.0, 1.0, 2.0])
    dx, dz = gradients(kinks, x, z, level=level)
    np.testing.assert_allclose(dx, [0 + 0.5 + 0.5 + 0, 1 + 0.5 + 1 + 1, 1 + 1 + 0.5 + 1, 0 + 0 + 1 + 0])
    np.testing.assert_allclose(dz, [0.5 + 1, 0.5 + 0, 0 + 1 + 2 * np.log(2), 1 + 0 + 0])


@pk.kernel
def placed(y, x):
    i = pk.index()
    y[i] = x[i] * x[i] * (1.0 + i)


@pk.kernel
def squared_again(y):
    i = pk.index()
    y[i] = y[i] * y[i]


@pytest.mark.parametrize("level", ["auto", "direct"])
def test_launches_in_turn_are_reversed_in_turn(level):
    """The second launch writes over what the first wrote, in part: that gets nothing twice."""
    x, dx, dy = np.arange(1.0, 7.0), np.zeros(6), np.ones(6)
    twice = [range(4), range(2, 6)]
    pk.autodiff(placed, level=level)(pk.Dup(np.zeros(6), dy), pk.Dup(x, dx), ndrange=twice)
    np.testing.assert_array_equal(dx, 2 * x * np.arange(1.0, 7.0))
    assert not dy.any()


@pytest.mark.parametrize("level", ["auto", "direct"])
def test_launches_in_turn_that_depend_on_each_other_are_refused(level):
    y, dy = np.array([3.0]), np.ones(1)
    with pytest.raises(pk.NotDifferentiable, match="reads what it writes") as error:
        pk.autodiff(squared_again, level=level)(pk.Dup(y, dy), ndrange=[(1,), (1,)])
    assert error.value.span is not None
    assert dy[0] == 1
    assert y[0] == 3


def test_what_lies_beside_the_index_space_is_left_alone():
    for level in ("auto", "direct", "raised"):
        x, dx, dy = np.ones(9), np.zeros(9), np.ones(9)
        pk.autodiff(placed, level=level)(pk.Dup(np.zeros(9), dy), pk.Dup(x, dx), ndrange=(range(7, 0, -3),))
        np.testing.assert_array_equal(dy, [1, 0, 1, 1, 0, 1, 1, 0, 1])
        np.testing.assert_array_equal(np.flatnonzero(dx), [1, 4, 7])
        pk.autodiff(placed, level=level)(pk.Dup(np.zeros(9), dy), pk.Dup(x, dx), ndrange=0)
        assert dy.sum() == 6


@pk.kernel
def one_picture(y, x, f):
    n, o, j = pk.index()
    total = 0.0
    for c in range(x.shape[1]):
        for q in range(f.shape[2]):
            total += x[n, c, 1, 3 * j + 2 - q] * f[o, c, q]
    y[n, o, 0, j] = total


@pk.jit
def of_one_picture(y, x, f, seed):
    y = pk.copy(y)
    one_picture(y, x, f, ndrange=(y.shape[0], y.shape[1], y.shape[3]))
    return (y * seed).sum()


@pytest.mark.parametrize("pictures", [1, 2])
def test_axes_of_length_one_beside_fixed_indices(pictures):
    """Which of two axes of length 1 a slice drops, the batch or the fixed one, is not the same."""
    rng = np.random.default_rng(3)
    y, seed = rng.random((2, pictures, 4, 1, 16))
    x, f = rng.random((pictures, 3, 2, 48)), rng.random((4, 3, 3))
    value, (dx, df) = pk.value_and_grad(of_one_picture, argnums=(1, 2))(y, x, f, seed)
    windows = x[:, :, 1].reshape(pictures, 3, 16, 3)[..., ::-1]
    np.testing.assert_allclose(value, np.einsum("ncjq,ocq,noj->", windows, f, seed[:, :, 0]), rtol=1e-12)
    np.testing.assert_allclose(df, np.einsum("ncjq,noj->ocq", windows, seed[:, :, 0]), rtol=1e-12)
    expected = np.zeros_like(x)
    expected[:, :, 1] = np.einsum("ocq,noj->ncjq", f, seed[:, :, 0])[..., ::-1].reshape(pictures, 3, 48)
    np.testing.assert_allclose(dx, expected, rtol=1e-12)


@pk.kernel
def backwards_and_apart(y, x, f):
    i = pk.index()
    total = 0.0
    for p in range(8):
        total += x[i + (7 - p) * 2] * f[p]
    y[i] = total


@pk.jit
def of_backwards(y, x, f, seed):
    y = pk.copy(y)
    backwards_and_apart(y, x, f, ndrange=y.shape)
    return (y * seed).sum()


def test_places_that_are_kept_in_arrays():
    rng = np.random.default_rng(3)
    x, f, seed = rng.random(114), rng.random(8), rng.random(100)
    dx = pk.grad(of_backwards, argnums=1)(np.zeros(100), x, f, seed)
    expected = np.zeros_like(x)
    for p in range(8):
        expected[(7 - p) * 2 : (7 - p) * 2 + 100] += f[p] * seed
    np.testing.assert_allclose(dx, expected, rtol=1e-12)
