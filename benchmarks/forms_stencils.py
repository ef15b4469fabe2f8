"""Stencils in the forms in which people treat the edges of an array. Each kernel is named `<computation>_<form>`."""

from __future__ import annotations

from forms_setting import Arrays, Computation, random, zeros

import pykern as pk


def _plane(scale: float) -> Arrays:
    n = int(2048 * scale)
    return zeros(n, n), random(n, n)


def _whole(o, t):
    return t.shape


def _flat(o, t):
    return t.size


def _inside(o, t):
    return range(1, t.shape[0] - 1), range(1, t.shape[1] - 1)


def _lengths(o, t):
    return t.shape


# -- the inside alone ------------------------------------------------------------------------------

heat = Computation("heat", _plane)


@heat.form(_whole)
@pk.kernel
def heat_guard(o, t):
    i, j = pk.index()
    if 0 < i < t.shape[0] - 1 and 0 < j < t.shape[1] - 1:
        o[i, j] = t[i, j] + 0.1 * (t[i + 1, j] + t[i - 1, j] + t[i, j + 1] + t[i, j - 1] - 4.0 * t[i, j])


@heat.form(_whole)
@pk.kernel
def heat_nested(o, t):
    i, j = pk.index()
    n, m = t.shape
    if i >= 1 and i <= n - 2:  # noqa: SIM102 - nested on purpose
        if j >= 1:  # noqa: SIM102
            if j <= m - 2:
                o[i, j] = t[i, j] + 0.1 * (
                    t[i + 1, j] + t[i - 1, j] + t[i, j + 1] + t[i, j - 1] - 4.0 * t[i, j]
                )


@heat.form(_inside)
@pk.kernel
def heat_ranges(o, t):
    i, j = pk.index()
    o[i, j] = t[i, j] + 0.1 * (t[i + 1, j] + t[i - 1, j] + t[i, j + 1] + t[i, j - 1] - 4.0 * t[i, j])


@heat.form(lambda o, t: (t.shape[0] - 2, t.shape[1] - 2))
@pk.kernel
def heat_shifted(o, t):
    i, j = pk.index()
    o[i + 1, j + 1] = t[i + 1, j + 1] + 0.1 * (
        t[i + 2, j + 1] + t[i, j + 1] + t[i + 1, j + 2] + t[i + 1, j] - 4.0 * t[i + 1, j + 1]
    )


@heat.form(_whole)
@pk.kernel
def heat_return(o, t):
    i, j = pk.index()
    if i == 0 or j == 0 or i == t.shape[0] - 1 or j == t.shape[1] - 1:
        return
    o[i, j] = t[i, j] + 0.1 * (t[i + 1, j] + t[i - 1, j] + t[i, j + 1] + t[i, j - 1] - 4.0 * t[i, j])


@heat.form(_flat)
@pk.kernel
def heat_flat(o, t):
    k = pk.index()
    w = t.shape[1]
    i = k // w
    j = k % w
    if 0 < i < t.shape[0] - 1 and 0 < j < w - 1:
        o[i, j] = t[i, j] + 0.1 * (t[i + 1, j] + t[i - 1, j] + t[i, j + 1] + t[i, j - 1] - 4.0 * t[i, j])


@heat.form(lambda o, t: t.shape[0])
@pk.kernel
def heat_rows(o, t):
    i = pk.index()
    if 0 < i < t.shape[0] - 1:
        for j in range(1, t.shape[1] - 1):
            o[i, j] = t[i, j] + 0.1 * (t[i + 1, j] + t[i - 1, j] + t[i, j + 1] + t[i, j - 1] - 4.0 * t[i, j])


# -- the nearest element beyond the edge -----------------------------------------------------------

clamped = Computation("clamped", _plane)


@clamped.form(_whole)
@pk.kernel
def clamped_max(o, t):
    i, j = pk.index()
    n, m = t.shape
    o[i, j] = t[min(i + 1, n - 1), j] + t[max(i - 1, 0), j] + t[i, min(j + 1, m - 1)] + t[i, max(j - 1, 0)]


@clamped.form(_whole)
@pk.kernel
def clamped_ternary(o, t):
    i, j = pk.index()
    n, m = t.shape
    a = i - 1 if i > 0 else 0
    b = i + 1 if i < n - 1 else n - 1
    c = j - 1 if j > 0 else 0
    d = j + 1 if j < m - 1 else m - 1
    o[i, j] = t[b, j] + t[a, j] + t[i, d] + t[i, c]


