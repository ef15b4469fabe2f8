"""Numbers that the host computes between the launches of an array program: one function for each op.

Comes in: the name of an op of MLIR's arith or math, the types of its result and its operand. Goes out: a function
of Python integers and NumPy floats. Integers are kept signed; an i1 is 0 or 1.
"""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from pykern.errors import LaunchError
from pykern.types import BY_NAME

Compute = Callable[..., Any]

_BITS = {"index": 64, "i64": 64, "i32": 32, "i16": 16, "i8": 8, "i1": 1}


def compute(name: str, result: str, operand: str, predicate: int = 0) -> Compute:
    """The function of an op. Raises `LaunchError` where there is none."""
    if name == "arith.cmpi":
        return _compare_integers(predicate, operand)
    if name == "arith.cmpf":
        return _compare_floats(predicate)
    for table, finish in ((_INTEGERS, _wrap(result)), (_FLOATS, _round(result))):
        if name in table:
            function = table[name]
            return lambda *values: finish(function(*values))
    if name in _UNSIGNED:
        unsigned, function, finish = _unsigned(operand), _UNSIGNED[name], _finish(result)
        return lambda *values: finish(function(*map(unsigned, values)))
    if name in _CUTS:
        finish = _finish(result)
        return lambda value: finish(value if math.isfinite(value) else 0)
    if name in _CONVERSIONS:
        finish = _finish(result)
        return lambda value: finish(value)
    if name == "arith.bitcast":
        return lambda value: number(bits(value, operand), result)
    raise LaunchError(f"the host does not compute `{name}` between launches", hint="compute it in an array")


def number(slot: int, kind: str) -> Any:
    """The number of type `kind` in a slot."""
    if kind in _BITS:
        return _wrap(kind)(slot)
    dtype = BY_NAME[kind].numpy
    return np.frombuffer(int(slot & (2**64 - 1)).to_bytes(8, "little"), dtype, 1)[0]


def bits(value: Any, kind: str) -> int:
    """A number as the slot that kernels take."""
    if kind in _BITS:
        return int(value)
    if kind == "f64":
        return _AS_INTEGER(_AS_BYTES(value))[0]
    return int.from_bytes(BY_NAME[kind].numpy.type(value).tobytes(), "little")


def constant(value: Any, kind: str) -> Any:
    """A number that stands in a plan; floats are text there."""
    return _wrap(kind)(value) if kind in _BITS else BY_NAME[kind].numpy.type(float(value))


_AS_BYTES, _AS_INTEGER = struct.Struct("<d").pack, struct.Struct("<q").unpack


def _wrap(kind: str) -> Compute:
    width = _BITS.get(kind, 64)
    if width == 1:
        return lambda value: int(value) & 1
    half, mask = 1 << (width - 1), (1 << width) - 1

    def wrapped(value: Any) -> int:
        value = int(value)
        return value if -half <= value < half else ((value + half) & mask) - half

    return wrapped


def _unsigned(kind: str) -> Compute:
    mask = (1 << _BITS.get(kind, 64)) - 1
    return lambda value: int(value) & mask


def _round(kind: str) -> Compute:
    return BY_NAME[kind].numpy.type if kind not in _BITS else _wrap(kind)


def _finish(kind: str) -> Compute:
    return _wrap(kind) if kind in _BITS else _round(kind)


def _quotient(a: int, b: int) -> int:
    """Towards zero; by zero gives zero, as a guard around it never looks."""
    if b == 0:
        return 0
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def _remainder(a: int, b: int) -> int:
    return a - b * _quotient(a, b)


def _compare_integers(predicate: int, kind: str) -> Compute:
    names = (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)
    if predicate < 6:
        test = names[predicate]
        return lambda a, b: int(test(a, b))
    test, unsigned = names[predicate - 4], _unsigned(kind)
    return lambda a, b: int(test(unsigned(a), unsigned(b)))


