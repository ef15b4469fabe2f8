"""fp8 becomes bytes: for machines that convert nothing of 8 bits.

Comes in: f8E4M3FN and f8E5M2 in memory, and conversions of them. Goes out: i8 in their place, the
conversions as integer arithmetic without branches. Upstream's arith-expand knows f8E8M0FNU only.
The numbers are those of ml_dtypes: to nearest, ties to even, beyond the range NaN (e4m3 has no
infinity) or infinity (e5m2); f64 is rounded to f32 first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith

from pykern.dialect.diagnostics import span_of
from pykern.errors import PassError
from pykern.passes.framework import Pass
from pykern.passes.kernels import find


@dataclass(frozen=True)
class Fp8Format:
    """A small float of 1 sign bit, `mantissa` bits of fraction, and an exponent with `bias`."""

    mantissa: int
    bias: int
    nan: int
    above: int
    """The code, without sign, of what is beyond the largest finite number."""


E4M3, E5M2 = Fp8Format(3, 7, nan=0x7F, above=0x7F), Fp8Format(2, 15, nan=0x7E, above=0x7C)


def format_of(kind: ir.Type) -> Fp8Format | None:
    """The format of an fp8 type, None for any other type."""
    if isinstance(kind, ir.Float8E4M3FNType):
        return E4M3
    return E5M2 if isinstance(kind, ir.Float8E5M2Type) else None


@dataclass(frozen=True)
class ExpandFp8(Pass):
    """Keep fp8 as i8, and convert by hand.

    In:  values, memrefs and function types of f8E4M3FN and f8E5M2; conversions of them.
    Out: none of these types. Arithmetic in fp8 is refused: kernels compute in f32.
    """

    name: ClassVar[str] = "kern-expand-fp8"

    def run(self, module: ir.Module) -> None:
        operations = find(module.operation, _touches)
        for op in operations:
            _check(op)
        for op in [op for op in operations if op.name in _CONVERSIONS]:
            _convert(op)  # the types still say which format it is
        for op in find(module.operation, _touches):
            _retype(op)


def _touches(op: ir.Operation) -> bool:
    return any(_as_bytes(kind) != kind for kind in _types(op))


def _types(op: ir.Operation) -> list[ir.Type]:
    arguments = [a.type for region in op.regions for block in region.blocks for a in block.arguments]
    kinds = [v.type for v in (*op.operands, *op.results)] + arguments
    if "function_type" in op.attributes:
        kinds.append(ir.TypeAttr(op.attributes["function_type"]).value)
    return kinds


def _as_bytes(kind: ir.Type) -> ir.Type:
    """The type with i8 for fp8."""
    if format_of(kind) is not None:
        return ir.IntegerType.get_signless(8)
    if isinstance(kind, ir.MemRefType) and format_of(kind.element_type) is not None:
        element = ir.IntegerType.get_signless(8)
        return ir.MemRefType.get(kind.shape, element, layout=kind.layout, memory_space=kind.memory_space)
    if isinstance(kind, ir.FunctionType):
        return ir.FunctionType.get([_as_bytes(k) for k in kind.inputs], [_as_bytes(k) for k in kind.results])
    return kind


_TO_INTEGERS, _FROM_INTEGERS = {"arith.fptosi", "arith.fptoui"}, {"arith.sitofp", "arith.uitofp"}
_CONVERSIONS = {"arith.extf", "arith.truncf"} | _TO_INTEGERS | _FROM_INTEGERS
_FREE = {"arith.constant", "arith.select", "arith.bitcast"} | _CONVERSIONS


def _check(op: ir.Operation) -> None:
    computes = op.name.startswith(("arith.", "math.")) and op.name not in _FREE
    if computes or (op.name.startswith("kern.atomic") and _touches(op)):
        raise PassError(f"`{op.name}` computes in fp8", span_of(op.location), "convert to f32 first")


def _retype(op: ir.Operation) -> None:
    if "function_type" in op.attributes:
        kind = ir.TypeAttr(op.attributes["function_type"]).value
        op.attributes["function_type"] = ir.TypeAttr.get(_as_bytes(kind))
    for value in (*op.results, *(a for region in op.regions for b in region.blocks for a in b.arguments)):
        if op.name == "arith.constant" and (form := format_of(value.type)) is not None:
            bits = code(ir.FloatAttr(op.attributes["value"]).value, form)
            op.attributes["value"] = ir.IntegerAttr.get(_as_bytes(value.type), bits - ((bits & 128) << 1))
        value.set_type(_as_bytes(value.type))
    if op.name == "arith.bitcast" and op.operands[0].type == op.results[0].type:
        op.results[0].replace_all_uses_with(op.operands[0])
        op.erase()


def _convert(op: ir.Operation) -> None:
    source, result = op.operands[0], op.results[0]
    byte, f32 = ir.IntegerType.get_signless(8), ir.F32Type.get()
    with ir.InsertionPoint(op), op.location:
        if (form := format_of(source.type)) is not None:
            number = decoded(arith.BitcastOp(byte, source).result, form)
            made = _as(number, result.type, op.name if op.name in _TO_INTEGERS else None)
        else:
            form = format_of(result.type)
            assert form is not None
            number = _as(source, f32, op.name if op.name in _FROM_INTEGERS else None)
            made = arith.BitcastOp(result.type, encoded(number, form)).result
    result.replace_all_uses_with(made)
    op.erase()


def _as(value: ir.Value, kind: ir.Type, conversion: str | None) -> ir.Value:
    """An f32 as `kind`, or the other way round: by `conversion` where one side is an integer.

    Canonicalization makes one conversion of two. Integers that f32 rounds are far beyond fp8.
    """
    if conversion is not None:
        return ir.Operation.create(conversion, results=[kind], operands=[value]).result
    have, want = ir.FloatType(value.type).width, ir.FloatType(kind).width
    if have == want:
        return value
    return (arith.ExtFOp if have < want else arith.TruncFOp)(kind, value).result


# -- the conversions ----------------------------------------------------------------------------


def _i32(number: int) -> ir.Value:
    return arith.ConstantOp(ir.IntegerType.get_signless(32), number - ((number >> 31) << 32)).result


def decoded(byte: ir.Value, form: Fp8Format) -> ir.Value:
    """The f32 that an i8 stands for.

    The bits, put where f16 has them, are 2**(bias - 15) times the number: exact, also for what is
    subnormal here; an f16 of e5m2 is the number itself, infinities and NaN included.
    """
    i16, i32 = ir.IntegerType.get_signless(16), ir.IntegerType.get_signless(32)
    wide = arith.ExtSIOp(i32, byte).result
    magnitude = arith.AndIOp(wide, _i32(0x7F)).result
    moved = arith.ShLIOp(magnitude, _i32(10 - form.mantissa)).result
    sign = arith.AndIOp(wide, _i32(0x8000)).result  # of the extended byte
    half = arith.BitcastOp(ir.F16Type.get(), arith.TruncIOp(i16, arith.OrIOp(moved, sign).result).result)
    f32 = ir.F32Type.get()
    number = arith.ExtFOp(f32, half.result).result
    if form is E5M2:
        return number
    scaled = arith.MulFOp(number, arith.ConstantOp(f32, 2.0 ** (15 - form.bias)).result).result
    nan = arith.ConstantOp(f32, ir.FloatAttr.get(f32, float("nan"))).result
    is_nan = arith.CmpIOp(arith.CmpIPredicate.eq, magnitude, _i32(form.nan)).result
    return arith.SelectOp(is_nan, nan, scaled).result


def encoded(number: ir.Value, form: Fp8Format) -> ir.Value:
    """The i8 nearest to an f32.

    Normal numbers round in the integers: half of the last kept bit is added, less one where that bit
    is even. Subnormal ones round in an addition of floats, to whose last bit their last bit is moved.
    """
    i8, i32, f32 = ir.IntegerType.get_signless(8), ir.IntegerType.get_signless(32), ir.F32Type.get()
    bits = arith.BitcastOp(i32, number).result
    magnitude = arith.AndIOp(bits, _i32(0x7FFFFFFF)).result
    drop = 23 - form.mantissa
    odd = arith.AndIOp(arith.ShRUIOp(magnitude, _i32(drop)).result, _i32(1)).result
    rebias = ((127 - form.bias) << 23) - ((1 << (drop - 1)) - 1)
    rounded = arith.AddIOp(arith.SubIOp(magnitude, _i32(rebias)).result, odd).result
    normal = arith.ShRUIOp(rounded, _i32(drop)).result

    unit = _i32((127 - form.bias + drop + 1) << 23)  # its last bit weighs as much as that of a subnormal
    shifted = arith.AddFOp(arith.BitcastOp(f32, magnitude).result, arith.BitcastOp(f32, unit).result).result
    subnormal = arith.SubIOp(arith.BitcastOp(i32, shifted).result, unit).result

    least = _i32((128 - form.bias) << 23)
    is_small = arith.CmpIOp(arith.CmpIPredicate.ult, magnitude, least).result
    code_ = arith.MinUIOp(arith.SelectOp(is_small, subnormal, normal).result, _i32(form.above)).result
    is_nan = arith.CmpIOp(arith.CmpIPredicate.ugt, magnitude, _i32(0x7F800000)).result
    code_ = arith.SelectOp(is_nan, _i32(form.nan), code_).result
    sign = arith.AndIOp(arith.ShRUIOp(bits, _i32(24)).result, _i32(0x80)).result
    return arith.TruncIOp(i8, arith.OrIOp(code_, sign).result).result


def code(number: float, form: Fp8Format) -> int:
    """The code of a number that the format holds: of a constant, which MLIR has rounded."""
    sign = 0x80 if math.copysign(1.0, number) < 0 else 0
    if math.isnan(number):
        return sign | form.nan
    if math.isinf(number):
        return sign | form.above
    if number == 0:
        return sign
    exponent = max(math.frexp(number)[1] - 1, 1 - form.bias)  # subnormal numbers share the least exponent
    scaled = int(math.ldexp(abs(number), form.mantissa - exponent))
    return sign | (((exponent + form.bias - 1) << form.mantissa) + scaled)
