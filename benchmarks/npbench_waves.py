"""Complex numbers of NPBench, as pairs of real ones: a Fourier transform and sums of products of small matrices."""
# ruff: noqa: N803, N806 (matrices keep their names)

from __future__ import annotations

import math

import numpy as np
from npbench_setting import form, joined, pairs

import pykern as pk

# -- stockham_fft: a Fourier transform of R**K numbers, stage by stage ---------------------------


@pk.func
def _turned(x, stage, R: pk.static, K: pk.static):
    """A stage on arrays: rows taken by R, turned by their angles, and transformed over R."""
    before, behind = R**stage, R ** (K - stage - 1)
    x = np.transpose(np.reshape(x, (before, R, behind, 2)), (1, 0, 2, 3))
    angle = -2 * np.pi / R ** (stage + 1) * np.outer(np.arange(R), np.arange(before))
    cos, sin = np.cos(angle)[:, :, None], np.sin(angle)[:, :, None]
    re = x[:, :, :, 0] * cos - x[:, :, :, 1] * sin
    im = x[:, :, :, 0] * sin + x[:, :, :, 1] * cos
    re, im = np.reshape(re, (R, -1)), np.reshape(im, (R, -1))
    dft = -2 * np.pi / R * np.outer(np.arange(R), np.arange(R))
    cos, sin = np.cos(dft), np.sin(dft)
    return np.stack((cos @ re - sin @ im, cos @ im + sin @ re), axis=2)


@pk.jit
def _fft(x, R: pk.static, K: pk.static):
    for stage in range(K):
        x = np.reshape(_turned(x, stage, R, K), (-1, 2))
    return x


@pk.kernel
def _stage(y, x, radix, before):
    """A work-item has R numbers that meet: of `behind` beside each other, of `before` groups."""
    g, b = pk.index()
    behind = y.shape[0] // before // radix
    for r in range(radix):
        re, im = 0.0, 0.0
        for k in range(radix):
            angle = -2 * math.pi * k * (g + r * before) / (radix * before)
            c, s = pk.cos(angle), pk.sin(angle)
            u, v = x[(g * radix + k) * behind + b, 0], x[(g * radix + k) * behind + b, 1]
            re += u * c - v * s
            im += u * s + v * c
        y[(r * before + g) * behind + b, 0] = re
        y[(r * before + g) * behind + b, 1] = im


@pk.kernel
def _stage_with_table(y, x, cos, sin, radix, before):
    g, b = pk.index()
    behind = y.shape[0] // before // radix
    for r in range(radix):
        re, im = 0.0, 0.0
        for k in range(radix):
            c, s = cos[k, g + r * before], sin[k, g + r * before]
            u, v = x[(g * radix + k) * behind + b, 0], x[(g * radix + k) * behind + b, 1]
            re += u * c - v * s
            im += u * s + v * c
        y[(r * before + g) * behind + b, 0] = re
        y[(r * before + g) * behind + b, 1] = im


@form("stockham_fft", "program")
def _(N, R, K, x, y):
    y[:] = joined(_fft(pairs(x), R, K))


@form("stockham_fft", "kernels, angles in the loop")
def _(N, R, K, x, y):
    a, b = pairs(x), np.empty((N, 2))
    for stage in range(K):
        _stage(b, a, R, R**stage, ndrange=(R**stage, R ** (K - stage - 1)))
        a, b = b, (np.empty((N, 2)) if stage == 0 else a)
    y[:] = joined(a)


@form("stockham_fft", "kernels, a table of angles")
def _(N, R, K, x, y):
    a, b = pairs(x), np.empty((N, 2))
    for stage in range(K):
        angles = -2 * np.pi / R ** (stage + 1) * np.outer(np.arange(R), np.arange(R ** (stage + 1)))
        cos, sin = np.cos(angles), np.sin(angles)
        _stage_with_table(b, a, cos, sin, R, R**stage, ndrange=(R**stage, R ** (K - stage - 1)))
        a, b = b, (np.empty((N, 2)) if stage == 0 else a)
    y[:] = joined(a)


# -- scattering_self_energies: sums of products of small matrices --------------------------------


@pk.kernel
def _self_energy(S, near, dH, G, D):
    """A work-item an entry of a matrix; the product of G and dH is made anew for each."""
    k, e, a, m, n = pk.index()
    orbitals = G.shape[3]
    re, im = 0.0, 0.0
    for q in range(D.shape[0]):
        for w in range(min(D.shape[1], e + 1)):
            for i in range(D.shape[4]):
                for j in range(D.shape[5]):
                    for b in range(near.shape[1]):
                        dr, di = D[q, w, a, b, i, j, 0], D[q, w, a, b, i, j, 1]
                        f = near[a, b]
                        for p in range(orbitals):
                            gr, gi = 0.0, 0.0
                            for o in range(orbitals):
                                xr, xi = G[k, e - w, f, m, o, 0], G[k, e - w, f, m, o, 1]
                                yr, yi = dH[a, b, i, o, p, 0], dH[a, b, i, o, p, 1]
                                gr += xr * yr - xi * yi
                                gi += xr * yi + xi * yr
                            hr, hi = dH[a, b, j, p, n, 0], dH[a, b, j, p, n, 1]
                            tr, ti = hr * dr - hi * di, hr * di + hi * dr
                            re += gr * tr - gi * ti
                            im += gr * ti + gi * tr
    S[k, e, a, m, n, 0] += re
    S[k, e, a, m, n, 1] += im


@pk.func
def _times(ar, ai, br, bi):
    return ar @ br - ai @ bi, ar @ bi + ai @ br


@pk.jit
def _self_energies(S, near, dH, G, D):
    """Loops over what is summed, arrays over k, E and atoms."""
    E = G.shape[1]
    total_re, total_im = pk.zeros(S.shape[:-1]), pk.zeros(S.shape[:-1])
    for w in range(D.shape[1]):
        for b in range(near.shape[1]):
            atoms = near[:, b]
            g = G[:, : E - w, atoms]
            g_re, g_im = g[..., 0], g[..., 1]
            for i in range(D.shape[4]):
                re, im = _times(g_re, g_im, dH[:, b, i, :, :, 0], dH[:, b, i, :, :, 1])
                h_re, h_im = pk.zeros(dH.shape[:1] + dH.shape[3:5]), pk.zeros(dH.shape[:1] + dH.shape[3:5])
                for j in range(D.shape[5]):
                    d_re = D[:, w, :, b, i, j, 0].sum(axis=0)[:, None, None]
                    d_im = D[:, w, :, b, i, j, 1].sum(axis=0)[:, None, None]
                    h_re += dH[:, b, j, :, :, 0] * d_re - dH[:, b, j, :, :, 1] * d_im
                    h_im += dH[:, b, j, :, :, 0] * d_im + dH[:, b, j, :, :, 1] * d_re
                re, im = _times(re, im, h_re, h_im)
                total_re[:, w:] += re
                total_im[:, w:] += im
    S += np.stack((total_re, total_im), axis=5)


@form("scattering_self_energies", "program")
def _(near, dH, G, D, S):
    _self_energies(pairs(S), near, pairs(dH), pairs(G), pairs(D))


@form("scattering_self_energies", "kernel")
def _(near, dH, G, D, S):
    _self_energy(pairs(S), near, pairs(dH), pairs(G), pairs(D), ndrange=S.shape)
