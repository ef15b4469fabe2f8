"""What kernels tell on every device: prints, asserts, and `debug=True`'s checks of bounds."""

from __future__ import annotations

import signal
import sys

import numpy as np
import pytest

import pykern as pk
from tests.cases.narrow import narrowed, tolerance


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
    x = narrowed(np.arange(1.0, 300.0), device)
    positive(x, ndrange=x.size, device=device).wait()
    np.testing.assert_allclose(x, np.sqrt(np.arange(1.0, 300.0)), rtol=tolerance(device, 1e-15, 1e-7))
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


class Interrupted:
    """A stream on whose second write somebody presses Ctrl-C."""

    def __init__(self) -> None:
        self.written: list[str] = []

    def write(self, text: str) -> int:
        self.written.append(text)
        if len(self.written) == 2:
            signal.raise_signal(signal.SIGINT)
        return len(text)

    def flush(self) -> None: ...


class Full:
    """A stream on a disk that is full."""

    def write(self, text: str) -> int:
        raise OSError(28, "no space left")

    def flush(self) -> None: ...


@pk.kernel
def tell_all(x):
    print(x[pk.index()])


def test_what_printing_raises_is_raised(device, monkeypatch):
    x = np.arange(50)
    for stream, error in ((Interrupted(), KeyboardInterrupt), (Full(), OSError)):
        with monkeypatch.context() as patched:
            patched.setattr(sys, "stdout", stream)
            with pytest.raises(error):
                tell_all(x, ndrange=50, device=device).wait()
        if isinstance(stream, Interrupted):
            assert len(stream.written) == 2


def test_a_launch_ends_where_printing_raises(monkeypatch):
    """Not all of its chunks run: a chunk of a kernel with a `while` is a few hundred work-items."""

    @pk.kernel
    def slowly(x):
        i = pk.index()
        n = 0
        while n < 2000:
            n += 1 + int(x[i])
        if i % 1000 == 0:
            print(i)
        x[i] = n

    x = np.zeros(200_000)
    monkeypatch.setattr(sys, "stdout", Full())
    with pytest.raises(OSError, match="no space"):
        slowly(x, ndrange=len(x))
    assert (x == 0).any()


@pk.jit
def with_prints(x):
    y = pk.zeros_like(x)
    y[:] = x
    tell_all(y, ndrange=50)
    return y


def test_programs_raise_it_too(monkeypatch):
    stream = Interrupted()
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", stream)
        with pytest.raises(KeyboardInterrupt):
            with_prints(np.arange(50))
    assert len(stream.written) == 2
