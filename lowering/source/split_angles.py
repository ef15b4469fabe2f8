"""Loops with sin, cos or tan in two versions: of angles that are not huge, in vectors, and of any angles.

Comes in: a kernel as loops over work-items. Goes out: blocks of work-items, in front of which their angles are looked
at. Read next: `c_functions`, which writes the functions of the first version out; the other calls the C library's.

Why: to bring a huge angle to a quarter turn takes branches and tables, and compilers make no vectors of loops with
either. Angles are hardly ever huge.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, math, scf

from pykern.dialect import attributes as kern
from pykern.lowering.source.dimensions import dimension_of
from pykern.passes import kernels
from pykern.passes.analysis.cost_model.code_size import ANGLE_OPS
from pykern.passes.analysis.cost_model.registers import ANGLE_BLOCK
from pykern.passes.arithmetic.vector_math.pi_reduction import SHORT
from pykern.passes.framework import Pass
from pykern.passes.ir.clone import rematerialise
from pykern.passes.ir.constants import constant
from pykern.passes.ir.values import is_inside
from pykern.passes.kernels import find, index_constant, is_constant, named

ANGLES = ("math.sin", "math.cos", "math.tan")
_PLAIN = ("arith.", "math.", "memref.load", "memref.store")


@dataclass(frozen=True)
class SplitAngles(Pass):
    """Let loops over work-items that take sin, cos or tan of f32 become vectors.

    In:  innermost loops over work-items (`kern.items`, `kern.dimension`), in any order.
    Out: blocks of them. Where no angle of a block is huge, its functions are marked `kern.moderate`, which compilers
         make vectors of; else the block is as it was.
    """

    name: ClassVar[str] = "kern-split-angles"

    def run(self, module: ir.Module) -> None:
        for kernel in kernels.kernels(module):
            if kern.SEQUENTIAL in kernel.attributes:
                continue
            for loop in find(kernel, _is_over_items):
                angles = _angles(loop)
                if angles:
                    _Split(loop, angles).emit()


def _is_over_items(op: ir.Operation) -> bool:
    """Whether it is an innermost loop over work-items, which may run in any order."""
    if op.name != "scf.for" or not (kern.ITEMS in op.attributes or kern.DIMENSION in op.attributes):
        return False
    is_plain = all(inner.name.startswith(_PLAIN) for inner in _ops(op))
    return is_plain and not len(op.results) and is_constant(op.operands[2]) == 1


def _ops(loop: ir.Operation) -> list[ir.Operation]:
    return [op.operation for op in loop.regions[0].blocks[0].operations][:-1]


def _angles(loop: ir.Operation) -> list[ir.Value]:
    """The angles of a loop, where all of them can be computed in front of it, in few operations."""
    ops = _ops(loop)
    found = [op.operands[0] for op in ops if op.name in ANGLES]
    stored = next((n for n, op in enumerate(ops) if op.name == "memref.store"), len(ops))
    early = {result for op in ops[:stored] for result in op.results}
    needed = _behind(found, loop)
    is_cheap = len(needed) <= ANGLE_OPS and all(op.name.startswith(("arith.", "memref.")) for op in needed)
    is_early = all(result in early for op in needed for result in op.results)
    is_short = all(isinstance(angle.type, ir.F32Type) for angle in found)
    return found if is_cheap and is_early and is_short else []


def _behind(values: list[ir.Value], loop: ir.Operation) -> list[ir.Operation]:
    """The ops of a loop's body that values are computed by."""
    found: dict[ir.Value, ir.Operation] = {}
    waiting = list(values)
    while waiting:
        value = waiting.pop()
        if value in found or not is_inside(value, loop) or isinstance(value.owner, ir.Block):
            continue
        found[value] = value.owner.operation
        waiting.extend(found[value].operands)
    return list(found.values())


class _Split:
    """A loop, and the angles in it."""

    def __init__(self, loop: ir.Operation, angles: list[ir.Value]) -> None:
        self.loop, self.angles = loop, angles
        self.number = dimension_of(loop)
        if kern.DIMENSION in loop.attributes:
            self.number = loop.attributes[kern.DIMENSION]

    def emit(self) -> None:
        first, end = list(self.loop.operands)[:2]
        begins, ends = is_constant(first), is_constant(end)
        is_short = begins is not None and ends is not None and ends - begins <= ANGLE_BLOCK
        with ir.InsertionPoint(self.loop), self.loop.location:
            if is_short:
                self._block(first, end)
            else:
                blocks = scf.ForOp(first, end, index_constant(ANGLE_BLOCK))
                blocks.operation.attributes[kern.DIMENSION] = self.number
                with ir.InsertionPoint(blocks.body):
                    begin = blocks.induction_variable
                    full = arith.AddIOp(begin, index_constant(ANGLE_BLOCK)).result
                    named_end = ir.Location.name("end", self.loop.location)
                    self._block(begin, arith.MinSIOp(full, end, loc=named_end).result)
                    scf.YieldOp([])
        self.loop.erase()

    def _block(self, first: ir.Value, end: ir.Value) -> None:
        """Both versions of the work-items from `first` to `end`."""
        is_huge = arith.CmpIOp(
            arith.CmpIPredicate.ne, self._are_huge(first, end), constant(ir.IntegerType.get_signless(32), 0),
            loc=ir.Location.name("is_huge", self.loop.location),
        ).result  # fmt: skip
        branch = scf.IfOp(is_huge, [], has_else=True)
        for block, is_moderate in ((branch.then_block, False), (branch.else_block, True)):
            with ir.InsertionPoint(block):
                copy = self.loop.clone().operation
                copy.operands[0], copy.operands[1] = first, end
                copy.attributes[kern.DIMENSION] = self.number
                if is_moderate:
                    for op in named(copy, *ANGLES):
                        op.attributes[kern.MODERATE] = ir.UnitAttr.get()
                scf.YieldOp([])

    def _are_huge(self, first: ir.Value, end: ir.Value) -> ir.Value:
        """An integer that is not 0 where an angle is huge."""
        kind, name = ir.IntegerType.get_signless(32), ir.Location.name("huge", self.loop.location)
        none = constant(kind, 0)
        look = scf.ForOp(first, end, index_constant(1), [none])
        look.operation.attributes[kern.DIMENSION] = self.number
        with ir.InsertionPoint(look.body):
            known = {self.loop.regions[0].blocks[0].arguments[0]: look.induction_variable}
            found = look.inner_iter_args[0]
            for angle in self.angles:
                size = math.AbsFOp(rematerialise(angle, self.loop, known)).result
                is_one = arith.CmpFOp(arith.CmpFPredicate.OGT, size, constant(angle.type, SHORT)).result
                found = arith.OrIOp(found, arith.ExtUIOp(kind, is_one).result, loc=name).result
            scf.YieldOp([found])
        return look.results[0]
