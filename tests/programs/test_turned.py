"""Inputs that lie along another dimension than the result: copies bit by bit, arithmetic as NumPy has it, nothing
written beside the result and nothing read behind the input."""

from __future__ import annotations

import ctypes
import itertools
import mmap

import numpy as np
import pytest

import pykern as pk

DTYPES = ("f4", "f8", "f2", "i1", "u1", "i2", "u2", "i4", "i8", "?")
SIZES = (0, 1, 2, 7, 8, 13, 16, 17, 31, 64, 65, 97, 128, 257)
MARGIN = 64


@pk.jit
def copied(x):
    return x.T.copy()


@pk.jit
def mixed(x, y, row, column):
    return x.T * 2 + y - row * column[:, None]


@pk.jit
def elementary(x, y):
    return pk.exp(x.T) * y


@pk.jit
def widened(x, y):
    return x.T.astype(pk.f64) - y.T


@pk.jit
def chosen(x, y):
    return pk.where(y < x.T, x.T, 0)


@pk.jit(donate_argnums=1)
def added(x, y):
    return y + x.T


def values(rng, shape, dtype):
    """Every bit pattern that is a number, more or less; zeros of both signs."""
    if np.dtype(dtype).kind == "f":
        x = rng.standard_normal(shape).astype(dtype)
        x.flat[::5] = -0.0
        x.flat[3::7] = np.inf
        return x
    if dtype == "?":
        return rng.integers(0, 2, shape).astype(bool)
    kind = np.iinfo(dtype)
    return rng.integers(kind.min, kind.max, shape, endpoint=True, dtype=dtype)


