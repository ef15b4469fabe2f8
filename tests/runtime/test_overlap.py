"""Arguments of launches on the CPU that share memory: the same answer however the kernel was called before."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk


def kernel():
    @pk.kernel
    def f(x, y):
        i = pk.index()
        x[i] = y[i] + 1

    return f


SAME = {
    "dense": lambda a: (a[:40], a[:40]),
    "strided": lambda a: (a[::2][:40], a[::2][:40]),
    "reversed": lambda a: (a[::-2][:40], a[::-2][:40]),
}
PARTLY = {
    "shifted": lambda a: (a[1:41], a[:40]),
    "strides that meet": lambda a: (a[2:82:2], a[:80:2]),
    "turned around": lambda a: (a[:40], a[:40][::-1]),
}


@pytest.mark.parametrize("before", SAME)
@pytest.mark.parametrize("form", PARTLY)
def test_overlap_in_part_is_refused_after_launches_on_one_view(before, form):
    f, a = kernel(), np.arange(100.0)
    for _ in range(3):
        x, y = SAME[before](a)
        expected = y + 1
        f(x, y, ndrange=40)
        np.testing.assert_array_equal(x, expected)
    kept = a.copy()
    with pytest.raises(pk.LaunchError, match="overlap in part"):
        f(*PARTLY[form](a), ndrange=40)
    np.testing.assert_array_equal(a, kept)


def test_views_between_each_other_are_no_overlap():
    f, a = kernel(), np.arange(100.0)
    for _ in range(2):
        f(a[::2], a[::2], ndrange=50)
        expected = a[1::2] + 1
        f(a[::2], a[1::2], ndrange=50)
        np.testing.assert_array_equal(a[::2], expected)
