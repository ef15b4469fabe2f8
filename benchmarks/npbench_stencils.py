"""Stencils of NPBench, flows and weather: each in the forms that people write."""
# ruff: noqa: N803, N806 (fields keep their names)

from __future__ import annotations

import numpy as np
from npbench_setting import form

import pykern as pk

# -- cavity_flow and channel_flow: an incompressible flow with a pressure by sweeps --------------


@pk.func
def _source(e, w, n, s, dt, dx, dy, rho):
    """Of the pressure: `e`, `w`, `n`, `s` are u and v of the neighbours."""
    ux, uy = (e[0] - w[0]) / (2 * dx), (n[0] - s[0]) / (2 * dy)
    vx, vy = (e[1] - w[1]) / (2 * dx), (n[1] - s[1]) / (2 * dy)
    return rho * ((ux + vy) / dt - ux**2 - 2 * uy * vx - vy**2)


@pk.func
def _relaxed(e, w, n, s, b, dx, dy):
    both = 2 * (dx**2 + dy**2)
    return ((e + w) * dy**2 + (n + s) * dx**2) / both - dx**2 * dy**2 / both * b


@pk.func
def _advanced(c, e, w, n, s, u, v, slope, dt, dx, dy, nu):
    """A component of the velocity, `c` with its neighbours, after a step; `slope`: of pressure over density."""
    carried = u * dt / dx * (c - w) + v * dt / dy * (c - s)
    spread = nu * (dt / dx**2 * (e - 2 * c + w) + dt / dy**2 * (n - 2 * c + s))
    return c - carried - dt * slope + spread


@pk.func
def _five(a):
    """Inside of an array: itself, and its neighbours at the east, west, north and south."""
    return a[1:-1, 1:-1], a[1:-1, 2:], a[1:-1, :-2], a[2:, 1:-1], a[:-2, 1:-1]


@pk.jit
def _cavity(u, v, p, steps: pk.static, sweeps: pk.static, dt, dx, dy, rho, nu):
    for _ in pk.range(steps):
        uc, ue, uw, un, us = _five(u)
        vc, ve, vw, vn, vs = _five(v)
        b = _source((ue, ve), (uw, vw), (un, vn), (us, vs), dt, dx, dy, rho)
        for _ in pk.range(sweeps):
            e, w, n, s = _five(p)[1:]
            p[1:-1, 1:-1] = _relaxed(e, w, n, s, b, dx, dy)
            p[:, -1] = p[:, -2]
            p[0, :] = p[1, :]
            p[:, 0] = p[:, 1]
            p[-1, :] = 0
        e, w, n, s = _five(p)[1:]
        new_u = _advanced(uc, ue, uw, un, us, uc, vc, (e - w) / (2 * rho * dx), dt, dx, dy, nu)
        new_v = _advanced(vc, ve, vw, vn, vs, uc, vc, (n - s) / (2 * rho * dy), dt, dx, dy, nu)
        u[1:-1, 1:-1] = new_u
        v[1:-1, 1:-1] = new_v
        u[0, :] = 0
        u[:, 0] = 0
        u[:, -1] = 0
        u[-1, :] = 1
        v[0, :] = 0
        v[-1, :] = 0
        v[:, 0] = 0
        v[:, -1] = 0


@pk.kernel
def _source_kernel(b, u, v, dt, dx, dy, rho):
    i, j = pk.index()
    b[i, j] = _source(
        (u[i, j + 1], v[i, j + 1]), (u[i, j - 1], v[i, j - 1]),
        (u[i + 1, j], v[i + 1, j]), (u[i - 1, j], v[i - 1, j]), dt, dx, dy, rho,
    )  # fmt: skip


@pk.kernel
def _relax(p, old, b, dx, dy):
    i, j = pk.index()
    p[i, j] = _relaxed(old[i, j + 1], old[i, j - 1], old[i + 1, j], old[i - 1, j], b[i, j], dx, dy)


