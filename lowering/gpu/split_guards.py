"""Branches that work-items leave by are cut at barriers, so that everybody reaches every barrier.

A device blocks, or does something undefined, where some work-items of a group never come to a barrier.
The language lets them go: by an early return, or because the group is partial. So the code between two
barriers of a guarded branch becomes a branch of its own, and the barrier stands between them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, scf

from pykern.dialect.collectives import COLLECTIVES, CONVERGENT
from pykern.dialect.diagnostics import span_of
from pykern.errors import TargetError
from pykern.passes import kernels
from pykern.passes.analysis.uniformity import Uniformity
from pykern.passes.framework import Pass
from pykern.passes.ir.reduction import neutral
from pykern.passes.kernel.work_groups.convergence import diverges, holding_convergent, is_guard
from pykern.passes.kernels import BUFFERS, find, identity, named

DIVISIONS = ("arith.div", "arith.rem", "arith.ceildiv", "arith.floordiv")


@dataclass(frozen=True)
class SplitGuards(Pass):
    """Make every barrier and collective be reached by the whole group.

    In:  kernels with placed work-items; branches of early exits and of partial groups marked `kern.guard`.
    Out: no `kern.guard`; no barrier or collective inside a branch whose condition differs in the group. Values that
         cross one are zero for those who left; reductions take their neutral element from them.
    """

    name: ClassVar[str] = "kern-split-guards"

    def run(self, module: ir.Module) -> None:
        for kernel in kernels.kernels(module):
            if named(kernel, *CONVERGENT):
                splitter = _Splitter(kernel)
                splitter.block(kernels.body(kernel))
                splitter.check()
            for op in named(kernel, "kern.guard"):
                op.erase()


@dataclass
class _Mask:
    """Who is still there; `depth` counts the guards around, the launch's own being the first."""

    condition: ir.Value
    depth: int


