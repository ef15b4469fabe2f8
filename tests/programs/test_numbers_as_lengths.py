"""Numbers of a call that decide shapes: the program is compiled for their values, with no annotation."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk


def make(n, m=2):
    return np.full((2 * n, n + m), n)


def repeated(x, count):
    y = np.empty(x.shape[0] * (1 + count))
    y[: x.shape[0]] = x
    y[x.shape[0] :] = np.repeat(x, count)
    return y


def part(x, i, n):
    return x[i : i + n] * 2


def samples(low, high, count):
    return np.linspace(low, high, int(count)), np.arange(count) ** 2


def kept(x, axis, keep):
    return x.sum(axis=axis, keepdims=keep)


def halved(x):
    """The condition of a `while` is known, and so are the lengths that it decides."""
    n, found = len(x), x.copy()
    while n > 1:
        found[: n // 2], found[n // 2 : n] = found[0:n:2] + found[1:n:2], found[0:n:2] - found[1:n:2]
        n //= 2
        if n == 2:
            break
    return found


def last_of(x, rounds):
    """A name that a loop binds first has a value behind it if the loop runs at all."""
    for _ in range(rounds):
        y = x * 2
        x = y + 1
    return y, x


@pytest.mark.parametrize(
    ("function", "calls"),
    [
        (halved, [(np.arange(16.0),), (np.arange(2.0),), (np.arange(1.0),)]),
        (last_of, [(np.arange(3.0), 4), (np.arange(3.0), 1)]),
        (make, [(3,), (0,), (4, 5), (np.int32(2), np.int32(3))]),
        (repeated, [(np.arange(5.0), 2), (np.arange(5.0), 0), (np.arange(7.0), 3)]),
        (part, [(np.arange(9.0), 2, 3), (np.arange(9.0), 4, 3), (np.arange(9.0), 0, 9)]),
        (samples, [(0.0, 1.0, 5), (-2.0, 1.5, 3)]),
        (kept, [(np.ones((2, 3)), 0, True), (np.ones((2, 3)), 1, False)]),
    ],
)
def test_as_numpy(function, calls):
    program = pk.jit(function)
    for args in calls:
        found, wanted = program(*args), function(*args)
        for one, other in zip(
            *((r,) if isinstance(r, np.ndarray) else r for r in (found, wanted)), strict=True
        ):
            np.testing.assert_allclose(one, other, rtol=1e-15)
            assert one.dtype == other.dtype


def test_no_value_without_a_round():
    program = pk.jit(last_of)
    program(np.arange(3.0), 2)
    with pytest.raises(pk.KernelError, match="`y` is read before it gets a value"):
        program(np.arange(3.0), 0)


def test_only_what_decides_a_length_is_known():
    program = pk.jit(part)
    program(np.arange(9.0), 2, 3)
    assert list(program.annotations) == ["n"]


def test_gradients():
    program = pk.jit(lambda x, n: (x[:n] ** 2).sum())
    x = np.arange(5.0)
    for n in (2, 5):
        np.testing.assert_allclose(pk.grad(program)(x, n), np.where(np.arange(5) < n, 2 * x, 0))


def test_stages_of_values_and_of_types():
    program = pk.jit(make)
    with pytest.raises(pk.KernelTypeError, match="a shape is an integer known when compiling"):
        program.lower(pk.i32, pk.i32)
    assert "tensor<6x5x" in program.lower(3, 2).as_text("program")


def test_lengths_that_data_decide_are_refused_at_the_line():
    program = pk.jit(lambda x: np.zeros(int(x[0])))
    with pytest.raises(pk.KernelTypeError, match="a shape is an integer known when compiling"):
        program(np.ones(3))
    loops = pk.jit(lambda x, n: np.zeros(int(x[0]) + n))
    with pytest.raises(pk.KernelTypeError, match="a shape is an integer known when compiling"):
        loops(np.ones(3), 2)
