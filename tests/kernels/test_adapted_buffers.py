"""Arrays by DLPack, by a buffer and by `__array_interface__`: values, strides, formats, what is read-only, and whose
memory is let go."""

from __future__ import annotations

import array
import ctypes
import gc
import mmap
import signal
import sys
import weakref
from multiprocessing.shared_memory import SharedMemory

import numpy as np
import pytest

import pykern as pk
from pykern.errors import KernelTypeError, LaunchError
from pykern.pytest_plugin import need_package
from pykern.runtime.launchable import SUPPORTED
from tests.cases.adapted import fast, make_axpy, make_copy, make_copy_2d, python_calls, slow, vectors

__all__ = ["python_calls"]
pytestmark = pytest.mark.skipif(not SUPPORTED, reason="calls go through Python in this build of CPython")


class Exporter:
    """A library's array: NumPy's own by DLPack. `old`: before 1.0, without a version."""

    def __init__(self, array, old=False):
        self.array, self.old, self.asked = array, old, 0

    def __dlpack__(self, **keywords):
        self.asked += 1
        if self.old and keywords:
            raise TypeError("unexpected keyword argument 'max_version'")
        return self.array.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return (1, 0)


class Interface:
    """What tells of its memory as NumPy does."""

    def __init__(self, array, mask=None, **changes):
        self.array, self.changes, self.asked = array, {"mask": mask, **changes}, 0

    @property
    def __array_interface__(self):
        self.asked += 1
        return {**self.array.__array_interface__, **self.changes}


# -- formats ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", "bBhHiIlLqQfd")
def test_arrays_of_the_module_array(python_calls, code):
    copied = make_copy()
    o, x = array.array(code, [0] * 5), array.array(code, range(1, 6))
    fast(python_calls, lambda: copied(o, x, ndrange=5))
    assert list(o) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    "kind",
    ["c_bool", "c_byte", "c_ubyte", "c_short", "c_ushort", "c_int", "c_uint", "c_long", "c_ulong", "c_longlong",
     "c_ulonglong", "c_float", "c_double", "c_size_t", "c_int16", "c_uint64"],
)  # fmt: skip
def test_arrays_of_ctypes(python_calls, kind):
    copied, of = make_copy(), getattr(ctypes, kind)
    o, x = (of * 4)(), (of * 4)(1, 0, 1, 1)
    fast(python_calls, lambda: copied(o, x, ndrange=4))
    assert list(o) == [1, 0, 1, 1]


@pytest.mark.parametrize(
    "code", ["?", "b", "B", "h", "H", "i", "I", "l", "L", "q", "Q", "e", "f", "d", "n", "N"]
)
def test_memoryviews(python_calls, code):
    copied = make_copy()
    o, x, _ = vectors(6, {"n": "q", "N": "Q"}.get(code, code))
    views = memoryview(o), memoryview(x)
    if code in "nN":
        views = tuple(memoryview(v.tobytes()).cast(code) for v in (o, x))
        views = (memoryview(bytearray(o.tobytes())).cast(code), views[1])
    fast(python_calls, lambda: copied(*views, ndrange=6))
    np.testing.assert_array_equal(np.asarray(views[0]), x)


def test_bytes_of_all_kinds(python_calls, tmp_path):
    copied = make_copy()
    file = tmp_path / "bytes"
    file.write_bytes(b"\0" * 5)
    shared = SharedMemory(create=True, size=5)
    try:
        with file.open("r+b") as handle, mmap.mmap(handle.fileno(), 5) as mapped:
            for o in (bytearray(5), memoryview(bytearray(5)), shared.buf[:5], mapped):
                fast(python_calls, lambda o=o: copied(o, b"bytes", ndrange=5))
                assert bytes(o[:5]) == b"bytes"
        del o
        assert file.read_bytes() == b"bytes"
    finally:
        gc.collect()
        shared.close()
        shared.unlink()


