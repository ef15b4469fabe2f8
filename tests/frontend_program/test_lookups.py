"""``x[k]`` by arrays of integers, and slices whose bounds come at run time: against NumPy, and their gradients."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from tests.frontend_program.test_programs import close, compare
from tests.frontend_program.test_refusals import refused

KINDS = ["i8", "i4", "i8", "u2"]


def both_ways(function, *args, static=()):
    """The frontend alone and the whole compiler, each against NumPy."""
    compare(function, *args, static=static)
    close(pk.jit(function)(*args), function(*args))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(0,), (1,), (7,), (2, 3)])
def test_one_index_array(rng, kind, shape):
    def program(x, y, k):
        return x[k], y[k] * 2.0

    k = rng.integers(0, 9, shape).astype(kind)
    both_ways(program, rng.random(9), rng.random((9, 4)), k)


def test_index_arrays_beside_other_indices(rng):
    def program(x, k, m):
        a = x[k, 1:3], x[1, k], x[:, k], x[..., k], x[None, k, ::-1], x[::-2, k]
        b = x[k, m], x[k[:, None], m], x[k, :, None], x[-1, None, k], x[k, 1], x[:, :, None][1, :, k * 0]
        return a, b, x.T[k][m % 2]

    k, m = np.array([2, -1, 0]), np.array([1, 4, -5])
    both_ways(program, rng.random((5, 5)), k, m)


def test_axes_of_separated_index_arrays_come_first(rng):
    def program(x, k, n):
        return x[k, :, k], x[0, :, k], x[:, k, k], x[k, ..., 1], x[k, None, k], x[:, n, k], x[n, :, k]

    both_ways(program, rng.random((4, 5, 6)), np.array([3, 1]), 2)


def test_other_types_are_looked_up(rng):
    def program(flags, whole, small, k):
        return flags[k], whole[k] + 1, small[k]

    k = rng.integers(0, 5, 8)
    both_ways(program, rng.random(5) < 0.5, np.arange(5, dtype="i2"), rng.random(5).astype("f4"), k)


def test_looked_up_values_are_no_view(rng):
    def program(x, k):
        y = x[k]
        x[0] = 7.0
        y[1] = 3.0
        return y

    compare(program, rng.random(5), np.array([0, 1, 0]))


def test_an_index_outside_is_brought_to_the_edge(rng):
    def program(x, k):
        return x[k]

    x = rng.random(5)
    np.testing.assert_array_equal(pk.jit(program)(x, np.array([-9, -5, 5, 99])), x[[0, 0, 4, 4]])


def test_embedding_in_a_loop(rng):
    def program(table, words, w):
        h = pk.zeros(4)
        for i in pk.range(words.shape[0]):
            h = np.tanh(table[words[i]].sum(axis=0) + w @ h)
        return h

    both_ways(program, rng.random((9, 4)), rng.integers(0, 9, (6, 3)), rng.random((4, 4)))


# -- slices with run-time bounds ----------------------------------------------------------------


@pytest.mark.parametrize("i", [0, 2, 5])
@pytest.mark.parametrize("kind", [int, np.int32, np.int64])
def test_windows(rng, i, kind):
    def program(x, i):
        j = i + 1
        return x[i : i + 4], x[j : j + 3, 0], x[i + 1 : i + 7 : 2], x[i, i % 3], x[2 * i : i * 2 + 2]

    both_ways(program, rng.random((13, 3)), kind(i))


def test_a_window_as_wide_as_a_static_number(rng):
    def program(x, n, w: pk.static):
        total = pk.zeros(w)
        for block in pk.range(n):
            total += x[block * w : (block + 1) * w]
        return total

    compare(program, rng.random(24), 4, 6, static=("w",))
    close(pk.jit(program)(x := rng.random(24), 4, 6), x.reshape(4, 6).sum(axis=0))


def test_windows_at_looked_up_places(rng):
    def program(x, k, n):
        m = k[1] - n
        return x[k[0] : k[0] + 3], x[k[0] * 2 - 1 : 2 * k[0] + 1], x[m + n : m + 2 + n], x[n : 4 + n - 2]

    both_ways(program, rng.random(13), np.array([2, 5]), 3)


def test_windows_are_written(rng):
    def program(x, n):
        y = x.copy()
        for i in pk.range(n):
            y[i : i + 2, 1:3] = y[i + 1 : i + 3, 0:2] * 0.5
            y[i + 2] += y[i : i + 2].sum(axis=0)
        return y

    both_ways(program, rng.random((8, 4)), 5)


def test_a_window_outside_is_brought_to_the_edge(rng):
    def program(x, i):
        return x[i : i + 3]

    x = rng.random(5)
    run = pk.jit(program)
    np.testing.assert_array_equal([run(x, i) for i in (9, 3, -3, -9)], [x[2:], x[2:], x[2:], x[:3]])


# -- gradients ----------------------------------------------------------------------------------


@pk.jit
def looked_up_energy(x, k):
    return pk.sum(pk.sin(x[k] * x[k]))


@pk.jit
def window_energy(x, n):
    s = 0.0
    for i in pk.range(n):
        s = s + pk.sum(pk.sin(x[i : i + 3]) * x[i + 1 : i + 4])
    return s


@pk.jit
def embedding_loss(w, k, v):
    return pk.sum((w[k] @ v) ** 2)


def test_gradients(rng):
    """An element that is looked up twice collects both."""
    pk.check_grads(looked_up_energy, (rng.random(9), np.array([3, 1, 3, -1])), rtol=2e-7)
    pk.check_grads(window_energy, (rng.random(9), 4), rtol=2e-7)
    pk.check_grads(embedding_loss, (rng.random((5, 3)), np.array([[1, 2], [2, 4]]), rng.random(3)), rtol=2e-7)
    x = rng.random(9)
    expected = np.zeros(9)
    np.add.at(expected, [3, 1, 3, -1], (2 * x * np.cos(x * x))[[3, 1, 3, -1]])
    got = pk.grad(looked_up_energy)(x, np.array([3, 1, 3, -1]))
    np.testing.assert_allclose(got, expected, rtol=1e-14)


# -- refusals -----------------------------------------------------------------------------------


def test_refusals(rng):
    x, k = rng.random(5), np.array([0, 1])

    def mask(x, k):
        return x[x > 0.5]

    def floats(x, k):
        return x[x]

    def scatter(x, k):
        x[:, k] = 1.0

    def not_apart(x, k):
        return x[k[0] : k[1]]

    def falling(x, k):
        return x[k[0] : k[0] + 3 : -1]

    def too_wide(x, k):
        return x[k[0] : k[0] + 6]

    def shapes(x, k):
        return x[:, None][k, pk.zeros(3, pk.i64)]

    refused(mask, x, k, match="does not return elements that a mask selects", at="return x[x > 0.5]")
    refused(floats, x, k, match="holds integers, not", at="x[x]")
    refused(scatter, x[:, None], k, match="along the first axes", at="x[:, k] = 1.0")
    refused(not_apart, x, k, match="the length of a slice must be known", at="x[k[0] : k[1]]")
    refused(falling, x, k, match="a step above zero", at="x[k[0] : k[0] + 3 : -1]")
    refused(too_wide, x, k, match="reaches over 6 elements", at="x[k[0] : k[0] + 6]")
    refused(shapes, x, k, match="do not fit together", at="x[:, None]")


@pytest.mark.parametrize("n", [0, 1, 501])
def test_constant_arrays_looked_up_in_loops_are_made_once(rng, n):
    """The values that each element is written from are one array in front of the loop; what is written has its own."""

    def program(k):
        counts = np.zeros(7, dtype=np.int64)
        np.add.at(counts, k, 1)
        chosen = np.zeros((k.shape[0], 7), dtype=np.float32)
        chosen[np.arange(k.shape[0]), k] = 1
        return counts, chosen, np.zeros(7, dtype=np.int64)

    k = rng.integers(0, 7, n)
    both_ways(program, k)
    if n:
        before_loops, _, loops = (
            pk.jit(program).lower(k).as_text("kern-separate-empties").partition("scf.for")
        )
        assert f"tensor<{n}x" in before_loops
        assert not any(
            f"-> tensor<{n}xi64>" in line for line in loops.splitlines() if line.startswith(" " * 6)
        )
