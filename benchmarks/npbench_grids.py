"""Stencils and sweeps of NPBench's part from Polybench: programs over arrays, and kernels of plain loops."""
# ruff: noqa: N803 (fields keep their names)

from __future__ import annotations

import numpy as np
from npbench_setting import form

import pykern as pk

# -- neighbours ----------------------------------------------------------------------------------


@pk.func
def _mean_of_three(A):
    return 0.33333 * (A[:-2] + A[1:-1] + A[2:])


@pk.func
def _mean_of_five(A):
    return 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])


@pk.func
def _warmed(A):
    mid = A[1:-1, 1:-1, 1:-1]
    z = 0.125 * (A[2:, 1:-1, 1:-1] - 2.0 * mid + A[:-2, 1:-1, 1:-1])
    y = 0.125 * (A[1:-1, 2:, 1:-1] - 2.0 * mid + A[1:-1, :-2, 1:-1])
    x = 0.125 * (A[1:-1, 1:-1, 2:] - 2.0 * mid + A[1:-1, 1:-1, :-2])
    return z + y + x + mid


@pk.jit
def _jacobi_1d(steps, A, B):
    for _ in pk.range(1, steps):
        B[1:-1] = _mean_of_three(A)
        A[1:-1] = _mean_of_three(B)


@pk.jit
def _jacobi_2d(steps, A, B):
    for _ in pk.range(1, steps):
        B[1:-1, 1:-1] = _mean_of_five(A)
        A[1:-1, 1:-1] = _mean_of_five(B)


@pk.jit
def _heat_3d(steps, A, B):
    for _ in pk.range(1, steps):
        B[1:-1, 1:-1, 1:-1] = _warmed(A)
        A[1:-1, 1:-1, 1:-1] = _warmed(B)


form("jacobi_1d", "program")(_jacobi_1d)
form("jacobi_2d", "program")(_jacobi_2d)
form("heat_3d", "program")(_heat_3d)


@pk.kernel
def _step_1d(B, A):
    i = pk.index()
    if 0 < i < A.shape[0] - 1:
        B[i] = 0.33333 * (A[i - 1] + A[i] + A[i + 1])


@pk.kernel
def _step_2d(B, A):
    i, j = pk.index()
    if 0 < i < A.shape[0] - 1 and 0 < j < A.shape[1] - 1:
        B[i, j] = 0.2 * (A[i, j] + A[i, j - 1] + A[i, j + 1] + A[i + 1, j] + A[i - 1, j])


@pk.kernel
def _step_3d(B, A):
    k, i, j = pk.index()
    B[k, i, j] = (
        0.125 * (A[k + 1, i, j] - 2.0 * A[k, i, j] + A[k - 1, i, j])
        + 0.125 * (A[k, i + 1, j] - 2.0 * A[k, i, j] + A[k, i - 1, j])
        + 0.125 * (A[k, i, j + 1] - 2.0 * A[k, i, j] + A[k, i, j - 1])
        + A[k, i, j]
    )


def _by_steps(kernel, space, steps, A, B):
    for _ in range(1, steps):
        kernel(B, A, ndrange=space)
        kernel(A, B, ndrange=space)


@form("jacobi_1d", "kernel")
def _(TSTEPS, A, B):
    _by_steps(_step_1d, A.shape, TSTEPS, A, B)


@form("jacobi_2d", "kernel")
def _(TSTEPS, A, B):
    _by_steps(_step_2d, A.shape, TSTEPS, A, B)


@form("heat_3d", "kernel")
def _(TSTEPS, A, B):
    _by_steps(_step_3d, tuple(range(1, n - 1) for n in A.shape), TSTEPS, A, B)


@pk.kernel
def _jacobi_1d_loops(steps, A, B):
    n = A.shape[0]
    for _ in range(1, steps):
        for i in range(1, n - 1):
            B[i] = 0.33333 * (A[i - 1] + A[i] + A[i + 1])
        for i in range(1, n - 1):
            A[i] = 0.33333 * (B[i - 1] + B[i] + B[i + 1])


@form("jacobi_1d", "kernel, one work-item")
def _(TSTEPS, A, B):
    _jacobi_1d_loops(TSTEPS, A, B, ndrange=1)