def test_two_dimensions_and_none(python_calls):
    copied, base = make_copy_2d(), np.arange(24.0).reshape(4, 6)
    o = ((ctypes.c_double * 6) * 4)()
    fast(python_calls, lambda: copied(o, memoryview(base), ndrange=(4, 6)))
    np.testing.assert_array_equal(np.asarray(o), base)
    for view in (base[::2, ::-1], base.T, base[1:2], base[:, 3:4], base[:, :0]):
        out = np.zeros(view.shape)
        fast(
            python_calls,
            lambda out=out, view=view: copied(memoryview(out), memoryview(view), ndrange=out.shape),
        )
        np.testing.assert_array_equal(out, view)

    @pk.kernel
    def total(o, x):
        i = pk.index()
        pk.atomic_add(o, (), x[i])

    number, x = ctypes.c_double(0), array.array("d", [1, 2, 3])
    fast(python_calls, lambda: total(number, x, ndrange=3))
    assert number.value == 30.0


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda x: memoryview(x.astype(">f4")), ">f4, which kernels do not support"),
        (lambda x: memoryview(x.astype("c8")), "complex64, which kernels do not support"),
        (lambda x: memoryview(x.astype("S1")), "bytes, which kernels do not support"),
        (lambda x: memoryview(np.zeros(7, [("a", "f4"), ("b", "i4")])), "which kernels do not support"),
        (lambda x: memoryview(x.astype(np.longdouble)), "which kernels do not support"),
        (lambda x: array.array("u", "bytes"), "strings, which kernels do not support"),
        (
            lambda x: (type("Pair", (ctypes.Structure,), {"_fields_": [("a", ctypes.c_int)]}) * 7)(),
            "which kernels do not support",
        ),
        (lambda x: ctypes.pointer(ctypes.c_float(1)), "`x` is .*LP_c_float that gives no view of its memory"),
        (
            lambda x: Interface(x, np.zeros(7, bool)),
            "`x` is .*Interface that gives no view of its memory: it has a mask",
        ),
        (lambda x: object(), "`x` is a value of type object"),
        (lambda x: {1, 2}, "`x` is a set"),
    ],
)
@pytest.mark.filterwarnings("ignore:The 'u' type code is deprecated")
def test_formats_that_kernels_have_not(python_calls, make, reason):
    axpy, (o, x, y) = make_axpy(), vectors()
    for first in (memoryview(x), array.array("f", x), (ctypes.c_float * 7)(*x), Interface(x)):
        fast(python_calls, lambda first=first: axpy(o, first, y, ndrange=7))
    bad = make(x)
    for _ in range(2):
        with pytest.raises(KernelTypeError, match=reason):
            slow(python_calls, lambda: axpy(o, bad, y, ndrange=7))


def test_what_is_not_aligned_is_refused(python_calls):
    axpy, (o, x, y) = make_axpy(), vectors()
    fast(python_calls, lambda: axpy(o, memoryview(x), y, ndrange=7))
    odd = np.frombuffer(bytearray(29), np.uint8)[1:].view(np.float32)
    with pytest.raises(LaunchError, match="`x` has elements that are not aligned"):
        slow(python_calls, lambda: axpy(o, memoryview(odd), y, ndrange=7))
    record = np.zeros(7, [("a", "<f4"), ("b", "i1")])["a"]
    with pytest.raises(LaunchError, match="`x` has elements that are not aligned"):
        slow(python_calls, lambda: axpy(o, Interface(record), y, ndrange=7))


# -- what is read-only -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "of",
    [memoryview, Interface, Exporter, lambda v: Exporter(v, old=True)],
    ids=["buffer", "interface", "dlpack", "old dlpack"],
)
def test_read_only_memory_is_not_written(python_calls, of):
    axpy, (o, x, y) = make_axpy(), vectors()
    if of in (memoryview, Interface, Exporter):
        fast(python_calls, lambda: axpy(of(o), of(x), y, ndrange=7))
        np.testing.assert_array_equal(o, 2 * x + y)
    else:
        fast(python_calls, lambda: axpy(o, of(x), y, ndrange=7))
    before = o.copy()
    closed = o.view()
    closed.flags.writeable = of not in (memoryview, Interface, Exporter)
    with pytest.raises(LaunchError, match="`o` is read-only, and `axpy` writes it"):
        slow(python_calls, lambda: axpy(of(closed), x, y, 1.0, ndrange=7))
    np.testing.assert_array_equal(o, before)
    if of is not Exporter:
        fast(python_calls, lambda: axpy(o, of(closed), y, 0.0, ndrange=7))


