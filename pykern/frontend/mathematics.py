"""Functions of numbers: the math dialect where it has them, libm by name where it has not.

Integers become floats as in NumPy (8 bits f16, 16 bits f32, else f64; Python integers weak floats).
"""

from __future__ import annotations

import math as python_math
from collections.abc import Callable
from typing import Any

from mlir import ir
from mlir.dialects import arith, func, math

from pykern.data.promotion import binary_math, promote, unary_math
from pykern.frontend import arithmetic, integers, numpy_elements
from pykern.frontend.arithmetic import flags
from pykern.frontend.casts import constant, convert, materialise, mlir_type
from pykern.frontend.values import OperandError, Scalar
from pykern.types import DType, bool_, f32, f64, i8, i64, weak_int

FLOAT_UNARY = {
    "sqrt": math.SqrtOp, "rsqrt": math.RsqrtOp, "cbrt": math.CbrtOp,
    "exp": math.ExpOp, "exp2": math.Exp2Op, "expm1": math.ExpM1Op,
    "log": math.LogOp, "log2": math.Log2Op, "log10": math.Log10Op, "log1p": math.Log1pOp,
    "sin": math.SinOp, "cos": math.CosOp, "tan": math.TanOp,
    "asin": math.AsinOp, "acos": math.AcosOp, "atan": math.AtanOp,
    "sinh": math.SinhOp, "cosh": math.CoshOp, "tanh": math.TanhOp,
    "asinh": math.AsinhOp, "acosh": math.AcoshOp, "atanh": math.AtanhOp,
    "erf": math.ErfOp, "erfc": math.ErfcOp,
}  # fmt: skip
ROUNDING = {"floor": math.FloorOp, "ceil": math.CeilOp, "trunc": math.TruncOp, "round": math.RoundEvenOp}
FLOAT_BINARY = {"atan2": math.Atan2Op, "copysign": math.CopySignOp, "fmod": arith.RemFOp}
LIBM_UNARY = {"gamma": "tgamma", "lgamma": "lgamma"}
LIBM_BINARY = {"hypot": "hypot", "remainder": "remainder", "nextafter": "nextafter"}
CLASSIFY = ("isnan", "isinf", "isfinite")
SCALED = {"degrees": 180.0 / python_math.pi, "radians": python_math.pi / 180.0}

NAMES = frozenset(
    (*FLOAT_UNARY, *ROUNDING, *FLOAT_BINARY, *LIBM_UNARY, *LIBM_BINARY, *CLASSIFY, *SCALED,
     "abs", "fabs", "pow", "min", "max", "minimum", "maximum", "fma", "where", "clamp", "cdiv",
     "popcount", "clz", "sign", "square", "divmod", "gcd", "isqrt", "fmin", "fmax", "signbit", "heaviside",
     "logaddexp", "sinc")
)  # fmt: skip


def apply(name: str, args: list[Scalar], fastmath: bool) -> Scalar | tuple[Scalar, Scalar]:
    """The function `name` on scalars. Raises `OperandError` where the operands do not fit."""
    if name in FLOAT_UNARY:
        return _unary(name, _one(name, args), fastmath)
    if name in ROUNDING:
        return _rounded(name, args)
    if name in FLOAT_BINARY:
        return _binary(FLOAT_BINARY[name], *_two(name, args))
    if name in LIBM_UNARY:
        return _library(LIBM_UNARY[name], [_one(name, args)])
    if name in LIBM_BINARY:
        first, second = _two(name, args)
        if name == "nextafter" and (short := binary_math(first.dtype, second.dtype)).bits < 32:
            raise OperandError(
                f"`nextafter` takes f32 and f64, not {short}", "cast it first, as in pk.f32(x)"
            )
        return _library(LIBM_BINARY[name], [first, second])
    if name in CLASSIFY:
        return _classify(name, _one(name, args))
    if name in SCALED:
        a = _float(_one(name, args))
        return arithmetic.binary("*", a, Scalar(a.dtype, const=SCALED[name]), fastmath)
    if name in ("min", "minimum", "max", "maximum"):
        return _extremum(arithmetic.minimum if name.startswith("min") else arithmetic.maximum, name, args)
    return (_OTHERS.get(name) or OF_NUMPY[name])(args, fastmath)


