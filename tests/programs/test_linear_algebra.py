"""`numpy.linalg` in programs: solve, inv, det, slogdet, cholesky, matrix_power, against NumPy, and their derivatives.

Derivatives are compared with finite differences of NumPy's functions, and second derivatives with those of the first.
"""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from tests.programs.test_numpy_functions import leaves


def slow(value):
    return pytest.param(value, marks=pytest.mark.slow)


def matrices(rng, shape, dtype=np.float64):
    """Well-conditioned ones, whose pivots are not on the diagonal."""
    n = shape[-1]
    found = rng.standard_normal(shape) + 3 * np.eye(n)[rng.permutation(n)] if n else np.zeros(shape)
    return found.astype(dtype)


def definite(rng, shape):
    a = rng.standard_normal(shape)
    return a @ a.swapaxes(-1, -2) + np.eye(shape[-1])


def same(found, expected, rtol=1e-10):
    found, expected = leaves(found), leaves(expected)
    assert len(found) == len(expected)
    for have, want in zip(found, expected, strict=True):
        have, want = np.asarray(have), np.asarray(want)
        assert have.shape == want.shape and have.dtype == want.dtype
        scale = 1 + np.abs(want).max(initial=0)
        np.testing.assert_allclose(have / scale, want / scale, rtol=rtol, atol=rtol)


def systems(a, b, v):
    x = np.linalg.solve(a, b)
    y = np.linalg.solve(a, v)
    inverse = np.linalg.inv(a)
    inverse[..., :1] += 1.0  # an array of its own
    return x, y, inverse, np.linalg.det(a), tuple(np.linalg.slogdet(a)), np.linalg.matrix_power(a, -3)


@pytest.mark.parametrize(
    "shape",
    [(2, 9, 9), *(slow(s) for s in ((1, 1), (3, 3), (8, 8), (21, 21), (2, 3, 2, 2), (0, 0), (0, 3, 3)))],
)
def test_systems(rng, shape):
    a, b = matrices(rng, shape), rng.standard_normal((*shape[:-1], 3))
    v = rng.standard_normal(shape[-1])
    same(pk.jit(systems)(a, b, v), systems(a, b, v))


@pytest.mark.parametrize("form", ["float32", *map(slow, ("integers", "strided", "mixed"))])
def test_types_and_strides(rng, form):
    a, b, v = matrices(rng, (6, 6)), rng.standard_normal((6, 2)), rng.standard_normal(6)
    if form == "float32":
        a, b, v = (x.astype(np.float32) for x in (a, b, v))
    if form == "integers":
        a, b, v = (
            np.rint(3 * a).astype(np.int32),
            np.rint(3 * b).astype(np.int8),
            np.arange(6, dtype=np.uint16),
        )
    if form == "strided":
        a, b, v = np.repeat(a, 2, 1)[::-1, ::2], np.asfortranarray(b), v[::-1]
    if form == "mixed":
        b, v = b.astype(np.float32), np.rint(v).astype(np.int64)
    rtol = 1e-3 if form == "float32" else 1e-10
    same(pk.jit(systems)(a, b, v), systems(a, b, v), rtol)


def powers(a, i):
    return [np.linalg.matrix_power(a, n) for n in (0, 1, 2, 5, -1)] + [np.linalg.matrix_power(i, 3)]


def factors(a):
    return np.linalg.cholesky(a), np.linalg.cholesky(a, upper=True)


def broadcast(a, b):
    return np.linalg.solve(a, b[:, None]), np.linalg.solve(a[0], b)


@pytest.mark.slow
def test_powers_factors_and_batches(rng):
    a = matrices(rng, (2, 4, 4))
    same(pk.jit(powers)(a, np.arange(9).reshape(3, 3)), powers(a, np.arange(9).reshape(3, 3)))
    for shape in [(1, 1), (5, 5), (8, 8), (19, 19), (3, 6, 6), (0, 0)]:
        d = definite(rng, shape) + np.triu(np.ones(shape), 1) * 0.1  # each reads its own triangle
        same(pk.jit(factors)(d), factors(d))
    b = rng.standard_normal((3, 4, 2))
    same(pk.jit(broadcast)(a, b), broadcast(a, b))


def test_what_has_no_value_is_nan():
    """NumPy raises `LinAlgError` for these."""
    singular = np.array([[[1.0, 2.0], [2.0, 4.0]], [[2.0, 0.0], [0.0, 1.0]]])
    x = pk.jit(solve)(singular, np.ones((2, 2, 1)))
    assert np.isnan(x[0]).all() and np.array_equal(x[1], [[0.5], [1.0]])
    indefinite = np.array([[1.0, 2.0], [2.0, 1.0]])
    assert np.isnan(pk.jit(lower)(indefinite)).any()
    zero = np.zeros((4, 4))
    assert pk.jit(signs)(zero) == (0.0, -np.inf, 0.0)
    same(pk.jit(signs)(np.full((5, 5), np.nan)), (np.nan, np.nan, np.nan))


def solve(a, b):
    return np.linalg.solve(a, b)


def lower(a):
    return np.linalg.cholesky(a)


def signs(a):
    sign, logarithm = np.linalg.slogdet(a)
    return sign, logarithm, np.linalg.det(a)


def loss(a, b):
    d = a @ a.swapaxes(-1, -2) + np.eye(a.shape[-1])
    x = np.linalg.solve(a, b)
    return (
        (x * x).sum()
        + np.sin(np.linalg.inv(a)).sum()
        + np.cos(np.linalg.det(a[..., :2, :2])).sum()
        + (np.linalg.det(a) * 0.1).sum()
        + np.linalg.slogdet(a)[1].sum()
        + (np.linalg.cholesky(d) ** 3).sum()
        + (np.linalg.cholesky(d, upper=True) * b[..., :1]).sum()
    )