@clamped.form(_whole)
@pk.kernel
def clamped_ifs(o, t):
    i, j = pk.index()
    a, b, c, d = i - 1, i + 1, j - 1, j + 1
    if a < 0:
        a = 0
    if b >= t.shape[0]:
        b = t.shape[0] - 1
    if c < 0:
        c = 0
    if d >= t.shape[1]:
        d = t.shape[1] - 1
    o[i, j] = t[b, j] + t[a, j] + t[i, d] + t[i, c]


@clamped.form(_whole, _lengths)
@pk.kernel
def clamped_scalars(o, t, n, m):
    i, j = pk.index()
    a, b = min(max(i - 1, 0), n - 1), min(max(i + 1, 0), n - 1)
    c, d = min(max(j - 1, 0), m - 1), min(max(j + 1, 0), m - 1)
    o[i, j] = t[b, j] + t[a, j] + t[i, d] + t[i, c]


@clamped.form(_flat)
@pk.kernel
def clamped_flat(o, t):
    k = pk.index()
    n, m = t.shape
    i, j = k // m, k % m
    o[i, j] = t[min(i + 1, n - 1), j] + t[max(i - 1, 0), j] + t[i, min(j + 1, m - 1)] + t[i, max(j - 1, 0)]


# -- around to the other end -----------------------------------------------------------------------

periodic = Computation("periodic", _plane)


@periodic.form(_whole)
@pk.kernel
def periodic_remainder(o, t):
    i, j = pk.index()
    n, m = t.shape
    o[i, j] = t[(i + 1) % n, j] + t[(i - 1) % n, j] + t[i, (j + 1) % m] + t[i, (j - 1) % m]


@periodic.form(_whole, _lengths)
@pk.kernel
def periodic_scalars(o, t, n, m):
    i, j = pk.index()
    o[i, j] = t[(i + 1) % n, j] + t[(i + n - 1) % n, j] + t[i, (j + 1) % m] + t[i, (j + m - 1) % m]


@periodic.form(_whole)
@pk.kernel
def periodic_ternary(o, t):
    i, j = pk.index()
    n, m = t.shape
    a = i - 1 if i > 0 else n - 1
    b = i + 1 if i < n - 1 else 0
    c = j - 1 if j > 0 else m - 1
    d = j + 1 if j < m - 1 else 0
    o[i, j] = t[b, j] + t[a, j] + t[i, d] + t[i, c]


@periodic.form(_whole)
@pk.kernel
def periodic_ifs(o, t):
    i, j = pk.index()
    a, b, c, d = i - 1, i + 1, j - 1, j + 1
    if a == -1:
        a = t.shape[0] - 1
    if b == t.shape[0]:
        b = 0
    if c == -1:
        c = t.shape[1] - 1
    if d == t.shape[1]:
        d = 0
    o[i, j] = t[b, j] + t[a, j] + t[i, d] + t[i, c]


@periodic.form(_flat)
@pk.kernel
def periodic_flat(o, t):
    k = pk.index()
    n, m = t.shape
    i, j = k // m, k % m
    o[i, j] = t[(i + 1) % n, j] + t[(i - 1) % n, j] + t[i, (j + 1) % m] + t[i, (j - 1) % m]


# -- zeros beyond the edge -------------------------------------------------------------------------

zero = Computation("zeros outside", _plane)


@zero.form(_whole)
@pk.kernel
def zero_ifs(o, t):
    i, j = pk.index()
    s = pk.f32(0)
    if i < t.shape[0] - 1:
        s += t[i + 1, j]
    if i > 0:
        s += t[i - 1, j]
    if j < t.shape[1] - 1:
        s += t[i, j + 1]
    if j > 0:
        s += t[i, j - 1]
    o[i, j] = s


@zero.form(_whole)
@pk.kernel
def zero_ternary(o, t):
    i, j = pk.index()
    n, m = t.shape
    below = t[i + 1, j] if i < n - 1 else pk.f32(0)
    above = t[i - 1, j] if i > 0 else pk.f32(0)
    right = t[i, j + 1] if j < m - 1 else pk.f32(0)
    left = t[i, j - 1] if j > 0 else pk.f32(0)
    o[i, j] = below + above + right + left


@zero.form(_whole)
@pk.kernel
def zero_loops(o, t):
    i, j = pk.index()
    s = pk.f32(0)
    for d in range(-1, 2):
        if d != 0 and 0 <= i - d < t.shape[0]:
            s += t[i - d, j]
    for d in range(-1, 2):
        if d != 0 and 0 <= j - d < t.shape[1]:
            s += t[i, j - d]
    o[i, j] = s


