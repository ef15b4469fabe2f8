"""Products whose tiles threads share by rows and by panels: right, and the same bits with any number of threads."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from pykern.passes.codegen.cpu.contraction.sharing import by_panels

THREADS = (1, 2, 3, 5, 8)


@pk.jit
def product(a, b):
    return a @ b


@pk.jit
def layer(a, b, bias):
    return pk.maximum(a @ b + bias, 0.0)


@pytest.fixture(autouse=True)
def threads():
    before = pk.get_num_threads()
    yield
    pk.set_num_threads(before)


def with_threads(function, *arguments):
    found = []
    for count in THREADS:
        pk.set_num_threads(count)
        found.append(function(*arguments))
    assert all((each == found[0]).all() for each in found)
    return found[0]


# one block of rows, its tiles uneven for two threads; even; several blocks
@pytest.mark.parametrize(
    ("m", "n", "k"),
    [(64, 1000, 64), (61, 2003, 67), (67, 64, 1500), (17, 4099, 130), (257, 803, 130), (263, 251, 129)],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_any_number_of_threads_gives_the_same_product(m, n, k, dtype):
    rng = np.random.default_rng(m + n)
    a, b = rng.standard_normal((m, k)).astype(dtype), rng.standard_normal((k, n)).astype(dtype)
    found = with_threads(product, a, b)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    bound = np.abs(a).astype(np.float64) @ np.abs(b).astype(np.float64) * k * np.finfo(dtype).eps
    assert (np.abs(found - exact) <= bound).all()


def test_what_reads_the_product_in_its_tiles():
    rng = np.random.default_rng(0)
    a, b, bias = (rng.standard_normal(shape) for shape in ((61, 67), (67, 2003), (2003,)))
    found = with_threads(layer, a, b, bias)
    np.testing.assert_allclose(found, np.maximum(a @ b + bias, 0.0), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("turned", [False, True])
def test_factors_that_are_views_of_larger_arrays(turned):
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal((130, 140))[3:64, 5:72], rng.standard_normal((70, 2100))[2:69, 7:2010]
    if turned:
        a, b = np.asfortranarray(a), np.asfortranarray(b)
    np.testing.assert_allclose(with_threads(product, a, b), a @ b, rtol=1e-12, atol=1e-12)


def test_one_array_as_both_factors():
    a = np.random.default_rng(2).standard_normal((251, 251))
    np.testing.assert_allclose(with_threads(product, a, a), a @ a, rtol=1e-12, atol=1e-11)


@pytest.mark.parametrize(("m", "n", "k"), [(0, 500, 64), (64, 0, 64), (64, 500, 0)])
def test_nothing_to_share(m, n, k):
    found = with_threads(product, np.ones((m, k)), np.ones((k, n)))
    assert found.shape == (m, n)
    assert not found.any()


@pytest.mark.parametrize(
    ("rows", "shared"), [(1, True), (2, False), (3, True), (11, True), (12, False), (25, False), (43, False)]
)
def test_panels_are_shared_where_tiles_of_rows_are_uneven(rows, shared):
    assert by_panels(rows, 26) == shared
    assert not by_panels(rows, rows - 1)
