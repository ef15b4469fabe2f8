"""Reads at an index that is one of several: the bits of the device `python`, for any signs; which reads are chosen."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from tests.passes.bitwise import assert_as_reference

SHAPES = ((1, 3), (3, 4), (5, 33), (2, 100), (0, 9), (4, 2))


def is_chosen(kernel, *arguments, ndrange) -> bool:
    """Whether the pass made something of it."""
    stages = {s.name: s.text for s in kernel.lower(*arguments, ndrange=ndrange).stages}
    return stages["kern-choose-loads"].count("memref.load") > stages["kern-speculate-loads"].count(
        "memref.load"
    )


@pk.kernel
def upwind(o, t, u):
    i, j = pk.index()
    if j == 0 or j == t.shape[1] - 1:
        return
    k = j if u[i, j] > 0 else j + 1
    o[i, j] = t[i, k] - t[i, k - 1]


@pk.kernel
def rows(o, t, u):
    i, j = pk.index()
    k = i if u[i, j] > 0 else i + 1
    o[i, j] = t[k, j] * u[i, j]


@pk.kernel
def of_three(o, t, u):
    i, j = pk.index()
    k = j + 2
    if u[i, j] > 0.5:
        k = j
    elif u[i, j] > -0.5:
        k = j + 1
    o[i, j] = t[i, k]


def arrays(shape: tuple[int, int], beyond: tuple[int, int]) -> list[np.ndarray]:
    drawn = np.random.default_rng(shape[1])
    t = drawn.standard_normal((shape[0] + beyond[0], shape[1] + beyond[1])).astype(np.float32)
    u = drawn.standard_normal(shape).astype(np.float32)
    if u.size > 3:
        u.flat[1], u.flat[2], t.flat[3] = np.nan, -0.0, np.inf
    return [t, u]


@pytest.mark.parametrize(("kernel", "beyond"), [(upwind, (0, 0)), (rows, (1, 0)), (of_three, (0, 2))])
@pytest.mark.parametrize("shape", SHAPES)
def test_bits(kernel, beyond, shape):
    assert_as_reference(kernel, [np.ones(shape, np.float32)], arrays(shape, beyond), shape)


@pytest.mark.parametrize(("kernel", "beyond"), [(upwind, (0, 0)), (rows, (1, 0)), (of_three, (0, 2))])
def test_all_places_are_read(kernel, beyond):
    shape = 5, 33
    assert is_chosen(kernel, np.ones(shape, np.float32), *arrays(shape, beyond), ndrange=shape)


@pytest.mark.parametrize("kernel", [rows, of_three])
def test_places_beyond_the_array_are_not_read(kernel):
    """Signs keep all reads inside of an array that is no longer than the launch: the loop runs as it was."""
    shape = 6, 40
    t, u = arrays(shape, (0, 0))
    u = np.abs(np.nan_to_num(u)) + np.float32(1)
    assert_as_reference(kernel, [np.ones(shape, np.float32)], [t, u], shape)


@pk.kernel
def in_place(o, u):
    i, j = pk.index()
    k = j
    if u[i, j] > 0:
        k = j + 0
    o[i, j] = o[i, k] + u[i, j]


@pk.kernel
def looked_up(o, t, u):
    i, j = pk.index()
    k = j if u[i, j] > 0 else int(abs(u[i, j])) % t.shape[1]
    o[i, j] = t[i, k]


def test_what_stays():
    shape = 5, 33
    t, u = arrays(shape, (0, 0))
    u = np.nan_to_num(u)
    assert not is_chosen(looked_up, np.ones(shape, np.float32), t, u, ndrange=shape)
    assert_as_reference(looked_up, [np.ones(shape, np.float32)], [t, u], shape)
    assert_as_reference(in_place, [np.ones(shape, np.float32)], [u], shape)
