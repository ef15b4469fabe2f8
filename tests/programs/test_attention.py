"""Attention in tiles: against NumPy in double precision, for any sizes and scores."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk

TOLERANCE = {"float32": 3e-6, "float64": 1e-14}


@pk.jit
def plain(q, k, v, scale):
    s = q @ k.T * scale
    e = pk.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) @ v


@pk.jit
def heads(q, k, v, scale):
    s = q @ k.transpose(0, 1, 3, 2) * scale
    e = pk.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) @ v


@pk.jit
def causal(q, k, v, scale):
    s = (q * scale) @ k.transpose(0, 1, 3, 2)
    rows, columns = pk.arange(q.shape[2]), pk.arange(k.shape[2])
    s = pk.where(rows[:, None] >= columns[None, :], s, -np.inf)
    e = pk.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) @ v


@pk.jit
def window(q, k, v):
    """Keys up to two behind the query, told the other way round."""
    s = q @ k.transpose(0, 1, 3, 2)
    rows, columns = pk.arange(q.shape[2]), pk.arange(k.shape[2])
    s = pk.where(columns[None, :] > rows[:, None] + 2, -np.inf, s)
    e = pk.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) @ v


@pk.jit
def capped(q, k, v, bias, allowed):
    """What is added, what is masked by an array, and a function of the score."""
    s = q @ k.transpose(0, 1, 3, 2)
    s = 5.0 * pk.tanh(s / 5.0) + bias
    s = pk.where(allowed[:, None, None, :], s, -np.inf)
    e = pk.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) @ v


@pk.jit
def grouped(q, k, v, scale):
    """q [b, kv heads, group, s, d]; k and v [b, kv heads, s, d]: heads that share keys."""
    s = q @ k[:, :, None].transpose(0, 1, 2, 4, 3) * scale
    e = pk.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) @ v[:, :, None]


@pk.jit
def sequence_first(q, k, v, scale):
    """[b, s, h, d], as models keep it."""
    q, k, v = q.transpose(0, 2, 1, 3), k.transpose(0, 2, 1, 3), v.transpose(0, 2, 1, 3)
    s = q @ k.transpose(0, 1, 3, 2) * scale
    e = pk.exp(s - s.max(axis=-1, keepdims=True))
    return (e / e.sum(axis=-1, keepdims=True) @ v).transpose(0, 2, 1, 3)


def softmax(s):
    with np.errstate(invalid="ignore"):
        e = np.exp(s - s.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)


def wide(*arrays):
    return [a.astype(np.float64) for a in arrays]


def expected(q, k, v, scale, mask=None):
    q, k, v = wide(q, k, v)
    s = q @ np.swapaxes(k, -1, -2) * scale
    return softmax(s if mask is None else np.where(mask, s, -np.inf)) @ v


def close(found, right, dtype):
    assert found.dtype == dtype
    assert found.shape == right.shape
    np.testing.assert_allclose(
        found, right, rtol=0, atol=TOLERANCE[dtype] * max(1.0, np.nanmax(np.abs(right)))
    )


def is_tiled(program, *arguments) -> bool:
    """Whether there is a nest of tiles."""
    text = next(s.text for s in program.lower(*arguments).stages if s.name == "kern-make-nests")
    return text.count("attributes {kern.attention") == 1


SHAPES = [
    (32, 32, 8, 8), (48, 256, 16, 16), (49, 257, 17, 31), (100, 33, 64, 64), (33, 1000, 3, 5), (200, 300, 40, 1),
]  # fmt: skip


@pytest.mark.parametrize(("queries", "keys", "depth", "width"), SHAPES)
def test_sizes(rng, queries, keys, depth, width):
    dtype = "float64" if queries == 49 else "float32"
    q, k, v = (rng.standard_normal(s).astype(dtype) for s in ((queries, depth), (keys, depth), (keys, width)))
    close(plain(q, k, v, 0.3), expected(q, k, v, 0.3), dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_heads(rng, dtype):
    q, k, v = (rng.standard_normal((2, 3, s, 24)).astype(dtype) for s in (75, 130, 130))
    close(heads(q, k, v, 0.2), expected(q, k, v, 0.2), dtype)
    assert is_tiled(heads, q, k, v, 0.2)


@pytest.mark.parametrize(("queries", "keys"), [(64, 64), (130, 130), (100, 333), (333, 100)])
def test_causal(rng, queries, keys):
    q, k, v = (rng.standard_normal((1, 2, s, 16)).astype(np.float32) for s in (queries, keys, keys))
    mask = np.arange(queries)[:, None] >= np.arange(keys)[None, :]
    close(causal(q, k, v, 0.25), expected(q, k, v, 0.25, mask), "float32")
    assert is_tiled(causal, q, k, v, 0.25)


def test_keys_that_are_never_met_are_not_looked_at(rng):
    q, k, v = (rng.standard_normal((1, 2, s, 16)).astype(np.float32) for s in (130, 600, 600))
    mask = np.arange(600)[None, :] <= np.arange(130)[:, None] + 2
    close(window(q, k, v), expected(q, k, v, 1.0, mask), "float32")
    k[:, :, 200:] = np.nan  # beyond all queries
    close(window(q, k, v), expected(q, np.nan_to_num(k), v, 1.0, mask), "float32")


def test_scores_of_any_form(rng):
    q, k, v = (rng.standard_normal((2, 2, s, 16)).astype(np.float32) for s in (70, 90, 90))
    bias = rng.standard_normal((70, 90)).astype(np.float32)
    allowed = rng.random((2, 90)) < 0.7
    s = 5.0 * np.tanh(q.astype(np.float64) @ np.swapaxes(k, -1, -2) / 5.0) + bias
    right = softmax(np.where(allowed[:, None, None, :], s, -np.inf)) @ v.astype(np.float64)
    close(capped(q, k, v, bias, allowed), right, "float32")
    assert is_tiled(capped, q, k, v, bias, allowed)


def test_heads_that_share_keys(rng):
    q = rng.standard_normal((2, 2, 4, 50, 32)).astype(np.float32)
    k, v = (rng.standard_normal((2, 2, 70, 32)).astype(np.float32) for _ in range(2))
    close(grouped(q, k, v, 0.2), expected(q, k[:, :, None], v[:, :, None], 0.2), "float32")
    assert is_tiled(grouped, q, k, v, 0.2)


def test_sequence_before_heads(rng):
    q, k, v = (rng.standard_normal((2, 60, 3, 16)).astype(np.float32) for _ in range(3))
    turned = [np.swapaxes(a, 1, 2) for a in (q, k, v)]
    close(sequence_first(q, k, v, 0.2), np.swapaxes(expected(*turned, 0.2), 1, 2), "float32")
    assert is_tiled(sequence_first, q, k, v, 0.2)


def test_one_array_for_all(rng):
    x = rng.standard_normal((1, 2, 64, 16)).astype(np.float32)
    close(heads(x, x, x, 0.25), expected(x, x, x, 0.25), "float32")


def test_large_scores(rng):
    """The maximum comes late and is far above what was before; nothing overflows."""
    q, k, v = (rng.standard_normal((300, 16)).astype(np.float32) for _ in range(3))
    k *= np.linspace(1, 40, 300, dtype=np.float32)[:, None]
    # scores of some hundreds have an error of 3e-5, and their powers as much
    np.testing.assert_allclose(plain(q, k, v, 1.0), expected(q, k, v, 1.0), rtol=0, atol=5e-4)


@pytest.mark.parametrize("allowed_from", [0, 200, 300])
def test_masked_from_the_start(rng, allowed_from):
    """Whole blocks of keys that are masked, and at last all of them: NaN, as NumPy has it."""
    q, k, v = (rng.standard_normal((1, 1, s, 16)).astype(np.float32) for s in (40, 300, 300))
    bias = np.zeros((40, 300), np.float32)
    allowed = np.arange(300)[None, :] >= allowed_from
    s = 5.0 * np.tanh(q.astype(np.float64) @ np.swapaxes(k, -1, -2) / 5.0)
    right = softmax(np.where(allowed[:, None, None, :], s, -np.inf)) @ v.astype(np.float64)
    found = capped(q, k, v, bias, allowed)
    if allowed_from == 300:
        assert np.isnan(found).all()
    else:
        close(found, right, "float32")


@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf])
def test_special_values_stay_in_their_row(rng, special):
    q, k, v = (rng.standard_normal((64, 8)).astype(np.float32) for _ in range(3))
    q[5, 3] = special
    with np.errstate(invalid="ignore"):
        right = expected(q, k, v, 0.3)
    found = plain(q, k, v, 0.3)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(right))
    np.testing.assert_allclose(np.nan_to_num(found), np.nan_to_num(right), atol=3e-6)


def test_weights_that_somebody_else_needs_are_kept(rng):
    @pk.jit
    def both(q, k, v):
        s = q @ k.T
        e = pk.exp(s - s.max(axis=-1, keepdims=True))
        p = e / e.sum(axis=-1, keepdims=True)
        return p @ v, p

    q, k, v = (rng.standard_normal((64, 8)).astype(np.float32) for _ in range(3))
    found, weights = both(q, k, v)
    close(found, expected(q, k, v, 1.0), "float32")
    close(weights, softmax(q.astype(np.float64) @ k.T.astype(np.float64)), "float32")
    assert not is_tiled(both, q, k, v)


def test_result_into_out_and_into_more(rng):
    @pk.jit
    def block(x, w):
        q, k, v = x @ w[0], x @ w[1], x @ w[2]
        s = q @ k.T * 0.25
        e = pk.exp(s - s.max(axis=-1, keepdims=True))
        return x + e / e.sum(axis=-1, keepdims=True) @ v

    x, w = (
        rng.standard_normal((96, 16)).astype(np.float32),
        rng.standard_normal((3, 16, 16)).astype(np.float32),
    )
    out = np.full_like(x, np.nan)
    block(x, w, out=out)
    a, b = wide(x, w)
    close(out, a + expected(a @ b[0], a @ b[1], a @ b[2], 0.25), "float32")
    assert is_tiled(block, x, w)


def test_threads_give_the_same_bits(rng):
    q, k, v = (rng.standard_normal((1, 4, 300, 32)).astype(np.float32) for _ in range(3))
    before = pk.get_num_threads()
    try:
        results = []
        for count in (1, 2):
            pk.set_num_threads(count)
            results.append(heads(q, k, v, 0.2))
    finally:
        pk.set_num_threads(before)
    np.testing.assert_array_equal(*results)


@pytest.mark.parametrize("program", [heads, causal])
def test_gradients(rng, program):
    """Against central differences; the forward program alone is the one in tiles."""
    q, k, v = (rng.standard_normal((1, 2, 40, 8)) for _ in range(3))

    @pk.jit
    def loss(q, k, v, scale):
        o = program(q, k, v, scale)
        return (o * o * o).sum()

    gradients = pk.grad(loss, argnums=(0, 1, 2))(q, k, v, 0.3)
    mask = np.tril(np.ones((40, 40), bool)) if program is causal else None
    for number, gradient in enumerate(gradients):
        direction = rng.standard_normal(gradient.shape)
        values = []
        for step in (1e-5, -1e-5):
            moved = [a + step * direction if n == number else a for n, a in enumerate((q, k, v))]
            values.append((expected(*moved, 0.3, mask) ** 3).sum())
        np.testing.assert_allclose((gradient * direction).sum(), (values[0] - values[1]) / 2e-5, rtol=1e-6)
