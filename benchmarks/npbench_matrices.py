"""Products of matrices and vectors of NPBench's part from Polybench: programs over arrays, and kernels of loops."""
# ruff: noqa: N803, N806 (matrices keep their names)

from __future__ import annotations

import numpy as np
from npbench_setting import form

import pykern as pk

# -- products of matrices ------------------------------------------------------------------------


@pk.jit
def _gemm(alpha, beta, C, A, B):
    C[:] = alpha * (A @ B) + beta * C


@pk.kernel
def _gemm_kernel(alpha, beta, C, A, B):
    i, j = pk.index()
    s = 0.0
    for k in range(A.shape[1]):
        s += A[i, k] * B[k, j]
    C[i, j] = alpha * s + beta * C[i, j]


form("gemm", "program")(_gemm)


@form("gemm", "kernel")
def _(alpha, beta, C, A, B):
    _gemm_kernel(alpha, beta, C, A, B, ndrange=C.shape)


@pk.jit
def _two_products(alpha, beta, A, B, C, D):
    D[:] = alpha * A @ B @ C + beta * D


@pk.kernel
def _product(C, A, B):
    i, j = pk.index()
    s = 0.0
    for k in range(A.shape[1]):
        s += A[i, k] * B[k, j]
    C[i, j] = s


form("k2mm", "program")(_two_products)


@form("k2mm", "kernels")
def _(alpha, beta, A, B, C, D):
    AB = np.empty((A.shape[0], B.shape[1]))
    _product(AB, A, B, ndrange=AB.shape)
    _gemm_kernel(alpha, beta, D, AB, C, ndrange=D.shape)


@pk.jit
def _three_products(A, B, C, D):
    return A @ B @ C @ D


form("k3mm", "program")(_three_products)


@form("k3mm", "kernels")
def _(A, B, C, D):
    AB, CD = np.empty((A.shape[0], B.shape[1])), np.empty((C.shape[0], D.shape[1]))
    out = np.empty((A.shape[0], D.shape[1]))
    _product(AB, A, B, ndrange=AB.shape)
    _product(CD, C, D, ndrange=CD.shape)
    _product(out, AB, CD, ndrange=out.shape)
    return out


@pk.jit
def _doitgen(A, C4):
    A[:] = A @ C4


@pk.kernel
def _doitgen_kernel(out, A, C4):
    r, q, p = pk.index()
    s = 0.0
    for k in range(A.shape[2]):
        s += A[r, q, k] * C4[k, p]
    out[r, q, p] = s


@form("doitgen", "program")
def _(NR, NQ, NP, A, C4):
    _doitgen(A, C4)


@form("doitgen", "kernel")
def _(NR, NQ, NP, A, C4):
    out = np.empty_like(A)
    _doitgen_kernel(out, A, C4, ndrange=A.shape)
    A[:] = out


# -- products of matrices and vectors ------------------------------------------------------------


@pk.jit
def _atax(A, x):
    return (A @ x) @ A


@pk.jit
def _bicg(A, p, r):
    return r @ A, A @ p


@pk.jit
def _mvt(x1, x2, y_1, y_2, A):
    x1 += A @ y_1
    x2 += y_2 @ A


@pk.jit
def _gesummv(alpha, beta, A, B, x):
    return alpha * (A @ x) + beta * (B @ x)


@pk.jit
def _gemver(alpha, beta, A, u1, v1, u2, v2, w, x, y, z):
    A += np.outer(u1, v1) + np.outer(u2, v2)
    x += beta * (y @ A) + z
    w += alpha * (A @ x)


for _name, _program in (
    ("atax", _atax), ("bicg", _bicg), ("mvt", _mvt), ("gesummv", _gesummv), ("gemver", _gemver)
):  # fmt: skip
    form(_name, "program")(_program)


@pk.kernel
def _rows(out, A, x):
    """`A @ x`, a work-item a row."""
    i = pk.index()
    s = 0.0
    for k in range(A.shape[1]):
        s += A[i, k] * x[k]
    out[i] = s


@pk.kernel
def _columns(out, A, x):
    """`x @ A`, a work-item a column."""
    j = pk.index()
    s = 0.0
    for k in range(A.shape[0]):
        s += x[k] * A[k, j]
    out[j] = s


def _by_rows(A, x):
    out = np.empty(A.shape[0])
    _rows(out, A, x, ndrange=len(out))
    return out


def _by_columns(A, x):
    out = np.empty(A.shape[1])
    _columns(out, A, x, ndrange=len(out))
    return out


@form("atax", "kernels")
def _(A, x):
    return _by_columns(A, _by_rows(A, x))


@form("bicg", "kernels")
def _(A, p, r):
    return _by_columns(A, r), _by_rows(A, p)


@form("mvt", "kernels")
def _(x1, x2, y_1, y_2, A):
    x1 += _by_rows(A, y_1)
    x2 += _by_columns(A, y_2)


@pk.kernel
def _gesummv_kernel(out, alpha, beta, A, B, x):
    i = pk.index()
    s, t = 0.0, 0.0
    for k in range(A.shape[1]):
        s += A[i, k] * x[k]
        t += B[i, k] * x[k]
    out[i] = alpha * s + beta * t


@form("gesummv", "kernel")
def _(alpha, beta, A, B, x):
    out = np.empty(A.shape[0])
    _gesummv_kernel(out, alpha, beta, A, B, x, ndrange=len(out))
    return out


@pk.kernel
def _outer_products(A, u1, v1, u2, v2):
    i, j = pk.index()
    A[i, j] += u1[i] * v1[j] + u2[i] * v2[j]


