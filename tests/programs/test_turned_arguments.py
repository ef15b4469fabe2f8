"""Arrays whose axes lie in another order than C's: programs take them as they are."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import pykern as pk
from pykern.program.kinds import order_of
from pykern.tuning.programs import ProgramChoices
from pykern.tuning.search import Search

RNG = np.random.default_rng(11)


@pk.jit
def product(a, b):
    return a @ b


@pk.jit
def mixed(x, y):
    return (x + y).sum(axis=0), x * 2


@pk.jit
def shifted(x, y):
    x[1:] = x[1:] + y[:-1]
    return x.sum()


@pk.jit
def itself(x):
    return x, x.T


@pk.jit
def doubled(x):
    return x * 2


@pk.jit
def of_parts(p):
    return p["w"] @ p["v"][0].T


@pk.kernel
def add_one(x):
    i, j = pk.index()
    x[i, j] = x[i, j] + 1


@pk.jit
def launched(x):
    add_one(x, ndrange=x.shape)
    return x[0]


def stored(shape: tuple[int, ...], order: tuple[int, ...], dtype: str = "float64") -> np.ndarray:
    """A random array whose axes lie in `order`, the fastest last."""
    dense = (RNG.random([shape[axis] for axis in order]) * 50).astype(dtype)
    return dense.transpose(np.argsort(order))


def untouched(array: np.ndarray) -> np.ndarray:
    return array.copy(order="K")


@pytest.mark.parametrize("shape", [(5, 7, 9), (64, 64, 64), (33, 1, 4), (1, 5, 1), (0, 3, 2), (130, 101, 67)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_products(shape, dtype):
    m, k, n = shape
    a, b = stored((m, k), (1, 0), dtype), stored((k, n), (1, 0), dtype)
    expected, eps = a.astype(np.float64) @ b.astype(np.float64), 1e-6 if dtype == "float32" else 1e-13
    out = np.zeros((m, n), dtype)
    for _ in range(3):  # through Python, then through the compiled entry
        for x, y in itertools.product((a, a.copy("C")), (b, b.copy("C"))):
            np.testing.assert_allclose(product(x, y), expected, rtol=k * eps)
        assert product(a, b, out=out) is out
        np.testing.assert_allclose(out, expected, rtol=k * eps)


@pytest.mark.parametrize("shape", [(4, 5, 3), (33, 20, 47)])
@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_every_order(order, shape):
    x, y = stored(shape, order), stored(shape, (0, 1, 2))
    for _ in range(3):
        total, twice = mixed(x, y)
        np.testing.assert_allclose(total, (x + y).sum(axis=0), rtol=1e-14)
        np.testing.assert_array_equal(twice, x * 2)


@pytest.mark.parametrize("shape", [(4, 6), (6, 6), (5, 1), (37, 29), (64, 64)])
def test_written_in_place(shape):
    """The caller's array holds what NumPy's would, whatever its order; what lies around it stays."""
    for order in ((0, 1), (1, 0)):
        room = stored((shape[0] + 4, shape[1] + 2), order)
        before = room.copy()
        x, y = room[2:-2, 1:-1], RNG.random(shape)
        for _ in range(3):
            x[...] = before[2:-2, 1:-1]
            expected = before.copy()
            inner = expected[2:-2, 1:-1]
            inner[1:] = inner[1:] + y[:-1]
            whole = untouched(x)
            np.testing.assert_allclose(shifted(whole, y), inner.sum(), rtol=1e-13)
            np.testing.assert_array_equal(whole, inner)
            np.testing.assert_allclose(shifted(x, y), inner.sum(), rtol=1e-13)  # strided: a part of the room
            np.testing.assert_array_equal(room, expected)


@pytest.mark.parametrize("shape", [(4, 6), (6, 6)])
def test_results_are_fresh(shape):
    x = stored(shape, (1, 0))
    before = x.copy()
    for _ in range(3):
        same, turned = itself(x)
        np.testing.assert_array_equal(same, before)
        np.testing.assert_array_equal(turned, before.T)
        same[...], turned[...] = -1, -2
        np.testing.assert_array_equal(x, before)


def test_kernels_launched_on_them():
    x = stored((6, 9), (1, 0))
    before = x.copy()
    np.testing.assert_array_equal(launched(x), before[0] + 1)
    np.testing.assert_array_equal(x, before + 1)


def test_a_donated_square_is_not_written_the_other_way_round():
    """Its memory has the result's size, but not the order of its axes."""
    before = RNG.random((8, 8))
    for _ in range(3):
        np.testing.assert_array_equal(doubled(before.copy().T, donate=0), before.T * 2)


def test_parts_of_structures():
    for _ in range(3):
        p = {"w": stored((6, 4), (1, 0)), "v": [stored((3, 4), (1, 0))]}
        np.testing.assert_allclose(of_parts(p), p["w"] @ p["v"][0].T, rtol=1e-13)


def test_gradients():
    x, y = stored((5, 7), (1, 0)), stored((7, 5), (0, 1))
    found = pk.grad(lambda_free, argnums=(0, 1))(x, y)
    expected = np.ones((5, 5)) @ y.T, x.T @ np.ones((5, 5))
    for mine, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-13)


@pk.jit
def lambda_free(x, y):
    return (x @ y).sum()


def test_captured_in_a_graph():
    a, b = stored((5, 7), (1, 0)), stored((7, 3), (0, 1))
    with pk.graph() as captured:
        c = product(a, b)
    a[...] = RNG.random((5, 7))
    captured.replay().wait()
    np.testing.assert_allclose(c, a @ b, rtol=1e-13)


def test_tuned():
    a, b = stored((48, 40), (1, 0)), stored((40, 56), (1, 0))
    search = Search(ProgramChoices.of(product, (a, b), {}), 0.2)
    assert search.run().seconds > 0
    np.testing.assert_allclose(search.expected[0], a @ b, rtol=1e-12)
    assert pk.tune(product, a, b, seconds=0.1).seconds > 0
    np.testing.assert_allclose(product(a, b), a @ b, rtol=1e-12)


def test_what_is_compiled_reads_them_where_they_are():
    """The stages are those that run: the argument as it lies in memory, turned inside."""
    a = stored((5, 7), (1, 0))
    text = product.lower(a, np.zeros((7, 3))).stages[0].text
    assert "%arg0: tensor<7x5xf64>" in text
    assert "%arg0: tensor<5x7xf64>" in product.lower(a.copy("C"), np.zeros((7, 3))).stages[0].text


def test_other_devices_get_what_they_hold():
    a, b = stored((5, 7), (1, 0)), stored((7, 3), (1, 0))
    with pk.device("python"):
        np.testing.assert_allclose(product(a, b), a @ b, rtol=1e-13)


@pytest.mark.parametrize(
    ("array", "order"),
    [
        (np.zeros((3, 4)), None),
        (np.zeros((3, 4)).T, (1, 0)),
        (np.zeros((3, 4))[:, ::-1], None),
        (np.zeros((3, 8))[:, ::2].T, None),
        (np.zeros((2, 3, 4)).transpose(0, 2, 1), (0, 2, 1)),
        (np.broadcast_to(np.zeros(3), (2, 3)).T, None),
        (np.zeros((1, 5, 3)).transpose(2, 0, 1), (1, 2, 0)),
        (np.zeros((0, 3)).T, None),
        (np.zeros(5)[::2], None),
        (np.zeros(24, np.uint8)[1:].view(np.uint8)[:16].view("f4").reshape(2, 2).T, None),
    ],
)
def test_order(array, order):
    assert order_of(array) == order