def test_overlap_of_views_of_different_kinds(python_calls):
    axpy, (o, x, y) = make_axpy(), vectors()
    fast(python_calls, lambda: axpy(memoryview(o), Exporter(x), Interface(y), ndrange=7))
    whole = np.arange(8, dtype=np.float32)
    for first, second in ((memoryview, Exporter), (Interface, memoryview), (Exporter, Interface)):
        with pytest.raises(LaunchError, match="`o` and `x` overlap in part"):
            slow(python_calls, lambda f=first, s=second: axpy(f(whole[1:]), s(whole[:-1]), y, ndrange=7))
    np.testing.assert_array_equal(whole, np.arange(8))


def test_outputs_with_one_place_for_many(python_calls):
    axpy, (o, x, y) = make_axpy(), vectors()
    one = np.lib.stride_tricks.as_strided(np.zeros(1, np.float32), (7,), (0,))
    for of in (memoryview, Interface, Exporter):
        fast(python_calls, lambda of=of: axpy(of(o), of(one), y, ndrange=7))
        with pytest.raises(LaunchError, match="`o` has several positions at one place"):
            slow(python_calls, lambda of=of: axpy(of(one), x, y, ndrange=7))


# -- what the dict of `__array_interface__` may say ------------------------------------------------


@pytest.mark.parametrize("code", "?bBhHiIlLqQefd")
def test_interfaces_of_each_dtype(python_calls, code):
    copied, (o, x, _) = make_copy(), vectors(7, code)
    given = Interface(x)
    fast(python_calls, lambda: copied(Interface(o), given, ndrange=7))
    np.testing.assert_array_equal(o, x)
    given.asked = 0
    copied(o, given, ndrange=7)
    assert given.asked == 1, "the dict is read once a call"


@pytest.mark.parametrize(
    "view", [lambda a: a[::2, 1:], lambda a: a.T, lambda a: a[:, ::-1], lambda a: a[:0], lambda a: a[1:2]]
)
def test_interfaces_with_strides(python_calls, view):
    copied, x = make_copy_2d(), view(np.arange(24.0).reshape(4, 6))
    o = np.zeros((10, 12))[: x.shape[0], : x.shape[1]]
    fast(python_calls, lambda: copied(Interface(o), Interface(x), ndrange=x.shape))
    np.testing.assert_array_equal(o, x)


def told_otherwise(x):
    """Dicts that NumPy reads, and compiled code leaves to it."""
    address = x.__array_interface__["data"][0]
    yield Interface(x, shape=(np.int64(7),))
    yield Interface(x, data=(address, 0))
    yield Interface(x, data=memoryview(x))
    yield Interface(x, data=x.tobytes())
    yield Interface(x, typestr="f4")
    yield Interface(x, typestr=b"<f4")


