"""Elementwise programs, sums and bins of NPBench: each in the forms that people write.

Comes in: what NumPy's versions take. Goes out: what they return. Written from what is computed, not from their text.
"""

from __future__ import annotations

import numpy as np
from npbench_setting import form, joined, pairs

import pykern as pk

# -- compute: a * min(max(x, 2), 10) + b * y + c, of integers ------------------------------------


@pk.jit
def _compute(x, y, a, b, c):
    return np.clip(x, 2, 10) * a + y * b + c


@pk.jit
def _compute_choosing(x, y, a, b, c):
    held = np.where(x < 2, 2, np.where(x > 10, 10, x))
    return a * held + b * y + c


@pk.jit
def _compute_rows(x, y, a, b, c):
    out = np.empty_like(x)
    for i in range(x.shape[0]):
        out[i] = np.minimum(np.maximum(x[i], 2), 10) * a + y[i] * b + c
    return out


@pk.kernel
def _compute_kernel(out, x, y, a, b, c):
    i, j = pk.index()
    out[i, j] = min(max(x[i, j], 2), 10) * a + y[i, j] * b + c


@pk.kernel
def _compute_loops(out, x, y, a, b, c):
    i = pk.index()
    for j in range(x.shape[1]):
        held = x[i, j]
        if held < 2:
            held = 2
        elif held > 10:
            held = 10
        out[i, j] = held * a + y[i, j] * b + c


form("compute", "program, clip")(_compute)
form("compute", "program, where")(_compute_choosing)
form("compute", "program, rows")(_compute_rows)


@form("compute", "kernel, clip")
def _(x, y, *numbers):
    out = np.empty_like(x)
    _compute_kernel(out, x, y, *numbers, ndrange=x.shape)
    return out


@form("compute", "kernel, ifs in a loop")
def _(x, y, *numbers):
    out = np.empty_like(x)
    _compute_loops(out, x, y, *numbers, ndrange=x.shape[0])
    return out


# -- arc_distance: angles between points of a sphere ---------------------------------------------


@pk.jit
def _arcs(theta_1, phi_1, theta_2, phi_2):
    a = np.sin((theta_2 - theta_1) / 2) ** 2
    b = np.sin((phi_2 - phi_1) / 2) ** 2
    h = a + np.cos(theta_1) * np.cos(theta_2) * b
    return 2 * np.arctan2(np.sqrt(h), np.sqrt(1 - h))


@pk.kernel
def _arcs_kernel(out, theta_1, phi_1, theta_2, phi_2):
    i = pk.index()
    a = pk.sin((theta_2[i] - theta_1[i]) / 2)
    b = pk.sin((phi_2[i] - phi_1[i]) / 2)
    h = a * a + pk.cos(theta_1[i]) * pk.cos(theta_2[i]) * b * b
    out[i] = 2 * pk.atan2(pk.sqrt(h), pk.sqrt(1 - h))


@pk.kernel
def _arcs_loop(out, theta_1, phi_1, theta_2, phi_2):
    for i in range(len(out)):
        h = (
            pk.sin((theta_2[i] - theta_1[i]) / 2) ** 2
            + pk.cos(theta_1[i]) * pk.cos(theta_2[i]) * pk.sin((phi_2[i] - phi_1[i]) / 2) ** 2
        )
        out[i] = 2 * pk.atan2(pk.sqrt(h), pk.sqrt(1 - h))


form("arc_distance", "program")(_arcs)


@form("arc_distance", "kernel")
def _(*angles):
    out = np.empty_like(angles[0])
    _arcs_kernel(out, *angles, ndrange=len(out))
    return out


@form("arc_distance", "kernel, one loop")
def _(*angles):
    out = np.empty_like(angles[0])
    _arcs_loop(out, *angles, ndrange=1)
    return out


# -- go_fast: an array and the sum of tanh along its diagonal ------------------------------------


@pk.jit
def _trace(a):
    return a + np.tanh(np.ravel(a)[:: a.shape[1] + 1]).sum()


@pk.jit
def _trace_gathered(a):
    i = np.arange(a.shape[0])
    return a + np.sum(np.tanh(a[i, i]))


@pk.jit
def _trace_loop(a):
    trace = 0.0
    for i in range(a.shape[0]):
        trace += np.tanh(a[i, i])
    return a + trace


@pk.kernel
def _diagonal(trace, a):
    total = 0.0
    for i in range(a.shape[0]):
        total += pk.tanh(a[i, i])
    trace[0] = total


@pk.kernel
def _plus(out, a, trace):
    i, j = pk.index()
    out[i, j] = a[i, j] + trace[0]


