"""Which values vary with the arguments that are differentiated.

A fixpoint over SSA through loops; only floats vary, comparisons and integers cut, and so does
`kern.stop_gradient`. What of it is useful comes free later: a value without cotangent is passed over.
"""

from __future__ import annotations

from collections.abc import Iterable

from mlir import ir

from pykern.passes.autodiff.rules.flow import ONLY_LOOK, varying_results
from pykern.passes.autodiff.tensor.refuse import refused
from pykern.passes.autodiff.tensor.values import is_float
from pykern.passes.ir.clone import terminator_operands
from pykern.passes.ir.values import free_values

STOPS = "kern.stop_gradient"


def varied(function: ir.Operation, seeds: Iterable[ir.Value]) -> set[ir.Value]:
    """The values of `function` that vary with `seeds`."""
    found = _Varied(seeds)
    while found.block(function.regions[0].blocks[0]):
        pass
    return found.values


class _Varied:
    def __init__(self, seeds: Iterable[ir.Value]) -> None:
        self.values = set(seeds)

    def block(self, block: ir.Block) -> bool:
        """Visit each op of a block once; returns whether a new varying value was found."""
        before = len(self.values)
        for op in block.operations:
            self.op(op.operation)
        return len(self.values) > before

    def op(self, op: ir.Operation) -> None:
        if op.name == STOPS:
            return
        if op.name == "scf.for":
            self.loop(op)
        elif op.name == "scf.while":
            self.while_loop(op)
        elif op.name == "scf.if":
            for region in op.regions:
                for block in region.blocks:
                    self.block(block)
                    self.flow(terminator_operands(block), op.results)
        elif any(value in self.values for value in free_values(op)):
            self.through(op)

    def through(self, op: ir.Operation) -> None:
        """An op that reads what varies: its floats vary. Refuses one that would carry it out of sight."""
        if any(isinstance(result.type, ir.MemRefType | ir.UnrankedMemRefType) for result in op.results):
            raise refused(op, "what is differentiated goes through memory here, out of sight of the rules")
        if not op.results and op.name not in ONLY_LOOK and not _is_terminator(op):
            raise refused(op, f"`{op.name}` has no rule of differentiation")
        if op.regions or op.name == "func.call":  # what is in it was looked at, or will be as a kernel
            self.body(op)
            self.values.update(result for result in op.results if is_float(result.type))
        else:
            self.values.update(varying_results(op))

    def body(self, op: ir.Operation) -> None:
        """Mark the values of a body that are computed from elements that vary."""
        for region in op.regions:
            for block in region.blocks:
                if op.name.startswith("linalg."):
                    elements = list(block.arguments)
                    self.flow(list(op.operands)[: len(elements)], elements)
                self.block(block)

    def loop(self, op: ir.Operation) -> None:
        block = op.regions[0].blocks[0]
        arguments = list(block.arguments)[1:]
        self.flow(list(op.operands)[3:], arguments)
        while True:
            changed = self.block(block)
            changed |= self.flow(terminator_operands(block), arguments)
            if not changed:
                break
        self.flow(terminator_operands(block), op.results)
        self.flow(list(op.operands)[3:], op.results)

    def while_loop(self, op: ir.Operation) -> None:
        before, after = [region.blocks[0] for region in op.regions]
        self.flow(op.operands, before.arguments)
        changed = True
        while changed:
            changed = self.block(before)
            changed |= self.flow(terminator_operands(before)[1:], after.arguments)
            changed |= self.block(after)
            changed |= self.flow(terminator_operands(after), before.arguments)
        self.flow(terminator_operands(before)[1:], op.results)

    def flow(self, sources: Iterable[ir.Value], sinks: Iterable[ir.Value]) -> bool:
        before = len(self.values)
        for source, sink in zip(sources, sinks, strict=True):
            if source in self.values and is_float(sink.type):
                self.values.add(sink)
        return len(self.values) > before


def _is_terminator(op: ir.Operation) -> bool:
    return op.name.rsplit(".", 1)[-1] in ("yield", "return", "condition")
