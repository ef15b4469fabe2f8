"""Which calls run without Python, and what is left behind where many kinds of them take turns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pykern as pk
from pykern.data.abi import ENTRIES
from pykern.runtime.launchable import SUPPORTED

pytestmark = pytest.mark.skipif(not SUPPORTED, reason="calls go through Python in this build of CPython")

DTYPES = [
    np.float16,
    np.float32,
    np.float64,
    *(np.dtype(f"{kind}{size}") for kind in "iu" for size in (1, 2, 4, 8)),
]


def counted(kernel, monkeypatch):
    """How often the kernel's calls went through Python."""
    calls = []
    launch = kernel.launcher.launch
    monkeypatch.setattr(kernel.launcher, "launch", lambda *call: (calls.append(call), launch(*call))[1])
    return calls


def depth(kept):
    return 1 + max(map(depth, kept), default=0) if isinstance(kept, tuple) else 0


def test_kinds_that_push_each_other_out_leave_nothing_behind(monkeypatch):
    @pk.kernel
    def add(x, a):
        i = pk.index()
        x[i] = x[i] + a

    calls = counted(add, monkeypatch)
    arrays = [np.zeros(3, dtype) for dtype in DTYPES]
    assert len(arrays) > ENTRIES
    turns = 40
    for _ in range(turns):
        for x in arrays:
            add(x, 1, ndrange=3)
    for x in arrays:
        np.testing.assert_array_equal(x, np.full(3, turns, x.dtype))
    assert depth(add._kept) < 10
    assert len(calls) < turns * len(arrays) * 2 // 3  # most kinds stay where they are


def test_a_kind_that_was_pushed_out_comes_back(monkeypatch):
    @pk.kernel
    def add(x, a):
        i = pk.index()
        x[i] = x[i] + a

    arrays = [np.zeros(3, dtype) for dtype in DTYPES]
    for x in arrays:
        add(x, 1, ndrange=3)
    calls = counted(add, monkeypatch)
    for _ in range(100):
        add(arrays[0], 1, ndrange=3)
    assert 0 < len(calls) < 50
    np.testing.assert_array_equal(arrays[0], np.full(3, 101, arrays[0].dtype))


@pytest.mark.parametrize(("shape", "ndrange"), [((4,), 4), ((4,), (4,)), ((2, 3), (2, 3))], ids=str)
def test_a_static_ndrange_need_not_be_given(shape, ndrange, monkeypatch):
    @pk.kernel(ndrange=ndrange)
    def count(x, a):
        place = pk.index()
        x[place] = x[place] + a

    x = np.zeros(shape)
    count(x, 1.0)
    calls = counted(count, monkeypatch)
    count(x, 2.0)
    count(x, 4.0, ndrange=ndrange)
    assert not calls
    np.testing.assert_array_equal(x, np.full(shape, 7.0))
    with pytest.raises(pk.LaunchError, match="static ndrange"):
        count(x, 1.0, ndrange=5)


def test_a_derivative_of_one_work_item_asks_for_its_ndrange():
    @pk.kernel
    def square(y, x):
        i = pk.index()
        y[i] = x[i] * x[i]

    derivative, dx = pk.autodiff(square, level="direct"), np.zeros(1)
    duals = pk.Dup(np.zeros(1), np.ones(1)), pk.Dup(np.full(1, 3.0), dx)
    derivative(*duals, ndrange=1)
    with pytest.raises(pk.LaunchError, match="without an ndrange"):
        derivative(*duals)
    np.testing.assert_array_equal(dx, [6.0])


EQUAL = [4, 4.0, np.int64(4), np.float32(4), 1, True, 1.0, 0.0, -0.0, 0, False]
"""Values of which many are equal, and none means the same to a kernel."""


def test_static_values_that_are_equal_are_not_the_same():
    @pk.kernel
    def times(y, x, n: pk.static):
        i = pk.index()
        y[i] = x[i] * n

    @pk.kernel
    def first(y, x, n: pk.static):
        i = pk.index()
        y[i] = x[i] * n[0]

    @pk.jit
    def product(x, n: pk.static):
        return x * n

    x = np.array([1 << 30, -3], np.int32)
    for n in EQUAL:
        for launched in (
            lambda y, n=n: times(y, x, n, ndrange=2),
            lambda y, n=n: first(y, x, (n, 2), ndrange=2),
        ):
            y = np.full(2, np.nan)
            launched(y)
            np.testing.assert_array_equal(np.copysign(1, y), np.copysign(1, wanted(x, n)))
            np.testing.assert_array_equal(y, wanted(x, n))
        assert product(x, n).dtype == wanted(x, n).dtype


def wanted(x, n):
    with np.errstate(over="ignore"):
        return x * n


N: Any = None


