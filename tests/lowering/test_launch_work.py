"""When a launch is worth threads: its work is counted from lengths, and results do not depend on the threads."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

import pykern as pk
from pykern.data.abi import TABLE_INDEX
from pykern.runtime.awaited_team import before_long_launch
from pykern.runtime.cpu_table import table
from pykern.runtime.team import team


@pk.kernel(fastmath=True)
def sums_of_rows(y, a, b, x):
    i = pk.index()
    left, right = 0.0, 0.0
    for j in range(len(x)):
        left += a[i, j] * x[j]
        right += b[i, j] * x[j]
    y[i] = 1.5 * left + right


@pk.kernel
def prefix_sums(y, x):
    i = pk.index()
    s = 0.0
    for j in range(i + 1):
        s += x[j]
    y[i] = s


@pytest.fixture
def two_threads():
    before = pk.get_num_threads()
    pk.set_num_threads(2)
    yield
    pk.set_num_threads(before)


@pytest.fixture
def teams(two_threads):
    """Sizes of the teams that launches have made."""
    sums_of_rows(np.empty(1), np.ones((1, 1)), np.ones((1, 1)), np.ones(1), ndrange=1)
    before_long_launch()
    if not team.loaded:
        pytest.skip("no team of threads on this system")
    sizes: list[int] = []
    cells, place = table(), TABLE_INDEX["pk_fork"]
    kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, *[ctypes.c_int64] * 3)
    own, address = kind(cells[place]), cells[place]

    def count(function, data, extent, size, parts):
        sizes.append(size)
        own(function, data, extent, size, parts)

    counting = kind(count)
    cells[place] = ctypes.cast(counting, ctypes.c_void_p).value
    yield sizes
    cells[place] = address


@pytest.mark.parametrize(
    ("rows", "columns", "shared"), [(1300, 1300, True), (2, 100_000, True), (1300, 3, False)]
)
def test_long_loops_are_worth_a_team(teams, rows, columns, shared):
    a, x = np.ones((rows, columns)), np.ones(columns)
    sums_of_rows(np.empty(rows), a, a, x, ndrange=rows)
    assert teams == ([2] if shared else [])


@pytest.mark.parametrize(("n", "shared"), [(2000, True), (100, False)])
def test_triangles_are_worth_a_team(teams, n, shared):
    prefix_sums(np.empty(n), np.ones(n), ndrange=n)
    assert teams == ([2] if shared else [])


@pytest.mark.parametrize(("rows", "columns"), [(1, 7), (3, 70001), (1300, 1300), (61, 4099)])
def test_rows_with_one_thread_and_two(two_threads, rows, columns):
    rng = np.random.default_rng(0)
    a, b, x = rng.random((rows, columns)), rng.random((rows, columns)), rng.random(columns)
    results = []
    for threads in (1, 2):
        pk.set_num_threads(threads)
        y = np.full(rows, np.nan)
        sums_of_rows(y, a, b, x, ndrange=rows)
        np.testing.assert_allclose(y, 1.5 * (a @ x) + b @ x, rtol=1e-12)
        results.append(y)
    assert (results[0] == results[1]).all()


def test_loops_up_to_the_own_index(two_threads):
    x = np.random.default_rng(1).random(3001)
    y = np.empty_like(x)
    prefix_sums(y, x, ndrange=len(x))
    np.testing.assert_allclose(y, np.cumsum(x), rtol=1e-12)
