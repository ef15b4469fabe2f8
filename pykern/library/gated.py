"""Gated linear units: one half of a layer's width, through an activation, times the other half.

Source: N. Shazeer, GLU Variants Improve Transformer, arXiv 2002.05202.
"""

# pyright: reportArgumentType=false
# Parameters that are `pk.static` have defaults: None, numbers, words.

from __future__ import annotations

from typing import Any

import pykern as pk
from pykern.activations import gelu, gelu_tanh, silu
from pykern.library.checks import same
from pykern.library.function import library_function
from pykern.library.precision import wide


@library_function()
def swiglu(gate: Any, up: Any) -> Any:
    """SiLU of `gate` times `up`: ``gate / (1 + exp(-gate)) * up``, element by element.

    `gate` and `up` are float arrays of one shape and dtype, and so is the result. f16 and bf16 are computed in f32.
    """
    same(gate, up)
    return (silu(wide(gate)) * wide(up)).astype(gate.dtype)


@library_function()
def geglu(gate: Any, up: Any, *, approximate: pk.static = "none") -> Any:
    """GELU of `gate` times `up`, element by element.

    With ``approximate="none"`` GELU is ``x / 2 * (1 + erf(x / sqrt(2)))``; with ``"tanh"`` it is
    ``x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3)))``. Shapes and dtypes are as in `swiglu`.
    """
    same(gate, up)
    x = wide(gate)
    if approximate == "tanh":
        x = gelu_tanh(x)
    else:
        assert approximate == "none", "approximate is 'none' or 'tanh'"
        x = gelu(x)
    return (x * wide(up)).astype(gate.dtype)


@library_function()
def swiglu_linear(x: Any, w_gate: Any, w_up: Any) -> Any:
    """`swiglu` of two products: ``swiglu(x @ w_gate.T, x @ w_up.T)``.

    `x` is (..., inner); the weights are (outer, inner), as PyTorch's `Linear` has them; the result is (..., outer).
    """
    assert len(w_gate.shape) == 2 and w_gate.shape == w_up.shape, (
        "`w_gate` and `w_up` are both (outer, inner)"
    )
    assert len(x.shape) >= 1 and w_gate.shape[1] == x.shape[-1], (
        "the rows of weights are as long as those of `x`"
    )
    a = wide(x)
    return (silu(a @ wide(w_gate).T) * (a @ wide(w_up).T)).astype(x.dtype)
