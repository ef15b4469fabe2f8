"""Functions of integers that no dialect has: gcd by Euclid's loop, isqrt through floats and one correction.

Comes in: scalars. Goes out: a scalar in their common type. Nothing traps: the isqrt of a negative is 0.
"""

from __future__ import annotations

import math as python_math

from mlir import ir
from mlir.dialects import arith, math, scf

from pykern.data.promotion import promote
from pykern.frontend import arithmetic
from pykern.frontend.casts import constant, convert, materialise, mlir_type
from pykern.frontend.values import OperandError, Scalar
from pykern.types import DType, bool_, f32, f64, u32, u64, weak_int


def gcd(args: list[Scalar], fastmath: bool) -> Scalar:
    """The greatest common divisor; 0 of none but zeros."""
    if not args:
        raise OperandError("`gcd` takes one or more integers", "write gcd(a, b)")
    _only_integers("gcd", args)
    if all(a.is_const and a.dtype == weak_int for a in args):
        return arithmetic.python_constant(_constant_gcd(args))
    dtype = args[0].dtype
    for other in args[1:]:
        wider = promote(dtype, other.dtype)
        if not wider.is_integer:
            raise OperandError(f"`gcd` of {dtype.name} and {other.dtype.name} would be a {wider.name}",
                               "cast one of them first, as in pk.u64(x)")  # fmt: skip
        dtype = wider
    result = _magnitude(args[0], dtype)
    for other in args[1:]:
        result = _euclid(result, _magnitude(other, dtype))
    return Scalar(dtype, result)


def _constant_gcd(args: list[Scalar]) -> int:
    return python_math.gcd(*(a.const for a in args))


def _only_integers(name: str, args: list[Scalar]) -> None:
    for a in args:
        if not a.dtype.is_integer or a.dtype == bool_:
            raise OperandError(f"`{name}` takes integers, not {a.dtype.name}", "cast it first, as in int(x)")


def _magnitude(a: Scalar, dtype: DType) -> ir.Value:
    """`abs(a)` in `dtype`; the least integer stays itself, and is read as unsigned from here on."""
    value = materialise(convert(a, dtype))
    if dtype.kind == "u":
        return value
    nil = constant(0, dtype)
    negative = arith.CmpIOp(arith.CmpIPredicate.slt, value, nil).result
    return arith.SelectOp(negative, arith.SubIOp(nil, value).result, value).result


def _euclid(a: ir.Value, b: ir.Value) -> ir.Value:
    """``while b: a, b = b, a % b`` on unsigned integers."""
    loop = scf.WhileOp([a.type, b.type], [a, b])
    test = loop.before.blocks.append(a.type, b.type)
    with ir.InsertionPoint(test):
        nil = arith.ConstantOp(b.type, 0).result
        more = arith.CmpIOp(arith.CmpIPredicate.ne, test.arguments[1], nil).result
        scf.ConditionOp(more, list(test.arguments))
    step = loop.after.blocks.append(a.type, b.type)
    with ir.InsertionPoint(step):
        left, right = step.arguments
        scf.YieldOp([right, arith.RemUIOp(left, right).result])
    return loop.results[0]


def isqrt(args: list[Scalar], fastmath: bool) -> Scalar:
    """The integer below the square root. Of 64 bits in f64, else in f32: both are at most one off."""
    if len(args) != 1:
        raise OperandError(f"`isqrt` takes one integer, not {len(args)}", "write isqrt(n)")
    _only_integers("isqrt", args)
    a = args[0]
    is_wide = not isinstance(a.dtype, DType) or a.dtype.bits > 32
    whole, real, most = (u64, f64, 2**32 - 1) if is_wide else (u32, f32, 2**16 - 1)
    n = materialise(convert(arithmetic.maximum(a, Scalar(a.dtype, const=0)), whole))
    kind = mlir_type(whole)
    near = math.SqrtOp(arith.UIToFPOp(mlir_type(real), n).result).result
    root = arith.MinUIOp(arith.FPToUIOp(kind, near).result, constant(most, whole)).result
    above = arith.CmpIOp(arith.CmpIPredicate.ugt, arith.MulIOp(root, root).result, n).result
    root = arith.SubIOp(root, arith.ExtUIOp(kind, above).result).result
    rest = arith.SubIOp(n, arith.MulIOp(root, root).result).result
    below = arith.CmpIOp(arith.CmpIPredicate.ugt, rest, arith.AddIOp(root, root).result).result
    return convert(Scalar(whole, arith.AddIOp(root, arith.ExtUIOp(kind, below).result).result), a.dtype)
