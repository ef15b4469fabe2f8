"""Derivatives through conversions between types, and `check_grads` where one is wrong."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import pykern as pk

LEVELS = ("direct", "raised")
TYPES = (np.float64, np.float32, np.float16, ml_dtypes.bfloat16)
X = np.array([1.0, 2.5, -3.0, 0.375, 0.0])


@pk.kernel
def scaled(y, x):
    i = pk.index()
    y[i] = x[i] * 3.0


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("into", TYPES)
@pytest.mark.parametrize("source", TYPES)
def test_kernels_between_all_floats(source, into, level):
    n = len(X)
    dx, dy = np.zeros(n, source), np.ones(n, into)
    pk.autodiff(scaled, level=level)(pk.Dup(np.zeros(n, into), dy), pk.Dup(X.astype(source), dx), ndrange=n)
    np.testing.assert_array_equal(dx.astype(float), 3.0)
    tangent, out = np.ones(n, source), np.zeros(n, into)
    pk.autodiff(scaled, mode="forward", level=level)(
        pk.Dup(np.zeros(n, into), out), pk.Dup(X.astype(source), tangent), ndrange=n
    )
    np.testing.assert_array_equal(out.astype(float), 3.0)


@pk.jit
def halves(x):
    return pk.cast(x, pk.f16).sum()


@pk.jit
def weighted(x, c):
    return (x * x).sum() * c


@pk.jit
def through_halves(x):
    return (pk.cast(pk.cast(x, pk.f16) * 2, pk.f64) * x).sum()


def test_programs_through_f16():
    np.testing.assert_array_equal(pk.grad(halves)(X), np.ones(len(X)))
    np.testing.assert_array_equal(pk.jvp(halves, (X,), (X,))[1], np.float16(X.sum()))
    np.testing.assert_array_equal(pk.grad(through_halves)(X), 4 * X)
    half = X.astype(np.float16)
    by_x, by_c = pk.grad(weighted, (0, 1))(half, np.float64(1.5))
    np.testing.assert_array_equal(by_x, (3 * X).astype(np.float16))
    np.testing.assert_array_equal(by_c, (X * X).sum())


def test_derivatives_are_rounded_once():
    """A cotangent in f64 between two f16, a hair above the middle: by way of f32 it would go down."""
    seed = np.array(
        [1 + 2.0**-11 + 2.0**-40, -(1 + 2.0**-11 + 2.0**-40), 1 + 2.0**-11, 7e4, 2.0**-25 + 2.0**-60]
    )
    half = np.zeros(5, np.float16)

    @pk.jit
    def widened(x):
        return pk.cast(x, pk.f64) * 1.0

    _, pull = pk.vjp(widened, half)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(pull(seed)[0], seed.astype(np.float16))
    dx = np.zeros(5, np.float16)
    pk.autodiff(copied, level="direct")(pk.Dup(np.zeros(5), seed.copy()), pk.Dup(half, dx), ndrange=5)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(dx, seed.astype(np.float16))


@pk.kernel
def copied(y, x):
    i = pk.index()
    y[i] = x[i]


@pk.kernel
def printing(y, x):
    i = pk.index()
    if i == 7:
        pk.print("x", x[i])
    y[i] = x[i] * 3.0


def test_a_print_reads_bits_and_changes_nothing():
    dx = np.zeros(3)
    pk.autodiff(printing)(pk.Dup(np.zeros(3), np.ones(3)), pk.Dup(X[:3].copy(), dx), ndrange=3)
    np.testing.assert_array_equal(dx, 3.0)


@pk.kernel
def stopped(y, x):
    i = pk.index()
    y[i] = pk.stop_gradient(x[i]) * x[i]


@pk.jit
def launches_stopped(x):
    y = pk.zeros_like(x)
    stopped(y, x, ndrange=x.shape[0])
    return y.sum()


def test_stop_gradient_in_a_kernel_that_a_program_launches():
    np.testing.assert_array_equal(pk.grad(launches_stopped)(X), X)


@pk.kernel
def stopped_halves(y, x):
    i = pk.index()
    y[i] = pk.stop_gradient(pk.cast(x[i], pk.f16))


@pk.kernel
def small(y, x):
    i = pk.index()
    y[i] = 1e-8 * pk.stop_gradient(x[i])


@pk.jit
def stopped_sum(x):
    return pk.stop_gradient(pk.cast(x, pk.f16)).sum()


@pk.jit
def faint(x):
    return (1e-10 * pk.stop_gradient(x)).sum()


@pk.jit
def undefined(x):
    return pk.sqrt(x).sum()


@pk.jit
def integers(x):
    return pk.cast(x, pk.i32).sum()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_check_grads_sees_a_derivative_that_is_lost(dtype):
    """Zeros where there should be something, however small it is, and however coarse the type on the way."""
    x = X.astype(dtype)
    for program in (stopped_sum, faint):
        with pytest.raises(AssertionError, match="gradient by `x"):
            pk.check_grads(program, (x,))
    for kernel in (stopped_halves, small):
        with pytest.raises(AssertionError, match="gradient by `x"):
            pk.check_grads(kernel, (np.zeros(len(X), dtype), x), ndrange=len(X))


def test_check_grads_takes_what_is_right():
    for into in TYPES:
        for source in TYPES:
            pk.check_grads(scaled, (np.zeros(len(X), into), X.astype(source)), ndrange=len(X))
    pk.check_grads(halves, (X,))
    pk.check_grads(through_halves, (X,))
    pk.check_grads(weighted, (X.astype(np.float16), 1.5))


def test_check_grads_of_nothing_or_nan_does_not_pass():
    with pytest.raises(AssertionError, match="gradient by `x"):
        pk.check_grads(undefined, (np.array([1.0, -1.0]),))
    with pytest.raises(pk.KernelTypeError, match="nothing to check"):
        pk.check_grads(integers, (X,))
    with pytest.raises(pk.KernelTypeError, match="nothing to check"):
        pk.check_grads(halves, (np.zeros(0),))
    with pytest.raises(pk.KernelTypeError, match="nothing to check"):
        pk.check_grads(halves, (X,), entries=0)
    with pytest.raises(pk.KernelTypeError, match="cannot move"):
        pk.check_grads(weighted, (X, pk.asarray(np.ones(()))))