def _one(name: str, args: list[Scalar]) -> Scalar:
    if len(args) != 1:
        raise OperandError(f"`{name}` takes one number, not {len(args)}", f"write {name}(x)")
    return args[0]


def _two(name: str, args: list[Scalar]) -> tuple[Scalar, Scalar]:
    if len(args) != 2:
        raise OperandError(f"`{name}` takes two numbers, not {len(args)}", f"write {name}(x, y)")
    return args[0], args[1]


def _three(name: str, args: list[Scalar]) -> tuple[Scalar, Scalar, Scalar]:
    if len(args) != 3:
        raise OperandError(f"`{name}` takes three values, not {len(args)}", f"write {name}(x, y, z)")
    return args[0], args[1], args[2]


def _float(a: Scalar) -> Scalar:
    return convert(a, unary_math(a.dtype))


def _unary(name: str, a: Scalar, fastmath: bool) -> Scalar:
    a = _float(a)
    return Scalar(a.dtype, FLOAT_UNARY[name](materialise(a), fastmath=flags(fastmath)).result)


def _binary(made: Callable, a: Scalar, b: Scalar) -> Scalar:
    dtype = binary_math(a.dtype, b.dtype)
    return Scalar(dtype, made(materialise(convert(a, dtype)), materialise(convert(b, dtype))).result)


def _rounded(name: str, args: list[Scalar]) -> Scalar:
    """floor, ceil, trunc, round keep the type, as NumPy's; an integer stays itself."""
    if len(args) == 2 and name == "round":
        raise OperandError("`round` takes one number in kernels", "scale first: round(x * 100) / 100")
    a = _one(name, args)
    if not a.dtype.is_float:
        return a
    return Scalar(a.dtype, ROUNDING[name](materialise(a)).result)


def _classify(name: str, a: Scalar) -> Scalar:
    if not a.dtype.is_float:
        return Scalar(bool_, const=name == "isfinite")
    value = materialise(a)
    if name == "isnan":
        return Scalar(bool_, arith.CmpFOp(arith.CmpFPredicate.UNO, value, value).result)
    magnitude = math.AbsFOp(value).result
    infinity = constant(python_math.inf, a.dtype)
    predicate = arith.CmpFPredicate.OEQ if name == "isinf" else arith.CmpFPredicate.OLT
    return Scalar(bool_, arith.CmpFOp(predicate, magnitude, infinity).result)


def _extremum(combine: Callable[[Scalar, Scalar], Scalar], name: str, args: list[Scalar]) -> Scalar:
    if len(args) < 2:
        raise OperandError(f"`{name}` takes two or more numbers", f"write {name}(x, y)")
    result = args[0]
    for item in args[1:]:
        result = combine(result, item)
    return result


def _absolute(args: list[Scalar], fastmath: bool) -> Scalar:
    a = _one("abs", args)
    if a.is_const and a.dtype.weak:
        return arithmetic.python_constant(abs(a.const))
    if a.dtype.is_float:
        return Scalar(a.dtype, math.AbsFOp(materialise(a)).result)
    if a.dtype.kind in "bu":
        return a
    value = materialise(a)
    negative = arith.CmpIOp(arith.CmpIPredicate.slt, value, constant(0, a.dtype)).result
    return Scalar(a.dtype, arith.SelectOp(negative, materialise(arithmetic.negate(a)), value).result)


def _where(args: list[Scalar], fastmath: bool) -> Scalar:
    condition, a, b = _three("where", args)
    condition = arithmetic.truth(condition)
    dtype = promote(a.dtype, b.dtype)
    left, right = (materialise(convert(arithmetic.fitting(v, dtype), dtype)) for v in (a, b))
    return Scalar(dtype, arith.SelectOp(materialise(condition), left, right).result)