@pk.jit
def _fdtd(steps, ex, ey, hz, given):
    for t in pk.range(steps):
        ey[0, :] = given[t]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])


@pk.kernel
def _electric(ex, ey, hz, given, t):
    i, j = pk.index()
    if i == 0:
        ey[i, j] = given[t]
    else:
        ey[i, j] -= 0.5 * (hz[i, j] - hz[i - 1, j])
    if j > 0:
        ex[i, j] -= 0.5 * (hz[i, j] - hz[i, j - 1])


@pk.kernel
def _magnetic(hz, ex, ey):
    i, j = pk.index()
    hz[i, j] -= 0.7 * (ex[i, j + 1] - ex[i, j] + ey[i + 1, j] - ey[i, j])


form("fdtd_2d", "program")(_fdtd)


@form("fdtd_2d", "kernels")
def _(TMAX, ex, ey, hz, _fict_):
    for t in range(TMAX):
        _electric(ex, ey, hz, _fict_, t, ndrange=hz.shape)
        _magnetic(hz, ex, ey, ndrange=(hz.shape[0] - 1, hz.shape[1] - 1))


# -- all pairs -----------------------------------------------------------------------------------


@pk.jit
def _shortest(path):
    for k in pk.range(path.shape[0]):
        path[:] = np.minimum(path, np.add.outer(path[:, k], path[k, :]))


@pk.jit
def _shortest_broadcast(path):
    for k in pk.range(path.shape[0]):
        path[:] = np.minimum(path, path[:, k][:, None] + path[k])


@pk.kernel
def _through(path, k):
    i, j = pk.index()
    path[i, j] = min(path[i, j], path[i, k] + path[k, j])


@pk.kernel
def _shortest_loops(path):
    n = path.shape[0]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if path[i, k] + path[k, j] < path[i, j]:
                    path[i, j] = path[i, k] + path[k, j]


form("floyd_warshall", "program")(_shortest)
form("floyd_warshall", "program, broadcast")(_shortest_broadcast)


@form("floyd_warshall", "kernel")
def _(path):
    for k in range(len(path)):
        _through(path, k, ndrange=path.shape)


@form("floyd_warshall", "kernel, one work-item")
def _(path):
    _shortest_loops(path, ndrange=1)


# -- sweeps --------------------------------------------------------------------------------------


@pk.kernel
def _seidel(steps, A):
    n = A.shape[0]
    for _ in range(steps - 1):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                A[i, j] = (
                    A[i - 1, j - 1] + A[i - 1, j] + A[i - 1, j + 1] + A[i, j - 1] + A[i, j] + A[i, j + 1]
                    + A[i + 1, j - 1] + A[i + 1, j] + A[i + 1, j + 1]
                ) / 9.0  # fmt: skip


@pk.jit
def _seidel_rows(steps, A):
    """What a cell's left neighbour adds comes last."""
    for _ in pk.range(steps - 1):
        for i in pk.range(1, A.shape[0] - 1):
            A[i, 1:-1] += (
                A[i - 1, :-2] + A[i - 1, 1:-1] + A[i - 1, 2:] + A[i, 2:]
                + A[i + 1, :-2] + A[i + 1, 1:-1] + A[i + 1, 2:]
            )  # fmt: skip
            for j in pk.range(1, A.shape[1] - 1):
                A[i, j] = (A[i, j] + A[i, j - 1]) / 9.0


@form("seidel_2d", "kernel, one work-item")
def _(TSTEPS, N, A):
    _seidel(TSTEPS, A, ndrange=1)


@form("seidel_2d", "program")
def _(TSTEPS, N, A):
    _seidel_rows(TSTEPS, A)


@pk.func
def _factors(steps, n):
    """Of an implicit step along rows, then along columns: beside the diagonal and on it, each twice."""
    a = -(2.0 / steps) / ((1.0 / n) * (1.0 / n)) / 2.0
    d = -(1.0 / steps) / ((1.0 / n) * (1.0 / n)) / 2.0
    return a, 1.0 - 2.0 * d, d, 1.0 - 2.0 * d


