"""Arithmetic that NumPy does not have as MLIR means it: helpers that the emitted Python calls.

Numbers are NumPy scalars, vectors are NumPy arrays; integers are signed, and viewed as unsigned where an op
wants that.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np

UNSIGNED = {np.dtype(f"int{n}"): np.dtype(f"uint{n}") for n in (8, 16, 32, 64)}

TYPES: dict[str, np.dtype] = {
    "i1": np.dtype(np.bool_),
    **{f"i{n}": np.dtype(f"int{n}") for n in (8, 16, 32, 64)},
    "index": np.dtype(np.int64),
    "!llvm.ptr": np.dtype(np.int64),
    "f16": np.dtype(np.float16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f8E4M3FN": np.dtype(ml_dtypes.float8_e4m3fn),
    "f8E5M2": np.dtype(ml_dtypes.float8_e5m2),
}


def u(a: Any) -> Any:
    """The same bits, read without a sign."""
    return a if a.dtype == np.bool_ else a.view(UNSIGNED[a.dtype])


def s(a: Any, dtype: np.dtype) -> Any:
    """The same bits as a signed integer."""
    return a.view(dtype)


def signed(a: Any) -> Any:
    """i1 as -1 and 0, where an op reads it with a sign."""
    return -(a.astype(np.int8)) if a.dtype == np.bool_ else a


def divsi(a: Any, b: Any) -> Any:
    """Rounds towards zero; a division by zero, which means nothing, gives 0."""
    quotient, rest = np.floor_divide(a, b), np.fmod(a, b)
    return quotient + ((rest != 0) & ((a < 0) != (b < 0))).astype(a.dtype)


def ceildivsi(a: Any, b: Any) -> Any:
    return -np.floor_divide(-a, b)


def ceildivui(a: Any, b: Any) -> Any:
    x, y = u(a), u(b)
    return (np.floor_divide(x, y) + (np.remainder(x, y) != 0).astype(x.dtype)).view(a.dtype)


def wide_product(a: Any, b: Any, unsigned: bool) -> tuple[Any, Any]:
    """Low and high half of a product."""
    bits = 8 * a.dtype.itemsize
    x, y = (u(a), u(b)) if unsigned else (a, b)
    exact = np.asarray(x, object) * np.asarray(y, object)
    high = np.asarray(exact) >> bits
    mask = (1 << bits) - 1
    halves = []
    for part in (exact, high):
        unsigned_part = np.asarray(np.asarray(part) & mask).astype(UNSIGNED[a.dtype])
        halves.append(unsigned_part.view(a.dtype)[()])
    return halves[0], halves[1]


def carrying_sum(a: Any, b: Any) -> tuple[Any, Any]:
    """A sum, and whether it did not fit without a sign."""
    total = a + b
    return total, u(total) < u(a)


def shift_left(a: Any, b: Any) -> Any:
    return np.left_shift(a, b)


def shift_right(a: Any, b: Any) -> Any:
    """Zeros come in from the left."""
    return np.right_shift(u(a), u(b)).view(a.dtype)


def fma(a: Any, b: Any, c: Any) -> Any:
    """``a * b + c``, rounded once."""
    if a.dtype != np.float64:
        return (a.astype(np.float64) * b.astype(np.float64) + c.astype(np.float64)).astype(a.dtype)
    if np.ndim(a):
        return np.array([_fma64(x, y, z) for x, y, z in zip(a, b, c, strict=True)])
    return _fma64(a, b, c)


def _fma64(a: Any, b: Any, c: Any) -> np.float64:
    plain = a * b + c
    if not (np.isfinite(a) and np.isfinite(b) and np.isfinite(c)):
        return plain
    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    if exact == 0:
        return plain
    try:
        return np.float64(exact.numerator / exact.denominator)
    except OverflowError:
        return np.float64(math.copysign(math.inf, exact))


def through_f64(function: Any, *values: Any) -> Any:
    """A function of floats, computed in f64 and rounded to the type of the first."""
    return function(*(np.float64(v) if np.ndim(v) == 0 else v.astype(np.float64) for v in values)).astype(
        values[0].dtype
    )


def each(function: Any) -> Any:
    """A function of Python floats, over NumPy's."""
    return np.vectorize(function, otypes=[np.float64])


def _gamma(x: float) -> float:
    try:
        return math.gamma(x)
    except (ValueError, OverflowError):
        return math.nan if x <= 0 else math.inf


def _log_gamma(x: float) -> float:
    try:
        return math.lgamma(x)
    except ValueError:
        return math.inf


FUNCTIONS: dict[str, Any] = {
    name: getattr(np, name)
    for name in (
        "sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p",
        "sqrt", "floor", "ceil", "trunc", "cbrt", "copysign", "arctan2",
    )
} | {
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "asinh": np.arcsinh, "acosh": np.arccosh,
    "atanh": np.arctanh, "atan2": np.arctan2, "pow": np.power, "powf": np.power, "roundeven": np.rint,
    "rint": np.rint, "nearbyint": np.rint, "erf": each(math.erf), "erfc": each(math.erfc),
    "tgamma": each(_gamma), "lgamma": each(_log_gamma), "hypot": np.hypot, "fmod": np.fmod, "fabs": np.abs,
    "exp10": lambda x: np.power(10.0, x),
    "rsqrt": lambda x: 1.0 / np.sqrt(x),
    "round": lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x),
}  # fmt: skip


def count_zeros(a: Any, leading: bool) -> Any:
    """Zeros before the first one, from the top or from below."""
    bits = 8 * a.dtype.itemsize

    def one(x: int) -> int:
        x &= (1 << bits) - 1
        if x == 0:
            return bits
        return bits - x.bit_length() if leading else (x & -x).bit_length() - 1

    return np.vectorize(lambda x: one(int(x)), otypes=[a.dtype])(a).astype(a.dtype)[()]


def count_ones(a: Any) -> Any:
    mask = (1 << 8 * a.dtype.itemsize) - 1
    return np.vectorize(lambda x: (int(x) & mask).bit_count(), otypes=[a.dtype])(a).astype(a.dtype)[()]


def integer_power(a: Any, b: Any) -> Any:
    """A power by squaring, in the type of `a`; of a negative exponent what C++ would give of its reciprocal."""
    exponent = int(b)
    if a.dtype.kind == "f":
        return np.power(a.astype(np.float64), np.float64(exponent)).astype(a.dtype)
    if exponent < 0:
        return a.dtype.type({1: 1, -1: -1 if exponent % 2 else 1}.get(int(a), 0))
    bits = 8 * a.dtype.itemsize
    value = pow(int(a), exponent, 1 << bits)
    return a.dtype.type(value - (1 << bits) if value >> (bits - 1) else value)


def to_integer(a: Any, dtype: np.dtype, unsigned: bool) -> Any:
    """A float cut off; what does not fit means nothing, and gives something."""
    wide = a.astype(np.float64)
    if unsigned:
        return np.trunc(wide).astype(UNSIGNED[dtype]).view(dtype)
    return np.trunc(wide).astype(dtype)


COMBINE: dict[str, Any] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "min": np.minimum,
    "max": np.maximum,
    "umin": lambda a, b: np.minimum(u(a), u(b)).view(a.dtype),
    "umax": lambda a, b: np.maximum(u(a), u(b)).view(a.dtype),
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "exchange": lambda a, b: b,
}
"""Kinds of atomics and of reductions."""
