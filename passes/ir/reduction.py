"""Reduction kinds as arith: how two values combine, and the value that changes nothing."""

from __future__ import annotations

from mlir import ir
from mlir.dialects import arith

from pykern.passes.ir.constants import constant

_FLOAT = {"add": arith.AddFOp, "mul": arith.MulFOp, "min": arith.MinimumFOp, "max": arith.MaximumFOp}
_INTEGER = {
    "add": arith.AddIOp, "mul": arith.MulIOp, "min": arith.MinSIOp, "max": arith.MaxSIOp,
    "umin": arith.MinUIOp, "umax": arith.MaxUIOp, "and": arith.AndIOp, "or": arith.OrIOp, "xor": arith.XOrIOp,
}  # fmt: skip


def kind_of(op: ir.Operation) -> str:
    """How an atomic or a collective combines values: "add", "umax" ..."""
    return ir.StringAttr(op.attributes["kind"]).value


def combine(kind: str, a: ir.Value, b: ir.Value) -> ir.Value:
    """``a kind b``."""
    table = _FLOAT if isinstance(a.type, ir.FloatType) else _INTEGER
    return table[kind](a, b).result


def atomic_result(kind: str, old: ir.Value, value: ir.Value) -> ir.Value:
    """The value that a `kern.atomic_rmw` stores in the cell."""
    if kind == "exchange":
        return value
    if kind == "sub":
        return (arith.SubFOp if isinstance(value.type, ir.FloatType) else arith.SubIOp)(old, value).result
    return combine(kind, old, value)


def neutral(kind: str, element: ir.Type) -> ir.Value:
    """The value that `kind` leaves everything else unchanged with."""
    if isinstance(element, ir.FloatType):
        number = {"add": -0.0, "mul": 1.0, "min": float("inf"), "max": float("-inf")}[kind]
        return constant(element, number)
    width = 64 if isinstance(element, ir.IndexType) else element.width
    ones, least = -1, -(1 << (width - 1))
    integer = {
        "add": 0, "mul": 1, "min": -(least + 1), "max": least, "umin": ones, "umax": 0, "and": ones, "or": 0, "xor": 0,
    }[kind]  # fmt: skip
    return constant(element, integer)
