"""NumPy's functions of each element that make several operations: in kernels and in array programs.

Comes in: numbers, and `mathematics.apply`, which makes the functions that these are made of. Goes out: one number, in
the type that NumPy gives.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from pykern.data.promotion import binary_math, promote
from pykern.frontend import integers
from pykern.frontend.arithmetic import binary, invert, logical_not, maximum, negate, plus
from pykern.frontend.casts import convert
from pykern.frontend.values import OperandError, Scalar
from pykern.types import bool_, f32, f64, i8, weak_float, weak_int

Apply = Callable[..., Any]
_NIL, _ONE, _MINUS_ONE = (Scalar(weak_int, const=n) for n in (0, 1, -1))


def _float(value: float) -> Scalar:
    return Scalar(weak_float, const=value)


def _floats(a: Scalar, b: Scalar) -> list[Scalar]:
    """In the type of floats that NumPy computes with."""
    kind = binary_math(a.dtype, b.dtype)
    return [convert(a, kind), convert(b, kind)]


def _signed(name: str, function: Callable[[Scalar], Scalar], call: Apply, x: Scalar) -> Scalar:
    if x.dtype == bool_ and not x.is_const:
        raise OperandError(f"NumPy has no `{name}` of bools", "write ~x, or x.astype(int)")
    return function(x)


def _reciprocal(call: Apply, x: Scalar) -> Scalar:
    """Of integers 1 // x, rounded towards zero."""
    x = convert(x, i8) if x.dtype == bool_ else x
    found = binary("/" if x.dtype.is_float else "//", _ONE, x)
    if x.dtype.kind != "i" or x.dtype.weak:
        return found
    return call("where", binary("<", x, _MINUS_ONE), _NIL, found)


def _heaviside(call: Apply, x: Scalar, h: Scalar) -> Scalar:
    x, h = _floats(x, h)
    above = call("where", binary(">", x, _NIL), _float(1.0), x)  # NaN stays
    below = call("where", binary("<", x, _NIL), _float(0.0), above)
    return call("where", binary("==", x, _NIL), h, below)


def _sum_of_powers(
    power: str, of_two: float, scale: float | None, call: Apply, a: Scalar, b: Scalar
) -> Scalar:
    """``log(exp(a) + exp(b))`` without overflow, or that to base 2; of short floats in f32, and rounded once."""
    a, b = _floats(a, b)
    dtype = a.dtype
    a, b = (convert(v, f32) if dtype.bits < 32 else v for v in (a, b))
    more = call("log1p", call(power, negate(call("abs", binary("-", a, b)))))
    more = more if scale is None else binary("*", more, _float(scale))
    equal = binary("+", a, _float(of_two))  # of infinities, too, whose difference is NaN
    return convert(call("where", binary("==", a, b), equal, binary("+", maximum(a, b), more)), dtype)


def _sinc(call: Apply, x: Scalar) -> Scalar:
    """``sin(pi x) / (pi x)``, and 1 at 0."""
    x = x if x.dtype.is_float else convert(x, f64)
    small = _float(1e-20 if x.dtype.bits >= 32 else 2.0**-14)
    y = binary("*", call("where", binary("==", x, _NIL), small, x), _float(math.pi))
    return binary("/", call("sin", y), y)


def _is_infinite(which: float, call: Apply, x: Scalar) -> Scalar:
    return binary("==", x, _float(which)) if x.dtype.is_float else Scalar(bool_, const=False)


def _lcm(call: Apply, a: Scalar, b: Scalar) -> Scalar:
    common = integers.gcd([a, b], False)
    divisor = call("where", binary("==", common, _NIL), _ONE, common)
    return call("abs", binary("*", binary("//", convert(a, promote(a.dtype, b.dtype)), divisor), b))


def is_close(call: Apply, a: Scalar, b: Scalar, rtol: Scalar, atol: Scalar, equal_nan: bool) -> Scalar:
    """``|a - b| <= atol + rtol * |b|``, and equal infinities."""
    b = b if b.dtype.is_float else convert(b, f64)  # a difference of integers would not fit
    allowed = binary("+", atol, binary("*", rtol, call("abs", b)))
    near = binary("&", binary("<=", call("abs", binary("-", a, b)), allowed), call("isfinite", b))
    found = binary("|", near, binary("==", a, b))
    return binary("|", found, binary("&", call("isnan", a), call("isnan", b))) if equal_nan else found


def nan_to_num(call: Apply, x: Scalar, nan: Scalar, posinf: Scalar, neginf: Scalar) -> Scalar:
    """NaN and infinities become others."""
    value = call("where", call("isnan", x), nan, x)
    value = call("where", binary("==", x, _float(math.inf)), posinf, value)
    return call("where", binary("==", x, _float(-math.inf)), neginf, value)


_FUNCTIONS: dict[str, tuple[int, Callable[..., Scalar]]] = {
    "negative": (1, partial(_signed, "negative", negate)), "positive": (1, partial(_signed, "positive", plus)),
    "invert": (1, lambda _, x: invert(x)), "logical_not": (1, lambda _, x: logical_not(x)),
    "reciprocal": (1, _reciprocal), "heaviside": (2, _heaviside), "sinc": (1, _sinc),
    "logaddexp": (2, partial(_sum_of_powers, "exp", math.log(2.0), None)),
    "numpy.logaddexp2": (2, partial(_sum_of_powers, "exp2", 1.0, 1 / math.log(2.0))),
    "numpy.isposinf": (1, partial(_is_infinite, math.inf)), "numpy.isneginf": (1, partial(_is_infinite, -math.inf)),
    "numpy.fix": (1, lambda call, x: call("trunc", x)), "numpy.lcm": (2, _lcm),
    "math.pow": (2, lambda _, a, b: binary("**", *(v if v.dtype.is_float else convert(v, f64) for v in (a, b)))),
}  # fmt: skip
"""By the language's names: how many numbers each takes, and what it makes of them."""


def handlers(functions: Callable[[bool], Apply]) -> dict[str, Callable]:
    """The functions as those of `mathematics`, whose `functions` are given."""
    return {
        name: partial(_called, name, count, made, functions) for name, (count, made) in _FUNCTIONS.items()
    }


def _called(
    name: str,
    count: int,
    made: Callable[..., Scalar],
    functions: Callable,
    args: list[Scalar],
    fastmath: bool,
) -> Scalar:
    if len(args) != count:
        own, some, few = name.rpartition(".")[2], *(("one number", "x"), ("two numbers", "x, y"))[count - 1]
        raise OperandError(f"`{own}` takes {some}, not {len(args)}", f"write np.{own}({few})")
    return made(functions(fastmath), *args)