def _fma(args: list[Scalar], fastmath: bool) -> Scalar:
    a, b, c = _three("fma", args)
    dtype = unary_math(promote(promote(a.dtype, b.dtype), c.dtype))
    # 16 bits have no such instruction, and LLVM would call the C runtime
    wide = f64 if dtype.bits == 16 else dtype
    values = [materialise(convert(convert(v, dtype), wide)) for v in (a, b, c)]
    return convert(Scalar(wide, math.FmaOp(*values).result), dtype)


def _clamp(args: list[Scalar], fastmath: bool) -> Scalar:
    value, low, high = _three("clamp", args)
    return arithmetic.minimum(arithmetic.maximum(value, low), high)


def _cdiv(args: list[Scalar], fastmath: bool) -> Scalar:
    a, b = _two("cdiv", args)
    dtype = promote(a.dtype, b.dtype)
    # the negative of the least number, or of an unsigned one, is another
    if dtype.is_integer and not (a.is_const and b.is_const):
        quotient, rest = arithmetic.binary("//", a, b), arithmetic.binary("%", a, b)
        more = arithmetic.binary("!=", rest, Scalar(rest.dtype, const=0))
        return arithmetic.binary("+", quotient, convert(more, quotient.dtype))
    return arithmetic.negate(arithmetic.binary("//", arithmetic.negate(a), b))


def _count_bits(made: Callable) -> Callable[[list[Scalar], bool], Scalar]:
    def count(args: list[Scalar], fastmath: bool) -> Scalar:
        a = _one("popcount or clz", args)
        if not a.dtype.is_integer:
            raise OperandError(
                f"bits are counted in integers, not {a.dtype.name}", "cast it first, as in pk.u32(x)"
            )
        wide = i64 if a.dtype == weak_int else a.dtype
        return convert(Scalar(wide, made(materialise(convert(a, wide))).result), weak_int)

    return count


def _sign(args: list[Scalar], fastmath: bool) -> Scalar:
    """-1, 0 or 1 in the type of the argument; NaN stays."""
    a = _one("sign", args)
    nil = Scalar(a.dtype, const=0.0 if a.dtype.is_float else 0)
    positive = convert(arithmetic.binary(">", a, nil), a.dtype)
    negative = convert(arithmetic.binary("<", a, nil), a.dtype)
    result = arithmetic.binary("-", positive, negative)
    if not a.dtype.is_float:
        return result
    value = materialise(a)
    is_nan = arith.CmpFOp(arith.CmpFPredicate.UNO, value, value).result
    return Scalar(a.dtype, arith.SelectOp(is_nan, value, materialise(result)).result)


def _square(args: list[Scalar], fastmath: bool) -> Scalar:
    """Of a bool an i8, as NumPy's."""
    a = _one("square", args)
    a = convert(a, i8) if a.dtype == bool_ else a
    return arithmetic.binary("*", a, a, fastmath)


def _divmod(args: list[Scalar], fastmath: bool) -> tuple[Scalar, Scalar]:
    a, b = _two("divmod", args)
    return arithmetic.binary("//", a, b), arithmetic.binary("%", a, b)


def _float_extremum(name: str, symbol: str) -> Callable[[list[Scalar], bool], Scalar]:
    """fmin and fmax: the other one of a number and NaN."""

    def choose(args: list[Scalar], fastmath: bool) -> Scalar:
        a, b = _two(name, args)
        first = arithmetic.binary("|", arithmetic.binary(symbol, a, b), _classify("isnan", b))
        return _where([first, a, b], fastmath)

    return choose


def _signbit(args: list[Scalar], fastmath: bool) -> Scalar:
    """Whether a number is below zero, or the zero that is; of NaN its sign."""
    a = _one("signbit", args)
    if a.dtype.kind in "bu":
        return Scalar(bool_, const=False)
    if a.dtype.is_float:
        dtype = unary_math(a.dtype)
        a = _binary(math.CopySignOp, Scalar(dtype, const=1.0), a)
    return arithmetic.binary("<", a, Scalar(a.dtype, const=0.0 if a.dtype.is_float else 0))