@pk.jit
def _trace_launches(a):
    trace, out = pk.empty(1), pk.empty_like(a)
    _diagonal(trace, a, ndrange=1)
    _plus(out, a, trace, ndrange=a.shape)
    return out


form("go_fast", "program, strided diagonal")(_trace)
form("go_fast", "program, gathered diagonal")(_trace_gathered)
form("go_fast", "program, loop")(_trace_loop)
form("go_fast", "program of kernels")(_trace_launches)


@form("go_fast", "kernels")
def _(a):
    trace, out = np.empty(1), np.empty_like(a)
    _diagonal(trace, a, ndrange=1)
    _plus(out, a, trace, ndrange=a.shape)
    return out


# -- mandelbrot1: numbers of steps, and where the points are when they leave ---------------------


@pk.jit
def _orbits(x, y, steps: pk.static, horizon):
    re = im = np.zeros((len(y), len(x)))
    n = np.zeros((len(y), len(x)), np.int64)
    for step in pk.range(steps):
        inside = np.sqrt(re * re + im * im) < horizon
        n = np.where(inside, step, n)
        stepped = re * re - im * im + x
        im = np.where(inside, 2 * re * im + y[:, None], im)
        re = np.where(inside, stepped, re)
    return np.stack((re, im), axis=2), np.where(n == steps - 1, 0, n)


@pk.kernel
def _orbit(z, n, x, y, steps, horizon):
    i, j = pk.index()
    re, im, last = 0.0, 0.0, 0
    for step in range(steps):
        if pk.sqrt(re * re + im * im) < horizon:
            last = step
            re, im = re * re - im * im + x[j], 2 * re * im + y[i]
    z[i, j, 0] = re
    z[i, j, 1] = im
    n[i, j] = 0 if last == steps - 1 else last


@pk.kernel
def _orbit_ending(z, n, x, y, steps, horizon):
    i, j = pk.index()
    re, im, last = 0.0, 0.0, 0
    for step in range(steps):
        if not pk.sqrt(re * re + im * im) < horizon:
            break
        last = step
        re, im = re * re - im * im + x[j], 2 * re * im + y[i]
    z[i, j, 0] = re
    z[i, j, 1] = im
    n[i, j] = 0 if last == steps - 1 else last


@form("mandelbrot1", "program")
def _(x0, x1, y0, y1, xn, yn, steps, horizon=2.0):
    z, n = _orbits(np.linspace(x0, x1, xn), np.linspace(y0, y1, yn), steps, horizon)
    return joined(z), n


def _orbits_by(kernel, x0, x1, y0, y1, xn, yn, steps, horizon):
    z, n = np.empty((yn, xn), np.complex128), np.empty((yn, xn), np.int64)
    x, y = np.linspace(x0, x1, xn), np.linspace(y0, y1, yn)
    kernel(pairs(z), n, x, y, steps, horizon, ndrange=n.shape)
    return z, n


@form("mandelbrot1", "kernel, if")
def _(x0, x1, y0, y1, xn, yn, steps, horizon=2.0):
    return _orbits_by(_orbit, x0, x1, y0, y1, xn, yn, steps, horizon)


@form("mandelbrot1", "kernel, break")
def _(x0, x1, y0, y1, xn, yn, steps, horizon=2.0):
    return _orbits_by(_orbit_ending, x0, x1, y0, y1, xn, yn, steps, horizon)


# -- mandelbrot2: the step at which a point left, and where it was then; else zeros --------------


@pk.jit
def _escapes(x, y, steps: pk.static, horizon):
    re = im = left_re = left_im = np.zeros((len(y), len(x)))
    n = np.zeros((len(y), len(x)), np.int64)
    for step in pk.range(steps):
        running = n == 0
        stepped = re * re - im * im + x
        im = np.where(running, 2 * re * im + y[:, None], im)
        re = np.where(running, stepped, re)
        leaves = running & (np.sqrt(re * re + im * im) > horizon)
        n = np.where(leaves, step + 1, n)
        left_re = np.where(leaves, re, left_re)
        left_im = np.where(leaves, im, left_im)
    return np.stack((left_re, left_im), axis=2), n


@pk.kernel
def _escape_ending(z, n, x, y, steps, horizon):
    i, j = pk.index()
    re, im = 0.0, 0.0
    z[i, j, 0] = 0.0
    z[i, j, 1] = 0.0
    n[i, j] = 0
    for step in range(steps):
        re, im = re * re - im * im + x[j], 2 * re * im + y[i]
        if pk.sqrt(re * re + im * im) > horizon:
            z[i, j, 0] = re
            z[i, j, 1] = im
            n[i, j] = step + 1
            break