def test_interfaces_that_numpy_reads(python_calls):
    axpy, (o, x, y) = make_axpy(), vectors()
    for given in told_otherwise(x):
        o[:] = 0
        fast(python_calls, lambda given=given: axpy(o, given, y, ndrange=7))
        np.testing.assert_array_equal(o, 2 * x + y)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"shape": (-7,)}, "negative dimensions"),
        ({"shape": 7}, "shape must be a tuple"),
        ({"shape": (1 << 70,)}, "too large"),
        ({"strides": (4, 4)}, "mismatch in length of strides and shape"),
        ({"data": (0, False)}, "its address is 0"),
        ({"data": (1 << 70, False)}, "too large"),
        ({"data": (8,)}, "2-tuple"),
        ({"data": None}, ""),
        ({"typestr": "<f1"}, "'<f1' not understood"),
        ({"typestr": ""}, "not understood"),
        ({"typestr": "<f4\ud800"}, ""),
        ({"mask": np.zeros(7, bool)}, "it has a mask"),
    ],
)
def test_interfaces_that_are_wrong(python_calls, changes, reason):
    axpy, (o, x, y) = make_axpy(), vectors()
    fast(python_calls, lambda: axpy(o, Interface(x), y, ndrange=7))
    bad = Interface(x, **changes)
    for _ in range(2):
        with pytest.raises(
            KernelTypeError, match=f"`x` is a value of type Interface that gives no view.*{reason}"
        ):
            slow(python_calls, lambda: axpy(o, bad, y, ndrange=7))
    with pytest.raises(KernelTypeError, match="`x` is a value of type Dictless that gives no view"):
        slow(
            python_calls, lambda: axpy(o, type("Dictless", (), {"__array_interface__": None})(), y, ndrange=7)
        )


def test_images_of_pillow(python_calls):
    image = need_package("PIL.Image")

    @pk.kernel
    def inverted(o, x):
        i, j, k = pk.index()
        o[i, j, k] = 255 - x[i, j, k]

    x, o = np.random.default_rng(0).integers(0, 256, (4, 5, 3), np.uint8), np.zeros((4, 5, 3), np.uint8)
    picture = image.fromarray(x)
    fast(python_calls, lambda: inverted(o, picture, ndrange=x.shape))
    np.testing.assert_array_equal(o, 255 - x)
    with pytest.raises(LaunchError, match="`o` is read-only"):
        inverted(picture, o, ndrange=x.shape)


# -- DLPack ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "view", [lambda a: a, lambda a: a[::2, 1:], lambda a: a.T, lambda a: a[:, ::-1], lambda a: a[:0]]
)
def test_dlpack_with_strides(python_calls, view):
    copied, x = make_copy_2d(), view(np.arange(24.0).reshape(4, 6))
    o = np.zeros(x.shape)
    given, out = Exporter(x), Exporter(o)
    fast(python_calls, lambda: copied(out, given, ndrange=o.shape))
    np.testing.assert_array_equal(o, x)
    assert given.asked >= 5


@pytest.mark.parametrize("gives", [None, 3, object()])
def test_an_exporter_that_gives_no_capsule(python_calls, gives):
    axpy, (o, x, y) = make_axpy(), vectors()
    given = Exporter(x)
    fast(python_calls, lambda: axpy(o, given, y, ndrange=7))
    given.array = type("Array", (), {"__dlpack__": lambda self, **keywords: gives})()
    for _ in range(2):
        with pytest.raises(KernelTypeError, match="`x` is a value of type Exporter that gives no view"):
            slow(python_calls, lambda: axpy(o, given, y, ndrange=7))


def test_a_buffer_that_was_released(python_calls):
    axpy, (o, x, y) = make_axpy(), vectors()
    given = memoryview(x)
    fast(python_calls, lambda: axpy(o, given, y, ndrange=7))
    given.release()
    with pytest.raises(KernelTypeError, match=r"`x` is a value of type memoryview.*released"):
        slow(python_calls, lambda: axpy(o, given, y, ndrange=7))


def test_an_exporter_that_fails_is_told(python_calls):
    axpy, (o, x, y) = make_axpy(), vectors()
    fast(python_calls, lambda: axpy(o, Exporter(x), y, ndrange=7))

    class Failing(Exporter):
        def __dlpack__(self, **keywords):
            raise BufferError("it is on strike")

    bad = Exporter(x)
    bad.array = None
    with pytest.raises((KernelTypeError, AttributeError), match="'NoneType' object"):
        slow(python_calls, lambda: axpy(o, bad, y, ndrange=7))
    with pytest.raises(
        KernelTypeError, match=r"`x` is .*Failing that gives no view of its memory: it is on strike"
    ):
        slow(python_calls, lambda: axpy(o, Failing(x), y, ndrange=7))
    fast(python_calls, lambda: axpy(o, Exporter(x), y, ndrange=7), warm=0)


