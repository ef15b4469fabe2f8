"""Keywords, defaults, index spaces and NumPy's other arrays: compiled code takes them, and means what Python means."""

from __future__ import annotations

import collections
import gc
import pickle
import sys
import weakref

import numpy as np
import pytest

import pykern as pk
from pykern.errors import KernelTypeError, LaunchError, OutOfBounds
from pykern.runtime.launchable import SUPPORTED
from tests.cases.adapted import Renamed, fast, make_axpy, python_calls, slow, vectors
from tests.cases.texts import defined

__all__ = ["python_calls"]
pytestmark = pytest.mark.skipif(not SUPPORTED, reason="calls go through Python in this build of CPython")


# -- keywords and defaults -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        lambda k, o, x, y: k(o=o, x=x, y=y, a=3.0, ndrange=7),
        lambda k, o, x, y: k(o, x, y, a=3.0, ndrange=7),
        lambda k, o, x, y: k(o, ndrange=7, a=3.0, y=y, x=x),
        lambda k, o, x, y: k(o, x, a=3.0, y=y, ndrange=(7,)),
        lambda k, o, x, y: k(*[o, x], **dict(zip(["y", "a", "ndrange"], [y, 3.0, 7], strict=True))),
    ],
)
def test_arguments_by_name(python_calls, call):
    axpy, (o, x, y) = make_axpy(), vectors()
    fast(python_calls, lambda: call(axpy, o, x, y))
    np.testing.assert_array_equal(o, 3 * x + y)
    o[:] = 0
    call(axpy, o, x, y)
    np.testing.assert_array_equal(o, 3 * x + y)


def test_a_default_is_the_one_of_now(python_calls):
    axpy, (o, x, y) = make_axpy(), vectors()
    fast(python_calls, lambda: axpy(o, x, y, ndrange=7))
    np.testing.assert_array_equal(o, 2 * x + y)
    axpy.__wrapped__.__defaults__ = (5.0,)
    axpy(o, x, y, ndrange=7)
    np.testing.assert_array_equal(o, 5 * x + y)
    fast(python_calls, lambda: axpy(o, x=x, y=y, ndrange=7))
    np.testing.assert_array_equal(o, 5 * x + y)
    axpy.__wrapped__.__defaults__ = ()
    with pytest.raises(KernelTypeError, match="missing a required argument: 'a'"):
        slow(python_calls, lambda: axpy(o, x, y, ndrange=7))


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda k, o, x, y: k(o, x, y, x=x, ndrange=7), "multiple values for argument 'x'"),
        (lambda k, o, x, y: k(o, x, ndrange=7), "missing a required argument: 'y'"),
        (lambda k, o, x, y: k(o, x, y, 1.0, 2.0, ndrange=7), "too many positional arguments"),
        (lambda k, o, x, y: k(o, x, y, b=1.0, ndrange=7), "unexpected keyword argument 'b'"),
    ],
)
def test_wrong_keywords_are_told_as_before(python_calls, call, reason):
    axpy, (o, x, y) = make_axpy(), vectors()
    fast(python_calls, lambda: axpy(o=o, x=x, y=y, ndrange=7))
    o[:] = 0
    with pytest.raises(KernelTypeError, match=reason):
        slow(python_calls, lambda: call(axpy, o, x, y))
    assert not o.any()


def test_keyword_only_parameters(python_calls):
    @pk.kernel
    def scale(y, *, by, ndrange_of=1):
        i = pk.index()
        y[i] = y[i] * by + ndrange_of

    y = np.ones(5)
    fast(python_calls, lambda: scale(y, by=2.0, ndrange_of=0, ndrange=5))
    np.testing.assert_array_equal(y, np.full(5, 2.0**5))
    scale(y, by=1.0, ndrange=5)  # a default that no entry looks for
    np.testing.assert_array_equal(y, np.full(5, 2.0**5 + 1))


def test_as_many_parameters_as_are_taken_and_one_more(python_calls):
    for count in (58, 60, 61):
        names = ", ".join(f"p{n}" for n in range(count))
        text = f"def many(y, {names}):\n    i = pk.index()\n    y[i] = p0 + 2.0 * p{count - 1}\n"
        kernel = made_of(text, "many")
        y, given = np.zeros(3), {f"p{n}": float(n) for n in range(count)}
        for _ in range(5):
            kernel(y, **given, ndrange=3)
        np.testing.assert_array_equal(y, np.full(3, 2.0 * (count - 1)))


def made_of(text, name):
    file = f"<{name} of {hash(text)}>"
    namespace = defined(text, file, {"pk": pk})
    return pk.kernel(namespace[name])


# -- index spaces --------------------------------------------------------------------------------


class Seven:
    def __index__(self):
        return 7


