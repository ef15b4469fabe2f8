"""Programs of NPBench over complex numbers, written with these. Read next: `npbench_waves`, by their parts."""
# ruff: noqa: N803, N806 (matrices keep their names)

from __future__ import annotations

import numpy as np
from npbench_setting import form

import pykern as pk

# -- mandelbrot1 and mandelbrot2 -----------------------------------------------------------------


@pk.jit
def _orbits(x, y, steps, horizon):
    c = x + 1j * y[:, None]
    z, n = np.zeros(c.shape, np.complex128), np.zeros(c.shape, np.int64)
    for step in pk.range(steps):
        inside = abs(z) < horizon
        n[inside] = step
        z = np.where(inside, z**2 + c, z)
    n[n == steps - 1] = 0
    return z, n


@pk.kernel
def _orbit(z, n, x, y, steps, horizon):
    i, j = pk.index()
    at, c, last = 0j, x[j] + 1j * y[i], 0
    for step in range(steps):
        if abs(at) < horizon:
            last = step
            at = at * at + c
    z[i, j] = at
    n[i, j] = 0 if last == steps - 1 else last


@pk.kernel
def _escape(z, n, x, y, steps, horizon):
    i, j = pk.index()
    at, c, step = 0j, x[j] + 1j * y[i], 0
    while step < steps and not abs(at) > horizon:
        at = at * at + c
        step += 1
    out = abs(at) > horizon
    z[i, j] = at if out else 0j
    n[i, j] = step if out else 0


def _by(kernel, x0, x1, y0, y1, xn, yn, steps, horizon):
    z, n = np.empty((yn, xn), np.complex128), np.empty((yn, xn), np.int64)
    kernel(z, n, np.linspace(x0, x1, xn), np.linspace(y0, y1, yn), steps, horizon, ndrange=n.shape)
    return z, n


@form("mandelbrot1", "program, complex")
def _(x0, x1, y0, y1, xn, yn, steps, horizon=2.0):
    return _orbits(np.linspace(x0, x1, xn), np.linspace(y0, y1, yn), steps, horizon)


@form("mandelbrot1", "kernel, complex")
def _(x0, x1, y0, y1, xn, yn, steps, horizon=2.0):
    return _by(_orbit, x0, x1, y0, y1, xn, yn, steps, horizon)


@form("mandelbrot2", "kernel, complex")
def _(x0, x1, y0, y1, xn, yn, steps, horizon=2.0):
    return _by(_escape, x0, x1, y0, y1, xn, yn, steps, horizon)


# -- stockham_fft --------------------------------------------------------------------------------


@pk.jit
def _fft(y, x, R: pk.static, K: pk.static):
    rows, columns = np.arange(R)[:, None], np.arange(R)
    dft = np.exp(-2j * np.pi * rows * columns / R)
    y[:] = x
    for i in range(K):
        taken = np.transpose(np.reshape(y, (R**i, R, R ** (K - i - 1))), (1, 0, 2))
        angles = np.exp(-2j * np.pi * rows * np.arange(R**i) / R ** (i + 1))
        y[:] = np.reshape(dft @ np.reshape(taken * angles[:, :, None], (R, -1)), (-1,))


@form("stockham_fft", "program, complex")
def _(N, R, K, x, y):
    _fft(y, x, R, K)


@pk.kernel
def _stage(y, x, radix, before):
    g, b = pk.index()
    behind = y.shape[0] // before // radix
    for r in range(radix):
        s = 0j
        for k in range(radix):
            angle = -2 * np.pi * k * (g + r * before) / (radix * before)
            s += x[(g * radix + k) * behind + b] * np.exp(1j * angle)
        y[(r * before + g) * behind + b] = s


@form("stockham_fft", "kernels, complex")
def _(N, R, K, x, y):
    a, b = x, np.empty_like(x)
    for stage in range(K):
        _stage(b, a, R, R**stage, ndrange=(R**stage, R ** (K - stage - 1)))
        a, b = b, (np.empty_like(x) if stage == 0 else a)
    y[:] = a


# -- scattering_self_energies --------------------------------------------------------------------


@pk.kernel
def _self_energy(S, near, dH, G, D):
    """A work-item an entry of a matrix."""
    k, e, a, m, n = pk.index()
    s = 0j
    for q in range(D.shape[0]):
        for w in range(min(D.shape[1], e + 1)):
            for i in range(D.shape[4]):
                for j in range(D.shape[5]):
                    for b in range(near.shape[1]):
                        f = near[a, b]
                        for p in range(G.shape[3]):
                            left = 0j
                            for o in range(G.shape[3]):
                                left += G[k, e - w, f, m, o] * dH[a, b, i, o, p]
                            s += left * dH[a, b, j, p, n] * D[q, w, a, b, i, j]
    S[k, e, a, m, n] += s


@pk.jit
def _self_energies(S, near, dH, G, D):
    E = G.shape[1]
    for w in range(D.shape[1]):
        for b in range(near.shape[1]):
            g = G[:, : E - w, near[:, b]]
            for i in range(D.shape[4]):
                left = g @ dH[:, b, i]
                for j in range(D.shape[5]):
                    right = dH[:, b, j] * D[:, w, :, b, i, j].sum(axis=0)[:, None, None]
                    S[:, w:] += left @ right


@form("scattering_self_energies", "kernel, complex")
def _(near, dH, G, D, S):
    _self_energy(S, near, dH, G, D, ndrange=S.shape)


@form("scattering_self_energies", "program, complex")
def _(near, dH, G, D, S):
    _self_energies(S, near, dH, G, D)


# -- contour_integral ----------------------------------------------------------------------------


@pk.jit
def _contour(points, powers, H, Y):
    """The systems of all points at once."""
    T = np.einsum("pn,nij->pij", powers, H)
    X = np.linalg.solve(T, np.broadcast_to(Y, (len(points), Y.shape[0], Y.shape[1])))
    X = np.where((abs(points) < 1.0)[:, None, None], -X, X)
    return X.sum(axis=0), (points[:, None, None] * X).sum(axis=0)


@pk.jit
def _contour_by_points(points, powers, H, Y):
    first, second = np.zeros(Y.shape, np.complex128), np.zeros(Y.shape, np.complex128)
    for p in pk.range(len(points)):
        T = np.zeros(H.shape[1:], np.complex128)
        for n in range(H.shape[0]):
            T = T + powers[p, n] * H[n]
        X = np.linalg.solve(T, Y)
        X = np.where(abs(points[p]) < 1.0, -X, X)
        first += X
        second += points[p] * X
    return first, second


@form("contour_integral", "program")
def _(NR, NM, slab_per_bc, Ham, int_pts, Y):
    powers = int_pts[:, None] ** (slab_per_bc / 2 - np.arange(slab_per_bc + 1))
    return _contour(int_pts, powers, Ham, Y)


@form("contour_integral", "program, point by point")
def _(NR, NM, slab_per_bc, Ham, int_pts, Y):
    powers = int_pts[:, None] ** (slab_per_bc / 2 - np.arange(slab_per_bc + 1))
    return _contour_by_points(int_pts, powers, Ham, Y)