def before_a_guard(x):
    """The same array, with memory right behind it that nobody may read."""
    if not x.size:
        return x
    size = -(-x.nbytes // mmap.PAGESIZE) * mmap.PAGESIZE
    memory = mmap.mmap(-1, size + mmap.PAGESIZE)
    view = np.frombuffer(memory, np.uint8)
    guard = ctypes.c_void_p(view.ctypes.data + size)
    assert ctypes.CDLL(None).mprotect(guard, ctypes.c_size_t(mmap.PAGESIZE), 0) == 0
    made = view[size - x.nbytes : size].view(x.dtype).reshape(x.shape)
    made[...] = x
    return made


def with_margins(shape, dtype):
    """A result with memory around it, and all of that."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    memory = np.full(size + 2 * MARGIN, 0xA5, np.uint8)
    return memory[MARGIN : MARGIN + size].view(dtype).reshape(shape), memory


def check_margins(memory):
    assert (memory[:MARGIN] == 0xA5).all() and (memory[-MARGIN:] == 0xA5).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_copies(rng, dtype):
    for _ in range(3):
        shape = tuple(rng.choice(SIZES, 2))
        x = before_a_guard(values(rng, shape, dtype))
        out, memory = with_margins(shape[::-1], dtype)
        copied(x, out=out)
        assert out.tobytes() == np.ascontiguousarray(x.T).tobytes(), shape
        check_margins(memory)


@pytest.mark.parametrize(
    "shape", [(1024, 1024), (1024, 64), (64, 1024), (1031, 1033), (513, 2048), (3, 5000)]
)
@pytest.mark.parametrize("dtype", ["f4", "f8", "u1"])
def test_large_copies(rng, shape, dtype):
    x = values(rng, shape, dtype)
    assert copied(x).tobytes() == np.ascontiguousarray(x.T).tobytes()


@pytest.mark.parametrize("shape", [(4096, 1030), (2050, 2048)])
def test_copies_past_the_cache(rng, shape):
    x = rng.integers(0, 1 << 60, shape)
    np.testing.assert_array_equal(copied(x), x.T)


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "i2"])
def test_arithmetic(rng, dtype):
    for _ in range(4):
        m, n = rng.choice(SIZES, 2)
        x, y, row, column = (rng.integers(-50, 50, s).astype(dtype) for s in ((m, n), (n, m), m, n))
        out, memory = with_margins((n, m), dtype)
        mixed(before_a_guard(x), before_a_guard(y), before_a_guard(row), before_a_guard(column), out=out)
        np.testing.assert_array_equal(out, x.T * 2 + y - row * column[:, None])
        check_margins(memory)


@pytest.mark.parametrize(("m", "n"), [(1, 9), (33, 47), (100, 1024), (512, 512), (1001, 70)])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_elementary_functions(rng, m, n, dtype):
    x, y = rng.standard_normal((m, n)).astype(dtype), rng.standard_normal((n, m)).astype(dtype)
    np.testing.assert_allclose(elementary(x, y), np.exp(x.T) * y, rtol=4 * np.finfo(dtype).eps)


@pytest.mark.parametrize(("m", "n"), [(8, 8), (61, 300), (257, 64), (512, 1024)])
def test_types_of_several_widths(rng, m, n):
    x, y = rng.integers(-9, 9, (m, n)).astype("i1"), rng.standard_normal((m, n)).astype("f4")
    np.testing.assert_array_equal(widened(x, y), x.T.astype("f8") - y.T)
    x, y = rng.standard_normal((m, n)), rng.standard_normal((n, m))
    np.testing.assert_array_equal(chosen(x, y), np.where(y < x.T, x.T, 0))


@pytest.mark.parametrize(("m", "n"), [(16, 8), (61, 33), (97, 256), (512, 1030)])
def test_in_place(rng, m, n):
    x, y = rng.standard_normal((m, n)), rng.standard_normal((n, m))
    expected = y + x.T
    np.testing.assert_array_equal(added(x, y), expected)


@pytest.mark.parametrize("rank", [3, 4])
def test_permutations(rng, rank):
    for axes in list(itertools.permutations(range(rank)))[1 :: 1 if rank == 3 else 4]:

        @pk.jit
        def f(x):
            return pk.transpose(x, axes), pk.transpose(x, axes) * 3  # noqa: B023

        shape = tuple(rng.choice(np.array((1, 3, 8, 17, 32) if rank == 4 else (1, 5, 16, 33, 64)), rank))
        x = rng.integers(-99, 99, shape).astype(rng.choice(["f4", "f8", "i4"]))
        same, more = f(x)
        np.testing.assert_array_equal(same, x.transpose(axes), err_msg=f"{shape} {axes}")
        np.testing.assert_array_equal(more, x.transpose(axes) * 3)


def test_threads_change_nothing(rng):
    x, y = rng.standard_normal((1000, 515)), rng.standard_normal((515, 1000))
    before, found = pk.get_num_threads(), []
    try:
        for threads in (1, 2):
            pk.set_num_threads(threads)
            found.append((copied(x), elementary(x, y)))
    finally:
        pk.set_num_threads(before)
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


@pk.jit
def products(x, v, w):
    y = x.T
    return y @ v, w @ y, y @ x, x @ y, y @ x[:, 0], y.copy()


@pytest.mark.parametrize(("m", "n", "dtype"), [(1, 1, "f4"), (7, 5, "f8"), (64, 33, "f4"), (301, 200, "f8")])
def test_products_of_what_others_read_too(rng, m, n, dtype):
    x, v, w = (rng.standard_normal(s).astype(dtype) for s in ((m, n), m, n))
    expected = (x.T @ v, w @ x.T, x.T @ x, x @ x.T, x.T @ x[:, 0], x.T)
    bound = 4 * max(m, n) ** 0.5 * np.finfo(dtype).eps
    for found, right in zip(products(x, v, w), expected, strict=True):
        np.testing.assert_allclose(found, right, rtol=bound, atol=20 * bound)


def test_products_need_no_copy():
    @pk.jit
    def f(x):
        x = x.T
        return x @ x[0], x @ x.T

    program = f.lower(pk.spec((512, 1024), pk.f32)).as_text("kern-separate-empties")
    transposition = 'iterator_types = ["parallel", "parallel"]} ins('
    assert transposition not in program and program.count("arith.mulf") == 2


def test_rows_of_what_is_turned(rng):
    @pk.jit
    def f(x, y):
        e = pk.exp(x.T - x.T.max(axis=-1, keepdims=True))
        return e / e.sum(axis=-1, keepdims=True), x.T / y.sum(axis=-1, keepdims=True)

    for m, n in ((5, 7), (64, 1024), (300, 257)):
        x, y = rng.standard_normal((m, n)), rng.random((n, m)) + 1
        e = np.exp(x.T - x.T.max(axis=-1, keepdims=True))
        soft, quotient = f(x, y)
        np.testing.assert_allclose(soft, e / e.sum(axis=-1, keepdims=True), rtol=1e-13)
        np.testing.assert_allclose(quotient, x.T / y.sum(axis=-1, keepdims=True), rtol=1e-13)