@pk.kernel
def _advance(u, v, old_u, old_v, p, dt, dx, dy, rho, nu):
    i, j = pk.index()
    x, y = old_u[i, j], old_v[i, j]
    slope = (p[i, j + 1] - p[i, j - 1]) / (2 * rho * dx)
    u[i, j] = _advanced(
        x, old_u[i, j + 1], old_u[i, j - 1], old_u[i + 1, j], old_u[i - 1, j], x, y, slope, dt, dx, dy, nu
    )
    slope = (p[i + 1, j] - p[i - 1, j]) / (2 * rho * dy)
    v[i, j] = _advanced(
        y, old_v[i, j + 1], old_v[i, j - 1], old_v[i + 1, j], old_v[i - 1, j], x, y, slope, dt, dx, dy, nu
    )


@pk.jit
def _cavity_launches(u, v, p, steps: pk.static, sweeps: pk.static, dt, dx, dy, rho, nu):
    inside = (range(1, u.shape[0] - 1), range(1, u.shape[1] - 1))
    b = pk.zeros_like(p)
    for _ in pk.range(steps):
        _source_kernel(b, u, v, dt, dx, dy, rho, ndrange=inside)
        for _ in pk.range(sweeps):
            old = p.copy()
            _relax(p, old, b, dx, dy, ndrange=inside)
            p[:, -1] = p[:, -2]
            p[0, :] = p[1, :]
            p[:, 0] = p[:, 1]
            p[-1, :] = 0
        old_u, old_v = u.copy(), v.copy()
        _advance(u, v, old_u, old_v, p, dt, dx, dy, rho, nu, ndrange=inside)
        for field, lid in ((u, 1), (v, 0)):
            field[0, :] = 0
            field[:, 0] = 0
            field[:, -1] = 0
            field[-1, :] = lid
        v[:, 0] = 0


@form("cavity_flow", "program, slices")
def _(nx, ny, nt, nit, u, v, dt, dx, dy, p, rho, nu):
    _cavity(u, v, p, nt, nit, dt, dx, dy, rho, nu)


@form("cavity_flow", "program of kernels")
def _(nx, ny, nt, nit, u, v, dt, dx, dy, p, rho, nu):
    _cavity_launches(u, v, p, nt, nit, dt, dx, dy, rho, nu)


@form("cavity_flow", "kernels")
def _(nx, ny, nt, nit, u, v, dt, dx, dy, p, rho, nu):
    inside, b = (range(1, ny - 1), range(1, nx - 1)), np.zeros_like(p)
    for _ in range(nt):
        _source_kernel(b, u, v, dt, dx, dy, rho, ndrange=inside)
        for _ in range(nit):
            _relax(p, p.copy(), b, dx, dy, ndrange=inside)
            p[:, -1] = p[:, -2]
            p[0, :] = p[1, :]
            p[:, 0] = p[:, 1]
            p[-1, :] = 0
        _advance(u, v, u.copy(), v.copy(), p, dt, dx, dy, rho, nu, ndrange=inside)
        for field, lid in ((u, 1), (v, 0)):
            field[0, :] = field[:, 0] = field[:, -1] = 0
            field[-1, :] = lid


@pk.func
def _around(a):
    """Rows inside, all columns: itself, and its neighbours; the last column is beside the first."""
    c = a[1:-1]
    east, west = np.concatenate((c[:, 1:], c[:, :1]), axis=1), np.concatenate((c[:, -1:], c[:, :-1]), axis=1)
    return c, east, west, a[2:], a[:-2]


@pk.jit
def _channel(u, v, p, sweeps: pk.static, dt, dx, dy, rho, nu, F):
    count, change = 0, 1.0
    while change > 0.001:
        uc, ue, uw, un, us = _around(u)
        vc, ve, vw, vn, vs = _around(v)
        b = _source((ue, ve), (uw, vw), (un, vn), (us, vs), dt, dx, dy, rho)
        for _ in pk.range(sweeps):
            e, w, n, s = _around(p)[1:]
            p[1:-1] = _relaxed(e, w, n, s, b, dx, dy)
            p[-1] = p[-2]
            p[0] = p[1]
        e, w, n, s = _around(p)[1:]
        before = u.sum()
        new_u = _advanced(uc, ue, uw, un, us, uc, vc, (e - w) / (2 * rho * dx), dt, dx, dy, nu) + F * dt
        new_v = _advanced(vc, ve, vw, vn, vs, uc, vc, (n - s) / (2 * rho * dy), dt, dx, dy, nu)
        u[1:-1] = new_u
        v[1:-1] = new_v
        u[0] = 0
        u[-1] = 0
        v[0] = 0
        v[-1] = 0
        change = (u.sum() - before) / u.sum()
        count += 1
    return count


