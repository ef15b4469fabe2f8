"""Tiles that reach beyond the last row or column of a result, or beyond the last term of a slice.

Comes in: a contraction over packed factors. Goes out: what its body says of it (a cell that is not there keeps what it
has, a term that is not there adds nothing), and for a register tile how many of its rows, columns and terms are there:
it is computed whole, and cut off where it is stored. So one tile's code does for all of them: tiles of their own for
the last row and column, and the corner, would be four times as much.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith, memref

from pykern.passes.codegen.cpu.contraction.needed import compared, outside, place
from pykern.passes.ir.affine import DYNAMIC, Access, Sum
from pykern.passes.ir.lengths import Number, as_value, least, minus
from pykern.passes.kernels import body, index_constant

ROW, LANE, TERM = 1, 2, 4
"""Bits of the mark `clip`: along which dimensions tiles may reach too far."""

Limit = tuple[Sum, Number, Number]
"""A place as a sum of a contraction's dimensions, what is added to it, and what it has to be less than."""


@dataclass(frozen=True)
class Edges:
    """Where there may be nothing: beyond the last row, the last lane, the last term; None: there always is."""

    row: Limit | None
    lane: Limit | None
    term: Limit | None

    @property
    def limits(self) -> list[tuple[int, Limit]]:
        pairs = ((ROW, self.row), (LANE, self.lane), (TERM, self.term))
        return [(bit, limit) for bit, limit in pairs if limit is not None]

    @property
    def mark(self) -> int:
        return sum(bit for bit, _ in self.limits)

    def truth(self) -> ir.Value:
        """Inside of a contraction's body: whether its cell and its term are there."""
        truth: ir.Value | None = None
        for _, (form, offset, length) in self.limits:
            at = place(form, offset)
            each = arith.CmpIOp(arith.CmpIPredicate.slt, at, as_value(length)).result
            truth = each if truth is None else arith.AndIOp(truth, each).result
        assert truth is not None
        return truth


def roomy(value: ir.Value, access: Access, lengths: Mapping[int, int]) -> ir.Value:
    """An operand with as many rows and columns as tiles have: nobody touches those that are not there."""
    kind = ir.MemRefType(value.type)
    shape = [
        lengths.get(each.factors[0][0], size) if each.is_dimension() else size
        for each, size in zip(access.sums, kind.shape, strict=True)
    ]
    if shape == list(kind.shape):
        return value
    strides, offset = kind.get_strides_and_offset()
    offsets = [memref.ExtractStridedMetadataOp(value).results[1]] if offset == DYNAMIC else []
    result = ir.MemRefType.get(shape, kind.element_type, ir.StridedLayoutAttr.get(offset, list(strides)))
    return memref.ReinterpretCastOp(
        result, value, offsets, [], [], [offset], list(shape), list(strides)
    ).result


@dataclass(frozen=True)
class Cut:
    """The part of one register tile that lies inside the result."""

    rows: Number
    """The number of rows inside the result."""
    lanes: int
    """The number of lanes inside the result, in the panel at the edge."""
    terms: ir.Value | None
    """The number of terms; None: all."""
    whole_rows: ir.Value | None
    """Whether all rows are (i1); None: always."""
    whole_lanes: ir.Value | None

    @property
    def whole(self) -> ir.Value | None:
        """Whether all cells are (i1); None: always."""
        found = [v for v in (self.whole_rows, self.whole_lanes) if v is not None]
        return arith.AndIOp(*found).result if len(found) == 2 else found[0] if found else None


def cut_of(op: ir.Operation, clip: int, rows: int, lanes: int) -> Cut:
    """The part inside the result of a tile of `rows` rows and `lanes` lanes, computed in front of its op."""
    block = body(op)
    chosen = list(block.operations)[-1].operation.operands[0].owner.operation
    limits = iter(compared(chosen.operands[0]))
    number: Number = rows
    rest, terms, whole_rows, whole_lanes = lanes, None, None, None
    if clip & ROW:
        left = _left(next(limits), block)
        number, whole_rows = least(left, rows), _reaches(left, rows)
    if clip & LANE:
        limit = next(limits)
        length = ir.IntegerAttr(limit.operands[1].owner.operation.attributes["value"]).value
        rest, whole_lanes = length % lanes, _reaches(_left(limit, block), lanes)
    if clip & TERM:
        terms = as_value(_left(next(limits), block))
    return Cut(number, rest, terms, whole_rows, whole_lanes)


def _left(limit: ir.Operation, block: ir.Block) -> Number:
    """The number of rows, lanes or terms from the tile's first one to the limit."""
    return minus(outside(limit.operands[1], block), outside(limit.operands[0], block))


def _reaches(left: Number, size: int) -> ir.Value:
    return arith.CmpIOp(arith.CmpIPredicate.sge, as_value(left), index_constant(size)).result
