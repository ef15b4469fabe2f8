"""Scalars into the IR, and from one type of the language to another.

Float to integer truncates toward zero, saturates, and takes NaN to 0; integer to narrower integer
wraps. bf16 and f16 meet through f32.
"""

from __future__ import annotations

import math

import numpy as np
from mlir import ir
from mlir.dialects import arith

from pykern.frontend.values import OperandError, Scalar
from pykern.types import DType, bool_, f32, f64, i64, u64, weak_int

_BY_NAME = {"bf16": ir.BF16Type, "f8e4m3": ir.Float8E4M3FNType, "f8e5m2": ir.Float8E5M2Type}


def mlir_type(dtype: DType) -> ir.Type:
    """The SSA type of a scalar. A weak int is an `index`: it is what positions are made of."""
    if dtype == bool_:
        return ir.IntegerType.get_signless(1)
    if dtype == weak_int:
        return ir.IndexType.get()
    if dtype.is_integer:
        return ir.IntegerType.get_signless(dtype.bits)
    if dtype.name in _BY_NAME:
        return _BY_NAME[dtype.name].get()
    return {16: ir.F16Type, 32: ir.F32Type, 64: ir.F64Type}[dtype.bits].get()


def memory_type(dtype: DType) -> ir.Type:
    """The type of an element in memory: NumPy's bool is a byte."""
    return ir.IntegerType.get_signless(8) if dtype == bool_ else mlir_type(dtype)


def integer_range(dtype: DType) -> tuple[int, int]:
    """Least and greatest value of an integer type."""
    if dtype.kind == "u":
        return 0, 2**dtype.bits - 1
    return -(2 ** (dtype.bits - 1)), 2 ** (dtype.bits - 1) - 1


def constant(value: object, dtype: DType) -> ir.Value:
    """An `arith.constant` of `dtype`."""
    kind = mlir_type(dtype)
    if dtype.is_float:
        return arith.ConstantOp(kind, ir.FloatAttr.get(kind, float(value))).result
    number = int(value)
    if dtype == weak_int and not fits(number, weak_int):
        raise OperandError(f"the integer {number} fits u64 alone", f"cast it, as in pk.u64({number})")
    if number > 2 ** (dtype.bits - 1) - 1 and dtype.kind == "u":
        number -= 2**dtype.bits
    return arith.ConstantOp(kind, ir.IntegerAttr.get(kind, number)).result


def materialise(value: Scalar) -> ir.Value:
    """The SSA value of a scalar, made where it is a constant."""
    return value.ssa if value.ssa is not None else constant(value.const, value.dtype)


def fits(value: object, dtype: DType) -> bool:
    """Whether a constant can take an integer type without change."""
    low, high = integer_range(dtype)
    return low <= int(value) <= high


def can_hold(dtype: DType, value: Scalar) -> bool:
    """False for a Python integer that is known, and that an integer type does not have."""
    known = value.is_const and value.dtype == weak_int and dtype.is_integer
    return not known or fits(value.const, dtype)


def convert(value: Scalar, to: DType) -> Scalar:
    """`value` as `to`. Constants stay constants while nothing is lost. A cast to fp8 rounds an f32."""
    if to.is_storage:
        stored = to_storage(materialise(convert(value, f32)), to)
        return Scalar(f32, arith.ExtFOp(mlir_type(f32), stored).result)
    if value.dtype == to:
        return value
    if value.is_const:
        return _convert_const(value, to)
    return Scalar(to, _convert_ssa(value.ssa, value.dtype, to))


def bitcast(value: Scalar, to: DType) -> Scalar:
    """The bits of `value`, read as a number of type `to`. Raises `OperandError` where they are not as many."""
    for dtype in (value.dtype, to):
        if dtype.weak or dtype == bool_:
            raise OperandError(
                f"{dtype.name} has no bits of a fixed number", "cast to a type first, as in pk.f32(x)"
            )
    if value.dtype.bits != to.bits:
        raise OperandError(f"{value.dtype.name} has {value.dtype.bits} bits, and {to.name} has {to.bits}",
                           "give types of one size, as f32 and u32")  # fmt: skip
    if to.is_storage:
        held = arith.BitcastOp(mlir_type(to), materialise(value)).result
        return Scalar(f32, arith.ExtFOp(mlir_type(f32), held).result)
    if value.is_const:
        return Scalar(to, const=np.array(value.const).astype(value.dtype.numpy).view(to.numpy).item())
    if mlir_type(to) == mlir_type(value.dtype):
        return Scalar(to, value.ssa)
    return Scalar(to, arith.BitcastOp(mlir_type(to), materialise(value)).result)


def to_storage(value: ir.Value, to: DType) -> ir.Value:
    """An f32 as an element of fp8."""
    return arith.TruncFOp(mlir_type(to), value).result


