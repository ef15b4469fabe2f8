"""kern-raise-to-linalg: branches on data, triangles, look-ups, recurrences and atomics."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from tests.cases.raised import check
from tests.passes.test_raise_kernels import SIZES, has_no_loop, real, whole

# -- branches ---------------------------------------------------------------------------------------


@pk.kernel
def nested(y, x, z):
    i = pk.index()
    if x[i] > 0:
        if z[i] > x[i]:
            y[i] = z[i] - x[i]
        else:
            y[i] += 1.0
            z[i] = 0.0
    elif x[i] < -1.0:
        y[i] = x[i] * z[i]


@pytest.mark.parametrize("n", SIZES)
def test_nested_branches(n):
    x, y, z = real(n), real(n), real(n)
    expected = np.select([(x > 0) & (z > x), x > 0, x < -1], [z - x, y + 1, x * z], y)
    changed = np.where((x > 0) & (z <= x), 0, z)
    assert has_no_loop(check(nested, (y, x, z), n, (expected, None, changed)))


@pk.kernel
def short_arrays(y, flag, a, b):
    i = pk.index()
    t = 0.0
    if flag[i] > 0:
        t = a[i] * 2.0
    else:
        t = b[i - 4]
    y[i] = t
    if flag[i] > 0:
        a[i] = -1.0


def test_what_a_branch_leaves_out_is_not_read():
    """`a` ends where the flag is 0 for good, `b` begins there: masked loads stay within them."""
    flag = np.array([1, 1, 1, 1, 0, 0, 0], np.int32)
    a, b = real(4), real(3)
    expected = np.concatenate([a * 2, b])
    text = check(short_arrays, (real(7), flag, a, b), 7, (expected, None, np.full(4, -1.0), None))
    assert has_no_loop(text)


@pk.kernel
def divide(y, a, b):
    i = pk.index()
    if b[i] != 0:
        y[i] = a[i] // b[i] + a[i] % b[i]


def test_masked_division_does_not_trap():
    a, b = whole(33), whole(33, low=-2, high=3)
    check(divide, (whole(33), a, b), 33)


@pk.kernel
def triangle(y, x):
    i, j = pk.index()
    y[i, j] = x[i, j] if j <= i else 0.0


@pk.kernel
def triangular_sums(y, x):
    i, j = pk.index()
    if j > i:
        return
    s = 0.0
    for k in range(j, i + 1):
        if x[i, k] > 0 and k != j:
            s += x[i, k] * x[k, j]
    y[i, j] = s


@pytest.mark.parametrize("n", SIZES)
def test_triangles(n):
    x = real(n, n)
    assert has_no_loop(check(triangle, (real(n, n), x), (n, n), (np.tril(x), None)))
    assert has_no_loop(check(triangular_sums, (real(n, n), x), (n, n)))


@pk.kernel
def diagonal(y, x):
    i, j = pk.index()
    if i == j:
        y[i, j] = x[i, j] + 1.0


@pk.kernel
def on_the_diagonal(y):
    i = pk.index()
    y[i, i] = 1.0


def test_diagonal():
    x, y = real(5, 7), real(5, 7)
    expected = y.copy()
    np.fill_diagonal(expected, np.diagonal(x) + 1)
    check(diagonal, (y, x), (5, 7), (expected, None))
    expected = y.copy()
    np.fill_diagonal(expected, 1)
    check(on_the_diagonal, (y,), 5, (expected,))


@pk.kernel
def first_item(s, x):
    i = pk.index()
    if i == 0:
        t = 0.0
        for k in range(len(x)):
            t += x[k]
        s[0] = t


def test_one_item_writes():
    x = real(33)
    check(first_item, (real(1), x), 33, (np.array([x.sum()]), None))


# -- look-ups ---------------------------------------------------------------------------------------


@pk.kernel
def gather(y, x, index):
    i = pk.index()
    if index[i] >= 0:
        y[i] = x[index[i]] + x[(i * 7) % len(x)]


@pytest.mark.parametrize("n", SIZES)
def test_gather(n):
    x, index, y = real(5), whole(n, low=-9, high=5), real(n)
    expected = np.where(index >= 0, x[index % 5] + x[np.arange(n) * 7 % 5], y)
    assert has_no_loop(check(gather, (y, x, index), n, (expected, None, None)))


@pk.kernel
def masked_gather(y, x, index, m):
    i = pk.index()
    t = 1.0
    if index[i] < m:
        t = x[index[i]]
    y[i] = t


def test_gather_from_an_empty_array():
    index = whole(9, low=0, high=4)
    check(masked_gather, (real(9), real(0), index, 0), 9, (np.ones(9), None, None, None))


@pk.kernel
def csr(y, start, column, value, x):
    i = pk.index()
    s = 0.0
    for k in range(start[i], start[i + 1]):
        s += value[k] * x[column[k]]
    y[i] = s


@pytest.mark.parametrize("n", SIZES)
def test_sparse_rows(n):
    dense = real(n, n) * (rng_mask := whole(n, n, low=0, high=2))
    start = np.concatenate([[0], np.cumsum((rng_mask != 0).sum(1))])
    column = np.nonzero(rng_mask)[1].astype(np.int32)
    value, x = dense[rng_mask != 0], real(n)
    check(csr, (real(n), start, column, value, x), n, (dense @ x, None, None, None, None))


@pk.kernel
def searchsorted(out, edges, x):
    i = pk.index()
    count = 0
    for k in range(len(edges)):
        if edges[k] < x[i]:
            count += 1
    out[i] = count


def test_searchsorted():
    edges, x = np.sort(real(9)), real(33)
    expected = np.searchsorted(edges, x).astype(np.int32)
    assert has_no_loop(check(searchsorted, (whole(33), edges, x), 33, (expected, None, None)))


@pk.kernel
def nbody(force, position):
    i = pk.index()
    fx = 0.0
    for j in range(position.shape[1]):
        dx = position[0, j] - position[0, i]
        dy = position[1, j] - position[1, i]
        r2 = dx * dx + dy * dy + 0.01
        fx += 0.0 if i == j else dx / (r2 * pk.sqrt(r2))
    force[i] = fx


def test_nbody():
    assert has_no_loop(check(nbody, (real(33), real(2, 33)), 33))


# -- loops in sequence ------------------------------------------------------------------------------


@pk.kernel
def scan(y, x):
    i = pk.index()
    s = x[i, 0]
    y[i, 0] = s
    for k in range(1, x.shape[1]):
        s = 0.5 * s + x[i, k]
        y[i, k] = y[i, k - 1] + s


@pytest.mark.parametrize("n", SIZES)
def test_scan(n):
    x, y = real(n, n), np.zeros((n, n))
    s = np.zeros(n)
    for k in range(n):
        s = 0.5 * s + x[:, k] if k else x[:, 0]
        y[:, k] = s + (y[:, k - 1] if k else 0)
    text = check(scan, (real(n, n), x), n, (y, None))
    assert text.count("scf.for") == 1


@pk.kernel
def tridiagonal(x, a, b, c, d, w):
    i = pk.index()
    n = d.shape[1]
    w[i, 0] = c[i, 0] / b[i, 0]
    x[i, 0] = d[i, 0] / b[i, 0]
    for k in range(1, n):
        m = 1.0 / (b[i, k] - a[i, k] * w[i, k - 1])
        w[i, k] = c[i, k] * m
        x[i, k] = (d[i, k] - a[i, k] * x[i, k - 1]) * m
    for k in range(n - 2, -1, -1):
        x[i, k] -= w[i, k] * x[i, k + 1]


@pytest.mark.parametrize("n", SIZES)
def test_tridiagonal(n):
    a, b, c, d = real(n, n), real(n, n) + 9, real(n, n), real(n, n)
    a[:, 0] = c[:, -1] = 0
    full = [np.diag(b[i]) + np.diag(a[i, 1:], -1) + np.diag(c[i, :-1], 1) for i in range(n)]
    x = np.stack([np.linalg.solve(m, r) for m, r in zip(full, d, strict=True)])
    assert check(tridiagonal, (real(n, n), a, b, c, d, real(n, n)), n, (x, *[None] * 5)).count("scf.for") == 2


@pk.kernel
def fibonacci(y, x):
    i = pk.index()
    a, b = 0.0, x[i]
    for _ in range(i):
        a, b = b, a + b
    y[i] = a


def test_values_that_change_places():
    x = real(9)
    numbers = [0, 1]
    while len(numbers) < 9:
        numbers.append(numbers[-1] + numbers[-2])
    check(fibonacci, (real(9), x), 9, (np.array(numbers) * x, None))


@pk.kernel
def argmax(at, most, x):
    i = pk.index()
    best, where = x[i, 0], 0
    found = False
    for k in range(1, x.shape[1]):
        if x[i, k] > best:
            best, where = x[i, k], k
            found = True
    at[i] = where if found else 0
    most[i] = best


@pytest.mark.parametrize("n", SIZES)
def test_argmax(n):
    x = real(n, n)
    check(argmax, (whole(n), real(n), x), n, (x.argmax(1).astype(np.int32), x.max(1), None))


@pk.kernel
def solve_triangle(x, m, b):
    c = pk.index()
    for i in range(m.shape[0]):
        s = b[i, c]
        for j in range(i):
            s -= m[i, j] * x[j, c]
        x[i, c] = s / m[i, i]


@pytest.mark.parametrize("n", SIZES)
def test_triangular_solve(n):
    m, b = np.tril(real(n, n)) + 9 * np.eye(n), real(n, 4)
    check(solve_triangle, (real(n, 4), m, b), 4, (np.linalg.solve(m, b), None, None))


@pk.kernel
def old_values(x, y):
    i = pk.index()
    left = x[i, 0]
    for k in range(1, x.shape[1]):
        here = x[i, k]
        x[i, k] = left + y[i, k]
        left = here
    y[i, 0] = left


def test_values_read_before_they_are_overwritten():
    x, y = real(5, 9), real(5, 9)
    moved, last = x.copy(), y.copy()
    moved[:, 1:] = x[:, :-1] + y[:, 1:]
    last[:, 0] = x[:, -1]
    check(old_values, (x, y), 5, (moved, last))


# -- atomics ----------------------------------------------------------------------------------------


@pk.kernel
def histogram(h, index, w):
    i = pk.index()
    if w[i] > 0:
        pk.atomic_add(h, index[i], w[i])


@pk.kernel
def total(s, most, x):
    i, j = pk.index()
    pk.atomic_add(s, 0, x[i, j])
    pk.atomic_max(most, j, x[i, j])


@pytest.mark.parametrize("n", SIZES)
def test_atomics(n):
    index, w = whole(n, low=0, high=5), whole(n)
    expected = np.bincount(index, np.maximum(w, 0), minlength=5).astype(np.int32)
    check(histogram, (np.zeros(5, np.int32), index, w), n, (expected, None, None))
    x = real(n, 5)
    sums = (np.array([x.sum()]), x.max(0), None)
    assert has_no_loop(check(total, (np.zeros(1), np.full(5, -9.0), x), (n, 5), sums))
