"""What is most likely not meant is said once, and what is meant is left alone."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import pykern as pk
from pykern.errors import LaunchError, OutOfBounds
from pykern.launching import warned
from tests.cases.emulated import EMULATED

N = 16
DEVICES = pytest.mark.parametrize(
    "device", ["cpu", "python", "opencl:0", "vulkan:0", "webgpu:0", *EMULATED], indirect=True
)
HOST = ("cpu", "python")


@pytest.fixture(autouse=True)
def nothing_was_said(monkeypatch):
    monkeypatch.setattr(warned, "_said", set())


def said(kernel, *arguments, **keywords) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        kernel(*arguments, **keywords)
    assert all(issubclass(w.category, RuntimeWarning) and w.filename == __file__ for w in caught)
    return [str(w.message) for w in caught]


def arrays(device):
    made = np.zeros(N, np.float32), np.ones(N, np.float32)
    return made if device in HOST else tuple(pk.array(a, device=device) for a in made)


@DEVICES
def test_work_items_that_all_do_the_same(device):
    @pk.kernel
    def alike(y, x):
        for k in range(y.shape[0]):
            y[k] = 2 * x[k]

    y, x = arrays(device)
    where = {"device": device} if device in HOST else {}
    for _ in range(4):  # one work-item is meant, also by compiled entries
        assert not said(alike, y, x, ndrange=1, **where)
    (text,) = said(alike, y, x, ndrange=N, **where)
    assert "every work-item of `alike` does the same" in text and "pk.index()" in text
    assert not said(alike, y, x, ndrange=N, **where), "once"


@DEVICES
@pytest.mark.parametrize(("checks", "of_program"), [(True, False), (False, True), (False, False)])
def test_launches_of_programs(device, checks, of_program):
    @pk.kernel(debug=checks)
    def alike(y, x):
        for k in range(y.shape[0]):
            y[k] = 2 * x[k]

    all_to_one = pk.kernel(accumulate, debug=checks)

    @pk.jit(debug=of_program)
    def program(x):
        y, z = pk.zeros_like(x), pk.zeros_like(x)
        for _ in pk.range(3):
            alike(y, x, ndrange=len(x))
            alike(y, x, ndrange=1)
            all_to_one(z, x, ndrange=len(x))
        return y + z

    x = np.ones(N, np.float32)
    found = said(program, x, device=device)
    assert len(found) == 1 + (checks or of_program)
    assert sum("every work-item of `alike`" in text for text in found) == 1
    assert sum("write one element of `y`" in text for text in found) == (checks or of_program)
    assert not said(program, x[: N // 2].copy(), device=device), "once"
    assert not said(program, x[:1].copy(), device=device)


def test_who_asks_is_not_meant():
    @pk.kernel
    def count(y):
        pk.atomic_add(y, 0, 1.0)

    @pk.kernel
    def groups(y):
        y[pk.group_index()] = 1.0

    @pk.kernel
    def prints(y):
        print(y[0])

    for kernel in (count, groups, prints):
        for device in HOST:
            assert not said(kernel, np.zeros(N), ndrange=N, device=device)


def accumulate(y, x):
    i = pk.index()
    y[0] += x[i]


def last_one(y, x):
    i = pk.index()
    for _ in range(3):
        y[x.shape[0] // 2] = x[i]


def in_shared(y, x):
    i = pk.index()
    s = pk.shared(2, pk.f32)
    s[1] = x[i]
    pk.barrier()
    y[i] = s[1]


def in_function(y, x):
    add_to(y, x[pk.index()])


@pk.func
def add_to(y, value):
    y[1] += value


@pytest.mark.parametrize("device", HOST)
@pytest.mark.parametrize("function", [accumulate, last_one, in_shared, in_function])
def test_all_write_one_element(function, device):
    y, x = np.zeros(N, np.float32), np.ones(N, np.float32)
    found = said(pk.kernel(function, debug=True), y, x, ndrange=N, device=device)
    assert len(found) == 1 and "one element" in found[0] and "pk.atomic_add" in found[0]
    warned._said.clear()
    assert not said(pk.kernel(function), y, x, ndrange=N, device=device)


def own(y, x):
    i = pk.index()
    y[i] += x[i]


def first_only(y, x):
    i = pk.index()
    if i == 0:
        y[0] += x[i]


def atomically(y, x):
    pk.atomic_add(y, 0, x[pk.index()])


def the_same(y, x):
    if pk.index() >= 0:
        y[0] = 1.0
    y[1] = 3.0


def found(y, x):
    i = pk.index()
    if x[i] > 5:
        y[0] = i


def private(y, x):
    i = pk.index()
    p = pk.private(2, pk.f32)
    p[0] = x[i]
    y[i] = p[0]


@pytest.mark.parametrize("device", HOST)
@pytest.mark.parametrize("function", [own, first_only, atomically, the_same, found, private])
def test_not_all_do(function, device):
    checked = pk.kernel(function, debug=True)
    assert not said(checked, np.zeros(N), np.ones(N, np.float32), ndrange=N, device=device)


def shares(y):
    s = pk.shared(8, pk.f64)
    s[pk.local_index() % 8] = 1.0
    pk.barrier()
    y[pk.index()] = s[0]


@pytest.mark.parametrize("device", ["cpu", "python"])
def test_groups_that_no_device_has(device):
    y = np.zeros(N)
    for size in (1025, 10**7):
        with pytest.raises(LaunchError, match=f"a group of {size} work-items") as caught:
            pk.kernel(shares)(y, ndrange=N, workgroup=size, device=device)
        assert caught.value.code == "PK023"
    pk.kernel(shares)(y, ndrange=N, workgroup=N, device=device)
    assert (y == 1).all()


def test_groups_that_nobody_asks_for_are_a_remark():
    @pk.kernel
    def k(y):
        y[pk.index()] = 1.0

    y = np.zeros(N)
    lowered = k.lower(y, ndrange=N, workgroup=10**7)
    assert any("10000000 work-items" in remark.text for remark in lowered.artifact.remarks)
    k(y, ndrange=N, workgroup=10**7)
    assert (y == 1).all()


@DEVICES
def test_too_little_memory_sized_at_launch(device):
    @pk.kernel
    def sized(y, x):
        s = pk.shared(None, pk.f32)
        i, k = pk.index(), pk.local_index()
        s[k] = x[i]
        pk.barrier()
        y[i] = s[k]

    y, x = arrays(device)
    sized(y, x, ndrange=N, workgroup=8, shared_bytes=32)
    for few in (0, 4, 31):
        with pytest.raises(OutOfBounds, match=r"pk\.shared memory"):
            sized(y, x, ndrange=N, workgroup=8, shared_bytes=few)


def overwritten(y, x):
    i = pk.index()
    y = x[i] * 2  # noqa: F841


def overwritten_2d(y, x):
    i, j = pk.index()
    y = x[i, j]  # noqa: F841


def compared(y, x):
    i = pk.index()
    y[i] == x[i] * 2  # noqa: B015


def added(y, x):
    i = pk.index()
    x[i] + 1


@pk.func
def without_return(v):
    v / 2


def in_a_function(y, x):
    i = pk.index()
    without_return(x[i])
    y[i] = 1.0


@pytest.mark.parametrize(
    ("function", "rank", "text"),
    [
        (overwritten, 1, "`y` names another value from here on, which nothing reads"),
        (overwritten_2d, 2, "write y[i, j] = ..."),
        (compared, 1, "`y[i] == x[i] * 2` is computed, and kept nowhere: write y[i] = ..."),
        (added, 1, "`x[i] + 1` is computed, and kept nowhere"),
        (in_a_function, 1, "`v / 2` is computed, and kept nowhere"),
    ],
)
def test_values_that_nothing_keeps(function, rank, text):
    arrays = [np.zeros((4,) * rank, np.float32) for _ in range(2)]
    (found,) = said(pk.kernel(function), *arrays, ndrange=arrays[0].shape)
    assert text in found


def read_later(y, x):
    i = pk.index()
    z = y
    y = x[i] * 2
    z[i] = y


def a_number(y, n):
    i = pk.index()
    n = n + 1
    y[i] = n


def called(y, x):
    """A docstring, and calls, do what they do."""
    pk.atomic_add(y, pk.index(), x[0])
    pk.barrier()


@pytest.mark.parametrize(
    ("function", "second"), [(read_later, np.ones(N)), (a_number, 2), (called, np.ones(N))]
)
def test_values_that_are_kept(function, second):
    assert not said(pk.kernel(function), np.zeros(N), second, ndrange=N)