@pytest.mark.parametrize(
    "space",
    [np.int64(7), np.int32(7), np.uint8(7), (np.int64(7),), range(7), (range(0, 7, 1),), range(7)[:], Seven(),
     collections.namedtuple("Shape", "n")(7)],
)  # fmt: skip
def test_lengths_of_other_types(python_calls, space):
    axpy, (o, x, y) = make_axpy(), vectors()
    fast(python_calls, lambda: axpy(o, x, y, 3.0, ndrange=space))
    np.testing.assert_array_equal(o, 3 * x + y)


@pytest.mark.parametrize(
    ("space", "kind"),
    [(True, "neither"), (np.True_, "neither"), (7.0, "neither"), (np.float32(7), "neither"), (-1, "negative"),
     (np.int64(-1), "negative"), ((), "dimensions"), ("7", "neither"), ((7, [1]), "neither"),
     (1 << 70, "64 bits"), (range(1 << 70), "64 bits")],
)  # fmt: skip
def test_what_is_no_length_is_told_as_before(python_calls, space, kind):
    axpy, (o, x, y) = make_axpy(), vectors()
    fast(python_calls, lambda: axpy(o, x, y, 3.0, ndrange=np.int64(7)))
    with pytest.raises(LaunchError, match=kind):
        slow(python_calls, lambda: axpy(o, x, y, 3.0, ndrange=space))


@pk.kernel
def counted(out):
    i = pk.index()
    out[i] = out[i] + 1.0


@pk.kernel
def counted_2d(out):
    i, j = pk.index()
    out[i, j] = out[i, j] + 1.0 + 10 * i + j


@pytest.mark.parametrize(
    "space",
    [range(1, 6), range(0, 7, 2), range(6, 0, -2), range(5, 2), range(3, 4), range(-1 + 1, 7, 3), range(6, -1, -1),
     (range(np.int64(2), 5),)],
)  # fmt: skip
def test_ranges(python_calls, space):
    out, want = np.zeros(7), np.zeros(7)
    fast(python_calls, lambda: counted(out, ndrange=space))
    want[list(space[0] if isinstance(space, tuple) else space)] += 5
    np.testing.assert_array_equal(out, want)


@pytest.mark.parametrize(
    "space",
    [(range(1, 5), range(1, 4)), (6, range(0, 5, 2)), (range(4, 0, -1), np.int64(5)), (range(6), range(1, 3)),
     (range(2, 2), 5)],
)  # fmt: skip
def test_ranges_in_two_dimensions(python_calls, space):
    out, want = np.zeros((6, 5)), np.zeros((6, 5))
    fast(python_calls, lambda: counted_2d(out, ndrange=space))
    for i in range(space[0]) if not isinstance(space[0], range) else space[0]:
        for j in range(space[1]) if not isinstance(space[1], range) else space[1]:
            want[i, j] += 5 * (1 + 10 * i + j)
    np.testing.assert_array_equal(out, want)


def test_plain_spaces_and_others_of_one_kernel_take_turns(python_calls):
    out, want = np.zeros(9), np.zeros(9)
    spaces = [9, range(9), range(1, 8), np.int16(4), range(8, -1, -3)]

    def all_of_them():
        for space in spaces:
            counted(out, ndrange=space)
            want[list(space) if isinstance(space, range) else range(space)] += 1

    fast(python_calls, all_of_them)
    np.testing.assert_array_equal(out, want)


def test_a_range_beyond_the_array_is_refused(python_calls):
    out = np.zeros(7)
    fast(python_calls, lambda: counted(out, ndrange=range(1, 7)))
    before = out.copy()
    for space in (range(1, 8), range(-1, 3), range(1, 1 << 62), range(7, -2, -1)):
        with pytest.raises(OutOfBounds, match="outside of `out`, whose shape is 7"):
            slow(python_calls, lambda space=space: counted(out, ndrange=space))
    np.testing.assert_array_equal(out, before)


def test_a_static_space_of_ranges(python_calls):
    @pk.kernel(ndrange=range(1, 6))
    def inner(out):
        i = pk.index()
        out[i] = out[i] + 1.0

    out = np.zeros(7)
    for _ in range(4):
        inner(out)
        inner(out, ndrange=range(1, 6))
    np.testing.assert_array_equal(out, [0, 8, 8, 8, 8, 8, 0])
    with pytest.raises(LaunchError, match="static ndrange"):
        inner(out, ndrange=range(1, 5))


# -- NumPy's other arrays ------------------------------------------------------------------------


def test_subclasses(python_calls, tmp_path):
    axpy, (o, x, y) = make_axpy(), vectors()
    mapped = np.memmap(tmp_path / "o", np.float32, "w+", shape=7)
    for out, first in ((o.view(Renamed), x.view(Renamed)), (mapped, x), (np.rec.array(o).view(Renamed), x)):
        fast(python_calls, lambda out=out, first=first: axpy(out, first, y, 3.0, ndrange=7))
        np.testing.assert_array_equal(np.asarray(out), 3 * x + y)
    mapped.flush()
    np.testing.assert_array_equal(np.fromfile(tmp_path / "o", np.float32), 3 * x + y)


