"""Kernels as CUDA C++, OpenCL and Numba's `cuda` have them: flat arrays whose lengths are integers, positions made of
groups, the first dimension along memory, loops in steps of the launch.

Each kernel is named `<computation>_<form>`.
"""

from __future__ import annotations

import math

import numpy as np
from forms_setting import Computation, random, zeros

import pykern as pk

BLOCK = 16


def side(array: np.ndarray) -> int:
    return math.isqrt(array.size)


def squares(*arrays: np.ndarray) -> tuple[int]:
    """The length of a row, behind the arrays."""
    return (side(arrays[0]),)


def square_space(*arrays: np.ndarray) -> tuple[int, int]:
    return (side(arrays[0]), side(arrays[0]))


def blocks(*arrays: np.ndarray) -> tuple[int, int]:
    """Whole groups, which go beyond the matrix."""
    whole = -(-side(arrays[0]) // BLOCK) * BLOCK
    return (whole, whole)


# -- a product of flat matrices -----------------------------------------------------------------------

flatproduct = Computation(
    "flat product",
    lambda scale: tuple(make(int(400 * scale) ** 2) for make in (zeros, random, random)),
)


@flatproduct.form(square_space, squares)
@pk.kernel
def flatproduct_rows(c, a, b, n):
    i, j = pk.index()
    s = pk.f32(0)
    for k in range(n):
        s += a[i * n + k] * b[k * n + j]
    c[i * n + j] = s


@flatproduct.form(blocks, squares)
@pk.kernel
def flatproduct_guard(c, a, b, n):
    x, y = pk.index()
    if x < n and y < n:
        s = pk.f32(0)
        for k in range(n):
            s += a[y * n + k] * b[k * n + x]
        c[y * n + x] = s


@flatproduct.form(blocks, squares, peer=False)
@pk.kernel(workgroup=(BLOCK, BLOCK))
def flatproduct_blocks(c, a, b, n):
    column = pk.group_index(0) * pk.group_size(0) + pk.local_index(0)
    row = pk.group_index(1) * pk.group_size(1) + pk.local_index(1)
    if row >= n or column >= n:
        return
    s = pk.f32(0)
    for k in range(n):
        s += a[row * n + k] * b[k * n + column]
    c[row * n + column] = s


@flatproduct.form(lambda c, a, b: c.size, squares)
@pk.kernel
def flatproduct_index(c, a, b, n):
    q = pk.index()
    i, j = q // n, q % n
    s = pk.f32(0)
    for k in range(n):
        s += a[i * n + k] * b[k * n + j]
    c[q] = s


# -- a flat image --------------------------------------------------------------------------------------

flatimage = Computation(
    "flat image", lambda scale: (zeros(int(700 * scale) ** 2), random(int(700 * scale) ** 2))
)


@flatimage.form(square_space, squares)
@pk.kernel
def flatimage_rows(o, t, n):
    i, j = pk.index()
    if 0 < i < n - 1 and 0 < j < n - 1:
        at = i * n + j
        o[at] = (t[at - n] + t[at + n] + t[at - 1] + t[at + 1]) / 4


@flatimage.form(blocks, squares)
@pk.kernel
def flatimage_guard(o, t, width):
    x, y = pk.index()
    if x < 1 or y < 1 or x >= width - 1 or y >= width - 1:
        return
    at = y * width + x
    o[at] = (t[at - width] + t[at + width] + t[at - 1] + t[at + 1]) / 4


@flatimage.form(blocks, squares, peer=False)
@pk.kernel(workgroup=(BLOCK, BLOCK))
def flatimage_blocks(o, t, width):
    x = pk.group_index(0) * BLOCK + pk.local_index(0)
    y = pk.group_index(1) * BLOCK + pk.local_index(1)
    if x > 0 and y > 0 and x < width - 1 and y < width - 1:
        at = y * width + x
        o[at] = (t[at - width] + t[at + width] + t[at - 1] + t[at + 1]) / 4


# -- steps of the launch -------------------------------------------------------------------------------

steps = Computation(
    "steps of the launch", lambda scale: (zeros(int(600000 * scale)), random(int(600000 * scale)))
)


@steps.form(lambda o, x: o.size)
@pk.kernel
def steps_items(o, x):
    i = pk.index()
    o[i] = 2 * x[i] + 1


@steps.form(lambda o, x: 4096, lambda o, x: (o.size,), peer=False)
@pk.kernel
def steps_range(o, x, n):
    for k in range(pk.index(), n, pk.ndrange()):
        o[k] = 2 * x[k] + 1


@steps.form(lambda o, x: 4096, lambda o, x: (o.size,), peer=False)
@pk.kernel
def steps_while(o, x, n):
    k = pk.index()
    while k < n:
        o[k] = 2 * x[k] + 1
        k += pk.ndrange()


@steps.form(lambda o, x: 4096, lambda o, x: (o.size,), peer=False)
@pk.kernel(workgroup=256)
def steps_groups(o, x, n):
    first = pk.group_index() * pk.group_size() + pk.local_index()
    for k in range(first, n, pk.num_groups() * pk.group_size()):
        o[k] = 2 * x[k] + 1


# -- sums of flat rows ---------------------------------------------------------------------------------

flatsums = Computation(
    "flat row sums", lambda scale: (zeros(int(800 * scale)), random(int(800 * scale) * 500).ravel())
)


@flatsums.form(lambda o, x: o.size, lambda o, x: (x.size // o.size,))
@pk.kernel
def flatsums_rows(o, x, m):
    i = pk.index()
    s = pk.f32(0)
    for k in range(m):
        s += x[i * m + k]
    o[i] = s


@flatsums.form(lambda o, x: -(-o.size // 64) * 64, lambda o, x: (o.size, x.size // o.size))
@pk.kernel
def flatsums_guard(o, x, n, m):
    i = pk.index()
    if i < n:
        s = pk.f32(0)
        for k in range(i * m, (i + 1) * m):
            s += x[k]
        o[i] = s


@flatsums.form(lambda o, x: o.size, lambda o, x: (x.size // o.size,))
@pk.kernel
def flatsums_memory(o, x, m):
    i = pk.index()
    o[i] = 0
    for k in range(m):
        o[i] += x[i * m + k]


def _smoothed(o: np.ndarray, t: np.ndarray) -> np.ndarray:
    u = t.astype(np.float64).reshape(side(t), side(t))
    inside = (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) / 4
    return np.pad(inside, 1).ravel()


def _multiplied(c: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    n = side(c)
    return (a.astype(np.float64).reshape(n, n) @ b.reshape(n, n)).ravel()


LAUNCHES = (flatproduct, flatimage, steps, flatsums)
LAUNCH_REFERENCES = {
    "flat product": _multiplied,
    "flat image": _smoothed,
    "steps of the launch": lambda o, x: 2 * x + 1,
    "flat row sums": lambda o, x: x.astype(np.float64).reshape(o.size, -1).sum(1),
}