def test_captured_values_that_are_equal_are_not_the_same(monkeypatch):
    @pk.kernel
    def times(y, x):
        i = pk.index()
        y[i] = x[i] * N

    x = np.array([1 << 30, -3], np.int32)
    for n in EQUAL:
        monkeypatch.setitem(globals(), "N", n)
        y = np.full(2, np.nan)
        times(y, x, ndrange=2)
        np.testing.assert_array_equal(np.copysign(1, y), np.copysign(1, wanted(x, n)))
        np.testing.assert_array_equal(y, wanted(x, n))


def test_a_name_that_is_defined_after_a_failed_call_is_found(monkeypatch):
    monkeypatch.delitem(globals(), "defined_later", raising=False)

    @pk.kernel
    def called(y, x):
        i = pk.index()
        y[i] = defined_later(x[i])  # noqa: F821

    @pk.jit
    def program(x):
        return defined_later(x)  # noqa: F821

    x, y = np.array([1.0, 2.0]), np.zeros(2)
    for _ in range(2):
        with pytest.raises(pk.KernelSyntaxError, match="`defined_later` is not defined"):
            called(y, x, ndrange=2)
        with pytest.raises(pk.KernelSyntaxError, match="`defined_later` is not defined"):
            program(x)

    @pk.func
    def doubled(v):
        return v * 2.0

    monkeypatch.setitem(globals(), "defined_later", doubled)
    for _ in range(4):
        called(y, x, ndrange=2)
        np.testing.assert_array_equal(y, 2.0 * x)
        np.testing.assert_array_equal(program(x), 2.0 * x)


def test_a_closure_that_is_assigned_after_a_failed_call_is_found():
    @pk.kernel
    def times(y, x):
        i = pk.index()
        y[i] = x[i] * factor

    x, y = np.array([1.0, 2.0]), np.zeros(2)
    with pytest.raises(pk.KernelError):
        times(y, x, ndrange=2)
    for factor in (3.0, 3, 5.0):
        for _ in range(3):
            times(y, x, ndrange=2)
            np.testing.assert_array_equal(y, factor * x)


def test_a_name_that_no_branch_reads_may_come_and_go(monkeypatch):
    """What is not there is part of what the entry checks, too."""

    @pk.kernel
    def chosen(y, kind: pk.static):
        i = pk.index()
        if kind:
            y[i] = comes_and_goes  # noqa: F821
        else:
            y[i] = 1.0

    monkeypatch.delitem(globals(), "comes_and_goes", raising=False)
    y = np.zeros(2)
    for there in (False, True, False, True):
        if there:
            monkeypatch.setitem(globals(), "comes_and_goes", 7.0)
        else:
            monkeypatch.delitem(globals(), "comes_and_goes", raising=False)
        for _ in range(3):
            chosen(y, 0, ndrange=2)
            assert list(y) == [1.0, 1.0]
        if there:
            chosen(y, 1, ndrange=2)
            assert list(y) == [7.0, 7.0]
        else:
            with pytest.raises(pk.KernelSyntaxError, match="`comes_and_goes` is not defined"):
                chosen(y, 1, ndrange=2)


@pk.kernel
def of_bool(x):
    x[pk.index()] = pk.bool(1)


@pk.kernel
def of_int32(x):
    x[pk.index()] = pk.int32(1)


@pk.kernel
def of_len(x):
    x[pk.index()] = pk.len(x)


@pytest.mark.parametrize(
    ("kernel", "hint"),
    [(of_bool, "`pk.bool_`"), (of_int32, "`pk.i32`"), (of_len, "Python's own: write `len`")],
)
def test_a_name_that_is_not_there_is_not_what_is_meant(kernel, hint):
    with pytest.raises(pk.KernelSyntaxError, match="is not defined") as raised:
        kernel(np.zeros(3), ndrange=3)
    assert hint in str(raised.value)


@pk.kernel
def doubled(y, x):
    i = pk.index()
    y[i] = 2 * x[i]


@pytest.mark.parametrize("first", ["strided", "shared"])
def test_code_for_any_arrays_leaves_others_theirs(rng, first):
    """Code for arrays with strides, or of one array twice, is right for all arrays, and slower than their own."""
    x = rng.random(64)
    kernel = pk.kernel(doubled.__wrapped__)
    if first == "strided":
        kernel(np.zeros(32), x[::2], ndrange=32)
    else:
        kernel(z := x.copy(), z, ndrange=64)
    for _ in range(2):
        y = np.zeros(64)
        kernel(y, x, ndrange=64)
        np.testing.assert_array_equal(y, 2 * x)
    sources = [variant.source for variant in kernel.launcher.cache.variants.values()]
    own = [s for s in sources if s.noalias and not any(p.spec.strided for p in s.parameters)]
    assert len(sources) == 2
    assert len(own) == 1
