"""PolyBench 4.2 as kernels of pykern's and programs of them: one work-item a result, time loops around.

Comes in: the benchmark's arrays. Goes out: its results, as PolyBench defines them; what it updates in place
is updated in place. At the end stand kernels as close to the C code as can be, which sum in memory: raising and whole
programs are tested with all of them.
"""
# ruff: noqa: N803, N806 (matrices keep their names)

from __future__ import annotations

import pykern as pk

# -- products of matrices ------------------------------------------------------------------------


@pk.jit
def gemm(C, A, B, alpha, beta):
    return alpha * (A @ B) + beta * C


@pk.jit
def two_mm(A, B, C, D, alpha, beta):
    return alpha * (A @ B) @ C + beta * D


@pk.jit
def three_mm(A, B, C, D):
    return (A @ B) @ (C @ D)


@pk.kernel(fastmath=True)
def syrk(C, A, alpha, beta):
    i, j = pk.index()
    if j <= i:
        s = 0.0
        for k in range(A.shape[1]):
            s += A[i, k] * A[j, k]
        C[i, j] = beta * C[i, j] + alpha * s


@pk.kernel(fastmath=True)
def syr2k(C, A, B, alpha, beta):
    i, j = pk.index()
    if j <= i:
        s = 0.0
        for k in range(A.shape[1]):
            s += A[j, k] * B[i, k] + B[j, k] * A[i, k]
        C[i, j] = beta * C[i, j] + alpha * s


@pk.jit
def syrk_program(C, A, alpha, beta):
    syrk(C, A, alpha, beta, ndrange=C.shape)


@pk.jit
def syr2k_program(C, A, B, alpha, beta):
    syr2k(C, A, B, alpha, beta, ndrange=C.shape)


@pk.jit
def syrk_arrays(C, A, lower, alpha, beta):
    """The whole product, of which half is kept."""
    return pk.where(lower, beta * C + alpha * (A @ A.T), C)


@pk.jit
def syr2k_arrays(C, A, B, lower, alpha, beta):
    product = A @ B.T
    return pk.where(lower, beta * C + alpha * (product + product.T), C)


@pk.kernel(fastmath=True)
def trmm(B, A, alpha):
    """In place: a work-item has a column, whose rows below are still the old ones."""
    j = pk.index()
    for i in range(A.shape[0]):
        s = B[i, j]
        for k in range(i + 1, A.shape[0]):
            s += A[k, i] * B[k, j]
        B[i, j] = alpha * s


@pk.kernel(fastmath=True)
def symm(C, A, B, alpha, beta):
    """Of A only the lower triangle is read."""
    i, j = pk.index()
    s = 0.0
    for k in range(i + 1):
        s += A[i, k] * B[k, j]
    for k in range(i + 1, A.shape[0]):
        s += A[k, i] * B[k, j]
    C[i, j] = beta * C[i, j] + alpha * s


@pk.jit
def trmm_arrays(B, A, strictly_lower, alpha):
    """The whole product, of which half is with zeros."""
    return alpha * (B + pk.where(strictly_lower, A, 0.0).T @ B)


@pk.jit
def symm_arrays(C, A, B, lower, alpha, beta):
    return beta * C + alpha * (pk.where(lower, A, A.T) @ B)


@pk.kernel(fastmath=True)
def doitgen(A, C4, total):
    r, q = pk.index()
    for p in range(A.shape[2]):
        total[r, q, p] = 0.0
    for s in range(A.shape[2]):
        for p in range(A.shape[2]):
            total[r, q, p] += A[r, q, s] * C4[s, p]
    for p in range(A.shape[2]):
        A[r, q, p] = total[r, q, p]


@pk.jit
def doitgen_program(A, C4):
    return A @ C4


# -- matrices and vectors ------------------------------------------------------------------------


@pk.kernel(fastmath=True)
def times(y, A, x):
    i = pk.index()
    s = 0.0
    for j in range(A.shape[1]):
        s += A[i, j] * x[j]
    y[i] = s


@pk.jit
def gemver(A, u1, v1, u2, v2, y, z, alpha, beta):
    A = A + u1[:, None] * v1 + u2[:, None] * v2
    x = beta * (y @ A) + z
    return A, x, alpha * (A @ x)


@pk.kernel(fastmath=True)
def gesummv(y, A, B, x, alpha, beta):
    i = pk.index()
    left, right = 0.0, 0.0
    for j in range(len(x)):
        left += A[i, j] * x[j]
        right += B[i, j] * x[j]
    y[i] = alpha * left + beta * right


@pk.jit
def atax(A, x):
    return (A @ x) @ A


@pk.jit
def bicg(A, p, r):
    return r @ A, A @ p


@pk.jit
def mvt(x1, x2, A, y1, y2):
    return x1 + A @ y1, x2 + y2 @ A


# -- stencils ------------------------------------------------------------------------------------


@pk.kernel
def fdtd_ey(ey, hz, source):
    i, j = pk.index()
    if i == 0:
        ey[i, j] = source
    else:
        ey[i, j] -= 0.5 * (hz[i, j] - hz[i - 1, j])