@form("gemver", "kernels")
def _(alpha, beta, A, u1, v1, u2, v2, w, x, y, z):
    _outer_products(A, u1, v1, u2, v2, ndrange=A.shape)
    x += beta * _by_columns(A, y) + z
    w += alpha * _by_rows(A, x)


# -- halves of products --------------------------------------------------------------------------


@pk.jit
def _syrk(alpha, beta, C, A):
    C[:] = np.tril(alpha * (A @ A.T) + beta * C) + np.triu(C, 1)


@pk.jit
def _syr2k(alpha, beta, C, A, B):
    C[:] = np.tril(alpha * (A @ B.T) + alpha * (B @ A.T) + beta * C) + np.triu(C, 1)


@pk.jit
def _symm(alpha, beta, C, A, B):
    whole = np.tril(A) + np.tril(A, -1).T
    C[:] = alpha * (whole @ B) + beta * C


@pk.jit
def _trmm(alpha, A, B):
    B[:] = alpha * (B + np.tril(A, -1).T @ B)


for _name, _program in (("syrk", _syrk), ("syr2k", _syr2k), ("symm", _symm), ("trmm", _trmm)):
    form(_name, "program")(_program)


@pk.kernel
def _syrk_kernel(alpha, beta, C, A):
    i, j = pk.index()
    if j <= i:
        s = beta * C[i, j]
        for k in range(A.shape[1]):
            s += alpha * A[i, k] * A[j, k]
        C[i, j] = s


@pk.kernel
def _syr2k_kernel(alpha, beta, C, A, B):
    i, j = pk.index()
    if j > i:
        return
    C[i, j] *= beta
    for k in range(A.shape[1]):
        C[i, j] += A[j, k] * alpha * B[i, k] + B[j, k] * alpha * A[i, k]


@pk.kernel
def _symm_kernel(alpha, beta, C, A, B):
    i, j = pk.index()
    s = A[i, i] * B[i, j]
    for k in range(i):
        s += A[i, k] * B[k, j]
    for k in range(i + 1, A.shape[0]):
        s += A[k, i] * B[k, j]
    C[i, j] = beta * C[i, j] + alpha * s


@pk.kernel
def _trmm_kernel(out, alpha, A, B):
    i, j = pk.index()
    s = B[i, j]
    for k in range(i + 1, B.shape[0]):
        s += A[k, i] * B[k, j]
    out[i, j] = alpha * s


@pk.kernel
def _trmm_columns(alpha, A, B):
    """In place: a work-item a column, from the top."""
    j = pk.index()
    for i in range(B.shape[0]):
        for k in range(i + 1, B.shape[0]):
            B[i, j] += A[k, i] * B[k, j]
        B[i, j] *= alpha


@form("syrk", "kernel")
def _(alpha, beta, C, A):
    _syrk_kernel(alpha, beta, C, A, ndrange=C.shape)


@form("syr2k", "kernel")
def _(alpha, beta, C, A, B):
    _syr2k_kernel(alpha, beta, C, A, B, ndrange=C.shape)


@form("symm", "kernel")
def _(alpha, beta, C, A, B):
    _symm_kernel(alpha, beta, C, A, B, ndrange=C.shape)


@form("trmm", "kernel")
def _(alpha, A, B):
    out = np.empty_like(B)
    _trmm_kernel(out, alpha, A, B, ndrange=B.shape)
    B[:] = out


@form("trmm", "kernel, columns in place")
def _(alpha, A, B):
    _trmm_columns(alpha, A, B, ndrange=B.shape[1])


# -- statistics of columns -----------------------------------------------------------------------


@pk.jit
def _covariance(M: pk.static, float_n, data):
    data -= data.mean(axis=0)
    return data.T @ data / (float_n - 1.0)


@pk.jit
def _covariance2(M: pk.static, float_n, data):
    away = data - data.mean(axis=0)
    return away.T @ away / (data.shape[0] - 1)


@pk.jit
def _correlation(M: pk.static, float_n, data):
    spread = data.std(axis=0)
    spread = np.where(spread <= 0.1, 1.0, spread)
    data[:] = (data - data.mean(axis=0)) / (np.sqrt(float_n) * spread)
    corr = data.T @ data
    return np.where(np.eye(M) > 0, 1.0, corr)


form("covariance", "program")(_covariance)
form("covariance2", "program")(_covariance2)
form("correlation", "program")(_correlation)


@pk.kernel
def _centred(data, float_n):
    j = pk.index()
    s = 0.0
    for i in range(data.shape[0]):
        s += data[i, j]
    s /= data.shape[0]
    for i in range(data.shape[0]):
        data[i, j] -= s


@pk.kernel
def _standard(data, float_n):
    j = pk.index()
    n = data.shape[0]
    mean, spread = 0.0, 0.0
    for i in range(n):
        mean += data[i, j]
    mean /= n
    for i in range(n):
        spread += (data[i, j] - mean) * (data[i, j] - mean)
    spread = pk.sqrt(spread / n)
    if spread <= 0.1:
        spread = 1.0
    for i in range(n):
        data[i, j] = (data[i, j] - mean) / (pk.sqrt(float_n) * spread)


@pk.kernel
def _gram(out, data, by):
    i, j = pk.index()
    s = 0.0
    for k in range(data.shape[0]):
        s += data[k, i] * data[k, j]
    out[i, j] = s / by


@form("covariance", "kernels")
def _(M, float_n, data):
    out = np.empty((M, M))
    _centred(data, float_n, ndrange=M)
    _gram(out, data, float_n - 1.0, ndrange=out.shape)
    return out


@form("correlation", "kernels")
def _(M, float_n, data):
    out = np.empty((M, M))
    _standard(data, float_n, ndrange=M)
    _gram(out, data, 1.0, ndrange=out.shape)
    np.fill_diagonal(out, 1.0)
    return out
