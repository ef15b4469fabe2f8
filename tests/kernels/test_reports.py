"""What kernels tell on every device: prints, asserts, and `debug=True`'s checks of bounds."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk


@pk.kernel
def tell(x):
    i = pk.index()
    if i == 2:
        print("element", i, x[i])


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (np.int8(-3), "-3"),
        (np.uint64(2**64 - 3), "18446744073709551613"),
        (np.float32(-3), "-3.0"),
        (np.True_, "True"),
    ],
)
def test_prints(value, shown, device, capfd):
    x = np.zeros(5, value.dtype)
    x[2] = value
    tell(x, ndrange=5, device=device).wait()
    assert capfd.readouterr().out == f"element 2 {shown}\n"


@pk.kernel
def positive(x):
    i = pk.index()
    assert x[i] > 0, "not positive"
    x[i] = pk.sqrt(x[i])


def test_asserts(device):
    x = np.arange(1.0, 300.0)
    positive(x, ndrange=x.size, device=device).wait()
    np.testing.assert_allclose(x, np.sqrt(np.arange(1.0, 300.0)), rtol=1e-15)
    x[77] = -1
    with pytest.raises(pk.AssertionFailed, match="not positive") as caught:
        positive(x, ndrange=x.size, device=device).wait()
    assert caught.value.span.line == positive.__wrapped__.__code__.co_firstlineno + 3


@pk.kernel(debug=True)
def move(y, x, by):
    i = pk.index()
    y[i] = x[i + by]


@pytest.mark.parametrize("by", [1, -6])
def test_bounds_are_checked(by, device):
    x, y = np.arange(5.0), np.zeros(5)
    with pytest.raises(pk.OutOfBounds, match="is outside of `x`"):
        move(y, x, by, ndrange=5, device=device).wait()
    move(y, x, 1, ndrange=4, device=device).wait()
    np.testing.assert_array_equal(y[:4], x[1:])


@pk.kernel
def braces(x):
    print("{}", x[pk.index()], sep="{0}", end="}\n")


def test_braces_around_values_are_text(device, capfd):
    braces(np.ones(1), ndrange=1, device=device).wait()
    assert capfd.readouterr().out == "{}{0}1.0}\n"
