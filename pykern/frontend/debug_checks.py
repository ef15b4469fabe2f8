"""What `debug=True` asserts of integers: operations that are defined everywhere, and seldom meant.

Comes in: the kernel's source and the operands. Goes out: `kern.assert` before the operation, at its line.
"""

from __future__ import annotations

from pykern.data.source import KernelSource
from pykern.dialect.reports import AssertOp
from pykern.errors import BY_ZERO, NEGATIVE_POWER, ZERO_STEP
from pykern.frontend import arithmetic
from pykern.frontend.casts import materialise
from pykern.frontend.values import Scalar
from pykern.types import weak_int


def check_power(source: object, base: Scalar, exponent: Scalar) -> None:
    """The whole part of an integer to a negative power is 0 most of the time."""
    if not _is_debug(source) or exponent.is_const or exponent.dtype.kind != "i" or not base.dtype.is_integer:
        return
    within = arithmetic.binary(">=", exponent, Scalar(weak_int, const=0))
    AssertOp.create(materialise(within), NEGATIVE_POWER)


def check_divisor(source: object, dividend: Scalar, divisor: Scalar) -> None:
    """An integer divided by zero is 0. Where both are constants, Python's arithmetic refuses it."""
    if not _is_debug(source) or dividend.dtype.is_float or divisor.dtype.is_float:
        return
    if divisor.is_const and (divisor.const or dividend.is_const):
        return
    differs = arithmetic.binary("!=", divisor, Scalar(weak_int, const=0))
    AssertOp.create(materialise(differs), BY_ZERO)


def check_step(source: object, step: Scalar) -> None:
    """A range whose step is 0 has no items; Python refuses it."""
    if _is_debug(source) and not step.is_const:
        differs = arithmetic.binary("!=", step, Scalar(weak_int, const=0))
        AssertOp.create(materialise(differs), ZERO_STEP)


def _is_debug(source: object) -> bool:
    return isinstance(source, KernelSource) and source.options.debug
