"""A few whole programs through `pk.jit`: what the frontend makes is what the rest of the way takes."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from tests.frontend_program.test_launches import heat, heat_in_numpy
from tests.frontend_program.test_programs import arrays, close


@pk.jit
def simulate(u, c, n):
    u2 = u.copy()
    for _ in pk.range(n):
        heat(u2, u, c, 0.1, ndrange=u.shape)
        u, u2 = u2, u
    return u


@pytest.mark.parametrize("n", [0, 3, 4])
def test_time_loop(rng, n):
    u, c = arrays(rng, (9, 11), (9, 11))
    expected, other = u.copy(), u.copy()
    for _ in range(n):
        heat_in_numpy(other, expected, c, 0.1)
        expected, other = other, expected
    close(simulate(u, c, n), expected)


def test_library_functions(rng):
    @pk.jit
    def program(x, y):
        z = np.hypot(x, y)
        return z + 1, np.hypot(x, 2.0).sum(), np.arctan2(x, 3.0), {"flag": (x > y).any(), "n": len(x)}

    x, y = arrays(rng, (33,), (33,))
    close(program(x, y), program.__wrapped__(x, y))


def test_in_place_and_branches(rng):
    @pk.jit
    def program(x, n):
        x[1:] += x[:-1]
        y = x.copy() if n > 1 else x * 2
        k = 0
        while y.sum() < 100:
            y += 1
            k += 1
        return y, k

    for n in (0, 2):
        [x] = arrays(rng, (7,))
        mine = x.copy()
        close(program(mine, n), program.__wrapped__(x, n))
        close(mine, x)
