"""Copies between buffers as linalg.generic: where a driver's copy will not do."""

from __future__ import annotations

from mlir import ir

from pykern.passes.ir import structured


def copy_to_generic(copy: ir.Operation) -> None:
    """A memref.copy as a generic."""
    rank = ir.MemRefType(copy.operands[0].type).rank
    generic_copy(copy, list(copy.operands), [list(range(rank))] * 2, rank)
    copy.erase()


def generic_copy(
    before: ir.Operation, operands: list[ir.Value], dims: list[list[int]], rank: int
) -> ir.Operation:
    """``out[i] = in[i]`` over `rank` dimensions; `dims` are those of each operand, which may be a number."""
    maps = [ir.AffineMap.get(rank, 0, [ir.AffineExpr.get_dim(d) for d in each]) for each in dims]
    source, target = operands
    with ir.InsertionPoint(before), before.location:
        return structured.copy(source, target, maps)


def is_contiguous(value: ir.Value) -> bool:
    """Whether the elements lie side by side, wherever they begin."""
    kind = ir.MemRefType(value.type)
    strides, _ = kind.get_strides_and_offset()
    step = 1
    for length, stride in zip(reversed(kind.shape), reversed(strides), strict=True):
        if length != 1 and stride != step:
            return False
        step *= length
    return True
