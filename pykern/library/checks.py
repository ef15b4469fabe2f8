"""What arguments of the library have to be, said in words of the function before anything is computed.

Comes in: what a function was given. Goes out: nothing, or an error that says what is wrong. These functions are parts
of programs: what they compare is known when compiling. A number that is not is checked by the call (`function`) that
passes it.
"""

from __future__ import annotations

from typing import Any

import pykern as pk


def is_integer(x: Any) -> Any:
    """Whether an array has integers."""
    signed = x.dtype == pk.i8 or x.dtype == pk.i16 or x.dtype == pk.i32 or x.dtype == pk.i64
    return signed or x.dtype == pk.u8 or x.dtype == pk.u16 or x.dtype == pk.u32 or x.dtype == pk.u64


def is_whole(x: Any) -> Any:
    """Whether a number that is known when compiling is an integer."""
    return isinstance(x, int) and not isinstance(x, bool)


def is_number(x: Any) -> Any:
    """Whether it is a number that is known when compiling."""
    return is_whole(x) or isinstance(x, float)


def probability(p: Any) -> None:
    """Of being dropped: something has to be left."""
    if isinstance(p, pk.static):
        assert is_number(p) and p >= 0 and p < 1, "p is a probability from 0 on and below 1"


def not_negative_eps(eps: Any) -> None:
    """What is added below a root or to one."""
    if isinstance(eps, pk.static):
        assert is_number(eps) and eps >= 0, "eps is a number from 0 on"


def not_negative_seed(seed: Any) -> None:
    """Seeds of Philox."""
    if isinstance(seed, pk.static):
        assert is_whole(seed) and seed >= 0, "seed is an integer from 0 on"


def first_step(step: Any) -> None:
    """Steps of an optimiser are counted from 1 on; the means are divided by ``1 - beta**step``."""
    if isinstance(step, pk.static):
        assert is_number(step) and step >= 1, "step is 1 in the first call"


def rate(x: Any) -> None:
    """A learning rate or a decay of weights."""
    if isinstance(x, pk.static):
        assert is_number(x) and x >= 0, "lr and weight_decay are numbers from 0 on"


def two_betas(betas: Any) -> None:
    """How much of the running means is kept."""
    assert isinstance(betas, tuple) or isinstance(betas, list), "betas are two numbers"  # noqa: SIM101 - one kind at a time, in programs
    assert len(betas) == 2, "betas are two numbers"
    for beta in betas:
        if isinstance(beta, pk.static):
            assert is_number(beta) and beta >= 0 and beta < 1, "betas are numbers from 0 on and below 1"


def one_axis(x: Any, axis: Any) -> None:
    """An axis of an array."""
    assert is_whole(axis), "axis is one integer"
    rank = len(x.shape)
    assert axis >= -rank and axis < rank, "axis is one of the axes of `x`"


def scaling(scale: Any, softcap: Any) -> None:
    """What scores are multiplied with, and their bound."""
    assert scale is None or is_number(scale), "scale is a number, or None for 1 / sqrt(d)"
    assert scale is None or scale == scale, "scale is a number, not NaN"
    assert softcap is None or is_number(softcap), "softcap is positive, or None for no bound"
    assert softcap is None or softcap > 0, "softcap is positive, or None for no bound"


def shared_heads(heads: Any, shared: Any) -> None:
    """Heads of queries, and of keys and values."""
    assert shared > 0 or heads == 0, "there is a head of keys for the heads of `q`"
    assert shared == 0 or heads % shared == 0, (
        "the number of heads of `q` is a multiple of that of keys and values"
    )


def same(gate: Any, up: Any) -> None:
    """Two arrays that belong together element by element."""
    assert gate.shape == up.shape, "`gate` and `up` have one shape"
    assert gate.dtype == up.dtype, "`gate` and `up` have one dtype: convert one, up.astype(gate.dtype)"
