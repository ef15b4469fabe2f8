"""What is computed before a product: in the copies of its factors, or where they are read. Against NumPy in f64."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk


@pk.jit
def scaled(a, s, t, b):
    return (a * s + t) @ b


@pk.jit
def activated(a, b):
    return pk.maximum(a, 0) @ b


@pk.jit
def dequantised(a, b, s):
    return a @ (b.astype(pk.f32) * s)


@pk.jit
def functions(a, b):
    return pk.exp(a) @ pk.tanh(b)


@pk.jit
def right_transposed(a, b, s):
    return a @ (b * s).T


@pk.jit
def left_transposed(a, s, b):
    return (a * s).T @ b


@pk.jit
def both_ends(a, s, b, c, factor):
    return pk.maximum((a * s * factor) @ (b - factor) + c, 0)


@pk.jit
def in_batches(a, s, b):
    return (a * s) @ (b - 1)


@pk.jit
def in_place_of_a_factor(a, s, b):
    a[:] = (a * s) @ b
    return a


@pk.jit
def read_twice(a, b):
    c = a * 2
    return c @ b + c


def functions_of(program, *arguments) -> list[str]:
    text = next(s.text for s in program.lower(*arguments).stages if s.name.startswith("kern-make-nests"))
    return [line for line in text.splitlines() if "func.func private" in line and ".team(" not in line]


def close(found, exact, size, terms):
    eps = np.finfo(found.dtype).eps
    assert found.shape == exact.shape
    assert np.all(np.abs(found - exact) <= 4 * (terms + 8) * eps * size + 1e-30)


SIZES = [(67, 131, 300), (3, 901, 700), (37, 43, 41), (1, 700, 513), (300, 1, 200), (130, 17, 33), (9, 5, 2)]


@pytest.mark.parametrize(("m", "n", "k"), SIZES)
def test_scale_and_shift(rng, m, n, k):
    a, b = rng.standard_normal((m, k)).astype(np.float32), rng.standard_normal((k, n)).astype(np.float32)
    s, t = rng.standard_normal(k).astype(np.float32), rng.standard_normal((m, 1)).astype(np.float32)
    wide = [x.astype(np.float64) for x in (a, s, t, b)]
    size = (np.abs(wide[0] * wide[1]) + np.abs(wide[2])) @ np.abs(wide[3])
    close(scaled(a, s, t, b), (wide[0] * wide[1] + wide[2]) @ wide[3], size, k)


@pytest.mark.parametrize(("m", "n", "k"), SIZES)
def test_activation(rng, m, n, k):
    a, b = rng.standard_normal((m, k)), rng.standard_normal((k, n))
    close(activated(a, b), np.maximum(a, 0) @ b, np.abs(a) @ np.abs(b), k)


@pytest.mark.parametrize(("m", "n", "k"), SIZES)
def test_weights_in_bytes(rng, m, n, k):
    a, b = rng.standard_normal((m, k)).astype(np.float32), rng.integers(-128, 128, (k, n)).astype(np.int8)
    s = rng.random(n).astype(np.float32)
    weights = b.astype(np.float64) * s
    close(dequantised(a, b, s), a.astype(np.float64) @ weights, np.abs(a) @ np.abs(weights), k)


@pytest.mark.parametrize(("m", "n", "k"), SIZES)
def test_functions(rng, m, n, k):
    a, b = rng.standard_normal((m, k)), rng.standard_normal((k, n))
    close(functions(a, b), np.exp(a) @ np.tanh(b), np.exp(a) @ np.abs(np.tanh(b)), k)


@pytest.mark.parametrize(("m", "n", "k"), [(67, 131, 300), (3, 901, 300), (37, 43, 41)])
def test_transposed(rng, m, n, k):
    a, b = rng.standard_normal((m, k)), rng.standard_normal((k, n))
    s, t = rng.standard_normal((n, 1)), rng.standard_normal(m)
    size = np.abs(a) @ np.abs(b)
    turned = np.ascontiguousarray(b.T)
    close(right_transposed(a, turned, s), a @ (turned * s).T, size * np.abs(s.T), k)
    turned = np.ascontiguousarray(a.T)
    close(left_transposed(turned, t, b), (turned * t).T @ b, size * np.abs(t[:, None]), k)


@pytest.mark.parametrize(("m", "n", "k"), [(67, 131, 300), (3, 901, 700), (37, 43, 41)])
def test_before_and_after(rng, m, n, k):
    a, b, c = rng.standard_normal((m, k)), rng.standard_normal((k, n)), rng.standard_normal(n)
    s = rng.standard_normal(k)
    size = np.abs(a * s * 0.75) @ (np.abs(b) + 0.75) + np.abs(c)
    close(both_ends(a, s, b, c, 0.75), np.maximum((a * s * 0.75) @ (b - 0.75) + c, 0), size, k)


@pytest.mark.parametrize(("m", "n", "k"), [(20, 31, 17), (60, 200, 300)])
def test_batches(rng, m, n, k):
    a, b = rng.standard_normal((3, m, k)), rng.standard_normal((3, k, n))
    s = rng.standard_normal((3, 1, k))
    close(in_batches(a, s, b), (a * s) @ (b - 1), np.abs(a * s) @ (np.abs(b) + 1), k)


@pytest.mark.parametrize("n", [40, 300])
def test_memory_that_changes(rng, n):
    a, b, s = rng.standard_normal((n, n)), rng.standard_normal((n, n)), rng.standard_normal(n)
    exact, size = (a * s) @ b, np.abs(a * s) @ np.abs(b)
    close(in_place_of_a_factor(a.copy(), s, b), exact, size, n)
    close(read_twice(a, b), 2 * a @ b + 2 * a, 2 * np.abs(a) @ np.abs(b) + 2 * np.abs(a), n)


def test_strides_and_nothing(rng):
    a, b = rng.standard_normal((80, 120)), rng.standard_normal((40, 300))
    exact = np.maximum(a[::2, ::3], 0) @ b[:, ::2]
    close(activated(a[::2, ::3], b[:, ::2]), exact, np.abs(a[::2, ::3]) @ np.abs(b[:, ::2]), 40)
    np.testing.assert_array_equal(activated(a[:, :0], b[:0]), np.zeros((80, 300)))
    assert activated(a[:0, :40], b).shape == (0, 300)


def test_a_temporary_only_where_elements_are_read_again(rng):
    a, b = rng.standard_normal((200, 300)), rng.standard_normal((300, 2000))
    weights = rng.integers(-128, 128, (300, 4000)).astype(np.int8)
    few, scales = np.ones((2, 300), np.float32), np.ones(4000, np.float32)
    assert (
        len(functions_of(functions, a, b)) == 4
    )  # two copies, both in one fork and join of threads, and the product
    assert len(functions_of(dequantised, few, weights, scales)) == 1
    # both are computed before; where vectors are short, into the order of the product, in one fork and join of threads
    assert len(functions_of(functions, a[:, :20], b[:20])) in (3, 4)


@pk.jit
def backwards(a, b):
    return a @ b[::-1]


@pk.jit
def backwards_among_others(a, b):
    return (a * a[::-1]) @ (b * b[::-1, ::-1])


@pytest.mark.parametrize(
    ("m", "n", "k"), [(5, 6, 7), (64, 64, 64), (120, 130, 300), (2, 600, 600), (60, 1, 60)]
)
def test_factors_read_from_their_end(rng, m, n, k):
    a, b = rng.standard_normal((m, k)), rng.standard_normal((k, n))
    close(backwards(a, b), a @ b[::-1], np.abs(a) @ np.abs(b[::-1]), k)
    c, d = a * a[::-1], b * b[::-1, ::-1]
    close(backwards_among_others(a, b), c @ d, np.abs(c) @ np.abs(d), k)


@pk.jit
def turned_among_others(a, b, c):
    return (a + b) @ (b * c.T)


@pytest.mark.parametrize("n", [7, 67, 201])
def test_factors_with_transposed_parts(rng, n):
    a, b, c = (rng.standard_normal((n, n)) for _ in range(3))
    exact, size = (a + b) @ (b * c.T), np.abs(a + b) @ np.abs(b * c.T)
    close(turned_among_others(a, b, c), exact, size, n)


@pk.jit
def one_element(a, b):
    return (pk.reshape(a * 2.0, ()) * b).sum(axis=1), (pk.reshape(pk.exp(a), ()) * b[0]).sum()


def test_a_factor_of_one_element_without_dimensions(rng):
    a, b = rng.standard_normal(1), rng.standard_normal((5, 7))
    lines, total = one_element(a, b)
    np.testing.assert_allclose(lines, (2 * a * b).sum(axis=1), rtol=1e-13)
    np.testing.assert_allclose(total, (np.exp(a) * b[0]).sum(), rtol=1e-13)
