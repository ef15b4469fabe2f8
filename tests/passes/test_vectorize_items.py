"""Work-items in lanes: numbers against NumPy, for counts around the width of a vector; also their gradients."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from benchmarks import adbench

COUNTS = (1, 15, 16, 17, 32, 69)
RANDOM = np.random.default_rng(5)


def in_lanes(kernel, *arguments, ndrange) -> bool:
    """Whether the pass put the kernel into vectors."""
    lowered = kernel.lower(*arguments, ndrange=ndrange)
    text = lowered.as_text("kern-vectorize-items")
    return "vector<16xf64>" in text or "vector<32xf32>" in text


@pk.kernel
def forces(out, positions, masses, soft):
    i = pk.index()
    x, total = positions[i], 0.0
    for j in range(positions.shape[0]):
        d, mass = positions[j] - x, masses[j]
        total += mass * d / (d * d + soft) if d > 0.0 else -d * mass
    out[i] = total


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("n", COUNTS)
def test_pairs(n, dtype):
    x, m, out = (RANDOM.standard_normal(n).astype(dtype) for _ in range(3))
    forces(out, x, m, np.float32(0.5) if dtype == "float32" else 0.5, ndrange=n)
    d = x.astype("float64")[None, :] - x.astype("float64")[:, None]
    expected = np.where(d > 0, m * d / (d * d + 0.5), -d * m).sum(1)
    np.testing.assert_allclose(out, expected, rtol=1e-12 if dtype == "float64" else 2e-5, atol=1e-5)


def test_pairs_are_in_lanes():
    x = RANDOM.standard_normal(9)
    assert in_lanes(forces, x.copy(), x, x, 0.5, ndrange=9)


@pk.kernel
def scattered(out, counts, table, places, steps):
    """Private memory at a place of each work-item's own, a gather, and atomics met by all or by some."""
    i = pk.index()
    p = pk.private(5, pk.f64)
    for k in range(5):
        p[k] = table[k] * out[i]
    at = places[i]
    for k in range(steps):
        p[at] = p[at] + table[(i * 3 + k) % 5]
        p[k % 5] = 0.5 * p[k % 5]
        pk.atomic_add(counts, k, 1.5)
        pk.atomic_add(counts, at, 0.25)
    out[i] = p[0] + p[1] * p[2] + p[3] - p[4]


@pytest.mark.parametrize("n", COUNTS)
def test_private_memory_and_atomics(n):
    table, start = RANDOM.standard_normal(5), RANDOM.standard_normal(n)
    places = RANDOM.integers(0, 5, n)
    out, counts = start.copy(), np.zeros(7)
    scattered(out, counts, table, places, 7, ndrange=n)
    expected_counts = np.full(7, 1.5 * n)
    for i in range(n):
        p = table * start[i]
        for k in range(7):
            p[places[i]] += table[(i * 3 + k) % 5]
            p[k % 5] *= 0.5
            expected_counts[places[i]] += 0.25
        np.testing.assert_allclose(out[i], p[0] + p[1] * p[2] + p[3] - p[4], rtol=1e-12)
    np.testing.assert_allclose(counts, expected_counts, rtol=1e-12)


@pk.kernel
def filtered(out, image, weights):
    i, j = pk.index()
    total = 0.0
    for a in range(weights.shape[0]):
        for b in range(weights.shape[1]):
            total += weights[a, b] * image[i + a, j + b]
    out[i, j] = total


@pytest.mark.parametrize("shape", [(3, 15), (2, 16), (5, 37), (4, 0)])
def test_two_dimensions(shape):
    weights = RANDOM.standard_normal((2, 3))
    image = RANDOM.standard_normal((shape[0] + 1, shape[1] + 2))
    out = np.full(shape, np.nan)
    filtered(out, image, weights, ndrange=shape)
    expected = sum(
        weights[a, b] * image[a : a + shape[0], b : b + shape[1]] for a in range(2) for b in range(3)
    )
    np.testing.assert_allclose(out, expected, rtol=1e-12, atol=1e-14)
    assert in_lanes(filtered, out, image, weights, ndrange=shape)


