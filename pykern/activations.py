"""Activations as formulas over one array, for the layers of `pykern.library` and the operators of `pykern.torch`.

Comes in: an array in a program. Goes out: one of its shape. Source of GELU: D. Hendrycks and K. Gimpel, arXiv
1606.08415.
"""

from __future__ import annotations

from typing import Any

import pykern as pk

ROOT_HALF = 0.7071067811865476  # sqrt(1 / 2)
ROOT_2_BY_PI = 0.7978845608028654  # sqrt(2 / pi)


def silu(x: Any) -> Any:
    """``x / (1 + exp(-x))``, by exponentials that do not overflow: their derivatives are finite, too."""
    e = pk.exp(pk.where(x < 0, x, -x))
    return x * (pk.where(x < 0, e, 1) / (1 + e))


def gelu(x: Any) -> Any:
    """``x / 2 * (1 + erf(x / sqrt(2)))``."""
    return 0.5 * x * (1 + pk.erf(x * ROOT_HALF))


def gelu_tanh(x: Any) -> Any:
    """``x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3)))``."""
    return 0.5 * x * (1 + pk.tanh(ROOT_2_BY_PI * (x + 0.044715 * x * x * x)))
