"""PolyBench as programs of kernels, whole benchmarks with their time loops: against NumPy."""
# ruff: noqa: N803, N806 (matrices keep their names)

from __future__ import annotations

import numpy as np

import pykern as pk
from benchmarks import polybench_kernels as kernels

N, M, K, L, STEPS = 11, 13, 7, 9, 5


@pk.jit
def gemm(C, A, B, alpha, beta):
    D = C.copy()
    kernels.gemm_in_memory(D, A, B, alpha, beta, ndrange=C.shape)
    return D


@pk.jit
def gemver(A, u1, v1, u2, v2, y, z, alpha, beta):
    A = A.copy()
    kernels.rank_2_update(A, u1, v1, u2, v2, ndrange=A.shape)
    x, w = pk.zeros(N), pk.empty(N)
    kernels.add_transposed_product(x, A, y, z, beta, ndrange=N)
    kernels.times(w, A, x, ndrange=N)
    return A, x, alpha * w


@pk.jit
def gesummv(A, B, x, alpha, beta):
    y = pk.empty(A.shape[0])
    kernels.gesummv(y, A, B, x, alpha, beta, ndrange=y.shape)
    return y


@pk.jit
def rank_k(C, D, A, B, alpha, beta):
    kernels.syrk_in_memory(C, A, alpha, beta, ndrange=C.shape)
    kernels.syr2k_returning(D, A, B, alpha, beta, ndrange=D.shape)


@pk.jit
def two_products(A, B, C, D, alpha, beta):
    AB, ABC = pk.empty((N, K)), pk.empty((N, L))
    kernels.scaled_product(AB, A, B, alpha, ndrange=AB.shape)
    kernels.scaled_product(ABC, AB, C, 1.0, ndrange=ABC.shape)
    return ABC + beta * D


@pk.jit
def three_products(A, B, C, D):
    E, F, G = pk.empty((N, K)), pk.empty((K, M)), pk.empty((N, M))
    kernels.scaled_product(E, A, B, 1.0, ndrange=E.shape)
    kernels.scaled_product(F, C, D, 1.0, ndrange=F.shape)
    kernels.scaled_product(G, E, F, 1.0, ndrange=G.shape)
    return G


@pk.jit
def atax_and_bicg(A, x, r):
    y, s, q = pk.empty(M), pk.empty(M), pk.empty(N)
    kernels.times(q, A, x, ndrange=N)
    kernels.transposed_times(y, A, q, ndrange=M)
    kernels.transposed_times(s, A, r, ndrange=M)
    return y, s, q


@pk.jit
def doitgen(A, C4):
    total = pk.empty_like(A)
    kernels.doitgen_in_memory(A, C4, total, ndrange=A.shape[:2])


@pk.jit
def mvt(x1, x2, A, y1, y2):
    kernels.mvt_in_memory(x1, x2, A, y1, y2, ndrange=x1.shape)


@pk.jit
def fdtd_2d(ex, ey, hz, source):
    for t in pk.range(source.shape[0]):
        kernels.fdtd_ey(ey, hz, source[t], ndrange=ey.shape)
        kernels.fdtd_ex(ex, hz, ndrange=ex.shape)
        kernels.fdtd_hz(hz, ex, ey, ndrange=hz.shape)


@pk.jit
def heat_3d(A, steps):
    for _ in pk.range(steps):
        B = A.copy()
        kernels.heat_3d(B, A, ndrange=(range(1, N - 1), range(1, N - 1), range(1, N - 1)))
        A = B
    return A


@pk.jit
def jacobi(a, A, steps):
    for _ in pk.range(steps):
        b, B = a.copy(), A.copy()
        kernels.jacobi_1d(b, a, ndrange=range(1, N - 1))
        kernels.jacobi_2d(B, A, ndrange=(range(1, N - 1), range(1, M - 1)))
        a, A = b, B
    return a, A


def same(got, expected):
    for one, other in zip(got, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-13)


def test_products(rng):
    A, B, C, D = rng.random((N, M)), rng.random((M, K)), rng.random((K, L)), rng.random((N, L))
    E = rng.random((N, K))
    same([gemm(E, A, B, 1.5, 1.2)], [1.2 * E + 1.5 * A @ B])
    same([two_products(A, B, C, D, 1.5, 1.2)], [1.5 * A @ B @ C + 1.2 * D])
    F = rng.random((L, M))
    same([three_products(A, B, C, F)], [A @ B @ (C @ F)])


