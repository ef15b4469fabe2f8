"""One step of a wave on a string with fixed ends, its energy, and a stretch of time as an array program."""

from __future__ import annotations

import pykern as pk


@pk.kernel
def step(later, now, before, c):
    """Leapfrog: `later` from `now` and `before` (f32 or f64, all of one length); `c` is the Courant number."""
    i = pk.index()
    if 0 < i < now.shape[0] - 1:
        later[i] = 2 * now[i] - before[i] + c * c * (now[i - 1] - 2 * now[i] + now[i + 1])
    else:
        later[i] = 0


@pk.kernel
def count_crests(count, u):
    """Add to ``count[0]`` (i64) how many entries of `u` are above both of their neighbours."""
    i = pk.index()
    if 0 < i < u.shape[0] - 1 and u[i] > u[i - 1] and u[i] > u[i + 1]:
        pk.atomic_add(count, 0, 1)


@pk.jit
def after(u, c, steps: pk.static):
    """The string `steps` later, from rest at `u`."""
    before, now = u, u
    for _ in pk.range(steps):
        later = pk.zeros_like(now)
        step(later, now, before, c, ndrange=now.shape)
        before, now = now, later
    return now
