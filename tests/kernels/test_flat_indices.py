"""Flat indices taken apart by `//` and `%`: any lengths, parts of rows, nothing written around the result."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk


@pk.kernel
def stencil(o, t):
    k = pk.index()
    w = t.shape[1]
    i, j = k // w, k % w
    if 0 < i < t.shape[0] - 1 and 0 < j < w - 1:
        o[i, j] = t[i - 1, j] + t[i + 1, j] + t[i, j - 1] + t[i, j + 1] + k


@pk.kernel
def remaining(o, t, w):
    k = pk.index()
    i = k // w
    j = k - w * i
    o[i, j] = t[i, j] * 2 + k


@pk.kernel
def volume(o, t):
    k = pk.index()
    _, h, w = t.shape
    o[k // (h * w), (k // w) % h, k % w] = 2 * t[k // (h * w), (k // w) % h, k % w] + k


@pk.kernel
def planes(o, t):
    k = pk.index()
    _, h, w = t.shape
    p, rest = k // (h * w), k % (h * w)
    o[p, rest // w, rest % w] = 2 * t[p, rest // w, rest % w] + k


@pk.kernel
def rows_of_rows(o, t):
    k = pk.index()
    _, h, w = t.shape
    o[k // w // h, k // w % h, k % w] = 2 * t[k // w // h, k // w % h, k % w] + k


@pk.kernel
def repeated(o, t):
    k = pk.index()
    o[k] = t[k % t.shape[0]] + k


def guarded(shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Memory filled with 7, and an array of that shape in its middle."""
    memory = np.full(int(np.prod(shape)) + 64, 7, np.float32)
    return memory, memory[32:-32].reshape(shape)


def around(memory: np.ndarray) -> np.ndarray:
    return np.concatenate([memory[:32], memory[-32:]])


def spaces(count: int) -> list:
    return [count, max(count - 7, 0), count // 2, range(min(5, count), count), range(0, count, 3)]


SHAPES = [(1, 9), (9, 1), (2, 2), (7, 5), (64, 63), (33, 257), (3, 1000), (0, 5), (5, 0), (40, 16), (5, 17)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("strided", [False, True])
def test_matrices(shape, strided, rng):
    t = rng.random((shape[0], 2 * shape[1]), np.float32)[:, ::2] if strided else rng.random(shape, np.float32)
    padded = np.pad(t, 1)
    sums = padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:]
    for space in spaces(t.size):
        places = list(space) if isinstance(space, range) else range(space)
        memory, o = guarded(shape)
        remaining(o, t, shape[1], ndrange=space)
        expected = np.full(shape, 7, np.float32)
        for k in places:
            expected[divmod(k, shape[1])] = t[divmod(k, shape[1])] * 2 + np.float32(k)
        np.testing.assert_array_equal(o, expected)
        assert (around(memory) == 7).all()
        memory, o = guarded(shape)
        stencil(o, t, ndrange=space)
        expected = np.full(shape, 7, np.float32)
        for k in places:
            i, j = divmod(k, shape[1])
            if 0 < i < shape[0] - 1 and 0 < j < shape[1] - 1:
                expected[i, j] = sums[i, j] + np.float32(k)
        np.testing.assert_array_equal(o, expected)
        assert (around(memory) == 7).all()


@pytest.mark.parametrize(
    "shape", [(2, 3, 4), (3, 17, 20), (2, 16, 16), (1, 1, 50), (4, 20, 3), (2, 0, 3)], ids=str
)
@pytest.mark.parametrize("kernel", [volume, planes, rows_of_rows], ids=lambda k: k.__name__)
def test_volumes(kernel, shape, rng):
    t = rng.random(shape, np.float32)
    for count in (t.size, max(t.size - 7, 0), t.size // 2):
        memory, o = guarded(shape)
        kernel(o, t, ndrange=count)
        expected = np.full(shape, 7, np.float32)
        expected.reshape(-1)[:count] = 2 * t.reshape(-1)[:count] + np.arange(count, dtype=np.float32)
        np.testing.assert_array_equal(o, expected)
        assert (around(memory) == 7).all()


@pytest.mark.parametrize("length", [1, 3, 16, 40])
def test_a_remainder_alone(length, rng):
    t = rng.random(length, np.float32)
    memory, o = guarded((333,))
    repeated(o, t, ndrange=333)
    np.testing.assert_array_equal(o, t[np.arange(333) % length] + np.arange(333, dtype=np.float32))
    assert (around(memory) == 7).all()


@pytest.mark.parametrize("width", [0, -20, 20])
def test_a_width_that_is_no_length(width, rng):
    t = rng.random(200, np.float32)

    @pk.kernel
    def apart(o, t, w):
        k = pk.index()
        o[k] = t[k] + 1000 * (k // w) + k % w

    memory, o = guarded((200,))
    apart(o, t, width, ndrange=200)
    k = np.arange(200)
    parts = 1000 * (k // width) + k % width if width else 0 * k
    np.testing.assert_array_equal(o, t + parts.astype(np.float32))
    assert (around(memory) == 7).all()


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_threads_have_parts_of_rows(threads, rng):
    t = rng.random((700, 701), np.float32)
    memory, o = guarded(t.shape)
    before = pk.get_num_threads()
    pk.set_num_threads(threads)
    try:
        remaining(o, t, 701, ndrange=t.size)
    finally:
        pk.set_num_threads(before)
    np.testing.assert_array_equal(o.reshape(-1), t.reshape(-1) * 2 + np.arange(t.size, dtype=np.float32))
    assert (around(memory) == 7).all()


@pk.kernel
def enlarged(o, t):
    i, j = pk.index()
    o[i, j] = t[i // 2, j // 2]


@pk.kernel
def between(o, t):
    """Halfway between numbers, the last one alone at the end."""
    i, j = pk.index()
    b = j // 2
    o[i, j] = (t[i, b] + t[i, min(b + j % 2, t.shape[1] - 1)]) / 2


@pk.kernel
def thirds(o, t):
    i, j = pk.index()
    o[i, j] = t[i, j // 3] * (1 + j % 3)


@pytest.mark.parametrize(("kernel", "times"), [(enlarged, (2, 2)), (between, (1, 2)), (thirds, (1, 3))])
@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (6, 40), (5, 161)])
@pytest.mark.parametrize("less", [0, 1])
def test_a_number_for_several_work_items(rng, kernel, times, shape, less):
    """Pictures enlarged; where `less`, the last number is not wanted as often as the others."""
    t = rng.random(shape, np.float32)
    memory, o = guarded((shape[0] * times[0] - less * (times[0] - 1), shape[1] * times[1] - less))
    kernel(o, t, ndrange=o.shape)
    expected = np.zeros(o.shape, np.float32)
    kernel(expected, t, ndrange=o.shape, device="python")
    np.testing.assert_array_equal(o, expected)
    assert (around(memory) == 7).all()
