"""What makes a factor of a contraction element by element, to be computed where the factor is read.

Comes in: a contraction whose factor lies in memory of its own, and the op that fills it (scale and shift, activation,
weights in bytes times their scales). Goes out: a `Prologue`, whose operands are indexed by the contraction's
dimensions. Read next: `factors`, which computes it; `schedule_contraction`, which asks whether it pays.
"""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir

from pykern.passes.fusion.legality import may_move_to, only_user
from pykern.passes.fusion.readers import captured_by
from pykern.passes.ir.affine import Access, Sum, access_of
from pykern.passes.ir.memory import is_allocated_in, root_of
from pykern.passes.ir.structured import element_types, indexing_maps, is_elementwise, loop_count
from pykern.passes.ir.values import made_by
from pykern.passes.kernels import body, find
from pykern.passes.vectorize.lanes import computed

DIVISIONS = ("divsi", "divui", "remsi", "remui")
"""Of integers: there is no element to divide by beyond the last one."""


@dataclass(frozen=True)
class Prologue:
    """An elementwise op. `operands` are what it reads, each with its access (None: a scalar)."""

    op: ir.Operation
    operands: tuple[tuple[ir.Value, Access | None], ...]
    main: int
    """The operand that has all dimensions of the factor: how the factor lies in memory."""
    captured: tuple[ir.Value, ...]
    """Scalars of the program that the body uses."""

    @property
    def source(self) -> ir.Value:
        return self.operands[self.main][0]

    @property
    def access(self) -> Access:
        access = self.operands[self.main][1]
        assert access is not None
        return access

    @property
    def others(self) -> list[tuple[ir.Value, Access | None]]:
        """All operands but the main one."""
        rest = [each for n, each in enumerate(self.operands) if n != self.main]
        return [*rest, *((value, None) for value in self.captured)]

    def element(self, given: list[ir.Value], lanes: int = 0) -> ir.Value:
        """From elements of the operands, then the captured scalars; vectors where `lanes` is not 0."""
        block = body(self.op)
        known = dict(zip(block.arguments, given, strict=False))
        known.update(zip(self.captured, given[len(self.operands) :], strict=True))
        return computed(list(block.operations)[-1].operation.operands[0], known, lanes)

    def reads(self, written: list[ir.Value]) -> bool:
        """Whether it reads memory that is written while it is computed."""
        roots = [root_of(v) for v in written]
        return any(root_of(v) in roots for v, a in self.operands if a is not None)

    @property
    def element_bits(self) -> tuple[int, int]:
        """Bits of an element of the factor, and of what is read to make it, but for what several elements share."""
        *_, made = element_types(self.op.operands)
        whole = [v for v, a in self.operands if a is not None and a.dimensions == self.access.dimensions]
        return made.width, sum(kind.width for kind in element_types(whole))

    @property
    def is_cheap(self) -> bool:
        """Whether computing it twice costs less than to store and load it."""
        names = [o.name for o in find(self.op, lambda o: o.name not in ("linalg.yield", "arith.constant"))]
        return len(names) <= 2 and not any(n.startswith("math.") or "div" in n or "rem" in n for n in names)


def prologue_of(op: ir.Operation, number: int) -> Prologue | None:
    """The op that fills operand `number` of a contraction and nothing else reads, where it can be moved there."""
    if not isinstance(op.operands[number].type, ir.MemRefType):
        return None  # a number, which multiplies every element
    target, indices = _whole(op.operands[number])
    found = only_user(target, (op, number)) if is_allocated_in(target, op.block) else None
    if found is None:
        return None
    maker, _ = found
    if maker.name != "linalg.generic" or list(maker.operands)[-1] != target:
        return None
    if not is_elementwise(maker) or find(maker, lambda o: o.name.removeprefix("arith.") in DIVISIONS):
        return None
    return _prologue(op, number, maker, indices) if may_move_to(maker, op) else None


def _whole(factor: ir.Value) -> tuple[ir.Value, list[int]]:
    """What a factor is a view of, and the factor's index for each of its own, -1 where there is one element only."""
    rank = ir.MemRefType(factor.type).rank
    view = made_by(factor, "memref.collapse_shape")
    if view is None:
        return factor, list(range(rank))
    source = view.operands[0]
    shape, indices = ir.MemRefType(source.type).shape, []
    if rank == 0:
        return source, [-1] * len(shape)
    for n, group in enumerate(ir.ArrayAttr(view.attributes["reassociation"])):
        members = [ir.IntegerAttr(d).value for d in ir.ArrayAttr(group)]
        wide = [d for d in members if shape[d] != 1] or members[-1:]
        if len(wide) > 1:
            return factor, []
        indices += [n if d == wide[0] else -1 for d in members]
    return source, indices


def _prologue(op: ir.Operation, number: int, maker: ir.Operation, indices: list[int]) -> Prologue | None:
    access = access_of(indexing_maps(op)[number])
    *reads, written = map(access_of, indexing_maps(maker))
    if access is None or written is None or not all(s.is_dimension() for s in (*access.sums, *written.sums)):
        return None
    sums = [Sum(()) if n < 0 else access.sums[n] for n in indices]
    names = {w.factors[0][0]: s for w, s in zip(written.sums, sums, strict=True)}
    if len(names) != len(written.sums) or len(names) != loop_count(maker):
        return None
    operands: list[tuple[ir.Value, Access | None]] = []
    for value, each in zip(maker.operands, reads, strict=False):
        if each is None:
            return None
        is_memory = isinstance(value.type, ir.MemRefType)
        operands.append((value, Access(tuple(_renamed(s, names) for s in each.sums)) if is_memory else None))
    whole = [n for n, (_, a) in enumerate(operands) if a is not None and a.dimensions == access.dimensions]
    if not whole:
        return None
    return Prologue(maker, tuple(operands), whole[0], captured_by(maker))


def _renamed(each: Sum, names: dict[int, Sum]) -> Sum:
    """Over the contraction's dimensions; each is one of the maker's."""
    return Sum(
        tuple((n, by) for d, by in each.factors for n, _ in names[d].factors),
        each.constant,
    )