def slope(function, at, way, step=1e-6):
    moved = [[x + s * step * w for x, w in zip(at, way, strict=True)] for s in (1, -1)]
    return (function(*moved[0]) - function(*moved[1])) / (2 * step)


@pytest.mark.parametrize("shape", [(5, 5), slow((2, 9, 9))])
def test_derivatives(rng, shape):
    program = pk.jit(loss)
    at = matrices(rng, shape), rng.standard_normal((*shape[:-1], 2))
    way = [rng.standard_normal(x.shape) for x in at]
    expected = slope(loss, at, way)
    gradient = pk.grad(program, argnums=(0, 1))(*at)
    along = sum((g * w).sum() for g, w in zip(gradient, way, strict=True))
    np.testing.assert_allclose(along, expected, rtol=1e-6)
    np.testing.assert_allclose(pk.jvp(program, at, tuple(way))[1], expected, rtol=1e-6)


def test_gradient_of_a_factor_is_of_the_triangle_that_is_read(rng):
    a = definite(rng, (6, 6))

    def weighted(a):
        return (np.linalg.cholesky(a) * np.cos(np.arange(36.0)).reshape(6, 6)).sum()

    found = pk.grad(pk.jit(weighted))(a)
    each = np.zeros_like(a)
    for at in np.ndindex(6, 6):
        way = np.zeros_like(a)
        way[at] = 1.0
        each[at] = slope(weighted, (a,), (way,))
    np.testing.assert_allclose(found, each, rtol=1e-5, atol=1e-8)


@pytest.mark.slow
def test_second_derivatives(rng):
    program = pk.jit(loss)
    at = matrices(rng, (4, 4)), rng.standard_normal((4, 2))
    way = tuple(rng.standard_normal(x.shape) for x in at)
    first = pk.grad(program, argnums=(0, 1))
    moved = [first(*(x + s * 1e-6 * w for x, w in zip(at, way, strict=True))) for s in (1, -1)]
    expected = [(a - b) / 2e-6 for a, b in zip(*moved, strict=True)]
    for found, wanted in zip(pk.hvp(program, at, way), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)

    @pk.jit
    def inner(a, b, w):
        return (pk.grad(loss)(a, b) * w).sum()  # reverse over reverse

    np.testing.assert_allclose(
        pk.grad(inner)(*at, way[0]),
        slope(lambda a, b: pk.grad(program)(a, b), at, (way[0], 0 * at[1])),
        rtol=1e-5,
        atol=1e-5,
    )


@pytest.mark.slow
def test_in_loops_and_branches(rng):
    def steps(a, x, n: pk.static):
        for _ in pk.range(n):
            x = np.linalg.solve(a, x) + 0.1 * x * x
            if x.sum() > 0:
                x = x * np.linalg.det(a)
        return (x * x).sum()

    a, x = matrices(rng, (4, 4)), rng.standard_normal((4, 2))
    np.testing.assert_allclose(pk.jit(steps)(a, x, 3), steps(a, x, 3), rtol=1e-9)
    way = [rng.standard_normal(v.shape) for v in (a, x)]
    found = pk.grad(pk.jit(steps), argnums=(0, 1))(a, x, 3)
    expected = slope(lambda a, x: steps(a, x, 3), (a, x), way)
    np.testing.assert_allclose(
        sum((g * w).sum() for g, w in zip(found, way, strict=True)), expected, rtol=1e-5
    )


@pytest.mark.slow
@pytest.mark.parametrize("device", ["opencl", "python"], indirect=True)
def test_devices(rng, device):
    a, b, v = matrices(rng, (3, 10, 10)), rng.standard_normal((3, 10, 2)), rng.standard_normal(10)

    def program(a, b, v):
        d = a @ a.swapaxes(-1, -2) + np.eye(10)
        return np.linalg.solve(a, b), np.linalg.solve(a, v), np.linalg.det(a), np.linalg.cholesky(d)

    with pk.device(device):
        found = pk.jit(program)(*(pk.asarray(x, device=device) for x in (a, b, v)))
    same([np.asarray(x) for x in found], program(a, b, v), 1e-9)


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("np.linalg.solve(x, x)", "takes square matrices"), ("np.linalg.solve(x @ x.T, x.T)", "have 3 rows"),
        ("np.linalg.inv(x[0])", "takes square matrices"),
        ("np.linalg.det(x[:, :3].astype(np.float16))", "too few digits"),
        ("np.linalg.matrix_power(x[:, :3], x[0, 0])", "the power is an integer"),
        ("np.linalg.eig(x)", "outside of the program"), ("np.linalg.eigh(x)", "are square"),
        ("np.bincount(x[0] > 0)", "how many bins"), ("np.bincount(x)", "takes a vector of integers"),
        ("np.nonzero(x)", "would depend on values"), ("np.unique(x)", "would depend on values"),
    ],
)  # fmt: skip
def test_errors_stand_at_the_call(rng, expression, said, tmp_path):
    file = tmp_path / "program.py"
    file.write_text(f"import numpy as np\nimport pykern as pk\n\ndef program(x):\n    return {expression}\n")
    scope: dict = {}
    exec(compile(file.read_text(), file, "exec"), scope)
    with pytest.raises(pk.KernelError) as caught:
        pk.jit(scope["program"])(rng.random((3, 7)))
    assert said in str(caught.value) and f'"{file}", line 5' in str(caught.value)
