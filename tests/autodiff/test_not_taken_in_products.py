"""What a program computes and does not take has no say in products of matrices, scans and custom derivatives either.

The references are JAX's gradients of the same formula with the operands of what is not taken replaced first.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pykern as pk

RNG = np.random.default_rng(77)
ROWS = np.array([True, False, True, False, True])
COLUMNS = np.array([False, True, True])
A = RNG.random((5, 4)) + 0.5
B = RNG.random((4, 3)) + 0.5
V = RNG.random(4) + 0.5
BAD = np.where(ROWS[:, None], A, np.array([0.0, -1.0, np.inf, np.nan]))
BAD_B = np.where(COLUMNS[None, :], B, np.array([0.0, -1.0, np.inf, np.nan])[:, None])
BAD_V = np.array([0.0, 2.0, -1.0, 3.0])


@pk.jit
def rows_of_a_product(a, b):
    return pk.where((pk.arange(5) % 2 == 0)[:, None], pk.log(a) @ pk.sqrt(b), 0.0).sum()


@pk.jit
def columns_of_a_product(a, b):
    return pk.where(pk.arange(3) > 0, pk.log(a) @ pk.sqrt(b), 0.0).sum()


@pk.jit
def a_matrix_and_a_vector(a, v):
    return pk.where(pk.arange(5) % 2 == 0, pk.sqrt(a) @ pk.log(v), 1.0).sum()


@pk.jit
def batches(a, b):
    both = pk.stack((pk.log(a), pk.sqrt(a)))
    return pk.where((pk.arange(5) % 2 == 0)[None, :, None], both @ b, 0.0).sum()


@pk.jit
def a_chain(a, b):
    return pk.where((pk.arange(5) % 2 == 0)[:, None], pk.tanh(pk.log(a) @ b) @ b.T, 0.0).sum()


@pk.jit
def sums_of_products(a, b):
    return pk.where(pk.arange(5) % 2 == 0, (pk.log(a) * pk.sqrt(a)).sum(axis=1), 0.0).sum() * b.sum()


@pk.jit
def products_of_rows(a, b):
    return pk.where(pk.arange(5) % 2 == 0, pk.sqrt(a).prod(axis=1), 0.0).sum() * b.sum()


PRODUCTS = {
    rows_of_a_product: (BAD, B, lambda a, b: (jnp.log(a) @ jnp.sqrt(b))[ROWS].sum()),
    columns_of_a_product: (A, BAD_B, lambda a, b: (jnp.log(a) @ jnp.sqrt(b))[:, COLUMNS].sum()),
    a_matrix_and_a_vector: (BAD, V, lambda a, v: (jnp.sqrt(a) @ jnp.log(v))[ROWS].sum()),
    batches: (BAD, B, lambda a, b: (jnp.stack((jnp.log(a), jnp.sqrt(a))) @ b)[:, ROWS].sum()),
    a_chain: (BAD, B, lambda a, b: (jnp.tanh(jnp.log(a) @ b) @ b.T)[ROWS].sum()),
    sums_of_products: (BAD, B, lambda a, b: (jnp.log(a) * jnp.sqrt(a)).sum(axis=1)[ROWS].sum() * b.sum()),
    products_of_rows: (BAD, B, lambda a, b: jnp.sqrt(a).prod(axis=1)[ROWS].sum() * b.sum()),
}


@pytest.mark.parametrize("program", PRODUCTS)
def test_products_of_matrices(program):
    a, b, formula = PRODUCTS[program]
    with jax.enable_x64(True):
        good = A if a is BAD else a, B if b is BAD_B else b
        slopes = jax.grad(formula, (0, 1))(*map(jnp.asarray, good))
        u, v = np.cos(np.arange(a.size)).reshape(a.shape), np.sin(np.arange(b.size)).reshape(b.shape)
        _, curvatures = jax.jvp(jax.grad(formula, (0, 1)), good, (u, v))
    found = pk.grad(program, argnums=(0, 1))(a, b)
    bent = pk.hvp(program, (a, b), (u, v))
    for slope, wanted in zip((*found, *bent), (*slopes, *curvatures), strict=True):
        np.testing.assert_allclose(slope, wanted, rtol=1e-11, atol=1e-13)


def test_what_is_taken_keeps_its_nan_and_infinities():
    a = A.copy()
    a[0, 2], a[2, 1] = 0.0, np.nan
    da, db = pk.grad(rows_of_a_product, argnums=(0, 1))(a, B)
    assert np.isinf(da[0, 2])
    assert np.isnan(da[2, 1])
    assert np.isfinite(da[4]).all()
    assert not np.isfinite(db[1:3]).any()
    assert np.isfinite(db[[0, 3]]).all()


@pk.jit
def running_product(x):
    y, t = pk.zeros(6), 1.0
    for k in pk.range(6):
        t = t * pk.sqrt(x[k])
        y[k] = t
    return pk.where(pk.arange(6) < 3, y, 0.0).sum()


@pk.jit
def taken_turns(x):
    a, b = x, x
    for _ in pk.range(3):
        a, b = pk.sqrt(b), pk.where(x > 0, a, 0.0)
    return pk.where(x > 0, a, 0.0).sum()


@pk.jit
def running_maximum(x):
    y, t = pk.zeros(6), 0.0
    for k in pk.range(6):
        t = pk.maximum(t, pk.sqrt(x[k]) * t + pk.sqrt(x[k]))
        y[k] = t
    return pk.where(pk.arange(6) < 3, y, 0.0).sum()


@pytest.mark.parametrize("program", [running_product, running_maximum])
def test_what_is_carried_and_not_read_behind_the_loop(program):
    x = np.array([1.5, 2.0, 3.0, 0.0, -1.0, 2.0])
    clean = np.array([1.5, 2.0, 3.0, 0.5, 1.0, 2.0])
    steps = 1e-6 * np.eye(6)
    slope = [(program(clean + d) - program(clean - d)) / 2e-6 for d in steps]
    np.testing.assert_allclose(pk.grad(program)(x), slope, rtol=1e-7, atol=1e-7)


def test_arrays_that_take_turns():
    x = np.array([1.0, 0.0, -1.0, 4.0, 0.25, 9.0])
    slope = np.where(x > 0, 0.25 * np.maximum(x, 0.1) ** -0.75, 0.0)
    np.testing.assert_allclose(pk.grad(taken_turns)(x), slope, rtol=1e-12)


@pk.custom_vjp
def root(x):
    return pk.sqrt(x)


def root_forward(x):
    y = pk.sqrt(x)
    return y, (y,)


def root_backward(kept, g):
    (y,) = kept
    return (0.5 * g / y,)


root.defvjp(root_forward, root_backward)


@pk.custom_vjp
def sum_of_logarithms(x):
    return pk.log(x).sum()


def logarithms_forward(x):
    return pk.log(x).sum(), (x,)


def logarithms_backward(kept, g):
    (x,) = kept
    return (g / x,)


sum_of_logarithms.defvjp(logarithms_forward, logarithms_backward)


@pk.jit
def of_elements(x):
    return pk.where(x > 0, root(pk.sqrt(x)), 0.0).sum()


@pk.jit
def of_a_sum(x, t):
    return pk.where(t > 0, sum_of_logarithms(pk.sqrt(x)), 0.0) + (x * x).sum()


def test_custom_derivatives():
    x = np.array([0.0, -1.0, 4.0, 9.0, 0.25])
    slope = np.where(x > 0, 0.25 * np.maximum(x, 0.1) ** -0.75, 0.0)
    np.testing.assert_allclose(pk.grad(of_elements)(x), slope, rtol=1e-12)
    np.testing.assert_allclose(pk.grad(of_a_sum)(x, -1.0), 2 * x, rtol=1e-12)
    positive = x + 2
    np.testing.assert_allclose(pk.grad(of_a_sum)(positive, 1.0), 2 * positive + 0.5 / positive, rtol=1e-12)


@pk.kernel
def scanned(y, x, kind: pk.static, exclusive: pk.static):
    i = pk.index()
    s = pk.subgroup_scan(pk.sqrt(x[i]), kind, exclusive=exclusive)
    y[i] = s if i > 0 and i < 3 else 0.0


@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("kind", ["add", "mul", "max", "min"])
def test_scans(kind, exclusive):
    x = np.array([4.0, 2.25, 9.0, 0.0, -1.0, np.nan, 1.0, np.inf])
    clean, found, wanted = np.array([4.0, 2.25, 9.0, 1.0, 1.0, 1.0, 1.0, 1.0]), np.zeros(8), np.zeros(8)
    for values, slope in ((x, found), (clean, wanted)):
        given = pk.Dup(np.zeros(8), np.array([1.0, 2, 3, 4, 5, 6, 7, 8])), pk.Dup(values, slope)
        pk.autodiff(scanned)(*given, kind, exclusive, ndrange=8, workgroup=8)
    pk.check_grads(scanned, (np.zeros(8), clean, kind, exclusive), ndrange=8, workgroup=8)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
