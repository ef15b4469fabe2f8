"""The reference device: real kernels against NumPy, who meets whom, errors at the user's line, no threads left."""

from __future__ import annotations

import bdb
import math
import threading
import time
import traceback
from typing import NamedTuple

import ml_dtypes
import numpy as np
import pytest

import pykern as pk

HERE = __file__


@pytest.fixture(autouse=True)
def _no_thread_is_left():
    before = threading.active_count()
    yield
    assert threading.active_count() == before


def launch(kernel, *args, **keywords):
    kernel(*args, device="python", **keywords)


@pk.kernel
def saxpy(y, x, a):
    i = pk.index()
    y[i] = a * x[i] + y[i]


@pytest.mark.parametrize(
    "dtype", [np.float16, np.float32, np.float64, np.int32, np.uint8, ml_dtypes.bfloat16]
)
@pytest.mark.parametrize("n", [0, 1, 7, 64, 101])
def test_saxpy_in_the_type_of_the_arrays(dtype, n, rng):
    x, y = (rng.integers(0, 9, n).astype(dtype) for _ in range(2))
    expected = np.asarray(3, dtype) * x + y
    launch(saxpy, y, x, 3, ndrange=n)
    assert y.dtype == dtype
    np.testing.assert_array_equal(y, expected)


@pk.kernel
def heat(t2, t, c, dt):
    i, j = pk.index()
    if 0 < i < t.shape[0] - 1 and 0 < j < t.shape[1] - 1:
        t2[i, j] = t[i, j] + dt * c[i, j] * (
            t[i + 1, j] + t[i - 1, j] + t[i, j + 1] + t[i, j - 1] - 4 * t[i, j]
        )


@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (5, 13), (17, 9)])
def test_heat(shape, rng):
    t, c = rng.random((2, *shape))
    t2 = t.copy()
    launch(heat, t2, t, c, 0.1, ndrange=shape, workgroup=(4, 3))
    expected = t.copy()
    inner = t[2:, 1:-1] + t[:-2, 1:-1] + t[1:-1, 2:] + t[1:-1, :-2] - 4 * t[1:-1, 1:-1]
    expected[1:-1, 1:-1] += 0.1 * c[1:-1, 1:-1] * inner
    np.testing.assert_allclose(t2, expected, rtol=1e-14)


@pk.kernel
def reverse(x):
    buffer = pk.shared(8, pk.i64)
    k, i = pk.local_index(), pk.index()
    buffer[k] = x[i]
    pk.barrier()
    x[i] = buffer[pk.group_size() - 1 - k]


def test_reverse_in_groups():
    x = np.arange(32)
    launch(reverse, x, ndrange=32, workgroup=8)
    np.testing.assert_array_equal(x, np.arange(32).reshape(4, 8)[:, ::-1].ravel())


@pk.kernel
def doubling_scan(x):
    buffer = pk.shared(64, pk.f32)
    k = pk.local_index()
    buffer[k] = x[pk.index()]
    pk.barrier()
    step = 1
    while step < pk.group_size():
        value = buffer[k]
        if k >= step:
            value = value + buffer[k - step]
        pk.barrier()
        buffer[k] = value
        pk.barrier()
        step = step * 2
    x[pk.index()] = buffer[k]


@pytest.mark.parametrize("n", [64, 128, 100])
def test_barrier_in_a_loop_and_a_partial_last_group(n, rng):
    x = rng.integers(0, 50, n).astype(np.float32)
    expected = np.concatenate([np.cumsum(x[s : s + 64]) for s in range(0, n, 64)])
    launch(doubling_scan, x, ndrange=n, workgroup=64)
    np.testing.assert_array_equal(x, expected)


@pk.kernel
def leave_early(y, n):
    shared = pk.shared(16, pk.i32)
    k = pk.local_index()
    shared[k] = 7
    if pk.index() >= n:
        return
    shared[k] = k
    pk.barrier()
    y[pk.index()] = shared[(k + 1) % 16]


def test_who_has_returned_counts_as_having_come():
    y = np.full(16, -1)
    launch(leave_early, y, 5, ndrange=16, workgroup=16)
    np.testing.assert_array_equal(y, [1, 2, 3, 4, 7] + [-1] * 11)


@pk.kernel
def histogram(counts, x, old):
    i = pk.index()
    old[i] = pk.atomic_add(counts, x[i], 1)


def test_histogram(rng):
    x = rng.integers(0, 5, 200)
    counts, old = np.zeros(5, np.uint16), np.zeros(200, np.int64)
    launch(histogram, counts, x, old, ndrange=200)
    np.testing.assert_array_equal(counts, np.bincount(x, minlength=5))
    for bin_ in range(5):
        np.testing.assert_array_equal(np.sort(old[x == bin_]), np.arange(counts[bin_]))


