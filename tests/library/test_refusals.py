"""What the library's functions refuse before they compute: what is wrong, in words of the function."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import numpy as np
import pytest

import pykern as pk
from pykern import library as pl
from pykern.pytest_plugin import need_package

RNG = np.random.default_rng(0)


def real(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape)


Q = real(1, 2, 9, 4)
X, W, ONES = Q[0, 0], Q[0, 1], np.ones(4)
FLOATS = "the library computes with floats"
PAGES, TABLE, LENGTHS = real(5, 8, 2, 4), np.zeros((2, 2), int), np.array([3, 4])
ROWS, ENDS = real(9, 2, 4), np.array([0, 9])
BYTES, EXPERTS = np.ones((5, 4), np.int8), real(2, 5, 4)
CLASSES, TARGET = real(5, 4), np.arange(9) % 5


def paged(q=None, k=PAGES, table=TABLE, lengths=LENGTHS, **options):
    return pl.paged_attention(real(2, 2, 4) if q is None else q, k, PAGES, table, lengths, **options)


def rope(x=None, weight=None, cos=None, sin=None, head_dim: object = 4):
    x, weight = real(1, 3, 8) if x is None else x, real(8) if weight is None else weight
    return pl.rmsnorm_rope(
        x, weight, real(3, 2) if cos is None else cos, real(3, 2) if sin is None else sin, head_dim=head_dim
    )


def adamw(gradient=X, **options):
    return pl.adamw([X], [gradient], [X], [X * X], **{"step": 1, **options})


CASES: list[tuple[str, str, Callable]] = [
    ("rank", "have four axes", lambda: pl.flash_attention(Q[0], Q[0], Q[0])),
    ("integers", FLOATS, lambda: pl.flash_attention(Q.astype(int), Q.astype(int), Q.astype(int))),
    ("heads", "a multiple of that of keys", lambda: pl.flash_attention(Q[:, :1], Q, Q)),
    ("no heads of keys", "a head of keys", lambda: pl.flash_attention(Q, Q[:, :0], Q[:, :0])),
    ("head size", "keys have the batch and the head size", lambda: pl.flash_attention(Q, Q[..., :3], Q)),
    ("no head size", "the head size of `q` is 1 at least", lambda: pl.flash_attention(*[Q[..., :0]] * 2, Q)),
    ("batch", "keys have the batch and the head size", lambda: pl.flash_attention(Q, *[Q.repeat(2, 0)] * 2)),
    ("values", "as many values as keys", lambda: pl.flash_attention(Q, Q, Q[:, :, :5])),
    ("window of none", "a window is at least 1", lambda: pl.flash_attention(Q, Q, Q, window=0)),
    ("negative window", "a window is at least 1", lambda: pl.flash_attention(Q, Q, Q, window=-1)),
    ("window of a fraction", "an integer or a pair", lambda: pl.flash_attention(Q, Q, Q, window=1.5)),
    ("window of three", "an integer or a pair", lambda: pl.flash_attention(Q, Q, Q, window=(1, 2, 3))),
    ("negative side", "sides of a window", lambda: pl.flash_attention(Q, Q, Q, window=(-2, 2))),
    ("softcap", "softcap is positive", lambda: pl.flash_attention(Q, Q, Q, softcap=0.0)),
    ("scale", "scale is a number", lambda: pl.flash_attention(Q, Q, Q, scale=math.nan)),
    ("causal", "causal is True or False", lambda: pl.flash_attention(Q, Q, Q, causal="no")),
    ("bias", "`bias` broadcasts to", lambda: pl.flash_attention(Q, Q, Q, bias=real(2, 1, 9, 9))),
    (
        "bias of five axes",
        "`bias` broadcasts to",
        lambda: pl.flash_attention(Q, Q, Q, bias=real(1, 1, 1, 9, 9)),
    ),
    ("layernorm of integers", FLOATS, lambda: pl.layernorm_linear(X.astype(int), ONES, ONES, W)),
    ("gamma", "as long as the last axis", lambda: pl.layernorm_linear(X, ONES[:1], ONES, W)),
    ("beta", "as long as the last axis", lambda: pl.layernorm_linear(X, ONES, X, W)),
    ("weight of one axis", "`weight` is (outer, inner)", lambda: pl.layernorm_linear(X, ONES, ONES, ONES)),
    ("weight", "the rows of `weight`", lambda: pl.layernorm_linear(X, ONES, ONES, W.T)),
    ("bias of rows", "for each row of `weight`", lambda: pl.layernorm_linear(X, ONES, ONES, W, ONES)),
    ("eps", "eps is a number from 0 on", lambda: pl.layernorm_linear(X, ONES, ONES, W, eps=-1.0)),
    ("residual", "have one shape", lambda: pl.residual_layernorm(X, X[:1], ONES, ONES)),
    ("residual of rmsnorm", "have one shape", lambda: pl.residual_rmsnorm(X, X[:, :1], ONES)),
    ("weight of rmsnorm", "as long as the last axis", lambda: pl.residual_rmsnorm(X, X, ONES[:1])),
    ("groups", "a multiple of that of groups", lambda: pl.group_norm(real(2, 6, 4), 4)),
    ("no groups", "an integer from 1 on", lambda: pl.group_norm(real(2, 6, 4), 0)),
    ("channels", "(batch, channels, ...)", lambda: pl.group_norm(real(6), 2)),
    ("weight of channels", "for each channel", lambda: pl.group_norm(real(2, 6, 4), 2, real(1))),
    ("odd heads", "`head_dim` is even", lambda: rope(real(1, 3, 9), real(9), real(3, 1), real(3, 1), 3)),
    ("no head", "an even integer from 2 on", lambda: rope(head_dim=0)),
    ("hidden length", "the hidden length", lambda: rope(real(1, 3, 10), real(10))),
    ("cosines", "`cos` is", lambda: rope(cos=real(2, 3))),
    ("sines", "`sin` is", lambda: rope(sin=real(3, 4))),
    ("positions", "`x` is (batch, n, hidden)", lambda: rope(real(3, 8))),
    ("a number for an array", "`up` is an array", lambda: pl.swiglu(X, 2.0)),
    ("an array without axes", "`gamma` is an array", lambda: pl.layernorm_linear(X, np.array(1.0), ONES, W)),
    ("None for an array", "`weight` is an array", lambda: pl.residual_rmsnorm(X, X, None)),
    ("gates of integers", FLOATS, lambda: pl.swiglu(np.arange(5), np.arange(5))),
    ("gates of two shapes", "`gate` and `up` have one shape", lambda: pl.swiglu(X, ONES)),
    ("gates of two dtypes", "`gate` and `up` have one dtype", lambda: pl.geglu(X, X.astype("f"))),
    ("gates of products", "`w_gate` and `w_up` are both", lambda: pl.swiglu_linear(X, W, W[:1])),
    ("inner length", "as long as those of `x`", lambda: pl.swiglu_linear(X, W.T, W.T)),
    ("softmax of integers", FLOATS, lambda: pl.softmax_dropout(np.arange(5), 0.5, seed=1)),
    ("all dropped", "p is a probability", lambda: pl.softmax_dropout(X, 1, seed=1)),
    ("more than all", "p is a probability", lambda: pl.softmax_dropout(X, 1.5, seed=1)),
    ("less than none", "p is a probability", lambda: pl.softmax_dropout(X, p=-0.1, seed=1)),
    ("NaN", "p is a probability", lambda: pl.softmax_dropout(X, math.nan, seed=1)),
    ("a number of NumPy's", "p is a probability", lambda: pl.softmax_dropout(X, np.float32(1.5), seed=1)),
    ("seed of NumPy's", "seed is an integer", lambda: pl.softmax_dropout(X, 0.5, seed=np.int64(-1))),
    ("seed", "seed is an integer", lambda: pl.softmax_dropout(X, 0.5, seed=-1)),
    ("axis", "axis is one of", lambda: pl.softmax_dropout(X, 0.5, seed=1, axis=2)),
    ("axes", "axis is one integer", lambda: pl.softmax_dropout(X, 0.5, seed=1, axis=None)),
    ("classes of floats", "has integers", lambda: pl.linear_cross_entropy(X, CLASSES, TARGET / 1)),
    ("one class", "a class for each row", lambda: pl.linear_cross_entropy(X, CLASSES, TARGET[:1])),
    ("rows of weight", "as long as those of `x`", lambda: pl.linear_cross_entropy(X, CLASSES.T, TARGET)),
    ("ignored", "is an integer", lambda: pl.linear_cross_entropy(X, CLASSES, TARGET, ignore_index=1.5)),
    ("places of floats", "has integers", lambda: pl.embedding(ONES, X)),
    ("table", "`weight` is (rows, n)", lambda: pl.embedding(TARGET, ONES)),
    ("padding", "the number of a row", lambda: pl.embedding(TARGET, X, padding_idx=-1)),
    ("offsets of floats", "has integers", lambda: pl.grouped_linear(X, EXPERTS, np.ones(2))),
    ("offsets", "a number for each expert", lambda: pl.grouped_linear(X, EXPERTS, np.array([9]))),
    ("one expert", "(experts, outer, inner)", lambda: pl.grouped_linear(X, W, np.array([9]))),
    (
        "rows of experts",
        "as long as those of `x`",
        lambda: pl.grouped_linear(X[:, :3], EXPERTS, np.array([3, 9])),
    ),
    ("bits", "bits is 8 or 4", lambda: pl.quantised_linear(X, BYTES, ONES, bits=3)),
    ("words", "integers of 8 bits", lambda: pl.quantised_linear(X, BYTES.astype(int), ONES)),
    ("scales", "`scale` is (outer,)", lambda: pl.quantised_linear(X, BYTES, real(10))),
    ("groups of a row", "the number of groups", lambda: pl.quantised_linear(X, BYTES, real(5, 3))),
    ("zeros", "the shape of `scale`", lambda: pl.quantised_linear(X, BYTES, real(5, 2), real(5))),
    ("step", "step is 1 in the first call", lambda: adamw(step=0)),
    ("one beta", "betas are two numbers", lambda: adamw(betas=(0.9,))),
    ("beta", "betas are numbers from 0", lambda: adamw(betas=(0.9, 1.0))),
    ("rate", "lr and weight_decay", lambda: adamw(lr=-1.0)),
    ("decay", "lr and weight_decay", lambda: adamw(weight_decay=-1.0)),
    ("gradient", "have its shape", lambda: adamw(X[:1])),
    ("no head size of pages", "1 at least", lambda: paged(real(2, 2, 0), PAGES[..., :0])),
    (
        "no head size of sequences",
        "1 at least",
        lambda: pl.varlen_attention(*[ROWS[..., :0]] * 2, ROWS, ENDS),
    ),
    ("query", "`q` is (batch, heads, d)", lambda: paged(real(2, 4))),
    ("heads of pages", "a multiple of that of keys", lambda: paged(real(2, 3, 4))),
    ("pages", "as many pages", lambda: paged(k=PAGES[:4])),
    ("head size of pages", "the head size of queries", lambda: paged(k=PAGES[..., :3])),
    ("block table", "a row for each sequence", lambda: paged(table=TABLE[:1])),
    ("block table of floats", "have integers", lambda: paged(table=TABLE / 1)),
    ("lengths", "a number for each sequence", lambda: paged(lengths=LENGTHS[:1])),
    ("window of pages", "an integer from 1 on", lambda: paged(window=0)),
    ("softcap of pages", "softcap is positive", lambda: paged(softcap=-1.0)),
    ("keys of sequences", "keys are as values", lambda: pl.varlen_attention(ROWS, ROWS[:8], ROWS, ENDS)),
    (
        "ends of floats",
        "`cu_seqlens_k` have integers",
        lambda: pl.varlen_attention(ROWS, ROWS, ROWS, ENDS / 1),
    ),
    ("ends", "the same number of sequences", lambda: pl.varlen_attention(ROWS, ROWS, ROWS, ENDS, ENDS[:1])),
    ("no ends", "(sequences + 1) numbers", lambda: pl.varlen_attention(ROWS, ROWS, ROWS, ENDS[:0])),
]


@pytest.mark.parametrize(("reason", "call"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_refusal(reason, call):
    with pytest.raises(pk.KernelTypeError, match=re.escape(reason)):
        call()


def test_number_in_a_program():
    """What is known when compiling is refused there; what is not, is what it is."""

    @pk.jit
    def all_dropped(x):
        return pl.softmax_dropout(x, 1.5, seed=1)

    @pk.jit
    def some_dropped(x, p):
        return pl.softmax_dropout(x, p, seed=1)

    with pytest.raises(pk.KernelTypeError, match="p is a probability"):
        all_dropped(X)
    np.testing.assert_array_equal(some_dropped(X, 0.5), pl.softmax_dropout(X, 0.5, seed=1))
    for p in (1.5, 1.0, -0.1, math.nan):
        assert np.isnan(some_dropped(X, p)).all()


def test_number_of_a_tensor():
    torch = need_package("torch")
    with pytest.raises(pk.KernelTypeError, match="p is a probability"):
        pl.softmax_dropout(torch.ones(3, 4), 1.5, seed=1)


def test_softmax_of_nothing():
    assert pl.softmax_dropout(np.ones((3, 0)), 0.5, seed=1).shape == (3, 0)