@pk.jit
def _adi(steps, u):
    n = u.shape[0]
    a, b, d, e = _factors(steps, n)
    v, p, q = pk.zeros_like(u), pk.zeros_like(u), pk.zeros_like(u)
    for _ in pk.range(steps):
        v[0, 1:-1] = 1.0
        p[1:-1, 0] = 0.0
        q[1:-1, 0] = 1.0
        for j in pk.range(1, n - 1):
            under = a * p[1:-1, j - 1] + b
            p[1:-1, j] = -a / under
            right = -d * u[j, :-2] + (1.0 + 2.0 * d) * u[j, 1:-1] - d * u[j, 2:]
            q[1:-1, j] = (right - a * q[1:-1, j - 1]) / under
        v[-1, 1:-1] = 1.0
        for j in pk.range(n - 2, 0, -1):
            v[j, 1:-1] = p[1:-1, j] * v[j + 1, 1:-1] + q[1:-1, j]
        u[1:-1, 0] = 1.0
        p[1:-1, 0] = 0.0
        q[1:-1, 0] = 1.0
        for j in pk.range(1, n - 1):
            under = d * p[1:-1, j - 1] + e
            p[1:-1, j] = -d / under
            right = -a * v[:-2, j] + (1.0 + 2.0 * a) * v[1:-1, j] - a * v[2:, j]
            q[1:-1, j] = (right - d * q[1:-1, j - 1]) / under
        u[1:-1, -1] = 1.0
        for j in pk.range(n - 2, 0, -1):
            u[1:-1, j] = p[1:-1, j] * u[1:-1, j + 1] + q[1:-1, j]


@pk.kernel
def _adi_columns(v, u, p, q, a, b, d):
    """A work-item solves a column of v, which a row of u gives."""
    i = pk.index()
    n = u.shape[0]
    v[0, i] = 1.0
    p[i, 0] = 0.0
    q[i, 0] = 1.0
    for j in range(1, n - 1):
        under = a * p[i, j - 1] + b
        p[i, j] = -a / under
        right = -d * u[j, i - 1] + (1.0 + 2.0 * d) * u[j, i] - d * u[j, i + 1]
        q[i, j] = (right - a * q[i, j - 1]) / under
    v[n - 1, i] = 1.0
    for j in range(n - 2, 0, -1):
        v[j, i] = p[i, j] * v[j + 1, i] + q[i, j]


@pk.kernel
def _adi_rows(u, v, p, q, a, d, e):
    i = pk.index()
    n = u.shape[0]
    u[i, 0] = 1.0
    p[i, 0] = 0.0
    q[i, 0] = 1.0
    for j in range(1, n - 1):
        under = d * p[i, j - 1] + e
        p[i, j] = -d / under
        right = -a * v[i - 1, j] + (1.0 + 2.0 * a) * v[i, j] - a * v[i + 1, j]
        q[i, j] = (right - d * q[i, j - 1]) / under
    u[i, n - 1] = 1.0
    for j in range(n - 2, 0, -1):
        u[i, j] = p[i, j] * u[i, j + 1] + q[i, j]


@form("adi", "program")
def _(TSTEPS, N, u):
    _adi(TSTEPS, u)
    return u


@form("adi", "kernels")
def _(TSTEPS, N, u):
    v, p, q = np.empty_like(u), np.empty_like(u), np.empty_like(u)
    a, d = -(2.0 / TSTEPS) * N * N / 2.0, -(1.0 / TSTEPS) * N * N / 2.0
    b = 1.0 - 2.0 * d
    for _ in range(TSTEPS):
        _adi_columns(v, u, p, q, a, b, d, ndrange=range(1, N - 1))
        _adi_rows(u, v, p, q, a, d, b, ndrange=range(1, N - 1))
    return u


# -- a recursive filter, deriche -----------------------------------------------------------------


def _coefficients(alpha):
    """Of the sum over what comes before and of that over what comes behind, then of the results before."""
    w = np.exp(-alpha)
    k = (1.0 - w) * (1.0 - w) / (1.0 + alpha * w - np.exp(2.0 * alpha))
    return k, k * w * (alpha - 1.0), k * w * (alpha + 1.0), -k * w * w, 2.0**-alpha, -w * w