@dataclass
class _Splitter:
    kernel: ir.Operation
    masked: set[ir.Value] = field(default_factory=set)
    """Values that are only right for work-items that are still there."""

    def __post_init__(self) -> None:
        self.uniform = Uniformity(self.kernel)
        self.holding = holding_convergent(self.kernel)

    def block(self, block: ir.Block) -> None:
        """Split the guards in a block that everybody runs."""
        for op in [o.operation for o in block.operations]:
            if identity(op) not in self.holding:
                continue
            if op.name == "scf.if" and is_guard(op):
                self._guard(op, None)
                continue
            self._require_uniform(op)
            for region in op.regions:
                for inner in region.blocks:
                    self.block(inner)

    # -- one guard -------------------------------------------------------------------------------

    def _guard(self, op: ir.Operation, outer: _Mask | None) -> None:
        """Cut both branches of `op`, put them before it, and select the results."""
        depth = 1 if outer is None else outer.depth + 1
        condition = op.operands[0]
        sides: list[list[ir.Value]] = []
        for region, wanted in zip(op.regions, (True, False), strict=True):
            if not list(region.blocks):
                continue
            with ir.InsertionPoint(op), op.location:
                mask = self._condition(condition, wanted, outer)
            inner = region.blocks[0]
            ends = inner.operations[len(inner.operations) - 1].operation
            self._straighten(inner, _Mask(mask, depth), before=op)
            sides.append(list(ends.operands))
        with ir.InsertionPoint(op), op.location:
            for number, result in enumerate(op.results):
                chosen = arith.SelectOp(condition, sides[0][number], sides[1][number]).result
                result.replace_all_uses_with(chosen)
                self._replaced(result, chosen)
        op.erase()

    def _condition(self, condition: ir.Value, wanted: bool, outer: _Mask | None) -> ir.Value:
        if wanted:
            return condition  # already false for those who left: it was made under their mask
        i1 = ir.IntegerType.get_signless(1)
        other = arith.XOrIOp(condition, arith.ConstantOp(i1, 1).result).result
        return other if outer is None else arith.AndIOp(other, outer.condition).result

    def _straighten(self, block: ir.Block, mask: _Mask, before: ir.Operation | None) -> None:
        """Cut a block that only the work-items of `mask` run; its parts go before `before`, or stay in place."""
        segment: list[ir.Operation] = []
        operations = [o.operation for o in block.operations]
        end = operations.pop()
        for op in operations:
            if op.name == "kern.guard":
                continue
            if op.name in BUFFERS or self._for_all(op, mask, segment):
                self._move(op, before or (segment[0] if segment else None))
                continue
            if op.name not in CONVERGENT and identity(op) not in self.holding:
                segment.append(op)
                continue
            self._close(segment, mask, before, op)
            segment = []
            self._move(op, before)
            self._convergent(op, mask)
        self._close(segment, mask, before, end)

    def _move(self, op: ir.Operation, before: ir.Operation | None) -> None:
        if before is not None:
            op.move_before(before)

    def _convergent(self, op: ir.Operation, mask: _Mask) -> None:
        """A barrier or collective, or an op that holds one, which now stands where everybody comes by."""
        if op.name in COLLECTIVES:
            self._neutralise(op, mask)
        elif op.name == "scf.if" and is_guard(op):
            self._guard(op, mask)
        elif op.name != "kern.barrier":
            self._require_uniform(op)
            for region in op.regions:
                for inner in region.blocks:
                    self._straighten(inner, mask, before=None)

    def _for_all(self, op: ir.Operation, mask: _Mask, segment: list[ir.Operation]) -> bool:
        """Whether everybody may run `op`: it is the same for the whole group and nothing guards it.

        Loads, and divisions by what is not known, only below the launch's own guard: there the group has
        somebody who runs them.
        """
        if op.regions or not self.uniform.all_uniform(op.results):
            return False
        risky = op.name == "memref.load" or (op.name.startswith(DIVISIONS) and not _divides_safely(op))
        if not op.name.startswith(("arith.", "math.")) and op.name not in ("memref.load", "memref.dim"):
            return False
        if risky and mask.depth > 1:
            return False
        made_here = {result for one in segment for result in one.results}
        return not any(v in self.masked or v in made_here for v in op.operands)

    def _close(
        self, segment: list[ir.Operation], mask: _Mask, before: ir.Operation | None, following: ir.Operation
    ) -> None:
        """Put the ops into a branch of their own; what is used behind it becomes its results."""
        if not segment:
            return
        inside = {identity(op) for op in segment}
        crossing = [
            result
            for op in segment
            for result in op.results
            if any(_outside(use, inside) for use in result.uses)
        ]
        with ir.InsertionPoint(before or following), segment[0].location:
            branch = scf.IfOp(mask.condition, [v.type for v in crossing], has_else=bool(crossing))
        with ir.InsertionPoint(branch.then_block):
            end = scf.YieldOp(crossing).operation
        if crossing:
            with ir.InsertionPoint(branch.else_block), segment[0].location:
                scf.YieldOp([_zero(v.type, v.owner.operation) for v in crossing])
        for op in segment:
            op.move_before(end)
        for value, result in zip(crossing, branch.results, strict=True):
            for use in list(value.uses):
                if _outside(use, inside) and use.owner.operation != end:
                    use.owner.operation.operands[use.operand_number] = result
            self._replaced(value, result)

    def _replaced(self, old: ir.Value, new: ir.Value) -> None:
        self.masked.add(new)
        if not self.uniform.is_uniform(old):
            self.uniform.vary([new])

    def _neutralise(self, op: ir.Operation, mask: _Mask) -> None:
        """Those who left add nothing to a reduction."""
        if "kind" not in op.attributes:
            return
        kind = ir.StringAttr(op.attributes["kind"]).value
        with ir.InsertionPoint(op), op.location:
            value = op.operands[0]
            op.operands[0] = arith.SelectOp(mask.condition, value, neutral(kind, value.type)).result

    # -- what cannot be ----------------------------------------------------------------------------

    def _require_uniform(self, op: ir.Operation) -> None:
        if op.name == "scf.for" and not self.uniform.all_uniform(list(op.operands)[:3]):
            raise diverges(op, "a loop whose bounds differ")
        if op.name == "scf.if" and not self.uniform.is_uniform(op.operands[0]):
            raise diverges(op, "a branch whose condition differs")
        if op.name == "scf.while" and not self.uniform.is_uniform(_condition_of(op)):
            raise diverges(op, "a loop whose condition differs")

    def check(self) -> None:
        """What decides for the whole group must be right for those who left, too."""
        wrong = self._wrong_for_those_who_left()
        for op in find(self.kernel, lambda op: identity(op) in self.holding):
            if any(v in wrong for v in _deciding(op)):
                raise TargetError(
                    "this decides for the whole group, but some work-items have returned before it",
                    span_of(op.location),
                    "compute it before the early return, or from arguments only",
                )

    def _wrong_for_those_who_left(self) -> set[ir.Value]:
        """Values made of masked ones. A reduction of the group is right for everybody."""
        wrong = set(self.masked)
        ops = find(self.kernel, lambda op: op.name != "kern.group_reduce")
        before = -1
        while before != len(wrong):
            before = len(wrong)
            for op in ops:
                if any(v in wrong for v in _deciding(op)):  # what a loop carries besides, each for itself
                    wrong.update(op.results)
                for target, source in _carried(op):
                    if source in wrong:
                        wrong.add(target)
        return wrong