def _convert_const(value: Scalar, to: DType) -> Scalar:
    const = value.const
    if to == bool_:
        return Scalar(to, const=bool(const))
    if to.is_float:
        try:
            return Scalar(to, const=_rounded(float(const), to))
        except OverflowError:
            return Scalar(to, const=math.copysign(math.inf, const))
    low, high = integer_range(to)
    if isinstance(const, float):
        number = 0 if math.isnan(const) else high if const >= high else low if const <= low else int(const)
    else:
        number = (int(const) - low) % (high - low + 1) + low
    return Scalar(to, const=number)


def _rounded(number: float, to: DType) -> float:
    """`number` rounded to `to`, kept as a Python float; infinite where it is too large."""
    with np.errstate(over="ignore"):
        return float(to.numpy.type(number)) if to.bits < 64 else number


def _convert_ssa(value: ir.Value, source: DType, to: DType) -> ir.Value:
    kind = mlir_type(to)
    if source.is_float:
        if to == bool_:
            return arith.CmpFOp(arith.CmpFPredicate.UNE, value, constant(0.0, source)).result
        return _float_to_float(value, source, to) if to.is_float else _float_to_integer(value, source, to)
    if to == bool_:
        return arith.CmpIOp(arith.CmpIPredicate.ne, value, constant(0, source)).result
    if to.is_float:
        return _integer_to_float(value, source, to)
    if to == weak_int:
        cast = arith.IndexCastUIOp if source.kind in "bu" else arith.IndexCastOp
        return cast(kind, value).result
    if source == weak_int:
        return arith.IndexCastOp(kind, value).result
    if to.bits < source.bits:
        return arith.TruncIOp(kind, value).result
    if to.bits == source.bits:
        return value
    widen = arith.ExtUIOp if source.kind in "bu" else arith.ExtSIOp
    return widen(kind, value).result


def _float_to_float(value: ir.Value, source: DType, to: DType) -> ir.Value:
    kind = mlir_type(to)
    if to.bits > source.bits:
        return arith.ExtFOp(kind, value).result
    if to.bits < source.bits:
        if (
            source.bits == 64 and to.name == "bf16"
        ):  # as ml_dtypes does; f16 is rounded once (`passes.round_once`)
            value = arith.TruncFOp(mlir_type(f32), value).result
        return arith.TruncFOp(kind, value).result
    if kind == value.type:
        return value
    return arith.TruncFOp(kind, arith.ExtFOp(mlir_type(f32), value).result).result


def _integer_to_float(value: ir.Value, source: DType, to: DType) -> ir.Value:
    if source == weak_int:
        value, source = _convert_ssa(value, weak_int, i64), i64
    cast = arith.UIToFPOp if source.kind in "bu" else arith.SIToFPOp
    if to.bits == 16:  # no direct conversion on most targets; f32 holds what 16 bits can
        return arith.TruncFOp(mlir_type(to), cast(mlir_type(f32), value).result).result
    return cast(mlir_type(to), value).result


def _float_to_integer(value: ir.Value, source: DType, to: DType) -> ir.Value:
    """Selects keep the result defined where the machine's conversion is not."""
    if source.bits == 16:
        value, source = arith.ExtFOp(mlir_type(f32), value).result, f32
    target = i64 if to == weak_int else to
    low, high = integer_range(target)
    kind = mlir_type(target)
    # 2**n bounds are exact in every float type wide enough; `below` is the first value that fits.
    above = constant(float(high + 1), source)
    below = constant(float(low), source)
    cast = arith.FPToUIOp if target.kind == "u" else arith.FPToSIOp
    converted = cast(kind, value).result
    too_high = arith.CmpFOp(arith.CmpFPredicate.OGE, value, above).result
    too_low = arith.CmpFOp(arith.CmpFPredicate.OLE, value, below).result
    is_nan = arith.CmpFOp(arith.CmpFPredicate.UNO, value, value).result
    result = arith.SelectOp(too_high, constant(high, target), converted).result
    result = arith.SelectOp(too_low, constant(low, target), result).result
    result = arith.SelectOp(is_nan, constant(0, target), result).result
    return arith.IndexCastOp(ir.IndexType.get(), result).result if to == weak_int else result


def zero(dtype: DType) -> Scalar:
    return Scalar(dtype, const=False if dtype == bool_ else 0.0 if dtype.is_float else 0)


def bits(value: Scalar) -> ir.Value:
    """A value in 64 bits, for the host: integers extended, floats as f64."""
    wide = ir.IntegerType.get_signless(64)
    if value.dtype.is_float:
        return arith.BitcastOp(wide, materialise(convert(value, f64))).result
    return materialise(convert(value, u64 if value.dtype.kind == "u" else i64))