@pk.kernel
def atomics(x, old):
    old[0] = pk.atomic_sub(x, 0, 3)
    old[1] = pk.atomic_min(x, 1, -7)
    old[2] = pk.atomic_max(x, 2, 99)
    old[3] = pk.atomic_and_(x, 3, 6)
    old[4] = pk.atomic_or_(x, 4, 8)
    old[5] = pk.atomic_xor(x, 5, 1)
    old[6] = pk.atomic_exchange(x, 6, pk.i8(300))
    old[7] = pk.atomic_compare_exchange(x, 7, 5, 1)
    old[8] = pk.atomic_compare_exchange(x, 8, 6, 1)


def test_atomics_give_the_old_value_and_wrap():
    x, old = np.full(9, 5, np.int8), np.zeros(9, np.int8)
    launch(atomics, x, old, ndrange=1)
    np.testing.assert_array_equal(x, [2, -7, 99, 4, 13, 4, 44, 1, 5])
    np.testing.assert_array_equal(old, 5)


@pk.kernel
def lanes(out, x):
    i = pk.index()
    out[0, i] = pk.subgroup_reduce(x[i], "add")
    out[1, i] = pk.subgroup_scan(x[i], "max")
    out[2, i] = pk.subgroup_scan(x[i], "add", exclusive=True)
    out[3, i] = pk.subgroup_shuffle(x[i], pk.lane_index() ^ 1)
    out[4, i] = pk.subgroup_broadcast(x[i], 2)
    out[5, i] = pk.group_reduce(x[i], "min")
    out[6, i] = pk.subgroup_index()
    out[7, i] = pk.subgroup_size()


def test_subgroups_and_groups(rng):
    x = rng.integers(-99, 99, 128).astype(np.int32)
    out = np.zeros((8, 128), np.int32)
    launch(lanes, out, x, ndrange=128, workgroup=64)
    rows = x.reshape(4, 32)
    sums = np.cumsum(rows, axis=1)
    np.testing.assert_array_equal(out[0].reshape(4, 32), np.repeat(rows.sum(1), 32).reshape(4, 32))
    np.testing.assert_array_equal(out[1], np.maximum.accumulate(rows, axis=1).ravel())
    np.testing.assert_array_equal(out[2], (sums - rows).ravel())
    np.testing.assert_array_equal(out[3], x.reshape(-1, 2)[:, ::-1].ravel())
    np.testing.assert_array_equal(out[4], np.repeat(rows[:, 2], 32))
    np.testing.assert_array_equal(out[5], np.repeat(x.reshape(2, 64).min(1), 64))
    np.testing.assert_array_equal(out[6], np.tile([0] * 32 + [1] * 32, 2))
    np.testing.assert_array_equal(out[7], 32)


@pk.kernel
def one_subgroup_alone(y, x):
    if pk.subgroup_index() == 0:
        y[pk.index()] = pk.subgroup_reduce(x[pk.index()])
    pk.barrier()


def test_a_whole_subgroup_meets_while_others_wait_at_a_barrier():
    y = np.zeros(64)
    launch(one_subgroup_alone, y, np.ones(64), ndrange=64, workgroup=64)
    np.testing.assert_array_equal(y, [32.0] * 32 + [0.0] * 32)


@pk.kernel
def half_a_subgroup(x):
    if pk.lane_index() < 5:
        x[pk.index()] = pk.subgroup_reduce(x[pk.index()])  # half
    pk.barrier()


@pk.kernel
def half_a_group(x):
    if pk.index() < 5:
        x[pk.index()] = pk.group_reduce(x[pk.index()])  # half
    else:
        pk.barrier()


@pytest.mark.parametrize("kernel", [half_a_subgroup, half_a_group])
def test_a_collective_that_not_all_reach_is_refused_at_its_line(kernel):
    with pytest.raises(pk.KernelError, match=r"different places: pk\.barrier and pk") as caught:
        launch(kernel, np.ones(64), ndrange=64)
    assert last_line(caught.value).endswith("# half")


