"""Functions of numbers as plain Python: what `MATHEMATICS` names, rounded once from f64, with C's results at poles.

Read next: `reference`, which has conversions and choices of numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from pykern.data.promotion import promote
from pykern.errors import KernelTypeError
from pykern.runtime.reference import cast, fitted, is_complex, known_dtype, no_new_nan
from pykern.types import bool_


def _power_safe(function: Callable) -> Callable:
    """C's results where Python raises: a domain error is NaN, a pole or an overflow infinite."""

    def safe(*args: float) -> float:
        try:
            return function(*args)
        except OverflowError:
            return _overflow(function, args)
        except ValueError:
            return _pole(function, args)

    return safe


def _overflow(function: Callable, args: tuple) -> float:
    name = function.__name__
    negative = (name == "sinh" and args[0] < 0) or (name == "pow" and args[0] < 0 and args[1] % 2 == 1)
    negative = negative or (name == "gamma" and args[0] < 0 and int(args[0]) % 2 == 0)
    return -math.inf if negative else math.inf


def _pole(function: Callable, args: tuple) -> float:
    name, x = function.__name__, args[0]
    if x == 0 and name in ("log", "log2", "log10"):
        return -math.inf
    if name == "log1p" and x == -1:
        return -math.inf
    if name == "atanh" and abs(x) == 1:
        return math.copysign(math.inf, x)
    if name == "gamma" and x == 0:
        return math.copysign(math.inf, x)
    if name == "lgamma" and x <= 0 and x == math.floor(x):
        return math.inf
    if name == "pow" and x == 0 and args[1] < 0:
        odd = args[1] == math.floor(args[1]) and args[1] % 2 == 1
        return math.copysign(math.inf, x) if odd else math.inf
    return math.nan


def _exp2(x: float) -> float:
    return math.pow(2.0, x)


def _cbrt(x: float) -> float:
    import numpy as np

    return float(np.cbrt(x))


def _rsqrt(x: float) -> float:
    if x == 0:
        return math.copysign(math.inf, x)
    return 1.0 / math.sqrt(x)


_UNARY = {
    **{n: getattr(math, n) for n in (
        "sqrt", "exp", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan",
        "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "gamma", "lgamma", "degrees", "radians",
        "fabs",
    )},
    "exp2": getattr(math, "exp2", _exp2), "cbrt": _cbrt, "rsqrt": _rsqrt,
}  # fmt: skip


_BINARY = {"atan2": math.atan2, "copysign": math.copysign, "fmod": math.fmod, "hypot": math.hypot,
           "remainder": math.remainder}  # fmt: skip


_ROUND = {"floor": "floor", "ceil": "ceil", "trunc": "trunc", "round": "rint"}


_CLASSIFY = {"isnan": math.isnan, "isinf": math.isinf, "isfinite": math.isfinite}


MATHEMATICS = {
    "sqrt": "The square root; NaN below 0.", "rsqrt": "``1 / sqrt(x)``; infinite at 0.",
    "cbrt": "The cube root, also of negative numbers.",
    "exp": "e to the power of `x`.", "exp2": "2 to the power of `x`.", "expm1": "``exp(x) - 1``, exact near 0.",
    "log": "The natural logarithm; -inf at 0, NaN below.", "log2": "The logarithm to base 2; -inf at 0, NaN below.",
    "log10": "The logarithm to base 10; -inf at 0, NaN below.", "log1p": "``log(1 + x)``, exact near 0.",
    "sin": "The sine of radians.", "cos": "The cosine of radians.", "tan": "The tangent of radians.",
    "asin": "The arc sine in radians; NaN outside of -1 .. 1.",
    "acos": "The arc cosine in radians; NaN outside of -1 .. 1.", "atan": "The arc tangent in radians.",
    "atan2": "The angle of the point (`x`, `y`), called ``atan2(y, x)``, in radians from -pi to pi.",
    "sinh": "The hyperbolic sine.", "cosh": "The hyperbolic cosine.", "tanh": "The hyperbolic tangent.",
    "asinh": "The inverse of sinh.", "acosh": "The inverse of cosh; NaN below 1.",
    "atanh": "The inverse of tanh; infinite at -1 and 1, NaN outside.",
    "erf": "The error function.", "erfc": "``1 - erf(x)``, exact for large `x`.",
    "gamma": "The gamma function; NaN at the negative integers.",
    "lgamma": "The logarithm of the magnitude of the gamma function.",
    "hypot": "``sqrt(x * x + y * y)`` without overflow in between.",
    "fmod": "The remainder of ``x / y`` with the sign of `x`, exact.",
    "remainder": "``x - n * y`` for the integer n nearest to ``x / y`` (halves to even), exact.",
    "copysign": "The magnitude of `x` with the sign of `y`.", "fabs": "The magnitude, as a float.",
    "degrees": "Radians in degrees.", "radians": "Degrees in radians.",
    "floor": "The integer below, in the type of the argument.",
    "ceil": "The integer above, in the type of the argument.",
    "trunc": "The integer toward zero, in the type of the argument.",
    "round": "The nearest integer, halves to even, in the type of the argument.",
    "isnan": "Whether a number is NaN.", "isinf": "Whether a number is infinite.",
    "isfinite": "Whether a number is neither infinite nor NaN.",
    "nextafter": "The number of its type next to `x` in the direction of `y`.",
    "abs": "The magnitude, in the type of the argument.", "pow": "``a ** b``.", "fma": "``a * b + c`` rounded once.",
    "sign": "-1, 0 or 1 in the type of the argument.", "square": "``x * x``.",
    "gcd": "The greatest common divisor of integers, not negative.",
    "isqrt": "The integer below the square root; 0 of a negative.",
}  # fmt: skip
"""What each function gives; a float keeps its type, an integer becomes a float as in NumPy where the result is one."""


