"""``ndrange=x.shape`` of an array of one dimension: a tuple of one goes the short way too."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from pykern.api.kernel import KernelBase


@pk.kernel
def double(z, x):
    i = pk.index()
    z[i] = 2.0 * x[i]


@pytest.mark.parametrize("ndrange", [7, (7,)], ids=str)
def test_a_second_launch_needs_no_python(ndrange, monkeypatch):
    x = np.arange(1, 11, dtype=np.float32)
    double(np.zeros_like(x), x, ndrange=7)

    def refused(*args):
        raise AssertionError("the launch went through Python")

    monkeypatch.setattr(KernelBase, "_launch", refused)
    z = np.zeros_like(x)
    double(z, x, ndrange=ndrange)
    np.testing.assert_array_equal(z, [*2 * x[:7], 0, 0, 0])


@pytest.mark.parametrize(
    "ndrange",
    [
        (),
        (7, 1),
        ("7",),
        (-7,),
        (7.0,),
        (True,),
        1 << 63,
        (1 << 70,),
        range(1 << 64),
        range(1 << 64, 1 << 65, 1 << 64),
    ],
    ids=str,
)
def test_other_tuples_are_refused_as_before(ndrange):
    x = np.ones(10, np.float32)
    double(np.zeros_like(x), x, ndrange=(7,))
    with pytest.raises(pk.KernelError):
        double(np.zeros_like(x), x, ndrange=ndrange)


def test_a_workgroup_without_sizes_is_refused():
    x = np.ones(10, np.float32)
    with pytest.raises(pk.LaunchError, match=r"workgroup=\(\)"):
        double(np.zeros_like(x), x, ndrange=7, workgroup=())


@pytest.mark.parametrize(
    ("kind", "number"),
    [
        ("i32", 1 << 31),
        ("i8", 128),
        ("u8", -1),
        ("u8", np.int64(300)),
        ("i64", float("nan")),
        ("i32", np.float32("nan")),
        ("i32", 2.5),
        ("i64", np.float32(-0.5)),
        ("i32", float("inf")),
        ("f32", 10**400),
    ],
)
def test_a_number_that_does_not_fit_its_annotation_is_refused(kind, number):
    def fill(x, a):
        x[pk.index()] = a

    fill.__annotations__["a"] = getattr(pk, kind)
    with pytest.raises(pk.LaunchError, match="does not fit its annotation"):
        pk.kernel(fill)(np.zeros(3), number, ndrange=3)


@pytest.mark.parametrize("device", ["cpu", "python"])
def test_whole_numbers_are_integers_whatever_their_type(device):
    @pk.kernel
    def fill(x, n: int, m: pk.u8):
        x[pk.index()] = n * 1000.0 + m

    x = np.zeros(3)
    for n, m in ((2, 3), (2.0, np.int64(3)), (np.float32(2), np.uint64(3)), (np.int8(2), 3.0)):
        fill(x, n, m, ndrange=3, device=device)
        assert (x == 2003).all()
        x[:] = 0
    for n, m in ((2.5, 3), (2, 3.25), (2, np.int64(259))):
        with pytest.raises(pk.LaunchError, match="does not fit its annotation"):
            fill(x, n, m, ndrange=3, device=device)
    assert not x.any()


def test_a_float_beyond_the_largest_of_its_annotation_is_infinite(recwarn):
    @pk.kernel
    def fill(x, a: pk.f32):
        x[pk.index()] = a

    for number in (1e300, np.float64(1e300)):
        x = np.zeros(3)
        fill(x, number, ndrange=3)
        np.testing.assert_array_equal(x, np.full(3, np.inf))
    assert not recwarn.list