def test_ctrl_c_while_an_exporter_is_asked(python_calls):
    """The call is made once more by Python's way then: what came but once must not be lost."""
    copied, o, x = make_copy(), np.zeros(4), np.arange(4.0)

    class Slow(Exporter):
        interrupts = False

        def __dlpack__(self, **keywords):
            if self.interrupts:
                self.interrupts = False
                signal.raise_signal(signal.SIGINT)
            return super().__dlpack__(**keywords)

    given = Slow(x)
    fast(python_calls, lambda: copied(o, given, ndrange=4))
    given.interrupts = True
    with pytest.raises(KeyboardInterrupt):
        copied(o, given, ndrange=4)
    fast(python_calls, lambda: copied(o, given, ndrange=4), warm=0)


def test_memory_is_let_go(python_calls):
    axpy, (o, x, y) = make_axpy(), vectors()
    block = bytearray(x.tobytes())
    exporter, interface = Exporter(y), Interface(y)
    calls = [
        lambda: axpy(o, memoryview(block).cast("f"), exporter, ndrange=7),
        lambda: axpy(o, memoryview(block).cast("f"), interface, ndrange=7),
        lambda: axpy(o, memoryview(block).cast("f"), Interface(y, data=memoryview(y)), ndrange=7),
    ]
    for call in calls:
        fast(python_calls, call)
    counts = [sys.getrefcount(v) for v in (y, exporter, interface, block)]
    for call in calls * 100:
        call()
    assert [sys.getrefcount(v) for v in (y, exporter, interface, block)] == counts
    with pytest.raises(KernelTypeError):
        axpy(o, memoryview(block).cast("f"), {1}, ndrange=7)
    gc.collect()
    block.append(0)  # nobody has a buffer of it


def test_an_exporter_is_let_go(python_calls):
    axpy, (o, x, y) = make_axpy(), vectors()
    exporter = Exporter(x)
    seen = weakref.ref(exporter)
    for _ in range(5):
        axpy(o, exporter, y, ndrange=7)
    assert len(python_calls) < 5
    del exporter
    gc.collect()
    assert seen() is None


# -- JAX -------------------------------------------------------------------------------------------


JAX_DTYPES = ["bool", "int8", "int16", "int32", "uint8", "uint16", "uint32", "float16", "bfloat16", "float32",
              "float8_e4m3fn", "float8_e5m2"]  # fmt: skip


@pytest.mark.parametrize("dtype", JAX_DTYPES)
def test_arrays_of_jax(python_calls, dtype):
    jnp = need_package("jax").numpy
    copied, x = make_copy(), jnp.asarray([0, 1, 1, 0, 1], dtype)
    o = np.zeros(5, x.dtype)
    fast(python_calls, lambda: copied(o, x, ndrange=5))
    np.testing.assert_array_equal(o.astype(np.float32), np.asarray(x).astype(np.float32))
    for _ in range(2):
        with pytest.raises(LaunchError, match="`o` is read-only"):
            slow(python_calls, lambda: copied(x, o, ndrange=5))


def test_arrays_of_jax_with_and_without_a_buffer_in_turns(python_calls):
    """Which sort came last decides how the next is asked, and must not decide what comes out."""
    jnp = need_package("jax").numpy
    copied, values = make_copy(), np.arange(5)
    given = [jnp.asarray(values, dtype) for dtype in ("float32", "bfloat16", "float8_e4m3fn", "int32")]
    results = [np.zeros(5, x.dtype) for x in given]
    for x, o in zip(given, results, strict=True):
        fast(python_calls, lambda x=x, o=o: copied(o, x, ndrange=5))
    counts = [sys.getrefcount(x) for x in given]
    python_calls.clear()
    for n in (0, 1, 0, 2, 2, 3, 1, 1, 0, 3, 2, 0):
        results[n][:] = 0
        copied(results[n], given[n], ndrange=5)
        np.testing.assert_array_equal(results[n].astype(np.float32), values)
    assert not python_calls
    assert [sys.getrefcount(x) for x in given] == counts
    given[1].delete()
    with pytest.raises(KernelTypeError, match="`x` is a JAX array that was deleted"):
        slow(python_calls, lambda: copied(results[1], given[1], ndrange=5))


