"""The same loops under Numba as its users write them, `prange` outside where there are several threads.

Without fastmath where pykern's kernel has none. Small arrays of an iteration's own are scalars here, or one for all
iterations of a thread: Numba would allocate them each time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numba
import numpy as np
from kernels_setting import SETTINGS, results
from numba import prange

from pykern.benchmarking.workload import Case, Contender

f32, i32, u32 = np.float32, np.int32, np.uint32


def prepare(threads: int) -> None:
    numba.set_num_threads(threads)


@numba.njit(inline="always")
def _two(a, b):
    return (a, b) if a < b else (b, a)


def _median(out, image):
    for i in prange(out.shape[0]):
        for j in range(out.shape[1]):
            a, b, c = image[i, j], image[i, j + 1], image[i, j + 2]
            d, e, f = image[i + 1, j], image[i + 1, j + 1], image[i + 1, j + 2]
            g, h, k = image[i + 2, j], image[i + 2, j + 1], image[i + 2, j + 2]
            a, b = _two(a, b)
            b, c = _two(b, c)
            c, d = _two(c, d)
            d, e = _two(d, e)
            e, f = _two(e, f)
            f, g = _two(f, g)
            g, h = _two(g, h)
            h, k = _two(h, k)
            a, b = _two(a, b)
            b, c = _two(b, c)
            c, d = _two(c, d)
            d, e = _two(d, e)
            e, f = _two(e, f)
            f, g = _two(f, g)
            g, h = _two(g, h)
            a, b = _two(a, b)
            b, c = _two(b, c)
            c, d = _two(c, d)
            d, e = _two(d, e)
            e, f = _two(e, f)
            f, g = _two(f, g)
            a, b = _two(a, b)
            b, c = _two(b, c)
            c, d = _two(c, d)
            d, e = _two(d, e)
            e, f = _two(e, f)
            a, b = _two(a, b)
            b, c = _two(b, c)
            c, d = _two(c, d)
            d, e = _two(d, e)
            out[i, j] = e


def _bilateral(out, image, near, alike):
    near, alike = f32(near), f32(alike)
    for i in prange(out.shape[0]):
        for j in range(out.shape[1]):
            middle = image[i + 2, j + 2]
            total = weights = f32(0)
            for a in range(5):
                for b in range(5):
                    value = image[i + a, j + b]
                    d = value - middle
                    w = math.exp(-alike * d * d - near * f32((a - 2) * (a - 2) + (b - 2) * (b - 2)))
                    total += w * value
                    weights += w
            out[i, j] = total / weights


def _gray(out, image):
    for i in prange(out.shape[0]):
        for j in range(out.shape[1]):
            r, g, b = i32(image[i, j, 0]), i32(image[i, j, 1]), i32(image[i, j, 2])
            out[i, j] = (i32(77) * r + i32(150) * g + i32(29) * b) >> 8


def _life(new, old):
    for i in prange(new.shape[0]):
        for j in range(new.shape[1]):
            n = 0
            for a in range(3):
                for b in range(3):
                    n += old[i + a, j + b]
            alive = old[i + 1, j + 1]
            n -= alive
            new[i, j] = 1 if n == 3 or (n == 2 and alive == 1) else 0


def _histogram(bins, image):
    """Numba has no atomics: counts of each part of the rows, summed at the end."""
    parts = numba.get_num_threads()
    counts = np.zeros((parts, bins.shape[0]), bins.dtype)
    rows = image.shape[0]
    for t in prange(parts):
        for i in range(rows * t // parts, rows * (t + 1) // parts):
            for j in range(image.shape[1]):
                counts[t, image[i, j]] += 1
    for t in range(parts):
        for k in range(bins.shape[0]):
            bins[k] += counts[t, k]


def _collatz(steps):
    for i in prange(steps.shape[0]):
        n, count = i + 1, 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            count += 1
        steps[i] = count


def _mandelbrot(counts, most):
    for i in prange(counts.shape[0]):
        for j in range(counts.shape[1]):
            cx = f32(-2.0) + f32(3.0 / counts.shape[1]) * f32(j)
            cy = f32(-1.25) + f32(2.5 / counts.shape[0]) * f32(i)
            x = y = f32(0)
            n = 0
            while x * x + y * y < f32(4) and n < most:
                x, y = x * x - y * y + cx, f32(2) * x * y + cy
                n += 1
            counts[i, j] = n


def _search(place, sorted_values, wanted):
    for i in prange(place.shape[0]):
        value = wanted[i]
        low, high = 0, len(sorted_values)
        while low < high:
            middle = (low + high) // 2
            if sorted_values[middle] < value:
                low = middle + 1
            else:
                high = middle
        place[i] = low


def _matches(found, text, pattern):
    for i in prange(found.shape[0]):
        same = True
        for k in range(len(pattern)):
            if text[i + k] != pattern[k]:
                same = False
                break
        found[i] = 1 if same else 0


@numba.njit(inline="always")
def _next(state):
    state = state ^ u32(state << u32(13))
    state = state ^ u32(state >> u32(17))
    return state ^ u32(state << u32(5))


def _darts(inside, samples):
    for i in prange(inside.shape[0]):
        state = u32(u32(i) * u32(747796405) + u32(2891336453))
        count = 0
        for _ in range(samples):
            state = _next(state)
            x = f32(u32(state >> u32(8))) * f32(2.0**-24)
            state = _next(state)
            y = f32(u32(state >> u32(8))) * f32(2.0**-24)
            if x * x + y * y < f32(1):
                count += 1
        inside[i] = count


def _walk(place, steps):
    for i in prange(place.shape[0]):
        state = u32(u32(i) * u32(747796405) + u32(2891336453))
        x = y = 0
        for _ in range(steps):
            state = _next(state)
            way = u32(state >> u32(30))
            if way == 0:
                x += 1
            elif way == 1:
                x -= 1
            elif way == 2:
                y += 1
            else:
                y -= 1
        place[i, 0] = x
        place[i, 1] = y


def _move(p, v, dt):
    dt = f32(dt)
    for i in prange(p.shape[0]):
        x, y = p[i, 0] + dt * v[i, 0], p[i, 1] + dt * v[i, 1]
        if x < f32(0) or x > f32(1):
            v[i, 0] = -v[i, 0]
        if y < f32(0) or y > f32(1):
            v[i, 1] = -v[i, 1]
        p[i, 0] = min(max(x, f32(0)), f32(1))
        p[i, 1] = min(max(y, f32(0)), f32(1))


def _bodies(a, p, m):
    for i in prange(a.shape[0]):
        ax = ay = az = f32(0)
        for j in range(p.shape[0]):
            dx, dy, dz = p[j, 0] - p[i, 0], p[j, 1] - p[i, 1], p[j, 2] - p[i, 2]
            r = f32(1) / math.sqrt(dx * dx + dy * dy + dz * dz + f32(1e-3))
            w = m[j] * r * r * r
            ax += w * dx
            ay += w * dy
            az += w * dz
        a[i, 0], a[i, 1], a[i, 2] = ax, ay, az


def _heat3d(new, old, c):
    c = f32(c)
    for i in prange(1, old.shape[0] - 1):
        for j in range(1, old.shape[1] - 1):
            for k in range(1, old.shape[2] - 1):
                new[i, j, k] = old[i, j, k] + c * (
                    old[i + 1, j, k] + old[i - 1, j, k] + old[i, j + 1, k] + old[i, j - 1, k]
                    + old[i, j, k + 1] + old[i, j, k - 1] - f32(6) * old[i, j, k]
                )  # fmt: skip


def _box27(new, old):
    for i in prange(new.shape[0]):
        for j in range(new.shape[1]):
            for k in range(new.shape[2]):
                total = f32(0)
                for a in range(3):
                    for b in range(3):
                        for c in range(3):
                            total += old[i + a, j + b, k + c]
                new[i, j, k] = total / f32(27)


def _gather(y, x, index, w):
    for i in prange(y.shape[0]):
        y[i] = w[i] * x[index[i]] + y[i] * f32(index[i] & 7)


def _running(out, x):
    for i in prange(x.shape[0]):
        total = f32(0)
        for k in range(x.shape[1]):
            total += x[i, k]
            out[i, k] = total


def _butterflies(re, im, wr, wi, half):
    for block in prange(re.shape[0] // (2 * half)):
        for k in range(half):
            a = block * 2 * half + k
            b = a + half
            xr, xi = re[b] * wr[k] - im[b] * wi[k], re[b] * wi[k] + im[b] * wr[k]
            re[b], im[b] = re[a] - xr, im[a] - xi
            re[a], im[a] = re[a] + xr, im[a] + xi


def _black_scholes(call, put, price, strike, years, rate, volatility):
    rate, volatility, half, root_half = f32(rate), f32(volatility), f32(0.5), f32(0.7071067811865476)
    for i in prange(call.shape[0]):
        root = math.sqrt(years[i])
        d1 = (math.log(price[i] / strike[i]) + (rate + half * volatility * volatility) * years[i]) / (
            volatility * root
        )
        d2 = d1 - volatility * root
        n1 = half + half * math.erf(d1 * root_half)
        n2 = half + half * math.erf(d2 * root_half)
        discounted = strike[i] * math.exp(-rate * years[i])
        call[i] = price[i] * n1 - discounted * n2
        put[i] = discounted * (f32(1) - n2) - price[i] * (f32(1) - n1)


def _assign(cluster, x, centres):
    for i in prange(x.shape[0]):
        best, where = f32(1e30), 0
        for k in range(centres.shape[0]):
            d = f32(0)
            for j in range(x.shape[1]):
                d += (x[i, j] - centres[k, j]) * (x[i, j] - centres[k, j])
            if d < best:
                best, where = d, k
        cluster[i] = where


def _spmv(y, starts, columns, values, x):
    for i in prange(y.shape[0]):
        total = f32(0)
        for k in range(starts[i], starts[i + 1]):
            total += values[k] * x[columns[k]]
        y[i] = total


def _factor(a):
    for n in prange(a.shape[0]):
        for k in range(6):
            for i in range(k + 1, 6):
                f = a[n, i, k] / a[n, k, k]
                a[n, i, k] = f
                for j in range(k + 1, 6):
                    a[n, i, j] -= f * a[n, k, j]


def _solve(x, a, b):
    """In memory of each thread's own, one for its part of the systems."""
    parts = numba.get_num_threads()
    for t in prange(parts):
        m, v = np.empty((6, 6), f32), np.empty(6, f32)
        for n in range(x.shape[0] * t // parts, x.shape[0] * (t + 1) // parts):
            for i in range(6):
                v[i] = b[n, i]
                for j in range(6):
                    m[i, j] = a[n, i, j]
            for k in range(6):
                for i in range(k + 1, 6):
                    f = m[i, k] / m[k, k]
                    for j in range(k + 1, 6):
                        m[i, j] -= f * m[k, j]
                    v[i] -= f * v[k]
            for r in range(6):
                k = 5 - r
                s = v[k]
                for j in range(k + 1, 6):
                    s -= m[k, j] * v[j]
                v[k] = s / m[k, k]
                x[n, k] = v[k]


def _form(function: Callable) -> Callable[[Case], Iterator[Contender]]:
    def contenders(case: Case) -> Iterator[Contender]:
        fastmath = SETTINGS[case.workload.title].fastmath
        yield results(case, "numba", numba.njit(function, parallel=case.threads > 1, fastmath=fastmath))

    return contenders


def __getattr__(name: str) -> Any:
    """The contenders of a workload, made of the function of its name."""
    if f"_{name}" not in globals():
        raise AttributeError(name)
    return _form(globals()[f"_{name}"])