@pk.kernel
def nearest(out, x, centres):
    """The index of the nearest centre and special values on the way: what is carried differs by lane."""
    n = pk.index()
    best, where = 1e300, 0
    for k in range(centres.shape[0]):
        distance = 0.0
        for j in range(x.shape[1]):
            distance += (x[n, j] - centres[k, j]) * (x[n, j] - centres[k, j])
        where = k if distance < best else where
        best = min(best, distance)
    out[n] = where


@pytest.mark.parametrize("n", COUNTS)
def test_rows_and_indices(n):
    x, centres = RANDOM.standard_normal((n, 3)), RANDOM.standard_normal((11, 3))
    x[0, 0] = np.inf
    out = np.full(n, -1)
    nearest(out, x, centres, ndrange=n)
    with np.errstate(invalid="ignore"):
        expected = ((x[:, None] - centres) ** 2).sum(-1).argmin(1)
    expected[0] = 0
    np.testing.assert_array_equal(out, expected)
    assert in_lanes(nearest, out, x, centres, ndrange=n)


@pk.kernel
def mixed(out, x, w, rounds):
    """A table of two loops, one the value does not depend on, and a loop that does not run."""
    i = pk.index()
    total = 0.0
    for r in range(rounds):
        for k in range(w.shape[0]):
            total += pk.exp(w[k]) * x[i] + pk.sin(w[k] * r)
    out[i] = total


@pytest.mark.parametrize("rounds", [0, 1, 3])
@pytest.mark.parametrize("n", COUNTS)
def test_shared_values(n, rounds):
    x, out = RANDOM.standard_normal((2, n))
    for k in (0, 1, 6):
        w = RANDOM.standard_normal(k)
        mixed(out, x, w, rounds, ndrange=n)
        expected = rounds * np.exp(w).sum() * x
        expected += np.sin(w[:, None] * np.arange(rounds)).sum()
        np.testing.assert_allclose(out, expected, rtol=1e-12, atol=1e-12)