@zero.form(_flat)
@pk.kernel
def zero_flat(o, t):
    k = pk.index()
    n, m = t.shape
    i, j = k // m, k % m
    s = pk.f32(0)
    if i < n - 1:
        s += t[i + 1, j]
    if i > 0:
        s += t[i - 1, j]
    if j < m - 1:
        s += t[i, j + 1]
    if j > 0:
        s += t[i, j - 1]
    o[i, j] = s


# -- a box of nine, the edge left alone ------------------------------------------------------------

box = Computation("box", lambda scale: (*_plane(scale), random(3, 3)))


def _box_inside(o, t, w):
    return range(1, t.shape[0] - 1), range(1, t.shape[1] - 1)


@box.form(_box_inside)
@pk.kernel
def box_written(o, t, w):
    i, j = pk.index()
    s = t[i - 1, j - 1] * w[0, 0] + t[i - 1, j] * w[0, 1] + t[i - 1, j + 1] * w[0, 2]
    s += t[i, j - 1] * w[1, 0]
    s += t[i, j] * w[1, 1]
    s += t[i, j + 1] * w[1, 2]
    s += t[i + 1, j - 1] * w[2, 0]
    s += t[i + 1, j] * w[2, 1]
    s += t[i + 1, j + 1] * w[2, 2]
    o[i, j] = s


@box.form(_box_inside)
@pk.kernel
def box_loops(o, t, w):
    i, j = pk.index()
    s = pk.f32(0)
    for a in range(3):
        for b in range(3):
            s += t[i + a - 1, j + b - 1] * w[a, b]
    o[i, j] = s


@box.form(_box_inside)
@pk.kernel
def box_centred(o, t, w):
    i, j = pk.index()
    s = pk.f32(0)
    for a in range(-1, 2):
        for b in range(-1, 2):
            s += t[i + a, j + b] * w[a + 1, b + 1]
    o[i, j] = s


@box.form(_box_inside)
@pk.kernel
def box_shape(o, t, w):
    i, j = pk.index()
    s = pk.f32(0)
    for a in range(w.shape[0]):
        for b in range(w.shape[1]):
            s += t[i + a - 1, j + b - 1] * w[a, b]
    o[i, j] = s


@box.form(lambda o, t, w: t.shape)
@pk.kernel
def box_guard(o, t, w):
    i, j = pk.index()
    if 0 < i < t.shape[0] - 1 and 0 < j < t.shape[1] - 1:
        s = pk.f32(0)
        for a in range(3):
            for b in range(3):
                s += t[i + a - 1, j + b - 1] * w[a, b]
        o[i, j] = s


# -- a box of nine, zeros outside ------------------------------------------------------------------

same = Computation("box, zeros outside", lambda scale: (*_plane(scale), random(3, 3)))


@same.form(lambda o, t, w: t.shape)
@pk.kernel
def same_loops(o, t, w):
    i, j = pk.index()
    s = pk.f32(0)
    for a in range(3):
        for b in range(3):
            y, x = i + a - 1, j + b - 1
            if 0 <= y < t.shape[0] and 0 <= x < t.shape[1]:
                s += t[y, x] * w[a, b]
    o[i, j] = s


@same.form(lambda o, t, w: t.shape)
@pk.kernel
def same_shape(o, t, w):
    i, j = pk.index()
    s = pk.f32(0)
    for a in range(w.shape[0]):
        for b in range(w.shape[1]):
            y, x = i + a - 1, j + b - 1
            if y >= 0 and y < t.shape[0] and x >= 0 and x < t.shape[1]:
                s += t[y, x] * w[a, b]
    o[i, j] = s


@same.form(lambda o, t, w: t.shape)
@pk.kernel
def same_ternary(o, t, w):
    i, j = pk.index()
    n, m = t.shape
    s = pk.f32(0)
    for a in range(-1, 2):
        for b in range(-1, 2):
            inside = i + a >= 0 and i + a < n and j + b >= 0 and j + b < m
            s += (t[i + a, j + b] if inside else pk.f32(0)) * w[a + 1, b + 1]
    o[i, j] = s


@same.form(lambda o, t, w: t.size)
@pk.kernel
def same_flat(o, t, w):
    k = pk.index()
    i, j = k // t.shape[1], k % t.shape[1]
    s = pk.f32(0)
    for a in range(3):
        for b in range(3):
            y, x = i + a - 1, j + b - 1
            if 0 <= y < t.shape[0] and 0 <= x < t.shape[1]:
                s += t[y, x] * w[a, b]
    o[i, j] = s


STENCILS = (heat, clamped, periodic, zero, box, same)
