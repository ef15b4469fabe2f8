"""Factors of matrices and triangular systems of NPBench's part from Polybench: kernels of plain loops, and programs."""
# ruff: noqa: N803, N806 (matrices keep their names)

from __future__ import annotations

import numpy as np
from npbench_setting import form

import pykern as pk


@pk.kernel
def _cholesky_rows(A):
    """One work-item, as the loops are written."""
    for i in range(A.shape[0]):
        for j in range(i):
            s = A[i, j]
            for k in range(j):
                s -= A[i, k] * A[j, k]
            A[i, j] = s / A[j, j]
        s = A[i, i]
        for k in range(i):
            s -= A[i, k] * A[i, k]
        A[i, i] = pk.sqrt(s)


@pk.jit
def _cholesky_columns(A):
    """A column after the other; what it leaves is subtracted from the rest of the matrix."""
    n = A.shape[0]
    rows = np.arange(n)
    for k in pk.range(n):
        column = np.where(rows > k, A[:, k] / np.sqrt(A[k, k]), 0.0)
        A[:, k] = np.where(rows > k, column, np.where(rows == k, np.sqrt(A[:, k]), A[:, k]))
        inside = (rows[:, None] > k) & (rows <= rows[:, None])
        A[:] = np.where(inside, A - column[:, None] * column, A)


@pk.jit
def _cholesky_library(A):
    A[:] = np.linalg.cholesky(A) + np.triu(A, 1)


for _name in ("cholesky", "cholesky2"):

    @form(_name, "kernel, one work-item")
    def _(A):
        _cholesky_rows(A, ndrange=1)

    form(_name, "program, columns")(_cholesky_columns)
    form(_name, "program, linalg")(_cholesky_library)


@pk.kernel
def _lu_rows(A):
    n = A.shape[0]
    for i in range(n):
        for j in range(i):
            s = A[i, j]
            for k in range(j):
                s -= A[i, k] * A[k, j]
            A[i, j] = s / A[j, j]
        for j in range(i, n):
            s = A[i, j]
            for k in range(i):
                s -= A[i, k] * A[k, j]
            A[i, j] = s


@pk.kernel
def _lu_columns(A):
    """The same matrix, one column eliminated after the other."""
    n = A.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            A[i, k] /= A[k, k]
            for j in range(k + 1, n):
                A[i, j] -= A[i, k] * A[k, j]


@form("lu", "kernel, rows")
def _(A):
    _lu_rows(A, ndrange=1)


@form("lu", "kernel, elimination")
def _(A):
    _lu_columns(A, ndrange=1)


@pk.kernel
def _substituted(x, y, A, b):
    n = A.shape[0]
    for i in range(n):
        s = b[i]
        for k in range(i):
            s -= A[i, k] * y[k]
        y[i] = s
    for i in range(n - 1, -1, -1):
        s = y[i]
        for k in range(i + 1, n):
            s -= A[i, k] * x[k]
        x[i] = s / A[i, i]


def _solved(factors, A, b):
    x, y = np.zeros_like(b), np.zeros_like(b)
    factors(A, ndrange=1)
    _substituted(x, y, A, b, ndrange=1)
    return x, y


@form("ludcmp", "kernels, rows")
def _(A, b):
    return _solved(_lu_rows, A, b)


@form("ludcmp", "kernels, elimination")
def _(A, b):
    return _solved(_lu_columns, A, b)


@pk.kernel
def _trisolv_rows(L, x, b):
    for i in range(x.shape[0]):
        s = b[i]
        for k in range(i):
            s -= L[i, k] * x[k]
        x[i] = s / L[i, i]


@pk.kernel(fastmath=True)
def _trisolv_any_order(L, x, b):
    for i in range(x.shape[0]):
        s = b[i]
        for k in range(i):
            s -= L[i, k] * x[k]
        x[i] = s / L[i, i]


@form("trisolv", "kernel")
def _(L, x, b):
    _trisolv_rows(L, x, b, ndrange=1)


@form("trisolv", "kernel, fastmath")
def _(L, x, b):
    _trisolv_any_order(L, x, b, ndrange=1)


@pk.kernel
def _durbin(y, z, r):
    alpha, beta = -r[0], 1.0
    y[0] = -r[0]
    for k in range(1, r.shape[0]):
        beta *= 1.0 - alpha * alpha
        s = r[k]
        for i in range(k):
            s += r[k - i - 1] * y[i]
        alpha = -s / beta
        for i in range(k):
            z[i] = y[i] + alpha * y[k - i - 1]
        for i in range(k):
            y[i] = z[i]
        y[k] = alpha


@pk.kernel(fastmath=True)
def _durbin_any_order(y, z, r):
    alpha, beta = -r[0], 1.0
    y[0] = -r[0]
    for k in range(1, r.shape[0]):
        beta *= 1.0 - alpha * alpha
        s = r[k]
        for i in range(k):
            s += r[k - i - 1] * y[i]
        alpha = -s / beta
        for i in range(k):
            z[i] = y[i] + alpha * y[k - i - 1]
        for i in range(k):
            y[i] = z[i]
        y[k] = alpha


@form("durbin", "kernel")
def _(r):
    y, z = np.empty_like(r), np.empty_like(r)
    _durbin(y, z, r, ndrange=1)
    return y


@form("durbin", "kernel, fastmath")
def _(r):
    y, z = np.empty_like(r), np.empty_like(r)
    _durbin_any_order(y, z, r, ndrange=1)
    return y


@pk.kernel
def _gramschmidt(A, Q, R):
    m, n = A.shape
    for k in range(n):
        s = 0.0
        for i in range(m):
            s += A[i, k] * A[i, k]
        R[k, k] = pk.sqrt(s)
        for i in range(m):
            Q[i, k] = A[i, k] / R[k, k]
        for j in range(k + 1, n):
            s = 0.0
            for i in range(m):
                s += Q[i, k] * A[i, j]
            R[k, j] = s
            for i in range(m):
                A[i, j] -= Q[i, k] * s


@pk.jit
def _gramschmidt_arrays(A):
    n = A.shape[1]
    Q, R = pk.zeros_like(A), pk.zeros((n, n))
    behind = np.arange(n)
    for k in pk.range(n):
        length = np.sqrt(A[:, k] @ A[:, k])
        q = A[:, k] / length
        row = np.where(behind > k, q @ A, 0.0)
        Q[:, k] = q
        R[k] = np.where(behind == k, length, row)
        A -= q[:, None] * row
    return Q, R


@form("gramschmidt", "kernel")
def _(A):
    Q, R = np.zeros_like(A), np.zeros((A.shape[1], A.shape[1]))
    _gramschmidt(A, Q, R, ndrange=1)
    return Q, R


form("gramschmidt", "program")(_gramschmidt_arrays)
