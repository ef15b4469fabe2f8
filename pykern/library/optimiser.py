"""AdamW for all parameters of a model in one program.

Source: I. Loshchilov and F. Hutter, Decoupled Weight Decay Regularization, arXiv 1711.05101, algorithm 2.
"""

from __future__ import annotations

from typing import Any

import pykern as pk
from pykern.library.checks import first_step, not_negative_eps, rate, two_betas
from pykern.library.function import library_function
from pykern.library.precision import wide


@library_function(step=first_step, lr=rate, betas=two_betas, eps=not_negative_eps, weight_decay=rate)
def adamw(
    parameters: Any,
    gradients: Any,
    first: Any,
    second: Any,
    *,
    step: Any,
    lr: Any = 1e-3,
    betas: Any = (0.9, 0.999),
    eps: Any = 1e-8,
    weight_decay: Any = 1e-2,
) -> Any:
    """A step of AdamW: ``(parameters, first, second)`` after it, three tuples.

    `parameters`, `gradients`, `first` and `second` (the running means of gradients and of their squares, zeros in the
    beginning) are lists of arrays of the same shapes; each result has the dtype of what it replaces, and is computed
    in f32 for f16 and bf16. `step` is 1 in the first call. All parameters are updated in one call. To update them in
    place, pass the arrays one after the other: ``out=[*parameters, *first, *second]``.
    """
    first_step(step)
    rate(lr)
    two_betas(betas)
    not_negative_eps(eps)
    rate(weight_decay)
    moved, means, squares = [], [], []
    of_first, of_second = 1 - betas[0] ** step, 1 - betas[1] ** step
    for p, g, m, v in zip(parameters, gradients, first, second, strict=True):
        assert g.shape == p.shape and m.shape == p.shape and v.shape == p.shape, (
            "the gradient and both means of a parameter have its shape"
        )
        gradient = wide(g)
        mean = betas[0] * wide(m) + (1 - betas[0]) * gradient
        square = betas[1] * wide(v) + (1 - betas[1]) * gradient * gradient
        size = pk.sqrt(square / of_second) + eps
        moved.append((wide(p) * (1 - lr * weight_decay) - lr / of_first * mean / size).astype(p.dtype))
        means.append(mean.astype(m.dtype))
        squares.append(square.astype(v.dtype))
    return tuple(moved), tuple(means), tuple(squares)