@pk.kernel
def _channel_source(b, u, v, dt, dx, dy, rho):
    i, j = pk.index()
    e, w = (j + 1) % u.shape[1], (j - 1) % u.shape[1]
    b[i, j] = _source(
        (u[i, e], v[i, e]), (u[i, w], v[i, w]),
        (u[i + 1, j], v[i + 1, j]), (u[i - 1, j], v[i - 1, j]), dt, dx, dy, rho,
    )  # fmt: skip


@pk.kernel
def _channel_relax(p, old, b, dx, dy):
    i, j = pk.index()
    e, w = (j + 1) % p.shape[1], (j - 1) % p.shape[1]
    p[i, j] = _relaxed(old[i, e], old[i, w], old[i + 1, j], old[i - 1, j], b[i, j], dx, dy)


@pk.kernel
def _channel_advance(u, v, old_u, old_v, p, dt, dx, dy, rho, nu, F):
    i, j = pk.index()
    e, w = (j + 1) % u.shape[1], (j - 1) % u.shape[1]
    x, y = old_u[i, j], old_v[i, j]
    slope = (p[i, e] - p[i, w]) / (2 * rho * dx)
    u[i, j] = (
        _advanced(x, old_u[i, e], old_u[i, w], old_u[i + 1, j], old_u[i - 1, j], x, y, slope, dt, dx, dy, nu)
        + F * dt
    )
    slope = (p[i + 1, j] - p[i - 1, j]) / (2 * rho * dy)
    v[i, j] = _advanced(
        y, old_v[i, e], old_v[i, w], old_v[i + 1, j], old_v[i - 1, j], x, y, slope, dt, dx, dy, nu
    )


@pk.jit
def _channel_launches(u, v, p, sweeps: pk.static, dt, dx, dy, rho, nu, F):
    inside = (range(1, u.shape[0] - 1), u.shape[1])
    b = pk.zeros_like(p)
    count, change = 0, 1.0
    while change > 0.001:
        _channel_source(b, u, v, dt, dx, dy, rho, ndrange=inside)
        for _ in pk.range(sweeps):
            old = p.copy()
            _channel_relax(p, old, b, dx, dy, ndrange=inside)
            p[-1] = p[-2]
            p[0] = p[1]
        old_u, old_v = u.copy(), v.copy()
        _channel_advance(u, v, old_u, old_v, p, dt, dx, dy, rho, nu, F, ndrange=inside)
        for field in (u, v):
            field[0] = 0
            field[-1] = 0
        change = (u.sum() - old_u.sum()) / u.sum()
        count += 1
    return count


@form("channel_flow", "program, slices")
def _(nit, u, v, dt, dx, dy, p, rho, nu, F):
    return _channel(u, v, p, nit, dt, dx, dy, rho, nu, F)


@form("channel_flow", "program of kernels")
def _(nit, u, v, dt, dx, dy, p, rho, nu, F):
    return _channel_launches(u, v, p, nit, dt, dx, dy, rho, nu, F)


@form("channel_flow", "kernels")
def _(nit, u, v, dt, dx, dy, p, rho, nu, F):
    inside, b = (range(1, len(u) - 1), u.shape[1]), np.zeros_like(p)
    count, change = 0, 1.0
    while change > 0.001:
        _channel_source(b, u, v, dt, dx, dy, rho, ndrange=inside)
        for _ in range(nit):
            _channel_relax(p, p.copy(), b, dx, dy, ndrange=inside)
            p[-1], p[0] = p[-2], p[1]
        old = u.copy()
        _channel_advance(u, v, old, v.copy(), p, dt, dx, dy, rho, nu, F, ndrange=inside)
        for field in (u, v):
            field[0] = field[-1] = 0
        change = (u.sum() - old.sum()) / u.sum()
        count += 1
    return count