class Units(np.ndarray):
    """An array with a meaning of its own for operators."""

    def __array_ufunc__(self, *args, **kwargs):
        return NotImplemented


def test_subclasses_that_mean_more_stay_refused(python_calls):
    axpy, (o, x, y) = make_axpy(), vectors()
    fast(python_calls, lambda: axpy(o.view(Renamed), x, y, 3.0, ndrange=7))
    for value, reason in ((np.ma.array(x), "`x` is a masked array"), (x.view(Units), "`x` is a Units")):
        with pytest.raises(KernelTypeError, match=reason):
            slow(python_calls, lambda value=value: axpy(o, value, y, 3.0, ndrange=7))


def test_a_read_only_subclass_is_not_written(python_calls):
    axpy, (o, x, y) = make_axpy(), vectors()
    fast(python_calls, lambda: axpy(o.view(Renamed), x, y, 3.0, ndrange=7))
    closed = o.view(Renamed)
    closed.flags.writeable = False
    before = o.copy()
    with pytest.raises(LaunchError, match="`o` is read-only"):
        slow(python_calls, lambda: axpy(closed, x, y, 1.0, ndrange=7))
    np.testing.assert_array_equal(o, before)
    x.flags.writeable = False
    fast(python_calls, lambda: axpy(o, x.view(Renamed), y, 1.0, ndrange=7))


def test_overlapping_subclasses(python_calls):
    axpy, (o, x, y) = make_axpy(), vectors()
    fast(python_calls, lambda: axpy(o.view(Renamed), x, y, 3.0, ndrange=7))
    whole = np.arange(8, dtype=np.float32).view(Renamed)
    with pytest.raises(LaunchError, match="overlap in part"):
        slow(python_calls, lambda: axpy(whole[1:], whole[:-1], y, 1.0, ndrange=7))
    same = whole[:7]
    fast(python_calls, lambda: axpy(same, same, y, 0.0, ndrange=7))
    np.testing.assert_array_equal(same, y)


@pytest.mark.parametrize("dtype", ["?", "b", "B", "h", "H", "i", "I", "l", "L", "q", "Q", "e", "f", "d"])
def test_dtypes_that_are_equal_and_other_objects(python_calls, dtype):
    @pk.kernel
    def copied(o, x):
        i = pk.index()
        o[i] = x[i]

    o, x, _ = vectors(5, dtype)
    o, x = pickle.loads(pickle.dumps(o)), pickle.loads(pickle.dumps(x))
    fast(python_calls, lambda: copied(o, x, ndrange=5))
    np.testing.assert_array_equal(o, x)


def test_another_byte_order_stays_refused(python_calls):
    axpy, (o, x, y) = make_axpy(), vectors()
    fast(python_calls, lambda: axpy(o=o, x=x, y=y, ndrange=7))
    with pytest.raises(KernelTypeError, match="native byte order"):
        slow(python_calls, lambda: axpy(o, x.astype(">f4"), y, ndrange=7))


def test_references_stay_as_many(python_calls):
    axpy, (o, x, y) = make_axpy(), [v.view(Renamed) for v in vectors()]
    shape, space = (np.int64(7),), range(1, 6)

    def calls():
        axpy(o, x=x, y=y, ndrange=7)
        axpy(o, x, y, ndrange=shape)
        axpy(o, x, y, ndrange=space)
        python_calls.clear()

    for _ in range(5):
        calls()
    held = (o, x, y, shape, space, axpy)
    before = [sys.getrefcount(value) for value in held]
    for _ in range(200):
        calls()
    assert [sys.getrefcount(value) for value in held] == before


# -- where names mean something else -------------------------------------------------------------

factor = 2.0


def test_captured_names_that_change(python_calls):
    global factor

    @pk.kernel
    def scaled(o, x):
        i = pk.index()
        o[i] = factor * x[i]

    o, x, _ = vectors()
    o, x = o.view(Renamed), x.view(Renamed)
    try:
        for factor in (2.0, 3.0, 2.0):
            fast(python_calls, lambda: scaled(o=o, x=x, ndrange=np.int64(7)), warm=40)
            np.testing.assert_array_equal(o, factor * x)
    finally:
        factor = 2.0


def test_another_device_is_asked_for(python_calls):
    axpy, (o, x, y) = make_axpy(), vectors()
    fast(python_calls, lambda: axpy(o=o, x=x, y=y, ndrange=7))
    o[:] = 0
    with pk.device("python"):
        slow(python_calls, lambda: axpy(o=o, x=x, y=y, ndrange=7))
    np.testing.assert_array_equal(o, 2 * x + y)


def test_kernels_that_are_collected(python_calls):
    axpy, (o, x, y) = make_axpy(), vectors()
    seen = weakref.ref(axpy)
    for _ in range(5):
        axpy(o=o, x=x, y=y, ndrange=7)
    assert python_calls[-1] is axpy and len(python_calls) < 5
    python_calls.clear()
    del axpy
    gc.collect()
    assert seen() is None