def apply(name: str, args: tuple) -> Any:
    """A function of `MATHEMATICS` on Python or NumPy scalars."""
    import numpy as np

    with np.errstate(all="ignore"):
        if any(map(is_complex, args)):
            return getattr(np, {"pow": "power"}.get(name, name))(*args)
        return no_new_nan(_applied(name, args), args)


def _applied(name: str, args: tuple) -> Any:
    if name in _ROUND:
        return _rounded(name, args)
    if name in _CLASSIFY:
        return _CLASSIFY[name](args[0])
    if name in _OTHERS:
        return _OTHERS[name](*args)
    function = _UNARY.get(name) or _BINARY.get(name)
    if function is None or len(args) != (1 if name in _UNARY else 2):
        raise KernelTypeError(f"`{name}` takes {'one number' if name in _UNARY else 'two numbers'}")
    return _in_type(args, _power_safe(function)(*(float(a) for a in args)))


def _in_type(args: tuple, result: float) -> Any:
    """A result in the type NumPy would give: floats stay, integers become floats by width."""
    import numpy as np

    typed = [a for a in args if hasattr(a, "dtype")]
    if not typed:
        return result
    dtype = np.result_type(*args)
    if dtype.kind in "biu":
        bits = 8 * dtype.itemsize
        return {8: np.float16, 16: np.float32}.get(bits, np.float64)(result)
    return dtype.type(result)


def _rounded(name: str, args: tuple) -> Any:
    import numpy as np

    x = args[0]
    if isinstance(x, int) or (hasattr(x, "dtype") and x.dtype.kind in "biu"):
        return x
    result = getattr(np, _ROUND[name])(x)
    return result if hasattr(x, "dtype") else float(result)


def _sign(x: Any) -> Any:
    typed: Any = x
    result = 1 if x > 0 else -1 if x < 0 else 0 if x == 0 else x
    return typed.dtype.type(result) if hasattr(x, "dtype") else type(x)(result)


def _fma(a: Any, b: Any, c: Any) -> Any:
    """Through a rational; the sum is rounded to odd in f64, so that a second rounding is right too."""
    from fractions import Fraction

    x, y, z = (float(v) for v in (a, b, c))
    result = x * y + z
    if math.isfinite(x) and math.isfinite(y) and math.isfinite(z):
        exact = Fraction(x) * Fraction(y) + Fraction(z)
        if exact:
            result = _nearest(exact)
            if math.isfinite(result) and not isinstance(_in_type((a, b, c), 1.0), float):
                result = _to_odd(exact, result)
    return _in_type((a, b, c), result)


def _nearest(exact: Any) -> float:
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def _to_odd(exact: Any, rounded: float) -> float:
    """The neighbour of `exact` whose last bit is set, where `exact` lies between two doubles."""
    import struct
    from fractions import Fraction

    if Fraction(rounded) == exact or struct.unpack("<q", struct.pack("<d", rounded))[0] & 1:
        return rounded
    return math.nextafter(rounded, math.inf if exact > Fraction(rounded) else -math.inf)


def _nextafter(x: Any, y: Any) -> Any:
    import numpy as np

    if hasattr(x, "dtype") or hasattr(y, "dtype"):
        return np.nextafter(x, y)
    return math.nextafter(x, y)


def _pow(a: Any, b: Any) -> Any:
    """``a ** b``; floats of Python as C has them, not complex. Of a weak exponent all bits count."""
    dtype = promote(known_dtype(a), known_dtype(b))
    if dtype.weak:
        is_whole = float not in (type(a), type(b)) and (a != 0 or b >= 0)
        return a**b if is_whole else _power_safe(math.pow)(a, b)
    if not dtype.is_integer or dtype == bool_:
        return a**b
    fitted(a, dtype)
    if b < 0:
        raise ValueError("integers to negative integer powers are not allowed")  # as NumPy says
    fitted(b, dtype)
    return cast(pow(int(a), int(b), 1 << dtype.bits), dtype)


def _gcd(*args: Any) -> Any:
    """In the common type; NumPy's where one of them is NumPy's."""
    import functools

    import numpy as np

    if any(isinstance(a, float | bool | np.floating | np.bool_) for a in args):
        raise KernelTypeError("`gcd` takes integers", hint="cast it first, as in int(x)")
    if not any(hasattr(a, "dtype") for a in args):
        return math.gcd(*args)
    return np.abs(args[0]) if len(args) == 1 else functools.reduce(np.gcd, args)


def _isqrt(x: Any) -> Any:
    root = math.isqrt(max(int(x), 0))
    return x.dtype.type(root) if hasattr(x, "dtype") else root


_OTHERS: dict[str, Callable] = {
    "gcd": _gcd, "isqrt": _isqrt,
    "abs": abs, "pow": _pow, "nextafter": _nextafter, "fma": _fma, "sign": _sign, "square": lambda x: x * x,
}  # fmt: skip
