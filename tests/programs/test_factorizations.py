"""QR, singular values, symmetric eigenvalues, least squares in programs: against NumPy, and their derivatives."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk


def factors(a, s, b):
    q, r = np.linalg.qr(a)
    u, values, vt = np.linalg.svd(a, full_matrices=False)
    w, v = np.linalg.eigh(s)
    return q, r, u, values, vt, w, v, np.linalg.pinv(a), *np.linalg.lstsq(a, b)


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(7, 4), (4, 7)])
def test_factors(rng, shape):
    a, b, s = rng.standard_normal(shape), rng.standard_normal((shape[0], 2)), rng.standard_normal((5, 5))
    s = s + s.T
    q, r, u, values, vt, w, v, inverse, x, left, rank, again = pk.jit(factors)(a, s, b)
    least = min(shape)
    np.testing.assert_allclose(q @ r, a, atol=1e-12)
    np.testing.assert_allclose(q, np.linalg.qr(a)[0], atol=1e-12)  # LAPACK's signs
    np.testing.assert_allclose(u * values @ vt, a, atol=1e-12)
    np.testing.assert_allclose(u.T @ u, np.eye(least), atol=1e-12)
    np.testing.assert_allclose(vt @ vt.T, np.eye(least), atol=1e-12)
    np.testing.assert_allclose(values, np.linalg.svd(a)[1])
    np.testing.assert_allclose(v * w @ v.T, s, atol=1e-12)
    np.testing.assert_allclose(w, np.linalg.eigvalsh(s), atol=1e-12)
    np.testing.assert_allclose(inverse, np.linalg.pinv(a), atol=1e-12)
    expected = np.linalg.lstsq(a, b)
    np.testing.assert_allclose(x, expected[0], atol=1e-12)
    np.testing.assert_allclose(left, expected[1], atol=1e-12)
    assert rank == expected[2]
    np.testing.assert_allclose(again, values)


def complete(a):
    q, r = np.linalg.qr(a, mode="complete")
    u, s, vt = np.linalg.svd(a)
    return q, r, u, s, vt


@pytest.mark.slow
def test_complete_factors_of_a_matrix_without_full_rank(rng):
    a = np.outer(rng.standard_normal(5), rng.standard_normal(3))
    a = np.stack((a, np.zeros((5, 3))))
    q, r, u, s, vt = pk.jit(complete)(a)
    np.testing.assert_allclose(q @ r, a, atol=1e-12)
    np.testing.assert_allclose(q.swapaxes(1, 2) @ q, np.stack((np.eye(5),) * 2), atol=1e-12)
    np.testing.assert_allclose(u.swapaxes(1, 2) @ u, np.stack((np.eye(5),) * 2), atol=1e-12)
    np.testing.assert_allclose((u[..., :3] * s[:, None]) @ vt, a, atol=1e-12)
    np.testing.assert_allclose(s, np.linalg.svd(a)[1], atol=1e-12)


def of_eigen(a, c):
    w, v = np.linalg.eigh(a)
    return (w * w * w).sum() + ((v * w) @ (v.T @ c) + v**4 @ c).sum()


def of_singular(a, c):
    u, s, vt = np.linalg.svd(a, full_matrices=False)
    return (s**3).sum() + ((u**2) @ (vt**2 * c[: s.size]) * 3).sum()


def of_orthogonal(a, c):
    q, r = np.linalg.qr(a)
    return (q * q * q).sum() + (r * r * r).sum()


def of_inverse(a, c):
    return (np.linalg.pinv(a) ** 3).sum() + (np.linalg.lstsq(a, c)[0] ** 3).sum() + np.linalg.norm(a, "nuc")


CASES = ((of_eigen, (4, 4)), (of_singular, (5, 3)), (of_orthogonal, (5, 3)), (of_inverse, (5, 3)))


def slow_but_first(case):
    return pytest.param(*case, id=case[0].__name__, marks=[] if case is CASES[0] else [pytest.mark.slow])


@pytest.mark.parametrize(("function", "shape"), [*map(slow_but_first, CASES)])
def test_derivatives(rng, function, shape):
    a, c, direction = (
        rng.standard_normal(shape),
        rng.standard_normal((shape[0], 1)),
        rng.standard_normal(shape),
    )
    if shape[0] == shape[1]:
        a, direction = a + a.T, direction + direction.T
    slope = (function(a + 1e-6 * direction, c) - function(a - 1e-6 * direction, c)) / 2e-6
    np.testing.assert_allclose((pk.grad(function)(a, c) * direction).sum(), slope, rtol=1e-5)
    _, tangent = pk.jvp(function, (a, c), (direction, np.zeros_like(c)))
    np.testing.assert_allclose(tangent, slope, rtol=1e-5)


@pytest.mark.slow
def test_norms_of_matrices(rng):
    def norms(a):
        found = [np.linalg.norm(a, k, axis=(0, 2)) for k in ("fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf)]
        return (*found, np.linalg.norm(a[:, 0], 2, keepdims=True), np.linalg.cond(a[:3, 0, :3]))

    a = rng.standard_normal((4, 2, 3))
    for found, expected in zip(pk.jit(norms)(a), norms(a), strict=True):
        np.testing.assert_allclose(found, expected)


def test_not_square(rng):
    with pytest.raises(pk.errors.KernelError, match="symmetric matrices are square"):
        pk.jit(lambda a: np.linalg.eigvalsh(a))(rng.standard_normal((3, 4)))