_DECIDING = {"scf.for": 3, "scf.if": 1}


def _deciding(op: ir.Operation) -> list[ir.Value]:
    """Operands that all results depend on."""
    if op.name == "scf.while":
        return [_condition_of(op)]
    return list(op.operands)[: _DECIDING.get(op.name)]


def _carried(op: ir.Operation) -> list[tuple[ir.Value, ir.Value]]:
    """Which values a loop or branch hands on: (to, from)."""
    pairs: list[tuple[ir.Value, ir.Value]] = []
    blocks = [block for region in op.regions for block in region.blocks]
    ends = [list(block.operations[len(block.operations) - 1].operation.operands) for block in blocks]
    if op.name == "scf.for":
        arguments = list(blocks[0].arguments)[1:]
        for sources in (list(op.operands)[3:], ends[0]):
            pairs += zip(arguments, sources, strict=True)
        pairs += zip(op.results, arguments, strict=True)
    elif op.name == "scf.while":
        for sources in (list(op.operands), ends[1]):
            pairs += zip(blocks[0].arguments, sources, strict=True)
        pairs += zip(blocks[1].arguments, ends[0][1:], strict=True)
        pairs += zip(op.results, ends[0][1:], strict=True)
    elif op.name == "scf.if" and op.results:
        for sources in ends:
            pairs += zip(op.results, sources, strict=True)
    return pairs


def _condition_of(loop: ir.Operation) -> ir.Value:
    test = loop.regions[0].blocks[0]
    return test.operations[len(test.operations) - 1].operands[0]


def _divides_safely(op: ir.Operation) -> bool:
    """By a constant that no number cannot be divided by."""
    return kernels.is_constant(op.operands[1]) not in (None, 0, -1)


def _outside(use: ir.OpOperand, inside: set[int]) -> bool:
    """Whether a use stands in none of the ops."""
    op: ir.Operation | None = use.owner.operation
    while op is not None and identity(op) not in inside:
        parent = op.parent
        op = parent.operation if parent is not None else None
    return op is None


def _zero(kind: ir.Type, owner: ir.Operation) -> ir.Value:
    if isinstance(kind, ir.IndexType | ir.IntegerType):
        return arith.ConstantOp(kind, ir.IntegerAttr.get(kind, 0)).result
    if isinstance(kind, ir.FloatType):
        return arith.ConstantOp(kind, ir.FloatAttr.get(kind, 0.0)).result
    raise TargetError(f"a value of type {kind} lives across a barrier", span_of(owner.location))