def test_arrays_of_jax_in_programs(python_calls):
    jnp = need_package("jax").numpy

    @pk.jit
    def scaled(x, y):
        return x * 2 + y

    x, y = jnp.arange(6.0).reshape(2, 3), jnp.ones((2, 3))
    result = fast(python_calls, lambda: scaled(x, y))
    np.testing.assert_array_equal(result, np.asarray(2 * x + y))
    short = jnp.arange(6, dtype=jnp.bfloat16)
    result = fast(python_calls, lambda: scaled(short, short))
    np.testing.assert_array_equal(result.astype(np.float32), np.arange(6, dtype=np.float32) * 3)


def test_arrays_of_jax_that_are_gone_or_traced(python_calls):
    jax = need_package("jax")
    axpy, (o, x, y) = make_axpy(), vectors()
    fast(python_calls, lambda: axpy(o, jax.numpy.asarray(x), y, ndrange=7))
    gone = jax.numpy.asarray(x)
    gone.delete()
    with pytest.raises(KernelTypeError, match="`x` is a JAX array that was deleted"):
        slow(python_calls, lambda: axpy(o, gone, y, ndrange=7))

    def inside(t):
        axpy(o, t, y, ndrange=7)
        return t

    for transform in (jax.jit, jax.vmap, lambda f: jax.grad(lambda t: f(t).sum())):
        with pytest.raises(KernelTypeError, match="`x` is traced by JAX"):
            slow(python_calls, lambda t=transform: t(inside)(jax.numpy.ones(7)))


# -- array programs --------------------------------------------------------------------------------


@pytest.mark.parametrize("of", [memoryview, Interface, Exporter, lambda v: array.array("f", v)])
def test_programs_read_and_write_them(python_calls, of):
    @pk.jit
    def update(y, x):
        y[:] = y + x
        return x * 3

    _, x, _ = vectors()
    o = of(np.zeros(7, np.float32))
    result = fast(python_calls, lambda: update(o, of(x)))
    np.testing.assert_array_equal(result, 3 * x)
    held = o.array if hasattr(o, "array") else np.asarray(o)
    np.testing.assert_array_equal(held, 5 * x)


def test_results_go_into_arrays_of_pykern():
    @pk.jit
    def both(x, y):
        return x + y, x - y

    _, x, y = vectors()
    first, second = pk.empty(7, np.float32, device="cpu"), np.zeros(7, np.float32)
    for _ in range(4):
        first.numpy()[:] = 0
        result = both(x, y, out=(first, second))
        assert result[0] is first and result[1] is second
        np.testing.assert_array_equal(first.numpy(), x + y)
        np.testing.assert_array_equal(second, x - y)


def test_results_go_into_them(python_calls):
    @pk.jit
    def both(x, y):
        return x + y, x - y

    _, x, y = vectors()
    first, second = array.array("f", [0] * 7), (ctypes.c_float * 7)()
    result = fast(python_calls, lambda: both(x, memoryview(y), out=(first, second)))
    assert result[0] is first and result[1] is second
    np.testing.assert_array_equal(np.asarray(first), x + y)
    np.testing.assert_array_equal(np.asarray(second), x - y)
    with pytest.raises(LaunchError, match="`out` has a read-only array for result 1"):
        slow(python_calls, lambda: both(x, y, out=(first, memoryview(bytes(28)).cast("f"))))
    with pytest.raises(LaunchError, match="result 0 is float32"):
        slow(python_calls, lambda: both(x, y, out=(array.array("d", [0] * 7), second)))
    first.append(0)  # nobody has a buffer of it
