"""Attention in sequences of several lengths, and to keys in pages, beside `flash_attention` of each sequence alone."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pykern import library as pl
from pykern.testing.device_needs import missing_package

RNG = np.random.default_rng(8)


def real(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape)


def alone(q, k, v, **options):
    """One sequence; queries and keys are its rows."""
    q, k, v = (np.swapaxes(x, 0, 1)[None] for x in (q, k, v))
    return np.swapaxes(np.asarray(pl.flash_attention(q, k, v, **options))[0], 0, 1)


CASES = {
    "shared heads": (4, 2, (0, 3, 73, 200), None, 205, {}),
    "causal, a window, a cap": (2, 2, (0, 70, 70, 100), (0, 90, 91, 200), 110,
                                {"causal": True, "window": 33, "softcap": 2.0}),
    "decoding": (2, 1, (0, 1, 2, 3), (0, 130, 131, 200), 3, {"causal": True}),
    "a window of two sides": (1, 1, (0, 2, 5), (0, 4, 9), 5, {"window": (3, 1), "scale": 0.3}),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_varlen(name):
    heads, shared, queries, keys, n, options = CASES[name]
    ends = np.array(keys or queries)
    given = None if keys is None else ends
    q, k, v = real(n, heads, 8), real(ends[-1], shared, 8), real(ends[-1], shared, 5)
    expected = np.zeros((n, heads, 5))
    for a, b, c, d in zip(queries[:-1], queries[1:], ends[:-1], ends[1:], strict=True):
        expected[a:b] = alone(q[a:b], k[c:d], v[c:d], **options)
    assert_allclose(pl.varlen_attention(q, k, v, np.array(queries), given, **options), expected, atol=1e-13)


@pytest.mark.skipif(missing_package("torch") is not None, reason="needs PyTorch")
def test_gradients_of_varlen():
    import torch

    n, ends = 150, (0, 3, 73, 140)
    ours = [torch.tensor(real(n, heads, 8), requires_grad=True) for heads in (4, 2, 2)]
    theirs = [x.detach().clone().requires_grad_() for x in ours]
    found = pl.varlen_attention(*ours, torch.tensor(ends), causal=True, window=33)
    parts = []
    for a, b in pairwise(ends):
        q, k, v = (x[a:b].transpose(0, 1).repeat_interleave(4 // x.shape[1], 0) for x in theirs)
        distance = torch.arange(b - a)[:, None] - torch.arange(b - a)
        taken = (distance >= 0) & (distance < 33)
        parts.append(torch.nn.functional.scaled_dot_product_attention(q, k, v, taken).transpose(0, 1))
    g = torch.tensor(real(ends[-1], 4, 8))
    right = torch.autograd.grad(torch.cat(parts), theirs, g)
    for one, other in zip(torch.autograd.grad(found[: ends[-1]], ours, g), right, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("options", [{}, {"window": 20}, {"softcap": 2.0, "scale": 0.2}], ids=str)
def test_paged(options):
    q, k_pages, v_pages = real(3, 4, 8), real(6, 16, 2, 8), real(6, 16, 2, 5)
    table, lengths = np.array([[3, 0, 5, 1], [2, 4, 0, 0], [0, 0, 0, 0]]), np.array([50, 17, 0])
    found = pl.paged_attention(q, k_pages, v_pages, table, lengths, **options)
    for sequence in range(2):
        k, v = (x[table[sequence]].reshape(64, 2, -1)[: lengths[sequence]] for x in (k_pages, v_pages))
        expected = alone(q[sequence][None], k, v, **options, causal=True)[0]
        assert_allclose(found[sequence], expected, rtol=1e-12)
    assert (found[2] == 0).all()


def test_what_is_empty():
    none = np.zeros((0, 2, 4))
    assert pl.varlen_attention(none, none, none, np.array([0])).shape == (0, 2, 4)
    found = pl.varlen_attention(real(3, 2, 4), none, none, np.array([0, 3]), np.array([0, 0]))
    assert (found == 0).all()


@pytest.mark.skipif(missing_package("torch") is not None, reason="needs PyTorch")
@pytest.mark.parametrize("options", [{}, {"window": 20}, {"softcap": 2.0, "scale": 0.2}], ids=str)
def test_gradients_of_paged(options):
    """Two sequences have a page in common, one has no keys, and one page is nobody's."""
    import torch

    table, lengths = np.array([[3, 0, 5, 1], [2, 0, 4, 4], [0, 0, 0, 0]]), np.array([50, 27, 0])
    given = [torch.tensor(real(*shape)) for shape in ((3, 4, 8), (7, 16, 2, 8), (7, 16, 2, 5), (3, 4, 5))]
    *arguments, g = given
    ours, theirs = ([x.clone().requires_grad_() for x in arguments] for _ in range(2))
    found = pl.paged_attention(*ours, torch.tensor(table), torch.tensor(lengths), **options)
    parts = []
    for sequence, length in enumerate(lengths[:2]):
        first = max(length - options.get("window", length), 0)
        k, v = (x[table[sequence]].flatten(0, 1)[first:length].repeat_interleave(2, 1) for x in theirs[1:])
        scores = torch.einsum("hd,khd->hk", theirs[0][sequence], k) * options.get("scale", 8**-0.5)
        cap = options.get("softcap")
        scores = scores if cap is None else cap * torch.tanh(scores / cap)
        parts.append(torch.einsum("hk,khe->he", scores.softmax(-1), v))
    right = torch.autograd.grad(torch.stack(parts), theirs, g[:2])
    for one, other in zip(torch.autograd.grad(found, ours, g), right, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-12)


def test_numbers_that_name_nothing_take_the_nearest():
    """No memory outside of arrays is read; negative numbers count from the end."""
    weight = real(10, 4)
    rows = pl.embedding(np.array([12, -1, -30, 3]), weight)
    np.testing.assert_array_equal(rows, weight[[9, 9, 0, 3]])
    q, k, v, lengths = real(2, 4, 8), real(6, 4, 2, 8), real(6, 4, 2, 8), np.array([5, 8])

    def attended(number, length=5):
        table = np.array([[0, number], [1, 2]])
        return np.asarray(pl.paged_attention(q, k, v, table, np.array([length, lengths[1]])))

    np.testing.assert_array_equal(attended(99), attended(5))
    np.testing.assert_array_equal(attended(-1), attended(5))
    np.testing.assert_array_equal(attended(-99), attended(0))
    np.testing.assert_array_equal(attended(1, 99), attended(1, 8))
    assert not attended(1, -3)[0].any()
    assert np.isnan(pl.linear_cross_entropy(real(2, 8), real(10, 8), np.array([3, 10])))


def test_paged_attention_without_sequences():
    found = pl.paged_attention(
        real(0, 2, 4), real(5, 8, 2, 4), real(5, 8, 2, 6), np.zeros((0, 2), int), np.zeros(0, int)
    )
    assert found.shape == (0, 2, 6)
