"""asinh, acosh and atanh by log1p, of arguments that keep what is small. f32 is computed in f64, where
there are such floats.

Beyond 2^60 the argument is x itself and log 2 is added: the square would overflow.
"""

from __future__ import annotations

import math

from pykern.passes.arithmetic.vector_math.emit import Real, select
from pykern.passes.arithmetic.vector_math.formats import F64
from pykern.passes.arithmetic.vector_math.logarithm import log1p

_LARGE = 2.0**60


def asinh(x: Real) -> Real:
    size = abs(_wide(x))
    square = size * size
    return _log1p(size, size + square / ((square + 1.0).sqrt() + 1.0)).to(x.format).copysign(x)


def acosh(x: Real) -> Real:
    wide = _wide(x)
    above = wide - 1.0
    result = _log1p(wide, above + (above * (above + 2.0)).sqrt())
    return select(wide < 1.0, math.nan, result).to(x.format)


def atanh(x: Real) -> Real:
    size = abs(_wide(x))
    doubled = size + size
    return (0.5 * log1p(doubled / (1.0 - size))).to(x.format).copysign(x)


def _wide(x: Real) -> Real:
    return x.to(F64) if x.scope.doubles else x


def _log1p(x: Real, argument: Real) -> Real:
    large = x > _LARGE
    return log1p(select(large, x, argument)) + select(large, x.like(math.log(2)), 0.0)