# -- hdiff: a diffusion of fourth order, limited -------------------------------------------------


@pk.jit
def _hdiff(x, result, weight):
    c = x[1:-1, 1:-1]
    lap = 4 * c - x[2:, 1:-1] - x[:-2, 1:-1] - x[1:-1, 2:] - x[1:-1, :-2]
    flow_x = lap[1:, 1:-1] - lap[:-1, 1:-1]
    flow_x = np.where(flow_x * (c[1:, 1:-1] - c[:-1, 1:-1]) > 0, 0.0, flow_x)
    flow_y = lap[1:-1, 1:] - lap[1:-1, :-1]
    flow_y = np.where(flow_y * (c[1:-1, 1:] - c[1:-1, :-1]) > 0, 0.0, flow_y)
    result[:] = x[2:-2, 2:-2] - weight * (flow_x[1:] - flow_x[:-1] + flow_y[:, 1:] - flow_y[:, :-1])


@pk.func
def _laplace(x, i, j, k):
    return 4 * x[i, j, k] - x[i + 1, j, k] - x[i - 1, j, k] - x[i, j + 1, k] - x[i, j - 1, k]


@pk.func
def _limited(x, i, j, k, p, q):
    """The flow from (i, j) to (p, q)."""
    flow = _laplace(x, p, q, k) - _laplace(x, i, j, k)
    return 0.0 if flow * (x[p, q, k] - x[i, j, k]) > 0 else flow


@pk.kernel
def _hdiff_kernel(x, result, weight):
    a, b, k = pk.index()
    i, j = a + 2, b + 2
    across = _limited(x, i, j, k, i + 1, j) - _limited(x, i - 1, j, k, i, j)
    along = _limited(x, i, j, k, i, j + 1) - _limited(x, i, j - 1, k, i, j)
    result[a, b, k] = x[i, j, k] - weight[a, b, k] * (across + along)


@pk.kernel
def _laplaces(lap, x):
    i, j, k = pk.index()
    lap[i, j, k] = _laplace(x, i + 1, j + 1, k)


@pk.kernel
def _flows_across(flow, lap, x):
    i, j, k = pk.index()
    f = lap[i + 1, j + 1, k] - lap[i, j + 1, k]
    flow[i, j, k] = 0.0 if f * (x[i + 2, j + 2, k] - x[i + 1, j + 2, k]) > 0 else f


@pk.kernel
def _flows_along(flow, lap, x):
    i, j, k = pk.index()
    f = lap[i + 1, j + 1, k] - lap[i + 1, j, k]
    flow[i, j, k] = 0.0 if f * (x[i + 2, j + 2, k] - x[i + 2, j + 1, k]) > 0 else f


@pk.kernel
def _diffused(result, x, across, along, weight):
    i, j, k = pk.index()
    flows = across[i + 1, j, k] - across[i, j, k] + along[i, j + 1, k] - along[i, j, k]
    result[i, j, k] = x[i + 2, j + 2, k] - weight[i, j, k] * flows


@pk.jit
def _hdiff_launches(x, result, weight):
    h, w, d = result.shape
    lap, across, along = pk.empty((h + 2, w + 2, d)), pk.empty((h + 1, w, d)), pk.empty((h, w + 1, d))
    _laplaces(lap, x, ndrange=lap.shape)
    _flows_across(across, lap, x, ndrange=across.shape)
    _flows_along(along, lap, x, ndrange=along.shape)
    _diffused(result, x, across, along, weight, ndrange=result.shape)


form("hdiff", "program, slices")(_hdiff)
form("hdiff", "program of four kernels")(_hdiff_launches)


@form("hdiff", "kernel")
def _(x, result, weight):
    _hdiff_kernel(x, result, weight, ndrange=result.shape)


# -- vadv: tridiagonal systems along the last dimension ------------------------------------------


