"""``ndrange=x.shape`` of an array of one dimension: a tuple of one goes the short way too."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from pykern.kernel import KernelBase


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


@pytest.mark.parametrize("ndrange", [(), (7, 1), ("7",), (-7,), (7.0,), (True,)], ids=str)
def test_other_tuples_are_refused_as_before(ndrange):
    x = np.ones(10, np.float32)
    double(np.zeros_like(x), x, ndrange=(7,))
    with pytest.raises(pk.KernelError):
        double(np.zeros_like(x), x, ndrange=ndrange)