def test_kernels_of_products_are_named_ops(rng):
    A, B, E = rng.random((N, M)), rng.random((M, K)), rng.random((K, L))
    stages = two_products.lower(A, B, E, rng.random((N, L)), 1.5, 1.2).stages
    assert any(s.text.count("linalg.matmul") == 2 and "kern.launch" not in s.text for s in stages)


def test_vectors(rng):
    A, B, x, r = rng.random((N, M)), rng.random((N, M)), rng.random(M), rng.random(N)
    same([gesummv(A, B, x, 1.5, 1.2)], [1.5 * A @ x + 1.2 * B @ x])
    same(atax_and_bicg(A, x, r), [A.T @ (A @ x), A.T @ r, A @ x])
    S, u1, v1, u2, v2, y, z = rng.random((N, N)), *(rng.random(N) for _ in range(6))
    updated = S + np.outer(u1, v1) + np.outer(u2, v2)
    w = 1.2 * updated.T @ y + z
    same(gemver(S, u1, v1, u2, v2, y, z, 1.5, 1.2), [updated, w, 1.5 * updated @ w])
    x1, x2 = rng.random(N), rng.random(N)
    expected = [x1 + S @ u1, x2 + S.T @ v1]
    mvt(x1, x2, S, u1, v1)
    same([x1, x2], expected)


def test_symmetric_updates(rng):
    A, B, C, D = rng.random((N, K)), rng.random((N, K)), rng.random((N, N)), rng.random((N, N))
    lower = np.tri(N, dtype=bool)
    expected = [
        np.where(lower, 1.2 * C + 1.5 * A @ A.T, C),
        np.where(lower, 1.2 * D + 1.5 * (A @ B.T + B @ A.T), D),
    ]
    rank_k(C, D, A, B, 1.5, 1.2)
    same([C, D], expected)


def test_doitgen(rng):
    A, C4 = rng.random((3, 5, N)), rng.random((N, N))
    expected = A @ C4
    doitgen(A, C4)
    same([A], [expected])


def test_fdtd_2d(rng):
    ex, ey, hz, source = rng.random((N, M)), rng.random((N, M)), rng.random((N, M)), rng.random(STEPS)
    x, y, z = ex.copy(), ey.copy(), hz.copy()
    for t in range(STEPS):
        y[0] = source[t]
        y[1:] -= 0.5 * (z[1:] - z[:-1])
        x[:, 1:] -= 0.5 * (z[:, 1:] - z[:, :-1])
        z[:-1, :-1] -= 0.7 * (x[:-1, 1:] - x[:-1, :-1] + y[1:, :-1] - y[:-1, :-1])
    fdtd_2d(ex, ey, hz, source)
    same([ex, ey, hz], [x, y, z])


def test_stencils(rng):
    A = rng.random((N, N, N))
    T = A.copy()
    for _ in range(STEPS):
        C, inner = T.copy(), T[1:-1, 1:-1, 1:-1]
        T[1:-1, 1:-1, 1:-1] = inner + 0.125 * (
            (C[2:, 1:-1, 1:-1] - 2 * C[1:-1, 1:-1, 1:-1] + C[:-2, 1:-1, 1:-1])
            + (C[1:-1, 2:, 1:-1] - 2 * C[1:-1, 1:-1, 1:-1] + C[1:-1, :-2, 1:-1])
            + (C[1:-1, 1:-1, 2:] - 2 * C[1:-1, 1:-1, 1:-1] + C[1:-1, 1:-1, :-2])
        )
    same([heat_3d(A, STEPS)], [T])
    line, plane = rng.random(N), rng.random((N, M))
    a, P = line.copy(), plane.copy()
    for _ in range(STEPS):
        a[1:-1] = 0.33333 * (a[:-2] + a[1:-1] + a[2:])
        P[1:-1, 1:-1] = 0.2 * (P[1:-1, 1:-1] + P[1:-1, :-2] + P[1:-1, 2:] + P[2:, 1:-1] + P[:-2, 1:-1])
    same(jacobi(line, plane, STEPS), [a, P])
