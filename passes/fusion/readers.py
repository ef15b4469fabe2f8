"""What reads the result of a contraction element by element, to be computed in its tiles.

Comes in: a contraction into memory of its own, and the ops behind it. Goes out: a `SumReader`: an elementwise op over
the same elements (bias, activation, scale, residual), whose operands are indexed by the contraction's dimensions.
"""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir

from pykern.passes.analysis.space import Space
from pykern.passes.fusion.legality import between, is_quiet, only_user
from pykern.passes.ir.affine import Access, Sum, access_of
from pykern.passes.ir.clone import terminator_operands
from pykern.passes.ir.memory import is_allocated_in, root_of, whole
from pykern.passes.ir.structured import (
    indexing_maps,
    is_elementwise,
    loop_count,
)
from pykern.passes.ir.values import home, made_by
from pykern.passes.kernels import body, find
from pykern.passes.vectorize.lanes import computed


@dataclass(frozen=True)
class SumReader:
    """An elementwise op. `operands` are what it reads beside the sums, each with its access (None: a scalar)."""

    op: ir.Operation
    sums: int
    """The operand that is the contraction's result."""
    operands: tuple[tuple[ir.Value, Access | None], ...]
    captured: tuple[ir.Value, ...]
    """Scalars of the program that the body uses."""
    access: Access
    """The access of the operand that the reader writes."""

    @property
    def out(self) -> ir.Value:
        return list(self.op.operands)[-1]

    def emit(self, total: ir.Value, given: list[ir.Value]) -> ir.Value:
        """The op's body over scalars; `given` are elements of the operands, then the captured scalars."""
        block = body(self.op)
        others = [n for n in range(len(self.op.operands) - 1) if n != self.sums]
        known = {block.arguments[self.sums]: total}
        known.update(zip((block.arguments[n] for n in others), given, strict=False))
        known.update(zip(self.captured, given[len(others) :], strict=True))
        [result] = terminator_operands(block)
        return computed(result, known, 0)

    def is_in_vectors(self, along: int) -> bool:
        """Whether vectors along a dimension can be read of all operands, and written."""
        for value, access in (*self.operands, (self.out, self.access)):
            if access is not None:
                strides, _ = ir.MemRefType(value.type).get_strides_and_offset()
                allowed = (1,) if value == self.out and access is self.access else (0, 1)
                if access.descends or access.stride(along, strides) not in allowed:
                    return False
        return True


def reader_of(space: Space) -> SumReader | None:
    """The one op that reads what a contraction leaves in memory of its own, where nothing stands between."""
    op = space.op
    target = op.operands[2]
    found = only_user(whole(target), (op, 2)) if is_allocated_in(whole(target), op.block) else None
    if found is None:
        return None
    reader, number = found
    passed = between(op, reader)
    if reader.name != "linalg.generic" or passed is None or not all(map(is_quiet, passed)):
        return None
    if not is_elementwise(reader) or reader.operands[number] != target:
        return None
    if root_of(reader.operands[len(reader.operands) - 1]) in map(root_of, list(op.operands)[:2]):
        return None  # other tiles still read what it would write
    return _reader(space, reader, number)


def _reader(space: Space, op: ir.Operation, number: int) -> SumReader | None:
    maps = [access_of(m) for m in indexing_maps(op)]
    mine, out = maps[number], access_of(space.maps[2])
    if mine is None or out is None or any(m is None for m in maps):
        return None
    if not all(s.is_dimension() for s in (*mine.sums, *out.sums)) or len(mine.dimensions) != len(mine.sums):
        return None
    names = {
        s.factors[0][0]: o.factors[0][0] for s, o in zip(mine.sums, out.sums, strict=True)
    }  # dimensions of the reader to those of the contraction
    if loop_count(op) != len(names):
        return None
    operands = []
    for n, value in enumerate(op.operands):
        if n == number:
            continue
        access = maps[n]
        assert access is not None
        if not isinstance(value.type, ir.MemRefType):
            operands.append((value, None))
            continue
        sums = (Sum(tuple((names[d], f) for d, f in s.factors), s.constant) for s in access.sums)
        operands.append((value, Access(tuple(sums))))
    *inputs, (_, access) = operands
    if access is None or access.dimensions != set(names.values()) or len(access.sums) != len(names):
        return None
    return SumReader(op, number, tuple(inputs), captured_by(op), access)


def captured_by(op: ir.Operation) -> tuple[ir.Value, ...]:
    """Values of the program that the body uses; constants are made again."""
    found: list[ir.Value] = []
    block = body(op)
    for inner in find(op, lambda o: True):
        for value in inner.operands:
            outside = home(value) != block and made_by(value, "arith.constant") is None
            if outside and value not in found:
                found.append(value)
    return tuple(found)
