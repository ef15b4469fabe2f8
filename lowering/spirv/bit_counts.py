"""Counts of bits by shifts, masks and one product: SPIR-V's own are left out by the conversion, or know 32 bits only.

Comes in: ``math.ctpop`` and ``math.ctlz`` of 8 to 64 bits. Goes out: their values. Used by `arithmetic`.
"""

from __future__ import annotations

from mlir import ir
from mlir.dialects import arith


def ones(op: ir.Operation) -> ir.Value:
    """How many bits are set: in pairs, in fours, in bytes, and the bytes summed by a product (Warren, 5-1)."""
    return _ones(op.operands[0])


def leading_zeros(op: ir.Operation) -> ir.Value:
    """The bits above the highest set one: it is spread to all below, what is left is counted."""
    value = op.operands[0]
    width = value.type.width
    shift = 1
    while shift < width:
        value = arith.OrIOp(value, _right(value, shift)).result
        shift *= 2
    return arith.SubIOp(_constant(value.type, width), _ones(value)).result


def _ones(value: ir.Value) -> ir.Value:
    width = value.type.width
    pairs = arith.SubIOp(value, _and(_right(value, 1), 0x55)).result
    fours = arith.AddIOp(_and(pairs, 0x33), _and(_right(pairs, 2), 0x33)).result
    eights = _and(arith.AddIOp(fours, _right(fours, 4)).result, 0x0F)
    if width == 8:
        return eights
    summed = arith.MulIOp(eights, _constant(value.type, _in_each_byte(0x01, width))).result
    return _right(summed, width - 8)


def _and(value: ir.Value, byte: int) -> ir.Value:
    return arith.AndIOp(value, _constant(value.type, _in_each_byte(byte, value.type.width))).result


def _right(value: ir.Value, by: int) -> ir.Value:
    return arith.ShRUIOp(value, _constant(value.type, by)).result


def _in_each_byte(byte: int, width: int) -> int:
    return int.from_bytes([byte] * (width // 8), "little")


def _constant(kind: ir.Type, value: int) -> ir.Value:
    return arith.ConstantOp(kind, ir.IntegerAttr.get(kind, value)).result