@pk.kernel
def fdtd_ex(ex, hz):
    i, j = pk.index()
    if j > 0:
        ex[i, j] -= 0.5 * (hz[i, j] - hz[i, j - 1])


@pk.kernel
def fdtd_hz(hz, ex, ey):
    i, j = pk.index()
    if i < hz.shape[0] - 1 and j < hz.shape[1] - 1:
        hz[i, j] -= 0.7 * (ex[i, j + 1] - ex[i, j] + ey[i + 1, j] - ey[i, j])


@pk.kernel
def heat_3d(B, A):
    i, j, k = pk.index()
    if 0 < i < A.shape[0] - 1 and 0 < j < A.shape[1] - 1 and 0 < k < A.shape[2] - 1:
        B[i, j, k] = (
            0.125 * (A[i + 1, j, k] - 2.0 * A[i, j, k] + A[i - 1, j, k])
            + 0.125 * (A[i, j + 1, k] - 2.0 * A[i, j, k] + A[i, j - 1, k])
            + 0.125 * (A[i, j, k + 1] - 2.0 * A[i, j, k] + A[i, j, k - 1])
            + A[i, j, k]
        )


@pk.kernel
def jacobi_1d(B, A):
    i = pk.index()
    if 0 < i < len(A) - 1:
        B[i] = 0.33333 * (A[i - 1] + A[i] + A[i + 1])


@pk.kernel
def jacobi_2d(B, A):
    i, j = pk.index()
    if 0 < i < A.shape[0] - 1 and 0 < j < A.shape[1] - 1:
        B[i, j] = 0.2 * (A[i, j] + A[i, j - 1] + A[i, j + 1] + A[i + 1, j] + A[i - 1, j])


@pk.jit
def fdtd_2d_program(ex, ey, hz, source):
    for t in pk.range(source.shape[0]):
        fdtd_ey(ey, hz, source[t], ndrange=ey.shape)
        fdtd_ex(ex, hz, ndrange=ex.shape)
        fdtd_hz(hz, ex, ey, ndrange=hz.shape)


@pk.jit
def heat_3d_program(A, B, steps):
    for _ in pk.range(steps):
        heat_3d(B, A, ndrange=A.shape)
        heat_3d(A, B, ndrange=A.shape)


@pk.jit
def jacobi_1d_program(A, B, steps):
    for _ in pk.range(steps):
        jacobi_1d(B, A, ndrange=A.shape)
        jacobi_1d(A, B, ndrange=A.shape)


@pk.jit
def jacobi_2d_program(A, B, steps):
    for _ in pk.range(steps):
        jacobi_2d(B, A, ndrange=A.shape)
        jacobi_2d(A, B, ndrange=A.shape)


# -- as the C code has them: sums in memory ----------------------------------------------------------


@pk.kernel
def gemm_in_memory(C, A, B, alpha, beta):
    i, j = pk.index()
    C[i, j] *= beta
    for k in range(A.shape[1]):
        C[i, j] += alpha * A[i, k] * B[k, j]


@pk.kernel
def syrk_in_memory(C, A, alpha, beta):
    i, j = pk.index()
    if j <= i:
        C[i, j] *= beta
        for k in range(A.shape[1]):
            C[i, j] += alpha * A[i, k] * A[j, k]


@pk.kernel
def syr2k_returning(C, A, B, alpha, beta):
    i, j = pk.index()
    if j > i:
        return
    acc = C[i, j] * beta
    for k in range(A.shape[1]):
        acc += A[j, k] * alpha * B[i, k] + B[j, k] * alpha * A[i, k]
    C[i, j] = acc


@pk.kernel
def product(D, A, B):
    i, j = pk.index()
    D[i, j] = 0.0
    for k in range(A.shape[1]):
        D[i, j] += A[i, k] * B[k, j]


@pk.kernel
def scaled_product(D, A, B, alpha):
    i, j = pk.index()
    s = 0.0
    for k in range(A.shape[1]):
        s += A[i, k] * B[k, j]
    D[i, j] = alpha * s


@pk.kernel
def transposed_times(y, A, x):
    i = pk.index()
    s = 0.0
    for j in range(A.shape[0]):
        s += A[j, i] * x[j]
    y[i] = s


@pk.kernel
def doitgen_in_memory(A, C4, total):
    r, q = pk.index()
    for p in range(A.shape[2]):
        total[r, q, p] = 0.0
        for s in range(A.shape[2]):
            total[r, q, p] += A[r, q, s] * C4[s, p]
    for p in range(A.shape[2]):
        A[r, q, p] = total[r, q, p]


@pk.kernel
def rank_2_update(A, u1, v1, u2, v2):
    i, j = pk.index()
    A[i, j] = A[i, j] + u1[i] * v1[j] + u2[i] * v2[j]


@pk.kernel
def add_transposed_product(x, A, y, z, beta):
    i = pk.index()
    for j in range(A.shape[0]):
        x[i] = x[i] + beta * A[j, i] * y[j]
    x[i] += z[i]


@pk.kernel
def mvt_in_memory(x1, x2, A, y1, y2):
    i = pk.index()
    for j in range(A.shape[0]):
        x1[i] += A[i, j] * y1[j]
        x2[i] += A[j, i] * y2[j]