def test_no_room_for_a_table():
    """The table of the sine would have more than 2^22 elements."""
    x, out, w = np.ones(17), np.zeros(17), np.zeros((1 << 22) // 8 + 1)
    mixed(out, x, w, 9, ndrange=17)
    np.testing.assert_allclose(out, 9.0 * w.size)


@pytest.mark.parametrize("n", [16, 37])
def test_gradients(n):
    data = adbench.gmm_data(n, 4, 3)
    pk.check_grads(adbench.gmm, (np.zeros(n), *data), ndrange=n, entries=6, rtol=2e-7)
    pk.check_grads(
        forces, (np.zeros(n), RANDOM.standard_normal(n), RANDOM.standard_normal(n), 0.5), ndrange=n, rtol=1e-5
    )


def test_a_gradient_is_in_lanes():
    *active, x = adbench.gmm_data(9, 3, 2)
    shadows = [pk.Dup(a, np.zeros_like(a)) for a in active]
    out = pk.Dup(np.zeros(9), np.ones(9))
    assert in_lanes(pk.autodiff(adbench.gmm), out, *shadows, x, ndrange=9)


def test_a_gradient_in_threads_is_that_in_one():
    n = 4001
    *active, x = adbench.gmm_data(n, 3, 2)
    found = []
    before = pk.get_num_threads()
    for threads in (1, 2):
        pk.set_num_threads(threads)
        shadows = [np.zeros_like(a) for a in active]
        pk.autodiff(adbench.gmm)(pk.Dup(np.zeros(n), np.ones(n)), *map(pk.Dup, active, shadows), x, ndrange=n)
        found.append(shadows)
    pk.set_num_threads(before)
    for one, two in zip(*found, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-10, atol=1e-10)


@pk.kernel
def steps_to_four_sides(place, steps):
    """Branches within branches, of integers only."""
    i = pk.index()
    state = pk.u32(i) * pk.u32(747796405) + pk.u32(2891336453)
    x = y = 0
    for _ in range(steps):
        state = state ^ (state << 13)
        state = state ^ (state >> 17)
        state = state ^ (state << 5)
        way = state >> 30
        if way == 0:
            x += 1
        elif way == 1:
            x -= 2
        elif way == 2:
            y += 1
            if y == 3:
                x = -x
        else:
            y = -y - 1
    place[i, 0] = x
    place[i, 1] = y


def walked(n, steps):
    state = np.arange(n, dtype=np.uint32) * np.uint32(747796405) + np.uint32(2891336453)
    x, y = np.zeros(n, np.int64), np.zeros(n, np.int64)
    for _ in range(steps):
        state = state ^ (state << np.uint32(13))
        state = state ^ (state >> np.uint32(17))
        state = state ^ (state << np.uint32(5))
        way = state >> np.uint32(30)
        x = np.where(way == 0, x + 1, np.where(way == 1, x - 2, x))
        y = np.where(way == 2, y + 1, np.where(way == 3, -y - 1, y))
        x = np.where((way == 2) & (y == 3), -x, x)
    return np.stack([x, y], 1)


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32"])
@pytest.mark.parametrize("n", [0, 1, 15, 16, 17, 300])
def test_branches_in_branches_of_integers(n, dtype):
    place = np.full((n, 2), -7, dtype)
    steps_to_four_sides(place, 37, ndrange=n)
    np.testing.assert_array_equal(place, walked(n, 37).astype(dtype))


def test_branches_in_branches_are_in_lanes():
    lowered = steps_to_four_sides.lower(np.zeros((99, 2), np.int32), 5, ndrange=99)
    text = lowered.as_text("kern-vectorize-items")
    assert "vector<16xi32>" in text
    assert "scf.if" not in text.split("scf.for")[2]


@pk.kernel
def first_above(found, x, steps):
    """A branch that writes is no select."""
    i = pk.index()
    count = 0
    for s in range(steps):
        if s % 3 == i % 3:
            count += 1
            if count == 2:
                found[i] = s
    x[i] = count


def test_branches_that_write_are_left_alone():
    found, counts = np.full(50, -1, np.int32), np.zeros(50, np.int32)
    first_above(found, counts, 11, ndrange=50)
    hits = [[s for s in range(11) if s % 3 == i % 3] for i in range(50)]
    np.testing.assert_array_equal(counts, [len(h) for h in hits])
    np.testing.assert_array_equal(found, [h[1] for h in hits])


@pk.kernel
def equal(out, x, y):
    """What LLVM makes vectors of by itself: lanes would be slower."""
    i = pk.index()
    count = 0
    for j in range(x.shape[0]):
        if x[j] == y[i]:
            count += 1
    out[i] = count


@pk.kernel
def product(out, a, b):
    """Neighbours in lanes."""
    i, j = pk.index()
    total = 0
    for k in range(a.shape[1]):
        total += a[i, k] * b[k, j]
    out[i, j] = total


@pk.kernel
def seldom(out, x, steps):
    """A function in a branch of a branch."""
    i = pk.index()
    total = 0.0
    for s in range(steps):
        if x[i] > 0.9:
            if total < 3.0:
                total += pk.exp(x[i] + s)
        else:
            total += 0.5
    out[i] = total


def lanes_of(kernel, *arguments, ndrange) -> bool:
    return "vector<" in kernel.lower(*arguments, ndrange=ndrange).as_text("kern-vectorize-items")


@pytest.mark.parametrize("dtype", ["uint8", "int32", "int64"])
def test_integers_where_lanes_pay(rng, dtype):
    x, y = rng.integers(0, 9, 200).astype(dtype), rng.integers(0, 9, 70).astype(dtype)
    out = np.zeros(70, dtype)
    equal(out, x, y, ndrange=70)
    np.testing.assert_array_equal(out, (x[None] == y[:, None]).sum(1).astype(dtype))
    assert not lanes_of(equal, out, x, y, ndrange=70)
    a, b = rng.integers(0, 5, (13, 40)).astype(dtype), rng.integers(0, 5, (40, 150)).astype(dtype)
    c = np.zeros((13, 150), dtype)
    product(c, a, b, ndrange=c.shape)
    np.testing.assert_array_equal(c, a @ b)
    assert lanes_of(product, c, a, b, ndrange=c.shape)


def test_functions_in_a_branch_of_a_branch(rng):
    x, out = rng.random(333), np.zeros(333)
    expected = np.zeros(333)
    for s in range(9):
        rises = np.where(expected < 3, np.exp(x + s), 0)
        expected += np.where(x > 0.9, rises, 0.5)
    seldom(out, x, 9, ndrange=333)
    np.testing.assert_allclose(out, expected, rtol=1e-13)
    assert not lanes_of(seldom, out, x, 9, ndrange=333)
