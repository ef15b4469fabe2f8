"""Where an element of a tensor comes from: affine expressions followed through transposed copies and reshapes.

Comes in: an operand of a `linalg.generic`. Goes out: an `Operand`, the tensor and the index expressions by which it is
read, over the loops of whoever asks; `through` follows it to the tensor that copies and reshapes were made from.
"""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir

from pykern.passes.ir.memory import TENSOR_RESHAPES
from pykern.passes.ir.structured import indexing_maps, is_elementwise
from pykern.passes.ir.values import defining
from pykern.passes.kernels import body

Exprs = tuple[ir.AffineExpr, ...]


@dataclass(frozen=True)
class Operand:
    """`value` read at `at`, expressions over the dimensions of whoever asks."""

    value: ir.Value
    at: Exprs

    def seen_from(self, at: Exprs) -> Operand:
        """The same, over the dimensions of who reads the asker's result at `at`."""
        return Operand(self.value, composed(self.at, dict(enumerate(at))))


def operand(op: ir.Operation, number: int) -> Operand:
    """An operand of a linalg.generic, over the op's own dimensions."""
    return Operand(op.operands[number], tuple(indexing_maps(op)[number].results))


def dims(*positions: int) -> Exprs:
    return tuple(ir.AffineDimExpr.get(p) for p in positions)


def positions(at: Exprs) -> list[int]:
    """The dimensions that occur."""
    return [e.position for e in at if isinstance(e, ir.AffineDimExpr)]


def is_plain(at: Exprs) -> bool:
    """Dimensions, each once, and constants."""
    found = positions(at)
    constants = [e for e in at if isinstance(e, ir.AffineConstantExpr)]
    return len(set(found)) == len(found) and len(found) + len(constants) == len(at)


def within(op: ir.Operation, at: Exprs) -> dict[int, ir.AffineExpr]:
    """What the dimensions of an elementwise op are where its result is read at `at`."""
    out = operand(op, len(op.operands) - 1).at
    return {e.position: a for e, a in zip(out, at, strict=True)}


def composed(at: Exprs, known: dict[int, ir.AffineExpr]) -> Exprs:
    """Expressions over an op's dimensions (dimensions and constants), with what these are put in."""
    return tuple(known[e.position] if isinstance(e, ir.AffineDimExpr) else e for e in at)


def through(read: Operand) -> Operand:
    """The same elements in the tensor that transposed copies and reshapes of length 1 were made from."""
    while True:
        op = defining(read.value)
        if op is None:
            return read
        if op.name in TENSOR_RESHAPES:
            found = _through_reshape(op, read.at)
        elif is_elementwise(op, indices=True) and len(op.operands) == 2 and _copies(op):
            source = operand(op, 0)
            plain = isinstance(source.value.type, ir.RankedTensorType) and is_plain(source.at)
            found = Operand(source.value, composed(source.at, within(op, read.at))) if plain else None
        else:
            found = None
        if found is None:
            return read
        read = found


def _copies(op: ir.Operation) -> bool:
    end = [o.operation for o in body(op).operations]
    return len(end) == 1 and end[0].operands[0] == body(op).arguments[0]


def _through_reshape(op: ir.Operation, at: Exprs) -> Operand | None:
    """Where at most one dimension of a group is longer than 1."""
    source = op.operands[0]
    collapses = op.name == "tensor.collapse_shape"
    wide = ir.RankedTensorType((source if collapses else op.results[0]).type).shape
    groups = [
        [ir.IntegerAttr(d).value for d in ir.ArrayAttr(g)]
        for g in ir.ArrayAttr(op.attributes["reassociation"])
    ]
    zero = ir.AffineConstantExpr.get(0)
    found: list[ir.AffineExpr] = []
    if collapses and not groups:  # one element
        return Operand(source, (zero,) * len(wide))
    for number, group in enumerate(groups):
        long = [d for d in group if wide[d] != 1]
        if len(long) > 1:
            return None
        if collapses:
            found += [at[number] if d in long else zero for d in group]
        else:
            found.append(at[long[0]] if long else zero)
    return Operand(source, tuple(found))
