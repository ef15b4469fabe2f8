"""What the library's functions refuse before they compute: what is wrong, in words of the function."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest

import pykern as pk
from pykern import library as pl

Q = np.random.default_rng(0).standard_normal((1, 2, 9, 4))
X, W, ONES = Q[0, 0], Q[0, 1], np.ones(4)
FLOATS = "the library computes with floats"
CASES: list[tuple[str, str, Callable]] = [
    ("rank", "have four axes", lambda: pl.flash_attention(Q[0], Q[0], Q[0])),
    ("integers", FLOATS, lambda: pl.flash_attention(Q.astype(int), Q.astype(int), Q.astype(int))),
    ("heads", "a multiple of that of keys", lambda: pl.flash_attention(Q[:, :1], Q, Q)),
    ("head size", "keys have the batch and the head size", lambda: pl.flash_attention(Q, Q[..., :3], Q)),
    ("batch", "keys have the batch and the head size", lambda: pl.flash_attention(Q, *[Q.repeat(2, 0)] * 2)),
    ("values", "as many values as keys", lambda: pl.flash_attention(Q, Q, Q[:, :, :5])),
    ("window", "a window is at least 1", lambda: pl.flash_attention(Q, Q, Q, window=0)),
    ("softcap", "softcap is positive", lambda: pl.flash_attention(Q, Q, Q, softcap=0.0)),
    ("layernorm of integers", FLOATS, lambda: pl.layernorm_linear(X.astype(int), ONES, ONES, W)),
    ("gates of integers", FLOATS, lambda: pl.swiglu(np.arange(5), np.arange(5))),
    ("softmax of integers", FLOATS, lambda: pl.softmax_dropout(np.arange(5), 0.5, seed=1)),
]


@pytest.mark.parametrize(("reason", "call"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_refusal(reason, call):
    with pytest.raises(pk.KernelTypeError, match=re.escape(reason)):
        call()