@pk.kernel
def _escape_while(z, n, x, y, steps, horizon):
    i, j = pk.index()
    re, im, step, out = 0.0, 0.0, 0, False
    while step < steps and not out:
        re, im = re * re - im * im + x[j], 2 * re * im + y[i]
        step += 1
        out = re * re + im * im > horizon * horizon
    z[i, j, 0] = re if out else 0.0
    z[i, j, 1] = im if out else 0.0
    n[i, j] = step if out else 0


@form("mandelbrot2", "program")
def _(x0, x1, y0, y1, xn, yn, steps, horizon=2.0):
    z, n = _escapes(np.linspace(x0, x1, xn), np.linspace(y0, y1, yn), steps, horizon)
    return joined(z), n


@form("mandelbrot2", "kernel, break")
def _(x0, x1, y0, y1, xn, yn, steps, horizon=2.0):
    return _orbits_by(_escape_ending, x0, x1, y0, y1, xn, yn, steps, horizon)


@form("mandelbrot2", "kernel, while")
def _(x0, x1, y0, y1, xn, yn, steps, horizon=2.0):
    return _orbits_by(_escape_while, x0, x1, y0, y1, xn, yn, steps, horizon)


# -- azimint_hist: means of data in bins of equal width ------------------------------------------


@pk.kernel
def _bins_atomic(count, total, data, radius, low, high, bins):
    i = pk.index()
    b = min(int((radius[i] - low) / (high - low) * bins), bins - 1)
    pk.atomic_add(count, b, 1.0)
    pk.atomic_add(total, b, data[i])


@pk.kernel
def _bins_loop(count, total, data, radius, low, high, bins):
    for i in range(len(data)):
        b = min(int((radius[i] - low) / (high - low) * bins), bins - 1)
        count[b] += 1.0
        total[b] += data[i]


@pk.jit
def _binned(data, radius, bins: pk.static):
    count, total = pk.zeros(bins), pk.zeros(bins)
    _bins_atomic(count, total, data, radius, radius.min(), radius.max(), bins, ndrange=data.shape)
    return total / count


@form("azimint_hist", "program of a kernel, atomics")
def _(data, radius, bins):
    return _binned(data, radius, bins)


@form("azimint_hist", "kernel, atomics")
def _(data, radius, bins):
    count, total = np.zeros(bins), np.zeros(bins)
    _bins_atomic(count, total, data, radius, radius.min(), radius.max(), bins, ndrange=len(data))
    return total / count


@form("azimint_hist", "kernel, one loop")
def _(data, radius, bins):
    count, total = np.zeros(bins), np.zeros(bins)
    _bins_loop(count, total, data, radius, radius.min(), radius.max(), bins, ndrange=1)
    return total / count


# -- azimint_naive: the same, each bin looking through all data ----------------------------------


@pk.jit
def _rings(data, radius, bins: pk.static):
    out = np.zeros(bins)
    high = radius.max()
    for i in pk.range(bins):
        inside = (high * i / bins <= radius) & (radius < high * (i + 1) / bins)
        out[i] = np.where(inside, data, 0.0).sum() / inside.sum()
    return out


@pk.jit
def _rings_unrolled(data, radius, bins: pk.static):
    out = np.zeros(bins)
    high = radius.max()
    for i in range(bins):
        inside = (high * i / bins <= radius) & (radius < high * (i + 1) / bins)
        out[i] = np.where(inside, data, 0.0).sum() / inside.sum()
    return out


@pk.jit
def _rings_at_once(data, radius, bins: pk.static):
    edges = radius.max() * np.arange(bins + 1) / bins
    inside = (edges[:-1, None] <= radius) & (radius < edges[1:, None])
    return np.where(inside, data, 0.0).sum(axis=1) / inside.sum(axis=1)


@pk.kernel
def _ring(out, data, radius, high, bins):
    i = pk.index()
    low, up = high * i / bins, high * (i + 1) / bins
    total, count = 0.0, 0
    for j in range(len(data)):
        if low <= radius[j] and radius[j] < up:
            total += data[j]
            count += 1
    out[i] = total / count


form("azimint_naive", "program, pk.range")(_rings)
form("azimint_naive", "program, range")(_rings_unrolled)
form("azimint_naive", "program, all rings at once")(_rings_at_once)


@form("azimint_naive", "kernel, a ring a work-item")
def _(data, radius, bins):
    out = np.empty(bins)
    _ring(out, data, radius, radius.max(), bins, ndrange=bins)
    return out
