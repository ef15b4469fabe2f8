"""kern-raise-to-linalg on PolyBench's kernels: against NumPy and the direct launch."""
# ruff: noqa: N806 (matrices keep their names)

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from benchmarks import polybench_kernels as k
from tests.cases.raised import Raised, check
from tests.passes.test_raise_kernels import has_no_loop, real

N = 9


def test_gemm():
    C, A, B = real(N, N + 2), real(N, 5), real(5, N + 2)
    expected = 0.5 * C + 1.5 * A @ B
    assert has_no_loop(check(k.gemm_in_memory, (C, A, B, 1.5, 0.5), (N, N + 2), (expected, *[None] * 4)))


def test_symmetric_updates():
    C, A, B = real(N, N), real(N, 5), real(N, 5)
    lower = np.tril(np.ones((N, N), bool))
    expected = np.where(lower, 0.5 * C + 1.5 * A @ A.T, C)
    assert has_no_loop(check(k.syrk_in_memory, (C, A, 1.5, 0.5), (N, N), (expected, *[None] * 3)))
    expected = np.where(lower, 0.5 * C + 1.5 * (A @ B.T + B @ A.T), C)
    assert has_no_loop(check(k.syr2k_returning, (C, A, B, 1.5, 0.5), (N, N), (expected, *[None] * 4)))


def test_gesummv():
    A, B, x = real(N, 5), real(N, 5), real(5)
    expected = 1.5 * A @ x + 0.5 * B @ x
    assert has_no_loop(check(k.gesummv, (real(N), A, B, x, 1.5, 0.5), N, (expected, *[None] * 5)))


def test_gemver():
    A, u1, v1, u2, v2 = real(N, N), *(real(N) for _ in range(4))
    x, y, z = (real(N) for _ in range(3))
    updated = A + np.outer(u1, v1) + np.outer(u2, v2)
    check(k.rank_2_update, (A, u1, v1, u2, v2), (N, N), (updated, *[None] * 4))
    check(k.add_transposed_product, (x, A, y, z, 1.5), N, (x + 1.5 * A.T @ y + z, *[None] * 4))


def test_matrix_vector_chains():
    """mvt; and 2mm, 3mm, atax, bicg as chains of raised kernels."""
    A, x1, x2, y1, y2 = real(N, N), *(real(N) for _ in range(4))
    check(k.mvt_in_memory, (x1, x2, A, y1, y2), N, (x1 + A @ y1, x2 + A.T @ y2, *[None] * 3))
    B, C, D = real(N, 5), real(5, 7), real(7, N)
    first, second, third = np.zeros((N, 7)), np.zeros((N, N)), np.zeros((N, 5))
    run = Raised(k.product, (first, B, C), (N, 7)).run
    run((first, B, C), (N, 7))
    run((second, first, D), (N, N))
    run((third, second, B), (N, 5))
    np.testing.assert_allclose(third, B @ C @ D @ B, rtol=1e-12)
    x = real(5)
    expected = B.T @ (B @ x)
    check(k.transposed_times, (np.zeros(5), B, B @ x), 5, (expected, None, None))


def test_doitgen():
    A, C4 = real(3, 5, 7), real(7, 7)
    assert has_no_loop(check(k.doitgen_in_memory, (A, C4, real(3, 5, 7)), (3, 5), (A @ C4, None, A @ C4)))


def test_fdtd_2d():
    ey, hz, ex = real(N, 7), real(N, 7), real(N, 7)
    new = ey.copy()
    new[0] = 2.0
    new[1:] -= 0.5 * (hz[1:] - hz[:-1])
    assert has_no_loop(check(k.fdtd_ey, (ey, hz, 2.0), (N, 7), (new, None, None)))
    field = hz.copy()
    field[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])
    assert has_no_loop(check(k.fdtd_hz, (hz, ex, ey), (N, 7), (field, None, None)))


@pytest.mark.parametrize(("kernel", "rank"), [(k.jacobi_1d, 1), (k.jacobi_2d, 2), (k.heat_3d, 3)])
def test_stencils(kernel, rank):
    shape = (7, 8, 9)[:rank]
    inner = tuple(range(1, n - 1) for n in shape)
    B, A = real(*shape), real(*shape)
    middle = (slice(1, -1),) * rank
    sums = [np.roll(A, step, axis)[middle] for axis in range(rank) for step in (1, -1)]
    new = {
        1: lambda: 0.33333 * (A[middle] + sum(sums)),
        2: lambda: 0.2 * (A[middle] + sum(sums)),
        3: lambda: 0.125 * (sum(sums) - 6.0 * A[middle]) + A[middle],
    }[rank]()
    expected = B.copy()
    expected[middle] = new
    assert has_no_loop(check(kernel, (B, A), inner, (expected, None)))


@pk.kernel
def weno(out, c, third):
    i = pk.index()
    out[i] = 2 * third / c[i] + third / c[i + 1]


def test_weno():
    c = np.sin(np.arange(1, 67) / 3)
    expected = (2 / 3) / c[:64] + (1 / 3) / c[1:65]
    assert has_no_loop(check(weno, (real(64), c, 1 / 3), 64, (expected, None, None)))