_OTHERS: dict[str, Callable] = {
    "abs": _absolute,
    "fabs": lambda args, fast: _absolute([_float(_one("fabs", args))], fast),
    "pow": lambda args, fast: arithmetic.binary("**", *_two("pow", args), fast),
    "where": _where,
    "fma": _fma,
    "clamp": _clamp,
    "cdiv": _cdiv,
    "popcount": _count_bits(math.CtPopOp),
    "clz": _count_bits(math.CountLeadingZerosOp),
    "sign": _sign,
    "square": _square,
    "divmod": _divmod,
    "gcd": integers.gcd,
    "isqrt": integers.isqrt,
    "fmin": _float_extremum("fmin", "<"),
    "fmax": _float_extremum("fmax", ">"),
    "signbit": _signbit,
}


def _remainder(args: list[Scalar], fastmath: bool) -> Scalar:
    """NumPy's fmod: of integers it is one, with the sign of the first."""
    a, b = _two("fmod", args)
    dtype = promote(a.dtype, b.dtype)
    if dtype.is_float:
        return _binary(arith.RemFOp, a, b)
    a, b = (convert(v, i8 if dtype == bool_ else dtype) for v in (a, b))
    rest, nil = arithmetic.binary("%", a, b), Scalar(weak_int, const=0)
    is_other = arithmetic.binary("^", arithmetic.binary("<", a, nil), arithmetic.binary("<", rest, nil))
    is_other = arithmetic.binary("&", is_other, arithmetic.binary("!=", rest, nil))
    return _where([is_other, arithmetic.binary("-", rest, b), rest], fastmath)


def _float_power(args: list[Scalar], fastmath: bool) -> Scalar:
    a, b = (convert(v, f64) for v in _two("float_power", args))
    return arithmetic.binary("**", a, b, fastmath)


def functions(fastmath: bool) -> Callable[..., Any]:
    """`apply` with the numbers as they are written in a call."""
    return lambda name, *given: apply(name, list(given), fastmath)


OF_NUMPY: dict[str, Callable] = {
    "numpy.rint": lambda args, fast: _rounded("round", [_float(_one("rint", args))]),
    "numpy.bitwise_count": lambda args, fast: _count_bits(math.CtPopOp)([_absolute(args, fast)], fast),
    "numpy.fmod": _remainder,
    "numpy.float_power": _float_power,
    "numpy.minimum": lambda args, fast: _extremum(arithmetic.minimum, "minimum", [*_two("minimum", args)]),
    "numpy.maximum": lambda args, fast: _extremum(arithmetic.maximum, "maximum", [*_two("maximum", args)]),
    **numpy_elements.handlers(functions),
}
"""Functions that are called by NumPy's names alone, and differ from those of the language in types, of negative
integers, or in how many operands they take."""


def _library(name: str, args: list[Scalar]) -> Scalar:
    """A call of libm in f64, or f32 where that is the type."""
    dtype = unary_math(args[0].dtype) if len(args) == 1 else binary_math(args[0].dtype, args[1].dtype)
    wide: DType = f64 if dtype.bits == 64 else f32
    symbol = name if wide == f64 else f"{name}f"
    _declare(symbol, wide, len(args))
    values = [materialise(convert(a, wide)) for a in args]
    kind = mlir_type(wide)
    called = func.CallOp([kind], ir.FlatSymbolRefAttr.get(symbol), values).results[0]
    return convert(Scalar(wide, called), dtype)


def _declare(symbol: str, dtype: DType, arity: int) -> None:
    block = ir.InsertionPoint.current.block
    root: Any = block.owner
    while root.operation.name != "builtin.module":
        root = root.operation.parent
    body = root.operation.regions[0].blocks[0]
    if any(ir.StringAttr(op.operation.attributes["sym_name"]).value == symbol for op in body.operations):
        return
    kind = mlir_type(dtype)
    with ir.InsertionPoint.at_block_begin(body):
        func.FuncOp(symbol, ir.FunctionType.get([kind] * arity, [kind]), visibility="private")