def last_line(error: BaseException) -> str:
    """The source of the innermost frame; it has to be in this file."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    assert frame.filename == HERE
    return frame.line or ""


@pk.func
def meeting(x):
    pk.barrier()
    return x


@pk.kernel
def raises_among_many(x):
    i = pk.index()
    meeting(i)
    if i == 20:
        raise RuntimeError("this one")
    meeting(i)
    x[i] = 1


def test_an_error_of_one_work_item_ends_the_group():
    x = np.zeros(64)
    with pytest.raises(RuntimeError, match="this one") as caught:
        launch(raises_among_many, x, ndrange=64)
    assert last_line(caught.value) == 'raise RuntimeError("this one")'
    np.testing.assert_array_equal(x, 0)


@pk.kernel
def past_the_end(y, x):
    i = pk.index()
    y[i] = x[i + 1]  # outside


@pk.kernel
def before_the_start(y, x):
    i = pk.index()
    y[i] = x[i - 1]  # outside


@pk.kernel
def before_the_start_atomic(y, x):
    pk.atomic_add(x, pk.index() - 1, y[0])  # outside


@pytest.mark.parametrize(
    ("kernel", "index"), [(past_the_end, 4), (before_the_start, -1), (before_the_start_atomic, -1)]
)
def test_outside_of_an_array(kernel, index):
    with pytest.raises(pk.OutOfBounds, match=rf"index {index} is outside of `x`, whose shape is 4") as caught:
        launch(kernel, np.zeros(4), np.zeros(4), ndrange=4)
    assert last_line(caught.value).endswith("# outside")
    assert caught.value.span is not None and caught.value.span.function == kernel.__name__


@pk.kernel
def last_ones(y, x):
    y[-1] = (
        x[-1, -2]
        + x[
            -3,
            0,
        ]
    )
    y[-2] += 5
    pk.atomic_add(y, -3, 2)


def test_a_negative_constant_counts_from_the_end():
    x, y = np.arange(12.0).reshape(3, 4), np.zeros(3)
    launch(last_ones, y, x, ndrange=1)
    np.testing.assert_array_equal(y, [2, 5, 10])


@pk.kernel
def stores(i8, u8, b, f16, x, k):
    i = pk.index()
    i8[i] = x[i]
    u8[i] = k[i]
    b[i] = x[i]
    f16[i] = x[i]


def test_stores_truncate_saturate_and_wrap():
    x = np.array([1.9, -1.9, 1e9, -math.inf, math.nan, 0.0])
    k = np.array([300, -1, 2**40 + 7, 0, 255, 256])
    i8, u8, b = np.zeros(6, np.int8), np.zeros(6, np.uint8), np.zeros(6, bool)
    f16 = np.zeros(6, np.float16)
    launch(stores, i8, u8, b, f16, x, k, ndrange=6)
    np.testing.assert_array_equal(i8, [1, -1, 127, -128, 0, 0])
    np.testing.assert_array_equal(u8, [44, 255, 7, 0, 255, 0])
    np.testing.assert_array_equal(b, [True, True, True, True, True, False])
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(f16, x.astype(np.float16))


@pk.kernel
def coordinates(out):
    i, j = pk.index()
    k, m = pk.local_index()
    g, h = pk.group_index()
    n = (i - 3) // 2
    out[n, j, 0] = k * 100 + m
    out[n, j, 1] = g * 100 + h
    out[n, j, 2] = pk.ndrange(0) * 100 + pk.ndrange(1)
    out[n, j, 3] = pk.num_groups(0) * 100 + pk.num_groups(1)


def test_coordinates_of_an_offset_strided_ndrange():
    out = np.zeros((5, 4, 4), int)
    launch(coordinates, out, ndrange=(range(3, 13, 2), 4), workgroup=(2, 3))
    for n in range(5):
        for j in range(4):
            expected = [n % 2 * 100 + j % 3, n // 2 * 100 + j // 3, 504, 302]
            np.testing.assert_array_equal(out[n, j], expected)


class Pair(NamedTuple):
    x: np.ndarray
    a: float


@pk.kernel
def of_a_pair(y, p, *, shift=2):
    y[pk.index()] = p.x[pk.index()] * p.a + shift


def test_structs_of_arrays_and_keyword_parameters():
    y = np.zeros(3)
    launch(of_a_pair, y, Pair(np.arange(3.0), 4.0), shift=1, ndrange=3)
    np.testing.assert_array_equal(y, [1, 5, 9])
    with pytest.raises(pk.OutOfBounds, match=r"`p\.x`"):
        launch(of_a_pair, np.zeros(5), Pair(np.arange(3.0), 4.0), ndrange=5)


@pk.kernel
def annotated(y: pk.Out[pk.f64[:]], a: pk.f32):
    y[pk.index()] = a * 0.1


def test_an_annotated_scalar_has_that_type():
    y = np.zeros(1)
    launch(annotated, y, 0.3, ndrange=1)
    assert y[0] == np.float32(0.3) * np.float32(0.1)


@pk.kernel
def writes_an_input(x: pk.In[pk.f32[:]]):
    x[pk.index()] = 1


@pk.kernel
def writes(x):
    x[pk.index()] = 1


def test_what_may_not_be_written():
    with pytest.raises(pk.KernelTypeError, match=r"annotated pk\.In"):
        launch(writes_an_input, np.zeros(1, np.float32), ndrange=1)
    x = np.zeros(2)
    x.flags.writeable = False
    with pytest.raises(pk.LaunchError, match="read-only"):
        launch(writes, x, ndrange=2)


@pk.kernel
def asserts(x):
    assert x[pk.index()] < 3, "too big"


def test_assert():
    with pytest.raises(pk.AssertionFailed, match="too big") as caught:
        launch(asserts, np.arange(5), ndrange=5)
    assert last_line(caught.value).startswith("assert")


@pk.kernel
def says(x):
    i = pk.index()
    pk.print("x", x[i], (i, x[i]), x[i] > 1, sep="|", end=";\n")


@pytest.mark.parametrize("device", ["python", "cpu"])
def test_print_is_the_same_on_every_device(device, capsys):
    says(np.array([0.1, 1e20, math.inf], np.float32), ndrange=3, device=device)
    lines = sorted(capsys.readouterr().out.splitlines())
    assert lines == sorted(["x|0.1|(0, 0.1)|False;", "x|1e+20|(1, 1e+20)|True;", "x|inf|(2, inf)|True;"])


@pk.kernel(debug=True)
def reads_nothing_written(y, z):
    y[pk.index()] = pk.private(1, pk.f32)[0]
    z[pk.index()] = pk.shared(2, pk.i32)[1]


def test_debug_fills_memory_with_nonsense():
    y, z = np.zeros(1), np.zeros(1, np.int64)
    launch(reads_nothing_written, y, z, ndrange=1)
    assert math.isnan(y[0]) and z[0] == np.int32(-0x5A5A5A5B)


@pk.kernel
def stops(x):
    i = pk.index()
    breakpoint()  # noqa: T100 - this is what is tested
    x[i] = i


def test_breakpoints_stop_in_the_users_frame(monkeypatch):
    seen = []

    def hook():
        import sys

        frame = sys._getframe(1)
        seen.append((frame.f_code.co_filename, frame.f_locals["i"], threading.current_thread()))
        if frame.f_locals["i"] == 2:
            raise bdb.BdbQuit

    monkeypatch.setattr("sys.breakpointhook", hook)
    with pytest.raises(bdb.BdbQuit):
        launch(stops, np.zeros(4), ndrange=4)
    assert seen == [(HERE, i, threading.main_thread()) for i in range(3)]


def test_a_large_group_in_reasonable_time():
    x = np.ones(1024, np.float32)
    start = time.process_time()  # others may have the processors meanwhile
    launch(big_group, x, ndrange=1024, workgroup=1024)
    assert time.process_time() - start < 5  # about 0.2 s
    np.testing.assert_array_equal(x, 1024)


@pk.kernel
def big_group(x):
    pk.barrier()
    x[pk.index()] = pk.group_reduce(x[pk.index()])


def test_more_work_items_than_memory_has_room_for():
    """They run one after the other, until the time is over."""
    for endless, ndrange in ((on_a_line, 2**40), (in_a_box, (2**20, 2**20, 3))):
        with pytest.raises(pk.errors.TimedOut):
            launch(endless, np.zeros(1), ndrange=ndrange)


@pk.kernel(timeout=0.2)
def on_a_line(x):
    i = pk.index()
    x[0] = i


@pk.kernel(timeout=0.2)
def in_a_box(x):
    i, _, _ = pk.index()
    x[0] = i


def test_the_interrupt_of_a_user_leaves_no_thread(monkeypatch):
    from pykern.runtime import reference_group

    monkeypatch.setattr(
        reference_group.Group, "_released", lambda self: (_ for _ in ()).throw(KeyboardInterrupt)
    )
    with pytest.raises(KeyboardInterrupt):
        launch(big_group, np.ones(64), ndrange=64, workgroup=64)


def test_no_more_threads(monkeypatch):
    """A group that meets takes a thread a work-item; those that were started end."""
    before, start = threading.active_count(), threading.Thread.start

    @pk.kernel
    def meeting(x):
        pk.barrier()
        x[pk.index()] = 1.0

    def refused(thread):
        if threading.active_count() >= before + 5:
            raise RuntimeError("can't start new thread")
        start(thread)

    x = np.zeros(16)
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refused)
        with pytest.raises(
            pk.LaunchError, match=r"each of the 16 work-items(.|\n)*after 5 the system(.|\n)*workgroup="
        ):
            launch(meeting, x, ndrange=16, workgroup=16)
    assert threading.active_count() == before
    launch(meeting, x, ndrange=16, workgroup=16)
    assert (x == 1).all()