def _compare_floats(predicate: int) -> Compute:
    """In the order of arith: false, six ordered ones, ord, six that hold for NaN too, uno, true."""
    tests = (operator.eq, operator.gt, operator.ge, operator.lt, operator.le, operator.ne)

    def compared(a: Any, b: Any) -> int:
        unordered = bool(a != a or b != b)
        if predicate in (0, 15):
            return predicate // 15
        if predicate in (7, 14):
            return int(unordered == (predicate == 14))
        test = tests[(predicate - 1) % 7]
        return int(predicate > 7 if unordered else bool(test(a, b)))

    return compared


def _nan_first(pick: Compute) -> Compute:
    return lambda a, b: a if a != a else b if b != b else pick(a, b)


_INTEGERS: dict[str, Compute] = {
    "arith.addi": operator.add, "arith.subi": operator.sub, "arith.muli": operator.mul,
    "arith.divsi": _quotient, "arith.remsi": _remainder,
    "arith.floordivsi": lambda a, b: a // b if b else 0, "arith.ceildivsi": lambda a, b: -(-a // b) if b else 0,
    "arith.maxsi": max, "arith.minsi": min, "arith.andi": operator.and_, "arith.ori": operator.or_,
    "arith.xori": operator.xor, "arith.shli": lambda a, b: a << b if 0 <= b < 64 else 0,
    "arith.shrsi": lambda a, b: a >> min(max(b, 0), 63), "math.absi": abs,
}  # fmt: skip
_UNSIGNED: dict[str, Compute] = {
    "arith.divui": lambda a, b: a // b if b else 0, "arith.remui": lambda a, b: a % b if b else 0,
    "arith.ceildivui": lambda a, b: -(-a // b) if b else 0, "arith.maxui": max, "arith.minui": min,
    "arith.shrui": lambda a, b: a >> b if b < 64 else 0, "arith.extui": lambda a: a, "arith.uitofp": lambda a: a,
    "arith.index_castui": lambda a: a,
}  # fmt: skip
_CONVERSIONS = {
    "arith.index_cast", "arith.extsi", "arith.trunci", "arith.sitofp", "arith.extf", "arith.truncf",
}  # fmt: skip
_CUTS = {"arith.fptosi", "arith.fptoui"}
"""A guard around them never looks at what they make of NaN and infinities."""
_FLOATS: dict[str, Compute] = {
    "arith.addf": operator.add, "arith.subf": operator.sub, "arith.mulf": operator.mul, "arith.divf": np.divide,
    "arith.negf": operator.neg, "arith.remf": np.fmod,
    "arith.maximumf": _nan_first(max), "arith.minimumf": _nan_first(min),
    "arith.maxnumf": np.fmax, "arith.minnumf": np.fmin,
    "math.absf": abs, "math.sqrt": np.sqrt, "math.rsqrt": lambda a: 1 / np.sqrt(a), "math.cbrt": np.cbrt,
    "math.exp": np.exp, "math.exp2": np.exp2, "math.expm1": np.expm1, "math.log": np.log, "math.log2": np.log2,
    "math.log10": np.log10, "math.log1p": np.log1p, "math.sin": np.sin, "math.cos": np.cos, "math.tan": np.tan,
    "math.asin": np.arcsin, "math.acos": np.arccos, "math.atan": np.arctan, "math.atan2": np.arctan2,
    "math.sinh": np.sinh, "math.cosh": np.cosh, "math.tanh": np.tanh, "math.asinh": np.arcsinh,
    "math.acosh": np.arccosh, "math.atanh": np.arctanh, "math.floor": np.floor, "math.ceil": np.ceil,
    "math.trunc": np.trunc, "math.roundeven": np.rint, "math.powf": np.power, "math.fpowi": np.power,
    "math.copysign": np.copysign, "math.fma": lambda a, b, c: a * b + c, "math.erf": math.erf,
    "math.erfc": math.erfc,
}  # fmt: skip