@pk.jit
def _vadv(result, u, wcon, pos, tens, step):
    K = result.shape[2]
    c, d = pk.empty_like(result), pk.empty_like(result)
    for k in pk.range(K):
        low, high = np.maximum(k - 1, 0), np.minimum(k + 1, K - 1)
        g_low = np.where(k > 0, -0.125, 0.0) * (wcon[1:, :, k] + wcon[:-1, :, k])
        g_high = np.where(k < K - 1, 0.125, 0.0) * (wcon[1:, :, high] + wcon[:-1, :, high])
        correction = -g_low * (u[:, :, low] - u[:, :, k]) - g_high * (u[:, :, high] - u[:, :, k])
        right = step * pos[:, :, k] + tens[:, :, k] + result[:, :, k] + correction
        before_c = np.where(k > 0, c[:, :, low], 0.0)
        before_d = np.where(k > 0, d[:, :, low], 0.0)
        divided = 1 / (step - g_low - g_high - before_c * g_low)
        c[:, :, k] = g_high * divided
        d[:, :, k] = (right - before_d * g_low) * divided
    x = d[:, :, K - 1]
    result[:, :, K - 1] = step * (x - pos[:, :, K - 1])
    for k in pk.range(K - 2, -1, -1):
        x = d[:, :, k] - c[:, :, k] * x
        result[:, :, k] = step * (x - pos[:, :, k])


@pk.jit
def _vadv_range(result, u, wcon, pos, tens, step):
    """Python's range, and what differs at the ends by `if`."""
    K = result.shape[2]
    c, d = pk.empty_like(result), pk.empty_like(result)
    w = 0.125 * (wcon[1:] + wcon[:-1])
    for k in range(K):
        right = step * pos[:, :, k] + tens[:, :, k] + result[:, :, k]
        diagonal, above = step, 0.0
        if k < K - 1:
            above = w[:, :, k + 1]
            diagonal = diagonal - above
            right = right - above * (u[:, :, k + 1] - u[:, :, k])
        if k > 0:
            below = -w[:, :, k]
            right = right - below * (u[:, :, k - 1] - u[:, :, k]) - d[:, :, k - 1] * below
            diagonal = diagonal - below - c[:, :, k - 1] * below
        c[:, :, k] = above / diagonal
        d[:, :, k] = right / diagonal
    x = d[:, :, K - 1]
    result[:, :, K - 1] = step * (x - pos[:, :, K - 1])
    for k in range(K - 2, -1, -1):
        x = d[:, :, k] - c[:, :, k] * x
        result[:, :, k] = step * (x - pos[:, :, k])


@pk.kernel
def _vadv_kernel(result, u, wcon, pos, tens, c, d, step):
    i, j = pk.index()
    K = result.shape[2]
    before_c, before_d = 0.0, 0.0
    for k in range(K):
        right = step * pos[i, j, k] + tens[i, j, k] + result[i, j, k]
        below, above = 0.0, 0.0
        if k > 0:
            below = -0.125 * (wcon[i + 1, j, k] + wcon[i, j, k])
            right -= below * (u[i, j, k - 1] - u[i, j, k])
        if k < K - 1:
            above = 0.125 * (wcon[i + 1, j, k + 1] + wcon[i, j, k + 1])
            right -= above * (u[i, j, k + 1] - u[i, j, k])
        divided = 1 / (step - below - above - before_c * below)
        before_c = above * divided
        before_d = (right - before_d * below) * divided
        c[i, j, k] = before_c
        d[i, j, k] = before_d
    x = 0.0
    for back in range(K):
        k = K - 1 - back
        x = d[i, j, k] - c[i, j, k] * x
        result[i, j, k] = step * (x - pos[i, j, k])


form("vadv", "program, pk.range")(_vadv)
form("vadv", "program, range")(_vadv_range)


@form("vadv", "kernel")
def _(result, u, wcon, pos, tens, step):
    c, d = np.empty_like(result), np.empty_like(result)
    _vadv_kernel(result, u, wcon, pos, tens, c, d, step, ndrange=result.shape[:2])
