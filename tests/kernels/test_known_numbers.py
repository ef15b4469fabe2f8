"""Launches with small lengths, steps and counts have code of their own, and all others are as right as before."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pykern as pk
from pykern.launching.launch_kind import LaunchKind


def known_of(kernel: Any) -> list[dict[int, int]]:
    """The numbers that codes of a kernel know, the general code's among them."""
    return [dict(source.known) for source in kernel.launcher.cache.variants]


def forget(kernel: Any) -> None:
    """Let all launches be new ones."""
    kernel.launcher.forget()


@pk.kernel
def pooled(o, x, size, step):
    i, j = pk.index()
    m = x[i * step, j * step]
    for a in range(size):
        for b in range(size):
            m = max(m, x[i * step + a, j * step + b])
    o[i, j] = m


def pooled_by_numpy(x: np.ndarray, size: int, step: int) -> np.ndarray:
    windows = np.lib.stride_tricks.sliding_window_view(x, (size, size))
    return windows.max((2, 3))[::step, ::step]


def test_scalars_are_known_from_the_second_launch_on(rng):
    x = rng.random((131, 97)).astype(np.float32)
    forget(pooled)
    for size, step in [(2, 2), (2, 2), (3, 1), (3, 1), (2, 2), (20, 3), (3, 2), (2, 2), (3, 1)]:
        expected = pooled_by_numpy(x, size, step)
        o = np.zeros_like(expected)
        pooled(o, x, size, step, ndrange=o.shape)
        np.testing.assert_array_equal(o, expected)
    assert sorted(map(tuple, (known.values() for known in known_of(pooled)))) == [(), (2, 2), (3, 1)]


def test_numbers_that_change_each_time_are_not_waited_for(rng):
    x = rng.random((131, 97)).astype(np.float32)
    forget(pooled)
    for size in range(1, 12):
        expected = pooled_by_numpy(x, size, 1)
        o = np.zeros_like(expected)
        pooled(o, x, np.int64(size), 1, ndrange=o.shape)
        np.testing.assert_array_equal(o, expected)
    assert known_of(pooled) == [{}]


@pk.kernel
def multiplied(c, a, b):
    n, i, j = pk.index()
    s = pk.f32(0)
    for k in range(a.shape[2]):
        s += a[n, i, k] * b[n, k, j]
    c[n, i, j] = s


def test_small_matrices_of_several_lengths(rng):
    forget(multiplied)
    for rows, terms, columns in [
        (4, 4, 4),
        (3, 3, 3),
        (2, 5, 7),
        (1, 1, 1),
        (4, 4, 4),
        (9, 12, 10),
        (3, 4, 2),
    ]:
        a = rng.random((1001, rows, terms)).astype(np.float32)
        b = rng.random((1001, terms, columns)).astype(np.float32)
        c = np.zeros((1001, rows, columns), np.float32)
        for count in (0, 1001):
            multiplied(c, a, b, ndrange=(count, rows, columns))
        np.testing.assert_allclose(c, a @ b, rtol=1e-5)
    assert len(known_of(multiplied)) == 5  # four, and the general one


def test_a_few_elements_have_no_code_of_their_own(rng):
    forget(multiplied)
    a = rng.random((5, 4, 4)).astype(np.float32)
    c = np.zeros_like(a)
    multiplied(c, a, a, ndrange=a.shape)
    np.testing.assert_allclose(c, a @ a, rtol=1e-5)
    assert known_of(multiplied) == [{}]


def test_large_launches_behind_a_small_one(rng):
    """The general code has an entry then, which lets Python look at some launches."""
    forget(multiplied)
    for count in (3, 2001, 2001, 3):
        a = rng.random((count, 3, 3)).astype(np.float32)
        c = np.zeros_like(a)
        multiplied(c, a, a, ndrange=a.shape)
        np.testing.assert_allclose(c, a @ a, rtol=1e-5)
    assert len(known_of(multiplied)) == 2


@pk.kernel
def scaled(o, x):
    i, j = pk.index()
    o[i, j] = 2 * x[i, j] + j


VIEWS = {
    "rows": lambda x: x[:, 5:70],
    "every second": lambda x: x[::3, ::2],
    "backwards": lambda x: x[::-1, ::-1],
    "transposed": lambda x: x.T,
    "one row": lambda x: np.broadcast_to(x[3], (150, 140)),
    "one column": lambda x: np.broadcast_to(x[:, 3:4], (150, 140)),
}


@pytest.mark.parametrize("view", VIEWS)
def test_views_with_known_strides(view, rng):
    whole = rng.random((150, 140))
    x = VIEWS[view](whole)
    o = np.zeros((2 * x.shape[0], 3 * x.shape[1]))
    expected = np.zeros_like(o)
    expected[::2, 1::3] = 2 * x + np.arange(x.shape[1])
    for _ in range(2):
        scaled(o[::2, 1::3], x, ndrange=x.shape)
        np.testing.assert_array_equal(o, expected)
    forget(scaled)


@pk.kernel
def binned(c, x, n):
    i = pk.index()
    q = pk.i32(x[i] * n)
    pk.atomic_add(c, (q // n, q % n), 1)


def test_a_known_divisor_of_numbers_below_zero(rng):
    x = np.floor(rng.random(5000) * 100) / 8
    for n in (4, 4, 7, 7, -3, -3):
        c = np.zeros((80, 16), np.int32)
        q = np.trunc(x * n).astype(int)
        keep = (q // n >= 0) & (q % n >= 0)
        expected = np.zeros_like(c)
        np.add.at(expected, (q[keep] // n, q[keep] % n), 1)
        given = x[keep]
        binned(c, given, n, ndrange=len(given))
        np.testing.assert_array_equal(c, expected)


@pk.kernel
def doubled(y, x):
    i = pk.index()
    y[i] = 2 * x[i]


def test_a_launch_looks_for_small_numbers_only_where_its_code_asks_for_some(rng, monkeypatch):
    asked = []
    monkeypatch.setattr(LaunchKind, "elements", property(lambda kind: asked.append(kind) or 0))
    x = rng.random(5000)
    y = np.zeros_like(x)
    doubled(y, x, ndrange=len(x))
    np.testing.assert_array_equal(y, 2 * x)
    assert not asked
    o = np.zeros((65, 48))
    forget(pooled)
    pooled(o, rng.random((131, 97)), 2, 2, ndrange=o.shape)
    assert len(asked) == 1
