"""Numbers as 64-bit words: how scalars travel to devices and lie on tapes."""

from __future__ import annotations

from mlir import ir
from mlir.dialects import arith


def to_word(value: ir.Value) -> ir.Value:
    """A number's bits in an i64, zeros in front; an index as it is."""
    kind = value.type
    if isinstance(kind, ir.IndexType):
        return arith.IndexCastOp(_i64(), value).result
    value = as_bits(value)
    return value if value.type == _i64() else arith.ExtUIOp(_i64(), value).result


def as_bits(value: ir.Value) -> ir.Value:
    """A float as the integer of its bits; an integer as it is."""
    if not isinstance(value.type, ir.FloatType):
        return value
    return arith.BitcastOp(ir.IntegerType.get_signless(value.type.width), value).result


def from_word(word: ir.Value, kind: ir.Type) -> ir.Value:
    """The number of type `kind` in a word."""
    if isinstance(kind, ir.IndexType):
        return arith.IndexCastOp(kind, word).result
    narrow = ir.IntegerType.get_signless(kind.width)
    bits = word if narrow == _i64() else arith.TruncIOp(narrow, word).result
    return arith.BitcastOp(kind, bits).result if isinstance(kind, ir.FloatType) else bits


def _i64() -> ir.Type:
    return ir.IntegerType.get_signless(64)