@pk.func
def _both_ways(x, a1, a2, a3, a4, b1, b2):
    """The filter along the first dimension, forth and back, added."""
    n = x.shape[0]
    forth, back = pk.zeros_like(x), pk.zeros_like(x)
    forth[0] = a1 * x[0]
    forth[1] = a1 * x[1] + a2 * x[0] + b1 * forth[0]
    for i in pk.range(2, n):
        forth[i] = a1 * x[i] + a2 * x[i - 1] + b1 * forth[i - 1] + b2 * forth[i - 2]
    back[n - 2] = a3 * x[n - 1]
    for i in pk.range(n - 3, -1, -1):
        back[i] = a3 * x[i + 1] + a4 * x[i + 2] + b1 * back[i + 1] + b2 * back[i + 2]
    return forth + back


@pk.jit
def _deriche(x, a1, a2, a3, a4, b1, b2):
    return _both_ways(_both_ways(x.T, a1, a2, a3, a4, b1, b2).T, a1, a2, a3, a4, b1, b2)


@pk.kernel
def _along_rows(out, x, a1, a2, a3, a4, b1, b2):
    i = pk.index()
    n = x.shape[1]
    x1, y1, y2 = 0.0, 0.0, 0.0
    for j in range(n):
        y = a1 * x[i, j] + a2 * x1 + b1 * y1 + b2 * y2
        x1, y1, y2 = x[i, j], y, y1
        out[i, j] = y
    x1, x2, y1, y2 = 0.0, 0.0, 0.0, 0.0
    for j in range(n - 1, -1, -1):
        y = a3 * x1 + a4 * x2 + b1 * y1 + b2 * y2
        x1, x2, y1, y2 = x[i, j], x1, y, y1
        out[i, j] += y


@pk.kernel
def _along_columns(out, x, a1, a2, a3, a4, b1, b2):
    j = pk.index()
    n = x.shape[0]
    x1, y1, y2 = 0.0, 0.0, 0.0
    for i in range(n):
        y = a1 * x[i, j] + a2 * x1 + b1 * y1 + b2 * y2
        x1, y1, y2 = x[i, j], y, y1
        out[i, j] = y
    x1, x2, y1, y2 = 0.0, 0.0, 0.0, 0.0
    for i in range(n - 1, -1, -1):
        y = a3 * x1 + a4 * x2 + b1 * y1 + b2 * y2
        x1, x2, y1, y2 = x[i, j], x1, y, y1
        out[i, j] += y


@form("deriche", "program")
def _(alpha, imgIn):
    return _deriche(imgIn, *_coefficients(alpha))


@form("deriche", "kernels")
def _(alpha, imgIn):
    between, out = np.empty_like(imgIn), np.empty_like(imgIn)
    _along_rows(between, imgIn, *_coefficients(alpha), ndrange=imgIn.shape[0])
    _along_columns(out, between, *_coefficients(alpha), ndrange=imgIn.shape[1])
    return out


# -- foldings of a sequence, nussinov ------------------------------------------------------------


@pk.kernel
def _folded(table, seq):
    n = seq.shape[0]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            most = max(table[i, j - 1], table[i + 1, j] if i + 1 < n else 0)
            if i + 1 < n:
                pair = 1 if i < j - 1 and seq[i] + seq[j] == 3 else 0
                most = max(most, table[i + 1, j - 1] + pair)
            for k in range(i + 1, j):
                most = max(most, table[i, k] + table[k + 1, j])
            table[i, j] = most


@pk.kernel
def _folded_in_place(table, seq):
    n = seq.shape[0]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            if j - 1 >= 0:
                table[i, j] = max(table[i, j], table[i, j - 1])
            if i + 1 < n:
                table[i, j] = max(table[i, j], table[i + 1, j])
                pair = 0
                if i < j - 1 and seq[i] + seq[j] == 3:
                    pair = 1
                table[i, j] = max(table[i, j], table[i + 1, j - 1] + pair)
            for k in range(i + 1, j):
                table[i, j] = max(table[i, j], table[i, k] + table[k + 1, j])


@form("nussinov", "kernel, one work-item")
def _(N, seq):
    table = np.zeros((N, N), np.int32)
    _folded(table, seq, ndrange=1)
    return table


@form("nussinov", "kernel, in place")
def _(N, seq):
    table = np.zeros((N, N), np.int32)
    _folded_in_place(table, seq, ndrange=1)
    return table
